"""One table of numbers, counts, yes and no, words and categories with missing values, in every container."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from suffit import Gaussian as GaussianFamily
from suffit import GenerativeClassifier as Generative

N = 300


def _columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, N)

    def with_missing(values, every):
        return [None if i % every == 0 else v for i, v in enumerate(values)]

    table = {
        "num": with_missing(rng.normal(y, 1.0).tolist(), 7),
        "count": with_missing(rng.poisson(3 + 2 * y).tolist(), 11),
        "flag": with_missing((rng.random(N) < 0.2 + 0.2 * y).tolist(), 13),
        "city": with_missing(np.array(["Basel", "Bern", "Zürich"])[(rng.integers(0, 2, N) + y) % 3].tolist(), 5),
        "level": with_missing(rng.choice([1, 7, 20], N).tolist(), 9),
    }
    return table, np.array(["ant", "bee", "cat"])[y]


TABLE, Y = _columns()


NAMES = list(TABLE)


FAMILIES = ["Gaussian", "Poisson", "Bernoulli", "Categorical", "Categorical"]


FIXED = {
    "num": GaussianFamily(smoothing=1e-9),
    "count": "poisson",
    "flag": "bernoulli",
    "city": "categorical",
    "level": "categorical",
}


def nan(values):
    return [np.nan if v is None else v for v in values]


def objects(values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def pandas_numpy(t):
    return pd.DataFrame({k: nan(v) if k in ("num", "count", "level") else objects(v) for k, v in t.items()})


def pandas_nullable(t):
    types = {"num": "Float64", "count": "Int64", "flag": "boolean", "city": "string", "level": "Int16"}
    return pd.DataFrame({k: pd.array(v, dtype=types[k]) for k, v in t.items()})


def pandas_category(t):
    return pandas_nullable(t).assign(city=pd.Categorical(t["city"]), level=pd.Categorical(t["level"]))


def pandas_arrow(t):
    pytest.importorskip("pyarrow")
    types = {"num": "double", "count": "int64", "flag": "bool", "city": "string", "level": "int8"}
    return pd.DataFrame({k: pd.array(v, dtype=f"{types[k]}[pyarrow]") for k, v in t.items()})


def pandas_dictionary(t):
    pa = pytest.importorskip("pyarrow")
    coded = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    return pandas_arrow(t).assign(city=pd.array(t["city"], dtype=coded))


def polars_of(city):
    return lambda t: pl.DataFrame(t).with_columns(pl.col("city").cast(city), pl.col("level").cast(pl.Int8))


def arrow(t):
    return pytest.importorskip("pyarrow").table(t)


def arrow_dictionary(t):
    pa = pytest.importorskip("pyarrow")
    return pa.table({**t, "city": pa.array(t["city"]).dictionary_encode()})


def rows_of(t):
    return [list(row) for row in zip(*t.values(), strict=True)]


def masked(t):
    return {
        k: np.ma.array([0 if v is None else v for v in values], mask=[v is None for v in values])
        if k != "city"
        else np.ma.array(["" if v is None else v for v in values], mask=[v is None for v in values])
        for k, values in t.items()
    }


TABLES = {
    "dict of lists": lambda t: {k: list(v) for k, v in t.items()},
    "dict of arrays": lambda t: {k: np.array(nan(v)) if k in ("num", "count") else objects(v) for k, v in t.items()},
    "dict of series": lambda t: {k: pl.Series(v) if k == "count" else pd.Series(v) for k, v in t.items()},
    "dict of masked arrays": masked,
    "pandas": pandas_numpy,
    "pandas nullable": pandas_nullable,
    "pandas category": pandas_category,
    "pandas arrow": pandas_arrow,
    "pandas arrow dictionary": pandas_dictionary,
    "pandas odd index": lambda t: pandas_nullable(t).set_index(np.arange(N, 0, -1) * 3),
    "polars": pl.DataFrame,
    "polars categorical": polars_of(pl.Categorical),
    "polars enum": polars_of(pl.Enum(["Zürich", "Basel", "nowhere", "Bern"])),
    "polars rechunked": lambda t: pl.concat([pl.DataFrame(t)[:100], pl.DataFrame(t)[100:]], rechunk=False),
    "arrow": arrow,
    "arrow dictionary": arrow_dictionary,
    "object array": lambda t: np.array(rows_of(t), dtype=object),
    "list of rows": rows_of,
}


every_table = pytest.mark.parametrize("kind", TABLES)


def families_of(model):
    return [choice.family.split("(")[0] for choice in model.schema_.choices]


def reason_of(model, column):
    return next(c.reason for c in model.schema_.choices if c.column == column)


REFERENCE = Generative(structure="naive").fit(TABLE, Y)


def some(table, rows):
    if isinstance(table, dict):
        return {k: [v[i] for i in rows] for k, v in table.items()}
    return table.iloc[list(rows)] if isinstance(table, pd.DataFrame) else table[list(map(int, rows))]


def same(a, b, table=TABLE, rtol=1e-11):
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(a.predict_joint_log_proba(table), b.predict_joint_log_proba(table), rtol=rtol)
