"""Fitting in parts: what a fit chooses from values is chosen once, then the sums of the parts are added up.

plan(estimator, X, y)      a sample of all rows → an estimator that has chosen, and has learned no rows
collect(plan, X, y)        the sums of one part, anywhere
add(a, b)                  the sums of two parts; any order, any tree
total(parts)               the estimator that has learned them all
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable
from typing import TypeAlias, TypeVar, cast

import numpy as np

from ..core.model import Model
from ..core.stats import CLASS
from ..data.arrays import freeze
from ..data.column import ArrayColumn, as_objects
from ..data.errors import InputError
from ..data.inputs import LabelsLike, TableLike, WeightsLike
from ..data.rows import Rows
from ..data.validate import column_names, common_dtype
from ..estimators.base import GenerativeEstimator
from ..estimators.fitted import ClassPrior, Fitted
from .sample import RowSample, n_rows

E = TypeVar("E", bound=GenerativeEstimator)
Part: TypeAlias = "tuple[TableLike, LabelsLike] | tuple[TableLike, LabelsLike, WeightsLike]"
NO_ROWS = "there are no rows with a label; a fit needs at least one"
NO_CODES = freeze(np.empty(0, np.int32))


def plan(
    estimator: E, X: TableLike | RowSample | None = None, y: LabelsLike | None = None, sample_weight: WeightsLike = None
) -> E:
    """Return another estimator that has chosen what a fit chooses from values, and has learned no rows.

    For a table these are the kind and family of every column, the structures and their weights; for other models the
    edges of bins and the like.  Whatever is collected under the same plan adds up.

    Parameters
    ----------
    estimator : estimator
        Not fitted: it chooses from the rows given here.  Fitted: its own choices are kept, and no rows are needed.
    X : table, array-like or RowSample, optional
        A sample of all rows, best from all parts (:class:`RowSample`), with rows of every class.
    y : array-like, optional
        Their labels; in a ``RowSample`` they are there already.
    sample_weight : array-like, optional

    Returns
    -------
    estimator
        Of the same class and settings.

    Examples
    --------
    >>> import suffit
    >>> table = {"age": [31, 45, 38, 60], "city": ["Bern", "Chur", "Bern", None]}
    >>> planned = plan(suffit.GenerativeClassifier(structure="naive"), table, ["a", "b", "a", "b"])
    >>> parts = [collect(planned, {"age": [52 + i], "city": ["Basel"]}, ["b"]) for i in range(3)]
    >>> total(parts).class_count_.tolist()
    [3.0]
    """
    check_sums_suffice(estimator)
    if isinstance(X, RowSample):
        if X.X is None:
            raise InputError(NO_ROWS)
        X, y, sample_weight = X.rows()
    if X is not None:
        estimator = copy.copy(estimator).fit(X, None if y is None else as_objects(_labels(y)), sample_weight)
    fitted = estimator._fitted
    return holding(estimator, Model.empty(fitted.model.family, fitted.model.columns), fitted.labels)


def collect(plan: E, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None) -> E:
    """Return another estimator with the choices of a plan, that has learned these rows alone.

    Parameters
    ----------
    plan : estimator
        From :func:`plan`, or fitted: its rows do not count.
    X : table or array-like
        The rows of one part; there may be none.
    y : array-like
        Their labels, which may be new ones.
    sample_weight : array-like, optional

    Returns
    -------
    estimator
        For :func:`add` and :func:`total`.
    """
    part, known = copy.copy(plan), plan._fitted
    if _nothing_in(plan, X, y, sample_weight):
        return holding(part, Model.empty(known.known.family, known.known.columns), known.labels)
    with part._unchanged_on_error():
        data, labels, rows = part._read(X, y, sample_weight, part._read_X_more)
        columns = column_names(X, data.shape[1], "word ") if part._grows else known.known.columns
        family = known.known.family.of(columns)
        model = Model.of(family, columns, rows, family.collect(data, rows))
    return holding(part, model, common_dtype(known.labels, labels.dtype))


def add(a: E, b: E) -> E:
    """Return another estimator that has learned the rows of two parts of the same plan.

    Parameters
    ----------
    a, b : estimators
        From :func:`collect` or :func:`add`.

    Returns
    -------
    estimator
    """
    a._check_mergeable(b)
    mine, theirs = a._fitted, b._fitted
    return holding(a, mine.model + theirs.model, common_dtype(mine.labels, theirs.labels))


def total(parts: Iterable[E]) -> E:
    """Return the estimator that has learned the rows of all parts, under the class prior of its settings.

    Parts are added in pairs of about the same size, as they come, so that n of them cost n log n and few are kept.

    Parameters
    ----------
    parts : iterable of estimators
        From :func:`collect` or :func:`add`, in any order.

    Returns
    -------
    estimator
        It predicts, learns, forgets and merges as any other.
    """
    waiting: list[tuple[int, E]] = []  # how many parts each is of, the largest first
    for part in parts:
        n = 1
        while waiting and waiting[-1][0] == n:
            n, part = 2 * n, add(waiting.pop()[1], part)
        waiting.append((n, part))
    if not waiting:
        raise InputError("there are no parts; a fit needs at least one row")
    whole = waiting.pop()[1]
    while waiting:
        whole = add(waiting.pop()[1], whole)
    fitted = whole._fitted
    if fitted.model.stats is None:
        raise InputError("no part has any rows; a fit needs at least one")
    done = copy.copy(whole)
    with done._unchanged_on_error():
        _check_accepted(done, fitted.model)
        done._adopt(fitted.model, fitted.labels, fitted.floats, anew=True)
    return done


def fit_parts(estimator: E, parts: Iterable[Part]) -> E:
    """Return another estimator, fitted on parts (X, y) or (X, y, sample_weight) that can be read twice.

    The first reading takes a sample of all of them, the second adds up their sums; neither the order of the parts nor
    where they are cut changes more than rounding.

    Parameters
    ----------
    estimator : estimator
        A fitted one keeps its choices (families, structures, bins), and its rows do not count.
    parts : iterable of tuples
        A list, or anything else that can be iterated over again.

    Returns
    -------
    estimator

    Examples
    --------
    >>> import numpy as np, suffit
    >>> X, y = np.arange(12.0)[:, None], np.arange(12) // 6
    >>> model = fit_parts(suffit.GaussianNB(), [(X[:5], y[:5]), (X[5:], y[5:])])
    >>> model.theta_.tolist()
    [[2.5], [8.5]]
    """
    sample = None if estimator.__sklearn_is_fitted__() else sampled(parts)
    planned = plan(estimator, sample)
    return recalibrated(total(collect(planned, *part) for part in parts), sample)


def sampled(parts: Iterable[Part], source: str = "") -> RowSample:
    """Return the sample of all rows of some parts, (X, y) or (X, y, sample_weight).

    Parameters
    ----------
    parts : iterable of tuples
    source : str
        Where they come from, for messages.

    Returns
    -------
    RowSample
    """
    found: RowSample | None = None
    for part in parts:
        here = RowSample.of(*part)
        found = here if found is None else found + here
    if found is None or found.X is None:
        raise InputError(f"{source}: {NO_ROWS}" if source else NO_ROWS)
    return found


def recalibrated(model: E, sample: RowSample | None) -> E:
    """Return the model with the calibration that its settings ask for, fitted on a sample of the rows it has learned.

    Parameters
    ----------
    model : estimator
        From :func:`total`; changed in place where its ``calibrate`` is set.
    sample : RowSample or None

    Returns
    -------
    estimator
    """
    if sample is None or model._setting("calibrate") is None:
        return model
    return model.recalibrate(sample.X, sample.y, sample.copies)


def check_sums_suffice(estimator: GenerativeEstimator) -> None:
    """Refuse a setting that needs all rows at once."""
    if getattr(estimator, "covariance_estimator", None) is not None:
        raise InputError(
            "covariance_estimator needs all rows at once, and a fit in parts adds up sums; use shrinkage instead"
        )


def _check_accepted(estimator: GenerativeEstimator, model: Model) -> None:
    """Refuse what a fit of all rows would refuse.  Weights may be shares: how many rows there are is not known then."""
    n = model.counts["n"]
    if (n == np.round(n)).all():
        estimator._accepted(np.empty((0, len(model.columns))), Rows(model.counts.axes[CLASS], NO_CODES), model)


def _nothing_in(plan: GenerativeEstimator, X: TableLike, y: LabelsLike, sample_weight: WeightsLike) -> bool:
    """Whether a part has no rows that count."""
    if not n_rows(X):
        return True
    if sample_weight is not None and not np.asarray(sample_weight, np.float64).any():
        return True
    if getattr(plan, "missing_target", "error") != "drop":
        return False
    return bool(ArrayColumn(as_objects(_labels(y))).missing().all())


def _labels(y: LabelsLike) -> list[Hashable]:
    """The labels themselves; those of Arrow as values of Python."""
    return list(y.to_pylist() if hasattr(y, "to_pylist") else cast(Iterable[Hashable], y))


def holding(estimator: E, model: Model, labels: np.dtype[np.generic] | None) -> E:
    """The estimator with these sums alone; the class prior of its settings waits for the classes of all parts."""
    new, old = copy.copy(estimator), estimator._fitted
    new._fit = Fitted(model, ClassPrior(), labels, old.floats, old.decision_prior, remarks=old.remarks)
    return new
