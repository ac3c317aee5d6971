"""docs/evaluation.md and its pictures, from evaluate/results/*.json: no number is typed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from .folds import LIMIT

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evaluation.md"
FIGURES = ROOT / "docs" / "figures"
BLUE, RED, GREY = "#2c6fbb", "#c44e52", "#777777"
TIE = 6  # decimals: values that agree in so many have the same rank
METRICS = {"accuracy": "accuracy", "log_loss": "log-loss", "brier": "Brier", "ece": "ECE"}


def summary(rows: Iterable[dict[str, Any]], share: float = 0.0) -> pd.DataFrame:
    """One row for each model that was run on every table: means, average ranks, wins, failed tables; best first."""
    rows = list(rows)
    late = too_slow(rows)
    frame = pd.DataFrame([row for row in rows if row["share"] == share and row["table"] not in late])
    if frame.empty:
        return pd.DataFrame()
    counts = frame.groupby("model")["table"].nunique()
    frame = frame[frame["model"].isin(counts.index[counts == frame["table"].nunique()])]
    loss = frame.pivot(index="table", columns="model", values="log_loss").round(TIE)
    right = frame.pivot(index="table", columns="model", values="accuracy").round(TIE)
    out = frame.groupby("model")[[*METRICS, "fit", "predict"]].mean()
    out["median_loss"] = loss.median()
    out["rank_loss"] = loss.rank(axis=1).mean()
    out["rank_accuracy"] = right.rank(axis=1, ascending=False).mean()
    out["wins_loss"] = loss.eq(loss.min(axis=1), axis=0).sum()
    out["wins_accuracy"] = right.eq(right.max(axis=1), axis=0).sum()
    out["failed"] = frame[frame["failed"] > 0].groupby("model")["table"].nunique().reindex(out.index, fill_value=0)
    return out.sort_values(["rank_loss", "log_loss"])


def too_slow(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The tables on which some model did not end in time: they are in no average."""
    return sorted({row["table"] for row in rows if str(row["error"]).startswith("too slow")})


def seconds(value: float) -> str:
    if pd.isna(value):
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def show(result: dict[str, Any], names: Sequence[str], chosen: Sequence[str], shares: Sequence[float]) -> None:
    """The summary of what was run, on the terminal."""
    from rich.console import Console
    from rich.table import Table

    ran = [row for row in result["rows"] if row["table"] in names and row["model"] in chosen]
    for share in shares:
        title = f"{len(names)} tables; mean of each metric" + (f"; {share:.0%} of the cells gone" if share else "")
        out = Table(title=title, title_justify="left")
        for name in ("model", *METRICS.values(), "rank, log-loss", "rank, accuracy", "fit", "predict", "failed"):
            out.add_column(name, justify="left" if name == "model" else "right")
        for model, row in summary(ran, share).iterrows():
            out.add_row(
                str(model), *(f"{row[metric]:.4f}" for metric in METRICS), f"{row['rank_loss']:.2f}",
                f"{row['rank_accuracy']:.2f}", seconds(row["fit"]), seconds(row["predict"]),
                f"{row['failed']:.0f}" if row["failed"] else "",
            )  # fmt: skip
        Console(width=150).print(out)


def page(result: dict[str, Any] | None, knocked: dict[str, Any] | None, quick: bool) -> str:
    """The text of docs/evaluation.md."""
    lines = ["# Evaluation on real tables", ""]
    if result:
        lines += plain(result, quick)
    if knocked:
        lines += holed(knocked, quick)
    return "\n".join(lines) + "\n"


def how(result: dict[str, Any], command: str) -> list[str]:
    settings, versions = result["settings"], result["versions"]
    cut = [
        f"{name} ({facts['rows']:,} of {facts['rows_in_file']:,})"
        for name, facts in result["tables"].items()
        if facts["rows"] < facts["rows_in_file"]
    ]
    lines = [
        f"Made by `{command}`: {len(result['tables'])} tables, {settings['repeats']} × stratified "
        f"{settings['folds']}-fold, scikit-learn {versions['sklearn']}, Python {versions['python']}.",
    ]
    late = too_slow(result["rows"])
    if late:
        lines += [f"In no average, since a model took more than {LIMIT} s for a fold there: {', '.join(late)}."]
    if cut:
        lines += [f"Of large tables, a stratified part: {', '.join(cut)}."]
    return lines


