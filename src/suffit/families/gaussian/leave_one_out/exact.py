"""Leave-one-out of jointly normal columns: rank-one downdates of the scatter matrices, for all rows at once.

Without row i, of class y, weight w and distance d = x_i − μ_y from its mean, the sums of squares of its class are
S_y − a·d dᵀ with a = w·n_y/(n_y − w), and x_i lies g·d from the new mean, g = n_y/(n_y − w).  Whatever is mixed from
the scatters, a class's matrix is then M_k − b_ik·d dᵀ over m_ik rows, whose inverse and determinant follow from those
of M_k (Sherman and Morrison).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....data.arrays import Array, Codes, freeze
from ....kernels.runtime.threads import COPY_CELLS, row_blocks
from ...elementwise.shape import without
from ..scores import LOG_2PI
from ..shrinkage import class_shrinkage, fourth_norms, shrunk
from ..student_t import log_density

NOTHING_LEFT = 1e-9  # share of a direction's variance: a row that has all but this of it leaves the matrix singular
FEW_LEFT = 1e-3  # share of a column's squares: where fourth powers count too, less leaves few digits of theirs
SINGULAR = 1e-12  # eigenvalue of correlations


@dataclass(frozen=True)
class Scatter:
    """Means and sums of squares about them: of each class (none where only the shared one is kept), and of all."""

    means: Array  # (K, p)
    own: Array  # (K, p, p), or (0, p, p)
    shared: Array  # (p, p)
    sums: dict[str, Array]  # the moments of z = x − origin that they come from, with the classes first
    origin: Array  # (K, p)
    keep: NDArray[np.int64]  # the columns that vary
    prior_rows: float = 0.0  # whose squares are in own and shared, too,
    prior_trace: float = 0.0  # and how large those in shared are


@dataclass(frozen=True)
class Blend:
    """How scatters become covariances: tied, over n or n − 1 rows, shrunk towards I or the diagonal, with a ridge."""

    tie: float
    unbiased: bool
    ridge: float
    diagonal: bool
    tolerance: float = 0.0  # a direction of correlations with less variance is left out: such rows are not for here


class Downdates:
    """What leaving out each row does to the matrix of each class."""

    def __init__(self, scatter: Scatter, blend: Blend, x: Array, codes: Codes, weights: Array) -> None:
        self.scatter, self.blend, self.x, self.codes, self.weights = scatter, blend, x, codes, weights
        rows, t = np.arange(len(x)), blend.tie
        n = np.repeat(scatter.sums["n"][None], len(x), axis=0)  # (n, K)
        before = n[rows, codes]
        n[rows, codes] = without(before, weights)
        left = n[rows, codes]
        some = left > 0
        self.d = x - scatter.means[codes]
        self.squares = np.einsum("ij,ij->i", self.d, self.d)
        middle = scatter.means.mean(axis=0)
        self.centred, self.middling = ((a - middle)[:, scatter.keep] for a in (x, scatter.means))
        self.grown = np.divide(before, left, out=np.ones_like(before), where=some)  # g
        a = np.where(some, weights * self.grown, 0.0)
        count = np.maximum(n - (n > 0), 0.0) if blend.unbiased else n
        self.over = (1 - t) * count + t * count.sum(axis=1, keepdims=True) + scatter.prior_rows  # m, (n, K)
        own = np.zeros_like(n)
        own[rows, codes] = a
        self.taken = (1 - t) * own + t * a[:, None]  # b, (n, K)
        self.left, self.gone, self.own_taken = left, n <= 0, a
        self.columns = x.shape[1]  # that a multiple of I is the mean of
        self._factors: dict[tuple[int, bool], Factored] = {}

    def matrix(self, k: int) -> Array:
        """M_k of all rows."""
        t, s = self.blend.tie, self.scatter
        M = s.shared if t == 1.0 else (1 - t) * s.own[k] + t * s.shared
        return M[np.ix_(s.keep, s.keep)]

    def log_densities(self, shrinkages: Sequence[float | str], freedom: float = np.inf) -> list[Array]:
        """log p(x_i | k) without row i, for each amount of shrinkage; NaN where a matrix is singular.  # → [(n, K)]

        ``freedom``: with the tails of a t, for amounts that are numbers and a multiple of I to shrink towards.
        """
        each = [self._chosen(s) if isinstance(s, str) else self._shrunk(s, freedom) for s in shrinkages]
        return [np.where(self.gone, 0.0, densities) for densities in each]  # a class without rows: its prior decides

    def _shrunk(self, s: float, freedom: float) -> Array:
        """log p(x_i | k), the covariances shrunk by s.  # → (n, K)"""
        classes = range(len(self.scatter.means))
        if self.blend.diagonal and s:
            return np.stack([self._one_by_one(k, s) for k in classes], axis=1)
        if self.blend.tie == 1.0:
            squares, log_det = self._by_factor(0, len(classes), s)
        else:
            each = [self._by_factor(k, 1, s) for k in classes]
            squares, log_det = (np.concatenate([part[i] for part in each], axis=1) for i in range(2))
        return log_density(squares, log_det, len(self.scatter.keep), freedom)

    def _far(self, k: int) -> Array:
        """x_i − μ_k, from the mean without row i."""
        own = self.codes == k
        far = np.where(own[:, None], self.grown[:, None] * self.d, self.x - self.scatter.means[k])
        return far[:, self.scatter.keep]

    @np.errstate(all="ignore")  # what is singular is NaN
    def _by_factor(self, k: int, alike: int, s: float) -> tuple[Array, Array]:
        """d² and log det Σ without each row.  # → (n, alike), (n, 1)

        In the eigenvectors of M_k = QΛQᵀ, where shrinking towards a multiple of I adds to Λ.

        For the classes from k on, ``alike`` of them, that have this matrix.
        """
        from ....kernels.leave_one_out import downdated_squares

        r, b, over = self.blend.ridge, self.taken[:, k], self.over[:, k]
        which = (k, not (s or r))
        if which not in self._factors:
            self._factors[which] = Factored(self.matrix(k), which[1], self.blend.tolerance)
        factor = self._factors[which]
        alpha = (1 - r) * (1 - s) / over
        gamma = (1 - r) * s * (factor.trace - b * self.squares) / (self.columns * over) + r
        i = int(np.argmax(over))
        usual = alpha[i] * factor.values + gamma[i]
        x, means = factor.rotated(self.centred, self.middling)
        squares, log_det = np.empty((len(x), alike)), np.empty((len(x), 1))
        downdated_squares(
            x, means, k, freeze(self.codes), freeze(self.grown), freeze(alpha), freeze(gamma), freeze(b),
            freeze(factor.values), freeze(usual), factor.least_left, squares, log_det,
        )  # fmt: skip
        return squares, log_det + factor.log_scale + np.log(usual).sum()

    def _one_by_one(self, k: int, s: float) -> Array:
        """The same with a matrix for every row: shrinking towards the diagonal changes more than one direction."""
        out = np.full(len(self.x), np.nan)
        M, r, far, kept = self.matrix(k), self.blend.ridge, self._far(k), self.d[:, self.scatter.keep]
        varied = np.flatnonzero(_varies(np.diagonal(M), self.taken[:, k], kept, NOTHING_LEFT))
        p = far.shape[1]
        toward = (1 - r) * ((1 - s) + s * np.eye(p))
        for start, stop in row_blocks(len(varied), p * p, COPY_CELLS * 4):
            here = varied[start:stop]
            d = kept[here]
            each = M - self.taken[here, k, None, None] * d[:, :, None] * d[:, None, :]
            with np.errstate(all="ignore"):
                each = toward * each / self.over[here, k, None, None] + r * np.eye(p)
            out[here] = self._normal(each, far[here])
        return out

    def _chosen(self, how: str) -> Array:
        """The same where the scatter of each class is shrunk by an amount that its sums call for, and so changes all.

        Only the row's own class has other sums; the others' matrices are as they were.  A row without which a column
        of its class hardly varies, or not at all, is not for here.
        """
        s, t, K = self.scatter, self.blend.tie, len(self.scatter.means)
        out = np.full((len(self.x), K), np.nan)
        shift = s.means - s.origin
        before_squares = np.einsum("cii->ci", s.own)[self.codes]
        least = FEW_LEFT if how == "ledoit-wolf" else NOTHING_LEFT
        varied = np.flatnonzero(_varies(before_squares, self.own_taken, self.d, least))
        before = class_shrinkage(how, s.sums, s.own, shift)
        others = before.sum(axis=0) - before
        far = np.stack([self._far(k) for k in range(K)])
        for start, stop in row_blocks(len(varied), s.own[0].size, COPY_CELLS):
            here = varied[start:stop]
            c = self.codes[here]
            S = s.own[c] - self.own_taken[here, None, None] * self.d[here, :, None] * self.d[here, None, :]
            after = shrunk(how, self.left[here], S, lambda w, here=here: self._fourth_without(here, w))  # type: ignore[misc]
            shared = others[c] + after
            for k in range(K):
                own, rest = np.flatnonzero(c == k), np.flatnonzero(c != k)
                M = (1 - t) * after[own] + t * shared[own]
                out[here[own], k] = self._normal(self._regular(M, k, here[own]), far[k, here[own]])
                if t == 0.0:  # one matrix for all: that of a class which no row is taken from
                    M, at = before[k][None], here[rest[:1]]
                else:
                    M, at = (1 - t) * before[k] + t * shared[rest], here[rest]
                out[here[rest], k] = self._normal(self._regular(M, k, at), far[k, here[rest]])
        return out

    def _regular(self, M: Array, k: int, rows: NDArray[np.int64]) -> Array:
        """Matrices of class k without these rows, over their counts and with the ridge; of the columns that vary."""
        keep, r = self.scatter.keep, self.blend.ridge
        with np.errstate(all="ignore"):
            each = (1 - r) * M[:, keep][:, :, keep] / self.over[rows, k, None, None]
        return np.asarray(each + r * np.eye(len(keep)))

    def _normal(self, each: Array, z: Array) -> Array:
        return _normal(each, z, max(SINGULAR, 2 * self.blend.tolerance))

    def _fourth_without(self, here: NDArray[np.int64], w: Array) -> Array:
        """Σ (Σ_j w_j z_j²)² of the classes of some rows, each without its row and about the mean without it.  # (n,)"""
        s, codes, g, d = self.scatter, self.codes[here], self.grown[here, None], self.d[here]
        mean = self.x[here] - g * d - s.origin[codes]
        out = -self.weights[here] * (w * (g * d) ** 2).sum(axis=1) ** 2
        for k in np.unique(codes):
            own = codes == k
            sums = {name: s.sums[name][k : k + 1] for name in ("n", "x", "xx", "xxy", "xxyy")}
            out[own] += fourth_norms(sums, mean[None, own], w[None, own])[0]
        return np.asarray(out)


