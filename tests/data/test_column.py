"""One column of any table: kinds, categories, dates, words, whole numbers of any size."""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffit import GenerativeClassifier as Generative
from suffit import (
    InputError,
)
from suffit.data.frame import read_frame
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.families.counts.categorical import category_stats
from suffit.tables import column_scores
from table_kinds import (
    FIXED,
    NAMES,
    TABLE,
    TABLES,
    N,
    Y,
    arrow,
    every_table,
    families_of,
    nan,
    pandas_category,
    reason_of,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning"),
]


def test_integers_of_a_categorical_type_are_categories():
    frame = pandas_category(TABLE)
    assert frame["level"].cat.categories.dtype.kind == "i"
    assert next(c for c in Generative().fit(frame, Y).schema_.choices if c.column == "level").kind == "categorical"


UNREADABLE = {
    "lists": (lambda: pl.DataFrame({"odd": [[1, 2]] * N, "num": TABLE["num"]}), "lists, dicts or other containers"),
    "structs": (lambda: pl.DataFrame({"odd": [{"a": 1}] * N, "num": TABLE["num"]}), "lists, dicts or other containers"),
    "lists in a dict": (lambda: {"odd": [[1, 2]] * N, "num": TABLE["num"]}, "lists, dicts or other containers"),
    "lists in pandas": (
        lambda: pd.DataFrame({"odd": [[1, 2]] * N, "num": TABLE["num"]}),
        "lists, dicts or other containers",
    ),
    "mixed": (lambda: {"odd": [1, "a", 2.5] * 100, "num": TABLE["num"]}, "mixes"),
    "mixed in pandas": (lambda: pd.DataFrame({"odd": [1, "a", 2.5] * 100, "num": TABLE["num"]}), "mixes"),
    "truths and numbers": (lambda: {"odd": [True, 2, 3] * 100, "num": TABLE["num"]}, "mixes"),
    "objects in polars": (
        lambda: pl.DataFrame({"odd": pl.Series([1, "a"] * 150, dtype=pl.Object), "num": TABLE["num"]}),
        "mixes",
    ),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_nested_and_mixed_columns_are_refused_with_a_way_out(what):
    make, message = UNREADABLE[what]
    with pytest.raises(InputError, match=rf"column 'odd': .*{message}.*columns={{'odd': 'drop'}}"):
        Generative().fit(make(), Y)
    with pytest.raises(InputError, match="column 'odd'"):
        Generative({"odd": "categorical"}).fit(make(), Y)
    model = Generative({"odd": "drop"}).fit(make(), Y)
    assert reason_of(model, "odd") == "set by the user"
    assert np.isfinite(model.predict_proba(make())).all()


def test_decimals_are_numbers():
    cents = pl.Series([None if v is None else decimal.Decimal(round(v * 100)) / 100 for v in TABLE["num"]])
    model = Generative().fit(pl.DataFrame({"d": cents}), Y)
    plain = Generative().fit({"d": [None if v is None else float(v) for v in cents]}, Y)
    np.testing.assert_allclose(model.predict_proba(pl.DataFrame({"d": cents})), plain.predict_proba({"d": cents}))


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_decimals_as_objects_are_numbers(make):
    cents = [decimal.Decimal(round(v * 100)) / 100 for v in nan(TABLE["num"]) if v == v]
    assert families_of(Generative().fit(make({"d": cents}), Y[: len(cents)])) == ["Gaussian"]


FIXED_OR_NOT = {"auto": "auto", **{k: {"x": k} for k in ("gaussian", "lognormal", "gamma", "poisson", "exponential")}}


@pytest.mark.parametrize("columns", FIXED_OR_NOT.values(), ids=FIXED_OR_NOT)
@pytest.mark.parametrize("row", [0, 299, 65_535, 65_536, 70_001])
def test_an_infinity_is_named_by_column_and_row(columns, row):
    if columns == "auto" and row > 299:
        row = 70_001  # not among the rows that the choice looks at; the next test is about those
    rng = np.random.default_rng(0)
    n = 300 if row < 300 else 72_000
    x = (
        rng.poisson(4.0, n) + 1.0
        if isinstance(columns, dict) and "poisson" in columns.values()
        else rng.gamma(2.0, size=n)
    )
    y = (x + rng.normal(size=n) > np.median(x)).astype(int)
    bad = x.copy()
    bad[row] = np.inf
    z = rng.normal(size=n)
    model = Generative(columns).fit(pl.DataFrame({"x": x, "z": z}), y)
    table = pl.DataFrame({"x": bad, "z": z})
    message = rf"column 'x', found inf in row {row};"
    for call in (
        lambda: Generative(columns).fit(table, y),
        lambda: model.partial_fit(table, y),
        lambda: model.predict(table),
        lambda: model.predict_proba(table),
        lambda: model.predict_log_proba(table),
        lambda: model.score_samples(table),
        lambda: model.log_likelihood(table, y),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_an_infinity_is_refused_where_no_structure_has_any_power():
    x, z = np.random.default_rng(2).normal(size=(2, 300))
    y = np.arange(300) % 2  # nothing tells of it
    model = Generative().fit({"x": x, "z": z}, y)
    assert all(block.power == 0 for block in model._model.family.blocks)
    for method in (model.predict, model.predict_proba, model.predict_log_proba, model.score_samples):
        with pytest.raises(InputError, match="column 'x', found inf in row 7;"):
            method({"x": np.where(np.arange(300) == 7, np.inf, x), "z": z})
    np.testing.assert_allclose(model.predict_proba({"x": np.full(3, np.nan), "z": z[:3]}), 0.5, atol=1e-12)


def test_an_infinity_met_while_choosing_is_named_by_its_row():
    rng = np.random.default_rng(0)
    x = rng.lognormal(size=100_000)
    x[70_000:70_010] = np.inf
    with pytest.raises(InputError, match="found inf in row 70000;"):
        Generative().fit(pl.DataFrame({"x": x, "z": rng.normal(size=100_000)}), rng.integers(0, 2, 100_000))


def test_an_infinity_in_a_column_otherwise_constant_is_refused():
    with pytest.raises(InputError, match="infinity"):
        Generative().fit({"x": [1.0] * (N - 1) + [np.inf], "num": TABLE["num"]}, Y)


WORDS = {"num": ["a", "b"], "city": ["Bern", None]}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, "arrow"])
def test_words_where_numbers_were_learned(make):
    make = arrow if make == "arrow" else make
    model = Generative().fit({k: TABLE[k] for k in ("num", "city")}, Y)
    for call in (lambda: model.predict(make(WORDS)), lambda: model.partial_fit(make(WORDS), ["ant", "bee"])):
        with pytest.raises(InputError, match=r"column 'num': expected numbers.*found categorical values"):
            call()


