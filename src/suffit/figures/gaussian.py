"""The normal density of two columns: as a surface, and as contours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.arrays import Array
from ..data.errors import InputError
from ..explain.density import normal_logpdf
from .style import bare, own_axes, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 121  # of a grid, either way
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)  # of the probability inside each contour


def gaussian_surface(mean: ArrayLike = (0.0, 0.0), cov: ArrayLike = 1.0, ax: Any = None, span: float = 3.0) -> Any:
    """Draw the density of two normal columns as a surface, and return the axes.

    Parameters
    ----------
    mean : array-like of shape (2,)
        The mean.
    cov : float or array-like of shape (2,) or (2, 2)
        The covariance: a number, two variances, or a matrix.
    ax : matplotlib 3-D axes, optional
        Where to draw.
    span : float
        How far the axes reach on either side of 0.

    Returns
    -------
    matplotlib 3-D axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import figures
    >>> figures.gaussian_surface(cov=[[1, 0.8], [0.8, 1]]).get_zlabel()
    'density'
    """
    if ax is None:
        ax = pyplot().figure(figsize=(6, 4.6), layout="constrained").add_subplot(projection="3d")
    x, y, density = _grid(mean, cov, span)
    ax.plot_surface(x, y, density, cmap="viridis", rstride=3, cstride=3, lw=0.1, edgecolor="#00000030")
    ax.contour(x, y, density, zdir="z", offset=0.0, cmap="viridis", linewidths=0.6)
    ax.set_xlabel("x₁")
    ax.set_ylabel("x₂")
    ax.set_zlabel("density")
    return ax


def gaussian_contours(
    mean: ArrayLike = (0.0, 0.0), cov: ArrayLike = 1.0, ax: Axes | None = None, span: float = 3.0
) -> Axes:
    """Draw the density of two normal columns as contours, with the share that lies inside, and return the axes.

    Parameters
    ----------
    mean : array-like of shape (2,)
        The mean.
    cov : float or array-like of shape (2,) or (2, 2)
        The covariance: a number, two variances, or a matrix.
    ax : matplotlib axes, optional
        Where to draw.
    span : float
        How far the axes reach on either side of 0.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import figures
    >>> figures.gaussian_contours(mean=(1, 0)).get_xlabel()
    'x₁'
    """
    ax = own_axes(ax)
    x, y, density = _grid(mean, cov, span)
    peak = np.exp(normal_logpdf([np.asarray(mean, dtype=float)], mean, cov))[0]
    levels = sorted(peak * (1 - s) for s in SHARES)  # in two dimensions a share s lies above peak·(1 − s)
    darker = [str(grey) for grey in np.linspace(0.55, 0.0, len(levels))]  # towards the middle
    drawn = ax.contour(x, y, density, levels=levels, colors=darker, linewidths=1.2)
    names = {level: f"{1 - level / peak:.0%}" for level in drawn.levels}
    ax.clabel(drawn, fmt=names, fontsize=7)
    ax.plot(*np.asarray(mean, dtype=float), "+", color="black", ms=8)
    ax.set_aspect("equal")
    ax.set_xlabel("x₁")
    ax.set_ylabel("x₂")
    return bare(ax)


def _grid(mean: ArrayLike, cov: ArrayLike, span: float) -> tuple[Array, Array, Array]:
    if np.shape(mean) != (2,):
        raise InputError(f"mean has shape {np.shape(mean)}; a density of two columns needs two numbers")
    sigma = np.asarray(cov, dtype=np.float64)
    sigma = np.diag(np.broadcast_to(sigma, (2,))) if sigma.ndim < 2 else sigma
    ticks = np.linspace(-span, span, POINTS)
    x, y = np.meshgrid(ticks, ticks)
    rows = np.column_stack([x.ravel(), y.ravel()])
    return x, y, np.exp(normal_logpdf(rows, mean, sigma)).reshape(x.shape)
