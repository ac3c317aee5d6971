"""What a fit of a table promises is what it does: on easy classes, on few rows, on columns that do not vary."""

import warnings

import numpy as np
import pandas as pd
import pytest
from evaluate import fuzz
from scipy import stats
from scipy.special import logsumexp

import suffit
from suffit import Gaussian, GenerativeClassifier, MultivariateGaussian
from suffit import GenerativeClassifier as Generative
from suffit.families.gaussian.joint import MultivariateGaussian as Joint
from suffit.kernels.diagonal import variance_limit
from suffit.tables.structures import Selection
from table_kinds import N, Y

pytestmark = pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # tables that are hard on purpose


def log_loss(model, X, y):
    return fuzz.loss(model.predict_proba(X), model.classes_, np.asarray(y))


# --- classes that are easy


@pytest.mark.parametrize("n", [30, 100, 200, 1_500])
@pytest.mark.parametrize("kind", ["category", "truth", "number", "number with a category", "far apart"])
def test_a_column_that_separates_the_classes_is_believed(kind, n):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], n // 2)
    noise, other = rng.normal(size=len(y)), rng.choice(list("xyz"), len(y))
    columns = {
        "category": {"t": y, "n": noise},
        "truth": {"t": y == "a", "n": noise, "k": other},
        "number": {"t": np.where(y == "a", 3.0, 7.5), "n": noise},
        "number with a category": {"t": np.where(y == "a", 3.0, 7.5), "k": other},
        "far apart": {"t": np.where(y == "a", 0.0, 1e9), "n": noise},
    }[kind]
    model = GenerativeClassifier().fit(columns, y)
    assert model.score(columns, y) == 1.0
    assert log_loss(model, columns, y) < 0.1
    assert np.isfinite(model.selection_.loss)


def test_a_category_that_one_class_never_has_is_enough():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 600)
    table = {
        "k": np.where(y == 2, rng.choice(["u", "v"], 600), "w"),
        "x": rng.normal(size=600) + y,
        "n": rng.normal(size=600),
    }
    model = GenerativeClassifier().fit(table, y)
    assert model.score(table, y) > 0.8


@pytest.mark.parametrize("seed", [12, 17, 30, 50, 58, 66, 105, 118, 157, 175, 279, 364, 372, 622])
def test_random_tables_break_no_law(seed):
    """Tables that were predicted by the class shares, or far worse than promised."""
    assert fuzz.tried(seed).broken() == []


def test_a_class_far_away_does_not_hide_the_others():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 2)) + 3 * y[:, None] + 1e8 * (y == 2)[:, None]
    near = y < 2
    for model in (GenerativeClassifier(), GenerativeClassifier(structure="naive")):
        assert model.fit(X, y).score(X[near], y[near]) > 0.95


# --- few rows


def test_one_row_of_each_class_makes_nothing_sure():
    rng = np.random.default_rng(0)
    y = np.arange(20)
    model = GenerativeClassifier().fit(rng.normal(size=(20, 2)), y)
    fresh = model.predict_proba(rng.normal(size=(200, 2)))
    assert fresh.max(axis=1).mean() < 0.5
    assert fresh.max() < 0.95
    truth = rng.integers(0, 20, 200)
    assert fuzz.loss(fresh, y, truth) < 1.3 * np.log(20)


@pytest.mark.parametrize("p", [8, 20])
def test_thirty_rows_of_noise_promise_no_more_than_they_keep(p):
    lost = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        y, judge = rng.integers(0, 3, 30), rng.integers(0, 3, 500)
        model = GenerativeClassifier().fit(rng.normal(size=(30, p)), y)
        lost.append((log_loss(model, rng.normal(size=(500, p)), judge), model.selection_.loss))
    found, promised = np.mean(lost, axis=0)
    assert found < 1.1 * np.log(3) + 0.05
    assert found < 1.2 * promised + 0.1


