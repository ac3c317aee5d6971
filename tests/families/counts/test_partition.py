"""Partitions: P(leaf | class) by hand, missing values by enumeration, and cuts that are none."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import suffit
from suffit.core.model import Model
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.families.counts.partition import Partition, marked
from suffit.families.counts.partition_scores import RowsBelow
from suffit.tables.partitions import Growing

NONE = 255


def int32(*values):
    return np.array(values, "<i4").tobytes()


def rows_of(codes, k=3, weights=None):
    return Rows(Index(tuple(range(k))), np.asarray(codes, np.int32), weights)


def some(n=150, k=3, seed=0, missing=0.0, sizes=(4, 3, 6)):
    """Codes of columns that say something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = np.column_stack([(rng.integers(0, size, n) + y * rng.integers(0, 2, n)) % size for size in sizes])
    X = np.where(rng.random(X.shape) < missing, NONE, X)
    return X.astype(np.uint8), y.astype(np.int32), sizes


def trees(n=150, k=3, seed=0, missing=0.0):
    X, y, sizes = some(n, k, seed, missing)
    rows = rows_of(y, k)
    family = Growing(X, sizes, [True, False, True], rows, marked(X, rows)).trees(8)
    return replace(family, roots=family.roots), X, y


def solved(family, X, y, k=3):
    model = Model.of(family, ("a", "b", "c"), rows_of(y, k), family.collect(X, rows_of(y, k)))
    return model.solved(np.zeros(k)).scorer


def test_probabilities_of_leaves_are_smoothed_towards_all_classes():
    family = Partition(alpha=2.0)  # codes 0 and 1 to the left
    X = np.array([[0], [1], [2], [3], [3], [0]], np.uint8)
    y = np.array([0, 0, 0, 1, 1, 1], np.int32)
    scorer = solved(family, X, y, 2)
    q = 3.5 / 7  # of six rows three are on the left
    left = np.array([(2 + 2 * q) / 5, (1 + 2 * q) / 5])
    np.testing.assert_allclose(np.exp(scorer.log_leaves[1]), left, rtol=1e-14)
    np.testing.assert_allclose(np.exp(scorer.log_leaves[2]), 1 - left, rtol=1e-14)
    np.testing.assert_allclose(scorer.scores(X[:1])[0], np.log(left / q), rtol=1e-13)
    np.testing.assert_allclose(scorer.scores(np.array([[NONE]], np.uint8))[0], [0, 0], atol=1e-15)


def test_missing_columns_are_summed_over_their_codes():
    """p(x | c)/p(x) without a column: over all leaves that a row may get to, each by its share of all classes."""
    family, X, y = trees(missing=0.1)
    one = replace(family, roots=(0,), **first_tree(family))
    scorer = solved(one, X, y)
    common = np.exp(scorer.solved.common)
    for row in (np.array([NONE, 1, 2]), np.array([NONE, NONE, 0]), np.array([1, NONE, NONE]), np.full(3, NONE)):
        reached = {}
        for codes in product(*(range(size) if c == NONE else [c] for size, c in zip(one.sizes, row, strict=True))):
            [[leaf]] = one.placed(np.array([codes], np.uint8))
            reached[int(leaf)] = codes
        want = np.zeros(3)
        for leaf in reached:
            inside, outside, node = scorer.solved.table[leaf], 1.0, leaf
            while (above := one.parents[node]) >= 0:
                if row[one.cuts.column[above]] == NONE:
                    outside *= common[node]
                node = above
            want += outside * np.exp(inside)
        np.testing.assert_allclose(scorer.scores(row[None].astype(np.uint8))[0], np.log(want), rtol=1e-10, atol=1e-12)


def first_tree(family):
    end = (*family.roots[1:], family.n_nodes)[0]
    return {"column": family.column[: 4 * end], "left": family.left[: 8 * end], "child": family.child[: 4 * end]}


