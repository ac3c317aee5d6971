"""Joint Gaussians: origins, scales, constant columns and columns that one row has."""

from __future__ import annotations

import numpy as np
import pytest

import suffit
from cases import assert_same, two_classes


@pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # digits lost to a far larger row are said
@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, suffit.QDA, suffit.GDA])
@pytest.mark.parametrize("glitch", [1e4, 1e6])
def test_a_far_first_row_that_is_forgotten_leaves_a_good_model(make, glitch):
    X, y = two_classes()
    far = np.full((1, 2), glitch)
    model = make().partial_fit(far, [0]).partial_fit(X[:100], y[:100]).forget(far, [0]).partial_fit(X[100:], y[100:])
    np.testing.assert_allclose(model.predict_proba(X), make().fit(X, y).predict_proba(X), atol=1e-3)


def test_a_far_first_row_does_not_set_the_origin_for_good():
    X, y = two_classes()
    X[0] = 1e9
    model = suffit.GaussianNB().partial_fit(X[:1], y[:1])
    for a in range(1, 2000, 100):
        model.partial_fit(X[a : a + 100], y[a : a + 100])
    assert np.abs(model._model.stats.origin).max() < 1e7
    assert_same(model, suffit.GaussianNB().fit(X, y), rtol=1e-11)


@pytest.mark.parametrize("make", [suffit.LDA, suffit.QDA, suffit.GDA])
def test_samples_keep_columns_of_very_different_scale(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [1e-9, 1e9]
    drawn, _ = make().fit(X, np.arange(400) % 2).sample(4000, random_state=0)
    np.testing.assert_allclose(drawn.std(axis=0), X.std(axis=0), rtol=0.1)


def test_a_ridge_counts_a_constant_column_in_the_density():
    X, y = two_classes(60)
    X = np.c_[X, np.full(60, 3.0)]
    qda = suffit.QDA(reg_param=0.2, store_covariance=True).fit(X, y)
    expected = [
        suffit.normal_logpdf(X, mean, cov) + np.log(prior)
        for mean, cov, prior in zip(qda.means_, qda.covariance_, qda.priors_, strict=True)
    ]
    np.testing.assert_allclose(qda.predict_joint_log_proba(X), np.transpose(expected), rtol=1e-10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make",
    [
        suffit.GaussianNB,
        suffit.LDA,
        suffit.QDA,
        lambda: suffit.GDA("diagonal", tie=1.0),
        lambda: suffit.GDA(tie=0.5),
        lambda: suffit.GDA(shrinkage="ledoit-wolf"),
    ],
)
@pytest.mark.parametrize("n", [40, 90, 130, 200])
def test_a_column_that_only_one_row_has(make, n):
    """Without that row the column is constant: left out or forgotten, the model is that of the others."""
    rng = np.random.default_rng(n)
    y = rng.integers(0, 2, n)
    X = np.c_[rng.normal(size=(n, 2)) + y[:, None], np.arange(n) == 3]
    rest = np.arange(n) != 3
    model, others = make().fit(X, y), make().fit(X[rest], y[rest])
    np.testing.assert_allclose(model.loo_predict_proba(X, y)[3], others.predict_proba(X[3:4])[0], atol=1e-9)
    model.forget(X[3:4], y[3:4])
    np.testing.assert_allclose(model.predict_proba(X[rest]), others.predict_proba(X[rest]), atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_class_far_away_leaves_the_choice_between_the_others(missing):
    """Settings are compared in single precision, which must not be that of the distance between classes."""

    def table(far):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 400)
        X = rng.normal(size=(400, 3)) @ np.array([[1, 0.95, 0], [0, 0.31, 0], [0, 0, 1]])
        X[:, 0] += 0.5 * (y == 1)
        X[:, 1] -= 0.5 * (y == 1)
        X[y == 2] += far
        X[rng.random(X.shape) < missing] = np.nan
        return X, y

    near, far = (suffit.GenerativeClassifier().fit(*table(off)).selection_ for off in (1e3, 1e8))
    tried = [[(t.name, t.settings) for t in one.tried if "joint" in t.name] for one in (near, far)]
    assert tried[0] == tried[1]
    losses = [[t.loss for t in one.tried if "joint" in t.name] for one in (near, far)]
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)
    np.testing.assert_allclose(far.loo_loss, near.loo_loss, rtol=1e-3)
