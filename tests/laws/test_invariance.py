"""The same data, the same answer: the order of rows and columns, names and units change nothing but rounding."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine

import suffit
from cases import mixed_table
from suffit import GenerativeClassifier
from suffit.data.frame import read_frame
from suffit.data.rows import Rows
from suffit.tables.row_sample import keyed

Table = dict[str, np.ndarray]


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
        ({"structure": "partitions"}, 60),
        ({"structure": "partitions"}, 400),
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


def test_repeating_rows_is_giving_them_weight():
    X, y, _ = mixed_table(3, 200)
    times = np.random.default_rng(0).integers(1, 4, 200)
    again = np.repeat(np.arange(200), times)
    repeated, _ = keys({name: cells[again] for name, cells in X.items()}, y[again])
    np.testing.assert_array_equal(repeated, keys(X, y, times.astype(float))[0][again])


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, suffit.GenerativeClassifier])
def test_what_a_calibration_reports_is_the_same_for_rows_in_any_order_and_classes_of_any_name(make, method):
    """And with it whether a pool, which is calibrated already, keeps one."""
    X, y = load_wine(return_X_y=True)
    order, names = np.random.default_rng(0).permutation(len(y)), np.array(["m", "z", "a"])
    model = make(calibrate=method).fit(X, y)
    moved = make(calibrate=method).fit(X[order], names[y[order]])
    ours, theirs = model.calibration_, moved.calibration_
    for figure in ("log_loss_before", "log_loss_after", "ece_before", "ece_after"):
        assert getattr(theirs, figure) == pytest.approx(getattr(ours, figure), rel=1e-6), figure
    assert theirs.kept == ours.kept
    at = [list(moved.classes_).index(name) for name in names]
    np.testing.assert_allclose(moved.predict_proba(X)[:, at], model.predict_proba(X), rtol=0, atol=1e-6)
