"""How loops are compiled: serial, without the interpreter lock, cached on disk where the disk allows it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numba import config, njit
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from . import notice  # noqa: F401  (listens from now on)
from .cache import KernelCache

NOT_COMPILED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # loops run as they are written, slowly
_REASSOCIATE = {"reassoc", "contract", "nsz"}  # sums may be vectorised; NaN and infinity keep their meaning
_KERNEL: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,  # nobody calls it by a C pointer
    "_nrt": False,  # it makes no arrays: counting who uses them is a tenth of what compiling takes
}
_HELPER: dict[str, Any] = {**_KERNEL, "no_cpython_wrapper": True}  # nor, where it is part of a kernel, from Python

P = ParamSpec("P")
R = TypeVar("R")
kernels: dict[str, Any] = {}  # all that Python calls, by module and name


def _compile(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    if NOT_COMPILED:
        return np.errstate(all="ignore")(function)  # integers wrap without a word, as where it is compiled
    kernel = kernels[f"{function.__module__}.{function.__name__}"] = njit(**_KERNEL, **options)(function)
    with suppress(RuntimeError):  # neither the package nor the user's cache folder can be written to
        kernel._cache = KernelCache(function)
    return kernel


def jit(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as written."""
    return _compile(function)


def fast(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with sums that may be taken in any order, so that they vectorise."""
    return _compile(function, fastmath=_REASSOCIATE)


def helper(function: Callable[P, R]) -> Callable[P, R]:
    """Compile as written, for kernels to call: not for Python, and kept as part of those kernels alone."""
    return njit(**_HELPER)(function)


def fast_helper(function: Callable[P, R]) -> Callable[P, R]:
    """The same with sums that may be taken in any order."""
    return njit(fastmath=_REASSOCIATE, **_HELPER)(function)


def pasted(function: Callable[P, R]) -> Callable[P, R]:
    """Compile into every kernel that calls it, in that kernel's way: no call, and nothing to hand over."""
    return njit(inline="always", **_HELPER)(function)


Instruction = tuple[Signature, Callable[..., object]]  # what it takes and gives, and what generates it


def instruction(plain: Callable[P, R]) -> Callable[[Callable[..., Instruction]], Callable[P, R]]:
    """An instruction of the machine, from what generates it; ``plain`` does the same where nothing is compiled."""
    return lambda generate: plain if NOT_COMPILED else intrinsic(generate)
