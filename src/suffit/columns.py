"""Which family each column of a table gets: as asked, or what its values speak for; and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .families import Bernoulli, Binned, Categorical, Gamma, Gaussian, LogNormal, Poisson
from .families.categorical import count_levels
from .families.elementwise import Elementwise
from .family import Family, family_named
from .family_choice import BIC, CRITERIA, LOO, compared
from .frame import DATE, EMPTY, LEVEL_KIND, MIXED, NESTED, NUMBER, READABLE, TRUTH, WHOLE, ArrayColumn, Frame
from .kernels.threads import one_blas_thread
from .schema import LEFT_OUT, Choice, Piece, Schema, shown
from .stats import Array
from .table import InputError, Rows, check_finite

LOOK_AT = 2_000  # rows that the choice of families rests on, where there are more
WIDE = 1_000  # whole numbers further apart than this are sorted, to see how many different ones there are
FEW_LEVELS = 30  # whole numbers of no more distinct values than this may be levels
LARGEST_COUNT = 1_000  # whole numbers up to this may be counts of events
OWN_VALUE = 0.5  # a column of levels with more distinct values than this share of its rows names the rows
SURELY = 10.0  # by how much a family's log-likelihood, less its price, must exceed the Gaussian's

DROP = "drop"

BERNOULLI, CATEGORICAL, POISSON, GAUSSIAN = Bernoulli(), Categorical(), Poisson(), Gaussian(smoothing=1e-9)
RIVALS: dict[str, Elementwise] = {"log-normal": LogNormal(smoothing=1e-9), "gamma": Gamma()}  # of positive numbers


@dataclass(frozen=True)
class Wish:
    """What the user wants for some columns."""

    columns: tuple[str, ...]
    family: Family | str
    joint: bool


def read_wishes(wanted: Any, frame: Frame, native: Any) -> list[Wish]:
    """``columns=`` as the user gives it: names, tuples of names and selectors, each with a family."""
    if isinstance(wanted, str) and wanted == "auto":
        return []
    pairs = list(wanted.items()) if isinstance(wanted, Mapping) else wanted
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ValueError(
            f"The 'columns' parameter is {wanted!r}: 'auto', a dict of column names (or selectors) and families, a "
            "list of such pairs, or the schema_ of another model"
        )
    wishes = []
    for key, family in pairs:
        names, joint = _selected(key, frame, native)
        if isinstance(family, str) and family not in ("auto", DROP):
            family_named(family)
        elif not isinstance(family, Family | str):
            raise ValueError(
                f"columns[{key!r}] = {family!r}: a family object such as Gaussian(), its name, 'auto' or 'drop'"
            )
        wishes.append(Wish(names, family, joint and not (isinstance(family, str) and family in ("auto", DROP))))
    seen: set[str] = set()
    for wish in wishes:
        for name in wish.columns:
            if name in seen:
                raise ValueError(f"columns: {name!r} is named more than once; each column belongs to one block")
            seen.add(name)
    return wishes


def _selected(key: Any, frame: Frame, native: Any) -> tuple[tuple[str, ...], bool]:
    """The columns that a key names, and whether they are to be one block."""
    if isinstance(key, tuple):
        names = tuple(map(str, key))
    elif callable(key):
        names = tuple(map(str, key(native)))
    elif hasattr(key, "_nodes") or type(key).__module__.startswith("narwhals"):
        import narwhals as nw

        return tuple(nw.from_native(native, eager_only=True).select(key).columns), False
    else:
        names = (str(key),)
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise ValueError(f"columns: there is no column {unknown[0]!r}; the columns are {list(frame.names)[:20]}")
    return names, isinstance(key, tuple)


def choose(
    frame: Frame,
    rows: Rows,
    wanted: Any = "auto",
    native: Any = None,
    missing: str = "ignore",
    unknown: str = "ignore",
    criterion: str = BIC,
) -> Schema:
    """A family for every column: the user's wish, or what its values speak for."""
    if isinstance(wanted, Schema):
        return wanted
    wishes = read_wishes(wanted, frame, native)
    look = rows.weighty(LOOK_AT)
    whole = len(look) == frame.n_rows
    few = frame if whole else frame.rows(look)
    few_rows = rows if whole else rows.some(look)
    by_name = {name: wish for wish in wishes for name in wish.columns}
    if frame.n_rows == 1 and not all(name in by_name and by_name[name].family != "auto" for name in frame.names):
        raise InputError("one sample (n_samples=1) of one class is not enough to tell what its columns are")
    evidence = Evidence(few, few_rows)
    choices: list[Choice] = []
    grouped: dict[Any, tuple[Family, str, bool, list[str]]] = {}
    for name in frame.names:
        wish = by_name.get(name)
        kind = few.columns[name].kind()
        if wish is None or wish.family == "auto":
            family, reason = auto_family(few, name, kind, few_rows, frame, rows, evidence, criterion)
        elif wish.family == DROP:
            family, reason = None, "as asked"
        else:
            family, reason = _wished(wish.family, name, kind), "as asked"
        if family is None:
            choices.append(Choice(name, kind, LEFT_OUT, reason))
            continue
        choices.append(Choice(name, kind, shown(family), reason))
        if isinstance(family, Categorical):
            family = replace(family, every_whole=False, unknown=family.unknown or unknown)
        group: Any = family
        if wish is not None and wish.joint:
            group = ("joint", wish.columns)
        elif not apart(family):
            group = ("alone", name)
        reads = "levels" if isinstance(family, Categorical) else "numbers"
        lenient = isinstance(family, Elementwise) and reason != "as asked"
        grouped.setdefault((group, lenient), (family, reads, lenient, []))[3].append(name)
    pieces = [
        Piece(f, _in_order(names, by_name), reads, lenient=lenient) for f, reads, lenient, names in grouped.values()
    ]
    pieces.sort(key=lambda piece: min(piece.columns))  # so that models of tables in another order can be merged
    if not pieces:
        why = "; ".join(f"{c.column!r}: {c.reason}" for c in choices[:5])
        raise InputError(f"no column is left to learn from ({why}); columns={{name: family}} sets a family by hand")
    if missing == "informative":
        used = tuple(sorted(c.column for c in choices if c.family != LEFT_OUT))
        pieces.append(Piece(Bernoulli(threshold=None), used, "holes"))
    return Schema(tuple(pieces), tuple(choices))


