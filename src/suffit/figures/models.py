"""Fitted models over their columns, as pictures: regions with their boundaries, and class densities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.arrays import Array
from ..data.frame import read_frame
from ..estimators.base import GenerativeEstimator
from .classes import class_ellipses, gaussian, points
from .grids import chosen, ticks_of, with_others
from .style import TINY, Style, bare, beside, own_axes, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 160  # of a grid, either way
LINE_POINTS = 401  # of a column


def boundary(
    model: Any,
    X: Any,
    y: Any = None,
    columns: Sequence[str] | None = None,
    ax: Axes | None = None,
    ellipses: bool = True,
) -> Axes:
    """Draw the regions of the classes over two columns, contours of the posterior and the rows; return the axes.

    Of more columns than two, models of this library integrate the others out: their posterior is given these two alone.
    In models of other libraries the others are at their means given these two, by least squares.

    Parameters
    ----------
    model : fitted classifier
        With ``predict_proba``.
    X : data frame, dict of columns or array-like of shape (n_samples, n_features)
        Rows to draw, and whose range the axes have.
    y : array-like of shape (n_samples,), optional
        Their classes.
    columns : two names, optional
        Which columns; the first two by default (x0, x1, … in an array).
    ax : matplotlib axes, optional
        Where to draw.
    ellipses : bool
        Whether to draw the ellipses that hold 50 % and 95 % of a class, where the model has them.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import QDA, figures, simulate
    >>> X, y = simulate("own covariances").sample(100, random_state=0)
    >>> figures.boundary(QDA().fit(X, y), X, y).get_ylabel()
    'x1'
    """
    ax = own_axes(ax)
    frame = read_frame(X)
    pair = chosen(frame, columns, 2)
    x, z = (frame.columns[name].numbers() for name in pair)
    ticks = [ticks_of(frame.columns[name], POINTS) for name in pair]
    grid_x, grid_z = np.meshgrid(*ticks)
    P = np.asarray(model.predict_proba(with_others(model, frame, pair, grid_x.ravel(), grid_z.ravel())))
    style = styles(list(model.classes_))
    best = P.argmax(axis=1).reshape(grid_x.shape)
    _regions(ax, grid_x, grid_z, best, P, [style[label] for label in model.classes_])
    if y is not None:
        points(ax, x, z, np.asarray(y), style)
    if ellipses and isinstance(model, GenerativeEstimator) and gaussian(model) is not None:
        class_ellipses(model, pair, ax)
    ax.set_xlim(ticks[0][0], ticks[0][-1])
    ax.set_ylim(ticks[1][0], ticks[1][-1])
    ax.set_xlabel(pair[0])
    ax.set_ylabel(pair[1])
    beside(ax)
    return bare(ax)


def densities(
    model: GenerativeEstimator, X: object, column: str | None = None, row: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draw p(x, class) of one column for every class, and the posterior over it; return the axes.

    Parameters
    ----------
    model : fitted estimator of this library
        Other columns are integrated out.
    X : data frame, dict of columns or array-like of shape (n_samples, n_features)
        Rows whose range the axis has.
    column : str, optional
        Which column of numbers; the first by default.
    row : int, optional
        A row of X whose value is marked.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes
        The posterior has an axis of its own at the right.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import LDA, figures, simulate
    >>> X, y = simulate("gaussian", columns=1).sample(60, random_state=0)
    >>> figures.densities(LDA().fit(X, y), X, row=3).get_ylabel()
    'density × class prior'
    """
    ax = own_axes(ax)
    frame = read_frame(X)
    (name,) = chosen(frame, None if column is None else [column], 1)
    x = frame.columns[name].numbers()
    ticks = ticks_of(frame.columns[name], LINE_POINTS)
    rows = with_others(model, frame, [name], ticks)
    with np.errstate(all="ignore"):
        joint, P = np.exp(model.predict_joint_log_proba(rows)), model.predict_proba(rows)
    right = ax.twinx()
    for k, (label, style) in enumerate(styles(list(model.classes_)).items()):
        ax.fill_between(ticks, joint[:, k], color=style.colour, alpha=0.18, lw=0)
        ax.plot(ticks, joint[:, k], color=style.colour, ls=style.line, label=f"{label}", lw=1.6)
        right.plot(ticks, P[:, k], color=style.colour, marker=style.mark, ms=4, markevery=0.1, lw=0.8)
    if row is not None:
        ax.axvline(float(x[row]), color="black", lw=1, ls=":")
        shown = model.predict_proba(with_others(model, frame, [name], x[[row]]))[0]
        sure = f"{model.classes_[int(shown.argmax())]}: {shown.max():.2f}"
        right.annotate(f"row {row}: {x[row]:.4g}\n{sure}", (float(x[row]), 1.0), xycoords=("data", "axes fraction"),
                    xytext=(4, -4), textcoords="offset points", va="top", fontsize=TINY,
                    bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1})  # fmt: skip
    ax.set_xlim(ticks[0], ticks[-1])
    ax.set_ylim(bottom=0.0)
    right.set_ylim(0.0, 1.02)
    right.set_ylabel("posterior (thin, with marks)")
    ax.set_xlabel(name)
    ax.set_ylabel("density × class prior")
    ax.legend(
        frameon=False, fontsize=TINY, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(len(model.classes_), 5)
    )
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    return ax


def _regions(ax: Axes, x: Array, z: Array, best: object, P: Array, style: Sequence[Style]) -> None:
    """The class of every point as a colour, and how sure as lines."""
    K = P.shape[1]
    levels = np.arange(K + 1) - 0.5
    if K > 1:
        ax.contourf(x, z, best, levels=levels, colors=[s.colour for s in style], alpha=0.14)
    for k in range(K if K > 2 else min(K - 1, 1)):
        shares = P[:, k + (K == 2)].reshape(x.shape)
        lines = [0.5] if K > 2 else [0.1, 0.5, 0.9]
        if shares.min() < 0.5 < shares.max():
            widths, dashes = [1.4 if v == 0.5 else 0.7 for v in lines], ["-" if v == 0.5 else "--" for v in lines]
            drawn = ax.contour(x, z, shares, levels=lines, colors="black", linewidths=widths, linestyles=dashes)
            if K == 2:
                ax.clabel(drawn, fmt="%.1f", fontsize=7)
