"""The elementwise shape: columns independent given the class, each with statistics T(x) of fixed order.

A family of this shape says what T(x) is, where x may lie, and how mean statistics become natural parameters;
the array code is here.
"""

from __future__ import annotations

import itertools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...core.family import EMPTIED
from ...core.leave_one_out import LooScores
from ...core.stats import CLASS, FEATURE, ROUNDING, Stats, is_rounding, layout
from ...data.arrays import (
    Array,
    Csr,
    NumberRows,
    block,
    csr,
    entries,
    freeze,
    is_sparse,
    sparse_without_missing,
    sum_is_finite,
)
from ...data.errors import InputError, NotLearnedError
from ...data.labels import Index
from ...data.rows import Rows
from ...data.warn import warn_absent
from ...kernels.runtime.threads import COPY_CELLS, cores, entry_blocks, every, in_order, row_blocks
from ..columns import IndependentColumns
from ..rounding import few_digits_left, is_inexact, say_few_digits, short_of_rows
from ..tuning import Alpha, SmoothedFamily, Tuning, check_alpha
from .scores import ElementwiseScorer
from .scores import Natural as Natural

ORDER = "order"
LOO_CELLS = 1 << 15  # sums without a row that are solved together: rows × classes × columns
MANY_BLOCKS = 4  # enough to keep threads busy, and no more sums than these to be added up
AddEntries = Callable[[int, int, int, int, Array], None]


def _size(stats: Stats, gone: Stats) -> Array:
    """Of sums that may have either sign, as logarithms and cosines have: as if each row added what those gone did."""
    n = gone["n"][:, :, None]
    each = np.divide(np.abs(gone["t"]), n, out=np.zeros_like(gone["t"]), where=n > 0)
    return np.abs(stats["t"]) + stats["n"][:, :, None] * each


ELEMENTWISE = layout(
    "elementwise",
    {"n": (CLASS, FEATURE), "t": (CLASS, FEATURE, ORDER)},
    counted={"t": "n"},
    noise=(CLASS, FEATURE, ORDER),
    size=_size,
)


def class_ranges(rows: Rows) -> list[tuple[int, int]]:
    """The classes cut into one contiguous range per thread, about equally many rows each."""
    n_classes = len(rows.classes)
    ends = np.cumsum(np.bincount(rows.codes, minlength=n_classes) if rows.sizes is None else rows.sizes)
    parts = min(cores(), n_classes)
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, parts) / parts) + 1 if len(ends) else np.array([])
    edges = [0, *np.unique(np.clip(cuts, 1, n_classes)).astype(int).tolist(), n_classes]
    return [(a, b) for a, b in itertools.pairwise(edges) if a < b]


