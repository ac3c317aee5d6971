"""Counts per class: levels of categorical columns, and the non-zeros of sparse rows."""

from __future__ import annotations

import numpy as np

from .compiled import jit


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
def level_scores(codes_of_levels, offsets, table, out):  # type: ignore[no-untyped-def]
    """out[i, c] = Σ_j table[offsets[j] + level, c]; a level of −1 adds nothing."""
    rows, p = codes_of_levels.shape
    K = table.shape[1]
    for i in range(rows):
        for c in range(K):
            out[i, c] = 0.0
        for j in range(p):
            level = codes_of_levels[i, j]
            if level >= 0:
                at = offsets[j] + level
                for c in range(K):
                    out[i, c] += table[at, c]


@jit
def csr_class_sums(indptr, indices, T, codes, weights, lo, hi, t):  # type: ignore[no-untyped-def]
    """t[c, j, k] += w·T[e, k] over the entries e of the rows whose class is in [lo, hi).

    Threads split the classes between them, so every cell is added up by one thread, in row order.
    """
    rows = codes.shape[0]
    order = T.shape[1]
    for i in range(rows):
        c = codes[i]
        if c >= lo and c < hi:
            w = weights[i]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                for k in range(order):
                    t[c, j, k] += w * T[e, k]


@jit
def csr_class_moments(indptr, indices, data, codes, weights, origin, lo, hi, n, t1, t2):  # type: ignore[no-untyped-def]
    """Weight, Σ w z and Σ w z² of the stored entries, z = x − origin, for the classes in [lo, hi)."""
    rows = codes.shape[0]
    for i in range(rows):
        c = codes[i]
        if c >= lo and c < hi:
            w = weights[i]
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                z = np.float64(data[e]) - origin[c, j]
                n[c, j] += w
                t1[c, j] += w * z
                t2[c, j] += w * (z * z)


@jit
def csr_scores(indptr, indices, T, theta, start, out):  # type: ignore[no-untyped-def]
    """out[i, c] = start[c] + Σ_e Σ_k T[e, k]·theta[j_e, k, c] over the entries e of row i."""
    rows = out.shape[0]
    K = start.shape[0]
    order = T.shape[1]
    for i in range(rows):
        for c in range(K):
            out[i, c] = start[c]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            for k in range(order):
                x = T[e, k]
                for c in range(K):
                    out[i, c] += x * theta[j, k, c]


@jit
def csr_gaussian_scores(indptr, indices, data, mean, root, start, out):  # type: ignore[no-untyped-def]
    """Gaussian scores of sparse rows: start holds the score of a row of zeros, each entry its difference."""
    rows = out.shape[0]
    K = start.shape[0]
    for i in range(rows):
        for c in range(K):
            out[i, c] = start[c]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            x = np.float64(data[e])
            for c in range(K):
                r = root[c, j]
                out[i, c] -= (x * r) * ((x - 2.0 * mean[c, j]) * r)
