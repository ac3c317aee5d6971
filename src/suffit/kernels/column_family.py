"""What the values of single columns tell: their range, their moments by class, how many different ones there are."""

from __future__ import annotations

import numpy as np

from .moments import places_by_class
from .runtime.compiled import fast, jit


@jit
def column_range(x):  # type: ignore[no-untyped-def]
    """The least and the greatest value, NaN where there is none, and whether all that are there are whole.

    Four at a time, so that no comparison waits for the one before.
    """
    rows = x.shape[0]
    low = np.full(4, np.inf)
    high = np.full(4, -np.inf)
    broken = 0
    for i in range(rows - rows % 4, rows):
        v = x[i]
        low[0] = v if v < low[0] else low[0]
        high[0] = v if v > high[0] else high[0]
        broken += v == v and v != np.floor(v)
    a, b, c, d = low[0], low[1], low[2], low[3]
    e, f, g, h = high[0], high[1], high[2], high[3]
    for i in range(0, rows - rows % 4, 4):
        p, q, r, s = x[i], x[i + 1], x[i + 2], x[i + 3]
        a = p if p < a else a
        b = q if q < b else b
        c = r if r < c else c
        d = s if s < d else d
        e = p if p > e else e
        f = q if q > f else f
        g = r if r > g else g
        h = s if s > h else h
        broken += (p == p) & (p != np.floor(p))
        broken += (q == q) & (q != np.floor(q))
        broken += (r == r) & (r != np.floor(r))
        broken += (s == s) & (s != np.floor(s))
    least, most = min(min(a, b), min(c, d)), max(max(e, f), max(g, h))
    if least > most:
        return np.nan, np.nan, True
    return least, most, broken == 0


@fast
def column_moments(X, codes, weights, middle, n, t1, t2):  # type: ignore[no-untyped-def]
    """n[c, j] = Σ w, t1[c, j] = Σ w z and t2[c, j] = Σ w z² of what is there, z = x − middle[j], the column's mean.

    A column is a row of X.
    """
    p, rows = X.shape
    K = n.shape[0]
    place = np.empty(rows, np.int64)
    order = np.empty(rows, np.int64)
    ends = np.empty(K, np.int64)
    places_by_class(codes, place, ends)
    for i in range(rows):
        order[place[i]] = i
    for j in range(p):
        x = X[j]
        total = 0.0
        sum_ = 0.0
        for i in range(rows):
            here = x[i] == x[i]
            total += weights[i] if here else 0.0
            sum_ += weights[i] * x[i] if here else 0.0
        m = sum_ / total if total > 0.0 else 0.0
        middle[j] = m
        k = 0
        for c in range(K):
            s0 = 0.0
            s1 = 0.0
            s2 = 0.0
            for i in range(k, ends[c]):
                v = x[order[i]]
                here = v == v
                w = weights[order[i]] if here else 0.0
                z = v - m if here else 0.0
                s0 += w
                s1 += w * z
                s2 += w * (z * z)
            k = ends[c]
            n[c, j] = s0
            t1[c, j] = s1
            t2[c, j] = s2


@fast
def sums_looked_up(X, places, weights, table, out):  # type: ignore[no-untyped-def]
    """out[k] = Σ w·table[x] of integers, of what is there in the column X[places[k]]."""
    for k in range(places.shape[0]):
        x = X[places[k]]
        total = 0.0
        for i in range(x.shape[0]):
            if x[i] == x[i]:
                total += weights[i] * table[np.uint64(x[i])]
        out[k] = total


@jit
def count_seen(codes, weights, seen):  # type: ignore[no-untyped-def]
    """How many categories rows of some weight have, and the weight of these rows; a category of −1 is missing."""
    found = 0
    total = 0.0
    for i in range(codes.shape[0]):
        c = codes[i]
        if c >= 0 and weights[i] > 0.0:
            total += weights[i]
            if not seen[c]:
                seen[c] = 1
                found += 1
    return found, total


@jit
def categories_explain(X, places, low, high, codes, weights, K, wide, limit, categories, value):  # type: ignore[no-untyped-def]
    """categories[j]: how many different integers the column X[places[j]] has, 0 for more than ``limit``; and value[j]:

    Σ_cv N_cv·log (N_cv + 1)/(N_c + categories).  Numbers in a range less than ``wide`` are found by a table.
    """
    place = np.empty(wide, np.int64)
    known = np.empty(limit)
    count = np.empty((limit, K))
    for j in range(places.shape[0]):
        x = X[places[j]]
        least = low[j]
        near = high[j] - least < wide
        if near:
            place[: np.int64(high[j] - least) + 1] = -1
        found = 0
        for i in range(x.shape[0]):
            v = x[i]
            if v != v:
                continue
            if near:
                k = place[np.int64(v - least)]
            else:
                k = -1
                for one in range(found):
                    if known[one] == v:
                        k = one
                        break
            if k < 0:
                if found == limit:
                    found = limit + 1
                    break
                k = found
                if near:
                    place[np.int64(v - least)] = k
                known[k] = v
                count[k] = 0.0
                found += 1
            count[k, codes[i]] += weights[i]
        if found > limit:
            categories[j] = 0
            continue
        categories[j] = found
        sum_ = 0.0
        for c in range(K):
            N = 0.0
            for k in range(found):
                one_count = count[k, c]
                if one_count > 0.0:
                    N += one_count
                    sum_ += one_count * np.log(one_count + 1)
            if N > 0.0:
                sum_ -= N * np.log(N + found)
        value[j] = sum_
