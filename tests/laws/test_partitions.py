"""Any partitioning of a table gives the model of the table in memory, in every engine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import suffit
from spark_here import spark_session
from suffit.engines import fit_arrow, fit_dask, fit_parts, fit_spark, fit_sql

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")

pytestmark = pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # of values in few rows

N = 90
SCHEMA = pa.schema(
    {
        "size": pa.float64(),
        "width": pa.float64(),
        "visits": pa.int64(),
        "city": pa.string(),
        "member": pa.bool_(),
        "class": pa.string(),
    }
)
SETTINGS = {
    "pool": {},
    "partitions": {"structure": "partitions"},
    "densities": {"structure": "densities"},
    "naive": {"structure": "naive"},
    "informative": {"structure": "naive", "missing": "informative", "unknown": "novel"},
    "joint": {"columns": {("size", "width"): suffit.MultivariateGaussian(tie=0.4)}},
}


@cache
def table() -> pa.Table:
    """Mixed columns with missing values; a class of three rows that has a category of its own and no sizes."""
    rng = np.random.default_rng(7)
    k = np.r_[np.arange(N - 3) % 2, 2, 2, 2]
    size = rng.normal(k, 1.0)
    values = {
        "size": np.where(k == 2, np.nan, size),
        "width": 0.8 * size + rng.normal(size=N),
        "visits": rng.poisson(3 + k),
        "city": np.where(k == 2, "own", np.array(["Bern", "Chur", "Basel"])[rng.choice(3, N)]),
        "member": rng.random(N) < 0.3 + 0.2 * k,
    }
    gone = {name: (rng.random(N) < 0.12) | (v != v) for name, v in values.items()}
    columns = [pa.array(v.tolist(), SCHEMA.field(name).type, mask=gone[name]) for name, v in values.items()]
    return pa.table([*columns, pa.array(np.array(["early", "late", "rare"])[k])], schema=SCHEMA)


@cache
def in_memory(which: str) -> suffit.GenerativeClassifier:
    return suffit.GenerativeClassifier(**SETTINGS[which]).fit(table().drop_columns(["class"]), table()["class"])


def by_parts(estimator, parts):
    """Data frames that know their own types only: without missing values, integers are integers."""
    frames = [part.to_pandas() for part in parts]
    return fit_parts(estimator, [(frame.drop(columns="class"), frame["class"].tolist()) for frame in frames])


def by_arrow(estimator, parts):
    return fit_arrow(estimator, iter([batch for part in parts for batch in part.to_batches()]), target="class")


def by_files(estimator, parts):
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.csv" for i in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            csv.write_csv(part, path)
        return fit_arrow(estimator, paths, target="class")


def by_duckdb(estimator, parts):
    with pytest.importorskip("duckdb").connect() as db:
        for i, part in enumerate(parts):
            db.register(f"part_{i}", part)
        query = " UNION ALL ".join(f"SELECT * FROM part_{i}" for i in range(len(parts)))
        return fit_sql(db, query, target="class", estimator=estimator)


def by_dask(estimator, parts):
    dask, dd = pytest.importorskip("dask"), pytest.importorskip("dask.dataframe")
    frames = [part.to_pandas(types_mapper=pd.ArrowDtype) for part in parts]
    made = dd.from_delayed([dask.delayed(f) for f in frames], meta=frames[0].iloc[:0], verify_meta=False)
    with dask.config.set(scheduler="synchronous"):
        return fit_dask(estimator, made, "class")


def by_spark(estimator, parts):
    session = spark_session()
    rows = session.sparkContext.parallelize([part.to_pylist() for part in parts], len(parts)).flatMap(list)
    types = "size double, width double, visits bigint, city string, member boolean, class string"
    return fit_spark(estimator, session.createDataFrame(rows, types), "class")


ENGINES: dict[str, Callable] = {
    "parts": by_parts,
    "arrow": by_arrow,
    "files": by_files,
    "duckdb": by_duckdb,
    "dask": by_dask,
    "spark": by_spark,
}


def the_same(one, other) -> None:
    a, b = one._model, other._model
    assert one.schema_.keys() == other.schema_.keys()
    assert a.classes == b.classes
    assert a.counts["n"].tolist() == b.counts["n"].tolist()
    for mine, theirs in zip(a.sums.parts, b.sums.parts, strict=True):
        assert mine.layout == theirs.layout
        if mine.origin is not None:
            mine, theirs = (sums.about(np.zeros_like(mine.origin)) for sums in (mine, theirs))
        assert mine.isclose(theirs, 1e-10)
        for name in {"n", "count", "part_n", "pair_n"} & mine.sums.keys():
            assert mine[name].tolist() == theirs[name].tolist()
    X = table().drop_columns(["class"])
    assert np.abs(one.predict_proba(X) - other.predict_proba(X)).max() <= 1e-10


PLACES = st.one_of(  # the part of each row: any, or rows in the order of a column with cuts anywhere
    st.lists(st.integers(0, 4), min_size=N, max_size=N),
    st.lists(st.integers(0, N), max_size=6).map(lambda cuts: np.searchsorted(sorted(cuts), np.arange(N), "right")),
)
ALONE = [3] * (N - 3) + [0, 1, 1]  # the rare class in parts of its own, beside one without rows


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=12)
@given(which=st.sampled_from(sorted(SETTINGS)), places=PLACES, chosen=st.booleans())
@example(which="pool", places=ALONE, chosen=False)
@example(which="partitions", places=ALONE, chosen=False)
@example(which="naive", places=list(range(N)), chosen=False)
def test_any_partitioning_gives_the_model_of_the_table_in_memory(engine, which, places, chosen):
    """Whether it chooses families and structures itself, or takes those of a fitted model."""
    if engine == "duckdb" and which in ("pool", "partitions"):  # trees have no SQL
        which = "densities"
    places = np.asarray(places)
    parts = [table().filter(pa.array(places == i)) for i in range(places.max() + 1)]
    whole = in_memory(which)
    estimator = whole if chosen else suffit.GenerativeClassifier(**SETTINGS[which])
    the_same(whole, ENGINES[engine](estimator, parts))
