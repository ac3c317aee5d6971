"""Joint columns with the tails of a t: densities, marginals, draws and settings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import log_loss

import suffit
from suffit.families.gaussian.student_t import log_density

NAN = np.nan


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 3)) @ [[1.0, 0.6, -0.3], [0.0, 0.9, 0.5], [0.0, 0.0, 0.7]] + y[:, None]
    return {f"x{j}": X[:, j] for j in range(3)}, y


def model(freedom=5.0, **settings):
    return suffit.GenerativeClassifier({("x0", "x1", "x2"): suffit.MultivariateGaussian(freedom=freedom, **settings)})


def oracle(fitted, x, freedom):
    """log p(x_o | c) by scipy, row by row."""
    normal = fitted._solved.scorer.scorers[0].normal
    covariances = np.asarray(normal.covariances())
    out = np.zeros((len(x), len(normal.means)))
    for i, row in enumerate(x):
        o = row == row
        for c, (mean, cov) in enumerate(zip(normal.means, covariances, strict=True)):
            if o.any():
                out[i, c] = stats.multivariate_t.logpdf(row[o], mean[o], cov[np.ix_(o, o)], df=freedom)
    return out


@pytest.mark.parametrize("settings", [{}, {"tie": 1.0}, {"tie": 0.4, "shrinkage": 0.2}])
@pytest.mark.parametrize("freedom", [1.0, 4.5, 30.0])
def test_densities_are_those_of_scipy_with_and_without_missing_values(settings, freedom):
    X, y = rows()
    fitted = model(freedom, **settings).fit(X, y)
    x = np.column_stack(list(X.values()))[:40] * 2
    x[:20][np.random.default_rng(1).random((20, 3)) < 0.4] = NAN
    table = {name: x[:, j] for j, name in enumerate(X)}
    expected = oracle(fitted, x, freedom) + np.log(1 / 3)
    np.testing.assert_allclose(fitted.predict_joint_log_proba(table), expected, rtol=1e-10, atol=1e-10)
    posterior = np.exp(expected - expected.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        fitted.predict_proba(table), posterior / posterior.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-12
    )


def test_much_freedom_is_the_normal():
    X, y = rows()
    plain = suffit.GenerativeClassifier({("x0", "x1", "x2"): suffit.MultivariateGaussian()}).fit(X, y)
    assert isinstance(plain._solved.scorer.scorers[0].logistic_form(), suffit.LogisticForm)
    nearly = model(1e9).fit(X, y)
    np.testing.assert_allclose(nearly.predict_joint_log_proba(X), plain.predict_joint_log_proba(X), atol=1e-6)
    squares, log_det = np.array([[0.3, 7.0]]), np.array([[1.2]])
    np.testing.assert_allclose(
        log_density(squares, log_det, 4, np.inf), log_density(squares, log_det, 4, 1e8), atol=1e-5
    )


def test_a_far_row_says_less_of_the_classes():
    X, y = rows()
    far = {"x0": [60.0], "x1": [-40.0], "x2": [50.0]}
    normal, heavy = (model(v).fit(X, y) for v in (1e6, 4.0))
    assert normal.predict_proba(far).max() > 1 - 1e-9
    assert heavy.predict_proba(far).max() < 0.99
    very = {name: [value[0] * 1e200] for name, value in far.items()}  # squares overflow: drawn in along the ray
    assert np.isfinite(heavy.predict_proba(very)).all()


def test_draws_have_the_moments_of_a_t():
    X, y = rows()
    freedom = 6.0
    fitted = model(freedom).fit(X, y)
    drawn, labels = fitted.sample(60_000, y=1, random_state=0)
    x = np.column_stack(list(drawn.values()))
    normal = fitted._solved.scorer.scorers[0].normal
    assert set(labels) == {1}
    np.testing.assert_allclose(x.mean(axis=0), normal.means[1], atol=0.03)
    cov = np.asarray(normal.covariances())[1] * freedom / (freedom - 2)
    np.testing.assert_allclose(np.cov(x, rowvar=False), cov, rtol=0.1, atol=0.05)
    assert stats.kurtosis(x[:, 0]) > 1  # a normal has 0


def test_imputed_values_follow_the_conditional_t():
    X, y = rows()
    freedom, n = 5.0, 40_000
    fitted = model(freedom).fit(X, y)
    normal = fitted._solved.scorer.scorers[0].normal
    mean, cov = normal.means[0], np.asarray(normal.covariances())[0]
    z = mean[:2] + np.array([2.0, -1.5])
    table = {"x0": np.full(n, z[0]), "x1": np.full(n, z[1]), "x2": np.full(n, NAN)}
    filled = fitted.impute(table, y=np.zeros(n, int))
    B = cov[2, :2] @ np.linalg.inv(cov[:2, :2])
    expected = mean[2] + B @ (z - mean[:2])
    np.testing.assert_allclose(filled["x2"], expected, rtol=1e-9)
    drawn = fitted.impute(table, y=np.zeros(n, int), how="draw", random_state=0)["x2"]
    far = (z - mean[:2]) @ np.linalg.solve(cov[:2, :2], z - mean[:2])
    variance = (cov[2, 2] - B @ cov[:2, 2]) * (freedom + far) / (freedom + 2) * (freedom + 2) / freedom
    assert drawn.mean() == pytest.approx(expected, abs=0.03)
    assert drawn.var() == pytest.approx(variance, rel=0.1)


def test_there_is_no_logistic_form():
    X, y = rows()
    fitted = model().fit(X, y)
    with pytest.raises(suffit.InputError, match="no logistic form"):
        fitted.logistic_form()
    with pytest.raises(suffit.InputError, match="to_sklearn: with heavy tails"):
        fitted.to_sklearn()


@pytest.mark.parametrize("freedom", [0.0, -1.0, NAN, "many", None])
def test_freedom_must_be_above_0(freedom):
    with pytest.raises(ValueError, match="freedom"):
        suffit.MultivariateGaussian(freedom=freedom)


def test_a_table_with_far_rows_is_classified_better_than_by_normal_densities_and_a_normal_one_as_well():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    mix = np.array([[1.0, 0.8, 0.2], [0.0, 1.0, 0.7], [0.0, 0.0, 1.0]])
    means = np.array([[0.0, 0.0, 0.0], [2.0, -2.0, 1.0], [-1.0, 2.0, 2.0]])[y]
    gain = []
    for tails in (2, 1e9):
        learn, judge = (
            means + rng.normal(size=(600, 3)) @ mix * np.sqrt(tails / rng.chisquare(tails, (600, 1))) for _ in range(2)
        )
        ours, normal = suffit.GenerativeClassifier().fit(learn, y), suffit.GDA(shrinkage=0.1).fit(learn, y)
        gain.append(log_loss(y, normal.predict_proba(judge)) - log_loss(y, ours.predict_proba(judge)))
    assert gain[0] > 0.02
    assert gain[1] > -0.01
