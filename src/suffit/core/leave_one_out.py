"""Every row under the sums of all the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..data.arrays import Array
from ..data.rows import Rows
from .outliers import with_outliers


class LooScores(NamedTuple):
    """log p(x_i | c) of every row under the sums of all the others, and what of it has probability 0."""

    log_density: Array  # (n, K); where something is impossible, the finite rest
    impossible: Array | None = None  # (n, K), as ``Scorer.impossible`` has it


@dataclass(frozen=True)
class LooRows:
    """Rows under models that have not seen them: log p(x | c), and the log prior of those models (n, K)."""

    left: LooScores
    log_prior: Array
    rows: Rows  # with codes into the classes of the columns
    scores: Array  # log p(x | c) up to a constant per row, with a finite maximum in every row however far out it is
    outlier_rate: float = 0.0  # the chance that x says nothing of c

    def log_joint(self) -> Array:
        """log p(x, c); −∞ where something is impossible, or a class has no other row.  # → (n, K)"""
        joint = self.left.log_density + self.log_prior
        return joint if self.left.impossible is None else np.where(self.left.impossible > 0, -np.inf, joint)

    def posterior(self, power: float = 1.0, outlier_rate: float | None = None) -> Array:
        """p(c | x) ∝ p(c) p(x | c)^power, outliers aside, as the limit α → 0 has it where something is impossible.

        # → (n, K)
        """
        joint = power * self.scores + self.log_prior
        if self.left.impossible is not None:
            fewest = np.where(np.isneginf(joint), np.inf, self.left.impossible).min(axis=1, keepdims=True)
            joint[self.left.impossible > fewest] = -np.inf
        joint -= joint.max(axis=1, keepdims=True)
        p = np.exp(joint)
        return with_outliers(
            p / p.sum(axis=1, keepdims=True),
            self.log_prior,
            self.outlier_rate if outlier_rate is None else outlier_rate,
        )
