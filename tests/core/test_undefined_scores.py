"""A family without finite parameters is an error that names it, never the class shares without a word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import suffit
from suffit.families.elementwise import Elementwise, Natural

X = np.random.default_rng(0).normal(5.0, 1.0, size=(60, 3))
Y = np.repeat(["a", "b", "b"], 20)


@dataclass(frozen=True)
class Slipped(Elementwise):
    """A normal column of variance 1 whose solve takes the logarithm of a number below 0, where a mean is above 5."""

    key: ClassVar[str] = "slipped"

    def T(self, x):
        return x[..., None]

    def solve(self, n, t):
        mean = t[..., 0] / n
        return Natural(mean[..., None], mean**2 / 2 + 0 * np.log(5.5 - mean))

    def log_base(self, x):
        return -(x**2) / 2

    def draw(self, theta, rng):
        return theta[..., 0] + rng.standard_normal(theta.shape[:-1])


def shifted(column: int) -> np.ndarray:
    """Class b has a mean of about 7 in one column."""
    out = X.copy()
    out[Y == "b", column] += 2.0
    return out


@pytest.mark.parametrize("ask", ["predict_proba", "predict", "predict_log_proba", "predict_joint_log_proba"])
@pytest.mark.parametrize("column", [0, 2])
def test_a_family_that_solves_to_nan_is_named_with_its_class_and_column(ask: str, column: int):
    rows = shifted(column)
    model = suffit.NaiveBayes(Slipped()).fit(rows, Y)
    for some in (rows, rows[:1], rows[:3]):
        with pytest.raises(
            FloatingPointError, match=f"class 'b', column 'x{column}': slipped gives row 0 the score NaN"
        ):
            getattr(model, ask)(some)


def test_rows_with_missing_values_and_densities_say_so_too():
    rows = shifted(1)
    rows[::3, 0] = np.nan
    model = suffit.NaiveBayes(Slipped()).fit(rows, Y)
    for ask in (model.predict_proba, model.score_samples):
        with pytest.raises(FloatingPointError, match="class 'b', column 'x1': slipped"):
            ask(rows)


def test_a_table_names_the_family_of_the_block():
    table = {f"c{j}": shifted(1)[:, j] for j in range(3)}
    model = suffit.GenerativeClassifier({"c1": Slipped(), "c0": "gaussian", "c2": "gaussian"}).fit(table, Y)
    with pytest.raises(FloatingPointError, match="class 'b', column 'c1': slipped"):
        model.predict_proba(table)


def test_a_family_with_finite_parameters_says_nothing():
    model = suffit.NaiveBayes(Slipped()).fit(X - 3, Y)
    assert np.isfinite(model.predict_proba(X - 3)).all()


@pytest.mark.parametrize("key", ["gaussian", "lognormal", "exponential", "gamma", "poisson", "geometric", "vonmises"])
@pytest.mark.parametrize("value", [1e-300, 1e-9, 1e9, 1e150, 1e300])
def test_rows_far_out_are_no_error(key: str, value: float):
    rows = np.abs(X)
    model = suffit.NaiveBayes(key).fit(rows, Y)
    far = np.array([[value, 5.0, 5.0], [value, value, value], [5.0, np.nan, value]])
    assert np.isfinite(model.predict_proba(far)).all()
    assert not np.isnan(model.score_samples(far)).any()


@pytest.mark.parametrize("ask", ["loo_predict_proba", "loo_log_joint", "recalibrate"])
def test_leave_one_out_names_them_too(ask: str):
    rows = shifted(2)
    model = suffit.NaiveBayes(Slipped()).fit(rows, Y)
    with pytest.raises(FloatingPointError, match="class 'b', column 'x2': slipped gives row 0 the score NaN"):
        getattr(model, ask)(rows, Y)
    table = {f"c{j}": rows[:, j] for j in range(3)}
    model = suffit.GenerativeClassifier({"c2": Slipped(), "c0": "gaussian", "c1": "gaussian"}).fit(table, Y)
    with pytest.raises(FloatingPointError, match="class 'b', column 'c2': slipped gives row 0"):
        getattr(model, ask)(table, Y)


def test_leave_one_out_names_the_row_without_which_there_are_no_parameters():
    rows, labels = np.array([[5.0], [5.0], [6.0], [1.0]]), ["a", "a", "b", "b"]
    model = suffit.NaiveBayes(Slipped()).fit(rows, labels)
    with pytest.raises(FloatingPointError, match="class 'b', column 'x0': slipped gives row 3 the score NaN"):
        model.loo_predict_proba(rows, labels)


def half_tied() -> suffit.GaussianDiscriminantAnalysis:
    return suffit.GaussianDiscriminantAnalysis(tie=0.5)


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.QDA, half_tied, suffit.GenerativeClassifier])
@pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")
@pytest.mark.parametrize("scale", [1e-9, 1.0])
def test_a_row_whose_density_vanishes_under_all_others_has_a_posterior(make, scale: float):
    """Which class it has is beyond 16 digits: the sums held its square."""
    rng, y = np.random.default_rng(0), np.arange(40) % 2
    rows = scale * (rng.normal(size=(40, 2)) * 1e-6 + y[:, None])
    rows[3] = 1e150
    model = make().fit(rows, y)
    found = model.loo_predict_proba(rows, y)
    assert np.isfinite(found).all()
    assert np.allclose(found.sum(axis=1), 1.0)
    assert not np.isnan(model.loo_log_joint(rows, y)).any()
