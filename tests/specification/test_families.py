"""SPEC rows E1–E3: exponential families against scipy.stats, numerical maximisation and draws."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

import suffit
from cases import FAMILIES, HOURS
from suffit import NaiveBayes
from suffit.families.elementwise.shape import Elementwise, Natural

CASES = {key: row.oracle for key, row in FAMILIES.items() if row.oracle is not None}
CASES["hours"] = HOURS
every_family = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def two_classes(case, seed=0, sizes=(70, 45), p=2):
    rng = np.random.default_rng(seed)
    X = [np.column_stack([case.data(rng, c, n) for _ in range(p)]) for c, n in enumerate(sizes)]
    return np.concatenate(X), np.repeat(["no", "yes"], sizes)


def naturals(model, p=2):
    """Natural parameters of each class and column, as the exported form holds them.  (K, p, order)"""
    form = model.logistic_form()
    if form.quadratic is not None:
        return np.stack([form.weights, form.quadratic], axis=-1)
    return form.weights.reshape(len(form.weights), p, -1)


# --- E1


@every_family
def test_E1_log_odds_are_linear_in_the_sufficient_statistic(case):
    X, y = two_classes(case)
    model = NaiveBayes(case.family).fit(X, y)
    joint = model.predict_joint_log_proba(X)
    pair = model.logistic_form().pair("yes", "no")
    assert_allclose(pair(X), joint[:, 1] - joint[:, 0], rtol=1e-10, atol=1e-12)
    assert_allclose(pair.probability(X), model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)
    eta = naturals(model)
    T = np.stack([np.stack(case.T(X[:, j]), axis=-1) for j in range(2)], axis=1)  # (n, p, order), by hand
    by_hand = np.einsum("njo,jo->n", T, eta[1] - eta[0]) + pair.intercept
    assert_allclose(by_hand, joint[:, 1] - joint[:, 0], rtol=1e-10, atol=1e-12)


@every_family
def test_E1_log_odds_are_those_of_scipys_densities(case):
    """(η1−η0)·T(x) − (A(η1)−A(η0)) + log prior odds: the intercept holds A and the prior."""
    X, y = two_classes(case, seed=1)
    model = NaiveBayes(case.family).fit(X, y)
    log_p = np.zeros((len(X), 2))
    for c, label in enumerate(("no", "yes")):
        for j in range(2):
            log_p[:, c] += log_density(case, case.maximise(X[y == label, j]), X[:, j])
    odds = log_p[:, 1] - log_p[:, 0] + np.log(45 / 70)
    assert_allclose(model.logistic_form().pair("yes", "no")(X), odds, rtol=1e-5, atol=1e-5)


@every_family
def test_E1_the_prior_moves_the_intercept_only(case):
    X, y = two_classes(case, seed=2)
    fitted = NaiveBayes(case.family).fit(X, y)
    before = fitted.logistic_form().pair("yes", "no")
    after = fitted.with_prior({"yes": 0.9, "no": 0.1}).logistic_form().pair("yes", "no")
    assert_allclose(after.weights, before.weights, rtol=1e-15)
    assert after.intercept - before.intercept == pytest.approx(np.log(9) - np.log(45 / 70), rel=1e-10)


def test_E1_families_of_whole_rows_export_it_too():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 20)
    counts = rng.poisson(2, (60, 4)) + y[:, None] * [1, 0, 0, 2]
    for model in (
        suffit.MultinomialNB(),
        suffit.CategoricalNB(),
        suffit.GDA(),
        suffit.GDA(tie=1),
        suffit.PoissonNB(),
        suffit.BernoulliNB(),
    ):
        joint = model.fit(counts, y).predict_joint_log_proba(counts)
        for a, b in ((1, 0), (2, 1)):
            pair = model.logistic_form().pair(a, b)
            assert_allclose(pair(counts), joint[:, a] - joint[:, b], rtol=1e-9, atol=1e-10)


# --- E2


def log_density(case, frozen, x):
    return frozen.logpdf(x) if case.continuous else frozen.logpmf(x)


@every_family
def test_E2_log_density_is_scipys(case):
    X, y = two_classes(case, seed=4)
    model = NaiveBayes(case.family).fit(X, y)
    eta = naturals(model)
    want = np.zeros((len(X), 2))
    for c in range(2):
        for j in range(2):
            want[:, c] += log_density(case, case.frozen(eta[c, j]), X[:, j])
    joint = model.predict_joint_log_proba(X)
    assert_allclose(joint - np.log([70 / 115, 45 / 115]), want, rtol=1e-10, atol=1e-11)
    assert_allclose(model.score_samples(X), np.logaddexp(joint[:, 0], joint[:, 1]), rtol=1e-12)


@every_family
def test_E2_parameters_are_of_maximum_likelihood(case):
    X, y = two_classes(case, seed=5)
    model = NaiveBayes(case.family).fit(X, y)
    eta = naturals(model)
    for c, label in enumerate(("no", "yes")):
        for j in range(2):
            x = X[y == label, j]
            ours, best = case.frozen(eta[c, j]), case.maximise(x)
            likelihood = log_density(case, ours, x).sum()
            assert likelihood >= log_density(case, best, x).sum() - 1e-10 * abs(likelihood)
            grid = best.ppf(np.linspace(0.02, 0.98, 25))
            assert_allclose(log_density(case, ours, grid), log_density(case, best, grid), rtol=1e-5, atol=1e-6)


@every_family
def test_E2_no_step_from_the_maximum_is_uphill(case):
    X, y = two_classes(case, seed=6)
    eta = naturals(NaiveBayes(case.family).fit(X, y))
    for c, label in enumerate(("no", "yes")):
        x, at = X[y == label, 0], eta[c, 0]
        top = log_density(case, case.frozen(at), x).sum()
        for step in np.concatenate([np.eye(len(at)), -np.eye(len(at))]) * 1e-3:
            assert log_density(case, case.frozen(at * (1 + step)), x).sum() < top


@every_family
def test_E2_draws_have_the_moments_of_the_density(case):
    X, y = two_classes(case, seed=7)
    model = NaiveBayes(case.family).fit(X, y)
    eta = naturals(model)
    for c, label in enumerate(("no", "yes")):
        draws, labels = model.sample(20_000, y=label, random_state=11 + c)
        assert (labels == label).all()
        assert draws.shape == (20_000, 2)
        for j in range(2):
            check_moments(case, case.frozen(eta[c, j]), draws[:, j])


def expected_statistics(case, frozen):
    """E T(x) by scipy; on a circle by the trapezoidal rule over one turn, which is exact there."""
    period = getattr(case.family, "period", None)
    if period is not None:
        x = np.linspace(0, period, 4096, endpoint=False)
        return [(t * frozen.pdf(x)).mean() * period for t in case.T(x)]
    order = len(case.T(np.array([0.5])))
    return [frozen.expect(lambda v, i=i: case.T(np.asarray(v))[i]) for i in range(order)]


def check_moments(case, frozen, x):
    """The mean of every statistic T(x) of the draws, within 5 standard errors of scipy's expectation."""
    for t, expected in zip(case.T(x), expected_statistics(case, frozen), strict=True):
        assert abs(t.mean() - expected) < 5 * t.std() / np.sqrt(len(t)), (t.mean(), expected)
    if not case.continuous:  # the second moment tells a Poisson from a geometric
        squares = x * x
        assert abs(squares.mean() - frozen.moment(2)) < 5 * squares.std() / np.sqrt(len(x))


