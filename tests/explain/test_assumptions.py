"""Normality, equal covariances, correlations: published figures and awkward tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.datasets import load_iris

import suffit
from cases import flats
from suffit.explain.assumptions import box_m


def test_assumptions_name_the_columns_that_are_constant_or_repeat_others():
    rng, y = np.random.default_rng(0), np.arange(80) % 2
    a, b = rng.normal(size=(2, 80)) + y
    found = suffit.check_assumptions({"a": a, "b": b, "c": 2 * a, "k": [3] * 80, "yes": y, "n": [None] * 80}, y)
    assert "not tested: k (constant), yes (two values), n (all missing)" in repr(found)
    assert found.why_no_covariances == "a and c repeat each other in class 0"
    assert found.favours.startswith("linear or shrunk discriminant analysis: columns correlated, equal covariances not")
    assert "few rows" not in found.favours
    found = suffit.check_assumptions({"a": a, "b": b, "sum": a + b, "other": rng.normal(size=80)}, y)
    assert found.why_no_covariances == "a, b, sum determine each other in class 0"
    found = suffit.check_assumptions({"a": a, "b": np.where(y == 1, 7.5, b)}, y)
    assert found.why_no_covariances == "b is constant in class 1"
    found = suffit.check_assumptions({"a": a, **{f"w{i}": ["x"] * 80 for i in range(10)}}, y)
    assert repr(found).count("(not numeric)") == 8
    assert "w7 (not numeric) and 2 more" in repr(found)


def test_box_m_is_the_published_number():
    """Iris: R's heplots::boxM gives χ² = 140.94 on 20 degrees of freedom."""
    X, y = load_iris(return_X_y=True)
    found = suffit.check_assumptions(X, y).covariances
    assert found is not None
    assert round(found.chi2, 2) == 140.94
    assert found.df == 20
    assert found.p_chi2 < 2.2e-16


def test_box_m_of_one_column_is_bartletts_test():
    rng = np.random.default_rng(0)
    groups = [rng.normal(size=n) * s for n, s in ((20, 1.0), (35, 1.5), (50, 1.2))]
    variances = np.array([[[g.var(ddof=1)]] for g in groups])
    found = box_m(variances, np.array([len(g) for g in groups]))
    bartlett = scipy_stats.bartlett(*groups)
    v = np.array([len(g) - 1 for g in groups])
    c = 1 + ((1 / v).sum() - 1 / v.sum()) / 6  # Bartlett divides by this, Box multiplies by 2 − it
    assert pytest.approx(bartlett.statistic * c, rel=1e-12) == found.M
    assert found.chi2 == pytest.approx(found.M * (2 - c), rel=1e-12)


def test_box_m_keeps_its_level():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 40)
    p = [suffit.check_assumptions(rng.normal(size=(120, 3)), y).covariances.p_f for _ in range(200)]
    assert scipy_stats.kstest(p, "uniform").pvalue > 0.001


def test_assumptions_speak_for_the_model_that_made_the_rows():
    rng = np.random.default_rng(4)
    y = np.repeat(["a", "b"], 300)
    shift = 2.0 * (y == "b")[:, None]
    mixing = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 1.0]])
    z = rng.normal(size=(600, 3))
    cases = {
        "naive Bayes": z + shift,
        "linear discriminant analysis": z @ mixing + shift,
        "quadratic discriminant analysis": np.where(shift > 0, z @ mixing, z * 1.5) + shift,
        "other families": np.exp(z + shift / 2),
    }
    for says, X in cases.items():
        assert suffit.check_assumptions(X, y).favours.startswith(says)
    skewed = suffit.check_assumptions(np.exp(z + shift / 2), y)
    assert "take logarithms" in skewed.favours
    assert "this favours other families" in repr(skewed)
    assert "<table>" in skewed._repr_html_()


def test_assumptions_of_awkward_tables():
    X, y = flats()
    found = suffit.check_assumptions(X, y)
    assert found.dropped == ("garden", "city")
    tiny = suffit.check_assumptions(np.random.default_rng(0).normal(size=(9, 5)), np.arange(9) % 2)
    assert tiny.covariances is None
    assert "complete rows for 5 columns" in repr(tiny)
    twice = np.repeat(np.random.default_rng(0).normal(size=(60, 1)), 2, axis=1)
    found = suffit.check_assumptions(twice, np.arange(60) % 2)
    assert found.why_no_covariances == "x0 and x1 repeat each other in class 0"
    with pytest.raises(ValueError, match="3 rows and y 2 labels"):
        suffit.check_assumptions([[1.0], [2.0], [3.0]], [0, 1])
    with pytest.raises(suffit.InputError, match="no numeric column"):
        suffit.check_assumptions({"a": ["x", "y"]}, [0, 1])
    with pytest.raises(suffit.InputError, match="column 'x0': found inf in row 1"):
        suffit.check_assumptions([[1.0], [np.inf], [3.0]], [0, 1, 0])
