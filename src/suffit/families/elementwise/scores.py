"""Scores of independent columns: T(x)·Θ − A over the values that are there, dense and sparse."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core.family import Between, ParameterValues, Scorer, Terms
from ...core.logistic import Impossible, LogisticForm
from ...core.stats import Stats
from ...data.arrays import Array, Cells, Codes, Csr, NumberRows, adds_up, block, csr, entries, freeze, is_sparse
from ...kernels.runtime.threads import COPY_CELLS, in_order, row_blocks

if TYPE_CHECKING:
    from .shape import Elementwise


SOLVED_CELLS = 1 << 15  # sums that are solved together


class Natural(NamedTuple):
    """Natural parameters: log p = T·theta − A + log h; ``zero``, ``zero0`` count events of probability 0."""

    theta: Array  # (…, p, order)
    A: Array  # (…, p)
    zero: Array | None = None  # (…, p, order)
    zero0: Array | None = None  # (…, p)


def sparse_terms(X: Csr, a: Codes, b: Codes, cells: Callable[[Array, Codes, NDArray[np.integer]], Array]) -> Terms:
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


class Form:
    """T(x)·Θ_c − A_c, with Θ in the order that rows ask for: by column for stored entries, by class for dense rows.

    Rows without missing values ask for ΣA alone, so that A itself is solved when it is asked for.
    """

    def __init__(self, family: Elementwise, by_feature: Array, offset: Array, solve_A: Callable[[], Array]) -> None:
        self.family, self.solve_A = family, solve_A
        self.by_feature: Array = freeze(by_feature)  # (p, order, K)
        self.theta = np.moveaxis(self.by_feature, -1, 0)  # (K, p, order), the same numbers
        self.offset = freeze(offset)  # −ΣA  (K,)

    @cached_property
    def A(self) -> Array:
        """What Θ leaves of log p.  # → (K, p)"""
        return self.solve_A()

    @cached_property
    def by_class(self) -> Array:
        """Θ of a class in one block.  # → (K, p·order)"""
        return freeze(self.theta.reshape(len(self.theta), -1).astype(np.float64, copy=False))

    @cached_property
    def of_zeros(self) -> Array:
        """The score of a row of zeros.  # → (K,)"""
        T = self.family.T(np.zeros((1, 1)))[0, 0]
        return freeze(self.offset + (self.theta @ T).sum(axis=1)) if T.any() else self.offset


def solved_forms(family: Elementwise, n: Array, t: Array) -> tuple[Form, Form | None]:
    """log p(x | c), and how many events of probability 0 a row has, where there are such.

    n: (K, p), t: (K, p, order).  Columns are solved in portions: there may be millions of words, and what is needed on
    the way takes several times what is kept.
    """
    K, p, order = t.shape
    portions = row_blocks(p, K * order, SOLVED_CELLS)
    if len(portions) <= 1:
        whole = family.natural(n, t)
        never, start = whole.zero, whole.zero0
        form = Form(family, np.moveaxis(whole.theta, 0, -1), -whole.A.sum(axis=1), lambda: whole.A)
        if never is None or start is None or not (never.any() or start.any()):
            return form, None
        return form, Form(family, np.moveaxis(never, 0, -1), start.sum(axis=1), lambda: -start)
    theta, zero = np.empty((p, order, K)), cast("Array", np.zeros((p, order, K), np.int8))  # few bits do

    def solve(start: int, stop: int) -> Natural:
        part = slice(start, stop)
        return family.of_columns(part, p).natural(n[:, part], t[:, part])

    def work(start: int, stop: int) -> tuple[Array, Array]:
        natural = solve(start, stop)
        theta[start:stop] = np.moveaxis(natural.theta, 0, -1)
        if natural.zero is not None:
            zero[start:stop] = np.moveaxis(natural.zero, 0, -1)
        return natural.A.sum(axis=1), np.zeros(K) if natural.zero0 is None else natural.zero0.sum(axis=1)

    def of_all(name: str) -> Array:
        return np.concatenate([getattr(solve(*portion), name) for portion in portions], axis=1)

    A, zero0 = np.sum([*in_order(work, portions)], axis=0)
    form = Form(family, theta, -A, lambda: of_all("A"))
    return form, Form(family, zero, zero0, lambda: -of_all("zero0")) if zero.any() or zero0.any() else None


