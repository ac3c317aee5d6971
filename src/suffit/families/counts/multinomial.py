"""Multinomial: a document is the sequence of its words; counts are all it takes.  And its complement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core.family import EMPTIED, Between, ParameterValues, Running, Scorer, Terms, register
from ...core.leave_one_out import LooScores
from ...core.logistic import Impossible, LogisticForm
from ...core.stats import CLASS, FEATURE, ROUNDING, Stats, layout
from ...data.arrays import Array, Cells, Codes, Csr, NumberRows, adds_up, block, csr, freeze, is_sparse, sum_is_finite
from ...data.errors import CellError, InputError, check_finite
from ...data.labels import Index
from ...data.rows import Rows
from ...data.warn import warn_absent
from ..elementwise.shape import never_learned, without, word_name
from ..rounding import few_digits_left, is_inexact, say_few_digits
from ..running import RunningCounts, label_table
from ..tuning import Alpha, SmoothedFamily, Tuning, check_alpha, dirichlet_evidence
from .shape import dense_class_sums, linear_scores, log_shares, share_table, sparse_class_sums

MISSING_COUNT = "gap"  # words whose count is missing in some document, as model files name the axis
WORDS = layout(
    "words",
    {"count": (CLASS, FEATURE), "n": (CLASS,), "gone": (CLASS, MISSING_COUNT)},
    growing={MISSING_COUNT: "gone"},
    counted={"count": "n", "gone": "n"},
)


@register
@dataclass(frozen=True)
class Multinomial(SmoothedFamily[NumberRows]):
    """log p(document | c) = Σ_w x_w log φ_w|c, φ_w|c = (count + α_w)/Σ(count + α): a density over word sequences.

    Neither the number of orders in which the same counts can be written nor the length is part of it.  A missing count
    (NaN) is marginalised: at fit, φ rests on the mean count of the documents that have one; a document is scored by the
    model without that word, Σ over the other words of x_w log(φ_w|c / Σ φ).

    Parameters
    ----------
    alpha : float, array-like of shape (n_words,), "loo" or "evidence", default 1.0
        Added to the count of every word; 0 is maximum likelihood.  "loo" chooses it by leave-one-out, "evidence" by the
        evidence of the counts.
    complement : bool, default False
        Whether each class is scored against the words of all the others (Rennie et al. 2003).
    norm : bool, default False
        Whether the weights of the complement are divided by their sum.
    grows : bool, default False
        Whether the number of words is that of the largest word id in any document, and grows and falls with the
        documents.
    tuning : Tuning, optional
        What was tried to choose ``alpha``; set by a fit, not by users.

    Attributes
    ----------
    key : str
        "multinomial", the name of the family.

    See Also
    --------
    MultinomialNB : Naive Bayes with this family.
    ComplementNB : Naive Bayes with its complement.

    Examples
    --------
    >>> from suffit import MultinomialNB
    >>> MultinomialNB(alpha=0.5).fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"]).predict([[1, 1]]).tolist()
    ['a']
    """

    alpha: Alpha = 1.0  # a number, one for each word, or how to choose one
    complement: bool = False
    norm: bool = False
    grows: bool = False
    tuning: Tuning | None = field(default=None, compare=False, repr=False)

    key: ClassVar[str] = "multinomial"

    def __post_init__(self) -> None:
        check_alpha(self, evidence=True)

    def log_evidence(self, stats: Stats, alpha: float) -> float:
        """Words of every class, their shares drawn from Dirichlet(α)."""
        return dirichlet_evidence(np.maximum(stats["count"], 0.0), alpha)

    def _refuse(self, j: int, value: float, row: int) -> InputError:
        who = "ComplementNB" if self.complement else "MultinomialNB"
        return CellError(
            f"Negative values in data passed to {who} (input X): column {self.columns[j]!r}, found {value:g}",
            row,
            "word counts must be 0 or more: with HashingVectorizer set alternate_sign=False, or use GaussianNB",
        )

    def check(self, x: Array, first_row: int) -> None:
        """Refuse negative and infinite counts."""
        if not x.min(initial=0.0) >= 0 or not np.isfinite(x.max(initial=0.0)):
            check_finite(x, self.columns, first_row)
            if (x < 0).any():
                i, j = (int(v) for v in np.argwhere(x < 0)[0])
                raise self._refuse(j, x[i, j], first_row + i)

    def check_sparse(self, X: Csr) -> None:
        """The same for the stored entries of CSR."""
        if not X.nnz or (X.data.min() >= 0 and np.isfinite(X.data.max())):
            return
        bad = np.isinf(X.data) | (X.data < 0)
        if not bad.any():
            return
        e = int(np.argmax(bad))
        i, j = int(np.searchsorted(X.indptr, e, side="right")) - 1, int(X.indices[e])
        check_finite(np.asarray([[X.data[e]]], dtype=np.float64), [self.columns[j]], i)
        raise self._refuse(j, float(X.data[e]), i)

    def surely_valid(self, X: NumberRows) -> bool:
        x = X.data if is_sparse(X) else X
        return not x.size or (x.min() >= 0 and bool(np.isfinite(x.max())))

    def running(self, stats: Stats) -> Running | None:
        table = label_table(stats.axes[CLASS])
        return None if table is None else RunningCounts(stats, *table)

    def example(self, rng: np.random.Generator, n: int) -> Array:
        """Word counts, for ``check_family``."""
        return rng.poisson([0.5, 3.0, 8.0], size=(n, 3)).astype(np.float64)

    def collect(self, X: NumberRows, rows: Rows) -> Stats:
        """Occurrences of every word in every class, the documents of the class, and those without a count."""
        X = csr(X) if is_sparse(X) else X
        missing, gone = Index(()), np.zeros((len(rows.classes), 0))
        count, good = self._count(X, rows)
        if not good:
            X, missing, gone = _without_missing_cells(X, rows)
            count, _ = self._count(X, rows)
        return Stats(
            WORDS,
            {CLASS: rows.classes, FEATURE: Index.range(X.shape[1]), MISSING_COUNT: missing},
            {"count": count, "n": rows.counts(), "gone": gone},
        )

    def _count(self, X: NumberRows, rows: Rows) -> tuple[Array, bool]:
        """Σ w x per class and word, and whether no count is missing."""
        if not is_sparse(X):
            count = dense_class_sums(X, rows, self.check)
            return count, sum_is_finite(count)
        count, good = sparse_class_sums(X, rows)
        if not good:
            self.check_sparse(X)
        return count, good

    def without_rounding(self, before: Stats, after: Stats) -> Stats:
        """Where words come with the documents, those beyond the last that is left are gone."""
        if not self.grows:
            return after
        counted = np.flatnonzero(after["count"].any(axis=0))
        missing = _words_with_missing(after)[after["gone"].any(axis=0)]
        width = 1 + int(max(counted.max(initial=0), missing.max(initial=0)))
        return after if width == len(after.axes[FEATURE]) else after.take(FEATURE, range(width))

    def known_part(self, X: NumberRows, stats: Stats) -> NumberRows:
        """Words beyond those of the sums are ignored, where words come and go."""
        width = len(stats.axes[FEATURE])
        return X[:, :width] if self.grows and X.shape[1] > width else X

    def check_forgotten(self, before: Stats, after: Stats) -> None:
        """No word can occur less than never."""
        words = np.flatnonzero((after["count"] != before["count"]).any(axis=0))  # of millions, perhaps
        left, was = after["count"][:, words], before["count"][:, words]
        slack = EMPTIED * before["n"][:, None]
        bad = left < -(EMPTIED * was + ROUNDING * before["count"].max(axis=1, initial=0.0, keepdims=True))
        odd = (after["gone"] < -slack) | (after["gone"] > after["n"][:, None] + slack)
        names, missing = (
            [word_name(self.columns, j) for j in at] for at in (words.tolist(), _words_with_missing(after).tolist())
        )
        if bad.any() or odd.any():
            raise never_learned(after, *((bad, names) if bad.any() else (odd, missing)))
        scale = after["count"].max(axis=1, initial=0.0, keepdims=True)
        some = after["n"] > EMPTIED * before["n"]
        few = is_inexact(was) & few_digits_left(left, was, np.ones_like(left), scale) & some[:, None]
        say_few_digits(few & (left != was), "count", after, names)

    def scorer(self, stats: Stats) -> MultinomialScorer:
        """log φ of every class, or the weights of the complement."""
        count, n = _completed(stats, self.columns), np.maximum(stats["n"], 0.0)
        alpha = np.broadcast_to(np.asarray(self.solvable(stats).alpha, dtype=np.float64), count.shape[-1:])
        length = np.divide(count.sum(axis=1), n, out=np.ones_like(n), where=n > 0)
        return MultinomialScorer(self, count, alpha, length)

    def leave_one_out(self, X: NumberRows, rows: Rows, stats: Stats) -> LooScores:
        """Σ_w x_w log (count − x_w + α_w)/Σ(count − x + α), for the classes whose counts the document is part of.

        That is its own class, or with ``complement`` all the others.
        """
        values = X.data if is_sparse(X) else X
        scorer = self.scorer(stats)
        if len(stats.axes[MISSING_COUNT]) or not adds_up(values) or (self.norm and not (scorer.alpha > 0).all()):
            return self.solved_without(X, rows, stats)
        X = csr(X) if is_sparse(X) else cast("Csr", sparse.csr_array(X))
        codes, weights = rows.part(0, len(rows))
        count = stats["count"].sum(axis=0) - stats["count"] if self.complement else stats["count"]
        out, never = scorer.scores(X), np.zeros((len(rows), len(count)))
        if scorer.limited:
            never = np.asarray(scorer.impossible(X))
        for c in range(len(count)):
            here = np.flatnonzero((codes == c) != self.complement)
            score, zero = self._without_document(X[here], weights[here], count[c], scorer.alpha)
            out[here, c], never[here, c] = (-score, -zero) if self.complement and not self.norm else (score, zero)
        last = self._last_of_words(X, weights, stats["count"])
        if len(last):
            solved = self.solved_without(X[last], rows.some(last), stats)
            out[last], never[last] = solved.log_density, 0.0 if solved.impossible is None else solved.impossible
        return LooScores(out, never if never.any() else None)

    def _last_of_words(self, X: Csr, weights: Array, count: Array) -> NDArray[np.int64]:
        """The documents without which there are fewer words: that with the last word, if no other has it."""
        if not self.grows:
            return np.zeros(0, np.int64)
        at = np.flatnonzero(X.indices == count.shape[1] - 1)
        rows = np.searchsorted(X.indptr, at, side="right") - 1
        left = without(np.full(len(at), count[:, -1].sum()), weights[rows] * X.data[at])
        return np.asarray(rows[left <= 0])

    def _without_document(self, X: Csr, weights: Array, count: Array, alpha: Array) -> tuple[Array, Array]:
        """Scores of documents by one class's counts less their own; and how many words have probability 0."""
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        x, w = X.data.astype(np.float64), weights[row]
        length = np.bincount(row, x, minlength=X.shape[0])
        smoothed = without(count[X.indices], w * x, ROUNDING) + alpha[X.indices]
        total = without(np.full(X.shape[0], count.sum()), weights * length, ROUNDING) + alpha.sum()
        none = total <= 0  # nothing left and no smoothing: uniform
        smoothed, total = np.where(none[row], 1.0, smoothed), np.where(none, len(count), total)
        never = smoothed <= 0
        logs = np.log(np.where(never, 1.0, smoothed))
        score = np.bincount(row, x * logs, minlength=X.shape[0]) - length * np.log(total)
        if self.norm and len(count) == 1:  # a single word has all the weight there is
            score = length
        elif self.norm:  # over the sum of the weights of all words
            everywhere = np.log(count + alpha)
            changed = np.bincount(row, logs - everywhere[X.indices], minlength=X.shape[0])
            score = score / (everywhere.sum() + changed - len(count) * np.log(total))
        return np.asarray(score), np.asarray(np.bincount(row, x * never, minlength=X.shape[0]), np.float64)

    def rule(self, count: Array, alpha: Array) -> tuple[Array, NDArray[np.int8]]:
        """The weight of every word in every class, and which of them stand for log 0.  # → (words, K) each"""
        every = count.sum(axis=0) if self.complement else None

        def smoothed(part: slice) -> Array:
            own = count[:, part]
            return (own if every is None else every[part] - own) + alpha[part]

        weights, never = share_table(smoothed, *count.shape)
        if every is None:
            return weights, never
        if self.norm:
            return _normed(weights, never), np.broadcast_to(np.int8(0), never.shape)
        return np.negative(weights, out=weights), np.negative(never, out=never)


