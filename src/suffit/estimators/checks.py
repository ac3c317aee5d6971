"""What is refused before rows are learned or models merged: other sums, classes, columns or settings; no fit yet."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import column_or_1d

from ..core.family import Family
from ..data.errors import InputError
from ..data.inputs import ClassesLike
from ..data.labels import Index
from ..data.rows import Rows
from ..families.product import LIKE_THE_FIRST
from ..tables.schema import DROPPED, Schema

if TYPE_CHECKING:
    from .base import GenerativeEstimator


def _setting_names(estimator: Any) -> tuple[str, ...]:
    return tuple(estimator._get_param_names())


# the names of the settings of an estimator's class, the arguments of its constructor
setting_names: Callable[[type], tuple[str, ...]] = cache(_setting_names)


def not_fitted(estimator: object) -> NotFittedError:
    """The error of an estimator that is asked for what a fit makes."""
    return NotFittedError(
        f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
        "using this estimator."
    )


def check_same_sums(old: Family, new: Family) -> None:
    """Refuse a batch whose sums mean something else than those learned before."""
    if new.statistic != old.statistic:
        raise InputError(
            f"this model has {old.key} sums and cannot take a {new.key} batch ({old.difference(new)}); "
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


def check_same_families(one: Schema, other: Schema, names: Sequence[str], theirs: Sequence[str]) -> None:
    """Refuse to merge models of tables with a column that has another family in the other."""
    mine, others = one.keys(), other.keys()
    for name in names:
        if name in theirs and mine.get(name) != others.get(name):
            raise InputError(
                f"these models keep different sums and cannot be combined: column {name!r} is "
                f"{mine.get(name, DROPPED)} in one and {others.get(name, DROPPED)} in the other; {LIKE_THE_FIRST}"
            )


def check_same_settings(first: Mapping[str, object], estimator: object) -> None:
    """Refuse a batch under other settings than those that the first rows were learned under."""
    for name, was in first.items():
        now = getattr(estimator, name)
        if now is not was and now != was:
            raise InputError(
                f"{name} has changed from {was!r} to {now!r} since the first batch, which fixed it; set it back, "
                "or use fit to start again"
            )