@pytest.mark.parametrize("key", [k for k, case in CASES.items() if case.continuous])
def test_E2_draws_pass_a_kolmogorov_smirnov_test(key):
    case = CASES[key]
    X, y = two_classes(case, seed=8)
    model = NaiveBayes(case.family).fit(X, y)
    eta = naturals(model)
    for c, label in enumerate(("no", "yes")):
        draws, _ = model.sample(20_000, y=label, random_state=21 + c)
        frozen = case.frozen(eta[c, 0])
        assert stats.kstest(unwrapped(key, draws[:, 0], eta[c, 0]), frozen.cdf).pvalue > 1e-3


def unwrapped(key, x, eta):
    """Angles moved to within half a turn of their mean, where scipy's cdf of the von Mises starts at 0."""
    period = {"vonmises": 2 * np.pi, "hours": 24.0}.get(key)
    if period is None:
        return x
    assert ((x >= 0) & (x < period)).all()
    middle = np.arctan2(eta[1], eta[0]) * period / (2 * np.pi)
    return middle + np.remainder(x - middle + period / 2, period) - period / 2


def test_E2_draws_from_the_prior():
    case = CASES["poisson"]
    X, y = two_classes(case)
    _, labels = NaiveBayes(case.family).fit(X, y).sample(20_000, random_state=1)
    share = 45 / 115
    assert abs((labels == "yes").mean() - share) < 5 * np.sqrt(share * (1 - share) / 20_000)


