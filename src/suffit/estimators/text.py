"""Naive Bayes on documents: word counts, or sequences of word ids; multinomial, and its complement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions

from ..core.family import Family
from ..core.solution import Solution
from ..data.arrays import Array, Cells, Csr, Matrix, is_sparse
from ..data.errors import InputError
from ..data.frame import WORDS_OR_TABLE
from ..data.inputs import LabelsLike, RandomState, TableLike, WeightsLike
from ..data.rows import Rows
from ..data.validate import Prior
from ..families import Multinomial
from ..families.counts.multinomial import MultinomialScorer
from .fitted import log_prior, no_prior
from .smoothed import SmoothedNB

MOST_WORDS = 2**26  # the largest word id, and one more
MOST_COUNTS = 2**25  # words times classes: their counts then take a quarter of a gigabyte


class MultinomialNB(SmoothedNB):
    """Multinomial naive Bayes: a document is the sequence of its words.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,), "loo" or "evidence", default 1.0
        φ_w = (occurrences of w + α)/(all words of the class + α·vocabulary).  "loo" and "evidence" choose it as in
        :class:`BernoulliNB`.
    force_alpha : bool, default True
        False raises α to at least 1e-10.
    fit_prior : bool, default True
        Whether the class prior is the class shares; otherwise it is uniform.
    class_prior : array-like or dict, optional
        The class prior, instead.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken.
    input : {"counts", "sequences"}, default "counts"
        What X holds: a matrix of word counts (dense or sparse), or documents as sequences of word ids.  With sequences
        the vocabulary is 0 … the largest id seen: it grows with new ids, and shrinks when ``forget`` removes the last
        document with the largest.  Larger ids at prediction are ignored.  The counts take 8 bytes for each word and
        class, and may be 2²⁵ at most.
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
        Occurrences of each word in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features_in_)
        log φ of every word.
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
    ComplementNB : Each class scored against the words of all others.
    BernoulliNB : Presence of words instead of their counts.

    Examples
    --------
    >>> documents = [[0, 0, 1], [2, 1], [2, 2, 2, 3]]
    >>> model = MultinomialNB(input="sequences").fit(documents, ["ham", "spam", "spam"])
    >>> model.predict([[0, 1, 99], [3]])
    array(['ham', 'spam'], dtype='<U4')
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **SmoothedNB._parameter_constraints,
        "input": [StrOptions({"counts", "sequences"})],
    }
    input: str
    _text_way_out = WORDS_OR_TABLE

    def __init__(
        self,
        *,
        alpha: float | str | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Prior = None,
        input: str = "counts",
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.input = input
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _alpha_setting(self, n_features: int) -> float | str | tuple[float, ...]:
        alpha = self._check_alpha(n_features)
        if isinstance(alpha, str):
            return alpha
        return float(alpha) if np.ndim(alpha) == 0 else tuple(np.asarray(alpha).tolist())

    def _family(self, n_features: int) -> Family:
        return Multinomial(**self._word_settings(n_features))

    def _word_settings(self, n_features: int) -> dict[str, Any]:
        alpha = self._alpha_setting(n_features)
        return {"alpha": alpha, "grows": self._grows and not isinstance(alpha, tuple)}

    @property
    def _grows(self) -> bool:  # type: ignore[override]
        return self._setting("input") == "sequences"

    def _read_X(self, X: TableLike) -> Matrix:
        return word_counts(X) if self._grows else super()._read_X(X)

    def _read_X_more(self, X: TableLike) -> Matrix:
        return word_counts(X, at_least=self.n_features_in_) if self._grows else super()._read_X_more(X)

    def _read_X_known(self, X: TableLike) -> Matrix:
        if not self._grows:
            return super()._read_X_known(X)
        self._check_is_fitted()
        return word_counts(X, at_least=self.n_features_in_)[:, : self.n_features_in_]

    def _read(
        self, X: TableLike, y: LabelsLike | None, sample_weight: WeightsLike, read_X: Callable[[TableLike], Matrix]
    ) -> tuple[Matrix, Cells, Rows]:
        data, labels, rows = super()._read(X, y, sample_weight, read_X)
        if self._grows:
            known = self._model.classes if "_fit" in self.__dict__ else ()
            classes = len({*known, *rows.classes.labels})
            if data.shape[1] * classes > MOST_COUNTS:
                raise InputError(
                    f"word ids up to {data.shape[1] - 1} and {classes} classes make {data.shape[1] * classes} counts, "
                    f"but at most {MOST_COUNTS} are kept; number the words from 0 without gaps, or hash them into "
                    "fewer ids (id % 2**20)"
                )
        return data, labels, rows

    def _remember_columns(self, X: TableLike, data: Matrix) -> None:
        super()._remember_columns(cast("Csr", data) if self._grows else X, data)

    def sample(self, n: int = 1, y: LabelsLike | None = None, random_state: RandomState = None) -> tuple[Any, Cells]:
        """Draw ``n`` documents: word counts, or sequences of word ids where ``input="sequences"``.

        Parameters
        ----------
        n : int, default 1
            Number of documents.
        y : label or array-like of shape (n,), optional
            The class of all documents, or of each; by default classes are drawn from the prior.
        random_state : int, RandomState, Generator or None, default None
            Source of random numbers.

        Returns
        -------
        documents : ndarray of shape (n, n_features_in_), or list of ndarray
            The documents.
        labels : ndarray of shape (n,)
            Their classes.
        """
        counts, labels = super().sample(n, y, random_state)
        if not self._grows:
            return counts, labels
        return [np.repeat(np.arange(len(row)), row.astype(np.int64)) for row in counts], labels

    @property
    def feature_log_prob_(self) -> Array:
        """log φ of every word."""
        with np.errstate(divide="ignore"):
            scorer = cast("MultinomialScorer", self._solved.scorer)
            return np.where(scorer.never > 0, -np.inf, scorer.weights)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class ComplementNB(MultinomialNB):
    """Complement naive Bayes: each class is scored against the words of all others; more stable with uneven classes.

    The complement weights are a decision rule, not a density: ``score_samples``, ``log_likelihood`` and ``sample`` use
    the multinomial model of the same counts, and predictions do not use the class prior.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,), "loo" or "evidence", default 1.0
        φ_w = (occurrences of w + α)/(all words of the class + α·vocabulary).  "loo" and "evidence" choose it as in
        :class:`BernoulliNB`.
    force_alpha : bool, default True
        False raises α to at least 1e-10.
    fit_prior : bool, default True
        Whether the class prior is the class shares; otherwise it is uniform.
    class_prior : array-like or dict, optional
        The class prior, instead.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken.
    norm : bool, default False
        Whether the weights of each class are normalised.
    input : {"counts", "sequences"}, default "counts"
        What X holds: a matrix of word counts (dense or sparse), or documents as sequences of word ids.  With sequences
        the vocabulary is 0 … the largest id seen: it grows with new ids, and shrinks when ``forget`` removes the last
        document with the largest.  Larger ids at prediction are ignored.  The counts take 8 bytes for each word and
        class, and may be 2²⁵ at most.
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
        Occurrences of each word in each class.
    feature_log_prob_ : ndarray of shape (n_classes, n_features_in_)
        The weight of every word in the decision rule.
    feature_all_ : ndarray of shape (n_features_in_,)
        Occurrences of each word in all classes.
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
    MultinomialNB : The density of the same counts.

    Examples
    --------
    >>> X = np.array([[2, 1, 0], [0, 1, 3]])
    >>> ComplementNB().fit(X, ["a", "b"]).predict([[1, 0, 0]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **MultinomialNB._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: float | str | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Prior = None,
        norm: bool = False,
        input: str = "counts",
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            input=input,
            prior_smoothing=prior_smoothing,
            calibrate=calibrate,
        )
        self.norm = norm

    def _family(self, n_features: int) -> Family:
        return Multinomial(**self._word_settings(n_features), complement=True, norm=self.norm)

    _decision_prior = staticmethod(no_prior)

    def _density_solution(self) -> Solution:
        solution = self._solved
        scorer = cast("MultinomialScorer", solution.scorer).as_density()
        return Solution(solution.classes, log_prior(self._fitted.prior), scorer)

    def predict_joint_log_proba(self, X: TableLike) -> Array:
        """Return the scores of the rule, whose softmax is ``predict_proba``; not a density (see ``score_samples``).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of documents

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The scores, columns in the order of ``classes_``.
        """
        return super().predict_joint_log_proba(X)

    @property
    def class_log_prior_(self) -> Array:
        """log p(class)."""
        return log_prior(self._fitted.prior)

    @property
    def feature_all_(self) -> Array:
        """Occurrences of each word in all classes."""
        return np.asarray(self.feature_count_.sum(axis=0))

    @property
    def feature_log_prob_(self) -> Array:
        """The weight of every word for every class."""
        scorer = cast("MultinomialScorer", self._solved.scorer)
        return np.where(scorer.never < 0, np.inf, scorer.weights)


def word_counts(documents: Any, at_least: int = 0) -> Csr:
    """Documents as sequences of word ids → CSR counts, as wide as the largest id (and ``at_least``) asks.

    >>> word_counts([[0, 2, 2], [1]]).toarray()
    array([[1., 0., 2.],
           [0., 1., 0.]])
    """
    if is_sparse(documents) or isinstance(documents, str) or not hasattr(documents, "__len__"):
        raise InputError("input='sequences' needs a list of documents, each a sequence of word ids")
    if len(documents) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required: no documents")
    parts = []
    for i, document in enumerate(documents):
        ids = np.asarray(document)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise InputError(f"document {i}: word ids must be a flat sequence of integers, found {document!r}")
        if ids.size and (ids.min() < 0 or ids.max() >= MOST_WORDS):
            odd = ids.min() if ids.min() < 0 else ids.max()
            raise InputError(
                f"document {i}: word ids must be from 0 to {MOST_WORDS - 1}, found {odd}; renumber the words"
            )
        parts.append(ids.astype(np.int64))
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    indices = np.concatenate(parts)
    width = max(int(indices.max(initial=-1)) + 1, at_least, 1)
    counts = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(parts), width))
    counts.sum_duplicates()
    return counts
