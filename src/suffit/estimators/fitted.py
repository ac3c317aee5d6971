"""The state of a fitted estimator: one frozen object, replaced whole, so that readers never see half a change."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..core.leave_one_out import LooRows
from ..core.model import Model
from ..core.solution import Solution
from ..data.arrays import Array, Cells, Matrix
from ..data.frame import read_frame
from ..data.rows import Rows
from ..data.warn import DataWarning, WarningCollector, warn_once
from ..posterior.calibrate import Calibration, calibrated
from ..posterior.prior_shift import shifted_prior
from ..tables.schema import Schema
from .batches import Batches


@dataclass(frozen=True)
class ClassPrior:
    """Where p(c) comes from: given for these classes, or else from the settings, or else the shares of the rows."""

    setting: Array | None = None  # in class order
    given: Array | None = None  # likewise, by with_prior: it stays while the classes do
    classes: tuple[Hashable, ...] = ()  # that it was given for
    smoothing: float = 0.0  # added to the rows of every class, for their shares

    def fixed(self, classes: tuple[Hashable, ...]) -> Array | None:
        """The prior that does not come from the rows, if there is one."""
        return self.given if self.given is not None and self.classes == classes else self.setting


@dataclass(frozen=True)
class Fitted:
    """Sums, the class prior that goes with them, and how labels and attributes are shown."""

    known: Model  # without batches that wait, whose family and columns are the same
    class_prior: ClassPrior
    labels: np.dtype[np.generic] | None
    floats: np.dtype[np.generic]
    decision_prior: Callable[[Array], Array]  # the log prior that predictions use
    calibration: Calibration | None = None
    remarks: WarningCollector = field(default_factory=WarningCollector, compare=False)  # what has been said of the rows
    batches: Batches | None = None

    @cached_property
    def model(self) -> Model:
        """The sums, added up when first asked; another thread that asks at the same time gets equal ones."""
        return self.known if self.batches is None else self.batches.total()

    @cached_property
    def prior(self) -> Array:
        """p(c), in class order."""
        fixed = self.class_prior.fixed(self.model.classes)
        if fixed is not None:
            return fixed
        n = self.model.counts["n"] + self.class_prior.smoothing
        return np.asarray(n / n.sum())

    @cached_property
    def solution(self) -> Solution:
        """Solved when first asked; another thread that asks at the same time gets an equal one."""
        with self.remarks.collected():
            return self.model.solved(self.decision_prior(self.prior), *tempering(self.calibration))

    @property
    def alone(self) -> Fitted:
        """The same with batches that wait made part of the model: for one that learns on its own from here."""
        return self if self.batches is None else replace(self, known=self.model, batches=None)

    def waiting(self, labels: np.dtype[np.generic]) -> tuple[Fitted, Batches] | None:
        """The same with room for batches that wait, and these; None where such a batch must be learned at once."""
        if labels != self.labels or self.class_prior.setting is not None or self.calibration is not None:
            return None  # a new class would have no prior, or end the calibration, with a warning
        if self.batches is not None and self.batches.open:
            return self, self.batches
        batches = Batches(self.model, self.remarks)  # begun anew after the model was asked for
        return replace(self, known=self.model, batches=batches), batches

    @property
    def given(self) -> bool:
        """Whether the prior was set with with_prior, and still holds."""
        return self.class_prior.given is not None and self.class_prior.classes == self.model.classes

    @property
    def maps(self) -> bool:
        """Whether probabilities go through the maps of a calibration."""
        return self.calibration is not None and bool(self.calibration.maps)

    def posterior(self, X: Matrix) -> Array:
        """p(c | x), calibrated where it is asked for.  # → (n, K)"""
        return self.solution.posterior(X) if self.calibration is None else self.calibration.posterior(self.solution, X)

    def posterior_under(self, prior: Array, X: Matrix) -> Array:
        """The same under another prior p(c)."""
        flat = self.solution.under(log_prior(prior))
        return flat.posterior(X) if self.calibration is None else self.calibration.posterior(flat, X)

    def shifted_prior(self, X: Matrix, weight: Array, steps: int) -> tuple[Array, float]:
        """The class prior of these rows by maximum likelihood, and how far from the maximum it may be."""
        possible = (self.prior > 0).astype(np.float64)  # a class of prior 0 explains no row
        return shifted_prior(self.posterior_under(possible, X), weight, self.prior, steps)

    def under(self, prior: Array | None) -> Fitted:
        """The same sums under another class prior, in class order; None: the shares of the rows."""
        shares = replace(self.class_prior, setting=None, given=None, classes=())
        class_prior = shares if prior is None else replace(self.class_prior, given=prior, classes=self.model.classes)
        new = replace(self.alone, class_prior=class_prior)
        solved = self.__dict__.get("solution")
        if solved is not None:  # the parameters are the same
            new.__dict__["solution"] = solved.under(self.decision_prior(new.prior))
        return new

    def prior_without(self, n: Array) -> Array:
        """The log prior of predictions for class counts n; a class without rows has none.  # (n, K) → (n, K)"""
        fixed = self.class_prior.fixed(self.model.classes)
        p = n + self.class_prior.smoothing if fixed is None else fixed * np.ones_like(n)
        p = np.where((n > 0) | [c in self.model.pinned for c in self.model.classes], p, 0.0)
        return np.where(p > 0, self.decision_prior(p / p.sum(axis=1, keepdims=True)), -np.inf)

    def leave_one_out(self, X: Matrix, rows: Rows, model: Model | None = None, nearly: bool = False) -> LooRows:
        """Learned rows, each under the sums (of this model, or of another of the same rows) without it."""
        self.solution.scorer.check(X)
        with self.remarks.collected():
            self.model.check_learned(X, rows)
            return (model or self.model).leave_one_out(X, rows, self.prior_without, nearly=nearly)

    def calibrated(self, method: str, X: Matrix, rows: Rows) -> Fitted:
        """The same with a calibration, fitted to these learned rows, each under the sums without it."""
        left = self.model.leave_one_out(X, rows, self.prior_without, one=True, nearly=True)
        return replace(self, calibration=calibrated(method, left, self.decision_prior(self.prior)))

    @property
    def classes(self) -> Cells:
        """The labels as an array of the type they came in."""
        labels, dtype = self.model.classes, self.labels
        if dtype is None or dtype.kind == "O":
            out = np.empty(len(labels), dtype=object)
            out[:] = labels
            return out
        return np.array(labels) if dtype.kind in "US" else np.array(labels, dtype=dtype)

    def __getstate__(self) -> dict[str, object]:
        made = ("model", "prior", "solution")  # a pickle holds the sums
        return {k: v for k, v in self.alone.__dict__.items() if k not in made}


