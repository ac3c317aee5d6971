"""Numbers to bins, and the entropy cuts of Fayyad and Irani."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import helper, jit
from .runtime.types import Codes, Floats, Numbers, Places

TIE = 1e-11  # cuts whose entropies differ by less than this share are equally good: the lowest of them is taken
LOG2_3 = float(np.log2(3.0))


@jit
def bin_codes(x: Numbers, edges: Floats, offsets: Places, out: Codes) -> None:
    """out[i, j] = how many edges of column j, edges[offsets[j]:offsets[j + 1]], are at or below x; −1 for NaN."""
    rows, p = x.shape
    for i in range(rows):
        for j in range(p):
            value = np.float64(x[i, j])
            low, high = offsets[j], offsets[j + 1]
            while low < high:
                middle = (low + high) >> 1
                if value >= edges[middle]:
                    low = middle + 1
                else:
                    high = middle
            out[i, j] = low - offsets[j] if value == value else -1


@helper
def _bits(n: float, known: Floats) -> float:
    """n log₂ n; ``known`` holds it for integers."""
    whole = np.int64(n)
    if whole == n and whole < known.shape[0]:
        return known[whole]
    return n * np.log2(n) if n > 0.0 else 0.0


@jit
def mdl_cut(x: Floats, codes: Codes, weights: Floats, a: int, b: int, known: Floats, room: Floats) -> int:
    """The place t in (a, b), x[t − 1] < x[t], with the least N₁H₁ + N₂H₂; −1 where Fayyad and Irani would not cut.

    That is where all values are equal, less than two rows weigh anything, or N·gain = N·H − N₁H₁ − N₂H₂ is no more than
    log₂(N − 1) + log₂(3ᵏ − 2) − (kH − k₁H₁ − k₂H₂), with k the number of classes.  Rows move to the left one by one,
    each changing one n log₂ n on either side.  room: (5, K).
    """
    K = room.shape[1]
    left, right, left_bits, right_bits, rows = room[0], room[1], room[2], room[3], room[4]
    for c in range(K):
        left[c], right[c], left_bits[c], rows[c] = 0.0, 0.0, 0.0, 0.0
    for i in range(a, b):
        right[codes[i]] += weights[i]
        rows[codes[i]] += 1.0
    N, classes, left_sum, right_sum = 0.0, 0.0, 0.0, 0.0
    for c in range(K):
        N += right[c]
        classes += 1.0 if right[c] > 0.0 else 0.0
        right_bits[c] = _bits(right[c], known)
        right_sum += right_bits[c]
    if classes < 2.0 or N < 2.0:
        return -1
    whole = _bits(N, known)
    gain, n, best, least = whole - right_sum, 0.0, -1, np.inf
    code = classes * LOG2_3 + np.log2(1.0 - 2.0 * 3.0**-classes) - classes * gain / N + np.log2(N - 1.0)
    for i in range(a, b - 1):
        c = codes[i]
        n += weights[i]
        left[c] += weights[i]
        rows[c] -= 1.0
        right[c] = right[c] - weights[i] if rows[c] > 0.0 else 0.0  # no remainder of rounding where no row is left
        more, fewer = _bits(left[c], known), _bits(right[c], known)
        left_sum += more - left_bits[c]
        right_sum += fewer - right_bits[c]
        left_bits[c], right_bits[c] = more, fewer
        if x[i] < x[i + 1]:
            entropy = (_bits(n, known) - left_sum) + (_bits(N - n, known) - right_sum)
            if entropy < least - TIE * whole:
                best, least = i + 1, entropy
    if best < 0:
        return -1
    for side in range(2):  # what is left on either side, from its rows alone
        for c in range(K):
            left[c] = 0.0
        for i in range(best if side else a, b if side else best):
            left[codes[i]] += weights[i]
        n, classes, left_sum = 0.0, 0.0, 0.0
        for c in range(K):
            n += left[c]
            classes += 1.0 if left[c] > 0.0 else 0.0
            left_sum += _bits(left[c], known)
        entropy = _bits(n, known) - left_sum
        gain -= entropy
        code += classes * entropy / n
    return best if code < gain else -1


def mdl_cuts(x: Floats, codes: Codes, weights: Floats, known: Floats, room: Floats) -> list[int]:
    """The places t at which sorted values are cut, x[t − 1] | x[t], in order: the whole, and both parts of a cut again.

    ``known`` holds n log₂ n of integers.
    """
    places: list[int] = []
    ends, a = [len(x)], 0  # of the parts still to be looked at, the next one last
    while ends:
        t = mdl_cut(x, codes, weights, a, ends[-1], known, room)
        if t >= 0:
            ends.append(t)
        else:
            a = ends.pop()
            places.append(a)
    return places[:-1]


def mdl_edges(x: Floats, order: Places, codes: Codes, weights: Floats, K: int) -> list[Floats]:
    """The edges of every column, half way between the neighbours that the cuts part.

    x (p, n) holds a column in each row and ``order`` its places from the least value to the greatest.  Rows without
    weight are left out, as are values that are not finite.
    """
    n = np.arange(x.shape[1] + 1.0)
    known, room = n * np.log2(np.maximum(n, 1.0)), np.empty((5, K))
    edges = []
    for column, places in zip(x, order, strict=True):
        at = places[(weights[places] > 0.0) & np.isfinite(column[places])]
        values = column[at]
        t = np.array(mdl_cuts(values, codes[at], weights[at], known, room), np.int64)
        edges.append(_half_way(values[t - 1], values[t]))
    return edges


def share_edges(x: Floats, order: Places, weights: Floats, bins: int) -> list[Floats]:
    """The k/bins quantiles of every column, those that are distinct and have values on both sides.

    They are where the weights reach k/bins of their sum, half way to the next value if so but for rounding.  Rows and
    values are left out as above.
    """
    edges = []
    for column, places in zip(x, order, strict=True):
        at = places[(weights[places] > 0.0) & np.isfinite(column[places])]
        values, reached = column[at], np.cumsum(weights[at])
        total = reached[-1] if len(at) else 0.0
        wanted, slack = np.arange(1, bins if len(at) else 1) * total / bins, TIE * total
        i = np.searchsorted(reached, wanted - slack)
        after = np.where(reached[i] <= wanted + slack, np.minimum(i + 1, len(at) - 1), i)
        edge = _half_way(values[i], values[after])
        edges.append(np.unique(edge[(edge > values[0]) & (edge <= values[-1])]) if len(at) else edge)
    return edges


def _half_way(a: Floats, b: Floats) -> Floats:
    """Between a and b, or b where there is nothing between."""
    half = a / 2 + b / 2
    return np.where((a < half) & (half <= b), half, b)
