"""What is in a table: every column by its kind, its values and what is missing; and what is odd about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data.arrays import Array
from ..data.column import INTEGER, NUMBER, Column
from ..data.frame import Frame
from ..estimators.base import GenerativeEstimator
from ..estimators.tables import GenerativeClassifier
from ..tables.schema import DROPPED
from .html import Html, capital, count, listed, number, percent, short, tag
from .rows import Given

BARS, HEIGHT = 24, 28  # of a small histogram: how many, and how high
MOST_BARS = 12  # categories in it
MOSTLY = 0.5  # share of rows whose values differ, from which on they are not counted
MANY_MISSING = 0.5  # share of a column
FEW_OF_CLASS = 10
RARE = 0.05  # share of a class
MOST_TO_COUNT = 200_000  # rows among which copies are looked for


@dataclass(frozen=True)
class Described:
    """One column in words, numbers and a small picture."""

    name: str
    kind: str
    missing: float  # share
    distinct: int
    values: str
    picture: Html | None


def described(name: str, column: Column) -> Described:
    """What one column holds."""
    kind, missing = column.kind(), float(column.missing().mean())
    if kind in (NUMBER, INTEGER):
        x = column.numbers()
        x = x[np.isfinite(x)]
        if not len(x):
            return Described(name, kind, missing, 0, "none", None)
        low, middle, high = np.quantile(x, [0.0, 0.5, 1.0]).tolist()
        counts = np.histogram(x, BARS)[0].astype(float) if low < high else np.array([float(len(x))])
        words = f"{number(low)} … {number(high)}, median {number(middle)}"
        return Described(name, kind, missing, len(np.unique(x)), words, histogram(counts))
    try:
        values, codes = column.categories()
    except TypeError:
        return Described(name, kind, missing, 0, "not single values", None)
    counts = np.bincount(codes[codes >= 0], minlength=len(values)).astype(float)
    order = np.argsort(-counts, kind="stable")
    total = max(counts.sum(), 1.0)
    top = [f"{short(values[k], 28)} ({percent(counts[k] / total, 0)})" for k in order[:3].tolist() if counts[k]]
    n = int((counts > 0).sum())
    if n > MOSTLY * total:
        example = f"{count(n)} different, such as {short(values[order[0]], 40)}"
        return Described(name, kind, missing, n, example, None)
    picture = histogram(counts[order[:MOST_BARS]]) if n else None
    return Described(name, kind, missing, n, ", ".join(top) + (f" and {n - 3} more" if n > 3 else ""), picture)


def histogram(counts: Array) -> Html:
    """Bars as high as there are many, for the eye; the words beside it say the same."""
    width, top = 4, max(float(counts.max()), 1.0)
    rects = [
        tag("rect", x=f"{i * width}", y=f"{HEIGHT * (1 - c / top):.1f}", width="3", height=f"{HEIGHT * c / top:.1f}")
        for i, c in enumerate(counts.tolist())
    ]
    box = f"0 0 {width * len(counts)} {HEIGHT}"
    return tag(
        "svg", *rects, viewBox=box, width=f"{width * len(counts)}", height=f"{HEIGHT}", class_="spark",
        aria_hidden="true",
    )  # fmt: skip


# --- what is odd


def quality_notes(
    model: GenerativeEstimator, rows: Given, found: Sequence[Described], said: Sequence[str]
) -> list[str]:
    """What whoever uses the model should know of the data, in sentences."""
    notes = []
    if rows.unlabelled:
        notes.append(f"{count(rows.unlabelled, 'row')} without a label take no part in this report.")
    if rows.unknown:
        names = [f"{label!r} ({n:,})" for label, n in rows.unknown.items()]
        notes.append(
            f"{count(sum(rows.unknown.values()), 'row')} have a label that the model never learned: {listed(names)}. "
            "The model cannot give these classes; the scores are those of the other rows."
        )
    notes += _of_classes(model, rows)
    notes += _of_columns(found)
    if isinstance(model, GenerativeClassifier):
        hints = [c.hint for c in model.schema_.choices if c.hint]
        notes += [f"Text that may have been meant otherwise: {hint}." for hint in hints]
        dropped = [c.column for c in model.schema_.choices if c.family == DROPPED]
        if dropped:
            verb = "is" if len(dropped) == 1 else "are"
            notes.append(f"{listed(dropped, 8)} {verb} not used by the model; the table below says why.")
    copies = _copies(rows.frame)
    if copies:
        notes.append(
            f"{count(copies, 'row')} repeat another row exactly: scores of rows whose copy was learned may flatter."
        )
    return notes + [f"{capital(text)}." for text in said if text]


def _of_classes(model: GenerativeEstimator, rows: Given) -> list[str]:
    counts = np.bincount(rows.codes[rows.known], minlength=len(model.classes_))
    labels, notes = [str(c) for c in model.classes_.tolist()], []
    absent = [label for label, n in zip(labels, counts, strict=True) if n == 0]
    few = [f"{label} ({n})" for label, n in zip(labels, counts, strict=True) if 0 < n < FEW_OF_CLASS]
    if absent:
        notes.append(f"No row here has the class {listed(absent)}: nothing can be said of how well it is found.")
    if few:
        notes.append(f"Few rows of a class: {listed(few)}. What is said of it is uncertain.")
    share = counts.max() / max(counts.sum(), 1)
    if len(labels) > 1 and share > 1 - RARE:
        notes.append(
            f"{percent(share)} of the rows are of class {labels[int(counts.argmax())]}: accuracy says little here; "
            "look at the share of each class that is found."
        )
    return notes


def _of_columns(found: Sequence[Described]) -> list[str]:
    notes = []
    empty = [d.name for d in found if d.missing == 1.0]
    constant = [d.name for d in found if d.distinct == 1 and d.missing < 1.0]
    many = [f"{d.name} ({percent(d.missing, 0)})" for d in found if MANY_MISSING < d.missing < 1.0]
    if empty:
        notes.append(f"No value at all: {listed(empty)}.")
    if constant:
        notes.append(f"The same value in every row: {listed(constant)}.")
    if many:
        notes.append(f"More than half of the values are missing: {listed(many)}.")
    return notes


def _copies(frame: Frame | None) -> int:
    """How many rows are the same as an earlier one in every column."""
    if frame is None or frame.n_rows > MOST_TO_COUNT:
        return 0
    coded = []
    for column in frame.columns.values():
        try:
            coded.append(column.categories()[1])
        except TypeError:  # no single values
            return 0
    return frame.n_rows - len(np.unique(np.column_stack(coded), axis=0))
