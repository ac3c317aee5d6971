"""``scripts/bench --against COMMIT``: suffit beside itself at another commit, in turns; no task may be slower."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TURNS = 7
LEAST = 0.9  # a task that takes longer than 1 / LEAST of the time before is slower


class Side:
    """A process that times its tasks, one turn whenever it is asked."""

    def __init__(self, source: Path, arguments: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "bench" / "run.py"), "--side", *arguments],
            env={**os.environ, "PYTHONPATH": str(source)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def next_task(self) -> str | None:
        """Go on to the next task; its name, None where there is none."""
        self._say("next")
        return json.loads(self._hear())

    def turn(self) -> float:
        """Seconds of a call."""
        self._say("turn")
        return float(self._hear())

    def _say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def _hear(self) -> str:
        assert self.process.stdout is not None
        if line := self.process.stdout.readline():
            return line
        raise SystemExit(self.process.wait() or 1)


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """The repository as it is at a commit, in a folder for as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "there"
        subprocess.run(["git", "worktree", "add", "-q", "--detach", there, commit], cwd=ROOT, check=True)
        try:
            yield there
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", there], cwd=ROOT, check=True)


def fastest_ratio(pairs: list[tuple[float, float]]) -> float:
    """The least time of the first over the least of the second."""
    before, now = (min(times) for times in zip(*pairs, strict=True))
    return before / now


def main(commit: str, arguments: list[str]) -> int:
    """Print the ratio of every task, time before over time now; 1 where one is slower."""
    slower = []
    with checkout(commit) as there:
        before, now = Side(there / "src", arguments), Side(ROOT / "src", arguments)
        while (name := now.next_task()) is not None:
            if (other := before.next_task()) != name:
                raise SystemExit(f"the tasks differ: {other!r} at {commit}, {name!r} now")
            pairs: list[tuple[float, float]] = []
            for _ in range(3):  # more turns where it seems slower: something else may have run
                pairs += [(before.turn(), now.turn()) for _ in range(TURNS)]
                if (ratio := fastest_ratio(pairs)) >= LEAST:
                    break
            print(f"{ratio:6.2f}  {name}", flush=True)
            if ratio < LEAST:
                slower.append(name)
    print(f"time at {commit} over time now, the fastest of {TURNS} turns or more of each")
    print(f"below {LEAST}: {', '.join(slower) or 'none'}")
    return 1 if slower else 0
