"""Keys of rows that rest on the order of values alone; columns and categories told apart by the rows they are in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array, Codes
from ..kernels.runtime.types import Bits, Places
from ..kernels.scrambled import B40, GOLDEN, UNIT, scrambled

MISSING, OF_CLASS = np.uint64(0x632BE59BD9B4E019), np.uint64(0xD1B54A32D192ED03)
TURNS = 3  # of telling categories apart: by their counts, by the rows they are in, by what is then known of these
FINE = 64 * float(np.pi)  # steps in which masses are told apart: no share of whole counts is near the edge of one


def add_ranks(x: Array, order: Places, weights: Array, salt: np.uint64, keys: Bits) -> None:
    """keys[i] += the scrambled rank of x[j, i] among the distinct values of its column, for every column j.

    ``order`` holds the places of a column from the least value to the greatest, NaN last.  Columns are told apart by
    how often each rank is there, so that a row whose columns exchange their ranks has another key.
    """
    total = float(weights.sum()) or 1.0
    for column, places in zip(x, order, strict=True):
        at, ranks = _ranks(column, places)
        mass = (weights[at] * (scrambled(salt + ranks * GOLDEN) >> B40)).sum(keepdims=True)
        mark = _hashed(mass, total, salt)
        keys[at] += scrambled(mark + ranks * GOLDEN)
        keys[places[len(at) :]] += MISSING


def add_categories(
    categories: Codes, sizes: Places, codes: Codes, K: int, weights: Array, salt: np.uint64,
    keys: Bits, hashes: Bits,
) -> None:  # fmt: skip
    """The keys of rows from their ranks (what ``keys`` holds before), their categories and their class.

    Categories have no order: what tells one from another is how often it is there, with which ranks and classes, and
    beside which other categories.  hashes[j, v] is what tells category v of column j, a row of ``categories``.
    """
    ranks, total = keys.copy(), float(weights.sum()) or 1.0
    for turn in range(TURNS):
        mass = weights * ((keys >> B40) if turn else UNIT)  # in the first turn all rows count alike
        of_class = _hashed(np.bincount(codes, mass, K), total, salt ^ OF_CLASS)
        new: Bits = ranks + of_class[codes]
        for each, size, hashed in zip(categories, sizes.tolist(), hashes, strict=True):
            there = each >= 0
            hashed[:size] = _hashed(np.bincount(each[there], mass[there], size), total, salt)
            new += np.append(hashed[:size], MISSING)[each]  # the last one for −1
        keys[:] = scrambled(new)


def marks_of_columns(x: Array, order: Places, categories: Codes, hashes: Bits, keys: Bits) -> list[int]:
    """What tells columns apart, those of numbers first: the sum over the rows of their keys with the value there."""
    marks = []
    for column, places in zip(x, order, strict=True):
        at, ranks = _ranks(column, places)
        marks.append(int(scrambled(keys[at] + ranks * GOLDEN).sum()))
    for each, hashed in zip(categories, hashes, strict=True):
        there = each >= 0
        marks.append(int(scrambled(keys[there] + hashed[each[there]]).sum()))
    return marks


def _ranks(column: Array, places: Places) -> tuple[Places, Bits]:
    """The places of what is there, from the least value to the greatest, and ranks among the distinct ones from 1."""
    values = column[places]
    values = values[: len(values) - int(np.isnan(values).sum())]
    new = np.ones(len(values), bool)
    new[1:] = values[1:] != values[:-1]
    return places[: len(values)], np.cumsum(new, dtype=np.uint64)


def _hashed(mass: NDArray[Any], total: float, salt: np.uint64) -> Bits:
    """A hash for each mass; those of whole weights are exact, others are told apart in steps that rounding is below."""
    return scrambled(salt + (mass / total * FINE + 0.5).astype(np.uint64) * GOLDEN)
