"""Run a function over fixed row blocks, on as many threads as there are, in a deterministic order."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise, product
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

Part = TypeVar("Part")

READ_CELLS = 1 << 21  # most cells of one block that is only read: long enough to hide the hand-over between threads
COPY_CELLS = 1 << 16  # cells of one block that is copied first: the copy stays in a core's own cache
ROUND_BLOCKS = 16  # blocks for each thread whose results may wait for an earlier one
_LEAST_ROWS = 64

_lock = threading.Lock()
_crews: dict[int, Crew] = {}  # process id → crew: a forked child starts its own
_wanted: int | None = None


class Helper:
    """A task that one other thread may take on, unless it is called off before; who is first in ``_claims`` has it."""

    def __init__(self, task: Callable[[], None]) -> None:
        self._task, self._over = task, False
        self._said = SimpleQueue[None]()  # an event of ``threading`` would not survive an interrupt
        self._claims: list[str] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Take it on, where it is not called off."""
        self._claims.append("helper")
        if self._claims[0] == "helper":
            try:
                self._task()
            except BaseException as error:
                self._error = error
            finally:
                self._over = True
                self._said.put(None)

    def finish(self) -> None:
        """Call it off, or wait for it where it has begun; may be done again, as after an interrupt."""
        self._claims.append("caller")
        while self._claims[0] == "helper" and not self._over:
            self._said.get()

    def check(self) -> None:
        """Raise what went wrong."""
        if self._error is not None:
            raise self._error


class Crew:
    """Threads that wait for helpers to run.

    An interrupt reaches the main thread alone, and what that does here, putting into a queue, is done whole or not at
    all: no interrupt can leave the crew in a state that a later call would wait in.
    """

    def __init__(self, size: int) -> None:
        self._size, self._waiting = size, SimpleQueue[Helper | None]()
        for i in range(size):
            threading.Thread(target=_work, args=(self._waiting,), name=f"suffit_{i}", daemon=True).start()

    def send(self, helper: Helper) -> None:
        """Have somebody run it."""
        self._waiting.put(helper)

    def dismiss(self) -> None:
        """The threads end when what was sent before is done."""
        for _ in range(self._size):
            self._waiting.put(None)


def _work(waiting: SimpleQueue[Helper | None]) -> None:
    while (helper := waiting.get()) is not None:
        for library in _local:  # a thread of the crew is one of several that compute
            library.set(1)
        helper.run()
        del helper  # it holds the arrays of its call


def cores() -> int:
    """How many threads a call may use: ``set_threads``, else ``SUFFIT_NUM_THREADS``, else the usable cores."""
    if _wanted is not None:
        return _wanted
    setting = os.environ.get("SUFFIT_NUM_THREADS", "")
    if setting.isdecimal() and int(setting) > 0:
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_threads(n: int | None) -> None:
    """Use ``n`` threads from now on.  Results are the same to the last bit for any number.

    Parameters
    ----------
    n : int or None
        How many; None for as many as there are cores.

    Returns
    -------
    None
    """
    if n is not None and (not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1):
        raise ValueError(f"set_threads needs an integer of at least 1, or None, got {n!r}")
    global _wanted
    with _lock:
        _wanted = None if n is None else int(n)
        crew = _crews.pop(os.getpid(), None)
    if crew is not None:  # calls under way have sent their helpers before
        crew.dismiss()


def _crew() -> Crew:
    with _lock:
        pid = os.getpid()
        if pid not in _crews:
            _crews.clear()  # those of the parent process: their threads did not survive the fork
            _crews[pid] = Crew(max(cores() - 1, 1))
        return _crews[pid]