class Factored:
    """M = Q Λ Qᵀ; in standardised columns where nothing is added to Λ, which their scale would distort."""

    def __init__(self, M: Array, standardise: bool, tolerance: float) -> None:
        scale = np.sqrt(np.diagonal(M)) if standardise else np.ones(len(M))
        scale = np.where(scale > 0, scale, 1.0)
        values, vectors = np.linalg.eigh(M / scale[:, None] / scale)
        if standardise:
            values = np.where(values > max(SINGULAR, 2 * tolerance), values, np.nan)
        self.least_left = max(NOTHING_LEFT, 2 * tolerance / max(values.min(initial=1.0), tolerance, SINGULAR))
        self.values, self.vectors = np.maximum(values, 0.0), vectors / scale[:, None]
        self.trace = float(np.trace(M))
        self.log_scale = 2 * float(np.log(scale).sum())
        self._rotated: tuple[Array, Array] | None = None

    def rotated(self, x: Array, means: Array) -> tuple[Array, Array]:
        """Rows and class means in the eigenvectors, the same at every call.  # → (n, p), (K, p)"""
        if self._rotated is None:
            self._rotated = freeze(x @ self.vectors), freeze(means @ self.vectors)
        return self._rotated


def _normal(each: Array, z: Array, least: float) -> Array:
    """Normal log-densities; NaN where a covariance is singular.  # (n, p, p) or (1, p, p), (n, p) → (n,)

    So is one in which less than this share of a column's variance is left after regression on those before it; where
    one has no factor at all, all are NaN.
    """
    from ....kernels.leave_one_out import forward_substituted

    if not len(z):
        return np.zeros(0)
    scale = np.sqrt(np.einsum("bii->bi", each))
    if not (np.isfinite(scale) & (scale > 0)).all():
        return np.full(len(z), np.nan)
    try:
        L = np.linalg.cholesky(each / scale[:, :, None] / scale[:, None, :])
    except np.linalg.LinAlgError:
        return np.full(len(z), np.nan)
    u = np.ascontiguousarray(z / scale)
    forward_substituted(L, u)
    left = np.einsum("bii->bi", L)
    log_det = 2 * (np.log(left) + np.log(scale)).sum(axis=1)
    log_det = np.where((left**2 < least).any(axis=1), np.nan, log_det)
    return np.asarray(-0.5 * ((u * u).sum(axis=1) + log_det + z.shape[1] * LOG_2PI))


def _varies(squares: Array, taken: Array, d: Array, least: float) -> NDArray[np.bool_]:
    """Rows without which more than this share is left of the squares of every column that varies.  # (n, p) → (n,)"""
    return np.asarray(((taken[:, None] * d**2 < (1 - least) * squares) | (squares <= 0)).all(axis=1))


def varying(total: Array, ridge: float) -> NDArray[np.int64]:
    """The columns that say something: those that vary, and all where there is a ridge."""
    return np.arange(len(total)) if ridge else np.flatnonzero(total > 0)
