"""Joint columns in units without each row, where a single row makes a column vary."""

from __future__ import annotations

import numpy as np
import pytest

from suffit import GenerativeClassifier, MultivariateGaussian
from suffit.data.rows import Rows
from suffit.families.gaussian.leave_one_out.rescaled import RescaledLoo

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # copies of rows


def loo(X, y, weights, tie, shrinkage=0.1):
    rows = Rows.of(y, weights)
    stats = MultivariateGaussian(tie=tie).collect(X, rows)
    return RescaledLoo(stats, X, *rows.part(0, len(rows))).log_density(tie, shrinkage, np.inf)


@pytest.mark.parametrize("tie", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("others", [0.0, 1e-12, 1e-9, 1e-7, 1e-3])
def test_scores_are_finite_where_next_to_nothing_is_left_of_a_column_without_a_row(tie, others):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    X[:, 3] = 0.7 + others * rng.normal(size=30)
    X[4, 3] = 5.0
    found = loo(X, y, np.where(np.arange(30) == 4, 3.0, 1.0), tie)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("tie", [0.0, 0.3, 1.0])
def test_a_column_that_one_row_alone_makes_vary_is_constant_without_it(tie):
    """Then its unit is 1 and its variance that of the prior: log p of its values is the same for all classes."""
    rng = np.random.default_rng(1)
    X, y, weights = rng.normal(size=(30, 3)), np.arange(30) % 2, np.where(np.arange(30) == 4, 3.0, 1.0)
    X[:, 2] = 0.1
    without = loo(X, y, weights, tie, shrinkage=0.1)[4]
    X[4, 2] = 0.1 + 1e-3
    np.testing.assert_allclose(np.diff(loo(X, y, weights, tie, shrinkage=0.1)[4]), np.diff(without), atol=1e-3)


def test_a_bootstrap_sample_with_rare_categories_is_learned():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 350)
        x, c = np.clip(rng.normal(size=350) + y, -0.5, 0.8), np.minimum(rng.zipf(1.5, 350), 150).astype(str)
        again = rng.integers(0, 350, 350)
        model = GenerativeClassifier().fit({"x": x[again], "c": c[again]}, y[again])
        assert np.isfinite(model.selection_.loss)
