"""The posterior of one row, from the row to probabilities in a single call."""

from __future__ import annotations

import numpy as np

from .compiled import fast


@fast
def gaussian_row(x, mean, root, log_scale, log_prior, out):  # type: ignore[no-untyped-def]
    """Softmax of log p(c) − Σ_j ((x − μ)·root)² + log σ√2π over the values present."""
    K, p = mean.shape
    top = -np.inf
    at = 0
    for c in range(K):
        q = 0.0
        for j in range(p):
            if x[j] == x[j]:
                z = (x[j] - mean[c, j]) * root[c, j]
                q += z * z + log_scale[c, j]
        out[c] = -q
        if log_prior[c] - q > top:
            top = log_prior[c] - q
            at = c
    most = out[at]
    total = 0.0
    for c in range(K):
        out[c] = np.exp((out[c] - most) + (log_prior[c] - log_prior[at]))
        total += out[c]
    for c in range(K):
        out[c] /= total


@fast
def linear_row(x, middle, weights, offset, log_prior, out):  # type: ignore[no-untyped-def]
    """Softmax of log p(c) + offset[c] + weights[c]·(x − middle)."""
    K, p = weights.shape
    top = -np.inf
    at = 0
    for c in range(K):
        q = offset[c]
        for j in range(p):
            q += (x[j] - middle[j]) * weights[c, j]
        out[c] = q
        if log_prior[c] + q > top:
            top = log_prior[c] + q
            at = c
    most = out[at]
    total = 0.0
    for c in range(K):
        out[c] = np.exp((out[c] - most) + (log_prior[c] - log_prior[at]))
        total += out[c]
    for c in range(K):
        out[c] /= total
