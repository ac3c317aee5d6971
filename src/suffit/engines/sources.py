"""Where rows come from: tables, datasets and streams of record batches, and files; read ahead by a thread."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from ..data.errors import CellError, InputError
from .streams import READER
from .table_files import BATCH, PLACES, ROWS_AT_EACH, TableFile, agreed_types, open_files, rows_all_over, some_rows
from .text_files import MARKS, TextFile, Types

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import dataset

T = TypeVar("T")
Progress = Callable[[int], None]
Path: TypeAlias = "str | os.PathLike[str]"
RowSource: TypeAlias = "Path | Sequence[Path] | pa.Table | dataset.Dataset | Iterable[pa.RecordBatch] | Batches | Files"

PATIENCE = 1.0  # seconds to wait for a reader whose rows nobody wants any more; it may itself wait for a pipe
FILE, ROW = b"suffit.file", b"suffit.row"  # where a table of a file comes from, in its metadata
NEEDS_ARROW = "pyarrow is needed to read tables in batches and files: pip install 'suffit[arrow]'"


class Batches:
    """Rows that are read once or more: from memory, or from wherever they are made."""

    def __init__(self, source: pa.Table | dataset.Dataset | Iterable[pa.RecordBatch]) -> None:
        import pyarrow as pa

        if isinstance(source, pa.RecordBatch):
            source = pa.Table.from_batches([source])
        self.source, self._held = source, list["pa.Table"]()
        self._rest: Iterator[pa.RecordBatch] = iter(())
        if not isinstance(source, pa.Table):
            self._rest = _batches_of(source) if hasattr(source, "to_batches") else iter(source)
            self._hold()

    def _hold(self) -> None:
        """Keep the first batches, to look at them."""
        import pyarrow as pa

        rows = 0
        for batch in self._rest:
            table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
            self._held.append(table)
            rows += table.num_rows
            if rows >= PLACES * ROWS_AT_EACH:
                break
        if not self._held:
            raise InputError("there are no record batches; a fit needs at least one row")

    name = ""  # for messages

    @cached_property
    def names(self) -> list[str]:
        """The columns."""
        return list((self._held[0] if self._held else cast("pa.Table", self.source)).column_names)

    def sample(self) -> Iterator[pa.Table]:
        """Rows from all over a table or the files of a dataset; of a stream, the first."""
        import pyarrow as pa

        if isinstance(self.source, pa.Table):
            yield some_rows(self.source, PLACES * ROWS_AT_EACH)
        elif hasattr(self.source, "get_fragments"):
            yield from _rows_of_fragments(self.source)
        else:
            yield from self._held

    def tables(self, target: str | None = None) -> Iterator[pa.Table]:
        """All rows; those of a stream once."""
        import pyarrow as pa

        if isinstance(self.source, pa.Table):
            yield from (self.source.slice(i, BATCH) for i in range(0, self.source.num_rows, BATCH))
            return
        held, self._held = self._held, []
        for batch in chain(held, self._rest):
            yield batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])


def _rows_of_fragments(rows: dataset.Dataset) -> Iterator[pa.Table]:
    """The first rows of fragments all over a dataset, with the columns that are names of folders."""
    from pyarrow import dataset

    fragments = list(rows.get_fragments())
    each = PLACES * ROWS_AT_EACH // min(len(fragments), PLACES)
    yield from rows_all_over(fragments, lambda f: [dataset.Scanner.from_fragment(f, schema=rows.schema).head(each)])


def _batches_of(rows: dataset.Dataset) -> Iterator[pa.RecordBatch]:
    """A batch when it is asked for; of Parquet, nothing that has been read stays in memory.

    With threads of its own, Arrow goes on reading, up to a gigabyte ahead; with text it does so in any case.
    """
    from pyarrow import dataset

    kind = getattr(rows, "format", None)
    parquet = isinstance(kind, dataset.ParquetFileFormat)
    text = isinstance(kind, dataset.CsvFileFormat | dataset.JsonFileFormat)
    options = dataset.ParquetFragmentScanOptions(pre_buffer=False) if parquet else None
    ahead = {"batch_readahead": 0, "fragment_readahead": 0}
    return iter(rows.to_batches(batch_size=BATCH, fragment_scan_options=options, use_threads=text, **ahead))


@dataclass(frozen=True)
class Files:
    """Rows of files, one after the other."""

    files: Sequence[TableFile]
    text: Sequence[str] = ()  # columns that are text, whatever they look like
    known: Types = field(default_factory=dict)  # types of columns of text that a model has

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """The type of every column."""
        import pyarrow as pa

        known = {**dict.fromkeys(self.text, pa.string()), **self.known}
        return {name: known.get(name, kind) for name, kind in agreed_types(self.files).items()}

    @property
    def name(self) -> str:
        """The files as messages call them."""
        names = [file.input.name for file in self.files]
        return ", ".join(names) if len(names) <= 3 else f"{names[0]} … {names[-1]} ({len(names)} files)"

    @property
    def names(self) -> list[str]:
        """The columns of all files, in order."""
        return list(self.types)

    def sample(self) -> Iterator[pa.Table]:
        """Rows from all over all files, after a check that text is not numbers with a few other words."""
        for name, kind in self.types.items():
            if name not in self.text and str(kind) == "string":
                for file in self.files:
                    if isinstance(file, TextFile):
                        file.check_no_numbers(name)
        yield from rows_all_over(self.files, lambda file: file.with_types(self.types).sample())

    def tables(self, target: str | None = None) -> Iterator[pa.Table]:
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
def placed(table: pa.Table, row: int = 0) -> Iterator[None]:
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
    paths: Path | Iterable[Path],
    *,
    kind: str | None = None,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str = ".",
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
    decimal : str
        What is before the decimals of a number in CSV: "," where they are written as 3,14.
    missing : list of str
        Further signs for missing values, beside an empty cell, ``?``, ``NA``, ``NaN`` and ``null``.
    text : list of str
        Columns of CSV that are text, whatever they look like.

    Returns
    -------
    Files
    """
    paths = [paths] if isinstance(paths, str | os.PathLike) else paths
    if decimal not in (".", ","):
        raise InputError(f"decimal={decimal!r} (--decimal): expected '.' or ','")
    files = open_files([str(p) for p in paths], kind, encoding, separator, ((*MARKS, *missing), decimal))
    return Files(files, text)


