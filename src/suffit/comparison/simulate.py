"""Data whose distribution is known: draws, exact posteriors and the error of the best possible rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import stats
from scipy.special import logsumexp, ndtr

from ..data.arrays import Array, Cells, Codes
from ..data.inputs import RandomState
from ..data.settings import integer, number

DRAWS = 400_000  # rows by which an error is measured that has no closed form

Table = Any  # an array, or a dict of columns


class Distribution(Protocol):
    """p(x | c) of two classes, 0 and 1."""

    def draw(self, y: Codes, rng: np.random.Generator) -> Table:
        """One row for each of these classes."""

    def log_density(self, X: Table) -> Array:
        """log p(x | c), up to a constant per row.  # → (n, 2)"""

    def bayes_error(self, log_prior: Array) -> float | None:
        """The error of the best rule, where it is known in closed form."""


@dataclass(frozen=True)
class Truth:
    """A distribution of rows and classes that is known: it draws rows, and gives the best possible predictions.

    Attributes
    ----------
    distribution : Distribution
        How the rows of each class are distributed.
    prior : ndarray of shape (2,)
        The probabilities of class 0 and class 1.
    bayes_error : float
        The error rate of the best possible rule.

    See Also
    --------
    simulate : Makes one.
    compare : Models side by side on real data.

    Examples
    --------
    >>> import suffit
    >>> truth = suffit.simulate("gaussian", separation=2.0)
    >>> X, y = truth.sample(1000, random_state=0)
    >>> round(truth.bayes_error, 4), round(truth.error(suffit.LDA().fit(X, y)), 2)
    (0.1587, 0.16)
    """

    distribution: Distribution
    prior: Array

    def sample(self, n: int, random_state: RandomState = None) -> tuple[Table, Cells]:
        """Draw rows and their classes.

        Parameters
        ----------
        n : int
            How many rows.
        random_state : int, generator or None
            As in scikit-learn.

        Returns
        -------
        X : ndarray of shape (n, columns), or dict of columns for kind "mixed"
        y : ndarray of shape (n,)

        """
        from ..data.validate import generator

        rng = generator(random_state)
        y = (rng.random(integer(n, "sample: n", 1)) < self.prior[1]).astype(np.int32)
        return self.distribution.draw(y, rng), y

    def predict_proba(self, X: Table) -> Array:
        """Return the exact posterior p(c | x).

        Parameters
        ----------
        X : rows as ``sample`` gives them

        Returns
        -------
        ndarray of shape (n, 2)

        """
        joint = self.distribution.log_density(X) + np.log(self.prior)
        return np.asarray(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)))

    def predict(self, X: Table) -> Cells:
        """Return the more probable class of each row.

        Parameters
        ----------
        X : rows as ``sample`` gives them

        Returns
        -------
        ndarray of shape (n,)

        """
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    @cached_property
    def bayes_error(self) -> float:
        """The error rate of the best possible rule: in closed form, or of 400,000 rows."""
        known = self.distribution.bayes_error(np.log(self.prior))
        return self.error(self) if known is None else known

    def error(self, model: Any, n: int = DRAWS, random_state: RandomState = 0) -> float:
        """Return the error rate of a model: the mean over new rows of the probability that it is wrong.

        That probability is exact for each row, so that the labels add no noise.

        Parameters
        ----------
        model : estimator with ``predict``
            Fitted on labels 0 and 1.
        n : int
            How many rows.
        random_state : int, generator or None
            As in scikit-learn; the same rows every time by default.

        Returns
        -------
        float

        """
        X, _ = self.sample(n, random_state)
        P = self.predict_proba(X)
        return float(1 - P[np.arange(len(P)), np.asarray(model.predict(X)).astype(np.int64)].mean())


