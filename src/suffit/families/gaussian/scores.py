"""Gaussian scores: diagonal, own and shared covariances, each in the form that does not cancel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ...core.family import Between, ParameterValues, Scorer, Terms
from ...core.logistic import LogisticForm
from ...core.stats import Stats
from ...data.arrays import Array, Codes, Csr, NumberRows, adds_up, block, csr, entries, freeze, is_sparse
from ...data.errors import check_finite, check_stored
from ...kernels.runtime.threads import COPY_CELLS, row_blocks
from .missing.patterns import NO_VARIANCE, Flags

LOG_2PI = float(np.log(2 * np.pi))
SMALLEST = float(np.finfo(np.float64).tiny)
MOST_PAIRED = 200  # columns up to which the covariance of every pair is listed among the parameters
NEAR = 30.0  # standard deviations from the middle up to which w·(x − m) + b errs by less than 1e-12 (ε·30²)


def centred(X: NumberRows, start: int, stop: int, mean: Array, W: Array) -> Array:
    """(x − mean)·Wᵀ for some rows, W (r, p), or (p,) for a diagonal; sparse rows are never made dense."""
    with np.errstate(over="ignore", invalid="ignore"):  # far rows overflow here and are drawn in later
        if is_sparse(X) and isinstance(W, np.ndarray):
            if W.ndim == 1:
                return cast(Csr, X[start:stop].multiply(W)).toarray() - mean * W
            return np.asarray(X[start:stop] @ W.T) - mean @ W.T
        z = block(X, start, stop) - mean
        return z * W if W.ndim == 1 else z @ W.T


class Marginal:
    """log p(x_o | c) of the columns o that a row has: the density of a part of jointly normal columns.

    Σ_oo is factored once for every pattern; a column that never varies, or only with those before it, drops out.
    """

    def __init__(self, means: Array, sigma: Array, tolerance: float) -> None:
        self.tolerance = tolerance
        full = sigma if sigma.ndim == 3 else sigma[None]
        deviation = np.sqrt(np.einsum("cjj->cj", full))
        deviation = np.where(deviation > 0, deviation, 1.0)
        self.R = freeze(full / deviation[:, :, None] / deviation[:, None, :])
        each = np.broadcast_to(deviation, means.shape)
        self.means, self.root, self.log_scale = freeze(means), freeze(1 / each), freeze(np.log(each))

    def scores(self, x: Array) -> Array:
        """# (n, p) with NaN → (n, K)"""
        squares, peak, _ = self.distances(x)
        return np.asarray(peak - 0.5 * squares)

    def distances(self, x: Array) -> tuple[Array, Array, Array]:
        """d² to each mean, the log-density there, and how many columns say something.  # → (n, K), (n, K), (n,)"""
        from ...kernels.missing import marginal_squares

        x = np.asarray(x, dtype=np.float64)
        order = np.lexsort(np.packbits(x == x, axis=1).T)  # rows of one pattern after each other
        shape = (len(x), len(self.means))
        found = np.empty(shape), np.empty(shape), np.empty(len(x))
        marginal_squares(freeze(x[order]), self.means, self.root, self.R, self.log_scale, self.tolerance, *found)
        squares, peak, used = (np.empty_like(a) for a in found)
        squares[order], peak[order], used[order] = found
        squares[np.isinf(x).any(axis=1)] = np.nan  # even where the column says nothing: refused later, by name
        return squares, peak, used

    def side(self, c: int, there: Flags) -> tuple[Array, Array, float]:
        """Mean, whitening and log-density at the mean of the columns that are there."""
        from .terms import side_of

        return side_of(self, c, there)

    def regressions(self, x: Array) -> Iterator[tuple[NDArray[np.int64], Flags, int, Array, Array]]:
        """For every pattern and class: rows, what is there, class, E[x_m | x_o, c] of the rows, root of Cov[x_m | x_o].

        E[x_m | x_o] = μ_m + B(x_o − μ_o) with B = Σ_mo Σ_oo⁻¹, Cov = Σ_mm − B Σ_om.
        """
        patterns, which = np.unique(x == x, axis=0, return_inverse=True)
        for q, there in enumerate(patterns):
            rows = np.flatnonzero(which.reshape(-1) == q)
            z = (x[rows][:, there][:, None] - self.means[:, there]) * self.root[:, there]  # (rows, K, o)
            for c in range(len(self.means)):
                if c < len(self.R):
                    R = self.R[c]
                    B = R[~there][:, there] @ np.linalg.pinv(R[np.ix_(there, there)], rcond=NO_VARIANCE, hermitian=True)
                    values, vectors = np.linalg.eigh(R[np.ix_(~there, ~there)] - B @ R[np.ix_(there, ~there)])
                    root = vectors * np.sqrt(np.maximum(values, 0.0))
                deviation = 1 / self.root[c, ~there]
                mean = self.means[c, ~there] + (z[:, c] @ B.T) * deviation
                yield rows, there, c, mean, root * deviation[:, None]


