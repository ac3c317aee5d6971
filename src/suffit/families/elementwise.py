"""The elementwise shape: columns independent given the class, each with statistics T(x) of fixed order.

A family of this shape says what T(x) is, where x may lie, and how mean statistics become natural parameters;
the array code is here.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..family import EMPTIED, Family, LeftOut, Scorer, Terms
from ..forms import Impossible, LogisticForm
from ..kernels.threads import COPY_CELLS, cores, entry_blocks, every, in_order, row_blocks
from ..stats import CLASS, FEATURE, Array, Index, Stats, layout
from ..table import (
    Codes,
    InputError,
    Matrix,
    Rows,
    block,
    check_finite,
    csr,
    entries,
    freeze,
    is_sparse,
    refuse,
    sparse_without_holes,
)
from .holes import warn_absent
from .tuning import Tuning, alpha_as, check_alpha, evident_alpha, settled_alpha

ORDER = "order"
LEFT_OUT_CELLS = 1 << 18  # sums without a row that are solved together: rows × classes × columns
MANY_BLOCKS = 8  # enough to keep all threads busy
AddEntries = Callable[[int, int, int, int, Array], None]
ELEMENTWISE = layout("elementwise", {"n": (CLASS, FEATURE), "t": (CLASS, FEATURE, ORDER)})


class Natural(NamedTuple):
    """Natural parameters: log p = T·theta − A + log h; ``zero``, ``zero0`` count events of probability 0."""

    theta: Array  # (…, p, order)
    A: Array  # (…, p)
    zero: Array | None = None  # (…, p, order)
    zero0: Array | None = None  # (…, p)


def class_ranges(codes: Codes, n_classes: int) -> list[tuple[int, int]]:
    """The classes cut into one contiguous range per thread, about equally many rows each."""
    rows = np.cumsum(np.bincount(codes, minlength=n_classes))
    parts = min(cores(), n_classes)
    cuts = np.searchsorted(rows, rows[-1] * np.arange(1, parts) / parts) + 1 if len(rows) else np.array([])
    edges = [0, *np.unique(np.clip(cuts, 1, n_classes)).astype(int).tolist(), n_classes]
    return [(a, b) for a, b in itertools.pairwise(edges) if a < b]


def sum_entries(add: AddEntries, X: Matrix, codes: Codes, shape: tuple[int, ...]) -> Array:
    """Sums, of this shape (K, …), over the stored entries of a CSR matrix.

    ``add(a, b, lo, hi, t)`` adds to t what the rows [a, b) of the classes [lo, hi) have.  Where that makes many blocks
    of rows, each with many more entries than there are sums, a block has sums of its own.  Else the threads share out
    the classes, so that every cell is added up by one thread, in row order.
    """
    total = np.zeros(shape)
    blocks = entry_blocks(X.indptr, least=4 * total.size)

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
        every(of_classes, class_ranges(codes, len(total)))
    return total


@dataclass(frozen=True)
class Elementwise(Family):
    """Independent columns.  ``alpha`` pseudo-rows, spread like all rows of all classes, smooth every class."""

    alpha: Any = field(default=1.0, kw_only=True)  # a number, numbers by column, or how to choose one
    tuning: Tuning | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_alpha(self, evidence=type(self).log_evidence is not Elementwise.log_evidence)

    order: ClassVar[int] = 1
    support: ClassVar[str] = "needs a finite number"
    way_out: ClassVar[str] = "use gaussian, or drop the row"

    def log_evidence(self, stats: Stats, alpha: float) -> float:
        """log p(statistics | α), where a family has it."""
        raise NotImplementedError

    def settled(self, X: Matrix, rows: Rows, columns: Sequence[str]) -> Family:
        """With α chosen by leave-one-out, where that is asked for."""
        return settled_alpha(self, X, rows, columns)  # type: ignore[no-any-return]

    def settled_as(self, other: Family) -> Family:
        """With the α that a family of its kind has chosen."""
        return alpha_as(self, other)  # type: ignore[no-any-return]

    def solvable(self, stats: Any) -> Any:
        """With α chosen by the evidence of these sums, where that is asked for."""
        return evident_alpha(self, lambda alpha: self.log_evidence(stats, alpha))

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

    def mixed(self, posterior: Array, theta: Array) -> Array:
        """The mean of a mixture of the classes.  # (n, K), (K, p, order) → (n, p)"""
        return posterior @ self.mean(theta)

    def outside(self, x: Array) -> NDArray[np.bool_]:
        """Which values lie outside the support (False for NaN).  # (n, p) → (n, p)"""
        return np.zeros(x.shape, dtype=bool)

    def log_base(self, x: Array) -> Array:
        """log h(x), the part all classes share.  # (n, p) → (n, p)"""
        return np.zeros(x.shape)

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """What the columns of T(x) are called, column by column."""
        return tuple(columns)

    # --- collect

    def check(self, x: NDArray[Any], columns: Sequence[str], first_row: int) -> None:
        """Refuse what lies outside the support, naming the first such cell."""
        check_finite(x, columns, first_row)
        bad = self.outside(x)
        if bad.any():
            i, j = (int(v) for v in np.argwhere(bad)[0])
            raise refuse(columns, j, f"{self.key} {self.support}", x[i, j], first_row + i, self.way_out)

    def surely_valid(self, X: Matrix) -> bool:
        """Finite, and no value outside the support."""
        x = X.data if is_sparse(X) else X
        return bool(np.isfinite(x.sum())) and not self.outside(x).any()

    def check_sparse(self, X: Matrix, columns: Sequence[str]) -> None:
        """The same for CSR: the stored entries, and the zeros that are not stored."""
        if self.surely_valid(X):
            return
        for a, b in entry_blocks(X.indptr):
            data = np.asarray(X.data[X.indptr[a] : X.indptr[b]], dtype=np.float64)
            bad = np.isinf(data) | self.outside(data[None])[0]
            if bad.any():
                e = int(np.argmax(bad)) + int(X.indptr[a])
                i, j = int(np.searchsorted(X.indptr, e, side="right")) - 1, int(X.indices[e])
                check_finite(np.array([[X.data[e]]], dtype=np.float64), [columns[j]], i)
                raise refuse(columns, j, f"{self.key} {self.support}", X.data[e], i, self.way_out)

    @property
    def has_zero(self) -> bool:
        """Whether 0 lies in the support: sparse rows are then added up without being made dense."""
        return not self.outside(np.zeros((1, 1))).any()

    def collect(self, X: Matrix, rows: Rows, columns: Sequence[str]) -> Stats:
        """n[c, j] = Σ w and t[c, j] = Σ w T(x) over the present values."""
        from ..kernels.moments import class_sums

        K, p = len(rows.classes), X.shape[1]
        axes = {CLASS: rows.classes, FEATURE: Index.range(p), ORDER: Index.range(self.order)}
        sums = self._sparse_sums(csr(X), rows, columns) if is_sparse(X) and self.has_zero else None
        if sums is not None:
            return Stats(ELEMENTWISE, axes, sums)

        def work(start: int, stop: int) -> tuple[Array, Array]:
            x = block(X, start, stop).astype(np.float64)
            self.check(x, columns, start)
            n, t = np.zeros((K, p)), np.zeros((K, p, self.order))
            class_sums(freeze(self.T(x)), freeze(x == x), *rows.part(start, stop), n, t)
            return n, t

        n, t = np.zeros((K, p)), np.zeros((K, p, self.order))
        for dn, dt in in_order(work, row_blocks(X.shape[0], p * self.order, COPY_CELLS * 4)):
            n += dn
            t += dt
        return Stats(ELEMENTWISE, axes, {"n": n, "t": t})

    def _sparse_sums(self, X: Matrix, rows: Rows, columns: Sequence[str]) -> dict[str, Array] | None:
        """Zeros are T(0) each: t = N·T(0) + Σ over stored entries of T(x) − T(0).  None where some are missing."""
        from ..kernels.counts import csr_class_statistics, csr_class_sums

        odd: list[int] = []
        if not self._seen_in_sums:
            self.check_sparse(X, columns)
            if not sparse_without_holes(X):
                return None
        K, p = len(rows.classes), X.shape[1]
        N = np.repeat(rows.counts()[:, None], p, axis=1)
        zero = self.T(np.zeros((1, 1)))[0, 0]  # (order,)

        def add(a: int, b: int, lo: int, hi: int, t: Array) -> None:
            ends, places, values = entries(X, a, b)
            if self.entry_threshold is not None:
                labels = rows.part(a, b)
                if not csr_class_sums(ends, places, values, self.entry_threshold, *labels, lo, hi, t[..., 0]):
                    odd.append(a)
            else:
                T = freeze(self.T(values.astype(np.float64)[:, None])[:, 0, :] - zero)
                csr_class_statistics(ends, places, T, *rows.part(a, b), lo, hi, t)

        t = sum_entries(add, X, rows.codes, (K, p, self.order))
        if odd or not np.isfinite(t.sum()):
            self.check_sparse(X, columns)
            if not sparse_without_holes(X):
                return None
        if zero.any():
            t += N[:, :, None] * zero
        return {"n": N, "t": t}

    @property
    def entry_threshold(self) -> float | None:
        """How a stored entry of sparse rows counts, where that is simple: NaN as it is, a number as 1 above it."""
        return None

    @property
    def _seen_in_sums(self) -> bool:
        """Whether adding up stored entries shows the odd ones: all finite numbers from 0 on lie in the support."""
        return self.entry_threshold is not None and not self.outside(np.array([[np.finfo(np.float64).max]])).any()

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

    def scorer(self, stats: Stats, columns: Sequence[str]) -> ElementwiseScorer:
        """Solve the smoothed sums; a column without any value is left out."""
        n, t = stats["n"], stats["t"]
        warn_absent(n, stats.axes[CLASS].labels, columns)
        family = self.solvable(stats)
        return ElementwiseScorer(family, family.natural(n, t), tuple(columns))

    def natural(self, n: Array, t: Array) -> Natural:
        """θ and A of smoothed sums; 0 for a column without any value.  # (…, K, p), (…, K, p, order)"""
        empty = np.broadcast_to(n.sum(axis=-2, keepdims=True) <= 0, n.shape)
        with np.errstate(all="ignore"):
            natural = self.solve_smoothed(n, t)
        if empty.any():
            parts = [None if a is None else np.where(_like(empty, a), 0.0, a) for a in natural]
            natural = Natural(*parts)  # type: ignore[arg-type]
        return natural

    def left_out(self, X: Matrix, rows: Rows, stats: Any, columns: Sequence[str]) -> LeftOut:
        """Σ_j T(x_j)·Θ_cj − A_cj + log h(x_j), Θ and A solved from the sums less this row, all rows at once."""
        K, p = stats["n"].shape
        out, never = np.empty((len(rows), K)), np.zeros((len(rows), K))
        family = self.solvable(stats)

        @np.errstate(all="ignore")
        def work(start: int, stop: int) -> None:
            x = block(X, start, stop).astype(np.float64)
            present = x == x
            T = np.where(present[..., None], self.T(x), 0.0)
            codes, weights = rows.part(start, stop)
            each, w = np.arange(stop - start), weights[:, None] * present
            n, t = (np.repeat(stats[name][None], stop - start, axis=0) for name in ("n", "t"))
            n[each, codes] = without(n[each, codes], w)
            t[each, codes] = np.where(n[each, codes][..., None] > 0, without(t[each, codes], w[..., None] * T), 0.0)
            theta, A, zero, zero0 = family.natural(n, t)
            base = np.where(present, self.log_base(x), 0.0).sum(axis=1, keepdims=True)
            out[start:stop] = np.einsum("bpo,bkpo->bk", T, theta) - np.einsum("bp,bkp->bk", present, A) + base
            if zero is not None and zero0 is not None:
                events = np.einsum("bpo,bkpo->bk", T, zero) + np.einsum("bp,bkp->bk", present, zero0)
                never[start:stop] = events

        every(work, row_blocks(len(rows), K * p * self.order, LEFT_OUT_CELLS))
        return LeftOut(out, never if never.any() else None)

    def infeasible(self, n: Array, t: Array) -> NDArray[np.bool_]:
        """Which cells hold sums that no n rows could have, rounding allowed for.  # (K, p), (K, p, order) → (K, p)"""
        return np.zeros(n.shape, dtype=bool)

    def check_forgotten(self, before: Stats, after: Stats, columns: Sequence[str]) -> None:
        """No cell can have a negative number of rows, or statistics outside their range."""
        slack = 1e-9 * np.maximum(before["n"], 1.0)
        bad = after["n"] < -slack
        if "t" in after.sums:
            bad = bad | self.infeasible(after["n"] + slack, after["t"])
        if bad.any():
            raise never_learned(after, bad, columns)