def test_losses_that_are_shown_are_finite_and_of_the_same_rows():
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], [1, 9, 20])
    for table in ({"x": rng.normal(size=30)}, {"x": rng.normal(size=30), "k": rng.choice(list("ab"), 30)}):
        found = GenerativeClassifier().fit(table, y).selection_
        assert isinstance(found, Selection)
        assert np.isfinite([found.loss, found.loo_loss, *(t.loss for t in found.tried)]).all()
    y = rng.integers(0, 3, 6_000)  # more rows than are compared
    found = GenerativeClassifier().fit(rng.normal(size=(6_000, 3)) + 0.5 * y[:, None], y).selection_
    assert found.loo_loss <= min(t.loss for t in found.tried) + 0.005
    assert found.loss >= found.loo_loss - 0.02


# --- a model that does not do what leave-one-out said of it


def test_a_structure_whose_fit_breaks_its_promise_is_not_taken(monkeypatch):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3)) @ np.array([[1.0, 0.9, 0.8], [0, 0.4, 0.3], [0, 0, 0.5]])
    X[:, 1] += 0.8 * y
    assert any("joint" in name for name, *_ in GenerativeClassifier().fit(X, y).selection_.pool)
    solved = Joint._normal_scorer

    def broken(self, stats):
        scorer = solved(self, stats)
        scorer.means = scorer.means[::-1]
        return type(scorer)(scorer.means, *_rest(scorer, self.columns))

    def _rest(scorer, columns):
        sigma = scorer.sigma if hasattr(scorer, "sigma") else scorer.shared
        return sigma, scorer.W, scorer.log_det, scorer.rank, columns, scorer.n_parameters

    monkeypatch.setattr(Joint, "_normal_scorer", broken)
    model = GenerativeClassifier().fit(X, y)
    assert [name for name, *_ in model.selection_.pool] in (["naive"], [])
    assert log_loss(model, X, y) <= model.selection_.loss + 0.05


def test_classes_that_have_no_rows_yet_do_not_mislead_the_check():
    rng = np.random.default_rng(6)
    y = np.repeat(["m", "z"], 60)
    X = rng.normal(size=(120, 3)) + 2.0 * (y == "z")[:, None]
    model = GenerativeClassifier().partial_fit(X, y, classes=["a", "m", "q", "z"])
    assert [name for name, *_ in model.selection_.pool] == [
        name for name, *_ in GenerativeClassifier().fit(X, y).selection_.pool
    ]
    assert model.score(X, y) > 0.9


# --- the prior


def by_hand(x, y, r):
    """σ² = (Σ_c Σ(x − μ_c)² + r·v)/(Σ_c (n_c − r) + r), and (Σ(x − μ_c)² + r·σ²)/max(n_c, r)·(1 + r/n_c)."""
    groups = [x[y == c] for c in np.unique(y)]
    squares = np.array([((g - g.mean()) ** 2).sum() for g in groups])
    degrees = sum(max(len(g) - r, 0) for g in groups)
    v = np.var(x)
    if squares.sum() > 0:
        v = min(v, squares.sum() / degrees * variance_limit(degrees / r))
    shared = (squares.sum() + r * v) / (degrees + r)
    n = np.array([len(g) for g in groups])
    return (squares + r * shared) / np.maximum(n, r) * (1 + r / n)


@pytest.mark.parametrize("r", [0.5, 1.0, 3.0])
def test_a_prior_on_variances_is_worth_its_rows(r):
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1, 2], [1, 5, 30])
    for x in (
        rng.normal(size=36),
        y * 1.0,
        np.where(y == 2, rng.normal(size=36), 0.0),
        rng.normal(size=36) + 1e6 * (y == 1),
    ):
        model = suffit.NaiveBayes(Gaussian(prior_rows=r)).fit(x[:, None], y)
        found = model._solved.scorer.variances[:, 0]
        np.testing.assert_allclose(found, by_hand(x, y, r), rtol=1e-9)


