"""Rows taken out one by one, of values that differ in their last digits only."""

from __future__ import annotations

import numpy as np
import pytest

from suffit import GDA, LDA, QDA, GaussianNB

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # few rows


@pytest.mark.parametrize("make", [GaussianNB, LDA, QDA, GDA])
@pytest.mark.parametrize("spread", [1e-10, 1e-11, 1e-12, 1e-13])
def test_rows_that_differ_in_the_last_digits_are_forgotten_one_by_one(make, spread):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = (1 + spread * rng.normal(size=(9, 2))) * 10.0 ** rng.integers(-9, 10), np.repeat([0, 1, 2], 3)
        model = make().fit(X, y)
        for i in range(3):
            model.forget(X[i : i + 1], y[i : i + 1])
        assert model.classes_.tolist() == [1, 2]


def test_values_that_are_all_equal_are_still_equal_once_others_are_forgotten():
    rng = np.random.default_rng(0)
    X = np.full((20, 1), 1234.5678)
    X[:10] += rng.normal(size=(10, 1))
    y = np.arange(20) % 2
    model = GaussianNB().fit(X, y)
    for i in range(10):
        model.forget(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(model.predict_proba(X[10:]), 0.5, atol=1e-12)
