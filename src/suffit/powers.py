"""How much the evidence of a model counts: powers β of p(x | c) that take back its over-confidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .family import LeftOut
from .stats import Array
from .table import Codes

USUAL_POWER = 0.5  # standard deviation of the prior on powers
STRONGEST = 2.0  # no model counts for more than so many times its own evidence
LOWEST = -1e4  # scores are no lower than this below the best of their row: enough to decide, and finite
SAYABLE = -100.0  # the most that one row says against a class when one model's power is fitted: else a few decide alone


def bounded(left: LeftOut, lowest: float = LOWEST) -> Array:
    """Scores below the best of their row by no more than what decides; impossible events by as much for each."""
    scores = left.log_density
    if left.impossible is not None:
        scores = scores + lowest * (left.impossible - left.impossible.min(axis=1, keepdims=True))
    scores = scores - scores.max(axis=1, keepdims=True)
    return np.maximum(np.where(np.isnan(scores), lowest, scores), lowest)


def powers(scores: Sequence[Array], log_prior: Array, codes: Codes, weights: Array) -> tuple[Array, float]:
    """The β in [0, 2] that minimise the log-loss of softmax(log prior + Σ_m β_m·scores_m), and that log-loss.

    Newton's method on a convex function, steps halved until they gain, β held at a bound it pushes against.  A normal
    prior on β (standard deviation ½) keeps few rows from showing that a model is never wrong.
    """
    S = np.stack(scores)  # (M, n, K)
    total = weights.sum()
    weights = weights / total
    at = np.arange(len(codes))
    chosen = S[:, at, codes]  # (M, n)
    price = 1 / (USUAL_POWER**2 * total)

    def loss(beta: Array) -> tuple[float, Array]:
        joint = log_prior + np.tensordot(beta, S, axes=1)
        joint -= joint.max(axis=1, keepdims=True)
        p = np.exp(joint)
        norm = p.sum(axis=1)
        p /= norm[:, None]
        return float(weights @ (np.log(norm) - joint[at, codes])) + 0.5 * price * float(beta @ beta), p

    beta = np.full(len(S), min(0.5, 1.0 / len(S)))
    now, p = loss(beta)
    for _ in range(50):
        mean = np.einsum("mnk,nk->mn", S, p)
        gradient = (mean - chosen) @ weights + price * beta
        free = ~(((beta <= 0) & (gradient > 0)) | ((beta >= STRONGEST) & (gradient < 0)))
        if not free.any() or np.abs(gradient[free]).max() < 1e-10:
            break
        spread = (S * (p * weights[:, None])).reshape(len(S), -1)
        hessian = spread @ S.reshape(len(S), -1).T - (mean * weights) @ mean.T
        hessian = (hessian + price * np.eye(len(S)))[np.ix_(free, free)]
        step = np.zeros_like(beta)
        step[free] = np.linalg.solve(hessian, gradient[free])  # positive definite: the price is on its diagonal
        for halved in range(30):
            tried = np.clip(beta - step * 0.5**halved, 0.0, STRONGEST)
            value, q = loss(tried)
            if value <= now:
                break
        gain, (beta, now, p) = now - value, (tried, value, q)
        if gain < 1e-13:
            break
    return beta, now - 0.5 * price * float(beta @ beta)
