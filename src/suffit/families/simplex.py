"""The simplex shape: counts normalised along an axis that may grow (levels of a column, words)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.threads import every, in_order, row_blocks
from ..stats import Array
from ..table import Matrix, Rows, block, freeze
from .elementwise import class_ranges, entry_blocks

Check = Callable[[NDArray[Any], int], None]


def log_shares(count: Array, alpha: Array, axis: int = -1) -> tuple[Array, Array]:
    """Log (count + α)/Σ(count + α), and where that is log 0: 1, with the finite part of log α − log Σ in its place.

    A row without any count and without α is uniform.
    """
    smoothed = count + alpha
    total = smoothed.sum(axis=axis, keepdims=True)
    smoothed = np.where(total > 0, smoothed, 1.0)
    total = np.where(total > 0, total, count.shape[axis])
    never = smoothed <= 0
    return np.log(np.where(never, 1.0, smoothed)) - np.log(total), never.astype(np.float64)


def dense_class_sums(X: Matrix, rows: Rows, check: Check) -> Array:
    """Σ w x per class and column.  # → (K, p)"""
    from ..kernels.moments import class_sums

    K, p = len(rows.classes), X.shape[1]

    def work(start: int, stop: int) -> Array:
        x = block(X, start, stop).astype(np.float64)
        check(x, start)
        n, t = np.zeros((K, p)), np.zeros((K, p, 1))
        class_sums(freeze(x[..., None]), freeze(np.ones(x.shape, dtype=bool)), *rows.part(start, stop), n, t)
        return t[..., 0]

    total = np.zeros((K, p))
    for part in in_order(work, row_blocks(X.shape[0], p)):
        total += part
    return total


def sparse_class_sums(X: Matrix, rows: Rows) -> Array:
    """The same over the stored entries of a CSR matrix.  # → (K, p)"""
    from ..kernels.counts import csr_class_sums

    K, p = len(rows.classes), X.shape[1]
    t = np.zeros((K, p, 1))
    indptr = freeze(X.indptr.astype(np.int64))
    indices = freeze(X.indices.astype(np.int32, copy=False))

    def work(lo: int, hi: int) -> None:
        for a, b in entry_blocks(indptr):
            data = freeze(np.asarray(X.data[indptr[a] : indptr[b]], dtype=np.float64)[:, None])
            local = freeze(indptr[a : b + 1] - indptr[a])
            csr_class_sums(local, indices[indptr[a] : indptr[b]], data, *rows.part(a, b), lo, hi, t)

    every(work, class_ranges(rows.codes, K))
    return t[..., 0]


def linear_scores(X: Matrix, weights: Array, sparse_rows: bool) -> Array:
    """X·weightsᵀ in row blocks, dense or CSR.  # (n, p), (K, p) → (n, K)"""
    from ..kernels.counts import csr_scores

    out = np.empty((X.shape[0], len(weights)))
    if not sparse_rows:

        def dense(a: int, b: int) -> None:
            out[a:b] = block(X, a, b).astype(np.float64, copy=False) @ weights.T

        every(dense, row_blocks(*X.shape))
        return out
    theta = freeze(weights.T[:, None, :])  # (p, 1, K)
    zero = freeze(np.zeros(len(weights)))
    indptr = X.indptr.astype(np.int64)

    def work(a: int, b: int) -> None:
        e, f = indptr[a], indptr[b]
        data = freeze(np.asarray(X.data[e:f], dtype=np.float64)[:, None])
        indices = freeze(X.indices[e:f].astype(np.int32, copy=False))
        csr_scores(freeze(indptr[a : b + 1] - e), indices, data, theta, zero, out[a:b])

    every(work, entry_blocks(indptr))
    return out


def draw_shares(shares: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """One place on the axis for each row of probabilities.  # (n, L) → (n,)"""
    edges = np.cumsum(shares, axis=1)
    return np.asarray(
        (rng.random(len(shares))[:, None] * edges[:, -1:] >= edges).sum(axis=1).clip(0, shares.shape[1] - 1)
    )


def names_of(columns: Sequence[str], levels: Sequence[Sequence[Any]]) -> tuple[str, ...]:
    """``column=level`` for every level of every column."""
    return tuple(f"{c}={v}" for c, values in zip(columns, levels, strict=True) for v in values)
