"""Numbers to bins, and the entropy cuts of Fayyad and Irani."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import helper, jit

TIE = 1e-11  # cuts whose entropies differ by less than this share are equally good: the lowest of them is taken
LOG2_3 = float(np.log2(3.0))


@jit
def bin_codes(x, edges, offsets, out):  # type: ignore[no-untyped-def]
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
def _bits(n, known):  # type: ignore[no-untyped-def]
    """n log₂ n; ``known`` holds it for integers."""
    whole = np.int64(n)
    if whole == n and whole < known.shape[0]:
        return known[whole]
    return n * np.log2(n) if n > 0.0 else 0.0


@helper
def _entropy(codes, weights, a, b, n, known):  # type: ignore[no-untyped-def]
    """Of the rows [a, b): weight N, number of classes k, and N·entropy = N log₂ N − Σ_c n_c log₂ n_c; n is filled."""
    n[:] = 0.0
    for i in range(a, b):
        n[codes[i]] += weights[i]
    N, k, bits = 0.0, 0, 0.0
    for c in range(n.shape[0]):
        N += n[c]
        k += n[c] > 0.0
        bits += _bits(n[c], known)
    return N, k, _bits(N, known) - bits


@helper
def _best_cut(x, codes, weights, a, b, N, right, known):  # type: ignore[no-untyped-def]
    """The place t in (a, b), x[t − 1] < x[t], with the least N₁H₁ + N₂H₂; −1 where all values are equal.

    ``right`` holds the class weights of the rows [a, b).  They move to the left one by one, each changing one n log₂ n
    on either side.
    """
    K = right.shape[0]
    left, left_bits, right_bits, rows = np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K, np.int64)
    for i in range(a, b):
        rows[codes[i]] += 1
    n, left_sum, right_sum = 0.0, 0.0, 0.0
    for c in range(K):
        right_bits[c] = _bits(right[c], known)
        right_sum += right_bits[c]
    best, least, slack = -1, np.inf, TIE * _bits(N, known)
    for i in range(a, b - 1):
        c = codes[i]
        n += weights[i]
        left[c] += weights[i]
        rows[c] -= 1
        right[c] = right[c] - weights[i] if rows[c] else 0.0  # no remainder of rounding where no row is left
        more, fewer = _bits(left[c], known), _bits(right[c], known)
        left_sum += more - left_bits[c]
        right_sum += fewer - right_bits[c]
        left_bits[c], right_bits[c] = more, fewer
        if x[i] < x[i + 1]:
            entropy = (_bits(n, known) - left_sum) + (_bits(N - n, known) - right_sum)
            if entropy < least - slack:
                best, least = i + 1, entropy
    return best


@helper
def mdl_cuts(x, codes, weights, K, known):  # type: ignore[no-untyped-def]
    """The places t at which sorted values are cut, x[t − 1] | x[t], by Fayyad and Irani's criterion, in order.

    S is cut where the entropy left is least, and both parts again, while N·gain = N·H − N₁H₁ − N₂H₂ exceeds
    log₂(N − 1) + log₂(3ᵏ − 2) − (kH − k₁H₁ − k₂H₂).  Less than the weight of two rows is not cut.
    """
    n = np.zeros(K)
    ends = np.empty(x.shape[0] + 1, np.int64)  # of the parts still to be looked at, the next one last
    ends[0], open_parts, a, cuts = x.shape[0], 1, np.int64(0), 0  # a number: a constant has helpers of its own
    places = np.empty(x.shape[0], np.int64)
    while open_parts:
        b = ends[open_parts - 1]
        N, k, NH = _entropy(codes, weights, a, b, n, known)
        t = _best_cut(x, codes, weights, a, b, N, n, known) if k > 1 and N >= 2.0 else -1
        if t >= 0:
            N1, k1, NH1 = _entropy(codes, weights, a, t, n, known)
            N2, k2, NH2 = _entropy(codes, weights, t, b, n, known)
            code = k * LOG2_3 + np.log2(1.0 - 2.0 * 3.0**-k) - (k * NH / N - k1 * NH1 / N1 - k2 * NH2 / N2)
            if np.log2(N - 1.0) + code < NH - NH1 - NH2:
                ends[open_parts] = t
                open_parts += 1
                continue
        a, open_parts = b, open_parts - 1
        if open_parts:
            places[cuts] = b
            cuts += 1
    return places[:cuts]


@jit
def mdl_edges(x, order, codes, weights, K, edges, count):  # type: ignore[no-untyped-def]
    """The edges of every column, half way between the neighbours that the cuts part: edges[j, :count[j]].

    x (p, n) holds a column in each row and ``order`` its places from the least value to the greatest.  Rows without
    weight are left out, as are values that are not finite.
    """
    p, n = x.shape
    values, of_class, weight = np.empty(n), np.empty(n, np.int32), np.empty(n)
    known = np.zeros(n + 1)
    for i in range(1, n + 1):
        known[i] = i * np.log2(i)
    for j in range(p):
        m = 0
        for k in range(n):
            i = order[j, k]
            if weights[i] > 0.0 and np.isfinite(x[j, i]):
                values[m], of_class[m], weight[m] = x[j, i], codes[i], weights[i]
                m += 1
        t = mdl_cuts(values[:m], of_class[:m], weight[:m], K, known)
        count[j] = len(t)
        for k in range(len(t)):
            a, b = values[t[k] - 1], values[t[k]]
            half = a / 2 + b / 2
            edges[j, k] = half if a < half <= b else b


@jit
def share_edges(x, order, weights, bins, edges, count):  # type: ignore[no-untyped-def]
    """The k/bins quantiles of every column, those that are distinct and have values on both sides.

    They are where the weights reach k/bins of their sum, half way to the next value if so but for rounding.  Rows and
    values are left out as above.
    """
    p, n = x.shape
    values, reached = np.empty(n), np.empty(n)
    for j in range(p):
        m, total = 0, 0.0
        for k in range(n):
            i = order[j, k]
            if weights[i] > 0.0 and np.isfinite(x[j, i]):
                total += weights[i]
                values[m], reached[m] = x[j, i], total
                m += 1
        count[j], i = 0, 0
        for k in range(1, bins if m else 0):
            wanted, slack = k * total / bins, TIE * total
            while reached[i] < wanted - slack:
                i += 1
            a = values[i]
            b = values[min(i + 1, m - 1)] if reached[i] <= wanted + slack else a
            half = a / 2 + b / 2
            edge = half if a < half <= b else b
            if values[0] < edge <= values[m - 1] and (count[j] == 0 or edge > edges[j, count[j] - 1]):
                edges[j, count[j]] = edge
                count[j] += 1
