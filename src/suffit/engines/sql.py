"""Names, numbers, categories and the columns of a block as SQL text, quoted so that data are never read as SQL."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from ..core.family import Family
from ..data.column import BOOLEAN, NUMBER
from ..data.errors import InputError
from ..families.counts.binned import Binned
from ..families.counts.partition import Partition
from ..families.elementwise.bernoulli import Bernoulli
from ..families.elementwise.gamma import Gamma
from ..families.elementwise.vonmises import VonMises
from ..tables.schema import BlockSpec, Coding, Schema

DOUBLE = "DOUBLE PRECISION"
TAU = 2 * math.pi


def identifier(name: str) -> str:
    """A name between double quotes, whatever characters it has."""
    return '"' + _without_zero(name).replace('"', '""') + '"'


def literal(value: Hashable) -> str:
    """A category or a label as SQL writes it."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value) if value >= 0 else f"({value})"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Decimal) and value.is_finite():
        return f"({value:f})"
    if isinstance(value, datetime.datetime):
        return f"TIMESTAMP '{value.isoformat(' ')}'"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + _without_zero(value).replace("'", "''") + "'"
    raise InputError(
        f"no SQL for the category {value!r} of type {type(value).__name__}: expected text, a number, a truth value or "
        "a date; convert the column in the query"
    )


def number(value: float) -> str:
    """A double with all its digits, read as a double and not as a decimal."""
    if not math.isfinite(value):
        raise InputError(f"no SQL for the number {value!r}: it is not finite; check the parameters of the model")
    digits = repr(float(value))
    digits = digits if "e" in digits else f"{digits}e0"
    return digits if value >= 0 and not digits.startswith("-") else f"({digits})"


def _without_zero(text: str) -> str:
    if "\0" in text:
        raise InputError(f"{text!r} has a zero character, which SQL text cannot hold; replace it in the query")
    return text


def when(condition: str, value: str) -> str:
    """The value where a condition holds, else NULL."""
    return f"CASE WHEN {condition} THEN {value} END"


def without_nan(x: str) -> str:
    """A number, NULL for a NaN: true of engines in which NaN is the largest number, and of those in which it is none.

    Infinities stay, so that sums show them.
    """
    return when(f"{x} <= 0 OR -{x} <= 0", x)


def log1p(r: str) -> str:
    """log(1 + r) with all its digits for a small r: log(u)·r/(u − 1) with u = 1 + r, rounded."""
    return f"CASE WHEN 1 + {r} = 1 THEN {r} ELSE LN(1 + {r}) * ({r} / ((1 + {r}) - 1)) END"


# --- what families have of a value


def _gamma(family: Gamma, x: str, j: int) -> list[str]:
    """(x, log x); about an origin o, z = x − o, (z, log(x/o) − z/o)."""
    o = family.origin[j] if family.origin else 0.0
    if not o:
        return [x, f"LN({x})"]
    z = f"({x} - {number(o)})"
    r = f"({z} / {number(o)})"
    return [z, f"{log1p(r)} - {r}"]


def _vonmises(family: VonMises, x: str, j: int) -> list[str]:
    """(cos a, sin a) of the angle a = 2π(x mod period)/period."""
    period = number(family.period)
    a = f"(({x} - {period} * FLOOR({x} / {period})) * {number(TAU / family.period)})"
    return [f"COS({a})", f"SIN({a})"]


def _bernoulli(family: Bernoulli, x: str, j: int) -> list[str]:
    """1{x > threshold}."""
    t = family.threshold
    return [x] if t is None else [f"CASE WHEN {x} > {number(t)} THEN 1 WHEN {x} <= {number(t)} THEN 0 END"]


STATISTICS: dict[str, Callable[[Any, str, int], list[str]]] = {
    "bernoulli": _bernoulli,
    "poisson": lambda family, x, j: [x if family.unit == 1.0 else f"{x} / {number(family.unit)}"],
    "exponential": lambda family, x, j: [x],
    "geometric": lambda family, x, j: [x],
    "gamma": _gamma,
    "beta": lambda family, x, j: [f"LN({x})", log1p(f"(-{x})")],
    "vonmises": _vonmises,
}


