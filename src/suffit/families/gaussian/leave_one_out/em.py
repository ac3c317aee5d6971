"""Rows with missing values under EM's answer without each of them, in every setting that has such an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....core.stats import Stats
from ....data.arrays import Array, Codes
from ....kernels.runtime.threads import row_blocks
from ..missing.em import FEW_ROWS, WELL, Completion
from ..missing.few_pairs import lacking_without, pair_share, spread_without, targets
from ..missing.patterns import Flags, pairs_seen
from ..student_t import log_density
from .response import Gone, Regular, Response, Solved

if TYPE_CHECKING:
    from ..joint import MultivariateGaussian

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
    """Rows with missing values under EM's answer without each."""

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
        return self._scored(x, codes, weights, exact=True)

    def nearly(self, x: Array, codes: Codes, weights: Array) -> Array:
        """The same to the first order.  # → (n, K)"""
        return self._scored(x, codes, weights, exact=False)

    def _scored(self, x: Array, codes: Codes, weights: Array, exact: bool) -> Array:
        known = self._known(x, codes, weights, exact)
        every_class, prior = np.arange(len(self.whole["n"])), self.em.prior
        together = self.family.tie > 0  # classes depend on each other
        out = np.full((len(x), len(every_class)), np.nan) if together else self._others(x)
        cov = None if self.shared is None else self.shared.covariances(x, codes, weights, exact)
        if cov is not None:
            known &= np.isfinite(cov).all(axis=(1, 2))
        for classes in [every_class] if together else every_class[:, None]:
            beside = prior is not None and prior.rows[classes[0]] > 0  # rows of other classes change it, too
            rows = np.flatnonzero(known & (together | beside | (codes == classes[0])))
            if not len(rows):
                continue
            found = self._without(classes, x[rows], codes[rows], weights[rows], None if cov is None else cov[rows])
            known[rows[np.isnan(found[0].amount).any(axis=1)]] = False
            for part, mean, S in self._in_blocks(*found, known[rows], exact):
                out[np.ix_(rows[part], classes)] = self._density(x[rows[part]], classes, mean, S)
        out[~known] = np.nan
        return out

    def covariances(self, x: Array, codes: Codes, weights: Array, exact: bool) -> Array:
        """The shared covariance, in units of the columns' spread, without each row; NaN where it is not known."""
        found = self._without(np.arange(len(self.whole["n"])), x, codes, weights, None)
        out = np.full((len(x), *self.S[0].shape), np.nan)
        known = self._known(x, codes, weights, False) & ~np.isnan(found[0].amount).any(axis=1)
        for part, _, S in self._in_blocks(*found, known, exact):
            out[part] = S[:, 0]
        return out

    def _in_blocks(
        self, gone: Gone, response: Response, known: Flags, exact: bool
    ) -> Iterator[tuple[NDArray[np.int64], Array, Array]]:
        """Some of the rows that are known, and means and covariances without each of them."""
        for start, stop in row_blocks(len(known), response.S.size, BLOCK):
            part = np.flatnonzero(known[start:stop]) + start
            some = gone.some(part)
            yield (part, *(response.exactly(some) if exact else response.nearly(some)))

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
        scorer = self.family.scorer_of(self.em.beside(self.whole))
        return np.asarray(scorer.scores(x) + scorer.log_base(x)[:, None])

    def _density(self, x: Array, classes: NDArray[np.int64], mean: Array, S: Array) -> Array:
        there = x == x
        z = (x[:, None] - np.asarray(self.whole.origin)[classes]) / self.em.scale
        z = np.where(there[:, None], z - mean, 0.0)
        least = max(WELL, 2 * self.family.tolerance)
        of = [slice(None)] if S.shape[1] == 1 else [slice(c, c + 1) for c in range(len(classes))]
        density = np.concatenate(
            [marginal_log_density(z[:, one], there, S[:, g], least, self.family.freedom) for g, one in enumerate(of)],
            axis=1,
        )
        return np.asarray(density - (there @ np.log(self.em.scale))[:, None])

    def _without(
        self, classes: NDArray[np.int64], x: Array, codes: Codes, weights: Array, cov: Array | None
    ) -> tuple[Gone, Response]:
        """Rows as these classes lose them, and what that does; rows of other classes weigh nothing."""
        n, there, family, settings = self.whole["n"], x == x, self.family, self.settings
        mine = codes[:, None] == classes
        at, w = mine.argmax(axis=1), weights * mine.any(axis=1)
        z = np.where(there, (x - np.asarray(self.whole.origin)[classes[at]]) / self.em.scale, 0.0)
        pairs, complete = w * pair_share(there), w * there.all(axis=1)
        lacking, target = None, None
        regular: Regular = self._by_settings
        now, amount = 0.0, np.zeros(len(w))
        if not (family.ridge or family.shrinkage):
            regular, now = _to_diagonal, float(settings.shrinkage)
            if family.tie > 0:
                columns, seen = pairs_seen(self.em.stats)
                few = family.tie == 1 and n.sum() - w < FEW_ROWS * there.shape[1]  # EM may have kept to a least spread
                amount = np.where(few, np.nan, family.amount(columns, seen - pairs))
            if family.tie < 1:
                lacking = lacking_without(self.em.stats, family.tie, classes[at], pairs, complete)[:, classes]
                if cov is not None:
                    target = targets(spread_without(self.em.stats, x, codes, weights), cov)[:, classes] / self.unit
                else:
                    amount = np.where(lacking.any(axis=1), np.nan, amount)
        response = Response(self.em, self._solved(classes), family.tie, regular, now)
        return Gone(z, there, at, w, amount[:, None], lacking, target), response

    def _by_settings(self, cov: Array, _: Array) -> Array:
        """Covariances with the shrinkage and the ridge that were set, in units of the columns' spread."""
        return self.settings.regular(cov * self.unit) / self.unit

    def _solved(self, classes: NDArray[np.int64]) -> list[Solved]:
        """What EM came to with these classes, one covariance for all or one for each."""
        n, prior, groups = self.whole["n"], self.em.prior, self.em.groups
        over = np.maximum(n - 1, 0.0) if self.settings.unbiased else n
        _, own, S = self.settings.scatters(self.whole)
        if len(self.S) == 1:
            whole = n[classes], self.means[classes], self.S[0] / self.unit, S / self.unit, float(over.sum())
            return [Solved(classes, groups, *whole)]
        return [
            Solved(
                classes[k : k + 1], groups[c : c + 1], n[[c]], self.means[[c]], self.S[c] / self.unit,
                own[c] / self.unit, float(over[c]), 0.0 if prior is None else float(prior.rows[c]),
            )
            for k, c in enumerate(classes)
        ]  # fmt: skip


def _to_diagonal(cov: Array, s: Array) -> Array:
    """(1 − s) Σ + s diag Σ, with an s for each."""
    return np.asarray(cov * (1 - np.reshape(s, (-1, 1, 1)) * (1 - np.eye(cov.shape[-1]))))
