"""Arrow: fits and predictions over record batches, tables, datasets and files that are larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..data.arrays import Array, Cells
from ..data.column import BOOLEAN, INTEGER, NUMBER
from ..data.errors import CellError, InputError
from ..data.inputs import LabelsLike
from ..data.similar import nearest
from ..data.validate import MOST_WEIGHT
from ..estimators.base import GenerativeEstimator
from ..estimators.decision import Decision
from ..estimators.tables import GenerativeClassifier
from .parts import collect, plan, recalibrated, sampled, total
from .sample import RowSample
from .sources import Batches, Files, Progress, RowSource, counted, opened, placed, read_ahead
from .text_types import readable

if TYPE_CHECKING:
    import pyarrow as pa

E = TypeVar("E", bound=GenerativeEstimator)

PREDICTED = "predicted"
NO_LABEL = "fill it in, or drop such rows: missing_target='drop' (--missing-target drop)"


def fit_arrow(
    estimator: E, source: RowSource, target: str, sample_weight: str | None = None, progress: Progress | None = None
) -> E:
    """Return another estimator, fitted on record batches in one pass and bounded memory.

    It takes a look at rows from all over the source (of a stream, its first 131,072), chooses from them what a fit
    chooses from values, and adds up the sums of all rows, batch by batch, while the next batch is read.

    Parameters
    ----------
    estimator : estimator
        A fitted one keeps its choices (families, structures, bins), and its rows do not count.
    source : path, list of paths, Table, Dataset, RecordBatchReader or iterable of record batches
        Paths may be globs, of Parquet, Arrow IPC, CSV, TSV or JSON lines files, compressed with gzip or zstd or not.
    target : str
        The column of the labels.
    sample_weight : str, optional
        The column of the weights.
    progress : callable, optional
        Called with the number of rows read so far, after every batch.

    Returns
    -------
    estimator
        Of the same class and settings.

    Examples
    --------
    >>> import pyarrow as pa, suffit
    >>> table = pa.table({"x": [1.0, 2.0, 4.0, 5.0] * 20, "y": ["a", "a", "b", "b"] * 20})
    >>> model = fit_arrow(suffit.GenerativeClassifier(structure="naive"), table.to_batches(10), target="y")
    >>> model.class_count_.tolist()
    [40.0, 40.0]
    """
    batches = as_at_fit(estimator, opened(source), target)
    own = [target, *([sample_weight] if sample_weight else [])]
    check_columns(batches.names, own)
    if not set(batches.names) - set(own):
        where = f"{batches.name}: " if batches.name else ""
        raise InputError(f"{where}no column beside {target!r}; a fit needs at least one")
    split = Split(target, sample_weight, getattr(estimator, "missing_target", "error") == "drop")
    sample = None
    if not estimator.__sklearn_is_fitted__():
        read = Split(target, sample_weight, lenient=True)
        sample = sampled((read(finite(table)) for table in batches.sample() if table.num_rows), batches.name)
    planned = planned_from(estimator, sample)
    rows = counted(read_ahead(batches.tables(target)), progress)
    return recalibrated(total(_collected(planned, split, *each) for each in rows), sample)


def planned_from(estimator: E, sample: RowSample | None) -> E:
    """A plan; what is wrong with a cell of the sample is said without its row, which is none of the source's."""
    try:
        return plan(estimator, sample)
    except CellError as error:
        raise InputError(f"{error.what}; {error.way_out}") from None


def _collected(planned: E, split: Split, row: int, table: pa.Table) -> E:
    with placed(table, row):
        X, y, weight = split(table)
        return collect(planned, learned_columns(planned, X), y, weight)


