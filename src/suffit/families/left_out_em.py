"""Jointly normal columns with missing values and one row left out: what EM on all other rows would come to.

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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

from ..kernels.threads import every, row_blocks
from ..stats import Array, Stats
from ..table import Codes, freeze
from .completion import FEW_ROWS, WELL, Completion, Vectors
from .few_pairs import lacking_without, pair_share
from .heavy_scores import log_density
from .holes import NO_VARIANCE, Flags, pairs_seen

MOST_COLUMNS = 40  # whose (I − J) takes p⁴/4 numbers
BLOCK = 1 << 21  # numbers in the covariances of rows that are taken at once
ALIKE = 1e-11  # a step that moves nothing by more than this, in standard deviations, is the last
MOST_STEPS = 30
AT_ONCE = 1 << 16  # numbers that a thread completes at once
Regular = Callable[[Array, Any], Array]  # covariances (…, p, p) as the settings have them, with an amount for each


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
    """Rows that are left out, one at a time, of classes that share a covariance."""

    z: Array  # (n, p) from the origin of their class, 0 where missing
    there: Flags  # (n, p)
    at: NDArray[np.int64]  # which of the classes
    weights: Array
    amount: Array  # of regularisation, without each

    def some(self, rows: NDArray[np.int64]) -> Gone:
        """These rows of them."""
        return Gone(self.z[rows], self.there[rows], self.at[rows], self.weights[rows], self.amount[rows])


class Response:
    """Means and a covariance without each of some rows, by (I − J)⁻¹."""

    def __init__(self, em: Completion, groups: Sequence[Vectors], solved: Solved, regular: Regular, amount: float):
        self.em, self.groups, self.solved, self.regular = em, groups, solved, regular
        p = len(solved.S)
        self.lower = np.tril_indices(p)
        J = self._slope(amount)
        unseen = np.flatnonzero(em.cells[solved.classes].reshape(-1) <= 0)
        J[unseen, unseen] = 0.0  # a mean of no values goes where regression on others leads, and nothing leads it back
        self.lu = lu_factor(np.eye(len(J)) - J)

    def _slope(self, amount: float) -> Array:
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

    def _taken(self, d: Array, amount: float) -> Array:
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
        for _ in range(MOST_STEPS):
            if not len(going):
                return mean, S
            before, cov = mean[going], S[going]
            try:
                dm, dS = self._without(gone.some(going), before, cov, *self._expected(before, cov))
            except np.linalg.LinAlgError:
                break
            mean[going], S[going] = self._moved(before, cov, dm, dS)
            moved = np.abs(S[going] - cov).max(axis=(1, 2)), np.abs(mean[going] - before).max(axis=(1, 2))
            step = np.maximum(*moved)
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
        n, size = len(mean), mean[0].size
        i, j = self.lower
        by = lu_solve(self.lu, np.concatenate([dm.reshape(n, -1), dS[:, i, j]], axis=1).T, check_finite=False).T
        half = np.zeros_like(S)
        half[:, i, j] = by[:, size:]
        diagonal = np.einsum("nii->ni", half).copy()
        both = half + np.swapaxes(half, 1, 2)
        np.einsum("nii->ni", both)[...] = diagonal
        return mean + by[:, :size].reshape(mean.shape), S + both


def _expect_part(known: tuple[Any, ...], e: Array, T: Array, lo: int, hi: int) -> None:
    from ..kernels.holes import expect_each

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


class EmLeftOut:
    """Rows with missing values under EM's answer without each: with one covariance for all, or one for each class."""

    def __init__(
        self, family: Any, settings: Any, em: Completion, whole: Stats, parameters: tuple[Array, Array]
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

    def _scored(self, x: Array, codes: Codes, weights: Array, how: Any) -> Array:
        there, n, cells = x == x, self.whole["n"], self.em.cells
        known = (n[codes] > weights) & (n > 0).all()
        left = cells[codes] - weights[:, None] * there
        known &= ((left > 0) | (cells[codes] <= 0)).all(axis=1)
        shared = len(self.S) == 1
        if shared and how is Response.exactly:  # means of no values depend on the way that EM takes
            known &= ~(there & (cells <= 0).any(axis=0)).any(axis=1)
        out = np.full((len(x), len(n)), np.nan) if shared else self._others(x)
        for c in range(len(self.S)):
            rows = np.flatnonzero(known & (shared | (codes == c)))
            response, amount = self._response(c, there[rows], codes[rows], weights[rows], how is Response.exactly)
            known[rows[np.isnan(amount)]] = False
            rows, amount = rows[~np.isnan(amount)], amount[~np.isnan(amount)]
            here = np.arange(len(n)) if shared else np.array([c])
            at = codes[rows].astype(np.int64) if shared else np.zeros(len(rows), np.int64)
            for start, stop in row_blocks(len(rows), self.S[0].size, BLOCK):
                some, part = rows[start:stop], slice(start, stop)
                own = (x[some] - np.asarray(self.whole.origin)[codes[some]]) / self.em.scale
                gone = Gone(np.where(there[some], own, 0.0), there[some], at[part], weights[some], amount[part])
                out[np.ix_(some, here)] = self._density(x[some], there[some], here, *how(response, gone))
        out[~known] = np.nan
        return out

    def _others(self, x: Array) -> Array:
        """Classes that a row is not of are as they are."""
        scorer = self.family.scorer_of(self.em.beside(self.whole), [""] * x.shape[1])
        return np.asarray(scorer.scores(x) + scorer.log_base(x)[:, None])

    def _density(self, x: Array, there: Flags, classes: NDArray[np.int64], mean: Array, S: Array) -> Array:
        z = (x[:, None] - np.asarray(self.whole.origin)[classes]) / self.em.scale
        z = np.where(there[:, None], z - mean, 0.0)
        least = max(WELL, 2 * self.family.tolerance)
        density = marginal_log_density(z, there, S, least, self.family.freedom)
        return np.asarray(density - (there @ np.log(self.em.scale))[:, None])

    def _response(self, c: int, there: Flags, codes: Codes, weights: Array, exact: bool) -> tuple[Response, Array]:
        """That of the class c, or of all classes; and how much is regularised without each row, NaN if not known."""
        n, p = self.whole["n"], there.shape[1]
        shared = len(self.S) == 1
        classes = np.arange(len(n)) if shared else np.array([c])
        d = np.maximum(n - 1, 0.0) if self.settings.unbiased else n
        over = float(d[classes].sum())
        _, own, S = self.settings.scatters(self.whole)
        scatter = (S if shared else own[c]) / self.unit
        a = there.sum(axis=1)
        pairs = weights * pair_share(there)
        regular, now, amount = self._regular(c, over, pairs, weights * (a == p), weights, exact)
        one = Solved(classes, n[classes], self.means[classes], self.S[0 if shared else c] / self.unit, scatter, over)
        groups = self.em.groups if shared else [self.em.groups[c]]
        return Response(self.em, groups, one, regular, now), amount

    def _regular(
        self, c: int, over: float, pairs: Array, complete: Array, weights: Array, exact: bool
    ) -> tuple[Regular, float, Array]:
        """How covariances are regularised, by what amount now, and by what amount without each row."""
        family, settings, stats = self.family, self.settings, self.em.stats
        if family.ridge or family.shrinkage:
            return lambda cov, _: settings.regular(cov * self.unit) / self.unit, 0.0, np.zeros(len(pairs))
        if len(self.S) == 1:
            p, seen = pairs_seen(stats)
            amount = family.amount(p, seen - pairs)
            few = self.whole["n"].sum() - weights < FEW_ROWS * p  # EM's steps may have kept to a least spread
            return _to_diagonal, float(settings.shrinkage), np.where(few, np.nan, amount)
        lacking = lacking_without(stats, c, pairs, complete)
        if self.em.prior is None or not self.em.prior.rows[c]:
            return lambda cov, _: cov, 0.0, np.where(lacking > 0, np.nan, 0.0)
        if exact:  # T changes too
            return lambda cov, _: cov, 0.0, np.full(len(pairs), np.nan)
        n, nu = self.whole["n"][c], self.em.prior.rows[c]
        T = self.em.prior.target[c] / self.unit * (n / over)
        share = lacking / (n - weights + lacking)
        return lambda cov, s: cov + np.reshape(s, (-1, 1, 1)) * (T - cov), float(nu / (n + nu)), share


def _to_diagonal(cov: Array, s: Any) -> Array:
    """(1 − s) Σ + s diag Σ, with an s for each."""
    return np.asarray(cov * (1 - np.reshape(s, (-1, 1, 1)) * (1 - np.eye(cov.shape[-1]))))