def opened(source: RowSource) -> Batches | Files:
    """A source of rows, of whatever kind."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError(NEEDS_ARROW) from None
    if isinstance(source, Batches | Files):
        return source
    paths = [source] if isinstance(source, str | os.PathLike) else source
    if isinstance(paths, list | tuple) and paths and all(isinstance(p, str | os.PathLike) for p in paths):
        return read_files(paths)
    return Batches(source)


def counted(tables: Iterable[pa.Table], progress: Progress | None) -> Iterator[tuple[int, pa.Table]]:
    """Tables with the number of rows before each."""
    row = 0
    for table in tables:
        yield row, table
        row += table.num_rows
        if progress is not None:
            progress(row)


def read_ahead(items: Iterable[T], depth: int = 1) -> Iterator[T]:
    """The same items, the next ones made by another thread while one is used."""
    made: queue.Queue[list[T] | BaseException | None] = queue.Queue(depth)  # one item, what went wrong, or the end
    stop = threading.Event()

    def hand_over(item: list[T] | BaseException | None) -> None:
        while not stop.is_set():
            with suppress(queue.Full):
                made.put(item, timeout=0.1)
                break

    def work() -> None:
        try:
            for item in items:
                hand_over([item])
                if stop.is_set():
                    return
            hand_over(None)
        except BaseException as error:
            hand_over(error)

    reader = threading.Thread(target=work, daemon=True, name=READER)
    reader.start()
    try:
        while (found := made.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield from found
    finally:
        stop.set()
        reader.join(PATIENCE)
