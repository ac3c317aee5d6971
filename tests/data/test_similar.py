"""Text that looks like numbers or dates; the nearest known category."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import suffit
from suffit import (
    CategoricalNB,
    GenerativeClassifier,
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
