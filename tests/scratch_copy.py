"""A copy of the package that a recipe of CONTRIBUTING is followed in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def copied_package(scratch: Path) -> Path:
    """The package below this folder, its kernels compiled already."""
    package = scratch / "src" / "suffit"
    shutil.copytree(ROOT / "src" / "suffit", package, ignore=shutil.ignore_patterns("__pycache__", "kernels"))
    (package / "kernels").symlink_to(ROOT / "src" / "suffit" / "kernels", target_is_directory=True)
    return package


def run(scratch: Path, *arguments: str) -> str:
    """What Python prints with the copy in place of the package."""
    environment = {**os.environ, "PYTHONPATH": str(scratch / "src")}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout
