"""SPEC row C4 for joint Gaussians: EM maximises the likelihood of what is there."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import optimize

from cases import assert_identical, assert_same
from missing_rows import (
    FULL,
    GAUSSIAN,
    NaN,
    answers,
    fitted_parameters,
    mean_gradient,
    normal_rows,
    observed_log_likelihood,
    over,
)
from suffit import (
    GDA,
    LDA,
    QDA,
    GaussianNB,
)
from suffit.data.warn import MissingValuesWarning
from suffit.families.gaussian.missing.em import Completion

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # columns that depend on each other


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


@over(FULL)
def test_C4_rows_without_holes_are_solved_as_ever(make):
    X, y = normal_rows(14, share=0.0)
    model = make().fit(X, y)
    sums = model._model.stats
    assert not len(sums.axes["pattern"])
    assert model._model.family.completed(sums) is sums  # no step of EM, no bit changed
    gap = X[:40].copy()
    gap[:, 1] = NaN
    more = make().fit(np.concatenate([X, gap]), np.concatenate([y, y[:40]]))
    for name in ("n", "x", "xx"):  # rows with missing values are added up apart
        np.testing.assert_array_equal(more._model.stats[name], sums[name])
    more.forget(gap, y[:40])
    assert_identical(more, model)
    np.testing.assert_array_equal(more.predict_log_proba(X), model.predict_log_proba(X))


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


@over({k: v for k, v in GAUSSIAN.items() if k != "LDA-eigen-auto"})
def test_C4_all_rows_incomplete(make):
    X, y = normal_rows(21, n=900, share=0.1)
    X[np.arange(900), np.random.default_rng(21).integers(0, 3, 900)] = NaN
    model = make().fit(X, y)
    answers(model, X)
    whole, _ = normal_rows(21, n=900, share=0.0)
    assert np.mean(model.predict(whole) == make().fit(whole, y).predict(whole)) > 0.85


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")  # a likelihood without a maximum is said
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


def test_C4_nearly_collinear_columns_count_alike_in_rows_with_holes():
    X, y = normal_rows(43, share=0.0)
    X[:, 1] = X[:, 0] + 1e-5 * (X[:, 1] + y)
    hidden = X.copy()
    hidden[:, 2] = NaN
    whole, without = LDA().fit(X, y), LDA().fit(X[:, :2], y)
    np.testing.assert_allclose(whole.predict_proba(hidden), without.predict_proba(X[:, :2]), atol=1e-4)
