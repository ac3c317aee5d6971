"""Bins of other rows, as settings are compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffit import Model
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.families import Binned
from suffit.families.counts.binned import SortedColumns

NAMES = tuple("abcde")


def _table(share, n=150, seed=0, p=5, K=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, n).astype(np.int32)
    mixing = np.eye(p) + 0.3 * rng.normal(size=(p, p))
    X = rng.normal(size=(n, p)) @ mixing + codes[:, None] * rng.normal(size=p)
    X[rng.random(X.shape) < share] = np.nan
    return X, Rows(Index(tuple(range(K))), codes)


def _of_others(family, X, others, wanted):
    return replace(family, edges=family.edges_of(SortedColumns.of(X), others)).scores_of_others(X, others, wanted)


@pytest.mark.parametrize("how", ["mdl", "quantile"])
def test_bins_of_other_rows_are_those_of_a_model_of_them(how):
    X, rows = _table(0.1, n=300)
    held = np.arange(300) % 4 == 0
    family, wanted, others = Binned(how=how), np.flatnonzero(held), np.flatnonzero(~held)
    found = _of_others(family, X, rows.without(held), wanted)
    model = Model.empty(family, NAMES).learn(X[others], rows.some(others))
    np.testing.assert_allclose(found, model.solved(np.zeros(3)).scores(X[wanted]), rtol=1e-12)


def test_a_class_that_no_other_row_has_is_as_unlikely_as_the_least_likely():
    X, rows = _table(0.0)
    held = rows.codes == 2
    found = _of_others(Binned(), X, rows.without(held), np.flatnonzero(held))
    np.testing.assert_array_equal(found[:, 2], found[:, :2].min(axis=1))
