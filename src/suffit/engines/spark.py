"""Spark: data frames whose partitions are added up where they are, and whose sums travel as bytes."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ..data.errors import InputError
from ..estimators.base import GenerativeEstimator
from ..files.store import from_bytes, to_bytes
from .arrow import Split, check_columns, planned_from, posterior_names, with_posterior
from .parts import NO_ROWS, add, collect, recalibrated, total
from .sample import RowSample
from .without_rows import without_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

E = TypeVar("E", bound=GenerativeEstimator)
SparkFrame: TypeAlias = "DataFrame"
Batch: TypeAlias = "pa.RecordBatch"
Made = Iterator[bytes]
ADDERS = 8  # tasks that add up the sums of more partitions than this squared, before the driver adds up theirs
ROWS_AT_ONCE = 1 << 17  # Spark's batches are small: so many rows are read together
FROM_SPARK = "sums from Spark"
REFUSED = r"suffit\S*\.(?:Input|Cell)Error: (.*)"


def fit_spark(estimator: E, frame: SparkFrame, target: str, sample_weight: str | None = None) -> E:
    """Return another estimator, fitted on a Spark data frame: only sums and a sample leave the executors.

    Where something is chosen from values (families of columns, structures, bins), the rows are read twice: a sample of
    all partitions first, then their sums.  A frame that is slow to make is best cached.

    Parameters
    ----------
    estimator : estimator
        A fitted one keeps its choices (families, structures, bins), and its rows do not count.
    frame : pyspark.sql.DataFrame
        The rows.  suffit and pyarrow must be installed where the executors run.
    target : str
        The column of the labels.
    sample_weight : str, optional
        The column of the weights.

    Returns
    -------
    estimator
        Of the same class and settings.

    Examples
    --------
    >>> model = fit_spark(suffit.GaussianNB(), spark.table("visits"), target="bought")  # doctest: +SKIP
    """
    own = [target, *([sample_weight] if sample_weight is not None else [])]
    check_columns(frame.columns, own)
    names = [name for name in frame.columns if name not in own]
    planned, sample = without_rows(estimator, len(names), names), None
    if planned is None:
        sample = _sampled(frame, Split(target, sample_weight, lenient=True))
        planned = planned_from(estimator, sample)
    split = Split(target, sample_weight, getattr(estimator, "missing_target", "error") == "drop")
    sums = _mapped(frame, _Sums(planned, split))
    if _partitions(frame) > ADDERS**2:
        sums = _mapped(sums.repartition(ADDERS), _added)
    parts = [from_bytes(data, FROM_SPARK) for data in _brought(sums)]
    return recalibrated(total(parts or [planned]), sample)


def predict_spark(model: GenerativeEstimator, frame: SparkFrame, keep: Sequence[str] | None = None) -> SparkFrame:
    """Return a Spark data frame with what the model says of each row, computed when it is asked for.

    Parameters
    ----------
    model : estimator
        Fitted.
    frame : pyspark.sql.DataFrame
        The rows.
    keep : list of str, optional
        The columns that stay beside them; by default all.

    Returns
    -------
    pyspark.sql.DataFrame
        With ``predicted``, the most probable class, and ``p(class)`` for each class as further columns.

    Examples
    --------
    >>> predict_spark(model, spark.table("visits"), keep=["id"]).write.saveAsTable("scores")  # doctest: +SKIP
    """
    from pyspark.sql import types

    label = model.classes_[0].item() if hasattr(model.classes_[0], "item") else model.classes_[0]
    kinds = {str: types.StringType, bool: types.BooleanType, int: types.LongType, float: types.DoubleType}
    names = posterior_names(model)
    kept = [name for name in (frame.columns if keep is None else keep) if name not in names]
    check_columns(frame.columns, kept)
    schema = types.StructType([frame.schema[name] for name in kept])
    if type(label) not in kinds:
        raise InputError(f"classes of type {type(label).__name__} have no type in Spark; use text or numbers as labels")
    schema = schema.add(names[0], kinds[type(label)]())
    for name in names[1:]:
        schema = schema.add(name, types.DoubleType())
    return frame.mapInArrow(_Posterior(model, tuple(kept)), schema)


def _partitions(frame: SparkFrame) -> float:
    """How many partitions a frame has; without end where a remote session does not say."""
    try:
        return int(frame.rdd.getNumPartitions())
    except Exception:  # of whatever class the session has for what it does not do
        return float("inf")


class _Sums:
    """What an executor makes of the batches of a partition: the bytes of a model file that holds their sums."""

    def __init__(self, planned: GenerativeEstimator, split: Split) -> None:
        self.planned, self.split = planned, split

    def __call__(self, batches: Iterable[Batch]) -> Made:
        parts = (collect(self.planned, *self.split(table)) for table in _tables(batches))
        return _as_bytes(reduce(add, parts, self.planned))


def _added(batches: Iterable[Batch]) -> Made:
    """What an executor makes of the sums of some partitions: those of all of them."""
    parts = [from_bytes(data, FROM_SPARK) for table in _tables(batches) for data in table[0].to_pylist()]
    return _as_bytes(reduce(add, parts)) if parts else iter(())


def _as_bytes(part: GenerativeEstimator) -> Made:
    return iter(()) if part._fitted.model.stats is None else iter([to_bytes(part)])


class _Samples:
    """What an executor makes of the batches of a partition: the sample of its rows."""

    def __init__(self, split: Split) -> None:
        self.split = split

    def __call__(self, batches: Iterable[Batch]) -> Made:
        for table in _tables(batches):
            yield pickle.dumps(RowSample.of(*self.split(table)))


def _sampled(frame: SparkFrame, split: Split) -> RowSample:
    """The sample of all partitions; a pickle, as all that Spark's own executors send to its driver."""
    found: list[RowSample] = [pickle.loads(data) for data in _brought(_mapped(frame, _Samples(split)))]
    if not found:
        raise InputError(NO_ROWS)
    return reduce(lambda a, b: a + b, found)


