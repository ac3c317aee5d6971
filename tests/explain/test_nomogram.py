"""Nomograms: lines are the terms, values are round."""

from __future__ import annotations

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

import suffit
from cases import flats
from suffit.explain import nomogram as ranges
from suffit.explain.nomogram import round_numbers
from suffit.figures.nomograms import PROBABILITIES


def curves_of(ax) -> dict[str, np.ndarray]:
    """The line of each column: log-odds along it."""
    names = [text.get_text() for text in ax.get_yticklabels()]
    lines = [line for line in ax.lines if len(line.get_xdata()) > 1 and line.get_color() == "#0072b2"]
    return {name: np.asarray(line.get_xdata()) for name, line in zip(names, lines, strict=False)}


def test_nomogram_lines_are_the_parts():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 4, 200), "b": rng.choice(["x", "y", "z"], 200)})
    y = np.where(rng.random(200) < 0.2 + 0.15 * X["a"] + 0.1 * (X["b"] == "x"), "yes", "no")
    columns = {"a": suffit.Poisson(), "b": suffit.Categorical()}
    model = suffit.GenerativeClassifier(columns).fit(X, y)
    lines = curves_of(model.nomogram(X, ("yes", "no")))
    row = pd.DataFrame({"a": [2], "b": ["z"]})
    explained = model.explain(row, ("yes", "no"))
    total = lines["a"][2] + lines["b"][2] + explained.prior[0]
    assert total == pytest.approx(explained.total[0], abs=1e-10)


def test_nomogram_draws_models_of_every_kind_and_says_what_it_holds():
    X, y = load_iris(return_X_y=True)
    title = suffit.LDA().fit(X, y).nomogram(classes=(2, 1)).get_title(loc="left")
    assert title == "2 against 1"
    ax = suffit.QDA().fit(X, y).nomogram(X, (2, 1))
    assert "other columns at their typical values" in ax.get_title(loc="left")
    assert "spread of the classes" in [t.get_text() for t in ax.get_yticklabels()]
    words = sparse.random(100, 500, density=0.05, format="csr", random_state=0)
    model = suffit.MultinomialNB().fit(words, np.arange(100) % 2)
    ax = model.nomogram(words, most=5)
    assert len(curves_of(ax)) == 5
    documents = [[0, 0, 1], [2, 1], [2, 2, 2, 3], [0, 3, 0]]
    spelled = suffit.MultinomialNB(input="sequences").fit(documents, ["a", "b", "b", "a"])
    assert set(curves_of(spelled.nomogram(documents))) == {"word 0", "word 2"}  # the others say nothing
    frame, labels = flats()
    pooled = suffit.GenerativeClassifier().fit(frame, labels)
    assert len(curves_of(pooled.nomogram())) == 5


def test_nomogram_of_a_model_that_no_column_moves():
    """A pool that is the class shares, and classes without a value: the prior alone, and the title says why."""
    y = np.arange(45) % 3
    noise = np.random.default_rng(0).normal(size=(45, 2))
    shares = suffit.GenerativeClassifier().fit({"a": noise[:, 0], "b": noise[:, 1]}, y)
    assert (shares.predict_proba({"a": [9.0], "b": [-9.0]}) == shares.predict_proba({"a": [0.0], "b": [0.0]})).all()
    equal = suffit.GaussianNB().fit([[1.0], [2.0], [1.0], [2.0]], [0, 0, 1, 1])
    for model in (shares, equal, suffit.MultinomialNB().fit([[1.0]] * 2, [0, 1])):
        ax = model.nomogram()
        assert next(t.get_text() for t in ax.get_yticklabels()) == "prior"
        assert "no column changes the log-odds" in ax.get_title(loc="left")
    rest = shares.nomogram(classes=1)
    assert "no column changes the log-odds" in rest.get_title(loc="left")
    words = sparse.csr_array(np.ones((4, 1)))
    assert not curves_of(suffit.MultinomialNB().fit(words, [0, 0, 1, 1]).nomogram())


def test_nomogram_leaves_out_columns_without_a_value():
    """Their absence may be evidence: it has no place on a line."""
    y = np.arange(60) % 2
    X = pd.DataFrame({"a": np.where(y == 1, np.nan, 1.0 + np.arange(60) % 7), "b": np.arange(60) % 5 + y})
    model = suffit.GenerativeClassifier(structure="naive", missing="informative").fit(X, y)
    for table, drawn in ((X, {"a", "b"}), (X.assign(a=np.nan), {"b"}), (X.assign(a=np.nan, b=np.nan), set())):
        ax = model.nomogram(table)
        assert set(curves_of(ax)) - {"prior"} == drawn
        plt.close("all")