def sum_entries(add: AddEntries, X: Csr, rows: Rows, shape: tuple[int, ...]) -> Array:
    """Sums, of this shape (K, …), over the stored entries of a CSR matrix.

    ``add(a, b, lo, hi, t)`` adds to t what the rows [a, b) of the classes [lo, hi) have.  Where that makes many blocks
    of rows, each with many more entries than there are sums, a block has sums of its own.  Else the threads share out
    the classes, so that every cell is added up by one thread, in row order.
    """
    total = np.zeros(shape)
    blocks = entry_blocks(X.indptr, least=max(4 * total.size, -(-int(X.indptr[-1]) // MANY_BLOCKS)))

    spare: list[Array] = []  # used again: fresh memory would cost a page fault for every 512 sums

    def of_block(a: int, b: int) -> Array:
        try:
            t = spare.pop()
        except IndexError:
            t = np.empty(shape)
        t[...] = 0.0
        add(a, b, 0, len(t), t)
        return t

    def of_classes(lo: int, hi: int) -> None:
        for a, b in entry_blocks(X.indptr):
            add(a, b, lo, hi, total)

    if len(blocks) >= MANY_BLOCKS:
        for part in in_order(of_block, blocks):
            total += part
            spare.append(part)
    else:
        every(of_classes, class_ranges(rows))
    return total


@dataclass(frozen=True)
class Elementwise(SmoothedFamily[NumberRows], IndependentColumns):
    """Independent columns.  ``alpha`` pseudo-rows, spread like all rows of all classes, smooth every class.

    α = 1 by default; ``alpha=0`` is maximum likelihood, but for a class without values, which gets a pseudo-row anyway.
    """

    alpha: Alpha = field(default=1.0, kw_only=True)  # a number, numbers by column, or how to choose one
    tuning: Tuning | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_alpha(self, evidence=type(self).log_evidence is not SmoothedFamily.log_evidence)

    order: ClassVar[int] = 1

    @abstractmethod
    def T(self, x: Array) -> Array:
        """Sufficient statistics.  # (n, p) → (n, p, order)"""

    @abstractmethod
    def solve(self, n: Array, t: Array) -> Natural:
        """Natural parameters from the sums (or pseudo-sums) n and t = Σ T.  # (…, p), (…, p, order)"""

    @abstractmethod
    def draw(self, theta: Array, rng: np.random.Generator) -> Array:
        """One value for each set of natural parameters.  # (n, p, order) → (n, p)"""

    def shown(self, x: Array) -> Array:
        """Values that the model reads as the ones drawn."""
        return x

    def mean(self, theta: Array) -> Array:
        """The mean for each set of natural parameters; families that have no formula for it take that of many draws."""
        many = np.broadcast_to(theta, (1000, *theta.shape))
        return np.asarray(self.draw(many, np.random.default_rng(0)).mean(axis=0))

    def parameters(self, theta: Array) -> dict[str, Array]:
        """The parameters that textbooks have for the family, by name.  # (K, p, order) → (K, p) each"""
        return {"mean": self.mean(theta)}

    def mixed(self, posterior: Array, theta: Array) -> Array:
        """The mean of a mixture of the classes.  # (n, K), (K, p, order) → (n, p)"""
        return posterior @ self.mean(theta)

    @property
    def mixes(self) -> bool:
        """Whether the mean of a mixture is another than that of the means."""
        return type(self).mixed is not Elementwise.mixed

    def names(self) -> tuple[str, ...]:
        """What the columns of T(x) are called, column by column."""
        return tuple(self.columns)

    # --- collect

    def collect(self, X: NumberRows, rows: Rows) -> Stats:
        """n[c, j] = Σ w and t[c, j] = Σ w T(x) over the present values."""
        from ...kernels.moments import class_sums

        K, p = len(rows.classes), X.shape[1]
        axes = {CLASS: rows.classes, FEATURE: Index.range(p), ORDER: Index.range(self.order)}
        sums = self._sparse_sums(csr(X), rows) if is_sparse(X) and self.has_zero else None
        if sums is not None:
            return Stats(ELEMENTWISE, axes, sums)

        def work(start: int, stop: int) -> tuple[Array, Array]:
            x = block(X, start, stop).astype(np.float64)
            self.check(x, start)
            n, t = np.zeros((K, p)), np.zeros((K, p, self.order))
            class_sums(freeze(self.T(x)), freeze(x == x), *rows.part(start, stop), n, t)
            return n, t

        n, t = np.zeros((K, p)), np.zeros((K, p, self.order))
        for dn, dt in in_order(work, row_blocks(X.shape[0], p * self.order, COPY_CELLS * 4)):
            n += dn
            t += dt
        return Stats(ELEMENTWISE, axes, {"n": n, "t": t})

    def _sparse_sums(self, X: Csr, rows: Rows) -> dict[str, Array] | None:
        """Zeros are T(0) each: t = N·T(0) + Σ over stored entries of T(x) − T(0).  None where some are missing."""
        from ...kernels.sparse_rows import csr_class_statistics, csr_class_sums

        odd: list[int] = []
        if not self._seen_in_sums:
            self.check_sparse(X)
            if not sparse_without_missing(X):
                return None
        K, p = len(rows.classes), X.shape[1]
        N = np.broadcast_to(rows.counts()[:, None], (K, p))  # no room of its own
        zero = self.T(np.zeros((1, 1)))[0, 0]  # (order,)

        def add(a: int, b: int, lo: int, hi: int, t: Array) -> None:
            ends, places, values = entries(X, a, b)
            if self.adds_entries:
                labels = rows.part(a, b)
                if not csr_class_sums(ends, places, values, self.entry_threshold, *labels, lo, hi, t[..., 0]):
                    odd.append(a)
            else:
                T = freeze(self.T(values.astype(np.float64)[:, None])[:, 0, :] - zero)
                csr_class_statistics(ends, places, T, *rows.part(a, b), lo, hi, t)

        t = sum_entries(add, X, rows, (K, p, self.order))
        if odd or not sum_is_finite(t):
            self.check_sparse(X)
            if not sparse_without_missing(X):
                return None
        if zero.any():
            t += N[:, :, None] * zero
        return {"n": N, "t": t}

    @property
    def adds_entries(self) -> bool:
        """Whether T is x itself or, with an ``entry_threshold``, 1 above it and else 0, and T(0) = 0."""
        return False

    @property
    def entry_threshold(self) -> float | None:
        """Above which a stored entry of sparse rows counts as 1; None: as it is."""
        return None

    @property
    def _seen_in_sums(self) -> bool:
        """Whether adding up stored entries shows the odd ones: all finite numbers from 0 on lie in the support."""
        return self.adds_entries and not self.outside(np.array([[np.finfo(np.float64).max]])).any()

    # --- solve

    def smooth(self, n: Array, t: Array) -> tuple[Array, Array]:
        """Add ``alpha`` pseudo-rows spread like the pooled rows; a cell without rows gets one in any case."""
        N, total = n.sum(axis=-2)[..., None], t.sum(axis=-3)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(N > 0, total / N, np.nan)[..., None, :, :]  # (…, 1, p, order)
        a = np.where(n > 0, self.alpha, np.maximum(self.alpha, 1.0))  # (…, K, p)
        return n + a, t + a[..., None] * mean

    def solve_smoothed(self, n: Array, t: Array) -> Natural:
        """Natural parameters of the smoothed sums."""
        natural = self.solve(*self.smooth(n, t))
        if natural.zero is None:
            return natural
        pooled = t.sum(axis=-3) / n.sum(axis=-2)[..., None]  # (…, p, order)
        return natural._replace(theta=natural.theta + natural.zero * self.limit(pooled)[..., None, :, :])

    def limit(self, pooled: Array) -> Array:
        """The finite part that the pooled pseudo-rows leave in θ of an event of probability 0 as α → 0."""
        return np.zeros_like(pooled)

    def scorer(self, stats: Stats) -> ElementwiseScorer:
        """Solve the smoothed sums; a column without any value drops out."""
        n, t = stats["n"], stats["t"]
        warn_absent(n, stats.axes[CLASS].labels, self.columns)
        return ElementwiseScorer(self.solvable(stats), n, t)

    def of_columns(self, part: slice, p: int) -> Elementwise:
        """The family of these of p columns, which may be smoothed each by an α of its own."""
        return self.having(alpha=np.asarray(self.alpha)[part]) if np.shape(self.alpha) == (p,) else self

    def natural(self, n: Array, t: Array) -> Natural:
        """θ and A of smoothed sums; 0 for a column without any value.  # (…, K, p), (…, K, p, order)"""
        empty = np.broadcast_to(n.sum(axis=-2, keepdims=True) <= 0, n.shape)
        with np.errstate(all="ignore"):
            natural = self.solve_smoothed(n, t)
        if empty.any():
            parts = [None if a is None else np.where(_like(empty, a), 0.0, a) for a in natural]
            natural = Natural(*parts)  # type: ignore[arg-type]
        return natural

    def leave_one_out(self, X: NumberRows, rows: Rows, stats: Stats) -> LooScores:
        """Σ_j T(x_j)·Θ_cj − A_cj + log h(x_j), Θ and A solved from the sums less this row, all rows at once."""
        from .leave_one_out import leave_one_out

        return leave_one_out(self.solvable(stats), X, rows, stats)

    def infeasible(self, n: Array, t: Array, slack: Array) -> NDArray[np.bool_]:
        """Which cells hold sums that no n rows could have, each known to ``slack``.  # (K, p), (K, p, order) → (K, p)

        Only cells with rows are asked.
        """
        return np.zeros(n.shape, dtype=bool)

    def without_rounding(self, before: Stats, after: Stats) -> Stats:
        """Statistics that are no more than the rounding of what they were taken from are 0."""
        t = after["t"]
        if after.noise is None:
            return after
        return replace(after, sums={**after.sums, "t": np.where(is_rounding(t, after.noise, ROUNDING), 0.0, t)})

    def check_forgotten(self, before: Stats, after: Stats) -> None:
        """No cell can have a negative number of rows, or statistics outside their range."""
        bad, some = short_of_rows(before["n"], after["n"]), after["n"] > EMPTIED * before["n"]
        if "t" in after.sums:
            slack = EMPTIED * np.abs(before["t"]) + ROUNDING * np.asarray(after.noise)
            n = np.where(some, after["n"], 1.0)
            bad = bad | (some & self.infeasible(n, after["t"], slack))
            bad |= self.from_0 & ~some & (after["t"][..., 0] < -slack[..., 0])
        if bad.any():
            raise never_learned(after, bad, self.columns)
        if self.from_0:
            self._warn_few_digits(before, after)

    from_0: ClassVar[bool] = False  # whether the first statistic is never below 0

    def _warn_few_digits(self, before: Stats, after: Stats) -> None:
        """Say where so little is left of the sum of a column that rounding shows in it."""
        left, was, n = after["t"][..., 0], before["t"][..., 0], after["n"]
        with np.errstate(invalid="ignore", divide="ignore"):
            scale = np.where(n > 0, left / n, 0.0).max(axis=0, initial=0.0)
        few = few_digits_left(left, was, n, scale) & (n > EMPTIED * before["n"]) & is_inexact(was)
        say_few_digits(few & (n != before["n"]), "sum", after, self.columns)


def without(total: Array, part: Array, least: float = EMPTIED) -> Array:
    """total − part, and 0 where rounding is all that is left."""
    left = total - part
    return np.where(is_rounding(left, total, least), 0.0, left)


def word_name(columns: Sequence[str], j: int) -> str:
    """The name of a column, or of a word that has never been seen."""
    return columns[j] if j < len(columns) else f"word {j}"


def never_learned(after: Stats, bad: NDArray[np.bool_], columns: Sequence[str]) -> InputError:
    """The error for a forgetting that cannot be one, naming the first class and column where it shows."""
    c, j = (int(v) for v in np.argwhere(bad)[0])
    name = columns[j]
    return NotLearnedError(
        f"class {after.axes[CLASS].labels[c]!r} cannot have learned these rows: column {name!r} would be left with "
        "impossible sums",
        how=", with the same labels and weights",
    )


def _like(mask: NDArray[np.bool_], a: Array) -> NDArray[np.bool_]:
    return mask[..., None] if a.ndim > mask.ndim else mask
