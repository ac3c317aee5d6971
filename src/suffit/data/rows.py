"""The labels and weights of rows: labels as codes, samples of rows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..kernels.runtime.threads import in_order, row_blocks
from .arrays import Array, Cells, Codes, freeze
from .labels import Index

_TABLE_LIMIT = 1 << 16  # integer labels up to this range are coded by table look-up instead of sorting


FEW_WORDS = 256  # different words up to which they are coded without sorting


FEW_LABELS = 1024  # which NumPy sorts in less time than anybody notices: no need to compile anything
FIRST_LABELS = 4096  # rows whose labels are taken to be all, until another comes


_MOST_ONES = 1 << 18


_ones = np.ones(0)


def as_rows(weights: Array) -> Array:
    """Weights whose sum is no less than the number of rows they are worth (Kish): those of whole rows stay."""
    return weights * max(1.0, rows_worth(weights) / (float(weights.sum()) or 1.0))


def rows_worth(weights: Array) -> float:
    """How many rows weights are worth: (Σw)²/Σw² (Kish 1965), 0 where all are 0."""
    shares = weights / (float(weights.max(initial=0.0)) or 1.0)  # whose squares neither vanish nor overflow
    return float(shares.sum()) ** 2 / max(float(shares @ shares), 1.0)


@dataclass(frozen=True)
class Rows:
    """The labels and weights of some rows: class codes into ``classes`` and one weight per row."""

    classes: Index
    codes: Codes
    weights: Array | None = None
    sizes: Array | None = None  # rows of each class, where known

    @classmethod
    def of(cls, y: Cells, weights: Array | None = None) -> Rows:
        """Rows with these labels."""
        labels, codes, sizes = encode(y)
        return cls(Index(tuple(labels)), freeze(codes), None if weights is None else freeze(weights), freeze(sizes))

    def __len__(self) -> int:
        return len(self.codes)

    def part(self, start: int, stop: int) -> tuple[Codes, Array]:
        """Codes and weights of the rows [start, stop), read-only."""
        global _ones
        if self.weights is not None:
            return self.codes[start:stop], self.weights[start:stop]
        if stop - start > _MOST_ONES:
            return self.codes[start:stop], freeze(np.ones(stop - start))
        if len(_ones) < stop - start:
            ones = np.ones(stop - start)
            ones.flags.writeable = False
            _ones = ones
        return self.codes[start:stop], _ones[: stop - start]

    def with_positive_weight(self, most: int | None = None) -> NDArray[np.int64]:
        """Indices of the rows with positive weight; if more than ``most``, a stratified sample of that size."""
        if most is None or len(self) <= most or (sizes := self.sizes_with_weight()).sum() <= most:
            return np.arange(len(self)) if self.weights is None else np.flatnonzero(self.weights > 0)
        ends = np.floor(np.cumsum(sizes) * (most / int(sizes.sum())) + 0.5).astype(np.int64)
        return self.drawn(np.diff(ends, prepend=0))

    def sizes_with_weight(self) -> NDArray[np.int64]:
        """How many rows of each class have positive weight."""
        from ..kernels.row_sample import count_with_weight

        if self.weights is None and self.sizes is not None:
            return self.sizes.astype(np.int64)
        sizes = np.zeros(len(self.classes), np.int64)
        count_with_weight(self.codes, self._given, sizes)
        return sizes

    def drawn(self, wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """So many of the rows of each class that weigh anything, in order: by their places, as if at random.

        One from each of as many stretches of rows: neighbours may be alike, or classes alternate.
        """
        from ..kernels.row_sample import draw_by_place

        out = np.empty(int(wanted.sum()), np.int64)
        draw_by_place(self.codes, self._given, freeze(self.sizes_with_weight()), freeze(wanted), out)
        return out

    @property
    def _given(self) -> Array:
        """The weights; an empty array where every row has weight 1."""
        return freeze(np.empty(0)) if self.weights is None else self.weights

    def without(self, which: NDArray[np.bool_]) -> Rows:
        """All of them, these with no weight."""
        return replace(self, weights=freeze(np.where(which, 0.0, self.part(0, len(self))[1])))

    def one_of_each(self) -> Rows:
        """The weights that leave-one-out removes: 1 of a row of weight 3 (three rows), all of a weight below 1."""
        return self if self.weights is None else replace(self, weights=freeze(np.minimum(self.weights, 1.0)))

    def some(self, which: NDArray[np.int64]) -> Rows:
        """Only these rows."""
        weights = None if self.weights is None else freeze(self.weights[which])
        return Rows(self.classes, freeze(self.codes[which]), weights)

    def as_rows(self) -> Rows:
        """Weights that are shares made to count as rows: (Σw)²/Σw² of them, where they sum to less."""
        if self.weights is None or not self.weights.any():
            return self
        return replace(self, weights=freeze(as_rows(self.weights)))

    def with_weight(self) -> Rows:
        """The same rows on the classes that weigh anything; no other may have a row."""
        kept = np.flatnonzero(self.counts() > 0)
        if len(kept) == len(self.classes):
            return self
        place = np.zeros(len(self.classes), np.int32)
        place[kept] = np.arange(len(kept))
        return Rows(self.classes.take(kept), freeze(place[self.codes]), self.weights)

    def members(self) -> Array:
        """The weight of every row in its class, 0 in the others.  # → (K, n)"""
        codes, weights = self.part(0, len(self))
        return np.equal.outer(np.arange(len(self.classes)), codes) * weights

    def counts(self) -> Array:
        """Total weight of each class."""
        from ..kernels.labels import count_codes

        if self.weights is None and self.sizes is not None:
            return self.sizes

        if len(self) <= FEW_LABELS:
            codes, weights = self.part(0, len(self))
            return np.bincount(codes, weights, len(self.classes)).astype(np.float64, copy=False)

        def work(start: int, stop: int) -> Array:
            n = np.zeros(len(self.classes))
            count_codes(*self.part(start, stop), n)
            return n

        return sum(in_order(work, row_blocks(len(self), 1)), np.zeros(len(self.classes)))


