"""Every row under the model without it equals a fit on all the others, for every family and estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import suffit
from cases import CASES, Case, data, with_holes
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.families.elementwise import leave_one_out as elementwise_left_out

ROWS = 36


def refitted(
    model: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray | None, step: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """log p(x, c) and p(c | x) of a row under a fit on all the others, −∞ and 0 for a class that is gone."""
    joint, proba = np.full((len(y), len(model.classes_)), -np.inf), np.zeros((len(y), len(model.classes_)))
    for i in range(0, len(y), step):
        rest = np.arange(len(y)) != i
        weight = {} if w is None else {"sample_weight": w[rest]}
        one = clone(model).fit(X[rest], y[rest], **weight)
        at = np.searchsorted(model.classes_, one.classes_)
        joint[i, at] = one.predict_joint_log_proba(X[i : i + 1])[0]
        proba[i, at] = one.predict_proba(X[i : i + 1])[0]
    return joint[::step], proba[::step]


def check_equal(
    model: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray | None = None, atol: float = 1e-9, step: int = 1
) -> None:
    """Leave-one-out of every row, or of every ``step``-th where refits take long, is a refit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=w)
        joint, proba = refitted(model, X, y, w, step)
        ours = model.loo_log_joint(X, y, sample_weight=w)[::step]
        finite = np.isfinite(joint)
        np.testing.assert_array_equal(finite, np.isfinite(ours))
        scale = np.maximum(1.0, np.abs(joint[finite]))
        np.testing.assert_allclose(ours[finite] / scale, joint[finite] / scale, rtol=0, atol=atol)
        np.testing.assert_allclose(model.loo_predict_proba(X, y, sample_weight=w)[::step], proba, atol=atol)


@pytest.mark.parametrize("name", CASES)
def test_loo_is_a_refit(name: str) -> None:
    case: Case = CASES[name]
    check_equal(case.make(), *data(case, 3, ROWS))


@pytest.mark.parametrize("name", CASES)
def test_loo_is_a_refit_with_weights(name: str) -> None:
    case: Case = CASES[name]
    X, y = data(case, 5, ROWS)
    check_equal(case.make(), X, y, np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], size=len(y)))


@pytest.mark.parametrize("name", CASES)
def test_loo_is_a_refit_with_missing_values(name: str) -> None:
    case: Case = CASES[name]
    X, y = data(case, 7, 2 * ROWS)
    check_equal(case.make(), with_holes(X, 7, 0.1), y, step=6)


