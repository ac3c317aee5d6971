"""From posteriors to decisions: costs, thresholds, a reject option; and class priors from unlabelled rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.arrays import Array, Cells
from ..data.inputs import ClassesLike, LabelsLike, WeightsLike
from ..data.labels import Index
from ..data.settings import number
from ..data.warn import warn_once

Flags = NDArray[np.bool_]
Thresholds: TypeAlias = "float | Mapping[Hashable, float] | None"  # of the second class, or by class
Costs: TypeAlias = "ArrayLike | Mapping[Hashable, Mapping[Hashable, float]] | None"  # by class: true, decided


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """What was decided.  Unpacks as ``labels, expected_cost``.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The class decided for each row; ``reject_label`` for rejected rows.
    expected_cost : ndarray of shape (n_samples,)
        The expected cost of each decision; of a rejected row the cost of rejecting, or NaN where none was given.
    rejected : ndarray of bool of shape (n_samples,)
        Which rows are rejected.

    See Also
    --------
    Decision : Decisions inside scikit-learn's tools.
    mean_cost : The mean cost of decisions, once the true labels are known.

    Examples
    --------
    >>> rule = Rule.read(["ham", "spam"], cost={"ham": {"spam": 10}, "spam": {"ham": 1}}, reject=0.5)
    >>> labels, cost = rule(np.array([[0.02, 0.98], [0.3, 0.7], [0.8, 0.2]]))
    >>> labels.tolist(), cost.tolist()
    (['spam', None, 'ham'], [0.2, 0.5, 0.2])
    """

    labels: Cells
    expected_cost: Array
    rejected: Flags

    def __iter__(self) -> Iterator[Cells]:
        return iter((self.labels, self.expected_cost))

    def __repr__(self) -> str:
        priced = self.expected_cost[~np.isnan(self.expected_cost)]
        mean = f", mean expected cost {priced.mean():.4g}" if len(priced) else ""
        return f"Decisions({len(self.labels)} rows, {int(self.rejected.sum())} rejected{mean})"


# --- settings, as users give them


def cost_matrix(cost: Costs, classes: Sequence[Hashable]) -> Array:
    """Costs as an array, cost[true, decided], rows and columns in class order; None is 1 for every error.

    By label: ``{true: {decided: cost}}``, for every pair of different classes; a correct decision costs 0 unless given.

    >>> cost_matrix({"ham": {"spam": 10}, "spam": {"ham": 1}}, ["ham", "spam"])
    array([[ 0., 10.],
           [ 1.,  0.]])
    """
    k = len(classes)
    if cost is None:
        return 1.0 - np.eye(k)
    if isinstance(cost, Mapping):
        return _by_label(cost, classes)
    try:
        C = np.array(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"cost={cost!r}: must be a square array of numbers, or {{true: {{decided: cost}}}}") from None
    if C.shape != (k, k):
        raise ValueError(
            f"cost has shape {C.shape}, but there are {k} classes: it must be ({k}, {k}), cost[true, decided] in the "
            f"order {list(classes)}, or {{true: {{decided: cost}}}}"
        )
    _check_finite(C, classes)
    return C


def _by_label(cost: Mapping[Hashable, object], classes: Sequence[Hashable]) -> Array:
    position = {c: i for i, c in enumerate(classes)}
    C = np.full((len(classes), len(classes)), np.nan)
    np.fill_diagonal(C, 0.0)
    said = np.eye(len(classes), dtype=bool)
    for true, row in cost.items():
        if not isinstance(row, Mapping):
            raise ValueError(f"cost[{true!r}] is {row!r}; it must be a dict {{decided: cost}}")
        for label in (true, *row):
            if label not in position:
                raise ValueError(f"cost names {label!r}, which is not a class; the classes are {list(classes)}")
        for decided, value in row.items():
            C[position[true], position[decided]] = number(value, f"cost[{true!r}][{decided!r}]")
            said[position[true], position[decided]] = True
    if not said.all():
        true, decided = (classes[int(i)] for i in np.argwhere(~said)[0])
        raise ValueError(
            f"cost[{true!r}][{decided!r}] is missing: the cost of deciding {decided!r} when {true!r} is true"
        )
    _check_finite(C, classes)
    return C


def _check_finite(C: Array, classes: Sequence[Hashable]) -> None:
    if not np.isfinite(C).all():
        true, decided = (int(i) for i in np.argwhere(~np.isfinite(C))[0])
        raise ValueError(
            f"cost: found {C[true, decided]} for deciding {classes[decided]!r} when {classes[true]!r} is true; costs "
            "must be finite numbers (negative for a gain)"
        )


def check_reject_label(label: object, classes: Sequence[Hashable]) -> None:
    """Refuse what cannot be the label of rejected rows: no single value, a missing one (but None), or a class."""
    from ..data.rows import is_missing  # which needs SciPy, and this module none

    try:
        hash(label)
    except TypeError:
        raise ValueError(
            f"reject_label={label!r}: must be a single value that can be a label, such as None, -1 or '?'"
        ) from None
    if (label is not None and is_missing(label)) or label in classes:
        raise ValueError(f"reject_label={label!r} is NaN, or one of the classes {list(classes)}; choose another")


@dataclass(frozen=True)
class Threshold:
    """The least posterior that each class is decided with.

    ``leading`` is the class that a single threshold t of two classes is for: decided where p ≥ t, the other elsewhere.
    Otherwise the class with the largest p_c/t_c is decided, and rows where no class reaches its threshold are rejected.
    """

    least: Array
    leading: int | None = None

    @classmethod
    def read(cls, threshold: float | Mapping[Hashable, float], classes: Sequence[Hashable]) -> Threshold:
        """A number for the second of two classes, or ``{label: t}`` for every class (one of two is enough)."""
        k = len(classes)
        if not isinstance(threshold, Mapping):
            t = number(threshold, "threshold", 0.0, 1.0)
            if k != 2:
                raise ValueError(
                    f"threshold={threshold!r} is for two classes, but there are {k}; give {{label: t}} for every "
                    "class, or reject=1 − t to reject rows whose most probable class has a posterior below t"
                )
            return cls(np.array([1.0 - t, t]), 1)
        unknown = [c for c in threshold if c not in classes]
        if unknown:
            raise ValueError(f"threshold names {unknown[0]!r}, which is not a class; the classes are {list(classes)}")
        if k == 2 and len(threshold) == 1:
            ((label, t),) = threshold.items()
            t, i = number(t, f"threshold[{label!r}]", 0.0, 1.0), list(classes).index(label)
            return cls(np.array([t, 1.0 - t] if i == 0 else [1.0 - t, t]), i)
        missing = [c for c in classes if c not in threshold]
        if missing:
            raise ValueError(f"threshold[{missing[0]!r}] is missing; give a threshold for every class")
        return cls(np.array([number(threshold[c], f"threshold[{c!r}]", 0.0, 1.0, above_low=True) for c in classes]))

    @property
    def may_reject(self) -> bool:
        """Whether a posterior can stay below all thresholds: only where they add up to more than 1."""
        return self.leading is None and math.fsum(self.least) > 1.0

    def __call__(self, posterior: Array) -> tuple[NDArray[np.intp], Flags]:
        """The code of the class decided, and whether it has not reached its threshold."""
        if self.leading is not None:
            reached = posterior[:, self.leading] >= self.least[self.leading]
            return np.where(reached, self.leading, 1 - self.leading), np.zeros(len(posterior), bool)
        share = posterior / self.least
        codes = share.argmax(axis=1)
        return codes, (share.max(axis=1) < 1.0) if self.may_reject else np.zeros(len(posterior), bool)


# --- deciding


@dataclass(frozen=True, eq=False)
class Rule:
    """Decides d = argmin_d Σ_c p(c | x)·cost[c, d], or rejects where ``reject`` is less than that; or by thresholds."""

    classes: Cells
    cost: Array
    reject: float | None
    threshold: Threshold | None
    novelty: float | None
    reject_label: Hashable

    @classmethod
    def read(
        cls,
        classes: Sequence[Hashable] | Cells,
        cost: Costs = None,
        reject: float | None = None,
        threshold: Thresholds = None,
        novelty: float | None = None,
        reject_label: Hashable = None,
    ) -> Rule:
        """The settings of ``decide``, checked."""
        labels = classes.tolist() if isinstance(classes, np.ndarray) else list(classes)
        if threshold is not None and (cost is not None or reject is not None):
            other = "cost" if cost is not None else "reject"
            raise ValueError(
                f"threshold and {other} are both given: thresholds decide by posterior, costs by expected cost; give "
                "one of them"
            )
        check_reject_label(reject_label, labels)
        C = cost_matrix(cost, labels)
        rule = cls(
            classes if isinstance(classes, np.ndarray) else np.array(labels),
            C,
            None if reject is None else number(reject, "reject"),
            None if threshold is None else Threshold.read(threshold, labels),
            None if novelty is None else number(novelty, "novelty", 0.0, 1.0, above_low=True),
            reject_label,
        )
        rule._warn_if_never_rejected()
        return rule

    def _warn_if_never_rejected(self) -> None:
        """Warn where some decision always costs less than ``reject``, in expectation.

        The least expected cost is at most max_c cost[c, d] for any one decision d, and max_c mean_d cost[c, d].
        """
        most = min(self.cost.max(axis=0).min(), self.cost.mean(axis=1).max())
        if self.reject is not None and self.reject >= most:
            warn_once(
                UserWarning,
                f"reject={self.reject:g} rejects no row: the least expected cost is never above {most:g}",
            )

    @property
    def may_reject(self) -> bool:
        """Whether there is any way for a row to be rejected."""
        by_threshold = self.threshold is not None and self.threshold.may_reject
        return self.reject is not None or self.novelty is not None or by_threshold

    def __call__(self, posterior: Array, unlike: Flags | None = None) -> Decisions:
        """Decisions for rows with these posteriors; ``unlike`` marks those that are rejected for their novelty."""
        p = np.ascontiguousarray(posterior.T)
        expected = self.cost.T @ p  # (decided, true) · (true, n)
        rejected = np.zeros(len(posterior), bool) if unlike is None else np.array(unlike, dtype=bool)
        if self.threshold is not None:
            codes, short = self.threshold(posterior)
            paid = expected[codes, np.arange(len(codes))]
            rejected |= short
        else:
            size = np.abs(self.cost).T @ p if (self.cost < 0).any() else expected
            codes, paid = _cheapest(expected, p, size)
        if self.reject is not None:
            rejected |= paid > self.reject
        price = np.nan if self.reject is None else self.reject
        return Decisions(self._labels(codes, rejected), np.where(rejected, price, paid), rejected)

    def _labels(self, codes: NDArray[np.intp], rejected: Flags) -> Cells:
        """The classes as they come, or in a type that holds the reject label too where rows may be rejected."""
        labels = self.classes[codes]
        if not self.may_reject:
            return labels
        single = isinstance(self.reject_label, str | float | int | np.generic)  # what an array of its own kind can hold
        kind = np.asarray(self.reject_label).dtype if single else np.dtype(object)
        text, numbers = (self.classes.dtype.kind + kind.kind in both for both in (("UU",), _NUMBERS))
        labels = labels.astype(np.result_type(labels.dtype, kind) if text or numbers else object)
        label = np.empty(1, dtype=object)
        label[0] = self.reject_label  # one value, even where it is a tuple
        labels[rejected] = label
        return labels


def _cheapest(expected: Array, p: Array, size: Array) -> tuple[NDArray[np.intp], Array]:
    """The decision of least cost for each column, and that cost; of equal ones, that of the more probable class.

    Costs are equal where they differ by no more than what they round to, sums of K terms whose ``size`` adds up to
    this: so decides predict, too.  # (K, n), (K, n), (K, n) → (n,), (n,)
    """
    rows, first = np.arange(p.shape[1]), expected.argmin(axis=0)
    least, slack = expected[first, rows], len(p) * np.finfo(np.float64).eps
    equal = expected - least <= slack * (size + size[first, rows])
    return np.where(equal, p, -1.0).argmax(axis=0), least


_NUMBERS = tuple(a + b for a in "iuf" for b in "iuf")


def mean_cost(
    y_true: LabelsLike,
    y_pred: LabelsLike,
    *,
    cost: Costs = None,
    reject: float | None = None,
    reject_label: Hashable = None,
    labels: ClassesLike = None,
    sample_weight: WeightsLike = None,
) -> float:
    """Return the mean cost of decisions, Σ w·cost[true, decided] / Σ w, with ``reject`` for a rejected row.

    As a score for searches: ``make_scorer(mean_cost, greater_is_better=False, cost=…)``.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    y_pred : array-like of shape (n_samples,)
        The decisions; None or ``reject_label`` where a row is rejected.
    cost : array-like of shape (n_classes, n_classes) or dict, optional
        ``cost[true, decided]`` in the order of ``labels``, or ``{true: {decided: cost}}``; by default 1 for an error.
    reject : float, optional
        The cost of a rejected row.
    reject_label : object, default None
        The label of rejected rows.
    labels : array-like of shape (n_classes,), optional
        The classes that rows and columns of a cost array stand for; by default those that occur, sorted.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        The mean cost.

    Examples
    --------
    >>> cost = {"ham": {"spam": 9}, "spam": {"ham": 1}}
    >>> mean_cost(["ham", "ham", "spam"], ["ham", "spam", None], cost=cost, reject=3)
    4.0
    """
    true, decided = (np.asarray(y, dtype=object).tolist() for y in (y_true, y_pred))
    if len(true) != len(decided) or not true:
        raise ValueError(
            f"mean_cost: y_true has {len(true)} labels and y_pred {len(decided)}; they must have the same length, "
            "1 or more"
        )
    check_reject_label(reject_label, ())
    rejected = np.array([d is None or d == reject_label for d in decided])
    if rejected.any() and reject is None:
        raise ValueError(f"mean_cost: {rejected.sum()} rows are rejected; set reject=…, the cost of a rejection")
    used = [*true, *(d for d, r in zip(decided, rejected, strict=True) if not r)]
    known = Index.of(used) if labels is None else Index(tuple(np.asarray(labels, dtype=object).tolist()))
    if labels is None and isinstance(cost, Mapping):
        known = known.union(Index.of(cost))
    odd = [label for label in used if label not in known.position]
    if odd:
        raise ValueError(f"mean_cost: {odd[0]!r} is not among labels={list(known.labels)}")
    C = cost_matrix(cost, known.labels)
    paid = np.full(len(true), 0.0 if reject is None else number(reject, "reject"))
    rows = np.flatnonzero(~rejected)
    paid[rows] = [C[known.position[true[i]], known.position[decided[i]]] for i in rows]
    return float(np.average(paid, weights=None if sample_weight is None else np.asarray(sample_weight, dtype=float)))


# --- priors
