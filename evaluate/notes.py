"""What docs/evaluation.md says of GenerativeClassifier beside the other models."""

from __future__ import annotations

from typing import Any

import pandas as pd

from .boosters import PACKAGES
from .summaries import against, complete, seconds

OURS = "suffit GenerativeClassifier"
BOOSTING = ("gradient boosting", *PACKAGES)
WHY = {  # found by experiment: other structures and settings tried, and the worst rows looked at
    "labor": "the smallest table, with a third of its cells missing: which structures are pooled changes from fold to "
    "fold, and with it the result (0.04 to 0.73 for a fold)",
    "titanic": "it drops Name, Ticket and Cabin, which identify the rows; one-hot tickets and cabins show who "
    "travelled together. Without these columns logistic regression scores as it does",
    "wdbc": "skewed columns: with normal scores of their ranks, all columns joint lose 0.080 instead of 0.115 when "
    "alone, and ten rows make up the whole difference",
    "vote": "few rows, and only two structures are possible; no single cause was found",
}


def in_short(table: pd.DataFrame) -> list[str]:
    """GenerativeClassifier beside the best of the other models, measure by measure, and beside raw naive Bayes."""
    naive = [model for model in ("sklearn GaussianNB", "suffit GenerativeClassifier, naive") if model in table.index]
    timed = [model for model in table.index if "sklearn" in model and "calibrated" in model]
    timed += [model for model in ("logistic regression", "random forest", *BOOSTING) if model in table.index]
    if OURS not in table.index or len(naive) < 2:
        return []
    mine, others = table.loc[OURS], table[~table.index.str.startswith("suffit")]

    def beside(name: str, form: str, best: str = "idxmin") -> str:
        other = getattr(others[name], best)()
        return f"{form.format(mine[name])} (best of the others: {other}, {form.format(others.loc[other, name])})"

    return [
        "In short, GenerativeClassifier with default settings:",
        "",
        f"- mean log-loss {beside('log_loss', '{:.3f}')}; median {beside('median_loss', '{:.3f}')};",
        f"- average rank by log-loss {beside('rank_loss', '{:.1f}')}, by accuracy {beside('rank_accuracy', '{:.1f}')};",
        f"- mean accuracy {beside('accuracy', '{:.2%}', 'idxmax')};",
        "- mean ECE " + f"{mine['ece']:.3f}: "
        + " and ".join(f"{mine['ece'] / table.loc[model, 'ece']:.0%} of that of {model}" for model in naive) + ";",
        "- time to fit, as a multiple of that of "
        + ", ".join(f"{model}: {mine['fit'] / table.loc[model, 'fit']:.2g}" for model in timed) + ".",
        "",
        "A median of log-losses and a mean of differences may disagree: see the comparison table by table below.",
        "Gradient boosting's mean is decided by hypothyroid, which has a class of two rows.",
        "",
    ]  # fmt: skip


def calibration(table: pd.DataFrame) -> list[str]:
    """The expected calibration error of GenerativeClassifier and of naive Bayes, raw and calibrated."""
    raw = "sklearn GaussianNB"
    named = [model for model in table.sort_values("ece").index if model == OURS or "NB" in model or "naive" in model]
    if raw not in named:
        return []
    lines = [
        "",
        "## Calibration",
        "",
        f"ECE, mean of the tables, as a share of that of {raw}, and what calibrating costs. scikit-learn calibrates",
        "by `CalibratedClassifierCV` (five fits on rows held out), suffit by a temperature and an outlier rate on",
        "leave-one-out scores.",
        "",
        "| model | ECE | of raw | log-loss | median | fit |",
        "|---|" + "---:|" * 5,
    ]
    for model in named:
        row = table.loc[model]
        lines.append(
            f"| {model} | {row['ece']:.3f} | {row['ece'] / table.loc[raw, 'ece']:.0%} | {row['log_loss']:.3f} | "
            f"{row['median_loss']:.3f} | {seconds(row['fit'])} |"
        )
    return lines


def compared(result: dict[str, Any]) -> list[str]:
    """GenerativeClassifier beside each other model, table by table."""
    lines = [
        "",
        "## GenerativeClassifier beside each model",
        "",
        "Log-loss and accuracy: on how many tables it is better, and its own minus the other's (log-loss: below 0 is",
        "better). Time: its mean fit over the other's.",
        "",
        "| against | log-loss better on | mean difference | median difference | accuracy better on | equal on | "
        "mean difference | fit time |",
        "|---|" + "---:|" * 7,
    ]
    for model, row in against(complete(result["rows"]), OURS).iterrows():
        lines.append(
            f"| {model} | {row['better']:.0f} | {row['loss_mean']:+.3f} | {row['loss_median']:+.3f} | "
            f"{row['righter']:.0f} | {row['as_right']:.0f} | {row['right_mean']:+.1%} | {row['time']:.2g}× |"
        )
    return lines


def behind(result: dict[str, Any], other: str = "logistic regression") -> list[str]:
    """The tables on which GenerativeClassifier loses to logistic regression, and a note on each that has one."""
    loss = pd.DataFrame(result["rows"]).pivot(index="table", columns="model", values="log_loss")
    if other not in loss:
        return []
    gap = (loss[OURS] - loss[other]).sort_values(ascending=False)
    lines = ["", f"## Where GenerativeClassifier loses to {other}", ""]
    lines += ["| table | log-loss | " + other + " | difference | why |", "|---|---:|---:|---:|---|"]
    for name in gap.index[gap > 0]:
        lines.append(
            f"| {name} | {loss.loc[name, OURS]:.3f} | {loss.loc[name, other]:.3f} | {gap[name]:+.3f} | "
            f"{WHY.get(str(name), '')} |"
        )
    return lines
