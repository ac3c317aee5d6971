"""Gaussian rows with missing values: sums by pattern, expected sums given the pattern, marginal scores."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, fast_helper
from .runtime.lengths import unlike
from .runtime.types import Codes, Flags, Floats, Integer, Places

HALF_LOG_2PI = 0.9189385332046727


@fast
def pattern_sums(
    Z: Floats, codes: Codes, weights: Floats, patterns: Places, lo: int, hi: int, n: Floats, x: Floats, xx: Floats
) -> None:
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
def factor(S: Floats, places: Places, a: Integer, tolerance: float, L: Floats) -> float:
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


@fast_helper
def rank_of_scatter(S: Floats, places: Places, a: Integer, least: Floats, left: Floats, F: Floats) -> Integer:
    """Rows f with Σ f fᵀ = S on the first ``a`` of these places, into F (a row each), largest first; how many.

    Cholesky with pivoting, which ends where what is left of every column is no more than ``least`` of it.  ``left`` is
    room.
    """
    for j in range(a):
        left[j] = S[places[j], places[j]]
    for r in range(a):
        top = -1
        most = 1.0
        for j in range(a):
            if left[j] > least[places[j]] and (top < 0 or left[j] > most):
                top = j
                most = left[j]
        if top < 0:
            return r
        root = np.sqrt(most)
        for j in range(a):
            s = S[places[j], places[top]]
            for k in range(r):
                s -= F[k, places[top]] * F[k, places[j]]
            F[r, places[j]] = s / root
            left[j] -= F[r, places[j]] * F[r, places[j]]
        left[top] = 0.0
    return a


def pattern_vectors(
    observed: Flags, n: Floats, x: Floats, xx: Floats, group: int, rounding: float, noise: Floats,
    counts: Places, Z: Floats, root: Floats, of_class: Places,
) -> None:  # fmt: skip
    """The sums of each pattern as those of few vectors: √n x̄ of each class, and roots of the scatter about the x̄.

    xx (P, p, p) is of one class (``group``), or of all together (−1).  Counts the vectors of each pattern and, where
    Z has room for them, writes them: a vector z stands for z − root·μ, with root √n for means and 0 for scatter.
    Scatter of no more than the share ``rounding`` of xx, or than ``noise`` (p,), is none.
    """
    p = observed.shape[1]
    room = np.empty(p, np.int64), np.empty((p, p)), np.zeros((p, p)), np.empty((2, p))
    _pattern_vectors(observed, n, x, xx, group, rounding, noise, *room, counts, Z, root, of_class)


@fast
def _pattern_vectors(
    observed: Flags, n: Floats, x: Floats, xx: Floats, group: int, rounding: float, noise: Floats,
    obs: Places, S: Floats, F: Floats, room: Floats, counts: Places, Z: Floats, root: Floats, of_class: Places,
) -> None:  # fmt: skip
    """The same; obs, S, F and room are that."""
    K, P = n.shape
    p = observed.shape[1]
    least, left = room[0], room[1]
    first, last = (group, group + 1) if group >= 0 else (0, K)
    at: Integer = 0
    for q in range(P):
        a = np.int64(0)
        for j in range(p):
            if observed[q, j]:
                obs[a] = j
                a += 1
        start = at
        any_row = False
        for c in range(first, last):
            if n[c, q] > 0.0:
                any_row = True
                if len(Z):
                    for j in range(a):
                        Z[at, obs[j]] = x[c, q, obs[j]] / np.sqrt(n[c, q])
                    root[at] = np.sqrt(n[c, q])
                    of_class[at] = c
                at += 1
        if any_row:
            spread = False
            for j in range(a):
                s = xx[q, obs[j], obs[j]]
                least[obs[j]] = rounding * s if rounding * s > noise[obs[j]] else noise[obs[j]]
                for c in range(first, last):
                    if n[c, q] > 0.0:
                        s -= x[c, q, obs[j]] * x[c, q, obs[j]] / n[c, q]
                S[obs[j], obs[j]] = s
                spread = spread or s > least[obs[j]]
            if spread:
                for j in range(a):
                    for k in range(j):
                        s = xx[q, obs[j], obs[k]]
                        for c in range(first, last):
                            if n[c, q] > 0.0:
                                s -= x[c, q, obs[j]] * x[c, q, obs[k]] / n[c, q]
                        S[obs[j], obs[k]] = s
                        S[obs[k], obs[j]] = s
                r = rank_of_scatter(S, obs, a, least, left, F)
                if len(Z):
                    for i in range(r):
                        for j in range(a):
                            Z[at + i, obs[j]] = F[i, obs[j]]
                at += r
        counts[q] = at - start


def expect(
    observed: Flags, patterns: Places, n: Floats, first: Places, Z: Floats, root: Floats, of_class: Places,
    mean: Floats, S: Floats, P: Floats, log_det: float, tolerance: float, lo: int, hi: int,
    out: Floats, e: Floats, C: Floats,
) -> float:  # fmt: skip
    """E-step over the units [lo, hi) of one covariance: vectors completed, E of their sum of squares, log-likelihood.

    With r the residuals z − root·μ of the observed columns o: B r, B = S_mo S_oo⁻¹, goes to the missing ones m,
    E Σ(x − μ) is added to e and n (S_mm − B S_om) to C (lower half).  With P = S⁻¹ these are B = −P_mm⁻¹ P_mo and
    n P_mm⁻¹, which is taken where it is less work; log|S_oo| = log|S| + log|P_mm|.  P is empty where S is singular.
    Returns the log-likelihood, less the squares −½ r S_oo⁻¹ r where P is not empty.
    """
    p = observed.shape[1]
    given = observed, patterns, n, first, Z, root, of_class, mean, S, P, log_det, tolerance, lo, hi
    return expect_units(*given, np.empty((2, p), np.int64), np.empty((2, p, p)), np.empty(p), out, e, C)


@fast
def expect_units(
    observed: Flags, patterns: Places, n: Floats, first: Places, Z: Floats, root: Floats, of_class: Places,
    mean: Floats, S: Floats, P: Floats, log_det: float, tolerance: float, lo: int, hi: int,
    places: Places, matrices: Floats, v: Floats, out: Floats, e: Floats, C: Floats,
) -> float:  # fmt: skip
    """The same; places (2, p), matrices (2, p, p) and v (p,) are room."""
    p = observed.shape[1]
    obs, mis = places[0], places[1]
    L, G = matrices[0], matrices[1]
    likelihood = 0.0
    squares = 0.0
    for u in range(lo, hi):
        q = patterns[u]
        a = np.int64(0)
        b = np.int64(0)
        for j in range(p):
            if S[j, j] > 0.0:
                if observed[q, j]:
                    obs[a] = j
                    a += 1
                else:
                    mis[b] = j
                    b += 1
        for i in range(first[u], first[u + 1]):
            at = i - first[lo]
            for j in range(p):
                out[at, j] = Z[i, j] - root[i] * mean[of_class[i], j] if observed[q, j] else 0.0
        if len(P) and (b == 0 or 3 * b**3 < a**3 + 3 * a * b * (a + b)):
            inner = factor(P, mis, b, 0.0, L)
            likelihood -= n[u] * (a * HALF_LOG_2PI + 0.5 * (log_det + inner))
            for i in range(first[u], first[u + 1]):
                row = out[i - first[lo]]
                for m in range(b):
                    s = 0.0
                    for j in range(p):  # still 0 where missing; P is 0 where nothing varies
                        s -= P[mis[m], j] * row[j]
                    v[m] = s
                for m in range(b):
                    s = v[m]
                    for k in range(m):
                        s -= L[m, k] * v[k]
                    v[m] = s / L[m, m]
                for m in range(b - 1, -1, -1):
                    v[m] /= L[m, m]
                    for k in range(m):
                        v[k] -= L[m, k] * v[m]
                    row[mis[m]] = v[m]
            for m in range(b):  # G = L⁻¹, its columns as rows; P_mm⁻¹ = L⁻ᵀ L⁻¹
                G[m, m] = 1.0 / L[m, m]
                for k in range(m + 1, b):
                    s = 0.0
                    for i in range(m, k):
                        s -= L[k, i] * G[m, i]
                    G[m, k] = s / L[k, k]
            for m in range(b):
                for k in range(m + 1):
                    s = 0.0
                    for i in range(m, b):
                        s += G[m, i] * G[k, i]
                    C[mis[m], mis[k]] += n[u] * s
        else:
            inner = factor(S, obs, a, tolerance, L)
            rank = 0
            for j in range(a):
                if L[j, j] > 0.0:
                    rank += 1
            likelihood -= n[u] * (rank * HALF_LOG_2PI + 0.5 * inner)
            for i in range(first[u], first[u + 1]):
                row = out[i - first[lo]]
                for j in range(a):
                    s = row[obs[j]]
                    for k in range(j):
                        s -= L[j, k] * v[k]
                    v[j] = s / L[j, j] if L[j, j] > 0.0 else 0.0
                    squares += v[j] * v[j]
                for j in range(a - 1, -1, -1):
                    v[j] = v[j] / L[j, j] if L[j, j] > 0.0 else 0.0
                    for k in range(j):
                        v[k] -= L[j, k] * v[j]
                for m in range(b):
                    s = 0.0
                    for j in range(a):
                        s += S[mis[m], obs[j]] * v[j]
                    row[mis[m]] = s
            for m in range(b):  # G_m = L⁻¹ S_om
                for j in range(a):
                    s = S[mis[m], obs[j]]
                    for k in range(j):
                        s -= L[j, k] * G[m, k]
                    G[m, j] = s / L[j, j] if L[j, j] > 0.0 else 0.0
            for m in range(b):
                for k in range(m + 1):
                    s = S[mis[m], mis[k]]
                    for j in range(a):
                        s -= G[m, j] * G[k, j]
                    C[mis[m], mis[k]] += n[u] * s
        for i in range(first[u], first[u + 1]):
            if root[i] > 0.0:
                for j in range(p):
                    e[of_class[i], j] += root[i] * out[i - first[lo], j]
    return likelihood if len(P) else likelihood - 0.5 * squares


def expect_each(
    observed: Flags, patterns: Places, n: Floats, first: Places, Z: Floats, root: Floats, of_class: Places,
    mean: Floats, S: Floats, P: Floats, tolerance: float, lo: int, hi: int, e: Floats, T: Floats,
) -> None:  # fmt: skip
    """E-steps of the same units under the parameters [lo, hi): E Σ(x − μ) onto e, E Σ(x − μ)(x − μ)ᵀ onto T."""
    V, p = Z.shape
    room = np.empty((2, p), np.int64), np.empty((2, p, p)), np.empty(p), np.empty((V, p)), np.empty((p, p))
    _expect_each(observed, patterns, n, first, Z, root, of_class, mean, S, P, tolerance, lo, hi, *room, e, T)


@fast
def _expect_each(
    observed: Flags, patterns: Places, n: Floats, first: Places, Z: Floats, root: Floats, of_class: Places,
    mean: Floats, S: Floats, P: Floats, tolerance: float, lo: int, hi: int,
    places: Places, matrices: Floats, v: Floats, out: Floats, C: Floats, e: Floats, T: Floats,
) -> None:  # fmt: skip
    """The same, with room for what ``expect`` takes and gives."""
    V, p = Z.shape
    for i in range(lo, hi):
        for j in range(p):
            for k in range(p):
                C[j, k] = 0.0
        expect_units(
            observed, patterns, n, first, Z, root, of_class, mean[i], S[i], P[i], 0.0, tolerance, 0, len(patterns),
            places, matrices, v, out, e[i], C,
        )  # fmt: skip
        for u in range(V):
            for j in range(p):
                for k in range(j + 1):
                    C[j, k] += out[u, j] * out[u, k]
        for j in range(p):
            for k in range(j):
                T[i, j, k] += C[j, k]
                T[i, k, j] += C[j, k]
            T[i, j, j] += C[j, j]


def marginal_squares(
    X: Floats, mean: Floats, scale: Floats, S: Floats, log_scale: Floats, tolerance: float,
    squares: Floats, peak: Floats, used: Floats,
) -> None:  # fmt: skip
    """d² of every row to every class over the columns that are there, and log N(μ_o; μ_o, Σ_oo); NaN is missing.

    ``used``: how many columns say something.

    Columns are divided by scale (0: the column says nothing), S holds their correlations, (K, p, p) or (1, p, p).
    Rows of one pattern that follow each other share a factorisation.
    """
    if not len(X) == len(squares) == len(peak) == len(used):
        raise unlike(len(X), squares, peak, used)
    K, p = mean.shape
    room = np.empty(p, np.int64), np.empty(p), np.empty((len(S), p, p)), np.empty(K)
    _marginal_squares(X, mean, scale, S, log_scale, tolerance, *room, squares, peak, used)


@fast
def _marginal_squares(
    X: Floats, mean: Floats, scale: Floats, S: Floats, log_scale: Floats, tolerance: float,
    obs: Places, v: Floats, L: Floats, start: Floats, squares: Floats, peak: Floats, used: Floats,
) -> None:  # fmt: skip
    """The same; obs, v, L and start are room."""
    rows, p = X.shape
    K = mean.shape[0]
    shared = S.shape[0] == 1
    a, most = np.int64(-1), 0
    for i in range(rows):
        same = a >= 0
        count = 0
        for j in range(p):
            here = X[i, j] == X[i, j]
            if here:
                same = same and count < a and obs[count] == j
                count += 1
        if not (same and count == a):
            a = np.int64(0)
            for j in range(p):
                if X[i, j] == X[i, j]:
                    obs[a] = j
                    a += 1
            log_det = 0.0
            most = 0
            for c in range(K):
                if c == 0 or not shared:
                    log_det = factor(S[c], obs, a, tolerance, L[c])
                start[c] = -0.5 * log_det
                at = 0 if shared else c
                rank = 0
                for j in range(a):
                    if L[at, j, j] > 0.0:
                        rank += 1
                        start[c] -= HALF_LOG_2PI
                        start[c] -= log_scale[c, obs[j]]
                most = rank if rank > most else most
        used[i] = most
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
            squares[i, c] = q
            peak[i, c] = start[c]


def parts_squares(
    x: Floats, parts: Floats, away: Floats, u: Floats, xP: Floats, partsP: Floats, awayP: Floats, uP: Floats,
    there: Flags, which: Places, mine: Codes, P: Floats, vv: Floats, uv: Floats, uu: Floats, log_det: Floats,
) -> None:  # fmt: skip
    """vᵀΣ_oo⁻¹v, uᵀΣ_oo⁻¹v and uᵀΣ_oo⁻¹u over the columns o of every row, and log|Σ_oo| − log|Σ|.

    v is x less the mean of class c as the row's pattern sees it, parts[c, q], or ``away`` where c is the row's own.
    All are 0 where nothing is there and come with their products with P = Σ⁻¹, of which the missing columns m are
    taken back: Σ_oo⁻¹ = P_oo − P_om P_mm⁻¹ P_mo, |Σ_oo| = |Σ|·|P_mm|.
    """
    p = x.shape[1]
    if (
        not len(x)
        == len(away)
        == len(u)
        == len(xP)
        == len(awayP)
        == len(uP)
        == len(there)
        == len(which)
        == len(mine)
        == len(vv)
        == len(uv)
        == len(uu)
        == len(log_det)
    ):
        raise unlike(len(x), away, u, xP, awayP, uP, there, which, mine, vv, uv, uu, log_det)
    room = np.empty(p, np.int64), np.empty((p, p)), np.empty((3, p))
    _parts_squares(x, parts, away, u, xP, partsP, awayP, uP, there, which, mine, P, *room, vv, uv, uu, log_det)


@fast
def _parts_squares(
    x: Floats, parts: Floats, away: Floats, u: Floats, xP: Floats, partsP: Floats, awayP: Floats, uP: Floats,
    there: Flags, which: Places, mine: Codes, P: Floats, mis: Places, L: Floats, room: Floats,
    vv: Floats, uv: Floats, uu: Floats, log_det: Floats,
) -> None:  # fmt: skip
    """The same; mis, L and room (3, p) are that."""
    n, p = x.shape
    a, r, y = room[0], room[1], room[2]
    b, inner = np.int64(0), 0.0
    for i in range(n):
        q = which[i]
        if i == 0 or q != which[i - 1]:
            b = np.int64(0)
            for j in range(p):
                if not there[i, j]:
                    mis[b] = j
                    b += 1
            inner = factor(P, mis, b, 0.0, L)
        log_det[i] = inner
        s = 0.0
        for j in range(p):
            s += u[i, j] * uP[i, j]
        for m in range(b):
            t = uP[i, mis[m]]
            for k in range(m):
                t -= L[m, k] * a[k]
            a[m] = t / L[m, m]
            s -= a[m] * a[m]
        uu[i] = s
        for c in range(parts.shape[0]):
            s, d = 0.0, 0.0
            if c == mine[i]:
                for j in range(p):
                    y[j] = awayP[i, j]
                    s += away[i, j] * y[j]
                    d += u[i, j] * y[j]
            else:
                for j in range(p):
                    y[j] = xP[i, j] - partsP[c, q, j]
                    s += (x[i, j] - parts[c, q, j]) * y[j]
                    d += u[i, j] * y[j]
            for m in range(b):
                t = y[mis[m]]
                for k in range(m):
                    t -= L[m, k] * r[k]
                r[m] = t / L[m, m]
                s -= r[m] * r[m]
                d -= a[m] * r[m]
            vv[i, c], uv[i, c] = s, d
