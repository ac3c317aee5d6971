"""``suffit report``: the rows of files under a model, as a page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ..engines.arrow import columns_of_model
from ..reports.report import Report, made
from ..reports.scores import MOST_SCORED
from .console import Progress
from .reading import RowsOfModel


def reported(
    rows: RowsOfModel, given: tuple[str, Sequence[str]], target: str | None, output: str, title: str | None,
    learned: bool | None, compare: bool, seed: int, quiet: bool,
) -> Report:  # fmt: skip
    """The report on all rows of the files, written; ``given`` is how the model and the files were called."""
    import pyarrow as pa

    name = rows.target(target)
    with Progress("reading", quiet) as progress:
        both = list(rows.labelled(name, progress))
    table = pa.concat_tables([t.replace_schema_metadata(None) for t, _ in both], promote_options="default")
    y = pa.chunked_array([chunk for _, column in both for chunk in column.chunks])
    X = columns_of_model(rows.model, table.drop_columns([name]))
    again = ["suffit", "report", given[0], *given[1], "--target", name, "--output", output]
    code = [
        ("On the command line:", shlex.join(again)),
        ("In Python, with the rows in a data frame:", _python(given, name, output)),
    ]
    return made(
        rows.model, X, y, output, title, name, code, learned, compare, MOST_SCORED, seed, False if quiet else None
    )


def _python(given: tuple[str, Sequence[str]], target: str, output: str) -> str:
    return "\n".join([
        "import pandas as pd",
        "import suffit",
        "",
        f"rows = pd.read_csv({given[1][0]!r})",
        f"y = rows.pop({target!r})",
        f"suffit.report(suffit.load({given[0]!r}), rows, y, path={output!r})",
    ])  # fmt: skip
