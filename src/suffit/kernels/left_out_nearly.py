"""Squared distances of rows under matrices without them: factored once, rows whitened, in single precision."""

from __future__ import annotations

import numpy as np

from .compiled import fast

AT_ONCE = 64  # rows that are whitened together, a column of them after the other: loops over them vectorise


@fast
def whitened_squares(d, ends, taken, own, shared, means, tie, usual, multiple, squares, left, q, bend, log_det, inverse):  # type: ignore[no-untyped-def]  # fmt: skip  # noqa: E501
    """v'A⁻¹v + b(u'A⁻¹v)²/(1 − b u'A⁻¹u) and 1 − b u'A⁻¹u, b = tie·taken, of rows under classes that are not theirs.

    A is that of each class, or of all where tie is 1: the scatter of the class and of all as far as they are tied, and
    a ``multiple`` of its trace, less ``usual``, on the diagonal.  u = d is the distance from the mean of the row's own
    class, v that from the mean of another; rows of a class follow each other, up to its ``ends``.  Under the row's own
    class, q = d'A⁻¹d and bend = d'A⁻²d; and log det A and tr A⁻¹ of every matrix.  NaN where A has no factor.
    """
    K, p = means.shape
    apart = tie < 1.0
    L, U = np.empty((p, p), np.float32), np.empty((p, p), np.float32)
    W, D = np.empty((K, p)), np.empty((p, AT_ONCE), np.float32)
    uu, vv, uv = np.empty(AT_ONCE), np.empty(AT_ONCE), np.empty(AT_ONCE)
    for k in range(K if apart else 1):
        log_det[k] = _factored(own[k if apart else 0], shared, tie, usual, multiple, D, L)
        for i in range(p):
            for j in range(i + 1):
                U[j, i] = L[i, j]
        inverse[k] = _trace_of_inverse(L, D) if apart else 0.0
        for c in range(K):
            _whitened_mean(L, means[c], means[k], W[c])
        start = 0
        for c in range(K):
            while start < ends[c + 1]:
                size = min(AT_ONCE, ends[c + 1] - start)
                for i in range(size):
                    for j in range(p):
                        D[j, i] = d[start + i, j]
                for i in range(size, AT_ONCE):
                    for j in range(p):
                        D[j, i] = 0.0
                _forward(L, D, 0, p)
                uu[:] = 0.0
                for j in range(p):
                    for i in range(AT_ONCE):
                        uu[i] += np.float64(D[j, i]) * np.float64(D[j, i])
                for m in range(k if apart else 0, k + 1 if apart else K):
                    if m == c:
                        continue
                    _to_another(D, W[c], W[m], vv, uv)
                    for i in range(size):
                        b = tie * taken[start + i]
                        rest = 1.0 - b * uu[i]
                        left[start + i, m] = rest
                        squares[start + i, m] = vv[i] + b / rest * uv[i] * uv[i]
                if c == k or not apart:
                    for i in range(size):
                        q[start + i], bend[start + i] = uu[i], 0.0
                if c == k and apart:
                    _backward(U, D)
                    for j in range(p):
                        for i in range(size):
                            bend[start + i] += np.float64(D[j, i]) * np.float64(D[j, i])
                start += size


@fast
def _to_another(D, here, there, vv, uv):  # type: ignore[no-untyped-def]
    """v'v and u'v of whitened rows, v = u + here − there."""
    vv[:], uv[:] = 0.0, 0.0
    for j in range(D.shape[0]):
        off = here[j] - there[j]
        for i in range(AT_ONCE):
            v = D[j, i] + off
            vv[i] += v * v
            uv[i] += v * D[j, i]


@fast
def _factored(own, shared, tie, usual, multiple, D, L):  # type: ignore[no-untyped-def]
    """L with L Lᵀ = A, some columns of A at a time; log det A, NaN where there is none.  D is room for columns."""
    p = len(L)
    trace, log_det = 0.0, 0.0
    for i in range(p):
        trace += (1.0 - tie) * own[i, i] + tie * shared[i, i]
    for first in range(0, p, AT_ONCE):
        last = min(first + AT_ONCE, p)
        for i in range(last):
            for j in range(AT_ONCE):
                at = min(first + j, p - 1)
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


@fast
def _take_off(L, D, i, start, stop):  # type: ignore[no-untyped-def]
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


@fast
def _divide(D, i, by):  # type: ignore[no-untyped-def]
    scale = np.float32(1.0) / by
    for r in range(AT_ONCE):
        D[i, r] *= scale


@fast
def _forward(L, D, first, last):  # type: ignore[no-untyped-def]
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


@fast
def _backward(U, D):  # type: ignore[no-untyped-def]
    """U⁻¹D in place."""
    for i in range(len(U) - 1, -1, -1):
        _take_off(U, D, i, i + 1, len(U))
        _divide(D, i, U[i, i])


@fast
def _trace_of_inverse(L, D):  # type: ignore[no-untyped-def]
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


@fast
def _whitened_mean(L, mean, other, out):  # type: ignore[no-untyped-def]
    """L⁻¹(mean − other), in double precision: classes may be so far apart that single precision loses the near."""
    for i in range(len(L)):
        value = mean[i] - other[i]
        for k in range(i):
            value -= L[i, k] * out[k]
        out[i] = value / L[i, i]
