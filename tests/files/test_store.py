"""Saving and loading: the loaded model is the whole model."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import suffit
from cases import assert_identical, two


def test_a_loaded_model_is_the_one_saved(tmp_path: Path):
    X, y = two()
    model = suffit.GaussianNB().fit(X, y)
    model.save(tmp_path / "model.suffit")
    again = suffit.load(tmp_path / "model.suffit")
    assert type(again) is suffit.GaussianNB
    assert again.get_params() == model.get_params()
    assert_identical(again, model)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_identical(again.partial_fit(X, y), model.partial_fit(X, y))
