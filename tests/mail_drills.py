"""What can happen to a store, done to it: for tests/mail/test_drills.py and scripts/drill-mail."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from suffit.mail.errors import StoreError
from suffit.mail.store import Store


def message(i: int, words: int = 60, vocabulary: int = 3_000) -> SimpleNamespace:
    """Message i, always the same."""
    rng = random.Random(i)
    tokens = {f"w{int(rng.random() ** 3 * vocabulary)}" for _ in range(words)}
    return SimpleNamespace(digest=f"{i:032x}", tokens=tuple(sorted(tokens)))


def made(path: Path, n: int = 300) -> None:
    """A store that has learned messages 0 … n − 1."""
    with Store.open(str(path), write=True) as store:
        for _ in store.learn_all((message(i), "spam" if i % 3 else "ham") for i in range(n)):
            pass


def flips(folder: Path, n: int, seed: int = 0) -> dict[str, int]:
    """Flip one bit of the file, n times: what a verdict reads is refused, or is the same as before.

    The verdict is one that reads every bucket, so that no flip in them can hide.
    """
    whole = folder / "whole.sqlite"
    made(whole)
    probe = [f"w{i}" for i in range(3_000)] + [f"never seen {i}" for i in range(300)]
    with Store.open(str(whole)) as store:
        right = store.evidence(probe)
    data, rng, damaged = bytearray(whole.read_bytes()), random.Random(seed), folder / "damaged.sqlite"
    found = {"refused": 0, "harmless": 0, "harmful": 0}
    for _ in range(n):
        at, bit = rng.randrange(len(data)), 1 << rng.randrange(8)
        data[at] ^= bit
        damaged.write_bytes(data)
        data[at] ^= bit
        try:
            with Store.open(str(damaged)) as store:
                found["harmless" if store.evidence(probe) == right else "harmful"] += 1
        except StoreError:
            found["refused"] += 1
        for beside in (f"{damaged}-wal", f"{damaged}-shm"):
            if os.path.exists(beside):
                os.unlink(beside)
    return found


LEARNER = """
import sys
sys.path[:0] = {path!r}
from mail_drills import message
from suffit.mail.store import Store
with Store.open(sys.argv[1], write=True) as store:
    for i in range(int(sys.argv[2]), 10**6):
        store.learn(message(i), "ham")
        print(i, flush=True)
"""


def kills(folder: Path, n: int, seed: int = 0) -> tuple[int, int]:
    """Kill a learner with SIGKILL, n times: whatever it said it had learned is there, and everything is consistent.

    How many messages were learned in all, and how many of them just when it was killed.
    """
    path, rng, next_one, unsaid = folder / "killed.sqlite", random.Random(seed), 0, 0
    script = LEARNER.format(path=sys.path)
    for _ in range(n):
        command = [sys.executable, "-c", script, str(path), str(next_one)]
        learner = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert learner.stdout is not None
        said = [int(learner.stdout.readline())]  # it is at work
        time.sleep(rng.random() * 0.05)
        learner.send_signal(signal.SIGKILL)
        said += [int(line) for line in learner.stdout if line.endswith("\n")]
        learner.wait()
        with Store.open(str(path), write=True) as store:
            store.check()
            n_learned = store.sums().messages[0]
        last = said[-1]
        assert n_learned in (last + 1, last + 2), (n_learned, last)  # at most one it had no time to speak of
        unsaid += n_learned - last - 1
        next_one = n_learned
    return next_one, unsaid
