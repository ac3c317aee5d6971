"""Fits inside a database equal those in memory; a model as SQL gives the probabilities that predict_proba gives."""

from __future__ import annotations

import math
import sqlite3

import numpy as np
import pytest
from sklearn.base import clone

import suffit
from suffit import engines
from suffit.data.errors import InputError
from suffit.engines import parts, sql
from suffit.engines.duckdb import fit_sql, posterior_sql, sql_of

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # of values made to be odd

NAMES = {"number": 'he said "x"', "other": "select", "positive": "a b", "count": "Robert'); DROP TABLE t;--"}
NAMES |= {"city": "ärger", "flag": "y", "hour": "c0"}


def mixed(n: int = 400, seed: int = 0, far: float = 0.0) -> pa.Table:
    """Mixed columns with missing values and odd names; a class of few rows, with a category of its own."""
    rng = np.random.default_rng(seed)
    k = rng.choice(3, n, p=[0.6, 0.37, 0.03])
    number = rng.normal(far + k, 1.0)
    values = {
        "number": number,
        "other": 0.7 * (number - far) + rng.normal(0, 1, n),
        "positive": rng.gamma(2.0 + k, 1.5),
        "count": rng.poisson(2.0 + 3 * k),
        "city": np.where(k == 2, "it's; --", rng.choice(["Bern", 'B"asel', "Chur"], n)),
        "flag": rng.random(n) < 0.3 + 0.2 * k,
        "hour": np.mod(rng.normal(6 + 5 * k, 3), 24),
    }
    columns = {NAMES[name]: pa.array(v.tolist(), mask=rng.random(n) < 0.15) for name, v in values.items()}
    return pa.table({**columns, "class": [["a", "b'b", "rare"][i] for i in k], "id": range(n)})


def database(table: pa.Table):
    db = duckdb.connect()
    db.register("arrow_table", table)
    db.execute("CREATE TABLE t AS SELECT * FROM arrow_table")
    db.unregister("arrow_table")
    return db


def the_same(one, other, X, rtol: float = 1e-10) -> None:
    """The same classes, counts and sums; and the same probabilities."""
    a, b = one._model, other._model
    assert a.classes == b.classes
    assert a.counts["n"].tolist() == b.counts["n"].tolist()
    for mine, theirs in zip(*(getattr(m.sums, "parts", [m.sums]) for m in (a, b)), strict=True):
        assert mine.layout == theirs.layout
        assert mine.isclose(theirs, rtol)
        for name in ("n", "count", "part_n", "pair_n"):
            if name in mine.sums:
                assert mine[name].tolist() == theirs[name].tolist()
    assert np.abs(one.predict_proba(X) - other.predict_proba(X)).max() < rtol


def of(table: pa.Table, *columns: str) -> tuple[pa.Table, list[str], str]:
    """The columns of the model, the labels, and the query for both."""
    names = [NAMES[c] for c in columns or NAMES]
    query = "SELECT " + ", ".join('"' + name.replace('"', '""') + '"' for name in [*names, "class"]) + " FROM t"
    return table.select(names), table["class"].to_pylist(), query


HOUR = {NAMES["hour"]: suffit.VonMises(period=24)}
NUMERIC = ("number", "other", "positive", "count")
MATRIX = [
    (suffit.GaussianNB(), NUMERIC),
    (suffit.PoissonNB(), ("count",)),
    (suffit.MultinomialNB(), ("count", "positive")),
    (suffit.NaiveBayes("gamma"), ("positive",)),
    (suffit.NaiveBayes("lognormal"), ("positive",)),
    (suffit.NaiveBayes("exponential"), ("positive", "count")),
    (suffit.NaiveBayes("geometric"), ("count",)),
    (suffit.NaiveBayes(suffit.VonMises(period=24)), ("hour",)),
    (suffit.NaiveBayes("binned"), ("number", "count")),
    (suffit.BernoulliNB(binarize=2.0), ("count",)),
    (suffit.CategoricalNB(), ("city", "count")),
    (suffit.LinearDiscriminantAnalysis(), NUMERIC),
    (suffit.QuadraticDiscriminantAnalysis(), NUMERIC[:3]),
    (suffit.GaussianDiscriminantAnalysis(tie=0.3, shrinkage="ledoit-wolf"), NUMERIC[:3]),
    (suffit.GaussianDiscriminantAnalysis(covariance="diagonal", tie=1.0), NUMERIC[:3]),
]
TABLES = [
    suffit.GenerativeClassifier(structure="naive"),
    suffit.GenerativeClassifier(list(HOUR.items()), missing="informative", unknown="novel"),
    suffit.GenerativeClassifier({tuple(NAMES[c] for c in NUMERIC[:3]): suffit.MultivariateGaussian(tie=0.5)}),
    suffit.GenerativeClassifier(
        structure="densities"
    ),  # a pool of structures, with joint columns whose missing values are taken by pairs
]


