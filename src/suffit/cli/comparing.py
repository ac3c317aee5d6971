"""``suffit compare``: the rows of files, and what a comparison of models on them found."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from ..comparison.result import HEADS, Comparison
from ..comparison.study import compare
from ..data.errors import InputError
from ..figures.style import pyplot
from ..files.atomic import write_whole
from .console import show_json, show_table
from .writing import check_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engines.sources import Files


def check_picture(path: str) -> None:
    """Refuse a picture that cannot be drawn or written, before the work is done."""
    check_folder(path)
    pyplot()  # says what to install
    from matplotlib.backend_bases import FigureCanvasBase

    kinds = FigureCanvasBase.get_supported_filetypes()
    if os.path.splitext(path)[1][1:].lower() not in kinds:
        raise InputError(f"{path}: unknown kind of picture; use an ending such as .svg, .png or .pdf")


def save_picture(found: Comparison, path: str) -> None:
    """The picture as a file that is there whole, or not at all."""
    drawn = io.BytesIO()
    found.plot().savefig(drawn, format=os.path.splitext(path)[1][1:].lower())
    write_whole(path, drawn.getvalue(), "the picture")


def compared(
    files: Files, target: str, models: Sequence[str], folds: int, repeats: int, quick: bool, seed: int, quiet: bool
) -> Comparison:
    """The comparison on all rows of the files that have a label."""
    import pyarrow as pa
    from pyarrow import compute

    from ..engines.arrow import check_columns

    check_columns(files.names, [target])
    tables = [table.replace_schema_metadata(None) for table in files.tables(target)]
    if not tables or not sum(table.num_rows for table in tables):
        raise InputError(f"{files.name}: there are no rows to compare on")
    table = pa.concat_tables(tables, promote_options="default")
    table = table.filter(compute.is_valid(table[target]))
    labels = table[target].to_numpy()
    return compare(
        table.drop_columns([target]), labels, list(models) or "default", folds=folds, repeats=repeats, curves=not quick,
        robustness=not quick, random_state=seed, progress=False if quiet else None,
    )  # fmt: skip


def show_comparison(found: Comparison, json: bool) -> None:
    """As a table and a verdict, or as JSON."""
    if json:
        show_json(described(found))
        return
    show_table(f"{found.n_rows:,} rows, held out in turn", ["model", *HEADS], found.lines())
    note = "\n* saw a table whose missing values had been filled" if found.filled else ""
    print(f"{note}\n{found.verdict}")


def described(found: Comparison) -> dict[str, object]:
    """Everything by name."""
    curves = {} if found.curves is None else {"rows learned": found.curves}
    return {
        "rows": found.n_rows,
        "classes": [str(c) for c in found.classes],
        "models": {
            name: {"mean": held.mean, "standard_error": held.standard_error, "confusion": held.confusion.tolist()}
            for name, held in found.held.items()
        },
        "error": {
            what: {"at": list(c.at), **{name: c.mean(name).tolist() for name in c.errors}}
            for what, c in {**curves, **found.robustness}.items()
        },
        "filled": list(found.filled),
        "verdict": found.verdict,
    }
