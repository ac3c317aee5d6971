"""Independent normal columns without one row: the sums of its own class change, and the floor of all classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....data.arrays import Array, Codes, freeze

FEW_DIGITS = 1e-4  # share of a sum of squares below which what a subtraction leaves of it needs a closer look
FAR_FROM_0 = 1e-8  # variance as a share of the squared mean, below which distances from the mean lose digits
STEADY = 1e-6  # share of a variance that its floor may be to be taken to first order


PriorVariance = Callable[[Array, Array, Array, float], Array]


@dataclass(frozen=True, eq=False)
class Ordinary:
    """Columns that vary within the classes, with values in every class; variances with a floor of their own.

    Leaving a row of weight w out takes w·n/(n − w)·(x − mean)² from the squares of its class, and likewise from those
    of all rows, a share of which is the floor; and from those of all classes together, which a prior draws each to.
    """

    columns: NDArray[np.bool_]  # of those asked for, which are ordinary
    n: Array  # (q, K), as all that follow
    mean: Array
    squares: Array  # Σ(x − mean)² of each class
    variance: Array  # with the floor
    total: Array  # (6, q): rows, mean and squares of all classes; of all about their own means: squares, variance, df
    smoothing: float
    prior_rows: float

    @classmethod
    def of(
        cls,
        n: Array,
        xx: Array,
        mean: Array,
        squares: Array,
        smoothing: float,
        prior_rows: float,
        prior_variance: PriorVariance,
    ) -> Ordinary:
        """From numbers of rows, squares about an origin, means and squares about these.  # (K, p)"""
        N = n.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = (n * mean).sum(axis=0) / N
            total = (squares + n * (mean - middle) ** 2).sum(axis=0)
            within = squares.sum(axis=0)
            degrees, together = np.maximum(n - prior_rows, 0.0).sum(axis=0), np.zeros_like(N)
            if prior_rows:
                prior = prior_variance(within, degrees, total / N, prior_rows)
                together = (within + prior_rows * prior) / (degrees + prior_rows)
            variance = (squares + prior_rows * together) / np.maximum(n, prior_rows) * (1 + prior_rows / n)
            variance = variance + smoothing * total / N
            ordinary = (n > 0).all(axis=0) & (within > FEW_DIGITS * xx.sum(axis=0))
            least = np.where(squares > 0, squares / n, total / N).min(axis=0)
            ordinary &= (variance > 0).all(axis=0) & (least > FAR_FROM_0 * np.abs(mean).max(axis=0) ** 2)
        n, mean, squares, variance = (freeze(a[:, ordinary].T) for a in (n, mean, squares, variance))
        everything = freeze(np.stack([N, middle, total, within, together, degrees])[:, ordinary])
        return cls(ordinary, n, mean, squares, variance, everything, smoothing, prior_rows)

    def scores(self, x: Array, codes: Codes, weights: Array) -> tuple[Array, NDArray[np.bool_]]:
        """log p(x | c) of rows of the ordinary columns, and which rows need a closer look.  # → (n, K), (n,)"""
        from ....kernels.diagonal import normal_leave_one_out

        out, odd = np.zeros((len(x), self.n.shape[1])), np.zeros(len(x), bool)
        steady = self.smoothing * self.total[2] / self.total[0] < STEADY * self.variance.min(axis=1)
        steady = freeze(steady & (self.prior_rows == 0))
        scale, peak = freeze(1 / self.variance), freeze(np.log(2 * np.pi * self.variance))
        laid_out = (self.n, self.mean, self.squares, self.variance, scale, peak, self.total, steady)
        normal_leave_one_out(
            freeze(x), codes, weights, *laid_out, self.smoothing, self.prior_rows, FEW_DIGITS, out, odd
        )
        return out, odd
