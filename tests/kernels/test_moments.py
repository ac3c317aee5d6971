"""Sums of dense rows by class: every way through the kernel, against sums as they are written."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import suffit
from suffit.data.arrays import freeze
from suffit.kernels.moments import AHEAD_ROWS, LONG_ROW, STRIP_CELLS, STRIP_ROWS, class_moments

SHORT, LONG = 3, 37  # columns
STRIP = max(STRIP_ROWS, STRIP_CELLS // SHORT)
NUMBERS = (0, 1, 3, 4, 5, AHEAD_ROWS, STRIP - 1, STRIP, STRIP + 1, 2 * STRIP - 1, 2 * STRIP + 3)


def sums_as_written(X, codes, weights, origin):
    K, p = origin.shape
    n, t1, t2 = np.zeros(K), np.zeros((K, p)), np.zeros((K, p))
    for c in range(K):
        z = X[codes == c].astype(np.float64) - origin[c]
        w = weights[codes == c][:, None]
        n[c], t1[c], t2[c] = w.sum(), (w * z).sum(axis=0), (w * z * z).sum(axis=0)
    return n, t1, t2


@pytest.mark.parametrize("rows", NUMBERS)
@pytest.mark.parametrize("K", [1, 2, 7, 300])
@pytest.mark.parametrize("p", [SHORT, LONG])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_classes(rows, K, p, dtype):
    """Strips of short rows and long ones as they come: as many as fill a strip, one fewer, one more; a class alone."""
    assert (p * np.dtype(dtype).itemsize < LONG_ROW) == (p == SHORT or dtype == np.float32)
    rng = np.random.default_rng(rows * 1000 + K)
    X = rng.normal(3, 2, (rows, p)).astype(dtype)
    codes = np.minimum(rng.geometric(2 / (K + 1), rows) - 1, K - 1).astype(np.int32)  # of some classes there are few
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], rows)
    origin = rng.normal(3, 1, (K, p))
    n, t1, t2 = np.zeros(K), np.zeros((K, p)), np.zeros((K, p))
    class_moments(*(freeze(a) for a in (X, codes, weights, origin)), n, t1, t2)
    for found, expected in zip((n, t1, t2), sums_as_written(X, codes, weights, origin), strict=True):
        assert_allclose(found, expected, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("p", [SHORT, LONG])
def test_sums_are_added_to(p):
    """What was there stays, and rows that come in two calls are rows that come in one."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(500, p)), rng.integers(0, 3, 500).astype(np.int32)
    weights, origin = np.ones(500), np.zeros((3, p))
    once, twice = ([np.zeros(3), np.zeros((3, p)), np.zeros((3, p))] for _ in range(2))
    class_moments(*(freeze(a) for a in (X, codes, weights, origin)), *once)
    for part in (slice(0, 123), slice(123, 500)):
        class_moments(*(freeze(a) for a in (X[part], codes[part], weights[part], origin)), *twice)
    for a, b in zip(once, twice, strict=True):
        assert_allclose(a, b, rtol=1e-11)


def test_a_row_without_weight_may_be_huge_beside_a_missing_value():
    X = np.array([[1.0, np.nan], [2.0, 3.0], [3.0, 1.0], [1e200, 4.0], [5.0, 6.0]])
    model = suffit.GaussianNB().fit(X, [0, 0, 1, 1, 1], sample_weight=[1, 1, 1, 0, 1])
    assert_allclose(model.theta_, [[1.5, 3.0], [4.0, 3.5]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize(("K", "p"), [(1, 3), (5, 203), (100, 7), (700, 4)])
def test_rows_added_up_by_four_give_the_moments_of_numpy(K, p, dtype):
    """On rows that do not fill the last strip, with classes of fewer than four rows in some."""
    from suffit.kernels.moments import class_moments

    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, size=(1301, p)).astype(dtype)
    codes, weights, origin = _codes_weights_origin(rng, len(X), K, p)
    n, x, xx = np.zeros(K), np.zeros((K, p)), np.zeros((K, p))
    class_moments(X, codes, weights, origin, n, x, xx)
    z = X.astype(np.float64) - origin[codes]
    R = (codes[:, None] == np.arange(K)) * weights[:, None]
    np.testing.assert_allclose(n, R.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(x, R.T @ z, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(xx, R.T @ z**2, rtol=1e-12)


def _codes_weights_origin(rng, rows, K, p):
    found = rng.integers(0, K, size=rows).astype(np.int32), rng.random(rows), rng.normal(size=(K, p))
    for a in found:
        a.flags.writeable = False
    return found
