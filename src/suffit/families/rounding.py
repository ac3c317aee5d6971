"""What taking rows out leaves of sums besides the other rows: rounding, known to be so, refused, or said.

How large sums were when rows were taken out of them is their ``noise`` (see :class:`~suffit.Stats`); what is left
of them is known to a small share of it, ``ROUNDING``, whatever it is itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..core.stats import CLASS, EXACT, FEATURE, PATTERN, ROUNDING, Stats
from ..data.arrays import Array
from ..data.warn import SingularClassWarning, warn_once

Flags = NDArray[np.bool_]

NEAR = 64 * ROUNDING  # share of a number that two may differ by where rounding is all between them
WRONG = 1e-6  # share of the squares before: what is further below 0 no rows have left
DEPENDENT = 1e-13  # share of a column's variance: more of it as rounding could be taken for a direction of its own
FEW_DIGITS = 1e-10  # share of the squares before: less keeps fewer than six digits


def about_means(n: Array, x: Array, squares: Array) -> Array:
    """Σz² − (Σz)²/n: the squares about the means.  # (…, K, p), or (p,) where those of all classes are together"""
    used = np.divide(x * x, n, out=np.zeros_like(x), where=n > 0)
    return squares - (used if squares.ndim >= used.ndim else used.sum(axis=-2))


def common_values(means: Array, still: Flags, near: Array) -> Array:
    """The values of cells that do not vary: their means, or 0, or that of another class, where rounding is all between.

    # (…, K, p)
    """
    value = np.where(np.abs(means) <= near, 0.0, means)
    for k in range(means.shape[-2]):
        other = value[..., k : k + 1, :]
        value = np.where(still & (np.abs(value - other) <= near), other, value)
    return np.asarray(value)


def _near(noise: Array, origin: Array) -> Array:
    """How far rounding may have moved means: sums by a share of what they were made of, origins by last digits."""
    return np.asarray(NEAR * np.sqrt(noise) + ROUNDING * np.abs(origin))


def clear_equal(n: Array, x: Array, xx: Array, origin: Array, noise: Array) -> tuple[Array, Array, Array]:
    """Sums and origins where a subtraction has left values that are all equal, but for rounding.  # (…, K, p)

    Such a cell is about its value.
    """
    still = (n > 0) & (noise > 0) & (about_means(n, x, xx) <= ROUNDING * noise)
    if not still.any():
        return x, xx, origin
    means = origin + np.divide(x, n, out=np.zeros_like(x), where=n > 0)
    value = common_values(means, still, _near(noise, origin))
    return np.where(still, 0.0, x), np.where(still, 0.0, xx), np.where(still, value, origin)


def cleared_columns(stats: Stats) -> Stats:
    """Moments of whatever layout, about its value in every column of a class that does not vary any more, and 0.

    Where the squares of all classes are together, a column is done once it varies in none.
    """
    if stats.noise is None:
        return stats
    n, x, squares = stats.moments()
    noise, origin = stats.noise, np.asarray(stats.origin)
    still = (n > 0) & (noise > 0) & (about_means(n, x, squares) <= ROUNDING * noise)
    if not still.any():
        return stats
    means = origin + np.divide(x, n, out=np.zeros_like(x), where=n > 0)
    value = common_values(means, still, _near(noise, origin))
    moved = stats.about(np.where(still, value, origin))
    return replace(moved, sums={k: _without(stats, k, a, still) for k, a in moved.sums.items()})


def _without(stats: Stats, name: str, a: Array, still: Flags) -> Array:
    """A sum, 0 where it is one of columns that do not vary; numbers of rows are as they were."""
    dims = stats.layout.dims[name]
    if name not in stats.layout.counted:
        return a
    off = still if dims[0] == CLASS else np.asarray(still.any(axis=0))
    if PATTERN in dims:
        off = off[..., None, :]
    if dims[-2:] == (FEATURE, FEATURE):
        one, other = off[..., :, None], off[..., None, :]
        off = one if name == "pair_x" else one | other
    return np.where(off, 0.0, a)


