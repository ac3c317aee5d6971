"""Figures: they show what the model says, take axes and give them back, and refuse what cannot be drawn in words."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import suffit
from suffit.comparison.matrix import TableMatrix

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from suffit import figures  # noqa: E402

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data.rename(columns=lambda c: c.removesuffix(" (cm)")), IRIS.target_names[IRIS.target]
PICTURES = Path(__file__).parent / "pictures"
MATRICES = [1.0, 0.6, 2.0, [1.0, 0.3], [[1, 0.3], [0.3, 0.5]], [[1, 0.5], [0.5, 1]], [[1, -0.5], [-0.5, 1]],
            [[1, 0.8], [0.8, 1]], [[1, -0.8], [-0.8, 1]], [[3, 0.8], [0.8, 1]]]  # fmt: skip


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


@pytest.mark.parametrize("cov", MATRICES, ids=str)
def test_G10_every_covariance_has_its_contours_and_its_surface(cov, ax):
    assert figures.gaussian_contours(cov=cov, ax=ax) is ax
    full = np.diag(np.broadcast_to(np.asarray(cov, dtype=float), (2,))) if np.ndim(cov) < 2 else np.asarray(cov, float)
    for share, path in zip((0.99, 0.9, 0.7, 0.5, 0.3, 0.1), ax.collections[0].get_paths(), strict=True):
        d2 = np.einsum("ni,ij,nj->n", path.vertices, np.linalg.inv(full), path.vertices)
        inside = np.abs(path.vertices).max(axis=1) < 2.99  # where the axes do not cut it
        np.testing.assert_allclose(d2[inside], -2 * np.log(1 - share), rtol=0.05)
    surface = figures.gaussian_surface(cov=cov)
    assert surface.get_zlabel() == "density"
    plt.close(surface.figure)


@pytest.mark.parametrize("mean", [(1.0, 0.0), (-0.5, 0.0), (-1.0, -1.5)])
def test_G10_the_mean_is_where_it_is(mean, ax):
    figures.gaussian_contours(mean=mean, ax=ax)
    assert tuple(float(v[0]) for v in ax.lines[0].get_data()) == mean


def test_G10_the_boundary_of_two_gaussians_is_where_the_posterior_is_a_half(ax):
    Z, w = suffit.simulate("gaussian", separation=3.0).sample(300, random_state=0)
    model = suffit.LDA().fit(Z, w)
    figures.boundary(model, Z, w, ax=ax)
    lines = next(c for c in ax.collections if isinstance(c, matplotlib.contour.ContourSet) and not c.filled)
    half = lines.get_paths()[list(lines.levels).index(0.5)].vertices
    np.testing.assert_allclose(model.predict_proba(half)[:, 1], 0.5, atol=0.01)
    assert {"0", "1", "mean of 0", "mean of 1"} <= {t.get_text() for t in ax.get_legend().get_texts()}


def test_G10_one_feature_has_both_densities_and_the_sigmoid_posterior(ax):
    Z, w = suffit.simulate("gaussian", columns=1).sample(200, random_state=0)
    model = suffit.LDA().fit(Z, w)
    assert figures.densities(model, Z, row=3, ax=ax) is ax
    ticks, drawn = ax.lines[0].get_data()
    np.testing.assert_allclose(drawn, np.exp(model.predict_joint_log_proba(ticks[:, None]))[:, 0], rtol=1e-9)
    right = next(a for a in ax.figure.axes if a is not ax)
    np.testing.assert_allclose(right.lines[1].get_ydata(), model.predict_proba(ticks[:, None])[:, 1], rtol=1e-9)
    assert any("row 3" in t.get_text() for t in right.texts)


def test_ellipses_and_the_numbers_of_lines_are_inside_the_axes():
    """The worked example: three points of each class, whose ellipses reach far beyond them."""
    C1 = [(0.3682, -2.0530), (0.1521, 0.0131), (-1.3033, -0.2105)]
    C2 = [(0.9456, 2.6543), (1.3574, 1.0225), (0.4478, 1.0543)]
    Z, w = np.array(C1 + C2), ["C1"] * 3 + ["C2"] * 3
    drawn = figures.boundary(suffit.GDA("spherical", tie=1).fit(Z, w), Z, w)
    drawn.figure.canvas.draw()
    frame = drawn.get_window_extent()
    numbers = [t for c in drawn.collections for t in getattr(c, "labelTexts", [])] + list(drawn.texts)
    assert sorted({t.get_text() for t in numbers}) == ["0.1", "0.5", "0.9"]
    assert all(frame.contains(*corner) for t in numbers for corner in t.get_window_extent().corners())
    rings = np.vstack([line.get_xydata() for line in drawn.lines if len(line.get_xydata()) > 100])
    assert (drawn.get_xlim()[0] < rings[:, 0]).all()
    assert (rings[:, 1] < drawn.get_ylim()[1]).all()
    plt.close(drawn.figure)


def test_where_one_class_is_always_more_probable_lines_say_how_probable(ax):
    rng = np.random.default_rng(0)
    w = (rng.random(2000) < 0.1).astype(int)
    Z = rng.normal(size=(2000, 2)) + 0.2 * w[:, None]
    model = suffit.LDA().fit(Z, w)
    figures.boundary(model, Z, w, ax=ax)
    (lines,) = (c for c in ax.collections if isinstance(c, matplotlib.contour.ContourSet) and not c.filled)
    assert 0.1 in lines.levels
    assert 0.5 not in lines.levels
    assert "p(1)" in {t.get_text() for t in ax.get_legend().get_texts()}


def test_the_words_on_a_row_are_above_the_curves():
    drawn = figures.densities(LDA_MODEL, X, "petal length", row=77)
    drawn.figure.canvas.draw()
    right = next(a for a in drawn.figure.axes if a is not drawn)
    (words,) = right.texts
    under = words.get_window_extent().y0
    for a in (drawn, right):
        assert (
            max(a.transData.transform(line.get_xydata())[:, 1].max() for line in a.lines if len(line.get_xydata()) > 2)
            < under
        )
    plt.close(drawn.figure)


def test_columns_that_are_not_drawn_are_integrated_out(ax):
    model = suffit.QDA().fit(X, Y)
    figures.boundary(model, X, Y, columns=["petal length", "petal width"], ax=ax)
    pair = suffit.QDA().fit(X[["petal length", "petal width"]], Y)
    region = next(c for c in ax.collections if isinstance(c, matplotlib.contour.ContourSet) and c.filled)
    points = np.array([[1.5, 0.3], [4.2, 1.3], [6.0, 2.2]])
    for point, label in zip(points, pair.predict(pd.DataFrame(points, columns=X.columns[2:])), strict=True):
        k = list(model.classes_).index(label)
        assert region.get_paths()[k].contains_point(point)


@pytest.mark.parametrize("form", ["pandas", "array", "dict"])
def test_any_table_and_models_of_other_libraries(form, ax):
    table = {"pandas": X, "array": X.to_numpy(), "dict": {name: X[name].to_numpy() for name in X}}[form]
    pair = ["x0", "x3"] if form == "array" else ["sepal length", "petal width"]
    assert figures.boundary(suffit.GenerativeClassifier().fit(table, Y), table, Y, pair, ax=ax).get_xlabel() == pair[0]
    if form != "dict":
        assert figures.boundary(LogisticRegression(max_iter=500).fit(table, Y), table, Y, pair, ax=ax) is ax


def test_a_table_with_categories_and_missing_values(ax):
    table, y = suffit.simulate("mixed").sample(120, random_state=0)
    table = {**table, "income": np.where(np.arange(120) % 7 == 0, np.nan, table["income"])}
    model = suffit.GenerativeClassifier().fit(table, y)
    assert figures.boundary(model, table, y, ax=ax).get_ylabel() == "income"
    assert figures.densities(model, table, "visits").get_xlabel() == "visits"


def test_the_projection_is_that_of_transform(ax):
    model = suffit.LDA().fit(X, Y)
    figures.projection(model, X, Y, ax=ax)
    drawn = np.vstack([c.get_offsets() for c in ax.collections])
    np.testing.assert_allclose(np.sort(drawn[:, 0]), np.sort(model.transform(X)[:, 0]))
    shown = suffit.LDA().fit(X, Y).set_output(transform="pandas")
    assert figures.projection(shown, X, Y).get_ylabel() == ax.get_ylabel()
    two = Y != "setosa"
    assert figures.projection(suffit.LDA().fit(X[two], Y[two]), X[two], Y[two]).get_ylabel() == "rows"


def test_confusions_and_roc_curves(ax):
    figures.confusion(["a", "a", "b"], ["a", "b", "b"], ax=ax)
    assert [t.get_text() for t in ax.texts] == ["1\n50%", "1\n50%", "0\n0%", "1\n100%"]
    drawn = figures.roc(["n", "n", "p", "p"], np.array([0.1, 0.4, 0.35, 0.8]))
    assert drawn.get_legend().get_texts()[0].get_text() == "area 0.750"


def test_what_cannot_be_drawn_is_refused_in_words(ax):
    model = suffit.LDA().fit(X, Y)
    with pytest.raises(suffit.InputError, match="there is no column 'petal'"):
        figures.boundary(model, X, Y, columns=["petal", "petal width"], ax=ax)
    with pytest.raises(suffit.InputError, match="2 columns of numbers are needed"):
        figures.boundary(model, X, Y, columns=["petal width"], ax=ax)
    with pytest.raises(suffit.InputError, match="two numbers"):
        figures.gaussian_contours(mean=(0.0, 0.0, 0.0), ax=ax)
    with pytest.raises(suffit.InputError, match="no covariances"):
        figures.class_ellipses(suffit.PoissonNB().fit([[1, 2], [3, 4]], [0, 1]), ax=ax)
    with pytest.raises(suffit.InputError, match="name the positive one"):
        figures.roc([0, 1, 2], [0.1, 0.2, 0.3], ax=ax)
    with pytest.raises(suffit.InputError, match="per row"):
        figures.confusion([0, 1], [0], ax=ax)


# --- what an axes draws is returned, whatever is asked for


LDA_MODEL, QDA_MODEL = suffit.LDA().fit(X, Y), suffit.QDA().fit(X, Y)
PETALS = ["petal length", "petal width"]
DRAWN = {
    "boundary": lambda ax: figures.boundary(QDA_MODEL, X, Y, PETALS, ax=ax),
    "class_ellipses": lambda ax: figures.class_ellipses(QDA_MODEL, PETALS, ax=ax),
    "confusion": lambda ax: figures.confusion(Y, LDA_MODEL, X, ax=ax),
    "covariances": lambda ax: figures.covariances(QDA_MODEL, ax=ax),
    "densities": lambda ax: figures.densities(LDA_MODEL, X, "petal length", row=77, ax=ax),
    "gaussian_contours": lambda ax: figures.gaussian_contours(cov=[[1, 0.8], [0.8, 1]], ax=ax),
    "nomogram": lambda ax: figures.nomogram(LDA_MODEL, X, "versicolor", ax=ax),
    "projection": lambda ax: figures.projection(LDA_MODEL, X, Y, ax=ax),
    "reliability": lambda ax: figures.reliability(Y, {"LDA": LDA_MODEL, "QDA": QDA_MODEL}, X, ax=ax),
    "roc": lambda ax: figures.roc(Y, QDA_MODEL, X, ax=ax),
    "waterfall": lambda ax: figures.waterfall(LDA_MODEL.explain(X), 70, ax=ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_draws_into_the_axes_given_labels_them_and_can_be_written(name, ax, tmp_path):
    assert DRAWN[name](ax) is ax
    assert ax.get_xlabel() or name == "covariances"
    assert ax.get_ylabel() or ax.get_yticklabels()
    for form in ("png", "svg"):
        ax.figure.savefig(tmp_path / f"a.{form}")
        assert (tmp_path / f"a.{form}").stat().st_size > 3000


def shown_in(a) -> list:
    """The texts of axes, but for ticks beyond their ends, which are not drawn."""
    ends = zip((a.get_xticklabels(), a.get_yticklabels()), (a.get_xlim(), a.get_ylim()), (0, 1), strict=True)
    ticks = [t for labels, (low, high), i in ends for t in labels
             if min(low, high) <= t.get_position()[i] <= max(low, high)]  # fmt: skip
    return [t for t in [*a.texts, a.title, a.xaxis.label, a.yaxis.label, *ticks] if t.get_text() and t.get_visible()]


@pytest.mark.parametrize("name", sorted({*DRAWN} - {"gaussian_contours"}))
def test_without_axes_nothing_is_clipped(name):
    own = DRAWN[name](None)
    own.figure.canvas.draw()
    page = own.figure.bbox
    for text in [text for a in own.figure.axes for text in shown_in(a)]:
        box = text.get_window_extent()
        assert box.x0 >= page.x0 - 2, text
        assert box.x1 <= page.x1 + 2, text
        assert box.y0 >= page.y0 - 2, text
        assert box.y1 <= page.y1 + 2, text
    plt.close(own.figure)


def test_covariances_are_those_of_the_model_and_shared_ones_are_drawn_once(ax):
    figures.covariances(QDA_MODEL, correlations=False, ax=ax)
    assert len(ax.images) == 3
    np.testing.assert_allclose(np.asarray(ax.images[1].get_array()), np.cov(X[Y == "versicolor"].T, ddof=0), rtol=1e-9)
    drawn = figures.covariances(LDA_MODEL, PETALS)
    assert len(drawn.images) == 1
    S = suffit.LDA(store_covariance=True).fit(X, Y).covariance_[2:, 2:]
    expected = S[0, 1] / np.sqrt(S[0, 0] * S[1, 1])
    assert np.asarray(drawn.images[0].get_array())[0, 1] == pytest.approx(expected, rel=1e-9)


def test_reliability_is_that_of_the_probabilities_in_whatever_form(ax):
    two = Y != "setosa"
    model = suffit.GaussianNB().fit(X[two], Y[two])
    P = model.predict_proba(X[two])
    for given in (P, P[:, 1]):
        drawn = figures.reliability(Y[two], given)
        found, asked = drawn.lines[1], figures.reliability(Y[two], model, X[two]).lines[1]
        np.testing.assert_array_equal(found.get_xydata(), asked.get_xydata())
    with pytest.raises(suffit.InputError, match="no rows; give X"):
        figures.reliability(Y[two], model, ax=ax)
    with pytest.raises(suffit.InputError, match="a column for each class"):
        figures.reliability(Y, P, ax=ax)
    with pytest.raises(suffit.InputError, match="none of the classes"):
        figures.reliability(Y, model, X, ax=ax)
    with pytest.raises(suffit.InputError, match="not calibrated"):
        figures.calibration(model, ax=ax)
    with pytest.raises(suffit.InputError, match="tuned no setting"):
        figures.selection(model, ax=ax)


def test_of_three_classes_each_has_a_curve_against_the_rest(ax):
    figures.roc(Y, {"QDA": QDA_MODEL}, X, ax=ax)
    assert [t.get_text().partition(":")[0] for t in ax.get_legend().get_texts()] == [
        f"QDA, {label}" for label in QDA_MODEL.classes_
    ]


def test_a_model_of_another_library_with_categories_beside_the_pair(ax):
    table, y = suffit.simulate("mixed").sample(120, random_state=0)
    frame = pd.DataFrame(dict(table))
    other = make_pipeline(TableMatrix(), LogisticRegression()).fit(frame, y)
    assert figures.boundary(other, frame, y, ["length", "income"], ax=ax) is ax


def test_one_class_against_all_others_is_exact_along_one_column_and_says_how_near_the_sum_comes():
    drawn = figures.nomogram(LDA_MODEL, X, "versicolor")
    title = drawn.get_title(loc="left")
    assert title.startswith("versicolor against all others  (a sum approximates it, within 0.0")
    names = [t.get_text() for t in drawn.get_yticklabels()]
    assert names[-3:] == ["a typical row", "sum", "p(versicolor)"]
    typical = X.quantile(0.5, interpolation="lower").to_frame().T
    P = LDA_MODEL.predict_proba(typical)[0]
    odds = np.log(P[1] / (1 - P[1]))
    marks = [line.get_xdata()[0] for line in drawn.lines if line.get_marker() == "D"]
    assert marks == [pytest.approx(odds, abs=1e-9)]
    two = Y != "setosa"
    pair = figures.nomogram(suffit.LDA().fit(X[two], Y[two]), X[two], "virginica")
    assert pair.get_title(loc="left") == "virginica against versicolor"  # the rest is one class


# --- pictures compared with those drawn before, with room for other versions of matplotlib


@pytest.mark.parametrize("name", ["boundary", "densities", "covariances", "nomogram", "waterfall"])
def test_pictures_look_as_they_did(name):
    """Where there is ink, coarsely: 24 × 24 fields of each picture, whose darkness may differ by a little."""
    figure, axes = plt.subplots(figsize=(5, 4), dpi=60)
    DRAWN[name](axes)
    figure.canvas.draw()
    grey = np.asarray(figure.canvas.buffer_rgba())[..., :3].mean(axis=2) / 255
    fields = grey[:240, :288].reshape(24, 10, 24, 12).mean(axis=(1, 3))
    plt.close(figure)
    path = PICTURES / f"{name}.csv"
    if os.environ.get("SUFFIT_DRAW_AGAIN"):  # after a change of a picture that was looked at
        np.savetxt(path, fields, fmt="%.3f", delimiter=",")
    before = np.loadtxt(path, delimiter=",")
    assert np.abs(fields - before).mean() < 0.02
    assert np.corrcoef(fields.ravel(), before.ravel())[0, 1] > 0.9