def _in_order(names: list[str], wishes: Mapping[str, Wish]) -> tuple[str, ...]:
    """The columns of a block in an order that does not depend on the table: as asked, or sorted."""
    wish = wishes.get(names[0])
    return wish.columns if wish is not None and wish.joint else tuple(sorted(names))


def apart(family: Family) -> bool:
    """Whether columns of a block with this family have nothing to do with each other."""
    if isinstance(family, Gaussian):
        return family.floor == "own" and not family.spherical
    if getattr(family, "edges", 0) is None:  # chosen from data, for each column its own
        return False
    return isinstance(family, Elementwise | Categorical | Binned)


def _wished(family: Family | str, name: str, kind: str) -> Family:
    """The family of a wish; refused for values it cannot have."""
    if isinstance(family, str):
        made = family_named(family)
        family = made(smoothing=1e-9) if issubclass(made, Gaussian) else made()
    if kind in (NESTED, MIXED, DATE):
        raise _unreadable(name, kind)
    if kind == LEVEL_KIND and not isinstance(family, Categorical):
        raise InputError(
            f"column {name!r}: {family.key} needs numbers, the column holds levels; use Categorical(), or convert it"
        )
    return family


def _unreadable(name: str, kind: str) -> InputError:
    ways = {
        NESTED: "it holds lists or the like: make columns of single values of it",
        MIXED: "it mixes numbers, text or other values: convert it to one type",
        DATE: "it holds dates or times: make numbers of it, such as the year, or the hour with VonMises(period=24)",
    }
    return InputError(f"column {name!r}: {ways[kind]}, or leave it out with columns={{{name!r}: 'drop'}}")


