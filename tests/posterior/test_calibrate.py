"""Calibration by leave-one-out: what it mends, what it leaves alone, and what it survives."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss as sklearn_log_loss
from sklearn.model_selection import GridSearchCV

import suffit
from cases import CASES, Case, data, with_holes
from suffit.core.pooling import USUAL_POWER
from suffit.posterior.calibrate import expected_calibration_error, in_folds, log_loss, reliability

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class

METHODS = ["temperature", "isotonic"]
CALIBRATED = [k for k, c in CASES.items() if "calibrate" in c.make().get_params()]


def copied(k: int, seed: int, n: int = 2000, p: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Columns that are independent given the class, each k times over."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.tile(rng.normal(size=(n, p)) + 0.7 * y[:, None], (1, k)), y


def dependent(seed: int, n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Twenty columns that are mostly two common causes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    cause = rng.normal(size=(n, 2)) + 0.8 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    return cause @ rng.normal(size=(2, 20)) + 0.5 * rng.normal(size=(n, 20)), y


# --- figures


def test_calibration_error_by_hand() -> None:
    P = np.array([[0.9, 0.1], [0.92, 0.08], [0.55, 0.45], [0.2, 0.8], [1.0, 0.0]])
    c, w = np.array([0, 1, 1, 1, 0]), np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    # bins of width 1/15: 0.9 and 0.92 share (13/15, 14/15]; the others are alone
    by_hand = (abs(1 * (1 - 0.9) + 2 * (0 - 0.92)) + abs(0 - 0.55) + 3 * abs(1 - 0.8) + abs(1 - 1.0)) / 8
    assert expected_calibration_error(P, c, w) == pytest.approx(by_hand, rel=1e-12)
    shown = reliability(P, c, w)
    np.testing.assert_allclose(shown.weight, [1, 3, 3, 1])
    np.testing.assert_allclose(shown.confidence, [0.55, 0.8, (0.9 + 2 * 0.92) / 3, 1.0])
    np.testing.assert_allclose(shown.accuracy, [0.0, 1.0, 1 / 3, 1.0])
    assert np.average(np.abs(shown.accuracy - shown.confidence), weights=shown.weight) == pytest.approx(by_hand)
    assert log_loss(P[:4], c[:4], w[:4]) == pytest.approx(sklearn_log_loss(c[:4], P[:4], sample_weight=w[:4]))


@pytest.mark.parametrize("method", METHODS)
def test_the_figures_are_those_of_leave_one_out(method: str) -> None:
    X, y = dependent(0, 600)
    plain, model = suffit.GaussianNB().fit(X, y), suffit.GaussianNB(calibrate=method).fit(X, y)
    found = model.calibration_
    P = plain.loo_predict_proba(X, y)
    assert found.rows == len(y)
    assert found.log_loss_before == pytest.approx(log_loss(P, y), rel=1e-9)
    assert found.ece_before == pytest.approx(expected_calibration_error(P, y), rel=1e-6)
    assert found.before.weight.sum() == found.after.weight.sum() == len(y)
    fitted = log_loss(model.loo_predict_proba(X, y), y)  # with what was fitted on these rows, too
    assert fitted < found.log_loss_after < found.log_loss_before
    assert method in repr(found)


# --- what it mends


@pytest.mark.parametrize("k", [1, 2, 5, 10])
def test_copies_of_columns_get_their_share_of_the_power(k: int) -> None:
    X, y = copied(k, 3)
    assert suffit.GaussianNB(calibrate="temperature").fit(X, y).calibration_.power == pytest.approx(1 / k, rel=0.15)


@pytest.mark.parametrize("method", METHODS)
def test_calibration_error_falls_to_less_than_a_third(method: str) -> None:
    for seed in range(3):
        X, y = dependent(seed, 6000)
        learn, judge = slice(0, 3000), slice(3000, None)
        plain = suffit.GaussianNB().fit(X[learn], y[learn])
        model = suffit.GaussianNB(calibrate=method).fit(X[learn], y[learn])
        found = model.calibration_
        assert found.ece_after < found.ece_before / 3
        assert found.log_loss_after < found.log_loss_before
        before, after = plain.predict_proba(X[judge]), model.predict_proba(X[judge])
        assert expected_calibration_error(after, y[judge]) < expected_calibration_error(before, y[judge]) / 3
        assert log_loss(after, y[judge]) < log_loss(before, y[judge])


def test_a_few_hopeless_rows_do_not_set_the_temperature() -> None:
    """Pixels that never vary in a class make some rows impossible by 10⁸ nats: they must not decide for all others."""
    X, y = load_digits(return_X_y=True)
    found = suffit.GaussianNB(calibrate="temperature").fit(X, y).calibration_
    assert found.ece_after < found.ece_before / 3
    assert found.log_loss_after < found.log_loss_before / 3


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_rules_without_a_prior_are_calibrated_too(name: str) -> None:
    """Words told over and over: a temperature takes back what is too much of them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = np.repeat(rng.poisson(np.where(y[:, None] == 1, [1.0, 2.0, 1.5], [1.5, 1.5, 1.2])), 8, axis=1)
    plain, model = (getattr(suffit, name)(calibrate=c).fit(X, y) for c in (None, "temperature"))
    assert log_loss(model.predict_proba(X), y) < 0.7 * log_loss(plain.predict_proba(X), y)
    assert expected_calibration_error(model.predict_proba(X), y) < 0.05


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CALIBRATED)
def test_leave_one_out_loss_is_no_worse(name: str, method: str) -> None:
    """Finite probabilities that sum to 1; on the rows left out no more loss than before, but for the priors."""
    case: Case = CASES[name]
    X, y = data(case, 5, 150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, model = case.make().fit(X, y), case.make().set_params(calibrate=method).fit(X, y)
        codes = np.searchsorted(model.classes_, y)
        before, after = plain.loo_predict_proba(X, y), model.loo_predict_proba(X, y)
        found = model.calibration_
        of_prior = (1 - found.power**2) / (2 * USUAL_POWER**2 * len(y))
        if method == "temperature":  # beside a model with power 1 and the same outlier rate
            before = (1 - found.outlier_rate) * before + found.outlier_rate * softmax(found.log_prior)
        assert loss_of(after, codes) <= loss_of(before, codes) + max(of_prior, 0.0) + 1e-9
        for rows in (X, with_holes(X, 5, 0.3)):
            P = model.predict_proba(rows)
            assert np.isfinite(P).all()
            assert (P >= 0).all()
            np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
            np.testing.assert_array_equal(model.predict(rows), model.classes_[P.argmax(axis=1)])
            np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), P, atol=1e-12)
        np.testing.assert_allclose(model.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), rtol=1e-12)


