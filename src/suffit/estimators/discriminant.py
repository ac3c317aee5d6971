"""Gaussian discriminant analysis: the general one, and LDA and QDA under scikit-learn's names."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from ..families import Gaussian, MultivariateGaussian
from ..families.gaussian_scores import GaussianScorer
from ..families.matrix import SCATTER
from ..families.shrinkage import class_shrinkage, shrink_to_identity
from ..family import Family
from ..model import Model
from ..stats import CLASS, Array, Index, Stats
from ..table import Matrix, Rows
from .base import GenerativeEstimator, Prior

UNIT = Interval(Real, 0, 1, closed="both")
PRIORS = ["array-like", None, dict, StrOptions({"uniform"})]


class GaussianEstimator(GenerativeEstimator):
    """What the Gaussian estimators share: means, priors, and a scorer with covariances."""

    priors: Any

    def _prior(self) -> Prior:
        return self.priors  # type: ignore[no-any-return]

    def _scorer(self) -> GaussianScorer:
        return self._fitted(lambda: self._solved.scorer)  # type: ignore[no-any-return]

    @property
    def means_(self) -> Array:
        """Mean of each class.  (n_classes, n_features)"""
        return self._cast(self._scorer().means)

    @property
    def priors_(self) -> Array:
        """p(class)."""
        return self._fitted(lambda: self._cast(self._class_shares()))  # type: ignore[no-any-return]

    def decision_function(self, X: Any) -> Array:
        """log p(x, class) up to a constant per row; for two classes their difference, the log-odds of the second."""
        X = self._read_X_known(X)
        scores = self._solved.scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class GaussianDiscriminantAnalysis(GaussianEstimator):
    """Gaussian discriminant analysis: LDA, QDA, naive Bayes and everything between, as settings of one model.

    Parameters
    ----------
    covariance : {"full", "diagonal", "spherical"}, default "full"
        The structure of each Σ.  Diagonal with tie 0 is Gaussian naive Bayes.
    tie : float in [0, 1], default 0
        0: a covariance for each class (quadratic boundary).  1: one shared by all (linear boundary).  Between, the
        scatter of each class and that of all are mixed, Σ_c = ((1−t)·S_c + t·S)/((1−t)·n_c + t·N) (Friedman's RDA).
    shrinkage : float in [0, 1], "ledoit-wolf", "oas" or None, default None
        Towards a multiple of the identity by a number, or by the amount the data of each class call for, on
        standardised columns (full covariances only).
    denominator : {"mle", "unbiased"}, default "mle"
        Whether scatter is divided by n or by n − 1 (shared: N − number of classes).
    priors : array-like, dict or "uniform", optional
        Class prior; by default the class shares.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "covariance": [StrOptions({"full", "diagonal", "spherical"})],
        "tie": [UNIT],
        "shrinkage": [UNIT, StrOptions({"ledoit-wolf", "oas"}), None],
        "denominator": [StrOptions({"mle", "unbiased"})],
        "priors": PRIORS,
        "prior_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        covariance: str = "full",
        *,
        tie: float = 0.0,
        shrinkage: float | str | None = None,
        denominator: str = "mle",
        priors: Any = None,
        prior_smoothing: float = 0.0,
    ) -> None:
        self.covariance = covariance
        self.tie = tie
        self.shrinkage = shrinkage
        self.denominator = denominator
        self.priors = priors
        self.prior_smoothing = prior_smoothing

    def _family(self, n_features: int) -> Family:
        shrinkage = 0.0 if self.shrinkage is None else self.shrinkage
        unbiased, tie = self.denominator == "unbiased", float(self.tie)
        if self.covariance == "full":
            pooled = tie == 1.0 and not isinstance(shrinkage, str)
            return MultivariateGaussian(tie=tie, shrinkage=shrinkage, unbiased=unbiased, pooled=pooled)
        if isinstance(shrinkage, str):
            raise ValueError(
                f"shrinkage={shrinkage!r} chooses how much of the correlations to keep and needs covariance='full', got "
                f"covariance={self.covariance!r}; use a number, or None"
            )
        return Gaussian(
            tie=tie, spherical=self.covariance == "spherical", unbiased=unbiased, shrinkage=float(shrinkage)
        )

    def _check_fit(self, X: Matrix, model: Model) -> None:
        if self.tie == 1.0:
            _more_rows_than_classes(model)

    @property
    def covariance_(self) -> Array:
        """Σ of each class (n_classes, n_features, n_features), or the one shared by all (n_features, n_features)."""
        full = self._scorer().covariances()
        return self._cast(full[0] if self.tie == 1.0 else full)


