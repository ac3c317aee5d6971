"""The same data, the same answer: the order of rows and columns, names and units change nothing but rounding."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest

from suffit import GenerativeClassifier
from suffit.data.frame import read_frame
from suffit.data.rows import Rows
from suffit.tables.row_sample import LEAST_OF_CLASS, allotted, drawn, folds_of, keyed, reweighted, some_rows

Table = dict[str, np.ndarray]


def mixed_table(seed: int, n: int) -> tuple[Table, np.ndarray, np.ndarray | None]:
    """Numbers, positive numbers, counts and categories, some missing, some with weights."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    y = rng.choice(K, n, p=rng.dirichlet(np.full(K, 2.0)))
    X: Table = {f"n{j}": rng.normal(size=n) + y * rng.normal() * 0.8 for j in range(int(rng.integers(1, 4)))}
    X["positive"] = np.exp(rng.normal(size=n) + 0.3 * y)
    for j in range(int(rng.integers(0, 4))):
        shares = rng.dirichlet(np.ones(int(rng.integers(2, 8))), K)
        X[f"c{j}"] = np.array([f"v{rng.choice(len(shares[c]), p=shares[c])}" for c in y], object)
    X["counts"] = rng.poisson(3 + y).astype(float)
    for name in X if seed % 2 else ():
        gone = rng.random(n) < 0.1
        X[name] = np.where(gone, None if X[name].dtype == object else np.nan, X[name])
    weights = [None, rng.choice([0.3, 1.0, 2.7], n), rng.random(n)][seed % 3]
    return X, np.array([f"k{c}" for c in y]), weights


def posterior(X: Table, y: np.ndarray, weights: np.ndarray | None, Z: Table, classes: list[str], **how) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GenerativeClassifier(**how).fit(X, y, sample_weight=weights)
        return model.predict_proba(Z)[:, [list(model.classes_).index(c) for c in classes]]


def renamed(cells: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, dict]:
    """The same categories under names of another order."""
    old = sorted({c for c in cells if c is not None})
    names = dict(
        zip(old, rng.permutation([f"{letter} {i}" for i, letter in enumerate("qwertyuiop"[: len(old)])]), strict=True)
    )
    return np.array([names.get(c) for c in cells], object), names


def same_data(X: Table, y: np.ndarray, weights: np.ndarray | None, seed: int):
    """The same data written otherwise: what is handed to fit, the rows to predict, and the names of the classes."""
    rng, classes = np.random.default_rng(seed), sorted(set(y))
    order = rng.permutation(len(y))
    shuffled = {name: cells[order] for name, cells in X.items()}
    yield "rows", shuffled, y[order], None if weights is None else weights[order], X, classes
    labels, names = renamed(y, rng)
    yield "classes", X, labels.astype(str), weights, X, [names[c] for c in classes]
    other = {name: renamed(cells, rng)[0] if cells.dtype == object else cells for name, cells in X.items()}
    yield "categories", other, y, weights, other, classes
    columns = {f"{'zxcvbnmasdfg'[j]} {j}": X[list(X)[j]] for j in rng.permutation(len(X))}
    yield "columns", columns, y, weights, columns, classes
    for unit in (1e-9, 1e9):
        scaled = {name: cells * unit if name[0] in "np" else cells for name, cells in X.items()}
        yield f"unit {unit:g}", scaled, y, weights, scaled, classes


@pytest.mark.parametrize(("seed", "n"), [(0, 60), (1, 150), (2, 400), (4, 700), (5, 1100), (7, 4500)])
def test_order_names_and_units_change_nothing(seed: int, n: int):
    X, y, weights = mixed_table(seed, n)
    classes = sorted(set(y))
    P = posterior(X, y, weights, X, classes)
    assert P.std() > 0.05  # the columns tell something
    for what, *data in same_data(X, y, weights, seed):
        np.testing.assert_allclose(posterior(*data), P, rtol=0, atol=1e-6, err_msg=what)


@pytest.mark.parametrize(
    ("how", "n"),
    [
        ({"calibrate": "temperature"}, 2300),
        ({"calibrate": "isotonic"}, 5200),
        ({"select": "loo"}, 300),
        ({"criterion": "loo"}, 300),
    ],
)
def test_order_names_and_units_change_no_calibration_or_choice(how: dict, n: int):
    X, y, weights = mixed_table(10, n)
    classes = sorted(set(y))
    P = posterior(X, y, weights, X, classes, **how)
    for what, *data in same_data(X, y, weights, 10):
        np.testing.assert_allclose(posterior(*data, **how), P, rtol=0, atol=1e-6, err_msg=what)


