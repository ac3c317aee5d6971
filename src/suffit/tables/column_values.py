"""What the values of single columns tell: their range, their moments by class, how many different ones there are."""

from __future__ import annotations

import numpy as np

from ..data.arrays import Array, Codes

SOME = 1 << 14  # values that are looked at together, in the cache
FIRST = 1_000  # values that mostly show that there are many different ones


def column_range(x: Array) -> tuple[float, float, bool]:
    """The least and the greatest value, NaN where there is none, and whether all that are there are whole."""
    low, high = float(np.fmin.reduce(x, initial=np.inf)), float(np.fmax.reduce(x, initial=-np.inf))
    if low > high:
        return np.nan, np.nan, True
    parts = (x[i : i + SOME] for i in range(0, len(x), SOME))
    return low, high, all(bool(((np.floor(part) == part) | (part != part)).all()) for part in parts)


def column_moments(X: Array, codes: Codes, weights: Array, K: int) -> tuple[Array, Array, Array, Array]:
    """m, the mean of each column; Σ w, Σ w z and Σ w z² of what is there, z = x − m.  # (p, n) → (p,), (K, p) thrice"""
    middle, sums = np.zeros(len(X)), np.empty((3, K, len(X)))
    for j, x in enumerate(X):
        there = x == x
        w = np.where(there, weights, 0.0)
        total = w.sum()
        if total > 0.0:
            middle[j] = (w * np.where(there, x, 0.0)).sum() / total
        z = np.where(there, x - middle[j], 0.0)
        for k in range(3):
            sums[k, :, j] = np.bincount(codes, w, K)
            w *= z
    return middle, *sums


def categories_explain(
    x: Array, low: float, high: float, codes: Codes, weights: Array, K: int, wide: int, limit: int
) -> tuple[int, float]:
    """How many different integers a column has, 0 for more than ``limit``; and how well they tell the classes.

    That is Σ_cv N_cv·log (N_cv + 1)/(N_c + categories).  Numbers in a range less than ``wide`` are found by a table.
    """
    there = x == x
    x, codes = x[there], codes[there]
    if high - low < wide:
        place = (x - low).astype(np.int64)
        found = np.bincount(place) > 0
        place, n = (np.cumsum(found) - 1)[place], int(found.sum())
    elif len(np.unique(x[:FIRST])) > limit:
        return 0, 0.0
    else:
        values, place = np.unique(x, return_inverse=True)
        n = len(values)
    if n > limit:
        return 0, 0.0
    count = np.bincount(place * K + codes, weights[there], n * K).reshape(n, K)
    N = count.sum(axis=0)
    return n, float((count * np.log(count + 1)).sum() - (N * np.log(np.maximum(N + n, 1))).sum())
