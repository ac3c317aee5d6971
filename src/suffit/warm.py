"""Compile what estimators need, before anybody waits for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

import suffit

ROWS = 240
MANY_ROWS = 2_000  # which NumPy is not asked to add up
SAMPLED_ROWS = 20_500  # of a table, of which some are drawn to choose its families and structures by


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
        for weights in (np.ones(len(y)), None):
            model.fit(X, y, sample_weight=weights)
        for ask in ("predict", "predict_proba", "predict_log_proba"):
            getattr(model, ask)(X)
        one = {name: column[:1] for name, column in X.items()} if isinstance(X, dict) else X[:1]
        model.predict_proba(one)
        if len(y) <= MANY_ROWS:
            model.loo_predict_proba(X, y)
        if not isinstance(X, dict):
            model.explain(X[:20])
            model.partial_fit(one, y[:1])


def _fits() -> Iterator[tuple[str, object, object, object]]:
    from scipy import sparse

    rng = np.random.default_rng(0)
    y = np.arange(ROWS) % 3
    X = rng.normal(size=(ROWS, 6)) + y[:, None]
    some_missing = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    counts = rng.poisson(1 + y[:, None], (ROWS, 5))
    words = sparse.csr_matrix(counts)
    two = y > 0
    for kind in (np.float64, np.float32):
        for rows in (X.astype(kind), some_missing.astype(kind)):
            yield "GaussianNB", suffit.GaussianNB(), rows, y
            yield "LinearDiscriminantAnalysis", suffit.LDA(), rows, y
            yield "QuadraticDiscriminantAnalysis", suffit.QDA(), rows, two
        yield "GaussianDiscriminantAnalysis", suffit.GDA(), X.astype(kind), y
        yield "GaussianNB", suffit.GaussianNB(), sparse.csr_matrix(X.astype(kind)), y
    yield "GaussianNB", suffit.GaussianNB(), X, two
    yield "MultinomialNB", suffit.MultinomialNB(), words, y
    yield "MultinomialNB", suffit.MultinomialNB(), words, two
    for labels in (two, y):
        yield "MultinomialNB", suffit.MultinomialNB(), words.astype(np.float64), labels
    yield "MultinomialNB", suffit.MultinomialNB(), counts, two
    yield "ComplementNB", suffit.ComplementNB(), words, y
    yield "BernoulliNB", suffit.BernoulliNB(), words, two
    yield "BernoulliNB", suffit.BernoulliNB(), counts, two
    yield "PoissonNB", suffit.PoissonNB(), counts, y
    yield "PoissonNB", suffit.PoissonNB(), words, y
    wide = np.hstack([X[:60]] * 100)  # many more columns than rows
    for labels in (two, y):
        yield "LinearDiscriminantAnalysis", suffit.LDA(), wide + rng.normal(size=wide.shape), labels[:60]
    yield "GaussianDiscriminantAnalysis", suffit.GDA(shrinkage="ledoit-wolf"), X, y
    yield "NaiveBayes", suffit.NaiveBayes(family="geometric"), words, y
    yield "NaiveBayes", suffit.NaiveBayes(family="vonmises"), words, y
    unsorted = (np.ones(2 * ROWS), np.tile([3, 1], ROWS), np.arange(0, 2 * ROWS + 1, 2))
    yield "BernoulliNB", suffit.BernoulliNB(), sparse.csr_matrix(unsorted, shape=(ROWS, 5)), y
    yield "CategoricalNB", suffit.CategoricalNB(), counts, y
    texts = [" ".join(np.array(["red", "green", "Blue", "grün"])[row % 4]) for row in counts]
    for given in ({}, {"model": "bernoulli", "ngram_range": (1, 2), "stop_words": ["red"]}, {"hashing": 64}):
        yield "TextNB", suffit.TextNB(**given), texts, y
    for analyzer in ("char", "char_wb"):
        yield "TextNB", suffit.TextNB(analyzer=analyzer, ngram_range=(2, 3)), texts, y
    table = {f"x{j}": some_missing[:, j] for j in range(3)} | {f"z{j}": X[:, j] for j in range(3)}
    table |= {"count": counts[:, 0], "time": np.exp(X[:, 0]), "flag": rng.random(ROWS) < 0.5}
    table["word"] = rng.choice(np.array(["red", "green", "blue"]), ROWS)
    yield "GenerativeClassifier", suffit.GenerativeClassifier(), table, np.array(["a", "b", "c"])[y]
    yield "GenerativeClassifier", suffit.GenerativeClassifier(structure="partitions"), some_missing, y
    if find_spec("pyarrow"):  # words as Arrow has them, which the command line reads
        arrow = import_module("pyarrow").table({name: table[name] for name in ("x0", "word", "count")})
        yield "GenerativeClassifier", suffit.GenerativeClassifier(), arrow, np.array(["a", "b", "c"])[y]
    yield from _of_many_rows(rng)


def _of_many_rows(rng: np.random.Generator) -> Iterator[tuple[str, object, object, object]]:
    """What is left to NumPy as long as there are few rows, or few columns."""
    y = np.arange(MANY_ROWS) % 3
    for p in (6, 40):  # short rows and long ones
        X = rng.normal(size=(MANY_ROWS, p)) + y[:, None]
        for kind in (np.float64, np.float32):
            yield "GaussianNB", suffit.GaussianNB(), X.astype(kind), y
            yield "LinearDiscriminantAnalysis", suffit.LDA(), X.astype(kind), y
    table = {f"x{j}": X[:500, j] for j in range(X.shape[1])}
    yield "GenerativeClassifier", suffit.GenerativeClassifier(), table, y[:500]
    y = np.arange(SAMPLED_ROWS) % 2
    table = {
        "x": rng.normal(size=SAMPLED_ROWS) + y,
        "word": np.array(["no", "yes"])[y ^ (rng.random(SAMPLED_ROWS) < 0.1)],
    }
    yield "GenerativeClassifier", suffit.GenerativeClassifier(), table, np.array(["a", "b"])[y]
