"""How unusual rows are: their density beside that of rows drawn from the model, with the same values missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..core.solution import Solution
from ..data.arrays import Array, Cells, Codes, Matrix, is_sparse
from ..data.rows import is_missing
from ..families.gaussian.missing.patterns import patterns_of

DRAWS = 1000  # rows drawn from the model that a row is compared with

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class DrawnBlock:
    """Columns that are drawn and scored together: log p(x | c) of their draws; ``apart``: column by column as well."""

    solution: Solution
    drawn: Cells  # (DRAWS, p)
    apart: bool
    scales: tuple[float, ...] = ()  # what the columns were divided by, where they were

    def log_joint(self, part: Cells) -> Array:
        """log p(x | c) of draws, in the units that the columns had."""
        joint = self.solution.log_joint(part)
        return joint - (~np.isnan(part) @ np.log(self.scales))[:, None] if self.scales else joint


class Draws:
    """Rows drawn from a model, and the density of each with some columns missing: nothing is scored twice.

    Columns of a joint block are scored together, once for every way of missing some of them.
    """

    def __init__(self, classes: Codes, log_prior: Array, blocks: Sequence[DrawnBlock]) -> None:
        self.classes, self.log_prior, self.blocks = classes, log_prior, blocks
        ends = np.cumsum([0, *(block.drawn.shape[1] for block in blocks)])
        self.places = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self._kept: dict[tuple[int, tuple[int, ...] | None], Array] = {}

    def _scores(self, u: int, seen: tuple[int, ...] | None) -> Array:
        """log p(x_seen | c) of a block's draws, its other columns missing; None: all are seen.  # → (DRAWS, K)"""
        if (u, seen) not in self._kept:
            block = self.blocks[u]
            part = block.drawn
            if seen is not None:
                objects = part.dtype.kind == "O"
                part = np.full(part.shape, None if objects else np.nan, dtype=object if objects else np.float64)
                part[:, list(seen)] = block.drawn[:, list(seen)]
            self._kept[u, seen] = block.log_joint(part)
        return self._kept[u, seen]

    def share_above(self, missing: Flags | None, evidence: Array, density: Array) -> Array:
        """The share of the draws, given these missing values, that are more probable than rows of this density."""
        joint = np.tile(self.log_prior + evidence, (len(self.classes), 1))
        for u, (block, places) in enumerate(zip(self.blocks, self.places, strict=True)):
            if missing is None or not missing[places].any():
                joint += self._scores(u, None)
                continue
            seen = tuple(np.flatnonzero(~missing[places]).tolist())
            for some in [(j,) for j in seen] if block.apart else [seen] if seen else []:
                joint += self._scores(u, some)
        with np.errstate(divide="ignore"):
            same = logsumexp(joint, axis=1)
        weight = np.exp(evidence - evidence.max())[self.classes]
        order = np.argsort(same)
        below = np.concatenate([[0.0], np.cumsum(weight[order])])
        return np.asarray(1 - below[np.searchsorted(same[order], density, side="right")] / below[-1])


def novelties(
    draws: Draws, density: Array, with_missing: Rows, missing: Flags, evidence: Callable[[int], Array]
) -> Array:
    """The novelty of rows of this density, of which the rows ``with_missing`` have ``missing values``.

    ``evidence(row)`` is the log-evidence of the missing values of a row for each class, where they are any.
    """
    out = np.empty(len(density))
    complete = np.setdiff1d(np.arange(len(density)), with_missing)
    if len(complete):
        out[complete] = draws.share_above(None, evidence(int(complete[0])), density[complete])
    patterns, which = patterns_of(~missing)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(patterns) + 1))
    for a, b in pairwise(ends):
        first, here = order[a], with_missing[order[a:b]]
        out[here] = draws.share_above(missing[first], evidence(int(here[0])), density[here])
    return out


def missing_cells_of(X: Matrix) -> tuple[Rows, Flags]:
    """The rows with missing values, and where in them these are.  # → (m,), (m, p)"""
    if is_sparse(X):
        rows = np.unique(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[np.isnan(X.data)])
        return rows, np.isnan(X[rows].toarray())
    assert isinstance(X, np.ndarray)
    if X.dtype.kind == "O":
        gone = np.array([is_missing(v) for v in X.reshape(-1)], dtype=np.bool_).reshape(X.shape)
    else:
        gone = np.isnan(X) if X.dtype.kind == "f" else np.zeros((len(X), 1), dtype=np.bool_)
    rows = np.flatnonzero(gone.any(axis=1))
    return rows, gone[rows]
