"""Sums of z, z² and z zᵀ per class, about an origin: dense rows."""

from __future__ import annotations

import numpy as np

from .compiled import fast, jit
from .prefetch import prefetch_rows


@jit
def first_means(X, codes, weights, limit, seen, mean):  # type: ignore[no-untyped-def]
    """The mean of the first ``limit`` present values of every class and column (seen: how many so far).

    Returns how many cells are still short of ``limit``.
    """
    n, p = X.shape
    K = seen.shape[0]
    short = 0
    for c in range(K):
        for j in range(p):
            if seen[c, j] < limit:
                short += 1
    for i in range(n):
        if short == 0:
            return short
        c = codes[i]
        if weights[i] == 0.0:
            continue
        for j in range(p):
            if seen[c, j] < limit:
                x = np.float64(X[i, j])
                if np.isfinite(x):
                    seen[c, j] += 1
                    mean[c, j] += (x - mean[c, j]) / seen[c, j]
                    if seen[c, j] == limit:
                        short -= 1
    return short


@jit
def places_by_class(codes, place, ends):  # type: ignore[no-untyped-def]
    """place[i]: where row i stands when rows are sorted by class, in their own order; ends[c]: where class c ends."""
    rows = codes.shape[0]
    K = ends.shape[0]
    for c in range(K):
        ends[c] = 0
    for i in range(rows):
        ends[codes[i]] += 1
    total = 0
    for c in range(K):
        count = ends[c]
        ends[c] = total
        total += count
    for i in range(rows):
        c = codes[i]
        place[i] = ends[c]
        ends[c] += 1


STRIP_ROWS, STRIP_CELLS = 128, 1 << 14  # of rows that are put in the order of their classes: both stay in the cache


@fast
def class_moments(X, codes, weights, origin, n, t1, t2):  # type: ignore[no-untyped-def]
    """n[c] += w, t1[c, j] += w z, t2[c, j] += w z², with z = x − origin[c, j].

    Four rows of a class at a time, so that sums are loaded and stored once for four rows; as rows are then not read in
    their order, those of the next strip are asked for meanwhile.
    """
    rows, p = X.shape
    K = n.shape[0]
    strip = max(STRIP_ROWS, STRIP_CELLS // p, K)
    place = np.empty(strip, np.int64)
    order = np.empty(strip, np.int64)
    ends = np.empty(K, np.int64)
    prefetch_rows(X, 0, strip)
    for start in range(0, rows, strip):
        some = codes[start : start + strip]
        places_by_class(some, place, ends)
        for i in range(some.shape[0]):
            order[place[i]] = start + i
        later = start + strip
        k = 0
        for c in range(K):
            o = origin[c]
            s1 = t1[c]
            s2 = t2[c]
            while k + 4 <= ends[c]:
                prefetch_rows(X, later + k, later + k + 4)
                a, b, d, e = order[k], order[k + 1], order[k + 2], order[k + 3]
                xa, xb, xd, xe = X[a], X[b], X[d], X[e]
                wa, wb, wd, we = weights[a], weights[b], weights[d], weights[e]
                n[c] += (wa + wb) + (wd + we)
                for j in range(p):
                    za = np.float64(xa[j]) - o[j]
                    zb = np.float64(xb[j]) - o[j]
                    zd = np.float64(xd[j]) - o[j]
                    ze = np.float64(xe[j]) - o[j]
                    s1[j] += (wa * za + wb * zb) + (wd * zd + we * ze)
                    s2[j] += (wa * za * za + wb * zb * zb) + (wd * zd * zd + we * ze * ze)  # 0 if w is
                k += 4
            while k < ends[c]:
                prefetch_rows(X, later + k, later + k + 1)
                x = X[order[k]]
                w = weights[order[k]]
                n[c] += w
                for j in range(p):
                    z = np.float64(x[j]) - o[j]
                    s1[j] += w * z
                    s2[j] += w * z * z
                k += 1


@fast
def class_moments_present(X, codes, weights, origin, n, t1, t2):  # type: ignore[no-untyped-def]
    """The same for rows with holes: a NaN adds nothing, and n[c, j] counts what is there."""
    rows, p = X.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            z = np.float64(X[i, j]) - origin[c, j]
            here = z == z
            v = w if here else 0.0
            z = z if here else 0.0
            n[c, j] += v
            t1[c, j] += v * z
            t2[c, j] += v * (z * z)


@jit
def class_sums(T, present, codes, weights, n, t):  # type: ignore[no-untyped-def]
    """n[c, j] += w·m and t[c, j, k] += w·T[i, j, k] of ready-made statistics; m marks what is present."""
    rows, p, order = T.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            if present[i, j]:
                n[c, j] += w
                for k in range(order):
                    t[c, j, k] += w * T[i, j, k]


@fast
def column_sums(X, codes, weights, t):  # type: ignore[no-untyped-def]
    """t[c, j] += w·x."""
    rows, p = X.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            t[c, j] += w * np.float64(X[i, j])


@fast
def centre_rows(X, place, codes, weights, origin, Z, n, t1):  # type: ignore[no-untyped-def]
    """Z[place[i]] = √w·z, z = x − origin of the row's class; n[c] += w and t1[c] += w z on the way."""
    rows, p = X.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        v = np.sqrt(w)
        n[c] += w
        x = X[i]
        o = origin[c]
        s = t1[c]
        z = Z[place[i]]
        for j in range(p):
            d = np.float64(x[j]) - o[j]
            s[j] += w * d
            z[j] = v * d
