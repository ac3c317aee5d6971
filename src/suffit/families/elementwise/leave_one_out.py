"""Independent columns without one row: T(x)·Θ − A, Θ and A solved from the sums less the row, many rows at once.

What a cell adds depends on its column, its value, and the class and weight of its row alone.  So where values are few,
small integers (counts, most often), every value is solved once for every class it may be of, and rows look it up.
"""

from __future__ import annotations

import numpy as np

from ...core.leave_one_out import LooScores
from ...core.stats import ROUNDING, Stats
from ...data.arrays import Array, Codes, NumberRows, block, freeze, is_sparse
from ...data.rows import Rows
from ...kernels.runtime.threads import every, row_blocks
from .shape import LOO_CELLS, Elementwise, without

FEWER = 2  # values are looked up in a table where rows are at least 2 × classes × distinct values
MOST_CELLS = 1 << 20  # of the table of their scores


def leave_one_out(family: Elementwise, X: NumberRows, rows: Rows, stats: Stats) -> LooScores:
    """log p(x | c) of every row, without itself.  # → (n, K)"""
    K, p = stats["n"].shape
    out, never = np.empty((len(rows), K)), np.zeros((len(rows), K))
    values = _integers(X, rows, min(len(rows) // (FEWER * K), MOST_CELLS // (K * K * p)))

    @np.errstate(all="ignore")
    def work(start: int, stop: int) -> None:
        x = block(X, start, stop).astype(np.float64)
        terms, events = _cells(family, x, *rows.part(start, stop), stats)
        out[start:stop] = terms.sum(axis=2)
        if events is not None:
            never[start:stop] = events.sum(axis=2)

    if values:
        _looked_up(family, X, rows, values, stats, out, never)
    else:
        every(work, row_blocks(len(rows), K * p * family.order, LOO_CELLS))
    return LooScores(out, never if never.any() else None)


def _cells(family: Elementwise, x: Array, codes: Codes, weights: Array, stats: Stats) -> tuple[Array, Array | None]:
    """What each cell adds to log p(x | c) without its row, and how many events of probability 0.  # → (n, K, p)"""
    present = x == x
    T = np.where(present[..., None], family.T(x), 0.0)
    each, w = np.arange(len(x)), weights[:, None] * present
    n, t = (np.repeat(stats[name][None], len(x), axis=0) for name in ("n", "t"))
    n[each, codes] = without(n[each, codes], w)
    t[each, codes] = np.where(n[each, codes][..., None] > 0, without(t[each, codes], w[..., None] * T, ROUNDING), 0.0)
    theta, A, zero, zero0 = family.natural(n, t)
    base = np.where(present, family.log_base(x), 0.0)[:, None]
    terms = np.einsum("bpo,bkpo->bkp", T, theta) - present[:, None] * A + base
    if zero is None or zero0 is None:
        return terms, None
    return terms, np.einsum("bpo,bkpo->bkp", T, zero) + present[:, None] * zero0


def _integers(X: NumberRows, rows: Rows, most: int) -> int:
    """How many integers from 0 on all values are among, where these are at most so many; else 0."""
    if is_sparse(X) or not len(rows) or (rows.weights is not None and np.ptp(rows.weights) > 0):
        return 0
    top = 0.0
    for start, stop in row_blocks(len(rows), X.shape[1], LOO_CELLS):
        x = block(X, start, stop)
        low, high = np.fmin.reduce(x, axis=None), np.fmax.reduce(x, axis=None)
        if low < 0 or high >= most or ((x != np.floor(x)) & (x == x)).any():
            return 0
        top = max(top, float(high))
    return int(top) + 1


def _looked_up(
    family: Elementwise, X: NumberRows, rows: Rows, values: int, stats: Stats, out: Array, never: Array
) -> None:
    """Every value solved as that of a row of every class, and the cells of the rows looked up."""
    from ...kernels.categories import category_scores

    K, p = stats["n"].shape
    weight = rows.part(0, 1)[1][0]
    tables = np.empty((2, p, K, values, K))
    for c in range(K):
        x = np.repeat(np.arange(float(values))[:, None], p, axis=1)
        with np.errstate(all="ignore"):
            terms, events = _cells(family, x, np.full(values, c, np.int32), np.full(values, weight), stats)
        tables[0, :, c] = terms.transpose(2, 0, 1)
        tables[1, :, c] = 0.0 if events is None else events.transpose(2, 0, 1)
    offsets = freeze(np.arange(p + 1) * K * values)
    density, events = (freeze(table.reshape(-1, K)) for table in tables)

    def work(start: int, stop: int) -> None:
        x = block(X, start, stop)
        cells = rows.part(start, stop)[0][:, None] * values + np.where(x == x, x, 0)
        cells = freeze(np.where(x == x, cells, -1).astype(np.int32))
        category_scores(cells, offsets, density, out[start:stop])
        category_scores(cells, offsets, events, never[start:stop])

    every(work, row_blocks(len(rows), p))
