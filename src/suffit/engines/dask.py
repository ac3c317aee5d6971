"""Dask: data frames and arrays in partitions, whose sums are added up in a tree, wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from ..data.errors import InputError
from ..estimators.base import GenerativeEstimator
from .arrow import check_columns, planned_from, posterior_names
from .parts import add, collect, recalibrated, total
from .sample import RowSample
from .without_rows import without_rows

if TYPE_CHECKING:
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd
    from dask.delayed import Delayed

    from ..data.inputs import LabelsLike, TableLike, WeightsLike

E = TypeVar("E", bound=GenerativeEstimator)
T = TypeVar("T")
Collection: TypeAlias = "dd.DataFrame | da.Array"
Beside: TypeAlias = "str | da.Array"  # a column of a data frame, or an array beside an array
Part: TypeAlias = "tuple[TableLike, LabelsLike, WeightsLike]"
FAN_IN = 8  # parts that one task adds up


def fit_dask(estimator: E, X: Collection, target: Beside, sample_weight: Beside | None = None) -> E:
    """Return another estimator, fitted on a Dask data frame or array: only sums and a sample leave the workers.

    Where something is chosen from values (families of columns, structures, bins), the rows are read twice: a sample of
    all partitions first, then their sums.  Data that are slow to make are best persisted.

    Parameters
    ----------
    estimator : estimator
        A fitted one keeps its choices (families, structures, bins), and its rows do not count.
    X : dask.dataframe.DataFrame or dask.array.Array
        The rows.
    target : str, or dask.array.Array for an array
        The column of the labels, or the labels, in the same order.
    sample_weight : str, or dask.array.Array for an array, optional
        The column of the weights, or the weights.

    Returns
    -------
    estimator
        Of the same class and settings.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, suffit
    >>> rows = dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0, 4.0, 6.0], "y": ["a", "a", "b", "b"]}), npartitions=2)
    >>> fit_dask(suffit.GaussianNB(), rows, target="y").theta_.tolist()
    [[1.5], [5.0]]
    """
    from dask import compute, delayed

    parts, names = _parts(X, target, sample_weight)
    planned, sample = without_rows(estimator, len(names) if names else X.shape[1], names), None
    if planned is None:
        samples = [delayed(_of_partition)(RowSample.of, i, part) for i, part in enumerate(parts)]
        [sample] = compute(_tree(_plus, samples))
        planned = planned_from(estimator, sample)
    plan = delayed(planned)
    sums = [delayed(_of_partition)(collect, i, part, plan) for i, part in enumerate(parts)]
    [whole] = compute(_tree(add, sums))
    return recalibrated(total([whole]), sample)


def predict_dask(model: GenerativeEstimator, X: Collection, keep: Sequence[str] | None = None) -> Collection:
    """Return what the model says of each row of a Dask data frame or array, computed when it is asked for.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : dask.dataframe.DataFrame or dask.array.Array
        The rows.
    keep : list of str, optional
        The columns of a data frame that stay beside them; by default all.

    Returns
    -------
    dask.dataframe.DataFrame or dask.array.Array
        A data frame with ``predicted``, the most probable class, and ``p(class)`` for each class as further columns;
        of an array, the probabilities.

    Examples
    --------
    >>> import dask.array as da, numpy as np, suffit
    >>> model = suffit.GaussianNB().fit(np.array([[0.0], [2.0], [7.0], [9.0]]), ["a", "a", "b", "b"])
    >>> predict_dask(model, da.from_array(np.array([[4.5], [-50.0]]), chunks=1)).compute().round(3).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    if not hasattr(X, "map_partitions"):
        X = X.rechunk({1: -1})
        K = len(model.classes_)
        return X.map_blocks(model.predict_proba, chunks=(X.chunks[0], (K,)), dtype=np.float64, meta=np.empty((0, K)))
    names = posterior_names(model)
    kept = [name for name in (X.columns if keep is None else keep) if name not in names]
    check_columns(list(X.columns), kept)
    return X.map_partitions(_with_posterior, model, kept, meta=_with_posterior(X._meta, model, kept))


def _with_posterior(part: pd.DataFrame, model: GenerativeEstimator, kept: Sequence[str]) -> pd.DataFrame:
    """A partition with the columns that a prediction adds."""
    import pandas as pd

    known = [name for name in getattr(model, "feature_names_in_", part.columns) if name in part.columns]
    classes = model.classes_
    p = model.predict_proba(part[known]) if len(part) else np.empty((0, len(classes)))
    columns = [pd.Index(classes).take(p.argmax(axis=1)).array, *p.T]
    return part[list(kept)].assign(**dict(zip(posterior_names(model), columns, strict=True)))


def _parts(X: Collection, target: Beside, sample_weight: Beside | None) -> tuple[list[Delayed], list[str] | None]:
    """(X, y, sample_weight) of every partition, and the names of the columns, where they have some."""
    from dask import delayed

    if hasattr(X, "map_partitions"):
        own = [target, *([sample_weight] if sample_weight is not None else [])]
        check_columns(list(map(str, X.columns)), own)
        names = [str(name) for name in X.columns if name not in own]
        return [delayed(_split)(part, target, sample_weight) for part in X.to_delayed()], names
    if X.ndim != 2:
        raise InputError(f"X must have two dimensions, rows and columns, found {X.ndim}; use X.reshape(-1, 1)")
    rows = [row[0] for row in X.rechunk({1: -1}).to_delayed()]
    beside = [_beside(X, rows, a, name) for a, name in ((target, "target"), (sample_weight, "sample_weight"))]
    return [delayed(tuple)(list(each)) for each in zip(rows, *beside, strict=True)], None


def _beside(X: Collection, rows: list[Delayed], a: Beside | None, name: str) -> list[Delayed]:
    """Labels or weights in chunks of the same rows."""
    if a is None:
        return [None] * len(rows)
    if isinstance(a, str) or not hasattr(a, "to_delayed"):
        raise InputError(f"{name}: expected a Dask array beside an array of rows, found {type(a).__name__}")
    known = not np.isnan(X.shape[0]) and not np.isnan(a.shape[0])
    if known and X.shape[0] != a.shape[0]:
        raise InputError(f"X has {X.shape[0]} rows, {name} has {a.shape[0]}; they must match")
    made = list((a.rechunk((X.chunks[0],)) if known else a).to_delayed().ravel())
    if len(made) != len(rows):
        raise InputError(f"X has {len(rows)} chunks of rows, {name} has {len(made)}; they must match")
    return made


def _split(part: pd.DataFrame, target: str, sample_weight: str | None) -> Part:
    names = [target, *([sample_weight] if sample_weight is not None else [])]
    weight = None if sample_weight is None else part[sample_weight].to_numpy(dtype=np.float64)
    return part.drop(columns=names), part[target], weight


def _of_partition(make: Callable[..., T], i: int, part: Part, *plan: GenerativeEstimator) -> T:
    """Of the rows of one partition; what is wrong with a row is said with the number of the partition."""
    try:
        return make(*plan, *part)
    except InputError as error:
        raise InputError(f"partition {i}: {error}") from None


def _plus(a: RowSample, b: RowSample) -> RowSample:
    return a + b


def _tree(plus: Callable[[T, T], T], parts: list[Delayed]) -> Delayed:
    """All parts added up, so many at a time, in an order that does not depend on which are there first."""
    from dask import delayed

    def added(some: list[T]) -> T:
        return reduce(plus, some)

    while len(parts) > 1:
        parts = [delayed(added)(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return parts[0]
