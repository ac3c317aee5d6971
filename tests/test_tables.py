"""GenerativeClassifier: tables of every kind, the choice of families, exactness, laws, missing values, draws."""

from __future__ import annotations

import copy
import datetime
import decimal
import itertools
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import narwhals.selectors as ncs
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from scipy.special import digamma, logsumexp
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from suffit import (
    GDA,
    LDA,
    Bernoulli,
    Binned,
    Categorical,
    CategoricalNB,
    DroppedColumnWarning,
    GaussianNB,
    InputError,
    Multinomial,
    MultinomialNB,
    MultivariateGaussian,
    NaiveBayes,
    VonMises,
)
from suffit import Gamma as GammaFamily
from suffit import Gaussian as GaussianFamily
from suffit import GenerativeClassifier as Generative
from suffit.data.frame import read_frame
from suffit.data.labels import Index
from suffit.data.rows import Rows, encode
from suffit.families.counts.categorical import category_stats
from suffit.families.elementwise.gamma import shape_of
from suffit.tables import column_family as choosing
from suffit.tables.schema import DROPPED

pytestmark = [
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning"),
]


# --- one table, of numbers, counts, yes and no, words and categories, with missing values

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


def test_integer_categories_are_levels():
    frame = pandas_category(TABLE)
    assert frame["level"].cat.categories.dtype.kind == "i"
    assert next(c for c in Generative().fit(frame, Y).schema_.choices if c.column == "level").kind == "categorical"


def test_masked_arrays_are_arrays_with_holes():
    rng = np.random.default_rng(0)
    X, mask = rng.normal(size=(N, 3)), rng.random((N, 3)) < 0.2
    a = Generative().fit(np.ma.array(X, mask=mask), Y)
    b = Generative().fit(np.where(mask, np.nan, X), Y)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    counts = rng.poisson(3, (N, 2))
    assert families_of(Generative().fit(np.ma.array(counts, mask=mask[:, :2]), Y)) == ["Poisson", "Poisson"]


# --- which family a column gets

RNG = np.random.default_rng(5)
CLASS = RNG.integers(0, 3, 2000)
CHOSEN = {
    "normal": (RNG.normal(CLASS, 1.0), ["Gaussian"]),
    "normal and positive": (RNG.normal(50 + CLASS, 1.0), ["Gaussian"]),
    "float32": (RNG.normal(CLASS, 1.0).astype(np.float32), ["Gaussian"]),
    "log-normal": (RNG.lognormal(CLASS, 1.5), ["LogNormal"]),
    "gamma": (RNG.gamma(0.7 + CLASS, 2.0) + 1e-9, ["Gamma"]),
    "yes or no": (RNG.random(2000) < 0.3, ["Bernoulli"]),
    "0 and 1": (RNG.integers(0, 2, 2000), ["Bernoulli"]),
    "words": (np.array(["a", "b", "", " ", "ü"])[RNG.integers(0, 5, 2000)], ["Categorical"]),
    "bytes": (np.array([b"a", b"b"])[RNG.integers(0, 2, 2000)], ["Categorical"]),
    "counts": (RNG.poisson(2 + 3 * CLASS), ["Poisson"]),
    "uint8 counts": (RNG.poisson(2 + 3 * CLASS).astype(np.uint8), ["Poisson"]),
    "counts as floats": (RNG.poisson(2 + 3 * CLASS).astype(float), ["Poisson"]),
    "levels": (RNG.choice([1, 7, 20], 2000), ["Categorical"]),
    "uneven categories": (RNG.choice([0, 1, 2, 3], 2000, p=[0.1, 0.6, 0.05, 0.25]), ["Categorical"]),
    "large integers": (RNG.normal(5000, 300, 2000).astype(int), ["Gaussian"]),
    "negative integers": (RNG.integers(-500, 500, 2000), ["Gaussian"]),
}


@pytest.mark.parametrize("what", CHOSEN)
def test_E2_the_values_speak_for_a_family(what):
    values, expected = CHOSEN[what]
    for table in ({"it": values}, pl.DataFrame({"it": values}), pd.DataFrame({"it": values})):
        model = Generative().fit(table, CLASS)
        assert families_of(model) == expected, model.schema_
        assert reason_of(model, "it")


LEFT = {
    "running number": (np.arange(N), "running number"),
    "shuffled running number": (np.random.default_rng(0).permutation(N) + 1000, "running number"),
    "unique words": ([f"k{i}" for i in range(N)], "300 distinct values in 300 rows"),
    "constant": ([3.5] * N, "every value is 3.5"),
    "constant word": (["x"] * N, "same"),
    "constant truth": ([True] * N, "every value is 1"),
    "nothing": ([None] * N, "no value"),
    "nan": ([float("nan")] * N, "no value"),
    "dates": ([datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(N)], "date or time"),
    "instants": ([datetime.datetime(2020, 1, 1, 1, i % 60) for i in range(N)], "date or time"),
    "times": ([datetime.time(i % 24) for i in range(N)], "date or time"),
    "spans": ([datetime.timedelta(i) for i in range(N)], "date or time"),
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("what", LEFT)
def test_columns_that_say_nothing_are_left_out_with_a_reason(what, make):
    values, reason = LEFT[what]
    table = make({"odd": values, "num": np.array(nan(TABLE["num"]))})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Generative(structure="naive").fit(table, Y)
    assert reason in reason_of(model, "odd")
    said = [str(w.message) for w in caught]
    assert said == [] if "constant" in what else len(said) == 1
    gist = reason_of(model, "odd").partition(" (")[0]
    assert all(text == f"columns dropped from the model: 'odd': {gist}" for text in said)
    assert families_of(model)[0] == DROPPED
    assert [c.column for c in model.schema_.leave_one_out()] == ["odd"]
    assert model.get_feature_names_out().tolist() == ["num"]
    assert model.feature_names_in_.tolist() == ["odd", "num"]
    alone = Generative(structure="naive").fit({"num": TABLE["num"]}, Y)
    np.testing.assert_array_equal(model.predict_proba(table), alone.predict_proba({"num": TABLE["num"]}))


def test_instants_with_a_time_zone_are_left_out():
    when = pd.date_range("2026-01-01", periods=N, tz="Europe/Berlin")
    for frame in (pd.DataFrame({"when": when, "num": TABLE["num"]}), pl.DataFrame({"when": when, "num": TABLE["num"]})):
        with pytest.warns(DroppedColumnWarning, match="when.*VonMises"):
            Generative().fit(frame, Y)


def test_a_long_running_number_is_left_out():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"id": np.arange(50_000), "x": rng.normal(size=50_000)})
    with pytest.warns(DroppedColumnWarning, match="'id': an identifier"):
        Generative().fit(table, rng.integers(0, 2, 50_000))


def test_a_hundred_thousand_distinct_words_are_left_out():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"id": [f"k{i}" for i in range(100_000)], "x": rng.normal(size=100_000)})
    with pytest.warns(DroppedColumnWarning, match="'id': an identifier"):
        Generative().fit(table, rng.integers(0, 2, 100_000))


def test_many_levels_that_come_back_are_levels():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"zip": rng.integers(0, 15_000, 300_000).astype(str), "x": rng.normal(size=300_000)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert families_of(Generative().fit(table, rng.integers(0, 2, 300_000)))[0] == "Categorical"