def _without_missing_cells(X: NumberRows, rows: Rows) -> tuple[NumberRows, Index, Array]:
    """The same rows with 0 for every missing count, the words that have some, and their documents.  # → (K, words)"""
    X = X.copy() if is_sparse(X) else np.array(X, dtype=np.float64)
    values = X.data if is_sparse(X) else X
    missing = np.isnan(values)
    if is_sparse(X):
        word: NDArray[np.integer] = X.indices[missing]
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[missing]
    else:
        row, word = np.nonzero(missing)
    values[missing] = 0.0
    words, place = np.unique(word, return_inverse=True)
    codes, weights = rows.part(0, X.shape[0])
    gone = np.zeros((len(rows.classes), len(words)))
    np.add.at(gone, (codes[row], place), weights[row])
    return X, Index(tuple(words.tolist())), gone


def _words_with_missing(stats: Stats) -> NDArray[np.int64]:
    """The words whose count is missing in some document."""
    return np.array(stats.axes[MISSING_COUNT].labels, dtype=np.int64)


def _completed(stats: Stats, columns: Sequence[str]) -> Array:
    """Counts as they would be, had the documents without a count the mean of those with one."""
    count, n = stats["count"], stats["n"][:, None]
    count = np.maximum(count, 0.0) if (count < 0).any() else count
    if not len(stats.axes[MISSING_COUNT]):
        return count
    at = _words_with_missing(stats)
    have = np.maximum(n - stats["gone"], 0.0)  # (K, words)
    names = [columns[j] for j in at]
    warn_absent(have, stats.axes[CLASS].labels, names, stats["n"])
    all_have = np.maximum(have.sum(axis=0), 1e-300)
    common = n * count[:, at].sum(axis=0) / all_have
    out = count.copy()
    out[:, at] = np.where(have > 0, count[:, at] * np.divide(n, have, out=np.ones_like(have), where=have > 0), common)
    return out


