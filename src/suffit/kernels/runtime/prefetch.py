"""Ask for memory before it is needed, where the order of reading hides from the processor what comes next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.typing.templates import Signature
from numba.np import arrayobj
from numpy.typing import NDArray

from .compiled import Instruction, helper, instruction
from .types import Integer

LINE = 64  # bytes that come together


def _nothing(array: NDArray[np.generic], place: Integer) -> None:
    """What asking for memory does to the values of a program."""


@instruction(_nothing)
def _prefetch(context: BaseContext, array: types.Type, place: types.Type) -> Instruction:
    """Ask for the line of a cell, counted from the first, to be read and kept in the second cache; no more happens."""

    def generate(context: BaseContext, builder: ir.IRBuilder, of: Signature, values: Sequence[ir.Value]) -> ir.Value:
        kind = of.args[0]
        cells = arrayobj.make_array(kind)(context, builder, values[0])  # type: ignore[no-untyped-call]
        cell = builder.gep(cells.data, [values[1]])
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [pointer], shape)
        read, near, data = (ir.Constant(number, v) for v in (0, 2, 1))
        builder.call(hint, [builder.bitcast(cell, pointer), read, near, data])
        return ir.Constant(pointer, None)  # nothing

    return types.void(array, place), generate


@helper
def prefetch_cell(values: NDArray[np.generic], place: int) -> None:
    """Ask for one cell, counted from the first; there need be none."""
    _prefetch(values, np.int64(place))


@helper
def prefetch_range(values: NDArray[np.generic], start: int, stop: int) -> None:
    """Ask for the cells [start, stop), which lie one after the other."""
    for e in range(start, stop, LINE // values.itemsize):
        _prefetch(values, e)


@helper
def prefetch_rows(X: NDArray[np.generic], start: int, stop: int) -> None:
    """Ask for these rows, which lie one after the other, as far as there are so many."""
    last = stop if stop < X.shape[0] else X.shape[0]
    prefetch_range(X, start * X.shape[1], last * X.shape[1])
