"""The unit of a column of integers changes nothing: x and 10·x get the same family and the same posteriors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import suffit
from suffit.tables.column_family import _step

pytestmark = pytest.mark.filterwarnings("ignore::suffit.DataWarning")


def table(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    y[:4] = [0, 0, 1, 1]
    x = {
        "rounded normal": lambda: np.round(rng.normal(size=n) * 2 + y).astype(int) + 20,
        "negative": lambda: np.round(rng.normal(size=n) * 6 + y).astype(int) - 3,
        "counts": lambda: rng.poisson(2.0 + 3 * y),
        "counts, more": lambda: rng.poisson(40.0 + 5 * y),
        "few different": lambda: rng.choice([1, 2, 9], n) * (1 + y) + y,
        "0 and 1": lambda: (rng.random(n) < 0.3 + 0.4 * y).astype(int),
        "1 and 2": lambda: 1 + (rng.random(n) < 0.3 + 0.4 * y).astype(int),
        "large": lambda: 10**9 + rng.poisson(40.0 + 5 * y),
    }[kind]()
    return x, y


KINDS = ["rounded normal", "negative", "counts", "counts, more", "few different", "0 and 1", "1 and 2", "large"]


@pytest.mark.parametrize("n", [12, 40, 300])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("criterion", ["bic", "loo"])
def test_a_unit_of_integers_changes_neither_the_family_nor_a_posterior(kind: str, n: int, criterion: str):
    rng = np.random.default_rng([n, KINDS.index(kind)])
    x, y = table(kind, n, rng)
    z = rng.normal(size=n) + y
    found = []
    for unit in (1, 10, 1000):
        model = suffit.GenerativeClassifier(criterion=criterion).fit({"x": x * unit, "z": z}, y)
        found.append((type(model.schema_.specs[0].family), model.predict_proba({"x": x * unit, "z": z})))
    for family, posterior in found[1:]:
        assert family is found[0][0]
        np.testing.assert_allclose(posterior, found[0][1], rtol=0, atol=1e-9 if x.max() < 1e9 else 1e-6)


def test_a_value_between_is_read_as_one_where_the_column_is_gaussian_or_counts():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 200)
    for x in (np.round(rng.normal(size=400) * 4 + 3 * y).astype(int) + 20, rng.poisson(5.0 + 4 * y)):
        model = suffit.GenerativeClassifier(structure="naive").fit({"x": x * 10}, y)
        low, middle, high = model.predict_proba({"x": [10 * x.min(), 10 * x.min() + 5, 10 * x.max()]})[:, 1]
        assert low < middle < high


def test_draws_and_novelty_are_in_the_units_of_the_column():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1], 200)
    columns = {"counts": rng.poisson(2.0 + 2 * y) * 10, "binary": (rng.random(400) < 0.3 + 0.4 * y) * 10}
    model = suffit.GenerativeClassifier(structure="naive").fit(columns, y)
    drawn = model.sample(500, random_state=0)[0]
    assert set(np.unique(drawn["binary"])) == {0, 10}
    assert (np.asarray(drawn["counts"], float) % 10 == 0).all()
    assert abs(np.mean(drawn["counts"]) - columns["counts"].mean()) < 3


def test_a_running_number_in_steps_is_an_identifier():
    y = np.arange(100) % 2
    model = suffit.GenerativeClassifier().fit({"id": np.arange(100) * 10 + 7, "z": y + 0.1 * np.arange(100)}, y)
    assert "running number" in model.schema_.choices[0].reason


def test_another_value_beside_0_and_10_is_missing_with_a_warning():
    y = np.arange(60) % 2
    model = suffit.GenerativeClassifier().fit(
        {"x": 10 * ((np.arange(60) % 3 > 0) ^ y), "z": np.sin(np.arange(60.0))}, y
    )
    with pytest.warns(suffit.MissingValuesWarning, match="'x': 5 is impossible"):
        model.predict_proba({"x": [5], "z": [0.1]})


@pytest.mark.parametrize(
    ("values", "step"),
    [
        ([20, 30, 50], 10),
        ([5, 15, 35], 10),
        ([0, 7], 7),
        ([-4, 2, 5], 3),
        ([1, 2], 1),
        ([0, 2**60], 1),
        ([1e9, 1e9 + 2], 2),
    ],
)
def test_the_step_is_the_greatest_common_divisor_of_the_differences(values: list[float], step: int):
    x = np.array([*values, np.nan, *([values[0]] * 100), values[-1]])
    assert _step(x, min(values), max(values)) == step


def test_a_poisson_with_a_unit_is_that_of_the_counts():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 30)
    x = rng.poisson(3.0 + y)[:, None].astype(float)
    one, ten = (suffit.NaiveBayes(suffit.Poisson(unit=u)).fit(x * u, y) for u in (1.0, 10.0))
    np.testing.assert_allclose(one.predict_proba(x), ten.predict_proba(x * 10), atol=1e-12)
    means = ten._solved.scorer.centres
    rate = (x[y == 0].sum() + x.mean()) / 31
    assert means[0, 0] == pytest.approx(10 * rate)
    joint = ten.predict_joint_log_proba([[40.0]])[0, 0]
    assert joint == pytest.approx(np.log(0.5) + stats.poisson.logpmf(4, rate))
    with pytest.raises(ValueError, match="unit"):
        suffit.Poisson(unit=0.0)
    with pytest.raises(suffit.InputError, match="different sums"):
        one.merge(ten)
