"""Leave-one-out of jointly normal columns with missing values: what EM on all other rows would come to.

EM is θ ← F(θ), θ the means and covariances; without row i it is F_i.  At the solution θ* of all rows F_i differs from
F by what the row itself is expected to add, and with J = dF/dθ at θ*

    θ_i ≈ θ* + (I − J)⁻¹ (F_i(θ*) − θ*)

for all rows at once (``nearly``), off by the square of what a row weighs.  The same step again and again, from where
the last one came to, leads to θ_i = F_i(θ_i) itself (``exactly``), a pass over the patterns each time.

J in closed form: over the rows of pattern o, with Q = Σ_oo⁻¹ (0 elsewhere), A = ΣQ completes what rows are off their
mean and G = I − A; S their scatter about it, R their sum, n their number: dA = G dΣ Q and

    d Σ A S Aᵀ + n GΣ = G dΣ K + (G dΣ K)ᵀ + n G dΣ Gᵀ − A dμ (AR)ᵀ − AR (A dμ)ᵀ,   K = Q S Aᵀ,
    d Σ A R           = G dΣ Q R − n A dμ.

Where classes share a part t of their covariances (0 < tie < 1), θ is the means and covariances of all of them: what is
expected of the scatter T_c of a class depends on its own alone, and with the numbers of rows n_c,
Σ_c = ((1 − t) T_c + t Σ_d T_d)/((1 − t) n_c + t n).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

from ....data.arrays import Array, freeze
from ....kernels.runtime.threads import every, row_blocks
from ..missing.em import Completion, Vectors
from ..missing.patterns import NO_VARIANCE, Flags

ALIKE = 1e-11  # a step that moves nothing by more than this, in standard deviations, is the last
MOST_STEPS = 30
AT_ONCE = 1 << 16  # numbers that a thread completes at once
Regular = Callable[[Array, Array], Array]  # covariances (…, p, p) as the settings have them, with an amount for each


@dataclass(frozen=True)
class Solved:
    """What EM came to with classes that share a covariance: in standardised columns, from the origin."""

    classes: NDArray[np.int64]  # (C,)
    n: Array  # (C,) rows
    mean: Array  # (C, p)
    S: Array  # (p, p), regular
    scatter: Array  # (p, p) expected, about the means
    over: float  # what it is divided by


@dataclass(frozen=True)
class Gone:
    """Rows to remove, one at a time, of classes that share a covariance."""

    z: Array  # (n, p) from the origin of their class, 0 where missing
    there: Flags  # (n, p)
    at: NDArray[np.int64]  # which of the classes
    weights: Array
    amount: Array  # (n, …) of regularisation, without each
    lacking: Array | None = None  # (n, K) rows of the prior beside those of each class, without each
    target: Array | None = None  # (n, K, p, p) their covariance

    def some(self, rows: NDArray[np.int64]) -> Gone:
        """These rows of them."""
        lacking, target = (None if a is None else a[rows] for a in (self.lacking, self.target))
        part = (self.z[rows], self.there[rows], self.at[rows], self.weights[rows], self.amount[rows])
        return Gone(*part, lacking, target)


class Response:
    """Means and a covariance without each of some rows, by (I − J)⁻¹."""

    def __init__(self, em: Completion, groups: Sequence[Vectors], solved: Solved, regular: Regular, amount: Array):
        self.em, self.groups, self.solved, self.regular = em, groups, solved, regular
        self.unit = np.sqrt(np.diagonal(solved.S))
        self.lower = np.tril_indices(len(solved.S))
        J = self._slope(amount)
        unseen = np.flatnonzero(em.cells[solved.classes].reshape(-1) <= 0)
        J[unseen, unseen] = 0.0  # a mean of no values goes where regression on others leads, and nothing leads it back
        self.lu = lu_factor(np.eye(len(J)) - J)

    def _slope(self, amount: Array) -> Array:
        """J, over (μ_c …, lower half of Σ)."""
        one, (i, j) = self.solved, self.lower
        C, p = one.mean.shape
        J = np.zeros((C * p + len(i), C * p + len(i)))
        J[: C * p], to_cov, by_mean = slopes(self.em, self.groups, one, self.lower)
        J[C * p :, C * p :] = folded(self._taken(to_cov, amount), self.lower)[i, j]
        for k in range(C):
            J[C * p :, k * p : k * p + p] = self._taken(by_mean[k], amount)[i, j]
        return J

    def _taken(self, d: Array, amount: Array) -> Array:
        """Changes of the covariance from changes of half the scatter, the first two axes, as settings take them."""
        both = (d + np.swapaxes(d, 0, 1)) / self.solved.over
        flat = np.moveaxis(both.reshape(*both.shape[:2], -1), -1, 0)
        linear = self.regular(flat, amount) - self.regular(np.zeros_like(flat[:1]), amount)
        return np.moveaxis(linear, 0, -1).reshape(both.shape)

    def without(self, gone: Gone, exact: bool) -> tuple[Array, Array]:
        """Means and covariances without each row, by one step or by as many as it takes."""
        return self.exactly(gone) if exact else self.nearly(gone)

    def nearly(self, gone: Gone) -> tuple[Array, Array]:
        """Means and covariances without each row, after one step.  # → (n, C, p), (n, p, p)"""
        one = self.solved
        n, (C, p) = len(gone.z), one.mean.shape
        mean, S = np.tile(one.mean, (n, 1, 1)), np.tile(one.S, (n, 1, 1))
        dm, dS = self._without(gone, mean, S, np.zeros((n, C, p)), np.tile(one.scatter, (n, 1, 1)))
        return self._moved(mean, S, dm, dS)

    @np.errstate(all="ignore")  # what goes astray is NaN
    def exactly(self, gone: Gone) -> tuple[Array, Array]:
        """The same, steps on end; NaN where they do not end.  # → (n, C, p), (n, p, p)"""
        mean, S = self.nearly(gone)
        going = np.arange(len(mean))
        unit = self.unit
        for _ in range(MOST_STEPS):
            if not len(going):
                return mean, S
            before, cov = mean[going], S[going]
            try:
                dm, dS = self._without(gone.some(going), before, cov, *self._expected(before, cov))
            except np.linalg.LinAlgError:
                break
            mean[going], S[going] = self._moved(before, cov, dm, dS)
            by = np.abs(S[going] - cov) / unit[:, None] / unit, np.abs(mean[going] - before) / unit
            step = np.maximum(*(b.reshape(len(b), -1).max(axis=1) for b in by))
            astray = going[~(step < 1)]
            mean[astray], S[astray] = np.nan, np.nan
            going = going[(step >= ALIKE) & (step < 1)]
        mean[going], S[going] = np.nan, np.nan
        return mean, S

    def _expected(self, mean: Array, S: Array) -> tuple[Array, Array]:
        """E Σ(x − μ) of each class and E Σ(x − μ)(x − μ)ᵀ, of all rows, at each of these.  # → (n, C, p), (n, p, p)"""
        P, one = freeze(np.linalg.inv(S)), self.solved
        whole = np.zeros((len(S), len(self.em.rows), S.shape[1]))
        whole[:, one.classes] = mean
        S, whole = freeze(S), freeze(whole)
        T, e = np.zeros_like(S), np.zeros_like(whole)
        for v in self.groups:
            known = (self.em.observed, v.patterns, v.n, v.first, v.Z, v.root, v.of_class, whole, S, P, NO_VARIANCE)
            every(partial(_expect_part, known, e, T), row_blocks(len(S), v.Z.size, AT_ONCE))
        return e[:, one.classes], T

    def _without(self, gone: Gone, mean: Array, S: Array, e: Array, T: Array) -> tuple[Array, Array]:
        """How far F_i moves means and covariances, from expected sums of all rows at these."""
        one, each = self.solved, np.arange(len(gone.z))
        w = gone.weights
        A = S @ masked_inverse(S, gone.there)
        x = np.einsum("nij,nj->ni", A, gone.there * (gone.z - mean[each, gone.at]))
        e, n = e.copy(), np.tile(one.n, (len(w), 1))
        e[each, gone.at] -= w[:, None] * x
        n[each, gone.at] -= w
        dm = e / n[:, :, None]
        T = T - w[:, None, None] * (x[:, :, None] * x[:, None, :] + S - A @ S)
        T = T - np.einsum("nci,ncj->nij", dm, e)
        return dm, self.regular(T / (one.over - w)[:, None, None], gone.amount) - S

    def _moved(self, mean: Array, S: Array, dm: Array, dS: Array) -> tuple[Array, Array]:
        """θ + (I − J)⁻¹ dθ."""
        if not len(mean):
            return mean, S
        n, size = len(mean), mean[0].size
        i, j = self.lower
        by = lu_solve(self.lu, np.concatenate([dm.reshape(n, -1), dS[:, i, j]], axis=1).T, check_finite=False).T
        half = np.zeros_like(S)
        half[:, i, j] = by[:, size:]
        diagonal = np.einsum("nii->ni", half).copy()
        both = half + np.swapaxes(half, 1, 2)
        np.einsum("nii->ni", both)[...] = diagonal
        return mean + by[:, :size].reshape(mean.shape), S + both


