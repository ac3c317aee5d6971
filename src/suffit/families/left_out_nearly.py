"""Jointly normal columns with one row left out, nearly: to compare many settings soon.

Without row i, of class y and distance d from its mean, the matrix of class k is ∝ M_k − b·d dᵀ (see ``left_out``), to
which shrinking adds c·I, a multiple that goes with its trace.  Here A = M_k + c·I, with the c that a row of any class
leaves on average, is factored once for all rows, and d dᵀ taken out of it by the formula of Sherman and Morrison.  That
a row of the class itself leaves ε less than c is reckoned with to the first order, in dᵀ(A − ε·I)⁻¹d and in the
determinant.  Matrices are factored, and what rows are off the
mean of their class whitened, in single precision.
"""

from __future__ import annotations

import numpy as np

from ..stats import Array
from ..table import Codes, freeze
from .elementwise import without
from .heavy_scores import log_density
from .left_out import NOTHING_LEFT, Scatter


class NearlyLeftOut:
    """Rows to compare settings on, and what leaving out each does to the matrix of each class."""

    def __init__(self, scatter: Scatter, x: Array, codes: Codes, weights: Array) -> None:
        self.order = np.argsort(codes, kind="stable")
        self.codes, weights = freeze(codes[self.order]), weights[self.order]
        keep, self.columns = scatter.keep, scatter.means.shape[1]
        self.d = (x[self.order] - scatter.means[self.codes])[:, keep].astype(np.float32)
        self.means = (scatter.means - scatter.means.mean(axis=0))[:, keep]
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
        self.trace = self.taken * _squared(self.d)  # what the row takes of the trace
        self.mine = np.arange(len(self.n)) == self.codes[:, None]  # (n, K)
        self.gone = np.where(self.mine, left[:, None], self.n) <= 0
        self.ends = np.searchsorted(self.codes, np.arange(len(self.n) + 1))

    def log_density(self, tie: float, shrinkage: float, freedom: float) -> Array:
        """log p(x_i | k) without row i; NaN where a matrix is singular.  # → (n, K)"""
        p = self.d.shape[1]
        with np.errstate(all="ignore"):  # what is singular is NaN
            squares, log_det = (self._together if tie == 1.0 else self._apart)(tie, shrinkage)
            over = (1 - tie) * self.n + tie * self.n.sum() - np.where(self.mine, 1.0, tie) * self.lost[:, None]
            over /= 1 - shrinkage
            squares *= over
            log_det -= p * np.log(over)
            out = np.empty_like(squares)
            out[self.order] = np.where(self.gone, 0.0, log_density(squares, log_det, p, freedom))
        return out

    def _together(self, tie: float, shrinkage: float) -> tuple[Array, Array]:
        """d² and log det of the matrix that all classes share, before it is divided by counts.  # → (n, K), (n, K)"""
        V, log_det, _ = self._factor(self.shared, self._usual(tie), shrinkage)
        u = _times(self.d, V)
        squares, left = np.empty(self.mine.shape), np.empty(self.mine.shape)
        self._others(u, V, -1, tie, squares, left)
        self._put_own(_squared(u), squares, left)
        return squares, np.log(left) + log_det

    def _apart(self, tie: float, shrinkage: float) -> tuple[Array, Array]:
        """The same where every class has a matrix of its own."""
        usual = self._usual(tie)
        log_det, inverse = np.empty(len(self.n)), np.empty(len(self.n))
        q, bend = np.empty(len(self.codes)), np.empty(len(self.codes))
        squares, left = np.empty(self.mine.shape), np.empty(self.mine.shape)
        for k, own in enumerate(self.own):
            M, here = (1 - tie) * own, slice(*self.ends[k : k + 2])
            if tie:
                M += tie * self.shared
            V, log_det[k], inverse[k] = self._factor(M, usual, shrinkage)
            u = _times(self.d, V)
            self._others(u, V, k, tie, squares, left)
            q[here], bend[here] = _squared(u[here]), _squared(_times(u[here], V, back=True))  # dᵀA⁻¹d, dᵀA⁻²d
        less = self._multiple(self.trace - usual, shrinkage)  # ε
        self._put_own(q / (1 - less * np.divide(bend, q, out=np.zeros_like(q), where=q > 0)), squares, left)
        p = self.d.shape[1]
        bent = p * np.log1p(-less * inverse[self.codes] / p)
        return squares, np.log(left) + log_det + np.where(self.mine, bent[:, None], 0.0)

    def _usual(self, tie: float) -> float:
        """What a row of any class takes of the trace of another's matrix, on average."""
        lost = float(self.lost.mean())
        return tie * float(np.trace(self.shared)) * lost / (float(self.n.sum()) - lost)

    def _multiple(self, trace: Array | float, shrinkage: float) -> Array | float:
        """The multiple of I that shrinking adds for this much of a trace."""
        return shrinkage / (1 - shrinkage) / self.columns * trace

    def _factor(self, M: Array, less: float, shrinkage: float) -> tuple[Array, float, float]:
        """An upper triangle V with VVᵀ = A⁻¹, log det A and tr A⁻¹, A = M + c·I; NaN where A is singular."""
        from scipy.linalg.lapack import spotrf, strtri

        A = M.astype(np.float32)
        A.flat[:: len(A) + 1] += self._multiple(float(np.trace(M)) - less, shrinkage)
        U, failed = spotrf(A.T, overwrite_a=1)
        if failed:
            return np.full(A.shape, np.nan, np.float32), np.nan, np.nan
        V = strtri(U)[0]
        return V, 2 * float(np.log(np.diagonal(U), dtype=np.float64).sum()), float(np.vdot(V, V))

    def _others(self, u: Array, V: Array, which: int, tie: float, squares: Array, left: Array) -> None:
        """d² and the share of the determinant that is left, under class ``which``, or all (−1), but a row's own."""
        from ..kernels.left_out import squares_without

        means = self.means @ V.astype(np.float64)  # classes may be so far apart that single precision loses the near
        squares_without(freeze(u), freeze(means), self.codes, freeze(self.taken), which, tie, squares, left)

    def _put_own(self, q: Array, squares: Array, left: Array) -> None:
        """The same under a row's own class, from q = dᵀA⁻¹d."""
        rest = 1 - self.taken * q
        rest = np.where(rest > NOTHING_LEFT, rest, np.nan)
        left[self.mine], squares[self.mine] = rest, self.grown**2 * q / rest


def _squared(a: Array) -> Array:
    """The squared length of each row."""
    return np.einsum("ij,ij->i", a, a).astype(np.float64)


def _times(x: Array, V: Array, back: bool = False) -> Array:
    """x V for an upper triangle, or x Vᵀ: half the work of other products."""
    from scipy.linalg.blas import strmm

    return np.asarray(strmm(1.0, V, x.T, trans_a=not back).T) if x.size else x.copy()
