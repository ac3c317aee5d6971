"""The logistic form: its limits."""

from __future__ import annotations

import numpy as np
import pytest

import suffit


@pytest.mark.parametrize(
    "model",
    [
        suffit.BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1]),
        suffit.MultinomialNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 3]], [0, 0, 1, 1]),
        suffit.CategoricalNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1]),
        suffit.PoissonNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1]),
    ],
    ids=lambda m: type(m).__name__,
)
def test_the_logistic_form_takes_the_limit_where_smoothing_is_0(model):
    X = np.array([[1, 1], [0, 0], [1, 0], [0, 1]])
    form = model.logistic_form()
    np.testing.assert_allclose(np.exp(form.predict_log_proba(X)), model.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(form.pair(1, 0).probability(X), model.predict_proba(X)[:, 1], atol=1e-12)
