"""Arrays of different lengths are an error before a loop runs past the end of one."""

from __future__ import annotations

import numpy as np
import pytest

from suffit.kernels.batches import add_moments
from suffit.kernels.labels import code_labels, count_codes
from suffit.kernels.moments import class_moments
from suffit.kernels.pooling import pool_loss
from suffit.kernels.products import add_scatter
from suffit.kernels.scores import gaussian_scores, linear_scores
from suffit.kernels.sparse_rows import csr_linear_scores
from suffit.kernels.tree_scores import (
    ROOM,
    count_nodes,
    place_rows,
    rows_below,
    solve_trees,
    tree_scores,
    tree_scores_without,
)  # fmt: skip
from suffit.kernels.tree_scores import tree_terms as terms
from suffit.kernels.trees import FLOATS, grow_tree, row_bits, rows_of_tree

n, p, K = 20, 3, 2
X, OUT, MEANS, START = np.zeros((n, p)), np.zeros((n, K)), np.zeros((K, p)), np.zeros(K)
CODES, WEIGHTS, LABELS = np.zeros(n, np.int32), np.ones(n), np.zeros(n, np.int64)
POINTERS, PLACES, ENTRIES = np.arange(n + 1), np.zeros(n, np.int32), np.ones(n)

PLACED, BITS, TAKES = np.zeros((n, p), np.uint8), np.zeros(n, np.uint64), np.zeros(n, bool)
CUTS = np.array([0, -1, -1], np.int32), np.zeros(3, np.uint64), np.array([1, 0, 0], np.int32)
NODES, COMMON, STACK, WAYS = np.zeros((3, K)), np.zeros(3), np.zeros(ROOM, np.int64), np.zeros(ROOM)
ROOTS, SOLVED = np.zeros(1, np.int32), (NODES, COMMON, CUTS[2], NODES, NODES, COMMON)
GROWING = [
    CODES.copy(), WEIGHTS.copy(), np.zeros((64, K)), np.zeros(p, np.int64), *np.zeros((3, 3), np.int64),
    np.zeros(64, np.int64),
]  # fmt: skip
GROWN = [np.zeros((FLOATS, 64)), np.zeros(1), np.zeros(3, np.int32), np.zeros(3, np.uint64), np.zeros(3, np.int32)]


def cut(i):
    """The nodes of a tree, one array of which is short."""
    return [short(a) if i == j else a for j, a in enumerate(CUTS)]


COLUMNS, NUMBERS = PLACED.T.copy(), np.ones(p, bool)


def growing(numbers=NUMBERS, codes=CODES, weights=WEIGHTS, room=GROWING, nodes=GROWN):
    return grow_tree(COLUMNS, numbers, codes, weights, np.arange(n), K, p, 1.0, 0.0, 0, *room, *nodes)


def short_one(arrays, i):
    return [short(a) if i == j else a for j, a in enumerate(arrays)]


