"""Multinomial: a document is the sequence of its words; counts are all it takes.  And its complement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..family import Family, Running, Scorer, least, register
from ..forms import Impossible, LogisticForm
from ..stats import CLASS, FEATURE, Array, Index, Stats, layout
from ..table import Codes, InputError, Matrix, Rows, block, check_finite, csr, freeze, is_sparse
from .elementwise import never_learned
from .running import RunningCounts, label_table
from .simplex import dense_class_sums, linear_scores, log_shares, sparse_class_sums, words_first

WORDS = layout("words", {"count": (CLASS, FEATURE), "n": (CLASS,)})


@register
@dataclass(frozen=True)
class Multinomial(Family):
    """log p(document | c) = Σ_w x_w log φ_w|c, φ_w|c = (count + α_w)/Σ(count + α): a density over word sequences.

    The number of orders in which the same counts can be written is no part of it, nor is the length.
    ``complement``: each class is scored against the words of all the others (Rennie et al. 2003).
    """

    alpha: float | tuple[float, ...] = 1.0
    complement: bool = False
    norm: bool = False

    key: ClassVar[str] = "multinomial"

    def __post_init__(self) -> None:
        least(self, "alpha", self.alpha, 0.0)

    def _refuse(self, columns: Sequence[str], j: int, value: float, row: int) -> InputError:
        who = "ComplementNB" if self.complement else "MultinomialNB"
        return InputError(
            f"Negative values in data passed to {who} (input X): column {columns[j]!r}, found {value:g} in row {row}; "
            "word counts are 0 or more: drop the row, or use GaussianNB"
        )

    def check(self, x: NDArray[Any], columns: Sequence[str], first_row: int) -> None:
        """Refuse negative, missing and infinite counts."""
        if not x.min(initial=0.0) >= 0 or not np.isfinite(x.max(initial=0.0)):
            check_finite(x, columns, first_row, missing=False)
            i, j = (int(v) for v in np.argwhere(x < 0)[0])
            raise self._refuse(columns, j, x[i, j], first_row + i)

    def check_sparse(self, X: Matrix, columns: Sequence[str]) -> None:
        """The same for the stored entries of CSR."""
        if not X.nnz or (X.data.min() >= 0 and np.isfinite(X.data.max())):
            return
        e = int(np.argmax(~(np.isfinite(X.data) & (X.data >= 0))))
        i, j = int(np.searchsorted(X.indptr, e, side="right")) - 1, int(X.indices[e])
        check_finite(np.asarray([[X.data[e]]], dtype=np.float64), [columns[j]], i, missing=False)
        raise self._refuse(columns, j, float(X.data[e]), i)

    def surely_valid(self, X: Matrix) -> bool:
        """Finite and not negative."""
        x = X.data if is_sparse(X) else X
        return not x.size or (x.min() >= 0 and bool(np.isfinite(x.max())))

    def running(self, stats: Stats) -> Running | None:
        """Counts of the same words."""
        table = label_table(stats.axes[CLASS])
        return None if table is None else RunningCounts(stats, *table)

    def collect(self, X: Matrix, rows: Rows, columns: Sequence[str]) -> Stats:
        """Occurrences of every word in every class, and the documents of the class."""
        if is_sparse(X):
            X = csr(X)
            count, good = sparse_class_sums(X, rows)
            if not good:
                self.check_sparse(X, columns)
        else:
            count = dense_class_sums(X, rows, lambda x, start: self.check(x, columns, start))
        return Stats(
            WORDS,
            {CLASS: rows.classes, FEATURE: Index.range(X.shape[1])},
            {"count": count, "n": rows.counts()},
        )

    def check_forgotten(self, before: Stats, after: Stats, columns: Sequence[str]) -> None:
        """No word can occur less than never."""
        bad = after["count"] < -1e-9 * np.maximum(before["count"], 1.0)
        if bad.any():
            raise never_learned(after, bad, columns)

    def scorer(self, stats: Stats, columns: Sequence[str]) -> MultinomialScorer:
        """log φ of every class, or the weights of the complement."""
        count = np.maximum(stats["count"], 0.0)
        alpha = np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), count.shape[-1:])
        log_phi, unseen = log_shares(count, alpha)
        weights, never = log_phi, unseen
        if self.complement:
            weights, never = log_shares(count.sum(axis=0) - count, alpha)
            weights, never = _normed(weights, never) if self.norm else (-weights, -never)
        n = np.maximum(stats["n"], 0.0)
        length = np.divide(count.sum(axis=1), n, out=np.ones_like(n), where=n > 0)
        return MultinomialScorer(self, (weights, never), (log_phi, unseen), length, columns)


class MultinomialScorer(Scorer):
    """Scores linear in the counts."""

    def __init__(
        self,
        family: Multinomial,
        rule: tuple[Array, Array],
        density: tuple[Array, Array],
        length: Array,
        columns: Sequence[str],
    ) -> None:
        self.family, self.density, self.length, self.columns = family, density, length, columns
        self.weights, self.never = rule  # (K, words) each; never marks weights that are log 0
        self.by_word = words_first(self.weights)
        self.some_never = bool(self.never.any())
        self.n_classes = self.weights.shape[0]
        self.n_parameters = self.n_classes * (self.weights.shape[1] - 1)

    def as_density(self) -> MultinomialScorer:
        """The multinomial density of the same counts, where the rule is the complement's."""
        return MultinomialScorer(self.family, self.density, self.density, self.length, self.columns)

    def check(self, X: Matrix) -> None:
        """Refuse negative, missing and infinite counts."""
        if is_sparse(X):
            return  # looked at while it is scored
        from ..kernels.threads import row_blocks

        for start, stop in row_blocks(*X.shape):
            self.family.check(block(X, start, stop), self.columns, start)

    def score_rows(self, X: Matrix, start: int, stop: int, out: Array) -> None:
        """Σ_w x_w·weight_w|c."""
        if not linear_scores(X, start, stop, self.weights, self.by_word, out):
            self.family.check_sparse(X, self.columns)

    def row_kernel(self, log_prior: Array) -> tuple[Any, tuple[Array, ...]]:
        """Linear in the counts."""
        from ..kernels.rows import linear_row

        nothing, none = freeze(np.zeros(self.weights.shape[1])), freeze(np.zeros(len(self.weights)))
        parameters = (nothing, freeze(self.weights), none, freeze(log_prior))
        return (None, ()) if self.some_never else (linear_row, parameters)

    def surely_valid(self, X: NDArray[Any]) -> bool:
        """Finite and not negative."""
        return self.family.surely_valid(X)

    def impossible(self, X: Matrix) -> Array | None:
        """Occurrences of words a class has never seen, where α is 0."""
        if not self.some_never:
            return None
        X = csr(X) if is_sparse(X) else X
        out = np.empty((X.shape[0], self.n_classes))
        linear_scores(X, 0, len(out), self.never, words_first(self.never), out)
        return out

    def sample(self, codes: Codes, rng: np.random.Generator) -> NDArray[Any]:
        """Word counts; lengths are Poisson with the class's mean length (the length is no part of the model)."""
        log_phi, unseen = self.density
        phi = np.where(unseen > 0, 0.0, np.exp(log_phi))
        phi /= phi.sum(axis=1, keepdims=True)
        length = rng.poisson(self.length[codes])
        return np.stack([rng.multinomial(m, phi[c]) for m, c in zip(length, codes, strict=True)]).astype(np.float64)

    def logistic_form(self) -> LogisticForm:
        """Weights on the counts."""
        nothing = np.zeros(len(self.weights))
        impossible = Impossible(self.never, nothing) if self.never.any() else None
        return LogisticForm(tuple(self.columns), self.weights, nothing, _counts, impossible=impossible)


def _counts(X: NDArray[Any]) -> Array:
    return np.asarray(X, dtype=np.float64)


def _normed(weights: Array, never: Array) -> tuple[Array, Array]:
    """Weights over their sum; as α → 0 the words that no other class has share it all."""
    alone = never.sum(axis=1, keepdims=True)
    share = np.where(alone > 0, never / np.maximum(alone, 1.0), weights / weights.sum(axis=1, keepdims=True))
    return share, np.zeros_like(never)
