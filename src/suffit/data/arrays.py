"""Arrays and matrices: dense, sparse and coded, by blocks of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse
    from typing_extensions import TypeIs

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Cells = NDArray[np.generic]  # values of any type
RowIndex: TypeAlias = "slice | NDArray[np.integer] | NDArray[np.bool_]"  # rows, by a range, by number or by flags
Csr: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]] | sparse.csr_matrix[np.float64]"  # or of other numbers
NumberRows: TypeAlias = "Array | Csr"  # (n, p), read as doubles: those of users may be float32, integers or booleans
Categories: TypeAlias = "Cells | Csr | Coded"  # (n, p), sparse where they are bins of numbers
Matrix: TypeAlias = "Cells | Csr | Coded | RowsOfBlocks | RowsOfTexts"  # what a model takes, as its family has it
Value = TypeVar("Value", bound=np.generic)


def freeze(a: NDArray[Value]) -> NDArray[Value]:
    """A read-only view, so that kernels meet one array type."""
    a = np.ascontiguousarray(a).view()
    a.setflags(write=False)
    return a


def sum_is_finite(a: Cells) -> bool:
    """Whether a sum shows that all numbers are finite; False: one is not, or they are very large."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(a.sum()))


def adds_up(a: Cells) -> bool:
    """Whether a sum shows that no number is NaN; False: one is, or infinities cancel."""
    with np.errstate(invalid="ignore", over="ignore"):
        return not np.isnan(a.sum())


def is_sparse(X: object) -> TypeIs[Csr]:
    """Whether X is a scipy.sparse matrix or array."""
    if isinstance(X, np.ndarray):
        return False
    from scipy import sparse

    return sparse.issparse(X)


def block(X: Categories, start: int, stop: int) -> Array:
    """Rows [start, stop) as a read-only, C-contiguous float32 or float64 array; a view where X is one already."""
    some = X[start:stop]
    part = some.toarray() if is_sparse(some) else cast("Array", some)
    if part.dtype not in (np.float32, np.float64):
        part = part.astype(np.float64)
    part = np.ascontiguousarray(part).view()
    part.flags.writeable = False
    return part


def csr(X: Csr) -> Csr:
    """A sparse matrix in CSR form without duplicate entries, index arrays as they are: in any order."""
    X = X.tocsr()
    if not X.has_canonical_format:
        from ..kernels.sparse_rows import has_duplicates

        arrays = (freeze(X.indptr.astype(np.int64, copy=False)), freeze(X.indices.astype(np.int32, copy=False)))
        if has_duplicates(*arrays, X.shape[1]):
            X = X.copy()
            X.sum_duplicates()
    return X


def portion(X: Matrix, start: int, stop: int) -> Matrix:
    """Rows [start, stop); those of a CSR matrix at a fraction of what its own slicing takes."""
    if not is_sparse(X):
        return X[start:stop]
    a, b = int(X.indptr[start]), int(X.indptr[stop])
    arrays = (X.data[a:b], X.indices[a:b], X.indptr[start : stop + 1] - X.indptr[start])
    part = type(X)(arrays, shape=(stop - start, X.shape[1]), copy=False)
    part.has_canonical_format = X.has_canonical_format
    return part


def entries(X: Csr, start: int, stop: int) -> tuple[NDArray[np.int64], Codes, Array]:
    """The rows [start, stop) of a CSR matrix as arrays of their own: row ends (from 0), columns, values."""
    a, b = int(X.indptr[start]), int(X.indptr[stop])
    ends = X.indptr[start : stop + 1].astype(np.int64) - a
    values: Array = X.data[a:b]
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    return freeze(ends), freeze(X.indices[a:b].astype(np.int32, copy=False)), freeze(values)


def sparse_without_missing(X: NumberRows) -> TypeGuard[Csr]:
    """Whether X is sparse and stores no NaN: rows with missing values are taken as dense rows, block by block."""
    return is_sparse(X) and (adds_up(X.data) or not np.isnan(X.data).any())


@dataclass(frozen=True)
class Coded:
    """Columns of categories as codes: of each column its own, and for every row a place among them, or −1."""

    codes: NDArray[np.int32]  # (n, p)
    categories: tuple[Sequence[Hashable], ...]

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return np.dtype(object)

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape[0], self.codes.shape[1]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: RowIndex) -> Coded:
        return Coded(self.codes[rows], self.categories)

    def decoded(self) -> Cells:
        """The categories themselves, None where missing."""
        out = np.empty(self.shape, dtype=object)
        for j, categories in enumerate(self.categories):
            table = np.empty(len(categories) + 1, dtype=object)
            table[: len(categories)] = list(categories)
            out[:, j] = table[self.codes[:, j]]
        return out


class RowsOfBlocks(ABC):
    """Rows of a table, cut by columns into a matrix for each block."""

    dtype: np.dtype[np.generic] = np.dtype(object)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of all blocks."""

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, rows: RowIndex) -> RowsOfBlocks:
        """Some of the rows."""

    @abstractmethod
    def part(self, i: int) -> Matrix:
        """The matrix of one block."""

    @property
    def table(self) -> object:
        """The table that the rows were cut from; itself where there is none."""
        return self


class RowsOfTexts(ABC):
    """Rows of one text each; some may be missing."""

    dtype: np.dtype[np.generic] = np.dtype(object)
    missing: NDArray[np.bool_]  # which are

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and one column."""
        return len(self), 1

    def __len__(self) -> int:
        return len(self.missing)

    @abstractmethod
    def __getitem__(self, rows: RowIndex) -> RowsOfTexts:
        """Some of the rows."""


def shown(X: Matrix) -> Any:
    """Rows as those who gave them know them: a table, or the matrix itself."""
    return X.table if isinstance(X, RowsOfBlocks) else X


@dataclass(frozen=True)
class BlockRows(RowsOfBlocks):
    """Rows of blocks that are all made."""

    parts: tuple[Matrix, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of all blocks."""
        return self.parts[0].shape[0], sum(part.shape[1] for part in self.parts)

    def part(self, i: int) -> Matrix:
        """The matrix of one block."""
        return self.parts[i]

    def __getitem__(self, rows: RowIndex) -> BlockRows:
        return BlockRows(tuple(part[rows] for part in self.parts))