class GaussianScorer(Scorer[NumberRows, Stats]):
    """What all Gaussian scorers share: means, whitenings W_c with W_cᵀW_c = Σ_c⁻¹, log-determinants.

    A column (or direction) without variance anywhere carries no information: W is 0 there and ``rank`` counts
    the others.
    """

    key = "gaussian"
    means: Array  # (K, p)
    rank: int
    n_parameters: int
    columns: Sequence[str]

    sigma: Array  # (K, p) variances, (K, p, p) own or (p, p) or (p,) shared covariances

    takes_missing = True
    tolerance = NO_VARIANCE  # a direction with no more than this share of a column's variance says nothing

    @cached_property
    def marginal(self) -> Marginal:
        """The densities of rows with missing values."""
        return Marginal(self.means, self.sigma, self.tolerance)

    def _score_missing(self, X: NumberRows, start: int, stop: int, out: Array, search: bool = False) -> None:
        """Scores of the rows that have missing values, which the plain formula has left NaN (else: search for them)."""
        if not search and adds_up(out):
            return
        x = block(X, start, stop)
        incomplete = np.isnan(x).any(axis=1)
        if incomplete.any():
            out[incomplete] = self.scores_of_parts(x[incomplete])

    def scores_of_parts(self, x: Array) -> Array:
        """log p(x_o | c) of rows of which some columns o are there.  # (n, p) with NaN → (n, K)"""
        return self.marginal.scores(x)

    @property
    def centres(self) -> Array:
        return self.means

    def parameters(self) -> list[ParameterValues]:
        """Means, deviations, and the covariance of every pair of columns where they are joint and not too many."""
        apart = self.sigma.ndim == 1 or isinstance(self, DiagonalScorer)
        full = self.covariances()
        found = [
            ParameterValues("mean", self.columns, self.means),
            ParameterValues("standard deviation", self.columns, np.sqrt(np.diagonal(full, axis1=1, axis2=2))),
        ]
        i, j = np.triu_indices(0 if apart or len(self.columns) > MOST_PAIRED else len(self.columns), 1)
        if len(i):
            pairs = [f"{self.columns[a]}, {self.columns[b]}" for a, b in zip(i.tolist(), j.tolist(), strict=True)]
            found.append(ParameterValues("covariance", pairs, full[:, i, j]))
        return found

    def filled(self, X: NumberRows, posterior: Array) -> Array:
        """By the regression on the columns that are there, where columns are joint."""
        if self.sigma.ndim == 1 or isinstance(self, DiagonalScorer):
            return np.asarray(super().filled(X, posterior))
        out = np.asarray(X, dtype=np.float64).copy()
        out[np.isnan(out)] = 0.0
        for rows, there, c, mean, _ in self.marginal.regressions(np.asarray(X, dtype=np.float64)):
            out[np.ix_(rows, ~there)] += posterior[rows, c][:, None] * mean
        return out

    def drawn(self, X: NumberRows, codes: Codes, rng: np.random.Generator) -> Array:
        """Normal about the regression on the columns that are there, where columns are joint."""
        if self.sigma.ndim == 1 or isinstance(self, DiagonalScorer):
            return np.asarray(super().drawn(X, codes, rng))
        out = np.asarray(X, dtype=np.float64).copy()
        for rows, there, c, mean, root in self.marginal.regressions(np.array(out)):
            here = codes[rows] == c
            noise = rng.standard_normal((int(here.sum()), root.shape[1])) @ root.T
            out[np.ix_(rows[here], ~there)] = mean[here] + noise
        return out

    def covariances(self) -> Array:
        """Σ_c of every class.  # → (K, p, p)"""
        full = self.sigma
        if full.ndim == 1 or (full.ndim == 2 and isinstance(self, DiagonalScorer)):
            full = full[..., None] * np.eye(self.means.shape[1])
        return np.broadcast_to(full, (len(self.means), *full.shape[-2:]))

    @property
    def centre(self) -> Array:
        """Where rows too far out are drawn towards."""
        return np.asarray(self.means.mean(axis=0))

    def surely_valid(self, X: NumberRows) -> bool:
        """Infinities and far points show in the result."""
        return True

    def drawn_in(self, X: NumberRows) -> Array:
        """X → centre + (x − centre)·1e−50."""
        return np.asarray(self.centre * (1 - 1e-50) + np.asarray(X, dtype=np.float64) * 1e-50)


