"""``scripts/bench TASK --report``: one task measured again, in a copy of the results."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AGAIN, NEW = "GaussianNB one row, predict_proba", "GaussianNB one row, made up"

TASKS = f"""
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sklearn.naive_bayes as peer_nb

import suffit


@dataclass(frozen=True)
class Task:
    name: str
    ours: Any
    peer: Any
    floor: float = 1.0
    limit: str = ""
    work: float = 0.0
    same: Any = None
    tolerance: float = 1e-8
    repeats: float = 1.0
    room: float | None = None
    spins: bool = False


gaussian = categories = words = texts = cache(lambda: None)


def rows(scale):
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    ours, peer = suffit.GaussianNB().fit(X, y), peer_nb.GaussianNB().fit(X, y)
    same = lambda: np.abs(ours.predict_proba(X) - peer.predict_proba(X)).max()
    for name in ({AGAIN!r}, {NEW!r}):
        yield Task(name, lambda: ours.predict_proba(X[:1]), lambda: peer.predict_proba(X[:1]), same=same)
    yield Task("never measured", lambda: 1 / 0, lambda: 1 / 0)


GROUPS = (rows,)
"""


def scratch_copy(folder: Path) -> Path:
    """What ``scripts/bench`` needs, with tiny tasks, in this folder."""
    bench = [
        f"bench/{name}" for name in ("run.py", "report.py", "machine.py", "results/full.json", "results/growth.json")
    ]
    for name in (*bench, "scripts/bench", "README.md", "docs/benchmarks.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / "docs/figures").mkdir()
    (folder / "bench/tasks.py").write_text(TASKS, encoding="utf-8")
    for name, line in (("scripts/setup", "true"), (".venv/bin/python", f'exec "{sys.executable}" "$@"')):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    return folder


def by_task(result: dict) -> dict:
    return {row["task"]: row for row in result["rows"]}


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines of each that the other does not have."""
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def test_a_task_that_is_named_replaces_its_own_results_alone(tmp_path: Path):
    folder = scratch_copy(tmp_path)
    stored = json.loads((folder / "bench/results/full.json").read_text())
    for task in (AGAIN, NEW):
        done = subprocess.run(
            [folder / "scripts/bench", task, "--report"], capture_output=True, text=True, timeout=300,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((folder / "bench/results/full.json").read_text())
    assert [row["task"] for row in found["rows"]] == [*(row["task"] for row in stored["rows"]), NEW]
    assert {k: v for k, v in found.items() if k != "rows"} == {k: v for k, v in stored.items() if k != "rows"}
    before, after = by_task(stored), by_task(found)
    assert [name for name in before if after[name] != before[name]] == [AGAIN]
    assert after[AGAIN].keys() == after[NEW].keys() == before[AGAIN].keys()
    for page, rows in (("README.md", [AGAIN]), ("docs/benchmarks.md", [AGAIN, NEW])):
        old, new = changed_lines((ROOT / page).read_text(encoding="utf-8"), (folder / page).read_text(encoding="utf-8"))
        assert [line.split("|")[1].strip() for line in new] == rows, page
        assert [line.split("|")[1].strip() for line in old] == [AGAIN], page
    assert (folder / "docs/figures/benchmarks.png").exists()
    assert not (folder / "bench/results/quick.json").exists()
