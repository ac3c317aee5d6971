"""How good the predictions are, on rows that the model has not seen or under the model without each of them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from ..comparison.rows import Places, padded
from ..comparison.scores import scored
from ..data.arrays import Array, Codes
from ..data.errors import InputError
from ..estimators.base import GenerativeEstimator
from ..families import MultivariateGaussian
from ..families.product import Product
from ..posterior.calibrate import SMALLEST, Reliability, reliability
from .rows import Given, were_learned

MOST_SCORED = 10_000  # rows
MOST_WITHOUT_CLOSED_FORM = 1000  # rows whose leave-one-out scores take some steps of EM each
FOLDS = 5  # where rows cannot be taken out of the sums
LEAVE_ONE_OUT, NEW, REFITTED = "leave-one-out", "held-out", "folds"
SURE = 0.9  # a probability from which on the model is called sure


@dataclass(frozen=True)
class Scores:
    """Probabilities of rows with labels, and what follows from them."""

    how: str  # LEAVE_ONE_OUT, NEW or REFITTED
    places: Places  # of the rows scored, among those given
    P: Array  # (n, K)
    codes: Codes  # (n,)
    said: bool = False  # whether somebody has said that the rows were learned, or new; else the sums tell

    @property
    def n(self) -> int:
        """How many rows were scored."""
        return len(self.codes)

    @cached_property
    def given(self) -> Codes:
        """The most probable class of every row."""
        return self.P.argmax(axis=1).astype(np.int32)

    @cached_property
    def wrong(self) -> Array:
        """1 for a misclassified row."""
        return (self.given != self.codes).astype(np.float64)

    @cached_property
    def mean(self) -> dict[str, float]:
        """Accuracy, log-loss, Brier score, calibration error and area under the ROC curve."""
        return scored(self.P, self.codes)

    @cached_property
    def unsure(self) -> dict[str, float]:
        """Standard errors of the means over rows."""
        own = self.P[np.arange(self.n), self.codes]
        each = {
            "accuracy": self.wrong,
            "log_loss": -np.log(np.clip(own, SMALLEST, 1)),
            "brier": ((self.P - np.eye(self.P.shape[1])[self.codes]) ** 2).sum(axis=1),
        }
        return {name: float(np.std(values) / max(self.n, 1) ** 0.5) for name, values in each.items()}

    @cached_property
    def shares(self) -> Array:
        """Of the classes among these rows."""
        return np.bincount(self.codes, minlength=self.P.shape[1]) / max(self.n, 1)

    @property
    def guess(self) -> dict[str, float]:
        """The same scores of somebody who knows the class shares and no column."""
        s = self.shares[self.shares > 0]
        return {
            "accuracy": float(s.max()),
            "log_loss": float(-(s * np.log(s)).sum()),
            "brier": float(1 - (s * s).sum()),
            "roc_auc": 0.5,
        }

    @cached_property
    def confusion(self) -> Array:
        """Rows of each class that were given each class.  # (K, K)"""
        found = np.zeros((self.P.shape[1],) * 2)
        np.add.at(found, (self.codes, self.given), 1)
        return found

    @cached_property
    def reliability(self) -> Reliability:
        """How often right, beside how sure."""
        return reliability(self.P, self.codes)

    @property
    def sure(self) -> tuple[float, float]:
        """The share of rows for which the model is sure, and how often it is right there."""
        here = self.P.max(axis=1) >= SURE
        return float(here.mean()), float(1 - self.wrong[here].mean()) if here.any() else float("nan")


def scores_of(model: GenerativeEstimator, rows: Given, learned: bool | None, most: int, seed: int) -> Scores:
    """The scores of a model that has learned these rows, or has not; None: its sums tell."""
    said, known = learned is not None, were_learned(model, rows) if learned is None else learned
    if known and _has_no_closed_form(model, rows):
        most = min(most, MOST_WITHOUT_CLOSED_FORM)
    places = rows.sampled(most, seed)
    codes, X = rows.codes[places], rows.some(places)
    if not known:
        return Scores(NEW, places, np.asarray(model.predict_proba(X)), codes, said)
    try:
        return Scores(LEAVE_ONE_OUT, places, np.asarray(model.loo_predict_proba(X, rows.labels[places])), codes, said)
    except ValueError:  # rows cannot be taken out of sums that are not theirs alone
        return Scores(REFITTED, places, _refitted(model, rows, places, seed), codes, said)


def _has_no_closed_form(model: GenerativeEstimator, rows: Given) -> bool:
    """Whether joint columns have missing values, and every row is to be taken out exactly."""
    if rows.frame is None or model._approximate_leave_one_out():
        return False
    family = model._model.family
    blocks = [block.family for block in family.blocks] if isinstance(family, Product) else [family]
    joint = any(isinstance(f, MultivariateGaussian) for f in blocks)
    return joint and any(bool(column.missing().any()) for column in rows.frame.columns.values())


def without(model: GenerativeEstimator, rows: Given, places: Places, how: str) -> GenerativeEstimator:
    """The model as if it had never learned some of the rows; itself where it has not, or where they cannot go."""
    if how != LEAVE_ONE_OUT:
        return model
    try:
        return copy.copy(model).forget(rows.some(places), rows.labels[places])
    except InputError:  # no row would be left, say
        return model


def posterior(model: GenerativeEstimator, X: object, classes: tuple[object, ...]) -> Array:
    """p(c | x) of all classes, 0 for those that the model does not know (any more)."""
    P = np.asarray(model.predict_proba(X))  # type: ignore[arg-type]
    known = np.array([classes.index(label) for label in model._model.classes], np.int32)
    return padded(P, known, len(classes))


def _refitted(model: GenerativeEstimator, rows: Given, places: Places, seed: int) -> Array:
    """Probabilities under copies of the model fitted to the other folds."""
    codes, K = rows.codes[places], len(model.classes_)
    P = np.zeros((len(places), K))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(codes, codes):
        fitted = clone(model).fit(rows.some(places[train]), codes[train])
        P[test] = padded(fitted.predict_proba(rows.some(places[test])), fitted.classes_.astype(np.int32), K)
    return P
