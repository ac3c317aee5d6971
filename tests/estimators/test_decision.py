"""Decision: deciding inside scikit-learn."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import suffit
from cases import two, two_classes
from suffit import (
    Decision,
    GaussianNB,
    GenerativeClassifier,
    InputError,
    mean_cost,
)


@pytest.mark.parametrize("settings", [{"novelty": 0.5}, {"threshold": {0: 0.9, 1: 0.9}}], ids=["novelty", "threshold"])
def test_a_score_of_rows_rejected_at_no_price_says_so(settings):
    X, y = two_classes(40)
    model = suffit.Decision(suffit.GaussianNB(), reject_label=-1, **settings).fit(X, y)
    rejected, (name,) = int(model.decide(X).rejected.sum()), settings
    with pytest.raises(ValueError, match=f"Decision.score: {name} rejects {rejected} of 40 rows.*reject_label=-1") as e:
        model.score(X, y)
    assert ("set reject" in str(e.value)) == (name == "novelty")  # thresholds and reject exclude each other
    score = make_scorer(suffit.mean_cost, greater_is_better=False, reject=0.5, reject_label=-1)
    decided = model.predict(X)
    assert score(model, X, y) == pytest.approx(-np.where(decided == -1, 0.5, decided != y).mean())


COST = {"ham": {"spam": 3.0}, "spam": {"ham": 1.0}}


@parametrize_with_checks([Decision(GaussianNB())])
def test_C8_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_C8_decision_predicts_what_the_estimator_decides():
    X, y = two()
    for setting in ({}, {"cost": COST}, {"reject": 0.2}, {"threshold": 0.9}, {"prior": [0.9, 0.1]}, {"novelty": 0.9}):
        wrapped = Decision(GaussianNB(), **setting).fit(X, y)
        direct = GaussianNB().fit(X, y).decide(X, **setting)
        np.testing.assert_array_equal(wrapped.predict(X), direct.labels)
        np.testing.assert_array_equal(wrapped.decide(X).expected_cost, direct.expected_cost)
    assert wrapped.n_features_in_ == 2
    assert wrapped.classes_.tolist() == ["ham", "spam"]
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert Decision(GaussianNB()).fit(frame, y).feature_names_in_.tolist() == ["a", "b"]


def test_C8_decision_around_other_classifiers():
    X, y = two()
    logistic = LogisticRegression().fit(X, y)
    wrapped = Decision(LogisticRegression(), cost=COST).fit(X, y)
    expected = logistic.predict_proba(X) @ np.array([[0, 3], [1, 0]])
    np.testing.assert_array_equal(wrapped.predict(X), wrapped.classes_[expected.argmin(axis=1)])
    # new priors: as if re-weighted, through the shares that fit saw
    weight = np.where(y == "spam", 3.0, 1.0)
    ours = Decision(make_pipeline(StandardScaler(), suffit.LDA()), prior=[0.8, 0.2])
    np.testing.assert_allclose(
        ours.fit(X, y).predict_proba(X), suffit.LDA().fit(X, y).with_prior([0.8, 0.2]).predict_proba(X), rtol=1e-8
    )
    shares = Decision(LogisticRegression(), prior="uniform").fit(X, y, sample_weight=weight).class_share_
    np.testing.assert_allclose(shares, np.bincount(y == "spam", weights=weight) / weight.sum())
    with pytest.raises(InputError, match="LogisticRegression has no novelty"):
        Decision(LogisticRegression(), novelty=0.9).fit(X, y).predict(X)
    with pytest.raises(ValueError, match="predict_proba"):
        Decision(StandardScaler()).fit(X, y)


def test_C8_fitted_estimators_are_used_as_they_are():
    X, y = two()
    fitted = GaussianNB().fit(X, y)
    at_once = Decision(fitted, cost=COST)
    check_is_fitted(at_once)
    np.testing.assert_array_equal(at_once.predict(X), fitted.decide(X, COST).labels)
    frozen = Decision(FrozenEstimator(fitted), cost=COST, prior=[0.3, 0.7]).fit(X[:10], y[:10])
    np.testing.assert_array_equal(frozen.predict(X), fitted.decide(X, COST, prior=[0.3, 0.7]).labels)
    logistic = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="class shares behind the posteriors of LogisticRegression are not known"):
        Decision(logistic, prior="uniform").predict(X)
    again = Decision(FrozenEstimator(logistic), prior="uniform").fit(X, y)
    np.testing.assert_array_equal(
        again.predict(X), Decision(LogisticRegression(), prior="uniform").fit(X, y).predict(X)
    )
    with pytest.raises(InputError, match="no rows of class 'spam'"):
        Decision(FrozenEstimator(logistic), prior="uniform").fit(X[y == "ham"], y[y == "ham"])
    with pytest.raises(NotFittedError, match="This Decision instance is not fitted"):
        Decision(GaussianNB()).predict(X)


def test_C8_a_refused_fit_leaves_the_old_one():
    X, y = two()
    wrapped = Decision(GaussianNB(), cost=COST).fit(X, y)
    before = wrapped.predict(X)
    wrapped.set_params(cost=np.ones((3, 3)))
    old = wrapped.estimator_
    with pytest.raises(ValueError, match="cost has shape"):
        wrapped.fit(X[:50], y[:50])
    assert wrapped.estimator_ is old
    np.testing.assert_array_equal(wrapped.set_params(cost=COST).predict(X), before)


def test_C8_pipelines_searches_and_cross_validation():
    X, y = two(1500, seed=3)
    dear = {"ham": {"spam": 10.0}, "spam": {"ham": 1.0}}
    score = make_scorer(mean_cost, greater_is_better=False, cost=dear, reject=0.3, reject_label="?")
    plain = cross_val_score(make_pipeline(StandardScaler(), GaussianNB()), X, y, scoring=score)
    careful = make_pipeline(StandardScaler(), Decision(GaussianNB(), cost=dear, reject=0.3, reject_label="?"))
    assert cross_val_score(careful, X, y, scoring=score).mean() > plain.mean()
    assert set(cross_val_predict(careful, X, y)) == {"ham", "spam", "?"}
    search = GridSearchCV(
        Decision(GaussianNB(), reject_label="?"),
        {"cost": [None, dear], "reject": [None, 0.3, 0.45], "estimator__var_smoothing": [1e-9, 1e-2]},
        scoring=score,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a reject cost that rejects no row
        search.fit(X, y)
    assert search.best_params_["cost"] == dear
    assert search.best_params_["reject"] == 0.3
    assert "estimator__var_smoothing" in search.best_params_
    fitted = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_C8_the_score_is_minus_the_mean_cost():
    X, y = two()
    plain = Decision(GaussianNB()).fit(X, y)
    assert plain.score(X, y) == pytest.approx(plain.estimator_.score(X, y) - 1)
    by_place = Decision(GaussianNB(), cost=[[0, 3], [1, 0]], reject=0.3).fit(X, y)
    decided = by_place.decide(X)
    named = Decision(GaussianNB(), cost=COST, reject=0.3).fit(X, y)
    expected = -np.where(decided.rejected, 0.3, np.where(decided.labels == y, 0, np.where(y == "ham", 3, 1)))
    weight = np.arange(len(y)) % 3
    for wrapped in (by_place, named):
        assert wrapped.score(X, y) == pytest.approx(expected.mean())
        assert wrapped.score(X, y, sample_weight=weight) == pytest.approx(np.average(expected, weights=weight))
    only = by_place.score(X[y == "ham"], y[y == "ham"])  # a fold without one of the classes
    assert only == pytest.approx(expected[y == "ham"].mean())


def test_C8_weights_are_routed():
    X, y = two()
    weight = np.where(y == "spam", 5.0, 1.0)
    direct = GaussianNB().fit(X, y, sample_weight=weight).predict(X)
    plain = Decision(GaussianNB()).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(plain.predict(X), direct)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, Decision(inner).set_fit_request(sample_weight=True))
        np.testing.assert_array_equal(routed.fit(X, y, sample_weight=weight).predict(X), direct)
        unasked = Decision(GaussianNB().set_fit_request(sample_weight=False)).set_fit_request(sample_weight=True)
        np.testing.assert_array_equal(
            unasked.fit(X, y, sample_weight=weight).predict(X), GaussianNB().fit(X, y).predict(X)
        )


def test_C8_tables_pass_through():
    X, y = two()
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")})
    table.loc[3, "a"] = np.nan
    wrapped = Decision(GenerativeClassifier(structure="naive"), cost=COST, reject=0.3).fit(table, y)
    direct = GenerativeClassifier(structure="naive").fit(table, y).decide(table, COST, reject=0.3)
    np.testing.assert_array_equal(wrapped.predict(table), direct.labels)
    tags = wrapped.__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.string
    assert not Decision(LogisticRegression()).__sklearn_tags__().input_tags.allow_nan
