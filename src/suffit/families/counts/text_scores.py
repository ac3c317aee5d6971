"""Scores of texts: a constant for each class and a weight for each token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core.family import Between, ParameterValues, Scorer, Terms
from ...core.logistic import Impossible, LogisticForm
from ...core.stats import Stats
from ...data.arrays import Array, Codes, Csr, freeze
from ...data.errors import InputError
from ...data.vocabulary import Vocabulary
from ...text.counting import add_token_scores
from ...text.documents import StringTexts, Texts, read_texts
from ...text.tokens import WORD, Numbers, Spare

if TYPE_CHECKING:
    from .text import Text

WORDS_SHOWN = 4  # of a text among other columns
READ_BYTES = 1 << 21  # of texts that a thread scores before it asks for more


class Linear(NamedTuple):
    """Σ of the weights of tokens + start, and how many of them stand for log 0."""

    weights: Array  # (words, K)
    start: Array  # (K,)
    never: NDArray[np.int8] | None = None  # (words, K)
    never_start: Array | None = None  # (K,)

    def among(self, used: NDArray[np.bool_]) -> Linear:
        """The same with 0 for words that take no part."""
        weights = np.zeros((len(used), self.weights.shape[1]))
        weights[used] = self.weights
        if self.never is None:
            return Linear(weights, self.start)
        never = np.zeros(weights.shape, np.int8)
        never[used] = self.never
        return Linear(weights, self.start, never, self.never_start)

    @property
    def limited(self) -> bool:
        """Whether anything has probability 0."""
        return self.never is not None and bool(self.never.any() or np.any(self.never_start))


def as_texts(X: object) -> Any:
    """An array of texts as texts; anything else as it is."""
    return read_texts(X) if isinstance(X, np.ndarray) and X.dtype.kind in "OU" else X


class TextScorer(Scorer[Texts, Stats]):
    """log p(text | c) = start_c + Σ over its tokens, or its different ones, of weight_wc."""

    key = "text"
    takes_missing = True
    comparable = False  # the longer a text, the less probable: its length is no part of the model

    def __init__(self, family: Text, stats: Stats, alpha: float, density: bool = False) -> None:
        self.family, self.stats, self.alpha, self.columns = family, stats, alpha, family.columns
        self.linear = family.linear(stats, alpha, family.complement and not density)
        self.words, self.spare = stats.axes["word"], Spare(family.tokens)
        self.weights, self.start = freeze(self.linear.weights), freeze(self.linear.start)
        self.limited = self.linear.limited
        self.n_classes = len(self.start)
        used = int(family.used(stats).sum())
        self.n_parameters = self.n_classes * (used if family.once else max(used - 1, 0))

    def as_density(self) -> TextScorer:
        """The multinomial density of the same counts, where the rule is the complement's."""
        return TextScorer(self.family, self.stats, self.alpha, density=True)

    @cached_property
    def numbers(self) -> Numbers | None:
        """Words to places."""
        return Numbers.of(self.words.labels) if isinstance(self.words.labels, Vocabulary) else None

    @property
    def names(self) -> Sequence[str]:
        """The words, or the numbers of hashes."""
        from ...data.validate import ColumnNames

        labels = self.words.labels
        return labels if isinstance(labels, Vocabulary) else ColumnNames(len(labels), "hash ")

    def scores(self, X: Texts) -> Array:
        """The scores of all texts.  # → (n, K)"""
        return super().scores(as_texts(X))

    def impossible(self, X: Texts) -> Array | None:
        """Their events of probability 0.  # → (n, K)"""
        return super().impossible(as_texts(X))

    def blocks(self, X: Texts) -> list[tuple[int, int]]:
        """By the size of the texts."""
        return X.parts(0, len(X), READ_BYTES) if isinstance(X, Texts) else super().blocks(X)

    def score_rows(self, X: Texts, start: int, stop: int, out: Array) -> None:
        """start_c + Σ of the weights of tokens; 0 for a missing text."""
        self._add(X, start, stop, self.weights, self.start, out)

    def _add(self, X: Texts, start: int, stop: int, weights: Array, first: Array, out: Array) -> None:
        out[:] = first
        if not isinstance(X, Texts):  # counts of words
            out += sparse.csr_array(X[start:stop]) @ weights
            return
        add_token_scores(X, self.spare, self.numbers, weights, self.family.once, start, stop, out)
        out[X.missing[start:stop]] = 0.0

    def impossible_rows(self, X: Texts, start: int, stop: int, out: Array) -> None:
        """Tokens that a class has never seen, and words that none of its texts lacks, where α is 0."""
        never, first = self.linear.never, self.linear.never_start
        assert never is not None
        assert first is not None
        self._add(X, start, stop, freeze(never.astype(np.float64)), first, out)

    def check_cells(self, X: Texts, rows: NDArray[np.int64]) -> None:
        """Any text will do."""

    def drawn_in(self, X: Texts) -> Texts:
        """No text is too far out."""
        return X

    def parts(self, X: Texts, a: Codes, b: Codes) -> Terms:
        """What each word adds; as one column where the texts are one of several."""
        terms = self.word_terms(X, a, b)
        return terms if self.family.by_word else _as_one_column(terms)

    def word_terms(self, X: Texts, a: Codes, b: Codes) -> Terms:
        """x_w·(weight_wa − weight_wb), word by word; and of an empty text."""
        X = as_texts(X)
        counts = self.family.counted(X, self.stats) if isinstance(X, Texts) else sparse.csr_array(X)
        there = ~X.missing if isinstance(X, Texts) else np.ones(X.shape[0], bool)
        terms = Terms(_odds(counts, self.weights, a, b), there * (self.start[a] - self.start[b]))
        if not self.limited:
            return terms
        never, first = self.linear.never, self.linear.never_start
        assert never is not None
        assert first is not None
        return terms._replace(never=Terms(_odds(counts, never, a, b), there * (first[a] - first[b])))

    @property
    def phi(self) -> Array:
        """The share of every word among those of a class, or of its texts that have it.  # → (K, words)"""
        count, n = np.maximum(self.stats["count"], 0.0), self.stats["n"][:, None]
        smoothed = (count + self.alpha) * self.family.used(self.stats)
        total = n + 2 * self.alpha if self.family.once else smoothed.sum(axis=1, keepdims=True)
        return np.divide(smoothed, total, out=np.zeros_like(smoothed), where=total > 0)

    def parameters(self) -> list[ParameterValues]:
        """The share of every word, named after its column of the table where that has a name."""
        return self.of_words(f"{self.columns[0]}: " if self.columns[0] else "")

    def of_words(self, before: str) -> list[ParameterValues]:
        """The same, with this before every word."""
        return [ParameterValues("probability", [f"{before}{word}" for word in self.names], self.phi)]

    @property
    def length(self) -> Array:
        """The mean number of tokens of the texts of each class.  # → (K,)"""
        n, total = self.stats["n"], self.stats["count"].sum(axis=1)
        return np.divide(total, n, out=np.ones_like(n), where=n > 0)

    @property
    def centres(self) -> Array:
        """The counts to be expected of each word."""
        if not self.family.by_word:
            raise NotImplementedError("a text has no mean")
        return self.phi if self.family.once else self.phi * self.length[:, None]

    def filled(self, X: Texts, posterior: Array) -> Texts:
        """A missing text stays so."""
        return X

    def drawn(self, X: Texts, codes: Codes, rng: np.random.Generator) -> Texts:
        """Texts drawn where they are missing."""
        drawn = self.sample(codes, rng)[:, 0].tolist()
        values = [new if gone else old for new, old, gone in zip(
            drawn, X.strings(0, len(X)), X.missing.tolist(), strict=True
        )]  # fmt: skip
        return StringTexts(values, np.zeros(len(values), bool))

    def sample(self, codes: Codes, rng: np.random.Generator) -> Any:
        """Words one after the other; how many is Poisson with the mean of the class (the length is no part of it)."""
        family = self.family
        if family.analyzer != WORD or family.ngram_range != (1, 1) or family.hashing is not None:
            raise InputError("texts can be drawn from a vocabulary of single words alone, not from n-grams or hashes")
        phi, words, length = self.phi, np.array(list(self.words.labels), dtype=object), self.length
        texts = []
        for c in codes.tolist():
            if family.once:
                drawn = words[rng.random(len(words)) < phi[c]]
            else:
                drawn = rng.choice(words, rng.poisson(length[c]), p=phi[c] / phi[c].sum()) if len(words) else words
            texts.append(" ".join(drawn.tolist()))
        return np.array(texts, dtype=object)[:, None]

    def log_likelihood(self, stats: Stats) -> Array | None:
        """Σ counts · weights + n · start."""
        return np.asarray((stats["count"] * self.weights.T).sum(axis=1) + stats["n"] * self.start)

    def separation(self, stats: Stats) -> Between:
        """(w_a − w_b)·(counts expected in a − in b), of each word or in all."""
        expected, W, never = self.phi, self.weights, self.linear.never
        if not self.family.once:
            expected = expected * self.length[:, None]

        def between(a: int, b: int) -> Array:
            J = (W[:, a] - W[:, b]) * (expected[a] - expected[b])
            if never is not None:
                J = np.where((never[:, a] != never[:, b]) & (expected[a] != expected[b]), np.inf, J)
            return np.asarray(J if self.family.by_word else J.sum(keepdims=True))

        return between

    def logistic_form(self) -> LogisticForm:
        """Weights on the counts of words."""
        impossible = None
        if self.limited:
            never, first = self.linear.never, self.linear.never_start
            assert never is not None
            assert first is not None
            impossible = Impossible(never.T.astype(np.float64), first)
        return LogisticForm(tuple(self.names), self.weights.T, self.start, self._counts, impossible=impossible)

    def _counts(self, X: object) -> Array:
        """Of texts, or of rows that hold them already."""
        if isinstance(X, np.ndarray) and X.dtype.kind in "fiu":
            return X.astype(np.float64)
        return self.family.counted(read_texts(X), self.stats).toarray()


