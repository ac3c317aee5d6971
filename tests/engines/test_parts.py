"""Fits in parts equal fits on all rows, however the rows are cut; two models fitted apart merge, or say how to."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import suffit
from suffit.engines.parts import add, collect, fit_parts, plan, total

N = 600


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    """Mixed columns with missing values; a category, a class and a column's values in the last rows only."""
    rng = np.random.default_rng(5)
    k = np.sort(rng.choice(3, N, p=[0.6, 0.37, 0.03]))
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=N) + k,
            "visits": rng.poisson(3 + k).astype(float),
            "city": np.array(["Bern", "Chur", "Basel"])[rng.choice(3, N)].astype(object),
            "member": (rng.random(N) < 0.3 + 0.2 * k).astype(object),
            "income": rng.gamma(2, 1 + k, N),
        }
    )
    for name in frame:
        frame.loc[rng.random(N) < 0.07, name] = None if frame[name].dtype == object else np.nan
    frame.loc[580:, "city"] = "Visp"
    frame.loc[:200, "income"] = np.nan
    return frame, np.array(["early", "late", "rare"])[k]


CUTS = {
    "one": [0, N],
    "thirds": [0, 200, 400, N],
    "uneven": [0, 1, 2, 30, 30, 577, N],
    "fine": list(range(0, N + 1, 24)),
}


def in_parts(frame, y, cuts):
    return [(frame[a:b], y[a:b]) for a, b in pairwise(cuts)]


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_a_table_fit_in_parts_is_the_fit_of_all_rows(table, cuts):
    frame, y = table
    model = fit_parts(suffit.GenerativeClassifier(), in_parts(frame, y, cuts))
    for whole in (suffit.GenerativeClassifier(columns=model.schema_), suffit.GenerativeClassifier()):
        whole.fit(frame, y)
        np.testing.assert_array_equal(model.class_count_, whole.class_count_)
        np.testing.assert_allclose(model.predict_proba(frame), whole.predict_proba(frame), rtol=0, atol=1e-10)
    assert model.selection_ is not None
    more = model.partial_fit(frame[:5], y[:5]).forget(frame[:5], y[:5])
    np.testing.assert_allclose(more.predict_proba(frame), whole.predict_proba(frame), rtol=0, atol=1e-8)


PLAIN = {
    "gaussian": suffit.GaussianNB(),
    "lda": suffit.LDA(),
    "qda": suffit.QDA(),
    "gda": suffit.GDA(tie=0.5, shrinkage=0.1),
    "binned": suffit.NaiveBayes(suffit.Binned()),
    "gamma": suffit.NaiveBayes("gamma"),
    "poisson": suffit.PoissonNB(),
    "bernoulli": suffit.BernoulliNB(binarize=2.0),
}


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")
@pytest.mark.parametrize("estimator", PLAIN.values(), ids=PLAIN)
@pytest.mark.parametrize("cuts", [CUTS["thirds"], CUTS["uneven"]], ids=["thirds", "uneven"])
def test_any_estimator_fits_in_parts(estimator, cuts):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, N)
    y[:300] %= 2
    X = rng.poisson(4 + y[:, None], (N, 3)) + 1.0
    X[rng.random(X.shape) < 0.05] = np.nan
    model = fit_parts(estimator, in_parts(X, y, cuts))
    whole = type(estimator)(**estimator.get_params()).fit(X, y)
    np.testing.assert_array_equal(model.class_count_, whole.class_count_)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)
    assert not estimator.__sklearn_is_fitted__()


