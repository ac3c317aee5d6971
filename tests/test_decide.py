"""C8: decisions by cost, thresholds, rejection and new priors; priors of unlabelled rows; rows that fade."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import suffit
from cases import CASES, Case, assert_identical, assert_same, data, mixed, with_holes
from suffit import ComplementNB, Decision, Decisions, GaussianNB, GenerativeClassifier, InputError, mean_cost
from suffit.core.model import FADED
from suffit.posterior.decide import Rule, cost_matrix
from suffit.posterior.novelty import DRAWS
from suffit.posterior.prior_shift import reweighted, shifted_prior

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
TAKES_PRIOR = {k: c for k, c in CASES.items() if "Complement" not in k}
every_case_with_a_prior = pytest.mark.parametrize("case", TAKES_PRIOR.values(), ids=TAKES_PRIOR.keys())


def blobs(k: int, n: int = 400, seed: int = 0, shift: float = 1.5):
    """Rows of k classes, normal with unit covariance: posteriors are known."""
    rng = np.random.default_rng([seed, k])
    means, prior = rng.normal(size=(k, 2)) * shift, rng.dirichlet(np.full(k, 3.0))
    y = rng.choice(k, size=n, p=prior)
    X = means[y] + rng.normal(size=(n, 2))
    log = np.log(prior) - 0.5 * ((X[:, None] - means) ** 2).sum(axis=2)
    return X, y, softmax(log, axis=1)


def two(n: int = 300, seed: int = 0):
    X, y, _ = blobs(2, n, seed)
    return X, np.array(["ham", "spam"])[y]


# --- costs


def by_hand(p: np.ndarray, C: np.ndarray, reject: float | None) -> tuple[int, float]:
    """The cheapest of all decisions for one row, one after the other; k stands for rejecting."""
    best, least = -1, np.inf
    for d in range(len(C)):
        paid = sum(p[c] * C[c, d] for c in range(len(C)))
        if paid < least:
            best, least = d, paid
    return (len(C), reject) if reject is not None and reject < least else (best, least)


@pytest.mark.filterwarnings("ignore:reject=")
@pytest.mark.parametrize("reject", [None, 0.15, 0.4, -0.2])
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_C8_decisions_are_the_cheapest_of_all(k: int, reject: float | None):
    """Known posteriors, random costs with right decisions that cost and errors that pay."""
    rng = np.random.default_rng([k, 7])
    _, _, posterior = blobs(k)
    for _ in range(5):
        C = rng.gamma(1.0, size=(k, k)) - 0.3
        decided = Rule.read(range(k), C, reject)(posterior)
        expected = [by_hand(p, C, reject) for p in posterior]
        assert [k if r else int(d) for d, r in zip(decided.labels, decided.rejected, strict=True)] == [
            d for d, _ in expected
        ]
        np.testing.assert_allclose(decided.expected_cost, [c for _, c in expected], rtol=1e-13, atol=1e-15)


def test_C8_true_posteriors_decide_better_than_any_other_rule():
    """The rule with the true posteriors pays least of all in simulation, and pays what it expects."""
    _, y, posterior = blobs(3, n=60_000)
    rng = np.random.default_rng(1)
    C = np.array([[0.0, 2.0, 1.0], [10.0, 0.0, 3.0], [1.0, 5.0, 0.0]])
    decided = Rule.read(range(3), C)(posterior)
    paid = mean_cost(y, decided.labels, cost=C)
    assert paid == pytest.approx(decided.expected_cost.mean(), rel=0.03)
    assert paid < mean_cost(y, posterior.argmax(axis=1), cost=C)
    for _ in range(20):
        other = softmax(np.log(posterior) + rng.normal(scale=0.7, size=3), axis=1)
        assert paid <= mean_cost(y, Rule.read(range(3), C)(other).labels, cost=C)


@every_case
def test_C8_without_settings_decisions_are_predictions(case: Case):
    X, y = data(case, 0)
    model = case.make().fit(X, y)
    decided = model.decide(X)
    np.testing.assert_array_equal(decided.labels, model.predict(X))
    assert decided.labels.dtype == model.classes_.dtype
    np.testing.assert_allclose(decided.expected_cost, 1 - model.predict_proba(X).max(axis=1), atol=1e-15)
    assert not decided.rejected.any()
    labels, cost = decided
    assert labels is decided.labels
    assert cost is decided.expected_cost


@every_case
def test_C8_costs_by_label_and_by_place_are_the_same_on_every_estimator(case: Case):
    X, y = data(case, 1)
    model = case.make().fit(X, y)
    C = np.array([[0.0, 1.0, 7.0], [2.0, -1.0, 4.0], [3.0, 5.0, 0.0]])
    named = {a: dict(zip(model.classes_, row, strict=True)) for a, row in zip(model.classes_, C, strict=True)}
    expected = model.predict_proba(X) @ C
    for cost in (C, C.tolist(), named, pd.DataFrame(C).to_numpy()):
        decided = model.decide(X, cost)
        np.testing.assert_array_equal(decided.labels, model.classes_[expected.argmin(axis=1)])
        np.testing.assert_allclose(decided.expected_cost, expected.min(axis=1), rtol=1e-13)


def test_C8_what_is_right_costs_nothing_unless_said():
    np.testing.assert_array_equal(cost_matrix({1: {2: 3}, 2: {1: 4, 2: -5}}, [1, 2]), [[0, 3], [4, -5]])
    np.testing.assert_array_equal(cost_matrix(None, "abc"), 1 - np.eye(3))


def test_C8_equal_costs_go_to_the_more_probable_class():
    decided = Rule.read("abc", np.zeros((3, 3)))(np.array([[0.2, 0.5, 0.3]]))
    assert decided.labels.tolist() == ["b"]
    np.testing.assert_array_equal(Rule.read("ab")(np.array([[0.5, 0.5]])).labels, ["a"])


def test_C8_tiny_posteriors_still_count():
    """1 − p would be 0 for a posterior of 1 − 1e-30; the cost of what is left is not."""
    cost = {"a": {"b": 1.0}, "b": {"a": 1e30}}
    decided = Rule.read("ab", cost)(np.array([[1.0, 1e-29], [1.0, 1e-31]]))
    assert decided.labels.tolist() == ["b", "a"]
    np.testing.assert_allclose(decided.expected_cost, [1.0, 0.1])


def test_C8_deciding_needs_no_scikit_learn():
    modules = "[m for m in ('sklearn', 'numba', 'scipy') if m in sys.modules]"
    script = f"import sys, suffit.posterior.decide; print({modules})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- rejecting


def test_C8_rejection_by_cost_is_chows_rule():
    X, y = two()
    model = GaussianNB().fit(X, y)
    p = model.predict_proba(X)
    decided = model.decide(X, reject=0.2)
    np.testing.assert_array_equal(decided.rejected, p.min(axis=1) > 0.2)
    assert 0 < decided.rejected.sum() < len(X)
    assert set(decided.labels[decided.rejected]) == {None}
    assert set(decided.expected_cost[decided.rejected]) == {0.2}
    np.testing.assert_array_equal(decided.labels[~decided.rejected], model.predict(X)[~decided.rejected])


def test_C8_rejection_covers():
    """With true posteriors the accepted err less often than rejecting costs, and rows leave one after the other."""
    _, y, posterior = blobs(4, n=40_000)
    before, last = np.zeros(len(y), bool), 1.0
    for reject in (0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.01):
        decided = Rule.read(range(4), None, reject)(posterior)
        kept = ~decided.rejected
        wrong = (decided.labels[kept] != y[kept]).mean()
        assert wrong < reject
        assert wrong <= last
        assert (decided.rejected >= before).all()
        before, last = decided.rejected, wrong
    assert 0.5 < before.mean() < 1


@pytest.mark.parametrize(
    ("labels", "reject_label", "dtype"),
    [
        (["ham", "spam"], None, object),
        (["ham", "spam"], "?", "<U4"),
        (["ham", "spam"], "undecided", "<U9"),
        (["ham", "spam"], -1, object),
        ([3, 7], None, object),
        ([3, 7], -1, np.int64),
        ([3, 7], "?", object),
        ([5.0, 15.0], -1, np.float64),
        ([True, False], -1, object),
        (np.array([3, 7], np.uint8), -1, np.int64),
    ],
)
def test_C8_the_label_of_rejected_rows(labels, reject_label, dtype):
    X, y = two()
    names = np.asarray(labels)[(y == "spam").astype(int)]
    model = GaussianNB().fit(X, names)
    decided = model.decide(X, reject=0.2, reject_label=reject_label)
    assert decided.labels.dtype == np.dtype(dtype)
    assert all(label == reject_label for label in decided.labels[decided.rejected])
    np.testing.assert_array_equal(decided.labels[~decided.rejected], model.predict(X)[~decided.rejected])
    assert model.decide(X, reject_label=reject_label).labels.dtype == model.classes_.dtype  # nothing can be rejected


def test_C8_a_reject_cost_that_is_never_paid_is_said():
    X, y = two()
    model = GaussianNB().fit(X, y)
    with pytest.warns(UserWarning, match=r"reject=0\.5 rejects no row: the least expected cost is never above 0\.5"):
        assert not model.decide(X, reject=0.5).rejected.any()
    with pytest.warns(UserWarning, match="never above 3"):
        assert not model.decide(X, [[0, 3], [100, 0]], reject=3).rejected.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.decide(X, reject=0.49)
        model.decide(X, [[0, 3], [100, 0]], reject=2.9)


def test_C8_decisions_say_what_they_are():
    decided = Rule.read("ab", None, 0.1)(np.array([[0.95, 0.05], [0.5, 0.5]]))
    assert repr(decided) == "Decisions(2 rows, 1 rejected, mean expected cost 0.075)"
    assert (
        repr(Rule.read("ab", novelty=0.9)(np.array([[1.0, 0.0]]), np.array([True]))) == "Decisions(1 rows, 1 rejected)"
    )
    with pytest.raises(AttributeError):
        decided.labels = None
    assert isinstance(pickle.loads(pickle.dumps(decided)), Decisions)


# --- thresholds


def test_C8_a_threshold_for_two_classes():
    X, y = two()
    model = GaussianNB().fit(X, y)
    p = model.predict_proba(X)
    for t in (0.0, 0.1, 0.5, 0.9, 1.0, float(p[3, 1])):
        expected = np.where(p[:, 1] >= t, "spam", "ham")
        np.testing.assert_array_equal(model.decide(X, threshold=t).labels, expected)
        np.testing.assert_array_equal(model.decide(X, threshold={"spam": t}).labels, expected)
        first = np.where(p[:, 0] >= t, "ham", "spam")
        np.testing.assert_array_equal(model.decide(X, threshold={"ham": t}).labels, first)
    decided = model.decide(X, threshold=0.1)
    np.testing.assert_allclose(decided.expected_cost, np.where(p[:, 1] >= 0.1, p[:, 0], p[:, 1]))


def test_C8_a_threshold_is_a_ratio_of_costs():
    """p ≥ t is the cheapest where an error on the second class costs (1 − t)/t times one on the first."""
    X, y = two()
    model = GaussianNB().fit(X, y)
    for t in (0.05, 0.3, 0.8):
        cost = {"ham": {"spam": t}, "spam": {"ham": 1 - t}}
        np.testing.assert_array_equal(model.decide(X, threshold=t).labels, model.decide(X, cost).labels)


def test_C8_thresholds_of_every_class():
    X, y, _ = blobs(3)
    model = GaussianNB().fit(X, y)
    p = model.predict_proba(X)
    decided = model.decide(X, threshold={0: 0.9, 1: 0.5, 2: 0.8})
    share = p / [0.9, 0.5, 0.8]
    np.testing.assert_array_equal(decided.rejected, (p < [0.9, 0.5, 0.8]).all(axis=1))
    assert 0 < decided.rejected.sum() < len(X)
    kept = ~decided.rejected
    np.testing.assert_array_equal(decided.labels[kept], share.argmax(axis=1)[kept])
    assert np.isnan(decided.expected_cost[decided.rejected]).all()
    np.testing.assert_allclose(decided.expected_cost[kept], 1 - p[kept, decided.labels[kept].astype(int)], atol=1e-14)
    even = model.decide(X, threshold={0: 0.7, 1: 0.7, 2: 0.7})  # the same for all: Chow's rule
    np.testing.assert_array_equal(even.rejected, model.decide(X, reject=0.3).rejected)
    never = model.decide(X, threshold={0: 0.2, 1: 0.3, 2: 0.5})  # some class reaches its own
    assert never.labels.dtype == y.dtype
    np.testing.assert_array_equal(never.labels, (p / [0.2, 0.3, 0.5]).argmax(axis=1))


@settings(max_examples=60)
@given(
    p=st.lists(st.floats(1e-6, 1), min_size=2, max_size=5),
    t=st.lists(st.floats(1e-3, 1), min_size=5, max_size=5),
)
def test_C8_a_row_is_rejected_by_threshold_only_where_no_class_reaches_its_own(p: list[float], t: list[float]):
    posterior = np.array([p]) / np.sum(p)
    least = dict(enumerate(t[: len(p)]))
    decided = Rule.read(range(len(p)), threshold=least)(posterior)
    reached = {c for c, value in least.items() if posterior[0, c] >= value}
    if decided.rejected[0]:
        assert not reached
    elif reached:
        assert int(decided.labels[0]) in reached
    else:
        assert sum(least.values()) <= 1 + 1e-12  # rounding alone keeps a class from its threshold


# --- priors at call time


@every_case_with_a_prior
def test_C8_a_prior_at_call_time_is_that_of_with_prior(case: Case):
    X, y = data(case, 2)
    model = case.make().fit(X, y)
    for prior in ("uniform", {"ant": 0.1, "bee": 0.2, "cat": 0.7}, [0.5, 0.5, 0.0]):
        decided = model.decide(X, prior=prior)
        np.testing.assert_array_equal(decided.labels, model.with_prior(prior).predict(X))
    p, shares = model.predict_proba(X), model.class_count_ / model.class_count_.sum()
    new = np.array([0.1, 0.2, 0.7])
    np.testing.assert_allclose(
        model.with_prior(new).predict_proba(X), reweighted(p, shares, new), rtol=1e-9, atol=1e-300
    )


def test_C8_reweighting_leaves_no_row_without_a_posterior():
    p = reweighted(np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]), np.full(3, 1 / 3), np.array([0.0, 0.4, 0.6]))
    np.testing.assert_allclose(p, [[0, 0.4, 0.6], [0, 0.12 / 0.42, 0.3 / 0.42]])


# --- novelty


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
        if not case.exact and case.draw is not mixed:
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
    with pytest.raises(InputError, match="how long a document is"):
        model.fit(X, y).novelty(X)


# --- bad input


BAD = {
    "shape": ({"cost": np.ones((3, 3))}, r"cost has shape \(3, 3\), and there are 2 classes: it must be \(2, 2\)"),
    "flat": ({"cost": [1, 2]}, r"cost has shape \(2,\)"),
    "words": ({"cost": "high"}, "a square array of numbers"),
    "ragged": ({"cost": [[0, 1], [1]]}, "a square array of numbers"),
    "NaN": ({"cost": [[0, np.nan], [1, 0]]}, "found nan for deciding 'spam' where 'ham' is true"),
    "infinite": ({"cost": {"ham": {"spam": np.inf}, "spam": {"ham": 1}}}, r"cost\['ham'\]\['spam'\]=inf"),
    "unknown truth": ({"cost": {"ham": {"spam": 1}, "eggs": {"ham": 1}}}, "'eggs', which is no class"),
    "unknown decision": ({"cost": {"ham": {"eggs": 1}}}, "cost names 'eggs', which is no class"),
    "a pair without cost": ({"cost": {"ham": {"spam": 1}}}, r"cost\['spam'\]\['ham'\] is missing"),
    "not nested": ({"cost": {"ham": 1}}, r"cost\['ham'\] is 1; by label it must be \{decided: cost\}"),
    "cost in words": ({"cost": {"ham": {"spam": "much"}}}, r"cost\['ham'\]\['spam'\]='much'"),
    "reject": ({"reject": "never"}, "reject='never': it must be a finite number"),
    "reject NaN": ({"reject": np.nan}, "reject=nan"),
    "reject a truth": ({"reject": True}, "reject=True"),
    "threshold": ({"threshold": 1.1}, r"threshold=1\.1: it must be a finite number in \[0, 1\]"),
    "negative threshold": ({"threshold": -0.1}, r"threshold=-0\.1"),
    "unknown threshold": ({"threshold": {"eggs": 0.5}}, "threshold names 'eggs', which is no class"),
    "threshold of a class": ({"threshold": {"ham": 0.5, "spam": 2}}, r"threshold\['spam'\]=2: .* in \(0, 1\]"),
    "threshold 0": ({"threshold": {"ham": 0.0, "spam": 0.5}}, r"threshold\['ham'\]=0\.0"),
    "novelty": ({"novelty": 0.0}, r"novelty=0\.0: it must be a finite number in \(0, 1\]"),
    "novelty in words": ({"novelty": "high"}, "novelty='high'"),
    "both": ({"cost": [[0, 1], [1, 0]], "threshold": 0.3}, "threshold and cost are both given"),
    "both ways to reject": ({"reject": 0.1, "threshold": 0.3}, "threshold and reject are both given"),
    "reject label": ({"reject": 0.1, "reject_label": "spam"}, "reject_label='spam' is NaN, or one of the classes"),
    "reject label NaN": ({"reject": 0.1, "reject_label": np.nan}, "reject_label=nan"),
    "prior": ({"prior": [0.5, 0.6]}, r"The sum of the priors should be 1, found 1\.1"),
    "negative prior": ({"prior": [1.5, -0.5]}, "non-negative"),
    "prior of unknown": ({"prior": {"ham": 0.5, "eggs": 0.5}}, "prior: unknown class 'eggs'"),
    "prior of another length": ({"prior": [0.2, 0.3, 0.5]}, "3 priors, 2 classes"),
    "prior in words": ({"prior": "even"}, "give probabilities, or 'uniform'"),
}


@pytest.mark.parametrize(("settings", "message"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("make", [GaussianNB, suffit.LDA, GenerativeClassifier], ids=["NB", "LDA", "table"])
def test_C8_bad_settings_are_refused(make, settings, message):
    X, y = two()
    model = make().fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.decide(X, **settings)
    wrapped = Decision(make(), **settings)
    with pytest.raises(ValueError, match=message):
        wrapped.fit(X, y)
    assert "estimator_" not in wrapped.__dict__


def test_C8_a_threshold_needs_two_classes():
    X, y, _ = blobs(3)
    model = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match=r"is for two classes, and there are 3; .* or reject=1 − t"):
        model.decide(X, threshold=0.5)
    with pytest.raises(ValueError, match="threshold has nothing for class 2"):
        model.decide(X, threshold={0: 0.5, 1: 0.5})


def test_C8_decide_before_fit():
    for call in (lambda m: m.decide([[1.0]]), lambda m: m.adapt_prior([[1.0]]), lambda m: m.decay(0.5)):
        with pytest.raises(NotFittedError):
            call(GaussianNB())


def test_C8_a_rule_without_a_prior_takes_none():
    X, y = data(CASES["ComplementNB"], 0)
    model = ComplementNB().fit(X, y)
    for call in (
        lambda: model.decide(X, prior="uniform"),
        lambda: model.adapt_prior(X),
        lambda: Decision(ComplementNB(), prior="uniform").fit(X, y),
    ):
        with pytest.raises(InputError, match="takes no part in the predictions of ComplementNB"):
            call()
    np.testing.assert_array_equal(model.decide(X).labels, model.predict(X))


def test_C8_a_single_class_is_decided():
    model = GaussianNB().fit([[0.0], [1.0]], ["a", "a"])
    assert model.decide([[0.5]]).labels.tolist() == ["a"]
    assert model.decide([[0.5]]).expected_cost.tolist() == [0.0]
    assert model.adapt_prior([[0.5]]).predict([[0.5]]).tolist() == ["a"]


# --- label shift


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
    p = adapted.predict_proba(new)
    np.testing.assert_allclose(p.mean(axis=0), found, atol=1e-6)  # what EM stands still at
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
    with pytest.raises(InputError, match="weights are 0 or more"):
        model.adapt_prior(X, sample_weight=-np.ones(len(X)))
    for steps in (0, -1, 2.5, True, "many"):
        with pytest.raises(ValueError, match="integer of at least 1"):
            model.adapt_prior(X, max_steps=steps)
    with pytest.warns(ConvergenceWarning, match="after 1 steps .* raise max_steps"):
        model.with_prior({"ham": 0.99, "spam": 0.01}).adapt_prior(X, max_steps=1)


# --- decay


def batches(y: np.ndarray, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    return np.split(order, np.sort(rng.integers(1, len(y), size=4)))


def faded(case: Case, X: np.ndarray, y: np.ndarray, parts: list[np.ndarray], factor: float):
    """A model that saw the batches one by one, all fading before each; and the weights that its rows have come to."""
    model, weight = case.make(), np.zeros(len(y))
    for part in parts:
        if len(part):
            if weight.any():
                model.decay(factor)
            weight *= factor
            model.partial_fit(X[part], y[part])
            weight[part] = 1.0
    return model, weight


@every_case
@pytest.mark.parametrize("factor", [0.5, 0.9, 1.0])
def test_C8_decay_is_a_weight_that_falls_with_age(case: Case, factor: float):
    X, y = data(case, 8)
    model, weight = faded(case, X, y, batches(y, 3), factor)
    whole = case.make().fit(X, y, sample_weight=weight)
    assert_same(model, whole, rtol=1e-11)
    if case.exact and factor != 0.9:  # powers of two: not even rounding
        assert_identical(model, whole)


@pytest.mark.parametrize(
    "case", [c for c in CASES.values() if c.draw is not mixed], ids=[k for k, c in CASES.items() if c.draw is not mixed]
)
def test_C8_decay_with_missing_values(case: Case):
    X, y = data(case, 9)
    X = with_holes(X, 9)
    model, weight = faded(case, X, y, batches(y, 4), 0.8)
    parts = getattr(model._model.stats, "parts", (model._model.stats,))
    joint = any("pattern" in part.axes for part in parts)
    assert_same(model, case.make().fit(X, y, sample_weight=weight), rtol=1e-8 if joint else 1e-11)


def test_C8_decay_gathers_what_is_pending():
    """Running sums and rows that wait belong to the past, too."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 3, size=90)
    for make in (GaussianNB, suffit.QDA):
        model, weight = make().fit(X[:30], y[:30]), np.repeat(1.0, 30)
        for i in range(30, 90, 2):
            model.partial_fit(X[i : i + 2], y[i : i + 2])
            weight = np.append(weight, [1.0, 1.0])
            if i % 20 == 0:
                assert model._fit.batches.waiting.rows is not None
                assert model.decay(0.7) is model
                weight *= 0.7
        assert_same(model, make().fit(X, y, sample_weight=weight), rtol=1e-11)


