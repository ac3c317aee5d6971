"""Scores of jointly normal columns whose covariances come from fewer rows than columns: nothing is p × p."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ....core.family import Between
from ....core.logistic import LogisticForm
from ....core.stats import Stats
from ....data.arrays import Array, Codes, NumberRows, block, freeze, is_sparse
from ....data.errors import InputError
from ....families.gaussian.few_rows.low_rank import Whitening
from ....kernels.runtime.threads import one_blas_thread
from ..missing.patterns import ROOM
from ..scores import LOG_2PI, GaussianScorer, OwnScorer, SharedScorer
from .kept import as_rows, is_kept
from .low_rank import LowRank, Whitened

Flags = NDArray[np.bool_]

SMALL_PRODUCT = 1 << 26  # products of numbers below which BLAS threads gain nothing


class BlocksOfFewRows:
    """log p(x_o | c) of the columns o that a row has, a factor for every pattern of missing values.

    What does not vary among the columns that are there is dropped, as it is for rows without missing values.
    """

    def __init__(self, means: Array, matrices: Sequence[LowRank], tolerance: float) -> None:
        self.means, self.matrices, self.tolerance = means, matrices, tolerance

    def factor(self, c: int, there: Flags) -> Whitened:
        """The factor of the columns that are there, of class c."""
        return self.matrices[c].part(there).whitened(np.ones(int(there.sum()), dtype=bool), self.tolerance)

    def by_pattern(self, x: Array) -> Iterator[tuple[NDArray[np.int64], Flags, list[Whitened]]]:
        """For every pattern: its rows, the columns that are there, and the factor of each matrix."""
        patterns, which = np.unique(x == x, axis=0, return_inverse=True)
        for q, there in enumerate(patterns):
            rows = np.flatnonzero(which.reshape(-1) == q)
            yield rows, there, [self.factor(c, there) for c in range(len(self.matrices))]

    def scores(self, x: Array) -> Array:
        """# (n, p) with NaN → (n, K)"""
        squares, peak, _ = self.distances(x)
        return np.asarray(peak - 0.5 * squares)

    def distances(self, x: Array) -> tuple[Array, Array, Array]:
        """d² to each mean, the log-density there, and how many columns say something.  # → (n, K), (n, K), (n,)"""
        x = np.asarray(x, dtype=np.float64)
        K = len(self.means)
        squares, peak, used = np.empty((len(x), K)), np.empty((len(x), K)), np.empty(len(x))
        for rows, there, factors in self.by_pattern(x):
            for c in range(K):
                white = factors[c if len(factors) > 1 else 0]
                with np.errstate(over="ignore", invalid="ignore"):
                    U = (x[np.ix_(rows, there)] - self.means[c, there]) @ white.W.T
                    squares[rows, c] = np.einsum("ij,ij->i", U, U)
                peak[rows, c] = -0.5 * (white.log_det + white.rank * LOG_2PI)
                used[rows] = white.rank
        squares[np.isinf(x).any(axis=1)] = np.nan  # refused later, by name
        return squares, peak, used

    def regressed(self, z: Array, c: int, there: Flags, white: Whitened) -> Array:
        """E[x_m − μ_m | x_o − μ_o = z] = Σ_mo Σ_oo⁻¹ z of the columns m that are missing.  # (n, o) → (n, m)"""
        M = self.matrices[c if len(self.matrices) > 1 else 0]
        weights = white.precision(z) @ (M.Z[:, there].T * M.a)
        return np.asarray(weights @ M.Z[:, ~there])

    def side(self, c: int, there: Flags) -> tuple[Array, Array | Whitening, float]:
        """Mean, whitening and log-density at the mean of the columns that are there."""
        white = self.factor(c if len(self.matrices) > 1 else 0, there)
        return self.means[c, there], white.W, -0.5 * (white.log_det + white.rank * LOG_2PI)