def loss_of(P: np.ndarray, codes: np.ndarray) -> float:
    """Mean −log p, without a floor."""
    with np.errstate(divide="ignore"):
        return float(-np.log(P[np.arange(len(codes)), codes]).mean())


def test_isotonic_maps_are_monotone_and_off_the_ends() -> None:
    X, y = dependent(1)
    maps = suffit.GaussianNB(calibrate="isotonic").fit(X, y).calibration_.maps
    assert len(maps) == 3
    for before, after in maps:
        assert (np.diff(before) > 0).all()
        assert (np.diff(after) >= 0).all()
        assert 0 < after[0] <= after[-1] < 1
    (before, after), *more = suffit.GaussianNB(calibrate="isotonic").fit(X[y < 2], y[y < 2]).calibration_.maps
    assert not more  # one map for two classes
    assert (np.diff(after) >= 0).all()


def test_a_well_specified_model_stays_as_it_is() -> None:
    X, y = copied(1, 9, 5000)
    found = suffit.GaussianNB(calibrate="temperature").fit(X, y).calibration_
    assert found.power == pytest.approx(1.0, abs=0.1)
    assert found.ece_after < 0.02


def test_a_row_that_says_nothing_keeps_the_prior() -> None:
    X, y = copied(5, 4)
    model = suffit.GaussianNB(calibrate="temperature").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.full((1, X.shape[1]), np.nan))[0], model.class_prior_, rtol=1e-12)


