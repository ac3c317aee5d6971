"""The command on a terminal and in a shell: progress, tables with lines, completion, the installed script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from suffit.cli.main import app

pty = pytest.importorskip("pty")
COMMAND = [sys.executable, "-m", "suffit"]
SCRIPT = Path(sys.executable).with_name("suffit")


def on_a_terminal(*arguments: str, stream: str) -> tuple[str, str]:
    """What a command writes to a stream that is a terminal, and to the other, which is a pipe."""
    reader, terminal = pty.openpty()
    other = {"stdout": "stderr", "stderr": "stdout"}[stream]
    process = subprocess.Popen([*COMMAND, *arguments], **{stream: terminal, other: subprocess.PIPE})
    os.close(terminal)
    shown = b""
    while True:
        try:
            more = os.read(reader, 1 << 16)
        except OSError:  # whoever wrote to it has ended
            break
        if not more:
            break
        shown += more
    os.close(reader)
    piped = b"".join(part for part in process.communicate() if part)
    assert process.returncode == 0, shown + piped
    return shown.decode(), piped.decode()


def test_a_bar_on_a_terminal_says_how_many_rows_in_a_second(made: Path, tmp_path: Path):
    """It is written over and cleared; what comes after it, on standard output, has nothing of it."""
    out = str(tmp_path / "model.suffit")
    shown, piped = on_a_terminal("fit", str(made / "train.csv"), "-t", "income", "-o", out, stream="stderr")
    assert "fit: 300 rows, " in shown
    assert " rows/s" in shown
    assert shown.count("\x1b[2K") > 0  # the line is cleared
    assert "\x1b" not in piped
    assert piped.startswith("300 rows in ")


def test_no_bar_in_a_pipe_and_none_where_it_is_to_be_quiet(made: Path, tmp_path: Path):
    fit = ["fit", str(made / "train.csv"), "-t", "income", "-o", str(tmp_path / "model.suffit")]
    piped = subprocess.run([*COMMAND, *fit], capture_output=True, text=True, check=True)
    assert piped.stderr == ""
    shown, _ = on_a_terminal(*fit, "--quiet", stream="stderr")
    assert shown == ""


def test_tables_have_lines_on_a_terminal_alone(made: Path):
    shown, _ = on_a_terminal("show", str(made / "income.suffit"), stream="stdout")
    assert "╭" in shown
    piped = subprocess.run([*COMMAND, "show", str(made / "income.suffit")], capture_output=True, text=True, check=True)
    assert not {"╭", "\x1b"} & set(piped.stdout)
    assert " high " in piped.stdout


def test_a_table_too_wide_for_a_terminal_comes_in_parts(made: Path, monkeypatch: pytest.MonkeyPatch):
    """No word is cut in two; each part begins with the column of names."""
    monkeypatch.setenv("COLUMNS", "80")
    models = ["-m", "LDA", "-m", "GenerativeClassifier"]
    compare = ["compare", str(made / "train.csv"), "-t", "income", "--quick", *models]
    shown, _ = on_a_terminal(*compare, stream="stdout")
    table = [line for line in shown.splitlines() if "│" in line]
    assert max(len(line) for line in table if "\x1b" not in line) <= 80
    assert sum("│ GenerativeClassifier │" in line for line in table) == 2
    for head in ("accuracy", "log-loss", "calibration error", "predict"):
        assert sum(head in line for line in table) == 1, shown
    monkeypatch.setenv("COLUMNS", "150")
    shown, _ = on_a_terminal(*compare, stream="stdout")
    assert sum("│ GenerativeClassifier │" in line for line in shown.splitlines()) == 1


COMPLETE = """
cd "$2" && eval "$("$1" --show-completion)"
complete_word() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _suffit_completion "$SUFFIT" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  echo "${COMPREPLY[@]}"
}
SUFFIT=$1
complete -p suffit
complete_word suffit ''
complete_word suffit pre
complete_word suffit fit --tar
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.skipif(not SCRIPT.exists(), reason="suffit is not installed as a command here: pip install -e .")
def test_bash_completes_verbs_and_options(tmp_path: Path):
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", SCRIPT, tmp_path], capture_output=True, text=True, check=True
    )
    registered, verbs, one, option = done.stdout.splitlines()
    assert registered.endswith("-F _suffit_completion suffit")
    assert set(verbs.split()) == set(get_command(app).commands)
    assert one == "predict"
    assert option == "--target"


@pytest.mark.skipif(not SCRIPT.exists(), reason="suffit is not installed as a command here: pip install -e .")
def test_the_installed_script_does_what_the_module_does(made: Path, tmp_path: Path):
    """From another folder, and with an exit code that is its own."""
    one, other = (
        subprocess.run(
            [*c, "show", str(made / "income.suffit"), "--json"], capture_output=True, text=True, cwd=tmp_path
        )
        for c in ([SCRIPT], COMMAND)
    )
    assert (one.returncode, one.stdout) == (0, other.stdout)
    wrong = subprocess.run([SCRIPT, "show", "none.suffit"], capture_output=True, text=True, cwd=tmp_path)
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("suffit: error: none.suffit: ")
