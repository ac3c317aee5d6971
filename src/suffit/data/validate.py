"""Rows of numbers, labels, weights, column names, priors and families' settings as users give them, checked.

Objects become float64, missing ones NaN; dates and words are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from .arrays import Array, Cells, Codes, Matrix, is_sparse
from .column import DATE, DATES, ArrayColumn, Column, SeriesColumn, WordColumn, as_objects, numbers_of, unreadable
from .errors import InputError, refuse
from .frame import check_unique, frame_names, is_frame, read_frame, refuse_list_of_texts, unmasked
from .inputs import LabelsLike, RandomState, WeightsLike
from .labels import Index
from .rows import is_missing

Labels = Sequence[Hashable]
Prior = Mapping[Hashable, float] | ArrayLike | str | None
MOST_WEIGHT = 1e100  # of a row: products of weights have to be finite


class ColumnNames(Sequence[str]):
    """x0, x1, …: names for columns that have none, made when asked for; any of them where nobody knows how many (0)."""

    def __init__(self, n: int, prefix: str = "x") -> None:
        self.n, self.prefix = n, prefix

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(self.n))

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[str]: ...
    def __getitem__(self, i: int | slice) -> str | Sequence[str]:
        if isinstance(i, slice):
            return tuple(f"{self.prefix}{j}" for j in range(self.n)[i])
        return f"{self.prefix}{range(self.n or i + 1)[i]}"


UNNAMED = ColumnNames(0)


class OfColumns:
    """What is about columns, and knows how they are called, to say so in errors, warnings and forms.

    The names are no setting, and no part of what it is: they do not count where two are compared, and no file has them.
    """

    columns: Sequence[str] = UNNAMED

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "columns" in {*vars(cls), *vars(cls).get("__annotations__", ())}:
            raise TypeError(f"{cls.__name__}.columns: these are the names of its columns; call the setting otherwise")
        if vars(cls).get("__slots__"):
            raise TypeError(f"{cls.__name__}: what it holds must be in its __dict__; leave slots=True away")

    def of(self, columns: Sequence[str]) -> Self:
        """The same, of columns with these names."""
        if self.columns is columns:
            return self
        named = object.__new__(type(self))
        named.__dict__.update(self.__dict__, columns=columns)
        return named


def column_names(X: object, n: int, prefix: str = "x") -> Sequence[str]:
    """The names of a data frame's columns, or x0, x1, …"""
    names = () if isinstance(X, np.ndarray) or not is_frame(X) else frame_names(X)
    return tuple(names) if len(names) == n else ColumnNames(n, prefix)


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
    _check_rows(X)
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


def _check_rows(X: Any) -> None:
    """Refuse rows that are texts, or dicts and records, before they are taken for something else."""
    if getattr(getattr(X, "dtype", None), "names", None):
        raise InputError("X is an array of records; convert it to a table: pd.DataFrame(X)")
    if isinstance(X, list | tuple) and X and isinstance(X[0], Mapping):
        raise InputError("X is a list of dicts, one for each row; convert it to a table: pd.DataFrame(X)")
    refuse_list_of_texts(X)


def _array(X: object) -> object:
    """Nested lists and masked arrays as arrays; anything else, and lists of different lengths, as it is."""
    X = unmasked(X)
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
        float(cast("float", cell))
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


def read_labels(y: LabelsLike | None, who: str, way_out: str = "drop these rows") -> Cells:
    """One label per row: finite, none missing, not the values of a regression."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None; pass the labels of the rows")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
        return y  # nothing can be missing
    y = unmasked(y, of_numbers=object)
    y = np.asarray(y) if getattr(getattr(y, "dtype", None), "kind", "") in ("i", "u", "b") else y  # pandas' own types
    given = y
    y = column_or_1d(y, warn=True)
    if y.dtype.kind in "fcOMm" or (isinstance(given, list | tuple) and y.dtype.kind in "US"):
        cells = given if isinstance(given, list | tuple) else y
        missing = y != y if y.dtype.kind in "fcMm" else np.fromiter(map(is_missing, cells), bool, len(y))
        if missing.any():
            raise InputError(
                f"Input y contains NaN: {missing.sum()} of {len(y)} labels are missing, the first in row "
                f"{np.argmax(missing)}; {way_out}"
            )
    if y.dtype.kind in "fc":
        if np.isinf(y).any():
            raise InputError("Input y contains infinity; labels must be finite")
        check_classification_targets(y)
    return y


def read_known_labels(y: Any, who: str, drop: bool) -> tuple[Cells, NDArray[np.bool_]]:
    """Labels, and which rows have one: without ``drop``, all must."""
    if isinstance(y, np.ma.MaskedArray):
        y = unmasked(y, of_numbers=object)
    elif hasattr(y, "to_pylist"):
        y = as_objects(y.to_pylist())
    if not drop or y is None:
        y = read_labels(y, who, "drop these rows, or set missing_target='drop'")
        return y, np.ones(len(y), bool)
    if not isinstance(y, np.ndarray):
        cells = column_or_1d(y) if hasattr(y, "columns") else y  # a frame of one column
        y = as_objects(cells.to_list() if hasattr(cells, "to_list") else list(cells))
    kept = ~ArrayColumn(y).missing()
    if not kept.any():
        raise InputError("every label is missing; at least one row needs a label")
    return read_labels(as_objects(y[kept].tolist()) if y.dtype.kind == "O" else y[kept], who), kept


def read_weight(sample_weight: WeightsLike, X: Matrix) -> Array | None:
    """One weight per row, 0 or more, not all 0, none so large that its square is infinite."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, str | Mapping):
        raise InputError(
            f"sample_weight: expected one number for each row, found {sample_weight!r}; for class weights use "
            "sklearn.utils.class_weight.compute_sample_weight(…, y), or a uniform class prior to give every class the "
            "same weight"
        )
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (wrong := (weight < 0) | (weight > MOST_WEIGHT)).any():
        i = int(np.argmax(wrong))
        how = "0 or more; to remove rows use forget" if weight[i] < 0 else f"at most {MOST_WEIGHT:g}; divide them all"
        raise InputError(f"sample_weight: found {weight[i]:g} in row {i}; weights must be {how}")
    if len(weight) and not weight.any():
        raise InputError("sample_weight: all weights are 0; at least one row needs a positive weight")
    return weight


