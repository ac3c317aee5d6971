"""Covariances of classes of which few rows have both columns of a pair: some rows of the shared one stand beside them.

The likelihood of rows with missing values has no maximum where the rows of a largest pattern (one that no other row has
all the columns of and more) lie in a plane: along what is at right angles to it, a variance of 0 makes them infinitely
likely.  Long before that it takes chance for correlation.  What s rows say of a pair of p columns, fewer than
``ENOUGH`` for each coefficient of a regression of one column on the others, is therefore made up by
ν = ``SHARE``·(ENOUGH·(p − 1) − s) rows of T, with the class's own variances and the correlations of the shared
covariance: the inverse Wishart prior with density ∝ |Σ|^(−ν/2) exp(−½ν tr Σ⁻¹T), under which

    Σ_c = (S_c + ν T_c)/(n_c + ν)

is the most probable covariance of a class with scatter S_c.  T stays as it is while EM runs, so that every step
raises the likelihood times the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....core.stats import Stats
from ....data.arrays import Array, Codes
from .patterns import Flags, cells_of, rows_of, there

if TYPE_CHECKING:
    from .em import Normal

ENOUGH = 10  # rows that have both columns of a pair, for each other column, for the likelihood alone to tell
COMPLETE = 4  # rows with both columns of a pair that a row without missing values is worth: it ties all columns
SHARE = 0.5  # of the rows that are lacking, those that the prior makes up


class Spread(NamedTuple):
    """Squares about the means of the values that are there, by class and in all, how many, and the variance of all."""

    n: Array  # (K, p)
    own: Array  # (K, p)
    within: Array  # (p,)
    total: Array  # (p,) variance


def spread_of(n: Array, x: Array, squares: Array, origin: Array) -> Spread:
    """From sums of the values of each class and column, about an origin.  # (…, K, p) each"""
    mean = np.divide(x, n, out=np.zeros_like(x), where=n > 0)
    own = squares - x * mean
    own = np.where(own > 1e-13 * squares, own, 0.0)
    N = n.sum(axis=-2)
    at = origin + mean
    middle = np.divide((n * at).sum(axis=-2), N, out=np.zeros_like(N), where=N > 0)[..., None, :]
    far = np.where(np.abs(at - middle) > 1e-13 * np.abs(at), at - middle, 0.0)
    within = own.sum(axis=-2)
    total = np.divide(within + (n * far**2).sum(axis=-2), N, out=np.zeros_like(N), where=N > 0)
    return Spread(n, own, within, total)


def spread_without(stats: Stats, x: Array, codes: Codes, weights: Array) -> Spread:
    """The same without each of some rows of these classes.  # (m, p) → (m, K, p)"""
    origin = np.asarray(stats.origin)
    z = x - origin[codes]
    sums = [np.repeat(a[None], len(x), axis=0) for a in cells_of(stats)]
    each, w = np.arange(len(x)), weights[:, None] * (z == z)
    z = np.where(z == z, z, 0.0)
    for a, value in zip(sums, (w, w * z, w * z * z), strict=True):
        a[each, codes] -= value
    return spread_of(sums[0], sums[1], sums[2], origin)


def pair_share(there: Flags) -> Array:
    """How many of all pairs of columns rows have, as a share."""
    p, a = there.shape[1], there.sum(axis=1)
    return a * (a - 1) / (p * (p - 1)) if p > 1 else a.astype(np.float64)


def class_pairs_seen(stats: Stats) -> tuple[int, Array]:
    """How many columns vary, and how many rows of each class have both columns of a pair of them, on average.

    Or COMPLETE times the rows of it without missing values, where these are more.
    """
    varies = spread_of(*cells_of(stats), np.asarray(stats.origin)).total > 0
    n = stats["n"]
    return int(varies.sum()), np.maximum(n + stats["part_n"] @ pair_share(there(stats)[:, varies]), COMPLETE * n)


def rows_lacking(stats: Stats, tie: float, vectors: Array) -> Array:
    """ν of each class, to which the rows of all classes say tie/(1 − tie) as much as its own.  # → (K,)

    0 where the weights of a class add up to less than the linearly independent rows (``vectors``) it has: such weights
    are shares, and do not tell how many rows there are.
    """
    p, seen = class_pairs_seen(stats)
    seen = seen + tie / (1 - tie) * seen.sum()
    lacking = SHARE * np.maximum(ENOUGH * (p - 1) - seen, 0.0)
    return np.where(rows_of(stats) < vectors * (1 - 1e-9), 0.0, lacking)


