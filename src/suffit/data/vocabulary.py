"""Words as the labels of an axis: distinct, in the order of their code points, as one array of UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from .arrays import freeze

Places = NDArray[np.int64]
_NOTHING_MISSING = freeze(np.zeros(0, np.uint8))
SURROGATES = "surrogatepass"  # Python's texts may hold half a character, and so may their n-grams


class Vocabulary(Sequence[str]):
    """Distinct words in the order of their code points, which is that of their UTF-8 bytes.

    Parameters
    ----------
    data : ndarray of uint8
        The words, one after the other.
    places : ndarray of int64
        Where each begins, and where the last ends.

    Examples
    --------
    >>> words = Vocabulary.of(["spam", "ham", "spam"])
    >>> list(words), words.find(Vocabulary.of(["eggs", "spam"])).tolist()
    (['ham', 'spam'], [-1, 1])
    """

    __slots__ = ("data", "places")

    def __init__(self, data: NDArray[np.uint8], places: Places) -> None:
        self.data, self.places = freeze(data), freeze(places)

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """These words, each once."""
        coded = sorted({word.encode("utf-8", SURROGATES) for word in words})
        places = np.cumsum([0, *map(len, coded)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(coded), np.uint8), places)

    def __len__(self) -> int:
        return len(self.places) - 1

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[str]: ...
    def __getitem__(self, i: int | slice) -> str | Sequence[str]:
        if isinstance(i, slice):
            return tuple(self[j] for j in range(len(self))[i])
        j = range(len(self))[i]
        return self.data[self.places[j] : self.places[j + 1]].tobytes().decode("utf-8", SURROGATES)

    def __iter__(self) -> Iterator[str]:
        data, ends = self.data.tobytes(), self.places.tolist()
        return (data[a:b].decode("utf-8", SURROGATES) for a, b in pairwise(ends))

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.find(Vocabulary.of([word]))[0] >= 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return self is other or (np.array_equal(self.places, other.places) and np.array_equal(self.data, other.data))

    def __hash__(self) -> int:
        return hash((len(self), self.data[:64].tobytes()))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:6])) + (", …" if len(self) > 6 else "")
        return f"Vocabulary({len(self)}: {shown})"

    def __reduce__(self) -> tuple[object, ...]:
        return Vocabulary, (np.array(self.data), np.array(self.places))

    def take(self, which: Places) -> Vocabulary:
        """The words at these places, which are in order."""
        return Vocabulary(*gathered(self.data, self.places, which))

    def find(self, other: Vocabulary) -> Places:
        """Where each word of ``other`` stands here; −1 where it does not."""
        from ..kernels.words import code_words

        data, starts = joined(self, other)
        codes, firsts = np.empty(len(self) + len(other), np.int32), np.empty(len(self) + len(other), np.int64)
        code_words(freeze(data), freeze(starts), _NOTHING_MISSING, 0, codes, firsts)
        found = codes[len(self) :].astype(np.int64)
        return np.where(found < len(self), found, -1)

    def union(self, other: Vocabulary) -> Vocabulary:
        """All words of both; ``self`` itself where ``other`` adds none."""
        new = np.flatnonzero(self.find(other) < 0)
        if not len(new):
            return self
        data, places = joined(self, other.take(new))
        return Vocabulary(*gathered(data, places, word_order(data, places)))


def joined(a: Vocabulary, b: Vocabulary) -> tuple[NDArray[np.uint8], Places]:
    """The words of both, one after the other."""
    return np.concatenate([a.data, b.data]), np.concatenate([a.places, b.places[1:] + a.places[-1]])


def gathered(data: NDArray[np.uint8], places: Places, which: Places) -> tuple[NDArray[np.uint8], Places]:
    """Some of the pieces data[places[k] : places[k + 1]], in this order."""
    lengths = places[which + 1] - places[which]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    at = np.arange(ends[-1]) + np.repeat(places[which] - ends[:-1], lengths)
    return data[at], ends


def word_order(data: NDArray[np.uint8], places: Places) -> Places:
    """The order of words by their bytes: by the first eight, and those that are equal by the next eight."""
    begins, lengths = places[:-1], np.diff(places)
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    order = np.arange(len(begins))
    tied, group, depth = order.copy(), np.zeros(len(order), np.int64), 0
    while len(tied) and depth < int(lengths[order[tied]].max()):
        words = order[tied]
        key = _eight(padded, begins[words] + depth, lengths[words] - depth)
        by = np.argsort(key, kind="stable") if depth == 0 else np.lexsort((key, group))
        order[tied], key, group = words[by], key[by], group[by]
        tied, group = _still_tied(tied, (key[1:] == key[:-1]) & (group[1:] == group[:-1]))
        depth += 8
    order[tied] = order[tied][np.lexsort((lengths[order[tied]], group))]  # they differ by NULs at their end
    return order


def _eight(padded: NDArray[np.uint8], begins: Places, lengths: Places) -> NDArray[np.uint64]:
    """Eight bytes from each place on, 0 beyond the end of the word, as numbers in the order of the bytes."""
    begins = np.minimum(begins, len(padded) - 8)
    window = np.lib.stride_tricks.sliding_window_view(padded, 8)[begins]
    window = np.where(np.arange(8) < lengths[:, None], window, 0).astype(np.uint8)
    return window.view(">u8").reshape(-1).astype(np.uint64)


def _still_tied(tied: Places, same: NDArray[np.bool_]) -> tuple[Places, Places]:
    """The places that are equal to a neighbour, and to which run of equal ones each belongs."""
    left, right = np.concatenate([[False], same]), np.concatenate([same, [False]])
    run = np.cumsum(~left)
    some = left | right
    return tied[some], run[some]