class OneRow:
    """p(class | row) of one row of a table at a time: see ``GenerativeClassifier.scorer``."""

    def __init__(self, fitted: Fitted, schema: Schema, names: tuple[str, ...]) -> None:
        self.classes, self._fitted, self._schema, self._names = fitted.classes, fitted, schema, names

    def __call__(self, row: Mapping[str, object] | Iterable[object]) -> Array:
        """The probabilities, in the order of ``classes``."""
        cells = row if isinstance(row, Mapping) else dict(zip(self._names, row, strict=True))
        frame = read_frame({name: [value] for name, value in cells.items()})
        return self._fitted.posterior(self._schema.rows(frame))[0]


def next_state(
    old: Fitted, model: Model, setting: Array | None, labels: np.dtype[np.generic] | None, smoothing: float
) -> Fitted:
    """The state after the sums have changed: a prior that was given stays while the classes do, a calibration too."""
    same = old.model.classes == model.classes
    calibration = old.calibration
    if calibration is not None and not same:
        warn_once(
            DataWarning,
            f"the classes are now {list(model.classes)[:10]}: the calibration, of {list(old.model.classes)[:10]}, "
            "is gone; recalibrate(X, y) fits another",
        )
        calibration = None
    given = old.class_prior.given if same and old.given else None
    prior = ClassPrior(setting, given, () if given is None else model.classes, smoothing)
    return replace(old, batches=Batches(model, old.remarks), class_prior=prior, labels=labels, calibration=calibration)


def tempering(calibration: Calibration | None) -> tuple[float, float | None]:
    """The power and the outlier rate of a calibration; without one 1, and whatever the family has."""
    return (1.0, None) if calibration is None else (calibration.power, calibration.outlier_rate)


def log_prior(prior: Array) -> Array:
    """log p(c)."""
    with np.errstate(divide="ignore"):
        return np.log(prior)


def no_prior(prior: Array) -> Array:
    """0 for every class: a rule that takes no prior, except where there is nothing to decide."""
    return log_prior(prior) if prior.shape[-1] == 1 else np.zeros(prior.shape)