def test_E2_multinomial_density_draws_and_maximum():
    rng = np.random.default_rng(9)
    X, y = (
        rng.poisson([1.0, 2.0, 0.5, 3.0], (40, 4)) + np.eye(4, dtype=int)[rng.integers(0, 4, 40)],
        np.repeat([0, 1], 20),
    )
    model = suffit.MultinomialNB(alpha=0).fit(X, y)
    phi = np.exp(model.feature_log_prob_)
    for c in (0, 1):
        assert_allclose(phi[c], X[y == c].sum(axis=0) / X[y == c].sum(), rtol=1e-13)
        with_coefficient = stats.multinomial.logpmf(X, X.sum(axis=1), phi[c])
        uniform = np.full(4, 0.25)
        coefficient = stats.multinomial.logpmf(X, X.sum(axis=1), uniform) - X.sum(axis=1) * np.log(0.25)
        got = model.predict_joint_log_proba(X)[:, c] - np.log(0.5)
        assert_allclose(got, with_coefficient - coefficient, rtol=1e-11)
        draws, _ = model.sample(20_000, y=c, random_state=c)
        words = draws.sum()
        assert (np.abs(draws.sum(axis=0) / words - phi[c]) < 5 * np.sqrt(phi[c] * (1 - phi[c]) / words)).all()


def test_E2_categorical_density_draws_and_maximum():
    rng = np.random.default_rng(10)
    X = np.column_stack([rng.choice(["a", "b", "c"], 60), rng.choice(["p", "q"], 60)])
    y = rng.integers(0, 2, 60)
    model = suffit.CategoricalNB(alpha=0).fit(X, y)
    want = np.zeros((60, 2))
    for c in (0, 1):
        draws, _ = model.sample(20_000, y=c, random_state=c)
        for j in (0, 1):
            categories = model.categories_[j]
            shares = np.array([(X[y == c, j] == v).mean() for v in categories])
            want[:, c] += stats.multinomial.logpmf((X[:, [j]] == categories).astype(int), 1, shares)
            drawn = np.array([(draws[:, j] == v).mean() for v in categories])
            assert (np.abs(drawn - shares) < 5 * np.sqrt(shares * (1 - shares) / 20_000)).all()
    prior = np.log([(y == 0).mean(), (y == 1).mean()])
    assert_allclose(model.predict_joint_log_proba(X), want + prior, rtol=1e-12)


@pytest.mark.parametrize("model", [suffit.GDA(), suffit.GDA(tie=1), suffit.GDA(tie=0.4), suffit.QDA(), suffit.LDA()])
def test_E2_multivariate_gaussian_density_and_draws(model):
    rng = np.random.default_rng(11)
    A = np.array([[1.0, 0.5], [-0.3, 0.8]])
    X, y = (
        np.concatenate([rng.normal(size=(30, 2)) @ A, rng.normal([1, 2], size=(25, 2))]),
        np.repeat([0, 1], [30, 25]),
    )
    model = model.set_params(**({"store_covariance": True} if hasattr(model, "store_covariance") else {})).fit(X, y)
    covs = np.broadcast_to(np.asarray(model.covariance_), (2, 2, 2))
    for c in (0, 1):
        frozen = stats.multivariate_normal(model.means_[c], covs[c])
        got = model.predict_joint_log_proba(X)[:, c] - np.log(model.priors_[c])
        assert_allclose(got, frozen.logpdf(X), rtol=1e-10)
        draws, _ = model.sample(20_000, y=c, random_state=c)
        white = (draws - frozen.mean) @ np.linalg.inv(np.linalg.cholesky(covs[c])).T  # standard normal if right
        assert (np.abs(white.mean(axis=0)) < 5 / np.sqrt(20_000)).all()
        assert abs((white[:, 0] * white[:, 1]).mean()) < 5 / np.sqrt(20_000)
        assert all(stats.kstest(white[:, j], "norm").pvalue > 1e-3 for j in (0, 1))


