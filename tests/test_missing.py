"""SPEC rows C4, C5: missing values marginalised at fit and at prediction, and filled in, against independent sums.

Nothing here calls the library's own formulas for what is expected: sums over all completions, scipy densities of the
columns that are there, numerical maximisation of the observed-data likelihood, regressions by hand.
"""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from scipy import integrate, optimize, sparse, stats
from scipy.special import logsumexp
from sklearn.covariance import EmpiricalCovariance

import suffit
from cases import CASES, assert_identical, assert_same, data, takes_zero, with_holes
from suffit import (
    GDA,
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    InputError,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    families,
)
from suffit.families.gaussian.missing import em as completion_module
from suffit.families.gaussian.missing import patterns
from suffit.families.gaussian.missing.em import Completion
from suffit.families.gaussian.missing.patterns import MissingValuesWarning

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")
NaN = np.nan

FULL = {
    "QDA": lambda: QDA(store_covariance=True),
    "LDA": lambda: LDA(store_covariance=True),
    "GDA": lambda: GDA(),
    "GDA-half": lambda: GDA(tie=0.5),
    "GDA-shared": lambda: GDA(tie=1.0),
}
GAUSSIAN = {
    **FULL,
    "GDA-unbiased": lambda: GDA(denominator="unbiased"),
    "GDA-shrunk": lambda: GDA(shrinkage=0.2),
    "GDA-ledoit-wolf": lambda: GDA(shrinkage="ledoit-wolf"),
    "GDA-oas": lambda: GDA(tie=1.0, shrinkage="oas"),
    "QDA-reg": lambda: QDA(reg_param=0.1),
    "LDA-eigen-auto": lambda: LDA("eigen", "auto"),
    "LDA-lsqr-priors": lambda: LDA("lsqr", priors=[0.2, 0.5, 0.3]),
    "diagonal": lambda: GDA("diagonal"),
    "diagonal-half": lambda: GDA("diagonal", tie=0.5),
    "diagonal-shared": lambda: GDA("diagonal", tie=1.0),
    "spherical": lambda: GDA("spherical"),
    "spherical-shared": lambda: GDA("spherical", tie=1.0),
    "GaussianNB": lambda: GaussianNB(),
}


def over(makers):
    return pytest.mark.parametrize("make", makers.values(), ids=makers.keys())


def over_cases(wanted=lambda name: True):
    cases = {k: c for k, c in CASES.items() if wanted(k) and not k.startswith("Generative")}  # tables: test_tables
    return pytest.mark.parametrize("case", cases.values(), ids=cases.keys())


def of_levels(name):
    return "ategorical" in name


def of_words(name):
    return "ultinomial" in name or "Complement" in name


every_case = over_cases()


def some_there(X):
    """The rows with at least two values (one, of two columns)."""
    return X[(X == X).sum(axis=1) >= min(2, X.shape[1] - 1)]


MIX = np.array([[1.0, 0.6, -0.3], [0.0, 0.9, 0.5], [0.0, 0.0, 0.7]])


