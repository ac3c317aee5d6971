"""What somebody meets who tries things: messages that lead on, nothing that leaks, tables without anything to learn."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.class_weight import compute_sample_weight

import suffit
from suffit import (
    LDA,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    GenerativeClassifier,
    InputError,
    MultinomialNB,
    NaiveBayes,
)

TEXTS, SPAM = ["free money now", "hello you", "win win win", "how are you"], [1, 0, 1, 0]
X4, Y4 = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [3.0, 2.5]]), [0, 0, 1, 1]

# --- before a fit

ESTIMATORS = {
    "GaussianNB": GaussianNB,
    "BernoulliNB": BernoulliNB,
    "MultinomialNB": MultinomialNB,
    "ComplementNB": ComplementNB,
    "CategoricalNB": CategoricalNB,
    "PoissonNB": suffit.PoissonNB,
    "NaiveBayes": lambda: NaiveBayes("gamma"),
    "GDA": suffit.GDA,
    "LDA": LDA,
    "QDA": suffit.QDA,
    "GenerativeClassifier": GenerativeClassifier,
    "Decision": lambda: suffit.Decision(GaussianNB()),
}
LEARNING = {"fit", "partial_fit", "fit_transform", "cross_val"}
SETTINGS = {"get_params", "set_params", "set_output", "get_metadata_routing"}
ARGUMENTS = {"X": X4, "y": Y4, "factor": 0.5, "prior": "uniform", "path": "never-written.suffit"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_method_says_that_there_is_no_fit_yet(name):
    called = 0
    for method in dir(type(ESTIMATORS[name]())):
        if method.startswith("_") or method in LEARNING | SETTINGS or method.endswith("_request"):
            continue
        estimator = ESTIMATORS[name]()
        if isinstance(inspect.getattr_static(type(estimator), method), property):
            with pytest.raises(AttributeError):  # which NotFittedError is
                getattr(estimator, method)
            continue
        call = getattr(estimator, method, None)
        if callable(call):
            needed = [p.name for p in inspect.signature(call).parameters.values() if p.default is p.empty]
            with pytest.raises(NotFittedError):
                call(*(ARGUMENTS[a] for a in needed if a in ARGUMENTS))
            called += 1
    assert called > 3


# --- messages


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB, BernoulliNB])
@pytest.mark.parametrize("form", [list, np.array, pd.Series, pl.Series, np.vstack, lambda t: pd.DataFrame({"text": t})])
def test_texts_are_led_to_the_model_that_takes_them(make, form):
    with pytest.raises(InputError, match=r"'free money now'.*use TextNB\(\), which takes them as they are"):
        make().fit(form(TEXTS), SPAM)
    assert suffit.TextNB().fit(TEXTS, SPAM).score(form(TEXTS), SPAM) == 1.0
    assert make_pipeline(CountVectorizer(), make()).fit(TEXTS, SPAM).score(TEXTS, SPAM) == 1.0


@pytest.mark.parametrize("make", [GenerativeClassifier, GaussianNB, CategoricalNB, suffit.LDA, suffit.PoissonNB])
@pytest.mark.parametrize("form", [list, np.array, pd.Series])
def test_a_list_of_texts_is_led_to_the_model_that_takes_it_by_every_other(make, form):
    with pytest.raises(
        InputError, match=r"got 1D array.*list of texts, the first 'free money now'; for texts use TextNB"
    ):
        make().fit(form(TEXTS), SPAM)
    way_out = GenerativeClassifier if make is not CategoricalNB else make
    assert way_out().fit([[text] for text in TEXTS], SPAM).n_features_in_ == 1


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB])
def test_signed_hashes_are_led_to_the_setting_that_makes_counts(make):
    with pytest.raises(InputError, match="alternate_sign=False"):
        make().fit(HashingVectorizer(n_features=64).fit_transform(TEXTS), SPAM)
    counts = HashingVectorizer(n_features=64, alternate_sign=False)
    assert make_pipeline(counts, make()).fit(TEXTS, SPAM).score(TEXTS, SPAM) == 1.0


def test_a_missing_label_leads_to_what_each_model_can_do():
    y = ["a", None, "b", "b"]
    with pytest.raises(InputError, match=r"1 of 4 labels are missing, the first in row 1; drop these rows$"):
        GaussianNB().fit(X4, y)
    with pytest.raises(InputError, match="first in row 1; drop these rows, or set missing_target='drop'"):
        GenerativeClassifier().fit(X4, y)


@pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows, whose columns are a straight line
@pytest.mark.parametrize("make", [GaussianNB, GenerativeClassifier, LDA])
def test_class_weights_as_row_weights_lead_to_row_weights(make):
    for weight in ("balanced", {0: 1.0, 1: 2.0}):
        with pytest.raises(InputError, match=r"expected one number for each row, found .*compute_sample_weight"):
            make().fit(X4, Y4, sample_weight=weight)
    make().fit(X4, Y4, sample_weight=compute_sample_weight("balanced", Y4))


@pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows, whose columns are a straight line
@pytest.mark.parametrize("method", ["fit", "partial_fit", "forget"])
@pytest.mark.parametrize("make", [GaussianNB, GenerativeClassifier, LDA])
def test_labels_that_are_not_given_are_asked_for_by_the_class_the_user_knows(make, method):
    model = make() if method != "forget" else make().fit(X4, Y4)
    with pytest.raises(ValueError, match=f"{type(model).__name__} requires y to be passed"):
        getattr(model, method)(X4)


def test_settings_that_do_not_fit_the_sums_are_named_by_what_they_are():
    with pytest.raises(InputError, match=r"VonMises\(.*period=3.*VonMises\(.*period=4"):
        NaiveBayes(suffit.VonMises(period=3)).fit(X4, Y4) + NaiveBayes(suffit.VonMises(period=4)).fit(X4, Y4)
    model = NaiveBayes("gaussian").fit(X4 + 1, Y4).set_params(family="gamma")
    with pytest.raises(InputError, match="this model has gaussian sums and cannot take a gamma batch"):
        model.partial_fit(X4 + 1, Y4)


def test_other_messages_say_what_is_wrong_and_what_to_do():
    model = GaussianNB().fit(X4, Y4)
    with pytest.raises(ValueError, match=r"why\(\) takes one row, got 4; use explain\(X\)\.why\(i\)"):
        model.why(X4)
    with pytest.raises(ValueError, match="prior: class 1 is missing"):
        model.with_prior({0: 1.0})
    with pytest.raises(ValueError, match="prior: unknown class 7"):
        model.with_prior({0: 0.5, 1: 0.5, 7: 0.0})
    with pytest.raises(ValueError, match="y_true has 1 labels and y_pred 2; they must have the same length"):
        suffit.mean_cost([1], [1, 0])
    with pytest.raises(InputError, match=r"needs a class with at least two rows.*fit without calibrate"):
        GaussianNB(calibrate="temperature").fit(X4[:2], [0, 1])


# --- nothing leaks


def test_an_infinity_at_prediction_is_refused_and_nothing_leaks():
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=200), "b": rng.normal(size=200), "c": rng.choice(list("xyz"), 200)}
    y = np.where(X["a"] + rng.normal(size=200) > 0, "pos", "neg")
    model = GenerativeClassifier().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError, match="infinity: column 'a'"):
            model.predict_proba({"a": [np.inf, np.inf], "b": [0.0, 1.0], "c": ["x", "y"]})


@pytest.mark.parametrize("name", ["LDA", "GaussianNB", "QDA", "PoissonNB", "GenerativeClassifier"])
def test_a_nomogram_of_the_models_own_draws_says_nothing_of_them(name):
    pytest.importorskip("matplotlib")
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    frame = pd.DataFrame({"a": rng.poisson(2 + y), "b": rng.poisson(3 - y), "c": rng.poisson(2, 60)})
    model = ESTIMATORS[name]().fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.nomogram()


def test_dir_shows_public_names_alone():
    assert set(dir(suffit)) == {*suffit.__all__, "__version__"}
    assert all(hasattr(suffit, name) for name in dir(suffit))


# --- nothing to learn from