def test_categories_that_only_their_rows_tell_apart_may_be_renamed():
    """Classes and categories of equal counts: told apart by what they are seen with."""
    rng = np.random.default_rng(0)
    n = 600
    y = np.repeat(["a", "b"], n // 2)
    first = np.where(rng.random(n) < 0.3, "v", "u").astype(object)
    for c in "ab":  # exactly half of each
        here = np.flatnonzero(y == c)
        first[here] = rng.permutation(np.repeat(["u", "v"], n // 4))
    second = np.where(rng.random(n) < 0.2, first, "w").astype(object)
    X = {"first": first, "second": second, "x": rng.normal(size=n) + (first == "u") * (y == "a")}
    P = posterior(X, y, None, X, ["a", "b"])
    for what, *data in same_data(X, y, None, 1):
        if not what.startswith("unit"):
            np.testing.assert_allclose(posterior(*data), P, rtol=0, atol=1e-6, err_msg=what)


def keys(X: Table, y: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, Rows]:
    rows = Rows.of(y, weights)
    return keyed(read_frame(X), X, rows).keys, rows


def test_keys_tell_rows_apart_and_equal_rows_have_equal_ones():
    X, y, weights = mixed_table(1, 300)
    found, _ = keys(X, y, weights)
    assert len(set(found.tolist())) == 300
    twice = np.repeat(np.arange(300), 2)
    again, rows = keys({name: cells[twice] for name, cells in X.items()}, y[twice])
    assert (again[::2] == again[1::2]).all()
    folds = folds_of(again, rows, 5)
    assert (folds[::2] == folds[1::2]).all()


def test_rows_that_exchange_the_ranks_of_two_columns_have_other_keys():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, 40), rng.integers(0, 4, 40) ** 2
    second[:2], first[:2] = (0, 9), (3, 0)
    X = {"first": np.unique(first, return_inverse=True)[1], "second": np.unique(second, return_inverse=True)[1]}
    found, _ = keys(X, np.array(["a", "a", *["b"] * 38]))
    assert found[0] != found[1]


def test_repeating_rows_is_giving_them_weight():
    X, y, _ = mixed_table(3, 200)
    times = np.random.default_rng(0).integers(1, 4, 200)
    again = np.repeat(np.arange(200), times)
    repeated, _ = keys({name: cells[again] for name, cells in X.items()}, y[again])
    np.testing.assert_array_equal(repeated, keys(X, y, times.astype(float))[0][again])


def test_folds_hold_the_rows_of_every_class_in_turn():
    X, y, _ = mixed_table(2, 500)
    found, rows = keys(X, y)
    folds = folds_of(found, rows, 5)
    by_class = np.array([np.bincount(folds[rows.codes == c], minlength=5) for c in range(len(rows.classes))])
    assert (by_class.max(axis=1) - by_class.min(axis=1) <= 1).all()


@pytest.mark.parametrize("most", [10, 500, 2000])
def test_a_sample_has_enough_of_rare_classes(most: int):
    sizes = np.array([3, 150, 9847])
    wanted = allotted(sizes, most)
    assert wanted.sum() <= most
    assert (wanted <= sizes).all()
    assert (wanted >= np.minimum(sizes, min(LEAST_OF_CLASS, most // 6))).all()


def test_rows_drawn_by_key_are_as_many_as_wanted_even_of_many_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3000, 5000)
    found, rows = keys({"x": rng.normal(size=5000)}, y)
    assert len(drawn(found, rows, 500)) == len(set(drawn(found, rows, 500).tolist())) == 500
    assert len(some_rows(rows, 500)) == 500


def test_rows_drawn_by_place_are_spread_over_the_table():
    y = np.repeat([0, 1, 1, 1], 25_000)
    weights = (np.arange(100_000) % 10 < 9).astype(float)
    for rows in (Rows.of(y), Rows.of(y, weights)):
        found = some_rows(rows, 1000)
        assert 990 <= len(found) <= 1000
        assert (np.diff(found) > 0).all()
        assert (rows.part(0, 100_000)[1][found] > 0).all()
        assert np.bincount(found // 10_000, minlength=10).min() >= 90


def test_weights_give_every_class_its_share_again():
    rows = Rows.of(np.repeat(["a", "b"], [20, 180]))
    weights = reweighted(rows, np.array([1.0, 99.0]))
    assert weights.sum() == pytest.approx(200)
    assert weights[:20].sum() == pytest.approx(2)


def test_drawing_takes_a_time_that_grows_with_the_rows():
    def seconds(n: int) -> float:
        rows = Rows.of(np.arange(n) % 3)
        some_rows(rows, 1000)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            some_rows(rows, 20_000)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(4_000_000) < 0.2
