"""Simulated data: draws fit the exact posterior, the best error is what it is said to be, known results come out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression

import suffit
from suffit.comparison.simulate import KINDS, efficiency


@pytest.mark.parametrize("prior", [0.5, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_posterior_is_that_of_the_draws(kind: str, prior: float):
    truth = suffit.simulate(kind, columns=3, prior=prior)
    X, y = truth.sample(40_000, random_state=1)
    p = truth.predict_proba(X)[:, 1]
    assert abs(y.mean() - prior) < 0.01
    for low, high in [(0.0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 0.9), (0.9, 1.0)]:
        here = (p >= low) & (p < high)
        error = 4 * np.sqrt(0.25 / max(here.sum(), 1))
        assert abs(y[here].mean() - p[here].mean()) < error if here.sum() > 50 else True


@pytest.mark.parametrize("prior", [0.5, 0.2])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_error_is_the_error_of_the_exact_posterior(kind: str, prior: float):
    truth = suffit.simulate(kind, columns=1 if kind == "poisson" else 3, prior=prior)
    assert abs(truth.bayes_error - truth.error(truth, 200_000, random_state=5)) < 0.002


def test_no_model_is_better_than_the_best_error():
    truth = suffit.simulate("own covariances", separation=1.0)
    X, y = truth.sample(4000, random_state=0)
    for model in (suffit.QDA(), suffit.LDA(), LogisticRegression()):
        assert truth.error(model.fit(X, y)) >= truth.bayes_error - 1e-9


def test_columns_without_dependence_are_what_naive_bayes_takes_them_for():
    apart = suffit.simulate("binary", columns=8, separation=1.0, dependence=0.0)
    together = suffit.simulate("binary", columns=8, separation=1.0, dependence=2.0)
    found = {}
    for name, truth in (("apart", apart), ("together", together)):
        X, y = truth.sample(20_000, random_state=0)
        P = suffit.BernoulliNB().fit(X, y).predict_proba(X[:4000])
        found[name] = np.abs(P - truth.predict_proba(X[:4000])).mean()
    assert found["apart"] < 0.02 < 0.1 < found["together"]


def test_the_same_number_gives_the_same_rows():
    truth = suffit.simulate("mixed")
    (X, y), (again, labels) = truth.sample(50, random_state=3), truth.sample(50, random_state=3)
    np.testing.assert_array_equal(y, labels)
    assert all((X[name] == again[name]).all() for name in X)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kind": "cauchy"}, "the kinds are 'gaussian'"),
        ({"prior": 1.0}, "both classes need rows"),
        ({"separation": -1.0}, "separation"),
        ({"columns": 0}, "columns"),
        ({"kind": "poisson", "rates": [[1.0], [-1.0]]}, "all above 0"),
        ({"kind": "heavy-tailed", "freedom": 0.0}, "freedom"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        suffit.simulate(**settings)


# --- known results


def excess(w: np.ndarray, b: float, separation: float) -> float:
    """The error of the rule w·x + b > 0 on N(±Δ/2 e₁, I) with equal priors, less the best one."""
    norm, half = np.linalg.norm(w), separation / 2
    error = 0.5 * ndtr(-(b + w[0] * half) / norm) + 0.5 * ndtr((b - w[0] * half) / norm)
    return float(error - ndtr(-half))


def maximum_likelihood(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Logistic regression without a penalty, by Newton's method."""
    Z, w = np.column_stack([X, np.ones(len(X))]), np.zeros(X.shape[1] + 1)
    for _ in range(12):
        p = 1 / (1 + np.exp(-Z @ w))
        w += np.linalg.solve((Z.T * (p * (1 - p))) @ Z, Z.T @ (y - p))
    return w[:-1], float(w[-1])


def relative_efficiency(separation: float, n: int, repeats: int) -> tuple[float, float]:
    """Excess error of LDA over that of logistic regression, and the standard error of the ratio."""
    truth, each = suffit.simulate("gaussian", separation=separation), []
    for r in range(repeats):
        X, y = truth.sample(n, random_state=r)
        lda, (w, b) = suffit.LDA().fit(X, y), maximum_likelihood(X, y)
        each.append([excess(lda.coef_[0], float(lda.intercept_[0]), separation), excess(w, b, separation)])
    a, b = np.array(each).T
    ratio = a.mean() / b.mean()
    return ratio, float(np.std(a - ratio * b, ddof=1) / b.mean() / repeats**0.5)


def test_C2_the_efficiency_of_logistic_regression_is_efrons_in_his_table():
    """B. Efron, The efficiency of logistic regression compared to normal discriminant analysis, JASA 70 (1975)."""
    table = {0.5: 1.000, 1.0: 0.995, 1.5: 0.968, 2.0: 0.899, 2.5: 0.786, 3.0: 0.641, 3.5: 0.486, 4.0: 0.343}
    for separation, value in table.items():
        assert abs(efficiency(separation) - value) < 6e-4


@pytest.mark.parametrize("separation", [2.0, 2.5, 3.0, 3.5, 4.0])
def test_C2_lda_needs_fewer_rows_than_logistic_regression_on_gaussian_data_as_efron_says(separation: float):
    found, error = relative_efficiency(separation, n=1500, repeats=400)
    assert abs(found - efficiency(separation)) < 3.5 * error + 0.02  # the table is for infinitely many rows
    assert found < 1.0 if separation >= 2.5 else found < 1.1


def test_C2_on_poisson_data_lda_is_beaten_in_the_long_run_and_the_right_family_is_not():
    truth = suffit.simulate("poisson", rates=([1.0, 1.0], [2.0, 6.0]))
    X, y = truth.sample(20_000, random_state=0)
    lda, logistic = truth.error(suffit.LDA().fit(X, y)), truth.error(LogisticRegression().fit(X, y))
    poisson = truth.error(suffit.PoissonNB().fit(X, y))
    assert lda > logistic + 0.005
    assert abs(poisson - truth.bayes_error) < 0.002