def prior_in_order(prior: Prior, classes: tuple[Hashable, ...]) -> Array:
    """A class prior, by label, in class order or "uniform", as an array in class order."""
    if isinstance(prior, str):
        if prior != "uniform":
            raise ValueError(f"prior={prior!r}: must be probabilities (by class, or in class order) or 'uniform'")
        return np.full(len(classes), 1 / len(classes))
    if isinstance(prior, Mapping):
        unknown, absent = [c for c in prior if c not in classes], [c for c in classes if c not in prior]
        if unknown or absent:
            what = f"unknown class {unknown[0]!r}" if unknown else f"class {absent[0]!r} is missing"
            raise ValueError(f"prior: {what}; give one probability for each class: the classes are {list(classes)}")
        prior = [prior[c] for c in classes]
    p = np.array(prior, dtype=np.float64).reshape(-1)
    if len(p) != len(classes):
        raise ValueError(
            f"Number of priors must match number of classes: {len(p)} priors, {len(classes)} classes: {list(classes)}"
        )
    if not np.isfinite(p).all() or not p.any():
        raise ValueError(f"Priors must be finite and not all 0, found {p.tolist()}.")
    return p


def class_codes(n: int, y: object, classes: Index, who: str) -> Codes:
    """The codes of the classes of n rows: ``y`` is one class for all of them, or names n."""
    position = classes.position
    one = isinstance(y, Hashable) and (y in position or not isinstance(y, tuple))
    wanted = [y] * n if one else list(y.tolist() if isinstance(y, np.ndarray) else cast("Labels", y))
    wanted = wanted * n if len(wanted) == 1 else wanted
    unknown = [c for c in wanted if c not in position]
    if unknown:
        raise ValueError(f"{who}: no class {unknown[0]!r}; the classes are {list(classes.labels)}")
    if len(wanted) != n:
        raise ValueError(f"{who}: y names {len(wanted)} classes for n = {n} rows; give one class, or n of them")
    return np.array([position[c] for c in wanted], np.int32)


def adding_up(p: Array) -> Array:
    """A prior whose entries are 0 or more and add up to 1; others are refused."""
    if not (p >= 0).all():
        raise ValueError(f"Priors must be non-negative, found {p[np.argmin(p >= 0)]:g}.")
    if not np.isclose(p.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1, found {p.sum():g}.")
    return p


def checked_prior(prior: Prior, classes: tuple[Hashable, ...]) -> Array:
    """The class prior of rows to be decided on, in class order; it must add up to 1."""
    return adding_up(prior_in_order(prior, classes))


def common_dtype(a: np.dtype[np.generic] | None, b: np.dtype[np.generic] | None) -> np.dtype[np.generic] | None:
    """A label type that holds both; objects where they are of different kinds."""
    if a is None or b is None:
        return None
    if a.kind in "US" and b.kind in "US":
        return np.dtype("U")
    if a.kind in "iufb" and b.kind in "iufb":
        return np.result_type(a, b)
    return np.dtype(object)


def check_setting(
    family: object, name: str, value: object, low: float, high: float = np.inf, open_low: bool = False
) -> None:
    """Refuse a setting of a family that is not a finite number (or numbers) in [low, high]."""
    if type(value) is float and low < value <= high and value != np.inf:
        return  # the usual case, seen at once
    v = np.asarray(value, dtype=np.float64)
    if not (v.size and np.isfinite(v).all() and ((v > low) if open_low else (v >= low)).all() and (v <= high).all()):
        upper = "" if np.isinf(high) else f" and at most {high:g}"
        raise ValueError(
            f"{type(family).__name__}({name}={value!r}): {name} must be finite, {'above' if open_low else 'at least'} "
            f"{low:g}{upper}"
        )


def generator(random_state: RandomState) -> np.random.Generator:
    """A generator from whatever scikit-learn takes as ``random_state``, or from one already made."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
