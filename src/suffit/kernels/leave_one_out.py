"""Normal log-densities of rows under covariances without them, in the eigenvectors of the matrix before."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import fast
from .runtime.lengths import unlike
from .runtime.types import Codes, Floats

FACTORS = 16  # of a determinant, about 1 each, that are multiplied before a logarithm is taken


def downdated_squares(
    x: Floats, means: Floats, first: int, codes: Codes, grown: Floats, alpha: Floats, gamma: Floats, taken: Floats,
    values: Floats, usual: Floats, least_left: float, squares: Floats, log_det: Floats,
) -> None:  # fmt: skip
    """Σ v²/h + b (Σ uv/h)²/(1 − b Σ u²/h) and Σ log(h/usual) + log(1 − b Σ u²/h), h = α·λ + γ, b = α·taken.

    For classes that share a matrix: those from ``first`` on, as many as ``squares`` has columns.  u is the row's
    distance from the mean of its own class, v that from the mean of class k without the row; NaN where 1 − b Σ u²/h is
    not above ``least_left``.
    """
    if not len(x) == len(codes) == len(grown) == len(alpha) == len(gamma) == len(taken) == len(squares) == len(log_det):
        raise unlike(len(x), codes, grown, alpha, gamma, taken, squares, log_det)
    given = x, means, first, codes, grown, alpha, gamma, taken, values, usual, least_left
    _downdated_squares(*given, np.empty((3, x.shape[1])), squares, log_det)


@fast
def _downdated_squares(
    x: Floats, means: Floats, first: int, codes: Codes, grown: Floats, alpha: Floats, gamma: Floats, taken: Floats,
    values: Floats, usual: Floats, least_left: float, room: Floats, squares: Floats, log_det: Floats,
) -> None:  # fmt: skip
    """The same; room: (3, p)."""
    n, p = x.shape
    u_h, inverse, ratio = room[0], room[1], room[2]
    for i in range(n):
        c, a, g = codes[i], alpha[i], gamma[i]
        u_u, logs = 0.0, 0.0
        for j in range(p):
            h = a * values[j] + g
            ratio[j] = h / usual[j]
            inverse[j] = 1.0 / h
            u = x[i, j] - means[c, j]
            u_h[j] = u * inverse[j]
            u_u += u * u_h[j]
        for start in range(0, p, FACTORS):
            product = 1.0
            for j in range(start, start + FACTORS if start + FACTORS < p else p):
                product *= ratio[j]
            logs += np.log(product)
        b = a * taken[i]
        left = 1.0 - b * u_u
        if not left > least_left:
            log_det[i, 0] = np.nan
            for k in range(squares.shape[1]):
                squares[i, k] = np.nan
            continue
        log_det[i, 0] = logs + np.log(left)
        b /= left
        for k in range(squares.shape[1]):
            u_v, v_v = 0.0, 0.0
            if first + k == c:
                u_v, v_v = grown[i] * u_u, grown[i] * grown[i] * u_u
            else:
                for j in range(p):
                    v = x[i, j] - means[first + k, j]
                    u_v += v * u_h[j]
                    v_v += v * v * inverse[j]
            squares[i, k] = v_v + b * u_v * u_v


@fast
def forward_substituted(L: Floats, u: Floats) -> None:
    """L⁻¹u of every row in place, L its own lower triangle or the one there is."""
    n, p = u.shape
    for i in range(n):
        triangle = L[i if L.shape[0] > 1 else 0]
        row = u[i]
        for j in range(p):
            total = row[j]
            for k in range(j):
                total -= triangle[j, k] * row[k]
            row[j] = total / triangle[j, j]
