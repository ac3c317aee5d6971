"""Gaussian rows with missing values: sums by pattern, expected sums given the pattern, marginal scores."""

from __future__ import annotations

import numpy as np

from .compiled import fast

HALF_LOG_2PI = 0.9189385332046727


@fast
def pattern_sums(Z, codes, weights, patterns, lo, hi, n, x, xx):  # type: ignore[no-untyped-def]
    """Add w, w z and the lower half of w z zᵀ of the rows whose pattern is in [lo, hi); z is 0 where missing.

    xx (C, P, p, p), or (1, P, p, p) where the classes share it.
    """
    rows, p = Z.shape
    own = xx.shape[0] > 1
    for i in range(rows):
        q = patterns[i]
        if q < lo or q >= hi:
            continue
        c = codes[i]
        w = weights[i]
        s = c if own else 0
        n[c, q] += w
        for j in range(p):
            z = w * Z[i, j]
            if z != 0.0:
                x[c, q, j] += z
                for k in range(j + 1):
                    xx[s, q, j, k] += z * Z[i, k]


@fast
def factor(S, places, a, tolerance, L):  # type: ignore[no-untyped-def]
    """L Lᵀ = S on the first ``a`` of these places; a pivot that is a combination of those before it is 0."""
    log_det = 0.0
    for j in range(a):
        for i in range(j + 1):
            L[j, i] = S[places[j], places[i]]
    for j in range(a):
        for i in range(j):
            s = L[j, i]
            for k in range(i):
                s -= L[j, k] * L[i, k]
            L[j, i] = s / L[i, i] if L[i, i] > 0.0 else 0.0
        s = L[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        if s > tolerance * S[places[j], places[j]]:
            L[j, j] = np.sqrt(s)
            log_det += np.log(s)
        else:
            L[j, j] = 0.0
    return log_det


@fast
def expect_patterns(observed, n, x, xx, mean, S, tolerance, lo, hi, e, T):  # type: ignore[no-untyped-def]
    """E-step over the patterns [lo, hi): adds E Σ(x − μ) to e, E Σ(x − μ)(x − μ)ᵀ to T, returns the log-likelihood.

    With S_o = Σ(x − μ)(x − μ)ᵀ over the observed columns o, B = S_mo S_oo⁻¹ and C = S_mm − B S_om:
    T_oo = S_o, T_mo = B S_o, T_mm = B S_o Bᵀ + n C.  xx and T are (C, …) or, shared by the classes, (1, …).
    """
    K = n.shape[0]
    p = observed.shape[1]
    groups = xx.shape[0]
    obs, mis = np.empty(p, np.int64), np.empty(p, np.int64)
    L, G, B = np.empty((p, p)), np.empty((p, p)), np.empty((p, p))
    D, F, r = np.empty((p, p)), np.empty((p, p)), np.empty(p)
    likelihood = 0.0
    for q in range(lo, hi):
        a = 0
        b = 0
        for j in range(p):
            if observed[q, j]:
                obs[a] = j
                a += 1
            else:
                mis[b] = j
                b += 1
        for g in range(groups):
            first, last = (g, g + 1) if groups > 1 else (0, K)
            total = 0.0
            for c in range(first, last):
                total += n[c, q]
            if total <= 0.0:
                continue
            cov = S[g] if S.shape[0] > 1 else S[0]
            log_det = factor(cov, obs, a, tolerance, L)
            rank = 0
            for j in range(a):
                if L[j, j] > 0.0:
                    rank += 1
            for j in range(a):  # D = S_o, scatter about the current means
                for k in range(j + 1):
                    s = xx[g, q, obs[j], obs[k]]
                    for c in range(first, last):
                        mj, mk = mean[c, obs[j]], mean[c, obs[k]]
                        s -= x[c, q, obs[j]] * mk + mj * x[c, q, obs[k]] - n[c, q] * mj * mk
                    D[j, k] = s
                    D[k, j] = s
            for m in range(b):  # G_m = L⁻¹ S_om, B_m = L⁻ᵀ G_m
                for j in range(a):
                    s = cov[obs[j], mis[m]]
                    for k in range(j):
                        s -= L[j, k] * G[m, k]
                    G[m, j] = s / L[j, j] if L[j, j] > 0.0 else 0.0
                for j in range(a - 1, -1, -1):
                    s = G[m, j]
                    for k in range(j + 1, a):
                        s -= L[k, j] * B[m, k]
                    B[m, j] = s / L[j, j] if L[j, j] > 0.0 else 0.0
            squares = 0.0  # tr S_oo⁻¹ S_o = tr L⁻¹ S_o L⁻ᵀ, S_o = D
            for i in range(a):  # row i of F: L⁻¹ applied to column i of D
                for j in range(a):
                    s = D[i, j]
                    for k in range(j):
                        s -= L[j, k] * F[i, k]
                    F[i, j] = s / L[j, j] if L[j, j] > 0.0 else 0.0
            for j in range(a):
                if L[j, j] > 0.0:
                    for i in range(j + 1):
                        s = F[i, j]
                        for k in range(i):
                            s -= L[i, k] * r[k]
                        r[i] = s / L[i, i] if L[i, i] > 0.0 else 0.0
                    squares += r[j]
            likelihood -= total * (rank * HALF_LOG_2PI + 0.5 * log_det) + 0.5 * squares
            for c in range(first, last):
                if n[c, q] > 0.0:
                    for j in range(a):
                        r[j] = x[c, q, obs[j]] - n[c, q] * mean[c, obs[j]]
                        e[c, obs[j]] += r[j]
                    for m in range(b):
                        s = 0.0
                        for j in range(a):
                            s += B[m, j] * r[j]
                        e[c, mis[m]] += s
            for j in range(a):
                for k in range(a):
                    T[g, obs[j], obs[k]] += D[j, k]
            for m in range(b):
                for j in range(a):
                    s = 0.0
                    for k in range(a):
                        s += B[m, k] * D[j, k]
                    F[m, j] = s
                    T[g, mis[m], obs[j]] += s
                    T[g, obs[j], mis[m]] += s
                for k in range(b):
                    s = cov[mis[m], mis[k]]
                    for j in range(a):
                        s -= G[m, j] * G[k, j]
                    T[g, mis[m], mis[k]] += total * s
            for m in range(b):
                for k in range(b):
                    s = 0.0
                    for j in range(a):
                        s += F[m, j] * B[k, j]
                    T[g, mis[m], mis[k]] += s
    return likelihood


@fast
def marginal_scores(X, mean, scale, S, log_scale, tolerance, out):  # type: ignore[no-untyped-def]
    """log N(x_o; μ_o, Σ_oo) of every row and class over the columns that are there; NaN is missing.

    Columns are divided by scale (0: the column says nothing), S holds their correlations, (K, p, p) or (1, p, p).
    Rows of one pattern that follow each other share a factorisation.
    """
    rows, p = X.shape
    K = mean.shape[0]
    shared = S.shape[0] == 1
    obs, v = np.empty(p, np.int64), np.empty(p)
    L = np.empty((S.shape[0], p, p))
    start = np.empty(K)
    a = -1
    for i in range(rows):
        same = a >= 0
        count = 0
        for j in range(p):
            here = X[i, j] == X[i, j]
            if here:
                same = same and count < a and obs[count] == j
                count += 1
        if not (same and count == a):
            a = 0
            for j in range(p):
                if X[i, j] == X[i, j]:
                    obs[a] = j
                    a += 1
            log_det = 0.0
            for c in range(K):
                if c == 0 or not shared:
                    log_det = factor(S[c], obs, a, tolerance, L[c])
                start[c] = -0.5 * log_det
                at = 0 if shared else c
                for j in range(a):
                    if L[at, j, j] > 0.0:
                        start[c] -= HALF_LOG_2PI
                        start[c] -= log_scale[c, obs[j]]
        for c in range(K):
            at = 0 if shared else c
            q = 0.0
            for j in range(a):
                if L[at, j, j] > 0.0:
                    s = (X[i, obs[j]] - mean[c, obs[j]]) * scale[c, obs[j]]
                    for k in range(j):
                        s -= L[at, j, k] * v[k]
                    v[j] = s / L[at, j, j]
                    q += v[j] * v[j]
                else:
                    v[j] = 0.0
            out[i, c] = start[c] - 0.5 * q