def _odds(counts: Csr, weights: Array | NDArray[np.int8], a: Codes, b: Codes) -> Csr:
    """x_w·(weight_wa − weight_wb), token by token."""
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    odds = counts.data * (weights[counts.indices, a[row]] - weights[counts.indices, b[row]].astype(np.float64))
    return sparse.csr_array((odds, counts.indices, counts.indptr), shape=counts.shape)


def _as_one_column(terms: Terms) -> Terms:
    """All that a text adds as what its column adds."""
    columns = (np.asarray(terms.columns.sum(axis=1)).reshape(-1) + terms.rest)[:, None]
    never = None if terms.never is None else _as_one_column(terms.never)
    return Terms(columns, np.zeros(len(terms.rest)), never)


def most_telling(parts: Sequence[tuple[TextScorer, Terms, float]]) -> str:
    """The words of one text that add most to the log-odds, each with what it adds; "" where there are none."""
    found: dict[str, float] = {}
    for scorer, terms, power in parts:
        columns, names = sparse.csr_array(terms.columns), scorer.names
        for w, value in zip(columns.indices.tolist(), columns.data.tolist(), strict=True):
            found[names[w]] = found.get(names[w], 0.0) + power * value
    most = sorted(found.items(), key=lambda term: -abs(term[1]))
    shown = [f"{word!r} {value:+.2f}" for word, value in most[:WORDS_SHOWN]]
    others = len(most) - WORDS_SHOWN
    return ", ".join([*shown, f"{others} other word{'s' * (others > 1)}"] if others > 0 else shown)
