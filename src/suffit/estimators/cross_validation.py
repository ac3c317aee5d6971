"""K-fold cross-validation from sums: every fold is added up once, and a model of the others is all less that one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.model import Model
from ..core.stats import CLASS
from ..data.arrays import Array, Cells, Codes, Matrix
from ..data.rows import Rows
from ..posterior.calibrate import expected_calibration_error, log_loss
from .fitted import Fitted, tempering

Places = NDArray[np.int64]


@dataclass(frozen=True)
class CrossValidation:
    """Probabilities of every row under the model of all folds but its own, and how good they are."""

    classes: Cells
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


def cross_validated(
    fitted: Fitted, data: Matrix, rows: Rows, splits: Iterable[tuple[Places, Places]]
) -> CrossValidation:
    """Every fold under the sums of all rows less its own, for a model fitted to them all."""
    total = fitted.model
    index = total.counts.axes[CLASS]
    proba = np.full((len(rows), len(index)), np.nan)
    fold = np.full(len(rows), -1)
    for f, (train, here) in enumerate(splits):
        if (fold[here] >= 0).any():
            row = int(here[np.argmax(fold[here] >= 0)])
            raise ValueError(f"cross_val: cv tests row {row} more than once; give folds that do not overlap")
        rest = _trained(total, data, rows, train, here)
        at = index.positions_of(rest.counts.axes[CLASS])
        n = np.zeros((1, len(index)))
        n[0, at] = rest.counts["n"]
        solution = rest.solved(fitted.prior_without(n)[0, at], *tempering(fitted.calibration))
        maps = fitted.calibration if fitted.maps and len(at) == len(index) else None  # they are for all classes
        tested = rest.family.known_part(data[here], rest.sums)
        P = solution.posterior(tested) if maps is None else maps.posterior(solution, tested)
        proba[here], fold[here] = 0.0, f
        proba[np.ix_(here, at)] = P
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


def _trained(total: Model, data: Matrix, rows: Rows, train: Places, test: Places) -> Model:
    """The model of a split's training rows: all less the tested ones, where those are the rest."""
    train, test = (np.flatnonzero(a) if a.dtype == bool else a for a in (np.asarray(train), np.asarray(test)))
    both = np.bincount(np.concatenate([train, test]), minlength=len(rows))
    if (both == 1).all():
        return total.forget(data[test], rows.some(test))
    if not len(train):
        raise ValueError("cross_val: cv has a split without rows to train on")
    X, rows = data[train], rows.some(train)
    return Model.of(total.family, total.columns, rows, total.family.collect(X, rows))
