"""Fewer rows than columns: LDA, QDA and GDA in the space of the rows, beside the same models from p × p moments."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings

import mpmath
import numpy as np
import pytest
import sklearn.discriminant_analysis as peer
from scipy import sparse

import suffit
from suffit.data.errors import InputError
from suffit.families.gaussian.few_rows import kept as few_rows

MODELS = {
    "LDA": lambda: suffit.LDA(),
    "LDA tol": lambda: suffit.LDA(tol=0.5),
    "LDA eigen": lambda: suffit.LDA(solver="eigen"),
    "LDA eigen 0.3": lambda: suffit.LDA(solver="eigen", shrinkage=0.3),
    "LDA eigen auto": lambda: suffit.LDA(solver="eigen", shrinkage="auto"),
    "LDA lsqr auto": lambda: suffit.LDA(solver="lsqr", shrinkage="auto"),
    "LDA by prior": lambda: suffit.LDA(solver="lsqr", shrinkage=0.1, priors=[0.2, 0.5, 0.3]),
    "QDA": lambda: suffit.QDA(),
    "QDA ridge": lambda: suffit.QDA(reg_param=0.1),
    "QDA eigen auto": lambda: suffit.QDA(solver="eigen", shrinkage="auto"),
    **{
        f"GDA {tie} {shrinkage} {over}": lambda tie=tie, shrinkage=shrinkage, over=over: suffit.GDA(
            tie=tie, shrinkage=shrinkage, denominator=over
        )
        for tie in (0.0, 0.4, 1.0)
        for shrinkage in (None, 0.2, "oas", "ledoit-wolf")
        for over in ("mle", "unbiased")
    },
}
TUNED = {
    "LDA loo": lambda: suffit.LDA(solver="lsqr", shrinkage="loo"),
    "GDA loo": lambda: suffit.GDA(tie="loo", shrinkage="loo"),
    "GDA oas": lambda: suffit.GDA(tie="loo", shrinkage="oas"),
    "GDA auto": lambda: suffit.GDA("auto", tie="loo", shrinkage="loo"),
    "calibrated": lambda: suffit.LDA(solver="lsqr", shrinkage=0.2, calibrate="temperature"),
}
KINDS = ("plain", "constant", "weighted", "scaled")

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # fewer rows than columns


def data(n, p, kind="plain", seed=0):
    """Three classes, weights, and rows to predict: those learned and others."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, p)) + 0.5 * y[:, None]
    new = rng.normal(size=(10, p))
    w = rng.integers(1, 4, size=n) * 0.5 if kind == "weighted" else None
    if kind == "constant":
        X[:, :5], X[:, 5], X[:, 6] = 0.1, y, X[:, 7]
        X[y == 0, 8] = 0.3
        X[1:, 9] = 2.5
    if kind == "scaled":
        unit = 10.0 ** rng.integers(-9, 9, size=p)
        X, new = X * unit + 1e3 * unit, new * unit + 1e3 * unit
    return X, y, w, np.vstack([X, new])


@pytest.fixture
def kept(monkeypatch):
    """A switch: whether few rows are kept themselves, however few columns they have, or never."""

    def switch(on):
        monkeypatch.setattr(few_rows, "LEAST_COLUMNS", 1 if on else 1 << 60)

    return switch


def both(kept, make, X, y, w=None):
    """The same model from p × p moments, and from the rows."""
    found = []
    for on in (False, True):
        kept(on)
        found.append(make().fit(X, y, sample_weight=w))
        assert few_rows.is_kept(found[-1]._model.sums) == (
            on and found[-1]._model.family.key == "multivariate_gaussian"
        )
    return found


def off(a, b):
    a, b = np.asarray(a), np.asarray(b)
    same = a == b  # infinities
    return float((np.abs(np.where(same, 0.0, a) - np.where(same, 0.0, b)) / (1 + np.abs(np.where(same, 0.0, a)))).max())


@pytest.mark.parametrize("name", MODELS)
def test_few_rows_give_the_densities_of_the_moments(kept, name):
    for n, p in ((6, 40), (20, 100)):
        for kind in KINDS:
            if (name, kind) == ("QDA ridge", "scaled"):
                continue  # a ridge of 0.1 beside variances of 1e18: the moments have no digit of it
            X, y, w, new = data(n, p, kind)
            dense, wide = both(kept, MODELS[name], X, y, w)
            assert np.abs(dense.predict_proba(new) - wide.predict_proba(new)).max() < 1e-9
            assert off(dense.predict_joint_log_proba(new), wide.predict_joint_log_proba(new)) < 1e-9
            assert off(dense.score_samples(new), wide.score_samples(new)) < 1e-9


