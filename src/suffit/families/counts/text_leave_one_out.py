"""Texts under the sums without them, in closed form.

Without a text the words that no other has are unknown: they count neither in the text nor in the vocabulary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core.family import EMPTIED
from ...core.leave_one_out import LooScores
from ...core.stats import ROUNDING, Stats
from ...data.arrays import Array, Codes, Csr
from ...data.rows import Rows
from ..elementwise.shape import without

if TYPE_CHECKING:
    from .text import Text


Flags = NDArray[np.bool_]


class Entries(NamedTuple):
    """The words of texts one by one: which text, which word, how often, and the weight of the text."""

    row: NDArray[np.int64]
    word: Codes
    x: Array
    w: Array
    n: int  # texts

    def some(self, which: NDArray[np.bool_]) -> Entries:
        """Only these."""
        return Entries(self.row[which], self.word[which], self.x[which], self.w[which], self.n)

    def total(self, values: Array) -> Array:
        """Σ over the words of each text.  # → (n,)"""
        return np.bincount(self.row, values, minlength=self.n).astype(np.float64)

    def product(self, values: Array, table: Array) -> Array:
        """Σ over the words of each text of values · table[word].  # (entries,), (words, K) → (n, K)"""
        matrix = sparse.csr_array((values, (self.row, self.word)), shape=(self.n, len(table)))
        return np.asarray(matrix @ table)


def left_out(family: Text, counts: Csr, missing: NDArray[np.bool_], rows: Rows, stats: Stats) -> LooScores:
    """Every text under the sums without it; ``counts`` how often it has each word."""
    codes, weights = rows.part(0, len(rows))
    row = np.repeat(np.arange(len(rows)), np.diff(counts.indptr))
    x = np.ones(len(row)) if family.once else counts.data.astype(np.float64)
    every = Entries(row, counts.indices, x, weights[row], len(rows))
    used = family.used(stats)
    every = every.some(used[every.word])
    total = np.maximum(stats["count"], 0.0).sum(axis=0)
    left = without(total[every.word], every.w * every.x, ROUNDING)
    gone = left <= 0 if family.min_count <= 1 else left < family.min_count * (1 - EMPTIED)
    if family.hashing is not None and family.min_count <= 1:
        gone = np.zeros(len(left), bool)
    how = _bernoulli if family.once else _multinomial
    score, never = how(family, every, gone, used, codes, weights, stats)
    score[missing], never[missing] = 0.0, 0.0
    return LooScores(score, never if never.any() else None)


def _multinomial(
    family: Text, every: Entries, gone: NDArray[np.bool_], used: NDArray[np.bool_], codes: Codes, weights: Array,
    stats: Stats,
) -> tuple[Array, Array]:  # fmt: skip
    """Σ_w x_w log (count − x_w + α)/Σ(count − x + α), for the classes whose counts the text is part of."""
    alpha, K = cast("float", family.alpha), len(stats["n"])
    count = np.maximum(stats["count"], 0.0) * used
    count = (count.sum(axis=0) - count if family.complement else count).T  # (words, K)
    kept, lost = every.some(~gone), every.some(gone)
    smoothed = count + alpha
    logs = np.log(np.where(smoothed > 0, smoothed, 1.0))
    score, never = kept.product(kept.x, logs), kept.product(kept.x, (smoothed <= 0).astype(np.float64))
    mass = np.repeat(count.sum(axis=0)[None], every.n, axis=0) - lost.product(np.ones(len(lost.x)), count)
    words = used.sum() - lost.total(np.ones(len(lost.x)))
    length, own_length, lost_length = kept.total(kept.x), weights * every.total(every.x), lost.total(lost.w * lost.x)
    for c in range(K):
        own = (codes == c) != family.complement
        entry = own[kept.row]
        here = kept.some(entry)
        left = without(count[here.word, c], here.w * here.x, ROUNDING) + alpha
        own_logs, none = np.log(np.where(left > 0, left, 1.0)), left <= 0
        score[own, c], never[own, c] = here.total(here.x * own_logs)[own], here.total(here.x * none)[own]
        taken = own_length[own] - lost_length[own]  # what is lost has gone with its words
        mass[own, c] = without(mass[own, c], taken, ROUNDING)
    mass = np.maximum(mass, 0.0) + alpha * words[:, None]
    uniform = mass <= 0  # nothing left and no smoothing
    score, never = np.where(uniform, 0.0, score), np.where(uniform, 0.0, never)
    mass = np.where(uniform, np.maximum(words, 1.0)[:, None], mass)
    score -= length[:, None] * np.log(mass)
    return (-score, -never) if family.complement else (score, never)


def _bernoulli(
    family: Text, every: Entries, gone: NDArray[np.bool_], used: NDArray[np.bool_], codes: Codes, weights: Array,
    stats: Stats,
) -> tuple[Array, Array]:  # fmt: skip
    """log φ of the words that are there, log (1 − φ) of those that are not, φ of the class without the text."""
    alpha, n = cast("float", family.alpha), np.maximum(stats["n"], 0.0)
    count = np.maximum(stats["count"], 0.0).T  # (words, K)
    kept = every.some(~gone)
    score, never = np.zeros((every.n, len(n))), np.zeros((every.n, len(n)))

    def presence(left: float, c: int, of: Entries, mine: Array) -> tuple[Array, Flags, Array, Flags]:
        """Texts with c's words that ``left`` texts have; ``mine`` is what each text has itself."""
        a = alpha if left > 0 or alpha > 0 else 1.0
        yes = without(count[of.word, c], mine) + a
        absent = np.where(used, np.maximum(left - count[:, c], 0.0) + a, 1.0)
        log_total = np.log(left + 2 * a)
        log_no = np.where(used, np.log(np.where(absent > 0, absent, 1.0)) - log_total, 0.0)
        return np.log(np.where(yes > 0, yes, 1.0)) - log_total, yes <= 0, log_no, (absent <= 0) & used

    for c in range(len(n)):
        own = codes == c
        for w in np.unique([0.0, *weights[own]]).tolist():
            here = own & (weights == w) if w else ~own | (weights == 0)
            if not here.any():
                continue
            present, kept_here = every.some(here[every.row]), kept.some(here[kept.row])
            mine = np.full(len(kept_here.x), w)
            left = float(without(np.array(n[c]), np.array(w)))
            log_yes, none, log_no, always = presence(left, c, kept_here, mine)
            score[here, c] = (log_no.sum() - present.total(log_no[present.word]) + kept_here.total(log_yes))[here]
            events = (
                always.sum()
                - present.total(always[present.word].astype(np.float64))
                + kept_here.total(none.astype(np.float64))
            )
            never[here, c] = events[here]
    return score, never
