"""Several blocks of columns, independent of each other given the class: a product of families is a family."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from ..core.family import Between, Family, ParameterValues, Scorer, Terms
from ..core.leave_one_out import LooScores
from ..core.logistic import Centred, Impossible, LogisticForm, Statistic
from ..core.stats import CLASS, BlockSums, Stats
from ..data.arrays import Array, BlockRows, Codes, Matrix, RowsOfBlocks
from ..data.errors import check_finite, rows_from
from ..data.rows import Rows
from ..data.warn import current_collector, no_warnings
from ..kernels.runtime.threads import SMALL_MATRIX, one_blas_thread, row_blocks
from .counts.partition import Partition
from .gaussian.student_t import FREEDOM, PRODUCT_OF_SCALES

ROWS_AT_ONCE = 1 << 16  # rows of a table that are made matrices together,
CELLS_AT_ONCE = 1 << 21  # fewer of a wide one,
FEWEST_ROWS = 1 << 10  # and never fewer than these: each column has a cost of its own
NOTHING: Mapping[int, Stats] = {}
LIKE_THE_FIRST = "to merge, fit the second model with GenerativeClassifier(columns=first.schema_)"


@dataclass(frozen=True)
class Block:
    """Columns that have a family to themselves; a power below 1 lets their evidence count for less.

    ``scales`` are what the columns were divided by, where they were.  ``quiet``: other blocks have the same columns,
    and say what is to be said of them.
    """

    family: Family
    columns: tuple[str, ...]
    power: float = 1.0
    scales: tuple[float, ...] = ()
    quiet: bool = False

    def remarks(self) -> AbstractContextManager[object]:
        """What its family remarks inside is said, or not."""
        return no_warnings() if self.quiet else nullcontext()

    def log_jacobian(self, X: Matrix) -> Array:
        """−Σ log scale over the values that are there: densities are of the columns as they were.  # → (n,)"""
        if not self.scales:
            return np.zeros(X.shape[0])
        return np.asarray(-(~np.isnan(np.asarray(X)) @ np.log(self.scales)))