def test_temperature_in_the_logistic_form_and_the_one_row_scorer() -> None:
    X, y = copied(5, 4, 300)
    for method in METHODS:
        model = suffit.GDA(tie=1.0, shrinkage=0.1, calibrate=method).fit(X, y)
        handle = model.scorer()
        np.testing.assert_allclose(handle(X[0].copy()), model.predict_proba(X[:1])[0], rtol=1e-9)
    model = suffit.GaussianNB(calibrate="temperature").fit(X, y)
    q = _tempered(model, X, model.calibration_.power)  # the form is that of rows that are no outliers
    np.testing.assert_allclose(model.logistic_form().pair(1, 0)(X), np.log(q[:, 1] / q[:, 0]), rtol=1e-6, atol=1e-9)
    outlier_rate = model.calibration_.outlier_rate
    np.testing.assert_allclose(
        model.predict_proba(X), (1 - outlier_rate) * q + outlier_rate * model.class_prior_, rtol=1e-9
    )
    with pytest.raises(suffit.InputError, match="an outlier rate is not linear"):
        suffit.LDA(calibrate="temperature").fit(X, y).to_sklearn()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [2, 3])
def test_decisions_agree_with_predictions(method: str, k: int) -> None:
    X, y = dependent(4, 400)
    some = (y < k) & (np.arange(400) % 4 > 0)
    X, y = np.where(np.random.default_rng(0).random(X.shape) < 0.02, np.nan, X)[some], y[some]
    for model in (suffit.LDA(calibrate=method), suffit.QDA(calibrate=method), suffit.GDA(tie=0.5, calibrate=method)):
        model = model.fit(X, y).with_prior([0.7, 0.3] if k == 2 else [0.6, 0.2, 0.2])
        found = model.decision_function(X)
        told = model.predict_log_proba(X)
        shown = np.stack([np.zeros(len(X)), found], axis=1) if k == 2 else found
        np.testing.assert_array_equal(model.classes_[shown.argmax(axis=1)], model.predict(X))
        np.testing.assert_allclose(np.diff(shown, axis=1), np.diff(told, axis=1), rtol=1e-6, atol=1e-7)


# --- what it survives


@pytest.mark.parametrize("method", METHODS)
def test_calibration_survives_batches_merges_and_priors(method: str) -> None:
    X, y = dependent(2, 1200)
    one = suffit.GaussianNB(calibrate=method).fit(X[:600], y[:600])
    kept = one.calibration_
    grown = copy.deepcopy(one).partial_fit(X[600:], y[600:])
    merged = one + suffit.GaussianNB(calibrate=method).fit(X[600:], y[600:])
    assert grown.calibration_.power == kept.power
    assert (one + one)._fitted.calibration is one._fitted.calibration
    for model in (grown, merged):
        plain = suffit.GaussianNB().fit(X, y)
        expected = (1 - kept.outlier_rate) * _tempered(plain, X, kept.power) + kept.outlier_rate * plain.class_prior_
        if method == "isotonic":  # mapped under the prior of the maps, which is then exchanged
            old = np.exp(kept.log_prior)
            P = kept.mapped(plain.with_prior(old).predict_proba(X)) * plain.class_prior_ / old
            expected = P / P.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)
    before = grown._fitted.calibration
    grown.recalibrate(X, y)
    anew = suffit.GaussianNB(calibrate=method).fit(X, y)
    assert grown.calibration_.rows == 1200
    assert grown._fitted.calibration is not before
    np.testing.assert_allclose(grown.predict_proba(X), anew.predict_proba(X), atol=1e-9)
    other = one.with_prior([0.2, 0.3, 0.5])
    assert other._fitted.calibration is one._fitted.calibration
    kept = grown._fitted.calibration
    assert grown.forget(X[600:], y[600:])._fitted.calibration is kept


