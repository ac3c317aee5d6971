"""Settings chosen by the data are those that refitting by hand, or the formula of the evidence, would choose."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import suffit
from cases import CASES, FAMILIES, Case, assert_same, brute_loss, data, with_holes
from suffit.families.tuning import DIGITS, LARGEST, SHRINKAGES, SMALLEST, TIES, dirichlet_evidence

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class

ROWS = 24
ALPHA = {
    "BernoulliNB": (lambda: suffit.BernoulliNB(binarize=2.0), "MultinomialNB"),
    "MultinomialNB": (lambda: suffit.MultinomialNB(), "MultinomialNB"),
    "ComplementNB": (lambda: suffit.ComplementNB(), "MultinomialNB"),
    "ComplementNB-norm": (lambda: suffit.ComplementNB(norm=True), "MultinomialNB"),
    "PoissonNB": (lambda: suffit.PoissonNB(), "MultinomialNB"),
    "CategoricalNB": (lambda: suffit.CategoricalNB(), "CategoricalNB"),
    "CategoricalNB-words": (lambda: suffit.CategoricalNB(), "CategoricalNB-words"),
}


def check_alpha(model: Any, make: Callable[[float], Any], X: np.ndarray, y: np.ndarray, w: Any = None) -> None:
    """The α taken has the loss that refits have, and no other has less by more than two per cent of α would change."""
    tuning = model.selection_
    taken = tuning.taken.settings["alpha"]
    assert taken == float(f"{taken:.{DIGITS}g}")
    assert tuning.taken.loss == pytest.approx(brute_loss(make(taken), X, y, w), abs=1e-9)
    for trial in tuning.tried[:: max(len(tuning.tried) // 3, 1)]:
        assert trial.loss == pytest.approx(brute_loss(make(trial.settings["alpha"]), X, y, w), abs=1e-9)
    near = max(brute_loss(make(taken * f), X, y, w) for f in (0.98, 1.02)) - tuning.taken.loss
    least = min(brute_loss(make(float(a)), X, y, w) for a in np.geomspace(SMALLEST, LARGEST, 25))
    least = min(least, *(t.loss for t in tuning.tried))
    assert tuning.taken.loss <= least + max(near, 1e-6)


# --- (a) smoothing


@pytest.mark.parametrize("name", ALPHA)
def test_alpha_loo_is_the_minimum_of_refits(name: str) -> None:
    make, case = ALPHA[name]
    X, y = data(CASES[case], 31, ROWS)
    model = make().set_params(alpha="loo").fit(X, y)
    check_alpha(model, lambda a: make().set_params(alpha=a), X, y)


@pytest.mark.parametrize("name", [key for key, row in FAMILIES.items() if row.smoothed is not None])
def test_alpha_loo_of_every_family_is_the_minimum_of_refits(name: str) -> None:
    family = FAMILIES[name].smoothed
    X, y = data(FAMILIES[name], 37, ROWS)
    check_alpha(suffit.NaiveBayes(family("loo")).fit(X, y), lambda a: suffit.NaiveBayes(family(a)), X, y)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "CategoricalNB"])
def test_alpha_loo_with_weights_and_missing_values(name: str) -> None:
    make, case = ALPHA[name]
    X, y = data(CASES[case], 41, ROWS)
    w = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], size=len(y))
    check_alpha(
        make().set_params(alpha="loo").fit(X, y, sample_weight=w), lambda a: make().set_params(alpha=a), X, y, w
    )
    with_missing = with_holes(X, 41, 0.1)
    check_alpha(
        make().set_params(alpha="loo").fit(with_missing, y), lambda a: make().set_params(alpha=a), with_missing, y
    )


@pytest.mark.parametrize("name", ALPHA)
def test_alpha_loo_stays_in_batches_and_merges(name: str) -> None:
    make, case = ALPHA[name]
    X, y = data(CASES[case], 43, 90)
    one = make().set_params(alpha="loo").fit(X[:40], y[:40])
    chosen = one.selection_.taken.settings["alpha"]
    same = make().set_params(alpha=chosen)
    grown = copy.deepcopy(one).partial_fit(X[40:], y[40:])
    assert grown.selection_.taken.settings["alpha"] == chosen
    assert_same(grown, clone(same).fit(X, y))
    other = make().set_params(alpha="loo").fit(X[40:], y[40:])
    merged = one + other
    assert merged.selection_.taken.settings["alpha"] == chosen  # the first one's
    assert_same(merged, clone(same).fit(X, y))
    assert_same(copy.deepcopy(grown).forget(X[40:], y[40:]), one)
    began = make().set_params(alpha="loo").partial_fit(X[:40], y[:40])  # a first batch decides, too
    assert began.selection_.taken.settings["alpha"] == chosen


EVIDENT = [k for k in ALPHA if k != "PoissonNB"]


@pytest.mark.parametrize("name", EVIDENT)
def test_alpha_evidence_follows_the_sums(name: str) -> None:
    make, case = ALPHA[name]
    X, y = data(CASES[case], 47, 90)
    new = lambda: make().set_params(alpha="evidence")  # noqa: E731
    whole, one, two = new().fit(X, y), new().fit(X[:40], y[:40]), new().fit(X[40:], y[40:])
    alpha = whole.selection_.taken.settings["alpha"]
    assert_same(whole, make().set_params(alpha=alpha).fit(X, y))
    for same in (one + two, new().partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])):
        assert same.selection_.taken.settings["alpha"] == alpha
        assert_same(same, whole)
    assert (
        one.selection_.taken.settings["alpha"] != alpha or alpha == LARGEST
    )  # categories that are alike in all classes
    left = copy.deepcopy(whole).forget(X[40:], y[40:])
    assert left.selection_.taken.settings["alpha"] == one.selection_.taken.settings["alpha"]
    assert_same(left, one)
    twice = new().fit(np.concatenate([X, X]), np.concatenate([y, y]))
    weighed = new().fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert weighed.selection_.taken.settings["alpha"] == twice.selection_.taken.settings["alpha"]


def tables_of(name: str, X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """The counts that are drawn from Dirichlet(α): one table of classes × outcomes for each column, or one for all."""
    classes = np.unique(y)
    if name.startswith(("Multinomial", "Complement")):
        return [np.stack([X[y == c].sum(axis=0) for c in classes])]
    if name == "BernoulliNB":
        return [
            np.stack([[(X[y == c, j] <= 2).sum(), (X[y == c, j] > 2).sum()] for c in classes])
            for j in range(X.shape[1])
        ]
    categories = [
        np.arange(X[:, j].max() + 1) if X.dtype.kind == "i" else np.unique(X[:, j]) for j in range(X.shape[1])
    ]
    return [np.array([[(X[y == c, j] == v).sum() for v in vs] for c in classes]) for j, vs in enumerate(categories)]


def exact_evidence(tables: list[np.ndarray], alpha: float) -> mpmath.mpf:
    """log Π_c ∫ Π_v φ_v^N_cv Dirichlet(φ | α) dφ, to 40 digits."""
    total = mpmath.mpf(0)
    with mpmath.workdps(40):
        a = mpmath.mpf(alpha)
        for table in tables:
            for row in table:
                L, N = len(row), int(row.sum())
                total += mpmath.loggamma(L * a) - mpmath.loggamma(N + L * a)
                total += sum(mpmath.loggamma(int(v) + a) - mpmath.loggamma(a) for v in row)
    return total


@pytest.mark.parametrize("name", EVIDENT)
def test_alpha_evidence_is_the_largest_dirichlet_multinomial(name: str) -> None:
    make, case = ALPHA[name]
    X, y = data(CASES[case], 53, 60)
    tuning = make().set_params(alpha="evidence").fit(X, y).selection_
    tables = tables_of(name, X, y)
    for trial in tuning.tried[::4]:
        assert -trial.loss == pytest.approx(float(exact_evidence(tables, trial.settings["alpha"])), rel=1e-12)
    best = minimize_scalar(
        lambda u: -sum(dirichlet_evidence(t, math.exp(u)) for t in tables),
        bounds=(math.log(SMALLEST), math.log(LARGEST)),
        method="bounded",
    )
    assert tuning.taken.settings["alpha"] == pytest.approx(math.exp(best.x), rel=0.03)
    assert tuning.taken.loss <= best.fun + 1e-3


def test_leave_one_out_keeps_the_evidence_of_all_rows() -> None:
    X, y = data(CASES["MultinomialNB"], 59, 40)
    for rows in (X, with_holes(X, 59, 0.1)):
        model = suffit.MultinomialNB(alpha="evidence").fit(rows, y)
        fixed = suffit.MultinomialNB(alpha=model.selection_.taken.settings["alpha"]).fit(rows, y)
        np.testing.assert_allclose(model.loo_log_joint(rows, y), fixed.loo_log_joint(rows, y), rtol=1e-12)


def test_alpha_of_one_column_of_a_table() -> None:
    X, y = data(CASES["CategoricalNB-words"], 61, 60)
    table = {"colour": X[:, 0], "size": X[:, 1]}
    for how in ("loo", "evidence"):
        model = suffit.GenerativeClassifier(
            {"colour": suffit.Categorical(alpha=how), "size": suffit.Categorical(alpha=0.5)}
        ).fit(table, y)
        alone = suffit.CategoricalNB(alpha=how).fit(X[:, :1], y).selection_.taken.settings["alpha"]
        fixed = suffit.GenerativeClassifier(
            {"colour": suffit.Categorical(alpha=alone), "size": suffit.Categorical(alpha=0.5)}
        ).fit(table, y)
        np.testing.assert_allclose(model.predict_proba(table), fixed.predict_proba(table), rtol=1e-12)


# --- (b) tie and shrinkage


def check_covariance(model: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> None:
    tuning = model.selection_
    assert len(tuning.tried) == (len(TIES) if model.tie == "loo" else 1) * (
        len(SHRINKAGES) if model.shrinkage == "loo" else 1
    )
    for trial in tuning.tried:
        if np.isfinite(trial.loss):
            fixed = clone(model).set_params(**trial.settings)
            assert trial.loss == pytest.approx(brute_loss(fixed, X, y, w), abs=1e-9), trial
    assert tuning.taken.loss == min(t.loss for t in tuning.tried)
    fixed = clone(model).set_params(**tuning.taken.settings).fit(X, y, sample_weight=w)
    assert_same(model, fixed)


@pytest.mark.parametrize("denominator", ["mle", "unbiased"])
@pytest.mark.parametrize("open_", [{"tie": "loo"}, {"shrinkage": "loo"}, {"tie": 0.5, "shrinkage": "loo"}])
def test_tie_and_shrinkage_are_the_minimum_of_refits(open_: dict[str, Any], denominator: str) -> None:
    X, y = data(CASES["LDA"], 67, ROWS)
    check_covariance(suffit.GDA(denominator=denominator, **open_).fit(X, y), X, y)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_grid_of_tie_and_shrinkage_with_weights(weighted: bool) -> None:
    X, y = data(CASES["LDA"], 71, 15)
    w = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], size=len(y)) if weighted else None
    check_covariance(suffit.GDA(tie="loo", shrinkage="loo").fit(X, y, sample_weight=w), X, y, w)


@pytest.mark.parametrize(
    "make",
    [
        lambda: suffit.GDA(tie="loo", shrinkage="loo"),
        lambda: suffit.GDA("auto", tie="loo"),
        lambda: suffit.GaussianNB(calibrate="temperature"),
        lambda: suffit.GaussianNB(calibrate="isotonic"),
        lambda: suffit.BernoulliNB(alpha="loo", binarize=2.0),
    ],
)
def test_weights_are_repetitions(make: Callable[[], Any]) -> None:
    X, y = data(CASES["LDA"], 73, 60)
    times = np.random.default_rng(4).integers(0, 4, size=len(y))
    weighed = make().fit(X, y, sample_weight=times.astype(float))
    repeated = make().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighed.predict_proba(X), repeated.predict_proba(X), rtol=1e-7, atol=1e-10)


def test_tie_beside_shrinkage_that_the_data_choose() -> None:
    X, y = data(CASES["LDA"], 73, ROWS)
    for shrinkage in ("oas", "ledoit-wolf"):
        check_covariance(suffit.GDA(tie="loo", shrinkage=shrinkage).fit(X, y), X, y)


def test_tie_and_shrinkage_with_missing_values() -> None:
    """The losses are those of complete rows under sums completed as with one shared covariance, less the row."""
    X, y = data(CASES["LDA"], 79, 60)
    X = with_holes(X, 79, 0.1)
    model = suffit.GDA(tie="loo", shrinkage="loo").fit(X, y)
    shared = suffit.MultivariateGaussian(tie=1.0)
    classes, codes = np.unique(y, return_inverse=True)
    stats = suffit.GDA(tie=0.0).fit(X, y)._model.sums
    sums = shared.completed(stats)
    for trial in model.selection_.tried[::9]:
        loss = by_hand(sums, X, codes, trial.settings["tie"], trial.settings["shrinkage"])
        assert trial.loss == pytest.approx(loss, abs=1e-9)
    assert model.selection_.taken.loss == min(t.loss for t in model.selection_.tried)
    assert len(classes) == 3


def by_hand(sums: Any, X: np.ndarray, codes: np.ndarray, tie: float, s: float) -> float:
    losses = []
    for i in np.flatnonzero(~np.isnan(X).any(axis=1)):
        n, x, xx = sums["n"].copy(), sums["x"].copy(), sums["xx"].copy()
        c, z = codes[i], X[i] - sums.origin[codes[i]]
        n[c], x[c], xx[c] = n[c] - 1, x[c] - z, xx[c] - np.outer(z, z)
        S = [xx[k] - np.outer(x[k], x[k]) / n[k] for k in range(len(n))]
        joint = []
        for k in range(len(n)):
            cov = ((1 - tie) * S[k] + tie * sum(S)) / ((1 - tie) * n[k] + tie * n.sum())
            cov = (1 - s) * cov + s * np.trace(cov) / len(cov) * np.eye(len(cov))
            joint.append(math.log(n[k]) + multivariate_normal.logpdf(X[i], sums.origin[k] + x[k] / n[k], cov))
        losses.append(np.logaddexp.reduce(joint) - joint[c])
    return float(np.mean(losses))


def test_tie_and_shrinkage_stay_in_batches_and_merges() -> None:
    X, y = data(CASES["LDA"], 83, 120)
    one = suffit.GDA(tie="loo", shrinkage="loo").fit(X[:60], y[:60])
    fixed = suffit.GDA(**one.selection_.taken.settings)
    assert_same(copy.deepcopy(one).partial_fit(X[60:], y[60:]), clone(fixed).fit(X, y))
    assert_same(one + suffit.GDA(tie="loo", shrinkage="loo").fit(X[60:], y[60:]), clone(fixed).fit(X, y))
    assert_same(copy.deepcopy(one).partial_fit(X[60:], y[60:]).forget(X[60:], y[60:]), one, rtol=1e-9)


# --- (c) structure of the covariance


# --- (d) columns that hurt


# --- (f) cross-validation


def test_searches_over_settings_that_the_data_choose() -> None:
    X, y = data(CASES["MultinomialNB"], 103, 90)
    search = GridSearchCV(
        suffit.MultinomialNB(), {"alpha": ["loo", "evidence", 1.0], "calibrate": [None, "temperature", "isotonic"]},
        cv=StratifiedKFold(3), scoring="neg_log_loss", error_score="raise",
    ).fit(X, y)  # fmt: skip
    assert len(search.cv_results_["params"]) == 9
    assert search.predict(X).shape == y.shape


# --- (h) leave-one-out is forgetting one row


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32 - 1), row=st.integers(0, 47), power=st.integers(-2, 2))
def test_leave_one_out_is_forgetting(name: str, seed: int, row: int, power: int) -> None:
    case: Case = CASES[name]
    X, y = data(case, seed % 1000, 48)
    w = np.random.default_rng(seed).choice([1.0, 2.0, 3.0], size=len(y)) * 2.0**power
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = case.make().fit(X, y, sample_weight=w)
        ours = model.loo_log_joint(X[row : row + 1], y[row : row + 1], sample_weight=w[row : row + 1])[0]
        model.forget(X[row : row + 1], y[row : row + 1], sample_weight=w[row : row + 1])
        then = model.predict_joint_log_proba(X[row : row + 1])[0]
    scale = np.maximum(1.0, np.abs(np.where(np.isfinite(then), then, 0.0)))
    np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(then))
    finite = np.isfinite(then)
    np.testing.assert_allclose((ours / scale)[finite], (then / scale)[finite], atol=1e-8)


# --- (g) bad input


X_BAD, Y_BAD = data(CASES["LDA"], 107, 30)
COUNTS, OF_COUNTS = data(CASES["MultinomialNB"], 107, 30)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: suffit.MultinomialNB(alpha=-1.0), "alpha"),
        (lambda: suffit.MultinomialNB(alpha="lo"), "alpha.*'loo'"),
        (lambda: suffit.PoissonNB(alpha="evidence"), "alpha.*'loo'"),
        (lambda: suffit.NaiveBayes(suffit.Poisson(alpha="evidence")), "alpha"),
        (lambda: suffit.CategoricalNB(alpha="temperature"), "alpha"),
        (lambda: suffit.GaussianNB(calibrate="platt"), "calibrate.*'isotonic'"),
        (lambda: suffit.GDA("diagonal", tie="loo"), "tie='loo' needs covariance='full' or 'auto'"),
        (lambda: suffit.GDA("spherical", tie="loo"), "tie='loo' needs covariance='full' or 'auto'"),
        (lambda: suffit.GDA("diagonal", shrinkage="loo"), "shrinkage='loo'.*covariance='full'"),
        (lambda: suffit.GDA(shrinkage="evidence"), "shrinkage.*'loo'"),
        (lambda: suffit.GDA(tie="evidence"), "tie"),
        (lambda: suffit.GDA(tie=1.5), "tie"),
        (lambda: suffit.GDA("full, please"), "covariance"),
        (lambda: suffit.GenerativeClassifier(select="best"), "select"),
        (
            lambda: suffit.LDA("eigen", covariance_estimator=_Covariance(), calibrate="temperature"),
            "covariance_estimator.*calibrate",
        ),
    ],
)  # fmt: skip
def test_bad_settings_are_refused_and_change_nothing(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){words}"):
        make().fit(np.abs(X_BAD), Y_BAD)
    model = _built(make)
    if model is None:
        return  # refused when it was made
    good = clone(model).set_params(**_harmless(model)).fit(np.abs(X_BAD), Y_BAD)
    before = good.predict_proba(np.abs(X_BAD))
    good.set_params(**model.get_params(deep=False))
    with pytest.raises(ValueError, match=f"(?s){words}"):
        good.fit(np.abs(X_BAD), Y_BAD)
    np.testing.assert_array_equal(good.predict_proba(np.abs(X_BAD)), before)


class _Covariance:
    """A user's covariance estimator."""

    def fit(self, X: np.ndarray) -> _Covariance:
        self.covariance_ = np.cov(X.T)
        return self

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        return {}