@pytest.mark.parametrize(
    "values",
    [["1", "2"], np.array(["2026-01-01", "2026-01-02"], dtype="M8[D]"), [datetime.date(2026, 1, 1)] * 2],
    ids=["digits", "datetime64", "dates"],
)
@pytest.mark.parametrize("make", [pl.DataFrame])
def test_other_kinds_where_numbers_were_learned(values, make):
    model = Generative().fit({k: TABLE[k] for k in ("num", "city")}, Y)
    with pytest.raises(InputError, match="column 'num': expected numbers"):
        model.predict(make({"num": values, "city": ["Bern", None]}))


@pytest.mark.parametrize("make", [dict, pl.DataFrame])
def test_lists_where_something_else_was_learned(make):
    model = Generative().fit({k: TABLE[k] for k in ("num", "city")}, Y)
    with pytest.raises(InputError, match="column 'num'"):
        model.predict(make({"num": [[1.0], [2.0]], "city": ["Bern", None]}))
    with pytest.raises(InputError, match="column 'city'"):
        model.predict(make({"num": [1.0, 2.0], "city": [["Bern"], ["Basel"]]}))


@pytest.mark.filterwarnings("ignore::suffit.UnknownCategoryWarning")  # numbers are no known category
def test_numbers_where_words_were_learned_are_unknown_categories():
    table = {k: TABLE[k] for k in ("num", "city")}
    numbers = {"num": [1.0, 2.0], "city": [1, 2]}
    model = Generative(structure="naive").fit(table, Y)
    hidden = model.predict_proba({"num": [1.0, 2.0], "city": [None, None]})
    for make in (dict, pl.DataFrame, pd.DataFrame):
        np.testing.assert_array_equal(model.predict_proba(make(numbers)), hidden)
    with pytest.raises(InputError, match="column 'city': a category never seen in training, found 1 in row 0"):
        Generative(structure="naive", unknown="error").fit(table, Y).predict(numbers)


def test_a_category_is_the_same_as_integer_and_as_whole_float():
    model = Generative(FIXED).fit(TABLE, Y)
    as_floats = {**TABLE, "level": np.array(nan(TABLE["level"]))}
    for make in (dict, pl.DataFrame, pd.DataFrame):
        if make is pl.DataFrame:
            as_floats["level"] = pl.Series(TABLE["level"], dtype=pl.Float64)
        np.testing.assert_array_equal(model.predict_proba(make(as_floats)), model.predict_proba(TABLE))


