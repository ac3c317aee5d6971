"""The sessions of pages run as written, but for the seconds: the command line, README, the lesson on mail."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import suffit.cli
from pages import blocks
from suffit.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "command-line.md"


def plain(text: str) -> list[str]:
    """Without seconds and rates, numbers to five digits, spaces at the end of lines left out."""
    text = re.sub(r"[\d,]+ messages a second", "MESSAGES a second", text)
    text = re.sub(r"in [\d.]+ s( \([\d,]+ rows/s\))?", "in SECONDS", text)
    text = re.sub(r"\d+\.\d{4,}(e-\d+)?", lambda found: f"{float(found[0]):.5g}", text)
    lines = [line.rstrip() for line in text.splitlines()]
    return [line for line in lines if not re.match("suffit(:|) compil", line)]  # where nothing was compiled before


@pytest.mark.parametrize("page", [PAGE, ROOT / "README.md"], ids=["command-line.md", "README.md"])
def test_the_session_of_the_page_runs_as_written(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(Path(suffit.cli.__file__).with_name("penguins.csv"), tmp_path)
    found = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.S)
    blocks = "\n".join(block for block in found if "$ suffit" in block)
    if page != PAGE and not blocks:
        pytest.skip("README.md has no session of the command line")
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", blocks, flags=re.M)
    assert len(steps) >= (12 if page == PAGE else 3)
    for command, expected in steps:
        if command.startswith("suffit "):
            done = CliRunner().invoke(app, shlex.split(command)[1:])
            assert done.exit_code == 0, done.output
            found = done.stdout + done.stderr
        else:
            found = subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
        assert plain(found.strip()) == plain(expected.strip("\n")), command


def test_every_verb_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for command in app.registered_commands:
        assert f"`{command.callback.__name__}" in text


def test_the_lesson_on_mail_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Python and the shell in turns, in one folder; every command in a process of its own."""
    program = tmp_path / "bin" / "suffit"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m suffit "$@"\n')
    program.chmod(0o755)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SUFFIT_MAIL", "")  # set by the session; given back afterwards
    names: dict[str, object] = {}
    ran = 0
    for block in blocks("docs/tutorial/6-mail.md"):
        if block.language == "pycon":
            test = doctest.DocTestParser().get_doctest(block.code, names, "6-mail.md", None, None)
            assert doctest.DocTestRunner(verbose=False).run(test, clear_globs=False).failed == 0
            names.update(test.globs)
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", block.code, flags=re.M):
            if found := re.fullmatch(r"export (\w+)=(\S+)", command):
                monkeypatch.setenv(found[1], found[2])
                continue
            done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            assert plain(done.stdout.strip()) == plain(expected.strip()), command
            ran += 1
    assert ran >= 10
