"""Approximate leave-one-out of jointly normal columns: to compare many settings quickly.

Without row i, of class y and distance d from its mean, the matrix of class k is ∝ M_k − b·d dᵀ (see
``exact.py``), to which shrinking adds c·I, a multiple that goes with its trace.  Here A = M_k + c·I, with the c
that a row of any class leaves on average, is factored once for all rows, and d dᵀ taken out of it by the formula of
Sherman and Morrison.  That a row of the class itself leaves ε less than c is reckoned with to the first order, in dᵀ(A
− ε·I)⁻¹d and in the determinant.  Matrices are factored, and what rows are off the mean of their class whitened, in
single precision.
"""

from __future__ import annotations

import numpy as np

from ....data.arrays import Array, Codes, freeze
from ...elementwise.shape import without
from ..student_t import log_density
from .exact import NOTHING_LEFT, Scatter


class ApproximateLoo:
    """Rows to compare settings on, and what leaving out each does to the matrix of each class."""

    def __init__(self, scatter: Scatter, x: Array, codes: Codes, weights: Array) -> None:
        from ....kernels.leave_one_out_nearly import AT_ONCE

        self.order = np.argsort(codes, kind="stable")
        self.codes, weights = freeze(codes[self.order]), weights[self.order]
        keep, self.columns = scatter.keep, scatter.means.shape[1]
        d = (x[self.order] - scatter.means[self.codes])[:, keep].astype(np.float32)
        self.d = freeze(np.pad(d.T, ((0, 0), (0, -len(d) % AT_ONCE))))  # (p, n), as the kernel reads it
        self.means = freeze(scatter.means[:, keep].T)
        own, shared = scatter.own if len(scatter.own) else scatter.shared[None], scatter.shared
        if len(keep) < self.columns:
            own, shared = own[:, keep[:, None], keep], shared[keep[:, None], keep]
        self.own, self.shared = freeze(own), freeze(shared)
        self.n, self.prior_rows, self.prior_trace = scatter.sums["n"], scatter.prior_rows, scatter.prior_trace
        before = self.n[self.codes]
        left = without(before, weights)
        some = left > 0
        self.lost = before - left
        self.grown = np.divide(before, left, out=np.ones_like(before), where=some)  # g
        self.taken = freeze(np.where(some, weights * self.grown, 0.0))  # b of the row's own class
        self.trace = self.taken * np.einsum("ij,ij->i", d, d)  # what the row takes of the trace
        self.mine = np.arange(len(self.n)) == self.codes[:, None]  # (n, K)
        self.gone = np.where(self.mine, left[:, None], self.n) <= 0
        self._known: dict[tuple[float, float], tuple[Array, Array]] = {}  # for another kind of tails

    def log_density(self, tie: float, shrinkage: float, freedom: float) -> Array:
        """log p(x_i | k) without row i; NaN where a matrix is singular.  # → (n, K)"""
        with np.errstate(all="ignore"):  # what is singular is NaN
            if (tie, shrinkage) not in self._known:
                self._known[tie, shrinkage] = self._divided(tie, shrinkage)
            squares, log_det = self._known[tie, shrinkage]
            out = np.empty_like(squares)
            out[self.order] = np.where(self.gone, 0.0, log_density(squares, log_det, len(self.means), freedom))
        return out

    def _divided(self, tie: float, shrinkage: float) -> tuple[Array, Array]:
        """d² and log det of the covariances.  # → (n, K), (n, K)"""
        squares, log_det = self._squares(tie, shrinkage)
        over = (1 - tie) * self.n + tie * self.n.sum() - np.where(self.mine, 1.0, tie) * self.lost[:, None]
        over = (over + self.prior_rows) / (1 - shrinkage)
        return squares * over, log_det - len(self.means) * np.log(over)

    def _squares(self, tie: float, shrinkage: float) -> tuple[Array, Array]:
        """d² and log det of the matrices, before they are divided by counts.  # → (n, K), (n, K)"""
        from ....kernels.leave_one_out_nearly import whitened_squares

        n, (p, K) = len(self.codes), self.means.shape
        usual, multiple = self._usual(tie), shrinkage / (1 - shrinkage) / self.columns
        squares, left = np.empty((n, K)), np.empty((n, K))
        q, bend, log_det, inverse = np.empty(n), np.empty(n), np.empty(K), np.empty(K)
        known = (self.d, self.codes, self.taken, self.own, self.shared, self.means)
        whitened_squares(*known, tie, usual, multiple, squares, left, q, bend, log_det, inverse)
        bent: Array | float = 0.0
        if tie < 1.0:
            less = multiple * (self.trace - usual)  # ε
            q = q / (1 - less * np.divide(bend, q, out=np.zeros_like(q), where=q > 0))
            bent = p * np.log1p(-less * inverse[self.codes] / p)
        else:
            log_det[:] = log_det[0]
        rest = 1 - self.taken * q
        rest = np.where(rest > NOTHING_LEFT, rest, np.nan)
        left[self.mine], squares[self.mine] = rest, self.grown**2 * q / rest
        log_det = np.log(left) + log_det
        log_det[self.mine] += bent
        return squares, log_det

    def _usual(self, tie: float) -> float:
        """What a row of any class takes of the trace of another's matrix, on average."""
        lost = float(self.lost.mean())
        return tie * (float(np.trace(self.shared)) - self.prior_trace) * lost / (float(self.n.sum()) - lost)
