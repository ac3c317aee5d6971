"""Fitted models over their columns, as pictures: regions with their boundaries, and class densities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.arrays import Array
from ..data.frame import read_frame
from ..estimators.base import GenerativeEstimator
from .classes import class_ellipses, gaussian, points, rings
from .grids import chosen, ticks_of, with_others
from .style import TINY, Style, bare, beside, own_axes, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 160  # of a grid, either way
LINE_POINTS = 401  # of a column
ROOM = 1.12  # of a picture in which a row is named, where 1 is the highest curve
LINES = tuple(i / 10 for i in range(1, 10))  # posteriors; of these 0.1, 0.5 and 0.9 where there is 0.5


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
    inside = ellipses and isinstance(model, GenerativeEstimator) and gaussian(model) is not None
    seen = rings(model, pair) if inside else np.empty((0, 2))
    ticks = [ticks_of(frame.columns[name], POINTS, seen[..., i].ravel()) for i, name in enumerate(pair)]
    grid_x, grid_z = np.meshgrid(*ticks)
    P = np.asarray(model.predict_proba(with_others(model, frame, pair, grid_x.ravel(), grid_z.ravel())))
    style = styles(list(model.classes_))
    best = P.argmax(axis=1).reshape(grid_x.shape)
    if y is not None:
        points(ax, x, z, np.asarray(y), style)
    if inside:
        class_ellipses(model, pair, ax)
    _regions(ax, grid_x, grid_z, best, P, style)
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
    room = 1.02 if row is None else ROOM  # over the curves
    if row is not None:
        ax.axvline(float(x[row]), color="black", lw=1, ls=":")
        shown = model.predict_proba(with_others(model, frame, [name], x[[row]]))[0]
        said = f"row {row}: {x[row]:.4g}, {model.classes_[int(shown.argmax())]}: {shown.max():.2f}"
        at, side = float(x[row]), "left" if x[row] < (ticks[0] + ticks[-1]) / 2 else "right"
        right.annotate(said, (at, 1.0), xycoords=("data", "axes fraction"), xytext=(4 if side == "left" else -4, -2),
                       textcoords="offset points", ha=side, va="top", fontsize=TINY)  # fmt: skip
    ax.set_xlim(ticks[0], ticks[-1])
    ax.set_ylim(0.0, room * joint[np.isfinite(joint)].max(initial=0.0) or None)
    right.set_ylim(0.0, room)
    right.set_yticks(np.arange(6) / 5)
    right.set_ylabel("posterior (thin, with marks)")
    ax.set_xlabel(name)
    ax.set_ylabel("density × class prior")
    ax.legend(
        frameon=False, fontsize=TINY, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(len(model.classes_), 5)
    )
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    return ax


def _regions(ax: Axes, x: Array, z: Array, best: object, P: Array, style: dict[object, Style]) -> None:
    """The class of every point as a colour, and how sure as lines."""
    K = P.shape[1]
    if K > 1:
        ax.contourf(x, z, best, levels=np.arange(K + 1) - 0.5, colors=[s.colour for s in style.values()], alpha=0.14)
    for k in range(K) if K > 2 else range(1, K):
        shares = P[:, k].reshape(x.shape)
        half = shares.min() < 0.5 < shares.max()
        lines = [v for v in LINES if shares.min() < v < shares.max() and (v in (0.1, 0.5, 0.9) or not half)]
        lines = lines if K == 2 else [0.5] * int(half)
        if lines:
            widths, dashes = [1.4 if v == 0.5 else 0.7 for v in lines], ["-" if v == 0.5 else "--" for v in lines]
            drawn = ax.contour(x, z, shares, levels=lines, colors="black", linewidths=widths, linestyles=dashes)
            if K == 2:  # a number in the middle of the longest line of each, where nothing cuts it
                longest = [max(of_level, key=len) for of_level in drawn.allsegs]
                ax.clabel(drawn, fmt="%.1f", fontsize=7, manual=[tuple(line[len(line) // 2]) for line in longest])
    if K > 1:
        ax.plot([], [], color="black", lw=1.4, label=f"p({list(style)[1]})" if K == 2 else "a posterior of ½")