@pytest.mark.parametrize(("estimator", "columns"), MATRIX, ids=lambda v: type(v).__name__)
def test_the_database_adds_up_what_memory_does(estimator, columns):
    table = mixed()
    X, y, query = of(table, *columns)
    the_same(clone(estimator).fit(X, y), fit_sql(database(table), query, target="class", estimator=estimator), X)


@pytest.mark.parametrize("estimator", TABLES, ids=["naive", "informative", "joint", "pool"])
def test_a_table_of_mixed_columns_is_fitted_in_the_database_as_in_memory(estimator):
    table = mixed()
    X, y, query = of(table)
    here = clone(estimator).fit(X, y)
    db = database(table)
    the_same(here, fit_sql(db, query, target="class", estimator=estimator), X)  # which chooses from a sample: all rows
    the_same(here, fit_sql(db, query, target="class", estimator=here), X)  # which keeps the choices


def test_weights_count_as_in_memory():
    table = mixed().append_column("w", pa.array(np.random.default_rng(1).integers(0, 4, 400).astype(float)))
    X, y, query = of(table)
    query, w = query.replace(" FROM t", ", w FROM t"), table["w"].to_numpy()
    for estimator in TABLES[:3]:
        here = clone(estimator).fit(X, y, w)
        the_same(here, fit_sql(database(table), query, target="class", sample_weight="w", estimator=here), X)


@pytest.mark.parametrize("estimator", [suffit.GaussianNB(), suffit.QuadraticDiscriminantAnalysis()])
def test_numbers_far_from_0_lose_no_digits(estimator):
    """At mean 1e8 and standard deviation 1, beside exact sums."""
    table = mixed(2000, far=1e8)
    X, y, query = of(table, "number", "other")
    model = fit_sql(database(table), query, target="class", estimator=estimator)
    the_same(clone(estimator).fit(X, y), model, X)
    x = [v for v, c in zip(X.column(0).to_pylist(), y, strict=True) if c == "a" and v is not None]
    if isinstance(estimator, suffit.GaussianNB):
        mean = math.fsum(x) / len(x)
        variance = math.fsum((v - mean) ** 2 for v in x) / len(x)
        assert model.var_[0, 0] == pytest.approx(variance + model.epsilon_[0], rel=1e-10)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("estimator", [suffit.GaussianNB(), suffit.LinearDiscriminantAnalysis(), TABLES[0]])
def test_data_that_do_not_vary_are_fitted_as_in_memory(estimator, scale):
    """A constant, a column without values in one class, one without any, a class of one row."""
    columns = {
        "constant": [3.0 * scale] * 8,
        "some": [1.0, 2.0, 2.5, 4.0, None, None, None, 1.0],
        "none": pa.array([None] * 8, pa.float64()),
        "x": [scale * v for v in (1.0, 2.0, 1.5, 1.0, 4.0, 5.0, 4.5, 9.0)],
    }
    y = ["a", "a", "a", "a", "b", "b", "b", "c"]
    X = pa.table(columns)
    if not isinstance(estimator, suffit.GenerativeClassifier):
        X = X.drop_columns(["none"])
    db = database(X.append_column("class", pa.array(y)))
    the_same(clone(estimator).fit(X, y), fit_sql(db, "SELECT * FROM t", target="class", estimator=estimator), X)