class DiagonalScorer(GaussianScorer):
    """log p(x | c) = −Σ_j ½(x_j − μ_cj)²/σ²_cj + log σ_cj√2π; the sum runs over the values present."""

    def __init__(
        self, means: Array, variances: Array, flat: NDArray[np.bool_], columns: Sequence[str], n_parameters: int
    ) -> None:
        self.means, self.variances, self.columns = freeze(means), variances, columns
        self.sigma = variances
        self.flat = flat  # (p,) columns without variance in any class
        self.rank = int((~flat).sum())
        self.n_classes, self.n_parameters = len(means), n_parameters

    # what only scores need is worked out when the first are asked for

    @cached_property
    def root(self) -> Array:
        """1/(σ√2), 0 where flat: squares of z·root, not of z."""
        return freeze(np.where(self.flat, 0.0, np.sqrt(0.5) / np.sqrt(np.maximum(self.variances, SMALLEST))))

    @cached_property
    def log_scale(self) -> Array:
        """log σ√2π, 0 where flat."""
        return freeze(np.where(self.flat, 0.0, 0.5 * (np.log(np.maximum(self.variances, SMALLEST)) + LOG_2PI)))

    @cached_property
    def start(self) -> Array:
        """The score of a row at the mean.  # → (K,)"""
        return freeze(-self.log_scale.sum(axis=1))

    @cached_property
    def zero_row(self) -> Array:
        """The score of a row of zeros.  # → (K,)"""
        return freeze(self.start - ((self.means * self.root) ** 2).sum(axis=1))

    @cached_property
    def centred_at_zero(self) -> bool:
        """Whether differences to a row of zeros do not cancel."""
        return bool((np.abs(self.means) * self.root).max(initial=0.0) < NEAR)

    def check(self, X: NumberRows) -> None:
        """An infinity stored in sparse rows."""
        if is_sparse(X):
            check_stored(csr(X), self.columns)

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """One fused loop; blocks with missing values take the loop that skips them."""
        from ...kernels.scores import gaussian_scores, gaussian_scores_present
        from ...kernels.sparse_rows import csr_gaussian_scores

        if is_sparse(X) and self.centred_at_zero:
            csr_gaussian_scores(*entries(X, start, stop), self.means, self.root, self.zero_row, out)
            if adds_up(out):
                return
        if is_sparse(X):  # missing values; or far from 0, where the differences to a row of zeros would cancel
            for a, b in row_blocks(stop - start, X.shape[1], COPY_CELLS):
                self.score_rows(block(X, start + a, start + b), 0, b - a, out[a:b])
            return
        x = block(X, start, stop)
        gaussian_scores(x, self.means, self.root, self.start, out)
        if not adds_up(out):
            gaussian_scores_present(x, self.means, self.root, self.log_scale, freeze(np.zeros(len(self.means))), out)
            out[np.isinf(x).any(axis=1)] = np.nan  # even where the column says nothing: refused later, by name

    def row_kernel(self, log_prior: Array) -> tuple[Callable[..., object] | None, tuple[Array, ...]]:
        from ...kernels.one_row import gaussian_row

        return gaussian_row, (self.means, self.root, self.log_scale, freeze(log_prior))

    def parts(self, X: NumberRows, a: Codes, b: Codes) -> Terms:
        from .terms import diagonal_terms

        return diagonal_terms(self, X, a, b)

    def log_likelihood(self, stats: Stats) -> Array | None:
        """−Σ ½(x − μ)²/σ² + log σ√2π, from the sums about the means."""
        about = stats.about(self.means)
        return -np.asarray((about["xx"] * self.root**2 + about["n"] * self.log_scale).sum(axis=1))

    def separation(self, stats: Stats) -> Between:
        """½(μ_a − μ_b)²(1/σ²_a + 1/σ²_b) + ½(σ²_a/σ²_b + σ²_b/σ²_a) − 1."""
        precise, var = 2 * self.root**2, np.maximum(self.variances, SMALLEST)

        def between(a: int, b: int) -> Array:
            apart = 0.5 * (self.means[a] - self.means[b]) ** 2 * (precise[a] + precise[b])
            return np.where(self.flat, 0.0, apart + 0.5 * (var[a] / var[b] + var[b] / var[a]) - 1.0)

        return between

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        """μ + σ·normal, column by column."""
        z = rng.standard_normal((len(codes), self.means.shape[1]))
        return np.asarray(self.means[codes] + np.sqrt(self.variances[codes]) * z)

    def logistic_form(self) -> LogisticForm:
        """Q = −½/σ² (diagonal), w = (μ − m)/σ², b = −Σ ½(μ − m)²/σ² + log σ√2π, about the middle m of the means."""
        middle = self.means.mean(axis=0)
        h, z = self.root**2, self.means - middle
        b = -((z * self.root) ** 2 + self.log_scale).sum(axis=1)
        return LogisticForm.about(tuple(self.columns), middle, 2 * h * z, b, -h)


