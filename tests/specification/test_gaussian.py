"""SPEC rows G1–G9: Gaussian discriminant analysis against scipy, numpy formulas, mpmath and scikit-learn."""

from __future__ import annotations

import math
import pickle

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logsumexp, softmax
from scipy.stats import multivariate_normal, norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as SklearnLDA
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

import suffit
from suffit import GDA

STRUCTURES = ["full", "diagonal", "spherical"]
TIES = [0.0, 1.0]


def blobs(seed=0, sizes=(13, 9, 16), p=3):
    """Classes that differ in size, mean and covariance, and overlap; covariances are well-conditioned."""
    rng = np.random.default_rng(seed)
    parts = []
    for c, size in enumerate(sizes):
        mix = rng.normal(size=(p, p)) * 0.25 + np.eye(p)
        parts.append(rng.normal(size=(size, p)) @ mix + rng.normal(size=p) * 0.8 + 0.3 * c)
    return np.concatenate(parts), np.repeat(np.array(["a", "b", "c", "d"])[: len(sizes)], sizes)


def scatter(X):
    Z = X - X.mean(axis=0)
    return Z.T @ Z


def expected_covariances(X, y, structure, tie, unbiased=False):
    """Σ_c = ((1−t)·S_c + t·S)/((1−t)·n_c + t·N), reduced to the structure.  (K, p, p)"""
    labels = np.unique(y)
    S = np.array([scatter(X[y == c]) for c in labels])
    d = np.array([(y == c).sum() - unbiased for c in labels], dtype=float)
    mixed = [((1 - tie) * S[i] + tie * S.sum(0)) / ((1 - tie) * d[i] + tie * d.sum()) for i in range(len(labels))]
    p = X.shape[1]
    reduce = {
        "full": lambda C: C,
        "diagonal": lambda C: np.diag(np.diag(C)),
        "spherical": lambda C: np.eye(p) * np.trace(C) / p,
    }[structure]
    return np.array([reduce(C) for C in mixed])


def expected_joint(X, y, Q, structure, tie, priors=None, unbiased=False):
    """log p(x, c) of the rows of Q by scipy, with parameters computed by numpy from X, y."""
    labels = np.unique(y)
    shares = np.array([(y == c).mean() for c in labels]) if priors is None else np.asarray(priors)
    covs = expected_covariances(X, y, structure, tie, unbiased)
    density = [multivariate_normal(X[y == c].mean(axis=0), covs[i]).logpdf(Q) for i, c in enumerate(labels)]
    return np.column_stack(density) + np.log(shares)


# --- G1


def test_G1_univariate_log_density_is_scipys():
    x = np.array([-40.0, -1.5, 0.0, 0.25, 3.0, 1e4])
    got = suffit.normal_logpdf(x[:, None], [0.25], [[2.5]])
    assert_allclose(got, norm(0.25, math.sqrt(2.5)).logpdf(x), rtol=1e-13)
    assert_allclose(suffit.normal_logpdf(x[:, None], 0.25, 2.5), got, rtol=1e-15)


def test_G1_multivariate_log_density_is_scipys():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(4, 4))
    mean, cov, x = rng.normal(size=4), A @ A.T + 0.1 * np.eye(4), rng.normal(size=(25, 4)) * 3
    want = multivariate_normal(mean, cov).logpdf(x)
    assert_allclose(suffit.normal_logpdf(x, mean, cov), want, rtol=1e-11)
    assert_allclose(np.ravel(suffit.normal_logpdf(x[0], mean, cov)), want[:1], rtol=1e-11)


def test_G1_scalar_and_diagonal_covariances():
    x, mean = np.random.default_rng(2).normal(size=(8, 3)), np.array([0.1, -1.0, 2.0])
    variances = np.array([0.5, 2.0, 7.0])
    by_columns = norm(mean, np.sqrt(variances)).logpdf(x).sum(axis=1)
    assert_allclose(suffit.normal_logpdf(x, mean, variances), by_columns, rtol=1e-13)
    assert_allclose(suffit.normal_logpdf(x, mean, 0.6), norm(mean, 0.6**0.5).logpdf(x).sum(1), rtol=1e-13)


