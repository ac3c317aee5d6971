"""The blocks of a table: which columns have which family, and how their values become matrices."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..core.family import Family
from ..data.arrays import Array, Coded, Matrix, RowIndex, RowsOfBlocks, freeze
from ..data.column import BOOLEAN, CATEGORICAL, EMPTY, INTEGER, NUMBER, ArrayColumn
from ..data.errors import InputError, check_finite
from ..data.frame import Frame
from ..data.printed import MadeTable, html_table, to_table
from ..data.warn import DroppedColumnWarning, MissingValuesWarning, TextColumnWarning, warn_once
from ..families.columns import IndependentColumns
from ..families.counts.binned import bin_names
from ..families.elementwise.bernoulli import Bernoulli
from ..families.product import Block, Product
from ..text.documents import Texts, column_texts, no_texts

DROPPED = "dropped"
AS_ASKED, CONSTANT = "set by the user", "every value is"  # how reasons begin that are no surprise
KEEP_TEXT = "; if it holds categories, set columns={name: 'categorical'}"
UNSEEN = -2  # in place of a place among categories
NO_PLACE = 255  # likewise, of at most 64


@dataclass(frozen=True)
class Choice:
    """What became of one column: its kind, the family it got (or ``dropped``), and why.

    ``hint``: what to do with text that looks like numbers or dates.
    """

    column: str
    kind: str
    family: str
    reason: str
    hint: str = ""


@dataclass(frozen=True)
class Coding:
    """How a column becomes numbers in a joint block: as it is, or 0 and 1 for each category, or for each bin.

    The numbers are divided by ``scales``, so that shrinking a covariance towards a multiple of I is fair to all.
    """

    categories: tuple[Hashable, ...] = ()
    edges: tuple[float, ...] = ()
    scales: tuple[float, ...] = ()

    def names(self, column: str) -> tuple[str, ...]:
        """What the numbers are called."""
        if self.categories:
            return tuple(f"{column}={category}" for category in self.categories)
        return tuple(bin_names(column, self.edges)) if self.edges else (column,)

    @property
    def width(self) -> int:
        """How many numbers there are."""
        return len(self.categories) or len(self.edges) + bool(self.edges) or 1

    def fill(self, frame: Frame, column: str, out: Array) -> None:
        """The numbers of every row; NaN where missing, 0 for every category at one never seen.  # out: (n, width), 0"""
        if not (self.categories or self.edges):
            out[:, 0] = self._scaled(_numbers(frame, column))
            return
        values = freeze(1 / np.asarray(self.scales) if self.scales else np.ones(self.width))
        if self.edges:
            at, missing = self._bins(frame, column)
            at[missing] = 0
            out[np.arange(len(at)), at] = values[at]
            out[missing] = np.nan
        else:
            categories, codes = _categories(frame, column)
            place = {v: i for i, v in enumerate(self.categories)}
            places = np.array([place.get(v, UNSEEN) for v in categories], np.int64)
            at = np.append(places, -1)[codes]  # the last one for a code of −1
            out[at == -1] = np.nan
            seen = np.flatnonzero(at >= 0)
            out[seen, at[seen]] = values[at[seen]]

    def places(self, frame: Frame, column: str) -> NDArray[np.uint8]:
        """The place of every value among the categories or bins; 255 where it is missing, or none of them."""
        if self.categories:
            categories, codes = _categories(frame, column)
            place = {v: i for i, v in enumerate(self.categories)}
            return np.array([*(place.get(v, NO_PLACE) for v in categories), NO_PLACE], np.uint8)[codes]
        at, missing = self._bins(frame, column)
        out = at.astype(np.uint8)
        out[missing] = NO_PLACE
        return out

    def _bins(self, frame: Frame, column: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The bin of every value, and which are missing; infinity is in no bin."""
        x = _numbers(frame, column)
        if np.isinf(x).any():
            check_finite(x[:, None], [column])
        return np.searchsorted(self.edges, x, side="right"), np.isnan(x)

    def _scaled(self, x: Array) -> Array:
        if not self.scales:
            return x
        with np.errstate(over="ignore"):
            scaled = x / self.scales[0]
        far = np.isinf(scaled) & np.isfinite(x)  # as far out as numbers go
        return np.where(far, np.copysign(np.finfo(np.float64).max, x), scaled) if far.any() else scaled


@dataclass(frozen=True)
class BlockSpec:
    """One block of a table: its columns, the family they share, and how they are read."""

    family: Family
    columns: tuple[str, ...]
    reads: str  # "numbers", "categories", "texts", "missing" (what is missing), "codings" (as these say) or "places"
    codings: tuple[Coding, ...] = ()
    power: float = 1.0
    lenient: bool = False  # whether values outside the family's support are missing: it was not the user's choice

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the columns of the block's matrix are called."""
        if self.reads == "codings":
            return tuple(n for name, c in zip(self.columns, self.codings, strict=True) for n in c.names(name))
        return tuple(f"{c} is missing" for c in self.columns) if self.reads == "missing" else self.columns

    @property
    def owners(self) -> tuple[str, ...]:
        """The column of the table that each of ``names`` comes from."""
        if self.reads == "codings":
            return tuple(name for name, c in zip(self.columns, self.codings, strict=True) for _ in c.names(name))
        return self.columns

    @property
    def scales(self) -> tuple[float, ...]:
        """What the numbers of the block's matrix were divided by; none: they are as they were."""
        return tuple(s for c in self.codings for s in c.scales)

    def only(self, columns: Iterable[str]) -> BlockSpec:
        """The same block with some of its columns."""
        kept = set(columns)
        codings = tuple(
            k for c, k in zip(self.columns, self.codings, strict=False) if c in kept
        )  # none, or one for each
        return replace(self, columns=tuple(c for c in self.columns if c in kept), codings=codings)

    def matrix(self, frame: Frame) -> Matrix:
        """The block's columns of these rows."""
        if self.reads == "categories":
            coded = [_categories(frame, name) for name in self.columns]
            codes = np.empty((frame.n_rows, len(coded)), np.int32)
            for j, (_, column) in enumerate(coded):
                codes[:, j] = column
            return Coded(codes, tuple(tuple(categories) for categories, _ in coded))
        if self.reads == "texts":
            return _texts(frame, self.columns[0])
        if self.reads == "codings":
            ends = np.cumsum([0, *(coding.width for coding in self.codings)]).tolist()
            marks = all((coding.categories or coding.edges) and not coding.scales for coding in self.codings)
            made = np.zeros((frame.n_rows, ends[-1]), np.float32 if marks else np.float64)  # 0 and 1 need no more
            for name, coding, (a, b) in zip(self.columns, self.codings, pairwise(ends), strict=True):
                coding.fill(frame, name, made[:, a:b])
            return made
        if self.reads == "places":
            places = np.empty((frame.n_rows, len(self.columns)), np.uint8)
            for j, (name, coding) in enumerate(zip(self.columns, self.codings, strict=True)):
                places[:, j] = coding.places(frame, name)
            return places
        out = np.empty((frame.n_rows, len(self.columns)))
        for j, name in enumerate(self.columns):
            out[:, j] = _missing(frame, name) if self.reads == "missing" else _numbers(frame, name)
        return out


def _impossible(family: Family, x: Array) -> NDArray[np.bool_]:
    """Which values a column cannot have, whose family its own values chose."""
    if isinstance(family, Bernoulli):
        return np.isfinite(x) & (x != 0) & (x != family.present)
    return cast("IndependentColumns", family).outside(x)


def _with_prior_rows(family: Family, share: float) -> Family:
    rows = getattr(family, "prior_rows", 0.0)
    return replace(family, prior_rows=rows * share) if rows else family  # type: ignore[type-var]


def _numbers(frame: Frame, name: str) -> Array:
    column = frame.columns.get(name)
    if column is None:
        return np.full(frame.n_rows, np.nan)
    kind = column.kind()
    if kind not in (NUMBER, INTEGER, BOOLEAN, EMPTY):
        raise InputError(
            f"column {name!r}: expected numbers, as at fit, found {kind} values; "
            "convert the column, or set it to missing"
        )
    return np.full(frame.n_rows, np.nan) if kind == EMPTY else column.numbers()


def _categories(frame: Frame, name: str) -> tuple[list[Hashable], NDArray[np.int32]]:
    column = frame.columns.get(name)
    if column is None:
        return [], np.full(frame.n_rows, -1, np.int32)
    try:
        return column.categories()
    except TypeError:
        raise InputError(
            f"column {name!r}: a category must be a single value, found {column.kind()} values; use one value per cell"
        ) from None


def _texts(frame: Frame, name: str) -> Texts:
    column = frame.columns.get(name)
    if column is None:
        return no_texts(frame.n_rows)
    kind = column.kind()
    if kind not in (CATEGORICAL, EMPTY):
        raise InputError(
            f"column {name!r}: expected texts, as at fit, found {kind} values; convert the column, or set it to missing"
        )
    try:
        return no_texts(frame.n_rows) if kind == EMPTY else column_texts(column)
    except InputError as error:
        raise InputError(f"column {name!r}: {error}") from None


def _missing(frame: Frame, name: str) -> Array:
    column = frame.columns.get(name)
    return np.full(frame.n_rows, np.nan) if column is None else column.missing().astype(np.float64)


class TableRows(RowsOfBlocks):
    """Rows of a table, cut into the matrices of a schema's blocks when these are asked for."""

    def __init__(self, schema: Schema, frame: Frame) -> None:
        self.schema, self.frame = schema, frame
        self._made: dict[int, Matrix] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self.frame.n_rows, sum(len(spec.columns) for spec in self.schema.specs)

    def __len__(self) -> int:
        return self.frame.n_rows

    def __getitem__(self, rows: RowIndex) -> TableRows:
        return TableRows(self.schema, self.frame.rows(rows))

    @property
    def table(self) -> Frame:
        """The columns as they were read."""
        return self.frame

    def part(self, i: int) -> Matrix:
        if i not in self._made:
            self._made[i] = self.schema.specs[i].matrix(self.frame)
        return self._made[i]


HEADS = ("column", "kind", "family", "reason")  # of what became of a column


@dataclass(frozen=True)
class Schema:
    """The blocks of a table, and what became of each column.

    Printed (or shown in a notebook) it is a table: column, kind, family, reason.
    """

    specs: tuple[BlockSpec, ...]
    choices: tuple[Choice, ...]
    n_plain: int | None = None  # how many blocks, the first ones, are the density; None: all
    outlier_rate: float = 0.0  # the probability that the columns of a row carry no information about its class
    supports: tuple[BlockSpec, ...] = ()  # blocks that say which values a column can have, where they are no blocks

    def plain(self) -> Schema:
        """The structure that draws, densities and imputation rest on, alone."""
        return replace(self, specs=self.specs[: self.n_plain], outlier_rate=0.0)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the model uses, in the order of its blocks."""
        return tuple(name for spec in self.specs for name in spec.names)

    @property
    def used(self) -> tuple[str, ...]:
        """The same, in the order of the table."""
        return tuple(choice.column for choice in self.choices if choice.family != DROPPED)

    @property
    def table_columns(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """The columns ``used``, and the place among them of the one that each of ``columns`` comes from."""
        at = {name: j for j, name in enumerate(self.used)}
        return self.used, np.array([at[name] for spec in self.specs for name in spec.owners], np.int64)

    def with_prior_rows(self, share: float) -> Schema:
        """The same where rows weigh so much on average: a prior worth one row weighs as much."""
        if share == 1.0:
            return self
        return replace(self, specs=tuple(replace(p, family=_with_prior_rows(p.family, share)) for p in self.specs))

    def __getstate__(self) -> dict[str, object]:
        return {k: v for k, v in self.__dict__.items() if k != "_bounded"}

    def keys(self) -> dict[str, str]:
        """The family of every column, by its name; of columns that are in several blocks, in the first."""
        blocks = [spec for spec in reversed(self.specs) if spec.reads != "missing"]
        return {name: spec.family.key for spec in blocks for name in spec.columns}

    def family(self) -> Product:
        """The product of the blocks' families."""
        plain = len(self.specs) if self.n_plain is None else self.n_plain
        blocks = [Block(p.family.of(p.names), p.names, p.power, p.scales, i >= plain) for i, p in enumerate(self.specs)]
        return Product(tuple(blocks), self.outlier_rate).of(self.columns)

    def rows(self, frame: Frame) -> TableRows:
        """A table's rows, as the model reads them."""
        return TableRows(self, self.possible(frame))

    def possible(self, frame: Frame) -> Frame:
        """The table with values that a column cannot have as missing, for every block; which is said."""
        columns = {}
        said = []
        for spec in self._bounded:
            for name in spec.columns:
                column = frame.columns.get(name)
                if column is None or column.kind() in (BOOLEAN, EMPTY):
                    continue
                x = _numbers(frame, name)
                bad = _impossible(spec.family, x)
                if bad.any():
                    columns[name] = ArrayColumn(np.where(bad, np.nan, x))
                    said.append(f"column {name!r}: {x[bad][0]:g} is impossible under {shown(spec.family)}")
        if said:
            warn_once(
                MissingValuesWarning,
                "",
                said,
                ", which was chosen from the values at fit; treated as missing; columns={name: 'gaussian'} accepts all",
            )
        return replace(frame, columns={**frame.columns, **columns}) if columns else frame

    @cached_property
    def _bounded(self) -> tuple[BlockSpec, ...]:
        """The blocks whose families, chosen by what the values were, exclude some values."""
        return tuple(
            p for p in self.supports or self.specs if p.lenient and cast("IndependentColumns", p.family).bounded
        )

    def dropped(self) -> tuple[Choice, ...]:
        """The columns that the model does not use."""
        return tuple(choice for choice in self.choices if choice.family == DROPPED)

    def say_dropped(self) -> None:
        """Name the columns that were dropped, and text that may have been meant as numbers.

        In words that stay the same from one part of a table to the next.
        """
        odd = [
            c for c in self.choices if c.family == DROPPED and not (c.hint or c.reason.startswith((AS_ASKED, CONSTANT)))
        ]
        if odd and self.used:  # else it has been said that none is left
            things = [f"{c.column!r}: {c.reason.partition(' (')[0]}" for c in odd]
            warn_once(DroppedColumnWarning, "columns dropped from the model: ", things)
        hints = [c.hint for c in self.choices if c.hint]
        if hints:
            warn_once(TextColumnWarning, "text taken as categories, or dropped as identifiers: ", hints, KEEP_TEXT)

    def __repr__(self) -> str:
        rows = [HEADS, *((c.column, c.kind, c.family, c.reason) for c in self.choices)]
        width = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join(f"{a:<{width[0]}}  {b:<{width[1]}}  {c:<{width[2]}}  {d}" for a, b, c, d in rows)

    def to_frame(self) -> MadeTable:
        """Return the same table as a data frame.

        Returns
        -------
        data frame
            Of the library the rows came from; for plain arrays pandas where it is installed, else a dict of arrays.
        """
        return to_table(self, {head: [getattr(c, head) for c in self.choices] for head in HEADS})

    def _repr_html_(self) -> str:
        return html_table(HEADS, [[getattr(c, head) for head in HEADS] for c in self.choices])


def shown(family: Family) -> str:
    """A family as its constructor is written, without its defaults."""
    defaults = type(family)
    parts = []
    for field in fields(family):  # type: ignore[arg-type]
        value = getattr(family, field.name)
        same = value is field.default or (not isinstance(value, tuple | list | np.ndarray) and value == field.default)
        if same or field.name == "every_integer":
            continue
        parts.append(f"{field.name}={value!r}")
    return f"{defaults.__name__}({', '.join(parts)})"
