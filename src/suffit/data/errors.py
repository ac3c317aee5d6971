"""What is wrong with input: errors that name the column, the value, the row and the way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Cells, sum_is_finite

if TYPE_CHECKING:
    from .arrays import Csr


class InputError(ValueError):
    """Input that a model cannot use; the message names the column, the value and what to do.  A ``ValueError``.

    See Also
    --------
    DataWarning : Where input can be used, but something should be known about it.

    Examples
    --------
    >>> import suffit
    >>> suffit.PoissonNB().fit([[1.0], [-3.0]], ["a", "b"])
    Traceback (most recent call last):
    suffit.InputError: column 'x0': poisson needs x ≥ 0 (Negative values in data), found -3.0 in row 1; ...
    """

    __module__ = "suffit"


class ModelFileError(ValueError):
    """A file that is not a whole model: damaged, of another kind, or of a newer format.  A ``ValueError``.

    See Also
    --------
    load : Loads a model from a file.

    Examples
    --------
    >>> import pathlib
    >>> import tempfile
    >>> import suffit
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> path.write_text("not a model at all, but a text of some length")
    45
    >>> suffit.load(path)
    Traceback (most recent call last):
    suffit.ModelFileError: .../notes.txt: its content does not have the SHA-256 at its end: it is no model of suffit
    """

    __module__ = "suffit"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason

    def __reduce__(self) -> tuple[type[ModelFileError], tuple[str, str]]:
        return ModelFileError, (self.path, self.reason)


class CellError(InputError):
    """What is wrong with one cell, by the number of its row."""

    __module__, __qualname__ = "suffit", "InputError"  # as which users know it, in tracebacks

    def __init__(self, what: str, row: int, way_out: str) -> None:
        super().__init__(f"{what} in row {row}; {way_out}")
        self.what, self.row, self.way_out = what, row, way_out

    def __reduce__(self) -> tuple[object, ...]:
        return _cell_error, (self.what, self.row, self.way_out)


CellError.__name__ = "InputError"  # as notebooks show it


def _cell_error(what: str, row: int, way_out: str) -> CellError:
    """For pickles, which find a class by its qualified name."""
    return CellError(what, row, way_out)


class NotLearnedError(InputError):
    """Rows to be taken out of a model that cannot have learned them: to be forgotten, or to be left out.

    ``weight``: the weight of those that are to go, where that is what is wrong; ``how``: more on those that may.
    """

    def __init__(self, what: str, weight: float | None = None, how: str = "", forget: bool = True) -> None:
        who, verb, gone = ("forget", "forget", "to be forgotten") if forget else ("leave-one-out", "give", "given")
        amount = "" if weight is None else f", and {weight:g} are {gone}"
        super().__init__(f"{who}: {what}{amount}; {verb} only rows that were learned{how}")
        self.parts = (what, weight, how)

    def of_leave_one_out(self) -> NotLearnedError:
        """The same, of rows that leave-one-out was asked for."""
        return NotLearnedError(*self.parts, forget=False)

    def __reduce__(self) -> tuple[object, ...]:
        return NotLearnedError, (*self.parts, str(self).startswith("forget"))


@contextmanager
def rows_from(start: int) -> Iterator[None]:
    """Rows are numbered from ``start`` in the errors of what runs inside, which sees a portion of a table."""
    try:
        yield
    except CellError as error:
        raise CellError(error.what, error.row + start, error.way_out) from None


def refuse(columns: Sequence[str], j: int, what: str, value: object, row: int, way_out: str) -> InputError:
    """The error for one cell: column, rule, value, row, way out."""
    return CellError(f"column {columns[j]!r}: {what}, found {value}", row, way_out)


def check_finite(X: Cells, columns: Sequence[str], first_row: int = 0, missing: bool = True) -> None:
    """Refuse infinities (and NaN where ``missing`` is not allowed), naming the first one."""
    bad = np.isinf(X) if missing else ~np.isfinite(X)
    if bad.any():
        i, j = (int(v) for v in np.argwhere(bad)[0])
        what = "infinity" if np.isinf(X[i, j]) else "a missing value (NaN)"
        way = "replace it by a finite number" + (", or by NaN for missing" if missing else "")
        raise CellError(f"Input X contains {what}: column {columns[j]!r}, found {X[i, j]}", first_row + i, way)


def check_stored(X: Csr, columns: Sequence[str]) -> None:
    """Refuse a CSR matrix that stores an infinity, naming the first one."""
    if not sum_is_finite(X.data):
        bad = np.isinf(X.data)
        if bad.any():
            e = int(np.argmax(bad))
            i, j = int(np.searchsorted(X.indptr, e, side="right")) - 1, int(X.indices[e])
            check_finite(np.array([[X.data[e]]], dtype=np.float64), [columns[j]], i)
