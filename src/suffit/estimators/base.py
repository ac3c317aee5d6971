"""What every estimator has: one reference to a model of sums, replaced whole by whatever changes it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import validate_data

from ..family import Family
from ..forms import LogisticForm
from ..model import Model, Solution
from ..stats import CLASS, Array, Index
from ..table import InputError, Matrix, Rows, encode, freeze
from .reading import Prior, column_names, common_dtype, prior_in_order, read_labels, read_weight


class GenerativeEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit, update, merge, forget, predict, score and sample, for any family.

    A subclass says which family its settings make (``_family``) and what the class prior is (``_prior``).
    """

    _accept_sparse: Any = ("csr", "csc")
    _model: Model
    n_features_in_: int

    # --- what a subclass provides

    def _family(self, n_features: int) -> Family:
        raise NotImplementedError

    def _prior(self) -> Prior:
        """The class prior set by the user: by label or in class order, "uniform", or None for the class shares."""
        return None

    def _check_model(self, model: Model) -> None:
        """Refuse sums that this estimator cannot be solved from."""

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
        self._require_fitted()
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
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _adopt(self, model: Model, label_dtype: np.dtype[Any] | None) -> None:
        """Make this the model, with the settings as they are now; solved when first asked."""
        self._check_model(model)
        self._set_prior = self._checked_prior(self._prior(), model.classes)
        self._label_dtype = label_dtype
        self._model = model
        if self._grows:
            self.n_features_in_ = len(model.columns)
        self._given_prior: Array | None = None
        self.__dict__.pop("_solution", None)

    def _require_fitted(self) -> None:
        if "_model" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

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
        self._validate_params()
        with self._unchanged_on_error():
            data, labels, rows = self._read(X, y, sample_weight, self._read_X)
            columns = self._names(X, data.shape[1])
            # the family may need to know how many columns there are (alpha by column)
            self.__dict__.pop("_solution", None)
            model = Model.empty(self._family(data.shape[1]), columns).learn(data, rows)
            self._check_fit(data, model)
            self._remember_columns(X, data)
            self._adopt(model, labels.dtype)
            self._dtype = np.dtype(np.float32) if data.dtype == np.float32 else np.dtype(np.float64)
            self._solved  # noqa: B018  (solve now: what is wrong with the data shows at fit)
        return self

    def _check_fit(self, X: Matrix, model: Model) -> None:
        """Conditions that hold for a fit but not for a first batch."""

    def _remember_columns(self, X: Any, data: Matrix) -> None:
        validate_data(self, X if not isinstance(X, list) else data, reset=True, skip_check_array=True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the sums of a batch.  Any batches, in any order, equal one ``fit`` on all their rows.

        New classes may come at any time.  ``classes`` is not needed; where given, it declares classes that may come
        later, and must then name all of them.
        """
        self._validate_params()
        with self._unchanged_on_error():
            known = "_model" in self.__dict__
            data, labels, rows = self._read(X, y, sample_weight, self._read_X_more if known else self._read_X)
            declared = self._declared(classes, rows, labels.dtype) if classes is not None else ()
            family = self._family(data.shape[1])
            if known:
                if family.statistic != self._model.family.statistic:
                    raise InputError(
                        f"the settings have changed what the sums mean, from {self._model.family.statistic} to "
                        f"{family.statistic}; set them back, or use fit to begin anew"
                    )
                columns = self._names(X, data.shape[1]) if self._grows else self._model.columns
                model = replace(self._model, family=family, columns=columns)
            else:
                model = Model.empty(family, self._names(X, data.shape[1]), declared)
            model = model.learn(data, rows)
            if not known:
                self._remember_columns(X, data)
                self._dtype = np.dtype(np.float32) if data.dtype == np.float32 else np.dtype(np.float64)
            dtype = labels.dtype if not known else common_dtype(self._label_dtype, labels.dtype)
            self._adopt(model, dtype)
        return self

    def _declared(self, classes: Any, rows: Rows, dtype: np.dtype[Any]) -> tuple[Hashable, ...]:
        declared = column_or_1d(np.asarray(classes)).tolist()
        if "_model" in self.__dict__:
            if len(declared) != len(self._model.classes) or Index.of(declared).labels != self._model.classes:
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
        """
        with self._unchanged_on_error():
            self._require_fitted()
            data, _, rows = self._read(X, y, sample_weight, self._read_X_more)
            model = self._model.forget(data, rows)
            if not model.counts["n"].any():
                raise InputError("forget: no rows would be left; make a new estimator instead")
            self._adopt(model, self._label_dtype)
        return self

    def merge(self, *others: GenerativeEstimator) -> Self:
        """A new estimator that has learned the rows of this one and of all the others."""
        self._require_fitted()
        merged = copy.copy(self)
        for other in others:
            if not isinstance(other, GenerativeEstimator):
                raise TypeError(f"merge takes fitted estimators of suffit, got {type(other).__name__}")
            other._require_fitted()
            if other.n_features_in_ != merged.n_features_in_ and not merged._grows:
                raise InputError(
                    f"one model has {merged.n_features_in_} columns, the other {other.n_features_in_}; they must match"
                )
            names, theirs = (
                getattr(merged, "feature_names_in_", None),
                getattr(other, "feature_names_in_", None),
            )
            if names is not None and theirs is not None and list(names) != list(theirs):
                raise InputError(
                    f"the columns differ: {list(names)[:5]} and {list(theirs)[:5]}; they must match, in order"
                )
            merged._adopt(merged._model + other._model, common_dtype(merged._label_dtype, other._label_dtype))
            merged.n_features_in_ = max(merged.n_features_in_, other.n_features_in_)
        return merged

    def _names(self, X: Any, n: int) -> Sequence[str]:
        return column_names(X, n, "word " if self._grows else "x")

    _grows = False  # whether the number of columns may grow (word ids)

    def __add__(self, other: object) -> Self:
        if not isinstance(other, GenerativeEstimator):
            return NotImplemented  # type: ignore[no-any-return]
        return self.merge(other)

    def __radd__(self, other: object) -> Self:
        if other == 0:  # so that sum(models) works
            return self
        return NotImplemented  # type: ignore[no-any-return]

    def with_prior(self, prior: Prior) -> Self:
        """The same model under another class prior: by label, in the order of ``classes_``, or "uniform".

        The sums are untouched, and so are the covariances.
        """
        self._require_fitted()
        new = copy.copy(self)
        new._given_prior = self._checked_prior(prior, self._model.classes)
        solved = new.__dict__.pop("_solution", None)
        if solved is not None:
            new._solution = Solution(solved.classes, new._decision_log_prior(), solved.scorer, solved.columns)
        return new

    # --- the class prior

    def _checked_prior(self, prior: Prior, classes: tuple[Hashable, ...]) -> Array | None:
        """A prior as an array in class order, checked."""
        p = prior_in_order(prior, classes)
        return None if p is None else self._normalised_prior(p)

    def _normalised_prior(self, p: Array) -> Array:
        if not (p >= 0).all():
            raise ValueError(f"Priors must be non-negative, found {p[np.argmin(p >= 0)]:g}.")
        if not np.isclose(p.sum(), 1.0):
            raise ValueError(f"The sum of the priors should be 1, found {p.sum():g}.")
        return p

    def _class_shares(self) -> Array:
        """p(c): what the user set, or the share of the rows, smoothed by ``prior_smoothing``."""
        if self._given_prior is not None:
            return self._given_prior
        if self._set_prior is not None:
            return self._set_prior
        n = self._model.counts["n"] + getattr(self, "prior_smoothing", 0.0)
        return np.asarray(n / n.sum())

    def _decision_log_prior(self) -> Array:
        """The log prior that predictions use."""
        with np.errstate(divide="ignore"):
            return np.log(self._class_shares())

    # --- solving, lazily

    @property
    def _solved(self) -> Solution:
        self._require_fitted()
        solution: Solution | None = self.__dict__.get("_solution")
        if solution is None:
            solution = self._solution = self._model.solved(self._decision_log_prior())
        return solution

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__().copy()
        state.pop("_solution", None)  # solved again when asked: a pickle holds the sums
        return state  # type: ignore[no-any-return]

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        if "_model" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'classes_' before it is fitted")
        labels, dtype = self._model.classes, self._label_dtype
        if dtype is None or dtype.kind == "O":
            out = np.empty(len(labels), dtype=object)
            out[:] = labels
            return out
        return np.array(labels) if dtype.kind in "US" else np.array(labels, dtype=dtype)

    @property
    def class_count_(self) -> Array:
        """Rows (total weight) of each class."""
        return self._fitted(lambda: self._model.counts["n"].copy())

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters."""
        return self._fitted(lambda: self._density_solution().n_parameters)

    def _fitted(self, get: Any) -> Any:
        """A fitted attribute, or the AttributeError that ``hasattr`` expects."""
        if "_model" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return get()

    def _cast(self, a: NDArray[Any]) -> NDArray[Any]:
        """A copy in the precision of the input."""
        return np.array(a, dtype=self._dtype)

    # --- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        X = self._read_X_known(X)
        return self.classes_[self._solved.scores(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """p(class | x), columns in the order of ``classes_``; finite and summing to 1 for any finite row."""
        X = self._read_X_known(X)
        return self._solved.posterior(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Log p(class | x)."""
        X = self._read_X_known(X)
        return self._solved.log_posterior(X)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Log p(x, class)."""
        X = self._read_X_known(X)
        return self._solved.log_joint(X)

    # --- densities

    def _density_solution(self) -> Solution:
        """The solution whose scores are densities."""
        return self._solved

    def score_samples(self, X: Any) -> Array:
        """Log p(x) of each row."""
        X = self._read_X_known(X)
        return self._density_solution().log_density(X)

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Joint log-likelihood Σ w log p(x, y) of labelled rows; −inf for a label the model does not know."""
        self._require_fitted()
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        joint = self._density_solution().log_joint(data)
        at = self._model.counts.axes[CLASS].positions_of(rows.classes)[rows.codes]
        each = np.where(at >= 0, joint[np.arange(len(at)), at], -np.inf)
        weight = np.ones(len(each)) if rows.weights is None else rows.weights
        return (
            math.fsum((each * weight)[weight > 0].tolist()) if np.isfinite(each).all() else float((each * weight).sum())
        )

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Akaike's criterion, 2·parameters − 2·log-likelihood; lower is better."""
        return 2.0 * self.n_parameters_ - 2.0 * self.log_likelihood(X, y, sample_weight)

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The Bayesian criterion, log(rows)·parameters − 2·log-likelihood; lower is better."""
        n = len(y) if sample_weight is None else float(np.sum(sample_weight))
        return math.log(n) * self.n_parameters_ - 2.0 * self.log_likelihood(X, y, sample_weight)

    def sample(self, n: int = 1, y: Any = None, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw ``n`` rows: from the class ``y``, from the classes ``y`` (n of them), or from the prior.

        Returns the rows and their labels.
        """
        solution = self._density_solution()
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"sample: n must be a whole number of at least 1, got {n!r}")
        rng = random_state
        if not isinstance(rng, np.random.Generator):
            rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
        if y is None:
            codes = solution.draw_classes(n, rng)
        else:
            position = self._model.counts.axes[CLASS].position
            one = isinstance(y, Hashable) and (y in position or not isinstance(y, tuple))
            wanted = [y] * n if one else y.tolist() if isinstance(y, np.ndarray) else list(y)
            wanted = wanted * n if len(wanted) == 1 else wanted
            unknown = [c for c in wanted if c not in position]
            if unknown:
                raise ValueError(f"sample: no class {unknown[0]!r}; the classes are {list(self._model.classes)}")
            if len(wanted) != n:
                raise ValueError(
                    f"sample: y names {len(wanted)} classes for n = {n} rows; give one class, or n of them"
                )
            codes = np.array([position[c] for c in wanted], np.int32)
        return solution.sample(codes, rng), self.classes_[codes]

    def logistic_form(self) -> LogisticForm:
        """The posterior as explicit weights: per class (softmax), and ``.pair(a, b)`` as log-odds.

        Linear in the sufficient statistic T(x); own Gaussian variances or covariances add a quadratic term.
        """
        return self._solved.logistic_form()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