@pytest.mark.parametrize("name", [k for k in CASES if k != "hours"])
def test_E2_families_by_name(name):
    case = CASES[name]
    X, y = two_classes(case, seed=12)
    object_form = NaiveBayes(
        {"gaussian": suffit.Gaussian(smoothing=1e-9), "lognormal": suffit.LogNormal(smoothing=1e-9)}.get(
            name, type(case.family)()
        )
    )
    assert_allclose(NaiveBayes(name).fit(X, y).predict_proba(X), object_form.fit(X, y).predict_proba(X), rtol=1e-14)


@every_family
def test_E2_values_outside_the_support_are_refused_by_name(case):
    X, y = two_classes(case, seed=13)
    X[3, 1] = (*FAMILIES[case.family.key].outside, np.inf)[0]
    with pytest.raises(suffit.InputError, match=r"x1.*row 3"):
        NaiveBayes(case.family).fit(X, y)


@pytest.fixture
def rayleigh(monkeypatch):
    """A family of the user's own, registered for the length of one test."""
    registry = importlib.import_module("suffit.core.family")
    monkeypatch.setattr(registry, "_registry", dict(registry.families()))

    @suffit.register
    @dataclass(frozen=True)
    class Rayleigh(Elementwise):
        """x > 0: log p = log x − log σ² − x²/2σ²."""

        key: ClassVar[str] = "rayleigh"

        def outside(self, x):
            return x <= 0

        def T(self, x):
            return (x * x)[..., None]

        def solve(self, n, t):
            variance = t[..., 0] / n / 2
            return Natural(-0.5 / variance[..., None], np.log(variance))

        def log_base(self, x):
            return np.log(x)

        def draw(self, theta, rng):
            return rng.rayleigh(np.sqrt(-0.5 / theta[..., 0]))

    return Rayleigh


def test_E2_a_users_own_family(rayleigh):
    rng = np.random.default_rng(14)
    X = np.concatenate([rng.rayleigh(1.0, (50, 2)), rng.rayleigh(2.5, (70, 2))])
    y = np.repeat(["calm", "storm"], [50, 70])
    model = NaiveBayes(rayleigh(alpha=0.0)).fit(X, y)
    joint = np.zeros((120, 2))
    for c, label in enumerate(("calm", "storm")):
        for j in (0, 1):
            _, scale = stats.rayleigh.fit(X[y == label, j], floc=0)
            joint[:, c] += stats.rayleigh(scale=scale).logpdf(X[:, j])
    joint += np.log([50 / 120, 70 / 120])
    assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-7, atol=1e-7)
    assert_allclose(model.logistic_form().pair("storm", "calm")(X), joint[:, 1] - joint[:, 0], rtol=1e-6, atol=1e-6)
    draws, _ = model.sample(20_000, y="storm", random_state=0)
    scale = np.sqrt((X[y == "storm", 0] ** 2).mean() / 2)
    assert stats.kstest(draws[:, 0], stats.rayleigh(scale=scale).cdf).pvalue > 1e-3


