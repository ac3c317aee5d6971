"""Everything that a report is made of, measured once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..comparison.matrix import TableMatrix, all_numbers
from ..comparison.models import default_models
from ..comparison.result import Comparison
from ..comparison.rows import at_most
from ..comparison.study import compare
from ..data.errors import InputError
from ..data.inputs import LabelsLike, TableLike
from ..data.warn import DataWarning
from ..estimators.base import GenerativeEstimator
from ..estimators.tables import GenerativeClassifier
from ..explain.assumptions import Assumptions, check_assumptions
from .answer import OURS
from .cases import Case, cases_of
from .columns import Described, described, quality_notes
from .importance import Importance, importance
from .rows import Given, as_table, read_rows, readable_form
from .scores import Scores, scores_of
from .subsets import Subset, worst_subsets

MOST_COMPARED, MOST_TESTED = 2000, 5000  # rows that models are compared on, and whose assumptions are tested
FOLDS = 5
STAGES = 6  # beside the models compared

Steps = Callable[[str], None]


@dataclass(frozen=True)
class Material:
    """A model, rows, and what was found."""

    model: GenerativeEstimator
    rows: Given
    labels: list[str]  # of the classes
    columns: list[Described]
    scores: Scores | None  # None: there is nothing to decide
    importance: Importance | None
    subsets: list[Subset]
    cases: list[Case]
    assumptions: Assumptions | str  # or why they were not tested
    comparison: Comparison | str  # or why there is none
    notes: list[str]


def material(
    model: GenerativeEstimator,
    X: TableLike,
    y: LabelsLike,
    learned: bool | None,
    compared: bool,
    most: int,
    seed: int,
    step: Steps,
) -> Material:
    """Everything, part after part."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rows = read_rows(model, X, y)
        step("reading the rows")
        decides = len(model.classes_) > 1
        scores = scores_of(model, rows, learned, most, seed) if decides else None
        step("scores")
    remarks = dict.fromkeys(str(w.message) for w in said if issubclass(w.category, DataWarning))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        columns = [] if rows.frame is None else [described(*item) for item in rows.frame.columns.items()]
        notes = quality_notes(model, rows, columns, list(remarks))
        step("columns")
        matters = None if scores is None else importance(model, rows, scores)
        step("which columns matter")
        subsets, cases = ([], []) if scores is None else _failures(model, rows, scores, matters)
        tested = _assumptions(model, rows, seed)
        step("errors and assumptions")
        why = _not_compared(model, rows, compared)
        found = why or _compared(model, rows, seed, step)
    labels = [str(c) for c in model.classes_.tolist()]
    return Material(model, rows, labels, columns, scores, matters, subsets, cases, tested, found, notes)


def _failures(
    model: GenerativeEstimator, rows: Given, scores: Scores, matters: Importance | None
) -> tuple[list[Subset], list[Case]]:
    found: list[Subset] = []
    if rows.frame is not None and matters is not None and scores.wrong.any():
        names = [name for name in matters.names if name in rows.frame.columns]
        found = worst_subsets(rows.frame.rows(scores.places), names, scores.wrong)
    return found, cases_of(model, rows, scores)


def _assumptions(model: GenerativeEstimator, rows: Given, seed: int) -> Assumptions | str:
    """The tests on some of the rows, or why there are none."""
    if rows.frame is None:
        return "They are tests of columns of numbers, of which there are none here."
    places = rows.known[at_most(rows.codes[rows.known], MOST_TESTED, np.random.default_rng(seed))]
    try:
        frame = rows.frame.rows(places)
        used = model.schema_.used if isinstance(model, GenerativeClassifier) else frame.names
        columns = {name: frame.columns[name] for name in used if name in frame.columns}
        return check_assumptions(as_table(replace(frame, columns=columns), readable_form(frame)), rows.labels[places])
    except (InputError, ValueError, TypeError) as error:
        return f"Not tested: {error}."


# --- beside other models


def _not_compared(model: GenerativeEstimator, rows: Given, wanted: bool) -> str:
    """Why models are not compared; nothing where they are."""
    if not wanted:
        return "Not compared: it was not asked for."
    if rows.frame is None:
        return "Not compared: the models that would be compared take tables, not texts or sparse rows."
    counts = np.bincount(rows.codes[rows.known], minlength=len(model.classes_))
    if (counts > 0).sum() < 2:
        return "Not compared: the rows are all of one class."
    if counts[counts > 0].min() < 2 * FOLDS:
        k = int(np.where(counts > 0, counts, np.inf).argmin())
        label = model.classes_.tolist()[k]
        return f"Not compared: class {label} has {counts[k]} rows, too few for {FOLDS} folds."
    return ""


def compared_models(model: GenerativeEstimator, table: object) -> dict[str, object]:
    """The usual ones, and the model at hand with its settings, where it can be fitted to such a table."""
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    models = default_models()
    if isinstance(model, GenerativeClassifier):
        del models["GenerativeClassifier"]
        return {OURS: clone(model), **models}
    if all_numbers(table):
        return {OURS: make_pipeline(TableMatrix(fill=False), clone(model)), **models}
    return models


def _compared(model: GenerativeEstimator, rows: Given, seed: int, step: Steps) -> Comparison | str:
    assert rows.frame is not None
    places = rows.known[at_most(rows.codes[rows.known], MOST_COMPARED, np.random.default_rng(seed))]
    table = as_table(rows.frame.rows(places), readable_form(rows.frame))
    try:
        return compare(
            table, rows.labels[places], compared_models(model, table), folds=FOLDS, curves=False, robustness=False,
            random_state=seed, progress=lambda done, steps, what: step(f"compare: {what}"),
        )  # fmt: skip
    except (ValueError, TypeError, np.linalg.LinAlgError) as error:
        return f"Not compared: {error}."


def steps_of(compared: bool) -> int:
    """How many steps there are at most."""
    return STAGES + (len(default_models()) + 1 if compared else 0)
