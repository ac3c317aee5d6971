"""``scripts/evaluate show``: the summary of results, on the terminal."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from . import models
from .folds import LIMIT
from .summaries import seconds, summary, too_slow

HEADINGS = ("model", "log-loss", "median", "accuracy", "Brier", "ECE", "rank, log-loss", "rank, accuracy", "fit",
            "predict", "failed")  # fmt: skip


def show(result: dict[str, Any], names: Sequence[str], chosen: Sequence[str]) -> None:
    """A table for each share of cells gone: a line for each of these models that was run on all of these tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=160, highlight=False)
    ran = [row for row in result["rows"] if row["table"] in names and row["model"] in chosen]
    late = too_slow(ran)
    for share in sorted({row["share"] for row in ran}):
        gone = f"; {share:.0%} of the cells gone" if share else ""
        title = f"{len(names) - len(late)} tables; mean of each metric{gone}"
        out = Table(title=title, title_justify="left")
        for name in HEADINGS:
            out.add_column(name, justify="left" if name == "model" else "right", no_wrap=True)
        for model, row in summary(ran, share).iterrows():
            out.add_row(
                str(model), f"{row['log_loss']:.4f}", f"{row['median_loss']:.4f}", f"{row['accuracy']:.2%}",
                f"{row['brier']:.4f}", f"{row['ece']:.4f}", f"{row['rank_loss']:.2f}", f"{row['rank_accuracy']:.2f}",
                seconds(row["fit"]), seconds(row["predict"]), f"{row['failed']:.0f}" if row["failed"] else "",
            )  # fmt: skip
        console.print(out)
    if late:
        console.print(f"in no average, since a model took more than {LIMIT} s for a fold there: {', '.join(late)}")
    for model, lacking in not_run(result, names, chosen).items():
        console.print(f"left out, since not run on all tables: {model} (not on {', '.join(lacking)})")


def not_run(result: dict[str, Any], names: Sequence[str], chosen: Sequence[str]) -> dict[str, list[str]]:
    """The tables that the results of a model do not have."""
    there = {(row["model"], row["table"]) for row in result["rows"]}
    lacking = {model: [name for name in names if (model, name) not in there] for model in chosen}
    return {model: tables for model, tables in lacking.items() if tables}


def run(arguments: argparse.Namespace) -> int:
    if not arguments.file.exists():
        raise SystemExit(f"no file {arguments.file}; scripts/evaluate tables makes one")
    result = json.loads(arguments.file.read_text(encoding="utf-8"))
    chosen = models.named(dict.fromkeys(row["model"] for row in result["rows"]), arguments.models)
    names = [name for name in result["tables"] if name in arguments.tables or not arguments.tables]
    if arguments.common:
        there = {(row["model"], row["table"]) for row in result["rows"]}
        names = [name for name in names if all((model, name) in there for model in chosen)]
    show(result, names, chosen)
    return 0