def _tempered(model: Any, X: np.ndarray, power: float) -> np.ndarray:
    log_prior = np.log(model.class_prior_)
    scores = power * (model.predict_joint_log_proba(X) - log_prior) + log_prior
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def test_a_new_prior_multiplies_in_under_temperature() -> None:
    X, y = copied(5, 6)
    model = suffit.GaussianNB(calibrate="temperature").fit(X, y)
    prior, outlier_rate = np.array([0.9, 0.1]), model.calibration_.outlier_rate
    P, shifted = model.predict_proba(X), model.with_prior(prior).predict_proba(X)
    q = (P - outlier_rate * model.class_prior_) * prior / model.class_prior_
    expected = (1 - outlier_rate) * q / q.sum(axis=1, keepdims=True) + outlier_rate * prior
    np.testing.assert_allclose(shifted, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # that it is gone is said
def test_a_new_class_ends_the_calibration() -> None:
    X, y = copied(3, 7, 300)
    model = suffit.GaussianNB(calibrate="isotonic").fit(X, y)
    model.partial_fit(X[:20] + 5, np.full(20, 2))
    assert model.calibration_ is None
    assert model.predict_proba(X).shape == (300, 3)
    X, y = np.concatenate([X, X[:20] + 5]), np.concatenate([y, np.full(20, 2)])
    assert len(model.recalibrate(X, y).calibration_.maps) == 3


def test_recalibrate_works_where_nothing_was_asked_for_at_fit() -> None:
    X, y = copied(5, 8)
    model = suffit.GaussianNB().fit(X, y)
    assert model.calibration_ is None
    assert model.recalibrate(X, y).calibration_.power == pytest.approx(0.2, rel=0.15)
    assert model.fit(X, y).calibration_ is None


@pytest.mark.parametrize("method", METHODS)
def test_pickles_clones_and_searches(method: str) -> None:
    X, y = dependent(3, 400)
    model = suffit.GaussianNB(calibrate=method).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.calibration_.ece_after == model.calibration_.ece_after
    assert clone(model).get_params() == model.get_params()
    search = GridSearchCV(
        suffit.GaussianNB(), {"calibrate": [None, method]}, scoring="neg_log_loss", cv=3, error_score="raise"
    ).fit(X, y)
    assert search.best_params_ == {"calibrate": method}


def test_calibrated_tables_with_text_and_missing_values() -> None:
    X, y = data(CASES["GenerativeClassifier-mixed"], 11, 400)
    columns = CASES["GenerativeClassifier-mixed"].make().columns
    X = with_holes(X, 11, 0.1)
    for method in METHODS:
        model = suffit.GenerativeClassifier(columns, calibrate=method).fit(X, y)
        P = model.predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
        np.testing.assert_allclose(model.scorer()(dict(zip(model._names_in, X[0], strict=True))), P[0], rtol=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("method", METHODS)
def test_very_few_rows_can_be_calibrated(method: str, n: int) -> None:
    X, y = np.arange(2.0 * n)[:, None] % n, np.repeat([0, 1], n)
    found = suffit.GaussianNB(calibrate=method).fit(X[: n + 2], y[: n + 2])
    assert found.calibration_.rows == n + 2
    assert np.isfinite(found.predict_proba(X)).all()
    assert np.isfinite(found.calibration_.log_loss_after)


def test_weights_count_as_rows_do_not() -> None:
    """Rows of weight 0 change nothing; all weights alike change nothing but how sure the power is."""
    X, y = copied(5, 12)
    w = np.ones(len(y))
    w[::3] = 0.0
    weighed = suffit.GaussianNB(calibrate="temperature").fit(X, y, sample_weight=w).calibration_
    fewer = suffit.GaussianNB(calibrate="temperature").fit(X[w > 0], y[w > 0]).calibration_
    assert weighed.power == pytest.approx(fewer.power, rel=1e-6)
    assert weighed.rows == fewer.rows


def test_what_a_calibration_does_is_worked_out_when_asked_and_kept_without_the_rows() -> None:
    X, y = dependent(3, 400)
    model = suffit.GaussianNB(calibrate="temperature").fit(X, y)
    assert "report" not in vars(model.calibration_.trial)
    unasked = pickle.loads(pickle.dumps(model))
    assert vars(unasked.calibration_.trial).keys() == {"report"}
    assert repr(unasked.calibration_) == repr(model.calibration_)
    np.testing.assert_array_equal(unasked.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "make",
    [
        lambda **s: suffit.LDA(solver="eigen", **s), suffit.QDA, suffit.GaussianNB,
        lambda **s: suffit.GenerativeClassifier(structure="naive", **s), lambda **s: suffit.NaiveBayes("poisson", **s),
    ],
)  # fmt: skip
def test_a_row_without_values_gets_the_prior_through_isotonic_maps_too(make, k) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(k, size=300, p=[0.7, 0.3] if k == 2 else [0.5, 0.3, 0.2])
    X = np.repeat(rng.poisson(2.0 + y[:, None], size=(300, 2)).astype(float), 2, axis=1)
    model = make(calibrate="isotonic").fit(X, y)
    nothing = np.full((1, 4), np.nan)
    shares = np.bincount(y) / 300
    np.testing.assert_allclose(model.predict_proba(nothing)[0], shares, rtol=1e-12)
    np.testing.assert_allclose(model.scorer()(nothing[0]), shares, rtol=1e-12)
    other = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    np.testing.assert_allclose(model.with_prior(other).predict_proba(nothing)[0], other, rtol=1e-12)
    assert abs(model.explain(nothing).calibration[0]) < 1e-12
    assert not np.allclose(
        model.predict_proba(X), make().fit(X, y).predict_proba(X), atol=0.01
    )  # the maps do something


def test_a_row_without_values_gets_the_leave_one_out_prior() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.repeat(rng.normal(size=(200, 1)) + y[:, None], 3, axis=1)
    X[7] = np.nan
    model = suffit.GaussianNB(calibrate="isotonic").fit(X, y)
    others = np.bincount(np.delete(y, 7)) / 199
    np.testing.assert_allclose(model.loo_predict_proba(X, y)[7], others, rtol=1e-12)


def test_isotonic_maps_under_another_prior():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3)) + 0.8 * y[:, None]
    model = suffit.GaussianNB(calibrate="isotonic").fit(X, y).with_prior([0.9, 0.1])
    np.testing.assert_allclose(model.scorer()(X[0]), model.predict_proba(X[:1])[0], atol=1e-12)
    never = suffit.GaussianNB(priors=[0, 1], calibrate="isotonic").fit(X, y)
    np.testing.assert_array_equal(never.predict_proba(X), np.repeat([[0.0, 1.0]], 300, axis=0))
    with pytest.raises(ValueError, match="isotonic"):
        suffit.GDA(tie=1.0, calibrate="isotonic").fit(X, y).to_sklearn()