def test_G1_ill_scaled_covariance():
    """Standard deviations from 1e-9 to 1e9: the density of the standardised point, less the log scales."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(4, 4))
    R = A @ A.T + np.eye(4)
    scale = np.array([1e-9, 1e-3, 1.0, 1e9])
    u = rng.normal(size=(10, 4))
    want = multivariate_normal(np.zeros(4), R).logpdf(u) - np.log(scale).sum()
    got = suffit.normal_logpdf(u * scale, np.zeros(4), R * np.outer(scale, scale))
    assert_allclose(got, want, rtol=1e-11)


@pytest.mark.parametrize("variance", [1e-3, 1e3])
def test_G1_determinant_that_under_or_overflows(variance):
    """400 columns: det Σ is about 10^∓1200, out of the range of a double."""
    p = 400
    x = np.random.default_rng(4).normal(size=(5, p)) * variance**0.5
    want = norm(0, variance**0.5).logpdf(x).sum(axis=1)
    assert np.isfinite(want).all()
    assert_allclose(suffit.normal_logpdf(x, np.zeros(p), variance * np.eye(p)), want, rtol=1e-12)


def test_G1_ill_conditioned_covariance_against_50_digits():
    n = 6
    hilbert = np.array([[1.0 / (i + j + 1) for j in range(n)] for i in range(n)])
    x = np.array([0.3, -0.2, 0.1, 0.4, -0.5, 0.25])
    with mp.workdps(50):
        S, z = mp.matrix(hilbert.tolist()), mp.matrix(x.tolist())
        quad = (z.T * mp.lu_solve(S, z))[0]
        want = float(-(quad + mp.log(mp.det(S)) + n * mp.log(2 * mp.pi)) / 2)
    assert_allclose(np.ravel(suffit.normal_logpdf(x, np.zeros(n), hilbert))[0], want, rtol=1e-8)


def test_G1_positive_semidefinite_has_its_density_on_the_support():
    B = np.array([[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]])  # rank 2 in 3 dimensions
    cov, mean = B @ B.T, np.array([1.0, -1.0, 0.5])
    x = mean + np.random.default_rng(5).normal(size=(6, 2)) @ B.T
    want = multivariate_normal(mean, cov, allow_singular=True).logpdf(x)
    assert np.isfinite(want).all()
    assert_allclose(suffit.normal_logpdf(x, mean, cov), want, rtol=1e-8)
    off = x + np.cross(B[:, 0], B[:, 1])  # a step out of the plane
    assert (suffit.normal_logpdf(off, mean, cov) == -np.inf).all()


def test_G1_asymmetric_covariance_is_refused():
    cov = np.eye(3)
    cov[0, 2], cov[2, 0] = 0.2, 0.3
    with pytest.raises(suffit.InputError, match=r"symmetric.*(\[0, 2\]|\[2, 0\])"):
        suffit.normal_logpdf(np.zeros((1, 3)), np.zeros(3), cov)
    assert issubclass(suffit.InputError, ValueError)


def test_G1_slightly_asymmetric_rounding_is_not_refused():
    cov = np.array([[1.0, 0.3], [0.3 * (1 + 1e-15), 1.0]])
    want = multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]]).logpdf([0.5, 0.5])
    assert_allclose(np.ravel(suffit.normal_logpdf([[0.5, 0.5]], [0, 0], cov))[0], want, rtol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_G1_indefinite_covariance_is_refused(scale):
    with pytest.raises(suffit.InputError, match=r"positive semi-definite.*-0\.5"):
        suffit.normal_logpdf(np.zeros((1, 2)), np.zeros(2), scale * np.array([[1.0, 1.5], [1.5, 1.0]]))


@pytest.mark.parametrize("cov", [-1.0, [1.0, -2.0], [[1.0, 0.0], [0.0, -2.0]], [[0.0, 0.5], [0.5, 1.0]]])
def test_G1_negative_variance_is_refused(cov):
    with pytest.raises(suffit.InputError, match="positive semi-definite"):
        suffit.normal_logpdf(np.zeros((1, 2)), np.zeros(2), cov)


@pytest.mark.parametrize("cov", [np.ones((2, 3)), np.ones((2, 2, 2)), [[1.0, np.nan], [np.nan, 1.0]]])
def test_G1_malformed_covariance_is_refused(cov):
    with pytest.raises(suffit.InputError, match="cov"):
        suffit.normal_logpdf(np.zeros((1, 2)), np.zeros(2), cov)


# --- G2


def test_G2_tie_0_is_quadratic_and_tie_1_linear_discriminant_analysis():
    X, y = blobs()
    Q = X + 0.3
    quadratic, linear = (GDA(tie=t).fit(X, y).predict_log_proba(Q) for t in TIES)
    assert_allclose(quadratic, suffit.QDA().fit(X, y).predict_log_proba(Q), rtol=1e-12, atol=1e-13)
    assert_allclose(linear, suffit.LDA().fit(X, y).predict_log_proba(Q), rtol=1e-12, atol=1e-13)
    sklearn_lda = SklearnLDA().fit(X, y).predict_proba(Q)
    assert_allclose(np.exp(linear), sklearn_lda, rtol=0, atol=1e-11)
    for tie, got in ((0.0, quadratic), (1.0, linear)):
        joint = expected_joint(X, y, Q, "full", tie)
        assert_allclose(got, joint - logsumexp(joint, axis=1, keepdims=True), rtol=1e-10, atol=1e-11)
    assert np.abs(quadratic - linear).max() > 0.1


@pytest.mark.parametrize("tie", [0.01, 0.3, 0.5, 0.99])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_G2_between_them_friedmans_formula(structure, tie):
    X, y = blobs(1)
    model = GDA(structure, tie=tie).fit(X, y)
    assert_allclose(model.covariance_, expected_covariances(X, y, structure, tie), rtol=1e-12, atol=1e-14)
    joint = expected_joint(X, y, X, structure, tie)
    assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-10)


def test_G2_shrinkage_regularises_towards_a_multiple_of_the_identity():
    X, y = blobs(2)
    for tie in (0.0, 0.4, 1.0):
        plain = expected_covariances(X, y, "full", tie)
        sphere = np.trace(plain, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
        want = 0.75 * plain + 0.25 * sphere
        got = GDA(tie=tie, shrinkage=0.25).fit(X, y).covariance_
        assert_allclose(got, want[0] if tie == 1.0 else want, rtol=1e-12, atol=1e-14)


def test_G2_own_covariances_bend_the_boundary_and_a_shared_one_does_not():
    X, y = blobs(3, sizes=(20, 25), p=2)
    line = np.linspace(-4, 4, 9)[:, None] * np.array([1.0, 0.7]) + 0.1
    odds = {tie: np.diff(GDA(tie=tie).fit(X, y).predict_joint_log_proba(line), axis=1)[:, 0] for tie in TIES}
    assert np.abs(np.diff(odds[1.0], 2)).max() < 1e-12
    assert np.abs(np.diff(odds[0.0], 2)).min() > 1e-3


# --- G3


def test_G3_maximum_likelihood_in_closed_form():
    X, y = blobs(4)
    labels = np.unique(y)
    shared, own = GDA(tie=1).fit(X, y), GDA(tie=0).fit(X, y)
    for model in (shared, own):
        assert_allclose(model.priors_, [np.sum(y == c) / len(y) for c in labels], rtol=1e-15)
        assert_allclose(model.means_, [X[y == c].mean(axis=0) for c in labels], rtol=1e-13)
    residual = X - np.array([X[y == c].mean(axis=0) for c in y])
    assert_allclose(shared.covariance_, residual.T @ residual / len(X), rtol=1e-12)
    assert_allclose(own.covariance_, [np.cov(X[y == c].T, bias=True) for c in labels], rtol=1e-12)


def test_G3_unbiased_divisors():
    X, y = blobs(5)
    labels = np.unique(y)
    shared = GDA(tie=1, denominator="unbiased").fit(X, y)
    own = GDA(tie=0, denominator="unbiased").fit(X, y)
    residual = X - np.array([X[y == c].mean(axis=0) for c in y])
    assert_allclose(shared.covariance_, residual.T @ residual / (len(X) - len(labels)), rtol=1e-12)
    assert_allclose(own.covariance_, [np.cov(X[y == c].T) for c in labels], rtol=1e-12)


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_G3_no_other_parameters_are_more_likely(structure, tie):
    """The closed form maximises the likelihood: every small change of mean, covariance or prior lowers it."""
    X, y = blobs(6, sizes=(15, 20), p=2)
    model = GDA(structure, tie=tie).fit(X, y)
    best = model.log_likelihood(X, y)
    covs = np.broadcast_to(model.covariance_, (2, 2, 2))

    def likelihood(means, covs, prior):
        joint = [multivariate_normal(means[i], covs[i]).logpdf(X) + np.log(prior[i]) for i in range(2)]
        return float(np.where(y == "a", *joint).sum())

    assert likelihood(model.means_, covs, model.priors_) == pytest.approx(best, rel=1e-12)
    for step in (1e-3, -1e-3):
        assert likelihood(model.means_ + step, covs, model.priors_) < best
        assert likelihood(model.means_, covs * (1 + step), model.priors_) < best
        assert likelihood(model.means_, covs, model.priors_ + np.array([step, -step])) < best


# --- G4


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_G4_structures_own_and_shared(structure, tie, unbiased):
    X, y = blobs(7)
    model = GDA(structure, tie=tie, denominator="unbiased" if unbiased else "mle").fit(X, y)
    want = expected_covariances(X, y, structure, tie, unbiased)
    assert model.covariance_.shape == ((3, 3) if tie else (3, 3, 3))
    assert_allclose(model.covariance_, want[0] if tie else want, rtol=1e-12, atol=1e-14)
    joint = expected_joint(X, y, X + 0.5, structure, tie, unbiased=unbiased)
    assert_allclose(model.predict_joint_log_proba(X + 0.5), joint, rtol=1e-10)
    assert_allclose(model.predict_proba(X + 0.5), softmax(joint, axis=1), rtol=0, atol=1e-12)
    assert_allclose(model.score_samples(X + 0.5), logsumexp(joint, axis=1), rtol=1e-10)


def test_G4_diagonal_own_is_gaussian_naive_bayes():
    X, y = blobs(8)
    model = GDA("diagonal").fit(X, y)
    naive = suffit.GaussianNB(var_smoothing=0).fit(X, y)
    sklearn_naive = SklearnGaussianNB(var_smoothing=0).fit(X, y)
    for other in (naive, sklearn_naive):
        assert_allclose(np.diagonal(model.covariance_, axis1=1, axis2=2), other.var_, rtol=1e-12)
        assert_allclose(model.predict_log_proba(X), other.predict_log_proba(X), rtol=1e-11, atol=1e-13)


# --- G5


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_G5_log_likelihood_aic_and_bic(structure, tie):
    X, y = blobs(9)
    Q, labels = blobs(10, sizes=(4, 6, 5))
    model = GDA(structure, tie=tie).fit(X, y)
    joint = expected_joint(X, y, Q, structure, tie)
    at = np.searchsorted(["a", "b", "c"], labels)
    want = joint[np.arange(len(Q)), at].sum()
    covariance_entries = {"full": 6, "diagonal": 3, "spherical": 1}[structure] * (1 if tie else 3)
    parameters = 3 * 3 + covariance_entries + 2
    assert model.log_likelihood(Q, labels) == pytest.approx(want, rel=1e-11)
    assert model.aic(Q, labels) == pytest.approx(2 * parameters - 2 * want, rel=1e-11)
    assert model.bic(Q, labels) == pytest.approx(np.log(len(Q)) * parameters - 2 * want, rel=1e-11)


def test_G5_weights_repeat_rows_and_an_unknown_label_is_impossible():
    X, y = blobs(11)
    model = GDA().fit(X, y)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    assert model.log_likelihood(X, y, weight) == pytest.approx(model.log_likelihood(*repeated), rel=1e-13)
    assert model.bic(X, y, weight) == pytest.approx(model.bic(*repeated), rel=1e-13)
    assert model.log_likelihood(X[:2], [y[0], "never seen"]) == -np.inf


# --- G6


@pytest.mark.parametrize(("k", "n"), [(2, 2), (3, 4), (4, 1)])
def test_G6_number_of_free_parameters(k, n):
    X, y = blobs(12, sizes=(12,) * k, p=n)
    prior = k - 1
    counts = {
        ("full", 0): k * n * (n + 3) // 2,
        ("full", 0.5): k * n * (n + 3) // 2,
        ("full", 1): k * n + n * (n + 1) // 2,
        ("diagonal", 0): 2 * k * n,
        ("diagonal", 1): k * n + n,
        ("spherical", 0): k * n + k,
        ("spherical", 1): k * n + 1,
    }
    for (structure, tie), count in counts.items():
        assert GDA(structure, tie=tie).fit(X, y).n_parameters_ == count + prior, (structure, tie)
    assert suffit.QDA().fit(X, y).n_parameters_ == counts["full", 0] + prior
    assert suffit.LDA().fit(X, y).n_parameters_ == counts["full", 1] + prior
    assert suffit.GaussianNB().fit(X, y).n_parameters_ == counts["diagonal", 0] + prior


def test_G6_two_classes_two_features_every_entry_counted_is_13():
    X, y = blobs(13, sizes=(9, 8), p=2)
    model = GDA().fit(X, y)
    (mu0, mu1), (S0, S1) = model.means_, model.covariance_
    assert 1 + mu0.size + mu1.size + S0.size + S1.size == 1 + 2 + 2 + 4 + 4 == 13
    assert model.n_parameters_ == 11  # a symmetric Σ has 3 free entries, not 4


# --- G7


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("tie", TIES)
def test_G7_bayes_rule_for_any_number_of_classes(k, tie):
    X, y = blobs(14, sizes=(8, 14, 10, 12)[:k])
    Q = np.random.default_rng(1).normal(size=(200, 3)) * 2
    model = GDA(tie=tie).fit(X, y)
    joint = expected_joint(X, y, Q, "full", tie)
    assert (model.predict(Q) == np.unique(y)[joint.argmax(axis=1)]).all()
    assert_allclose(model.predict_proba(Q), softmax(joint, axis=1), rtol=0, atol=1e-12)
    assert_allclose(model.predict_proba(Q).sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("tie", TIES)
def test_G7_equal_priors_choose_the_densest_class(tie):
    X, y = blobs(15, sizes=(40, 8, 20))
    Q = np.random.default_rng(2).normal(size=(300, 3)) * 2
    density = expected_joint(X, y, Q, "full", tie, priors=[1, 1, 1])
    densest = np.unique(y)[density.argmax(axis=1)]
    equal = GDA(tie=tie, priors="uniform").fit(X, y)
    assert (equal.predict(Q) == densest).all()
    assert (GDA(tie=tie).fit(X, y).with_prior([1 / 3] * 3).predict(Q) == densest).all()
    assert (GDA(tie=tie).fit(X, y).predict(Q) != densest).any()  # the class shares matter


def test_G7_given_priors_by_label_and_in_order():
    X, y = blobs(16)
    prior = {"c": 0.5, "a": 0.2, "b": 0.3}
    joint = expected_joint(X, y, X, "full", 0.0, priors=[0.2, 0.3, 0.5])
    for model in (GDA(priors=prior), GDA(priors=[0.2, 0.3, 0.5])):
        assert_allclose(model.fit(X, y).predict_proba(X), softmax(joint, axis=1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("tie", TIES)
def test_G7_posterior_by_log_sum_exp_where_every_density_underflows(tie):
    X, y = blobs(17, sizes=(12, 15))
    Q = np.array([[60.0, 45.0, -80.0], [-200.0, 100.0, 30.0]])
    joint = expected_joint(X, y, Q, "full", tie)
    assert (joint < -745).all()  # exp of any of them is 0
    model = GDA(tie=tie).fit(X, y)
    assert_allclose(model.predict_log_proba(Q), joint - logsumexp(joint, axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    assert (model.predict_proba(Q).sum(axis=1) == 1.0).all()


@pytest.mark.parametrize("model", [GDA(), GDA(tie=1), GDA("diagonal"), GDA("spherical", tie=0.5), suffit.GaussianNB()])
def test_G7_posterior_is_finite_however_far_away(model):
    X, y = blobs(18)
    for far in (1e10, 1e160, 1e300, np.finfo(float).max):
        posterior = model.fit(X, y).predict_proba([[far, -far, far], [far, 0.0, 0.0]])
        assert np.isfinite(posterior).all()
        assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-14)


# --- G8


def two_classes():
    X, y = blobs(19, sizes=(14, 22))
    labels = np.where(y == "a", "c1", "c2")
    return X, labels


def shared_logistic(X, y):
    """w and w0 of the SPEC's formula, from the data by numpy."""
    mu1, mu2 = X[y == "c1"].mean(axis=0), X[y == "c2"].mean(axis=0)
    S = (scatter(X[y == "c1"]) + scatter(X[y == "c2"])) / len(X)
    P = np.linalg.inv(S)
    odds = math.log((y == "c1").sum() / (y == "c2").sum())
    return P @ (mu1 - mu2), -0.5 * mu1 @ P @ mu1 + 0.5 * mu2 @ P @ mu2 + odds