def test_words_and_categories_fit_in_parts():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    counts = sparse.csr_array(rng.poisson(0.3 + 0.3 * y[:, None], (60, 12)).astype(float))
    model = fit_parts(suffit.MultinomialNB(), [(counts[:25], y[:25]), (counts[25:], y[25:])])
    whole = suffit.MultinomialNB().fit(counts, y)
    np.testing.assert_allclose(model.predict_proba(counts), whole.predict_proba(counts), atol=1e-12)
    documents = [rng.integers(0, 3 + i // 2, 5).tolist() for i in range(60)]  # later ones have new words
    model = fit_parts(suffit.MultinomialNB(input="sequences"), [(documents[:9], y[:9]), (documents[9:], y[9:])])
    whole = suffit.MultinomialNB(input="sequences").fit(documents, y)
    np.testing.assert_allclose(model.predict_proba(documents), whole.predict_proba(documents), atol=1e-12)
    words = np.array(["red", "blue", "green"], object)[rng.integers(0, 3, (60, 2))]
    model = fit_parts(suffit.CategoricalNB(), [(words[:7], y[:7]), (words[7:], y[7:])])
    np.testing.assert_array_equal(model.predict_proba(words), suffit.CategoricalNB().fit(words, y).predict_proba(words))


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")
def test_parts_are_added_in_any_order_and_survive_a_pickle(table):
    frame, y = table
    planned = pickle.loads(pickle.dumps(plan(suffit.GenerativeClassifier(), frame, y)))
    parts = [pickle.loads(pickle.dumps(collect(planned, *part))) for part in in_parts(frame, y, CUTS["uneven"])]
    one, other = total(parts), total([add(parts[5], parts[0]), *parts[4:0:-1]])
    np.testing.assert_allclose(one.predict_proba(frame), other.predict_proba(frame), atol=1e-11)


def test_a_plan_has_no_rows_and_a_fitted_model_can_be_one():
    X, y = np.arange(8.0)[:, None], np.arange(8) // 4
    planned = plan(suffit.GaussianNB(), X, y)
    with pytest.raises(suffit.InputError, match="has learned no rows yet"):
        planned.predict(X)
    fitted = suffit.GaussianNB().fit(X, y)
    again = fit_parts(fitted, [(X[:5], y[:5]), (X[5:], y[5:])])
    np.testing.assert_array_equal(again.class_count_, [4.0, 4.0])
    np.testing.assert_array_equal(fitted.class_count_, [4.0, 4.0])


def test_parts_without_rows_weight_or_labels_add_nothing():
    X, y = {"x": [1.0, 2.0, 5.0, 7.0]}, ["a", "a", "b", "b"]
    estimator = suffit.GenerativeClassifier(structure="naive", missing_target="drop")
    planned = plan(estimator, X, y)
    nothing = [({"x": []}, []), ({"x": [9.0]}, ["b"], [0.0]), ({"x": [9.0]}, [None])]
    model = total(collect(planned, *part) for part in [*nothing, (X, y), *nothing])
    np.testing.assert_array_equal(model.class_count_, [2.0, 2.0])
    with pytest.raises(suffit.InputError, match="no part has any rows"):
        total(collect(planned, *part) for part in nothing)
    with pytest.raises(suffit.InputError, match="there are no parts"):
        total([])


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # no column tells anything
def test_rows_that_are_all_equal_are_no_single_row():
    table = {"x": np.full(6, 2.0), "city": np.full(6, "Bern", object)}
    model = fit_parts(
        suffit.GenerativeClassifier(), [({k: v[i : i + 2] for k, v in table.items()}, ["a", "a"]) for i in (0, 2, 4)]
    )
    whole = suffit.GenerativeClassifier().fit(table, ["a"] * 6)
    assert repr(model.schema_) == repr(whole.schema_)
    assert model.class_count_.tolist() == [6.0]


def test_a_prior_and_a_calibration_wait_for_all_classes():
    rng = np.random.default_rng(3)
    y = np.repeat(["a", "b"], 100)
    X = rng.normal(size=(200, 2)) + (y == "b")[:, None]
    for settings in ({"priors": {"a": 0.2, "b": 0.8}}, {"calibrate": "temperature"}):
        parts = [(X[:100], y[:100]), (X[100:], y[100:])]  # one class in each
        model, whole = fit_parts(suffit.GaussianNB(**settings), parts), suffit.GaussianNB(**settings).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), atol=1e-10)
    with pytest.raises(ValueError, match="class 'b' is missing"):
        fit_parts(suffit.GaussianNB(priors={"a": 1.0}), parts)


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")
def test_models_fitted_apart_merge_or_say_how_to(table):
    """Families, blocks, categories of a coding and bins that differ: one sentence, and doing as it says works."""
    frame, y = table
    order = np.random.default_rng(0).permutation(N)
    halves = [order[:90], order[90:]]
    first, second = (suffit.GenerativeClassifier().fit(frame.iloc[rows], y[rows]) for rows in halves)
    with pytest.raises(suffit.InputError) as refused:
        first.merge(second)
    assert "fit the second model with GenerativeClassifier(columns=first.schema_)" in str(refused.value)
    again = suffit.GenerativeClassifier(columns=first.schema_).fit(frame.iloc[halves[1]], y[halves[1]])
    assert first.merge(again).class_count_.sum() == N


