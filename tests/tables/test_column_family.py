"""Which family a column gets, and why."""

from __future__ import annotations

import datetime
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import suffit
from suffit import (
    DroppedColumnWarning,
)
from suffit import GenerativeClassifier as Generative
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.tables import column_scores
from suffit.tables.schema import DROPPED
from table_kinds import TABLE, N, Y, families_of, nan, reason_of


def test_a_column_with_values_only_where_weights_are_0_is_dropped():
    x = np.full(40, np.nan)
    x[:3] = 1.5
    table = {"x": x, "z": np.random.default_rng(0).normal(size=40)}
    with pytest.warns(suffit.DroppedColumnWarning, match="'x': all values are missing"):
        suffit.GenerativeClassifier().fit(table, np.arange(40) % 2, sample_weight=(np.arange(40) >= 3).astype(float))


@pytest.mark.parametrize("structure", ["auto", "naive"])
@pytest.mark.parametrize("form", [np.asarray, list, pd.Series, pl.Series])
def test_whole_numbers_that_are_equal_as_floats_stay_different(form, structure):
    y = np.arange(60) % 2
    cells = [2**62 + 1 + c for c in y.tolist()]
    model = suffit.GenerativeClassifier(structure=structure).fit({"a": form(cells), "z": np.arange(60) % 7}, y)
    assert model.schema_.choices[0].reason == "integers that are all 4.61169e+18 as float64; 2 categories"
    assert (model.predict({"a": form(cells), "z": [None] * 60}) == y).all()
    same = suffit.GenerativeClassifier().fit({"a": form([2**62 + 1] * 60), "z": np.arange(60) % 7}, y)
    assert same.schema_.choices[0].reason == "every value is 4.61169e+18"
    names = [2**62 + i for i in range(60)]
    with pytest.warns(suffit.DroppedColumnWarning, match="an identifier rather than a feature"):
        suffit.GenerativeClassifier().fit({"a": form(names), "z": np.arange(60) % 7}, y)


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
    "nothing": ([None] * N, "all values are missing"),
    "nan": ([float("nan")] * N, "all values are missing"),
    "dates": ([datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(N)], "date or time"),
    "instants": ([datetime.datetime(2020, 1, 1, 1, i % 60) for i in range(N)], "date or time"),
    "times": ([datetime.time(i % 24) for i in range(N)], "date or time"),
    "spans": ([datetime.timedelta(i) for i in range(N)], "date or time"),
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("what", LEFT)
def test_columns_that_say_nothing_are_dropped_with_a_reason(what, make):
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
    assert [c.column for c in model.schema_.dropped()] == ["odd"]
    assert model.get_feature_names_out().tolist() == ["num"]
    assert model.feature_names_in_.tolist() == ["odd", "num"]
    alone = Generative(structure="naive").fit({"num": TABLE["num"]}, Y)
    np.testing.assert_array_equal(model.predict_proba(table), alone.predict_proba({"num": TABLE["num"]}))


def test_instants_with_a_time_zone_are_dropped():
    when = pd.date_range("2026-01-01", periods=N, tz="Europe/Berlin")
    for frame in (pd.DataFrame({"when": when, "num": TABLE["num"]}), pl.DataFrame({"when": when, "num": TABLE["num"]})):
        with pytest.warns(DroppedColumnWarning, match="when.*VonMises"):
            Generative().fit(frame, Y)


def test_a_long_running_number_is_dropped():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"id": np.arange(50_000), "x": rng.normal(size=50_000)})
    with pytest.warns(DroppedColumnWarning, match="'id': an identifier"):
        Generative().fit(table, rng.integers(0, 2, 50_000))


def test_a_hundred_thousand_distinct_words_are_dropped():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"id": [f"k{i}" for i in range(100_000)], "x": rng.normal(size=100_000)})
    with pytest.warns(DroppedColumnWarning, match="'id': an identifier"):
        Generative().fit(table, rng.integers(0, 2, 100_000))


