"""Warnings about data: once for each fit, at the user's line, with the user's columns, and what to do about it."""

from __future__ import annotations

import linecache
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import suffit
from suffit import (
    BernoulliNB,
    CategoricalNB,
    DataWarning,
    DroppedColumnWarning,
    GaussianNB,
    GenerativeClassifier,
    MissingValuesWarning,
    TextColumnWarning,
    UnknownCategoryWarning,
)
from suffit.data.similar import nearest, way_out


def said_by(do):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        do()
    return caught


def two_classes(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b"], n // 2)
    table = {
        "c": np.where(y == "a", None, rng.choice(list("xyz"), n)),
        "x": rng.normal(size=n) + (y == "b"),
        "d": rng.choice(list("uv"), n),
        "one": np.ones(n),
        "id": np.array([f"k{i}" for i in rng.permutation(n)]),
    }
    return pd.DataFrame(table), y


# --- calm


def test_fit_says_each_thing_once_and_predict_nothing_more():
    X, y = two_classes()
    caught = said_by(lambda: GenerativeClassifier().fit(X, y))
    assert [w.category for w in caught] == [DroppedColumnWarning, MissingValuesWarning]
    assert str(caught[0].message) == "columns dropped from the model: 'id': an identifier rather than a feature"
    assert str(caught[1].message).startswith("column 'c' is missing in every row of class 'a': ")
    assert "missing='informative'" in str(caught[1].message)
    model = GenerativeClassifier()
    said_by(lambda: model.fit(X, y))
    assert said_by(lambda: model.predict(X)) == []
    assert said_by(lambda: model.loo_predict_proba(X, y)) == []
    assert said_by(lambda: model.explain(X)) == []
    assert said_by(lambda: model.partial_fit(X, y).predict(X)) == []
    assert said_by(lambda: model.forget(X[:5], y[:5]).predict(X)) == []
    assert said_by(lambda: pickle.loads(pickle.dumps(model)).predict(X)) == []


def test_a_cross_validation_shows_a_warning_once_with_pythons_own_filters():
    program = """
import numpy as np, pandas as pd
from sklearn.model_selection import cross_val_score
from suffit import GenerativeClassifier
rng = np.random.default_rng(0)
y = np.repeat(["a", "b"], 100)
X = pd.DataFrame({"c": np.where(y == "a", None, rng.choice(list("xyz"), 200)), "x": rng.normal(size=200),
                  "d": rng.choice(list("uv"), 200), "id": [f"k{i}" for i in range(200)], "one": 1.0})
cross_val_score(GenerativeClassifier(structure="naive"), X, y, cv=10)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    lines = [line for line in done.stderr.splitlines() if "Warning" in line]
    assert [line.partition("Warning")[0] for line in lines] == [
        "<string>:9: DroppedColumn",
        "<string>:9: MissingValues",
    ]


def test_warnings_are_at_the_line_of_the_user_through_scikit_learn_too():
    X, y = two_classes()
    calls = {
        "fit": lambda: GenerativeClassifier().fit(X, y),
        "cross_val_score": lambda: cross_val_score(GenerativeClassifier(structure="naive"), X, y, cv=2),
        "pipeline": lambda: make_pipeline(FunctionTransformer(), GenerativeClassifier(structure="naive")).fit(X, y),
    }
    for name, call in calls.items():
        caught = said_by(call)
        assert caught
        assert all(w.filename == __file__ for w in caught)
        assert all(name in linecache.getline(w.filename, w.lineno) for w in caught)


def test_a_new_fit_says_it_again_and_errors_stay_errors():
    X, y = two_classes()
    model = GenerativeClassifier(structure="naive")
    for _ in range(2):
        assert len(said_by(lambda: model.fit(X, y))) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error", DroppedColumnWarning)
        for _ in range(2):
            with pytest.raises(DroppedColumnWarning, match="'id'"):
                GenerativeClassifier().fit(X, y)
        with pytest.raises(DroppedColumnWarning):
            model.fit(X[:150], y[:150])
    assert model.class_count_.sum() == 200  # unchanged


def test_all_warnings_about_data_are_silenced_by_one_name():
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        GenerativeClassifier().fit(X, y).predict(X.assign(d="w"))


def test_a_class_that_does_not_vary_is_named_once_with_all_its_columns():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    X[y == 1, :2] = 5.0
    caught = said_by(lambda: GaussianNB(var_smoothing=0.0, calibrate="temperature").fit(X, y).predict(X))
    assert len(caught) == 1
    assert "class 1 does not vary in column 'x0'; class 1 does not vary in column 'x1': " in str(caught[0].message)


def test_columns_that_bins_cannot_cut_are_named_in_one_warning():
    rng = np.random.default_rng(0)
    table = {c: rng.normal(size=200) for c in "abc"}
    caught = said_by(lambda: GenerativeClassifier(dict.fromkeys(table, "binned")).fit(table, np.arange(200) % 2))
    assert len(caught) == 1
    assert "found no bin edges for column 'a'; column 'b'; column 'c': " in str(caught[0].message)


def test_informative_missing_values_need_no_warning():
    X, y = two_classes()
    caught = said_by(lambda: GenerativeClassifier(missing="informative").fit(X, y).predict(X))
    assert [w.category for w in caught] == [DroppedColumnWarning]


def test_batches_warn_when_the_model_is_first_asked_and_once():
    X, y = np.array([[1.0, np.nan], [0.0, np.nan], [1.0, 1.0], [0.0, 1.0]]), [0, 0, 1, 1]
    model = BernoulliNB()
    caught = said_by(lambda: model.partial_fit(X, y).predict(X))
    assert ["column 'x1' is missing in every row of class 0" in str(w.message) for w in caught] == [True]
    assert said_by(lambda: model.partial_fit(X, y).predict(X)) == []


# --- unknown categories


def colours(n=400, seed=0):
    rng = np.random.default_rng(seed)
    c = rng.choice(["red", "blue"], n)
    y = (rng.random(n) < np.where(c == "red", 0.9, 0.1)).astype(int)
    return {"c": c, "k": rng.integers(0, 9, n), "x": rng.normal(size=n)}, y


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("structure", ["auto", "naive"])
def test_a_column_of_unknown_categories_is_named_with_the_nearest_known_one(make, structure):
    table, y = colours()
    model = GenerativeClassifier(structure=structure).fit(make(table), y)
    rows = make({"c": ["Red ", "blue "], "k": [1, 2], "x": [0.0, 0.0]})
    caught = said_by(lambda: model.predict_proba(rows))
    assert [w.category for w in caught] == [UnknownCategoryWarning]
    assert "column 'c': 100% of the values, such as 'Red '; the nearest known one is 'red'" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_numbers_as_text_are_unknown_where_numbers_were_learned():
    table, y = colours()
    model = GenerativeClassifier({"k": "categorical"}).fit(table, y)
    caught = said_by(lambda: model.predict({"c": ["red"], "k": ["7"], "x": [0.0]}))
    assert "column 'k': 100% of the values, such as '7'; the nearest known one is 7;" in str(caught[0].message)


def test_a_few_unknown_categories_are_no_news():
    table, y = colours()
    model = GenerativeClassifier().fit(table, y)
    rare = {**table, "c": np.where(np.arange(400) < 30, "green", table["c"])}
    assert said_by(lambda: model.predict(rare)) == []
    assert said_by(lambda: model.predict({"c": ["green"], "k": [1], "x": [0.0]})) == []  # one row, nothing like it
    assert len(said_by(lambda: model.predict({**table, "c": ["green"] * 400}))) == 1
    spaces = {**table, "c": np.where(np.arange(400) < 60, "red ", table["c"])}
    assert "15% of the values, such as 'red '" in str(said_by(lambda: model.predict(spaces))[0].message)


@pytest.mark.parametrize("n", [4_000, 70_000])
def test_unknown_categories_are_seen_in_long_tables_too(n):
    table, y = colours(1000)
    model = GenerativeClassifier(structure="naive").fit(table, y)
    long = pl.DataFrame({"c": ["Red"] * n, "k": np.ones(n, int), "x": np.zeros(n)})
    assert "100% of the values" in str(said_by(lambda: model.predict(long))[0].message)


@pytest.mark.parametrize("unknown", ["novel", "error"])
def test_who_has_said_what_becomes_of_unknown_categories_is_not_warned(unknown):
    table, y = colours()
    model = GenerativeClassifier(unknown=unknown).fit(table, y)
    rows = {"c": ["Red ", "Red "], "k": [1, 1], "x": [0.0, 0.0]}
    if unknown == "error":
        with pytest.raises(suffit.InputError, match="never seen"):
            model.predict(rows)
    else:
        assert said_by(lambda: model.predict(rows)) == []


def test_categorical_naive_bayes_names_unknown_categories_too():
    X, y = [["red", "S"], ["red", "M"], ["blue", "M"], ["green", "L"]], [0, 0, 1, 1]
    model = CategoricalNB().fit(X, y)
    caught = said_by(lambda: model.predict([["Red", "S"], ["Blue", "M"]]))
    assert [w.category for w in caught] == [UnknownCategoryWarning]
    assert "column 'x0': 100% of the values, such as 'Red'; the nearest known one is 'red'" in str(caught[0].message)
    assert said_by(lambda: model.predict([["red", "XXL"]])) == []
    numbers = CategoricalNB().fit([[0], [1], [2], [1]], y)
    caught = said_by(lambda: numbers.predict([["1"], ["2"]]))
    assert "such as '1'; the nearest known one is 1;" in str(caught[0].message)
    caught = said_by(lambda: model.predict(np.array([[1, 2], [3, 4]])))
    assert "column 'x0': 100% of the values, such as 1;" in str(caught[0].message)


@pytest.mark.parametrize(
    ("value", "known", "found"),
    [
        ("Red ", ["blue", "red"], ("red", True)),
        ("7", [6, 7], (7, True)),
        (7, ["7"], ("7", True)),
        ("7.0", [7], (7, True)),
        ("new  york", ["New York"], ("New York", True)),
        ("grren", ["green", "blue"], ("green", False)),
        ("xyz", ["green", "blue"], (None, False)),
        (True, ["True"], ("True", True)),
    ],
)
def test_the_nearest_known_category(value, known, found):
    assert nearest(value, known) == found


# --- text that is something else


@pytest.mark.parametrize(
    ("values", "like"),
    [
        (["1.25", "3.5"], "numbers"),
        (["1", "2", "3", "?"], "numbers"),
        (["1e5", "-2.5", " 3 ", "n/a"], "numbers"),
        (["1,25", "3,5"], "numbers"),
        ([str(i) for i in range(100)], "numbers"),
        (["2024-01-31", "2024-02-01"], "dates"),
        (["31.01.2024", "1.2.2024", "?"], "dates"),
        (["01/31/2024 12:30", "02/28/2024 00:00"], "dates"),
        (["3 Jan 2024", "14 February 2023"], "dates"),
        (["1", "2", "3"], ""),  # codes
        (["2", "4", "5more"], ""),
        (["007", "008", "0012.5"], ""),
        (["red", "blue", "7"], ""),
        (["a1", "b2"], ""),
        (["10-20", "20-30"], ""),
        ([], ""),
    ],
)
def test_text_that_looks_like_numbers_or_dates(values, like):
    assert way_out("v", values).partition(" looks like ")[2].startswith(like)
    assert bool(way_out("v", values)) == bool(like)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_numbers_and_dates_in_text_are_said_at_fit_with_the_way_out(make):
    rng, y = np.random.default_rng(0), np.arange(200) % 2
    table = {
        "price": [f"{v:.2f}" for v in rng.normal(size=200)],
        "age": rng.choice(["20", "30", "40", "?"], 200).tolist(),
        "day": [f"2024-01-{d:02d}" for d in rng.integers(1, 29, 200)],
        "x": rng.normal(size=200).tolist(),
    }
    caught = said_by(lambda: GenerativeClassifier(structure="naive").fit(make(table), y))
    assert [w.category for w in caught] == [TextColumnWarning]
    text = str(caught[0].message)
    assert "column 'price' looks like numbers: pd.to_numeric(X['price'], errors='coerce')" in text
    assert "column 'age' looks like numbers (and also '?'): pd.to_numeric(X['age'], errors='coerce')" in text
    assert "column 'day' looks like dates: pd.to_datetime(X['day'])" in text
    wanted = {"price": "drop", "age": "categorical", "day": "categorical"}
    assert said_by(lambda: GenerativeClassifier(wanted).fit(make(table), y)) == []


def test_what_is_only_tried_says_nothing():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    X[0] = 1e9
    model = GaussianNB().fit(X, y)
    assert said_by(lambda: model.loo_predict_proba(X, y)) == []  # taking the first row out costs digits
    assert "few digits" in str(said_by(lambda: model.forget(X[:1], y[:1]))[0].message)
