"""Texts as users hand them in: lists, arrays and columns of strings, read block by block as UTF-8 bytes."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Cells, RowIndex, RowsOfTexts, freeze, is_sparse
from ..data.column import ArrayColumn, ChosenRows, Column, SeriesColumn, WordColumn
from ..data.errors import InputError
from ..data.frame import is_frame, read_frame
from ..data.rows import is_missing
from ..data.vocabulary import SURROGATES

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
PADDING = bytes(64)  # so that so many bytes can be read at once, wherever
BLOCK = 1 << 18  # bytes of texts that are looked at together: they stay in a core's own cache
_spaces = re.compile(r"\s\s+")
EXPECTED = "expected a text or a missing value"


class Texts(RowsOfTexts):
    """Texts, one in each row, of which some may be missing."""

    @abstractmethod
    def __getitem__(self, rows: RowIndex) -> Texts:
        """Some of the rows."""

    @cached_property
    def ends(self) -> Places:
        """About how many bytes there are up to the end of each.  # → (n,)"""
        return np.cumsum(self.sizes())

    @property
    def size(self) -> int:
        """About how many bytes there are."""
        return int(self.ends[-1]) if len(self) else 0

    @abstractmethod
    def sizes(self) -> Places:
        """About how many bytes each has.  # → (n,)"""

    @abstractmethod
    def strings(self, start: int, stop: int) -> list[str]:
        """The texts of the rows [start, stop); an empty one where it is missing."""

    def cells(self) -> Cells:
        """The texts as they were, None where missing.  # → (n,)"""
        out = np.array([*self.strings(0, len(self)), None], dtype=object)[:-1]
        out[self.missing] = None
        return out

    @abstractmethod
    def read(self, start: int, stop: int, prepared: Callable[[str], str]) -> tuple[Bytes, Places]:
        """The same as bytes, padded, and where each begins; those with other than ASCII characters are prepared."""

    def parts(self, start: int, stop: int, size: int = BLOCK) -> list[tuple[int, int]]:
        """Row ranges that cover [start, stop), of about so many bytes each; they depend on the texts alone."""
        ends = self.ends[start:stop] - (self.ends[start - 1] if start else 0)
        if not len(ends) or ends[-1] <= size:
            return [(start, stop)] if stop > start else []
        cuts = np.searchsorted(ends, np.arange(size, ends[-1], size, dtype=np.int64)) + 1
        edges = np.unique(np.concatenate([[0], cuts, [stop - start]])) + start
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class StringTexts(Texts):
    """Texts that are Python strings."""

    values: list[str]
    missing: NDArray[np.bool_]

    def __getitem__(self, rows: RowIndex) -> StringTexts:
        if isinstance(rows, slice):
            return StringTexts(self.values[rows], self.missing[rows])
        which = np.arange(len(self))[rows]
        return StringTexts([self.values[i] for i in which.tolist()], self.missing[which])

    def sizes(self) -> Places:
        """Of characters, which are bytes for the most part."""
        return np.fromiter(map(len, self.values), np.int64, len(self.values))

    def strings(self, start: int, stop: int) -> list[str]:
        return self.values[start:stop]

    def read(self, start: int, stop: int, prepared: Callable[[str], str]) -> tuple[Bytes, Places]:
        """Without a look at each, where all are ASCII."""
        some = self.values[start:stop]
        whole = "".join([*some, PADDING.decode()])
        if whole.isascii():
            before = self.ends[start - 1] if start else 0
            starts = np.concatenate([[0], self.ends[start:stop] - before])
            return freeze(np.frombuffer(whole.encode(), np.uint8)), freeze(starts)
        return encoded([text if text.isascii() else prepared(text) for text in some])


@dataclass(frozen=True, eq=False)
class ArrowTexts(Texts):
    """Texts that Arrow holds, read where they are."""

    data: Bytes
    starts: Places  # of every text, and the end of the last
    missing: NDArray[np.bool_]

    def __getitem__(self, rows: RowIndex) -> Texts:
        if isinstance(rows, slice) and rows.step in (None, 1):
            a, b, _ = rows.indices(len(self))
            return ArrowTexts(self.data, self.starts[a : max(a, b) + 1], self.missing[a:b])
        which = np.arange(len(self))[rows]
        return StringTexts([self._string(i) for i in which.tolist()], self.missing[which])

    def sizes(self) -> Places:
        """Of bytes."""
        return np.diff(self.starts)

    def _string(self, i: int) -> str:
        return self.data[self.starts[i] : self.starts[i + 1]].tobytes().decode("utf-8", SURROGATES)

    def strings(self, start: int, stop: int) -> list[str]:
        return [self._string(i) for i in range(start, stop)]

    def read(self, start: int, stop: int, prepared: Callable[[str], str]) -> tuple[Bytes, Places]:
        """A view where all are ASCII."""
        a, b = int(self.starts[start]), int(self.starts[stop])
        some = self.data[a:b]
        if some.size and some.max() >= 0x80:
            return encoded([prepared(text) for text in self.strings(start, stop)])
        padded = self.data[a : b + len(PADDING)] if b + len(PADDING) <= len(self.data) else _padded(some.tobytes())
        return freeze(padded), freeze(self.starts[start : stop + 1] - a)


