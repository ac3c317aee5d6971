"""Tokens of texts: spans of UTF-8 bytes, their hashes, and their numbers in a vocabulary that grows.

A text is lower-cased, cut into spans (words, or n-grams of words or characters), and each span becomes the number of
its bytes in a table.  ``data`` has eight bytes more than there is text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from .runtime.compiled import helper, instruction, jit
from .runtime.prefetch import prefetch_cell
from .runtime.types import Bits, Bytes, Codes, Floats, Places
from .words import EIGHT, HALF, MIX, ONE, _eight, _load

U = np.uint64
EACH = U(0x0101010101010101)  # a byte in every byte
TOPS = U(0x8080808080808080)
SEVEN = U(0x7F7F7F7F7F7F7F7F)
SMALL = U(0x2020202020202020)  # makes capital letters small ones
UNDERSCORES = U(0x5F5F5F5F5F5F5F5F)
FROM_A, ABOVE_Z = U(0x80 - ord("a")) * EACH, U(0x7F - ord("z")) * EACH
FROM_0, ABOVE_9 = U(0x80 - ord("0")) * EACH, U(0x7F - ord("9")) * EACH
THREE, SIX = U(3), np.uint32(6)
LAST = U(0xD6E8FEB86659FD93)
LOW = U(0xFFFFFFFF)
AHEAD = 16  # tokens for whose cells memory is asked before they are needed
SPACE = np.uint8(32)


def _zeros_below(bits: np.uint64) -> np.uint64:
    n = int(bits)
    return U((n & -n).bit_length() - 1)


@instruction(_zeros_below)
def _below(context: Any, bits: Any) -> Any:
    """How many bits below the lowest that is 1."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(bits), generate


@helper
def _word_bytes(x: np.uint64) -> np.uint64:
    """The top bit of each of eight bytes that is an ASCII letter, digit or underscore."""
    seven = x & SEVEN
    small = seven | SMALL
    found = (small + FROM_A) & ~(small + ABOVE_Z)
    found |= (seven + FROM_0) & ~(seven + ABOVE_9)
    found |= ~((seven ^ UNDERSCORES) + SEVEN)
    return found & ~x & TOPS


@helper
def _character(data: Bytes, i: np.uint64, size: np.uint64) -> np.uint32:
    """The code point of a character of so many bytes, at least two."""
    c = np.uint32(data[i]) & (np.uint32(0x7F) >> np.uint32(size))
    for e in range(1, np.int64(size)):
        c = (c << SIX) | (np.uint32(data[i + U(e)]) & np.uint32(0x3F))
    return c


@helper
def _size(byte: np.uint8) -> np.uint64:
    """How many bytes a character has that begins with this one."""
    return U(1) if byte < 0xC0 else U(2) if byte < 0xE0 else U(3) if byte < 0xF0 else U(4)


@jit
def lower_bytes(data: Bytes, out: Bytes) -> None:
    """The same bytes with capital ASCII letters made small ones."""
    for i in range(data.shape[0]):
        b = data[i]
        out[i] = b + (np.uint8(32) if np.uint8(b - np.uint8(65)) < np.uint8(26) else np.uint8(0))


@jit
def word_spans(data: Bytes, starts: Places, letters: Bytes, begins: Codes, stops: Codes, ends: Places) -> int:
    """Longest runs of two word characters or more, of each text; ends[d]: how many there are up to text d.

    ``letters`` has a bit for each code point, for those beyond ASCII.
    """
    n = 0
    for d in range(starts.shape[0] - 1):
        i, stop = U(starts[d]), U(starts[d + 1])
        while i < stop:
            x = _load(data, i)
            inside = _word_bytes(x)
            any_ = inside | (x & TOPS)
            if not any_ & U(0x80):
                i += _below(any_) >> THREE if any_ else EIGHT
                continue
            begin, found = i, U(0)
            while True:
                outside = ~inside & TOPS
                step = _below(outside) >> THREE if outside else EIGHT
                i += step
                found += step
                if i >= stop:
                    found -= i - stop
                    i = stop
                    break
                if outside:
                    size = _size(data[i])
                    if size == ONE:
                        break
                    c = _character(data, i, size)
                    if not (letters[c >> np.uint32(3)] >> np.uint8(c & np.uint32(7))) & 1:
                        break
                    i += size
                    found += ONE
                    if i >= stop:
                        break
                inside = _word_bytes(_load(data, i))
            if found > ONE:
                begins[n], stops[n] = begin, i
                n += 1
            if i < stop:
                i += _size(data[i])
        ends[d] = n
    return n


