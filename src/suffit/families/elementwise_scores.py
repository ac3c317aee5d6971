"""Scores of independent columns: T(x)·Θ − A over the values that are there, dense and sparse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..family import Scorer, Terms
from ..forms import Impossible, LogisticForm
from ..kernels.threads import COPY_CELLS, every, row_blocks
from ..stats import Array
from ..table import (
    Codes,
    Matrix,
    block,
    csr,
    entries,
    freeze,
    is_sparse,
)

if TYPE_CHECKING:
    from .elementwise import Elementwise


class Natural(NamedTuple):
    """Natural parameters: log p = T·theta − A + log h; ``zero``, ``zero0`` count events of probability 0."""

    theta: Array  # (…, p, order)
    A: Array  # (…, p)
    zero: Array | None = None  # (…, p, order)
    zero0: Array | None = None  # (…, p)


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
            means = self.family.mean(self.natural.theta)
        return self._possible(np.where(np.isfinite(means), means, 1.0), slice(None))

    def filled(self, X: NDArray[Any], posterior: Array) -> NDArray[Any]:
        """The mean of the mixture, where a value is missing."""
        if not self.family.mixes:
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
