"""Jointly normal columns in units of their deviation within classes, each row under the sums and units without it.

Units that a row has helped to choose know its class: with few rows for the classes they tell it.  Here everything is
made anew for every row, which takes a factorisation for each row and class: for small tables.
"""

from __future__ import annotations

import numpy as np

from ....core.stats import Stats
from ....data.arrays import Array, Codes
from ...rounding import about_means, clear_equal
from ..diagonal import PRIOR_ROWS, Gaussian, prior_variances
from ..student_t import log_density

AT_ONCE = 1 << 20  # numbers in the matrices of the rows that are taken at once


class RescaledLoo:
    """Rows without missing values, each without itself, whatever tie and shrinkage."""

    def __init__(self, stats: Stats, x: Array, codes: Codes, weights: Array) -> None:
        n, sums, origin = stats["n"], stats["x"], np.asarray(stats.origin)
        shift = np.divide(sums, n[:, None], out=np.zeros_like(sums), where=n[:, None] > 0)
        self.own = stats["xx"] - np.einsum("ci,cj->cij", shift, sums)
        self.x, self.codes, self.means = x, codes, origin + shift
        each, z = np.arange(len(x)), x - origin[codes]
        left = np.repeat(n[None], len(x), axis=0)
        left[each, codes] = np.where(
            left[each, codes] - weights > 1e-9 * left[each, codes], left[each, codes] - weights, 0
        )
        self.n = left  # (m, K)
        squares = np.einsum("cii->ci", stats["xx"])
        first, second = (np.repeat(a[None], len(x), axis=0) for a in (sums, squares))
        first[each, codes] -= weights[:, None] * z
        second[each, codes] -= weights[:, None] * z * z
        some = left > 0
        first, second = (np.where(some[..., None], a, 0.0) for a in (first, second))
        cells = np.broadcast_to(left[..., None], first.shape)
        noise = np.zeros_like(second)  # of the row's own class
        noise[each, codes] = squares[codes]
        first, second, about = clear_equal(cells, first, second, origin, noise)
        self.varies = about_means(cells, first, second)[each, codes] > 0  # (m, p), the row's own class
        variance = Gaussian(tie=1.0, prior_rows=PRIOR_ROWS).solved_moments(cells, first, second, about)[1][:, 0]
        self.scale = np.sqrt(np.where(variance > 0, variance, 1.0))  # (m, p)
        prior = prior_variances(cells, first, second, about)
        self.prior = np.where(variance > 0, prior / self.scale**2, 1.0)
        mean = about + np.divide(first, cells, out=np.zeros_like(first), where=cells > 0)
        self.own_mean = mean[each, codes]
        mine = n[codes]
        self.taken = np.where(
            some[each, codes], weights * mine / np.where(left[each, codes] > 0, left[each, codes], 1.0), 0.0
        )

    def log_density(self, tie: float, shrinkage: float, freedom: float) -> Array:
        """log p(x_i | c) without row i; 0 for a class that has no other row.  # → (m, K)"""
        m, (K, p) = len(self.x), self.means.shape
        out = np.empty((m, K))
        step = max(1, AT_ONCE // (K * p * p))
        for start in range(0, m, step):
            out[start : start + step] = self._some(slice(start, start + step), tie, shrinkage, freedom)
        return np.where(self.n > 0, out, 0.0)

    def _some(self, rows: slice, tie: float, shrinkage: float, freedom: float) -> Array:
        x, codes, s, n = self.x[rows], self.codes[rows], self.scale[rows], self.n[rows]
        m, (K, p) = len(x), self.means.shape
        each, r = np.arange(m), PRIOR_ROWS
        d = (x - self.means[codes]) / s
        unit = s[:, :, None] * s[:, None, :]
        varies = self.varies[rows, :, None] & self.varies[rows, None, :]
        mine = np.where(
            varies, self.own[codes] / unit - self.taken[rows, None, None] * d[:, :, None] * d[:, None, :], 0.0
        )
        others = np.stack([np.delete(self.own, c, axis=0).sum(axis=0) for c in range(K)])
        eye = np.eye(p)
        S = others[codes] / unit + mine + r * self.prior[rows][:, None, :] * eye
        total = n.sum(axis=1) + r
        if tie == 1.0:
            cov = (S / total[:, None, None])[:, None]
        else:
            own = self.own / unit[:, None]
            own[each, codes] = mine
            own += r * eye
            over = (1 - tie) * (n + r) + tie * total[:, None]
            cov = ((1 - tie) * own + tie * S[:, None]) / over[..., None, None]
        mean_variance = np.einsum("mkii->mk", cov)[..., None, None] / p
        cov = (1 - shrinkage) * cov + shrinkage * mean_variance * eye
        off = x[:, None] - self.means
        off[each, codes] = x - self.own_mean[rows]
        squares, log_det = _squares(np.broadcast_to(cov, (m, K, p, p)), off / s[:, None], shrinkage * mean_variance)
        density = log_density(squares, log_det, p, freedom)
        return np.asarray(density - np.log(s).sum(axis=1)[:, None])


def _squares(cov: Array, off: Array, least: Array) -> tuple[Array, Array]:
    """dᵀΣ⁻¹d and log det Σ of many matrices whose eigenvalues are no less than ``least``.  # (…, p, p), (…, p)

    With [Σ d; dᵀ c] = LLᵀ for c large enough, the last row of L is (L₁₁⁻¹d)ᵀ.
    """
    p = off.shape[-1]
    whole = np.empty((*off.shape[:-1], p + 1, p + 1))
    whole[..., :p, :p] = cov
    whole[..., p, :p] = whole[..., :p, p] = off
    whole[..., p, p] = 2 * (off * off).sum(axis=-1) / least[..., 0, 0] + 1.0
    try:
        L = np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:  # all but nothing is left of the squares of a column, and its rounding
        values, vectors = np.linalg.eigh(cov)
        values = np.maximum(values, np.abs(least[..., 0]))
        along = np.einsum("...ij,...i->...j", vectors, off)
        return (along * along / values).sum(axis=-1), np.log(values).sum(axis=-1)
    u = L[..., p, :p]
    return (u * u).sum(axis=-1), 2 * np.log(np.einsum("...ii->...i", L[..., :p, :p])).sum(axis=-1)
