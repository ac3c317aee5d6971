"""The classes of a model as pictures: ellipses, covariances, and the directions that separate them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array, Cells
from ..data.errors import InputError
from ..estimators.base import GenerativeEstimator
from ..estimators.lda import LinearDiscriminantAnalysis
from ..families.gaussian.scores import GaussianScorer
from .grids import range_of
from .style import Style, bare, beside, own_axes, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 2000  # rows drawn
CIRCLE = np.column_stack([f(np.linspace(0, 2 * np.pi, 181)) for f in (np.cos, np.sin)])
SHARES = (0.5, 0.95)  # of a class inside its ellipses
WRITTEN = 8  # columns up to which every covariance is written
GAP = 0.6  # between the squares of two classes, in cells


def class_ellipses(model: GenerativeEstimator, columns: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the ellipses that hold 50 % and 95 % of each class under a Gaussian model, and return the axes.

    Parameters
    ----------
    model : fitted GaussianNB, LDA, QDA or GDA
        Whose means and covariances are drawn.
    columns : two names, optional
        Which columns; the first two by default.
    ax : matplotlib axes, optional
        Where to draw.

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
    scorer, places, names = _gaussian_columns("class_ellipses", model, columns)
    if len(places) < 2 or (columns is not None and len(places) != 2):
        raise InputError(f"class_ellipses: ellipses need two columns, found {len(places)}")
    each = zip(styles(list(model.classes_)).items(), rings(model, names[:2]), scorer.means[:, places[:2]], strict=True)
    for (label, style), of_class, mean in each:
        for ring in of_class:
            ax.plot(*ring.T, color=style.colour, ls=style.line, lw=1.2)
        ax.plot(*mean, marker=style.mark, color=style.colour, ms=9, mec="white", ls="", label=f"mean of {label}")
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    beside(ax)
    return bare(ax)


def rings(model: GenerativeEstimator, columns: Sequence[str]) -> Array:
    """The ellipses over two columns that hold 50 % and 95 % of each class.  # → (K, shares, points, 2)"""
    scorer, places, _ = _gaussian_columns("class_ellipses", model, columns)
    values, vectors = np.linalg.eigh(scorer.covariances()[:, places[:, None], places])
    reach = np.sqrt(-2 * np.log1p(-np.array(SHARES))[:, None] * np.maximum(values, 0.0)[:, None])  # (K, shares, 2)
    return scorer.means[:, None, None, places] + np.einsum("td,ksd,ked->kste", CIRCLE, reach, vectors)


def covariances(
    model: GenerativeEstimator, columns: Sequence[str] | None = None, correlations: bool = True, ax: Axes | None = None
) -> Axes:
    """Draw the correlations (or covariances) of the columns within each class, and return the axes.

    A square for each class, side by side; one for all where they share it.

    Parameters
    ----------
    model : fitted GaussianNB, LDA, QDA or GDA
        Whose covariances are drawn.
    columns : sequence of str, optional
        Which columns; all by default.
    correlations : bool
        Whether covariances are divided by the standard deviations.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import LDA, figures
    >>> model = LDA().fit([[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 5.5]], [0, 0, 1, 1])
    >>> [text.get_text() for text in figures.covariances(model).texts]
    ['1', '-0.32', '-0.32', '1', 'all classes']
    """
    scorer, places, names = _gaussian_columns("covariances", model, columns)
    matrices = scorer.covariances()[:, places[:, None], places]
    labels = [str(c) for c in model.classes_]
    if np.ptp(matrices, axis=0).max() <= 1e-12 * np.abs(matrices).max():
        matrices, labels = matrices[:1], ["all classes"]
    if correlations:
        scale = np.sqrt(np.einsum("kjj->kj", matrices))
        matrices = matrices / np.where(scale > 0, scale, 1.0)[:, :, None] / np.where(scale > 0, scale, 1.0)[:, None, :]
    p = len(names)
    ax = own_axes(ax, (2.2 + len(labels) * max(0.55 * p, 1.6), 1.4 + max(0.55 * p, 1.6)))
    most = 1.0 if correlations else float(np.abs(matrices).max())
    starts = np.arange(len(labels)) * (p + GAP)
    for start, label, matrix in zip(starts, labels, matrices, strict=True):
        extent = (start - 0.5, start + p - 0.5, p - 0.5, -0.5)
        picture = ax.imshow(matrix, cmap="cividis", vmin=-most, vmax=most, extent=extent)
        for i, j in np.ndindex(*matrix.shape) if p <= WRITTEN else ():
            text, colour = f"{matrix[i, j]:.2g}", "black" if matrix[i, j] > 0.1 * most else "white"
            ax.text(start + j, i, text, ha="center", va="center", fontsize=8, color=colour)
        ax.text(start + (p - 1) / 2, -0.75, label, ha="center", va="bottom", fontsize=9)
    ax.set_xlim(-0.5, starts[-1] + p - 0.5)
    ax.set_ylim(p - 0.5, -1.4)
    ax.set_xticks((starts[:, None] + np.arange(p)).ravel(), names * len(labels), rotation=90, fontsize=8)
    ax.set_yticks(range(p), names, fontsize=8)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.figure.colorbar(picture, ax=ax, shrink=0.7, label="correlation" if correlations else "covariance")
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
    z = np.asarray(model.transform(X))  # a data frame under set_output
    share = model.explained_variance_ratio_
    labels, style = np.asarray(y), styles(list(model.classes_))
    ax.set_xlabel(f"direction 1 ({share[0]:.0%} of the separation)".replace("%", " %"))
    if z.shape[1] > 1:
        points(ax, z[:, 0], z[:, 1], labels, style)
        ax.set_ylabel(f"direction 2 ({share[1]:.0%})".replace("%", " %"))
    else:
        bins = np.linspace(*range_of(z[:, 0]), 31)
        for label, (colour, _, line, _) in style.items():
            counts, _ = np.histogram(z[labels == label, 0], bins)
            ax.stairs(counts, bins, fill=True, color=colour, alpha=0.25)
            ax.stairs(counts, bins, color=colour, ls=line, lw=1.5, label=f"{label}")
        ax.set_ylabel("rows")
    beside(ax)
    return bare(ax)


def points(ax: Axes, x: Array, z: Array, labels: Cells, style: dict[object, Style]) -> None:
    """Some of the rows, each class with its colour and mark."""
    some = np.random.default_rng(0).permutation(len(x))[:MOST_POINTS]
    for label, (colour, mark, *_) in style.items():
        here = some[labels[some] == label]
        ax.scatter(
            x[here], z[here], s=16, marker=mark, color=colour, alpha=0.7, lw=0.3, edgecolor="white", label=f"{label}"
        )


def gaussian(model: GenerativeEstimator) -> GaussianScorer | None:
    """The means and covariances of a model that is normal in all its columns."""
    scorer = model._solved.scorer
    return scorer if isinstance(scorer, GaussianScorer) else None


def _gaussian_columns(
    who: str, model: GenerativeEstimator, columns: Sequence[str] | None
) -> tuple[GaussianScorer, NDArray[np.int64], list[str]]:
    """The means and covariances, and the places and names of the columns asked for."""
    scorer = gaussian(model)
    if scorer is None:
        raise InputError(
            f"{who}: {type(model).__name__} has no covariances of numbers; use GaussianNB, LDA, QDA or GDA"
        )
    names = list(map(str, model._model.columns))
    wanted = names if columns is None else list(map(str, columns))
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise InputError(f"{who}: there is no column {unknown[0]!r}; the columns are {names[:20]}")
    return scorer, np.array([names.index(name) for name in wanted], np.int64), wanted
