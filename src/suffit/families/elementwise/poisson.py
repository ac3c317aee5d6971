"""Poisson: counts of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from ...core.family import register
from ...data.arrays import Array
from .nonnegative import Amount
from .shape import Natural


@register
@dataclass(frozen=True)
class Poisson(Amount):
    """x = 0, 1, 2, …: log p = x log λ − λ − log x!, λ the class mean, smoothed.


    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or "loo", default 1.0
        Number of pseudo-rows, with the mean statistic of all classes, that are added to every class; 0 is maximum
        likelihood, and predictions are then the limit α → 0.  "loo" chooses it by leave-one-out.
    tuning : Tuning, optional
        What was tried to choose ``alpha``; set by a fit, not by users.

    Attributes
    ----------
    key : str
        "poisson", the name of the family.

    See Also
    --------
    PoissonNB : Naive Bayes with this family.
    Geometric : Counts with a heavier tail.

    Examples
    --------
    >>> theta, A, *_ = Poisson().solve(np.array([2.0]), np.array([[6.0]]))
    >>> np.exp(theta[0]), A
    (array([3.]), array([3.]))
    """

    key: ClassVar[str] = "poisson"

    def solve(self, n: Array, t: Array) -> Natural:
        """θ = log λ, A = λ; a mean of 0 makes every x > 0 impossible."""
        rate = t[..., 0] / n
        never = (rate <= 0).astype(np.float64)
        theta = np.where(rate > 0, np.log(rate), -np.log(n))
        return Natural(theta[..., None], rate, never[..., None], np.zeros_like(rate))

    def log_base(self, x: Array) -> Array:
        """−log x!."""
        return -np.asarray(gammaln(x + 1.0))

    def limit(self, pooled: Array) -> Array:
        """The mean is α·pooled/n there: log α − log n is counted already, log pooled is not."""
        return np.where(pooled > 0, np.log(pooled), 0.0)

    def mean(self, theta: Array) -> Array:
        """λ."""
        return np.asarray(np.exp(theta[..., 0]))

    def draw(self, theta: Array, rng: np.random.Generator) -> Array:
        return rng.poisson(np.exp(theta[..., 0])).astype(np.float64)