def test_G8_two_classes_shared_covariance_is_a_sigmoid():
    X, y = two_classes()
    w, w0 = shared_logistic(X, y)
    model = GDA(tie=1).fit(X, y)
    pair = model.logistic_form().pair("c1", "c2")
    assert pair.quadratic is None
    assert_allclose(pair.weights, w, rtol=1e-10)
    assert pair.intercept == pytest.approx(w0, rel=1e-10)
    assert_allclose(model.predict_proba(X)[:, 0], expit(X @ w + w0), rtol=0, atol=1e-12)
    assert_allclose(pair.probability(X), model.predict_proba(X)[:, 0], rtol=0, atol=1e-12)
    assert_allclose(pair(X), X @ w + w0, rtol=1e-9)


def test_G8_posterior_is_one_half_on_the_boundary():
    X, y = two_classes()
    w, w0 = shared_logistic(X, y)
    Q = np.random.default_rng(3).normal(size=(50, 3)) * 3
    on_it = Q - ((Q @ w + w0) / (w @ w))[:, None] * w
    assert_allclose(GDA(tie=1).fit(X, y).predict_proba(on_it), 0.5, rtol=0, atol=1e-12)


def test_G8_posterior_is_exactly_one_half_in_the_middle_of_mirrored_classes():
    half = np.array([[1.0, 2.0], [3.0, -1.0], [2.0, 5.0]])
    X, y = np.concatenate([half, -half]), np.repeat(["c1", "c2"], 3)
    model = GDA(tie=1).fit(X, y)
    assert model.predict_proba([[0.0, 0.0]]).tolist() == [[0.5, 0.5]]
    assert model.logistic_form().pair("c1", "c2").intercept == 0.0


