"""Covariance matrices of few rows: M = Zᵀ diag(a) Z + diag(d), Z (rows, p), without a matrix of p × p.

With d = 0 the matrix varies in no more directions than there are rows.  In standardised columns, B = √a Z / √M_jj, the
eigenvalues of BᵀB are those of the small matrix B Bᵀ = A Λ Aᵀ, and its eigenvectors the rows of Λ^(−½) Aᵀ B; whatever
lies outside of them does not vary and is dropped.

With d > 0 (shrinkage, a ridge, a prior's variances) M is of full rank.  In columns divided by √d it is I + BᵀB,
B = √a Z / √d, and with B Bᵀ = A Λ Aᵀ

    det M = Π d_j · Π (1 + λ_k),
    W = (I − Bᵀ A q(Λ) Aᵀ B) diag(d)^(−½),     q(λ) = 1 / (√(1+λ)·(1 + √(1+λ))),     WᵀW = M⁻¹,

for the symmetric root (I + BᵀB)^(−½) leaves alone what is orthogonal to the rows and divides an eigenvector of BᵀB by
√(1+λ), and 1 − λ·q(λ) is that.  q is finite at λ = 0: nothing is divided by an eigenvalue that may be rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ....data.arrays import Array, NumberRows, is_sparse

Flags = NDArray[np.bool_]

RANK_TOLERANCE = 1e-12  # share of a column's variance left after regression on the others: less is rounding
GRADED = 1e-6  # share of the largest eigenvalue: of smaller ones the small matrix has lost too many digits


@dataclass(frozen=True, eq=False)
class LowRank:
    """Zᵀ diag(a) Z + diag(d)."""

    Z: Array  # (rows, p)
    a: Array  # (rows,), not negative
    d: Array  # (p,), not negative

    def diagonal(self) -> Array:
        """The variances.  # → (p,)"""
        Z, a = self._used()
        return np.asarray(np.einsum("rj,rj->j", a[:, None] * Z, Z) + self.d)

    def _used(self) -> tuple[Array, Array]:
        """The rows that weigh anything: a view where they lie together, as those of a class do."""
        at = np.flatnonzero(self.a)
        if len(at) and at[-1] - at[0] + 1 == len(at):
            here = slice(at[0], at[-1] + 1)
            return self.Z[here], self.a[here]
        return self.Z[at], self.a[at]

    def scaled(self, factor: float) -> LowRank:
        """factor · M."""
        return replace(self, a=factor * self.a, d=factor * self.d)

    def plus(self, other: LowRank) -> LowRank:
        """M + another of the same rows."""
        return replace(self, a=self.a + other.a, d=self.d + other.d)

    def plus_diagonal(self, d: Array | float) -> LowRank:
        """M + diag(d)."""
        return replace(self, d=self.d + d)

    def part(self, there: Flags) -> LowRank:
        """Of some of the columns."""
        return LowRank(np.ascontiguousarray(self.Z[:, there]), self.a, self.d[there])

    def dense(self) -> Array:
        """All p × p numbers, which somebody has asked for."""
        out = (self.Z * self.a[:, None]).T @ self.Z
        out.flat[:: len(out) + 1] += self.d
        return np.asarray(out)

    def times(self, z: Array) -> Array:
        """z M of a row, or of several."""
        return np.asarray(((z @ self.Z.T) * self.a) @ self.Z + z * self.d)

    def axes(self) -> tuple[Array, Array]:
        """Variances along the principal axes in which the rows lie, falling, and the axes; d is one number.

        All other directions have that variance.  # → (q,), (p, q)
        """
        Z, a = self._used()
        values, U = _directions(np.sqrt(a)[:, None] * Z, 0.0)
        return values + self.d[0], U.T

    def at_most(self) -> int:
        """A rank that the matrix does not exceed."""
        return len(self.d) if self.d.any() else int(np.count_nonzero(self.a))

    def drawn(self, n: int, rng: np.random.Generator) -> Array:
        """Normal rows with this covariance.  # → (n, p)"""
        Z, a = self._used()
        out = (rng.standard_normal((n, len(a))) * np.sqrt(a)) @ Z
        if self.d.any():
            out += rng.standard_normal(out.shape) * np.sqrt(self.d)
        return np.asarray(out)

    def whitened(self, keep: Flags, tolerance: float = 0.0) -> Whitened:
        """W with WᵀW = M⁻¹ on the columns to keep; directions without variance are dropped."""
        Z, a = self._used()
        variance = self.diagonal()
        on = keep & (variance > 0)
        least = max(RANK_TOLERANCE, 2 * tolerance) * variance
        if (self.d[on] >= least[on]).any():  # what some columns have more of, all have at least that share of
            return self._with_diagonal(Z, a, on, np.maximum(self.d, least))
        scale = np.sqrt(np.where(on, variance, 1.0))
        B = np.sqrt(a)[:, None] * Z / scale
        if not on.all():
            B[:, ~on] = 0.0
        values, U = _directions(B, tolerance)
        W = U / np.sqrt(values)[:, None] / scale
        return Whitened(W, float(np.log(values).sum() + 2 * np.log(scale).sum()), len(values))

    def _with_diagonal(self, Z: Array, a: Array, on: Flags, d: Array) -> Whitened:
        d = np.where(on, d, 1.0)
        root = np.where(on, 1 / np.sqrt(d), 0.0)
        B = np.sqrt(a)[:, None] * Z * root
        values, A = np.linalg.eigh(B @ B.T)
        q = np.sqrt(1 + np.maximum(values, 0.0))
        half = np.sqrt(a)[:, None] * A / np.sqrt(q * (1 + q))
        log_det = np.log(d).sum() + 2 * np.log(q).sum()
        return Whitened(Whitening(Z, root, half), float(log_det), int(on.sum()))


