"""The class prior of unlabelled rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.exceptions import ConvergenceWarning

import suffit
from cases import PLAIN as CASES
from cases import Case, blobs, data, two
from suffit import GaussianNB, GenerativeClassifier, InputError
from suffit.posterior.prior_shift import reweighted, shifted_prior

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class


TAKES_PRIOR = {k: c for k, c in CASES.items() if "Complement" not in k}


every_case_with_a_prior = pytest.mark.parametrize("case", TAKES_PRIOR.values(), ids=TAKES_PRIOR.keys())


@every_case_with_a_prior
def test_C8_a_prior_at_call_time_is_that_of_with_prior(case: Case):
    X, y = data(case, 2)
    model = case.make().fit(X, y)
    for prior in ("uniform", {"ant": 0.1, "bee": 0.2, "cat": 0.7}, [0.5, 0.5, 0.0]):
        decided = model.decide(X, prior=prior)
        np.testing.assert_array_equal(decided.labels, model.with_prior(prior).predict(X))
    p, shares = model.predict_proba(X), model.class_count_ / model.class_count_.sum()
    new, rate = np.array([0.1, 0.2, 0.7]), model._solved.outlier_rate
    of_no_outlier = (p - rate * shares) / (1 - rate)  # of an outlier the prior is all that is known
    np.testing.assert_allclose(
        model.with_prior(new).predict_proba(X),
        (1 - rate) * reweighted(of_no_outlier, shares, new) + rate * new,
        rtol=1e-9,
        atol=1e-300,
    )


def test_C8_reweighting_leaves_no_row_without_a_posterior():
    p = reweighted(np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]), np.full(3, 1 / 3), np.array([0.0, 0.4, 0.6]))
    np.testing.assert_allclose(p, [[0, 0.4, 0.6], [0, 0.12 / 0.42, 0.3 / 0.42]])


def mean_log(F: np.ndarray, q: np.ndarray, w: np.ndarray) -> float:
    return float(np.average(np.log(F @ q), weights=w))


def solved(F: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The same maximum by scipy, over logits."""
    k = F.shape[1]

    def lost(z: np.ndarray) -> tuple[float, np.ndarray]:
        q = softmax(np.append(z, 0.0))
        g = np.average(F / (F @ q)[:, None], axis=0, weights=w)
        return -mean_log(F, q, w), -(q * (g - 1))[:-1]

    found = minimize(lost, np.zeros(k - 1), jac=True, method="BFGS", options={"gtol": 1e-11, "maxiter": 2000})
    return softmax(np.append(found.x, 0.0))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_C8_adapted_priors_are_those_of_most_likelihood(k: int):
    X, y, _ = blobs(k, n=600)
    model = suffit.LDA().fit(X, y)
    rng = np.random.default_rng(k)
    shifted = rng.dirichlet(np.full(k, 4.0))
    new, _ = model.with_prior(shifted).sample(800, random_state=2)
    for weight in (None, rng.integers(0, 4, size=800).astype(float)):
        adapted = model.adapt_prior(new, sample_weight=weight)
        joint = model.with_prior("uniform").predict_joint_log_proba(new)
        F = np.exp(joint - joint.max(axis=1, keepdims=True))
        w = np.ones(800) if weight is None else weight
        q = np.exp(adapted._solved.log_prior)
        np.testing.assert_allclose(q, solved(F, w), atol=1e-6)
        assert mean_log(F, q, w) >= mean_log(F, solved(F, w), w) - 1e-12
    repeated = model.adapt_prior(np.repeat(new, w.astype(int), axis=0))
    np.testing.assert_allclose(repeated._solved.log_prior, adapted._solved.log_prior, atol=1e-8)


