"""Means, ranks and comparisons over tables, from the rows of evaluate/results/*.json."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

TIE = 6  # decimals: values that agree in so many have the same rank
METRICS = {"accuracy": "accuracy", "log_loss": "log-loss", "brier": "Brier", "ece": "ECE"}


def summary(rows: Iterable[dict[str, Any]], share: float = 0.0) -> pd.DataFrame:
    """One row for each model that was run on every table: means, average ranks, wins, failed tables; best first."""
    rows = list(rows)
    late = too_slow(rows)
    frame = pd.DataFrame(complete([row for row in rows if row["share"] == share and row["table"] not in late]))
    if frame.empty:
        return pd.DataFrame()
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


def complete(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of models that were run on every table, whole and with every share of the cells gone."""
    found: dict[str, set[tuple[str, float]]] = {}
    rows = list(rows)
    for row in rows:
        found.setdefault(row["model"], set()).add((row["table"], row["share"]))
    every = set().union(*found.values())
    return [row for row in rows if found[row["model"]] == every]


def too_slow(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The tables on which some model did not end in time: they are in no average."""
    return sorted({row["table"] for row in rows if str(row["error"]).startswith("too slow")})


def against(rows: Iterable[dict[str, Any]], mine: str) -> pd.DataFrame:
    """A row for each other model, the hardest first: tables on which mine is better, and by how much."""
    frame = pd.DataFrame(list(rows))
    loss, right, fit = (
        frame.pivot(index="table", columns="model", values=name).round(TIE) for name in ("log_loss", "accuracy", "fit")
    )
    less, more = loss.drop(columns=mine).rsub(loss[mine], axis=0), right.drop(columns=mine).rsub(right[mine], axis=0)
    out = pd.DataFrame({
        "better": (less < 0).sum(), "loss_mean": less.mean(), "loss_median": less.median(),
        "righter": (more > 0).sum(), "as_right": (more == 0).sum(), "right_mean": more.mean(),
        "time": fit[mine].mean() / fit.drop(columns=mine).mean(),
    })  # fmt: skip
    return out.sort_values(["better", "loss_median"], ascending=[True, False])


def lost(rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """(model, table) × share: the log-loss that the missing values add."""
    loss = pd.DataFrame(list(rows)).pivot(index=["model", "table"], columns="share", values="log_loss")
    return loss.drop(columns=0.0).sub(loss[0.0], axis=0)


def seconds(value: float) -> str:
    if pd.isna(value):
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"