def lacking_without(stats: Stats, tie: float, codes: Codes, pairs: Array, complete: Array) -> Array:
    """ν of each class without each of some rows, which are so many pairs and complete rows of theirs.  # → (n, K)

    Of columns all of which vary.
    """
    o, each = there(stats), np.arange(len(codes))
    of_class, n = (np.tile(a, (len(codes), 1)) for a in (stats["n"] + stats["part_n"] @ pair_share(o), stats["n"]))
    of_class[each, codes] -= pairs
    n[each, codes] -= complete
    seen = np.maximum(of_class, COMPLETE * n)
    seen = seen + tie / (1 - tie) * seen.sum(axis=1, keepdims=True)
    return np.asarray(SHARE * np.maximum(ENOUGH * (o.shape[1] - 1) - seen, 0.0))


@dataclass(frozen=True)
class Prior:
    """ν rows with covariance T beside those of each class."""

    rows: Array  # (K,)
    target: Array  # (K, p, p)

    def of_class(self, c: int) -> Prior:
        """Those of one class."""
        return Prior(self.rows[[c]], self.target[[c]])

    def added(self, stats: Stats) -> Stats:
        """Sums of complete rows about the same means, with (S + νT)·n/(n + ν) for S."""
        n, x, nu = stats["n"], stats["x"], self.rows[:, None, None]
        shift = np.divide(x, n[:, None], out=np.zeros_like(x), where=n[:, None] > 0)
        about = np.einsum("ci,cj->cij", shift, x)
        scatter = stats["xx"] - about
        share = np.divide(n, n + self.rows, out=np.zeros_like(n), where=n > 0)[:, None, None]
        return replace(stats, sums={**stats.sums, "xx": share * (scatter + nu * self.target) + about})

    def log_density(self, normals: Sequence[Normal], scale: Array) -> float:
        """Σ_c −½ν_c (log|Σ_c| + tr Σ_c⁻¹T_c), in columns divided by scale; of the classes whose Σ has an inverse."""
        T = self.target / scale[:, None] / scale
        each = [v.log_det + (v.P * T[c]).sum() for c, v in enumerate(normals) if len(v.P) and self.rows[c]]
        rows = [self.rows[c] for c, v in enumerate(normals) if len(v.P) and self.rows[c]]
        return -0.5 * float(np.dot(rows, each))


def prior_of(stats: Stats, rows: Array, shared: Array) -> Prior:
    """These rows of T, with the correlations of a shared covariance."""
    return Prior(rows, targets(spread_of(*cells_of(stats), np.asarray(stats.origin)), shared))


def targets(spread: Spread, shared: Array) -> Array:
    """T: of each class the variances of its own values, of all classes the correlations.  # … (p, p) → … (K, p, p)

    A variance rests on the class's own values and one of the shared variance, which likewise rests on one of the
    variance of all rows: a class without spread in a column, or without a value, still has some.
    """
    n, own, within, total = spread
    N, p = n.sum(axis=-2), shared.shape[-1]
    scale = np.sqrt((own + ((within + total) / (N + 1))[..., None, :]) / (n + 1))  # (…, K, p)
    unit = np.sqrt(np.maximum(np.einsum("...jj->...j", shared), 0.0))
    unit = np.where(unit > 0, unit, 1.0)
    most = N.max(axis=-1)[..., None, None]
    R = shared / unit[..., :, None] / unit[..., None, :] * (most / (most + 1))  # as with one row without correlations
    R = np.where(np.eye(p) > 0, 1.0, R)
    return np.asarray(scale[..., :, None] * R[..., None, :, :] * scale[..., None, :])


def without_maximum(observed: Flags, patterns: NDArray[np.integer], ranks: NDArray[np.integer]) -> bool:
    """Whether some rows that no others have all the columns of lie in a plane.

    ``patterns`` are those that rows have, ``ranks`` the ranks of the scatter of each about its mean.
    """
    o = observed[patterns].astype(np.float64)
    a = o.sum(axis=1)
    inside = o @ o.T >= a[:, None]  # [q, r]: every column of q is in r
    largest = inside.sum(axis=1) == 1
    return bool((ranks < a)[largest & (a > 0)].any())
