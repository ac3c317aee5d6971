"""Tokens counted: for each class, into the rows of a matrix, or straight into scores."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..data.arrays import Array, Codes, Csr, freeze
from ..data.labels import Index
from ..data.rows import Rows
from ..data.vocabulary import Vocabulary
from ..kernels.runtime.threads import cores, in_order
from .documents import Places, Texts
from .tokens import Numbers, Scanner, Spare, Tokens

LANE = 1 << 22  # bytes of texts that are worth a vocabulary of their own, to be counted on another thread
LANES = 2  # of texts whose weights are no integers: sums then depend on their order, and must not on threads


class Lane:
    """Counts of the texts of some rows, and the words in the order in which they came."""

    def __init__(self, tokens: Tokens, n_classes: int, once: bool) -> None:
        self.scanner, self.numbers, self.once = Scanner(tokens), Numbers(), once
        self.counts, self.last = np.zeros((tokens.width or 0, n_classes)), np.zeros(0, np.int32)

    def add(self, ids: Codes, ends: Places, texts: Texts, rows: Rows, start: int) -> None:
        """Count these tokens, of the rows from ``start`` on."""
        from ..kernels.tokens import add_counts, once_each

        stop = start + len(ends)
        codes, weights = rows.part(start, stop)
        if texts.missing[start:stop].any():
            weights = freeze(np.where(texts.missing[start:stop], 0.0, weights))
        self._make_room(len(self.numbers))
        if self.once:
            once_each(ids, ends, start + 1, self.last)
        add_counts(ids, ends, codes, weights, self.counts)

    def _make_room(self, words: int) -> None:
        if words > len(self.counts):
            self.counts.resize((max(2 * words, 1024), self.counts.shape[1]), refcheck=False)
        if self.once and len(self.last) < len(self.counts):
            self.last.resize(len(self.counts), refcheck=False)

    def absorb(self, other: Lane) -> None:
        """Add the counts of another."""
        ids = self.numbers.absorb(other.numbers)
        self._make_room(len(self.numbers))
        self.counts[ids] += other.counts[: len(ids)]


def class_counts(texts: Texts, tokens: Tokens, rows: Rows, once: bool) -> tuple[Index, Array]:
    """Σ w of every token and class, or with ``once`` of every text that has it; and the labels of the tokens.

    Never a matrix of texts and words.
    """
    if tokens.width is not None:
        return Index.range(tokens.width), freeze(_hashed_counts(texts, tokens, rows, once)).T
    lane = _counted(texts, tokens, rows, once)
    words, order = lane.numbers.ordered()
    return Index(words), freeze(np.take(lane.counts, order, axis=0)).T


def _hashed_counts(texts: Texts, tokens: Tokens, rows: Rows, once: bool) -> Array:
    """Threads find tokens; one counts them, in the order of the rows.  # → (width, K)"""
    lane, spare = Lane(tokens, len(rows.classes), once), Spare(tokens)

    def work(start: int, stop: int) -> tuple[Codes, Places, int]:
        with spare.scanner() as scanner:
            ids, ends = scanner.ids(None, False, texts, start, stop)
            return ids[: ends[-1]].copy(), ends, start

    for ids, ends, start in in_order(work, texts.parts(0, len(texts))):
        lane.add(ids, ends, texts, rows, start)
    return lane.counts


def _counted(texts: Texts, tokens: Tokens, rows: Rows, once: bool) -> Lane:
    """Each thread counts the words of some rows on its own, and then these are put together.

    Those of weights that are no integers in the same parts, whatever the number of threads.
    """
    exact = rows.weights is None or bool((rows.weights == np.round(rows.weights)).all())
    size = max(LANE, -(-texts.size // (cores() if exact else LANES)))

    def work(start: int, stop: int) -> Lane:
        lane = Lane(tokens, len(rows.classes), once)
        for a, b in texts.parts(start, stop):
            lane.add(*lane.scanner.ids(lane.numbers, True, texts, a, b), texts, rows, a)
        return lane

    first, *others = [*in_order(work, texts.parts(0, len(texts), size))] or [Lane(tokens, len(rows.classes), once)]
    for lane in others:
        first.absorb(lane)
    return first


def add_token_scores(
    texts: Texts, spare: Spare, numbers: Numbers | None, weights: Array, once: bool, start: int, stop: int, out: Array
) -> None:
    """out += Σ of the weights of the tokens of each text; of those that have none, nothing.  # out: (n, K)"""
    from ..kernels.tokens import add_scores, once_each

    last = np.zeros(len(weights) * once, np.int32)
    with spare.scanner() as scanner:
        for a, b in texts.parts(start, stop):
            ids, ends = scanner.ids(numbers, False, texts, a, b)
            if once:
                once_each(ids, ends, a - start + 1, last)
            add_scores(ids, ends, weights, out[a - start : b - start])


def count_matrix(texts: Texts, tokens: Tokens, labels: Index) -> Csr:
    """How often each text has each of these tokens, in the order of their places.  # → (n, words)"""
    numbers = Numbers.of(labels.labels) if isinstance(labels.labels, Vocabulary) else None

    def work(start: int, stop: int) -> list[Csr]:
        scanner, place = Scanner(tokens), np.full(len(labels), -1, np.int64)
        blocks = texts.parts(start, stop)
        return [_counted_rows(*scanner.ids(numbers, False, texts, a, b), place) for a, b in blocks]

    lanes = texts.parts(0, len(texts), max(LANE, -(-texts.size // cores())))
    parts = [part for lane in in_order(work, lanes) for part in lane]
    if not parts:
        return sparse.csr_array((0, len(labels)))
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, format="csr"))


def _counted_rows(ids: Codes, ends: Places, place: Places) -> Csr:
    """Tokens one after the other as rows of counts; ``place`` has a cell for each token, −1 before and after."""
    from ..kernels.tokens import count_rows

    most = int(ends[-1]) if len(ends) else 0
    indices, counts, indptr = np.empty(most, np.int32), np.empty(most), np.zeros(len(ends) + 1, np.int64)
    n = count_rows(ids, ends, place, indices, counts, indptr)
    part = sparse.csr_array((counts[:n], indices[:n], indptr), shape=(len(ends), len(place)))
    part.sort_indices()
    return part
