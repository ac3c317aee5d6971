"""Fitted models as pictures: regions and boundaries, class densities, ellipses and projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.arrays import Array, Cells
from ..data.column import BOOLEAN, INTEGER, Column
from ..data.errors import InputError
from ..data.frame import Frame, Template, read_frame
from ..estimators.base import GenerativeEstimator
from ..estimators.lda import LinearDiscriminantAnalysis
from ..families.gaussian.scores import GaussianScorer
from .style import Style, bare, own_axes, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 160  # of a grid, either way
MARGIN = 0.08  # beyond the rows, as a share of their range
MOST_POINTS = 2000  # rows drawn
CIRCLE = np.column_stack([f(np.linspace(0, 2 * np.pi, 181)) for f in (np.cos, np.sin)])
SHARES = (0.5, 0.95)  # of a class inside its ellipses


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
    pair = _chosen(frame, columns, 2)
    x, z = (frame.columns[name].numbers() for name in pair)
    ticks = [_ticks(frame.columns[name], POINTS) for name in pair]
    grid_x, grid_z = np.meshgrid(*ticks)
    P = np.asarray(model.predict_proba(_with_others(model, frame, pair, grid_x.ravel(), grid_z.ravel())))
    style = styles(list(model.classes_))
    best = P.argmax(axis=1).reshape(grid_x.shape)
    _regions(ax, grid_x, grid_z, best, P, [style[label] for label in model.classes_])
    if y is not None:
        _points(ax, x, z, np.asarray(y), style)
    if ellipses and isinstance(model, GenerativeEstimator) and _gaussian(model) is not None:
        class_ellipses(model, ax=ax, columns=pair)
    ax.set_xlim(ticks[0][0], ticks[0][-1])
    ax.set_ylim(ticks[1][0], ticks[1][-1])
    ax.set_xlabel(pair[0])
    ax.set_ylabel(pair[1])
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return bare(ax)


def class_ellipses(model: GenerativeEstimator, ax: Axes | None = None, columns: Sequence[str] | None = None) -> Axes:
    """Draw the ellipses that hold 50 % and 95 % of each class under a Gaussian model, and return the axes.

    Parameters
    ----------
    model : fitted GaussianNB, LDA, QDA or GDA
        Whose means and covariances are drawn.
    ax : matplotlib axes, optional
        Where to draw.
    columns : two names, optional
        Which columns; the first two by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import LDA, figures
    >>> ax = figures.class_ellipses(LDA().fit([[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 5.5]], [0, 0, 1, 1]))
    >>> len(ax.lines)
    6
    """
    ax = own_axes(ax)
    scorer = _gaussian(model)
    if scorer is None:
        raise InputError(
            f"class_ellipses: {type(model).__name__} has no covariances of numbers; use GaussianNB, LDA, QDA or GDA"
        )
    names = list(map(str, model._model.columns))
    places = [0, 1] if columns is None else [names.index(name) for name in columns]
    covariances = scorer.covariances()
    for k, (label, style) in enumerate(styles(list(model.classes_)).items()):
        cov = covariances[k][np.ix_(places, places)]
        values, vectors = np.linalg.eigh(cov)
        for share in SHARES:
            reach = np.sqrt(-2 * np.log1p(-share) * np.maximum(values, 0.0))
            ring = scorer.means[k, places] + (CIRCLE * reach) @ vectors.T
            ax.plot(*ring.T, color=style.colour, ls=style.line, lw=1.2)
        mean = scorer.means[k, places]
        ax.plot(*mean, marker=style.mark, color=style.colour, ms=9, mec="white", ls="", label=f"mean of {label}")
    return bare(ax)


def densities(
    model: GenerativeEstimator, X: Any, column: str | None = None, row: int | None = None, ax: Axes | None = None
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
    (name,) = _chosen(frame, None if column is None else [column], 1)
    x = frame.columns[name].numbers()
    ticks = _ticks(frame.columns[name], 401)
    rows = _with_others(model, frame, [name], ticks)
    with np.errstate(all="ignore"):
        joint, P = np.exp(model.predict_joint_log_proba(rows)), model.predict_proba(rows)
    right = ax.twinx()
    for k, (label, style) in enumerate(styles(list(model.classes_)).items()):
        ax.fill_between(ticks, joint[:, k], color=style.colour, alpha=0.18, lw=0)
        ax.plot(ticks, joint[:, k], color=style.colour, label=f"{label}", lw=1.6)
        right.plot(ticks, P[:, k], color=style.colour, ls=(0, (4, 2)), lw=1.1)
    if row is not None:
        ax.axvline(float(x[row]), color="black", lw=1, ls=":")
        shown = model.predict_proba(_with_others(model, frame, [name], x[[row]]))[0]
        sure = f"{model.classes_[int(shown.argmax())]}: {shown.max():.2f}"
        ax.annotate(f"row {row}: {x[row]:.4g}\n{sure}", (float(x[row]), 1.0), xycoords=("data", "axes fraction"),
                    xytext=(4, -4), textcoords="offset points", va="top", fontsize=8)  # fmt: skip
    ax.set_xlim(ticks[0], ticks[-1])
    ax.set_ylim(bottom=0.0)
    right.set_ylim(0.0, 1.02)
    right.set_ylabel("posterior (dashed)")
    ax.set_xlabel(name)
    ax.set_ylabel("density × class prior")
    ax.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=min(len(model.classes_), 5))
    ax.spines["top"].set_visible(False)
    right.spines["top"].set_visible(False)
    return ax


def projection(model: LinearDiscriminantAnalysis, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the rows in the directions that separate the classes most (LDA's transform), and return the axes.

    Parameters
    ----------
    model : fitted LinearDiscriminantAnalysis
        Whose directions are drawn.
    X : array-like or data frame of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their classes.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import LDA, figures
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 5.5]], [0, 0, 1, 1]
    >>> figures.projection(LDA().fit(X, y), X, y).get_xlabel()
    'direction 1 (100 % of the separation)'
    """
    ax = own_axes(ax)
    z = model.transform(X)
    share = model.explained_variance_ratio_
    labels, style = np.asarray(y), styles(list(model.classes_))
    ax.set_xlabel(f"direction 1 ({share[0]:.0%} of the separation)".replace("%", " %"))
    if z.shape[1] > 1:
        _points(ax, z[:, 0], z[:, 1], labels, style)
        ax.set_ylabel(f"direction 2 ({share[1]:.0%})".replace("%", " %"))
    else:
        bins = np.linspace(*_range(z[:, 0]), 31)
        for label, (colour, _, _) in style.items():
            ax.hist(z[labels == label, 0], bins.tolist(), color=colour, alpha=0.5, label=f"{label}")
        ax.set_ylabel("rows")
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return bare(ax)


