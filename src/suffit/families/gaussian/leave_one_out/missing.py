"""Leave-one-out of jointly normal columns with missing values: about what a refit on all other rows would say of
its values.

The sums are completed once, by pairs (patterns.py), and every row is scored by the columns o that it has.  Leave out
row i, of class y and weight w, d = x_i − μ_y: a column that n_j of the n rows of its class have then has its mean
g_j·d_j away, g_j = n_j/(n_j − w), and the squares of columns j and k, which n_jk rows have, lose c_jk·g_j·d_j·g_k·d_k,
c_jk being w·(n − w)/n_jk, or less (``pair_weights``).  That is u uᵀ, u_j = √c_jj·g_j·d_j, a rank-one downdate
(exact.py), but for what c_jk is more or less than √c_jj·√c_kk: squares of distances grow with it as it is on
average over the pairs of a row's columns.  What the row adds to the amount of shrinkage is neglected.  In small
tables, and where a class has few values of one of the row's columns, all is done anew without the row instead
(pairs.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from ....data.arrays import Array, Codes, freeze
from ....kernels.runtime.threads import row_blocks
from ..missing.patterns import Flags
from ..student_t import log_density
from .pairs import PairsWithout, Whole, over

BLOCK = 1 << 21  # numbers in the rows that are scored at once
FEW_VALUES = 32  # of a column in a class, or as many as there are columns: one of them is too much for the first order
SMALL_TABLE, MOST_FACTORED = 100, 5e7  # rows, and products of their matrices: all are then done anew without each row
LEAST_LEFT = 0.01  # share of a direction's variance that is left without a row
LEFT_FOR_MISSING = 0.3  # the same for each share of its class's values missing: the more of them, the less is known


class LooWithMissing:
    """Rows with missing values, each under the sums without it; sorted by the columns they have."""

    def __init__(self, whole: Whole, x: Array, codes: Codes, weights: Array) -> None:
        self.order, self.pattern = _by_pattern(x == x)
        x, self.codes, self.weights = x[self.order], codes[self.order], weights[self.order]
        self.whole = whole
        self.there = freeze(x == x)
        middle = whole.middle
        self.x, self.means = np.where(self.there, x - middle, 0.0), whole.means - middle
        w, n, cells = self.weights[:, None], whole.n[self.codes], whole.cells[self.codes]
        grown = (self.x - self.there * self.means[self.codes]) * over(cells, cells - w)
        own = np.where(cells > w, grown, self.x)  # where no other row of the class has a value, all classes' mean
        self.n_there = self.there.sum(axis=1)
        root = np.sqrt(np.einsum("cjj->cj", whole.weight))
        u = grown * root[self.codes] * np.sqrt(self.weights * np.maximum(n - self.weights, 0.0))[:, None]
        self.away, self.u = freeze(own), freeze(u)
        self.more = self._of_pairs(root)
        missing = 1 - over(np.einsum("ij,ij->i", self.there, cells), n * self.n_there)
        self.least_left = np.maximum(LEFT_FOR_MISSING * missing, LEAST_LEFT)
        self.small, self.anew = self._rows_anew(self.weights[:, None] * self.there, cells)
        self.without = PairsWithout(whole, x[self.anew], self.codes[self.anew], self.weights[self.anew], self.small)
        self._known: dict[tuple[float, float], tuple[Array, Array]] = {}  # for another kind of tails

    def _rows_anew(self, w: Array, cells: Array) -> tuple[bool, NDArray[np.int64]]:
        """Whether the table is small, and the rows whose sums are completed without them, one by one.

        Of a small table all; else those of which a column has few values in their class: the fewer, the more rows
        there are of them.
        """
        (n, p), K = self.x.shape, len(self.whole.n)
        if self.whole.n.sum() <= SMALL_TABLE and n * K * p**3 <= MOST_FACTORED:
            return True, np.arange(n)
        share = over(w, cells).max(axis=1, initial=0.0)
        some = (np.flatnonzero(share * few >= 1) for few in range(max(FEW_VALUES, p), 0, -1))
        none = np.zeros(0, np.int64)
        return False, next((rows for rows in some if len(rows) * p**3 <= MOST_FACTORED), none)

    def _of_pairs(self, root: Array) -> Array:
        """How much more the covariances of a row's columns lose than √c_jj·√c_kk, as a share.  # → (n,)"""
        kinds, first, which = np.unique(self.pattern * len(root) + self.codes, return_index=True, return_inverse=True)
        more, classes = np.zeros(len(kinds)), kinds % len(root)
        for c in np.unique(classes):
            here, seen = np.flatnonzero(classes == c), root[c] > 0
            inverse = over(seen, root[c])
            there = self.there[first[here]] * seen.astype(np.float64)
            inside = np.einsum("ij,ij->i", (there * inverse) @ self.whole.weight[c], there * inverse)
            more[here] = over(inside, there.sum(axis=1) ** 2) - (there.sum(axis=1) > 0)
        return more[which]

    def log_density(self, tie: float, shrinkage: float, freedom: float) -> Array:
        """log p(x_o | k) without row i; NaN where a matrix is singular.  # → (n, K)"""
        if (tie, shrinkage) not in self._known:
            self._known[tie, shrinkage] = self._squares(tie, shrinkage)
        squares, log_det = self._known[tie, shrinkage]
        gone = np.equal.outer(self.codes, np.arange(squares.shape[1])) & (self.whole.n <= self.weights[:, None])
        out = np.empty_like(squares)
        out[self.order] = np.where(gone, 0.0, log_density(squares, log_det, self.n_there[:, None], freedom))
        return out

    def _squares(self, tie: float, shrinkage: float) -> tuple[Array, Array]:
        """d² and log det of the covariances of the columns that rows have.  # → (n, K), (n, K)"""
        n, K = len(self.x), len(self.whole.n)
        squares, log_det = np.empty((n, K)), np.empty((n, K))
        for k in range(1 if tie == 1.0 else K):
            classes = slice(0, K) if tie == 1.0 else slice(k, k + 1)
            matrix = Matrix.of(self.whole, k, tie, shrinkage)
            for start, stop in row_blocks(n, self.x.shape[1], BLOCK):
                here = slice(start, stop)
                squares[here, classes], log_det[here, classes] = self._scored(here, classes, matrix, tie)
            todo = self._for_themselves(k, tie)
            while todo:
                some = todo.pop()
                found = self._factored(some, classes, tie, shrinkage)
                if found is not None:
                    squares[self.anew[some], classes], log_det[self.anew[some], classes] = found
                elif len(some) > 1:  # one of them is singular, which stays as it is
                    todo += np.array_split(some, 2)
        return squares, log_det

    def _for_themselves(self, k: int, tie: float) -> list[NDArray[np.int64]]:
        """Which of the rows done anew to score by this matrix, some at a time: of big tables, those of the class."""
        p = self.x.shape[1]
        all_of_them = self.small or tie == 1.0
        rows = np.arange(len(self.anew)) if all_of_them else np.flatnonzero(self.without.codes == k)
        return [rows[a:b] for a, b in row_blocks(len(rows), p * p, BLOCK) if b > a]

    def _factored(
        self, some: NDArray[np.int64], classes: slice, tie: float, shrinkage: float
    ) -> tuple[Array, Array] | None:
        """The same with the matrix of each of these rows done anew; None: one is singular."""
        without, there, p = self.without, self.there[self.anew[some]], self.x.shape[1]
        each, rows = without.shared[some], without.n[some].sum(axis=1)
        if tie < 1.0:
            each = (1 - tie) * without.scatter(some, classes.start) + tie * each
            rows = (1 - tie) * without.n[some, classes.start] + tie * rows
        trace = np.einsum("ijj->i", each)[:, None, None]
        cov = ((1 - shrinkage) * each + shrinkage / p * trace * np.eye(p)) / (rows + self.whole.prior_rows)[
            :, None, None
        ]
        cov = np.where(there[:, :, None] & there[:, None, :], cov, np.eye(p))
        try:
            L = np.linalg.cholesky(cov)
        except np.linalg.LinAlgError:
            return None
        z = self.x[self.anew[some]][:, None] + self.whole.middle - without.means[some, classes]  # (n, C, p)
        z = np.where(there[:, None], z, 0.0)
        squares = (np.linalg.solve(L, z.transpose(0, 2, 1)) ** 2).sum(axis=1)
        return squares, 2 * np.log(np.einsum("ijj->ij", L)).sum(axis=1)[:, None]

    @np.errstate(all="ignore")  # what is singular is NaN
    def _scored(self, here: slice, classes: slice, matrix: Matrix, tie: float) -> tuple[Array, Array]:
        """d² and log det Σ of rows, for classes that share a matrix.  # → (n, C), (n, 1)"""
        from ....kernels.missing import parts_squares

        P, there = matrix.inverse, self.there[here]
        x, means = self.x[here], self.means[classes]
        if len(means) == 1:  # about its mean, so that nothing is to cancel
            x, means = x - there * means, np.zeros_like(means)
        first = np.flatnonzero(np.diff(self.pattern[here], prepend=-1))  # the first row of each pattern
        which = np.repeat(np.arange(len(first)), np.diff(first, append=len(x)))
        parts = there[first] * means[:, None]  # (C, Q, p): what patterns see of the means
        mine = self.codes[here] - classes.start
        own = (mine >= 0) & (mine < len(means))
        part = np.where(own, 1.0, tie) if tie < 1.0 else np.ones(len(x))  # of what is lost, in this matrix
        away, u = self.away[here], self.u[here]
        products = (x @ P, parts @ P if parts.any() else parts, _some(away, own, P), _some(u, part > 0, P))
        vv, uv = np.empty((2, len(x), len(means)))
        uu, inner = np.empty((2, len(x)))
        read = map(freeze, (x, parts, away, u, *products, there, which, np.where(own, mine, -1), P))
        parts_squares(*(*read, vv, uv, uu, inner))
        lost = part * matrix.alpha  # u is not scaled by its root: what comes of it is
        left = np.maximum(1 - lost * uu, self.least_left[here])
        fewer = 1 - part * self.weights[here] / matrix.over
        log_det = matrix.log_det + inner + np.log(left) - self.n_there[here] * np.log(fewer)
        return fewer[:, None] * (vv + uv**2 * (lost * (1 + self.more[here]) / left)[:, None]), log_det[:, None]


