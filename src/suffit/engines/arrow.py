"""Arrow: fits and predictions over record batches, tables, datasets and files that are larger than memory."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from ..data.errors import CellError, InputError
from ..data.similar import nearest
from ..estimators.base import GenerativeEstimator
from .parts import collect, plan, recalibrated, sampled, total
from .sample import RowSample
from .streams import READER
from .table_files import BATCH, LOOK, LOOKS, TableFile, agreed_types, open_files, rows_all_over, some_rows
from .text_files import MARKS, Arrow, TextFile

E = TypeVar("E", bound=GenerativeEstimator)
T = TypeVar("T")
Progress = Callable[[int], None]

PREDICTED = "predicted"
PATIENCE = 1.0  # seconds to wait for a reader whose rows nobody wants any more; it may itself wait for a pipe
FILE, ROW = b"suffit.file", b"suffit.row"  # where a table of a file comes from, in its metadata
NO_LABEL = "fill it in, or drop such rows: missing_target='drop' (--missing-target drop)"
NEEDS_ARROW = "pyarrow is needed to read tables in batches and files: pip install 'suffit[arrow]'"


def fit_arrow(
    estimator: E,
    source: Any,
    target: str,
    sample_weight: str | None = None,
    progress: Progress | None = None,
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
    batches = opened(source)
    check_columns(batches.names, [target, *([sample_weight] if sample_weight else [])])
    split = Split(target, sample_weight, getattr(estimator, "missing_target", "error") == "drop")
    sample = None
    if not estimator.__sklearn_is_fitted__():
        looks = Split(target, sample_weight, drop=True)
        sample = sampled(looks(finite(table)) for table in batches.sample() if table.num_rows)
    planned = planned_from(estimator, sample)
    rows = counted(read_ahead(batches.tables(target)), progress)
    return recalibrated(total(_collected(planned, split, *each) for each in rows), sample)


def planned_from(estimator: E, sample: RowSample | None) -> E:
    """A plan; what is wrong with a cell of the sample is said without its row, which is none of the source's."""
    try:
        return plan(estimator, sample)
    except CellError as error:
        raise InputError(f"{error.what}; {error.way_out}") from None


def _collected(planned: E, split: Split, row: int, table: Arrow) -> E:
    with placed(table, row):
        return collect(planned, *split(table))


def predict_arrow(
    model: GenerativeEstimator, source: Any, keep: Sequence[str] | None = None, progress: Progress | None = None
) -> Iterator[Arrow]:
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
    for _, table in counted(read_ahead(opened(source).tables()), progress):
        if table.num_rows:
            yield with_posterior(model, table, keep)


def with_posterior(model: GenerativeEstimator, table: Arrow, keep: Sequence[str] | None = None) -> Arrow:
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


def posterior_columns(model: GenerativeEstimator, table: Arrow) -> dict[str, Any]:
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


def columns_of_model(model: GenerativeEstimator, table: Arrow) -> Arrow:
    """The columns that the model was fitted on, as far as they are there."""
    known = [name for name in getattr(model, "feature_names_in_", ()) if name in table.column_names]
    return table.select(known) if known else table


def beside(table: Arrow, columns: Mapping[str, Any], keep: Sequence[str] | None = None) -> Arrow:
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
    """Refuse columns that are not there, with the nearest that is."""
    for name in wanted:
        if name not in names:
            near = nearest(name, names)[0]
            meant = f"did you mean {near!r}? " if near is not None else ""
            shown = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
            raise InputError(f"there is no column {name!r}; {meant}the columns are {shown}")


@dataclass(frozen=True)
class Split:
    """A table as (X, y, sample_weight)."""

    target: str
    weight: str | None = None
    drop: bool = False  # rows without a label, which are else refused

    def __call__(self, table: Arrow) -> tuple[Any, ...]:
        """The parts."""
        out = [self.target, *([self.weight] if self.weight else [])]
        check_columns(table.column_names, out)
        labels = table[self.target]
        if labels.null_count and not self.drop:
            first = int(np.argmax(labels.is_null().to_numpy()))
            raise CellError(f"column {self.target!r}: the label is missing", first, NO_LABEL)
        weight = None if self.weight is None else table[self.weight].to_numpy().astype(np.float64)
        return table.drop_columns(out), labels_of(labels), weight


