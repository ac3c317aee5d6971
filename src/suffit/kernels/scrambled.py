"""Numbers as good as random, made of others."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from .runtime.types import Bits

Word = TypeVar("Word", np.uint64, Bits)

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
B27, B30, B31, B40 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(40)
UNIT = 16777216.0  # the first 24 bits, all but 40, are a number below this


def scrambled(bits: Word) -> Word:
    """Mix the bits of a number well (the finaliser of SplitMix64)."""
    bits = (bits ^ (bits >> B30)) * FIRST
    bits = (bits ^ (bits >> B27)) * SECOND
    return bits ^ (bits >> B31)
