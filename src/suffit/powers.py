"""How much the evidence of models counts: powers β of p(x | c) that take back over-confidence, and a lapse ε.

p(c | x) = (1 − ε)·q(c | x) + ε·p(c), q ∝ p(c) Π_m p_m(x | c)^β_m, both fitted on rows that the models have not seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.special import log_softmax

from .family import LeftOut
from .stats import Array
from .table import Codes, freeze

USUAL_LAPSE = 0.01  # where the search for it begins
BEGIN = (0.5, 0.1, 0.02, 0.004, 0.0008)  # powers of which the search begins with the best
FAR = 4.0  # times that a power grows or falls in one step
PSEUDO_LAPSES = 0.5  # rows taken to have been exceptions before any is seen, and as many that were not (Jeffreys)
USUAL_POWER = 0.5  # standard deviation of the prior on powers
STRONGEST = 2.0  # no model counts for more than so many times its own evidence
LOWEST = -1e12  # scores are no lower than this below the best of their row: enough to decide, and finite
MOST_STEPS, MOST_HALVINGS = 50, 30
MOST_LOGIT = 30.0  # of a lapse, either way
NOTHING = 1e-6  # a power that is none
BENT = (1.0, 0.97, 0.9, 0.7, 0.0)  # how much of what makes the loss no longer convex is reckoned with
ROUNDING = 1e-12  # of the log-loss
SETTLED = 1e-9  # a gain of log-loss after which there is nothing more to gain


def bounded(left: LeftOut, lowest: float = LOWEST) -> Array:
    """Scores below the best of their row by no more than what decides; impossible events by as much for each."""
    scores = left.log_density
    if left.impossible is not None:
        scores = scores + lowest * (left.impossible - left.impossible.min(axis=1, keepdims=True))
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.maximum(np.where(np.isnan(scores), lowest, scores), lowest)


class Pooled(NamedTuple):
    """Powers of several models, how often a row is none of theirs, and the log-loss."""

    powers: Array
    lapse: float
    loss: float


def pooled(scores: Sequence[Array], log_prior: Array, codes: Codes, weights: Array, start: Any = None) -> Pooled:
    """The β in [0, 2] and the ε that minimise the log-loss of (1 − ε)·softmax(log prior + Σ_m β_m·scores_m) + ε·prior.

    ε is the chance that a row is an exception, whose columns say nothing of its class: so no single row decides about
    β, and nothing is said to be all but impossible.  A normal prior on β keeps few rows from showing that a model is
    never wrong; ε has Jeffreys' prior.

    Newton's method in (β, logit ε), by steps that are not too long and halved until they gain, β held at a bound it
    pushes against.  ``start``: powers to begin from; else the best of some, the same for all.
    """
    from .kernels.powers import pool_loss

    S = freeze(np.stack([s.T for s in scores]))  # (M, K, n)
    M, total = len(S), float(weights.sum())
    prior = log_softmax(np.atleast_2d(log_prior).astype(np.float64), axis=1)
    rest = (freeze(prior.T), freeze(codes), freeze(weights / total))
    price, pseudo = 1 / (USUAL_POWER**2 * total), PSEUDO_LAPSES / total

    def at(where: Array) -> Point:
        beta, e = where[:M], 1 / (1 + math.exp(-where[M]))
        slope, curve, bend = price * beta, price * np.eye(M), np.zeros((M + 1, M + 1))
        loss, lapses = pool_loss(S, *rest, freeze(beta), e, slope, curve, bend)
        paid = 0.5 * price * float(beta @ beta) - pseudo * (math.log(e) + math.log1p(-e))
        down, up = np.append(slope, e - lapses - pseudo * (1 - 2 * e)), np.zeros((M + 1, M + 1))
        up[:M, :M], up[M, M] = curve, e * (1 - e) * (1 + 2 * pseudo)
        return Point(where, e, loss, loss + paid, down, up, bend)

    usual = math.log(USUAL_LAPSE / (1 - USUAL_LAPSE))
    if start is None:
        now = min((at(np.append(np.full(M, b / M), usual)) for b in BEGIN), key=lambda point: point.total)
    else:
        now = at(np.append(np.broadcast_to(start, M), usual))
    for _ in range(MOST_STEPS):
        step = now.step()
        for halved in range(MOST_HALVINGS):
            tried = at(now.moved(step * 0.5**halved))
            if tried.total <= now.total + ROUNDING:
                break
        else:
            break
        promised, now = 0.5 * float(now.slope @ step), tried
        if promised < SETTLED:  # the next step would gain about its square
            break
    return Pooled(np.where(now.where[:M] < NOTHING, 0.0, now.where[:M]), now.lapse, now.loss)


class Point(NamedTuple):
    """Powers and the logit of a lapse; the log-loss there, alone and with what the priors add; and how it changes."""

    where: Array  # (M + 1,)
    lapse: float
    loss: float
    total: float
    slope: Array
    curve: Array  # less ``bend``, the Hessian: lower triangles
    bend: Array

    def moved(self, step: Array) -> Array:
        """The point less a step: a single power falls to no less than a part of itself at once, the lapse likewise."""
        beta = np.clip(self.where[:-1] - step[:-1], 0.0, STRONGEST)
        if len(beta) == 1:
            beta = np.clip(beta, self.where[0] / FAR - NOTHING, FAR * (self.where[0] + NOTHING))
        odds = np.clip(self.where[-1] - np.clip(step[-1], -FAR, FAR), -MOST_LOGIT, MOST_LOGIT)
        return np.append(np.clip(beta, 0.0, STRONGEST), odds)

    def step(self) -> Array:
        """Newton's step to take away, 0 for a power that pushes against its bound; a safe one where that is none."""
        beta, slope = self.where[:-1], self.slope
        free = np.append(~(((beta <= 0) & (slope[:-1] > 0)) | ((beta >= STRONGEST) & (slope[:-1] < 0))), True)
        step = np.zeros_like(slope)
        here = np.ix_(free, free)
        for share in BENT:
            try:
                step[free] = cho_solve(cho_factor((self.curve - share * self.bend)[here], lower=True), slope[free])
                break
            except LinAlgError:
                continue
        return step
