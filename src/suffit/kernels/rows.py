"""The posterior of one row, from the row to probabilities in a single call."""

from __future__ import annotations

import numpy as np

from .compiled import fast


@fast
def gaussian_row(x, mean, root, log_scale, log_prior, out):  # type: ignore[no-untyped-def]
    """Softmax of log p(c) − Σ_j ((x − μ)·root)² + log σ√2π over the values present."""
    K, p = mean.shape
    top = -np.inf
    for c in range(K):
        q = 0.0
        for j in range(p):
            z = (x[j] - mean[c, j]) * root[c, j]
            if x[j] == x[j]:
                q += z * z + log_scale[c, j]
        out[c] = log_prior[c] - q
        if out[c] > top:
            top = out[c]
    total = 0.0
    for c in range(K):
        out[c] = np.exp(out[c] - top)
        total += out[c]
    for c in range(K):
        out[c] /= total


@fast
def linear_row(x, middle, weights, start, out):  # type: ignore[no-untyped-def]
    """Softmax of start[c] + weights[c]·(x − middle)."""
    K, p = weights.shape
    top = -np.inf
    for c in range(K):
        q = 0.0
        for j in range(p):
            q += (x[j] - middle[j]) * weights[c, j]
        out[c] = start[c] + q
        if out[c] > top:
            top = out[c]
    total = 0.0
    for c in range(K):
        out[c] = np.exp(out[c] - top)
        total += out[c]
    for c in range(K):
        out[c] /= total
