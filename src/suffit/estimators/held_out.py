"""K-fold cross-validation from sums: every fold is added up once, and a model of the others is all less that one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from ..calibrate import expected_calibration_error, log_loss
from ..model import Model
from ..stats import CLASS, Array
from ..table import Codes, Rows


@dataclass(frozen=True)
class CrossValidation:
    """Probabilities of every row under the model of all folds but its own, and how good they are."""

    classes: NDArray[Any]
    fold: NDArray[np.int64]  # of each row; −1 for a row that is in none
    proba: Array  # (n, K), NaN for a row that is in none
    accuracy: float
    log_loss: float
    calibration_error: float

    def __repr__(self) -> str:
        return (
            f"{int(self.fold.max()) + 1} folds, {int((self.fold >= 0).sum())} rows: accuracy {self.accuracy:.4f}, "
            f"log-loss {self.log_loss:.4f}, calibration error {self.calibration_error:.4f}"
        )


def cross_validated(model: Any, data: Any, labels: NDArray[Any], rows: Rows, cv: Any) -> CrossValidation:
    """Every fold under the sums of all rows less its own, for a model fitted to them all."""
    fitted = model._fitted
    total: Model = fitted.model
    index = total.counts.axes[CLASS]
    proba = np.full((len(rows), len(index)), np.nan)
    fold = np.full(len(rows), -1)
    power = 1.0 if fitted.calibration is None else fitted.calibration.power
    for f, (_, here) in enumerate(check_cv(cv, labels, classifier=True).split(np.zeros(len(rows)), labels)):
        rest = total.forget(data[here], rows.some(here))
        at = index.positions_of(rest.counts.axes[CLASS])
        n = np.zeros((1, len(index)))
        n[0, at] = rest.counts["n"]
        P = rest.solved(model._prior_without(n)[0, at], power).posterior(data[here])
        proba[here], fold[here] = 0.0, f
        proba[np.ix_(here, at)] = P
    if fitted.maps:
        proba[fold >= 0] = fitted.calibration.mapped(proba[fold >= 0])
    seen = np.flatnonzero(fold >= 0)
    codes: Codes = index.positions_of(rows.classes)[rows.codes[seen]].astype(np.int32)
    weights = rows.some(seen).part(0, len(seen))[1]
    right = proba[seen].argmax(axis=1) == codes
    return CrossValidation(
        fitted.classes,
        fold,
        proba,
        float(np.average(right, weights=weights)),
        log_loss(proba[seen], codes, weights),
        expected_calibration_error(proba[seen], codes, weights),
    )