@pytest.mark.parametrize("name", MODELS)
def test_few_rows_have_the_attributes_of_the_moments(kept, name):
    X, y, _, new = data(20, 100)
    dense, wide = both(kept, MODELS[name], X, y)
    for what in ("means_", "priors_", "coef_", "intercept_", "xbar_", "explained_variance_ratio_", "n_parameters_"):
        if hasattr(dense, what):
            assert off(getattr(dense, what), getattr(wide, what)) < 1e-9, what
    if hasattr(dense, "covariance_"):
        assert off(dense.covariance_, wide.covariance_) < 1e-9
    assert off(dense.decision_function(new), wide.decision_function(new)) < 1e-9
    assert off(dense.bic(X, y), wide.bic(X, y)) < 1e-9
    assert off(dense.summary().log_likelihood, wide.summary().log_likelihood) < 1e-9
    assert off(dense.explain(new).parts, wide.explain(new).parts) < 1e-7
    a, b = dense.logistic_form(), wide.logistic_form()
    assert off(a.scores(new), b.scores(new)) < 1e-8
    if hasattr(dense, "scalings_") and hasattr(dense, "transform"):
        a, b = dense.transform(new), wide.transform(new)
        assert off(a, b * np.sign((a * b).sum(axis=0))) < 1e-8
    assert wide.sample(5, random_state=0)[0].shape == (5, 100)


@pytest.mark.parametrize("name", [*MODELS, *TUNED])
def test_leave_one_out_of_few_rows_is_that_of_the_moments(kept, name):
    make = MODELS.get(name) or TUNED[name]
    for kind in KINDS[:3]:
        X, y, w, new = data(12, 40, kind)
        dense, wide = both(kept, make, X, y, w)
        kept(False)
        want = dense.loo_log_joint(X, y, sample_weight=w)
        kept(True)
        assert off(want, wide.loo_log_joint(X, y, sample_weight=w)) < 1e-8
        assert dense._model.family == wide._model.family
        if name == "calibrated":
            assert np.abs(dense.predict_proba(new) - wide.predict_proba(new)).max() < 1e-9


@pytest.mark.parametrize("name", ["LDA", "LDA eigen 0.3", "LDA lsqr auto", "QDA", "QDA ridge", "GDA 0.4 oas mle"])
def test_leave_one_out_of_few_rows_is_that_of_a_refit(name):
    make = MODELS[name]
    X, y, w, _ = data(15, 90, "weighted")
    got = make().fit(X, y, sample_weight=w).loo_log_joint(X, y, sample_weight=w)
    for i in (0, 7, 14):
        rest = np.arange(15) != i
        again = make().fit(X[rest], y[rest], sample_weight=w[rest]).predict_joint_log_proba(X[i : i + 1])
        assert off(again[0], got[i]) < 1e-9


@pytest.mark.parametrize("name", ["LDA", "LDA eigen auto", "QDA", "QDA ridge", "GDA 0.4 0.2 mle"])
def test_few_rows_are_merged_forgotten_weighed_and_in_any_order(name):
    make = MODELS[name]
    X, y, w, new = data(24, 120, "weighted")
    whole = make().fit(X, y, sample_weight=w)
    P = whole.predict_proba(new)
    parts = [make().fit(X[a::2], y[a::2], sample_weight=w[a::2]) for a in (0, 1)]
    assert np.array_equal((parts[0] + parts[1]).predict_proba(new), P)
    batches = make()
    for a in range(0, 24, 6):
        batches.partial_fit(X[a : a + 6], y[a : a + 6], classes=[0, 1, 2], sample_weight=w[a : a + 6])
    assert np.array_equal(batches.predict_proba(new), P)
    mixed = np.random.default_rng(1).permutation(24)
    assert np.array_equal(make().fit(X[mixed], y[mixed], sample_weight=w[mixed]).predict_proba(new), P)
    twice = make().fit(np.vstack([X, X]), np.r_[y, y], sample_weight=np.r_[w, w] / 2)
    assert np.array_equal(twice.predict_proba(new), P)
    less = pickle.loads(pickle.dumps(whole)).forget(X[:5], y[:5], sample_weight=w[:5])
    again = make().fit(X[5:], y[5:], sample_weight=w[5:])
    assert np.array_equal(less.predict_proba(new), again.predict_proba(new))
    assert np.array_equal(less.partial_fit(X[:5], y[:5], sample_weight=w[:5]).predict_proba(new), P)


