"""Settings are taken when rows are learned; what comes after a fit reads those, not what set_params has made of it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import LedoitWolf

import suffit

RNG = np.random.default_rng(0)
Y = np.arange(90) % 3
X = RNG.poisson(2.0 + Y[:, None], size=(90, 3)).astype(np.float64)
PRIOR = [0.8, 0.1, 0.1]
LATER = {  # estimator, and settings that would change the answer
    "GaussianNB": (suffit.GaussianNB, {"priors": PRIOR, "prior_smoothing": 50.0, "floor": "largest"}),
    "LDA": (suffit.LDA, {"priors": PRIOR, "solver": "eigen", "tol": 0.9, "n_components": 1, "store_covariance": True}),
    "LDA by eigenvectors": (lambda: suffit.LDA(solver="eigen"), {"priors": PRIOR, "solver": "svd"}),
    "QDA": (suffit.QDA, {"priors": PRIOR, "store_covariance": True, "reg_param": 0.5}),
    "GDA": (suffit.GDA, {"priors": PRIOR, "tie": 1.0, "prior_smoothing": 50.0}),
    "NaiveBayes": (lambda: suffit.NaiveBayes("poisson"), {"priors": PRIOR, "prior_smoothing": 50.0}),
    "MultinomialNB": (suffit.MultinomialNB, {"class_prior": PRIOR, "fit_prior": False, "prior_smoothing": 50.0}),
    "BernoulliNB": (suffit.BernoulliNB, {"class_prior": PRIOR, "fit_prior": False, "binarize": 2.0}),
    "GenerativeClassifier": (suffit.GenerativeClassifier, {"priors": PRIOR, "prior_smoothing": 50.0}),
}
CHANGES = {
    "nothing": lambda model: model,
    "forget": lambda model: model.forget(X[:7], Y[:7]),
    "decay": lambda model: model.decay(0.5),
    "merge": lambda model: model + model,
    "recalibrate": lambda model: model.recalibrate(X, Y),
    "the shares again": lambda model: model.with_prior(PRIOR).with_prior(None),
}


def answers(model) -> list[np.ndarray]:
    found = [model.predict_proba(X), model.predict_joint_log_proba(X)]
    for name in ("coef_", "intercept_", "covariance_", "scalings_", "epsilon_"):
        found += [np.asarray(getattr(model, name))] if hasattr(model, name) else []
    return found + ([model.transform(X)] if hasattr(model, "transform") else [])


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", LATER)
def test_a_setting_changed_after_a_fit_waits_for_rows_to_be_learned(name, change):
    make, settings = LATER[name]
    expected = answers(CHANGES[change](make().fit(X, Y)))
    got = answers(CHANGES[change](make().fit(X, Y).set_params(**settings)))
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", LATER)
def test_leave_one_out_is_under_the_settings_of_the_fit(name):
    make, settings = LATER[name]
    got = make().fit(X, Y).set_params(**settings).loo_predict_proba(X, Y)
    np.testing.assert_array_equal(got, make().fit(X, Y).loo_predict_proba(X, Y))


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, lambda: suffit.NaiveBayes("poisson")])
def test_a_batch_takes_the_settings_as_they_are_by_then(make):
    later = make().fit(X[:40], Y[:40]).set_params(priors=PRIOR).partial_fit(X[40:], Y[40:])
    expected = make().set_params(priors=PRIOR).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(later.predict_proba(X), expected, atol=1e-12)
    waiting = make().fit(X[:40], Y[:40])
    for i in range(40, 50):  # small batches wait to be added up: they came under the old prior
        waiting.partial_fit(X[i : i + 1], Y[i : i + 1])
    waiting.set_params(priors=PRIOR)
    np.testing.assert_allclose(waiting.predict_proba(X), make().fit(X[:50], Y[:50]).predict_proba(X), atol=1e-12)


def test_batches_that_wait_are_added_up_before_a_prior_for_more_classes_is_read():
    model = suffit.GaussianNB().fit(X[Y < 2], Y[Y < 2])
    model.partial_fit(X[:2], Y[:2]).set_params(priors=PRIOR).partial_fit(X[Y == 2], Y[Y == 2])
    np.testing.assert_allclose(model.class_prior_, PRIOR)


def test_a_fit_that_fails_leaves_the_settings_of_the_one_before():
    model = suffit.GaussianNB().fit(X, Y)
    expected = suffit.GaussianNB().fit(X, Y).decay(0.5).predict_proba(X)
    with pytest.raises(ValueError, match="priors"):
        model.set_params(priors=[0.5, 0.5]).fit(X, Y)
    np.testing.assert_array_equal(model.decay(0.5).predict_proba(X), expected)


def test_how_documents_are_read_stays_as_it_was():
    documents = [[0, 1], [2], [1, 1]]
    model = suffit.MultinomialNB(input="sequences").fit(documents, [0, 1, 1])
    expected = model.predict_proba(documents)
    np.testing.assert_array_equal(model.set_params(input="counts").predict_proba(documents), expected)


@pytest.mark.parametrize("make", [suffit.LDA, suffit.QDA])
def test_no_rows_are_added_to_the_covariances_of_an_estimator(make):
    model = make(solver="eigen", covariance_estimator=LedoitWolf()).fit(X, Y).set_params(covariance_estimator=None)
    with pytest.raises(ValueError, match="needs all rows at once"):
        model.partial_fit(X, Y)
    for take_out in (model.loo_predict_proba, model.recalibrate):
        with pytest.raises(ValueError, match="rows cannot be removed"):
            take_out(X[:5], Y[:5])
