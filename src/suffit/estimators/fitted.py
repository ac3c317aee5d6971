"""The state of a fitted estimator: one frozen object, replaced whole, so that readers never see half a change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.family import Family, Running
from ..core.model import Model
from ..core.solution import Solution
from ..data.arrays import Array
from ..data.matrices import Matrix
from ..data.rows import Rows
from ..data.warn import WarningCollector
from ..posterior.calibrate import Calibration

PENDING_ROWS = 4096  # small batches are added up together once there are so many rows
PENDING_CELLS = 1 << 18


@dataclass(frozen=True)
class Fitted:
    """Sums, the class prior that goes with them, and how labels and attributes are shown."""

    model: Model
    prior: Array  # p(c), in class order
    given: bool  # whether the prior was set with with_prior
    labels: np.dtype[Any] | None
    floats: np.dtype[Any]
    decision_prior: Callable[[Array], Array]  # the log prior that predictions use
    calibration: Calibration | None = None
    remarks: WarningCollector = field(default_factory=WarningCollector, compare=False)  # what has been said of the rows

    @cached_property
    def solution(self) -> Solution:
        """Solved when first asked; another thread that asks at the same time gets an equal one."""
        with self.remarks.collected():
            return self.model.solved(self.decision_prior(self.prior), *tempering(self.calibration))

    @property
    def maps(self) -> bool:
        """Whether probabilities go through the maps of a calibration."""
        return self.calibration is not None and bool(self.calibration.maps)

    def posterior(self, X: Matrix) -> Array:
        """p(c | x), calibrated where it is asked for.  # → (n, K)"""
        if self.calibration is None:
            return self.solution.posterior(X)
        return self.calibration.posterior(self.solution, X)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels as an array of the type they came in."""
        labels, dtype = self.model.classes, self.labels
        if dtype is None or dtype.kind == "O":
            out = np.empty(len(labels), dtype=object)
            out[:] = labels
            return out
        return np.array(labels) if dtype.kind in "US" else np.array(labels, dtype=dtype)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "solution"}  # a pickle holds the sums


class Pending:
    """Small batches that have been checked and wait to become part of the model.

    Batches that brought something new (a class, a category, a pattern of missing values) wait as models of their own,
    added up in pairs of about the same size, as a binary counter carries: n of them cost n log n, where adding each to
    the model would copy all that is there n times.

    ``lock`` is held while one is added and while they become part of it: by the thread that changes the model and by
    any that reads it.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.models: list[tuple[int, Model]] = []  # how many batches each is of, the largest first

    def add(self, X: Matrix, y: NDArray[Any]) -> bool:
        """Take one batch; False, and nothing taken, where it is of another kind or needs a closer look."""
        return False

    def take(self, model: Model) -> None:
        """Take one batch that has been added up."""
        n = 1
        while self.models and self.models[-1][0] == n:
            n, model = 2 * n, self.models.pop()[1] + model
        self.models.append((n, model))

    def added_to(self, model: Model) -> Model:
        """The model with all batches learned."""
        parts = [part for _, part in reversed(self.models)]
        for part in parts[1:]:
            parts[0] = part + parts[0]
        return model + parts[0] if parts else model


class PendingSums(Pending):
    """Batches that are in running sums already."""

    def __init__(self, running: Running, labels: np.dtype[Any]) -> None:
        super().__init__()
        self.running, self.labels = running, labels

    def add(self, X: Matrix, y: NDArray[Any]) -> bool:
        """Add to the sums."""
        return y.dtype == self.labels and self.running.add(X, y)

    def added_to(self, model: Model) -> Model:
        """Sums on the axes of the model, about its origin."""
        n, stats = self.running.sums()
        model = model + replace(model, counts=replace(model.counts, sums={"n": n}), stats=stats)
        return super().added_to(model)


class PendingRows(Pending):
    """Copies of the batches, to be added up together."""

    def __init__(self, X: Matrix, y: NDArray[Any], family: Family) -> None:
        super().__init__()
        cells = X.shape[1] if type(X) is np.ndarray else len(X.data) // max(X.shape[0], 1)
        self.kind, self.most, self.rows = type(X), min(PENDING_ROWS, PENDING_CELLS // (cells or 1)), 0
        self.y = np.empty(self.most, y.dtype)
        self.dense = np.empty((self.most, X.shape[1]), X.dtype) if self.kind is np.ndarray else None
        self.width, self.family = X.shape[1], family
        self.sparse: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []  # row lengths, columns, values

    def add(self, X: Matrix, y: NDArray[Any]) -> bool:
        """Keep a copy, where there is room and a quick look shows that nothing is wrong."""
        stop = self.rows + len(y)
        if (
            self.kind is not type(X)
            or stop > self.most
            or len(y) > self.most // 4
            or y.dtype != self.y.dtype
            or X.dtype.kind not in "fiu"
            or (self.dense is not None and self.dense.dtype != X.dtype)
            or not self.family.surely_valid(X)
        ):
            return False
        self.y[self.rows : stop] = y
        if self.dense is not None:
            self.dense[self.rows : stop] = X
        else:
            self.sparse.append((np.diff(X.indptr), X.indices.copy(), X.data.copy()))
        self.rows = stop
        return True

    def added_to(self, model: Model) -> Model:
        """All batches learned as one."""
        X = self.dense[: self.rows] if self.dense is not None else self._joined()
        return super().added_to(model.learn(X, Rows.of(self.y[: self.rows])))

    def _joined(self) -> Matrix:
        lengths, columns, values = (np.concatenate(parts) for parts in zip(*self.sparse, strict=True))
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return self.kind((values, columns, ends), shape=(self.rows, self.width))


def tempering(calibration: Calibration | None) -> tuple[float, float | None]:
    """The power and the outlier rate of a calibration; without one 1, and whatever the family has."""
    return (1.0, None) if calibration is None else (calibration.power, calibration.outlier_rate)


def log_prior(prior: Array) -> Array:
    """log p(c)."""
    with np.errstate(divide="ignore"):
        return np.log(prior)


def no_prior(prior: Array) -> Array:
    """0 for every class: a rule that takes no prior, except where there is nothing to decide."""
    return log_prior(prior) if prior.shape[-1] == 1 else np.zeros(prior.shape)
