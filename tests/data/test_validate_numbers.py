"""Columns of numbers: what counts as a number, as missing or as none, and how a bad cell is named."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.utils import get_tags

import suffit
from cases import FAMILIES, two_classes
from every_estimator import once_per_reader
from refusals import (
    CORE,
    NAMED,
    ROWWISE,
    VARIANTS,
    X,
    Y,
    both_states,
    changing,
    fitted,
    frame,
    names_cell,
    refused,
    with_cell,
)
from suffit import (
    Bernoulli,
    BernoulliNB,
    ComplementNB,
    InputError,
    MultinomialNB,
    NaiveBayes,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


INFINITE = [("array", np.inf), ("array", -np.inf), ("csr", -np.inf)]  # each family looks for them in a loop of its own


@pytest.mark.parametrize(
    ("name", "case"), once_per_reader(CORE, [*INFINITE, ("csr", np.inf), ("frame", np.inf)], INFINITE)
)
def test_infinities_are_refused_by_column_value_and_way_out(name, case):
    container, value = case
    make, column = {"array": (np.asarray, "x1"), "frame": (frame, "two"), "csr": (sparse.csr_array, "x1")}[container]
    if container == "csr" and (name in ("CategoricalNB", "GenerativeClassifier") or "estimator" in name):
        pytest.skip("takes no sparse input")
    bad = make(with_cell(value))
    unfitted, known = both_states(name, make(X))
    for est in (unfitted, known):
        for method in changing(name):
            names_cell(refused(est, lambda e, m=method: getattr(e, m)(bad, Y), "inf", InputError), column, value, 2)
    names_cell(refused(known, lambda e: e.forget(bad, Y), "inf", InputError), column, value, 2)
    methods = [
        *ROWWISE,
        *(m for m in ("decision_function", "transform") if hasattr(known, m) and "lsqr" not in name),
    ]
    for method in methods:
        names_cell(refused(known, lambda e, m=method: getattr(e, m)(bad), "inf", InputError), column, value, 2)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["GDA-tied", "GDA-diagonal-tied", "LDA", "LDA-lsqr", "LDA-eigen"])
@pytest.mark.parametrize("labels", [Y, np.repeat("only", 24), np.repeat(["c", "a", "b"], 8), np.tile(["a", "b"], 12)])
def test_infinities_are_refused_by_linear_models_wherever_the_classes_lie(name, sign, labels):
    est = fitted(name, y=labels)
    for column in range(3):
        for method in ROWWISE:
            with pytest.raises(InputError, match=rf"x{column}.*inf in row 0"):
                getattr(est, method)(with_cell(sign * np.inf, 0, column)[:1])


@pytest.mark.filterwarnings(
    "ignore::UserWarning:sklearn"
)  # an array after a frame: scikit-learn says that the names are gone
@pytest.mark.parametrize(("name", "container"), once_per_reader(VARIANTS, ["array", "frame"], ["array"]))
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
    unfitted, known = both_states(name, make(X))
    for est in (unfitted, known):
        for method in changing(name):
            names_cell(refused(est, lambda e, m=method: getattr(e, m)(bad, Y), "NaN", InputError), column, np.nan, 2)
    for method in ROWWISE:  # a fitted model takes rows with missing values, whoever estimated its covariances
        assert len(getattr(known, method)(bad)) == len(bad)


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # it is said; test_missing_values.py looks at the words
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
    *((f"NaiveBayes-{key}", value, FAMILIES[key].needs) for key in NAMED for value in FAMILIES[key].outside),
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
        unfitted, known = both_states(name)
        for est in (unfitted, known):
            refused(est, lambda e: e.fit(zeros, Y), f"{match}, found 0.0 in row .*use gaussian", InputError)
        refused(known, lambda e: e.predict(zeros), match, InputError)
        return
    bad = make(with_cell(value))
    unfitted, known = both_states(name, make(X))
    for est in (unfitted, known):
        for method in ("fit", "partial_fit"):
            call = lambda e, m=method: getattr(e, m)(bad, Y)  # noqa: E731
            names_cell(refused(est, call, match, InputError), column, value, 2)
    names_cell(refused(known, lambda e: e.forget(bad, Y), match, InputError), column, value, 2)
    for method in ROWWISE:
        names_cell(refused(known, lambda e, m=method: getattr(e, m)(bad), match, InputError), column, value, 2)


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


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, suffit.PoissonNB])
def test_a_bad_cell_deep_in_the_data_is_named_by_its_row(make):
    """Densities go through the rows in slices; the number of the row is that of the whole."""
    X, y = two_classes(140_000)
    X = np.abs(X)
    model = make().fit(X, y)
    X[135_000, 1] = np.inf
    for call in (model.predict, model.predict_proba, model.score_samples, lambda x: model.log_likelihood(x, y)):
        with pytest.raises(suffit.InputError, match=r"'x1'.*row 135000"):
            call(X)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("make", [suffit.BernoulliNB, suffit.GaussianNB, suffit.LDA, suffit.QDA])
def test_infinities_of_both_signs_are_refused_without_a_warning(make, form):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, 3, 500)
    model = make().fit(form(X), y)
    X[12, 1], X[40, 2] = np.inf, -np.inf
    X = form(X)
    for call in (model.predict, model.predict_proba, model.score_samples, lambda X: make().fit(X, y)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="row 12"):
                call(X)


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, suffit.QDA, suffit.MultinomialNB])
def test_of_two_infinities_the_first_is_named(make):
    rng = np.random.default_rng(0)
    X, y = rng.random((150_000, 4)), rng.integers(0, 3, 150_000)
    model = make().fit(X, y)
    X[70_123, 1] = X[140_001, 2] = np.inf
    for call in (model.predict, model.predict_proba, model.predict_log_proba, model.score_samples):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the error says it all
            with pytest.raises(ValueError, match="row 70123"):
                call(X)


NUMERIC = [
    suffit.LDA,
    suffit.QDA,
    suffit.GDA,
    suffit.GaussianNB,
    suffit.BernoulliNB,
    suffit.PoissonNB,
    suffit.MultinomialNB,
    suffit.ComplementNB,
    suffit.NaiveBayes,
]


@pytest.mark.parametrize(
    "objects",
    [
        lambda X: [[None if v != v else v for v in row] for row in X.tolist()],
        lambda X: np.where(np.isnan(X), None, X),
        lambda X: np.where(np.isnan(X), pd.NA, X.astype(object)),
        lambda X: pd.DataFrame(np.where(np.isnan(X), pd.NA, X.astype(object)), columns=["a", "b"]),
        lambda X: np.ma.masked_array(np.nan_to_num(X), np.isnan(X)),
    ],
    ids=["list", "None", "NA", "frame", "masked"],
)
@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.MultinomialNB])
def test_missing_objects_are_missing_on_every_path(make, objects):
    X = np.random.default_rng(0).integers(0, 5, (60, 2)).astype(float)
    X[[3, 8], [1, 0]] = np.nan
    y = np.arange(60) % 2
    more = X[:12] + 1.0
    given, batch = objects(X), objects(more)
    model, plain = make().fit(given, y), make().fit(X, y)
    for step in ("partial_fit", "forget"):
        np.testing.assert_array_equal(model.predict_proba(given), plain.predict_proba(X))
        np.testing.assert_array_equal(model.score_samples(batch), plain.score_samples(more))
        getattr(model, step)(batch, y[:12])
        getattr(plain, step)(more, y[:12])
    np.testing.assert_array_equal(model.predict_proba(given), plain.predict_proba(X))


@pytest.mark.parametrize("make", [suffit.LDA, suffit.GaussianNB])
def test_whole_numbers_beyond_64_bits_are_numbers(make):
    X, y = [[1, 2.5], [2, 3.5], [3, 2**70], [4, 1.0]] * 15, [0, 1] * 30
    want = make().fit(np.array(X, dtype=float), y).predict_proba(np.array(X, dtype=float))
    np.testing.assert_array_equal(make().fit(X, y).predict_proba(X), want)
    X[2][1] = 10**400
    with pytest.raises(
        suffit.InputError, match=r"column 'x1': numbers must fit into float64, found a number .* in row 2;"
    ):
        make().fit(X, y)


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.MultinomialNB])
def test_dates_and_durations_are_no_numbers(make):
    days = np.arange(60).astype("M8[ns]")
    days[5] = "NaT"
    plain, y = np.ones((60, 2)) + np.arange(60)[:, None] % 7, np.arange(60) % 2
    model = make().fit(plain, y)
    tables = [np.c_[days, days], np.c_[days - days[0], days - days[0]]]
    tables += [pd.DataFrame({"a": plain[:, 0], "b": v}) for v in (days, days - days[0], days.astype("M8[us]").tolist())]
    tables += [pl.DataFrame({"a": plain[:, 0], "b": v}) for v in (days, days - days[0], days.astype("M8[D]"))]
    tables += [pl.DataFrame({"a": plain[:, 0], "b": days}).to_arrow(), np.c_[plain[:, :1], days[:, None].astype("O")]]
    tables[-1][:, 1] = days.astype("M8[us]").tolist()
    tables += [tables[-1].tolist()]
    for scalars in (days, days - days[0]):  # NumPy's own, of which float() makes numbers
        tables.append([[1.0, value] for value in scalars])
    for table in tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model knows no names
            for call in (lambda t: make().fit(t, y), lambda t: make().partial_fit(t, y), model.predict_proba):
                with pytest.raises(
                    suffit.InputError, match=r"column '(b|x0|x1)': it holds dates or times; convert it to numbers"
                ):
                    call(table)


@pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # the numbers are a straight line
@pytest.mark.parametrize("make", [suffit.LDA, suffit.GaussianNB, suffit.MultinomialNB])
def test_a_word_among_numbers_is_named_with_its_column(make):
    y, words, numbers = [0, 1] * 30, ["u", "v"] * 30, np.arange(60.0)
    tables = [pd.DataFrame({"a": numbers, "b": v}) for v in (words, pd.Categorical(words), np.array(words, dtype="O"))]
    tables += [pl.DataFrame({"a": numbers, "b": pl.Series(words, dtype=t)}) for t in (pl.String, pl.Categorical)]
    for table in tables:
        with pytest.raises(
            suffit.InputError, match=r"column 'b'.*could not convert string to float.*'u' in row 0; .*(Gen|Count)"
        ):
            make().fit(table, y)
    with pytest.raises(suffit.InputError, match=r"column 'x1'.*'v' in row 0"):
        make().fit([[1, "v"]] * 60, y)
    categories = pd.DataFrame({"a": numbers, "b": pd.Categorical([1, 2] * 30)})  # numbers stay numbers
    np.testing.assert_array_equal(
        make().fit(categories, y).predict(categories), make().fit(categories.astype(float), y).predict(categories)
    )
    with pytest.raises(TypeError, match="column 'x0': the argument must be a string or a real number, found ndarray"):
        make().fit(np.array([[np.ones(2), 1.0]] * 60, dtype=object), y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "make",
    [
        *(suffit.GaussianNB, suffit.BernoulliNB, suffit.MultinomialNB, suffit.ComplementNB, suffit.CategoricalNB),
        *(suffit.PoissonNB, suffit.LDA, suffit.QDA, suffit.GDA),
    ],
)
def test_every_estimator_takes_missing_values(make, form):
    if make is suffit.CategoricalNB and form is not np.asarray:
        pytest.skip("takes no sparse input")
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.poisson(3 + y[:, None], (150, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    P = make().fit(form(X), y).predict_proba(form(X))
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
