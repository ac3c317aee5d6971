"""The family of a column by leave-one-out: equal to refits, finds what was planted, and says what decided."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from suffit import Categorical, Gamma, Gaussian, LogNormal, NaiveBayes, Poisson
from suffit import GenerativeClassifier as Generative
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.tables.column_family import SURELY
from suffit.tables.column_family_loo import SAYABLE, Compared, compared, leave_one_out

pytestmark = [  # few rows of a class
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning"),
]

RNG = np.random.default_rng(3)
Y = RNG.integers(0, 3, 60).astype(np.int32)
POSITIVE = RNG.gamma(1.0 + Y, 2.0)
COUNTS = RNG.poisson(1 + 2 * Y).astype(float)
WEIGHTS = RNG.choice([0.0, 0.4, 1.0, 2.0, 3.0], 60)


def rows_of(y: np.ndarray, weights: np.ndarray | None = None) -> Rows:
    return Rows(Index.of(tuple(range(int(y.max()) + 1))), y.astype(np.int32), weights)


def refitted(family, x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """log p(x_i | y_i) under a fit on everything but one of row i."""
    out = np.empty(len(x))
    for i in range(len(x)):
        w = weights.copy()
        w[i] -= min(w[i], 1.0)
        if isinstance(family, Gaussian) and family.smoothing == 0:  # of integers, by Sheppard's rule
            here = (y == y[i]) & (w > 0)
            mean = np.average(x[here], weights=w[here])
            var = np.average((x[here] - mean) ** 2, weights=w[here]) + 1 / 12
            out[i] = stats.norm.logpdf(x[i], mean, np.sqrt(var))
        elif isinstance(family, Categorical):
            here, categories = y == y[i], np.unique(x)
            out[i] = np.log((w[here & (x == x[i])].sum() + 1) / (w[here].sum() + len(categories)))
        else:
            model = NaiveBayes(family).fit(x[:, None], y, sample_weight=w)
            at = int(np.searchsorted(model.classes_, y[i]))
            joint = model.predict_joint_log_proba(x[i : i + 1, None])[0, at]
            out[i] = joint - np.log(w[y == y[i]].sum() / w.sum())
    return out


CANDIDATES = {
    "gaussian": (Gaussian(smoothing=1e-9), POSITIVE, False),
    "log-normal": (LogNormal(smoothing=1e-9), POSITIVE, False),
    "gamma": (Gamma(), POSITIVE, False),
    "poisson": (Poisson(), COUNTS, True),
    "categorical": (Categorical(), COUNTS, True),
    "gaussian of integers": (Gaussian(), COUNTS, True),
}


@pytest.mark.parametrize("weights", [np.ones(60), WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("what", CANDIDATES)
def test_E2_rows_left_out_are_refits(what, weights):
    family, x, whole = CANDIDATES[what]
    ours = leave_one_out(x, rows_of(Y, weights), family, whole)
    there = weights > 0
    np.testing.assert_allclose(ours[there], refitted(family, x, Y, weights)[there], rtol=0, atol=1e-9)


def test_categories_are_those_of_the_column_under_leave_one_out():
    """A category that only one row has is still a category without it, with a share of its own."""
    x = np.array([5.0, 5.0, 7.0, 9.0, 9.0])
    y = np.zeros(5, np.int32)
    np.testing.assert_allclose(leave_one_out(x, rows_of(y), Categorical())[2], np.log((0 + 1) / (4 + 3)))


def test_a_weight_is_a_number_of_repetitions_under_leave_one_out():
    times = RNG.integers(1, 4, 60)
    for family, x, whole in CANDIDATES.values():
        repeated = compared(np.repeat(x, times), rows_of(np.repeat(Y, times)), {"it": family}, whole)
        weighted = compared(x, rows_of(Y, times.astype(float)), {"it": family}, whole)
        assert weighted.total("it") == pytest.approx(repeated.total("it"), abs=1e-8)
    both = {"gaussian": Gaussian(smoothing=1e-9), "gamma": Gamma()}
    for least in (0.0, 5.0, 20.0):
        a = compared(np.repeat(POSITIVE, times), rows_of(np.repeat(Y, times)), both, whole=False)
        b = compared(POSITIVE, rows_of(Y, times.astype(float)), both, whole=False)
        assert a.surely("gamma", "gaussian", least) == b.surely("gamma", "gaussian", least)


def test_missing_values_say_nothing():
    for family, x, whole in CANDIDATES.values():
        missing = np.where(np.arange(60) % 4 == 0, np.nan, x)
        there = ~np.isnan(missing)
        one = compared(missing, rows_of(Y), {"it": family}, whole)
        other = compared(x[there], rows_of(Y[there]), {"it": family}, whole)
        np.testing.assert_array_equal(one.each["it"], other.each["it"])


def test_rows_whose_class_has_no_spread_without_them_say_nothing():
    x = np.array([1.0, 2.0, 3.0, 5.0, 5.0, 6.0, 4.0, 8.5])
    y = np.array([0, 0, 0, 1, 1, 1, 2, 3])
    found = compared(x, rows_of(y), {"gaussian": Gaussian(smoothing=1e-9)}, whole=False)
    assert len(found.weights) == 5  # three of the first class, two of the second: without the 6 it is all 5
    assert len(compared(x, rows_of(y), {"gaussian": Gaussian()}, whole=True).weights) == 6
    nothing = compared(x, rows_of(np.arange(8)), {"gaussian": Gaussian(), "gamma": Gamma()}, whole=False)
    assert nothing.total("gamma") == 0.0
    assert not nothing.surely("gamma", "gaussian", 0.0)


def test_no_single_row_decides():
    """One value far out: it says no more than 100 nats against a family, and 100 nats of one row are chance."""
    x = np.append(RNG.normal(50.0, 1.0, 300), 90.0)
    found = compared(x, rows_of(np.zeros(301)), {"gaussian": Gaussian(), "log-normal": LogNormal()}, whole=False)
    gain = found.each["log-normal"] - found.each["gaussian"]
    assert SURELY < gain[-1] <= -SAYABLE * (1 + 1e-12)
    assert found.total("log-normal") > found.total("gaussian") + SURELY
    assert not found.surely("log-normal", "gaussian", SURELY)


def test_surely_is_more_than_chance():
    even = Compared({"a": np.full(100, 0.2), "b": np.zeros(100)}, np.ones(100))
    assert even.surely("a", "b", 10.0)
    assert not even.surely("a", "b", 30.0)
    assert not even.surely("b", "a", 0.0)


# --- the choice

CLASS = RNG.integers(0, 3, 2000)
PLANTED = {
    "normal": (RNG.normal(CLASS, 1.0), "Gaussian"),
    "normal and positive": (RNG.normal(50 + CLASS, 1.0), "Gaussian"),
    "log-normal": (RNG.lognormal(CLASS, 1.5), "LogNormal"),
    "gamma": (RNG.gamma(0.7 + CLASS, 2.0) + 1e-9, "Gamma"),
    "counts": (RNG.poisson(2 + 3 * CLASS), "Poisson"),
    "levels": (RNG.choice([1, 7, 20], 2000), "Categorical"),
    "uneven categories": (RNG.choice([0, 1, 2, 3], 2000, p=[0.1, 0.6, 0.05, 0.25]), "Categorical"),
    "large integers": (RNG.normal(5000, 300, 2000).astype(int), "Gaussian"),
    "negative integers": (RNG.integers(-500, 500, 2000), "Gaussian"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_E2_leave_one_out_finds_the_planted_family(what):
    values, family = PLANTED[what]
    missing = np.where(np.random.default_rng(0).random(2000) < 0.2, np.nan, values)
    for x in (values, missing):
        model = Generative(criterion="loo", structure="naive").fit({"it": x}, CLASS)
        assert model.schema_.choices[0].family.startswith(family), model.schema_


def test_the_choice_is_the_same_for_weights_and_repetitions():
    times = RNG.integers(1, 4, 60)
    table = {"amount": POSITIVE, "count": COUNTS.astype(int)}
    model = Generative(criterion="loo", structure="naive")
    weighted = clone(model).fit(table, Y, sample_weight=times).schema_
    repeated = clone(model).fit({k: np.repeat(v, times) for k, v in table.items()}, np.repeat(Y, times)).schema_
    assert repr(weighted) == repr(repeated)


@pytest.mark.parametrize(("criterion", "by"), [("bic", "BIC"), ("loo", "leave-one-out")])
def test_the_reason_says_which_criterion_decided(criterion, by):
    table = {name: PLANTED[name][0] for name in ("normal and positive", "log-normal", "gamma", "counts", "levels")}
    model = Generative(criterion=criterion, structure="naive").fit(table, CLASS)
    for choice in model.schema_.choices:
        assert by in choice.reason


def test_criteria_that_are_none_are_refused_and_a_batch_keeps_to_its_own():
    for bad in ("aic", None, 1, ["loo"]):
        with pytest.raises(ValueError, match="'criterion' parameter"):
            Generative(criterion=bad).fit({"x": POSITIVE}, Y)
    model = Generative(criterion="loo").fit({"x": POSITIVE}, Y)
    model.partial_fit({"x": POSITIVE}, Y)
    with pytest.raises(ValueError, match="criterion has changed from 'loo' to 'bic'"):
        model.set_params(criterion="bic").partial_fit({"x": POSITIVE}, Y)


def test_a_schema_and_families_set_by_hand_need_no_criterion():
    table = {"x": POSITIVE, "n": COUNTS.astype(int)}
    first = Generative(criterion="loo").fit(table, Y)
    again = Generative(first.schema_, criterion="bic").fit(table, Y)
    np.testing.assert_allclose(first.predict_proba(table), again.predict_proba(table), rtol=1e-12)
    by_hand = Generative({"x": "gamma", "n": "auto"}, criterion="loo").fit(table, Y)
    assert by_hand.schema_.choices[0].reason == "set by the user"
    assert "leave-one-out" in by_hand.schema_.choices[1].reason


def test_a_table_of_few_rows_and_single_rows_of_a_class():
    table = {"x": [1.5, 2.5, 3.5, 9.5], "n": [1, 2, 3, 3]}
    for y in ([0, 0, 1, 1], [0, 1, 2, 3], [0, 0, 0, 1]):
        model = Generative(criterion="loo").fit(table, y)
        assert np.isfinite(model.predict_proba(table)).all()
