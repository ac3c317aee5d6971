"""How well families explain a column of numbers: which it may get, what its values are, their log-likelihoods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.family import CONTINUOUS, INTEGER, POSITIVE, Family, families
from ..core.model import Model
from ..data.arrays import Array, Codes, freeze
from ..data.errors import InputError
from ..data.rows import Rows
from ..data.warn import no_warnings
from ..families import Bernoulli, Categorical, Gamma, Gaussian, LogNormal, Poisson
from ..families.elementwise.shape import Elementwise
from ..families.gaussian.diagonal import PRIOR_ROWS

SOME = 1 << 14  # values that are looked at together, in the cache
FIRST = 1_000  # values that mostly show that there are many different ones
WIDE = 1_000  # integers further apart than this are sorted, to see how many different ones there are
FEW_CATEGORIES = 30  # integers of no more distinct values than this may be categories
LARGEST_COUNT = 1_000  # integers up to this may be counts of events

AS_BINARY, AS_CATEGORIES, POISSON, GAUSSIAN = Bernoulli(), Categorical(), Poisson(), Gaussian(prior_rows=PRIOR_ROWS)
GAMMA, LOG_NORMAL = Gamma(), LogNormal(prior_rows=PRIOR_ROWS)
SHARED: dict[str, Family] = {
    "gaussian": GAUSSIAN,
    "poisson": POISSON,
    "categorical": AS_CATEGORIES,
    "log-normal": LOG_NORMAL,
    "gamma": GAMMA,
}  # families whose log-likelihoods are worked out for many columns at once, from sums that they share
_NAMES = {type(family): name for name, family in SHARED.items()}


@cache
def _made(kind: type[Family]) -> Family:
    return SHARED[_NAMES[kind]] if kind in _NAMES else kind()


def candidates() -> dict[str, dict[str, Family]]:
    """Of integers, of numbers above 0, and of other numbers: the families that may be chosen, by name."""
    found: dict[str, dict[str, Family]] = {INTEGER: {}, POSITIVE: {}, CONTINUOUS: {}}
    shared = [(family.key, type(family)) for family in SHARED.values()]
    for key, kind in [*shared, *sorted(families().items())]:  # of equals, the first is taken
        for what in vars(kind).get("candidate_for", ()):  # said by itself, not by what it is derived from
            found[what][_NAMES.get(kind, key)] = _made(kind)
    found[POSITIVE] = found[CONTINUOUS] | found[POSITIVE]
    return found


@cache
def in_steps(family: Family, step: float) -> Family | None:
    """A family of numbers that were divided by a step, as one of the numbers as they are; None where it has no unit.

    One object for each, by which columns are known to be alike.
    """
    if step == 1.0 or isinstance(family, Gaussian | Categorical):  # whatever the unit
        return family
    if isinstance(family, Bernoulli):
        return replace(family, present=step)
    return replace(family, unit=step) if any(f.name == "unit" for f in fields(family)) else None  # type: ignore[type-var, arg-type]


# --- log-likelihoods


@dataclass(frozen=True)
class Numbers:
    """A column of numbers that several families could have, in the rows that are looked at."""

    x: Array
    rows: Rows
    low: float  # of all rows
    high: float
    whole: bool
    least: float  # of these rows
    most: float
    units: bool  # whether these are whole
    step: float = 1.0  # what integers were divided by: the greatest common divisor of their differences

    @property
    def counts(self) -> bool:
        """Whether they may be counts of events."""
        return self.whole and self.low >= 0 and self.high <= LARGEST_COUNT and self.low == math.floor(self.low)

    @property
    def sort(self) -> str:
        """What families say they may be chosen for."""
        return INTEGER if self.whole else POSITIVE if self.low > 0 else CONTINUOUS


class Explained(NamedTuple):
    """How well families explain a column: by name; and how many categories it has, where it may have some."""

    by: dict[str, float]
    categories: int = 0

    def and_more(self, column: Numbers, families: Mapping[str, Family]) -> Explained:
        """With families that have no sums in common with others."""
        penalty = 0.5 * float(np.log(max(column.rows.counts().sum(), 1.0)))
        return self._replace(by=self.by | log_likelihoods(families, column.x, column.rows, penalty))


@np.errstate(all="ignore")  # a class without values: NaN, where another family has them too
def explained(columns: Sequence[Numbers]) -> list[Explained]:
    """Log-likelihood of columns of the same rows given the classes, less ½·log(rows) for every parameter (BIC).

    Of integers, that of the unit interval about each: for a Gaussian, by Sheppard's rule.
    """
    rows = columns[0].rows
    penalty = 0.5 * float(np.log(max(rows.counts().sum(), 1.0))) * len(rows.classes)
    X = np.array([column.x for column in columns])  # (p, n)
    positive = np.flatnonzero([not column.whole and column.low > 0 for column in columns])
    counts = np.flatnonzero([column.counts for column in columns])
    p, units = len(columns), np.array([column.units for column in columns])
    if len(positive):
        X = np.concatenate([X, np.log(X[positive])])
    X = freeze(X)
    middle, n, z, zz = column_moments(X, *rows.part(0, len(rows)), len(rows.classes))
    sums = Sums(n, z + n * middle, z, zz)  # of x, and of log x for positive numbers
    value = _normal(sums, np.concatenate([units, units[positive]])) - 2 * penalty
    out = [Explained({"gaussian": v}) for v in value[:p].tolist()]
    if len(positive):
        n, logs = sums.n[:, p:], sums.t[:, p:]
        t = np.stack([sums.t[:, positive], logs], axis=-1)
        gamma = _natural(GAMMA, n, t) - 2 * penalty
        for j, a, b in zip(positive, (value[p:] - logs.sum(axis=0)).tolist(), gamma.tolist(), strict=True):
            out[j].by.update({"log-normal": a, "gamma": b})
    if len(counts):
        poisson = _natural(POISSON, sums.n[:, counts], sums.t[:, counts, None])
        poisson = poisson - log_factorials(X, counts, rows) - penalty
        for j, a in zip(counts, poisson.tolist(), strict=True):
            out[j].by["poisson"] = a
    part, K = rows.part(0, len(rows)), len(rows.classes)
    for i, column in enumerate(columns):
        if column.whole:
            categories, a = categories_explain(X[i], column.least, column.most, *part, K, WIDE, FEW_CATEGORIES)
            if categories:
                out[i].by["categorical"] = a - penalty * (categories - 1)
                out[i] = out[i]._replace(categories=categories)
    return out


class Sums(NamedTuple):
    """Of every class and column: rows, Σx, and Σz and Σz², z = x less the column's mean.  # (K, p)"""

    n: Array
    t: Array
    z: Array
    zz: Array


