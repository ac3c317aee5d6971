"""Rows left out nearly, as settings are compared: beside rows left out exactly."""

from __future__ import annotations

import numpy as np
import pytest

from suffit import MultivariateGaussian
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.families.gaussian.leave_one_out.approximate import ApproximateLoo


def both(x, codes, tie, shrinkage, weights=None, freedom=np.inf):
    """log p(x_i | k) without row i, exactly and nearly."""
    rows = Rows(Index(tuple(range(codes.max() + 1))), codes.astype(np.int32), weights)
    family = MultivariateGaussian(tie=tie, shrinkage=shrinkage, freedom=freedom)
    stats = family.collect(x, rows)
    one = rows.one_of_each()
    nearly = ApproximateLoo(family.scatter(stats), x, *one.part(0, len(one)))
    exact = family.loo_by_shrinkage(x, one, stats, [shrinkage])
    return exact[0], nearly.log_density(tie, shrinkage, freedom)


def table(n=120, p=6, K=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    mix = np.eye(p) + 0.4 * rng.normal(size=(K, p, p)) / np.sqrt(p)
    return np.einsum("ij,ijk->ik", rng.normal(size=(n, p)), mix[codes]) * (1 + codes[:, None]) + codes[:, None], codes


@pytest.mark.parametrize("tie", [1.0, 0.5, 0.1, 0.0])
@pytest.mark.parametrize("shrinkage", [0.01, 0.1, 0.8])
@pytest.mark.parametrize("freedom", [np.inf, 10.0])
def test_nearly_is_near(tie, shrinkage, freedom):
    x, codes = table()
    exact, nearly = both(x, codes, tie, shrinkage, freedom=freedom)
    np.testing.assert_allclose(nearly, exact, rtol=0.01, atol=0.1)
    own = np.arange(len(codes)), codes
    assert abs((nearly - exact)[own].mean()) < 0.03


def test_a_far_row_of_its_class_is_near_too():
    x, codes = table()
    x[0] *= 30
    exact, nearly = both(x, codes, 0.0, 0.1)
    assert nearly[0, 0] == pytest.approx(exact[0, 0], rel=0.05)


def test_fewer_rows_than_columns():
    x, codes = table(n=40, p=30, K=4)
    exact, nearly = both(x, codes, 0.0, 0.1)
    np.testing.assert_allclose(nearly, exact, rtol=0.01)


def test_a_weight_is_a_number_of_repetitions():
    x, codes = table()
    times = 1 + np.arange(len(codes)) % 3
    weighted = both(x, codes, 0.5, 0.1, weights=times.astype(float))[1]
    repeated = both(np.repeat(x, times, axis=0), np.repeat(codes, times), 0.5, 0.1)[1]
    np.testing.assert_allclose(repeated, np.repeat(weighted, times, axis=0), atol=1e-4)


@pytest.mark.parametrize("tie", [1.0, 0.5, 0.0])
def test_a_class_without_other_rows_says_nothing(tie):
    x, codes = table()
    codes = np.where(np.arange(len(codes)) == 7, 3, codes)
    exact, nearly = both(x, codes, tie, 0.1)
    assert nearly[7, 3] == exact[7, 3] == 0.0
    others = np.arange(len(codes)) != 7
    np.testing.assert_array_equal(np.isnan(nearly[others]), np.isnan(exact[others]))
