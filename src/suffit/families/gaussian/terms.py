"""What each column adds to the log-odds of two Gaussian classes.

Columns that are independent have terms of their own.  Joint columns share theirs, and the split is along a way: with
f(x) = log p(x | a) − log p(x | b) and m = ½(μ_a + μ_b), the middle of the two means, column j adds

    (x_j − m_j) · ∫₀¹ ∂_j f(m + t(x − m)) dt = (x_j − m_j) · ∂_j f(½(x + m)),

f being quadratic.  A value in the middle adds nothing, a product of two columns is shared half and half, and the sum is
f(x) − f(m).  With one covariance for all, f(m) = 0 and column j adds (w_a − w_b)_j (x_j − m_j), w = Σ⁻¹μ.  With a
covariance for each class, f(m) is what remains: how wide the classes are.  Where values are missing, f is the density
of the columns that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core.family import Terms
from ...data.arrays import Array, Codes, Csr, NumberRows, block, csr, entries, is_sparse
from ..elementwise.scores import sparse_terms

if TYPE_CHECKING:
    from .scores import DiagonalScorer, GaussianScorer, Marginal, OwnScorer, SharedScorer

HALF_LOG_2PI = 0.5 * float(np.log(2 * np.pi))


def diagonal_terms(scorer: DiagonalScorer, X: NumberRows, a: Codes, b: Codes) -> Terms:
    """−½(x_j − μ_aj)²/σ²_aj − log σ_aj, less the same of b."""

    def cells(x: Array, c: Codes, j: NDArray[np.integer]) -> Array:
        z = (x - scorer.means[c, j]) * scorer.root[c, j]
        return np.asarray(-z * z - scorer.log_scale[c, j])

    if is_sparse(X):
        return sparse_terms(csr(X), a, b, cells)
    x = block(X, 0, X.shape[0]).astype(np.float64, copy=False)
    j = np.arange(x.shape[1])
    odds = cells(x, a[:, None], j) - cells(x, b[:, None], j)
    return Terms(np.where(x == x, odds, 0.0), np.zeros(len(x)))


def shared_terms(scorer: SharedScorer, X: NumberRows, a: Codes, b: Codes) -> Terms:
    """(w_a − w_b)_j (x_j − m_j); rows with missing values by the covariance of what is there."""
    joint = scorer.W.ndim == 2
    if is_sparse(X) and not (joint and np.isnan(X.data).any()):
        return _sparse_linear(scorer, csr(X), a, b)
    x = block(X, 0, X.shape[0]).astype(np.float64, copy=False)
    mean_a, mean_b = scorer.means[a], scorer.means[b]
    u = (x - mean_a) - 0.5 * (mean_b - mean_a)  # x − m by differences of near numbers, which are exact far from 0 too
    odds = (scorer.weights[a] - scorer.weights[b]) * u
    columns, rest = np.where(x == x, odds, 0.0), np.zeros(len(x))
    if joint:
        _fill_missing(scorer, x, a, b, columns, rest)
    return Terms(columns, rest)


def _sparse_linear(scorer: SharedScorer, X: Csr, a: Codes, b: Codes) -> Terms:
    """(w_a − w_b)_j x_j of the stored entries; the rest is −(w_a − w_b)·m."""
    ends, j, x = entries(X, 0, X.shape[0])
    row = np.repeat(np.arange(X.shape[0]), np.diff(ends))
    w, mean = scorer.weights, scorer.means
    slope = w[a[row], j] - w[b[row], j]
    middle = 0.5 * (mean[a[row], j] + mean[b[row], j])
    odds = slope * np.where(np.isnan(x), middle, x)  # without its share of the rest, a missing value would add that
    pairs, which = np.unique(np.stack([a, b]), axis=1, return_inverse=True)
    rest = -0.5 * ((w[pairs[0]] - w[pairs[1]]) * (mean[pairs[0]] + mean[pairs[1]])).sum(axis=1)
    return Terms(sparse.csr_array((odds, j, ends), shape=X.shape), rest[which.reshape(-1)])


def own_terms(scorer: OwnScorer, X: NumberRows, a: Codes, b: Codes) -> Terms:
    """Along the way from the middle of the two means to the row, for every pair of classes that occurs."""
    x = block(X, 0, X.shape[0]).astype(np.float64, copy=False)
    columns, rest = np.zeros(x.shape), np.zeros(len(x))
    whole = ~np.isnan(x).any(axis=1)
    for rows, c, d in _pairs(np.flatnonzero(whole), a, b):
        first = (scorer.means[c], scorer.W[c], float(scorer.start[c]))
        second = (scorer.means[d], scorer.W[d], float(scorer.start[d]))
        columns[rows], rest[rows] = along_the_way(x[rows], first, second)
    _fill_missing(scorer, x, a, b, columns, rest)
    return Terms(columns, rest)


Side = tuple[Array, Array, float]  # mean, whitening and log-density at the mean of one class


def along_the_way(x: Array, first: Side, second: Side) -> tuple[Array, float]:
    """The terms of rows x, and f(m).  # (n, p) → (n, p)"""
    (mean_a, W_a, start_a), (mean_b, W_b, start_b) = first, second
    d = 0.5 * (mean_b - mean_a)  # μ_a = m − d, μ_b = m + d
    u = (x - mean_a) - d  # x − m
    slope = -((0.5 * u + d) @ W_a.T) @ W_a + ((0.5 * u - d) @ W_b.T) @ W_b
    at_middle = start_a - start_b - 0.5 * float(((W_a @ d) ** 2).sum() - ((W_b @ d) ** 2).sum())
    return u * slope, at_middle


