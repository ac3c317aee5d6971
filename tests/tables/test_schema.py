"""Columns by name, tuple or selector; the schema in words; dropped columns."""

from __future__ import annotations

import pickle
import warnings

import narwhals.selectors as ncs
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_selector

import suffit
from suffit import (
    Categorical,
    CategoricalNB,
    DroppedColumnWarning,
    MultivariateGaussian,
    VonMises,
)
from suffit import Gaussian as GaussianFamily
from suffit import GenerativeClassifier as Generative
from suffit.tables.schema import DROPPED
from table_kinds import FAMILIES, NAMES, TABLE, N, Y, families_of, pandas_nullable


def yes_or_no_and_counts() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    z = rng.normal(size=400) + y
    flag = z + rng.normal(size=400) > 0.5
    return pd.DataFrame({"z": z, "flag": flag, "count": rng.poisson(np.exp(z / 2))}), y


@pytest.mark.parametrize("structure", ["auto", "naive"])
@pytest.mark.parametrize(("name", "values"), [("flag", [2, -1, 99, 0.5]), ("count", [-1, -7])])
def test_values_that_a_column_cannot_have_are_missing_in_every_block(structure, name, values):
    X, y = yes_or_no_and_counts()
    model = suffit.GenerativeClassifier(structure=structure).fit(X, y)
    if structure == "auto":
        assert any(
            p.reads == "codings" and name in p.columns for p in model.schema_.specs
        )  # it is in a joint block too
    missing = X.head(1).astype({name: object})
    missing[name] = None
    expected = model.predict_proba(missing)
    for value in values:
        with pytest.warns(UserWarning, match=f"column '{name}': {value:g} is impossible under .*treated as missing"):
            found = model.predict_proba(X.head(1).astype({name: float}).assign(**{name: value}))
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="inf"):
        model.predict_proba(X.head(1).astype({name: float}).assign(**{name: np.inf}))


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow", "dict"])
def test_values_that_a_column_cannot_have_are_imputed(form):
    import polars as pl
    import pyarrow as pa

    X, y = yes_or_no_and_counts()
    model = suffit.GenerativeClassifier(structure="naive").fit(X, y)
    odd = X.head(3).astype({"flag": int})
    odd.loc[1, "flag"] = 2
    table = {"pandas": odd, "polars": pl.from_pandas(odd), "pyarrow": pa.Table.from_pandas(odd), "dict": dict(odd)}[
        form
    ]
    with pytest.warns(UserWarning, match="'flag': 2 is impossible"):
        made = model.impute(table)
    flags = made["flag"].to_pylist() if form == "pyarrow" else list(made["flag"])
    assert flags[1] in (0, 1)
    assert flags[0] == odd["flag"][0]


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
    assert [c.column for c in named.schema_.dropped()] == ["count", "city"]
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
