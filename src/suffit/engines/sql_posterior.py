"""A fitted model as a SQL query that gives p(class | row): the terms of its scores, and a softmax less its largest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ..core.family import Scorer
from ..core.solution import Solution
from ..core.stats import PATTERN, Stats
from ..data.arrays import Array
from ..data.errors import InputError
from ..families.counts.multinomial import MultinomialScorer
from ..families.counts.partition_scores import PartitionScorer
from ..families.counts.scores import NOVEL, CategoricalScorer
from ..families.elementwise.scores import ElementwiseScorer
from ..families.gaussian.lognormal import LogNormalScorer
from ..families.gaussian.missing.patterns import there
from ..families.gaussian.scores import DiagonalScorer, OwnScorer, SharedScorer
from ..families.gaussian.student_t import HeavyScorer, log_density
from ..families.product import ProductScorer
from ..tables.schema import BlockSpec, Schema
from .sql import Columns, identifier, literal, no_sql, number, outside, statistics, without_nan

Flags = NDArray[np.bool_]
JointScorer: TypeAlias = SharedScorer | OwnScorer | HeavyScorer
MOST_PATTERNS = 64  # of missing values that jointly normal columns are scored under
NO_SCORE = "CAST(NULL AS DOUBLE PRECISION)"  # of rows that predict would refuse, or that the text has no case for


class SqlScores:
    """log p(x | c) of every class as text, block by block.

    ``cells`` are what the scores read of a row, x0, x1, … in the text: each is computed once.
    """

    def __init__(self, schema: Schema, solution: Solution, sums: Sequence[Stats]) -> None:
        self.columns, self.cells = Columns(schema), list[str]()
        self.K = len(solution.classes)
        scorers = solution.scorer.scorers if isinstance(solution.scorer, ProductScorer) else None
        self.terms: list[list[str]] = [[] for _ in range(self.K)]
        for i, spec in enumerate(schema.specs):
            scorer, power = (solution.scorer, 1.0) if scorers is None else (scorers[i], spec.power)
            if power:
                for c, term in enumerate(self._block(spec, scorer, sums[i])):
                    self.terms[c].append(f"{number(power * solution.power)} * ({term})")

    def _cell(self, expression: str) -> str:
        if expression not in self.cells:
            self.cells.append(expression)
        return f"x{self.cells.index(expression)}"

    def _block(self, spec: BlockSpec, scorer: Scorer, sums: Stats) -> list[str]:
        if scorer.limited:
            raise InputError(
                f"no SQL for a {spec.family.key} block without smoothing (alpha=0): some events have probability 0; "
                "use alpha > 0"
            )
        if isinstance(scorer, PartitionScorer):
            raise no_sql(spec.family)
        raw = self.columns.cells(spec)
        if isinstance(scorer, CategoricalScorer):
            return self._categories(raw, scorer)
        if isinstance(scorer, ElementwiseScorer):
            return self._elementwise(raw, spec, scorer)
        if isinstance(scorer, MultinomialScorer):
            return self._words(raw, spec, scorer)
        inner = scorer.inner if isinstance(scorer, LogNormalScorer) else scorer
        if isinstance(inner, DiagonalScorer) or (isinstance(inner, SharedScorer) and inner.W.ndim == 1):
            return self._diagonal(raw, spec, inner)
        if isinstance(inner, SharedScorer | OwnScorer | HeavyScorer):
            return self._joint([self._cell(x) for x in raw], spec.owners, inner, sums)
        raise InputError(
            f"no SQL for the posterior of the family {spec.family.key!r}; use predict_proba, or another family"
        )

    def _elementwise(self, raw: list[str], spec: BlockSpec, scorer: ElementwiseScorer) -> list[str]:
        """Σ_j T(x_j)·Θ_cj − A_cj over the values that are there."""
        theta, A = scorer.form.theta, scorer.form.A
        out: list[list[str]] = [[] for _ in range(self.K)]
        for j, x in enumerate(raw):
            c = self._cell(x)
            T = [self._cell(self._inside(spec, x, t)) for t in statistics(spec.family, x, j)]
            for k in range(self.K):
                linear = " + ".join(f"{number(w)} * {t}" for w, t in zip(theta[k, j].tolist(), T, strict=True))
                out[k].append(_where_there(c, f"{linear} - {number(A[k, j])}"))
        return [" + ".join(terms) for terms in out]

    def _words(self, raw: list[str], spec: BlockSpec, scorer: MultinomialScorer) -> list[str]:
        """Σ_w x_w·weight_w|c; NULL where a count is missing, which would need the model without its word."""
        x = [self._cell(self._inside(spec, cell, cell)) for cell in raw]
        weights = scorer.weights.tolist()
        return [" + ".join(f"{number(w)} * {c}" for w, c in zip(row, x, strict=True)) for row in weights]

    def _inside(self, spec: BlockSpec, x: str, value: str) -> str:
        """NULL where x lies outside the support, which predict refuses."""
        bad = outside(spec.family, x)
        return value if bad is None else f"CASE WHEN NOT ({bad}) THEN {value} END"

    def _diagonal(self, raw: list[str], spec: BlockSpec, scorer: DiagonalScorer | SharedScorer) -> list[str]:
        """−Σ_j ((x_j − μ_cj)/(σ_cj√2))² + log σ_cj√2π; what a shared variance has in common is dropped."""
        if isinstance(scorer, SharedScorer):
            root = np.broadcast_to(scorer.W * np.sqrt(0.5), scorer.means.shape)
            scale = np.zeros_like(root)
        else:
            root, scale = scorer.root, scorer.log_scale
        out: list[list[str]] = [[] for _ in range(self.K)]
        read = [self.columns.number(n) for n in spec.columns] if spec.family.key == "lognormal" else raw
        for j, (x, c) in enumerate(zip(raw, read, strict=True)):
            x, c = self._cell(x), self._cell(c)
            for k in range(self.K):
                if root[k, j]:
                    z = f"({x} - {number(scorer.means[k, j])}) * {number(root[k, j])}"
                    out[k].append(_where_there(c, f"-POWER({z}, 2) - {number(scale[k, j])}"))
        return [" + ".join(terms) or "0e0" for terms in out]

    def _categories(self, raw: list[str], scorer: CategoricalScorer) -> list[str]:
        """Σ_j log P(x_j | c) by cases; a category never seen as predict takes it."""
        out: list[list[str]] = [[] for _ in range(self.K)]
        for x, categories, table in zip(raw, scorer.categories, scorer.tables, strict=True):
            c = self._cell(x)
            for k in range(self.K):
                known = [(v, t) for v, t in zip(categories, table[k].tolist(), strict=True) if v is not NOVEL]
                novel = [t for v, t in zip(categories, table[k].tolist(), strict=True) if v is NOVEL]
                other = NO_SCORE if scorer.strict else number(novel[0]) if novel else "0e0"
                cases = " ".join(f"WHEN {c} = {literal(v)} THEN {number(t)}" for v, t in known)
                out[k].append(_where_there(c, f"CASE {cases} ELSE {other} END" if known else other))
        return [" + ".join(terms) or "0e0" for terms in out]

    # --- jointly normal columns

    def _joint(self, x: list[str], owners: Sequence[str], scorer: JointScorer, sums: Stats) -> list[str]:
        """The density of the columns that are there, a case for each pattern of missing values."""
        each = [(which, self._of_pattern(x, scorer, which)) for which in _patterns(owners, sums)]
        out = []
        for k in range(self.K):
            cases = " ".join(f"WHEN {_has(x, which)} THEN {scores[k]}" for which, scores in each)
            out.append(f"CASE {cases} ELSE {NO_SCORE} END")
        return out

    def _of_pattern(self, x: list[str], scorer: JointScorer, which: Flags) -> list[str]:
        normal = scorer.normal if isinstance(scorer, HeavyScorer) else scorer
        if which.all():
            own = normal.W if isinstance(normal, OwnScorer) else [normal.W] * self.K
            starts = np.broadcast_to(-0.5 * (normal.log_det + normal.rank * np.log(2 * np.pi)), (self.K,))
            sides = [(normal.means[k], own[k], float(starts[k])) for k in range(self.K)]
        else:
            sides = [normal.marginal.side(k, which) for k in range(self.K)]
        here = [name for name, has in zip(x, which, strict=True) if has]
        if isinstance(scorer, HeavyScorer):
            return [_heavy(here, mean, W, start, scorer.freedom) for mean, W, start in sides]
        if isinstance(normal, SharedScorer):
            return _linear(here, np.stack([mean for mean, _, _ in sides]), sides[0][1])
        return [f"{number(start)} - 0.5e0 * ({_squares(here, mean, W)})" for mean, W, start in sides]


def _where_there(c: str, term: str) -> str:
    return f"CASE WHEN {c} IS NULL THEN 0e0 ELSE {term} END"


def _has(x: list[str], which: Flags) -> str:
    return " AND ".join(f"{name} IS {'NOT ' if has else ''}NULL" for name, has in zip(x, which, strict=True))


def _linear(x: list[str], means: Array, W: Array) -> list[str]:
    """w_c·(x − m) − ½‖W(μ_c − m)‖², w_c = WᵀW(μ_c − m), m the middle of the means."""
    middle = means.mean(axis=0)
    M = (means - middle) @ W.T
    out = []
    for w, b in zip(M @ W, -0.5 * (M**2).sum(axis=1), strict=True):
        each = (f"{number(v)} * ({name} - {number(m)})" for name, v, m in zip(x, w, middle, strict=True) if v)
        out.append(" + ".join([number(b), *each]))
    return out


def _squares(x: list[str], mean: Array, W: Array) -> str:
    """‖W(x − μ)‖²."""
    rows = []
    for row in W:
        each = (f"{number(v)} * ({name} - {number(m)})" for name, v, m in zip(x, row, mean, strict=True) if v)
        text = " + ".join(each)
        if text:
            rows.append(f"POWER({text}, 2)")
    return " + ".join(rows) or "0e0"


def _heavy(x: list[str], mean: Array, W: Array, start: float, freedom: float) -> str:
    """The log-density of a t with these means and matrices: the normal one, bent."""
    p = int(W.any(axis=1).sum())
    log_det = -2 * start - p * np.log(2 * np.pi)
    peak = float(log_density(np.zeros(1), np.array([log_det]), p, freedom)[0])
    return f"{number(peak)} - {number(0.5 * (freedom + p))} * LN(1 + ({_squares(x, mean, W)}) / {number(freedom)})"


def _patterns(owners: Sequence[str], sums: Stats) -> Iterator[Flags]:
    """All patterns of few columns; of many, that of complete rows, those that were learned, and that of no value.

    ``owners``: the column of the table that each cell comes from; those of one column are missing together.
    """
    columns = list(dict.fromkeys(owners))
    if 2 ** len(columns) <= MOST_PATTERNS:
        places = np.array([columns.index(name) for name in owners], np.int64)
        yield from (np.array(which)[places] for which in product((True, False), repeat=len(columns)))
        return
    yield np.ones(len(owners), bool)
    if PATTERN in sums.axes and len(sums.axes[PATTERN]) <= MOST_PATTERNS:
        yield from (which for which in there(sums) if which.any())
    yield np.zeros(len(owners), bool)


def posterior_text(query: str, scores: SqlScores, solution: Solution, names: Sequence[str], keep: Sequence[str]) -> str:
    """SELECT of the kept columns and p(c | x) of every class: scores, less the largest, exponentials, their shares."""
    columns, some = scores.columns, np.flatnonzero(np.isfinite(solution.log_prior)).tolist()
    k = "".join(f", k{i}" for i in range(len(keep)))
    kept = "".join(f", {identifier(name)} AS k{i}" for i, name in enumerate(keep))
    read = "".join(f", {columns.raw(*key)} AS {c}" for key, c in columns.asked.items())
    text = f"SELECT 1 AS one{kept}{read} FROM ({query}) AS source"
    numbers = {c for (_, as_number), c in columns.asked.items() if as_number}
    cleaned = "".join(f", {without_nan(c) if c in numbers else c} AS {c}" for c in columns.asked.values())
    text = f"SELECT one{k}{cleaned} FROM ({text}) AS raw"
    possible = "".join(
        f", {columns.possible(n, c) if number_ else c} AS {c}" for (n, number_), c in columns.asked.items()
    )
    text = f"SELECT one{k}{possible} FROM ({text}) AS finite"
    cells = "".join(f", {cell} AS x{i}" for i, cell in enumerate(scores.cells))
    text = f"SELECT one{k}{cells} FROM ({text}) AS clean"
    each = ", ".join(f"{' + '.join([number(solution.log_prior[c]), *scores.terms[c]])} AS s{c}" for c in some)
    text = f"SELECT one{k}, {each} FROM ({text}) AS cells"
    top = f"GREATEST({', '.join(f's{c}' for c in some)})" if len(some) > 1 else f"s{some[0]}"
    text = f"SELECT one{k}, {', '.join(f's{c}' for c in some)}, {top} AS top FROM ({text}) AS scores"
    text = f"SELECT one{k}, {', '.join(f'EXP(s{c} - top) AS e{c}' for c in some)} FROM ({text}) AS lowered"
    total, prior, rate = " + ".join(f"e{c}" for c in some), softmax(solution.log_prior), solution.outlier_rate
    shares = []
    for c, name in enumerate(names):
        share = f"e{c} / ({total})" if c in some else "0e0"
        if rate:
            share = f"{number(1 - rate)} * ({share}) + {number(rate * prior[c])}"
        shares.append(f"{share} AS {identifier(name)}")
    shown = "".join(f"k{i} AS {identifier(name)}, " for i, name in enumerate(keep))
    return f"SELECT {shown}{', '.join(shares)} FROM ({text}) AS weights"