@dataclass(frozen=True)
class SharedNormal:
    """N(±(Δ/2) e₁, I): the discriminant is linear, and the best error is known."""

    separation: float
    columns: int

    def draw(self, y: Codes, rng: np.random.Generator) -> Array:
        """z, and ±Δ/2 in the first column."""
        X = rng.normal(size=(len(y), self.columns))
        X[:, 0] += (y - 0.5) * self.separation
        return X

    def log_density(self, X: Array) -> Array:
        """±Δ x₁/2, as all else is the same in both classes."""
        return np.outer(X[:, 0], [-0.5, 0.5]) * self.separation

    def bayes_error(self, log_prior: Array) -> float:
        """Σ_c p(c) Φ(−Δ/2 ∓ λ/Δ) with λ the prior log-odds."""
        odds, d = float(log_prior[1] - log_prior[0]), self.separation
        if d == 0.0:
            return float(np.exp(log_prior.min()))
        p = np.exp(log_prior)
        return float(p[1] * ndtr(-d / 2 - odds / d) + p[0] * ndtr(-d / 2 + odds / d))


@dataclass(frozen=True)
class OwnNormal:
    """N(0, I) against N(Δ e₁, s² I): each class has a covariance of its own, and the boundary is a circle."""

    separation: float
    columns: int
    scale: float

    def draw(self, y: Codes, rng: np.random.Generator) -> Array:
        """z against s z + Δ e₁."""
        X = rng.normal(size=(len(y), self.columns)) * np.where(y == 1, self.scale, 1.0)[:, None]
        X[:, 0] += y * self.separation
        return X

    def log_density(self, X: Array) -> Array:
        """−½‖x‖² against −½‖x − Δ e₁‖²/s² − p log s."""
        moved = X.copy()
        moved[:, 0] -= self.separation
        one = -0.5 * (moved**2).sum(axis=1) / self.scale**2 - self.columns * np.log(self.scale)
        return np.column_stack([-0.5 * (X**2).sum(axis=1), one])

    def bayes_error(self, log_prior: Array) -> None:
        """None: the boundary is a circle."""
        return


@dataclass(frozen=True)
class HeavyTailed:
    """Student's t, the first column about ±(Δ/2): outliers in all columns."""

    separation: float
    columns: int
    freedom: float

    def draw(self, y: Codes, rng: np.random.Generator) -> Array:
        """t, and ±Δ/2 in the first column."""
        X = rng.standard_t(self.freedom, size=(len(y), self.columns))
        X[:, 0] += (y - 0.5) * self.separation
        return X

    def log_density(self, X: Array) -> Array:
        """log t(x₁ ∓ Δ/2)."""
        shifts = np.array([-0.5, 0.5]) * self.separation
        return np.asarray(stats.t.logpdf(X[:, :1] - shifts, self.freedom))

    def bayes_error(self, log_prior: Array) -> float | None:
        """With equal priors the boundary is x₁ = 0."""
        return float(stats.t.sf(self.separation / 2, self.freedom)) if log_prior[0] == log_prior[1] else None


@dataclass(frozen=True)
class Counts:
    """Poisson counts, independent given the class: the posterior is logistic, though nothing is Gaussian."""

    rates: tuple[tuple[float, ...], tuple[float, ...]]

    def draw(self, y: Codes, rng: np.random.Generator) -> Array:
        """Poisson counts, column by column."""
        return rng.poisson(np.asarray(self.rates)[y]).astype(np.float64)

    def log_density(self, X: Array) -> Array:
        """Σ_j x_j log λ_cj − λ_cj."""
        rates = np.asarray(self.rates)
        return np.asarray(X @ np.log(rates).T - rates.sum(axis=1))

    def bayes_error(self, log_prior: Array) -> float | None:
        """Of one column, summed over the counts."""
        if len(self.rates[0]) > 1:
            return None
        counts = np.arange(int(max(self.rates)[0] + 40 * max(1.0, max(self.rates)[0]) ** 0.5 + 40))
        joint = stats.poisson.logpmf(counts[:, None], np.asarray(self.rates)[:, 0]) + log_prior
        return float(np.exp(joint.min(axis=1)).sum())


