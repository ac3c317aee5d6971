"""Every public estimator by itself and under some settings, with rows that all of them take."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import OAS

from suffit import (
    GDA,
    LDA,
    QDA,
    Bernoulli,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    VonMises,
)

# One estimator for each way that rows are read; what reading does is tried on these, once.
READERS = {
    "GaussianNB": "rows of numbers",
    "MultinomialNB": "counts, whose columns may grow",
    "CategoricalNB": "categories",
    "LDA-estimator": "rows of numbers that another estimator takes too",
    "GenerativeClassifier": "tables",
}


def once_per_reader(
    names: Iterable[str], inputs: Iterable[Hashable], everywhere: Iterable[Hashable] = ()
) -> list[tuple]:
    """Estimators and inputs: every input for every reader, and those that families take apart for all estimators."""
    names, everywhere = list(names), list(everywhere)
    return [(n, i) for i in inputs for n in names if n in READERS or i in everywhere]


DEFAULTS = {
    "GaussianNB": GaussianNB(),
    "BernoulliNB": BernoulliNB(),
    "MultinomialNB": MultinomialNB(),
    "ComplementNB": ComplementNB(),
    "CategoricalNB": CategoricalNB(),
    "PoissonNB": PoissonNB(),
    "NaiveBayes": NaiveBayes(),
    "GDA": GDA(),
    "LDA": LDA(),
    "QDA": QDA(),
    "GenerativeClassifier": GenerativeClassifier(),
}


VARIANTS = {
    **DEFAULTS,
    "BernoulliNB": BernoulliNB(binarize=0.45),
    "GaussianNB-largest": GaussianNB(floor="largest"),
    "NaiveBayes-vonmises": NaiveBayes(VonMises(period=24)),
    "NaiveBayes-poisson": NaiveBayes("poisson"),
    "NaiveBayes-exponential": NaiveBayes("exponential"),
    "NaiveBayes-geometric": NaiveBayes("geometric"),
    "NaiveBayes-bernoulli": NaiveBayes(Bernoulli(threshold=0.45)),
    "NaiveBayes-gamma": NaiveBayes("gamma"),
    "NaiveBayes-beta": NaiveBayes("beta"),
    "NaiveBayes-lognormal": NaiveBayes("lognormal"),
    "GDA-diagonal": GDA("diagonal"),
    "GDA-spherical": GDA("spherical"),
    "GDA-tied": GDA(tie=1),
    "GDA-diagonal-tied": GDA("diagonal", tie=1),
    "GDA-half": GDA(tie=0.5, shrinkage=0.1),
    "GDA-oas": GDA(shrinkage="oas"),
    "GDA-ledoit-wolf": GDA(shrinkage="ledoit-wolf"),
    "LDA-lsqr": LDA("lsqr", "auto"),
    "LDA-eigen": LDA("eigen", 0.1),
    "LDA-estimator": LDA("eigen", covariance_estimator=OAS()),
    "QDA-eigen": QDA(solver="eigen", shrinkage="auto"),
    "GenerativeClassifier-informative": GenerativeClassifier(missing="informative", unknown="novel"),
    "GenerativeClassifier-loo": GenerativeClassifier(criterion="loo", structure="naive"),
}


# one decimal in (0, 1): in the support of every family, categories and counts included
rng = np.random.default_rng(1)


CODES = np.repeat([0, 1, 2], 20)


X = np.round(rng.beta(np.array([[1, 4, 7, 2], [4, 7, 1, 3], [7, 1, 4, 5]])[CODES], 4).clip(0.1, 0.9), 1)


Y = np.array(["ham", "spam", "eggs"])[CODES]


COLUMNS = ["a", "b", "c", "d"]


every = pytest.mark.parametrize("name", VARIANTS)


def make(name, **params):
    return clone(VARIANTS[name]).set_params(**params)


def same(a, b, rows=X, exact=True):
    """Both estimators answer alike."""
    compare = np.testing.assert_array_equal if exact else lambda p, q: np.testing.assert_allclose(p, q, atol=1e-9)
    compare(a.predict_proba(rows), b.predict_proba(rows))
    np.testing.assert_array_equal(a.predict(rows), b.predict(rows))
    compare(a.score_samples(rows), b.score_samples(rows))
