"""Any table as named columns: data frames of any library, Arrow tables, dicts of columns and plain arrays."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from numbers import Real
from typing import Any, cast

import numpy as np

from .arrays import Array, Cells, RowIndex, is_sparse
from .column import ArrayColumn, Column, SeriesColumn, T, WordColumn, as_objects
from .errors import InputError
from .write import native_column

WORDS = "for texts use TextNB(), which takes them as they are"
WORDS_OR_TABLE = f"{WORDS}, and for a table of words beside numbers GenerativeClassifier()"


@dataclass(frozen=True)
class Frame:
    """A table: columns by name, and what kind of table it was, so that another like it can be made."""

    columns: Mapping[str, Column]
    n_rows: int
    like: Template
    native: object = None  # the table itself

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(self.columns)

    def rows(self, which: RowIndex) -> Frame:
        """Some of the rows."""
        columns = {name: column.rows(which) for name, column in self.columns.items()}
        n = len(range(*which.indices(self.n_rows))) if isinstance(which, slice) else len(which)
        return replace(self, columns=columns, n_rows=n, native=None)

    def filled(self, values: Mapping[str, Cells]) -> Any:
        """The same table with its missing values filled: ``values`` has a whole column of fills for each name."""
        columns: dict[str, object] = {}
        for name, column in self.columns.items():
            missing = column.missing() if name in values else np.zeros(0, bool)
            if missing.any():
                fill = column.filled(missing, values[name][missing])
                foreign = self.like.form in ("polars", "pyarrow") and isinstance(fill, np.ndarray)
                columns[name] = native_column(fill, self.like.form, self.like.types.get(name)) if foreign else fill
        return self.like.with_columns(self.native, self, columns)


@dataclass(frozen=True)
class Template:
    """The kind of a table: an array, a dict of columns, or a data frame of some library with its column types."""

    form: str  # "array", "dict" or the name of a library
    types: Mapping[str, object]

    def make(self, columns: Mapping[str, Cells]) -> Any:
        """A table of this kind with these columns, of the types they had as far as the values fit."""
        if self.form not in ("array", "dict"):
            return self._joined({k: native_column(v, self.form, self.types.get(k)) for k, v in columns.items()})
        return self._joined(columns)

    def with_columns(self, native: Any, frame: Frame, columns: Mapping[str, object]) -> Any:
        """A table with some columns replaced, everything else about it as it was."""
        if self.form in ("array", "dict"):
            return self._joined({k: columns.get(k, c.cells()) for k, c in frame.columns.items()})
        if self.form == "polars":
            return native.with_columns(**columns)
        if self.form == "pyarrow":
            for i, name in enumerate(frame.names):
                if name in columns:
                    native = native.set_column(i, name, columns[name])
            return native
        out = native.copy()
        for i, name in enumerate(frame.names):
            if name in columns:
                out.isetitem(i, columns[name])
        return out

    def _joined(self, columns: Mapping[str, object]) -> Any:
        """A table of columns that are of its kind already."""
        if self.form == "dict":
            return dict(columns)
        if self.form == "array":
            stacked = (
                np.column_stack([np.asarray(values) for values in columns.values()]) if columns else np.empty((0, 0))
            )
            return stacked if stacked.dtype.kind != "O" else stacked.astype(object)
        library = import_module(self.form)
        return library.table(dict(columns)) if self.form == "pyarrow" else library.DataFrame(dict(columns))


def table_form(X: object) -> str:
    """The kind of a table, as a :class:`Template` names it, without reading it."""
    if isinstance(X, Mapping):
        return "dict"
    library = type(X).__module__.split(".")[0]
    return library if library in ("pandas", "polars", "pyarrow") else "array"


def form_to_read(form: str) -> str:
    """The kind of a table that is made to be read: for plain arrays pandas where it is installed, else a dict."""
    return form if form != "array" else "pandas" if find_spec("pandas") else "dict"


def is_frame(X: object) -> bool:
    """Whether X is a data frame of some library."""
    if isinstance(X, np.ndarray | list | tuple):
        return False
    known = type(X)  # a lazy frame warns where it is itself asked for its columns
    return hasattr(known, "columns") or hasattr(known, "column_names") or "columns" in getattr(X, "__dict__", ())


def frame_names(X: Any) -> list[str]:
    """The column names of a data frame, which must hold its rows."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame without rows; call X.collect() first")
    return list(map(str, X.column_names if hasattr(X, "column_names") else X.columns))


def read_frame(X: object) -> Frame:
    """A table of whatever kind as a :class:`Frame`."""
    if is_sparse(X):
        raise TypeError(
            "Sparse data was passed for X, but a table of named columns is needed; use X.toarray(), or MultinomialNB, "
            "BernoulliNB and the like, which take sparse input"
        )
    if isinstance(X, Mapping):
        return _from_dict(X)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _from_pandas(X)
    if is_frame(X):
        return _from_native(X)
    if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        return _from_dict({name: [row.get(name) for row in X] for name in {key: None for row in X for key in row}})
    if isinstance(X, np.ndarray) and X.dtype.names:
        return _from_dict({name: X[name] for name in X.dtype.names})
    return _from_array(X)


