"""GenerativeClassifier: tables of every kind, the choice of families, exactness, laws, missing values, draws."""

from __future__ import annotations

import copy
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

import suffit
from suffit import (
    Binned,
    Categorical,
    GaussianNB,
    GenerativeClassifier,
    InputError,
    MultivariateGaussian,
    NaiveBayes,
)
from suffit import Gamma as GammaFamily
from suffit import GenerativeClassifier as Generative
from table_kinds import (
    FAMILIES,
    FIXED,
    NAMES,
    TABLE,
    TABLES,
    N,
    Y,
    families_of,
    nan,
    objects,
    pandas_category,
    pandas_nullable,
    rows_of,
    same,
    some,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning"),
]


# --- one table, of numbers, counts, yes and no, words and categories, with missing values


# --- which family a column gets


# --- what the user asks for


# --- exactness


# --- laws, with columns fixed


@pytest.mark.parametrize("kind", ["dict of lists", "pandas", "pandas category", "polars", "polars enum"])
@pytest.mark.parametrize("missing", ["ignore", "informative"])
def test_N10_batches_merges_and_forgetting(kind, missing):
    table = TABLES[kind](TABLE)
    whole = Generative(FIXED, missing=missing).fit(table, Y)
    rng = np.random.default_rng(0)
    parts = np.split(rng.permutation(N), [3, 40, 41, 42, 200])
    model, models = Generative(FIXED, missing=missing), []
    for part in parts:
        model.partial_fit(some(table, part), Y[part])
        if len(part) > 1:
            models.append(Generative(FIXED, missing=missing).fit(some(table, part), Y[part]))
        else:
            models[-1].partial_fit(some(table, part), Y[part])
    same(model, whole, table)
    same(models[2].merge(*models[:2], *models[3:]), whole, table)
    same(sum(models), whole, table)
    gone = parts[-1]
    same(model.forget(some(table, gone), Y[gone]), sum(models[:-1]), table)
    without = Y != "bee"
    left = whole.forget(some(table, np.flatnonzero(~without)), Y[~without])
    same(left, Generative(FIXED, missing=missing).fit(some(table, np.flatnonzero(without)), Y[without]), table)
    order = rng.permutation(N)
    same(Generative(FIXED).fit(some(table, order), Y[order]), Generative(FIXED).fit(table, Y), table)


def test_N10_one_row_at_a_time():
    model = Generative(FIXED)
    for i in range(60):
        model.partial_fit(some(TABLE, [i]), Y[i : i + 1])
    same(model, Generative(FIXED).fit(some(TABLE, range(60)), Y[:60]))


@pytest.mark.parametrize("missing", ["ignore", "informative"])
def test_a_weight_is_a_number_of_repetitions(missing):
    weight = np.random.default_rng(0).integers(0, 4, N)
    a = Generative(FIXED, missing=missing).fit(pl.DataFrame(TABLE), Y, sample_weight=weight)
    rows = np.repeat(np.arange(N), weight)
    b = Generative(FIXED, missing=missing).fit(pl.DataFrame(TABLE)[rows], Y[rows])
    same(a, b)
    auto = Generative(missing=missing).fit(TABLE, Y, sample_weight=weight)
    assert families_of(auto) == FAMILIES


def test_a_row_of_weight_0_leaves_no_trace():
    table = {**TABLE, "city": [*TABLE["city"][:-1], "Atlantis"]}
    weight = np.r_[np.ones(N - 1), 0]
    model = Generative(unknown="error").fit(table, [*Y[:-1], "dog"], sample_weight=weight)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    with pytest.raises(InputError, match="Atlantis"):
        model.predict(some(table, [N - 1]))


def test_C3_new_classes_and_new_levels_come_later():
    first = np.flatnonzero((Y != "cat") & (np.array(TABLE["city"]) != "Bern"))
    rest = np.setdiff1d(np.arange(N), first)
    model = Generative(FIXED).fit(some(TABLE, first), Y[first])
    model.partial_fit(some(TABLE, rest), Y[rest])
    same(model, Generative(FIXED).fit(TABLE, Y))


