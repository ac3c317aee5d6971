"""Categories of categorical columns: counts per class, and scores."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, jit
from .runtime.lengths import unlike
from .runtime.types import Bits, Codes, Flags, Floats, Integers, Places


@jit
def category_counts(codes_of_categories: Codes, offsets: Places, codes: Codes, weights: Floats, count: Floats) -> None:
    """count[c, offsets[j] + category] += w; a category of −1 is missing."""
    rows, p = codes_of_categories.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            category = codes_of_categories[i, j]
            if category >= 0:
                count[c, offsets[j] + category] += w


@jit
def categories_without(
    codes_of_categories: Codes, offsets: Places, codes: Codes, weights: Floats,
    count: Floats, total: Floats, shown: Places, alpha: float, emptied: float, table: Floats, zeros: Floats,
    out: Floats, never: Floats, lone: Flags,
) -> None:  # fmt: skip
    """Take each row out of the counts of its own class: out[i, c] and never[i, c] change from tables to what is left.

    log (n − w + α)/(N − w + α·categories), uniform where nothing is left; ``lone`` marks categories that no other row
    has.
    """
    rows, p = codes_of_categories.shape
    for i in range(rows):
        c = codes[i]
        w = weights[i]
        for j in range(p):
            if codes_of_categories[i, j] < 0:
                continue
            at = offsets[j] + codes_of_categories[i, j]
            categories = offsets[j + 1] - offsets[j]
            had = count[c, at]
            n = had - w if abs(had - w) > emptied * had else 0.0
            N = total[c, j] - w if abs(total[c, j] - w) > emptied * total[c, j] else 0.0
            everything = N + alpha * categories
            share = n + alpha
            if everything <= 0:
                share, everything = 1.0, float(categories)
            zero = share <= 0
            out[i, c] += np.log((1.0 if zero else share) / everything) - table[at, c]
            never[i, c] += (1.0 if zero else 0.0) - zeros[at, c]
            lone[i, j] = n == 0 and shown[at] == (1 if had > 0 else 0)


@jit
def integer_counts(X: Integers, low: Places, offsets: Places, codes: Codes, weights: Floats, count: Floats) -> bool:
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
def category_scores(codes_of_categories: Codes, offsets: Places, table: Floats, out: Floats) -> None:
    """out[i, c] = Σ_j table[offsets[j] + category, c]; a category of −1 adds nothing."""
    rows, p = codes_of_categories.shape
    K = out.shape[1]
    for i in range(rows):
        for c in range(K):
            out[i, c] = 0.0
        for j in range(p):
            category = codes_of_categories[i, j]
            if category >= 0:
                at = offsets[j] + category
                for c in range(K):
                    out[i, c] += table[at, c]


def integer_scores(X: Integers, low: Places, offsets: Places, table: Floats, out: Floats) -> None:
    """The same for integers: row offsets[j] + x − low[j] of the table; its last row, of zeros, stands for the rest.

    The table may be wider than there are classes: with a multiple of four columns no loop has a remainder.
    """
    if len(X) != len(out):
        raise unlike(len(X), out)
    if X.shape[1] + 1 != len(offsets):
        raise unlike(X.shape[1] + 1, offsets)
    places, total = np.empty(X.shape[1] + 4, np.uint64), np.empty(table.shape[1])
    _integer_scores(X, low, offsets, table, places, total, out)


@fast
def _integer_scores(
    X: Integers, low: Places, offsets: Places, table: Floats, places: Bits, total: Floats, out: Floats
) -> None:
    """The same; places and total are room."""
    rows, p = X.shape
    K = out.shape[1]
    width = table.shape[1]
    nothing = np.uint64(table.shape[0] - 1)
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
