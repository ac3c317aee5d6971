"""Learning: one reference to a model of sums, replaced whole by whatever changes it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from ..core.family import Family
from ..core.model import Model
from ..core.solution import Solution
from ..data.arrays import Array
from ..data.errors import InputError
from ..data.frame import table_form
from ..data.labels import Index
from ..data.matrices import Matrix
from ..data.numeric import as_numbers
from ..data.rows import Rows
from ..data.settings import number
from ..data.validate import Prior, adding_up, column_names, common_dtype, prior_in_order, read_labels, read_weight
from ..data.warn import DataWarning, WarningCollector, current_collector, warn_once
from .fitted import PENDING_ROWS, Fitted, Pending, PendingRows, PendingSums, log_prior


class Learner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit, update, merge and forget, for any family.

    A subclass says which family its settings make (``_family``) and what the class prior is (``_prior``).  Settings are
    taken when rows are learned, by ``fit`` and ``partial_fit``; nothing else reads them (``_setting``).
    """

    _accept_sparse: Any = ("csr", "csc")
    _fit: Fitted
    _settings: dict[str, Any]  # those that the rows were learned under
    _pending: Pending | None  # batches that are not yet part of the model
    n_features_in_: int
    _text_way_out = "encode it as numbers or drop it, or use GenerativeClassifier, which takes categories"

    # --- what a subclass provides

    def _family(self, n_features: int) -> Family:
        raise NotImplementedError

    def _prior(self) -> Prior:
        """The class prior set by the user: by label or in class order, "uniform", or None for the class shares."""
        return None

    def _unsaid(self) -> tuple[str, ...]:
        """WarningCollector on the data that the settings make superfluous."""
        return ()

    # --- reading input

    def _read_X(self, X: Any) -> Matrix:
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub" and X.size:
            return X  # what check_array would return after some 40 µs
        X = check_array(
            as_numbers(X, self._text_way_out),
            accept_sparse=self._accept_sparse,
            dtype="numeric",
            ensure_all_finite=False,
            estimator=self,
            input_name="X",
        )
        return X.tocsr() if sparse.issparse(X) else X  # type: ignore[attr-defined]

    def _read_X_known(self, X: Any) -> Matrix:
        """X for a fitted estimator: the same columns as before."""
        if "_fit" not in self.__dict__:
            self._fitted  # noqa: B018  (says that there is no fit)
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
        return X, y, Rows.of(y, weight)

    # --- changing the model: whole or not at all

    @contextmanager
    def _unchanged_on_error(self, anew: bool = False) -> Iterator[None]:
        """Change the state as a whole or not at all; what there is to say is said at the end, once for each fit."""
        before = dict(self.__dict__)
        fitted: Fitted | None = None if anew else before.get("_fit")
        remarks = WarningCollector(self._unsaid()) if fitted is None else fitted.remarks
        try:
            with remarks.collected():
                yield
        except BaseException:
            self.__dict__.update(before)
            for name in self.__dict__.keys() - before.keys():
                del self.__dict__[name]
            raise

    def _adopt(self, model: Model, labels: np.dtype[Any] | None, floats: np.dtype[Any], anew: bool = False) -> None:
        """Make this the model, under the settings that were taken with its rows; solved when first asked."""
        old: Fitted | None = None if anew else self.__dict__.get("_fit")
        prior = self._checked_prior(self._prior(), model.classes)
        given = old is not None and old.given and old.model.classes == model.classes
        if given and old is not None:
            prior = old.prior  # a prior set with with_prior stays while the classes do
        prior = self._default_prior(model) if prior is None else prior
        if self._grows:
            self.n_features_in_ = len(model.columns)
        calibration = None if old is None else old.calibration
        if old is not None and calibration is not None and old.model.classes != model.classes:
            warn_once(
                DataWarning,
                f"the classes are now {list(model.classes)[:10]}: the calibration, of {list(old.model.classes)[:10]}, "
                "is gone; recalibrate(X, y) fits another",
            )
            calibration = None
        remarks = current_collector() if old is None else old.remarks
        self._fit = Fitted(model, prior, given, labels, floats, self._decision_prior, calibration, remarks)

    def _tuned_family(self, n_features: int, as_before: bool) -> Family:
        """The family of the settings; that of the last fit, where they are as before and making one says nothing."""
        fitted: Fitted | None = self.__dict__.get("_fit")
        family: Any = None if fitted is None else fitted.model.family
        chosen = getattr(family, "tuning", None) is not None  # from other rows
        if family is not None and family.may_warn and not chosen and as_before:
            return family  # type: ignore[no-any-return]
        return self._family(n_features)

    def _settings_unchanged(self) -> bool:
        state = self.__dict__
        for name, value in state.get("_settings", {None: 0}).items():  # noqa: SIM110  (twice as fast as all())
            if state.get(name) is not value:
                return False
        return True

    def _take_settings(self) -> bool:
        """Check the constructor's values and take them for the rows to come; whether they are those of before."""
        if self._settings_unchanged():
            return True
        self._validate_params()
        self._settings = {name: self.__dict__.get(name) for name in setting_names(type(self))}  # type: ignore[arg-type]
        return False

    def _setting(self, name: str, default: Any = None) -> Any:
        """A constructor's value as it was when rows were last learned: a later ``set_params`` waits for the next."""
        if "_settings" not in self.__dict__:
            self._fitted  # noqa: B018  (says that there is no fit)
        return self._settings.get(name, default)

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add up the sums of these rows, forgetting everything learned before.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the row twice.

        """
        with self._unchanged_on_error(anew=True):
            as_before = self._take_settings()
            data, labels, rows = self._read(X, y, sample_weight, self._read_X)
            family = self._tuned_family(data.shape[1], as_before)
            model = Model.empty(family, self._names(X, data.shape[1])).learn(data, rows)
            self._begin(X, data, rows, model, labels.dtype)
            self._after_fit(data, rows)
        return self

    def _begin(self, X: Any, data: Matrix, rows: Rows, model: Model, labels: np.dtype[Any]) -> None:
        """Adopt the model of a first fit; what is wrong with the data shows at fit."""
        self._check_fit(data, rows, model)
        self._pending = None
        self._remember_columns(X, data)
        self._adopt(model, labels, _float_type(data), anew=True)
        if model.family.may_warn:
            self._fit.solution  # noqa: B018

    def _after_fit(self, X: Matrix, rows: Rows) -> None:
        """What is to be made of the rows of a fit once they are learned."""

    def _check_fit(self, X: Matrix, rows: Rows, model: Model) -> None:
        """Conditions that hold for a fit but not for a first batch."""

    def _table_form(self) -> str:
        """The kind of table that was learned first."""
        return self.__dict__.get("_form", "array")

    def _remember_columns(self, X: Any, data: Matrix) -> None:
        self._form = table_form(X)
        if type(X) is np.ndarray:  # has no names to remember
            self.n_features_in_ = data.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return
        validate_data(self, X if not isinstance(X, list) else data, reset=True, skip_check_array=True)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the sums of a batch.  Any batches, in any order, equal one ``fit`` on all their rows.

        New classes may come at any time.  ``classes`` is not needed; where given, it declares classes that may come
        later, and must then name all of them.  Batches are checked at once; small ones become part of the model
        when there are enough of them, or when it is asked for anything.
        """
        if classes is None and sample_weight is None and self._put_off(X, y):
            return self
        with self._unchanged_on_error():
            known = "_fit" in self.__dict__
            if known and not self._settings_unchanged():
                self._fitted  # noqa: B018  (pending batches came under the settings of before)
            as_before = self._take_settings()
            data, labels, rows = self._read(X, y, sample_weight, self._read_X_more if known else self._read_X)
            declared = self._declared(classes, rows) if classes is not None else ()
            family = self._tuned_family(data.shape[1], as_before)
            if known:
                before = self._fit.model
                family = family.tuned_as(before.family)
                self._check_statistic(family, before.family, before.columns)
                columns = self._names(X, data.shape[1]) if self._grows else before.columns
                batch = replace(before, family=family, columns=columns).collected(data, rows)
                if as_before and self._put_off_model(batch, len(rows), labels.dtype):
                    return self
                old = self._fitted
                model = replace(old.model, family=family, columns=columns) + batch
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
            if isinstance(pending, PendingRows) and pending.rows + len(y) <= pending.most:
                return False  # not for want of room: it needs a closer look, and may then wait beside the others
        return self._begin_pending(X, y)

    def _begin_pending(self, X: Matrix, y: NDArray[Any]) -> bool:
        """Take this batch as the first of those to come; False where such batches are not put off."""
        waiting: Pending | None = self.__dict__.get("_pending")
        fitted = self._fit if type(waiting) is Pending else self._fitted
        if not self._may_wait(fitted, y.dtype) or y.dtype.kind not in "iubU" or "feature_names_in_" in self.__dict__:
            return False
        model = fitted.model
        running = model.family.running(model.sums) if y.dtype in (np.int32, np.int64) else None
        if running is not None and self._start_pending(PendingSums(running, y.dtype), X, y):
            return True
        return self._start_pending(PendingRows(X, y, model.family), X, y)

    def _may_wait(self, fitted: Fitted, labels: np.dtype[Any]) -> bool:
        """Whether batches with such labels can become part of the model later as well as now."""
        return bool(
            labels == fitted.labels
            and self._prior() is None  # set class by class: a new class would have none
            and not self._grows
        )

    def _put_off_model(self, batch: Model, rows: int, labels: np.dtype[Any]) -> bool:
        """Keep the sums of a small batch for later, beside other batches that wait."""
        fitted = self._fit
        if (
            rows > PENDING_ROWS // 4
            or not self._may_wait(fitted, labels)
            or not self._settings_unchanged()
            or fitted.calibration is not None  # which a new class would end, with a warning
        ):
            return False
        pending: Pending | None = self.__dict__.get("_pending")
        if pending is not None:
            with pending.lock:  # a thread that reads may be taking it away
                if self._pending is pending:
                    pending.take(batch)
                    return True
        pending = Pending()
        pending.take(batch)
        self._pending = pending
        return True

    def _start_pending(self, pending: Pending, X: Matrix, y: NDArray[Any]) -> bool:
        if not pending.add(X, y):
            return False
        waiting: Pending | None = self.__dict__.get("_pending")
        if waiting is None:
            self._pending = pending
            return True
        with waiting.lock:  # batches that brought something new: they wait on beside this one
            if self._pending is waiting:
                pending.models = waiting.models
            self._pending = pending
        return True

    def _gather(self, pending: Pending) -> None:
        """Make the pending batches part of the model."""
        with pending.lock, self._unchanged_on_error():
            if self.__dict__.get("_pending") is not pending:
                return  # another thread was first
            self._adopt(pending.added_to(self._fit.model), self._fit.labels, self._fit.floats)
            self._pending = None

    @staticmethod
    def _check_statistic(new: Family, old: Family, columns: Sequence[str]) -> None:
        if new.statistic != old.statistic:
            raise InputError(
                f"this model has {old.key} sums and cannot take a {new.key} batch ({old.difference(new, columns)}); "
                "set the settings back, or use fit to begin anew"
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

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
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
            self._adopt(model, old.labels, old.floats)
        return self

    def decay(self, factor: float) -> Self:
        """Let old rows fade: every row learned so far counts ``factor`` times what it did, 0 < factor ≤ 1.

        With ``decay(λ)`` before each batch the model is that of weights λ^age.  A class, category or pattern of missing
        values that fades below a weight of 1e-100 rows is gone, unless it was declared.

        >>> from suffit import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
        >>> model.decay(0.5).partial_fit([[6.0]], [1]).class_count_.tolist()
        [1.0, 2.0]
        """
        factor = number(factor, "decay: factor", 0.0, 1.0, above_low=True)
        old = self._fitted
        model = old.model.decayed(factor)
        if not model.counts["n"].any():
            raise InputError(f"decay: after factor={factor!r} no rows would be left; make a new estimator instead")
        with self._unchanged_on_error():
            self._adopt(model, old.labels, old.floats)
        return self

    def merge(self, *others: Learner) -> Self:
        """A new estimator that has learned the rows of this one and of all the others."""
        self._fitted  # noqa: B018
        merged = copy.copy(self)
        for other in others:
            if not isinstance(other, Learner):
                raise TypeError(f"merge takes fitted estimators of suffit, got {type(other).__name__}")
            mine, theirs = merged._fitted, other._fitted
            merged._check_mergeable(other)
            merged._adopt(mine.model + theirs.model, common_dtype(mine.labels, theirs.labels), mine.floats)
        return merged

    def _check_mergeable(self, other: Learner) -> None:
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
        if not isinstance(other, Learner):
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
            new._fit.__dict__["solution"] = solved.under(self._decision_prior(p))
        return new

    # --- the class prior

    _decision_prior = staticmethod(log_prior)

    def _default_prior(self, model: Model) -> Array:
        """The share of the rows, smoothed by ``prior_smoothing``."""
        n = model.counts["n"] + self._setting("prior_smoothing", 0.0)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # NaN is a missing value, everywhere
        return tags


@cache
def setting_names(estimator: type) -> tuple[str, ...]:
    """The names of an estimator's constructor arguments."""
    return tuple(estimator._get_param_names())  # type: ignore[attr-defined]


_QUICK_TYPES = (np.ndarray, sparse.csr_matrix, sparse.csr_array)


def _float_type(data: Matrix) -> np.dtype[Any]:
    """The precision that attributes are shown in: that of the input."""
    return np.dtype(np.float32) if data.dtype == np.float32 else np.dtype(np.float64)
