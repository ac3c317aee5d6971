"""Naive Bayes on raw texts: no vectoriser, no vocabulary pass, and every word of a fit can be named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.family import Family
from ..core.solution import RowScorer, Solution
from ..core.stats import Stats
from ..data.arrays import Array, Cells, Matrix
from ..data.errors import InputError
from ..data.frame import table_form
from ..data.inputs import ClassesLike, LabelsLike, RandomState, TableLike
from ..data.validate import Prior
from ..explain.parameters import BlockParameters
from ..explain.terms import Explanation
from ..families.counts.text import BERNOULLI, COMPLEMENT, MODELS, Text
from ..families.counts.text_scores import TextScorer, as_texts
from ..text.documents import Texts, read_texts
from ..text.tokens import ANALYZERS, MOST_FEATURES
from .fitted import log_prior, no_prior
from .smoothed import NON_NEGATIVE, SmoothedNB

MOST_WORDS_TRIED = 30  # of a class, whose texts are predicted when a file is read


class OneText(RowScorer):
    """p(class | text) of one text at a time."""

    def __call__(self, row: object) -> Array:
        """The probabilities, in the order of ``classes``."""
        return self._posterior(read_texts([row]))[0]


class TextNB(SmoothedNB):
    """Naive Bayes on raw texts: multinomial, Bernoulli or complement.

    Texts are cut into the words of scikit-learn's ``CountVectorizer`` and counted for each class at once: there is no
    vectoriser, no pass to find the vocabulary, and no matrix.  New words and classes may come with any batch; words
    that are left without occurrences by ``forget`` are gone.  Words that were never learned are ignored, and a missing
    text carries no information about its class.

    Parameters
    ----------
    model : {"multinomial", "bernoulli", "complement"}, default "multinomial"
        What a text is: the sequence of its words, or for each word whether it is there; "complement" scores each class
        against the words of all others (see :class:`ComplementNB`).
    alpha : float, "loo" or "evidence", default 1.0
        Multinomial: φ_w = (occurrences of w + α)/(all words of the class + α·vocabulary).  Bernoulli: φ_w = (texts
        with w + α)/(texts of the class + 2α).  "loo" chooses it by leave-one-out, "evidence" by the evidence of the
        counts.
    analyzer : {"word", "char", "char_wb"}, default "word"
        Words of two characters or more, n-grams of characters, or these within words with a space on either side.
    ngram_range : tuple (least, most), default (1, 1)
        The lengths of n-grams, of words or of characters.
    min_count : float, default 1
        Words with fewer occurrences (Bernoulli: in fewer texts) in all classes together are ignored; they take part as
        soon as they have enough.
    stop_words : "english", list of str or None, default None
        Words that are no tokens.
    lowercase : bool, default True
        Whether capital letters are made small ones.
    hashing : int or None, default None
        Instead of a vocabulary, so many numbers, of which the hash of a word chooses one: memory is bounded, and words
        have no names.
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
        Texts (total weight) of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        log p(class).
    vocabulary_ : sequence of str
        The words, sorted; of hashes their numbers.
    feature_count_ : ndarray of shape (n_classes, n_words)
        Occurrences of each word in each class; Bernoulli: texts that have it.
    feature_log_prob_ : ndarray of shape (n_classes, n_words)
        log φ of every word; complement: its weight in the decision rule.  0 for words below ``min_count``.
    n_features_in_ : int
        Number of columns: 1.
    n_parameters_ : int
        Number of free parameters.
    selection_ : Tuning or None
        What was tried to tune settings, and what was taken.
    calibration_ : Calibration or None
        The calibration of the probabilities, and what it does to leave-one-out scores.

    See Also
    --------
    Text : The same model of a column of texts in a table.
    MultinomialNB : For matrices of counts, and sequences of word ids.

    Examples
    --------
    >>> texts = ["win free money now", "free prize, claim now", "lunch at noon?", "see you at lunch"]
    >>> model = TextNB(alpha=0.5).fit(texts, ["spam", "spam", "ham", "ham"])
    >>> model.predict(["claim the money"]).tolist()
    ['spam']
    >>> print(model.why("free lunch money", n=3))
    spam rather than ham: 2.4 to 1 (log-odds +0.87 for spam)
         -1.69  lunch = 1 favours ham
         +1.53  free = 1 favours spam
         +1.02  money = 1 favours spam
         +0.00  prior favours neither
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        **SmoothedNB._parameter_constraints,
        "model": [StrOptions(set(MODELS))],
        "alpha": [NON_NEGATIVE, StrOptions({"loo", "evidence"})],
        "analyzer": [StrOptions(set(ANALYZERS))],
        "ngram_range": [tuple, list],
        "min_count": [NON_NEGATIVE],
        "stop_words": [StrOptions({"english"}), list, tuple, set, frozenset, None],
        "lowercase": ["boolean"],
        "hashing": [Interval(Integral, 1, MOST_FEATURES, closed="both"), None],
    }
    force_alpha = True
    _names_words = True

    def __init__(
        self,
        model: str = "multinomial",
        *,
        alpha: float | str = 1.0,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        min_count: float = 1,
        stop_words: str | Sequence[str] | None = None,
        lowercase: bool = True,
        hashing: int | None = None,
        fit_prior: bool = True,
        class_prior: Prior = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.model = model
        self.alpha = alpha
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.min_count = min_count
        self.stop_words = stop_words
        self.lowercase = lowercase
        self.hashing = hashing
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _family(self, n_features: int) -> Family:
        words = self.stop_words
        return Text(
            self.model,
            cast("float | str", self._check_alpha()),
            self.analyzer,
            cast("tuple[int, int]", tuple(self.ngram_range)),
            float(self.min_count),
            words if words is None or isinstance(words, str) else tuple(words),
            bool(self.lowercase),
            None if self.hashing is None else int(self.hashing),
            by_word=True,
        )

    @property
    def _decision_prior(self) -> Callable[[Array], Array]:  # type: ignore[override]
        return no_prior if self._setting("model") == COMPLEMENT else log_prior

    def _density_solution(self) -> Solution:
        solution = self._solved
        if self._setting("model") != COMPLEMENT:
            return solution
        scorer = cast("TextScorer", solution.scorer).as_density()
        return Solution(solution.classes, log_prior(self._fitted.prior), scorer)

    # --- reading

    def _read_X(self, X: TableLike) -> Matrix:
        return read_texts(X)

    def _read_X_known(self, X: TableLike) -> Matrix:
        self._check_is_fitted()
        return self._read_X(X)

    def _remember_columns(self, X: TableLike, data: Matrix) -> None:
        self._form, self.n_features_in_ = table_form(X), 1

    # --- words

    def _scorer(self) -> TextScorer:
        return cast("TextScorer", self._solved.scorer)

    @property
    def vocabulary_(self) -> Sequence[str]:
        """The words, sorted."""
        return self._scorer().names

    def get_feature_names_out(self, input_features: object = None) -> Cells:
        """Return the words, in the order of the columns of ``feature_count_``.

        Parameters
        ----------
        input_features : object
            Ignored; scikit-learn's transformers have it.

        Returns
        -------
        ndarray of shape (n_words,)

        """
        return np.array(list(self.vocabulary_), dtype=object)

    @property
    def feature_count_(self) -> Array:
        """Occurrences of each word in each class."""
        return cast("Stats", self._model.sums)["count"].copy()

    @property
    def class_log_prior_(self) -> Array:
        """log p(class)."""
        return log_prior(self._fitted.prior)

    @property
    def feature_log_prob_(self) -> Array:
        """log φ of every word, or the weight of every word in the rule of the complement."""
        scorer = self._scorer()
        if self._setting("model") == BERNOULLI:
            with np.errstate(divide="ignore"):
                return np.log(scorer.phi)
        never = scorer.linear.never
        weights = scorer.linear.weights.T
        if never is None or not never.any():
            return weights.copy()
        return np.where(never.T > 0, -np.inf, np.where(never.T < 0, np.inf, weights))

    def _parameters(self) -> list[BlockParameters]:
        return [BlockParameters(self._model.family.key, 1.0, self._scorer().of_words(""))]

    def _columns_of_model(self) -> tuple[Sequence[str], None]:
        return self._scorer().names, None

    def _shown_rows(self, data: Matrix) -> Any:
        """The counts of the words of texts."""
        return cast("Text", self._model.family).counted(cast("Texts", as_texts(data)), cast("Stats", self._model.sums))

    def _typical_rows(self, n: int) -> Matrix:
        """The most frequent words of each of the first n classes."""
        words, stats = self._scorer().names, cast("Stats", self._model.sums)
        if self._setting("hashing") is not None or not len(words):
            return read_texts(["a text"] * n)
        top = np.argsort(-stats["count"][:n], axis=1, kind="stable")[:, :MOST_WORDS_TRIED]
        return read_texts([" ".join(words[int(w)] for w in row) for row in top])

    # --- one text, or texts, in and out

    def explain(self, X: TableLike, classes: ClassesLike = None) -> Explanation:
        """Return log p(a | text)/p(b | text) of each text as the prior and what every word adds.

        Parameters
        ----------
        X : list of str, or column of texts
        classes : pair of labels, optional
            a and b; by default the two most probable classes of each text.

        Returns
        -------
        Explanation

        """
        texts = self._read_X_known(X)
        found = super().explain(cast("TableLike", texts), classes)
        return replace(found, data=self._shown_rows(texts), form=table_form(X), rest_name="empty")

    def why(self, X: object, n: int = 5, classes: ClassesLike = None) -> str:
        """Return the words that decided about one text.

        Parameters
        ----------
        X : str, or a list or column of one text
        n : int, default 5
            How many words.
        classes : pair of labels, optional
            As in ``explain``.

        Returns
        -------
        str

        """
        return super().why(read_texts([X] if isinstance(X, str) else X), n, classes)

    def sample(self, n: int = 1, y: LabelsLike | None = None, random_state: RandomState = None) -> tuple[Any, Cells]:
        """Return texts drawn from the model, and their labels: words one after the other, without grammar.

        Parameters
        ----------
        n : int, default 1
            Number of texts.
        y : label or array-like of shape (n,), optional
            The class of all texts, or of each; by default classes are drawn from the prior.
        random_state : int, RandomState, Generator or None, default None
            Source of random numbers.

        Returns
        -------
        texts : list of str
            The texts.
        labels : ndarray of shape (n,)
            Their classes.

        """
        texts, labels = super().sample(n, y, random_state)
        return texts[:, 0].tolist(), labels

    def scorer(self) -> RowScorer:
        """Return a handle for one text at a time, without the checks: ``scorer()(text)`` gives p(class | text).

        Returns
        -------
        callable

        """
        fitted = self._fitted
        return OneText(fitted.solution, fitted.classes, fitted.posterior)

    def _needs_prior(self, who: str) -> None:
        if self._setting("model") == COMPLEMENT:
            raise InputError(
                f"{who}: the class prior takes no part in the predictions of TextNB(model='complement'); use "
                "model='multinomial'"
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        return tags
