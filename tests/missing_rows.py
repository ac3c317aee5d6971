"""Gaussian models and rows of correlated columns with values missing at random; likelihoods by scipy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from cases import PLAIN as CASES
from suffit import (
    GDA,
    LDA,
    QDA,
    GaussianNB,
)

NaN = np.nan


FULL = {
    "QDA": lambda: QDA(store_covariance=True),
    "LDA": lambda: LDA(store_covariance=True),
    "GDA": lambda: GDA(),
    "GDA-half": lambda: GDA(tie=0.5),
    "GDA-shared": lambda: GDA(tie=1.0),
}


GAUSSIAN = {
    **FULL,
    "GDA-unbiased": lambda: GDA(denominator="unbiased"),
    "GDA-shrunk": lambda: GDA(shrinkage=0.2),
    "GDA-ledoit-wolf": lambda: GDA(shrinkage="ledoit-wolf"),
    "GDA-oas": lambda: GDA(tie=1.0, shrinkage="oas"),
    "QDA-reg": lambda: QDA(reg_param=0.1),
    "LDA-eigen-auto": lambda: LDA("eigen", "auto"),
    "LDA-lsqr-priors": lambda: LDA("lsqr", priors=[0.2, 0.5, 0.3]),
    "diagonal": lambda: GDA("diagonal"),
    "diagonal-half": lambda: GDA("diagonal", tie=0.5),
    "diagonal-shared": lambda: GDA("diagonal", tie=1.0),
    "spherical": lambda: GDA("spherical"),
    "spherical-shared": lambda: GDA("spherical", tie=1.0),
    "GaussianNB": lambda: GaussianNB(),
}


def over(makers):
    return pytest.mark.parametrize("make", makers.values(), ids=makers.keys())


def over_cases(wanted=lambda name: True):
    cases = {k: c for k, c in CASES.items() if wanted(k) and not k.startswith("Generative")}  # tables: test_tables
    return pytest.mark.parametrize("case", cases.values(), ids=cases.keys())


def of_levels(name):
    return "ategorical" in name


def of_tables(name):
    return "partition" in name


def of_words(name):
    return "ultinomial" in name or "Complement" in name


every_case = over_cases()


def some_there(X):
    """The rows with at least two values (one, of two columns)."""
    return X[(X == X).sum(axis=1) >= min(2, X.shape[1] - 1)]


MIX = np.array([[1.0, 0.6, -0.3], [0.0, 0.9, 0.5], [0.0, 0.0, 0.7]])


def normal_rows(seed=0, n=240, k=3, p=3, share=0.25, offset=0.0):
    """Rows of correlated columns with class means of their own, some values missing at random."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    mix = MIX if p == 3 else np.eye(p) + np.triu(rng.normal(size=(p, p)), 1) / np.sqrt(p)
    X = rng.normal(size=(n, p)) @ mix + y[:, None] * np.linspace(1.0, -0.5, p) + offset
    return np.where(rng.random((n, p)) < share, NaN, X), y


def fitted_parameters(model):
    """p(c), means and covariances of every class."""
    scorer = model._solved.scorer
    return np.exp(model._solved.log_prior), scorer.means, np.asarray(scorer.covariances())


def log_joint(X, prior, means, covariances):
    """log p(c) + log N(x_o; μ_co, Σ_c,oo) by scipy, row by row and class by class; nothing there: log p(c)."""
    out = np.tile(np.log(prior), (len(X), 1))
    for i, c in itertools.product(range(len(X)), range(len(prior))):
        o = X[i] == X[i]
        if o.any():
            out[i, c] += stats.multivariate_normal.logpdf(X[i, o], means[c, o], covariances[c][np.ix_(o, o)])
    return out


def observed_log_likelihood(X, y, means, covariances):
    """Σ log p(x_o | y) of labelled rows."""
    joint = log_joint(X, np.ones(len(means)), means, covariances)
    return joint[np.arange(len(y)), y].sum()


def mean_gradient(X, y, means, covariances):
    """d/dμ and d/dΣ of the observed-data log-likelihood, per row: ½(P r rᵀ P − P) on the columns that are there."""
    K, p = means.shape
    by_mean, by_cov = np.zeros((K, p)), np.zeros((K, p, p))
    for x, c in zip(X, y, strict=True):
        o = np.flatnonzero(x == x)
        if len(o):
            P = np.linalg.inv(covariances[c][np.ix_(o, o)])
            u = P @ (x[o] - means[c, o])
            by_mean[c, o] += u
            by_cov[c][np.ix_(o, o)] += 0.5 * (np.outer(u, u) - P)
    return by_mean / len(X), by_cov / len(X)


def answers(model, rows):
    """Every answer of the model for these rows, checked to be finite."""
    p = model.predict_proba(rows)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    for method in ("predict_log_proba", "predict_joint_log_proba", "score_samples"):
        assert np.isfinite(getattr(model, method)(rows)).all()
    if isinstance(model, LDA) and model.solver != "lsqr":
        assert np.isfinite(model.transform(rows)).all()
    if hasattr(model, "decision_function"):
        assert np.isfinite(model.decision_function(rows)).all()
    return p


def by_regression(X, posterior, means, covariances):
    """Σ_c p(c | x_o) (μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o)), row by row."""
    out = X.copy()
    for i, x in enumerate(X):
        o = x == x
        parts = [
            m[~o] + S[np.ix_(~o, o)] @ np.linalg.solve(S[np.ix_(o, o)], x[o] - m[o]) if o.any() else m
            for m, S in zip(means, covariances, strict=True)
        ]
        out[i, ~o] = posterior[i] @ np.array(parts)
    return out
