"""Labels as codes, weights as rows, sparse rows in any order."""

from __future__ import annotations

import numpy as np
import pytest

import suffit
from suffit.data.rows import encode


def test_rows_that_are_looked_at_are_of_all_classes():
    rows = suffit.data.rows.Rows(suffit.Index.range(2), np.arange(10_000, dtype=np.int32) % 2)
    assert np.bincount(rows.codes[rows.with_positive_weight(5000)]).tolist() == [2500, 2500]


def test_weights_that_are_shares_count_as_rows():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) + 0.8 * y[:, None]
    shares = np.full(200, 1 / 200)
    for make in (lambda: suffit.GaussianNB(calibrate="temperature"), lambda: suffit.GaussianNB(calibrate="isotonic")):
        plain, weighed = make().fit(X, y), make().fit(X, y, sample_weight=shares)
        np.testing.assert_allclose(weighed.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    table = suffit.GenerativeClassifier().fit(X, y)
    weighed = suffit.GenerativeClassifier().fit(X, y, sample_weight=shares)
    np.testing.assert_allclose(weighed.predict_proba(X), table.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("late", [[7], [-3], [1], [2**40], []])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8])
def test_labels_that_come_late_are_labels_too(late, dtype):
    """The first rows have 0 and 2 alone; others, between, beside and far from them, come thousands of rows later."""
    if any(not np.iinfo(dtype).min <= v <= np.iinfo(dtype).max for v in late):
        pytest.skip("no such label of this type")
    y = np.tile(np.array([0, 2]), 5000).astype(dtype)
    y[9000 : 9000 + len(late)] = late
    labels, codes, counts = encode(y)
    values, inverse, rows = np.unique(y, return_inverse=True, return_counts=True)
    assert labels == values.tolist()
    np.testing.assert_array_equal(codes, inverse)
    np.testing.assert_array_equal(counts, rows)


def test_a_row_without_weight_may_hold_anything_finite():
    X = np.random.default_rng(0).normal(size=(50, 2))
    y, weight = np.arange(50) % 2, np.ones(50)
    X[3], weight[3] = 1e200, 0.0
    rest = np.arange(50) != 3
    model, without = suffit.GaussianNB().fit(X, y, sample_weight=weight), suffit.GaussianNB().fit(X[rest], y[rest])
    np.testing.assert_allclose(model.predict_proba(X[rest]), without.predict_proba(X[rest]), atol=1e-12)
