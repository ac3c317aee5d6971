"""A posterior that is linear in x, as scikit-learn's LogisticRegression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from ..core.logistic import LogisticForm
from ..core.solution import Solution
from ..data.arrays import Array
from ..data.errors import InputError
from ..families.gaussian.student_t import HeavyScorer
from ..families.product import ProductScorer
from ..posterior.calibrate import Calibration

WAY_OUT = "logistic_form() gives the weights of any model, and its .statistic(X) the columns they apply to"


def linear_weights(solution: Solution, columns: Sequence[str], owners: NDArray[np.int64] | None) -> tuple[Array, Array]:
    """w_c and b_c with log p(c | x) = w_c·x + b_c + constant, x as the user gives it.  # → (K, p), (K,)"""
    scorer = solution.scorer
    blocks = scorer.scorers if isinstance(scorer, ProductScorer) else [scorer]
    if any(isinstance(s, HeavyScorer) for s in blocks):
        raise InputError(
            "to_sklearn: with heavy tails (freedom) the log-odds are not linear in any function of the columns, and "
            "there is no logistic_form(); "
            "set freedom=inf"
        )
    form = solution.logistic_form()
    if form.impossible is not None:
        raise InputError(f"to_sklearn: some events have probability 0 because alpha is 0; set alpha above 0; {WAY_OUT}")
    if not isinstance(solution.scorer, ProductScorer):
        return _checked(form, columns), form.intercept
    K, out = len(solution.classes), np.zeros((len(solution.classes), len(columns)))
    whose = iter(range(len(columns)) if owners is None else owners)
    for scorer, block in zip(solution.scorer.scorers, solution.scorer.blocks_of, strict=True):
        own = _checked(scorer.logistic_form(), block.columns) if block.power else np.zeros((K, len(block.columns)))
        for w, name in zip(own.T, block.columns, strict=True):
            j = next(whose)
            if block.power and name != columns[j]:
                raise InputError(f"to_sklearn: the model uses {name!r}, which is not a column of the table; {WAY_OUT}")
            out[:, j] += block.power * w
    return out, form.intercept


def _checked(form: LogisticForm, columns: Sequence[str]) -> Array:
    """The weights, refused where they are not on x itself."""
    shown = ", ".join(map(str, columns[:3])) + (" …" if len(columns) > 3 else "")
    if form.quadratic is not None:
        raise InputError(
            f"to_sklearn: classes with variances of their own have a quadratic boundary in {shown}; use LDA, or tie=1 "
            f"for one covariance; {WAY_OUT}"
        )
    if form.weights.shape[1] != len(columns):
        what = "one-hot codes" if any("=" in n or "<" in n for n in form.names) else "other functions"
        raise InputError(f"to_sklearn: the posterior is linear in {what} of {shown}, not in the columns; {WAY_OUT}")
    probe = np.stack([np.zeros(len(columns)), np.ones(len(columns))])
    with np.errstate(all="ignore"):
        same = np.array_equal(form.statistic(probe), probe)
    if not same:
        raise InputError(f"to_sklearn: the posterior is linear in functions of {shown}, not in the columns; {WAY_OUT}")
    return form.weights


def _in_table(weights: Array, columns: Sequence[str], table: Sequence[str]) -> Array:
    """Weights for all columns of the table: 0 for those that the model does not use."""
    if len(columns) == len(table):
        return weights
    place = {name: j for j, name in enumerate(columns)}
    return np.pad(weights, ((0, 0), (0, 1)))[:, [place.get(name, -1) for name in table]]


def as_logistic_regression(
    solution: Solution,
    calibration: Calibration | None,
    columns: Sequence[str],
    owners: NDArray[np.int64] | None,
    table: Sequence[str],
    settings: Mapping[str, object],
) -> LogisticRegression:
    """A fitted LogisticRegression with the same posterior, of all columns of the table.

    It has one row of weights for two classes, else one for each.
    """
    maps = calibration is not None and bool(calibration.maps)
    if maps or solution.outlier_rate:
        what = "an isotonic calibration" if maps else "an outlier rate"
        way = "fit without calibrate" if calibration is not None else "fit with structure='naive'"
        raise InputError(f"to_sklearn: {what} is not linear in x; {way}; {WAY_OUT}")
    weights, intercept = linear_weights(solution, columns, owners)
    weights = _in_table(weights, columns, table)
    if len(weights) < 2:
        raise ValueError(f"to_sklearn: the model has one class, {solution.classes[0]!r}; LogisticRegression needs two")
    model = LogisticRegression(**{"warm_start": True, **settings})
    two = len(weights) == 2
    model.coef_ = weights[1:] - weights[:1] if two else weights - weights.mean(axis=0)
    model.intercept_ = intercept[1:] - intercept[:1] if two else intercept - intercept.mean()
    model.n_features_in_ = weights.shape[1]
    model.n_iter_ = np.zeros(1, np.int32)
    return model
