"""What a model says of itself, in notebooks and as data frames: escaped, and in the library that the rows came in."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

import suffit

NAME, LABELS = "<script>alert(1)</script>", ("<i>a</i>", "b & c")


def table(n: int = 120) -> tuple[dict[str, np.ndarray], np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    words = np.array(["<u>", "x"], dtype=object)[(rng.random(n) < 0.3 + 0.4 * y).astype(int)]
    return {NAME: rng.normal(size=n) + 2.0 * y, "word": words, "z": rng.normal(size=n)}, np.array(LABELS)[y]


@cache
def shown() -> dict[str, object]:
    X, y = table()
    tree = suffit.GenerativeClassifier(calibrate="temperature").fit(X, y)
    numbers = pd.DataFrame({name: X[name] for name in (NAME, "z")})
    tied = suffit.GDA(tie="loo").fit(numbers, y)
    return {
        "model": tree,
        "schema_": tree.schema_,
        "structures": tree.selection_,
        "settings": tied.selection_,
        "calibration_": suffit.GaussianNB(calibrate="isotonic").fit(numbers, y).calibration_,
        "summary": tree.summary(),
        "explain": tree.explain(X),
        "parameters": tree.parameters(),
        "drift": suffit.drift(tied, tied),
        "comparison": suffit.compare(X, y, {NAME: suffit.GenerativeClassifier()}, curves=False, robustness=False),
    }


SAYS = {  # what each must name, escaped
    "schema_": "&lt;script&gt;",
    "summary": "&lt;script&gt;",
    "explain": "&lt;script&gt;",
    "parameters": "&lt;u&gt;",
    "drift": "&lt;script&gt;",
    "comparison": "&lt;script&gt;",
    "model": "&lt;script&gt;",
    "structures": "<table",
    "settings": "<table",
    "calibration_": "<p>",
}


@pytest.mark.parametrize("name", SAYS)
def test_html_is_escaped(name: str):
    html = shown()[name]._repr_html_()
    for bad in ("<script>alert", "<i>a</i>", "<u>", "b & c"):
        assert bad not in html
    assert SAYS[name] in html
    assert html.count("<table") == html.count("</table>")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_frames_are_of_the_library_that_the_rows_came_in(library: str):
    X, y = table()
    if library != "dict":
        module = pytest.importorskip(library)
        X = {"pandas": lambda: module.DataFrame(X), "polars": lambda: module.DataFrame(X)}.get(
            library, lambda: module.table({k: v.tolist() for k, v in X.items()})
        )()
    model = suffit.GenerativeClassifier(calibrate="temperature").fit(X, y)
    found = [model.schema_, model.selection_, model.summary(), model.explain(X), model.parameters()]
    found.append(suffit.drift(model, model))
    calibrated = suffit.GenerativeClassifier(structure="naive", calibrate="isotonic").fit(X, y)
    for one in (*found, calibrated.calibration_):
        frame = one.to_frame()
        assert type(frame).__module__.split(".")[0] == {"dict": "builtins"}.get(library, library), type(one)


def test_what_was_tried_is_in_the_frame():
    X, y = table()
    numbers = {name: X[name] for name in (NAME, "z")}
    tuned = suffit.GDA(tie="loo", shrinkage="loo").fit(np.column_stack([*numbers.values()]), y).selection_
    frame = tuned.to_frame()
    assert len(frame["taken"]) == len(tuned.tried)
    assert float(np.asarray(frame[tuned.criterion])[np.asarray(frame["taken"])][0]) == tuned.taken.loss
    pool = shown()["structures"]
    shares = pool.to_frame()
    np.testing.assert_allclose(sorted(np.asarray(shares["weight in the pool"])[np.asarray(shares["taken"])]),
                               sorted(weight for _, _, weight in pool.pool))  # fmt: skip
    found = shown()["calibration_"]
    bins = found.to_frame()
    after = np.asarray(bins["calibration"]) == "isotonic"
    np.testing.assert_array_equal(np.asarray(bins["accuracy"])[after], found.after.accuracy)


def test_a_calibration_and_a_selection_are_still_those_of_the_model():
    X, y = table()
    model = suffit.GDA(tie="loo").fit(np.column_stack([X[NAME], X["z"]]), y)
    assert model.selection_ == model.selection_
    assert repr(model.selection_) == repr(model._model.family.solvable(model._model.sums).tuning)
