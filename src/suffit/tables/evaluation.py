"""Rows under models that have not seen them: what the structures of a table are compared by."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..core.family import Family
from ..core.leave_one_out import LooScores
from ..core.model import Model
from ..core.pooling import bounded
from ..core.stats import Stats
from ..data.arrays import Array, Codes, Matrix
from ..data.frame import Frame
from ..data.rows import Rows, rows_worth
from ..families import Binned, Gaussian, MultivariateGaussian
from ..families.counts.binned import Edges, SortedColumns
from ..families.counts.partition import Partition, marked
from ..families.counts.partition_scores import RowsBelow, scores_without
from ..families.elementwise.shape import without
from ..families.gaussian.diagonal import PRIOR_ROWS, prior_variances
from ..families.gaussian.leave_one_out.approximate import ApproximateLoo
from ..families.gaussian.leave_one_out.missing import LooWithMissing
from ..families.gaussian.leave_one_out.rescaled import RescaledLoo
from ..families.gaussian.moments import SCATTER, divided, moments_by_column
from .partitions import Growing, bins_of, frequent
from .row_sample import Keyed, drawn, folds_of, reweighted
from .schema import BlockSpec, Coding

FOLDS, FEW_ROWS = 5, 1_000  # in so many folds bins are chosen by others, of so many rows; else in two
MOST_COMPARED = 1_500  # of these, rows that settings are compared on, and powers fitted
MOST_GUARDED = 128  # of these, rows that a fitted model must explain as well as those without them did
MOST_RESCALED = 2e7  # rows × classes × columns³ for which the units of joint columns are found without each row
FEW_RESCALED, MOST_RESCALED_OF_FEW = 60, 5e8  # of few rows, which these units may otherwise give away
MOST_SAMPLED = 4_000  # rows that the powers of the pool are fitted on


@dataclass(frozen=True)
class Joint:
    """Scores of rows under settings of a joint block that has not seen them."""

    spec: BlockSpec  # with the scales of its numbers
    leave_one_out: Callable[[MultivariateGaussian, slice], LooScores]  # log p(x | c) of some of the rows looked at
    together: float  # rows that have both of a pair of columns, on average over the pairs


class Held:
    """Scores of some rows under models that have not seen them, for one block after another."""

    def __init__(self, frame: Frame, rows: Rows, keyed: Keyed, counts: Array, whole: bool = False) -> None:
        """``whole``: rows are left out with all their weight, that of their copies; else one of each."""
        self.frame, self.rows, self.keyed, self.counts, self.whole = frame, rows, keyed, counts, whole
        self.n_folds = FOLDS if len(rows) <= FEW_ROWS else 2
        self.folds = folds_of(keyed.keys, rows, self.n_folds)
        sampled = drawn(keyed.keys, rows, MOST_SAMPLED)
        compared = drawn(keyed.keys[sampled], rows.some(sampled), MOST_COMPARED)
        self.look = np.concatenate([sampled[compared], np.delete(sampled, compared)])  # each against all other rows
        self.compared = len(compared)  # the first ones
        self.few = rows.some(self.look)
        first = self.look[: self.compared]
        self.guarded = drawn(keyed.keys[first], rows.some(first), MOST_GUARDED)  # a fitted model is held to these
        self.gone = self.few if whole else self.few.one_of_each()  # what is left out at a time
        codes, weights = rows.part(0, len(rows))
        others = without(rows.counts()[codes], (rows if whole else rows.one_of_each()).part(0, len(rows))[1]) > 0
        # weights to be compared by: 0 for the only row of a class
        self.scored = Rows(rows.classes, codes, np.where(others, weights, 0.0)).some(self.look)
        self.classes_compared = int((self.scored.counts() > 0).sum())  # of which there are rows that have others
        self._kept: dict[Hashable, LooScores] = {}
        self._learned: dict[Hashable, tuple[Matrix, Model]] = {}
        self._sorted: dict[tuple[str, ...], SortedColumns] = {}
        self._edges: dict[tuple[Family, tuple[str, ...]], tuple[Edges, ...]] = {}  # of bins chosen by all other rows
        self.sums: dict[Hashable, Stats] = {}  # of the columns and codings of joint blocks, over all rows

    def labels(self, first: int) -> tuple[Codes, Array]:
        """Codes and weights of the first of the rows looked at: every class by its share of all rows."""
        some = self.scored.some(np.arange(first))
        weights = reweighted(some, self.counts)
        return some.codes, weights * (rows_worth(weights) / weights.sum()) if self.whole and weights.any() else weights

    def log_prior(self, first: int | None = None) -> Array:
        """log p(c) without each of the first of these rows; of the only row of a class, with it.  # → (n, K)"""
        some = self.few.some(np.arange(len(self.look) if first is None else first))
        gone = self.gone.some(np.arange(len(some))).part(0, len(some))[1]
        n = np.repeat(self.counts[None], len(some), axis=0)
        each = np.arange(len(some)), some.codes
        n[each] = np.where(without(n[each], gone) > 0, without(n[each], gone), n[each])
        return np.asarray(np.log(n / n.sum(axis=1, keepdims=True)))

    def sorted(self, columns: tuple[str, ...]) -> SortedColumns:
        """Columns of numbers, sorted once for all bins that are made of them."""
        if columns not in self._sorted:
            places = {name: j for j, name in enumerate(self.keyed.numbers)}
            self._sorted[columns] = self.keyed.columns.only([places[name] for name in columns])
        return self._sorted[columns]

    def cut(self, spec: BlockSpec) -> BlockSpec:
        """A block whose bins, if it is one of those compared, are chosen by all rows; or by many, as compared."""
        family, columns = spec.family, self._sorted.get(spec.columns)
        if not isinstance(family, Binned) or family.edges is not None or columns is None:
            return spec
        edges = self._edges.get((family, spec.columns)) or family.edges_of(columns, self.rows)
        return replace(spec, family=replace(family, edges=edges))

    def scores(self, specs: Iterable[BlockSpec], some: slice) -> Array:
        """log p(x | c) of some of the rows looked at, up to a constant per row.  # → (n, K)

        Each under the sums of all others; where the classes choose the bins, under bins and sums of rows held out.
        """
        total = np.zeros((len(self.look[some]), len(self.rows.classes)))
        for spec in specs:
            total += bounded(self._leave_one_out(spec, some))
        return total

    def log_density(self, specs: Iterable[BlockSpec]) -> Array:
        """log p(x_i | y_i) of the rows compared, each under the sums of all others.  # → (n,)"""
        codes, total = self.few.codes[: self.compared], np.zeros(self.compared)
        for spec in specs:
            left, each = self._leave_one_out(spec, slice(0, self.compared)), np.arange(self.compared)
            total += left.log_density[each, codes]
            if left.impossible is not None:
                total[left.impossible[each, codes] > 0] = -np.inf
        return total

    def _leave_one_out(self, spec: BlockSpec, some: slice) -> LooScores:
        """log p(x | c) of some of the rows looked at under one block; each is found once."""
        key = (spec.family, spec.columns, spec.reads)
        if isinstance(spec.family, Binned):
            if key not in self._kept:  # of all rows at once
                self._kept[key] = LooScores(self._of_others(spec.family, spec.columns))
            return LooScores(self._kept[key].log_density[some])
        if isinstance(spec.family, Partition):
            if (key, some.start) not in self._kept:
                rows, look = self.gone.some(np.arange(len(self.look))[some]), self.look[some]
                left = scores_without(spec.family, self._codes[look], rows, self._below, self._marks[look])
                self._kept[key, some.start] = LooScores(left)
            return self._kept[key, some.start]
        if key not in self._learned:
            X = spec.matrix(self.frame)
            self._learned[key] = X, Model.first(spec.family, spec.names, X, self.rows)
        if (key, some.start) not in self._kept:
            X, model = self._learned[key]
            rows = self.few.some(np.arange(len(self.look))[some])
            left = model.leave_one_out(X[self.look[some]], rows, np.zeros_like, one=not self.whole).left
            self._kept[key, some.start] = left
        return self._kept[key, some.start]

    def partition(self, names: Sequence[str], categories: Collection[str]) -> BlockSpec:
        """Trees on these columns, to be grown on all rows."""
        numbers = [name for name in names if name not in categories]
        columns = self.sorted(tuple(numbers)) if numbers else None
        edges = {} if columns is None else dict(zip(numbers, bins_of(columns, self.rows), strict=True))
        marks = self.keyed.of_categories
        codings = tuple(
            Coding(edges=edges[name]) if name in edges else frequent(self.frame, name, self.rows, marks[name])
            for name in names
        )
        spec = BlockSpec(Partition(), tuple(names), "places", codings)
        self._codes = cast("NDArray[np.uint8]", spec.matrix(self.frame))
        by = marked(self._codes, self.rows, self.keyed.keys)
        widths, is_number = [c.width for c in codings], [name in edges for name in names]
        self.growing, self._marks = Growing(self._codes, widths, is_number, self.rows, by), by.marks
        return spec

    def grown(self, spec: BlockSpec, n_trees: int) -> BlockSpec:
        """The first of these trees."""
        family = self.growing.trees(n_trees)
        stats = self.sums[spec.columns, spec.codings] = family.collect(self._codes, self.rows)
        self._below = RowsBelow.of(family, stats)
        return replace(spec, family=family)

    def joint(self, spec: BlockSpec) -> Joint:
        """Settings of a joint block, compared by leave-one-out: nearly exact."""
        family, X = spec.family, cast("Array", spec.matrix(self.frame))
        assert isinstance(family, MultivariateGaussian)
        raw = family.of(spec.names).collect(X, self.rows)
        spec, stats, scale = _scaled(spec, raw)
        family = spec.family
        assert isinstance(family, MultivariateGaussian)
        self.sums[spec.columns, spec.codings] = stats
        x, rows = X[self.look] / scale, self.gone
        work = len(x) * raw["xx"].size * len(scale) if raw.layout is SCATTER else np.inf
        if work <= (MOST_RESCALED if len(x) > FEW_RESCALED else MOST_RESCALED_OF_FEW):
            small = RescaledLoo(raw, X[self.look], *rows.part(0, len(rows)))
            return Joint(
                spec, lambda f, some: LooScores(small.log_density(f.tie, f.shrinkage, f.freedom)[some]), len(rows)
            )
        missing = "pair_n" in stats.sums
        of_rows = family.loo_with_missing(stats) if missing else partial(ApproximateLoo, family.scatter(stats))
        parts: dict[int | None, ApproximateLoo | LooWithMissing] = {}

        there = ~np.isnan(x)

        def leave_one_out(family: MultivariateGaussian, some: slice) -> LooScores:
            if some.start not in parts:
                codes, weights = rows.part(0, len(rows))
                parts[some.start] = of_rows(x[some], codes[some], weights[some])
            density = parts[some.start].log_density(family.tie, family.shrinkage, family.freedom)
            return LooScores(density - (there[some] @ np.log(scale))[:, None])

        return Joint(spec, leave_one_out, _seen_together(stats))

    def _of_others(self, family: Binned, names: tuple[str, ...]) -> Array:
        """Scores of the rows compared under bins of rows that are not.  # → (n, K)

        Of all that are not compared, where they are as many; else, for every fold, of the other folds.
        """
        compared = np.zeros(len(self.rows), bool)
        compared[self.look] = True
        many = 2 * len(self.look) <= len(self.rows)
        apart = [compared] if many else [self.folds == f for f in range(self.n_folds)]
        scores, columns = np.zeros((len(self.look), len(self.rows.classes))), self.sorted(names)
        for held in apart:
            here = np.flatnonzero(held[self.look])
            if len(here):
                others = self.rows.without(held)
                edges = family.edges_of(columns, others)
                scores[here] = replace(family, edges=edges).scores_of_others(columns.rows, others, self.look[here])
                if many:
                    self._edges[family, names] = edges
        return scores


