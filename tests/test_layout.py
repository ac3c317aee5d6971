"""The layout of the code: imports point one way, CONTRIBUTING runs as written, the import is light."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import suffit

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "suffit"
# The rooms: what each may import (itself aside) is everything above it.
ROOMS = [
    "kernels",
    "data",
    "text",
    "core",
    "families",
    "tables",
    "posterior",
    "explain",
    "estimators",
    "comparison",
    "figures",
    "files",
    "reports",
    "engines",
    "mail",
    "cli",
]
FRONT = ["__init__", "__main__", "warm"]  # beside the rooms


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    package = ("suffit", *path.relative_to(SOURCE).parts[:-1])
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            target = [*base, *(node.module or "").split(".")] if node.module else [*base, node.names[0].name]
            found.add(target[1])
    return found


def test_every_module_is_in_a_room():
    parts = {part_of(path) for path in SOURCE.rglob("*.py")}
    assert parts <= {*ROOMS, *FRONT}, f"in no room: {parts - {*ROOMS, *FRONT}}"
    assert parts >= set(ROOMS)


def test_tests_mirror_the_rooms():
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and any(path.rglob("test_*.py"))}
    beside = {"laws", "oracles", "specification", "evaluation"}
    assert folders <= {*ROOMS, *beside}, f"tests of no room: {folders - {*ROOMS, *beside}}"
    assert folders >= {*ROOMS, *beside}


def test_imports_point_one_way():
    when_asked = {  # imported inside a function: to enter what is registered there, to draw and to save
        "core/stats.py": {"families"},
        "core/family.py": {"families"},
        "explain/terms.py": {"figures"},  # to draw what is explained, likewise the next ones
        "comparison/result.py": {"figures"},
        "estimators/base.py": {"files", "figures"},
        "estimators/decision.py": {"files"},
        "files/store.py": {"__version__"},  # of the package, in every file
        "cli/main.py": {"__version__"},
        "reports/page.py": {"__version__"},
        "cli/warming.py": {"warm"},
    }
    for path in sorted(SOURCE.rglob("*.py")):
        part, name = part_of(path), path.relative_to(SOURCE).as_posix()
        if part in FRONT:
            continue
        for other in imported_parts(path) - when_asked.get(name, set()):
            assert other in ROOMS, f"{name} imports {other}, which is no room"
            assert ROOMS.index(other) <= ROOMS.index(part), f"{name} imports {other}, which stands below it"


def test_only_estimators_and_what_compares_them_use_the_base_classes_of_scikit_learn():
    for path in SOURCE.rglob("*.py"):
        if re.search(r"from sklearn\.base|import sklearn", path.read_text(encoding="utf-8")):
            assert part_of(path) in ("estimators", "comparison", "reports"), path


def test_a_source_distribution_has_what_its_tests_and_scripts_need():
    """Every folder that a script runs and every page that a test reads, as far as git has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = set(settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    needed = {"src", "tests", "docs", "scripts", "README.md", "CONTRIBUTING.md"}
    for script in (ROOT / "scripts").iterdir():
        needed |= set(re.findall(r"python (?:-m )?(\w+)/\w+\.py", script.read_text(encoding="utf-8")))
    assert "bench" in needed
    assert needed <= packed


def test_the_family_in_contributing_works_as_written():
    code = re.search(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), flags=re.S)
    assert code is not None
    script = code[1].replace("suffit.NaiveBayes(", "print(suffit.NaiveBayes(").rstrip() + ")"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[0]"


def test_import_is_light():
    script = "import sys, suffit; print([m for m in ('sklearn', 'numba', 'scipy', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there_and_documented():
    for name in suffit.__all__:
        assert getattr(suffit, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = suffit.nonsense


ONE_KERNEL = """
import sys, types
import numpy as np

def call():
    from suffit.kernels.labels import mark_labels
    mark_labels(np.array([0, 2]), 0, np.zeros(3, np.uint8))
"""
BY_COMMAND_LINE = """
from suffit.cli.main import main
sys.modules["suffit.cli.demo"] = types.SimpleNamespace(main=lambda folder: call())
sys.argv = ["suffit", "demo"]
try:
    main()
except SystemExit as done:
    assert not done.code
"""


def test_the_command_line_says_when_it_compiles(tmp_path: Path):
    """Once, with how long it took; a process that finds the kernels in the cache says nothing, and no library does."""

    def stderr(script: str, cache: str) -> list[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        command = [sys.executable, "-c", ONE_KERNEL + script]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert done.stdout == ""
        return done.stderr.splitlines()

    first, last = stderr(BY_COMMAND_LINE, "a")
    assert first.startswith("suffit: compiling for this machine")
    assert re.fullmatch(r"suffit: compiled 1 kernel in \d+ s; later runs take them from the cache", last)
    assert stderr(BY_COMMAND_LINE, "a") == []
    assert stderr("call()", "b") == []
