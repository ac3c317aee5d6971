"""The Gaussian is a shape of its own, and the log-normal is a Gaussian of log x."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import pytest

import suffit
from suffit.families.columns import IndependentColumns
from suffit.families.elementwise import Elementwise
from suffit.families.gaussian import diagonal, lognormal

RNG = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], 30)
X = np.exp(RNG.normal(size=(90, 3)) + np.repeat([0.0, 0.5, 1.0], 30)[:, None])


@pytest.mark.parametrize("family", [suffit.Gaussian, suffit.LogNormal])
def test_a_gaussian_has_no_alpha(family: type):
    assert "alpha" not in {f.name for f in fields(family)}
    assert not issubclass(family, Elementwise)
    assert issubclass(family, IndependentColumns)
    with pytest.raises(TypeError, match="alpha"):
        family(alpha=1.0)


@pytest.mark.parametrize("settings", [{}, {"tie": 1.0}, {"tie": 0.3, "smoothing": 0.1}, {"prior_rows": 1.0}], ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_log_normal_is_a_gaussian_of_logarithms(settings: dict, missing: float):
    rows = np.where(RNG.random(X.shape) < missing, np.nan, X)
    ours = suffit.NaiveBayes(suffit.LogNormal(**settings)).fit(rows, Y)
    theirs = suffit.NaiveBayes(suffit.Gaussian(**settings)).fit(np.log(rows), Y)
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(np.log(rows)), rtol=1e-9, atol=1e-12)
    jacobian = -np.nansum(np.log(rows), axis=1)
    np.testing.assert_allclose(ours.score_samples(rows), theirs.score_samples(np.log(rows)) + jacobian, rtol=1e-9)
    drawn = (model.sample(50, random_state=1)[0] for model in (ours, theirs))
    np.testing.assert_allclose(next(drawn), np.exp(next(drawn)), rtol=1e-9)


@dataclass(frozen=True)
class Mine(suffit.Gaussian):
    key: ClassVar[str] = "mine"


def test_a_family_derived_from_the_gaussian_is_a_gaussian():
    suffit.check_family(Mine)
    rows = np.log(X)
    mine, plain = (suffit.NaiveBayes(family(smoothing=1e-9)).fit(rows, Y) for family in (Mine, suffit.Gaussian))
    np.testing.assert_array_equal(mine.predict_proba(rows), plain.predict_proba(rows))
    np.testing.assert_array_equal(mine.sample(20, random_state=0)[0], plain.sample(20, random_state=0)[0])
    for start in range(0, 90, 7):
        for model in (mine, plain):
            model.partial_fit(rows[start : start + 7], Y[start : start + 7])
    np.testing.assert_array_equal(mine.predict_proba(rows), plain.predict_proba(rows))


@pytest.mark.parametrize("module", [diagonal, lognormal])
def test_no_family_asks_for_its_own_type(module):
    assert "type(self) is" not in inspect.getsource(module)