@pytest.mark.parametrize("name", ["LDA", "LDA lsqr auto", "QDA"])
def test_rows_turn_into_moments_once_they_are_many_and_back_no_more(name):
    X, y, _, new = data(90, 80)
    model = MODELS[name]()
    for i in range(0, 90, 6):
        model.partial_fit(X[i : i + 6], y[i : i + 6], classes=[0, 1, 2])
        assert few_rows.is_kept(model._model.sums) == (i + 6 <= 40)
    assert off(MODELS[name]().fit(X, y).predict_proba(new), model.predict_proba(new)) < 1e-9
    model.forget(X[:70], y[:70])
    assert off(MODELS[name]().fit(X[70:], y[70:]).predict_proba(new), model.predict_proba(new)) < 1e-7


def test_rows_forgotten_one_by_one_leave_nothing_and_come_back():
    for kind in KINDS:
        X, y, w, new = data(12, 70, kind)
        w = np.ones(12) if w is None else w
        model = suffit.QDA().fit(X, y, sample_weight=w)
        P = model.predict_proba(new)
        for i in range(11):
            model.forget(X[i : i + 1], y[i : i + 1], sample_weight=w[i : i + 1])
        assert model.classes_.tolist() == [y[11]]
        assert len(model._model.sums.axes[few_rows.ROW]) == 1
        assert np.array_equal(model.partial_fit(X[:11], y[:11], sample_weight=w[:11]).predict_proba(new), P)


def test_a_row_that_was_never_learned_is_refused_with_its_class():
    X, y, _, _ = data(12, 70)
    model = suffit.LDA().fit(X, y)
    with pytest.raises(InputError, match=r"a row of class 1 was never learned \(it begins"):
        model.forget(X[:1], [1])
    with pytest.raises(InputError, match="was never learned"):
        model.forget(X[:1] + 1e-3, y[:1])
    with pytest.raises(InputError, match="learned with weight 1 only"):
        model.forget(X[:1], y[:1], sample_weight=[2.0])
    assert np.array_equal(model.predict_proba(X), suffit.LDA().fit(X, y).predict_proba(X))


def test_decay_and_a_class_that_comes_later():
    X, y, _, new = data(12, 70)
    old = suffit.GDA(tie=0.3).fit(X[y < 2], y[y < 2])
    old.decay(0.5)
    old.partial_fit(X[y == 2], y[y == 2])
    w = np.where(y < 2, 0.5, 1.0)
    assert off(old.predict_proba(new), suffit.GDA(tie=0.3).fit(X, y, sample_weight=w).predict_proba(new)) < 1e-12


def test_sparse_and_single_precision_rows_are_the_same_rows():
    X, y, _, new = data(12, 70)
    X[X < 0.3] = 0.0
    for make in (MODELS["LDA"], MODELS["LDA eigen 0.3"], MODELS["QDA"]):
        dense, thin = make().fit(X, y), make().fit(sparse.csr_matrix(X), y)
        assert np.array_equal(dense.predict_proba(new), thin.predict_proba(new))
        assert off(dense.predict_joint_log_proba(new), thin.predict_joint_log_proba(sparse.csr_matrix(new))) < 1e-9
    single = X.astype(np.float32)
    model = suffit.QDA().fit(single, y)
    assert np.array_equal(model.predict_proba(new), suffit.QDA().fit(single.astype(float), y).predict_proba(new))
    assert model.forget(single[:3].astype(float), y[:3])._model.counts["n"].tolist() == [3, 3, 3]