def test_many_words_that_come_back_are_categories():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"zip": rng.integers(0, 15_000, 300_000).astype(str), "x": rng.normal(size=300_000)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert families_of(Generative().fit(table, rng.integers(0, 2, 300_000)))[0] == "Categorical"


def test_what_families_explain_is_their_log_likelihood_less_the_price():
    rng = np.random.default_rng(3)
    n, K = 400, 3
    rows = Rows(Index.of(range(K)), rng.integers(0, K, n).astype(np.int32), rng.choice([0.5, 1.0, 2.0], n))
    wide = np.where(rng.random(n) < 0.1, np.nan, rng.poisson(4, n) * 1000.0)
    many = rng.integers(0, 900, n) * 1.0
    positive = np.where(rng.random(n) < 0.2, np.nan, rng.gamma(2.0, size=n))
    penalty = 0.5 * np.log(rows.counts().sum()) * K

    def numbers(x):
        low, high, whole = column_scores.column_range(x)
        return column_scores.Numbers(x, rows, low, high, whole, low, high, whole)

    few, lots, real = column_scores.explained([numbers(x) for x in (wide, many, positive)])
    assert (set(few.by), few.categories) == ({"gaussian", "categorical"}, len(np.unique(wide[~np.isnan(wide)])))
    assert (set(lots.by), lots.categories) == ({"gaussian", "poisson"}, 0)
    for x, found, add in ((wide, few, 1 / 12), (many, lots, 1 / 12), (positive, real, 0.0)):
        total = 0.0
        for c in range(K):
            here = (rows.codes == c) & ~np.isnan(x)
            w, z = rows.weights[here], x[here]
            mean = np.average(z, weights=w)
            total += w @ stats.norm.logpdf(z, mean, np.sqrt(np.average((z - mean) ** 2, weights=w) + add))
        assert found.by["gaussian"] == pytest.approx(total - 2 * penalty, rel=1e-4)  # one row is the prior's
    here = ~np.isnan(wide)
    categories, place = np.unique(wide[here], return_inverse=True)
    count = np.zeros((K, len(categories)))
    np.add.at(count, (rows.codes[here], place), rows.weights[here])
    shares = np.log((count + 1) / (count.sum(axis=1, keepdims=True) + len(categories)))
    assert few.by["categorical"] == pytest.approx((count * shares).sum() - penalty * (len(categories) - 1))
    for name, family in (("log-normal", column_scores.SHARED["log-normal"]), ("gamma", column_scores.GAMMA)):
        there = np.flatnonzero(~np.isnan(positive))
        some, X = rows.some(there), positive[there][:, None]
        scorer = family.scorer(family.collect(X, some))
        own = (scorer.scores(X) + scorer.log_base(X)[:, None])[np.arange(len(there)), some.codes]
        assert real.by[name] == pytest.approx(some.weights @ own - 2 * penalty, rel=1e-9)
    scorer = column_scores.POISSON.scorer(column_scores.POISSON.collect(many[:, None], rows))
    own = (scorer.scores(many[:, None]) + scorer.log_base(many[:, None])[:, None])[np.arange(n), rows.codes]
    assert lots.by["poisson"] == pytest.approx(rows.weights @ own - penalty, rel=1e-9)


@pytest.mark.parametrize(("criterion", "name"), [("bic", "BIC"), ("loo", "leave-one-out")])
def test_why_integers_have_a_family_is_said_as_for_other_numbers(criterion: str, name: str):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 300)
    calls = {"calls": rng.poisson(2 + 2 * kind)}
    (choice,) = Generative(criterion=criterion).fit(calls, kind).schema_.choices
    pattern = rf"counts: poisson beats gaussian by \d+ nats and categorical by \d+ nats \({name}\)"
    assert re.fullmatch(pattern, choice.reason), choice.reason
