"""How much the evidence of models counts: powers β of p(x | c) that take back over-confidence, and an outlier rate ε.

p(c | x) = (1 − ε)·q(c | x) + ε·p(c), q ∝ p(c) Π_m p_m(x | c)^β_m, both fitted on rows that the models have not seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import Array, Codes, freeze
from .leave_one_out import LooScores

USUAL_OUTLIER_RATE = 0.01  # where the search for it begins
BEGIN = (0.5, 0.1, 0.02, 0.004, 0.0008)  # powers of which the search begins with the best
PSEUDO_OUTLIERS = 0.5  # rows taken to have been exceptions before any is seen, and as many that were not (Jeffreys)
USUAL_POWER = 0.5  # standard deviation of the prior on powers
STRONGEST = 2.0  # no model counts for more than so many times its own evidence
LOWEST = -1e12  # scores are no lower than this below the best of their row: enough to decide, and finite


def bounded(left: LooScores, lowest: float = LOWEST) -> Array:
    """Scores below the best of their row by no more than what decides; impossible events by as much for each."""
    scores = left.log_density
    if left.impossible is not None:
        scores = scores + lowest * (left.impossible - left.impossible.min(axis=1, keepdims=True))
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.maximum(np.where(np.isnan(scores), lowest, scores), lowest)


class Pooled(NamedTuple):
    """Powers of several models, how often a row is none of theirs, and the log-loss."""

    powers: Array
    outlier_rate: float
    loss: float


def priced_loss(found: Pooled, settings: int, rows: float) -> float:
    """The log-loss of rows left out, and what choosing on so many rows has cost.

    A power fitted on n rows costs about 1/n on others, and taking the best of m settings log(m)/n.
    """
    return found.loss + (int((found.powers > 0).sum()) + math.log(settings)) / rows


def expected_loss(found: Pooled, settings: int, rows: float) -> float:
    """The log-loss to expect on new rows: the priced one, and what the outlier rate costs.

    It is fitted, too; and beyond the exceptions that the rows show, ½ more of them may be there (Jeffreys), each of
    which costs −log ε.
    """
    return priced_loss(found, settings, rows) + (1 - PSEUDO_OUTLIERS * math.log(found.outlier_rate)) / rows


def pooled(scores: Sequence[Array], log_prior: Array, codes: Codes, weights: Array, start: Any = None) -> Pooled:
    """The β in [0, 2] and the ε that minimise the log-loss of (1 − ε)·softmax(log prior + Σ_m β_m·scores_m) + ε·prior.

    ε is the chance that a row is an exception, whose columns say nothing of its class: so no single row decides about
    β, and nothing is said to be all but impossible.  A normal prior on β keeps few rows from showing that a model is
    never wrong; ε has Jeffreys' prior.

    Newton's method in (β, logit ε), by steps that are not too long and halved until they gain, β held at a bound it
    pushes against.  ``start``: powers to begin from, or what was found before; else the best of some powers, the same
    for all.
    """
    return Pool(scores, log_prior, codes).fitted(weights, start)


class Pool:
    """Scores of models and what they are to tell, to find powers for one set of weights after another."""

    def __init__(self, scores: Sequence[Array], log_prior: Array, codes: Codes) -> None:
        self.scores = freeze(np.stack([s.T for s in scores]))  # (M, K, n)
        self.log_prior, self.codes = freeze(_normalised(log_prior).T), freeze(codes)

    def fitted(self, weights: Array, start: Any = None) -> Pooled:
        """Powers and outlier rate of the least log-loss, as ``pooled`` says."""
        from ..kernels.pooling import pool_search

        M, total = len(self.scores), float(weights.sum())
        powers, outlier_rate = (
            (start.powers, start.outlier_rate) if isinstance(start, Pooled) else (start, USUAL_OUTLIER_RATE)
        )
        starts = np.empty((len(BEGIN) if start is None else 1, M + 1))
        starts[:, :M] = np.array(BEGIN)[:, None] / M if start is None else powers
        starts[:, M] = math.log(outlier_rate / (1 - outlier_rate))
        where = np.empty(M + 1)
        prices = 1 / (USUAL_POWER**2 * total), PSEUDO_OUTLIERS / total
        known = self.scores, self.log_prior, self.codes, freeze(weights / total)
        loss = pool_search(*known, *prices, STRONGEST, starts, where)
        return Pooled(where[:M], 1 / (1 + math.exp(-where[M])), loss)


def _normalised(log_prior: Array) -> Array:
    """Log priors whose exponentials sum to 1, one for all rows or one for each.  # → (1, K) or (n, K)"""
    prior = np.atleast_2d(log_prior).astype(np.float64)
    prior = prior - prior.max(axis=1, keepdims=True)
    return np.asarray(prior - np.log(np.exp(prior).sum(axis=1, keepdims=True)))
