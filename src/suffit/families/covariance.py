"""Which structure a covariance has, by leave-one-out: full, diagonal or spherical, each class's own or shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..family import Family, Scorer
from ..stats import Stats
from ..table import InputError, Matrix, Rows
from .gaussian import Gaussian
from .matrix import MultivariateGaussian, without_holes
from .tuning import LEFT_OUT, LOO, Trial, Tuning, loss_left_out, some_rows


@dataclass(frozen=True)
class AnyGaussian(Family):
    """Normal columns whose covariance structure is open until rows are seen.

    Spherical, diagonal and full covariances are compared on rows left out, own and shared (or tied as given); full ones
    under every tie and shrinkage of a grid where those are "loo".
    """

    tie: Any = LOO
    shrinkage: Any = 0.0
    unbiased: bool = False

    key: ClassVar[str] = "any_gaussian"
    speaks: ClassVar[bool] = True

    def settled(self, X: Matrix, rows: Rows, columns: Sequence[str]) -> Family:
        """The structure with the least log-loss on rows left out; of equals, the one with the fewest parameters."""
        full = MultivariateGaussian(tie=self.tie, shrinkage=self.shrinkage, unbiased=self.unbiased)
        best = full.tuned(X, rows, columns)
        tried = [replace(t, settings={"covariance": "full", **t.settings}) for t in best.tuning.tried]
        taken = replace(best.tuning.taken, settings={"covariance": "full", **best.tuning.taken.settings})
        whole = np.flatnonzero(without_holes(X))
        here, few = some_rows(X[whole], rows.some(whole))
        for structure in ("diagonal", "spherical"):
            for tie in (0.0, 1.0) if self.tie == LOO else (self.tie,):
                family = Gaussian(tie=tie, spherical=structure == "spherical", unbiased=self.unbiased)
                left = family.left_out(here, few, family.collect(X, rows, columns), columns)
                trial = Trial(
                    {"covariance": structure, "tie": tie, "shrinkage": 0.0},
                    loss_left_out(left, few, rows.counts()),
                )
                tried.append(trial)
                if round(trial.loss, 9) <= round(taken.loss, 9):
                    best, taken = family, trial
        return replace(best, tuning=Tuning(LEFT_OUT, tuple(tried), taken))  # type: ignore[no-any-return]

    def settled_as(self, other: Family) -> Family:
        """The structure that another has."""
        return other if isinstance(other, Gaussian | MultivariateGaussian) else self

    def collect(self, X: Matrix, rows: Rows, columns: Sequence[str]) -> Stats:
        """Not before the structure is settled."""
        raise InputError("the structure of the covariance is not chosen yet; learn rows first")

    def scorer(self, stats: Stats, columns: Sequence[str]) -> Scorer:
        """Not before the structure is settled."""
        raise InputError("the structure of the covariance is not chosen yet; learn rows first")