def test_G8_softmax_form_for_three_classes():
    X, y = blobs(20)
    model = GDA(tie=1).fit(X, y)
    form = model.logistic_form()
    assert form.classes == ("a", "b", "c")
    assert form.quadratic is None
    scores = X @ form.weights.T + form.intercept
    assert_allclose(softmax(scores, axis=1), model.predict_proba(X), rtol=0, atol=1e-12)
    S = expected_covariances(X, y, "full", 1.0)[0]
    means = np.array([X[y == c].mean(axis=0) for c in "abc"])
    W = means @ np.linalg.inv(S)
    b = -0.5 * (W * means).sum(axis=1) + np.log([np.mean(y == c) for c in "abc"])
    assert_allclose(form.weights - form.weights[0], W - W[0], rtol=1e-9, atol=1e-11)
    assert_allclose(form.intercept - form.intercept[0], b - b[0], rtol=1e-9, atol=1e-11)


def test_G8_own_covariances_give_the_quadratic_form():
    X, y = two_classes()
    model = GDA(tie=0).fit(X, y)
    pair = model.logistic_form().pair("c1", "c2")
    P1, P2 = (np.linalg.inv(np.cov(X[y == c].T, bias=True)) for c in ("c1", "c2"))
    mu1, mu2 = (X[y == c].mean(axis=0) for c in ("c1", "c2"))
    log_det = [np.linalg.slogdet(P)[1] for P in (P1, P2)]
    w0 = 0.5 * (log_det[0] - log_det[1] - mu1 @ P1 @ mu1 + mu2 @ P2 @ mu2) + math.log(14 / 22)
    assert_allclose(pair.quadratic, 0.5 * (P2 - P1), rtol=1e-9, atol=1e-11)
    assert_allclose(pair.weights, P1 @ mu1 - P2 @ mu2, rtol=1e-9)
    assert pair.intercept == pytest.approx(w0, rel=1e-9)
    odds = np.einsum("ij,jk,ik->i", X, pair.quadratic, X) + X @ pair.weights + pair.intercept
    assert_allclose(expit(odds), model.predict_proba(X)[:, 0], rtol=0, atol=1e-12)