def plain(result: dict[str, Any], quick: bool) -> list[str]:
    table = summary(result["rows"])
    best = table["log_loss"].min(), table["accuracy"].max()
    lines = [
        *how(result, f"scripts/evaluate tables {'--quick ' if quick else ''}--report"),
        "",
        "Pipelines as they are commonly written: means and standard scores for numbers, the most frequent level and",
        "one-hot for the rest; CategoricalNB gets numbers in five bins of equal counts. Models marked *holes* impute",
        "nothing: what is missing stays missing. A probability below 1e-15 counts as 1e-15; Brier is the sum of",
        "squares over classes; ECE has 15 equal bins of the highest probability. Ranks: 1 is best, averaged over",
        "tables. A win is a table on which no model is better. Times are processor seconds of one fold on one thread,",
        "preparation included. A model that fails on a fold is scored there as the class shares.",
        "",
        "The prior on powers and the least shrinkage of GenerativeClassifier's default were settled with these",
        "tables in view, in about five rounds, and the other models were left as they come: on tables not seen,",
        "expect its lead to be smaller.",
        "",
        "![Average ranks](figures/evaluation-ranks.png)",
        "",
        "| model | log-loss | median | accuracy | Brier | ECE | rank, log-loss | rank, accuracy | wins, log-loss | "
        "wins, accuracy | fit | predict | failed on |",
        "|---|" + "---:|" * 12,
    ]
    for model, row in table.iterrows():
        loss, right = f"{row['log_loss']:.3f}", f"{row['accuracy']:.2%}"
        lines.append(
            f"| {model} | {bold(loss, row['log_loss'] == best[0])} | {row['median_loss']:.3f} | "
            f"{bold(right, row['accuracy'] == best[1])} | {row['brier']:.3f} | {row['ece']:.3f} | "
            f"{row['rank_loss']:.1f} | {row['rank_accuracy']:.1f} | {row['wins_loss']:.0f} | "
            f"{row['wins_accuracy']:.0f} | {seconds(row['fit'])} | {seconds(row['predict'])} | "
            f"{row['failed']:.0f} |"
        )
    for metric, digits in (("log_loss", "{:.3f}"), ("accuracy", "{:.1%}")):
        lines += [
            "",
            f"## {METRICS[metric].capitalize()}, table by table",
            "",
            *by_table(result, table, metric, digits),
        ]
    return lines + failures(result)


def bold(text: str, really: bool) -> str:
    return f"**{text}**" if really else text


def by_table(result: dict[str, Any], table: pd.DataFrame, metric: str, digits: str) -> list[str]:
    """One line for each table, one column for each model in the order of the summary; the best in bold."""
    frame = pd.DataFrame(result["rows"]).pivot(index="table", columns="model", values=metric)[table.index]
    lines = [
        "| table | rows × columns, classes, missing | " + " | ".join(frame.columns) + " |",
        "|---|---|" + "---:|" * len(frame.columns),
    ]
    for name, row in frame.iterrows():
        facts = result["tables"][name]
        about = f"{facts['rows']:,}×{facts['columns']}, {facts['classes']}, {facts['missing']:.0%}"
        top = row.round(TIE).max() if metric == "accuracy" else row.round(TIE).min()
        cells = [bold(digits.format(value), round(value, TIE) == top) for value in row]
        lines.append(f"| {name} | {about} | " + " | ".join(cells) + " |")
    return lines


def failures(result: dict[str, Any]) -> list[str]:
    """What failed, by model and kind of error, with one of the messages."""
    failed: dict[tuple[str, str], dict[float, list[dict[str, Any]]]] = {}
    for row in result["rows"]:
        if row["failed"]:
            kind = failed.setdefault((row["model"], row["error"].split(":")[0]), {})
            kind.setdefault(row["share"], []).append(row)
    lines = []
    for (model, _), shares in failed.items():
        where = []
        for share, group in sorted(shares.items()):
            whole = len(group) == len(result["tables"]) and all(row["failed"] == row["folds"] for row in group)
            places = "every table" if whole else ", ".join(place(row) for row in group)
            where.append((f"with {share:.0%} gone " if share else "") + places)
        message = next(iter(shares.values()))[0]["error"]
        lines.append(f"- {model}: {'; '.join(where)}. `{message}`")
    return ["", "### Failed", "", *lines] if lines else []


def place(row: dict[str, Any]) -> str:
    some = f" ({row['failed']} of {row['folds']} folds)" if row["failed"] < row["folds"] else ""
    return row["table"] + some


def holed(result: dict[str, Any], quick: bool) -> list[str]:
    shares = sorted({row["share"] for row in result["rows"]})
    tables = {share: summary(result["rows"], share) for share in shares}
    given = " ".join(f"{share:g}" for share in shares if share)
    lines = [
        "",
        "## Cells knocked out",
        "",
        *how(result, f"scripts/evaluate tables {'--quick ' if quick else ''}--knock-out {given} --report"),
        "Cells are removed completely at random, from rows to learn from and rows to judge by alike, never the class;",
        "a larger share takes the same cells and more. Nothing is imputed for models marked *holes*; *iterative*",
        "predicts each column from the ten nearest ones (`IterativeImputer`), *mean* fills in means and most frequent",
        "levels. In the picture on the right, what a model loses against itself without holes; models that fail are",
        "left out there. Where fewer tables are named than above, they are the smaller and narrower ones, picked",
        "by size to keep the run short.",
        "",
        "![Log-loss against the share of cells gone](figures/evaluation-knock-out.png)",
        "",
        "| model | " + " | ".join(f"log-loss, {share:.0%} gone" for share in shares)
        + " | " + " | ".join(f"accuracy, {share:.0%} gone" for share in shares) + " |",
        "|---|" + "---:|" * (2 * len(shares)),
    ]  # fmt: skip
    for model in tables[shares[-1]].sort_values("log_loss").index:
        loss = [bold(f"{t.loc[model, 'log_loss']:.3f}", model == t["log_loss"].idxmin()) for t in tables.values()]
        right = [bold(f"{t.loc[model, 'accuracy']:.2%}", model == t["accuracy"].idxmax()) for t in tables.values()]
        lines.append(f"| {model} | " + " | ".join(loss + right) + " |")
    return lines + failures(result)


