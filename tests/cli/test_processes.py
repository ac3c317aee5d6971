"""The command as a process: interrupted, in a pipe, without Arrow, and what it imports."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "suffit"]
HEAD = b"age,hours,city,member,income\n"


def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, **options)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_leaves_no_half_written_file(made: Path, tmp_path: Path, how: signal.Signals):
    """The input never ends, so that it is always in the middle of its work."""
    (tmp_path / "out.csv").write_text("as it was")
    out = str(tmp_path / "out.csv")
    command = [*COMMAND, "predict", str(made / "income.suffit"), "-", "-o", out, "--format", "csv"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(HEAD + b"30,40.5,Bern,true,low\n" * 1_000_000)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".out.csv*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(how)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.decode().strip().splitlines()[-1] == "suffit: interrupted; nothing was written"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "as it was"


def test_whoever_stops_reading_ends_it_quietly(made: Path):
    line = f"{sys.executable} -m suffit predict {made / 'income.suffit'} - --format csv | head -1"
    data = HEAD + b"30,40.5,Bern,true,low\n" * 100_000
    done = subprocess.run(["bash", "-c", line], input=data, capture_output=True, check=True)
    assert done.stdout.startswith(b"age,")
    assert done.stderr == b""


def test_no_progress_in_a_pipe_and_none_of_pandas(made: Path, tmp_path: Path):
    """Neither pandas nor scipy.stats, which take longer to import than all the rest."""
    script = (
        "import sys; from suffit.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'pandas', 'scipy.stats', 'polars', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, "predict", str(made / "income.suffit"), str(made / "new.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
    assert done.stdout.count("\n") == 22


def test_without_arrow_one_line_says_what_to_install(made: Path, tmp_path: Path):
    (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')")
    done = run("fit", str(made / "train.csv"), "-t", "income", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "suffit: error: pyarrow is needed to read tables in batches and files: pip install 'suffit[arrow]'"
    )


def test_the_demo_compares_explains_decides_merges_and_leaves_files(tmp_path: Path):
    done = run("demo", "-o", str(tmp_path / "out"), check=True)
    text = " ".join(done.stdout.split())
    for word in (
        "344 penguins",
        "19 cells are empty",
        "logistic regression",
        "random forest",
        "log-loss",
        "calibration",
    ):
        assert word in text
    assert "rather than" in text
    assert "an expert looks at" in text
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"penguins.csv", "penguins.suffit", "penguins.svg"}
    row = r"(?:GenerativeClassifier|logistic regression\*|random forest\*) +([\d.]+) "
    losses = [float(loss) for loss in re.findall(row, done.stdout)]
    assert losses[0] == min(losses)
    assert len(losses) == 3
    for gap in [word for word in text.split() if word.startswith(tuple("123456789")) and "e-" in word]:
        assert float(gap.rstrip(".")) < 1e-9
    assert (tmp_path / "out" / "penguins.svg").read_text().count("<circle") > 300
