"""What each column adds to the log-odds over its range: rows that differ from a typical one in one column each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..data.arrays import Array, Cells, Csr, NumberRows, is_sparse
from ..data.column import CATEGORICAL
from ..data.frame import Frame
from ..data.rows import is_missing
from .terms import REST, Explanation

POINTS = 41  # places on the range of a number
ENDS = (0.01, 0.99)  # the range of a number: from this share of the rows to that
DRAWS, FEWEST_DRAWS = 2000, 300  # rows drawn from the model where none are given, and of very many columns
DRAWN_CELLS = 1 << 21
MOST_VALUES = 60  # categories of a column that there is room for
MOST_MARKS = 6  # values written on the line of a number
REST_OF_CLASSES = "all others"  # what one class is compared with, where it is no other class
FEW_VALUES = 12  # distinct numbers up to which each is a mark

Explain = Callable[..., Explanation]


class HasParts(Protocol):
    """What each column adds in each row."""

    @property
    def parts(self) -> Array | Csr:
        """A row for each row, a column for each column."""


@dataclass(frozen=True, eq=False)
class Curve:
    """What one column adds over its range: values (numbers, or the texts of categories) and log-odds."""

    name: str
    values: Cells
    odds: Array

    @property
    def numeric(self) -> bool:
        """Whether the values lie on a line."""
        return bool(self.values.dtype.kind in "iuf")


@dataclass(frozen=True, eq=False)
class Nomogram:
    """What is drawn: a curve for each column, what belongs to no column, and the class they speak for or against."""

    curves: Sequence[Curve]
    constants: Sequence[tuple[str, float]]
    a: str
    b: str
    note: str


def nomogram(explain: Explain, X: NumberRows | Frame, additive: bool, most: int) -> Nomogram:
    """The columns that move the log-odds of these rows most, and what each adds."""
    seen = explain(cells_of(X, ()) if isinstance(X, Frame) else X)
    top, note = top_columns(seen.parts, seen.columns, X, most)
    constants = [("prior", float(seen.prior[0]))]
    if seen.rest.any():
        constants.append((REST[seen.rest_name], float(np.median(seen.rest))))  # the same for all complete rows
    notes = [*([] if additive else ["other columns at their typical values"]), *note]
    a, b = (str(seen.labels[codes[0]]) for codes in (seen.first, seen.second))
    return Nomogram(curves(explain, X, seen.columns, top), constants, a, b, "; ".join(notes))


def top_columns(
    parts: Array | Csr, columns: Sequence[str], X: NumberRows | Frame, most: int
) -> tuple[NDArray[np.int64], list[str]]:
    """The columns that move the log-odds most and have a range to be drawn over, and what is said of the others."""
    moves = _spread(parts)
    order = [int(j) for j in np.argsort(-moves, kind="stable") if moves[j] > 0]
    drawn = [j for j in order[: most + MOST_VALUES] if not _is_text(X, str(columns[j]))][:most]
    note = f"{len(drawn)} of {len(order)} columns" if order else "no column changes the log-odds"
    return np.array(drawn, np.int64), [note] if len(drawn) < len(order) or not order else []


def _is_text(X: NumberRows | Frame, name: str) -> bool:
    """Whether a column of a table has more different values than there is room for: no range to draw it over."""
    if not isinstance(X, Frame) or name not in X.columns or X.columns[name].kind() != CATEGORICAL:
        return False
    return len(X.columns[name].categories()[0]) > MOST_VALUES


def curves(
    explain: Callable[..., HasParts], X: NumberRows | Frame, columns: Sequence[str], top: NDArray[np.int64]
) -> list[Curve]:
    """What each of these columns adds along its values, the others being typical."""
    if is_sparse(X):
        return _sparse_curves(explain, X, columns, top)
    cells = cells_of(X, columns)
    typical = dict(zip(cells, typicals(X, cells), strict=True))
    ranges = {str(columns[j]): _range(cells[str(columns[j])]) for j in top}
    sizes = [len(values) for values in ranges.values()]
    if not sum(sizes):  # no column moves anything, or those that do are missing everywhere
        return []
    table = {name: repeated(typical[name], sum(sizes), column) for name, column in cells.items()}
    start = 0
    for name, values in ranges.items():
        table[name][start : start + len(values)] = values
        start += len(values)
    parts = explain(like(X, table)).parts
    found, start = [], 0
    for j, (name, values) in zip(top, ranges.items(), strict=True):
        if not len(values):
            continue
        found.append(Curve(name, _shown(values), _column(parts, j)[start : start + len(values)]))
        start += len(values)
    return found


def _spread(parts: Array | Csr) -> Array:
    """The variance over rows of what each column adds."""
    if is_sparse(parts):
        mean = np.asarray(parts.mean(axis=0)).reshape(-1)
        return np.maximum(np.asarray(parts.power(2).mean(axis=0)).reshape(-1) - mean**2, 0.0)
    finite = np.where(np.isfinite(parts), parts, 0.0)
    return np.asarray(finite.var(axis=0))


def _sparse_curves(
    explain: Callable[..., HasParts], X: Csr, columns: Sequence[str], top: NDArray[np.int64]
) -> list[Curve]:
    """Words: rows that hold nothing but one count, from 0 to its largest."""
    by_column, found = X.tocsc(), []
    for j in top:
        values = _range(np.concatenate([[0.0], by_column[:, [j]].data]))
        n = len(values)
        one = sparse.csr_array((values, np.full(n, j), np.arange(n + 1)), shape=(n, X.shape[1]))
        found.append(Curve(str(columns[j]), values, _column(explain(one).parts, j)))
    return found


def _column(parts: Array | Csr, j: int) -> Array:
    return np.asarray(parts[:, [j]].toarray()[:, 0] if is_sparse(parts) else parts[:, j])


def cells_of(X: NumberRows | Frame, columns: Sequence[str]) -> dict[str, Cells]:
    """The values of every column, by name."""
    if isinstance(X, Frame):
        return {name: column.cells() for name, column in X.columns.items()}
    assert not is_sparse(X)
    return {str(name): X[:, j] for j, name in enumerate(columns)}


def like(X: NumberRows | Frame, table: dict[str, Cells]) -> dict[str, Cells] | Cells:
    """Rows as the model reads them: a matrix, or a dict of columns."""
    return table if isinstance(X, Frame) else np.column_stack(list(table.values())).astype(X.dtype)


def draws(columns: int) -> int:
    """How many rows to draw from a model of so many columns."""
    return max(min(DRAWS, DRAWN_CELLS // max(columns, 1)), FEWEST_DRAWS)


def _present(column: Cells) -> Cells:
    if column.dtype.kind in "iuf":
        return column[column == column]
    keep = np.fromiter((not is_missing(v) for v in column.tolist()), bool, len(column))
    there = column[keep]
    if there.dtype.kind != "O":
        return there
    kinds = {type(v) for v in there.tolist()}
    return np.array(there.tolist()) if kinds <= {int, float} else there


def typicals(X: NumberRows | Frame, cells: dict[str, Cells]) -> Iterable[object]:
    """Of every column; of a matrix of numbers without missing values all at once."""
    if not isinstance(X, np.ndarray) or X.dtype.kind not in "iuf" or not (X == X).all() or not len(X):
        return [_typical(column) for column in cells.values()]
    return np.partition(X, (len(X) - 1) // 2, axis=0)[(len(X) - 1) // 2]


def _typical(column: Cells) -> object:
    """The median of numbers, the most frequent of categories; None where nothing is there."""
    there = _present(column)
    if not len(there):
        return None
    if there.dtype.kind in "iuf":
        return np.quantile(cast("Array", there), 0.5, method="lower")
    values, counts = np.unique(there.astype(str), return_counts=True)
    return there[there.astype(str) == values[counts.argmax()]][0]


def _range(column: Cells) -> Cells:
    """Places along a column: all its categories or few numbers, or even steps from one end to the other."""
    there = _present(column)
    if there.dtype.kind not in "iuf":
        first = {str(v): v for v in there.tolist()}
        out = np.empty(len(first), dtype=object)
        out[:] = [first[k] for k in sorted(first)]
        return out
    distinct = np.unique(there)
    if len(distinct) <= FEW_VALUES:
        return distinct
    low, high = np.quantile(cast("Array", there), ENDS)
    steps = np.linspace(low, high, POINTS)
    steps = np.round(steps) if there.dtype.kind in "iu" else steps
    return np.unique(np.concatenate([steps, round_numbers(steps[0], steps[-1])]))


def repeated(value: object, n: int, column: Cells) -> Cells:
    """A column of one value, which may take others."""
    if column.dtype.kind in "iuf":
        return np.full(n, np.nan if value is None else value, dtype=np.float64)
    out = np.empty(n, dtype=object)
    out[:] = [value] * n
    return out


def _shown(values: Cells) -> Cells:
    """Numbers as they are, categories as text."""
    return values if values.dtype.kind in "iuf" else np.array([str(v) for v in values.tolist()])


def round_numbers(low: float, high: float, most: int = MOST_MARKS) -> Array:
    """At most so many multiples of 1, 2 or 5 times a power of ten from low to high; none where they are all but equal.

    >>> round_numbers(2785.0, 5960.0).tolist()
    [3000.0, 3500.0, 4000.0, 4500.0, 5000.0, 5500.0]
    """
    span = high - low
    if not (np.isfinite(span) and span > 1e-12 * max(abs(low), abs(high))):
        return np.zeros(0)
    power = int(np.floor(np.log10(span))) - 1
    for exponent in range(power, power + 3):
        for digit in (1, 2, 5):
            first, last = (int(f(v / digit * 10.0**-exponent)) for f, v in ((np.ceil, low), (np.floor, high)))
            if last - first < most:
                whole = np.arange(first, last + 1) * digit
                return np.asarray(whole * 10.0**exponent if exponent >= 0 else whole / 10.0**-exponent)
    return np.zeros(0)
