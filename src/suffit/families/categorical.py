"""Categorical: columns of levels, whatever the levels are, with their conditional probability tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Scorer, least, register
from ..forms import Impossible, LogisticForm
from ..kernels.threads import COPY_CELLS, in_order, row_blocks
from ..stats import CLASS, LEVEL, Array, Index, Stats, layout
from ..table import Codes, InputError, Rows, encode, freeze, is_missing
from .simplex import draw_shares, log_shares, names_of

LEVELS = layout("levels", {"count": (CLASS, LEVEL)})

DENSE_LIMIT = 1 << 16  # whole numbers 0 … max below this are all levels, seen or not, as an integer coding means


def plain(level: Any) -> Hashable:
    """A level as a plain Python value; whole floats are the integers they equal."""
    if isinstance(level, float) and level.is_integer():
        return int(level)
    return level  # type: ignore[no-any-return]


def whole(X: NDArray[Any]) -> NDArray[Any]:
    """Integers as int64 rows in one piece (a view where they are that already)."""
    return freeze(X.astype(np.int64, copy=False))


def column_codes(column: NDArray[Any]) -> tuple[list[Hashable], Codes]:
    """The distinct levels of one column and the code of each row, −1 where missing."""
    if column.dtype.kind in "iub":
        return encode(column)
    if column.dtype.kind == "f":
        values, places = np.unique(column, return_inverse=True)  # NaN sorts last
        codes = places.reshape(-1).astype(np.int32)
        here = values == values
        return [plain(v) for v in values[here].tolist()], np.where(codes < here.sum(), codes, -1).astype(np.int32)
    if column.dtype.kind != "O":
        return encode(column)
    table: dict[Hashable, int] = {}
    codes = np.empty(len(column), np.int32)
    for i, level in enumerate(column.tolist()):
        codes[i] = -1 if is_missing(level) else table.setdefault(plain(level), len(table))
    return list(table), codes


@register
@dataclass(frozen=True)
class Categorical(Family):
    """P(x_j = v | c) = (N_jv|c + α)/(N_j|c + α·levels of j).

    A missing value and a level never seen drop out of the sum.  A column of whole numbers 0 … max has max + 1 levels,
    whether seen or not; ``least_levels`` sets a least number of them (a number for all columns, or one for each).
    """

    alpha: float = 1.0
    least_levels: int | tuple[int, ...] | None = None

    key: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        least(self, "alpha", self.alpha, 0.0)

    def collect(self, X: NDArray[Any], rows: Rows, columns: Sequence[str]) -> Stats:
        """Rows of every class at every level of every column."""
        if X.dtype.kind in "iu" and X.size:
            counted = self._count_integers(X, rows)
            if counted is not None:
                return self._stats(rows, *counted)
        found: list[list[Hashable]] = []
        counts = [np.zeros((len(rows.classes), 0))]
        for j in range(X.shape[1]):  # one column at a time: codes of all would double the memory
            values, codes = column_codes(X[:, j])
            found.append(values)
            counts.append(self._count(codes[:, None], [len(values)], rows))
        return self._stats(rows, found, np.concatenate(counts, axis=1))

    def surely_valid(self, X: Any) -> bool:
        """Integers are levels, all of them."""
        return isinstance(X, np.ndarray) and X.dtype.kind in "iu"

    def _count(self, codes: NDArray[np.int32], sizes: Sequence[int], rows: Rows) -> Array:
        from ..kernels.counts import level_counts

        offsets = freeze(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
        total = np.zeros((len(rows.classes), int(offsets[-1])))

        def work(start: int, stop: int) -> Array:
            part = np.zeros_like(total)
            level_counts(freeze(codes[start:stop]), offsets, *rows.part(start, stop), part)
            return part

        for part in in_order(work, row_blocks(len(codes), codes.shape[1])):
            total += part
        return total

    def _count_integers(self, X: NDArray[Any], rows: Rows) -> tuple[list[list[int]], Array] | None:
        """Integers are their own codes: one pass where the first rows show the range, two where they do not."""
        head = X[:4096]
        low, high = np.minimum(head.min(axis=0), 0).astype(np.int64), head.max(axis=0).astype(np.int64)
        count = self._count_range(X, rows, low, high)
        if count is None:
            low, high = (X.min(axis=0).astype(object), X.max(axis=0).astype(object))
            if int((high - low).max()) >= DENSE_LIMIT:
                return None
            low, high = low.astype(np.int64), high.astype(np.int64)
            count = self._count_range(X, rows, low, high)
        if count is None:
            return None
        return [list(range(int(a), int(b) + 1)) for a, b in zip(low, high, strict=True)], count

    def _count_range(
        self, X: NDArray[Any], rows: Rows, low: NDArray[np.int64], high: NDArray[np.int64]
    ) -> Array | None:
        """The counts, or None where a value lies outside low … high."""
        from ..kernels.counts import integer_counts

        sizes = high - low + 1
        if int(sizes.max()) > DENSE_LIMIT:
            return None
        offsets = freeze(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
        low = freeze(low)
        total = np.zeros((len(rows.classes), int(offsets[-1])))

        def work(start: int, stop: int) -> Array | None:
            part = np.zeros_like(total)
            inside = integer_counts(whole(X[start:stop]), low, offsets, *rows.part(start, stop), part)
            return part if inside else None

        for part in in_order(work, row_blocks(X.shape[0], X.shape[1])):
            if part is None:
                return None
            total += part
        return total

    def _stats(self, rows: Rows, levels: Sequence[Sequence[Hashable]], count: Array) -> Stats:
        """Sums on an axis of (column, level) pairs; levels no row takes are left out."""
        labels = [(j, v) for j, values in enumerate(levels) for v in values]
        seen = np.asarray(count.any(axis=0))
        found: dict[Hashable, int] = {label: i for i, label in enumerate(labels) if seen[i]}
        index = Index.of(found)
        places = np.fromiter((found[label] for label in index.labels), np.int64, len(index))
        return Stats(LEVELS, {CLASS: rows.classes, LEVEL: index}, {"count": count[:, places]})

    def check_forgotten(self, before: Stats, after: Stats, columns: Sequence[str]) -> None:
        """No level can occur less than never."""
        if (after["count"] < -1e-9 * np.maximum(before["count"], 1.0)).any():
            c, v = (int(i) for i in np.argwhere(after["count"] < 0)[0])
            j, level = cast(tuple[int, Hashable], after.axes[LEVEL].labels[v])
            raise InputError(
                f"forget: class {after.axes[CLASS].labels[c]!r} never learned that many rows with level {level!r} in "
                f"column {columns[j]!r}; forget only rows that were learned"
            )

    def levels(self, stats: Stats, n_columns: int) -> list[list[Hashable]]:
        """The levels of every column, those of an integer coding that no row took among them."""
        found: list[list[Hashable]] = [[] for _ in range(n_columns)]
        for j, v in cast(tuple[tuple[int, Hashable], ...], stats.axes[LEVEL].labels):
            found[j].append(v)
        least = self.least_levels
        for j, values in enumerate(found):
            whole = [v for v in values if isinstance(v, int) and v >= 0]
            if len(whole) < len(values):
                continue
            top = max(whole, default=-1)
            n = (least[j] if isinstance(least, tuple) else least) or 0
            if top < DENSE_LIMIT:
                found[j] = list(range(max(top + 1, n)))
        return found

    def counts(self, stats: Stats, levels: Sequence[Sequence[Hashable]]) -> list[Array]:
        """The count table of every column, on these levels.  # → [(K, L_j)]"""
        position = stats.axes[LEVEL].position
        padded = np.concatenate([np.maximum(stats["count"], 0.0), np.zeros((len(stats["count"]), 1))], axis=1)
        return [padded[:, [position.get((j, v), -1) for v in values]] for j, values in enumerate(levels)]

    def scorer(self, stats: Stats, columns: Sequence[str]) -> CategoricalScorer:
        """Smoothed tables of log-probabilities."""
        levels = self.levels(stats, len(columns))
        tables = [log_shares(count, np.asarray(self.alpha)) for count in self.counts(stats, levels)]
        return CategoricalScorer(levels, [t for t, _ in tables], [z for _, z in tables], tuple(columns))


