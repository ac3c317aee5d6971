"""Tokens of texts: spans of UTF-8 bytes, their hashes, and their numbers in a vocabulary that grows.

A text is lower-cased, cut into spans (words, or n-grams of words or characters), and each span becomes the number of
its bytes in a table.  ``data`` has 64 bytes more than there is text, so that as many can be read at once anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature

from .runtime.bits import zeros_below
from .runtime.compiled import Instruction, helper, instruction, jit
from .runtime.prefetch import prefetch_cell
from .runtime.types import Bits, Bytes, Codes, Floats, Places
from .words import ALL, EIGHT, HALF, MIX, ONE, _eight, _load, loaded_as

U = np.uint64
TOPS = U(0x8080808080808080)
THREE, SIX = U(3), np.uint32(6)
AT_ONCE, WITHIN, SHIFT = U(64), U(63), U(6)  # bytes looked at together; the place of one among them, and of them
LAST = U(0xD6E8FEB86659FD93)
LOW = U(0xFFFFFFFF)
AHEAD = 64  # tokens for whose cells memory is asked before they are needed
SPACE = np.uint8(32)


def _classified(data: Bytes, place: np.uint64) -> np.uint64:
    some = data[int(place) : int(place) + 64].tobytes()
    return U(sum(1 << i for i, b in enumerate(some) if b < 0x80 and (chr(b).isalnum() or b == 0x5F)))


@instruction(_classified)
def _word_mask(context: BaseContext, data: types.Type, place: types.Type) -> Instruction:
    """A bit for each of the 64 bytes from a place on: whether it is an ASCII letter, digit or underscore."""

    def generate(context: BaseContext, builder: ir.IRBuilder, of: Signature, values: Sequence[ir.Value]) -> ir.Value:
        vector = ir.VectorType(ir.IntType(8), 64)
        x = loaded_as(vector, context, builder, of, values)

        def each(value: int) -> ir.Value:
            return ir.Constant(vector, [value] * 64)

        letter = builder.icmp_unsigned("<", builder.sub(builder.or_(x, each(0x20)), each(ord("a"))), each(26))
        digit = builder.icmp_unsigned("<", builder.sub(x, each(ord("0"))), each(10))
        inside = builder.or_(builder.or_(letter, digit), builder.icmp_unsigned("==", x, each(ord("_"))))
        return builder.bitcast(inside, ir.IntType(64))

    return types.uint64(data, place), generate


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


@helper
def _word_bits(data: Bytes, size: int, letters: Bytes, bits: Bits) -> None:
    """A bit for each of the first ``size`` bytes: whether it is part of a word character."""
    for i in range((size + 63) >> 6):
        bits[i] = _word_mask(data, U(i) << SHIFT)
    at, end = U(0), U(size) if letters.shape[0] > 1 else U(0)
    while at < end:
        beyond = _load(data, at) & TOPS
        at += zeros_below(beyond) >> THREE
        if not beyond or at >= end:
            continue
        stop = at + _size(data[at])
        c = _character(data, at, stop - at)
        if (letters[c >> np.uint32(3)] >> np.uint8(c & np.uint32(7))) & 1:
            for e in range(at, stop):
                bits[e >> SHIFT] |= ONE << (e & WITHIN)
        at = stop


@jit
def word_spans(
    data: Bytes, starts: Places, letters: Bytes, bits: Bits, begins: Codes, stops: Codes, ends: Places
) -> int:
    """Longest runs of two word characters or more, of each text; ends[d]: how many there are up to text d.

    ``letters`` has a bit for each code point; where it has none beyond ASCII, the texts are all ASCII.  ``bits`` is
    room for those of the bytes: a word begins where they go from 0 to 1, and stops where they go back.
    """
    _word_bits(data, starts[starts.shape[0] - 1], letters, bits)
    n, ascii_only = 0, letters.shape[0] == 1
    for d in range(starts.shape[0] - 1):
        begin, end, open_ = U(starts[d]), U(starts[d + 1]), U(0)
        i, among = begin & ~WITHIN, ALL << (begin & WITHIN)
        while i <= end:
            inside = bits[i >> SHIFT] & among
            among = ALL
            if end - i < AT_ONCE:
                inside &= ~(ALL << (end - i))
            before = (inside << ONE) | open_
            rises, falls = inside & ~before, before & ~inside
            if not open_:
                begin = i + zeros_below(rises)
                rises &= rises - ONE
            while falls:
                stop = i + zeros_below(falls)
                falls &= falls - ONE
                begins[n], stops[n] = begin, stop
                n += int(stop - begin > (ONE if ascii_only else _size(data[begin])))
                begin = i + zeros_below(rises)
                rises &= rises - ONE
            open_ = inside >> WITHIN
            i += AT_ONCE
        ends[d] = n
    return n


@jit
def join_words(data: Bytes, begins: Codes, stops: Codes, ends: Places, line: Bytes) -> None:
    """Words one after the other with a space between them, in ``line``; the spans become those of the line."""
    at = 0
    for d in range(ends.shape[0]):
        for t in range(ends[d - 1] if d else 0, ends[d]):
            begin = at
            for i in range(begins[t], stops[t]):
                line[at] = data[i]
                at += 1
            begins[t], stops[t] = begin, at
            line[at] = SPACE
            at += 1


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
    n = 0
    for d in range(ends.shape[0]):
        first = ends[d - 1] if d else 0
        for size in range(least, most + 1):
            for t in range(first, ends[d] - size + 1):
                out[n], out_stops[n] = begins[t], stops[t + size - 1]
                n += 1
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
    n = 0
    for d in range(ends.shape[0]):
        a = ends[d - 1] if d else 0
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
        out_ends[d] = n
    return n


@jit
def hash_spans(data: Bytes, begins: Codes, stops: Codes, n: int, hashes: Bits) -> None:
    """A number of 64 bits for each span, equal for equal bytes: h ← (h ^ h/2³² ^ eight bytes)·MIX, over all of them.

    Up to sixteen bytes without a branch: how long the next word is cannot be foreseen.  No span is empty.
    """
    for t in range(n):
        a, stop = U(begins[t]), U(stops[t])
        size = stop - a
        first = min(size, EIGHT)
        h = ((_load(data, a) & (ALL >> (AT_ONCE - EIGHT * first))) ^ size) * MIX
        second = min(size - first, EIGHT)
        rest = _load(data, a + first) & (ALL >> ((AT_ONCE - EIGHT * second) & WITHIN))
        h ^= (h ^ (h ^ (h >> HALF) ^ rest) * MIX) & (U(0) - U(size > EIGHT))
        a += EIGHT + EIGHT
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
            if known + 1 >= places.shape[0] or at + np.int64(length) + 8 > arena.shape[0]:
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
def once_each(ids: Codes, ends: Places, first: int, last: Codes) -> None:
    """−1 for tokens that their text has had before.

    ``last`` holds the number of the text that had a word last; texts are numbered from ``first`` on, above 0.
    """
    for d in range(ends.shape[0]):
        for t in range(ends[d - 1] if d else 0, ends[d]):
            k = ids[t]
            if k >= 0:
                ids[t] = -1 if last[k] == first + d else k
                last[k] = first + d


@jit
def add_counts(ids: Codes, ends: Places, codes: Codes, weights: Floats, counts: Floats) -> None:
    """counts[word, class] += weight, for each token that has a number."""
    K, last = counts.shape[1], ids.shape[0] - 1
    for d in range(ends.shape[0]):
        c, w = np.int64(codes[d]), weights[d]
        for t in range(ends[d - 1] if d else 0, ends[d]):
            prefetch_cell(counts, np.int64(ids[min(t + AHEAD, last)]) * K + c)
            if ids[t] >= 0:
                counts[ids[t], c] += w


@jit
def add_scores(ids: Codes, ends: Places, weights: Floats, out: Floats) -> None:
    """out[text] += weights[word], for each token that has a number; two sums are kept at hand."""
    K, last = weights.shape[1], ids.shape[0] - 1
    for d in range(ends.shape[0]):
        one, other = out[d, 0], out[d, K - 1]
        for t in range(ends[d - 1] if d else 0, ends[d]):
            for e in range(0, K, 8):
                prefetch_cell(weights, np.int64(ids[min(t + AHEAD, last)]) * K + e)
            k = ids[t]
            if k >= 0 and K == 2:
                one += weights[k, 0]
                other += weights[k, 1]
            elif k >= 0:
                for c in range(K):
                    out[d, c] += weights[k, c]
        if K == 2:
            out[d, 0], out[d, 1] = one, other


@jit
def count_rows(ids: Codes, ends: Places, place: Places, indices: Codes, counts: Floats, indptr: Places) -> int:
    """The rows of a CSR matrix of counts; ``place`` is room for each word, −1 at first and after."""
    n = 0
    for d in range(ends.shape[0]):
        begin = n
        for t in range(ends[d - 1] if d else 0, ends[d]):
            k = ids[t]
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
