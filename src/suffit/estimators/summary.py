"""The summary of a fitted estimator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.solution import Solution
from ..core.stats import Sums
from ..data.arrays import Array, Matrix
from ..data.rows import Rows
from ..explain.summary import Summary, separations
from .fitted import Fitted


def described(
    name: str,
    fitted: Fitted,
    density: Solution,
    given: tuple[Matrix, Rows] | None,
    columns: tuple[Sequence[str], NDArray[np.int64] | None],
    form: str,
    pool: str,
) -> Summary:
    """Everything from sums, but the log-likelihood of rows that are given.

    ``columns`` are those of the table, and to which of them each column of the model belongs; ``form`` is the kind of
    table to show, ``pool`` what posteriors are of, in words.
    """
    model, (names, owners) = fitted.model, columns
    counts = model.counts["n"]
    by_class: Array | None
    total: float | None
    if given is None:
        by_class, total = _of_sums(density, model.sums, counts)
        of, n = "the rows learned", float(counts.sum())
    else:
        by_class, total = _of_rows(density, *given)
        of, n = "these rows", float(given[1].counts().sum())
    return Summary(
        name, model.classes, fitted.prior, counts, density.n_parameters, total, by_class, of, n,
        names, separations(fitted.solution.scorer, model.sums, fitted.prior, owners, len(names)),
        _centres(density, owners), form, pool,
    )  # fmt: skip


def _of_sums(density: Solution, sums: Sums, counts: Array) -> tuple[Array | None, float | None]:
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
        return density.scorer.centres if owners is None else None
    except NotImplementedError:
        return None