class CategoricalScorer(Scorer):
    """Σ_j log P(x_j | c), by table look-up."""

    takes_missing = True
    cells = COPY_CELLS * 4

    def __init__(
        self, levels: list[list[Hashable]], tables: list[Array], never: list[Array], columns: tuple[str, ...]
    ) -> None:
        self.levels, self.tables, self.never, self.columns = levels, tables, never, columns
        self.positions = [{v: i for i, v in enumerate(values)} for values in levels]
        self.offsets = freeze(np.concatenate([[0], np.cumsum([len(v) for v in levels])]).astype(np.int64))
        self.n_classes = K = len(tables[0]) if tables else 0
        self.table = _by_level(tables)
        runs = all(_is_run(v) for v in levels)
        self.low = freeze(np.array([v[0] if v else 0 for v in levels], np.int64)) if runs else None  # type: ignore[arg-type]
        self.n_parameters = K * sum(max(len(v) - 1, 0) for v in levels)

    def codes(self, X: NDArray[Any]) -> NDArray[np.int32]:
        """The place of every value among the levels of its column; −1 for a missing value or a level never seen."""
        out = np.empty(X.shape, np.int32)
        for j, position in enumerate(self.positions):
            column = X[:, j]
            whole = [v for v in position if type(v) is int] if column.dtype.kind in "iub" else []
            if whole and len(whole) == len(position) and max(whole) - min(whole) < DENSE_LIMIT:
                low = min(whole)
                table = np.full(max(whole) - low + 3, -1, np.int32)  # a −1 at either end for what lies beyond
                table[np.array(whole) - low + 1] = list(position.values())
                out[:, j] = table[np.clip(column.astype(np.int64) - low + 1, 0, len(table) - 1)]
                continue
            values, codes = column_codes(column)
            lookup = np.array([position.get(v, -1) for v in values] + [-1], np.int32)
            out[:, j] = lookup[codes]
        return out

    def score_rows(self, X: NDArray[Any], start: int, stop: int, out: Array) -> None:
        """Σ_j log P(x_j | c)."""
        self._look_up(X, start, stop, self.table, out)

    def _look_up(self, X: NDArray[Any], start: int, stop: int, table: Array, out: Array) -> None:
        from ..kernels.counts import integer_scores, level_scores

        if X.dtype.kind in "iu" and self.low is not None:
            integer_scores(whole(X[start:stop]), self.low, self.offsets, table, out)
            return
        level_scores(freeze(self.codes(X[start:stop])), self.offsets, table, out)

    def impossible(self, X: NDArray[Any]) -> Array | None:
        """How many of the row's levels a class has never shown, where α is 0."""
        if not any(z.any() for z in self.never):
            return None
        out = np.empty((len(X), self.n_classes))
        self._look_up(X, 0, len(X), _by_level(self.never), out)
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
        """One level per column; integers where all levels are."""
        out = np.empty((len(codes), len(self.levels)), dtype=object)
        for j, (values, table, never) in enumerate(zip(self.levels, self.tables, self.never, strict=True)):
            shares = np.where(never > 0, 0.0, np.exp(table))
            at = draw_shares(shares[codes], rng)
            out[:, j] = np.fromiter((values[i] for i in at), dtype=object, count=len(at))
        whole = all(type(v) is int for values in self.levels for v in values)
        return out.astype(np.int64) if whole else out

    def logistic_form(self) -> LogisticForm:
        """Linear in the one-hot coding of the levels."""
        weights = np.concatenate(self.tables, axis=1)
        nothing, never = np.zeros(len(weights)), np.concatenate(self.never, axis=1)
        impossible = Impossible(never, nothing) if never.any() else None
        return LogisticForm(names_of(self.columns, self.levels), weights, nothing, self.one_hot, impossible=impossible)

    def one_hot(self, X: NDArray[Any]) -> Array:
        """1 at the level of every column, 0 elsewhere.  # (n, p) → (n, ΣL)"""
        codes = self.codes(np.asarray(X))
        out = np.zeros((len(codes), int(self.offsets[-1])))
        rows, cols = np.nonzero(codes >= 0)
        out[rows, self.offsets[cols] + codes[rows, cols]] = 1.0
        return out


def _is_run(levels: list[Hashable]) -> bool:
    """Whether the levels are consecutive integers, so that a level is its own code."""
    if not levels:
        return True
    first = levels[0]
    return isinstance(first, int) and abs(first) < 2**62 and levels == list(range(first, first + len(levels)))


def _by_level(tables: list[Array]) -> Array:
    """The tables of all columns below each other, and zeros: a row for the rest, columns up to a multiple of four.

    # [(K, L_j)] → (ΣL + 1, K or up to three more)
    """
    table = np.concatenate(tables, axis=1)
    return freeze(np.pad(table.T, ((0, 1), (0, -len(table) % 4))))
