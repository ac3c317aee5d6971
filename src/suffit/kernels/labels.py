"""Integer labels to codes, and how many rows each has."""

from __future__ import annotations

from .compiled import jit


@jit
def mark_labels(y, low, seen):  # type: ignore[no-untyped-def]
    """seen[label − low] = 1 for every label that occurs."""
    for i in range(y.shape[0]):
        seen[y[i] - low] = 1


@jit
def code_labels(y, low, place, codes):  # type: ignore[no-untyped-def]
    """codes[i] = place[y[i] − low]."""
    for i in range(y.shape[0]):
        codes[i] = place[y[i] - low]


@jit
def count_codes(codes, weights, n):  # type: ignore[no-untyped-def]
    """n[c] += w."""
    for i in range(codes.shape[0]):
        n[codes[i]] += weights[i]
