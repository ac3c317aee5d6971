"""What every estimator has beyond learning and predicting: it tunes, calibrates, decides and explains itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from ..core.leave_one_out import LooRows
from ..core.model import Model
from ..data.arrays import Array
from ..data.errors import InputError
from ..data.frame import table_form
from ..data.matrices import Matrix
from ..data.rows import Rows
from ..data.settings import integer
from ..data.validate import Prior, checked_prior, read_weight
from ..data.warn import warn_once
from ..explain.summary import Summary
from ..explain.terms import Explanation
from ..posterior.calibrate import Calibration, calibrated
from ..posterior.decide import Decisions, Rule
from ..posterior.prior_shift import CONVERGED, MOST_STEPS, shifted_prior
from .cross_validation import CrossValidation, cross_validated
from .fitted import log_prior
from .predicting import Predictor, generator

CALIBRATION_ROWS = {"temperature": 5000, "isotonic": 5000}  # left out to fit a calibration on, where there are more


class GenerativeEstimator(Predictor):
    """Fit, update, merge, forget, predict, score, sample, calibrate, decide and explain, for any family."""

    # --- every row under the model without it

    def loo_log_joint(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """log p(x, class) of learned rows, each under the model without it: what fitting anew on all others gives.

        A row is taken out of the sums, in closed form for all rows at once; joint columns with missing values have no
        closed form, and EM goes on for each row from where a first-order step leads, which takes as long as some fits,
        or, with few rows or a covariance between own and shared, as one fit for each row.  Settings that were
        chosen from the rows (bins, amounts of smoothing) stay as they are.  Rows must be among those learned, each
        given once, with the weights that they had; where it shows that they are not, they are refused.  A class of
        which a row is the only one has log-probability −∞ for that row.
        """
        return self._leave_one_out(X, y, sample_weight, self._density_model()).log_joint()

    def loo_predict_proba(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """p(class | x) of learned rows, each under the model without it: honest scores, with no rows held out."""
        left = self._leave_one_out(X, y, sample_weight, nearly=self._approximate_leave_one_out())
        calibration = self._fitted.calibration
        return left.posterior() if calibration is None else calibration.loo_posterior(left)

    def cross_val(self, X: Any, y: Any, cv: Any = 5, sample_weight: Any = None, groups: Any = None) -> CrossValidation:
        """K-fold cross-validation of these settings, without refits: all rows are added up, and each fold taken away.

        ``cv`` is whatever scikit-learn takes: a number of (stratified) folds, a splitter (with ``groups``, where it
        needs them), or pairs of index arrays.  A row may be tested once; where a split does not train on all other
        rows, those it trains on are added up.
        What settings leave to the data (bins, amounts of smoothing, calibration) is chosen once, from all rows.  The
        estimator itself stays as it is.
        """
        model = clone(self).fit(X, y, sample_weight=sample_weight)
        data, labels, rows = model._read(X, y, sample_weight, model._read_X_known)
        model._check_rows_can_go()
        with model._fitted.remarks.collected():
            return cross_validated(model, data, rows, check_cv(cv, labels, classifier=True).split(data, labels, groups))

    def _check_rows_can_go(self) -> None:
        """Refuse where the sums are not those of the rows alone."""

    def _pool_in_words(self) -> str:
        """What posteriors are of, where densities are of something else."""
        return ""

    def _approximate_leave_one_out(self) -> bool:
        """Whether posteriors of rows left out are about those of a refit, where these would take long."""
        return False

    def _density_model(self) -> Model:
        """The sums whose densities are those of ``predict_joint_log_proba``."""
        return self._fitted.model

    def _leave_one_out(
        self, X: Any, y: Any, sample_weight: Any, model: Model | None = None, nearly: bool = False
    ) -> LooRows:
        self._check_rows_can_go()
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        fitted = self._fitted
        fitted.solution.scorer.check(data)
        with fitted.remarks.collected():
            fitted.model.check_learned(data, rows)
            return (model or fitted.model).leave_one_out(data, rows, self._prior_without, nearly=nearly)

    def _prior_without(self, n: Array) -> Array:
        """The log prior of predictions for class counts n; a class without rows has none.  # (n, K) → (n, K)"""
        fitted = self._fitted
        fixed = fitted.given or self._prior() is not None
        p = fitted.prior * np.ones_like(n) if fixed else n + self._setting("prior_smoothing", 0.0)
        p = np.where((n > 0) | [c in fitted.model.pinned for c in fitted.model.classes], p, 0.0)
        return np.where(p > 0, self._decision_prior(p / p.sum(axis=1, keepdims=True)), -np.inf)

    # --- calibration

    def recalibrate(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the calibration anew, on learned rows, each under the model without it (about that, where joint columns
        have missing values: docs/tuning.md).

        ``fit`` does this by itself where ``calibrate`` is set; later batches keep its answer until this is called.  The
        method is the ``calibrate`` that the rows were learned under, or "temperature".
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

    def _after_fit(self, X: Matrix, rows: Rows) -> None:
        self._calibrate(X, rows)

    def _calibration_method(self) -> str | None:
        return self._setting("calibrate")

    def _calibrate(self, X: Matrix, rows: Rows, method: str | None = None) -> None:
        """Replace the state by one with a calibration, fitted on these rows (on some, where there are very many)."""
        method = method or self._calibration_method()
        if method is None:
            return
        self._check_rows_can_go()
        look = self._some_rows(X, rows, CALIBRATION_ROWS[method])
        if len(look) < len(rows):
            X, rows = X[look], rows.some(look)
        fitted = self._fitted
        left = fitted.model.leave_one_out(X, rows, self._prior_without, one=True, nearly=True)
        self._fit = replace(fitted, calibration=calibrated(method, left, fitted.decision_prior(fitted.prior)))

    def _some_rows(self, X: Matrix, rows: Rows, most: int) -> NDArray[np.int64]:
        """The rows that weigh anything; of more than ``most``, so many."""
        return rows.with_positive_weight(most)

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

    # --- new class priors

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
        fitted = self._fitted
        self._needs_prior("adapt_prior")
        steps = integer(max_steps, "adapt_prior: max_steps", 1)
        data = self._read_X_known(X)
        if not data.shape[0]:
            raise InputError("adapt_prior: X has no rows to learn the class prior from")
        weight = read_weight(sample_weight, np.empty((data.shape[0], 0)))
        even = log_prior((fitted.prior > 0).astype(np.float64))  # a class of prior 0 explains no row
        solution = fitted.solution
        flat = solution.under(even)
        w = np.ones(data.shape[0]) if weight is None else weight
        P = flat.posterior(data) if fitted.calibration is None else fitted.calibration.posterior(flat, data)
        prior, gap = shifted_prior(P, w, fitted.prior, steps)
        if gap > CONVERGED:
            warn_once(
                ConvergenceWarning,
                f"adapt_prior: after {steps} steps the mean log-likelihood may still be {gap:.1g} below its maximum; "
                "raise max_steps",
            )
        return self.with_prior(prior)

    def _needs_prior(self, who: str) -> None:
        if self._decision_prior is not log_prior:
            raise InputError(
                f"{who}: the class prior takes no part in the predictions of {type(self).__name__}; use MultinomialNB"
            )

    # --- explaining

    def _columns_of_model(self) -> tuple[Sequence[str], NDArray[np.int64] | None]:
        """The table's columns, and to which of them each column of the model belongs (None: they are the same)."""
        return self._model.columns, None

    def explain(self, X: Any, classes: Any = None) -> Explanation:
        """Why: log p(a | x)/p(b | x) of each row as the prior and what every column adds.

        a and b are the two most probable classes of the row, or ``classes=(a, b)``.  A calibration by temperature is
        part of it, its outlier rate a term of its own; what isotonic maps make of the sum is a term of its own too.
        """
        from ..explain.terms import explain_rows

        fitted, data = self._fitted, self._read_X_known(X)
        columns, owners = self._columns_of_model()
        maps = fitted.posterior if fitted.maps else None
        return explain_rows(fitted.solution, data, classes, columns, owners, table_form(X), maps)

    def why(self, X: Any, n: int = 5, classes: Any = None) -> str:
        """The ``n`` things that decided about one row, in words."""
        if hasattr(X, "to_frame") and np.ndim(X) == 1:  # a row of a data frame
            X = X.to_frame().T
        elif isinstance(X, np.ndarray | list | tuple) and np.ndim(X) == 1:
            X = np.asarray(X)[None]
        explanation = self.explain(X, classes)
        if len(explanation.total) != 1:
            raise ValueError(f"why() takes one row, got {len(explanation.total)}; use explain(X).why(i)")
        return explanation.why(0, n)

    def nomogram(self, X: Any = None, classes: Any = None, most: int = 12) -> Any:
        """What each column adds to the log-odds of two classes over its range, as one picture (needs matplotlib).

        ``classes=(a, b)``, by default the first two; the ``most`` columns that move the log-odds of the rows X most (of
        rows drawn from the model, where none are given).  Where what a column adds depends on others, these are at
        their typical values, and the picture says so.
        """
        from ..explain.nomogram import draws, picture
        from ..explain.terms import explain_rows, pair_of

        solution, labels = self._solved, self._model.classes
        pair = labels[:2] if classes is None else classes
        pair_of(pair, labels, "nomogram")
        columns, owners = self._columns_of_model()
        if not len(columns):
            raise InputError("nomogram: the model has no columns; see schema_ for why they were dropped")
        data = self._drawn_rows(draws(self.n_features_in_)) if X is None else self._read_X_known(X)

        def explain(rows: Any) -> Explanation:
            read = self._read_X_known(rows) if isinstance(rows, dict) else rows
            return explain_rows(solution, read, pair, columns, owners, "dict")

        return picture(explain, getattr(data, "frame", data), solution.scorer.additive, most)

    def _drawn_rows(self, n: int) -> Matrix:
        """Rows drawn from the model, as it reads them."""
        solution, rng = self._density_solution(), generator(0)
        return solution.sample(solution.draw_classes(n, rng), rng)

    def summary(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Summary:
        """Classes, parameters, fit, and how well each column tells the classes apart, on one page.

        The log-likelihood is that of the rows learned, where their sums tell it; else, or for others, give them: X, y.
        """
        from .summary import described

        return described(self, X, y, sample_weight)

    def to_sklearn(self, **settings: Any) -> Any:
        """A fitted ``sklearn.linear_model.LogisticRegression`` with the same posterior, where that is linear in x.

        ``settings`` are its own; ``warm_start`` is True, so that its ``fit`` goes on from here.  A Bernoulli model is
        linear in columns of 0 and 1.
        """
        from ..explain.linear import WAY_OUT, as_logistic_regression, in_table, linear_weights

        if self._fitted.maps or self._solved.outlier_rate:
            what = "an isotonic calibration" if self._fitted.maps else "an outlier rate"
            way = "fit without calibrate" if self._fitted.calibration else "fit with structure='naive'"
            raise InputError(f"to_sklearn: {what} is not linear in x; {way}; {WAY_OUT}")
        columns, owners = self._columns_of_model()
        weights, intercept = linear_weights(self._solved, columns, owners)
        weights = in_table(weights, columns, getattr(self, "_names_in", columns))
        names = getattr(self, "feature_names_in_", None)
        return as_logistic_regression(weights, intercept, self.classes_, names, settings)
