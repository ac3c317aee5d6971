"""Outside oracles: scikit-learn, 50-digit arithmetic, R (MASS, e1071) and the NIST certified data sets."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import discriminant_analysis, naive_bayes
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import suffit
from suffit import GDA

ORACLES = Path(__file__).parent
AGREE = {"rtol": 1e-10, "atol": 1e-10}

# ------------------------------------------------------------------ scikit-learn


@cache
def continuous(name):
    if name == "random":
        rng = np.random.default_rng(0)
        X = rng.normal(size=(90, 5)) @ rng.normal(size=(5, 5)) + 100.0
        y = np.repeat([-1, 3, 7, 8], [10, 20, 25, 35])
        return X + 0.8 * (y[:, None] % 4), y
    if name == "two":
        X, y = load_breast_cancer(return_X_y=True)
        return X[:, :6], np.array(["malignant", "benign"])[y]
    return {"iris": load_iris, "wine": load_wine}[name](return_X_y=True)


CONTINUOUS = ["iris", "wine", "two", "random"]


@cache
def discrete(name):
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:600].astype(int), y[:600]
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], [15, 40, 25])
    rates = rng.gamma(1.0, 1.0, (3, 12))
    return rng.poisson(rates[np.unique(y, return_inverse=True)[1]]), y


DISCRETE = ["digits", "words"]


def weights_for(y):
    return np.random.default_rng(2).uniform(0.1, 3.0, len(y))


def uneven(y):
    """A prior other than the shares."""
    k = len(np.unique(y))
    return np.arange(1.0, k + 1) / (k * (k + 1) / 2)


def check_predictions(ours, theirs, X):
    assert_array_equal(ours.classes_, theirs.classes_)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-10)


def check_joint(ours, theirs, X):
    check_predictions(ours, theirs, X)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), **AGREE)
    assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), **AGREE)


def check_attributes(ours, theirs, names):
    for name in names:
        assert_allclose(getattr(ours, name), getattr(theirs, name), err_msg=name, **AGREE)


GAUSSIAN_SETTINGS = [
    {},
    {"var_smoothing": 0.0},
    {"var_smoothing": 0.05},
    {"priors": "uneven"},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", GAUSSIAN_SETTINGS, ids=str)
@pytest.mark.parametrize("data", CONTINUOUS)
def test_sklearn_gaussian_naive_bayes(data, settings, weighted):
    X, y = continuous(data)
    settings = {k: uneven(y) if v == "uneven" else v for k, v in settings.items()}
    # where standard deviations differ by more than 1000, scikit-learn's floor is the one asked for by name
    floor = {"floor": "largest"} if np.ptp(np.log10(X.std(axis=0))) > 3 else {}
    ours, theirs = suffit.GaussianNB(**settings, **floor), naive_bayes.GaussianNB(**settings)
    if weighted:  # as rows repeated: scikit-learn's floor would come from the unweighted variances
        weight = np.random.default_rng(2).integers(1, 4, len(y))
        ours.fit(X, y, sample_weight=weight)
        theirs.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    else:
        ours.fit(X, y)
        theirs.fit(X, y)
    check_joint(ours, theirs, X)
    check_attributes(ours, theirs, ["theta_", "var_", "class_prior_", "class_count_"])
    if floor:
        assert ours.epsilon_ == pytest.approx(theirs.epsilon_, rel=1e-6)


@pytest.mark.parametrize("data", CONTINUOUS)
def test_sklearn_gaussian_naive_bayes_with_fractional_weights(data):
    X, y = continuous(data)
    ours, theirs = (
        lib.GaussianNB(var_smoothing=0.0).fit(X, y, sample_weight=weights_for(y)) for lib in (suffit, naive_bayes)
    )
    check_joint(ours, theirs, X)
    check_attributes(ours, theirs, ["theta_", "var_", "class_prior_", "class_count_"])


LDA_SETTINGS = [
    {"solver": "svd", "store_covariance": True},
    {"solver": "lsqr"},
    {"solver": "eigen"},
    {"solver": "lsqr", "shrinkage": 0.3},
    {"solver": "eigen", "shrinkage": 0.3},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "eigen", "shrinkage": "auto"},
]


def check_lda(ours, theirs, X):
    check_predictions(ours, theirs, X)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-9)
    check_attributes(ours, theirs, ["means_", "priors_"])
    # the rounding of a coefficient grows with those of the whole row: compare the rows
    for name in ("coef_", "intercept_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert_allclose(a, b, rtol=0, atol=1e-10 * max(np.abs(b).max(), 1.0), err_msg=name)


@pytest.mark.parametrize("prior", [None, "uneven"])
@pytest.mark.parametrize("settings", LDA_SETTINGS, ids=str)
@pytest.mark.parametrize("data", CONTINUOUS)
def test_sklearn_linear_discriminant_analysis(data, settings, prior):
    X, y = continuous(data)
    settings = {**settings, "priors": uneven(y) if prior else None}
    ours = suffit.LDA(**settings).fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(**settings).fit(X, y)
    check_lda(ours, theirs, X)
    if settings["solver"] == "svd":
        check_attributes(ours, theirs, ["xbar_"])
    if settings["solver"] != "svd" or prior is None:
        check_attributes(ours, theirs, ["covariance_"])
    if settings["solver"] == "lsqr":
        return
    most = len(np.unique(y)) - 1
    check_attributes(ours, theirs, ["explained_variance_ratio_"])
    assert_allclose(np.abs(ours.scalings_[:, :most]), np.abs(theirs.scalings_[:, :most]), rtol=1e-8, atol=1e-9)
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("data", CONTINUOUS)
def test_sklearn_lda_stored_covariance_under_a_given_prior(data):
    """With "svd" scikit-learn stores Σ_c prior_c·Σ_c, though its predictions weigh classes by their rows."""
    X, y = continuous(data)
    settings = {"store_covariance": True, "priors": uneven(y)}
    ours = suffit.LDA(**settings).fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(**settings).fit(X, y)
    check_attributes(ours, theirs, ["covariance_"])


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_sklearn_lda_components(solver):
    X, y = continuous("random")
    ours = suffit.LDA(solver=solver, n_components=2).fit(X, y)
    theirs = discriminant_analysis.LinearDiscriminantAnalysis(solver=solver, n_components=2).fit(X, y)
    assert ours.transform(X).shape == (90, 2)
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-9, atol=1e-9)
    check_attributes(ours, theirs, ["explained_variance_ratio_"])


QDA_SETTINGS = [
    {},
    {"reg_param": 0.2},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": 0.4},
    {"solver": "eigen", "shrinkage": "auto"},
]


@pytest.mark.parametrize("prior", [None, "uneven"])
@pytest.mark.parametrize("settings", QDA_SETTINGS, ids=str)
@pytest.mark.parametrize("data", ["iris", "wine", "random", "cancer"])
def test_sklearn_quadratic_discriminant_analysis(data, settings, prior):
    X, y = continuous("two") if data == "cancer" else continuous(data)
    X = X[:, :4] if data == "cancer" else X  # radius … area: the other columns are below scikit-learn's tol
    settings = {**settings, "priors": uneven(y) if prior else None, "store_covariance": True}
    ours = suffit.QDA(**settings).fit(X, y)
    theirs = discriminant_analysis.QuadraticDiscriminantAnalysis(**settings).fit(X, y)
    check_predictions(ours, theirs, X)
    a, b = ours.decision_function(X), theirs.decision_function(X)
    if a.ndim == 2:  # up to a constant per row
        a, b = a - a[:, :1], b - b[:, :1]
    assert_allclose(a, b, rtol=1e-10, atol=1e-9)
    check_attributes(ours, theirs, ["means_", "priors_", "covariance_", "scalings_"])
    for mine, other in zip(ours.rotations_, theirs.rotations_, strict=True):
        assert_allclose(np.abs(mine), np.abs(other), rtol=1e-8, atol=1e-9)


PRIOR_SETTINGS = [{}, {"fit_prior": False}, {"class_prior": "uneven"}]
COUNT_SETTINGS = {
    "BernoulliNB": [{"alpha": 0.3}, {"binarize": 2.0}, {"alpha": 0.05, "binarize": 0.5}],
    "MultinomialNB": [{"alpha": 0.3}, {"alpha": 1e-5}],
    "ComplementNB": [{"alpha": 0.3}, {"norm": True}, {"alpha": 1e-5, "norm": True}],
}
COUNT_CASES = [(name, {**s, **p}) for name, some in COUNT_SETTINGS.items() for s in some for p in PRIOR_SETTINGS]


@pytest.mark.parametrize("kind", ["dense", "sparse", "weighted"])
@pytest.mark.parametrize(("name", "settings"), COUNT_CASES, ids=str)
@pytest.mark.parametrize("data", DISCRETE)
def test_sklearn_count_models(data, name, settings, kind):
    X, y = discrete(data)
    settings = {k: uneven(y) if isinstance(v, str) else v for k, v in settings.items()}
    weight = weights_for(y) if kind == "weighted" else None
    if kind == "sparse":
        X = sparse.csr_matrix(X.astype(float))
    ours = getattr(suffit, name)(**settings).fit(X, y, sample_weight=weight)
    theirs = getattr(naive_bayes, name)(**settings).fit(X, y, sample_weight=weight)
    check_joint(ours, theirs, X)
    check_attributes(ours, theirs, ["class_log_prior_", "class_count_", "feature_count_", "feature_log_prob_"])
    if name == "ComplementNB":
        check_attributes(ours, theirs, ["feature_all_"])


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])  # scikit-learn's BernoulliNB fails on one
def test_sklearn_alpha_by_column(name):
    X, y = discrete("words")
    alpha = np.linspace(0.1, 3.0, X.shape[1])
    ours, theirs = (getattr(lib, name)(alpha=alpha).fit(X, y) for lib in (suffit, naive_bayes))
    check_joint(ours, theirs, X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", [{}, {"alpha": 0.01}, {"min_categories": 20}, *PRIOR_SETTINGS[1:]], ids=str)
@pytest.mark.parametrize("data", DISCRETE)
def test_sklearn_categorical_naive_bayes(data, settings, weighted):
    X, y = discrete(data)
    X = X[:, ::7]
    settings = {k: uneven(y) if isinstance(v, str) else v for k, v in settings.items()}
    weight = weights_for(y) if weighted else None
    ours = suffit.CategoricalNB(**settings).fit(X, y, sample_weight=weight)
    theirs = naive_bayes.CategoricalNB(**settings).fit(X, y, sample_weight=weight)
    check_joint(ours, theirs, X)
    check_attributes(ours, theirs, ["class_log_prior_", "class_count_", "n_categories_"])
    for name in ("category_count_", "feature_log_prob_"):
        for a, b in zip(getattr(ours, name), getattr(theirs, name), strict=True):
            assert_allclose(a, b, err_msg=name, **AGREE)


def test_sklearn_categorical_min_categories_by_column():
    X, y = discrete("words")
    least = [int(v) + 1 + j % 3 for j, v in enumerate(X.max(axis=0))]
    ours, theirs = (lib.CategoricalNB(min_categories=least).fit(X, y) for lib in (suffit, naive_bayes))
    assert_array_equal(ours.n_categories_, least)
    check_joint(ours, theirs, X)


@pytest.mark.parametrize("name", ["GaussianNB", *COUNT_SETTINGS, "CategoricalNB"])
def test_sklearn_partial_fit(name):
    X, y = continuous("random") if name == "GaussianNB" else discrete("words")
    settings = {
        "CategoricalNB": {"min_categories": int(X.max()) + 1},
        "GaussianNB": {"var_smoothing": 0.0},  # scikit-learn's floor there is that of the last batch
    }.get(name, {})
    ours, theirs = (getattr(lib, name)(**settings) for lib in (suffit, naive_bayes))
    order = np.random.default_rng(3).permutation(len(y))
    for part in np.array_split(order, 5):
        ours.partial_fit(X[part], y[part], classes=np.unique(y))
        theirs.partial_fit(X[part], y[part], classes=np.unique(y))
    check_joint(ours, theirs, X)


# ------------------------------------------------------------------ 50 digits


def exactly(X):
    """The very doubles, as numbers of 50 digits and more."""
    return [[mp.mpf(float(v)) for v in row] for row in np.asarray(X)]


def mp_mean(rows):
    return [mp.fsum(column) / len(rows) for column in zip(*rows, strict=True)]


def mp_scatter(rows):
    mean, p = mp_mean(rows), len(rows[0])
    Z = [[v - m for v, m in zip(row, mean, strict=True)] for row in rows]
    return mp.matrix([[mp.fsum(z[i] * z[j] for z in Z) for j in range(p)] for i in range(p)])


def mp_normal(x, mean, cov):
    z = mp.matrix([v - m for v, m in zip(x, mean, strict=True)])
    quad = (z.T * mp.lu_solve(cov, z))[0]
    return -(quad + mp.log(mp.det(cov)) + len(x) * mp.log(2 * mp.pi)) / 2


def mp_log_posterior(joint):
    top = max(joint)
    total = top + mp.log(mp.fsum(mp.exp(v - top) for v in joint))
    out = []
    for i, v in enumerate(joint):
        others = mp.fsum(mp.exp(w - total) for j, w in enumerate(joint) if j != i)
        out.append(mp.log1p(-others) if others < 0.5 else v - total)
    return out


def mp_structured(cov, structure):
    p = cov.rows
    if structure == "full":
        return cov
    trace = mp.fsum(cov[i, i] for i in range(p)) / p
    return mp.diag([cov[i, i] if structure == "diagonal" else trace for i in range(p)])


def mp_gaussian(structure, tie, smoothing=0.0):
    """log p(x, c) of Gaussian discriminant analysis, from the data."""

    def joint(X, y, Q):
        groups = [exactly(X[y == c]) for c in np.unique(y)]
        S = [mp_scatter(rows) for rows in groups]
        n, N, t = [len(rows) for rows in groups], len(y), mp.mpf(tie)
        pooled = sum(S[1:], S[0])
        total = mp_scatter(exactly(X)) / N
        floor = mp.mpf(smoothing) * max(total[j, j] for j in range(X.shape[1]))
        covs = [((1 - t) * S[c] + t * pooled) / ((1 - t) * n[c] + t * N) for c in range(len(n))]
        covs = [mp_structured(cov, structure) + floor * mp.eye(cov.rows) for cov in covs]
        means = [mp_mean(rows) for rows in groups]
        return [[mp_normal(x, means[c], covs[c]) + mp.log(mp.mpf(n[c]) / N) for c in range(len(n))] for x in exactly(Q)]

    return joint


def mp_counts(log_p):
    """log p(x, c) = log N_c/N + Σ_j log_p(x_j, rows of c in column j, all of column j, words of c, columns)."""

    def joint(X, y, Q):
        out = []
        for x in np.asarray(Q).tolist():
            row = []
            for c in np.unique(y):
                rows = X[y == c]
                terms = [log_p(v, rows[:, j], X[:, j], int(rows.sum()), X.shape[1]) for j, v in enumerate(x)]
                row.append(mp.log(mp.mpf(len(rows)) / len(y)) + mp.fsum(terms))
            out.append(row)
        return out

    return joint


def mp_bernoulli(v, column, everyone, words, p):
    alpha, n = mp.mpf(0.7), len(column)
    present = int((column > 0).sum())
    return mp.log(((present if v > 0 else n - present) + alpha) / (n + 2 * alpha))


def mp_multinomial(v, column, everyone, words, p):
    alpha = mp.mpf(0.7)
    return v * mp.log((int(column.sum()) + alpha) / (words + alpha * p))


def mp_categorical(v, column, everyone, words, p):
    alpha = mp.mpf(0.7)
    return mp.log((int((column == v).sum()) + alpha) / (len(column) + alpha * (int(everyone.max()) + 1)))


def mp_poisson(v, column, everyone, words, p):
    alpha, mean = mp.mpf(0.7), mp.mpf(int(everyone.sum())) / len(everyone)
    rate = (int(column.sum()) + alpha * mean) / (len(column) + alpha)
    return v * mp.log(rate) - rate


EXACT = {
    "GaussianNB": (suffit.GaussianNB(), mp_gaussian("diagonal", 0.0, 1e-9)),
    "LDA": (suffit.LDA(), mp_gaussian("full", 1.0)),
    "QDA": (suffit.QDA(), mp_gaussian("full", 0.0)),
    "GDA spherical": (GDA("spherical"), mp_gaussian("spherical", 0.0)),
    "GDA spherical shared": (GDA("spherical", tie=1), mp_gaussian("spherical", 1.0)),
    "GDA diagonal shared": (GDA("diagonal", tie=1), mp_gaussian("diagonal", 1.0)),
    "GDA diagonal tied": (GDA("diagonal", tie=0.3), mp_gaussian("diagonal", 0.3)),
    "GDA tied": (GDA(tie=0.3), mp_gaussian("full", 0.3)),
    "BernoulliNB": (suffit.BernoulliNB(alpha=0.7), mp_counts(mp_bernoulli)),
    "MultinomialNB": (suffit.MultinomialNB(alpha=0.7), mp_counts(mp_multinomial)),
    "CategoricalNB": (suffit.CategoricalNB(alpha=0.7), mp_counts(mp_categorical)),
    "PoissonNB": (suffit.PoissonNB(alpha=0.7), mp_counts(mp_poisson)),
}


def small_problem(key, seed):
    """Up to 4 classes of 8 to 14 rows in 1 to 4 columns, and 6 rows to ask about."""
    rng = np.random.default_rng([seed, len(key)])
    k, p = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    y = np.repeat(np.arange(k), rng.integers(8, 15, k))
    if key.endswith("NB") and key != "GaussianNB":
        return rng.poisson(rng.uniform(0.3, 3.0, (k, p))[y]), y, rng.integers(0, 4, (6, p))
    X = rng.normal(size=(len(y), p)) + rng.normal(size=(k, p))[y] + 10 ** rng.uniform(-1, 2)
    Q = X[rng.choice(len(y), 6, replace=False)] + rng.normal(size=(6, p))
    return X, y, Q


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("key", EXACT)
def test_log_posteriors_against_50_digits(key, seed):
    model, joint = EXACT[key]
    X, y, Q = small_problem(key, seed)
    if key == "CategoricalNB":
        Q = np.minimum(Q, X.max(axis=0))  # a category never seen is left out, which is another formula
    with mp.workdps(50):
        want = [mp_log_posterior(row) for row in joint(X, y, Q)]
        got = model.fit(X, y).predict_log_proba(Q)
        error = [
            [abs((mp.mpf(float(g)) - w) / w) for g, w in zip(a, b, strict=True)] for a, b in zip(got, want, strict=True)
        ]
        assert max(max(row) for row in error) <= 1e-12


# ------------------------------------------------------------------ R

R = json.loads((ORACLES / "r_numbers.json").read_text())
R_CASES = {case["name"]: case for case in R["cases"]}
DISCRIMINANT = [name for name in R_CASES if "_lda_" in name or "_qda_" in name]
GAUSSIAN = [name for name in R_CASES if name.endswith("_gaussian_nb")]
CATEGORICAL = [name for name in R_CASES if "_categorical_nb_" in name]


def r_data(case):
    data = R["datasets"][case["data"]]
    return np.array(data["X"]), np.array(data["y"])


def check_r(model, case, rows):
    assert model.classes_.tolist() == case["classes"]
    assert_allclose(model.priors_, case["prior"], rtol=1e-14)
    assert_allclose(model.means_, case["means"], rtol=1e-12)
    posterior = np.array(case["posterior"])
    assert_allclose(model.predict_proba(rows), posterior, rtol=0, atol=1e-10)
    there = posterior > 1e-280
    assert_allclose(model.predict_log_proba(rows)[there], np.log(posterior[there]), rtol=1e-10, atol=1e-10)


def test_r_every_case_is_used():
    assert len(DISCRIMINANT) == 14
    assert len(GAUSSIAN) == 2
    assert len(CATEGORICAL) == 4
    assert len(R_CASES) == 20


@pytest.mark.parametrize("name", DISCRIMINANT)
def test_r_mass_lda_and_qda(name):
    case = R_CASES[name]
    X, y = r_data(case)
    linear = "_lda_" in name
    denominator = "mle" if "mle" in case["call"] else "unbiased"
    prior = case["prior"] if "prior" in case["call"] else None
    model = GDA(tie=1.0 if linear else 0.0, denominator=denominator, priors=prior).fit(X, y)
    check_r(model, case, X)
    if not linear:
        log_det = [np.linalg.slogdet(S)[1] for S in model.covariance_]
        assert_allclose(log_det, case["log_det_covariance"], rtol=1e-10)
    else:
        S, scaling = model.covariance_, np.array(case["scaling_abs"])
        if len(scaling) == 1:  # one column: scaling is 1/σ
            assert_allclose(1 / np.sqrt(S[0, 0]), scaling[0, 0], rtol=1e-10)


@pytest.mark.parametrize("name", [n for n in DISCRIMINANT if n.endswith(("_lda_mle", "_lda_mle_prior"))])
def test_r_mass_discriminant_scores(name):
    """MASS centres and rotates as scikit-learn's svd solver does; absolute values, since signs are free."""
    case = R_CASES[name]
    X, y = r_data(case)
    lda = suffit.LDA(priors=case["prior"] if "prior" in case["call"] else None).fit(X, y)
    assert_allclose(np.abs(lda.transform(X)), case["x_abs"], rtol=1e-9, atol=1e-10)
    assert_allclose(np.abs(lda.scalings_), case["scaling_abs"], rtol=1e-9, atol=1e-10)
    squares = np.array(case["svd"]) ** 2
    assert_allclose(lda.explained_variance_ratio_, squares / squares.sum(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_r_e1071_gaussian_naive_bayes(name):
    case = R_CASES[name]
    X, y = r_data(case)
    model = GDA("diagonal", denominator="unbiased").fit(X, y)
    check_r(model, case, X)
    sd = np.sqrt(np.diagonal(model.covariance_, axis1=1, axis2=2))
    assert_allclose(sd, case["sd"], rtol=1e-12)


def coded(case, rows):
    """Categories as their place among the declared ones, as R has factors."""
    columns = R["datasets"][case["data"]]["columns"]
    return np.array([[case["levels"][c].index(v) for c, v in zip(columns, row, strict=True)] for row in rows])


@pytest.mark.parametrize("name", CATEGORICAL)
def test_r_e1071_categorical_naive_bayes_declared_categories(name):
    """R counts categories that are declared but unused; integer codes with min_categories declare them here."""
    case = R_CASES[name]
    X, y = r_data(case)
    columns = R["datasets"][case["data"]]["columns"]
    declared = [len(case["levels"][c]) for c in columns]
    model = suffit.CategoricalNB(alpha=case["laplace"], min_categories=declared).fit(coded(case, X), y)
    for column, table in zip(columns, model.feature_log_prob_, strict=True):
        assert_allclose(np.exp(table), case["tables"][column], rtol=1e-12, atol=1e-15, err_msg=column)
    assert_allclose(np.exp(model.class_log_prior_), case["prior"], rtol=1e-14)
    assert_allclose(model.predict_proba(coded(case, case["rows"])), case["posterior"], rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", [n for n in CATEGORICAL if not (n.startswith("toy") and n.endswith("1"))])
def test_r_e1071_categorical_naive_bayes_string_categories(name):
    """Strings declare no unused category; without smoothing, or with all in use, that makes no difference."""
    case = R_CASES[name]
    X, y = r_data(case)
    model = suffit.CategoricalNB(alpha=case["laplace"]).fit(X, y)
    assert_allclose(model.predict_proba(np.array(case["rows"])), case["posterior"], rtol=0, atol=1e-10)


# ------------------------------------------------------------------ NIST

NIST = {d["name"]: d for d in json.loads((ORACLES / "nist_univariate.json").read_text())["datasets"]}


@cache
def exact_variance(values, less):
    """Σ(x − mean)²/(n − less) of the stored doubles, in rational arithmetic."""
    numbers = [Fraction(v) for v in values]
    n, total = len(numbers), sum(numbers)
    return (n * sum(v * v for v in numbers) - total * total) / (n * (n - less))


@cache
def nist_classes(name):
    """The data as one class and the same shifted by half its spread as the other; two classes to fit."""
    x = np.array([float(text) for text in NIST[name]["data"]])
    return x, x + np.ptp(x)


def interleaved(name):
    x, shifted = nist_classes(name)
    return np.stack([x, shifted], axis=1).reshape(-1, 1), np.tile(["data", "shifted"], len(x))


def check_variances(variances, name, less):
    for got, values in zip(variances, nist_classes(name), strict=True):
        want = exact_variance(tuple(values.tolist()), less)
        assert abs(Fraction(float(got)) / want - 1) <= Fraction(1, 10**13), (name, float(got), float(want))


@pytest.mark.parametrize("name", NIST)
def test_nist_oracle_is_the_certified_value(name):
    """Where the decimals are doubles exactly, the rational variance is NIST's own."""
    data = NIST[name]["data"]
    got = exact_variance(tuple(nist_classes(name)[0].tolist()), 1)
    certified = Fraction(NIST[name]["exact_variance"])
    if all(Fraction(float(text)) == Fraction(text) for text in data):
        assert got == certified
    assert abs(got / certified - 1) < Fraction(1, 10**6)


@pytest.mark.parametrize("name", NIST)
def test_nist_variance_in_one_fit(name):
    X, y = interleaved(name)
    check_variances(suffit.GaussianNB(var_smoothing=0).fit(X, y).var_[:, 0], name, 0)
    check_variances(GDA("diagonal").fit(X, y).covariance_[:, 0, 0], name, 0)
    check_variances(GDA("diagonal", denominator="unbiased").fit(X, y).covariance_[:, 0, 0], name, 1)
    check_variances(GDA("full", denominator="unbiased").fit(X, y).covariance_[:, 0, 0], name, 1)


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("name", NIST)
def test_nist_variance_in_chunks(name, rows):
    X, y = interleaved(name)
    model, unbiased = suffit.GaussianNB(var_smoothing=0), GDA("diagonal", denominator="unbiased")
    for start in range(0, len(y), 2 * rows):
        model.partial_fit(X[start : start + 2 * rows], y[start : start + 2 * rows])
        if rows > 1:
            unbiased.partial_fit(X[start : start + 2 * rows], y[start : start + 2 * rows])
    check_variances(model.var_[:, 0], name, 0)
    if rows > 1:
        check_variances(unbiased.covariance_[:, 0, 0], name, 1)


@pytest.mark.parametrize("rows", [7, 100])
@pytest.mark.parametrize("name", NIST)
def test_nist_variance_by_merging(name, rows):
    X, y = interleaved(name)
    starts = range(0, len(y), 2 * rows)
    parts = [suffit.GaussianNB(var_smoothing=0).partial_fit(X[s : s + 2 * rows], y[s : s + 2 * rows]) for s in starts]
    check_variances(parts[0].merge(*parts[1:]).var_[:, 0], name, 0)
    while len(parts) > 1:  # and as a tree
        parts = [a if b is None else a + b for a, b in zip(parts[::2], [*parts[1::2], None], strict=False)]
    check_variances(parts[0].var_[:, 0], name, 0)


@pytest.mark.parametrize("name", NIST)
def test_nist_mean(name):
    X, y = interleaved(name)
    model = suffit.GaussianNB(var_smoothing=0).fit(X, y)
    for got, values in zip(model.theta_[:, 0], nist_classes(name), strict=True):
        want = sum(map(Fraction, values.tolist())) / len(values)
        assert abs(Fraction(float(got)) / want - 1) <= Fraction(1, 10**15)


def test_the_page_of_differences_has_the_constant_of_quadratic_decisions():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) + y[:, None]
    ours, theirs = suffit.QDA().fit(X, y), discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X, y)
    constant = 4 / 2 * np.log(2 * np.pi)
    np.testing.assert_allclose(ours.decision_function(X) + constant, theirs.decision_function(X), atol=1e-10)
    two = y < 2
    odds = [model.fit(X[two], y[two]).decision_function(X) for model in (ours, theirs)]
    np.testing.assert_allclose(*odds, atol=1e-10)
