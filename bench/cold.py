"""The first fit and predict on an empty kernel cache, in a process of its own: ``scripts/bench cold [word …]``.

Processor time, so that a busy machine does not matter much; every kernel with what its own compilation took, without
that of the kernels it calls.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from typing import Any

TARGETS = {"GaussianNB": 2.0, "LDA": 2.5, "GenerativeClassifier": 8.0}  # seconds of compiling on a machine of its own
SHOWN = 0.05  # seconds from which on a kernel has a line of its own


def task(name: str) -> Any:
    """What is timed: a fit and predictions, on rows that are made before."""
    import numpy as np
    import pandas as pd

    import suffit

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.normal(size=(300, 5)) + y[:, None]
    if name == "GenerativeClassifier":
        table = pd.DataFrame(X, columns=list("abcde"))
        table["count"], table["time"] = rng.poisson(3, 300), rng.gamma(2.0, 1.0, 300)
        table["word"], table["flag"] = rng.choice(["red", "green", "blue"], 300), rng.integers(0, 2, 300) > 0
        table.loc[::7, "b"] = np.nan
        rows, labels = table, np.array(["x", "y", "z"])[y]
    else:
        rows, labels = X, y
    model = getattr(suffit, name)()
    return lambda: (model.fit(rows, labels), model.predict(rows), model.predict_proba(rows))


class Watch:
    """Adds up the thread's processor time of every compilation, less that of the compilations inside."""

    def __init__(self) -> None:
        from numba.core import event

        outer = self
        self.own: Counter[str] = Counter()
        self.times: Counter[str] = Counter()
        self.open: list[list[Any]] = []

        class Listener(event.Listener):  # type: ignore[misc]
            def on_start(self, e: Any) -> None:
                outer.open.append([time.thread_time(), 0.0])

            def on_end(self, e: Any) -> None:
                start, inside = outer.open.pop()
                took = time.thread_time() - start
                if outer.open:
                    outer.open[-1][1] += took
                function = e.data["dispatcher"].py_func
                ours = function.__module__.startswith("suffit.")
                key = f"{function.__module__.removeprefix('suffit.kernels.')}.{function.__name__}" if ours else "numba"
                outer.own[key] += took - inside
                outer.times[key] += 1
                if os.environ.get("SUFFIT_BENCH_TYPES"):  # for whoever looks for specialisations
                    print(f"{took - inside:6.2f} {key} {function.__name__} {e.data['args']}", file=sys.stderr)

        event.register("numba:compile", Listener())


def worker(name: str) -> None:
    """One task in this process; one JSON object on the last line."""
    watch = Watch()
    call = task(name)
    before = time.process_time()
    call()
    first = time.process_time() - before
    before = time.process_time()
    call()
    print(json.dumps({
        "first": first, "again": time.process_time() - before, "own": watch.own, "times": watch.times,
    }))  # fmt: skip


def spawn(name: str, cache: str) -> dict[str, Any]:
    """The task in a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, name], check=True, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def main(words: list[str]) -> None:
    """A table of kernels for each task, and one line on all of them."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=120)
    everything = Table(title="first call on an empty kernel cache, processor seconds", title_justify="left")
    for column in ("", "first call", "compiling", "target", "kernels", "specialisations", "from the cache", "again"):
        everything.add_column(column, justify="right" if column else "left")
    for name, target in TARGETS.items():
        if words and not any(word.lower() in name.lower() for word in words):
            continue
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = spawn(name, cache), spawn(name, cache)
        own, times = cold["own"], cold["times"]
        kernels = Table(title=name, title_justify="left")
        for column in ("kernel", "compiled", "seconds"):
            kernels.add_column(column, justify="left" if column == "kernel" else "right")
        for key, took in sorted(own.items(), key=lambda kv: -kv[1]):
            if took >= SHOWN:
                kernels.add_row(key, str(times[key]), f"{took:.2f}")
        console.print(kernels)
        ours = [n for key, n in times.items() if key != "numba"]
        everything.add_row(
            name, f"{cold['first']:.1f}", f"{sum(own.values()):.1f}", f"{target:g}", str(len(ours)), str(sum(ours)),
            f"{warm['first']:.1f}", f"{warm['again']:.2f}",
        )  # fmt: skip
    console.print(everything)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    worker(parser.parse_args().name)
