"""The same posterior as a scikit-learn model."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import suffit
from cases import PLAIN as CASES
from cases import fitted

LINEAR = {  # every case whose posterior is linear in x
    "family-poisson", "family-geometric", "family-exponential", "family-multinomial", "MultinomialNB", "ComplementNB",
    "ComplementNB-norm", "PoissonNB", "LDA", "LDA-eigen-auto", "LDA-lsqr", "GDA-diagonal-shared",
    "GDA-spherical-shared", "GDA-shared", "GDA-oas", "GenerativeClassifier-shared",
}  # fmt: skip


LINEAR_IN_0_AND_1 = {"family-bernoulli"}  # BernoulliNB of the cases cuts at 2


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", CASES)
def test_to_sklearn_has_the_same_posterior(name: str, k: int):
    model, X, y = fitted(name, k=k)
    if name in LINEAR_IN_0_AND_1:
        X = (X > 2).astype(float)
        model = model.fit(X, y)
    if name == "BernoulliNB":  # cuts at 2: linear in no column
        with pytest.raises(suffit.InputError, match="not in the columns"):
            model.to_sklearn()
        return
    if name not in LINEAR | LINEAR_IN_0_AND_1:
        with pytest.raises(suffit.InputError, match=r"to_sklearn: .*logistic_form"):
            model.to_sklearn()
        return
    exported = model.to_sklearn()
    assert isinstance(exported, LogisticRegression)
    assert exported.coef_.shape == (1 if k == 2 else 3, X.shape[1])
    np.testing.assert_allclose(exported.predict_proba(X), model.predict_proba(X), rtol=1e-12, atol=1e-12)
    assert exported.predict(X).tolist() == model.predict(X).tolist()


def test_to_sklearn_is_a_warm_start():
    X, y = load_iris(return_X_y=True)
    warm = suffit.LDA().fit(X, y).to_sklearn(C=1e4, max_iter=5000)
    cold = LogisticRegression(C=1e4, max_iter=5000).fit(X, y)
    before = warm.coef_.copy()
    warm.set_params(max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm.fit(X, y)
        stepped = LogisticRegression(C=1e4, max_iter=1).fit(X, y)
    assert np.abs(warm.coef_ - before).max() < np.abs(stepped.coef_ - before).max()
    loss = [-np.log(m.predict_proba(X)[np.arange(150), y]).mean() for m in (warm, stepped)]
    assert loss[0] < loss[1]
    assert cold.n_iter_[0] > 1


def test_to_sklearn_of_a_table_gives_dropped_columns_weight_0():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(constant=1.0)[["constant", *X.columns]]
    shared = suffit.MultivariateGaussian(tie=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = suffit.GenerativeClassifier({tuple(X.columns[1:]): shared, "constant": "drop"}).fit(X, y)
    exported = model.to_sklearn()
    assert (exported.coef_[:, 0] == 0).all()
    np.testing.assert_allclose(exported.predict_proba(X), model.predict_proba(X), rtol=1e-12, atol=1e-12)
