"""Bad input to every public estimator: a clear error that changes nothing, or a documented answer; no NaN."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB
from sklearn.utils import get_tags

import suffit
from suffit import (
    GDA,
    LDA,
    QDA,
    Bernoulli,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    Gamma,
    Gaussian,
    GaussianNB,
    GenerativeClassifier,
    InputError,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    VonMises,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

NAMED = [
    "gaussian",
    "lognormal",
    "bernoulli",
    "poisson",
    "exponential",
    "geometric",
    "gamma",
    "beta",
    "vonmises",
]

CORE = {
    "GaussianNB": GaussianNB(),
    "BernoulliNB": BernoulliNB(binarize=0.5),
    "MultinomialNB": MultinomialNB(),
    "ComplementNB": ComplementNB(),
    "CategoricalNB": CategoricalNB(),
    "PoissonNB": PoissonNB(),
    **{f"NaiveBayes-{key}": NaiveBayes(key) for key in NAMED},
    "GDA": GDA(),
    "GDA-diagonal": GDA("diagonal"),
    "GDA-spherical": GDA("spherical"),
    "GDA-tied": GDA(tie=1),
    "GDA-diagonal-tied": GDA("diagonal", tie=1),
    "GDA-ledoit-wolf": GDA(shrinkage="ledoit-wolf"),
    "LDA": LDA(),
    "LDA-lsqr": LDA("lsqr"),
    "LDA-eigen": LDA("eigen"),
    "LDA-estimator": LDA("eigen", covariance_estimator=EmpiricalCovariance()),
    "QDA": QDA(),
    "QDA-eigen": QDA(solver="eigen", shrinkage="auto"),
    "QDA-estimator": QDA(solver="eigen", covariance_estimator=EmpiricalCovariance()),
    "GenerativeClassifier": GenerativeClassifier(),
}
VARIANTS = {
    **CORE,
    "GaussianNB-bare": GaussianNB(var_smoothing=0),
    "GaussianNB-largest": GaussianNB(floor="largest"),
    "BernoulliNB-0": BernoulliNB(alpha=0),
    "MultinomialNB-0": MultinomialNB(alpha=0),
    "ComplementNB-0": ComplementNB(alpha=0),
    "ComplementNB-norm": ComplementNB(norm=True),
    "CategoricalNB-0": CategoricalNB(alpha=0),
    "PoissonNB-0": PoissonNB(alpha=0),
    **{
        f"GDA-full-{tie}-{s}": GDA(tie=tie, shrinkage=s)
        for tie in (0, 0.5, 1)
        for s in (None, 0.3, "ledoit-wolf", "oas")
    },
    **{
        f"GDA-{kind}-{tie}-{s}": GDA(kind, tie=tie, shrinkage=s)
        for kind in ("diagonal", "spherical")
        for tie in (0, 0.5, 1)
        for s in (None, 0.3)
    },
    "GDA-unbiased": GDA(denominator="unbiased"),
    "LDA-lsqr-auto": LDA("lsqr", "auto"),
    "LDA-eigen-0.3": LDA("eigen", 0.3),
    "LDA-lsqr-uniform": LDA("lsqr", priors="uniform"),
    "QDA-reg": QDA(reg_param=0.1),
}
BATCHED = [k for k in CORE if "estimator" not in k]  # a covariance estimator takes no batches

# values in (0, 1), some of them equal, lie in the support of every family (categories and shares included)
rng = np.random.default_rng(0)
Y = np.repeat(["a", "b", "c"], 8)
X = np.round(rng.beta(2 + 2 * np.repeat([0, 1, 2], 8)[:, None], 4, (24, 3)).clip(0.1, 0.9), 1)
COLUMNS = ["one", "two", "three"]


def frame(values):
    return pd.DataFrame(values, columns=COLUMNS)


def fitted(name, X=X, y=Y, *, all_estimators=VARIANTS, **params):
    return clone(all_estimators[name]).set_params(**params).fit(X, y)


def state(est):
    answers = est.predict_proba(est._probe).tobytes() if est.__sklearn_is_fitted__() and hasattr(est, "_probe") else b""
    return sorted(est.__dict__.keys() - {"_solution"}), pickle.dumps(est.__getstate__()), answers


def refused(est, call, match, errors=(ValueError, TypeError)):
    """The error of a call that must leave the estimator as it was."""
    before = state(est)
    with pytest.raises(errors, match=match) as caught:
        call(est)
    assert state(est) == before
    return str(caught.value)


def both_states(name, X=X):
    """The estimator before and after a fit; ``_probe`` are the rows whose posterior is compared."""
    unfitted, known = clone(VARIANTS[name]), fitted(name, X)
    known._probe = X
    return unfitted, known


def changing(name):
    return ["fit"] if "estimator" in name else ["fit", "partial_fit"]


def names_cell(message, column, value, row):
    """Whether an error about one cell says which column, which value, which row, and what to do."""
    shown = "inf" if np.isinf(value) else "NaN|nan" if np.isnan(value) else re.escape(f"{value:g}")
    assert f"{column!r}" in message, message
    assert re.search(shown, message), message
    assert f"row {row}" in message, message
    assert re.search(r"\b(replace|use|drop|shift|rescale|set|leave|make|clip|subtract)\b", message), message


# --- shapes, labels and weights

ragged = [[0.1, 0.2, 0.3], [0.1, 0.2]]
BAD_ROWS = {
    "no rows": (np.empty((0, 3)), Y[:0], r"0 sample\(s\)"),
    "no columns": (np.empty((24, 0)), Y, r"0 feature\(s\)"),
    "empty list": ([], [], "Expected 2D array|0 sample"),
    "1-d": (X[:, 0], Y, "Expected 2D array, got 1D"),
    "scalar": (0.5, Y, "Expected 2D array"),
    "3-d": (X[None], Y[:1], "dim 3|got 3D"),
    "ragged": (ragged, Y[:2], "inhomogeneous|2D array"),
    "complex": (X + 1j, Y, "Complex data not supported"),
    "None": (None, Y, "None|2D array"),
    "y short": (X, Y[:-1], "inconsistent numbers of samples"),
    "y 2-d": (X, np.c_[Y, Y], "1d array"),
    "y None": (X, None, "requires y to be passed"),
    "y empty": (X, [], "inconsistent numbers of samples"),
    "y continuous": (X, np.linspace(0, 1, 24), "continuous"),
    "y infinite": (X, np.r_[np.ones(23), np.inf], "infinity"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
@pytest.mark.parametrize("name", CORE)
def test_wrong_rows_are_refused(name, case):
    if name == "CategoricalNB" and case == "complex":
        pytest.skip("any category will do")
    bad_X, bad_y, match = BAD_ROWS[case]
    for est in both_states(name):
        for method in changing(name):
            refused(est, lambda e, m=method: getattr(e, m)(bad_X, bad_y), match)
    refused(est, lambda e: e.forget(bad_X, bad_y), match)


MISSING_LABELS = {
    "None": [None, *Y[1:]],
    "None, objects": np.array([*Y[:-1], None], dtype=object),
    "NaN": np.r_[np.nan, np.ones(23)],
    "NaN, objects": np.array([*Y[:-1], np.nan], dtype=object),
    "NaN beside strings": [*Y[:-1].tolist(), np.nan],
    "pandas strings": pd.Series([*Y[:-1], None], dtype="string"),
    "pandas integers": pd.Series([*range(23), None], dtype="Int64"),
    "pandas.NA": np.array([*Y[:-1], pd.NA], dtype=object),
    "categories": pd.Series(pd.Categorical([*Y[:-1], None])),
    "polars": pl.Series([*Y[:-1].tolist(), None]),
    "dates": np.array(["2026-01-01"] * 23 + ["NaT"], dtype="M8[D]"),
}


@pytest.mark.parametrize("case", MISSING_LABELS)
@pytest.mark.parametrize("name", ["GaussianNB", "CategoricalNB", "LDA", "LDA-estimator"])
def test_missing_labels_are_refused(name, case):
    for est in both_states(name):
        for method in changing(name):
            message = refused(est, lambda e, m=method: getattr(e, m)(X, MISSING_LABELS[case]), "missing|NaN|NaT")
            assert re.search("drop|row", message), message


BAD_WEIGHTS = {
    "negative": (np.r_[1.0, -2.0, np.ones(22)], "found -2 in row 1.*forget"),
    "short": (np.ones(23), r"sample_weight.shape == \(23,\)"),
    "2-d": (np.ones((24, 1)), "sample_weight|Sample weights|1D"),
    "all zero": (np.zeros(24), "all weights are 0|at least one non-zero"),
    "NaN": (np.r_[np.nan, np.ones(23)], "sample_weight contains NaN"),
    "infinite": (np.r_[np.inf, np.ones(23)], "sample_weight contains infinity"),
    "words": (["x"] * 24, "could not convert string to float|sample_weight"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
@pytest.mark.parametrize("name", BATCHED)
def test_bad_weights_are_refused(name, case):
    weight, match = BAD_WEIGHTS[case]
    for est in both_states(name):
        for method in ("fit", "partial_fit"):
            refused(est, lambda e, m=method: getattr(e, m)(X, Y, sample_weight=weight), match)
    refused(est, lambda e: e.forget(X, Y, sample_weight=weight), match)


def test_weights_of_zero_leave_their_rows_and_classes_out():
    weight = (Y != "c").astype(float)
    for name in BATCHED:
        est = clone(CORE[name]).fit(X, Y, sample_weight=weight)
        assert est.classes_.tolist() == ["a", "b"], name
        np.testing.assert_allclose(est.predict_proba(X), fitted(name, X[:16], Y[:16]).predict_proba(X), err_msg=name)


@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("name", CORE)
def test_another_number_of_columns_is_refused(name, columns):
    wrong = np.resize(X, (24, columns))
    est = both_states(name)[1]
    match = f"{columns} features.*expecting 3"
    for method in [
        "predict",
        "predict_proba",
        "predict_log_proba",
        "predict_joint_log_proba",
        "score_samples",
    ]:
        refused(est, lambda e, m=method: getattr(e, m)(wrong), match)
    for method in ["forget", "log_likelihood", "score", *(["partial_fit"] if name in BATCHED else [])]:
        refused(est, lambda e, m=method: getattr(e, m)(wrong, Y), match)


@pytest.mark.parametrize("bad", ["1-d", "3-d", "no rows", "None"])
@pytest.mark.parametrize("name", CORE)
def test_wrong_shapes_are_refused_at_predict(name, bad):
    est = both_states(name)[1]
    for method in ["predict", "predict_proba", "score_samples"]:
        refused(est, lambda e, m=method: getattr(e, m)(BAD_ROWS[bad][0]), BAD_ROWS[bad][2])


@pytest.mark.parametrize("name", CORE)
def test_nothing_works_before_a_fit(name):
    est = clone(CORE[name])
    calls = [
        *(lambda e, m=m: getattr(e, m)(X) for m in ("predict", "predict_proba", "predict_log_proba", "score_samples")),
        *(lambda e, m=m: getattr(e, m)(X, Y) for m in ("forget", "log_likelihood", "aic", "bic")),
        lambda e: e.sample(),
        lambda e: e.with_prior("uniform"),
        lambda e: e.merge(fitted(name)),
        lambda e: fitted(name).merge(e),
        lambda e: e.logistic_form(),
    ]
    for call in calls:
        refused(est, call, "not fitted", (NotFittedError, AttributeError))
    assert not hasattr(est, "classes_")


@pytest.mark.parametrize("name", CORE)
def test_one_class(name):
    y = np.repeat("only", 24)
    if name.startswith("QDA"):
        for est in both_states(name):
            refused(est, lambda e: e.fit(X, y), "number of classes has to be greater than one. Got 1 class")
        return
    est = fitted(name, y=y)
    assert est.predict(X).tolist() == y.tolist()
    assert (est.predict_proba(X) == 1).all()
    assert np.isfinite(est.score_samples(X)).all()


@pytest.mark.parametrize("name", ["GDA-tied", "LDA", "LDA-lsqr", "LDA-eigen", "LDA-estimator"])
def test_a_shared_covariance_needs_more_rows_than_classes(name):
    for est in both_states(name):
        refused(
            est,
            lambda e: e.fit(X[:3], ["a", "b", "c"]),
            "more than the number of classes.*n_samples=3, 3 classes",
        )


@pytest.mark.parametrize("level", [0.5, 0.25])
@pytest.mark.parametrize("name", VARIANTS)
def test_a_constant_column(name, level):
    wide = np.c_[X, np.full(24, level)]
    est = fitted(name, wide)
    assert np.isfinite(est.predict_proba(wide)).all()
    assert not np.isnan(est.score_samples(wide)).any()
    gaussian = get_tags(est).input_tags.sparse and ("GDA" in name or "DA" in name or "Gaussian" in name)
    if gaussian and est.get_params().get("shrinkage") is None and "reg" not in name and "spherical" not in name:
        np.testing.assert_allclose(est.predict_proba(wide), fitted(name).predict_proba(X), atol=1e-9)
        if "largest" in name:
            return  # scikit-learn's rule gives a constant column a variance
        off = np.c_[X, np.full(24, level + 7)]
        np.testing.assert_allclose(est.predict_proba(off), est.predict_proba(wide), atol=1e-9)


# --- cells: infinities, NaN, outside the support

ROWWISE = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples"]


def with_cell(value, row=2, column=1):
    bad = X.copy()
    bad[row, column] = value
    return bad


@pytest.mark.parametrize("container", ["array", "frame", "csr"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("name", CORE)
def test_infinities_are_refused_by_column_value_and_way_out(name, value, container):
    make, column = {"array": (np.asarray, "x1"), "frame": (frame, "two"), "csr": (sparse.csr_array, "x1")}[container]
    if container == "csr" and (name in ("CategoricalNB", "GenerativeClassifier") or "estimator" in name):
        pytest.skip("takes no sparse input")
    bad = make(with_cell(value))
    for est in both_states(name, make(X)):
        for method in changing(name):
            names_cell(refused(est, lambda e, m=method: getattr(e, m)(bad, Y), "inf", InputError), column, value, 2)
    names_cell(refused(est, lambda e: e.forget(bad, Y), "inf", InputError), column, value, 2)
    methods = [
        *ROWWISE,
        *(m for m in ("decision_function", "transform") if hasattr(est, m) and "lsqr" not in name),
    ]
    for method in methods:
        names_cell(refused(est, lambda e, m=method: getattr(e, m)(bad), "inf", InputError), column, value, 2)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["GDA-tied", "GDA-diagonal-tied", "LDA", "LDA-lsqr", "LDA-eigen"])
@pytest.mark.parametrize("labels", [Y, np.repeat("only", 24), np.repeat(["c", "a", "b"], 8), np.tile(["a", "b"], 12)])
def test_infinities_are_refused_by_linear_models_wherever_the_classes_lie(name, sign, labels):
    est = fitted(name, y=labels)
    for column in range(3):
        for method in ROWWISE:
            with pytest.raises(InputError, match=rf"x{column}.*inf in row 0"):
                getattr(est, method)(with_cell(sign * np.inf, 0, column)[:1])


@pytest.mark.parametrize("container", ["array", "frame"])
@pytest.mark.parametrize("name", VARIANTS)
def test_nan_is_missing_where_the_tags_say_so_and_refused_elsewhere(name, container):
    make, column = {"array": (np.asarray, "x1"), "frame": (frame, "two")}[container]
    bad = make(with_cell(np.nan))
    if get_tags(VARIANTS[name]).input_tags.allow_nan:
        est = fitted(name, bad)
        assert np.isfinite(est.predict_proba(bad)).all()
        assert np.isfinite(est.score_samples(bad)).all() or name.endswith("-0")
        blank = make(np.full((1, 3), np.nan))
        np.testing.assert_allclose(est.predict_proba(blank), [est.with_prior(None)._fitted.prior], atol=1e-12)
        est.forget(bad[:3], Y[:3]).partial_fit(bad[:3], Y[:3])
        np.testing.assert_allclose(est.predict_proba(X), fitted(name, bad).predict_proba(X), atol=1e-9)
        return
    for est in both_states(name, make(X)):
        for method in changing(name):
            names_cell(refused(est, lambda e, m=method: getattr(e, m)(bad, Y), "NaN", InputError), column, np.nan, 2)
    for method in ROWWISE:  # a fitted model takes rows with missing values, whoever estimated its covariances
        assert len(getattr(est, method)(bad)) == len(bad)


@pytest.mark.parametrize("name", [k for k, e in CORE.items() if get_tags(e).input_tags.allow_nan])
def test_columns_without_any_value(name):
    bad = X.copy()
    bad[:, 1] = np.nan
    bad[:8, 2] = np.nan  # a class without any value in the column
    est = fitted(name, bad)
    for rows in (X, bad):
        assert np.isfinite(est.predict_proba(rows)).all()
        assert not np.isnan(est.score_samples(rows)).any()


@pytest.mark.parametrize("name", ["GaussianNB", "PoissonNB", "NaiveBayes-exponential", "BernoulliNB"])
def test_a_missing_value_beside_a_very_large_one(name):
    p = fitted(name).predict_proba([[np.nan, 1e300, 0.5]])
    np.testing.assert_allclose(p.sum(), 1)
    assert np.isfinite(p).all()


OUTSIDE = [
    ("NaiveBayes-exponential", -3.0, "exponential needs x ≥ 0"),
    ("NaiveBayes-gamma", 0.0, "gamma needs x > 0"),
    ("NaiveBayes-gamma", -1.0, "gamma needs x > 0"),
    ("NaiveBayes-lognormal", -1.0, "lognormal needs x > 0"),
    ("NaiveBayes-lognormal", 0.0, "lognormal needs x > 0"),
    ("NaiveBayes-beta", 1.0, "beta needs 0 < x < 1"),
    ("NaiveBayes-beta", 0.0, "beta needs 0 < x < 1"),
    ("NaiveBayes-beta", 1.5, "beta needs 0 < x < 1"),
    ("NaiveBayes-poisson", -1.0, "Negative values in data"),
    ("NaiveBayes-geometric", -1.0, "Negative values in data"),
    ("PoissonNB", -2.0, "Negative values in data"),
    ("MultinomialNB", -1.0, "Negative values in data passed to MultinomialNB"),
    ("ComplementNB", -1.0, "Negative values in data passed to ComplementNB"),
]


@pytest.mark.parametrize("container", ["frame", "csr"])
@pytest.mark.parametrize(("name", "value", "match"), OUTSIDE)
def test_values_outside_the_support(name, value, match, container):
    make, column = {"frame": (frame, "two"), "csr": (sparse.csr_array, "x1")}[container]
    if container == "csr" and value == 0:
        zeros = sparse.csr_array(with_cell(0.0))
        for est in both_states(name):
            refused(est, lambda e: e.fit(zeros, Y), f"{match}, found 0.0 in row .*use gaussian", InputError)
        refused(est, lambda e: e.predict(zeros), match, InputError)
        return
    bad = make(with_cell(value))
    for est in both_states(name, make(X)):
        for method in ("fit", "partial_fit"):
            call = lambda e, m=method: getattr(e, m)(bad, Y)  # noqa: E731
            names_cell(refused(est, call, match, InputError), column, value, 2)
    names_cell(refused(est, lambda e: e.forget(bad, Y), match, InputError), column, value, 2)
    for method in ROWWISE:
        names_cell(refused(est, lambda e, m=method: getattr(e, m)(bad), match, InputError), column, value, 2)


@pytest.mark.parametrize("family", [None, Bernoulli(threshold=None)])
def test_shares_without_a_threshold(family):
    est = BernoulliNB(binarize=None) if family is None else NaiveBayes(family)
    message = refused(est, lambda e: e.fit(with_cell(1.5), Y), "needs values from 0 to 1", InputError)
    names_cell(message, "x1", 1.5, 2)


@pytest.mark.parametrize("name", ["GaussianNB", "GDA", "GDA-diagonal", "LDA", "QDA", "GDA-ledoit-wolf"])
def test_squares_that_overflow_name_the_column(name):
    for est in both_states(name):
        message = refused(est, lambda e: e.fit(frame(with_cell(1e200)), Y), "overflow.*rescale", InputError)
        assert "'two'" in message, message


def test_words_are_no_numbers():
    words = np.array([["x", "y", "z"]] * 24, dtype=object)
    for name in (k for k in CORE if k not in ("CategoricalNB", "GenerativeClassifier")):
        for est in both_states(name):
            refused(est, lambda e: e.fit(words, Y), "'x'")
    nested = words.copy()
    nested[2, 1] = [1, 2]
    for est in both_states("CategoricalNB"):
        message = refused(est, lambda e: e.fit(nested, Y), "a category must be a single value", InputError)
        names_cell(message.replace("list", "1"), "x1", 1, 2)
        message = refused(est, lambda e: e.fit(frame(nested), Y), "a category must be a single value", InputError)
        assert "'two'" in message, message
        refused(est, lambda e: e.fit(sparse.csr_array(X), Y), "[Ss]parse", TypeError)


def test_categorical_int8_levels_do_not_wrap():
    wide = np.array([[-100, 1], [99, 2], [-100, 1], [99, 3]])
    a, b = (CategoricalNB().fit(wide.astype(t), [0, 1, 0, 1]) for t in (np.int64, np.int8))
    np.testing.assert_array_equal(a.predict_proba(wide), b.predict_proba(wide.astype(np.int8)))
    assert a.class_count_.tolist() == b.class_count_.tolist()
    assert [v.tolist() for v in a.categories_] == [v.tolist() for v in b.categories_]


# --- word ids

BAD_DOCUMENTS = {
    "negative id": ([[0, 1], [2, -1]], "document 1: word ids must be from 0 to 67108863, found -1"),
    "fraction": ([[0, 1], [0.5]], r"document 1: word ids must be a flat sequence of integers, found \[0.5\]"),
    "word": ([[0, 1], ["spam"]], "document 1: .*integers, found.*spam"),
    "text": ([[0, 1], "spam"], "document 1: .*integers, found 'spam'"),
    "flat": ([0, 1], "document 0: .*flat sequence of integers, found 0"),
    "nested": ([[0, 1], [[0], [1]]], "document 1: .*flat sequence"),
    "yes or no": ([[0, 1], [True]], "document 1: .*integers, found"),
    "missing": ([[0, 1], [None]], "document 1: .*integers, found"),
    "NaN": ([[0, 1], [np.nan]], "document 1: .*integers, found"),
    "none": ([], "no documents"),
    "one text": ("spam and eggs", "list of documents"),
    "matrix": (sparse.csr_array(np.eye(2)), "list of documents"),
    "number": (7, "list of documents"),
    "y short": ([[0], [1], [2]], "inconsistent numbers of samples"),
    "larger than any vocabulary": ([[0, 1], [2**63]], "document 1.*word id"),
}


@pytest.mark.parametrize("case", BAD_DOCUMENTS)
@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB])
def test_bad_documents(make, case):
    bad, match = BAD_DOCUMENTS[case]
    known = make(input="sequences").fit([[0, 0, 1], [2, 1], [2, 3]], ["ham", "spam", "spam"])
    known._probe = [[0, 1], [3], [], [99]]
    labels = ["ham", "spam"] if case != "none" else []
    for est in (make(input="sequences"), known):
        for method in ("fit", "partial_fit"):
            refused(est, lambda e, m=method: getattr(e, m)(bad, labels), match)
    refused(known, lambda e: e.forget(bad, labels), match)
    if case != "y short":
        refused(known, lambda e: e.predict(bad), match)


def test_words_and_documents_never_learned():
    known = MultinomialNB(input="sequences").fit([[0, 0, 1], [2, 1], [2, 3]], ["ham", "spam", "spam"])
    known._probe = [[0, 1], [3], [], [99]]
    for document in ([0, 0, 0], [2], [99]):
        refused(
            known,
            lambda e, d=document: e.forget([d], ["ham"]),
            r"forget: class 'ham'.*word (0|2|99)",
            InputError,
        )
    np.testing.assert_allclose(known.predict_proba([[], [99]]), [known._fitted.prior] * 2, atol=1e-15)


# --- settings

PRIOR = [42, "flat", "Uniform"]
SMOOTHED = {
    "alpha": [
        -1,
        "much",
        None,
        np.nan,
        [1.0, -1.0, 1.0],
        [1.0, 1.0],
        [np.nan, 1.0, 1.0],
        [np.inf, 1.0, 1.0],
        [],
    ],
    "fit_prior": ["yes", 2, None],
    "class_prior": [42, "flat"],
    "prior_smoothing": [-1, "some", None, np.nan],
}
FORCED = {**SMOOTHED, "force_alpha": ["yes", 2, None]}
BAD_SETTINGS = {
    GaussianNB: {
        "priors": PRIOR,
        "var_smoothing": [-1, "some", None, np.nan],
        "floor": ["row", 1, None],
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    BernoulliNB: {**FORCED, "binarize": ["yes", -1, np.nan]},
    MultinomialNB: {**FORCED, "input": ["words", None, 1]},
    ComplementNB: {**FORCED, "input": ["words", None, 1], "norm": ["yes", 2, None]},
    CategoricalNB: {
        **FORCED,
        "alpha": [-1, "much", [1.0, 1.0, 1.0]],
        "min_categories": [0, -1, 2.5, "two", [2, 2]],
    },
    PoissonNB: {**SMOOTHED},
    NaiveBayes: {
        "family": ["cauchy", "multinomial", "categorical", "multivariate_gaussian", 3, None, Gaussian],
        "priors": PRIOR,
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    GDA: {
        "covariance": ["round", None, 1],
        "tie": [-0.1, 1.1, "half", None, np.nan],
        "shrinkage": [-0.1, 1.1, "auto", np.nan],
        "denominator": ["n", None, 1],
        "priors": PRIOR,
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    LDA: {
        "solver": ["qr", None, 1],
        "shrinkage": [-0.1, 1.1, "oas", np.nan],
        "priors": PRIOR,
        "n_components": [0, -1, 1.5, "all", 3],
        "store_covariance": ["yes", None],
        "tol": [-1, "small", None, np.nan],
        "covariance_estimator": [3, "oas"],
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    QDA: {
        "solver": ["lsqr", None, 1],
        "shrinkage": [-0.1, 1.1, "oas", np.nan],
        "priors": PRIOR,
        "reg_param": [-0.1, 1.1, "some", None, np.nan],
        "store_covariance": ["yes", None],
        "tol": [-1, "small", None, np.nan],
        "covariance_estimator": [3, "oas"],
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    GenerativeClassifier: {
        "structure": ["some", 1, None],
        "columns": ["all", None, 3, ["x0"]],
        "missing": ["drop", None, 1],
        "unknown": ["drop", None, 1],
        "missing_target": ["ignore", None, 1],
        "priors": PRIOR,
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
}


for bad in BAD_SETTINGS.values():
    bad["calibrate"] = ["platt", True, 1]
BAD_SETTINGS[GenerativeClassifier]["select"] = ["best", True, 1]
BAD_SETTINGS[GenerativeClassifier]["criterion"] = ["aic", True, None]


@pytest.mark.parametrize("make", BAD_SETTINGS)
def test_every_setting_is_tried(make):
    assert set(BAD_SETTINGS[make]) == set(inspect.signature(make).parameters)


@pytest.mark.parametrize(
    ("make", "setting", "value"),
    [(make, k, v) for make, table in BAD_SETTINGS.items() for k, values in table.items() for v in values],
)
def test_unknown_settings_are_refused(make, setting, value):
    for est in (make(), make().fit(X, Y)):
        est.set_params(**{setting: value})
        methods = ["fit"] if setting in ("n_components", "covariance_estimator") else ["fit", "partial_fit"]
        for method in methods:
            message = refused(est, lambda e, m=method: getattr(e, m)(X, Y), "")
            assert setting in message or setting.rstrip("s") in message, message


SETTINGS_THAT_CLASH = [
    (GDA("diagonal", shrinkage="oas"), "needs covariance='full'.*use a number", ValueError),
    (GDA("spherical", shrinkage="ledoit-wolf"), "needs covariance='full'.*use a number", ValueError),
    (LDA(shrinkage="auto"), "shrinkage not supported with 'svd'", NotImplementedError),
    (LDA(shrinkage=0.5), "use solver='eigen'", NotImplementedError),
    (QDA(shrinkage=0.5), "use solver='eigen'", NotImplementedError),
    (LDA(covariance_estimator=EmpiricalCovariance()), "not supported with svd", ValueError),
    (QDA(covariance_estimator=EmpiricalCovariance()), "Try solver='eigen'", ValueError),
    (LDA("lsqr", 0.1, covariance_estimator=EmpiricalCovariance()), "Only one of the two", ValueError),
    (
        QDA(solver="eigen", shrinkage=0.1, covariance_estimator=EmpiricalCovariance()),
        "Only one of the two",
        ValueError,
    ),
]


@pytest.mark.parametrize(("est", "match", "error"), SETTINGS_THAT_CLASH)
def test_settings_that_clash_are_refused(est, match, error):
    refused(clone(est), lambda e: e.fit(X, Y), match, error)


@pytest.mark.parametrize("name", ["LDA-estimator", "QDA-estimator"])
def test_a_covariance_estimator_takes_neither_weights_nor_batches(name):
    for est in both_states(name):
        refused(est, lambda e: e.fit(X, Y, np.ones(24)), "use one of the two")
        refused(est, lambda e: e.partial_fit(X, Y), "use fit, or shrinkage")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: VonMises(period=0), "period"),
        (lambda: VonMises(period=-24), "period"),
        (lambda: VonMises(period=np.nan), "period"),
        (lambda: Gamma(alpha=-1), "alpha"),
        (lambda: Bernoulli(alpha=-0.5), "alpha"),
        (lambda: Gaussian(tie=2), "tie"),
        (lambda: Gaussian(shrinkage=-1), "shrinkage"),
        (lambda: Gaussian(smoothing=-1), "smoothing"),
        (lambda: Gaussian(floor="row"), "floor"),
    ],
)
def test_bad_settings_of_family_objects_are_refused(make, name):
    """When the family is made or when it is fitted, but not by numbers that mean nothing."""
    with pytest.raises((ValueError, TypeError), match=name):
        NaiveBayes(make()).fit(X, Y)


# --- priors

BAD_PRIORS = {
    "short": ([0.5, 0.5], "2 priors, 3 classes"),
    "long": ([0.25] * 4, "4 priors, 3 classes"),
    "negative": ([-0.1, 0.6, 0.5], "non-negative, found -0.1"),
    "unknown label": ({"a": 0.5, "b": 0.25, "z": 0.25}, "'z'.*classes.*'a'"),
    "label missing": ({"a": 0.5, "b": 0.5}, "'c'.*classes"),
    "label too many": ({"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}, "'d'.*classes"),
    "NaN": ([np.nan, 0.5, 0.5], "nan|NaN"),
    "all zero": ([0.0, 0.0, 0.0], "0"),
    "infinite": ([np.inf, 0.0, 0.0], "inf"),
    "words": (["much", "some", "none"], "much"),
    "number": (1.0, "1 priors, 3 classes|number of classes"),
    "word": ("flat", "'flat'"),
    "nested": ([[0.2, 0.3, 0.5]] * 2, "6 priors, 3 classes"),
    "None inside": ([None, 0.5, 0.5], "None|nan"),
}


def prior_setting(name):
    return "priors" if "priors" in CORE[name].get_params() else "class_prior"


@pytest.mark.parametrize("case", BAD_PRIORS)
@pytest.mark.parametrize("name", CORE)
def test_bad_priors_are_refused(name, case):
    prior, match = BAD_PRIORS[case]
    unfitted, known = both_states(name)
    refused(known, lambda e: e.with_prior(prior), match)
    if case in ("word", "number"):
        match = prior_setting(name)  # refused as a setting
    for est in (unfitted, known):
        est.set_params(**{prior_setting(name): prior})
        batches = est is unfitted or name not in ("LDA-lsqr", "LDA-eigen")  # with priors they keep other sums
        for method in changing(name) if batches else ["fit"]:
            refused(est, lambda e, m=method: getattr(e, m)(X, Y), match)


@pytest.mark.parametrize("how", ["setting", "with_prior"])
@pytest.mark.parametrize("name", CORE)
def test_priors_that_do_not_sum_to_one(name, how):
    """Refused, or the answer is that of the shares they stand for, densities included."""
    wrong = np.array([2.0, 1.0, 1.0])
    make = {
        "setting": lambda p: fitted(name, **{prior_setting(name): p}),
        "with_prior": lambda p: fitted(name).with_prior(p),
    }[how]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            est = make(wrong)
        except ValueError as error:
            assert re.search("sum of the priors.*found 4", str(error))  # noqa: PT017
            return
    reference = make(wrong / 4)
    np.testing.assert_allclose(est.predict_proba(X), reference.predict_proba(X))
    np.testing.assert_allclose(est.predict_joint_log_proba(X), reference.predict_joint_log_proba(X))
    np.testing.assert_allclose(est.score_samples(X), reference.score_samples(X))


@pytest.mark.parametrize("name", CORE)
def test_a_prior_that_fits_no_longer_stops_a_new_class(name):
    if name not in BATCHED:
        pytest.skip("takes no batches")
    est = clone(CORE[name]).set_params(**{prior_setting(name): [0.4, 0.6]}).fit(X[:16], Y[:16])
    est._probe = X
    refused(est, lambda e: e.partial_fit(X, Y), "2 priors, 3 classes")


def test_with_prior_of_complement_takes_no_part_in_predictions():
    batch = ComplementNB().partial_fit(X, Y)  # not solved yet
    for est in (batch, fitted("ComplementNB")):
        new = est.with_prior([0.998, 0.001, 0.001])
        np.testing.assert_allclose(new.predict_proba(X), fitted("ComplementNB").predict_proba(X))
        np.testing.assert_allclose(np.exp(new.class_log_prior_), [0.998, 0.001, 0.001])


# --- declared classes


@pytest.mark.parametrize("name", BATCHED)
def test_declared_classes(name):
    for est in both_states(name):
        refused(est, lambda e: e.partial_fit(X, Y, classes=["a", "b"]), "classes.*leave classes out")
    est = clone(CORE[name]).partial_fit(X, Y, classes=["d", "c", "b", "a"])  # in any order, one without rows
    est.partial_fit(X, Y, classes=["d", "c", "b", "a"])
    assert est.classes_.tolist() == ["a", "b", "c", "d"]
    p = est.predict_proba(X)
    assert np.isfinite(p).all()
    assert (p[:, 3] == 0).all() or name == "ComplementNB"
    assert not np.isnan(est.score_samples(X)).any()


# --- forgetting


@pytest.mark.parametrize("name", CORE)
def test_forgetting_what_cannot_have_been_learned(name):
    est = both_states(name)[1]
    refused(est, lambda e: e.forget(X[:1], ["zebra"]), r"forget: class 'zebra' was never learned.*'a', 'b', 'c'")
    refused(
        est,
        lambda e: e.forget(np.r_[X, X[:8]], np.r_[Y, Y[:8]]),
        "forget: class 'a' has learned rows of weight 8",
    )
    refused(
        est,
        lambda e: e.forget(X[:8], Y[:8], sample_weight=np.full(8, 1.5)),
        "forget: class 'a'.*weight 8.*12",
    )
    refused(est, lambda e: e.forget(X, Y), "no rows would be left")


NEVER_LEARNED = {  # rows of class "a" that the sums of X cannot hold
    "BernoulliNB": ([[0, 0.9, 0.9]] * 4, [0.9, 0.9, 0.9]),
    "NaiveBayes-bernoulli": ([[-1, 0.9, 0.9]] * 4, [0.9, 0.9, 0.9]),
    "NaiveBayes-vonmises": ([[0.0, 0.0, 0.0]] * 4, [np.pi, 0.0, 0.0]),
    "NaiveBayes-beta": (X[:8], [1e-300, 0.5, 0.5]),
    "CategoricalNB": (X[:8], [7.0, X[0, 1], X[0, 2]]),
    **{
        k: (X[:8], [1e6, 0.5, 0.5])
        for k in BATCHED
        if "ernoulli" not in k and k not in ("NaiveBayes-vonmises", "NaiveBayes-beta", "CategoricalNB")
    },
}


@pytest.mark.parametrize("name", BATCHED)
def test_forgetting_rows_that_the_sums_cannot_hold(name):
    rows, never = NEVER_LEARNED[name]
    known = frame(np.r_[np.asarray(rows), X[8:]])
    y = np.r_[np.repeat("a", len(rows)), Y[8:]]
    est = clone(CORE[name]).fit(known, y)
    est._probe = known
    message = refused(est, lambda e: e.forget(frame([never]), ["a"]), "forget", InputError)
    if name in ("CategoricalNB", "MultinomialNB", "ComplementNB"):
        assert "'a'" in message, message
        assert "'one'" in message, message


# --- merging


def two(a, b, X_a=X, X_b=X):
    return clone(a).fit(X_a, Y), clone(b).fit(X_b, Y)


KEEP_DIFFERENT_SUMS = [
    (GaussianNB(), BernoulliNB()),
    (GaussianNB(), MultinomialNB()),
    (GaussianNB(), GDA()),
    (GaussianNB(), NaiveBayes("lognormal")),
    (MultinomialNB(), CategoricalNB()),
    (MultinomialNB(), PoissonNB()),
    (BernoulliNB(binarize=0.0), BernoulliNB(binarize=0.5)),
    (BernoulliNB(binarize=0.0), BernoulliNB(binarize=None)),
    (NaiveBayes("gamma"), NaiveBayes("beta")),
    (NaiveBayes(VonMises(period=24)), NaiveBayes(VonMises(period=12))),
    (LDA(), QDA()),
    (GDA(tie=1), GDA(tie=0)),
    (GDA(shrinkage="ledoit-wolf"), GDA(shrinkage="oas")),
]


@pytest.mark.parametrize(("first", "second"), KEEP_DIFFERENT_SUMS)
def test_models_with_different_sums_do_not_merge(first, second):
    a, b = two(first, second)
    for left, right in ((a, b), (b, a)):
        refused(left, lambda e, r=right: e.merge(r), "different sums and cannot be combined", InputError)
        refused(right, lambda e, s=left: s + e, "different sums and cannot be combined", InputError)


@pytest.mark.parametrize(
    ("first", "second"),
    [p for p in KEEP_DIFFERENT_SUMS if type(p[0]) is type(p[1])],
)
def test_settings_of_the_sums_may_not_change_between_batches(first, second):
    """Counts above one threshold plus counts above another are counts of nothing."""
    est = clone(first).fit(X, Y)
    est.set_params(**clone(second).get_params())
    refused(est, lambda e: e.partial_fit(X, Y), "", (ValueError, TypeError))


@pytest.mark.parametrize("name", [k for k in BATCHED if k != "GenerativeClassifier"])  # it finds columns by name
def test_models_of_other_columns_do_not_merge(name):
    est = CORE[name]
    a, b = two(est, est, X, X[:, :2])
    for left, right in ((a, b), (b, a)):
        refused(left, lambda e, r=right: e.merge(r), "columns.*must match", InputError)
    a, b = two(est, est, frame(X), frame(X).rename(columns={"two": "zwei"}))
    refused(a, lambda e: e.merge(b), "columns differ.*two.*zwei.*must match", InputError)
    a, b = two(est, est, frame(X), frame(X)[["three", "two", "one"]])
    refused(a, lambda e: e + b, "columns differ.*in order", InputError)


@pytest.mark.parametrize("name", CORE)
def test_only_estimators_of_suffit_merge(name):
    est = both_states(name)[1]
    for other in (3, None, "model", SklearnGaussianNB().fit(X, Y)):
        match = f"merge takes fitted estimators of suffit, got {type(other).__name__}"
        refused(est, lambda e, o=other: e.merge(o), match)
        refused(est, lambda e, o=other: e + o, "unsupported operand", TypeError)


# --- sampling


@pytest.mark.parametrize("name", CORE)
def test_bad_samples(name):
    est = both_states(name)[1]
    for n in (0, -1, 2.5, "two", None):
        refused(est, lambda e, n=n: e.sample(n), f"at least 1, got {n!r}")
    refused(est, lambda e: e.sample(2, y="zebra"), r"no class 'zebra'; the classes are \['a', 'b', 'c'\]")
    refused(est, lambda e: e.sample(3, y=["a", "b"]), "2 classes for n = 3 rows; give one class, or n of them")
    refused(est, lambda e: e.sample(1, y=[]), "0 classes for n = 1")
    refused(est, lambda e: e.sample(1, random_state="now"), "seed", ValueError)
    rows, labels = est.sample(5, y="b", random_state=0)
    assert labels.tolist() == ["b"] * 5
    assert rows.shape == (5, 3)
    assert not np.isnan(rows.astype(float)).any()


# --- no NaN out, whatever finite comes in


def inside(name, values):
    """Values moved into the support of the estimator."""
    a = np.asarray(values, dtype=np.float64)
    if "beta" in name:
        return np.clip(np.abs(a), 1e-300, 1 - 1e-16) if a.size else a
    if "lognormal" in name or "gamma" in name:
        return np.maximum(np.abs(a), 1e-300)
    if any(k in name for k in ("oisson", "exponential", "geometric", "Multinomial", "Complement")):
        return np.abs(a)
    return a


def proper(est, rows):
    """A posterior is finite and sums to 1; no NaN among logarithms and densities."""
    p = est.predict_proba(rows)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-9)
    assert ((p >= 0) & (p <= 1)).all()
    log_p = est.predict_log_proba(rows)
    assert not np.isnan(log_p).any()
    np.testing.assert_allclose(np.exp(log_p), p, atol=1e-9)
    assert not np.isnan(est.predict_joint_log_proba(rows)).any()
    density = est.score_samples(rows)
    assert not np.isnan(density).any()
    chosen = [est.classes_.tolist().index(label) for label in est.predict(rows)]
    np.testing.assert_allclose(log_p[np.arange(len(p)), chosen], log_p.max(axis=1), rtol=1e-9, atol=1e-9)


def quick(n):
    return settings(
        max_examples=n,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


anything = st.floats(-1e300, 1e300, allow_subnormal=False)
magnitudes = st.builds(lambda s, e: s * 10.0**e, st.sampled_from([-1.0, 1.0]), st.integers(-300, 300))


@pytest.mark.parametrize("name", VARIANTS)
def test_any_finite_row_has_a_posterior(name):
    est = fitted(name)

    @quick(12)
    @given(st.lists(st.tuples(*[anything | magnitudes] * 3), min_size=1, max_size=6))
    @example([(1e300, -1e300, 1e300)])
    @example([(1e300, 1e160, 1e-300), (0.5, 0.5, 0.5), (1e155, 0.0, 0.0)])
    def check(rows):
        proper(est, inside(name, rows))

    check()


@st.composite
def training_data(draw):
    """Small integers times a scale, some columns constant, classes of any size from one row."""
    p = draw(st.integers(1, 5))
    y = draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=10))
    y[:3] = ["a", "b", "a"][: len(y)]
    cells = st.integers(-5, 5)
    rows = np.array([draw(st.tuples(*[cells] * p)) for _ in y], dtype=float)
    constant = draw(st.lists(st.booleans(), min_size=p, max_size=p))
    rows[:, constant] = rows[0, constant]
    return rows, y


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("name", VARIANTS)
def test_any_finite_training_data_give_a_posterior(name, scale):
    @quick(12)
    @given(training_data())
    @example((np.zeros((4, 2)), list("abab")))
    @example((np.ones((3, 1)), list("aba")))
    @example((np.arange(15.0).reshape(3, 5), list("aba")))
    def check(data):
        rows, y = data
        rows = inside(name, rows / 7 if "beta" in name else rows) * (1 if "beta" in name else scale)
        rows = inside(name, rows)
        try:
            est = fitted(name, rows, y)
        except InputError as error:
            if name == "GenerativeClassifier":
                assert "no column can be used" in str(error)  # noqa: PT017  (all columns are constant)
                return
            assert "rescale" in str(error)  # noqa: PT017  (fourth powers overflow: a clear answer)
            assert "auto" in name or "eigen" in name or "ledoit-wolf" in name
            return
        except ValueError as error:
            assert "more than the number of classes" in str(error)  # noqa: PT017
            return
        proper(est, rows)
        proper(est, inside(name, np.r_[rows * 1e3, rows + 1, np.full((1, rows.shape[1]), 1e300)]))

    check()


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("name", VARIANTS)
def test_far_rows_do_not_depend_on_their_batch(name, scale):
    """The posterior of a row is the same alone and beside rows that are further out."""
    scale = 1.0 if "beta" in name or "Categorical" in name else scale
    try:
        est = fitted(name, X * scale)
    except InputError as error:
        assert "rescale" in str(error)  # noqa: PT017
        return
    far = np.array([0.3, 3.0, 1e5, 1e8, 1e40, 1e100, 1e140])[:, None] * [1.0, -2.0, 0.5] * scale
    rows = inside(name, np.r_[far, [[1e300, 3e299, 1e299]], X * scale])
    alone = np.concatenate([est.predict_proba(rows[i : i + 1]) for i in range(len(rows))])
    np.testing.assert_allclose(est.predict_proba(rows), alone, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1.0, 1e30, 1e150])
@pytest.mark.parametrize(
    "name",
    [k for k, e in VARIANTS.items() if isinstance(e, LDA) or (isinstance(e, GDA) and e.tie == 1)],
)
def test_a_linear_boundary_has_its_sides_however_far_out(name, scale):
    """One column, "b" right of "a": far right is "b" and far left "a", at any scale."""
    x = np.array([-1.5, -1.0, -0.5, 0.5, 1.0, 1.5])[:, None] * scale
    for labels in (list("aaabbb"), list("bbbaaa")):
        try:
            est = clone(VARIANTS[name]).fit(x, labels)
        except InputError as error:
            assert "rescale" in str(error)  # noqa: PT017
            return
        for far in (10 * scale, 1e5 * scale, 1e155, 1e200, 1e300):
            assert est.predict([[-far], [far]]).tolist() == [labels[0], labels[-1]], far
            np.testing.assert_allclose(est.predict_proba([[far]]).max(), 1)


@pytest.mark.parametrize("method", ["fit", "predict", "predict_proba", "score_samples"])
@pytest.mark.parametrize(("model", "value"), [(MultinomialNB(), -1.0), (ComplementNB(), -1.0), (BernoulliNB(), np.inf)])
def test_a_bad_entry_far_down_a_sparse_matrix_is_named_by_its_row(model, value, method):
    """Long inputs are taken slice by slice; the row in the error counts from the first of all."""
    counts = np.ones((140_000, 2))
    y = np.arange(len(counts)) % 2
    model.fit(counts[:4], y[:4])
    counts[135_001, 1] = value
    with pytest.raises(InputError, match=r"'x1', found .* in row 135001;"):
        getattr(model, method)(*((sparse.csr_matrix(counts), y)[: 2 if method == "fit" else 1]))


def test_every_public_estimator_is_here():
    public = {getattr(suffit, k) for k in suffit.__all__ if hasattr(getattr(suffit, k), "predict_proba")}
    public.remove(suffit.Decision)  # around an estimator: test_decide.py
    assert {type(e) for e in CORE.values()} == {k for k in public if hasattr(k, "fit")} == set(BAD_SETTINGS)
