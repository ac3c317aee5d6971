"""Trees as they are grown, beside a grower in plain NumPy that looks at every cut."""

from __future__ import annotations

import numpy as np
import pytest

from suffit.kernels.trees import FLOATS, MOST_CODES, grow_tree, row_bits, rows_of_tree

NONE = 255


def entropy(counts):
    """n log n − Σ n_c log n_c of the rows of every class."""
    n = counts[counts > 0]
    return n.sum() * np.log(n.sum()) - (n * np.log(n)).sum() if len(n) else 0.0


def counted(y, w, k):
    return np.bincount(y, w, k)


def best_cut(x, y, w, k, is_number, least):
    """Of all cuts of a column the one that takes away most entropy: (gain, codes on the left)."""
    has = x != NONE
    x, y, w = x[has], y[has], w[has]
    codes = np.unique(x)
    if not is_number:
        table = np.array([counted(y[x == c], w[x == c], k) for c in codes]).reshape(len(codes), k)
        sizes = table.sum(axis=1)
        spread = [(table[:, c] ** 2 / sizes).sum() - table[:, c].sum() ** 2 / sizes.sum() for c in range(k)]
        at = int(np.argmax(np.round(spread, 9)))
        codes = codes[np.argsort(table[:, at] / sizes, kind="stable")]
    best, left = 0.0, frozenset()
    for i in range(1, len(codes)):
        here = np.isin(x, codes[:i])
        if w[here].sum() < least or w[~here].sum() < least:
            continue
        gain = (
            entropy(counted(y, w, k)) - entropy(counted(y[here], w[here], k)) - entropy(counted(y[~here], w[~here], k))
        )
        if gain > best * (1 + 1e-9):
            middle = (int(codes[i - 1]) + int(codes[i])) // 2
            best, left = gain, frozenset(range(middle + 1)) if is_number else frozenset(codes[:i].tolist())
    return best, left


def mixed(x):
    """splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
    return x ^ (x >> 31)


def drawn(p, seed, node):
    """The columns in the order that they are looked at for the cut of a node."""
    columns, state = list(range(p)), mixed(seed ^ mixed(node))
    for i in range(p):
        state = mixed(state)
        k = i + state % (p - i)
        columns[i], columns[k] = columns[k], columns[i]
    return columns


def tree_by_hand(X, is_number, y, w, k, seed=0, least=1.0, least_gain=1e-6):
    """All columns are looked at for every cut.  [(column, codes on the left, left child)], breadth first."""
    nodes, waiting = [], [np.arange(len(y))]
    placed = 1
    while waiting:
        rows = waiting.pop(0)
        found, at, left = least_gain, -1, frozenset()
        if len(np.unique(y[rows])) > 1 and w[rows].sum() >= 2 * least:
            for j in drawn(X.shape[1], seed, len(nodes)):
                gain, codes = best_cut(X[rows, j], y[rows], w[rows], k, is_number[j], least)
                if gain > found * (1 + 1e-9):
                    found, at, left = gain, j, codes
        if at < 0:
            nodes.append((-1, frozenset(), 0))
            continue
        nodes.append((at, left, placed))
        placed += 2
        x = X[rows, at]
        waiting += [rows[np.isin(x, list(left))], rows[(x != NONE) & ~np.isin(x, list(left))]]
    return nodes


def tree(X, is_number, y, w, k, n_columns=None, seed=0, most=500):
    n, p = X.shape
    column, left, child = np.empty(most, np.int32), np.empty(most, np.uint64), np.empty(most, np.int32)
    size = grow_tree(
        np.ascontiguousarray(X.T), np.array(is_number), y, w, np.arange(n), k, n_columns or p, 1.0, 1e-6, seed,
        np.empty(n, np.int32), np.empty(n), np.empty((MOST_CODES, k)), np.empty(p, np.int64),
        *np.empty((3, most), np.int64), np.empty(MOST_CODES, np.int64), np.empty((FLOATS, max(k, MOST_CODES))),
        np.zeros(1), column, left, child,
    )  # fmt: skip
    sets = [frozenset(b for b in range(MOST_CODES) if int(bits) >> b & 1) for bits in left[:size]]
    return list(zip(column[:size].tolist(), sets, child[:size].tolist(), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_trees_are_those_of_a_grower_that_looks_at_every_cut(seed):
    rng = np.random.default_rng(seed)
    n, k = 60, 2 + seed % 3
    y = rng.integers(0, k, n).astype(np.int32)
    X = np.column_stack([(rng.integers(0, 7, n) + 2 * y), rng.integers(0, 64, n), rng.integers(0, 5, n)])
    X = np.where(rng.random(X.shape) < 0.15, NONE, X).astype(np.uint8)
    w = rng.integers(1, 4, n).astype(float)
    kinds = [True, True, False]
    ours, by_hand = tree(X, kinds, y, w, k, seed=seed), tree_by_hand(X, kinds, y, w, k, seed)
    assert len(ours) > 10
    for a, b in zip(ours, by_hand, strict=True):
        assert a == b


def test_a_number_between_those_that_were_seen_goes_to_the_nearer_side():
    X = np.array([[2], [3], [9], [10]], np.uint8)
    y, w = np.array([0, 0, 1, 1], np.int32), np.ones(4)
    [(column, left, child), *leaves] = tree(X, [True], y, w, 2)
    assert (column, sorted(left), child) == (0, list(range(7)), 1)
    assert [at for at, _, _ in leaves] == [-1, -1]
    [(_, left, _), *_] = tree(X, [False], y, w, 2)
    assert sorted(left) == [9, 10] or sorted(left) == [2, 3]


def test_any_order_of_the_rows_grows_the_same_tree():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200).astype(np.int32)
    X = (rng.integers(0, 20, (200, 4)) + 3 * y[:, None]).astype(np.uint8)
    first, kinds = rng.permutation(200), [True, False, True, False]
    for seed in range(5):
        a = tree(X, kinds, y, np.ones(200), 3, 2, seed)
        assert a == tree(X[first], kinds, y[first], np.ones(200), 3, 2, seed)


def test_codes_that_are_none_are_missing():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 80).astype(np.int32)
    X = (rng.integers(0, 9, (80, 2)) + 3 * y[:, None]).astype(np.uint8)
    X[rng.random(X.shape) < 0.2] = NONE
    strange = np.where(X == NONE, rng.integers(64, 256, X.shape), X).astype(np.uint8)
    assert tree(X, [True, False], y, np.ones(80), 2) == tree(strange, [True, False], y, np.ones(80), 2)


def test_a_tree_takes_no_more_nodes_than_there_is_room_for():
    rng = np.random.default_rng(3)
    y, X = rng.integers(0, 2, 300).astype(np.int32), rng.integers(0, 64, (300, 3)).astype(np.uint8)
    for most in (1, 2, 3, 4, 11):
        assert len(tree(X, [True] * 3, y, np.ones(300), 2, most=most)) <= most


def test_a_share_of_the_rows_takes_part():
    X = np.random.default_rng(4).integers(0, 64, (5000, 3)).astype(np.uint8)
    bits, takes = np.empty(5000, np.uint64), np.empty(5000, bool)
    row_bits(X, bits)
    assert len(np.unique(bits)) > 4900
    for t in range(3):
        rows_of_tree(bits, t, 0.7, takes)
        assert abs(takes.mean() - 0.7) < 0.03
    row_bits(X[::-1].copy(), bits2 := np.empty(5000, np.uint64))
    np.testing.assert_array_equal(bits, bits2[::-1])