class BetweenResponse(Response):
    """Means and covariances of all classes, which share a part of them, without each of some rows."""

    def __init__(self, em: Completion, each: Sequence[Solved], tie: float, regular: Regular, amount: Array) -> None:
        """``each`` class by itself."""
        self.em, self.each, self.tie, self.regular = em, each, tie, regular
        self.unit = np.sqrt(np.diagonal(sum(one.S for one in each)) / len(each))
        p = len(self.unit)
        self.lower = i, j = np.tril_indices(p)
        K, h = len(each), len(i)
        own, J = np.zeros((K, h, p + h)), np.zeros((K * (p + h), K * (p + h)))  # T_c by (μ_c, Σ_c); all by all
        at = [np.r_[c * p : c * p + p, K * p + c * h : K * p + c * h + h] for c in range(K)]
        for c, one in enumerate(each):
            J[c * p : c * p + p, at[c]], to_cov, by_mean = slopes(em, [em.groups[c]], one, self.lower)
            own[c, :, :p] = (by_mean[0] + np.swapaxes(by_mean[0], 0, 1))[i, j]
            own[c, :, p:] = folded(to_cov + np.swapaxes(to_cov, 0, 1), self.lower)[i, j]
        units = np.zeros((h, p, p))
        units[np.arange(h), i, j] = units[np.arange(h), j, i] = 1.0
        settings = (self.regular(units, amount) - self.regular(np.zeros((1, p, p)), amount))[:, i, j].T
        n = np.concatenate([one.n for one in each])
        if em.prior is not None:
            own *= (n / (n + em.prior.rows))[:, None, None]
        share = self._shares(np.zeros((1, K)))[0]
        for c in range(K):
            for d in range(K):
                J[K * p + c * h : K * p + c * h + h, at[d]] = share[c, d] * settings @ own[d]
        unseen = np.flatnonzero(em.cells.reshape(-1) <= 0)
        J[unseen, unseen] = 0.0
        self.lu = lu_factor(np.eye(len(J)) - J)

    def _shares(self, gone: Array) -> Array:
        """How much of T_d is in Σ_c, without weights of each class.  # (n, K) → (n, K, K)"""
        over = np.array([one.over for one in self.each]) - gone
        whole = (1 - self.tie) * over + self.tie * over.sum(axis=1, keepdims=True)
        return ((1 - self.tie) * np.eye(len(self.each)) + self.tie) / whole[:, :, None]

    def nearly(self, gone: Gone) -> tuple[Array, Array]:
        """Means and covariances without each row, after one step.  # → (n, K, p), (n, K, p, p)"""
        mean, S, T = (
            np.tile(a, (len(gone.z), *([1] * a.ndim)))
            for a in (
                np.concatenate([one.mean for one in self.each]),
                np.stack([one.S for one in self.each]),
                np.stack([one.scatter for one in self.each]),
            )
        )
        return self._moved(mean, S, *self._without(gone, mean, S, np.zeros_like(mean), T))

    def _expected(self, mean: Array, S: Array) -> tuple[Array, Array]:
        """E Σ(x − μ) and E Σ(x − μ)(x − μ)ᵀ of each class, at each of these.  # → (n, K, p), (n, K, p, p)"""
        e, T, mean = np.zeros_like(mean), np.zeros_like(S), freeze(mean)
        for c, v in enumerate(self.em.groups):
            own, scatter = freeze(np.ascontiguousarray(S[:, c])), np.zeros(S[:, c].shape)
            P = freeze(np.linalg.inv(own))
            known = (self.em.observed, v.patterns, v.n, v.first, v.Z, v.root, v.of_class, mean, own, P, NO_VARIANCE)
            every(partial(_expect_part, known, e, scatter), row_blocks(len(S), v.Z.size, AT_ONCE))
            T[:, c] = scatter
        return e, T

    def _without(self, gone: Gone, mean: Array, S: Array, e: Array, T: Array) -> tuple[Array, Array]:
        """How far F_i moves means and covariances, from expected sums of all rows at these."""
        each, w, own = np.arange(len(gone.z)), gone.weights, S[np.arange(len(gone.z)), gone.at]
        A = own @ masked_inverse(own, gone.there)
        x = np.einsum("nij,nj->ni", A, gone.there * (gone.z - mean[each, gone.at]))
        less = np.zeros(mean.shape[:2])
        less[each, gone.at] = w
        e, T = e.copy(), T.copy()
        e[each, gone.at] -= w[:, None] * x
        T[each, gone.at] -= w[:, None, None] * (x[:, :, None] * x[:, None, :] + own - A @ own)
        n = np.concatenate([one.n for one in self.each]) - less
        dm = e / n[:, :, None]
        T -= dm[:, :, :, None] * e[:, :, None, :]
        if gone.lacking is not None and gone.target is not None:
            nu = gone.lacking[:, :, None, None]
            T = (T + nu * gone.target) * (n / (n + gone.lacking))[:, :, None, None]
        mixed = np.einsum("ncd,ndij->ncij", self._shares(less), T)
        amount = np.repeat(gone.amount, S.shape[1], axis=0)
        return dm, self.regular(mixed.reshape(-1, *S.shape[2:]), amount).reshape(S.shape) - S

    def _moved(self, mean: Array, S: Array, dm: Array, dS: Array) -> tuple[Array, Array]:
        """θ + (I − J)⁻¹ dθ."""
        if not len(mean):
            return mean, S
        n, K, p = mean.shape
        i, j = self.lower
        by = np.concatenate([dm.reshape(n, -1), dS[:, :, i, j].reshape(n, -1)], axis=1)
        by = lu_solve(self.lu, by.T, check_finite=False).T
        both = np.zeros_like(S)
        both[:, :, i, j] = both[:, :, j, i] = by[:, K * p :].reshape(n, K, -1)
        return mean + by[:, : K * p].reshape(mean.shape), S + both


