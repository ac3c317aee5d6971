"""How good probabilities are. P: probabilities (n, K); c: the column of each row's true class (n,)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SMALLEST = 1e-15  # a probability below this is scored as this: at most 34.5 nats for a row
BINS = 15


def accuracy(P: Array, c: NDArray[np.intp]) -> float:
    """The share of rows whose most probable class is the true one."""
    return float((P.argmax(1) == c).mean())


def log_loss(P: Array, c: NDArray[np.intp]) -> float:
    """−mean log p(true class), in nats."""
    return float(-np.log(np.clip(P[np.arange(len(c)), c], SMALLEST, 1)).mean())


def brier(P: Array, c: NDArray[np.intp]) -> float:
    """mean Σ_k (p_k − 1[k is the true class])²; from 0 to 2."""
    return float(((P - np.eye(P.shape[1])[c]) ** 2).sum(1).mean())


def ece(P: Array, c: NDArray[np.intp]) -> float:
    """Expected calibration error: Σ_b n_b/n·|accuracy_b − confidence_b| over 15 equal bins (lo, hi] of max_k p_k."""
    confidence = P.max(1)
    right = P.argmax(1) == c
    bins = np.clip(np.ceil(confidence * BINS).astype(int) - 1, 0, BINS - 1)
    gap = np.bincount(bins, weights=right - confidence, minlength=BINS)
    return float(np.abs(gap).sum() / len(c))


METRICS = {"accuracy": accuracy, "log_loss": log_loss, "brier": brier, "ece": ece}
