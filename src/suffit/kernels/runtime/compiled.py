"""How loops are compiled: serial, without the interpreter lock, cached on disk where the disk allows it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import config, njit
from numba.extending import intrinsic

from . import notice  # noqa: F401  (listens from now on)
from .cache import KernelCache

NOT_COMPILED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # loops run as they are written, slowly
_REASSOCIATE = {"reassoc", "contract", "nsz"}  # sums may be vectorised; NaN and infinity keep their meaning
_KERNEL: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}  # nobody calls it by a C pointer
_HELPER: dict[str, Any] = {**_KERNEL, "no_cpython_wrapper": True}  # nor, where it is part of a kernel, from Python


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    if NOT_COMPILED:
        return function
    kernel = njit(**_KERNEL, **options)(function)
    with suppress(RuntimeError):  # neither the package nor the user's cache folder can be written to
        kernel._cache = KernelCache(function)
    return kernel


def jit(function: Callable[..., Any]) -> Any:
    """Compile as written."""
    return _compile(function)


def fast(function: Callable[..., Any]) -> Any:
    """Compile with sums that may be taken in any order, so that they vectorise."""
    return _compile(function, fastmath=_REASSOCIATE)


def helper(function: Callable[..., Any]) -> Any:
    """Compile as written, for kernels to call: not for Python, and kept as part of those kernels alone."""
    return njit(**_HELPER)(function)


def fast_helper(function: Callable[..., Any]) -> Any:
    """The same with sums that may be taken in any order."""
    return njit(fastmath=_REASSOCIATE, **_HELPER)(function)


def pasted(function: Callable[..., Any]) -> Any:
    """Compile into every kernel that calls it, in that kernel's way: no call, and nothing to hand over."""
    return njit(inline="always", **_HELPER)(function)


def instruction(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """An instruction of the machine, from what generates it; ``plain`` does the same where nothing is compiled."""
    return lambda generate: plain if NOT_COMPILED else intrinsic(generate)
