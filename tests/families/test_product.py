"""Blocks of columns side by side: a row of a table is the sum of its blocks."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.special import logsumexp

import suffit
from suffit import (
    GDA,
    LDA,
    Bernoulli,
    Binned,
    Categorical,
    CategoricalNB,
    GaussianNB,
    Multinomial,
    MultinomialNB,
    MultivariateGaussian,
    NaiveBayes,
)
from suffit import Gaussian as GaussianFamily
from suffit import GenerativeClassifier as Generative
from table_kinds import FIXED, TABLE, N, Y


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # bins by MDL find no place to cut
@pytest.mark.parametrize("base", [suffit.Poisson, suffit.Categorical, suffit.Binned, suffit.MultivariateGaussian])
def test_a_family_of_ones_own_is_tuned_in_a_table_too(base):
    settled = []

    @dataclass(frozen=True)
    class Mine(base):
        key: ClassVar[str] = "mine"

        def tuned(self, X, rows):
            settled.append(self.columns)
            return super().tuned(X, rows)

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.poisson(2, 300), "b": rng.normal(size=300)})
    y = rng.integers(0, 2, 300)
    suffit.GenerativeClassifier(columns={"a": Mine()}, structure="naive").fit(frame, y)
    assert settled


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


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # the model without the column has not seen it
def test_a_column_of_numbers_without_any_value_adds_nothing():
    for family in ("gaussian", "poisson", "multivariate_gaussian"):
        model = Generative({"e": family}).fit({"e": [None] * N, "num": TABLE["num"]}, Y)
        alone = Generative(structure="naive").fit({"num": TABLE["num"]}, Y)
        table = {"e": [None] * N, "num": TABLE["num"]}
        np.testing.assert_allclose(model.predict_proba(table), alone.predict_proba(table), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # the model without the column has not seen it
def test_a_column_of_categories_without_any_value_adds_nothing():
    table = {"e": [None] * N, "num": TABLE["num"]}
    model = Generative({"e": "categorical"}).fit(table, Y)
    alone = Generative(structure="naive").fit({"num": TABLE["num"]}, Y)
    np.testing.assert_allclose(model.predict_proba(table), alone.predict_proba(table), rtol=1e-12)
    model.sample(3, random_state=0)
    model.novelty(table)


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


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # bins by MDL find no place to cut
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