def statistics(family: Family, x: str, j: int) -> list[str]:
    """T(x) of the column j of a family of independent columns."""
    if family.key not in STATISTICS:
        raise no_sql(family)
    return STATISTICS[family.key](family, x, j)


def no_sql(family: Family) -> InputError:
    """The error for a family whose sums cannot be written in SQL."""
    if isinstance(family, Partition):
        return InputError(
            "no SQL for partitions, whose trees are too long for it; use structure='densities', which has none, or "
            "read the table out in batches: suffit.engines.fit_arrow and predict_arrow"
        )
    return InputError(
        f"no SQL for the sums of the family {family.key!r}; choose another family for these columns, or read the table "
        "out in batches: suffit.engines.fit_arrow"
    )


def outside(family: Family, x: str, lenient: bool = False) -> str | None:
    """Which values lie outside the support; None where none does.  ``lenient``: the family was chosen by the values."""
    if isinstance(family, Bernoulli):
        if lenient:
            return f"{x} <> 0 AND {x} <> {number(family.present)}"
        return f"{x} < 0 OR {x} > 1" if family.threshold is None else None
    if family.key in ("gamma", "lognormal"):
        return f"{x} <= 0"
    if family.key == "beta":
        return f"{x} <= 0 OR {x} >= 1"
    return f"{x} < 0" if family.key in ("poisson", "exponential", "geometric", "multinomial") else None


def bin_of(x: str, edges: Sequence[float]) -> str:
    """The number of the bin that a value falls in, that above where it equals an edge."""
    below = " ".join(f"WHEN {x} < {number(edge)} THEN {i}" for i, edge in enumerate(edges))
    return f"CASE WHEN {x} IS NULL THEN NULL {below} ELSE {len(edges)} END"


# --- the columns of a table


class Columns:
    """The columns of a query that blocks read: each once as numbers, and once as categories, where it is asked for.

    ``c0, c1, …`` are what they are called from here on.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.booleans = {choice.column for choice in schema.choices if choice.kind == BOOLEAN}
        self.fractions = {choice.column for choice in schema.choices if choice.kind == NUMBER}
        self.supports = {name: p.family for p in schema._bounded for name in p.columns}
        self.asked: dict[tuple[str, bool], str] = {}  # (name, as a number) → c0, c1, …

    def number(self, name: str) -> str:
        """A column as numbers, NULL where missing."""
        return self.asked.setdefault((name, True), f"c{len(self.asked)}")

    def category(self, name: str) -> str:
        """A column as it is; of numbers that may be NaN, these are NULL."""
        if name in self.fractions:
            return self.number(name)
        return self.asked.setdefault((name, False), f"c{len(self.asked)}")

    def raw(self, name: str, as_number: bool) -> str:
        """The column of the query itself."""
        if as_number and name in self.booleans:
            return f"CASE WHEN {identifier(name)} THEN 1e0 WHEN NOT {identifier(name)} THEN 0e0 END"
        return f"CAST({identifier(name)} AS {DOUBLE})" if as_number else identifier(name)

    def possible(self, name: str, c: str) -> str:
        """A number, NULL where it is one that the column cannot have."""
        family = self.supports.get(name)
        bad = None if family is None or name in self.booleans else outside(family, c, lenient=True)
        return c if bad is None else when(f"NOT ({bad})", c)

    # --- cells of blocks

    def cells(self, spec: BlockSpec) -> list[str]:
        """The columns of a block's matrix, NULL where missing."""
        if spec.reads == "codings":
            each = zip(spec.columns, spec.codings, strict=True)
            return [cell for name, coding in each for cell in self._coded(name, coding)]
        if spec.reads == "categories":
            return [self.category(name) for name in spec.columns]
        if spec.reads == "missing":
            read = (self.number(name) if name in self.supports else self.category(name) for name in spec.columns)
            return [f"CASE WHEN {c} IS NULL THEN 1 ELSE 0 END" for c in read]
        numbers = [self.number(name) for name in spec.columns]
        if isinstance(spec.family, Binned):
            return [bin_of(x, e) for x, e in zip(numbers, spec.family.of(spec.columns).column_edges(), strict=True)]
        return [when(f"{x} > 0", f"LN({x})") for x in numbers] if spec.family.key == "lognormal" else numbers

    def _coded(self, name: str, coding: Coding) -> list[str]:
        """0 and 1 for each category or bin, divided by their scales; or the number itself."""
        ones = [number(1 / s) for s in coding.scales] or ["1e0"] * coding.width
        if coding.categories:
            c = self.category(name)
            return [self._mark(c, f"{c} = {literal(v)}", one) for v, one in zip(coding.categories, ones, strict=True)]
        x = self.number(name)
        if not coding.edges:
            return [f"{x} / {number(coding.scales[0])}" if coding.scales else x]
        return [self._mark(x, here, one) for here, one in zip(_intervals(x, coding.edges), ones, strict=True)]

    @staticmethod
    def _mark(c: str, condition: str, one: str) -> str:
        return f"CASE WHEN {c} IS NULL THEN NULL WHEN {condition} THEN {one} ELSE 0e0 END"


