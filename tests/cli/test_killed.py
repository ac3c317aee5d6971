"""An update that is killed leaves the old model or the new one, never neither."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).parent.parent / "killed_updates.py"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_an_update_that_is_killed_leaves_the_old_model_or_the_new_one():
    """Every file found is whole, has all that was said to be learned, and at most one update more."""
    done = subprocess.run([sys.executable, str(KILLS), "12"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = {line.split(None, 1)[1]: int(line.split()[0]) for line in done.stdout.splitlines()}
    assert found.get("old", 0) + found.get("new", 0) == 12
