"""Cross-validation from sums equals refits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_predict

import suffit
from cases import CASES, Case, data


def test_cross_val_trains_on_what_a_split_says():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) + 0.8 * y[:, None]
    train, test = np.arange(20), np.arange(100, 150)
    found = suffit.GaussianNB().cross_val(X, y, cv=[(train, test)])
    expected = suffit.GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
    np.testing.assert_allclose(found.proba[test], expected, atol=1e-9)
    assert np.isnan(found.proba[:100]).all()
    with pytest.raises(ValueError, match="tests row 100 more than once"):
        suffit.GaussianNB().cross_val(X, y, cv=[(train, test), (train, test)])
    with pytest.raises(ValueError, match="without rows to train on"):
        suffit.GaussianNB().cross_val(X, y, cv=[(np.arange(0), test)])


@pytest.mark.parametrize("name", CASES)
def test_cross_val_is_what_scikit_learn_computes(name: str) -> None:
    case: Case = CASES[name]
    X, y = data(case, 89, 90)
    model = case.make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for cv in (3, KFold(4, shuffle=True, random_state=1)):
            expected = cross_val_predict(case.make(), X, y, cv=cv, method="predict_proba")
            ours = model.cross_val(X, y, cv)
            np.testing.assert_allclose(ours.proba, expected, atol=1e-9)
    classes = np.unique(y)
    assert ours.classes.tolist() == classes.tolist()
    assert ours.accuracy == pytest.approx((classes[expected.argmax(axis=1)] == y).mean())
    told = expected[np.arange(90), np.searchsorted(classes, y)]
    assert ours.log_loss == pytest.approx(-np.log(told.clip(1e-15)).mean(), rel=1e-8)
    assert not hasattr(model, "classes_")  # the estimator itself stays as it is


def test_cross_val_with_weights_splits_and_rows_in_no_fold() -> None:
    X, y = data(CASES["GaussianNB"], 97, 60)
    w = np.random.default_rng(3).choice([0.5, 1.0, 2.0], size=60)
    splits = [(np.arange(20, 60), np.arange(20)), (np.r_[0:20, 40:60], np.arange(20, 40))]
    ours = suffit.GaussianNB().cross_val(X, y, splits, sample_weight=w)
    assert ours.fold.tolist() == [0] * 20 + [1] * 20 + [-1] * 20
    assert np.isnan(ours.proba[40:]).all()
    for learn, judge in splits:
        one = suffit.GaussianNB().fit(X[learn], y[learn], sample_weight=w[learn])
        np.testing.assert_allclose(ours.proba[judge], one.predict_proba(X[judge]), atol=1e-9)
    assert ours.accuracy == pytest.approx(
        np.average(np.unique(y)[ours.proba[:40].argmax(axis=1)] == y[:40], weights=w[:40])
    )


def test_cross_val_where_a_class_is_in_one_fold_only() -> None:
    X, y = data(CASES["GaussianNB"], 101, 60)
    y = y.astype("<U4")
    y[:2] = "zoo"
    ours = suffit.GaussianNB().cross_val(X, y, KFold(6))
    assert np.isfinite(ours.proba).all()
    assert (ours.proba[:2, -1] == 0).all()
