"""Jointly Gaussian columns with missing values where rows, or values, are few: leave-one-out is what refits say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suffit import GDA, LDA, QDA, GenerativeClassifier, Model
from suffit.data.rows import Rows
from suffit.families import MultivariateGaussian
from suffit.families.gaussian.missing.em import solved

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
NaN = np.nan

PAIRS = MultivariateGaussian(tie=1.0, shrinkage=0.1, missing="pairs", freedom=10.0)


def small_classes(n=20, p=3, K=4, share=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.normal(size=(n, p)) + y[:, None]
    X[0, 0] = NaN
    return np.where(rng.random(X.shape) < share, NaN, X), y


def check_against_refits(make, X, y, some, weight=None):
    w = np.ones(len(y)) if weight is None else weight
    found = make().fit(X, y, sample_weight=w).loo_log_joint(X, y, sample_weight=w)
    for i in some:
        rest = np.arange(len(y)) != i
        refit = make().fit(X[rest], y[rest], sample_weight=w[rest]).predict_joint_log_proba(X[i : i + 1])[0]
        np.testing.assert_allclose(found[i], refit, rtol=1e-9, atol=1e-9)


OWN = {"QDA": QDA, "GDA": lambda: GDA(tie=0), "unbiased": lambda: GDA(denominator="unbiased"), "LDA": LDA}


@pytest.mark.parametrize("make", OWN.values(), ids=OWN.keys())
def test_one_missing_value_in_small_classes(make):
    X, y = small_classes()
    assert np.isfinite(make().set_params(calibrate="temperature").fit(X, y).calibration_.power)
    check_against_refits(make, X, y, (0, 1, 4, 19))


def test_small_classes_that_are_constant_weighted_lone_or_without_a_value():
    X, y = small_classes(12, 2, 2, 0.2)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0, 3.7], len(y))
    check_against_refits(QDA, X, y, (0, 3, 7), weight)
    check_against_refits(QDA, np.column_stack([X, np.full(len(X), 3.0)]), y, (0, 3))
    check_against_refits(QDA, np.where((np.arange(2) == 0) & (y == 1)[:, None], NaN, X), y, (0, 3))
    lone = np.where(np.arange(len(y)) == 5, 2, y)
    assert np.isfinite(QDA(calibrate="temperature").fit(X, lone).predict_proba(X)).all()


def test_a_row_taken_out_leaves_no_rounding_for_a_direction_of_its_own():
    """One complete row of the class is left: its squares about its mean are 0, and rounding is no row."""
    X, y = small_classes(8, 2, 2)
    rng = np.random.default_rng(0)
    rng.normal(size=X.shape)
    X[rng.random(X.shape) < 0.3] = NaN
    check_against_refits(QDA, X, y, np.flatnonzero(~np.isnan(X).any(axis=1)))


def many_missing(n, p, K, columns, rate, seed=0):
    rng = np.random.default_rng(seed)
    means, mix = rng.normal(size=(K, p)) * 0.7, rng.normal(size=(p, p)) / np.sqrt(p) + 0.5 * np.eye(p)
    y = rng.integers(0, K, n)
    X = means[y] + rng.normal(size=(n, p)) @ mix.T
    X[:, :columns][rng.random((n, columns)) < rate] = NaN
    return X, Rows.of(y, None)


def own_odds(scores, codes):
    at, others = np.arange(len(scores)), scores.copy()
    others[at, codes] = -np.inf
    return scores[at, codes] - others.max(axis=1)


def compared(family, X, rows, some):
    """Log-odds of the own class: leave-one-out as structures are compared by it, and by refits."""
    names = [f"x{j}" for j in range(X.shape[1])]
    stats = family.collect(X, rows)
    stats = stats if "pair_n" in stats.sums else stats.layout.coarser.turn(stats)
    near = family.loo_with_missing(stats)(X, *rows.part(0, len(rows)))
    near = near.log_density(family.tie, family.shrinkage, family.freedom)[some]
    rest = [np.delete(np.arange(len(X)), i) for i in some]
    models = [Model.empty(family, names).learn(X[k], rows.some(k)) for k in rest]
    exact = np.array([m.solved(np.zeros(len(m.classes))).scores(X[[i]])[0] for i, m in zip(some, models, strict=True)])
    return own_odds(near, rows.codes[some]), own_odds(exact, rows.codes[some])


def of_classes_with_others(rows, most):
    return np.flatnonzero(rows.counts()[rows.codes] > 1)[:most]


@pytest.mark.parametrize(("tie", "pooled"), [(1.0, False), (1.0, True), (0.3, False), (0.0, False)])
@pytest.mark.parametrize(("columns", "rate"), [(3, 0.3), (3, 0.8), (12, 0.4)])
def test_in_small_tables_structures_are_compared_by_what_refits_say(tie, columns, rate, pooled):
    X, rows = many_missing(45, 12, 6, columns, rate)
    family = replace(PAIRS, tie=tie, pooled=pooled, prior=(1.0,) * 12)
    near, exact = compared(family, X, rows, of_classes_with_others(rows, 45))
    np.testing.assert_allclose(near, exact, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("tie", [1.0, 0.3, 0.0])
@pytest.mark.parametrize("shrinkage", [0.1, 0.8])
@pytest.mark.parametrize(("columns", "rate"), [(3, 0.8), (3, 0.9), (15, 0.3)])
def test_in_larger_tables_they_are_to_a_few_hundredths(tie, shrinkage, columns, rate):
    X, rows = many_missing(160, 15, 6, columns, rate)
    family = replace(PAIRS, tie=tie, shrinkage=shrinkage, prior=(1.0,) * 15)
    near, exact = compared(family, X, rows, np.arange(30))
    assert np.median(np.abs(near - exact)) < 0.05
    assert abs(np.median(near - exact)) < 0.03


def test_columns_without_values_in_a_class_or_without_variance():
    X, rows = many_missing(45, 8, 3, 4, 0.5)
    X[rows.codes == 1, 0] = NaN  # no value in a class
    X[np.flatnonzero(rows.codes == 2)[1:], 1] = NaN  # one value in a class
    X[:, 2] = np.where(np.isnan(X[:, 2]) | (rows.codes != 0), X[:, 2], 1.5)  # one value all over
    X[7] = NaN
    for tie in (1.0, 0.5, 0.0):
        family = replace(PAIRS, tie=tie, prior=(1.0,) * 8)
        near, exact = compared(family, X, rows, of_classes_with_others(rows, 45))
        np.testing.assert_allclose(near, exact, rtol=1e-4, atol=1e-3)


def test_the_leave_one_out_loss_of_a_small_table_with_many_missing_values_is_that_of_refits():
    X, rows = many_missing(50, 20, 8, 3, 0.9, seed=3)
    y = rows.codes
    model = GenerativeClassifier().fit(X, y)
    schema, loss = model.schema_, []
    for i in of_classes_with_others(rows, 50):
        rest = np.arange(len(y)) != i
        refit = GenerativeClassifier(columns=schema).fit(X[rest], y[rest])
        loss.append(-np.log(refit.predict_proba(X[i : i + 1])[0, np.searchsorted(refit.classes_, y[i])]))
    assert model.selection_.loo_loss > 0.8 * np.mean(loss) - 0.05


def tiny_classes():
    """23 rows of two columns, most of them of one class, 40 % of the values missing; with weights."""
    rows = [
        (NaN, NaN, 0, 1.0), (NaN, -0.04, 3, 0.5), (NaN, -2.97, 3, 3.7), (0.84, 0.65, 3, 1.0), (2.56, NaN, 3, 0.5),
        (NaN, -0.71, 3, 1.0), (NaN, -0.24, 3, 2.0), (NaN, 1.45, 3, 1.0), (1.01, 1.56, 2, 1.0), (NaN, NaN, 3, 1.0),
        (NaN, NaN, 3, 3.7), (NaN, NaN, 3, 2.0), (-2.12, NaN, 0, 1.0), (NaN, NaN, 3, 2.0), (-2.04, NaN, 2, 3.7),
        (-3.85, -4.23, 0, 1.0), (NaN, 1.5, 3, 2.0), (NaN, -0.73, 3, 2.0), (NaN, -0.4, 1, 2.0), (0.08, NaN, 3, 2.0),
        (3.23, 1.3, 3, 0.5), (-1.77, NaN, 3, 1.0), (2.13, 1.03, 3, 3.7),
    ]  # fmt: skip
    table = np.array(rows)
    return table[:, :2], table[:, 2].astype(int), table[:, 3]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shrinkage", [None, "oas"])
@pytest.mark.parametrize("tie", [0.1, 0.5, 0.9])
def test_tied_covariances_of_tiny_classes_have_one_answer(tie, shrinkage, weighted):
    X, y, w = tiny_classes()
    w = w if weighted else np.ones(len(y))

    def fit(X, y, w):
        return GDA(tie=tie, shrinkage=shrinkage).fit(X, y, sample_weight=w)

    found = fit(X, y, w).predict_proba(X)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(y))
        np.testing.assert_allclose(fit(X[order], y[order], w[order]).predict_proba(X), found, atol=1e-8)
    np.testing.assert_allclose(fit(X * [1e-6, 1e6], y, w).predict_proba(X * [1e-6, 1e6]), found, atol=1e-8)
    np.testing.assert_allclose(fit(X, 3 - y, w).predict_proba(X)[:, ::-1], found, atol=1e-8)
    half = fit(X[:10], y[:10], w[:10]).partial_fit(X[10:], y[10:], sample_weight=w[10:])
    np.testing.assert_allclose(half.predict_proba(X), found, atol=1e-8)
    more = fit(np.concatenate([X, X[:3] + 1]), np.concatenate([y, y[:3]]), np.concatenate([w, w[:3]]))
    more.forget(X[:3] + 1, y[:3], sample_weight=w[:3])
    np.testing.assert_allclose(more.predict_proba(X), found, atol=1e-8)


@pytest.mark.parametrize("tie", [0.5, 0.99])
def test_em_of_tied_covariances_ends_where_pairs_are_few(tie):
    X, y, w = tiny_classes()
    model = GDA(tie=tie).fit(X, y, sample_weight=w)._model
    family, prior = model.family._for_em(model.stats)
    done = solved(model.stats, family._em_parameters, prior)[1]
    assert done.converged
    assert len(done.likelihoods) < 60


def test_covariances_that_are_tied_ever_more_come_to_the_shared_one():
    X, y, w = tiny_classes()
    nearly, shared = (GDA(tie=tie).fit(X, y, sample_weight=w).predict_proba(X) for tie in (1 - 1e-7, 1.0))
    np.testing.assert_allclose(nearly, shared, atol=1e-5)


@pytest.mark.parametrize("how", ["oas", "ledoit-wolf"])
@pytest.mark.parametrize("tie", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("n", "p"), [(30, 3), (12, 300)])
def test_a_chosen_amount_of_shrinkage_knows_no_units_where_a_class_does_not_vary(n, p, tie, how):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, p)) + y[:, None] * rng.normal(size=p)
    X[y == 1, 1] = 0.5
    units, fresh = np.where(np.arange(p) == 1, 1e3, 1.0), X + rng.normal(size=X.shape)
    plain, scaled = (GDA(tie=tie, shrinkage=how).fit(X * u, y).predict_proba(fresh * u) for u in (1.0, units))
    np.testing.assert_allclose(scaled, plain, atol=1e-9)
