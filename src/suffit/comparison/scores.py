"""How good probabilities are: accuracy, log-loss, Brier score, calibration error and the area under the ROC curve."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from ..data.arrays import Array, Codes
from ..posterior.calibrate import expected_calibration_error, log_loss

SCORES = {  # and their names in print
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "brier": "Brier score",
    "calibration_error": "calibration error",
    "roc_auc": "ROC AUC",
}
LESS_IS_BETTER = ("log_loss", "brier", "calibration_error")


def scored(P: Array, codes: Codes) -> dict[str, float]:
    """Every score of these rows; the area is NaN where a class has no row.  # (n, K)"""
    K = P.shape[1]
    truth = np.eye(K)[codes]
    return {
        "accuracy": float((P.argmax(axis=1) == codes).mean()),
        "log_loss": float(log_loss(P, codes)),
        "brier": float(((P - truth) ** 2).sum(axis=1).mean()),
        "calibration_error": float(expected_calibration_error(P, codes)),
        "roc_auc": _area(P, codes),
    }


def _area(P: Array, codes: Codes) -> float:
    """For two classes the area, for more the mean over each against the rest."""
    K = P.shape[1]
    if len(np.unique(codes)) < K:
        return float("nan")
    if K == 2:
        return float(roc_auc_score(codes, P[:, 1]))
    return float(np.mean([roc_auc_score(codes == c, P[:, c]) for c in range(K)]))
