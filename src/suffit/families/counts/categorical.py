"""Categorical: columns of categories, whatever the categories are, with their conditional probability tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence, Sized
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ...core.family import EMPTIED, INTEGER, register
from ...core.leave_one_out import LooScores
from ...core.stats import CATEGORY, CLASS, Stats, layout
from ...data.arrays import Array, Categories, Cells, Coded, freeze
from ...data.errors import NotLearnedError
from ...data.labels import Index, sorted_places
from ...data.rows import Rows, column_codes
from ...data.warn import warn_absent
from ...kernels.runtime.threads import COPY_CELLS, every, in_order, row_blocks
from ..elementwise.shape import without
from ..tuning import Alpha, SmoothedFamily, Tuning, check_alpha, dirichlet_evidence
from .scores import DENSE_LIMIT, NOVEL, CategoricalScorer, are_int64, by_category, whole

CATEGORIES = layout("categories", {"count": (CLASS, CATEGORY)}, growing={CATEGORY: "count"})

UNKNOWN = ("ignore", "novel", "error")  # what becomes of a category never seen


@register
@dataclass(frozen=True)
class Categorical(SmoothedFamily[Categories]):
    """P(x_j = v | c) = (N_jv|c + α)/(N_j|c + α·categories of j).

    A missing value and a category never seen drop out of the sum.

    Parameters
    ----------
    alpha : float, "loo" or "evidence", default 1.0
        Added to the count of every category; 0 is maximum likelihood.  "loo" chooses it by leave-one-out, "evidence" by
        the evidence of the counts.
    least_categories : int or tuple of int, optional
        Least number of categories, for all columns or for each.
    every_integer : bool, default True
        Whether a column of integers 0 … max has max + 1 categories, seen or not.
    unknown : {"ignore", "novel", "error"} or None, default None
        What to do with a category never seen: treat it as missing, give it α/(N + α·(categories + 1)) in every class,
        or raise an error.  None is the setting of the estimator, or "ignore".
    tuning : Tuning, optional
        What was tried to choose ``alpha``; set by a fit, not by users.

    Attributes
    ----------
    key : str
        "categorical", the name of the family.

    See Also
    --------
    CategoricalNB : Naive Bayes with this family.
    Binned : Numeric columns in bins.

    Examples
    --------
    >>> from suffit import GenerativeClassifier
    >>> table = {"city": ["Bern", "Bern", "Basel", "Basel"]}
    >>> model = GenerativeClassifier({"city": Categorical(alpha=0.5)}).fit(table, ["a", "a", "a", "b"])
    >>> model.predict_proba({"city": ["Bern"]}).round(3)
    array([[0.882, 0.118]])
    """

    alpha: Alpha = 1.0
    least_categories: int | tuple[int, ...] | None = None
    every_integer: bool = True
    unknown: str | None = None
    tuning: Tuning | None = field(default=None, compare=False, repr=False)

    key: ClassVar[str] = "categorical"
    candidate_for: ClassVar[tuple[str, ...]] = (INTEGER,)

    def __post_init__(self) -> None:
        check_alpha(self, evidence=True)
        if self.unknown is not None and self.unknown not in UNKNOWN:
            raise ValueError(f"Categorical(unknown={self.unknown!r}): must be one of {', '.join(map(repr, UNKNOWN))}")

    def evidence_of(self, stats: Stats) -> Callable[[float], float]:
        """Categories of every class and column, their shares drawn from Dirichlet(α)."""
        columns = 1 + max((j for j, _ in pair_labels(stats)), default=-1)
        tables = category_tables(stats, self.categories(stats, columns))
        return lambda alpha: evidence_of_tables(tables, alpha)

    def example(self, rng: np.random.Generator, n: int) -> NDArray[np.int64]:
        """Rows of two, three and five categories, for ``check_family``."""
        return rng.integers(0, [2, 3, 5], size=(n, 3))

    def collect(self, X: Categories, rows: Rows) -> Stats:
        """Rows of every class at every category of every column."""
        if isinstance(X, Coded):
            count = count_categories(X.codes.__getitem__, [len(v) for v in X.categories], rows)
            return category_stats(rows, X.categories, count)
        assert isinstance(X, np.ndarray)
        if X.size and are_int64(X):
            counted = self._count_integers(X, rows)
            if counted is not None:
                return category_stats(rows, *counted)
        found: list[list[Hashable]] = []
        counts = [np.zeros((len(rows.classes), 0))]
        for j in range(X.shape[1]):  # one column at a time: codes of all would double the memory
            values, codes = column_codes(X[:, j])
            found.append(values)
            counts.append(count_categories(codes[:, None].__getitem__, [len(values)], rows))
        return category_stats(rows, found, np.concatenate(counts, axis=1))

    def surely_valid(self, X: Categories) -> bool:
        return isinstance(X, np.ndarray) and X.dtype.kind in "iu"

    def _count_integers(self, X: Cells, rows: Rows) -> tuple[list[list[int]], Array] | None:
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

    def _count_range(self, X: Cells, rows: Rows, low: NDArray[np.int64], high: NDArray[np.int64]) -> Array | None:
        """The counts, or None where a value lies outside low … high."""
        from ...kernels.categories import integer_counts

        if (high.astype(np.float64) - low).max() >= DENSE_LIMIT:  # which int64 may not hold
            return None
        sizes = high - low + 1
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

    def check_forgotten(self, before: Stats, after: Stats) -> None:
        """No category can occur less than never."""
        check_counts(before, after, lambda j, category: f"category {category!r} in column {self.columns[j]!r}")

    def categories(self, stats: Stats, n_columns: int) -> list[list[Hashable]]:
        """The categories of every column, those of an integer coding that no row took among them."""
        found: list[list[Hashable]] = [[] for _ in range(n_columns)]
        for j, v in cast(tuple[tuple[int, Hashable], ...], stats.axes[CATEGORY].labels):
            found[j].append(v)
        return [self._all_categories(j, values) for j, values in enumerate(found)]

    def _all_categories(self, j: int, seen: list[Hashable]) -> list[Hashable]:
        whole = [v for v in seen if isinstance(v, int) and v >= 0]
        if len(whole) < len(seen):
            return seen
        top = max(whole, default=-1)
        n = self._least(j)
        if self.every_integer and top < DENSE_LIMIT:
            return list(range(max(top + 1, n)))
        return sorted({*whole, *range(n)}) if n else seen

    def _least(self, j: int) -> int:
        return (self.least_categories[j] if isinstance(self.least_categories, tuple) else self.least_categories) or 0

    def scorer(self, stats: Stats) -> CategoricalScorer:
        """Smoothed tables of log-probabilities."""
        categories = self.categories(stats, len(self.columns))
        if self.unknown == "novel":
            categories = [[*values, NOVEL] for values in categories]
        counts = category_tables(stats, categories)
        warn_absent(_row_sums(counts), stats.axes[CLASS].labels, self.columns)
        tables, never = log_tables(counts, cast(float, self.solvable(stats).alpha))
        return CategoricalScorer(categories, tables, never, tuple(self.columns), strict=self.unknown == "error")

    def leave_one_out(self, X: Categories, rows: Rows, stats: Stats) -> LooScores:
        """log (N_jv|c − w + α)/(N_j|c − w + α·categories) for the row's own class; a category of no other row goes."""
        scorer = self.scorer(stats)
        counts, alpha = category_tables(stats, scorer.categories), cast(float, self.solvable(stats).alpha)

        def lone(j: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
            return self._without_category(j, scorer.categories[j], np.asarray(counts[j].any(axis=0)))

        return loo_categories(scorer, scorer.codes(X), rows, counts, alpha, lone)

    def _without_category(
        self, j: int, values: list[Hashable], seen: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """For every category, should no row have it: how many there are then, and whether it is still one."""
        novel = self.unknown == "novel"
        categories = [v for v in values if v is not NOVEL]
        had = [v for v, n in zip(values, seen, strict=True) if n]
        odd = [v for v in had if not (isinstance(v, int) and v >= 0)]
        stays = [not odd and (self.every_integer or v in range(self._least(j))) for v in categories]
        size = [len(categories) - (not stay) for stay in stays]
        for v in {*odd[:1], *[v for v in had[-1:] if not odd]}:  # may change what kind of column it is, or its range
            left, at = self._all_categories(j, [u for u in had if u != v]), categories.index(v)
            size[at], stays[at] = len(left), v in left
        extra = len(values) - len(categories)
        return np.array([*size, *[0] * extra]) + novel, np.array([*stays, *[True] * extra]) | novel


Lone = Callable[[int], tuple[NDArray[np.int64], NDArray[np.bool_]]]


def loo_categories(
    scorer: CategoricalScorer, codes: NDArray[np.int32], rows: Rows, counts: Sequence[Array], alpha: float, lone: Lone
) -> LooScores:
    """Leave-one-out Σ_j log P(category | c): other classes score the row as they are.

    ``lone(j)``: for every category of a column, should a row be the only one that has it, how many categories there are
    without the row, and whether it is still one of them; otherwise it drops out.
    """
    from ...kernels.categories import categories_without, category_scores

    (n, p), K, offsets = codes.shape, scorer.n_classes, scorer.offsets
    count, zeros = freeze(np.concatenate(counts, axis=1)), by_category(scorer.never)
    sums = freeze(_row_sums(counts))  # (K, p)
    shown = freeze(np.count_nonzero(count > 0, axis=0))  # by how many classes
    density, never, gone = np.empty((n, K)), np.empty((n, K)), np.zeros((n, p), bool)

    def work(a: int, b: int) -> None:
        here = freeze(codes[a:b])
        category_scores(here, offsets, scorer.table, density[a:b])
        category_scores(here, offsets, zeros, never[a:b])
        categories_without(
            here, offsets, *rows.part(a, b), count, sums, shown, float(alpha), EMPTIED, scorer.table, zeros,
            density[a:b], never[a:b], gone[a:b],
        )  # fmt: skip

    every(work, row_blocks(n, p, COPY_CELLS))
    own, weights = rows.part(0, n)
    for j in np.flatnonzero(gone.any(axis=0)).tolist():
        i = np.flatnonzero(gone[:, j])
        rest = np.repeat(sums[None, :, j], len(i), axis=0)
        rest[np.arange(len(i)), own[i]] = without(rest[np.arange(len(i)), own[i]], weights[i])
        was, was_zero = _nothing_seen(rest, alpha, np.full((len(i), 1), counts[j].shape[1]))
        others = np.arange(K) != own[i, None]
        at = offsets[j] + codes[i, j]
        was, was_zero = np.where(others, scorer.table[at, :K], was), np.where(others, zeros[at, :K], was_zero)
        size, known = (a[codes[i, j]][:, None] for a in lone(j))
        now, now_zero = _nothing_seen(rest, alpha, size)
        density[i] += np.where(known, now, 0.0) - was
        never[i] += np.where(known, now_zero, 0.0) - was_zero
    return LooScores(density, never if never.any() else None)


def _nothing_seen(total: Array, alpha: float, categories: NDArray[np.int64]) -> tuple[Array, Array]:
    """log α/(N + α·categories) of a category without rows, and where that is log 0; uniform where nothing is."""
    everything = total + alpha * categories
    share = np.where(everything <= 0, 1.0, alpha)
    zero = share <= 0
    value = np.log(np.where(zero, 1.0, share)) - np.log(
        np.where(everything <= 0, np.maximum(categories, 1), everything)
    )
    return np.asarray(value), zero.astype(np.float64)


CodesOf = Callable[[slice], NDArray[np.int32]]  # the codes of some rows, one column of them per column


def count_categories(codes: CodesOf, sizes: Sequence[int], rows: Rows) -> Array:
    """Rows of every class at every category, the categories of all columns side by side.  # → (K, ΣL)"""
    from ...kernels.categories import category_counts

    offsets = freeze(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))
    total = np.zeros((len(rows.classes), int(offsets[-1])))

    def work(start: int, stop: int) -> Array:
        part = np.zeros_like(total)
        category_counts(freeze(codes(slice(start, stop))), offsets, *rows.part(start, stop), part)
        return part

    for part in in_order(work, row_blocks(len(rows), len(sizes))):
        total += part
    return total


def category_stats(rows: Rows, categories: Sequence[Sequence[Hashable]], count: Array) -> Stats:
    """Sums on an axis of (column, category) pairs; categories without rows are dropped."""
    labels = [(j, v) for j, values in enumerate(categories) for v in values]
    seen = np.asarray(count.any(axis=0)).tolist()
    try:
        first = itertools.accumulate(map(len, categories), initial=0)
        ordered = [a + i for a, values in zip(first, categories, strict=False) for i in sorted_places(values)]
        places = [i for i in ordered if seen[i]]
        index = Index(tuple([labels[i] for i in places]))
    except TypeError:  # labels without an order of their own
        found: dict[Hashable, int] = {label: i for i, label in enumerate(labels) if seen[i]}
        index = Index.of(found)
        places = [found[label] for label in index.labels]
    return Stats(CATEGORIES, {CLASS: rows.classes, CATEGORY: index}, {"count": count[:, np.array(places, np.int64)]})


def pair_labels(stats: Stats) -> Sequence[tuple[int, Hashable]]:
    """The column and the category of every place on the axis of categories."""
    return cast(tuple[tuple[int, Hashable], ...], stats.axes[CATEGORY].labels)


def category_tables(stats: Stats, categories: Sequence[Sequence[Hashable]]) -> list[Array]:
    """The count table of every column, on these categories.  # → [(K, L_j)]"""
    index, count = stats.axes[CATEGORY], np.maximum(stats["count"], 0.0)
    labels = tuple([(j, v) for j, values in enumerate(categories) for v in values])
    if labels != index.labels:
        padded = np.concatenate([count, np.zeros((len(count), 1))], axis=1)
        count = padded[:, np.array([index.position.get(label, -1) for label in labels], np.int64)]
    return _side_by_side(count, categories)


def _side_by_side(table: Array, categories: Sequence[Sized]) -> list[Array]:
    """A table of all columns cut into those of each: views of it.  # (K, ΣL) → [(K, L_j)]"""
    ends = itertools.accumulate(map(len, categories), initial=0)
    return [table[:, a:b] for a, b in itertools.pairwise(ends)]


def _row_sums(tables: Sequence[Array]) -> Array:
    """The sums of every column's table along its categories, 0 where it has none.  # [(K, L_j)] → (K, p)"""
    sizes = np.array([one.shape[1] for one in tables])
    out, full = np.zeros((len(tables[0]), len(tables))), sizes > 0
    if full.any():
        out[:, full] = np.add.reduceat(np.concatenate(tables, axis=1), (np.cumsum(sizes) - sizes)[full], axis=1)
    return out


def log_tables(counts: Sequence[Array], alpha: float) -> tuple[list[Array], list[Array]]:
    """The log-probabilities of every column's categories, and where they are log 0.  # [(K, L_j)] → the same, twice"""
    table, sizes = np.concatenate(counts, axis=1), np.array([n.shape[1] for n in counts])
    if not table.shape[1]:
        return list(counts), list(counts)
    sizes = sizes[sizes > 0]
    smoothed = table + alpha
    total = np.add.reduceat(smoothed, np.cumsum(sizes) - sizes, axis=1)
    nothing = ~(total > 0)
    if nothing.any():  # uniform
        smoothed[np.repeat(nothing, sizes, axis=1)] = 1.0
        total = np.where(nothing, sizes, total)
    zero = smoothed <= 0
    never = zero.astype(np.float64)
    smoothed[zero] = 1.0
    found = np.log(smoothed) - np.repeat(np.log(total), sizes, axis=1)
    columns = [n[0] for n in counts]
    return _side_by_side(found, columns), _side_by_side(never, columns)


def evidence_of_tables(tables: Sequence[Array], alpha: float) -> float:
    """log p(counts | α) of all columns, their shares drawn from Dirichlet(α)."""
    return sum(dirichlet_evidence(count, alpha) for count in tables if count.shape[1])


def check_counts(before: Stats, after: Stats, name: Callable[[int, Hashable], str]) -> None:
    """Refuse a forgetting that leaves a category with less than no rows; ``name(column, category)`` says which."""
    bad = after["count"] < -1e-9 * np.maximum(before["count"], 1.0)
    if bad.any():
        c, v = (int(i) for i in np.argwhere(bad)[0])
        where = name(*pair_labels(after)[v])
        raise NotLearnedError(f"class {after.axes[CLASS].labels[c]!r} never learned that many rows with {where}")
