"""Fits inside a database: the sums are computed by SQL, and nothing but sums (and a sample to choose by) leaves it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..data.column import as_objects
from ..data.errors import InputError
from ..data.rows import is_missing
from ..data.validate import read_labels
from ..estimators.base import GenerativeEstimator
from ..estimators.categorical import CategoricalNB
from ..estimators.tables import GenerativeClassifier
from ..tables.schema import BlockSpec, Schema
from ..tables.structures import DENSITIES
from .arrow import check_columns, posterior_names
from .parts import NO_ROWS, holding, plan, recalibrated, total
from .sample import LEAST_OF_CLASS, SAMPLE_ROWS, RowSample
from .sql import Source, identifier, literal
from .sql_posterior import SqlScores, posterior_text
from .sql_sums import SqlSums
from .without_rows import without_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Connection(Protocol):
    """What a database must have; a sample of its rows needs more, which DuckDB's has."""

    def execute(self, query: str, /) -> Any:
        """Run a statement: something with ``fetchall`` and ``description``."""


NO_NUMBERS = ("VARCHAR", "STRING", "BLOB", "BINARY", "DATE", "TIME", "ENUM", "UUID", "STRUCT", "MAP", "INTERVAL")


def fit_sql(
    connection: Connection,
    query: str,
    *,
    target: str,
    estimator: GenerativeEstimator | None = None,
    sample_weight: str | None = None,
    sample_rows: int = SAMPLE_ROWS,
    seed: int = 0,
) -> Any:
    """Return an estimator fitted on the rows of a query, whose sums the database computes.

    Parameters
    ----------
    connection : DuckDB connection
        Or any other whose ``execute(sql)`` returns something with ``fetchall()``, and which knows GROUPING SETS (where
        there are categories); where it has no ``USING SAMPLE``, give an estimator that is fitted.
    query : str
        ``SELECT …``; every column but those of labels and weights is a column of the model.
    target : str
        The column of the labels.
    estimator : estimator, optional
        By default a ``GenerativeClassifier``, whose ``structure="auto"`` is taken as "densities" here: trees are too
        long for SQL.  A fitted one keeps its choices (families, structures, bins), and its
        rows do not count: no row leaves the database.
    sample_weight : str, optional
        The column of the weights of the rows.
    sample_rows : int, default 20,000
        Rows that leave the database for what is chosen from values, and for ``calibrate``; none do where an estimator
        has nothing to choose, as GaussianNB.
    seed : int, default 0
        Of that sample.

    Returns
    -------
    estimator
        Of the class and settings of the one given, which stays as it is.

    Examples
    --------
    >>> import duckdb, suffit
    >>> db = duckdb.connect()
    >>> _ = db.execute("CREATE TABLE t AS SELECT i % 2 AS y, i + 10.0 * (i % 2) AS x FROM range(6) AS r(i)")
    >>> fit_sql(db, "SELECT * FROM t", target="y", estimator=suffit.GaussianNB()).theta_.tolist()
    [[2.0], [13.0]]
    """
    query = query.strip().rstrip(";")
    estimator = _with_densities(GenerativeClassifier() if estimator is None else estimator)
    names = _names(connection, query, target, sample_weight, estimator)
    sample = None
    planned = without_rows(estimator, len(names), names)
    if planned is None:
        if not hasattr(connection, "sql"):
            raise InputError(
                f"{type(estimator).__name__} chooses from a sample of the rows, which only a DuckDB connection gives; "
                "fit it on some rows of your own, and give it fitted"
            )
        sample = _sampled(connection, query, target, sample_weight, names, sample_rows, seed)
        planned = plan(estimator, sample)
    absent = [name for name in getattr(planned, "feature_names_in_", names) if name not in names]
    check_columns(names, absent)
    sums = SqlSums(_schema(planned, names), Source(query, target, sample_weight))
    known = planned._fitted.known
    drop = getattr(planned, "missing_target", "error") == "drop"
    model = sums.model(lambda text: connection.execute(text).fetchall(), known.family, known.columns, drop)
    labels = read_labels(as_objects(list(model.classes)), type(planned).__name__).dtype
    return recalibrated(total([holding(planned, model, labels)]), sample)


def sql_of(
    estimator: GenerativeEstimator, query: str, *, target: str, sample_weight: str | None = None
) -> dict[str, str]:
    """Return the statements that add up the sums of a fitted estimator's kind, as text for any engine.

    Parameters
    ----------
    estimator : estimator
        Fitted, on a sample, say: its choices are kept.
    query : str
        ``SELECT …``, with the columns that the estimator has.
    target : str
        The column of the labels.
    sample_weight : str, optional
        The column of the weights of the rows.

    Returns
    -------
    dict
        What is added up → statement.

    Examples
    --------
    >>> import pandas as pd, suffit
    >>> model = suffit.PoissonNB().fit(pd.DataFrame({"clicks": [0, 3, 1]}), ["a", "b", "a"])
    >>> list(sql_of(model, "SELECT * FROM visits", target="class"))
    ['classes', 'elementwise']
    """
    planned = plan(estimator)
    names = list(getattr(planned, "feature_names_in_", planned._fitted.known.columns))
    return SqlSums(_schema(planned, names), Source(query.strip().rstrip(";"), target, sample_weight)).statements()


