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
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

from ....core.stats import Stats
from ....data.arrays import Array, Codes, freeze
from ....kernels.runtime.threads import every, row_blocks
from ..missing.em import FEW_ROWS, WELL, Completion, Vectors
from ..missing.few_pairs import lacking_without, pair_share, spread_without, targets
from ..missing.patterns import NO_VARIANCE, Flags, pairs_seen
from ..student_t import log_density

if TYPE_CHECKING:
    from ..joint import MultivariateGaussian

MOST_COLUMNS = 40  # whose (I − J) takes p⁴/4 numbers
BLOCK = 1 << 21  # numbers in the covariances of rows that are taken at once
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

    def some(self, rows: NDArray[np.int64]) -> Gone:
        """These rows of them."""
        return Gone(self.z[rows], self.there[rows], self.at[rows], self.weights[rows], self.amount[rows])


class Response:
    """Means and a covariance without each of some rows, by (I − J)⁻¹."""

    def __init__(self, em: Completion, groups: Sequence[Vectors], solved: Solved, regular: Regular, amount: Array):
        self.em, self.groups, self.solved, self.regular = em, groups, solved, regular
        p = len(solved.S)
        self.lower = np.tril_indices(p)
        J = self._slope(amount)
        unseen = np.flatnonzero(em.cells[solved.classes].reshape(-1) <= 0)
        J[unseen, unseen] = 0.0  # a mean of no values goes where regression on others leads, and nothing leads it back
        self.lu = lu_factor(np.eye(len(J)) - J)

    def _slope(self, amount: Array) -> Array:
        """J, over (μ_c …, lower half of Σ)."""
        one, (i, j) = self.solved, self.lower
        C, p = one.mean.shape
        of_class = np.full(int(one.classes.max()) + 1, -1)
        of_class[one.classes] = np.arange(C)
        J = np.zeros((C * p + len(i), C * p + len(i)))
        to_cov, by_mean = np.zeros((p * p, p * p)), np.zeros((C, p, p, p))
        for v in self.groups:
            o = self.em.observed[v.patterns]
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
                J[here, here] -= np.einsum("q,qik->ik", n, A[at]) / one.n[k]
                by_cov = np.einsum("qia,qb->iab", G[at], np.einsum("qij,qj->qi", Q[at], R), optimize=True) / one.n[k]
                J[here, half] += folded(by_cov, self.lower)
                by_mean[k] -= np.einsum("qik,qj->ijk", A[at], np.einsum("qij,qj->qi", A[at], R), optimize=True)
        J[: C * p, : C * p] += np.eye(C * p)
        L = to_cov.reshape(p, p, p, p).transpose(0, 3, 1, 2)  # (i j), (a b)
        J[C * p :, C * p :] = folded(self._taken(L, amount), self.lower)[i, j]
        for k in range(C):
            J[C * p :, k * p : k * p + p] = self._taken(by_mean[k], amount)[i, j]
        return J

    def _taken(self, d: Array, amount: Array) -> Array:
        """Changes of the covariance from changes of half the scatter, the first two axes, as settings take them."""
        both = (d + np.swapaxes(d, 0, 1)) / self.solved.over
        flat = np.moveaxis(both.reshape(*both.shape[:2], -1), -1, 0)
        linear = self.regular(flat, amount) - self.regular(np.zeros_like(flat[:1]), amount)
        return np.moveaxis(linear, 0, -1).reshape(both.shape)

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
        unit = np.sqrt(np.diagonal(self.solved.S))
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
            step = np.maximum(*(b.max(axis=(1, 2)) for b in by))
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


def _expect_part(known: tuple[object, ...], e: Array, T: Array, lo: int, hi: int) -> None:
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


