"""A sample of rows in parts depends on their values alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from suffit.engines.sample import LEAST_OF_CLASS, RowSample


def rows(n: int = 3000):
    rng = np.random.default_rng(7)
    y = np.where(rng.random(n) < 0.02, "rare", np.where(rng.random(n) < 0.5, "a", "b"))
    city = np.array(["Bern", "Chur", None], object)[rng.choice(3, n)]
    return pd.DataFrame({"x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)), "city": city}), y


def contents(sample: RowSample) -> list[tuple]:
    weight = np.ones(len(sample.y)) if sample.weight is None else sample.weight
    X = pd.DataFrame(sample.X.to_dict(as_series=False)) if isinstance(sample.X, pl.DataFrame) else sample.X
    X = X.to_pandas() if isinstance(X, pa.Table) else X
    cells = zip(pd.array(X["x"], dtype="Float64"), X["city"], sample.y, weight.round(9), strict=True)
    return [(repr(x), str(c or None), str(y), w) for x, c, y, w in cells]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict"])
def test_neither_cuts_nor_order_nor_the_kind_of_table_change_the_sample(kind):
    frame, y = rows()
    make = {"polars": pl.from_pandas, "pyarrow": lambda f: pa.Table.from_pandas(f, preserve_index=False)}
    make |= {"pandas": lambda f: f, "dict": lambda f: {name: f[name].to_numpy() for name in f}}
    expected = contents(RowSample.of(frame, y, most=500))
    order = np.random.default_rng(1).permutation(len(y))
    for places in (np.array_split(np.arange(len(y)), 7), np.array_split(order, 4)):
        parts = [RowSample.of(make[kind](frame.iloc[p]), y[p], most=500) for p in places]
        found = parts[0]
        for part in parts[1:]:
            found = part + found
        assert contents(found) == expected
    assert len(expected) < 500 + LEAST_OF_CLASS


def test_a_rare_class_has_its_rows_and_every_class_its_share():
    frame, y = rows(30_000)
    sample = RowSample.of(frame, y, most=1000)
    assert (sample.y == "rare").sum() == LEAST_OF_CLASS
    assert not sample.whole
    for name in np.unique(y):
        assert sample.weight[sample.y == name].sum() / sample.weight.sum() == pytest.approx((y == name).mean())
    assert sample.X["x"].mean() == pytest.approx(0.0, abs=0.15)


def test_few_different_rows_are_counted_exactly():
    X, y = np.arange(1000)[:, None] % 4 * 1.0, np.arange(1000) % 3
    parts = [RowSample.of(X[i::3], y[i::3], np.full(len(y[i::3]), 2.0)) for i in range(3)]
    sample = parts[0] + parts[1] + parts[2]
    assert sample.whole
    assert len(sample.y) == 12
    assert sample.weight.sum() == 2000
    assert {(int(x), c): w for (x,), c, w in zip(sample.X, sample.y, sample.weight, strict=True)}[0, 0] == 2 * 84


def test_rows_without_label_or_weight_are_in_no_sample():
    empty = RowSample.of({"x": [1.0, 2.0]}, [None, "a"], [1.0, 0.0])
    assert empty.X is None
    assert (empty + RowSample.of({"x": [1.0]}, ["a"])).y.tolist() == ["a"]


def test_sparse_rows_are_sampled_as_they_are():
    X = sparse.random_array((400, 30), density=0.1, rng=np.random.default_rng(0), format="csr")
    y = np.arange(400) % 2
    whole = RowSample.of(X, y, most=50)
    parts = RowSample.of(X[:150], y[:150], most=50) + RowSample.of(X[150:], y[150:], most=50)
    np.testing.assert_array_equal(whole.X.toarray(), parts.X.toarray())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [2.0**62, 1e100])
def test_rows_of_great_weight_are_not_repeated(weight: float):
    """Three times 2⁶² is more than an integer holds."""
    X, y, weights = RowSample.of({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"], np.full(3, weight)).rows()
    assert len(y) == len(X["x"]) == 3
    np.testing.assert_array_equal(weights, np.full(3, weight))
