"""Sums in the least room that gives back every bit: for pickles, which hold nothing that can be derived.

A matrix of second moments is symmetric: half of it is enough.  Numbers of rows and words are whole, and mostly small.
Numbers that are the same along an axis are written once.  Bytes that repeat (sums of indicator columns) are deflated.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Cells

Array = NDArray[np.float64]
PROBE = 1 << 16  # bytes that show whether deflating pays; it is not tried on fewer
PAYS = 0.7  # share of the bytes that then is left at most
FIRST = 64  # numbers that are looked at first: sums that are not whole show it at once


class Packed(NamedTuple):
    """``values`` of an array of this shape; those of a symmetric one are the upper triangles of its matrices."""

    shape: tuple[int, ...]
    symmetric: bool
    values: Cells | Deflated


class Deflated(NamedTuple):
    """An array whose bytes repeat."""

    shape: tuple[int, ...]
    dtype: str
    data: bytes


def packed(a: Array) -> Packed:
    """The array in less room.

    >>> packed(np.array([[2.0, 1.5], [1.5, 3.0]])).values.tolist(), packed(np.array([3.0, 260.0])).values.dtype.name
    ([2.0, 1.5, 3.0], 'uint16')
    """
    once = a[tuple(slice(0, 1) if step == 0 else slice(None) for step in a.strides)]
    symmetric = (
        once.ndim > 1 and once.shape[-1] == once.shape[-2] > 1 and np.array_equal(once, np.swapaxes(once, -1, -2))
    )
    if symmetric:
        once = np.concatenate([once[..., i, i:] for i in range(once.shape[-1])], axis=-1)
    return Packed(a.shape, symmetric, _deflated(_narrow(once)))


def unpacked(p: Packed) -> Array:
    """The same array again, bit by bit."""
    values = _inflated(p.values).astype(np.float64)
    if not p.symmetric:
        return np.broadcast_to(values, p.shape)
    size, start = p.shape[-1], 0
    out = np.empty((*values.shape[:-1], size, size))
    for i in range(size):
        row = values[..., start : start + size - i]
        out[..., i, i:] = out[..., i:, i] = row
        start += size - i
    return np.broadcast_to(out, p.shape)


def _narrow(a: Array) -> Cells:
    """Whole numbers from 0 on in as few bytes as the largest needs; others as they are."""
    for part in (a.reshape(-1)[:FIRST], a):
        with np.errstate(invalid="ignore"):
            if not (np.isfinite(part).all() and (part == np.rint(part)).all() and not np.signbit(part).any()):
                return a
    most = a.max(initial=0.0)
    kind = next((k for k in (np.uint8, np.uint16, np.uint32) if most <= np.iinfo(k).max), None)
    return a if kind is None else a.astype(kind)


def _deflated(a: Cells) -> Cells | Deflated:
    """Deflated where a first part shows that it pays."""
    if a.nbytes < PROBE:
        return a
    plain = np.ascontiguousarray(a)
    probe = plain.reshape(-1)[: PROBE // a.itemsize].tobytes()
    if len(zlib.compress(probe, 1)) > PAYS * len(probe):
        return a
    return Deflated(a.shape, a.dtype.str, zlib.compress(plain.tobytes(), 1))


def _inflated(a: Cells | Deflated) -> Cells:
    if not isinstance(a, Deflated):
        return a
    return np.frombuffer(zlib.decompress(a.data), np.dtype(a.dtype)).reshape(a.shape)
