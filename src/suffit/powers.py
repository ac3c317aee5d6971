"""How much the evidence of a model counts: powers β of p(x | c) that take back its over-confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .family import LeftOut
from .stats import Array
from .table import Codes, freeze

USUAL_POWER = 0.5  # standard deviation of the prior on powers
STRONGEST = 2.0  # no model counts for more than so many times its own evidence
LOWEST = -1e4  # scores are no lower than this below the best of their row: enough to decide, and finite
MOST_STEPS, MOST_HALVINGS = 50, 30
FLAT = 1e-10  # a slope of the log-loss that is none
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


def powers(
    scores: Sequence[Array], log_prior: Array, codes: Codes, weights: Array, start: float | None = None
) -> tuple[Array, float]:
    """The β in [0, 2] that minimise the log-loss of softmax(log prior + Σ_m β_m·scores_m), and that log-loss.

    Newton's method on a convex function, steps halved until they gain, β held at a bound it pushes against.  A normal
    prior on β (standard deviation ½) keeps few rows from showing that a model is never wrong.
    """
    from .kernels.powers import pool_loss

    S = freeze(np.stack([s.T for s in scores]))  # (M, K, n)
    total = float(weights.sum())
    rest = (freeze(np.atleast_2d(log_prior).T), freeze(codes), freeze(weights / total))
    price = 1 / (USUAL_POWER**2 * total)

    def loss(beta: Array) -> tuple[float, Array, Array]:
        slope, curve = price * beta, price * np.eye(len(beta))
        value = pool_loss(S, *rest, freeze(beta), slope, curve)
        return value + 0.5 * price * float(beta @ beta), slope, np.tril(curve) + np.tril(curve, -1).T

    beta = np.full(len(S), min(0.5, 1.0 / len(S)) if start is None else start)
    now, slope, curve = loss(beta)
    for _ in range(MOST_STEPS):
        free = ~(((beta <= 0) & (slope > 0)) | ((beta >= STRONGEST) & (slope < 0)))
        if not free.any() or np.abs(slope[free]).max() < FLAT:
            break
        step = np.zeros_like(beta)
        step[free] = np.linalg.solve(curve[np.ix_(free, free)], slope[free])  # positive definite: the price is in it
        promised = 0.5 * float(slope @ step)  # what the step gains where the loss is a parabola
        for halved in range(MOST_HALVINGS):
            tried = np.clip(beta - step * 0.5**halved, 0.0, STRONGEST)
            value, *shape = loss(tried)
            if value <= now + ROUNDING:
                break
        else:
            break
        beta, now, slope, curve = tried, value, *shape
        if promised < SETTLED:  # the next step would gain about its square
            break
    return beta, now - 0.5 * price * float(beta @ beta)
