"""Which structure a covariance has, by leave-one-out: full, diagonal or spherical, each class's own or shared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...core.family import Family, Scorer
from ...core.stats import Stats
from ...data.arrays import Array, NumberRows
from ...data.errors import InputError
from ...data.rows import Rows
from ..tuning import (
    LOO,
    LOO_LOSS,
    Trial,
    Tuning,
    amount,
    check_classes,
    covariance_losses,
    loo_losses,
    mean_loss,
    some_rows,
    without_lone_rows,
)
from .diagonal import Gaussian
from .joint import MultivariateGaussian
from .moments import without_missing

SAME_LOSS = 1e-9  # losses that differ by less are the same but for rounding: a full Σ shrunk to I is a spherical one


@dataclass(frozen=True)
class Candidate:
    """A structure, what it scored, row by row, and how many parameters its covariances have."""

    family: Gaussian | MultivariateGaussian
    trial: Trial
    losses: Array
    weights: Array
    parameters: float

    def error_beside(self, best: Candidate) -> float:
        """The standard error of the mean difference between two structures' losses of the same rows."""
        gap = self.losses - best.losses
        spread = np.average((gap - np.average(gap, weights=self.weights)) ** 2, weights=self.weights)
        return float(np.sqrt(spread / self.weights.sum())) if np.isfinite(spread) else 0.0


@dataclass(frozen=True)
class AnyGaussian(Family[NumberRows, Stats]):
    """Normal columns whose covariance structure is open until rows are seen.

    Spherical, diagonal and full covariances are compared by leave-one-out, own and shared (or tied as given); full ones
    under every tie and shrinkage of a grid where those are "loo".
    """

    tie: Any = LOO
    shrinkage: Any = 0.0
    unbiased: bool = False

    key: ClassVar[str] = "any_gaussian"

    def tuned(self, X: NumberRows, rows: Rows) -> Family:
        """Of the structures no worse than the best by more than its standard error, that with the fewest parameters.

        The error is that of the mean difference between the losses of the same rows.  Plain leave-one-out would
        often take more structure than there is, however many rows there are.
        """
        check_classes(rows)
        whole = np.flatnonzero(without_missing(X))
        if not len(whole):
            raise InputError(
                "covariance='auto' needs complete rows, and every row has a missing value; use 'full', 'diagonal' or "
                "'spherical'"
            )
        full = MultivariateGaussian(tie=self.tie, shrinkage=self.shrinkage, unbiased=self.unbiased).of(self.columns)
        stats = full.sums_to_tune(full.collect(X, rows))
        here, few = without_lone_rows(full, *some_rows(X[whole], rows.some(whole)), stats)
        tried = [*self._full(full, stats, here, few), *self._apart(X, rows, here, few)]
        best = min(tried, key=lambda c: c.trial.loss)
        if not np.isfinite(best.trial.loss):
            raise InputError(
                "every structure that was tried has a singular covariance; set shrinkage to a number above 0"
            )
        good = [c for c in tried if c.trial.loss <= best.trial.loss + c.error_beside(best) + SAME_LOSS]
        taken = min(good, key=lambda c: (c.parameters, -amount(c.trial.settings["shrinkage"])))
        tuning = Tuning(LOO_LOSS, tuple(c.trial for c in tried), taken.trial)
        return taken.family.having(tuning=tuning)

    def _full(self, full: MultivariateGaussian, stats: Stats, here: NumberRows, few: Rows) -> Iterator[Candidate]:
        """Full covariances, under every tie and shrinkage that is open."""
        p, K = here.shape[1], len(few.classes)
        for trial, losses, weights in covariance_losses(full, here, few, stats):
            own = 1 + (K - 1) * (1 - trial.settings["tie"])  # covariances, between one and K
            named = replace(trial, settings={"covariance": "full", **trial.settings})
            yield Candidate(full.having(**trial.settings), named, losses, weights, own * p * (p + 1) / 2)

    def _apart(self, X: NumberRows, rows: Rows, here: NumberRows, few: Rows) -> Iterator[Candidate]:
        """Independent columns, each with a variance of its own or all with one."""
        for structure, each in (("diagonal", X.shape[1]), ("spherical", 1)):
            for tie in (0.0, 1.0) if self.tie == LOO else (self.tie,):
                family = Gaussian(tie=tie, spherical=structure == "spherical", unbiased=self.unbiased).of(self.columns)
                left = family.leave_one_out(here, few.one_of_each(), family.collect(X, rows))
                losses = loo_losses(left, few, rows.counts())
                settings = {"covariance": structure, "tie": tie, "shrinkage": 0.0}
                own = 1 + (len(rows.classes) - 1) * (1 - tie)
                yield Candidate(family, Trial(settings, mean_loss(*losses)), *losses, own * each)

    def tuned_as(self, other: Family) -> Family:
        """The structure that another has."""
        return other if isinstance(other, Gaussian | MultivariateGaussian) else self

    def collect(self, X: NumberRows, rows: Rows) -> Stats:
        """Refused before the structure is chosen."""
        raise InputError("covariance='auto' has not chosen a structure yet; fit first")

    def scorer(self, stats: Stats) -> Scorer:
        """Refused before the structure is chosen."""
        raise InputError("covariance='auto' has not chosen a structure yet; fit first")
