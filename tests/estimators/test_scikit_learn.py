"""scikit-learn's conventions: its own checks; pipelines, searches, frames, labels, containers, pickles."""

from __future__ import annotations

import copy
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.covariance import OAS
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import suffit
from cases import EveryColumn
from every_estimator import COLUMNS, DEFAULTS, READERS, VARIANTS, X, Y, every, make, same
from suffit import (
    GDA,
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    PoissonNB,
    VonMises,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]

# --- scikit-learn's own checks, once for each public class


@parametrize_with_checks(list(DEFAULTS.values()))
def test_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


OF_THE_MODEL = {  # the checks whose answer depends on what was fitted; all others look at the class
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit2d_1sample",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
}
# the checks use negative values; as in scikit-learn, "lsqr" has no transform and an estimator bars weights
NOT_CHECKED = [*(f"NaiveBayes-{k}" for k in ("poisson", "exponential", "geometric", "gamma", "beta", "lognormal"))]
NOT_CHECKED += ["LDA-lsqr", "LDA-estimator", "NaiveBayes-bernoulli"]
WITH_SETTINGS = [
    *(e for k, e in VARIANTS.items() if k not in {*DEFAULTS, *NOT_CHECKED}),
    GenerativeClassifier({EveryColumn(): "gaussian"}),
    GaussianNB(calibrate="temperature"),
    GaussianNB(calibrate="isotonic"),
    MultinomialNB(alpha="loo", calibrate="isotonic"),
    MultinomialNB(alpha="evidence"),
    ComplementNB(alpha="loo"),
    BernoulliNB(alpha="evidence", calibrate="temperature"),
    CategoricalNB(alpha="loo"),
    PoissonNB(alpha="loo"),
    QDA(calibrate="isotonic"),
    GDA(tie="loo", shrinkage="loo"),
    GDA("auto", tie="loo"),
    GenerativeClassifier(select="loo", calibrate="temperature"),
]


@pytest.mark.parametrize("estimator", WITH_SETTINGS, ids=str)
def test_checks_of_what_was_fitted_under_other_settings(estimator):
    checks = [(e, c) for e, c in estimator_checks_generator(estimator) if c.func.__name__ in OF_THE_MODEL]
    assert len(checks) > 6
    for one, check in checks:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(one)


def test_every_public_estimator_is_checked():
    public = {getattr(suffit, k) for k in suffit.__all__}
    public = {k for k in public if hasattr(k, "predict_proba") and hasattr(k, "fit")}
    public -= {suffit.Decision, suffit.TextNB}  # needs an estimator: test_decision.py; takes texts: test_texts.py
    assert {type(e) for e in DEFAULTS.values()} == public
    assert all(is_classifier(e) for e in VARIANTS.values())


# --- parameters, copies, pickles


@every
def test_parameters_and_clone(name):
    est = VARIANTS[name]
    params = est.get_params()
    shallow = est.get_params(deep=False)
    assert type(est)(**shallow).get_params() == params
    fitted = make(name).fit(X, Y)
    assert fitted.get_params().keys() == params.keys()
    copied = clone(fitted)
    assert not copied.__sklearn_is_fitted__()
    assert not [k for k in vars(copied) if k not in params]
    same(copied.fit(X, Y), fitted)
    assert est.set_params(prior_smoothing=0.0) is est
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        est.set_params(nonsense=1)


@every
def test_pickle_joblib_and_copies_answer_alike(name, tmp_path):
    fitted = make(name).fit(pd.DataFrame(X, columns=COLUMNS), Y)
    frame = pd.DataFrame(X, columns=COLUMNS)
    joblib.dump(fitted, tmp_path / "model")
    back = [
        *(pickle.loads(pickle.dumps(fitted, protocol=k)) for k in range(2, pickle.HIGHEST_PROTOCOL + 1)),
        joblib.load(tmp_path / "model"),
        copy.copy(fitted),
        copy.deepcopy(fitted),
    ]
    for other in back:
        same(fitted, other, frame)
        assert other.get_params().keys() == fitted.get_params().keys()
        assert other.feature_names_in_.tolist() == COLUMNS
        assert other.classes_.tolist() == fitted.classes_.tolist()
    assert pickle.dumps(back[0]) == pickle.dumps(pickle.loads(pickle.dumps(back[0])))
    if name != "LDA-estimator":
        back[0].partial_fit(frame[:5], Y[:5]).forget(frame[:5], Y[:5])
        same(fitted, back[0], frame, exact=False)