class ElementwiseScorer(Scorer[NumberRows, Stats]):
    """log p(x | c) = Σ_j T(x_j)·Θ_cj − A_cj over the columns j that are present."""

    takes_missing = True
    cells = COPY_CELLS * 2

    def __init__(self, family: Elementwise, n: Array, t: Array) -> None:
        self.family, self.key, self.columns = family, family.key, family.columns
        self.form, self.never = solved_forms(family, n, t)
        self.limited = self.never is not None
        self.n_classes, self.n_parameters = len(t), t.size

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """Σ_j T(x_j)·Θ_cj − A_cj."""
        self._linear(X, start, stop, self.form, out)

    def _linear(self, X: NumberRows, start: int, stop: int, form: Form, out: Array) -> None:
        """T(X)·Θᵀ − M·Aᵀ, M marking what is present."""
        from ...kernels.scores import linear_scores

        if is_sparse(X) and self.family.has_zero and self._sparse(X, start, stop, form, out):
            return
        x = block(X, start, stop).astype(np.float64, copy=False)
        present = x == x
        T = self.family.T(x).reshape(len(x), -1)
        nothing = freeze(np.zeros(T.shape[1]))
        if present.all():
            linear_scores(freeze(T), nothing, form.by_class, form.offset, out)
            return
        T = np.where(np.repeat(present, form.theta.shape[2], axis=1), T, 0.0)
        linear_scores(freeze(T), nothing, form.by_class, freeze(np.zeros(self.n_classes)), out)
        out -= present @ form.A.T

    def _sparse(self, X: Csr, a: int, b: int, form: Form, out: Array) -> bool:
        """The same over stored entries alone; False where some are missing."""
        from ...kernels.sparse_rows import csr_linear_scores, csr_scores

        start, by_feature = form.of_zeros, form.by_feature
        ends, places, values = entries(X, a, b)
        if self.family.adds_entries:
            threshold = self.family.entry_threshold
            good = csr_linear_scores(ends, places, values, threshold, by_feature[:, 0], start, out)
            if not good and self._by_presence:
                self.family.check_sparse(X)
            return bool(good) and adds_up(out)
        if not adds_up(values) and np.isnan(values).any():
            return False
        zero = self.family.T(np.zeros((1, 1)))[0, 0]
        T = freeze(self.family.T(values.astype(np.float64)[:, None])[:, 0, :] - zero)
        csr_scores(ends, places, T, by_feature, start, out)
        return True

    @property
    def _by_presence(self) -> bool:
        """Whether a stored entry is there or not, and nothing else matters."""
        return self.family.adds_entries and self.family.entry_threshold is not None

    def impossible_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """How often a class would meet a value it gives probability 0."""
        assert self.never is not None
        self._linear(X, start, stop, self.never, out)

    def check(self, X: NumberRows) -> None:
        if is_sparse(X) and self.family.has_zero:
            if not self._by_presence:  # else looked at while it is scored
                self.family.check_sparse(csr(X))
            return
        for start, stop in row_blocks(*X.shape):
            self.family.check(block(X, start, stop).astype(np.float64), start)

    def parts(self, X: NumberRows, a: Codes, b: Codes) -> Terms:
        """T(x_j)·(Θ_aj − Θ_bj) − (A_aj − A_bj): the terms of the sum."""
        terms = self._terms(X, a, b, self.form)
        return terms if self.never is None else terms._replace(never=self._terms(X, a, b, self.never))

    def _terms(self, X: NumberRows, a: Codes, b: Codes, form: Form) -> Terms:
        def cells(x: Array, c: Codes, j: NDArray[np.integer]) -> Array:
            """T(x)·Θ_cj − A_cj of values x of the columns j in the classes c."""
            return np.asarray((self.family.T(x) * form.theta[c, j]).sum(axis=-1) - form.A[c, j])

        if is_sparse(X) and self.family.has_zero:
            return sparse_terms(csr(X), a, b, lambda x, c, j: cells(x[:, None], c[:, None], j[:, None])[:, 0])
        x = block(X, 0, X.shape[0]).astype(np.float64, copy=False)
        columns = np.arange(x.shape[1])
        odds = cells(x, a[:, None], columns) - cells(x, b[:, None], columns)
        return Terms(np.where(x == x, odds, 0.0), np.zeros(len(x)))

    def log_likelihood(self, stats: Stats) -> Array | None:
        """t·Θ_c − n·A_c; None where log h(x), which is no sum that is kept, is not 0."""
        if self.family.has_base or self.never is not None:
            return None
        form = self.form
        return np.asarray((stats["t"] * form.theta).sum(axis=(1, 2)) - (stats["n"] * form.A).sum(axis=1))

    def separation(self, stats: Stats) -> Between:
        """(Θ_a − Θ_b)·(mean T of a − mean T of b): the fit matches means."""
        theta, zero = self.form.theta, None if self.never is None else self.never.theta
        n, t = self.family.smooth(stats["n"], stats["t"])
        with np.errstate(all="ignore"):
            mean = np.nan_to_num(t / n[..., None])

        def between(a: int, b: int) -> Array:
            with np.errstate(all="ignore"):
                J = ((theta[a] - theta[b]) * (mean[a] - mean[b])).sum(axis=-1)
            return np.asarray(J if zero is None else np.where((zero[a] != zero[b]).any(axis=-1), np.inf, J))

        return between

    def log_base(self, X: NumberRows) -> Array:
        """Σ_j log h(x_j)."""
        if not self.family.has_base:
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
            means = self.family.mean(self.form.theta)
        return self._possible(np.where(np.isfinite(means), means, 1.0), slice(None), self.family.interval[1])

    def typical(self, n: int) -> Array:
        return self.filled(np.full(self.centres[:n].shape, np.nan), np.eye(n, self.n_classes))

    def parameters(self) -> list[ParameterValues]:
        """Those of the family; means are 0 or 1 where smoothing is 0 and a class never shows anything else."""
        theta, found = self.form.theta, self.family.parameters(self.form.theta)
        if self.never is not None:
            means = self.family.mean(theta)
            found = {k: self._possible(v, slice(None)) if np.array_equal(v, means) else v for k, v in found.items()}
        return [ParameterValues(name, self.columns, values) for name, values in found.items()]

    def filled(self, X: NumberRows, posterior: Array) -> Array:
        """The mean of the mixture, where a value is missing; the integer next to it, where only those can be."""
        family, x = self.family, np.asarray(X)
        means = family.mixed(posterior, self.form.theta) if family.mixes else posterior @ self.centres
        near = np.rint(means)
        return np.where(np.isnan(x), np.where(family.outside(means) & ~family.outside(near), near, means), x)

    def _possible(self, values: Array, codes: Codes | slice, one: float = 1.0) -> Array:
        """0 where a class never shows anything else, 1 (or what stands for it) where it never shows 0 (smoothing 0)."""
        if self.never is None:
            return values
        zero = self.never.theta[codes][..., 0]
        return np.where(zero > 0, 0.0, np.where(zero < 0, one, values))

    def drawn_in(self, X: NumberRows) -> Array:
        return np.asarray(X, dtype=np.float64) * 1e-50

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        """Draw every column on its own, given the class."""
        return self.family.shown(self._possible(self.family.draw(self.form.theta[codes], rng), codes))

    def logistic_form(self) -> LogisticForm:
        """Weights on T(x), column by column."""
        never = self.never
        impossible = None if never is None else Impossible(never.by_class, never.offset)
        names = self.family.names()
        return LogisticForm(names, self.form.by_class, self.form.offset, self._statistic, impossible=impossible)

    def _statistic(self, X: Cells) -> Array:
        return self.family.T(np.asarray(X, dtype=np.float64)).reshape(len(X), -1)
