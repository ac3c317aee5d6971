"""How loops are compiled: serial, without the interpreter lock, cached on disk where the disk allows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from numba import config, njit
from numba.core.event import Event, TimingListener, install_listener
from numba.extending import intrinsic

NOT_COMPILED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]  # loops run as they are written, slowly
_REASSOCIATE = {"reassoc", "contract", "nsz"}  # sums may be vectorised; NaN and infinity keep their meaning


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    if NOT_COMPILED:
        return function
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


class _Compilations(TimingListener):  # type: ignore[misc]
    """Counts and times the kernels that the cache does not have."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.say, self.kernels, self.kept = say, 0, True

    def on_start(self, event: Event) -> None:
        """Say so when the first comes."""
        kernel = event.data["dispatcher"]
        if kernel.py_func.__module__.startswith("suffit."):  # numba compiles parts of its own with them
            if self.kernels == 0:
                self.say("suffit: compiling for this machine (a minute at most) …")
            self.kernels += 1
            self.kept &= kernel._cache.cache_path is not None
        super().on_start(event)  # type: ignore[no-untyped-call]


@contextmanager
def saying_when_compiling(say: Callable[[str], None]) -> Iterator[None]:
    """While inside, ``say`` when kernels have to be compiled, and at the end how many there were and how long it took.

    Kernels that come from the cache are not worth a word.
    """
    compilations = _Compilations(say)
    with install_listener("numba:compile", compilations):
        yield
    n = compilations.kernels
    if n:
        later = "; later runs take them from the cache" if compilations.kept else ""
        say(f"suffit: compiled {n} kernel{'s' * (n > 1)} in {compilations.duration:.0f} s{later}")


def jit(function: Callable[..., Any]) -> Any:
    """Compile as written."""
    return _compile(function)


def fast(function: Callable[..., Any]) -> Any:
    """Compile with sums that may be taken in any order, so that they vectorise."""
    return _compile(function, fastmath=_REASSOCIATE)


def pasted(function: Callable[..., Any]) -> Any:
    """Compile into every kernel that calls it, in that kernel's way: no call, and nothing to hand over."""
    return njit(inline="always", nogil=True, error_model="numpy")(function)


def instruction(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """An instruction of the machine, from what generates it; ``plain`` does the same where nothing is compiled."""
    return lambda generate: plain if NOT_COMPILED else intrinsic(generate)
