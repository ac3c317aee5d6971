"""Which columns matter: how well each separates the classes, and what is lost where it is missing.

A generative model needs no refit to do without a column: its values are marginalised, as any missing value is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..data.arrays import Array, Cells, Codes
from ..data.frame import Frame, Template
from ..estimators.base import GenerativeEstimator
from ..posterior.calibrate import log_loss
from .rows import Given
from .scores import LEAVE_ONE_OUT, Scores, posterior, without
from .subsets import is_numeric

MOST_ROWS, MOST_COLUMNS = 2000, 40  # that columns are taken away of
FOLDS = 4  # taken out of the sums in turn, where the rows are few


@dataclass(frozen=True)
class Importance:
    """The columns, and how much each does."""

    names: Sequence[str]  # the one that separates most first
    separation: Array
    loss: dict[str, float]  # how much the log-loss rises where the column is missing
    errors: dict[str, float]  # how much the error rate rises
    rows: int  # that the two were found on

    @property
    def order(self) -> list[str]:
        """The columns, by what is lost without them where that is known."""
        return sorted(self.names, key=lambda name: -self.loss.get(name, -np.inf))


def importance(model: GenerativeEstimator, rows: Given, scores: Scores) -> Importance:
    """Of every column that the model uses, on rows that it has not learned or that are taken out of its sums."""
    page = model.summary()
    top = np.argsort(-page.separation, kind="stable")
    names = [str(page.columns[j]) for j in top.tolist()]
    found = Importance(names, page.separation[top], {}, {}, 0)
    if rows.frame is None or not set(names) <= set(rows.frame.columns):
        return found
    places = scores.places[np.random.default_rng(0).permutation(scores.n)[:MOST_ROWS]]
    tried = names[:MOST_COLUMNS]
    P = np.zeros((1 + len(tried), len(places), len(model.classes_)))
    folds = 1 if scores.how != LEAVE_ONE_OUT or FOLDS * len(places) <= rows.n else FOLDS
    for fold in range(folds):
        here = np.arange(fold, len(places), folds)
        rest, frame = without(model, rows, places[here], scores.how), rows.frame.rows(places[here])
        for i, gone in enumerate([(), *((name,) for name in tried)]):
            P[i, here] = posterior(rest, _without(frame, gone), model._model.classes)
    codes = rows.codes[places]
    loss, errors = [log_loss(p, codes) for p in P], [_error(p, codes) for p in P]
    for name, with_loss, with_errors in zip(tried, loss[1:], errors[1:], strict=True):
        found.loss[name], found.errors[name] = with_loss - loss[0], with_errors - errors[0]
    return replace(found, rows=len(places))


def _error(P: Array, codes: Codes) -> float:
    return float((P.argmax(axis=1) != codes).mean())


def _without(frame: Frame, gone: Sequence[str]) -> object:
    """The table with some columns missing altogether."""
    columns: dict[str, Cells] = {}
    for name, column in frame.columns.items():
        cells = column.cells()
        if name in gone:
            numeric = is_numeric(column)
            cells = np.full(len(cells), np.nan if numeric else None, dtype=np.float64 if numeric else object)
        columns[name] = cells
    return Template(frame.like.form, {}).make(columns)
