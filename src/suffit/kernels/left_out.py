"""Normal log-densities of rows under covariances without them, in the eigenvectors of the matrix before."""

from __future__ import annotations

import numpy as np

from .compiled import fast


@fast
def downdated_scores(x, means, k, codes, grown, alpha, gamma, taken, values, least_left, out):  # type: ignore[no-untyped-def]
    """−½(Σ v²/h + b (Σ uv/h)²/(1 − b Σ u²/h) + Σ log h + log(1 − b Σ u²/h)), h = α·λ + γ, b = α·taken.

    u is the row's distance from the mean of its own class, v that from the mean of class k without the row; NaN where
    1 − b Σ u²/h is not above ``least_left``.
    """
    n, p = x.shape
    for i in range(n):
        c = codes[i]
        u_u, u_v, v_v, log_det, product = 0.0, 0.0, 0.0, 0.0, 1.0
        for j in range(p):
            h = alpha[i] * values[j] + gamma[i]
            u = x[i, j] - means[c, j]
            v = grown[i] * u if c == k else x[i, j] - means[k, j]
            u_u += u * u / h
            u_v += u * v / h
            v_v += v * v / h
            product *= h
            if j % 4 == 3:  # one logarithm for four factors
                log_det += np.log(product)
                product = 1.0
        log_det += np.log(product)
        b = alpha[i] * taken[i]
        left = 1.0 - b * u_u
        out[i] = -0.5 * (v_v + b * u_v * u_v / left + log_det + np.log(left)) if left > least_left else np.nan
