"""The page in a real browser, where one is installed: nothing on the console, nothing fetched, nothing run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import suffit
from report_pages import ATTACK, Page, hostile, mixed

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--v=0",
)  # fmt: skip
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def in_browser(path: Path, folder: Path) -> tuple[str, list[str]]:
    """The page after it was opened, and what the browser has written to its console."""
    command = [str(CHROMIUM), *QUIET, f"--user-data-dir={folder}", "--dump-dom", path.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_the_console_is_read(tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text("<p>x</p><script>console.error('a fault')</script>")
    assert any("a fault" in line for line in in_browser(path, tmp_path / "user")[1])


def test_the_page_opens_without_a_word_on_the_console(tmp_path: Path):
    X, y = mixed(150)
    path = tmp_path / "report.html"
    suffit.report(suffit.GenerativeClassifier().fit(X, y), X, y, path, compare=False)
    shown, console = in_browser(path, tmp_path / "user")
    assert console == []
    assert "How good" in shown


def test_a_script_in_a_column_is_text_even_where_scripts_may_run(tmp_path: Path):
    table, y = hostile()
    path = tmp_path / "report.html"
    report = suffit.report(suffit.GenerativeClassifier().fit(table, y), table, pd.Series(y, name=ATTACK), compare=False)
    open_to_all = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", report.html)
    assert open_to_all != report.html
    ran = "<script>document.body.setAttribute('data-scripts', document.scripts.length)</script></body>"
    path.write_text(open_to_all.replace("</body>", ran), encoding="utf-8")
    shown, console = in_browser(path, tmp_path / "user")
    assert console == []
    assert 'data-scripts="1"' in shown  # the one that counts them
    assert ATTACK in Page(report.html).text
    assert not Page(report.html).named("img")
