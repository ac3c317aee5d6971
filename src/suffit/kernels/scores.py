"""Log-scores of dense rows, and the step from scores to posteriors."""

from __future__ import annotations

import numpy as np
from numba import njit

jit = njit(nogil=True, cache=True, error_model="numpy")
fast = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})


@fast
def gaussian_scores(X, mean, root, start, out):  # type: ignore[no-untyped-def]
    """out[i, c] = start[c] − Σ_j ((x − μ)·root)² with root = 1/(σ√2)."""
    rows, p = X.shape
    K = mean.shape[0]
    for i in range(rows):
        for c in range(K):
            q = 0.0
            for j in range(p):
                z = (np.float64(X[i, j]) - mean[c, j]) * root[c, j]
                q += z * z
            out[i, c] = start[c] - q


@jit
def gaussian_scores_present(X, mean, root, log_scale, start, out):  # type: ignore[no-untyped-def]
    """The same where values may be missing: a NaN drops its term and its log σ√2π."""
    rows, p = X.shape
    K = mean.shape[0]
    for i in range(rows):
        for c in range(K):
            q = 0.0
            for j in range(p):
                z = (np.float64(X[i, j]) - mean[c, j]) * root[c, j]
                if z == z:
                    q += z * z + log_scale[c, j]
            out[i, c] = start[c] - q


@jit
def nearest_centre_scores(U, V, start, nearest, out):  # type: ignore[no-untyped-def]
    """Scores −½‖u − v_c‖² + start[c] up to a constant per row, without cancellation near or far.

    Taken relative to the nearest centre b: (v_c − v_b)·(u − ½(v_c + v_b)).  Its error is of the order of
    ε·|v_c − v_b|·|u − v_b|, where that of the squared distances is ε·|u − v_c|².
    ``nearest`` receives b.
    """
    rows, r = U.shape
    K = V.shape[0]
    for i in range(rows):
        best = 0
        least = np.inf
        for c in range(K):
            q = 0.0
            for k in range(r):
                d = U[i, k] - V[c, k]
                q += d * d
            if q < least:
                least = q
                best = c
        nearest[i] = best
        for c in range(K):
            s = 0.0
            for k in range(r):
                s += (V[c, k] - V[best, k]) * (U[i, k] - 0.5 * (V[c, k] + V[best, k]))
            out[i, c] = start[c] + s


@jit
def add_row_norms(U, factor, out):  # type: ignore[no-untyped-def]
    """out[i] += factor · ‖u_i‖²."""
    rows, r = U.shape
    for i in range(rows):
        q = 0.0
        for k in range(r):
            q += U[i, k] * U[i, k]
        out[i] += factor * q


@jit
def to_log_posterior(scores):  # type: ignore[no-untyped-def]
    """Each row minus its log-sum-exp, in place.  False where a row holds a NaN or has no finite maximum."""
    rows, K = scores.shape
    good = True
    for i in range(rows):
        top = -np.inf
        at = 0
        defined = True
        for c in range(K):
            s = scores[i, c]
            if s != s:
                defined = False
            if s > top:
                top = s
                at = c
        if not (defined and np.isfinite(top)):
            good = False
            continue
        rest = 0.0
        for c in range(K):
            if c != at:
                rest += np.exp(scores[i, c] - top)
        shift = np.log1p(rest)  # relative precision even where the leading class is all but certain
        for c in range(K):
            scores[i, c] = (scores[i, c] - top) - shift
    return good


@jit
def to_posterior(scores):  # type: ignore[no-untyped-def]
    """Each row to probabilities, in place.  False where a row holds a NaN or has no finite maximum."""
    rows, K = scores.shape
    good = True
    for i in range(rows):
        top = -np.inf
        defined = True
        for c in range(K):
            s = scores[i, c]
            if s != s:
                defined = False
            if s > top:
                top = s
        if not (defined and np.isfinite(top)):
            good = False
            continue
        total = 0.0
        for c in range(K):
            e = np.exp(scores[i, c] - top)
            scores[i, c] = e
            total += e
        for c in range(K):
            scores[i, c] /= total
    return good
