"""Arrays that belong together are of one length: a loop that ran past the end of one would read what is not its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def unlike(n: int, *arrays: NDArray[np.generic]) -> ValueError:
    """The error for arrays of which some do not have n rows."""
    found = ", ".join(str(len(array)) for array in arrays if len(array) != n)
    return ValueError(f"a kernel was given {n} rows and arrays for {found}; they must be as many")