UNREADABLE = {
    "lists": (lambda: pl.DataFrame({"odd": [[1, 2]] * N, "num": TABLE["num"]}), "lists or the like"),
    "structs": (lambda: pl.DataFrame({"odd": [{"a": 1}] * N, "num": TABLE["num"]}), "lists or the like"),
    "lists in a dict": (lambda: {"odd": [[1, 2]] * N, "num": TABLE["num"]}, "lists or the like"),
    "lists in pandas": (lambda: pd.DataFrame({"odd": [[1, 2]] * N, "num": TABLE["num"]}), "lists or the like"),
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
    assert reason_of(model, "odd") == "as asked"
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


# --- what the user asks for


def test_a_family_by_name_by_object_and_by_tuple():
    rng = np.random.default_rng(1)
    table = {**TABLE, "hour": rng.uniform(0, 24, N), "a": rng.normal(size=N), "b": rng.normal(size=N)}
    columns = {
        "num": GaussianFamily(smoothing=1e-3),
        "count": "geometric",
        "flag": Categorical(alpha=0.5),
        "city": "drop",
        ("a", "b"): MultivariateGaussian(tie=1.0),
        "hour": VonMises(period=24),
        "level": "auto",
    }
    model = Generative(columns).fit(pd.DataFrame(table), Y)
    shown = {c.column: c.family for c in model.schema_.choices}
    assert shown == {
        "num": "Gaussian(smoothing=0.001)",
        "count": "Geometric()",
        "flag": "Categorical(alpha=0.5)",
        "city": DROPPED,
        "level": "Categorical()",
        "hour": "VonMises(period=24)",
        "a": "MultivariateGaussian(tie=1.0)",
        "b": "MultivariateGaussian(tie=1.0)",
    }
    blocks = [("a", "b"), ("count",), ("flag",), ("hour",), ("level",), ("num",)]  # in any order of the table
    assert [b.columns for b in model._model.family.blocks] == blocks


def test_no_warning_for_what_was_dropped_as_asked():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Generative({"id": "drop", "when": "drop"}).fit(
            {"id": np.arange(N), "when": np.full(N, np.datetime64("2020-01-01")), "num": TABLE["num"]}, Y
        )


def test_selectors_of_scikit_learn():
    frame = pandas_nullable(TABLE)
    model = Generative({make_column_selector(dtype_include="number"): "gaussian"}).fit(frame, Y)
    assert families_of(model) == ["Gaussian", "Gaussian", "Bernoulli", "Categorical", "Gaussian"]
    assert ("count", "level", "num") in [b.columns for b in model._model.family.blocks]
    named = Generative({make_column_selector(pattern="^c"): "drop"}).fit(frame, Y)
    assert [c.column for c in named.schema_.leave_one_out()] == ["count", "city"]
    again = pickle.loads(pickle.dumps(clone(model).fit(frame, Y)))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
    by_function = Generative({(lambda t: [c for c in t.columns if c.startswith("c")]): "drop"}).fit(frame, Y)
    np.testing.assert_array_equal(by_function.predict_proba(frame), named.predict_proba(frame))


def test_selectors_of_narwhals():
    model = Generative([(ncs.numeric(), "gaussian")]).fit(pl.DataFrame(TABLE), Y)
    assert families_of(model) == ["Gaussian", "Gaussian", "Bernoulli", "Categorical", "Gaussian"]


BAD_COLUMNS = {
    "unknown name": ({"nome": "gaussian"}, "no column 'nome'; the columns are .*'num'"),
    "unknown in a tuple": ({("num", "nome"): MultivariateGaussian()}, "no column 'nome'"),
    "twice": ({"num": "gaussian", ("num", "count"): MultivariateGaussian()}, "'num' is named more than once"),
    "twice in a tuple": ({("num", "num"): MultivariateGaussian()}, "'num' is named more than once"),
    "words as numbers": ({"city": GaussianFamily()}, "column 'city': gaussian needs numbers.*Categorical"),
    "words in a joint block": ({("num", "city"): MultivariateGaussian()}, "column 'city': .* needs numbers"),
    "no such family": ({"num": "gaussain"}, "unknown family 'gaussain'; known: .*gaussian"),
    "a class": ({"num": GaussianFamily}, r"columns\['num'\].*a family object such as Gaussian\(\)"),
    "a number": ({"num": 3}, r"columns\['num'\] = 3"),
    "None": ({"num": None}, r"columns\['num'\] = None"),
    "a list": (["num"], "'columns' parameter"),
    "a word": ("all", "'columns' parameter"),
}


@pytest.mark.parametrize("what", BAD_COLUMNS)
def test_bad_columns_are_refused(what):
    columns, message = BAD_COLUMNS[what]
    for table in (TABLE, pl.DataFrame(TABLE)):
        model = Generative(columns)
        with pytest.raises(ValueError, match=message):
            model.fit(table, Y)
        assert not model.__sklearn_is_fitted__()


def test_a_selector_that_names_no_column_is_refused():
    with pytest.raises(ValueError, match="no column 'nome'"):
        Generative({(lambda t: ["nome"]): "gaussian"}).fit(TABLE, Y)


def test_auto_for_a_tuple_is_auto_for_each():
    model = Generative({("num", "city"): "auto"}).fit(TABLE, Y)
    assert families_of(model) == FAMILIES


def test_columns_named_one_by_one_are_independent():
    rng = np.random.default_rng(0)
    a = rng.normal(size=N)
    table = {"a": a, "b": a + 0.1 * rng.normal(size=N)}
    apart = Generative({"a": MultivariateGaussian(), "b": MultivariateGaussian()}).fit(table, Y)
    naive = Generative({"a": GaussianFamily(), "b": GaussianFamily()}).fit(table, Y)
    np.testing.assert_allclose(apart.predict_proba(table), naive.predict_proba(table), atol=1e-6)


def test_settings_of_a_family_are_kept():
    categories = np.random.default_rng(0).integers(0, 3, N)
    model = Generative({"k": Categorical(least_categories=5)}).fit({"k": categories}, Y)
    plain = CategoricalNB(min_categories=5).fit(categories[:, None], Y)
    np.testing.assert_allclose(model.predict_proba({"k": categories}), plain.predict_proba(categories[:, None]))


def test_the_schema_in_words_and_in_html():
    with pytest.warns(DroppedColumnWarning):
        model = Generative().fit({**TABLE, "<id>": np.arange(N)}, Y)
    lines = str(model.schema_).splitlines()
    assert lines[0].split() == ["column", "kind", "family", "reason"]
    assert [line.split()[0] for line in lines[1:]] == [*NAMES, "<id>"]
    assert "running number" in lines[-1]
    html = model.schema_._repr_html_()
    assert html.count("<tr>") == 7
    assert "<td>&lt;id&gt;</td>" in html
    assert "<td>Poisson()</td>" in html
    assert model.schema_._repr_html_() in model._repr_html_()
    assert "<th>reason</th>" not in Generative()._repr_html_()


# --- exactness


def test_gaussian_columns_are_gaussian_naive_bayes():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 4)) * [1, 10, 1e-3, 1e4] + rng.normal(size=(3, 4))[np.unique(Y, return_inverse=True)[1]]
    X[rng.random(X.shape) < 0.1] = np.nan
    family = GaussianFamily(smoothing=1e-9)
    model = Generative(dict.fromkeys("abcd", family)).fit(dict(zip("abcd", X.T, strict=True)), Y)
    table = dict(zip("abcd", X.T, strict=True))
    for plain in (NaiveBayes("gaussian").fit(X, Y), GaussianNB(floor="own").fit(X, Y)):
        np.testing.assert_allclose(
            model.predict_joint_log_proba(table), plain.predict_joint_log_proba(X), rtol=1e-12, atol=1e-12
        )
        np.testing.assert_allclose(model.score_samples(table), plain.score_samples(X), rtol=1e-12)
    assert model.n_parameters_ == plain.n_parameters_


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_N5_level_columns_are_categorical_naive_bayes(alpha):
    rng = np.random.default_rng(3)
    X = np.column_stack([np.array(list("uvw"))[rng.integers(0, 3, N)], np.array(list("pqrst"))[rng.integers(0, 5, N)]])
    X = X.astype(object)
    X[rng.random(X.shape) < 0.1] = None
    model = Generative({"a": Categorical(alpha=alpha), "b": Categorical(alpha=alpha)})
    table = {"a": X[:, 0], "b": X[:, 1]}
    plain = CategoricalNB(alpha=alpha).fit(X, Y)
    model.fit(table, Y)
    np.testing.assert_allclose(model.predict_proba(table), plain.predict_proba(X), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(model.predict_joint_log_proba(table), plain.predict_joint_log_proba(X), rtol=1e-12)


def test_a_joint_block_of_all_columns_is_discriminant_analysis():
    rng = np.random.default_rng(4)
    X = (
        rng.normal(size=(N, 3)) @ rng.normal(size=(3, 3))
        + rng.normal(size=(3, 3))[np.unique(Y, return_inverse=True)[1]]
    )
    table = pl.DataFrame(X, schema=list("abc"))
    shared = Generative({("a", "b", "c"): MultivariateGaussian(tie=1.0, pooled=True)}).fit(table, Y)
    own = Generative({("a", "b", "c"): "multivariate_gaussian"}).fit(table, Y)
    some = Generative({("c", "a", "b"): MultivariateGaussian(tie=0.5, shrinkage=0.1)}).fit(table, Y)
    np.testing.assert_allclose(shared.predict_proba(table), LDA().fit(X, Y).predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(shared.score_samples(table), GDA(tie=1.0).fit(X, Y).score_samples(X), rtol=1e-12)
    np.testing.assert_allclose(own.score_samples(table), GDA().fit(X, Y).score_samples(X), rtol=1e-12)
    np.testing.assert_allclose(
        some.score_samples(table), GDA(tie=0.5, shrinkage=0.1).fit(X, Y).score_samples(X), rtol=1e-11
    )
    assert own.n_parameters_ == GDA().fit(X, Y).n_parameters_


def by_hand(model_rows, rows):
    """log p(x, y) of rows of TABLE's kind by the textbook, from the rows learned: a missing value adds nothing."""
    out = np.empty((len(rows["num"]), 3))
    for c, label in enumerate(["ant", "bee", "cat"]):
        here = np.flatnonzero(label == Y)
        total = np.full(len(out), np.log(len(here) / N))

        def seen(k, here=here):
            return [model_rows[k][i] for i in here if model_rows[k][i] is not None]

        everyone = [v for v in model_rows["num"] if v is not None]
        spread = np.sqrt(np.var(seen("num")) + 1e-9 * np.var(everyone))
        counts = [v for v in model_rows["count"] if v is not None]
        rate = (sum(seen("count")) + np.mean(counts)) / (len(seen("count")) + 1)
        share = (sum(seen("flag")) + 1) / (len(seen("flag")) + 2)
        for i in range(len(out)):
            row = {k: v[i] for k, v in rows.items()}
            if row["num"] is not None:
                total[i] += stats.norm.logpdf(row["num"], np.mean(seen("num")), spread)
            if row["count"] is not None:
                total[i] += stats.poisson.logpmf(row["count"], rate)
            if row["flag"] is not None:
                total[i] += np.log(share if row["flag"] else 1 - share)
            for k in ("city", "level"):
                categories = {v for v in model_rows[k] if v is not None}
                if row[k] is not None:
                    total[i] += np.log((seen(k).count(row[k]) + 1) / (len(seen(k)) + len(categories)))
        out[:, c] = total
    return out


def test_C4_a_mixed_row_is_the_sum_of_its_parts():
    model = Generative(FIXED).fit(TABLE, Y)
    joint = by_hand(TABLE, TABLE)
    np.testing.assert_allclose(model.predict_joint_log_proba(TABLE), joint, rtol=1e-11)
    np.testing.assert_allclose(model.score_samples(TABLE), logsumexp(joint, axis=1), rtol=1e-11)
    np.testing.assert_allclose(model.predict_log_proba(TABLE), joint - logsumexp(joint, axis=1)[:, None], atol=1e-11)
    at = np.searchsorted(model.classes_, Y)
    likelihood = joint[np.arange(N), at].sum()
    assert model.log_likelihood(TABLE, Y) == pytest.approx(likelihood, rel=1e-12)
    assert model.n_parameters_ == 3 * (2 + 1 + 1 + 2 + 2) + 2
    assert model.aic(TABLE, Y) == pytest.approx(2 * 26 - 2 * likelihood, rel=1e-12)
    assert model.bic(TABLE, Y) == pytest.approx(np.log(N) * 26 - 2 * likelihood, rel=1e-12)


def test_C4_holes_are_summed_out_over_every_completion():
    rng = np.random.default_rng(6)
    categories = {"a": ["x", "y", "z"], "b": [False, True], "c": [3, 5]}
    table = {
        k: [None if rng.random() < 0.2 else v[rng.integers(len(v))] for _ in range(120)] for k, v in categories.items()
    }
    y = rng.integers(0, 3, 120)
    model = Generative({"a": "categorical", "b": "bernoulli", "c": "categorical"}).fit(table, y)
    complete = list(itertools.product(*categories.values()))
    density = np.exp(model.predict_joint_log_proba({k: [r[j] for r in complete] for j, k in enumerate(categories)}))
    np.testing.assert_allclose(density.sum(), 1.0, rtol=1e-12)
    for pattern in itertools.product([False, True], repeat=3):
        for row in complete:
            with_missing = [None if gone else v for v, gone in zip(row, pattern, strict=True)]
            fits = [all(g or u == v for u, v, g in zip(row, other, pattern, strict=True)) for other in complete]
            expected = density[fits].sum(axis=0)
            found = model.predict_joint_log_proba({k: [with_missing[j]] for j, k in enumerate(categories)})[0]
            np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)


def test_C4_a_row_without_any_value_gets_the_prior():
    model = Generative().fit(TABLE, Y)
    nothing = {k: [None, None] for k in TABLE}
    shares = np.array([np.mean(c == Y) for c in model.classes_])
    np.testing.assert_allclose(model.predict_proba(nothing), [shares] * 2, rtol=1e-13)
    np.testing.assert_allclose(model.score_samples(nothing), 0.0, atol=1e-14)
    polars = pl.DataFrame({k: [None] for k in TABLE})
    np.testing.assert_allclose(model.predict_proba(polars), [shares], rtol=1e-13)
    np.testing.assert_allclose(
        Generative(priors="uniform").fit(TABLE, Y).predict_proba(nothing), np.full((2, 3), 1 / 3), rtol=1e-13
    )


# --- laws, with columns fixed


def some(table, rows):
    if isinstance(table, dict):
        return {k: [v[i] for i in rows] for k, v in table.items()}
    return table.iloc[list(rows)] if isinstance(table, pd.DataFrame) else table[list(map(int, rows))]


def same(a, b, table=TABLE, rtol=1e-11):
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(a.predict_joint_log_proba(table), b.predict_joint_log_proba(table), rtol=rtol)


@pytest.mark.parametrize("kind", ["dict of lists", "pandas", "pandas category", "polars", "polars enum"])
@pytest.mark.parametrize("missing", ["ignore", "informative"])
def test_N10_batches_merges_and_forgetting(kind, missing):
    table = TABLES[kind](TABLE)
    whole = Generative(FIXED, missing=missing).fit(table, Y)
    rng = np.random.default_rng(0)
    parts = np.split(rng.permutation(N), [3, 40, 41, 42, 200])
    model, models = Generative(FIXED, missing=missing), []
    for part in parts:
        model.partial_fit(some(table, part), Y[part])
        if len(part) > 1:
            models.append(Generative(FIXED, missing=missing).fit(some(table, part), Y[part]))
        else:
            models[-1].partial_fit(some(table, part), Y[part])
    same(model, whole, table)
    same(models[2].merge(*models[:2], *models[3:]), whole, table)
    same(sum(models), whole, table)
    gone = parts[-1]
    same(model.forget(some(table, gone), Y[gone]), sum(models[:-1]), table)
    without = Y != "bee"
    left = whole.forget(some(table, np.flatnonzero(~without)), Y[~without])
    same(left, Generative(FIXED, missing=missing).fit(some(table, np.flatnonzero(without)), Y[without]), table)
    order = rng.permutation(N)
    same(Generative(FIXED).fit(some(table, order), Y[order]), Generative(FIXED).fit(table, Y), table)


def test_N10_one_row_at_a_time():
    model = Generative(FIXED)
    for i in range(60):
        model.partial_fit(some(TABLE, [i]), Y[i : i + 1])
    same(model, Generative(FIXED).fit(some(TABLE, range(60)), Y[:60]))


@pytest.mark.parametrize("missing", ["ignore", "informative"])
def test_a_weight_is_a_number_of_repetitions(missing):
    weight = np.random.default_rng(0).integers(0, 4, N)
    a = Generative(FIXED, missing=missing).fit(pl.DataFrame(TABLE), Y, sample_weight=weight)
    rows = np.repeat(np.arange(N), weight)
    b = Generative(FIXED, missing=missing).fit(pl.DataFrame(TABLE)[rows], Y[rows])
    same(a, b)
    auto = Generative(missing=missing).fit(TABLE, Y, sample_weight=weight)
    assert families_of(auto) == FAMILIES


def test_a_row_of_weight_0_leaves_no_trace():
    table = {**TABLE, "city": [*TABLE["city"][:-1], "Atlantis"]}
    weight = np.r_[np.ones(N - 1), 0]
    model = Generative(unknown="error").fit(table, [*Y[:-1], "dog"], sample_weight=weight)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    with pytest.raises(InputError, match="Atlantis"):
        model.predict(some(table, [N - 1]))


def test_C3_new_classes_and_new_levels_come_later():
    first = np.flatnonzero((Y != "cat") & (np.array(TABLE["city"]) != "Bern"))
    rest = np.setdiff1d(np.arange(N), first)
    model = Generative(FIXED).fit(some(TABLE, first), Y[first])
    model.partial_fit(some(TABLE, rest), Y[rest])
    same(model, Generative(FIXED).fit(TABLE, Y))


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
    with pytest.warns(UserWarning, match=r"fit has not seen: \['extra', 'other'\]; they are ignored") as caught:  # noqa: PT031
        p = model.predict_proba(more)
        model.predict(more)
        model.partial_fit(more, Y)
        model.forget(more, Y)
    assert len(caught) == 1
    np.testing.assert_array_equal(p, Generative(FIXED).fit(frame, Y).predict_proba(frame))
    with pytest.warns(UserWarning, match="fit has not seen"):
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


def test_pickles_clones_and_copies():
    for kind in ("polars enum", "pandas category", "dict of lists", "object array"):
        table = TABLES[kind](TABLE)
        model = Generative(structure="naive", missing="informative", unknown="novel").fit(table, Y)
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(table, Y)):
            np.testing.assert_array_equal(other.predict_proba(table), model.predict_proba(table))
            assert str(other.schema_) == str(model.schema_)
            assert type(other.sample(3, random_state=0)[0]) is type(model.sample(3, random_state=0)[0])
        assert not clone(model).__sklearn_is_fitted__()
        assert len(pickle.dumps(model)) < 10_000


