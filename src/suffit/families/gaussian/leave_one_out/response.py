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

θ is that of classes which depend on each other.  All classes together with one covariance, each class by itself, or all
of them with covariances of which they share a part t: what is expected of the scatter T_g depends on the classes g and
their Σ_g alone, and with the numbers of rows n_g, Σ_g = ((1 − t) T_g + t Σ_h T_h)/((1 − t) n_g + t n).
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
    vectors: Sequence[Vectors]  # what their rows are
    n: Array  # (C,) rows
    mean: Array  # (C, p)
    S: Array  # (p, p), regular
    scatter: Array  # (p, p) expected, about the means
    over: float  # what it is divided by
    lacking: float = 0.0  # rows of the prior beside theirs


@dataclass(frozen=True)
class Gone:
    """Rows to remove, one at a time."""

    z: Array  # (n, p) from the origin of their class, 0 where missing
    there: Flags  # (n, p)
    at: NDArray[np.int64]  # which of the classes
    weights: Array
    amount: Array  # (n, 1) of regularisation, without each
    lacking: Array | None = None  # (n, G) rows of the prior beside those of each class, without each
    target: Array | None = None  # (n, G, p, p) their covariance

    def some(self, rows: NDArray[np.int64]) -> Gone:
        """These rows of them."""
        lacking, target = (None if a is None else a[rows] for a in (self.lacking, self.target))
        part = (self.z[rows], self.there[rows], self.at[rows], self.weights[rows], self.amount[rows])
        return Gone(*part, lacking, target)


