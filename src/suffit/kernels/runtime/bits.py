"""Bits of a number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature

from .compiled import Instruction, instruction


def _zeros_below(bits: np.uint64) -> np.uint64:
    n = int(bits)
    return np.uint64((n & -n).bit_length() - 1 if n else 64)


@instruction(_zeros_below)
def zeros_below(context: BaseContext, bits: types.Type) -> Instruction:
    """How many bits are below the lowest that is 1; 64 where none is."""

    def generate(context: BaseContext, builder: ir.IRBuilder, of: Signature, values: Sequence[ir.Value]) -> ir.Value:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(bits), generate