def test_C6_pipelines_and_searches_over_frames():
    frame = pandas_nullable(TABLE).reset_index(drop=True)
    assert cross_val_score(Generative(), frame, Y, cv=5).mean() > 0.6
    p = cross_val_predict(Generative(), frame, Y, cv=4, method="predict_proba")
    np.testing.assert_allclose(p.sum(axis=1), 1)
    grid = {"missing": ["ignore", "informative"], "columns": ["auto", FIXED, {**FIXED, "city": Categorical(alpha=9)}]}
    search = GridSearchCV(Generative(), grid, cv=3, error_score="raise").fit(frame, Y)
    assert search.best_score_ > 0.6
    added = FunctionTransformer(lambda t: t.assign(square=t["num"] ** 2), feature_names_out=None)
    piped = make_pipeline(added, Generative()).fit(frame, Y)
    np.testing.assert_array_equal(
        piped.predict_proba(frame), Generative().fit(added.transform(frame), Y).predict_proba(added.transform(frame))
    )
    named = Pipeline([("more", added), ("model", Generative())]).set_params(model__missing="informative").fit(frame, Y)
    assert named.score(frame, Y) > 0.6
    polars = pl.DataFrame(TABLE)
    assert cross_val_score(Generative(), polars, Y, cv=3).mean() > 0.6