@dataclass(frozen=True)
class Product(Family[RowsOfBlocks, BlockSums]):
    """log p(x | c) = Σ_b power_b · log p(x_b | c) over blocks b of columns: a density where all powers are 1."""

    blocks: tuple[Block, ...]
    outlier_rate: float = 0.0  # type: ignore[misc]

    key: ClassVar[str] = "product"

    def may_warn(self, stats: BlockSums) -> bool:
        return any(b.family.may_warn(part) for b, part in zip(self.blocks, stats.parts, strict=True))

    @property
    def statistic(self) -> tuple[object, ...]:
        """The columns of each block, their units, and what its sums mean."""
        return (self.key, *((b.columns, b.scales, b.family.statistic) for b in self.blocks))

    def _with(self, families: Sequence[Family]) -> Product:
        if all(f is b.family for f, b in zip(families, self.blocks, strict=True)):
            return self
        named = zip(self.blocks, families, strict=True)
        return self.having(blocks=tuple(replace(b, family=f.of(b.columns)) for b, f in named))

    def tuned(self, X: RowsOfBlocks, rows: Rows, known: Mapping[int, Stats] = NOTHING) -> Product:
        """Every block tuned, but those whose sums are known, on some rows where there are very many."""
        families = [b.family for b in self.blocks]
        for i, some, few in self._untuned(X, rows, known):
            families[i] = families[i].tuned(some, few)
        return self._with(families)

    def tuned_on(self, X: RowsOfBlocks, rows: Rows, stats: BlockSums, known: Mapping[int, Stats] = NOTHING) -> Product:
        """Every block tuned on its sums, likewise."""
        families = [b.family for b in self.blocks]
        for i, some, few in self._untuned(X, rows, known):
            families[i] = families[i].tuned_on(some, few, stats.parts[i])
        return self._with(families)

    def _untuned(self, X: RowsOfBlocks, rows: Rows, known: Mapping[int, Stats]) -> Iterator[tuple[int, Matrix, Rows]]:
        """The places of blocks that have something to choose, and rows to choose it by."""
        untuned = [i for i, b in enumerate(self.blocks) if not (i in known or b.family.is_tuned)]
        if untuned:
            sample = rows.with_positive_weight(ROWS_AT_ONCE)
            few, some = (rows, X) if len(sample) == len(rows) else (rows.some(sample), X[sample])
            yield from ((i, some.part(i), few) for i in untuned)

    def tuned_as(self, other: Family) -> Product:
        """Every block tuned as the other's."""
        if not isinstance(other, Product) or len(other.blocks) != len(self.blocks):
            return self
        return self._with([a.family.tuned_as(b.family) for a, b in zip(self.blocks, other.blocks, strict=True)])

    def difference(self, other: Family) -> str:
        if isinstance(other, Product):
            trees = [[b.family.statistic for b in f.blocks if isinstance(b.family, Partition)] for f in (self, other)]
            if all(trees) and trees[0] != trees[1]:
                return f"their partitions have other cuts, chosen by the rows of each; {LIKE_THE_FIRST}"
            if len(other.blocks) != len(self.blocks):
                return f"they pool different structures; {LIKE_THE_FIRST}"
            for a, b in zip(self.blocks, other.blocks, strict=False):
                if a.columns != b.columns:
                    x, y = next((x, y) for x, y in zip_longest(a.columns, b.columns) if x != y)
                    said = [f"{name!r}" if name is not None else "no further column" for name in (x, y)]
                    return f"a block has {said[0]} in one model and {said[1]} in the other; {LIKE_THE_FIRST}"
                if a.scales != b.scales:
                    return f"the columns of a joint block are in other units; {LIKE_THE_FIRST}"
                if a.family.statistic != b.family.statistic:
                    return f"{a.family.difference(b.family)}; or {LIKE_THE_FIRST}"
        return super().difference(other)

    def collect(self, X: RowsOfBlocks, rows: Rows, known: Mapping[int, Stats] = NOTHING) -> BlockSums:
        """The sums of every block, a portion of the rows at a time; ``known`` are those of blocks that have them."""
        total = dict(known)
        for start, stop in stretches(X):
            codes, weights = rows.part(start, stop)
            few = Rows(rows.classes, codes, None if rows.weights is None else weights)
            with rows_from(start):
                here = X[start:stop] if stop - start < len(rows) else X
                for i, b in enumerate(self.blocks):
                    if i not in known:
                        sums = b.family.collect(here.part(i), few)
                        total[i] = total[i] + sums if i in total else sums
        return BlockSums(tuple(total[i] for i in range(len(self.blocks))))

    def without_rounding(self, before: BlockSums, after: BlockSums) -> BlockSums:
        parts = zip(self.blocks, before.parts, after.parts, strict=True)
        return BlockSums(tuple(b.family.without_rounding(was, now) for b, was, now in parts))

    def check_forgotten(self, before: BlockSums, after: BlockSums) -> None:
        for b, was, now in zip(self.blocks, before.parts, after.parts, strict=True):
            b.family.check_forgotten(was, now)

    def scorer(self, stats: BlockSums) -> ProductScorer:
        """Every block, solved when it is asked for."""
        return ProductScorer(Solved(self.blocks, stats), self.blocks)

    def as_density(self, blocks: int) -> Product:
        """The first blocks alone, at full power: a density, where the whole is a decision rule."""
        return Product(tuple(b if b.power == 1.0 else replace(b, power=1.0) for b in self.blocks[:blocks]))

    def leave_one_out(self, X: RowsOfBlocks, rows: Rows, stats: BlockSums) -> LooScores:
        """Σ_b power_b · log p(x_b | c), every block without the row."""
        return self._by_blocks(X, rows, stats, lambda family: family.leave_one_out)

    def approximate_leave_one_out(self, X: RowsOfBlocks, rows: Rows, stats: BlockSums) -> LooScores:
        """The same, about that where it would take long."""
        return self._by_blocks(X, rows, stats, lambda family: family.approximate_leave_one_out)

    def _by_blocks(
        self, X: RowsOfBlocks, rows: Rows, stats: BlockSums, how: Callable[[Family], Callable[..., LooScores]]
    ) -> LooScores:
        found = []
        for i, (b, part) in enumerate(zip(self.blocks, stats.parts, strict=True)):
            if b.power:
                with b.remarks():
                    left = how(b.family)(X.part(i), rows, part)
                found.append((b.power, left, b.log_jacobian(X.part(i))))
        nothing = np.zeros((len(rows), len(stats.axes[CLASS])))
        never = [one.impossible for _, one, _ in found if one.impossible is not None]
        density = nothing + sum(power * (one.log_density + base[:, None]) for power, one, base in found)
        return LooScores(density, np.asarray(np.sum(never, axis=0)) if never else None)