def _normal(sums: Sums, units: NDArray[np.bool_]) -> Array:
    """−½ Σ (x − μ)²/σ² + log 2πσ²; of unit intervals, the variance and 1/12.  # → (p,)"""
    n, _, z, zz = sums
    m, variances, _, _ = GAUSSIAN.solved_moments(n, z, zz, np.zeros(n.shape))
    v = variances + units / 12
    return np.asarray(-0.5 * ((zz + m * (n * m - 2 * z)) / v + n * np.log(2 * np.pi * v)).sum(axis=0))


def _natural(family: Elementwise, n: Array, t: Array) -> Array:
    """t·θ − n·A, without log h(x).  # (K, p), (K, p, order) → (p,)"""
    natural = family.natural(n, t)
    return np.asarray((t * natural.theta).sum(axis=(0, 2)) - (n * natural.A).sum(axis=0))


@cache
def _factorials() -> Array:
    return freeze(-POISSON.log_base(np.arange(LARGEST_COUNT + 1.0)))


def log_factorials(X: Array, places: NDArray[np.int64], rows: Rows) -> Array:
    """Σ log x! of the columns of counts at these places.  # (p, n)"""
    weights, out = rows.part(0, len(rows))[1], np.empty(len(places))
    for k, x in enumerate(X[places]):
        there = x == x
        out[k] = (weights[there] * _factorials()[x[there].astype(np.int64)]).sum()
    return out


def log_likelihoods(tried: Mapping[str, Family], x: Array, rows: Rows, penalty: float) -> dict[str, float]:
    """Σ log p(x | y) less ``penalty`` for every parameter, of the families that take all of these values (BIC)."""
    there = np.flatnonzero(~np.isnan(x))
    X, some = x[there][:, None], rows.some(there)
    codes, weights = some.part(0, len(some))
    found = {}
    for name, family in tried.items():
        try:
            with no_warnings(), np.errstate(all="ignore"):
                scorer = Model.first(family, ["x"], X, some).solved(np.zeros(len(rows.classes))).scorer
                each = (scorer.scores(X) + scorer.log_base(X)[:, None])[np.arange(len(X)), codes]
        except InputError:  # outside its support
            continue
        value = float(weights @ each) - penalty * scorer.n_parameters
        if np.isfinite(value):
            found[name] = value
    return found


# --- what the values of single columns are


def column_range(x: Array) -> tuple[float, float, bool]:
    """The least and the greatest value, NaN where there is none, and whether all that are there are whole."""
    low, high = float(np.fmin.reduce(x, initial=np.inf)), float(np.fmax.reduce(x, initial=-np.inf))
    if low > high:
        return np.nan, np.nan, True
    parts = (x[i : i + SOME] for i in range(0, len(x), SOME))
    return low, high, all(bool(((np.floor(part) == part) | (part != part)).all()) for part in parts)


def column_moments(X: Array, codes: Codes, weights: Array, K: int) -> tuple[Array, Array, Array, Array]:
    """m, the mean of each column; Σ w, Σ w z and Σ w z² of what is there, z = x − m.  # (p, n) → (p,), (K, p) thrice"""
    middle, sums = np.zeros(len(X)), np.empty((3, K, len(X)))
    for j, x in enumerate(X):
        there = x == x
        w = np.where(there, weights, 0.0)
        total = w.sum()
        if total > 0.0:
            middle[j] = (w * np.where(there, x, 0.0)).sum() / total
        z = np.where(there, x - middle[j], 0.0)
        for k in range(3):
            sums[k, :, j] = np.bincount(codes, w, K)
            w *= z
    return middle, *sums


def categories_explain(
    x: Array, low: float, high: float, codes: Codes, weights: Array, K: int, wide: int, limit: int
) -> tuple[int, float]:
    """How many different integers a column has, 0 for more than ``limit``; and how well they tell the classes.

    That is Σ_cv N_cv·log (N_cv + 1)/(N_c + categories).  Numbers in a range less than ``wide`` are found by a table.
    """
    there = x == x
    x, codes = x[there], codes[there]
    if high - low < wide:
        place = (x - low).astype(np.int64)
        found = np.bincount(place) > 0
        place, n = (np.cumsum(found) - 1)[place], int(found.sum())
    elif len(np.unique(x[:FIRST])) > limit:
        return 0, 0.0
    else:
        values, place = np.unique(x, return_inverse=True)
        n = len(values)
    if n > limit:
        return 0, 0.0
    count = np.bincount(place * K + codes, weights[there], n * K).reshape(n, K)
    N = count.sum(axis=0)
    return n, float((count * np.log(count + 1)).sum() - (N * np.log(np.maximum(N + n, 1))).sum())