def test_missing_values_at_prediction_are_marginalised(kept):
    X, y, _, new = data(12, 70)
    gaps = np.where(np.random.default_rng(5).random(new.shape) < 0.3, np.nan, new)[8:14]
    for name in ("LDA eigen 0.3", "LDA lsqr auto", "QDA", "QDA ridge", "GDA 0.4 oas mle"):
        dense, wide = both(kept, MODELS[name], X, y)
        assert np.abs(dense.predict_proba(gaps) - wide.predict_proba(gaps)).max() < 1e-9
        assert off(dense.predict_joint_log_proba(gaps), wide.predict_joint_log_proba(gaps)) < 1e-9
        assert off(dense.explain(gaps).parts, wide.explain(gaps).parts) < 1e-7
        P, codes = wide.predict_proba(gaps), np.zeros(len(gaps), np.int32)
        assert off(dense._scorer().filled(gaps, P), wide._scorer().filled(gaps, P)) < 1e-8
        drawn = wide._scorer().drawn(gaps, codes, np.random.default_rng(0))
        assert np.array_equal(drawn[~np.isnan(gaps)], gaps[~np.isnan(gaps)])
        assert np.isfinite(drawn).all()
    for name in ("LDA", "LDA eigen"):  # nothing varies outside of the rows: the columns that are there are a model too
        there = ~np.isnan(gaps[0])
        whole = MODELS[name]().fit(X, y).predict_proba(gaps[:1])
        assert off(whole, MODELS[name]().fit(X[:, there], y).predict_proba(gaps[:1, there])) < 1e-9


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_missing_values_at_fit_take_the_way_they_always_took_or_are_refused_in_words(kept):
    X, y, _, new = data(30, 64)
    X[[0, 1, 7], [3, 9, 9]] = np.nan
    make = MODELS["LDA eigen 0.3"]
    dense, wide = both(kept, make, X, y)
    assert off(dense.predict_proba(new[30:]), wide.predict_proba(new[30:])) < 1e-6
    wide.forget(X[:3], y[:3])
    kept(True)
    assert off(make().fit(X[3:], y[3:]).predict_proba(new[30:]), wide.predict_proba(new[30:])) < 1e-9
    X, y, _, _ = data(6, 5000)
    X[0, 0] = np.nan
    tracemalloc.start()
    for model in (suffit.LDA(), suffit.QDA(), suffit.GDA(tie=0.5)):
        with pytest.raises(InputError, match=r"missing values in 5000 columns .* impute them first"):
            model.fit(X, y)
    assert tracemalloc.get_traced_memory()[1] < 40 * X.nbytes
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["LDA", "LDA eigen 0.3", "LDA lsqr auto", "QDA", "QDA ridge", "GDA 0.4 oas mle"])
def test_room_is_that_of_the_rows(name):
    X, y, _, _ = data(9, 6000)
    model = MODELS[name]()
    tracemalloc.start()
    model.fit(X, y)
    model.predict_proba(X)
    model.loo_log_joint(X, y)
    assert tracemalloc.get_traced_memory()[1] < 60 * X.nbytes  # p × p would be 670 times as much
    tracemalloc.stop()
    assert len(pickle.dumps(model)) < 1.2 * X.nbytes + 50_000
    if name.startswith("QDA"):
        with pytest.raises(InputError, match="quadratic form of 6000 columns"):
            model.logistic_form()


def test_lda_of_few_rows_is_scikit_learns():
    for n, p in ((20, 150), (12, 400)):
        X, y, _, new = data(n, p)
        ours, theirs = suffit.LDA().fit(X, y), peer.LinearDiscriminantAnalysis().fit(X, y)
        assert np.array_equal(ours.predict(new), theirs.predict(new))
        assert off(theirs.decision_function(new), ours.decision_function(new)) < 1e-8
        a, b = theirs.transform(new), ours.transform(new)
        assert off(a, b * np.sign((a * b).sum(axis=0))) < 1e-8
        ours = suffit.LDA(solver="lsqr", shrinkage=0.2).fit(X, y)
        theirs = peer.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2).fit(X, y)
        assert off(theirs.decision_function(new), ours.decision_function(new)) < 1e-8


def test_densities_with_next_to_no_shrinkage_keep_their_digits():
    """Against 50 digits: with a share of 1e-7 of I the moments have lost half of theirs."""
    n, p, s = 6, 30, 1e-7
    X, y, _, new = data(n, p)
    few = new[[0, 8]]
    with mpmath.workdps(50):
        x = [[mpmath.mpf(float(v)) for v in row] for row in X]
        means = [[sum(x[i][j] for i in range(n) if y[i] == c) / 2 for j in range(p)] for c in range(3)]
        S = mpmath.zeros(p, p)
        for i in range(n):
            z = mpmath.matrix([a - b for a, b in zip(x[i], means[y[i]], strict=True)])
            S += z * z.T / n
        trace = sum(S[j, j] for j in range(p)) / p
        S = (1 - mpmath.mpf(s)) * S + mpmath.mpf(s) * trace * mpmath.eye(p)
        want, log_det = np.empty((2, 3)), mpmath.log(mpmath.det(S))
        for i, row in enumerate(few):
            for c in range(3):
                z = mpmath.matrix([mpmath.mpf(float(v)) - m for v, m in zip(row, means[c], strict=True)])
                square = (z.T * mpmath.lu_solve(S, z))[0]
                want[i, c] = -(square + log_det + p * mpmath.log(2 * mpmath.pi)) / 2 - mpmath.log(3)
    old = few_rows.LEAST_COLUMNS
    few_rows.LEAST_COLUMNS = 1
    try:
        got = suffit.LDA(solver="lsqr", shrinkage=s).fit(X, y).predict_joint_log_proba(few)
    finally:
        few_rows.LEAST_COLUMNS = old
    assert off(want, got) < 1e-9


