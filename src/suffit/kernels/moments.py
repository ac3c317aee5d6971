"""Sums of z and z² per class and column, about an origin: dense rows."""

from __future__ import annotations

import numpy as np
from numba import njit

jit = njit(nogil=True, cache=True, error_model="numpy")
fast = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})


@jit
def first_means(X, codes, weights, limit, seen, mean):  # type: ignore[no-untyped-def]
    """The mean of the first ``limit`` present values of every class and column (seen: how many so far).

    Returns how many rows were looked at; all of them where some class or column stays short.
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
            return i
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
    return n


@fast
def class_moments(X, codes, weights, origin, n, t1, t2):  # type: ignore[no-untyped-def]
    """n[c] += w, t1[c, j] += w z, t2[c, j] += w z², with z = x − origin[c, j]."""
    rows, p = X.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        n[c] += w
        for j in range(p):
            z = np.float64(X[i, j]) - origin[c, j]
            t1[c, j] += w * z
            t2[c, j] += w * (z * z)


@jit
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


@jit
def gather_by_class(X, codes, weights, origin, order, Z):  # type: ignore[no-untyped-def]
    """Z[r] = √w · (x − origin of its class) for the rows in ``order`` (sorted by class)."""
    rows = order.shape[0]
    p = X.shape[1]
    for r in range(rows):
        i = order[r]
        c = codes[i]
        v = np.sqrt(weights[i])
        for j in range(p):
            Z[r, j] = v * (np.float64(X[i, j]) - origin[c, j])