EVERY_GAUSSIAN = [
    *(GDA(structure, tie=tie) for structure in STRUCTURES for tie in (0.0, 0.5, 1.0)),
    suffit.LDA(),
    suffit.QDA(),
    suffit.GaussianNB(),
]


@pytest.mark.parametrize("model", EVERY_GAUSSIAN, ids=str)
def test_G8_the_form_reproduces_the_posterior(model):
    X, y = blobs(21)
    form = model.fit(X, y).logistic_form()
    assert_allclose(np.exp(form.predict_log_proba(X)), model.predict_proba(X), rtol=0, atol=1e-12)
    for a, b in (("a", "b"), ("c", "a")):
        log_proba = model.predict_log_proba(X)
        odds = log_proba[:, "abc".index(a)] - log_proba[:, "abc".index(b)]
        assert_allclose(form.pair(a, b)(X), odds, rtol=1e-11, atol=1e-12)
    assert (form.quadratic is None) == (getattr(model, "tie", None) == 1.0 or isinstance(model, suffit.LDA))


def test_G8_no_such_class():
    X, y = blobs(22)
    with pytest.raises(ValueError, match="'z'"):
        GDA().fit(X, y).logistic_form().pair("a", "z")


# --- G9

C1 = [(0.3682, -2.0530), (0.1521, 0.0131), (-1.3033, -0.2105)]
C2 = [(0.9456, 2.6543), (1.3574, 1.0225), (0.4478, 1.0543)]