def test_C8_decay_and_forget_go_together():
    X, y = data(CASES["GaussianNB"], 0)
    model = GaussianNB().fit(X, y).decay(0.25)
    model.forget(X[:20], y[:20], sample_weight=np.full(20, 0.25))
    assert_same(model, GaussianNB().fit(X[20:], y[20:], sample_weight=np.full(100, 0.25)), rtol=1e-10)


@every_case
def test_C8_parameters_outlive_a_long_fade(case: Case):
    """Nothing overflows or divides by nothing while weights fall to where they vanish."""
    X, y = data(case, 10)
    model, old = case.make().fit(X, y), case.make().fit(X, y)
    for _ in range(8):
        model.decay(1e-12)
    for part in ("ant", "bee", "cat"):
        assert model.class_count_[model.classes_ == part] > FADED
    assert np.isfinite(model.predict_proba(X)).all()
    model.partial_fit(X, y)
    assert_same(model, old, rtol=1e-11)


@every_case
def test_C8_a_class_that_has_faded_away_is_gone(case: Case):
    X, y = data(case, 11)
    rare = y == "cat"
    model = case.make().fit(X, y)
    for _ in range(11):
        model.decay(1e-10).partial_fit(X[~rare], y[~rare])
    assert model.classes_.tolist() == ["ant", "bee"]
    rest = case.make().fit(X[~rare], y[~rare]).decay(1 + 0.0)
    for x, z in zip(model.predict_proba(X[~rare]), rest.predict_proba(X[~rare]), strict=True):
        np.testing.assert_allclose(x, z, atol=1e-6)
    model.partial_fit(X[rare], y[rare])
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert_same(model, case.make().fit(X[~rare], y[~rare]).partial_fit(X[rare], y[rare]), rtol=1e-8)


