"""Numbers that settings may be: refused by name where they are not."""

from __future__ import annotations

import math
from typing import cast

import numpy as np


def number(value: object, name: str, low: float = -np.inf, high: float = np.inf, above_low: bool = False) -> float:
    """A finite number in [low, high], or in (low, high]."""
    try:
        x = math.nan if isinstance(value, bool | str | bytes) else float(cast("float", value))
    except (TypeError, ValueError):
        x = math.nan
    if not (math.isfinite(x) and low <= x <= high and not (above_low and x == low)):
        span = "" if math.isinf(high) else f" in {'(' if above_low else '['}{low:g}, {high:g}]"
        raise ValueError(f"{name}={value!r}: must be a finite number{span}")
    return x


def integer(value: object, name: str, low: int) -> int:
    """An integer of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name}={value!r}: must be an integer of at least {low}")
    return int(value)
