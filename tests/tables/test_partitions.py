"""Partitions of tables: what they are good for, what they do not believe, and the rows they are cut by."""

from __future__ import annotations

import numpy as np
import pytest

import suffit
from suffit.data.frame import read_frame
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.families.counts.partition import marked
from suffit.tables.partitions import FEWEST_TREES, FIRST_TREES, Growing, frequent

pytestmark = pytest.mark.filterwarnings("ignore::suffit.DataWarning")
N = 500


def rules(seed: int, n: int = N) -> tuple[dict, np.ndarray]:
    """A class that depends on a category, a number and a count together, with missing values."""
    rng = np.random.default_rng(seed)
    city = np.array(["u", "v", "w", "z"], object)[rng.integers(0, 4, n)]
    x, count = rng.normal(size=n), rng.poisson(2.0, n).astype(float)
    rule = np.where((city == "u") | (city == "w"), x > 0, count > 2)
    y = np.where(rule ^ (rng.random(n) < 0.05), "yes", "no")
    gone = rng.random((3, n)) < 0.05
    table = {"city": city, "x": np.where(gone[1], np.nan, x), "count": np.where(gone[2], np.nan, count)}
    table["city"][gone[0]] = None
    return table, y


def loss(model, X, y) -> float:
    P = model.predict_proba(X)
    return float(-np.log(P[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean())


def partition_of(model):
    return next(spec for spec in model.schema_.specs if spec.reads == "places")


def test_columns_that_act_together_are_in_the_pool_by_trees():
    X, y = rules(0, 1000)
    Z, z = rules(1, 2000)
    model = suffit.GenerativeClassifier().fit(X, y)
    assert "partitions" in {name for name, _, _ in model.selection_.pool}
    without = suffit.GenerativeClassifier(structure="densities").fit(X, y)
    assert loss(model, Z, z) < loss(without, Z, z) - 0.05
    assert abs(loss(model, Z, z) - model.selection_.loss) < 0.06  # what was promised


@pytest.mark.parametrize("structure", ["auto", "partitions"])
def test_labels_that_nothing_explains_are_predicted_by_their_shares(structure):
    """Trees that have learned rows by heart must not believe themselves."""
    over = []
    for seed in range(6):
        X, y = rules(seed, 300)
        y = np.random.default_rng(seed).permutation(y)
        Z, z = rules(100 + seed, 1000)
        z = np.random.default_rng(seed).permutation(z)
        model = suffit.GenerativeClassifier(structure=structure).fit(X, y)
        share = np.unique(y, return_counts=True)[1] / len(y)
        entropy = -(share * np.log(share)).sum()
        assert model.selection_.loss > entropy - 0.03
        over.append(loss(model, Z, z) - entropy)
    assert max(over) < 0.06
    assert np.mean(over) < 0.025


@pytest.mark.parametrize("structure", ["auto", "partitions"])
def test_a_pool_with_trees_explains_itself_exactly(structure):
    X, y = rules(2)
    model = suffit.GenerativeClassifier(structure=structure).fit(X, y)
    assert partition_of(model).power > 0
    why, P = model.explain(X, ["yes", "no"]), model.predict_proba(X)
    np.testing.assert_allclose(why.total, np.log(P[:, 1]) - np.log(P[:, 0]), rtol=0, atol=1e-10)
    added = why.prior + why.rest + why.parts.sum(axis=1) + why.outlier_term + why.calibration
    np.testing.assert_allclose(added, why.total, rtol=0, atol=1e-10)
    missing = np.array([c is None for c in X["city"]])
    assert (why.parts[missing, list(why.columns).index("city")] == 0).all()


def grown_on(codes, y, weights=None):
    classes = np.unique(y)
    rows = Rows(Index(tuple(classes.tolist())), np.searchsorted(classes, y).astype(np.int32), weights)
    by = marked(codes, rows)
    growing = Growing(codes, (8, 8, 8), [True, False, True], rows, by)
    return growing.trees(growing.most_trees), by.marks


def test_neither_the_order_of_rows_nor_the_names_of_classes_change_a_cut():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 8, (300, 3)).astype(np.uint8), rng.integers(0, 3, 300)
    codes[:, 0] = (codes[:, 0] + 2 * y) % 8
    codes[rng.random(codes.shape) < 0.1] = 255
    codes[:40], y[:40] = codes[0], y[0]  # equal rows, some of the same weight
    weights = rng.choice([0.3, 1.1, 2.7], 300)
    whole, marks = grown_on(codes, y, weights)
    turned = rng.permutation(300)
    again, of_turned = grown_on(codes[turned], y[turned], weights[turned])
    assert again == whole
    rows = zip(codes.tolist(), y, weights, marks, strict=True)
    assert sorted(zip(codes[turned].tolist(), y[turned], weights[turned], of_turned, strict=True)) == sorted(rows)
    for names in ([2, 0, 1], [1, 0, 2], [2, 1, 0]):
        assert grown_on(codes, np.array(names)[y], weights)[0] == whole


def test_equal_rows_take_part_in_turn_whatever_their_classes():
    """The marks of equal rows differ, so that not all of them choose the cuts of the same trees."""
    codes = np.repeat(np.arange(2, dtype=np.uint8), 50)[:, None]
    _, marks = grown_on(np.repeat(codes, 3, axis=1), np.arange(100) % 2)
    assert len(np.unique(marks)) == 100


def test_rows_that_share_their_codes_with_others_are_promised_no_more_than_new_ones():
    """A row that takes no part in a tree is like a new one: equal rows that do take part may be of any class."""
    rng = np.random.default_rng(0)
    promised, found = [], []
    for _ in range(6):
        y = rng.integers(0, 2, 22_000)
        X = rng.normal(size=(22_000, 2)) + 0.2 * y[:, None] * [1, 0]
        model = suffit.GenerativeClassifier(structure="partitions").fit(X[:2000], y[:2000])
        promised.append(model.selection_.loss)
        found.append(loss(model, X[2000:], y[2000:]))
        rows = model.loo_predict_proba(X[:2000], y[:2000])[np.arange(2000), y[:2000]]
        assert abs(-np.log(rows).mean() - model.selection_.loo_loss) < 0.003  # the same trees without the same rows
    assert np.mean(promised) > np.mean(found) - 0.003


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads_gives_the_same_bits(threads, monkeypatch):
    X, y = rules(3, 400)
    monkeypatch.setenv("SUFFIT_NUM_THREADS", str(threads))
    model = suffit.GenerativeClassifier(structure="partitions").fit(X, y)
    monkeypatch.setenv("SUFFIT_NUM_THREADS", "1")
    one = suffit.GenerativeClassifier(structure="partitions").fit(X, y)
    assert partition_of(model) == partition_of(one)
    np.testing.assert_array_equal(model.predict_proba(X), one.predict_proba(X))


def test_rows_without_any_value_are_predicted_by_the_shares():
    X, y = rules(4)
    model = suffit.GenerativeClassifier(structure="partitions").fit(X, y)
    nothing = {"city": np.array([None, "a city never seen"], object), "x": [np.nan] * 2, "count": [np.nan] * 2}
    shares = model.class_count_ / model.class_count_.sum()
    np.testing.assert_allclose(model.predict_proba(nothing), np.tile(shares, (2, 1)), rtol=0, atol=1e-12)


def test_one_class_and_new_classes():
    X, y = rules(5)
    one = {name: cells[y == "yes"] for name, cells in X.items()}
    assert set(suffit.GenerativeClassifier(structure="partitions").fit(one, y[y == "yes"]).predict(X)) == {"yes"}
    model = suffit.GenerativeClassifier(structure="partitions").fit(X, y)
    grown_later = suffit.GenerativeClassifier(columns=model.schema_).fit(X, y)
    more, _ = rules(6, 100)
    grown_later.partial_fit(more, np.repeat("third", 100))
    assert grown_later.classes_.tolist() == ["no", "third", "yes"]
    assert np.isfinite(grown_later.predict_proba(X)).all()
    np.testing.assert_allclose(
        grown_later.forget(more, np.repeat("third", 100)).predict_proba(X), model.predict_proba(X), rtol=0, atol=1e-12
    )


def test_a_column_cannot_be_asked_to_be_a_partition():
    X, y = rules(7, 60)
    for family in ("partition", suffit.families.counts.partition.Partition()):
        with pytest.raises(ValueError, match=r"columns\['x'\]: a partition needs codes"):
            suffit.GenerativeClassifier({"x": family}).fit(X, y)


def test_a_model_with_trees_of_many_columns_takes_little_room():
    """500 rows and 70 columns."""
    from suffit.files.store import to_bytes

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 70)), rng.integers(0, 2, 500)
    y ^= X[:, 0] * X[:, 1] > 0
    assert len(to_bytes(suffit.GenerativeClassifier(structure="partitions").fit(X, y))) < 1_000_000


