"""Tables as files of every kind, there whole or not at all, or on standard output as they come."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from ..data.errors import InputError
from ..engines.streams import ENDINGS
from .console import as_json

if TYPE_CHECKING:
    import pyarrow as pa

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2", ".lz4": "lz4"}

Write: TypeAlias = "Callable[[pa.Table], None]"


@contextmanager
def output(path: str, kind: str) -> Iterator[Write]:
    """A function that writes one table after the other; ``-`` is standard output."""
    try:
        with _opened(path, kind) as write:
            yield write
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        where = "standard output" if path == "-" else path
        raise OSError(error.errno, f"the rows were not written: {error.strerror}", where) from None


@contextmanager
def _opened(path: str, kind: str) -> Iterator[Write]:
    if path == "-":
        with _writer(sys.stdout.buffer, kind, "\t" if kind == "tsv" else ",", None) as write:
            yield write
        return
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):  # a pipe or a device
        with open(path, "wb") as stream, _writer(stream, kind, ",", None) as write:
            yield write
        return
    check_folder(path)
    folder = os.path.dirname(os.path.realpath(path))
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{os.path.basename(path)[:100]}.", suffix=".tmp")
    try:
        with open(handle, "wb") as file:
            ending = next((e for e in ENDINGS if path.lower().endswith(e)), "")
            plain = path.lower().removesuffix(ending)
            with _writer(
                file, kind, "\t" if plain.endswith((".tsv", ".tab")) else ",", COMPRESSIONS.get(ending)
            ) as write:
                yield write
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(path))
        os.replace(temporary, os.path.realpath(path))
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def check_folder(path: str) -> None:
    """Refuse a file that cannot be written before the work is done."""
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise InputError(f"{path}: there is no folder {folder}; make it first")
    if os.path.isdir(path):
        raise InputError(f"{path}: is a directory; give the name of a file")
    if os.path.exists(path) and not os.path.isfile(path):
        raise InputError(f"{path}: is no regular file, and would be replaced by one; give the name of a file")
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise InputError(f"{path}: the file is read-only; choose another")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the folder {folder} cannot be written to; choose another")


def _mode(path: str) -> int:
    """The permissions of the file that is replaced, or of a new one."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextmanager
def _writer(file: IO[bytes], kind: str, separator: str, compression: str | None) -> Iterator[Write]:
    import pyarrow as pa

    sink = pa.PythonFile(_Open(file), "w")
    if compression is not None:
        sink = pa.CompressedOutputStream(sink, compression)
    opened: list[Any] = []

    def write(table: pa.Table) -> None:
        if kind == "jsonl":
            for row in table.to_pylist():
                sink.write(as_json(row).encode() + b"\n")
        elif kind == "csv":
            sink.write(_csv(table, separator, header=not opened))
            opened.append(None)
        else:
            if not opened:
                opened.append(_table_writer(sink, kind, table.schema))
                opened.append(table.schema)
            opened[0].write_table(table.cast(opened[1]))

    yield write
    if opened and opened[0] is not None:
        opened[0].close()
    if compression is not None:
        sink.close()
    file.flush()


def _csv(table: pa.Table, separator: str, header: bool) -> bytes:
    """Rows of CSV, with quotes where they are needed."""
    import csv
    import io

    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    head = io.StringIO()
    if header:
        csv.writer(head, delimiter=separator, lineterminator="\n").writerow(table.column_names)
    rows = pa.BufferOutputStream()
    try:  # Arrow quotes all text, or none where none needs it
        options = arrow_csv.WriteOptions(include_header=False, delimiter=separator, quoting_style="none")
        arrow_csv.write_csv(table, rows, options)
        body = rows.getvalue().to_pybytes()
    except pa.ArrowInvalid:
        text = io.StringIO()
        columns = [_texts(column) for column in table.columns]
        csv.writer(text, delimiter=separator, lineterminator="\n").writerows(zip(*columns, strict=True))
        body = text.getvalue().encode()
    return head.getvalue().encode() + body


def _texts(column: pa.ChunkedArray) -> list[object]:
    """Cells as Arrow writes them."""
    import pyarrow as pa

    return column.to_pylist() if pa.types.is_floating(column.type) else column.cast(pa.string()).to_pylist()


def _table_writer(sink: object, kind: str, schema: object) -> Any:
    if kind == "parquet":
        from pyarrow import parquet

        return parquet.ParquetWriter(sink, schema)
    import pyarrow as pa

    return pa.ipc.new_file(sink, schema)


class _Open:
    """A stream that whoever writes to it cannot close."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.closed = file, False

    def write(self, data: bytes) -> int:
        return self.file.write(data)

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.file.tell()

    def flush(self) -> None:
        self.file.flush()

    def close(self) -> None:
        self.file.flush()