class Solved(Sequence[Scorer]):
    """The scorers of some blocks, each solved when it is first asked for.

    Another thread that asks at the same time gets an equal one.
    """

    def __init__(self, blocks: Sequence[Block], stats: BlockSums) -> None:
        self._blocks, self._stats = blocks, stats
        self._made: dict[int, Scorer] = {}
        self._collector = current_collector()

    def __len__(self) -> int:
        return len(self._blocks)

    @overload
    def __getitem__(self, i: int) -> Scorer: ...
    @overload
    def __getitem__(self, i: slice) -> list[Scorer]: ...
    def __getitem__(self, i: int | slice) -> Scorer | list[Scorer]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self._blocks)))]
        if i not in self._made:
            block = self._blocks[i]
            with self._collector.collected(), block.remarks(), one_blas_thread(len(block.columns) < SMALL_MATRIX):
                self._made[i] = block.family.scorer(self._stats.parts[i])
        return self._made[i]


def stretches(X: RowsOfBlocks) -> list[tuple[int, int]]:
    """Row ranges that are made matrices together."""
    n, p = X.shape
    return row_blocks(n, 1, max(min(ROWS_AT_ONCE, CELLS_AT_ONCE // max(p, 1)), FEWEST_ROWS))


class ProductScorer(Scorer[RowsOfBlocks, BlockSums]):
    """Σ_b power_b · log p(x_b | c)."""

    takes_missing = True
    scores_at_once = 1 << 18  # slicing a table has a cost of its own

    def __init__(self, scorers: Sequence[Scorer], blocks: tuple[Block, ...]) -> None:
        self.scorers, self.blocks_of = scorers, blocks
        self.n_classes = scorers[0].n_classes
        self.columns = [name for b in blocks for name in b.columns]
        heard = {name for b in blocks if b.power for name in b.columns}
        self._unheard = {i for i, b in enumerate(blocks) if not b.power and not heard.issuperset(b.columns)}

    @property
    def n_parameters(self) -> int:  # type: ignore[override]
        return sum(s.n_parameters for s in self.scorers)

    def blocks(self, X: RowsOfBlocks) -> list[tuple[int, int]]:
        """Long stretches of rows: making matrices of a table has a cost of its own."""
        return stretches(X)

    def score_rows(self, X: RowsOfBlocks, start: int, stop: int, out: Array) -> None:
        """The sum of the blocks' scores; refuses what any block refuses, so that rows are read once."""
        out[:] = 0.0
        one = np.empty_like(out)
        here = X[start:stop] if stop - start < len(X) else X
        with rows_from(start):
            for i, (scorer, block) in enumerate(zip(self.scorers, self.blocks_of, strict=True)):
                if block.power:
                    part = here.part(i)
                    scorer.check(part)
                    for a, b in scorer.blocks(part):
                        scorer.score_rows(part, a, b, one[a:b])
                    with np.errstate(invalid="ignore"):  # infinities that cancel: refused by name below
                        out += block.power * one
                elif i in self._unheard:  # no score of theirs would show an infinity
                    part = here.part(i)
                    scorer.check(part)
                    if isinstance(part, np.ndarray) and part.dtype.kind == "f":
                        check_finite(part, block.columns)

    def as_density(self, blocks: int) -> ProductScorer:
        """The scorers of the first blocks at full power."""
        return ProductScorer(self.scorers[:blocks], Product(self.blocks_of).as_density(blocks).blocks)

    def _each(self, X: RowsOfBlocks) -> Iterator[tuple[Scorer, Matrix]]:
        """Every block's scorer, and its columns of these rows."""
        return ((scorer, X.part(i)) for i, scorer in enumerate(self.scorers))

    def log_base(self, X: RowsOfBlocks) -> Array:
        """Σ_b power_b · log h(x_b)."""
        each = zip(self.blocks_of, self._each(X), strict=True)
        parts = [b.power * (s.log_base(part) + b.log_jacobian(part)) for b, (s, part) in each if b.power]
        return np.asarray(np.sum(parts, axis=0)) if parts else np.zeros(len(X))

    @cached_property
    def limited(self) -> bool:  # type: ignore[override]
        """Whether something has probability 0 in a block that counts."""
        return any(b.power and self.scorers[i].limited for i, b in enumerate(self.blocks_of))

    def impossible_rows(self, X: RowsOfBlocks, start: int, stop: int, out: Array) -> None:
        """Events of probability 0 in all blocks."""
        here = X[start:stop] if stop - start < len(X) else X
        out[:] = 0.0
        one = np.empty_like(out)
        for i, (scorer, block) in enumerate(zip(self.scorers, self.blocks_of, strict=True)):
            if block.power and scorer.limited:
                part = here.part(i)
                for a, b in scorer.blocks(part):
                    scorer.impossible_rows(part, a, b, one[a:b])
                out += one

    @property
    def additive(self) -> bool:  # type: ignore[override]
        """Whether every block that counts is."""
        return all(s.additive for s, b in zip(self.scorers, self.blocks_of, strict=True) if b.power)

    def parts(self, X: RowsOfBlocks, a: Codes, b: Codes) -> Terms:
        """The terms of the blocks side by side, each times its power."""
        terms = [
            s.parts(part, a, b) if block.power else Terms(np.zeros(part.shape), np.zeros(len(a)))
            for (s, part), block in zip(self._each(X), self.blocks_of, strict=True)
        ]
        powers = [block.power for block in self.blocks_of]
        columns = np.concatenate([p * t.columns for p, t in zip(powers, terms, strict=True)], axis=1)
        rest = np.asarray(np.sum([p * t.rest for p, t in zip(powers, terms, strict=True)], axis=0))
        if all(t.never is None for t in terms):
            return Terms(columns, rest)
        none = [Terms(np.zeros(t.columns.shape), np.zeros(len(a))) if t.never is None else t.never for t in terms]
        never = Terms(
            np.concatenate([t.columns for t in none], axis=1), np.asarray(np.sum([t.rest for t in none], axis=0))
        )
        return Terms(columns, rest, never)

    def log_likelihood(self, stats: BlockSums) -> Array | None:
        """The sum over the blocks; None where one takes the rows."""
        parts = [
            _in_its_units(s.log_likelihood(part), block.scales, part)
            for s, block, part in zip(self.scorers, self.blocks_of, stats.parts, strict=False)
        ]
        each = [part for part in parts if part is not None]
        if len(each) < len(parts):
            return None
        if any(len(part) != len(each[0]) for part in each):  # a pooled block has one sum for all classes
            each = [part.sum(keepdims=True) for part in each]
        return np.asarray(sum(each))

    def separation(self, stats: BlockSums) -> Between:
        """Of all blocks side by side, each to its power."""
        blocks = zip(self.scorers, self.blocks_of, stats.parts, strict=True)
        each = [(k, s.separation(part) if k.power else None) for s, k, part in blocks]

        def between(a: int, b: int) -> Array:
            return np.concatenate([np.zeros(len(k.columns)) if J is None else k.power * J(a, b) for k, J in each])

        return between

    def parameters(self) -> list[ParameterValues]:
        """Those of every block, in the columns' own units."""
        return [found for i in range(len(self.scorers)) for found in self.parameters_of(i)]

    def parameters_of(self, i: int) -> list[ParameterValues]:
        """Those of one block; of normal columns that were divided by something, as they were before."""
        block, found = self.blocks_of[i], self.scorers[i].parameters()
        if not block.scales:
            return found
        s = np.array(block.scales)
        pairs = np.outer(s, s)[np.triu_indices(len(s), 1)]
        units = {"covariance": pairs, PRODUCT_OF_SCALES: pairs, FREEDOM: np.ones(1)}
        return [f._replace(values=f.values * units.get(f.name, s)) for f in found]

    def check_cells(self, X: RowsOfBlocks, rows: NDArray[np.int64]) -> None:
        for scorer, part in self._each(X):
            scorer.check_cells(part, rows)

    def undefined(self, X: RowsOfBlocks) -> tuple[str, int, str | None]:
        """Those of the first block whose score is NaN."""
        for (scorer, part), block in zip(self._each(X), self.blocks_of, strict=True):
            if block.power and np.isnan(scorer.scores(part)).any():
                return block.family.key, *scorer.undefined(part)[1:]
        return super().undefined(X)

    def drawn_in(self, X: RowsOfBlocks) -> BlockRows:
        return BlockRows(tuple(s.drawn_in(part) for s, part in self._each(X)))

    def sample(self, codes: Codes, rng: np.random.Generator) -> BlockRows:
        return BlockRows(tuple(s.sample(codes, rng) for s in self.scorers))

    def filled(self, X: RowsOfBlocks, posterior: Array) -> BlockRows:
        return BlockRows(tuple(s.filled(part, posterior) for s, part in self._each(X)))

    def drawn(self, X: RowsOfBlocks, codes: Codes, rng: np.random.Generator) -> BlockRows:
        return BlockRows(tuple(s.drawn(part, codes, rng) for s, part in self._each(X)))

    def logistic_form(self) -> LogisticForm:
        """The forms of the blocks side by side; quadratic terms become columns of the statistic."""
        forms = [s.logistic_form() for s in self.scorers]
        powers = [b.power for b in self.blocks_of]
        linear = [_linear(f, f, power) for f, power in zip(forms, powers, strict=True)]
        near = [_linear(f, f.centred or f, power) for f, power in zip(forms, powers, strict=True)]
        impossible = None
        if any(f.impossible is not None for f in forms):
            zero = [
                np.zeros_like(w) if f.impossible is None else _padded(f.impossible.weights, w.shape[1])
                for f, (_, w, _) in zip(forms, linear, strict=True)
            ]
            start = sum(f.impossible.intercept for f in forms if f.impossible is not None)
            impossible = Impossible(np.concatenate(zero, axis=1), np.asarray(start))

        centre = np.concatenate([_centre(f) for f in forms])
        b, b_near = (sum(p * g.intercept for p, g in zip(powers, gs, strict=True)) for gs in (forms, _centred(forms)))
        return LogisticForm(
            tuple(name for names, _, _ in linear for name in names),
            np.concatenate([w for _, w, _ in linear], axis=1),
            np.asarray(b),
            _beside(linear),
            impossible=impossible,
            centred=Centred(_beside(near), np.concatenate([w for _, w, _ in near], axis=1), np.asarray(b_near), centre),
        )


def _in_its_units(found: Array | None, scales: Sequence[float], stats: Stats) -> Array | None:
    """The log-likelihood of columns as they were before they were divided by these; nothing is missing."""
    if found is None or not scales:
        return found
    n = stats["n"] if len(found) == len(stats["n"]) else stats["n"].sum(keepdims=True)
    return np.asarray(found - n * float(np.log(scales).sum()))


_Linear = tuple[tuple[str, ...], Array, Statistic]  # names, weights, statistic


def _beside(linear: list[_Linear]) -> Statistic:
    """The statistics of all blocks, side by side."""
    return lambda X: np.concatenate([T(X.part(i)) for i, (_, _, T) in enumerate(linear)], axis=1)


def _centred(forms: list[LogisticForm]) -> list[LogisticForm | Centred]:
    return [form.centred or form for form in forms]


def _centre(form: LogisticForm) -> Array:
    """Of every column of T(x); 0 where it is taken as it is."""
    return np.zeros(len(form.names)) if form.centred is None else form.centred.centre


def _padded(a: Array, width: int) -> Array:
    return np.concatenate([a, np.zeros((len(a), width - a.shape[1]))], axis=1)


def _linear(form: LogisticForm, at: LogisticForm | Centred, power: float) -> _Linear:
    """A form to a power, with squares and products as columns of their own: about 0, or about its centre."""
    Q = form.quadratic
    if Q is None:
        return form.names, power * at.weights, at.statistic
    if Q.ndim == 2:
        i = j = np.arange(Q.shape[1])
        q = Q
    else:
        i, j = np.triu_indices(Q.shape[1])
        q = np.where(i == j, 1.0, 2.0) * Q[:, i, j]
    n = form.names
    names = tuple(f"{n[a]}²" if a == b else f"{n[a]}·{n[b]}" for a, b in zip(i, j, strict=True))

    def statistic(X: Matrix) -> Array:
        T = at.statistic(X)
        return np.concatenate([T, T[:, i] * T[:, j]], axis=1)

    return (*form.names, *names), power * np.concatenate([at.weights, q], axis=1), statistic