@dataclass(frozen=True)
class Binary:
    """Binary columns that depend on a hidden cause as well as on the class: naive Bayes counts them as if apart.

    The cause h is 1 with probability ½; p(x_j = 1 | c, h) = σ(±a ± b), a the class's share and b the cause's.
    """

    columns: int
    effect: float
    dependence: float

    @property
    def _chances(self) -> Array:
        """p(x_j = 1 | c, h).  # → (class, cause)"""
        sign = np.array([-1.0, 1.0])
        return 1 / (1 + np.exp(-(sign[:, None] * self.effect + sign * self.dependence)))

    def draw(self, y: Codes, rng: np.random.Generator) -> Array:
        """A cause for each row, then its columns."""
        p = self._chances[y, rng.integers(0, 2, len(y))]
        return (rng.random((len(y), self.columns)) < p[:, None]).astype(np.float64)

    def log_density(self, X: Array) -> Array:
        """log Σ_h ½ Π_j p_ch^x_j (1 − p_ch)^(1 − x_j)."""
        ones = np.asarray(X).sum(axis=1)[:, None, None]
        p = self._chances
        return np.asarray(logsumexp(ones * np.log(p) + (self.columns - ones) * np.log1p(-p) + np.log(0.5), axis=2))

    def bayes_error(self, log_prior: Array) -> float:
        """The number of ones is sufficient."""
        k = np.arange(self.columns + 1)[:, None, None]
        by_class = logsumexp(stats.binom.logpmf(k, self.columns, self._chances) + np.log(0.5), axis=2)
        return float(np.exp((by_class + log_prior).min(axis=1)).sum())


CITIES = ("Basel", "Bern", "Chur")


@dataclass(frozen=True)
class Mixed:
    """A table: a length (normal), an income (log-normal), a number of visits (Poisson) and a city, by class."""

    separation: float

    def _city(self) -> Array:
        odds = np.array([[0.0, 0.0, 0.0], [self.separation / 2, 0.0, -self.separation / 2]])
        return np.exp(odds - logsumexp(odds, axis=1, keepdims=True))

    def draw(self, y: Codes, rng: np.random.Generator) -> Mapping[str, Cells]:
        """Column by column."""
        d = self.separation
        edges = np.cumsum(self._city(), axis=1)[y]
        city = np.minimum((rng.random(len(y))[:, None] > edges).sum(axis=1), len(CITIES) - 1)
        return {
            "length": rng.normal(size=len(y)) + y * d / 2,
            "income": np.exp(rng.normal(size=len(y)) * 0.5 + y * d / 4),
            "visits": rng.poisson(3.0 * np.exp(y * d / 4)),
            "city": np.array(CITIES)[city],
        }

    def log_density(self, X: Mapping[str, Cells]) -> Array:
        """The sum over the columns, which are independent given the class."""
        d = self.separation
        length, income, visits = (np.asarray(X[name], dtype=np.float64) for name in ("length", "income", "visits"))
        c = np.array([0.0, 1.0])
        normal = stats.norm.logpdf(length[:, None], c * d / 2) + stats.norm.logpdf(
            np.log(income)[:, None], c * d / 4, 0.5
        )
        place = np.array([CITIES.index(str(name)) for name in X["city"]])
        poisson = stats.poisson.logpmf(visits[:, None], 3.0 * np.exp(c * d / 4))
        return np.asarray(normal + poisson + np.log(self._city()).T[place])

    def bayes_error(self, log_prior: Array) -> None:
        """None: there is no closed form."""
        return


KINDS = ("gaussian", "own covariances", "heavy-tailed", "poisson", "binary", "mixed")


