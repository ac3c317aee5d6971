"""Which rows of a table are looked at, and the fold of each: by the order of values, not by names, units or places.

A row has a key, a number as good as random, made of the ranks of its values among those of their columns.  Categories
and classes have no order, and their names do not count: they are distinguished by how often they occur, and with which
ranks and other categories; those that nothing distinguishes are exchangeable.  Equal rows have equal keys.  So neither
the order of the rows or columns, nor the names of columns, categories and classes, nor units change what is drawn.

Copies of rows: an oversampled class, a table joined twice, a weight of 10.

Leave-one-out takes a row for a stranger to all others.  Where copies of it stay behind, they explain it, and whatever
remembers single rows best is chosen.  Rows may also be equal by chance, in tables of categories or of coarse numbers:
these are strangers, though they look alike.  Two values of a column that come on a grid of step δ, with standard
deviation σ within a class, are equal by chance about once in 2√π σ/δ pairs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array, Codes, freeze
from ..data.column import BOOLEAN, EMPTY, INTEGER, NUMBER
from ..data.frame import Frame
from ..data.rows import Rows
from ..families.counts.binned import SortedColumns
from ..kernels.scrambled import B40, GOLDEN, UNIT, scrambled

Places = NDArray[np.int64]
Keys = NDArray[np.uint64]

LEAST_OF_CLASS = 100  # rows of a class that a sample holds, where there are as many and not too many classes
MOST_KEYED = 20_000  # rows of a table whose keys are found
BY_CHANCE = 20.0  # times as many pairs of equal rows as chance makes are copies
SAME = 1e-9  # of the range of a column: numbers no further apart are the same but for rounding

MISSING, OF_CLASS, NO_SALT = np.uint64(0x632BE59BD9B4E019), np.uint64(0xD1B54A32D192ED03), np.uint64(0)
TURNS = 3  # of telling categories apart: by their counts, by the rows they are in, by what is then known of these
FINE = 64 * float(np.pi)  # steps in which masses are told apart: no share of whole counts is near the edge of one


@dataclass(frozen=True)
class Keyed:
    """The keys of all rows of a table, and what was sorted to find them."""

    keys: Keys
    numbers: tuple[str, ...]  # the columns of numbers
    columns: SortedColumns
    coded: NDArray[np.int32]  # (categorical columns, n), −1 where missing
    marks: dict[str, int]  # what tells a column from the others
    of_categories: dict[str, dict[Hashable, int]]  # of every column of categories, what tells each from the others

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Columns in an order that depends on their values alone, so that rounding is the same under other names."""
        return sorted(names, key=self.marks.__getitem__)


def keyed(frame: Frame, names: Iterable[str], rows: Rows) -> Keyed:
    """Keys of the rows of a table, all of which have weight, from these columns and the class."""
    kinds = {name: frame.columns[name].kind() for name in names}
    numeric = (NUMBER, INTEGER, BOOLEAN)
    numbers = tuple(name for name, kind in kinds.items() if kind in numeric)
    other = [name for name, kind in kinds.items() if kind not in (*numeric, EMPTY)]
    n, keys = frame.n_rows, np.zeros(frame.n_rows, np.uint64)
    x = np.empty((n, len(numbers)))
    for j, name in enumerate(numbers):
        x[:, j] = frame.columns[name].numbers()
    columns = SortedColumns.of(x)
    weights = rows.part(0, n)[1]
    ranked = [_ranks(x, order) for x, order in zip(columns.x, columns.order, strict=True)]
    add_ranks(ranked, weights, keys)
    categories = [frame.columns[name].categories() for name in other]
    coded = np.empty((len(other), n), np.int32)
    for j, (_, codes) in enumerate(categories):
        coded[j] = codes
    sizes = np.array([len(values) for values, _ in categories], np.int64)
    hashed = np.zeros((len(other), int(sizes.max(initial=0))), np.uint64)
    add_categories(coded, sizes, rows.codes, len(rows.classes), weights, keys, hashed)
    marks = marks_of_columns(ranked, coded, hashed, keys)
    of_categories = {
        name: dict(zip(values, each.tolist(), strict=False))
        for name, (values, _), each in zip(other, categories, hashed, strict=True)
    }
    of_columns = dict(zip([*numbers, *other], marks, strict=True))
    return Keyed(keys, numbers, columns, coded, dict.fromkeys(kinds, 0) | of_columns, of_categories)


class Ranked(NamedTuple):
    """Ranks from 1 among the distinct values of a column, the places of the rows that have them, and of the others."""

    ranks: Keys
    at: Places
    missing: Places


def _ranks(column: Array, order: Places) -> Ranked:
    """``order`` holds the places of a column from the least value to the greatest, NaN last."""
    values = column[order]
    n = len(values) - int(np.isnan(values).sum())
    new = np.ones(n, bool)
    new[1:] = values[1:n] != values[: n - 1]
    return Ranked(np.cumsum(new, dtype=np.uint64), order[:n], order[n:])


def add_ranks(ranked: Iterable[Ranked], weights: Array, keys: Keys) -> None:
    """keys[i] += the scrambled rank of row i in every column.

    Columns are told apart by how often each rank is there, so that a row whose columns exchange their ranks has another
    key.
    """
    total = float(weights.sum()) or 1.0
    for ranks, at, missing in ranked:
        mass = (weights[at] * (scrambled(ranks * GOLDEN) >> B40)).sum(keepdims=True)
        keys[at] += scrambled(_hashed(mass, total) + ranks * GOLDEN)
        keys[missing] += MISSING


