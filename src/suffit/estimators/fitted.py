"""The state of a fitted estimator: one frozen object, replaced whole, so that readers never see half a change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..model import Model, Solution
from ..stats import Array, Index
from ..table import Matrix, Rows, encode, freeze

PENDING_ROWS = 4096  # small batches are added up together once there are so many rows
PENDING_CELLS = 1 << 18

gathering = threading.Lock()  # held while pending batches are added up


@dataclass(frozen=True)
class Fitted:
    """Sums, the class prior that goes with them, and how labels and attributes are shown."""

    model: Model
    prior: Array  # p(c), in class order
    given: bool  # whether the prior was set with with_prior
    labels: np.dtype[Any] | None
    floats: np.dtype[Any]
    decision_prior: Callable[[Array], Array]  # the log prior that predictions use

    @cached_property
    def solution(self) -> Solution:
        """Solved when first asked; another thread that asks at the same time gets an equal one."""
        return self.model.solved(self.decision_prior(self.prior))

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


def most_pending(X: Matrix) -> int:
    """How many rows like these wait at most: by their cells, or by what sparse rows store."""
    cells = X.shape[1] if type(X) is np.ndarray else len(X.data) // max(X.shape[0], 1)
    return min(PENDING_ROWS, PENDING_CELLS // (cells or 1))


class Pending:
    """Small batches that have been checked and wait to be added up together."""

    def __init__(self, X: Matrix, y: NDArray[Any]) -> None:
        most = most_pending(X) + 1
        self.kind, self.most, self.rows = type(X), most, 0
        self.y = np.empty(most, y.dtype)
        self.dense = np.empty((most, X.shape[1]), X.dtype) if self.kind is np.ndarray else None
        self.width = X.shape[1]
        self.sparse: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []  # row lengths, columns, values

    def takes(self, X: Matrix, y: NDArray[Any]) -> bool:
        """Whether a batch is of the same kind, and fits in."""
        return (
            self.kind is type(X)
            and self.rows + len(y) <= self.most
            and (self.dense is None or self.dense.dtype == X.dtype)
        )

    def add(self, X: Matrix, y: NDArray[Any]) -> bool:
        """Keep a copy of one batch; True when it is time to add them up."""
        start, self.rows = self.rows, self.rows + len(y)
        self.y[start : self.rows] = y
        if self.dense is not None:
            self.dense[start : self.rows] = X
        else:
            self.sparse.append((np.diff(X.indptr), X.indices.copy(), X.data.copy()))
        return self.rows >= self.most - 1

    def gathered(self) -> tuple[Matrix, Rows]:
        """All batches as one."""
        X = self.dense[: self.rows] if self.dense is not None else self._joined()
        labels, codes = encode(self.y[: self.rows])
        return X, Rows(Index.of(labels), freeze(codes))

    def _joined(self) -> Matrix:
        lengths, columns, values = (np.concatenate(parts) for parts in zip(*self.sparse, strict=True))
        ends = np.concatenate([[0], np.cumsum(lengths)])
        return self.kind((values, columns, ends), shape=(self.rows, self.width))


def log_prior(prior: Array) -> Array:
    """log p(c)."""
    with np.errstate(divide="ignore"):
        return np.log(prior)


def no_prior(prior: Array) -> Array:
    """0 for every class: a rule that takes no prior, except where there is nothing to decide."""
    return log_prior(prior) if len(prior) == 1 else np.zeros(len(prior))
