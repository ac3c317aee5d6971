"""Families of one column compared by leave-one-out: each row by log p(x_i | y_i) under the sums without it.

Leave-one-out needs the rows.  The other criterion, BIC, is a function of the sums alone (those of x, x², log x, log x!
and the counts of each class), and charges ½·log(rows) for each parameter; here a parameter that does not help costs
what it costs in leave-one-out, and there is no penalty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.family import Family
from ..data.arrays import Array, Cells, freeze
from ..data.labels import Index
from ..data.rows import Rows
from ..families import Categorical, Gaussian
from ..families.elementwise.shape import without

BIC, LOO = "bic", "loo"
CRITERIA = {BIC: "BIC", LOO: "leave-one-out"}  # as reasons say it
SAYABLE = -100.0  # the most that one row says against a family: else a few decide alone
STANDARD_ERRORS = 2.0  # by how many a sum of differences must exceed 0 to be sure
OWN_AND_REST = Index.of((0, 1))


@dataclass(frozen=True)
class Compared:
    """log p(x_i | y_i) without row i under each family, of the rows that tell families apart; and their weights."""

    each: dict[str, Array]
    weights: Array

    def total(self, name: str) -> float:
        """Σ w log p(x | y), leave-one-out."""
        return float(self.weights @ self.each[name])

    def surely(self, name: str, default: str, least: float) -> bool:
        """Whether a family is better by more than ``least``, and by more than a few rows could make it by chance."""
        gain = self.each[name] - self.each[default]
        total = float(self.weights @ gain)
        mean = total / max(float(self.weights.sum()), 1.0)
        error = float(np.sqrt(self.weights @ (gain - mean) ** 2))
        return total > max(least, STANDARD_ERRORS * error)


def compared(x: Array, rows: Rows, families: Mapping[str, Family], whole: bool) -> Compared:
    """Families of a column (NaN where missing) by leave-one-out; of ``whole`` numbers by the probability of each.

    A row tells when its class has another value without it; of numbers, two different ones: from fewer no spread can be
    learned.  No row says more than 100 nats against a family: a single one would else decide.

    >>> from suffit.families import LogNormal
    >>> x, y = np.exp(np.random.default_rng(0).normal(size=200)), Rows(Index.of("a"), np.zeros(200, np.int32))
    >>> found = compared(x, y, {"gaussian": Gaussian(), "log-normal": LogNormal()}, whole=False)
    >>> found.surely("log-normal", "gaussian", 10), len(found.weights)
    (True, 200)
    """
    there = np.flatnonzero(~np.isnan(x))
    x, rows = x[there], rows.some(there)
    tell = _tell(x, rows, 1 if whole else 2)
    weights = rows.part(0, len(rows))[1][tell]
    if not len(tell):
        return Compared(dict.fromkeys(families, np.zeros(0)), weights)
    each = {name: leave_one_out(x, rows, family, whole)[tell] for name, family in families.items()}
    lowest = np.max(list(each.values()), axis=0) + SAYABLE
    return Compared({name: np.maximum(value, lowest) for name, value in each.items()}, weights)


def _tell(x: Array, rows: Rows, least: int) -> NDArray[np.int64]:
    """The rows without which their class still has so many different values."""
    codes, weights = rows.part(0, len(rows))
    values, place = np.unique(x, return_inverse=True)
    cells, cell = np.unique(codes * np.int64(len(values)) + place, return_inverse=True)
    different = np.bincount(cells // max(len(values), 1), minlength=len(rows.classes))
    gone = without(np.bincount(cell, weights).astype(np.float64)[cell], rows.one_of_each().part(0, len(rows))[1]) <= 0
    return np.flatnonzero((different[codes] - gone >= least) & (weights > 0))


def leave_one_out(x: Array, rows: Rows, family: Family, whole: bool = False) -> Array:
    """log p(x_i | y_i) of every value under the sums without row i, −∞ where it is impossible then.  # (n,) → (n,)"""
    if whole and isinstance(family, Gaussian):
        return _gaussian_of_whole(x, rows)
    X: Cells = x[:, None]
    if isinstance(family, Categorical):  # the categories are those of the column, whichever row is left out
        categories, codes = np.unique(x, return_inverse=True)
        X, family = codes[:, None], Categorical(alpha=family.alpha, least_categories=len(categories))
    family, out = family.of(["x"]), np.empty(len(x))
    for c in np.unique(rows.codes):  # its class, and all others as one: no more is needed to score it
        one = Rows(OWN_AND_REST, freeze((rows.codes != c).astype(np.int32)), rows.weights)
        here = np.flatnonzero(rows.codes == c)
        stats = family.collect(X, one)
        density, never = family.leave_one_out(X[here], one.some(here).one_of_each(), stats)
        out[here] = density[:, 0] if never is None else np.where(never[:, 0] > 0, -np.inf, density[:, 0])
    return out


@np.errstate(divide="ignore", invalid="ignore")  # a class without another row: NaN, which no one reads
def _gaussian_of_whole(x: Array, rows: Rows) -> Array:
    """The probability of the unit interval about each value, by Sheppard's rule: the variance and 1/12.

    Without row i of weight w, the mean is n/(n − w) times as far from it, and Σ(x − mean)² less by w·n/(n − w)·d².
    """
    codes, weights = rows.part(0, len(rows))
    K, w = len(rows.classes), rows.one_of_each().part(0, len(rows))[1]
    n = np.bincount(codes, weights, minlength=K).astype(np.float64)
    middle = x.mean()
    d = x - middle
    d = d - (np.bincount(codes, weights * d, minlength=K) / n)[codes]
    squares = np.bincount(codes, weights * d * d, minlength=K)[codes]
    left = without(n[codes], w)
    grown = n[codes] / left
    var = np.maximum(squares - w * grown * d * d, 0.0) / left + 1 / 12
    return np.asarray(-0.5 * ((grown * d) ** 2 / var + np.log(2 * np.pi * var)))