def test_a_row_stays_where_it_lacks_the_column():
    family = Partition()
    X, y = np.array([[0], [NONE], [3]], np.uint8), np.zeros(3, np.int32)
    assert family.collect(X, rows_of(y, 1))["count"].tolist() == [[1.0, 1.0, 1.0]]


def test_codes_that_no_column_has_are_on_some_side():
    family, X, y = trees()
    scorer = solved(family, X, y)
    strange = np.random.default_rng(0).integers(0, 256, (200, 3)).astype(np.uint8)
    assert np.isfinite(scorer.scores(strange)).all()
    assert family.collect(strange, rows_of(np.zeros(200)))["count"].sum() == 200 * len(family.roots)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_terms_add_up_to_the_log_odds(missing):
    family, X, y = trees(missing=missing)
    scorer = solved(family, X, y)
    a, b = np.zeros(len(X), np.int32), np.full(len(X), 2, np.int32)
    terms, scores = scorer.parts(X, a, b), scorer.scores(X)
    np.testing.assert_allclose(terms.columns.sum(axis=1) + terms.rest, scores[:, 0] - scores[:, 2], atol=1e-10)
    if not missing:
        np.testing.assert_allclose(terms.rest, 0, atol=1e-10)
    assert (terms.columns[X == NONE] == 0).all()


def test_leave_one_out_is_a_refit_with_the_same_cuts():
    family, X, y = trees(n=60, missing=0.2)
    family = replace(family, share=0.0)
    rows = rows_of(y)
    stats = family.collect(X, rows)
    told = family.leave_one_out(X, rows, stats).log_density
    for i in range(0, 60, 7):
        rest = np.arange(60) != i
        again = solved(family, X[rest], y[rest]).scores(X[i : i + 1])[0]
        np.testing.assert_allclose(told[i], again, rtol=0, atol=1e-12)


def test_counts_below_the_cuts_are_sums():
    family, X, y = trees()
    stats = family.collect(X, rows_of(y))
    below = RowsBelow.of(family, stats).of_class
    for root in family.roots:
        np.testing.assert_array_equal(below[root], np.bincount(y, minlength=3))


def test_numbers_where_codes_should_be_are_refused():
    family = Partition()
    for X in (np.zeros((3, 1)), np.zeros((3, 2), np.uint8), np.zeros(3, np.uint8)):
        with pytest.raises(suffit.InputError, match="partition reads codes"):
            family.collect(X, rows_of(np.zeros(3)))


GOOD = {
    "sizes": (4, 3),
    "roots": (0, 5),
    "column": int32(0, 1, -1, -1, -1, -1),
    "left": np.array([3, 1, 0, 0, 0, 0], "<u8").tobytes(),
    "child": int32(1, 3, 0, 0, 0, 0),
}
BAD = {
    "no codes": {"sizes": (0, 3)},
    "too many codes": {"sizes": (65, 3)},
    "codes that are no number": {"sizes": ("4", 3)},
    "no trees": {"roots": ()},
    "roots that do not increase": {"roots": (0, 5, 5)},
    "roots out of range": {"roots": (0, 6)},
    "a first root that is not the first": {"roots": (1, 5)},
    "a root that is a child": {"roots": (0, 4)},
    "a column that there is not": {"column": int32(0, 2, -1, -1, -1, -1)},
    "a column below 0": {"column": int32(0, -1, -1, -1, -1, -1)},
    "a far column": {"column": int32(0, 2**31 - 1, -1, -1, -1, -1)},
    "a leaf with a column": {"column": int32(0, 1, 1, -1, -1, -1)},
    "a child below 0": {"child": int32(1, -3, 0, 0, 0, 0)},
    "a child out of range": {"child": int32(1, 2**31 - 1, 0, 0, 0, 0)},
    "a child of another tree": {"child": int32(1, 4, 0, 0, 0, 0)},
    "a child that comes first": {"child": int32(3, 1, 0, 0, 0, 0)},
    "a child of itself": {"child": int32(1, 1, 0, 0, 0, 0)},
    "a child of two": {"child": int32(1, 2, 0, 0, 0, 0)},
    "a node of nobody": {"child": int32(1, 0, 0, 0, 0, 0), "column": int32(0, -1, -1, -1, -1, -1)},
    "other lengths": {"left": bytes(40)},
    "bytes of no number": {"child": bytes(23)},
    "no nodes": {"column": b"", "left": b"", "child": b""},
    "text": {"child": "0" * 24},
    "no smoothing": {"alpha": 0.0},
    "smoothing that is no number": {"alpha": np.nan},
    "smoothing without end": {"alpha": np.inf},
    "a share of all": {"share": 1.0},
    "a share below 0": {"share": -0.1},
    "a share that is no number": {"share": np.nan},
}


