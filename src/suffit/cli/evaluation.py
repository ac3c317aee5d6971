"""How good a model's probabilities are on rows with labels, added up table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.arrays import Array, Cells
from ..data.errors import CellError, InputError
from ..engines.arrow import columns_of_model
from ..engines.sources import placed
from ..posterior.calibrate import BINS, SMALLEST, bins_of
from .console import Progress
from .reading import RowsOfModel

if TYPE_CHECKING:
    import pyarrow as pa


class Evaluation:
    """Sums from which accuracy, log-loss, Brier score, calibration and confusions follow."""

    def __init__(self, classes: Cells) -> None:
        self.classes = classes.tolist()
        k = len(self.classes)
        self.confusion = np.zeros((k, k), np.int64)  # true, predicted
        self.loss = self.brier = 0.0
        self.bins = np.zeros((3, BINS))  # rows, confidence, right
        self.skipped = 0

    def add(self, P: Array, labels: pa.ChunkedArray, target: str) -> None:
        """Some more rows; those without a label are counted apart."""
        place = {c: i for i, c in enumerate(self.classes)}
        given = labels.to_pylist()
        for i, label in enumerate(given):
            if label is not None and label not in place:
                known = ", ".join(map(repr, self.classes[:8]))
                raise CellError(
                    f"column {target!r}: class {label!r} was never learned",
                    i,
                    f"the classes are {known}; suffit update learns new ones",
                )
        codes = np.array([place.get(label, -1) for label in given], np.int64)
        self.skipped += int((codes < 0).sum())
        P, codes = P[codes >= 0], codes[codes >= 0]
        best, each = P.argmax(axis=1), np.arange(len(codes))
        np.add.at(self.confusion, (codes, best), 1)
        self.loss -= float(np.log(np.clip(P[each, codes], SMALLEST, 1)).sum())
        self.brier += float(((P - np.eye(len(self.classes))[codes]) ** 2).sum())
        for row, values in enumerate((np.ones(len(codes)), P.max(axis=1), best == codes)):
            self.bins[row] += np.bincount(bins_of(P.max(axis=1)), weights=values, minlength=BINS)

    def result(self) -> dict[str, object]:
        """Everything by name, for JSON."""
        n = int(self.confusion.sum())
        shares = self.confusion.sum(axis=1) / max(n, 1)
        guess = -float((shares[shares > 0] * np.log(shares[shares > 0])).sum())
        right = np.diag(self.confusion)
        rows = zip(self.classes, self.confusion.sum(axis=1), self.confusion.sum(axis=0), right, strict=True)
        return {
            "rows": n,
            "rows_without_label": self.skipped,
            "accuracy": float(right.sum() / max(n, 1)),
            "log_loss": self.loss / max(n, 1),
            "log_loss_of_class_shares": guess,
            "brier": self.brier / max(n, 1),
            "calibration_error": float(np.abs(self.bins[2] - self.bins[1]).sum() / max(n, 1)),
            "classes": [
                {
                    "class": c,
                    "rows": int(true),
                    "recall": float(hit / true) if true else None,
                    "precision": float(hit / decided) if decided else None,
                }
                for c, true, decided, hit in rows
            ],
            "confusion": {
                str(c): {str(d): int(m) for d, m in zip(self.classes, row, strict=True)}
                for c, row in zip(self.classes, self.confusion, strict=True)
            },
        }


def evaluated(rows: RowsOfModel, target: str | None, progress: Progress) -> dict[str, object]:
    """The evaluation of a model on the rows of files."""
    name = rows.target(target)
    found = Evaluation(rows.model.classes_)
    for table, labels in rows.labelled(name, progress):
        with placed(table):
            found.add(rows.model.predict_proba(columns_of_model(rows.model, table)), labels, name)
    if not found.confusion.sum():
        raise InputError(f"column {name!r}: no row has a label")
    return found.result()
