"""Covariances of classes whose rows have many missing values: regular, honest and the same whatever way rows came."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss

from suffit import GDA, LDA, QDA
from suffit.data.warn import MissingValuesWarning
from suffit.families.gaussian.missing.em import Completion, solved

NaN = np.nan
quiet = pytest.mark.filterwarnings("ignore::UserWarning")


def small_class(seed):
    """40 rows of 4 columns, a quarter of the values missing; 4 of the rows are of the third class."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.zeros(18, int), np.ones(18, int), np.full(4, 2)]
    X = rng.normal(size=(40, 4)) + y[:, None]
    X[rng.random(X.shape) < 0.25] = NaN
    return X, y


def tiny(seed):
    """Fewer than 25 rows of up to 5 columns, 5 to 60 % of the values missing."""
    rng = np.random.default_rng(seed)
    n, p = rng.integers(4, 25), rng.integers(1, 6)
    y = rng.integers(0, rng.integers(2, 4), n)
    y[:2] = [0, 1]
    X = rng.normal(size=(n, p)) + y[:, None]
    X[rng.random(X.shape) < rng.uniform(0.05, 0.6)] = NaN
    return X, y


def two_classes(seed, n, share, alike, p=5):
    """Rows to fit and fresh ones, of two classes with covariances alike or of their own."""
    rng = np.random.default_rng(1000 + seed)
    mixes = [np.eye(p) + np.triu(rng.normal(size=(p, p)), 1) / np.sqrt(p) for _ in range(2)]
    means = rng.normal(size=(2, p)) * 0.7

    def draw(m):
        y = np.repeat([0, 1], m)
        X = np.concatenate([rng.normal(size=(m, p)) @ mixes[0 if alike else c] + means[c] for c in range(2)])
        return np.where(rng.random(X.shape) < share, NaN, X), y

    return *draw(n), *draw(1000)


@quiet
@pytest.mark.parametrize("make", [QDA, lambda: GDA(denominator="unbiased"), lambda: GDA(shrinkage="oas")])
def test_few_rows_with_missing_values_always_give_a_finite_answer(make):
    for X, y in [*map(small_class, (3, 21, 62)), *map(tiny, (14, 63, 73, 88, 114))]:
        model = make().fit(X, y)
        assert np.isfinite(model.predict_joint_log_proba(X)).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_a_likelihood_without_a_maximum_is_warned_of_once_naming_the_class():
    X, y = small_class(3)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        QDA().fit(X, y)
    assert [w.category for w in said] == [MissingValuesWarning]
    assert "class 2" in str(said[0].message)
    assert "has no maximum" in str(said[0].message)


@quiet
@pytest.mark.parametrize("share", [0.3, 0.5, 0.6])
def test_own_covariances_of_few_pairs_are_not_far_behind_a_shared_one(share):
    loss = np.zeros((6, 2))
    for seed in range(6):
        X, y, fresh, truth = two_classes(seed, 50, share, alike=True)
        loss[seed] = [log_loss(truth, make().fit(X, y).predict_proba(fresh)) for make in (QDA, LDA)]
    assert loss[:, 0].mean() < loss[:, 1].mean() + 0.08  # 0.5 to 1.3 without the rows of the prior
    assert (loss[:, 0] < loss[:, 1] + 0.25).all()


@quiet
def test_own_covariances_that_differ_still_separate_the_classes():
    loss = np.zeros((4, 2))
    for seed in range(4):
        X, y, fresh, truth = two_classes(seed, 150, 0.4, alike=False)
        loss[seed] = [log_loss(truth, make().fit(X, y).predict_proba(fresh)) for make in (QDA, LDA)]
    assert (loss[:, 0] < loss[:, 1]).all()


def test_classes_with_enough_pairs_have_nothing_beside_their_rows():
    X, y, *_ = two_classes(0, 150, 0.3, alike=False)
    model = QDA().fit(X, y)._model
    em, _ = solved(model.stats, model.family._em_parameters, model.family._prior)
    assert em.prior is None


def test_weights_that_are_shares_do_not_count_rows():
    X, y, *_ = two_classes(0, 150, 0.3, alike=False)
    a, b = GDA().fit(X, y), GDA().fit(X, y, sample_weight=np.full(len(y), 1e-6))
    np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=1e-6)


@quiet
@pytest.mark.parametrize("seed", range(4))
def test_every_step_raises_the_likelihood_times_the_prior(seed):
    X, y = small_class(seed)
    model = QDA().fit(X, y)._model
    em, done = solved(model.stats, model.family._em_parameters, model.family._prior)
    assert em.prior is not None
    assert done.converged
    assert (np.diff(done.likelihoods) >= -1e-12 * abs(done.likelihoods[-1])).all()


@quiet
@pytest.mark.parametrize("seed", range(5))
def test_classes_of_two_or_three_rows_have_one_answer_whatever_way_they_came(seed):
    rng = np.random.default_rng(seed)
    y = np.r_[np.zeros(12, int), 1, 1, 2, 2, 2]
    X = rng.normal(size=(17, 3)) + y[:, None]
    X[rng.random(X.shape) < 0.3] = NaN
    order = rng.permutation(17)
    whole, parts = QDA().fit(X, y), QDA().partial_fit(X[order][:5], y[order][:5])
    for i in range(5, 17, 2):
        parts.partial_fit(X[order][i : i + 2], y[order][i : i + 2])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-8)


def test_steps_that_go_to_and_fro_have_not_ended():
    class Restless(Completion):
        turn = 0

        def _leap(self, seen):
            return None

        def step(self, sums):
            self.turn += 1
            step = super().step(sums)
            other = {**step.sums, "xx": step.sums["xx"] * (1 + self.turn % 2)}
            return replace(step, sums=other, end=self._flat(other))

    X, y = small_class(0)
    model = LDA().fit(X, y)._model
    done = Restless(model.stats, model.family._em_parameters).run()
    assert len(done.likelihoods) < 500  # which it need not go on for
    assert not done.converged


@quiet
@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_units_change_no_answer_where_pairs_are_few(scale):
    X, y = small_class(5)
    a, b = QDA().fit(X, y).predict_proba(X), QDA().fit(X * scale, y).predict_proba(X * scale)
    np.testing.assert_allclose(a, b, atol=1e-8)


@quiet
def test_columns_that_do_not_vary_where_pairs_are_few():
    X, y = small_class(6)
    X = np.column_stack([X, np.where(np.isnan(X[:, 0]), NaN, 3.0)])  # in no class
    X[y == 1, 1] = np.where(np.isnan(X[y == 1, 1]), NaN, 0.5)  # in one
    model = QDA().fit(X, y)
    assert np.isfinite(model.predict_joint_log_proba(X)).all()
    np.testing.assert_allclose(model.predict_proba(X), QDA().fit(X[:, :4], y).predict_proba(X[:, :4]), atol=0.01)
