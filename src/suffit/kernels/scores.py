"""Log-scores of dense rows, and the step from scores to posteriors."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, jit
from .runtime.lengths import unlike
from .runtime.types import Codes, Floats, Integers, Numbers


def gaussian_scores(X: Numbers, mean: Floats, root: Floats, start: Floats, out: Floats) -> None:
    """out[i, c] = start[c] − Σ_j ((x − μ)·root)² with root = 1/(σ√2); two classes have a kernel of their own."""
    if len(X) != len(out):
        raise unlike(len(X), out)
    if not X.shape[1] == len(mean.T) == len(root.T):
        raise unlike(X.shape[1], mean.T, root.T)
    (gaussian_scores_of_two if len(mean) == 2 else gaussian_scores_of_many)(X, mean, root, start, out)


@fast
def gaussian_scores_of_two(X: Numbers, mean: Floats, root: Floats, start: Floats, out: Floats) -> None:
    """Two classes are bound by reading memory, best done row after row."""
    rows, p = X.shape
    for i in range(rows):
        a = 0.0
        b = 0.0
        for j in range(p):
            x = np.float64(X[i, j])
            u = (x - mean[0, j]) * root[0, j]
            v = (x - mean[1, j]) * root[1, j]
            a += u * u
            b += v * v
        out[i, 0] = start[0] - a
        out[i, 1] = start[1] - b


@fast
def gaussian_scores_of_many(X: Numbers, mean: Floats, root: Floats, start: Floats, out: Floats) -> None:
    """The same for any number of classes: four rows at a time share μ and root."""
    rows, p = X.shape
    K = mean.shape[0]
    i = 0
    while i + 4 <= rows:
        for c in range(K):
            q0 = 0.0
            q1 = 0.0
            q2 = 0.0
            q3 = 0.0
            for j in range(p):
                m = mean[c, j]
                r = root[c, j]
                z0 = (np.float64(X[i, j]) - m) * r
                z1 = (np.float64(X[i + 1, j]) - m) * r
                z2 = (np.float64(X[i + 2, j]) - m) * r
                z3 = (np.float64(X[i + 3, j]) - m) * r
                q0 += z0 * z0
                q1 += z1 * z1
                q2 += z2 * z2
                q3 += z3 * z3
            s = start[c]
            out[i, c] = s - q0
            out[i + 1, c] = s - q1
            out[i + 2, c] = s - q2
            out[i + 3, c] = s - q3
        i += 4
    while i < rows:
        for c in range(K):
            q0 = 0.0
            for j in range(p):
                z0 = (np.float64(X[i, j]) - mean[c, j]) * root[c, j]
                q0 += z0 * z0
            out[i, c] = start[c] - q0
        i += 1


@jit
def gaussian_scores_present(
    X: Numbers, mean: Floats, root: Floats, log_scale: Floats, start: Floats, out: Floats
) -> None:
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


@fast
def along_one_direction(X: Numbers, middle: Floats, direction: Floats, out: Floats) -> None:
    """out[i, 0] = direction·(x − middle), four rows at a time, each read once: for rows longer than a cache."""
    rows, p = X.shape
    i = 0
    while i + 4 <= rows:
        a, b, c, d = X[i], X[i + 1], X[i + 2], X[i + 3]
        q0 = q1 = q2 = q3 = 0.0
        for j in range(p):
            m, w = middle[j], direction[j]
            q0 += (np.float64(a[j]) - m) * w
            q1 += (np.float64(b[j]) - m) * w
            q2 += (np.float64(c[j]) - m) * w
            q3 += (np.float64(d[j]) - m) * w
        out[i, 0], out[i + 1, 0], out[i + 2, 0], out[i + 3, 0] = q0, q1, q2, q3
        i += 4
    while i < rows:
        q0 = 0.0
        for j in range(p):
            q0 += (np.float64(X[i, j]) - middle[j]) * direction[j]
        out[i, 0] = q0
        i += 1


def linear_scores(X: Numbers, middle: Floats, weights: Floats, start: Floats, out: Floats) -> None:
    """out[i, c] = start[c] + weights[c]·(x − middle)."""
    if len(X) != len(out):
        raise unlike(len(X), out)
    if not X.shape[1] == len(middle) == len(weights.T):
        raise unlike(X.shape[1], middle, weights.T)
    _linear_scores(X, middle, weights, start, np.empty((4, X.shape[1])), out)


@fast
def _linear_scores(X: Numbers, middle: Floats, weights: Floats, start: Floats, z: Floats, out: Floats) -> None:
    """Four rows and two classes at a time share what is read; z (4, p) is room."""
    rows, p = X.shape
    K = weights.shape[0]
    i = 0
    while i + 4 <= rows:
        for r in range(4):
            for j in range(p):
                z[r, j] = np.float64(X[i + r, j]) - middle[j]
        for c in range(0, K - 1, 2):
            q0 = q1 = q2 = q3 = 0.0
            u0 = u1 = u2 = u3 = 0.0
            for j in range(p):
                w, v = weights[c, j], weights[c + 1, j]
                z0, z1, z2, z3 = z[0, j], z[1, j], z[2, j], z[3, j]
                q0 += z0 * w
                q1 += z1 * w
                q2 += z2 * w
                q3 += z3 * w
                u0 += z0 * v
                u1 += z1 * v
                u2 += z2 * v
                u3 += z3 * v
            s, t = start[c], start[c + 1]
            out[i, c], out[i, c + 1] = s + q0, t + u0
            out[i + 1, c], out[i + 1, c + 1] = s + q1, t + u1
            out[i + 2, c], out[i + 2, c + 1] = s + q2, t + u2
            out[i + 3, c], out[i + 3, c + 1] = s + q3, t + u3
        if K % 2:
            c = K - 1
            q0 = q1 = q2 = q3 = 0.0
            for j in range(p):
                w = weights[c, j]
                q0 += z[0, j] * w
                q1 += z[1, j] * w
                q2 += z[2, j] * w
                q3 += z[3, j] * w
            s = start[c]
            out[i, c], out[i + 1, c], out[i + 2, c], out[i + 3, c] = s + q0, s + q1, s + q2, s + q3
        i += 4
    while i < rows:
        for c in range(K):
            q0 = 0.0
            for j in range(p):
                q0 += (np.float64(X[i, j]) - middle[j]) * weights[c, j]
            out[i, c] = start[c] + q0
        i += 1


@jit
def nearest_centre_scores(U: Floats, V: Floats, start: Floats, nearest: Integers, out: Floats) -> None:
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


@fast
def subtract_centre(X: Numbers, middle: Floats, Z: Floats) -> None:
    """Z = x − middle."""
    rows, p = X.shape
    for i in range(rows):
        for j in range(p):
            Z[i, j] = np.float64(X[i, j]) - middle[j]


@fast
def subtract_half_norms(U: Floats, bias: Floats, out: Floats) -> None:
    """out[i, c] −= ½ Σ_k (U[i, c·h + k] + bias[c, k])²: the classes stand side by side in U, h columns each."""
    rows = U.shape[0]
    K, h = bias.shape
    for i in range(rows):
        for c in range(K):
            q = 0.0
            for k in range(h):
                u = U[i, c * h + k] + bias[c, k]
                q += u * u
            out[i, c] -= 0.5 * q


@jit
def lower_by_top(scores: Floats, log_prior: Floats) -> bool:
    """Scores + log prior, minus the maximum of the row, in place.  False where a row has no finite maximum."""
    rows, K = scores.shape
    good = True
    for i in range(rows):
        top = -np.inf
        at = 0
        defined = True
        for c in range(K):
            s = scores[i, c] + log_prior[c]
            if s != s:
                defined = False
            if s > top:
                top = s
                at = c
        if not (defined and top - top == 0.0):
            good = False
            for c in range(K):
                scores[i, c] = np.nan
            continue
        s = scores[i, at]
        prior = log_prior[at]
        for c in range(K):
            scores[i, c] = (scores[i, c] - s) + (log_prior[c] - prior)  # in this order a tie far out leaves the prior
    return good


@jit
def best_classes(scores: Floats, log_prior: Floats, out: Codes) -> None:
    """out[i]: the class with the largest score + log prior, the first of equals; −1 where no score is finite.

    Sums find it without waiting for one another, differences have the last word.
    """
    rows, K = scores.shape
    for i in range(rows):
        top = -np.inf
        at = 0
        undefined = False
        for c in range(K):
            s = scores[i, c] + log_prior[c]
            undefined |= scores[i, c] != scores[i, c]
            better = s > top
            top = s if better else top
            at = c if better else at
        s = scores[i, at]
        prior = log_prior[at]
        doubtful = False
        for c in range(K):
            d = (scores[i, c] - s) + (log_prior[c] - prior)
            doubtful |= (not d <= 0.0) | ((d == 0.0) & (c < at))
        if doubtful:  # a tie far out leaves the prior
            at = 0
            for c in range(1, K):
                if (scores[i, c] - scores[i, at]) + (log_prior[c] - log_prior[at]) > 0.0:
                    at = c
        out[i] = -1 if undefined or scores[i, at] - scores[i, at] != 0.0 else at


@jit
def to_posterior_of_two(scores: Floats, log_prior: Floats) -> bool:
    """Two scores to two probabilities, in place, by one exponential.  False where a row has no finite maximum."""
    good = True
    odds = log_prior[0] - log_prior[1]
    for i in range(scores.shape[0]):
        d = (scores[i, 0] - scores[i, 1]) + odds
        if d != d or (np.isinf(d) and not (np.isfinite(scores[i, 0]) or np.isfinite(scores[i, 1]))):
            good = False
            scores[i, 0] = np.nan
            scores[i, 1] = np.nan
            continue
        e = np.exp(-abs(d))
        most = 1.0 / (1.0 + e)
        least = e * most
        scores[i, 0] = most if d >= 0.0 else least
        scores[i, 1] = least if d >= 0.0 else most
    return good


@jit
def divide_by_sum(shares: Floats) -> None:
    """Each row divided by its sum, in place."""
    rows, K = shares.shape
    for i in range(rows):
        total = 0.0
        for c in range(K):
            total += shares[i, c]
        for c in range(K):
            shares[i, c] /= total


@jit
def to_log_posterior(scores: Floats, log_prior: Floats) -> bool:
    """Scores + log prior, minus the log-sum-exp of the row, in place.  False where a row has no finite maximum."""
    rows, K = scores.shape
    good = lower_by_top(scores, log_prior)
    for i in range(rows):
        leads = -1
        rest = 0.0
        for c in range(K):
            if leads < 0 and scores[i, c] == 0.0:
                leads = c
            else:
                rest += np.exp(scores[i, c])
        shift = np.log1p(rest)  # relative precision even where the leading class is all but certain
        for c in range(K):
            scores[i, c] -= shift
    return good
