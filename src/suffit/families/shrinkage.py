"""How much to shrink a covariance: Ledoit–Wolf and OAS, from sums alone.

Both work on standardised columns, so that the answer does not depend on units.  Ledoit–Wolf needs fourth moments;
they are sums too, and shift with the origin.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..stats import Array
from ..table import InputError


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
    n, x, xx, xxy, xxyy = (sums[k] for k in ("n", "x", "xx", "xxy", "xxyy"))
    n = n[:, None, None]
    dj, dk = d[:, :, None], d[:, None, :]
    xj, xk = x[:, :, None], x[:, None, :]
    jj = np.einsum("cii->ci", xx)[:, :, None]
    kk = jj.transpose(0, 2, 1)
    third = xxy + dk * jj + 2 * dj * xx + 2 * dj * dk * xj + dj**2 * xk + n * dj**2 * dk
    fourth = (
        xxyy
        + 2 * dk * xxy
        + 2 * dj * xxy.transpose(0, 2, 1)
        + dk**2 * jj
        + dj**2 * kk
        + 4 * dj * dk * xx
        + 2 * dj * dk**2 * xj
        + 2 * dj**2 * dk * xk
        + n * dj**2 * dk**2
    )
    return {"xxy": third, "xxyy": fourth}


def ledoit_wolf_amount(R: Array, fourth: Array, n: Array) -> Array:
    """Ledoit & Wolf (2004): β/δ, R the covariance of the columns, fourth = Σ_i ‖x_i‖⁴.  # (…, p, p), (…) → (…)"""
    p = R.shape[-1]
    mu = np.trace(R, axis1=-2, axis2=-1) / p
    squares = (R**2).sum(axis=(-2, -1))
    delta = (squares - p * mu**2) / p
    beta = np.minimum((fourth / n - squares) / (n * p), delta)
    return np.divide(beta, delta, out=np.zeros_like(beta), where=(beta > 0) & (p > 1))


def oas_amount(R: Array, n: Array) -> Array:
    """Chen, Wiesel, Eldar & Hero (2010): the oracle-approximating amount for a Gaussian sample.  # → (…)"""
    p = R.shape[-1]
    alpha = (R**2).mean(axis=(-2, -1))
    mu2 = (np.trace(R, axis1=-2, axis2=-1) / p) ** 2
    den = (n + 1) * (alpha - mu2 / p)
    amount = np.minimum(np.divide(alpha + mu2, den, out=np.ones_like(den), where=den != 0), 1.0)
    return amount if p > 1 else np.zeros_like(amount)


def class_shrinkage(how: str, sums: Mapping[str, Array], S: Array, shift: Array) -> Array:
    """Scatters, each shrunk towards its diagonal by the amount its own sums call for.  # (classes, p, p)"""
    n = np.maximum(sums["n"], np.finfo(float).tiny)
    scale = np.sqrt(np.einsum("cii->ci", S) / n[:, None])
    scale = np.where(scale > 0, scale, 1.0)
    both = scale[:, :, None] * scale[:, None, :]
    R = S / n[:, None, None] / both
    if how == "oas":
        amount = oas_amount(R, n)
    else:
        about_mean = shift_fourth(sums, -shift)["xxyy"]
        fourth = (about_mean / both / both).sum(axis=(-2, -1))  # both² may underflow
        small = fourth < 0.5 * n * np.trace(R, axis1=-2, axis2=-1) ** 2
        if (small & (sums["n"] > 0)).any():  # below what Cauchy's inequality allows: the sums have underflowed
            raise InputError("values so small that their fourth powers underflow; rescale the columns")
        amount = ledoit_wolf_amount(R, fourth, n)
    shrunk = n[:, None, None] * shrink_to_identity(R, amount[:, None, None]) * both
    return np.where(sums["n"][:, None, None] > 0, shrunk, S)
