"""The log-loss of a log-linear pool of models, with its slopes and curvature."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast

AT_ONCE = 128  # rows: loops over them vectorise, however few classes there are
LEAST = -45.0  # the log of a share that adds nothing to 1
MIDDLE = LEAST / 128
FACTOR = float(np.exp(MIDDLE))


@fast
def share(x):  # type: ignore[no-untyped-def]
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


@fast
def pool_loss(S, log_prior, codes, weights, beta, outlier_rate, slope, curve, bend):  # type: ignore[no-untyped-def]
    """Σ w·(−log p(c_i | i)), p = (1 − ε)·q + ε·prior, q ∝ exp(log prior + Σ_m β_m·S_m); and Σ w·P(outlier rate | i).

    Added up beside it: its gradient in β, and its Hessian in (β, logit ε) in two parts, ``curve`` (positive: that of
    log q by the share r of each row that is no outlier rate) less ``bend`` = Σ w·r(1 − r)·k kᵀ, k = (∂ log q/∂β, −1).
    S: (M, K, n); log_prior: (K, n), or (K, 1) for all rows; slope: (M,); of curve (M, M) and bend (M + 1, M + 1) the
    lower triangles.
    """
    M, K, n = S.shape
    each = log_prior.shape[1] > 1
    p, top, norm, w = np.empty((K, AT_ONCE)), np.empty(AT_ONCE), np.empty(AT_ONCE), np.empty(AT_ONCE)
    mean, told, odd = np.empty((M, AT_ONCE)), np.full((M + 1, AT_ONCE), -1.0), np.empty(AT_ONCE)
    total, outlier_rates, chance = 0.0, 0.0, np.empty(K)
    for k in range(K):
        chance[k] = np.exp(log_prior[k, 0])
    for start in range(0, n, AT_ONCE):
        size = min(AT_ONCE, n - start)
        top[:] = -np.inf
        for k in range(K):
            for i in range(size):
                p[k, i] = log_prior[k, start + i] if each else log_prior[k, 0]
            for m in range(M):
                b = beta[m]
                for i in range(size):
                    p[k, i] += b * S[m, k, start + i]
            for i in range(size):
                top[i] = max(top[i], p[k, i])
        for i in range(size):
            w[i] = p[codes[start + i], i] - top[i]
            norm[i] = 0.0
        for k in range(K):
            for i in range(size):
                below = p[k, i] - top[i]
                e = share(max(below, LEAST)) if below > LEAST else 0.0  # however large the score, it says nothing more
                p[k, i] = e
                norm[i] += e
        for i in range(size):
            c = codes[start + i]
            right, loss = 1.0, 0.0  # the share of what is said for the class that is no outlier rate
            if outlier_rate > 0.0:
                by_chance = outlier_rate * (np.exp(log_prior[c, start + i]) if each else chance[c])
                q = (1.0 - outlier_rate) * p[c, i] / norm[i]
                right = q / (q + by_chance)
                loss = -np.log(q + by_chance)
            else:
                loss = np.log(norm[i]) - w[i]
            total += weights[start + i] * loss
            outlier_rates += weights[start + i] * (1.0 - right)
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
                told[m, i] = S[m, codes[start + i], start + i] - mean[m, i]
                slope[m] -= w[i] * told[m, i]
        if outlier_rate > 0.0:
            for m in range(M + 1):
                for o in range(m + 1):
                    value = 0.0
                    for i in range(size):
                        value += odd[i] * told[m, i] * told[o, i]
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
    return total, outlier_rates
