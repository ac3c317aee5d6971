"""``suffit update`` killed at random moments: what is in the model file afterwards, and what was said to be there.

A child process learns the same rows again and again with ``suffit update``, and says each time that it is done.  Every
other one is killed anywhere, every other one while its temporary file is there.  A test does it a few times, and

    python tests/killed_updates.py 200

as often as is asked.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import suffit
from suffit.cli.main import app

ROWS = 40  # of the table that is learned again and again


def update_for_ever(model: Path, rows: Path, done: int) -> None:
    """Never returns: one update after the other, and a byte for each."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        app(["update", str(model), str(rows), "--target", "class", "--quiet"], standalone_mode=False)
        os.write(done, b".")


def wait(how: str, folder: Path, rng: random.Random, typical: float) -> None:
    """Until the moment to kill: any, or while a temporary file is there."""
    if how == "anywhere":
        time.sleep(rng.random() * 2 * typical)
        return
    late = time.monotonic() + 100 * typical + 10
    while not any(name.endswith(".tmp") for name in os.listdir(folder)) and time.monotonic() < late:
        pass
    time.sleep(rng.random() ** 2 * 0.002)


def killed_updates(folder: Path, times: int, seed: int = 0) -> Counter[str]:
    """How often the file had what was said to be done, and how often one more; anything else is an error."""
    rng, values = random.Random(seed), np.random.default_rng(0)
    path, rows = folder / "model.suffit", folder / "rows.parquet"
    X = values.normal(size=(ROWS, 3))
    table = pa.table({**{f"x{j}": X[:, j] for j in range(3)}, "class": ["a", "b"] * (ROWS // 2)})
    parquet.write_table(table, rows)
    suffit.GaussianNB().fit(table.drop_columns(["class"]), table["class"].to_pylist()).save(path)
    found: Counter[str] = Counter()
    learned, typical = 1.0, 0.0
    for i in range(times):
        ready, done = os.pipe()
        child = os.fork()
        if not child:
            update_for_ever(path, rows, done)
        os.close(done)
        heard = len(os.read(ready, 1))  # it has updated once
        if not typical:
            begun = time.monotonic()
            heard += len(os.read(ready, 1))
            typical = time.monotonic() - begun
        wait("anywhere" if i % 2 else "saving", folder, rng, typical)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        said = learned + heard + len(os.read(ready, 1 << 16))
        os.close(ready)
        learned = suffit.load(path).class_count_.sum() / ROWS  # a model that is whole, or an error
        found[{0: "old", 1: "new"}[learned - said]] += 1
        left = [name for name in os.listdir(folder) if name.endswith(".tmp")]
        found["temporary file left"] += len(left)
        for name in left:
            (folder / name).unlink()
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for what, n in sorted(killed_updates(Path(place), int(sys.argv[1])).items()):
            print(f"{n:6,} {what}")
