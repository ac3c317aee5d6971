"""The arrays that everything is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


Codes = NDArray[np.int32]


def freeze(a: NDArray[Any]) -> NDArray[Any]:
    """A read-only view, so that kernels meet one array type."""
    a = np.ascontiguousarray(a).view()
    a.setflags(write=False)
    return a


def sum_is_finite(a: NDArray[Any]) -> bool:
    """Whether a sum shows that all numbers are finite; False: one is not, or they are very large."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(a.sum()))


def adds_up(a: NDArray[Any]) -> bool:
    """Whether a sum shows that no number is NaN; False: one is, or infinities cancel."""
    with np.errstate(invalid="ignore", over="ignore"):
        return not np.isnan(a.sum())
