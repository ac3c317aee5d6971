"""What every estimator has: one reference to a model of sums, replaced whole by whatever changes it."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import validate_data

from ..calibrate import Calibration, calibrated
from ..decide import MOST_STEPS, SETTLED, Decisions, Rule, number, shifted_prior, whole_number
from ..explain import Explanation
from ..family import Family
from ..forms import LogisticForm
from ..frame import table_form
from ..model import Model, RowScorer, RowsLeftOut, Solution
from ..schema import apart
from ..stats import CLASS, Array, Index
from ..summary import Summary
from ..table import Codes, InputError, Matrix, Rows, encode, freeze
from .fitted import Fitted, Pending, PendingRows, PendingSums, log_prior
from .held_out import CrossValidation, cross_validated
from .novelty import DRAWS, Draws, Unit, holes_of, novelties
from .reading import (
    Prior,
    adding_up,
    checked_prior,
    column_names,
    common_dtype,
    prior_in_order,
    read_labels,
    read_weight,
)


class GenerativeEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit, update, merge, forget, predict, score and sample, for any family.

    A subclass says which family its settings make (``_family``) and what the class prior is (``_prior``).
    """

    _accept_sparse: Any = ("csr", "csc")
    _fit: Fitted
    _pending: Pending | None  # batches that are not yet part of the model
    n_features_in_: int

    # --- what a subclass provides

    def _family(self, n_features: int) -> Family:
        raise NotImplementedError

    def _prior(self) -> Prior:
        """The class prior set by the user: by label or in class order, "uniform", or None for the class shares."""
        return None

    # --- reading input

    def _read_X(self, X: Any) -> Matrix:
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub" and X.size:
            return X  # what check_array would return after some 40 µs
        X = check_array(
            X,
            accept_sparse=self._accept_sparse,
            dtype="numeric",
            ensure_all_finite=False,
            estimator=self,
            input_name="X",
        )
        return X.tocsr() if sparse.issparse(X) else X  # type: ignore[attr-defined]

    def _read_X_known(self, X: Any) -> Matrix:
        """X for a fitted estimator: the same columns as before."""
        self._fitted  # noqa: B018
        read = self._read_X(X)
        if type(X) is np.ndarray and X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"):
            return read
        validate_data(self, X, reset=False, skip_check_array=True)
        return read

    def _read_X_more(self, X: Any) -> Matrix:
        """X of a further batch; where columns may grow, they may here."""
        return self._read_X_known(X)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, read_X: Callable[[Any], Matrix]
    ) -> tuple[Matrix, NDArray[Any], Rows]:
        y = read_labels(y, type(self).__name__)
        X = read_X(X)
        if X.shape[0] != len(y):
            check_consistent_length(X, y)
        weight = read_weight(sample_weight, X)
        labels, codes = encode(y)
        return X, y, Rows(Index(tuple(labels)), freeze(codes), None if weight is None else freeze(weight))

    # --- changing the model: whole or not at all

    @contextmanager
    def _unchanged_on_error(self) -> Iterator[None]:
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.update(before)
            for name in self.__dict__.keys() - before.keys():
                del self.__dict__[name]
            raise

    def _adopt(self, model: Model, labels: np.dtype[Any] | None, floats: np.dtype[Any], anew: bool = False) -> None:
        """Make this the model, with the settings as they are now; solved when first asked."""
        old: Fitted | None = None if anew else self.__dict__.get("_fit")
        prior = self._checked_prior(self._prior(), model.classes)
        given = old is not None and old.given and old.model.classes == model.classes
        if given and old is not None:
            prior = old.prior  # a prior set with with_prior stays while the classes do
        prior = self._default_prior(model) if prior is None else prior
        if self._grows:
            self.n_features_in_ = len(model.columns)
        calibration = old.calibration if old is not None and old.model.classes == model.classes else None
        self._fit = Fitted(model, prior, given, labels, floats, self._decision_prior, calibration)
        self._settings = self._current_settings()

    def _adopt_as_before(self, model: Model) -> None:
        """Make this the model, under the settings that its rows came under; those of now are for the next batch."""
        old, settings = self._fit, self._settings
        self._adopt(model, old.labels, old.floats)
        self._settings = settings

    def _settled_family(self, n_features: int) -> Family:
        """The family of the settings; that of the last fit, where they are the same and making one says nothing."""
        fitted: Fitted | None = self.__dict__.get("_fit")
        if fitted is not None and fitted.model.family.speaks and self._settings_unchanged():
            return fitted.model.family
        return self._family(n_features)

    def _settings_unchanged(self) -> bool:
        state = self.__dict__
        for name, value in state.get("_settings", ((None, 0),)):  # noqa: SIM110  (twice as fast as all())
            if state.get(name) is not value:
                return False
        return True

    def _current_settings(self) -> tuple[tuple[str, Any], ...]:
        return tuple((name, self.__dict__.get(name)) for name in setting_names(type(self)))  # type: ignore[arg-type]

    def _check_settings_once(self) -> None:
        """Check the constructor's values, unless they are those of the last fit."""
        if not self._settings_unchanged():
            self._validate_params()

    @property
    def _fitted(self) -> Fitted:
        """The state, with pending batches added up; NotFittedError (an AttributeError, too) before a fit."""
        pending: Pending | None = self.__dict__.get("_pending")
        if pending is not None:
            self._gather(pending)
        try:
            return self.__dict__["_fit"]  # type: ignore[no-any-return]
        except KeyError:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            ) from None

    @property
    def _model(self) -> Model:
        return self._fitted.model

    @property
    def _solved(self) -> Solution:
        return self._fitted.solution

    def __sklearn_is_fitted__(self) -> bool:
        return "_fit" in self.__dict__

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add up the sums of these rows, forgetting everything learned before.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the row twice.

        """
        self._check_settings_once()
        with self._unchanged_on_error():
            data, labels, rows = self._read(X, y, sample_weight, self._read_X)
            family = self._settled_family(data.shape[1])
            model = Model.empty(family, self._names(X, data.shape[1])).learn(data, rows)
            self._begin(X, data, model, labels.dtype)
            self._calibrate(data, rows)
        return self

    def _begin(self, X: Any, data: Matrix, model: Model, labels: np.dtype[Any]) -> None:
        """Adopt the model of a first fit; what is wrong with the data shows at fit."""
        self._check_fit(data, model)
        self._pending = None
        self._remember_columns(X, data)
        self._adopt(model, labels, _float_type(data), anew=True)
        if model.family.speaks:
            self._fit.solution  # noqa: B018

    def _check_fit(self, X: Matrix, model: Model) -> None:
        """Conditions that hold for a fit but not for a first batch."""

    def _remember_columns(self, X: Any, data: Matrix) -> None:
        if type(X) is np.ndarray:  # has no names to remember
            self.n_features_in_ = data.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return
        validate_data(self, X if not isinstance(X, list) else data, reset=True, skip_check_array=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the sums of a batch.  Any batches, in any order, equal one ``fit`` on all their rows.

        New classes may come at any time.  ``classes`` is not needed; where given, it declares classes that may come
        later, and must then name all of them.  Batches are checked at once; small ones become part of the model
        when there are enough of them, or when it is asked for anything.
        """
        if classes is None and sample_weight is None and self._put_off(X, y):
            return self
        self._check_settings_once()
        with self._unchanged_on_error():
            known = "_fit" in self.__dict__
            data, labels, rows = self._read(X, y, sample_weight, self._read_X_more if known else self._read_X)
            declared = self._declared(classes, rows) if classes is not None else ()
            family = self._settled_family(data.shape[1])
            if known:
                old = self._fitted
                family = family.settled_as(old.model.family)
                self._check_statistic(family, old.model.family)
                columns = self._names(X, data.shape[1]) if self._grows else old.model.columns
                model = replace(old.model, family=family, columns=columns).learn(data, rows)
                self._adopt(model, common_dtype(old.labels, labels.dtype), old.floats)
            else:
                model = Model.empty(family, self._names(X, data.shape[1]), declared).learn(data, rows)
                self._remember_columns(X, data)
                self._adopt(model, labels.dtype, _float_type(data))
        return self

    def _put_off(self, X: Any, y: Any) -> bool:
        """Keep a small batch for later, where a few quick looks show that nothing is wrong with it."""
        if type(y) is not np.ndarray:
            y = np.asarray(y)
        if (
            type(X) not in _QUICK_TYPES
            or y.ndim != 1
            or not len(y)
            or X.shape != (len(y), self.__dict__.get("n_features_in_"))
            or not self._settings_unchanged()
        ):
            return False
        pending: Pending | None = self.__dict__.get("_pending")
        if pending is not None:
            with pending.lock:  # a thread that reads may be taking it away
                if self._pending is pending and pending.add(X, y):
                    return True
        return self._begin_pending(X, y)

    def _begin_pending(self, X: Matrix, y: NDArray[Any]) -> bool:
        """Take this batch as the first of those to come; False where such batches are not put off."""
        fitted = self._fitted
        if (
            y.dtype != fitted.labels
            or y.dtype.kind not in "iubU"
            or "feature_names_in_" in self.__dict__
            or self._prior() is not None  # set class by class: a new class would have none
            or self._grows
        ):
            return False
        model = fitted.model
        running = model.family.running(model.sums) if y.dtype in (np.int32, np.int64) else None
        if running is not None and self._start_pending(PendingSums(running, y.dtype), X, y):
            return True
        return self._start_pending(PendingRows(X, y, model.family), X, y)

    def _start_pending(self, pending: Pending, X: Matrix, y: NDArray[Any]) -> bool:
        taken = pending.add(X, y)
        if taken:
            self._pending = pending
        return taken

    def _gather(self, pending: Pending) -> None:
        """Make the pending batches part of the model."""
        with pending.lock, self._unchanged_on_error():
            if self.__dict__.get("_pending") is not pending:
                return  # another thread was first
            self._adopt_as_before(pending.added_to(self._fit.model))
            self._pending = None

    @staticmethod
    def _check_statistic(new: Family, old: Family) -> None:
        if new.statistic != old.statistic:
            raise InputError(
                f"the settings have changed what the sums mean, from {old.statistic} to {new.statistic}; set them "
                "back, or use fit to begin anew"
            )

    def _declared(self, classes: Any, rows: Rows) -> tuple[Hashable, ...]:
        declared = column_or_1d(np.asarray(classes)).tolist()
        if "_fit" in self.__dict__:
            known = self._model.classes
            if len(declared) != len(known) or Index.of(declared).labels != known:
                raise ValueError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                    f"{self.classes_!r}; leave classes out: new ones are taken as they come"
                )
            return ()
        new = [c for c in rows.classes.labels if c not in declared]
        if new:
            raise ValueError(
                f"The target label(s) {new} in y do not exist in the initial classes {declared}; leave classes out: "
                "new ones are taken as they come"
            )
        return tuple(declared)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take rows out again, as if they had never been learned.

        A class left without rows goes with them.  Rows that cannot have been learned are refused where it shows.
        Sums of squares keep 16 digits of the largest rows they ever held: forgetting a row far larger than the rest
        leaves fewer digits for the rest, with a warning where it matters.
        """
        with self._unchanged_on_error():
            old = self._fitted
            data, _, rows = self._read(X, y, sample_weight, self._read_X_more)
            model = old.model.forget(data, rows)
            if not model.counts["n"].any():
                raise InputError("forget: no rows would be left; make a new estimator instead")
            self._adopt_as_before(model)
        return self

    def decay(self, factor: float) -> Self:
        """Let old rows fade: every row learned so far counts ``factor`` times what it did, 0 < factor ≤ 1.

        With ``decay(λ)`` before each batch the model is that of weights λ^age.  A class, level or pattern of missing
        values that fades below a weight of 1e-100 rows is gone, unless it was declared.

        >>> from suffit import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
        >>> model.decay(0.5).partial_fit([[6.0]], [1]).class_count_.tolist()
        [1.0, 2.0]
        """
        factor = number(factor, "decay: factor", 0.0, 1.0, above_low=True)
        model = self._model.decayed(factor)
        if not model.counts["n"].any():
            raise InputError(f"decay: after factor={factor!r} no rows would be left; make a new estimator instead")
        with self._unchanged_on_error():
            self._adopt_as_before(model)
        return self

    def merge(self, *others: GenerativeEstimator) -> Self:
        """A new estimator that has learned the rows of this one and of all the others."""
        merged = copy.copy(self)
        for other in others:
            if not isinstance(other, GenerativeEstimator):
                raise TypeError(f"merge takes fitted estimators of suffit, got {type(other).__name__}")
            mine, theirs = merged._fitted, other._fitted
            merged._check_mergeable(other)
            merged._adopt(mine.model + theirs.model, common_dtype(mine.labels, theirs.labels), mine.floats)
        return merged

    def _check_mergeable(self, other: GenerativeEstimator) -> None:
        if other.n_features_in_ != self.n_features_in_ and not self._grows:
            raise InputError(
                f"one model has {self.n_features_in_} columns, the other {other.n_features_in_}; they must match"
            )
        names, theirs = getattr(self, "feature_names_in_", None), getattr(other, "feature_names_in_", None)
        if names is not None and theirs is not None and list(names) != list(theirs):
            raise InputError(f"the columns differ: {list(names)[:5]} and {list(theirs)[:5]}; they must match, in order")

    def _names(self, X: Any, n: int) -> Sequence[str]:
        return column_names(X, n, "word " if self._grows else "x")

    _grows = False  # whether the number of columns may grow (word ids)

    def __add__(self, other: object) -> Self:
        if not isinstance(other, GenerativeEstimator):
            return NotImplemented  # type: ignore[no-any-return]
        return self.merge(other)

    def __radd__(self, other: object) -> Self:
        if other == 0:  # so that sum(models) works
            return copy.copy(self)
        return NotImplemented  # type: ignore[no-any-return]

    def with_prior(self, prior: Prior) -> Self:
        """The same model under another class prior: by label, in the order of ``classes_``, "uniform", or None.

        None is the class shares again.

        The sums are untouched, and so are the covariances.  The prior stays while the classes do.
        """
        old = self._fitted
        new = copy.copy(self)
        p = self._checked_prior(prior, old.model.classes)
        given = p is not None
        p = self._default_prior(old.model) if p is None else p
        new._fit = replace(old, prior=p, given=given)
        solved = old.__dict__.get("solution")
        if solved is not None:  # the parameters are the same
            new._fit.__dict__["solution"] = Solution(
                solved.classes, self._decision_prior(p), solved.scorer, solved.columns, solved.power
            )
        return new

    def adapt_prior(self, X: Any, sample_weight: Any = None, *, max_steps: int = MOST_STEPS) -> Self:
        """The same model under the class prior of new, unlabelled rows, by maximum likelihood (label shift).

        The rows of each class must look as they did in training; how many there are of each may differ.  Solves
        max_q Σ w log Σ_c q_c p(x | c) by steps that never lower it (EM, or Newton's where better), and warns where
        ``max_steps`` do not settle it.  A class whose prior is 0 keeps it; rows without evidence change nothing.

        >>> from suffit import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
        >>> model.adapt_prior([[0.2], [8.1], [8.5], [8.6]]).predict_proba([[np.nan]]).round(3)
        array([[0.25, 0.75]])
        """
        self._needs_prior("adapt_prior")
        steps = whole_number(max_steps, "adapt_prior: max_steps", 1)
        data = self._read_X_known(X)
        if not data.shape[0]:
            raise InputError("adapt_prior: X has no rows to learn the class prior from")
        weight = read_weight(sample_weight, np.empty((data.shape[0], 0)))
        fitted = self._fitted
        even = log_prior((fitted.prior > 0).astype(np.float64))  # a class of prior 0 explains no row
        solution = fitted.solution
        flat = Solution(solution.classes, even, solution.scorer, solution.columns, solution.power)
        w = np.ones(data.shape[0]) if weight is None else weight
        P = flat.posterior(data) if fitted.calibration is None else fitted.calibration.posterior(flat, data)
        prior, gap = shifted_prior(P, w, fitted.prior, steps)
        if gap > SETTLED:
            warnings.warn(
                f"adapt_prior: after {steps} steps the mean log-likelihood may still be {gap:.1g} below its maximum; "
                "raise max_steps",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self.with_prior(prior)

    def _needs_prior(self, who: str) -> None:
        if self._decision_prior is not log_prior:
            raise InputError(
                f"{who}: the class prior takes no part in the predictions of {type(self).__name__}; use MultinomialNB"
            )

    # --- the class prior

    _decision_prior = staticmethod(log_prior)

    def _default_prior(self, model: Model) -> Array:
        """The share of the rows, smoothed by ``prior_smoothing``."""
        n = model.counts["n"] + getattr(self, "prior_smoothing", 0.0)
        return np.asarray(n / n.sum())

    def _checked_prior(self, prior: Prior, classes: tuple[Hashable, ...]) -> Array | None:
        """A prior as an array in class order, checked."""
        p = prior_in_order(prior, classes)
        return None if p is None else self._normalised_prior(p)

    def _normalised_prior(self, p: Array) -> Array:
        return adding_up(p)

    def __getstate__(self) -> dict[str, Any]:
        if "_fit" in self.__dict__:
            self._fitted  # noqa: B018  (pending batches go into the sums)
        return super().__getstate__()  # type: ignore[no-any-return]

    # --- fitted attributes

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        return self._fitted.classes

    @property
    def class_count_(self) -> Array:
        """Rows (total weight) of each class."""
        return self._fitted.model.counts["n"].copy()

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return self._density_solution().n_parameters

    def _cast(self, a: NDArray[Any]) -> NDArray[Any]:
        """A copy in the precision of the input."""
        return np.array(a, dtype=self._fitted.floats)

    @property
    def selection_(self) -> Any:
        """What was tried to choose a setting, with its loss, and what was taken; None where all are set by hand."""
        model = self._model
        family: Any = model.family.solvable(model.sums) if hasattr(model.family, "solvable") else model.family
        return getattr(family, "tuning", None)

    # --- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        X = self._read_X_known(X)
        fitted = self._fitted
        if fitted.maps:
            return fitted.classes[self._posterior(X).argmax(axis=1)]
        return fitted.classes[fitted.solution.best(X)]

    def predict_proba(self, X: Any) -> Array:
        """p(class | x), columns in the order of ``classes_``; finite and summing to 1 for any finite row."""
        return self._posterior(self._read_X_known(X))

    def _posterior(self, X: Matrix) -> Array:
        return self._fitted.posterior(X)

    def predict_log_proba(self, X: Any) -> Array:
        """log p(class | x)."""
        X = self._read_X_known(X)
        return log_prior(self._posterior(X)) if self._fitted.maps else self._solved.log_posterior(X)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, class)."""
        X = self._read_X_known(X)
        return self._solved.log_joint(X)

    # --- every row under the model without it

    def loo_log_joint(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """log p(x, class) of learned rows, each under the model without it: what fitting anew on all others gives.

        Nothing is fitted anew: a row is taken out of the sums, in closed form for all rows at once.  Settings that were
        chosen from the rows (bins, amounts of smoothing) stay as they are.  Rows must be among those learned, each
        given once, with the weights that they had; where it shows that they are not, they are refused.  A class of
        which a row is the only one has log-probability −∞ for that row.
        """
        return self._left_out(X, y, sample_weight).log_joint()

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """p(class | x) of learned rows, each under the model without it: honest scores, with no rows held out."""
        left = self._left_out(X, y, sample_weight)
        calibration = self._fitted.calibration
        return left.posterior() if calibration is None else calibration.mapped(left.posterior(calibration.power))

    def cross_val(self, X: Any, y: Any, cv: Any = 5, sample_weight: Any = None) -> CrossValidation:
        """K-fold cross-validation of these settings, without refits: all rows are added up, and each fold taken away.

        ``cv`` is whatever scikit-learn takes: a number of (stratified) folds, a splitter, or pairs of index arrays.
        What settings leave to the data (bins, amounts of smoothing, calibration) is chosen once, from all rows.  The
        estimator itself stays as it is.
        """
        model = clone(self).fit(X, y, sample_weight=sample_weight)
        data, labels, rows = model._read(X, y, sample_weight, model._read_X_known)
        model._check_rows_can_go()
        return cross_validated(model, data, labels, rows, cv)

    def _check_rows_can_go(self) -> None:
        """Refuse where the sums are not those of the rows alone."""

    def _left_out(self, X: Any, y: Any, sample_weight: Any) -> RowsLeftOut:
        self._check_rows_can_go()
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        fitted = self._fitted
        fitted.solution.scorer.check(data)
        fitted.model.check_learned(data, rows)
        return fitted.model.left_out(data, rows, self._prior_without)

    def _prior_without(self, n: Array) -> Array:
        """The log prior of predictions for class counts n; a class without rows has none.  # (n, K) → (n, K)"""
        fitted = self._fitted
        fixed = fitted.given or self._prior() is not None
        p = fitted.prior * np.ones_like(n) if fixed else n + getattr(self, "prior_smoothing", 0.0)
        p = np.where((n > 0) | [c in fitted.model.pinned for c in fitted.model.classes], p, 0.0)
        return np.where(p > 0, self._decision_prior(p / p.sum(axis=1, keepdims=True)), -np.inf)

    # --- calibration

    def recalibrate(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the calibration anew, on learned rows, each under the model without it.

        ``fit`` does this by itself where ``calibrate`` is set; later batches keep its answer until this is called.
        """
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        with self._unchanged_on_error():
            self._check_rows_can_go()
            self._fitted.model.check_learned(data, rows)
            self._calibrate(data, rows, self._calibration_method() or "temperature")
        return self

    @property
    def calibration_(self) -> Calibration | None:
        """The calibration of the probabilities, and what it does to rows left out; None where there is none."""
        return self._fitted.calibration

    def _calibration_method(self) -> str | None:
        return getattr(self, "calibrate", None)

    def _calibrate(self, X: Matrix, rows: Rows, method: str | None = None) -> None:
        """Replace the state by one with a calibration, fitted on these rows (on some, where there are very many)."""
        method = method or self._calibration_method()
        if method is None:
            return
        self._check_rows_can_go()
        look = rows.weighty(CALIBRATION_ROWS)
        if len(look) < len(rows):
            X, rows = X[look], rows.some(look)
        fitted = self._fitted
        left = fitted.model.left_out(X, rows, self._prior_without, one=True)
        self._fit = replace(fitted, calibration=calibrated(method, left, fitted.decision_prior(fitted.prior)))

    # --- deciding

    def decide(
        self,
        X: Any,
        cost: Any = None,
        *,
        prior: Prior = None,
        reject: float | None = None,
        threshold: Any = None,
        novelty: float | None = None,
        reject_label: Any = None,
    ) -> Decisions:
        """The decision of least expected cost for each row, argmin_d Σ_c p(c | x)·cost[c, d].

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        cost : array-like of shape (n_classes, n_classes) or dict, optional
            ``cost[true, decided]`` in the order of ``classes_``, or ``{true: {decided: cost}}``; by default 1 for an
            error and 0 otherwise.  A negative cost is a gain.
        prior : dict, array-like or "uniform", optional
            Class prior of the rows at hand, as in ``with_prior``.
        reject : float, optional
            What it costs to decide nothing: rows that would cost more are rejected.  With the default cost, those
            whose most probable class has a posterior below 1 − reject.
        threshold : float or dict, optional
            Instead of costs.  A number t, for two classes: ``classes_[1]`` is decided where its posterior is at least
            t.  ``{label: t}`` for every class (one of two is enough): the class whose posterior is largest in
            proportion to its threshold; where no class reaches its own, the row is rejected.  The expected cost is
            then the probability of error.
        novelty : float, optional
            Rows whose ``novelty`` is at least this (0.99, say) are rejected: unlike anything seen.
        reject_label : object, default None
            The label of rejected rows.  Labels come as objects where it is not of their kind.

        Returns
        -------
        Decisions
            ``labels``, ``expected_cost`` and ``rejected``; unpacks as ``labels, expected_cost``.

        Examples
        --------
        >>> from suffit import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [2.0], [3.0], [5.0]], ["well", "well", "sick", "sick"])
        >>> cost = {"sick": {"well": 20}, "well": {"sick": 1}}
        >>> model.decide([[0.0], [2.0], [4.0]], cost, reject=0.5).labels.tolist()
        ['well', None, 'sick']

        """
        rule = Rule.read(self.classes_, cost, reject, threshold, novelty, reject_label)
        model = self
        if prior is not None:
            self._needs_prior("decide(prior=…)")
            model = self.with_prior(checked_prior(prior, self._model.classes))
        unlike = None if rule.novelty is None else model.novelty(X) >= rule.novelty
        return rule(model.predict_proba(X), unlike)

    # --- densities

    def novelty(self, X: Any, random_state: Any = 0) -> Array:
        """How unusual each row is, in [0, 1]: the share of rows drawn from the model that are more probable.

        1: less probable than any of them.  A row with holes is compared with draws that have the same holes.
        """
        X = self._read_X_known(X)
        solution, rng = self._density_solution(), generator(random_state)
        codes = solution.draw_classes(DRAWS, rng)
        units = self._units(solution, solution.sample(codes, rng))
        if not all(unit.solution.scorer.comparable for unit in units):
            raise InputError(
                "novelty: the model says nothing of how long a document is, so that documents of different lengths "
                "have no densities to compare"
            )
        draws = Draws(codes, solution.log_prior, units)
        return novelties(draws, solution.log_density(X), *self._holes_in(X), lambda row: self._told(X, row))

    def _units(self, solution: Solution, drawn: Any) -> list[Unit]:
        """The columns of these draws that are scored together."""
        alone = Solution(solution.classes, np.zeros(len(solution.classes)), solution.scorer, solution.columns)
        return [Unit(alone, drawn, apart(self._model.family))]

    def _holes_in(self, X: Matrix) -> tuple[Any, Any]:
        """The rows with missing values, and where in them these are."""
        return holes_of(X)

    def _told(self, data: Any, row: int) -> Array:
        """What the holes of a row say of each class, where they are evidence.  # → (K,)"""
        return np.zeros(len(self._model.classes))

    def _density_solution(self) -> Solution:
        """The solution whose scores are densities."""
        return self._solved

    def score_samples(self, X: Any) -> Array:
        """log p(x) of each row."""
        X = self._read_X_known(X)
        return self._density_solution().log_density(X)

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Joint log-likelihood Σ w log p(x, y) of labelled rows; −inf for a label the model does not know."""
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        return self._density_solution().log_likelihood(data, rows)

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Akaike's criterion, 2·parameters − 2·log-likelihood; lower is better."""
        return 2.0 * self.n_parameters_ - 2.0 * self.log_likelihood(X, y, sample_weight)

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The Bayesian criterion, log(rows)·parameters − 2·log-likelihood; lower is better."""
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        likelihood = self._density_solution().log_likelihood(data, rows)
        return math.log(rows.counts().sum()) * self.n_parameters_ - 2.0 * likelihood

    def sample(self, n: int = 1, y: Any = None, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw ``n`` rows: from the class ``y``, from the classes ``y`` (n of them), or from the prior.

        Returns the rows and their labels.
        """
        solution = self._density_solution()
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"sample: n must be a whole number of at least 1, got {n!r}")
        rng = generator(random_state)
        codes = solution.draw_classes(n, rng) if y is None else self._wanted(n, y)
        return solution.sample(codes, rng), self.classes_[codes]

    def _wanted(self, n: int, y: Any) -> Codes:
        """The codes of the classes to draw from."""
        position = self._model.counts.axes[CLASS].position
        one = isinstance(y, Hashable) and (y in position or not isinstance(y, tuple))
        wanted = [y] * n if one else y.tolist() if isinstance(y, np.ndarray) else list(y)
        wanted = wanted * n if len(wanted) == 1 else wanted
        unknown = [c for c in wanted if c not in position]
        if unknown:
            raise ValueError(f"sample: no class {unknown[0]!r}; the classes are {list(self._model.classes)}")
        if len(wanted) != n:
            raise ValueError(f"sample: y names {len(wanted)} classes for n = {n} rows; give one class, or n of them")
        return np.array([position[c] for c in wanted], np.int32)

    def logistic_form(self) -> LogisticForm:
        """The posterior as explicit weights: per class (softmax), and ``.pair(a, b)`` as log-odds.

        Linear in the sufficient statistic T(x); own Gaussian variances or covariances add a quadratic term.
        """
        return self._solved.logistic_form()

    # --- explaining

    def _columns_of_model(self) -> tuple[Sequence[str], NDArray[np.int64] | None]:
        """The table's columns, and to which of them each column of the model belongs (None: they are the same)."""
        return self._model.columns, None

    def explain(self, X: Any, classes: Any = None) -> Explanation:
        """Why: log p(a | x)/p(b | x) of each row as the prior and what every column adds.

        a and b are the two most probable classes of the row, or ``classes=(a, b)``.  A calibration by temperature is
        part of it; one by isotonic maps comes after, and is not.
        """
        from ..explain import explain_rows

        columns, owners = self._columns_of_model()
        return explain_rows(self._solved, self._read_X_known(X), classes, columns, owners, table_form(X))

    def why(self, X: Any, n: int = 5, classes: Any = None) -> str:
        """The ``n`` things that decided about one row, in words."""
        one = isinstance(X, np.ndarray) and X.ndim == 1
        return self.explain(X[None] if one else X, classes).why(0, n)

    def nomogram(self, X: Any = None, classes: Any = None, most: int = 12) -> Any:
        """What each column adds to the log-odds of two classes over its range, as one picture (needs matplotlib).

        ``classes=(a, b)``, by default the first two; the ``most`` columns that move the log-odds of the rows X most (of
        rows drawn from the model, where none are given).  Where what a column adds depends on others, these are at
        their typical values, and the picture says so.
        """
        from ..explain import explain_rows, pair_of
        from ..ranges import DRAWS, picture

        solution, labels = self._solved, self._model.classes
        pair = labels[:2] if classes is None else classes
        pair_of(pair, labels, "nomogram")
        data = self._read_X_known(self.sample(DRAWS, random_state=0)[0] if X is None else X)
        columns, owners = self._columns_of_model()

        def explain(rows: Any) -> Explanation:
            read = self._read_X_known(rows) if isinstance(rows, dict) else rows
            return explain_rows(solution, read, pair, columns, owners, "dict")

        return picture(explain, getattr(data, "frame", data), solution.scorer.additive, most)

    def summary(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Summary:
        """Classes, parameters, fit, and how well each column tells the classes apart, on one page.

        The log-likelihood is that of the rows learned, where their sums tell it; else, or for others, give them: X, y.
        """
        from .describing import described

        return described(self, X, y, sample_weight)

    def to_sklearn(self, **settings: Any) -> Any:
        """A fitted ``sklearn.linear_model.LogisticRegression`` with the same posterior, where that is linear in x.

        ``settings`` are its own; ``warm_start`` is True, so that its ``fit`` goes on from here.  A Bernoulli model is
        linear in columns of 0 and 1.
        """
        from .linear import as_logistic_regression, in_table, linear_weights

        columns, owners = self._columns_of_model()
        weights, intercept = linear_weights(self._solved, columns, owners)
        weights = in_table(weights, columns, getattr(self, "_names_in", columns))
        names = getattr(self, "feature_names_in_", None)
        return as_logistic_regression(weights, intercept, self.classes_, names, settings)

    def scorer(self) -> RowScorer:
        """A handle for one row at a time, without the checks: ``scorer()(row)`` gives p(class | row).

        It scores under the model as it is now, and takes a float64 row of the right length (finite, or with NaN where
        the model takes missing values) at its word.
        """
        fitted = self._fitted
        calibration = fitted.calibration if fitted.maps else None
        return RowScorer(fitted.solution, fitted.classes, calibration.mapped if calibration else None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # NaN is a missing value, everywhere
        return tags


def generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn takes as ``random_state``, or from one already made."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))


@cache
def setting_names(estimator: type) -> tuple[str, ...]:
    """The names of an estimator's constructor arguments."""
    return tuple(estimator._get_param_names())  # type: ignore[attr-defined]


CALIBRATION_ROWS = 5000  # rows left out that a calibration is fitted on, where there are more
_QUICK_TYPES = (np.ndarray, sparse.csr_matrix, sparse.csr_array)


def _float_type(data: Matrix) -> np.dtype[Any]:
    """The precision that attributes are shown in: that of the input."""
    return np.dtype(np.float32) if data.dtype == np.float32 else np.dtype(np.float64)
