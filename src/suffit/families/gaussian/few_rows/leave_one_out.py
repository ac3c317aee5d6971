"""Leave-one-out with fewer rows than columns: rank-one downdates in the space of the rows.

All rows that were learned lie in the space that they span about their mean, of q < n dimensions, and so do the class
means.  In an orthonormal basis of it the scatters are q × q; shrinking towards a multiple γ of I (or a ridge) adds γ to
every direction, and each of the others adds log γ to log det Σ and nothing to the distance of a row that was learned.
"""

from __future__ import annotations

import numpy as np

from ....data.arrays import Array, Codes
from ..leave_one_out.exact import Blend, Downdates, Scatter
from ..scores import LOG_2PI
from .solve import CentredRows

SPANNED = 1e-13  # share of the largest variance: directions with less are rounding of what the rows span


class DowndatesOfFewRows(Downdates):
    """What leaving out each row does to the matrix of each class, where amounts of shrinkage are numbers."""

    def __init__(self, rows: CentredRows, blend: Blend, x: Array, codes: Codes, weights: Array, varying: int) -> None:
        basis, base = _basis(rows)
        Z, means = rows.Z @ basis.T, (rows.means - base) @ basis.T
        own = np.stack([Z.T @ (np.where(rows.codes == c, rows.w, 0.0)[:, None] * Z) for c in range(len(means))])
        q = len(basis)
        scatter = Scatter(means, own, own.sum(axis=0), {"n": rows.n}, np.zeros_like(means), np.arange(q))
        super().__init__(scatter, blend, (x - base) @ basis.T, codes, weights)
        self.columns, self.outside = rows.Z.shape[1], varying - q

    def _by_factor(self, k: int, alike: int, s: float) -> tuple[Array, Array]:
        """d² and log det Σ without each row, the directions that no row has among them; NaN where these have none."""
        r, over = self.blend.ridge, self.over[:, k]
        squares, log_det = super()._by_factor(k, alike, s)
        trace = float(np.trace(self.matrix(k)))
        with np.errstate(all="ignore"):
            gamma = (1 - r) * s * (trace - self.taken[:, k] * self.squares) / (self.columns * over) + r
            outside = np.where(gamma > 0, np.log(gamma) + LOG_2PI, np.nan)
        return squares, log_det + self.outside * outside[:, None]


def _basis(rows: CentredRows) -> tuple[Array, Array]:
    """An orthonormal basis of what the rows span about their mean, and that mean.  # → (q, p), (p,)"""
    base = rows.n @ rows.means / rows.n.sum()
    y = rows.Z + (rows.means - base)[rows.codes]
    values, A = np.linalg.eigh(y @ y.T)
    real = values > SPANNED * values.max(initial=0.0)
    rough = (A[:, real] / np.sqrt(values[real])).T @ y
    return np.linalg.qr(rough.T)[0].T, base  # small variances have left rounding in it
