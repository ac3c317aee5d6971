"""Which rows are learned and which are tested: folds, samples that grow, and rows that were tampered with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from ..data.arrays import Array, Cells, Codes
from ..data.column import as_objects
from ..data.errors import InputError
from ..data.frame import Frame
from .matrix import NUMERIC

Places = NDArray[np.int64]
OUTLIER = 10.0  # deviations by which the cells of an outlier are moved


class Table:
    """Rows of any table as a dict of columns, some of which may be taken, emptied or moved."""

    def __init__(self, frame: Frame) -> None:
        self.columns: Mapping[str, Cells] = {name: column.cells() for name, column in frame.columns.items()}
        self.numbers = {name: column.numbers() for name, column in frame.columns.items() if column.kind() in NUMERIC}
        self.n = frame.n_rows

    def rows(self, which: Places) -> dict[str, Any]:
        """Some of the rows."""
        return {name: values[which] for name, values in self.columns.items()}

    def with_missing(self, which: Places, share: float, rng: np.random.Generator) -> dict[str, Any]:
        """Some of the rows, with a share of their cells empty."""
        out = {}
        for name, values in self.rows(which).items():
            gone = rng.random(len(which)) < share
            if name in self.numbers:
                out[name] = np.where(gone, np.nan, self.numbers[name][which])
            else:
                out[name] = as_objects([None if g else v for g, v in zip(gone, values.tolist(), strict=True)])
        return out

    def with_outliers(self, which: Places, share: float, rng: np.random.Generator) -> dict[str, Any]:
        """Some of the rows, a share of them with their numbers moved by ten deviations up or down."""
        odd, out = rng.random(len(which)) < share, self.rows(which)
        for name, x in self.numbers.items():
            up = rng.choice([-1.0, 1.0], len(which))
            spread = float(np.nanstd(x)) or 1.0
            out[name] = np.where(odd, x[which] + OUTLIER * spread * up, x[which])
        return out


def folds_of(codes: Codes, folds: int, repeat: int) -> Iterator[tuple[Places, Places]]:
    """Stratified folds; another shuffle for every repeat."""
    yield from StratifiedKFold(folds, shuffle=True, random_state=repeat).split(np.zeros(len(codes)), codes)


def check_classes(codes: Codes, classes: Cells, folds: int) -> None:
    """Refuse labels that cannot be put into folds."""
    counts = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2:
        raise InputError(f"compare: y has one class, {classes[0]!r}; at least two are needed")
    if counts.min() < folds:
        c = int(counts.argmin())
        cure = "drop the class" if counts[c] < 2 else f"set folds to at most {counts[c]}, or drop the class"
        raise InputError(
            f"compare: class {classes.tolist()[c]!r} has {counts[c]} rows, fewer than folds={folds}; {cure}"
        )


def growing(codes: Codes, train: Places, rng: np.random.Generator) -> Places:
    """Rows to learn in an order in which every class comes at its share from the start, two of each first."""
    order = rng.permutation(train)
    seen: dict[int, int] = {}
    rank = np.empty(len(order))
    sizes = np.bincount(codes[train])
    for i, row in enumerate(order.tolist()):
        c = int(codes[row])
        seen[c] = seen.get(c, 0) + 1
        rank[i] = -1.0 if seen[c] <= 2 else seen[c] / sizes[c]
    return order[np.argsort(rank, kind="stable")]


def curve_sizes(least: int, most: int, n: int = 7) -> list[int]:
    """Sizes from few rows to many, in equal ratios."""
    if most <= least:
        return [most]
    return sorted(set(np.round(np.geomspace(least, most, n)).astype(int).tolist()))


def noisy(codes: Codes, share: float, K: int, rng: np.random.Generator) -> Codes:
    """Labels, a share of them replaced by another class."""
    moved = (codes + rng.integers(1, K, len(codes))) % K
    return np.where(rng.random(len(codes)) < share, moved, codes).astype(np.int32)


def at_most(codes: Codes, n: int, rng: np.random.Generator) -> Places:
    """All rows, or n of them with the classes at their shares."""
    everything = np.arange(len(codes))
    return everything if len(codes) <= n else np.sort(growing(codes, everything, rng)[:n])


def padded(P: Array, known: Codes, K: int) -> Array:
    """Probabilities of all classes, 0 for those a model has not seen."""
    out = np.zeros((len(P), K))
    out[:, known] = P
    return out