def without(total: Array, part: Array) -> Array:
    """total − part, and 0 where rounding is all that is left."""
    left = total - part
    return np.where(np.abs(left) <= EMPTIED * np.abs(total), 0.0, left)


def never_learned(after: Stats, bad: NDArray[np.bool_], columns: Sequence[str]) -> InputError:
    """The error for a forgetting that cannot be one, naming the first class and column where it shows."""
    c, j = (int(v) for v in np.argwhere(bad)[0])
    name = columns[j] if j < len(columns) else f"word {j}"  # a word that has never been seen
    return InputError(
        f"forget: class {after.axes[CLASS].labels[c]!r} cannot have learned these rows: column {name!r} would be "
        "left with sums that no rows have; forget only rows that were learned, with the same labels and weights"
    )


def sparse_terms(X: Any, a: Codes, b: Codes, cells: Callable[[Array, Codes, Any], Array]) -> Terms:
    """Terms of CSR rows beside those of a row of zeros, whose sum over the columns is the rest.

    ``cells(x, c, j)`` are the terms of values x of the columns j in the classes c, all of one length.
    """
    ends, j, x = entries(X, 0, X.shape[0])
    row = np.repeat(np.arange(X.shape[0]), np.diff(ends))
    here, zero = x.astype(np.float64), np.zeros(len(x))
    odds = np.where(here == here, cells(here, a[row], j) - cells(here, b[row], j), 0.0)
    odds -= cells(zero, a[row], j) - cells(zero, b[row], j)
    every_j, rest = np.arange(X.shape[1]), np.zeros(X.shape[0])
    for c in np.union1d(a, b):
        start = float(cells(np.zeros(X.shape[1]), np.full(X.shape[1], c), every_j).sum())
        rest += start * ((a == c) * 1.0 - (b == c))
    return Terms(sparse.csr_array((odds, j, ends), shape=X.shape), rest)