@jit
def join_words(data: Bytes, begins: Codes, stops: Codes, ends: Places, line: Bytes) -> None:
    """Words one after the other with a space between them, in ``line``; the spans become those of the line."""
    at, t = 0, 0
    for d in range(ends.shape[0]):
        while t < ends[d]:
            begin = at
            for i in range(begins[t], stops[t]):
                line[at] = data[i]
                at += 1
            begins[t], stops[t] = begin, at
            line[at] = SPACE
            at += 1
            t += 1


@jit
def without_words(ids: Codes, begins: Codes, stops: Codes, ends: Places) -> int:
    """Spans without those that have a number: stop words."""
    n, t = 0, 0
    for d in range(ends.shape[0]):
        while t < ends[d]:
            if ids[t] < 0:
                begins[n], stops[n] = begins[t], stops[t]
                n += 1
            t += 1
        ends[d] = n
    return n


@jit
def grams(
    least: int, most: int, begins: Codes, stops: Codes, ends: Places, out: Codes, out_stops: Codes, out_ends: Places
) -> int:
    """Spans of ``least`` to ``most`` spans one after the other, in each text."""
    n, first = 0, 0
    for d in range(ends.shape[0]):
        for size in range(least, most + 1):
            for t in range(first, ends[d] - size + 1):
                out[n], out_stops[n] = begins[t], stops[t + size - 1]
                n += 1
        first = ends[d]
        out_ends[d] = n
    return n


@jit
def character_spans(data: Bytes, starts: Places, begins: Codes, stops: Codes, ends: Places) -> int:
    """Each character of each text."""
    n = 0
    for d in range(starts.shape[0] - 1):
        i, stop = U(starts[d]), U(starts[d + 1])
        while i < stop:
            begins[n] = i
            i += _size(data[i])
            stops[n] = i
            n += 1
        ends[d] = n
    return n


@jit
def padded_grams(
    data: Bytes, least: int, most: int, begins: Codes, stops: Codes, ends: Places, out: Codes, out_stops: Codes,
    out_ends: Places,
) -> int:  # fmt: skip
    """n-grams of the characters of each word with a space on either side; the text begins and ends with a space.

    A word that is shorter than n is one n-gram, once.
    """
    n, first = 0, 0
    for d in range(ends.shape[0]):
        a = first
        while a + 1 < ends[d]:
            b = a + 1
            while data[begins[b]] != SPACE:
                b += 1
            for size in range(least, most + 1):
                last = min(a + size - 1, b)
                out[n], out_stops[n] = begins[a], stops[last]
                n += 1
                for t in range(last + 1, b + 1):
                    out[n], out_stops[n] = begins[t - size + 1], stops[t]
                    n += 1
                if a + size > b:
                    break
            a = b
        first = ends[d]
        out_ends[d] = n
    return n


@jit
def hash_spans(data: Bytes, begins: Codes, stops: Codes, n: int, hashes: Bits) -> None:
    """A number of 64 bits for each span, equal for equal bytes."""
    for t in range(n):
        a, stop = U(begins[t]), U(stops[t])
        h = (_eight(data, a, stop) ^ (stop - a)) * MIX
        a += EIGHT
        while a < stop:
            h = (h ^ (h >> HALF) ^ _eight(data, a, stop)) * MIX
            a += EIGHT
        hashes[t] = (h ^ (h >> HALF)) * LAST


@jit
def hashed_ids(hashes: Bits, n: int, width: int, ids: Codes) -> None:
    """Hashes to numbers below ``width``."""
    for t in range(n):
        ids[t] = ((hashes[t] >> HALF) * U(width)) >> HALF