@every
def test_repr_and_html(name):
    for est in (make(name), make(name).fit(X, Y)):
        assert repr(est).startswith(type(est).__name__ + "(")
        assert type(est).__name__ in estimator_html_repr(est)
        assert type(est).__name__ in est._repr_html_()
    text = repr(make(name))
    assert repr(eval(text, {**vars(suffit), **{k: getattr(suffit, k) for k in suffit.__all__}, "OAS": OAS})) == text


@pytest.mark.parametrize("make_model", [LDA, QDA])
def test_a_covariance_estimator_stays_as_it_was_given(make_model):
    given = OAS()
    model = make_model(solver="eigen", covariance_estimator=given).fit(X, Y)
    assert model.covariance_estimator is given
    assert vars(given) == vars(OAS())


# --- pipelines, searches, ensembles


@pytest.mark.parametrize("name", DEFAULTS)
def test_pipelines_and_cross_validation(name):
    piped = make_pipeline(MinMaxScaler((0.1, 0.9)), make(name)).fit(X, Y)
    scaled = MinMaxScaler((0.1, 0.9)).fit(X).transform(X)
    np.testing.assert_array_equal(piped.predict_proba(X), make(name).fit(scaled, Y).predict_proba(scaled))
    assert piped.classes_.tolist() == ["eggs", "ham", "spam"]
    p = cross_val_predict(make(name), X, Y, cv=4, method="predict_proba")
    assert p.shape == (60, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (cross_val_score(make(name), X, Y, cv=3) > 0.34).all()


GRIDS = {
    "GaussianNB": {"var_smoothing": [1e-9, 1e-2], "prior_smoothing": [0, 1.0], "priors": [None, "uniform"]},
    "BernoulliNB": {"binarize": [0.3, 0.5], "alpha": [0, 1.0]},
    "MultinomialNB": {"alpha": [0, 0.5, 1.0], "fit_prior": [True, False]},
    "ComplementNB": {"norm": [True, False]},
    "CategoricalNB": {"alpha": [0, 1.0], "min_categories": [None, 3]},
    "PoissonNB": {"alpha": [0, 1.0], "prior_smoothing": [0, 1.0]},
    "NaiveBayes": {"family": ["gaussian", "gamma", VonMises(period=1.0)]},
    "GDA": {"covariance": ["full", "diagonal"], "tie": [0, 0.5, 1], "shrinkage": [None, 0.2]},
    "LDA": {"solver": ["svd", "lsqr", "eigen"], "tol": [1e-4, 1e-2]},
    "QDA": {"reg_param": [0, 0.1, 0.5]},
    "GenerativeClassifier": {"missing": ["ignore", "informative"], "prior_smoothing": [0, 1.0]},
}


@pytest.mark.parametrize("name", GRIDS)
def test_grid_search(name):
    search = GridSearchCV(make(name), GRIDS[name], cv=3, error_score="raise").fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = make(name, **search.best_params_).fit(X, Y)
    same(search.best_estimator_, best)
    piped = Pipeline([("scale", MinMaxScaler((0.1, 0.9))), ("model", make(name))])
    grid = {f"model__{k}": v[:2] for k, v in GRIDS[name].items()}
    assert GridSearchCV(piped, grid, cv=2, error_score="raise", n_jobs=1).fit(X, Y).score(X, Y) > 0.4


@pytest.mark.parametrize("name", DEFAULTS)
def test_ensembles_and_calibration(name):
    votes = VotingClassifier([("it", make(name)), ("other", LogisticRegression())], voting="soft").fit(X, Y)
    expected = (make(name).fit(X, CODES_OF_Y).predict_proba(X) + votes.estimators_[1].predict_proba(X)) / 2
    np.testing.assert_allclose(votes.predict_proba(X), expected)
    calibrated = CalibratedClassifierCV(make(name), cv=3).fit(X, Y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    assert calibrated.score(X, Y) > 0.4
    rest = OneVsRestClassifier(make(name)).fit(X, Y)
    assert rest.predict_proba(X).shape == (60, 3)


CODES_OF_Y = np.unique(Y, return_inverse=True)[1]


def test_words_through_a_vectorizer():
    texts, labels = (
        ["spam and eggs", "eggs and ham", "cheap pills now", "pills now now"],
        ["food", "food", "ad", "ad"],
    )
    for model in (MultinomialNB(), ComplementNB(), BernoulliNB()):
        piped = make_pipeline(CountVectorizer(), model).fit(texts, labels)
        assert piped.predict(["eggs", "pills pills"]).tolist() == ["food", "ad"]


# --- transform


# --- metadata


@pytest.mark.parametrize("name", DEFAULTS)
def test_weights_are_routed_through_a_pipeline(name):
    weight = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    scaled = MinMaxScaler((0.1, 0.9)).fit(X).transform(X)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = make(name).set_fit_request(sample_weight=True)
        piped = make_pipeline(MinMaxScaler((0.1, 0.9)), asks).fit(X, Y, sample_weight=weight)
        expected = make(name).fit(scaled, Y, sample_weight=weight)
        np.testing.assert_array_equal(piped.predict_proba(X), expected.predict_proba(scaled))
        assert not np.array_equal(piped.predict_proba(X), make(name).fit(scaled, Y).predict_proba(scaled))
        with pytest.raises(ValueError, match=r"sample_weight.*not explicitly set|not requested"):
            make_pipeline(MinMaxScaler(), make(name)).fit(X, Y, sample_weight=weight)
        search = GridSearchCV(
            make(name).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
            {"prior_smoothing": [0.0, 1.0]},
            cv=2,
            error_score="raise",
        )
        assert search.fit(X, Y, sample_weight=weight).best_score_ > 0.3
        requests = make(name).set_partial_fit_request(sample_weight=True, classes=False).get_metadata_routing()
        assert requests.partial_fit.requests == {"sample_weight": True, "classes": False}


def test_weights_are_refused_beside_a_covariance_estimator():
    with pytest.raises(ValueError, match="covariance_estimator does not support sample_weight"):
        make("LDA-estimator").fit(X, Y, sample_weight=np.ones(60))


# --- feature names


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", [k for k in READERS if k != "GenerativeClassifier"])  # takes columns by name
def test_feature_names(name, library):
    frame = library.DataFrame(dict(zip(COLUMNS, X.T, strict=True)))
    est = make(name).fit(frame, Y)
    assert est.feature_names_in_.tolist() == COLUMNS
    assert est.n_features_in_ == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = est.predict_proba(frame)
    np.testing.assert_array_equal(p, make(name).fit(X, Y).predict_proba(X))
    for method in ("predict", "predict_proba", "score_samples"):
        with pytest.raises(ValueError, match="must be in the same order"):
            getattr(est, method)(frame[COLUMNS[::-1]])
        with pytest.raises(ValueError, match=r"Feature names unseen at fit time:\n- z"):
            getattr(est, method)(frame.rename({"b": "z"}) if library is pl else frame.rename(columns={"b": "z"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(est.predict_proba(X), p)
    if name != "LDA-estimator":
        for method in ("partial_fit", "forget"):
            with pytest.raises(ValueError, match="must be in the same order"):
                getattr(est, method)(frame[COLUMNS[::-1]], Y)
        est.partial_fit(frame, library.Series(Y.tolist()))
        assert est.class_count_.tolist() == [40, 40, 40]
    est.fit(X, Y)
    assert not hasattr(est, "feature_names_in_")
    with pytest.warns(UserWarning, match="fitted without feature names"):
        est.predict(frame)


# --- labels


# --- containers of rows
