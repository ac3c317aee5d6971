"""Log-normal: numbers above 0 whose logarithm is normal, as a Gaussian of log x."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ...core.family import POSITIVE, Between, ParameterValues, Running, Scorer, Terms, register
from ...core.logistic import Centred, LogisticForm
from ...core.stats import Stats
from ...data.arrays import Array, Cells, Codes, NumberRows, block, freeze
from ...kernels.runtime.threads import COPY_CELLS, row_blocks
from .diagonal import Gaussian
from .scores import GaussianScorer


@register
@dataclass(frozen=True)
class LogNormal(Gaussian):
    """x > 0 whose logarithm is normal, with the settings of :class:`Gaussian` for log x.

    Parameters
    ----------
    smoothing : float, default 0.0
        Share of a total variance that is added to the variance in every class.
    floor : {"own", "bounded", "largest"}, default "own"
        Whose total variance: the column's own, that of the largest column but at most a million times the column's own,
        or that of the largest column.
    tie : float in [0, 1], default 0.0
        From a variance for each class (0) to one shared by all (1).
    spherical : bool, default False
        Whether the variances are equal across columns.
    unbiased : bool, default False
        Whether to divide by n − 1 (shared: N − number of classes).
    shrinkage : float in [0, 1], default 0.0
        Shrinks the variances towards their mean over the columns.
    prior_rows : float, default 0.0
        A prior worth so many rows, see :class:`Gaussian`.
    tuning : Tuning, optional
        Not used.

    Attributes
    ----------
    key : str
        "lognormal", the name of the family.

    See Also
    --------
    NaiveBayes : Naive Bayes with this or any other family.
    Gamma : Another family of positive values.

    Examples
    --------
    >>> from suffit import NaiveBayes
    >>> X, y = [[1.0], [2.0], [70.0], [90.0]], ["a", "a", "b", "b"]
    >>> NaiveBayes("lognormal").fit(X, y).predict([[9.0]]).tolist()
    ['a']
    """

    key: ClassVar[str] = "lognormal"
    candidate_for: ClassVar[tuple[str, ...]] = (POSITIVE,)
    support: ClassVar[str] = "needs x > 0"
    way_out: ClassVar[str] = "use gaussian, shift the column, or drop the row"

    def normal(self, x: Array) -> Array:
        """The logarithm of x."""
        return np.log(np.asarray(x, dtype=np.float64))

    def outside(self, x: Array) -> NDArray[np.bool_]:
        """Zero or negative."""
        return x <= 0

    def log_base(self, x: Array) -> Array:
        """−log x, the Jacobian of log x."""
        return -np.log(x)

    def surely_valid(self, X: NumberRows) -> bool:
        """Nothing shows it at once."""
        return False

    def running(self, stats: Stats) -> Running | None:
        """None: rows are kept, and their logarithms added up together."""
        return None

    def scorer(self, stats: Stats) -> Scorer:
        """Of log x, by means and variances of its moments."""
        return LogNormalScorer(cast("GaussianScorer", super().scorer(stats)), self)


class LogNormalScorer(Scorer[NumberRows, Stats]):
    """Scores of log x under a Gaussian scorer; the Jacobian of log x is the log_base of the family."""

    takes_missing = True
    cells = COPY_CELLS

    def __init__(self, inner: GaussianScorer, family: LogNormal) -> None:
        self.inner, self.family, self.key, self.columns = inner, family, family.key, family.columns
        self.n_classes, self.n_parameters = inner.n_classes, inner.n_parameters

    def _blocks(self, X: NumberRows) -> Iterator[tuple[int, Array]]:
        for start, stop in row_blocks(X.shape[0], X.shape[1], COPY_CELLS):
            yield start, block(X, start, stop).astype(np.float64)

    def check(self, X: NumberRows) -> None:
        """Refuse rows outside the support."""
        for start, x in self._blocks(X):
            self.family.check(x, start)

    def score_rows(self, X: NumberRows, start: int, stop: int, out: Array) -> None:
        """Gaussian scores of log x."""
        with np.errstate(all="ignore"):
            self.inner.score_rows(freeze(self.family.normal(block(X, start, stop))), 0, stop - start, out)

    def parts(self, X: NumberRows, a: Codes, b: Codes) -> Terms:
        """The terms of log x."""
        with np.errstate(all="ignore"):
            return self.inner.parts(freeze(self.family.normal(block(X, 0, X.shape[0]))), a, b)

    def log_likelihood(self, stats: Stats) -> Array | None:
        """The Gaussian's own, and −Σ log x."""
        inner = self.inner.log_likelihood(stats)
        return None if inner is None else inner - (stats["x"] + stats["n"] * np.asarray(stats.origin)).sum(axis=1)

    def separation(self, stats: Stats) -> Between:
        """The Gaussian's own: densities change by the same factor."""
        return self.inner.separation(stats)

    def log_base(self, X: NumberRows) -> Array:
        """The Gaussian's own, and −log x."""
        parts = []
        for _, x in self._blocks(X):
            jacobian = np.where(x == x, self.family.log_base(x), 0.0).sum(axis=1)
            parts.append(self.inner.log_base(self.family.normal(x)) + jacobian)
        return np.concatenate(parts)

    @property
    def centres(self) -> Array:
        """exp(μ + σ²/2)."""
        variances = np.einsum("cjj->cj", self.inner.covariances())
        return np.asarray(np.exp(self.inner.means + variances / 2))

    def parameters(self) -> list[ParameterValues]:
        """Those of log x."""
        return [found._replace(name=f"{found.name} of the logarithm") for found in self.inner.parameters()]

    def sample(self, codes: Codes, rng: np.random.Generator) -> Array:
        """Exp of normal draws."""
        return np.exp(np.asarray(self.inner.sample(codes, rng)))

    def logistic_form(self) -> LogisticForm:
        """Linear and quadratic in log x: weights on (log x, (log x)²)."""
        form = self.inner.logistic_form()
        Q = form.quadratic if form.quadratic is not None else np.zeros_like(form.weights)
        names = tuple(name for c in self.columns for name in (f"log {c}", f"(log {c})²"))
        here = form.centred
        assert here is not None  # a Gaussian is centred
        w, near = (np.stack([a, Q], axis=-1).reshape(len(Q), -1) for a in (form.weights, here.weights))
        centred = Centred(partial(self._statistic, here.centre), near, here.intercept, here.centre)
        return LogisticForm(names, w, form.intercept, partial(self._statistic, 0.0), centred=centred)

    def _statistic(self, centre: float | Array, X: Cells) -> Array:
        z = self.family.normal(np.asarray(X, dtype=np.float64)) - centre
        return np.stack([z, z * z], axis=-1).reshape(len(z), -1)
