"""Trees on the columns of a table: their bins and categories, and the cuts chosen by some of the rows for each tree."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array, freeze
from ..data.frame import Frame
from ..data.rows import Rows
from ..families.counts.binned import SortedColumns
from ..families.counts.partition import Marked, Partition
from ..kernels.runtime.threads import every
from .schema import Coding

MOST_CODES = 64  # of a column
MOST_TREES, FEWEST_TREES = 128, 48
FIRST_TREES = 8  # of many rows: the others are grown where these are worth anything
TREE_ROWS = 256_000  # rows of all trees together, between these
SHARE = 0.7  # of the rows take part in choosing the cuts of a tree
COLUMNS = (1, 2, 3)  # times √p columns are looked at for a cut, in one tree after the other
SHOWN_COLUMNS = 4  # of those that trees cut
LEAST = 1.0  # rows of a leaf
LEAST_GAIN = 1.0  # nats that a cut must take away: two rows of two classes are worth 1.4
MOST_CELLS = 1 << 22  # numbers that the counts of all trees may take
ALPHAS = {0.3: 0.03, 3.0: 30.0}  # amounts of smoothing, and what is tried where one of them is the best


class Growing:
    """Trees on codes of columns, each grown by its share of the rows: as many as are asked for."""

    def __init__(
        self, X: NDArray[np.uint8], sizes: Sequence[int], is_number: Sequence[bool], rows: Rows, by: Marked
    ) -> None:
        n, p = X.shape
        self.sizes, self.is_number, self.n_classes = tuple(sizes), freeze(np.array(is_number)), len(rows.classes)
        self.columns, self.marks = freeze(X[by.order].T), freeze(by.marks[by.order])
        self.codes, self.weights = freeze(by.classes[by.order]), freeze(rows.part(0, n)[1][by.order])
        self.most_trees = int(np.clip(TREE_ROWS // max(n, 1), FEWEST_TREES, MOST_TREES))
        self.most_nodes = min(2 * n + 1, max(3, MOST_CELLS // (self.n_classes * self.most_trees)))  # of a tree
        self.few = [min(p, max(1, round(times * np.sqrt(p)))) for times in COLUMNS]
        counts = np.arange(n + 1.0)
        self.known = freeze(counts * np.log(np.maximum(counts, 1.0)))
        self._trees: dict[int, tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.int32]]] = {}

    def trees(self, n_trees: int) -> Partition:
        """So many trees; those that are not there yet are grown."""
        every(self._grow, [(t, t + 1) for t in range(n_trees) if t not in self._trees])
        column, left, child = zip(*(self._trees[t] for t in range(n_trees)), strict=True)
        roots = np.cumsum([0, *map(len, column)]).tolist()
        child = np.concatenate([np.where(c > 0, c + root, 0) for c, root in zip(child, roots, strict=False)])
        cuts = np.concatenate(column).tobytes(), np.concatenate(left).tobytes(), child.astype(np.int32).tobytes()
        return Partition(self.sizes, tuple(roots[:-1]), *cuts, share=SHARE)

    def _grow(self, tree: int, _: int) -> None:
        from ..kernels.trees import FLOATS, grow_tree, rows_of_tree

        (p, n), K, most = self.columns.shape, self.n_classes, self.most_nodes
        takes, own, worth = np.empty(n, bool), np.empty(n, np.int32), np.empty(n)
        begin, end, depth = np.empty((3, most), np.int64)
        column, left, child = np.empty(most, np.int32), np.empty(most, np.uint64), np.empty(most, np.int32)
        hist, floats = np.empty((MOST_CODES, K)), np.empty((FLOATS, max(K, MOST_CODES)))
        rows_of_tree(self.marks, tree, SHARE, takes)
        size = grow_tree(
            self.columns, self.is_number, self.codes, self.weights, np.flatnonzero(takes & (self.weights > 0)), K,
            self.few[tree % len(self.few)], LEAST, LEAST_GAIN, tree,
            own, worth, hist, np.empty(p, np.int64), begin, end, depth, np.empty(MOST_CODES, np.int64), floats,
            self.known, column, left, child,
        )  # fmt: skip
        self._trees[tree] = column[:size].copy(), left[:size].copy(), child[:size].copy()


def bins_of(columns: SortedColumns, rows: Rows) -> list[tuple[float, ...]]:
    """Edges of every column: between all of its values where they are few, else between equal shares of the rows."""
    weights = rows.part(0, len(rows))[1]
    quantiles = columns.edges("quantile", MOST_CODES, rows.codes, weights, len(rows.classes))
    return [_between(x, order) or edges for x, order, edges in zip(columns.x, columns.order, quantiles, strict=True)]


def _between(x: Array, order: NDArray[np.int64]) -> tuple[float, ...]:
    """Edges half way between the values of a sorted column; none where they are too many."""
    values = x[order]
    values = values[np.isfinite(values)]
    distinct = values[np.concatenate([[True], values[1:] != values[:-1]])] if len(values) else values
    if len(distinct) > MOST_CODES:
        return ()
    a, b = distinct[:-1], distinct[1:]
    half = a / 2 + b / 2
    return tuple(np.where((a < half) & (half <= b), half, b).tolist())


def frequent(frame: Frame, name: str, rows: Rows, marks: Mapping[Hashable, int]) -> Coding:
    """The most frequent categories of a column, in an order that their names have a part in only where nothing else
    tells two of them apart.
    """
    values, codes = frame.columns[name].categories()
    weights = rows.part(0, len(rows))[1]
    count = np.bincount(codes[codes >= 0], weights[codes >= 0], minlength=len(values))
    often = sorted(np.flatnonzero(count > 0).tolist(), key=lambda i: (-count[i], marks[values[i]], str(values[i])))[
        :MOST_CODES
    ]
    return Coding(categories=tuple(sorted((values[i] for i in often), key=lambda v: (marks[v], str(v)))))


def described(family: Partition, names: Sequence[str]) -> str:
    """The trees in words: how many, how large, and the columns that they cut most, by the share of all cuts."""
    cut = family.cuts.column[family.children > 0]
    share = np.bincount(cut, minlength=len(names)) / max(len(cut), 1)
    most = [f"{names[j]} {share[j]:.0%}" for j in np.argsort(-share, kind="stable")[:SHOWN_COLUMNS] if share[j] > 0]
    return (
        f"{len(family.roots)} trees of {family.n_leaves / max(len(family.roots), 1):.0f} leaves, at most "
        f"{family.depth} cuts deep; cut most: {', '.join(most) or 'none'}"
    )
