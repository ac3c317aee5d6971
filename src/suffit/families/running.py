"""Running sums: what small batches are added to at once, until somebody asks for the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.family import Running
from ..core.stats import Stats
from ..data.arrays import Array, Cells, Codes, Matrix, freeze
from ..data.labels import Index
from ..kernels.runtime.threads import READ_CELLS, in_order, row_blocks

_TABLE_LIMIT = 1 << 12  # labels are looked up in a table no longer than this
_FAR = 1e4  # a batch may lie √1e4 root mean squares from the origin: 4 of 16 digits of its squares


def label_table(classes: Index) -> tuple[int, Codes] | None:
    """The least label, and the code of every label from it on (−1: none); None where labels are not small integers."""
    labels = classes.labels
    if not labels or not all(type(label) is int for label in labels):
        return None
    low, high = int(labels[0]), int(labels[-1])  # type: ignore[call-overload]
    if high - low >= _TABLE_LIMIT:
        return None
    place = np.full(high - low + 1, -1, np.int32)
    place[np.array(labels) - low] = np.arange(len(labels))
    return low, freeze(place)


def _of_one_kind(*arrays: Cells) -> Sequence[Cells]:
    """The arrays as they are where all can be written to, as most can; else all read-only: two types to compile for."""
    for a in arrays:
        flags = a.flags
        if not (flags.writeable and flags.c_contiguous):
            return [freeze(a) for a in arrays]
    return arrays


class RunningMoments(Running):
    """n, Σz, Σz² of dense float64 rows about the origin of the model, z = x − origin."""

    def __init__(self, stats: Stats, low: int, place: Codes) -> None:
        from ..kernels.batches import add_moments

        self.about = stats
        self.kernel: Callable[..., bool] = add_moments
        n, x, xx = (stats[name] for name in ("n", "x", "xx"))
        limit = freeze(_FAR * np.divide(xx, n, out=np.zeros_like(xx), where=n > 0))
        self.fixed = (low, place, stats.origin, limit)
        self.total = np.zeros((len(x), 1 + 2 * x.shape[1]))  # by class: n, Σz, Σz²
        self.room = np.empty_like(self.total)  # for the sums of a batch

    def add(self, X: Matrix, y: NDArray[np.integer]) -> bool:
        """Add a batch: one call, or one for each of its row blocks; one so large that it is no batch is refused."""
        if type(X) is not np.ndarray or X.dtype != np.float64 or not X.flags.c_contiguous or X.size > READ_CELLS:
            return False
        if X.size <= READ_CELLS >> 3:
            return self.kernel(*_of_one_kind(X, y), *self.fixed, self.room, self.total)

        def work(start: int, stop: int) -> Array | None:
            part, room = np.zeros_like(self.total), np.empty_like(self.total)
            return part if self.kernel(freeze(x[start:stop]), y[start:stop], *self.fixed, room, part) else None

        x, y = freeze(X), freeze(y)
        blocks = row_blocks(*X.shape)
        parts = [part for part in in_order(work, blocks) if part is not None]
        if len(parts) < len(blocks):
            return False
        self.total += np.sum(parts, axis=0)
        return True

    def sums(self) -> tuple[Array, Stats]:
        """Rows of each class, and the moments."""
        n, x, xx = np.split(self.total, [1, 1 + self.total.shape[1] // 2], axis=1)
        sums = {"n": np.broadcast_to(n, x.shape), "x": x, "xx": xx}
        return n[:, 0], Stats(self.about.layout, self.about.axes, sums, self.about.origin)


class RunningCounts(Running):
    """Occurrences of words in CSR rows."""

    def __init__(self, stats: Stats, low: int, place: Codes) -> None:
        from ..kernels.batches import add_entries

        self.about = stats
        self.kernel: Callable[..., bool] = add_entries
        self.n, self.count = np.zeros_like(stats["n"]), np.zeros_like(stats["count"])
        self.fixed = (low, place, self.n, self.count)

    def add(self, X: Matrix, y: NDArray[np.integer]) -> bool:
        """Add a batch, unless it is so large that threads should share it: one call."""
        if (
            not isinstance(X, sparse.csr_matrix | sparse.csr_array)
            or X.data.dtype != np.float64
            or X.indices.dtype != np.int32
            or X.indptr.dtype != np.int32
            or len(X.data) > READ_CELLS >> 3
        ):
            return False
        return self.kernel(*_of_one_kind(X.indptr, X.indices, X.data, y), *self.fixed)

    def sums(self) -> tuple[Array, Stats]:
        """Documents of each class, and the counts."""
        sums = {"count": self.count, "n": self.n, "gone": np.zeros_like(self.about["gone"])}
        return self.n, Stats(self.about.layout, self.about.axes, sums)
