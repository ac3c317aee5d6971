"""Texts to tokens, and tokens to numbers: those of a vocabulary, or of a hash."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Codes, freeze
from ..data.vocabulary import Vocabulary, gathered, word_order
from .documents import PADDING, Bytes, Places, Texts, encoded, padded_words, squeezed

WORD, CHAR, CHAR_WB = "word", "char", "char_wb"
ANALYZERS = (WORD, CHAR, CHAR_WB)
MOST_FEATURES = 2**26
_ASCII = freeze(np.zeros(1, np.uint8))  # no letters beyond ASCII are asked for
CODE_POINTS = 1 << 21  # that four bytes can hold
SPARE = 8  # bytes behind the words of a vocabulary, so that eight can be read at once


@dataclass(frozen=True)
class Tokens:
    """How a text is cut into tokens: words of two characters or more, or n-grams of words or characters.

    ``width``: how many numbers there are for the hashes of tokens; None for a vocabulary.
    """

    analyzer: str = WORD
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    stop_words: tuple[str, ...] = ()
    width: int | None = None

    def prepared(self, text: str) -> str:
        """The text as its n-grams are taken from it."""
        text = text.lower() if self.lowercase else text
        return text if self.analyzer == WORD else squeezed(text) if self.analyzer == CHAR else padded_words(text)

    @cached_property
    def stops(self) -> Vocabulary:
        """The stop words; of words alone."""
        return Vocabulary.of(self.stop_words if self.analyzer == WORD else ())

    @property
    def grams_of_a_token(self) -> int:
        """How many n-grams begin at most at each token."""
        return self.ngram_range[1] - self.ngram_range[0] + 1


@lru_cache(maxsize=1)
def letters() -> Bytes:
    """A bit for each code point that is part of words, as Python's ``re`` has it."""
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    bits = np.zeros(CODE_POINTS, np.uint8)
    for run in re.finditer(r"\w+", every):
        bits[run.start() : run.end()] = 1
    return freeze(np.packbits(bits, bitorder="little"))


class Scanner:
    """Finds the tokens of blocks of texts, in room that is used again: one for each thread."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self._rooms: dict[str, NDArray[np.generic]] = {}
        self._stops = Numbers.of(tokens.stops) if len(tokens.stops) else None

    def room(self, name: str, size: int, dtype: type) -> Any:
        """An array of at least this size, whatever it holds."""
        found = self._rooms.get(name)
        if found is None or len(found) < size:
            found = self._rooms[name] = np.empty(size + size // 4 + 64, dtype)
        return found

    def spans(self, texts: Texts, start: int, stop: int) -> tuple[Bytes, Codes, Codes, Places, int]:
        """Where the tokens of some rows begin and stop in the bytes of these; how many up to each row, and in all."""
        from ..kernels.tokens import character_spans, grams, padded_grams

        tokens = self.tokens
        data, starts = self._bytes(texts, start, stop)
        size, ends = int(starts[-1]), np.empty(stop - start, np.int64)
        if tokens.analyzer == WORD:
            data, begins, stops, n = self._words(data, starts, ends)
        else:
            begins, stops = (self.room(name, size, np.int32) for name in ("begins", "stops"))
            n = character_spans(data, starts, begins, stops, ends)
        least, most = tokens.ngram_range
        if most == 1 and tokens.analyzer != CHAR_WB:
            return data, begins, stops, ends, n
        most_grams = (2 * n if tokens.analyzer == CHAR_WB else n) * tokens.grams_of_a_token
        first, last = (self.room(name, most_grams, np.int32) for name in ("gram begins", "gram stops"))
        gram_ends = np.empty(stop - start, np.int64)
        if tokens.analyzer == CHAR_WB:
            n = padded_grams(data, least, most, begins, stops, ends, first, last, gram_ends)
        else:
            n = grams(least, most, begins, stops, ends, first, last, gram_ends)
        return data, first, last, gram_ends, n

    def _bytes(self, texts: Texts, start: int, stop: int) -> tuple[Bytes, Places]:
        """The texts as bytes, capital letters made small ones where that is asked for."""
        from ..kernels.tokens import lower_bytes

        if self.tokens.analyzer != WORD:
            return encoded([self.tokens.prepared(text) for text in texts.strings(start, stop)])
        data, starts = texts.read(start, stop, self.tokens.prepared)
        if not self.tokens.lowercase:
            return data, starts
        room = self.room("lower", len(data), np.uint8)
        lower_bytes(data, room)
        return freeze(room), starts

    def _words(self, data: Bytes, starts: Places, ends: Places) -> tuple[Bytes, Codes, Codes, int]:
        """The words of texts but for stop words; one space apart where n-grams are made of them."""
        from ..kernels.tokens import join_words, without_words, word_spans

        size = int(starts[-1])
        begins, stops = (self.room(name, size // 2 + 1, np.int32) for name in ("begins", "stops"))
        ascii_only = not size or data[:size].max() < 0x80
        bits = self.room("bits", (size >> 6) + 1, np.uint64)
        n = word_spans(data, starts, _ASCII if ascii_only else letters(), bits, begins, stops, ends)
        if self._stops is not None:
            ids = self.room("stop words", n, np.int32)
            self._stops.find(data, begins, stops, self.hashes(data, begins, stops, n), n, ids)
            n = without_words(ids, begins, stops, ends)
        if self.tokens.ngram_range[1] > 1:
            line = self.room("line", 2 * size + len(PADDING), np.uint8)
            join_words(data, begins, stops, ends, line)
            data = freeze(line)
        return data, begins, stops, n

    def hashes(self, data: Bytes, begins: Codes, stops: Codes, n: int) -> NDArray[np.uint64]:
        """A number of 64 bits for each span."""
        from ..kernels.tokens import hash_spans

        out = self.room("hashes", n, np.uint64)
        hash_spans(data, begins, stops, n, out)
        return out

    def ids(self, numbers: Numbers | None, grows: bool, texts: Texts, start: int, stop: int) -> tuple[Codes, Places]:
        """The numbers of the tokens of some rows, −1 for those that have none, and how many up to each row."""
        from ..kernels.tokens import hashed_ids

        data, begins, stops, ends, n = self.spans(texts, start, stop)
        hashes, ids = self.hashes(data, begins, stops, n), self.room("ids", n, np.int32)
        if self.tokens.width is not None:
            hashed_ids(hashes, n, self.tokens.width, ids)
        else:
            assert numbers is not None
            (numbers.enter if grows else numbers.find)(data, begins, stops, hashes, n, ids)
        return ids, ends


class Spare:
    """Scanners that are used again, by one thread at a time each."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self._idle: list[Scanner] = []

    @contextmanager
    def scanner(self) -> Iterator[Scanner]:
        """One that nobody else has."""
        try:
            found = self._idle.pop()
        except IndexError:
            found = Scanner(self.tokens)
        yield found
        self._idle.append(found)