@jit
def enter_words(arena: Bytes, places: Places, n: int, hashes: Bits, shift: int, table: Bits) -> None:
    """The first n words of a vocabulary, arena[places[k] : places[k + 1]], into an empty table.

    Of each word the table holds its first eight bytes, and its length and number + 1 in one; 0 is an empty cell.
    """
    last = U(table.shape[0] // 2 - 1)
    for k in range(n):
        slot = hashes[k] >> U(shift)
        while table[slot + slot + ONE]:
            slot = (slot + ONE) & last
        begin, stop = U(places[k]), U(places[k + 1])
        table[slot + slot] = _eight(arena, begin, stop)
        table[slot + slot + ONE] = ((stop - begin) << HALF) | U(k + 1)


@jit
def find_words(
    data: Bytes, begins: Codes, stops: Codes, hashes: Bits, first: int, n: int, shift: int, table: Bits, arena: Bytes,
    places: Places, grows: bool, ids: Codes, state: Places,
) -> int:  # fmt: skip
    """The number of each span in the vocabulary, −1 where it has none; with ``grows`` it gets the next.

    Returns the span before which room ran out, or n.  state[0]: how many words there are.
    """
    known, last = state[0], U(table.shape[0] // 2 - 1)
    for t in range(first, n):
        if t + AHEAD < n:
            prefetch_cell(table, 2 * int(hashes[t + AHEAD] >> U(shift)))
        begin, stop = U(begins[t]), U(stops[t])
        length, head = stop - begin, _eight(data, begin, stop)
        slot = hashes[t] >> U(shift)
        k = -1
        while True:
            entry = table[slot + slot + ONE]
            if not entry:
                break
            if entry >> HALF == length and table[slot + slot] == head:
                k = np.int64(entry & LOW) - 1
                if length <= EIGHT:
                    break
                a, b = begin + EIGHT, U(places[k]) + EIGHT
                while a < stop and _eight(data, a, stop) == _eight(arena, b, b + (stop - a)):
                    a += EIGHT
                    b += EIGHT
                if a >= stop:
                    break
                k = -1
            slot = (slot + ONE) & last
        if k < 0 and grows:
            at = places[known]
            if known + 1 >= places.shape[0] or at + np.int64(length) > arena.shape[0]:
                state[0] = known
                return t
            for e in range(np.int64(length)):
                arena[at + e] = data[begin + U(e)]
            k = known
            known += 1
            places[known] = at + np.int64(length)
            table[slot + slot] = head
            table[slot + slot + ONE] = (length << HALF) | U(known)
        ids[t] = k
    state[0] = known
    return n


@jit
def add_counts(
    ids: Codes, ends: Places, codes: Codes, weights: Floats, first: int, last: Codes, counts: Floats
) -> None:
    """counts[word, class] += weight, for each token, or with ``last`` (one cell for each word) once in each text.

    ``last`` holds the number of the text that had a word last; texts are numbered from ``first`` on, above 0.
    """
    t, once = 0, last.shape[0] > 0
    n = ends[ends.shape[0] - 1] if ends.shape[0] else 0
    K = counts.shape[1]
    for d in range(ends.shape[0]):
        c, w, me = codes[d], weights[d], first + d
        while t < ends[d]:
            if t + AHEAD < n and ids[t + AHEAD] >= 0:
                prefetch_cell(counts, np.int64(ids[t + AHEAD]) * K + c)
            k = ids[t]
            t += 1
            if k < 0:
                continue
            if once:
                if last[k] == me:
                    continue
                last[k] = me
            counts[k, c] += w


@jit
def add_scores(ids: Codes, ends: Places, weights: Floats, first: int, last: Codes, out: Floats) -> None:
    """out[text] += weights[word], for each token, or with ``last`` once for each word of a text."""
    t, once = 0, last.shape[0] > 0
    n = ends[ends.shape[0] - 1] if ends.shape[0] else 0
    K = weights.shape[1]
    for d in range(ends.shape[0]):
        me = first + d
        while t < ends[d]:
            if t + AHEAD < n and ids[t + AHEAD] >= 0:
                ahead = np.int64(ids[t + AHEAD]) * K
                for e in range(0, K, 8):
                    prefetch_cell(weights, ahead + e)
            k = ids[t]
            t += 1
            if k < 0:
                continue
            if once:
                if last[k] == me:
                    continue
                last[k] = me
            for c in range(K):
                out[d, c] += weights[k, c]


@jit
def count_rows(ids: Codes, ends: Places, place: Places, indices: Codes, counts: Floats, indptr: Places) -> int:
    """The rows of a CSR matrix of counts; ``place`` is room for each word, −1 at first and after."""
    n, t = 0, 0
    for d in range(ends.shape[0]):
        begin = n
        while t < ends[d]:
            k = ids[t]
            t += 1
            if k < 0:
                continue
            at = place[k]
            if at >= begin:
                counts[at] += 1.0
            else:
                place[k] = n
                indices[n] = k
                counts[n] = 1.0
                n += 1
        indptr[d + 1] = n
    for e in range(n):
        place[indices[e]] = -1
    return n
