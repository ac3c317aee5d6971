"""A sample of rows that lie in parts: the same rows, however the parts are cut and in whatever order they come."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib import import_module
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..data.arrays import Array, Cells, is_sparse
from ..data.column import BOOLEAN, EMPTY, INTEGER, NUMBER, ArrayColumn, Column, SeriesColumn, as_objects
from ..data.errors import InputError
from ..data.frame import is_frame, read_frame, table_form
from ..data.inputs import LabelsLike, TableLike, WeightsLike
from ..data.rows import Rows
from ..kernels.scrambled import GOLDEN, scrambled

Keys = NDArray[np.uint64]

SAMPLE_ROWS = 20_000  # different rows that a sample holds,
LEAST_OF_CLASS = 100  # and of every class, where there are so many,
MOST_OF_CLASSES = 20_000  # unless there are very many classes
MISSING = np.uint64(0x632BE59BD9B4E019)


@dataclass(frozen=True)
class RowSample:
    """The rows with the least keys, a key being a hash of a row's values and its class; ``a + b`` is that of both.

    A row is in the sample of all parts exactly where its key is among the least of all, so that neither the order of
    the rows nor where they are cut changes anything.  Equal rows have equal keys: they are one row of the sample, with
    their number as its weight, which is exact.  Where there are no more different rows than ``most``, the sample is
    the whole of the rows.

    Parameters
    ----------
    X : table or matrix
        The rows, of the kind that came, by their keys.
    y : ndarray
        Their classes.
    copies : ndarray
        The weight of all rows equal to each.
    keys : ndarray of uint64
    classes : dict
        The weight of all rows seen, by class.
    most : int
        How many different rows are kept.

    Examples
    --------
    >>> rows = {"x": [1.0, 2.0, 2.0, 5.0], "city": ["Bern", "Chur", "Chur", None]}
    >>> first = RowSample.of(rows, ["a", "b", "b", "b"])
    >>> both = first + RowSample.of({"x": [2.0], "city": ["Chur"]}, ["b"])
    >>> sorted(zip(both.X["x"].tolist(), both.y.tolist(), both.weight.tolist()))
    [(1.0, 'a', 1.0), (2.0, 'b', 3.0), (5.0, 'b', 1.0)]
    """

    X: Any
    y: Cells
    copies: Array
    keys: Keys
    classes: Mapping[Hashable, float]
    most: int = SAMPLE_ROWS

    @classmethod
    def of(cls, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None, most: int = SAMPLE_ROWS) -> RowSample:
        """The sample of one part; rows without a label or without weight are in none."""
        names, codes = _coded(y)
        weights = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        kept = np.flatnonzero((codes >= 0) & (weights > 0))
        if not len(kept):
            return cls(None, np.empty(0, object), np.empty(0), np.empty(0, np.uint64), {}, most)
        if len(kept) < len(codes):
            X, codes, weights = rows_of(X, kept), codes[kept], weights[kept]
        count = np.bincount(codes, weights, len(names)).tolist()
        classes = {name: n for name, n in zip(names, count, strict=True) if n}
        keys = scrambled(row_keys(X) + _of_labels(names)[codes] * GOLDEN)
        labels = np.empty(len(names), object)
        labels[:] = names
        return cls(X, labels[codes], weights, keys, classes, most)._least()

    def __add__(self, other: RowSample) -> RowSample:
        if self.X is None or other.X is None:
            return other if self.X is None else self
        classes = dict(self.classes)
        for name, n in other.classes.items():
            classes[name] = classes.get(name, 0.0) + n
        y = as_objects([*self.y.tolist(), *other.y.tolist()])
        copies, keys = np.concatenate([self.copies, other.copies]), np.concatenate([self.keys, other.keys])
        return RowSample(stacked([self.X, other.X]), y, copies, keys, classes, min(self.most, other.most))._least()

    def _least(self) -> RowSample:
        """Equal rows made one, and of those the ones with the least keys: of all, and of every class."""
        keys, first, same = np.unique(self.keys, return_index=True, return_inverse=True)
        copies = np.bincount(same, self.copies, len(keys)).astype(np.float64)
        place = {name: i for i, name in enumerate(self.classes)}
        codes = np.array([place[c] for c in self.y[first].tolist()], np.int64)
        order = np.argsort(codes, kind="stable")  # by class and key
        sizes = np.bincount(codes, minlength=len(place))
        rank = np.empty(len(keys), np.int64)
        rank[order] = np.arange(len(keys)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = (np.arange(len(keys)) < self.most) | (rank < min(LEAST_OF_CLASS, MOST_OF_CLASSES // len(place)))
        rows = first[kept]
        return replace(self, X=rows_of(self.X, rows), y=self.y[rows], copies=copies[kept], keys=keys[kept])

    @property
    def weight(self) -> Array | None:
        """What the rows weigh: as many copies as there are, every class by its share of all; None: one row each."""
        position = {name: i for i, name in enumerate(self.classes)}
        codes = np.array([position[c] for c in self.y.tolist()], np.int64)
        here, there = np.bincount(codes, self.copies, len(position)), np.array(list(self.classes.values()))
        w = self.copies
        if not np.array_equal(here, there):
            with np.errstate(divide="ignore", invalid="ignore"):
                factor = np.where(here > 0, there / here, 0.0) * (here.sum() / there.sum())
            w = w * factor[codes]
        return None if (w == 1).all() else w

    def rows(self) -> tuple[TableLike, Cells, Array | None]:
        """X, y and weights for a fit; where they are all rows that were seen, equal ones as often as they were."""
        if not self.whole or self.copies.sum() > self.most or (self.copies % 1).any():
            return self.X, self.y, self.weight
        each = np.repeat(np.arange(len(self.copies)), self.copies.astype(np.int64))
        return rows_of(self.X, each), self.y[each], None

    @property
    def whole(self) -> bool:
        """Whether all rows that were seen are in it."""
        return float(self.copies.sum()) == sum(self.classes.values())


def row_keys(X: TableLike) -> Keys:
    """A number for every row, as good as random, from its values and the names of the columns."""
    if is_sparse(X):
        X = sparse.csr_array(X)
        each = scrambled(_bits(X.data) + scrambled(X.indices.astype(np.uint64) * GOLDEN))
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(each, dtype=np.uint64)])
        return np.asarray(ends[X.indptr[1:]] - ends[X.indptr[:-1]])
    if isinstance(X, list):  # of sequences, whose lengths may differ
        return _of_labels([np.asarray(row).tolist() for row in X])
    frame = read_frame(X)
    keys = np.zeros(frame.n_rows, np.uint64)
    for name, column in frame.columns.items():
        try:
            keys += scrambled(_of_column(column) + _of_labels([name]))
        except TypeError as error:
            raise InputError(f"column {name!r}: {error}; drop the column, or use one value per cell") from None
    return keys


def _of_column(column: Column) -> Keys:
    kind = column.kind()
    if kind in (NUMBER, INTEGER, BOOLEAN):
        return _bits(column.numbers())
    if kind == EMPTY:
        return np.full(len(column.missing()), MISSING)
    values, codes = column.categories()
    return np.append(_of_labels(values), MISSING)[codes]


def _bits(x: Array) -> Keys:
    """The bits of numbers: equal ones (−0 and 0, 1 and 1.0) have the same, and missing values have theirs."""
    x = np.asarray(x, np.float64) + 0.0
    return np.where(np.isnan(x), MISSING, np.ascontiguousarray(x).view(np.uint64))


def _of_labels(values: Sequence[object]) -> Keys:
    digests = (blake2b(str(v).encode("utf-8", "surrogatepass"), digest_size=8).digest() for v in values)
    return np.array([int.from_bytes(d, "little") for d in digests], np.uint64)


def _coded(y: LabelsLike) -> tuple[list[Hashable], NDArray[np.int32]]:
    """Labels as codes; −1 is none."""
    if isinstance(y, np.ndarray) and y.dtype.kind in "iubU":  # none of them is missing
        rows = Rows.of(y)
        return list(rows.classes.labels), rows.codes
    if table_form(y) != "array":
        return SeriesColumn(y).categories()
    cells = y.tolist() if isinstance(y, np.ndarray) else list(cast(Iterable[Hashable], y))
    return ArrayColumn(as_objects(cells)).categories()


def n_rows(X: Any) -> int:
    """The rows of any table or matrix; it may have none."""
    if isinstance(X, Mapping):
        return len(next(iter(X.values()), ()))
    return int(X.shape[0]) if hasattr(X, "shape") else X.num_rows if hasattr(X, "num_rows") else len(X)


def rows_of(X: Any, which: NDArray[np.int64]) -> Any:
    """Some rows of a table or matrix, as one of the same kind."""
    if isinstance(X, Mapping):
        return {name: column.rows(which).cells() for name, column in read_frame(X).columns.items()}
    if isinstance(X, list):
        return [X[i] for i in which]
    if table_form(X) == "pandas":
        return X.iloc[which]
    if table_form(X) == "pyarrow":
        return X.take(which)
    if is_frame(X) or is_sparse(X):
        return X[which]
    return np.asarray(X)[which]


def stacked(tables: list[Any]) -> Any:
    """The rows of several tables of the same kind, one after the other."""
    if isinstance(tables[0], list):
        return [row for table in tables for row in table]
    form = table_form(tables[0])
    if form == "pandas":
        return import_module(form).concat(tables, ignore_index=True)
    if form == "polars":
        return import_module(form).concat(tables, how="diagonal_relaxed")
    if form == "pyarrow":
        arrow = import_module(form)
        whole = [arrow.Table.from_batches([t]) if isinstance(t, arrow.RecordBatch) else t for t in tables]
        return arrow.concat_tables(whole, promote_options="permissive")
    if form == "dict":
        names = list(dict.fromkeys(name for table in tables for name in table))
        return {name: as_objects([v for table in tables for v in _cells(table, name)]) for name in names}
    if is_sparse(tables[0]):
        widest = max(table.shape[1] for table in tables)
        return sparse.vstack([sparse.csr_array((t.data, t.indices, t.indptr), (t.shape[0], widest)) for t in tables])
    return np.concatenate(tables)


def _cells(table: Mapping[str, Any], name: str) -> list[Any]:
    return table[name].tolist() if name in table else [None] * n_rows(table)
