"""Rows with missing values under EM's answer without each of them, in every setting that has such an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....core.stats import Stats
from ....data.arrays import Array, Codes
from ....kernels.runtime.threads import row_blocks
from ..missing.em import FEW_ROWS, WELL, Completion
from ..missing.few_pairs import lacking_without, pair_share, spread_without, targets
from ..missing.patterns import Flags, pairs_seen
from ..student_t import log_density
from .response import BetweenResponse, Gone, Regular, Response, Solved

MOST_COLUMNS = 40  # whose (I − J) takes p⁴/4 numbers
MOST_NUMBERS = 2_000  # means and covariances of classes that share a part of them: (I − J) takes the square
BLOCK = 1 << 21  # numbers in the covariances of rows that are taken at once


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


class EmLoo:
    """Rows with missing values under EM's answer without each: with one covariance for all, or one for each class."""

    shared: EmLoo | None = None  # under one covariance for all, whose correlations stand beside few pairs

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
        return self._scored(x, codes, weights, exact=True)

    def nearly(self, x: Array, codes: Codes, weights: Array) -> Array:
        """The same to the first order.  # → (n, K)"""
        return self._scored(x, codes, weights, exact=False)

    def _scored(self, x: Array, codes: Codes, weights: Array, exact: bool) -> Array:
        known = self._known(x, codes, weights, exact)
        if 0 < self.family.tie < 1:
            return self._scored_between(x, codes, weights, known, exact)
        K, prior = len(self.whole["n"]), self.em.prior
        shared = len(self.S) == 1
        out = np.full((len(x), K), np.nan) if shared else self._others(x)
        cov = None if prior is None or self.shared is None else self.shared.covariances(x, codes, weights, exact)
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
                mean, S = response.without(gone.some(part), exact)
                out[np.ix_(rows[part], here)] = self._density(x[rows[part]], here, mean, S)
        out[~known] = np.nan
        return out

    def _scored_between(self, x: Array, codes: Codes, weights: Array, known: Flags, exact: bool) -> Array:
        """Where classes share a part of their covariances."""
        n, there, K = self.whole["n"], x == x, len(self.S)
        over = np.maximum(n - 1, 0.0) if self.settings.unbiased else n
        scatter = self.settings.scatters(self.whole)[1] / self.unit
        each = [
            Solved(np.array([c]), n[[c]], self.means[[c]], self.S[c] / self.unit, scatter[c], float(over[c]))
            for c in range(K)
        ]
        lacking, target, pairs = None, None, weights * pair_share(there)
        if not (self.family.ridge or self.family.shrinkage):
            complete = weights * there.all(axis=1)
            lacking = lacking_without(self.em.stats, self.family.tie, codes, pairs, complete)
            if self.shared is not None:
                cov = self.shared.covariances(x, codes, weights, exact)
                target = targets(spread_without(self.em.stats, x, codes, weights), cov) / self.unit
                known = known & np.isfinite(cov).all(axis=(1, 2))
            else:
                known = known & ~lacking.any(axis=1)
        regular, now, amount = self._regular_between(pairs)
        z = np.where(there, (x - np.asarray(self.whole.origin)[codes]) / self.em.scale, 0.0)
        gone = Gone(z, there, codes.astype(np.int64), weights, amount, lacking, target)
        response = BetweenResponse(self.em, each, self.family.tie, regular, now)
        out = np.full((len(x), K), np.nan)
        for start, stop in row_blocks(len(x), self.S.size, BLOCK):
            part = np.flatnonzero(known[start:stop]) + start
            mean, S = response.without(gone.some(part), exact)
            for c in range(K):
                out[part, c] = self._density(x[part], np.array([c]), mean[:, [c]], S[:, c])[:, 0]
        return out

    def covariances(self, x: Array, codes: Codes, weights: Array, exact: bool) -> Array:
        """The shared covariance, in units of the columns' spread, without each row; NaN where it is not known."""
        gone, response = self._gone(0, x, codes, weights, None)
        out = np.full((len(x), *self.S[0].shape), np.nan)
        known = self._known(x, codes, weights, False) & ~np.isnan(gone.amount).any(axis=1)
        for start, stop in row_blocks(len(x), self.S[0].size, BLOCK):
            part = np.flatnonzero(known[start:stop]) + start
            out[part] = response.without(gone.some(part), exact)[1]
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
        at = np.full(len(w), c)
        lacking = lacking_without(stats, 0.0, at, pairs, w * there.all(axis=1))[:, c]
        prior = self.em.prior
        if prior is None or not prior.rows[c] or T is None:
            return lambda cov, _: cov, none[:1], np.where((lacking > 0)[:, None], np.nan, 0.0)
        target = prior.target[c] / self.unit * (n[c] / over)
        now = np.concatenate([[prior.rows[c] / (n[c] + prior.rows[c])], target.reshape(-1)])
        share, more = lacking / (n[c] - w + lacking), (n[c] - w) / (over - w)
        each = (T / self.unit).reshape(len(w), p * p) * more[:, None]
        return _to_target, now[None], np.concatenate([share[:, None], each], axis=1)

    def _regular_between(self, pairs: Array) -> tuple[Regular, Array, Array]:
        """The same for classes that share a part of their covariances, without rows of so many pairs."""
        family, settings, none = self.family, self.settings, np.zeros((len(pairs), 1))
        if family.ridge or family.shrinkage:
            return lambda cov, _: settings.regular(cov * self.unit) / self.unit, none[:1], none
        columns, seen = pairs_seen(self.em.stats)
        amount = family.amount(columns, seen - pairs)
        return _to_diagonal, np.full((1, 1), float(settings.shrinkage)), np.asarray(amount)[:, None]


def _to_target(cov: Array, amount: Array) -> Array:
    """(1 − s) Σ + s T, with an s and a T for each."""
    s, T = amount[:, 0, None, None], amount[:, 1:].reshape(-1, *cov.shape[-2:])
    return np.asarray(cov + s * (T - cov))


def _to_diagonal(cov: Array, s: Array) -> Array:
    """(1 − s) Σ + s diag Σ, with an s for each."""
    return np.asarray(cov * (1 - np.reshape(s, (-1, 1, 1)) * (1 - np.eye(cov.shape[-1]))))
