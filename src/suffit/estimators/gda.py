"""Gaussian discriminant analysis, the general one, and what LDA and QDA share with it."""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Real
from typing import ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.family import Family
from ..core.model import Model
from ..core.stats import CLASS, FEATURE, PATTERN, Stats
from ..data.arrays import Array, Cells, Matrix, NumberRows, is_sparse
from ..data.errors import check_finite
from ..data.inputs import ClassesLike, LabelsLike, TableLike, WeightsLike
from ..data.labels import Index
from ..data.rows import Rows
from ..data.validate import Prior
from ..families import Gaussian, MultivariateGaussian
from ..families.gaussian.auto import AnyGaussian
from ..families.gaussian.moments import SCATTER
from ..families.gaussian.scores import GaussianScorer
from .base import GenerativeEstimator, nameless

UNIT = Interval(Real, 0, 1, closed="both")
PRIORS = ["array-like", None, dict, StrOptions({"uniform"})]


@nameless
class GaussianEstimator(GenerativeEstimator):
    """What the Gaussian estimators share: means, priors, and a scorer with covariances."""

    priors: Prior

    def _scorer(self) -> GaussianScorer:
        return cast("GaussianScorer", self._solved.scorer)

    @property
    def means_(self) -> Array:
        """Mean of each class.  (n_classes, n_features)"""
        return self._cast(self._scorer().means)

    @property
    def priors_(self) -> Array:
        """p(class)."""
        return self._cast(self._fitted.prior)

    def decision_function(self, X: TableLike) -> Array:
        """Return log p(x, class) up to a constant per row; for two classes the log-odds of the second.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores whose largest is the class predicted.
        """
        X = cast("NumberRows", self._read_X_known(X))
        scores = self._solved.scores(X) if self._fitted.calibration is None else self.predict_log_proba(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class GaussianDiscriminantAnalysis(GaussianEstimator):
    """Gaussian discriminant analysis: LDA, QDA, naive Bayes and everything between, as settings of one model.

    Parameters
    ----------
    covariance : {"full", "diagonal", "spherical", "auto"}, default "full"
        The structure of each Σ.  Diagonal with tie 0 is Gaussian naive Bayes.  "auto" compares all three by
        leave-one-out, each with its own and with a shared Σ where ``tie="loo"``, and takes the one with the fewest
        parameters that is not worse than the best by more than the standard error of their difference.
    tie : float in [0, 1] or "loo", default 0
        0: a covariance for each class (quadratic boundary).  1: one shared by all (linear boundary).  Between, the
        scatter of each class and that of all are mixed, Σ_c = ((1−t)·S_c + t·S)/((1−t)·n_c + t·N) (Friedman's RDA).
        "loo": the tie with the least leave-one-out log-loss.
    shrinkage : float in [0, 1], "ledoit-wolf", "oas", "loo" or None, default None
        Towards a multiple of the identity by a number, or by an amount estimated from the data of each class on
        standardised columns (full covariances only).  "loo": the number with the least leave-one-out log-loss.  The
        rows of ``fit`` (of the first batch) decide, and ``selection_`` shows what was tried.
    denominator : {"mle", "unbiased"}, default "mle"
        Whether scatter is divided by n or by n − 1 (shared: N − number of classes).
    priors : array-like, dict or "uniform", optional
        Class prior; by default the class shares.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken (1: Laplace).
    calibrate : {"temperature", "isotonic"} or None, default None
        Calibrate the probabilities at ``fit``, on leave-one-out scores: see ``calibration_``.  After batches, call
        ``recalibrate``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Rows (total weight) of each class.
    means_ : ndarray of shape (n_classes, n_features_in_)
        Mean of each class.
    priors_ : ndarray of shape (n_classes,)
        p(class).
    covariance_ : ndarray of shape (n_classes, n_features_in_, n_features_in_) or (n_features_in_, n_features_in_)
        Σ of each class, or the one shared by all.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where X was a table with names.
    n_parameters_ : int
        Number of free parameters.
    selection_ : Tuning or None
        What was tried to tune settings, and what was taken.
    calibration_ : Calibration or None
        The calibration of the probabilities, and what it does to leave-one-out scores.

    See Also
    --------
    LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis : The same under scikit-learn's names.
    GaussianNB : Independent columns.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> for tie in (0, 0.5, 1):
    ...     print(tie, GaussianDiscriminantAnalysis(tie=tie).fit(X, y).n_parameters_)
    0 314
    0.5 314
    1 132
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "covariance": [StrOptions({"full", "diagonal", "spherical", "auto"})],
        "tie": [UNIT, StrOptions({"loo"})],
        "shrinkage": [UNIT, StrOptions({"ledoit-wolf", "oas", "loo"}), None],
        "denominator": [StrOptions({"mle", "unbiased"})],
        "priors": PRIORS,
        "prior_smoothing": [Interval(Real, 0, None, closed="left")],
        "calibrate": [StrOptions({"temperature", "isotonic"}), None],
    }

    def __init__(
        self,
        covariance: str = "full",
        *,
        tie: float | str = 0.0,
        shrinkage: float | str | None = None,
        denominator: str = "mle",
        priors: Prior = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.covariance = covariance
        self.tie = tie
        self.shrinkage = shrinkage
        self.denominator = denominator
        self.priors = priors
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _family(self, n_features: int) -> Family:
        shrinkage = 0.0 if self.shrinkage is None else self.shrinkage
        unbiased, tie = self.denominator == "unbiased", self.tie if self.tie == "loo" else float(self.tie)
        if self.covariance == "auto":
            return AnyGaussian(tie=tie, shrinkage=shrinkage, unbiased=unbiased)
        if self.covariance == "full":
            pooled = tie == 1.0 and shrinkage not in ("ledoit-wolf", "oas")
            return MultivariateGaussian(tie=tie, shrinkage=shrinkage, unbiased=unbiased, pooled=pooled)
        if isinstance(tie, str):
            raise ValueError(
                f"tie='loo' needs covariance='full' or 'auto', got covariance={self.covariance!r}; use a number: 0 for "
                "a covariance for each class, 1 for one shared by all"
            )
        if isinstance(shrinkage, str):
            raise ValueError(
                f"shrinkage={shrinkage!r} needs covariance='full', "
                f"got covariance={self.covariance!r}; use a number, or None"
            )
        return Gaussian(
            tie=tie, spherical=self.covariance == "spherical", unbiased=unbiased, shrinkage=float(shrinkage)
        )

    def _accepted(self, X: Matrix, rows: Rows, model: Model) -> Model:
        if self.tie == 1.0:
            more_rows_than_classes(rows, model)
        return model

    @property
    def covariance_(self) -> Array:
        """Σ of each class (n_classes, n_features, n_features), or the one shared by all (n_features, n_features)."""
        full = self._scorer().covariances()
        return self._cast(full[0] if cast("MultivariateGaussian", self._model.family).tie == 1.0 else full)


def more_rows_than_classes(rows: Rows, model: Model) -> None:
    """Refuse a shared covariance where no class has two rows, or one that counts as two."""
    n, K = float(model.counts["n"].sum()), len(model.classes)
    if n <= K and rows.weights is not None:
        n = max(n, float(np.count_nonzero(rows.weights)))  # weights that are shares
    if n <= K:
        raise ValueError(
            f"The number of samples must be more than the number of classes (n_samples={n:g}, {K} classes): "
            "a shared covariance needs two rows of some class"
        )


def _with_covariances(X: Cells, rows: Rows, estimator: BaseEstimator) -> Stats:
    """The sums that rows with the covariances of a user's estimator would have."""
    K, p = len(rows.classes), X.shape[1]
    n, means, scatter = rows.counts(), np.zeros((K, p)), np.zeros((K, p, p))
    for c in range(K):
        Xc = np.asarray(X[rows.codes == c], dtype=np.float64)
        means[c] = Xc.mean(axis=0)
        scatter[c] = n[c] * _estimated(estimator, Xc)
    axes = {CLASS: rows.classes, FEATURE: Index.range(p), PATTERN: Index(())}
    none = {"part_n": np.zeros((K, 0)), "part_x": np.zeros((K, 0, p)), "part_xx": np.zeros((K, 0, p, p))}
    return Stats(SCATTER, axes, {"n": n, "x": np.zeros((K, p)), "xx": scatter, **none}, means)


def _estimated(estimator: BaseEstimator, X: Cells) -> Array:
    estimator = copy.deepcopy(estimator)  # the user's own stays as it was
    estimator.fit(X)
    if not hasattr(estimator, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    return np.atleast_2d(np.asarray(estimator.covariance_, dtype=np.float64))


@nameless
class WithCovarianceEstimator(GaussianEstimator):
    """Fitting with a covariance estimator of scikit-learn's kind, which wants the rows themselves."""

    covariance_estimator: BaseEstimator | None
    shrinkage: float | str | None
    _total: Array | None

    def _accepted(self, X: Matrix, rows: Rows, model: Model) -> Model:
        """With the covariances of the user's own estimator, where there is one."""
        estimator, self._total = self._setting("covariance_estimator"), None
        if estimator is None:
            return model
        if rows.weights is not None:
            raise ValueError("covariance_estimator does not support sample_weight; use one of the two")
        dense = np.asarray(X.toarray() if is_sparse(X) else X)
        check_finite(dense, model.columns, missing=False)  # the user's estimator gets the rows as they are
        self._total = _estimated(estimator, dense)
        return replace(model, stats=_with_covariances(dense, rows, estimator))

    def _check_rows_can_go(self) -> None:
        if self._setting("covariance_estimator") is not None:
            raise ValueError(
                "with covariance_estimator rows cannot be removed from the model, as leave-one-out, cross_val and "
                "calibrate would need; use shrinkage instead"
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.covariance_estimator is None
        return tags

    def partial_fit(
        self, X: TableLike, y: LabelsLike | None = None, classes: ClassesLike = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Learn one more batch, in place.  Any batches, in any order, equal one ``fit`` on all their rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        classes : array-like, optional
            Not needed; declares classes that may come later, and must then name all of them.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts the row twice.

        Returns
        -------
        self : object
            This estimator.
        """
        learned_with = self._setting("covariance_estimator") if "_fit" in self.__dict__ else None
        if self.covariance_estimator is not None or learned_with is not None:
            raise ValueError("covariance_estimator needs all rows at once: use fit, or shrinkage instead")
        return super().partial_fit(X, y, classes, sample_weight)

    def _check_settings(self, svd: str) -> None:
        if self.solver == "svd":
            if self.shrinkage is not None:
                raise NotImplementedError("shrinkage not supported with 'svd' solver; use solver='eigen'.")
            if self.covariance_estimator is not None:
                raise ValueError(svd)
        elif self.covariance_estimator is not None and self.shrinkage is not None and self.shrinkage != 0:
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )

    def _shrinkage(self) -> float | str:
        if self.shrinkage is None:
            return 0.0
        return "ledoit-wolf" if self.shrinkage == "auto" else self.shrinkage
