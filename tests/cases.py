"""One row per family and per estimator: how to make it, and data it can be asked to learn.

The law tests run over every row; what tests need to know of a family is in its row and nowhere else.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy import optimize, stats
from scipy.special import expit, softmax
from sklearn.base import clone

import suffit
from suffit.families.counts.partition import Partition
from suffit.tables.schema import BlockSpec, Choice, Coding, Schema


@dataclass(frozen=True)
class Case:
    make: Callable[[], Any]  # a fresh estimator
    draw: Callable[[Generator, int], np.ndarray]  # features of n rows
    coupled: bool = False  # columns share a variance, its floor or an amount of shrinkage: each changes the others
    exact: bool = False  # sums of integers: laws hold to the last bit


@dataclass(frozen=True)
class Oracle:
    """What scipy knows of a family of one column: data of two classes, T(x) by hand, and what its parameters mean."""

    family: suffit.Family  # without smoothing
    data: Callable[[Generator, int, int], np.ndarray]  # (rng, class, rows) → column
    T: Callable[[np.ndarray], list[np.ndarray]]
    frozen: Callable[[Any], Any]  # natural parameters → scipy's frozen distribution
    maximise: Callable[[np.ndarray], Any]  # data → scipy's distribution of the greatest likelihood
    continuous: bool = True
    theta: tuple[float, ...] | None = None  # some natural parameters; None where the mean is no matter of the family


@dataclass(frozen=True)
class FamilyCase(Case):
    """One family: what its values may be, what it says of others, and what else knows it."""

    support: tuple[float, float] | None = None  # of a column of numbers; None where a row or a category is one value
    takes_zero: bool = True
    outside: tuple[float, ...] = ()  # some values that cannot be
    needs: str = ""  # what the refusal of these says
    smoothed: Callable[[Any], suffit.Family] | None = None  # the family with this α, where it has one
    oracle: Oracle | None = None


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


def mixed_holes(rng: Generator, n: int) -> np.ndarray:
    """Numbers and categories, a sixth of them missing."""
    X = np.empty((n, 3), dtype=object)
    X[:, 0] = rng.normal(size=n).tolist()
    X[:, 1] = rng.normal(5.0, 2.0, size=n).tolist()
    X[:, 2] = np.array(["red", "green", "blue"])[rng.integers(0, 3, size=n)].tolist()
    return np.where(rng.random(X.shape) < 1 / 6, np.nan, X)


def two_trees(power: float = 0.0, outlier_rate: float = 0.0) -> suffit.GenerativeClassifier:
    """Trees whose cuts are fixed, one by all columns, the other by x1 alone, beside a naive density of this weight."""
    column = np.array([0, 2, 1, -1, -1, 1, -1, -1, -1, 1, -1, -1], "<i4")
    child = np.array([1, 3, 5, 0, 0, 7, 0, 0, 0, 10, 0, 0], "<i4")
    left = np.array([3, 1, 1, 0, 0, 3, 0, 0, 0, 3, 0, 0], "<u8")
    partition = Partition((4, 4, 3), (0, 9), column.tobytes(), left.tobytes(), child.tobytes(), alpha=0.5)
    x0, x1 = (-0.5, 0.0, 0.5), (4.0, 5.0, 6.0)
    codings = Coding(edges=x0), Coding(edges=x1), Coding(categories=("blue", "green", "red"))
    blocks = (
        BlockSpec(suffit.Binned((x0, x1)), ("x0", "x1"), "numbers", power=power),
        BlockSpec(suffit.Categorical(), ("x2",), "categories", power=power),
        BlockSpec(partition, ("x0", "x1", "x2"), "places", codings),
    )
    choices = tuple(Choice(name, kind, "partition", "set by the user") for name, kind in KINDS.items())
    return suffit.GenerativeClassifier(Schema(blocks, choices, 2, outlier_rate))


KINDS = {"x0": "continuous", "x1": "continuous", "x2": "categorical"}


def documents(rng: Generator, n: int) -> np.ndarray:
    """Texts, as one column; some are empty."""
    vocabulary = np.array(
        ["apple", "Pear", "plum", "fig", "quince", "café", "zwei", "Äpfel", "x1", "y_2"], dtype=object
    )
    lengths = rng.poisson(4.0, size=n)
    texts = [" ".join(vocabulary[np.minimum(rng.geometric(0.3, m) - 1, 9)]) for m in lengths]
    return np.array(texts, dtype=object)[:, None]


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


HOUR = 24 / (2 * np.pi)  # hours per radian


def numeric_mle(make, low, high):
    """The distribution make(θ) that maximises the likelihood over one parameter, by bounded search."""

    def fit(x):
        found = optimize.minimize_scalar(
            lambda v: -make(v).logpmf(x).sum(), bounds=(low, high), method="bounded", options={"xatol": 1e-10}
        )
        return make(found.x)

    return fit


def beta_mle(x):
    a, b, _, _ = stats.beta.fit(x, floc=0, fscale=1)
    return stats.beta(a, b)


def vonmises_mle(x):
    kappa, loc, _ = stats.vonmises.fit(x, fscale=1)
    return stats.vonmises(kappa, loc)


def vonmises_hours_mle(x):
    kappa, loc, _ = stats.vonmises.fit(x / HOUR, fscale=1)
    return stats.vonmises(kappa, loc * HOUR, HOUR)


def normal_of(eta):
    variance = -0.5 / eta[1]
    return eta[0] * variance, np.sqrt(variance)


def lognormal_of(eta):
    mean, sd = normal_of(eta)
    return stats.lognorm(sd, scale=np.exp(mean))


def circular(eta, scale=1.0):
    return stats.vonmises(np.hypot(*eta), np.arctan2(eta[1], eta[0]) * scale, scale)


HOURS = Oracle(
    suffit.VonMises(period=24, alpha=0.0),
    lambda rng, c, n: np.mod(rng.vonmises(2.9 + c, 1.5, n) * HOUR, 24),
    lambda x: [np.cos(x / HOUR), np.sin(x / HOUR)],
    lambda eta: circular(eta, HOUR),
    vonmises_hours_mle,
    theta=(2 * np.cos(1.0), 2 * np.sin(1.0)),
)

# One row per family; a registered family without one, or without what its kind must have, fails in laws/test_sums.py.
FAMILIES: dict[str, FamilyCase] = {
    "gaussian": FamilyCase(
        lambda: suffit.NaiveBayes("gaussian"),
        normal,
        support=(-np.inf, np.inf),
        oracle=Oracle(
            suffit.Gaussian(),
            lambda rng, c, n: rng.normal(c, 1 + c, n),
            lambda x: [x, x * x],
            lambda eta: stats.norm(*normal_of(eta)),
            lambda x: stats.norm(*stats.norm.fit(x)),
        ),
    ),
    "lognormal": FamilyCase(
        lambda: suffit.NaiveBayes("lognormal"),
        positive,
        support=(0, np.inf),
        takes_zero=False,
        outside=(0.0, -1.0),
        needs="lognormal needs x > 0",
        oracle=Oracle(
            suffit.LogNormal(),
            lambda rng, c, n: rng.lognormal(0.5 * c, 0.5 + 0.3 * c, n),
            lambda x: [np.log(x), np.log(x) ** 2],
            lognormal_of,
            lambda x: stats.lognorm(*stats.lognorm.fit(x, floc=0)),
        ),
    ),
    "bernoulli": FamilyCase(
        lambda: suffit.NaiveBayes("bernoulli"),
        counts,
        exact=True,
        support=(-np.inf, np.inf),  # above its threshold or not
        smoothed=lambda a: suffit.Bernoulli(alpha=a),
        oracle=Oracle(
            suffit.Bernoulli(alpha=0.0),
            lambda rng, c, n: (rng.random(n) < 0.3 + 0.4 * c).astype(float),
            lambda x: [x],
            lambda eta: stats.bernoulli(expit(eta[0])),
            numeric_mle(stats.bernoulli, 1e-6, 1 - 1e-6),
            continuous=False,
            theta=(np.log(0.3 / 0.7),),
        ),
    ),
    "poisson": FamilyCase(
        lambda: suffit.NaiveBayes("poisson"),
        counts,
        exact=True,
        support=(0, np.inf),
        outside=(-1.0,),
        needs="Negative values in data",
        smoothed=lambda a: suffit.Poisson(alpha=a),
        oracle=Oracle(
            suffit.Poisson(alpha=0.0),
            lambda rng, c, n: rng.poisson(1.5 + 2 * c, n).astype(float),
            lambda x: [x],
            lambda eta: stats.poisson(np.exp(eta[0])),
            numeric_mle(stats.poisson, 1e-6, 50),
            continuous=False,
            theta=(np.log(3.5),),
        ),
    ),
    "geometric": FamilyCase(
        lambda: suffit.NaiveBayes("geometric"),
        counts,
        exact=True,
        support=(0, np.inf),
        outside=(-1.0,),
        needs="Negative values in data",
        smoothed=lambda a: suffit.Geometric(alpha=a),
        oracle=Oracle(
            suffit.Geometric(alpha=0.0),
            lambda rng, c, n: rng.geometric(0.5 - 0.3 * c, n) - 1.0,
            lambda x: [x],
            lambda eta: stats.geom(-np.expm1(eta[0]), loc=-1),
            numeric_mle(lambda p: stats.geom(p, loc=-1), 1e-6, 1 - 1e-6),
            continuous=False,
            theta=(np.log(0.7),),
        ),
    ),
    "exponential": FamilyCase(
        lambda: suffit.NaiveBayes("exponential"),
        positive,
        support=(0, np.inf),
        outside=(-3.0,),
        needs="exponential needs x ≥ 0",
        smoothed=lambda a: suffit.Exponential(alpha=a),
        oracle=Oracle(
            suffit.Exponential(alpha=0.0),
            lambda rng, c, n: rng.exponential(1 + 2 * c, n),
            lambda x: [x],
            lambda eta: stats.expon(scale=-1 / eta[0]),
            lambda x: stats.expon(*stats.expon.fit(x, floc=0)),
            theta=(-2.5,),
        ),
    ),
    "gamma": FamilyCase(
        lambda: suffit.NaiveBayes("gamma"),
        positive,
        support=(0, np.inf),
        takes_zero=False,
        outside=(0.0, -1.0),
        needs="gamma needs x > 0",
        smoothed=lambda a: suffit.Gamma(alpha=a),
        oracle=Oracle(
            suffit.Gamma(alpha=0.0),
            lambda rng, c, n: rng.gamma(0.7 + 2 * c, 1.5, n),
            lambda x: [x, np.log(x)],
            lambda eta: stats.gamma(eta[1] + 1, scale=-1 / eta[0]),
            lambda x: stats.gamma(*stats.gamma.fit(x, floc=0)),
            theta=(-1.5, 2.0),
        ),
    ),
    "beta": FamilyCase(
        lambda: suffit.NaiveBayes("beta"),
        shares,
        support=(0, 1),
        takes_zero=False,
        outside=(1.0, 0.0, 1.5),
        needs="beta needs 0 < x < 1",
        smoothed=lambda a: suffit.Beta(alpha=a),
        oracle=Oracle(
            suffit.Beta(alpha=0.0),
            lambda rng, c, n: rng.beta(0.8 + c, 2.5 - c, n),
            lambda x: [np.log(x), np.log1p(-x)],
            lambda eta: stats.beta(eta[0] + 1, eta[1] + 1),
            beta_mle,
            theta=(1.5, 0.5),
        ),
    ),
    "vonmises": FamilyCase(
        lambda: suffit.NaiveBayes(suffit.VonMises(period=24)),
        angles,
        support=(0, 24),
        smoothed=lambda a: suffit.VonMises(period=24, alpha=a),
        oracle=Oracle(
            suffit.VonMises(alpha=0.0),
            lambda rng, c, n: rng.vonmises(0.5 + 2 * c, 0.8 + 2 * c, n),
            lambda x: [np.cos(x), np.sin(x)],
            circular,
            vonmises_mle,
            theta=(2 * np.cos(1.0), 2 * np.sin(1.0)),
        ),
    ),
    "binned": FamilyCase(
        lambda: suffit.NaiveBayes(suffit.Binned([-3.0, 0.0, 1.0, 98.0, 100.0])),
        normal,
        exact=True,
        support=(-np.inf, np.inf),
        smoothed=lambda a: suffit.Binned([-3.0, 0.0, 98.0, 100.0], alpha=a),
    ),
    "categorical": FamilyCase(lambda: suffit.CategoricalNB(), categories, exact=True),
    "multinomial": FamilyCase(
        lambda: suffit.MultinomialNB(), counts, exact=True, outside=(-1.0,), needs="Negative values in data"
    ),
    "multivariate_gaussian": FamilyCase(lambda: suffit.GDA(), normal),
    "partition": FamilyCase(lambda: two_trees(), mixed_holes, coupled=True, exact=True),
    "text": FamilyCase(lambda: suffit.TextNB(), documents, exact=True),
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
    "TextNB-bernoulli": Case(lambda: suffit.TextNB("bernoulli", stop_words=["fig"]), documents, exact=True),
    "TextNB-complement": Case(lambda: suffit.TextNB("complement", alpha=0.3), documents, exact=True),
    "TextNB-hashing": Case(lambda: suffit.TextNB(hashing=16, lowercase=False), documents, exact=True),
    "TextNB-characters": Case(
        lambda: suffit.TextNB(analyzer="char_wb", ngram_range=(2, 3), min_count=3), documents, exact=True
    ),
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
    "GenerativeClassifier-partitions": Case(lambda: two_trees(0.4, 0.1), mixed_holes, coupled=True),
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
PLAIN = {k: c for k, c in CASES.items() if c.draw is not documents}  # whose columns explanations name; not words


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
    if hasattr(scorer, "solved"):
        return [scorer.solved.table.T]
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


def two_classes(n: int = 2000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two normal columns and two classes of the same spread, a distance of 1 apart in each."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + y[:, None], y


def blobs(k: int, n: int = 400, seed: int = 0, shift: float = 1.5):
    """Rows of k classes, normal with unit covariance: posteriors are known."""
    rng = np.random.default_rng([seed, k])
    means, prior = rng.normal(size=(k, 2)) * shift, rng.dirichlet(np.full(k, 3.0))
    y = rng.choice(k, size=n, p=prior)
    X = means[y] + rng.normal(size=(n, 2))
    log = np.log(prior) - 0.5 * ((X[:, None] - means) ** 2).sum(axis=2)
    return X, y, softmax(log, axis=1)


def two(n: int = 300, seed: int = 0):
    X, y, _ = blobs(2, n, seed)
    return X, np.array(["ham", "spam"])[y]


def fitted(name: str, missing: bool = False, weighted: bool = False, k: int = 3) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model of one of the plain cases, and its rows: with missing values, or with weights."""
    case = PLAIN[name]
    X, y = data(case, 7, k=k)
    X = with_holes(X, 7) if missing else X
    weight = np.random.default_rng(3).integers(1, 4, len(y)).astype(float) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.make().fit(X, y, sample_weight=weight), X, y


