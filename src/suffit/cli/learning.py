"""Verbs that change what a model has learned: fit, update, forget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ..core.family import Family
from ..data.errors import InputError
from ..engines.arrow import check_columns, fit_arrow, labels_of, learned_columns, weights_of
from ..engines.sources import Files, placed
from ..estimators.base import GenerativeEstimator
from .console import Progress, show_json
from .reading import RowsOfModel


def unfitted(columns: Sequence[str], settings: dict[str, Any]) -> GenerativeEstimator:
    """The estimator that the options describe."""
    from ..estimators.tables import GenerativeClassifier

    return GenerativeClassifier(_wishes(columns), **settings)


def fitted(
    files: Files, target: str, weight: str | None, estimator: GenerativeEstimator, progress: Progress
) -> GenerativeEstimator:
    """A model of all rows; a fitted one gives its families and structure, and its rows do not count."""
    return fit_arrow(estimator, files, target, weight, progress)


def _wishes(columns: Sequence[str]) -> dict[object, Family | str] | str:
    """``name=family`` as ``columns`` of a GenerativeClassifier."""
    wishes: dict[object, Family | str] = {}
    for wish in columns:
        name, sign, family = wish.rpartition("=")
        if not sign or not name:
            raise InputError(f"--columns {wish}: expected name=family, such as age=gaussian, or name=drop")
        wishes[name] = family
    return wishes or "auto"


def reported(model: GenerativeEstimator, path: str, progress: Progress, json: bool) -> None:
    """What was learned, in a few lines or as JSON."""
    from .report import described, show_learned

    found = {"model": path, "seconds": round(time.perf_counter() - progress.start, 3), **described(model)}
    show_json(found) if json else show_learned(model, path, progress)


def relearned(how: str, rows: RowsOfModel, target: str | None, weight: str | None, progress: Progress) -> None:
    """The rows of files learned by a model, or taken out of it, in place."""
    name = rows.target(target)
    out = [name, *([weight] if weight else [])]
    check_columns(rows.files.names, out)
    for table, labels in rows.labelled(name, progress):
        work = rows.model.partial_fit if how == "update" else rows.model.forget
        with placed(table):
            weights = None if weight is None else weights_of(table, weight)
            X = learned_columns(rows.model, table.drop_columns(out))
            work(X, labels_of(labels), sample_weight=weights)
