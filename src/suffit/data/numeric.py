"""Rows of numbers as users give them: objects become float64, missing ones NaN; dates and words are refused."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from sklearn.utils import check_array

from .arrays import Array
from .column import DATE, DATES, Column, SeriesColumn, WordColumn, numbers_of, unreadable
from .errors import InputError, refuse
from .frame import check_unique, frame_names, is_frame, read_frame, unmasked
from .matrices import Matrix, is_sparse
from .rows import is_missing
from .validate import ColumnNames


def read_matrix(X: object, words_way_out: str, accept_sparse: Sequence[str] | bool, estimator: object) -> Matrix:
    """X as rows of numbers, dense or CSR, for this estimator; what is no such table is refused."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub" and X.size:
        return X  # what check_array would return after some 40 µs
    X = check_array(
        as_numbers(X, words_way_out),
        accept_sparse=accept_sparse,
        dtype="numeric",
        ensure_all_finite=False,
        estimator=estimator,
        input_name="X",
    )
    return X.tocsr() if is_sparse(X) else X


def as_numbers(X: object, words_way_out: str) -> object:
    """A table whose cells are objects, words or dates as float64; any other, and what is no table, as it is."""
    if is_sparse(X):
        return X
    _check_rows(X, words_way_out)
    if is_frame(X):
        check_unique(frame_names(X))
        return X if _holds_numbers(X) else _stacked(X, words_way_out)
    cells = _array(X)
    if not isinstance(cells, np.ndarray) or cells.ndim != 2 or not cells.size:
        return cells
    names, kind = ColumnNames(cells.shape[1]), cells.dtype.kind
    if kind in "Mm":
        raise unreadable(names[0], DATE)
    if kind == "O":
        return _cells_as_numbers(cells.reshape(-1).tolist(), names, words_way_out)
    if kind in "US":  # NumPy makes words of the numbers beside them: look at what was given
        return _cells_as_numbers(np.array(X, dtype=object).reshape(-1).tolist(), names, words_way_out, words=False)
    return cells


def _check_rows(X: Any, words_way_out: str) -> None:
    """Refuse rows that are texts, or dicts and records, before they are taken for something else."""
    if getattr(getattr(X, "dtype", None), "names", None):
        raise InputError("X is an array of records; convert it to a table: pd.DataFrame(X)")
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        raise InputError("X is a list of dicts, one for each row; convert it to a table: pd.DataFrame(X)")
    one = len(getattr(X, "shape", ())) == 1 if hasattr(X, "shape") else isinstance(X, list | tuple)
    if one and len(X) and isinstance(next(iter(X)), str):
        first = str(next(iter(X)))
        raise InputError(
            f"Expected 2D array, got 1D array instead: X is a list of texts, the first {first!r}; {words_way_out}"
        )


def _array(X: object) -> object:
    """Nested lists and masked arrays as arrays; anything else, and lists of different lengths, as it is."""
    if isinstance(X, np.ma.MaskedArray):
        return unmasked(X)
    try:
        return np.asarray(X) if isinstance(X, list | tuple) else X
    except ValueError:
        return X


def _holds_numbers(X: object) -> bool:
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


def _stacked(X: object, words_way_out: str) -> Array:
    frame = read_frame(X)
    out = np.empty((frame.n_rows, len(frame.names)))
    for j, (name, column) in enumerate(frame.columns.items()):
        out[:, j] = _column(name, column, words_way_out)
    return out


def _column(name: str, column: Column, words_way_out: str) -> Array:
    """One column of a data frame."""
    if isinstance(column, WordColumn):
        column = column.series
    if isinstance(column, SeriesColumn) and not column.series.dtype.is_numeric():
        return _cells_as_numbers(column.series.to_list(), [name], words_way_out)[:, 0]
    return column.numbers()


def _cells_as_numbers(cells: list[object], names: Sequence[str], words_way_out: str, words: bool = True) -> Array:
    """Cells row by row; the first that is no number is refused, and with ``words=False`` any word.  # → (n, p)"""
    try:
        if words:
            return numbers_of(cells).reshape(-1, len(names))
    except (TypeError, ValueError, OverflowError):
        pass  # which cell it is, is said below
    for k, cell in enumerate(cells):
        if not is_missing(cell):
            _check_cell(cell, names, k, words, words_way_out)
    raise AssertionError("one of the cells is no number")


def _check_cell(cell: object, names: Sequence[str], k: int, words: bool, words_way_out: str) -> None:
    row, j = divmod(k, len(names))
    if isinstance(cell, DATES):
        raise unreadable(names[j], DATE)
    text = isinstance(cell, str | bytes)
    try:
        float(cast(float, cell))
    except OverflowError:
        what, way = "numbers must fit into float64", "rescale or drop the column"
        raise refuse(names, j, what, "a number beyond 1.8e308", row, way) from None
    except (TypeError, ValueError):
        if not text:
            raise TypeError(
                f"column {names[j]!r}: the argument must be a string or a real number, found "
                f"{type(cell).__name__} in row {row}; use one number per cell, or drop the column"
            ) from None
        words = False
    if text and not words:
        what = "expected numbers (could not convert string to float)"
        raise refuse(names, j, what, repr(cell), row, words_way_out)