class Numbers:
    """Words to numbers in the order in which they come: a table of their bytes."""

    def __init__(self, words: int = 0, size: int = 0) -> None:
        bits = max(10, int(2 * words).bit_length())
        self._table(bits)
        self.places = np.zeros((1 << bits - 1) + 1, np.int64)
        self.arena = np.zeros(max(size, 8 << bits - 1) + SPARE, np.uint8)
        self.state = np.zeros(1, np.int64)

    def _table(self, bits: int) -> None:
        self.shift, self.table = 64 - bits, np.zeros(2 << bits, np.uint64)

    @classmethod
    def of(cls, words: Vocabulary) -> Numbers:
        """The numbers of these words: their places."""
        numbers = cls(len(words), len(words.data))
        numbers.arena[: len(words.data)] = words.data
        numbers.places[: len(words) + 1] = words.places
        numbers.state[0] = len(words)
        numbers._fill()
        return numbers

    def __len__(self) -> int:
        return int(self.state[0])

    def _fill(self) -> None:
        from ..kernels.tokens import enter_words, hash_spans

        n = len(self)
        hashes, data = np.empty(n, np.uint64), freeze(self.arena)
        hash_spans(data, *self._spans(), n, hashes)
        enter_words(data, self.places, n, hashes, self.shift, self.table)

    def _spans(self) -> tuple[Codes, Codes]:
        """Where the words begin and stop, in order."""
        n = len(self)
        return self.places[:n].astype(np.int32), self.places[1 : n + 1].astype(np.int32)

    def find(
        self, data: Bytes, begins: Codes, stops: Codes, hashes: NDArray[np.uint64], n: int, ids: Codes,
        grows: bool = False, first: int = 0,
    ) -> int:  # fmt: skip
        """The numbers of words, −1 where they have none; with ``grows`` the next, up to the word that is returned."""
        from ..kernels.tokens import find_words

        found = (self.shift, self.table, self.arena, self.places)
        return find_words(data, begins, stops, hashes, first, n, *found, grows, ids, self.state)

    def enter(self, data: Bytes, begins: Codes, stops: Codes, hashes: NDArray[np.uint64], n: int, ids: Codes) -> None:
        """The numbers of words; those that are not here get the next."""
        done = self.find(data, begins, stops, hashes, n, ids, True)
        while done < n:
            self._enlarge(int(stops[done] - begins[done]))
            done = self.find(data, begins, stops, hashes, n, ids, True, done)

    def _enlarge(self, length: int) -> None:
        """Room for twice as many words, and for one of this length."""
        if len(self) + 1 >= len(self.places):
            places = np.zeros(2 * len(self.places) - 1, np.int64)
            places[: len(self.places)] = self.places
            self.places = places
            self._table(65 - self.shift)
            self._fill()
        used = int(self.places[len(self)])
        if used + length + SPARE > len(self.arena):
            arena = np.zeros(2 * len(self.arena) + length, np.uint8)
            arena[:used] = self.arena[:used]
            self.arena = arena

    def absorb(self, other: Numbers) -> Codes:
        """Take the words of another in; the numbers that they have here."""
        from ..kernels.tokens import hash_spans

        n = len(other)
        begins, stops = other._spans()
        hashes, ids, data = np.empty(n, np.uint64), np.empty(n, np.int32), freeze(other.arena)
        hash_spans(data, begins, stops, n, hashes)
        self.enter(data, begins, stops, hashes, n, ids)
        return ids

    def ordered(self) -> tuple[Vocabulary, Places]:
        """The words in their order, and the number of each."""
        places = self.places[: len(self) + 1]
        data = self.arena[: places[-1]]
        order = word_order(data, places)
        return Vocabulary(*gathered(data, places, order)), order


def stop_words_of(setting: str | Sequence[str] | None) -> tuple[str, ...]:
    """Stop words as they are set: none, these, or "english"."""
    if setting is None:
        return ()
    if isinstance(setting, str):
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        if setting != "english":
            raise ValueError(f"stop_words={setting!r}: must be None, 'english' or a list of words")
        return tuple(sorted(ENGLISH_STOP_WORDS))
    words = tuple(setting)
    if not all(isinstance(word, str) for word in words):
        raise ValueError(f"stop_words={setting!r:.60}: must be None, 'english' or a list of words")
    return tuple(sorted(set(words)))
