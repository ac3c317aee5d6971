"""What all families of independent columns have: a support, values outside of which are refused by name."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..core.family import Family
from ..core.stats import Stats
from ..data.arrays import Array, Csr, NumberRows, is_sparse, sum_is_finite
from ..data.errors import check_finite, refuse
from ..kernels.runtime.threads import entry_blocks


class IndependentColumns(Family[NumberRows, Stats]):
    """Columns independent of each other given the class, each with values in the same support."""

    support: ClassVar[str] = "needs a finite number"
    way_out: ClassVar[str] = "use gaussian, or drop the row"
    bounded: ClassVar[bool] = False  # whether some finite value lies outside the support
    has_base: ClassVar[bool] = False  # whether log h(x) is anything but 0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.bounded = cls.outside is not IndependentColumns.outside
        cls.has_base = cls.log_base is not IndependentColumns.log_base

    def outside(self, x: Array) -> NDArray[np.bool_]:
        """Which values lie outside the support (False for NaN).  # (n, p) → (n, p)"""
        return np.zeros(x.shape, dtype=bool)

    @property
    def interval(self) -> tuple[float, float]:
        """The values that the density is over, where ``outside`` lets in more: a circle, values made 0 or 1."""
        return -np.inf, np.inf

    def log_base(self, x: Array) -> Array:
        """log h(x), the part all classes share.  # (n, p) → (n, p)"""
        return np.zeros(x.shape)

    def check(self, x: Array, first_row: int) -> None:
        """Refuse what lies outside the support, naming the first such cell."""
        check_finite(x, self.columns, first_row)
        bad = self.outside(x)
        if bad.any():
            i, j = (int(v) for v in np.argwhere(bad)[0])
            raise refuse(self.columns, j, f"{self.key} {self.support}", x[i, j], first_row + i, self.way_out)

    def surely_valid(self, X: NumberRows) -> bool:
        """Finite, and no value outside the support."""
        x: Array = X.data if is_sparse(X) else X
        return sum_is_finite(x) and not self.outside(x).any()

    def check_sparse(self, X: Csr) -> None:
        """The same for CSR: the stored entries, and the zeros that are not stored."""
        if self.surely_valid(X):
            return
        for a, b in entry_blocks(X.indptr):
            data = np.asarray(X.data[X.indptr[a] : X.indptr[b]], dtype=np.float64)
            bad = np.isinf(data) | self.outside(data[None])[0]
            if bad.any():
                e = int(np.argmax(bad)) + int(X.indptr[a])
                i, j = int(np.searchsorted(X.indptr, e, side="right")) - 1, int(X.indices[e])
                check_finite(np.array([[X.data[e]]], dtype=np.float64), [self.columns[j]], i)
                raise refuse(self.columns, j, f"{self.key} {self.support}", X.data[e], i, self.way_out)

    @property
    def has_zero(self) -> bool:
        """Whether 0 lies in the support: sparse rows are then added up without being made dense."""
        return not self.outside(np.zeros((1, 1))).any()
