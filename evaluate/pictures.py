"""The pictures of docs/evaluation.md."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import pandas as pd

from .summaries import summary

BLUE, RED, GREY = "#2c6fbb", "#c44e52", "#777777"
SHADES = {"gradient boosting": "#1b5e20", "LightGBM": "#2e7d32", "XGBoost": "#7cb342", "CatBoost": "#00897b"}


def colour(model: str) -> str:
    return BLUE if model.startswith("suffit") else RED if "sklearn" in model else SHADES.get(model, GREY)


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
    axes.set_xticks(range(1, len(table) + 1, 2))
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


USUAL = {  # models of README's picture: name there, line and mark
    "suffit GenerativeClassifier": ("suffit GenerativeClassifier, nothing imputed", BLUE, "X"),
    "mean + logistic regression": ("logistic regression, means imputed", "#555555", "D"),
    "mean + random forest": ("random forest, means imputed", "#e8a33d", "s"),
    "XGBoost": ("XGBoost, its own treatment of missing values", RED, "o"),
}


def draw_missing(result: dict[str, Any], path: Path) -> None:
    """Log-loss of the usual models as cells go missing: the mean of the tables, and the middle one."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = pd.DataFrame(result["rows"])
    loss = rows[rows["model"].isin(USUAL)].pivot(index=["share", "model"], columns="table", values="log_loss")
    figure, both = plt.subplots(1, 2, figsize=(10, 4.4))
    for axes, name, of in zip(both, ("mean", "median"), (loss.mean(axis=1), loss.median(axis=1)), strict=True):
        for model, (label_, shade, marker) in USUAL.items():
            if model in of.unstack():
                line = of.unstack()[model]
                axes.plot(line.index, line, marker=marker, color=shade, lw=2.4 if shade == BLUE else 1.6, label=label_)
        axes.set_title(f"{name} of {loss.shape[1]} tables", fontsize=11)
        axes.set_ylabel("log-loss on held-out rows, nats")
        axes.set_xlabel("share of the cells missing")
        axes.set_xticks(line.index, [f"{share:.0%}" for share in line.index])
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", color="#eeeeee", lw=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), frameon=False, fontsize=9, loc="lower center", ncols=2)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_knock_out(result: dict[str, Any], path: Path) -> None:
    """Left, the mean log-loss; right, what missing values add on the middle table, which no single table decides."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    loss = pd.DataFrame(result["rows"]).pivot(index=["share", "model"], columns="table", values="log_loss").dropna()
    mean = loss.mean(axis=1).unstack()
    lost = (loss - loss.loc[0.0].reindex(loss.index, level="model")).median(axis=1).unstack()
    failed = summary(result["rows"], mean.index[-1])["failed"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 5.4))
    ours, others = (
        iter(["#2c6fbb", "#1b3f73", "#62a8e5"]),
        iter([RED, "#e8a33d", "#555555", "#aaaaaa", "#8c6bb1", "#937860", "#3a923a"]),
    )
    for model, marker in zip(mean.columns, cycle("osD^vPX*<>p"), strict=False):
        mine = str(model).startswith("suffit")
        shade = SHADES.get(str(model)) or next(ours if mine else others)
        style = {"color": shade, "marker": marker, "ms": 6, "lw": 2.4 if mine else 1.5}
        left.plot(mean.index, mean[model], label=label(model, failed[model]), zorder=3 if mine else 2, **style)
        if not failed[model]:  # class shares lose nothing to missing values
            right.plot(lost.index, lost[model], zorder=3 if mine else 2, **style)
    left.set_title(f"log-loss, mean of {len(result['tables'])} tables", fontsize=11)
    right.set_title("log-loss lost to the missing values, median of the tables", fontsize=11)
    left.set_ylabel("nats")
    for axes in (left, right):
        axes.set_xlabel("share of the cells gone")
        axes.set_xticks(mean.index, [f"{share:.0%}" for share in mean.index])
        axes.grid(axis="y", color="#eeeeee", lw=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*left.get_legend_handles_labels(), frameon=False, fontsize=9, loc="lower center", ncols=3)
    figure.tight_layout(rect=(0, 0.17, 1, 1))
    figure.savefig(path, dpi=120)
    plt.close(figure)
