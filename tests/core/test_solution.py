"""Scores far out, the handle for one row, densities that count what a ridge adds."""

from __future__ import annotations

import numpy as np

import suffit
from cases import two_classes


def test_the_row_scorer_agrees_with_predict_proba():
    X, y = two_classes(200)
    counts = np.abs(np.round(X * 3))
    for model, rows in (
        (suffit.GaussianNB(), X),
        (suffit.LDA(), X),
        (suffit.QDA(), X),
        (suffit.MultinomialNB(), counts),
        (suffit.PoissonNB(), counts),
    ):
        score = model.fit(rows, y).scorer()
        np.testing.assert_allclose([score(row) for row in rows[:20]], model.predict_proba(rows[:20]), atol=1e-12)
    missing = X[:3].copy()
    missing[0, 1] = np.nan
    gaussian = suffit.GaussianNB().fit(X, y)
    np.testing.assert_allclose(gaussian.scorer()(missing[0]), gaussian.predict_proba(missing)[0], atol=1e-12)