def test_pickles_clones_and_copies():
    for kind in ("polars enum", "pandas category", "dict of lists", "object array"):
        table = TABLES[kind](TABLE)
        model = Generative(structure="naive", missing="informative", unknown="novel").fit(table, Y)
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(table, Y)):
            np.testing.assert_array_equal(other.predict_proba(table), model.predict_proba(table))
            assert str(other.schema_) == str(model.schema_)
            assert type(other.sample(3, random_state=0)[0]) is type(model.sample(3, random_state=0)[0])
        assert not clone(model).__sklearn_is_fitted__()
        assert len(pickle.dumps(model)) < 10_000


def test_C6_pipelines_and_searches_over_frames():
    frame = pandas_nullable(TABLE).reset_index(drop=True)
    assert cross_val_score(Generative(), frame, Y, cv=5).mean() > 0.6
    p = cross_val_predict(Generative(), frame, Y, cv=4, method="predict_proba")
    np.testing.assert_allclose(p.sum(axis=1), 1)
    grid = {"missing": ["ignore", "informative"], "columns": ["auto", FIXED, {**FIXED, "city": Categorical(alpha=9)}]}
    search = GridSearchCV(Generative(), grid, cv=3, error_score="raise").fit(frame, Y)
    assert search.best_score_ > 0.6
    added = FunctionTransformer(lambda t: t.assign(square=t["num"] ** 2), feature_names_out=None)
    piped = make_pipeline(added, Generative()).fit(frame, Y)
    np.testing.assert_array_equal(
        piped.predict_proba(frame), Generative().fit(added.transform(frame), Y).predict_proba(added.transform(frame))
    )
    named = Pipeline([("more", added), ("model", Generative())]).set_params(model__missing="informative").fit(frame, Y)
    assert named.score(frame, Y) > 0.6
    polars = pl.DataFrame(TABLE)
    assert cross_val_score(Generative(), polars, Y, cv=3).mean() > 0.6


BAD_CALLS = {
    "other rows": lambda m: m.fit(TABLE, Y[:-1]),
    "nested": lambda m: m.fit({"a": [[1]] * N}, Y),
    "y missing": lambda m: m.fit(TABLE, [None, *Y[1:]]),
    "infinity": lambda m: m.fit({**TABLE, "num": [np.inf, *TABLE["num"][1:]]}, Y),
    "batch infinity": lambda m: m.partial_fit({**TABLE, "num": [np.inf, *TABLE["num"][1:]]}, Y),
    "batch of words": lambda m: m.partial_fit({**TABLE, "num": ["a"] * N}, Y),
    "batch of other columns": lambda m: m.partial_fit({"q": [1.0] * N}, Y),
    "never learned": lambda m: m.forget({**TABLE, "city": ["Genf"] * N}, Y),
    "weights": lambda m: m.fit(TABLE, Y, sample_weight=-np.ones(N)),
}


@pytest.mark.parametrize("what", BAD_CALLS)
def test_what_fails_changes_nothing(what):
    model = Generative(FIXED).fit(some(TABLE, range(100)), Y[:100])
    fresh = Generative()
    before, p = pickle.dumps(model), model.predict_proba(TABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError):
            BAD_CALLS[what](model)
        if not any(k in what for k in ("batch", "never")):
            with pytest.raises(ValueError):
                BAD_CALLS[what](fresh)
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(model.predict_proba(TABLE), p)
    assert vars(fresh).keys() == vars(Generative()).keys()


@pytest.mark.parametrize(
    "settings", [{"columns": {"num": "bernoulli"}}, {"columns": {"nome": "gaussian"}}, {"missing": "informative"}]
)
def test_a_batch_under_settings_that_change_the_sums_is_refused(settings):
    model = Generative().fit(TABLE, Y).set_params(**settings)
    with pytest.raises(ValueError):
        model.partial_fit(TABLE, Y)


def test_models_that_keep_other_sums_do_not_merge():
    model = Generative(FIXED).fit(TABLE, Y)
    for other in (
        Generative({**FIXED, "num": Binned([0.0])}).fit(TABLE, Y),
        Generative(FIXED, missing="informative").fit(TABLE, Y),
        Generative().fit({k: TABLE[k] for k in ("num", "city")}, Y),
        GaussianNB().fit(np.zeros((3, 5)), ["ant", "bee", "cat"]),
    ):
        before = pickle.dumps(model)
        for a, b in ((model, other), (other, model)):
            with pytest.raises(InputError, match=r"merge|combined|columns"):
                a.merge(b)
        assert pickle.dumps(model) == before


