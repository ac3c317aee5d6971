"""CSV, TSV and JSON lines as Arrow tables: in chunks of whole lines, with the row and column of whatever is wrong."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import IO, TYPE_CHECKING, TypeAlias

import numpy as np

from ..data.errors import InputError
from ..data.frame import check_unique
from ..data.similar import MOSTLY
from .streams import Input
from .text_types import agreed, changes, depth, in_words, readable

if TYPE_CHECKING:
    import pyarrow as pa

Types: TypeAlias = "Mapping[str, pa.DataType]"  # of columns

CHUNK = 1 << 24  # bytes of text that become one table
LONGEST_ROW = 1 << 26  # bytes that a row may have: what is longer has a quote that is not closed
PLACES, BYTES_AT_EACH = 32, 1 << 17  # places of a file that are looked at, and how many bytes at each
MARKS = ("", "?", "#N/A", "#NA", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "-nan", "null")  # of missing values
SEPARATORS = ",;\t|"
DEEPEST = 64  # values inside each other that a line of JSON may have
JSON_KINDS = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}


@dataclass(frozen=True)
class TextFile:
    """A file of lines.  ``types`` are those of some columns; the others are text."""

    input: Input
    json: bool = False
    separator: str | None = None  # None: found in the header
    missing: Sequence[str] = MARKS
    decimal: str = "."  # what is before the decimals of a number
    types: Types = field(default_factory=dict)
    verbatim: bool = False  # text as it is, signs for missing values too; JSON by its own types

    @cached_property
    def header(self) -> tuple[list[str], str]:
        """The names of the columns, and what separates them."""
        with self.input.open() as stream:
            line = _first_line(stream)
        text = self._text(line, 0).rstrip("\r\n")
        if not text.strip():
            raise InputError(f"{self.input.name}: the file is empty; expected a header line, then rows")
        separator = self.separator or max(SEPARATORS, key=text.count)
        try:
            names = next(csv.reader([text], delimiter=separator))
        except csv.Error:
            raise InputError(f"{self._place(0)}: no line of CSV; lines must end in LF or CRLF") from None
        names = [name.strip() or f"(column {i})" for i, name in enumerate(names, 1)]
        try:
            check_unique(names)
        except InputError as error:
            raise InputError(f"{self.input.name}: {error}") from None
        return names, separator

    @cached_property
    def names(self) -> list[str]:
        """The columns; those of JSON lines are the ones that some line at the places looked at has."""
        return list(self.schema) if self.json else self.header[0]

    @cached_property
    def schema(self) -> dict[str, pa.DataType]:
        """The type of every column, from lines at many places of the file."""
        found: dict[str, set[pa.DataType]] = {} if self.json else {name: set() for name in self.names}
        for chunk, row in self.some_chunks():
            for f in self._parsed(chunk, row, None).schema:
                if str(f.type) == "binary":
                    raise self._fault(chunk, row, {}, "not UTF-8 text")
                found.setdefault(f.name, set()).add(f.type)
        return {name: agreed(types) for name, types in found.items()}

    def some_chunks(self) -> Iterator[tuple[bytes, int]]:
        """Lines from places all over the file, or its first ones where it cannot be read from anywhere."""
        size = self.input.size if self.input.seekable else 0
        if size <= PLACES * BYTES_AT_EACH * 2:
            yield from self._chunks(PLACES * BYTES_AT_EACH, most=PLACES * BYTES_AT_EACH)
            return
        found = False
        with self.input.open() as stream:
            for i in range(PLACES):
                stream.seek(int(i * (size - BYTES_AT_EACH) / (PLACES - 1)))
                chunk = stream.read(BYTES_AT_EACH)
                start = chunk.find(b"\n") + 1
                chunk = chunk[start : self._last_line_end(chunk[start:]) + start]
                if chunk and self._whole_rows(chunk):
                    found = True
                    yield chunk, -1
        if not found:  # rows are longer than what is looked at
            yield from self._chunks(PLACES * BYTES_AT_EACH, most=PLACES * BYTES_AT_EACH)

    def _whole_rows(self, chunk: bytes) -> bool:
        """Whether lines from the middle of a file are rows: the first may lie inside quotes."""
        if self.json or b'"' not in chunk:
            return True
        names, separator = self.header
        text = io.StringIO(chunk.decode("utf-8", "replace"), newline="")
        return all(len(cells) in (0, len(names)) for cells in csv.reader(text, delimiter=separator))

    def tables(self) -> Iterator[pa.Table]:
        """All rows, in tables of some megabytes."""
        types = None if self.json and self.verbatim else self.types
        for chunk, row in self._chunks(CHUNK):
            yield self._parsed(chunk, row, types)

    def sample(self) -> Iterator[pa.Table]:
        """The rows at the places that are looked at."""
        for chunk, row in self.some_chunks():
            yield self._parsed(chunk, row, self.types)

    def check_no_numbers(self, name: str) -> None:
        """Refuse a column of text that is numbers but for a few words, or up to a row; the first word is named."""
        import pyarrow as pa

        if self.json or name not in self.names or not self._text_looked_at:
            return
        column = pa.concat_tables(self._text_looked_at)[name].drop_null().combine_chunks().dictionary_encode()
        words = column.dictionary.to_pylist()
        number = np.array([readable(word.strip(), pa.float64(), self.decimal) for word in words], bool)
        few_words = len(number) > number.sum() >= max(2, MOSTLY * len(number))
        if few_words or changes(column.indices.to_numpy(zero_copy_only=False), number):
            for chunk, row in self._chunks(CHUNK):
                fault = self._first_fault(chunk, row, {name: pa.float64()})
                if fault is not None:
                    raise fault

    @cached_property
    def _text_looked_at(self) -> list[pa.Table]:
        return [self._parsed(chunk, row, {}) for chunk, row in self.some_chunks()]

    def _chunks(self, size: int, most: int | None = None) -> Iterator[tuple[bytes, int]]:
        """Whole lines, and how many rows are before them."""
        with self.input.open() as stream:
            rest, row, read = b"", 0, 0
            if not self.json:
                _first_line(stream)
            while block := stream.read(size):
                rest += block
                read += len(block)
                cut = self._last_line_end(rest)
                if not cut and len(rest) > LONGEST_ROW:
                    raise self._endless(row + 1)
                if cut:
                    chunk, rest = rest[:cut], rest[cut:]
                    yield chunk, row
                    row += chunk.count(b"\n")
                if most is not None and read >= most and row:
                    return
            if rest.strip():
                yield rest, row

    def _last_line_end(self, chunk: bytes) -> int:
        """Where the last whole line ends: in CSV, a line end inside quotes is none."""
        cut = chunk.rfind(b"\n") + 1
        while cut and not self.json and chunk.count(b'"', 0, cut) % 2:
            cut = chunk.rfind(b"\n", 0, chunk.rfind(b'"', 0, cut)) + 1
        return cut

    def _endless(self, row: int) -> InputError:
        what = "the line" if self.json else "the row (a quote that is not closed?)"
        return InputError(f"{self._place(row)}: {what} does not end within {LONGEST_ROW >> 20} MB; mend it")

    def _parsed(self, chunk: bytes, row: int, types: Types | None) -> pa.Table:
        import pyarrow as pa

        try:
            return self._of_json(chunk, row, types) if self.json else self._of_csv(chunk, types)
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            raise self._fault(chunk, row, types or {}, str(error)) from None

    def _of_csv(self, chunk: bytes, types: Types | None) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        (names, separator), null = self.header, not self.verbatim
        if types is not None:
            types = {name: types.get(name, pa.string()) for name in names}
        return arrow_csv.read_csv(
            pa.BufferReader(chunk),
            arrow_csv.ReadOptions(column_names=names),
            arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=b'"' in chunk),
            arrow_csv.ConvertOptions(
                column_types=types, null_values=list(self.missing), strings_can_be_null=null, decimal_point=self.decimal
            ),
        )

    def _check_depth(self, chunk: bytes, row: int) -> None:
        """Refuse values inside values inside values …, which Arrow reads until the stack ends."""
        if chunk.count(b"{") + chunk.count(b"[") <= chunk.count(b"\n") + DEEPEST:
            return
        for i, line in enumerate(chunk.split(b"\n"), row + 1):
            if line.count(b"{") + line.count(b"[") > DEEPEST and depth(line) > DEEPEST:
                what = f"more than {DEEPEST} values inside each other; expected an object of single values on each line"
                raise InputError(f"{self.input.name if row < 0 else self._place(i)}: {what}")

    def _of_json(self, chunk: bytes, row: int, types: Types | None) -> pa.Table:
        import pyarrow as pa
        from pyarrow import json as arrow_json

        self._check_depth(chunk, row)
        if types is None:
            return arrow_json.read_json(pa.BufferReader(chunk))
        schema = pa.schema({name: types.get(name, pa.string()) for name in self.names})
        options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        return arrow_json.read_json(pa.BufferReader(chunk), parse_options=options)

    def _text(self, line: bytes, row: int) -> str:
        try:
            return line.decode("utf-8-sig" if row == 0 else "utf-8")
        except UnicodeDecodeError as error:
            raise self._not_text(row, line[error.start]) from None

    def _not_text(self, row: int, byte: int) -> InputError:
        return InputError(
            f"{self._place(row)}: byte 0x{byte:02x} is not UTF-8 text; "
            "give the encoding of the file: encoding='latin-1' (--encoding latin-1), or cp1252, utf-16, …"
        )

    def _place(self, row: int) -> str:
        """Row 0 is the header."""
        if self.json:
            return f"{self.input.name}, line {row}"
        return f"{self.input.name}, row {row} (line {row + 1})" if row else f"{self.input.name}, header"

    def _fault(self, chunk: bytes, row: int, types: Types, said: str) -> InputError:
        """The first cell that cannot be read as it should, found line by line."""
        if row < 0:  # somewhere in the file: it is read from its beginning
            for whole, first in self._chunks(CHUNK):
                fault = self._first_fault(whole, first, types)
                if fault is not None:
                    return fault
        return self._first_fault(chunk, row, types) or InputError(f"{self.input.name}: {said}")

    def _first_fault(self, chunk: bytes, row: int, types: Types) -> InputError | None:
        try:
            text = chunk.decode("utf-8")
        except UnicodeDecodeError as error:
            return self._not_text(row + 1 + chunk.count(b"\n", 0, error.start), chunk[error.start])
        if self.json:
            return self._json_fault(text, row, types)
        try:
            return self._csv_fault(text, row, types)
        except csv.Error as error:  # a cell that is very long, or a line end that is none
            return InputError(f"{self.input.name}: no CSV after row {row}: {error}; mend the row")

    def _csv_fault(self, text: str, row: int, types: Types) -> InputError | None:
        names, separator = self.header
        for i, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=separator), row + 1):
            if cells and len(cells) != len(names):
                return InputError(
                    f"{self._place(i)}: {len(cells)} cells, expected {len(names)} as in the header; mend the row "
                    f'(a "{separator}" inside a cell needs quotes around it)'
                )
            for name, cell in zip(names, cells, strict=False):
                known = name in types and cell not in self.missing
                if known and not readable(cell.strip(), types[name], self.decimal):
                    return self._other_type(i, name, cell, types[name])
        return None

    def _json_fault(self, text: str, row: int, types: Types) -> InputError | None:
        import json

        before: dict[str, str] = {}
        for i, line in enumerate(text.split("\n"), row + 1):
            try:
                cells = json.loads(line or "{}")
            except (ValueError, RecursionError) as error:
                return InputError(f"{self._place(i)}: no JSON ({error}); expected one object on each line")
            if not isinstance(cells, dict):
                return InputError(f"{self._place(i)}: expected an object, found {line[:20]!r}; one on each line")
            for name, cell in cells.items():
                if name in types and cell is not None and not readable(cell, types[name]):
                    return self._other_type(i, name, cell, types[name])
                kind = JSON_KINDS.get(type(cell), "")
                if kind and kind != before.setdefault(name, kind):
                    return InputError(
                        f"{self._place(i)}, column {name!r}: expected {before[name]}, as in the lines before, found "
                        f"{str(cell)[:40] if kind != 'text' else repr(cell)}; mend the cell"
                    )
        return None

    def _other_type(self, row: int, name: str, cell: object, kind: pa.DataType) -> InputError:
        return InputError(
            f"{self._place(row)}, column {name!r}: expected {in_words(kind)}, as in the other rows, found {cell!r}; "
            f"mend the cell, or take it for a missing value: missing=[{str(cell)!r}] (--missing {str(cell)!r}), or "
            f"the column for text: text=[{name!r}] (--text {name!r})"
        )

    def with_types(self, types: Types) -> TextFile:
        """The same file, these columns read as they say and all others as text."""
        made = replace(self, types=types)
        made.__dict__.update({k: v for k, v in self.__dict__.items() if k in ("header", "names", "schema")})
        return made


def _first_line(stream: IO[bytes]) -> bytes:
    """The header, which may have line ends in quotes; a line of more than a few megabytes is none."""
    line = stream.readline(1 << 22)
    while line.count(b'"') % 2 and (more := stream.readline(1 << 22)):
        line += more
    return line
