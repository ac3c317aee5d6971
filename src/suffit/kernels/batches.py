"""Small batches added to running sums: labels looked up, rows checked, sums added, in a single call."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, jit

_INFINITY = np.uint64(0x7FF0000000000000)  # the bits of ∞


@fast
def add_moments(X, y, low, place, origin, limit, total):  # type: ignore[no-untyped-def]
    """total[c] += (n, Σz, Σz²) of the rows of class c = place[y − low], z = x − origin[c].

    False, and nothing added, where a label is unknown, a sum is not finite, or the rows of a class lie so far from the
    origin that digits would be lost: mean(z)² > limit[c, j].
    """
    rows, p = X.shape
    K = total.shape[0]
    n = np.zeros(K)
    x = np.zeros((K, p))
    xx = np.zeros((K, p))
    for i in range(rows):
        at = y[i] - low
        if at < 0 or at >= place.shape[0] or place[at] < 0:
            return False
        c = place[at]
        n[c] += 1.0
        for j in range(p):
            z = np.float64(X[i, j]) - origin[c, j]
            x[c, j] += z
            xx[c, j] += z * z
    for c in range(K):
        good = True
        for j in range(p):
            good &= (x[c, j] * x[c, j] <= n[c] * n[c] * limit[c, j]) & np.isfinite(xx[c, j])
        if not good:
            return False
    for c in range(K):
        total[c, 0] += n[c]
        for j in range(p):
            total[c, 1 + j] += x[c, j]
            total[c, 1 + p + j] += xx[c, j]
    return True


@jit
def add_entries(indptr, indices, data, y, low, place, n, count):  # type: ignore[no-untyped-def]
    """n[c] += 1 and count[c, j] += x over the entries of the rows of class c = place[y − low].

    False, and nothing added, where a label is unknown or an entry is negative (−0 counts as such) or not finite.
    """
    rows = y.shape[0]
    for i in range(rows):
        at = y[i] - low
        if at < 0 or at >= place.shape[0] or place[at] < 0:
            return False
    bits = data.view(np.uint64)[indptr[0] : indptr[rows]]  # as integers: [0, ∞) < ∞ < NaN < negative
    top = np.uint64(0)
    for e in range(bits.shape[0]):
        top = max(top, bits[e])
    if top >= _INFINITY:
        return False
    for i in range(rows):
        c = place[y[i] - low]
        n[c] += 1.0
        of_class = count[c]
        for e in range(indptr[i], indptr[i + 1]):
            of_class[np.uint64(indices[e])] += data[e]
    return True
