"""Exponential: waiting times without memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.family import register
from ...data.arrays import Array
from .nonnegative import Amount
from .shape import Natural

LEAST_SHARE = 1e-9  # the least class mean, as a share of the pooled one: a class of zeros has no rate of its own


@register
@dataclass(frozen=True)
class Exponential(Amount):
    """x ≥ 0: log p = log λ − λx, rate λ = 1/mean, the mean smoothed.


    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or "loo", default 1.0
        Number of pseudo-rows, with the mean statistic of all classes, that are added to every class; 0 is maximum
        likelihood.  "loo" chooses it by leave-one-out.
    tuning : Tuning, optional
        What was tried to choose ``alpha``; set by a fit, not by users.

    Attributes
    ----------
    key : str
        "exponential", the name of the family.

    See Also
    --------
    NaiveBayes : Naive Bayes with this or any other family.
    Gamma : Positive values with two parameters.

    Examples
    --------
    >>> theta, A, *_ = Exponential().solve(np.array([2.0]), np.array([[1.0]]))
    >>> theta[0], np.exp(-A)
    (array([-2.]), array([2.]))
    """

    key: ClassVar[str] = "exponential"

    def solve(self, n: Array, t: Array) -> Natural:
        """θ = −1/mean, A = log mean; a column that is 0 throughout drops out."""
        mean = t[..., 0] / n
        pooled = np.max(mean, axis=-2, initial=0.0, keepdims=True) if mean.ndim > 1 else mean
        mean = np.maximum(mean, LEAST_SHARE * pooled)
        flat = mean <= 0
        rate = np.where(flat, 0.0, 1.0 / mean)
        return Natural(-rate[..., None], np.where(flat, 0.0, np.log(mean)))

    def mean(self, theta: Array) -> Array:
        """1/λ; 0 for a column that is 0 throughout."""
        return np.divide(-1.0, theta[..., 0], out=np.zeros(theta.shape[:-1]), where=theta[..., 0] < 0)

    def parameters(self, theta: Array) -> dict[str, Array]:
        """λ = −θ."""
        return {"rate": -theta[..., 0]}

    def draw(self, theta: Array, rng: np.random.Generator) -> Array:
        """Waiting times; 0 where the column is 0 throughout."""
        rate = -theta[..., 0]
        wait = rng.standard_exponential(rate.shape)
        return np.divide(wait, rate, out=np.zeros_like(wait), where=rate > 0)
