"""Categories of any whole number."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import suffit
from suffit import (
    CategoricalNB,
)


def test_int8_categories_do_not_wrap():
    wide = np.array([[-100, 1], [99, 2], [-100, 1], [99, 3]])
    a, b = (CategoricalNB().fit(wide.astype(t), [0, 1, 0, 1]) for t in (np.int64, np.int8))
    np.testing.assert_array_equal(a.predict_proba(wide), b.predict_proba(wide.astype(np.int8)))
    assert a.class_count_.tolist() == b.class_count_.tolist()
    assert [v.tolist() for v in a.categories_] == [v.tolist() for v in b.categories_]


@pytest.mark.filterwarnings("ignore::suffit.UnknownCategoryWarning")  # 7 is no known category
@pytest.mark.parametrize("first", [2**63 + 1, 2**63 - 2, 2**64 - 6])
@pytest.mark.parametrize("step", [1, 4])
def test_integers_beyond_int64_are_categories(first, step):
    X = np.array([first, first + step], np.uint64).repeat(30)[:, None]
    y, least = np.repeat(["a", "b"], 30), np.repeat([[True], [False]], 30, axis=0)
    model, small = suffit.CategoricalNB().fit(X, y), suffit.CategoricalNB().fit(least, y)
    np.testing.assert_array_equal(model.predict_proba(X), small.predict_proba(least))
    np.testing.assert_array_equal(model.loo_predict_proba(X, y), small.loo_predict_proba(least, y))
    assert set(model.sample(50, random_state=0)[0].ravel().tolist()) == set(X.ravel().tolist())
    model.partial_fit(X[:3], y[:3]).forget(X[:3], y[:3])
    assert model.categories_[0].tolist() == [first, first + step]
    assert suffit.CategoricalNB().fit(X.tolist(), y).categories_[0].tolist() == [first, first + step]
    np.testing.assert_allclose(model.predict_proba(np.array([[7], [first + 2]], np.uint64)), 0.5)  # never seen


@pytest.mark.filterwarnings("ignore::suffit.UnknownCategoryWarning")  # it is no known category
def test_a_category_beyond_int64_is_no_negative_one():
    X, y = np.array([[-5], [-4]]).repeat(30, axis=0), [0] * 30 + [1] * 30
    model = suffit.CategoricalNB().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.array([[2**64 - 5]], np.uint64)), 0.5)


def test_the_only_category_is_left_out_without_a_warning():
    """A column without any category left says nothing."""
    X, y = np.array([[1.0, 0.0], [np.nan, 0.0], [np.nan, 1.0]]), [0, 1, 1]
    model = suffit.CategoricalNB().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffit.DataWarning)
        warnings.simplefilter("error", RuntimeWarning)
        found = model.loo_predict_proba(X, y)
    without = suffit.CategoricalNB().fit(X[:, 1:], y).loo_predict_proba(X[:, 1:], y)
    np.testing.assert_allclose(found[0], without[0], atol=1e-12)
