"""Columns that are dropped because leave-one-out loss falls without them."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest

import suffit

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # copies of columns


def noisy(seed: int, n: int = 300) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    good = rng.normal(size=(n, 2)) + 1.2 * y[:, None]
    table = {"a": good[:, 0], "b": good[:, 1], "a again": good[:, 0], "a thrice": 2 * good[:, 0] + 1}
    table |= {f"noise {j}": rng.normal(size=n) for j in range(4)}
    return table, y


@pytest.mark.parametrize("seed", range(3))
def test_select_drops_copies_and_never_worsens_the_loss(seed: int) -> None:
    table, y = noisy(seed)
    model = suffit.GenerativeClassifier(dict.fromkeys(table, "gaussian"), select="loo").fit(table, y)
    used = set(model.get_feature_names_out())
    assert len(used & {"a", "a again", "a thrice"}) == 1
    assert "b" in used
    steps = model.selection_.tried
    assert all(later.loss < before.loss for before, later in pairwise(steps))
    dropped = {c for step in steps[1:] for c in step.settings["dropped"].split(", ")}
    assert dropped == set(table) - used
    for choice in model.schema_.choices:
        assert (choice.family == "dropped") == (choice.column in dropped)
        assert ("lower without it" in choice.reason) == (choice.column in dropped)
    kept = {c: table[c] for c in table if c in used}
    plain = suffit.GenerativeClassifier(dict.fromkeys(kept, "gaussian")).fit(kept, y)
    np.testing.assert_allclose(model.predict_proba(table), plain.predict_proba(kept), rtol=1e-10)
    before = suffit.GenerativeClassifier(dict.fromkeys(table, "gaussian")).fit(table, y)
    loss = lambda m, t: -np.log(m.loo_predict_proba(t, y)[np.arange(len(y)), y]).mean()  # noqa: E731
    assert steps[0].loss == pytest.approx(loss(before, table), abs=1e-9)
    assert steps[-1].loss == pytest.approx(loss(plain, kept), abs=1e-9)


def test_prediction_ignores_columns_that_were_dropped() -> None:
    table, y = noisy(0)
    model = suffit.GenerativeClassifier(dict.fromkeys(table, "gaussian"), select="loo").fit(table, y)
    dropped = set(table) - set(model.get_feature_names_out())
    other = {c: np.full(len(y), 1e6) if c in dropped else v for c, v in table.items()}
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(table))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # and need not be there
        kept = {c: v for c, v in table.items() if c not in dropped}
        np.testing.assert_array_equal(model.predict_proba(kept), model.predict_proba(table))


def test_select_keeps_one_column_and_goes_with_other_settings() -> None:
    rng = np.random.default_rng(0)
    table, y = {"noise": rng.normal(size=60), "more": rng.normal(size=60)}, np.repeat([0, 1], 30)
    model = suffit.GenerativeClassifier(dict.fromkeys(table, "gaussian"), select="loo").fit(table, y)
    assert len(model.get_feature_names_out()) >= 1
    table, y = noisy(5)
    table["b"] = np.where(rng.random(len(y)) < 0.2, np.nan, table["b"])
    for settings_ in ({"missing": "informative"}, {"structure": "auto"}, {"calibrate": "temperature"}):
        model = suffit.GenerativeClassifier(select="loo", **settings_).fit(table, y)
        assert np.isfinite(model.predict_proba(table)).all()
        rows, _ = model.sample(3, random_state=0)
        assert set(rows) == set(model.get_feature_names_out())
        assert model.selection_ is not None
    joint = {("a", "a again"): suffit.MultivariateGaussian(shrinkage=0.1), "b": "gaussian"}
    model = suffit.GenerativeClassifier(joint, select="loo").fit({c: table[c] for c in ("a", "a again", "b")}, y)
    assert set(model.get_feature_names_out()) in ({"a", "a again", "b"}, {"b"}, {"a", "a again"})


@pytest.mark.parametrize("first_settings", [{"select": "loo"}, {"structure": "naive"}])
def test_a_schema_that_is_given_is_kept_as_it_is(first_settings: dict) -> None:
    """So that models of parts of a table can be merged; every other setting that chooses leaves it alone, too."""
    table, y = noisy(0)
    half = {c: v[150:] for c, v in table.items()}
    first = suffit.GenerativeClassifier(select="loo").set_params(**first_settings).fit(table, y)
    again = {"select": "loo", "criterion": "loo", "missing": "informative", "unknown": "novel", "structure": "auto"}
    for settings_ in [{}, again, *({name: value} for name, value in again.items())]:
        second = suffit.GenerativeClassifier(first.schema_, **settings_).fit(half, y[150:])
        assert repr(second.schema_) == repr(first.schema_)
        assert second.selection_ is None
        both = first + second
        np.testing.assert_array_equal(both.class_count_, first.class_count_ + second.class_count_)
