"""SPEC row C5: missing values filled in and drawn, against regressions and sums by hand."""

from __future__ import annotations

import numpy as np
import pytest

import suffit
from cases import CASES, FAMILIES, HOURS, data, with_holes
from missing_rows import (
    FULL,
    GAUSSIAN,
    NaN,
    by_regression,
    fitted_parameters,
    normal_rows,
    over,
)
from suffit import (
    BernoulliNB,
    CategoricalNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
)

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_C5_a_column_without_any_level_can_be_sampled():
    X, y = data(CASES["CategoricalNB"], 5)
    X = X.astype(float)
    X[:, 1] = NaN
    rows, _ = CategoricalNB().fit(X, y).sample(3, random_state=0)
    assert len(rows) == 3


@over(GAUSSIAN)
def test_C5_filled_rows_are_the_regression_on_the_columns_that_are_there(make):
    X, y = normal_rows(44)
    X[0] = NaN
    model = make().fit(X, y)
    posterior = model.predict_proba(X)
    _, means, covariances = fitted_parameters(model)
    filled = model._solved.scorer.filled(X, posterior)
    there = ~np.isnan(X)
    np.testing.assert_array_equal(filled[there], X[there])
    np.testing.assert_allclose(filled, by_regression(X, posterior, means, covariances), rtol=1e-9, atol=1e-9)


