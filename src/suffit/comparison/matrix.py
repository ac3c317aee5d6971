"""Any table as a matrix for models of other libraries: numbers scaled, categories as indicators, gaps filled."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from ..data.arrays import Array
from ..data.column import BOOLEAN, INTEGER, NUMBER, Column
from ..data.frame import read_frame

NUMERIC = (NUMBER, INTEGER, BOOLEAN)
LEAST_OF_CATEGORY, MOST_CATEGORIES = 2, 50  # rows of a category that has an indicator; of a column, the most frequent
LEAST_SHARE, MOST_JOINT = 0.02, 10  # likewise where the indicators have a covariance: the share of the rows


class TableMatrix(TransformerMixin, BaseEstimator):
    """Columns of numbers, scaled, and an indicator for each category: what linear models of other libraries need.

    Parameters
    ----------
    fill : bool
        Whether missing numbers become the median, and a missing category a row of zeros.  Otherwise they stay missing,
        the most frequent category of a column has no indicator (they would add up to one), nor has a rare one, and
        numbers are not scaled.
    """

    def __init__(self, fill: bool = True) -> None:
        self.fill = fill

    def fit(self, X: object, y: object = None) -> Self:
        """Find medians, scales and categories."""
        frame = read_frame(X)
        self.numbers_: dict[str, tuple[float, float, float]] = {}  # median, mean, deviation
        self.categories_: dict[str, list[Hashable]] = {}
        for name, column in frame.columns.items():
            if column.kind() in NUMERIC:
                self.numbers_[name] = _summary(column.numbers())
            else:
                self.categories_[name] = self._frequent(column)
        return self

    def _frequent(self, column: Column) -> list[Hashable]:
        """The categories of a column that have an indicator, the most frequent first."""
        values, codes = column.categories()
        counts = np.bincount(codes[codes >= 0], minlength=len(values))
        order = np.argsort(-counts, kind="stable")
        if self.fill:
            return [values[i] for i in order[:MOST_CATEGORIES].tolist() if counts[i] >= LEAST_OF_CATEGORY]
        return [values[i] for i in order[1 : MOST_JOINT + 1].tolist() if counts[i] >= LEAST_SHARE * len(codes)]

    def transform(self, X: object) -> Array:
        """The matrix: the columns of numbers, then the indicators."""
        columns = read_frame(X).columns
        parts = [self._number(name, columns[name].numbers())[:, None] for name in self.numbers_]
        parts += [self._indicators(columns[name], known) for name, known in self.categories_.items()]
        return np.hstack(parts)

    def _number(self, name: str, x: Array) -> Array:
        median, mean, deviation = self.numbers_[name]
        return (np.where(np.isnan(x), median, x) - mean) / deviation if self.fill else x

    def _indicators(self, column: Column, known: list[Hashable]) -> Array:
        values, codes = column.categories()
        place = {v: i for i, v in enumerate(known)}
        table = np.zeros((len(values) + 1, len(known)))
        for i, v in enumerate(values):
            if v in place:
                table[i, place[v]] = 1.0
        if not self.fill:
            table[-1] = np.nan  # of a missing value, whose code is −1
        return table[codes]


def _summary(x: Array) -> tuple[float, float, float]:
    here = x[np.isfinite(x)]
    if not len(here):
        return 0.0, 0.0, 1.0
    median = float(np.median(here))
    filled = np.where(np.isfinite(x), x, median)
    return median, float(filled.mean()), float(filled.std()) or 1.0


def has_missing(X: object) -> bool:
    """Whether any cell of a table is missing."""
    return any(bool(column.missing().any()) for column in read_frame(X).columns.values())


def all_numbers(X: object) -> bool:
    """Whether every column holds numbers."""
    return all(column.kind() in NUMERIC for column in read_frame(X).columns.values())
