"""Words to codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.np import arrayobj

from .runtime.compiled import Instruction, helper, instruction, jit
from .runtime.lengths import unlike
from .runtime.types import Bits, Bytes, Codes, Integers, Places

MIX = np.uint64(0x9E3779B97F4A7C15)
EIGHT, HALF, ONE = np.uint64(8), np.uint64(32), np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def _loaded(data: Bytes, place: np.uint64) -> np.uint64:
    return np.uint64(int.from_bytes(data[place : place + EIGHT].tobytes(), sys.byteorder))


def loaded_as(
    kind: ir.Type, context: BaseContext, builder: ir.IRBuilder, of: Signature, values: Sequence[ir.Value]
) -> ir.Value:
    """What code generates for the bytes of an array from a place on, wherever it is, as a value of this kind."""
    data = of.args[0]
    array = arrayobj.make_array(data)(context, builder, values[0])  # type: ignore[no-untyped-call]
    cell = cgutils.get_item_pointer(context, builder, data, array, [values[1]])  # type: ignore[no-untyped-call]
    value = builder.load(builder.bitcast(cell, kind.as_pointer()))
    value.align = 1
    return value


@instruction(_loaded)
def _load(context: BaseContext, data: types.Type, place: types.Type) -> Instruction:
    """The eight bytes data[place : place + 8] as one number, wherever they begin."""
    return types.uint64(data, place), partial(loaded_as, ir.IntType(64))


@helper
def _eight(data: Bytes, start: np.uint64, stop: np.uint64) -> np.uint64:
    """The bytes [start, stop) as one number, of more than eight the first eight."""
    if start == stop:
        return np.uint64(0)  # a shift by all 64 bits would be anything
    if start + EIGHT <= np.uint64(data.shape[0]):
        bits = _load(data, start)
        return bits if stop - start >= EIGHT else bits & (ALL >> (EIGHT * (EIGHT - (stop - start))))
    bits = np.uint64(0)
    for e in range(EIGHT if stop - start > EIGHT else stop - start):
        bits |= np.uint64(data[start + np.uint64(e)]) << (EIGHT * np.uint64(e))
    return bits


def code_words(data: Bytes, starts: Integers, valid: Bytes, skipped: int, codes: Codes, firsts: Places) -> int:
    """codes[i]: the place of word i, data[starts[i] : starts[i + 1]], among the different ones; −1 where missing.

    The first row of each goes to ``firsts``, and how many there are is returned: −1, and half coded, for more than have
    room there.  ``valid`` has a bit for each row, after ``skipped`` ones; none where nothing is missing.
    """
    if len(codes) + 1 != len(starts):
        raise unlike(len(codes) + 1, starts)
    slots = 4
    while slots < 4 * len(firsts):
        slots *= 2
    room = np.full(slots, -1, np.int32), np.empty((2, len(firsts)), np.uint64)
    return _code_words(data, starts, valid, skipped, *room, codes, firsts)


@jit
def _code_words(
    data: Bytes, starts: Integers, valid: Bytes, skipped: int, table: Codes, known: Bits, codes: Codes, firsts: Places
) -> int:
    """The same; table, of a power of two cells, begins with −1, and known (2, most) is room."""
    most = firsts.shape[0]
    heads, sizes = known[0], known[1]
    last = np.uint64(table.shape[0] - 1)
    missing = valid.shape[0] > 0
    found = 0
    for i in range(codes.shape[0]):
        if missing and not (valid[(i + skipped) >> 3] >> ((i + skipped) & 7)) & 1:
            codes[i] = -1
            continue
        start, stop = np.uint64(starts[i]), np.uint64(starts[i + 1])
        size = stop - start
        head = _eight(data, start, stop)
        mixed = (head ^ size) * MIX
        a = start + EIGHT
        while a < stop:
            mixed = (mixed ^ (mixed >> HALF) ^ _eight(data, a, stop)) * MIX
            a += EIGHT
        slot = (mixed >> HALF) & last
        k = table[slot]
        while k >= 0:
            if heads[k] == head and sizes[k] == size:
                a, b = start + EIGHT, np.uint64(starts[firsts[k]]) + EIGHT
                while a < stop and _eight(data, a, stop) == _eight(data, b, b + (stop - a)):
                    a += EIGHT
                    b += EIGHT
                if a >= stop:
                    break
            slot = (slot + ONE) & last
            k = table[slot]
        if k < 0:
            if found == most:
                return -1
            k = found
            table[slot] = k
            heads[k] = head
            sizes[k] = size
            firsts[k] = i
            found += 1
        codes[i] = k
    return found
