"""Figures: they show what the model says, take axes and give them back, and refuse what cannot be drawn in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import suffit

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from suffit import figures  # noqa: E402

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data.rename(columns=lambda c: c.removesuffix(" (cm)")), IRIS.target_names[IRIS.target]
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
    assert any("row 3" in t.get_text() for t in ax.texts)


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