def short(a):
    return np.ascontiguousarray(a[:-1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: class_moments(X, short(CODES), WEIGHTS, MEANS, START.copy(), MEANS.copy(), MEANS.copy()),
        lambda: class_moments(X, CODES, short(WEIGHTS), MEANS, START.copy(), MEANS.copy(), MEANS.copy()),
        lambda: add_scatter(X, CODES, short(WEIGHTS), MEANS, START.copy(), MEANS.copy(), np.zeros((1, 4, 4))),
        lambda: linear_scores(X, np.zeros(p), MEANS, START, short(OUT)),
        lambda: linear_scores(X, np.zeros(p - 1), MEANS, START, OUT),
        lambda: linear_scores(X, np.zeros(p), np.zeros((K, p - 1)), START, OUT),
        lambda: gaussian_scores(X, MEANS, np.zeros((K, p + 1)), START, OUT),
        lambda: add_moments(X, short(LABELS), 0, np.zeros(1, np.int32), MEANS, MEANS, *np.zeros((2, K, 1 + 2 * p))),
        lambda: code_labels(LABELS, 0, np.zeros(1, np.int32), short(CODES), START.copy()),
        lambda: count_codes(CODES, short(WEIGHTS), START.copy()),
        lambda: csr_linear_scores(short(POINTERS), PLACES, ENTRIES, None, MEANS.T.copy(), START, OUT),
        lambda: csr_linear_scores(POINTERS, PLACES, short(ENTRIES), None, MEANS.T.copy(), START, OUT),
        lambda: pool_loss(
            np.zeros((1, K, n)), np.zeros((K, n)), short(CODES), WEIGHTS, np.ones(2), 0.1,
            np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)),
        ),
        lambda: row_bits(PLACED, short(BITS)),
        lambda: rows_of_tree(BITS, 0, 0.7, short(TAKES)),
        lambda: growing(codes=short(CODES)),
        lambda: growing(weights=short(WEIGHTS)),
        lambda: growing(numbers=np.ones(p - 1, bool)),
        *(lambda i=i: growing(room=short_one(GROWING, i)) for i in range(8)),
        *(lambda i=i: growing(nodes=short_one(GROWN, i)) for i in (2, 3, 4)),
        lambda: growing(nodes=[np.zeros((FLOATS, 63)), *GROWN[1:]]),
        lambda: growing(nodes=[np.zeros((FLOATS - 1, 64)), *GROWN[1:]]),
        *(lambda i=i: place_rows(PLACED, 0, *cut(i), CODES.copy()) for i in range(3)),
        lambda: place_rows(PLACED, 0, *CUTS, short(CODES)),
        lambda: count_nodes(CODES, short(CODES), WEIGHTS, np.zeros((K, 3))),
        lambda: count_nodes(CODES, CODES, short(WEIGHTS), np.zeros((K, 3))),
        *(lambda i=i: rows_below(np.zeros((K, 3)), *short_one((CUTS[2], NODES, COMMON), i)) for i in range(3)),
        *(lambda i=i: solve_trees(*short_one(SOLVED[:3], i), 1.0, NODES, NODES, COMMON) for i in range(3)),
        *(lambda i=i: solve_trees(*SOLVED[:3], 1.0, *short_one(SOLVED[3:], i)) for i in range(3)),
        lambda: tree_scores(PLACED, 0, *CUTS, NODES, COMMON, 1.0, STACK, WAYS, START, short(OUT)),
        lambda: tree_scores(PLACED, 0, *CUTS, short(NODES), COMMON, 1.0, STACK, WAYS, START, OUT),
        lambda: tree_scores(PLACED, 0, *CUTS, NODES, COMMON, 1.0, short(STACK), WAYS, START, OUT),
        *(lambda i=i: tree_scores(PLACED, 0, *cut(i), NODES, COMMON, 1.0, STACK, WAYS, START, OUT) for i in range(3)),
        lambda: terms(
            PLACED, CODES, short(CODES), 0, *CUTS, CUTS[2], NODES, NODES, COMMON, 1.0, STACK, WAYS, X, WEIGHTS,
        ),
        lambda: terms(
            PLACED, CODES, CODES, 0, *CUTS, short(CUTS[2]), NODES, NODES, COMMON, 1.0, STACK, WAYS, X, WEIGHTS,
        ),
        *(
            lambda i=i: tree_scores_without(
                *short_one((PLACED, CODES, WEIGHTS, BITS), i), 0.5, ROOTS, *CUTS, NODES, COMMON, 1.0, STACK,
                np.zeros((ROOM, K)), START, START, WEIGHTS, OUT,
            )
            for i in (1, 2, 3)
        ),
        *(
            lambda i=i: tree_scores_without(
                PLACED, CODES, WEIGHTS, BITS, 0.5, ROOTS, *CUTS, *short_one((NODES, COMMON), i), 1.0, STACK,
                np.zeros((ROOM, K)), START, START, WEIGHTS, OUT,
            )
            for i in range(2)
        ),
    ],
)  # fmt: skip
def test_arrays_of_different_lengths_are_refused(call):
    with pytest.raises(ValueError, match="a kernel was given"):
        call()
