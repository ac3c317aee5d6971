"""Sums of z, z² and z zᵀ per class, about an origin: dense rows."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, fast_helper, helper, jit, pasted
from .runtime.lengths import unlike
from .runtime.prefetch import LINE, prefetch_cell, prefetch_range, prefetch_rows
from .runtime.types import Codes, Flags, Floats, Numbers, Places


@jit
def first_means(X: Numbers, codes: Codes, weights: Floats, limit: int, seen: Floats, mean: Floats) -> int:
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
                if x - x == 0.0:  # finite
                    seen[c, j] += 1
                    mean[c, j] += (x - mean[c, j]) / seen[c, j]
                    if seen[c, j] == limit:
                        short -= 1
    return short


@helper
def places_by_class(codes: Codes, place: Places, ends: Places) -> None:
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


SMALL = 1 << 14  # products that NumPy adds up nearly as soon as a kernel, for which nothing needs to be compiled


LONG_ROW = 256  # bytes from which on the memory, not the processor, says how fast rows can be added up
STRIP_ROWS, STRIP_CELLS = 128, 1 << 14  # of short rows that are put in the order of their classes, in the cache
AHEAD_ROWS = 32  # long rows that are asked for before they are reached, at least


@pasted
def add_four(X: Numbers, a: int, b: int, d: int, e: int, weights: Floats, o: Floats, s1: Floats, s2: Floats) -> float:
    """s1 += Σ w z and s2 += Σ w z² of four rows of one class: its sums are loaded and stored once for the four."""
    xa, xb, xd, xe = X[a], X[b], X[d], X[e]
    wa, wb, wd, we = weights[a], weights[b], weights[d], weights[e]
    for j in range(X.shape[1]):
        za = np.float64(xa[j]) - o[j]
        zb = np.float64(xb[j]) - o[j]
        zd = np.float64(xd[j]) - o[j]
        ze = np.float64(xe[j]) - o[j]
        s1[j] += (wa * za + wb * zb) + (wd * zd + we * ze)
        s2[j] += (wa * za * za + wb * zb * zb) + (wd * zd * zd + we * ze * ze)  # 0 if w is
    return (wa + wb) + (wd + we)


@pasted
def add_one(X: Numbers, a: int, weights: Floats, o: Floats, s1: Floats, s2: Floats) -> float:
    """The same of one row."""
    x, w = X[a], weights[a]
    for j in range(X.shape[1]):
        z = np.float64(x[j]) - o[j]
        s1[j] += w * z
        s2[j] += w * z * z
    return w


@fast
def add_as_they_come(
    X: Numbers, codes: Codes, weights: Floats, origin: Floats,
    n: Floats, t1: Floats, t2: Floats, held: Places, waiting: Places,
) -> None:  # fmt: skip
    """Long rows: each waits until there are four of its class.

    Whenever four are added, four more are asked for; none is reached before, as at most three of every class wait.
    ``held`` (K, 4) is room, and ``waiting`` (K,) begins with zeros.
    """
    K = n.shape[0]
    ahead = AHEAD_ROWS + 3 * K
    prefetch_rows(X, 0, ahead)
    for i in range(X.shape[0]):
        c = codes[i]
        k = waiting[c]
        held[c, k] = i
        waiting[c] = (k + 1) & 3
        if k == 3:
            prefetch_rows(X, ahead, ahead + 4)
            ahead += 4
            n[c] += add_four(X, held[c, 0], held[c, 1], held[c, 2], i, weights, origin[c], t1[c], t2[c])
    for c in range(K):
        for k in range(waiting[c]):
            n[c] += add_one(X, held[c, k], weights, origin[c], t1[c], t2[c])


@fast
def add_strips(
    X: Numbers, codes: Codes, weights: Floats, origin: Floats,
    n: Floats, t1: Floats, t2: Floats, order: Places, ends: Places, after: Places,
) -> None:  # fmt: skip
    """Short rows: strips of them are put in the order of their classes, as nobody can foresee which class comes next.

    The next strip is counted and asked for meanwhile: a line of memory with every row that is put in its place, the
    rest as rows are added up.  ``order`` is room for the rows of a strip, ``ends`` (K,) for where classes end, and
    ``after`` (K,), which begins with zeros, for the rows of each class in the next strip.
    """
    rows, p = X.shape
    K = n.shape[0]
    line = LINE // X.itemsize
    strip = order.shape[0]
    for i in range(strip if strip < rows else rows):
        after[codes[i]] += 1
    prefetch_rows(X, 0, strip)
    for start in range(0, rows, strip):
        total = 0
        for c in range(K):
            ends[c] = total
            total += after[c]
            after[c] = 0
        stop = start + total
        later = rows - strip if rows - strip < stop else stop  # rows from here on have none a strip after them
        later = later if later > start else start
        asked = (start + strip) * p
        for i in range(start, later):
            c = codes[i]
            order[ends[c]] = i
            ends[c] += 1
            after[codes[i + strip]] += 1
            prefetch_cell(X, asked)
            asked += line
        for i in range(later, stop):
            c = codes[i]
            order[ends[c]] = i
            ends[c] += 1
        limit = (stop + strip if stop + strip < rows else rows) * p
        rest = p - line if p > line else 0
        k = 0
        for c in range(K):
            while k + 4 <= ends[c]:
                soon = asked + 4 * rest
                prefetch_range(X, asked, soon if soon < limit else limit)
                asked = soon
                n[c] += add_four(
                    X, order[k], order[k + 1], order[k + 2], order[k + 3], weights, origin[c], t1[c], t2[c]
                )
                k += 4
            while k < ends[c]:
                soon = asked + rest
                prefetch_range(X, asked, soon if soon < limit else limit)
                asked = soon
                n[c] += add_one(X, order[k], weights, origin[c], t1[c], t2[c])
                k += 1


def class_moments(X: Numbers, codes: Codes, weights: Floats, origin: Floats, n: Floats, t1: Floats, t2: Floats) -> None:
    """n[c] += w, t1[c, j] += w z, t2[c, j] += w z², with z = x − origin[c, j], four rows of a class at a time.

    Rows are then not read in their order, so that each is asked for some time before it is reached.  Long rows and
    short ones have a kernel each, of which mostly one is needed; few rows are left to NumPy, for whom nothing needs to
    be compiled.
    """
    if not len(X) == len(codes) == len(weights):
        raise unlike(len(X), codes, weights)
    K, p = len(n), X.shape[1]
    if X.size * K <= SMALL:
        with np.errstate(all="ignore"):  # what is not finite is so in the sums of all classes
            z, R = X - origin[codes], (codes[:, None] == np.arange(K)).astype(np.float64)
            wz = weights[:, None] * z
            n += weights @ R
            t1 += R.T @ wz
            t2 += R.T @ (wz * z)
    elif p * X.itemsize < LONG_ROW:
        order = np.empty(max(STRIP_ROWS, STRIP_CELLS // max(p, 1), K), np.int64)
        add_strips(X, codes, weights, origin, n, t1, t2, order, np.empty(K, np.int64), np.zeros(K, np.int64))
    else:
        add_as_they_come(X, codes, weights, origin, n, t1, t2, np.empty((K, 4), np.int64), np.zeros(K, np.int64))


@fast
def class_moments_present(
    X: Numbers, codes: Codes, weights: Floats, origin: Floats, n: Floats, t1: Floats, t2: Floats
) -> None:
    """The same for rows with missing values: a NaN adds nothing, and n[c, j] counts what is there."""
    rows, p = X.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            z = np.float64(X[i, j]) - origin[c, j]
            v = w if z == z else 0.0
            z = z if v != 0.0 else 0.0  # a row without weight may have anything
            n[c, j] += v
            t1[c, j] += v * z
            t2[c, j] += v * (z * z)


@jit
def class_sums(T: Floats, present: Flags, codes: Codes, weights: Floats, n: Floats, t: Floats) -> None:
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
def column_sums(X: Numbers, codes: Codes, weights: Floats, t: Floats) -> None:
    """t[c, j] += w·x."""
    rows, p = X.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            t[c, j] += w * np.float64(X[i, j])


@fast_helper
def centre_rows(
    X: Numbers, place: Places, codes: Codes, weights: Floats, origin: Floats, Z: Floats, n: Floats, t1: Floats
) -> None:
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
