"""Normal log-densities of independent columns, each row without itself."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from .runtime.compiled import fast, fast_helper
from .runtime.types import Codes, Flags, Floats

Degrees = TypeVar("Degrees", float, Floats)
LOWER = -1.6449  # the 5 % quantile of the normal distribution


def variance_limit(degrees: Degrees) -> Degrees:
    """How many times the variance seen, with so many degrees of freedom, the true one may be, at 95 % confidence.

    df/χ²(5 %), by the cube of Wilson and Hilferty.
    """
    part = 2.0 / (9.0 * degrees)
    root = np.maximum(1.0 - part + LOWER * np.sqrt(part), 1e-3)
    return 1.0 / (root * root * root)


_variance_limit = fast_helper(variance_limit)


@fast
def normal_leave_one_out(
    x: Floats, codes: Codes, weights: Floats, n: Floats, mean: Floats, squares: Floats, variance: Floats,
    scale: Floats, peak: Floats, total: Floats, steady: Flags, smoothing: float, prior: float, few: float,
    out: Floats, odd: Flags,
) -> None:  # fmt: skip
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
                degrees = total[5, j] - (m - prior if m > prior else 0.0) + (m - w - prior if m - w > prior else 0.0)
                v = all_squares / (N - w)
                if within > 0 and degrees > 0:
                    limit = within / degrees * _variance_limit(degrees / prior)
                    v = limit if limit < v else v
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
                        rows_c = n[j, c] if n[j, c] > prior else prior
                        v = variance[j, c] + more + (after - before) / rows_c * (1.0 + prior / n[j, c])
                        u = z - mean[j, c]
                        out[i, c] -= 0.5 * (u * u / v + np.log(2 * np.pi * v))
            v = (left + after) / (m - w if m - w > prior else prior) * (1.0 + prior / (m - w)) + floor
            u = d * m / (m - w)
            out[i, own] -= 0.5 * (u * u / v + np.log(2 * np.pi * v))
