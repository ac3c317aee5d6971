"""Quadratic discriminant analysis under scikit-learn's name."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..core.family import Family
from ..core.model import Model
from ..data.arrays import Array, Matrix
from ..data.rows import Rows
from ..data.validate import Prior
from ..families import MultivariateGaussian
from ..families.gaussian.few_rows.scores import FewRowsOwn
from .gda import PRIORS, UNIT, WithCovarianceEstimator


class QuadraticDiscriminantAnalysis(WithCovarianceEstimator):
    """Quadratic discriminant analysis: a covariance for each class, a quadratic boundary.

    Parameters and attributes are scikit-learn's.  A class whose covariance is singular (fewer rows than columns, a
    column that does not vary) is mixed with the covariance shared by all, with a warning that names it.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default "svd"
        The same exact solve of the same sums; "eigen" takes ``shrinkage``.
    shrinkage : "auto", "loo" or float in [0, 1], optional
        "auto" is Ledoit–Wolf on standardised columns, "loo" the amount with the least leave-one-out log-loss.
    priors : array-like, dict or "uniform", optional
        Class prior; by default the class shares.
    reg_param : float in [0, 1], default 0
        Σ_c becomes (1 − r)·Σ_c + r·I.
    store_covariance : bool, default False
        Whether there is ``covariance_``.
    tol : float, default 1e-4
        Accepted for compatibility and not used; a class is singular where its Cholesky factor does not exist.
    covariance_estimator : object with ``fit`` and ``covariance_``, optional
        Estimates the covariances instead, as scikit-learn's classes do; needs all rows at once.
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
    covariance_ : ndarray of shape (n_classes, n_features_in_, n_features_in_)
        Σ of each class (with ``store_covariance`` only).
    rotations_ : list of ndarray of shape (n_features_in_, n_axes)
        Principal axes of each class, by falling variance.
    scalings_ : list of ndarray of shape (n_axes,)
        Variances along the principal axes.
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
    LinearDiscriminantAnalysis : One covariance for all classes.
    GaussianDiscriminantAnalysis : Covariances between own and shared, and their tuning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> QuadraticDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto", "loo"}), UNIT, None],
        "priors": PRIORS,
        "reg_param": [UNIT],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "prior_smoothing": [Interval(Real, 0, None, closed="left")],
        "calibrate": [StrOptions({"temperature", "isotonic"}), None],
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: Prior = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: BaseEstimator | None = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _family(self, n_features: int) -> Family:
        self._check_settings("covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead.")
        return MultivariateGaussian(
            shrinkage=self._shrinkage(), ridge=float(self.reg_param) if self.solver == "svd" else 0.0
        )

    def _accepted(self, X: Matrix, rows: Rows, model: Model) -> Model:
        if len(model.classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one. Got {len(model.classes)} class.")
        return super()._accepted(X, rows, model)

    @property
    def covariance_(self) -> list[Array]:
        """Σ of each class (with ``store_covariance`` only)."""
        if not self._setting("store_covariance"):
            raise AttributeError("covariance_ needs store_covariance=True")
        return [self._cast(c) for c in self._scorer().covariances()]

    def _axes(self) -> list[tuple[Array, Array]]:
        scorer = self._scorer()
        if isinstance(scorer, FewRowsOwn):
            return scorer.axes()
        each = [np.linalg.eigh(c) for c in scorer.covariances()]
        return [(values[::-1], vectors[:, ::-1]) for values, vectors in each]

    @property
    def rotations_(self) -> list[Array]:
        """Principal axes of each class, by falling variance; of few rows with many columns, those in which they lie."""
        return [vectors for _, vectors in self._axes()]

    @property
    def scalings_(self) -> list[Array]:
        """Variances along the principal axes."""
        return [values for values, _ in self._axes()]