def _intervals(x: str, edges: Sequence[float]) -> list[str]:
    inner = [f"{x} >= {number(a)} AND {x} < {number(b)}" for a, b in pairwise(edges)]
    return [f"{x} < {number(edges[0])}", *inner, f"{x} >= {number(edges[-1])}"]


@dataclass(frozen=True)
class Source:
    """The rows of a query with their labels ``y`` and weights ``w``, in layers of which each reads the one before."""

    query: str
    target: str
    weight: str | None = None

    def raw(self, columns: Columns) -> str:
        """Labels, weights and columns; a NaN is NULL."""
        w = "" if self.weight is None else f", CAST({identifier(self.weight)} AS {DOUBLE}) AS w"
        read = "".join(f", {columns.raw(*key)} AS {c}" for key, c in columns.asked.items())
        inner = f"SELECT {identifier(self.target)} AS y{w}{read} FROM ({self.query}) AS source"
        numbers = {c for (_, as_number), c in columns.asked.items() if as_number}
        cleaned = "".join(f", {without_nan(c) if c in numbers else c} AS {c}" for c in columns.asked.values())
        return f"SELECT y{self._w()}{cleaned} FROM ({inner}) AS raw"

    def clean(self, columns: Columns) -> str:
        """The same with values that a column cannot have as NULL."""
        if not columns.supports:
            return self.raw(columns)
        each = "".join(
            f", {columns.possible(name, c) if as_number else c} AS {c}"
            for (name, as_number), c in columns.asked.items()
        )
        return f"SELECT y{self._w()}{each} FROM ({self.raw(columns)}) AS finite"

    def cells(self, columns: Columns, cells: Sequence[str]) -> str:
        """Labels, weights and the cells x0, x1, … of blocks."""
        each = "".join(f", {cell} AS x{i}" for i, cell in enumerate(cells))
        return f"SELECT y{self._w()}{each} FROM ({self.clean(columns)}) AS clean WHERE y IS NOT NULL"

    def centred(self, columns: Columns, cells: Sequence[str]) -> str:
        """The cells less the means of their classes, z0, z1, …, and these means, o0, o1, …, which are found first."""
        rows = self.cells(columns, cells)
        means = ", ".join(f"AVG(x{i}) AS o{i}" for i in range(len(cells)))
        origin = f"SELECT y AS class, {means} FROM ({rows}) AS cells GROUP BY y"
        each = "".join(f", x{i} - o{i} AS z{i}, o{i}" for i in range(len(cells)))
        return f"SELECT y{self._w()}{each} FROM ({rows}) AS cells JOIN ({origin}) AS origin ON y = class"

    def _w(self) -> str:
        return "" if self.weight is None else ", w"

    # --- sums, weighted where rows have weights

    def total(self, x: str) -> str:
        """Σ w x."""
        return f"SUM({x})" if self.weight is None else f"SUM(w * ({x}))"

    def rows(self) -> str:
        """Σ w."""
        return "COUNT(*)" if self.weight is None else "SUM(w)"

    def present(self, x: str) -> str:
        """Σ w over the rows that have x."""
        return f"COUNT({x})" if self.weight is None else f"SUM({when(f'{x} IS NOT NULL', 'w')})"