def test_C8_declared_classes_stay():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, size=40)
    model = GaussianNB().partial_fit(X, y, classes=[0, 1, 2])
    ones = y == 1
    for _ in range(11):
        model.decay(1e-10).partial_fit(X[ones], y[ones])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.class_count_[0] == 0
    assert set(model.predict(X)) == {1}
    assert_same(model.partial_fit(X[~ones], y[~ones]), GaussianNB().partial_fit(X, y, classes=[0, 1, 2]), rtol=1e-9)


def test_C8_decay_keeps_priors_settings_and_the_model_where_refused():
    X, y = two()
    model = GaussianNB().fit(X, y).with_prior({"ham": 0.9, "spam": 0.1})
    before = model.predict_proba(X)
    np.testing.assert_allclose(model.decay(0.5).predict_proba(X), before, rtol=1e-9)
    for factor in (0, -0.5, 1.5, np.nan, "half", None, True, [0.5]):
        with pytest.raises(ValueError, match=r"decay: factor=.* in \(0, 1\]"):
            model.decay(factor)
    with pytest.raises(InputError, match="no rows would be left"):
        model.decay(1e-200)
    assert model.class_count_.sum() == len(y) / 2
    changed = suffit.GDA().fit(X, y).set_params(tie=0.5).decay(0.5).partial_fit(X, y)
    weight = np.concatenate([np.full(len(y), 0.5), np.ones(len(y))])
    assert_same(changed, suffit.GDA(tie=0.5).fit(np.tile(X, (2, 1)), np.tile(y, 2), sample_weight=weight), rtol=1e-10)


