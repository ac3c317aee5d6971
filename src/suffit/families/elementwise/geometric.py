"""Geometric: how many failures before the first success."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...core.family import register
from ...data.arrays import Array
from .nonnegative import Amount
from .shape import Natural


@register
@dataclass(frozen=True)
class Geometric(Amount):
    """x = 0, 1, 2, …: log p = x log(1−π) + log π with success probability π = 1/(1 + mean), the mean smoothed.


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
        "geometric", the name of the family.

    See Also
    --------
    NaiveBayes : Naive Bayes with this or any other family.
    Poisson : Counts with variance equal to the mean.

    Examples
    --------
    >>> theta, A, *_ = Geometric().solve(np.array([4.0]), np.array([[4.0]]))
    >>> np.exp(theta[0]), np.exp(-A)
    (array([0.5]), array([0.5]))
    """

    key: ClassVar[str] = "geometric"

    def solve(self, n: Array, t: Array) -> Natural:
        """θ = log(1−π) = log mean − log(1 + mean), A = −log π; a mean of 0 makes every x > 0 impossible."""
        mean = t[..., 0] / n
        never = (mean <= 0).astype(np.float64)
        theta = np.where(mean > 0, np.log(mean) - np.log1p(mean), -np.log(n))
        return Natural(theta[..., None], np.log1p(mean), never[..., None], np.zeros_like(mean))

    def limit(self, pooled: Array) -> Array:
        """The mean is α·pooled/n there: log α − log n is counted already, log pooled is not."""
        return np.where(pooled > 0, np.log(pooled), 0.0)

    def mean(self, theta: Array) -> Array:
        """(1 − π)/π."""
        return np.asarray(1 / np.expm1(-theta[..., 0]))

    def parameters(self, theta: Array) -> dict[str, Array]:
        """π, the chance of a success after which counting ends."""
        return {"probability": -np.expm1(theta[..., 0])}

    def draw(self, theta: Array, rng: np.random.Generator) -> Array:
        """Failures before a success of probability 1 − e^θ; none where no row has a value (θ = 0)."""
        return rng.geometric(np.where(theta[..., 0] < 0, -np.expm1(theta[..., 0]), 1.0)).astype(np.float64) - 1.0
