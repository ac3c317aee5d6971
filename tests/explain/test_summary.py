"""Summaries from sums: likelihood, separation."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris

import suffit
from cases import PLAIN as CASES
from cases import fitted
from suffit import (
    LDA,
    GaussianNB,
    GenerativeClassifier,
)


@pytest.mark.parametrize("tie", [0.0, 1.0])
def test_a_summary_factors_each_covariance_once_however_many_pairs_of_classes(tie, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 8
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3)) + rng.normal(size=(8, 3))[y]
    family = suffit.MultivariateGaussian(tie=tie, freedom=6.0)
    model = suffit.GenerativeClassifier({("x0", "x1", "x2"): family}).fit(X, y)
    factored, pinv = [], np.linalg.pinv
    monkeypatch.setattr(np.linalg, "pinv", lambda *a, **k: factored.append(a) or pinv(*a, **k))
    separation = model.summary().separation
    assert len(factored) <= 8  # and not for each of the 28 pairs
    rows, labels = model.sample(40_000, random_state=1)
    other = (labels + np.random.default_rng(2).integers(1, 8, 40_000)) % 8
    parts = model._fitted.solution.scorer.parts(
        model._read_X_known(rows), labels.astype(np.int32), other.astype(np.int32)
    )
    error = parts.columns.std(axis=0) / 200
    assert (np.abs(parts.columns.mean(axis=0) - separation) < 5 * error).all()


@pytest.mark.parametrize("make", [GaussianNB, LDA, GenerativeClassifier])
def test_a_summary_is_a_table_of_the_users_library(make):
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    table = {"a": rng.normal(size=60), "b": rng.normal(size=60)}
    assert isinstance(make().fit(pd.DataFrame(table), y).summary().to_frame(), pd.DataFrame)
    assert isinstance(make().fit(pl.DataFrame(table), y).summary().to_frame(), pl.DataFrame)
    assert isinstance(make().fit(np.column_stack(list(table.values())), y).summary().to_frame(), pd.DataFrame)
    model = pickle.loads(pickle.dumps(make().fit(pl.DataFrame(table), y)))
    assert model.summary().to_frame()["column"].to_list() == ["a", "b"]


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("name", CASES)
def test_G5_summary_has_the_likelihood_of_the_model(name: str, missing: bool):
    model, X, y = fitted(name, missing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given, known = model.summary(X, y), model.summary()
    assert given.aic == pytest.approx(model.aic(X, y), rel=1e-12)
    assert given.bic == pytest.approx(model.bic(X, y), rel=1e-12)
    assert given.by_class.sum() == pytest.approx(given.log_likelihood, rel=1e-10)
    if known.log_likelihood is None:
        assert "need the rows" in repr(known)
    else:
        assert known.aic == pytest.approx(model.aic(X, y), rel=1e-10)
        assert known.bic == pytest.approx(model.bic(X, y), rel=1e-10)
    assert given.separation.shape == (X.shape[1],)
    assert given.model in repr(given)
    assert "<table>" in given._repr_html_()


def test_which_models_know_their_likelihood_from_sums():
    known = {name for name in CASES if fitted(name)[0].summary().log_likelihood is not None}
    rows = {name for name in CASES if "poisson" in name.lower() or "vonmises" in name or "heavy" in name}
    assert set(CASES) - known == rows | {"GenerativeClassifier-counts", "GenerativeClassifier-mixed"}


NOT_DRAWN = {"BernoulliNB", "NaiveBayes-binned-counts"} | {n for n in CASES if "partition" in n}  # draws are others'


@pytest.mark.parametrize("name", [n for n in CASES if n not in NOT_DRAWN])
def test_separation_is_what_a_column_is_expected_to_add(name: str):
    """E_a[part] − E_b[part], by rows drawn from the model (BernoulliNB of the cases cuts at 2, and draws 0 and 1)."""
    model, _, _ = fitted(name, k=2)
    pair = model.classes_.tolist()
    draws = 20_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = [model.explain(model.sample(draws, y=c, random_state=1)[0], pair).parts for c in pair]
    drawn = (parts[0].mean(axis=0) - parts[1].mean(axis=0)) / 2
    error = np.sqrt(parts[0].var(axis=0) + parts[1].var(axis=0)) / np.sqrt(draws) / 2
    separation = model.summary().separation
    assert (np.abs(drawn - separation) <= 5 * error + 1e-9).all()
    assert separation.sum() > 0


def test_separation_of_shared_covariances_is_mahalanobis():
    X, y = load_iris(return_X_y=True)
    model = suffit.GDA(tie=1.0).fit(X[y > 0], y[y > 0])
    S = np.mean([np.cov(X[y == c], rowvar=False, bias=True) for c in (1, 2)], axis=0)
    d = X[y == 1].mean(axis=0) - X[y == 2].mean(axis=0)
    assert model.summary().separation.sum() == pytest.approx(d @ np.linalg.solve(S, d) / 2, rel=1e-10)