def test_G9_worked_example():
    model = GDA("spherical", tie=1).fit(np.array(C1 + C2), ["C1"] * 3 + ["C2"] * 3)
    assert model.priors_.tolist() == [0.5, 0.5]
    assert model.means_.round(4).tolist() == [[-0.2610, -0.7501], [0.9169, 1.5770]]
    variance = model.covariance_[0, 0]
    assert_allclose(model.covariance_, variance * np.eye(2), rtol=1e-15)
    by_hand = sum(((np.array(C) - np.mean(C, axis=0)) ** 2).sum() for C in (C1, C2)) / (2 * 2 * 3)
    assert variance == pytest.approx(by_hand, rel=1e-14)
    assert f"{math.sqrt(variance):.8f}".startswith("0.7291")
    pair = model.logistic_form().pair("C1", "C2")
    assert pair.weights.round(4).tolist() == [-2.2154, -4.3769]
    assert round(pair.intercept, 4) == 2.5362
    m, c = -pair.weights[0] / pair.weights[1], -pair.intercept / pair.weights[1]
    assert (round(m, 4), round(c, 4)) == (-0.5062, 0.5795)
    x1 = np.linspace(-3, 3, 7)
    assert_allclose(model.predict_proba(np.column_stack([x1, m * x1 + c])), 0.5, rtol=0, atol=1e-12)


