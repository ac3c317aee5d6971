"""Texts to a sparse matrix of word counts, for models of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from ..data.arrays import Cells, Csr
from ..data.inputs import TableLike
from ..data.labels import Index
from ..data.rows import Rows
from ..data.validate import ColumnNames
from ..data.vocabulary import Vocabulary
from ..families.counts.text import Text
from ..text.counting import class_counts, count_matrix
from ..text.documents import read_texts
from ..text.tokens import ANALYZERS, MOST_FEATURES, Tokens
from .checks import not_fitted
from .smoothed import NON_NEGATIVE


class WordCounts(TransformerMixin, BaseEstimator):
    """Word counts of texts as a sparse matrix: the tokens of scikit-learn's ``CountVectorizer``, counted faster.

    :class:`TextNB` needs no matrix; this is for other models.  A missing text has no words.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}, default "word"
        Words of two characters or more, n-grams of characters, or these within words with a space on either side.
    ngram_range : tuple (least, most), default (1, 1)
        The lengths of n-grams, of words or of characters.
    min_count : float, default 1
        Words with fewer occurrences in the texts of ``fit`` are ignored.
    stop_words : "english", list of str or None, default None
        Words that are no tokens.
    lowercase : bool, default True
        Whether capital letters are made small ones.
    hashing : int or None, default None
        Instead of a vocabulary, so many columns, of which the hash of a word chooses one.
    binary : bool, default False
        Whether a word counts once in each text.

    Attributes
    ----------
    vocabulary_ : sequence of str
        The words, sorted; of hashes their numbers.

    See Also
    --------
    TextNB : Naive Bayes on texts as they are.

    Examples
    --------
    >>> counts = WordCounts().fit(["spam and ham", "eggs and spam"])
    >>> counts.get_feature_names_out().tolist()
    ['and', 'eggs', 'ham', 'spam']
    >>> counts.transform(["spam, spam and bacon"]).toarray()
    array([[1., 0., 0., 2.]])
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "analyzer": [StrOptions(set(ANALYZERS))],
        "ngram_range": [tuple, list],
        "min_count": [NON_NEGATIVE],
        "stop_words": [StrOptions({"english"}), list, tuple, set, frozenset, None],
        "lowercase": ["boolean"],
        "hashing": [Interval(Integral, 1, MOST_FEATURES, closed="both"), None],
        "binary": ["boolean"],
    }

    def __init__(
        self,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        min_count: float = 1,
        stop_words: str | Sequence[str] | None = None,
        lowercase: bool = True,
        hashing: int | None = None,
        binary: bool = False,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.min_count = min_count
        self.stop_words = stop_words
        self.lowercase = lowercase
        self.hashing = hashing
        self.binary = binary

    def _tokens(self) -> Tokens:
        words = self.stop_words
        return Text(
            analyzer=self.analyzer,
            ngram_range=cast("tuple[int, int]", tuple(self.ngram_range)),
            stop_words=words if words is None or isinstance(words, str) else tuple(words),
            lowercase=bool(self.lowercase),
            hashing=None if self.hashing is None else int(self.hashing),
        ).tokens

    def fit(self, X: TableLike, y: object = None) -> Self:
        """Find the vocabulary of these texts, in place.

        Parameters
        ----------
        X : list of str, or column of texts
        y : object
            Ignored.

        Returns
        -------
        self

        """
        self._validate_params()
        tokens, texts = self._tokens(), read_texts(X)
        if tokens.width is not None:
            self._words = Index.range(tokens.width)
            return self
        words, count = class_counts(texts, tokens, Rows(Index((0,)), np.zeros(len(texts), np.int32)), False)
        self._words = words.take(np.flatnonzero(count[0] >= self.min_count))
        return self

    def transform(self, X: TableLike) -> Csr:
        """Return how often each text has each word of the vocabulary.

        Parameters
        ----------
        X : list of str, or column of texts

        Returns
        -------
        sparse array of shape (n_samples, n_words)

        """
        found = count_matrix(read_texts(X), self._tokens(), self._known())
        if self.binary:
            found.data[:] = 1.0
        return found

    def get_feature_names_out(self, input_features: object = None) -> Cells:
        """Return the words, in the order of the columns.

        Parameters
        ----------
        input_features : object
            Ignored.

        Returns
        -------
        ndarray of shape (n_words,)

        """
        return np.array(list(self.vocabulary_), dtype=object)

    @property
    def vocabulary_(self) -> Sequence[str]:
        """The words, sorted."""
        labels = self._known().labels
        return labels if isinstance(labels, Vocabulary) else ColumnNames(len(labels), "hash ")

    def _known(self) -> Index:
        try:
            return cast("Index", self.__dict__["_words"])
        except KeyError:
            raise not_fitted(self) from None

    def __sklearn_is_fitted__(self) -> bool:
        return "_words" in self.__dict__

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