def test_the_limit_of_a_variance_is_that_of_the_chi_square_distribution():
    df = np.array([3.0, 10.0, 100.0, 1e4])
    np.testing.assert_allclose(variance_limit(df), df / stats.chi2.ppf(0.05, df), rtol=0.08)
    assert variance_limit(np.array([1.0]))[0] > 100


CASES = {
    "varied": lambda rng, y: rng.normal(size=(len(y), 3)) + y[:, None],
    "constant in a class": lambda rng, y: np.c_[
        rng.normal(size=len(y)), np.where(y == 1, 2.0, rng.normal(size=len(y)))
    ],
    "one row varies": lambda rng, y: np.c_[rng.normal(size=len(y)), np.arange(len(y)) == 7],
    "missing": lambda rng, y: np.where(rng.random((len(y), 3)) < 0.2, np.nan, rng.normal(size=(len(y), 3)) * 1e-9),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sizes", [(12, 14, 14), (1, 9, 30)])
def test_leave_one_out_with_a_prior_is_a_refit(case, sizes):
    rng = np.random.default_rng(7)
    y = np.repeat([0, 1, 2], sizes)
    X = CASES[case](rng, y)
    prior = tuple(np.linspace(1.0, 3.0, X.shape[1]).tolist())
    families = {
        "diagonal": {tuple("abc"[j]): Gaussian(prior_rows=1.0) for j in range(X.shape[1])},
        "joint": {
            tuple("abc"[: X.shape[1]]): MultivariateGaussian(tie=0.3, shrinkage=0.1, prior=prior, missing="pairs")
        },
        "shared": {
            tuple("abc"[: X.shape[1]]): MultivariateGaussian(tie=1.0, shrinkage=0.1, prior=prior, missing="pairs")
        },
    }
    table = pd.DataFrame(X, columns=list("abc"[: X.shape[1]]))
    for columns in families.values():
        model = GenerativeClassifier(columns=columns).fit(table, y)
        left = model.loo_log_joint(table, y)
        for i in range(0, len(y), 5):
            rest = np.arange(len(y)) != i
            refit = GenerativeClassifier(columns=columns).fit(table[rest], y[rest])
            here = [list(model.classes_).index(c) for c in refit.classes_]
            expected = refit.predict_joint_log_proba(table[i : i + 1])[0]
            np.testing.assert_allclose(left[i, here], expected, rtol=1e-8, atol=1e-8)


# --- densities of a pool


@pytest.fixture(scope="module")
def correlated():
    rng = np.random.default_rng(8)
    y = np.repeat(["a", "b"], 250)
    x = rng.normal(size=500)
    table = pd.DataFrame({
        "u": 1e3 * x + 500 * (y == "b"), "v": x + 0.2 * rng.normal(size=500), "k": rng.choice(list("pqr"), 500),
    })  # fmt: skip
    return GenerativeClassifier().fit(table, y), table, y


def test_the_density_is_that_of_the_structure_that_explains_rows_best(correlated):
    model, table, y = correlated
    assert model.selection_.density == "numeric joint"
    naive = GenerativeClassifier(structure="naive").fit(table, y)
    assert model.log_likelihood(table, y) > naive.log_likelihood(table, y) + 100
    assert "numeric joint" in repr(model.selection_)
    joint = model.predict_joint_log_proba(table)
    np.testing.assert_allclose(model.score_samples(table), logsumexp(joint, axis=1), rtol=1e-12)
    at = np.searchsorted(model.classes_, y)
    assert model.log_likelihood(table, y) == pytest.approx(joint[np.arange(len(y)), at].sum(), rel=1e-12)


def test_the_density_integrates_to_one_in_the_units_of_the_table(correlated):
    model, *_ = correlated
    u, v = np.meshgrid(np.linspace(-6_000, 6_500, 400), np.linspace(-6, 6, 400))
    grid = pd.DataFrame({"u": u.ravel(), "v": v.ravel(), "k": None})
    cell = (12_500 / 399) * (12 / 399)
    assert np.exp(model.score_samples(grid)).sum() * cell == pytest.approx(1.0, abs=0.03)


def test_draws_and_imputation_follow_the_correlation(correlated):
    model, table, _ = correlated
    drawn, _ = model.sample(4_000, random_state=0)
    expected = np.corrcoef(table["u"], table["v"])[0, 1]
    assert np.corrcoef(drawn["u"].clip(-4e3, 4e3), drawn["v"].clip(-4, 4))[0, 1] == pytest.approx(expected, abs=0.05)
    gone = table.assign(v=np.nan)
    filled = model.impute(gone)["v"]
    np.testing.assert_array_equal(model.impute(gone)["u"], table["u"])
    assert np.corrcoef(filled, table["v"])[0, 1] > 0.9
    assert 0.3 < model.novelty(table[:200]).mean() < 0.7
    assert (model.novelty(pd.DataFrame({"u": [2e3], "v": [-2.0], "k": ["p"]})) > 0.99).all()


def test_the_leave_one_out_density_is_that_of_a_refit(correlated):
    model, table, y = correlated
    left = model.loo_log_joint(table, y)
    for i in (0, 260):
        rest = np.arange(len(y)) != i
        refit = GenerativeClassifier(columns=model.schema_).fit(table[rest], y[rest])
        np.testing.assert_allclose(left[i], refit.predict_joint_log_proba(table[i : i + 1])[0], rtol=1e-9)


def test_a_pool_keeps_a_calibration_only_where_it_helps():
    kept = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 3, 150)
        X = rng.normal(size=(150, 4)) + y[:, None]
        for how in ("temperature", "isotonic"):
            model, plain = (GenerativeClassifier(calibrate=c).fit(X, y) for c in (how, None))
            found = model.calibration_
            kept.append(found.kept)
            if not found.kept:
                assert found.log_loss_after >= found.log_loss_before
                assert "not used" in repr(found)
                np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-12)
            else:
                assert found.log_loss_after < found.log_loss_before
    assert not all(kept)


