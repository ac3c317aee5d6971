"""Which family each column of a table gets: set by the user, or chosen from its values; and why."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ..core.family import CONTINUOUS, Family, family_named
from ..data.arrays import Array
from ..data.column import BOOLEAN, CATEGORICAL, DATE, EMPTY, INTEGER, MIXED, NESTED, READABLE, Column, unreadable
from ..data.errors import InputError, check_finite
from ..data.frame import Frame
from ..data.rows import Rows
from ..data.similar import way_out
from ..data.warn import DataWarning, warn_once
from ..families import Bernoulli, Binned, Categorical, Gaussian, Text
from ..families.columns import IndependentColumns
from ..families.counts.partition import Partition
from ..families.gaussian.diagonal import PRIOR_ROWS
from .column_family_loo import BIC, CRITERIA, LOO, compared
from .column_scores import (
    AS_BINARY,
    AS_CATEGORIES,
    FEW_CATEGORIES,
    GAUSSIAN,
    SHARED,
    Explained,
    Numbers,
    candidates,
    column_range,
    explained,
    in_steps,
)
from .free_text import AS_TEXT, words_of_texts
from .schema import AS_ASKED, CONSTANT, DROPPED, BlockSpec, Choice, Schema, shown

SAMPLE_ROWS = 20_000  # rows that the choice of families rests on, where there are more
MOST_NUMBERS = 1 << 22  # of several columns that are looked at together
FIRST_ROWS = 64  # of a column, that mostly tell
EXACT = 2.0**53  # integers from here on may be alike as float64
OWN_VALUE = 0.5  # a column of categories with more distinct values than this share of its rows names the rows
FEWEST_TEXTS = 5  # different ones that a column of free text has
SURELY = 10.0  # by how much a family's BIC must exceed the Gaussian's

DROP = "drop"
NO_COLUMN = "no column can be used, so every prediction is the class shares: "
IDENTIFIER = "an identifier rather than a feature"

_KNOWN: tuple[Family, ...] = (AS_BINARY, AS_TEXT, *SHARED.values())
SHOWN = {id(f): shown(f) for f in _KNOWN}

Verdict: TypeAlias = tuple[Family | None, str]  # a family, or None for a column that is dropped; and why


@dataclass(frozen=True)
class Wish:
    """What the user wants for some columns."""

    columns: tuple[str, ...]
    family: Family | str
    joint: bool


def read_wishes(wanted: object, frame: Frame, native: object) -> list[Wish]:
    """``columns=`` as the user gives it: names, tuples of names and selectors, each with a family."""
    if isinstance(wanted, str) and wanted == "auto":
        return []
    pairs = list(wanted.items()) if isinstance(wanted, Mapping) else wanted
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ValueError(
            f"The 'columns' parameter is {wanted!r}: must be 'auto', a dict of column names (or selectors) and "
            "families, a list of such pairs, or the schema_ of another model"
        )
    wishes = []
    for key, family in pairs:
        names, joint = _selected(key, frame, native)
        if isinstance(family, str) and family not in ("auto", DROP):
            family_named(family)
        elif not isinstance(family, Family | str):
            raise ValueError(
                f"columns[{key!r}] = {family!r}: must be a family object such as Gaussian(), its name, 'auto' or 'drop'"
            )
        if family == Partition.key or isinstance(family, Partition):
            raise ValueError(
                f"columns[{key!r}]: a partition needs codes of its columns, which structure='auto' makes; leave "
                "columns='auto', or give the schema_ of a model that has partitions"
            )
        wishes.append(Wish(names, family, joint and not (isinstance(family, str) and family in ("auto", DROP))))
    seen: set[str] = set()
    for wish in wishes:
        for name in wish.columns:
            if name in seen:
                raise ValueError(f"columns: {name!r} is named more than once; name each column once")
            seen.add(name)
    return wishes


def _selected(key: object, frame: Frame, native: Any) -> tuple[tuple[str, ...], bool]:
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
    wanted: object = "auto",
    native: object = None,
    missing: str = "ignore",
    unknown: str = "ignore",
    criterion: str = BIC,
) -> Schema:
    """A family for every column: set by the user, or chosen from its values."""
    if isinstance(wanted, Schema):
        return wanted
    wishes = read_wishes(wanted, frame, native)
    look = rows.with_positive_weight(SAMPLE_ROWS)
    whole = len(look) == frame.n_rows
    few = frame if whole else frame.rows(look)
    by_name = {name: wish for wish in wishes for name in wish.columns}
    if frame.n_rows == 1 and not all(name in by_name and by_name[name].family != "auto" for name in frame.names):
        raise InputError(
            "one sample (n_samples=1) is not enough to choose families for the columns; give more rows, or set "
            "columns={name: family}"
        )
    tried = candidates()
    looked = ColumnSample(frame, rows, few, rows if whole else rows.some(look), tried)
    kinds = {name: column.kind() for name, column in few.columns.items()}
    found: dict[str, Verdict | Numbers] = {}
    for name in frame.names:
        wish = by_name.get(name)
        if wish is None or wish.family == "auto":
            found[name] = looked.column(name, kinds[name])
        elif wish.family == DROP:
            found[name] = None, AS_ASKED
        else:
            found[name] = _wished(wish.family, name, kinds[name]), AS_ASKED
    verdicts = found | _compared({k: v for k, v in found.items() if isinstance(v, Numbers)}, tried, criterion)
    specs, choices = _blocks(few, kinds, cast("Mapping[str, Verdict]", verdicts), by_name, unknown)
    if not specs:  # a block of no columns has sums and scores, too: those of nothing
        why = [f"{c.column!r}: {c.reason.partition(' (')[0]}" for c in choices]
        warn_once(DataWarning, NO_COLUMN, why, "; set a family with columns={name: family}")
        specs.append(BlockSpec(Gaussian(tie=1.0), (), "numbers"))
    elif missing == "informative":
        used = tuple(sorted(c.column for c in choices if c.family != DROPPED))
        specs.append(BlockSpec(Bernoulli(threshold=None), used, "missing"))
    return Schema(tuple(specs), tuple(choices))


def _blocks(
    few: Frame, kinds: Mapping[str, str], verdicts: Mapping[str, Verdict], wishes: Mapping[str, Wish], unknown: str
) -> tuple[list[BlockSpec], list[Choice]]:
    """Blocks of columns that share a family, and what is said of each column.

    Blocks and their columns are in an order that does not depend on the table, so that models can be merged.
    """
    choices: list[Choice] = []
    alike: dict[tuple[int, bool, tuple[str, ...] | None], tuple[str, Family, list[str]]] = {}
    for name, (family, reason) in verdicts.items():
        wish, column = wishes.get(name), few.columns[name]
        unsaid = column.kind() == CATEGORICAL and not reason.startswith((AS_ASKED, CONSTANT))
        hint = way_out(name, column.categories()[0]) if unsaid else ""  # for text that looks like numbers or dates
        if family is None:
            choices.append(Choice(name, kinds[name], DROPPED, reason, hint))
            continue
        key = id(family), reason == AS_ASKED, wish.columns if wish is not None and wish.joint else None
        if key not in alike:
            alike[key] = SHOWN.get(id(family)) or shown(family), family, []
        kind = "text" if isinstance(family, Text) else kinds[name]
        choices.append(Choice(name, kind, alike[key][0], reason, hint))
        alike[key][2].append(name)
    grouped: dict[tuple[Hashable, bool], tuple[Family, str, tuple[str, ...] | None, list[str]]] = {}
    for (_, asked, joint), (_, family, names) in alike.items():
        reads = "numbers"
        if isinstance(family, Text):
            reads = "texts"
        if isinstance(family, Categorical):
            family, reads = replace(family, every_integer=False, unknown=family.unknown or unknown), "categories"
        lenient = isinstance(family, IndependentColumns) and not asked
        for some in [names] if joint or apart(family) else [[name] for name in names]:
            group: Hashable = ("joint", joint) if joint else family if apart(family) else ("alone", some[0])
            grouped.setdefault((group, lenient), (family, reads, joint, []))[3].extend(some)
    specs = [
        BlockSpec(family, joint or tuple(sorted(names)), reads, lenient=lenient)
        for (_, lenient), (family, reads, joint, names) in grouped.items()
    ]
    return sorted(specs, key=lambda spec: min(spec.columns)), choices


def apart(family: Family) -> bool:
    """Whether columns of a block with this family have nothing to do with each other."""
    if isinstance(family, Gaussian):
        return family.floor == "own" and not family.spherical
    if getattr(family, "edges", 0) is None:  # chosen from data, for each column its own
        return False
    return isinstance(family, IndependentColumns | Categorical | Binned)


def _wished(family: Family | str, name: str, kind: str) -> Family:
    """The family of a wish; refused for values it cannot have."""
    if isinstance(family, str):
        made = family_named(family)
        family = made(prior_rows=PRIOR_ROWS) if issubclass(made, Gaussian) else made()
    if kind in (NESTED, MIXED, DATE):
        raise unreadable(name, kind, _dropped(name))
    if kind == CATEGORICAL and not isinstance(family, Categorical | Text):
        raise InputError(
            f"column {name!r}: {family.key} needs numbers, but the column is text; use Categorical(), Text() where it "
            "holds words, or convert it"
        )
    if isinstance(family, Text) and kind not in (CATEGORICAL, EMPTY):
        raise InputError(f"column {name!r}: text needs texts, but the column holds {kind} values; use another family")
    return family


def _dropped(name: str) -> str:
    return f"drop it with columns={{{name!r}: 'drop'}}"


# --- choosing from the values


@dataclass(frozen=True)
class ColumnSample:
    """A table, and the few rows of it that are looked at.

    What would leave a column out, and what a family could not have, is judged on all of them.
    """

    frame: Frame
    rows: Rows
    few: Frame
    few_rows: Rows
    candidates: dict[str, dict[str, Family]]  # of every sort of numbers

    @cached_property
    def with_positive_weight(self) -> NDArray[np.int64]:
        """The rows that weigh anything."""
        return self.rows.with_positive_weight()

    def column(self, name: str, kind: str) -> Verdict | Numbers:
        """The family chosen from the values of one column, and why; or the numbers that families are tried on."""
        whole = self.frame.columns[name]
        if kind == EMPTY and whole.missing().all():
            return None, "all values are missing"
        if kind == DATE:
            return None, "a date or time; convert it to numbers, such as the year, or the hour with VonMises(period=24)"
        if kind not in READABLE and kind != EMPTY:
            raise unreadable(name, kind, _dropped(name))
        if kind in (CATEGORICAL, EMPTY) and whole.kind() == CATEGORICAL:
            spread = _spread(self.few.columns[name], self.few_rows)
            if self.few is not self.frame and not 1 < spread[0] <= FEW_CATEGORIES:
                spread = _spread(whole, self.rows)
            alike = max(FEWEST_TEXTS - 1.0, OWN_VALUE * spread[1])
            return (spread[0] > alike and self._text(name)) or _for_categories(*spread)
        return self._numbers(name, kind)

    def _text(self, name: str) -> Verdict | None:
        """Of values that are hardly ever the same: free text, whose words come again in other rows."""
        column = self.few.columns[name]
        found = None if way_out(name, column.categories()[0]) else words_of_texts(column, self.few_rows)
        return None if found is None else (AS_TEXT, f"free text, {found} words")

    def _numbers(self, name: str, kind: str) -> Verdict | Numbers:
        every = self.frame.columns[name].numbers()
        if self.rows.weights is not None:
            check_finite(every[:, None], [name])
            every = every[self.with_positive_weight]
        low, high, whole = column_range(every)
        if math.isinf(low) or math.isinf(high):
            check_finite(every[:, None], [name])
        if math.isnan(low):  # in no row that weighs anything
            return None, "all values are missing"
        if low == high:
            return self._equal(name, kind, low)
        step = _step(every, low, high) if whole else 1.0
        if whole and _running(every, (high - low) / step, self.rows):
            return None, f"{IDENTIFIER} (a running number)"
        if kind == BOOLEAN:
            return AS_BINARY, "true or false"
        if whole and low == 0.0 and high == step:
            return in_steps(AS_BINARY, high), f"only 0 and {high:g}"
        if not whole and low <= 0 and len(self.candidates[CONTINUOUS]) == 1:
            return GAUSSIAN, "continuous, with values of 0 or below"
        low, high = low / step, high / step
        if self.few is not self.frame:
            x = self.few.columns[name].numbers()
            x = x if step == 1.0 else x / step
            least, most, units = column_range(x)
            if least < most:
                return Numbers(x, self.few_rows, low, high, whole, least, most, whole or units, step)
        rows = self.rows.some(self.with_positive_weight) if len(every) < len(self.rows) else self.rows
        x = every if step == 1.0 else every / step  # a rare other value is not among the few
        return Numbers(x, rows, low, high, whole, low, high, whole, step)

    def _equal(self, name: str, kind: str, value: float) -> Verdict:
        """A column whose values are one as float64; integers that are not are categories."""
        if kind == INTEGER and abs(value) >= EXACT:
            distinct, present = _spread(self.frame.columns[name], self.rows)
            if distinct > 1:
                family, reason = _for_categories(distinct, present)
                return family, f"integers that are all {value:g} as float64; {reason}"
        return None, f"{CONSTANT} {value:g}"


def _step(x: Array, low: float, high: float) -> float:
    """The greatest common divisor of the differences of integers: 10 for 20, 30, 50; so that units do not matter."""
    if high - low >= EXACT:
        return 1.0
    step = 0
    for some in (x[:FIRST_ROWS], x):  # the first rows mostly tell
        there = some[~np.isnan(some)]
        step = int(np.gcd.reduce((there - low).astype(np.int64), initial=0))
        if step == 1:
            break
    return float(step)


def _spread(column: Column, rows: Rows) -> tuple[int, float]:
    """How many distinct categories a column has, and in how many rows."""
    _, codes = column.categories()
    weights = rows.part(0, len(rows))[1]
    there = (codes >= 0) & (weights > 0.0)
    return int(np.count_nonzero(np.bincount(codes[there]))), float(weights[there].sum())


def _running(x: Array, steps: float, rows: Rows) -> bool:
    """Whether every row has its own of so many integers in a row, this many steps from the first to the last."""
    if steps + 1 < FEW_CATEGORIES or steps >= len(x):
        return False
    there = x[~np.isnan(x)]
    n = len(there)
    return steps == n - 1 and bool(rows.counts().sum() == n > FEW_CATEGORIES) and len(np.unique(there)) == n


def _for_categories(distinct: int, present: float) -> Verdict:
    if distinct <= 1:
        return None, f"{CONSTANT} the same"
    if distinct > max(FEW_CATEGORIES, OWN_VALUE * present):
        return None, f"{IDENTIFIER} ({distinct} distinct values in {present:g} rows)"
    return AS_CATEGORIES, f"{distinct} categories"


Tried: TypeAlias = Mapping[str, Mapping[str, Family]]  # the candidates of every sort of numbers, by name


def _compared(columns: Mapping[str, Numbers], tried: Tried, criterion: str) -> dict[str, Verdict]:
    """The family that explains each column best, and why; columns of the same rows are looked at together."""
    together: dict[tuple[int, int], dict[str, Numbers]] = {}
    for j, (name, column) in enumerate(columns.items()):
        at_once = max(1, MOST_NUMBERS // max(1, len(column.x)))  # many rows of many columns would need much room
        together.setdefault((id(column.rows), j // at_once), {})[name] = column
    found = {}
    for some in together.values():
        for (name, column), tries in zip(some.items(), explained(list(some.values())), strict=True):
            may = {k: f for k, f in tried[column.sort].items() if in_steps(f, column.step) is not None}
            if any(k not in SHARED for k in may):
                tries = tries.and_more(column, {k: f for k, f in may.items() if k not in SHARED})
            choose_from = {k: f for k, f in may.items() if k in tries.by}
            found[name] = (_for_integers if column.whole else _for_numbers)(column, tries, choose_from, criterion)
    return found


def _for_integers(column: Numbers, explained: Explained, may: Mapping[str, Family], criterion: str) -> Verdict:
    tries = {k: explained.by[k] for k in may}
    if criterion == LOO:
        found = compared(column.x, column.rows, may, whole=True)
        tries = {k: found.total(k) for k in tries}
    best = max(tries, key=tries.__getitem__)
    gains = " and ".join([f"{k} by {tries[best] - v:.0f} nats" for k, v in tries.items() if k != best])
    why = f": {best} beats {gains} ({CRITERIA[criterion]})" if gains else ""
    categories = f"{explained.categories} integers as categories"
    what = {best: f"integers as {best}", "poisson": "counts", "gaussian": "integers", "categorical": categories}
    if column.step != 1.0 and best == "poisson":
        what[best] = f"counts in steps of {column.step:g}"
    return in_steps(may[best], column.step), what[best] + why


def _for_numbers(column: Numbers, explained: Explained, may: Mapping[str, Family], criterion: str) -> Verdict:
    rivals = [k for k in may if k != "gaussian"]
    if not rivals:
        return GAUSSIAN, "numbers"
    base, scores = explained.by["gaussian"], {k: explained.by[k] for k in rivals}
    best = max(scores, key=scores.__getitem__)
    surely = scores[best] > base + SURELY
    if criterion == LOO:
        found = compared(column.x, column.rows, may, whole=False)
        base, scores = found.total("gaussian"), {k: found.total(k) for k in rivals}
        best = max(scores, key=scores.__getitem__)
        surely = found.surely(best, "gaussian", SURELY)
    if surely:
        gain = scores[best] - base
        sort = "positive" if column.low > 0 else "continuous"
        return may[best], f"{sort}: {best} beats Gaussian by {gain:.0f} nats ({CRITERIA[criterion]})"
    return GAUSSIAN, f"continuous (no alternative better by {SURELY:g} nats, {CRITERIA[criterion]})"