def brute_loss(model: Any, X: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> float:
    """Mean −log p(y | x) of every row under a fit on all the others, rows that are the last of their class aside.

    A weight of 3 is three rows, of which one is left out.
    """
    weights = np.ones(len(y)) if w is None else w
    losses, counted = [], []
    for i in range(len(y)):
        left = weights.copy()
        left[i] -= min(weights[i], 1.0)
        rest = left > 0
        if not (weights[i] and left[y == y[i]].sum()):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = clone(model).fit(X[rest], y[rest], **({} if w is None else {"sample_weight": left[rest]}))
            p = one.predict_log_proba(X[i : i + 1])[0, np.flatnonzero(one.classes_ == y[i])[0]]
        losses.append(-p)
        counted.append(weights[i])
    return float(np.average(losses, weights=counted))


def flats(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Flats, sold or still open: areas, some of them missing, integers, truths, cities and sums."""
    rng = np.random.default_rng(2)
    sold = rng.random(n) < 0.5
    frame = pd.DataFrame(
        {
            "area": np.where(rng.random(n) < 0.1, np.nan, np.exp(rng.normal(6.3 + 0.5 * sold, 0.4))),
            "rooms": rng.poisson(2 + 1.5 * sold),
            "garden": rng.random(n) < np.where(sold, 0.7, 0.3),
            "city": np.where(rng.random(n) < np.where(sold, 0.6, 0.3), "Basel", rng.choice(["Bern", "Chur"], n)),
            "total": rng.normal(size=n) + sold,
        }
    )
    return frame, np.where(sold, "sold", "open")


def mixed_table(seed: int, n: int) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray | None]:
    """Numbers, positive numbers, counts and categories, some missing, some with weights."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    y = rng.choice(K, n, p=rng.dirichlet(np.full(K, 2.0)))
    X: dict[str, np.ndarray] = {
        f"n{j}": rng.normal(size=n) + y * rng.normal() * 0.8 for j in range(int(rng.integers(1, 4)))
    }
    X["positive"] = np.exp(rng.normal(size=n) + 0.3 * y)
    for j in range(int(rng.integers(0, 4))):
        shares = rng.dirichlet(np.ones(int(rng.integers(2, 8))), K)
        X[f"c{j}"] = np.array([f"v{rng.choice(len(shares[c]), p=shares[c])}" for c in y], object)
    X["counts"] = rng.poisson(3 + y).astype(float)
    for name in X if seed % 2 else ():
        gone = rng.random(n) < 0.1
        X[name] = np.where(gone, None if X[name].dtype == object else np.nan, X[name])
    weights = [None, rng.choice([0.3, 1.0, 2.7], n), rng.random(n)][seed % 3]
    return X, np.array([f"k{c}" for c in y]), weights
