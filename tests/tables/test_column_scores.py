"""What the values of single columns tell, against sums that are written out."""

from __future__ import annotations

import numpy as np
import pytest

from suffit.tables.column_scores import categories_explain, column_moments, column_range

rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([], (np.nan, np.nan, True)),
        ([np.nan, np.nan], (np.nan, np.nan, True)),
        ([2.0, np.nan, -1.0], (-1.0, 2.0, True)),
        ([2.0, 0.5], (0.5, 2.0, False)),
        ([np.inf, 1.0], (1.0, np.inf, True)),
        ([1e300, -1e300], (-1e300, 1e300, True)),
        ([0.0] * 40_000 + [0.5], (0.0, 0.5, False)),
    ],
)
def test_the_range_of_a_column_and_whether_it_is_of_integers(x, expected):
    np.testing.assert_equal(column_range(np.array(x)), expected)


def test_moments_by_class_are_about_the_mean_of_what_is_there():
    X, codes, w = rng.normal(size=(3, 50)), rng.integers(0, 2, 50).astype(np.int32), rng.random(50)
    X[1, ::3], X[2] = np.nan, np.nan
    middle, n, z, zz = column_moments(X, codes, w, 3)
    for j, c in np.ndindex(2, 3):
        there = ~np.isnan(X[j])
        assert middle[j] == pytest.approx(np.average(X[j, there], weights=w[there]))
        here, d = there & (codes == c), X[j] - middle[j]
        expected = w[here].sum(), (w * d)[here].sum(), (w * d * d)[here].sum()
        np.testing.assert_allclose((n[c, j], z[c, j], zz[c, j]), expected, atol=1e-14)
    assert middle[2] == 0
    assert not np.any([n[:, 2], z[:, 2], zz[:, 2]])


@pytest.mark.parametrize("wide", [1, 1000])
def test_categories_of_integers_explain_as_the_formula_says(wide):
    x, codes, w = rng.integers(5, 9, 40).astype(float), rng.integers(0, 2, 40).astype(np.int32), rng.random(40)
    x[3] = np.nan
    there, expected = ~np.isnan(x), 0.0
    for c in range(2):
        N = w[there & (codes == c)].sum()
        for v in range(5, 9):
            n = w[there & (codes == c) & (x == v)].sum()
            expected += n * np.log((n + 1) / (N + 4))
    found, value = categories_explain(x, 5.0, 8.0, codes, w, 3, wide, 30)
    assert (found, value) == (4, pytest.approx(expected))
    assert categories_explain(x, 5.0, 8.0, codes, w, 3, wide, 3) == (0, 0.0)
    assert categories_explain(x[3:4], np.nan, np.nan, codes[3:4], w[3:4], 3, wide, 3) == (0, 0.0)