def finite(table: Arrow) -> Arrow:
    """The rows without infinite numbers, which are refused where their place is known."""
    import pyarrow as pa
    from pyarrow import compute

    kept = np.ones(table.num_rows, bool)
    for column in table.columns:
        if pa.types.is_floating(column.type):
            kept &= ~compute.is_inf(column).fill_null(False).to_numpy()
    return table if kept.all() else table.filter(pa.array(kept))


def labels_of(column: Arrow) -> Any:
    """Labels as an array of NumPy: integers, truth values and text of their own types, else as objects."""
    import pyarrow as pa

    kind = column.type
    if column.null_count == 0 and (pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        return column.to_numpy()
    if column.null_count == 0 and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        coded = column.combine_chunks().dictionary_encode()
        return np.array(coded.dictionary.to_pylist(), dtype=str)[coded.indices.to_numpy()]
    return column


class Batches:
    """Rows that are read once or more: from memory, or from wherever they are made."""

    def __init__(self, source: Any) -> None:
        import pyarrow as pa

        if isinstance(source, pa.RecordBatch):
            source = pa.Table.from_batches([source])
        self.source, self._held = source, list[Any]()
        self._rest: Iterator[Any] = iter(())
        if hasattr(source, "to_batches") and not isinstance(source, pa.Table):  # a dataset
            self._rest = _batches_of(source)
            self._hold()
        elif not isinstance(source, pa.Table):
            self._rest = iter(source)
            self._hold()

    def _hold(self) -> None:
        """Keep the first batches, to look at them."""
        import pyarrow as pa

        rows = 0
        for batch in self._rest:
            table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
            self._held.append(table)
            rows += table.num_rows
            if rows >= LOOKS * LOOK:
                break
        if not self._held:
            raise InputError("there are no record batches; a fit needs at least one row")

    @cached_property
    def names(self) -> list[str]:
        """The columns."""
        return list((self._held[0] if self._held else self.source).column_names)

    def sample(self) -> Iterator[Arrow]:
        """Rows from all over a table or the files of a dataset; of a stream, the first."""
        import pyarrow as pa

        if isinstance(self.source, pa.Table):
            yield some_rows(self.source, LOOKS * LOOK)
        elif hasattr(self.source, "get_fragments"):
            fragments = list(self.source.get_fragments())
            each = LOOKS * LOOK // min(len(fragments), LOOKS)
            yield from rows_all_over(fragments, lambda fragment: [fragment.head(each)])
        else:
            yield from self._held

    def tables(self, target: str | None = None) -> Iterator[Arrow]:
        """All rows; those of a stream once."""
        import pyarrow as pa

        if isinstance(self.source, pa.Table):
            yield from (self.source.slice(i, BATCH) for i in range(0, self.source.num_rows, BATCH))
            return
        held, self._held = self._held, []
        for batch in chain(held, self._rest):
            yield batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])


def _batches_of(dataset: Any) -> Iterator[Any]:
    return iter(dataset.to_batches(batch_size=BATCH, batch_readahead=2, fragment_readahead=1))


@dataclass(frozen=True)
class Files:
    """Rows of files, one after the other."""

    files: Sequence[TableFile]
    text: Sequence[str] = ()  # columns that are text, whatever they look like
    kinds: Mapping[str, Any] = field(default_factory=dict)  # types that are known already

    @cached_property
    def types(self) -> dict[str, Any]:
        """The type of every column."""
        import pyarrow as pa

        return {**agreed_types(self.files), **dict.fromkeys(self.text, pa.string()), **self.kinds}

    @property
    def names(self) -> list[str]:
        """The columns of all files, in order."""
        return list(self.types)

    def sample(self) -> Iterator[Arrow]:
        """Rows from all over all files, after a check that text is not numbers with a few other words."""
        for name, kind in self.types.items():
            if name not in self.text and str(kind) == "string":
                for file in self.files:
                    if isinstance(file, TextFile):
                        file.check_no_numbers(name)
        yield from rows_all_over(self.files, lambda file: file.with_types(self.types).sample())

    def tables(self, target: str | None = None) -> Iterator[Arrow]:
        """All rows.  Integers may turn out to have fractions further on, so they are read as numbers; not labels."""
        import pyarrow as pa

        whole = {n: pa.float64() for n, t in self.types.items() if pa.types.is_integer(t) and n != target}
        for file in self.files:
            if target is not None and target not in file.schema:
                raise InputError(f"{file.input.name}: there is no column {target!r}; every file needs it")
            row = 0
            for table in file.with_types({**self.types, **whole}).tables():
                yield table.replace_schema_metadata({FILE: file.input.name, ROW: str(row)})
                row += table.num_rows


