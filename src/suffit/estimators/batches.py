"""Small batches of rows that wait to become part of a model: taken quickly, added up when the model is asked for."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.family import Running
from ..core.model import Model
from ..data.arrays import Array, Cells, Csr, Matrix, NumberRows, is_sparse
from ..data.rows import Rows
from ..data.warn import WarningCollector

MOST_ROWS = 4096  # rows that are kept to be added up together,
MOST_CELLS = 1 << 18  # fewer of wide ones
MOST_OF_A_BATCH = MOST_ROWS // 4  # a batch with more rows is learned at once
QUICK_TYPES = (np.ndarray, sparse.csr_matrix, sparse.csr_array)


def looks_right(X: Matrix, y: Cells, n_features: int | None) -> bool:
    """Whether a few quick looks show rows of so many columns, with labels; False: they need a closer look."""
    return (
        type(X) in QUICK_TYPES
        and y.ndim == 1
        and len(y) > 0
        and X.shape == (len(y), n_features)
        and y.dtype.kind in "iubU"
    )


class RowsInSums:
    """Batches that are in running sums already."""

    def __init__(self, running: Running, labels: np.dtype[np.generic]) -> None:
        self.running, self.labels = running, labels

    def add(self, X: Matrix, y: Cells) -> bool:
        """Add to the sums; False, and nothing added, where the rows need a closer look."""
        return y.dtype == self.labels and self.running.add(X, cast("NDArray[np.integer]", y))

    def has_room(self, n: int) -> bool:
        """Never taken for granted: sums that begin where the model is by now may take what these do not."""
        return False

    def learned_by(self, model: Model) -> Model:
        """Sums on the axes of the model, about its origin."""
        n, stats = self.running.sums()
        return model + replace(model, counts=replace(model.counts, sums={"n": n}), stats=stats)


class RowsKept:
    """Copies of the batches, to be added up together."""

    def __init__(self, X: NumberRows, y: Cells, model: Model) -> None:
        cells = len(X.data) // max(X.shape[0], 1) if is_sparse(X) else X.shape[1]
        self.kind, self.most, self.rows = type(X), min(MOST_ROWS, MOST_CELLS // (cells or 1)), 0
        self.y = np.empty(self.most, y.dtype)
        self.dense = np.empty((self.most, X.shape[1]), X.dtype) if self.kind is np.ndarray else None
        self.width, self.family = X.shape[1], model.family
        self.sparse: list[tuple[Cells, Cells, Cells]] = []  # row lengths, columns, values

    def has_room(self, n: int) -> bool:
        """Whether so many rows more can be kept."""
        return self.rows + n <= self.most

    def add(self, X: Matrix, y: Cells) -> bool:
        """Keep a copy, where there is room and a quick look shows that nothing is wrong."""
        X = cast("NumberRows", X)  # as the first
        if (
            self.kind is not type(X)
            or not self.has_room(len(y))
            or len(y) > self.most // 4
            or y.dtype != self.y.dtype
            or X.dtype.kind not in "fiu"
            or (self.dense is not None and self.dense.dtype != X.dtype)
            or not self.family.surely_valid(X)
        ):
            return False
        stop = self.rows + len(y)
        self.y[self.rows : stop] = y
        if self.dense is not None:
            self.dense[self.rows : stop] = cast("Array", X)
        elif is_sparse(X):
            self.sparse.append((np.diff(X.indptr), X.indices.copy(), X.data.copy()))
        self.rows = stop
        return True

    def learned_by(self, model: Model) -> Model:
        """All batches learned as one."""
        X = self.dense[: self.rows] if self.dense is not None else self._joined()
        return model.learn(X, Rows.of(self.y[: self.rows]))

    def _joined(self) -> Csr:
        lengths, columns, values = (np.concatenate(parts) for parts in zip(*self.sparse, strict=True))
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return cast("type[sparse.csr_array]", self.kind)((values, columns, ends), shape=(self.rows, self.width))


class Waiting(NamedTuple):
    """A model, and what is to become part of it: rows, and models of batches that brought something new."""

    model: Model
    rows: RowsInSums | RowsKept | None = None
    models: tuple[tuple[int, Model], ...] = ()  # how many batches each is of, the largest first

    def total(self) -> Model:
        """The model with all of it."""
        model = self.model if self.rows is None else self.rows.learned_by(self.model)
        parts = [part for _, part in reversed(self.models)]
        for part in parts[1:]:
            parts[0] = part + parts[0]
        return model + parts[0] if parts else model


class Batches:
    """A model and the batches that wait to become part of it, until ``total`` is asked for; after that none is taken.

    Rows are taken as they come, where a quick look shows that nothing is wrong with them.  Batches that needed a closer
    look (a new class, a new category, a pattern of missing values) wait as models of their own, added up in pairs of
    about the same size, as a binary counter carries: n of them cost n log n, where adding each to the model would copy
    all that is there n times.

    Any thread may ask for the total while another adds: a batch is part of it, or it is not taken.
    """

    def __init__(self, model: Model, remarks: WarningCollector) -> None:
        self._lock, self.open = threading.Lock(), True  # open: whether batches are taken
        self._remarks = remarks
        self.waiting = Waiting(model)  # replaced as a whole

    def add_rows(self, X: Matrix, y: Cells) -> bool:
        """Take a batch as it is; False, and nothing taken, where it needs a closer look."""
        with self._lock:
            if not self.open:
                return False
            model, rows, models = self.waiting
            if rows is not None:
                if rows.add(X, y):
                    return True
                if rows.has_room(len(y)):
                    return False  # it needs a closer look, and may then wait beside the others
                model, models = self._total(), ()
            rows = _begun(X, y, model)
            self.waiting = Waiting(model, rows, models)
            return rows is not None

    def add(self, model: Model) -> bool:
        """Take the model of a batch; False where none is taken any more."""
        with self._lock:
            if self.open:
                n, models = 1, self.waiting.models
                while models and models[-1][0] == n:
                    n, model, models = 2 * n, models[-1][1] + model, models[:-1]
                self.waiting = self.waiting._replace(models=(*models, (n, model)))
            return self.open

    def total(self) -> Model:
        """The model with all batches learned; none is taken after this."""
        with self._lock:
            self.open = False
            return self._total()

    def _total(self) -> Model:
        with self._remarks.collected():
            return self.waiting.total()


def _begun(X: Matrix, y: Cells, model: Model) -> RowsInSums | RowsKept | None:
    """The batch as the first of those that wait; None where it needs a closer look."""
    running = model.family.running(model.sums) if y.dtype in (np.int32, np.int64) else None
    if running is not None:
        sums = RowsInSums(running, y.dtype)
        if sums.add(X, y):
            return sums
    kept = RowsKept(cast("NumberRows", X), y, model)
    return kept if kept.add(X, y) else None
