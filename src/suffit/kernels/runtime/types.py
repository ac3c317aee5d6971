"""What kernels are given: arrays, contiguous in C order; those that they do not write to may be read-only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integer = int | np.int64  # a count that helpers are given begins as np.int64(0): a constant would be another type
Floats = NDArray[np.float64]
Numbers = NDArray[np.floating]  # as users hand them in: float32 or float64
Integers = NDArray[np.integer]
Places = NDArray[np.int64]
Codes = NDArray[np.int32]  # of classes, or of the categories of columns: −1 is missing
Bits = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