class FromFewRows(GaussianScorer):
    """What shared and own covariances of few rows have in common: they are drawn from, completed and shown alike."""

    matrices: list[LowRank]  # of every class, or one for all

    def log_likelihood(self, stats: Stats) -> Array | None:
        """Σ log p(x | c) of the rows that are kept."""
        if not is_kept(stats):
            return None
        x, rows = as_rows(stats)
        codes, weights = rows.part(0, len(x))
        joint = self.scores(x) + self.log_base(x)[:, None]
        each = weights * joint[np.arange(len(x)), codes]
        return np.bincount(codes, each, minlength=len(stats["n"])).astype(np.float64)

    @cached_property
    def marginal(self) -> BlocksOfFewRows:  # type: ignore[override]
        """The densities of rows with missing values."""
        return BlocksOfFewRows(self.means, self.matrices, self.tolerance)

    def covariances(self) -> Array:
        """Σ_c of every class, p × p: only where somebody asks for them."""
        full = np.stack([M.dense() for M in self.matrices])
        return np.broadcast_to(full, (len(self.means), *full.shape[1:]))

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        out = np.array(self.means[codes])
        if len(self.matrices) == 1:
            return np.asarray(out + self.matrices[0].drawn(len(codes), rng))
        for c in np.unique(codes):
            here = codes == c
            out[here] += self.matrices[c].drawn(int(here.sum()), rng)
        return out

    def filled(self, X: NumberRows, posterior: Array) -> Array:
        """By the regression on the columns that are there."""
        x = np.asarray(X, dtype=np.float64)
        out = x.copy()
        out[np.isnan(out)] = 0.0
        for rows, there, factors in self.marginal.by_pattern(x):
            for c, mean in enumerate(self.means):
                z = x[np.ix_(rows, there)] - mean[there]
                more = self.marginal.regressed(z, c, there, factors[c if len(factors) > 1 else 0])
                out[np.ix_(rows, ~there)] += posterior[rows, c][:, None] * (mean[~there] + more)
        return out

    def drawn(self, X: NumberRows, codes: Codes, rng: np.random.Generator) -> Array:
        """A whole row is drawn, and its missing part moved as the regression on the rest says."""
        x, whole = np.asarray(X, dtype=np.float64), self.sample(codes, rng)
        out = x.copy()
        for rows, there, factors in self.marginal.by_pattern(x):
            for c in np.unique(codes[rows]):
                here = rows[codes[rows] == c]
                z = x[np.ix_(here, there)] - whole[np.ix_(here, there)]
                more = self.marginal.regressed(z, int(c), there, factors[c if len(factors) > 1 else 0])
                out[np.ix_(here, ~there)] = whole[np.ix_(here, ~there)] + more
        return out


class FewRowsShared(FromFewRows, SharedScorer):
    """One covariance for all classes."""

    def __init__(
        self, means: Array, matrix: LowRank, white: Whitened, columns: Sequence[str], n_parameters: int
    ) -> None:
        self.matrices, self.white = [matrix], white
        W = cast("Array", white.W)
        SharedScorer.__init__(self, means, np.zeros((0, 0)), W, white.log_det, white.rank, columns, n_parameters)

    def of(self, classes: Sequence[int]) -> FewRowsShared:
        return FewRowsShared(self.means[classes], self.matrices[0], self.white, self.columns, self.n_parameters)

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """As for any shared covariance: w_c·(x − m) = v_c·u, where the means lie near each other."""
        if self.near and not is_sparse(X):
            np.matmul(self._along(X, start, stop), self.V.T, out=out)
            out += self.offset
        else:
            self._from_nearest(X, start, stop, out)
        self._score_missing(X, start, stop, out, search=not len(self.P))

    def _from_nearest(self, X: NumberRows, start: int, stop: int, out: Array) -> NDArray[np.int32]:
        from ....kernels.scores import nearest_centre_scores

        nearest = np.zeros(stop - start, np.int32)
        U = freeze(self._along(X, start, stop))
        nearest_centre_scores(U, self.V, freeze(np.zeros(self.n_classes)), nearest, out)
        return nearest

    def _along(self, X: NumberRows, start: int, stop: int) -> Array:
        """u = P(x − m), from long rows that are read once and not copied first.  # → (stop − start, r)"""
        from ....kernels.scores import along_one_direction, linear_scores

        U = np.empty((stop - start, len(self.P)))
        x, P = block(X, start, stop), freeze(self.P)
        if len(P) == 1:
            along_one_direction(x, self.middle, P[0], U)
        else:
            linear_scores(x, self.middle, P, freeze(np.zeros(len(P))), U)
        return U


