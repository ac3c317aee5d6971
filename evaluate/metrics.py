"""How good probabilities are. P: probabilities (n, K); c: the column of each row's true class (n,)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffit.posterior.calibrate import expected_calibration_error, log_loss

Array = NDArray[np.float64]


def accuracy(P: Array, c: NDArray[np.intp]) -> float:
    """The share of rows whose most probable class is the true one."""
    return float((P.argmax(1) == c).mean())


def brier(P: Array, c: NDArray[np.intp]) -> float:
    """mean Σ_k (p_k − 1[k is the true class])²; from 0 to 2."""
    return float(((P - np.eye(P.shape[1])[c]) ** 2).sum(1).mean())


METRICS = {"accuracy": accuracy, "log_loss": log_loss, "brier": brier, "ece": expected_calibration_error}
