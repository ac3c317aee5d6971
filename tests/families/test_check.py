"""check_family: every family of the library passes, and each that is broken on purpose is told what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import suffit
from suffit.core.family import Family, families
from suffit.families.elementwise import Elementwise, Natural


@pytest.mark.parametrize("key", sorted(families()))
@pytest.mark.parametrize("seed", [0, 1])
def test_every_family_of_the_library_passes(key: str, seed: int):
    suffit.check_family(families()[key], seed=seed)


@pytest.mark.parametrize(
    "family",
    [
        suffit.VonMises(period=24),
        suffit.Poisson(unit=10.0),
        suffit.Bernoulli(present=10.0),
        suffit.Gaussian(tie=0.4, smoothing=1e-3),
        suffit.Gaussian(tie=1.0),
        suffit.Binned([0.5, 1.0, 2.0], alpha=0.5),
        suffit.Gamma(alpha=0.3),
        suffit.MultivariateGaussian(tie=1.0),
    ],
    ids=repr,
)
def test_families_with_settings_pass(family: Family):
    suffit.check_family(family)


# --- a family as CONTRIBUTING has it, and that family with one thing broken at a time


@dataclass(frozen=True)
class Rayleigh(Elementwise):
    key: ClassVar[str] = "rayleigh"
    support: ClassVar[str] = "needs x > 0"

    def outside(self, x):
        return x <= 0

    def T(self, x):
        return (x * x)[..., None]

    def solve(self, n, t):
        s2 = t[..., 0] / n / 2
        return Natural((-0.5 / s2)[..., None], np.log(s2))

    def log_base(self, x):
        return np.log(x)

    def draw(self, theta, rng):
        return np.sqrt(rng.standard_exponential(theta.shape[:-1]) / -theta[..., 0])


def test_a_family_of_one_statistic_and_nothing_else_passes():
    for seed in range(5):
        suffit.check_family(Rayleigh, seed=seed)


class Nameless(Rayleigh):
    key = ""


class Loose(Family):
    key = "loose"

    def collect(self, X, rows):
        raise NotImplementedError

    def scorer(self, stats):
        raise NotImplementedError


class FlatT(Rayleigh):
    def T(self, x):
        return x * x


class LogOfAnything(Rayleigh):
    def outside(self, x):
        return np.zeros(x.shape, bool)

    def T(self, x):
        return np.log(x)[..., None]


class AboutTheBatch(Rayleigh):
    def T(self, x):
        return ((x - np.nanmean(x)) ** 2)[..., None]


class MissingIsOutside(Rayleigh):
    def outside(self, x):
        return ~(x > 0)


class TakesAll(Rayleigh):
    def check(self, x, first_row):
        pass


class RefusesAll(Rayleigh):
    def outside(self, x):
        return x == x


class SignSlip(Rayleigh):
    def solve(self, n, t):
        s2 = -t[..., 0] / n / 2
        return Natural((-0.5 / s2)[..., None], np.log(s2))


class NeedsTwoRows(Rayleigh):
    def solve(self, n, t):
        theta, A, *_ = super().solve(n, t)
        return Natural(theta, A + 0 * np.log(n - 2))


class TwoStatistics(Rayleigh):
    order = 2

    def T(self, x):
        return np.stack([x * x, 0 * x], axis=-1)

    def solve(self, n, t):
        theta, A, *_ = super().solve(n, t)
        return Natural(np.concatenate([theta, 0 * theta], axis=-1), A)


class NoBase(Rayleigh):
    def log_base(self, x):
        return np.zeros(x.shape)


class HalfA(Rayleigh):
    def solve(self, n, t):
        theta, A, *_ = super().solve(n, t)
        return Natural(theta, A + 0.5)


class NoFactorial(suffit.Poisson):
    def log_base(self, x):
        return np.zeros(x.shape)


class WideDraws(Rayleigh):
    def draw(self, theta, rng):
        return 1.2 * super().draw(theta, rng)


class WideCounts(suffit.Poisson):
    def draw(self, theta, rng):
        return rng.poisson(1.15 * np.exp(theta[..., 0])).astype(float)


class NegativeDraws(Rayleigh):
    def draw(self, theta, rng):
        return -super().draw(theta, rng)


class WrongMean(Rayleigh):
    def mean(self, theta):
        return np.sqrt(-0.5 / theta[..., 0])  # the scale


class PerBatch(Rayleigh):
    def collect(self, X, rows):
        stats = super().collect(X, rows)
        return replace(stats, sums={**stats.sums, "t": stats["t"] * (1 + 1 / len(rows))})


class Weightless(Rayleigh):
    def collect(self, X, rows):
        return super().collect(X, replace(rows, weights=None))


class KeepsWhatWasForgotten(Rayleigh):
    def without_rounding(self, before, after):
        return replace(after, sums={**after.sums, "t": before["t"]})


class MissingIsOne(Rayleigh):
    def collect(self, X, rows):
        return super().collect(np.where(np.isnan(X), 1.0, X), rows)


class OwnRowKept(Rayleigh):
    def leave_one_out(self, X, rows, stats):
        left = super().leave_one_out(X, rows, stats)
        scorer = self.scorer(stats)
        return left._replace(log_density=scorer.scores(X) + scorer.log_base(X)[:, None])


class LikelihoodOfHalf(suffit.Exponential):
    def scorer(self, stats):
        scorer = super().scorer(stats)
        scorer.log_likelihood = lambda stats: np.zeros(scorer.n_classes)
        return scorer


class Unfinished(Rayleigh):
    def draw(self, theta, rng):
        return self.nothing_of_this_name


class SumsForMeans(Rayleigh):
    def solve(self, n, t):
        return super().solve(np.ones_like(n), t)


class LogOfZero(suffit.Geometric):
    def solve(self, n, t):
        mean = t[..., 0] / n
        return Natural((np.log(mean) - np.log1p(mean))[..., None], np.log1p(mean))


@dataclass(frozen=True)
class InUnits(Rayleigh):
    unit: float = 1.0

    def T(self, x):
        return super().T(x / self.unit)

    def solve(self, n, t):
        theta, A, *_ = super().solve(n, t)
        return Natural(theta, A + np.log(self.unit) * 2)


class OldContract(Rayleigh):
    def collect(self, X, rows, columns):
        return super().collect(X, rows)


BROKEN = {
    Nameless: "has no name",
    Loose: r"can be changed after it was made; decorate it with @dataclass\(frozen=True\)",
    FlatT: r"T\(x\) of 90 × 3 numbers has the shape \(90, 3\); it must be \(90, 3, 1\)",
    LogOfAnything: r"T\(x\) is nan at x = -\d.*, which outside\(x\) lets in",
    AboutTheBatch: r"T\(x\) of a row depends on the other rows",
    MissingIsOutside: r"outside\(NaN\) is True; a missing value is in every support",
    TakesAll: "-1000.5 is outside its support, and learned all the same",
    RefusesAll: r"refuses all numbers tried .* give it a method example\(rng, n\)",
    SignSlip: r"solve\(\) gives A = nan; it must be finite",
    NeedsTwoRows: r"solve\(\) gives A = (-inf|nan) of a class of one row",
    TwoStatistics: r"names\(\) gives 3 names for 6 statistics, 2 for each of 3 columns",
    NoBase: r"density integrates to .* instead of 1; look at A and log_base",
    HalfA: r"density integrates to 0.6\d* instead of 1",
    NoFactorial: r"probabilities add up to .* instead of 1",
    WideDraws: r"draws do not follow the density: \d+% of them are below",
    WideCounts: r"draws do not follow the density: one value has probability",
    NegativeDraws: r"draw\(\) gives a value that the support refuses: column 'x0'",
    WrongMean: r"mean\(\) is .*, where draws have a mean of",
    PerBatch: r"merging two batches: log p of row 0 in class 'a' is .* instead of",
    Weightless: r"weights of 0, 1, 2 and 3 against rows that are repeated so often",
    KeepsWhatWasForgotten: r"forgetting a batch: log p of row",
    MissingIsOne: "rows of which everything is missing, beside the others",
    OwnRowKept: r"leave_one_out\(\) gives row 0 the log-density .* and a fit without it",
    LikelihoodOfHalf: r"log_likelihood\(\) of the sums is \[0.0, 0.0, 0.0\], and of the rows",
    SumsForMeans: r"solve\(\) gives parameters under which the mean of T\(x\) is .*, and it was given t/n = ",
    LogOfZero: r"solve\(\) gives theta = -inf of columns that do not vary",
    InUnits: r"T\(x\) is another for another unit: make that part of statistic, or sums are added",
    OldContract: "TypeError: .* missing 1 required positional argument: 'columns'",
    Unfinished: r"draw\(\) gives rows that the family itself takes: AttributeError: .*nothing_of_this_name",
}


@pytest.mark.parametrize("family", BROKEN, ids=lambda f: f.__name__)
def test_a_broken_family_is_told_what_is_wrong(family: type[Family]):
    with pytest.raises(AssertionError, match=f"^{family.__name__}: .*{BROKEN[family]}"):
        suffit.check_family(family)


def test_what_is_no_family_is_refused():
    with pytest.raises(AssertionError, match=r"dict: a family is a suffit.Family"):
        suffit.check_family({})


def test_a_family_may_bring_rows_of_its_own():
    asked = []

    @dataclass(frozen=True)
    class Hours(suffit.VonMises):
        period: float = 24.0

        def example(self, rng, n):
            asked.append(n)
            return rng.uniform(0, 24, (n, 2))

    suffit.check_family(Hours)
    assert asked
