"""Counts per class: levels of categorical columns, and the non-zeros of sparse rows."""

from __future__ import annotations

import numpy as np

from .compiled import fast, jit
from .prefetch import prefetch_range


@jit
def has_duplicates(ends, columns, p):  # type: ignore[no-untyped-def]
    """Whether some row of a CSR matrix has two entries in one column."""
    seen = np.full(p, -1, np.int64)
    for i in range(len(ends) - 1):
        for e in range(ends[i], ends[i + 1]):
            if seen[columns[e]] == i:
                return True
            seen[columns[e]] = i
    return False


@jit
def level_counts(codes_of_levels, offsets, codes, weights, count):  # type: ignore[no-untyped-def]
    """count[c, offsets[j] + level] += w; a level of −1 is missing."""
    rows, p = codes_of_levels.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            level = codes_of_levels[i, j]
            if level >= 0:
                count[c, offsets[j] + level] += w


@jit
def levels_without(codes_of_levels, offsets, codes, weights, count, total, shown, alpha, emptied, table, zeros, out, never, lone):  # type: ignore[no-untyped-def]  # fmt: skip  # noqa: E501
    """Take each row out of the counts of its own class: out[i, c] and never[i, c] change from tables to what is left.

    log (n − w + α)/(N − w + α·levels), uniform where nothing is left; ``lone`` marks levels that no other row has.
    """
    rows, p = codes_of_levels.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            if codes_of_levels[i, j] < 0:
                continue
            at = offsets[j] + codes_of_levels[i, j]
            levels = offsets[j + 1] - offsets[j]
            had = count[c, at]
            n = had - w if abs(had - w) > emptied * had else 0.0
            N = total[c, j] - w if abs(total[c, j] - w) > emptied * total[c, j] else 0.0
            everything = N + alpha * levels
            share = n + alpha
            if everything <= 0:
                share, everything = 1.0, float(levels)
            zero = share <= 0
            out[i, c] += np.log((1.0 if zero else share) / everything) - table[at, c]
            never[i, c] += (1.0 if zero else 0.0) - zeros[at, c]
            lone[i, j] = n == 0 and shown[at] == (1 if had > 0 else 0)


@jit
def integer_counts(X, low, offsets, codes, weights, count):  # type: ignore[no-untyped-def]
    """count[c, offsets[j] + x − low[j]] += w for integers that are their own codes.

    False, and half counted, where a value lies outside the range that low and offsets give its column.
    """
    rows, p = X.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            at = np.int64(X[i, j]) - low[j]
            if at < 0 or at >= offsets[j + 1] - offsets[j]:
                return False
            count[c, np.uint64(offsets[j] + at)] += w
    return True


@jit
def level_scores(codes_of_levels, offsets, table, out):  # type: ignore[no-untyped-def]
    """out[i, c] = Σ_j table[offsets[j] + level, c]; a level of −1 adds nothing."""
    rows, p = codes_of_levels.shape
    K = out.shape[1]
    for i in range(rows):
        for c in range(K):
            out[i, c] = 0.0
        for j in range(p):
            level = codes_of_levels[i, j]
            if level >= 0:
                at = offsets[j] + level
                for c in range(K):
                    out[i, c] += table[at, c]


@fast
def integer_scores(X, low, offsets, table, out):  # type: ignore[no-untyped-def]
    """The same for integers: row offsets[j] + x − low[j] of the table; its last row, of zeros, stands for the rest.

    The table may be wider than there are classes: with a multiple of four columns no loop has a remainder.
    """
    rows, p = X.shape
    K = out.shape[1]
    width = table.shape[1]
    nothing = np.uint64(table.shape[0] - 1)
    places = np.empty(p + 4, np.uint64)
    total = np.empty(width)
    for i in range(rows):
        for j in range(p):
            at = np.int64(X[i, j]) - low[j]
            inside = at >= 0 and at < offsets[j + 1] - offsets[j]
            places[j] = np.uint64(offsets[j] + at) if inside else nothing
        for j in range(p, p + 4):
            places[j] = nothing
        for c in range(width):
            total[c] = 0.0
        for j in range(0, p, 4):
            a, b, d, e = table[places[j]], table[places[j + 1]], table[places[j + 2]], table[places[j + 3]]
            for c in range(width):
                total[c] += (a[c] + b[c]) + (d[c] + e[c])
        for c in range(K):
            out[i, c] = total[c]


@jit
def _next_row(codes, lo, hi, i):  # type: ignore[no-untyped-def]
    """The first row from i on whose class is in [lo, hi)."""
    while i < codes.shape[0] and not (codes[i] >= lo and codes[i] < hi):
        i += 1
    return i


