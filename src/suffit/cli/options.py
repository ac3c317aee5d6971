"""The arguments and options that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

HOW = "Reading files"


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
Format = Annotated[Kind | None, typer.Option("--format", help="The kind of the input.", rich_help_panel=HOW)]
Encoding = Annotated[str | None, typer.Option("--encoding", help="Of text files, if not UTF-8.", rich_help_panel=HOW)]
Separator = Annotated[str | None, typer.Option("--separator", help="Of CSV: ; or tab.", rich_help_panel=HOW)]
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", help="A sign for a missing value, beside '', ?, NA, NaN, null.", rich_help_panel=HOW),
]
Text = Annotated[
    list[str] | None,
    typer.Option("--text", help="A column that is text, whatever it looks like.", rich_help_panel=HOW),
]
AsJson = Annotated[bool, typer.Option("--json", help="For machines: JSON on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes, no progress.")]
Debug = Annotated[bool, typer.Option("--debug", help="A traceback where something goes wrong.")]
