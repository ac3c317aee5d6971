"""The sums of a model as GROUP BY queries, one for each shape, and their results read back as sums.

Every statement reads the rows of the user's query; what comes back is one row for each class (for each category, or for
each pattern of missing values).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..core.family import Family
from ..core.model import CLASS_COUNTS, Model
from ..core.stats import CLASS, FEATURE, BlockSums, Stats
from ..data.arrays import Array
from ..data.errors import InputError
from ..data.frame import read_frame
from ..data.labels import Index
from ..data.rows import Rows, is_missing, plain
from ..families.counts.binned import Binned
from ..families.counts.categorical import Categorical, category_stats
from ..families.counts.multinomial import MISSING_COUNT, WORDS, Multinomial
from ..families.elementwise.shape import ELEMENTWISE, ORDER, Elementwise
from ..families.gaussian.diagonal import MOMENTS, Gaussian
from ..families.gaussian.joint import MultivariateGaussian
from ..families.gaussian.lognormal import LogNormal
from ..tables.schema import BlockSpec, Schema
from .sql import STATISTICS, Columns, Source, no_sql, outside, statistics, when
from .sql_joint import Joint
from .sql_statements import Asked, Run, found_by_key, split

MOST_SETS = 30  # columns of categories that one statement counts
KNOWN = (Gaussian, LogNormal, MultivariateGaussian, Categorical, Binned, Multinomial)  # beside independent columns


class Place(NamedTuple):
    """Where the sums of one column of a block are: the block, the number of its values, and what else is added up."""

    block: int
    n: int
    sums: list[int]


class Support(NamedTuple):
    """A column of which some numbers lie outside a family's support; lenient: these are missing values."""

    column: str
    family: Family
    lenient: bool


