"""What this machine can do at best: reading memory, and products of matrices."""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits


@njit(nogil=True, fastmath=True)
def _sum(x):
    total = 0.0
    for i in range(x.shape[0]):  # by index: a loop over the values is not vectorised, and waits for its additions
        total += x[i]
    return total


def seconds(call: Callable[[], object], repeats: int = 5) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def extra_memory(call: Callable[[], object]) -> float:
    """Bytes that a call takes at its peak beyond what the process holds before it: the least of three."""
    found = []
    for _ in range(3):
        ctypes.CDLL(None).malloc_trim(0)  # what earlier calls have left is not to be taken for free
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = _held("VmRSS")
        call()
        found.append(max(_held("VmHWM") - before, 0.0))
    return min(found)


def _held(name: str) -> float:
    status = Path("/proc/self/status").read_text()
    return 1024.0 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name))


def limits() -> dict[str, float]:
    """GB/s read by one and by two threads; Gflop/s of dgemm and (half the flops counted) dsyrk on two threads."""
    x = np.random.default_rng(0).standard_normal(30_000_000)
    parts = np.array_split(x, 16)
    Z = x[: 4096 * 64].reshape(4096, 64)
    Y = Z.copy()
    with ThreadPoolExecutor(2) as pool, threadpool_limits(1, user_api="blas"):
        one = x.nbytes / seconds(lambda: _sum(x)) / 1e9
        two = x.nbytes / seconds(lambda: list(pool.map(_sum, parts))) / 1e9
        gemm = seconds(lambda: list(pool.map(lambda _: [Z.T @ Y for _ in range(20)], range(2))))
        syrk = seconds(lambda: list(pool.map(lambda _: [Z.T @ Z for _ in range(20)], range(2))))
    work = 40 * 4096 * 64 * 64
    return {"read1": one, "read2": two, "dgemm": 2 * work / gemm / 1e9, "dsyrk": work / syrk / 1e9}


def name() -> str:
    """Cores and processor."""
    model = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as info:
            model = next((line.split(":")[1].strip() for line in info if line.startswith("model name")), model)
    return f"{len(os.sched_getaffinity(0))} cores, {model}"