REFUSED = [
    (suffit.QDA(), [[1.0, 2.0], [2.0, 3.0], [4.0, 1.0]], "aaa", "number of classes has to be greater than one"),
    (suffit.LDA(), [[1.0, 2.0], [2.0, 3.0]], "ab", "number of samples must be more than the number of classes"),
    (suffit.GDA(tie=1.0), [[1.0, 2.0], [2.0, 3.0]], "ab", "number of samples must be more than the number of classes"),
    (suffit.LDA(n_components=2), np.arange(8.0).reshape(4, 2), "aabb", "n_components cannot be larger than"),
]


def by_sql(estimator, X, y):
    duckdb = pytest.importorskip("duckdb")
    rows = ", ".join(f"({a}, {b}, '{c}')" for (a, b), c in zip(X, y, strict=True))
    from suffit.engines import fit_sql

    return fit_sql(duckdb.connect(), f"SELECT * FROM (VALUES {rows}) AS v(a, b, y)", target="y", estimator=estimator)


def by_dask(estimator, X, y):
    dd = pytest.importorskip("dask.dataframe")
    from suffit.engines import fit_dask

    frame = pd.DataFrame(np.asarray(X), columns=["a", "b"]).assign(y=list(y))
    return fit_dask(estimator, dd.from_pandas(frame, npartitions=2), "y")


ENGINES = {"parts": lambda estimator, X, y: fit_parts(estimator, [(np.asarray(X), list(y))])}
ENGINES |= {"sql": by_sql, "dask": by_dask}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
@pytest.mark.parametrize(("estimator", "X", "y", "match"), REFUSED, ids=["qda", "lda", "gda", "components"])
def test_what_an_estimator_refuses_of_all_rows_every_engine_refuses(engine, estimator, X, y, match):
    with pytest.raises(ValueError, match=match):
        type(estimator)(**estimator.get_params()).fit(np.asarray(X), list(y))
    with pytest.raises(ValueError, match=match):
        engine(estimator, X, y)


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_covariances_by_an_estimator_of_the_users_own_need_all_rows_at_once(engine):
    from sklearn.covariance import ShrunkCovariance

    own = suffit.LDA(solver="lsqr", covariance_estimator=ShrunkCovariance())
    with pytest.raises(suffit.InputError, match=r"covariance_estimator needs all rows at once.*use shrinkage"):
        engine(own, np.arange(8.0).reshape(4, 2) ** 1.1, "aabb")


def test_weights_that_are_shares_are_no_reason_to_refuse():
    X, y = np.array([[1.0], [2.0], [5.0], [7.0]]), np.array(list("aabb"))
    w = np.full(4, 0.25)
    model = fit_parts(suffit.LDA(), [(X[:1], y[:1], w[:1]), (X[1:], y[1:], w[1:])])
    np.testing.assert_allclose(model.predict_proba(X), suffit.LDA().fit(X, y, w).predict_proba(X), atol=1e-12)


def test_a_plan_takes_labels_of_arrow():
    pa = pytest.importorskip("pyarrow")
    X, y = {"x": np.arange(8.0)}, pa.chunked_array([["a"] * 4, ["b"] * 4])
    planned = plan(suffit.GenerativeClassifier(structure="naive"), X, y)
    assert total([collect(planned, X, y)]).classes_.tolist() == ["a", "b"]


def test_rows_without_labels_are_none_in_every_engine():
    dd, duckdb = pytest.importorskip("dask.dataframe"), pytest.importorskip("duckdb")
    from suffit.engines import fit_dask, fit_sql

    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [None, None]}, dtype=object).astype({"x": float})
    drops = suffit.GenerativeClassifier(missing_target="drop")
    with pytest.raises(suffit.InputError, match="there are no rows with a label"):
        fit_parts(drops, [(frame[["x"]], frame["y"])])
    with pytest.raises(suffit.InputError, match="there are no rows with a label"):
        fit_dask(drops, dd.from_pandas(frame, npartitions=2), "y")
    with pytest.raises(suffit.InputError, match="there are no rows with a label"):
        fit_sql(duckdb.connect(), "SELECT 1.0 AS x, NULL AS y", target="y", estimator=drops)
