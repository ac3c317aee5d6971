"""Integer labels to codes, and how many rows each has."""

from __future__ import annotations

import numpy as np

from .compiled import jit


@jit
def mark_labels(y, low, seen):  # type: ignore[no-untyped-def]
    """seen[label − low] = 1 for every label that occurs."""
    for i in range(y.shape[0]):
        seen[y[i] - low] = 1


@jit
def code_labels(y, low, place, codes):  # type: ignore[no-untyped-def]
    """codes[i] = place[y[i] − low]; False where a label has no place."""
    most = np.uint64(place.shape[0])
    signs = np.int32(0)
    for i in range(y.shape[0]):
        at = np.uint64(y[i] - low)  # below low: very large
        if at >= most:
            return False
        c = place[at]
        signs |= c
        codes[i] = c
    return signs >= 0


@jit
def count_codes(codes, weights, n):  # type: ignore[no-untyped-def]
    """n[c] += w; four tallies in turn, so that rows of one class do not wait for each other."""
    rows = codes.shape[0]
    K = n.shape[0]
    tally = np.zeros((4, K))
    i = 0
    while i + 4 <= rows:
        tally[0, codes[i]] += weights[i]
        tally[1, codes[i + 1]] += weights[i + 1]
        tally[2, codes[i + 2]] += weights[i + 2]
        tally[3, codes[i + 3]] += weights[i + 3]
        i += 4
    while i < rows:
        tally[0, codes[i]] += weights[i]
        i += 1
    for c in range(K):
        n[c] += (tally[0, c] + tally[1, c]) + (tally[2, c] + tally[3, c])