NOTHING_MISSING = np.zeros(0, np.uint8)


NOTHING_MISSING.flags.writeable = False


def is_missing(category: object) -> bool:
    """None, NaN and the missing markers of data frames (anything not equal to itself)."""
    if category is None:
        return True
    try:
        return bool(category != category)
    except TypeError:  # pandas.NA: its truth is undefined
        return True
    except ValueError:  # an array, which is no single value
        return False


def _integer_codes(y: Cells) -> tuple[Cells, Codes, Array] | None:
    """Labels, codes and counts of small-range integers by table look-up, where sorting costs more than a fit.

    The labels of the first rows are mostly all there are: one pass, and another where they are not.
    """
    from ..kernels.labels import code_labels, mark_labels

    codes, y = np.empty(len(y), np.int32), np.ascontiguousarray(y)
    for some in (y[:FIRST_LABELS], y):
        low, high = int(some.min()), int(some.max())
        if high - low >= _TABLE_LIMIT or high > np.iinfo(np.int64).max:
            return None
        wide = freeze(cast("NDArray[np.int64]", y) if y.dtype in (np.int32, np.int64) else y.astype(np.int64))
        seen = np.zeros(high - low + 1, dtype=np.uint8)
        mark_labels(wide[: len(some)], low, seen)
        place = np.cumsum(seen, dtype=np.int32) - 1
        place[seen == 0] = -1
        place = freeze(place)

        values = np.flatnonzero(seen) + low

        def work(
            a: int, b: int, wide: NDArray[np.int64] = wide, low: int = low, place: Codes = place, k: int = len(values)
        ) -> Array | None:
            n = np.zeros(k)
            return n if code_labels(wide[a:b], low, place, codes[a:b], n) else None

        blocks = row_blocks(len(y), 1)
        counts = [n for n in in_order(work, blocks) if n is not None]
        if len(counts) == len(blocks):
            return values.astype(y.dtype), codes, sum(counts, np.zeros(len(values)))
    raise AssertionError("labels that were marked are known")


def _word_codes(y: Cells) -> tuple[Cells, Codes, Array] | None:
    """Codes of words of which few are different: 20,000 in 0.5 ms, by np.unique 2.4 ms, by pandas 1.3 ms."""
    from ..kernels.words import code_words

    width, letters = y.dtype.itemsize, freeze(freeze(y).view(np.uint8))
    codes, firsts = np.empty(len(y), np.int32), np.empty(FEW_WORDS, np.int64)
    starts = freeze(np.arange(0, (len(y) + 1) * width, width))
    n = code_words(letters, starts, NOTHING_MISSING, 0, codes, firsts)
    if n < 0:
        return None
    values = y[firsts[:n]]
    order = np.argsort(values)
    place = np.empty(n, np.int32)
    place[order] = np.arange(n)
    return values[order], place[codes], np.bincount(codes, minlength=n)[order].astype(np.float64)


def encode(y: Cells) -> tuple[list[Hashable], Codes, Array]:
    """Distinct labels (as Python values, in the order of :class:`Index`), the code of each row, rows of each label."""
    if y.size == 0:
        return [], np.zeros(0, np.int32), np.zeros(0)
    coded = None
    if y.dtype.kind in "iub" and len(y) > FEW_LABELS:
        coded = _integer_codes(y.view(np.uint8) if y.dtype.kind == "b" else y)
        if coded is not None and y.dtype.kind == "b":
            coded = (coded[0].astype(bool), *coded[1:])
    elif y.dtype.kind == "U" and len(y) > FEW_LABELS:
        coded = _word_codes(y)
    if coded is None and y.dtype.kind != "O":
        values, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
        coded = values, inverse.reshape(-1).astype(np.int32), counts.astype(np.float64)
    if coded is not None:
        return coded[0].tolist(), *coded[1:]
    index = Index.of(y.tolist())
    position = index.position
    codes = np.fromiter((position[v] for v in y.tolist()), np.int32, len(y))
    return list(index.labels), codes, np.bincount(codes, minlength=len(index)).astype(np.float64)


def plain(category: Hashable) -> Hashable:
    """A category as a plain Python value; whole floats are the integers they equal."""
    if isinstance(category, float) and category.is_integer():
        return int(category)
    return category


def column_codes(column: Cells) -> tuple[list[Hashable], Codes]:
    """The distinct categories of one column and the code of each row, −1 where missing."""
    if column.dtype.kind in "iub":
        return encode(column)[:2]
    if column.dtype.kind == "f":
        values, places = np.unique(column, return_inverse=True)  # NaN sorts last
        codes = places.reshape(-1).astype(np.int32)
        here = values == values
        return [plain(v) for v in values[here].tolist()], np.where(codes < here.sum(), codes, -1).astype(np.int32)
    if column.dtype.kind != "O":
        return encode(column)[:2]
    table: dict[Hashable, int] = {}
    codes = np.empty(len(column), np.int32)
    for i, category in enumerate(column.tolist()):
        codes[i] = -1 if is_missing(category) else table.setdefault(plain(category), len(table))
    return list(table), codes
