"""The simplex shape: counts normalised along an axis that may grow (categories of a column, words)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import Array, Csr, NumberRows, block, entries, freeze, is_sparse, sum_is_finite
from ...data.rows import Rows
from ...kernels.runtime.threads import every, in_order, row_blocks
from ..elementwise.scores import SOLVED_CELLS
from ..elementwise.shape import sum_entries

Check = Callable[[Array, int], None]


def log_shares(smoothed: Array) -> tuple[Array, Array]:
    """Log s/Σs of smoothed counts s, and where that is log 0: 1, with the finite part of log α − log Σ in its place.

    A row without any count and without α is uniform.  ``smoothed`` is used up: there may be millions of words.
    """
    total = smoothed.sum(axis=-1, keepdims=True)
    if not (total > 0).all():
        np.copyto(smoothed, 1.0, where=~(total > 0))
        total = np.where(total > 0, total, max(smoothed.shape[-1], 1))
    zero, never = smoothed <= 0, np.broadcast_to(0.0, smoothed.shape)  # no room of its own
    if zero.any():
        never = zero.astype(np.float64)
        smoothed[zero] = 1.0
    np.log(smoothed, out=smoothed)
    smoothed -= np.log(total)
    return smoothed, never


def share_table(smoothed: Callable[[slice], Array], K: int, places: int) -> tuple[Array, NDArray[np.int8]]:
    """The same for an axis that may have millions of places, a portion of them at a time.  # → (places, K) each

    ``smoothed(part)`` are the smoothed counts of some places.  # → (K, part)
    """
    portions = row_blocks(places, K, SOLVED_CELLS)
    if len(portions) == 1:
        shares, zero = log_shares(smoothed(slice(None)))
        return np.ascontiguousarray(shares.T), zero.T.astype(np.int8)
    table, never = np.empty((places, K)), np.zeros((places, K), np.int8)
    sums = in_order(lambda start, stop: smoothed(slice(start, stop)).sum(axis=1), portions)
    total = sum(sums, start=np.zeros(K))
    uniform = ~(total > 0)  # no count, and no α
    log_total = np.log(np.where(uniform, max(places, 1), total))

    def work(start: int, stop: int) -> None:
        part = smoothed(slice(start, stop))
        part[uniform] = 1.0
        zero = part <= 0
        if zero.any():
            never[start:stop] = zero.T
            part[zero] = 1.0
        np.log(part, out=part)
        np.subtract(part.T, log_total, out=table[start:stop])

    every(work, portions)
    return table, never


def dense_class_sums(X: NumberRows, rows: Rows, check: Check) -> Array:
    """Σ w x per class and column.  # → (K, p)"""
    from ...kernels.moments import column_sums

    K, p = len(rows.classes), X.shape[1]

    def work(start: int, stop: int) -> Array:
        x = block(X, start, stop)
        check(x, start)
        t = np.zeros((K, p))
        column_sums(x, *rows.part(start, stop), t)
        return t

    total = np.zeros((K, p))
    for part in in_order(work, row_blocks(X.shape[0], p)):
        total += part
    return total


def sparse_class_sums(X: Csr, rows: Rows) -> tuple[Array, bool]:
    """The same over the stored entries of a CSR matrix, and whether all are finite and not negative.  # → (K, p)"""
    from ...kernels.sparse_rows import csr_class_sums

    odd: list[int] = []

    def add(a: int, b: int, lo: int, hi: int, t: Array) -> None:
        if not csr_class_sums(*entries(X, a, b), None, *rows.part(a, b), lo, hi, t):
            odd.append(a)

    t = sum_entries(add, X, rows, (len(rows.classes), X.shape[1]))
    return t, not odd and sum_is_finite(t)


def linear_scores(X: NumberRows, start: int, stop: int, weights: Array | NDArray[np.int8], out: Array) -> bool:
    """X·weightsᵀ of some rows, dense or CSR.  # → (n, K)

    False where a stored entry of CSR rows is negative.
    """
    from ...kernels.scores import linear_scores as dense_scores
    from ...kernels.sparse_rows import csr_linear_scores

    weights = cast("Array", weights)
    if not is_sparse(X):
        nothing = freeze(np.zeros(weights.shape[1]))
        dense_scores(block(X, start, stop), nothing, freeze(weights), freeze(np.zeros(len(weights))), out)
        return True
    none = freeze(np.zeros(len(weights)))
    return bool(csr_linear_scores(*entries(X, start, stop), None, freeze(weights.T), none, out))


def draw_shares(shares: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """One place on the axis for each row of probabilities.  # (n, L) → (n,)"""
    if not shares.shape[1]:
        return np.zeros(len(shares), np.int64)
    edges = np.cumsum(shares, axis=1)
    return np.asarray(
        (rng.random(len(shares))[:, None] * edges[:, -1:] >= edges).sum(axis=1).clip(0, shares.shape[1] - 1)
    )


def names_of(columns: Sequence[str], categories: Sequence[Sequence[Hashable]]) -> tuple[str, ...]:
    """``column=category`` for every category of every column."""
    return tuple(f"{c}={v}" for c, values in zip(columns, categories, strict=True) for v in values)
