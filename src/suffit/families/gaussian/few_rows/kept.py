"""Fewer rows than columns: the rows themselves are the smallest sufficient sums.

Second moments of p columns are p² numbers however few rows went into them.  n rows with n ≪ p take n·p numbers:
which rows there are, and how often each class has each of them.  So the sums are *counts by row*, on an axis that grows
with the rows and whose labels are the rows (their p numbers as bytes):

    count[c, row] = Σ_i w_i · 1{y_i = c, x_i = row},        n[c] = Σ_row count[c, row].

They add up, scale and merge like all counts; forgetting a row takes its count away exactly, and a row that nobody has
any more is gone.  No origin is needed, nothing is rounded, and the order of the rows does not matter, for labels have
an order of their own.  A missing value is a NaN in the row.

Once there are more than half as many different rows as columns, the second moments are no larger; the counts then turn
into those (:class:`~suffit.core.stats.Coarser`), and so they do where they meet sums that have turned already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ....core.stats import CLASS, FEATURE, Coarser, Layout, Stats, layout
from ....data.arrays import Array, NumberRows, block, freeze, is_sparse
from ....data.errors import InputError, NotLearnedError, check_finite
from ....data.labels import Index
from ....data.rows import Rows
from ..moments import SCATTER, SCATTER_FOURTH, SCATTER_POOLED, check_powers

ROW = "row"
LEAST_COLUMNS = 64  # below which second moments take next to nothing
COLUMNS_FOR_ROW = 2  # for every row that is kept: with more rows the second moments are no larger
LARGEST = 1e150  # numbers whose squares add up to a number, however many they are
MOST_CELLS = 1 << 28  # of sparse rows that are kept with all their zeros


def are_few(rows: int, columns: int) -> bool:
    """Whether so many rows are kept themselves."""
    return columns >= LEAST_COLUMNS and COLUMNS_FOR_ROW * rows <= columns


def is_kept(stats: Stats) -> bool:
    """Whether these sums are counts by row."""
    return ROW in stats.axes


def values_of(stats: Stats) -> Array:
    """The different rows, in the order of their axis.  # → (rows, p)"""
    labels = cast("tuple[bytes, ...]", stats.axes[ROW].labels)
    return np.frombuffer(b"".join(labels)).reshape(len(labels), len(stats.axes[FEATURE]))


def _kept_layout(made: Layout, pooled: bool = False, shrinkage: float | str = 0.0) -> Layout:
    """Counts by row that turn into these moments."""

    def needed(stats: Stats) -> bool:
        return not are_few(len(stats.axes[ROW]), len(stats.axes[FEATURE]))

    def turn(stats: Stats) -> Stats:
        from ..joint import MultivariateGaussian

        return MultivariateGaussian(pooled=pooled, shrinkage=shrinkage).moments(stats)

    dims = {"n": (CLASS,), "count": (CLASS, ROW)}
    return layout(f"{made.name}-rows", dims, growing={ROW: "count"}, coarser=Coarser(made, needed, turn))


KEPT = {
    SCATTER: _kept_layout(SCATTER),
    SCATTER_POOLED: _kept_layout(SCATTER_POOLED, pooled=True),
    SCATTER_FOURTH: _kept_layout(SCATTER_FOURTH, shrinkage="ledoit-wolf"),
}


def kept_rows(made: Layout, X: NumberRows, rows: Rows, columns: Sequence[str]) -> Stats:
    """Counts of these rows, each once; ``made``: the moments that they stand for."""
    n, p = X.shape
    if is_sparse(X) and n * p > MOST_CELLS:
        raise InputError(
            f"a full covariance of {n} sparse rows with {p} columns needs {n * p:.3g} numbers, zeros included; reduce "
            "the columns first (TruncatedSVD), or use a model of independent columns (GaussianNB, MultinomialNB)"
        )
    codes, weights = rows.part(0, n)
    x = block(X, 0, n).astype(np.float64, copy=False)
    if x.size and not (x.min() > -LARGEST and x.max() < LARGEST):  # or missing
        check_finite(x, columns)
        with np.errstate(over="ignore"):
            check_powers({"xx": np.nansum(x * x, axis=0)}, x, columns)
        x = np.where(np.isnan(x), np.nan, x)  # one NaN for all kinds of them
    x = x + 0.0  # and one zero
    there = np.flatnonzero(weights != 0)
    keys = [x[i].tobytes() for i in there]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    labels: list[bytes] = []
    place = np.empty(len(keys), np.int64)
    for i in order:
        if not labels or keys[i] != labels[-1]:
            labels.append(keys[i])
        place[i] = len(labels) - 1
    count = np.zeros((len(rows.classes), len(labels)))
    np.add.at(count, (codes[there], place), weights[there])
    axes = {CLASS: rows.classes, FEATURE: Index.range(p), ROW: Index(tuple(labels))}
    return Stats(KEPT[made], axes, {"n": rows.counts(), "count": count})


def as_rows(stats: Stats) -> tuple[Array, Rows]:
    """The rows as they were learned, but for their order: values, classes and weights."""
    codes, at = np.nonzero(stats["count"])
    weights = freeze(stats["count"][codes, at])
    return freeze(values_of(stats)[at]), Rows(stats.axes[CLASS], freeze(codes.astype(np.int32)), weights)


def has_missing(values: NDArray[np.float64]) -> bool:
    """Whether some row has a missing value."""
    return bool(np.isnan(values).any())


def check_kept(after: Stats, before: Stats, least: float) -> None:
    """Refuse a subtraction that leaves a class with less than none of a row."""
    short = after["count"] < -least * np.maximum(before["count"], 1.0)
    if not short.any():
        return
    c, i = (int(v) for v in np.argwhere(short)[0])
    row = values_of(after)[i]
    shown = ", ".join(f"{v:.6g}" for v in row[:3])
    had = float(before["count"][c, i])
    what = "was never learned" if had <= 0 else f"was learned with weight {had:g} only"
    row_of = f"a row of class {after.axes[CLASS].labels[c]!r} {what} (it begins {shown}, …)"
    raise NotLearnedError(row_of, how=", with the same labels and weights")
