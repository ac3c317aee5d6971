"""Joint columns with missing values, each row under EM on all the others: by refits, and nearly."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_wine

from suffit import GDA, LDA, QDA, GenerativeClassifier, MultivariateGaussian
from suffit.core.family import Family
from suffit.data.rows import Rows
from suffit.families.gaussian.leave_one_out.em import EmLoo
from suffit.families.gaussian.missing.em import Completion

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # few rows that have both columns
NaN = np.nan

MODELS = {
    "LDA": LDA,
    "QDA": QDA,
    "LDA-lsqr": lambda: LDA("lsqr"),
    "GDA-shared": lambda: GDA(tie=1.0),
    "GDA-unbiased": lambda: GDA(denominator="unbiased"),
    "GDA-shrunk": lambda: GDA(shrinkage=0.2),
    "GDA-shared-shrunk": lambda: GDA(tie=1.0, shrinkage=0.2),
    "QDA-ridge": lambda: QDA(reg_param=0.1),
    "GDA-between": lambda: GDA(tie=0.5),
    "GDA-between-unbiased": lambda: GDA(tie=0.2, denominator="unbiased"),
    "GDA-between-shrunk": lambda: GDA(tie=0.7, shrinkage=0.2),
}
over_models = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


def rows_with_gaps(n=200, p=4, share=0.2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    mix = np.eye(p) + np.triu(rng.normal(size=(p, p)), 1) / np.sqrt(p)
    X = rng.normal(size=(n, p)) @ mix + y[:, None] * np.linspace(1.0, -0.5, p)
    return np.where(rng.random(X.shape) < share, NaN, X), y


def densities(model, X, y, how):
    inside = model._model
    rows = inside._known(Rows.of(y))
    return getattr(inside.family, how)(X, rows, inside.sums).log_density


def no_refits(monkeypatch):
    def refuse(*_):
        raise AssertionError("solved anew")

    monkeypatch.setattr(MultivariateGaussian, "solved_without", refuse)


@over_models
@pytest.mark.parametrize("weighted", [False, True])
def test_loo_with_missing_values_is_a_refit_without_solving_anew(make, weighted, monkeypatch):
    X, y = rows_with_gaps()
    X[5] = NaN
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = make().fit(X, y, sample_weight=weight)
    no_refits(monkeypatch)
    found = model.loo_log_joint(X, y, sample_weight=weight)
    for i in (0, 5, 77, 198):
        rest = np.arange(len(y)) != i
        refit = make().fit(X[rest], y[rest], sample_weight=weight[rest])
        np.testing.assert_allclose(found[i], refit.predict_joint_log_proba(X[i : i + 1])[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
@pytest.mark.parametrize("make", [LDA, QDA])
def test_loo_with_missing_values_knows_no_units(make, scale):
    X, y = rows_with_gaps()
    plain, scaled = (make().fit(A, y).loo_predict_proba(A, y) for A in (X, 100.0 * scale + scale * X))
    np.testing.assert_allclose(scaled, plain, atol=1e-8)


@pytest.mark.parametrize("make", [LDA, QDA])
def test_rows_without_which_a_class_is_gone_or_has_no_value_are_solved_anew(make):
    X, y = rows_with_gaps(60)
    X, y = np.concatenate([X, [[0.0, 1.0, NaN, 2.0], [0.3, NaN, NaN, 1.0]]]), np.concatenate([y, [7, 7]])
    model = make().fit(X, y)
    found = model.loo_log_joint(X, y)
    for i in (61, 3):
        rest = np.arange(len(y)) != i
        refit = make().fit(X[rest], y[rest])
        np.testing.assert_allclose(found[i], refit.predict_joint_log_proba(X[i : i + 1])[0], rtol=1e-9, atol=1e-9)


@over_models
def test_one_step_is_nearly_what_refits_say(make):
    X, y = rows_with_gaps(400)
    model = make().fit(X, y)
    near, exact = (
        softmax(densities(model, X, y, how), axis=1) for how in ("approximate_leave_one_out", "leave_one_out")
    )
    inside = softmax(model._solved.scores(X), axis=1)
    assert np.abs(near - exact).mean() < 0.05 * np.abs(inside - exact).mean()
    assert np.abs(near - exact).max() < 0.02


@pytest.mark.parametrize("make", [LDA, QDA])
def test_a_calibration_by_one_step_is_that_of_refits(make, monkeypatch):
    X, y = rows_with_gaps(300)
    near = make(calibrate="temperature").fit(X, y).calibration_
    monkeypatch.setattr(EmLoo, "nearly", EmLoo.exactly)
    exact = make(calibrate="temperature").fit(X, y).calibration_
    np.testing.assert_allclose([near.power, near.outlier_rate], [exact.power, exact.outlier_rate], atol=0.01)


@pytest.mark.parametrize("tie", [0.0, 0.4, 1.0])
def test_loo_with_missing_values_and_heavy_tails(tie):
    X, y = rows_with_gaps()
    family, rows = MultivariateGaussian(tie=tie, freedom=5.0), Rows.of(y)
    found = family.leave_one_out(X, rows, family.collect(X, rows)).log_density
    for i in (0, 77, 198):
        rest = np.flatnonzero(np.arange(len(y)) != i)
        scorer = family.scorer(family.collect(X[rest], rows.some(rest)))
        one = X[i : i + 1]
        np.testing.assert_allclose(found[i], scorer.scores(one)[0] + scorer.log_base(one)[0], rtol=1e-9, atol=1e-9)


def test_a_calibration_of_pairs_is_about_that_of_refits(monkeypatch):
    X, y = rows_with_gaps(150, p=6)
    table = {f"x{j}": column for j, column in enumerate(X.T)}
    block = {tuple(table): MultivariateGaussian(tie=0.3, shrinkage=0.1, missing="pairs")}

    def power():
        return GenerativeClassifier(columns=block, calibrate="temperature").fit(table, y).calibration_.power

    near = power()
    monkeypatch.setattr(MultivariateGaussian, "approximate_leave_one_out", MultivariateGaussian.leave_one_out)
    assert abs(near - power()) < 0.05


def test_few_pairs_are_calibrated_without_solving_anew(monkeypatch):
    X, y = rows_with_gaps(60, share=0.4)
    no_refits(monkeypatch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(QDA(calibrate="temperature").fit(X, y).calibration_.power)


@pytest.mark.parametrize("tie", [0.1, 0.5])
def test_few_pairs_of_classes_that_share_a_part_of_their_covariances_are_refits_without_solving_anew(tie, monkeypatch):
    X, y = load_wine(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, NaN, X)
    model, rows = GDA(tie=tie).fit(X, y), (0, 60, 177)
    refits = [
        GDA(tie=tie).fit(np.delete(X, i, axis=0), np.delete(y, i)).predict_joint_log_proba(X[[i]])[0] for i in rows
    ]
    no_refits(monkeypatch)
    np.testing.assert_allclose(model.loo_log_joint(X, y)[list(rows)], refits, rtol=1e-9, atol=2e-9)


@pytest.mark.parametrize("make", [lambda: QDA(reg_param=0.1), lambda: GDA(shrinkage=0.1)], ids=["QDA", "GDA"])
def test_a_class_says_the_same_whatever_rows_other_classes_lose(make):
    """EM along a direction of which the values say next to nothing stops somewhere: each class for itself."""
    X, y = load_wine(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, NaN, X)
    whole, fewer = make().fit(X, y), make().fit(X[1:], y[1:])
    assert y[0] == 0
    differ = (whole.predict_joint_log_proba(X) - fewer.predict_joint_log_proba(X))[:, 1:]
    shares = np.log(whole.priors_[1:] / fewer.priors_[1:])
    np.testing.assert_allclose(differ, np.tile(shares, (len(X), 1)), atol=1e-9)


@pytest.mark.parametrize("make", [lambda: QDA(reg_param=0.1), lambda: GDA(shrinkage=0.1)], ids=["QDA", "GDA"])
def test_few_rows_are_solved_anew_where_columns_in_unlike_units_are_shrunk(make, monkeypatch):
    """A shrunk covariance is not the likeliest: EM goes by the length of its steps, in units of what it came to."""
    X, y = load_wine(return_X_y=True)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.3, NaN, X)
    model = make().fit(X, y)
    anew, solve = [], MultivariateGaussian.solved_without
    monkeypatch.setattr(
        MultivariateGaussian, "solved_without", lambda self, X, *more: anew.append(len(X)) or solve(self, X, *more)
    )
    found = model.loo_log_joint(X, y)
    assert sum(anew) <= 10
    for i in (18, 90, 177):
        refit = make().fit(np.delete(X, i, axis=0), np.delete(y, i))
        np.testing.assert_allclose(found[i], refit.predict_joint_log_proba(X[i : i + 1])[0], rtol=1e-9, atol=1e-9)


def four_classes(what):
    rng = np.random.default_rng(1)
    y = np.sort(np.arange(120) % 4)
    X = rng.normal(size=(120, 3)) @ rng.normal(size=(3, 3)) + y[:, None]
    X = np.where(rng.random(X.shape) < 0.2, NaN, X)
    if what == "constant":
        X[y == 0, 1] = 1.0
    elif what == "constant and missing":
        X[y == 0, 1] = np.where(rng.random(30) < 0.5, NaN, 1.0)
    elif what == "never seen":
        X[y == 2, 0] = NaN
    elif what == "few pairs":
        X[(y == 3) & (np.arange(120) % 8 > 0), 0] = NaN
    elif what == "one row of a class":
        X, y = X[(y > 0) | (np.arange(120) < 1)], y[(y > 0) | (np.arange(120) < 1)]
    return X, y


SITUATIONS = ["plain", "constant", "constant and missing", "never seen", "few pairs", "one row of a class"]


@pytest.mark.parametrize("shrinkage", [None, 0.1, "oas"])
@pytest.mark.parametrize("what", SITUATIONS)
def test_em_of_classes_that_lose_no_row_is_that_of_all_rows(what, shrinkage, monkeypatch):
    """As a refit of all classes has it; no row's own class, and none with rows of a prior, is taken from before."""
    X, y = four_classes(what)
    model = QDA() if shrinkage is None else GDA(shrinkage=shrinkage)
    model.fit(X, y)
    runs, run = [], Completion.run
    monkeypatch.setattr(Completion, "run", lambda self: runs.append(len(self.rows)) or run(self))
    found = densities(model, X[::7], y[::7], "solved_without")
    few = runs.count(1)
    runs.clear()
    monkeypatch.setattr(MultivariateGaussian, "solved_without", Family.solved_without)
    np.testing.assert_allclose(found, densities(model, X[::7], y[::7], "solved_without"), rtol=1e-9, atol=1e-9)
    assert few < 0.6 * runs.count(1)
