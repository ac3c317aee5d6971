"""covariance='auto' and settings by leave-one-out: what was planted is found."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import suffit
from cases import assert_same, brute_loss, with_holes


def test_a_column_that_only_one_row_has_does_not_decide_the_covariance():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 150)
    X = rng.normal(size=(150, 4)) @ rng.normal(size=(4, 4)) + y[:, None]
    odd = np.c_[X, np.arange(150) == 7]
    assert suffit.GDA(tie="loo").fit(odd, y).selection_.taken.loss < 1
    without, beside = (suffit.GDA("auto", tie=1.0).fit(Z, y).selection_.taken for Z in (X, odd))
    assert beside.settings == without.settings


def planted(structure: str, own: bool, seed: int, n: int = 2000, p: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y, X, centres = rng.integers(0, 3, n), np.empty((n, p)), rng.normal(size=(3, p))
    for c in range(3):
        shape = np.random.default_rng([seed, c if own else 99])
        L = {
            "spherical": lambda r: np.eye(p) * r.uniform(0.5, 2.0),
            "diagonal": lambda r: np.diag(r.uniform(0.4, 2.5, p)),
            "full": lambda r: r.normal(size=(p, p)) + 0.3 * np.eye(p),
        }[structure](shape)
        X[y == c] = rng.normal(size=((y == c).sum(), p)) @ L.T + centres[c]
    return X, y


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("structure", ["full", "diagonal", "spherical"])
def test_covariance_auto_finds_the_planted_structure(structure: str, own: bool) -> None:
    found = []
    for seed in range(5):
        X, y = planted(structure, own, seed)
        settings = suffit.GDA("auto", tie="loo").fit(X, y).selection_.taken.settings
        found.append((settings["covariance"], settings["tie"]))
    assert found.count((structure, 0.0 if own else 1.0)) >= 4, found


def test_covariance_auto_is_the_model_it_takes() -> None:
    X, y = planted("diagonal", True, 3, n=300)
    model = suffit.GDA("auto", tie="loo", shrinkage="loo").fit(X, y)
    tuning = model.selection_
    fixed = suffit.GDA(**tuning.taken.settings).fit(X, y)
    assert_same(model, fixed)
    assert tuning.taken.loss == pytest.approx(brute_loss(suffit.GDA(**tuning.taken.settings), X, y), abs=1e-9)
    simplest = min(tuning.tried, key=lambda t: t.loss)
    assert tuning.taken.loss >= simplest.loss
    grown = copy.deepcopy(model).partial_fit(X[:50] + 1, y[:50])
    assert_same(grown, fixed.partial_fit(X[:50] + 1, y[:50]))
    assert suffit.GDA("auto", shrinkage="oas").fit(X, y).predict(X).shape == y.shape
    with_missing = with_holes(planted("diagonal", True, 0, n=300)[0], 1, 0.1)
    y = planted("diagonal", True, 0, n=300)[1]
    assert suffit.GDA("auto", tie="loo").fit(with_missing, y).selection_.taken.settings["covariance"] == "diagonal"
