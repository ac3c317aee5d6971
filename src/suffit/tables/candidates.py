"""The families that a column of numbers may get: those that say so in ``candidate_for``, as tables make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache

import numpy as np

from ..core.family import CONTINUOUS, INTEGER, POSITIVE, Family, families
from ..core.model import Model
from ..data.arrays import Array
from ..data.errors import InputError
from ..data.rows import Rows
from ..data.warn import no_warnings
from ..families import Bernoulli, Categorical, Gamma, Gaussian, LogNormal, Poisson
from ..families.gaussian.diagonal import PRIOR_ROWS

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
    return replace(family, unit=step) if any(f.name == "unit" for f in fields(family)) else None  # type: ignore[type-var, call-arg, arg-type]


def log_likelihoods(tried: Mapping[str, Family], x: Array, rows: Rows, price: float) -> dict[str, float]:
    """Σ log p(x | y) less ``price`` for every parameter, of the families that take all of these values (BIC)."""
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
        value = float(weights @ each) - price * scorer.n_parameters
        if np.isfinite(value):
            found[name] = value
    return found
