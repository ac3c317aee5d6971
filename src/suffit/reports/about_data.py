"""The section about the data: rows, classes, what is odd, and every column."""

from __future__ import annotations

import numpy as np

from ..estimators.tables import GenerativeClassifier
from .columns import Described
from .html import Child, Html, bar, count, items, joined, percent, short, table, tag
from .material import Material

MOST_COLUMNS = 100  # of the table of columns


def data(m: Material) -> Html:
    """Rows, classes, what is odd, and every column."""
    total = max(m.rows.n, 1)
    counts = np.bincount(m.rows.codes[m.rows.known], minlength=len(m.labels))
    learned = m.model.class_count_.tolist()
    classes = [
        [short(label), count(n), bar(n / total, percent(n / total)), count(k)]
        for label, n, k in zip(m.labels, counts.tolist(), learned, strict=True)
    ]
    notes = [tag("h3", "What to know about these data"), items(m.notes)] if m.notes else []
    return joined([
        tag("p", _size(m)),
        table("Classes", ["class", "rows here", "share", "rows learned"], classes),
        *notes, *_columns(m),
    ])  # fmt: skip


def _size(m: Material) -> str:
    if m.rows.texts is not None:
        words = count(len(m.model._columns_of_model()[0]), "word")
        return f"{count(m.rows.n, 'text')}, from which the model takes {words}."
    if m.rows.frame is None:
        return f"{count(m.rows.n, 'row')} of a sparse matrix with {count(m.rows.X.shape[1], 'column')}."
    cells = sum(d.missing for d in m.columns) / max(len(m.columns), 1)
    some = sum(d.missing > 0 for d in m.columns)
    gone = f"{percent(cells)} of the cells are missing, in {count(some, 'column')}" if some else "no value is missing"
    return f"{count(m.rows.n, 'row')} with a label, {count(len(m.columns), 'column')}; {gone}."


def _columns(m: Material) -> list[Child]:
    """Every column: what it holds, and how the model takes it and why."""
    if not m.columns:
        return []
    schema = m.model.schema_ if isinstance(m.model, GenerativeClassifier) else None
    chosen = {c.column: c for c in schema.choices} if schema else {}
    rows: list[list[Child]] = []
    for d in m.columns[:MOST_COLUMNS]:
        c = chosen.get(d.name)
        taken = [short(c.family.partition("(")[0]), short(c.reason, 160)] if c else [m.model._model.family.key, ""]
        rows.append([short(d.name), c.kind if c else d.kind, *_held(d), *(taken if schema else taken[:1])])
    head = ["column", "kind", "values", "distribution", "missing", "family", *(["why"] if schema else [])]
    left = len(m.columns) - MOST_COLUMNS
    more = tag("p", f"{left} more columns are not shown.", class_="note") if left > 0 else None
    return [tag("h3", "Columns, and how the model takes them"), table("Columns", head, rows, "wide"), more]


def _held(d: Described) -> list[Child]:
    empty = percent(d.missing)
    return [d.values, d.picture, bar(d.missing, empty, "bad") if d.missing else "none"]