# --- what they share


def _chosen(frame: Frame, columns: Sequence[str] | None, n: int) -> list[str]:
    numeric = [name for name, column in frame.columns.items() if column.kind() != "categorical"]
    chosen = list(columns) if columns is not None else numeric[:n]
    unknown = [name for name in chosen if name not in frame.columns]
    if unknown:
        raise InputError(f"there is no column {unknown[0]!r}; the columns are {list(frame.names)[:20]}")
    if len(chosen) != n:
        raise InputError(f"{n} columns of numbers are needed, found {len(chosen)}: {chosen[:5]}")
    words = [name for name in chosen if name not in numeric]
    if words:
        raise InputError(f"column {words[0]!r} holds categories; choose columns of numbers")
    return chosen


def _range(x: Array) -> tuple[float, float]:
    here = x[np.isfinite(x)]
    low, high = (float(here.min()), float(here.max())) if len(here) else (0.0, 1.0)
    room = MARGIN * (high - low) or 1.0
    return low - room, high + room


def _ticks(column: Column, n: int) -> Array:
    """Values over the range of a column that its family may take: integers for integers, positive where all are."""
    x = column.numbers()
    low, high = _range(x)
    least = float(np.nanmin(x, initial=np.inf))
    if column.kind() in (INTEGER, BOOLEAN):
        return np.unique(np.round(np.linspace(max(least, low), high, n)))
    return np.linspace(least / 2 if low <= 0 < least else low, high, n)


def _with_others(model: Any, frame: Frame, names: Sequence[str], *values: Array) -> Any:
    """Rows with these values, and the other columns missing, or at their means given these."""
    given = dict(zip(names, values, strict=True))
    ours = isinstance(model, GenerativeEstimator)
    out: dict[str, Cells] = {}
    for name, column in frame.columns.items():
        if name in given:
            out[name] = given[name]
        elif ours:
            words = column.kind() == "categorical"
            out[name] = np.full(len(values[0]), None if words else np.nan, dtype=object if words else np.float64)
        else:
            out[name] = _regressed(column.numbers(), [frame.columns[n].numbers() for n in names], values)
    if frame.like.form == "array":
        return np.column_stack([np.asarray(v, dtype=np.float64) for v in out.values()])
    return out if ours and not hasattr(model, "feature_names_in_") else Template(frame.like.form, {}).make(out)


def _regressed(target: Array, by: Sequence[Array], at: Sequence[Array]) -> Array:
    design = np.column_stack([np.ones(len(target)), *by])
    here = np.isfinite(design).all(axis=1) & np.isfinite(target)
    weights = np.linalg.lstsq(design[here], target[here], rcond=None)[0]
    return np.asarray(np.column_stack([np.ones(len(at[0])), *at]) @ weights)


def _regions(ax: Axes, x: Array, z: Array, best: Any, P: Array, style: Sequence[Style]) -> None:
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


def _points(ax: Axes, x: Array, z: Array, labels: Cells, style: dict[object, Style]) -> None:
    some = np.random.default_rng(0).permutation(len(x))[:MOST_POINTS]
    for label, (colour, mark, _) in style.items():
        here = some[labels[some] == label]
        ax.scatter(
            x[here], z[here], s=16, marker=mark, color=colour, alpha=0.7, lw=0.3, edgecolor="white", label=f"{label}"
        )


def _gaussian(model: GenerativeEstimator) -> GaussianScorer | None:
    """The means and covariances of a model that is normal in all its columns."""
    scorer = model._solved.scorer
    return scorer if isinstance(scorer, GaussianScorer) else None
