"""Linear discriminant analysis: directions, transforms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

import suffit
from cases import two_classes
from every_estimator import COLUMNS, DEFAULTS, X, Y
from missing_rows import NaN, by_regression, fitted_parameters, normal_rows
from suffit import (
    LDA,
    GaussianNB,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
]


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_lda_transforms_in_unions_and_column_transformers(solver):
    lda = LDA(solver, n_components=2)
    alone = clone(lda).fit(X, Y).transform(X)
    assert alone.shape == (60, 2)
    np.testing.assert_array_equal(clone(lda).fit_transform(X, Y), alone)
    union = FeatureUnion([("lda", lda), ("pca", PCA(1))]).fit(X, Y)
    np.testing.assert_array_equal(union.transform(X)[:, :2], alone)
    frame = pd.DataFrame(X, columns=COLUMNS)
    columns = ColumnTransformer([("lda", lda, ["a", "b", "c"]), ("scale", StandardScaler(), ["d"])])
    part = frame[["a", "b", "c"]]
    np.testing.assert_array_equal(columns.fit_transform(frame, Y)[:, :2], clone(lda).fit_transform(part, Y))
    names = ["lda__lineardiscriminantanalysis0", "lda__lineardiscriminantanalysis1", "scale__d"]
    assert columns.get_feature_names_out().tolist() == names
    assert make_pipeline(columns, GaussianNB()).fit(frame, Y).score(frame, Y) > 0.6


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_lda_set_output(solver, library):
    frame = (pd if library == "pandas" else pl).DataFrame(dict(zip(COLUMNS, X.T, strict=True)))
    lda = LDA(solver).set_output(transform=library).fit(frame, Y)
    out = lda.transform(frame)
    assert type(out) is type(frame)
    assert list(out.columns) == lda.get_feature_names_out().tolist()
    assert list(out.columns) == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    np.testing.assert_array_equal(out.to_numpy(), LDA(solver).fit(X, Y).transform(X))
    if library == "pandas":
        shuffled = frame.sample(frac=1, random_state=0)
        assert lda.transform(shuffled).index.tolist() == shuffled.index.tolist()


def test_only_lda_transforms():
    assert [k for k, e in DEFAULTS.items() if hasattr(e, "transform")] == ["LDA"]


def test_lda_directions_exist_beside_a_constant_column():
    X, y = two_classes(100)
    X = np.c_[X, np.full(100, 3.0)]
    for solver in ("svd", "eigen"):
        lda = suffit.LDA(solver=solver).fit(X, y)
        assert lda.transform(X).shape == (100, 1)
        assert lda.explained_variance_ratio_.round(9).tolist() == [1.0]
        assert lda.get_feature_names_out().tolist() == ["lineardiscriminantanalysis0"]


def test_far_points_have_larger_decisions_further_out():
    X, y = two_classes(100)
    lda = suffit.LDA().fit(X, y)
    near, far = lda.decision_function([[1e300, 0], [1e307, 0]])
    assert far > near > 1e299


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_C4_decision_function_of_lda_is_the_log_odds_of_the_columns_that_are_there(solver):
    X, y = normal_rows()
    two = LDA(solver).fit(X[y < 2], y[y < 2])
    log_p = two.predict_log_proba(X)
    np.testing.assert_allclose(two.decision_function(X), log_p[:, 1] - log_p[:, 0], rtol=1e-9, atol=1e-9)


def test_C4_the_largest_decision_of_lda_is_its_prediction():
    X, y = normal_rows()
    model = LDA().fit(X, y)
    np.testing.assert_array_equal(model.classes_[model.decision_function(X).argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_C4_transform_with_holes_is_that_of_the_filled_row(solver):
    X, y = normal_rows(40)
    whole = normal_rows(40, share=0.0)[0]
    model = LDA(solver).fit(whole, y)
    out = model.transform(X)
    assert np.isfinite(out).all()
    _, means, covariances = fitted_parameters(model)
    posterior = model.predict_proba(X)
    np.testing.assert_allclose(out, model.transform(by_regression(X, posterior, means, covariances)), atol=1e-9)
    np.testing.assert_allclose(out[~np.isnan(X).any(axis=1)], model.transform(whole)[~np.isnan(X).any(axis=1)])


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_C4_directions_of_both_solvers_agree_with_holes(share):
    X, y = normal_rows(41, share=share)
    svd, eigen = LDA("svd").fit(X, y), LDA("eigen").fit(X, y)
    np.testing.assert_allclose(eigen.explained_variance_ratio_, svd.explained_variance_ratio_, atol=1e-6)
    assert eigen.explained_variance_ratio_.sum() <= 1 + 1e-9


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_C4_directions_where_no_row_is_complete():
    X, y = normal_rows(41)
    X[np.arange(240), np.arange(240) // 3 % 3] = NaN
    assert np.isfinite(LDA("eigen").fit(X, y).transform(X)).all()


def test_C4_the_stored_covariance_with_priors_is_that_of_all_rows():
    X, y = normal_rows(42)
    priors = np.array([0.5, 0.3, 0.2])
    model = LDA(store_covariance=True, priors=priors).fit(X, y)
    _, means, covariances = fitted_parameters(model)
    expected = np.zeros((3, 3))
    for x, c in zip(X, y, strict=True):  # E[(x − μ)(x − μ)ᵀ | what is there]
        o, S = x == x, covariances[c]
        z = by_regression(x[None], np.eye(3)[[c]], means, covariances)[0] - means[c]
        left = np.zeros((3, 3))
        B = S[np.ix_(~o, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        left[np.ix_(~o, ~o)] = S[np.ix_(~o, ~o)] - B @ S[np.ix_(o, ~o)]
        expected += priors[c] * (np.outer(z, z) + left) / (y == c).sum()
    np.testing.assert_allclose(model.covariance_, expected, atol=1e-6)
