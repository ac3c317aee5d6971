"""Drills: bits flip, learners are killed, the disk is full.  scripts/drill-mail does the first two at full count."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mail_drills import flips, kills, made, message
from suffit.mail.errors import StoreError
from suffit.mail.store import Store


def test_no_flipped_bit_changes_what_a_verdict_reads_without_being_noticed(tmp_path: Path):
    found = flips(tmp_path, 400, seed=1)
    assert found["harmful"] == 0
    assert found["refused"] > 50


def test_a_learner_that_is_killed_loses_nothing(tmp_path: Path):
    learned, _ = kills(tmp_path, 20, seed=1)
    assert learned >= 20


FILL = """
import resource, sys
from mail_drills import message
from suffit.mail.errors import StoreError
from suffit.mail.store import Store
with Store.open(sys.argv[1], write=True) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    try:
        for i in range(1000, 2000):
            store.learn(message(i), "ham")
            print(i, flush=True)
    except StoreError as error:
        print(error)
"""


def test_a_full_disk_is_an_error_and_everything_before_it_is_there(tmp_path: Path):
    """The limit on the size of a file stands in for the end of the disk."""
    path = tmp_path / "store.sqlite"
    made(path, n=100)
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n" + FILL]
    done = subprocess.run([*command, str(path), "600000"], capture_output=True, text=True, preexec_fn=_no_signal)
    *said, last = done.stdout.splitlines()
    assert "cannot be used" in last, done.stderr
    with Store.open(str(path), write=True) as store:
        store.check()
        assert sum(store.sums().messages) == 100 + len(said)
        assert store.learn(message(5000), "ham")  # there is room again
        store.check()


def _no_signal() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def small_disk(folder: Path) -> bool:
    folder.mkdir()
    return (
        os.getuid() == 0
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)], capture_output=True
        ).returncode
    )


def fill(store: Store) -> None:
    for i in range(10_000):
        store.learn(message(i, words=100, vocabulary=10**9), "ham")


def test_a_full_file_system(tmp_path: Path):
    folder = tmp_path / "small"
    if not small_disk(folder):
        pytest.skip("no small file system can be mounted here")
    try:
        path = str(folder / "store.sqlite")
        with Store.open(path, write=True) as store:
            with pytest.raises(StoreError, match=r"full|cannot be used"):
                fill(store)
            learned = store.sums().messages[0]
            assert learned > 0
        with Store.open(path) as store:
            assert store.sums().messages == (learned, 0)
            store.check()
    finally:
        subprocess.run(["umount", str(folder)], check=True)
