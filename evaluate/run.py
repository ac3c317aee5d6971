"""``scripts/evaluate``: run the folds, print the table, write the results."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from . import friedman, fuzz, mail, models, same, show, tables, text
from .boosters import PACKAGES, why_no_model
from .folds import FOLDS, run_fold, splits

RESULTS = Path(__file__).resolve().parent / "results"
MOST, QUICK = 10_000, 2_000  # rows of a table, fully and with --quick
PROCESSES = 2
MEANS = ["accuracy", "log_loss", "brier", "ece", "fit", "predict"]


def run_folds(
    table: tables.Table, shares: Sequence[float], chosen: Sequence[str], settings: dict[str, Any], bar: Any
) -> list[dict[str, Any]]:
    """All folds of a table, two at a time with one thread each; a row for each fold and model."""
    from joblib import Parallel, delayed

    pool = Parallel(PROCESSES, return_as="generator_unordered", max_nbytes=None)
    calls = (
        delayed(run_fold)(tables.knock_out(table, share), share, learn, judge, chosen)
        for share in shares
        for learn, judge in splits(table, settings["repeats"])
    )
    task = bar.add_task(table.name, total=len(shares) * settings["repeats"] * FOLDS)
    rows: list[dict[str, Any]] = []
    for results in pool(calls):
        rows += results
        bar.update(task, advance=1)
    return rows


def run_tables(
    found: tuple[Path, Sequence[str]],
    shares: Sequence[float],
    chosen: Sequence[str],
    path: Path,
    result: dict[str, Any],
) -> dict[str, Any]:
    """The result with these tables, one after the other; written after each, so that an interrupt loses only one."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    folder, names = found
    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    path.parent.mkdir(exist_ok=True)
    with Progress(*columns) as bar:
        for name in names:
            table = tables.cut(tables.read(folder, name), result["settings"]["most"])
            rows = run_folds(table, shares, chosen, result["settings"], bar)
            result = joined(result, {**result, "tables": {name: table.facts}, "rows": averaged(rows)})
            part = path.with_suffix(".part")
            part.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
            part.replace(path)
    return result


def missing(result: dict[str, Any], names: Sequence[str], shares: Sequence[float], chosen: Sequence[str]) -> list[str]:
    """The tables of which something has not been run."""
    there = {(row["table"], row["share"], row["model"]) for row in result["rows"]}
    return [name for name in names if not all((name, share, model) in there for share in shares for model in chosen)]


