"""Gamma columns that hardly vary beside their mean: right to many digits, against mpmath, in every way of learning."""

from __future__ import annotations

import pickle

import mpmath as mp
import numpy as np
import pytest

import suffit
from suffit import Gamma, InputError, NaiveBayes

Y = np.arange(80) % 2


def values(mean: float, sd: float, seed: int = 0, y: np.ndarray = Y) -> np.ndarray:
    return (mean + sd * (np.random.default_rng(seed).normal(size=len(y)) + y))[:, None]


def shape(gap: mp.mpf) -> mp.mpf:
    return mp.findroot(lambda k: mp.log(k) - mp.digamma(k) - gap, 1 / (2 * gap))


def exact(X: np.ndarray, y: np.ndarray, rows: int, alpha: float) -> np.ndarray:
    """p(c | x) of the first rows, from sums of x and log x in 60 digits."""
    with mp.workdps(60):
        x = [mp.mpf(float(v)) for v in X[:, 0]]
        log = [mp.log(v) for v in x]
        pooled = [mp.fsum(x) / len(x), mp.fsum(log) / len(x)]
        scores = []
        for c in range(y.max() + 1):
            mine = np.flatnonzero(y == c)
            sums = [mp.fsum(s[i] for i in mine) + alpha * p for s, p in zip((x, log), pooled, strict=True)]
            mean, mean_log = (s / (len(mine) + alpha) for s in sums)
            k = shape(mp.log(mean) - mean_log)
            rate, prior = k / mean, mp.log(mp.mpf(len(mine)) / len(y))
            A = mp.loggamma(k) - k * mp.log(rate) - prior
            scores.append([(k - 1) * log[i] - rate * x[i] - A for i in range(rows)])
        out = [[mp.exp(s - max(row)) for s in row] for row in zip(*scores, strict=True)]
        return np.array([[float(p / mp.fsum(row)) for p in row] for row in out])


@pytest.mark.parametrize("alpha", [1.0, 0.0])
@pytest.mark.parametrize(
    ("mean", "sd", "atol"),
    [(1e7, 1, 1e-6), (1e8, 1, 1e-4), (1e5, 1, 1e-10), (1e4, 1, 1e-11), (1.0, 1e-8, 1e-6), (1e-9, 1e-16, 1e-6)],
)
def test_E2_gamma_columns_that_hardly_vary(mean, sd, atol, alpha):
    X = values(mean, sd)
    model = NaiveBayes(Gamma(alpha=alpha)).fit(X, Y)
    P = model.predict_proba(X[:12])
    np.testing.assert_allclose(P, exact(X, Y, 12, alpha), atol=atol)
    assert abs(P - 0.5).max() > 0.2
    np.testing.assert_allclose(np.exp(model.logistic_form().predict_log_proba(X)), model.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X), rtol=0)
    drawn, y = model.sample(4000, random_state=0)
    for c in (0, 1):
        assert abs(drawn[y == c].mean() - X[c == Y].mean()) < 0.2 * sd
        assert drawn[y == c].std() == pytest.approx(X[c == Y].std(), rel=0.15)


def test_batches_forgetting_and_leave_one_out_of_a_narrow_column_equal_a_fit():
    X = np.hstack([values(1e7, 1), np.exp(values(0.0, 1, 1)), values(3e-5, 1e-12, 2)])
    X[3, 0] = X[5, 1] = np.nan
    whole = NaiveBayes("gamma").fit(X, Y)
    batches = NaiveBayes("gamma").partial_fit(X[:50], Y[:50]).partial_fit(X[50:], Y[50:])
    np.testing.assert_allclose(batches.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    same = Gamma(origin=whole._model.family.origin)
    less = NaiveBayes("gamma").fit(X, Y).forget(X[:20], Y[:20])
    np.testing.assert_allclose(less.predict_proba(X), NaiveBayes(same).fit(X[20:], Y[20:]).predict_proba(X), atol=1e-7)
    left = whole.loo_predict_proba(X, Y)
    for i in (0, 3, 5, 40):
        rest = np.arange(len(X)) != i
        again = NaiveBayes(same).fit(X[rest], Y[rest]).predict_proba(X[i : i + 1])[0]
        np.testing.assert_allclose(left[i], again, atol=1e-7)
    twice = NaiveBayes("gamma").fit(X, Y, sample_weight=np.full(len(Y), 2.0))
    doubled = NaiveBayes("gamma").fit(np.vstack([X, X]), np.tile(Y, 2))
    np.testing.assert_allclose(twice.predict_proba(X), doubled.predict_proba(X), atol=1e-7)


def test_parts_of_a_narrow_table_merge_where_their_origins_are_the_same():
    X = values(1e7, 1)
    one, other = NaiveBayes("gamma").fit(X[:40], Y[:40]), NaiveBayes("gamma").fit(X[40:], Y[40:])
    np.testing.assert_allclose(
        (one + other).predict_proba(X), NaiveBayes("gamma").fit(X, Y).predict_proba(X), atol=1e-6
    )
    with pytest.raises(InputError, match="different sums"):
        one.merge(NaiveBayes("gamma").fit(2 * X, Y))


@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_classes_that_do_not_vary_in_a_narrow_column(alpha):
    X = values(1e7, 1)
    X[Y == 0] = 1e7
    P = NaiveBayes(Gamma(alpha=alpha)).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (P[Y == 0, 0] > 0.5).all()
    two = NaiveBayes(Gamma(alpha=alpha)).fit(X[[1, 2]], Y[[1, 2]]).predict_proba(X)
    assert np.isfinite(two).all()
    constant = NaiveBayes(Gamma(alpha=alpha)).fit(np.full((80, 1), 1e7), Y).predict_proba(X)
    assert np.isfinite(constant).all()


def test_columns_that_vary_are_counted_as_before():
    X = np.exp(values(0.0, 1))
    model = suffit.NaiveBayes("gamma").fit(X, Y)
    np.testing.assert_allclose(model._model.sums["t"][0, 0], [X[Y == 0].sum(), np.log(X[Y == 0]).sum()], rtol=1e-14)
    assert model.logistic_form().names == ("x0", "log x0")
