"""Naive Bayes on columns with a distribution each: Gaussian, Bernoulli, Poisson, or any elementwise family."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from ..core.family import Family, family_named
from ..core.stats import Stats
from ..data.arrays import Array
from ..data.frame import WORDS_OR_TABLE
from ..data.labels import Index
from ..data.rows import Rows
from ..data.validate import Prior
from ..data.warn import no_warnings
from ..families import Bernoulli, Binned, Gaussian, Poisson
from ..families.columns import IndependentColumns
from ..families.elementwise.scores import ElementwiseScorer
from ..families.gaussian.scores import DiagonalScorer
from .base import GenerativeEstimator
from .smoothed import NON_NEGATIVE, SmoothedNB


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
    calibrate : {"temperature", "isotonic"} or None, default None
        Calibrate the probabilities at ``fit``, on leave-one-out scores: see ``calibration_``.  After batches, call
        ``recalibrate``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Rows (total weight) of each class.
    class_prior_ : ndarray of shape (n_classes,)
        p(class).
    theta_ : ndarray of shape (n_classes, n_features_in_)
        Mean of each column in each class.
    var_ : ndarray of shape (n_classes, n_features_in_)
        Variance of each column in each class, smoothing included.
    epsilon_ : ndarray of shape (n_features_in_,) or float
        What was added to the variances: one number per column, or one for all with ``floor="largest"``.
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
    NaiveBayes : Other families than the Gaussian.
    GaussianDiscriminantAnalysis : Columns that are correlated given the class.
    GenerativeClassifier : Tables with columns of several kinds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB().fit(X, y)
    >>> model.predict(X[:3]), model.theta_[0].round(3)
    (array([0, 0, 0]), array([5.006, 3.428, 1.462, 0.246]))
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "priors": ["array-like", None, dict, StrOptions({"uniform"})],
        "var_smoothing": [NON_NEGATIVE],
        "floor": [StrOptions({"bounded", "own", "largest"})],
        "prior_smoothing": [NON_NEGATIVE],
        "calibrate": [StrOptions({"temperature", "isotonic"}), None],
    }

    def __init__(
        self,
        *,
        priors: Prior = None,
        var_smoothing: float = 1e-9,
        floor: str = "bounded",
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.floor = floor
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _family(self, n_features: int) -> Family:
        return Gaussian(smoothing=float(self.var_smoothing), floor=self.floor)

    def _scorer(self) -> DiagonalScorer:
        return cast("DiagonalScorer", self._solved.scorer)

    @property
    def class_count_(self) -> Array:
        """Rows (total weight) of each class."""
        return self._cast(self._model.counts["n"])

    @property
    def class_prior_(self) -> Array:
        """p(class)."""
        return self._cast(self._fitted.prior)

    @property
    def theta_(self) -> Array:
        """Mean of each column in each class."""
        return self._cast(self._scorer().means)

    @property
    def var_(self) -> Array:
        """Variance of each column in each class, smoothing included."""
        return self._cast(self._scorer().variances)

    @property
    def epsilon_(self) -> float | Array:
        """What was added to the variances: one number per column, or one for all with ``floor="largest"``."""
        with no_warnings():
            bare = Gaussian().scorer(cast("Stats", self._model.sums))
        added = self._scorer().variances - cast("DiagonalScorer", bare).variances
        return float(added.max()) if self._setting("floor") == "largest" else added.max(axis=0)

    @staticmethod
    def _update_mean_variance(
        n_past: float, mu: Array, var: Array, X: Array, sample_weight: Array | None = None
    ) -> tuple[Array, Array]:
        """Mean and variance with more rows added (a hook of scikit-learn's class that subclasses call)."""
        if len(X) == 0:
            return mu, var
        rows = Rows(
            Index.of([0]),
            np.zeros(len(X), np.int32),
            None if sample_weight is None else np.asarray(sample_weight),
        )
        new = Gaussian().collect(np.asarray(X, dtype=np.float64), rows)
        n, mean, v = (np.broadcast_to(np.asarray(a, dtype=np.float64), new["n"].shape) for a in (n_past, mu, var))
        both = replace(new, sums={"n": n, "x": np.zeros_like(mean), "xx": n * v}, origin=mean) + new
        d = both["x"] / both["n"]
        return (np.asarray(both.origin) + d)[0], (both["xx"] / both["n"] - d * d)[0]


class BernoulliNB(SmoothedNB):
    """Bernoulli naive Bayes: each feature is present or absent, and both are evidence.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,), "loo" or "evidence", default 1.0
        φ = (present + α)/(rows + 2α); α = 0 is maximum likelihood, predictions then being the limit α → 0.
        "loo": the α with the least leave-one-out log-loss on the rows of ``fit`` (of the first batch), which is kept.
        "evidence": the α under which the counts are most probable, chosen again whenever the sums change.
    force_alpha : bool, default True
        False raises α to at least 1e-10.
    binarize : float or None, default 0.0
        A value above it is present; None where columns hold 0 and 1 already.
    fit_prior : bool, default True
        Whether the class prior is the class shares; otherwise it is uniform.
    class_prior : array-like or dict, optional
        The class prior, instead.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken.
    calibrate : {"temperature", "isotonic"} or None, default None
        Calibrate the probabilities at ``fit``, on leave-one-out scores: see ``calibration_``.  After batches, call
        ``recalibrate``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Rows (total weight) of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        log p(class).
    feature_count_ : ndarray of shape (n_classes, n_features_in_)
        Sum of each column in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features_in_)
        log φ, the log-probability of presence.
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
    MultinomialNB : Counts of words instead of their presence.
    NaiveBayes : Other families.

    Examples
    --------
    >>> X = np.array([[1, 0], [1, 1], [0, 1]])
    >>> np.exp(BernoulliNB().fit(X, ["a", "a", "b"]).feature_log_prob_).round(3)
    array([[0.75 , 0.5  ],
           [0.333, 0.667]])
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **SmoothedNB._parameter_constraints,
        "binarize": [None, NON_NEGATIVE],
    }
    _text_way_out = WORDS_OR_TABLE

    def __init__(
        self,
        *,
        alpha: float | str | ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Prior = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _family(self, n_features: int) -> Family:
        return Bernoulli(alpha=self._check_alpha(n_features), threshold=self.binarize)

    @property
    def feature_log_prob_(self) -> Array:
        """log φ: the log-probability of presence."""
        stats = cast("Stats", self._model.sums)
        n, t = cast("Bernoulli", self._model.family).solvable(stats).smooth(stats["n"], stats["t"])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(t[..., 0]) - np.log(n))


class PoissonNB(SmoothedNB):
    """Poisson naive Bayes: counts of events, a rate for each class and column.

    Fractional counts are allowed (rates, weighted counts); negative ones are an error.

    Parameters
    ----------
    alpha : float or "loo", default 1.0
        Number of pseudo-rows, at the column's mean over all classes, that smooth each class; 0 is maximum likelihood;
        "loo" chooses it as in :class:`BernoulliNB`.
    fit_prior : bool, default True
        Whether the class prior is the class shares; otherwise it is uniform.
    class_prior : array-like or dict, optional
        The class prior, instead.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken.
    calibrate : {"temperature", "isotonic"} or None, default None
        Calibrate the probabilities at ``fit``, on leave-one-out scores: see ``calibration_``.  After batches, call
        ``recalibrate``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Rows (total weight) of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        log p(class).
    feature_count_ : ndarray of shape (n_classes, n_features_in_)
        Sum of each column in each class.
    rate_ : ndarray of shape (n_classes, n_features_in_)
        Expected count of each column in each class, smoothing included.
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
    NaiveBayes : Other families, such as "geometric".
    MultinomialNB : Counts of words, whose total is no evidence.

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
        alpha: float | str | ArrayLike = 1.0,
        fit_prior: bool = True,
        class_prior: Prior = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    force_alpha = True
    _parameter_constraints: ClassVar[dict[str, object]] = {
        **{k: v for k, v in SmoothedNB._parameter_constraints.items() if k != "force_alpha"},
        "alpha": [NON_NEGATIVE, "array-like", StrOptions({"loo"})],
    }

    def _family(self, n_features: int) -> Family:
        return Poisson(alpha=self._check_alpha(n_features))

    @property
    def rate_(self) -> Array:
        """Expected count of each column in each class, smoothing included."""
        return cast("ElementwiseScorer", self._solved.scorer).form.A.copy()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class NaiveBayes(GenerativeEstimator):
    """Naive Bayes with any family of independent columns: by name, or as a family object with its settings.

    Parameters
    ----------
    family : str or family object, default "gaussian"
        "gaussian", "lognormal", "bernoulli", "poisson", "exponential", "geometric", "gamma", "beta", "vonmises",
        "binned", a family of your own once registered, or an object such as ``VonMises(period=24)`` or
        ``Binned([400, 800, 1200])``.  A name is the family with its defaults, which smooth: "poisson",
        "exponential", "geometric", "gamma", "beta" and "vonmises" by α = 1, a pseudo-row of all classes, "bernoulli"
        and "binned" by α = 1 for each value or bin; "gaussian" and "lognormal" get ``smoothing=1e-9``, that share of
        the column's variance.  ``Gamma(alpha=0)`` and the like are maximum likelihood.
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
    family_ : Family
        The family with what it has chosen from the rows, such as the edges of :class:`Binned`.
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
    GaussianNB, BernoulliNB, PoissonNB : The same under scikit-learn's names.
    GenerativeClassifier : A family for each column.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.gamma(2, 1, (50, 2)), rng.gamma(5, 1, (50, 2))]
    >>> y = np.repeat(["small", "large"], 50)
    >>> NaiveBayes("gamma").fit(X, y).score(X, y)
    0.88
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "family": [str, Family],
        "priors": ["array-like", None, dict, StrOptions({"uniform"})],
        "prior_smoothing": [NON_NEGATIVE],
        "calibrate": [StrOptions({"temperature", "isotonic"}), None],
    }

    def __init__(
        self,
        family: str | Family = "gaussian",
        *,
        priors: Prior = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.family = family
        self.priors = priors
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _family(self, n_features: int) -> Family:
        family = self.family
        if isinstance(family, str):
            made = family_named(family)
            family = made(smoothing=1e-9) if issubclass(made, Gaussian) else made()
        if not isinstance(family, IndependentColumns | Binned):
            raise ValueError(
                f"NaiveBayes needs a family of independent columns, got {family!r}; for categories use CategoricalNB, "
                "for words MultinomialNB, for joint columns GaussianDiscriminantAnalysis"
            )
        return family

    @property
    def family_(self) -> Family:
        """The family with what it has chosen from the rows, such as the edges of :class:`Binned`."""
        return self._model.family
