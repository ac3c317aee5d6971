"""A solved model: parameters instead of sums, ready to score rows, draw them and say what decides."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp, softmax

from ..data.arrays import Array, Cells, Codes, Matrix, csr, freeze, is_sparse, portion
from ..data.errors import rows_from
from ..data.rows import Rows
from ..kernels.runtime.threads import every, row_blocks
from .family import Scorer, Terms
from .logistic import LogisticForm
from .outliers import with_outliers

FEW_ROWS = 4  # rows up to which a call is worth more than a loop


class Solution:
    """A solved model: joint, posterior and marginal log-densities, draws, and the logistic form."""

    def __init__(
        self,
        classes: tuple[Hashable, ...],
        log_prior: Array,
        scorer: Scorer,
        power: float = 1.0,
        outlier_rate: float = 0.0,
    ) -> None:
        self.classes, self.log_prior, self.scorer = classes, freeze(log_prior), scorer
        self.power = power  # of p(x | c) in posteriors; densities are as they are
        self.outlier_rate = outlier_rate  # the chance that x says nothing of c, likewise

    def under(self, log_prior: Array) -> Solution:
        """The same under another prior."""
        return Solution(self.classes, log_prior, self.scorer, self.power, self.outlier_rate)

    @property
    def n_parameters(self) -> int:
        """Free parameters: those of the classes, and k − 1 for their prior."""
        return self.scorer.n_parameters + len(self.classes) - 1

    def _raw(self, X: Matrix, power: float, first_row: int = 0) -> tuple[Array, Array | None]:
        with rows_from(first_row):
            scores = self.scorer.scores(X)
        if power != 1.0:
            scores *= power
        scores += self.log_prior
        return scores, self.scorer.impossible(X)

    def scores(self, X: Matrix, checked: bool = False, first_row: int = 0) -> Array:
        """log p(x, c) up to a constant per row, with a finite maximum in every row.  # → (n, K)"""
        if not checked:
            self.scorer.check(X)
        scores, impossible = self._raw(X, self.power, first_row)
        _take_limit(scores, impossible, self.log_prior)
        bad = np.flatnonzero(~np.isfinite(scores.max(axis=1, initial=-np.inf)))
        if len(bad):
            scores[bad] = self._far(X, bad, first_row)
        return scores

    def _far(self, X: Matrix, rows: NDArray[np.int64], first_row: int = 0) -> Array:
        """Scores of rows so far out that their densities vanish even in logs, drawn in along their ray.

        The posterior at the point drawn in is the limit that the posterior has reached long before.  A score that is
        NaN wherever it is drawn is no matter of distance: the family has no finite parameters, and that is an error.
        """
        x = whole = X[rows].toarray() if is_sparse(X) else X[rows]
        self.scorer.check_cells(x, rows + first_row)
        out = np.broadcast_to(self.log_prior, (len(rows), len(self.classes))).copy()
        far = np.arange(len(rows))
        for _ in range(16):
            x = self.scorer.drawn_in(x)
            scores, impossible = self._raw(x, self.power)
            _take_limit(scores, impossible, self.log_prior)
            near = np.isfinite(scores.max(axis=1))
            out[far[near]] = scores[near]
            if near.all():
                break
            far, x = far[~near], x[np.flatnonzero(~near)]
        else:
            self._check_defined(whole[far], rows[far] + first_row)
        return out

    def _check_defined(self, x: Matrix, rows: NDArray[np.int64]) -> None:
        """Refuse scores that are NaN, naming the family, the class and the column of the first."""
        nan = np.flatnonzero(np.isnan(self._raw(x, 1.0)[0]).any(axis=1))
        if not len(nan):
            return
        i = nan[:1]
        key, c, column = self.scorer.undefined(x[i])
        where = "" if column is None else f", column {column!r}"
        raise FloatingPointError(
            f"class {self.classes[c]!r}{where}: {key} gives row {rows[i[0]]} the score NaN, though its values are "
            "finite and in the support; solve() must give finite parameters for every class (a larger alpha helps "
            "where a class does not vary; suffit.check_family says what is wrong with a family)"
        )

    def posterior(self, X: Matrix) -> Array:
        """p(c | x).  # → (n, K)"""
        if type(X) is np.ndarray and len(X) <= FEW_ROWS:
            quick = self._few(X)
            if quick is not None:
                return quick
        return with_outliers(self._normalised(X, _to_posterior), self.log_prior, self.outlier_rate)

    def log_posterior(self, X: Matrix) -> Array:
        """log p(c | x), exact even where p is all but 1.  # → (n, K)"""
        from ..kernels.scores import to_log_posterior

        out = self._normalised(X, to_log_posterior)
        if not self.outlier_rate:
            return out
        with np.errstate(divide="ignore"):
            return np.logaddexp(
                math.log1p(-self.outlier_rate) + out, math.log(self.outlier_rate) + log_softmax(self.log_prior)
            )

    def _normalised(self, X: Matrix, normalise: Callable[[Array, Array], bool]) -> Array:
        """Scores and normalises block by block; rows without a finite score are looked at on their own."""
        self.scorer.check(X)
        nothing = freeze(np.zeros(len(self.classes)))  # for scores that have the prior in them already
        X = csr(X) if is_sparse(X) else X
        out = np.empty((X.shape[0], len(self.classes)))
        odd: list[tuple[int, int]] = []

        def work(a: int, b: int) -> None:
            self._score_rows(X, a, b, out[a:b])
            if not normalise(out[a:b], self.log_prior):
                odd.append((a, b))

        every(work, self.scorer.blocks(X))
        for a, b in sorted(odd):
            bad = a + np.flatnonzero(np.isnan(out[a:b].sum(axis=1)))
            far = self._far(X, bad)
            normalise(far, nothing)
            out[bad] = far
        return out

    def _score_rows(self, X: Matrix, start: int, stop: int, out: Array) -> None:
        """log p(x | c) of rows, to the power it counts with; −∞ for classes that the limit α → 0 rules out."""
        self.scorer.score_rows(X, start, stop, out)
        if self.power != 1.0:
            out *= self.power
        if self.scorer.limited:
            never = np.empty_like(out)
            self.scorer.impossible_rows(X, start, stop, never)
            _take_limit(out, never, self.log_prior)

    def _few(self, X: Cells) -> Array | None:
        """The posterior of a few plain rows by the one-row kernel; None where the rows need a closer look."""
        kernel, parameters = self._row
        if kernel is None or X.dtype != np.float64 or not self.scorer.surely_valid(X):
            return None
        out = np.empty((len(X), len(self.classes)))
        for i in range(len(X)):
            kernel(X[i], *parameters, out[i])
        return out if math.isfinite(out.sum()) else None

    @cached_property
    def _row(self) -> tuple[Callable[..., object] | None, tuple[Array, ...]]:
        return self.scorer.row_kernel(self.log_prior) if self.power == 1.0 and not self.outlier_rate else (None, ())

    def log_joint(self, X: Matrix, checked: bool = False, first_row: int = 0) -> Array:
        """log p(x, c) = log p(x | c) + log p(c).  # → (n, K)"""
        if not checked:
            self.scorer.check(X)
        scores, impossible = self._raw(X, 1.0, first_row)
        with np.errstate(invalid="ignore"):
            scores += self.scorer.log_base(X)[:, None]
        if impossible is not None:
            scores[impossible > 0] = -np.inf
        if not np.isfinite(scores).all():
            bad = np.flatnonzero(~np.isfinite(scores).all(axis=1))
            self.scorer.check_cells(X[bad].toarray() if is_sparse(X) else X[bad], bad + first_row)
            nan = np.isnan(scores)
            if nan.any():
                self._far(X, np.flatnonzero(nan.any(axis=1)), first_row)  # refuses what is not for being far out
                scores[nan] = -np.inf  # so far out that even the logarithm overflows
        return scores

    def log_density(self, X: Matrix) -> Array:
        """log p(x) = log Σ_c p(x, c).  # → (n,)"""
        self.scorer.check(X)
        X = csr(X) if is_sparse(X) else X
        out = np.empty(X.shape[0])
        for a, b in self._slices(X.shape[0]):
            with np.errstate(divide="ignore"):
                out[a:b] = logsumexp(self.log_joint(portion(X, a, b), checked=True, first_row=a), axis=1)
        return out

    def log_likelihood(self, X: Matrix, rows: Rows) -> float:
        """Σ w log p(x, y) of labelled rows; −inf where a label is unknown."""
        self.scorer.check(X)
        X = csr(X) if is_sparse(X) else X
        known = {label: i for i, label in enumerate(self.classes)}
        place = np.array([known.get(label, -1) for label in rows.classes.labels])
        total = []
        for a, b in self._slices(X.shape[0]):
            codes, weights = rows.part(a, b)
            at = place[codes]
            joint = self.log_joint(portion(X, a, b), checked=True, first_row=a)
            each = np.where(at >= 0, joint[np.arange(b - a), at], -np.inf)
            total.append(float(each[weights > 0] @ weights[weights > 0]))
        return math.fsum(total) if np.isfinite(total).all() else float(np.sum(total))

    def _slices(self, n: int) -> list[tuple[int, int]]:
        """Ranges of n rows, small enough that n × K arrays for them do not matter."""
        return row_blocks(n, len(self.classes), self.scorer.scores_at_once)

    def best(self, X: Matrix) -> Codes:
        """The code of the most probable class.  # → (n,)"""
        from ..kernels.scores import best_classes

        self.scorer.check(X)
        X = csr(X) if is_sparse(X) else X
        out = np.empty(X.shape[0], np.int32)

        def work(start: int, stop: int) -> None:
            for i, j in self._slices(stop - start):
                a, b = start + i, start + j
                scores = np.empty((b - a, len(self.classes)))
                self._score_rows(X, a, b, scores)
                prior = self.log_prior
                if self.outlier_rate:
                    _to_posterior(scores, prior)
                    scores, prior = with_outliers(scores, prior, self.outlier_rate), freeze(np.zeros(len(prior)))
                best_classes(scores, prior, out[a:b])

        every(work, self.scorer.blocks(X))
        bad = np.flatnonzero(out < 0)
        if len(bad):
            far = self._far(X, bad)
            if self.outlier_rate:
                far = with_outliers(softmax(far, axis=1), self.log_prior, self.outlier_rate)
            out[bad] = far.argmax(axis=1)
        return out

    def parts(self, X: Matrix, a: Codes, b: Codes) -> Terms:
        """What each column adds to the log-odds of the classes a and b of each row."""
        terms = self.scorer.parts(X, a, b)
        if self.power == 1.0:
            return terms
        return terms._replace(columns=self.power * terms.columns, rest=self.power * terms.rest)

    def sample(self, codes: Codes, rng: np.random.Generator) -> Cells:
        """A row from the class of each code."""
        return self.scorer.sample(codes, rng)

    def draw_classes(self, n: int, rng: np.random.Generator) -> Codes:
        """Class codes drawn from the prior."""
        shares = np.exp(self.log_prior)
        return rng.choice(len(shares), size=n, p=shares / shares.sum()).astype(np.int32)

    def logistic_form(self) -> LogisticForm:
        """Class scores with the prior in the intercept."""
        return self.scorer.logistic_form().to_power(self.power).named(self.classes, self.log_prior)