def test_E2_a_users_own_family_by_name_online_and_with_missing_values(rayleigh):
    rng = np.random.default_rng(15)
    X, y = rng.rayleigh([[1.0, 2.0]], (60, 2)) * np.repeat([1, 2], 30)[:, None], np.repeat([0, 1], 30)
    whole = NaiveBayes("rayleigh").fit(X, y)
    assert isinstance(whole._model.family, rayleigh)
    online = NaiveBayes("rayleigh").partial_fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    assert_allclose(online.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
    first_only = NaiveBayes("rayleigh").fit(X[:, :1], y)
    missing = np.column_stack([X[:, 0], np.full(60, np.nan)])
    assert_allclose(whole.predict_proba(missing), first_only.predict_proba(X[:, :1]), rtol=1e-12)
    with pytest.raises(suffit.InputError, match="rayleigh"):
        whole.predict([[1.0, -1.0]])


def test_E2_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError, match=r"rayleigh.*poisson"):
        NaiveBayes("rayleigh").fit([[1.0], [2.0]], [0, 1])


# --- E3


def poisson_pair(rows, seed=0):
    rng = np.random.default_rng(seed)
    rates = np.array([[1.0, 6.0], [6.0, 2.0]])
    y = rng.integers(0, 2, rows)
    return rng.poisson(rates[y]).astype(float), y


def test_E3_poisson_data_give_an_exactly_logistic_posterior():
    X, y = poisson_pair(400)
    model = suffit.PoissonNB(alpha=0).fit(X, y)
    rate = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
    w = np.log(rate[1] / rate[0])
    w0 = -(rate[1] - rate[0]).sum() + np.log((y == 1).sum() / (y == 0).sum())
    grid = np.array([[i, j] for i in range(0, 31, 5) for j in range(0, 31, 5)], dtype=float)
    log_proba = model.predict_log_proba(grid)
    assert_allclose(log_proba[:, 1] - log_proba[:, 0], grid @ w + w0, rtol=1e-11, atol=1e-11)
    assert_allclose(model.predict_proba(grid)[:, 1], expit(grid @ w + w0), rtol=1e-10, atol=1e-15)
    by_scipy = [stats.poisson(r).logpmf(grid).sum(axis=1) for r in rate]
    odds = by_scipy[1] - by_scipy[0] + np.log((y == 1).sum() / (y == 0).sum())
    assert_allclose(log_proba[:, 1] - log_proba[:, 0], odds, rtol=1e-9, atol=1e-10)


def test_E3_the_data_are_not_gaussian_and_gda_answers_otherwise():
    """The converse of 'Gaussian ⇒ logistic' is false: LDA's logistic form is another one than the true one."""
    X, y = poisson_pair(200_000)
    assert abs(stats.skew(X[y == 0, 0]) - 1.0) < 0.03  # a normal column would have none
    true = np.log(np.array([6 / 1, 2 / 6]))
    poisson = suffit.PoissonNB().fit(X, y).logistic_form().pair(1, 0)
    lda = suffit.GDA(tie=1).fit(X, y).logistic_form().pair(1, 0)
    assert np.abs(poisson.weights - true).max() < 0.02
    assert np.abs(lda.weights - true).min() > 0.05
    grid = np.array([[i, j] for i in range(12) for j in range(12)], dtype=float)
    assert np.abs(poisson.probability(grid) - lda.probability(grid)).max() > 0.02


def test_E3_logistic_regression_approaches_the_poisson_model():
    X, y = poisson_pair(200_000, seed=1)
    pair = suffit.PoissonNB(alpha=0).fit(X, y).logistic_form().pair(1, 0)
    logistic = LogisticRegression(C=1e10, tol=1e-8).fit(X, y)
    ours, theirs = np.append(pair.weights, pair.intercept), np.append(logistic.coef_[0], logistic.intercept_)
    p = expit(X @ logistic.coef_[0] + logistic.intercept_)
    design = np.column_stack([X, np.ones(len(X))])
    error = np.sqrt(np.diag(np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design)))
    assert (np.abs(ours - theirs) < 5 * error).all()
    assert (error < 0.05).all()
    lda = suffit.GDA(tie=1).fit(X, y).logistic_form().pair(1, 0)
    assert (np.abs(lda.weights - theirs[:2]) > 10 * error[:2]).all()
