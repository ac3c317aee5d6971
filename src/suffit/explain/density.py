"""The normal log-density, for people: any symmetric positive semi-definite Σ, checked and evaluated stably."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..data.arrays import Array
from ..data.errors import InputError
from ..families.gaussian.scores import LOG_2PI

_SYMMETRY = 1e-10  # relative difference of Σ_ij and Σ_ji that is put down to rounding
_RANK = 1e-10  # eigenvalues (of the correlations) below this share of the largest count as 0


def normal_logpdf(x: ArrayLike, mean: ArrayLike = 0.0, cov: ArrayLike = 1.0) -> Array:
    """Return log N(x; mean, Σ) of every row of x, by a Cholesky factor: no inverse or determinant that could overflow.

    A singular Σ has its density on the plane it spans; points off the plane have density 0.

    Parameters
    ----------
    x : array-like of shape (n,) or (n, p)
        The rows.
    mean : float or array-like of shape (p,), default 0
        The mean.
    cov : float or array-like of shape (p,) or (p, p), default 1
        Σ: a number (one column, or the same variance for all), a vector of variances, or a matrix, which must be
        symmetric and positive semi-definite.

    Returns
    -------
    ndarray of shape (n,)
        The log-densities.

    Examples
    --------
    >>> normal_logpdf([[0.0, 0.0], [1.0, 1.0]], [0, 0], [[1, 0.5], [0.5, 1]]).round(4)
    array([-1.694 , -2.3607])
    >>> normal_logpdf([0.0], cov=[[1, 0.2], [0.3, 1]])
    Traceback (most recent call last):
    suffit.InputError: cov is not symmetric: cov[0, 1] = 0.2 but cov[1, 0] = 0.3; ...
    """
    sigma = np.asarray(cov, dtype=np.float64)
    points = np.asarray(x, dtype=np.float64)
    p = sigma.shape[-1] if sigma.ndim else (points.shape[-1] if points.ndim == 2 else max(np.size(mean), 1))
    sigma = _matrix(sigma, p)
    if points.ndim > 2 or (points.shape[-1:] != (p,) and p > 1):
        raise InputError(f"x has shape {points.shape}, but mean and cov have {p} columns; give x as (rows, {p})")
    rows = points.reshape(-1, p)
    z = rows - np.broadcast_to(np.asarray(mean, dtype=np.float64), (p,))
    scale = np.sqrt(np.diagonal(sigma))
    keep = scale > 0
    R = (sigma / np.where(keep, scale, 1.0)[:, None] / np.where(keep, scale, 1.0))[np.ix_(keep, keep)]
    values, vectors = np.linalg.eigh(R)
    if values.min(initial=0.0) < -_RANK * max(values.max(initial=0.0), 1.0) or (np.abs(sigma[~keep]) > 0).any():
        raise InputError(
            f"cov is not positive semi-definite: an eigenvalue of its correlations is {values.min(initial=0.0):.3g}; "
            "use a covariance matrix, or shrink it towards its diagonal"
        )
    real = values > _RANK * values.max(initial=0.0)
    u = z[:, keep] / scale[keep]
    off = (np.abs(z[:, ~keep]) > 0).any(axis=1)
    if real.all():
        L = np.linalg.cholesky(R)
        white = np.linalg.solve(L, u.T).T
        log_det = 2 * np.log(np.diagonal(L)).sum()
    else:
        white = u @ vectors[:, real] / np.sqrt(values[real])
        left = u @ vectors[:, ~real]
        off |= (np.abs(left) > 1e-6 * np.maximum(np.abs(u).max(axis=1, initial=0.0), 1.0)[:, None]).any(axis=1)
        log_det = _log_pseudo_determinant(sigma)
        return np.where(off, -np.inf, -0.5 * ((white**2).sum(axis=1) + log_det + int(real.sum()) * LOG_2PI))
    log_det += 2 * np.log(scale[keep]).sum()
    return np.where(off, -np.inf, -0.5 * ((white**2).sum(axis=1) + log_det + int(keep.sum()) * LOG_2PI))


def _log_pseudo_determinant(sigma: Array) -> float:
    """The log of the product of the eigenvalues that are not 0."""
    values = np.linalg.eigvalsh(sigma)
    return float(np.log(values[values > _RANK * values.max()]).sum())


def _matrix(sigma: Array, p: int) -> Array:
    """Σ as a (p, p) matrix, refused where it is none or not symmetric."""
    if sigma.ndim < 2:
        if not (sigma >= 0).all():
            raise InputError(
                f"cov is not positive semi-definite: found variance {sigma.min():g}; variances must be 0 or more"
            )
        return np.diag(np.broadcast_to(sigma, (p,)))
    if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1]:
        raise InputError(f"cov must be a number, a vector of variances or a square matrix, got shape {sigma.shape}")
    if not np.isfinite(sigma).all():
        i, j = (int(v) for v in np.argwhere(~np.isfinite(sigma))[0])
        raise InputError(f"cov[{i}, {j}] is {sigma[i, j]}; covariances must be finite")
    gap = np.abs(sigma - sigma.T)
    size = np.sqrt(np.outer(np.abs(np.diagonal(sigma)), np.abs(np.diagonal(sigma))))
    if (gap > _SYMMETRY * np.maximum(size, np.abs(sigma))).any():
        i, j = (int(v) for v in np.argwhere(gap == gap.max())[0])
        raise InputError(
            f"cov is not symmetric: cov[{i}, {j}] = {sigma[i, j]:g} but cov[{j}, {i}] = {sigma[j, i]:g}; "
            "use (cov + cov.T) / 2 if the difference is rounding"
        )
    if (np.diagonal(sigma) < 0).any():
        j = int(np.argmin(np.diagonal(sigma)))
        raise InputError(f"cov is not positive semi-definite: variance cov[{j}, {j}] = {sigma[j, j]:g} is negative")
    return sigma