def _after_fork() -> None:
    """Another thread of the parent may have held the lock: its child has one of its own."""
    global _lock
    _lock = threading.Lock()
    _process.inside.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def row_blocks(n_rows: int, n_columns: int, cells: int = READ_CELLS, least: int = 0) -> list[tuple[int, int]]:
    """The row ranges [start, stop) that cover ``n_rows``; their length depends on the shape of the data alone.

    With ``least`` cells or more, where a block makes so many sums that fewer are not worth it.
    """
    if cells == READ_CELLS:  # about 16 blocks, none too short to be worth a thread and none too long to share out
        cells = min(max(n_rows * n_columns // 16, READ_CELLS >> 3), READ_CELLS)
    step = max(_LEAST_ROWS, max(cells, least) // max(1, n_columns))
    return [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


def entry_blocks(indptr: NDArray[np.generic], least: int = 0) -> list[tuple[int, int]]:
    """Row ranges of a CSR matrix that hold about one block of stored entries each, ``least`` of them or more."""
    n = len(indptr) - 1
    cells = max(min(max(int(indptr[-1]) // 16, READ_CELLS >> 3), READ_CELLS), least)
    if indptr[-1] <= cells and n <= cells:
        return [(0, n)]
    edges = np.searchsorted(indptr, np.arange(0, int(indptr[-1]) + 1, cells, dtype=indptr.dtype))
    edges = np.unique(np.concatenate([[0], edges, np.arange(0, n, cells), [n]]))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def in_order(work: Callable[[int, int], Part], blocks: list[tuple[int, int]]) -> Iterator[Part]:
    """``work(start, stop)`` of every block, computed on all threads, delivered in block order.

    The calling thread works too, and every thread takes the next block as soon as it is free: neither a thread that is
    slow to wake up nor a core that is busy with something else holds up the others.  Rounds of a few blocks for each
    thread keep memory bounded however many blocks there are.
    """
    threads = cores() if len(blocks) > 1 else 1
    if threads == 1:
        for start, stop in blocks:
            yield work(start, stop)
        return
    for first in range(0, len(blocks), ROUND_BLOCKS * threads):
        yield from _one_round(work, blocks[first : first + ROUND_BLOCKS * threads], threads)


def _one_round(work: Callable[[int, int], Part], blocks: list[tuple[int, int]], threads: int) -> Iterator[Part]:
    waiting = iter(range(len(blocks)))
    done: dict[int, Part] = {}
    failed: dict[int, BaseException] = {}

    def take() -> bool:
        """Work on the next block, if there is one left and none has failed."""
        for i in waiting:
            try:
                done[i] = work(*blocks[i])
            except BaseException as error:
                failed[i] = error
                _drain(waiting)
            return True
        return False

    def help_out() -> None:
        while take():
            pass

    helpers = [Helper(help_out) for _ in range(min(threads, len(blocks)) - 1)]
    delivered = 0
    try:
        crew = _crew()
        for helper in helpers:
            crew.send(helper)
        while take():
            while delivered in done:
                yield done.pop(delivered)
                delivered += 1
        for helper in helpers:
            helper.finish()
            helper.check()
        while delivered in done:
            yield done.pop(delivered)
            delivered += 1
        if failed:  # every block before the first failure has been delivered, as if they had come one by one
            raise failed[min(failed)]
    finally:
        _drain(waiting)
        for helper in helpers:  # what has begun may still write: wait for it before an error goes out
            helper.finish()


def _drain(waiting: Iterator[int]) -> None:
    """Leave nothing for anyone to take."""
    for _ in waiting:
        pass


def every(work: Callable[[int, int], None], blocks: list[tuple[int, int]]) -> None:
    """``work`` on every block, for functions that write their own rows of a shared result."""
    with one_blas_thread(len(blocks) > 1):
        for _ in in_order(work, blocks):
            pass


SMALL_MATRIX = 512  # columns below which BLAS threads gain nothing, and keep spinning on cores that the next call needs

_shared: list[_Library] = []  # BLAS libraries whose number of threads is one for the process
_local: list[_Library] = []  # those in which every thread has a number of its own
_looked = False  # for them


class _Library(NamedTuple):
    get: Callable[[], int]
    set: Callable[[int], object]


class _Inside:
    """Somebody who needs BLAS on one thread; forgotten with the call, even one whose end an interrupt cut short."""


class _Lowering:
    """Libraries on one thread while anybody is inside, and as before when the last one leaves."""

    def __init__(self) -> None:
        self.inside: WeakSet[_Inside] = WeakSet()
        self._lowered: list[tuple[_Library, int]] = []  # those that had more than one thread, and how many

    def enter(self, me: _Inside, libraries: list[_Library]) -> None:
        if not self.inside:
            for library in libraries:
                n = library.get() or 1
                if n > 1:  # what an interrupt has left lowered is in the list already
                    self._lowered.append((library, n))
                    library.set(1)
        self.inside.add(me)

    def leave(self, me: _Inside) -> None:
        self.inside.discard(me)
        if not self.inside:
            for library, n in self._lowered:
                library.set(n)
            self._lowered.clear()


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.lowering = _Lowering()


_process, _thread = _Lowering(), _OfThread()


@contextmanager
def one_blas_thread(needed: bool = True) -> Iterator[None]:
    """While inside, BLAS runs on the calling thread alone: the blocks occupy the cores, or one is all there may be."""
    if not needed:
        yield
        return
    me = _Inside()
    try:
        with _lock:
            _look_for_blas()
            _process.enter(me, _shared)
        if _local:
            _thread.lowering.enter(me, _local)
        yield
    finally:
        with _lock:
            _process.leave(me)
        if _local:
            _thread.lowering.leave(me)


def _look_for_blas() -> None:
    global _looked
    if _looked:
        return
    import scipy.linalg.blas  # noqa: F401  (the controller knows what is loaded when it is made)
    from threadpoolctl import ThreadpoolController

    for lib in ThreadpoolController().lib_controllers:
        if lib.user_api == "blas":
            own = lib.internal_api == "mkl" or getattr(lib, "threading_layer", None) == "openmp"
            (_local if own else _shared).append(_library(lib))
    _looked = True


def _library(lib: Any) -> _Library:
    """How to ask and set its number of threads.

    For OpenBLAS with threads of its own by its own functions: those of threadpoolctl obey one thread, the first that
    set a number, and silently do nothing in any other.
    """
    if lib.internal_api == "openblas" and lib.threading_layer != "openmp":
        for prefix, suffix in product(("", "scipy_"), ("", "64_", "_64")):
            get, put = (f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set"))
            if hasattr(lib.dynlib, get) and hasattr(lib.dynlib, put):
                return _Library(getattr(lib.dynlib, get), getattr(lib.dynlib, put))
    return _Library(lib.get_num_threads, lib.set_num_threads)