def _built(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except ValueError:
        return None


def _harmless(model: Any) -> dict[str, Any]:
    """Settings under which the same estimator fits."""
    usual = {"alpha": 1.0, "calibrate": None, "tie": 0.0, "shrinkage": None, "covariance": "full", "select": None}
    usual |= {"covariance_estimator": None, "solver": "svd" if isinstance(model, suffit.LDA) else None}
    return {k: v for k, v in usual.items() if k in model.get_params(deep=False)}


def test_one_row_for_each_class_is_refused() -> None:
    X, y = np.array([[1.0, 2.0], [2.0, 4.0], [5.0, 1.0]]), np.array(["a", "b", "c"])
    for make in (
        lambda: suffit.MultinomialNB(alpha="loo"),
        lambda: suffit.GaussianNB(calibrate="temperature"),
        lambda: suffit.GaussianNB(calibrate="isotonic"),
        lambda: suffit.GDA(tie="loo"),
        lambda: suffit.GDA("auto"),
        lambda: suffit.GDA(shrinkage="loo"),
        lambda: suffit.GenerativeClassifier({"x0": "gaussian", "x1": "gaussian"}, select="loo"),
    ):
        with pytest.raises(ValueError, match="at least two rows"):
            make().fit(X, y)


def test_no_complete_row_is_refused() -> None:
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, np.nan], [np.nan, 1.0]])
    for model in (suffit.GDA(tie="loo"), suffit.GDA("auto")):
        with pytest.raises(ValueError, match="needs complete rows"):
            model.fit(X, [0, 0, 1, 1])


