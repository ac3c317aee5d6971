"""Squared distances of rows under matrices without them: factored once, rows whitened, in single precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .runtime.compiled import fast, fast_helper
from .runtime.types import Codes, Floats

Singles = NDArray[np.float32]

AT_ONCE = 64  # rows that are whitened together, a column of them after the other: loops over them vectorise


def whitened_squares(
    d: Singles, codes: Codes, taken: Floats, own: Floats, shared: Floats, means: Floats,
    tie: float, usual: float, multiple: float,
    squares: Floats, left: Floats, q: Floats, bend: Floats, log_det: Floats, inverse: Floats,
) -> None:  # fmt: skip
    """v'A⁻¹v + b(u'A⁻¹v)²/(1 − b u'A⁻¹u) and 1 − b u'A⁻¹u, b = tie·taken, of rows under classes that are not theirs.

    A is that of each class, or of all where tie is 1: the scatter of the class and of all as far as they are tied, and
    a ``multiple`` of its trace, less ``usual``, on the diagonal.  u = d is the distance from the mean of the row's own
    class, v that from the mean of another; rows of a class follow each other.  Under the row's own class, q = d'A⁻¹d
    and bend = d'A⁻²d; and log det A and tr A⁻¹ of every matrix.  NaN where A has no factor.  d: (p, n), and columns of
    0 that make a multiple of AT_ONCE; means: (p, K).
    """
    p, K = means.shape
    room = np.empty((p, p), np.float32), np.empty((p, p), np.float32), np.empty((p, AT_ONCE), np.float32)
    more = np.empty((p, K)), np.zeros((p, AT_ONCE)), np.empty((3, AT_ONCE))
    given = d, codes, taken, own, shared, means, tie, usual, multiple
    _whitened_squares(*given, *room, *more, squares, left, q, bend, log_det, inverse)


@fast
def _whitened_squares(
    d: Singles, codes: Codes, taken: Floats, own: Floats, shared: Floats, means: Floats,
    tie: float, usual: float, multiple: float, L: Singles, U: Singles, D: Singles, W: Floats, E: Floats, sums: Floats,
    squares: Floats, left: Floats, q: Floats, bend: Floats, log_det: Floats, inverse: Floats,
) -> None:  # fmt: skip
    """The same, with room for what it takes."""
    n, (p, K) = len(codes), means.shape
    apart = tie < 1.0
    uu, vv, uv = sums[0], sums[1], sums[2]
    for k in range(K if apart else 1):
        log_det[k] = _factored(own[k if apart else 0], shared, tie, usual, multiple, D, L)
        inverse[k] = _trace_of_inverse(L, D) if apart else 0.0
        _whitened_means(L, means, k, W)
        if apart:
            _turned(L, U)
        for start in range(0, n, AT_ONCE):
            size = AT_ONCE if start + AT_ONCE < n else n - start
            mine = codes[start] <= k <= codes[start + size - 1]
            for j in range(p):
                for i in range(AT_ONCE):
                    D[j, i] = d[j, start + i]
            _means_of_rows(W, codes[start : start + size], E)
            _forward(L, D, 0, p)
            _squared(D, uu)
            for m in range(k if apart else 0, k + 1 if apart else K):
                _to_another(D, E, W, m, vv, uv)
                for i in range(size):
                    b = tie * taken[start + i]
                    rest = 1.0 - b * uu[i]
                    left[start + i, m] = rest
                    squares[start + i, m] = vv[i] + b / rest * uv[i] * uv[i]
            for i in range(size):
                if codes[start + i] == k or not apart:
                    q[start + i] = uu[i]
            if mine and apart:
                _backward(U, D)
                _squared(D, uu)
                for i in range(size):
                    if codes[start + i] == k:
                        bend[start + i] = uu[i]


@fast_helper
def _means_of_rows(W: Floats, codes: Codes, E: Floats) -> None:
    """E[:, i] = W[:, c] for the class of each row, which those of a class follow each other in."""
    first = 0
    while first < len(codes):
        last = first + 1
        while last < len(codes) and codes[last] == codes[first]:
            last += 1
        for j in range(len(W)):
            value = W[j, codes[first]]
            for i in range(first, last):
                E[j, i] = value
        first = last


@fast_helper
def _turned(L: Singles, U: Singles) -> None:
    """U = Lᵀ."""
    for i in range(len(L)):
        for j in range(i + 1):
            U[j, i] = L[i, j]


@fast_helper
def _squared(D: Singles, out: Floats) -> None:
    """The squared length of each column."""
    for i in range(AT_ONCE):
        out[i] = 0.0
    for j in range(D.shape[0]):
        for i in range(AT_ONCE):
            out[i] += np.float64(D[j, i]) * np.float64(D[j, i])


@fast_helper
def _to_another(D: Singles, E: Floats, W: Floats, m: int, vv: Floats, uv: Floats) -> None:
    """v'v and u'v of whitened rows, v = u + the mean of their class − that of class m."""
    for i in range(AT_ONCE):
        vv[i], uv[i] = 0.0, 0.0
    for j in range(D.shape[0]):
        there = W[j, m]
        for i in range(AT_ONCE):
            v = D[j, i] + (E[j, i] - there)
            vv[i] += v * v
            uv[i] += v * D[j, i]


@fast_helper
def _factored(own: Floats, shared: Floats, tie: float, usual: float, multiple: float, D: Singles, L: Singles) -> float:
    """L with L Lᵀ = A, some columns of A at a time; log det A, NaN where there is none.  D is room for columns."""
    p = len(L)
    trace, log_det = 0.0, 0.0
    for i in range(p):
        trace += (1.0 - tie) * own[i, i] + tie * shared[i, i]
    for first in range(0, p, AT_ONCE):
        last = first + AT_ONCE if first + AT_ONCE < p else p
        for i in range(last):
            for j in range(AT_ONCE):
                at = first + j if first + j < p else p - 1
                D[i, j] = (1.0 - tie) * own[i, at] + tie * shared[i, at]
        for j in range(first, last):
            D[j, j - first] += multiple * (trace - usual)
        _forward(L, D, 0, first)  # what the columns before explain
        for j in range(first, last):
            for k in range(first):
                L[j, k] = D[k, j - first]
        for i in range(first, last):
            _take_off(L, D, i, 0, i)
            pivot = D[i, i - first]
            if not pivot > 0.0:
                pivot = np.float32(np.nan)
            log_det += np.log(np.float64(pivot))
            L[i, i] = np.sqrt(pivot)
            _divide(D, i, L[i, i])
            for j in range(i + 1, last):
                L[j, i] = D[i, j - first]
    return log_det


@fast_helper
def _take_off(L: Singles, D: Singles, i: int, start: int, stop: int) -> None:
    """Row i of D less the rows from start to stop, as often as row i of L says."""
    k = start
    while k + 4 <= stop:
        a, b, c, d = L[i, k], L[i, k + 1], L[i, k + 2], L[i, k + 3]
        for r in range(AT_ONCE):
            D[i, r] -= a * D[k, r] + b * D[k + 1, r] + c * D[k + 2, r] + d * D[k + 3, r]
        k += 4
    while k < stop:
        a = L[i, k]
        for r in range(AT_ONCE):
            D[i, r] -= a * D[k, r]
        k += 1


@fast_helper
def _divide(D: Singles, i: int, by: np.float32) -> None:
    scale = np.float32(1.0) / by
    for r in range(AT_ONCE):
        D[i, r] *= scale


@fast_helper
def _forward(L: Singles, D: Singles, first: int, last: int) -> None:
    """L⁻¹D in place, of the rows up to ``last``, D being 0 above the row ``first``; two rows at a time."""
    i = first
    while i + 2 <= last:
        k = first
        while k + 4 <= i:
            a, b, c, d = L[i, k], L[i, k + 1], L[i, k + 2], L[i, k + 3]
            e, f, g, h = L[i + 1, k], L[i + 1, k + 1], L[i + 1, k + 2], L[i + 1, k + 3]
            for r in range(AT_ONCE):
                s, t, u, v = D[k, r], D[k + 1, r], D[k + 2, r], D[k + 3, r]
                D[i, r] -= a * s + b * t + c * u + d * v
                D[i + 1, r] -= e * s + f * t + g * u + h * v
            k += 4
        _take_off(L, D, i, k, i)
        _divide(D, i, L[i, i])
        _take_off(L, D, i + 1, k, i + 1)
        _divide(D, i + 1, L[i + 1, i + 1])
        i += 2
    if i < last:
        _take_off(L, D, i, first, i)
        _divide(D, i, L[i, i])


@fast_helper
def _backward(U: Singles, D: Singles) -> None:
    """U⁻¹D in place."""
    for i in range(len(U) - 1, -1, -1):
        _take_off(U, D, i, i + 1, len(U))
        _divide(D, i, U[i, i])


@fast_helper
def _trace_of_inverse(L: Singles, D: Singles) -> float:
    """tr (L Lᵀ)⁻¹, by columns of L⁻¹; D is room for some of them."""
    p = len(L)
    total = 0.0
    for first in range(0, p, AT_ONCE):
        for j in range(p):
            for i in range(AT_ONCE):
                D[j, i] = 1.0 if j == first + i else 0.0
        _forward(L, D, first, p)
        for j in range(first, p):
            for i in range(AT_ONCE):
                total += np.float64(D[j, i]) * np.float64(D[j, i])
    return total


@fast_helper
def _whitened_means(L: Singles, means: Floats, k: int, W: Floats) -> None:
    """L⁻¹(means − that of class k), in double precision: classes may be so far apart that single loses the near."""
    p, K = means.shape
    for i in range(p):
        for c in range(K):
            W[i, c] = means[i, c] - means[i, k]
        for j in range(i):
            f = np.float64(L[i, j])
            for c in range(K):
                W[i, c] -= f * W[j, c]
        scale = 1.0 / np.float64(L[i, i])
        for c in range(K):
            W[i, c] *= scale