def predict_arrow(
    model: GenerativeEstimator, source: RowSource, keep: Sequence[str] | None = None, progress: Progress | None = None
) -> Iterator[pa.Table]:
    """Yield the tables of a source with what the model says of each row, as they are asked for.

    The columns added are ``predicted``, the most probable class, and ``p(class)`` for each class; columns of these
    names that are there already are replaced.

    Parameters
    ----------
    model : estimator
        Fitted.
    source : as in :func:`fit_arrow`
    keep : list of str, optional
        The columns that stay beside them; by default all.
    progress : callable, optional
        Called with the number of rows read so far, after every batch.

    Yields
    ------
    pyarrow.Table

    Examples
    --------
    >>> import pyarrow as pa, suffit
    >>> table = pa.table({"x": [1.0, 2.0, 4.0, 5.0] * 20, "y": ["a", "a", "b", "b"] * 20})
    >>> model = fit_arrow(suffit.GenerativeClassifier(structure="naive"), table, target="y")
    >>> next(predict_arrow(model, pa.table({"x": [1.5, 4.5]}))).column_names
    ['x', 'predicted', 'p(a)', 'p(b)']
    """
    for _, table in counted(read_ahead(as_at_fit(model, opened(source)).tables()), progress):
        if table.num_rows:
            yield with_posterior(model, table, keep)


def with_posterior(model: GenerativeEstimator, table: pa.Table, keep: Sequence[str] | None = None) -> pa.Table:
    """Return a table with the most probable class and p(class) of each row as further columns.

    Parameters
    ----------
    model : estimator
    table : pyarrow.Table
    keep : list of str, optional
        The columns that stay beside them; by default all.

    Returns
    -------
    pyarrow.Table
    """
    return beside(table, posterior_columns(model, table), keep)


def posterior_columns(model: GenerativeEstimator, table: pa.Table) -> dict[str, pa.Array]:
    """Return what the model says of each row: ``predicted``, the most probable class, and ``p(class)`` for each class.

    Parameters
    ----------
    model : estimator
    table : pyarrow.Table

    Returns
    -------
    dict of arrays of pyarrow
    """
    import pyarrow as pa

    with placed(table):
        p = model.predict_proba(columns_of_model(model, table))
    labels = pa.array(model.classes_.tolist()).take(pa.array(p.argmax(axis=1)))
    shares = [pa.array(np.ascontiguousarray(p[:, c])) for c in range(p.shape[1])]
    return dict(zip(posterior_names(model), [labels, *shares], strict=True))


def columns_of_model(model: GenerativeEstimator, table: pa.Table) -> pa.Table:
    """The columns that the model was fitted on, as far as they are there."""
    known = [name for name in getattr(model, "feature_names_in_", ()) if name in table.column_names]
    return table.select(known) if known else table


def learned_columns(model: GenerativeEstimator, table: pa.Table) -> pa.Table:
    """The columns to learn: those named as the model's; a model of tables says itself which it does not know."""
    return table if isinstance(model, GenerativeClassifier) else columns_of_model(model, table)


def beside(table: pa.Table, columns: Mapping[str, pa.Array], keep: Sequence[str] | None = None) -> pa.Table:
    """A table with further columns, which replace those of the same names; of its own, some are kept, or all."""
    import pyarrow as pa

    check_columns(table.column_names, keep or ())
    kept = [name for name in (table.column_names if keep is None else keep) if name not in columns]
    return pa.table([*(table[name] for name in kept), *columns.values()], [*kept, *columns])


def posterior_names(model: GenerativeEstimator) -> list[str]:
    """The columns that predictions add: ``predicted`` and ``p(class)`` for each class.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    list of str
    """
    return [PREDICTED, *(f"p({c})" for c in model.classes_.tolist())]


def check_columns(names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse columns that are not there, with the nearest that is, and the same one twice."""
    for i, name in enumerate(wanted):
        if name in wanted[:i]:
            raise InputError(f"column {name!r} is named twice; the labels, the weights and the like need one each")
        if name not in names:
            meant = "" if (near := nearest(name, names)[0]) is None else f"did you mean {near!r}? "
            shown = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
            raise InputError(f"there is no column {name!r}; {meant}the columns are {shown}")


@dataclass(frozen=True)
class Split:
    """A table as (X, y, sample_weight)."""

    target: str
    weight: str | None = None
    drop: bool = False  # rows without a label, which are else refused
    lenient: bool = False  # rows of a sample: what is wrong is said where its place is known

    def __call__(self, table: pa.Table) -> tuple[pa.Table, LabelsLike, Array | None]:
        """The parts."""
        out = [self.target, *([self.weight] if self.weight else [])]
        check_columns(table.column_names, out)
        labels = table[self.target]
        if labels.null_count and not (self.drop or self.lenient):
            first = int(np.argmax(labels.is_null().to_numpy()))
            raise CellError(f"column {self.target!r}: the label is missing", first, NO_LABEL)
        weight = None if self.weight is None else weights_of(table, self.weight, self.lenient)
        return table.drop_columns(out), labels_of(labels), weight


def weights_of(table: pa.Table, name: str, lenient: bool = False) -> Array:
    """The weights of rows, refused by the cell; NaN where they are none and that is not said here."""
    import pyarrow as pa

    column = table[name]
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        found = np.array([float(v) if readable(v, pa.float64()) else np.nan for v in column.to_pylist()])
    else:
        try:
            found = column.cast(pa.float64(), safe=False).to_numpy()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(f"column {name!r}: expected weights, found values of type {column.type}") from None
    wrong = ~((found >= 0) & (found <= MOST_WEIGHT))
    if wrong.any() and not lenient:
        i = int(np.argmax(wrong))
        cell = column[i].as_py()
        what = f"expected a weight from 0 to {MOST_WEIGHT:g}, found {cell!r}"
        what = "the weight is missing" if cell is None else what
        raise CellError(f"column {name!r}: {what}", i, "mend the cell, or drop the row")
    return np.where(wrong, np.nan, found)


def finite(table: pa.Table) -> pa.Table:
    """The rows without infinite numbers, which are refused where their place is known."""
    import pyarrow as pa
    from pyarrow import compute

    kept = np.ones(table.num_rows, bool)
    for column in table.columns:
        if pa.types.is_floating(column.type):
            kept &= ~compute.is_inf(column).fill_null(False).to_numpy()
    return table if kept.all() else table.filter(pa.array(kept))


def labels_of(column: pa.ChunkedArray) -> LabelsLike:
    """Labels as an array of NumPy: integers, truth values and text of their own types, else as objects."""
    import pyarrow as pa

    kind = column.type
    if column.null_count == 0 and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return column.to_numpy()
    if column.null_count == 0 and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        coded = column.combine_chunks().dictionary_encode()
        return np.array(coded.dictionary.to_pylist(), dtype=str)[coded.indices.to_numpy()]
    return column


def as_at_fit(model: GenerativeEstimator, source: Batches | Files, target: str | None = None) -> Batches | Files:
    """A source whose files of text are read by the types of a fitted model, not by what they look like."""
    if not isinstance(source, Files) or not model.__sklearn_is_fitted__():
        return source
    known = column_types(model)
    if target is not None and len(model._fitted.known.classes):
        kind = label_type(model.classes_)
        known |= {} if kind is None else {target: kind}
    return replace(source, known=known)


def column_types(model: GenerativeEstimator) -> dict[str, pa.DataType]:
    """The Arrow types of a model's columns in files of text."""
    import pyarrow as pa

    if isinstance(model, Decision):
        model = model._fitted
    if not isinstance(model, GenerativeClassifier):
        return dict.fromkeys(getattr(model, "feature_names_in_", ()), pa.float64())
    of_kind = {NUMBER: pa.float64(), INTEGER: pa.float64(), BOOLEAN: pa.bool_()}
    return {c.column: of_kind.get(c.kind, pa.string()) for c in model.schema_.choices}


def label_type(classes: Cells) -> pa.DataType | None:
    """The Arrow type of labels; None where they are of several kinds."""
    import pyarrow as pa

    of_kind = {"U": pa.string(), "i": pa.int64(), "u": pa.int64(), "b": pa.bool_(), "f": pa.float64()}
    kinds = {type(c) for c in classes.tolist()}
    return pa.string() if kinds == {str} else of_kind.get(classes.dtype.kind)
