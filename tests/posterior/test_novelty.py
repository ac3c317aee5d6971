"""Novelty: the share of draws that are more probable."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, stats

import suffit
from cases import PLAIN as CASES
from cases import Case, data, mixed, mixed_holes, two, with_holes
from suffit import ComplementNB, InputError
from suffit.posterior.novelty import DRAWS

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class


SIMPLE = {k: c for k, c in CASES.items() if "ultinomial" not in k and "Complement" not in k}


@pytest.mark.parametrize("case", SIMPLE.values(), ids=SIMPLE.keys())
def test_C8_novelty_on_every_estimator(case: Case):
    """For rows drawn from the model the novelty is uniform (as far as values tie not), whatever is missing."""
    X, y = data(case, 3)
    model = case.make().fit(X, y)
    drawn, _ = model.sample(1500, random_state=5)
    for rows in (drawn, with_holes(np.asarray(drawn), 1)):
        novelty = model.novelty(rows)
        assert ((novelty >= 0) & (novelty <= 1)).all()
        np.testing.assert_array_equal(model.novelty(rows), novelty)
        if not case.exact and case.draw not in (mixed, mixed_holes):
            assert stats.kstest(novelty, "uniform").statistic < 0.08
        assert (novelty >= 0.95).mean() < 0.1  # of values that tie, fewer


def test_C8_novelty_is_the_share_of_more_probable_draws():
    """Beside a direct count: draw, blank out, score, compare."""
    X, y = data(CASES["QDA"], 4)
    model = suffit.QDA().fit(X, y)
    rows = with_holes(X, 2)
    drawn, _ = model.sample(200_000, random_state=1)
    direct = []
    for row in rows[:25]:
        same = np.where(np.isnan(row), np.nan, drawn)
        direct.append((model.score_samples(same) > model.score_samples(row[None])).mean())
    np.testing.assert_allclose(model.novelty(rows)[:25], direct, atol=4 * 0.5 / np.sqrt(DRAWS))


def test_C8_novelty_of_sparse_rows_is_that_of_dense_ones():
    X, y = data(CASES["BernoulliNB"], 0)
    model = suffit.BernoulliNB(binarize=2.0).fit(X, y)
    np.testing.assert_array_equal(model.novelty(sparse.csr_matrix(X)), model.novelty(X))
    with_missing = X.copy()
    with_missing[::7, 1] = np.nan
    np.testing.assert_array_equal(model.novelty(sparse.csr_matrix(with_missing)), model.novelty(with_missing))


def test_C8_rows_unlike_anything_seen_are_rejected():
    X, y = two()
    model = suffit.LDA().fit(X, y)
    rows = np.concatenate([X[:50], X[:5] + 30.0])
    decided = model.decide(rows, novelty=0.99)
    np.testing.assert_array_equal(decided.rejected, model.novelty(rows) >= 0.99)
    assert decided.rejected[50:].all()
    assert decided.rejected[:50].sum() < 5
    assert np.isnan(decided.expected_cost[decided.rejected]).all()
    priced = model.decide(rows, reject=0.3, novelty=0.99)
    assert (priced.expected_cost[priced.rejected] == 0.3).all()
    assert (priced.rejected >= decided.rejected).all()
    shift = model.decide(rows, prior={"ham": 1.0, "spam": 0.0}, novelty=0.99)  # rare under this prior
    assert shift.rejected[:50].sum() > decided.rejected[:50].sum()


@pytest.mark.parametrize("threshold", [-1.5, 0.0, 0.5, 1.0, 2.0, 1e20, None])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_C8_draws_of_yes_and_no_lie_on_either_side_of_the_threshold(threshold, alpha):
    t = 0.0 if threshold is None else threshold
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 200)
    yes = rng.random((400, 3)) < np.where(y == "a", 0.8, 0.3)[:, None]
    yes[:200, 2] = True  # always, in one class
    low, high = (0.0, 1.0) if threshold is None else (t, np.nextafter(t, np.inf))
    model = suffit.NaiveBayes(suffit.Bernoulli(threshold=threshold, alpha=alpha)).fit(np.where(yes, high, low), y)
    drawn, labels = model.sample(4000, random_state=0)
    for c in "ab":
        share = (drawn[labels == c] > t).mean(axis=0)
        np.testing.assert_allclose(share, yes[y == c].mean(axis=0), atol=0.05)


@pytest.mark.parametrize("model", [suffit.MultinomialNB(), ComplementNB()])
def test_C8_documents_of_any_length_have_no_novelty(model):
    X, y = data(CASES["MultinomialNB"], 0)
    with pytest.raises(InputError, match="no distribution of document lengths"):
        model.fit(X, y).novelty(X)