def simulate(
    kind: str = "gaussian",
    *,
    separation: float = 2.0,
    columns: int = 2,
    prior: float = 0.5,
    scale: float = 2.0,
    freedom: float = 3.0,
    rates: Sequence[Sequence[float]] | None = None,
    dependence: float = 1.0,
) -> Truth:
    """Make a distribution of rows of two classes that is known, with its best possible error.

    Parameters
    ----------
    kind : str
        "gaussian": normal with one covariance (the identity), means ``separation`` apart.  "own covariances": the
        second class has ``scale`` times the deviation.  "heavy-tailed": Student's t with ``freedom`` degrees.
        "poisson": counts with ``rates``, those of each class.  "binary": columns of 0 and 1 that depend on a hidden
        cause (``dependence``, in log-odds) as well as on the class.  "mixed": a table of a normal, a log-normal and a
        Poisson column and one of categories.
    separation : float
        How far apart the classes are: the distance of the means in standard deviations; of "binary", the log-odds of a
        single column.
    columns : int
        How many columns; only the first differs between classes where they are normal or heavy-tailed.
    prior : float
        The probability of class 1.
    scale : float
        See "own covariances".
    freedom : float
        See "heavy-tailed".
    rates : two sequences of float, optional
        See "poisson"; 3 and 9 in every column by default.
    dependence : float
        See "binary"; with 0 the columns are independent given the class.

    Returns
    -------
    Truth

    See Also
    --------
    Truth : What it can do.

    Examples
    --------
    >>> import suffit
    >>> truth = suffit.simulate("poisson", rates=([3.0], [9.0]))
    >>> round(truth.bayes_error, 4)
    0.0998
    """
    if kind not in KINDS:
        raise ValueError(f"simulate: kind={kind!r}; the kinds are {', '.join(map(repr, KINDS))}")
    p = number(prior, "simulate: prior", 0.0, 1.0)
    if p in (0.0, 1.0):
        raise ValueError(f"simulate: prior={prior!r}; both classes need rows: give a number between 0 and 1")
    d, k = number(separation, "simulate: separation", 0.0), integer(columns, "simulate: columns", 1)
    made: dict[str, Distribution] = {
        "gaussian": SharedNormal(d, k),
        "own covariances": OwnNormal(d, k, number(scale, "simulate: scale", 0.0, above_low=True)),
        "heavy-tailed": HeavyTailed(d, k, number(freedom, "simulate: freedom", 0.0, above_low=True)),
        "poisson": Counts(_rates(rates, k)),
        "binary": Binary(k, d / 2, number(dependence, "simulate: dependence", 0.0)),
        "mixed": Mixed(d),
    }
    return Truth(made[kind], np.array([1 - p, p]))


def _rates(rates: Sequence[Sequence[float]] | None, columns: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if rates is None:
        return (3.0,) * columns, (9.0,) * columns
    given = np.atleast_2d(np.asarray(rates, dtype=np.float64))
    if given.shape[0] != 2 or not (np.isfinite(given) & (given > 0)).all():
        raise ValueError(f"simulate: rates={rates!r}; give the rates of class 0 and those of class 1, all above 0")
    return tuple(given[0].tolist()), tuple(given[1].tolist())


def efficiency(separation: float) -> float:
    """Return the asymptotic efficiency of logistic regression relative to LDA on normal data with equal priors.

    (1 + Δ²/4) e^(−Δ²/8) E sech(Δz/2), z standard normal (B. Efron, 1975): with so many times the rows, LDA has the same
    expected excess of error over the best rule.

    Parameters
    ----------
    separation : float
        Δ, the distance of the class means in standard deviations.

    Returns
    -------
    float

    Examples
    --------
    >>> [round(efficiency(d), 3) for d in (2, 2.5, 3, 3.5, 4)]
    [0.899, 0.786, 0.641, 0.486, 0.343]
    """
    z, weights = np.polynomial.hermite_e.hermegauss(160)
    mean = float(weights @ (1 / np.cosh(separation * z / 2)) / weights.sum())
    return (1 + separation**2 / 4) * float(np.exp(-(separation**2) / 8)) * mean
