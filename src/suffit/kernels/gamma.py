"""The shapes of gamma columns."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import jit
from .runtime.types import Floats

SHIFT = 8  # from where on the series of ψ and ψ′ give all digits


@jit
def gamma_shapes(gap: Floats, steps: int, out: Floats) -> None:
    """The k with log k − ψ(k) = gap, by so many of Newton's steps on log k from a start within 2 %.

    ψ(k) = log z − 1/2z − Σ_j B_2j/(2j·z^2j) − Σ_{i<8} 1/(k+i), z = k + 8, and ψ′(k) likewise.
    """
    for e in range(gap.shape[0]):
        g = gap[e]
        k = (3 - g + np.sqrt((g - 3) * (g - 3) + 24 * g)) / (12 * g)
        for _ in range(steps):
            z = k + SHIFT
            r = 1 / z
            rr = r * r
            psi = rr * (1 / 12 + rr * (-1 / 120 + rr * (1 / 252 + rr * (-1 / 240 + rr * (1 / 132)))))
            far = rr * rr * rr
            far *= far
            psi += far * (-691 / 32760 + rr / 12)
            slope = rr * (1 / 6 + rr * (-1 / 30 + rr * (1 / 42 + rr * (-1 / 30 + rr * (5 / 66)))))
            slope += far * (-691 / 2730 + rr * 7 / 6)
            psi = np.log(z) - r / 2 - psi
            slope = r * (1 + r / 2 + slope)
            for i in range(SHIFT):
                one = 1 / (k + i)
                psi -= one
                slope += one * one
            move = (psi + g - np.log(k)) / (1 - k * slope)
            move = move if move > -2.0 else -2.0
            k = k * np.exp(move if move < 2.0 else 2.0)
        out[e] = k