@pytest.mark.parametrize("tie", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shrinkage", [None, 0.2, 1.0, "oas", "ledoit-wolf"])
@pytest.mark.parametrize("denominator", ["mle", "unbiased"])
def test_loo_of_tied_and_shrunk_covariances(tie: float, shrinkage: Any, denominator: str) -> None:
    X, y = data(CASES["LDA"], 11, ROWS)
    check_equal(suffit.GDA(tie=tie, shrinkage=shrinkage, denominator=denominator), X, y)


@pytest.mark.parametrize("shrinkage", [0.3, 1.0])
@pytest.mark.parametrize("tie", [0.0, 0.5, 1.0])
def test_loo_shrunk_towards_the_diagonal(tie: float, shrinkage: float) -> None:
    X, y = data(CASES["LDA"], 13, ROWS)
    family = suffit.MultivariateGaussian(tie=tie, shrinkage=shrinkage, target="diagonal")
    check_equal(suffit.GenerativeClassifier({("x0", "x1", "x2"): family}), X, y)


def test_loo_of_a_class_with_one_row() -> None:
    X, y = data(CASES["LDA"], 17, ROWS)
    y = y.astype("<U4")
    y[4] = "zoo"
    for model in (suffit.GaussianNB(), suffit.GDA(tie=1.0), suffit.GDA(tie=0.5, shrinkage=0.1)):
        check_equal(model, X, y)


def test_loo_with_constant_and_dependent_columns() -> None:
    X, y = data(CASES["LDA"], 19, ROWS)
    check_equal(suffit.GDA(tie=0.2, shrinkage=0.1), np.column_stack([X, np.full(len(X), 3.0)]), y)
    check_equal(suffit.GDA(tie=1.0), np.column_stack([X, np.full(len(X), 3.0)]), y)
    check_equal(suffit.GDA(tie=1.0), np.column_stack([X, X[:, 0] + X[:, 1]]), y, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize("make", [suffit.MultinomialNB, suffit.ComplementNB, suffit.BernoulliNB, suffit.PoissonNB])
def test_loo_of_sparse_rows(make: Any, alpha: float) -> None:
    X, y = data(CASES["MultinomialNB"], 23, ROWS)
    model = make(alpha=alpha).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        model.loo_predict_proba(sparse.csr_matrix(X), y), refitted(model, X, y, None)[1], atol=1e-9
    )


def test_loo_with_categories_that_one_row_has() -> None:
    X = np.array([["a"], ["a"], ["b"], ["c"], ["b"], ["a"], ["d"]], dtype=object)
    y = np.array([0, 0, 1, 1, 1, 0, 0])
    check_equal(suffit.CategoricalNB(), X, y)
    check_equal(suffit.CategoricalNB(alpha=0.0), X, y)
    check_equal(suffit.CategoricalNB(), np.array([[0], [0], [1], [5], [1], [0], [3]]), y)
    check_equal(suffit.CategoricalNB(min_categories=5), np.array([[0], [0], [1], [5], [1], [0], [3]]), y)


def test_loo_refuses_rows_that_were_not_learned() -> None:
    X, y = data(CASES["LDA"], 29, ROWS)
    model = suffit.GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match="class 'emu' was never learned"):
        model.loo_log_joint(X, np.where(y == "ant", "emu", y))
    with pytest.raises(ValueError, match="weight 13, and 1300 are given; give only rows that were learned"):
        model.loo_log_joint(X, y, sample_weight=np.full(len(y), 100.0))


