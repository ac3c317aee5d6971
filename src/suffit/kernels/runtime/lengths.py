"""Arrays that belong together are of one length: a loop that ran past the end of one would read what is not its own."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def check_rows(n: int, *arrays: NDArray[Any]) -> None:
    """Raise where an array does not have n rows."""
    for array in arrays:
        if len(array) != n:
            raise ValueError(f"a kernel was given {n} rows and an array for {len(array)}; they must be as many")
