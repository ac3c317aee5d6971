"""Loops over the stored entries of sparse rows, against the same with dense arrays."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import suffit
from suffit import BernoulliNB, GaussianNB, MultinomialNB, PoissonNB
from suffit.data.arrays import freeze
from suffit.families.counts import shape as simplex
from suffit.families.elementwise import scores as elementwise_scores
from suffit.kernels import sparse_rows
from suffit.kernels.sparse_rows import csr_class_sums, csr_linear_scores


def rows_of(rng: np.random.Generator, n: int, p: int, dtype: type) -> sparse.csr_array:
    """Rows of 0 to p entries, so that every remainder of a loop by four comes up."""
    X = rng.poisson(2.0, size=(n, p)) * (rng.random((n, p)) < rng.random((n, 1)))
    return sparse.csr_array(X.astype(dtype))


def arrays(X: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return freeze(X.indptr.astype(np.int64)), freeze(X.indices.astype(np.int32)), freeze(X.data)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(0, 40),
    p=st.integers(1, 30),
    K=st.integers(1, 6),
    threshold=st.sampled_from([None, 0.0, 1.5]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_sums_and_scores_of_entries_are_those_of_dense_rows(seed, n, p, K, threshold, dtype):
    rng = np.random.default_rng(seed)
    X = rows_of(rng, n, p, dtype)
    x = X.toarray() if threshold is None else (X.toarray() > threshold).astype(float)
    codes, weights = rng.integers(0, K, size=n), rng.random(n)
    lo, hi = sorted(rng.integers(0, K + 1, size=2))
    wanted = np.stack([weights * (codes == c) @ x if lo <= c < hi else np.zeros(p) for c in range(K)])
    t = np.zeros((K, p))
    assert csr_class_sums(*arrays(X), threshold, freeze(codes), freeze(weights), lo, hi, t)
    np.testing.assert_allclose(t, wanted, rtol=1e-12, atol=1e-12)
    table, start, out = rng.normal(size=(p, K)), rng.normal(size=K), np.full((n, K), np.nan)
    assert csr_linear_scores(*arrays(X), threshold, freeze(table), freeze(start), out)
    np.testing.assert_allclose(out, start + x @ table, rtol=1e-10, atol=1e-10)


def test_sums_that_do_not_fit_the_cache_are_the_same():
    rng = np.random.default_rng(0)
    K, p, n = 8, 50_000, 300
    assert K * p > sparse_rows._NEAR
    X = sparse.random_array((n, p), density=0.002, format="csr", rng=rng)
    codes, ones = rng.integers(0, K, size=n), np.ones(n)
    t = np.zeros((K, p))
    for lo, hi in ((0, 3), (3, K)):
        assert csr_class_sums(*arrays(X), None, freeze(codes), freeze(ones), lo, hi, t)
    np.testing.assert_allclose(t, np.stack([X[codes == c].sum(axis=0) for c in range(K)]), rtol=1e-12)


@pytest.mark.parametrize("place", range(9))
@pytest.mark.parametrize("K", [2, 3])
def test_an_odd_entry_is_seen_wherever_it_stands(place, K):
    X = sparse.csr_array(np.ones((2, 9)))
    codes, ones = freeze(np.array([0, 1])), freeze(np.ones(2))
    table, start, out = freeze(np.ones((9, K))), freeze(np.zeros(K)), np.empty((2, K))
    for value, threshold in ((-1.0, None), (np.inf, 0.0), (-np.inf, 0.0), (np.nan, 0.0)):
        X.data[9 + place] = value
        assert not csr_class_sums(*arrays(X), threshold, codes, ones, 0, K, np.zeros((K, 9)))
        assert not csr_linear_scores(*arrays(X), threshold, table, start, out)
    for value in (-1.0, 0.5):  # of no matter with a threshold
        X.data[9 + place] = value
        assert csr_class_sums(*arrays(X), 0.0, codes, ones, 0, K, np.zeros((K, 9)))
        assert csr_linear_scores(*arrays(X), 0.0, table, start, out)


@pytest.mark.parametrize("alpha", ["one", "none", "by word"])
@pytest.mark.parametrize("make", [suffit.BernoulliNB, suffit.PoissonNB, suffit.MultinomialNB, suffit.ComplementNB])
def test_words_solved_in_portions_are_those_solved_at_once(make, alpha, monkeypatch):
    rng = np.random.default_rng(0)
    K, p = 30, 4000
    assert K * p > elementwise_scores.SOLVED_CELLS
    X = rows_of(rng, 90, p, np.float64)
    y = np.arange(90) % K
    smoothing = {"one": 1.0, "none": 0.0, "by word": rng.random(p)}[alpha]
    with_missing = X[:4].toarray()
    with_missing[:, :3] = np.nan

    def answers() -> list[np.ndarray]:
        model = make(alpha=smoothing).fit(X, y)
        of_rows = [
            model.predict_proba(X),
            model.predict_joint_log_proba(X[:5].toarray()),
            model.predict_proba(with_missing),
        ]
        return [*of_rows, model.explain(X[:3].toarray()).parts]

    portions = answers()
    for module in (elementwise_scores, simplex):
        monkeypatch.setattr(module, "SOLVED_CELLS", 1 << 30)
    for a, b in zip(portions, answers(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


READING = [
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "explain",
    "adapt_prior",
    "decide",
]
LABELLED = ["fit", "partial_fit", "loo_log_joint", "loo_predict_proba", "recalibrate", "cross_val", "summary", "score"]


@pytest.mark.parametrize("make", [GaussianNB, BernoulliNB, MultinomialNB, PoissonNB])
@pytest.mark.parametrize("method", READING + LABELLED)
def test_the_rows_of_the_user_stay_in_the_order_they_came_in(make, method):
    rng = np.random.default_rng(0)
    X = sparse.random(40, 30, 0.3, "csr", random_state=1)
    X.data = np.ceil(4 * X.data)
    for a, b in pairwise(X.indptr):
        order = rng.permutation(b - a)
        X.indices[a:b], X.data[a:b] = X.indices[a:b][order], X.data[a:b][order]
    X.has_sorted_indices = False
    y = np.arange(40) % 2
    before = X.indices.copy(), X.data.copy()
    model = make().fit(X.copy(), y)
    expected = make().fit(X.toarray(), y).predict_proba(X.toarray())
    getattr(model, method)(*((X, y) if method in LABELLED else (X,)))
    np.testing.assert_array_equal(before[0], X.indices)
    np.testing.assert_array_equal(before[1], X.data)
    np.testing.assert_allclose(make().fit(X, y).predict_proba(X), expected, rtol=1e-9)