def _take_limit(scores: Array, impossible: Array | None, log_prior: Array) -> None:
    """Where smoothing is 0: only the classes with the fewest impossible events stay, as the limit α → 0 has it."""
    if impossible is None:
        return
    open_classes = np.where(np.isfinite(log_prior), impossible, np.inf)
    scores[impossible > open_classes.min(axis=1, keepdims=True)] = -np.inf


def _to_posterior(scores: Array, log_prior: Array) -> bool:
    """Scores + log prior to probabilities, in place; False where a row has no finite maximum (and is NaN after)."""
    from ..kernels.scores import divide_by_sum, lower_by_top, to_posterior_of_two

    if scores.shape[1] == 2:
        return bool(to_posterior_of_two(scores, log_prior))
    good = bool(lower_by_top(scores, log_prior))
    with np.errstate(invalid="ignore", over="ignore"):
        np.exp(scores, out=scores)
        divide_by_sum(scores)
    return good


class RowScorer:
    """p(class | row) of one row at a time, without checks: see ``scorer()`` of the estimators."""

    def __init__(self, solution: Solution, classes: Cells, posterior: Callable[[Matrix], Array] | None = None) -> None:
        self.classes = classes
        self._posterior = posterior or solution.posterior  # another where a calibration comes after
        row: tuple[Callable[..., object] | None, tuple[Array, ...]] = solution._row if posterior is None else (None, ())
        self._kernel, self._parameters = row

    def __call__(self, row: Cells) -> Array:
        """The probabilities, in the order of ``classes``."""
        if self._kernel is None:
            return self._posterior(row[None])[0]
        out = np.empty(len(self.classes))
        self._kernel(row, *self._parameters, out)
        if math.isnan(out[0]):  # a missing value that the kernel does not take, or a row too far out
            return self._posterior(row[None])[0]
        return out