def test_fewer_rows_than_columns_are_fitted_as_in_memory():
    rng = np.random.default_rng(0)
    X = pa.table({f"x{j}": rng.normal(size=12) for j in range(70)})
    y = ["a"] * 6 + ["b"] * 6
    estimator = suffit.LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5)
    db = database(X.append_column("class", pa.array(y)))
    the_same(clone(estimator).fit(X, y), fit_sql(db, "SELECT * FROM t", target="class", estimator=estimator), X)


def test_a_nan_is_a_missing_value_and_labels_may_be_of_any_type():
    x = np.array([1.0, np.nan, 2.0, 5.0, 6.0, np.nan])
    for labels in ([0, 0, 0, 1, 1, 1], [True, True, True, False, False, False], ["1", "1", "1", "2", "2", "2"]):
        X = pa.table({"x": x})
        db = database(X.append_column("class", pa.array(labels)))
        model = fit_sql(db, "SELECT * FROM t;", target="class", estimator=suffit.GaussianNB())
        here = suffit.GaussianNB().fit(X, labels)
        assert model.theta_.tolist() == here.theta_.tolist()
        assert model.classes_.tolist() == sorted(set(labels))


def test_a_sample_chooses_and_all_rows_are_learned():
    """A class that a small sample has no row of is there all the same, with a prior of its own."""
    table = mixed(3000)
    X, y, query = of(table)
    names = ["a", "b'b", "rare", "rarest"]
    labels = [names[3] if i == 1234 else c for i, c in enumerate(y)]
    db = database(table.set_column(table.column_names.index("class"), "class", pa.array(labels)))
    estimator = suffit.GenerativeClassifier(structure="naive", priors=dict.fromkeys(names, 0.25))
    model = fit_sql(db, query, target="class", estimator=estimator, sample_rows=200, seed=3)
    assert model.class_count_.tolist() == [labels.count(c) for c in names]
    the_same(clone(estimator).set_params(columns=model.schema_).fit(X, labels), model, X)
    again = fit_sql(db, query, target="class", estimator=estimator, sample_rows=200, seed=3)
    assert str(again.schema_) == str(model.schema_)


def test_numbers_that_are_categories_are_missing_where_they_are_nan():
    x = np.array([1.5, 2.0, np.nan, 1.5, 2.0, 2.0, np.nan, 1.5] * 10)
    X, y = pa.table({"x": x, "z": np.arange(80.0) % 7}), ["a", "a", "a", "b"] * 20
    db = database(X.append_column("class", pa.array(y)))
    for columns in ({"x": "categorical"}, {"x": "categorical", "z": "poisson"}):
        estimator = suffit.GenerativeClassifier(columns, missing="informative")
        here = clone(estimator).fit(X, y)
        the_same(here, fit_sql(db, "SELECT * FROM t", target="class", estimator=estimator), X)
        found = db.execute(posterior_sql(here, "SELECT * FROM t")).fetchall()
        assert np.abs(np.array(found) - here.predict_proba(X)).max() < 1e-9


class Listening:
    """A connection that remembers what came back."""

    def __init__(self, db) -> None:
        self.db, self.rows = db, 0

    def execute(self, text: str):
        self.result = self.db.execute(text)
        self.description = self.result.description
        return self

    def fetchall(self):
        found = self.result.fetchall()
        self.rows += len(found)
        return found


def test_nothing_but_sums_leaves_the_database_where_nothing_is_to_be_chosen():
    table = mixed(3000)
    X, y, query = of(table, *NUMERIC)
    for estimator in (suffit.GaussianNB(), suffit.LinearDiscriminantAnalysis()):
        listening = Listening(database(table))
        the_same(clone(estimator).fit(X, y), fit_sql(listening, query, target="class", estimator=estimator), X)
        assert listening.rows < 100  # classes, and patterns of missing values


def test_nothing_in_names_and_categories_is_read_as_sql():
    table, db = mixed(), None
    X, _, query = of(table)
    db = database(table)
    model = fit_sql(db, query, target="class", estimator=TABLES[0])
    assert model.predict_proba(X).shape == (400, 3)
    db.execute(posterior_sql(model, query)).fetchall()
    assert db.execute("SELECT COUNT(*) FROM t").fetchall() == [(400,)]