@pytest.mark.parametrize("constant", [0.0, 3.0])
@pytest.mark.parametrize(
    "model",
    [
        suffit.GaussianNB(),
        suffit.GaussianNB(floor="own"),
        suffit.GDA("diagonal", tie=1.0),
        suffit.GDA(),
        suffit.GDA(tie=0.3, shrinkage=0.1),
        suffit.GDA(tie=1.0),
        suffit.GDA(shrinkage="oas"),
        suffit.QDA(),
        suffit.LDA("eigen", "auto"),
    ],
    ids=repr,
)
def test_loo_with_a_column_that_varies_in_one_row_only(model: Any, constant: float) -> None:
    X, y = data(CASES["LDA"], 19, ROWS)
    X = np.column_stack([X, np.full(len(X), constant)])
    X[7, -1] += 2.3
    check_equal(clone(model), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rest = np.arange(len(y)) != 7
        forgot, never = clone(model).fit(X, y).forget(X[7:8], y[7:8]), clone(model).fit(X[rest], y[rest])
        np.testing.assert_allclose(forgot.predict_proba(X), never.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_loo_of_independent_normal_columns_is_solving_the_moments_less_each_row(seed: int) -> None:
    """Columns that vary and such that hardly do, far from 0 or not, with missing values, weights, lone rows."""
    rng = np.random.default_rng(seed)
    n, K, p = rng.integers(6, 60), rng.integers(2, 5), 5
    y = rng.integers(0, K, n).astype(np.int32)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-4, 4, p) + rng.choice([0, 1, 1e6], p) + y[:, None]
    X[:, 0] = rng.random(n) < 0.1
    X[:, 1] = np.where(y == 0, 3.0, np.round(X[:, 1]))
    X[rng.random((n, p)) < 0.1 * (seed % 2)] = np.nan
    rows = Rows(Index.of(range(K)), y, rng.choice([0.3, 1.0, 2.5], n) if seed % 3 else None).one_of_each()
    family = suffit.Gaussian(smoothing=[1e-9, 1e-3, 0.0][seed % 3])
    stats = family.collect(X, rows)
    sums = stats["n"], stats["x"], stats["xx"], np.asarray(stats.origin)
    with np.errstate(all="ignore"):
        solved = family._solved_without(X, *rows.part(0, n), *sums, stats["xx"])
    found = family.leave_one_out(X, rows, stats).log_density
    np.testing.assert_allclose(found, solved, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", [suffit.Poisson(), suffit.Geometric(), suffit.Poisson(alpha=0.0)])
@pytest.mark.parametrize("weight", [None, 2.0])
def test_few_values_looked_up_are_as_rows_solved_one_by_one(family, weight, monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 400).astype(np.int32)
    X = rng.poisson(1.0 + codes[:, None], (400, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    rows = Rows(Index((0, 1, 2)), codes, None if weight is None else np.full(400, weight))
    stats = family.collect(X, rows)
    assert elementwise_left_out._integers(X, rows, 60)
    looked_up = family.leave_one_out(X, rows, stats)
    monkeypatch.setattr(elementwise_left_out, "MOST_CELLS", 0)
    one_by_one = family.leave_one_out(X, rows, stats)
    np.testing.assert_allclose(looked_up.log_density, one_by_one.log_density, rtol=1e-12)
    assert (looked_up.impossible is None) == (one_by_one.impossible is None)
    if looked_up.impossible is not None:
        np.testing.assert_array_equal(looked_up.impossible, one_by_one.impossible)


@pytest.mark.parametrize("name", CASES)
def test_rows_without_weight_change_nothing(name: str) -> None:
    """Those of a class that has no other rows among them: they have a posterior, and no say."""
    case: Case = CASES[name]
    X, y = data(case, 3, ROWS)
    more, labels = np.concatenate([X, X[:2]]), np.concatenate([y, ["dog"] * 2])
    weights = np.concatenate([np.ones(ROWS), np.zeros(2)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, padded = case.make().fit(X, y), case.make().fit(more, labels, sample_weight=weights)
        assert padded.classes_.tolist() == plain.classes_.tolist()
        found = padded.loo_predict_proba(more, labels, sample_weight=weights)
        np.testing.assert_allclose(found[:ROWS], plain.loo_predict_proba(X, y), rtol=0, atol=1e-9)
        np.testing.assert_allclose(found[ROWS:], plain.predict_proba(X[:2]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.GDA, suffit.PoissonNB, suffit.GenerativeClassifier])
@pytest.mark.parametrize("weights", [[1.0], [3.0, 0.0]])
@pytest.mark.filterwarnings("ignore::suffit.DataWarning")
def test_the_only_row_cannot_be_left_out(make: Any, weights: list[float]) -> None:
    X, y = np.ones((len(weights), 2)), np.zeros(len(weights))
    columns = {"columns": {"x0": "gaussian", "x1": "gaussian"}} if make is suffit.GenerativeClassifier else {}
    model = make(**columns).fit(X, y, sample_weight=weights)
    with pytest.raises(suffit.InputError, match="leave-one-out: row 0 is the only one that was learned"):
        model.loo_predict_proba(X, y, sample_weight=weights)


@pytest.mark.parametrize("make", [suffit.LDA, suffit.GDA, lambda: suffit.GDA(tie=0.5), lambda: suffit.GDA(tie=1.0)])
@pytest.mark.parametrize("wide", [2, 6])
@pytest.mark.parametrize("calibrate", [None, "temperature", "isotonic"])
@pytest.mark.filterwarnings("ignore::suffit.DataWarning")
def test_two_rows_are_enough_to_leave_one_out(make: Any, wide: int, calibrate: str | None) -> None:
    X, y = np.random.default_rng(0).integers(0, 5, (2, wide)).astype(float), [0, 0]
    model = make().set_params(calibrate=calibrate).fit(X, y)
    assert model.loo_predict_proba(X, y).tolist() == [[1.0], [1.0]]
