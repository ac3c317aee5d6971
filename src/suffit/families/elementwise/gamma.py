"""Gamma: positive, skewed quantities (durations, amounts)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ...core.family import POSITIVE, Family, register
from ...data.arrays import Array, NumberRows, freeze, is_sparse
from ...data.rows import Rows
from .shape import Elementwise, Natural

LEAST_SPREAD = 1e-4  # the least relative spread a class is given: one that never varies has no shape of its own
NARROW = 1e-3  # a column whose values differ by a smaller share than this is counted about an origin
LEAST_NARROW = 1e-9  # the least relative spread there
FIRST_ROWS = 8  # that are looked at first
ORIGIN_BITS = 14  # of an origin: so few that parts of a table have the same one
LARGE_SHAPE = 1e4  # k from where the first terms of the series of ψ and log Γ give all digits
NEWTON_STEPS = 4  # the start is within 2 % of k in logs, and every step squares that


def shape_of(gap: Array) -> Array:
    """The k with log k − ψ(k) = gap, gap = log(mean x) − mean(log x) > 0, by Newton's method on log k.

    For 2 classes × 10 columns 5 µs; scipy.optimize.newton takes 77 µs, its find_root 1,100 µs, and a whole fit 210 µs.
    For 10 × 100 the same are 0.13, 0.71, 1.9 and 0.6 ms.
    """
    from ...kernels.gamma import gamma_shapes

    out = np.empty(np.shape(gap))
    gamma_shapes(freeze(np.ravel(gap)), NEWTON_STEPS, out.reshape(-1))
    return out


@register
@dataclass(frozen=True)
class Gamma(Elementwise):
    """x > 0: log p = (k−1) log x − λx + k log λ − log Γ(k), k and λ those that match the class means of x and log x.

    Columns that hardly vary relative to their mean m (10,000,000 ± 1) are counted about a round number o near it, as x
    − o and log(x/o) − (x − o)/o, because sums of x and log x would lose their spread.  The first rows fix these
    origins, as they fix the edges of bins; models to be merged must have the same.


    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or "loo", default 1.0
        Number of pseudo-rows, with the mean statistic of all classes, that are added to every class; 0 is maximum
        likelihood.  "loo" chooses it by leave-one-out.
    tuning : Tuning, optional
        What was tried to choose ``alpha``; set by a fit, not by users.
    origin : tuple of float, optional
        The origin of each column, 0 for none; chosen by the first rows where it is None.

    Attributes
    ----------
    key : str
        "gamma", the name of the family.

    See Also
    --------
    NaiveBayes : Naive Bayes with this or any other family.
    LogNormal : Positive values whose logarithm is normal.

    Examples
    --------
    >>> theta, A, *_ = Gamma().solve(np.array([2.0]), np.array([[4.0, 2 * np.log(2) - 0.5]]))
    >>> (theta[0, 1] + 1).round(4), (-theta[0, 0]).round(4)  # shape and rate
    (np.float64(2.1518), np.float64(1.0759))
    """

    order: ClassVar[int] = 2
    key: ClassVar[str] = "gamma"
    candidate_for: ClassVar[tuple[str, ...]] = (POSITIVE,)
    from_0: ClassVar[bool] = True
    support: ClassVar[str] = "needs x > 0"
    way_out: ClassVar[str] = "use gaussian, shift the column, or drop the row"

    origin: tuple[float, ...] | None = field(default=None, kw_only=True, repr=False, compare=False)
    # of every column, 0 where it is counted as it is; () where all are; None: to be chosen from the first rows

    @property
    def statistic(self) -> tuple[object, ...]:
        """Sums about an origin are other sums."""
        return (self.key, self.origin) if self.origin else (self.key,)

    # --- choosing origins

    @property
    def is_tuned(self) -> bool:
        return self.origin is not None and not self.alpha_is_open

    def tuned(self, X: NumberRows, rows: Rows) -> Family:
        """With origins chosen from these rows."""
        return self if self.origin is not None else self.having(origin=_origins(X))

    def tuned_as(self, other: Family) -> Family:
        """With the origins, and the α, that another has chosen."""
        if self.origin is None and isinstance(other, Gamma):
            return super(Gamma, self.having(origin=other.origin)).tuned_as(other)
        return super().tuned_as(other)

    def of_columns(self, part: slice, p: int) -> Elementwise:
        """The family of these columns, with their origins."""
        family = super().of_columns(part, p)
        return family.having(origin=self.origin[part]) if self.origin else family

    # --- the mathematics

    @property
    def _about(self) -> tuple[NDArray[np.bool_], Array]:
        """Which columns are counted about an origin, and that; 1 for the others, where nothing comes of it."""
        o = np.array(self.origin)
        return o > 0, np.where(o > 0, o, 1.0)

    def outside(self, x: Array) -> NDArray[np.bool_]:
        return x <= 0

    def infeasible(self, n: Array, t: Array, slack: Array) -> NDArray[np.bool_]:
        """Σx ≥ 0, and the mean of log x is no more than the log of the mean."""
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = np.log((t[..., 0] + slack[..., 0]) / n) - (t[..., 1] - slack[..., 1]) / n
            negative = t[..., 0] < -slack[..., 0]
            if self.origin:
                near, o = self._about
                u = (t[..., 0] + slack[..., 0]) / (n * o)
                negative, gap = np.where(near, u <= -1, negative), np.where(near, _gap(n, t, u), gap)
        return negative | (gap < -1e-6)

    def T(self, x: Array) -> Array:
        """(x, log x); about an origin o, z = x − o, (z, log(x/o) − z/o)."""
        plain = np.stack([x, np.log(x)], axis=-1)
        if not self.origin:
            return plain
        near, o = self._about
        z = x - o
        r = z / o
        log = np.where(np.abs(r) < 0.5, np.log1p(np.maximum(r, -0.5)), np.log(x / o))
        return np.where(near[:, None], np.stack([z, log - r], axis=-1), plain)

    def names(self) -> tuple[str, ...]:
        """X and log x of each column."""
        names = [(c, f"log {c}") for c in self.columns]
        for j, o in enumerate(self.origin or ()):
            if o > 0:
                z = f"({self.columns[j]} - {o:.6g})"
                names[j] = (z, f"log({self.columns[j]}/{o:.6g}) - {z}/{o:.6g}")
        return tuple(name for pair in names for name in pair)

    def solve(self, n: Array, t: Array) -> Natural:
        """η = (−λ, k − 1), A = log Γ(k) − k log λ."""
        mean = t[..., 0] / n
        gap = np.maximum(np.log(mean) - t[..., 1] / n, LEAST_SPREAD**2 / 2)
        k = shape_of(gap)
        log_rate = np.log(k) - np.log(mean)
        plain = Natural(np.stack([-k / mean, k - 1], axis=-1), gammaln(k) - k * log_rate)
        if not self.origin:
            return plain
        near, o = self._about
        about = _solved_about(o, n, t)
        return Natural(np.where(near[:, None], about.theta, plain.theta), np.where(near, about.A, plain.A))

    def mean(self, theta: Array) -> Array:
        """k/λ; k where no row has a value (θ = 0)."""
        k = theta[..., 1] + 1
        plain = np.asarray(k / np.where(theta[..., 0] < 0, -theta[..., 0], 1.0))
        if not self.origin:
            return plain
        near, o = self._about
        share = np.where(near, (theta[..., 0] * o + 1) / k, 0.0)  # u/(1 + u), the mean being o·(1 + u)
        return np.where(near, o / (1 - share), plain)

    def parameters(self, theta: Array) -> dict[str, Array]:
        """The shape k and the rate λ: the mean is k/λ."""
        shape = theta[..., 1] + 1
        return {"shape": shape, "rate": np.asarray(shape / self.mean(theta))}

    def draw(self, theta: Array, rng: np.random.Generator) -> Array:
        k = theta[..., 1] + 1
        if not self.origin:
            return np.asarray(rng.standard_gamma(k) / np.where(theta[..., 0] < 0, -theta[..., 0], 1.0))
        return np.asarray(rng.standard_gamma(k) / k * self.mean(theta))


def _origins(X: NumberRows) -> tuple[float, ...]:
    """A round number near the values of every column that is narrow, 0 for the others; () where none is."""
    if is_sparse(X) or not len(X):
        return ()
    for some in (X[:FIRST_ROWS], X):  # the first rows mostly suffice
        low, high = (np.asarray(f.reduce(some, axis=0), np.float64) for f in (np.fmin, np.fmax))
        narrow = (low > 0) & (high - low < NARROW * high)
        if not narrow.any():
            return ()
    narrow &= high > low  # a constant shows no spread
    share, exponent = np.frexp(np.where(narrow, (low + high) / 2, 1.0))
    near = np.ldexp(np.rint(np.ldexp(share, ORIGIN_BITS)), exponent - ORIGIN_BITS)
    return tuple(np.where(narrow, near, 0.0).tolist()) if narrow.any() else ()


def _gap(n: Array, t: Array, u: Array) -> Array:
    """log(mean x) − mean(log x) from sums about an origin, the mean being 1 + u times that."""
    return np.log1p(u) - u - t[..., 1] / n


def _solved_about(o: Array, n: Array, t: Array) -> Natural:
    """log p = z·(k/o − k/μ − 1/o) + (log(x/o) − z/o)·(k − 1) − A, μ = o(1 + u) the mean of x and k its shape.

    A = log o + k(log(1 + u) − u/(1 + u)) − (k log k − k − log Γ(k)); k from 1/2k + 1/12k² = gap, as k is large.
    """
    u = t[..., 0] / (n * o)
    gap = np.maximum(_gap(n, t, u), LEAST_NARROW**2 / 2)
    k = (1 + np.sqrt(1 + 4 * gap / 3)) / (4 * gap)
    k = np.where(k > LARGE_SHAPE, k, shape_of(gap))
    stirling = 0.5 * np.log(k / (2 * np.pi)) - 1 / (12 * k)
    stirling = np.where(k > LARGE_SHAPE, stirling, k * np.log(k) - k - gammaln(k))
    theta = np.stack([k / o * (u / (1 + u)) - 1 / o, k - 1], axis=-1)
    return Natural(theta, np.log(o) + k * (np.log1p(u) - u / (1 + u)) - stirling)
