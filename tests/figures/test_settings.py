"""Figures of what was tried and of calibration: every kind of selection is drawn, into axes of one's own or given."""

from __future__ import annotations

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import suffit
from cases import PLAIN as CASES
from cases import data
from suffit import figures


def test_a_curve_of_one_setting() -> None:
    X, y = data(CASES["MultinomialNB"], 1, 60)
    model = suffit.MultinomialNB(alpha="loo").fit(X, y)
    selection, ax = model.selection_, figures.selection(model)
    line, mark = ax.lines
    assert sorted(line.get_ydata()) == sorted(t.loss for t in selection.tried)
    assert mark.get_xdata()[0] == selection.taken.settings["alpha"]
    assert (ax.get_xscale(), ax.get_xlabel(), ax.get_ylabel()) == ("log", "alpha", selection.criterion)


def test_a_map_of_two_settings_into_given_axes() -> None:
    X, y = data(CASES["LDA"], 1, 60)
    model, given = suffit.GDA(tie="loo", shrinkage="loo").fit(X, y), plt.subplots()[1]
    selection = model.selection_
    assert figures.selection(model, given) is given
    drawn = np.asarray(given.images[0].get_array())
    assert np.nanmin(drawn) == pytest.approx(selection.taken.loss)
    assert [t.get_text() for t in given.get_yticklabels()] == ["0", "0.1", "0.3", "0.5", "0.7", "0.9", "1"]
    mark = given.lines[0]
    assert drawn[mark.get_ydata()[0], mark.get_xdata()[0]] == pytest.approx(selection.taken.loss)


@pytest.mark.parametrize(
    "make",
    [
        lambda: suffit.GDA("auto", tie="loo"),
        lambda: suffit.GenerativeClassifier(),
        lambda: suffit.GenerativeClassifier({f"x{j}": "gaussian" for j in range(3)}, select="loo"),
    ],
)
def test_bars_of_names(make) -> None:
    X, y = data(CASES["LDA"], 1, 90)
    model = make().fit(X, y)
    ax = figures.selection(model)
    assert len(ax.get_yticklabels()) == len(model.selection_.tried)
    ax.figure.canvas.draw()


def test_singular_settings_are_left_blank() -> None:
    X, y = data(CASES["LDA"], 1, 60)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = suffit.GDA(tie="loo", shrinkage="loo").fit(X, y)
    assert any(not np.isfinite(t.loss) for t in model.selection_.tried)
    figures.selection(model).figure.canvas.draw()


def test_calibration_before_and_after() -> None:
    X, y = data(CASES["LDA"], 1, 200)
    model = suffit.GaussianNB(calibrate="isotonic").fit(np.tile(X, (1, 4)), y)
    found, ax = model.calibration_, figures.calibration(model)
    _, before, after = ax.lines
    np.testing.assert_array_equal(before.get_ydata(), found.before.accuracy)
    np.testing.assert_array_equal(after.get_xdata(), found.after.confidence)
    texts = [t.get_text() for t in ax.get_legend().get_texts()]
    assert texts == [
        f"before: calibration error {found.ece_before:.3f}",
        f"isotonic: calibration error {found.ece_after:.3f}",
    ]
