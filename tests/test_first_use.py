"""What somebody meets who tries things: messages that lead on, nothing that leaks, tables without anything to learn."""

from __future__ import annotations

import inspect
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.model_selection import cross_val_score
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
ARGUMENTS = {"X": X4, "y": Y4, "factor": 0.5, "prior": "uniform"}


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
def test_texts_are_led_to_a_vectorizer(make, form):
    with pytest.raises(InputError, match=r"'free money now'.*make_pipeline\(CountVectorizer\(\), MultinomialNB\(\)\)"):
        make().fit(form(TEXTS), SPAM)
    assert make_pipeline(CountVectorizer(), make()).fit(TEXTS, SPAM).score(TEXTS, SPAM) == 1.0


def test_texts_given_to_other_models_are_named_too():
    with pytest.raises(InputError, match=r"list of texts, the first 'free money now'.*CountVectorizer"):
        GenerativeClassifier().fit(TEXTS, SPAM)
    with pytest.raises(InputError, match=r"list of texts, the first 'free money now'.*GenerativeClassifier"):
        GaussianNB().fit(TEXTS, SPAM)
    with pytest.raises(ValueError, match=r"got 1D array instead:\narray=\['free money now'"):
        CategoricalNB().fit(TEXTS, SPAM)


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


@pytest.mark.parametrize("make", [GaussianNB, GenerativeClassifier, LDA])
def test_class_weights_as_row_weights_lead_to_row_weights(make):
    for weight in ("balanced", {0: 1.0, 1: 2.0}):
        with pytest.raises(InputError, match=r"expected one number for each row, found .*compute_sample_weight"):
            make().fit(X4, Y4, sample_weight=weight)
    make().fit(X4, Y4, sample_weight=compute_sample_weight("balanced", Y4))


@pytest.mark.parametrize("method", ["fit", "partial_fit", "forget"])
@pytest.mark.parametrize("make", [GaussianNB, GenerativeClassifier, LDA])
def test_labels_that_are_not_given_are_asked_for_by_the_class_the_user_knows(make, method):
    model = make() if method != "forget" else make().fit(X4, Y4)
    with pytest.raises(ValueError, match=f"{type(model).__name__} requires y to be passed"):
        getattr(model, method)(X4)


ROWS = [{"a": float(i), "b": "xy"[i % 2], "c": i % 3} for i in range(60)]
RECORDS = np.array([tuple(row.values()) for row in ROWS], dtype=[("a", float), ("b", "U1"), ("c", int)])


@pytest.mark.parametrize("rows", [ROWS, RECORDS, RECORDS.view(np.recarray)])
def test_rows_as_dicts_or_records_are_a_table(rows):
    y = [row["b"] for row in ROWS]
    model = GenerativeClassifier().fit(rows, y)
    frame = pd.DataFrame(ROWS)
    expected = GenerativeClassifier().fit(frame, y).predict_proba(frame)
    np.testing.assert_array_equal(model.predict_proba(rows), expected)
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    assert model.predict(rows[:1]).tolist() == ["x"]
    with pytest.raises(InputError, match=r"pd\.DataFrame\(X\)"):
        GaussianNB().fit(rows, y)


def test_a_key_that_a_row_does_not_have_is_missing():
    y = [row["b"] for row in ROWS]
    model = GenerativeClassifier().fit([{k: v for k, v in row.items() if k != "c" or v} for row in ROWS], y)
    assert model.schema_.choices[2].column == "c"
    assert np.isfinite(model.predict_proba([{"b": "x"}, {"a": 3.0}])).all()


