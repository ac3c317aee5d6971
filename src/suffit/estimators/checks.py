"""What is refused before rows are learned or models merged: other sums, other classes, other columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import column_or_1d

from ..core.family import Family
from ..data.errors import InputError
from ..data.inputs import ClassesLike
from ..data.labels import Index
from ..data.rows import Rows

if TYPE_CHECKING:
    from .base import GenerativeEstimator


def check_same_sums(old: Family, new: Family, columns: Sequence[str]) -> None:
    """Refuse a batch whose sums mean something else than those learned before."""
    if new.statistic != old.statistic:
        raise InputError(
            f"this model has {old.key} sums and cannot take a {new.key} batch ({old.difference(new, columns)}); "
            "set the settings back, or use fit to begin anew"
        )


def check_same_classes(classes: ClassesLike, known: tuple[Hashable, ...], shown: object) -> None:
    """Refuse classes declared with a further batch that are not those of the model."""
    declared = column_or_1d(np.asarray(classes)).tolist()
    if len(declared) != len(known) or Index.of(declared).labels != known:
        raise ValueError(
            f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {shown!r}; omit classes: "
            "new ones are taken as they come"
        )


def declared_classes(classes: ClassesLike, rows: Rows) -> tuple[Hashable, ...]:
    """The classes declared with a first batch, which must name all of its labels."""
    declared = column_or_1d(np.asarray(classes)).tolist()
    new = [c for c in rows.classes.labels if c not in declared]
    if new:
        raise ValueError(
            f"The target label(s) {new} in y do not exist in the initial classes {declared}; omit classes: "
            "new ones are taken as they come"
        )
    return tuple(declared)


def check_same_columns(one: GenerativeEstimator, other: GenerativeEstimator) -> None:
    """Refuse to merge models with different columns."""
    if other.n_features_in_ != one.n_features_in_ and not one._grows:
        raise InputError(
            f"one model has {one.n_features_in_} columns, the other {other.n_features_in_}; they must match"
        )
    names, theirs = getattr(one, "feature_names_in_", None), getattr(other, "feature_names_in_", None)
    if names is not None and theirs is not None and list(names) != list(theirs):
        raise InputError(f"the columns differ: {list(names)[:5]} and {list(theirs)[:5]}; they must match, in order")
