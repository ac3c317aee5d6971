"""Text: a column of texts, whose words are counted; Bernoulli, multinomial, or its complement."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ...core.family import EMPTIED, Family, register
from ...core.leave_one_out import LooScores
from ...core.stats import CLASS, ROUNDING, Layout, Stats, layout
from ...data.arrays import Cells, Csr, RowIndex
from ...data.errors import NotLearnedError
from ...data.labels import Index
from ...data.rows import Rows
from ...text.counting import class_counts, count_matrix
from ...text.documents import Texts
from ...text.tokens import ANALYZERS, MOST_FEATURES, WORD, Tokens, stop_words_of
from ..elementwise.bernoulli import Bernoulli
from ..elementwise.scores import solved_forms
from ..tuning import Alpha, SmoothedFamily, Tuning, check_alpha, dirichlet_evidence
from .multinomial import Multinomial
from .text_scores import Linear, TextScorer, as_texts

WORDS = "word"  # the axis of the words of texts
BERNOULLI, MULTINOMIAL, COMPLEMENT = "bernoulli", "multinomial", "complement"
MODELS = (MULTINOMIAL, BERNOULLI, COMPLEMENT)
LOO_BYTES = 1 << 23  # of texts whose words are counted one by one together, to leave each out
_DIMS = {"count": (CLASS, WORDS), "n": (CLASS,)}
VOCABULARY = layout("text", _DIMS, growing={WORDS: "count"}, counted={"count": "n"})
HASHED = layout("hashed-text", _DIMS, counted={"count": "n"})


@register
@dataclass(frozen=True)
class Text(SmoothedFamily[Texts]):
    """A column of texts: the words of a text are independent given its class.

    Multinomial: log p = Σ_w x_w log φ_w with φ_w = (occurrences of w + α)/(all words of the class + α·vocabulary).
    Bernoulli: a word is there or not, φ_w = (texts with w + α)/(texts of the class + 2α), and absent words count.
    The vocabulary is that of the texts learned; other words are ignored.  A missing text carries no information.

    Parameters
    ----------
    model : {"multinomial", "bernoulli", "complement"}, default "multinomial"
        The event model; "complement" scores each class against the words of all others.
    alpha : float, "loo" or "evidence", default 1.0
        Smoothing; "loo" chooses it by leave-one-out, "evidence" by the evidence of the counts.
    analyzer : {"word", "char", "char_wb"}, default "word"
        Words of two characters or more, n-grams of characters, or these within words with a space on either side.
    ngram_range : tuple (least, most), default (1, 1)
        The lengths of n-grams, of words or of characters.
    min_count : float, default 1
        Words with fewer occurrences (for Bernoulli: in fewer texts) in all classes together are ignored.
    stop_words : "english", list of str or None, default None
        Words that are no tokens.
    lowercase : bool, default True
        Whether capital letters are made small ones.
    hashing : int or None, default None
        Instead of a vocabulary, so many numbers, of which the hash of a word chooses one.
    by_word : bool, default False
        Whether each word is a column of its own in explanations; set by TextNB.
    tuning : Tuning, optional
        What was tried to choose ``alpha``; set by a fit, not by users.

    Attributes
    ----------
    key : str
        "text", the name of the family.

    See Also
    --------
    TextNB : Naive Bayes on texts alone, with this family.
    GenerativeClassifier : Tables with texts beside other columns.

    Examples
    --------
    >>> from suffit import TextNB
    >>> TextNB().fit(["free money", "see you soon"], ["spam", "ham"]).predict(["money"]).tolist()
    ['spam']
    """

    model: str = MULTINOMIAL
    alpha: Alpha = 1.0
    analyzer: str = WORD
    ngram_range: tuple[int, int] = (1, 1)
    min_count: float = 1.0
    stop_words: str | tuple[str, ...] | None = None
    lowercase: bool = True
    hashing: int | None = None
    by_word: bool = field(default=False, repr=False)
    tuning: Tuning | None = field(default=None, compare=False, repr=False)

    key: ClassVar[str] = "text"

    def __post_init__(self) -> None:
        check_alpha(self, evidence=True)
        if not (isinstance(self.alpha, str) or np.ndim(self.alpha) == 0):
            raise ValueError(f"Text(alpha={self.alpha!r}): must be one number, as words come and go")
        for name, value, known in (("model", self.model, MODELS), ("analyzer", self.analyzer, ANALYZERS)):
            if value not in known:
                raise ValueError(f"Text({name}={value!r}): must be one of {', '.join(map(repr, known))}")
        ends = tuple(self.ngram_range)
        if not (len(ends) == 2 and all(isinstance(n, int | np.integer) for n in ends) and 1 <= ends[0] <= ends[1]):
            raise ValueError(f"Text(ngram_range={self.ngram_range!r}): must be two integers, 1 ≤ least ≤ most")
        if type(self.ngram_range) is not tuple or {type(n) for n in ends} != {int}:
            object.__setattr__(self, "ngram_range", (int(ends[0]), int(ends[1])))
        if not (np.isfinite(self.min_count) and self.min_count >= 0):
            raise ValueError(f"Text(min_count={self.min_count!r}): must be finite, at least 0")
        width = self.hashing
        if width is not None and not (isinstance(width, int | np.integer) and 1 <= width <= MOST_FEATURES):
            raise ValueError(f"Text(hashing={width!r}): must be None or an integer from 1 to {MOST_FEATURES}")
        if not isinstance(self.stop_words, str) and self.stop_words is not None:
            object.__setattr__(self, "stop_words", stop_words_of(self.stop_words))
        _ = self.tokens  # refuses stop words that are none

    @cached_property
    def tokens(self) -> Tokens:
        """How texts are cut into tokens."""
        return Tokens(self.analyzer, self.ngram_range, self.lowercase, stop_words_of(self.stop_words), self.hashing)

    @property
    def layout(self) -> Layout:
        """What the sums are called."""
        return VOCABULARY if self.hashing is None else HASHED

    @property
    def once(self) -> bool:
        """Whether a word counts once in each text."""
        return self.model == BERNOULLI

    @property
    def complement(self) -> bool:
        """Whether each class is scored against all others."""
        return self.model == COMPLEMENT

    @property
    def statistic(self) -> tuple[object, ...]:
        """Which tokens are counted, and whether once in each text."""
        return (self.key, self.once, self.tokens)

    # --- collect

    def collect(self, X: Texts, rows: Rows) -> Stats:
        """Occurrences of every word in every class (Bernoulli: texts that have it), and the texts of the class."""
        X = as_texts(X)
        words, count = class_counts(X, self.tokens, rows, self.once)
        n = rows.counts()
        if X.missing.any():
            codes, weights = rows.part(0, len(rows))
            n = n - np.bincount(codes, weights * X.missing, len(n))
        return Stats(self.layout, {CLASS: rows.classes, WORDS: words}, {"count": count, "n": n})

    def check_forgotten(self, before: Stats, after: Stats) -> None:
        """No word can occur less than never."""
        left, was = after["count"], before["count"]
        bad = left < -(EMPTIED * was + ROUNDING * was.max(axis=1, initial=0.0, keepdims=True))
        if self.once:
            bad |= left > after["n"][:, None] + EMPTIED * before["n"][:, None]
        if bad.any():
            c, w = (int(v) for v in np.argwhere(bad)[0])
            raise NotLearnedError(
                f"class {after.axes[CLASS].labels[c]!r} cannot have learned these texts: the word "
                f"{token_name(after.axes[WORDS], w)!r} would be left with impossible counts",
                how=", with the same labels and weights",
            )

    # --- solve

    def used(self, stats: Stats) -> NDArray[np.bool_]:
        """The words that take part: those with ``min_count`` occurrences; of hashes all."""
        if self.min_count <= 1 and self.hashing is not None:
            return np.ones(self.hashing, bool)
        total = stats["count"].sum(axis=0)
        if self.min_count <= 1:
            return np.asarray(total > 0)
        return np.asarray(total >= self.min_count * (1 - EMPTIED))

    def linear(self, stats: Stats, alpha: float, complement: bool) -> Linear:
        """The scores of texts as a weight for each of their words and a constant for each class."""
        count, n = np.asfortranarray(stats["count"]), np.maximum(stats["n"], 0.0)  # words by words, however it came
        count = np.maximum(count, 0.0) if count.size and count.min() < 0 else count
        used = self.used(stats)
        some = count if used.all() else np.asfortranarray(count[:, used])
        if self.once:
            form, zero = solved_forms(Bernoulli(alpha=alpha), np.broadcast_to(n[:, None], some.shape), some[..., None])
            linear = Linear(form.by_feature[:, 0], form.offset)
            if zero is not None:
                linear = Linear(linear.weights, linear.start, zero.by_feature[:, 0].astype(np.int8), zero.offset)
        else:
            rule = Multinomial(complement=complement).rule(some, np.full(some.shape[1], alpha))
            nothing = np.zeros(len(n))
            linear = Linear(rule[0], nothing, rule[1], nothing)
        return linear if used.all() else linear.among(used)

    def scorer(self, stats: Stats) -> TextScorer:
        """Weights of every word."""
        family = self.solvable(stats)
        return TextScorer(family, stats, cast("float", family.alpha))

    def log_evidence(self, stats: Stats, alpha: float) -> float:
        """Words of every class, their shares drawn from Dirichlet(α); of presence and absence from Beta(α, α)."""
        count = np.maximum(stats["count"][:, self.used(stats)], 0.0)
        if not self.once:
            return dirichlet_evidence(count, alpha)
        return dirichlet_evidence(np.stack([count, stats["n"][:, None] - count], axis=-1), alpha)

    # --- leave one out

    def tuned_on(self, X: Texts, rows: Rows, stats: Stats) -> Family[Texts, Stats]:
        """With the α of the least leave-one-out log-loss, where that is asked for; words are counted once."""
        return super().tuned_on(cast("Texts", CountedTexts(as_texts(X), self.tokens, stats.axes[WORDS])), rows, stats)

    def leave_one_out(self, X: Texts, rows: Rows, stats: Stats) -> LooScores:
        """Every text under the sums without it; the words that only it has are then unknown."""
        from .text_leave_one_out import left_out

        family = self.solvable(stats)
        if isinstance(X, CountedTexts):
            return left_out(family, X.matrix, X.texts.missing, rows, stats)
        X = as_texts(X)
        parts = [
            left_out(family, self.counted(X[a:b], stats), X.missing[a:b], rows.some(np.arange(a, b)), stats)
            for a, b in X.parts(0, len(X), LOO_BYTES)
        ]
        if not parts:
            return LooScores(np.zeros((0, len(stats.axes[CLASS]))))
        never = [np.zeros_like(part.log_density) if part.impossible is None else part.impossible for part in parts]
        return LooScores(
            np.concatenate([part.log_density for part in parts]),
            np.concatenate(never) if any(part.impossible is not None for part in parts) else None,
        )

    def counted(self, X: Texts, stats: Stats) -> Csr:
        """How often each text has each word of these sums; 1 where that is all that counts.  # → (n, words)"""
        return presence(count_matrix(X, self.tokens, stats.axes[WORDS]), self.once)

    def example(self, rng: np.random.Generator, n: int) -> Cells:
        """Texts, for ``check_family``."""
        words = np.array(["apple", "pear", "plum", "fig"])
        texts = [" ".join(words[rng.integers(0, 4, 1 + rng.integers(6))]) for _ in range(n)]
        return np.array(texts, dtype=object)[:, None]


def presence(counts: Csr, once: bool) -> Csr:
    """Counts, or 1 for each."""
    if once:
        counts.data[:] = 1.0
    return counts


def token_name(words: Index, w: int) -> str:
    """A word, or the number of a hash."""
    return f"hash {w}" if isinstance(words.labels, range) else str(words.labels[w])


@dataclass(frozen=True)
class CountedTexts:
    """Texts whose words are counted when that is asked for, and then once."""

    texts: Texts
    tokens: Tokens
    words: Index

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and one column."""
        return self.texts.shape

    def __getitem__(self, rows: RowIndex) -> CountedTexts:
        return replace(self, texts=self.texts[rows])

    @cached_property
    def matrix(self) -> Csr:
        """How often each text has each word."""
        return count_matrix(self.texts, self.tokens, self.words)