# --- inside scikit-learn


COST = {"ham": {"spam": 3.0}, "spam": {"ham": 1.0}}


@parametrize_with_checks([Decision(GaussianNB()), Decision(LogisticRegression(), prior="uniform")])
def test_C8_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_C8_decision_predicts_what_the_estimator_decides():
    X, y = two()
    for setting in ({}, {"cost": COST}, {"reject": 0.2}, {"threshold": 0.9}, {"prior": [0.9, 0.1]}, {"novelty": 0.9}):
        wrapped = Decision(GaussianNB(), **setting).fit(X, y)
        direct = GaussianNB().fit(X, y).decide(X, **setting)
        np.testing.assert_array_equal(wrapped.predict(X), direct.labels)
        np.testing.assert_array_equal(wrapped.decide(X).expected_cost, direct.expected_cost)
    assert wrapped.n_features_in_ == 2
    assert wrapped.classes_.tolist() == ["ham", "spam"]
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert Decision(GaussianNB()).fit(frame, y).feature_names_in_.tolist() == ["a", "b"]


def test_C8_decision_around_other_classifiers():
    X, y = two()
    logistic = LogisticRegression().fit(X, y)
    wrapped = Decision(LogisticRegression(), cost=COST).fit(X, y)
    expected = logistic.predict_proba(X) @ np.array([[0, 3], [1, 0]])
    np.testing.assert_array_equal(wrapped.predict(X), wrapped.classes_[expected.argmin(axis=1)])
    # new priors: as if re-weighted, through the shares that fit saw
    weight = np.where(y == "spam", 3.0, 1.0)
    ours = Decision(make_pipeline(StandardScaler(), suffit.LDA()), prior=[0.8, 0.2])
    np.testing.assert_allclose(
        ours.fit(X, y).predict_proba(X), suffit.LDA().fit(X, y).with_prior([0.8, 0.2]).predict_proba(X), rtol=1e-8
    )
    shares = Decision(LogisticRegression(), prior="uniform").fit(X, y, sample_weight=weight).class_share_
    np.testing.assert_allclose(shares, np.bincount(y == "spam", weights=weight) / weight.sum())
    with pytest.raises(InputError, match="LogisticRegression has no novelty"):
        Decision(LogisticRegression(), novelty=0.9).fit(X, y).predict(X)
    with pytest.raises(ValueError, match="predict_proba"):
        Decision(StandardScaler()).fit(X, y)


