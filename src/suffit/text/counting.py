"""Tokens counted: for each class, into the rows of a matrix, or straight into scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..data.arrays import Array, freeze
from ..data.labels import Index
from ..data.matrices import Csr
from ..data.rows import Rows
from ..data.vocabulary import Vocabulary
from ..kernels.runtime.threads import in_order
from .documents import Texts
from .tokens import Numbers, Scanner, Tokens

LANE = 1 << 22  # bytes of texts that are worth a vocabulary of their own, to be counted on another thread
MOST_LANES = 4
WIDE = 1 << 24  # counts of hashes and classes of which there is one set
_EACH = np.zeros(0, np.int32)  # every token of a text counts


class Lane:
    """Counts of the texts of some rows, and the words in the order in which they came."""

    def __init__(self, tokens: Tokens, n_classes: int, once: bool) -> None:
        self.tokens, self.once = tokens, once
        self.scanner, self.numbers = Scanner(tokens), Numbers()
        self.last = np.zeros(0, np.int32)
        self.counts = np.zeros((n_classes, tokens.width or 0))

    def add(self, texts: Texts, rows: Rows, start: int, stop: int) -> None:
        """Count the tokens of these rows."""
        from ..kernels.tokens import add_counts

        codes, weights = rows.part(start, stop)
        if texts.missing[start:stop].any():
            weights = freeze(np.where(texts.missing[start:stop], 0.0, weights))
        ids, ends = self.scanner.ids(self.numbers, True, texts, start, stop)
        self._make_room(len(self.numbers))
        last = self._seen_last() if self.once else _EACH
        add_counts(ids, ends, codes, weights, start + 1, last, self.counts)

    def _make_room(self, words: int) -> None:
        if words > self.counts.shape[1]:
            counts = np.zeros((len(self.counts), max(2 * words, 1024)))
            counts[:, : self.counts.shape[1]] = self.counts
            self.counts = counts

    def _seen_last(self) -> NDArray[np.int32]:
        if len(self.last) < self.counts.shape[1]:
            last = np.zeros(self.counts.shape[1], np.int32)
            last[: len(self.last)] = self.last
            self.last = last
        return self.last

    def absorb(self, other: Lane) -> None:
        """Add the counts of another."""
        if self.tokens.width is not None:
            self.counts += other.counts
            return
        ids = self.numbers.absorb(other.numbers)
        self._make_room(len(self.numbers))
        self.counts[:, ids] += other.counts[:, : len(ids)]

    def labelled(self) -> tuple[Index, Array]:
        """The labels of the words, and their counts in that order.  # → (K, words)"""
        if self.tokens.width is not None:
            return Index.range(self.tokens.width), self.counts
        words, order = self.numbers.ordered()
        return Index(words), self.counts[:, order]


def class_counts(texts: Texts, tokens: Tokens, rows: Rows, once: bool) -> tuple[Index, Array]:
    """Σ w of every token and class, or with ``once`` of every text that has it; and the labels of the tokens.

    Never a matrix of texts and words.  Rows are divided by the size of the texts alone, so that results are the same
    for any number of threads.
    """
    K = len(rows.classes)
    size = LANE if (tokens.width or 0) * K <= WIDE else int(texts.sizes().sum()) + 1
    size = max(size, -(-int(texts.sizes().sum()) // MOST_LANES))

    def work(start: int, stop: int) -> Lane:
        lane = Lane(tokens, K, once)
        for a, b in texts.parts(start, stop):
            lane.add(texts, rows, a, b)
        return lane

    lanes = list(in_order(work, texts.parts(0, len(texts), size)))
    whole = lanes[0] if lanes else Lane(tokens, K, once)
    for lane in lanes[1:]:
        whole.absorb(lane)
    return whole.labelled()


def add_token_scores(
    texts: Texts, tokens: Tokens, numbers: Numbers | None, weights: Array, once: bool, start: int, stop: int, out: Array
) -> None:
    """out += Σ of the weights of the tokens of each text; of those that have none, nothing.  # out: (n, K)"""
    from ..kernels.tokens import add_scores

    scanner = Scanner(tokens)
    last = np.zeros(len(weights), np.int32) if once else _EACH
    for a, b in texts.parts(start, stop):
        ids, ends = scanner.ids(numbers, False, texts, a, b)
        add_scores(ids, ends, weights, a - start + 1, last, out[a - start : b - start])


def count_matrix(texts: Texts, tokens: Tokens, labels: Index) -> Csr:
    """How often each text has each of these tokens, in the order of their places.  # → (n, words)"""
    from ..kernels.tokens import count_rows

    width = len(labels)
    numbers = Numbers.of(labels.labels) if isinstance(labels.labels, Vocabulary) else None
    scanner, place = Scanner(tokens), np.full(width, -1, np.int64)
    parts: list[Csr] = []
    for a, b in texts.parts(0, len(texts)):
        ids, ends = scanner.ids(numbers, False, texts, a, b)
        most = int(ends[-1]) if len(ends) else 0
        indices, counts, indptr = np.empty(most, np.int32), np.empty(most), np.zeros(b - a + 1, np.int64)
        n = count_rows(ids, ends, place, indices, counts, indptr)
        part = sparse.csr_array((counts[:n], indices[:n], indptr), shape=(b - a, width))
        part.sort_indices()
        parts.append(part)
    if not parts:
        return sparse.csr_array((0, width))
    return parts[0] if len(parts) == 1 else sparse.csr_array(sparse.vstack(parts, format="csr"))