# --- what the values speak for


def auto_family(
    few: Frame,
    name: str,
    kind: str,
    rows: Rows,
    frame: Frame,
    all_rows: Rows,
    evidence: Evidence,
    criterion: str = BIC,
) -> tuple[Family | None, str]:
    """The family that the values of one column speak for, and why; None: the column is left out.

    ``few`` rows are looked at; what would leave a column out, and what a family could not have, is judged on all of
    them.
    """
    if kind == EMPTY and frame.columns[name].holes().all():
        return None, "no value is there"
    if kind == DATE:
        return None, "a date or time: make numbers of it, such as the year, or the hour with VonMises(period=24)"
    if kind not in (*READABLE, EMPTY):
        raise _unreadable(name, kind)
    if kind in (LEVEL_KIND, EMPTY) and frame.columns[name].kind() == LEVEL_KIND:
        spread = _spread(few, name, rows)
        if len(rows) < len(all_rows) and not 1 < spread[0] <= FEW_LEVELS:
            spread = _spread(frame, name, all_rows)
        return _for_levels(*spread)
    return _for_values(few, name, kind, rows, frame, all_rows, evidence, criterion)


def _for_values(
    few: Frame, name: str, kind: str, rows: Rows, frame: Frame, all_rows: Rows, evidence: Evidence, criterion: str
) -> tuple[Family | None, str]:
    """The same for a column of numbers."""
    every = frame.columns[name].numbers()
    if all_rows.weights is not None:
        check_finite(every[:, None], [name])
        every = every[all_rows.weighty()]
    low, high = _range(every)
    if np.isinf(low) or np.isinf(high):
        check_finite(every[:, None], [name])
    if np.isnan(low):  # in no row that weighs anything
        return None, "no value is there"
    if low == high:
        return None, f"every value is {low:g}"
    whole = all_whole(every, low, high)
    if whole and _running(every, low, high, all_rows):
        return None, "a running number: it names the rows rather than telling of them"
    x = every if few is frame and len(every) == len(rows) else few.columns[name].numbers()
    least, most = (low, high) if x is every else _range(x)
    if not least < most:  # a rare other value is not among the few
        x, rows = every, all_rows.some(all_rows.weighty())
        evidence = Evidence(replace(frame, columns={name: ArrayColumn(x)}, n_rows=len(x)), rows)
    if kind == TRUTH:
        return BERNOULLI, "yes or no"
    if whole:
        return _for_whole_numbers(name, x, low, high, rows, evidence, criterion)
    return _for_numbers(name, x, low, rows, evidence, criterion)


def _range(x: Array) -> tuple[float, float]:
    """The least and the greatest value, NaN where there is none."""
    return float(np.fmin.reduce(x, initial=np.nan)), float(np.fmax.reduce(x, initial=np.nan))


def all_whole(x: Array, low: float, high: float) -> bool:
    """Whether all values between these are whole numbers, the missing ones left aside."""
    if not (low.is_integer() and high.is_integer()):
        return False
    return bool(((x == np.rint(x)) | np.isnan(x)).all())


def _spread(frame: Frame, name: str, rows: Rows) -> tuple[int, float]:
    """How many distinct levels a column has, and in how many rows."""
    count = np.bincount(frame.columns[name].levels()[1] + 1, rows.weights)[1:]  # the missing ones come first
    return int(np.count_nonzero(count)), float(count.sum())


def _running(x: Array, low: float, high: float, rows: Rows) -> bool:
    """Whether every row has its own of so many whole numbers in a row."""
    if high - low + 1 < FEW_LEVELS or high - low >= len(x):
        return False
    there = x[~np.isnan(x)]
    n = len(there)
    return high - low == n - 1 and bool(rows.counts().sum() == n > FEW_LEVELS) and len(np.unique(there)) == n


