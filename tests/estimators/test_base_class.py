"""What all estimators share: methods that say what they take, return and change, and getters that change nothing."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest

import suffit
from suffit.data.errors import NotLearnedError

ESTIMATORS = [
    suffit.BernoulliNB,
    suffit.CategoricalNB,
    suffit.ComplementNB,
    suffit.GaussianNB,
    suffit.GenerativeClassifier,
    suffit.LinearDiscriminantAnalysis,
    suffit.MultinomialNB,
    suffit.NaiveBayes,
    suffit.PoissonNB,
    suffit.QuadraticDiscriminantAnalysis,
    suffit.GaussianDiscriminantAnalysis,
]
IN_PLACE = ("fit", "partial_fit", "forget", "decay", "recalibrate")
ANOTHER = ("merge", "with_prior", "adapt_prior")


def own_methods(make):
    for name, method in inspect.getmembers(make, inspect.isfunction):
        if not name.startswith("_") and method.__module__.startswith("suffit"):
            yield name, method


@pytest.mark.parametrize("make", ESTIMATORS)
def test_every_public_method_says_what_it_takes_and_returns(make):
    for name, method in own_methods(make):
        text = inspect.getdoc(method)
        assert "Returns\n-------" in text, name
        given = [p for p in inspect.signature(method).parameters if p != "self"]
        assert not given or "Parameters\n----------" in text, name
        for p in given:
            assert p in text.split("Parameters\n----------")[1].split("Returns\n-------")[0], (name, p)


@pytest.mark.parametrize("make", ESTIMATORS)
def test_verbs_say_first_whether_they_change_the_model_or_return_another(make):
    for name, method in own_methods(make):
        first = inspect.getdoc(method).split("\n\n")[0]
        assert ("in place" in first) == (name in IN_PLACE), name
        assert ("Return another estimator" in first) == (name in ANOTHER), name


@pytest.mark.parametrize("make", ESTIMATORS)
def test_an_argument_that_is_not_given_is_asked_for_without_internal_names(make):
    for call in ("fit", "predict_proba", "forget"):
        with pytest.raises(TypeError) as caught:
            getattr(make(), call)()
        said = str(caught.value).split("(")[0]
        assert said in (call, f"{make.__name__}.{call}")


def test_reading_changes_nothing_and_batches_wait_until_the_model_is_asked_for():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    model = suffit.GaussianNB().fit(X[:20], y[:20])
    for i in range(20, 60, 4):
        model.partial_fit(X[i : i + 4], y[i : i + 4])
    state = model._fit
    assert state.known.counts["n"].sum() == 20  # none of them is part of it yet
    twin, kept = copy.copy(model), pickle.loads(pickle.dumps(model))
    assert model._fitted is state
    assert model.class_count_.sum() == 60
    assert model._fit is state
    twin.partial_fit(X[:4], y[:4])  # a copy learns on its own
    model.partial_fit(X[:2], y[:2])
    assert [m.class_count_.sum() for m in (model, twin, kept)] == [62, 64, 60]


def test_a_class_that_waits_ends_a_prior_that_was_given_and_no_calibration_waits():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    model = suffit.GaussianNB().fit(X, y).with_prior([0.9, 0.1])
    model.partial_fit(X[:2], y[:2])
    np.testing.assert_allclose(model.class_prior_, [0.9, 0.1])
    model.partial_fit(X[:2], np.array([2, 2]))
    np.testing.assert_allclose(model.class_prior_, np.array([31, 31, 2]) / 64)
    calibrated = suffit.GaussianNB(calibrate="temperature").fit(X, y)
    with pytest.warns(suffit.DataWarning, match="the calibration, of"):
        calibrated.partial_fit(X[:2], np.array([2, 2]))


def test_errors_of_rows_that_were_never_learned_have_their_own_words():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])
    model = suffit.GaussianNB().fit(X, y)
    with pytest.raises(NotLearnedError, match=r"^forget: .*to be forgotten; forget only rows that were learned"):
        model.forget(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    with pytest.raises(
        NotLearnedError, match=r"^leave-one-out: .*are given; give only rows that were learned"
    ) as caught:
        model.loo_predict_proba(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    table = suffit.GenerativeClassifier(structure="naive").fit(pd.DataFrame({"x": [0.0, 1.5, 2.0, 3.0]}), y)
    for call, who in ((table.impute, "impute"), (lambda X, y: table.profile([y]), "profile")):
        with pytest.raises(ValueError, match=f"^{who}: no class 'c'"):
            call(pd.DataFrame({"x": [np.nan]}), "c")


def test_a_row_of_a_table_that_is_refused_is_named_by_its_place_in_the_table():
    rng = np.random.default_rng(2)
    n = 70_000  # more than are read at once
    table = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    y = rng.integers(0, 2, n)
    model = suffit.GenerativeClassifier(structure="naive").fit(table[:500], y[:500])
    table.loc[n - 5, "b"] = np.inf
    for call in (model.predict_proba, model.score_samples, model.predict):
        with pytest.raises(suffit.InputError, match=f"'b'.*row {n - 5}"):
            call(table)