class FewRowsOwn(FromFewRows, OwnScorer):
    """A covariance for each class."""

    def __init__(
        self,
        means: Array,
        matrices: list[LowRank],
        white: list[Whitened],
        rank: int,
        columns: Sequence[str],
        n_parameters: int,
    ) -> None:
        self.matrices, self.white = matrices, white
        log_det = np.array([w.log_det for w in white])
        W = [w.W for w in white]
        OwnScorer.__init__(self, means, np.zeros((0, 0, 0)), cast("Array", W), log_det, rank, columns, n_parameters)

    def of(self, classes: Sequence[int]) -> FewRowsOwn:
        matrices, white = [self.matrices[c] for c in classes], [self.white[c] for c in classes]
        return FewRowsOwn(self.means[classes], matrices, white, self.rank, self.columns, self.n_parameters)

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """−½‖W_c(x − μ_c)‖², class by class."""
        x = block(X, start, stop)
        few = x.size * len(self.matrices[0].Z) < SMALL_PRODUCT
        with one_blas_thread(few), np.errstate(over="ignore", invalid="ignore"):  # far rows are drawn in later
            for c, white in enumerate(self.white):
                U = (x - self.means[c]) @ white.W.T
                out[:, c] = self.start[c] - 0.5 * np.einsum("ij,ij->i", U, U)
        self._score_missing(X, start, stop, out)

    def axes(self) -> list[tuple[Array, Array]]:
        """Variances along the principal axes of each class, falling, and the axes: those in which the rows lie."""
        K, p = self.means.shape
        if any((M.d != M.d[0]).any() for M in self.matrices):
            if K * p * p > ROOM:
                raise InputError(
                    f"the principal axes of {p} columns need a matrix of {p} × {p} numbers for each of {K} classes; "
                    "use reg_param, or a number for shrinkage"
                )
            each = [np.linalg.eigh(M.dense()) for M in self.matrices]
            return [(values[::-1], vectors[:, ::-1]) for values, vectors in each]
        return [M.axes() for M in self.matrices]

    def logistic_form(self) -> LogisticForm:
        """As ever, where matrices of p × p are small; else there is none."""
        K, p = self.means.shape
        if K * p * p > ROOM:
            raise InputError(
                f"the quadratic form of {p} columns has a matrix of {p} × {p} numbers for each of {K} classes; use "
                "tie=1 (LDA), whose form is linear, or explain(X) for what each column adds"
            )
        P = np.stack([white.precision(np.eye(p)) for white in self.white])
        middle = self.means.mean(axis=0)
        w = np.stack([white.precision(m) for white, m in zip(self.white, self.means - middle, strict=True)])
        b = self.start - 0.5 * (w * (self.means - middle)).sum(axis=1)
        return LogisticForm.about(tuple(self.columns), middle, w, b, -0.5 * P)

    def separation(self, stats: Stats) -> Between:
        """As for own covariances: Σ_j P_ij Σ_ij is the diagonal of PΣ, Σ = Zᵀ diag(a) Z + diag(d)."""

        def product(a: int, b: int) -> Array:
            P, M = self.white[a], self.matrices[b]
            return np.asarray(P.precision_diagonal() * M.d + M.a @ (P.precision(M.Z) * M.Z))

        def between(a: int, b: int) -> Array:
            d = 0.5 * (self.means[b] - self.means[a])
            slope = -self.white[a].precision(d) - self.white[b].precision(d)
            wider = product(b, a) - product(b, b) - product(a, a) + product(a, b)
            return np.asarray(0.5 * wider - 2 * slope * d)

        return between
