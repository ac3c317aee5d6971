"""The arrays that everything is made of."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


Codes = NDArray[np.int32]
Cells = NDArray[np.generic]  # values of any type

Value = TypeVar("Value", bound=np.generic)


def freeze(a: NDArray[Value]) -> NDArray[Value]:
    """A read-only view, so that kernels meet one array type."""
    a = np.ascontiguousarray(a).view()
    a.setflags(write=False)
    return a


def sum_is_finite(a: Cells) -> bool:
    """Whether a sum shows that all numbers are finite; False: one is not, or they are very large."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(a.sum()))


def adds_up(a: Cells) -> bool:
    """Whether a sum shows that no number is NaN; False: one is, or infinities cancel."""
    with np.errstate(invalid="ignore", over="ignore"):
        return not np.isnan(a.sum())
