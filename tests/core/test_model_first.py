"""The first rows of a model choose what its family leaves open, and are added up once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suffit
from suffit import Bernoulli, Categorical, GenerativeClassifier, MultivariateGaussian, NaiveBayes, Poisson

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 200)
COUNTS = RNG.poisson(2.0 + Y[:, None], size=(200, 3)).astype(float)

CASES: dict[str, tuple[type, Callable[[], Any]]] = {
    "poisson": (Poisson, lambda: NaiveBayes(Poisson(alpha="loo"))),
    "bernoulli": (Bernoulli, lambda: suffit.BernoulliNB(alpha="loo", binarize=1.5)),
    "categorical": (Categorical, lambda: suffit.CategoricalNB(alpha="loo")),
    "tie": (MultivariateGaussian, lambda: suffit.GaussianDiscriminantAnalysis(tie="loo", shrinkage="loo")),
    "table": (Poisson, lambda: GenerativeClassifier(dict.fromkeys(["x0", "x1", "x2"], Poisson(alpha="loo")))),
}


@pytest.mark.parametrize("case", CASES)
def test_rows_are_added_up_once_though_settings_are_chosen_by_leave_one_out(case: str, monkeypatch: pytest.MonkeyPatch):
    family, make = CASES[case]
    calls: list[int] = []
    collect = family.collect

    def counted(self: Any, X: Any, rows: Any) -> Any:
        calls.append(len(rows))
        return collect(self, X, rows)

    monkeypatch.setattr(family, "collect", counted)
    model = make().fit(COUNTS, Y)
    assert calls == [200]
    calls.clear()
    assert np.isfinite(model.predict_proba(COUNTS)).all()
    assert calls == []


def test_what_a_first_batch_chose_is_what_fit_chooses():
    whole = NaiveBayes(Poisson(alpha="loo")).fit(COUNTS, Y)
    batch = NaiveBayes(Poisson(alpha="loo")).partial_fit(COUNTS, Y)
    assert batch.selection_.taken == whole.selection_.taken
    np.testing.assert_array_equal(batch.predict_proba(COUNTS), whole.predict_proba(COUNTS))
