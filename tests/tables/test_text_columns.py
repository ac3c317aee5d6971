"""A table may hold texts beside numbers and categories."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import suffit
from suffit import GenerativeClassifier, InputError, Text, TextNB

WORDS = np.array(
    [
        "free",
        "win",
        "money",
        "lunch",
        "meeting",
        "today",
        "hello",
        "report",
        "please",
        "call",
        "number",
        "soon",
        "thanks",
        "office",
        "team",
    ]
)


def table(n: int = 240, seed: int = 0, told: float = 4.0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    weight = np.array([[1.0] * 3 + [3.0] * 12, [told] * 3 + [3.0] * 12])
    share = weight / weight.sum(axis=1, keepdims=True)
    body = [" ".join(rng.choice(WORDS, rng.integers(3, 12), p=share[c])) for c in y]
    X = pd.DataFrame({
        "age": rng.normal(size=n) + y,
        "body": body,
        "colour": rng.choice(["red", "green"], n),
        "key": [f"{i:x}-{7 * i:x}" for i in rng.permutation(n)],
    })  # fmt: skip
    return X, np.array(["ham", "spam"])[y]


pytestmark = pytest.mark.filterwarnings("ignore::suffit.DroppedColumnWarning")
X, Y = table()
NEW, TRUE = table(seed=1)


@pytest.fixture(scope="module")
def model() -> GenerativeClassifier:
    return GenerativeClassifier().fit(X, Y)


def test_free_text_gets_a_family_of_its_own_and_helps(model):
    kinds = {c.column: (c.kind, c.family) for c in model.schema_.choices}
    assert kinds["body"] == ("text", "Text()")
    assert kinds["key"][1] == "dropped"
    assert kinds["colour"][0] == "categorical"
    assert "free text, 15 words" in repr(model.schema_)
    without = GenerativeClassifier().fit(X.drop(columns="body"), Y)
    assert model.score(NEW, TRUE) > without.score(NEW.drop(columns="body"), TRUE) + 0.03


@pytest.mark.parametrize(
    ("values", "family"),
    [
        ([f"{i:x}-{7 * i:x}" for i in range(100)], "dropped"),  # identifiers
        ([f"2024-01-{1 + i % 28:02d} 10:{i % 60:02d}:{i % 50:02d}" for i in range(100)], "dropped"),  # dates
        ([f"only{i} new{i} words{i}" for i in range(100)], "dropped"),  # words that never come again
        ([f"{n} {m} {n + m} {i}" for i, (n, m) in enumerate(np.ndindex(10, 10))], "dropped"),  # numbers
        (["red light", "green light"] * 50, "Categorical()"),
    ],
    ids=["identifiers", "dates", "new words", "numbers", "categories"],
)
def test_other_text_is_no_free_text(values, family):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=100), "t": rng.permutation(values)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = GenerativeClassifier(structure="naive").fit(frame, rng.integers(0, 2, 100))
    assert {c.column: c.family for c in fitted.schema_.choices}["t"] == family


def test_a_text_column_has_its_own_weight_in_the_pool(model):
    tried = {t.name for t in model.selection_.tried}
    assert {"naive", "text", "without text"} <= tried


def test_explanations_name_the_words(model):
    said = model.why(pd.DataFrame({"age": [0.0], "body": ["free money lunch"], "colour": ["red"], "key": ["a"]}), n=8)
    assert "body ('" in said
    assert "'free'" in said
    found = model.explain(NEW)
    np.testing.assert_allclose(found.total, np.log(found.probability[:, 0] / found.probability[:, 1]), rtol=1e-6)


def test_a_missing_text_is_marginalised():
    naive = GenerativeClassifier(structure="naive").fit(X, Y)
    without = GenerativeClassifier(structure="naive").fit(X.drop(columns="body"), Y)
    gone = NEW.assign(body=None)
    np.testing.assert_allclose(naive.predict_proba(gone), without.predict_proba(NEW.drop(columns="body")), rtol=1e-9)
    holes = X.assign(body=X["body"].where(np.arange(len(X)) % 3 > 0))
    some = GenerativeClassifier(structure="naive").fit(holes, Y)
    there = holes["body"].notna().to_numpy()
    alone = TextNB().fit(X["body"][there], Y[there])
    stats = next(p for p in some._model.sums.parts if "word" in p.axes)
    np.testing.assert_array_equal(stats["count"], alone.feature_count_)


def test_batches_merging_forgetting_and_files_are_as_for_other_columns(model, tmp_path):
    naive = GenerativeClassifier(structure="naive").fit(X, Y)
    first = GenerativeClassifier(structure="naive").fit(X[:150], Y[:150])
    batches = GenerativeClassifier(columns=first.schema_).fit(X[:150], Y[:150]).partial_fit(X[150:], Y[150:])
    merged = first + GenerativeClassifier(columns=first.schema_).fit(X[150:], Y[150:])
    for other in (batches, merged):
        np.testing.assert_allclose(other.predict_proba(NEW), naive.predict_proba(NEW), atol=1e-9)
    merged.forget(X[150:], Y[150:])
    np.testing.assert_allclose(merged.predict_proba(NEW), first.predict_proba(NEW), atol=1e-9)
    model.save(tmp_path / "m.suffit")
    np.testing.assert_array_equal(suffit.load(tmp_path / "m.suffit").predict_proba(NEW), model.predict_proba(NEW))


def test_leave_one_out_is_a_refit():
    naive = GenerativeClassifier(columns={"age": "gaussian", "body": Text(), "colour": "categorical", "key": "drop"})
    left = naive.fit(X, Y).loo_log_joint(X, Y)
    for i in (0, 17, 100):
        rest = np.arange(len(X)) != i
        refit = GenerativeClassifier(columns=naive.columns).fit(X[rest], Y[rest])
        np.testing.assert_allclose(left[i], refit.predict_joint_log_proba(X[i : i + 1])[0], rtol=1e-9)


def test_tables_of_any_library_have_texts(model):
    expected = model.predict_proba(NEW)
    for form in (pl.from_pandas, pa.Table.from_pandas, lambda frame: frame.astype({"body": object, "colour": object})):
        other = GenerativeClassifier().fit(form(X), Y)
        np.testing.assert_allclose(other.predict_proba(form(NEW)), expected, atol=1e-9)


def test_rows_come_back_as_a_table(model):
    drawn, _ = model.sample(20, random_state=0)
    assert set(" ".join(drawn["body"]).split()) <= set(WORDS)
    filled = model.impute(NEW.assign(body=None, age=np.nan)[:4])
    assert filled["age"].notna().all()
    assert model.impute(NEW.assign(body=None)[:4], how="draw", random_state=0)["body"].notna().all()


def test_a_text_family_is_set_by_hand_with_its_settings():
    few = X[:6]
    asked = GenerativeClassifier(columns={"body": Text("bernoulli", alpha=0.5), "key": "drop"}).fit(few, Y[:6])
    assert "Text(model='bernoulli', alpha=0.5)" in repr(asked.schema_)
    with pytest.raises(InputError, match="column 'age': text needs texts, but the column holds continuous values"):
        GenerativeClassifier(columns={"age": Text()}).fit(X, Y)
    with pytest.raises(InputError, match="column 'body': expected texts, as at fit, found integer values"):
        asked.predict(NEW.assign(body=3))


def test_a_nomogram_has_no_range_for_texts(model):
    pytest.importorskip("matplotlib")
    axes = model.nomogram(NEW)
    shown = " ".join(t.get_text() for t in [*axes.texts, *axes.get_yticklabels()])
    assert "age" in shown
    assert "body" not in shown


def test_a_cell_that_is_no_text_is_told_with_its_column():
    table = pd.DataFrame({"subject": ["a b", "c d", "a c", "b d"], "body": ["x y", "y", "x", "z"]})
    model = suffit.GenerativeClassifier(columns={"subject": "text", "body": "text"}).fit(table, [0, 1, 0, 1])
    table["body"] = pd.Series(["x y", "y", b"x", "z"], dtype=object)
    for call in (model.predict, lambda X: model.partial_fit(X, [0, 1, 0, 1])):
        with pytest.raises(suffit.InputError, match=r"column 'body': row 2 holds b'x', of type bytes; expected a text"):
            call(table)
