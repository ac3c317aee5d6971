"""Kernels that are not compiled yet: where they are kept, that none is ever stale, and what is said meanwhile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import suffit

SOURCE = Path(suffit.__file__).parent
HELPER = """
from .runtime.compiled import helper

@helper
def answer(x):
    return x + {more}
"""
KERNEL = """
from .answers import answer
from .runtime.compiled import jit

@jit
def ask(x):
    return answer(x)
"""
ASK = "from suffit.kernels.questions import ask; print(ask(1))"


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A copy of the package with a kernel whose helper is in another file; nothing of it is compiled."""
    shutil.copytree(SOURCE, tmp_path / "suffit", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "suffit/kernels/answers.py").write_text(HELPER.format(more=1))
    (tmp_path / "suffit/kernels/questions.py").write_text(KERNEL)
    return tmp_path


def run(folder: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    command = [sys.executable, "-c", script]
    settings = {**given, "PYTHONPATH": str(folder), **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=settings, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def folders(place: Path) -> list[Path]:
    return sorted(f for f in place.rglob("suffit-*") if f.is_dir())


def test_a_changed_helper_is_never_run_as_it_was(scratch: Path):
    """numba looks at the caller's file alone, which does not change here."""
    assert run(scratch, ASK).stdout.strip() == "2"
    first = folders(scratch / "suffit")
    assert [f.parent.name for f in first] == ["__pycache__"]
    (scratch / "suffit/kernels/answers.py").write_text(HELPER.format(more=41))
    assert run(scratch, ASK).stdout.strip() == "42"
    assert len(folders(scratch / "suffit")) == 2
    (scratch / "suffit/kernels/answers.py").write_text(HELPER.format(more=1))
    again = run(scratch, ASK, NUMBA_DEBUG_CACHE="1").stdout
    assert again.splitlines()[-1] == "2"
    assert "data loaded" in again
    assert "data saved" not in again


def test_another_version_of_numba_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch):
    import numba

    from suffit.kernels.runtime import cache

    assert f"suffit-{cache.digest()}" == cache.FOLDER
    monkeypatch.setattr(numba, "__version__", "0.0.1")
    assert f"suffit-{cache.digest()}" != cache.FOLDER


def test_a_users_cache_folder_is_used_and_old_ones_of_ours_do_not_pile_up(scratch: Path):
    place = scratch / "cache"
    run(scratch, ASK, NUMBA_CACHE_DIR=str(place))
    (ours,) = folders(place)
    assert not folders(scratch / "suffit")
    for i in range(6):
        old = ours.parent / f"suffit-{i}"
        old.mkdir()
        os.utime(old, (i, i))
    (ours.parent / "other").mkdir()
    run(scratch, ASK, NUMBA_CACHE_DIR=str(place))
    assert len(folders(place)) == 7  # nothing new: nothing is removed
    shutil.rmtree(ours)
    assert run(scratch, ASK, NUMBA_CACHE_DIR=str(place)).stdout.strip() == "2"
    assert {f.name for f in folders(place)} == {ours.name, "suffit-3", "suffit-4", "suffit-5"}
    assert (ours.parent / "other").exists()


def test_a_complete_cache_is_used_where_it_cannot_be_written_to(scratch: Path):
    """As in an image that was warmed by another user; an incomplete one would be compiled anew by every process."""
    home = scratch / "home"
    home.mkdir()
    nowhere = f"""
import os, tempfile
def refuse(dir=None, **_):
    if str(dir).startswith({str(scratch / "suffit")!r}): raise PermissionError(13, "read-only")
    return open(os.devnull)
tempfile.TemporaryFile = refuse
"""
    environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "NUMBA_DEBUG_CACHE": "1"}
    done = run(scratch, nowhere + ASK, **environment)
    assert "data saved" in done.stdout
    assert len(folders(home)) == 1
    run(scratch, f"{ASK}\nfrom suffit.kernels.runtime.cache import mark_complete\nmark_complete()")
    done = run(scratch, nowhere + ASK, **environment)
    assert "data loaded" in done.stdout
    assert str(scratch / "suffit") in done.stdout
    assert "data saved" not in done.stdout


def test_a_first_call_that_compiles_for_long_says_so_once(scratch: Path):
    script = "import suffit.kernels.runtime.notice as notice; notice.LONG = -1.0\n"
    twice = f"{ASK}; print(ask(1.5))"
    lines = run(scratch, script + twice, NUMBA_CACHE_DIR=str(scratch / "a")).stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("suffit compiles for this machine")
    assert "later runs take what is compiled from the cache" in lines[0]
    silent = "import logging; logging.getLogger('suffit').setLevel('ERROR')\n"
    assert run(scratch, silent + script + twice, NUMBA_CACHE_DIR=str(scratch / "b")).stderr == ""
    nothing = "from numba.core.caching import CompileResultCacheImpl as c; c._locator_classes = []\n"
    assert "every process compiles anew" in run(scratch, nothing + script + ASK).stderr


def test_warming_up_shows_its_progress_on_the_command_line_alone(scratch: Path):
    few = """
import sys, suffit.warm as warm
from suffit.kernels.runtime.cache import mark_complete
from suffit.kernels.questions import ask
warm.steps = lambda: iter([("a kernel", lambda: ask(1)), ("cache", mark_complete)])
"""
    by_command = "sys.argv = ['suffit', 'warm']\nfrom suffit.__main__ import main\nmain()"
    done = run(scratch, few + by_command)
    assert "suffit: compiled 1 kernel in" in done.stderr
    (folder,) = folders(scratch / "suffit")
    assert str(folder) in done.stdout
    assert (folder / "warm").exists()
    done = run(scratch, few + "import suffit; suffit.warm_up()", NUMBA_CACHE_DIR=str(scratch / "a"))
    assert (done.stdout, done.stderr) == ("", "")
    assert len(folders(scratch / "a")) == 1


def test_warming_up_goes_through_every_kind_of_estimator():
    from suffit.warm import steps

    names = {name for name, _ in steps()}
    assert names >= {"GaussianNB", "LinearDiscriminantAnalysis", "MultinomialNB", "GenerativeClassifier", "cache"}


def test_warming_up_compiles_every_kernel():
    script = """
import importlib, pkgutil, suffit, suffit.kernels
for module in pkgutil.walk_packages(suffit.kernels.__path__, "suffit.kernels."):
    importlib.import_module(module.name)
suffit.warm_up()
from suffit.kernels.runtime.compiled import kernels
print(len(kernels), [name for name, kernel in kernels.items() if not kernel.signatures])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, missed = done.stdout.split(" ", 1)
    assert int(count) > 40
    assert missed.strip() == "[]"
