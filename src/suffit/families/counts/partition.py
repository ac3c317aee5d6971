"""Partition: trees whose leaves are categories; given its cuts, a tree's counts are sums like any others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ...core.family import Family, register
from ...core.leave_one_out import LooScores
from ...core.stats import CLASS, Stats, layout
from ...data.arrays import Codes, Matrix, freeze
from ...data.errors import InputError
from ...data.labels import Index
from ...data.rows import Rows
from ...kernels.runtime.threads import every
from ...kernels.scrambled import GOLDEN
from .partition_scores import PartitionScorer, RowsBelow, scores_without

NODE = "node"  # the axis of the nodes of all trees
NO_FOREST = (  # of a node, its column and its child
    "node {0} is no leaf, whose child is 0 and whose column −1, and has no child: column {1}, child {2}",
    "node {0} is cut by column {1}, and there are {3} columns, from 0",
    "children come after their parents, in the same tree: the child of node {0} is {2}",
    "every node but the roots is the child of one other: node {0} or its child {2} is not",
)
PLACED = 1 << 16  # rows that are placed in a tree before they are counted
NODES = layout("nodes", {"count": (CLASS, NODE)})

Places = NDArray[np.uint8]  # (n, p): codes of the columns, 255 where missing


class Cuts(NamedTuple):
    """The nodes of all trees: the column that each is cut by, the codes that go to the left, and its left child."""

    column: NDArray[np.int32]
    left: NDArray[np.uint64]
    child: NDArray[np.int32]


def _int32(*values: int) -> bytes:
    return np.array(values, "<i4").tobytes()


@register
@dataclass(frozen=True)
class Partition(Family[Places, Stats]):
    """Trees that cut the space of rows into leaves: log p(x | c) is the mean over the trees of log P(leaf of x | c).

    At a cut that n_c rows of class c have reached, n_cl of them on the left, the left side has the probability
    (n_cl + α q)/(n_c + α), with q the share of all classes there: where rows are few, a leaf falls back to what is
    above it.  A row without the column of a cut goes both ways, by the shares of its class.  Within a leaf, rows are
    distributed as those of all classes together are.

    The cuts are fixed; they are chosen by ``GenerativeClassifier``.

    Parameters
    ----------
    sizes : tuple of int, default (4,)
        How many codes each column has, at most 64.
    roots : tuple of int, default (0,)
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
    >>> one_cut = Partition()  # of four codes, two on either side
    >>> one_cut.n_nodes, one_cut.n_leaves, [codes.tolist() for codes in one_cut.codes_of(1)]
    (3, 2, [[0, 1]])
    """

    sizes: tuple[int, ...] = (4,)
    roots: tuple[int, ...] = (0,)
    column: bytes = field(default=_int32(0, -1, -1), repr=False)
    left: bytes = field(default=np.array([0b11, 0, 0], "<u8").tobytes(), repr=False)
    child: bytes = field(default=_int32(1, 0, 0), repr=False)
    alpha: float = 1.0
    share: float = 0.0

    key: ClassVar[str] = "partition"

    def __post_init__(self) -> None:
        _check(self)

    @cached_property
    def cuts(self) -> Cuts:
        """The nodes of all trees, as the kernels read them."""
        column, child = (freeze(np.frombuffer(b, "<i4").astype(np.int32)) for b in (self.column, self.child))
        return Cuts(column, freeze(np.frombuffer(self.left, "<u8").astype(np.uint64)), child)

    @property
    def children(self) -> NDArray[np.int32]:
        """The left child of each node; 0 at a leaf."""
        return self.cuts.child

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        """The node above each node; −1 of a root."""
        out, cut = np.full(self.n_nodes, -1, np.int32), np.flatnonzero(self.children)
        out[self.children[cut]] = out[self.children[cut] + 1] = cut
        return freeze(out)

    @property
    def depth(self) -> int:
        """The most cuts on a path from a root to a leaf."""
        from ...kernels.trees import no_forest

        depth = np.empty(self.n_nodes, np.int32)
        no_forest(freeze(np.array(self.roots, np.int32)), self.cuts.column, self.children, len(self.sizes), depth)
        return int(depth.max())

    def leaves_of(self, tree: int) -> NDArray[np.int64]:
        """The leaves of one tree."""
        end = (*self.roots[1:], self.n_nodes)[tree]
        return self.roots[tree] + np.flatnonzero(self.children[self.roots[tree] : end] == 0)

    def codes_of(self, node: int) -> list[NDArray[np.int64]]:
        """The codes of every column with which a row gets to a node."""
        allowed = [(1 << size) - 1 for size in self.sizes]
        while (above := int(self.parents[node])) >= 0:
            left = int(self.cuts.left[above])
            allowed[self.cuts.column[above]] &= left if node == self.children[above] else ~left
            node = above
        return [
            np.flatnonzero([bits >> b & 1 for b in range(size)]) for bits, size in zip(allowed, self.sizes, strict=True)
        ]

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
        return (self.key, self.sizes, self.roots, self.column, self.left, self.child)

    def collect(self, X: Places, rows: Rows) -> Stats:
        """Rows of every class at the node of every tree where they end: a leaf, or a cut whose column they lack."""
        from ...kernels.tree_scores import count_nodes, place_rows

        X = self.read(X)
        codes, weights = rows.part(0, len(rows))
        total = np.zeros((len(rows.classes), self.n_nodes))

        def work(start: int, stop: int) -> None:
            places = np.empty(min(len(X), PLACED), np.int32)
            for t in range(start, stop):
                for a in range(0, len(X), PLACED):
                    b = min(a + PLACED, len(X))
                    place_rows(X[a:b], self.roots[t], *self.cuts, places[: b - a])
                    count_nodes(places[: b - a], codes[a:b], weights[a:b], total)

        every(work, [(t, t + 1) for t in range(len(self.roots))])
        return Stats(NODES, {CLASS: rows.classes, NODE: Index.range(self.n_nodes)}, {"count": total})

    def read(self, X: Matrix) -> Places:
        """The codes themselves; refuses what are none: a loop over them would not know where its columns end."""
        if not isinstance(X, np.ndarray) or X.dtype != np.uint8 or X.ndim != 2 or X.shape[1] != len(self.sizes):
            raise InputError(
                f"partition reads codes (uint8) of {len(self.sizes)} columns, got {type(X).__name__} "
                f"{getattr(X, 'dtype', '')} of shape {getattr(X, 'shape', ())}; GenerativeClassifier makes them of the "
                "columns of a table"
            )
        return freeze(cast("Places", X))

    def placed(self, X: Places) -> Iterator[NDArray[np.int32]]:
        """Where the rows end in one tree after the other; each array is used again for the next."""
        from ...kernels.tree_scores import place_rows

        X, places = self.read(X), np.empty(len(X), np.int32)
        for root in self.roots:
            place_rows(X, root, *self.cuts, places)
            yield places

    def example(self, rng: np.random.Generator, n: int) -> Places:
        """Codes, for ``check_family``."""
        return np.column_stack([rng.integers(0, size, n) for size in self.sizes]).astype(np.uint8)

    def scorer(self, stats: Stats) -> PartitionScorer:
        """Probabilities of all leaves."""
        return PartitionScorer(self, stats)

    def leave_one_out(self, X: Places, rows: Rows, stats: Stats) -> LooScores:
        """Every row without itself, in the trees in which it took no part."""
        X = self.read(X)
        return LooScores(scores_without(self, X, rows, RowsBelow.of(self, stats), marked(X, rows).marks))


class Marked(NamedTuple):
    """Rows in an order that neither their places nor the names of classes have a part in, and bits that each has."""

    order: NDArray[np.int64]
    classes: Codes  # of the rows at their places: numbers that names have no part in
    marks: NDArray[np.uint64]  # of the rows at their places, as good as random: in which trees a row takes part


def marked(X: Places, rows: Rows, keys: NDArray[np.uint64] | None = None) -> Marked:
    """Bits for every row, equal rows apart, whatever their classes.

    ``keys`` tell apart rows of a class with equal codes, so that the order of the rows does not.

    If rows of one class alone were told apart, a row that took no part in a tree would find equal ones of its own class
    in it and none of the others: its scores would be better than those of new rows.
    """
    from ...kernels.trees import row_bits

    K, (labels, weights) = len(rows.classes), rows.part(0, len(rows))
    marks, sums, rank = np.empty(len(X), np.uint64), np.zeros(K, np.uint64), np.empty(K, np.int32)
    row_bits(freeze(X), marks)
    np.add.at(sums, labels, marks)
    rank[np.lexsort((sums, rows.counts()))] = np.arange(K)
    classes = rank[labels]
    by = (weights, classes, marks) if keys is None else (keys, weights, classes, marks)
    order = np.lexsort(by)  # what is still equal is exchangeable
    starts = np.flatnonzero(np.append(True, np.diff(marks[order]) > 0))
    which = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    marks[order] ^= which.astype(np.uint64) * GOLDEN
    return Marked(order, freeze(classes), freeze(marks))


# --- what cannot be a tree


def _check(family: Partition) -> None:
    """Refuse cuts that are no trees: loops over them look at nothing again."""
    from ...kernels.trees import DEEPEST, MOST_CODES, no_forest

    sizes, roots = family.sizes, family.roots
    if not all(type(size) is int and 1 <= size <= MOST_CODES for size in sizes):
        raise ValueError(f"a column has 1 to {MOST_CODES} codes, got sizes={sizes!r:.100}")
    if not (isinstance(family.alpha, int | float) and 0 < family.alpha < np.inf):
        raise ValueError(f"alpha must be a number above 0, got {family.alpha!r:.100}")
    if not (isinstance(family.share, int | float) and 0 <= family.share < 1):
        raise ValueError(f"share must be at least 0 and below 1, got {family.share!r:.100}")
    texts = family.column, family.left, family.child
    n = len(family.child) // 4
    if not all(isinstance(b, bytes) for b in texts) or tuple(map(len, texts)) != (4 * n, 8 * n, 4 * n):
        raise ValueError("column, left and child must be bytes of int32, uint64 and int32, of as many nodes")
    if not (roots and all(type(root) is int for root in roots) and roots[0] == 0 and roots[-1] < n):
        raise ValueError(f"roots must be some of the {n} nodes, the first of them among them, got {roots!r:.100}")
    if any(b <= a for a, b in pairwise(roots)):
        raise ValueError(f"roots must increase, got {roots!r:.100}")
    column, _, child = family.cuts
    depth = np.empty(n, np.int32)
    wrong, at = no_forest(freeze(np.array(roots, np.int32)), column, child, len(sizes), depth)
    if wrong:
        raise ValueError(NO_FOREST[wrong - 1].format(at, column[at], child[at], len(sizes)))
    if depth.max() > DEEPEST:
        raise ValueError(f"a tree may have {DEEPEST} cuts on a path")