def test_C8_fitted_estimators_are_used_as_they_are():
    X, y = two()
    fitted = GaussianNB().fit(X, y)
    at_once = Decision(fitted, cost=COST)
    check_is_fitted(at_once)
    np.testing.assert_array_equal(at_once.predict(X), fitted.decide(X, COST).labels)
    frozen = Decision(FrozenEstimator(fitted), cost=COST, prior=[0.3, 0.7]).fit(X[:10], y[:10])
    np.testing.assert_array_equal(frozen.predict(X), fitted.decide(X, COST, prior=[0.3, 0.7]).labels)
    logistic = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="class shares behind the posteriors of LogisticRegression are not known"):
        Decision(logistic, prior="uniform").predict(X)
    again = Decision(FrozenEstimator(logistic), prior="uniform").fit(X, y)
    np.testing.assert_array_equal(
        again.predict(X), Decision(LogisticRegression(), prior="uniform").fit(X, y).predict(X)
    )
    with pytest.raises(InputError, match="no rows of class 'spam'"):
        Decision(FrozenEstimator(logistic), prior="uniform").fit(X[y == "ham"], y[y == "ham"])
    with pytest.raises(NotFittedError, match="This Decision instance is not fitted"):
        Decision(GaussianNB()).predict(X)


def test_C8_a_refused_fit_leaves_the_old_one():
    X, y = two()
    wrapped = Decision(GaussianNB(), cost=COST).fit(X, y)
    before = wrapped.predict(X)
    wrapped.set_params(cost=np.ones((3, 3)))
    old = wrapped.estimator_
    with pytest.raises(ValueError, match="cost has shape"):
        wrapped.fit(X[:50], y[:50])
    assert wrapped.estimator_ is old
    np.testing.assert_array_equal(wrapped.set_params(cost=COST).predict(X), before)