class OwnScorer(GaussianScorer):
    """log p(x | c) = −½‖W_c(x − μ_c)‖² − ½ log det 2πΣ_c, a covariance for each class."""

    cells = COPY_CELLS * 2

    def __init__(
        self, means: Array, sigma: Array, W: Array, log_det: Array, rank: int, columns: Sequence[str], n_parameters: int
    ) -> None:
        self.means, self.sigma, self.W, self.log_det, self.rank = means, sigma, W, log_det, rank
        self.columns, self.n_parameters = columns, n_parameters

        self.n_classes = len(means)
        self.middle = freeze(means.mean(axis=0))
        self.start = -0.5 * (log_det + rank * LOG_2PI)

    def of(self, classes: Sequence[int]) -> OwnScorer:
        means, sigma, W, log_det = (a[classes] for a in (self.means, self.sigma, self.W, self.log_det))
        return OwnScorer(means, sigma, W, log_det, self.rank, self.columns, self.n_parameters)

    @cached_property
    def strips(self) -> list[tuple[int, Array, Array]]:
        """W_c in strips of rows, the classes side by side: (columns it reads, weights, what the class mean adds).

        W_c is lower triangular (or read as full where it is not): a strip of rows needs the first columns only.
        """
        p = self.means.shape[1]
        triangular = not np.triu(self.W, 1).any()
        shift = np.einsum("cij,cj->ci", self.W, self.middle - self.means)
        edges = np.unique(np.linspace(0, p, max(1, min(8, p // 12)) + 1).astype(int)) if triangular else [0, p]
        out = []
        for a, b in pairwise(edges):
            reads = int(b) if triangular else p
            strip = self.W[:, a:b, :reads].reshape(-1, reads).T
            out.append((reads, np.ascontiguousarray(strip), freeze(shift[:, a:b])))
        return out

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """One product per strip for all classes, about the middle of the means; the class mean is added after."""
        from ...kernels.scores import subtract_centre, subtract_half_norms

        out[:] = self.start
        if is_sparse(X):
            for reads, weights, shift in self.strips:
                U = np.asarray(X[start:stop, :reads] @ weights) - self.middle[:reads] @ weights
                subtract_half_norms(freeze(U), shift, out)
            self._score_missing(X, start, stop, out)
            return
        x = block(X, start, stop)
        Z = np.empty(x.shape)
        subtract_centre(x, self.middle, Z)
        with np.errstate(over="ignore", invalid="ignore"):  # far rows overflow here and are drawn in later
            for reads, weights, shift in self.strips:
                subtract_half_norms(freeze(Z[:, :reads] @ weights), shift, out)
        self._score_missing(X, start, stop, out)

    additive = False

    def parts(self, X: NumberRows, a: Codes, b: Codes) -> Terms:
        """Along the way from the middle of the two means to the row."""
        from .terms import own_terms

        return own_terms(self, X, a, b)

    def log_likelihood(self, stats: Stats) -> Array | None:
        """−½ tr(W S Wᵀ) − ½n log det 2πΣ, S the sums about the means."""
        if _has_missing(stats):
            return None
        about = stats.about(self.means)
        squares = np.einsum("cki,cij,ckj->c", self.W, about["xx"], self.W, optimize=True)
        return np.asarray(-0.5 * squares + about["n"] * self.start)

    def separation(self, stats: Stats) -> Between:
        """part_j = u_j(½(Du)_j + c_j), u = x − m, D = P_b − P_a: E[uuᵀ] = Σ + ddᵀ, both classes being as far from m."""
        P = [W.T @ W for W in self.W]

        def between(a: int, b: int) -> Array:
            d = 0.5 * (self.means[b] - self.means[a])
            slope = -(P[a] + P[b]) @ d
            wider = np.einsum("ij,ij->i", P[b] - P[a], self.sigma[a] - self.sigma[b])
            return np.asarray(0.5 * wider - 2 * slope * d)

        return between

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        """μ_c + W_c⁻¹·normal."""
        z = rng.standard_normal((len(codes), self.means.shape[1]))
        out = np.empty_like(z)
        for c in np.unique(codes):
            here = codes == c
            out[here] = self.means[c] + _unwhitened(z[here], self.W[c], self.sigma[c])
        return out

    def logistic_form(self) -> LogisticForm:
        """Q_c = −½Σ_c⁻¹, w_c = Σ_c⁻¹z_c, b_c = −½z_cᵀΣ_c⁻¹z_c − ½ log det 2πΣ_c, z_c = μ_c − m, m their middle."""
        P, z = np.stack([W.T @ W for W in self.W]), self.means - self.middle
        w = np.einsum("cij,cj->ci", P, z)
        u = np.einsum("cij,cj->ci", self.W, z)
        b = -0.5 * ((u * u).sum(axis=1) + self.log_det + self.rank * LOG_2PI)
        return LogisticForm.about(tuple(self.columns), self.middle, w, b, -0.5 * P)


class SharedScorer(GaussianScorer):
    """One covariance for all classes: scores linear in x, taken in the few directions that tell classes apart.

    u = P(x − m) with P = VᵀW, V the right singular vectors of the whitened class means; v_c the means there.
    """

    def __init__(
        self, means: Array, sigma: Array, W: Array, log_det: float, rank: int, columns: Sequence[str], n_parameters: int
    ) -> None:
        self.means, self.sigma, self.W, self.log_det, self.rank = means, sigma, W, log_det, rank
        self.columns, self.n_parameters = columns, n_parameters
        self.middle = freeze(means.mean(axis=0))
        M = (means - self.middle) * W if W.ndim == 1 else (means - self.middle) @ W.T  # (K, d)
        _, s, Vt = np.linalg.svd(M, full_matrices=False)
        size = np.abs(means) * np.abs(W) if W.ndim == 1 else np.abs(means) @ abs(W).T
        noise = 8 * float(np.finfo(float).eps) * size.max(initial=0.0)  # means this near to each other are equal
        keep = s > np.maximum(s.max(initial=0.0) * 1e-14 * max(M.shape), noise)
        self.axes = Vt[keep]  # (r, d) in whitened coordinates
        self.P = self.axes * W if W.ndim == 1 else self.axes @ W  # (r, p)
        self.V = freeze(M @ self.axes.T)  # (K, r)
        self.whitened_means = M
        self.n_classes = len(means)
        self.weights = freeze(self.V @ self.P)
        self.offset = freeze(-0.5 * (self.V**2).sum(axis=1))
        self.near = bool(np.abs(self.V).max(initial=0.0) <= NEAR)

    def of(self, classes: Sequence[int]) -> SharedScorer:
        rest = self.sigma, self.W, self.log_det, self.rank, self.columns, self.n_parameters
        return SharedScorer(self.means[classes], *rest)

    def check(self, X: NumberRows) -> None:
        """Where no direction tells classes apart, rows are not looked at otherwise."""
        if not len(self.P):
            for a, b in row_blocks(*X.shape):
                check_finite(block(X, a, b), self.columns, a)

    @property
    def centre(self) -> Array:
        """The middle of the class means."""
        return np.asarray(self.middle)

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """Linear in x.  Where the means lie near each other, w_c·(x − m) + b_c; else relative to the nearest mean."""
        from ...kernels.scores import linear_scores

        if self.near and not is_sparse(X):
            linear_scores(block(X, start, stop), self.middle, self.weights, self.offset, out)
        else:
            self._from_nearest(X, start, stop, out)
        self._score_missing(X, start, stop, out, search=not len(self.P))

    def scores_of_parts(self, x: Array) -> Array:
        """The density of the part; for a diagonal, the terms of the columns that are there."""
        from ...kernels.scores import gaussian_scores_present

        if self.W.ndim == 2:
            return self.marginal.scores(x)
        root = np.broadcast_to(self.W * np.sqrt(0.5), self.means.shape)
        log_scale = np.where(root > 0, 0.5 * LOG_2PI - np.log(np.where(self.W > 0, self.W, 1.0)), 0.0)
        out = np.empty((len(x), self.n_classes))
        nothing = freeze(np.zeros(self.n_classes))
        gaussian_scores_present(freeze(x), freeze(self.means), freeze(root), freeze(log_scale), nothing, out)
        out[np.isinf(x).any(axis=1)] = np.nan
        return out

    def _from_nearest(self, X: NumberRows, start: int, stop: int, out: Array) -> NDArray[np.int32]:
        """(v_c − v_b)·(u − ½(v_c + v_b)), b the nearest mean, which is returned."""
        from ...kernels.scores import nearest_centre_scores

        nearest = np.zeros(stop - start, np.int32)
        U = freeze(centred(X, start, stop, self.middle, self.P))
        nearest_centre_scores(U, self.V, freeze(np.zeros(self.n_classes)), nearest, out)
        return nearest

    def parts(self, X: NumberRows, a: Codes, b: Codes) -> Terms:
        """(w_a − w_b)_j·(x_j − ½(μ_a + μ_b)_j)."""
        from .terms import shared_terms

        return shared_terms(self, X, a, b)

    def row_kernel(self, log_prior: Array) -> tuple[Callable[..., object] | None, tuple[Array, ...]]:
        """The linear form, where the means lie near each other."""
        from ...kernels.one_row import linear_row

        parameters = (self.middle, self.weights, self.offset, freeze(log_prior))
        return (linear_row, parameters) if self.near else (None, ())

    def log_base(self, X: NumberRows) -> Array:
        """log p(x | b) minus the score of b, b the nearest mean: −½‖W(x − μ_b)‖² − ½ log det 2πΣ − score_b."""
        out = np.full(X.shape[0], -0.5 * (self.log_det + self.rank * LOG_2PI))
        rows = csr(X) if is_sparse(X) else X
        for a, b in row_blocks(X.shape[0], X.shape[1], COPY_CELLS):
            scores = np.empty((b - a, self.n_classes))
            nearest = self._from_nearest(rows, a, b, scores)
            self.score_rows(rows, a, b, scores)
            U = centred(rows, a, b, self.middle, self.W)
            with np.errstate(over="ignore", invalid="ignore"):
                U -= self.whitened_means[nearest]
                out[a:b] -= 0.5 * np.einsum("ij,ij->i", U, U) + scores[np.arange(b - a), nearest]
            if np.isnan(out[a:b].sum()):
                out[a:b][np.isnan(block(rows, a, b)).any(axis=1)] = 0.0  # scored by the density itself
        return out

    def log_likelihood(self, stats: Stats) -> Array | None:
        """The same with one covariance; where sums are pooled, of all classes together."""
        if self.W.ndim == 1:
            about, used = stats.about(self.means), self.W > 0
            log_scale = np.where(used, 0.5 * LOG_2PI - np.log(np.where(used, self.W, 1.0)), 0.0)
            return -np.asarray((0.5 * about["xx"] * self.W**2 + about["n"] * log_scale).sum(axis=1))
        if _has_missing(stats):
            return None
        about, start = stats.about(self.means), -0.5 * (self.log_det + self.rank * LOG_2PI)
        squares = np.einsum("ki,...ij,kj->...", self.W, about["xx"], self.W)
        return np.asarray(-0.5 * squares + (about["n"].sum() if squares.ndim == 0 else about["n"]) * start).reshape(-1)

    def separation(self, stats: Stats) -> Between:
        """(w_a − w_b)·(μ_a − μ_b)."""
        w, mean = self.weights, self.means
        return lambda a, b: np.asarray((w[a] - w[b]) * (mean[a] - mean[b]))

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        """μ_c + W⁻¹·normal."""
        if self.W.ndim == 1:
            scale = np.divide(1.0, self.W, out=np.zeros_like(self.W), where=self.W > 0)
            return np.asarray(self.means[codes] + rng.standard_normal((len(codes), len(scale))) * scale)
        z = rng.standard_normal((len(codes), self.W.shape[0]))
        return np.asarray(self.means[codes] + _unwhitened(z, self.W, self.sigma))

    def logistic_form(self) -> LogisticForm:
        """w_c = Σ⁻¹(μ_c − m), b_c = −½(μ_c − m)ᵀΣ⁻¹(μ_c − m), about the middle m."""
        w = self.whitened_means * self.W if self.W.ndim == 1 else self.whitened_means @ self.W
        b = -0.5 * (self.whitened_means**2).sum(axis=1)
        return LogisticForm.about(tuple(self.columns), self.middle, w, b)


def _has_missing(stats: Stats) -> bool:
    return "part_n" not in stats.sums or bool(stats["part_n"].any())


def _unwhitened(z: Array, W: Array, sigma: Array) -> Array:
    """W⁻¹z (on the directions that vary), inverted in standardised columns so that no scale is lost beside another."""
    scale = np.sqrt(np.diagonal(sigma))
    scale = np.where(scale > 0, scale, 1.0)
    return np.asarray((z @ np.linalg.pinv(W * scale).T) * scale)
