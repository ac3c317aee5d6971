"""Normal log-densities of independent columns, each row without itself."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast, fast_helper

LOWER = -1.6449  # the 5 % quantile of the normal distribution


def variance_limit(degrees):  # type: ignore[no-untyped-def]
    """How many times the variance seen, with so many degrees of freedom, the true one may be, at 95 % confidence.

    df/χ²(5 %), by the cube of Wilson and Hilferty.
    """
    part = 2.0 / (9.0 * degrees)
    return 1.0 / np.maximum(1.0 - part + LOWER * np.sqrt(part), 1e-3) ** 3


_variance_limit = fast_helper(variance_limit)


@fast
def normal_leave_one_out(x, codes, weights, n, mean, squares, variance, scale, peak, total, steady, smoothing, prior, few, out, odd):  # type: ignore[no-untyped-def]  # fmt: skip  # noqa: E501
    """out[i, c] −= ½ Σ_j (x − μ)²/v + log 2πv, of its own class without the row, of all with the floor without it.

    A floor that is little of a ``steady`` column's variances changes them to first order, v + d: 1/v·(1 − d/v) and
    log v + d/v.  Variances drawn to that of all classes by a ``prior`` of some rows change with it.  ``odd`` marks rows
    that leave no more than a share ``few`` of some squares.  Columns by classes.
    """
    rows, p = x.shape
    K = out.shape[1]
    for i in range(rows):
        own = codes[i]
        w = weights[i]
        for j in range(p):
            z = x[i, j]
            if z != z:
                continue
            N = total[0, j]
            away = z - total[1, j]
            all_squares = total[2, j] - w * N / (N - w) * away * away
            d = z - mean[j, own]
            m = n[j, own]
            left = squares[j, own]
            if left > 0:
                left -= w * m / (m - w) * d * d
            if m - w <= few * m or all_squares <= few * total[2, j] or left < few * squares[j, own]:
                odd[i] = True
                break
            floor = smoothing * all_squares / (N - w)
            more = floor - smoothing * total[2, j] / N
            before, after = 0.0, 0.0
            if prior > 0:
                before = prior * total[4, j]
                within = total[3, j] - squares[j, own] + left
                degrees = total[5, j] - max(m - prior, 0.0) + max(m - w - prior, 0.0)
                v = all_squares / (N - w)
                if within > 0 and degrees > 0:
                    v = min(v, within / degrees * _variance_limit(degrees / prior))
                after = prior * (within + prior * v) / (degrees + prior)
            if steady[j]:
                for c in range(K):
                    u = z - mean[j, c]
                    r = more * scale[j, c]
                    out[i, c] -= 0.5 * (u * u * scale[j, c] * (1.0 - r) + peak[j, c] + r)
                u = d
                r = more * scale[j, own]
                out[i, own] += 0.5 * (u * u * scale[j, own] * (1.0 - r) + peak[j, own] + r)
            else:
                for c in range(K):
                    if c != own:
                        v = variance[j, c] + more + (after - before) / max(n[j, c], prior) * (1.0 + prior / n[j, c])
                        u = z - mean[j, c]
                        out[i, c] -= 0.5 * (u * u / v + np.log(2 * np.pi * v))
            v = (left + after) / max(m - w, prior) * (1.0 + prior / (m - w)) + floor
            u = d * m / (m - w)
            out[i, own] -= 0.5 * (u * u / v + np.log(2 * np.pi * v))