BAD_CALLS = {
    "other rows": lambda m: m.fit(TABLE, Y[:-1]),
    "nested": lambda m: m.fit({"a": [[1]] * N}, Y),
    "y missing": lambda m: m.fit(TABLE, [None, *Y[1:]]),
    "infinity": lambda m: m.fit({**TABLE, "num": [np.inf, *TABLE["num"][1:]]}, Y),
    "batch infinity": lambda m: m.partial_fit({**TABLE, "num": [np.inf, *TABLE["num"][1:]]}, Y),
    "batch of words": lambda m: m.partial_fit({**TABLE, "num": ["a"] * N}, Y),
    "batch of other columns": lambda m: m.partial_fit({"q": [1.0] * N}, Y),
    "never learned": lambda m: m.forget({**TABLE, "city": ["Genf"] * N}, Y),
    "weights": lambda m: m.fit(TABLE, Y, sample_weight=-np.ones(N)),
}


@pytest.mark.parametrize("what", BAD_CALLS)
def test_what_fails_changes_nothing(what):
    model = Generative(FIXED).fit(some(TABLE, range(100)), Y[:100])
    fresh = Generative()
    before, p = pickle.dumps(model), model.predict_proba(TABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError):
            BAD_CALLS[what](model)
        if not any(k in what for k in ("batch", "never")):
            with pytest.raises(ValueError):
                BAD_CALLS[what](fresh)
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(model.predict_proba(TABLE), p)
    assert vars(fresh).keys() == vars(Generative()).keys()


@pytest.mark.parametrize(
    "settings", [{"columns": {"num": "bernoulli"}}, {"columns": {"nome": "gaussian"}}, {"missing": "informative"}]
)
def test_a_batch_under_settings_that_change_the_sums_is_refused(settings):
    model = Generative().fit(TABLE, Y).set_params(**settings)
    with pytest.raises(ValueError):
        model.partial_fit(TABLE, Y)


def test_models_that_keep_other_sums_do_not_merge():
    model = Generative(FIXED).fit(TABLE, Y)
    for other in (
        Generative({**FIXED, "num": Binned([0.0])}).fit(TABLE, Y),
        Generative(FIXED, missing="informative").fit(TABLE, Y),
        Generative().fit({k: TABLE[k] for k in ("num", "city")}, Y),
        GaussianNB().fit(np.zeros((3, 5)), ["ant", "bee", "cat"]),
    ):
        before = pickle.dumps(model)
        for a, b in ((model, other), (other, model)):
            with pytest.raises(InputError, match=r"merge|combined|columns"):
                a.merge(b)
        assert pickle.dumps(model) == before


def test_models_of_tables_in_another_order_merge():
    back = {k: TABLE[k] for k in NAMES[::-1]}
    for columns in (FIXED, "auto"):
        for missing in ("ignore", "informative"):
            model = Generative(columns, structure="naive", missing=missing)
            a, b = clone(model).fit(TABLE, Y), clone(model).fit(back, Y)
            same(a + b, clone(model).fit(TABLE, Y).partial_fit(TABLE, Y))
    joint = {("num", "count"): MultivariateGaussian()}
    twice = Generative(joint).fit(TABLE, Y).partial_fit(TABLE, Y)
    same(Generative(joint).fit(TABLE, Y) + Generative(joint).fit(back, Y), twice)


@pytest.mark.parametrize("structure", ["auto", "naive"])
@pytest.mark.parametrize("missing", ["ignore", "informative"])
def test_shards_fitted_with_one_schema_merge(structure, missing):
    table = pl.DataFrame(TABLE)
    first = Generative(structure=structure, missing=missing).fit(table[:200], Y[:200])
    model = Generative(first.schema_)
    whole = clone(model).fit(table, Y)
    merged = clone(model).fit(table[:120], Y[:120]) + clone(model).fit(table[120:], Y[120:])
    same(merged, whole, table, rtol=1e-9)
    assert str(merged.schema_) == str(first.schema_)
    assert [b.power for b in merged._model.family.blocks] == [b.power for b in first._model.family.blocks]
    np.testing.assert_allclose(merged.score_samples(table), whole.score_samples(table), rtol=1e-9)
    same(clone(model).fit(table[:200], Y[:200]), first, table, rtol=1e-12)


def test_rows_drawn_have_holes_as_often_as_those_learned():
    model = Generative(FIXED, missing="informative").fit(pl.DataFrame(TABLE), Y)
    drawn, _ = model.sample(4000, random_state=0)
    assert drawn.schema == pl.DataFrame(TABLE).schema
    for name in NAMES:
        learned = np.mean([v is None for v in TABLE[name]])
        assert drawn[name].null_count() / 4000 == pytest.approx(learned, abs=0.03)
    assert stats.kstest(model.novelty(drawn), "uniform").statistic < 0.08


def test_the_handle_for_a_row_of_a_table():
    model = Generative().fit(TABLE, Y)
    row = {k: v[1] for k, v in TABLE.items()}
    np.testing.assert_allclose(model.scorer()(row), model.predict_proba(some(TABLE, [1]))[0])
    with pytest.raises(InputError, match="column 'num': numbers are needed"):
        model.scorer()({**row, "num": "a"})


def test_a_column_may_take_new_levels_where_the_others_do_not():
    table = {"s": ["a", "b"] * 50, "t": ["k", "l"] * 50}
    model = Generative({"s": Categorical(unknown="ignore")}, unknown="error").fit(table, [0, 1] * 50)
    assert model.predict({"s": ["c"], "t": ["k"]}).tolist() == [0]
    with pytest.raises(InputError, match="column 't'"):
        model.predict({"s": ["a"], "t": ["m"]})


def test_labels_in_frames_of_one_column_and_batches_of_arrow():
    pa = pytest.importorskip("pyarrow")
    expected = Generative(FIXED).fit(TABLE, Y)
    batch = pa.table(TABLE).to_batches()[0]
    for y in (pd.DataFrame({"y": Y}), pl.DataFrame({"y": Y}), np.ma.array(Y, mask=np.zeros(N))):
        same(Generative(FIXED, missing_target="drop").fit(batch, y), expected)