def test_rows_that_were_not_learned_are_refused_where_it_shows() -> None:
    model = suffit.GDA().fit(X_BAD, Y_BAD)
    with pytest.raises(ValueError, match="class 'emu' was never learned; the classes are"):
        model.loo_predict_proba(X_BAD, np.full(len(Y_BAD), "emu"))
    with pytest.raises(ValueError, match="2 features"):
        model.loo_predict_proba(X_BAD[:, :2], Y_BAD)
    words = suffit.MultinomialNB().fit(COUNTS, OF_COUNTS)
    with pytest.raises(ValueError, match="leave-one-out: class 'ant' cannot have learned these rows: column 'x0'"):
        words.loo_log_joint(COUNTS * 1000, OF_COUNTS)
    with pytest.raises(ValueError, match="give only rows that were learned"):
        words.recalibrate(COUNTS * 1000, OF_COUNTS)
    assert words.calibration_ is None
    with pytest.raises(ValueError, match="covariance_estimator rows cannot be removed"):
        suffit.LDA("eigen", covariance_estimator=_Covariance()).fit(X_BAD, Y_BAD).loo_log_joint(X_BAD, Y_BAD)
    with pytest.raises(ValueError, match="covariance_estimator rows cannot be removed"):
        suffit.QDA(solver="eigen", covariance_estimator=_Covariance()).cross_val(X_BAD, Y_BAD)


@pytest.mark.parametrize("edges", [[-1.0, 0.0, 1.0], [[-1.0, 0.0, 1.0]] * 3])
def test_alpha_evidence_of_bins_however_their_edges_are_given(edges: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=200) > 0).astype(int)
    model = suffit.NaiveBayes(suffit.families.Binned(edges, alpha="evidence")).fit(X, y)
    bins = np.stack([np.searchsorted([-1.0, 0.0, 1.0], x, side="right") for x in X.T])
    tables = [np.stack([np.bincount(b[y == c], minlength=4) for c in (0, 1)]).astype(float) for b in bins]
    for trial in model.selection_.tried:
        alpha = trial.settings["alpha"]
        assert -trial.loss == pytest.approx(sum(dirichlet_evidence(t, alpha) for t in tables), rel=1e-12)