def _scaled(spec: BlockSpec, stats: Stats) -> tuple[BlockSpec, Stats, Array]:
    """A joint block whose numbers have variance 1 within the classes, its sums, and what numbers are divided by.

    With a prior of one row, so that no column is without variance.
    """
    n, x, squares = moments_by_column(stats)
    family, origin = Gaussian(tie=1.0, prior_rows=PRIOR_ROWS), np.asarray(stats.origin)
    variance = family.solved_moments(n, x, squares, origin)[1][0]
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    prior = np.where(variance > 0, prior_variances(n, x, squares, origin) / scale**2, 1.0)
    assert isinstance(spec.family, MultivariateGaussian)
    spec = replace(spec, family=replace(spec.family, prior=tuple(prior.tolist())))
    ends = np.cumsum([0, *(c.width for c in spec.codings)])
    each = [tuple(scale[a:b].tolist()) for a, b in pairwise(ends)]
    codings = tuple(replace(c, scales=s) for c, s in zip(spec.codings, each, strict=True))
    return replace(spec, codings=codings), divided(stats, scale), scale


def _seen_together(stats: Stats) -> float:
    """In how many rows a pair of columns is there, on average over the pairs; at least 1."""
    if "pair_n" not in stats.sums:
        return max(1.0, float(stats["n"].sum()))
    return max(1.0, float(stats["pair_n"].sum()) / stats["pair_n"].shape[-1] ** 2)
