"""Categories and bins as numbers: one column of an array for each."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import jit


@jit
def mark_categories(codes, places, values, out):  # type: ignore[no-untyped-def]
    """out[i, at] = values[at], at = places[code]; NaN everywhere for a code or a place of −1, nothing for another."""
    for i in range(len(codes)):
        at = places[codes[i]] if codes[i] >= 0 else -1
        if at >= 0:
            out[i, at] = values[at]
        elif at == -1:
            for j in range(out.shape[1]):
                out[i, j] = np.nan


@jit
def mark_bins(x, edges, values, out):  # type: ignore[no-untyped-def]
    """The same for the bin of x: at is how many edges are at or below it, and NaN is missing."""
    for i in range(len(x)):
        if x[i] != x[i]:
            for j in range(out.shape[1]):
                out[i, j] = np.nan
            continue
        low, high = 0, len(edges)
        while low < high:
            middle = (low + high) >> 1
            if x[i] >= edges[middle]:
                low = middle + 1
            else:
                high = middle
        out[i, low] = values[low]
