"""One row per family and per estimator: how to make it, and data it can be asked to learn.

The law tests run over every row; a family that is registered and has none fails ``test_every_family_has_a_case``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

import suffit


@dataclass(frozen=True)
class Case:
    make: Callable[[], Any]  # a fresh estimator
    draw: Callable[[Generator, int], np.ndarray]  # features of n rows
    coupled: bool = False  # columns share a variance, its floor or an amount of shrinkage: each changes the others
    exact: bool = False  # sums of integers: laws hold to the last bit


def normal(rng: Generator, n: int) -> np.ndarray:
    mix = np.array([[1.0, 0.3, 0.0], [0.0, 2.0, -0.5], [0.0, 0.0, 0.1]])
    return rng.normal(size=(n, 3)) @ mix + [0.0, 100.0, -3.0]


def wide(rng: Generator, n: int) -> np.ndarray:
    return rng.normal(size=(n, 250)) * np.geomspace(0.1, 10.0, 250) + np.arange(250.0)


def rather_wide(rng: Generator, n: int) -> np.ndarray:
    return wide(rng, n)[:, :70]


def positive(rng: Generator, n: int) -> np.ndarray:
    return rng.gamma(2.0, 1.5, size=(n, 3)) + 0.01


def counts(rng: Generator, n: int) -> np.ndarray:
    return rng.poisson([0.5, 3.0, 8.0, 1.0], size=(n, 4)).astype(float)


def shares(rng: Generator, n: int) -> np.ndarray:
    return np.clip(rng.beta(2.0, 3.0, size=(n, 3)), 1e-6, 1 - 1e-6)


def categories(rng: Generator, n: int) -> np.ndarray:
    return rng.integers(0, [2, 3, 5], size=(n, 3))


def words(rng: Generator, n: int) -> np.ndarray:
    table = np.array([["red", "green", "blue"], ["S", "M", "L"]], dtype=object)
    return np.column_stack([table[j][rng.integers(0, 3, size=n)] for j in range(2)])


def angles(rng: Generator, n: int) -> np.ndarray:
    return rng.uniform(0, 24, size=(n, 2))


def mixed(rng: Generator, n: int) -> np.ndarray:
    columns = [
        rng.normal(size=n).tolist(),
        rng.poisson(3.0, size=n).tolist(),
        (rng.random(n) < 0.4).tolist(),
        np.array(["red", "green", "blue"])[rng.integers(0, 3, size=n)].tolist(),
        rng.normal(5.0, 2.0, size=n).tolist(),
    ]
    out = np.empty((n, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        out[:, j] = column
    return out


@dataclass(frozen=True)
class EveryColumn:
    """A selector: all columns of an array or a data frame."""

    def __call__(self, X: Any) -> list[str]:
        return list(map(str, X.columns)) if hasattr(X, "columns") else [f"x{j}" for j in range(np.asarray(X).shape[1])]


@dataclass(frozen=True)
class Holding:
    """A selector: the columns of an array of objects whose values are of this type."""

    kind: type

    def __call__(self, X: Any) -> list[str]:
        return [f"x{j}" for j in range(X.shape[1]) if type(next((v for v in X[:, j] if v == v), 0.0)) is self.kind]


FAMILIES: dict[str, Case] = {
    "gaussian": Case(lambda: suffit.NaiveBayes("gaussian"), normal),
    "lognormal": Case(lambda: suffit.NaiveBayes("lognormal"), positive),
    "bernoulli": Case(lambda: suffit.NaiveBayes("bernoulli"), counts, exact=True),
    "poisson": Case(lambda: suffit.NaiveBayes("poisson"), counts, exact=True),
    "geometric": Case(lambda: suffit.NaiveBayes("geometric"), counts, exact=True),
    "exponential": Case(lambda: suffit.NaiveBayes("exponential"), positive),
    "gamma": Case(lambda: suffit.NaiveBayes("gamma"), positive),
    "beta": Case(lambda: suffit.NaiveBayes("beta"), shares),
    "vonmises": Case(lambda: suffit.NaiveBayes(suffit.VonMises(period=24)), angles),
    "binned": Case(lambda: suffit.NaiveBayes(suffit.Binned([-3.0, 0.0, 1.0, 98.0, 100.0])), normal, exact=True),
    "categorical": Case(lambda: suffit.CategoricalNB(), categories, exact=True),
    "multinomial": Case(lambda: suffit.MultinomialNB(), counts, exact=True),
    "multivariate_gaussian": Case(lambda: suffit.GDA(), normal),
}

ESTIMATORS: dict[str, Case] = {
    "GaussianNB": Case(lambda: suffit.GaussianNB(), normal, coupled=True),
    "GaussianNB-largest": Case(lambda: suffit.GaussianNB(floor="largest"), normal, coupled=True),
    "GaussianNB-own": Case(lambda: suffit.GaussianNB(floor="own"), normal),
    "BernoulliNB": Case(lambda: suffit.BernoulliNB(binarize=2.0), counts, exact=True),
    "MultinomialNB": Case(lambda: suffit.MultinomialNB(alpha=0.3), counts, exact=True),
    "ComplementNB": Case(lambda: suffit.ComplementNB(), counts, exact=True),
    "ComplementNB-norm": Case(lambda: suffit.ComplementNB(norm=True), counts, exact=True),
    "CategoricalNB": Case(lambda: suffit.CategoricalNB(), categories, exact=True),
    "CategoricalNB-words": Case(lambda: suffit.CategoricalNB(alpha=0.5), words, exact=True),
    "NaiveBayes-binned-counts": Case(
        lambda: suffit.NaiveBayes(suffit.Binned([1, 2, 5], alpha=0.0)), counts, exact=True
    ),
    "PoissonNB": Case(lambda: suffit.PoissonNB(), counts, exact=True),
    "LDA": Case(lambda: suffit.LDA(), normal),
    "LDA-eigen-auto": Case(lambda: suffit.LDA(solver="eigen", shrinkage="auto"), normal, coupled=True),
    "LDA-lsqr": Case(lambda: suffit.LDA(solver="lsqr", shrinkage=0.2), normal, coupled=True),
    "QDA": Case(lambda: suffit.QDA(), normal),
    "QDA-reg": Case(lambda: suffit.QDA(reg_param=0.1), normal),
    "QDA-auto": Case(lambda: suffit.QDA(solver="eigen", shrinkage="auto"), normal, coupled=True),
    "GDA-diagonal": Case(lambda: suffit.GDA("diagonal"), normal),
    "GDA-diagonal-shared": Case(lambda: suffit.GDA("diagonal", tie=1.0), normal),
    "GDA-spherical": Case(lambda: suffit.GDA("spherical"), normal, coupled=True),
    "GDA-spherical-shared": Case(lambda: suffit.GDA("spherical", tie=1.0), normal, coupled=True),
    "GDA-tied": Case(lambda: suffit.GDA(tie=0.4, shrinkage=0.1, denominator="unbiased"), normal, coupled=True),
    "GDA-mixed": Case(lambda: suffit.GDA(tie=0.4), normal),
    "GDA-shared": Case(lambda: suffit.GDA(tie=1.0, denominator="unbiased"), normal),
    "GDA-ledoit-wolf": Case(lambda: suffit.GDA(shrinkage="ledoit-wolf"), normal, coupled=True),
    "GDA-oas": Case(lambda: suffit.GDA(tie=1.0, shrinkage="oas"), normal, coupled=True),
    "GenerativeClassifier-gaussian": Case(lambda: suffit.GenerativeClassifier({EveryColumn(): "gaussian"}), normal),
    "GenerativeClassifier-joint": Case(
        lambda: suffit.GenerativeClassifier({("x0", "x1", "x2"): suffit.MultivariateGaussian()}),
        normal,
        coupled=True,
    ),
    "GenerativeClassifier-shared": Case(
        lambda: suffit.GenerativeClassifier({("x0", "x1", "x2"): suffit.MultivariateGaussian(tie=1.0, pooled=True)}),
        normal,
        coupled=True,
    ),
    "GenerativeClassifier-heavy": Case(
        lambda: suffit.GenerativeClassifier({("x0", "x1", "x2"): suffit.MultivariateGaussian(freedom=4.0)}),
        normal,
        coupled=True,
    ),
    "GenerativeClassifier-heavy-shared": Case(
        lambda: suffit.GenerativeClassifier(
            {("x0", "x1", "x2"): suffit.MultivariateGaussian(tie=1.0, shrinkage=0.1, freedom=10.0)}
        ),
        normal,
        coupled=True,
    ),
    "GenerativeClassifier-counts": Case(
        lambda: suffit.GenerativeClassifier({EveryColumn(): "poisson"}, missing="informative", unknown="novel"),
        counts,
        exact=True,
        coupled=True,
    ),
    "GenerativeClassifier-mixed": Case(
        lambda: suffit.GenerativeClassifier(
            {
                Holding(float): "gaussian",
                Holding(int): "poisson",
                Holding(bool): suffit.Bernoulli(alpha=0.5),
                Holding(str): suffit.Categorical(alpha=0.5),
            }
        ),
        mixed,
    ),
}

WIDE: dict[str, Case] = {  # fewer rows than columns: for laws that take no missing values
    "LDA-wide": Case(lambda: suffit.LDA(), wide, coupled=True),
    "QDA-wide": Case(lambda: suffit.QDA(), wide, coupled=True),
    "LDA-rather-wide": Case(lambda: suffit.LDA(), rather_wide, coupled=True),  # parts have fewer rows than columns
}

CASES = {**{f"family-{k}": v for k, v in FAMILIES.items()}, **ESTIMATORS}


def data(case: Case, seed: int, n: int = 120, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Rows with at least n // (2k) of each class, classes with different distributions."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(k), n // (2 * k)), rng.integers(0, k, size=n - k * (n // (2 * k)))])
    rng.shuffle(y)
    X = np.empty((n, case.draw(rng, 1).shape[1]), dtype=case.draw(rng, 1).dtype)
    for c in range(k):
        here = y == c
        rows = case.draw(np.random.default_rng([seed, c]), 6 * n)
        if rows.dtype != object:  # classes differ: each takes another part of the rows
            rows = rows[np.argsort(rows.sum(axis=1), kind="stable")]
        start = 2 * n * c
        X[here] = rng.permutation(rows[start : start + 2 * n])[: here.sum()]
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


def takes_zero(case: Case) -> bool:
    """Whether 0 lies in the support of its columns."""
    try:
        case.make().fit(np.zeros((4, case.draw(np.random.default_rng(0), 1).shape[1])), [0, 0, 1, 1])
    except suffit.InputError:
        return False
    return True


def with_holes(X: np.ndarray, seed: int, share: float = 0.2) -> np.ndarray:
    """The same rows with some values missing: NaN, whatever the type of the others."""
    X = X if X.dtype == object else X.astype(float)
    return np.where(np.random.default_rng([seed, 99]).random(X.shape) < share, np.nan, X)


def parameters(model: Any) -> list[np.ndarray]:
    """What was learned, as arrays: class prior and the parameters of every class."""
    solution = model._solved
    return [np.exp(solution.log_prior), *of_scorer(solution.scorer)]


def of_scorer(scorer: Any) -> list[np.ndarray]:
    """The parameters of every class; block by block where there are several."""
    if hasattr(scorer, "scorers"):
        return [a for part in scorer.scorers for a in of_scorer(part)]
    scorer = getattr(scorer, "inner", getattr(scorer, "normal", scorer))
    if hasattr(scorer, "sigma"):
        return [scorer.means, scorer.covariances()]
    if hasattr(scorer, "form"):
        return [scorer.form.theta, scorer.form.A]
    if hasattr(scorer, "tables"):
        return [*scorer.tables]
    return [scorer.weights]


def assert_same(a: Any, b: Any, rtol: float = 1e-12) -> None:
    """Both estimators have learned the same, each array to ``rtol`` of its size."""
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(a.class_count_, b.class_count_, rtol=rtol)
    for x, z in zip(parameters(a), parameters(b), strict=True):
        np.testing.assert_allclose(x, z, rtol=rtol, atol=rtol * np.abs(z).max())


def assert_identical(a: Any, b: Any) -> None:
    """The same sums to the last bit."""
    assert a.classes_.tolist() == b.classes_.tolist()
    for mine, theirs in zip(blocks(a._model.stats), blocks(b._model.stats), strict=True):
        assert mine.axes == theirs.axes
        for name, sums in mine.sums.items():
            np.testing.assert_array_equal(sums, theirs.sums[name])


def blocks(stats: Any) -> tuple[suffit.Stats, ...]:
    """The sums of every block of columns."""
    return stats.parts if hasattr(stats, "parts") else (stats,)
