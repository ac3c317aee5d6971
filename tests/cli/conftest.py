"""A folder with files of rows and models, and a way to run commands in it."""

from __future__ import annotations

import csv
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from suffit.cli.main import app


def rows(n: int, seed: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        high = rng.random() < 0.35
        made.append(
            {
                "age": int(rng.normal(48 if high else 36, 9)) if rng.random() > 0.05 else "",
                "hours": round(rng.normal(46 if high else 38, 5), 1),
                "city": rng.choice(["Bern", "Chur", "Basel, BS"], p=[0.6, 0.2, 0.2] if high else [0.2, 0.5, 0.3]),
                "member": "true" if rng.random() < (0.7 if high else 0.3) else "false",
                "income": "high" if high else "low",
            }
        )
    return made


def write(path: Path, made: list[dict[str, object]], drop: str = "") -> None:
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, [name for name in made[0] if name != drop], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(made)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    train, more = rows(300, 1), rows(80, 3)
    write(folder / "train.csv", train)
    write(folder / "test.csv", rows(120, 2))
    write(folder / "new.csv", rows(20, 4), drop="income")
    write(folder / "more.csv", more)
    write(folder / "withdrawn.csv", train[:3])
    (folder / "new.csv").write_text((folder / "new.csv").read_text() + ",,,\n")
    runner = CliRunner()
    for command in (
        "fit train.csv -t income -o income.suffit",
        "fit more.csv -t income --like income.suffit -o more.suffit",
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            done = runner.invoke(app, shlex.split(command))
            assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def suffit(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """``suffit("verb arguments")``, run in a copy of the folder."""
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    runner = CliRunner()

    def run(command: str, code: int = 0, input: bytes | None = None) -> Result:
        done = runner.invoke(app, shlex.split(command), input=input)
        assert done.exit_code == code, f"{command}: {done.exit_code}\n{done.output}"
        return done

    return run
