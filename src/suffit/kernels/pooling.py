"""The log-loss of a log-linear pool of models, with its slopes and curvature."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, fast_helper
from .runtime.lengths import unlike
from .runtime.types import Codes, Floats

AT_ONCE = 128  # rows: loops over them vectorise, however few classes there are
LEAST = -45.0  # the log of a share that adds nothing to 1
MIDDLE = LEAST / 128
FACTOR = float(np.exp(MIDDLE))


def share(x: float) -> float:
    """exp(x) to 13 digits for LEAST ≤ x ≤ 0: the 64th power of a polynomial, so that loops vectorise."""
    r = x * (1 / 64) - MIDDLE
    y = 1 / 479001600
    y = y * r + 1 / 39916800
    y = y * r + 1 / 3628800
    y = y * r + 1 / 362880
    y = y * r + 1 / 40320
    y = y * r + 1 / 5040
    y = y * r + 1 / 720
    y = y * r + 1 / 120
    y = y * r + 1 / 24
    y = y * r + 1 / 6
    y = y * r + 0.5
    y = y * r + 1.0
    y = (y * r + 1.0) * FACTOR
    y *= y
    y *= y
    y *= y
    y *= y
    y *= y
    return y * y


_share = fast_helper(share)


def pool_loss(
    S: Floats, log_prior: Floats, codes: Codes, weights: Floats, beta: Floats, outlier_rate: float,
    slope: Floats, curve: Floats, bend: Floats,
) -> tuple[float, float]:  # fmt: skip
    """Σ w·(−log p(c_i | i)), p = (1 − ε)·q + ε·prior, q ∝ exp(log prior + Σ_m β_m·S_m); and Σ w·P(outlier | i).

    Added up beside it: its gradient in β, and its Hessian in (β, logit ε) in two parts, ``curve`` (positive: that of
    log q by the share r of each row that is no outlier) less ``bend`` = Σ w·r(1 − r)·k kᵀ, k = (∂ log q/∂β, −1).
    S: (M, K, n); log_prior: (K, n); slope: (M,); of curve (M, M) and bend (M + 1, M + 1) the lower triangles.  0 < ε.
    """
    M, K, n = S.shape
    if not n == len(codes) == len(weights) == len(log_prior.T):
        raise unlike(n, codes, weights, log_prior.T)
    room = np.empty((K + M + 4, AT_ONCE)), np.full((M + 1, AT_ONCE), -1.0)
    return _pool_loss(S, log_prior, codes, weights, beta, outlier_rate, *room, slope, curve, bend)


@fast
def _pool_loss(
    S: Floats, log_prior: Floats, codes: Codes, weights: Floats, beta: Floats, outlier_rate: float,
    room: Floats, ahead: Floats, slope: Floats, curve: Floats, bend: Floats,
) -> tuple[float, float]:  # fmt: skip
    """The same, some rows at a time; room (K + M + 4, AT_ONCE), and ahead (M + 1, AT_ONCE), whose last row is −1."""
    M, K, n = S.shape
    p, mean, rest = room[:K], room[K : K + M], room[K + M :]
    top, norm, w, odd = rest[0], rest[1], rest[2], rest[3]
    total, outliers = 0.0, 0.0
    for start in range(0, n, AT_ONCE):
        size = AT_ONCE if start + AT_ONCE < n else n - start
        for i in range(size):
            top[i], norm[i] = -np.inf, 0.0
        for k in range(K):
            for i in range(size):
                p[k, i] = log_prior[k, start + i]
            for m in range(M):
                b = beta[m]
                for i in range(size):
                    p[k, i] += b * S[m, k, start + i]
            for i in range(size):
                top[i] = p[k, i] if p[k, i] > top[i] else top[i]
        for k in range(K):
            for i in range(size):
                below = p[k, i] - top[i]
                e = _share(below if below > LEAST else LEAST) if below > LEAST else 0.0  # the rest says nothing more
                p[k, i] = e
                norm[i] += e
        for i in range(size):
            c = codes[start + i]
            q = (1.0 - outlier_rate) * p[c, i] / norm[i]
            both = q + outlier_rate * np.exp(log_prior[c, start + i])
            right = q / both  # the share of what is said for the class that is no outlier
            total -= weights[start + i] * np.log(both)
            outliers += weights[start + i] * (1.0 - right)
            w[i] = weights[start + i] * right
            odd[i] = w[i] * (1.0 - right)
        for m in range(M):
            for i in range(size):
                mean[m, i] = 0.0
            for k in range(K):
                for i in range(size):
                    mean[m, i] += p[k, i] * S[m, k, start + i]
            for i in range(size):
                mean[m, i] /= norm[i]
                ahead[m, i] = S[m, codes[start + i], start + i] - mean[m, i]
                slope[m] -= w[i] * ahead[m, i]
        for m in range(M + 1):
            for o in range(m + 1):
                value = 0.0
                for i in range(size):
                    value += odd[i] * ahead[m, i] * ahead[o, i]
                bend[m, o] += value
        for i in range(size):
            w[i] /= norm[i]
        for m in range(M):
            for o in range(m + 1):
                value = 0.0
                for k in range(K):
                    for i in range(size):
                        value += w[i] * p[k, i] * (S[m, k, start + i] - mean[m, i]) * (S[o, k, start + i] - mean[o, i])
                curve[m, o] += value
    return total, outliers