def test_a_promise_is_made_without_a_warning_of_numpy():
    rng = np.random.default_rng(9)
    y = np.repeat([0, 1], 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        GenerativeClassifier().fit({"t": y, "x": rng.normal(size=80), "c": np.full(80, 3.0)}, y).predict_proba(
            {"t": [5], "x": [0.0]}
        )


def test_the_leave_one_out_joint_density_of_a_pool_is_that_of_a_refit():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    X = rng.gamma(2.0, 1.0, size=(60, 3)) + 0.8 * y[:, None]
    model = suffit.GenerativeClassifier().fit(X, y)
    rest = np.arange(60) != 4
    others = suffit.GenerativeClassifier(columns=model.schema_).fit(X[rest], y[rest])
    np.testing.assert_allclose(model.loo_log_joint(X, y)[4], others.predict_joint_log_proba(X[4:5])[0], rtol=1e-9)


def test_the_selection_shows_columns_and_structures():
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 60)
    a = rng.normal(y)
    table = {"a": a, "again": a, "b": rng.normal(y)}
    both = suffit.GenerativeClassifier(select="loo").fit(table, y)
    steps = suffit.GenerativeClassifier(select="loo", structure="naive").fit(table, y).selection_
    assert both.selection_.columns == steps
    assert repr(both.selection_).startswith(repr(steps))
    assert "pool: " in repr(both.selection_)
    alone = suffit.GenerativeClassifier().fit(table, y).selection_
    assert alone.columns is None
    assert repr(alone).startswith("structure")


