"""Estimators, rows that all of them take, and what a refusal is: an error that changes nothing."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance

from cases import FAMILIES
from suffit import (
    GDA,
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
)

NAMED = [key for key, row in FAMILIES.items() if row.oracle is not None]


CORE = {
    "GaussianNB": GaussianNB(),
    "BernoulliNB": BernoulliNB(binarize=0.5),
    "MultinomialNB": MultinomialNB(),
    "ComplementNB": ComplementNB(),
    "CategoricalNB": CategoricalNB(),
    "PoissonNB": PoissonNB(),
    **{f"NaiveBayes-{key}": NaiveBayes(key) for key in NAMED},
    "GDA": GDA(),
    "GDA-diagonal": GDA("diagonal"),
    "GDA-spherical": GDA("spherical"),
    "GDA-tied": GDA(tie=1),
    "GDA-diagonal-tied": GDA("diagonal", tie=1),
    "GDA-ledoit-wolf": GDA(shrinkage="ledoit-wolf"),
    "LDA": LDA(),
    "LDA-lsqr": LDA("lsqr"),
    "LDA-eigen": LDA("eigen"),
    "LDA-estimator": LDA("eigen", covariance_estimator=EmpiricalCovariance()),
    "QDA": QDA(),
    "QDA-eigen": QDA(solver="eigen", shrinkage="auto"),
    "QDA-estimator": QDA(solver="eigen", covariance_estimator=EmpiricalCovariance()),
    "GenerativeClassifier": GenerativeClassifier(),
}


VARIANTS = {
    **CORE,
    "GaussianNB-bare": GaussianNB(var_smoothing=0),
    "GaussianNB-largest": GaussianNB(floor="largest"),
    "BernoulliNB-0": BernoulliNB(alpha=0),
    "MultinomialNB-0": MultinomialNB(alpha=0),
    "ComplementNB-0": ComplementNB(alpha=0),
    "ComplementNB-norm": ComplementNB(norm=True),
    "CategoricalNB-0": CategoricalNB(alpha=0),
    "PoissonNB-0": PoissonNB(alpha=0),
    **{
        f"GDA-full-{tie}-{s}": GDA(tie=tie, shrinkage=s)
        for tie in (0, 0.5, 1)
        for s in (None, 0.3, "ledoit-wolf", "oas")
    },
    **{
        f"GDA-{kind}-{tie}-{s}": GDA(kind, tie=tie, shrinkage=s)
        for kind in ("diagonal", "spherical")
        for tie in (0, 0.5, 1)
        for s in (None, 0.3)
    },
    "GDA-unbiased": GDA(denominator="unbiased"),
    "LDA-lsqr-auto": LDA("lsqr", "auto"),
    "LDA-eigen-0.3": LDA("eigen", 0.3),
    "LDA-lsqr-uniform": LDA("lsqr", priors="uniform"),
    "QDA-reg": QDA(reg_param=0.1),
}


BATCHED = [k for k in CORE if "estimator" not in k]  # a covariance estimator takes no batches


# values in (0, 1), some of them equal, lie in the support of every family (categories and shares included)
rng = np.random.default_rng(0)


Y = np.repeat(["a", "b", "c"], 8)


X = np.round(rng.beta(2 + 2 * np.repeat([0, 1, 2], 8)[:, None], 4, (24, 3)).clip(0.1, 0.9), 1)


COLUMNS = ["one", "two", "three"]


def frame(values):
    return pd.DataFrame(values, columns=COLUMNS)


def fitted(name, X=X, y=Y, *, all_estimators=VARIANTS, **params):
    return clone(all_estimators[name]).set_params(**params).fit(X, y)


def state(est):
    answers = est.predict_proba(est._probe).tobytes() if est.__sklearn_is_fitted__() and hasattr(est, "_probe") else b""
    return sorted(est.__dict__), pickle.dumps(est.__getstate__()), answers


def refused(est, call, match=None, errors=(ValueError, TypeError)):
    """The error of a call that must leave the estimator as it was."""
    before = state(est)
    with pytest.raises(errors, match=match) as caught:
        call(est)
    assert state(est) == before
    return str(caught.value)


def both_states(name, X=X):
    """The estimator before and after a fit; ``_probe`` are the rows whose posterior is compared."""
    unfitted, known = clone(VARIANTS[name]), fitted(name, X)
    known._probe = X
    return unfitted, known


def changing(name):
    return ["fit"] if "estimator" in name else ["fit", "partial_fit"]


def names_cell(message, column, value, row):
    """Whether an error about one cell says which column, which value, which row, and what to do."""
    shown = "inf" if np.isinf(value) else "NaN|nan" if np.isnan(value) else re.escape(f"{value:g}")
    assert f"{column!r}" in message, message
    assert re.search(shown, message), message
    assert f"row {row}" in message, message
    assert re.search(r"\b(replace|use|drop|shift|rescale|set|leave|make|clip|subtract)\b", message), message


ROWWISE = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba", "score_samples"]


def with_cell(value, row=2, column=1):
    bad = X.copy()
    bad[row, column] = value
    return bad