def test_C8_pipelines_searches_and_cross_validation():
    X, y = two(1500, seed=3)
    dear = {"ham": {"spam": 10.0}, "spam": {"ham": 1.0}}
    score = make_scorer(mean_cost, greater_is_better=False, cost=dear, reject=0.3, reject_label="?")
    plain = cross_val_score(make_pipeline(StandardScaler(), GaussianNB()), X, y, scoring=score)
    careful = make_pipeline(StandardScaler(), Decision(GaussianNB(), cost=dear, reject=0.3, reject_label="?"))
    assert cross_val_score(careful, X, y, scoring=score).mean() > plain.mean()
    assert set(cross_val_predict(careful, X, y)) == {"ham", "spam", "?"}
    search = GridSearchCV(
        Decision(GaussianNB(), reject_label="?"),
        {"cost": [None, dear], "reject": [None, 0.3, 0.45], "estimator__var_smoothing": [1e-9, 1e-2]},
        scoring=score,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a reject cost that rejects no row
        search.fit(X, y)
    assert search.best_params_["cost"] == dear
    assert search.best_params_["reject"] == 0.3
    assert "estimator__var_smoothing" in search.best_params_
    fitted = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def test_C8_the_score_is_minus_the_mean_cost():
    X, y = two()
    plain = Decision(GaussianNB()).fit(X, y)
    assert plain.score(X, y) == pytest.approx(plain.estimator_.score(X, y) - 1)
    by_place = Decision(GaussianNB(), cost=[[0, 3], [1, 0]], reject=0.3).fit(X, y)
    decided = by_place.decide(X)
    named = Decision(GaussianNB(), cost=COST, reject=0.3).fit(X, y)
    expected = -np.where(decided.rejected, 0.3, np.where(decided.labels == y, 0, np.where(y == "ham", 3, 1)))
    weight = np.arange(len(y)) % 3
    for wrapped in (by_place, named):
        assert wrapped.score(X, y) == pytest.approx(expected.mean())
        assert wrapped.score(X, y, sample_weight=weight) == pytest.approx(np.average(expected, weights=weight))
    only = by_place.score(X[y == "ham"], y[y == "ham"])  # a fold without one of the classes
    assert only == pytest.approx(expected[y == "ham"].mean())


def test_C8_mean_cost_of_labels():
    assert mean_cost([1, 2, 2], [1, 2, 1]) == pytest.approx(1 / 3)
    assert mean_cost([1, 2], [None, -9], reject=0.5, reject_label=-9) == 0.5
    assert mean_cost(["a", "a"], ["a", "b"], cost=[[0, 4, 4], [4, 0, 4], [4, 4, 0]], labels=["a", "b", "c"]) == 2
    with pytest.raises(ValueError, match="1 rows are rejected; give reject"):
        mean_cost([1, 2], [1, None])
    with pytest.raises(ValueError, match="y_true has 2 labels and y_pred 1"):
        mean_cost([1, 2], [1])
    with pytest.raises(ValueError, match=r"3 is not among labels=\[1, 2\]"):
        mean_cost([1, 3], [1, 2], labels=[1, 2])
    with pytest.raises(ValueError, match=r"cost has shape \(3, 3\), and there are 2"):
        mean_cost([1, 2], [1, 2], cost=np.ones((3, 3)))


def test_C8_weights_are_routed():
    X, y = two()
    weight = np.where(y == "spam", 5.0, 1.0)
    direct = GaussianNB().fit(X, y, sample_weight=weight).predict(X)
    plain = Decision(GaussianNB()).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(plain.predict(X), direct)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = GaussianNB().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, Decision(inner).set_fit_request(sample_weight=True))
        np.testing.assert_array_equal(routed.fit(X, y, sample_weight=weight).predict(X), direct)
        unasked = Decision(GaussianNB().set_fit_request(sample_weight=False)).set_fit_request(sample_weight=True)
        np.testing.assert_array_equal(
            unasked.fit(X, y, sample_weight=weight).predict(X), GaussianNB().fit(X, y).predict(X)
        )


