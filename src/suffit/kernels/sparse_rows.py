"""The stored entries of sparse rows (CSR): sums per class, and scores."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, helper, jit
from .runtime.lengths import unlike
from .runtime.prefetch import prefetch_cell, prefetch_range
from .runtime.types import Codes, Floats, Integers, Numbers, Places

_AHEAD = 384  # entries asked for before they are needed: about as many as are read while memory answers
_NEAR = 1 << 18  # sums of which most stay in the second cache


def has_duplicates(ends: Integers, columns: Integers, p: int) -> bool:
    """Whether some row of a CSR matrix has two entries in one column."""
    return _has_duplicates(ends, columns, np.full(p, -1))


@jit
def _has_duplicates(ends: Integers, columns: Integers, seen: Places) -> bool:
    """The same; ``seen`` begins with −1 for each column."""
    for i in range(len(ends) - 1):
        for e in range(ends[i], ends[i + 1]):
            if seen[columns[e]] == i:
                return True
            seen[columns[e]] = i
    return False


@helper
def _row_of(codes: Codes, lo: int, hi: int, i: int) -> int:
    """The first row from i on whose class is in [lo, hi)."""
    while i < codes.shape[0] and not (codes[i] >= lo and codes[i] < hi):
        i += 1
    return i


@helper
def _value(x: float, threshold: float | None) -> float:
    """What an entry counts as: itself, or with a threshold 1 above it, else 0."""
    if threshold is None:  # known when this is compiled, here and below
        return x
    return 1.0 if x > threshold else 0.0


@helper
def _flaw(seen: float, x: float, threshold: float | None) -> float:
    """Less than 0 once an entry is negative; with a threshold NaN once one is not finite."""
    if threshold is None:
        return x if x < seen else seen
    return seen + (x - x)


@jit
def csr_class_sums(
    indptr: Integers, indices: Integers, data: Numbers, threshold: float | None, codes: Codes, weights: Floats,
    lo: int, hi: int, t: Floats,
) -> bool:  # fmt: skip
    """t[c, j] += w·x over the entries of the rows whose class is in [lo, hi).  False where one is negative.

    With a threshold an entry counts as 1 where it is above it, else as 0; False where one is not finite.
    Where threads split the classes between them, every cell is added up by one thread, in row order; other rows may
    stand between, so that the entries of the next are asked for.  Where there are many sums, those of the next are too.
    """
    rows = codes.shape[0]
    split = hi - lo < t.shape[0]
    far_sums = t.size > _NEAR
    ahead = 0 if split else _AHEAD
    f0 = f1 = f2 = f3 = 0.0
    i = _row_of(codes, lo, hi, 0)
    later = _row_of(codes, lo, hi, i + 1)
    while i < rows:
        much_later = _row_of(codes, lo, hi, later + 1)
        if split and much_later < rows:
            prefetch_range(indices, indptr[much_later], indptr[much_later + 1])
            prefetch_range(data, indptr[much_later], indptr[much_later + 1])
        if far_sums and later < rows:
            of_later = t[codes[later]]
            for e in range(indptr[later], indptr[later + 1]):
                prefetch_cell(of_later, indices[e])
        w = weights[i]
        tc = t[codes[i]]
        e, end = indptr[i], indptr[i + 1]
        while e + 4 <= end:
            prefetch_cell(indices, e + ahead)
            prefetch_cell(data, e + ahead)
            x0, x1, x2, x3 = data[e], data[e + 1], data[e + 2], data[e + 3]
            f0, f1, f2, f3 = (
                _flaw(f0, x0, threshold), _flaw(f1, x1, threshold), _flaw(f2, x2, threshold), _flaw(f3, x3, threshold)
            )  # fmt: skip
            tc[np.uint64(indices[e])] += w * _value(x0, threshold)
            tc[np.uint64(indices[e + 1])] += w * _value(x1, threshold)
            tc[np.uint64(indices[e + 2])] += w * _value(x2, threshold)
            tc[np.uint64(indices[e + 3])] += w * _value(x3, threshold)
            e += 4
        while e < end:
            x0 = data[e]
            f0 = _flaw(f0, x0, threshold)
            tc[np.uint64(indices[e])] += w * _value(x0, threshold)
            e += 1
        i, later = later, much_later
    return f0 >= 0.0 and f1 >= 0.0 and f2 >= 0.0 and f3 >= 0.0


@jit
def csr_class_statistics(
    indptr: Integers, indices: Integers, T: Floats, codes: Codes, weights: Floats, lo: int, hi: int, t: Floats
) -> None:
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
def csr_class_moments(
    indptr: Integers, indices: Integers, data: Numbers, codes: Codes, weights: Floats, origin: Floats,
    lo: int, hi: int, n: Floats, t1: Floats, t2: Floats,
) -> None:  # fmt: skip
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


def csr_linear_scores(
    indptr: Integers, indices: Integers, data: Numbers, threshold: float | None,
    weights: Floats, start: Floats, out: Floats,
) -> bool:  # fmt: skip
    """out[i, c] = start[c] + Σ_e x·weights[j_e, c].  weights: (words, K).  False where an entry is negative.

    With a threshold an entry counts as 1 where it is above it, else as 0; False where one is not finite.
    """
    if len(out) + 1 != len(indptr):
        raise unlike(len(out) + 1, indptr)
    if len(indices) != len(data):
        raise unlike(len(indices), data)
    return _csr_linear_scores(indptr, indices, data, threshold, weights, start, np.empty(len(start)), out)


@jit
def _csr_linear_scores(
    indptr: Integers, indices: Integers, data: Numbers, threshold: float | None,
    weights: Floats, start: Floats, total: Floats, out: Floats,
) -> bool:  # fmt: skip
    """Two classes have a loop of their own; total (K,) is room.

    The sums are in order: taken in any order they would be vectorised by gathering, which takes twice the time.
    """
    rows, K = out.shape
    flaw = 0.0
    if K == 2:
        for i in range(rows):
            s0, s1 = start[0], start[1]
            for e in range(indptr[i], indptr[i + 1]):
                j = np.uint64(indices[e])
                x = data[e]
                flaw = _flaw(flaw, x, threshold)
                x = _value(x, threshold)
                s0 += x * weights[j, 0]
                s1 += x * weights[j, 1]
            out[i, 0] = s0
            out[i, 1] = s1
        return flaw >= 0.0
    for i in range(rows):
        for c in range(K):
            total[c] = start[c]
        e, end = indptr[i], indptr[i + 1]
        while e + 4 <= end:
            x0, x1, x2, x3 = data[e], data[e + 1], data[e + 2], data[e + 3]
            for x in (x0, x1, x2, x3):
                flaw = _flaw(flaw, x, threshold)
            x0, x1, x2, x3 = _value(x0, threshold), _value(x1, threshold), _value(x2, threshold), _value(x3, threshold)
            w0, w1 = weights[np.uint64(indices[e])], weights[np.uint64(indices[e + 1])]
            w2, w3 = weights[np.uint64(indices[e + 2])], weights[np.uint64(indices[e + 3])]
            for c in range(K):
                total[c] += (x0 * w0[c] + x1 * w1[c]) + (x2 * w2[c] + x3 * w3[c])
            e += 4
        while e < end:
            x0 = data[e]
            flaw = _flaw(flaw, x0, threshold)
            x0 = _value(x0, threshold)
            w0 = weights[np.uint64(indices[e])]
            for c in range(K):
                total[c] += x0 * w0[c]
            e += 1
        for c in range(K):
            out[i, c] = total[c]
    return flaw >= 0.0


@fast
def csr_scores(indptr: Integers, indices: Integers, T: Floats, theta: Floats, start: Floats, out: Floats) -> None:
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
def csr_gaussian_scores(
    indptr: Integers, indices: Integers, data: Numbers, mean: Floats, root: Floats, start: Floats, out: Floats
) -> None:
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
