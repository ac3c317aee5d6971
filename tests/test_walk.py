"""How many functions and files of suffit a row passes on its way into a model and through it: it only gets shorter."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# functions, files: what was counted last.  Lower them when the way gets shorter; a change that makes it longer needs
# another that makes up for it.
CEILING = {
    "GaussianNB fit": (51, 12),
    "GaussianNB predict_proba": (52, 14),  # the first prediction solves
    "GenerativeClassifier fit": (429, 60),
    "GenerativeClassifier predict_proba": (82, 22),
}


def test_a_row_passes_no_more_functions_and_files_than_before():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "walk"], capture_output=True, text=True, check=True)
    found = re.findall(r"^(\w+ \w+) +(\d+) +(\d+)$", done.stdout, flags=re.M)
    counts = {name: (int(functions), int(files)) for name, functions, files in found}
    assert counts.keys() == CEILING.keys()
    for name, (functions, files) in counts.items():
        most = CEILING[name]
        assert functions <= most[0], f"{name} passes {functions} functions, more than {most[0]}: see scripts/walk"
        assert files <= most[1], f"{name} passes {files} files, more than {most[1]}: see scripts/walk"