@contextmanager
def placed(table: Arrow, row: int = 0) -> Iterator[None]:
    """Errors about cells name the file and the row, counted from 1; without a file the row is counted from 0."""
    known = table.schema.metadata or {}
    try:
        yield
    except CellError as error:
        if FILE not in known:
            raise CellError(error.what, error.row + row, error.way_out) from None
        place = f"{known[FILE].decode()}, row {error.row + int(known[ROW]) + 1}"
        raise InputError(f"{place}, {error.what}; {error.way_out}") from None
    except InputError as error:
        raise InputError(f"{known[FILE].decode()}: {error}" if FILE in known else str(error)) from None


def read_files(
    paths: Any,
    *,
    kind: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    missing: Sequence[str] = (),
    text: Sequence[str] = (),
) -> Files:
    """Return files as a source of rows for :func:`fit_arrow` and :func:`predict_arrow`.

    Parameters
    ----------
    paths : str, path or list of them
        Files or globs; ``-`` is standard input.
    kind : {"csv", "jsonl", "parquet", "arrow"}, optional
        By default by the ending of each file, or its first bytes.
    encoding : str, optional
        Of text files; UTF-8 by default.
    separator : str, optional
        Of CSV; by default found in the header.
    missing : list of str
        Further signs for missing values, beside an empty cell, ``?``, ``NA``, ``NaN`` and ``null``.
    text : list of str
        Columns of CSV that are text, whatever they look like.

    Returns
    -------
    Files
    """
    paths = [paths] if isinstance(paths, str) or hasattr(paths, "__fspath__") else paths
    files = open_files([str(p) for p in paths], kind, encoding, separator, (*MARKS, *missing))
    return Files(files, text)


def opened(source: Any) -> Batches | Files:
    """A source of rows, of whatever kind."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(NEEDS_ARROW) from None
    if isinstance(source, Batches | Files):
        return source
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        source = [source]
    if (
        isinstance(source, list | tuple)
        and source
        and all(isinstance(p, str) or hasattr(p, "__fspath__") for p in source)
    ):
        return Files(open_files([str(p) for p in source]))
    return Batches(source)


def counted(tables: Iterable[Arrow], progress: Progress | None) -> Iterator[tuple[int, Arrow]]:
    """Tables with the number of rows before each."""
    row = 0
    for table in tables:
        yield row, table
        row += table.num_rows
        if progress is not None:
            progress(row)


def read_ahead(items: Iterable[T], depth: int = 1) -> Iterator[T]:
    """The same items, the next ones made by another thread while one is used."""
    made: queue.Queue[tuple[bool, Any]] = queue.Queue(depth)
    stop = threading.Event()

    def hand_over(item: tuple[bool, Any]) -> None:
        while not stop.is_set():
            with suppress(queue.Full):
                made.put(item, timeout=0.1)
                break

    def work() -> None:
        try:
            for item in items:
                hand_over((True, item))
                if stop.is_set():
                    return
            hand_over((False, None))
        except BaseException as error:
            hand_over((False, error))

    reader = threading.Thread(target=work, daemon=True, name=READER)
    reader.start()
    try:
        while True:
            more, item = made.get()
            if more:
                yield item
            elif item is None:
                return
            else:
                raise item
    finally:
        stop.set()
        reader.join(PATIENCE)