@dataclass(frozen=True, eq=False)
class Whitened:
    """W, an array (rank, p) or an operator; log det M on the directions that vary; and how many they are."""

    W: Array | Whitening
    log_det: float
    rank: int

    def precision(self, z: Array) -> Array:
        """z M⁻¹ of rows, or of one."""
        return np.asarray((z @ self.W.T) @ self.W)

    def precision_diagonal(self) -> Array:
        """The diagonal of M⁻¹.  # → (p,)"""
        if isinstance(self.W, np.ndarray):
            return np.asarray((self.W * self.W).sum(axis=0))
        return self.W.squares()


@dataclass(frozen=True, eq=False)
class Whitening:
    """W = (I − R Zᵀ HHᵀ Z R) R with R = diag(root), as something to multiply rows by: ``z @ W.T`` and ``v @ W``.

    HHᵀ is not multiplied out: its directions without variance are large, and their rounding would drown the others.
    """

    Z: Array  # (rows, p)
    root: Array  # (p,), 0 for columns without variance
    H: Array  # (rows, rows)
    turned: bool = False

    __array_ufunc__ = None  # ``array @ W`` is asked of W
    ndim = 2

    @property
    def T(self) -> Whitening:
        """Wᵀ."""
        return replace(self, turned=not self.turned)

    @property
    def shape(self) -> tuple[int, int]:
        """(p, p)."""
        return len(self.root), len(self.root)

    def __rmatmul__(self, rows: NumberRows) -> Array:
        z = rows.toarray() if is_sparse(rows) else np.asarray(rows)
        y = z * self.root if self.turned else z
        y = y - ((((y * self.root) @ self.Z.T) @ self.H) @ self.H.T) @ self.Z * self.root
        return y if self.turned else y * self.root

    def __matmul__(self, column: Array) -> Array:
        return np.asarray(column) @ self.T

    def squares(self) -> Array:
        """The diagonal of WᵀW = R(I − QᵀQ)²R, Q = Hᵀ Z R.  # → (p,)"""
        Q = self.H.T @ (self.Z * self.root)
        return np.asarray(self.root**2 * (1 - (Q * (2 * Q - (Q @ Q.T) @ Q)).sum(axis=0)))

    def __abs__(self) -> Whitening:
        """Something no smaller in any direction: R itself."""
        return replace(self, Z=self.Z[:0], H=self.H[:0, :0])


def _directions(B: Array, tolerance: float) -> tuple[Array, Array]:
    """Eigenvalues of BᵀB that are more than rounding, falling, and their eigenvectors as rows.  # → (q,), (q, p)"""
    values, A = np.linalg.eigh(B @ B.T)
    values, A = values[::-1], A[:, ::-1]
    top = values.max(initial=0.0)
    least = max(RANK_TOLERANCE * top, tolerance)
    real = values > least
    if (values[real] < GRADED * top).any():  # squares have cost them digits that the rows have
        _, roots, U = np.linalg.svd(B, full_matrices=False)
        real = roots**2 > least
        return roots[real] ** 2, U[real]
    return values[real], (A[:, real] / np.sqrt(values[real])).T @ B
