"""Scores of partitions: the mean over the trees of the log-probability of a row's leaf."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.family import Between, ParameterValues, Scorer, Terms
from ...core.logistic import LogisticForm
from ...core.stats import Stats
from ...data.arrays import Array, Codes, freeze
from ...data.errors import InputError
from ...data.rows import Rows
from ...kernels.runtime.threads import every, row_blocks
from .shape import draw_shares

if TYPE_CHECKING:
    from .partition import Partition, Places

SCORED_CELLS = 1 << 17  # rows × trees that are scored together


class RowsBelow(NamedTuple):
    """The rows that have got to every node."""

    of_class: Array  # (nodes, K)
    of_all: Array  # (nodes,)

    @staticmethod
    def of(family: Partition, stats: Stats) -> RowsBelow:
        """Those that have ended there, and below."""
        from ...kernels.tree_scores import rows_below

        count = stats["count"]
        below, total = np.empty(count.T.shape), np.empty(count.shape[1])
        rows_below(freeze(count), family.children, below, total)
        return RowsBelow(freeze(below), freeze(total))


class SolvedTrees(NamedTuple):
    """What the counts say of every node: see ``solve_trees``."""

    shares: Array  # (nodes, K): P(node | the one above, c)
    table: Array  # (nodes, K): the sum of log P(node | the one above, c)/P(node | the one above) from the root
    common: Array  # (nodes,): log P(node | the one above)

    @staticmethod
    def of(family: Partition, stats: Stats) -> SolvedTrees:
        """Solve the counts."""
        from ...kernels.tree_scores import solve_trees

        below = RowsBelow.of(family, stats)
        shares, table, common = np.empty_like(below.of_class), np.empty_like(below.of_class), np.zeros(family.n_nodes)
        roots = list(family.roots)
        shares[roots], table[roots] = 1.0, 0.0
        solve_trees(*below, family.children, family.alpha, shares, table, common)
        return SolvedTrees(freeze(shares), freeze(table), freeze(common))


class PartitionScorer(Scorer["Places", Stats]):
    """The mean over the trees of log P(leaf | c)/P(leaf): what the row's leaves say of its class."""

    key = "partition"
    takes_missing = True
    comparable = False  # the density of all classes together is no part of it
    additive = False

    def __init__(self, family: Partition, stats: Stats) -> None:
        self.family, self.columns, self.solved = family, family.columns, SolvedTrees.of(family, stats)
        self.n_classes = self.solved.table.shape[1]
        self.n_parameters = self.n_classes * (family.n_leaves - len(family.roots))

    def blocks(self, X: Places) -> list[tuple[int, int]]:
        """By rows times trees."""
        return row_blocks(len(X), max(len(self.family.roots), 1), SCORED_CELLS)

    def score_rows(self, X: Places, start: int, stop: int, out: Array) -> None:
        """The mean of log P(leaf | c)/P(leaf), tree by tree: its nodes stay where they are quick to read."""
        from ...kernels.tree_scores import ROOM, tree_scores

        family, solved, x = self.family, self.solved, self.family.read(X[start:stop])
        room = np.empty(ROOM, np.int64), np.empty(ROOM), np.empty(self.n_classes)
        out[:] = 0.0
        for root in family.roots:
            tree_scores(x, root, *family.cuts, solved.table, solved.common, 1 / len(family.roots), *room, out)

    def parts(self, X: Places, a: Codes, b: Codes) -> Terms:
        """The changes of the log-odds along the paths, each at the column that was cut."""
        from ...kernels.tree_scores import ROOM, tree_terms

        family, (shares, table, common) = self.family, self.solved
        terms, rest = np.zeros(X.shape), np.zeros(len(X))
        X, a, b = family.read(X), freeze(np.asarray(a, np.int32)), freeze(np.asarray(b, np.int32))

        def work(start: int, stop: int) -> None:
            here = slice(start, stop)
            room = np.empty(ROOM, np.int64), np.empty(ROOM)
            for root in family.roots:
                tree_terms(
                    X[here], a[here], b[here], root, *family.cuts, family.parents, shares, table, common,
                    1 / len(family.roots), *room, terms[here], rest[here],
                )  # fmt: skip

        every(work, self.blocks(X))
        return Terms(terms, rest)

    def check_cells(self, X: Places, rows: NDArray[np.int64]) -> None:
        """Any code will do."""

    def drawn_in(self, X: Places) -> Places:
        """No row is too far out."""
        return X

    @cached_property
    def log_leaves(self) -> Array:
        """log P(node | c) from the root.  # → (nodes, K)"""
        parents, out = self.family.parents, np.log(self.solved.shares)
        for node in range(len(parents)):  # parents come first
            if parents[node] >= 0:
                out[node] += out[parents[node]]
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> Places:
        """Codes drawn from a leaf of a tree drawn at random: even ones of those that get there."""
        family = self.family
        out = np.empty((len(codes), len(family.sizes)), np.uint8)
        tree = rng.integers(0, len(family.roots), len(codes))
        ends = (*family.roots[1:], family.n_nodes)
        for t in np.unique(tree):
            rows = np.flatnonzero(tree == t)
            leaves = np.arange(family.roots[t], ends[t])
            leaves = leaves[family.children[leaves] == 0]
            drawn = leaves[draw_shares(np.exp(self.log_leaves[leaves].T)[codes[rows]], rng)]
            for leaf in np.unique(drawn):
                some = rows[drawn == leaf]
                for j, allowed in enumerate(family.codes_of(int(leaf))):
                    out[some, j] = rng.choice(allowed, len(some))
        return out

    def separation(self, stats: Stats) -> Between:
        """E_a − E_b of what the cuts of each column add, on average over the trees."""
        family, parents = self.family, self.family.parents
        nodes = np.flatnonzero(parents >= 0)
        owner = family.cuts.column[parents[nodes]]
        reached, change = np.exp(self.log_leaves[nodes]), np.log(self.solved.shares[nodes])

        def between(a: int, b: int) -> Array:
            J = (reached[:, a] - reached[:, b]) * (change[:, a] - change[:, b])
            return np.bincount(owner, J, len(family.sizes)) / max(len(family.roots), 1)

        return between

    def parameters(self) -> list[ParameterValues]:
        """P(leaf | class) of every leaf of the first tree; the others are like it."""
        first = [f"tree 0, leaf {leaf}" for leaf in self.family.leaves_of(0)]
        return [ParameterValues("probability", first, np.exp(self.log_leaves[self.family.leaves_of(0)].T))]

    def logistic_form(self) -> LogisticForm:
        """Linear in marks for the leaves of all trees."""
        family = self.family
        leaves = np.flatnonzero(family.children == 0)
        weights = self.solved.table[leaves].T / max(len(family.roots), 1)
        names = tuple(f"leaf {leaf}" for leaf in leaves.tolist())
        return LogisticForm(names, weights, np.zeros(self.n_classes), self._marks)

    def _marks(self, X: Places) -> Array:
        """1 at the leaf of every tree.  # (n, p) → (n, leaves)"""
        family, X = self.family, np.asarray(X, np.uint8)
        place = np.cumsum(family.children == 0) - 1
        out = np.zeros((len(X), family.n_leaves))
        for nodes in family.placed(X):
            if (family.children[nodes] > 0).any():
                raise InputError("rows with missing values are in no leaf; predict_proba takes them")
            out[np.arange(len(X)), place[nodes]] = 1.0
        return out


def scores_without(family: Partition, X: Places, rows: Rows, below: RowsBelow, marks: NDArray[np.uint64]) -> Array:
    """Scores of rows without themselves, in the trees in which they took no part; 0 where there is none.  # → (n, K)"""
    from ...kernels.tree_scores import ROOM, tree_scores_without

    n, K = len(rows), below.of_class.shape[1]
    roots, out = freeze(np.array(family.roots, np.int32)), np.zeros((n, K))

    def work(start: int, stop: int) -> None:
        here = slice(start, stop)
        codes, weights = rows.part(start, stop)
        used, stack, above = np.zeros(stop - start), np.empty(ROOM, np.int64), np.empty((ROOM, K))
        tree_scores_without(
            freeze(X[here]), codes, weights, freeze(marks[here]), family.share, roots, *family.cuts, *below,
            family.alpha, stack, above, np.empty(K), np.empty(K), used, out[here],
        )  # fmt: skip
        out[here] /= np.maximum(used, 1.0)[:, None]

    every(work, row_blocks(n, max(len(family.roots), 1), SCORED_CELLS))
    return out