def _with_densities(estimator: GenerativeEstimator) -> GenerativeEstimator:
    """The same without partitions among what it chooses from."""
    choosing = isinstance(estimator, GenerativeClassifier) and not estimator.__sklearn_is_fitted__()
    if not choosing or estimator.structure != "auto":
        return estimator
    return copy.copy(estimator).set_params(structure=DENSITIES)


def _names(
    connection: Connection, query: str, target: str, weight: str | None, estimator: GenerativeEstimator
) -> list[str]:
    """The columns of the model; those of labels and weights must be there."""
    found = connection.execute(f"SELECT * FROM ({query}) AS source LIMIT 0").description
    types = {d[0]: str(d[1]) for d in found}
    names = [d[0] for d in found]
    check_columns(names, [target, *([weight] if weight else [])])
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"column {twice[0]!r} is in the query twice; give one of them another name (AS …)")
    names = [name for name in names if name not in (target, weight)]
    if not names:
        raise InputError("the query has no columns beside labels and weights; a fit needs at least one")
    if not isinstance(estimator, GenerativeClassifier | CategoricalNB):
        text = [name for name in names if types[name].startswith(NO_NUMBERS)]
        if text:
            raise InputError(
                f"column {text[0]!r}: expected numbers, found {types[text[0]]}; leave it out of the query, or use "
                "GenerativeClassifier, which takes categories"
            )
    return names


def _sampled(
    connection: Connection, query: str, target: str, weight: str | None, names: Sequence[str], most: int, seed: int
) -> RowSample:
    """Some rows that leave the database: a sample of all, and a few of every class that it has none of."""
    wanted = ", ".join(identifier(name) for name in (target, *names, *([] if weight is None else [weight])))
    y, w = identifier(target), "COUNT(*)" if weight is None else f"SUM({identifier(weight)})"
    rows = f"(SELECT {wanted} FROM ({query}) AS source WHERE {y} IS NOT NULL) AS labelled"

    def taken(which: str) -> RowSample:
        table = cast("DuckDBPyConnection", connection).sql(f"SELECT * FROM {rows} {which}").to_arrow_table()
        weights = None if weight is None else table[weight].to_numpy()
        return RowSample.of(table.select(list(names)), table[target], weights, most)

    sample = taken(f"USING SAMPLE reservoir({int(most)} ROWS) REPEATABLE ({int(seed)})")
    if sample.X is None:
        raise InputError(NO_ROWS)
    classes = dict(connection.execute(f"SELECT {y}, {w} FROM {rows} GROUP BY {y}").fetchall())
    for label in classes.keys() - sample.classes.keys():
        if not is_missing(label):
            sample = sample + taken(f"WHERE {y} = {literal(label)} LIMIT {LEAST_OF_CLASS}")
    return replace(sample, classes={label: float(classes.get(label, n)) for label, n in sample.classes.items()})


def _schema(planned: GenerativeEstimator, names: Sequence[str]) -> Schema:
    """The blocks of a planned estimator; of one that is not for tables, one block of all columns."""
    if isinstance(planned, GenerativeClassifier):
        return planned.schema_
    if planned._grows:
        raise InputError(f"no SQL for {type(planned).__name__}, whose columns are words; use a table of counts")
    reads = "categories" if isinstance(planned, CategoricalNB) else "numbers"
    return Schema((BlockSpec(planned._fitted.known.family, tuple(names), reads),), ())


def posterior_sql(model: GenerativeEstimator, query: str, keep: Sequence[str] = ()) -> str:
    """Return a query for p(class | row) of the rows of another, in SQL that most databases read.

    A NULL is a missing value and drops out; a category never seen is taken as ``predict_proba`` takes it.  The
    probabilities of a row are NULL where ``predict_proba`` refuses it (a value outside the support of a family), and
    where more than six jointly normal columns have a pattern of missing values that was not learned, or counts of words
    are missing.

    Parameters
    ----------
    model : estimator
        Fitted.
    query : str
        ``SELECT …``, with the columns of the model.
    keep : sequence of str
        Columns of the query to have beside the probabilities, such as a key.

    Returns
    -------
    str
        Its columns are those of ``keep``, then ``p(class)`` for each class.

    Examples
    --------
    >>> import duckdb, pandas as pd, suffit
    >>> model = suffit.GaussianNB().fit(pd.DataFrame({"x": [0.0, 2.0, 3.0, 5.0]}), ["a", "a", "b", "b"])
    >>> rows = "SELECT 2.5 AS x UNION ALL SELECT NULL"
    >>> duckdb.connect().execute(posterior_sql(model, rows)).fetchall()
    [(0.5, 0.5), (0.5, 0.5)]
    """
    fitted = model._fitted
    if fitted.maps:
        raise InputError(
            "no SQL for an isotonic calibration; use calibrate='temperature', or predict_proba on the rows"
        )
    solution, sums = fitted.solution, fitted.model.sums
    names = list(getattr(model, "feature_names_in_", fitted.model.columns))
    scores = SqlScores(_schema(model, names), solution, getattr(sums, "parts", [sums]))
    return posterior_text(query.strip().rstrip(";"), scores, solution, posterior_names(model)[1:], keep)