def encoded(texts: list[str]) -> tuple[Bytes, Places]:
    """Texts as padded bytes, and where each begins."""
    parts = [text.encode("utf-8", SURROGATES) for text in texts]
    return _padded(b"".join(parts)), _starts(map(len, parts), len(parts))


def _padded(text: bytes) -> Bytes:
    return freeze(np.frombuffer(text + PADDING, np.uint8))


def _starts(lengths: Iterable[int], n: int) -> Places:
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, n), out=starts[1:])
    return freeze(starts)


def squeezed(text: str) -> str:
    """White space of more than one character as a single space."""
    return _spaces.sub(" ", text)


def padded_words(text: str) -> str:
    """Words with a space before, between and after them."""
    words = text.split()
    return f" {' '.join(words)} " if words else ""


def read_texts(X: Any) -> Texts:
    """Texts from a list, an array, or a column of a data frame of any library."""
    if isinstance(X, Texts):
        return X
    if isinstance(X, str | bytes | Set) or not hasattr(X, "__len__") or is_sparse(X):
        found = f"the text {X[:40]!r}" if isinstance(X, str) else f"{type(X).__name__}"
        raise InputError(f"X must be a list or a column of texts, found {found}; give one text as [text]")
    if is_frame(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        frame = read_frame(X)
        if len(frame.columns) != 1:
            raise InputError(
                f"X has {len(frame.columns)} columns, and must be one column of texts; choose it, or use "
                "GenerativeClassifier, which takes tables with texts beside other columns"
            )
        return column_texts(next(iter(frame.columns.values())))
    if len(X) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: no texts")
    if isinstance(X, np.ndarray):
        if X.ndim != 1:
            raise ValueError(f"X must be a list or a column of texts, found an array of {X.ndim} dimensions")
        return column_texts(ArrayColumn(X))
    if type(X).__module__.partition(".")[0] in ("pandas", "polars", "pyarrow", "modin", "cudf"):
        return _series_texts(X)
    return _strings(list(X))


def no_texts(n: int) -> StringTexts:
    """So many missing texts."""
    return StringTexts([""] * n, np.ones(n, bool))


def column_texts(column: Column) -> Texts:
    """The texts of a column of a table."""
    if isinstance(column, ChosenRows):
        return column_texts(column.alone)
    if isinstance(column, WordColumn):
        return _arrow_texts(column.words)
    if isinstance(column, SeriesColumn):
        return _series_texts(column.native)
    cells: Cells = column.cells()
    return _strings(cells.tolist())


def _series_texts(series: Any) -> Texts:
    """Without a copy where Arrow holds them."""
    if hasattr(series, "to_arrow"):  # polars
        series = series.to_arrow()
    elif getattr(getattr(series, "dtype", None), "storage", None) == "pyarrow" or "pyarrow" in str(
        getattr(series, "dtype", "")
    ):
        series = series.__arrow_array__() if hasattr(series, "__arrow_array__") else series.array.__arrow_array__()
    if type(series).__module__.partition(".")[0] == "pyarrow":
        return _arrow_texts(series)
    return _strings(series.tolist() if hasattr(series, "tolist") else list(series))


def _arrow_texts(values: Any) -> Texts:
    import pyarrow as pa

    kind = str(values.type)
    if kind.startswith("dictionary") or kind == "string_view":
        return _arrow_texts(values.cast(pa.large_string()))
    if kind not in ("string", "large_string"):
        return _strings(values.to_pylist())
    if hasattr(values, "num_chunks"):
        values = (
            values.chunk(0)
            if values.num_chunks == 1
            else pa.concat_arrays([chunk.cast(pa.large_string()) for chunk in values.chunks])
            if values.num_chunks
            else pa.array([], pa.large_string())
        )
    _, ends, letters = values.buffers()
    width = np.int32 if str(values.type) == "string" else np.int64
    starts = np.frombuffer(ends, width)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    data = np.frombuffer(letters, np.uint8) if letters is not None and letters.size else np.zeros(0, np.uint8)
    missing = np.zeros(len(values), bool)
    if values.null_count:
        missing = ~values.is_valid().to_numpy(zero_copy_only=False)
        if (np.diff(starts)[missing] != 0).any():  # which Arrow allows
            return _strings(values.to_pylist())
    return ArrowTexts(freeze(data), freeze(starts), missing)


def _strings(values: list[object]) -> StringTexts:
    """Python values, each a string or missing."""
    if set(map(type, values)) <= {str}:
        return StringTexts(cast("list[str]", values), np.zeros(len(values), bool))
    missing = np.fromiter((is_missing(v) for v in values), bool, len(values))
    for i, (value, gone) in enumerate(zip(values, missing.tolist(), strict=True)):
        if not gone and not isinstance(value, str):
            raise InputError(f"row {i} holds {value!r:.60}, of type {type(value).__name__}; {EXPECTED}")
    return StringTexts(["" if gone else str(v) for v, gone in zip(values, missing.tolist(), strict=True)], missing)