class _Posterior:
    """What an executor makes of a batch of rows: the same with what the model says of them."""

    def __init__(self, model: GenerativeEstimator, kept: tuple[str, ...]) -> None:
        self.model, self.kept = model, kept

    def __call__(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        for table in _tables(batches):
            yield from with_posterior(self.model, table, self.kept).to_batches()


def _mapped(frame: SparkFrame, make: Callable[[Iterable[Batch]], Made]) -> SparkFrame:
    """A frame of one column of bytes: what is made of the batches of every partition."""
    return frame.mapInArrow(_Bytes(make), "made binary")


def _brought(frame: SparkFrame) -> list[bytes]:
    """The bytes of all partitions; what an executor refuses is said without the traces of all that stand between."""
    try:
        return [row[0] for row in frame.collect()]
    except Exception as error:  # of a class that depends on the kind of session
        refused = re.findall(REFUSED, str(error))
        if not refused:
            raise
        raise InputError(refused[-1].strip()) from None


class _Bytes:
    """Bytes as record batches."""

    def __init__(self, make: Callable[[Iterable[Batch]], Made]) -> None:
        self.make = make

    def __call__(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        import pyarrow as pa

        for made in self.make(batches):
            yield pa.RecordBatch.from_arrays([pa.array([made], pa.binary())], ["made"])


def _tables(batches: Iterable[Batch]) -> Iterator[pa.Table]:
    """Small batches put together to tables of many rows."""
    import pyarrow as pa

    some: list[Batch] = []
    for batch in batches:
        if batch.num_rows:
            some.append(batch)
        if sum(b.num_rows for b in some) >= ROWS_AT_ONCE:
            yield pa.Table.from_batches(some)
            some = []
    if some:
        yield pa.Table.from_batches(some)
