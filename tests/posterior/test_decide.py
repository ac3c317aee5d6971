"""C8: decisions by cost, thresholds, rejection and new priors; priors of unlabelled rows; rows that fade."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.exceptions import NotFittedError

import suffit
from cases import CASES, Case, blobs, data, two, two_classes
from suffit import ComplementNB, Decision, Decisions, GaussianNB, GenerativeClassifier, InputError, mean_cost
from suffit.posterior.decide import Rule, cost_matrix

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


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


# --- novelty


# --- bad input


BAD = {
    "shape": ({"cost": np.ones((3, 3))}, r"cost has shape \(3, 3\), but there are 2 classes: it must be \(2, 2\)"),
    "flat": ({"cost": [1, 2]}, r"cost has shape \(2,\)"),
    "words": ({"cost": "high"}, "a square array of numbers"),
    "ragged": ({"cost": [[0, 1], [1]]}, "a square array of numbers"),
    "NaN": ({"cost": [[0, np.nan], [1, 0]]}, "found nan for deciding 'spam' when 'ham' is true"),
    "infinite": ({"cost": {"ham": {"spam": np.inf}, "spam": {"ham": 1}}}, r"cost\['ham'\]\['spam'\]=inf"),
    "unknown truth": ({"cost": {"ham": {"spam": 1}, "eggs": {"ham": 1}}}, "'eggs', which is not a class"),
    "unknown decision": ({"cost": {"ham": {"eggs": 1}}}, "cost names 'eggs', which is not a class"),
    "a pair without cost": ({"cost": {"ham": {"spam": 1}}}, r"cost\['spam'\]\['ham'\] is missing"),
    "not nested": ({"cost": {"ham": 1}}, r"cost\['ham'\] is 1; it must be a dict \{decided: cost\}"),
    "cost in words": ({"cost": {"ham": {"spam": "much"}}}, r"cost\['ham'\]\['spam'\]='much'"),
    "reject": ({"reject": "never"}, "reject='never': must be a finite number"),
    "reject NaN": ({"reject": np.nan}, "reject=nan"),
    "reject a truth": ({"reject": True}, "reject=True"),
    "threshold": ({"threshold": 1.1}, r"threshold=1\.1: must be a finite number in \[0, 1\]"),
    "negative threshold": ({"threshold": -0.1}, r"threshold=-0\.1"),
    "unknown threshold": ({"threshold": {"eggs": 0.5}}, "threshold names 'eggs', which is not a class"),
    "threshold of a class": ({"threshold": {"ham": 0.5, "spam": 2}}, r"threshold\['spam'\]=2: .* in \(0, 1\]"),
    "threshold 0": ({"threshold": {"ham": 0.0, "spam": 0.5}}, r"threshold\['ham'\]=0\.0"),
    "novelty": ({"novelty": 0.0}, r"novelty=0\.0: must be a finite number in \(0, 1\]"),
    "novelty in words": ({"novelty": "high"}, "novelty='high'"),
    "both": ({"cost": [[0, 1], [1, 0]], "threshold": 0.3}, "threshold and cost are both given"),
    "both ways to reject": ({"reject": 0.1, "threshold": 0.3}, "threshold and reject are both given"),
    "reject label": ({"reject": 0.1, "reject_label": "spam"}, "reject_label='spam' is NaN, or one of the classes"),
    "reject label NaN": ({"reject": 0.1, "reject_label": np.nan}, "reject_label=nan"),
    "prior": ({"prior": [0.5, 0.6]}, r"The sum of the priors should be 1, found 1\.1"),
    "negative prior": ({"prior": [1.5, -0.5]}, "non-negative"),
    "prior of unknown": ({"prior": {"ham": 0.5, "eggs": 0.5}}, "prior: unknown class 'eggs'"),
    "prior of another length": ({"prior": [0.2, 0.3, 0.5]}, "3 priors, 2 classes"),
    "prior in words": ({"prior": "even"}, "must be probabilities .*or 'uniform'"),
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
    with pytest.raises(ValueError, match=r"is for two classes, but there are 3; .* or reject=1 − t"):
        model.decide(X, threshold=0.5)
    with pytest.raises(ValueError, match=r"threshold\[2\] is missing"):
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


# --- decay


# --- inside scikit-learn


def test_C8_mean_cost_of_labels():
    assert mean_cost([1, 2, 2], [1, 2, 1]) == pytest.approx(1 / 3)
    assert mean_cost([1, 2], [None, -9], reject=0.5, reject_label=-9) == 0.5
    assert mean_cost(["a", "a"], ["a", "b"], cost=[[0, 4, 4], [4, 0, 4], [4, 4, 0]], labels=["a", "b", "c"]) == 2
    with pytest.raises(ValueError, match="1 rows are rejected; set reject"):
        mean_cost([1, 2], [1, None])
    with pytest.raises(ValueError, match="y_true has 2 labels and y_pred 1"):
        mean_cost([1, 2], [1])
    with pytest.raises(ValueError, match=r"3 is not among labels=\[1, 2\]"):
        mean_cost([1, 3], [1, 2], labels=[1, 2])
    with pytest.raises(ValueError, match=r"cost has shape \(3, 3\), but there are 2"):
        mean_cost([1, 2], [1, 2], cost=np.ones((3, 3)))


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


UNSUITABLE = [[1, 2], ["?"], [], {"a": 1}, {1}, np.array([1, 2]), np.array(5), np.nan, np.datetime64("NaT"), pd.NA]


@pytest.mark.parametrize("label", UNSUITABLE, ids=repr)
def test_what_cannot_be_a_label_of_rejected_rows_is_refused(label):
    X, y = two_classes(40)
    for decide in (
        lambda: suffit.GaussianNB().fit(X, y).decide(X, reject=0.3, reject_label=label),
        lambda: suffit.Decision(suffit.GaussianNB(), reject=0.3, reject_label=label).fit(X, y),
        lambda: suffit.mean_cost([0, 1], [0, 1], reject=0.3, reject_label=label),
    ):
        with pytest.raises(ValueError, match="reject_label="):
            decide()


def test_a_tuple_may_be_the_label_of_rejected_rows():
    X, y = two_classes(40)
    decided = suffit.GaussianNB().fit(X, y).decide(X, reject=0.3, reject_label=("see", 1))
    assert decided.rejected.any()
    assert [label == ("see", 1) for label in decided.labels] == decided.rejected.tolist()
