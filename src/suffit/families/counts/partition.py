"""Partition: trees whose leaves are categories; given its cuts, a tree's counts are sums like any others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...core.family import Family, register
from ...core.leave_one_out import LooScores
from ...core.stats import CLASS, Stats, layout
from ...data.arrays import Array, freeze
from ...data.labels import Index
from ...data.rows import Rows
from ...kernels.runtime.threads import in_order, row_blocks
from .partition_scores import PartitionScorer, scores_without

NODE = "node"  # the axis of the nodes of all trees
NODES = layout("nodes", {"count": (CLASS, NODE)})
COUNTED_CELLS = 1 << 18  # rows × trees that are placed together

Places = NDArray[np.uint8]  # (n, p): codes of the columns, 255 where missing


@register
@dataclass(frozen=True)
class Partition(Family[Places, Stats]):
    """Trees that cut the space of rows into leaves: log p(x | c) is the mean over the trees of log P(leaf of x | c).

    At a cut that n_c rows of class c have reached, n_cl of them on the left, the left side has the probability
    (n_cl + α q)/(n_c + α), q the share of all classes there: where rows are few, a leaf falls back to what is above it.
    A row without the column of a cut goes both ways, by the shares of its class.

    The cuts are fixed; they are chosen by ``GenerativeClassifier``.

    Parameters
    ----------
    roots : tuple of int
        The first node of every tree.
    column : bytes
        The column that each node is cut by, int32; −1 at a leaf.
    left : bytes
        The codes that go to the left at each node, as bits of uint64.
    child : bytes
        The left child of each node, int32, the right one being the node after it; 0 at a leaf.
    alpha : float, default 1.0
        How many rows of a class what is above a cut counts for.
    share : float, default 0.0
        The share of the rows that took part in choosing the cuts of each tree: leave-one-out scores of a row are those
        of the trees in which it took no part.

    Attributes
    ----------
    key : str
        "partition", the name of the family.

    See Also
    --------
    GenerativeClassifier : Chooses the cuts, and pools partitions with other structures.
    Binned : Numeric columns in bins, each by itself.

    Examples
    --------
    >>> one_cut = Partition((0,), *(np.array(a, t).tobytes() for a, t in (
    ...     ([0, -1, -1], np.int32), ([0b0011, 0, 0], np.uint64), ([1, 0, 0], np.int32))))
    >>> one_cut.n_nodes, one_cut.n_leaves
    (3, 2)
    """

    roots: tuple[int, ...]
    column: bytes
    left: bytes
    child: bytes
    alpha: float = 1.0
    share: float = 0.0

    key: ClassVar[str] = "partition"

    @cached_property
    def columns_cut(self) -> NDArray[np.int32]:
        """The column that each node is cut by."""
        return freeze(np.frombuffer(self.column, np.int32))

    @cached_property
    def left_codes(self) -> NDArray[np.uint64]:
        """The codes that go to the left at each node."""
        return freeze(np.frombuffer(self.left, np.uint64))

    @cached_property
    def children(self) -> NDArray[np.int32]:
        """The left child of each node."""
        return freeze(np.frombuffer(self.child, np.int32))

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have."""
        return len(self.children)

    @property
    def n_leaves(self) -> int:
        """How many leaves all trees have."""
        return int((self.children == 0).sum())

    @property
    def statistic(self) -> tuple[object, ...]:
        """The cuts."""
        return (self.key, self.roots, self.column, self.left, self.child)

    def collect(self, X: Places, rows: Rows, columns: Sequence[str]) -> Stats:
        """Rows of every class at the node of every tree where they end: a leaf, or a cut whose column they lack."""
        from ...kernels.trees import count_nodes, place_rows

        total = np.zeros((len(rows.classes), self.n_nodes))

        def work(start: int, stop: int) -> Array:
            places, part = np.empty(stop - start, np.int32), np.zeros_like(total)
            for root in self.roots:
                place_rows(X[start:stop], root, self.columns_cut, self.left_codes, self.children, places)
                count_nodes(places, *rows.part(start, stop), part)
            return part

        X = freeze(X)
        for part in in_order(work, row_blocks(len(rows), len(self.roots), COUNTED_CELLS)):
            total += part
        return Stats(NODES, {CLASS: rows.classes, NODE: Index.range(self.n_nodes)}, {"count": total})

    def scorer(self, stats: Stats, columns: Sequence[str]) -> PartitionScorer:
        """Probabilities of all leaves."""
        return PartitionScorer(self, stats)

    def leave_one_out(self, X: Places, rows: Rows, stats: Stats, columns: Sequence[str]) -> LooScores:
        """Every row without itself, in the trees in which it took no part."""
        return LooScores(scores_without(self, X, rows, stats, row_marks(X)))


def row_marks(X: Places) -> NDArray[np.uint64]:
    """Bits of every row, as good as random, that say in which trees it takes part; the same for equal rows."""
    from ...kernels.trees import row_bits

    out = np.empty(len(X), np.uint64)
    row_bits(freeze(X), out)
    return out