def _more_rows_than_classes(model: Model) -> None:
    n = model.counts["n"]
    if n.sum() <= len(n):
        raise ValueError(
            f"The number of samples must be more than the number of classes (n_samples={n.sum():g}, {len(n)} classes): a "
            "shared covariance needs two rows of some class"
        )


def _with_covariances(X: NDArray[Any], rows: Rows, estimator: Any) -> Stats:
    """The sums that rows with the covariances of a user's estimator would have."""
    K, p = len(rows.classes), X.shape[1]
    n, means, scatter = rows.counts(), np.zeros((K, p)), np.zeros((K, p, p))
    for c in range(K):
        Xc = np.asarray(X[rows.codes == c], dtype=np.float64)
        means[c] = Xc.mean(axis=0)
        scatter[c] = n[c] * _estimated(estimator, Xc)
    axes = {CLASS: rows.classes, "feature": Index.range(p)}
    return Stats(SCATTER, axes, {"n": n, "x": np.zeros((K, p)), "xx": scatter}, means)


def _estimated(estimator: Any, X: NDArray[Any]) -> Array:
    estimator.fit(X)
    if not hasattr(estimator, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} does not have a covariance_ attribute")
    return np.atleast_2d(np.asarray(estimator.covariance_, dtype=np.float64))


class WithCovarianceEstimator(GaussianEstimator):
    """Fitting with a covariance estimator of scikit-learn's kind, which wants the rows themselves."""

    covariance_estimator: Any
    shrinkage: Any
    _total: Array | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add up the sums of these rows, forgetting everything learned before."""
        self._total = None
        if self.covariance_estimator is None:
            return super().fit(X, y, sample_weight)
        self._validate_params()
        if sample_weight is not None:
            raise ValueError("covariance_estimator takes no sample_weight; leave one of the two out")
        with self._unchanged_on_error():
            data, labels, rows = self._read(X, y, None, self._read_X)
            dense = np.asarray(data.toarray() if hasattr(data, "toarray") else data)
            model = Model.empty(self._family(dense.shape[1]), self._columns(X, dense.shape[1]))
            plain = model.collected(dense, rows)
            self._check_fit(dense, plain)
            model = replace(plain, stats=_with_covariances(dense, rows, self.covariance_estimator))
            self._total = _estimated(self.covariance_estimator, dense)
            self._remember_columns(X, data)
            self._adopt(model, labels.dtype)
            self._dtype = np.dtype(np.float32) if data.dtype == np.float32 else np.dtype(np.float64)
            self._solved  # noqa: B018
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the sums of a batch.  Any batches, in any order, equal one ``fit`` on all their rows."""
        if self.covariance_estimator is not None:
            raise ValueError("covariance_estimator needs all rows at once: use fit, or shrinkage instead")
        return super().partial_fit(X, y, classes, sample_weight)

    def _check_settings(self, svd: str) -> None:
        if self.solver == "svd":  # type: ignore[attr-defined]
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
        return "ledoit-wolf" if self.shrinkage == "auto" else self.shrinkage  # type: ignore[no-any-return]


class LinearDiscriminantAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WithCovarianceEstimator):  # type: ignore[misc]
    """Linear discriminant analysis: one covariance for all classes, a linear boundary, and ``transform``.

    Parameters and attributes are scikit-learn's.  Every ``solver`` is the same exact solve of the same sums; the
    choice keeps its meaning for ``priors`` ("lsqr" and "eigen" weigh class covariances by them), for ``transform``
    and for which attributes there are.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default "svd"
    shrinkage : "auto" or float in [0, 1], optional
        Not with "svd".  "auto" is Ledoit–Wolf on standardised columns.
    priors : array-like, dict or "uniform", optional
    n_components : int, optional
        Dimensions that ``transform`` keeps.
    store_covariance : bool, default False
        Whether "svd" has ``covariance_`` too.
    tol : float, default 1e-4
        Directions with a standard deviation below it, in standardised columns, do not count ("svd").
    covariance_estimator : object with ``fit`` and ``covariance_``, optional
    prior_smoothing : float, default 0

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> lda = LinearDiscriminantAnalysis().fit(X, y)
    >>> lda.score(X, y), lda.transform(X).shape
    (0.98, (150, 2))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "lsqr", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), UNIT, None],
        "priors": PRIORS,
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "prior_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        prior_smoothing: float = 0.0,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.prior_smoothing = prior_smoothing

    def _family(self, n_features: int) -> Family:
        self._check_settings("covariance estimator is not supported with svd solver. Try another solver")
        shrinkage = self._shrinkage()
        # a shared covariance needs only pooled sums, unless classes are weighed or shrunk one by one
        by_class = isinstance(shrinkage, str) or (self.solver != "svd" and self.priors is not None)
        by_class = by_class or self.covariance_estimator is not None
        return MultivariateGaussian(
            tie=1.0, shrinkage=shrinkage, pooled=not by_class, tolerance=self.tol**2 if self.solver == "svd" else 0.0
        )

    def _normalised_prior(self, p: Array) -> Array:
        if (p < 0).any():
            raise ValueError(f"priors must be non-negative, found {p.min():g}")
        if abs(p.sum() - 1.0) > 1e-5:
            warnings.warn(f"The priors do not sum to 1 ({p.sum():g}). Renormalizing", UserWarning, stacklevel=2)
            p = p / p.sum()
        return p

    def _adopt(self, model: Model, label_dtype: np.dtype[Any] | None) -> None:
        if self.solver != "svd" and self.priors is not None:
            shares = self._checked_prior(self._prior(), model.classes)
            model = replace(model, family=replace(model.family, pool=tuple(np.asarray(shares).tolist())))  # type: ignore[type-var]
        super()._adopt(model, label_dtype)

    def _check_fit(self, X: Matrix, model: Model) -> None:
        _more_rows_than_classes(model)
        most = min(len(model.classes) - 1, X.shape[1])
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1): {self.n_components} > {most}."
            )

    # --- scikit-learn's attributes, from the sums

    @property
    def _max_components(self) -> int:
        most = min(len(self._model.classes) - 1, self.n_features_in_)
        return most if self.n_components is None else min(self.n_components, most)

    @property
    def _n_features_out(self) -> int:
        return int(self._fitted(lambda: self.explained_variance_ratio_.shape[0]))

    @property
    def covariance_(self) -> Array:
        """The shared Σ ("svd": with ``store_covariance`` only)."""
        if self.solver == "svd" and not self.store_covariance:
            raise AttributeError("covariance_ is there with store_covariance=True, or another solver")
        return self._cast(self._scorer().covariances()[0])

    @property
    def xbar_(self) -> Array:
        """The mean of the class means under the prior ("svd" only)."""
        if self.solver != "svd":
            raise AttributeError("xbar_ is an attribute of solver='svd'")
        return self._cast(self._middle())

    def _middle(self) -> Array:
        scorer = self._scorer()
        return np.asarray(self._class_shares() @ scorer.means) if self.solver == "svd" else np.zeros(scorer.means.shape[1])

    def _linear(self) -> tuple[Array, Array]:
        """Weights Σ⁻¹(μ_c − m) and scores of m itself, per class."""
        scorer = self._scorer()
        W = scorer.W  # type: ignore[attr-defined]
        V = (scorer.means - self._middle()) @ W.T
        with np.errstate(divide="ignore"):
            return V @ W, np.log(self._class_shares()) - 0.5 * (V * V).sum(axis=1)

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

    def decision_function(self, X: Any) -> Array:
        """X·coef_ᵀ + intercept_, computed about the middle of the means."""
        X = self._read_X_known(X)
        w, b = self._linear()
        if len(w) == 2:
            return super().decision_function(X)
        from ..families.gaussian_scores import centred
        from ..kernels.threads import row_blocks

        m = self._middle()
        return np.concatenate([centred(X, s, e, m, w) for s, e in row_blocks(*X.shape)]) + b

    def _directions(self) -> tuple[Array, Array]:
        """Discriminant directions and the share of the between-class variance along each."""
        if self.solver == "lsqr":
            raise AttributeError("solver='lsqr' has no discriminant directions; use 'svd' or 'eigen'")
        self._require_fitted()
        return self._directions_svd() if self.solver == "svd" else self._directions_eigen()

    def _directions_svd(self) -> tuple[Array, Array]:
        scorer = self._scorer()
        sigma = scorer.covariances()[0]
        std = np.sqrt(np.diagonal(sigma))
        std = np.where(std > 0, std, 1.0)
        values, vectors = np.linalg.eigh(sigma / std[:, None] / std)
        values, vectors = values[::-1], vectors[:, ::-1]
        keep = values > max(self.tol**2, 0.0)
        scalings = vectors[:, keep] / std[:, None] / np.sqrt(values[keep])
        shares = self._class_shares()
        K = len(shares)
        N = self._model.counts["n"].sum()
        between = np.sqrt(N * shares / max(K - 1, 1))[:, None] * (scorer.means - shares @ scorer.means)
        _, S, Vt = np.linalg.svd(between @ scalings, full_matrices=False)
        total = (S**2).sum()
        ratio = (S**2 / total if total > 0 else np.zeros_like(S))[: self._max_components]
        rank = int((S > self.tol * S[0]).sum()) if len(S) else 0
        return scalings @ Vt.T[:, :rank], ratio

    def _directions_eigen(self) -> tuple[Array, Array]:
        within = self._scorer().covariances()[0]
        values, vectors = linalg.eigh(self._total_covariance() - within, within)
        values, vectors = values[::-1], vectors[:, ::-1]
        return vectors, (values / values.sum())[: self._max_components]

    def _total_covariance(self) -> Array:
        """The covariance of all rows, shrunk as the settings say: the class sums, moved to one common mean."""
        if self.__dict__.get("_total") is not None:
            return np.asarray(self._total)
        stats = self._model.stats
        assert stats is not None
        n, N = stats["n"], float(stats["n"].sum())
        origin = np.asarray(stats.origin)
        middle = ((n[:, None] * origin + stats["x"]) / N).sum(axis=0)
        about = stats.about(np.broadcast_to(middle, origin.shape))
        S = about["xx"] if about["xx"].ndim == 2 else about["xx"].sum(axis=0)
        shrinkage = self._shrinkage()
        if isinstance(shrinkage, str):
            sums = {k: a.sum(axis=0, keepdims=True) for k, a in about.sums.items()}
            return class_shrinkage(shrinkage, sums, 0, S, N, np.zeros(len(S))) / N
        return shrink_to_identity(S / N, shrinkage)

    @property
    def scalings_(self) -> Array:
        """Directions that tell the classes apart, scaled to unit within-class variance."""
        return self._fitted(lambda: self._cast(self._directions()[0]))  # type: ignore[no-any-return]

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the between-class variance along each direction."""
        return self._fitted(lambda: self._directions()[1])  # type: ignore[no-any-return]

    def transform(self, X: Any) -> Array:
        """Project on the directions that tell the classes apart."""
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        X = self._read_X_known(X)
        from ..families.gaussian_scores import centred
        from ..kernels.threads import row_blocks
        from ..table import check_finite

        P = self._directions()[0][:, : self._max_components].T
        out = np.concatenate([centred(X, a, b, self._middle(), P) for a, b in row_blocks(*X.shape)])
        if not np.isfinite(out).all():
            check_finite(np.asarray(X.toarray() if hasattr(X, "toarray") else X), self._model.columns, 0, missing=False)
        return self._cast(out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class QuadraticDiscriminantAnalysis(WithCovarianceEstimator):
    """Quadratic discriminant analysis: a covariance for each class, a quadratic boundary.

    Parameters and attributes are scikit-learn's.  A class whose covariance is singular (fewer rows than columns, a
    column that does not vary) is mixed with the covariance shared by all, with a warning that names it.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default "svd"
        The same exact solve of the same sums; "eigen" takes ``shrinkage``.
    shrinkage : "auto" or float in [0, 1], optional
    priors : array-like, dict or "uniform", optional
    reg_param : float in [0, 1], default 0
        Σ_c becomes (1 − r)·Σ_c + r·I.
    store_covariance : bool, default False
        Whether there is ``covariance_``.
    tol : float, default 1e-4
        Kept for scikit-learn's sake; a class is singular here where a Cholesky factor says so.
    covariance_estimator : object with ``fit`` and ``covariance_``, optional
    prior_smoothing : float, default 0

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> QuadraticDiscriminantAnalysis().fit(X, y).score(X, y)
    0.98
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"svd", "eigen"})],
        "shrinkage": [StrOptions({"auto"}), UNIT, None],
        "priors": PRIORS,
        "reg_param": [UNIT],
        "store_covariance": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="left")],
        "covariance_estimator": [HasMethods("fit"), None],
        "prior_smoothing": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Any = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        prior_smoothing: float = 0.0,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.prior_smoothing = prior_smoothing

    def _family(self, n_features: int) -> Family:
        self._check_settings("covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead.")
        return MultivariateGaussian(
            shrinkage=self._shrinkage(), ridge=float(self.reg_param) if self.solver == "svd" else 0.0
        )

    def _check_fit(self, X: Matrix, model: Model) -> None:
        if len(model.classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one. Got {len(model.classes)} class.")

    @property
    def covariance_(self) -> list[Array]:
        """Σ of each class (with ``store_covariance`` only)."""
        if not self.store_covariance:
            raise AttributeError("covariance_ is there with store_covariance=True")
        return [self._cast(c) for c in self._scorer().covariances()]

    def _axes(self) -> list[tuple[Array, Array]]:
        return [np.linalg.eigh(c) for c in self._fitted(self._scorer).covariances()]

    @property
    def rotations_(self) -> list[Array]:
        """Principal axes of each class, by falling variance."""
        return [vectors[:, ::-1] for _, vectors in self._axes()]

    @property
    def scalings_(self) -> list[Array]:
        """Variances along the principal axes."""
        return [values[::-1] for values, _ in self._axes()]