def test_models_of_tables_in_another_order_merge():
    back = {k: TABLE[k] for k in NAMES[::-1]}
    for columns in (FIXED, "auto"):
        for missing in ("ignore", "informative"):
            model = Generative(columns, structure="naive", missing=missing)
            a, b = clone(model).fit(TABLE, Y), clone(model).fit(back, Y)
            same(a + b, clone(model).fit(TABLE, Y).partial_fit(TABLE, Y))
    joint = {("num", "count"): MultivariateGaussian()}
    twice = Generative(joint).fit(TABLE, Y).partial_fit(TABLE, Y)
    same(Generative(joint).fit(TABLE, Y) + Generative(joint).fit(back, Y), twice)


@pytest.mark.parametrize("structure", ["auto", "naive"])
@pytest.mark.parametrize("missing", ["ignore", "informative"])
def test_shards_fitted_with_one_schema_merge(structure, missing):
    table = pl.DataFrame(TABLE)
    first = Generative(structure=structure, missing=missing).fit(table[:200], Y[:200])
    model = Generative(first.schema_)
    whole = clone(model).fit(table, Y)
    merged = clone(model).fit(table[:120], Y[:120]) + clone(model).fit(table[120:], Y[120:])
    same(merged, whole, table, rtol=1e-9)
    assert str(merged.schema_) == str(first.schema_)
    assert [b.power for b in merged._model.family.blocks] == [b.power for b in first._model.family.blocks]
    np.testing.assert_allclose(merged.score_samples(table), whole.score_samples(table), rtol=1e-9)
    same(clone(model).fit(table[:200], Y[:200]), first, table, rtol=1e-12)


def test_rows_drawn_have_missing_values_as_often_as_those_learned():
    model = Generative(FIXED, missing="informative").fit(pl.DataFrame(TABLE), Y)
    drawn, _ = model.sample(4000, random_state=0)
    assert drawn.schema == pl.DataFrame(TABLE).schema
    for name in NAMES:
        learned = np.mean([v is None for v in TABLE[name]])
        assert drawn[name].null_count() / 4000 == pytest.approx(learned, abs=0.03)
    assert stats.kstest(model.novelty(drawn), "uniform").statistic < 0.08


def test_the_handle_for_a_row_of_a_table():
    model = Generative().fit(TABLE, Y)
    row = {k: v[1] for k, v in TABLE.items()}
    np.testing.assert_allclose(model.scorer()(row), model.predict_proba(some(TABLE, [1]))[0])
    with pytest.raises(InputError, match="column 'num': expected numbers"):
        model.scorer()({**row, "num": "a"})


def test_a_column_may_take_new_categories_where_the_others_do_not():
    table = {"s": ["a", "b"] * 50, "t": ["k", "l"] * 50}
    model = Generative({"s": Categorical(unknown="ignore")}, unknown="error").fit(table, [0, 1] * 50)
    assert model.predict({"s": ["c"], "t": ["k"]}).tolist() == [0]
    with pytest.raises(InputError, match="column 't'"):
        model.predict({"s": ["a"], "t": ["m"]})


def test_labels_in_frames_of_one_column_and_batches_of_arrow():
    pa = pytest.importorskip("pyarrow")
    expected = Generative(FIXED).fit(TABLE, Y)
    batch = pa.table(TABLE).to_batches()[0]
    for y in (pd.DataFrame({"y": Y}), pl.DataFrame({"y": Y}), np.ma.array(Y, mask=np.zeros(N))):
        same(Generative(FIXED, missing_target="drop").fit(batch, y), expected)


def test_many_threads_read_one_model():
    model = Generative().fit(pl.DataFrame(TABLE), Y)
    frames = [pl.DataFrame(TABLE), pd.DataFrame(TABLE), TABLE] * 4
    expected = model.predict_proba(TABLE)
    with ThreadPoolExecutor(6) as pool:
        for p in pool.map(model.predict_proba, frames):
            np.testing.assert_array_equal(p, expected)
        for _ in pool.map(lambda f: Generative().fit(f, Y).impute(f), frames):
            pass


def test_a_far_row_does_not_change_another():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=N) * (1 + np.unique(Y, return_inverse=True)[1])}
    model = Generative({"a": "gaussian"}).fit(table, Y)
    np.testing.assert_array_equal(model.predict_proba({"a": [1e200, -1e308]})[:1], model.predict_proba({"a": [1e200]}))


