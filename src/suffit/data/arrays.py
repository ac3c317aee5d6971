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