def test_many_threads_read_one_model():
    model = Generative().fit(pl.DataFrame(TABLE), Y)
    frames = [pl.DataFrame(TABLE), pd.DataFrame(TABLE), TABLE] * 4
    expected = model.predict_proba(TABLE)
    with ThreadPoolExecutor(6) as pool:
        for p in pool.map(model.predict_proba, frames):
            np.testing.assert_array_equal(p, expected)
        for _ in pool.map(lambda f: Generative().fit(f, Y).impute(f), frames):
            pass


def test_a_far_row_does_not_change_another():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=N) * (1 + np.unique(Y, return_inverse=True)[1])}
    model = Generative({"a": "gaussian"}).fit(table, Y)
    np.testing.assert_array_equal(model.predict_proba({"a": [1e200, -1e308]})[:1], model.predict_proba({"a": [1e200]}))


# --- missing values that tell, new categories, missing labels


def test_missing_values_may_be_evidence():
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, 4000)
    x = np.where(rng.random(4000) < np.where(y == 1, 0.7, 0.1), np.nan, rng.normal(size=4000))
    table = {"x": x, "z": rng.normal(size=4000)}
    plain, told = Generative().fit(table, y), Generative(missing="informative").fit(table, y)
    assert told.score(table, y) > 0.75 > 0.6 > plain.score(table, y)
    assert str(plain.schema_) == str(told.schema_)


def test_the_holes_are_columns_of_yes_or_no():
    model = Generative(FIXED, missing="informative").fit(TABLE, Y)
    mask = np.array([[v is None for v in TABLE[k]] for k in NAMES], dtype=float).T
    missing = NaiveBayes("bernoulli").fit(mask, Y)
    plain = Generative(FIXED).fit(TABLE, Y)
    log_prior = np.log([np.mean(c == Y) for c in model.classes_])
    for table in (TABLE, pl.DataFrame(TABLE), pandas_category(TABLE)):
        np.testing.assert_allclose(
            model.predict_joint_log_proba(table),
            plain.predict_joint_log_proba(TABLE) + missing.predict_joint_log_proba(mask) - log_prior,
            rtol=1e-12,
        )
    shares = np.array([[(mask[c == Y, j].sum() + 1) / ((c == Y).sum() + 2) for j in range(5)] for c in model.classes_])
    nothing = model.predict_joint_log_proba({k: [None] for k in NAMES})[0]
    np.testing.assert_allclose(nothing, np.log(shares).sum(axis=1) + log_prior, rtol=1e-12)
    assert model.n_parameters_ == plain.n_parameters_ + 15


def test_new_levels_exactly():
    table = {"s": ["a", "a", "b", "a", "b", "b", "b"], "t": ["k", "l", "k", "l", "k", "l", "k"]}
    y = [0, 0, 0, 1, 1, 1, 1]
    new = {"s": ["c", "a"], "t": ["k", "m"]}
    ignore = np.exp(Generative(structure="naive").fit(table, y).predict_joint_log_proba(new))
    prior = np.array([3, 4]) / 7
    np.testing.assert_allclose(ignore[0], prior * np.array([(2 + 1) / 5, (2 + 1) / 6]), rtol=1e-12)
    np.testing.assert_allclose(ignore[1], prior * np.array([(2 + 1) / 5, (1 + 1) / 6]), rtol=1e-12)
    novel = np.exp(Generative(structure="naive", unknown="novel").fit(table, y).predict_joint_log_proba(new))
    share = np.array([1 / (3 + 3), 1 / (4 + 3)])
    np.testing.assert_allclose(novel[0], prior * share * np.array([3 / 6, 3 / 7]), rtol=1e-12)
    np.testing.assert_allclose(novel[1], prior * share * np.array([3 / 6, 2 / 7]), rtol=1e-12)
    strict = Generative(structure="naive", unknown="error").fit(table, y)
    for make in (dict, pl.DataFrame, pd.DataFrame):
        with pytest.raises(
            InputError, match="column 's': a category never seen in training, found 'c' in row 0; unknown="
        ):
            strict.predict_proba(make(new))
    p = strict.predict_proba({"s": [None], "t": ["k"]})
    np.testing.assert_allclose(p, Generative(structure="naive").fit(table, y).predict_proba({"s": [None], "t": ["k"]}))
    strict.partial_fit(new, [0, 1])  # learning a new category is no prediction
    assert np.isfinite(strict.predict_proba(new)).all()


def test_a_new_level_far_down_is_named_by_its_row():
    strict = Generative(unknown="error").fit({"s": ["a", "b"] * 50}, [0, 1] * 50)
    with pytest.raises(InputError, match="found 'c' in row 70000"):
        strict.predict(pl.DataFrame({"s": ["a"] * 70_000 + ["c"]}))


def test_new_levels_are_not_drawn_and_fill_no_hole():
    model = Generative({"s": Categorical(alpha=50.0)}, unknown="novel").fit({"s": ["a", "b"] * 50}, [0, 1] * 50)
    assert set(model.sample(500, random_state=0)[0]["s"]) == {"a", "b"}
    assert set(model.impute({"s": [None] * 300}, how="draw", random_state=0)["s"]) == {"a", "b"}
    assert set(model.profile()["s"]) <= {"a", "b"}


LABELS = {
    "list": lambda y: y,
    "numpy": objects,
    "pandas": pd.Series,
    "pandas category": lambda y: pd.Series(pd.Categorical(y)),
    "pandas string": lambda y: pd.array(y, dtype="string"),
    "polars": pl.Series,
    "polars categorical": lambda y: pl.Series(y, dtype=pl.Categorical),
    "floats": lambda y: np.array([np.nan if v is None else "abc".index(v[0]) for v in y]),
    "nullable": lambda y: pd.array([None if v is None else "abc".index(v[0]) for v in y], dtype="Int64"),
}
GONE = np.arange(N) % 10 == 3


@pytest.mark.parametrize("kind", LABELS)
def test_missing_labels_are_counted_or_dropped(kind):
    y = LABELS[kind]([None if g else v for v, g in zip(Y.tolist(), GONE, strict=True)])
    with pytest.raises(InputError, match=f"30 of {N} labels are missing, the first in row 3"):
        Generative(structure="naive").fit(TABLE, y)
    weight = np.arange(N) + 1.0
    kept = np.flatnonzero(~GONE)
    for table in (TABLE, pl.DataFrame(TABLE), pd.DataFrame(TABLE)):
        model = Generative(structure="naive", missing_target="drop").fit(table, y, sample_weight=weight)
        plain = Generative(structure="naive").fit(some(TABLE, kept), Y[kept], sample_weight=weight[kept])
        np.testing.assert_array_equal(model.predict_proba(TABLE), plain.predict_proba(TABLE))
        assert model.class_count_.sum() == weight[kept].sum()
    batches = Generative(FIXED, missing_target="drop").partial_fit(some(TABLE, range(150)), y[:150])
    batches.partial_fit(some(TABLE, range(150, N)), y[150:])
    assert batches.class_count_.sum() == 270


def test_missing_labels_are_dropped_from_forgetting_and_likelihood():
    y = [None if g else v for v, g in zip(Y.tolist(), GONE, strict=True)]
    kept = np.flatnonzero(~GONE)
    model = Generative(FIXED, missing_target="drop").fit(TABLE, Y)
    plain = Generative(FIXED).fit(TABLE, Y)
    assert model.log_likelihood(TABLE, y) == pytest.approx(plain.log_likelihood(some(TABLE, kept), Y[kept]), rel=1e-12)
    same(model.forget(TABLE, y), plain.forget(some(TABLE, kept), Y[kept]))
    with pytest.raises(InputError, match="every label is missing"):
        Generative(missing_target="drop").fit(TABLE, [None] * N)


def test_missing_labels_of_arrow_are_dropped():
    pa = pytest.importorskip("pyarrow")
    y = pa.array([None if g else v for v, g in zip(Y.tolist(), GONE, strict=True)])
    assert Generative(missing_target="drop").fit(TABLE, y).class_count_.sum() == 270


def test_masked_labels_are_missing():
    codes = np.unique(Y, return_inverse=True)[1]
    with pytest.raises(InputError, match=f"30 of {N} labels are missing"):
        Generative().fit(TABLE, np.ma.array(codes, mask=GONE))


