"""Settings are taken when rows are learned; what comes after a fit reads those, not what set_params has made of it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier

import suffit
from cases import assert_same, two_classes
from suffit.estimators.tables import FEW_FIRST

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


def test_settings_changed_before_a_forget_hold_for_the_next_batch():
    """Forgetting took the new settings for those of the model, and the next batch came under the old ones."""
    X, y = two_classes(60)
    model = suffit.GDA().fit(X, y).set_params(tie=0.5).forget(X[:3], y[:3]).partial_fit(X[:3], y[:3])
    assert_same(model, suffit.GDA(tie=0.5).fit(X, y), rtol=1e-10)


def test_every_fit_chooses_its_settings_anew():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 3)) + 0.8 * y[:, None]
    z = rng.integers(0, 3, 150)
    Z = rng.normal(size=(150, 3)) * np.array([0.3, 1.0, 3.0])[z][:, None]
    for make in (
        lambda: suffit.GDA("auto", tie="loo"),
        lambda: suffit.GDA(tie="loo", shrinkage="loo"),
        lambda: suffit.LDA(solver="lsqr", shrinkage="loo"),
    ):
        np.testing.assert_array_equal(make().fit(X, y).fit(Z, z).predict_proba(Z), make().fit(Z, z).predict_proba(Z))


def test_what_becomes_of_unknown_categories_is_set_by_fit():
    table, y = {"s": ["a", "b"] * 20}, np.repeat([0, 1], 20)
    model = suffit.GenerativeClassifier().fit(table, y)
    before = model.predict_proba({"s": ["c"]})
    model.set_params(unknown="error")
    np.testing.assert_array_equal(model.predict_proba({"s": ["c"]}), before)  # as in scikit-learn, until the next fit
    with pytest.raises(suffit.InputError, match=r"unknown has changed from 'ignore' to 'error'.*use fit"):
        model.partial_fit(table, y)
    np.testing.assert_array_equal(model.predict_proba({"s": ["c"]}), before)
    with pytest.raises(suffit.InputError, match="a category never seen"):
        model.fit(table, y).predict_proba({"s": ["c"]})


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # the first batch is small, and has not all values
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("first", [5, 20, FEW_FIRST - 1])
def test_a_small_first_batch_of_a_table_leaves_columns_independent(load, first):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(X))
    X, y = X[order], y[order]
    model = suffit.GenerativeClassifier()
    with warnings.catch_warnings(record=True) as said:  # columns that do not vary among few rows are left out, too
        warnings.simplefilter("always")
        model.partial_fit(X[:first], y[:first]).partial_fit(X[first:], y[first:])
    assert any(f"a first batch of {first} rows is too small" in str(w.message) for w in said)
    assert model.selection_ is None
    assert model.score(X, y) > 0.8


def test_a_first_batch_that_is_large_enough_chooses_a_structure():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batches = suffit.GenerativeClassifier().partial_fit(X[:FEW_FIRST], y[:FEW_FIRST])
        suffit.GenerativeClassifier(structure="naive").partial_fit(X[:5], y[:5])  # nothing to choose
        suffit.GenerativeClassifier().fit(X[:20], y[:20])  # nothing comes later
    assert batches.selection_ is not None


OPEN = [
    suffit.BernoulliNB(alpha="loo"),
    suffit.MultinomialNB(alpha="loo"),
    suffit.CategoricalNB(alpha="loo"),
    suffit.GaussianDiscriminantAnalysis(tie="loo"),
    suffit.GaussianDiscriminantAnalysis(shrinkage="loo"),
    suffit.GaussianDiscriminantAnalysis("auto", tie="loo", shrinkage="loo"),
]


@pytest.mark.parametrize("model", OPEN, ids=repr)
def test_settings_are_not_chosen_by_rows_of_one_class(model):
    X, y = load_wine(return_X_y=True)
    X = (np.median(X, axis=0) < X).astype(np.int64)
    with pytest.raises(ValueError, match=r"all rows belong to one class \(0\); start with rows of at least two"):
        model.partial_fit(X[y == 0], y[y == 0])
    assert not hasattr(model, "classes_")


def test_a_new_class_says_that_the_calibration_is_gone():
    X, y = load_wine(return_X_y=True)
    model = suffit.GaussianNB(calibrate="temperature").fit(X[y < 2], y[y < 2])
    assert model.calibration_ is not None
    with pytest.warns(UserWarning, match="the calibration.* is gone; recalibrate"):
        model.partial_fit(X[y == 2], y[y == 2]).predict(X)
    assert model.calibration_ is None
    assert model.recalibrate(X, y).calibration_ is not None


SHARED = [
    *(suffit.LinearDiscriminantAnalysis(solver=solver) for solver in ("svd", "lsqr", "eigen")),
    suffit.GaussianDiscriminantAnalysis(tie=1.0),
]


@pytest.mark.parametrize("model", SHARED, ids=repr)
@pytest.mark.parametrize("total", [0.5, 1.0, 3.0, 4.0])
def test_weights_that_are_shares_change_no_probability(model, total):
    X, y = load_iris(return_X_y=True)
    expected = model.fit(X, y).predict_proba(X)
    found = model.fit(X, y, sample_weight=np.full(len(y), total / len(y))).predict_proba(X)
    assert_allclose(found, expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"n_samples=3, 3 classes"):
        model.fit(X[[0, 60, 120]], y[[0, 60, 120]], sample_weight=np.full(3, 0.1))


@pytest.mark.parametrize("structure", ["naive", "auto", "densities"])
@pytest.mark.parametrize("weight", [1 / 150, 1e-9, 1e-300])
def test_weights_that_are_shares_leave_a_table_its_model(structure, weight):
    """A prior worth one row is worth one of these rows, of a pool and of independent columns."""
    X, y = load_iris(return_X_y=True)
    expected = suffit.GenerativeClassifier(structure=structure).fit(X, y).predict_proba(X)
    found = suffit.GenerativeClassifier(structure=structure).fit(X, y, sample_weight=np.full(150, weight))
    assert_allclose(found.predict_proba(X), expected, atol=1e-9 if weight > 1e-300 else 0.02)


def test_boosting_takes_a_model_with_a_shared_covariance():
    X, y = load_iris(return_X_y=True)
    assert AdaBoostClassifier(suffit.LinearDiscriminantAnalysis()).fit(X, y).score(X, y) > 0.95
