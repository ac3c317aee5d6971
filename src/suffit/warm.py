"""Compile what estimators need, before anybody waits for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import suffit

ROWS = 240


def warm_up() -> None:
    """Compile everything once and keep it in the cache, so that no later process waits for it.

    It takes about a minute on a machine that has compiled nothing, and about a second on one that has.  For container
    images, classrooms and tests with time limits; ``python -m suffit warm`` does the same and shows how far it is.
    What is compiled is what 64-bit and 32-bit floating-point numbers, sparse matrices, integers and tables need; other
    kinds of numbers compile a kernel or two when they are first used.

    Returns
    -------
    None

    Examples
    --------
    >>> import suffit
    >>> suffit.warm_up()  # doctest: +SKIP

    """
    from .kernels.runtime.notice import quietly

    with quietly():
        for _, step in steps():
            step()


def steps() -> Iterator[tuple[str, Callable[[], None]]]:
    """What there is to do, by name; the last one marks the cache as complete."""
    from .kernels.runtime.cache import mark_complete

    for name, model, X, y in _fits():
        yield name, partial(_use, model, X, y)
    yield "cache", mark_complete


def _use(model: Any, X: Any, y: Any) -> None:
    """Fit, predict, score without each row: all that an estimator has, as far as it has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        for ask in ("predict", "predict_proba", "predict_log_proba"):
            getattr(model, ask)(X)
        one = {name: column[:1] for name, column in X.items()} if isinstance(X, dict) else X[:1]
        model.predict_proba(one)
        model.loo_predict_proba(X, y)
        if not isinstance(X, dict):
            model.partial_fit(one, y[:1])


def _fits() -> Iterator[tuple[str, Any, Any, Any]]:
    from scipy import sparse

    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 3
    X = rng.normal(size=(ROWS, 6)) + y[:, None]
    gaps = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    counts = rng.poisson(1 + y[:, None], (ROWS, 5))
    words = sparse.csr_matrix(counts)
    two = y > 0
    for kind in (np.float64, np.float32):
        for rows in (X.astype(kind), gaps.astype(kind)):
            yield "GaussianNB", suffit.GaussianNB(), rows, y
            yield "LinearDiscriminantAnalysis", suffit.LDA(), rows, y
            yield "QuadraticDiscriminantAnalysis", suffit.QDA(), rows, two
        yield "GaussianDiscriminantAnalysis", suffit.GDA(), X.astype(kind), y
        yield "GaussianNB", suffit.GaussianNB(), sparse.csr_matrix(X.astype(kind)), y
    yield "GaussianNB", suffit.GaussianNB(), X, two
    yield "MultinomialNB", suffit.MultinomialNB(), words, y
    yield "MultinomialNB", suffit.MultinomialNB(), words, two
    yield "MultinomialNB", suffit.MultinomialNB(), words.astype(np.float64), two
    yield "MultinomialNB", suffit.MultinomialNB(), counts, two
    yield "ComplementNB", suffit.ComplementNB(), words, y
    yield "BernoulliNB", suffit.BernoulliNB(), words, two
    yield "BernoulliNB", suffit.BernoulliNB(), counts, two
    yield "PoissonNB", suffit.PoissonNB(), counts, y
    yield "PoissonNB", suffit.PoissonNB(), words, y
    wide = np.hstack([X] * 60)  # more columns than rows
    for labels in (two, y):
        yield "LinearDiscriminantAnalysis", suffit.LDA(), wide + rng.normal(size=wide.shape), labels
    yield "NaiveBayes", suffit.NaiveBayes(family="geometric"), words, y
    yield "CategoricalNB", suffit.CategoricalNB(), counts, y
    table = {f"x{j}": gaps[:, j] for j in range(3)} | {f"z{j}": X[:, j] for j in range(3)}
    table |= {"count": counts[:, 0], "time": np.exp(X[:, 0]), "flag": rng.random(ROWS) < 0.5}
    table["word"] = rng.choice(np.array(["red", "green", "blue"]), ROWS)
    yield "GenerativeClassifier", suffit.GenerativeClassifier(), table, np.array(["a", "b", "c"])[y]