def averaged(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over the folds of each table, share and model; how many failed, and the first reason."""
    out = []
    for (table, share, model), group in pd.DataFrame(rows).groupby(["table", "share", "model"], sort=False):
        failed = group["error"][group["error"] != ""]
        means = {name: None if pd.isna(value) else float(value) for name, value in group[MEANS].mean().items()}
        out.append({
            "table": table, "share": float(share), "model": model, **means, "folds": len(group),
            "failed": len(failed), "error": min(failed, default=""),
        })  # fmt: skip
    order = {name: i for i, name in enumerate(models.every())}
    return sorted(out, key=lambda row: (row["table"], row["share"], order[row["model"]]))


def joined(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The new results with those old ones that were made alike and not run again."""
    if old["settings"] != new["settings"]:
        return new
    again = {(row["table"], row["share"], row["model"]) for row in new["rows"]}
    kept = [row for row in old["rows"] if (row["table"], row["share"], row["model"]) not in again]
    order = {name: i for i, name in enumerate(models.every())}
    rows = sorted(kept + new["rows"], key=lambda row: (row["table"], row["share"], order.get(row["model"], 0)))
    return {
        "settings": new["settings"], "versions": old["versions"] | new["versions"],
        "tables": dict(sorted((old["tables"] | new["tables"]).items())), "rows": rows,
    }  # fmt: skip


def evaluate(arguments: argparse.Namespace) -> int:
    folder = tables.data_folder()
    reason = tables.why_absent(folder)
    if reason:
        print(f"skipped: {reason}")
        return 0
    names = arguments.tables or tables.names(folder)
    unknown = sorted(set(names) - set(tables.names(folder)))
    if unknown:
        raise SystemExit(f"no table {', '.join(unknown)} in {folder}; there are {', '.join(tables.names(folder))}")
    known = models.KNOCK_OUT if arguments.knock_out else models.MODELS
    chosen = models.named(known, arguments.models)
    if not chosen:
        raise SystemExit(f"no model by that name; there are {', '.join(known)}")
    for name in [name for name in chosen if why_no_model(name)]:
        print(f"skipped: {why_no_model(name)}")
        chosen.remove(name)
    if not chosen:
        return 0
    settings = {
        "repeats": arguments.repeats or (1 if arguments.quick else 2), "folds": FOLDS,
        "most": QUICK if arguments.quick else MOST,
    }  # fmt: skip
    shares = sorted({0.0, *(arguments.knock_out or [])})
    print(
        f"{len(names)} tables of at most {settings['most']:,} rows, {len(chosen)} models, {settings['repeats']} × "
        f"{FOLDS} folds" + (f", cells gone: {', '.join(f'{share:.0%}' for share in shares)}" if shares != [0] else "")
    )
    start = time.perf_counter()
    path = results_file(arguments.quick, bool(arguments.knock_out))
    result = {"settings": settings, "versions": versions(chosen), "tables": {}, "rows": []}
    if path.exists() and (arguments.tables or arguments.models or arguments.resume):
        result = joined(json.loads(path.read_text(encoding="utf-8")), result)
    wanted = missing(result, names, shares, chosen) if arguments.resume else names
    result = run_tables((folder, wanted), shares, chosen, path, result)
    lacking = missing(result, tables.names(folder), shares, list(known))
    print(f"not yet run with all models: {', '.join(lacking)}" if lacking else "all tables are there with all models")

    show.show(result, names, chosen)
    print(f"{time.perf_counter() - start:.0f} s")
    if arguments.report:
        from . import report

        report.write()
    return 0


def evaluate_text(arguments: argparse.Namespace) -> int:
    folder = tables.data_folder()
    names = [name for name in text.READERS if name in arguments.texts or not arguments.texts]
    absent = [name for name in names if text.why_absent(folder, name)]
    for name in absent:
        print(f"skipped: {text.why_absent(folder, name)}")
    names = [name for name in names if name not in absent]
    if not names:
        return 0
    start = time.perf_counter()
    result = {"settings": {"folds": FOLDS}, "versions": versions(), "tables": {}, "rows": []}
    path = text_file()
    if path.exists():
        result = joined(json.loads(path.read_text(encoding="utf-8")), result)
    path.parent.mkdir(exist_ok=True)
    for name in names:
        texts = text.READERS[name](folder)
        repeats = arguments.repeats or text.REPEATS
        rows = text.run_folds(texts, repeats)
        result = joined(result, {**result, "tables": {name: texts.facts(repeats)}, "rows": averaged(rows)})
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        print("\n".join(text.table(result, name)))
    print(f"{time.perf_counter() - start:.0f} s")
    if arguments.report:
        from . import report

        report.write()
    return 0


def text_file() -> Path:
    return RESULTS / "text.json"


def results_file(quick: bool, knock_out: bool) -> Path:
    """tables.json, knock-out.json, and the same with -quick."""
    return RESULTS / f"{'knock-out' if knock_out else 'tables'}{'-quick' if quick else ''}.json"


def versions(chosen: Sequence[str] = ()) -> dict[str, str]:
    import sklearn

    import suffit

    cores = f"{len(os.sched_getaffinity(0))} cores" if hasattr(os, "sched_getaffinity") else f"{os.cpu_count()} cores"
    boosters = {name: import_module(PACKAGES[name]).__version__ for name in chosen if name in PACKAGES}
    return {"python": platform.python_version(), "sklearn": sklearn.__version__, "suffit": suffit.__version__,
            **boosters, "machine": cores}  # fmt: skip


def proportion(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"a share of the cells lies between 0 and 1, found {text}")
    return value


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/evaluate")
    kinds = parser.add_subparsers(required=True, metavar="tables | show | text | mail | friedman | fuzz | same")
    kind = kinds.add_parser("tables", help="classification tables, repeated stratified 5-fold")
    kind.add_argument("--quick", action="store_true", help=f"one repeat on at most {QUICK:,} rows of each table")
    kind.add_argument("--tables", nargs="+", default=[], metavar="NAME", help="only these tables")
    kind.add_argument("--models", nargs="+", default=[], metavar="WORD", help="only models whose name holds a word")
    kind.add_argument("--repeats", type=int, help="repeats of the five folds (2; 1 with --quick)")
    kind.add_argument("--knock-out", nargs="+", type=proportion, metavar="SHARE", help="remove these shares of cells")
    kind.add_argument("--resume", action="store_true", help="only what the results do not have yet")
    kind.add_argument("--report", action="store_true", help="write docs/evaluation.md, of full runs where there are")
    kind.set_defaults(run=evaluate)
    kind = kinds.add_parser("show", help="the summary of the results of tables: means, medians, average ranks")
    kind.add_argument("file", nargs="?", type=Path, default=results_file(False, False), help="(tables.json)")
    kind.add_argument("--tables", nargs="+", default=[], metavar="NAME", help="only these tables")
    kind.add_argument("--models", nargs="+", default=[], metavar="WORD", help="only models whose name holds a word")
    kind.add_argument("--common", action="store_true", help="only tables on which all these models were run")
    kind.set_defaults(run=show.run)
    kind = kinds.add_parser("text", help="messages and mail as counts of words, repeated stratified 5-fold")
    kind.add_argument("--texts", nargs="+", default=[], metavar="NAME", choices=list(text.READERS), help="only these")
    kind.add_argument("--repeats", type=int, help="repeats of the five folds (2)")
    kind.add_argument("--report", action="store_true", help="write docs/evaluation.md")
    kind.set_defaults(run=evaluate_text)
    mail.add_arguments(
        kinds.add_parser("mail", help="the mail filter beside bogofilter: halves of an archive, streams")
    )
    kind = kinds.add_parser("friedman", help="Friedman's six simulated settings; writes a table into docs/tuning.md")
    kind.add_argument("--repeats", type=int, help=f"training sets of each setting ({friedman.REPEATS})")
    kind.set_defaults(run=friedman.run)
    kind = kinds.add_parser("fuzz", help="random tables: never worse than the class shares, promises kept")
    kind.add_argument("n", nargs="?", type=int, default=1_000, help="tables (1000)")
    kind.add_argument("seed", nargs="?", type=int, default=0, help="of the first; the next ones follow (0)")
    kind.set_defaults(run=lambda arguments: fuzz.run(arguments.n, arguments.seed))
    kind = kinds.add_parser("same", help="tables with rows, names and units changed: the same answer")
    kind.add_argument("--tables", nargs="+", default=[], metavar="NAME", help="only these tables")
    kind.add_argument("--most", type=int, default=MOST, help=f"rows of a table ({MOST:,})")
    kind.set_defaults(run=same.run)
    arguments = parser.parse_args(words)
    return int(arguments.run(arguments))


if __name__ == "__main__":
    raise SystemExit(main())