def add_categories(
    categories: Codes, sizes: Places, codes: Codes, K: int, weights: Array, keys: Keys, hashes: Keys
) -> None:
    """The keys of rows from their ranks (what ``keys`` holds before), their categories and their class.

    Categories have no order: what tells one from another is how often it is there, with which ranks and classes, and
    beside which other categories.  hashes[j, v] is what tells category v of column j, a row of ``categories``.
    """
    ranks, total = keys.copy(), float(weights.sum()) or 1.0
    for turn in range(TURNS):
        mass = weights * ((keys >> B40) if turn else UNIT)  # in the first turn all rows count alike
        of_class = _hashed(np.bincount(codes, mass, K), total, OF_CLASS)
        new: Keys = ranks + of_class[codes]
        for each, size, hashed in zip(categories, sizes.tolist(), hashes, strict=True):
            there = each >= 0
            hashed[:size] = _hashed(np.bincount(each[there], mass[there], size), total)
            new += np.append(hashed[:size], MISSING)[each]  # the last one for −1
        keys[:] = scrambled(new)


def marks_of_columns(ranked: Iterable[Ranked], categories: Codes, hashes: Keys, keys: Keys) -> list[int]:
    """What tells columns apart, those of numbers first: the sum over the rows of their keys with the value there."""
    marks = [int(scrambled(keys[at] + ranks * GOLDEN).sum()) for ranks, at, _ in ranked]
    for each, hashed in zip(categories, hashes, strict=True):
        there = each >= 0
        marks.append(int(scrambled(keys[there] + hashed[each[there]]).sum()))
    return marks


def _hashed(mass: NDArray[Any], total: float, salt: np.uint64 = NO_SALT) -> Keys:
    """A hash for each mass; those of whole weights are exact, others are told apart in steps that rounding is below."""
    return scrambled(salt + (mass / total * FINE + 0.5).astype(np.uint64) * GOLDEN)


# --- samples and folds


def folds_of(keys: Keys, rows: Rows, folds: int) -> Places:
    """A fold for every row: those of a class in turn, by their keys; rows that are equal are in the same one."""
    order = by_class(keys, rows)
    sizes = np.bincount(rows.codes, minlength=len(rows.classes))
    another = np.diff(keys[order], prepend=keys[order[:1]]) != 0
    rank = np.cumsum(another)
    firsts = np.cumsum(sizes) - sizes
    rank -= np.repeat(rank[np.minimum(firsts, len(rank) - 1)], sizes)
    out = np.empty(len(rows), np.int64)
    out[order] = rank % folds
    return out


def sample(frame: Frame, names: Iterable[str], rows: Rows, most: int) -> Places:
    """The rows that weigh anything; of more than ``most``, so many, of every class by its share.

    By their keys; of very many rows, by their places.
    """
    heavy = rows.with_positive_weight(MOST_KEYED)
    if len(heavy) <= most:
        return heavy
    if len(heavy) == MOST_KEYED:
        return rows.with_positive_weight(most)
    few = rows.some(heavy)
    return heavy[drawn(keyed(frame.rows(heavy), names, few).keys, few, most, least=1)]


def drawn(keys: Keys, rows: Rows, most: int, least: int = LEAST_OF_CLASS) -> Places:
    """The rows of the least keys, ``most`` of them, of every class as many as allotted.  # → (most,), in order"""
    if len(rows) <= most:
        return np.arange(len(rows))
    order = by_class(keys, rows)
    sizes = np.bincount(rows.codes, minlength=len(rows.classes))
    within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = within < np.repeat(allotted(sizes, most, least), sizes)
    rest = order[~chosen]
    left = most - (len(rows) - len(rest))  # rounding down has left some
    return np.sort(np.concatenate([order[chosen], rest[np.argsort(keys[rest], kind="stable")[:left]]]))


def by_class(keys: Keys, rows: Rows) -> Places:
    """The places of the rows by class, key and weight."""
    order = np.argsort(keys) if rows.weights is None else np.lexsort((rows.weights, keys))
    codes = rows.codes[order]
    return order[np.argsort(codes.astype(np.uint16) if len(rows.classes) <= 1 << 16 else codes, kind="stable")]


def allotted(sizes: NDArray[np.int64], most: int, least: int = LEAST_OF_CLASS) -> NDArray[np.int64]:
    """How many rows of each class to look at: by its share, and enough of a rare one.

    >>> allotted(np.array([10, 300, 9690]), 1000)
    array([ 10, 116, 873])
    """
    enough = np.minimum(sizes, min(least, most // (2 * max(1, int((sizes > 0).sum())))))
    beyond = sizes - enough
    share = max(0, most - int(enough.sum())) / max(1, int(beyond.sum()))
    return np.asarray(enough + np.floor(np.minimum(share, 1.0) * beyond).astype(np.int64))


def some_rows(rows: Rows, most: int) -> Places:
    """The rows that weigh anything; of more than ``most``, about so many by their places, of each class as allotted."""
    sizes = rows.sizes_with_weight()
    if 2 * len(sizes) > most or int(sizes.sum()) <= most:
        return rows.with_positive_weight(most)
    return rows.drawn(allotted(sizes, most))


def repeated(places: Places, rows: Rows, most: int) -> tuple[Places, Rows]:
    """These rows as often as they weigh, where that is a whole number of times, ``most`` in all; else as they are."""
    if rows.weights is None or rows.weights.sum() > most or (rows.weights % 1).any():
        return places, rows
    times = rows.weights.astype(np.int64)
    return np.repeat(places, times), Rows(rows.classes, freeze(np.repeat(rows.codes, times)))


def reweighted(some: Rows, counts: Array) -> Array:
    """Weights of some rows under which each class has its share of ``counts``, and all together weigh as much."""
    here = some.counts()
    there = np.where(here > 0, counts, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.where(here > 0, there / here, 0.0) * (here.sum() / there.sum())
    return np.asarray(some.part(0, len(some))[1] * factor[some.codes])


# --- copies


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
