"""The statements of jointly normal columns: Σzzᵀ by pattern of missing values, or by pairs of columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..core.stats import CLASS, FEATURE, PATTERN, Stats
from ..data.arrays import Array
from ..data.labels import Index
from ..data.rows import Rows
from ..families.gaussian.few_rows.kept import are_few
from ..families.gaussian.joint import MultivariateGaussian
from ..families.gaussian.missing.patterns import ROOM
from ..families.gaussian.moments import SCATTER_FOURTH, SCATTER_POOLED
from ..tables.schema import BlockSpec, Schema
from .sql import Columns, Source, when
from .sql_statements import Asked, Run, found_by_key, split

PATTERNS_AT_ONCE = 1 << 20  # numbers of the sums by pattern that are added together
Places = dict[str, list[Any]]  # where in a row of results the sums of each name are
Found = tuple[int, str, Array]  # of a class and a pattern: the sums


class Joint:
    """The statements of one block of jointly normal columns, and the sums that their results are."""

    def __init__(self, schema: Schema, spec: BlockSpec, source: Source) -> None:
        self.source, self.spec = source, spec
        self.family = cast("MultivariateGaussian", spec.family)
        self.columns = Columns(schema)
        self.cells = self.columns.cells(spec)
        self.p = len(self.cells)

    @cached_property
    def _rows(self) -> str:
        return f"({self.source.cells(self.columns, self.cells)}) AS cells"

    def _pattern(self, x: str) -> str:
        """Which columns a row has, a letter for each."""
        return " || ".join(f"CASE WHEN {x}{i} IS NULL THEN '0' ELSE '1' END" for i in range(self.p))

    # --- statements

    def missing(self) -> str:
        """How many rows there are, and how many of them have a missing value."""
        some = " OR ".join(f"x{i} IS NULL" for i in range(self.p))
        return f"SELECT COUNT(*), COUNT({when(some, '1')}) FROM {self._rows}"

    def patterns(self) -> str:
        """How many different patterns of missing values there are."""
        return f"SELECT COUNT(DISTINCT pattern) FROM (SELECT {self._pattern('x')} AS pattern FROM {self._rows}) AS made"

    def by_pattern(self, keys: str = "y, pattern") -> tuple[list[str], Places]:
        """n, Σz, Σz_i z_j (and Σz_i² z_j, Σz_i² z_j²) of every class and pattern, or of every class."""
        asked, p, total = Asked(), range(self.p), self.source.total
        places: Places = {
            "n": [asked(self.source.rows())],
            "o": [asked(f"MIN(o{i})") for i in p],
            "x": [asked(total(f"z{i}")) for i in p],
            "xx": [(i, j, asked(total(f"z{i} * z{j}"))) for i in p for j in range(i, self.p)],
        }
        if self.family._layout() is SCATTER_FOURTH:
            places["xxy"] = [(i, j, asked(total(f"z{i} * z{i} * z{j}"))) for i in p for j in p]
            places["xxyy"] = [(i, j, asked(total(f"z{i} * z{i} * z{j} * z{j}"))) for i in p for j in p]
        rows = self.source.centred(self.columns, self.cells)
        if "pattern" in keys:
            rows = f"SELECT *, {self._pattern('z')} AS pattern FROM ({rows}) AS found"
        return split(asked, f"({rows}) AS centred", keys), places

    def by_pair(self) -> tuple[list[str], Places]:
        """n_ij, Σz_i and Σz_i z_j of every class over the rows that have both columns."""
        asked, p, source = Asked(), range(self.p), self.source
        places: Places = {
            "n": [asked(source.rows())],
            "o": [asked(f"MIN(o{i})") for i in p],
            "pair_n": [(i, j, asked(source.present(f"z{i} * z{j}"))) for i in p for j in range(i, self.p)],
            "pair_x": [(i, j, asked(source.total(when(f"z{j} IS NOT NULL", f"z{i}")))) for i in p for j in p],
            "pair_xx": [(i, j, asked(source.total(f"z{i} * z{j}"))) for i in p for j in range(i, self.p)],
        }
        return split(asked, f"({source.centred(self.columns, self.cells)}) AS centred"), places

    # --- results

    def read(self, run: Run, classes: Index) -> Stats:
        """The sums as ``collect`` has them: of complete rows and by pattern, by pairs, or few rows themselves."""
        [(n, missing)] = run(self.missing())
        if self.family.missing == "em" and not self.family.prior and are_few(int(n), self.p):
            return self._few(run, classes)
        if not missing:
            return self._of_patterns(run, classes, "y")
        K = 1 if self.family._layout() is SCATTER_POOLED else len(classes)
        if self.family.missing == "pairs" or int(run(self.patterns())[0][0]) * K * self.p**2 > ROOM:
            return self._of_pairs(run, classes)
        return self._of_patterns(run, classes, "y, pattern")

    def _few(self, run: Run, classes: Index) -> Stats:
        """Fewer rows than half the columns: the smallest sums are the rows."""
        w = "1" if self.source.weight is None else "w"
        found = run(f"SELECT y, {w}, {', '.join(f'x{i}' for i in range(self.p))} FROM {self._rows}")
        found = [row for row in found if row[0] in classes.position]
        x = np.array([row[2:] for row in found], dtype=np.float64)
        codes = np.array([classes.position[row[0]] for row in found], np.int32)
        weights = None if self.source.weight is None else np.array([row[1] for row in found], np.float64)
        return self.family.of(self.spec.names).collect(x, Rows(classes, codes, weights))

    def _of_patterns(self, run: Run, classes: Index, keys: str) -> Stats:
        texts, places = self.by_pattern(keys)
        whole = "1" * self.p
        rows = [
            (classes.position[y], pattern[0] if pattern else whole, row)
            for (y, *pattern), row in found_by_key(run, texts, 2 if "pattern" in keys else 1, classes).items()
        ]
        total = self._stats(classes, [r for r in rows if r[1] == whole], places, [])
        labels = sorted({pattern for _, pattern, _ in rows} - {whole})
        step = max(1, PATTERNS_AT_ONCE // (len(classes) * self.p**2))
        for start in range(0, len(labels), step):
            some = labels[start : start + step]
            total = total + self._stats(classes, [r for r in rows if r[1] in set(some)], places, some)
        return total

    def _stats(self, classes: Index, rows: list[Found], places: Places, labels: Sequence[str]) -> Stats:
        """The sums of complete rows (no labels), or of rows with these patterns, in the order of their bits."""
        K, p, which = len(classes), self.p, {q: i for i, q in enumerate(labels)}
        sums, origin, prefix = self.family._zeros(K, p, len(labels)), np.zeros((K, p)), "part_" if labels else ""
        for c, q, row in rows:
            at = (c, which[q]) if labels else (c,)
            sums[f"{prefix}n"][at] += row[places["n"][0]]
            sums[f"{prefix}x"][at] += row[places["x"]]
            origin[c] = np.where(np.array(list(q)) == "1", row[places["o"]], origin[c])
            for name in places.keys() & {"xx", "xxy", "xxyy"}:
                target = sums.get(f"{prefix}{name}")
                if target is not None:  # rows with missing values have no fourth moments
                    target[at if target.ndim == len(at) + 2 else at[1:]] += _square(row, places[name], p)
        bits = tuple(np.packbits(np.array(list(q)) == "1").tobytes() for q in labels)
        axes = {CLASS: classes, FEATURE: Index.range(p), PATTERN: Index(bits)}
        return Stats(self.family._layout(), axes, sums, origin)

    def _of_pairs(self, run: Run, classes: Index) -> Stats:
        texts, places = self.by_pair()
        coarser = self.family._layout().coarser
        assert coarser is not None  # sums by pattern turn into sums by pair
        layout, size = coarser.layout, {CLASS: len(classes), FEATURE: self.p}
        sums = {name: np.zeros([size[d] for d in dims]) for name, dims in layout.dims.items()}
        origin = np.zeros((len(classes), self.p))
        for (y,), row in found_by_key(run, texts, 1, classes).items():
            c = classes.position[y]
            sums["n"][c], origin[c] = row[places["n"][0]], row[places["o"]]
            for name in ("pair_n", "pair_x", "pair_xx"):
                target = sums[name] if sums[name].ndim == 2 else sums[name][c]
                target += _square(row, places[name], self.p)
        return Stats(layout, {CLASS: classes, FEATURE: Index.range(self.p)}, sums, origin)


def _square(row: Array, places: Sequence[tuple[int, int, int]], p: int) -> Array:
    """A matrix from its entries (i, j, place in the row); where only those with i ≤ j are there, a symmetric one."""
    i, j, at = (np.array(a, np.int64) for a in zip(*places, strict=True))
    out = np.zeros((p, p))
    if len(places) < p * p:
        out[j, i] = row[at]
    out[i, j] = row[at]
    return out
