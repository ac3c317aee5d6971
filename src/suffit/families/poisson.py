"""Poisson: counts of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..family import register
from ..stats import Array
from .elementwise import Elementwise, Natural


@register
@dataclass(frozen=True)
class Poisson(Elementwise):
    """x = 0, 1, 2, …: log p = x log λ − λ − log x!, λ the class mean.

    >>> theta, A, *_ = Poisson().solve(np.array([2.0]), np.array([[6.0]]))
    >>> np.exp(theta[0]), A
    (array([3.]), array([3.]))
    """

    key: ClassVar[str] = "poisson"
    support: ClassVar[str] = "needs x ≥ 0 (Negative values in data)"
    way_out: ClassVar[str] = "use gaussian, or drop the row"

    def outside(self, x: Array) -> NDArray[np.bool_]:
        """Negative; fractional counts are taken."""
        return x < 0

    def infeasible(self, n: Array, t: Array) -> NDArray[np.bool_]:
        """Σx ≥ 0."""
        return t[..., 0] < -1e-9 * np.maximum(n, 1.0)

    @property
    def adds_entries(self) -> bool:
        """T(x) = x."""
        return True

    def T(self, x: Array) -> Array:
        """X."""
        return x[..., None]

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
        """Poisson counts."""
        return rng.poisson(np.exp(theta[..., 0])).astype(np.float64)
