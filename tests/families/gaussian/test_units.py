"""Second moments in other units are the second moments of the columns in those units."""

from __future__ import annotations

import numpy as np
import pytest

import suffit
from suffit.data.arrays import freeze
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.families.gaussian.units import in_units

SOURCE, FACTOR = [2, 0, 3, 1, 3], np.array([0.5, 3.0, 1e6, 1.0, 0.0])
FAMILIES = {
    "own": suffit.MultivariateGaussian(),
    "pooled": suffit.MultivariateGaussian(tie=1.0, pooled=True),
    "pairs": suffit.MultivariateGaussian(missing="pairs"),
    "pooled pairs": suffit.MultivariateGaussian(tie=1.0, pooled=True, missing="pairs"),
}


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_sums_in_other_units_are_those_of_the_columns_in_them(family, missing):
    """Columns in another order, one of them twice, once as 0 wherever it is there."""
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 2.0, (60, 4))
    X[rng.random(X.shape) < missing] = np.nan
    rows = Rows(Index.range(2), freeze(np.arange(60, dtype=np.int32) % 2))
    before = family.collect(freeze(X), rows)
    wanted = family.collect(freeze(X[:, SOURCE] * FACTOR), rows)
    found = in_units(before, SOURCE, FACTOR)
    assert found is not None
    origin = np.zeros((2, 5))
    assert found.about(origin).isclose(wanted.about(origin), 1e-12)


def test_sums_of_another_kind_are_left_alone():
    family = suffit.MultivariateGaussian(shrinkage="ledoit-wolf")
    sums = family.collect(freeze(np.eye(40)[:, :4]), Rows(Index.range(1), freeze(np.zeros(40, np.int32))))
    assert in_units(sums, SOURCE, FACTOR) is None
    few = Rows(Index.range(1), freeze(np.zeros(3, np.int32)))
    kept = suffit.MultivariateGaussian().collect(freeze(np.eye(3, 80)), few)
    assert in_units(kept, range(80), np.ones(80)) is None  # few rows, kept themselves
