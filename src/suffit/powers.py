"""How much the evidence of a model counts: powers β of p(x | c) that take back its over-confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .family import LeftOut
from .stats import Array
from .table import Codes, freeze

USUAL_LAPSE = 0.01  # where the search for it begins
PSEUDO_LAPSES = 0.5  # rows taken to have been exceptions before any is seen, and as many that were not (Jeffreys)
USUAL_POWER = 0.5  # standard deviation of the prior on powers
STRONGEST = 2.0  # no model counts for more than so many times its own evidence
LOWEST = -1e4  # scores are no lower than this below the best of their row: enough to decide, and finite
MOST_STEPS, MOST_HALVINGS = 50, 30
ROUNDING = 1e-12  # of the log-loss
SETTLED = 1e-9  # a gain of log-loss after which there is nothing more to gain
SAYABLE = -100.0  # the most that one row says against a class when one model's power is fitted: else a few decide alone


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


def pooled(
    scores: Sequence[Array], log_prior: Array, codes: Codes, weights: Array, start: float | None = None
) -> Pooled:
    """The β in [0, 2] and the ε that minimise the log-loss of (1 − ε)·softmax(log prior + Σ_m β_m·scores_m) + ε·prior.

    ε is the chance that a row is an exception, whose columns say nothing of its class: so no single row decides about
    β, and nothing is said to be all but impossible.
    """
    return _fitted(scores, log_prior, codes, weights, start, USUAL_LAPSE)


def powers(scores: Sequence[Array], log_prior: Array, codes: Codes, weights: Array) -> tuple[Array, float]:
    """The β in [0, 2] that minimise the log-loss of softmax(log prior + Σ_m β_m·scores_m), and that log-loss."""
    found = _fitted(scores, log_prior, codes, weights, None, 0.0)
    return found.powers, found.loss


def _fitted(
    scores: Sequence[Array], log_prior: Array, codes: Codes, weights: Array, start: float | None, lapse: float
) -> Pooled:
    """Newton's method, steps halved until they gain, β held at a bound it pushes against; ε after each (EM).

    A normal prior on β keeps few rows from showing that a model is never wrong.
    """
    from .kernels.powers import pool_loss

    S = freeze(np.stack([s.T for s in scores]))  # (M, K, n)
    total = float(weights.sum())
    rest = (freeze(np.atleast_2d(log_prior).T.astype(np.float64)), freeze(codes), freeze(weights / total))
    price, pseudo = 1 / (USUAL_POWER**2 * total), PSEUDO_LAPSES / total if lapse else 0.0

    def at(beta: Array, lapse: float) -> Point:
        slope, curve = price * beta, price * np.eye(len(beta))
        loss, lapses = pool_loss(S, *rest, freeze(beta), lapse, slope, curve)
        paid = 0.5 * price * float(beta @ beta)
        if lapse:
            paid -= pseudo * (math.log(lapse) + math.log1p(-lapse))
        return Point(beta, lapse, loss, paid, lapses, slope, np.tril(curve) + np.tril(curve, -1).T)

    now = at(np.full(len(S), min(0.5, 1.0 / len(S)) if start is None else start), lapse)
    for _ in range(MOST_STEPS):
        step = now.step()
        after = (now.lapses + pseudo) / (1 + 2 * pseudo)  # 0 where there are none
        for halved in range(MOST_HALVINGS):
            tried = at(np.clip(now.beta - step * 0.5**halved, 0.0, STRONGEST), after)
            if tried.total <= now.total + ROUNDING:
                break
        else:
            break
        gain = now.total - tried.total if lapse else 0.5 * float(now.slope @ step)  # where the loss is a parabola
        now = tried
        if gain < SETTLED:
            break
    return Pooled(now.beta, now.lapse, now.loss)


class Point(NamedTuple):
    """Powers and a lapse, the log-loss there and what the priors add, and how they change."""

    beta: Array
    lapse: float
    loss: float
    paid: float
    lapses: float
    slope: Array
    curve: Array

    @property
    def total(self) -> float:
        """What is minimised."""
        return self.loss + self.paid

    def step(self) -> Array:
        """Newton's step to take away, 0 for a power that pushes against its bound."""
        beta, slope = self.beta, self.slope
        free = ~(((beta <= 0) & (slope > 0)) | ((beta >= STRONGEST) & (slope < 0)))
        step = np.zeros_like(beta)
        if free.any():
            step[free] = np.linalg.solve(self.curve[np.ix_(free, free)], slope[free])  # positive definite by the price
        return step
