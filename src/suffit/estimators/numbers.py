"""Rows of numbers as users give them: objects become float64, missing ones NaN; dates and words are refused."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..frame import check_unique, frame_names, is_frame, read_frame, unmasked
from ..series import DATE, DATES, Column, SeriesColumn, WordColumn, numbers_of, unreadable
from ..stats import Array
from ..table import is_missing, is_sparse, refuse
from .reading import ColumnNames


def as_numbers(X: Any) -> Any:
    """A table whose cells are objects, words or dates as float64; any other, and what is no table, as it is."""
    if is_sparse(X):
        return X
    if is_frame(X):
        check_unique(frame_names(X))
        return X if _holds_numbers(X) else _stacked(X)
    cells = _array(X)
    if not isinstance(cells, np.ndarray) or cells.ndim != 2 or not cells.size:
        return cells
    names, kind = ColumnNames(cells.shape[1]), cells.dtype.kind
    if kind in "Mm":
        raise unreadable(names[0], DATE)
    if kind == "O":
        return _cells_as_numbers(cells.reshape(-1).tolist(), names)
    if kind in "US":  # NumPy makes words of the numbers beside them: look at what was given
        return _cells_as_numbers(np.array(X, dtype=object).reshape(-1).tolist(), names, words=False)
    return cells


def _array(X: Any) -> Any:
    """Nested lists and masked arrays as arrays; anything else, and lists of different lengths, as it is."""
    if isinstance(X, np.ma.MaskedArray):
        return unmasked(X)
    try:
        return np.asarray(X) if isinstance(X, list | tuple) else X
    except ValueError:
        return X


def _holds_numbers(X: Any) -> bool:
    """Whether the types of a data frame's columns are all of numbers."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return all(dtype.kind in "biufc" for dtype in X.dtypes)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.DataFrame):
        return all(dtype.is_numeric() or dtype == polars.Boolean for dtype in X.dtypes)
    import narwhals as nw

    frame = nw.from_native(X, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return False
    return all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values())


def _stacked(X: Any) -> Array:
    frame = read_frame(X)
    out = np.empty((frame.n_rows, len(frame.names)))
    for j, (name, column) in enumerate(frame.columns.items()):
        out[:, j] = _column(name, column)
    return out


def _column(name: str, column: Column) -> Array:
    """One column of a data frame."""
    if isinstance(column, WordColumn):
        column = column.series
    if isinstance(column, SeriesColumn) and not column.series.dtype.is_numeric():
        return _cells_as_numbers(column.series.to_list(), [name])[:, 0]
    return column.numbers()


def _cells_as_numbers(cells: list[Any], names: Sequence[str], words: bool = True) -> Array:
    """Cells row by row; the first that is no number is refused, and with ``words=False`` any word.  # → (n, p)"""
    try:
        if words:
            return numbers_of(cells).reshape(-1, len(names))
    except (TypeError, ValueError, OverflowError):
        pass  # which cell it is, is said below
    for k, cell in enumerate(cells):
        if not is_missing(cell):
            _check_cell(cell, names, k, words)
    raise AssertionError("one of the cells is no number")


def _check_cell(cell: Any, names: Sequence[str], k: int, words: bool) -> None:
    row, j = divmod(k, len(names))
    if isinstance(cell, DATES):
        raise unreadable(names[j], DATE)
    text = isinstance(cell, str | bytes)
    try:
        float(cell)
    except OverflowError:
        what, way = "numbers must fit into float64", "rescale or drop the column"
        raise refuse(names, j, what, "one beyond 1.8e308", row, way) from None
    except (TypeError, ValueError):
        if not text:
            raise TypeError(
                f"column {names[j]!r}: the argument must be a string or a real number, found "
                f"{type(cell).__name__} in row {row}; make columns of single numbers of it, or drop it"
            ) from None
        words = False
    if text and not words:
        what = "numbers are needed (could not convert string to float)"
        way = "encode it as numbers or drop it, or use GenerativeClassifier, which takes words"
        raise refuse(names, j, what, repr(cell), row, way)