def test_nan_in_polars_is_missing_for_categories():
    categories = pl.DataFrame({"level": [float("nan") if v is None else float(v) for v in TABLE["level"]]})
    model = Generative({"level": "categorical"}, unknown="error").fit({"level": TABLE["level"]}, Y)
    np.testing.assert_array_equal(model.predict_proba(categories), model.predict_proba({"level": TABLE["level"]}))


def test_numbers_of_every_width():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 100, (N, 2))
    expected = Generative({"a": "gaussian", "b": "poisson"}).fit({"a": counts[:, 0], "b": counts[:, 1]}, Y)
    p = expected.predict_proba({"a": counts[:, 0], "b": counts[:, 1]})
    for dtype in ("uint8", "int8", "int16", "uint32", "uint64", "float32", "float16"):
        for make in (dict, pd.DataFrame, pl.DataFrame):
            if dtype == "float16" and make is pl.DataFrame:
                continue
            table = make({"a": counts[:, 0].astype(dtype), "b": counts[:, 1].astype(dtype)})
            model = Generative({"a": "gaussian", "b": "poisson"}).fit(table, Y)
            np.testing.assert_allclose(model.predict_proba(table), p, rtol=1e-9)


def test_categories_beyond_the_digits_of_a_float():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    large = {"k": 2**53 + codes}
    model = Generative({"k": "categorical"}).fit(pl.DataFrame(large), Y)
    small = Generative({"k": "categorical"}).fit({"k": codes}, Y)
    np.testing.assert_array_equal(model.predict_proba(pl.DataFrame(large)), small.predict_proba({"k": codes}))


def test_empty_words_spaces_and_other_scripts_are_categories():
    categories = ["", " ", "  ", "\u00fc", "u\u0308", "漢字", "a\nb", "NaN", "None"]
    rng = np.random.default_rng(0)
    codes = rng.integers(0, len(categories), 900)
    y = rng.integers(0, 2, 900)
    words = [categories[c] for c in codes]
    small = Generative({"s": "categorical"}).fit({"s": codes}, y)
    for make in (dict, pd.DataFrame, pl.DataFrame):
        table = make({"s": words})
        model = Generative(structure="naive", unknown="error").fit(table, y)
        assert reason_of(model, "s") == "9 categories"
        np.testing.assert_array_equal(model.predict_proba(table), small.predict_proba({"s": codes}))


@every_table
def test_chosen_rows_of_a_column_are_those_of_the_column(kind):
    frame, which = read_frame(TABLES[kind](TABLE)), np.array([3, 0, 7, 14, 3, N - 1])
    some, again = frame.rows(which), frame.rows(np.arange(N)[::-1]).rows(N - 1 - which)
    for name in frame.names:
        whole = frame.columns[name]
        values, codes = whole.categories()
        for part in (some.columns[name], again.columns[name]):
            assert part.kind() == whole.kind()
            assert part.missing().tolist() == whole.missing()[which].tolist()
            found, places = part.categories()
            assert [None if c < 0 else found[c] for c in places] == [None if c < 0 else values[c] for c in codes[which]]
            if whole.kind() != "categorical":
                np.testing.assert_array_equal(part.numbers(), whole.numbers()[which])
    assert (
        frame.rows(np.array([0, 0])).columns[frame.names[NAMES.index("city")]].kind() == "empty"
    )  # of all rows, the first is missing


def test_unsigned_codes_of_arrow_categories_may_be_missing():
    pa = pytest.importorskip("pyarrow")
    coded = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.uint8()), pa.array(["x", "y"]))
    categories, codes = read_frame(pa.table({"w": coded})).columns["w"].categories()
    assert (categories, codes.tolist()) == (["x", "y"], [1, -1, 0, 1])


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 30, 1001])
def test_ranges_of_columns(n):
    rng = np.random.default_rng(n)
    for x in (rng.normal(size=n), rng.integers(-9, 9, n) * 1.0, np.full(n, np.nan), np.full(n, -2.0)):
        for missing in (0.0, 0.5):
            x = np.where(rng.random(n) < missing, np.nan, x)
            there = x[~np.isnan(x)]
            low, high, whole = column_scores.column_range(x)
            assert whole == bool((there == np.rint(there)).all())
            np.testing.assert_array_equal([low, high], [there.min(), there.max()] if len(there) else [np.nan] * 2)


def test_categories_of_any_kind_are_in_canonical_order():
    mixed = (["b", 2, 0.5, True, b"a", "a"], [], [3, 1, 2], ["z", "y"], [1j, 2j, "a"])
    for categories in (mixed, mixed[:4]):
        count = np.ones((1, sum(map(len, categories))))
        found = category_stats(Rows(Index.of([0]), np.zeros(1, np.int32)), categories, count)
        assert found.axes["category"] == Index.of([(j, v) for j, values in enumerate(categories) for v in values])