def test_labels_of_several_kinds_stay_as_they_are_when_some_are_dropped():
    values = {"ant": 1, "bee": "x", "cat": 2.5}
    y = [None if g else values[v] for v, g in zip(Y.tolist(), GONE, strict=True)]
    assert Generative(missing_target="drop").fit(TABLE, objects(y)).classes_.tolist() == [1, 2.5, "x"]


def test_labels_that_are_tuples_may_be_dropped():
    y = [None if g else ("k", v) for v, g in zip(Y.tolist(), GONE, strict=True)]
    assert len(Generative(missing_target="drop").fit(TABLE, objects(y)).classes_) == 3


# --- backwards


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


def test_C5_a_joint_block_is_drawn_with_its_covariance():
    rng = np.random.default_rng(0)
    S = np.array([[2.0, 1.2], [1.2, 1.0]])
    X = rng.multivariate_normal([1, -1], S, N)
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    drawn, _ = Generative({("a", "b"): MultivariateGaussian()}).fit(table, ["k"] * N).sample(20_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.to_numpy().T), np.cov(X.T, bias=True), atol=0.06)


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


def test_C5_impute_is_the_textbook_regression_in_a_joint_block():
    rng = np.random.default_rng(9)
    X = rng.multivariate_normal([0, 1, 2], [[2, 1, 0.3], [1, 3, -0.5], [0.3, -0.5, 1]], 500)
    y = rng.integers(0, 2, 500)
    X[y == 1] += [3, 0, 1]
    model = Generative({("a", "b", "c"): MultivariateGaussian()}).fit(dict(zip("abc", X.T, strict=True)), y)
    with_missing = {"a": [None, 0.5, None], "b": [1.0, None, None], "c": [0.2, 1.5, 0.7]}
    means = [X[y == c].mean(axis=0) for c in (0, 1)]
    covariances = [np.cov(X[y == c].T, bias=True) for c in (0, 1)]
    rows = np.array([[np.nan if v is None else v for v in column] for column in with_missing.values()]).T
    expected = np.empty((2, 3, 3))
    for c in (0, 1):
        for i, row in enumerate(rows):
            gone = np.isnan(row)
            o, m = np.flatnonzero(~gone), np.flatnonzero(gone)
            S = covariances[c]
            expected[c, i] = row
            expected[c, i, m] = means[c][m] + S[np.ix_(m, o)] @ np.linalg.solve(S[np.ix_(o, o)], row[o] - means[c][o])
    for c in (0, 1):
        filled = model.impute(with_missing, y=[c] * 3)
        np.testing.assert_allclose(np.column_stack(list(filled.values())), expected[c], rtol=1e-9)
    p = model.predict_proba(with_missing)
    mixed = np.column_stack(list(model.impute(with_missing).values()))
    np.testing.assert_allclose(mixed, p[:, :1] * expected[0] + p[:, 1:] * expected[1], rtol=1e-9)
    many = {k: np.repeat(nan(v[:1]), 20_000) for k, v in with_missing.items()}
    draws = model.impute(many, y=[0] * 20_000, how="draw", random_state=0)["a"]
    S = covariances[0]
    o = [1, 2]
    left = S[0, 0] - S[0, o] @ np.linalg.solve(S[np.ix_(o, o)], S[o, 0])
    assert draws.mean() == pytest.approx(expected[0, 0, 0], abs=0.05)
    assert draws.var() == pytest.approx(left, rel=0.05)


def test_C5_impute_takes_the_most_probable_level_over_the_classes():
    table = {"s": ["a", "a", "b", "c", "c", "c", "c", "b"], "x": [0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 5.3, 5.4]}
    y = [0, 0, 0, 1, 1, 1, 1, 1]
    model = Generative({"x": "gaussian"}).fit(table, y)
    assert model.impute({"s": [None, None], "x": [0.1, 5.1]})["s"].tolist() == ["a", "c"]
    assert model.impute({"s": [None, None], "x": [0.1, 5.1]}, y=[1, 0])["s"].tolist() == ["c", "a"]
    assert model.impute({"s": [None], "x": [None]})["s"].tolist() == ["c"]
    expected = 3 / 8 * 0.1 + 5 / 8 * 5.2
    np.testing.assert_allclose(model.impute({"s": [None], "x": [None]})["x"], expected)
    with pytest.raises(ValueError, match="how='median'"):
        model.impute(table, how="median")
    with pytest.raises(ValueError, match="no class 9"):
        model.impute({"s": [None], "x": [1.0]}, y=[9])


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


def test_C5_the_density_is_the_sum_over_classes():
    for missing in ("ignore", "informative"):
        model = Generative(structure="naive", missing=missing).fit(TABLE, Y)
        np.testing.assert_allclose(
            model.score_samples(TABLE), logsumexp(model.predict_joint_log_proba(TABLE), axis=1), rtol=1e-13
        )


def test_C5_novelty_is_uniform_for_rows_of_the_model_and_1_for_absurd_ones():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=N), "b": rng.normal(5, 2, size=N), "s": np.array(list("uvw"))[rng.integers(0, 3, N)]}
    model = Generative({"a": "gaussian", "b": "gaussian"}).fit(table, Y)
    drawn, _ = model.sample(3000, random_state=3)
    novelty = model.novelty(drawn)
    assert ((novelty >= 0) & (novelty <= 1)).all()
    assert stats.kstest(novelty, "uniform").statistic < 0.06
    with_missing = {**drawn, "a": np.full(3000, np.nan)}
    assert stats.kstest(model.novelty(with_missing), "uniform").statistic < 0.06
    absurd = {"a": [1e6, 1e6, None, 1e200], "b": [5.0, None, -1e4, 0.0], "s": ["u", None, None, "v"]}
    assert model.novelty(absurd).tolist() == [1, 1, 1, 1]
    nothing = model.novelty({"a": [None], "b": [None], "s": [None]})
    assert 0 <= nothing[0] <= 1
    np.testing.assert_array_equal(model.novelty(drawn), novelty)


def test_C5_profiles():
    model = Generative(FIXED).fit(pl.DataFrame(TABLE), Y)
    profile = model.profile()
    assert isinstance(profile, pl.DataFrame)
    assert profile.columns == ["class", *NAMES]
    assert profile["class"].to_list() == ["ant", "bee", "cat"]
    for i, label in enumerate(model.classes_):
        values = {k: [v for v, c in zip(TABLE[k], Y, strict=True) if c == label and v is not None] for k in NAMES}
        assert profile["num"][i] == pytest.approx(np.mean(values["num"]))
        assert profile["flag"][i] == (np.mean(values["flag"]) >= 0.5)
        for k in ("city", "level"):
            top = max(values[k].count(v) for v in set(values[k]))
            assert values[k].count(profile[k][i]) == top
    assert profile["city"].dtype == pl.String
    one = model.profile("bee")
    assert one.equals(profile[1:2])
    assert model.profile(["cat", "ant"])["class"].to_list() == ["cat", "ant"]
    assert list(Generative(FIXED).fit(pd.DataFrame(TABLE), Y).profile().columns) == ["class", *NAMES]
    assert isinstance(Generative().fit(np.array(rows_of(TABLE), dtype=object), Y).profile(), dict)
    with pytest.raises(ValueError, match="no class 'dog'"):
        model.profile("dog")


def test_C5_a_profile_of_a_table_with_a_column_called_class():
    profile = Generative().fit({"class": TABLE["city"], "num": TABLE["num"]}, Y).profile()
    assert any(list(v) == ["ant", "bee", "cat"] for v in profile.values())


@pytest.mark.parametrize("values", [[("k", 1), ("k", 2), ("l", 1)], [1, "x", 2.5]], ids=["tuples", "mixed"])
def test_C5_a_profile_of_labels_of_any_kind(values):
    y = objects([values["abc".index(v[0])] for v in Y])
    assert set(Generative().fit(TABLE, y).profile()["class"]) == set(values)


def test_E1_the_logistic_form_is_the_posterior():
    complete = {k: [next(u for u in v if u is not None) if u is None else u for u in v] for k, v in TABLE.items()}
    model = Generative(FIXED).fit(complete, Y)
    form = model.logistic_form()
    rows = model._read_X_known(complete)
    np.testing.assert_allclose(form.predict_log_proba(rows), model.predict_log_proba(complete), atol=1e-9)
    pair = form.pair("bee", "ant")
    p = model.predict_proba(complete)
    np.testing.assert_allclose(pair(rows), np.log(p[:, 1] / p[:, 0]), atol=1e-9)


