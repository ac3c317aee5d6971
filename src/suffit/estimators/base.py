"""The base class of all estimators: it learns, predicts, explains and decides, for any family.

An estimator holds one reference to its state (:class:`Fitted`), replaced whole by whatever changes it.  What takes
values and returns values stands beside it: ``fitted`` (the state), ``batches`` (small batches that wait), ``checks``,
``cross_validation`` and ``summary``, and in the rooms above.
"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import validate_data

from ..core.family import Family
from ..core.logistic import LogisticForm
from ..core.model import Model
from ..core.solution import RowScorer, Solution
from ..core.stats import CLASS
from ..data.arrays import Array, Cells, Matrix, shown
from ..data.errors import InputError
from ..data.frame import table_form
from ..data.inputs import ClassesLike, LabelsLike, RandomState, TableLike, WeightsLike
from ..data.printed import made_for
from ..data.rows import Rows
from ..data.settings import integer, number
from ..data.validate import (
    Prior,
    adding_up,
    checked_prior,
    class_codes,
    column_names,
    common_dtype,
    generator,
    prior_in_order,
    read_labels,
    read_matrix,
    read_weight,
)
from ..data.warn import WarningCollector, current_collector, warn_once
from ..explain.parameters import BlockParameters, Parameters
from ..explain.summary import Summary
from ..explain.terms import Explanation
from ..posterior.calibrate import Calibration
from ..posterior.decide import Costs, Decisions, Rule, Thresholds
from ..posterior.novelty import ScoredBlock, novelties
from ..posterior.prior_shift import CONVERGED, MOST_STEPS
from ..tables.column_family import apart
from .batches import MOST_OF_A_BATCH, looks_right
from .checks import check_same_classes, check_same_columns, check_same_sums, declared_classes, not_fitted, setting_names
from .cross_validation import CrossValidation, cross_validated
from .fitted import ClassPrior, Fitted, log_prior, next_state

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.linear_model import LogisticRegression

    from ..families.tuning import Tuning
    from ..tables.structures import Selection

CALIBRATION_ROWS = {"temperature": 5000, "isotonic": 5000}  # the most that a calibration is fitted on

C = TypeVar("C", bound=type)


def nameless(cls: C) -> C:
    """Python's own errors say ``fit() missing …``, as this base class is nobody's name for an estimator."""
    for name, method in vars(cls).items():
        if isinstance(method, FunctionType) and not name.startswith("_"):
            method.__qualname__ = name
    return cls


@nameless
class GenerativeEstimator(ClassifierMixin, BaseEstimator):
    """Fit, update, merge, forget, predict, score, sample, calibrate, decide and explain, for any family.

    A subclass says which family its settings make (``_family``) and what the class prior is (``_prior``).  Settings are
    taken when rows are learned, by ``fit`` and ``partial_fit``; nothing else reads them (``_setting``).
    """

    _accept_sparse: tuple[str, ...] | bool = ("csr", "csc")
    _fit: Fitted
    _settings: dict[str, object]  # those that the rows were learned under
    _form: str  # the kind of table that was learned first
    _grows: bool = False  # whether the number of columns may grow (word ids)
    n_features_in_: int
    _text_way_out = "encode it as numbers or drop it, or use GenerativeClassifier, which takes categories and texts"
    _decision_prior = staticmethod(log_prior)

    # --- learn

    def fit(self, X: TableLike, y: LabelsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Learn these rows, in place, and forget everything learned before.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the row twice.

        Returns
        -------
        self
        """
        with self._unchanged_on_error(anew=True):
            self._take_settings()
            data, labels, rows = self._read(X, y, sample_weight, self._read_X)
            columns = column_names(X, data.shape[1], "word " if self._grows else "x")
            model = Model.first(self._family(data.shape[1]), columns, data, rows)
            model = self._accepted(data, rows, model)
            self._remember_columns(X, data)
            self._adopt(model, labels.dtype, data.dtype, anew=True)
            if model.family.may_warn(model.sums):
                _ = self._fit.solution  # made now, so that it warns now
            if self._setting("calibrate") is not None:
                self._calibrate(data, rows, self._setting("calibrate"))
        return self

    def partial_fit(
        self, X: TableLike, y: LabelsLike | None = None, classes: ClassesLike = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Learn one more batch, in place.  Any batches, in any order, equal one ``fit`` on all their rows.

        Batches are checked at once; small ones become part of the model when there are enough of them, or when it is
        asked for anything.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind; new classes may come at any time.
        classes : array-like of shape (n_classes,), optional
            Not needed: classes that may come later.  Where given, it must name all of them.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if classes is None and sample_weight is None and self._put_off(X, y):
            return self
        with self._unchanged_on_error():
            old: Fitted | None = self.__dict__.get("_fit")
            as_before = self._take_settings()
            data, labels, rows = self._read(X, y, sample_weight, self._read_X if old is None else self._read_X_more)
            family = self._family(data.shape[1])
            columns = column_names(X, data.shape[1], "word " if self._grows else "x")
            if old is None:
                declared = () if classes is None else declared_classes(classes, rows)
                model = Model.first(family, columns, data, rows, declared)
                self._remember_columns(X, data)
                self._adopt(model, labels.dtype, data.dtype)
                return self
            if classes is not None:
                check_same_classes(classes, old.model.classes, old.classes)
            family = family.tuned_as(old.known.family).of(columns if self._grows else old.known.columns)
            check_same_sums(old.known.family, family)
            batch = replace(old.known, family=family).collected(data, rows)
            if not (as_before and len(rows) <= MOST_OF_A_BATCH and self._put_off_model(old, batch, labels.dtype)):
                model = replace(old.model, family=family) + batch
                self._adopt(model, common_dtype(old.labels, labels.dtype), old.floats)
        return self

    def _put_off(self, X: Any, y: Any) -> bool:
        """Let a small batch wait, where a few quick looks show that nothing is wrong with it."""
        state, y = self.__dict__, y if type(y) is np.ndarray else np.asarray(y)
        if "feature_names_in_" in state or not looks_right(X, y, state.get("n_features_in_")):
            return False
        if not self._settings_unchanged() or self._grows or (waiting := self._fit.waiting(y.dtype)) is None:
            return False
        self._fit, batches = waiting
        return batches.add_rows(X, y)

    def _put_off_model(self, fitted: Fitted, batch: Model, labels: np.dtype[np.generic]) -> bool:
        """Let the sums of a small batch wait beside others."""
        if self._grows or (waiting := fitted.waiting(labels)) is None:
            return False
        self._fit, batches = waiting
        return batches.add(batch)

    def forget(self, X: TableLike, y: LabelsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Take rows out again, in place, as if they had never been learned.

        A class left without rows goes with them.  Rows that cannot have been learned are refused where it shows.
        Sums of squares keep 16 digits of the largest rows they ever held: forgetting a row far larger than the rest
        leaves fewer digits for the rest, with a warning where it matters.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            The weights that the rows were learned with.

        Returns
        -------
        self
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
        """Let old rows fade, in place: every row learned so far counts ``factor`` times what it did.

        With ``decay(λ)`` before each batch the model is that of weights λ^age.  A class, category or pattern of missing
        values that fades below a weight of 1e-100 rows is gone, unless it was declared.

        Parameters
        ----------
        factor : float
            Above 0, at most 1.

        Returns
        -------
        self

        Examples
        --------
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

    def merge(self, *others: GenerativeEstimator) -> Self:
        """Return another estimator that has learned the rows of this one and of all the others, which stay as they are.

        Parameters
        ----------
        *others : estimators
            Fitted, with the same columns, and sums of the same kind.  ``a + b`` is ``a.merge(b)``.

        Returns
        -------
        estimator of the class of this one
        """
        merged, mine = copy.copy(self), self._fitted
        for other in others:
            if not isinstance(other, GenerativeEstimator):
                raise TypeError(f"merge takes fitted estimators of suffit, got {type(other).__name__}")
            theirs = other._fitted
            merged._check_mergeable(other)
            model, more = merged._in_common(other)
            merged._adopt(model + more, common_dtype(mine.labels, theirs.labels), mine.floats)
            mine = merged._fit
        return merged

    def __add__(self, other: object) -> Self:
        return self.merge(other) if isinstance(other, GenerativeEstimator) else NotImplemented

    def __radd__(self, other: object) -> Self:
        return copy.copy(self) if other == 0 else NotImplemented  # so that sum(models) works

    def with_prior(self, prior: Prior) -> Self:
        """Return another estimator, the same under another class prior.

        The sums are untouched, and so are the covariances.  The prior stays while the classes do.

        Parameters
        ----------
        prior : dict, array-like, "uniform" or None
            By label, or in the order of ``classes_``; None is the class shares again.

        Returns
        -------
        estimator of the class of this one
        """
        old = self._fitted
        new = copy.copy(self)
        new._fit = old.under(None if prior is None else self._checked_prior(prior, old.model.classes))
        return new

    def adapt_prior(self, X: TableLike, sample_weight: WeightsLike = None, *, max_steps: int = MOST_STEPS) -> Self:
        """Return another estimator under the class prior of new, unlabelled rows, by maximum likelihood (label shift).

        The rows of each class must look as they did in training; how many there are of each may differ.  Solves
        max_q Σ w log Σ_c q_c p(x | c) by steps that never lower it (EM, or Newton's where better).  A class whose prior
        is 0 keeps it; rows without evidence change nothing.  Where the model has an outlier rate ε, a row is one at
        that rate whatever its class: (1 − ε) p(x | c) and ε of the mean of all classes take the place of p(x | c).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional
        max_steps : int
            The most steps; there is a warning where they are not enough.

        Returns
        -------
        estimator of the class of this one

        Examples
        --------
        >>> from suffit import GaussianNB
        >>> model = GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
        >>> model.adapt_prior([[0.2], [8.1], [8.5], [8.6]]).predict_proba([[np.nan]]).round(3)
        array([[0.25, 0.75]])
        """
        fitted = self._fitted
        self._needs_prior("adapt_prior")
        steps = integer(max_steps, "adapt_prior: max_steps", 1)
        data = self._read_X_known(X)
        if not data.shape[0]:
            raise InputError("adapt_prior: X has no rows to learn the class prior from")
        weight = read_weight(sample_weight, np.empty((data.shape[0], 0)))
        prior, gap = fitted.shifted_prior(data, np.ones(data.shape[0]) if weight is None else weight, steps)
        if gap > CONVERGED:
            warn_once(
                ConvergenceWarning,
                f"adapt_prior: after {steps} steps the mean log-likelihood may still be {gap:.1g} below its maximum; "
                "raise max_steps",
            )
        return self.with_prior(prior)

    def recalibrate(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None) -> Self:
        """Fit the calibration anew, in place, on learned rows, each under the model without it.

        (About that, where joint columns have missing values: docs/tuning.md.)  ``fit`` does this by itself where
        ``calibrate`` is set; later batches keep its answer until this is called.  The method is the ``calibrate`` that
        the rows were learned under, or "temperature".

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            The weights that the rows were learned with.

        Returns
        -------
        self
        """
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        with self._unchanged_on_error():
            self._check_rows_can_go()
            self._fitted.model.check_learned(data, rows)
            self._calibrate(data, rows, self._setting("calibrate") or "temperature")
        return self

    def _calibrate(self, X: Matrix, rows: Rows, method: str) -> None:
        """Replace the state by one with a calibration, fitted on these rows (on some, where there are very many)."""
        self._check_rows_can_go()
        sample = self._some_rows(X, rows, CALIBRATION_ROWS[method])
        if len(sample) < len(rows):
            X, rows = X[sample], rows.some(sample)
        self._fit = self._fitted.calibrated(method, X, rows)

    # --- predict

    def predict(self, X: TableLike) -> Cells:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._read_X_known(X)
        fitted = self._fitted
        return fitted.classes[fitted.posterior(X).argmax(axis=1) if fitted.maps else fitted.solution.best(X)]

    def predict_proba(self, X: TableLike) -> Array:
        """Return p(class | x); finite and summing to 1 for any finite row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._fitted.posterior(self._read_X_known(X))

    def predict_log_proba(self, X: TableLike) -> Array:
        """Return log p(class | x), exact even where p is all but 1.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        X = self._read_X_known(X)
        return log_prior(self._fitted.posterior(X)) if self._fitted.maps else self._solved.log_posterior(X)

    def predict_joint_log_proba(self, X: TableLike) -> Array:
        """Return log p(x, class).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._solved.log_joint(self._read_X_known(X))

    def score_samples(self, X: TableLike) -> Array:
        """Return log p(x) of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._read_X_known(X)
        return self._density_solution().log_density(X)

    def novelty(self, X: TableLike, random_state: RandomState = 0) -> Array:
        """Return how unusual each row is: the share of rows drawn from the model that are more probable.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            A row with missing values is compared with draws that have the same missing values.
        random_state : int, RandomState or Generator, default 0

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0 to 1; 1: less probable than any of the draws.
        """
        X = self._read_X_known(X)
        return novelties(self._density_solution(), X, self._blocks_of, generator(random_state))

    def log_likelihood(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None) -> float:
        """Return the joint log-likelihood Σ w log p(x, y) of labelled rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            −inf for a label that the model does not know.
        """
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        return self._density_solution().log_likelihood(data, rows)

    def aic(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None) -> float:
        """Return Akaike's criterion, 2·parameters − 2·log-likelihood; lower is better.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return 2.0 * self.n_parameters_ - 2.0 * self.log_likelihood(X, y, sample_weight)

    def bic(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None) -> float:
        """Return the Bayesian criterion, log(rows)·parameters − 2·log-likelihood; lower is better.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        likelihood = self._density_solution().log_likelihood(data, rows)
        return math.log(rows.counts().sum()) * self.n_parameters_ - 2.0 * likelihood

    def sample(self, n: int = 1, y: LabelsLike | None = None, random_state: RandomState = None) -> tuple[Any, Cells]:
        """Return rows drawn from the model, and their labels.

        Parameters
        ----------
        n : int, default 1
            How many.
        y : label, or array-like of n labels, optional
            The class to draw from, or the class of each row; by default they are drawn from the prior.
        random_state : int, RandomState or Generator, optional

        Returns
        -------
        X : ndarray of shape (n, n_features)
        y : ndarray of shape (n,)
        """
        solution = self._density_solution()
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"sample: n must be an integer of at least 1, got {n!r}")
        rng = generator(random_state)
        codes = (
            solution.draw_classes(n, rng) if y is None else class_codes(n, y, self._model.counts.axes[CLASS], "sample")
        )
        return solution.sample(codes, rng), self.classes_[codes]

    def scorer(self) -> RowScorer:
        """Return a handle for one row at a time, without the checks: ``scorer()(row)`` gives p(class | row).

        It scores under the model as it is now.

        Returns
        -------
        callable
            Takes a float64 row of the right length (finite, or with NaN where the model takes missing values) at its
            word.
        """
        fitted = self._fitted
        return RowScorer(fitted.solution, fitted.classes, fitted.posterior if fitted.maps else None)

    def loo_log_joint(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None) -> Array:
        """Return log p(x, class) of learned rows, each under the model without it: what a refit on all others gives.

        A row is taken out of the sums, in closed form for all rows at once; joint columns with missing values have no
        closed form, and EM goes on for each row from where a first-order step leads, which takes as long as some fits,
        or, with few rows or a covariance between own and shared, as one fit for each row.  Settings that were
        chosen from the rows (bins, amounts of smoothing) stay as they are.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows that were learned, each given once; where it shows that they were not, they are refused.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            The weights that the rows were learned with.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            −∞ for a class of which a row is the only one.
        """
        return self._fitted.leave_one_out(*self._learned_rows(X, y, sample_weight), self._density_model()).log_joint()

    def loo_predict_proba(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None) -> Array:
        """Return p(class | x) of learned rows, each under the model without it: honest scores, with no rows held out.

        Exact, except for a pool of structures with missing values in joint columns: there the effect of a row on the
        sums of pairs is removed to the first order (docs/tuning.md has the error), since exact scores would need a
        refit per row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows that were learned, each given once.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            The weights that the rows were learned with.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        rows, fitted = self._learned_rows(X, y, sample_weight), self._fitted
        left = fitted.leave_one_out(*rows, nearly=self._approximate_leave_one_out())
        return left.posterior() if fitted.calibration is None else fitted.calibration.loo_posterior(left)

    def _learned_rows(self, X: TableLike, y: LabelsLike | None, sample_weight: WeightsLike) -> tuple[Matrix, Rows]:
        """Labelled rows whose leave-one-out scores are wanted."""
        self._check_rows_can_go()
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        return data, rows

    def cross_val(
        self,
        X: TableLike,
        y: LabelsLike,
        cv: object = 5,
        sample_weight: WeightsLike = None,
        groups: LabelsLike | None = None,
    ) -> CrossValidation:
        """Return a K-fold cross-validation of these settings; the estimator itself stays as it is.

        There are no refits: all rows are added up, and each fold is taken away.  What settings leave to the data (bins,
        amounts of smoothing, calibration) is chosen once, from all rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        cv : int, splitter or iterable, default 5
            Whatever scikit-learn takes: a number of (stratified) folds, a splitter, or pairs of index arrays.  A row
            may be tested once; where a split does not train on all other rows, those it trains on are added up.
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            For a splitter that needs them.

        Returns
        -------
        CrossValidation
            The probabilities of every row, and their accuracy, log-loss and calibration error.
        """
        from sklearn.model_selection import check_cv  # which takes long to import

        model = clone(self).fit(X, y, sample_weight=sample_weight)
        data, labels, rows = model._read(X, y, sample_weight, model._read_X_known)
        model._check_rows_can_go()
        splits = check_cv(cv, labels, classifier=True).split(data, labels, groups)
        with model._fitted.remarks.collected():
            return cross_validated(model._fitted, data, rows, splits)

    # --- explain

    def explain(self, X: TableLike, classes: ClassesLike = None) -> Explanation:
        """Return log p(a | x)/p(b | x) of each row as the prior and what every column adds.

        A calibration by temperature is part of it, its outlier rate a term of its own; what isotonic maps make of the
        sum is a term of its own too.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        classes : pair of labels, optional
            a and b; by default the two most probable classes of each row.

        Returns
        -------
        Explanation
        """
        from ..explain.terms import explain_rows

        fitted, data = self._fitted, self._read_X_known(X)
        columns, owners = self._columns_of_model()
        maps = fitted.posterior if fitted.maps else None
        return explain_rows(fitted.solution, data, classes, columns, owners, table_form(X), maps)

    def why(self, X: Any, n: int = 5, classes: ClassesLike = None) -> str:
        """Return the things that decided about one row, in words.

        Parameters
        ----------
        X : one row: of shape (n_features,) or (1, n_features), or of a data frame
        n : int, default 5
            How many things.
        classes : pair of labels, optional
            As in ``explain``.

        Returns
        -------
        str
        """
        if hasattr(X, "to_frame") and np.ndim(X) == 1:  # a row of a data frame
            X = X.to_frame().T
        elif isinstance(X, np.ndarray | list | tuple) and np.ndim(X) == 1:
            X = np.asarray(X)[None]
        explanation = self.explain(X, classes)
        if len(explanation.total) != 1:
            raise ValueError(f"why() takes one row, got {len(explanation.total)}; use explain(X).why(i)")
        return explanation.why(0, n)

    def nomogram(
        self,
        X: TableLike | None = None,
        classes: ClassesLike | Hashable = None,
        most: int = 12,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw what each column adds to the log-odds of two classes over its range (needs matplotlib).

        Where what a column adds depends on others, these are at their typical values, and the picture says so.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), optional
            The rows whose log-odds are looked at; by default rows drawn from the model.
        classes : pair of labels, or one label, optional
            Two classes, by default the first two; or one class against all others.
        most : int, default 12
            The most columns, those that move the log-odds of the rows most.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        matplotlib axes

        """
        from ..figures.nomograms import nomogram

        return nomogram(self, X, classes, most, ax)

    def summary(
        self, X: TableLike | None = None, y: LabelsLike | None = None, sample_weight: WeightsLike = None
    ) -> Summary:
        """Return classes, parameters, fit, and how well each column tells the classes apart, on one page.

        The log-likelihood is that of the rows learned, where their sums tell it; else, or for others, give them.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features), optional
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        Summary
        """
        from .summary import described

        if X is not None and y is None:
            raise ValueError("summary: rows are given without their labels; call summary(X, y), or summary()")
        given = None if X is None else self._read(X, y, sample_weight, self._read_X_known)[::2]
        return described(
            type(self).__name__, self._fitted, self._density_solution(), given, self._columns_of_model(),
            self._table_form(), self._pool_in_words(),
        )  # fmt: skip

    def parameters(self) -> Parameters:
        """Return what was fitted: the parameters of every column in every class, to be printed or as a data frame.

        Returns
        -------
        suffit.Parameters
        """
        return Parameters(
            type(self).__name__, self._model.classes, self._fitted.prior, self._parameters(), self._table_form()
        )

    def _parameters(self) -> list[BlockParameters]:
        """By block of columns that share a family."""
        return [BlockParameters(self._model.family.key, 1.0, self._solved.scorer.parameters())]

    def logistic_form(self) -> LogisticForm:
        """Return the posterior as explicit weights: per class (softmax), and ``.pair(a, b)`` as log-odds.

        Returns
        -------
        LogisticForm
            Linear in the sufficient statistic T(x); own Gaussian variances or covariances add a quadratic term.
        """
        return self._solved.logistic_form()

    def to_sklearn(self, **settings: object) -> LogisticRegression:
        """Return a fitted ``sklearn.linear_model.LogisticRegression`` with the same posterior, where it is linear in x.

        A Bernoulli model is linear in columns of 0 and 1.

        Parameters
        ----------
        **settings
            Those of ``LogisticRegression``; ``warm_start`` is True, so that its ``fit`` goes on from here.

        Returns
        -------
        LogisticRegression
        """
        from ..explain.linear import as_logistic_regression

        solution, calibration = self._solved, self._fitted.calibration
        columns, owners = self._columns_of_model()
        table, names = getattr(self, "_names_in", columns), getattr(self, "feature_names_in_", None)
        model = as_logistic_regression(solution, calibration, columns, owners, table, settings)
        model.classes_ = self.classes_
        if names is not None:
            model.feature_names_in_ = names
        return model

    # --- decide

    def decide(
        self,
        X: TableLike,
        cost: Costs = None,
        *,
        prior: Prior = None,
        reject: float | None = None,
        threshold: Thresholds = None,
        novelty: float | None = None,
        reject_label: Hashable = None,
    ) -> Decisions:
        """Return the decision of least expected cost for each row, argmin_d Σ_c p(c | x)·cost[c, d].

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

    def _needs_prior(self, who: str) -> None:
        if self._decision_prior is not log_prior:
            raise InputError(
                f"{who}: the class prior takes no part in the predictions of {type(self).__name__}; use MultinomialNB"
            )

    # --- keep

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, from which ``suffit.load`` makes the same model again, to the last bit.

        The file holds sums and settings, and nothing that could be run.  It is there whole or not at all: an error, or
        a crash at any moment, leaves the file that was there before.

        Parameters
        ----------
        path : str or path
            The file, which is replaced if it is there.

        Returns
        -------
        None

        Raises
        ------
        InputError
            Where a setting cannot be written (a function, an estimator of another library).
        OSError
            Where the file cannot be written.

        Examples
        --------
        >>> import pathlib
        >>> import tempfile
        >>> import suffit
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.suffit"
        >>> suffit.GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]).save(path)
        >>> suffit.load(path).predict([[4.5]]).tolist()
        ['b']
        """
        from ..files.store import save

        save(self, path)

    # --- fitted attributes

    @property
    def classes_(self) -> Cells:
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

    @property
    def calibration_(self) -> Calibration | None:
        """The calibration of the probabilities, and its effect on leave-one-out scores; None where there is none."""
        found = self._fitted.calibration
        return None if found is None else made_for(found, self._table_form())

    @property
    def selection_(self) -> Selection | Tuning | None:
        """What was tried to choose a setting, with its loss, and what was taken; None where all are set by hand."""
        found = getattr(self._model.family.solvable(self._model.sums), "tuning", None)
        return None if found is None else made_for(found, self._table_form())

    # --- the state, which changes as a whole or not at all

    @property
    def _fitted(self) -> Fitted:
        """The state; NotFittedError (an AttributeError, too) before a fit."""
        try:
            return self.__dict__["_fit"]
        except KeyError:
            raise not_fitted(self) from None

    def _check_is_fitted(self) -> None:
        if "_fit" not in self.__dict__:
            raise not_fitted(self)

    @property
    def _model(self) -> Model:
        return self._fitted.model

    @property
    def _solved(self) -> Solution:
        return self._fitted.solution

    def __sklearn_is_fitted__(self) -> bool:
        return "_fit" in self.__dict__

    def __getstate__(self) -> dict[str, object]:
        state = dict(super().__getstate__())  # which may be the estimator's own
        if "_fit" in state:
            state["_fit"] = state["_fit"].alone
        return state

    @contextmanager
    def _unchanged_on_error(self, anew: bool = False, unsaid: Sequence[str] = ()) -> Iterator[None]:
        """Change the state as a whole or not at all; what there is to say is said at the end, once for each fit.

        ``unsaid``: remarks on the data that the settings make superfluous.
        """
        before = dict(self.__dict__)
        fitted: Fitted | None = None if anew else before.get("_fit")
        remarks = WarningCollector(unsaid) if fitted is None else fitted.remarks
        try:
            with remarks.collected():
                yield
        except BaseException:
            self.__dict__.update(before)
            for name in self.__dict__.keys() - before.keys():
                del self.__dict__[name]
            raise

    def _adopt(
        self, model: Model, labels: np.dtype[np.generic] | None, read: np.dtype[np.generic], anew: bool = False
    ) -> None:
        """Make this the model, under the settings that were taken with its rows; solved when first asked.

        ``read``: the type of the rows, whose precision attributes are shown in.
        """
        prior = self._prior()
        setting = None if prior is None else self._checked_prior(prior, model.classes)
        smoothing = self._setting("prior_smoothing", 0.0)
        old: Fitted | None = None if anew else self.__dict__.get("_fit")
        if old is None:
            floats = np.dtype(np.float32 if read == np.float32 else np.float64)
            class_prior, remarks = ClassPrior(setting, smoothing=smoothing), current_collector()
            self._fit = Fitted(model, class_prior, labels, floats, self._decision_prior, remarks=remarks)
        else:
            self._fit = next_state(old, model, setting, labels, smoothing)
        if self._grows:
            self.n_features_in_ = len(model.columns)

    # --- settings: taken when rows are learned

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
        self._settings = {name: self.__dict__.get(name) for name in setting_names(type(self))}
        return False

    def _setting(self, name: str, default: object = None) -> Any:
        """A constructor's value as it was when rows were last learned: a later ``set_params`` waits for the next."""
        try:
            return self.__dict__["_settings"].get(name, default)
        except KeyError:
            raise not_fitted(self) from None

    def _checked_prior(self, prior: Prior, classes: tuple[Hashable, ...]) -> Array:
        """A prior that is set, as an array in class order, checked."""
        return self._normalised_prior(prior_in_order(prior, classes))

    # --- reading input

    def _read_X(self, X: TableLike) -> Matrix:
        return read_matrix(X, self._text_way_out, self._accept_sparse, self)

    def _read_X_known(self, X: TableLike) -> Matrix:
        """X for a fitted estimator: the same columns as before."""
        if "_fit" not in self.__dict__:
            raise not_fitted(self)
        read = self._read_X(X)
        if type(X) is np.ndarray and X.shape[1] == self.n_features_in_ and not hasattr(self, "feature_names_in_"):
            return read
        validate_data(self, X, reset=False, skip_check_array=True)
        return read

    def _read_X_more(self, X: TableLike) -> Matrix:
        """X of a further batch; where columns may grow, they may here."""
        return self._read_X_known(X)

    def _read(
        self, X: TableLike, y: LabelsLike | None, sample_weight: WeightsLike, read_X: Callable[[TableLike], Matrix]
    ) -> tuple[Matrix, Cells, Rows]:
        y = read_labels(y, type(self).__name__)
        X = read_X(X)
        if X.shape[0] != len(y):
            check_consistent_length(X, y)
        weight = read_weight(sample_weight, X)
        return X, y, Rows.of(y, weight)

    def _remember_columns(self, X: TableLike, data: Matrix) -> None:
        if type(X) is np.ndarray:  # has no names to remember
            self._form, self.n_features_in_ = "array", data.shape[1]
            self.__dict__.pop("feature_names_in_", None)
            return
        self._form = table_form(X)
        validate_data(self, X if not isinstance(X, list) else data, reset=True, skip_check_array=True)

    # --- what a subclass provides, and may change

    def _family(self, n_features: int) -> Family:
        raise NotImplementedError

    def _prior(self) -> Prior:
        """The class prior set by the user: by label or in class order, "uniform", or None for the class shares."""
        return self._setting("priors")

    def _normalised_prior(self, p: Array) -> Array:
        return adding_up(p)

    def _accepted(self, X: Matrix, rows: Rows, model: Model) -> Model:
        """The model of a fit; refused where the rows will not do, though they might for a first batch."""
        return model

    def _check_mergeable(self, other: GenerativeEstimator) -> None:
        check_same_columns(self, other)

    def _in_common(self, other: GenerativeEstimator) -> tuple[Model, Model]:
        """The models of both, with sums of the same columns; what this one keeps beside its model becomes that."""
        return self._fitted.model, other._fitted.model

    def _check_rows_can_go(self) -> None:
        """Refuse where the sums are not those of the rows alone."""

    def _some_rows(self, X: Matrix, rows: Rows, most: int) -> NDArray[np.int64]:
        """The rows that weigh anything; of more than ``most``, so many."""
        return rows.with_positive_weight(most)

    def _approximate_leave_one_out(self) -> bool:
        """Whether leave-one-out posteriors are about those of a refit, where these would take long."""
        return False

    def _density_model(self) -> Model:
        """The sums whose densities are those of ``predict_joint_log_proba``."""
        return self._fitted.model

    def _density_solution(self) -> Solution:
        """The solution whose scores are densities."""
        return self._solved

    def _pool_in_words(self) -> str:
        """What posteriors are of, where densities are of something else."""
        return ""

    def _table_form(self) -> str:
        """The kind of table that was learned first."""
        return self.__dict__.get("_form", "array")

    def _columns_of_model(self) -> tuple[Sequence[str], NDArray[np.int64] | None]:
        """The table's columns, and to which of them each column of the model belongs (None: they are the same)."""
        return self._model.columns, None

    def _columns_of_density(self) -> tuple[Sequence[str], NDArray[np.int64] | None]:
        """The same of the columns of the density's model."""
        return self._columns_of_model()

    def _shown_rows(self, data: Matrix) -> Any:
        """Rows with a cell for each column that explanations name."""
        return shown(data)

    def _drawn_rows(self, n: int) -> Matrix:
        """Rows drawn from the model, as it reads them."""
        solution, rng = self._density_solution(), generator(0)
        return solution.sample(solution.draw_classes(n, rng), rng)

    def _typical_rows(self, n: int) -> Matrix:
        """The means of the first n classes, as rows that the model reads."""
        return self._density_solution().scorer.typical(n)

    def _blocks_of(self, X: Matrix) -> list[ScoredBlock]:
        """The columns of these rows that the density scores together."""
        solution = self._density_solution()
        return [ScoredBlock(solution.scorer, X, apart(self._model.family))]

    def _cast(self, a: Array) -> Array:
        """A copy in the precision of the input."""
        return np.array(a, dtype=self._fitted.floats)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # NaN is a missing value, everywhere
        return tags