@np.errstate(all="ignore")
def marginal_log_density(z: Array, there: Flags, S: Array, least: float, freedom: float) -> Array:
    """log p of what is there, off the means by z; NaN where S is singular, or nearly.

    # (n, C, p), (n, p, p) → (n, C)
    """
    o = there.astype(np.float64)
    whole = S * (o[:, :, None] * o[:, None, :]) + np.eye(S.shape[-1]) * (1 - o)[:, None, :]
    scale = np.sqrt(np.einsum("nii->ni", whole))
    R = whole / scale[:, :, None] / scale[:, None, :]
    good = np.isfinite(R).all(axis=(1, 2))
    R = np.where(good[:, None, None], R, np.eye(S.shape[-1]))
    try:
        L = np.linalg.cholesky(R)
    except np.linalg.LinAlgError:
        good &= np.linalg.eigvalsh(R)[:, 0] > least
        L = np.linalg.cholesky(np.where(good[:, None, None], R, np.eye(S.shape[-1])))
    good &= (np.einsum("nii->ni", L) ** 2 > least).all(axis=1)
    u = np.linalg.solve(L, np.swapaxes(z * o[:, None] / scale[:, None], 1, 2))
    log_det = 2 * (np.log(np.einsum("nii->ni", L)) + np.log(scale)).sum(axis=1)
    out = log_density((u * u).sum(axis=1), log_det[:, None], o.sum(axis=1)[:, None], freedom)
    return np.where(good[:, None], out, np.nan)


Answer = Callable[[Response, "Gone"], tuple[Array, Array]]  # means and covariances without each row


