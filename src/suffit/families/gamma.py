"""Gamma: positive, skewed quantities (durations, amounts)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..family import register
from ..stats import Array
from ..table import freeze
from .elementwise import Elementwise, Natural

LEAST_SPREAD = 1e-6  # the least relative spread a class is given: one that never varies has no shape of its own
NEWTON_STEPS = 4  # the start is within 2 % of k in logs, and every step squares that


def shape_of(gap: Array) -> Array:
    """The k with log k − ψ(k) = gap, gap = log(mean x) − mean(log x) > 0, by Newton's method on log k."""
    from ..kernels.shapes import gamma_shapes

    out = np.empty(np.shape(gap))
    gamma_shapes(freeze(np.ravel(gap)), NEWTON_STEPS, out.reshape(-1))
    return out


@register
@dataclass(frozen=True)
class Gamma(Elementwise):
    """x > 0: log p = (k−1) log x − λx + k log λ − log Γ(k), k and λ those that match the class means of x and log x.

    The sums of each class are smoothed: α = 1 by default, a pseudo-row of all classes (their mean statistic, added once
    to every class); ``alpha=0`` is maximum likelihood.

    >>> theta, A, *_ = Gamma().solve(np.array([2.0]), np.array([[4.0, 2 * np.log(2) - 0.5]]))
    >>> (theta[0, 1] + 1).round(4), (-theta[0, 0]).round(4)  # shape and rate
    (np.float64(2.1518), np.float64(1.0759))
    """

    order: ClassVar[int] = 2
    key: ClassVar[str] = "gamma"
    from_0: ClassVar[bool] = True
    support: ClassVar[str] = "needs x > 0"
    way_out: ClassVar[str] = "use gaussian, shift the column, or drop the row"

    def outside(self, x: Array) -> NDArray[np.bool_]:
        """Zero or negative."""
        return x <= 0

    def infeasible(self, n: Array, t: Array, slack: Array) -> NDArray[np.bool_]:
        """Σx ≥ 0, and the mean of log x is no more than the log of the mean."""
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = np.log((t[..., 0] + slack[..., 0]) / n) - (t[..., 1] - slack[..., 1]) / n
        return (t[..., 0] < -slack[..., 0]) | (gap < -1e-6)

    def T(self, x: Array) -> Array:
        """(x, log x)."""
        return np.stack([x, np.log(x)], axis=-1)

    def names(self, columns: tuple[str, ...]) -> tuple[str, ...]:  # type: ignore[override]
        """X and log x of each column."""
        return tuple(name for c in columns for name in (c, f"log {c}"))

    def solve(self, n: Array, t: Array) -> Natural:
        """η = (−λ, k − 1), A = log Γ(k) − k log λ."""
        mean = t[..., 0] / n
        gap = np.maximum(np.log(mean) - t[..., 1] / n, LEAST_SPREAD**2 / 2)
        k = shape_of(gap)
        log_rate = np.log(k) - np.log(mean)
        return Natural(np.stack([-k / mean, k - 1], axis=-1), gammaln(k) - k * log_rate)

    def mean(self, theta: Array) -> Array:
        """k/λ."""
        return np.asarray((theta[..., 1] + 1) / -theta[..., 0])

    def draw(self, theta: Array, rng: np.random.Generator) -> Array:
        """Gamma variates."""
        return np.asarray(rng.standard_gamma(theta[..., 1] + 1) / -theta[..., 0])