def test_the_statements_can_be_had_as_text():
    table = mixed()
    X, y, query = of(table)
    model = clone(TABLES[2]).fit(X, y)
    found = sql_of(model, query, target="class")
    assert {"classes", "elementwise", "counts"} < set(found)
    assert any(name.startswith("joint block") for name in found)
    db = database(table)
    n = {y: n for y, n, *_ in db.execute(found["classes"]).fetchall()}
    assert n == {c: y.count(c) for c in set(y)}
    for text in found.values():
        assert "GROUP BY" in text
        assert db.execute(text).fetchall()


# --- posteriors


def with_odd_rows(table: pa.Table) -> pa.Table:
    """Three more rows: a category never seen, a row without any value, NaN."""
    odd = {name: [None] * 3 for name in table.column_names}
    odd |= {
        NAMES["city"]: ["Never'Seen", None, "Bern"],
        NAMES["number"]: [1.0, None, float("nan")],
        "id": [7000, 7001, 7002],
    }
    return pa.concat_tables([table, pa.table(odd, schema=table.schema)])


def check_posterior(model, table: pa.Table, execute) -> None:
    text = posterior_sql(model, "SELECT * FROM t", keep=["id"])
    found = np.array(sorted(execute(text).fetchall()), dtype=float)
    wanted = model.predict_proba(table.select(list(model.feature_names_in_)))
    assert np.abs(found[:, 1:] - wanted).max() < 1e-9


@pytest.mark.parametrize(("estimator", "columns"), [m for m in MATRIX if not isinstance(m[0], suffit.MultinomialNB)])
def test_a_model_as_sql_has_the_posterior_of_predict_proba(estimator, columns):
    table = mixed()
    X, y, _ = of(table, *columns)
    odd = with_odd_rows(table)
    check_posterior(clone(estimator).fit(X, y), odd, database(odd).execute)


@pytest.mark.parametrize("estimator", TABLES, ids=["naive", "informative", "joint", "pool"])
def test_a_model_of_a_table_as_sql_has_the_posterior_of_predict_proba(estimator):
    table = mixed()
    X, y, _ = of(table, *("number", "positive", "city") if estimator is TABLES[-1] else ())
    odd = with_odd_rows(table)
    db = database(odd)
    model = clone(estimator).fit(X, y)
    for one in (model, model.with_prior({"a": 0.5, "b'b": 0.5, "rare": 0.0})):
        check_posterior(one, odd, db.execute)
    if estimator is TABLES[0]:
        check_posterior(clone(estimator).set_params(calibrate="temperature").fit(X, y), odd, db.execute)


def test_far_means_keep_their_digits_in_sql():
    table = mixed(far=1e8)
    X, y, _ = of(table, "number", "other")
    for estimator in (suffit.GaussianNB(), suffit.LinearDiscriminantAnalysis(), suffit.QuadraticDiscriminantAnalysis()):
        check_posterior(clone(estimator).fit(X, y), table, database(table).execute)


def test_sqlite_reads_the_posterior_too():
    table = mixed(100)
    X, y, _ = of(table)
    model = clone(TABLES[0]).fit(X, y)
    db = sqlite3.connect(":memory:")
    db.create_function("GREATEST", -1, lambda *v: None if None in v else max(v), deterministic=True)
    for name, function in (("LN", math.log), ("EXP", math.exp), ("POWER", math.pow)):  # not in every build
        db.create_function(name, 2 if name == "POWER" else 1, lambda *v, f=function: None if None in v else f(*v))
    db.execute("CREATE TABLE t (" + ", ".join('"' + c.replace('"', '""') + '"' for c in table.column_names) + ")")
    rows = zip(*(c.to_pylist() for c in table.columns), strict=True)
    db.executemany(f"INSERT INTO t VALUES ({', '.join('?' * table.num_columns)})", rows)
    check_posterior(model, table, db.execute)