def normal_rows(seed=0, n=240, k=3, p=3, share=0.25, offset=0.0):
    """Rows of correlated columns with class means of their own, some values missing at random."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    mix = MIX if p == 3 else np.eye(p) + np.triu(rng.normal(size=(p, p)), 1) / np.sqrt(p)
    X = rng.normal(size=(n, p)) @ mix + y[:, None] * np.linspace(1.0, -0.5, p) + offset
    return np.where(rng.random((n, p)) < share, NaN, X), y


def fitted_parameters(model):
    """p(c), means and covariances of every class."""
    scorer = model._solved.scorer
    return np.exp(model._solved.log_prior), scorer.means, np.asarray(scorer.covariances())


def log_joint(X, prior, means, covariances):
    """log p(c) + log N(x_o; μ_co, Σ_c,oo) by scipy, row by row and class by class; nothing there: log p(c)."""
    out = np.tile(np.log(prior), (len(X), 1))
    for i, c in itertools.product(range(len(X)), range(len(prior))):
        o = X[i] == X[i]
        if o.any():
            out[i, c] += stats.multivariate_normal.logpdf(X[i, o], means[c, o], covariances[c][np.ix_(o, o)])
    return out


def observed_log_likelihood(X, y, means, covariances):
    """Σ log p(x_o | y) of labelled rows."""
    joint = log_joint(X, np.ones(len(means)), means, covariances)
    return joint[np.arange(len(y)), y].sum()


# --- prediction: exactly the marginal


@pytest.mark.parametrize("alpha", [1.0, 0.1, 0.0])
def test_C4_bernoulli_posterior_sums_over_all_completions(alpha):
    rng = np.random.default_rng(1)
    X = (rng.random((60, 4)) < 0.4).astype(float)
    y = rng.integers(0, 3, 60)
    X[:, 0] = np.where(y == 0, 0.0, X[:, 0])  # never present in a class: probability 0 where alpha is
    model = BernoulliNB(alpha=alpha).fit(with_holes(X, 5), y)
    for missing in itertools.chain.from_iterable(itertools.combinations(range(4), r) for r in range(5)):
        row = X[:1].copy()
        row[0, list(missing)] = NaN
        whole = [np.array(v) for v in itertools.product(*([0.0, 1.0] if j in missing else [X[0, j]] for j in range(4)))]
        expected = np.exp(model.predict_joint_log_proba(np.array(whole))).sum(axis=0)
        np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(row))[0], expected, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(row)[0], expected / expected.sum(), atol=1e-12)
        np.testing.assert_allclose(model.score_samples(row)[0], np.log(expected.sum()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_C4_categorical_posterior_sums_over_all_completions(alpha, words):
    rng = np.random.default_rng(2)
    sizes = [2, 3, 4]
    categories = [[f"category {v}" for v in range(s)] if words else list(range(s)) for s in sizes]
    places = rng.integers(0, sizes, (80, 3))
    X = np.array([[categories[j][v] for j, v in enumerate(row)] for row in places], dtype=object if words else float)
    y = rng.integers(0, 3, 80)
    model = CategoricalNB(alpha=alpha).fit(with_holes(X, 3), y)
    for hidden in itertools.product([False, True], repeat=3):
        row = X[:1].copy()
        row[0, list(hidden)] = None if words else NaN
        choice = [categories[j] if hidden[j] else [X[0, j]] for j in range(3)]
        whole = np.array(list(itertools.product(*choice)), dtype=X.dtype)
        expected = np.exp(model.predict_joint_log_proba(whole)).sum(axis=0)
        np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(row))[0], expected, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(row)[0], expected / expected.sum(), atol=1e-12)
        np.testing.assert_allclose(model.score_samples(row)[0], np.log(expected.sum()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("family", ["poisson", "geometric"])
def test_C4_counts_sum_over_all_values_of_the_missing_column(family):
    X, y = data(CASES[f"family-{family}"], 0)
    model = NaiveBayes(family).fit(with_holes(X, 0), y)
    row = X[:1].copy()
    whole = np.repeat(row, 3000, axis=0)
    whole[:, 2] = np.arange(3000)  # the rest of the tail is below 1e-30
    row[0, 2] = NaN
    expected = logsumexp(model.predict_joint_log_proba(whole), axis=0)
    np.testing.assert_allclose(model.predict_joint_log_proba(row)[0], expected, rtol=1e-12)


SUPPORTS = {
    "gaussian": (-np.inf, np.inf),
    "lognormal": (0, np.inf),
    "exponential": (0, np.inf),
    "gamma": (0, np.inf),
    "beta": (0, 1),
    "vonmises": (0, 24),
}


@pytest.mark.parametrize("family", SUPPORTS)
def test_C4_densities_integrate_over_the_missing_column(family):
    case = CASES[f"family-{family}"]
    X, y = data(case, 1)
    model = case.make().fit(with_holes(X, 1), y)
    row = X[:1].copy()
    hidden = row.copy()
    hidden[0, 1] = NaN
    expected = model.predict_joint_log_proba(hidden)[0]
    for c in range(3):

        def density(v, c=c):
            return np.exp(model.predict_joint_log_proba(np.where([True, False, True][: X.shape[1]], row, v))[0, c])

        centre = float(model._solved.scorer.centres[c, 1])
        low, high = SUPPORTS[family]
        total = sum(integrate.quad(density, a, b, epsabs=1e-14)[0] for a, b in ((low, centre), (centre, high)))
        np.testing.assert_allclose(np.log(total), expected[c], rtol=1e-7)


@over(GAUSSIAN)
def test_C4_gaussian_rows_score_the_density_of_the_columns_that_are_there(make):
    X, y = normal_rows()
    model = make().fit(X, y)
    prior, means, covariances = fitted_parameters(model)
    rows = np.concatenate([X[:60], [[NaN, NaN, NaN], [1.0, NaN, NaN], [NaN, -2.0, 0.5], [30.0, NaN, -40.0]]])
    expected = log_joint(rows, prior, means, covariances)
    np.testing.assert_allclose(model.predict_joint_log_proba(rows), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(rows), logsumexp(expected, axis=1), rtol=1e-12, atol=1e-12)
    posterior = np.exp(expected - logsumexp(expected, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(rows), posterior, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), posterior, atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[posterior.argmax(axis=1)])
    labels = np.arange(len(rows)) % 3
    np.testing.assert_allclose(
        model.log_likelihood(rows, labels), expected[np.arange(len(rows)), labels].sum(), rtol=1e-12
    )


@over({k: v for k, v in GAUSSIAN.items() if not k.startswith(("LDA", "GaussianNB"))})
def test_C4_decision_function_is_the_log_odds_of_the_columns_that_are_there(make):
    X, y = normal_rows()
    three, two = make().fit(X, y), make().fit(X[y < 2], y[y < 2])
    log_p = three.predict_log_proba(X)
    scores = three.decision_function(X)
    np.testing.assert_allclose(scores - scores[:, :1], log_p - log_p[:, :1], rtol=1e-11, atol=1e-11)
    log_p = two.predict_log_proba(X)
    np.testing.assert_allclose(two.decision_function(X), log_p[:, 1] - log_p[:, 0], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_C4_decision_function_of_lda_is_the_log_odds_of_the_columns_that_are_there(solver):
    X, y = normal_rows()
    two = LDA(solver).fit(X[y < 2], y[y < 2])
    log_p = two.predict_log_proba(X)
    np.testing.assert_allclose(two.decision_function(X), log_p[:, 1] - log_p[:, 0], rtol=1e-9, atol=1e-9)


def test_C4_the_largest_decision_of_lda_is_its_prediction():
    X, y = normal_rows()
    model = LDA().fit(X, y)
    np.testing.assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))


@over_cases(lambda name: not of_words(name))
def test_C4_a_row_of_which_nothing_is_there_has_the_prior(case):
    X, y = data(case, 0)
    X = with_holes(X, 0)
    model = case.make().fit(X, y)
    blank = np.full((2, X.shape[1]), NaN, dtype=X.dtype)
    prior = model.class_count_ / model.class_count_.sum()
    for rows in (blank, np.concatenate([X[:9], blank])):  # alone, and beside others
        np.testing.assert_allclose(model.predict_proba(rows)[-2:], np.tile(prior, (2, 1)), atol=1e-14)
    np.testing.assert_allclose(model.score_samples(blank), 0.0, atol=1e-14)


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB, lambda: ComplementNB(norm=True)])
def test_C4_a_document_of_which_nothing_is_there_raises_no_warning(make):
    X, y = data(CASES["MultinomialNB"], 0)
    model = make().fit(X, y)
    prior = np.full(3, 1 / 3) if isinstance(model, ComplementNB) else np.exp(model.class_log_prior_)
    np.testing.assert_allclose(model.predict_proba(np.full((1, 4), NaN)), [prior], atol=1e-14)


def test_C4_normalised_complement_weights_with_one_word_left():
    X, y = data(CASES["ComplementNB-norm"], 0)
    model = ComplementNB(norm=True).fit(X, y)
    joint = model.predict_joint_log_proba([[3.0, NaN, NaN, NaN]])  # one word says nothing about the class
    assert np.isfinite(joint).all()


@every_case
def test_C4_the_handle_for_one_row_takes_holes(case):
    X, y = data(case, 3)
    X = with_holes(X, 3)
    model = case.make().fit(X, y)
    score = model.scorer()
    rows = some_there(X)
    each = np.array([score(row) for row in rows])
    np.testing.assert_allclose(each, [model.predict_proba(row[None])[0] for row in rows], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(each, model.predict_proba(rows), rtol=1e-9, atol=1e-14)


@over_cases(lambda name: not of_levels(name) and name not in ("family-lognormal", "family-beta"))
def test_C4_sparse_rows_with_stored_nan_equal_dense_rows(case):
    X, y = data(case, 4)
    rng = np.random.default_rng(4)
    zero = rng.random(X.shape) < (0.4 if takes_zero(case) else 0.0)
    X = with_holes(np.where(zero, 0.0, X), 4)
    X = some_there(X)
    y = y[: len(X)]
    dense = case.make().fit(X, y)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        thin = case.make().fit(kind(X), y)
        assert_same(thin, dense, rtol=1e-9)
        for method in ("predict_proba", "score_samples", "predict_joint_log_proba"):
            expected = getattr(dense, method)(X)
            np.testing.assert_allclose(getattr(dense, method)(kind(X)), expected, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(getattr(thin, method)(kind(X)), expected, rtol=1e-7, atol=1e-9)
        thin.forget(kind(X[:5]), y[:5]).partial_fit(kind(X[:5]), y[:5])
        assert_same(thin, dense, rtol=1e-9)


# --- fit: the maximum of the observed-data likelihood


def mean_gradient(X, y, means, covariances):
    """d/dμ and d/dΣ of the observed-data log-likelihood, per row: ½(P r rᵀ P − P) on the columns that are there."""
    K, p = means.shape
    by_mean, by_cov = np.zeros((K, p)), np.zeros((K, p, p))
    for x, c in zip(X, y, strict=True):
        o = np.flatnonzero(x == x)
        if len(o):
            P = np.linalg.inv(covariances[c][np.ix_(o, o)])
            u = P @ (x[o] - means[c, o])
            by_mean[c, o] += u
            by_cov[c][np.ix_(o, o)] += 0.5 * (np.outer(u, u) - P)
    return by_mean / len(X), by_cov / len(X)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("tie", [0.0, 1.0])
def test_C4_the_gradient_of_the_observed_data_likelihood_is_zero(tie, share):
    X, y = normal_rows(7, n=400, share=share)
    for model in (GDA(tie=tie), LDA() if tie else QDA()):
        _, means, covariances = fitted_parameters(model.fit(X, y))
        by_mean, by_cov = mean_gradient(X, y, means, covariances)
        if tie:
            by_cov = by_cov.sum(axis=0)
        assert np.abs(by_mean).max() < 1e-9
        assert np.abs(by_cov).max() < 1e-9


def test_the_gradient_used_here_is_that_of_scipy_densities():
    X, y = normal_rows(8, n=30)
    means, covariances = np.zeros((3, 3)), np.stack([np.eye(3) + 0.2 * c for c in range(3)])
    by_mean, by_cov = mean_gradient(X, y, means, covariances)
    h = 1e-5
    for c, i, j in itertools.product(range(3), repeat=3):
        up, down = (covariances.copy() for _ in range(2))
        for moved, step in ((up, h), (down, -h)):
            moved[c, i, j] += step / 2
            moved[c, j, i] += step / 2
        slope = observed_log_likelihood(X, y, means, up) - observed_log_likelihood(X, y, means, down)
        np.testing.assert_allclose(slope / (2 * h * len(X)), by_cov[c, i, j], atol=1e-8)
        up, down = means.copy(), means.copy()
        up[c, i] += h
        down[c, i] -= h
        slope = observed_log_likelihood(X, y, up, covariances) - observed_log_likelihood(X, y, down, covariances)
        np.testing.assert_allclose(slope / (2 * h * len(X)), by_mean[c, i], atol=1e-8)


@pytest.mark.parametrize("p", [2, 3])
@pytest.mark.parametrize("tie", [0.0, 1.0])
def test_C4_fit_equals_direct_numerical_maximisation(tie, p):
    X, y = normal_rows(9, n=60, k=2, p=p)
    shared = 1 if tie else 2
    lower = np.tril_indices(p)

    def unpacked(v):
        means, L = v[: 2 * p].reshape(2, p), np.zeros((shared, p, p))
        L[:, lower[0], lower[1]] = v[2 * p :].reshape(shared, -1)
        return means, np.broadcast_to(L @ L.transpose(0, 2, 1) + 1e-12 * np.eye(p), (2, p, p))

    def loss(v):
        means, covariances = unpacked(v)
        by_mean, by_cov = mean_gradient(X, y, means, covariances)
        L = np.zeros((shared, p, p))
        L[:, lower[0], lower[1]] = v[2 * p :].reshape(shared, -1)
        by_cov = by_cov.sum(axis=0, keepdims=True) if tie else by_cov
        by_L = 2 * by_cov @ L
        slope = np.concatenate([by_mean.reshape(-1), by_L[:, lower[0], lower[1]].reshape(-1)])
        return -observed_log_likelihood(X, y, means, covariances) / len(X), -slope

    start = np.concatenate([np.zeros(2 * p), np.tile(np.eye(p)[lower], shared)])
    best = optimize.minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    means, covariances = unpacked(best.x)
    _, mine, own = fitted_parameters(GDA(tie=tie).fit(X, y))
    np.testing.assert_allclose(mine, means, atol=1e-6)
    np.testing.assert_allclose(own, covariances, atol=1e-6)
    assert observed_log_likelihood(X, y, mine, own) >= observed_log_likelihood(X, y, means, covariances) - 1e-9


def completion(model):
    """EM on the sums of a fitted model, once more."""
    return Completion(model._model.stats, model._model.family._em_parameters).run()


@pytest.mark.parametrize("share", [0.1, 0.4, 0.6])
@pytest.mark.parametrize("tie", [0.0, 1.0])
def test_C4_the_likelihood_rises_along_the_way_and_is_that_of_scipy(tie, share):
    X, y = normal_rows(10, n=600, share=share, offset=100.0)
    model = GDA(tie=tie).fit(X, y)
    done = completion(model)
    path = np.array(done.likelihoods)
    assert done.converged
    assert (np.diff(path) >= -1e-13 * np.abs(path[-1])).all()
    _, means, covariances = fitted_parameters(model)
    np.testing.assert_allclose(path[-1], observed_log_likelihood(X, y, means, covariances), rtol=1e-12)
    np.testing.assert_allclose(model.log_likelihood(X, y), path[-1] + len(y) * np.log(1 / 3), rtol=1e-12)


def test_C4_monotone_holes_have_a_closed_form():
    """The second column missing in some rows: its regression on the first, from the rows with both (Anderson 1957)."""
    X, y = normal_rows(11, n=200, k=2, share=0.0)
    X = X[:, :2].copy()
    X[np.random.default_rng(0).random(200) < 0.4, 1] = NaN
    model = GDA().fit(X, y)
    for c in range(2):
        a, both = X[y == c, 0], X[y == c][~np.isnan(X[y == c, 1])]
        m = both.mean(axis=0)
        z = both - m
        slope = (z[:, 0] @ z[:, 1]) / (z[:, 0] @ z[:, 0])
        left = ((z[:, 1] - slope * z[:, 0]) ** 2).mean()
        variance = a.var()
        np.testing.assert_allclose(model.means_[c], [a.mean(), m[1] + slope * (a.mean() - m[0])], rtol=1e-9)
        expected = [[variance, slope * variance], [slope * variance, left + slope**2 * variance]]
        np.testing.assert_allclose(model.covariance_[c], expected, rtol=1e-9)


def test_C4_monotone_holes_with_a_shared_covariance_have_a_closed_form():
    X, y = normal_rows(12, n=200, k=2, share=0.0)
    X = X[:, :2].copy()
    X[np.random.default_rng(1).random(200) < 0.4, 1] = NaN
    both = ~np.isnan(X[:, 1])
    first = np.array([X[y == c, 0].mean() for c in range(2)])
    m = np.array([X[both & (y == c)].mean(axis=0) for c in range(2)])
    z = X[both] - m[y[both]]
    slope = (z[:, 0] @ z[:, 1]) / (z[:, 0] @ z[:, 0])
    left = ((z[:, 1] - slope * z[:, 0]) ** 2).mean()
    variance = ((X[:, 0] - first[y]) ** 2).mean()
    expected = [[variance, slope * variance], [slope * variance, left + slope**2 * variance]]
    for model in (GDA(tie=1.0).fit(X, y), LDA(store_covariance=True).fit(X, y)):
        np.testing.assert_allclose(
            model.means_, np.column_stack([first, m[:, 1] + slope * (first - m[:, 0])]), rtol=1e-9
        )
        np.testing.assert_allclose(model.covariance_, expected, rtol=1e-9)


def test_C4_columns_independent_given_the_class_use_every_value_there_is():
    X, y = normal_rows(13)
    model = GDA("diagonal").fit(X, y)
    for c in range(3):
        np.testing.assert_allclose(model.means_[c], np.nanmean(X[y == c], axis=0), rtol=1e-12)
        np.testing.assert_allclose(np.diagonal(model.covariance_[c]), np.nanvar(X[y == c], axis=0), rtol=1e-12)
    shared = GDA("diagonal", tie=1.0).fit(X, y)
    centred = X - shared.means_[y]
    np.testing.assert_allclose(np.diagonal(shared.covariance_), np.nanmean(centred**2, axis=0), rtol=1e-12)
    ball = GDA("spherical", tie=1.0).fit(X, y)
    np.testing.assert_allclose(ball.covariance_, np.nanmean(centred**2) * np.eye(3), rtol=1e-12)


def test_C4_word_counts_rest_on_the_documents_that_have_them():
    X = np.array([[2.0, NaN], [4.0, 1.0], [NaN, 3.0], [1.0, 5.0]])
    model = MultinomialNB(alpha=0.5).fit(X, [0, 0, 1, 1])
    counts = np.array([[6.0, 2 * 1.0], [2 * 1.0, 8.0]]) + 0.5
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), counts / counts.sum(axis=1, keepdims=True), rtol=1e-14)


# --- the laws of sums, with missing values


def tolerance(model):
    """Where a solve takes steps, their end is known to 1e-11 of a standard deviation each."""
    return 1e-9 if "pattern" in model._model.stats.axes else 1e-11


@every_case
@pytest.mark.parametrize("seed", [0, 1])
def test_C4_laws_of_sums_hold_with_holes(case, seed):
    X, y = data(case, seed)
    X = with_holes(X, seed)
    X[:2] = NaN  # rows of which nothing is there
    rng = np.random.default_rng(seed)
    whole = case.make().fit(X, y)
    rtol = tolerance(whole)

    order = rng.permutation(len(y))
    assert_same(case.make().fit(X[order], y[order]), whole, rtol)

    shards = [case.make().partial_fit(X[part], y[part]) for part in np.array_split(order, 7)]
    assert_same(shards[3].merge(*shards[:3], *shards[4:]), whole, rtol)
    assert_same(sum(shards), whole, rtol)

    single = case.make()
    for i in order:
        single.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same(single, whole, rtol)

    weight = rng.integers(0, 4, len(y))
    weighted = case.make().fit(X, y, sample_weight=weight)
    assert_same(weighted, case.make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)), rtol)

    more = rng.choice(len(y), 30, replace=False)
    back = case.make().fit(X, y).partial_fit(X[more], y[more]).forget(X[more], y[more])
    assert_same(back, whole, rtol)
    gone = y == "bee"
    less = case.make().fit(X, y).forget(X[gone], y[gone])
    assert_same(less, case.make().fit(X[~gone], y[~gone]), rtol)
    assert less._model.stats.axes.keys() == whole._model.stats.axes.keys()

    other = {"ant": "z", "bee": "y", "cat": "x"}
    named = case.make().fit(X, np.array([other[v] for v in y]))
    rows = some_there(X)
    np.testing.assert_allclose(named.predict_proba(rows)[:, ::-1], whole.predict_proba(rows), rtol=1e-7, atol=1e-10)

    columns = rng.permutation(X.shape[1])
    turned = case.make().fit(X[:, columns], y)
    np.testing.assert_allclose(
        turned.predict_joint_log_proba(rows[:, columns]), whole.predict_joint_log_proba(rows), rtol=1e-8, atol=1e-8
    )

    copy = pickle.loads(pickle.dumps(whole))
    assert_identical(copy, whole)
    np.testing.assert_array_equal(copy.predict_log_proba(rows), whole.predict_log_proba(rows))


@over(FULL)
def test_C4_rows_without_holes_are_solved_as_ever(make):
    X, y = normal_rows(14, share=0.0)
    model = make().fit(X, y)
    sums = model._model.stats
    assert not len(sums.axes["pattern"])
    assert model._model.family.completed(sums, model._model.columns) is sums  # no step of EM, no bit changed
    gap = X[:40].copy()
    gap[:, 1] = NaN
    more = make().fit(np.concatenate([X, gap]), np.concatenate([y, y[:40]]))
    for name in ("n", "x", "xx"):  # rows with missing values are added up apart
        np.testing.assert_array_equal(more._model.stats[name], sums[name])
    more.forget(gap, y[:40])
    assert_identical(more, model)
    np.testing.assert_array_equal(more.predict_log_proba(X), model.predict_log_proba(X))


@over(FULL)
def test_C4_forgetting_the_rows_with_holes_leaves_no_trace(make):
    X, y = normal_rows(15)
    gap = np.isnan(X).any(axis=1)
    model = make().fit(X, y).forget(X[gap], y[gap])
    assert not len(model._model.stats.axes["pattern"])
    assert_same(model, make().fit(X[~gap], y[~gap]), rtol=1e-11)


def test_C4_ledoit_wolf_is_back_once_no_row_has_holes():
    X, y = normal_rows(16)
    gap = np.isnan(X).any(axis=1)
    model = GDA(shrinkage="ledoit-wolf").fit(X, y).forget(X[gap], y[gap])
    assert_same(model, GDA(shrinkage="ledoit-wolf").fit(X[~gap], y[~gap]), rtol=1e-11)


@pytest.mark.parametrize("tie", [0.0, 1.0])
def test_C4_rows_of_which_nothing_is_there_change_no_parameter(tie):
    X, y = normal_rows(17)
    blank = np.full((2400, 3), NaN)
    more = GDA(tie=tie).fit(np.concatenate([X, blank]), np.concatenate([y, np.arange(2400) % 3]))
    plain = GDA(tie=tie).fit(X, y)
    np.testing.assert_allclose(more.means_, plain.means_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(more.covariance_, plain.covariance_, rtol=1e-9, atol=1e-9)


@over({k: GAUSSIAN[k] for k in ("QDA", "LDA", "GDA-half", "GDA-ledoit-wolf", "GaussianNB")})
def test_C4_the_number_of_threads_changes_no_bit_with_holes(make):
    X, y = normal_rows(18, n=3000, p=12, share=0.3)  # patterns for several blocks of EM
    results = []
    for threads in (1, 2, 5):
        suffit.set_threads(threads)
        try:
            model = make().fit(X, y)
            results.append((model, model.predict_log_proba(X)))
        finally:
            suffit.set_threads(None)
    for model, posterior in results[1:]:
        assert_identical(model, results[0][0])
        np.testing.assert_array_equal(posterior, results[0][1])


@over(GAUSSIAN)
def test_C4_batches_that_wait_and_rows_with_holes_between_them(make):
    X, y = normal_rows(19)
    model = make().fit(X[:120], y[:120])
    for i in range(120, 240):  # those without missing values wait, those with missing values do not
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if i == 200:
            model = pickle.loads(pickle.dumps(model))
    assert_same(model, make().fit(X, y), rtol=1e-9)


# --- little to go by: warned, finite, and as near as can be to what is known


def answers(model, rows):
    """Every answer of the model for these rows, checked to be finite."""
    p = model.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    for method in ("predict_log_proba", "predict_joint_log_proba", "score_samples"):
        assert np.isfinite(getattr(model, method)(rows)).all()
    if isinstance(model, LDA) and model.solver != "lsqr":
        assert np.isfinite(model.transform(rows)).all()
    if hasattr(model, "decision_function"):
        assert np.isfinite(model.decision_function(rows)).all()
    return p


@over({k: v for k, v in GAUSSIAN.items() if k not in ("LDA-eigen-auto", "GDA-unbiased")})
def test_C4_a_class_without_any_value_in_a_column_is_named(make):
    X, y = normal_rows(20)
    X[y == 1, 2] = NaN
    with pytest.warns(MissingValuesWarning, match="column 'x2' is missing in every row of class 1"):
        model = make().fit(X, y)
    answers(model, np.concatenate([X, normal_rows(20, share=0.0)[0]]))
    others = np.nanmean(X[y != 1, 2])
    means = model._solved.scorer.means
    assert min(means[0, 2], means[2, 2]) < means[1, 2] < max(means[0, 2], means[2, 2])
    np.testing.assert_allclose(means[1, 2], others, atol=0.2)


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_C4_unbiased_covariances_where_a_class_has_no_value_in_a_column():
    X, y = normal_rows(20)
    X[y == 1, 2] = NaN
    model = GDA(denominator="unbiased").fit(X, y)
    assert np.abs(model.means_).max() < 10
    assert np.abs(model.covariance_).max() < 100


def test_C4_unbiased_covariances_with_holes_divide_by_the_values_there_are():
    X, y = normal_rows(20)
    X = X[:, :1]
    model = GDA(denominator="unbiased").fit(X, y)
    expected = [np.nanvar(X[y == c, 0], ddof=1) for c in range(3)]
    np.testing.assert_allclose(model.covariance_[:, 0, 0], expected, rtol=1e-9)


FAMILIES_THAT_POOL = ["poisson", "exponential", "geometric", "gamma", "beta", "vonmises", "lognormal", "bernoulli"]


@pytest.mark.parametrize("family", FAMILIES_THAT_POOL)
def test_C4_a_class_without_any_value_in_a_column_is_named_by_every_family(family):
    X, y = data(CASES[f"family-{family}"], 2)
    X[y == "bee", 1] = NaN
    with pytest.warns(MissingValuesWarning, match="column 'x1' is missing in every row of class 'bee'"):
        p = NaiveBayes(family).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()


def test_C4_a_class_without_any_value_of_a_feature_is_as_the_warning_says():
    X, y = data(CASES["BernoulliNB"], 2)
    X = (X > 0).astype(float)
    X[:, 1] = 1.0
    X[y == "bee", 1] = NaN
    model = BernoulliNB().fit(X, y)
    with pytest.warns(MissingValuesWarning, match="the prior stands in there"):
        model.predict(X)
    assert np.exp(model.feature_log_prob_)[1, 1] == 0.5


def test_C4_a_class_without_any_count_of_a_word_is_named():
    X, y = data(CASES["MultinomialNB"], 2)
    X[y == "bee", 1] = NaN
    with pytest.warns(MissingValuesWarning, match="column 'x1' is missing in every row of class 'bee'"):
        MultinomialNB().fit(X, y).predict(X)


def test_C4_a_class_without_any_level_in_a_column_is_named():
    X, y = data(CASES["CategoricalNB"], 2)
    X = X.astype(float)
    X[y == "bee", 1] = NaN
    with pytest.warns(MissingValuesWarning, match="column 'x1' is missing in every row of class 'bee'"):
        CategoricalNB().fit(X, y).predict(X)


@over_cases(lambda name: not CASES[name].coupled and not of_levels(name))
def test_C4_a_column_without_any_value_is_left_out(case):
    X, y = data(case, 5)
    X[:, 1] = NaN
    kept = [j for j in range(X.shape[1]) if j != 1]
    for rows in (X, with_holes(X, 5)):
        model, without = case.make().fit(rows, y), case.make().fit(rows[:, kept], y)
        asked = rows[(rows[:, kept] == rows[:, kept]).sum(axis=1) >= min(2, len(kept))]
        np.testing.assert_allclose(
            model.predict_joint_log_proba(asked), without.predict_joint_log_proba(asked[:, kept]), rtol=1e-8, atol=1e-8
        )
        asked = asked.copy()
        asked[:, 1] = 1.0 if isinstance(model, MultinomialNB) else asked[:, 0]
        assert np.isfinite(model.predict_proba(asked)).all()


@pytest.mark.parametrize("name", ["CategoricalNB", "CategoricalNB-words"])
def test_C4_a_column_without_any_level_is_left_out(name):
    X, y = data(CASES[name], 5)
    X = X.astype(object)
    X[:, 1] = None
    model = CategoricalNB().fit(X, y)
    kept = [j for j in range(X.shape[1]) if j != 1]
    np.testing.assert_allclose(
        model.predict_proba(X), CategoricalNB().fit(X[:, kept], y).predict_proba(X[:, kept]), rtol=1e-12
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_C5_a_column_without_any_level_can_be_sampled():
    X, y = data(CASES["CategoricalNB"], 5)
    X = X.astype(float)
    X[:, 1] = NaN
    rows, _ = CategoricalNB().fit(X, y).sample(3, random_state=0)
    assert len(rows) == 3


@over({k: v for k, v in GAUSSIAN.items() if k != "LDA-eigen-auto"})
def test_C4_all_rows_incomplete(make):
    X, y = normal_rows(21, n=900, share=0.1)
    X[np.arange(900), np.random.default_rng(21).integers(0, 3, 900)] = NaN
    model = make().fit(X, y)
    answers(model, X)
    whole, _ = normal_rows(21, n=900, share=0.0)
    assert np.mean(model.predict(whole) == make().fit(whole, y).predict(whole)) > 0.85


@over(FULL)
def test_C4_a_class_of_one_row_with_holes(make):
    X, y = normal_rows(22)
    X, y = np.concatenate([X, [[NaN, 5.0, NaN]]]), np.concatenate([y, [7]])
    with pytest.warns(MissingValuesWarning, match=r"'x0' is missing in every row of class 7; column 'x2'"):
        model = make().fit(X, y)
    answers(model, X)
    assert model.means_[3, 1] == 5.0
    X[-1] = NaN
    answers(make().fit(X, y), X)


@over({k: v for k, v in GAUSSIAN.items() if k not in ("LDA", "LDA-eigen-auto", "LDA-lsqr-priors")})
@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 + 0.1])
def test_C4_constant_columns_with_holes_say_nothing(make, value):
    X, y = normal_rows(23)
    X[:, 1] = np.where(np.isnan(X[:, 1]), NaN, value)
    model = make().fit(X, y)
    answers(model, X)
    if (
        getattr(model, "shrinkage", None) is None
        and "spherical" not in str(model)
        and not getattr(model, "reg_param", 0)
    ):
        without = make().fit(X[:, [0, 2]], y)
        np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X[:, [0, 2]]), atol=1e-9)
        np.testing.assert_allclose(model.score_samples(X), without.score_samples(X[:, [0, 2]]), atol=1e-9)


@pytest.mark.parametrize("make", [FULL["LDA"], FULL["GDA-shared"]])
def test_C4_collinear_columns_with_holes_are_completed_exactly(make):
    whole, y = normal_rows(24, share=0.0)
    X = np.column_stack([whole[:, 0], 2 * whole[:, 0] + 1, whole[:, 2]])
    X[np.arange(240), np.arange(240) // 3 % 3] = NaN
    model = make().fit(X, y)
    covariance = np.asarray(model._solved.scorer.covariances())
    np.testing.assert_allclose(covariance[:, 1], 2 * covariance[:, 0], rtol=1e-4)
    answers(model, X)


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
@pytest.mark.parametrize("make", [QDA, FULL["GDA-half"]])
def test_C4_collinear_columns_with_holes_and_a_covariance_for_each_class(make):
    whole, y = normal_rows(24, share=0.0)
    X = np.column_stack([whole[:, 0], 2 * whole[:, 0] + 1, whole[:, 2]])
    X[np.arange(240), np.arange(240) // 3 % 3] = NaN
    model = make().fit(X, y)
    answers(model, X)
    assert np.abs(model.means_ - GaussianNB().fit(X, y).theta_).max() < 2.0


def few_rows(seed, n, p, share):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[rng.random(X.shape) < share] = NaN
    return X, np.arange(n) % 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: GDA(shrinkage=0.3),
        lambda: GDA(tie=1.0, shrinkage=0.3),
        lambda: GDA(shrinkage="oas"),
        lambda: GDA(shrinkage="ledoit-wolf"),
        lambda: LDA("eigen", 0.5),
        lambda: LDA("lsqr", "auto"),
        lambda: QDA(reg_param=0.2),
    ],
)
@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_fewer_rows_than_columns_with_holes_and_shrinkage(make):
    X, y = few_rows(1, 12, 20, 0.2)
    model = make().fit(X, y)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert np.isfinite(model.score_samples(X)).all()
    assert np.abs(model.means_).max() < 2 * np.nanmax(np.abs(X))


@pytest.mark.parametrize(
    ("make", "seed", "n", "p", "share"),
    [(LDA, 8, 4, 3, 0.2), (LDA, 1, 60, 20, 0.3), (LDA, 1, 12, 20, 0.2), (QDA, 20, 6, 5, 0.2)],
)
@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_few_rows_with_holes_leave_the_means_among_the_values(make, seed, n, p, share):
    X, y = few_rows(seed, n, p, share)
    model = make().fit(X, y)
    assert np.abs(model.means_).max() < 20 * np.nanmax(np.abs(X))  # one value or two of a class say little of its mean
    assert np.isfinite(model.predict_proba(X)).all()


# --- numbers of any size


@over({k: GAUSSIAN[k] for k in (*FULL, "diagonal", "diagonal-shared", "GaussianNB")})
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_C4_units_change_no_posterior_with_holes(make, scale):
    X, y = normal_rows(25)
    plain = make().fit(X, y).predict_proba(X)
    for units in ([scale, 1.0, 1.0], [scale, scale, scale]):
        if isinstance(make(), GaussianNB) and units[1] == 1.0:
            continue  # its floor is shared by columns within a fair range
        Z = X * units
        np.testing.assert_allclose(make().fit(Z, y).predict_proba(Z), plain, atol=1e-9)


@over({k: GAUSSIAN[k] for k in (*FULL, "diagonal", "diagonal-shared")})
def test_C4_an_offset_changes_nothing_with_holes(make):
    X, y = normal_rows(26)
    X = np.round(X * 2**20) / 2**20  # so that adding the offset rounds nothing
    plain, far = make().fit(X, y), make().fit(X + 2**26, y)
    np.testing.assert_allclose(far.means_ - 2**26, plain.means_, atol=1e-7)
    np.testing.assert_allclose(far._solved.scorer.sigma, plain._solved.scorer.sigma, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(far.predict_proba(X + 2**26), plain.predict_proba(X), atol=1e-6)


@over({k: GAUSSIAN[k] for k in ("diagonal", "GaussianNB")})
def test_C4_an_offset_changes_nothing_in_batches_of_one(make):
    X, y = normal_rows(27, offset=1e8)
    X[:3, 1] = NaN
    model = make()
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same(model, make().fit(X, y), rtol=1e-9)


@over(FULL)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_an_offset_changes_nothing_in_batches_of_one_with_joint_columns(make):
    X, y = normal_rows(27, offset=1e8)
    X[:3, 1] = NaN  # the first row of every class
    model = make()
    for i in range(len(y)):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    whole = make().fit(X, y)
    np.testing.assert_allclose(model._solved.scorer.sigma, whole._solved.scorer.sigma, rtol=1e-6)


@pytest.mark.parametrize("size", [1e-4, 1e-7, 1e-9])
def test_C4_classes_may_differ_in_scale(size):
    X, y = normal_rows(28)
    small = np.where((y == 1)[:, None], X * size, X)
    own = GDA().fit(small, y).covariance_[1] / size**2
    np.testing.assert_allclose(own, GDA().fit(X, y).covariance_[1], rtol=1e-5)


@over(GAUSSIAN)
def test_C4_float32_columns_with_holes(make):
    X, y = normal_rows(29)
    X = X.astype(np.float32)
    narrow, wide = make().fit(X, y), make().fit(X.astype(float), y)
    np.testing.assert_allclose(narrow.predict_proba(X), wide.predict_proba(X.astype(float)), atol=1e-9)
    np.testing.assert_allclose(narrow.score_samples(X), wide.score_samples(X.astype(float)), rtol=1e-9)


@pytest.mark.parametrize("make", [QDA, LDA, lambda: GDA(tie=0.5)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_values_whose_squares_overflow_are_refused_in_rows_with_holes(make):
    X, y = normal_rows(30)
    X[:, 0] *= 1e160
    X[:, 2] = NaN
    with pytest.raises(InputError, match=r"column 'x0': values so large that their \w+ overflow"):
        make().fit(X, y)


@pytest.mark.parametrize("make", [GaussianNB, lambda: GDA("diagonal"), lambda: GDA("spherical", tie=1.0)])
def test_C4_values_whose_squares_overflow_are_refused_by_independent_columns(make):
    X, y = normal_rows(30)
    X[:, 0] *= 1e160
    X[:, 2] = NaN
    with pytest.raises(InputError, match=r"column 'x0': values so large that their \w+ overflow"):
        make().fit(X, y)


@over_cases(lambda name: not of_levels(name))
def test_C4_infinities_beside_holes_are_refused_by_column_and_row(case):
    X, y = data(case, 6)
    X = with_holes(X, 6)
    model = case.make().fit(X, y)
    bad = X.copy()
    bad[17] = NaN
    bad[17, 1] = np.inf
    for call in (
        lambda: case.make().fit(bad, y),
        lambda: model.partial_fit(bad, y),
        lambda: model.forget(bad, y),
        lambda: model.predict_proba(bad),
        lambda: model.predict(bad),
        lambda: model.score_samples(bad),
    ):
        with pytest.raises(InputError, match=r"column 'x1'.*inf.*row 17"):
            call()
    with pytest.raises(InputError, match=r"column 'x1'.*inf.*row 0"):
        model.predict_proba(bad[17:18])


CONSTANT = {k: GAUSSIAN[k] for k in ("QDA", "LDA", "GDA-half", "diagonal", "diagonal-shared", "GaussianNB")}


@over(CONSTANT)
def test_C4_infinities_in_constant_columns_beside_holes_are_refused(make):
    X, y = normal_rows(31, share=0.0)
    X[:, 1] = 5.0
    model = make().fit(X, y)
    with pytest.raises(InputError, match=r"column 'x1'.*inf.*row 0"):
        model.predict_proba([[NaN, np.inf, 1.0]])


@pytest.mark.parametrize("make", [lambda: LDA("eigen"), lambda: QDA(solver="eigen")])
def test_C4_a_covariance_estimator_gets_no_holes_but_its_model_takes_them(make):
    X, y = normal_rows(32)
    est = make().set_params(covariance_estimator=EmpiricalCovariance())
    row, column = np.argwhere(np.isnan(X))[0]
    with pytest.raises(InputError, match=rf"missing value \(NaN\): column 'x{column}', found nan in row {row};"):
        est.fit(X, y)
    whole = normal_rows(32, share=0.0)[0]
    np.testing.assert_allclose(est.fit(whole, y).predict_proba(X), make().fit(whole, y).predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_C4_weights_matter_only_beside_each_other(scale):
    X, y = normal_rows(33)
    weight = np.random.default_rng(33).uniform(0.5, 2.0, len(y))
    a, b = GDA().fit(X, y, sample_weight=weight), GDA().fit(X, y, sample_weight=scale * weight)
    np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=1e-8, atol=1e-8)


def test_C4_small_weights_matter_only_beside_each_other():
    X, y = normal_rows(33)
    a, b = GDA().fit(X, y), GDA().fit(X, y, sample_weight=np.full(len(y), 1e-10))
    np.testing.assert_allclose(a.covariance_, b.covariance_, rtol=1e-6)


# --- forgetting what was never learned


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


@over(FULL)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_values_beside_holes_that_were_never_learned_cannot_be_forgotten(make):
    X, y = normal_rows(34, share=0.0)
    X[:60, 1] = NaN
    model = make().fit(X, y)
    with pytest.raises(InputError, match="cannot have learned"):
        model.forget([[1e6, NaN, 0.0]], [0])


def test_C4_a_complete_row_cannot_be_forgotten_where_none_was_learned():
    X = np.array([[-1, NaN], [NaN, -1], [1, NaN], [NaN, 1], [-1, NaN], [NaN, -1], [1, NaN], [NaN, 1]], dtype=float)
    model = GDA().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    with pytest.raises(InputError, match="cannot have learned"):
        model.forget([[0.0, 0.0]], [0])  # where the sums of z are taken about


def test_C4_a_missing_count_cannot_be_forgotten_where_none_was_learned():
    X, y = data(CASES["MultinomialNB"], 0)
    model = MultinomialNB().fit(X, y)
    with pytest.raises(InputError, match="cannot have learned"):
        model.forget([[0.0, NaN, 0.0, 0.0]], ["bee"])


@pytest.mark.parametrize("make", [GaussianNB, PoissonNB, BernoulliNB, lambda: NaiveBayes("exponential")])
def test_C4_values_cannot_be_forgotten_where_only_holes_were_learned(make):
    X = np.array([[1.0, NaN], [2.0, NaN], [3.0, 1.0], [4.0, 2.0]])
    model = make().fit(X, [0, 0, 1, 1])
    with pytest.raises(InputError, match="cannot have learned"):
        model.forget([[1.0, 1.0]], [0])


# --- too many patterns: by pairs


@pytest.fixture
def little_room(monkeypatch):
    monkeypatch.setattr(patterns, "ROOM", 20)


@pytest.mark.parametrize("tie", [0.0, 0.5, 1.0])
def test_C4_too_many_patterns_are_warned_of_and_answered_by_pairs(monkeypatch, tie):
    X, y = normal_rows(35, n=30_000, offset=1000.0)
    best = GDA(tie=tie).fit(X, y)
    monkeypatch.setattr(patterns, "ROOM", 20)
    with pytest.warns(MissingValuesWarning, match="too many patterns of missing values to keep sums"):
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
    with pytest.warns(MissingValuesWarning, match="complete each at every step of EM"):
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
    names = [f"x{j}" for j in range(8)]
    plain, asked = (
        np.asarray(
            families.MultivariateGaussian(1.0, s, target="diagonal", pooled=True).scorer(stats, names).covariances()
        )
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


# --- linear discriminant analysis: what it shows besides predictions


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_C4_transform_with_holes_is_that_of_the_filled_row(solver):
    X, y = normal_rows(40)
    whole = normal_rows(40, share=0.0)[0]
    model = LDA(solver).fit(whole, y)
    out = model.transform(X)
    assert np.isfinite(out).all()
    _, means, covariances = fitted_parameters(model)
    posterior = model.predict_proba(X)
    np.testing.assert_allclose(out, model.transform(by_regression(X, posterior, means, covariances)), atol=1e-9)
    np.testing.assert_allclose(out[~np.isnan(X).any(axis=1)], model.transform(whole)[~np.isnan(X).any(axis=1)])


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_C4_directions_of_both_solvers_agree_with_holes(share):
    X, y = normal_rows(41, share=share)
    svd, eigen = LDA("svd").fit(X, y), LDA("eigen").fit(X, y)
    np.testing.assert_allclose(eigen.explained_variance_ratio_, svd.explained_variance_ratio_, atol=1e-6)
    assert eigen.explained_variance_ratio_.sum() <= 1 + 1e-9


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_C4_directions_where_no_row_is_complete():
    X, y = normal_rows(41)
    X[np.arange(240), np.arange(240) // 3 % 3] = NaN
    assert np.isfinite(LDA("eigen").fit(X, y).transform(X)).all()


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_directions_by_pairs(little_room):
    X, y = normal_rows(41)
    assert np.isfinite(LDA("eigen").fit(X, y).transform(X)).all()


def test_C4_the_stored_covariance_with_priors_is_that_of_all_rows():
    X, y = normal_rows(42)
    priors = np.array([0.5, 0.3, 0.2])
    model = LDA(store_covariance=True, priors=priors).fit(X, y)
    _, means, covariances = fitted_parameters(model)
    expected = np.zeros((3, 3))
    for x, c in zip(X, y, strict=True):  # E[(x − μ)(x − μ)ᵀ | what is there]
        o, S = x == x, covariances[c]
        z = by_regression(x[None], np.eye(3)[[c]], means, covariances)[0] - means[c]
        left = np.zeros((3, 3))
        B = S[np.ix_(~o, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        left[np.ix_(~o, ~o)] = S[np.ix_(~o, ~o)] - B @ S[np.ix_(o, ~o)]
        expected += priors[c] * (np.outer(z, z) + left) / (y == c).sum()
    np.testing.assert_allclose(model.covariance_, expected, atol=1e-6)


def test_C4_nearly_collinear_columns_count_alike_in_rows_with_holes():
    X, y = normal_rows(43, share=0.0)
    X[:, 1] = X[:, 0] + 1e-5 * (X[:, 1] + y)
    hidden = X.copy()
    hidden[:, 2] = NaN
    whole, without = LDA().fit(X, y), LDA().fit(X[:, :2], y)
    np.testing.assert_allclose(whole.predict_proba(hidden), without.predict_proba(X[:, :2]), atol=1e-4)


# --- the missing part of a row, given the rest


def by_regression(X, posterior, means, covariances):
    """Σ_c p(c | x_o) (μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o)), row by row."""
    out = X.copy()
    for i, x in enumerate(X):
        o = x == x
        parts = [
            m[~o] + S[np.ix_(~o, o)] @ np.linalg.solve(S[np.ix_(o, o)], x[o] - m[o]) if o.any() else m
            for m, S in zip(means, covariances, strict=True)
        ]
        out[i, ~o] = posterior[i] @ np.array(parts)
    return out


@over(GAUSSIAN)
def test_C5_filled_rows_are_the_regression_on_the_columns_that_are_there(make):
    X, y = normal_rows(44)
    X[0] = NaN
    model = make().fit(X, y)
    posterior = model.predict_proba(X)
    _, means, covariances = fitted_parameters(model)
    filled = model._solved.scorer.filled(X, posterior)
    there = ~np.isnan(X)
    np.testing.assert_array_equal(filled[there], X[there])
    np.testing.assert_allclose(filled, by_regression(X, posterior, means, covariances), rtol=1e-9, atol=1e-9)


@over({k: GAUSSIAN[k] for k in (*FULL, "diagonal", "diagonal-shared", "spherical", "GaussianNB")})
@pytest.mark.parametrize("there", [[0], [2], [0, 1], []])
def test_C5_drawn_rows_have_the_conditional_mean_and_covariance(make, there):
    X, y = normal_rows(45)
    model = make().fit(X, y)
    _, means, covariances = fitted_parameters(model)
    n, row = 60_000, np.full(3, NaN)
    row[there] = np.array([1.5, -1.0, 0.5])[there]
    codes = np.tile(np.array([0, 1, 2], np.int32), n // 3)
    drawn = model._solved.scorer.drawn(np.tile(row, (n, 1)), codes, np.random.default_rng(0))
    o, m = np.array(there, int), np.setdiff1d(np.arange(3), there)
    for c in range(3):
        S, rows = covariances[c], drawn[codes == c]
        B = S[np.ix_(m, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        mean, cov = means[c][m] + B @ (row[o] - means[c][o]), S[np.ix_(m, m)] - B @ S[np.ix_(o, m)]
        error = np.sqrt(np.diagonal(cov) / len(rows))
        assert (np.abs(rows[:, m].mean(axis=0) - mean) < 5 * error).all()
        spread = np.sqrt(np.outer(np.diagonal(cov), np.diagonal(cov)))
        assert (np.abs(np.cov(rows[:, m].T).reshape(cov.shape) - cov) < 7 * spread / np.sqrt(len(rows))).all()
        np.testing.assert_array_equal(rows[:, o], np.tile(row[o], (len(rows), 1)))


def test_C5_levels_are_filled_with_the_most_probable_one_and_drawn_from_their_table():
    X, y = data(CASES["CategoricalNB-words"], 7)
    model = CategoricalNB(alpha=0.5).fit(X, y)
    rows = X[:50].copy()
    rows[::2, 0] = None
    rows[::3, 1] = NaN
    posterior = model.predict_proba(rows)
    filled = model._solved.scorer.filled(rows, posterior)
    for j, categories in enumerate([["blue", "green", "red"], ["L", "M", "S"]]):
        alone = np.array(
            [
                [
                    np.exp(model.predict_joint_log_proba([[v if i == j else None for i in range(2)]]))[0]
                    for v in categories
                ]
            ]
        )[0]  # p(category, c), categories × classes
        share = posterior @ (alone / alone.sum(axis=0)).T
        for i in range(50):
            missing = rows[i, j] is None or rows[i, j] != rows[i, j]
            assert filled[i, j] == (categories[share[i].argmax()] if missing else rows[i, j])
    n = 30_000
    codes = np.zeros(n, np.int32)
    drawn = model._solved.scorer.drawn(np.full((n, 2), None), codes, np.random.default_rng(0))
    count = np.array([(X[y == "ant", 0] == v).sum() for v in ("blue", "green", "red")]) + 0.5
    share = np.array([(drawn[:, 0] == v).mean() for v in ("blue", "green", "red")])
    np.testing.assert_allclose(share, count / count.sum(), atol=5 * 0.5 / np.sqrt(n))


def test_C5_angles_are_filled_with_the_circular_mean_of_the_mixture():
    case = CASES["family-vonmises"]
    X, y = data(case, 8)
    model = case.make().fit(X, y)
    rows = X[:20].copy()
    rows[:, 1] = NaN
    posterior = model.predict_proba(rows)
    filled = model._solved.scorer.filled(rows, posterior)
    hours = np.linspace(0, 24, 4801)[:-1]
    blank = np.column_stack([np.full(4800, NaN), hours])
    density = np.exp(model.predict_joint_log_proba(blank)) / (model.class_count_ / len(y))  # p(hour | c)
    resultant = posterior @ (density.T @ np.exp(2j * np.pi * hours / 24))
    np.testing.assert_allclose(filled[:, 1], np.angle(resultant) % (2 * np.pi) * 24 / (2 * np.pi), atol=1e-6)


def test_C5_binned_values_are_filled_with_the_mean_of_the_middles():
    X = np.array([[0.5, 1.0], [1.5, NaN], [2.5, 3.0], [0.5, 2.0], [2.5, NaN], [2.5, 1.0]])
    model = NaiveBayes(suffit.Binned([1.0, 2.0], alpha=1.0)).fit(X, [0, 0, 0, 1, 1, 1])
    shares = np.array([[2, 2, 2], [2, 1, 3]]) / 6
    np.testing.assert_allclose(model._solved.scorer.centres[:, 0], shares @ [0.5, 1.5, 2.5], rtol=1e-12)
    filled = model._solved.scorer.filled(np.array([[NaN, 1.0]]), np.array([[0.25, 0.75]]))
    np.testing.assert_allclose(filled, [[[0.25, 0.75] @ shares @ [0.5, 1.5, 2.5], 1.0]], rtol=1e-12)


def test_C5_word_counts_are_filled_with_the_share_of_the_mean_length():
    X, y = data(CASES["MultinomialNB"], 9)
    model = MultinomialNB().fit(X, y)
    row = np.array([[1.0, NaN, 3.0, 0.0]])
    posterior = model.predict_proba(row)
    length = np.array([X[y == c].sum() / (y == c).sum() for c in ("ant", "bee", "cat")])
    expected = posterior @ (np.exp(model.feature_log_prob_[:, 1]) * length)
    np.testing.assert_allclose(model._solved.scorer.filled(row, posterior)[0, 1], expected, rtol=1e-12)


MEANS = {  # natural parameters, and the mean by scipy
    "poisson": (lambda: suffit.Poisson(), [[np.log(3.5)]], lambda: stats.poisson(3.5).mean()),
    "exponential": (lambda: suffit.Exponential(), [[-2.5]], lambda: stats.expon(scale=1 / 2.5).mean()),
    "geometric": (lambda: suffit.Geometric(), [[np.log(0.7)]], lambda: stats.geom(0.3, loc=-1).mean()),
    "gamma": (lambda: suffit.Gamma(), [[-1.5, 2.0]], lambda: stats.gamma(3.0, scale=1 / 1.5).mean()),
    "beta": (lambda: suffit.Beta(), [[1.5, 0.5]], lambda: stats.beta(2.5, 1.5).mean()),
    "bernoulli": (lambda: suffit.Bernoulli(), [[np.log(0.3 / 0.7)]], lambda: stats.bernoulli(0.3).mean()),
    "vonmises": (
        lambda: suffit.VonMises(period=24),
        [[2 * np.cos(1.0), 2 * np.sin(1.0)]],
        lambda: stats.vonmises(2.0, loc=1.0).mean() * 24 / (2 * np.pi),
    ),
}


@pytest.mark.parametrize("key", MEANS)
def test_C5_the_mean_of_every_family_is_that_of_scipy(key):
    family, theta, expected = MEANS[key]
    np.testing.assert_allclose(family().mean(np.array(theta)), [expected()], rtol=1e-12)


@pytest.mark.parametrize("key", [*MEANS, "gaussian", "lognormal", "binned"])
def test_C5_filled_values_are_the_means_of_many_draws(key):
    case = CASES[f"family-{key}"]
    X, y = data(case, 10)
    model = case.make().fit(with_holes(X, 10), y)
    scorer = model._solved.scorer
    n, p = 40_000, X.shape[1]
    draws = scorer.drawn(np.full((n, p), NaN), np.full(n, 1, np.int32), np.random.default_rng(1))
    centre = scorer.filled(np.full((1, p), NaN), np.array([[0.0, 1.0, 0.0]]))[0]
    if key == "vonmises":
        turn = np.exp(2j * np.pi * draws / 24).mean(axis=0)
        apart = np.angle(turn * np.exp(-2j * np.pi * centre / 24)) * 24 / (2 * np.pi)
        assert (np.abs(apart) < 5 * 24 / (2 * np.pi) / np.abs(turn) / np.sqrt(n)).all()
        return
    assert (np.abs(draws.mean(axis=0) - centre) <= 5 * draws.std(axis=0) / np.sqrt(n) + 1e-12).all()


def test_C5_a_family_without_a_formula_for_its_mean_takes_that_of_many_draws():
    family = suffit.Gamma()
    theta = np.array([[-1.5, 2.0], [-4.0, 0.5]])
    by_draws = super(suffit.Gamma, family).mean(theta)
    np.testing.assert_allclose(by_draws, family.mean(theta), rtol=0.15)


@pytest.mark.parametrize("make", [lambda: BernoulliNB(alpha=0), lambda: PoissonNB(alpha=0)])
def test_C5_what_a_class_never_shows_is_neither_filled_in_nor_drawn(make):
    X = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    model = make().fit(X, [0, 0, 1, 1])
    scorer = model._solved.scorer
    assert scorer.filled(np.full((1, 2), NaN), np.array([[1.0, 0.0]]))[0, 0] == 0.0
    assert not model.sample(1000, y=0, random_state=0)[0][:, 0].any()


@pytest.mark.parametrize("family", ["gaussian", "lognormal", "poisson", "exponential", "beta", "vonmises", "bernoulli"])
def test_C5_a_column_without_any_value_is_filled_with_something_finite(family):
    X, y = data(CASES[f"family-{family}"], 11)
    X[:, 1] = NaN
    model = NaiveBayes(family).fit(X, y)
    assert np.isfinite(model._solved.scorer.filled(X, model.predict_proba(X))).all()


@pytest.mark.parametrize("family", ["gamma", "geometric"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_C5_a_column_without_any_value_is_filled_with_something_finite_by_other_families(family):
    X, y = data(CASES[f"family-{family}"], 11)
    X[:, 1] = NaN
    model = NaiveBayes(family).fit(X, y)
    assert np.isfinite(model._solved.scorer.filled(X, model.predict_proba(X))).all()
