"""How far two models are apart: from sums, as the formula for their densities has it, beside what chance makes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import suffit

X, Y = load_iris(return_X_y=True, as_frame=True)


def jeffreys(a, b) -> float:
    """Of two samples taken for normal."""
    (m, v), (n, w) = (np.mean(a), np.var(a)), (np.mean(b), np.var(b))
    return 0.5 * ((m - n) ** 2 * (1 / v + 1 / w) + v / w + w / v) - 1


def test_it_is_jeffreys_divergence_of_the_fitted_densities():
    a, b = X[::2], X[1::2]
    found = suffit.drift(*(suffit.GaussianNB(var_smoothing=0.0).fit(part, Y[part.index]) for part in (a, b)))
    for c in (0, 1, 2):
        for j, name in enumerate(X):
            expected = jeffreys(a[name][Y[a.index] == c], b[name][Y[b.index] == c])
            np.testing.assert_allclose(found.divergence[c, j], expected, rtol=1e-6)


def test_a_model_is_where_it_is():
    for model in (suffit.GaussianNB(), suffit.LDA(), suffit.QDA(), suffit.GenerativeClassifier()):
        found = suffit.drift(model.fit(X, Y), model)
        np.testing.assert_allclose(found.divergence, 0.0, atol=1e-9)
        assert "no more than chance" in repr(found)


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, suffit.QDA, suffit.GenerativeClassifier])
def test_a_column_that_moved_is_named_first(make):
    a = make().fit(X[::2], Y[::2])
    again = make(columns=a.schema_) if make is suffit.GenerativeClassifier else make()
    moved = X[1::2].assign(**{"petal length (cm)": X["petal length (cm)"][1::2] + 3.0})
    found = suffit.drift(a, again.fit(moved, Y[1::2]))
    assert repr(found).startswith("petal length (cm): very different in class")
    assert found.to_frame().sort_values("divergence")["column"].iloc[-1] == "petal length (cm)"


def test_categories_and_counts_drift_too():
    truth = suffit.simulate("mixed")
    (table, y), (later, labels) = truth.sample(600, random_state=0), truth.sample(600, random_state=1)
    later = {**later, "city": np.where(np.arange(600) % 2, "Chur", later["city"]), "visits": later["visits"] * 2}
    a = suffit.GenerativeClassifier(structure="naive").fit(table, y)
    found = suffit.drift(a, suffit.GenerativeClassifier(columns=a.schema_, structure="naive").fit(later, labels))
    real = (found.divergence > 3 * found.by_chance).all(axis=0)
    assert dict(zip(found.columns, real.tolist(), strict=True)) == {
        "length": False, "income": False, "visits": True, "city": True,
    }  # fmt: skip


@pytest.mark.parametrize("model", [suffit.GaussianNB(), suffit.QDA()], ids=["apart", "joint"])
def test_what_chance_makes_of_it_is_about_right(model):
    truth, ratios = suffit.simulate("gaussian", columns=2), []
    for seed in range(60):
        parts = [truth.sample(150, random_state=2 * seed + i) for i in (0, 1)]
        a, b = (type(model)().fit(*part) for part in parts)
        found = suffit.drift(a, b)
        ratios.append(found.divergence.sum() / found.by_chance.sum())
    assert 0.7 < np.mean(ratios) < 1.5


def test_shares_that_changed_are_shown():
    a, b = suffit.GaussianNB().fit(X, Y), suffit.GaussianNB().fit(X[Y > 0], Y[Y > 0])
    found = suffit.drift(a, b)
    assert found.classes == (1, 2)
    assert "share before" in repr(found)


def test_models_that_cannot_be_compared_are_refused():
    a = suffit.GaussianNB().fit(X, Y)
    with pytest.raises(suffit.InputError, match="columns"):
        suffit.drift(a, suffit.GaussianNB().fit(X.iloc[:, :2], Y))
    with pytest.raises(suffit.InputError, match="no class is in both"):
        suffit.drift(a, suffit.GaussianNB().fit(X, Y + 10))
    with pytest.raises(suffit.InputError, match="different sums"):
        suffit.drift(a, suffit.NaiveBayes("gamma").fit(X, Y))
    with pytest.raises(TypeError, match="drift takes fitted estimators"):
        suffit.drift(a, 3)


def test_a_class_of_one_row_and_a_constant_column_give_numbers():
    table = pd.DataFrame({"x": [1.0, 2.0, 5.0], "same": [3.0, 3.0, 3.0]})
    a, b = suffit.GaussianNB().fit(table, [0, 0, 1]), suffit.GaussianNB().fit(table * 1.5, [0, 1, 1])
    assert np.isfinite(suffit.drift(a, b).divergence).all()