def _like(mask: NDArray[np.bool_], a: Array) -> NDArray[np.bool_]:
    return mask[..., None] if a.ndim > mask.ndim else mask


class ElementwiseScorer(Scorer):
    """log p(x | c) = Σ_j T(x_j)·Θ_cj − A_cj over the columns j that are present."""

    takes_missing = True
    cells = COPY_CELLS * 2

    def __init__(self, family: Elementwise, natural: Natural, columns: tuple[str, ...]) -> None:
        self.family = family
        self.natural = natural
        self.columns = columns
        K, p, order = natural.theta.shape
        self.n_classes, self.n_parameters = K, K * p * order
        self._laid_out: tuple[Array, Array, Array] | None = None

    def score_rows(self, X: Matrix, start: int, stop: int, out: Array) -> None:
        """Σ_j T(x_j)·Θ_cj − A_cj."""
        self._linear(X, start, stop, self.natural.theta, self.natural.A, out)

    def _linear(self, X: Matrix, start: int, stop: int, theta: Array, A: Array, out: Array) -> None:
        """T(X)·thetaᵀ − M·Aᵀ, M marking what is present."""
        from ..kernels.scores import linear_scores

        if is_sparse(X) and self.family.has_zero and self._sparse(X, start, stop, theta, A, out):
            return
        x = block(X, start, stop).astype(np.float64, copy=False)
        present = x == x
        T = self.family.T(x).reshape(len(x), -1)
        weights = freeze(theta.reshape(len(theta), -1))
        nothing = freeze(np.zeros(weights.shape[1]))
        if present.all():
            linear_scores(freeze(T), nothing, weights, freeze(-A.sum(axis=1)), out)
            return
        T = np.where(np.repeat(present, theta.shape[2], axis=1), T, 0.0)
        linear_scores(freeze(T), nothing, weights, freeze(np.zeros(len(theta))), out)
        out -= present @ A.T

    def _sparse(self, X: Matrix, a: int, b: int, theta: Array, A: Array, out: Array) -> bool:
        """The same over stored entries alone; False where some are missing."""
        from ..kernels.counts import csr_linear_scores, csr_presence_scores, csr_scores

        start, by_feature = self._by_feature(theta, A)
        ends, places, values = entries(X, a, b)
        if self._by_presence:
            threshold = self.family.entry_threshold
            good = csr_presence_scores(ends, places, values, threshold, by_feature[:, 0], start, out)
            if not good:
                self.family.check_sparse(X, self.columns)
            return bool(good)
        if self.family.entry_threshold is not None:
            return bool(csr_linear_scores(ends, places, values, by_feature[:, 0], start, out))
        if np.isnan(values.sum()) and np.isnan(values).any():
            return False
        zero = self.family.T(np.zeros((1, 1)))[0, 0]
        T = freeze(self.family.T(values.astype(np.float64)[:, None])[:, 0, :] - zero)
        csr_scores(ends, places, T, by_feature, start, out)
        return True

    @property
    def _by_presence(self) -> bool:
        """Whether a stored entry is there or not, and nothing else matters."""
        threshold = self.family.entry_threshold
        return threshold is not None and not math.isnan(threshold)

    def _by_feature(self, theta: Array, A: Array) -> tuple[Array, Array]:
        """The score of a row of zeros, and θ column by column, kept for the next block.  # → (K,), (p, order, K)"""
        if self._laid_out is None or self._laid_out[0] is not theta:
            zero = self.family.T(np.zeros((1, 1)))[0, 0]
            start = freeze((theta @ zero - A).sum(axis=1))
            self._laid_out = (theta, start, freeze(np.moveaxis(theta, 0, -1)))
        return self._laid_out[1:]

    def impossible(self, X: Matrix) -> Array | None:
        """How often a class would meet a value it gives probability 0."""
        zero, zero0 = self.natural.zero, self.natural.zero0
        if zero is None or zero0 is None or not (zero.any() or zero0.any()):
            return None
        X = csr(X) if is_sparse(X) else X
        out = np.empty((X.shape[0], self.n_classes))
        every(lambda a, b: self._linear(X, a, b, zero, -zero0, out[a:b]), self.blocks(X))
        return out

    def check(self, X: Matrix) -> None:
        """Refuse rows outside the support."""
        if is_sparse(X) and self.family.has_zero:
            if not self._by_presence:  # else looked at while it is scored
                self.family.check_sparse(csr(X), self.columns)
            return
        for start, stop in row_blocks(*X.shape):
            self.family.check(block(X, start, stop).astype(np.float64), self.columns, start)

    def parts(self, X: Matrix, a: Codes, b: Codes) -> Terms:
        """T(x_j)·(Θ_aj − Θ_bj) − (A_aj − A_bj): the terms of the sum."""
        theta, A, zero, zero0 = self.natural
        terms = self._terms(X, a, b, theta, A)
        if zero is None or zero0 is None or not (zero.any() or zero0.any()):
            return terms
        return terms._replace(never=self._terms(X, a, b, zero, -zero0))

    def _terms(self, X: Matrix, a: Codes, b: Codes, theta: Array, A: Array) -> Terms:
        def cells(x: Array, c: Codes, j: Any) -> Array:
            """T(x)·Θ_cj − A_cj of values x of the columns j in the classes c."""
            return np.asarray((self.family.T(x) * theta[c, j]).sum(axis=-1) - A[c, j])

        if is_sparse(X) and self.family.has_zero:
            return sparse_terms(csr(X), a, b, lambda x, c, j: cells(x[:, None], c[:, None], j[:, None])[:, 0])
        x = block(X, 0, X.shape[0]).astype(np.float64, copy=False)
        columns = np.arange(x.shape[1])
        odds = cells(x, a[:, None], columns) - cells(x, b[:, None], columns)
        return Terms(np.where(x == x, odds, 0.0), np.zeros(len(x)))

    def log_base(self, X: Matrix) -> Array:
        """Σ_j log h(x_j)."""
        if type(self.family).log_base is Elementwise.log_base:
            return np.zeros(X.shape[0])  # h = 1: sparse rows need not be made dense
        out = np.empty(X.shape[0])
        for start, stop in row_blocks(*X.shape):
            x = block(X, start, stop).astype(np.float64)
            out[start:stop] = np.where(x == x, self.family.log_base(x), 0.0).sum(axis=1)
        return out

    @property
    def centres(self) -> Array:
        """The means of the family; 1 where it has none, in a column without any value."""
        with np.errstate(all="ignore"):
            means = self.family.mean(self.natural.theta)
        return self._possible(np.where(np.isfinite(means), means, 1.0), slice(None))

    def filled(self, X: NDArray[Any], posterior: Array) -> NDArray[Any]:
        """The mean of the mixture, where a value is missing."""
        if type(self.family).mixed is Elementwise.mixed:
            return super().filled(X, posterior)
        return np.where(np.isnan(X), self.family.mixed(posterior, self.natural.theta), X)

    def _possible(self, values: Array, codes: Any) -> Array:
        """0 where a class never shows anything else, 1 where it never shows 0 (smoothing 0)."""
        if self.natural.zero is None:
            return values
        zero = self.natural.zero[codes][..., 0]
        return np.where(zero > 0, 0.0, np.where(zero < 0, 1.0, values))

    def drawn_in(self, X: NDArray[Any]) -> NDArray[Any]:
        """Towards 0."""
        return np.asarray(X, dtype=np.float64) * 1e-50

    def sample(self, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
        """Draw every column on its own, given the class."""
        return self.family.shown(self._possible(self.family.draw(self.natural.theta[codes], rng), codes))

    def logistic_form(self) -> LogisticForm:
        """Weights on T(x), column by column."""
        theta, A, zero, zero0 = self.natural
        impossible = None
        if zero is not None and zero0 is not None and (zero.any() or zero0.any()):
            impossible = Impossible(zero.reshape(len(zero), -1), zero0.sum(axis=1))
        return LogisticForm(
            self.family.names(self.columns),
            theta.reshape(len(theta), -1),
            -A.sum(axis=1),
            self._statistic,
            impossible=impossible,
        )

    def _statistic(self, X: NDArray[Any]) -> Array:
        return self.family.T(np.asarray(X, dtype=np.float64)).reshape(len(X), -1)
