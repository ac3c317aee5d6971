"""Integer labels to codes, and how many rows (or what weight) each has."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import jit
from .runtime.lengths import unlike
from .runtime.types import Bytes, Codes, Floats, Integers


@jit
def mark_labels(y: Integers, low: int, seen: Bytes) -> None:
    """seen[label − low] = 1 for every label that occurs."""
    for i in range(y.shape[0]):
        seen[y[i] - low] = 1


def code_labels(y: Integers, low: int, place: Codes, codes: Codes, n: Floats) -> bool:
    """codes[i] = place[y[i] − low] and n[codes[i]] += 1; False where a label has no place."""
    if len(y) != len(codes):
        raise unlike(len(y), codes)
    return _code_labels(y, low, place, np.zeros((4, len(place)), np.int32), codes, n)


@jit
def _code_labels(y: Integers, low: int, place: Codes, tally: Codes, codes: Codes, n: Floats) -> bool:
    """Four labels at a time, each with its own tally, so that equal ones do not wait for each other."""
    rows = y.shape[0]
    most = np.uint64(place.shape[0])
    tally_a, tally_b, tally_c, tally_d = tally[0], tally[1], tally[2], tally[3]
    i = 0
    while i + 4 <= rows:
        a, b = np.uint64(y[i] - low), np.uint64(y[i + 1] - low)  # below low: very large
        c, d = np.uint64(y[i + 2] - low), np.uint64(y[i + 3] - low)
        if a >= most or b >= most or c >= most or d >= most:
            return False
        tally_a[a] += 1
        tally_b[b] += 1
        tally_c[c] += 1
        tally_d[d] += 1
        codes[i], codes[i + 1], codes[i + 2], codes[i + 3] = place[a], place[b], place[c], place[d]
        i += 4
    while i < rows:
        a = np.uint64(y[i] - low)
        if a >= most:
            return False
        tally_a[a] += 1
        codes[i] = place[a]
        i += 1
    for at in range(place.shape[0]):
        count = (tally_a[at] + tally_b[at]) + (tally_c[at] + tally_d[at])
        if count > 0:
            if place[at] < 0:
                return False
            n[place[at]] += count
    return True


def count_codes(codes: Codes, weights: Floats, n: Floats) -> None:
    """n[c] += w."""
    if len(codes) != len(weights):
        raise unlike(len(codes), weights)
    _count_codes(codes, weights, np.zeros((4, len(n))), n)


@jit
def _count_codes(codes: Codes, weights: Floats, tally: Floats, n: Floats) -> None:
    """Four tallies in turn, so that rows of one class do not wait for each other."""
    rows = codes.shape[0]
    K = n.shape[0]
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
