"""CONTRIBUTING's recipe for a structure, followed in a scratch copy: one place, and it is tried, pooled and saved."""

from __future__ import annotations

import re
from pathlib import Path

from scratch_copy import ROOT, copied_package, run

USES = """
import pickle
import numpy as np
import suffit

rng = np.random.default_rng(0)
n, p = 60, 4
y = rng.integers(0, 2, n)
moved = rng.random((n, p)) < 0.9  # by a quartile, in the second class
told, other = 2 * rng.integers(0, 2, (n, p)) + y[:, None], rng.integers(0, 4, (n, p))
X = np.where(moved, told, other) + rng.random((n, p))
table = {f"x{j}": X[:, j] for j in range(p)}
model = suffit.GenerativeClassifier().fit(table, y)
tried = {t.name: t.loss for t in model.selection_.tried}
assert tried["naive, quartiles"] < tried["naive"]
print(*(name for name, _, weight in model.selection_.pool if weight > 0), sep="; ")
copy = pickle.loads(pickle.dumps(model))
assert (copy.predict_proba(table) == model.predict_proba(table)).all()
again = suffit.GenerativeClassifier(columns=model.schema_).fit(table, y)
np.testing.assert_allclose((model + again).class_count_, 2 * model.class_count_)
assert np.isfinite(model.explain(table).total).all()
assert np.isfinite(model.loo_predict_proba(table, y)).all()
"""


def test_a_structure_is_tried_pooled_saved_and_merged(tmp_path: Path):
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = re.search(r"```\n(    if numeric:\n.*?)```", page, flags=re.S)
    assert recipe is not None
    module = copied_package(tmp_path) / "tables" / "structures.py"
    text = module.read_text(encoding="utf-8")
    before, head, rest = text.partition("def structures(")
    body, end, after = rest.partition("    return found\n\n\n")
    assert head
    assert end
    module.write_text("".join([before, head, body, recipe[1], end, after]))
    assert "naive, quartiles" in run(tmp_path, "-c", USES).strip().split("; ")
