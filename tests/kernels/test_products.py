"""Products of columns against numpy's."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 7, 255, 1301])
@pytest.mark.parametrize(("K", "p"), [(1, 1), (3, 4), (5, 103), (40, 18)])
def test_products_of_columns_equal_those_of_numpy(K, p, rows, dtype):
    """Of every class and of all together, where neither rows nor columns fill the last block."""
    from suffit.kernels.products import SIDE, add_scatter

    rng = np.random.default_rng(0)
    X = rng.normal(3, 2, size=(rows, p)).astype(dtype)
    codes, weights, origin = _codes_weights_origin(rng, rows, K, p)
    z = X.astype(np.float64) - origin[codes]
    wide = -(-p // SIDE) * SIDE
    for parts in (K, 1):
        n, x, G = np.zeros(K), np.zeros((K, p)), np.zeros((parts, wide, wide))
        add_scatter(X, codes, weights, origin, n, x, G)
        R = (codes[:, None] == np.arange(K)) * weights[:, None]
        np.testing.assert_allclose(n, R.sum(axis=0), rtol=1e-12)
        np.testing.assert_allclose(x, R.T @ z, rtol=1e-9, atol=1e-9)
        each = R.T if parts == K else weights[None]
        expected = np.triu([(w[:, None] * z).T @ z for w in each])
        np.testing.assert_allclose(np.triu(G)[:, :p, :p], expected, rtol=1e-10, atol=1e-9)
        assert not np.triu(G)[:, :, p:].any()


def _codes_weights_origin(rng, rows, K, p):
    found = rng.integers(0, K, size=rows).astype(np.int32), rng.random(rows), rng.normal(size=(K, p))
    for a in found:
        a.flags.writeable = False
    return found
