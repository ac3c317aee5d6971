"""Naive Bayes on documents: word counts, or sequences of word ids; multinomial, and its complement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from ..core.family import Family
from ..core.solution import Solution
from ..data.arrays import Array
from ..data.errors import InputError
from ..data.frame import WORDS
from ..data.matrices import Matrix, is_sparse
from ..data.rows import Rows
from ..families import Multinomial
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
    force_alpha, fit_prior, class_prior, prior_smoothing, calibrate
        As in :class:`BernoulliNB`.
    input : {"counts", "sequences"}, default "counts"
        What X holds: a matrix of word counts (dense or sparse), or documents as sequences of word ids.  With sequences
        the vocabulary is 0 … the largest id seen: it grows with new ids, and shrinks when ``forget`` takes the last
        document with the largest out.  Ids beyond it at prediction are left out.  The counts take 8 bytes for each
        word and class, and may be 2²⁵ at most.

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
    _text_way_out = WORDS

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
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

    def _alpha_setting(self, n_features: int) -> Any:
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

    def _read_X(self, X: Any) -> Matrix:
        return word_counts(X) if self._grows else super()._read_X(X)

    def _read_X_more(self, X: Any) -> Matrix:
        return word_counts(X, at_least=self.n_features_in_) if self._grows else super()._read_X_more(X)

    def _read_X_known(self, X: Any) -> Matrix:
        if not self._grows:
            return super()._read_X_known(X)
        self._check_is_fitted()
        return word_counts(X, at_least=self.n_features_in_)[:, : self.n_features_in_]

    def _read(
        self, X: Any, y: Any, sample_weight: Any, read_X: Callable[[Any], Matrix]
    ) -> tuple[Matrix, NDArray[Any], Rows]:
        data, labels, rows = super()._read(X, y, sample_weight, read_X)
        if self._grows:
            known = self._model.classes if "_fit" in self.__dict__ else ()
            classes = len({*known, *rows.classes.labels})
            if data.shape[1] * classes > MOST_COUNTS:
                raise InputError(
                    f"word ids up to {data.shape[1] - 1} and {classes} classes make {data.shape[1] * classes} counts, "
                    f"and at most {MOST_COUNTS} are kept; number the words from 0 on without gaps, or hash them into "
                    "fewer ids (id % 2**20)"
                )
        return data, labels, rows

    def _remember_columns(self, X: Any, data: Matrix) -> None:
        super()._remember_columns(data if self._grows else X, data)

    def sample(self, n: int = 1, y: Any = None, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Return documents drawn from the model, and their labels.

        Parameters
        ----------
        n : int, default 1
            How many.
        y : label, or array-like of n labels, optional
            The class to draw from, or the class of each document; by default they are drawn from the prior.
        random_state : int, RandomState or Generator, optional

        Returns
        -------
        X : ndarray of shape (n, n_features), or list of n arrays
            Word counts, or sequences of word ids where the model takes those.
        y : ndarray of shape (n,)

        """
        counts, labels = super().sample(n, y, random_state)
        if not self._grows:
            return counts, labels
        return [np.repeat(np.arange(len(row)), row.astype(np.int64)) for row in counts], labels

    @property
    def feature_log_prob_(self) -> Array:
        """log φ of every word."""
        with np.errstate(divide="ignore"):
            scorer = self._solved.scorer
            return np.where(scorer.never > 0, -np.inf, scorer.weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class ComplementNB(MultinomialNB):
    """Complement naive Bayes: each class scored against the words of all others; steadier on uneven classes.

    The complement weights are a decision rule, not a density: ``score_samples``, ``log_likelihood`` and ``sample`` use
    the multinomial model of the same counts, and the class prior takes no part in predictions.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior, input, prior_smoothing, calibrate
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
        scorer = solution.scorer.as_density()
        return Solution(solution.classes, log_prior(self._fitted.prior), scorer, solution.columns)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Return the scores of the rule, whose softmax is ``predict_proba``; no joint density (see ``score_samples``).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)

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
        scorer = self._solved.scorer
        return np.where(scorer.never < 0, np.inf, scorer.weights)


def word_counts(documents: Any, at_least: int = 0) -> Matrix:
    """Documents as sequences of word ids → CSR counts, as wide as the largest id (and ``at_least``) asks.

    >>> word_counts([[0, 2, 2], [1]]).toarray()
    array([[1., 0., 2.],
           [0., 1., 0.]])
    """
    if is_sparse(documents) or isinstance(documents, str) or not hasattr(documents, "__len__"):
        raise InputError("input='sequences' takes a list of documents, each a sequence of word ids")
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
                f"document {i}: word ids lie from 0 to {MOST_WORDS - 1}, found {odd}; number the words anew"
            )
        parts.append(ids.astype(np.int64))
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    indices = np.concatenate(parts)
    width = max(int(indices.max(initial=-1)) + 1, at_least, 1)
    counts = sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(len(parts), width))
    counts.sum_duplicates()
    return counts
