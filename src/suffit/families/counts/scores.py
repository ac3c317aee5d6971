"""Scores of categories, by table look-up; draws, fills and terms from the same tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...core.family import Between, ParameterValues, Scorer, Terms
from ...core.logistic import Impossible, LogisticForm
from ...core.stats import Stats
from ...data.arrays import Array, Categories, Cells, Coded, Codes, freeze
from ...data.errors import refuse
from ...data.rows import column_codes, is_missing
from ...kernels.runtime.threads import COPY_CELLS
from .shape import draw_shares, names_of


class Novel:
    """The category that stands for all categories never seen."""

    def __repr__(self) -> str:
        return "(a new category)"

    def __reduce__(self) -> str:
        return "NOVEL"


NOVEL = Novel()
MOST = 1 << 63  # integers up to here are int64
DENSE_LIMIT = 1 << 16  # integers 0 … max below this are all categories, seen or not, as an integer coding means


def are_int64(X: Cells) -> bool:
    """Whether these are integers that int64 holds."""
    if X.dtype != np.uint64:
        return X.dtype.kind in "iu"
    return not X.size or int(X.max()) < MOST


def whole(X: Cells) -> NDArray[np.int64]:
    """Integers as int64 rows in one block (a view where they are that already)."""
    return freeze(X.astype(np.int64, copy=False))


class CategoricalScorer(Scorer[Categories, Stats]):
    """Σ_j log P(x_j | c), by table look-up."""

    key = "categorical"
    takes_missing = True
    cells = COPY_CELLS * 4

    def __init__(
        self,
        categories: list[list[Hashable]],
        tables: list[Array],
        never: list[Array],
        columns: tuple[str, ...],
        strict: bool = False,
    ) -> None:
        self.categories, self.tables, self.never, self.columns, self.strict = categories, tables, never, columns, strict
        self.offsets = freeze(np.concatenate([[0], np.cumsum([len(v) for v in categories])]).astype(np.int64))
        self.n_classes = K = len(tables[0]) if tables else 0
        self.table = by_category(tables)
        runs = all(_is_run(v) for v in categories)
        self.low = freeze(np.array([v[0] if v else 0 for v in categories], np.int64)) if runs else None
        self.n_parameters = K * sum(max(len(v) - 1, 0) for v in categories)

    @cached_property
    def positions(self) -> list[dict[Hashable, int]]:
        """The place of every category of each column."""
        return [{v: i for i, v in enumerate(values)} for values in self.categories]

    def codes(self, X: Categories) -> NDArray[np.int32]:
        """The place of every value among the categories of its column; −1 for a missing or unseen one."""
        out = np.empty(X.shape, np.int32)
        for j, position in enumerate(self.positions):
            if isinstance(X, Coded):
                self._place(j, X.categories[j], X.codes[:, j], out)
                continue
            assert isinstance(X, np.ndarray)
            column = X[:, j]
            whole = [v for v in position if type(v) is int] if column.dtype.kind == "b" or are_int64(column) else []
            low, high = min(whole, default=0), max(whole, default=0)
            if whole and len(whole) == len(position) and high - low < DENSE_LIMIT and low >= -MOST and high < MOST:
                table = np.full(high - low + 3, -1, np.int32)  # a −1 at either end for what lies beyond
                table[np.array(whole) - low + 1] = list(position.values())
                out[:, j] = table[np.clip(column.astype(np.int64) - low + 1, 0, len(table) - 1)]
                continue
            self._place(j, *column_codes(column), out)
        return out

    def _place(self, j: int, values: Sequence[Hashable], codes: Codes, out: NDArray[np.int32]) -> None:
        """Codes among a batch's own categories as places among the categories of the model."""
        new = self.positions[j].get(NOVEL, -1)
        lookup = np.array([self.positions[j].get(v, new) for v in values] + [-1], np.int32)
        out[:, j] = lookup[codes]

    def check(self, X: Categories) -> None:
        """Refuse a category never seen, where that is asked for."""
        for j, position in enumerate(self.positions) if self.strict else ():
            if isinstance(X, Coded):
                values, codes = X.categories[j], X.codes[:, j]
            else:
                assert isinstance(X, np.ndarray)
                values, codes = column_codes(X[:, j])
            unseen = np.array([v not in position for v in values] + [False])[codes]
            if unseen.any():
                i = int(np.argmax(unseen))
                raise refuse(
                    self.columns,
                    j,
                    "a category never seen in training",
                    repr(values[codes[i]]),
                    i,
                    "use unknown='ignore' to treat it as missing",
                )

    def score_rows(self, X: Categories, start: int, stop: int, out: Array) -> None:
        """Σ_j log P(x_j | c)."""
        self._look_up(X, start, stop, self.table, out)

    def _look_up(self, X: Categories, start: int, stop: int, table: Array, out: Array) -> None:
        from ...kernels.categories import category_scores, integer_scores

        X = X[start:stop]
        if self.low is not None and isinstance(X, np.ndarray) and are_int64(X):
            integer_scores(whole(X), self.low, self.offsets, table, out)
            return
        category_scores(freeze(self.codes(X)), self.offsets, table, out)

    def log_likelihood(self, stats: Stats) -> Array | None:
        """Σ counts · log shares."""
        from .categorical import category_tables

        counts = category_tables(stats, self.categories)
        return np.asarray(sum((n * t).sum(axis=1) for n, t in zip(counts, self.tables, strict=True)))

    def separation(self, stats: Stats) -> Between:
        """Σ_v (log p_a(v) − log p_b(v))·(p_a(v) − p_b(v)); ∞ where one of them is 0."""
        shares = [np.where(never > 0, 0.0, np.exp(t)) for t, never in zip(self.tables, self.never, strict=True)]

        def between(a: int, b: int) -> Array:
            out = np.zeros(len(self.tables))
            for j, (table, never, p) in enumerate(zip(self.tables, self.never, shares, strict=True)):
                J = ((table[a] - table[b]) * (p[a] - p[b])).sum()
                out[j] = np.inf if (never[a] != never[b]).any() else J
            return out

        return between

    @cached_property
    def limited(self) -> bool:  # type: ignore[override]
        """Whether some class has never shown some category, and α is 0."""
        return any(z.any() for z in self.never)

    @cached_property
    def _never_by_category(self) -> Array:
        return by_category(self.never)

    def impossible_rows(self, X: Categories, start: int, stop: int, out: Array) -> None:
        """How many of the row's categories a class has never shown, where α is 0."""
        self._look_up(X, start, stop, self._never_by_category, out)

    def parts(self, X: Categories, a: Codes, b: Codes) -> Terms:
        """log P(x_j | a) − log P(x_j | b); 0 for a category never seen."""
        places = self.codes(X)
        terms = _odds(self.tables, places, a, b)
        return terms._replace(never=_odds(self.never, places, a, b)) if self.limited else terms

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """One category per column; integers where all categories are."""
        out = np.empty((len(codes), len(self.categories)), dtype=object)
        for j, (values, at) in enumerate(zip(self.categories, self.draw_places(codes, rng), strict=True)):
            out[:, j] = np.fromiter((values[i] for i in at), dtype=object, count=len(at)) if values else None
        whole = all(values and all(type(v) is int and -MOST <= v < MOST for v in values) for values in self.categories)
        return out.astype(np.int64) if whole else out

    def filled(self, X: Categories, posterior: Array) -> Categories:
        """The most probable category of what is missing, over the classes."""
        out = cells(X)
        for j, (values, table, never) in enumerate(zip(self.categories, self.tables, self.never, strict=True)):
            missing = np.fromiter(map(is_missing, out[:, j]), bool, len(out))
            if values and missing.any():
                shares = posterior[missing] @ np.where(never > 0, 0.0, np.exp(table))
                out[missing, j] = np.fromiter(
                    (values[i] for i in shares.argmax(axis=1)), dtype=object, count=int(missing.sum())
                )
        return out

    def drawn(self, X: Categories, codes: Codes, rng: np.random.Generator) -> Categories:
        """Categories drawn from the table of the class."""
        out = cells(X)
        missing = np.fromiter(map(is_missing, out.flat), bool, out.size).reshape(out.shape)
        return np.where(missing, self.sample(codes, rng), out)

    def draw_places(self, codes: Codes, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
        """Column by column, the place of a category drawn for each row.  # → p × (n,)"""
        for values, table, never in zip(self.categories, self.tables, self.never, strict=True):
            novel = np.array([v is NOVEL for v in values], dtype=bool)
            shares = np.where((never > 0) | novel, 0.0, np.exp(table))
            yield draw_shares(shares[codes], rng)

    def names(self) -> tuple[str, ...]:
        """What the columns of the one-hot coding are called."""
        return names_of(self.columns, self.categories)

    def parameters(self) -> list[ParameterValues]:
        """P(category | class), column by column."""
        table, never = np.concatenate(self.tables, axis=1), np.concatenate(self.never, axis=1)
        return [ParameterValues("probability", self.names(), np.where(never > 0, 0.0, np.exp(table)))]

    def logistic_form(self) -> LogisticForm:
        """Linear in the one-hot coding of the categories."""
        weights = np.concatenate(self.tables, axis=1)
        nothing, never = np.zeros(len(weights)), np.concatenate(self.never, axis=1)
        impossible = Impossible(never, nothing) if never.any() else None
        return LogisticForm(self.names(), weights, nothing, self.one_hot, impossible=impossible)

    def one_hot(self, X: Categories) -> Array:
        """1 at the category of every column, 0 elsewhere.  # (n, p) → (n, ΣL)"""
        codes = self.codes(X if isinstance(X, Coded) else np.asarray(X))
        out = np.zeros((len(codes), int(self.offsets[-1])))
        rows, cols = np.nonzero(codes >= 0)
        out[rows, self.offsets[cols] + codes[rows, cols]] = 1.0
        return out


def _odds(tables: list[Array], places: NDArray[np.int32], a: Codes, b: Codes) -> Terms:
    """The differences of two rows of every column's table, at these places; 0 at −1."""
    out = np.zeros(places.shape)
    for j, table in enumerate(tables):
        padded = np.pad(table, ((0, 0), (0, 1)))
        out[:, j] = padded[a, places[:, j]] - padded[b, places[:, j]]
    return Terms(out, np.zeros(len(out)))


def cells(X: Categories) -> Cells:
    """Categories themselves, for categories or their codes; a copy."""
    return X.decoded() if isinstance(X, Coded) else np.asarray(X).astype(object)


def _is_run(categories: list[Hashable]) -> bool:
    """Whether the categories are consecutive integers, so that a category is its own code."""
    if not categories:
        return True
    first = categories[0]
    return isinstance(first, int) and abs(first) < 2**62 and categories == list(range(first, first + len(categories)))


def by_category(tables: list[Array]) -> Array:
    """The tables of all columns below each other, and zeros: a row for the rest, columns up to a multiple of four.

    # [(K, L_j)] → (ΣL + 1, K or up to three more)
    """
    table = np.concatenate(tables, axis=1)
    K, width = table.shape
    out = np.zeros((width + 1, K + -K % 4))
    out[:width, :K] = table.T
    return freeze(out)
