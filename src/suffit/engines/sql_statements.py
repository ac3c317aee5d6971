"""Statements that ask for many sums at once, and their results by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.arrays import Array
from ..data.labels import Index

Run = Callable[[str], list[tuple[Any, ...]]]  # sends a statement and returns its rows
MOST_SUMS = 1000  # that one statement asks for


@dataclass
class Asked:
    """The sums that a statement asks for; each is known by its place."""

    expressions: list[str] = field(default_factory=list)

    def __call__(self, expression: str) -> int:
        """Ask for one more; its place."""
        self.expressions.append(expression)
        return len(self.expressions) - 1


def split(asked: Asked, rows: str, keys: str = "y") -> list[str]:
    """SELECT the keys and the sums FROM the rows, grouped by the keys; several where they ask for very many sums."""
    every = asked.expressions
    portions = [every[start : start + MOST_SUMS] for start in range(0, len(every), MOST_SUMS)]
    return [f"SELECT {keys}, {', '.join(some)} FROM {rows} GROUP BY {keys}" for some in portions]


def found_by_key(run: Run, texts: Iterable[str], keys: int, classes: Index) -> dict[tuple[Any, ...], Array]:
    """The sums of all statements by class (and what else they are grouped by), 0 where there is nothing to add."""
    found: dict[tuple[Any, ...], list[float]] = {}
    for text in texts:
        for row in run(text):
            if row[0] in classes.position:
                found.setdefault(tuple(row[:keys]), []).extend(0.0 if v is None else float(v) for v in row[keys:])
    return {key: np.array(row) for key, row in found.items()}