@every_case_with_a_prior
def test_C8_adapting_recovers_planted_priors(case: Case):
    X, y = data(case, 6)
    model = case.make().fit(X, y)
    planted = np.array([0.1, 0.6, 0.3])
    new, _ = model.with_prior(planted).sample(4000, random_state=7)
    before, summed = model.class_count_.copy(), model._model
    adapted = model.adapt_prior(new)
    found = adapted._fitted.prior
    np.testing.assert_allclose(found.sum(), 1.0)
    R = model.with_prior(planted).predict_proba(new) / planted
    along = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]).T  # the directions that a prior can move in
    spread = along @ np.linalg.inv(along.T @ (R.T @ R) @ along) @ along.T  # inverse Fisher information
    assert (np.abs(found - planted) < 5 * np.sqrt(np.diag(spread))).all(), (found, np.sqrt(np.diag(spread)))
    p = reweighted(model.with_prior("uniform").predict_proba(new), np.full(3, 1 / 3), found)
    np.testing.assert_allclose(p.mean(axis=0), found, atol=1e-6)  # what EM stands still at
    if not model._solved.outlier_rate:
        np.testing.assert_allclose(adapted.predict_proba(new), p, rtol=1e-9, atol=1e-12)
    assert model._model is summed
    np.testing.assert_array_equal(model.class_count_, before)
    assert not model._fitted.given


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 12),
    n=st.integers(1, 200),
    apart=st.floats(0.0, 6.0),
)
def test_C8_the_search_for_a_prior_settles_and_never_falls(seed: int, k: int, n: int, apart: float):
    rng = np.random.default_rng(seed)
    mu = rng.normal(size=(k, 2)) * apart
    x = mu[rng.choice(k, size=n, p=rng.dirichlet(np.full(k, 0.5)))] + rng.normal(size=(n, 2))
    L = -0.5 * ((x[:, None] - mu) ** 2).sum(axis=2)
    F, w = np.exp(L - logsumexp(L, axis=1, keepdims=True)), rng.gamma(1.0, size=n)
    path = [shifted_prior(F, w, np.full(k, 1 / k), steps) for steps in range(25)]
    categories = [mean_log(F, q, w) for q, _ in path]
    assert (np.diff(categories) >= -1e-12).all()
    q, gap = path[-1]
    assert gap <= 1e-12
    assert (q >= 0).all()
    np.testing.assert_allclose(q.sum(), 1.0)
    g = np.average(F / (F @ q)[:, None], axis=0, weights=w)
    assert (g <= 1 + 1e-11).all()  # no class would gain by more, and those that are there by none
    np.testing.assert_allclose(g[q > 1e-6], 1.0, atol=1e-5)


def test_C8_rows_without_evidence_change_no_prior():
    X, y = two()
    model = GaussianNB().fit(X, y)
    adapted = model.adapt_prior(np.full((5, 2), np.nan))
    np.testing.assert_allclose(adapted.predict_proba(X), model.predict_proba(X), rtol=1e-9)


def test_C8_a_class_of_prior_0_stays_out():
    X, y, _ = blobs(3)
    model = GaussianNB(priors=[0.5, 0.5, 0.0]).fit(X, y)
    assert model.adapt_prior(X)._fitted.prior[2] == 0
    far = np.concatenate([X, np.full((50, 2), 1e3) + X[:50]])  # rows that no other class explains
    model = GaussianNB(priors=[0.5, 0.5, 0.0]).fit(far, np.append(y % 2, np.full(50, 2)))
    prior = model.adapt_prior(far)._fitted.prior
    assert prior[2] == 0
    np.testing.assert_allclose(prior.sum(), 1.0)
    declared = GaussianNB().partial_fit(X, y, classes=[0, 1, 2, 3])
    assert declared.adapt_prior(X)._fitted.prior[3] == 0


def test_C8_bad_input_to_adapt_prior():
    X, y = two()
    model = GaussianNB().fit(X, y)
    for empty in (np.empty((0, 2)), sparse.csr_matrix((0, 2))):
        with pytest.raises(ValueError, match="0 sample"):
            model.adapt_prior(empty)
    table = GenerativeClassifier().fit({"a": X[:, 0], "b": X[:, 1]}, y)
    with pytest.raises(ValueError, match=r"no rows|0 sample"):
        table.adapt_prior({"a": [], "b": []})
    with pytest.raises(ValueError, match="features"):
        model.adapt_prior(np.ones((3, 5)))
    with pytest.raises(InputError, match="weights must be 0 or more"):
        model.adapt_prior(X, sample_weight=-np.ones(len(X)))
    for steps in (0, -1, 2.5, True, "many"):
        with pytest.raises(ValueError, match="integer of at least 1"):
            model.adapt_prior(X, max_steps=steps)
    with pytest.warns(ConvergenceWarning, match="after 1 steps .* raise max_steps"):
        model.with_prior({"ham": 0.99, "spam": 0.01}).adapt_prior(X, max_steps=1)
