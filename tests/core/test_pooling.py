"""The outlier rate of a pool: the chance that a row is an outlier, whose columns say nothing of its class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, softmax

import suffit
from suffit.core.pooling import PSEUDO_OUTLIERS, STRONGEST, USUAL_POWER, pooled
from suffit.kernels.pooling import LEAST, pool_loss, share
from suffit.posterior.calibrate import log_loss


def problem(n=300, K=3, M=2, seed=0, odd=0):
    """Scores of M models that know the class more or less; ``odd`` rows are sure of a wrong one."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, n).astype(np.int32)
    scores = []
    for _ in range(M):
        s = rng.normal(size=(n, K)) * 2
        s[np.arange(n), codes] += 3
        s[:odd] = -80.0
        s[np.arange(odd), (codes[:odd] + 1) % K] = 0.0
        scores.append(s - s.max(axis=1, keepdims=True))
    return scores, np.log(rng.dirichlet(np.full(K, 5.0))), codes, rng.integers(1, 3, n).astype(float)


def loss_of(scores, log_prior, codes, weights, beta, outlier_rate):
    log_q = log_softmax(log_prior + sum(b * s for b, s in zip(beta, scores, strict=True)), axis=1)
    p = (1 - outlier_rate) * np.exp(log_q) + outlier_rate * softmax(log_prior)
    return float(weights @ -np.log(p[np.arange(len(codes)), codes]) / weights.sum())


def test_the_shares_are_exponentials():
    x = np.linspace(LEAST, 0, 1001)
    np.testing.assert_allclose([share(v) for v in x], np.exp(x), rtol=1e-12)


@pytest.mark.parametrize("outlier_rate", [1e-9, 0.02])
def test_the_loss_and_its_slopes_are_those_of_the_formula(outlier_rate):
    scores, log_prior, codes, weights = problem(n=301, odd=5)
    beta = np.array([0.4, 0.3])
    prior = np.tile(log_prior, (len(codes), 1)).T

    def at(beta):
        slope, curve, bend = np.zeros(2), np.zeros((2, 2)), np.zeros((3, 3))
        S = np.ascontiguousarray(np.stack([s.T for s in scores]))
        rest = np.ascontiguousarray(prior), codes, weights / weights.sum()
        loss, outlier_rates = pool_loss(S, *rest, beta, outlier_rate, slope, curve, bend)
        return loss, outlier_rates, slope, curve - bend[:2, :2]

    loss, outlier_rates, slope, curve = at(beta)
    assert loss == pytest.approx(loss_of(scores, log_prior, codes, weights, beta, outlier_rate), rel=1e-11)
    h = 1e-6
    for m in range(2):
        up, down = beta.copy(), beta.copy()
        up[m] += h
        down[m] -= h
        assert slope[m] == pytest.approx((at(up)[0] - at(down)[0]) / (2 * h), rel=1e-5, abs=1e-8)
        for o in range(m + 1):
            assert curve[m, o] == pytest.approx((at(up)[2][o] - at(down)[2][o]) / (2 * h), rel=1e-5, abs=1e-8)
    assert 0 < outlier_rates < 1


@pytest.mark.parametrize("odd", [0, 6])
def test_powers_and_outlier_rate_are_the_optimum(odd):
    scores, log_prior, codes, weights = problem(odd=odd)
    found = pooled(scores, log_prior, codes, weights)
    total = weights.sum()

    def objective(v):
        beta, outlier_rate = v[:2], 1 / (1 + np.exp(-v[2]))
        penalty = beta @ beta / (2 * USUAL_POWER**2 * total) - PSEUDO_OUTLIERS / total * np.log(
            outlier_rate * (1 - outlier_rate)
        )
        return loss_of(scores, log_prior, codes, weights, beta, outlier_rate) + penalty

    bounds = [(0, STRONGEST)] * 2 + [(-15, 15)]
    best = min(
        (minimize(objective, [b, b, e], bounds=bounds, method="L-BFGS-B") for b in (0.2, 0.8) for e in (-5.0, -2.0)),
        key=lambda r: r.fun,
    )
    here = objective(np.array([*found.powers, np.log(found.outlier_rate / (1 - found.outlier_rate))]))
    assert here <= best.fun + 1e-7
    assert found.loss == pytest.approx(
        loss_of(scores, log_prior, codes, weights, found.powers, found.outlier_rate), rel=1e-9
    )


def test_a_prior_need_not_sum_to_1():
    scores, log_prior, codes, weights = problem(odd=4)
    for other in (log_prior + 3.0, np.tile(log_prior - 5.0, (len(codes), 1))):
        one, two = (pooled(scores, p, codes, weights) for p in (log_prior, other))
        np.testing.assert_allclose(two.powers, one.powers, rtol=1e-6)
        assert (two.outlier_rate, two.loss) == pytest.approx((one.outlier_rate, one.loss), rel=1e-6)


def test_few_exceptions_leave_the_powers_as_they_are():
    clean, with_odd = (pooled(*problem(odd=odd)) for odd in (0, 6))
    np.testing.assert_allclose(with_odd.powers, clean.powers, rtol=0.2)
    assert clean.outlier_rate < 0.01 < with_odd.outlier_rate < 0.1
    scores, log_prior, codes, weights = problem(odd=6)

    def without(b):  # without an outlier rate, six rows of 300 decide
        return loss_of(scores, log_prior, codes, weights, np.full(2, b), 0.0)

    assert minimize_scalar(without, bounds=(0, 2), method="bounded").x < 0.2 * clean.powers.mean()


