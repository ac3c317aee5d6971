"""How loops are compiled: serial, without the interpreter lock, cached on disk where the disk allows it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit

_REASSOCIATE = {"reassoc", "contract", "nsz"}  # sums may be vectorised; NaN and infinity keep their meaning


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    settings = {"nogil": True, "error_model": "numpy", **options}
    try:
        kernel = njit(cache=True, **settings)(function)
    except RuntimeError:  # neither the package nor the user's cache folder can be written to
        return njit(**settings)(function)
    _forgive(kernel._cache)
    return kernel


def _forgive(cache: Any) -> None:
    """A cache that cannot be read or written (full disk, damaged file) costs a compilation, never an error."""
    save, load = cache.save_overload, cache.load_overload

    def save_overload(*arguments: Any) -> None:
        with suppress(Exception):  # a full disk, or an index that another process has left damaged
            save(*arguments)

    def load_overload(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except Exception:  # whatever a damaged cache file holds, compiling anew is the answer
            return None

    cache.save_overload, cache.load_overload = save_overload, load_overload


def jit(function: Callable[..., Any]) -> Any:
    """Compile as written."""
    return _compile(function)


def fast(function: Callable[..., Any]) -> Any:
    """Compile with sums that may be taken in any order, so that they vectorise."""
    return _compile(function, fastmath=_REASSOCIATE)