def slopes(
    em: Completion, groups: Sequence[Vectors], one: Solved, lower: tuple[NDArray[np.intp], ...]
) -> tuple[Array, Array, Array]:
    """What a step makes of small changes: means by everything, half the scatter by the covariance, and by means.

    # → (C·p, C·p + h), (p, p, p, p), (C, p, p, p)
    """
    C, p = one.mean.shape
    of_class = np.full(int(one.classes.max()) + 1, -1)
    of_class[one.classes] = np.arange(C)
    means = np.zeros((C * p, C * p + len(lower[0])))
    to_cov, by_mean = np.zeros((p * p, p * p)), np.zeros((C, p, p, p))
    for v in groups:
        o = em.observed[v.patterns]
        Q = masked_inverse(one.S, o)
        A = one.S @ Q
        G = np.eye(p) - A
        unit = np.repeat(np.arange(len(o)), np.diff(v.first))
        c = of_class[v.of_class]
        r = (v.Z - v.root[:, None] * one.mean[c]) * o[unit]
        S = np.add.reduceat(r[:, :, None] * r[:, None, :], v.first[:-1])
        K = Q @ S @ np.swapaxes(A, 1, 2)
        H = K + 0.5 * v.n[:, None, None] * np.swapaxes(G, 1, 2)
        to_cov += G.reshape(len(G), -1).T @ H.reshape(len(H), -1)  # (i a), (b j)
        for k in range(C):
            mine = (c == k) & (v.root > 0)
            at, R = unit[mine], v.root[mine, None] * r[mine]
            n = v.root[mine] ** 2
            here, half = slice(k * p, k * p + p), slice(C * p, None)
            means[here, here] -= np.einsum("q,qik->ik", n, A[at]) / one.n[k]
            by_cov = np.einsum("qia,qb->iab", G[at], np.einsum("qij,qj->qi", Q[at], R), optimize=True) / one.n[k]
            means[here, half] += folded(by_cov, lower)
            by_mean[k] -= np.einsum("qik,qj->ijk", A[at], np.einsum("qij,qj->qi", A[at], R), optimize=True)
    means[:, : C * p] += np.eye(C * p)
    return means, to_cov.reshape(p, p, p, p).transpose(0, 3, 1, 2), by_mean


def _expect_part(known: tuple[Any, ...], e: Array, T: Array, lo: int, hi: int) -> None:
    from ....kernels.missing import expect_each

    expect_each(*known, lo, hi, e, T)


def masked_inverse(S: Array, there: Flags) -> Array:
    """S_oo⁻¹ on the columns that are there, 0 elsewhere.  # (p, p) or (n, p, p), (n, p) → (n, p, p)"""
    o = there.astype(np.float64)
    both = o[:, :, None] * o[:, None, :]
    return np.linalg.inv(S * both + np.eye(S.shape[-1]) * (1 - o)[:, None, :]) * both


def folded(a: Array, lower: tuple[NDArray[np.intp], ...]) -> Array:
    """What a symmetric matrix, by its lower half, does through its two last axes."""
    i, j = lower
    return a[..., i, j] + np.where(i == j, 0.0, a[..., j, i])
