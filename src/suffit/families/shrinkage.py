"""How much to shrink a covariance: Ledoit–Wolf and OAS, from sums alone.

Both work on standardised columns, so that the answer does not depend on units.  Ledoit–Wolf needs fourth moments;
they are sums too, and shift with the origin.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..stats import Array
from ..table import InputError


def shrink_to_identity(cov: Array, s: float) -> Array:
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


def ledoit_wolf_amount(R: Array, fourth: float, n: float) -> float:
    """Ledoit & Wolf (2004): β/δ, R the covariance of the columns, fourth = Σ_i ‖x_i‖⁴."""
    p = len(R)
    if p == 1:
        return 0.0
    mu = np.trace(R) / p
    squares = float((R**2).sum())
    beta = (fourth / n - squares) / (n * p)
    delta = (squares - p * mu**2) / p
    beta = min(beta, delta)
    return 0.0 if beta <= 0 else beta / delta


def oas_amount(R: Array, n: float) -> float:
    """Chen, Wiesel, Eldar & Hero (2010): the oracle-approximating amount for a Gaussian sample."""
    p = len(R)
    if p == 1:
        return 0.0
    alpha = float((R**2).mean())
    mu2 = (np.trace(R) / p) ** 2
    den = (n + 1) * (alpha - mu2 / p)
    return 1.0 if den == 0 else min((alpha + mu2) / den, 1.0)


def class_shrinkage(how: str, sums: Mapping[str, Array], c: int, S: Array, n: float, shift: Array) -> Array:
    """The scatter of one class, shrunk towards its diagonal by the amount its own sums call for."""
    if n <= 0:
        return S
    scale = np.sqrt(np.diagonal(S) / n)
    scale = np.where(scale > 0, scale, 1.0)
    R = S / n / scale[:, None] / scale
    if how == "oas":
        amount = oas_amount(R, n)
    else:
        one = {k: sums[k][c : c + 1] for k in ("n", "x", "xx", "xxy", "xxyy")}
        about_mean = shift_fourth(one, -shift[None])["xxyy"][0]
        fourth = float((about_mean / scale[:, None] ** 2 / scale**2).sum())
        if fourth < 0.5 * n * np.trace(R) ** 2:  # below what Cauchy's inequality allows: the sums have underflowed
            raise InputError("values so small that their fourth powers underflow; rescale the columns")
        amount = ledoit_wolf_amount(R, fourth, n)
    return np.asarray(n * shrink_to_identity(R, amount) * scale[:, None] * scale)