def _for_levels(distinct: int, present: float) -> tuple[Family | None, str]:
    if distinct <= 1:
        return None, "every value is the same"
    if distinct > max(FEW_LEVELS, OWN_VALUE * present):
        return None, f"{distinct} distinct values in {present:g} rows: it names the rows rather than telling of them"
    return CATEGORICAL, f"{distinct} levels"


def _for_whole_numbers(
    name: str, x: Array, low: float, high: float, rows: Rows, evidence: Evidence, criterion: str
) -> tuple[Family | None, str]:
    if low == 0.0 and high == 1.0:
        return BERNOULLI, "only 0 and 1"
    tries: dict[str, tuple[Family, float]] = {"gaussian": (GAUSSIAN, evidence.of(name, GAUSSIAN))}
    if low >= 0 and high <= LARGEST_COUNT:
        tries["poisson"] = (POISSON, evidence.of(name, POISSON))
    if name in evidence.levels:
        distinct, explained_by_levels = evidence.levels[name]
        tries["categorical"] = (CATEGORICAL, explained_by_levels)
    if criterion == LOO:
        found = compared(x, rows, {k: family for k, (family, _) in tries.items()}, whole=True)
        tries = {k: (family, found.total(k)) for k, (family, _) in tries.items()}
    best = max(tries, key=lambda k: tries[k][1])
    others = ", ".join(f"{k} {v[1] - tries[best][1]:.0f}" for k, v in tries.items() if k != best)
    what = {"poisson": "counts", "gaussian": "whole numbers"}
    if best == "categorical":
        what[best] = f"{distinct} whole numbers as levels"
    return tries[best][0], what[best] + (f" ({CRITERIA[criterion]}, beside: {others})" if others else "")


def _for_numbers(
    name: str, x: Array, low: float, rows: Rows, evidence: Evidence, criterion: str
) -> tuple[Family | None, str]:
    if low <= 0:
        return GAUSSIAN, "numbers"
    base, rivals = evidence.of(name, GAUSSIAN), RIVALS
    scores = {k: evidence.of(name, f) for k, f in rivals.items()}
    best = max(scores, key=lambda k: scores[k])
    surely = scores[best] > base + SURELY
    if criterion == LOO:
        found = compared(x, rows, {"gaussian": GAUSSIAN, **rivals}, whole=False)
        base, scores = found.total("gaussian"), {k: found.total(k) for k in rivals}
        best = max(scores, key=lambda k: scores[k])
        surely = found.surely(best, "gaussian", SURELY)
    if surely:
        return rivals[best], f"positive numbers, {best} by {scores[best] - base:.0f} of {CRITERIA[criterion]}"
    return GAUSSIAN, f"numbers (nothing else surely better by {CRITERIA[criterion]})"


