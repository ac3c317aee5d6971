"""Files of tables, of every kind, as Arrow tables a few megabytes at a time; and rows from all over them to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import IO, TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from ..data.errors import InputError
from .streams import ENDINGS, Input, found_files
from .text_files import TextFile, Types
from .text_types import agreed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

T = TypeVar("T")
Marks = tuple[Sequence[str], str]  # of missing values, and before decimals

BATCH = 1 << 16  # rows that are read together
PLACES, ROWS_AT_EACH = 32, 4096  # places of a table that are looked at, and how many rows at each
MODEL = b'{"__metadata__"'  # what a model file has after the length of its header
KINDS = {
    "csv": ("csv", "tsv", "tab", "txt"),
    "jsonl": ("jsonl", "ndjson", "json"),
    "parquet": ("parquet", "pq"),
    "arrow": ("arrow", "feather", "ipc", "arrows"),
}


class TableFile(Protocol):
    """What a file of rows can do."""

    @property
    def input(self) -> Input:
        """Where it is."""

    @property
    def schema(self) -> Types:
        """The Arrow type of every column."""

    def with_types(self, types: Types) -> TableFile:
        """The same, columns of text read as these types."""

    def sample(self) -> Iterator[pa.Table]:
        """Some rows, from all over the file."""

    def tables(self) -> Iterator[pa.Table]:
        """All rows."""


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file."""

    input: Input

    @cached_property
    def _file(self) -> parquet.ParquetFile:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            file = _whole(self.input) if self.input.once else self.input.path
            return parquet.ParquetFile(file, pre_buffer=False)  # else all that was read stays in memory
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{self.input.name}: no Parquet file, or a damaged one: {_why(error)}") from None

    @cached_property
    def schema(self) -> Types:
        """The Arrow type of every column."""
        return {f.name: f.type for f in self._file.schema_arrow}

    def with_types(self, types: Types) -> ParquetTable:
        """The same: the file has types of its own."""
        return self

    def sample(self) -> Iterator[pa.Table]:
        """The first rows of row groups all over the file, or rows from all over its only one."""
        groups = np.unique(np.linspace(0, self._file.num_row_groups - 1, PLACES).astype(int))
        each = PLACES * ROWS_AT_EACH // len(groups)
        for group in groups.tolist():
            if self._file.metadata.row_group(group).num_rows <= 4 * each or len(groups) == PLACES:
                batches = self._file.iter_batches(min(each, BATCH), row_groups=[group])
                yield from (_table([b]) for b, _ in zip(batches, range(-(-each // BATCH)), strict=False))
            else:
                for batch in self._file.iter_batches(BATCH, row_groups=[group]):
                    yield _table([batch])[:: max(1, self._file.metadata.num_rows // (PLACES * ROWS_AT_EACH))]

    def tables(self) -> Iterator[pa.Table]:
        for batch in self._file.iter_batches(BATCH):
            yield _table([batch])


@dataclass(frozen=True)
class ArrowTable:
    """An Arrow IPC file or stream."""

    input: Input

    def _open(self) -> tuple[pa.RecordBatchReader | pa.RecordBatchFileReader, bool]:
        """The reader, and whether its batches can be had in any order."""
        import pyarrow as pa

        stored = self.input.first.startswith(b"ARROW1") and self.input.compression is None
        try:
            if stored and not self.input.once:
                return pa.ipc.open_file(pa.memory_map(self.input.path)), True
            if stored:
                return pa.ipc.open_file(_whole(self.input)), True
            return pa.ipc.open_stream(pa.PythonFile(self.input.open(), "r")), False
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{self.input.name}: no Arrow file, or a damaged one: {_why(error)}") from None

    @cached_property
    def schema(self) -> Types:
        """The Arrow type of every column."""
        return {f.name: f.type for f in self._open()[0].schema}

    def with_types(self, types: Types) -> ArrowTable:
        """The same: the file has types of its own."""
        return self

    def sample(self) -> Iterator[pa.Table]:
        """The first rows of batches all over the file, or the first batches of a stream."""
        reader, anywhere = self._open()
        if not anywhere:
            yield from (_table([b]) for b, _ in zip(reader, range(PLACES), strict=False))
            return
        batches = np.unique(np.linspace(0, reader.num_record_batches - 1, PLACES).astype(int)).tolist()
        for i in batches if reader.num_record_batches else ():
            yield some_rows(_table([reader.get_batch(i)]), PLACES * ROWS_AT_EACH // len(batches))

    def tables(self) -> Iterator[pa.Table]:
        reader, anywhere = self._open()
        each = (reader.get_batch(i) for i in range(reader.num_record_batches)) if anywhere else reader
        for batch in each:
            for start in range(0, batch.num_rows, BATCH):
                yield _table([batch.slice(start, BATCH)])


def some_rows(table: pa.Table, most: int) -> pa.Table:
    """At most about so many rows, from stretches all over a table."""
    if table.num_rows <= most:
        return table
    import pyarrow as pa

    starts = np.linspace(0, table.num_rows - most // PLACES, PLACES).astype(int)
    return pa.concat_tables([table.slice(start, most // PLACES) for start in starts.tolist()])


def rows_all_over(parts: Sequence[T], rows: Callable[[T], Iterable[pa.Table]]) -> Iterator[pa.Table]:
    """Some rows of parts spread over all, then of the others, as long as these are few."""
    first = np.unique(np.linspace(0, len(parts) - 1, PLACES).astype(int)).tolist()
    others = np.setdiff1d(np.arange(len(parts)), first).tolist()
    seen = 0
    for k, i in enumerate([*first, *others]):
        if k >= len(first) and seen >= PLACES * ROWS_AT_EACH:
            return
        for table in rows(parts[i]):
            seen += table.num_rows
            yield table


def open_files(
    paths: Sequence[str], kind: str | None, encoding: str | None, separator: str | None, how: Marks
) -> list[TableFile]:
    """The files that paths and globs name (``-``: standard input), each by its ending or ``kind``; text as ``how``."""
    return [_opened(Input(path, encoding), kind, separator, how) for path in found_files(paths)]


def _opened(input: Input, kind: str | None, separator: str | None, how: Marks) -> TableFile:
    with input.open() as stream:
        first = stream.read(24)
    found = _by_first_bytes(first.lstrip())
    kind = kind or kind_of(input.path) or found
    if found not in ("csv", kind):  # which no first bytes are surely of
        raise InputError(
            f"{input.name}: the file is {found} by its first bytes, not {kind}; read it with kind={found!r} "
            f"(--format {found}), or rename it"
        )
    if kind in ("parquet", "arrow"):
        return ParquetTable(input) if kind == "parquet" else ArrowTable(input)
    if not input.first:
        raise InputError(f"{input.name}: the file is empty; expected a header line, then rows")
    if first[8:].startswith(MODEL):
        raise InputError(
            f"{input.name}: is a model, not a file of rows; 'suffit show' says what is in it, 'suffit merge' adds it "
            "to others, and where rows are predicted or learned it comes before their files"
        )
    if b"\0" in first:
        raise InputError(
            f"{input.name}: is no text, and neither Parquet nor Arrow: it begins with {first[:8]!r}; export the rows "
            "as one of these (text in UTF-16 without its mark needs encoding='utf-16-le', --encoding utf-16-le)"
        )
    if kind == "jsonl" and input.compression is None and input.first.lstrip().startswith(b"["):
        raise InputError(f"{input.name}: a JSON array; expected JSON lines, one object on each line")
    tabs = any(f".{ending}" in input.path.lower()[-9:] for ending in ("tsv", "tab"))
    return TextFile(input, kind == "jsonl", separator or ("\t" if tabs else None), *how)


def kind_of(path: str) -> str | None:
    """The kind of a file by its ending; None where it has no known one."""
    name = path.lower()
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    ending = name.rpartition(".")[2]
    return next((kind for kind, endings in KINDS.items() if "." in name and ending in endings), None)


def _by_first_bytes(first: bytes) -> str:
    if first.startswith(b"PAR1"):
        return "parquet"
    if first.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    return "jsonl" if first.startswith(b"{") else "csv"


def agreed_types(files: Sequence[TableFile]) -> dict[str, pa.DataType]:
    """The type of every column of text files, from rows all over all of them; those of other files are theirs."""
    import pyarrow as pa

    found: dict[str, set[pa.DataType]] = {}
    for file in files:
        for name, kind in file.schema.items():
            found.setdefault(name, set()).add(kind)
    return {name: pa.string() if (kind := agreed(kinds)) == pa.null() else kind for name, kinds in found.items()}


def _table(batches: list[pa.RecordBatch]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_batches(batches)


def _whole(input: Input) -> IO[bytes]:
    import pyarrow as pa

    with input.open() as stream:
        return pa.BufferReader(stream.read())


def _why(error: Exception) -> str:
    """The first line of an error of Arrow, and what to do where a file has the wrong name."""
    what = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    return f"{what}; if it holds text, read it with kind='csv' (--format csv)"
