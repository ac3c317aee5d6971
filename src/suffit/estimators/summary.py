"""The summary of a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.solution import Solution
from ..data.arrays import Array
from ..data.matrices import Matrix
from ..data.rows import Rows
from ..explain.summary import Summary, separations

if TYPE_CHECKING:
    from .base import GenerativeEstimator


def described(estimator: GenerativeEstimator, X: Any, y: Any, sample_weight: Any) -> Summary:
    """Everything from sums, but the log-likelihood of rows that are given."""
    fitted = estimator._fitted
    model, density = fitted.model, estimator._density_solution()
    columns, owners = estimator._columns_of_model()
    counts = model.counts["n"]
    by_class: Array | None
    total: float | None
    if X is not None:
        if y is None:
            raise ValueError("summary: rows are given without their labels; call summary(X, y), or summary()")
        data, _, rows = estimator._read(X, y, sample_weight, estimator._read_X_known)
        by_class, total = _of_rows(density, data, rows)
        of, n = "these rows", float(rows.counts().sum())
    else:
        by_class, total = _of_sums(density, model.sums, counts)
        of, n = "the rows learned", float(counts.sum())
    return Summary(
        type(estimator).__name__, model.classes, fitted.prior, counts, density.n_parameters, total, by_class, of, n,
        columns, separations(fitted.solution.scorer, model.sums, fitted.prior, owners, len(columns)),
        _centres(density, owners), estimator._table_form(), estimator._pool_in_words(),
    )  # fmt: skip


def _of_sums(density: Solution, sums: Any, counts: Array) -> tuple[Array | None, float | None]:
    found = density.scorer.log_likelihood(sums)
    if found is None:
        return None, None
    prior = np.where(counts > 0, counts * density.log_prior, 0.0)
    if len(found) == len(counts):
        return found + prior, float((found + prior).sum())
    return None, float(found.sum() + prior.sum())  # sums of squares that are kept for all classes together


def _of_rows(density: Solution, data: Matrix, rows: Rows) -> tuple[Array, float]:
    codes, weights = rows.part(0, len(rows))
    place = {label: k for k, label in enumerate(density.classes)}
    at = np.array([place.get(label, -1) for label in rows.classes.labels])[codes]
    joint = density.log_joint(data)
    each = np.where(at >= 0, joint[np.arange(len(at)), at], -np.inf)
    known = (at >= 0) & (weights > 0)
    by_class = np.bincount(at[known], (weights * each)[known], minlength=len(density.classes))
    return by_class.astype(np.float64), density.log_likelihood(data, rows)


def _centres(density: Solution, owners: NDArray[np.int64] | None) -> Array | None:
    """Class means of columns that have them; None where they do not, or where columns are several numbers each."""
    try:
        return density.scorer.centres if owners is None else None  # type: ignore[no-any-return]
    except NotImplementedError:
        return None