def test_good_cuts_are_trees():
    family = Partition(**GOOD)
    assert (family.n_nodes, family.n_leaves, family.leaves_of(1).tolist()) == (6, 4, [5])


@pytest.mark.parametrize("what", BAD)
def test_cuts_that_are_no_trees_are_refused(what):
    with pytest.raises(ValueError, match=r"must|has|have|node \d"):
        Partition(**{**GOOD, **BAD[what]})


def test_what_is_no_tree_is_named_by_its_node():
    def why(what):
        with pytest.raises(ValueError) as refused:
            Partition(**{**GOOD, **BAD[what]})
        return str(refused.value)

    assert why("a column that there is not") == "node 1 is cut by column 2, and there are 2 columns, from 0"
    assert why("a leaf with a column").startswith("node 2 is no leaf")
    assert why("a child of another tree").endswith("the child of node 1 is 4")
    assert why("a child of two").endswith("node 1 or its child 2 is not")


def test_many_rows_are_counted_some_at_a_time(monkeypatch):
    family, X, y = trees(n=300)
    whole = family.collect(X, rows_of(y, 3))
    monkeypatch.setattr("suffit.families.counts.partition.PLACED", 70)
    np.testing.assert_array_equal(family.collect(X, rows_of(y, 3))["count"], whole["count"])


def chain(depth):
    """A tree with so many cuts on its longest path."""
    n = 2 * depth + 1
    child, column = np.zeros(n, "<i4"), np.full(n, -1, "<i4")
    cut = np.concatenate([[0], np.arange(1, n - 2, 2)])[:depth]
    child[cut], column[cut] = np.arange(depth) * 2 + 1, 0
    return {"roots": (0,), "column": column.tobytes(), "left": np.full(n, 1, "<u8").tobytes(), "child": child.tobytes()}


def test_the_deepest_tree_is_scored_and_a_deeper_one_refused():
    from suffit.kernels.trees import DEEPEST

    family = Partition(sizes=(2, 2), **chain(DEEPEST))
    X = np.array([[0, 0], [1, 0], [NONE, 1]] * 4, np.uint8)
    y = np.arange(12, dtype=np.int32) % 2
    scorer = solved(family, X, y, 2)
    assert np.isfinite(scorer.scores(X)).all()
    assert np.isfinite(family.leave_one_out(X, rows_of(y, 2), family.collect(X, rows_of(y, 2))).log_density).all()
    with pytest.raises(ValueError, match=f"{DEEPEST} cuts"):
        Partition(sizes=(2, 2), **chain(DEEPEST + 1))


def test_separation_is_what_columns_are_expected_to_add():
    """By draws from the leaves of one tree."""
    family, X, y = trees()
    scorer = solved(replace(family, roots=(0,), **first_tree(family)), X, y)
    rng, n = np.random.default_rng(0), 20_000
    parts = []
    for c in (0, 2):
        drawn = scorer.sample(np.full(n, c, np.int32), rng)
        parts.append(scorer.parts(drawn, np.zeros(n, np.int32), np.full(n, 2, np.int32)).columns)
    between = scorer.separation(None)(0, 2)
    error = np.sqrt((parts[0].var(axis=0) + parts[1].var(axis=0)) / n)
    assert (np.abs(parts[0].mean(axis=0) - parts[1].mean(axis=0) - between) < 5 * error).all()
    assert (between > 0).all()