class Response:
    """Means and covariances without each of some rows, by (I − J)⁻¹.

    Of G covariances for C classes, of which each belongs to one; they share a part ``tie``.
    """

    def __init__(self, em: Completion, each: Sequence[Solved], tie: float, regular: Regular, amount: float) -> None:
        self.em, self.each, self.tie, self.regular = em, each, tie, regular
        self.classes, self.n, self.mean = (
            np.concatenate(a) for a in zip(*((one.classes, one.n, one.mean) for one in each), strict=True)
        )
        self.S, self.scatter = np.stack([one.S for one in each]), np.stack([one.scatter for one in each])
        self.of = np.repeat(np.arange(len(each)), [len(one.n) for one in each])  # the covariance of each class
        self.unit = np.sqrt(np.einsum("gii->i", self.S) / len(each))
        self.lower = np.tril_indices(len(self.unit))
        J = self._slope(np.array([[amount]]))
        unseen = np.flatnonzero(em.cells[self.classes].reshape(-1) <= 0)
        J[unseen, unseen] = 0.0  # a mean of no values goes where regression on others leads, and nothing leads it back
        self.lu = lu_factor(np.eye(len(J)) - J)

    def _slope(self, amount: Array) -> Array:
        """J, over (μ_c …, lower half of Σ_g …)."""
        i, j = self.lower
        (C, p), G, h = self.mean.shape, len(self.each), len(i)
        J = np.zeros((C * p + G * h, C * p + G * h))
        units = np.zeros((h, p, p))
        units[np.arange(h), i, j] = units[np.arange(h), j, i] = 1.0
        settings = (self.regular(units, amount) - self.regular(np.zeros((1, p, p)), amount))[:, i, j].T
        share = self._shares(np.zeros((1, G)))[0]
        for g, one in enumerate(self.each):
            means = np.flatnonzero(np.repeat(self.of == g, p))
            at = np.concatenate([means, C * p + g * h + np.arange(h)])
            J[np.ix_(means, at)], by_cov, by_mean = slopes(self.em, one, self.lower)
            by_mean = np.moveaxis(by_mean, 0, 2).reshape(p, p, -1)
            own = np.concatenate([by_mean, folded(by_cov, self.lower)], axis=2)  # half of T_g by (μ …, Σ_g)
            own = settings @ (own + np.swapaxes(own, 0, 1))[i, j] * (one.n.sum() / (one.n.sum() + one.lacking))
            for k in range(G):
                J[C * p + k * h : C * p + (k + 1) * h, at] = share[k, g] * own
        return J

    def _shares(self, less: Array) -> Array:
        """How much of T_h is in Σ_g, without weights of each.  # (n, G) → (n, G, G)"""
        over = np.array([one.over for one in self.each]) - less
        whole = (1 - self.tie) * over + self.tie * over.sum(axis=1, keepdims=True)
        return ((1 - self.tie) * np.eye(len(self.each)) + self.tie) / whole[:, :, None]

    def nearly(self, gone: Gone) -> tuple[Array, Array]:
        """Means and covariances without each row, after one step.  # → (n, C, p), (n, G, p, p)"""
        mean, S, T = (np.tile(a, (len(gone.z), *([1] * a.ndim))) for a in (self.mean, self.S, self.scatter))
        return self._moved(mean, S, *self._without(gone, mean, S, np.zeros_like(mean), T))

    @np.errstate(all="ignore")  # what goes astray is NaN
    def exactly(self, gone: Gone) -> tuple[Array, Array]:
        """The same, steps on end; NaN where they do not end.  # → (n, C, p), (n, G, p, p)"""
        mean, S = self.nearly(gone)
        going, unit = np.arange(len(mean)), self.unit
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
        """E Σ(x − μ) of classes and E Σ(x − μ)(x − μ)ᵀ, of all rows, at each of these.  # → (n, C, p), (n, G, p, p)"""
        whole = np.zeros((len(S), len(self.em.rows), S.shape[-1]))
        whole[:, self.classes] = mean
        whole, e, T = freeze(whole), np.zeros_like(whole), np.zeros_like(S)
        for g, one in enumerate(self.each):
            own, scatter = freeze(np.ascontiguousarray(S[:, g])), np.zeros(S[:, g].shape)
            P = freeze(np.linalg.inv(own))
            for v in one.vectors:
                known = (
                    self.em.observed,
                    v.patterns,
                    v.n,
                    v.first,
                    v.Z,
                    v.root,
                    v.of_class,
                    whole,
                    own,
                    P,
                    NO_VARIANCE,
                )
                every(partial(_expect_part, known, e, scatter), row_blocks(len(S), v.Z.size, AT_ONCE))
            T[:, g] = scatter
        return e[:, self.classes], T

    def _without(self, gone: Gone, mean: Array, S: Array, e: Array, T: Array) -> tuple[Array, Array]:
        """How far F_i moves means and covariances, from expected sums of all rows at these."""
        each, w, at = np.arange(len(gone.z)), gone.weights, self.of[gone.at]
        own = S[each, at]
        A = own @ masked_inverse(own, gone.there)
        x = np.einsum("nij,nj->ni", A, gone.there * (gone.z - mean[each, gone.at]))
        less, fewer = np.zeros(mean.shape[:2]), np.zeros(S.shape[:2])
        less[each, gone.at] = fewer[each, at] = w
        e, T = e.copy(), T.copy()
        e[each, gone.at] -= w[:, None] * x
        T[each, at] -= w[:, None, None] * (x[:, :, None] * x[:, None, :] + own - A @ own)
        n = self.n - less
        dm = e / n[:, :, None]
        for g in range(len(self.each)):
            T[:, g] -= np.einsum("nci,ncj->nij", dm[:, self.of == g], e[:, self.of == g])
        if gone.lacking is not None and gone.target is not None:
            T = (T + gone.lacking[..., None, None] * gone.target) * (n / (n + gone.lacking))[..., None, None]
        mixed = np.einsum("ngh,nhij->ngij", self._shares(fewer), T)
        amount = np.repeat(gone.amount, S.shape[1], axis=0)
        return dm, self.regular(mixed.reshape(-1, *S.shape[2:]), amount).reshape(S.shape) - S

    def _moved(self, mean: Array, S: Array, dm: Array, dS: Array) -> tuple[Array, Array]:
        """θ + (I − J)⁻¹ dθ."""
        if not len(mean):
            return mean, S
        n, size = len(mean), mean[0].size
        i, j = self.lower
        by = np.concatenate([dm.reshape(n, -1), dS[:, :, i, j].reshape(n, -1)], axis=1)
        by = lu_solve(self.lu, by.T, check_finite=False).T
        both = np.zeros_like(S)
        both[:, :, i, j] = both[:, :, j, i] = by[:, size:].reshape(n, S.shape[1], -1)
        return mean + by[:, :size].reshape(mean.shape), S + both


def slopes(em: Completion, one: Solved, lower: tuple[NDArray[np.intp], ...]) -> tuple[Array, Array, Array]:
    """What a step makes of small changes: means by everything, half the scatter by the covariance, and by means.

    # → (C·p, C·p + h), (p, p, p, p), (C, p, p, p)
    """
    C, p = one.mean.shape
    of_class = np.full(int(one.classes.max()) + 1, -1)
    of_class[one.classes] = np.arange(C)
    means = np.zeros((C * p, C * p + len(lower[0])))
    to_cov, by_mean = np.zeros((p * p, p * p)), np.zeros((C, p, p, p))
    for v in one.vectors:
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

    expect_each(*(*known, lo, hi, e, T))


def masked_inverse(S: Array, there: Flags) -> Array:
    """S_oo⁻¹ on the columns that are there, 0 elsewhere.  # (p, p) or (n, p, p), (n, p) → (n, p, p)"""
    o = there.astype(np.float64)
    both = o[:, :, None] * o[:, None, :]
    return np.linalg.inv(S * both + np.eye(S.shape[-1]) * (1 - o)[:, None, :]) * both


def folded(a: Array, lower: tuple[NDArray[np.intp], ...]) -> Array:
    """What a symmetric matrix, by its lower half, does through its two last axes."""
    i, j = lower
    return a[..., i, j] + np.where(i == j, 0.0, a[..., j, i])