@over({k: GAUSSIAN[k] for k in (*FULL, "diagonal", "diagonal-shared", "spherical", "GaussianNB")})
@pytest.mark.parametrize("there", [[0], [2], [0, 1], []])
def test_C5_drawn_rows_have_the_conditional_mean_and_covariance(make, there):
    X, y = normal_rows(45)
    model = make().fit(X, y)
    _, means, covariances = fitted_parameters(model)
    n, row = 60_000, np.full(3, NaN)
    row[there] = np.array([1.5, -1.0, 0.5])[there]
    codes = np.tile(np.array([0, 1, 2], np.int32), n // 3)
    drawn = model._solved.scorer.drawn(np.tile(row, (n, 1)), codes, np.random.default_rng(0))
    o, m = np.array(there, int), np.setdiff1d(np.arange(3), there)
    for c in range(3):
        S, rows = covariances[c], drawn[codes == c]
        B = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        mean, cov = means[c][m] + B @ (row[o] - means[c][o]), S[np.ix_(m, m)] - B @ S[np.ix_(o, m)]
        error = np.sqrt(np.diagonal(cov) / len(rows))
        assert (np.abs(rows[:, m].mean(axis=0) - mean) < 5 * error).all()
        spread = np.sqrt(np.outer(np.diagonal(cov), np.diagonal(cov)))
        assert (np.abs(np.cov(rows[:, m].T).reshape(cov.shape) - cov) < 7 * spread / np.sqrt(len(rows))).all()
        np.testing.assert_array_equal(rows[:, o], np.tile(row[o], (len(rows), 1)))


def test_C5_levels_are_filled_with_the_most_probable_one_and_drawn_from_their_table():
    X, y = data(CASES["CategoricalNB-words"], 7)
    model = CategoricalNB(alpha=0.5).fit(X, y)
    rows = X[:50].copy()
    rows[::2, 0] = None
    rows[::3, 1] = NaN
    posterior = model.predict_proba(rows)
    filled = model._solved.scorer.filled(rows, posterior)
    for j, categories in enumerate([["blue", "green", "red"], ["L", "M", "S"]]):
        alone = np.array(
            [
                [
                    np.exp(model.predict_joint_log_proba([[v if i == j else None for i in range(2)]]))[0]
                    for v in categories
                ]
            ]
        )[0]  # p(category, c), categories × classes
        share = posterior @ (alone / alone.sum(axis=0)).T
        for i in range(50):
            missing = rows[i, j] is None or rows[i, j] != rows[i, j]
            assert filled[i, j] == (categories[share[i].argmax()] if missing else rows[i, j])
    n = 30_000
    codes = np.zeros(n, np.int32)
    drawn = model._solved.scorer.drawn(np.full((n, 2), None), codes, np.random.default_rng(0))
    count = np.array([(X[y == "ant", 0] == v).sum() for v in ("blue", "green", "red")]) + 0.5
    share = np.array([(drawn[:, 0] == v).mean() for v in ("blue", "green", "red")])
    np.testing.assert_allclose(share, count / count.sum(), atol=5 * 0.5 / np.sqrt(n))


def test_C5_angles_are_filled_with_the_circular_mean_of_the_mixture():
    case = CASES["family-vonmises"]
    X, y = data(case, 8)
    model = case.make().fit(X, y)
    rows = X[:20].copy()
    rows[:, 1] = NaN
    posterior = model.predict_proba(rows)
    filled = model._solved.scorer.filled(rows, posterior)
    hours = np.linspace(0, 24, 4801)[:-1]
    blank = np.column_stack([np.full(4800, NaN), hours])
    density = np.exp(model.predict_joint_log_proba(blank)) / (model.class_count_ / len(y))  # p(hour | c)
    resultant = posterior @ (density.T @ np.exp(2j * np.pi * hours / 24))
    np.testing.assert_allclose(filled[:, 1], np.angle(resultant) % (2 * np.pi) * 24 / (2 * np.pi), atol=1e-6)


def test_C5_binned_values_are_filled_with_the_mean_of_the_middles():
    X = np.array([[0.5, 1.0], [1.5, NaN], [2.5, 3.0], [0.5, 2.0], [2.5, NaN], [2.5, 1.0]])
    model = NaiveBayes(suffit.Binned([1.0, 2.0], alpha=1.0)).fit(X, [0, 0, 0, 1, 1, 1])
    shares = np.array([[2, 2, 2], [2, 1, 3]]) / 6
    np.testing.assert_allclose(model._solved.scorer.centres[:, 0], shares @ [0.5, 1.5, 2.5], rtol=1e-12)
    filled = model._solved.scorer.filled(np.array([[NaN, 1.0]]), np.array([[0.25, 0.75]]))
    np.testing.assert_allclose(filled, [[[0.25, 0.75] @ shares @ [0.5, 1.5, 2.5], 1.0]], rtol=1e-12)


def test_C5_word_counts_are_filled_with_the_share_of_the_mean_length():
    X, y = data(CASES["MultinomialNB"], 9)
    model = MultinomialNB().fit(X, y)
    row = np.array([[1.0, NaN, 3.0, 0.0]])
    posterior = model.predict_proba(row)
    length = np.array([X[y == c].sum() / (y == c).sum() for c in ("ant", "bee", "cat")])
    expected = posterior @ (np.exp(model.feature_log_prob_[:, 1]) * length)
    np.testing.assert_allclose(model._solved.scorer.filled(row, posterior)[0, 1], expected, rtol=1e-12)


MEANS = [key for key, row in FAMILIES.items() if row.oracle is not None and row.oracle.theta is not None]


@pytest.mark.parametrize("key", MEANS)
def test_C5_the_mean_of_every_family_is_that_of_scipy(key):
    oracle = HOURS if key == "vonmises" else FAMILIES[key].oracle
    expected = oracle.frozen(np.array(oracle.theta)).mean()
    np.testing.assert_allclose(oracle.family.mean(np.array([oracle.theta])), [expected], rtol=1e-12)


@pytest.mark.parametrize("key", [*MEANS, "gaussian", "lognormal", "binned"])
def test_C5_filled_values_are_the_means_of_many_draws(key):
    case = CASES[f"family-{key}"]
    X, y = data(case, 10)
    model = case.make().fit(with_holes(X, 10), y)
    scorer = model._solved.scorer
    n, p = 40_000, X.shape[1]
    draws = scorer.drawn(np.full((n, p), NaN), np.full(n, 1, np.int32), np.random.default_rng(1))
    centre = scorer.filled(np.full((1, p), NaN), np.array([[0.0, 1.0, 0.0]]))[0]
    if key == "vonmises":
        turn = np.exp(2j * np.pi * draws / 24).mean(axis=0)
        apart = np.angle(turn * np.exp(-2j * np.pi * centre / 24)) * 24 / (2 * np.pi)
        assert (np.abs(apart) < 5 * 24 / (2 * np.pi) / np.abs(turn) / np.sqrt(n)).all()
        return
    assert (np.abs(draws.mean(axis=0) - centre) <= 5 * draws.std(axis=0) / np.sqrt(n) + 1e-12).all()


def test_C5_a_family_without_a_formula_for_its_mean_takes_that_of_many_draws():
    family = suffit.Gamma()
    theta = np.array([[-1.5, 2.0], [-4.0, 0.5]])
    by_draws = super(suffit.Gamma, family).mean(theta)
    np.testing.assert_allclose(by_draws, family.mean(theta), rtol=0.15)


@pytest.mark.parametrize("make", [lambda: BernoulliNB(alpha=0), lambda: PoissonNB(alpha=0)])
def test_C5_what_a_class_never_shows_is_neither_filled_in_nor_drawn(make):
    X = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    model = make().fit(X, [0, 0, 1, 1])
    scorer = model._solved.scorer
    assert scorer.filled(np.full((1, 2), NaN), np.array([[1.0, 0.0]]))[0, 0] == 0.0
    assert not model.sample(1000, y=0, random_state=0)[0][:, 0].any()


@pytest.mark.parametrize(
    "family", [k for k, row in FAMILIES.items() if row.oracle is not None and k not in ("gamma", "geometric")]
)
def test_C5_a_column_without_any_value_is_filled_with_something_finite(family):
    X, y = data(CASES[f"family-{family}"], 11)
    X[:, 1] = NaN
    model = NaiveBayes(family).fit(X, y)
    assert np.isfinite(model._solved.scorer.filled(X, model.predict_proba(X))).all()


@pytest.mark.parametrize("family", ["gamma", "geometric"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_C5_a_column_without_any_value_is_filled_with_something_finite_by_other_families(family):
    X, y = data(CASES[f"family-{family}"], 11)
    X[:, 1] = NaN
    model = NaiveBayes(family).fit(X, y)
    assert np.isfinite(model._solved.scorer.filled(X, model.predict_proba(X))).all()