def test_G9_each_training_point_lies_on_its_side():
    model = GDA("spherical", tie=1).fit(np.array(C1 + C2), ["C1"] * 3 + ["C2"] * 3)
    assert model.predict(C1 + C2).tolist() == ["C1"] * 3 + ["C2"] * 3


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e8])
@pytest.mark.parametrize(
    "make",
    [
        suffit.GaussianNB, suffit.QDA, suffit.LDA, lambda: GDA(tie=0.5), lambda: GDA(covariance="spherical"),
        lambda: GDA(covariance="diagonal", tie=1), lambda: suffit.NaiveBayes("lognormal"),
        lambda: suffit.GenerativeClassifier({("a", "b"): "multivariate_gaussian", "c": "gaussian"}),
    ],
)  # fmt: skip
def test_G8_the_form_reproduces_the_posterior_far_from_0(make, offset):
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 3)) + y[:, None] + offset
    model = make()
    if isinstance(model, suffit.NaiveBayes):
        X = np.exp(20 + (X - offset) / max(offset, 1.0))  # logarithms far from 0, beside their spread
    if isinstance(model, suffit.GenerativeClassifier):
        table = dict(zip("abc", X.T, strict=True))
        model.fit(table, y)
        form, P, X = model.logistic_form(), model.predict_log_proba(table), model._read_X_known(table)
    else:
        form, P = model.fit(X, y).logistic_form(), model.predict_log_proba(X)
    assert_allclose(np.exp(form.predict_log_proba(X)), np.exp(P), rtol=0, atol=1e-12)
    pair = form.pair(2, 0)
    assert_allclose(pair(X), P[:, 2] - P[:, 0], rtol=1e-11, atol=1e-12)
    for of_form in (form, pair):
        assert " at 0x" not in repr(of_form)


def test_G8_weights_about_the_centre_and_about_0_are_the_same_form():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 3 + y[:, None]
    form = suffit.QDA().fit(X, y).logistic_form()
    z = X - form.centred.centre
    about = z @ form.centred.weights.T + form.centred.intercept + np.einsum("ij,cjk,ik->ic", z, form.quadratic, z)
    at_0 = X @ form.weights.T + form.intercept + np.einsum("ij,cjk,ik->ic", X, form.quadratic, X)
    assert_allclose(about, at_0, rtol=1e-12)
    assert_allclose(form.scores(X), at_0, rtol=1e-12)
    assert_allclose(pickle.loads(pickle.dumps(form)).scores(X), form.scores(X), rtol=0)