def test_the_trial_of_a_calibration_can_be_shown_after_pickling():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    model = suffit.GaussianNB(calibrate="temperature").fit(rng.normal(size=(200, 3)) + y[:, None], y)
    assert "Trial" in repr(pickle.loads(pickle.dumps(model)).calibration_.trial)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["GaussianNB", "LDA", "QDA", "GenerativeClassifier"])
def test_a_weight_is_the_row_so_many_times_in_what_a_calibration_reports(name: str, method: str) -> None:
    X, y = dependent(6, 150)
    X, times = X[:, :3], np.random.default_rng(0).integers(1, 9, 150)
    make = getattr(suffit, name)
    weighed = make(calibrate=method).fit(X, y, sample_weight=times).calibration_
    repeated = make(calibrate=method).fit(np.repeat(X, times, axis=0), np.repeat(y, times)).calibration_
    for figure in ("power", "log_loss_before", "log_loss_after", "ece_before", "ece_after"):
        assert getattr(weighed, figure) == pytest.approx(getattr(repeated, figure), rel=1e-6), figure
    assert weighed.after.weight.sum() == pytest.approx(times.sum(), rel=1e-12)
    assert weighed.kept == repeated.kept


def test_folds_of_rows_of_any_weight() -> None:
    """Every row has its weight, and one that weighs no more than one row is in one fold."""
    rng = np.random.default_rng(0)
    weights = np.concatenate([rng.uniform(0, 1.4, 30), [1e-300, 1e150, 2.4, 17.0]])
    held = in_folds(weights, rng.permutation(len(weights)))
    assert held.shape == (5, 34)
    np.testing.assert_allclose(held.sum(axis=0), weights, rtol=1e-12)
    assert ((held > 0).sum(axis=0)[:31] == 1).all()
    assert (held > 0).sum(axis=1).min() >= 6
