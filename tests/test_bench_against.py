"""``scripts/bench --against``: what takes longer than before is named, after more turns than one."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Side:
    """Tasks with the seconds of their turns, the last of which stay."""

    def __init__(self, tasks: dict[str, list[float]]) -> None:
        self.left = iter(tasks.items())
        self.turns = 0

    def next_task(self) -> str | None:
        name, self.seconds = next(self.left, (None, []))
        return name

    def turn(self) -> float:
        self.turns += 1
        return self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]


@pytest.fixture
def against(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    module = importlib.import_module("against")
    monkeypatch.setattr(module, "checkout", lambda commit: contextlib.nullcontext(Path("there")))
    yield module
    sys.modules.pop("against", None)


def sides(monkeypatch: pytest.MonkeyPatch, module, before: dict, now: dict) -> list[Side]:
    made = [Side(before), Side(now)]
    coming = iter(made)
    monkeypatch.setattr(module, "Side", lambda source, arguments: next(coming))
    return made


def test_a_task_that_is_slower_is_named(against, monkeypatch, capsys):
    made = sides(monkeypatch, against, {"fit": [1.0], "predict": [1.0]}, {"fit": [0.5], "predict": [1.25]})
    assert against.main("abc", []) == 1
    out = capsys.readouterr().out
    assert "2.00  fit" in out
    assert "0.80  predict" in out
    assert out.endswith("below 0.9: predict\n")
    assert made[1].turns == 4 * against.TURNS  # the slower one again and again


def test_a_task_that_was_only_held_up_is_not(against, monkeypatch, capsys):
    sides(monkeypatch, against, {"fit": [1.0]}, {"fit": [9.0] * against.TURNS + [1.0]})
    assert against.main("abc", []) == 0
    assert capsys.readouterr().out.endswith("below 0.9: none\n")


def test_other_tasks_at_the_commit_are_said(against, monkeypatch):
    sides(monkeypatch, against, {"fit": [1.0]}, {"predict": [1.0]})
    with pytest.raises(SystemExit, match="the tasks differ: 'fit' at abc, 'predict' now"):
        against.main("abc", [])
