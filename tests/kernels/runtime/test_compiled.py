"""Compiled loops and their cache."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np

import suffit


def run(script: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True, text=True, timeout=300, env={**os.environ, **env},
    )  # fmt: skip


FIT = (
    "import numpy as np, suffit; suffit.PoissonNB().fit(np.eye(4), [0, 0, 1, 1]).predict_proba(np.eye(4)); print('ok')"
)


def copy_of_the_package(folder) -> str:
    """The package alone, without its compiled cache, so that a test may do to it what it likes."""
    import shutil
    from pathlib import Path

    source = Path(suffit.__file__).parent
    shutil.copytree(source, folder / "suffit", ignore=shutil.ignore_patterns("__pycache__"))
    return str(folder)


def test_two_processes_may_compile_at_once(tmp_path):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    both = [subprocess.Popen([sys.executable, "-c", FIT], stdout=subprocess.PIPE, env=env) for _ in range(2)]
    assert [p.communicate(timeout=300)[0].strip() for p in both] == [b"ok", b"ok"]


def test_nowhere_to_cache_still_works(tmp_path):
    """Neither the package's folder nor HOME can be written to: numba finds no place, and we compile without one."""
    script = f"""
    import sys
    sys.path.insert(0, {copy_of_the_package(tmp_path)!r})
    from numba.core import caching
    caching.CacheImpl._locator_classes = []
    {FIT}
    assert suffit.__file__.startswith({str(tmp_path)!r})
    """
    done = run(script, HOME="/nonexistent")
    assert done.stdout.strip() == "ok", done.stderr


def test_a_full_disk_or_a_damaged_cache_costs_a_compilation_only(tmp_path):
    script = f"""
    from numba.core import caching
    def full(*arguments): raise OSError(28, "No space left on device")
    caching.IndexDataCacheFile.save = full
    {FIT}
    """
    done = run(script, NUMBA_CACHE_DIR=str(tmp_path / "full"))
    assert done.stdout.strip() == "ok", done.stderr
    assert run(FIT, NUMBA_CACHE_DIR=str(tmp_path / "damaged")).stdout.strip() == "ok"
    files = [f for f in (tmp_path / "damaged").rglob("*") if f.suffix in (".nbi", ".nbc")]
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    done = run(FIT, NUMBA_CACHE_DIR=str(tmp_path / "damaged"))
    assert done.stdout.strip() == "ok", done.stderr


def test_a_second_process_takes_the_cache(tmp_path):
    env = {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DEBUG_CACHE": "1"}
    assert "data saved" in run(FIT, **env).stdout
    again = run(FIT, **env).stdout
    assert "data loaded" in again
    assert "data saved" not in again


def test_loops_run_without_being_compiled_and_answer_the_same():
    program = """
import numpy as np, pandas as pd
from scipy import sparse
from suffit import *
rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 3)) + y[:, None]
W = pd.DataFrame({"w": rng.choice(["red", "blue", "greenish-yellow"], 40), "x": X[:, 0]})
C = sparse.csr_matrix(rng.poisson(1, (40, 5)))
for model, rows in ((GaussianNB(), X), (LDA(), X), (MultinomialNB(), C), (GenerativeClassifier(), W)):
    print(model.fit(rows, y).predict_proba(rows).sum(axis=0).tolist())
"""
    answers = []
    for compiled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": compiled}
        run = [sys.executable, "-c", program]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, timeout=300, check=True)
        assert "RuntimeWarning" not in done.stderr  # integers wrap and logarithms of 0 are −∞, as in compiled loops
        answers.append([eval(line) for line in done.stdout.splitlines()])
    np.testing.assert_allclose(answers[0], answers[1], rtol=1e-12)
