"""Labels, weights, column names and priors as users give them, checked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from .arrays import Array, Cells, Codes
from .errors import InputError
from .frame import frame_names, is_frame
from .inputs import LabelsLike, WeightsLike
from .labels import Index
from .matrices import Matrix
from .rows import is_missing

Prior = Mapping[Hashable, float] | ArrayLike | str | None


class ColumnNames(Sequence[str]):
    """x0, x1, …: names for columns that have none, made when asked for."""

    def __init__(self, n: int, prefix: str = "x") -> None:
        self.n, self.prefix = n, prefix

    def __len__(self) -> int:
        return self.n

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[str]: ...
    def __getitem__(self, i: int | slice) -> str | Sequence[str]:
        if isinstance(i, slice):
            return tuple(f"{self.prefix}{j}" for j in range(self.n)[i])
        return f"{self.prefix}{range(self.n)[i]}"


def column_names(X: object, n: int, prefix: str = "x") -> Sequence[str]:
    """The names of a data frame's columns, or x0, x1, …"""
    names = frame_names(X) if is_frame(X) else ()
    return tuple(names) if len(names) == n else ColumnNames(n, prefix)


def read_labels(y: LabelsLike | None, who: str, way_out: str = "drop these rows") -> Cells:
    """One label per row: finite, none missing, not the values of a regression."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None; pass the labels of the rows")
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iubU":
        return y  # nothing can be missing
    given = y
    y = column_or_1d(y, warn=True)
    if y.dtype.kind in "fcOMm" or (isinstance(given, list | tuple) and y.dtype.kind in "US"):
        cells = given if isinstance(given, list | tuple) else y
        missing = y != y if y.dtype.kind in "fcMm" else np.fromiter(map(is_missing, cells), bool, len(y))
        if missing.any():
            raise InputError(
                f"Input y contains NaN: {missing.sum()} of {len(y)} labels are missing, the first in row "
                f"{np.argmax(missing)}; {way_out}"
            )
    if y.dtype.kind in "fc":
        if np.isinf(y).any():
            raise InputError("Input y contains infinity; labels must be finite")
        check_classification_targets(y)
    return y


def read_weight(sample_weight: WeightsLike, X: Matrix) -> Array | None:
    """One weight per row, 0 or more, not all 0."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, str | Mapping):
        raise InputError(
            f"sample_weight: expected one number for each row, found {sample_weight!r}; for class weights use "
            "sklearn.utils.class_weight.compute_sample_weight(…, y), or a uniform class prior to give every class the "
            "same weight"
        )
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weight < 0).any():
        i = int(np.argmax(weight < 0))
        raise InputError(
            f"sample_weight: found {weight[i]:g} in row {i}; weights must be 0 or more; to remove rows use forget"
        )
    if len(weight) and not weight.any():
        raise InputError("sample_weight: all weights are 0; at least one row needs a positive weight")
    return weight


def prior_in_order(prior: Prior, classes: tuple[Hashable, ...]) -> Array | None:
    """A class prior, by label, in class order or "uniform", as an array in class order."""
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior != "uniform":
            raise ValueError(f"prior={prior!r}: must be probabilities (by class, or in class order) or 'uniform'")
        return np.full(len(classes), 1 / len(classes))
    if isinstance(prior, Mapping):
        unknown, absent = [c for c in prior if c not in classes], [c for c in classes if c not in prior]
        if unknown or absent:
            what = f"unknown class {unknown[0]!r}" if unknown else f"class {absent[0]!r} is missing"
            raise ValueError(f"prior: {what}; give one probability for each class: the classes are {list(classes)}")
        prior = [prior[c] for c in classes]
    p = np.array(prior, dtype=np.float64).reshape(-1)
    if len(p) != len(classes):
        raise ValueError(
            f"Number of priors must match number of classes: {len(p)} priors, {len(classes)} classes: {list(classes)}"
        )
    if not np.isfinite(p).all() or not p.any():
        raise ValueError(f"Priors must be finite and not all 0, found {p.tolist()}.")
    return p


def class_codes(n: int, y: Any, classes: Index, who: str) -> Codes:
    """The codes of the classes of n rows: ``y`` is one class for all of them, or names n."""
    position = classes.position
    one = isinstance(y, Hashable) and (y in position or not isinstance(y, tuple))
    wanted: list[Hashable] = [y] * n if one else y.tolist() if isinstance(y, np.ndarray) else list(y)
    wanted = wanted * n if len(wanted) == 1 else wanted
    unknown = [c for c in wanted if c not in position]
    if unknown:
        raise ValueError(f"{who}: no class {unknown[0]!r}; the classes are {list(classes.labels)}")
    if len(wanted) != n:
        raise ValueError(f"{who}: y names {len(wanted)} classes for n = {n} rows; give one class, or n of them")
    return np.array([position[c] for c in wanted], np.int32)


def adding_up(p: Array) -> Array:
    """A prior whose entries are 0 or more and add up to 1; others are refused."""
    if not (p >= 0).all():
        raise ValueError(f"Priors must be non-negative, found {p[np.argmin(p >= 0)]:g}.")
    if not np.isclose(p.sum(), 1.0):
        raise ValueError(f"The sum of the priors should be 1, found {p.sum():g}.")
    return p


def checked_prior(prior: Prior, classes: tuple[Hashable, ...]) -> Array:
    """The class prior of rows to be decided on, in class order; it must add up to 1."""
    p = prior_in_order(prior, classes)
    assert p is not None
    return adding_up(p)


def common_dtype(a: np.dtype[np.generic] | None, b: np.dtype[np.generic] | None) -> np.dtype[np.generic] | None:
    """A label type that holds both; objects where they are of different kinds."""
    if a is None or b is None:
        return None
    if a.kind in "US" and b.kind in "US":
        return np.dtype("U")
    if a.kind in "iufb" and b.kind in "iufb":
        return np.result_type(a, b)
    return np.dtype(object)
