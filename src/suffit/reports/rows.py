"""The rows that a report is about: read once, taken apart by row, and whether the model has learned them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..comparison.rows import Places, at_most
from ..data.arrays import Cells, Codes, Csr, is_sparse
from ..data.column import ArrayColumn, as_objects
from ..data.errors import InputError
from ..data.frame import Frame, Template, form_to_read, read_frame
from ..data.inputs import LabelsLike, TableLike
from ..data.rows import Rows
from ..data.validate import read_labels
from ..estimators.base import GenerativeEstimator
from ..estimators.texts import TextNB
from ..text.documents import Texts, read_texts

SAME = 1e-7  # of the largest sum: how near sums of the same rows are, added up in another order
UNKNOWN = -1  # in place of the code of a class


@dataclass(frozen=True)
class Given:
    """Rows with their labels, as codes of the classes of the model."""

    X: Any
    frame: Frame | None  # of a table
    texts: Texts | None  # of texts
    at: Places  # where each is among the rows handed in
    labels: Cells
    codes: Codes  # UNKNOWN for a label that the model does not know
    unlabelled: int  # rows that had no label, and are not among these
    unknown: dict[str, int]  # labels that the model does not know, and how many rows have each

    @property
    def n(self) -> int:
        """How many rows have a label."""
        return len(self.at)

    @property
    def known(self) -> Places:
        """The rows whose label is a class of the model."""
        return np.flatnonzero(self.codes >= 0)

    def some(self, places: Places) -> Any:
        """Some of the rows, as the model takes them."""
        if self.texts is not None:
            return self.texts[places]
        if self.frame is None:
            return self.X[places]
        return as_table(self.frame.rows(places))

    def sampled(self, most: int, seed: int) -> Places:
        """The rows with a known label, or so many of them with the classes at their shares, in their order."""
        known = self.known
        return known[at_most(self.codes[known], most, np.random.default_rng(seed))]

    def everything(self) -> Any:
        """All rows, as the model takes them."""
        return self.some(np.arange(self.n))


def as_table(frame: Frame, form: str | None = None) -> Any:
    """A table of the kind that was given, or of another."""
    columns = {name: column.cells() for name, column in frame.columns.items()}
    return Template(form or frame.like.form, {}).make(columns)


def readable_form(frame: Frame) -> str:
    """The kind of table in which categories and numbers can stand side by side."""
    return form_to_read(frame.like.form)


def read_rows(model: GenerativeEstimator, X: TableLike, y: LabelsLike) -> Given:
    """Rows and labels as the model knows them; rows without a label are not among them."""
    texts = read_texts(X) if isinstance(model, TextNB) else None
    sparse: Csr | None = cast("Any", X).tocsr() if is_sparse(X) else None
    frame = None if texts is not None or sparse is not None else read_frame(X)
    n = frame.n_rows if frame is not None else (texts if texts is not None else cast("Csr", sparse)).shape[0]
    labels, kept = _labels(y)
    if len(kept) != n:
        raise ValueError(f"report: X has {n} rows and y {len(kept)} labels; they must match")
    here = np.flatnonzero(kept)
    if len(here) < n:
        texts = None if texts is None else texts[here]
        frame = None if frame is None else frame.rows(here)
        sparse = None if sparse is None else sparse[here]
    rows = Rows.of(labels)
    place = {label: k for k, label in enumerate(model._model.classes)}
    codes = np.array([place.get(label, UNKNOWN) for label in rows.classes.labels], np.int32)[rows.codes]
    if not (codes >= 0).any():
        raise InputError(
            f"report: no label of y is a class of the model; y has {list(rows.classes.labels)[:5]}, the classes are "
            f"{list(place)[:5]}; give the labels as they were learned"
        )
    counts = np.bincount(rows.codes, minlength=len(rows.classes))
    unknown = {str(label): int(m) for label, m in zip(rows.classes.labels, counts, strict=True) if label not in place}
    return Given(sparse, frame, texts, here, labels, codes, n - len(here), unknown)


def _labels(y: LabelsLike) -> tuple[Cells, NDArray[np.bool_]]:
    """Labels, and which rows have one."""
    given = cast("Any", y)
    if y is None or isinstance(y, str) or not hasattr(y, "__len__"):
        raise ValueError("report: y must hold a label for each row")
    way = next((way for way in ("to_pylist", "to_list", "tolist") if hasattr(given, way)), None)
    values: list[object] = list(given) if way is None else getattr(given, way)()
    kept = ~ArrayColumn(as_objects(values)).missing()
    if not kept.any():
        raise InputError("report: every label is missing; at least one row needs a label")
    if kept.all():
        return read_labels(cast("LabelsLike", values) if way == "to_pylist" else y, "report"), kept
    return read_labels(cast("LabelsLike", [value for value, k in zip(values, kept, strict=True) if k]), "report"), kept


def were_learned(model: GenerativeEstimator, rows: Given) -> bool:
    """Whether the sums of the model are those of these rows: it has learned them, each once, and no others."""
    mine = model._fitted.model
    if len(rows.known) < rows.n:
        return False
    counts = np.bincount(rows.codes, minlength=len(mine.classes))
    if not np.allclose(counts, mine.counts["n"], rtol=SAME, atol=0.0):
        return False
    try:
        model._check_rows_can_go()
    except ValueError:  # its sums are not those of rows alone, so that numbers of rows are all there is to compare
        return True
    try:
        data, _, labelled = model._read(rows.everything(), rows.labels, None, model._read_X_known)
        theirs = mine.collected(data, labelled)
    except ValueError:  # a category, word or value that the model refuses
        return False
    return mine.classes == theirs.classes and mine.sums.isclose(theirs.sums, SAME)
