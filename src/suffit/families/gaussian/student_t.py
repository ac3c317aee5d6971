"""Multivariate t densities with the means and matrices of normal ones: heavier tails."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

import numpy as np
from scipy.special import gammaln

from ...core.family import Between, ParameterValues, Scorer, Terms
from ...core.logistic import LogisticForm
from ...core.stats import Stats
from ...data.arrays import Array, Codes, NumberRows, block
from ...data.errors import InputError
from ...kernels.runtime.threads import COPY_CELLS
from .scores import LOG_2PI, OwnScorer, SharedScorer, centred

DRAWS, FEWEST_DRAWS = 20_000, 200  # rows drawn to find how columns separate two classes
MOST_DRAWN = 1 << 29  # products that all these draws take
NEARLY = 1e-6  # squares that differ by less are alike


def log_density(squares: Array, log_det: Array, p: int | Array, freedom: float) -> Array:
    """log p(x) of a normal density, or of a t, from d² = (x − μ)ᵀΣ⁻¹(x − μ), log det Σ and the number of columns."""
    if np.isinf(freedom):
        return -0.5 * (squares + log_det + p * LOG_2PI)
    half = 0.5 * (freedom + p)
    constant = gammaln(half) - gammaln(0.5 * freedom) - 0.5 * p * np.log(np.pi * freedom)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(constant - 0.5 * log_det - half * np.log1p(squares / freedom))


def _bent(squares: Array, peak: Array, used: Array, freedom: float) -> Array:
    """The same from d², the normal log-density at the mean and how many columns say something."""
    p = used[:, None]
    return log_density(squares, -2 * peak - p * LOG_2PI, p, freedom)


PRODUCT_OF_SCALES, FREEDOM = "product of scales", "degrees of freedom"  # parameters of a t density


class HeavyScorer(Scorer[NumberRows, Stats]):
    """log t_ν(x | μ_c, Σ_c), with the means and the matrices of a normal density.

    Where values are missing, the marginal is a t too.
    """

    takes_missing = True
    additive = False
    cells = COPY_CELLS

    def __init__(self, normal: SharedScorer | OwnScorer, freedom: float) -> None:
        self.normal, self.freedom = normal, freedom
        self.columns, self.n_classes, self.n_parameters = normal.columns, len(normal.means), normal.n_parameters

    def of(self, classes: Sequence[int]) -> HeavyScorer:
        return HeavyScorer(self.normal.of(classes), self.freedom)

    def _distances(self, x: Array) -> tuple[Array, Array, Array]:
        """d² to each mean, the normal log-density there, and how many columns say something.  # (n, K), (n, K), (n,)"""
        normal = self.normal
        peak = np.broadcast_to(-0.5 * (normal.log_det + normal.rank * LOG_2PI), (len(x), self.n_classes)).copy()
        used = np.full(len(x), float(normal.rank))
        gap = np.isnan(x).any(axis=1)
        whole = x if not gap.any() else x[~gap]
        with np.errstate(over="ignore", invalid="ignore"):  # far rows overflow here and are drawn in later
            if isinstance(normal, SharedScorer):
                U = centred(whole, 0, len(whole), normal.middle, normal.W)
                found = np.stack([np.einsum("ij,ij->i", U - m, U - m) for m in normal.whitened_means], axis=1)
            else:
                found = 2 * (peak[: len(whole)] - normal.scores(whole))
        if len(whole) == len(x):
            return np.maximum(found, 0.0), peak, used
        squares = np.empty_like(peak)
        squares[~gap] = found
        squares[gap], peak[gap], used[gap] = normal.marginal.distances(x[gap])
        return np.maximum(squares, 0.0), peak, used

    def check(self, X: NumberRows) -> None:
        self.normal.check(X)

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """The normal density, bent."""
        out[:] = _bent(*self._distances(np.asarray(block(X, start, stop), dtype=np.float64)), self.freedom)

    def parts(self, X: NumberRows, a: Codes, b: Codes) -> Terms:
        """Those of the normal density, all by the factor by which its difference of squares is bent."""
        x = np.asarray(block(X, 0, X.shape[0]), dtype=np.float64)
        squares, peak, used = self._distances(x)
        at = np.arange(len(x))
        scores = _bent(squares, peak, used, self.freedom)
        width = peak[at, a] - peak[at, b]
        bent = scores[at, a] - scores[at, b] - width
        plain = 0.5 * (squares[at, b] - squares[at, a])
        near = np.abs(plain) < NEARLY
        slope = (self.freedom + used) / (self.freedom + squares[at, a])
        slope = np.where(near, slope, bent / np.where(near, 1.0, plain))
        terms = self.normal.parts(x, a, b)
        columns = cast("Array", terms.columns)  # of dense rows
        rest = width + slope * (terms.rest - width)
        off = bent + width - (slope * columns.sum(axis=1) + rest)  # what rounding leaves, where squares are alike
        return terms._replace(columns=slope[:, None] * columns, rest=rest + off)

    def separation(self, stats: Stats) -> Between:
        """By draws, the same for every pair of classes: there is no formula."""
        K, p = self.n_classes, self.centres.shape[1]
        n = int(np.clip(MOST_DRAWN // (p * p * max(K * (K - 1), 1)), FEWEST_DRAWS, DRAWS))
        first, second = np.zeros(2 * n, np.int32), np.ones(2 * n, np.int32)

        @cache
        def drawn(c: int) -> Array:
            return self.sample(np.full(n, c, np.int32), np.random.default_rng(0))

        def between(a: int, b: int) -> Array:
            parts = cast("Array", self.of([a, b]).parts(np.concatenate([drawn(a), drawn(b)]), first, second).columns)
            return np.asarray(parts[:n].mean(axis=0) - parts[n:].mean(axis=0))

        return between

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        """Normal about the mean, all columns of a row wider by √(ν/χ²_ν)."""
        means = self.normal.means[codes]
        return np.asarray(means + self._wider(self.freedom, len(codes), rng) * (self.normal.sample(codes, rng) - means))

    def _wider(self, freedom: float | Array, n: int, rng: np.random.Generator) -> Array:
        return np.sqrt(freedom / rng.chisquare(freedom, n))[:, None]

    @property
    def centres(self) -> Array:
        return self.normal.means

    def parameters(self) -> list[ParameterValues]:
        """Means, the square roots and the products of the scale matrix, and ν, the same for all columns together."""
        scale = {"standard deviation": "scale", "covariance": PRODUCT_OF_SCALES}
        found = [p._replace(name=scale.get(p.name, p.name)) for p in self.normal.parameters()]
        freedom = np.full((self.n_classes, 1), self.freedom)
        return [*found, ParameterValues(FREEDOM, ("all together",), freedom)]

    def filled(self, X: NumberRows, posterior: Array) -> Array:
        """By the same regression as the normal."""
        return self.normal.filled(X, posterior)

    def drawn(self, X: NumberRows, codes: Codes, rng: np.random.Generator) -> Array:
        """A t with more freedom about the regression: wider the farther the rest of the row is out."""
        squares, _, used = self._distances(np.asarray(X, dtype=np.float64))
        certain = np.zeros((len(codes), self.n_classes))
        certain[np.arange(len(codes)), codes] = 1.0
        mean, far = self.normal.filled(X, certain), squares[np.arange(len(codes)), codes]
        scale = np.sqrt((self.freedom + far) / (self.freedom + used))[:, None]
        wider = scale * self._wider(self.freedom + used, len(codes), rng)
        return np.asarray(mean + wider * (self.normal.drawn(X, codes, rng) - mean))

    def drawn_in(self, X: NumberRows) -> Array:
        return self.normal.drawn_in(X)

    def logistic_form(self) -> LogisticForm:
        """There is none: a t is not of exponential form."""
        raise InputError(
            "with heavy tails (freedom) there is no logistic form: the log-odds are not linear in any statistic; "
            "use explain(X) for what each column adds"
        )
