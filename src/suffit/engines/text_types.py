"""What cells of text and of JSON are: their types, and where a column changes its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from ..data.arrays import Codes

STRETCH = 20  # rows of numbers, and of words, from which a column changes its type and does not have both


def changes(codes: Codes, number: NDArray[np.bool_]) -> bool:
    """Whether numbers end and words begin at one row, or the other way round, in a column that is not sorted.

    ``codes``: the distinct value of each row; ``number``: which of these are numbers.
    """
    numeric = number[codes]
    if min(numeric.sum(), (~numeric).sum()) < STRETCH or (numeric[1:] != numeric[:-1]).sum() != 1:
        return False
    numbers = codes[numeric]
    return bool((numbers[1:] != numbers[:-1]).sum() >= number.sum())  # each by itself: as many changes as values less 1


def depth(line: bytes) -> int:
    """How many values lie inside each other in a line of JSON."""
    steps = [1 if c in b"[{" else -1 for c in re.findall(rb"[\[\]{}]", re.sub(rb'"(?:[^"\\]|\\.)*"', b"", line))]
    return int(np.cumsum(steps).max(initial=0))


def agreed(types: set[pa.DataType]) -> pa.DataType:
    """The type that holds all values of a column: that of all places, numbers together, else text; null: none yet."""
    import pyarrow as pa

    known = {t for t in types if not pa.types.is_null(t)}
    if len(known) <= 1:
        return known.pop() if known else pa.null()
    if all(pa.types.is_integer(t) or pa.types.is_floating(t) for t in known):
        return pa.float64()
    return pa.string()


def readable(cell: Any, kind: pa.DataType, decimal: str = ".") -> bool:
    """Whether a cell of text, or of JSON, can be read as this type."""
    import pyarrow as pa

    if isinstance(cell, str) and ("_" in cell or not cell.isascii()) and not pa.types.is_string(kind):
        return False  # Python takes 1_000 and digits of all scripts for numbers
    try:
        if pa.types.is_floating(kind):
            float(cell.translate({ord(decimal): ".", ord("."): decimal}) if isinstance(cell, str) else cell)
        elif pa.types.is_integer(kind):
            int(cell)
        elif pa.types.is_boolean(kind):
            return str(cell).lower() in ("true", "false", "0", "1")
        elif not pa.types.is_string(kind):
            pa.array([cell]).cast(kind)
        else:
            return isinstance(cell, str)
    except (ValueError, TypeError, pa.ArrowInvalid):
        return False
    return True


def in_words(kind: pa.DataType) -> str:
    """A type as people say it."""
    import pyarrow as pa

    if pa.types.is_integer(kind):
        return "an integer"
    if pa.types.is_floating(kind):
        return "a number"
    if pa.types.is_boolean(kind):
        return "true or false"
    return "text" if pa.types.is_string(kind) else f"a value of type {kind}"
