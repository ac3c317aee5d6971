"""Amounts: numbers from 0 on whose sum is all that a class needs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...data.arrays import Array
from .shape import Elementwise


class Amount(Elementwise):
    """x ≥ 0 with T(x) = x: counts, waiting times."""

    from_0: ClassVar[bool] = True
    support: ClassVar[str] = "needs x ≥ 0 (Negative values in data)"

    def outside(self, x: Array) -> NDArray[np.bool_]:
        """Negative; fractional counts are taken."""
        return x < 0

    def infeasible(self, n: Array, t: Array, slack: Array) -> NDArray[np.bool_]:
        """Σx ≥ 0."""
        return np.asarray(t[..., 0] < -slack[..., 0])

    @property
    def adds_entries(self) -> bool:
        """T(x) = x."""
        return True

    def T(self, x: Array) -> Array:
        return x[..., None]