def cleared_directions(stats: Stats) -> Stats:
    """Squares and products, where no value is missing, without directions whose variance is no more than rounding.

    A fit sees that columns depend on each other where less than 1e-12 of a variance is left.  Rounding leaves more of
    it where a class once held squares far larger than now; there those directions are 0, as in a fit of what is left.
    """
    if stats.noise is None or "xx" not in stats.sums or stats["xx"].ndim != 3 or len(stats.axes[PATTERN]):
        return stats  # rows with missing values say more of them
    n, x, xx = stats["n"], stats["x"], stats["xx"]
    some = n > 0
    used = np.divide(x[:, :, None] * x[:, None, :], n[:, None, None], out=np.zeros_like(xx), where=some[:, None, None])
    own = xx - used
    squares = np.einsum("cjj->cj", own)
    share = ROUNDING * np.divide(stats.noise, squares, out=np.zeros_like(squares), where=squares > 0)
    worst = len(share[0]) * share.max(axis=1, initial=0.0)
    for c in np.flatnonzero(some & (worst > DEPENDENT) & (worst < WRONG)):  # beyond, nothing is known of directions
        xx = xx.copy() if xx is stats["xx"] else xx
        j = np.flatnonzero(squares[c] > 0)
        scale = np.sqrt(squares[c, j])
        values, vectors = np.linalg.eigh(own[np.ix_([c], j, j)][0] / scale[:, None] / scale)
        R = (vectors * np.where(values > worst[c], values, 0.0)) @ vectors.T
        scale = scale / np.sqrt(np.diagonal(R))  # the variances stay
        xx[np.ix_([c], j, j)] = R * scale[:, None] * scale + used[np.ix_([c], j, j)]
    return stats if xx is stats["xx"] else replace(stats, sums={**stats.sums, "xx": xx})


def slack(before: Stats, after: Stats) -> Array:
    """How far below 0 rounding may have brought squares about the means.  # (K, p), or (p,)"""
    n, _, squares = before.moments()
    value = NEAR * np.maximum(np.abs(np.asarray(before.origin)), np.abs(np.asarray(after.origin)))
    known = n * value**2
    return WRONG * squares + ROUNDING * np.asarray(after.noise) + (known if squares.ndim == 2 else known.sum(axis=0))


def short_of_rows(before: Array, after: Array) -> Flags:
    """Where more rows were taken out than there were, by class first: rounding is a share of what the largest had."""
    largest = before.max(axis=tuple(range(1, before.ndim)), keepdims=True, initial=0.0)
    return np.asarray(after < -(1e-9 * before + ROUNDING * largest))


def warn_few_digits(before: Stats, after: Stats, columns: Sequence[str]) -> None:
    """Say where a forgetting leaves so little of the squares that rounding shows in the variance."""
    n, x, squares = after.moments()
    left, was = about_means(n, x, squares), before.moments()[2]
    N = n if squares.ndim == 2 else n.sum(axis=0)
    means = np.asarray(after.origin) + np.divide(x, n, out=np.zeros_like(x), where=n > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.where(n > 0, means**2 + np.maximum(left, 0.0) / N, 0.0).max(axis=0, initial=0.0)
        touched = (n != before.moments()[0]).reshape(len(n), -1)
        few = few_digits_left(left, was, N, scale) & (N > 1)
    say_few_digits(np.atleast_2d(few) & touched, "variance", after, columns)


def few_digits_left(left: Array, was: Array, n: Array, scale: Array) -> Flags:
    """Where little is left of squares; or nothing, and what was lost may be large beside the column's own scale.

    ``scale``: the largest mean square of any class.
    """
    hidden = ROUNDING * was
    return np.asarray(np.where(left > hidden, left < FEW_DIGITS * was, hidden > FEW_DIGITS * n * scale))


def say_few_digits(few: Flags, of: str, after: Stats, columns: Sequence[str]) -> None:
    """Warn of the first class and column, if any."""
    if few.any():
        c, j = (int(v) for v in np.argwhere(few)[0])
        warn_once(
            SingularClassWarning,
            f"forget: the forgotten values of class {after.axes[CLASS].labels[c]!r} in column {columns[j]!r} were so "
            f"much larger than the others that few digits of its {of} are left; fit again if that matters",
        )


def is_inexact(total: Array) -> Flags:
    """Which sums may have been rounded: those that are not integers, or too large for all of them."""
    return np.asarray((total != np.round(total)) | (np.abs(total) >= EXACT))
