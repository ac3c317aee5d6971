"""Rows to draw a model over: two columns on a grid, or one on a line, with the other columns out of the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.arrays import Array, Cells
from ..data.column import BOOLEAN, CATEGORICAL, INTEGER, Column
from ..data.errors import InputError
from ..data.frame import Frame, Template
from ..estimators.base import GenerativeEstimator

MARGIN = 0.08  # beyond the rows, as a share of their range
NONE = np.empty(0)


def chosen(frame: Frame, columns: Sequence[str] | None, n: int) -> list[str]:
    """The columns of numbers asked for, or the first ones."""
    numeric = [name for name, column in frame.columns.items() if column.kind() != CATEGORICAL]
    chosen = list(columns) if columns is not None else numeric[:n]
    unknown = [name for name in chosen if name not in frame.columns]
    if unknown:
        raise InputError(f"there is no column {unknown[0]!r}; the columns are {list(frame.names)[:20]}")
    if len(chosen) != n:
        raise InputError(f"{n} columns of numbers are needed, found {len(chosen)}: {chosen[:5]}")
    words = [name for name in chosen if name not in numeric]
    if words:
        raise InputError(f"column {words[0]!r} holds categories; choose columns of numbers")
    return chosen


def range_of(x: Array) -> tuple[float, float]:
    """From the least to the largest value, with room on either side."""
    here = x[np.isfinite(x)]
    low, high = (float(here.min()), float(here.max())) if len(here) else (0.0, 1.0)
    room = MARGIN * (high - low) or 1.0
    return low - room, high + room


def ticks_of(column: Column, n: int, also: Array = NONE) -> Array:
    """Values over the range of a column, and of others to be seen, that its family may take.

    They are integers for integers, and positive where all are.
    """
    x = np.append(column.numbers(), also)
    low, high = range_of(x)
    least = float(np.nanmin(x, initial=np.inf))
    if column.kind() in (INTEGER, BOOLEAN):
        return np.unique(np.round(np.linspace(max(least, low), high, n)))
    return np.linspace(least / 2 if low <= 0 < least else low, high, n)


def with_others(model: object, frame: Frame, names: Sequence[str], *values: Array) -> Any:
    """Rows with these values; for our models the others missing, for those of others at their means given these."""
    given = dict(zip(names, values, strict=True))
    ours = isinstance(model, GenerativeEstimator)
    out: dict[str, Cells] = {}
    for name, column in frame.columns.items():
        if name in given:
            out[name] = given[name]
        elif ours:
            words = column.kind() == CATEGORICAL
            out[name] = np.full(len(values[0]), None if words else np.nan, dtype=object if words else np.float64)
        elif column.kind() == CATEGORICAL:
            out[name] = np.full(len(values[0]), _most_frequent(column), dtype=object)
        else:
            out[name] = _regressed(column.numbers(), [frame.columns[n].numbers() for n in names], values)
    if frame.like.form == "array":
        return np.column_stack([np.asarray(v, dtype=np.float64) for v in out.values()])
    return out if ours and not hasattr(model, "feature_names_in_") else Template(frame.like.form, {}).make(out)


def _most_frequent(column: Column) -> object:
    values, codes = column.categories()
    return values[int(np.bincount(codes[codes >= 0], minlength=1).argmax())] if len(values) else None


def _regressed(target: Array, by: Sequence[Array], at: Sequence[Array]) -> Array:
    design = np.column_stack([np.ones(len(target)), *by])
    here = np.isfinite(design).all(axis=1) & np.isfinite(target)
    weights = np.linalg.lstsq(design[here], target[here], rcond=None)[0]
    return np.asarray(np.column_stack([np.ones(len(at[0])), *at]) @ weights)