class EmLoo:
    """Rows with missing values under EM's answer without each: with one covariance for all, or one for each class."""

    shared: EmLoo | None = None  # under one covariance for all, whose correlations stand beside few pairs

    def __init__(
        self,
        family: MultivariateGaussian,
        settings: MultivariateGaussian,
        em: Completion,
        whole: Stats,
        parameters: tuple[Array, Array],
    ) -> None:
        """``settings`` are those that EM went by, ``whole`` the sums that it came to, and these the parameters."""
        self.family, self.settings, self.em, self.whole = family, settings, em, whole
        means, self.S = parameters
        self.means = (means - np.asarray(whole.origin)) / em.scale
        self.unit = em.scale[:, None] * em.scale

    def exactly(self, x: Array, codes: Codes, weights: Array) -> Array:
        """log p(x_i | c) as a refit without row i has it; NaN where it has to be asked.  # → (n, K)"""
        return self._scored(x, codes, weights, Response.exactly)

    def nearly(self, x: Array, codes: Codes, weights: Array) -> Array:
        """The same to the first order.  # → (n, K)"""
        return self._scored(x, codes, weights, Response.nearly)

    def _scored(self, x: Array, codes: Codes, weights: Array, how: Answer) -> Array:
        known = self._known(x, codes, weights, how is Response.exactly)
        K, prior = len(self.whole["n"]), self.em.prior
        shared = len(self.S) == 1
        out = np.full((len(x), K), np.nan) if shared else self._others(x)
        cov = None if prior is None or self.shared is None else self.shared.covariances(x, codes, weights, how)
        if cov is not None:
            known &= np.isfinite(cov).all(axis=(1, 2))
        for c in range(len(self.S)):
            beside = prior is not None and prior.rows[c] > 0  # rows of other classes change what stands beside it, too
            rows = np.flatnonzero(known & (shared | beside | (codes == c)))
            if not len(rows):
                continue
            gone, response = self._gone(c, x[rows], codes[rows], weights[rows], None if cov is None else cov[rows])
            known[rows[np.isnan(gone.amount).any(axis=1)]] = False
            here = np.arange(K) if shared else np.array([c])
            for start, stop in row_blocks(len(rows), self.S[0].size, BLOCK):
                part = np.flatnonzero(known[rows[start:stop]]) + start
                mean, S = how(response, gone.some(part))
                out[np.ix_(rows[part], here)] = self._density(x[rows[part]], here, mean, S)
        out[~known] = np.nan
        return out

    def covariances(self, x: Array, codes: Codes, weights: Array, how: Answer) -> Array:
        """The shared covariance, in units of the columns' spread, without each row; NaN where it is not known."""
        gone, response = self._gone(0, x, codes, weights, None)
        out = np.full((len(x), *self.S[0].shape), np.nan)
        known = self._known(x, codes, weights, False) & ~np.isnan(gone.amount).any(axis=1)
        for start, stop in row_blocks(len(x), self.S[0].size, BLOCK):
            part = np.flatnonzero(known[start:stop]) + start
            out[part] = how(response, gone.some(part))[1]
        return out

    def _known(self, x: Array, codes: Codes, weights: Array, exact: bool) -> Flags:
        """Rows without which every class is there, and has values in the columns in which it had some.

        Where a class has none, its mean depends on the way that EM takes, and so does the score of a row that has one.
        """
        there, n, cells = x == x, self.whole["n"], self.em.cells
        left = cells[codes] - weights[:, None] * there
        known = (n[codes] > weights) & (n > 0).all() & ((left > 0) | (cells[codes] <= 0)).all(axis=1)
        return np.asarray(known & ~(exact & there & (cells <= 0).any(axis=0)).any(axis=1))

    def _others(self, x: Array) -> Array:
        """Classes that a row is not of are as they are."""
        scorer = self.family.scorer_of(self.em.beside(self.whole), [""] * x.shape[1])
        return np.asarray(scorer.scores(x) + scorer.log_base(x)[:, None])

    def _density(self, x: Array, classes: NDArray[np.int64], mean: Array, S: Array) -> Array:
        there = x == x
        z = (x[:, None] - np.asarray(self.whole.origin)[classes]) / self.em.scale
        z = np.where(there[:, None], z - mean, 0.0)
        least = max(WELL, 2 * self.family.tolerance)
        density = marginal_log_density(z, there, S, least, self.family.freedom)
        return np.asarray(density - (there @ np.log(self.em.scale))[:, None])

    def _gone(self, c: int, x: Array, codes: Codes, weights: Array, cov: Array | None) -> tuple[Gone, Response]:
        """Rows as the class c, or all classes, lose them, and what that does; rows of other classes weigh nothing."""
        n, there = self.whole["n"], x == x
        shared = len(self.S) == 1
        classes = np.arange(len(n)) if shared else np.array([c])
        mine = weights if shared else weights * (codes == c)
        z = (x - np.asarray(self.whole.origin)[codes if shared else np.full(len(codes), c)]) / self.em.scale
        at = codes.astype(np.int64) if shared else np.zeros(len(codes), np.int64)
        d = np.maximum(n - 1, 0.0) if self.settings.unbiased else n
        over = float(d[classes].sum())
        _, own, S = self.settings.scatters(self.whole)
        scatter = (S if shared else own[c]) / self.unit
        one = Solved(classes, n[classes], self.means[classes], self.S[0 if shared else c] / self.unit, scatter, over)
        T = None if cov is None else targets(spread_without(self.em.stats, x, codes, weights), cov)[:, c]
        regular, now, amount = self._regular(c, over, there, mine, T)
        groups = self.em.groups if shared else [self.em.groups[c]]
        gone = Gone(np.where(there, z, 0.0), there, at, mine, amount)
        return gone, Response(self.em, groups, one, regular, now)

    def _regular(self, c: int, over: float, there: Flags, w: Array, T: Array | None) -> tuple[Regular, Array, Array]:
        """How covariances are regularised, by what now, and by what without each row (NaN: not known).  # (n, …)"""
        family, settings, stats, n = self.family, self.settings, self.em.stats, self.whole["n"]
        none, p = np.zeros((len(w), 1)), there.shape[1]
        pairs = w * pair_share(there)
        if family.ridge or family.shrinkage:
            return lambda cov, _: settings.regular(cov * self.unit) / self.unit, none[:1], none
        if len(self.S) == 1:
            columns, seen = pairs_seen(stats)
            few = n.sum() - w < FEW_ROWS * p  # EM's steps may have kept to a least spread
            amount = np.where(few, np.nan, family.amount(columns, seen - pairs))
            return _to_diagonal, np.full((1, 1), float(settings.shrinkage)), amount[:, None]
        lacking = lacking_without(stats, c, pairs, w * there.all(axis=1))
        prior = self.em.prior
        if prior is None or not prior.rows[c] or T is None:
            return lambda cov, _: cov, none[:1], np.where((lacking > 0)[:, None], np.nan, 0.0)
        target = prior.target[c] / self.unit * (n[c] / over)
        now = np.concatenate([[prior.rows[c] / (n[c] + prior.rows[c])], target.reshape(-1)])
        share, more = lacking / (n[c] - w + lacking), (n[c] - w) / (over - w)
        each = (T / self.unit).reshape(len(w), p * p) * more[:, None]
        return _to_target, now[None], np.concatenate([share[:, None], each], axis=1)


def _to_target(cov: Array, amount: Array) -> Array:
    """(1 − s) Σ + s T, with an s and a T for each."""
    s, T = amount[:, 0, None, None], amount[:, 1:].reshape(-1, *cov.shape[-2:])
    return np.asarray(cov + s * (T - cov))


def _to_diagonal(cov: Array, s: Array) -> Array:
    """(1 − s) Σ + s diag Σ, with an s for each."""
    return np.asarray(cov * (1 - np.reshape(s, (-1, 1, 1)) * (1 - np.eye(cov.shape[-1]))))
