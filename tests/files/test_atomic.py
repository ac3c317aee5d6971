"""A file is there whole or not at all, whatever happens while it is written."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import suffit
from cases import two
from suffit.files import atomic
from suffit.files.atomic import write_whole

X, Y = two(40)
OLD, NEW = b"old " * 1000, b"new " * 5000


def test_a_file_is_replaced_as_a_whole(tmp_path: Path):
    path = tmp_path / "model.suffit"
    write_whole(path, OLD)
    assert path.read_bytes() == OLD
    write_whole(str(path), NEW)
    assert path.read_bytes() == NEW
    assert [p.name for p in tmp_path.iterdir()] == ["model.suffit"]


def test_permissions_are_those_of_any_new_file_or_of_the_one_replaced(tmp_path: Path):
    path, plain = tmp_path / "model.suffit", tmp_path / "plain"
    plain.write_bytes(OLD)
    write_whole(path, OLD)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    write_whole(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_symbolic_link_stays_one(tmp_path: Path):
    (tmp_path / "store").mkdir()
    target, link = tmp_path / "store" / "model-3.suffit", tmp_path / "current.suffit"
    target.write_bytes(OLD)
    link.symlink_to(Path("store") / "model-3.suffit")
    write_whole(link, NEW)
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert [p.name for p in (tmp_path / "store").iterdir()] == ["model-3.suffit"]


def test_the_longest_names_have_room_for_a_temporary_file(tmp_path: Path):
    write_whole(tmp_path / ("é" * 120 + ".suffit"), NEW)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_error_leaves_the_old_file_and_no_other(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "model.suffit"
    path.write_bytes(OLD)

    def fail(*args: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises(
        OSError, match="the model was not saved: Input/output error; the file that was there is unch"
    ) as e:
        write_whole(path, NEW)
    assert (e.value.errno, e.value.filename) == (5, str(path))
    assert path.read_bytes() == OLD
    assert [p.name for p in tmp_path.iterdir()] == ["model.suffit"]


def test_an_interrupt_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "model.suffit"
    path.write_bytes(OLD)

    def interrupt(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, NEW)
    assert path.read_bytes() == OLD
    assert [p.name for p in tmp_path.iterdir()] == ["model.suffit"]


def test_a_place_that_takes_no_file_is_named(tmp_path: Path):
    model = suffit.GaussianNB().fit(X, Y)
    with pytest.raises(FileNotFoundError, match="the model was not saved: No such file"):
        model.save(tmp_path / "none" / "model.suffit")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        model.save(tmp_path)
    with pytest.raises(OSError, match="no regular file"):
        model.save("/dev/null")
    assert not list(tmp_path.iterdir())


def run(script: str, *arguments: object, before: tuple[str, ...] = ()) -> list[str]:
    command = [*before, sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


READ_ONLY = """
import os, sys
from pathlib import Path
from suffit.files.atomic import write_whole
folder = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setuid(65534)  # whom permissions hold for
for name in ("model.suffit", "new.suffit"):
    try:
        write_whole(folder / name, b"new")
    except PermissionError as error:
        print(error.strerror, os.path.basename(error.filename))
"""


def test_a_read_only_folder_is_an_error_that_changes_nothing(tmp_path: Path):
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(parent.stat().st_mode | 0o755)
    folder = tmp_path / "fixed"
    folder.mkdir()
    (folder / "model.suffit").write_bytes(OLD)
    (folder / "model.suffit").chmod(0o666)
    folder.chmod(0o555)
    try:
        said = run(READ_ONLY, folder)
        assert said == [
            "the model was not saved: Permission denied; the file that was there is unchanged model.suffit",
            "the model was not saved: Permission denied new.suffit",
        ]
        assert (folder / "model.suffit").read_bytes() == OLD
        assert [p.name for p in folder.iterdir()] == ["model.suffit"]
    finally:
        folder.chmod(0o755)


UNLISTED = """
import os, sys
from pathlib import Path
from suffit.files.atomic import write_whole
if os.geteuid() == 0:
    os.setuid(65534)
write_whole(Path(sys.argv[1]) / "model.suffit", b"new")
print(open(Path(sys.argv[1]) / "model.suffit", "rb").read())
"""


def test_a_folder_that_cannot_be_listed_takes_a_file(tmp_path: Path):
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(parent.stat().st_mode | 0o755)
    folder = tmp_path / "drop"
    folder.mkdir()
    folder.chmod(0o333)
    try:
        assert run(UNLISTED, folder) == ["b'new'"]
    finally:
        folder.chmod(0o755)


FULL = """
import os, subprocess, sys
from suffit.files.atomic import write_whole
folder = sys.argv[1]
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=True)
path = os.path.join(folder, "model.suffit")
write_whole(path, b"old")
try:
    write_whole(path, bytes(1_000_000))
except OSError as error:
    print(error.errno, error.strerror)
print(open(path, "rb").read(), os.listdir(folder))
"""


def can_mount() -> bool:
    return (
        shutil.which("unshare") is not None
        and not subprocess.run(
            ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True
        ).returncode
    )


@pytest.mark.skipif(not can_mount(), reason="needs a small file system of its own")
def test_a_full_disk_is_an_error_that_changes_nothing(tmp_path: Path):
    said = run(FULL, tmp_path, before=("unshare", "-rm"))
    assert said == [
        "28 the model was not saved: No space left on device; the file that was there is unchanged",
        "b'old' ['model.suffit']",
    ]


LIMITED = """
import os, resource, signal, sys
from suffit.files.atomic import write_whole
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = os.path.join(sys.argv[1], "model.suffit")
write_whole(path, b"old")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_whole(path, bytes(1_000_000))
except OSError as error:
    print(error.strerror)
print(open(path, "rb").read(), os.listdir(sys.argv[1]))
"""


def test_a_file_that_may_not_be_so_large_is_an_error_that_changes_nothing(tmp_path: Path):
    said = run(LIMITED, tmp_path)
    assert said == [
        "the model was not saved: File too large; the file that was there is unchanged",
        "b'old' ['model.suffit']",
    ]


KILLED = """
import os, random, signal, sys, time
import numpy as np
import suffit
from suffit.files.store import to_bytes
path, times = sys.argv[1], int(sys.argv[2])
rng, rows = random.Random(0), np.random.default_rng(0).normal(size=(60, 30))
models = [suffit.LDA().fit(rows + c, np.arange(60) % (2 + c)) for c in range(2)]
whole = [to_bytes(model) for model in models]
models[0].save(path)
found = [0, 0]
for _ in range(times):
    ready, begun = os.pipe()
    child = os.fork()
    if not child:
        while True:
            for model in models:
                model.save(path)
                os.write(begun, b".")
    os.read(ready, 1)  # it has saved once
    time.sleep(rng.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready), os.close(begun)
    with open(path, "rb") as file:
        found[whole.index(file.read())] += 1  # one of the two, or an error
suffit.load(path)
print(*found, len(os.listdir(os.path.dirname(path))) - 1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_a_process_killed_while_it_saves_leaves_the_old_file_or_the_new_one(tmp_path: Path):
    one, other, begun = map(int, run(KILLED, tmp_path / "model.suffit", 100)[0].split())
    assert one + other == 100
    assert min(one, other) > 5  # killed here and there,
    assert begun > 5  # many times while a temporary file was there
