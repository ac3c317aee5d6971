"""CONTRIBUTING's recipe, followed in a scratch copy: a file and a row, and the family is there in every way."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import suffit
from scratch_copy import ROOT, copied_package, run
from suffit.core.family import Family, _registry, register
from suffit.families.elementwise import Elementwise, Natural

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package and its law tests, with the family of the recipe as one file and one row."""
    here = tmp_path_factory.mktemp("scratch")
    package = copied_package(here)
    (here / "tests").mkdir()
    for shared in (ROOT / "tests").glob("*.py"):
        if not shared.name.startswith("test_"):
            shutil.copy(shared, here / "tests")
    for room in ("laws", "specification"):
        shutil.copytree(ROOT / "tests" / room, here / "tests" / room, ignore=shutil.ignore_patterns("__pycache__"))
    recipe = re.search(r"```python\n(.*?)```", PAGE, flags=re.S)
    row = re.search(r"```\n(    \"rayleigh\": FamilyCase\(.*?\n)```", PAGE, flags=re.S)
    assert recipe is not None
    assert row is not None
    family = recipe[1].partition("\nsuffit.check_family")[0]
    (package / "families" / "elementwise" / "rayleigh.py").write_text(family, encoding="utf-8")
    cases = here / "tests" / "cases.py"
    text = cases.read_text(encoding="utf-8")
    head = "FAMILIES: dict[str, FamilyCase] = {\n"
    assert head in text
    cases.write_text(text.replace(head, head + row[1]), "utf-8")
    return here


USES = """
import pickle
import numpy as np
import suffit
from suffit.core.family import families

assert "rayleigh" in families(), suffit.__file__
suffit.check_family(families()["rayleigh"])
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 1500)
x = rng.rayleigh(1.0 + y)
z = rng.normal(size=1500) + y
model = suffit.NaiveBayes("rayleigh").fit(x[:, None], y)
again = pickle.loads(pickle.dumps(model))
assert (again.predict_proba(x[:, None]) == model.predict_proba(x[:, None])).all()
for criterion in ("bic", "loo"):
    table = suffit.GenerativeClassifier(structure="naive", criterion=criterion).fit({"x": x, "z": z, "g": z**4}, y)
    print(*(f"{c.family} {c.reason}" for c in table.schema_.choices), sep="; ")
    copy = pickle.loads(pickle.dumps(table))
    assert (copy.predict_proba({"x": x, "z": z, "g": z}) == table.predict_proba({"x": x, "z": z, "g": z})).all()
"""


def test_the_family_is_found_named_saved_and_chosen(scratch: Path):
    said = run(scratch, "-c", USES).splitlines()
    assert len(said) == 2
    for line in said:
        first, second, third = line.split("; ")
        assert first.startswith("Rayleigh() positive: rayleigh beats Gaussian by")
        assert second.startswith("Gaussian(")
        assert not third.startswith("Rayleigh(")


def test_every_law_runs_on_it(scratch: Path):
    words = "every_family or (rayleigh and (C5 or N10 or forget or repetitions or C3 or pickle or missing_column))"
    said = run(
        scratch,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
        "-o",
        "pythonpath=tests",
        "tests/laws",
        "tests/specification/test_imputing.py",
        "-k",
        words,
    )
    passed = re.search(r"(\d+) passed", said)
    assert passed is not None
    assert int(passed[1]) >= 7


def test_a_kind_of_column_that_there_is_not_is_refused():
    class Wrong(Family):
        key = "wrong"
        candidate_for = ("numbers",)

    with pytest.raises(ValueError, match=r"wrong: candidate_for is .*; the kinds are integer, positive, continuous"):
        register(Wrong)


@dataclass(frozen=True)
class Failures(suffit.Geometric):
    key: ClassVar[str] = "failures"
    candidate_for: ClassVar[tuple[str, ...]] = ("integer",)


@dataclass(frozen=True)
class DoubleExponential(Elementwise):
    """log p = −|x|/b − log 2b, b = mean |x|."""

    key: ClassVar[str] = "double exponential"
    candidate_for: ClassVar[tuple[str, ...]] = ("continuous",)

    def T(self, x):
        return np.abs(x)[..., None]

    def solve(self, n, t):
        b = np.maximum(t[..., 0] / n, 1e-100)  # a column of zeros has no mean
        return Natural((-1 / b)[..., None], np.log(2 * b))

    def draw(self, theta, rng):
        return rng.laplace(size=theta.shape[:-1]) / -theta[..., 0]


@pytest.mark.parametrize("criterion", ["bic", "loo"])
def test_a_family_is_chosen_for_integers_and_for_numbers_of_either_sign(
    criterion: str, monkeypatch: pytest.MonkeyPatch
):
    for family in (Failures, DoubleExponential):
        suffit.check_family(family)
        monkeypatch.setitem(_registry, family.key, family)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 1000)
    columns = {
        "waits": rng.geometric(0.05 + 0.05 * y) - 1,
        "waits in tens": 10 * (rng.geometric(0.05 + 0.05 * y) - 1),
        "counts": rng.poisson(3.0 + y),
        "errors": rng.laplace(size=1000) * (1 + y),
        "normal": rng.normal(size=1000) + y,
        "amounts": rng.gamma(2.0, 1.0 + y),
    }
    model = suffit.GenerativeClassifier(structure="naive", criterion=criterion).fit(columns, y)
    families = {c.column: c.family.partition("(")[0] for c in model.schema_.choices}
    assert families == {
        "waits": "Failures",
        "waits in tens": families["waits in tens"],
        "counts": "Poisson",
        "errors": "DoubleExponential",
        "normal": "Gaussian",
        "amounts": "Gamma",
    }
    assert families["waits in tens"] != "Failures"  # it has no unit
    assert np.isfinite(model.predict_proba(columns)).all()
