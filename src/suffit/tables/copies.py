"""Copies of rows: an oversampled class, a table joined twice, a weight of 10.

Leave-one-out takes a row for a stranger to all others.  Where copies of it stay behind, they explain it, and whatever
remembers single rows best is chosen.  Rows may also be equal by chance, in tables of categories or of coarse numbers:
these are strangers, though they look alike.  Two values of a column that come on a grid of step δ, with standard
deviation σ within a class, are equal by chance about once in 2√π σ/δ pairs.
"""

from __future__ import annotations

import math

import numpy as np

from ..data.arrays import Array, freeze
from ..data.rows import Rows
from .row_sample import Keyed, Places, by_class

BY_CHANCE = 20.0  # times as many pairs of equal rows as chance makes are copies
SAME = 1e-9  # of the range of a column: numbers no further apart are the same but for rounding


def distinct(keyed: Keyed, rows: Rows) -> tuple[Places, Rows] | None:
    """The first of equal rows of a class, with the weight of them all; None where chance explains those that are equal.

    # → (D,), rows
    """
    order = by_class(keyed.keys, rows)
    starts = np.flatnonzero(_differs(keyed, rows, order))
    weights = rows.part(0, len(rows))[1]
    total = np.add.reduceat(weights[order], starts)
    pairs = float(np.maximum(total * (total - 1), 0.0).sum()) / 2
    if not pairs or pairs <= BY_CHANCE * _pairs_by_chance(keyed, rows):
        return None
    first = np.minimum.reduceat(order, starts)
    place = np.argsort(first)
    return first[place], Rows(rows.classes, freeze(rows.codes[first[place]]), freeze(total[place]))


def _differs(keyed: Keyed, rows: Rows, order: Places) -> np.ndarray:
    """Whether a row differs from the one before it in this order; equal rows follow each other.  # → (n,)"""
    if not len(order):
        return np.zeros(0, bool)
    x, before = order, np.concatenate([order[:1], order[:-1]])
    differs = (keyed.keys[x] != keyed.keys[before]) | (rows.codes[x] != rows.codes[before])
    same = np.flatnonzero(~differs)
    a, b = x[same], before[same]
    numbers = keyed.columns.x
    unlike = ((numbers[:, a] != numbers[:, b]) & ~(np.isnan(numbers[:, a]) & np.isnan(numbers[:, b]))).any(axis=0)
    differs[same] = unlike | (keyed.coded[:, a] != keyed.coded[:, b]).any(axis=0)
    differs[0] = True
    return differs


def _pairs_by_chance(keyed: Keyed, rows: Rows) -> float:
    """About how many pairs of rows of a class chance makes equal, by the finest column of numbers.

    Without one any two may be: of categories, all pairs.
    """
    weights = rows.part(0, len(rows))[1]
    n = np.bincount(rows.codes, weights, len(rows.classes))
    out = float((n * n).sum()) / 2
    for x in keyed.columns.x:
        there = ~np.isnan(x)
        values = np.sort(x[there])
        if len(values) < 2 or values[-1] == values[0]:
            continue
        gaps = np.diff(values)
        step = gaps[gaps > SAME * (values[-1] - values[0])].min()
        spread = _within(x[there], rows.codes[there], weights[there], len(n))
        chance = step / (2 * math.sqrt(math.pi) * np.maximum(spread, step))
        present = np.bincount(rows.codes[there], weights[there], len(n)) / np.maximum(n, 1e-300)
        both = chance * present**2 + (1 - present) ** 2  # or both are missing
        out = min(out, float((n * n * np.minimum(both, 1.0)).sum()) / 2)
    return out


def _within(x: Array, codes: Array, weights: Array, classes: int) -> Array:
    """The standard deviation of each class.  # → (K,)"""
    n = np.maximum(np.bincount(codes, weights, classes), 1e-300)
    middle = float(np.mean(x))
    mean = np.bincount(codes, weights * (x - middle), classes) / n
    square = np.bincount(codes, weights * (x - middle) ** 2, classes) / n
    return np.sqrt(np.maximum(square - mean**2, 0.0))
