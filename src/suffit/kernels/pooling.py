"""The log-loss of a log-linear pool of models, with its slopes and curvature, and the search for where it is least."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, fast_helper

AT_ONCE = 128  # rows: loops over them vectorise, however few classes there are
LEAST = -45.0  # the log of a share that adds nothing to 1
MIDDLE = LEAST / 128
FACTOR = float(np.exp(MIDDLE))

FAR = 4.0  # times that a power grows or falls in one step
MOST_TURNS = 100  # points of a search
LEAST_PART = 1e-9  # of a step that gains nothing, after which there is no use in halving it
MOST_LOGIT = 30.0  # of an outlier rate, either way
NOTHING = 1e-6  # a power that is none
BENT = (1.0, 0.97, 0.9, 0.7, 0.0)  # how much of what makes the loss no longer convex is reckoned with
ROUNDING = 1e-12  # of the log-loss
CONVERGED = 1e-6  # a gain of log-loss after which there is nothing more to gain


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


@fast_helper
def pool_price(where, outlier_rate, price, pseudo, slope, curve, bend):  # type: ignore[no-untyped-def]
    """What the priors add to the log-loss at ``where`` = (β, logit ε), to its gradient and to its Hessian."""
    M = len(where) - 1
    for i in range(M + 1):
        for j in range(M + 1):
            curve[i, j], bend[i, j] = 0.0, 0.0
    paid = -pseudo * (np.log(outlier_rate) + np.log1p(-outlier_rate))
    for m in range(M):
        slope[m], curve[m, m] = price * where[m], price
        paid += 0.5 * price * where[m] * where[m]
    slope[M], curve[M, M] = (
        outlier_rate - pseudo * (1.0 - 2.0 * outlier_rate),
        outlier_rate * (1.0 - outlier_rate) * (1.0 + 2.0 * pseudo),
    )
    return paid


@fast_helper
def put(a, out):  # type: ignore[no-untyped-def]
    """Copy a short vector: compiled sooner than a slice is."""
    for i in range(len(a)):
        out[i] = a[i]


@fast_helper
def solved(A, b, x):  # type: ignore[no-untyped-def]
    """x = A⁻¹b by Cholesky's factor, which takes the place of the lower triangle; whether A has one."""
    n = len(b)
    for i in range(n):
        for j in range(i + 1):
            value = A[i, j]
            for k in range(j):
                value -= A[i, k] * A[j, k]
            if i > j:
                A[i, j] = value / A[j, j]
            elif value > 0.0:
                A[i, i] = np.sqrt(value)
            else:
                return False
    for i in range(n):
        x[i] = b[i]
        for k in range(i):
            x[i] -= A[i, k] * x[k]
        x[i] /= A[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] -= A[k, i] * x[k]
        x[i] /= A[i, i]
    return True


@fast_helper
def pool_step(where, strongest, slope, curve, bend, step):  # type: ignore[no-untyped-def]
    """Newton's step to take away, 0 for a power that pushes against its bound; a safe one where that is none.

    The Hessian without its bend has a factor, for the prior on powers is in it.
    """
    n = len(where)
    A, b = np.empty((n, n)), np.empty(n)
    for bent in BENT:
        put(slope, b)
        for i in range(n):
            for j in range(i + 1):
                A[i, j] = curve[i, j] - bent * bend[i, j]
        for m in range(n - 1):
            if (where[m] <= 0.0 and slope[m] > 0.0) or (where[m] >= strongest and slope[m] < 0.0):
                for i in range(n):
                    A[max(i, m), min(i, m)] = 0.0
                A[m, m], b[m] = 1.0, 0.0
        if solved(A, b, step):
            break


@fast_helper
def pool_moved(where, step, part, strongest, out):  # type: ignore[no-untyped-def]
    """The point less a part of a step: a single power changes by no more than some times at once, so do the odds."""
    M = len(where) - 1
    for m in range(M):
        beta = where[m] - part * step[m]
        if M == 1:
            beta = min(max(beta, where[m] / FAR - NOTHING), FAR * (where[m] + NOTHING))
        out[m] = min(max(beta, 0.0), strongest)
    out[M] = min(max(where[M] - min(max(part * step[M], -FAR), FAR), -MOST_LOGIT), MOST_LOGIT)


@fast
def pool_search(S, log_prior, codes, weights, price, pseudo, strongest, starts, where):  # type: ignore[no-untyped-def]
    """Newton's method from the best of some starts, by steps halved until they gain; the log-loss where it ends."""
    n, compared = len(where), len(starts) if len(starts) > 1 else 0
    slope, curve, bend, there = np.empty(n), np.empty((n, n)), np.empty((n, n)), np.empty(n)
    step, part, promised = np.zeros(n), 1.0, np.inf
    put(starts[0], where)
    best, loss = np.inf, np.inf
    for turn in range(compared + MOST_TURNS):
        if turn < compared:
            put(starts[turn], there)
        else:
            pool_moved(where, step, part, strongest, there)
        e = 1.0 / (1.0 + np.exp(-there[n - 1]))
        total = pool_price(there, e, price, pseudo, slope, curve, bend)
        alone, outlier_rates = pool_loss(S, log_prior, codes, weights, there, e, slope, curve, bend)
        slope[n - 1] -= outlier_rates
        total += alone
        if turn < compared:
            if total < best:
                put(there, where)
                best = total
            continue
        if not total <= best + ROUNDING:
            part *= 0.5
            if part < LEAST_PART:
                break
            continue
        put(there, where)
        best, loss = total, alone
        if promised < CONVERGED:  # the next step would gain about its square
            break
        pool_step(where, strongest, slope, curve, bend, step)
        part, promised = 1.0, 0.0
        for i in range(n):
            promised += 0.5 * slope[i] * step[i]
    for m in range(n - 1):
        where[m] = where[m] if where[m] >= NOTHING else 0.0
    return loss
