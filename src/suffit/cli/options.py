"""The arguments and options that several verbs share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..engines.sources import Files as ReadFiles
    from ..estimators.base import GenerativeEstimator
    from .reading import RowsOfModel


class Kind(StrEnum):
    """Kinds of files."""

    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"
    arrow = "arrow"


class Structure(StrEnum):
    """How columns depend on each other."""

    auto = "auto"
    naive = "naive"
    partitions = "partitions"
    densities = "densities"


class Labels(StrEnum):
    """What to do with rows that have none."""

    error = "error"
    drop = "drop"


class Calibrate(StrEnum):
    """How probabilities are calibrated."""

    temperature = "temperature"
    isotonic = "isotonic"


Files = Annotated[list[str], typer.Argument(metavar="FILES", help="CSV, TSV, Parquet, Arrow or JSON lines; globs; -")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file.")]
Target = Annotated[str | None, typer.Option("--target", "-t", help="The column of the labels.")]
Weight = Annotated[str | None, typer.Option("--weight", help="The column of the weights of rows.")]
Out = Annotated[str | None, typer.Option("--output", "-o", help="Where to write; - is standard output.")]
To = Annotated[Kind | None, typer.Option("--to", help="The kind of the output, where its name does not say it.")]
Keep = Annotated[
    str | None, typer.Option("--keep", help="The input columns to write too: a,b,c (all by default; '' none).")
]
Seed = Annotated[int | None, typer.Option("--seed", help="For the same random numbers each time.")]
AsJson = Annotated[bool, typer.Option("--json", help="For machines: JSON on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes, no progress.")]
Debug = Annotated[bool, typer.Option("--debug", help="A traceback where something goes wrong.")]


def _of_reading(help: str) -> object:
    return typer.Option(help=help, rich_help_panel="Reading files")


@dataclass(frozen=True)
class Reading:
    """How files are to be read: the options of every verb that reads files."""

    format: Annotated[Kind | None, _of_reading("The kind of the input.")] = None
    encoding: Annotated[str | None, _of_reading("Of text files, if not UTF-8.")] = None
    separator: Annotated[str | None, _of_reading("Of CSV: ; or tab.")] = None
    decimal: Annotated[str, _of_reading("Before the decimals of a number in CSV: , or .")] = "."
    missing: Annotated[list[str] | None, _of_reading("A sign for a missing value, beside '', ?, NA, NaN, null.")] = None

    def files(self, paths: Sequence[str], text: Sequence[str] = ()) -> ReadFiles:
        """The files, each column by what it looks like."""
        from ..data.errors import InputError
        from ..engines.sources import read_files

        if not paths:
            raise InputError("no files are given; give paths, globs, or - for standard input")
        return read_files(
            list(paths),
            kind=self.format and self.format.value,
            encoding=self.encoding,
            separator={"tab": "\t", "\\t": "\t"}.get(self.separator or "", self.separator),
            decimal=self.decimal,
            missing=self.missing or (),
            text=text,
        )

    def for_model(self, model: GenerativeEstimator, paths: Sequence[str]) -> RowsOfModel:
        """The files, the columns of the model as it was fitted on them."""
        from ..engines.text_files import MARKS
        from .reading import RowsOfModel

        return RowsOfModel(self.files(paths), model, (*MARKS, *(self.missing or ())), self.decimal)


@dataclass(frozen=True)
class FirstReading(Reading):
    """The same, of files whose columns no model knows."""

    text: Annotated[list[str] | None, _of_reading("A column that is text, whatever it looks like.")] = None

    def files(self, paths: Sequence[str], text: Sequence[str] = ()) -> ReadFiles:
        """The files, each column by what it looks like, or as it is said to be."""
        return super().files(paths, (*text, *(self.text or ())))
