"""What a comparison shows, in words: which model is ahead, by how much, and with how many rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..data.arrays import Array
from .crossings import crossing

if TYPE_CHECKING:
    from .result import Curves

Means = Mapping[str, tuple[Mapping[str, float], Mapping[str, float]]]
RIVAL = "logistic regression"
OURS = ("LDA", "QDA", "naive Bayes", "GenerativeClassifier")
CLEAR = 2.0  # standard errors of a difference that is one


def verdict(held: Means, curves: Curves | None, filled: tuple[str, ...]) -> str:
    """Sentences, each on its own line."""
    lines = [_best(held)]
    if curves is not None and RIVAL in curves.errors:
        lines += [line for name in OURS if name in curves.errors for line in _rows_needed(name, curves)]
    if filled:
        lines.append(f"Missing values were filled for {', '.join(filled)}; the other models took them as missing.")
    return "\n".join(lines)


def _best(held: Means) -> str:
    order = sorted(held, key=lambda name: held[name][0]["log_loss"])
    first = order[0]
    text = f"{first} has the lowest log-loss, {held[first][0]['log_loss']:.3f}"
    if len(order) == 1:
        return text + "."
    second = order[1]
    clear = _apart(held, first, second, "log_loss")
    close = f"; next is {second} with {held[second][0]['log_loss']:.3f}"
    text += close + (", clearly behind." if clear else " (no clear difference).")
    top = max(held, key=lambda name: held[name][0]["accuracy"])
    if top != first:
        right = {name: held[name][0]["accuracy"] for name in (top, first)}
        if _apart(held, top, first, "accuracy"):
            text += f" The most accurate is {top}, {right[top]:.1%} right ({first} {right[first]:.1%})."
        else:
            text += f" No clear difference in accuracy: {first} {right[first]:.1%} right, {top} {right[top]:.1%}."
    return text


def _apart(held: Means, one: str, other: str, score: str) -> bool:
    """Whether two means are further apart than they vary from fold to fold."""
    (a, error), (b, other_error) = ((held[name][0][score], held[name][1][score]) for name in (one, other))
    return bool(abs(a - b) > CLEAR * np.hypot(error, other_error))


def _rows_needed(name: str, curves: Curves) -> list[str]:
    """How many rows one model needs for the error of the other, and where the two change places."""
    n, ours, theirs = np.array(curves.at), curves.mean(name), curves.mean(RIVAL)
    here = ~(np.isnan(ours) | np.isnan(theirs))
    if here.sum() < 2:
        return []
    n, ours, theirs = n[here], _falling(ours[here]), _falling(theirs[here])
    middle = len(n) // 2
    needed = _reached(n, ours, float(theirs[middle]))
    first = (
        f"{name} needs about {needed:.0f} rows" if needed is not None else f"{name} needs more than {n[-1]:.0f} rows"
    )
    line = f"{first} for the error that {RIVAL} reaches with {n[middle]:.0f} ({theirs[middle]:.3f})"
    met = crossing(curves, name, RIVAL)
    if met is None:
        return [line + "."]
    before, beyond = ("fewer", "more") if met.first == name else ("more", "fewer")
    return [f"{line}; {before} errors up to about {met.rows:.0f} rows, {beyond} beyond."]


def _falling(errors: Array) -> Array:
    """The least error so far: more rows do no harm but by chance."""
    return np.minimum.accumulate(errors)


def _reached(n: Array, errors: Array, goal: float) -> float | None:
    """The number of rows at which an error is reached, between those tried on a logarithmic line."""
    below = np.flatnonzero(errors <= goal)
    if not len(below):
        return None
    i = int(below[0])
    if i == 0 or errors[i - 1] == errors[i]:
        return float(n[i])
    share = (errors[i - 1] - goal) / (errors[i - 1] - errors[i])
    return float(np.exp(np.log(n[i - 1]) + share * np.log(n[i] / n[i - 1])))