class SqlSums:
    """The statements that add up the sums of a planned model, and the model that their results are."""

    def __init__(self, schema: Schema, source: Source) -> None:
        self.schema, self.source = schema, source
        for family in (spec.family for spec in schema.specs):
            if type(family) not in KNOWN and family.key not in STATISTICS:
                raise no_sql(family)

    def _blocks(self, *kinds: Any) -> Iterator[tuple[int, BlockSpec]]:
        """The blocks with families of these kinds, and their places."""
        return ((b, spec) for b, spec in enumerate(self.schema.specs) if isinstance(spec.family, kinds))

    # --- statements

    def statements(self) -> dict[str, str]:
        """All statements by what they add up, as text; joint columns by pattern of missing values."""
        found = {"classes": [self.classes()], "elementwise": self.elementwise()[0], "moments": self.moments()[0]}
        found["counts"] = [text for text, _ in self.counts()]
        for b, spec in self._blocks(MultivariateGaussian):
            found[f"joint block {b + 1}"] = Joint(self.schema, spec, self.source).by_pattern()[0]
        numbered = (
            (f"{name} {i + 1}" if i else name, text) for name, texts in found.items() for i, text in enumerate(texts)
        )
        return dict(numbered)

    def classes(self) -> str:
        """Rows of each class, their weight, the least weight, and how many values lie outside each support."""
        columns, w = Columns(self.schema), "1" if self.source.weight is None else "w"
        asked = ["COUNT(*)", self.source.rows(), f"COUNT({w})", f"MIN({w})"]
        asked += [f"COUNT({when(self._outside(s, columns), '1')})" for s in self._supports()]
        return f"SELECT y, {', '.join(asked)} FROM ({self.source.raw(columns)}) AS finite GROUP BY y"

    def _supports(self) -> list[Support]:
        """The supports that columns have, each once."""
        lenient = [Support(name, p.family, True) for p in self.schema._bounded for name in p.columns]
        known = {(s.column, s.family.key) for s in lenient}
        asked = [
            Support(name, spec.family, False)
            for _, spec in self._blocks(Elementwise, Gaussian, Multinomial)
            for name in spec.columns
            if spec.reads == "numbers" and (name, spec.family.key) not in known
        ]
        return [s for s in [*lenient, *asked] if self._outside(s, Columns(self.schema))]

    def _outside(self, support: Support, columns: Columns) -> str:
        if support.column in columns.booleans:
            return ""
        return outside(support.family, columns.number(support.column), support.lenient) or ""

    def elementwise(self) -> tuple[list[str], list[Place]]:
        """n and Σ T(x) of every column of independent values; Σ x and n of words."""
        columns, asked, cells, places = Columns(self.schema), Asked(), list[str](), list[Place]()
        for b, spec in self._blocks(Elementwise, Multinomial):
            for j, cell in enumerate(columns.cells(spec)):
                x = f"x{len(cells)}"
                cells.append(cell)
                t = [x] if isinstance(spec.family, Multinomial) else statistics(spec.family, x, j)
                places.append(Place(b, asked(self.source.present(x)), [asked(self.source.total(s)) for s in t]))
        return split(asked, f"({self.source.cells(columns, cells)}) AS cells"), places

    def moments(self) -> tuple[list[str], list[Place]]:
        """n, Σz and Σz² of every column of normal values, z = x − the mean of its class, and that mean."""
        columns, asked, cells, places = Columns(self.schema), Asked(), list[str](), list[Place]()
        for b, spec in self._blocks(Gaussian):
            for cell in columns.cells(spec):
                z, o = f"z{len(cells)}", f"o{len(cells)}"
                cells.append(cell)
                sums = [self.source.total(z), self.source.total(f"{z} * {z}"), f"MIN({o})"]
                places.append(Place(b, asked(self.source.present(z)), [asked(s) for s in sums]))
        return split(asked, f"({self.source.centred(columns, cells)}) AS centred"), places

    def counts(self) -> Iterator[tuple[str, list[tuple[int, int]]]]:
        """Rows of every class at every category of every column: a row for each, the column told by GROUPING."""
        every = ((b, spec, j) for b, spec in self._blocks(Categorical, Binned) for j in range(len(spec.columns)))
        while some := list(islice(every, MOST_SETS)):
            columns = Columns(self.schema)
            cells = [columns.cells(spec)[j] for _, spec, j in some]
            x = [f"x{i}" for i in range(len(cells))]
            asked = ", ".join(["y", self.source.rows(), *x, *(f"GROUPING({name})" for name in x)])
            sets = ", ".join(f"(y, {name})" for name in x)
            rows = self.source.cells(columns, cells)
            yield f"SELECT {asked} FROM ({rows}) AS cells GROUP BY GROUPING SETS ({sets})", [(b, j) for b, _, j in some]

    # --- results

    def model(self, run: Run, family: Family, columns: Sequence[str], drop: bool) -> Model:
        """Send the statements and read the model from what they return; ``drop``: rows without a label do not count."""
        rows = self._class_rows(run, drop)
        classes = Index.of(rows)
        n = np.array([rows[c] for c in classes.labels])
        sums = (
            self._read_elementwise(run, classes, n) | self._read_moments(run, classes) | self._read_counts(run, classes)
        )
        for b, spec in self._blocks(MultivariateGaussian):
            sums[b] = Joint(self.schema, spec, self.source).read(run, classes)
        if not all(np.isfinite(a).all() for stats in sums.values() for a in stats.sums.values()):
            raise self._not_finite(run)
        parts = tuple(sums[b] for b in range(len(self.schema.specs)))
        stats = BlockSums(parts) if family.key == "product" else parts[0]
        return Model(family.of(columns), Stats(CLASS_COUNTS, {CLASS: classes}, {"n": n}), stats)._without_empty()

    def _class_rows(self, run: Run, drop: bool) -> dict[Hashable, float]:
        """The weight of the rows of each class; refuses labels, weights and values that a fit refuses."""
        found = run(self.classes())
        total, missing = (sum(int(row[1]) for row in found if every or is_missing(row[0])) for every in (True, False))
        if missing and not drop:
            raise InputError(
                f"Input y contains NaN: {missing} of {total} labels are missing (column {self.source.target!r}); "
                "leave these rows out in the query, or set missing_target='drop' where the estimator has it"
            )
        if any(row[3] < row[1] or row[4] < 0 for row in found):
            raise InputError(
                f"sample_weight: column {self.source.weight!r} has missing or negative values; all must be 0 or more"
            )
        for i, support in enumerate(self._supports()):
            n = sum(int(row[5 + i]) for row in found)
            if n:
                self._say_outside(run, support, n)
        rows = {row[0]: float(row[2]) for row in found if not is_missing(row[0]) and row[2] > 0}
        if not rows:
            raise InputError("the query has no rows with a label; a fit needs at least one")
        return rows

    def _say_outside(self, run: Run, support: Support, n: int) -> None:
        """Refuse values outside the support of a family that was asked for; warn where they are missing values."""
        columns = Columns(self.schema)
        bad, c = self._outside(support, columns), columns.number(support.column)
        [(value,)] = run(f"SELECT MIN({c}) FROM ({self.source.raw(columns)}) AS finite WHERE {bad}")
        if support.lenient:
            self.schema.possible(read_frame({support.column: [float(value)]}))  # which warns of it
            return
        needs = getattr(support.family, "support", "needs x ≥ 0 (Negative values in data)")
        way_out = getattr(support.family, "way_out", "use gaussian")
        rows = "1 row" if n == 1 else f"{n} rows"
        raise InputError(f"column {support.column!r}: {support.family.key} {needs}, found {value} ({rows}); {way_out}")

    def _read_elementwise(self, run: Run, classes: Index, rows: Array) -> dict[int, Stats]:
        out = {}
        for b, (n, t) in _of_columns(run, *self.elementwise(), classes).items():
            family = self.schema.specs[b].family
            axes = {CLASS: classes, FEATURE: Index.range(n.shape[1])}
            if isinstance(family, Multinomial):
                gone = rows[:, None] - n
                missing = np.flatnonzero(gone.any(axis=0))
                sums = {"count": t[..., 0], "n": rows, "gone": gone[:, missing]}
                out[b] = Stats(WORDS, {**axes, MISSING_COUNT: Index(tuple(missing.tolist()))}, sums)
            elif isinstance(family, Elementwise):
                out[b] = Stats(ELEMENTWISE, {**axes, ORDER: Index.range(family.order)}, {"n": n, "t": t})
        return out

    def _read_moments(self, run: Run, classes: Index) -> dict[int, Stats]:
        out = {}
        for b, (n, sums) in _of_columns(run, *self.moments(), classes).items():
            axes = {CLASS: classes, FEATURE: Index.range(n.shape[1])}
            x, xx, origin = np.moveaxis(sums, -1, 0)
            out[b] = Stats(MOMENTS, axes, {"n": n, "x": x, "xx": xx}, origin)
        return out

    def _read_counts(self, run: Run, classes: Index) -> dict[int, Stats]:
        tables: dict[tuple[int, int], dict[Hashable, Array]] = {}
        for text, places in self.counts():
            each = [tables.setdefault(place, {}) for place in places]
            for y, n, *cells in run(text):
                i = cells[len(each) :].index(0)  # the column that this row was grouped by
                if not is_missing(cells[i]) and y in classes.position:
                    count = each[i].setdefault(plain(cells[i]), np.zeros(len(classes)))
                    count[classes.position[y]] += float(n)
        out, none = {}, Rows(classes, np.zeros(0, np.int32))
        for b, spec in self._blocks(Categorical, Binned):
            columns = [tables[b, j] for j in range(len(spec.columns))]
            counts = [n for column in columns for n in column.values()]
            whole = np.stack(counts, axis=1) if counts else np.zeros((len(classes), 0))
            out[b] = category_stats(none, [list(column) for column in columns], whole)
        return out

    def _not_finite(self, run: Run) -> InputError:
        """The error for infinities, or squares that overflow, which names the column."""
        columns = Columns(self.schema)
        names = [name for spec in self.schema.specs if spec.reads == "numbers" for name in spec.columns]
        names += [n for p in self.schema.specs for n, c in zip(p.columns, p.codings, strict=False) if not c.categories]
        ends = ", ".join(f"MAX(ABS({columns.number(name)}))" for name in names)
        [largest] = run(f"SELECT {ends} FROM ({self.source.clean(columns)}) AS clean")
        value, name = max((float(v or 0), name) for v, name in zip(largest, names, strict=True))
        if np.isinf(value):
            return InputError(
                f"Input X contains infinity: column {name!r}; replace it by a finite number, or by NULL for missing"
            )
        return InputError(
            f"column {name!r}: values of up to {value:.3g} are so large that their powers overflow; rescale the column"
        )


def _of_columns(run: Run, texts: list[str], places: list[Place], classes: Index) -> dict[int, tuple[Array, Array]]:
    """For every block n and the other sums of its columns.  # → (K, p), (K, p, sums)"""
    if not places:
        return {}
    found = found_by_key(run, texts, 1, classes)
    table = np.stack([found[c,] for c in classes.labels])  # (K, sums)
    out = {}
    for b in dict.fromkeys(place.block for place in places):
        here = [place for place in places if place.block == b]
        out[b] = table[:, [place.n for place in here]], table[:, [place.sums for place in here]]
    return out
