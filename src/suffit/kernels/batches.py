"""Small batches added to running sums: labels looked up, rows checked, sums added, in a single call."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, jit
from .runtime.lengths import unlike
from .runtime.types import Bits, Codes, Floats, Integers, Numbers

_INFINITY = np.uint64(0x7FF0000000000000)  # the bits of ∞


def add_moments(
    X: Numbers, y: Integers, low: int, place: Codes, origin: Floats, limit: Floats, room: Floats, total: Floats
) -> bool:
    """total[c] += (n, Σz, Σz²) of the rows of class c = place[y − low], z = x − origin[c].

    False, and nothing added, where a label is unknown, a sum is not finite, or the rows of a class lie so far from the
    origin that digits would be lost: mean(z)² > limit[c, j].  ``room`` is an array like ``total``.
    """
    if len(X) != len(y):
        raise unlike(len(X), y)
    return _add_moments(X, y, low, place, origin, limit, room, total)


@fast
def _add_moments(
    X: Numbers, y: Integers, low: int, place: Codes, origin: Floats, limit: Floats, new: Floats, total: Floats
) -> bool:
    """The same, the sums of these rows in ``new``."""
    rows, p = X.shape
    K = total.shape[0]
    new[:] = 0.0
    for i in range(rows):
        at = y[i] - low
        if at < 0 or at >= place.shape[0] or place[at] < 0:
            return False
        c = place[at]
        new[c, 0] += 1.0
        x, xx = new[c, 1 : 1 + p], new[c, 1 + p :]
        for j in range(p):
            z = np.float64(X[i, j]) - origin[c, j]
            x[j] += z
            xx[j] += z * z
    for c in range(K):
        n, x, xx, good = new[c, 0], new[c, 1 : 1 + p], new[c, 1 + p :], True
        for j in range(p):
            good &= (x[j] * x[j] <= n * n * limit[c, j]) & (xx[j] - xx[j] == 0.0)
        if not good:
            return False
    for c in range(K):
        for j in range(1 + 2 * p):
            total[c, j] += new[c, j]
    return True


def add_entries(
    indptr: Integers, indices: Integers, data: Floats, y: Integers, low: int, place: Codes, n: Floats, count: Floats
) -> bool:
    """n[c] += 1 and count[c, j] += x over the entries of the rows of class c = place[y − low].

    False, and nothing added, where a label is unknown or an entry is negative (−0 counts as such) or not finite.
    """
    if len(y) + 1 != len(indptr):
        raise unlike(len(y) + 1, indptr)
    if len(indices) != len(data):
        raise unlike(len(indices), data)
    return _add_entries(indptr, indices, data, data.view(np.uint64), y, low, place, n, count)


@jit
def _add_entries(
    indptr: Integers, indices: Integers, data: Floats, bits: Bits, y: Integers, low: int, place: Codes,
    n: Floats, count: Floats,
) -> bool:  # fmt: skip
    """The same; bits are those of the data."""
    rows = y.shape[0]
    for i in range(rows):
        at = y[i] - low
        if at < 0 or at >= place.shape[0] or place[at] < 0:
            return False
    of_rows, top = bits[indptr[0] : indptr[rows]], np.uint64(0)
    for e in range(len(of_rows)):  # as integers: [0, ∞) < ∞ < NaN < negative; from 0 on, so that it vectorises
        top = of_rows[e] if of_rows[e] > top else top
    if top >= _INFINITY:
        return False
    for i in range(rows):
        c = place[y[i] - low]
        n[c] += 1.0
        of_class = count[c]
        for e in range(indptr[i], indptr[i + 1]):
            of_class[np.uint64(indices[e])] += data[e]
    return True
