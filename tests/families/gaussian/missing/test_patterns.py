"""Patterns of missing values: too many of them, and sums by pairs of columns."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from cases import assert_identical, assert_same
from missing_rows import (
    FULL,
    GAUSSIAN,
    NaN,
    answers,
    fitted_parameters,
    mean_gradient,
    normal_rows,
    over,
)
from suffit import (
    GDA,
    LDA,
    QDA,
    InputError,
    families,
)
from suffit.data.warn import MissingValuesWarning
from suffit.families.gaussian.missing import em as completion_module
from suffit.families.gaussian.missing import patterns

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows that have both columns


@over(FULL)
def test_C4_a_pattern_that_was_never_learned_cannot_be_forgotten(make):
    X, y = normal_rows(34, share=0.0)
    X[:60, 1] = NaN
    model = make().fit(X, y)
    gap = X[:3].copy()
    gap[:, 0] = NaN
    with pytest.raises(InputError, match=r"never|cannot have learned"):
        model.forget(gap, y[:3])
    assert_identical(model, make().fit(X, y))


@pytest.fixture
def little_room(monkeypatch):
    monkeypatch.setattr(patterns, "ROOM", 20)


@pytest.mark.parametrize("tie", [0.0, 0.5, 1.0])
def test_C4_too_many_patterns_are_warned_of_and_answered_by_pairs(monkeypatch, tie):
    X, y = normal_rows(35, n=30_000, offset=1000.0)
    best = GDA(tie=tie).fit(X, y)
    monkeypatch.setattr(patterns, "ROOM", 20)
    with pytest.warns(MissingValuesWarning, match="too many patterns of missing values to keep the sums"):
        model = GDA(tie=tie).fit(X, y)
    assert "pair_n" in model._model.stats.sums
    np.testing.assert_allclose(model.means_, best.means_, atol=0.02)
    np.testing.assert_allclose(model.covariance_, best.covariance_, atol=0.04)
    np.testing.assert_allclose(answers(model, X[:500]), best.predict_proba(X[:500]), atol=0.05)


@pytest.mark.parametrize("make", [LDA, QDA])
def test_C4_too_much_work_is_warned_of_and_answered_by_pairs(monkeypatch, make):
    X, y = normal_rows(35, n=3000)
    best = make().fit(X, y)
    monkeypatch.setattr(completion_module, "MOST_WORK", 1e3)
    with pytest.warns(MissingValuesWarning, match="missing values to run EM over them"):
        model = make().fit(X, y)
    p = model.predict_proba(X)
    assert "part_n" in model._model.stats.sums  # the sums are what they were, and can be added to
    away = np.abs(p - best.predict_proba(X))
    assert away.mean() < 0.02
    assert away.max() > 1e-6


def test_C4_a_pair_of_columns_that_one_row_of_a_class_has_keeps_a_variance(little_room):
    X, y = normal_rows(40, n=300, share=0.0)
    X[(y == 1) & (np.arange(300) > 1), 2] = NaN  # one row of class 1 is left
    with pytest.warns(MissingValuesWarning):
        model = GDA().fit(X, y)
    shared = GDA(tie=1.0).fit(X, y).covariance_
    assert model.covariance_[1][2, 2] == pytest.approx(0.9 * np.reshape(shared, (-1, 3, 3))[0][2, 2], rel=0.02)


def test_C4_a_shared_covariance_is_shrunk_where_few_rows_have_both_columns():
    """By ½(p/n − 1/10), as if asked for; not at all with ten rows for each column."""
    X, y = normal_rows(41, n=60, p=8, share=0.3)
    stats = LDA().fit(X, y)._model.stats
    present = (~np.isnan(X)).astype(float)
    both = present.T @ present
    amount = 0.5 * (8 / both[~np.eye(8, dtype=bool)].mean() - 0.1)
    assert 0.05 < amount < 0.5
    plain, asked = (
        np.asarray(families.MultivariateGaussian(1.0, s, target="diagonal", pooled=True).scorer(stats).covariances())
        for s in (0.0, amount)
    )
    np.testing.assert_allclose(plain, asked, rtol=1e-7, atol=1e-9)
    many = normal_rows(41, n=600, p=8, share=0.3)
    _, means, covariances = fitted_parameters(LDA().fit(*many))
    assert np.abs(mean_gradient(*many, means, covariances)[1].sum(axis=0)).max() < 1e-9


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
@over({k: GAUSSIAN[k] for k in (*FULL, "GDA-ledoit-wolf", "GDA-oas", "QDA-reg")})
def test_C4_laws_of_sums_hold_by_pairs(make, little_room):
    X, y = normal_rows(36, offset=10.0)
    whole = make().fit(X, y)
    assert "pair_n" in whole._model.stats.sums
    rng = np.random.default_rng(36)
    order = rng.permutation(len(y))
    shards = [make().partial_fit(X[part], y[part]) for part in np.array_split(order, 40)]  # some keep their patterns
    assert_same(shards[0].merge(*shards[1:]), whole, rtol=1e-9)
    assert_same(sum(shards[::-1]), whole, rtol=1e-9)
    weight = rng.integers(0, 3, len(y))
    weighted = make().fit(X, y, sample_weight=weight)
    assert_same(weighted, make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)), rtol=1e-9)
    more = make().fit(X, y).partial_fit(X[:50], y[:50]).forget(X[:50], y[:50])
    assert_same(more, whole, rtol=1e-9)
    copy = pickle.loads(pickle.dumps(whole))
    np.testing.assert_array_equal(copy.predict_proba(X), whole.predict_proba(X))
    columns = [2, 0, 1]
    turned = make().fit(X[:, columns], y)
    np.testing.assert_allclose(turned.predict_proba(X[:, columns]), whole.predict_proba(X), atol=1e-9)
    with pytest.raises(InputError, match=r"cannot have learned|are to be forgotten"):
        make().fit(X, y).forget(np.tile(X, (2, 1)), np.tile(y, 2))


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_pairs_are_the_means_and_products_of_the_rows_that_have_both(little_room):
    X, y = normal_rows(37, n=600, share=0.2)
    own, shared = GDA().fit(X, y), GDA(tie=1.0).fit(X, y)
    means = np.array([np.nanmean(X[y == c], axis=0) for c in range(3)])
    z = X - means[y]
    products = z[:, :, None] * z[:, None, :]
    for model in (own, shared):
        assert "pair_n" in model._model.stats.sums
        np.testing.assert_allclose(model.means_, means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(own.covariance_, [np.nanmean(products[y == c], axis=0) for c in range(3)], rtol=1e-9)
    np.testing.assert_allclose(shared.covariance_, np.nanmean(products, axis=0), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
@pytest.mark.parametrize("tie", [0.0, 1.0])
def test_C4_a_class_without_any_value_in_a_column_by_pairs(tie, little_room):
    X, y = normal_rows(38, offset=1000.0)
    X[y == 1, 2] = NaN
    model = GDA(tie=tie).fit(X, y)
    np.testing.assert_allclose(model.means_[1, 2], np.nanmean(X[:, 2]), rtol=1e-2)


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_weights_matter_only_beside_each_other_by_pairs(little_room):
    X, y = normal_rows(39)
    a, b = GDA().fit(X, y), GDA().fit(X, y, sample_weight=np.full(len(y), 1e-3))
    np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=1e-6)


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_directions_by_pairs(little_room):
    X, y = normal_rows(41)
    assert np.isfinite(LDA("eigen").fit(X, y).transform(X)).all()
