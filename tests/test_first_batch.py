"""What a first batch settles, what it is too small for, and weights that are shares."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier

import suffit
from suffit.estimators.tables import FEW_FIRST


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


def test_boosting_takes_a_model_with_a_shared_covariance():
    X, y = load_iris(return_X_y=True)
    assert AdaBoostClassifier(suffit.LinearDiscriminantAnalysis()).fit(X, y).score(X, y) > 0.95
