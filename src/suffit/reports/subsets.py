"""Where a model fails: groups of rows, by the values of one column, with more errors than the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ..data.arrays import Array
from ..data.column import BOOLEAN, INTEGER, NUMBER, Column
from ..data.frame import Frame
from .html import number

FEWEST, LEAST_SHARE = 20, 0.01  # rows of a group: a number, and a share of all
MOST_VALUES = 40  # the most frequent categories of a column are looked at
FEW_NUMBERS = 8  # distinct numbers up to which each is a group
CHANCE = 0.05  # that any group is named where errors fall at random
SHOWN = 6

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Subset:
    """Rows that have something in common, and how many of them are misclassified."""

    column: str
    what: str
    rows: int
    errors: int
    excess: float  # errors more than at the error rate of all rows

    @property
    def rate(self) -> float:
        """The error rate."""
        return self.errors / self.rows


def worst_subsets(frame: Frame, names: Sequence[str], wrong: Array) -> list[Subset]:
    """Groups with surely more errors than their share, the largest excess first; one group of a column."""
    n, rate = len(wrong), float(wrong.mean())
    found: list[tuple[float, Subset]] = []
    tried = 0
    for name in names:
        for what, here in groups(frame.columns[name]):
            rows = int(here.sum())
            if rows < max(FEWEST, LEAST_SHARE * n) or rows == n:
                continue
            tried += 1
            errors = int(wrong[here].sum())
            spread = float(np.sqrt(rows * rate * (1 - rate) * (1 - rows / n)))
            if spread > 0:
                excess = errors - rows * rate
                found.append((excess / spread, Subset(name, what, rows, errors, excess)))
    sure = float(norm.isf(CHANCE / max(tried, 1)))
    best: dict[str, Subset] = {}
    for z, group in found:
        if z > sure and (group.column not in best or best[group.column].excess < group.excess):
            best[group.column] = group
    return sorted(best.values(), key=lambda group: -group.excess)[:SHOWN]


def groups(column: Column) -> Iterator[tuple[str, Mask]]:
    """The groups of one column in words, and which rows are in them."""
    missing = column.missing()
    if missing.any():
        yield "is missing", missing
    if column.kind() in (NUMBER, INTEGER):
        yield from _ranges(column.numbers())
        return
    try:
        values, codes = column.categories()
    except TypeError:  # no single values
        return
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    for k in np.argsort(-counts, kind="stable")[:MOST_VALUES].tolist():
        yield f"= {values[k]}", codes == k


def _ranges(x: Array) -> Iterator[tuple[str, Mask]]:
    """Every number where there are few, else quarters of the rows."""
    distinct = np.unique(x[np.isfinite(x)])
    if len(distinct) <= FEW_NUMBERS:
        for value in distinct.tolist():
            yield f"= {number(value)}", x == value
        return
    edges = np.unique(np.quantile(x[np.isfinite(x)], [0.25, 0.5, 0.75]))
    bounds = [-np.inf, *edges.tolist(), np.inf]
    for low, high in pairwise(bounds):
        yield _between(low, high), (x > low) & (x <= high)


def _between(low: float, high: float) -> str:
    if high == np.inf:
        return f"> {number(low)}"
    return f"≤ {number(high)}" if low == -np.inf else f"> {number(low)} and ≤ {number(high)}"


def is_numeric(column: Column) -> bool:
    """Whether a column holds numbers, or yes and no."""
    return column.kind() in (NUMBER, INTEGER, BOOLEAN)
