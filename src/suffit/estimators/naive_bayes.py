"""Naive Bayes under scikit-learn's names, and beyond them ``PoissonNB`` and ``NaiveBayes(family=…)``."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions

from ..families import Bernoulli, Categorical, Gaussian, Multinomial, Poisson
from ..families.elementwise import Elementwise
from ..families.gaussian_scores import DiagonalScorer
from ..family import Family, family_named
from ..model import Solution
from ..stats import Array, Index
from ..table import InputError, Matrix, Rows, is_sparse
from .base import GenerativeEstimator, Prior

NON_NEGATIVE = Interval(Real, 0, None, closed="left")


class GaussianNB(GenerativeEstimator):
    """Gaussian naive Bayes: every column normal, independent given the class.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), optional
        Class prior; by default the class shares.
    var_smoothing : float, default 1e-9
        Share of a total variance that is added to every variance.
    floor : {"bounded", "own", "largest"}, default "bounded"
        Whose total variance: that of the column with the largest ("largest", scikit-learn's rule), the same but no more
        than a million times the column's own, so that a column of small scale keeps its information ("bounded"; equal
        to "largest" where all standard deviations lie within a factor of 1000), or always the column's own ("own").
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken (1: Laplace).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict(X[:3]), model.theta_[0].round(3)
    (array([0, 0, 0]), array([5.006, 3.428, 1.462, 0.246]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None, dict, StrOptions({"uniform"})],
        "var_smoothing": [NON_NEGATIVE],
        "floor": [StrOptions({"bounded", "own", "largest"})],
        "prior_smoothing": [NON_NEGATIVE],
    }

    def __init__(
        self,
        *,
        priors: Any = None,
        var_smoothing: float = 1e-9,
        floor: str = "bounded",
        prior_smoothing: float = 0.0,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.floor = floor
        self.prior_smoothing = prior_smoothing

    def _family(self, n_features: int) -> Family:
        return Gaussian(smoothing=float(self.var_smoothing), floor=self.floor)

    def _prior(self) -> Prior:
        return self.priors  # type: ignore[no-any-return]

    def _scorer(self) -> DiagonalScorer:
        return self._fitted(lambda: self._solved.scorer)  # type: ignore[no-any-return]

    @property
    def class_count_(self) -> Array:
        """Rows (total weight) of each class."""
        return self._fitted(lambda: self._cast(self._model.counts["n"]))  # type: ignore[no-any-return]

    @property
    def class_prior_(self) -> Array:
        """p(class)."""
        return self._fitted(lambda: self._cast(self._class_shares()))  # type: ignore[no-any-return]

    @property
    def theta_(self) -> Array:
        """Mean of each column in each class."""
        return self._cast(self._scorer().means)

    @property
    def var_(self) -> Array:
        """Variance of each column in each class, smoothing included."""
        return self._cast(self._scorer().variances)

    @property
    def epsilon_(self) -> Any:
        """What was added to the variances: one number per column, or one for all with ``floor="largest"``."""
        bare = Gaussian().scorer(self._fitted(lambda: self._model.stats), self._model.columns)
        added = self._scorer().variances - bare.variances  # type: ignore[attr-defined]
        return float(added.max()) if self.floor == "largest" else added.max(axis=0)

    @staticmethod
    def _update_mean_variance(n_past: float, mu: Any, var: Any, X: Any, sample_weight: Any = None) -> tuple[Any, Any]:
        """Mean and variance with more rows added (a hook of scikit-learn's class that subclasses call)."""
        if len(X) == 0:
            return mu, var
        rows = Rows(Index.of([0]), np.zeros(len(X), np.int32), None if sample_weight is None else np.asarray(sample_weight))
        new = Gaussian().collect(np.asarray(X, dtype=np.float64), rows, ())
        n, mean, v = (np.broadcast_to(np.asarray(a, dtype=np.float64), new["n"].shape) for a in (n_past, mu, var))
        from dataclasses import replace

        both = replace(new, sums={"n": n, "x": np.zeros_like(mean), "xx": n * v}, origin=mean) + new
        d = both["x"] / both["n"]
        return (both.origin + d)[0], (both["xx"] / both["n"] - d * d)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class SmoothedNB(GenerativeEstimator):
    """What the naive Bayes models with counts share: ``alpha`` and the class prior, as scikit-learn names them."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [NON_NEGATIVE, "array-like"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None, dict],
        "force_alpha": ["boolean"],
        "prior_smoothing": [NON_NEGATIVE],
    }
    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    def _check_alpha(self) -> Any:
        """``alpha`` as a number or an array by column; below 1e-10 only where ``force_alpha`` says so."""
        alpha = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        least = np.min(alpha)
        if isinstance(alpha, np.ndarray):
            if alpha.shape[0] != self.n_features_in_:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {self.n_features_in_}."
                )
            if least < 0:
                raise ValueError(f"All values in alpha must be greater than 0. Found {least:g}.")
        if least < 1e-10 and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = 1.0e-10. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                stacklevel=2,
            )
            return np.maximum(alpha, 1e-10)
        return alpha

    def _smoothing(self, n_features: int) -> Any:
        before = self.__dict__.get("n_features_in_")
        self.n_features_in_ = n_features
        try:
            return self._check_alpha()
        finally:
            if before is None:
                del self.n_features_in_
            else:
                self.n_features_in_ = before

    def _prior(self) -> Prior:
        if self.class_prior is not None:
            return self.class_prior  # type: ignore[no-any-return]
        return None if self.fit_prior else "uniform"

    def _normalised_prior(self, p: Array) -> Array:
        if not (p >= 0).all():
            raise ValueError(f"Priors must be non-negative, found {p[np.argmin(p >= 0)]:g}.")
        return p

    @property
    def class_log_prior_(self) -> Array:
        """log p(class)."""
        return self._fitted(lambda: self._solved.log_prior.copy())  # type: ignore[no-any-return]

    @property
    def feature_count_(self) -> Array:
        """Σ of each column in each class."""
        stats = self._fitted(lambda: self._model.stats)
        return stats["count"].copy() if "count" in stats.sums else stats["t"][..., 0].copy()  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class BernoulliNB(SmoothedNB):
    """Bernoulli naive Bayes: each feature present or absent, both evidence.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default 1.0
        φ = (present + α)/(rows + 2α); α = 0 is maximum likelihood, predictions then being the limit α → 0.
    force_alpha : bool, default True
        False raises α to at least 1e-10.
    binarize : float or None, default 0.0
        A value above it is present; None where columns hold 0 and 1 already.
    fit_prior, class_prior, prior_smoothing
        The class prior: class shares (smoothed), uniform where ``fit_prior=False``, or as given.

    Examples
    --------
    >>> X = np.array([[1, 0], [1, 1], [0, 1]])
    >>> np.exp(BernoulliNB().fit(X, ["a", "a", "b"]).feature_log_prob_).round(3)
    array([[0.75 , 0.5  ],
           [0.333, 0.667]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SmoothedNB._parameter_constraints,
        "binarize": [None, NON_NEGATIVE],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        prior_smoothing: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_smoothing = prior_smoothing

    def _family(self, n_features: int) -> Family:
        return Bernoulli(alpha=self._smoothing(n_features), threshold=self.binarize)

    @property
    def feature_log_prob_(self) -> Array:
        """log φ: the log-probability of presence."""
        stats = self._fitted(lambda: self._model.stats)
        n, t = self._model.family.smooth(stats["n"], stats["t"])  # type: ignore[attr-defined]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(t[..., 0]) - np.log(n))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class MultinomialNB(SmoothedNB):
    """Multinomial naive Bayes: a document is the sequence of its words.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default 1.0
        φ_w = (occurrences of w + α)/(all words of the class + α·vocabulary).
    force_alpha, fit_prior, class_prior, prior_smoothing
        As in :class:`BernoulliNB`.
    input : {"counts", "sequences"}, default "counts"
        What X holds: a matrix of word counts (dense or sparse), or documents as sequences of word ids.  With sequences
        the vocabulary grows with the ids seen; ids beyond it at prediction are left out.

    Examples
    --------
    >>> documents = [[0, 0, 1], [2, 1], [2, 2, 2, 3]]
    >>> model = MultinomialNB(input="sequences").fit(documents, ["ham", "spam", "spam"])
    >>> model.predict([[0, 1, 99], [3]])
    array(['ham', 'spam'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SmoothedNB._parameter_constraints,
        "input": [StrOptions({"counts", "sequences"})],
    }
    input: str

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        input: str = "counts",
        prior_smoothing: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.input = input
        self.prior_smoothing = prior_smoothing

    def _alpha_setting(self, n_features: int) -> Any:
        alpha = self._smoothing(n_features)
        return float(alpha) if np.ndim(alpha) == 0 else tuple(np.asarray(alpha).tolist())

    def _family(self, n_features: int) -> Family:
        return Multinomial(alpha=self._alpha_setting(n_features))

    @property
    def _grows(self) -> bool:  # type: ignore[override]
        return self.input == "sequences"

    def _read_X(self, X: Any) -> Matrix:
        return word_counts(X) if self._grows else super()._read_X(X)

    def _read_X_more(self, X: Any) -> Matrix:
        return word_counts(X, at_least=self.n_features_in_) if self._grows else super()._read_X_more(X)

    def _read_X_known(self, X: Any) -> Matrix:
        if not self._grows:
            return super()._read_X_known(X)
        self._require_fitted()
        return word_counts(X, at_least=self.n_features_in_)[:, : self.n_features_in_]

    def _remember_columns(self, X: Any, data: Matrix) -> None:
        super()._remember_columns(data if self._grows else X, data)

    @property
    def feature_log_prob_(self) -> Array:
        """log φ of every word."""
        with np.errstate(divide="ignore"):
            scorer = self._fitted(lambda: self._solved.scorer)
            return np.where(scorer.never > 0, -np.inf, scorer.weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def word_counts(documents: Any, at_least: int = 0) -> Matrix:
    """Documents as sequences of word ids → CSR counts, as wide as the largest id (and ``at_least``) asks.

    >>> word_counts([[0, 2, 2], [1]]).toarray()
    array([[1., 0., 2.],
           [0., 1., 0.]])
    """
    from scipy import sparse

    if is_sparse(documents) or isinstance(documents, str) or not hasattr(documents, "__len__"):
        raise InputError("input='sequences' takes a list of documents, each a sequence of word ids")
    if len(documents) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: no documents")
    parts = []
    for i, document in enumerate(documents):
        ids = np.asarray(document)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise InputError(f"document {i}: word ids must be a flat sequence of integers, found {document!r}")
        if ids.size and ids.min() < 0:
            raise InputError(f"document {i}: word ids are 0 or more, found {ids.min()}")
        parts.append(ids.astype(np.int64))
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    indices = np.concatenate(parts)
    width = max(int(indices.max(initial=-1)) + 1, at_least, 1)
    counts = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(parts), width))
    counts.sum_duplicates()
    return counts


class ComplementNB(MultinomialNB):
    """Complement naive Bayes: each class scored against the words of all others; steadier on uneven classes.

    The complement weights are a decision rule, not a density: ``score_samples``, ``log_likelihood`` and ``sample`` use
    the multinomial model of the same counts, and the class prior takes no part in predictions.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, input, prior_smoothing
        As in :class:`MultinomialNB`.
    norm : bool, default False
        Whether the weights of each class are normalised.

    Examples
    --------
    >>> X = np.array([[2, 1, 0], [0, 1, 3]])
    >>> ComplementNB().fit(X, ["a", "b"]).predict([[1, 0, 0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultinomialNB._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        norm: bool = False,
        input: str = "counts",
        prior_smoothing: float = 0.0,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            input=input,
            prior_smoothing=prior_smoothing,
        )
        self.norm = norm

    def _family(self, n_features: int) -> Family:
        return Multinomial(alpha=self._alpha_setting(n_features), complement=True, norm=self.norm)

    @property
    def _solved(self) -> Solution:
        if "_solution" in self.__dict__:
            return self._solution
        solution = super()._solved
        alone = len(solution.classes) == 1
        # a prior takes no part in the rule: it is there for the densities, and where there is nothing to decide
        weightless = solution.log_prior if alone else np.zeros_like(solution.log_prior)
        self._solution = Solution(solution.classes, weightless, solution.scorer, solution.columns)
        return self._solution

    def _density_solution(self) -> Solution:
        from dataclasses import replace

        self._require_fitted()
        with np.errstate(divide="ignore"):
            log_prior = np.log(self._class_shares())
        return replace(self._model, family=replace(self._model.family, complement=False)).solved(log_prior)  # type: ignore[type-var]

    @property
    def class_log_prior_(self) -> Array:
        """log p(class)."""
        with np.errstate(divide="ignore"):
            return self._fitted(lambda: np.log(self._class_shares()))  # type: ignore[no-any-return]

    @property
    def feature_all_(self) -> Array:
        """Occurrences of each word in all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))

    @property
    def feature_log_prob_(self) -> Array:
        """The weight of every word for every class."""
        scorer = self._fitted(lambda: self._solved.scorer)
        return np.where(scorer.never < 0, np.inf, scorer.weights)


class CategoricalNB(SmoothedNB):
    """Categorical naive Bayes: columns of levels of any kind, with their conditional probability tables.

    A level never seen, and a missing value (NaN, None), drop out of the sum.  A column of whole numbers 0 … max has
    max + 1 levels, as in scikit-learn.

    Parameters
    ----------
    alpha : float, default 1.0
        P(level | class) = (rows at the level + α)/(rows + α·levels).
    force_alpha, fit_prior, class_prior, prior_smoothing
        As in :class:`BernoulliNB`.
    min_categories : int or array-like of shape (n_features,), optional
        The least number of levels a column of whole numbers has.

    Examples
    --------
    >>> X = [["red", "S"], ["red", "M"], ["blue", "M"], ["green", None]]
    >>> model = CategoricalNB().fit(X, ["no", "no", "yes", "yes"])
    >>> model.categories_[0].tolist(), model.predict([["blue", "XXL"]]).tolist()
    (['blue', 'green', 'red'], ['yes'])
    """

    _accept_sparse = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SmoothedNB._parameter_constraints,
        "alpha": [NON_NEGATIVE],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
        min_categories: Any = None,
        prior_smoothing: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.prior_smoothing = prior_smoothing

    def _family(self, n_features: int) -> Family:
        least = self.min_categories
        if least is not None:
            least = np.asarray(least)
            if not np.issubdtype(least.dtype, np.integer):
                raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
            if least.ndim and least.shape != (n_features,):
                raise ValueError(
                    f"'min_categories' should have shape ({n_features},) when an array-like is provided. Got "
                    f"{least.shape} instead."
                )
            least = tuple(least.tolist()) if least.ndim else int(least)
        return Categorical(alpha=float(self._smoothing(n_features)), least_levels=least)

    def _read_X(self, X: Any) -> Matrix:
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "iu" and X.size:
            return X
        if isinstance(X, (list, tuple)):
            cells = np.array(X, dtype=object)
            numbers = cells.ndim != 2 or all(isinstance(v, (Real, type(None))) for v in cells.reshape(-1))
            X = np.array(X) if numbers and not (cells == None).any() else cells  # noqa: E711  (elementwise)
        elif hasattr(X, "columns"):
            X = _cells(X)
        if getattr(X, "dtype", None) is not None and X.dtype.kind in "OUS":
            if X.ndim != 2 or 0 in X.shape:
                check_array(np.zeros(X.shape), estimator=self, input_name="X")  # the usual words for a wrong shape
            _refuse_nested(X)
            return X
        X = check_array(X, dtype=None, accept_sparse=False, ensure_all_finite=False, estimator=self, input_name="X")
        if X.dtype.kind == "f" and np.isinf(X).any():
            i, j = (int(v) for v in np.argwhere(np.isinf(X))[0])
            raise InputError(f"Input X contains infinity: column 'x{j}', row {i}; replace it by a level, or by NaN for missing")
        return X

    @property
    def categories_(self) -> list[NDArray[Any]]:
        """The levels of each column."""
        out = []
        for levels in self._fitted(lambda: self._solved.scorer).levels:
            values = np.array(levels) if len({type(v) for v in levels}) <= 1 else np.empty(len(levels), dtype=object)
            values[:] = levels
            out.append(values)
        return out

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """Number of levels of each column."""
        return np.array([len(v) for v in self._fitted(lambda: self._solved.scorer).levels])

    @property
    def category_count_(self) -> list[Array]:
        """Rows at each level in each class, one table per column."""
        scorer = self._fitted(lambda: self._solved.scorer)
        return self._model.family.counts(self._model.stats, scorer.levels)  # type: ignore[attr-defined, no-any-return]

    @property
    def feature_log_prob_(self) -> list[Array]:
        """log P(level | class), one table per column."""
        scorer = self._fitted(lambda: self._solved.scorer)
        return [np.where(z > 0, -np.inf, t) for t, z in zip(scorer.tables, scorer.never, strict=True)]

    @property
    def feature_count_(self) -> Array:
        """Not there: the counts of categorical columns are in ``category_count_``."""
        raise AttributeError("CategoricalNB has category_count_, one table per column, instead of feature_count_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _cells(frame: Any) -> NDArray[Any]:
    """A data frame as an array of its cells: numbers where all columns are, else Python values."""
    import narwhals as nw

    native = nw.from_native(frame, eager_only=True)
    columns = [column.to_numpy() for column in native.iter_columns()]
    if columns and all(c.dtype.kind in "iu" for c in columns):
        return np.column_stack(columns)
    out = np.empty((len(native), len(columns)), dtype=object)
    for j, column in enumerate(native.iter_columns()):
        out[:, j] = column.to_list()
    return out


def _refuse_nested(X: NDArray[Any]) -> None:
    if X.dtype.kind != "O":
        return
    for i, row in enumerate(X):
        for j, v in enumerate(row):
            try:
                hash(v)
            except TypeError as error:
                raise InputError(
                    f"column 'x{j}': a level must be a single value, found {type(v).__name__} in row {i}; flatten the column. "
                    f"argument must be a string or a number ({error})"
                ) from None


class PoissonNB(SmoothedNB):
    """Poisson naive Bayes: counts of events, a rate for each class and column.

    Fractional counts are taken too (rates, weighted counts); negative ones are refused.

    Parameters
    ----------
    alpha : float, default 1.0
        How many pseudo-rows, at the column's mean over all classes, smooth each class; 0 is maximum likelihood.
    fit_prior, class_prior, prior_smoothing
        As in :class:`BernoulliNB`.

    Examples
    --------
    >>> X = np.array([[0, 3], [1, 4], [5, 0], [7, 1]])
    >>> PoissonNB().fit(X, [0, 0, 1, 1]).rate_.round(2)
    array([[1.42, 3.  ],
           [5.08, 1.  ]])
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: Any = None,
        prior_smoothing: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_smoothing = prior_smoothing

    force_alpha = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        k: v for k, v in SmoothedNB._parameter_constraints.items() if k != "force_alpha"
    }

    def _family(self, n_features: int) -> Family:
        return Poisson(alpha=self._smoothing(n_features))

    @property
    def rate_(self) -> Array:
        """Expected count of each column in each class, smoothing included."""
        return self._fitted(lambda: self._solved.scorer.natural.A.copy())  # type: ignore[attr-defined, no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = True
        return tags


class NaiveBayes(GenerativeEstimator):
    """Naive Bayes with any elementwise family: by name, or as a family object with its settings.

    Parameters
    ----------
    family : str or family object, default "gaussian"
        "gaussian", "lognormal", "bernoulli", "poisson", "exponential", "geometric", "gamma", "beta", "vonmises", a
        family of your own once registered, or an object such as ``VonMises(period=24)``.
    priors : array-like, dict or "uniform", optional
        Class prior; by default the class shares.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.gamma(2, 1, (50, 2)), rng.gamma(5, 1, (50, 2))]
    >>> y = np.repeat(["small", "large"], 50)
    >>> NaiveBayes("gamma").fit(X, y).score(X, y)
    0.88
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [str, Family],
        "priors": ["array-like", None, dict, StrOptions({"uniform"})],
        "prior_smoothing": [NON_NEGATIVE],
    }

    def __init__(self, family: str | Family = "gaussian", *, priors: Any = None, prior_smoothing: float = 0.0) -> None:
        self.family = family
        self.priors = priors
        self.prior_smoothing = prior_smoothing

    def _family(self, n_features: int) -> Family:
        family = self.family
        if isinstance(family, str):
            made = family_named(family)
            family = made(smoothing=1e-9) if issubclass(made, Gaussian) else made()
        if not isinstance(family, Elementwise):
            raise ValueError(
                f"NaiveBayes takes a family of independent columns, got {family!r}; for levels use CategoricalNB, for words "
                "MultinomialNB, for joint columns GaussianDiscriminantAnalysis"
            )
        return family

    def _prior(self) -> Prior:
        return self.priors  # type: ignore[no-any-return]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
