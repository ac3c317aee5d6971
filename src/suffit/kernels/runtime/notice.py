"""What is said when kernels have to be compiled, which happens once for each machine and takes some seconds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core.event import Event, Listener, register

LONG = 2.0  # seconds of compiling after which whoever waits should know what for
PAGE = "docs/installing.md"


class _Compilations(Listener):
    """Counts and times the kernels of ours that the cache does not have; numba compiles one at a time."""

    def __init__(self) -> None:
        self.kernels, self.seconds, self.kept = 0, 0.0, True
        self.quiet = 0  # how many that ask for quiet, or speak themselves
        self.on_first: Callable[[], None] | None = None
        self._open, self._start, self._said = 0, 0.0, False

    def on_start(self, event: Event) -> None:
        """A kernel, or a part of one, which the kernel's time includes."""
        kernel = event.data["dispatcher"]
        ours = kernel.py_func.__module__.startswith("suffit.")
        if not self._open and ours:
            self._start = time.monotonic()
            self.kept &= kernel._cache.cache_path is not None
            self.kernels += 1
            if self.on_first is not None:
                self.on_first()
                self.on_first = None
        if self._open or ours:
            self._open += 1

    def on_end(self, event: Event) -> None:
        """Say it once, when it has taken long in all."""
        if not self._open:
            return
        self._open -= 1
        if self._open:
            return
        self.seconds += time.monotonic() - self._start
        if self.seconds > LONG and not (self._said or self.quiet):
            self._said = True
            logging.getLogger("suffit").warning(
                "suffit compiles for this machine (%.0f s so far); %s", self.seconds, self.afterwards()
            )

    def afterwards(self) -> str:
        """What the next process can expect."""
        if self.kept:
            return "later runs take what is compiled from the cache, suffit.warm_up() compiles everything at once"
        return f"there is no folder to keep it in, so that every process compiles anew: see {PAGE}"


_compilations = _Compilations()
register("numba:compile", _compilations)  # type: ignore[no-untyped-call]


def compiled_kernels() -> int:
    """How many kernels this process has compiled, which the cache did not have."""
    return _compilations.kernels


@contextmanager
def quietly() -> Iterator[None]:
    """While inside, nothing is said about compiling."""
    _compilations.quiet += 1
    try:
        yield
    finally:
        _compilations.quiet -= 1


@contextmanager
def saying_when_compiling(say: Callable[[str], None]) -> Iterator[None]:
    """While inside, ``say`` when kernels have to be compiled, and at the end how many there were and how long it took.

    Kernels that come from the cache are not worth a word.
    """
    before, seconds = _compilations.kernels, _compilations.seconds
    _compilations.on_first = lambda: say("suffit: compiling for this machine (a minute at most) …")
    with quietly():
        yield
    _compilations.on_first = None
    n = _compilations.kernels - before
    if n:
        later = "; later runs take them from the cache" if _compilations.kept else ""
        say(f"suffit: compiled {n} kernel{'s' * (n > 1)} in {_compilations.seconds - seconds:.0f} s{later}")