def test_few_columns_that_vary_among_many_that_do_not(kept):
    X, y, _, new = data(20, 60)
    X[:, 3:] = 7.0
    new[:20] = X
    for make in (MODELS["LDA"], MODELS["QDA"], MODELS["GDA 0.4 oas mle"]):
        dense, wide = both(kept, make, X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            make().fit(X, y)
        assert off(dense.predict_joint_log_proba(new), wide.predict_joint_log_proba(new)) < 1e-9


def test_one_row_of_a_class_and_rows_that_are_all_alike(kept):
    X, y, _, new = data(12, 70)
    y = np.where(np.arange(12) == 11, 2, np.arange(12) % 2)
    for name in ("LDA", "LDA lsqr auto", "QDA", "QDA ridge", "GDA 0.4 oas mle"):
        dense, wide = both(kept, MODELS[name], X, y)
        assert np.abs(dense.predict_proba(new) - wide.predict_proba(new)).max() < 1e-9
    X[:] = X[0]
    for name in ("LDA", "QDA"):
        dense, wide = both(kept, MODELS[name], X, y)
        assert np.abs(dense.predict_proba(new) - wide.predict_proba(new)).max() < 1e-12


def test_draws_have_the_covariance_of_the_model():
    X, y, _, _ = data(12, 70)
    for name in ("LDA", "LDA lsqr auto", "QDA"):
        model = MODELS[name]().fit(X, y)
        drawn, labels = model.sample(10_000, y=np.zeros(10_000, int), random_state=0)
        assert (labels == 0).all()
        got, want = np.cov(drawn.T, bias=True), model._scorer().covariances()[0]
        assert np.abs(got - want).max() < 0.1 * np.diagonal(want).max()
        part = np.full((10_000, 70), np.nan)
        part[:, :30] = X[0, :30]
        whole = model._scorer().drawn(part, np.zeros(10_000, np.int32), np.random.default_rng(0))
        mean = model._scorer().filled(part[:1], np.array([[1.0, 0.0, 0.0]]))[0]
        assert np.abs(whole.mean(axis=0) - mean).max() < 0.1


def test_cross_validation_and_logistic_regression_take_few_rows(kept):
    X, y, _, new = data(21, 60)
    for name in ("LDA eigen 0.3", "QDA", "QDA ridge"):
        found = []
        for on in (False, True):
            kept(on)
            found.append(MODELS[name]().cross_val(X, y, cv=3).proba)
        assert off(*found) < 1e-9
    linear = suffit.LDA().fit(X, y).to_sklearn()
    assert off(linear.predict_proba(new), suffit.LDA().fit(X, y).predict_proba(new)) < 1e-9


def test_a_value_that_is_no_number_or_too_large_is_named():
    X, y, _, _ = data(12, 70)
    X[3, 4] = np.inf
    with pytest.raises(InputError, match="infinity"):
        suffit.LDA().fit(X, y)
    X[3, 4] = 1e200
    with pytest.raises(InputError, match="powers overflow"):
        suffit.QDA().fit(X, y)


def test_classes_whose_covariance_is_mended_are_named():
    x = np.random.default_rng(0).normal(size=(60, 2))
    X, y = np.column_stack([x, x[:, 0] * 2]), np.repeat(["a", "b"], 30)
    with pytest.warns(
        suffit.SingularClassWarning, match=r"^The covariances of the classes 'a', 'b' are not of full rank"
    ):
        suffit.QDA().fit(X, y)
    X[y == "b", 2] = x[30:, 1] ** 2
    with pytest.warns(suffit.SingularClassWarning, match="^The covariance matrix of class 'a' is not full rank"):
        suffit.QDA().fit(X, y)
