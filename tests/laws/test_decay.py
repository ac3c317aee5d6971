"""Decay is a weight that falls with age."""

from __future__ import annotations

import numpy as np
import pytest

import suffit
from cases import CASES, Case, assert_identical, assert_same, data, mixed, two, with_holes
from suffit import GaussianNB, InputError
from suffit.core.model import FADED

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class


every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def batches(y: np.ndarray, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    return np.split(order, np.sort(rng.integers(1, len(y), size=4)))


def faded(case: Case, X: np.ndarray, y: np.ndarray, parts: list[np.ndarray], factor: float):
    """A model that saw the batches one by one, all fading before each; and the weights that its rows have come to."""
    model, weight = case.make(), np.zeros(len(y))
    for part in parts:
        if len(part):
            if weight.any():
                model.decay(factor)
            weight *= factor
            model.partial_fit(X[part], y[part])
            weight[part] = 1.0
    return model, weight


@every_case
@pytest.mark.parametrize("factor", [0.5, 0.9, 1.0])
def test_C8_decay_is_a_weight_that_falls_with_age(case: Case, factor: float):
    X, y = data(case, 8)
    model, weight = faded(case, X, y, batches(y, 3), factor)
    whole = case.make().fit(X, y, sample_weight=weight)
    assert_same(model, whole, rtol=1e-11)
    if case.exact and factor != 0.9:  # powers of two: not even rounding
        assert_identical(model, whole)


@pytest.mark.parametrize(
    "case", [c for c in CASES.values() if c.draw is not mixed], ids=[k for k, c in CASES.items() if c.draw is not mixed]
)
def test_C8_decay_with_missing_values(case: Case):
    X, y = data(case, 9)
    X = with_holes(X, 9)
    model, weight = faded(case, X, y, batches(y, 4), 0.8)
    parts = getattr(model._model.stats, "parts", (model._model.stats,))
    joint = any("pattern" in part.axes for part in parts)
    assert_same(model, case.make().fit(X, y, sample_weight=weight), rtol=1e-8 if joint else 1e-11)


def test_C8_decay_gathers_what_is_pending():
    """Running sums and rows that wait belong to the past, too."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 3, size=90)
    for make in (GaussianNB, suffit.QDA):
        model, weight = make().fit(X[:30], y[:30]), np.repeat(1.0, 30)
        for i in range(30, 90, 2):
            model.partial_fit(X[i : i + 2], y[i : i + 2])
            weight = np.append(weight, [1.0, 1.0])
            if i % 20 == 0:
                assert model._fit.batches.waiting.rows is not None
                assert model.decay(0.7) is model
                weight *= 0.7
        assert_same(model, make().fit(X, y, sample_weight=weight), rtol=1e-11)


def test_C8_decay_and_forget_go_together():
    X, y = data(CASES["GaussianNB"], 0)
    model = GaussianNB().fit(X, y).decay(0.25)
    model.forget(X[:20], y[:20], sample_weight=np.full(20, 0.25))
    assert_same(model, GaussianNB().fit(X[20:], y[20:], sample_weight=np.full(100, 0.25)), rtol=1e-10)


@every_case
def test_C8_parameters_outlive_a_long_fade(case: Case):
    """Nothing overflows or divides by nothing while weights fall to where they vanish."""
    X, y = data(case, 10)
    model, old = case.make().fit(X, y), case.make().fit(X, y)
    for _ in range(8):
        model.decay(1e-12)
    for part in ("ant", "bee", "cat"):
        assert model.class_count_[model.classes_ == part] > FADED
    assert np.isfinite(model.predict_proba(X)).all()
    model.partial_fit(X, y)
    assert_same(model, old, rtol=1e-11)


@every_case
def test_C8_a_class_that_has_faded_away_is_gone(case: Case):
    X, y = data(case, 11)
    rare = y == "cat"
    model = case.make().fit(X, y)
    for _ in range(11):
        model.decay(1e-10).partial_fit(X[~rare], y[~rare])
    assert model.classes_.tolist() == ["ant", "bee"]
    rest = case.make().fit(X[~rare], y[~rare]).decay(1 + 0.0)
    for x, z in zip(model.predict_proba(X[~rare]), rest.predict_proba(X[~rare]), strict=True):
        np.testing.assert_allclose(x, z, atol=1e-6)
    model.partial_fit(X[rare], y[rare])
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert_same(model, case.make().fit(X[~rare], y[~rare]).partial_fit(X[rare], y[rare]), rtol=1e-8)


def test_C8_declared_classes_stay():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, size=40)
    model = GaussianNB().partial_fit(X, y, classes=[0, 1, 2])
    ones = y == 1
    for _ in range(11):
        model.decay(1e-10).partial_fit(X[ones], y[ones])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.class_count_[0] == 0
    assert set(model.predict(X)) == {1}
    assert_same(model.partial_fit(X[~ones], y[~ones]), GaussianNB().partial_fit(X, y, classes=[0, 1, 2]), rtol=1e-9)


def test_C8_decay_keeps_priors_settings_and_the_model_where_refused():
    X, y = two()
    model = GaussianNB().fit(X, y).with_prior({"ham": 0.9, "spam": 0.1})
    before = model.predict_proba(X)
    np.testing.assert_allclose(model.decay(0.5).predict_proba(X), before, rtol=1e-9)
    for factor in (0, -0.5, 1.5, np.nan, "half", None, True, [0.5]):
        with pytest.raises(ValueError, match=r"decay: factor=.* in \(0, 1\]"):
            model.decay(factor)
    with pytest.raises(InputError, match="no rows would be left"):
        model.decay(1e-200)
    assert model.class_count_.sum() == len(y) / 2
    changed = suffit.GDA().fit(X, y).set_params(tie=0.5).decay(0.5).partial_fit(X, y)
    weight = np.concatenate([np.full(len(y), 0.5), np.ones(len(y))])
    assert_same(changed, suffit.GDA(tie=0.5).fit(np.tile(X, (2, 1)), np.tile(y, 2), sample_weight=weight), rtol=1e-10)