class MultinomialScorer(Scorer[NumberRows, Stats]):
    """Scores linear in the counts."""

    key = "multinomial"
    takes_missing = True
    comparable = False  # the longer a document, the less probable: its length is no part of the model

    def __init__(self, family: Multinomial, count: Array, alpha: Array, length: Array, density: bool = False) -> None:
        self.family, self.count, self.alpha, self.length, self.columns = family, count, alpha, length, family.columns
        self.rule = replace(family, complement=False).rule if density else family.rule
        weights, never = self.rule(count, alpha)  # of a word in one block, as CSR rows ask for them
        self.weights, self.never = freeze(weights).T, never.T  # (K, words) each; never marks weights that are log 0
        self.limited = bool(self.never.any())
        self.n_classes = self.weights.shape[0]
        self.n_parameters = self.n_classes * (self.weights.shape[1] - 1)

    @cached_property
    def by_class(self) -> Array:
        """The weights of a class in one block, as dense rows ask for them."""
        return freeze(self.weights)

    def as_density(self) -> MultinomialScorer:
        """The multinomial density of the same counts, where the rule is the complement's."""
        return MultinomialScorer(self.family, self.count, self.alpha, self.length, density=True)

    def check(self, X: NumberRows) -> None:
        """Refuse negative and infinite counts."""
        if is_sparse(X):
            return  # looked at while it is scored
        from ...kernels.runtime.threads import row_blocks

        for start, stop in row_blocks(*X.shape):
            self.family.check(block(X, start, stop), start)

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """Σ_w x_w·weight_w|c."""
        good = linear_scores(X, start, stop, self.weights if is_sparse(X) else self.by_class, out)
        if not good and is_sparse(X):
            self.family.check_sparse(X)
        if not good or not adds_up(out):
            self._score_parts(X[start:stop], out, 0)

    def _score_parts(self, X: NumberRows, out: Array, which: int) -> None:
        """Rows with missing counts under the model without those words: which = 0 the weights, 1 what is log 0."""
        if is_sparse(X):
            incomplete = np.unique(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[np.isnan(X.data)])
        else:
            incomplete = np.flatnonzero(np.isnan(X).any(axis=1))
        part = X[incomplete]
        present = ~np.isnan(part.toarray() if is_sparse(part) else part)
        patterns, codes = np.unique(present, axis=0, return_inverse=True)
        for q, there in enumerate(patterns):
            here = np.flatnonzero(codes.reshape(-1) == q)
            columns = np.flatnonzero(there)
            rule = self.rule(self.count[:, columns], self.alpha[columns])[which]
            out[incomplete[here]] = np.asarray(part[here][:, columns] @ rule)

    def parts(self, X: NumberRows, a: Codes, b: Codes) -> Terms:
        """x_w·(weight_w|a − weight_w|b), word by word."""
        X = csr(X) if is_sparse(X) else block(X, 0, X.shape[0])
        terms = Terms(self._word_odds(X, a, b, 0), np.zeros(X.shape[0]))
        if not self.limited:
            return terms
        return terms._replace(never=Terms(self._word_odds(X, a, b, 1), np.zeros(X.shape[0])))

    def _word_odds(self, X: NumberRows, a: Codes, b: Codes, which: int) -> Array | Csr:
        """which = 0: the weights, 1: what is log 0.  Rows with missing counts take the rule without those words."""
        rule = self.never if which else self.weights
        rows, words = _places(X)
        values = (X.data if is_sparse(X) else X.reshape(-1)).astype(np.float64)
        odds = rule[a[rows], words] - rule[b[rows], words]
        for i in np.unique(rows[np.isnan(values)]):
            here = np.flatnonzero(rows == i)
            there = np.ones(len(self.alpha), bool)
            there[words[here][np.isnan(values[here])]] = False
            own = np.zeros(rule.shape)
            own[:, there] = self.rule(self.count[:, there], self.alpha[there])[which].T
            odds[here] = own[a[i], words[here]] - own[b[i], words[here]]
        odds = np.where(np.isnan(values), 0.0, values * odds)
        return sparse.csr_array((odds, X.indices, X.indptr), shape=X.shape) if is_sparse(X) else odds.reshape(X.shape)

    def row_kernel(self, log_prior: Array) -> tuple[Callable[..., object] | None, tuple[Array, ...]]:
        from ...kernels.one_row import linear_row

        nothing, none = freeze(np.zeros(self.weights.shape[1])), freeze(np.zeros(len(self.weights)))
        parameters = (nothing, self.by_class, none, freeze(log_prior))
        return (None, ()) if self.limited else (linear_row, parameters)

    def surely_valid(self, X: NumberRows) -> bool:
        return self.family.surely_valid(X)

    @cached_property
    def _never_by_class(self) -> Array:
        return freeze(self.never.astype(np.float64))

    def impossible_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """Occurrences of words a class has never seen, where α is 0."""
        good = linear_scores(X, start, stop, self.never if is_sparse(X) else self._never_by_class, out)
        if not good or not adds_up(out):
            self._score_parts(X[start:stop], out, 1)

    @property
    def centres(self) -> Array:
        """φ times the mean length of the class's documents."""
        log_phi, unseen = log_shares(self.count + self.alpha)
        return np.asarray(np.where(unseen > 0, 0.0, np.exp(log_phi)) * self.length[:, None])

    def parameters(self) -> list[ParameterValues]:
        """φ: the share of every word among the words of a class."""
        log_phi, unseen = log_shares(self.count + self.alpha)
        return [ParameterValues("probability", self.columns, np.where(unseen > 0, 0.0, np.exp(log_phi)))]

    def log_likelihood(self, stats: Stats) -> Array | None:
        """Σ counts · weights."""
        return None if len(stats.axes[MISSING_COUNT]) else np.asarray((stats["count"] * self.weights).sum(axis=1))

    def separation(self, stats: Stats) -> Between:
        """(w_a − w_b)·(counts expected in a − in b)."""
        expected = self.centres

        def between(a: int, b: int) -> Array:
            J = (self.weights[a] - self.weights[b]) * (expected[a] - expected[b])
            return np.asarray(np.where((self.never[a] != self.never[b]) & (expected[a] != expected[b]), np.inf, J))

        return between

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        """Word counts; lengths are Poisson with the class's mean length (the length is no part of the model)."""
        log_phi, unseen = log_shares(self.count + self.alpha)
        phi = np.where(unseen > 0, 0.0, np.exp(log_phi))
        phi /= phi.sum(axis=1, keepdims=True)
        length = rng.poisson(self.length[codes])
        return np.stack([rng.multinomial(m, phi[c]) for m, c in zip(length, codes, strict=True)]).astype(np.float64)

    def logistic_form(self) -> LogisticForm:
        nothing = np.zeros(len(self.weights))
        impossible = Impossible(self.never.astype(np.float64), nothing) if self.limited else None
        return LogisticForm(tuple(self.columns), self.weights, nothing, _counts, impossible=impossible)


def _places(X: NumberRows) -> tuple[NDArray[np.int64], NDArray[np.integer]]:
    """The row and the word of every stored count, or of every one."""
    if is_sparse(X):
        return np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices
    rows, words = np.indices(X.shape).reshape(2, -1)
    return rows, words


def _counts(X: Cells) -> Array:
    return np.asarray(X, dtype=np.float64)


def _normed(weights: Array, never: NDArray[np.int8]) -> Array:
    """Weights over their sum; as α → 0 the words that no other class has share it all.  ``weights`` are used up."""
    alone, total = never.sum(axis=0), weights.sum(axis=0)
    np.divide(weights, total, out=weights, where=total != 0)
    np.copyto(weights, 1 / max(len(weights), 1), where=total == 0)  # a single word has all the weight there is
    for c in np.flatnonzero(alone):
        weights[:, c] = never[:, c] / alone[c]
    return weights