def _from_native(X: Any) -> Frame:
    import narwhals as nw

    if type(X).__name__ == "RecordBatch":
        X = import_module("pyarrow").Table.from_batches([X])
    check_unique(frame_names(X))
    frame = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("X is a lazy frame without rows; call X.collect() first")
    names = list(map(str, frame.columns))
    _check_size(len(frame), len(names))
    form = frame.implementation.name.lower()
    natives = [s.to_native() for s in frame.iter_columns()]
    types = {name: s.type if form == "pyarrow" else s.dtype for name, s in zip(names, natives, strict=True)}
    columns = {name: SeriesColumn(s) for name, s in zip(names, natives, strict=True)}
    return Frame(columns, len(frame), Template(form, types), X)


def _from_pandas(X: Any) -> Frame:
    """Columns as the arrays that they are, where these are of NumPy or Arrow: a series of each would cost more."""
    names = list(map(str, X.columns.tolist()))
    check_unique(names)
    _check_size(len(X), len(names))
    arrays = X._iter_column_arrays() if hasattr(X, "_iter_column_arrays") else [s.values for _, s in X.items()]
    columns: dict[str, Column] = {}
    types: dict[str, object] = {}
    for j, (name, values) in enumerate(zip(names, arrays, strict=True)):
        types[name] = dtype = values.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            plain = np.asarray(values).view()
            plain.flags.writeable = False
            columns[name] = ArrayColumn(plain)
        elif getattr(dtype, "storage", None) == "pyarrow" and dtype.name in ("str", "string"):
            columns[name] = WordColumn(values.__arrow_array__(), partial(_column_of, X, j))
        else:
            columns[name] = SeriesColumn(_column_of(X, j))
    return Frame(columns, len(X), Template("pandas", types), X)


def _column_of(X: Any, j: int) -> Any:
    return X.iloc[:, j]


def _from_dict(X: Mapping[Hashable, object]) -> Frame:
    names = list(map(str, X))
    check_unique(names)
    columns: dict[str, Column] = {}
    lengths = {}
    for name, values in zip(names, X.values(), strict=True):
        column = ArrayColumn(_one_column(values, name))
        columns[name], lengths[name] = column, len(column.values)
    if len(set(lengths.values())) > 1:
        raise InputError(f"the columns have different lengths: {lengths}; every column needs one value for each row")
    n = next(iter(lengths.values()), 0)
    _check_size(n, len(names))
    return Frame(columns, n, Template("dict", {}))


def _one_column(values: object, name: str) -> Cells:
    if isinstance(values, str | bytes | Mapping) or not np.iterable(values):
        raise InputError(
            f"column {name!r}: a dict must hold a list of values for each column, found {values!r}; for a single row "
            "use lists of one value"
        )
    values = unmasked(values)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InputError(f"column {name!r}: expected one value for each row, found an array of shape {values.shape}")
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "to_pylist"):
        return as_objects(values.to_pylist())
    if hasattr(values, "to_numpy") and not isinstance(values, Sequence):
        return _one_column(np.asarray(values.to_numpy()), name)
    return as_objects(list(cast("Iterable[object]", values)))


def unmasked(X: T, of_numbers: type = float) -> T | Cells:
    """A masked array with NaN (or None) where it is masked; anything else as it is."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    mask = np.ma.getmaskarray(X)
    if not mask.any():
        return np.asarray(X.data)
    plain: Array = np.asarray(X.data).astype(of_numbers if X.dtype.kind in "fiu" else object)
    plain[mask] = cast("float", np.nan if plain.dtype.kind == "f" else None)
    return plain


def refuse_list_of_texts(X: object) -> None:
    """Refuse texts where rows are expected: what somebody who has texts gives to a model of columns."""
    one = len(getattr(X, "shape", ())) == 1 if hasattr(X, "shape") else isinstance(X, list | tuple)
    if one and isinstance(first := next(iter(cast("Iterable[object]", X)), None), str):
        raise InputError(
            f"Expected 2D array, got 1D array instead: X is a list of texts, the first {str(first)!r}; {WORDS}; or, if "
            "they are categories, GenerativeClassifier or CategoricalNB with a row for each, [[x] for x in X]"
        )


def _from_array(X: object) -> Frame:
    X = unmasked(X)
    if not isinstance(X, np.ndarray):
        cells = np.array(X, dtype=object) if _is_grid(X) else np.asarray(X)
        X = cells
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: columns must hold real numbers, categories or booleans")
    refuse_list_of_texts(X)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: array={X!r}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single "
            "sample."
        )
    _check_size(*X.shape)
    columns: dict[str, Column] = {}
    for j in range(X.shape[1]):
        values = X[:, j]
        columns[f"x{j}"] = ArrayColumn(as_objects(values.tolist()) if X.dtype.kind == "O" else values)
    return Frame(columns, X.shape[0], Template("array", {}))


def _is_grid(X: object) -> bool:
    """Rows of equal length that are not all numbers: read cell by cell."""
    if not isinstance(X, list | tuple) or not X or not all(isinstance(row, list | tuple) for row in X):
        return False
    return len({len(row) for row in X}) == 1 and not all(isinstance(v, Real) for row in X for v in row)


def _check_size(n: int, p: int) -> None:
    if n == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape=({n}, {p})) while a minimum of 1 is required.")
    if p == 0:
        raise ValueError(f"0 feature(s) (shape=({n}, {p})) while a minimum of 1 is required.")


def check_unique(names: Sequence[str]) -> None:
    """Refuse two columns of the same name."""
    if len(set(names)) < len(names):
        times = Counter(names)
        double = [name for name, n in times.items() if n > 1]
        raise InputError(f"column {double[0]!r} occurs {times[double[0]]} times; column names must be unique")
