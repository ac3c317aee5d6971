"""What the parts of a loaded model must have in common, so that no loop reads beyond its arrays.

Shapes have been compared with axes; here axes are compared with columns and families, labels with what they stand for,
and numbers with the range that they can have.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..core.family import Family
from ..core.model import CLASS_COUNTS, Model
from ..core.stats import CATEGORY, CLASS, FEATURE, PATTERN, BlockSums, Layout, Stats
from ..data.arrays import Array, Matrix
from ..data.frame import Frame
from ..data.labels import Index
from ..data.rows import Rows
from ..data.vocabulary import Vocabulary
from ..data.warn import no_warnings
from ..estimators.base import GenerativeEstimator
from ..estimators.fitted import ClassPrior, Fitted
from ..families.counts.binned import Binned
from ..families.counts.categorical import CATEGORIES, Categorical
from ..families.counts.multinomial import MISSING_COUNT, WORDS, Multinomial
from ..families.counts.partition import NODE, NODES, Partition
from ..families.counts.scores import DENSE_LIMIT
from ..families.counts.text import WORDS as TOKENS
from ..families.counts.text import Text
from ..families.elementwise.shape import ELEMENTWISE, ORDER, Elementwise
from ..families.gaussian.diagonal import MOMENTS, Gaussian
from ..families.gaussian.few_rows.kept import KEPT, LARGEST, ROW
from ..families.gaussian.joint import MultivariateGaussian
from ..families.product import Product
from ..posterior.calibrate import Calibration
from ..tables.schema import BlockSpec, Schema
from .container import refuse

READS = {"numbers", "categories", "texts", "missing", "codings", "places"}
METHODS = ("temperature", "isotonic")
MOST_CATEGORIES = 1 << 25  # of all columns, those that no row has among them
TRIED = 3  # classes whose means are predicted
NO_ROWS = Rows(Index(()), np.empty(0, np.int32))


def check_model(estimator: GenerativeEstimator, fitted: Fitted) -> None:
    """Refuse parts that do not belong together."""
    model = fitted.known
    classes = model.counts.axes[CLASS]
    if model.counts.layout is not CLASS_COUNTS or not model.counts["n"].any():
        refuse("it has no rows of any class")
    if not model.pinned <= set(classes.labels):
        refuse("it keeps a class that it does not have")
    schema: Schema | None = estimator.__dict__.get("_seen")
    own: tuple[str, ...] = estimator.__dict__.get("_names_in", ())
    if schema is not None:
        _check_schema(schema, own)
    wide = len(model.columns) if schema is None else len(own)
    names = estimator.__dict__.get("feature_names_in_")
    if estimator.n_features_in_ != wide:
        refuse(f"it has {wide} columns, and is said to have {estimator.n_features_in_!r:.20}")
    if names is not None and len(names) != wide:
        refuse(f"it has {wide} columns, and names for {len(names)}")
    for family, X, stats in _blocks(model, schema):
        if stats.axes[CLASS] != classes:
            refuse("it has sums of other classes than its own")
        _check_block(family, X, stats)
    _check_prior(fitted.class_prior, len(classes))
    if fitted.calibration is not None:
        _check_calibration(fitted.calibration, len(classes))
    if fitted.classes.tolist() != list(classes.labels) and fitted.labels is not None and fitted.labels.kind not in "mM":
        refuse("it has labels that are not of their own type")


def check_read(estimator: GenerativeEstimator) -> None:
    """Refuse a loaded estimator that cannot predict; what is to be said of its sums is said when they are used."""
    with no_warnings() as unsaid:
        _predict_typical(estimator)
    if unsaid:
        estimator._fit = replace(estimator._fit)  # to be solved anew, and say it


def check_written(estimator: GenerativeEstimator) -> None:
    """Refuse to write an estimator that could not be read, for it cannot predict."""
    if "solution" in estimator._fit.__dict__:
        _predict_typical(estimator)
        return
    trial = copy.copy(estimator)
    trial._fit = replace(trial._fit)
    with no_warnings():
        _predict_typical(trial)


def _predict_typical(estimator: GenerativeEstimator) -> None:
    """The posteriors of the means of some classes must be probabilities."""
    fitted: Fitted = estimator._fit
    posterior = fitted.posterior(estimator._typical_rows(min(TRIED, len(fitted.model.classes))))
    if not (np.isfinite(posterior).all() and np.allclose(posterior.sum(axis=1), 1.0)):
        refuse("its sums give no probabilities")


def _blocks(model: Model, schema: Schema | None) -> Iterator[tuple[Family, Matrix, Stats]]:
    """The family, no rows and the sums of each block."""
    if schema is None:
        yield model.family, np.empty((0, len(model.columns))), cast("Stats", model.sums)
        return
    assert isinstance(model.sums, BlockSums)
    family = cast("Product", model.family)
    if len(model.sums.parts) != len(schema.specs):
        refuse("it has sums of other blocks than its own")
    nothing = Frame({}, 0, None)  # type: ignore[arg-type]
    for spec, block, stats in zip(schema.specs, family.blocks, model.sums.parts, strict=True):
        if (block.columns, block.power, block.scales) != (spec.names, spec.power, spec.scales):
            refuse("its blocks are not those of its schema")
        _check_places(spec, block.family)
        yield block.family, spec.matrix(nothing), stats


def shows_columns(stats: Stats) -> bool:
    """Whether sums tell how many columns there are: names that take no room could be any number of them."""
    by_feature = any(FEATURE in dims for dims in stats.layout.dims.values())
    return by_feature or (ROW in stats.axes and len(stats.axes[ROW]) > 0)


def _check_block(family: Family, X: Matrix, stats: Stats) -> None:
    """Refuse sums that this family would not collect of its columns."""
    p = len(family.columns)
    layout, fixed = _collected(family, X)
    if stats.layout is not layout and not (layout.coarser is not None and layout.coarser.leads_to(stats.layout)):
        refuse(f"it has sums of the kind {stats.layout.name!r} for columns of the family {family.key!r}")
    for axis, labels in stats.axes.items():
        if axis == CLASS:
            continue
        if axis == FEATURE and labels != Index.range(p):
            refuse(f"it has {len(labels)} columns in its sums, and names for {p}")
        if axis in LABELS:
            LABELS[axis](family, labels, p)
        elif axis in fixed and labels != fixed[axis]:
            refuse(f"it has other labels along {axis!r} than its family")


def _collected(family: Family, X: Matrix) -> tuple[Layout, Mapping[str, Index]]:
    """The layout of the sums that a family collects, and the axes that every row has."""
    known = COLLECTED.get(type(family).collect)
    if known is not None:
        return known(family)
    sums = family.collect(X, NO_ROWS)
    return sums.layout, {k: v for k, v in sums.axes.items() if k not in (*sums.layout.growing, CLASS)}


COLLECTED: dict[Any, Callable[[Any], tuple[Layout, Mapping[str, Index]]]] = {  # for which no kernel is needed
    Elementwise.collect: lambda family: (ELEMENTWISE, {ORDER: Index.range(family.order)}),
    Gaussian.collect: lambda family: (MOMENTS, {}),
    MultivariateGaussian.collect: lambda family: (KEPT[family._layout()], {}),
    Categorical.collect: lambda family: (CATEGORIES, {}),
    Binned.collect: lambda family: (CATEGORIES, {}),
    Multinomial.collect: lambda family: (WORDS, {}),
    Partition.collect: lambda family: (NODES, {NODE: Index.range(family.n_nodes)}),
    Text.collect: lambda family: (family.layout, {}),
}


# --- labels that stand for something


def _check_patterns(family: Family, labels: Index, p: int) -> None:
    """Which columns are there: a bit for each."""
    if not all(type(label) is bytes and len(label) == (p + 7) // 8 for label in labels.labels):
        refuse("it has missing values in other columns than its own")


def _check_rows(family: Family, labels: Index, p: int) -> None:
    """The numbers of a row, or NaN."""
    if not all(type(label) is bytes and len(label) == 8 * p for label in labels.labels):
        refuse("it has rows of another length than its own")
    x = np.frombuffer(b"".join(labels.labels))  # type: ignore[arg-type]
    if not (np.isnan(x) | (np.abs(x) < LARGEST)).all():
        refuse("it has rows that are not finite")


def _check_missing_counts(family: Family, labels: Index, p: int) -> None:
    """Places of words."""
    if not all(type(label) is int and 0 <= label < p for label in labels.labels):
        refuse("it has missing counts of words that it does not have")


def _check_categories(family: Family, labels: Index, p: int) -> None:
    """Pairs of a column and its category; of bins, which bin."""
    pairs = [(pair[0], pair[1]) for pair in labels.labels if type(pair) is tuple and len(pair) == 2]
    if len(pairs) < len(labels) or not all(type(j) is int and 0 <= j < p for j, _ in pairs):
        refuse("it has categories of columns that it does not have")
    if isinstance(family, Binned):
        most = [len(edges) for edges in family.column_edges()]
        if not all(type(b) is int and 0 <= b <= most[j] for j, b in pairs):
            refuse("it has more bins than edges between them")
    if isinstance(family, Categorical):
        least = family.least_categories
        each = least if isinstance(least, tuple) else (least or 0,) * min(p, MOST_CATEGORIES)
        if len(each) != p or min(each, default=0) < 0:
            refuse(f"it has numbers of categories for {len(each)} columns, and {p} columns")
        tops = _tops(pairs)
        if sum(each) + sum(tops.values()) + len(pairs) > MOST_CATEGORIES:
            refuse(f"its columns have more than {MOST_CATEGORIES} categories")


def _check_words(family: Family, labels: Index, p: int) -> None:
    """Words, or the numbers of hashes."""
    width = cast("Text", family).hashing
    if labels != Index.range(width) if width is not None else not isinstance(labels.labels, Vocabulary):
        refuse("it has other words than its family")


def _tops(pairs: list[tuple[int, object]]) -> dict[int, int]:
    """The largest integer category of each column that makes all integers below it categories, too."""
    found: dict[int, int] = {}
    for j, v in pairs:
        if type(v) is int and v < DENSE_LIMIT:
            found[j] = max(found.get(j, 0), v)
    return found


LABELS: dict[str, Callable[[Family, Index, int], None]] = {
    PATTERN: _check_patterns,
    ROW: _check_rows,
    MISSING_COUNT: _check_missing_counts,
    CATEGORY: _check_categories,
    TOKENS: _check_words,
}


# --- what was chosen


def _check_schema(schema: Schema, names: tuple[Hashable, ...]) -> None:
    if len(set(names)) < len(names) or {c.column for c in schema.choices} != set(names):
        refuse("it has other columns in its schema than in its table")
    if schema.n_plain is not None and not 0 <= schema.n_plain <= len(schema.specs):
        refuse(f"it has {len(schema.specs)} blocks, and {schema.n_plain} of them are to be the first")
    if any(spec.reads == "places" for spec in schema.plain().specs):
        refuse("it has a partition among the blocks of its density")
    _check_share(schema.outlier_rate, "outlier rate")
    for spec in (*schema.specs, *schema.supports):
        _check_spec(spec, set(names))


def _check_spec(spec: BlockSpec, names: set[Hashable]) -> None:
    if spec.reads not in READS or not set(spec.columns) <= names or len(set(spec.columns)) < len(spec.columns):
        refuse("it has a block of columns that are not its own")
    if len(spec.codings) != (len(spec.columns) if spec.reads in ("codings", "places") else 0):
        refuse("it has a block whose columns are coded in no way, or in two")
    if not (np.isfinite(spec.power) and spec.power >= 0):
        refuse(f"it has a block of weight {spec.power!r}")
    if spec.reads == "categories" and not isinstance(spec.family, Categorical):
        refuse(f"it has categories of the family {spec.family.key!r}")
    _check_places(spec, spec.family)
    if (spec.reads == "texts") != isinstance(spec.family, Text) or (spec.reads == "texts" and len(spec.columns) != 1):
        refuse("it has texts of another family, or another family of texts")
    for coding in spec.codings:
        if len(coding.scales) not in (0, coding.width) or not all(0 < s < np.inf for s in coding.scales):
            refuse("it has a column that is divided by no number")
        edges = np.asarray(coding.edges)
        if (coding.edges and coding.categories) or not (np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
            refuse("it has a column with bins that are none")


def _check_places(spec: BlockSpec, family: Family) -> None:
    """That a partition is of the codes of its columns; its cuts were checked when it was made."""
    sizes = family.sizes if isinstance(family, Partition) else None
    if sizes != (tuple(coding.width for coding in spec.codings) if spec.reads == "places" else None):
        refuse("it has a partition of other codes than those of its columns")


def _check_share(value: float, name: str) -> None:
    if not 0 <= value < 1:
        refuse(f"its {name} is {value!r}, and must be at least 0 and below 1")


def _check_probabilities(p: Array | None, shape: tuple[int, ...], name: str) -> None:
    if p is not None and not (p.shape == shape and np.isfinite(p).all() and (p >= 0).all() and p.sum() > 0):
        refuse(f"its {name} is none")


def _check_prior(prior: ClassPrior, n: int) -> None:
    _check_probabilities(prior.setting, (n,), "class prior")
    _check_probabilities(prior.given, (len(prior.classes),), "class prior")
    if not 0 <= prior.smoothing < np.inf:
        refuse(f"its prior_smoothing is {prior.smoothing!r}")


def _check_calibration(calibration: Calibration, n: int) -> None:
    if calibration.method not in METHODS or not 0 <= calibration.power < np.inf:
        refuse("its calibration is none")
    _check_share(calibration.outlier_rate, "outlier rate")
    log_prior = calibration.log_prior
    if log_prior.shape != (n,) or not (log_prior <= 0).all() or np.isneginf(log_prior).all():
        refuse("its calibration is for other classes")
    maps = calibration.maps
    if maps and len(maps) != {1: 0, 2: 1}.get(n, n):
        refuse("its calibration is for other classes")
    for x, y in maps:
        if not (x.ndim == 1 and len(x) > 0 and x.shape == y.shape and (np.diff(x) > 0).all()):
            refuse("its calibration maps no probabilities")
        if not (np.isfinite(x).all() and (y >= 0).all() and (y <= 1).all() and (np.diff(y) >= 0).all() and y[-1] > 0):
            refuse("its calibration maps no probabilities")
