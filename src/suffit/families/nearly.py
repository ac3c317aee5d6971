"""Jointly normal columns with one row left out, nearly: to compare many settings soon.

Without row i, of class y and distance d from its mean, the matrix of class k is ∝ M_k − b·d dᵀ (see ``left_out``), to
which shrinking adds a multiple of I that goes with its trace.  Here that multiple is what the rows of a class leave on
average: one for its own rows, and one for all others.  So M_k + c·I has a factor for all of them, and a row is taken
out of it by the formula of Sherman and Morrison.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..stats import Array
from ..table import Codes, freeze
from .elementwise import without
from .heavy_scores import log_density
from .left_out import NOTHING_LEFT, Scatter

LITTLE = 0.25  # share of a trace that a row takes with it, times columns: for less, the factor for others' rows does


class NearlyLeftOut:
    """Rows to compare settings on, and what leaving out each does to the matrix of each class."""

    def __init__(self, scatter: Scatter, x: Array, codes: Codes, weights: Array) -> None:
        self.order = np.argsort(codes, kind="stable")
        self.codes, weights = freeze(codes[self.order]), weights[self.order]
        keep, self.columns = scatter.keep, scatter.means.shape[1]
        middle = scatter.means.mean(axis=0)
        self.x, self.means = ((a - middle)[:, keep].astype(np.float32) for a in (x[self.order], scatter.means))
        self.own, self.shared = scatter.own, scatter.shared
        if len(keep) < self.columns:
            self.own, self.shared = self.own[:, keep[:, None], keep], self.shared[keep[:, None], keep]
        self.n = scatter.sums["n"]
        before = self.n[self.codes]
        left = without(before, weights)
        some = left > 0
        self.lost = before - left
        self.grown = np.divide(before, left, out=np.ones_like(before), where=some)  # g
        self.taken = np.where(some, weights * self.grown, 0.0)  # b of the row's own class
        self.mine = np.arange(len(self.n)) == self.codes[:, None]  # (n, K)
        self.gone = np.where(self.mine, left[:, None], self.n) <= 0
        self.ends = np.searchsorted(self.codes, np.arange(len(self.n) + 1))

    def log_densities(self, tie: float, shrinkage: float, freedoms: Sequence[float]) -> list[Array]:
        """log p(x_i | k) without row i for each of the tails; NaN where a matrix is singular.  # → [(n, K)]"""
        p = self.x.shape[1]
        with np.errstate(all="ignore"):  # what is singular is NaN
            squares, log_det = self._shared(shrinkage) if tie == 1.0 else self._apart(tie, shrinkage)
            over = (1 - tie) * self.n + tie * self.n.sum() - np.where(self.mine, 1.0, tie) * self.lost[:, None]
            over /= 1 - shrinkage
            squares *= over
            log_det -= p * np.log(over)
            out = []
            for freedom in freedoms:
                told = np.empty_like(squares)
                told[self.order] = np.where(self.gone, 0.0, log_density(squares, log_det, p, freedom))
                out.append(told)
        return out

    def _shared(self, shrinkage: float) -> tuple[Array, Array]:
        """d² and log det of the matrix that all classes share, before it is divided by counts.  # → (n, K), (n, K)"""
        squares, left = np.empty(self.mine.shape), np.empty(self.mine.shape)
        trace = np.trace(self.shared)
        V, log_det = self._factor(self.shared, trace * (1 - self._usual(slice(None), self.n.sum())), shrinkage)
        self._without(_times(self.x, V), _times(self.means, V), -1, 1.0, squares, left)
        return squares, np.log(left) + log_det

    def _apart(self, tie: float, shrinkage: float) -> tuple[Array, Array]:
        """The same where every class has a matrix of its own."""
        squares, left, log_det = (np.empty(self.mine.shape) for _ in range(3))
        total = np.trace(self.shared)
        other = tie * total * self._usual(slice(None), self.n.sum())
        for k, own in enumerate(self.own):
            M, trace, here = (1 - tie) * own, np.trace(own), slice(*self.ends[k : k + 2])
            if tie:
                M += tie * self.shared
            before = (1 - tie) * trace + tie * total
            V, log_det[:, k] = self._factor(M, before - other, shrinkage)
            u, means = _times(self.x, V), _times(self.means, V)
            gone = trace * self._usual(here, self.n[k])
            if (gone - other) * len(M) > LITTLE * before:
                V, log_det[here, k] = self._factor(M, before - gone, shrinkage)
                u[here] = _times(self.x[here] - self.means[k], V) + means[k]
            self._without(u, means, k, tie, squares, left)
        return squares, np.log(left) + log_det

    def _usual(self, here: slice, n: float) -> float:
        """The share of the squares of n rows that one of these takes with it, on average."""
        lost = self.lost[here]
        return float(lost.mean() / (n - lost.mean())) if len(lost) else 0.0

    def _factor(self, M: Array, trace: float, shrinkage: float) -> tuple[Array, float]:
        """An upper triangle V with VVᵀ = (M + c·I)⁻¹, below which is anything, and log det (M + c·I); or NaN."""
        from scipy.linalg.lapack import dpotrf, dtrtri

        A = M.copy()
        A.flat[:: len(A) + 1] += shrinkage / (1 - shrinkage) * trace / self.columns
        U, failed = dpotrf(A.T, clean=0, overwrite_a=1)
        if failed:
            return np.full(A.shape, np.nan, np.float32), np.nan
        return dtrtri(U)[0].astype(np.float32), 2 * float(np.log(np.diagonal(U)).sum())

    def _without(self, u: Array, means: Array, which: int, tie: float, squares: Array, left: Array) -> None:
        from ..kernels.left_out import squares_without

        rows = (freeze(a) for a in (u, means, self.codes, self.grown, self.taken))
        squares_without(*rows, which, tie, NOTHING_LEFT, squares, left)


def _times(x: Array, V: Array) -> Array:
    """x V for an upper triangle: half the work of other products."""
    from scipy.linalg.blas import strmm

    return np.asarray(strmm(1.0, V, x.T, trans_a=1).T) if x.size else x.copy()