def table(odd=0, n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b"], n // 2)
    X = {"u": rng.normal(size=n) + 3 * (y == "b"), "v": rng.normal(size=n), "w": rng.choice(list("pqr"), n)}
    X["u"][:odd] += 15.0  # rows of a, far on the side of b
    return X, y


def test_probabilities_of_a_table_have_the_outlier_rate_in_them():
    X, y = table(odd=4)
    model = suffit.GenerativeClassifier().fit(X, y)
    outlier_rate = model.schema_.outlier_rate
    assert model.selection_.outlier_rate == outlier_rate > 0
    P, logs = model.predict_proba(X), model.predict_log_proba(X)
    prior = np.array([0.5, 0.5])
    assert P.min() >= outlier_rate * 0.5 * (1 - 1e-12)
    np.testing.assert_allclose(np.exp(logs), P, rtol=1e-12)
    sure = np.exp(log_softmax(model._solved.scores(model._read_X_known(X)), axis=1))
    np.testing.assert_allclose(P, (1 - outlier_rate) * sure + outlier_rate * prior, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[P.argmax(axis=1)])
    one = {name: values[0] for name, values in X.items()}
    np.testing.assert_allclose(model.scorer()(one), P[0], rtol=1e-12)


def test_the_outlier_rate_follows_the_prior():
    X, y = table()
    model = suffit.GenerativeClassifier().fit(X, y)
    outlier_rate, nothing = model.schema_.outlier_rate, {"u": [np.nan], "v": [np.nan], "w": [None]}
    other = model.with_prior({"a": 0.9, "b": 0.1})
    np.testing.assert_allclose(other.predict_proba(nothing), [[0.9, 0.1]], rtol=1e-12)
    far = {"u": [50.0], "v": [0.0], "w": ["p"]}
    assert other.predict_proba(far)[0, 0] == pytest.approx(outlier_rate * 0.9, rel=1e-6)
    adapted = model.adapt_prior({name: values[: len(y) // 2] for name, values in X.items()})
    assert adapted.predict_proba(nothing)[0, 0] > 0.9


def test_leave_one_out_has_the_outlier_rate_too():
    X, y = table(odd=4, n=60)
    model = suffit.GenerativeClassifier(structure="densities").fit(X, y)  # trees that a row helped to cut leave it out
    P = model.loo_predict_proba(X, y)
    fixed = suffit.GenerativeClassifier(columns=model.schema_)
    for i in (0, 7, 59):
        rest = np.delete(np.arange(len(y)), i)
        refit = fixed.fit({k: v[rest] for k, v in X.items()}, y[rest])
        np.testing.assert_allclose(refit.predict_proba({k: v[[i]] for k, v in X.items()})[0], P[i], atol=1e-9)


def test_rows_that_are_sure_and_wrong_cost_little():
    X, y = table(odd=4)
    new, truth = table(odd=4, seed=1)
    P = suffit.GenerativeClassifier().fit(X, y).predict_proba(new)
    naive = suffit.GenerativeClassifier(structure="naive").fit(*table()).predict_proba(new)
    codes = (truth == "b").astype(np.int32)
    assert log_loss(P, codes) < 0.35
    assert log_loss(P, codes) < 0.8 * log_loss(naive, codes)


def test_a_model_with_an_outlier_rate_says_so_in_its_explanation():
    X, y = table(odd=4)
    model = suffit.GenerativeClassifier().fit(X, y)
    explained = model.explain(X)
    assert explained.outlier_term.any()
    np.testing.assert_allclose(
        explained.prior + explained.rest + explained.outlier_term + explained.parts.sum(axis=1),
        explained.total,
        atol=1e-10,
    )
    assert "an outlier" in model.why({"u": [50.0], "v": [0.0], "w": ["p"]})
    assert "outliers" in explained.to_frame()


def test_the_search_ends_at_the_same_place_wherever_it_begins():
    """Scores of 10⁸ nats, as columns that never vary in a class give: the first steps must not lead into a corner."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 400).astype(np.int32)
    s = rng.normal(size=(400, 3)) * 20
    s[np.arange(400), codes] += 35
    sure = rng.random(400) < 0.3
    s[sure] *= 1e7  # a third of the rows are sure of something, most of them rightly
    s -= s.max(axis=1, keepdims=True)
    prior, weights = np.log(np.full(3, 1 / 3)), np.ones(400)
    ends = [pooled([s], prior, codes, weights, start=b) for b in (None, 1.0, 0.5, 0.1, 0.01, 0.001)]
    for end in ends:
        assert end.powers[0] == pytest.approx(ends[0].powers[0], rel=1e-3)
        assert end.outlier_rate == pytest.approx(ends[0].outlier_rate, rel=1e-3)
        assert end.loss == pytest.approx(ends[0].loss, rel=1e-5)
    assert 0.01 < ends[0].powers[0] < 0.5
    assert ends[0].loss < 0.5 * np.log(3)


def test_a_pool_says_how_it_becomes_linear():
    X, y = table()
    with pytest.raises(
        suffit.InputError, match=r"to_sklearn: an outlier rate is not linear in x; fit with structure='naive'"
    ):
        suffit.GenerativeClassifier().fit({"u": X["u"], "v": X["v"]}, y).to_sklearn()


def test_a_small_outlier_rate_is_found_from_as_many_rows_as_that_takes():
    """Well-separated classes: 500 rows cannot tell an outlier rate of 1 in 1,000 from none."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 4, 7000)
    means, mix = rng.normal(size=(4, 10)), rng.normal(size=(10, 10)) / np.sqrt(10) + np.eye(10)
    X = rng.normal(size=(7000, 10)) @ mix + means[y]
    model = suffit.GenerativeClassifier().fit(X[:5000], y[:5000])
    assert model.selection_.outlier_rate < 5e-4
    assert -np.log(model.predict_proba(X[5000:])[np.arange(2000), y[5000:]]).mean() < 1e-3