def test_E1_the_logistic_form_of_numbers_is_the_posterior():
    rng = np.random.default_rng(0)
    table = {
        "num": rng.normal(size=N),
        "count": rng.poisson(3, N),
        "a": rng.normal(size=N),
        "b": rng.normal(size=N),
        "flag": rng.random(N) < 0.4,
        "size": rng.gamma(2.0, size=N),
    }
    columns = {"num": "gaussian", "count": "poisson", ("a", "b"): MultivariateGaussian(), "size": GammaFamily()}
    model = Generative(columns).fit(table, Y)
    form = model.logistic_form()
    rows = model._read_X_known(table)
    np.testing.assert_allclose(form.predict_log_proba(rows), model.predict_log_proba(table), atol=1e-9)
    assert len(form.names) == form.weights.shape[1]
    assert {"num", "num²", "count", "a", "b", "a²", "a·b", "b²", "flag"} <= set(form.names)


def test_the_handle_for_one_row():
    X = np.random.default_rng(0).normal(size=(N, 3))
    model = Generative().fit(X, Y)
    np.testing.assert_allclose(model.scorer()(X[0]), model.predict_proba(X[:1])[0])


def test_a_column_of_numbers_without_any_value_adds_nothing():
    for family in ("gaussian", "poisson", "multivariate_gaussian"):
        model = Generative({"e": family}).fit({"e": [None] * N, "num": TABLE["num"]}, Y)
        alone = Generative(structure="naive").fit({"num": TABLE["num"]}, Y)
        table = {"e": [None] * N, "num": TABLE["num"]}
        np.testing.assert_allclose(model.predict_proba(table), alone.predict_proba(table), rtol=1e-12)


def test_a_column_of_levels_without_any_value_adds_nothing():
    table = {"e": [None] * N, "num": TABLE["num"]}
    model = Generative({"e": "categorical"}).fit(table, Y)
    alone = Generative(structure="naive").fit({"num": TABLE["num"]}, Y)
    np.testing.assert_allclose(model.predict_proba(table), alone.predict_proba(table), rtol=1e-12)
    model.sample(3, random_state=0)
    model.novelty(table)


# --- bad tables


def test_what_is_no_table_is_refused():
    numbers = np.array([1.0, 2.0, 4.0])
    y = ["a", "b", "a"]
    with pytest.raises(InputError, match="column 'a' is there 2 times"):
        Generative().fit(pd.DataFrame(np.c_[numbers, numbers], columns=["a", "a"]), y)
    with pytest.raises(InputError, match="column '1' is there 2 times"):
        Generative().fit({1: numbers, "1": numbers}, y)
    with pytest.raises(InputError, match=r"different lengths: {'a': 3, 'b': 2}"):
        Generative().fit({"a": numbers, "b": numbers[:2]}, y)
    with pytest.raises(InputError, match="column 'a': one value for each row"):
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
        with pytest.raises(InputError, match=r"column 'num': numbers are needed.*found categorical values"):
            call()


@pytest.mark.parametrize(
    "values",
    [["1", "2"], np.array(["2026-01-01", "2026-01-02"], dtype="M8[D]"), [datetime.date(2026, 1, 1)] * 2],
    ids=["digits", "datetime64", "dates"],
)
@pytest.mark.parametrize("make", [pl.DataFrame])
def test_other_kinds_where_numbers_were_learned(values, make):
    model = Generative().fit({k: TABLE[k] for k in ("num", "city")}, Y)
    with pytest.raises(InputError, match="column 'num': numbers are needed"):
        model.predict(make({"num": values, "city": ["Bern", None]}))


@pytest.mark.parametrize("make", [dict, pl.DataFrame])
def test_lists_where_something_else_was_learned(make):
    model = Generative().fit({k: TABLE[k] for k in ("num", "city")}, Y)
    with pytest.raises(InputError, match="column 'num'"):
        model.predict(make({"num": [[1.0], [2.0]], "city": ["Bern", None]}))
    with pytest.raises(InputError, match="column 'city'"):
        model.predict(make({"num": [1.0, 2.0], "city": [["Bern"], ["Basel"]]}))


def test_numbers_where_levels_were_learned_are_levels_never_seen():
    table = {k: TABLE[k] for k in ("num", "city")}
    numbers = {"num": [1.0, 2.0], "city": [1, 2]}
    model = Generative(structure="naive").fit(table, Y)
    hidden = model.predict_proba({"num": [1.0, 2.0], "city": [None, None]})
    for make in (dict, pl.DataFrame, pd.DataFrame):
        np.testing.assert_array_equal(model.predict_proba(make(numbers)), hidden)
    with pytest.raises(InputError, match="column 'city': a category never seen in training, found 1 in row 0"):
        Generative(structure="naive", unknown="error").fit(table, Y).predict(numbers)


def test_a_level_is_the_same_as_integer_and_as_whole_float():
    model = Generative(FIXED).fit(TABLE, Y)
    as_floats = {**TABLE, "level": np.array(nan(TABLE["level"]))}
    for make in (dict, pl.DataFrame, pd.DataFrame):
        if make is pl.DataFrame:
            as_floats["level"] = pl.Series(TABLE["level"], dtype=pl.Float64)
        np.testing.assert_array_equal(model.predict_proba(make(as_floats)), model.predict_proba(TABLE))


def test_nan_in_polars_is_missing_for_levels():
    categories = pl.DataFrame({"level": [float("nan") if v is None else float(v) for v in TABLE["level"]]})
    model = Generative({"level": "categorical"}, unknown="error").fit({"level": TABLE["level"]}, Y)
    np.testing.assert_array_equal(model.predict_proba(categories), model.predict_proba({"level": TABLE["level"]}))


def test_column_names_that_are_no_words():
    X = np.random.default_rng(0).normal(size=(N, 2))
    numbered = pd.DataFrame(X)
    model = Generative({1: "gaussian"}).fit(numbered, Y)
    assert reason_of(model, "1") == "as asked"
    np.testing.assert_array_equal(model.predict_proba(numbered), model.predict_proba(numbered[[1, 0]]))
    two = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    model = Generative().fit(two, Y)
    assert model.predict_proba(two).shape == (N, 3)
    assert len(model.get_feature_names_out()) == 2
    odd = {"": X[:, 0], " ü\n": X[:, 1]}
    assert Generative().fit(odd, Y).predict(odd).shape == (N,)


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


def test_levels_beyond_the_digits_of_a_float():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    large = {"k": 2**53 + codes}
    model = Generative({"k": "categorical"}).fit(pl.DataFrame(large), Y)
    small = Generative({"k": "categorical"}).fit({"k": codes}, Y)
    np.testing.assert_array_equal(model.predict_proba(pl.DataFrame(large)), small.predict_proba({"k": codes}))


def test_empty_words_spaces_and_other_scripts_are_levels():
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


def test_one_class_and_a_class_of_one_row():
    one = Generative().fit(TABLE, ["only"] * N)
    np.testing.assert_array_equal(one.predict_proba(TABLE), np.ones((N, 1)))
    assert np.isfinite(one.score_samples(TABLE)).all()
    y = Y.copy().astype(object)
    y[17] = "rare"
    for missing in ("ignore", "informative"):
        model = Generative(missing=missing).fit(TABLE, y)
        p = model.predict_proba(TABLE)
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert model.class_count_.tolist()[-1] == 1
        model.sample(10, y="rare", random_state=0)
        assert np.isfinite(model.novelty(some(TABLE, range(20)))).all()


def test_a_block_of_counts_may_be_a_multinomial():
    rng = np.random.default_rng(0)
    counts = rng.poisson(3, (N, 3))
    table = {**dict(zip("abc", counts.T, strict=True)), "flag": TABLE["flag"]}
    model = Generative({("a", "b", "c"): Multinomial(), "flag": Bernoulli()}).fit(table, Y)
    words = MultinomialNB().fit(counts, Y).predict_log_proba(counts)
    flags = Generative({"flag": Bernoulli()}).fit({"flag": TABLE["flag"]}, Y).predict_log_proba({"flag": TABLE["flag"]})
    log_prior = np.log([np.mean(c == Y) for c in model.classes_])
    joint = words + flags - log_prior
    np.testing.assert_allclose(
        model.predict_log_proba(table), joint - logsumexp(joint, axis=1)[:, None], rtol=1e-10, atol=1e-10
    )


