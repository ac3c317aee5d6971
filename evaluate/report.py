"""docs/evaluation.md, its pictures and README's table, from evaluate/results/*.json: no number is typed by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from . import text
from .boosters import PACKAGES
from .folds import LIMIT
from .notes import BOOSTING, OURS, behind, calibration, compared, in_short
from .pictures import draw_knock_out, draw_missing, draw_ranks
from .summaries import METRICS, TIE, complete, lost, seconds, summary, too_slow

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "evaluation.md"
README = ROOT / "README.md"
FIGURES = ROOT / "docs" / "figures"
EXACT = ["suffit LDA, missing values", "suffit GDA tied, OAS, missing values"]
IMPUTED = ["mean + sklearn LDA", "mean, rare categories pooled + sklearn LDA", "iterative + sklearn LDA"]


def page(result: dict[str, Any] | None, knocked: dict[str, Any] | None, texts: dict[str, Any] | None = None) -> str:
    """The text of docs/evaluation.md."""
    lines = ["# Evaluation on real tables", ""]
    if result:
        lines += plain(result)
    if knocked:
        lines += with_missing(knocked)
    if texts:
        lines += text.section(texts)
    return "\n".join(lines) + "\n"


def how(result: dict[str, Any], words: str = "") -> list[str]:
    from .run import QUICK

    settings, versions = result["settings"], result["versions"]
    command = f"scripts/evaluate tables {'--quick ' if settings['most'] == QUICK else ''}{words}--report"
    cut = [
        f"{name} ({facts['rows']:,} of {facts['rows_in_file']:,})"
        for name, facts in result["tables"].items()
        if facts["rows"] < facts["rows_in_file"]
    ]
    whole, some = ({row["model"] for row in rows} for rows in (complete(result["rows"]), result["rows"]))
    boosters = "".join(f", {name} {versions[name]}" for name in PACKAGES if name in whole)
    lines = [
        f"Made by `{command}`: {len(result['tables'])} tables, {settings['repeats']} × stratified "
        f"{settings['folds']}-fold, scikit-learn {versions['sklearn']}{boosters}, Python {versions['python']}.",
    ]
    late = too_slow(result["rows"])
    if late:
        lines += [f"In no average, since a model took more than {LIMIT} s for a fold there: {', '.join(late)}."]
    if some - whole:
        lines += [f"In no average, since not run on every table: {', '.join(sorted(some - whole))}."]
        lines += [there for name in sorted(some - whole) if (there := on_its_tables(result["rows"], name))]
    if cut:
        lines += [f"Of large tables, a stratified part: {', '.join(cut)}."]
    return lines


def on_its_tables(rows: list[dict[str, Any]], name: str) -> str:
    """A model that was not run on every table beside ours, on those that it was run on."""
    tables = {row["table"] for row in rows if row["model"] == name}
    both = summary(row for row in rows if row["table"] in tables and row["model"] in (name, OURS))
    if len(both) < 2:
        return ""
    figures = (("log_loss", "log-loss", ".3f"), ("median_loss", "median", ".3f"), ("accuracy", "accuracy", ".2%"))
    said = [f"{words} {both[key][name]:{form}} ({both[key][OURS]:{form}})" for key, words, form in figures]
    return f"{name} on {len(tables)} of them, {OURS} there in brackets: {', '.join(said)}."


def plain(result: dict[str, Any]) -> list[str]:
    table = summary(result["rows"])
    least, most = table["log_loss"].min(), table["accuracy"].max()
    lines = [
        *how(result),
        "",
        "Pipelines as they are commonly written: means and standard scores for numbers, the most frequent category and",
        "one-hot for the rest; CategoricalNB gets numbers in five equal bins. Models marked *missing values* impute",
        "nothing: what is missing stays missing. LightGBM, XGBoost and CatBoost handle categories and missing values",
        "themselves (pandas' `category`, `enable_categorical`, `cat_features` with a category of its own for missing",
        "ones); *gradient boosting* is scikit-learn's, after that imputing and one-hot. A probability below 1e-15",
        "counts as 1e-15; Brier is the sum of squares over classes; ECE has 15 equal bins of the highest probability.",
        "Ranks: 1 is best, averaged over tables. A win is a table on which no model is better. Times are processor",
        "seconds of one fold on one thread, preparation included, on a machine that did other work too. A model that",
        "fails on a fold is scored there as the class shares.",
        "",
        "**These tables were in view while suffit was made.** The structures that GenerativeClassifier pools, its",
        "outlier rate, tails, bins, prior on powers and least shrinkage, and what suffit's LDA does with few rows",
        "with missing values were chosen while looking at runs of these same tables; hundreds of variants of it were",
        "compared. So the figures of suffit's models are optimistic: on tables not seen, expect a smaller lead.",
        "The models of others were not tuned at all: they have their default settings, but for what their names say",
        "and `max_iter=1000` for logistic regression.",
        "",
        *in_short(table),
        "![Average ranks](figures/evaluation-ranks.png)",
        "",
        "| model | log-loss | median | accuracy | Brier | ECE | rank, log-loss | rank, accuracy | wins, log-loss | "
        "wins, accuracy | fit | predict | failed on |",
        "|---|" + "---:|" * 12,
    ]
    for model, row in table.iterrows():
        loss, right = f"{row['log_loss']:.3f}", f"{row['accuracy']:.2%}"
        lines.append(
            f"| {model} | {bold(loss, row['log_loss'] == least)} | {row['median_loss']:.3f} | "
            f"{bold(right, row['accuracy'] == most)} | {row['brier']:.3f} | {row['ece']:.3f} | "
            f"{row['rank_loss']:.1f} | {row['rank_accuracy']:.1f} | {row['wins_loss']:.0f} | "
            f"{row['wins_accuracy']:.0f} | {seconds(row['fit'])} | {seconds(row['predict'])} | "
            f"{row['failed']:.0f} |"
        )
    if OURS in table.index:
        lines += [*calibration(table), *compared(result), *behind(result)]
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


def with_missing(result: dict[str, Any]) -> list[str]:
    shares = sorted({row["share"] for row in result["rows"]})
    tables = {share: summary(result["rows"], share) for share in shares}
    given = " ".join(f"{share:g}" for share in shares if share)
    lines = [
        "",
        "## Cells knocked out",
        "",
        *how(result, f"--knock-out {given} "),
        "Cells are removed completely at random, from rows to learn from and rows to judge by alike, never the class;",
        "a larger share takes the same cells and more. Models marked *missing values* impute nothing, nor do LightGBM,",
        "XGBoost and CatBoost; *iterative* predicts each column from the ten nearest ones (`IterativeImputer`), *mean*",
        "fills in means and most frequent categories. In the picture on the right, what a model loses to missing",
        "values; models that fail are not shown there. A few tables decide some means: titanic, with more columns than",
        "rows once one-hot, that of *mean + sklearn LDA*; soybean, that of *rare categories pooled* with none knocked",
        "out; labor, with few rows, that of *iterative*. See the medians as well. What is said above of tables in view",
        "holds here too.",
        "",
        "![Log-loss against the share of cells gone](figures/evaluation-knock-out.png)",
        "",
        "### Mean log-loss, and the median in brackets; mean accuracy",
        "",
        "| model | " + " | ".join(f"log-loss, {share:.0%} gone" for share in shares)
        + " | " + " | ".join(f"accuracy, {share:.0%} gone" for share in shares) + " |",
        "|---|" + "---:|" * (2 * len(shares)),
    ]  # fmt: skip
    for model in tables[shares[-1]].sort_values("log_loss").index:
        mean, middle = (
            [bold(f"{t.loc[model, name]:.3f}", model == t[name].idxmin()) for t in tables.values()]
            for name in ("log_loss", "median_loss")
        )
        loss = [f"{first} ({second})" for first, second in zip(mean, middle, strict=True)]
        right = [bold(f"{t.loc[model, 'accuracy']:.2%}", model == t["accuracy"].idxmax()) for t in tables.values()]
        lines.append(f"| {model} | " + " | ".join(loss + right) + " |")
    return lines + losses(result) + duels(result) + failures(result)


def losses(result: dict[str, Any]) -> list[str]:
    """What the missing values cost each model against itself."""
    frame = lost(complete(result["rows"]))
    shares = list(frame)
    lines = [
        "",
        "### Log-loss lost against itself without missing values: mean, and the median in brackets",
        "",
        "| model | " + " | ".join(f"{share:.0%} gone" for share in shares) + " |",
        "|---|" + "---:|" * len(shares),
    ]
    mean, median = (getattr(frame.groupby(level="model"), name)() for name in ("mean", "median"))
    for model in median.sort_values(shares[-1]).index:
        cells = [f"{mean.loc[model, share]:+.3f} ({median.loc[model, share]:+.3f})" for share in shares]
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    return lines


def duels(result: dict[str, Any]) -> list[str]:
    """On how many tables an LDA with exact marginals is better than one after imputing, by how much, and loses less."""
    gone = lost(result["rows"])
    loss = pd.DataFrame(result["rows"]).pivot(index=["model", "table"], columns="share", values="log_loss")
    there = set(loss.index.get_level_values("model"))
    pairs = [(mine, other) for mine in EXACT for other in IMPUTED if {mine, other} <= there]
    lines = [
        "",
        "### LDA with exact marginals against imputing first",
        "",
        f"Of {len(result['tables'])} tables: on how many its log-loss is lower, its log-loss minus the other's (below",
        "0 is better), and on how many it loses less to them. *Rare categories pooled* has the very columns of the",
        "models marked *missing values*, like *iterative*: it differs from them in imputing; the plain *mean* has",
        "an indicator for every rare category too. Not all of the distance is due to exact marginals: suffit's LDA",
        "shrinks correlations where such rows are few for the columns ([tables.md](tables.md)), its GDA with OAS",
        "shrinks always, scikit-learn's LDA never. With few cells gone the median difference is next to nothing:",
        "what is gained on average is gained on a few tables.",
        "",
        "| | against | gone | lower on | mean difference | median difference | loses less on |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for mine, other in pairs:
        for share in gone:
            gap = loss.loc[mine, share] - loss.loc[other, share]
            less = (gone.loc[mine, share] < gone.loc[other, share]).sum()
            lines.append(
                f"| {mine} | {other} | {share:.0%} | {(gap < 0).sum()} | {gap.mean():+.3f} | {gap.median():+.3f} | "
                f"{less} |"
            )
    return lines if pairs else []


def write() -> None:
    """The page and the pictures, of tables whole and with cells knocked out; and the part on text."""
    from .run import text_file

    result, knocked = latest(False), latest(True)
    texts = json.loads(text_file().read_text(encoding="utf-8")) if text_file().exists() else None
    if result:
        draw_ranks(result, FIGURES / "evaluation-ranks.png")
    if knocked:
        draw_knock_out(knocked, FIGURES / "evaluation-knock-out.png")
        draw_missing(knocked, FIGURES / "missing-values.png")
    PAGE.write_text(page(result, knocked, texts), encoding="utf-8")
    if result and README.exists():
        text = README.read_text(encoding="utf-8")
        block = "<!-- evaluation -->\n" + "\n".join(readme_table(result)) + "\n<!-- /evaluation -->"
        parts = re.split(r"<!-- evaluation -->.*<!-- /evaluation -->", text, flags=re.DOTALL)
        README.write_text(block.join(parts), encoding="utf-8")


README_MODELS = (  # of boosting, the best alone
    OURS,
    "random forest",
    *BOOSTING,
    "logistic regression",
    f"{OURS}, naive, calibrated",
    "sklearn LDA, calibrated",
    "sklearn GaussianNB, calibrated",
)


def readme_table(result: dict[str, Any]) -> list[str]:
    """The few rows that README shows."""
    table = summary(result["rows"])
    lines = ["| | log-loss | accuracy | ECE | average rank by log-loss | time to fit |", "|---|" + "---:|" * 5]
    best = table[table.index.isin(BOOSTING)].nsmallest(1, "log_loss").index
    for model in README_MODELS:
        if model in table.index and (model not in BOOSTING or model in best):
            loss, right, ece, rank, fit = table.loc[model, ["log_loss", "accuracy", "ece", "rank_loss", "fit"]]
            lines.append(f"| {model} | {loss:.3f} | {right:.1%} | {ece:.3f} | {rank:.1f} | {1e3 * fit:.0f} ms |")
    return lines


def latest(knock_out: bool) -> dict[str, Any] | None:
    """The results of a full run; those of a quick one where there is none."""
    from .run import results_file

    for quick in (False, True):
        path = results_file(quick, knock_out)
        if path.exists():
            return dict(json.loads(path.read_text(encoding="utf-8")))
    return None