def test_categories_that_nothing_but_their_names_tells_apart_are_in_one_order():
    """Swapping b and c gives the same table: the order of the rows must not decide which of them comes first."""
    table = [(u, v, w) for u in "abcd" for v in "xyz" for w in "pqrs"]
    columns = dict(zip("uvw", np.array(table).T, strict=True))
    y = np.array([int((u == "a") ^ (v == "x") ^ (w in "pq")) for u, v, w in table])
    models = []
    for seed in range(4):
        rows = np.random.default_rng(seed).permutation(len(y))
        X = {name: values[rows].tolist() for name, values in columns.items()}
        models.append(suffit.GenerativeClassifier(structure="partitions").fit(X, y[rows]))
    for model in models[1:]:
        np.testing.assert_allclose(model.predict_proba(columns), models[0].predict_proba(columns), rtol=0, atol=1e-12)


@pytest.mark.parametrize("together", [False, True])
def test_of_many_rows_more_trees_grow_only_where_a_few_are_of_use(together, monkeypatch):
    asked = []
    grow = Growing.trees
    monkeypatch.setattr(Growing, "trees", lambda self, n: asked.append(n) or grow(self, n))
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6_000, 4))
    y = (x[:, 0] > 0) ^ (x[:, 1] > 0) if together else x.sum(axis=1) + rng.normal(size=6_000) > 0
    model = suffit.GenerativeClassifier().fit(x, y)
    assert asked == ([FIRST_TREES, FEWEST_TREES] if together else [FIRST_TREES])
    assert ("partitions" in {name for name, _, _ in model.selection_.pool}) == together
    asked.clear()
    suffit.GenerativeClassifier(structure="partitions").fit(x, y)  # asked for: all of them
    assert asked == [FEWEST_TREES]


def test_trees_that_are_grown_later_are_those_grown_at_once():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 8, (300, 3)).astype(np.uint8), rng.integers(0, 2, 300)
    rows = Rows(Index((0, 1)), y.astype(np.int32))
    first, second = (Growing(codes, (8, 8, 8), [True, False, True], rows, marked(codes, rows)) for _ in range(2))
    few = first.trees(3)
    assert first.trees(7) == second.trees(7)
    assert few.roots == second.trees(7).roots[:3]


def test_categories_that_no_row_with_weight_has_are_none_of_the_trees():
    frame = read_frame({"city": np.array(["u", "v", "z", "u"], object)})
    rows = Rows.of(np.array([0, 1, 0, 1]), np.array([1.0, 2.0, 0.0, 1.0]))
    assert set(frequent(frame, "city", rows, {"u": 0, "v": 1, "z": 2}).categories) == {"u", "v"}
