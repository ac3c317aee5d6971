"""Where rows and models are written to: files as a whole, pipes and devices as they come, and nothing else."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_rows_go_into_a_pipe_which_stays_one(suffit):
    """As into a device: it is not replaced by a file."""
    os.mkfifo("pipe")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(Path("pipe").read_bytes()))
    reader.start()
    suffit("predict income.suffit new.csv -o pipe --to csv --quiet")
    reader.join(60)
    assert found[0].count(b"\n") == 22
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_model_needs_a_regular_file_which_is_said_before_the_work(suffit):
    os.mkfifo("pipe")
    for command in ("fit train.csv -t income -o pipe", "merge income.suffit more.suffit -o pipe"):
        assert "pipe: is no regular file" in suffit(command, code=1).stderr
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="whoever is root may write everything")
def test_a_read_only_file_stays_as_it_is(suffit):
    Path("out.csv").write_text("as it was")
    Path("out.csv").chmod(0o444)
    assert "out.csv: the file is read-only" in suffit("predict income.suffit new.csv -o out.csv", code=1).stderr
    assert Path("out.csv").read_text() == "as it was"


def test_a_disk_that_is_full_is_said_with_the_name_of_the_file(suffit, monkeypatch):
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    said = suffit("predict income.suffit new.csv -o out.csv", code=1).stderr
    assert "error: out.csv: the rows were not written: No space left on device" in said
    assert not list(Path().glob("*out.csv*"))
