"""``suffit compare``: the rows of files, and what a comparison of models on them found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..comparison.result import HEADS, Comparison
from ..comparison.study import compare
from ..data.errors import InputError
from .console import show_json, show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..engines.sources import Files


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
    chosen = list(models) if models else "default"
    return compare(
        table.drop_columns([target]), labels, chosen, folds=folds, repeats=repeats, curves=not quick,
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
