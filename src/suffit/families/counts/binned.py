"""Binned: numeric columns used as categories, cut at given edges or at edges chosen from the first rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ...core.family import Family, Scorer, register
from ...core.leave_one_out import LooScores
from ...core.stats import Stats
from ...data.arrays import Array, Categories, Cells, Coded, Codes, block, freeze, is_sparse
from ...data.errors import InputError, check_finite
from ...data.rows import Rows
from ...data.warn import DataWarning, warn_once
from ...kernels.runtime.threads import COPY_CELLS, in_order, row_blocks
from ..tuning import Alpha, SmoothedFamily, Tuning, check_alpha
from .categorical import (
    category_stats,
    category_tables,
    check_counts,
    count_categories,
    evidence_of_tables,
    log_tables,
    loo_categories,
    pair_labels,
)
from .scores import CategoricalScorer

HOW = ("mdl", "width", "quantile")
Edges = tuple[float, ...]  # of one column, increasing: one bin below, one above, and one between each two


@register
@dataclass(frozen=True)
class Binned(SmoothedFamily[Categories]):
    """P(x_j in bin b | c) = (N_jb|c + α)/(N_j|c + α·bins of j).

    Edges e₁ < … < e_m make the m + 1 bins x < e₁, e₁ ≤ x < e₂, …, x ≥ e_m: a value equal to an edge belongs to the bin
    above it (values and edges are compared as float64).  Bins that no row falls in count among the bins; a missing
    value (NaN) drops out.  Models whose edges were chosen from different rows cannot be merged: give them the same
    edges.

    Parameters
    ----------
    edges : sequence of float, or one for each column, optional
        The edges.  By default they are chosen from the first rows, column by column, and kept.
    alpha : float, "loo" or "evidence", default 1.0
        Added to the count of every bin; 0 is maximum likelihood.  "loo" chooses it by leave-one-out, "evidence" by the
        evidence of the counts.
    how : {"mdl", "width", "quantile"}, default "mdl"
        How edges are chosen.  "mdl": by class entropy, splitting while the gain pays for the description of the edge
        (Fayyad and Irani); a column without such an edge has one bin, and is ignored.  "width": ``bins`` bins of equal
        width between the least and the greatest value.  "quantile": ``bins`` bins with equal shares of the rows; fewer
        where many values are equal.
    bins : int, default 5
        Number of bins, for "width" and "quantile".
    tuning : Tuning, optional
        What was tried to choose ``alpha``; set by a fit, not by users.

    Attributes
    ----------
    key : str
        "binned", the name of the family.

    See Also
    --------
    NaiveBayes : Naive Bayes with this or any other family.
    Categorical : Columns that are categories already.

    Examples
    --------
    >>> from suffit import NaiveBayes
    >>> area, sold = [[350.0], [500.0], [900.0], [1300.0], [2100.0]], ["no", "no", "no", "yes", "yes"]
    >>> model = NaiveBayes(Binned([400, 800, 1200, 1600])).fit(area, sold)
    >>> model.predict([[400.0], [5000.0]]).tolist(), model.logistic_form().names[:2]
    (['no', 'yes'], ('x0<400', 'x0 400–800'))
    """

    edges: Any = None
    alpha: Alpha = 1.0
    how: str = "mdl"
    bins: int = 5
    tuning: Tuning | None = field(default=None, compare=False, repr=False)

    key: ClassVar[str] = "binned"

    def __post_init__(self) -> None:
        check_alpha(self, evidence=True)
        if self.how not in HOW:
            raise ValueError(f"Binned(how={self.how!r}): how must be one of {', '.join(map(repr, HOW))}")
        if isinstance(self.bins, bool) or not isinstance(self.bins, int | np.integer) or self.bins < 1:
            raise ValueError(f"Binned(bins={self.bins!r}): bins must be an integer of at least 1")
        if self.edges is not None:
            object.__setattr__(self, "edges", _read_edges(self.edges))

    @property
    def statistic(self) -> tuple[object, ...]:
        """Counts between these edges, written once where all columns have the same."""
        if self.edges is None:
            return (self.key, self.how, self.bins)
        return (self.key, self.edges[0] if self._by_column and len(set(self.edges)) == 1 else self.edges)

    @property
    def _by_column(self) -> bool:
        """Whether every column has edges of its own."""
        return len(self.edges) > 0 and isinstance(self.edges[0], tuple)

    def column_edges(self) -> tuple[Edges, ...]:
        """The edges of each of these columns."""
        if self.edges is None:
            raise InputError(f"Binned(how={self.how!r}) has not chosen its edges yet; fit first, or give edges")
        if not self._by_column:
            return (self.edges,) * len(self.columns)
        if len(self.edges) != len(self.columns):
            raise InputError(
                f"Binned has edges for {len(self.edges)} columns, but X has {len(self.columns)}; give one sequence "
                "of edges for each column, or one for all"
            )
        return self.edges

    def difference(self, other: Family) -> str:
        """The first column that is cut at other places."""
        if isinstance(other, Binned) and self.edges is not None and other.edges is not None:
            for name, mine, theirs in zip(
                self.columns, self.column_edges(), other.of(self.columns).column_edges(), strict=True
            ):
                if mine != theirs:
                    return (
                        f"column {name!r} has bin edges {list(mine)} in one model and {list(theirs)} in the other; fit "
                        "both with the same edges, Binned(edges=…)"
                    )
        return super().difference(other)

    # --- choosing edges

    @property
    def is_tuned(self) -> bool:
        return self.edges is not None and not self.alpha_is_open

    def tuned(self, X: Categories, rows: Rows) -> Family:
        """With edges chosen from these rows, where they are not given."""
        if self.edges is not None:
            return self
        assert not isinstance(X, Coded)
        cells = X.tocsc() if is_sparse(X) else X
        step = max(1, COPY_CELLS // max(1, X.shape[0]))

        def chosen(a: int, b: int) -> tuple[Edges, ...]:
            x = cells[:, a:b]
            x = x if isinstance(x, np.ndarray) else x.toarray()
            return self.edges_of(SortedColumns.of(x), rows)

        blocks = [(j, min(j + step, X.shape[1])) for j in range(0, X.shape[1], step)]
        edges = tuple(e for part in in_order(chosen, blocks) for e in part)
        if not any(edges) and (self.how == "mdl" or self.bins > 1):
            warn_once(
                DataWarning,
                f"Binned(how={self.how!r}) found no bin edges for ",
                [f"column {name!r}" for name in self.columns],
                ": with a single bin it is ignored, now and in later batches; start with more rows, or give edges",
            )
        return self.having(edges=edges)

    def edges_of(self, columns: SortedColumns, rows: Rows) -> tuple[Edges, ...]:
        """Edges chosen from these rows."""
        return columns.edges(self.how, self.bins, *rows.part(0, len(rows)), len(rows.classes))

    def scores_of_others(self, x: Array, rows: Rows, wanted: NDArray[np.int64]) -> Array:
        """log p(x | c) of some rows in bins that others were counted in; α a number.  # → (len(wanted), K)

        Those held out have no weight.  A class that has no other row is as unlikely as the least likely of the others.
        """
        from ...kernels.categories import category_counts, category_scores

        edges, K, weights = self.edges, len(rows.classes), rows.part(0, len(rows))[1]
        places = Places(edges).of(x)
        sizes = np.array([len(e) + 1 for e in edges], np.int64)
        offsets = freeze(np.concatenate([[0], np.cumsum(sizes)]))
        count, out = np.zeros((K, int(offsets[-1]))), np.empty((len(wanted), K))
        category_counts(freeze(places), offsets, rows.codes, weights, count)
        alpha = cast("float", self.alpha)
        total = np.add.reduceat(count, offsets[:-1], axis=1) + alpha * sizes
        table = np.log(count + alpha) - np.log(np.repeat(total, sizes, axis=1))
        category_scores(freeze(places[wanted]), offsets, freeze(table.T), out)
        none = np.bincount(rows.codes, weights, minlength=K) <= 0
        if none.all():
            return np.zeros_like(out)
        return np.where(none, np.where(none, np.inf, out).min(axis=1, keepdims=True), out) if none.any() else out

    def tuned_as(self, other: Family) -> Family:
        """With the edges, and the α, that a family of the same settings has chosen."""
        if self.edges is None and isinstance(other, Binned) and (self.how, self.bins) == (other.how, other.bins):
            return super(Binned, self.having(edges=other.edges)).tuned_as(other)
        return super().tuned_as(other)

    def evidence_of(self, stats: Stats) -> Callable[[float], float]:
        """Bins of every class and column, their shares drawn from Dirichlet(α)."""
        columns = 1 + max((j for j, _ in pair_labels(stats)), default=-1)
        edges = self.edges if self._by_column else (self.edges,) * columns
        tables = category_tables(stats, [range(len(e) + 1) for e in edges])
        return lambda alpha: evidence_of_tables(tables, alpha)

    # --- counting

    def collect(self, X: Categories, rows: Rows) -> Stats:
        """Rows of every class in every bin of every column."""
        edges = self.column_edges()
        sizes = [len(e) + 1 for e in edges]
        places = Places(edges)

        def codes(rows: slice) -> NDArray[np.int32]:
            x = block(X, rows.start, rows.stop)
            check_finite(x, self.columns, rows.start)
            return places.of(x)

        return category_stats(rows, [range(size) for size in sizes], count_categories(codes, sizes, rows))

    def surely_valid(self, X: Categories) -> bool:
        assert not isinstance(X, Coded)
        return math.isfinite((X.data if is_sparse(X) else X).sum())

    def check_forgotten(self, before: Stats, after: Stats) -> None:
        """No bin can hold less than no rows."""
        edges = self.column_edges()
        check_counts(before, after, lambda j, b: f"{bin_names(self.columns[j], edges[j])[cast('int', b)]!r}")

    def scorer(self, stats: Stats) -> BinnedScorer:
        """Smoothed tables of log-probabilities."""
        edges = self.column_edges()
        counts = category_tables(stats, [range(len(e) + 1) for e in edges])
        tables, never = log_tables(counts, cast("float", self.solvable(stats).alpha))
        return BinnedScorer(edges, tables, never, tuple(self.columns))

    def leave_one_out(self, X: Categories, rows: Rows, stats: Stats) -> LooScores:
        """log (N_jb|c − w + α)/(N_j|c − w + α·bins) for the row's own class; the edges stay."""
        scorer = self.scorer(stats)
        counts, alpha = category_tables(stats, scorer.categories), cast("float", self.solvable(stats).alpha)

        def lone(j: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
            bins = counts[j].shape[1]
            return np.full(bins, bins), np.ones(bins, bool)

        return loo_categories(scorer, scorer.codes(X), rows, counts, alpha, lone)


class BinnedScorer(CategoricalScorer):
    """Σ_j log P(bin of x_j | c), by table look-up."""

    def __init__(
        self, edges: tuple[Edges, ...], tables: list[Array], never: list[Array], columns: tuple[str, ...]
    ) -> None:
        super().__init__([list(range(len(e) + 1)) for e in edges], tables, never, columns)
        self.low = None  # an integer is a number to be binned, not the place of its bin
        self.edges, self.places = edges, Places(edges)

    def codes(self, X: Categories) -> NDArray[np.int32]:
        """The bin of every value; −1 for a missing one."""
        return self.places.of(block(X, 0, X.shape[0]))

    def blocks(self, X: Categories) -> list[tuple[int, int]]:
        """By cells: sparse rows are made dense, a block at a time."""
        return row_blocks(X.shape[0], X.shape[1], self.cells)

    def check(self, X: Categories) -> None:
        for start, stop in row_blocks(*X.shape) if X.dtype.kind == "f" else ():
            check_finite(block(X, start, stop), self.columns, start)

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        """Uniform within a bin drawn for every column, outer bins being as wide as their neighbours.

        At a lone edge they are as wide as the edge is far from 0 (1 where it is 0); a column of one bin gives NaN.
        """
        out = np.empty((len(codes), len(self.edges)))
        for j, (edges, at) in enumerate(zip(self.edges, self.draw_places(codes, rng), strict=True)):
            ends = _closed(edges)
            low, high, u = ends[at], ends[at + 1], rng.random(len(at))
            out[:, j] = np.clip(low * (1 - u) + high * u, low, np.nextafter(high, low))
        return out

    @property
    def centres(self) -> Array:
        """Σ_b P(b | c) · middle of bin b; NaN for a column of one bin."""
        shares = (np.where(z > 0, 0.0, np.exp(t)) for t, z in zip(self.tables, self.never, strict=True))
        ends = map(_closed, self.edges)
        return np.stack([s @ (e[:-1] / 2 + e[1:] / 2) for s, e in zip(shares, ends, strict=True)], axis=1)

    filled = Scorer.filled  # values, not categories
    drawn = Scorer.drawn

    def names(self) -> tuple[str, ...]:
        """``area<400``, ``area 400–800``, …, ``area≥1600``."""
        return tuple(name for pair in zip(self.columns, self.edges, strict=True) for name in bin_names(*pair))


class Places:
    """The place of every value among the bins of its column: how many edges are at or below it, −1 where missing."""

    def __init__(self, edges: tuple[Edges, ...]) -> None:
        self.edges = freeze(np.array([e for column in edges for e in column], dtype=np.float64))
        self.offsets = freeze(np.cumsum([0, *map(len, edges)], dtype=np.int64))

    def of(self, x: Array) -> NDArray[np.int32]:
        """Of float32 or float64 values.  # (n, p) → (n, p)"""
        from ...kernels.bins import bin_codes

        out = np.empty(x.shape, np.int32)
        bin_codes(x, self.edges, self.offsets, out)
        return out


def bin_names(column: str, edges: Edges) -> list[str]:
    """``area<400``, ``area 400–800``, ``area≥800``, with as many digits as tell the edges apart; ``area`` alone."""
    if not edges:
        return [column]
    texts = next(t for d in range(6, 18) if len(set(t := [f"{e:.{d}g}" for e in edges])) == len(edges))
    return [f"{column}<{texts[0]}", *(f"{column} {a}–{b}" for a, b in pairwise(texts)), f"{column}≥{texts[-1]}"]


def _closed(edges: Edges) -> Array:
    """The ends of all bins, the outer ones included.  # (m,) → (m + 2,)"""
    if not edges:
        return np.array([np.nan, np.nan])
    lone = abs(edges[0]) or 1.0
    first, last = (edges[1] - edges[0], edges[-1] - edges[-2]) if len(edges) > 1 else (lone, lone)
    limit = float(np.finfo(np.float64).max)
    return np.array([max(edges[0] - first, -limit), *edges, min(edges[-1] + last, limit)])


def _read_edges(edges: object) -> Edges | tuple[Edges, ...]:
    """Edges as the user gives them, for all columns or for each, as tuples of floats."""
    given = list(edges) if np.iterable(edges) else [edges]
    return tuple(map(_increasing, given)) if any(map(np.iterable, given)) else _increasing(given)


def _increasing(edges: object) -> Edges:
    try:
        e = np.asarray(edges, dtype=np.float64)
    except (TypeError, ValueError):
        e = np.full(1, np.nan)
    if e.ndim != 1 or not np.isfinite(e).all() or not (e[1:] > e[:-1]).all():
        raise ValueError(
            f"Binned(edges=…): found {edges!r}; edges must be finite, increasing numbers, in one "
            "sequence for all columns or one for each"
        )
    return tuple(e.tolist())


# --- how edges are chosen: from the sorted values of a column, each with its class and its weight (above 0)


@dataclass(frozen=True)
class SortedColumns:
    """Columns with the order of their values, from which edges are chosen for any weights of the rows."""

    rows: Array  # (n, p)
    x: Array  # (p, n), as the kernels read them
    order: NDArray[np.int64]  # (p, n)

    @staticmethod
    def of(rows: Cells) -> SortedColumns:
        """Sort every column once."""
        values = np.asarray(rows, dtype=np.float64)
        x = np.ascontiguousarray(values.T)
        order = np.empty(x.shape, np.int64)
        for j, column in enumerate(x):
            order[j] = np.argsort(_narrow(column), kind="stable")
        return SortedColumns(freeze(values), freeze(x), freeze(order))

    def only(self, places: Sequence[int]) -> SortedColumns:
        """Some of the columns."""
        if len(places) == len(self.x) and list(places) == list(range(len(self.x))):
            return self
        at = np.asarray(places, np.int64)
        return SortedColumns(freeze(self.rows[:, at]), freeze(self.x[at]), freeze(self.order[at]))

    def edges(self, how: str, bins: int, codes: Codes, weights: Array, K: int) -> tuple[Edges, ...]:
        """Edges by one of HOW: ``mdl`` is half way between the neighbours that Fayyad and Irani's rule parts."""
        from ...kernels.bins import mdl_edges, share_edges

        if how == "width":
            return tuple(self._by_width(j, bins, weights) for j in range(len(self.x)))
        if how == "quantile":
            found = share_edges(self.x, self.order, weights, bins)
        else:
            found = mdl_edges(self.x, self.order, codes, weights, K)
        return tuple(tuple(edges.tolist()) for edges in found)

    def _by_width(self, j: int, bins: int, weights: Array) -> Edges:
        """min + k·(max − min)/bins, correctly rounded; those with values on both sides."""
        x = self.x[j][self.order[j]]
        x = x[np.isfinite(x) & (weights[self.order[j]] > 0)]  # an infinity is for collect to refuse
        if not len(x):
            return ()
        low, high = Fraction(float(x[0])), Fraction(float(x[-1]))
        edges = {float(low + (high - low) * k / bins) for k in range(1, bins)}
        return tuple(e for e in sorted(edges) if x[0] < e <= x[-1])


def _narrow(x: Array) -> Cells:
    """Small integers as such: they are sorted in a tenth of the time."""
    if not (x.min(initial=0.0) >= 0 and x.max(initial=0.0) <= np.iinfo(np.uint16).max):
        return x
    small = x.astype(np.uint16)
    return small if np.array_equal(small, x) else x