@pytest.mark.parametrize("seed", [7, 10])
def test_wild_scores_of_one_structure_do_not_spoil_the_pool(seed):
    """-9999 for missing: a pool is no worse than the best of its members alone."""
    rng, other = np.random.default_rng(seed), np.random.default_rng(100 + seed)
    K, p = 4, 6
    A, M = rng.normal(size=(K, p, p)) * 0.5 + np.eye(p), rng.normal(size=(K, p))
    y = other.integers(0, K, 150)
    X = np.einsum("ni,nij->nj", other.normal(size=(150, p)), A[y]) + M[y]
    X[other.random(X.shape) < 0.02] = -9999
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = suffit.GenerativeClassifier().fit(X, y).selection_
    assert found.loo_loss <= min(t.loss for t in found.tried) + 5e-3


@pytest.mark.parametrize("missing", [False, True])
def test_sums_from_the_choice_of_structures_are_those_of_the_rows(missing):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 4)) @ rng.normal(size=(4, 4)) + (Y == "ant")[:, None]
    X[:, 3] = np.round(X[:, 3])
    X[rng.random(X.shape) < 0.1 * missing] = np.nan
    chosen = Generative().fit(X, Y)
    assert any(block.family.key == "multivariate_gaussian" for block in chosen._model.family.blocks)
    learned = Generative(chosen.schema_).fit(X, Y)
    for a, b in zip(chosen._model.sums.parts, learned._model.sums.parts, strict=True):
        assert a.axes == b.axes
        for name in a.sums:
            np.testing.assert_allclose(a[name], b[name], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(chosen.predict_proba(X), learned.predict_proba(X), rtol=1e-12, atol=1e-15)


# --- columns that nearly determine each other


def test_columns_that_nearly_determine_each_other_are_not_shrunk_apart():
    """What tells the classes apart is a combination of columns with a twentieth of their spread."""

    def drawn(n, seed):
        rng = np.random.default_rng(seed)
        y, latent = rng.integers(0, 2, n), rng.normal(size=n)
        X = np.column_stack([latent + 0.05 * rng.normal(size=n) for _ in range(6)])
        X[:, 0] += 0.1 * (2 * y - 1)
        return pd.DataFrame(X, columns=list("abcdef")), y

    X, y = drawn(400, 0)
    Z, z = drawn(4_000, 1)
    model = GenerativeClassifier().fit(X, y)
    lda = suffit.LDA().fit(X, y)
    assert log_loss(model, Z, z) < log_loss(lda, Z, z) + 0.02


def test_a_structure_without_rare_categories_is_no_density_of_the_table():
    """Categories that no two rows share are in no joint block: draws and imputation come from one that has them."""
    rng = np.random.default_rng(0)
    latent = rng.normal(size=12)
    table = pd.DataFrame({name: latent + 0.01 * rng.normal(size=12) for name in "abc"})
    table["k"] = list("ppqqrrssttuu")
    y = np.arange(12) % 2
    model = GenerativeClassifier().fit(table, y)
    assert "all joint" in {one.name for one in model.selection_.tried}
    assert model.selection_.density == "numeric joint"
    assert list(model.sample(5, random_state=0)[0]) == list(table)
    assert set(model.impute(table.assign(k=None), y, how="draw", random_state=0)["k"]) <= set("pqrstu")


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_repetition_when_structures_are_compared(seed):
    """Rows of few values, which are equal by chance: trees and folds take some of them and leave others."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {"a": rng.integers(0, 4, 60), "b": rng.integers(0, 3, 60) / 2, "k": rng.choice(list("xyz"), 60)}
    )
    y = np.where((table["a"] > 1) ^ (table["k"] == "x"), "yes", "no")
    weights = rng.integers(0, 4, 60)
    times = np.repeat(np.arange(60), weights)
    weighted = GenerativeClassifier().fit(table, y, sample_weight=weights.astype(float))
    repeated = GenerativeClassifier().fit(table.iloc[times], y[times])
    assert repr(weighted.selection_) == repr(repeated.selection_)
    np.testing.assert_allclose(weighted.predict_proba(table), repeated.predict_proba(table), rtol=0, atol=1e-9)
