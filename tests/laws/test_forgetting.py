"""Taking rows out undoes learning them, on data that do not vary, too: to the last row and back, over every case."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.model_selection import KFold

import suffit
from cases import CASES, FAMILIES, Case, data, mixed, normal, positive, two_classes, with_holes
from suffit import SingularClassWarning

pytestmark = pytest.mark.filterwarnings("ignore")  # rows are taken out to the last one: all there is to say is said
every_case = pytest.mark.parametrize("name", CASES)


def variants(case: Case, seed: int) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """The rows of a case as they are, with missing values, weights, columns that do not vary, far from 1 and from 0."""
    X, y = data(case, seed, n=24)
    one, rng = np.ones(len(y)), np.random.default_rng(seed)
    yield "plain", X, y, one
    if case.draw is not mixed:
        yield "missing", with_holes(X, seed, 0.15), y, one
    yield "weights", X, y, rng.choice([0.1, 0.3, 1.0, 2.5], size=len(y))
    constant = X.copy()
    j = min(1, X.shape[1] - 1)
    constant[:, j] = X[0, j]
    yield "constant", constant.copy(), y, one
    constant[7, j] = X[8, j]
    yield "constant but for one row", constant, y, one
    constant = X.copy()
    constant[y == "bee", j] = X[np.argmax(y == "bee"), j]
    yield "constant in a class", constant, y, one
    if case.draw in (normal, positive):
        yield "large", X * 1e9, y, one
        yield "small", X * 1e-9, y, one
    if case.draw is normal:
        yield "far", X + 1e6, y, one


def fitted(case: Case, X: Any, y: np.ndarray, w: np.ndarray) -> Any:
    """A fresh fit, or None where there are too few rows for one."""
    try:
        return case.make().fit(X, y, sample_weight=w)
    except ValueError as error:
        if "classes" not in str(error):
            raise
        return None


@every_case
def test_rows_forgotten_one_by_one_to_the_last_and_learned_again_leave_a_fresh_fit(name: str) -> None:
    case = CASES[name]
    for seed, (what, X, y, w) in enumerate(variants(case, 3)):
        order = np.random.default_rng(seed).permutation(len(y))
        model = case.make().fit(X, y, sample_weight=w)
        flat = what.startswith("constant") and name in ("family-gamma", "family-beta", "family-vonmises")
        atol = 1e-3 if flat else 1e-6  # of a class that never varies, these know the concentration to few digits
        for done, i in enumerate(order[:-1], start=1):
            model.forget(X[i : i + 1], y[i : i + 1], sample_weight=w[i : i + 1])
            rest = order[done:]
            if done % 10 == 0 or len(rest) < 3:
                fresh = fitted(case, X[rest], y[rest], w[rest])
                if fresh is not None:
                    np.testing.assert_allclose(
                        model.predict_proba(X), fresh.predict_proba(X), atol=atol, err_msg=f"{what}, {len(rest)} left"
                    )
        back = order[:-1]
        model.partial_fit(X[back], y[back], sample_weight=w[back])
        fresh = case.make().fit(X, y, sample_weight=w)
        np.testing.assert_allclose(model.predict_proba(X), fresh.predict_proba(X), atol=atol, err_msg=what)


@every_case
def test_a_class_that_was_emptied_and_is_learned_anew_is_as_if_it_had_not_been_there(name: str) -> None:
    case = CASES[name]
    for what, X, y, w in variants(case, 5):
        gone = np.flatnonzero(y == "bee")
        large = X.copy()
        if case.draw in (normal, positive):  # rows of another size, which the later ones must not inherit from
            large[gone] = large[gone] * 1e6
        model = case.make().fit(X, y, sample_weight=w)
        model.forget(X[gone], y[gone], sample_weight=w[gone])
        model.partial_fit(large[gone], y[gone], sample_weight=w[gone])
        for i in gone:
            model.forget(large[i : i + 1], y[i : i + 1], sample_weight=w[i : i + 1])
        assert model.classes_.tolist() == ["ant", "cat"]
        model.partial_fit(X[gone], y[gone], sample_weight=w[gone])
        fresh = case.make().fit(X, y, sample_weight=w)
        flat = what.startswith("constant") and name in ("family-gamma", "family-beta", "family-vonmises")
        # one sum of squares for all classes has held those of the large rows
        pooled = name in ("LDA", "LDA-lsqr", "GDA-shared", "GenerativeClassifier-shared")
        atol = 1e-3 if flat else 0.05 if pooled else 1e-6
        np.testing.assert_allclose(model.predict_proba(X), fresh.predict_proba(X), atol=atol, err_msg=what)


@pytest.mark.parametrize("make", [lambda: suffit.QDA(reg_param=0.1), lambda: suffit.LDA(), lambda: suffit.GDA(tie=0.5)])
def test_a_table_with_missing_values_forgets_and_leaves_out_as_a_refit_does(make: Any) -> None:
    X, y = load_wine(return_X_y=True)
    H = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)[:, :6]
    model = make().fit(H, y)
    leave_one_out = model.loo_log_joint(H[::40], y[::40])
    for at, i in enumerate(range(0, len(y), 40)):
        rest = np.arange(len(y)) != i
        fresh, forgot = make().fit(H[rest], y[rest]), make().fit(H, y).forget(H[i : i + 1], y[i : i + 1])
        np.testing.assert_allclose(forgot.predict_proba(H), fresh.predict_proba(H), atol=1e-9)
        np.testing.assert_allclose(forgot.means_, fresh.means_, rtol=1e-9)
        np.testing.assert_allclose(leave_one_out[at], fresh.predict_joint_log_proba(H[i : i + 1])[0], rtol=1e-9)
    folds = list(KFold(3, shuffle=True, random_state=0).split(H))
    proba = model.cross_val(H, y, cv=folds).proba
    for train, test in folds:
        np.testing.assert_allclose(proba[test], make().fit(H[train], y[train]).predict_proba(H[test]), atol=1e-9)


def one_complete_row(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes with missing values; the second has a single row without."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + y[:, None]
    X[np.arange(60), rng.integers(0, 3, 60)] = np.nan
    X[:30:2] = rng.normal(size=(15, 3))
    X[1] = rng.normal(size=3)
    return X, y


@pytest.mark.parametrize("make", [lambda: suffit.QDA(reg_param=0.1), lambda: suffit.LDA()])
def test_a_class_that_no_row_is_taken_from_keeps_its_sums_to_the_bit(make: Any) -> None:
    X, y = one_complete_row(0)
    before = make().fit(X, y)._model.stats
    after = make().fit(X, y).forget(X[:1], y[:1])._model.stats
    np.testing.assert_array_equal(before.origin[1], after.origin[1])
    for name in ("n", "x", "part_n", "part_x"):
        np.testing.assert_array_equal(before[name][1], after[name][1])


def test_a_pattern_without_rows_has_sums_of_exactly_0() -> None:
    X, y = one_complete_row(1)
    large = np.array([[1e4, -2e4, np.nan], [-1.7e4, 1e4, np.nan]])
    few = np.flatnonzero(~np.isnan(X).any(axis=1) | (y == 1))
    model = suffit.QDA(reg_param=0.1).fit(X[few], y[few]).partial_fit(large, [0, 0])
    model.forget(large[:1], [0]).forget(large[1:], [0])
    stats = model._model.stats
    empty = stats["part_n"] == 0
    assert not stats["part_x"][empty].any()
    assert not stats["part_xx"][empty].any()
    rest = np.setdiff1d(np.arange(60), few)
    model.partial_fit(X[rest], y[rest])
    np.testing.assert_allclose(model.predict_proba(X), suffit.QDA(reg_param=0.1).fit(X, y).predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.QDA, suffit.GDA, lambda: suffit.NaiveBayes("lognormal")])
def test_the_last_rows_of_a_class_are_never_refused(make: Any) -> None:
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = np.exp(rng.normal(size=(23, 2))), np.r_[np.zeros(20, int), 1, 1, 1]
        model = make().fit(X, y)
        for i in (20, 21):
            model.forget(X[i : i + 1], y[i : i + 1])
        assert model.forget(X[22:], y[22:])._model.classes == (0,)


def test_rows_with_missing_values_are_never_refused_one_by_one() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)) + 1e6, rng.integers(0, 3, 400)
    X[rng.random(X.shape) < 0.15] = np.nan
    model = suffit.QDA().fit(X, y)
    for i in range(380):
        model.forget(X[i : i + 1], y[i : i + 1])
    fresh = suffit.QDA().fit(X[380:], y[380:])._model.stats
    left = model._model.stats.on({**fresh.axes, "pattern": model._model.stats.axes["pattern"]}).about(fresh.origin)
    assert fresh.axes["pattern"] == model._model.stats.axes["pattern"]
    np.testing.assert_allclose(left["part_xx"], fresh["part_xx"], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-20, 1e-9, 1.0, 1e6, 1e9, 1e20])
@pytest.mark.parametrize(
    "family", [k for k, row in FAMILIES.items() if row.oracle is not None and row.support[1] == np.inf]
)
def test_amounts_of_any_size_are_forgotten_one_by_one(family: str, scale: float) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.gamma(2.0, 1.0, (16, 2)) * scale, np.r_[np.zeros(10, int), np.ones(6, int)]
        model = suffit.NaiveBayes(family).fit(X, y)
        for i in range(10, 16):
            model.forget(X[i : i + 1], y[i : i + 1])
        fresh = suffit.NaiveBayes(family).fit(X[:10], y[:10])
        np.testing.assert_allclose(model.predict_proba(X), fresh.predict_proba(X))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_rows_that_were_not_learned_are_refused_whatever_their_size(scale: float) -> None:
    X, y = np.array([[1.0, 2.0], [3.0, 5.0], [2.0, 2.5], [4.0, 7.0]]) * scale, [0, 0, 1, 1]
    wrong = np.array([[50.0, 2.0]]) * scale
    for make in (suffit.GaussianNB, suffit.QDA, suffit.LDA, suffit.PoissonNB, suffit.MultinomialNB):
        with pytest.raises(ValueError, match="cannot have learned"):
            make().fit(X, y).forget(wrong, [0])
    weight = np.full(4, scale)
    model = suffit.GaussianNB().fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="are to be forgotten"):
        model.forget(X[:3], [0, 0, 0], sample_weight=weight[:3])


def test_sums_of_pairs_know_a_column_that_no_longer_varies() -> None:
    family = suffit.MultivariateGaussian(missing="pairs")
    for tie in (0.0, 1.0):
        for seed in range(6):
            rng = np.random.default_rng(seed)
            y = np.arange(60) % 2
            X = np.c_[rng.normal(size=(60, 2)) + y[:, None], np.full(60, 0.3)]
            X[:6, 2] = rng.normal(size=6)
            X[rng.random(60) < 0.3, 0] = np.nan
            one = family if tie == 0 else suffit.MultivariateGaussian(missing="pairs", tie=1.0, pooled=True)
            model = suffit.GenerativeClassifier({("x0", "x1", "x2"): one})
            forgot = model.fit(X, y).forget(X[:6], y[:6]).predict_proba(X)
            np.testing.assert_allclose(forgot, model.fit(X[6:], y[6:]).predict_proba(X), atol=1e-9)


HUGE: dict[str, tuple[Any, float]] = {
    "gaussian": (suffit.GaussianNB, 1e12),
    "shared": (suffit.LDA, 1e12),
    "own": (suffit.QDA, 1e12),
    "missing": (suffit.QDA, 1e9),
    "shared-missing": (suffit.LDA, 1e12),
    "pairs": (lambda: suffit.GenerativeClassifier({("x0", "x1"): suffit.MultivariateGaussian(missing="pairs")}), 1e12),
    "poisson": (suffit.PoissonNB, 1e18),
    "exponential": (lambda: suffit.NaiveBayes("exponential"), 1e18),
    "geometric": (lambda: suffit.NaiveBayes("geometric"), 1e18),
    "gamma": (lambda: suffit.NaiveBayes("gamma"), 1e18),
    "multinomial": (suffit.MultinomialNB, 1e18),
    "complement": (suffit.ComplementNB, 1e18),
}


@pytest.mark.parametrize("what", HUGE)
def test_digits_lost_to_far_larger_rows_are_said(what: str) -> None:
    make, size = HUGE[what]
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.gamma(2.0, 1.0, size=(60, 2)) + y[:, None]
    large = X[:10] * size
    if what in ("missing", "shared-missing", "pairs"):
        X[::3, 0], large[:, 0] = np.nan, np.nan
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        make().fit(X, y).partial_fit(large, y[:10]).forget(large, y[:10])
    assert any("few digits" in str(one.message) for one in said)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        make().fit(X, y).forget(X[:10], y[:10])
    assert not any("few digits" in str(one.message) for one in said)


def test_forgetting_the_only_1_of_an_indicator_says_nothing_of_digits() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = np.c_[rng.normal(size=40), np.zeros(40)]
    X[[0, 3, 5, 7], 1] = 1.0  # one of the first class
    for make in (suffit.GaussianNB, suffit.LDA, suffit.QDA):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            make().fit(X, y).forget(X[:1], y[:1])
        assert not any("few digits" in str(one.message) for one in said)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("make", [suffit.MultinomialNB, suffit.ComplementNB])
def test_documents_give_their_words_back(make: Any, alpha: float) -> None:
    rng = np.random.default_rng(2)
    documents = [rng.geometric(0.2, size=rng.integers(0, 6)) - 1 for _ in range(20)]
    y = np.arange(20) % 3
    whole = make(input="sequences", alpha=alpha).fit(documents, y)
    leave_one_out = whole.loo_predict_proba(documents, y)
    proba = whole.cross_val(documents, y, cv=KFold(5)).proba
    for i in range(20):
        rest = [j for j in range(20) if j != i]
        fresh = make(input="sequences", alpha=alpha).fit([documents[j] for j in rest], y[rest])
        forgot = make(input="sequences", alpha=alpha).fit(documents, y).forget([documents[i]], y[i : i + 1])
        assert forgot.n_features_in_ == fresh.n_features_in_
        np.testing.assert_allclose(forgot.predict_proba(documents), fresh.predict_proba(documents), atol=1e-12)
        np.testing.assert_allclose(leave_one_out[i], fresh.predict_proba([documents[i]])[0], atol=1e-12)
    for train, test in KFold(5).split(y):
        fresh = make(input="sequences", alpha=alpha).fit([documents[j] for j in train], y[train])
        np.testing.assert_allclose(proba[test], fresh.predict_proba([documents[j] for j in test]), atol=1e-12)


def test_more_counts_than_there_is_room_for_are_refused() -> None:
    with pytest.raises(ValueError, match="word ids up to 60000000 and 2 classes make 120000002 counts"):
        suffit.MultinomialNB(input="sequences").fit([[60_000_000], [1], [2]], [0, 1, 1])
    model = suffit.MultinomialNB(input="sequences").fit([[1_000_000], [1], [2]], [0, 1, 1])
    with pytest.raises(ValueError, match="3 classes make"):
        model.partial_fit([[20_000_000]], [2])
    assert model.predict([[60_000_000, 1]]).tolist() == [1]
    assert model.forget([[1_000_000]], [0]).n_features_in_ == 3


def test_leave_one_out_of_a_single_normed_word_is_a_refit() -> None:
    X, y = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 0, 1, 1])
    leave_one_out = suffit.ComplementNB(norm=True).fit(X, y).loo_predict_proba(X, y)
    for i in range(4):
        rest = np.arange(4) != i
        fresh = suffit.ComplementNB(norm=True).fit(X[rest], y[rest])
        np.testing.assert_allclose(leave_one_out[i], fresh.predict_proba(X[i : i + 1])[0])


@pytest.mark.parametrize("family", ["poisson", "exponential", "gamma"])
def test_leave_one_out_of_a_row_far_larger_than_the_others_is_a_refit(family: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.gamma(2.0, 1.0, size=(20, 2)), np.arange(20) % 2
    X[0] = 1e11
    leave_one_out = suffit.NaiveBayes(family).fit(X, y).loo_log_joint(X, y)
    fresh = suffit.NaiveBayes(family).fit(X[1:], y[1:])
    np.testing.assert_allclose(leave_one_out[0], fresh.predict_joint_log_proba(X[:1])[0], rtol=1e-4)


SPARSE = [
    suffit.GaussianNB,
    suffit.BernoulliNB,
    suffit.MultinomialNB,
    suffit.ComplementNB,
    suffit.PoissonNB,
    suffit.LDA,
    suffit.QDA,
]


@pytest.mark.parametrize("make", SPARSE)
@pytest.mark.parametrize("missing", [False, True])
def test_what_users_hand_in_is_as_it_was(make: Any, missing: bool) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    dense = rng.poisson(1.0, size=(20, 3)).astype(float)
    X = sparse.csr_matrix(dense)
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):  # entries in an order of their own
        X.indices[a:b], X.data[a:b] = X.indices[a:b][::-1].copy(), X.data[a:b][::-1].copy()
    X.has_sorted_indices = False
    if missing:
        X.data[::9], dense[::9, 0] = np.nan, np.nan
    before = X.indices.copy(), X.data.copy(), X.indptr.copy(), dense.copy()
    for rows in (X, dense):
        model = make().fit(rows, y)
        model.partial_fit(rows[:5], y[:5]).forget(rows[:5], y[:5])
        for call in ("predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples", "explain"):
            getattr(model, call)(rows)
        for call in ("loo_predict_proba", "loo_log_joint", "recalibrate", "cross_val"):
            getattr(model, call)(rows, y)
    for was, now in zip(before, (X.indices, X.data, X.indptr, dense), strict=True):
        np.testing.assert_array_equal(was, now)


SHRUNK = {
    "oas": lambda: suffit.GDA(shrinkage="oas"),
    "ledoit-wolf": lambda: suffit.GDA(shrinkage="ledoit-wolf"),
    "tied": lambda: suffit.GDA(tie=0.4, shrinkage="ledoit-wolf"),
    "lda-auto": lambda: suffit.LDA("eigen", "auto"),
    "qda-auto": lambda: suffit.QDA(solver="eigen", shrinkage="auto"),
    "diagonal": lambda: suffit.GenerativeClassifier(
        {("x0", "x1", "x2"): suffit.MultivariateGaussian(shrinkage=0.3, target="diagonal")}
    ),
    "diagonal-tied": lambda: suffit.GenerativeClassifier(
        {("x0", "x1", "x2"): suffit.MultivariateGaussian(tie=0.5, shrinkage=0.3, target="diagonal")}
    ),
}


@pytest.mark.parametrize("name", SHRUNK)
def test_loo_where_a_column_is_constant_without_the_row(name: str) -> None:
    make = SHRUNK[name]
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = np.arange(40) % 2
        X = np.c_[rng.normal(size=(40, 2)) + y[:, None], np.zeros(40)]
        X[3, 2] = rng.choice([1.0, 0.1, 0.3, 7.7])
        X[[2, 4, 6], 2] = 1.3
        leave_one_out = make().fit(X, y).loo_log_joint(X, y)
        for i in (2, 3):
            rest = np.arange(40) != i
            fresh = make().fit(X[rest], y[rest]).predict_joint_log_proba(X[i : i + 1])[0]
            np.testing.assert_allclose(leave_one_out[i], fresh, rtol=1e-9)


@pytest.mark.parametrize("name", SHRUNK)
def test_loo_with_a_class_of_two_rows(name: str) -> None:
    make = SHRUNK[name]
    for seed in range(6):
        X, y = np.random.default_rng(seed).normal(size=(32, 3)), np.r_[np.zeros(30, int), 1, 1]
        leave_one_out = make().fit(X, y).loo_log_joint(X, y)
        assert np.isfinite(make().set_params(calibrate="temperature").fit(X, y).predict_proba(X)).all()
        for i in (0, 30, 31):
            rest = np.arange(32) != i
            fresh = make().fit(X[rest], y[rest]).predict_joint_log_proba(X[i : i + 1])[0]
            np.testing.assert_allclose(leave_one_out[i], fresh, rtol=1e-9)


def table(rng: np.random.Generator, n: int) -> np.ndarray:
    """Columns of every kind, with a rare category, an indicator that is hardly ever 1, and a constant."""
    X = np.empty((n, 6), dtype=object)
    X[:, 0], X[:, 1] = rng.normal(size=n), np.exp(rng.normal(size=n))
    X[:, 2] = rng.poisson(3.0, size=n)
    X[:, 3] = rng.choice(["red", "green", "blue", "rare"], p=[0.5, 0.3, 0.17, 0.03], size=n)
    X[:, 4], X[:, 5] = (rng.random(n) < 0.04).astype(float), 0.3
    return X


@pytest.mark.parametrize("structure", ["naive", "auto"])
def test_tables_that_learn_merge_and_forget_in_any_sequence_are_fresh_fits(structure: str) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = table(rng, 90), rng.integers(0, 3, 90)
        first = suffit.GenerativeClassifier(structure=structure).fit(X, y)
        make = suffit.GenerativeClassifier(columns=first.schema_, structure=structure)
        model, have = make.fit(X, y), set(range(90))
        for _ in range(12):
            some = rng.choice(90, size=rng.integers(1, 20), replace=False)
            out = [i for i in some if i in have]
            back = [i for i in range(90) if i not in have][: rng.integers(1, 20)]
            if len(have) - len(out) >= 10 and out and rng.random() < 0.6:
                for i in out[:3]:
                    model.forget(X[[i]], y[[i]])
                model = model.forget(X[out[3:]], y[out[3:]]) if out[3:] else model
                have -= set(out)
            elif back:
                model = model.partial_fit(X[back], y[back])
                have |= set(back)
        rest = sorted(have)
        fresh = suffit.GenerativeClassifier(columns=first.schema_, structure=structure).fit(X[rest], y[rest])
        for mine, theirs in zip(model._model.stats.parts, fresh._model.stats.parts, strict=True):
            assert mine.isclose(theirs, rtol=1e-9)


def test_forgetting_far_larger_rows_is_said_to_cost_digits():
    X, y = two_classes(100)
    model = suffit.GaussianNB().fit(np.r_[X, [[1e9, 1e9]]], np.r_[y, 0])
    with pytest.warns(SingularClassWarning, match="few digits"):
        model.forget([[1e9, 1e9]], [0])


def test_forgetting_a_huge_count_keeps_the_small_ones():
    model = suffit.MultinomialNB().fit([[1, 10**10], [1, 1], [3, 1]], ["a", "b", "a"])
    assert model.forget([[1, 10**10]], ["a"]).feature_count_.tolist() == [[3, 1], [1, 1]]
    heavy = suffit.GaussianNB().fit([[1.0], [2.0], [5.0]], ["a", "a", "b"], sample_weight=[1, 1e10, 1])
    assert heavy.forget([[2.0]], ["a"], sample_weight=[1e10]).classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("scale", [1e-15, 1e-30, 1e12])
def test_what_rounding_is_depends_on_the_values_alone(scale: float) -> None:
    """Rates of events in seconds or in years: sums of tiny values are not taken for rounding."""
    rng, y = np.random.default_rng(0), np.arange(24) % 3
    X = (rng.gamma(2.0, 1.5, (24, 3)) + 0.01) * scale
    model = suffit.NaiveBayes("exponential").fit(X, y)
    for i in range(10):
        model.forget(X[i : i + 1], y[i : i + 1])
    fresh = suffit.NaiveBayes("exponential").fit(X[10:], y[10:])
    np.testing.assert_allclose(model.predict_proba(X), fresh.predict_proba(X), atol=1e-9)
