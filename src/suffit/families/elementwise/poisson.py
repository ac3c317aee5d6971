"""Poisson: counts of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from ...core.family import INTEGER, register
from ...data.arrays import Array
from ...data.validate import check_setting
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
    unit : float, default 1.0
        x is this many times a count: 0, 10, 20, … for ``unit=10``.
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

    unit: float = 1.0

    key: ClassVar[str] = "poisson"
    candidate_for: ClassVar[tuple[str, ...]] = (INTEGER,)

    @property
    def statistic(self) -> tuple[object, ...]:
        """Counts of units."""
        return (self.key, self.unit)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_setting(self, "unit", self.unit, 0.0, open_low=True)

    @property
    def adds_entries(self) -> bool:
        """T(x) = x, where the unit is 1."""
        return self.unit == 1.0

    def T(self, x: Array) -> Array:
        """x/unit."""
        return (x if self.unit == 1.0 else x / self.unit)[..., None]

    def solve(self, n: Array, t: Array) -> Natural:
        """θ = log λ, A = λ; a mean of 0 makes every x > 0 impossible."""
        rate = t[..., 0] / n
        never = (rate <= 0).astype(np.float64)
        theta = np.where(rate > 0, np.log(rate), -np.log(n))
        return Natural(theta[..., None], rate, never[..., None], np.zeros_like(rate))

    def log_base(self, x: Array) -> Array:
        """−log x!."""
        return -np.asarray(gammaln(x / self.unit + 1.0))

    def limit(self, pooled: Array) -> Array:
        """The mean is α·pooled/n there: log α − log n is counted already, log pooled is not."""
        return np.where(pooled > 0, np.log(pooled), 0.0)

    def mean(self, theta: Array) -> Array:
        """λ units."""
        return np.asarray(np.exp(theta[..., 0]) * self.unit)

    def parameters(self, theta: Array) -> dict[str, Array]:
        """λ, in units of x."""
        return {"rate": self.mean(theta)}

    def draw(self, theta: Array, rng: np.random.Generator) -> Array:
        return rng.poisson(np.exp(theta[..., 0])).astype(np.float64) * self.unit