def test_C8_tables_pass_through():
    X, y = two()
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")})
    table.loc[3, "a"] = np.nan
    wrapped = Decision(GenerativeClassifier(structure="naive"), cost=COST, reject=0.3).fit(table, y)
    direct = GenerativeClassifier(structure="naive").fit(table, y).decide(table, COST, reject=0.3)
    np.testing.assert_array_equal(wrapped.predict(table), direct.labels)
    tags = wrapped.__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.string
    assert not Decision(LogisticRegression()).__sklearn_tags__().input_tags.allow_nan


@pytest.mark.parametrize("k", [3, 20])
def test_of_equal_probabilities_decide_takes_the_first_as_predict_does(k):
    """As isotonic maps make them; sums over the other classes may round to one cost or to another."""
    rng = np.random.default_rng(0)
    P = rng.random((4000, k))
    rows = np.arange(len(P))
    P[rows, rng.integers(0, k, len(P))] = P[rows, rng.integers(0, k, len(P))] = 1.0
    P /= P.sum(axis=1, keepdims=True)
    for cost in (None, 3.0 - 3.0 * np.eye(k), 1.0 - np.eye(k) - 7.0):
        decided = Rule.read(np.arange(k), cost)(P)
        np.testing.assert_array_equal(decided.labels, P.argmax(axis=1))
        expected = P @ cost_matrix(cost, range(k))
        np.testing.assert_allclose(decided.expected_cost, expected.min(axis=1), rtol=1e-14)