def test_N7_a_column_may_be_binned():
    rng = np.random.default_rng(0)
    table = {"area": rng.normal(size=N) + (Y == "ant") * 3, "z": rng.normal(size=N)}
    model = Generative({"area": Binned([0.0, 1.0, 2.0]), "z": "drop"}).fit(pl.DataFrame(table), Y)
    plain = NaiveBayes(Binned([0.0, 1.0, 2.0])).fit(table["area"][:, None], Y)
    np.testing.assert_allclose(model.predict_proba(table), plain.predict_proba(table["area"][:, None]), rtol=1e-12)
    found = Generative({"area": "binned", "z": "binned"}).fit(table, Y)  # edges from the data, for each its own
    assert [b.columns for b in found._model.family.blocks] == [("area",), ("z",)]
    with_missing = {**table, "area": np.where(rng.random(N) < 0.3, np.nan, table["area"])}
    assert np.isfinite(model.impute(with_missing)["area"]).all()


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


@pytest.mark.parametrize("missing", [False, True])
def test_sums_from_the_choice_of_structures_are_those_of_the_rows(missing):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 4)) @ rng.normal(size=(4, 4)) + (Y == "ant")[:, None]
    X[:, 3] = np.round(X[:, 3])
    X[rng.random(X.shape) < 0.1 * missing] = np.nan
    chosen = Generative().fit(X, Y)
    assert any(block.family.key == "multivariate_gaussian" for block in chosen._model.family.blocks)
    learned = Generative(chosen.schema_).fit(X, Y)
    for a, b in zip(chosen._model.sums.parts, learned._model.sums.parts, strict=True):
        assert a.axes == b.axes
        for name in a.sums:
            np.testing.assert_allclose(a[name], b[name], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(chosen.predict_proba(X), learned.predict_proba(X), rtol=1e-12, atol=1e-15)


# --- words, labels and numbers as kernels read them


def first_seen(words):
    """The distinct words in the order of first appearance, and the place of each, −1 where missing."""
    categories = list(dict.fromkeys(w for w in words if w is not None))
    return categories, [-1 if w is None else categories.index(w) for w in words]


@pytest.mark.parametrize("kind", ["string", "large_string", "pandas", "two blocks"])
@pytest.mark.parametrize("different", [1, 7, 400])
def test_words_are_coded_in_the_order_of_first_appearance(kind, different):
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(different)
    letters = np.array(["", "a", "é", "€", "𝄞", "eight by", "eight bytes"])
    pool = ["".join(rng.choice(letters, rng.integers(0, 4))) + str(i // 2) for i in range(different)]
    words = [None if rng.random() < 0.2 else pool[i] for i in rng.integers(0, different, 900)]
    if kind == "pandas":
        frame = read_frame(pd.DataFrame({"w": pd.Series(words, dtype="str")}))
    else:
        values = pa.array(words, kind if kind != "two blocks" else "string")
        specs = [values] if kind != "two blocks" else [values[:500], values[500:]]
        frame = read_frame(pa.table({"w": pa.chunked_array(specs)}))
    for which in (slice(None), slice(13, 777), slice(5, 6), np.array([899, 3, 3, 41])):
        few, asked = frame.rows(which).columns["w"], np.array(words, dtype=object)[which].tolist()
        categories, codes = few.categories()
        assert [categories[c] if c >= 0 else None for c in codes] == asked
        assert few.missing().tolist() == [w is None for w in asked]
        if isinstance(which, slice):
            assert (categories, codes.tolist()) == first_seen(asked)


@pytest.mark.parametrize("dtype", ["<U9", ">U9"])
@pytest.mark.parametrize("different", [1, 5, 999])
def test_words_as_labels_are_sorted(dtype, different):
    rng = np.random.default_rng(0)
    y = np.array([f"{'aé€'[i % 3]}{i}" for i in rng.integers(0, different, 2000)], dtype)[::2]
    labels, codes, sizes = encode(y)
    values, places, counts = np.unique(y, return_inverse=True, return_counts=True)
    assert (labels, codes.tolist(), sizes.tolist()) == (values.tolist(), places.tolist(), counts.tolist())


def test_unsigned_places_of_arrow_levels_may_have_holes():
    pa = pytest.importorskip("pyarrow")
    coded = pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.uint8()), pa.array(["x", "y"]))
    categories, codes = read_frame(pa.table({"w": coded})).columns["w"].categories()
    assert (categories, codes.tolist()) == (["x", "y"], [1, -1, 0, 1])


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


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 30, 1001])
def test_ranges_of_columns(n):
    rng = np.random.default_rng(n)
    for x in (rng.normal(size=n), rng.integers(-9, 9, n) * 1.0, np.full(n, np.nan), np.full(n, -2.0)):
        for missing in (0.0, 0.5):
            x = np.where(rng.random(n) < missing, np.nan, x)
            there = x[~np.isnan(x)]
            low, high, whole = choosing._range(x)
            assert whole == bool((there == np.rint(there)).all())
            np.testing.assert_array_equal([low, high], [there.min(), there.max()] if len(there) else [np.nan] * 2)


def test_what_families_explain_is_their_log_likelihood_less_the_price():
    rng = np.random.default_rng(3)
    n, K = 400, 3
    rows = Rows(Index.of(range(K)), rng.integers(0, K, n).astype(np.int32), rng.choice([0.5, 1.0, 2.0], n))
    wide = np.where(rng.random(n) < 0.1, np.nan, rng.poisson(4, n) * 1000.0)
    many = rng.integers(0, 900, n) * 1.0
    positive = np.where(rng.random(n) < 0.2, np.nan, rng.gamma(2.0, size=n))
    price = 0.5 * np.log(rows.counts().sum()) * K

    def numbers(x):
        low, high, whole = choosing._range(x)
        return choosing.Numbers(x, rows, low, high, whole, low, high, whole)

    few, lots, real = choosing.explained([numbers(x) for x in (wide, many, positive)])
    assert (set(few.by), few.categories) == ({"gaussian", "categorical"}, len(np.unique(wide[~np.isnan(wide)])))
    assert (set(lots.by), lots.categories) == ({"gaussian", "poisson"}, 0)
    for x, found, add in ((wide, few, 1 / 12), (many, lots, 1 / 12), (positive, real, 0.0)):
        total = 0.0
        for c in range(K):
            here = (rows.codes == c) & ~np.isnan(x)
            w, z = rows.weights[here], x[here]
            mean = np.average(z, weights=w)
            total += w @ stats.norm.logpdf(z, mean, np.sqrt(np.average((z - mean) ** 2, weights=w) + add))
        assert found.by["gaussian"] == pytest.approx(total - 2 * price, rel=1e-4)  # one row is the prior's
    here = ~np.isnan(wide)
    categories, place = np.unique(wide[here], return_inverse=True)
    count = np.zeros((K, len(categories)))
    np.add.at(count, (rows.codes[here], place), rows.weights[here])
    shares = np.log((count + 1) / (count.sum(axis=1, keepdims=True) + len(categories)))
    assert few.by["categorical"] == pytest.approx((count * shares).sum() - price * (len(categories) - 1))
    for name, family in (("log-normal", choosing.SHARED["log-normal"]), ("gamma", choosing.GAMMA)):
        there = np.flatnonzero(~np.isnan(positive))
        some, X = rows.some(there), positive[there][:, None]
        scorer = family.scorer(family.collect(X, some, ["x"]), ["x"])
        own = (scorer.scores(X) + scorer.log_base(X)[:, None])[np.arange(len(there)), some.codes]
        assert real.by[name] == pytest.approx(some.weights @ own - 2 * price, rel=1e-9)
    scorer = choosing.POISSON.scorer(choosing.POISSON.collect(many[:, None], rows, ["x"]), ["x"])
    own = (scorer.scores(many[:, None]) + scorer.log_base(many[:, None])[:, None])[np.arange(n), rows.codes]
    assert lots.by["poisson"] == pytest.approx(rows.weights @ own - price, rel=1e-9)


def test_levels_of_any_kind_are_in_canonical_order():
    mixed = (["b", 2, 0.5, True, b"a", "a"], [], [3, 1, 2], ["z", "y"], [1j, 2j, "a"])
    for categories in (mixed, mixed[:4]):
        count = np.ones((1, sum(map(len, categories))))
        found = category_stats(Rows(Index.of([0]), np.zeros(1, np.int32)), categories, count)
        assert found.axes["category"] == Index.of([(j, v) for j, values in enumerate(categories) for v in values])


@pytest.mark.parametrize("k", [1e-3, 0.1, 1.0, 1.4616, 7.0, 100.0, 1e5])
def test_shapes_of_gamma_columns(k):
    assert shape_of(np.array([[np.log(k) - digamma(k)]]))[0, 0] == pytest.approx(k, rel=1e-9)


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