# --- missing values that tell, new categories, missing labels


def test_missing_values_may_be_evidence():
    (table, y), (new, truth) = (missing_by_class(seed) for seed in (8, 9))
    plain, told = Generative(missing="ignore").fit(table, y), Generative(missing="informative").fit(table, y)
    assert told.score(new, truth) > 0.75 > 0.6 > plain.score(new, truth)
    assert str(plain.schema_) == str(told.schema_)


def missing_by_class(seed):
    """4000 rows of noise; x is missing in 70 % of class 1 and in 10 % of class 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 4000)
    x = np.where(rng.random(4000) < np.where(y == 1, 0.7, 0.1), np.nan, rng.normal(size=4000))
    return {"x": x, "z": rng.normal(size=4000)}, y


def test_missing_values_are_columns_of_yes_or_no():
    model = Generative(FIXED, missing="informative").fit(TABLE, Y)
    mask = np.array([[v is None for v in TABLE[k]] for k in NAMES], dtype=float).T
    missing = NaiveBayes("bernoulli").fit(mask, Y)
    plain = Generative(FIXED).fit(TABLE, Y)
    log_prior = np.log([np.mean(c == Y) for c in model.classes_])
    for table in (TABLE, pl.DataFrame(TABLE), pandas_category(TABLE)):
        np.testing.assert_allclose(
            model.predict_joint_log_proba(table),
            plain.predict_joint_log_proba(TABLE) + missing.predict_joint_log_proba(mask) - log_prior,
            rtol=1e-12,
        )
    shares = np.array([[(mask[c == Y, j].sum() + 1) / ((c == Y).sum() + 2) for j in range(5)] for c in model.classes_])
    nothing = model.predict_joint_log_proba({k: [None] for k in NAMES})[0]
    np.testing.assert_allclose(nothing, np.log(shares).sum(axis=1) + log_prior, rtol=1e-12)
    assert model.n_parameters_ == plain.n_parameters_ + 15


def test_new_categories_exactly():
    table = {"s": ["a", "a", "b", "a", "b", "b", "b"], "t": ["k", "l", "k", "l", "k", "l", "k"]}
    y = [0, 0, 0, 1, 1, 1, 1]
    new = {"s": ["c", "a"], "t": ["k", "m"]}
    ignore = np.exp(Generative(structure="naive").fit(table, y).predict_joint_log_proba(new))
    prior = np.array([3, 4]) / 7
    np.testing.assert_allclose(ignore[0], prior * np.array([(2 + 1) / 5, (2 + 1) / 6]), rtol=1e-12)
    np.testing.assert_allclose(ignore[1], prior * np.array([(2 + 1) / 5, (1 + 1) / 6]), rtol=1e-12)
    novel = np.exp(Generative(structure="naive", unknown="novel").fit(table, y).predict_joint_log_proba(new))
    share = np.array([1 / (3 + 3), 1 / (4 + 3)])
    np.testing.assert_allclose(novel[0], prior * share * np.array([3 / 6, 3 / 7]), rtol=1e-12)
    np.testing.assert_allclose(novel[1], prior * share * np.array([3 / 6, 2 / 7]), rtol=1e-12)
    strict = Generative(structure="naive", unknown="error").fit(table, y)
    for make in (dict, pl.DataFrame, pd.DataFrame):
        with pytest.raises(
            InputError, match="column 's': a category never seen in training, found 'c' in row 0; use unknown="
        ):
            strict.predict_proba(make(new))
    p = strict.predict_proba({"s": [None], "t": ["k"]})
    np.testing.assert_allclose(p, Generative(structure="naive").fit(table, y).predict_proba({"s": [None], "t": ["k"]}))
    strict.partial_fit(new, [0, 1])  # learning a new category is no prediction
    assert np.isfinite(strict.predict_proba(new)).all()


def test_a_new_category_far_down_is_named_by_its_row():
    strict = Generative(unknown="error").fit({"s": ["a", "b"] * 50}, [0, 1] * 50)
    with pytest.raises(InputError, match="found 'c' in row 70000"):
        strict.predict(pl.DataFrame({"s": ["a"] * 70_000 + ["c"]}))


def test_new_categories_are_neither_drawn_nor_imputed():
    model = Generative({"s": Categorical(alpha=50.0)}, unknown="novel").fit({"s": ["a", "b"] * 50}, [0, 1] * 50)
    assert set(model.sample(500, random_state=0)[0]["s"]) == {"a", "b"}
    assert set(model.impute({"s": [None] * 300}, how="draw", random_state=0)["s"]) == {"a", "b"}
    assert set(model.profile()["s"]) <= {"a", "b"}


LABELS = {
    "list": lambda y: y,
    "numpy": objects,
    "pandas": pd.Series,
    "pandas category": lambda y: pd.Series(pd.Categorical(y)),
    "pandas string": lambda y: pd.array(y, dtype="string"),
    "polars": pl.Series,
    "polars categorical": lambda y: pl.Series(y, dtype=pl.Categorical),
    "floats": lambda y: np.array([np.nan if v is None else "abc".index(v[0]) for v in y]),
    "nullable": lambda y: pd.array([None if v is None else "abc".index(v[0]) for v in y], dtype="Int64"),
}
GONE = np.arange(N) % 10 == 3


@pytest.mark.parametrize("kind", LABELS)
def test_missing_labels_are_counted_or_dropped(kind):
    y = LABELS[kind]([None if g else v for v, g in zip(Y.tolist(), GONE, strict=True)])
    with pytest.raises(InputError, match=f"30 of {N} labels are missing, the first in row 3"):
        Generative(structure="naive").fit(TABLE, y)
    weight = np.arange(N) + 1.0
    kept = np.flatnonzero(~GONE)
    for table in (TABLE, pl.DataFrame(TABLE), pd.DataFrame(TABLE)):
        model = Generative(structure="naive", missing_target="drop").fit(table, y, sample_weight=weight)
        plain = Generative(structure="naive").fit(some(TABLE, kept), Y[kept], sample_weight=weight[kept])
        np.testing.assert_array_equal(model.predict_proba(TABLE), plain.predict_proba(TABLE))
        assert model.class_count_.sum() == weight[kept].sum()
    batches = Generative(FIXED, missing_target="drop").partial_fit(some(TABLE, range(150)), y[:150])
    batches.partial_fit(some(TABLE, range(150, N)), y[150:])
    assert batches.class_count_.sum() == 270


def test_missing_labels_are_dropped_from_forgetting_and_likelihood():
    y = [None if g else v for v, g in zip(Y.tolist(), GONE, strict=True)]
    kept = np.flatnonzero(~GONE)
    model = Generative(FIXED, missing_target="drop").fit(TABLE, Y)
    plain = Generative(FIXED).fit(TABLE, Y)
    assert model.log_likelihood(TABLE, y) == pytest.approx(plain.log_likelihood(some(TABLE, kept), Y[kept]), rel=1e-12)
    same(model.forget(TABLE, y), plain.forget(some(TABLE, kept), Y[kept]))
    with pytest.raises(InputError, match="every label is missing"):
        Generative(missing_target="drop").fit(TABLE, [None] * N)


def test_missing_labels_of_arrow_are_dropped():
    pa = pytest.importorskip("pyarrow")
    y = pa.array([None if g else v for v, g in zip(Y.tolist(), GONE, strict=True)])
    assert Generative(missing_target="drop").fit(TABLE, y).class_count_.sum() == 270


def test_masked_labels_are_missing():
    codes = np.unique(Y, return_inverse=True)[1]
    with pytest.raises(InputError, match=f"30 of {N} labels are missing"):
        Generative().fit(TABLE, np.ma.array(codes, mask=GONE))


def test_labels_of_several_kinds_stay_as_they_are_when_some_are_dropped():
    values = {"ant": 1, "bee": "x", "cat": 2.5}
    y = [None if g else values[v] for v, g in zip(Y.tolist(), GONE, strict=True)]
    assert Generative(missing_target="drop").fit(TABLE, objects(y)).classes_.tolist() == [1, 2.5, "x"]


def test_labels_that_are_tuples_may_be_dropped():
    y = [None if g else ("k", v) for v, g in zip(Y.tolist(), GONE, strict=True)]
    assert len(Generative(missing_target="drop").fit(TABLE, objects(y)).classes_) == 3


# --- backwards


def test_C5_a_joint_block_is_drawn_with_its_covariance():
    rng = np.random.default_rng(0)
    S = np.array([[2.0, 1.2], [1.2, 1.0]])
    X = rng.multivariate_normal([1, -1], S, N)
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    drawn, _ = Generative({("a", "b"): MultivariateGaussian()}).fit(table, ["k"] * N).sample(20_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.to_numpy().T), np.cov(X.T, bias=True), atol=0.06)


def test_C5_impute_is_the_textbook_regression_in_a_joint_block():
    rng = np.random.default_rng(9)
    X = rng.multivariate_normal([0, 1, 2], [[2, 1, 0.3], [1, 3, -0.5], [0.3, -0.5, 1]], 500)
    y = rng.integers(0, 2, 500)
    X[y == 1] += [3, 0, 1]
    model = Generative({("a", "b", "c"): MultivariateGaussian()}).fit(dict(zip("abc", X.T, strict=True)), y)
    with_missing = {"a": [None, 0.5, None], "b": [1.0, None, None], "c": [0.2, 1.5, 0.7]}
    means = [X[y == c].mean(axis=0) for c in (0, 1)]
    covariances = [np.cov(X[y == c].T, bias=True) for c in (0, 1)]
    rows = np.array([[np.nan if v is None else v for v in column] for column in with_missing.values()]).T
    expected = np.empty((2, 3, 3))
    for c in (0, 1):
        for i, row in enumerate(rows):
            gone = np.isnan(row)
            o, m = np.flatnonzero(~gone), np.flatnonzero(gone)
            S = covariances[c]
            expected[c, i] = row
            expected[c, i, m] = means[c][m] + S[np.ix_(m, o)] @ np.linalg.solve(S[np.ix_(o, o)], row[o] - means[c][o])
    for c in (0, 1):
        filled = model.impute(with_missing, y=[c] * 3)
        np.testing.assert_allclose(np.column_stack(list(filled.values())), expected[c], rtol=1e-9)
    p = model.predict_proba(with_missing)
    mixed = np.column_stack(list(model.impute(with_missing).values()))
    np.testing.assert_allclose(mixed, p[:, :1] * expected[0] + p[:, 1:] * expected[1], rtol=1e-9)
    many = {k: np.repeat(nan(v[:1]), 20_000) for k, v in with_missing.items()}
    draws = model.impute(many, y=[0] * 20_000, how="draw", random_state=0)["a"]
    S = covariances[0]
    o = [1, 2]
    left = S[0, 0] - S[0, o] @ np.linalg.solve(S[np.ix_(o, o)], S[o, 0])
    assert draws.mean() == pytest.approx(expected[0, 0, 0], abs=0.05)
    assert draws.var() == pytest.approx(left, rel=0.05)


def test_C5_impute_takes_the_most_probable_level_over_the_classes():
    table = {"s": ["a", "a", "b", "c", "c", "c", "c", "b"], "x": [0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 5.3, 5.4]}
    y = [0, 0, 0, 1, 1, 1, 1, 1]
    model = Generative({"x": "gaussian"}).fit(table, y)
    assert model.impute({"s": [None, None], "x": [0.1, 5.1]})["s"].tolist() == ["a", "c"]
    assert model.impute({"s": [None, None], "x": [0.1, 5.1]}, y=[1, 0])["s"].tolist() == ["c", "a"]
    assert model.impute({"s": [None], "x": [None]})["s"].tolist() == ["c"]
    expected = 3 / 8 * 0.1 + 5 / 8 * 5.2
    np.testing.assert_allclose(model.impute({"s": [None], "x": [None]})["x"], expected)
    with pytest.raises(ValueError, match="how='median'"):
        model.impute(table, how="median")
    with pytest.raises(ValueError, match="no class 9"):
        model.impute({"s": [None], "x": [1.0]}, y=[9])


def test_C5_the_density_is_the_sum_over_classes():
    for missing in ("ignore", "informative"):
        model = Generative(structure="naive", missing=missing).fit(TABLE, Y)
        np.testing.assert_allclose(
            model.score_samples(TABLE), logsumexp(model.predict_joint_log_proba(TABLE), axis=1), rtol=1e-13
        )


def test_C5_novelty_is_uniform_for_rows_of_the_model_and_1_for_absurd_ones():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=N), "b": rng.normal(5, 2, size=N), "s": np.array(list("uvw"))[rng.integers(0, 3, N)]}
    model = Generative({"a": "gaussian", "b": "gaussian"}).fit(table, Y)
    drawn, _ = model.sample(3000, random_state=3)
    novelty = model.novelty(drawn)
    assert ((novelty >= 0) & (novelty <= 1)).all()
    assert stats.kstest(novelty, "uniform").statistic < 0.06
    with_missing = {**drawn, "a": np.full(3000, np.nan)}
    assert stats.kstest(model.novelty(with_missing), "uniform").statistic < 0.06
    absurd = {"a": [1e6, 1e6, None, 1e200], "b": [5.0, None, -1e4, 0.0], "s": ["u", None, None, "v"]}
    assert model.novelty(absurd).tolist() == [1, 1, 1, 1]
    nothing = model.novelty({"a": [None], "b": [None], "s": [None]})
    assert 0 <= nothing[0] <= 1
    np.testing.assert_array_equal(model.novelty(drawn), novelty)


def test_C5_profiles():
    model = Generative(FIXED).fit(pl.DataFrame(TABLE), Y)
    profile = model.profile()
    assert isinstance(profile, pl.DataFrame)
    assert profile.columns == ["class", *NAMES]
    assert profile["class"].to_list() == ["ant", "bee", "cat"]
    for i, label in enumerate(model.classes_):
        values = {k: [v for v, c in zip(TABLE[k], Y, strict=True) if c == label and v is not None] for k in NAMES}
        assert profile["num"][i] == pytest.approx(np.mean(values["num"]))
        assert profile["flag"][i] == (np.mean(values["flag"]) >= 0.5)
        for k in ("city", "level"):
            top = max(values[k].count(v) for v in set(values[k]))
            assert values[k].count(profile[k][i]) == top
    assert profile["city"].dtype == pl.String
    one = model.profile("bee")
    assert one.equals(profile[1:2])
    assert model.profile(["cat", "ant"])["class"].to_list() == ["cat", "ant"]
    assert list(Generative(FIXED).fit(pd.DataFrame(TABLE), Y).profile().columns) == ["class", *NAMES]
    assert isinstance(Generative().fit(np.array(rows_of(TABLE), dtype=object), Y).profile(), dict)
    with pytest.raises(ValueError, match="no class 'dog'"):
        model.profile("dog")


def test_C5_a_profile_of_a_table_with_a_column_called_class():
    profile = Generative().fit({"class": TABLE["city"], "num": TABLE["num"]}, Y).profile()
    assert any(list(v) == ["ant", "bee", "cat"] for v in profile.values())


@pytest.mark.parametrize("values", [[("k", 1), ("k", 2), ("l", 1)], [1, "x", 2.5]], ids=["tuples", "mixed"])
def test_C5_a_profile_of_labels_of_any_kind(values):
    y = objects([values["abc".index(v[0])] for v in Y])
    assert set(Generative().fit(TABLE, y).profile()["class"]) == set(values)


def test_E1_the_logistic_form_is_the_posterior():
    complete = {k: [next(u for u in v if u is not None) if u is None else u for u in v] for k, v in TABLE.items()}
    model = Generative(FIXED).fit(complete, Y)
    form = model.logistic_form()
    rows = model._read_X_known(complete)
    np.testing.assert_allclose(form.predict_log_proba(rows), model.predict_log_proba(complete), atol=1e-9)
    pair = form.pair("bee", "ant")
    p = model.predict_proba(complete)
    np.testing.assert_allclose(pair(rows), np.log(p[:, 1] / p[:, 0]), atol=1e-9)


def test_E1_the_logistic_form_of_numbers_is_the_posterior():
    rng = np.random.default_rng(0)
    table = {
        "num": rng.normal(size=N),
        "count": rng.poisson(3, N),
        "a": rng.normal(size=N),
        "b": rng.normal(size=N),
        "flag": rng.random(N) < 0.4,
        "size": rng.gamma(2.0, size=N),
    }
    columns = {"num": "gaussian", "count": "poisson", ("a", "b"): MultivariateGaussian(), "size": GammaFamily()}
    model = Generative(columns).fit(table, Y)
    form = model.logistic_form()
    rows = model._read_X_known(table)
    np.testing.assert_allclose(form.predict_log_proba(rows), model.predict_log_proba(table), atol=1e-9)
    assert len(form.names) == form.weights.shape[1]
    assert {"num", "num²", "count", "a", "b", "a²", "a·b", "b²", "flag"} <= set(form.names)


def test_the_handle_for_one_row():
    X = np.random.default_rng(0).normal(size=(N, 3))
    model = Generative().fit(X, Y)
    np.testing.assert_allclose(model.scorer()(X[0]), model.predict_proba(X[:1])[0])


# --- bad tables


def test_one_class_and_a_class_of_one_row():
    one = Generative().fit(TABLE, ["only"] * N)
    np.testing.assert_array_equal(one.predict_proba(TABLE), np.ones((N, 1)))
    assert np.isfinite(one.score_samples(TABLE)).all()
    y = Y.copy().astype(object)
    y[17] = "rare"
    for missing in ("ignore", "informative"):
        model = Generative(missing=missing).fit(TABLE, y)
        p = model.predict_proba(TABLE)
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert model.class_count_.tolist()[-1] == 1
        model.sample(10, y="rare", random_state=0)
        assert np.isfinite(model.novelty(some(TABLE, range(20)))).all()


# --- words, labels and numbers as kernels read them


SHARES = [0.75, 0.25]


FORTY_LABELS = np.array(list("aaab" * 10))


NOTHING = {"a": [1.0] * 40, "b": ["x"] * 40, "id": [f"k{i}" for i in range(40)]}


@pytest.mark.parametrize(
    "settings",
    [{}, {"structure": "naive"}, {"calibrate": "temperature"}, {"missing": "informative"}, {"select": "loo"}],
    ids=str,
)
@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_a_table_without_a_usable_column_predicts_the_class_shares(make, settings):
    X = make(NOTHING)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = GenerativeClassifier(**settings).fit(X, FORTY_LABELS)
    assert len(caught) == 1
    assert str(caught[0].message).startswith("no column can be used, so every prediction is the class shares")
    assert "'a': every value is 1; 'b': every value is the same; 'id': an identifier" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(model.predict_proba(X), [SHARES] * 40)
        assert set(model.predict(X)) == {"a"}
        without = model.loo_predict_proba(X, FORTY_LABELS)
        np.testing.assert_allclose(without[[0, 3], 0], [29 / 39, 30 / 39])
        np.testing.assert_allclose(model.explain(X).total, np.log(3))
        assert "3 to 1" in model.why({"a": [1.0], "b": ["x"], "id": ["k1"]})
        assert "0 columns" in str(model.summary())
        assert model.n_parameters_ == 1
        assert model.score_samples(X).tolist() == pytest.approx([0.0] * 40)
        assert len(model.sample(5, random_state=0)[1]) == 5
        assert type(model.impute(X)) is type(X)
        assert len(model.get_feature_names_out()) == 0
        np.testing.assert_allclose((model + model).predict_proba(X)[0], SHARES)
        np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict_proba(X)[0], SHARES)
        assert model.decide(X).labels[0] == "a"
        first = make({k: v[:2] for k, v in NOTHING.items()})
        np.testing.assert_allclose(model.forget(first, FORTY_LABELS[:2]).predict_proba(X)[0], [28 / 38, 10 / 38])
    with pytest.raises(InputError, match="nomogram: the model has no columns"):
        model.nomogram()


def test_a_fold_without_a_usable_column_does_not_fail_the_cross_validation():
    X = pd.DataFrame({"rare": np.r_[np.ones(30), np.zeros(90)]})
    y = np.tile(["a", "a", "b"], 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffit.DataWarning)
        folds = [(np.arange(30, 120), np.arange(30)), (np.arange(90), np.arange(90, 120))]
        scores = cross_val_score(GenerativeClassifier(), X, y, cv=folds, error_score="raise")
    assert scores[0] == pytest.approx(2 / 3)
    assert np.isfinite(scores).all()


def test_batches_of_nothing_keep_the_class_shares():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffit.DataWarning)
        model = GenerativeClassifier().partial_fit(NOTHING, FORTY_LABELS)
        model.partial_fit(NOTHING, ["b"] * 40)
    np.testing.assert_allclose(model.predict_proba(NOTHING)[0], [30 / 80, 50 / 80])


def test_blocks_set_by_hand_and_trees_that_choose_them_are_refused():
    model = suffit.GenerativeClassifier({"a": "gaussian"}, structure="partitions")
    with pytest.raises(suffit.InputError, match="structure='partitions' chooses the blocks that columns= sets"):
        model.fit({"a": [1.0, 2.0, 3.0, 4.0]}, ["x", "y", "x", "y"])
    assert not hasattr(model, "schema_")
