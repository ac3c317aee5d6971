"""Files of rows as a model reads them, and the column of the labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ..data.errors import InputError
from ..engines.arrow import check_columns, column_types, label_type
from ..engines.sources import FILE, ROW, Files, Progress, counted, read_ahead
from ..engines.table_files import TableFile
from ..engines.text_files import TextFile, Types
from ..engines.text_types import in_words, readable
from ..estimators.base import GenerativeEstimator

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RowsOfModel:
    """Rows for a model: as they are written, to be written again, and as the model takes them."""

    files: Files
    model: GenerativeEstimator
    missing: Sequence[str]
    decimal: str = "."

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """The types of the model's columns in files of text."""
        return column_types(self.model)

    def both(
        self, progress: Progress | None = None, known: Types | None = None, as_text: bool = True
    ) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Tables as they are written, and the same with the columns of the model (and ``known``) as their types.

        Without ``as_text`` the first hold what a fit would read: numbers, dates, missing values.
        """
        types = {**self.types, **(known or {})}
        as_text = as_text or any(
            isinstance(f, TextFile) and f.json for f in self.files.files
        )  # which has its own types
        files = [replace(f, verbatim=True) if isinstance(f, TextFile) else f for f in self.files.files]
        table = None
        for table in (t for _, t in counted(read_ahead(_as_written(files)), progress) if t.num_rows):
            written = table if as_text else self._typed(table, _no_codes(table, self.files.types), "in the other rows")
            yield written, self._typed(table, types, "at fit")
        if table is None:
            raise InputError(f"{self.files.name}: there are no rows")

    def labelled(self, target: str, progress: Progress | None = None) -> Iterator[tuple[pa.Table, pa.ChunkedArray]]:
        """The rows as the model takes them, and their labels."""
        kind = label_type(self.model.classes_)
        for _, table in self.both(progress, None if kind is None else {target: kind}):
            yield table, table[target]

    def _typed(self, table: pa.Table, types: Types, known: str) -> pa.Table:
        import pyarrow as pa
        from pyarrow import compute

        marks = pa.array(self.missing, pa.string())
        for i, name in enumerate(table.column_names):
            column = table[name]
            if name not in types:
                continue
            if not pa.types.is_string(column.type):
                if pa.types.is_string(types[name]) and pa.types.is_integer(column.type):  # codes of categories
                    table = table.set_column(i, name, column.cast(pa.string()))
                continue
            column = compute.if_else(compute.is_in(column, marks), pa.scalar(None, pa.string()), column)
            if not pa.types.is_string(types[name]):
                column = _cast(table, name, column, types[name], known, self.decimal)
            table = table.set_column(i, name, column)
        return table

    def target(self, given: str | None) -> str:
        """The column of the labels: as given, or the only one beside the model's columns that holds its classes."""
        names = self.files.names
        if given is not None:
            check_columns(names, [given])
            return given
        mine = set(getattr(self.model, "feature_names_in_", ()))
        others = [name for name in names if name not in mine]
        sample = next((t for f in self.files.files for t in f.with_types({}).sample() if t.num_rows), None)
        classes = {str(c) for c in self.model.classes_.tolist()}
        found = [name for name in others if sample is None or _holds(sample, name, classes)]
        if len(found) == 1:
            return found[0]
        why = f"{'more than one' if found else 'none'} of {', '.join(map(repr, others[:8]))} has classes of the model"
        why = f"{why}; say which it is with --target" if others else "the file has no column beside those of the model"
        raise InputError(f"the column of the labels is not clear: {why}")


def _holds(sample: pa.Table, name: str, classes: set[str]) -> bool:
    cells = sample[name].unique().to_pylist() if name in sample.column_names else ()
    values = {str(v) for v in cells if v is not None}
    return bool(values) and len(values & classes) >= 0.5 * len(values)


def _as_written(files: Sequence[TableFile]) -> Iterator[pa.Table]:
    """All rows of files, text as it is written, each table with where it comes from."""
    for file in files:
        row = 0
        for table in file.with_types({}).tables():
            yield table.replace_schema_metadata({FILE: file.input.name, ROW: str(row)})
            row += table.num_rows


def _no_codes(table: pa.Table, types: Types) -> Types:
    """The types of columns, without those of integers of which some begin with 0, which are codes: they stay text."""
    import pyarrow as pa
    from pyarrow import compute

    whole = [f.name for f in table.schema if f.type == pa.string() and str(types.get(f.name)) == "int64"]
    codes = [n for n in whole if compute.any(compute.match_substring_regex(table[n], r"^\s*[+-]?0\d")).as_py()]
    return {name: kind for name, kind in types.items() if name not in codes}


def _cast(
    table: pa.Table, name: str, column: pa.ChunkedArray, kind: pa.DataType, where: str, decimal: str
) -> pa.ChunkedArray:
    import pyarrow as pa
    from pyarrow import compute

    cells = numbers = compute.utf8_trim_whitespace(column)
    if pa.types.is_floating(kind) and decimal != ".":  # which is no number any more where it was one
        numbers = compute.replace_substring(compute.replace_substring(cells, ".", "?"), decimal, ".")
    try:
        return numbers.cast(kind)
    except pa.ArrowInvalid:
        known = table.schema.metadata or {}
        for i, cell in enumerate(cells.to_pylist()):
            if cell is not None and not readable(cell, kind, decimal):
                place = f"{known[FILE].decode()}, row {i + int(known[ROW]) + 1}" if FILE in known else f"row {i + 1}"
                raise InputError(
                    f"{place}, column {name!r}: expected {in_words(kind)}, as {where}, found {cell!r}; mend the cell, "
                    f"or take it for a missing value: --missing {cell!r}"
                ) from None
        raise