@pytest.mark.parametrize("make", [GaussianNB, GenerativeClassifier, CategoricalNB])
def test_a_lazy_frame_is_refused_without_further_ado(make):
    lazy = pl.DataFrame({"a": [1, 2, 3, 4], "b": [1, 1, 2, 2]}).lazy()
    model = make().fit(lazy.collect(), Y4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (lambda: make().fit(lazy, Y4), lambda: model.predict(lazy)):
            with pytest.raises(TypeError, match=r"a lazy frame without rows; call X.collect\(\) first"):
                call()


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


@pytest.mark.parametrize("make", [GaussianNB, LDA, GenerativeClassifier])
def test_a_summary_is_a_table_of_the_users_library(make):
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    table = {"a": rng.normal(size=60), "b": rng.normal(size=60)}
    assert isinstance(make().fit(pd.DataFrame(table), y).summary().to_frame(), pd.DataFrame)
    assert isinstance(make().fit(pl.DataFrame(table), y).summary().to_frame(), pl.DataFrame)
    assert isinstance(make().fit(np.column_stack(list(table.values())), y).summary().to_frame(), pd.DataFrame)
    model = pickle.loads(pickle.dumps(make().fit(pl.DataFrame(table), y)))
    assert model.summary().to_frame()["column"].to_list() == ["a", "b"]


def test_dir_shows_public_names_alone():
    assert set(dir(suffit)) == {*suffit.__all__, "__version__"}
    assert all(hasattr(suffit, name) for name in dir(suffit))


def test_loops_run_without_being_compiled_and_answer_the_same():
    program = """
import numpy as np, pandas as pd
from scipy import sparse
from suffit import *
rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 3)) + y[:, None]
W = pd.DataFrame({"w": rng.choice(["red", "blue", "greenish-yellow"], 40), "x": X[:, 0]})
C = sparse.csr_matrix(rng.poisson(1, (40, 5)))
for model, rows in ((GaussianNB(), X), (LDA(), X), (MultinomialNB(), C), (GenerativeClassifier(structure="naive"), W)):
    print(model.fit(rows, y).predict_proba(rows).sum(axis=0).tolist())
"""
    answers = []
    for compiled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": compiled}
        run = [sys.executable, "-c", program]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300, check=True)
        answers.append([eval(line) for line in done.stdout.splitlines()])
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-12)


# --- nothing to learn from

SHARES = [0.75, 0.25]
LABELS = np.array(list("aaab" * 10))
NOTHING = {"a": [1.0] * 40, "b": ["x"] * 40, "id": [f"k{i}" for i in range(40)]}


@pytest.mark.parametrize(
    "settings",
    [{}, {"structure": "naive"}, {"calibrate": "temperature"}, {"missing": "informative"}, {"select": "loo"}],
    ids=str,
)
@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_a_table_without_a_usable_column_predicts_the_class_shares(make, settings):
    X = make(NOTHING)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GenerativeClassifier(**settings).fit(X, LABELS)
    assert len(caught) == 1
    assert str(caught[0].message).startswith("no column can be used, so every prediction is the class shares")
    assert "'a': every value is 1; 'b': every value is the same; 'id': an identifier" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(model.predict_proba(X), [SHARES] * 40)
        assert set(model.predict(X)) == {"a"}
        without = model.loo_predict_proba(X, LABELS)
        np.testing.assert_allclose(without[[0, 3], 0], [29 / 39, 30 / 39])
        np.testing.assert_allclose(model.explain(X).total, np.log(3))
        assert "3 to 1" in model.why({"a": [1.0], "b": ["x"], "id": ["k1"]})
        assert "0 columns" in str(model.summary())
        assert model.n_parameters_ == 1
        assert model.score_samples(X).tolist() == pytest.approx([0.0] * 40)
        assert len(model.sample(5, random_state=0)[1]) == 5
        assert type(model.impute(X)) is type(X)
        assert len(model.get_feature_names_out()) == 0
        np.testing.assert_allclose((model + model).predict_proba(X)[0], SHARES)
        np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict_proba(X)[0], SHARES)
        assert model.decide(X).labels[0] == "a"
        first = make({k: v[:2] for k, v in NOTHING.items()})
        np.testing.assert_allclose(model.forget(first, LABELS[:2]).predict_proba(X)[0], [28 / 38, 10 / 38])
    with pytest.raises(InputError, match="nomogram: the model has no columns"):
        model.nomogram()


def test_a_fold_without_a_usable_column_does_not_fail_the_cross_validation():
    X = pd.DataFrame({"rare": np.r_[np.ones(30), np.zeros(90)]})
    y = np.tile(["a", "a", "b"], 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffit.DataWarning)
        folds = [(np.arange(30, 120), np.arange(30)), (np.arange(90), np.arange(90, 120))]
        scores = cross_val_score(GenerativeClassifier(), X, y, cv=folds, error_score="raise")
    assert scores[0] == pytest.approx(2 / 3)
    assert np.isfinite(scores).all()


def test_batches_of_nothing_keep_the_class_shares():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffit.DataWarning)
        model = GenerativeClassifier().partial_fit(NOTHING, LABELS)
        model.partial_fit(NOTHING, ["b"] * 40)
    np.testing.assert_allclose(model.predict_proba(NOTHING)[0], [30 / 80, 50 / 80])
