"""Rows drawn from very many by their places."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import helper, jit
from .runtime.lengths import unlike
from .runtime.types import Codes, Floats, Places
from .scrambled import B40, GOLDEN, UNIT, scrambled

_scrambled = helper(scrambled)


@jit
def count_with_weight(codes: Codes, weights: Floats, count: Places) -> None:
    """How many rows of each class weigh anything; no weights: all do."""
    for i in range(codes.shape[0]):
        if weights.shape[0] == 0 or weights[i] > 0.0:
            count[codes[i]] += 1


def draw_by_place(codes: Codes, weights: Floats, count: Places, wanted: Places, out: Places) -> int:
    """wanted[c] of the count[c] rows of each class that weigh anything: one at random from each of as many stretches.

    Stretches are of equal length and one after another; the places drawn are in order.  Returns how many.
    """
    if len(weights) and len(weights) != len(codes):
        raise unlike(len(codes), weights)
    return _draw(codes, weights, count, wanted, np.zeros((3, len(count)), np.int64), out)


@jit
def _draw(codes: Codes, weights: Floats, count: Places, wanted: Places, room: Places, out: Places) -> int:
    """The same; room (3, K) begins with zeros."""
    seen, taken, pick = room[0], room[1], room[2]
    state, found = np.uint64(0), 0
    for c in range(count.shape[0]):
        pick[c] = -1
        if wanted[c] > 0:
            state += GOLDEN
            u = np.float64(_scrambled(state) >> B40) / UNIT
            pick[c] = np.int64(u * count[c] / wanted[c])
    for i in range(codes.shape[0]):
        c = codes[i]
        if weights.shape[0] and not weights[i] > 0.0:
            continue
        if seen[c] == pick[c]:
            out[found] = i
            found += 1
            taken[c] += 1
            if taken[c] < wanted[c]:
                state += GOLDEN
                u = np.float64(_scrambled(state) >> B40) / UNIT
                place = np.int64((taken[c] + u) * count[c] / wanted[c])
                pick[c] = place if place > seen[c] else seen[c] + 1
        seen[c] += 1
    return found
