"""Plans of estimators that choose nothing from values: a fit in parts needs no sample of the rows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from ..core.model import Model
from ..data.validate import column_names
from ..estimators.base import GenerativeEstimator
from ..estimators.fitted import ClassPrior, Fitted
from ..estimators.tables import GenerativeClassifier
from .parts import check_sums_suffice, plan

E = TypeVar("E", bound=GenerativeEstimator)


def without_rows(estimator: E, n_features: int, names: Sequence[str] | None = None) -> E | None:
    """A plan of a fitted estimator, or of one whose family has nothing to choose; None where a sample is needed.

    ``names`` are those of the columns; None: they have none.
    """
    if estimator.__sklearn_is_fitted__():
        return plan(estimator)
    if isinstance(estimator, GenerativeClassifier):
        return None
    check_sums_suffice(estimator)
    new = copy.copy(estimator)
    new._take_settings()
    family = new._family(n_features)
    if not family.is_tuned or new._setting("calibrate") is not None or new._grows:
        return None
    columns = tuple(names) if names is not None else column_names(None, n_features, "x")
    new.n_features_in_, new._form = n_features, "array"
    if names is not None:
        new.feature_names_in_ = np.array(names, dtype=object)
        new._form = "pyarrow"
    new._fit = Fitted(Model.empty(family, columns), ClassPrior(), None, np.dtype(np.float64), new._decision_prior)
    return new
