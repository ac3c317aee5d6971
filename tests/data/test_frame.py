"""Tables of every kind give the same model; what is no table is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import suffit
from suffit import (
    CategoricalNB,
    GaussianNB,
    GenerativeClassifier,
    InputError,
)
from suffit import GenerativeClassifier as Generative
from suffit.data.frame import read_frame
from table_kinds import (
    FAMILIES,
    FIXED,
    NAMES,
    REFERENCE,
    TABLE,
    TABLES,
    N,
    Y,
    every_table,
    families_of,
    reason_of,
    same,
)

NUMERIC = [
    suffit.LDA,
    suffit.QDA,
    suffit.GDA,
    suffit.GaussianNB,
    suffit.BernoulliNB,
    suffit.PoissonNB,
    suffit.MultinomialNB,
    suffit.ComplementNB,
    suffit.NaiveBayes,
]


@pytest.mark.parametrize("make", [*NUMERIC, suffit.CategoricalNB, suffit.GenerativeClassifier])
def test_columns_of_one_name_are_refused_in_the_same_words(make):
    X = pd.DataFrame(np.ones((60, 2), int), columns=["a", "a"])
    with pytest.raises(suffit.InputError, match="column 'a' occurs 2 times; column names must be unique"):
        make().fit(X, [0, 1] * 30)


def test_a_record_is_no_dict_of_columns():
    table = {"b": [True, False, True, True] * 15, "z": np.arange(60) / 7, "w": ["Bern", "Chur"] * 30}
    model = suffit.GenerativeClassifier(structure="naive").fit(table, [0, 1] * 30)
    row = {"b": True, "z": 0.5, "w": "Bern"}
    for record in (row, {"w": "Bern"}, {"z": None}, {"z": {0: 1.0}}):
        with pytest.raises(
            suffit.InputError, match=r"column '.': a dict must hold a list .* found .*; for a single row use lists"
        ):
            model.predict(record)
    want = model.predict_proba({name: [value] for name, value in row.items()})
    np.testing.assert_allclose(model.scorer()(row), want[0])


@every_table
def test_a_table_of_any_kind_gives_the_same_model(kind):
    table = TABLES[kind](TABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Generative(structure="naive").fit(table, Y)
    assert families_of(model) == FAMILIES
    np.testing.assert_allclose(model.predict_proba(table), REFERENCE.predict_proba(TABLE), rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(model.predict(table), REFERENCE.predict(TABLE))
    np.testing.assert_allclose(model.score_samples(table), REFERENCE.score_samples(TABLE), rtol=1e-13)
    assert model.n_features_in_ == 5
    if "array" not in kind and kind != "list of rows":
        assert model.feature_names_in_.tolist() == NAMES == list(model.get_feature_names_out())
        for other in ("polars", "pandas", "dict of lists"):  # learned from one kind, asked with another
            given = TABLES[other](TABLE)
            np.testing.assert_array_equal(model.predict_proba(given), REFERENCE.predict_proba(TABLE))


def test_a_dict_of_arrow_arrays_is_a_table():
    pa = pytest.importorskip("pyarrow")
    table = {k: pa.chunked_array([v]) for k, v in TABLE.items()}
    np.testing.assert_array_equal(
        Generative(structure="naive").fit(table, Y).predict_proba(TABLE), REFERENCE.predict_proba(TABLE)
    )


def test_a_dict_of_arrow_arrays_with_nulls_is_a_table():
    pa = pytest.importorskip("pyarrow")
    table = {k: pa.array(v) for k, v in TABLE.items()}
    np.testing.assert_array_equal(
        Generative(structure="naive").fit(table, Y).predict_proba(TABLE), REFERENCE.predict_proba(TABLE)
    )


def test_masked_values_are_missing():
    rng = np.random.default_rng(0)
    X, mask = rng.normal(size=(N, 3)), rng.random((N, 3)) < 0.2
    a = Generative().fit(np.ma.array(X, mask=mask), Y)
    b = Generative().fit(np.where(mask, np.nan, X), Y)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    counts = rng.poisson(3, (N, 2))
    assert families_of(Generative().fit(np.ma.array(counts, mask=mask[:, :2]), Y)) == ["Poisson", "Poisson"]


def test_columns_come_in_any_order_at_predict():
    frame = pd.DataFrame(TABLE)
    model = Generative(FIXED).fit(frame, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict_proba(frame[NAMES[::-1]]), model.predict_proba(frame))
        swapped = Generative(FIXED).fit(frame, Y).partial_fit(frame[NAMES[::-1]], Y)
    same(swapped, Generative(FIXED).fit(frame, Y).partial_fit(frame, Y), frame)


def test_extra_columns_are_named_once():
    frame = pd.DataFrame(TABLE)
    model = Generative(FIXED).fit(frame, Y)
    more = frame.assign(extra=1, other="x")
    with pytest.warns(UserWarning, match=r"were not seen at fit: \['extra', 'other'\]; they are ignored") as caught:  # noqa: PT031
        p = model.predict_proba(more)
        model.predict(more)
        model.partial_fit(more, Y)
        model.forget(more, Y)
    assert len(caught) == 1
    np.testing.assert_array_equal(p, Generative(FIXED).fit(frame, Y).predict_proba(frame))
    with pytest.warns(UserWarning, match="were not seen at fit"):
        model.fit(frame, Y).predict(more)


def test_absent_columns_are_missing():
    model = Generative(FIXED).fit(TABLE, Y)
    part = {k: TABLE[k] for k in ("num", "flag")}
    with pytest.warns(UserWarning, match=r"missing from X: \['count', 'city', 'level'\]; treated as missing values"):
        p = model.predict_proba(pl.DataFrame(part))
    np.testing.assert_array_equal(
        p, model.predict_proba({**TABLE, **dict.fromkeys(("count", "city", "level"), [None] * N)})
    )
    with pytest.raises(InputError, match=r"X has none of the model's columns: the model has \['num', .*'elsewhere'"):
        model.predict(pl.DataFrame({"elsewhere": [1, 2]}))
    with pytest.warns(UserWarning, match="treated as missing values"):
        batch = Generative(FIXED).fit(TABLE, Y).partial_fit(part, Y)
    hidden = {**TABLE, **dict.fromkeys(("count", "city", "level"), [None] * N)}
    same(batch, Generative(FIXED).fit(TABLE, Y).partial_fit(hidden, Y))


def test_arrays_must_have_all_columns_in_order():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    model = Generative(structure="naive").fit(pd.DataFrame(X, columns=list("abc")), Y)
    np.testing.assert_array_equal(model.predict_proba(X), Generative(structure="naive").fit(X, Y).predict_proba(X))
    for bad in (X[:, :2], np.c_[X, X]):
        with pytest.raises(ValueError, match=r"X has \d features, but GenerativeClassifier is expecting 3"):
            model.predict(bad)
        with pytest.raises(ValueError, match="is expecting 3"):
            model.partial_fit(bad, Y)
    assert not hasattr(Generative(structure="naive").fit(X, Y), "feature_names_in_")


def test_an_array_and_a_frame_of_numbered_columns_are_the_same():
    X = np.random.default_rng(0).normal(size=(N, 3))
    model = Generative().fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(pd.DataFrame(X)), model.predict_proba(X))


def test_what_is_no_table_is_refused():
    numbers = np.array([1.0, 2.0, 4.0])
    y = ["a", "b", "a"]
    with pytest.raises(InputError, match="column 'a' occurs 2 times"):
        Generative().fit(pd.DataFrame(np.c_[numbers, numbers], columns=["a", "a"]), y)
    with pytest.raises(InputError, match="column '1' occurs 2 times"):
        Generative().fit({1: numbers, "1": numbers}, y)
    with pytest.raises(InputError, match=r"different lengths: {'a': 3, 'b': 2}"):
        Generative().fit({"a": numbers, "b": numbers[:2]}, y)
    with pytest.raises(InputError, match="column 'a': expected one value for each row"):
        Generative().fit({"a": np.zeros((3, 2))}, y)
    for empty in (pl.DataFrame({"a": []}), pd.DataFrame({"a": []}), {"a": []}, np.empty((0, 2))):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            Generative().fit(empty, [])
    for empty in (pd.DataFrame(index=range(3)), np.empty((3, 0))):
        with pytest.raises(ValueError, match=r"0 feature\(s\)"):
            Generative().fit(empty, y)
    with pytest.raises(ValueError, match="0 "):
        Generative().fit({}, y)
    with pytest.raises(TypeError, match=r"lazy frame.*collect"):
        Generative().fit(pl.DataFrame({"a": numbers}).lazy(), y)
    for matrix in (sparse.csr_matrix(np.eye(3)), sparse.csc_array(np.eye(3))):
        with pytest.raises(TypeError, match=r"[Ss]parse.*toarray"):
            Generative().fit(matrix, y)
    for flat in (numbers, pd.Series(numbers), pl.Series(numbers), "abc", None, 3):
        with pytest.raises(ValueError, match="2D array"):
            Generative().fit(flat, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Generative().fit({"a": numbers}, y[:2])
    with pytest.raises(ValueError, match="requires y to be passed"):
        Generative().fit({"a": numbers}, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Generative(missing_target="drop").fit({"a": numbers}, ["a", None])


def test_an_empty_table_is_refused_at_predict():
    model = Generative().fit(TABLE, Y)
    for method in ("predict", "predict_proba", "score_samples", "impute", "novelty"):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            getattr(model, method)(pl.DataFrame(TABLE)[:0])


def test_column_names_that_are_no_words():
    X = np.random.default_rng(0).normal(size=(N, 2))
    numbered = pd.DataFrame(X)
    model = Generative({1: "gaussian"}).fit(numbered, Y)
    assert reason_of(model, "1") == "set by the user"
    np.testing.assert_array_equal(model.predict_proba(numbered), model.predict_proba(numbered[[1, 0]]))
    two = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    model = Generative().fit(two, Y)
    assert model.predict_proba(two).shape == (N, 3)
    assert len(model.get_feature_names_out()) == 2
    odd = {"": X[:, 0], " ü\n": X[:, 1]}
    assert Generative().fit(odd, Y).predict(odd).shape == (N,)


def test_a_pandas_frame_that_hides_its_arrays_is_read_by_its_series(monkeypatch):
    table = TABLES["pandas"](TABLE)
    known = Generative(structure="naive").fit(table, Y)
    monkeypatch.delattr(pd.DataFrame, "_iter_column_arrays")
    again = Generative(structure="naive").fit(table, Y)
    assert repr(again.schema_) == repr(known.schema_)
    np.testing.assert_array_equal(again.predict_proba(table), known.predict_proba(table))


def test_a_frame_is_not_written_to():
    table = TABLES["pandas"](TABLE)
    columns = read_frame(table).columns.values()
    arrays = [c.values for c in columns if hasattr(c, "values")]
    assert arrays
    assert not any(a.flags.writeable for a in arrays)


X4, Y4 = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 3.0], [3.0, 2.5]]), [0, 0, 1, 1]


ROWS = [{"a": float(i), "b": "xy"[i % 2], "c": i % 3} for i in range(60)]


RECORDS = np.array([tuple(row.values()) for row in ROWS], dtype=[("a", float), ("b", "U1"), ("c", int)])


@pytest.mark.filterwarnings("ignore::suffit.DroppedColumnWarning")  # column a is a running number
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


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # column a is a running number; rows lack columns
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
