"""Tables that the model makes keep the kind and the types of the one fitted."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from suffit import GenerativeClassifier as Generative
from table_kinds import (
    FIXED,
    NAMES,
    TABLE,
    TABLES,
    N,
    Y,
    nan,
    pandas_nullable,
    rows_of,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning"),
]


def names_and_types(table):
    if isinstance(table, dict):
        return list(table)
    if isinstance(table, pd.DataFrame):
        return [(k, v) for k, v in zip(table.columns, table.dtypes, strict=True)]
    if isinstance(table, np.ndarray):
        return table.shape[1]
    return table.schema


OWN_TYPES = ["pandas nullable", "pandas arrow", "pandas arrow dictionary", "pandas category", "arrow dictionary"]


@pytest.mark.parametrize("kind", OWN_TYPES)
def test_C5_tables_made_keep_types_of_their_own(kind):
    table = TABLES[kind](TABLE)
    categories = ["Zürich", "Basel", "nowhere", "Bern"]
    if kind == "pandas category":
        table = table.assign(city=pd.Categorical(TABLE["city"], categories=categories))
    model = Generative(FIXED).fit(table, Y)
    assert names_and_types(model.sample(50, random_state=0)[0]) == names_and_types(table)
    assert names_and_types(model.impute(table, how="draw", random_state=0)) == names_and_types(table)


@pytest.mark.parametrize("kind", [k for k in TABLES if k not in ("list of rows", "dict of masked arrays")])
def test_C5_samples_are_tables_like_the_one_fitted(kind):
    table = TABLES[kind](TABLE)
    by_place = {f"x{j}": family for j, family in enumerate(FIXED.values())}
    model = Generative(by_place if kind == "object array" else FIXED).fit(table, Y)
    drawn, labels = model.sample(400, random_state=0)
    assert type(drawn) is type(table)
    if kind not in [*OWN_TYPES, "pandas odd index"]:
        assert names_and_types(drawn) == names_and_types(table)
    assert set(labels) == set(Y)
    again = clone(model).fit(drawn, labels)
    assert again.classes_.tolist() == model.classes_.tolist()
    for label in model.classes_:
        drawn, labels = model.sample(2000, y=label, random_state=1)
        assert set(labels) == {label}
        values = np.asarray(drawn[:, 0] if isinstance(drawn, np.ndarray) else drawn["num"], dtype=float)
        learned = [v for v, c in zip(TABLE["num"], Y, strict=True) if c == label and v is not None]
        assert values.mean() == pytest.approx(np.mean(learned), abs=0.1)
        assert values.std() == pytest.approx(np.std(learned), rel=0.1)
        cities = list(drawn[:, 3] if isinstance(drawn, np.ndarray) else drawn["city"])
        assert {str(c) for c in cities} <= {"Basel", "Bern", "Zürich"}
    wanted = ["cat", "ant", "cat"]
    assert model.sample(3, y=wanted, random_state=0)[1].tolist() == wanted
    assert model.sample(3, y=pd.Series(wanted), random_state=0)[1].tolist() == wanted
    a, b = (model.sample(5, random_state=7)[0] for _ in range(2))
    assert str(a) == str(b)
    with pytest.raises(ValueError, match="no class 'dog'"):
        model.sample(3, y="dog")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_C5_draws_beyond_a_small_integer_type(make):
    counts = np.clip(np.random.default_rng(0).poisson(245, N), 0, 255).astype(np.uint8)
    model = Generative({"c": "poisson"}).fit(make({"c": counts}), Y)
    assert np.asarray(model.sample(200, random_state=0)[0]["c"]).min() > 150


@pytest.mark.filterwarnings("ignore")
def test_C5_categories_that_are_intervals():
    frame = pd.DataFrame({"bin": pd.cut(np.array(nan(TABLE["num"])), 4), "count": TABLE["count"]})
    model = Generative().fit(frame, Y)
    assert not model.sample(50, random_state=0)[0]["bin"].isna().any()
    filled, there = model.impute(frame)["bin"], frame["bin"].notna()
    pd.testing.assert_series_equal(filled[there], frame["bin"][there])
    assert filled.notna().all()


def same_cells(a, b):
    """Every cell of a that is there is as it was in b."""
    return all(x is None or x != x or x == y for x, y in zip(b, a, strict=True))


def cells(table, name):
    values = table[name]
    values = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return [None if v is None or v is pd.NA or v != v else v for v in values]


@pytest.mark.parametrize("how", ["mean", "draw"])
@pytest.mark.parametrize("kind", [k for k in TABLES if "array" not in k and k != "list of rows"])
def test_C5_impute_fills_every_hole_and_nothing_else(kind, how):
    table = TABLES[kind](TABLE)
    model = Generative(FIXED).fit(table, Y)
    for y in (None, Y, Y.tolist(), pd.Series(Y)):
        filled = model.impute(table, y, how=how, random_state=0)
        assert type(filled) is type(table)
        for name in NAMES:
            after = cells(filled, name)
            assert None not in after
            assert same_cells(after, TABLE[name])
            if name in ("city", "level"):
                assert set(after) == {v for v in TABLE[name] if v is not None}
    if hasattr(table, "index"):
        table = table.reset_index(drop=True)
    types = names_and_types(model.impute(table, how="draw", random_state=0))
    if kind not in [*OWN_TYPES, "pandas odd index"]:
        assert types == names_and_types(table)


def test_C5_impute_an_array_keeps_it_one():
    X = np.array(rows_of(TABLE), dtype=object)
    filled = Generative(dict(zip([f"x{j}" for j in range(5)], FIXED.values(), strict=True))).fit(X, Y).impute(X)
    assert filled.shape == X.shape
    assert all(filled[i, j] == X[i, j] for i, j in np.ndindex(X.shape) if X[i, j] is not None)
    numbers = np.random.default_rng(0).normal(size=(N, 2))
    with_missing = np.where(np.random.default_rng(1).random((N, 2)) < 0.1, np.nan, numbers)
    filled = Generative().fit(with_missing, Y).impute(with_missing)
    assert filled.dtype == np.float64
    assert np.isfinite(filled).all()


def test_C5_columns_that_the_model_does_not_know_stay_as_they_are():
    when = [datetime.datetime(2020, 1, 1) + datetime.timedelta(i) if i % 3 else None for i in range(N)]
    more = {"when": when, "id": np.arange(N), "text": [f"t{i}" if i % 4 else None for i in range(N)]}
    for make in (pl.DataFrame, pd.DataFrame):
        table = make({**TABLE, **more})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            filled = Generative().fit(table, Y).impute(table)
            extra = Generative(FIXED).fit(make(TABLE), Y).impute(table)
        for found in (filled, extra):
            assert list(found.columns) == list(table.columns)
            for name in more:
                assert cells(found, name) == cells(table, name)


BEYOND = {
    "polars int": lambda: pl.DataFrame({"num": TABLE["num"], "e": pl.Series([None, *range(1, N)], dtype=pl.Int64)}),
    "polars struct": lambda: pl.DataFrame({"num": TABLE["num"], "e": [{"a": i} for i in range(N)]}),
    "pandas nullable": lambda: pd.DataFrame(
        {"num": nan(TABLE["num"]), "e": pd.array([None, *range(1, N)], dtype="Int64")}
    ),
    "pandas time zone": lambda: pd.DataFrame(
        {"num": nan(TABLE["num"]), "e": pd.date_range("2026-01-01", periods=N, tz="Europe/Berlin")}
    ),
    "pandas category": lambda: pd.DataFrame(
        {"num": nan(TABLE["num"]), "e": pd.Categorical(["u", "v", None] * 100, categories=["w", "v", "u"])}
    ),
}


@pytest.mark.parametrize("kind", BEYOND)
def test_C5_columns_left_out_keep_their_type(kind):
    table = BEYOND[kind]()
    filled = Generative({"e": "drop"}).fit(table, Y).impute(table)
    assert names_and_types(filled) == names_and_types(table)
    assert cells(filled, "e") == cells(table, "e")


def test_C5_a_filled_table_keeps_its_index():
    frame = pandas_nullable(TABLE).set_index(np.arange(N) + 5)
    assert Generative(FIXED).fit(frame, Y).impute(frame).index.tolist() == frame.index.tolist()


@pytest.mark.parametrize("family", ["gaussian", "categorical"])
def test_C5_large_whole_numbers_are_not_touched(family):
    rng = np.random.default_rng(0)
    large = [None if i % 7 == 0 else 2**60 + int(v) for i, v in enumerate(rng.integers(0, 3, N))]
    table = pl.DataFrame({"k": large, "num": TABLE["num"]})
    assert same_cells(Generative({"k": family}).fit(table, Y).impute(table)["k"].to_list(), large)


@pytest.mark.parametrize("form", ["pandas", "polars", "dict", "array"])
@pytest.mark.parametrize("family", ["gaussian", "poisson", "lognormal", "gamma", "categorical"])
def test_C5_draws_of_integer_columns_are_integers(form, family):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    columns = {"k": rng.poisson(1.0 + y) + 1, "j": rng.normal(40 + 5 * y, 8).round().astype(np.int64)}
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "dict": dict}.get(
        form, lambda c: np.stack(list(c.values()), 1)
    )
    names = ("k", "j") if form != "array" else ("x0", "x1")
    model = Generative(columns={names[0]: family, names[1]: "gaussian"}).fit(table(columns), y)
    drawn = model.sample(2000, random_state=0)[0]
    k, j = drawn.T if form == "array" else (np.asarray(drawn[name]) for name in ("k", "j"))
    assert k.dtype.kind == j.dtype.kind == "i"
    assert k.min() >= {"gaussian": -9, "poisson": 0}.get(family, 1)
    assert abs(k.mean() - columns["k"].mean()) < 0.25
    assert abs(j.std() - columns["j"].std()) < 0.6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(drawn)  # what the model draws it also reads


def test_C5_draws_of_integer_columns_with_missing_values_are_integers_that_may_be_missing():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    whole = rng.normal(40 + 5 * y, 8).round()
    table = pd.DataFrame({"a": pd.array(whole, dtype="Int64"), "b": whole.astype(np.int64), "c": rng.normal(size=300)})
    table.loc[rng.random(300) < 0.3, "a"] = pd.NA
    drawn = Generative(missing="informative").fit(table, y).sample(500, random_state=0)[0]
    assert str(drawn["a"].dtype) == "Int64"
    assert 0.2 < drawn["a"].isna().mean() < 0.4
    assert str(drawn["b"].dtype) in ("int64", "Int64")
    plain = Generative(structure="naive").fit(table, y)
    assert str(plain.impute(table, how="draw", random_state=0)["a"].dtype) == "Int64"
    assert (plain.impute(table)["a"] % 1 != 0).any()  # the mean of integers may lie between
