"""How much to shrink a covariance: Ledoit–Wolf and OAS, from sums alone.

Both work on standardised columns, so that the answer does not depend on units.  Ledoit–Wolf needs fourth moments;
they are sums too, and shift with the origin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...core.stats import ROUNDING
from ...data.arrays import Array
from ...data.errors import InputError

ALIKE = 1e-9  # share of the fourth powers of rows: where their squares vary less, rounding is all between them


def shrink_to_identity(cov: Array, s: float | Array) -> Array:
    """(1 − s) Σ + s (tr Σ / p) I."""
    p = cov.shape[-1]
    mean = np.trace(cov, axis1=-2, axis2=-1)[..., None, None] / p
    return np.asarray((1 - s) * cov + s * mean * np.eye(p))


def shrink_to_diagonal(cov: Array, s: float) -> Array:
    """(1 − s) Σ + s diag Σ."""
    return np.asarray((1 - s) * cov + s * cov * np.eye(cov.shape[-1]))


def shift_fourth(sums: Mapping[str, Array], d: Array) -> dict[str, Array]:
    """Σ(z_j+d_j)²(z_k+d_k) and Σ(z_j+d_j)²(z_k+d_k)² from the moments of z; d of shape (class, feature)."""
    n, x, xx, xxy = (sums[k] for k in ("n", "x", "xx", "xxy"))
    n = n[:, None, None]
    dj, dk = d[:, :, None], d[:, None, :]
    xj, xk = x[:, :, None], x[:, None, :]
    jj = np.einsum("cii->ci", xx)[:, :, None]
    third = xxy + dk * jj + 2 * dj * xx + 2 * dj * dk * xj + dj**2 * xk + n * dj**2 * dk
    return {"xxy": third, "xxyy": fourth_about(sums, -d)}


def fourth_about(sums: Mapping[str, Array], m: Array) -> Array:
    """Σ(z_j−m_j)²(z_k−m_k)² from the moments of z: half of its terms, and the other half is their transpose."""
    n, x, xx, xxy, xxyy = (sums[k] for k in ("n", "x", "xx", "xxy", "xxyy"))
    jj, mm = np.einsum("cii->ci", xx), m * m
    half = xxy * (-2 * m)[:, None, :]
    half += (jj - 2 * m * x + 0.5 * n[:, None] * mm)[:, :, None] * mm[:, None, :]
    half += (2 * m)[:, :, None] * m[:, None, :] * xx
    return np.asarray(xxyy + half + half.transpose(0, 2, 1))


def ledoit_wolf_amount(R: Array, fourth: Array, n: Array, alike: float | Array = ALIKE) -> Array:
    """Ledoit & Wolf (2004): β/δ, R the covariance of the columns, fourth = Σ_i ‖x_i‖⁴.  # (…, p, p), (…) → (…)"""
    p = R.shape[-1]
    mu = np.trace(R, axis1=-2, axis2=-1) / p
    squares = (R**2).sum(axis=(-2, -1))
    delta = (squares - p * mu**2) / p
    varied = fourth / n - squares  # how much the squares of rows vary: of two rows, not at all
    beta = np.minimum(np.where(varied > alike * fourth / n, varied, 0.0) / (n * p), delta)
    return np.divide(beta, delta, out=np.zeros_like(beta), where=(beta > 0) & (p > 1))


def oas_amount(R: Array, n: Array) -> Array:
    """Chen, Wiesel, Eldar & Hero (2010): the oracle-approximating amount for a Gaussian sample.  # → (…)"""
    p = R.shape[-1]
    alpha = (R**2).mean(axis=(-2, -1))
    mu2 = (np.trace(R, axis1=-2, axis2=-1) / p) ** 2
    den = (n + 1) * (alpha - mu2 / p)
    amount = np.minimum(np.divide(alpha + mu2, den, out=np.ones_like(den), where=den != 0), 1.0)
    return amount if p > 1 else np.zeros_like(amount)


def fourth_norms(sums: Mapping[str, Array], m: Array, w: Array) -> Array:
    """Σ_i (Σ_j w_j (z_ij − m_j)²)² of the rows of each class, for several m and w.  # (c, r, p) → (c, r)

    The fourth moments about m without making them: wᵀFw, F as in :func:`fourth_about`.
    """
    n, x, xx, xxy, xxyy = (sums[k] for k in ("n", "x", "xx", "xxy", "xxyy"))
    n, x, jj, wm = n[:, None, None], x[:, None], np.einsum("cii->ci", xx)[:, None], w * m
    half = ((jj - 2 * m * x + 0.5 * n * m * m) * w).sum(axis=-1) * (wm * m).sum(axis=-1)
    half += 2 * ((wm @ xx) * wm - (w @ xxy) * wm).sum(axis=-1)
    return np.asarray(((w @ xxyy) * w).sum(axis=-1) + 2 * half)


def class_shrinkage(how: str, sums: Mapping[str, Array], S: Array, shift: Array, noise: Array | None = None) -> Array:
    """Scatters, each shrunk towards its diagonal by the amount its own sums call for.  # (classes, p, p)

    ``noise`` is that of the sums: the fourth powers are known to a share of its squares.
    """
    alike: float | Array = ALIKE
    if noise is not None:
        squares = np.einsum("cii->ci", S)
        share = np.divide(noise, squares, out=np.zeros_like(squares), where=squares > 0).max(axis=1, initial=0.0)
        alike = np.maximum(ALIKE, ROUNDING * sums["n"] * share**2)
    return shrunk(how, sums["n"], S, lambda w: fourth_norms(sums, shift[:, None], w[:, None])[:, 0], alike)


def shrunk(how: str, count: Array, S: Array, fourth: Callable[[Array], Array], alike: float | Array = ALIKE) -> Array:
    """The same, from counts, scatters about the means, and Σ (Σ_j w_j z_j²)² of columns about them with weights w.

    A column that does not vary in a class has no scale to shrink towards, and stays without variance.
    """
    n = np.maximum(count, np.finfo(float).tiny)
    spread = np.sqrt(np.einsum("cii->ci", S) / n[:, None])
    scale = np.where(spread > 0, spread, 1.0)
    R = S / n[:, None, None] / (scale[:, :, None] * scale[:, None, :])
    if how == "oas":
        amount = oas_amount(R, n)
    else:
        with np.errstate(all="ignore"):
            norms = fourth(1 / scale**2)
        possible = norms >= 0.5 * n * np.trace(R, axis1=-2, axis2=-1) ** 2
        if (~possible & (count > 0)).any():  # below what Cauchy's inequality allows: the sums have underflowed
            raise InputError("values are so small that their fourth powers underflow; rescale the columns")
        amount = ledoit_wolf_amount(R, norms, n, alike)
    both = n[:, None, None] * spread[:, :, None] * spread[:, None, :]
    return np.where(count[:, None, None] > 0, shrink_to_identity(R, amount[:, None, None]) * both, S)
