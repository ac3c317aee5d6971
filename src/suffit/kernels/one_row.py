"""The posterior of one row, from the row to probabilities in a single call."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast_helper, helper, jit
from .runtime.types import Floats, Numbers


@fast_helper
def _gaussian_scores(x: Numbers, mean: Floats, root: Floats, log_scale: Floats, out: Floats) -> None:
    K, p = mean.shape
    for c in range(K):
        q = 0.0
        for j in range(p):
            if x[j] == x[j]:
                z = (x[j] - mean[c, j]) * root[c, j]
                q += z * z + log_scale[c, j]
        out[c] = -q


@fast_helper
def _linear_scores(x: Numbers, middle: Floats, weights: Floats, offset: Floats, out: Floats) -> None:
    K, p = weights.shape
    for c in range(K):
        q = 0.0
        for j in range(p):
            q += (x[j] - middle[j]) * weights[c, j]
        out[c] = offset[c] + q


@helper
def _softmax(log_prior: Floats, out: Floats) -> None:
    K = out.shape[0]
    top = -np.inf
    at = 0
    for c in range(K):
        if log_prior[c] + out[c] > top:
            top = log_prior[c] + out[c]
            at = c
    most = out[at]
    total = 0.0
    for c in range(K):
        out[c] = np.exp((out[c] - most) + (log_prior[c] - log_prior[at]))  # in this order a tie leaves the prior
        total += out[c]
    for c in range(K):
        out[c] /= total


@jit
def gaussian_row(x: Numbers, mean: Floats, root: Floats, log_scale: Floats, log_prior: Floats, out: Floats) -> None:
    """Softmax of log p(c) − Σ_j ((x − μ)·root)² + log σ√2π over the values present."""
    _gaussian_scores(x, mean, root, log_scale, out)
    _softmax(log_prior, out)


@jit
def linear_row(x: Numbers, middle: Floats, weights: Floats, offset: Floats, log_prior: Floats, out: Floats) -> None:
    """Softmax of log p(c) + offset[c] + weights[c]·(x − middle)."""
    _linear_scores(x, middle, weights, offset, out)
    _softmax(log_prior, out)