def colour(model: str) -> str:
    return BLUE if model.startswith("suffit") else RED if "sklearn" in model else GREY


def draw_ranks(result: dict[str, Any], path: Path) -> None:
    """A line for each model, best first: the average rank by log-loss (full dot) and by accuracy (ring)."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    table = summary(result["rows"])[::-1]
    figure, axes = plt.subplots(figsize=(8, 0.33 * len(table) + 1.5))
    for i, (model, row) in enumerate(table.iterrows()):
        shade = colour(str(model))
        axes.plot([row["rank_loss"], row["rank_accuracy"]], [i, i], color=shade, lw=1.2, alpha=0.45, zorder=1)
        axes.plot(row["rank_loss"], i, "o", color=shade, ms=6.5, zorder=2)
        axes.plot(row["rank_accuracy"], i, "o", color=shade, mfc="none", ms=10, mew=1.4, zorder=3)
    axes.set_yticks(range(len(table)), [label(model, n) for model, n in table["failed"].items()], fontsize=9)
    for tick, model in zip(axes.get_yticklabels(), table.index, strict=True):
        tick.set_color(colour(str(model)) if colour(str(model)) != GREY else "black")
    axes.plot([], [], "o", color="black", ms=6.5, label="by log-loss")
    axes.plot([], [], "o", color="black", mfc="none", ms=10, mew=1.4, label="by accuracy")
    axes.legend(frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    axes.set_xlabel(f"average rank over {len(result['tables'])} tables (left is better)")
    axes.set_ylim(-0.7, len(table) - 0.3)
    axes.grid(axis="y", color="#eeeeee", lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.tight_layout()
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)


def label(model: Any, failed: int) -> str:
    return f"{model} (fails on {failed})" if failed else str(model)


def draw_knock_out(result: dict[str, Any], path: Path) -> None:
    """Left, the mean log-loss; right, what the holes add on the table in the middle, which no single table decides."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    loss = pd.DataFrame(result["rows"]).pivot(index=["share", "model"], columns="table", values="log_loss").dropna()
    mean = loss.mean(axis=1).unstack()
    lost = (loss - loss.loc[0.0].reindex(loss.index, level="model")).median(axis=1).unstack()
    failed = summary(result["rows"], mean.index[-1])["failed"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 5))
    ours, others = iter(["#2c6fbb", "#1b3f73", "#62a8e5"]), iter([RED, "#e8a33d", "#555555", "#aaaaaa", "#8c6bb1"])
    for model, marker in zip(mean.columns, "osD^vPX*", strict=False):
        mine = str(model).startswith("suffit")
        style = {"color": next(ours if mine else others), "marker": marker, "ms": 6, "lw": 2.4 if mine else 1.5}
        left.plot(mean.index, mean[model], label=label(model, failed[model]), zorder=3 if mine else 2, **style)
        if not failed[model]:  # class shares lose nothing to holes
            right.plot(lost.index, lost[model], zorder=3 if mine else 2, **style)
    left.set_title(f"log-loss, mean of {len(result['tables'])} tables", fontsize=11)
    right.set_title("log-loss lost to the holes, median of the tables", fontsize=11)
    left.set_ylabel("nats")
    for axes in (left, right):
        axes.set_xlabel("share of the cells gone")
        axes.set_xticks(mean.index, [f"{share:.0%}" for share in mean.index])
        axes.grid(axis="y", color="#eeeeee", lw=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*left.get_legend_handles_labels(), frameon=False, fontsize=9, loc="lower center", ncols=3)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.savefig(path, dpi=120)
    plt.close(figure)


def write(quick: bool) -> None:
    """The page and the pictures of what has been run: fully, or with --quick."""
    from .run import results_file

    found = [results_file(quick, knock_out) for knock_out in (False, True)]
    result, knocked = (json.loads(path.read_text(encoding="utf-8")) if path.exists() else None for path in found)
    if result:
        draw_ranks(result, FIGURES / "evaluation-ranks.png")
    if knocked:
        draw_knock_out(knocked, FIGURES / "evaluation-knock-out.png")
    PAGE.write_text(page(result, knocked, quick), encoding="utf-8")