def test_what_predict_refuses_has_no_posterior():
    model = suffit.NaiveBayes("gamma").fit(pa.table({"x": [1.0, 2.0, 5.0, 6.0]}), list("aabb"))
    [row] = duckdb.connect().execute(posterior_sql(model, "SELECT -1.0 AS x")).fetchall()
    assert row == (None, None)
    strict = suffit.GenerativeClassifier(structure="naive", unknown="error").fit(
        {"c": ["u", "v", "u", "v"]}, list("aabb")
    )
    [row] = duckdb.connect().execute(posterior_sql(strict, "SELECT 'w' AS c")).fetchall()
    assert row == (None, None)


# --- what is refused


def refused(rows: str, estimator, match: str, **more) -> None:
    db = duckdb.connect()
    with pytest.raises(InputError, match=match):
        fit_sql(db, f"SELECT * FROM (VALUES {rows}) AS v(y, x)", **{"target": "y", "estimator": estimator, **more})


def test_what_a_fit_refuses_is_refused_by_name():
    nb = suffit.GaussianNB()
    refused("('a', 1.0), ('b', 2.0)", nb, "there is no column 'z'; .*the columns are 'y', 'x'", target="z")
    refused("('a', 1.0), (NULL, 2.0)", nb, "1 of 2 labels are missing")
    refused("('a', 'u'), ('b', 'v')", nb, "column 'x': expected numbers, found (VARCHAR|STRING)")
    refused("('a', 1.0), ('b', 'inf'::DOUBLE)", nb, "contains infinity: column 'x'")
    refused("('a', 1e300), ('b', -1e300), ('a', 2e300)", nb, "column 'x': values of up to 2e\\+300 are so large")
    refused("('a', 1.0), ('b', -2.0)", suffit.NaiveBayes("gamma"), "column 'x': gamma needs x > 0, found -2.0")
    refused("('a', 1.0), ('b', -2.0)", suffit.PoissonNB(), r"column 'x': poisson needs x ≥ 0 .*found -2.0 \(1 row\)")
    mapped = suffit.GaussianNB(calibrate="isotonic").fit(pa.table({"x": np.arange(40.0)}), np.arange(40) // 20)
    with pytest.raises(InputError, match="isotonic"):
        posterior_sql(mapped, "SELECT 1 AS x")


def test_a_query_without_the_columns_of_a_fitted_model_is_refused():
    model = suffit.GaussianNB().fit(pa.table({"x": [1.0, 2.0], "z": [1.0, 3.0]}), ["a", "b"])
    refused("('a', 1.0), ('b', 2.0)", model, "there is no column 'z'")


def test_a_label_that_is_missing_can_be_dropped():
    db = duckdb.connect()
    rows = "SELECT * FROM (VALUES ('a', 1.0), ('b', 2.0), (NULL, 9.0), ('a', 1.5)) AS v(y, x)"
    model = fit_sql(db, rows, target="y", estimator=suffit.GenerativeClassifier(missing_target="drop"))
    assert model.class_count_.tolist() == [2.0, 1.0]


def test_values_that_a_column_cannot_have_are_missing_and_it_is_said():
    X = pa.table({"x": np.random.default_rng(0).gamma(1.0, 1.0, 300)})
    y = ["a", "b"] * 150
    model = suffit.GenerativeClassifier(structure="naive").fit(X, y)
    assert model.schema_.specs[0].family.key == "gamma"
    more = pa.concat_tables([X, pa.table({"x": [-1.0]})])
    db = database(more.append_column("class", pa.array([*y, "a"])))
    with pytest.warns(suffit.DataWarning, match="-1 is impossible under Gamma"):
        in_database = fit_sql(db, "SELECT * FROM t", target="class", estimator=model)
    assert in_database._model.sums.parts[0]["n"].tolist() == [[150.0], [150.0]]
    assert in_database.class_count_.tolist() == [151.0, 150.0]


def test_a_value_that_a_column_cannot_have_is_missing_where_missing_values_are_evidence():
    X = pa.table({"x": np.random.default_rng(0).poisson(2.0, 200)})
    y = ["a", "b"] * 100
    model = suffit.GenerativeClassifier(structure="naive", missing="informative").fit(
        X.append_column("z", pa.array([None if i % 5 else 1.0 * i for i in range(200)])), y
    )
    assert model.schema_.keys()["x"] == "poisson"
    odd = pa.table({"x": [-1, -1, 3], "z": [1.0, None, 2.0]})
    db = database(odd.append_column("class", pa.array(["a", "b", "a"])))
    in_database = fit_sql(db, "SELECT * FROM t", target="class", estimator=model)
    the_same(parts.total([parts.collect(parts.plan(model), odd, ["a", "b", "a"])]), in_database, odd)


WORDS = ("count", "positive")


@pytest.mark.parametrize("estimator", [suffit.MultinomialNB(), suffit.ComplementNB(), suffit.MultinomialNB(alpha=1e-3)])
def test_counts_of_words_as_sql_have_the_posterior_of_predict_proba(estimator):
    """Where all counts are there; a negative count has none, and neither has a row with a count missing."""
    table = mixed()
    X, y, _ = of(table, *WORDS)
    model = clone(estimator).fit(X, y)
    complete = table.filter(pa.array([None not in row.values() for row in X.to_pylist()]))
    check_posterior(model, complete, database(complete).execute)
    names = [f'"{NAMES[c]}"' for c in WORDS]
    rows = f"SELECT 1 AS {names[0]}, NULL AS {names[1]} UNION ALL SELECT -1, 2"
    found = duckdb.connect().execute(posterior_sql(model, rows)).fetchall()
    assert found == [(None,) * len(model.classes_)] * 2


@pytest.mark.parametrize(
    ("estimator", "table"),
    [
        (suffit.CategoricalNB(alpha=0, force_alpha=True), {"city": ["u", "v", "u"]}),
        (suffit.MultinomialNB(alpha=0, force_alpha=True), {"a": [0.0, 1.0, 0.0], "b": [2.0, 0.0, 1.0]}),
    ],
    ids=["categories", "words"],
)
def test_probabilities_of_0_have_no_sql_and_the_cure_is_named(estimator, table):
    model = estimator.fit(pa.table(table), list("aab"))
    with pytest.raises(InputError, match=r"without smoothing \(alpha=0\).*use alpha > 0"):
        posterior_sql(model, "SELECT 1 AS city")


def test_a_database_that_gives_no_sample_is_told_what_to_do():
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (x REAL, y TEXT)")
    with pytest.raises(InputError, match=r"GenerativeClassifier chooses from a sample .* give it fitted"):
        fit_sql(db, "SELECT * FROM t", target="y")


def test_partitions_are_left_out_of_what_a_database_chooses_and_refused_where_they_are_there():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (2, 600))
    table = pa.table({"a": a, "b": b, "class": np.where(((a > 1) ^ (b > 1)) ^ (rng.random(600) < 0.1), "x", "y")})
    X, query = table.drop_columns(["class"]), "SELECT * FROM t"
    db, asked = database(table), suffit.GenerativeClassifier()
    model = fit_sql(db, query, target="class", estimator=asked)
    assert (asked.structure, model.structure) == ("auto", "densities")
    assert "partitions" not in {t.name for t in model.selection_.tried}
    the_same(suffit.GenerativeClassifier(structure="densities").fit(X, table["class"]), model, X)
    assert fit_sql(db, query, target="class").structure == "densities"
    trees = suffit.GenerativeClassifier(structure="partitions").fit(X, table["class"])
    assert "partition" in [spec.family.key for spec in trees.schema_.specs]
    for ask in (
        lambda: fit_sql(db, query, target="class", estimator=trees),
        lambda: sql_of(trees, query, target="class"),
        lambda: posterior_sql(trees, query),
    ):
        with pytest.raises(InputError, match=r"no SQL for partitions, .* use structure='densities', which has none"):
            ask()


def test_a_family_without_sql_names_what_to_use():
    class Own(suffit.families.elementwise.exponential.Exponential):
        key = "own"

    with pytest.raises(InputError, match=r"no SQL for the sums of the family .*suffit\.engines\.fit_arrow"):
        raise sql.no_sql(Own())
    assert "fit_arrow" in engines.__all__