def test_nomogram_keeps_to_the_columns_that_the_model_uses():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = np.column_stack([np.ones(80), rng.normal(size=80) + 3 * y, rng.normal(size=80)])
    model = suffit.GenerativeClassifier({"x1": "gaussian"}, structure="naive").fit(X, y)
    lines = curves_of(model.nomogram(X))
    assert list(lines) == ["x1", "x2"]
    explained = model.explain(X, (0, 1))
    assert list(explained.columns) == ["x1", "x2"]
    low, high = np.quantile(X[:, 1], [0.01, 0.99])
    inside = explained.parts[(X[:, 1] > low) & (X[:, 1] < high), 0]
    assert lines["x1"].min() <= inside.min() + 0.1
    assert lines["x1"].max() >= inside.max() - 0.1


def test_nomogram_has_round_values_that_do_not_overlap():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = pd.DataFrame(
        {
            "mass": rng.normal(3700 + 900 * y, 400),
            "flipper": rng.normal(190 + 20 * y, 6).round().astype(int),
            "share": np.clip(rng.normal(0.31 + 0.1 * y, 0.05), 0.01, 0.99),
            "tiny": rng.normal(1 + y, 1) * 1e-9,
            "island": np.array(["Biscoe", "Dream", "Torgersen", "Cormorant", "Petermann", "Booth"])[
                rng.integers(0, 6, 600) // (1 + y)
            ],
            "chicks": rng.poisson(1 + y),
        }
    )
    ax = suffit.GenerativeClassifier(structure="naive").fit(X, y).nomogram(X)
    ax.figure.canvas.draw()
    texts = [t for t in ax.texts if t.get_text()]
    boxes = [t.get_window_extent() for t in texts]
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert not one.overlaps(other), (texts[i].get_text(), one, other)
    written = [t.get_text() for t in texts]
    assert {"4,000", "200", "Biscoe", "Cormorant"} <= set(written)
    chances = [f"{p:g}" for p in PROBABILITIES]
    numbers = [float(t.replace(",", "")) for t in written if not t[0].isalpha() and t not in chances]
    for value in numbers:
        digits = f"{abs(value):.10e}".split("e")[0].rstrip("0").replace(".", "")
        assert len(digits) <= 2, value  # 3,500 or 0.25 at most
    assert len(numbers) >= 15


@pytest.mark.parametrize(("low", "high"), [(2785, 5960), (0.0031, 0.0047), (-3.2, 8.9), (1e9, 1.1e9), (172, 231)])
def test_round_numbers_cover_the_range(low, high):
    found = round_numbers(low, high)
    assert 3 <= len(found) <= 6
    assert low <= found[0] < found[-1] <= high
    assert np.ptp(found) > 0.3 * (high - low)
    assert len(round_numbers(low, low)) == 0


def test_nomogram_of_many_words_looks_at_few_rows():
    rng = np.random.default_rng(0)
    X, y = sparse.random(300, 8700, density=0.01, format="csr", random_state=0), rng.integers(0, 2, 300)
    X.data = np.ceil(5 * X.data)
    start = time.perf_counter()
    ax = suffit.MultinomialNB().fit(X, y).nomogram()
    assert time.perf_counter() - start < 8  # about 1 s on a machine that does nothing else
    assert len(ax.get_yticklabels()) == 15
    assert ranges.draws(8700) == 300
    assert ranges.draws(20) == 2000


@pytest.mark.parametrize("structure", ["naive", "auto"])
def test_a_column_that_was_dropped_from_an_array_is_in_no_nomogram(structure):
    """Rows are drawn without it, and an array has no names to tell the others by."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = np.c_[np.ones(60), rng.normal(size=(60, 2)) + y[:, None]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", suffit.DataWarning)
        model = suffit.GenerativeClassifier(structure=structure).fit(X, y)
        table = suffit.GenerativeClassifier(structure=structure).fit(pd.DataFrame(X, columns=["x0", "x1", "x2"]), y)
    ours, theirs = ([text.get_text() for text in m.nomogram().texts] for m in (model, table))
    assert ours == theirs
    plt.close("all")
