"""Calibrated probabilities: a power or a monotone map, fitted on leave-one-out scores; and calibration errors.

Naive models are over-confident: columns that say the same thing are counted twice.  On the scores that rows have under
the model without them, ``temperature`` finds the power β of the evidence and the outlier rate ε with the least
log-loss,

    p(c | x) = (1 − ε) q(c | x) + ε p(c),   q(c | x) ∝ p(c) p(x | c)^β,

which leaves the prior as it is (a row without evidence keeps it); ε is the probability that the columns of a row carry
no information about its class, without which a few hopeless rows would determine the confidence of all.
``isotonic`` finds the monotone map of each class's probability nearest to what came true; a row without evidence
keeps the prior here, too.  No row is held out, nothing is fitted anew; joint columns with missing values, which have no
closed form, are scored without a row by one step from what all rows led to, to the first order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from ..core.leave_one_out import LooRows
from ..core.outliers import with_outliers
from ..core.pooling import Pool, Pooled, bounded
from ..core.solution import Solution
from ..data.arrays import Array, Codes, Matrix, RowIndex
from ..data.errors import InputError
from ..data.printed import MadeTable, html_lines, to_table

SMALLEST = 1e-15  # a probability below this is scored as this: at most 34.5 nats for a row
SILENT = 1e-14  # a posterior this near to the prior is the prior, but for rounding
BINS = 15
FOLDS = 5  # in which a calibration is tried on rows it has not seen, to report what it does

Maps = tuple[tuple[Array, Array], ...]  # of each class: probabilities, and what they become


# --- how good probabilities are.  P: probabilities (n, K); c: the column of each row's true class (n,)


def log_loss(P: Array, c: Codes, weights: Array | None = None) -> float:
    """Mean −log p(true class), in nats."""
    each = -np.log(np.clip(P[np.arange(len(c)), c], SMALLEST, 1))
    return float(np.average(each, weights=weights))


def expected_calibration_error(P: Array, c: Codes, weights: Array | None = None) -> float:
    """Σ_b n_b/n·|accuracy_b − confidence_b| over 15 equal bins (lo, hi] of max_k p_k.

    >>> P = np.array([[0.9, 0.1]] * 10)
    >>> round(expected_calibration_error(P, np.array([0] * 8 + [1] * 2)), 6)  # right 8 times in 10, 90 % sure
    0.1
    """
    return reliability(P, c, weights).error


@dataclass(frozen=True, eq=False)
class Reliability:
    """In every bin of the confidence max_k p_k that has rows: their mean confidence, how often right, their weight."""

    confidence: Array
    accuracy: Array
    weight: Array

    @property
    def error(self) -> float:
        """How far sureness is from the truth, on average over the rows."""
        return float(self.weight @ np.abs(self.accuracy - self.confidence) / self.weight.sum())


def reliability(P: Array, c: Codes, weights: Array | None = None) -> Reliability:
    """How often the most probable class is right, beside how sure it was."""
    confidence, right = P.max(1), P.argmax(1) == c
    w = np.ones(len(c)) if weights is None else weights
    sums = [np.bincount(bins_of(confidence), weights=w * a, minlength=BINS) for a in (1.0, confidence, right)]
    some = sums[0] > 0
    weight = np.asarray(sums[0][some], np.float64)
    return Reliability(sums[1][some] / weight, sums[2][some] / weight, weight)


def bins_of(confidence: Array) -> NDArray[np.int64]:
    """The bin (lo, hi] of each confidence."""
    return np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)


# --- calibration


@dataclass(frozen=True, eq=False)
class Report:
    """What a calibration does to leave-one-out scores; *after* is of rows that it was not fitted on."""

    log_loss_before: float
    log_loss_after: float
    before: Reliability
    after: Reliability


@dataclass(eq=False, repr=False)
class Trial:
    """Leave-one-out scores that a calibration is fitted on; its report is made when first asked for."""

    method: str
    scores: Array  # (n, K)
    log_prior: Array  # (n, K)
    codes: Codes
    weights: Array
    outlier_rate: float  # of the model without the calibration

    @cached_property
    def fit(self) -> tuple[Pooled, Maps]:
        """A power and an outlier rate, and maps; an isotonic calibration has these alone."""
        return self._fitted(self._pool(), self.weights)

    @cached_property
    def report(self) -> Report:
        """Of the calibration tried in folds, each on rows that the others have not seen."""
        pool, before = self._pool(), (self._posterior(self._plain()), self.codes, self.weights)
        own, sizes = self.scores[np.arange(len(self.codes)), self.codes], np.bincount(self.codes, self.weights)
        # by what rows are, not by their places: all scores, as in its own class a row that the model gets right has 0
        order = np.lexsort((self.weights, sizes[self.codes], own, np.sort(self.scores, axis=1).sum(axis=1)))
        tried = []  # of each fold: what its rows become, their classes and their weights in it
        for held in in_folds(self.weights, order):
            here, rest = np.flatnonzero(held), self.weights - held
            found, maps = self._fitted(pool, rest if rest.any() else held, self.fit[0])  # one row has no other
            P = self._posterior(found, here)
            tried.append((_mapped(P, maps, self.log_prior[here]) if maps else P, self.codes[here], held[here]))
        after = [np.concatenate(each) for each in zip(*tried, strict=True)]
        return Report(log_loss(*before), log_loss(*after), reliability(*before), reliability(*after))

    def _pool(self) -> Pool:
        return Pool([self.scores], self.log_prior, self.codes)

    def _plain(self) -> Pooled:
        return Pooled(np.ones(1), self.outlier_rate, np.nan)

    def _fitted(self, pool: Pool, weights: Array, near: Pooled | None = None) -> tuple[Pooled, Maps]:
        if self.method == "temperature":
            return pool.fitted(weights, near), ()
        return self._plain(), _maps(self._posterior(self._plain()), self.codes, weights)

    def _posterior(self, found: Pooled, here: RowIndex = slice(None)) -> Array:
        log_prior = self.log_prior[here]
        return with_outliers(
            softmax(found.powers[0] * self.scores[here] + log_prior, axis=1), log_prior, found.outlier_rate
        )

    def __getstate__(self) -> dict[str, object]:
        """What is kept of a model that is written: the report without the rows."""
        return {"report": self.report}


@dataclass(frozen=True, eq=False)
class Calibration:
    """A power of the evidence and an outlier rate, or a monotone map for each class; and its effect in leave-one-out.

    ``before`` and ``after`` are how sure and how often right the model is in each bin of confidence; every figure named
    *after* is of rows that the calibration was not fitted on.
    """

    method: str
    power: float
    outlier_rate: float
    maps: Maps
    log_prior: Array  # the log prior that the maps are for
    rows: int
    trial: Trial
    kept: bool = True  # False: it did not help, and probabilities are as they were

    def if_it_helps(self) -> Calibration:
        """Itself where the log-loss of rows it was not fitted on is less with it; else one that changes nothing."""
        if self.log_loss_after < self.log_loss_before:
            return self
        return replace(self, power=1.0, outlier_rate=self.trial.outlier_rate, maps=(), kept=False)

    @property
    def log_loss_before(self) -> float:
        """The log-loss without it."""
        return self.trial.report.log_loss_before

    @property
    def log_loss_after(self) -> float:
        """The log-loss with it."""
        return self.trial.report.log_loss_after

    @property
    def before(self) -> Reliability:
        """How often right, beside how sure, without it."""
        return self.trial.report.before

    @property
    def after(self) -> Reliability:
        """How often right, beside how sure, with it."""
        return self.trial.report.after

    @property
    def ece_before(self) -> float:
        """The calibration error without it."""
        return self.before.error

    @property
    def ece_after(self) -> float:
        """The calibration error with it."""
        return self.after.error

    def mapped(self, P: Array, log_prior: Array | None = None) -> Array:
        """Probabilities under ``log_prior`` (or another) through the maps of the classes, made to sum to 1 again."""
        return _mapped(P, self.maps, self.log_prior if log_prior is None else log_prior) if self.maps else P

    def posterior(self, solution: Solution, X: Matrix) -> Array:
        """p(c | x) of a solution that has the power already: mapped under the prior of the maps, and that exchanged."""
        if not self.maps:
            return solution.posterior(X)
        return self._under(self.mapped(solution.under(self.log_prior).posterior(X)), solution.log_prior)

    def loo_posterior(self, left: LooRows) -> Array:
        """The same for leave-one-out scores, each under the prior without its row."""
        if not self.maps:
            return left.posterior(self.power, self.outlier_rate)
        plain = replace(left, log_prior=np.where(np.isneginf(left.log_prior), -np.inf, self.log_prior))
        return self._under(self.mapped(plain.posterior(self.power, self.outlier_rate), plain.log_prior), left.log_prior)

    def _under(self, P: Array, log_prior: Array) -> Array:
        """Mapped probabilities under another prior; a class that had none before counts as it is."""
        with np.errstate(invalid="ignore"):
            ratio = np.where(np.isneginf(self.log_prior), 1.0, np.exp(log_prior - self.log_prior))
        P = P * np.where(np.isneginf(log_prior), 0.0, ratio)
        total = P.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(P, total, out=np.exp(log_prior) * np.ones_like(P), where=total > 0))

    def to_frame(self) -> MadeTable:
        """Return a data frame of the bins of confidence: how sure, how often right, and the rows, before and after.

        Returns
        -------
        data frame
            Of the library the rows came from; for plain arrays pandas where it is installed, else a dict of arrays.
        """
        both = {"before": self.before, self.method: self.after}
        return to_table(self, {
            "calibration": [name for name, shown in both.items() for _ in shown.weight],
            **{part: np.concatenate([getattr(shown, part) for shown in both.values()])
               for part in ("confidence", "accuracy", "weight")},
        })  # fmt: skip

    def _repr_html_(self) -> str:
        return html_lines(*repr(self).splitlines())

    def __repr__(self) -> str:
        how = "a monotone map for each class"
        if self.method == "temperature":
            how = f"p(c) p(x|c)^{self.power:.3g}, outlier rate {self.outlier_rate:.2g}"
        if not self.kept:
            how = "not used, because it does not lower the log-loss"
        return (
            f"{self.method}: {how}, from {self.rows} leave-one-out rows\n"
            f"log-loss {self.log_loss_before:.4f} → {self.log_loss_after:.4f}, "
            f"calibration error {self.ece_before:.4f} → {self.ece_after:.4f}"
        )


def calibrated(method: str, without: LooRows, prior: Array) -> Calibration:
    """Fit a calibration on leave-one-out scores, for a model with this log prior."""
    codes, weights = without.rows.as_rows().part(0, len(without.rows))
    counted = np.flatnonzero((weights > 0) & np.isfinite(without.log_prior[np.arange(len(codes)), codes]))
    if not len(counted):
        raise InputError(
            f"calibrate={method!r} needs a class with at least two rows, got n_samples={len(codes)}, one in each "
            "class; fit without calibrate"
        )
    rows = bounded(without.left)[counted], without.log_prior[counted], codes[counted], weights[counted]
    trial = Trial(method, *rows, without.outlier_rate)
    found, maps = trial.fit
    return Calibration(method, float(found.powers[0]), found.outlier_rate, maps, prior, len(counted), trial)


def in_folds(weights: Array, order: NDArray[np.int64]) -> Array:
    """The weight of each row in each fold: in this order, dealt out in turn by pieces of about one row.

    So a weight of 2 is the row twice, here too.

    >>> in_folds(np.array([1.0, 2.0, 7.0, 0.5]), np.arange(4))
    array([[1. , 0. , 1. , 0.5],
           [0. , 1. , 1. , 0. ],
           [0. , 1. , 1. , 0. ],
           [0. , 0. , 2. , 0. ],
           [0. , 0. , 2. , 0. ]])
    """
    pieces = np.maximum(np.rint(weights[order]), 1.0)
    folds = int(min(FOLDS, pieces.sum()))
    full, left = np.divmod(pieces, folds)
    turn = np.arange(folds)[:, None] - (np.cumsum(left) - left)  # of each fold, from where a row begins
    return ((full + (turn % folds < left)) * (weights[order] / pieces))[:, np.argsort(order)]


def _maps(P: Array, codes: Codes, weights: Array) -> Maps:
    """A monotone map for each class, from rows that weigh anything."""
    from scipy.optimize import isotonic_regression  # which takes long to import

    some = weights > 0
    P, codes, weights = P[some], codes[some], weights[some]
    least = 1 / (2 * max(weights.sum(), 1.0))  # no share of so few rows is nearer to 0 or 1
    maps = []
    for k in {1: (), 2: (1,)}.get(P.shape[1], range(P.shape[1])):  # of two classes one says it all
        order = np.argsort(P[:, k], kind="stable")
        p, y, w = P[order, k], (codes[order] == k).astype(np.float64), weights[order]
        value, first = np.unique(p, return_index=True)
        total = np.add.reduceat(w, first)
        mean = np.add.reduceat(w * y, first) / total
        fit = np.clip(isotonic_regression(mean, weights=total).x, least, 1 - least)
        maps.append((value, fit))
    return tuple(maps)


def _mapped(P: Array, maps: Maps, log_prior: Array) -> Array:
    """Through the maps, and summing to 1 again; rows without evidence, such as those without values, keep the prior."""
    if len(maps) == 1:
        second = np.interp(P[:, 1], *maps[0])
        out = np.stack([1 - second, second], axis=1)
    else:
        out = np.stack([np.interp(P[:, k], *m) for k, m in enumerate(maps)], axis=1)
        out /= out.sum(axis=1, keepdims=True)
    silent = (np.abs(P - softmax(log_prior, axis=-1)) <= SILENT).all(axis=1)
    out[silent] = P[silent]
    return np.asarray(out)
