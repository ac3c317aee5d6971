"""How unusual rows are: their density beside that of rows drawn from the model, with the same values missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from ..core.family import Scorer
from ..core.solution import Solution
from ..data.arrays import Array, Cells, Coded, Codes, Matrix, RowsOfTexts, is_sparse
from ..data.errors import InputError
from ..data.rows import is_missing
from ..families.gaussian.missing.patterns import patterns_of

DRAWS = 1000  # rows drawn from the model that a row is compared with

Flags = NDArray[np.bool_]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class ScoredBlock:
    """Columns that are drawn and scored together; ``apart``: each by itself as well.

    ``of_missing``: they say which values of other columns are missing.
    """

    scorer: Scorer
    part: Matrix
    apart: bool
    scales: tuple[float, ...] = ()  # what the columns were divided by, where they were
    of_missing: bool = False

    def log_density(self, part: Matrix) -> Array:
        """log p(x | c), in the units that the columns had.  # → (n, K)"""
        nothing = np.zeros(self.scorer.n_classes)
        found = Solution(tuple(range(len(nothing))), nothing, self.scorer).log_joint(part)
        return found - (~np.isnan(np.asarray(part)) @ np.log(self.scales))[:, None] if self.scales else found


class Draws:
    """Rows drawn from a model, and the density of each with some columns missing: nothing is scored twice.

    Columns of a joint block are scored together, once for every way of missing some of them.
    """

    def __init__(self, classes: Codes, log_prior: Array, blocks: Sequence[ScoredBlock]) -> None:
        self.classes, self.log_prior, self.blocks = classes, log_prior, blocks
        ends = np.cumsum([0, *(block.part.shape[1] for block in blocks)])
        self.places = [slice(int(a), int(b)) for a, b in pairwise(ends)]
        self._kept: dict[tuple[int, tuple[int, ...] | None], Array] = {}

    def _scores(self, u: int, seen: tuple[int, ...] | None) -> Array:
        """log p(x_seen | c) of a block's draws, its other columns missing; None: all are seen.  # → (DRAWS, K)"""
        if (u, seen) not in self._kept:
            block = self.blocks[u]
            part = drawn = cast("Cells", block.part)
            if seen is not None:
                objects = part.dtype.kind == "O"
                part = np.full(part.shape, None if objects else np.nan, dtype=object if objects else np.float64)
                part[:, list(seen)] = drawn[:, list(seen)]
            self._kept[u, seen] = block.log_density(part)
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
    solution: Solution, X: Matrix, blocks: Callable[[Matrix], list[ScoredBlock]], rng: np.random.Generator
) -> Array:
    """The share of rows drawn from the model, with the same missing values, that are more probable than each row.

    ``blocks`` divides rows into the columns that are scored together.  # → (n,)
    """
    codes = solution.draw_classes(DRAWS, rng)
    drawn, given = blocks(solution.sample(codes, rng)), blocks(X)
    if not all(block.scorer.comparable for block in drawn):
        raise InputError(
            "novelty: the model has no distribution of document lengths, so that documents of different lengths have "
            "no densities to compare"
        )
    draws = Draws(codes, solution.log_prior, [block for block in drawn if not block.of_missing])
    evidence = [block for block in given if block.of_missing]
    with_missing, missing = _missing_cells([block.part for block in given if not block.of_missing])
    density = solution.log_density(X)

    def share_above(pattern: Flags | None, rows: Rows) -> Array:
        first = rows[:1]  # of rows with the same missing values
        say = sum((block.log_density(block.part[first])[0] for block in evidence), np.zeros(len(solution.classes)))
        return draws.share_above(pattern, say, density[rows])

    out = np.empty(len(density))
    complete = np.setdiff1d(np.arange(len(density)), with_missing)
    if len(complete):
        out[complete] = share_above(None, complete)
    patterns, which = patterns_of(~missing)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(patterns) + 1))
    for a, b in pairwise(ends):
        here = with_missing[order[a:b]]
        out[here] = share_above(missing[order[a]], here)
    return out


def _missing_cells(parts: Sequence[Matrix]) -> tuple[Rows, Flags]:
    """The rows with missing values, and where in them these are.  # → (m,), (m, p)"""
    rows = np.unique(np.concatenate([_rows_with_missing(part) for part in parts]))
    return rows, np.concatenate([_missing(part[rows]) for part in parts], axis=1)


def _rows_with_missing(X: Matrix) -> Rows:
    if is_sparse(X):
        return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[np.isnan(X.data)]
    return np.flatnonzero(_missing(X).any(axis=1))


def _missing(X: Matrix) -> Flags:
    """Which cells are missing.  # → (n, p)"""
    if is_sparse(X):
        return np.isnan(X.toarray())
    if isinstance(X, RowsOfTexts):
        return X.missing[:, None]
    if isinstance(X, Coded):
        return X.codes < 0
    assert isinstance(X, np.ndarray)
    if X.dtype.kind == "O":
        return np.array([is_missing(v) for v in X.reshape(-1)], dtype=np.bool_).reshape(X.shape)
    return np.isnan(X) if X.dtype.kind == "f" else np.zeros(X.shape, dtype=np.bool_)