@jit
def csr_class_sums(indptr, indices, data, threshold, codes, weights, lo, hi, t):  # type: ignore[no-untyped-def]
    """t[c, j] += w·x over the entries of the rows whose class is in [lo, hi).  False where an entry is not ≥ 0.

    With a threshold (not NaN) an entry counts as 1 where it is above it, else as 0; False where one is not finite.
    Where threads split the classes between them, every cell is added up by one thread, in row order; the next row of
    these classes is then asked for ahead, as others may stand between.
    """
    good = True
    split = hi - lo < t.shape[0]
    ahead = 0
    for i in range(codes.shape[0]):
        c = codes[i]
        if c >= lo and c < hi:
            ahead = _next_row(codes, lo, hi, max(ahead, i) + 1) if split else codes.shape[0]
            if ahead < codes.shape[0]:
                prefetch_range(indices, indptr[ahead], indptr[ahead + 1])
                prefetch_range(data, indptr[ahead], indptr[ahead + 1])
            w = weights[i]
            tc = t[c]
            if threshold == threshold:
                for e in range(indptr[i], indptr[i + 1]):
                    x = data[e]
                    good &= x - x == 0.0
                    tc[np.uint64(indices[e])] += w if x > threshold else 0.0
            else:
                for e in range(indptr[i], indptr[i + 1]):
                    x = data[e]
                    good &= x >= 0.0
                    tc[np.uint64(indices[e])] += w * x
    return good


@jit
def csr_class_statistics(indptr, indices, T, codes, weights, lo, hi, t):  # type: ignore[no-untyped-def]
    """t[c, j, k] += w·T[e, k] of ready-made statistics of the entries, for the classes in [lo, hi)."""
    order = T.shape[1]
    for i in range(codes.shape[0]):
        c = codes[i]
        if c >= lo and c < hi:
            w = weights[i]
            for e in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[e])
                for k in range(order):
                    t[c, j, k] += w * T[e, k]


@jit
def csr_class_moments(indptr, indices, data, codes, weights, origin, lo, hi, n, t1, t2):  # type: ignore[no-untyped-def]
    """Weight, Σ w z and Σ w z² of the stored entries, z = x − origin, for the classes in [lo, hi)."""
    for i in range(codes.shape[0]):
        c = codes[i]
        if c >= lo and c < hi:
            w = weights[i]
            for e in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[e])
                z = np.float64(data[e]) - origin[c, j]
                n[c, j] += w
                t1[c, j] += w * z
                t2[c, j] += w * (z * z)


@jit
def csr_linear_scores(indptr, indices, data, weights, start, out):  # type: ignore[no-untyped-def]
    """out[i, c] = start[c] + Σ_e x·weights[j_e, c].  weights: (words, K).

    False where an entry is not ≥ 0.  Sums in order: taken in any order they would be vectorised by gathering, which
    takes twice the time.
    """
    rows, K = out.shape
    good = True
    if K == 2:
        for i in range(rows):
            s0 = start[0]
            s1 = start[1]
            for e in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[e])
                x = data[e]
                good &= x >= 0.0
                s0 += x * weights[j, 0]
                s1 += x * weights[j, 1]
            out[i, 0] = s0
            out[i, 1] = s1
        return good
    for i in range(rows):
        for c in range(K):
            out[i, c] = start[c]
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[e])
            x = data[e]
            good &= x >= 0.0
            for c in range(K):
                out[i, c] += x * weights[j, c]
    return good


@jit
def csr_presence_scores(indptr, indices, data, threshold, weights, start, out):  # type: ignore[no-untyped-def]
    """The same with x = 1 for an entry above the threshold, else 0.  False where an entry is not finite."""
    rows, K = out.shape
    good = True
    if K == 2:
        for i in range(rows):
            s0 = start[0]
            s1 = start[1]
            for e in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[e])
                x = data[e]
                good &= x - x == 0.0
                one = 1.0 if x > threshold else 0.0
                s0 += one * weights[j, 0]
                s1 += one * weights[j, 1]
            out[i, 0] = s0
            out[i, 1] = s1
        return good
    for i in range(rows):
        for c in range(K):
            out[i, c] = start[c]
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[e])
            x = data[e]
            good &= x - x == 0.0
            if x > threshold:
                for c in range(K):
                    out[i, c] += weights[j, c]
    return good


@fast
def csr_scores(indptr, indices, T, theta, start, out):  # type: ignore[no-untyped-def]
    """out[i, c] = start[c] + Σ_e Σ_k T[e, k]·theta[j_e, k, c] over the entries e of row i."""
    rows, K = out.shape
    order = T.shape[1]
    for i in range(rows):
        for c in range(K):
            out[i, c] = start[c]
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[e])
            for k in range(order):
                x = T[e, k]
                for c in range(K):
                    out[i, c] += x * theta[j, k, c]


@jit
def csr_gaussian_scores(indptr, indices, data, mean, root, start, out):  # type: ignore[no-untyped-def]
    """Gaussian scores of sparse rows: start holds the score of a row of zeros, each entry its difference."""
    rows, K = out.shape
    for i in range(rows):
        for c in range(K):
            out[i, c] = start[c]
        for e in range(indptr[i], indptr[i + 1]):
            j = np.uint64(indices[e])
            x = np.float64(data[e])
            for c in range(K):
                r = root[c, j]
                out[i, c] -= (x * r) * ((x - 2.0 * mean[c, j]) * r)