def _pairs(rows: NDArray[np.int64], a: Codes, b: Codes) -> list[tuple[NDArray[np.int64], int, int]]:
    """These rows by their pair of classes."""
    pair = a[rows].astype(np.int64) << 32 | b[rows]
    pairs, which = np.unique(pair, return_inverse=True)
    return [(rows[which == q], int(c) >> 32, int(c) & 0xFFFFFFFF) for q, c in enumerate(pairs)]


def _fill_missing(scorer: GaussianScorer, x: Array, a: Codes, b: Codes, columns: Array, rest: Array) -> None:
    """The terms of rows with missing values, pattern by pattern."""
    incomplete = np.flatnonzero(np.isnan(x).any(axis=1))
    patterns, which = np.unique(x[incomplete] == x[incomplete], axis=0, return_inverse=True)
    for q, there in enumerate(patterns):
        sides: dict[int, Side] = {}
        for rows, c, d in _pairs(incomplete[which.reshape(-1) == q], a, b):
            for code in (c, d):
                if code not in sides:
                    sides[code] = scorer.marginal.side(code, there)
            columns[np.ix_(rows, there)], rest[rows] = along_the_way(x[rows][:, there], sides[c], sides[d])


def side_of(marginal: Marginal, c: int, there: NDArray[np.bool_]) -> Side:
    """Mean, whitening and log-density at the mean of the columns that are there."""
    from ...kernels.missing import factor

    places = np.flatnonzero(there)
    o = len(places)
    L = np.zeros((o, o))
    log_det = factor(marginal.R[c if len(marginal.R) > 1 else 0], places, o, marginal.tolerance, L) if o else 0.0
    W, scale = np.zeros((o, o)), marginal.root[c, places]
    for j in range(o):
        if L[j, j] > 0.0:  # else a combination of the columns before it, which says nothing more
            W[j] = -L[j, :j] @ W[:j]
            W[j, j] += scale[j]
            W[j] /= L[j, j]
    says = np.diagonal(L) > 0.0
    start = -0.5 * log_det - float((HALF_LOG_2PI + marginal.log_scale[c, places][says]).sum())
    return marginal.means[c, places], W, start
