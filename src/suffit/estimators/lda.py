"""Linear discriminant analysis under scikit-learn's name, with its attributes computed from the sums."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..core.family import Family
from ..core.model import Model
from ..core.stats import Stats
from ..data.arrays import Array, Matrix, NumberRows, block
from ..data.errors import check_finite
from ..data.inputs import TableLike
from ..data.rows import Rows
from ..data.validate import Prior
from ..data.warn import warn_once
from ..explain.parameters import Directions, Parameters
from ..families import MultivariateGaussian
from ..families.gaussian.few_rows.scores import FewRowsShared
from ..families.gaussian.few_rows.solve import directions
from ..families.gaussian.scores import SharedScorer, centred
from ..families.gaussian.shrinkage import class_shrinkage, shrink_to_identity
from ..kernels.runtime.threads import row_blocks
from .gda import PRIORS, UNIT, WithCovarianceEstimator, more_rows_than_classes


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WithCovarianceEstimator):
    """Linear discriminant analysis: one covariance for all classes, a linear boundary, and ``transform``.

    Parameters and attributes are scikit-learn's.  Every ``solver`` is the same exact solve of the same sums; the
    choice keeps its meaning for ``priors`` ("lsqr" and "eigen" weigh class covariances by them), for ``transform``
    and for which attributes there are.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default "svd"
        See above; "svd" does not take ``shrinkage``, "lsqr" has no ``transform``.
    shrinkage : "auto", "loo" or float in [0, 1], optional
        Not with "svd".  "auto" is Ledoit–Wolf on standardised columns, "loo" the amount with the least leave-one-out
        log-loss.
    priors : array-like, dict or "uniform", optional
        Class prior; by default the class shares.
    n_components : int, optional
        Dimensions that ``transform`` keeps.
    store_covariance : bool, default False
        Whether "svd" has ``covariance_`` too.
    tol : float, default 1e-4
        Directions with a standard deviation below it, in standardised columns, are dropped ("svd").
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
    coef_ : ndarray of shape (1, n_features_in_) or (n_classes, n_features_in_)
        Weights of the linear boundary.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Its intercepts.
    covariance_ : ndarray of shape (n_features_in_, n_features_in_)
        The shared Σ ("svd": with ``store_covariance`` only).
    xbar_ : ndarray of shape (n_features_in_,)
        The mean of the class means under the prior ("svd" only).
    scalings_ : ndarray of shape (n_features_in_, n_directions)
        Directions that separate the classes, scaled to unit variance within classes (not "lsqr").
    explained_variance_ratio_ : ndarray of shape (n_directions,)
        Share of the between-class variance along each direction.
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
    QuadraticDiscriminantAnalysis : A covariance for each class.
    GaussianDiscriminantAnalysis : Covariances between own and shared, and their tuning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> lda = LinearDiscriminantAnalysis().fit(X, y)
    >>> lda.score(X, y), lda.transform(X).shape
    (0.98, (150, 2))
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto", "loo"}), UNIT, None],
        "priors": PRIORS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "prior_smoothing": [Interval(Real, 0, None, closed="left")],
        "calibrate": [StrOptions({"temperature", "isotonic"}), None],
    }

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: Prior = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: BaseEstimator | None = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _family(self, n_features: int) -> Family:
        self._check_settings("covariance estimator is not supported with svd solver. Try another solver")
        shrinkage = self._shrinkage()
        # a shared covariance needs only pooled sums, unless classes are weighed or shrunk one by one
        by_class = shrinkage == "ledoit-wolf" or (self.solver != "svd" and self.priors is not None)
        by_class = by_class or self.covariance_estimator is not None or self._stores_by_prior()
        return MultivariateGaussian(
            tie=1.0,
            shrinkage=shrinkage,
            pooled=not by_class,
            tolerance=self.tol**2 if self.solver == "svd" else 0.0,
        )

    def _stores_by_prior(self) -> bool:
        """Whether "svd" is asked for the covariance that scikit-learn stores: class covariances weighed by priors."""
        svd_stores = self._setting("solver") == "svd" and self._setting("store_covariance")
        return svd_stores and self._prior() is not None

    def _normalised_prior(self, p: Array) -> Array:
        if (p < 0).any():
            raise ValueError(f"priors must be non-negative, found {p.min():g}")
        if abs(p.sum() - 1.0) > 1e-5:
            warn_once(UserWarning, f"The priors do not sum to 1 ({p.sum():g}). Renormalizing")
            p = p / p.sum()
        return p

    def _adopt(
        self, model: Model, labels: np.dtype[np.generic] | None, read: np.dtype[np.generic], anew: bool = False
    ) -> None:
        if self._setting("solver") != "svd" and self._prior() is not None:
            shares = self._checked_prior(self._prior(), model.classes)
            model = replace(model, family=model.family.having(pool=tuple(np.asarray(shares).tolist())))
        super()._adopt(model, labels, read, anew)

    def _accepted(self, X: Matrix, rows: Rows, model: Model) -> Model:
        more_rows_than_classes(rows, model)
        most = min(len(model.classes) - 1, X.shape[1])
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1): {self.n_components} > {most}."
            )
        return super()._accepted(X, rows, model)

    # --- scikit-learn's attributes, from the sums

    @property
    def _max_components(self) -> int:
        most = min(len(self._model.classes) - 1, self.n_features_in_)
        return most if self._setting("n_components") is None else min(self._setting("n_components"), most)

    @property
    def _n_features_out(self) -> int:
        return int(self.explained_variance_ratio_.shape[0])

    def _joint_family(self) -> MultivariateGaussian:
        return cast("MultivariateGaussian", self._model.family)

    @property
    def covariance_(self) -> Array:
        """The shared Σ ("svd": with ``store_covariance`` only)."""
        if self._setting("solver") == "svd" and not self._setting("store_covariance"):
            raise AttributeError("covariance_ needs store_covariance=True, or another solver")
        if self._stores_by_prior():  # as scikit-learn has it: not the one that predictions use
            model, plain = self._model, self._joint_family()
            family = replace(plain, pool=tuple(self._fitted.prior.tolist()))
            return self._cast(family.covariances(plain.of(model.columns).completed(cast("Stats", model.sums)))[2])
        return self._cast(self._scorer().covariances()[0])

    @property
    def xbar_(self) -> Array:
        """The mean of the class means under the prior ("svd" only)."""
        if self._setting("solver") != "svd":
            raise AttributeError("xbar_ is an attribute of solver='svd'")
        return self._cast(self._middle())

    def _middle(self) -> Array:
        scorer = self._scorer()
        return (
            np.asarray(self._fitted.prior @ scorer.means)
            if self._setting("solver") == "svd"
            else np.zeros(scorer.means.shape[1])
        )

    def _linear(self) -> tuple[Array, Array]:
        """Weights βΣ⁻¹(μ_c − m) and scores of m itself, per class; β is the power of a calibration, or 1."""
        scorer = self._scorer()
        W = cast("SharedScorer", scorer).W
        V = (scorer.means - self._middle()) @ W.T
        with np.errstate(divide="ignore"):
            beta = self._solved.power
            return beta * (V @ W), np.log(self._fitted.prior) - 0.5 * beta * (V * V).sum(axis=1)

    @property
    def coef_(self) -> Array:
        """Weights of the linear boundary: (1, n_features) for two classes, else (n_classes, n_features)."""
        w, _ = self._linear()
        return self._cast(w[1:] - w[:1] if len(w) == 2 else w)

    @property
    def intercept_(self) -> Array:
        """Intercepts that go with ``coef_``."""
        w, b = self._linear()
        b = b - w @ self._middle()
        return self._cast(b[1:] - b[:1] if len(b) == 2 else b)

    def decision_function(self, X: TableLike) -> Array:
        """Return X·coef_ᵀ + intercept_, computed about the middle of the means; log-probabilities under ``calibrate``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores whose largest is the class predicted; for two classes the log-odds of the second.
        """
        if self._fitted.calibration is not None:
            return super().decision_function(X)
        X = cast("NumberRows", self._read_X_known(X))
        w, b = self._linear()
        linear = w[1:] - w[:1] if len(w) == 2 else w
        out = self._projected(X, linear) + (b[1:] - b[:1] if len(w) == 2 else b)
        gap = self._rows_with_missing(X)
        if len(gap):  # log-odds of what is there; of more classes, log p(x, class)
            solved = self._solved
            scores = solved.power * (solved.log_joint(X[gap]) - solved.log_prior) + solved.log_prior
            out[gap] = scores[:, 1:] - scores[:, :1] if len(w) == 2 else scores
        return out[:, 0] if len(w) == 2 else out

    def _rows_with_missing(self, X: NumberRows) -> NDArray[np.int64]:
        blocks = (a + np.flatnonzero(np.isnan(block(X, a, b)).any(axis=1)) for a, b in row_blocks(*X.shape))
        return np.concatenate([np.zeros(0, np.int64), *blocks])

    def _directions(self) -> tuple[Array, Array]:
        """Discriminant directions and the share of the between-class variance along each."""
        if self._setting("solver") == "lsqr":
            raise AttributeError("solver='lsqr' has no discriminant directions; use 'svd' or 'eigen'")
        return self._directions_svd() if self._setting("solver") == "svd" else self._directions_eigen()

    def _directions_svd(self) -> tuple[Array, Array]:
        scorer = self._scorer()
        scalings = scorer.W.T if isinstance(scorer, FewRowsShared) else self._scaled_axes(scorer.covariances()[0])
        shares = self._fitted.prior
        K = len(shares)
        N = self._model.counts["n"].sum()
        between = np.sqrt(N * shares / max(K - 1, 1))[:, None] * (scorer.means - shares @ scorer.means)
        _, S, Vt = np.linalg.svd(between @ scalings, full_matrices=False)
        total = (S**2).sum()
        ratio = (S**2 / total if total > 0 else np.zeros_like(S))[: self._max_components]
        rank = int((self._setting("tol") * S[0] < S).sum()) if len(S) else 0
        return scalings @ Vt.T[:, :rank], ratio

    def _scaled_axes(self, sigma: Array) -> Array:
        """Principal axes of standardised columns, scaled to unit variance; those that do not vary are left out."""
        std = np.sqrt(np.diagonal(sigma))
        std = np.where(std > 0, std, 1.0)
        values, vectors = np.linalg.eigh(sigma / std[:, None] / std)
        values, vectors = values[::-1], vectors[:, ::-1]
        keep = values > max(self._setting("tol") ** 2, 0.0)
        return np.asarray(vectors[:, keep] / std[:, None] / np.sqrt(values[keep]))

    def _directions_eigen(self) -> tuple[Array, Array]:
        scorer = self._scorer()
        if isinstance(scorer, FewRowsShared):
            whole = self._joint_family().all_as_one(cast("Stats", self._model.sums))
            vectors, values, total = directions(scorer, whole, self._max_components)
            return vectors, (values / total)[: self._max_components]
        W = cast("SharedScorer", scorer).W
        values, vectors = np.linalg.eigh(W @ (self._total_covariance() - scorer.covariances()[0]) @ W.T)
        values, vectors = values[::-1], W.T @ vectors[:, ::-1]
        return vectors, (values / values.sum())[: self._max_components]

    def _total_covariance(self) -> Array:
        """The covariance of all rows, shrunk as the settings say: the class sums, moved to one common mean."""
        if self.__dict__.get("_total") is not None:
            return np.asarray(self._total)
        stats = self._joint_family().of(self._model.columns).completed(cast("Stats", self._model.sums))
        n, N = stats["n"], float(stats["n"].sum())
        origin = np.asarray(stats.origin)
        middle = ((n[:, None] * origin + stats["x"]) / N).sum(axis=0)
        about = stats.about(np.broadcast_to(middle, origin.shape))
        S = about["xx"] if about["xx"].ndim == 2 else about["xx"].sum(axis=0)
        shrinkage = self._joint_family().shrinkage
        if isinstance(shrinkage, str):
            shrinkage = shrinkage if "xxyy" in about.sums else "oas"  # rows with missing values have no fourth moments
            sums = {k: a.sum(axis=0, keepdims=True) for k, a in about.sums.items()}
            return class_shrinkage(shrinkage, sums, S[None], np.zeros((1, len(S))))[0] / N
        return shrink_to_identity(S / N, shrinkage)

    @property
    def scalings_(self) -> Array:
        """Directions that separate the classes, scaled to unit within-class variance."""
        return self._cast(self._directions()[0])

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the between-class variance along each direction."""
        return self._directions()[1]

    def parameters(self) -> Parameters:
        """Return what was fitted, with the directions that separate the classes.

        Returns
        -------
        suffit.Parameters
        """
        lsqr = self._setting("solver") == "lsqr"
        return replace(super().parameters(), directions=None if lsqr else Directions(*self._directions()))

    def transform(self, X: TableLike) -> Array:
        """Return the rows projected on the directions that separate the classes.

        Missing values are replaced by their conditional means, given the rest of the row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates along the directions.
        """
        if self._setting("solver") == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        X = cast("NumberRows", self._read_X_known(X))
        return self._cast(self._projected(X, self._directions()[0][:, : self._max_components].T))

    def _projected(self, X: NumberRows, P: Array) -> Array:
        """(x − middle)·Pᵀ, with infinities refused."""
        middle = self._middle()
        out = np.concatenate([centred(X, a, b, middle, P) for a, b in row_blocks(*X.shape)])
        if not np.isfinite(out).all():
            for a, b in row_blocks(*X.shape):
                check_finite(block(X, a, b), self._model.columns, a)
            gap = np.flatnonzero(np.isnan(out).any(axis=1))
            rows = block(X[gap], 0, len(gap))
            whole = self._solved.scorer.filled(rows, self._solved.posterior(rows))
            out[gap] = centred(whole, 0, len(gap), middle, P)
        return out

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
