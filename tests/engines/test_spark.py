"""Spark frames give the model that one table in memory gives; they need pyspark and a Java to run it."""

from __future__ import annotations

import numpy as np
import pytest

import suffit
from spark_here import spark_session
from suffit.data.errors import InputError
from suffit.engines import fit_spark, predict_spark, spark

pa = pytest.importorskip("pyarrow")

N = 400
NAIVE = suffit.GenerativeClassifier(structure="naive")


@pytest.fixture(scope="module")
def session():
    return spark_session()


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Mixed columns with missing values, sorted by class: a class and a category are in some partitions only."""
    rng = np.random.default_rng(5)
    k = np.sort(rng.choice(3, N, p=[0.5, 0.45, 0.05]))
    size = rng.normal(k, 1.0)
    values = {
        "size": size,
        "width": 0.8 * size + rng.normal(size=N),
        "visits": rng.poisson(3 + k),
        "city": np.where(k == 2, "own", np.array(["Bern", "Chur", "Basel"])[rng.choice(3, N)]),
        "member": rng.random(N) < 0.3 + 0.2 * k,
    }
    columns = {name: pa.array(v.tolist(), mask=rng.random(N) < 0.1) for name, v in values.items()}
    return pa.table({**columns, "weight": rng.integers(1, 3, N).astype(float), "outcome": [f"class {i}" for i in k]})


@pytest.fixture(scope="module")
def frame(session, table):
    return session.createDataFrame(table).repartitionByRange(4, "outcome", "size").cache()


def same_sums(one, other) -> None:
    a, b = one._model, other._model
    assert a.classes == b.classes
    assert a.counts["n"].tolist() == b.counts["n"].tolist()
    for mine, theirs in zip(*(getattr(m.sums, "parts", [m.sums]) for m in (a, b)), strict=True):
        assert mine.isclose(theirs, 1e-10)
        for name in {"n", "count", "part_n", "pair_n"} & mine.sums.keys():
            assert mine[name].tolist() == theirs[name].tolist()


def test_a_frame_in_partitions_gives_the_model_of_one_table(table, frame):
    X, y = table.drop_columns(["outcome", "weight"]), table["outcome"]
    joint = {("size", "width"): suffit.MultivariateGaussian(tie=0.4)}
    whole = suffit.GenerativeClassifier(joint).fit(X, y)
    model = fit_spark(whole, frame.drop("weight"), "outcome")  # with the same choices
    same_sums(whole, model)
    assert np.abs(whole.predict_proba(X) - model.predict_proba(X)).max() < 1e-10


def test_what_is_chosen_from_values_is_chosen_from_all_partitions(table, frame):
    X, y, w = table.drop_columns(["outcome", "weight"]), table["outcome"], table["weight"].to_numpy()
    whole = suffit.GenerativeClassifier(structure="naive").fit(X, y, w)
    model = fit_spark(NAIVE, frame, "outcome", "weight")
    assert str(model.schema_) == str(whole.schema_)
    same_sums(whole, model)


def test_sums_of_many_partitions_are_added_by_tasks(table, frame, monkeypatch):
    monkeypatch.setattr(spark, "ADDERS", 1)
    numbers = ["size", "width", "visits"]
    model = fit_spark(suffit.LinearDiscriminantAnalysis(), frame.select(*numbers, "outcome"), "outcome")
    same_sums(suffit.LinearDiscriminantAnalysis().fit(table.select(numbers), table["outcome"]), model)


def test_predictions_are_further_columns(table, frame):
    X = table.drop_columns(["outcome", "weight"])
    model = suffit.GenerativeClassifier(structure="naive").fit(X, table["outcome"])
    found = predict_spark(model, frame, keep=["size", "width", "city"])
    assert found.columns == ["size", "width", "city", "predicted", "p(class 0)", "p(class 1)", "p(class 2)"]
    all_columns = predict_spark(model, frame.limit(3))
    assert all_columns.columns[:7] == frame.columns
    rows = predict_spark(model, frame, keep=X.column_names).toArrow()
    wanted = model.predict_proba(rows.select(X.column_names))
    assert np.abs(np.stack([rows[name].to_numpy() for name in rows.column_names[-3:]], axis=1) - wanted).max() < 1e-12
    assert rows["predicted"].to_pylist() == model.classes_[wanted.argmax(axis=1)].tolist()


def test_a_column_that_is_not_there_is_named_before_anything_runs(frame):
    with pytest.raises(InputError, match=r"there is no column 'outcom'; did you mean 'outcome'\?"):
        fit_spark(NAIVE, frame, "outcom")


def test_what_an_executor_refuses_is_said_in_one_line(session):
    odd = session.createDataFrame(pa.table({"x": [1.0, float("inf"), 2.0], "y": ["a", "a", "b"]})).coalesce(1)
    with pytest.raises(InputError, match=r"^Input X contains infinity: column 'x', found inf in row 1; replace it by"):
        fit_spark(suffit.GaussianNB(), odd, "y")
