"""What users may hand in, by name: for annotations, and for whoever reads a signature; every reader checks anew."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Cells

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoSeries
    from scipy.sparse import sparray, spmatrix

TableLike: TypeAlias = "ArrayLike | sparray | spmatrix | IntoDataFrame | Mapping[str, object] | Sequence[object]"
LabelsLike: TypeAlias = "ArrayLike | IntoSeries | Sequence[Hashable]"  # one for each row
WeightsLike: TypeAlias = "ArrayLike | IntoSeries | None"  # likewise; all 1 where there are none
ClassesLike: TypeAlias = "Sequence[Hashable] | Cells | None"
RandomState: TypeAlias = "int | np.random.RandomState | np.random.Generator | None"
