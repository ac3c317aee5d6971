"""What all families of independent columns share."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import digamma

import suffit
from suffit.families.elementwise.gamma import shape_of


@pytest.mark.parametrize(
    "family",
    [suffit.Poisson, suffit.Exponential, suffit.Geometric, suffit.Gamma, suffit.Beta, suffit.VonMises],
)
def test_families_say_that_they_add_a_pseudo_row_of_all_classes_by_default(family):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = (
        rng.integers(0, 9, (60, 2)) + y[:, None]
        if family in (suffit.Poisson, suffit.Geometric)
        else rng.random((60, 2))
    )
    rows = np.concatenate([X, *[X] * 3])  # and every class gets all rows, which weigh 1 together
    labels = np.concatenate([y, np.repeat(np.arange(3), 60)])
    weight = np.concatenate([np.ones(60), np.full(180, 1 / 60)])
    likely = suffit.NaiveBayes(family(alpha=0), priors="uniform").fit(rows, labels, sample_weight=weight)
    smoothed = suffit.NaiveBayes(family.key, priors="uniform").fit(X, y)
    np.testing.assert_allclose(smoothed.predict_proba(X), likely.predict_proba(X), rtol=1e-8)
    documented = " ".join(family.__doc__.split())
    assert "default 1.0 Number of pseudo-rows, with the mean statistic of all classes" in documented
    assert "0 is maximum likelihood" in documented


@pytest.mark.parametrize("k", [1e-3, 0.1, 1.0, 1.4616, 7.0, 100.0, 1e5])
def test_shapes_of_gamma_columns(k):
    assert shape_of(np.array([[np.log(k) - digamma(k)]]))[0, 0] == pytest.approx(k, rel=1e-9)


@pytest.mark.parametrize("family", ["exponential", "gamma", "geometric", "lognormal", "poisson", "vonmises"])
def test_a_column_without_any_value_can_be_drawn(family):
    X = np.column_stack([1.0 + np.arange(40) % 7, np.full(40, np.nan)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = suffit.NaiveBayes(family).fit(X, np.arange(40) % 2)
        assert np.isfinite(model.sample(20, random_state=0)[0]).all()
        assert np.isfinite(model.novelty(X[:3])).all()
        assert "x1" in repr(model.parameters())