class Evidence:
    """How well families explain columns of numbers, less ½·log(rows) for every parameter (BIC).

    All columns that a family could have are looked at together, when the first of them is asked for.
    """

    def __init__(self, frame: Frame, rows: Rows) -> None:
        self.frame, self.rows = frame, rows
        self._found: dict[tuple[str, bool], dict[str, float]] = {}

    @cached_property
    def price(self) -> float:
        """½·log(rows), for every parameter."""
        return 0.5 * float(np.log(max(self.rows.counts().sum(), 1.0)))

    @cached_property
    def _columns(self) -> dict[bool, tuple[dict[str, int], Array]]:
        """The columns of numbers that are not all whole, and those that are: the place of each, and their values."""
        numbers = {n: c.numbers() for n, c in self.frame.columns.items() if c.kind() in (NUMBER, WHOLE)}
        whole = {n: self.frame.columns[n].kind() == WHOLE or all_whole(x, *_range(x)) for n, x in numbers.items()}
        out = {}
        for kind in (False, True):
            names = [n for n in numbers if whole[n] == kind]
            X = np.array([numbers[n] for n in names]).T if names else np.empty((len(self.rows), 0))
            out[kind] = {n: j for j, n in enumerate(names)}, X
        return out

    @cached_property
    def levels(self) -> dict[str, tuple[int, float]]:
        """Of whole numbers with few distinct values: how many, and the same for them as levels."""
        names, X = self._columns[True]
        if not names:
            return {}
        near = X - np.fmin.reduce(X, axis=0)
        wide = np.fmax.reduce(near, axis=0) >= WIDE
        for j in np.flatnonzero(wide):
            values, place = np.unique(X[:, j], return_inverse=True)
            near[:, j] = np.where(np.isnan(X[:, j]), np.nan, place)
            wide[j] = len(values) > WIDE
        kept = np.flatnonzero(~wide & ~np.isnan(near).all(axis=0))
        codes = np.where(np.isnan(near), -1, near)[:, kept].astype(np.int32)
        if not len(kept):
            return {}
        levels, values = (a.tolist() for a in explained_levels(codes, self.rows, self.price))
        each = zip(np.array(list(names), object)[kept], levels, values, strict=True)
        return {name: (n, value) for name, n, value in each if n <= FEW_LEVELS}

    def of(self, name: str, family: Elementwise) -> float:
        """The log-likelihood of one column given the classes, less the price."""
        kind = name in self._columns[True][0]
        key = (family.key, kind)
        if key not in self._found:
            names, X = self._columns[kind]
            could = ~family.outside(X).any(axis=0)
            with one_blas_thread():
                values = explained(X[:, could], self.rows, family, self.price, whole=kind)
            self._found[key] = dict(zip(np.array(list(names), object)[could], values.tolist(), strict=True))
        return self._found[key].get(name, -np.inf)


@np.errstate(all="ignore")  # a column without variance: NaN, which no one asks for
def explained(X: Array, rows: Rows, family: Elementwise, price: float, whole: bool = False) -> Array:
    """Log-likelihood of columns given the classes, less a price for every parameter.  # (n, p) → (p,)

    Of ``whole`` numbers, that of the unit interval about each: for a Gaussian, by Sheppard's rule.
    """
    there, K = ~np.isnan(X), len(rows.classes)
    member = rows.members()
    weights = rows.part(0, len(rows))[1]
    x = np.where(there, X, 1.0)

    def by_class(a: Array) -> Array:
        return member @ np.where(there, a, 0.0)

    n = member @ there
    if isinstance(family, Gaussian):
        z = np.asarray(family.warp(x))
        z = z - weights @ np.where(there, z, 0.0) / np.maximum(n.sum(axis=0), np.finfo(float).tiny)
        s, ss = by_class(z), by_class(z * z)
        m, variances, _, _ = family.solved_moments(n, s, ss, np.zeros((K, X.shape[1])))
        v = variances + whole / 12
        value = -0.5 * ((ss + m * (n * m - 2 * s)) / v + n * np.log(2 * np.pi * v)).sum(axis=0)
    else:
        T = family.T(x)  # (n, p, order)
        t = np.stack([by_class(T[:, :, o]) for o in range(family.order)], axis=-1)
        natural = family.natural(n, t)
        value = (t * natural.theta).sum(axis=(0, 2)) - (n * natural.A).sum(axis=0)
    if family.has_base:
        value = value + weights @ np.where(there, family.log_base(x), 0.0)
    return np.asarray(value - price * K * family.order)


def explained_levels(codes: NDArray[np.int32], rows: Rows, price: float) -> tuple[NDArray[np.int64], Array]:
    """How many levels columns of codes have, and the same for them: Σ_cv N_cv·log (N_cv + 1)/(N_c + levels).

    # (n, p) → (p,), (p,)
    """
    sizes = (codes.max(axis=0) + 1).tolist()
    first = np.cumsum([0, *sizes[:-1]])
    count = count_levels(lambda start, stop: codes[start:stop], sizes, rows)  # (K, ΣL)
    levels = np.add.reduceat(count.any(axis=0).astype(np.int64), first)
    total = np.add.reduceat(count, first, axis=1)  # (K, p)
    shares = np.add.reduceat((count * np.log(count + 1)).sum(axis=0), first) - (total * np.log(total + levels)).sum(
        axis=0
    )
    return levels, shares - price * len(count) * (levels - 1)