@dataclass(frozen=True)
class Matrix:
    """Σ = α·M + γ·I, M the scatter of a class tied to that of all, over as many rows: its inverse and determinant."""

    inverse: Array
    log_det: float
    alpha: float
    over: float
    scatter: Array  # M

    @staticmethod
    def of(whole: Whole, k: int, tie: float, shrinkage: float) -> Matrix:
        """Of one class; NaN where it is singular."""
        p = len(whole.shared)
        M = whole.shared if tie == 1.0 else (1 - tie) * whole.own[k] + tie * whole.shared
        over = float((1 - tie) * whole.n[k] + tie * whole.n.sum()) + whole.prior_rows
        alpha = (1 - shrinkage) / over
        cov = alpha * M
        cov.flat[:: p + 1] += shrinkage * np.trace(M) / (p * over)
        U, singular = dpotrf(cov.T, overwrite_a=1)  # its lower triangle is 0
        if singular:
            return Matrix(np.full(cov.shape, np.nan), np.nan, alpha, over, M)
        log_det = 2 * float(np.log(np.diagonal(U)).sum())
        half = dpotri(U, overwrite_c=1)[0]
        inverse = half + half.T
        inverse.flat[:: p + 1] *= 0.5
        return Matrix(freeze(inverse), log_det, alpha, over, M)


def _some(rows: Array, which: Flags, P: Array) -> Array:
    """Rows times P, for those that are wanted; 0 for the others."""
    if which.all():
        return rows @ P
    out = np.zeros_like(rows)
    out[which] = rows[which] @ P
    return out


def _by_pattern(there: Flags) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """An order in which rows with the same columns follow each other, and for each in it which columns these are."""
    bits = np.packbits(there, axis=1)
    bits = np.ascontiguousarray(np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))).view(np.uint64)
    order = np.lexsort(bits.T)
    new = (bits[order][1:] != bits[order][:-1]).any(axis=1)
    return order, np.concatenate([[0], np.cumsum(new)])
