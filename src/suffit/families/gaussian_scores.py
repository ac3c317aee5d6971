"""Gaussian scores: diagonal, own and shared covariances, each in the form that does not cancel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..family import Scorer
from ..forms import LogisticForm
from ..kernels.threads import every, row_blocks
from ..stats import Array
from ..table import Codes, Matrix, block, check_finite, csr, freeze, is_sparse
from .elementwise import entry_blocks

LOG_2PI = float(np.log(2 * np.pi))


def centred(X: Matrix, start: int, stop: int, mean: Array, W: Array) -> Array:
    """(x − mean)·Wᵀ for some rows, W (r, p), or (p,) for a diagonal; sparse rows are never made dense."""
    with np.errstate(over="ignore", invalid="ignore"):  # far rows overflow here and are drawn in later
        if is_sparse(X):
            if W.ndim == 1:
                W = np.diag(W)
            return np.asarray(X[start:stop] @ W.T) - mean @ W.T
        z = block(X, start, stop) - mean
        return z * W if W.ndim == 1 else z @ W.T


class GaussianScorer(Scorer):
    """What all Gaussian scorers share: means, whitenings W_c with W_cᵀW_c = Σ_c⁻¹, log-determinants.

    A column (or direction) without variance anywhere carries no information: W is 0 there and ``rank`` counts
    the others.
    """

    means: Array  # (K, p)
    rank: int
    n_parameters: int
    columns: tuple[str, ...]

    sigma: Array  # (K, p) variances, (K, p, p) own or (p, p) or (p,) shared covariances

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

    def drawn_in(self, X: NDArray[Any]) -> NDArray[Any]:
        """X → centre + (x − centre)·1e−50."""
        return np.asarray(self.centre * (1 - 1e-50) + np.asarray(X, dtype=np.float64) * 1e-50)


class DiagonalScorer(GaussianScorer):
    """log p(x | c) = −Σ_j ½(x_j − μ_cj)²/σ²_cj + log σ_cj√2π; the sum runs over the values present."""

    takes_missing = True

    def __init__(
        self, means: Array, variances: Array, flat: NDArray[np.bool_], columns: Sequence[str], n_parameters: int
    ) -> None:
        self.means, self.variances, self.columns = freeze(means), variances, tuple(columns)
        self.sigma = variances
        self.flat = flat  # (p,) columns without variance in any class
        var = np.maximum(variances, np.finfo(float).tiny)
        self.root = freeze(np.where(flat, 0.0, np.sqrt(0.5) / np.sqrt(var)))  # 1/(σ√2): squares of z·root, not of z
        self.log_scale = freeze(np.where(flat, 0.0, 0.5 * (np.log(var) + LOG_2PI)))
        self.rank = int((~flat).sum())
        self.n_parameters = n_parameters

    def scores(self, X: Matrix) -> Array:
        """One fused loop per row block; blocks with missing values take the loop that skips them."""
        from ..kernels.scores import gaussian_scores, gaussian_scores_present

        out = np.empty((X.shape[0], len(self.means)))
        start_full = freeze(-self.log_scale.sum(axis=1))
        if is_sparse(X):
            self._sparse(csr(X), start_full, out)
            return out
        zeros = freeze(np.zeros(len(self.means)))

        def work(a: int, b: int) -> None:
            x = block(X, a, b)
            gaussian_scores(x, self.means, self.root, start_full, out[a:b])
            if np.isnan(out[a:b]).any():
                gaussian_scores_present(x, self.means, self.root, self.log_scale, zeros, out[a:b])

        every(work, row_blocks(*X.shape))
        return out

    def _sparse(self, X: Matrix, start: Array, out: Array) -> None:
        from ..kernels.counts import csr_gaussian_scores

        zero_row = freeze(start - ((self.means * self.root) ** 2).sum(axis=1))
        indptr = X.indptr.astype(np.int64)

        def work(a: int, b: int) -> None:
            e, f = indptr[a], indptr[b]
            data = freeze(np.asarray(X.data[e:f], dtype=np.float64))
            indices = freeze(X.indices[e:f].astype(np.int32, copy=False))
            local = freeze(indptr[a : b + 1] - e)
            csr_gaussian_scores(local, indices, data, self.means, self.root, zero_row, out[a:b])

        every(work, entry_blocks(indptr))

    def sample(self, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
        """μ + σ·normal, column by column."""
        z = rng.standard_normal((len(codes), self.means.shape[1]))
        return np.asarray(self.means[codes] + np.sqrt(self.variances[codes]) * z)

    def logistic_form(self) -> LogisticForm:
        """Q = −½/σ² (diagonal), w = μ/σ², b = −Σ ½μ²/σ² + log σ√2π."""
        h = self.root**2
        b = -((self.means * self.root) ** 2 + self.log_scale).sum(axis=1)
        return LogisticForm(self.columns, 2 * h * self.means, b, _identity, -h)


class OwnScorer(GaussianScorer):
    """log p(x | c) = −½‖W_c(x − μ_c)‖² − ½ log det 2πΣ_c, a covariance for each class."""

    def __init__(
        self,
        means: Array,
        sigma: Array,
        W: Array,
        log_det: Array,
        rank: int,
        columns: Sequence[str],
        n_parameters: int,
    ) -> None:
        self.means, self.sigma, self.W, self.log_det, self.rank = means, sigma, W, log_det, rank
        self.columns, self.n_parameters = tuple(columns), n_parameters

    def scores(self, X: Matrix) -> Array:
        """One product per class and row block."""
        from ..kernels.scores import add_row_norms

        out = np.empty((X.shape[0], len(self.means)))
        start = -0.5 * (self.log_det + self.rank * LOG_2PI)
        rows = csr(X) if is_sparse(X) else X

        def work(a: int, b: int) -> None:
            for c, mean in enumerate(self.means):
                q = np.full(b - a, start[c])
                add_row_norms(freeze(centred(rows, a, b, mean, self.W[c])), -0.5, q)
                out[a:b, c] = q

        every(work, row_blocks(*X.shape))
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
        """μ_c + W_c⁻¹·normal."""
        z = rng.standard_normal((len(codes), self.means.shape[1]))
        out = np.empty_like(z)
        for c, mean in enumerate(self.means):
            here = codes == c
            out[here] = mean + z[here] @ np.linalg.pinv(self.W[c]).T
        return out

    def logistic_form(self) -> LogisticForm:
        """Q_c = −½Σ_c⁻¹, w_c = Σ_c⁻¹μ_c, b_c = −½μ_cᵀΣ_c⁻¹μ_c − ½ log det 2πΣ_c."""
        P = np.stack([W.T @ W for W in self.W])
        w = np.einsum("cij,cj->ci", P, self.means)
        u = np.einsum("cij,cj->ci", self.W, self.means)
        b = -0.5 * ((u * u).sum(axis=1) + self.log_det + self.rank * LOG_2PI)
        return LogisticForm(self.columns, w, b, _identity, -0.5 * P)


class SharedScorer(GaussianScorer):
    """One covariance for all classes: scores linear in x, taken in the few directions that tell classes apart.

    u = P(x − m) with P = VᵀW, V the right singular vectors of the whitened class means; v_c the means there.
    """

    def __init__(
        self,
        means: Array,
        sigma: Array,
        W: Array,
        log_det: float,
        rank: int,
        columns: Sequence[str],
        n_parameters: int,
    ) -> None:
        self.means, self.sigma, self.W, self.log_det, self.rank = means, sigma, W, log_det, rank
        self.columns, self.n_parameters = tuple(columns), n_parameters
        self.middle = means.mean(axis=0)
        M = (means - self.middle) * W if W.ndim == 1 else (means - self.middle) @ W.T  # (K, d)
        _, s, Vt = np.linalg.svd(M, full_matrices=False)
        keep = s > s.max(initial=0.0) * 1e-14 * max(M.shape)
        self.axes = Vt[keep]  # (r, d) in whitened coordinates
        self.P = self.axes * W if W.ndim == 1 else self.axes @ W  # (r, p)
        self.V = freeze(M @ self.axes.T)  # (K, r)
        self.whitened_means = M

    def check(self, X: Matrix) -> None:
        """Where no direction tells classes apart, rows are not looked at otherwise."""
        if not len(self.P):
            for a, b in row_blocks(*X.shape):
                check_finite(block(X, a, b), self.columns, a, missing=False)

    @property
    def centre(self) -> Array:
        """The middle of the class means."""
        return np.asarray(self.middle)

    def _scores(self, X: Matrix) -> tuple[Array, NDArray[np.int32]]:
        from ..kernels.scores import nearest_centre_scores

        out = np.empty((X.shape[0], len(self.means)))
        nearest = np.zeros(X.shape[0], np.int32)
        start = freeze(np.zeros(len(self.means)))
        rows = csr(X) if is_sparse(X) else X

        def work(a: int, b: int) -> None:
            U = freeze(centred(rows, a, b, self.middle, self.P))
            nearest_centre_scores(U, self.V, start, nearest[a:b], out[a:b])

        every(work, row_blocks(*X.shape))
        return out, nearest

    def scores(self, X: Matrix) -> Array:
        """(v_c − v_b)·(u − ½(v_c + v_b)), b the nearest mean."""
        return self._scores(X)[0]

    def log_base(self, X: Matrix) -> Array:
        """−½‖W(x − μ_b)‖² − ½ log det 2πΣ, b the nearest mean: what ``scores`` leaves out."""
        _, nearest = self._scores(X)
        out = np.full(X.shape[0], -0.5 * (self.log_det + self.rank * LOG_2PI))
        rows = csr(X) if is_sparse(X) else X
        for a, b in row_blocks(*X.shape):
            U = centred(rows, a, b, self.middle, self.W)
            with np.errstate(over="ignore", invalid="ignore"):
                U -= self.whitened_means[nearest[a:b]]
                out[a:b] -= 0.5 * np.einsum("ij,ij->i", U, U)
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
        """μ_c + W⁻¹·normal."""
        if self.W.ndim == 1:
            scale = np.divide(1.0, self.W, out=np.zeros_like(self.W), where=self.W > 0)
            return np.asarray(self.means[codes] + rng.standard_normal((len(codes), len(scale))) * scale)
        z = rng.standard_normal((len(codes), self.W.shape[0]))
        return np.asarray(self.means[codes] + z @ np.linalg.pinv(self.W).T)

    def logistic_form(self) -> LogisticForm:
        """w_c = Σ⁻¹(μ_c − m), b_c = −½(μ_c − m)ᵀΣ⁻¹(μ_c − m) − w_c·m: scores relative to the middle m."""
        w = self.whitened_means * self.W if self.W.ndim == 1 else self.whitened_means @ self.W
        b = -0.5 * (self.whitened_means**2).sum(axis=1) - w @ self.middle
        return LogisticForm(self.columns, w, b, _identity)


def _identity(X: NDArray[Any]) -> Array:
    return np.asarray(X, dtype=np.float64)
