"""Models of tables that were fitted apart merge where both have the structures of the first; else they say how to."""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import suffit

pytestmark = pytest.mark.filterwarnings("ignore::suffit.DataWarning")

N = 400
DENSITIES = partial(suffit.GenerativeClassifier, structure="densities")  # cuts of trees are of the rows of each model


def dependent(seed: int, cities: list[str], unit: float = 1.0) -> tuple[dict, np.ndarray]:
    """Two numbers and a category that depend on each other within a class."""
    rng = np.random.default_rng(seed)
    k, j, z = rng.integers(0, 2, N), rng.integers(0, len(cities), N), rng.normal(size=N)
    place = np.array([ord(city) - ord("w") for city in cities])[j]
    table = {"a": unit * (z - 3.0 * place + k), "b": unit * (z - 0.5 * k + 0.3 * rng.normal(size=N))}
    table["city"] = np.array(cities, object)[j]
    return table, np.array(["x", "y"])[k]


def both(*parts: tuple[dict, np.ndarray]) -> tuple[dict, np.ndarray]:
    return {name: np.concatenate([X[name] for X, _ in parts]) for name in parts[0][0]}, np.concatenate(
        [y for _, y in parts]
    )


def merged_is_refitted(parts: list[tuple[dict, np.ndarray]]) -> suffit.GenerativeClassifier:
    """The merged model is the fit of all rows under its own schema."""
    merged = sum(DENSITIES().fit(X, y) for X, y in parts)
    X, y = both(*parts)
    whole = suffit.GenerativeClassifier(columns=merged.schema_).fit(X, y)
    np.testing.assert_array_equal(merged.class_count_, whole.class_count_)
    np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)
    np.testing.assert_allclose(merged.score_samples(X), whole.score_samples(X), rtol=1e-9)
    return merged


def joint(model: suffit.GenerativeClassifier) -> list[tuple[str, ...]]:
    return [spec.columns for spec in model.schema_.specs if spec.reads == "codings"]


@pytest.mark.parametrize("unit", [1.0, 3.0, 1e-9, 1e9])
def test_models_fitted_apart_merge_whatever_the_order_and_the_units_of_their_joint_columns(unit):
    merged = merged_is_refitted([dependent(0, ["u", "v", "w"]), dependent(1, ["u", "v", "w"], unit)])
    assert any(len(columns) == 3 for columns in joint(merged))


def test_categories_that_one_of_the_models_never_saw_are_those_of_both():
    """Categories of a joint block too, and rows go on to be learned and forgotten."""
    merged = merged_is_refitted([dependent(0, ["u", "v", "w"]), dependent(50, ["q", "w", "v"])])
    codings = [
        c for spec in merged.schema_.specs for n, c in zip(spec.columns, spec.codings, strict=False) if n == "city"
    ]
    assert {frozenset(coding.categories) for coding in codings} == {frozenset("uvwq")}
    X, y = dependent(7, ["q", "u"])
    before = merged.predict_proba(X)
    again = merged.partial_fit(X, y).forget(X, y)
    np.testing.assert_allclose(again.predict_proba(X), before, atol=1e-7)


def test_a_category_with_rows_that_a_joint_block_did_not_tell_apart_is_not_translated():
    """Two rows are too few for a number of its own: what they were is not in the sums of the block."""
    X, y = dependent(0, ["u", "v", "w"])
    X["city"][:2] = "q"
    first, second = (
        DENSITIES().fit(X, y),
        DENSITIES().fit(*dependent(50, ["q", "w", "v"])),
    )
    assert any(len(columns) == 3 for columns in joint(first))
    with pytest.raises(
        suffit.InputError, match=r"fit the second model with GenerativeClassifier\(columns=first.schema_"
    ):
        first.merge(second)


def test_a_model_without_the_structures_of_the_first_says_how_to_fit_it():
    first = DENSITIES().fit(*dependent(0, ["u", "v", "w"]))
    naive = suffit.GenerativeClassifier(structure="naive").fit(*dependent(1, ["u", "v", "w"]))
    with pytest.raises(
        suffit.InputError, match=r"fit the second model with GenerativeClassifier\(columns=first.schema_"
    ):
        first.merge(naive)
    assert naive.merge(first).class_count_.sum() == 2 * N  # whose sums have all that the naive structure needs


def test_models_in_other_units_are_not_added_up_as_they_are():
    """The sums of joint blocks in units of their own are other sums, whatever the columns are called."""
    first, second = (DENSITIES().fit(*dependent(0, ["u", "v", "w"], unit)) for unit in (1.0, 3.0))
    assert first._model.columns == second._model.columns
    with pytest.raises(suffit.InputError, match="in other units"):
        first._model + second._model


def crossed(seed: int, n: int = 500) -> tuple[dict, np.ndarray]:
    """Columns that say something of the class together alone, some of them missing."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 5, n), rng.normal(size=n)
    y = np.array(["x", "y"])[((a > 1) ^ (b > 0) ^ (rng.random(n) < 0.1)).astype(int)]
    city = np.array(["u", "v", "w"], object)[rng.integers(0, 3, n)]
    return {"a": np.where(rng.random(n) < 0.1, np.nan, a), "b": b, "city": city}, y


def test_partitions_that_were_cut_apart_do_not_merge_and_it_is_said_how_they_do():
    trees = suffit.GenerativeClassifier(structure="partitions")
    first, apart = (clone(trees).fit(*crossed(seed)) for seed in (0, 1))
    for one, other in ((first, apart), (apart, first)):
        with pytest.raises(
            suffit.InputError,
            match=r"partitions have other cuts.* fit the second model with GenerativeClassifier\(columns=first.schema_",
        ):
            copy.copy(one).merge(other)
    second = suffit.GenerativeClassifier(columns=first.schema_).fit(*crossed(1))
    X, y = both(crossed(0), crossed(1))
    whole = suffit.GenerativeClassifier(columns=first.schema_).fit(X, y)
    for merged in (first + second, second + first):
        np.testing.assert_allclose(merged.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-12)
    again = whole.forget(*crossed(1))
    np.testing.assert_allclose(again.predict_proba(X), first.predict_proba(X), rtol=0, atol=1e-10)


def test_partitions_of_the_same_bins_and_other_cuts_are_other_sums():
    """Integers have bins of their own, which all rows share; their cuts do not."""
    rng = np.random.default_rng(3)
    models = []
    for _ in range(2):
        a, b = rng.integers(0, 3, (2, 300))
        y = (a == b) ^ (rng.random(300) < 0.1)
        models.append(suffit.GenerativeClassifier(structure="partitions").fit({"a": a, "b": b}, y))
    codings = [[spec.codings for spec in m.schema_.specs if spec.reads == "places"] for m in models]
    assert codings[0] == codings[1] != []
    with pytest.raises(suffit.InputError, match=r"partitions have other cuts.*columns=first.schema_"):
        models[0].merge(models[1])
