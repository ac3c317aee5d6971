"""Scores of partitions: the mean over the trees of the log-probability of a row's leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core.family import Scorer
from ...core.stats import Stats
from ...data.arrays import Array, Codes, freeze
from ...data.rows import Rows
from ...kernels.runtime.threads import every, row_blocks

if TYPE_CHECKING:
    from .partition import Partition, Places

SCORED_CELLS = 1 << 17  # rows × trees that are scored together


def solved(family: Partition, stats: Stats) -> tuple[Array, Array]:
    """Rows of every class that have got to each node, and log P(node | class).  # → (nodes, K) each"""
    from ...kernels.trees import solve_trees

    count = np.maximum(stats["count"], 0.0)
    below, table = np.zeros(count.T.shape), np.zeros(count.T.shape)
    solve_trees(freeze(count), family.children, family.alpha, below, table)
    return freeze(below), freeze(table)


class PartitionScorer(Scorer["Places", Stats]):
    """The mean over the trees of log P(leaf | c)."""

    key = "partition"
    takes_missing = True
    comparable = False

    def __init__(self, family: Partition, stats: Stats) -> None:
        self.family = family
        self.below, self.table = solved(family, stats)
        self.shares = freeze(np.exp(self.table))
        self.n_classes = self.table.shape[1]
        self.n_parameters = self.n_classes * (family.n_leaves - len(family.roots))

    def blocks(self, X: Places) -> list[tuple[int, int]]:
        """By rows times trees."""
        return row_blocks(len(X), len(self.family.roots), SCORED_CELLS)

    def score_rows(self, X: Places, start: int, stop: int, out: Array) -> None:
        """The mean of log P(leaf | c)."""
        from ...kernels.trees import DEEPEST, tree_scores

        family, room = self.family, (np.empty(DEEPEST + 2, np.int64), np.empty(self.n_classes))
        x, part = freeze(X[start:stop]), 1 / max(len(family.roots), 1)
        out[:] = 0.0
        for root in family.roots:  # one tree after the other: its nodes stay where they are quick to read
            tree_scores(
                x, root, family.columns_cut, family.left_codes, family.children, self.table, self.shares, part,
                *room, out,
            )  # fmt: skip

    def sample(self, codes, rng):
        raise NotImplementedError

    def logistic_form(self):
        raise NotImplementedError


def scores_without(family: Partition, X: Places, rows: Rows, stats: Stats, marks: NDArray[np.uint64]) -> Array:
    """Scores of rows without themselves, in the trees in which they took no part; 0 where there is none.  # → (n, K)"""
    from ...kernels.trees import DEEPEST, rows_of_tree, tree_scores_without

    below, _ = solved(family, stats)
    n, K = len(rows), below.shape[1]
    out = np.zeros((n, K))

    def work(start: int, stop: int) -> None:
        codes, weights = rows.part(start, stop)
        x, part, used, takes = freeze(X[start:stop]), out[start:stop], np.zeros(stop - start), np.empty(stop - start, bool)
        room = np.empty(DEEPEST + 2, np.int64), np.empty((DEEPEST + 2, K)), np.empty(K)
        for t, root in enumerate(family.roots):
            rows_of_tree(marks[start:stop], t, family.share, takes)
            tree_scores_without(
                x, codes, weights, ~takes, root, family.columns_cut, family.left_codes, family.children,
                below, family.alpha, *room, used, part,
            )  # fmt: skip
        part /= np.maximum(used, 1.0)[:, None]

    every(work, row_blocks(n, len(family.roots), SCORED_CELLS))
    return out
