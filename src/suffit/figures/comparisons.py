"""Comparisons as pictures: scores of models side by side, learning curves and robustness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..comparison.result import Comparison, Curves
from ..comparison.scores import LESS_IS_BETTER, SCORES
from ..data.errors import InputError
from .style import FAINT, TINY, bare, own_axes, pyplot, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def scores(found: Comparison, score: str = "log_loss", ax: Axes | None = None) -> Axes:
    """Draw one score of every model with two standard errors, the best on top, and return the axes.

    Parameters
    ----------
    found : Comparison
        Made by ``compare(X, y)``.
    score : str
        "accuracy", "log_loss", "brier", "calibration_error" or "roc_auc".
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import suffit
    >>> X, y = suffit.simulate("gaussian").sample(90, random_state=0)
    >>> found = suffit.compare(X, y, ["LDA", "QDA"], curves=False, robustness=False)
    >>> suffit.figures.scores(found, "accuracy").get_xlabel()
    'held-out accuracy, ± 2 standard errors'
    """
    if score not in SCORES:
        raise InputError(f"scores: score={score!r}; the scores are {', '.join(SCORES)}")
    ax = own_axes(ax, (6.5, 1.2 + 0.42 * len(found.held)))
    sign = -1 if score in LESS_IS_BETTER else 1
    order = sorted(found.held, key=lambda name: sign * found.held[name].mean[score])
    style = styles(list(found.held))
    for i, name in enumerate(order):
        mean, error = found.held[name].mean[score], found.held[name].standard_error[score]
        ax.errorbar(mean, i, xerr=2 * error, color=style[name].colour, marker=style[name].mark, capsize=3, lw=1.2)
    ax.set_yticks(range(len(order)), [name + ("*" if name in found.filled else "") for name in order])
    note = "   (* missing values filled)" if found.filled else ""
    ax.set_xlabel(f"held-out {SCORES[score]}, ± 2 standard errors{note}")
    ax.grid(axis="y", color=FAINT, lw=0.4)
    ax.set_axisbelow(True)
    ax.margins(y=0.12)
    return bare(ax, left=False)


def learning_curves(found: Comparison, score: str = "error", ax: Axes | None = None) -> Axes:
    """Draw the error of every model against the rows learned, with bands of a standard error; return the axes.

    A ring marks where the curve of a generative model and that of logistic regression cross for good.

    Parameters
    ----------
    found : Comparison
        Made by ``compare(X, y)``.
    score : str
        "error" or "log_loss".
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import suffit
    >>> X, y = suffit.simulate("gaussian").sample(90, random_state=0)
    >>> found = suffit.compare(X, y, ["LDA", "logistic regression"], robustness=False)
    >>> suffit.figures.learning_curves(found).get_xlabel()
    'rows learned'
    """
    if found.curves is None:
        raise InputError("learning_curves: the comparison has none; call compare(X, y, curves=True)")
    ax = _drawn(found.curves, score, own_axes(ax), "learning_curves")
    ax.set_xscale("log")
    at = found.curves.at
    ax.set_xticks(at, [f"{n:,.0f}" for n in at], fontsize=TINY)
    ax.minorticks_off()
    if score == "error":
        for crossing in found.crossings:
            ax.plot([crossing.rows], [crossing.error], "o", ms=11, mfc="none", mec="black", mew=1.2)
    return ax


def robustness(found: Comparison, what: str = "outliers", score: str = "error", ax: Axes | None = None) -> Axes:
    """Draw the error of every model against the share of the data that was spoilt, and return the axes.

    Parameters
    ----------
    found : Comparison
        Made by ``compare(X, y)``.
    what : str
        "wrong labels", "outliers" or "missing values".
    score : str
        "error" or "log_loss".
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import suffit
    >>> X, y = suffit.simulate("gaussian").sample(90, random_state=0)
    >>> found = suffit.compare(X, y, ["LDA", "logistic regression"], curves=False)
    >>> suffit.figures.robustness(found, "wrong labels").get_xlabel()
    'share of wrong labels'
    """
    if what not in found.robustness:
        known = ", ".join(map(repr, found.robustness)) or "none; call compare(X, y, robustness=True)"
        raise InputError(f"robustness: what={what!r}; the comparison has {known}")
    ax = _drawn(found.robustness[what], score, own_axes(ax), "robustness")
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    return ax


def _drawn(curves: Curves, score: str, ax: Axes, who: str) -> Axes:
    """A line with its band for every model."""
    if score not in ("error", "log_loss"):
        raise InputError(f"{who}: score={score!r}; give 'error' or 'log_loss'")
    for name, (colour, mark, line, _) in styles(list(curves.errors)).items():
        x, mean, error = np.array(curves.at), curves.mean(name, score), curves.standard_error(name, score)
        ax.plot(x, mean, color=colour, marker=mark, ls=line, ms=4, lw=1.5, label=name)
        ax.fill_between(x, mean - error, mean + error, color=colour, alpha=0.12, lw=0)
    ax.set_xlabel(curves.what)
    ax.set_ylabel("error rate" if score == "error" else "log-loss")
    ax.legend(frameon=False, fontsize=TINY)
    return bare(ax)


def overview(found: Comparison) -> Figure:
    """Log-loss, learning curves and robustness on one page; returns the figure."""
    panels = 1 + (found.curves is not None) + len(found.robustness)
    rows, columns = (1, panels) if panels < 3 else ((panels + 1) // 2, 2)
    figure, axes = pyplot().subplots(
        rows, columns, figsize=(5.6 * columns, 3.8 * rows), layout="constrained", squeeze=False
    )
    free = list(axes.flat)
    scores(found, ax=free.pop(0))
    if found.curves is not None:
        learning_curves(found, ax=free.pop(0))
    for i, what in enumerate(found.robustness):
        legend = robustness(found, what, ax=free.pop(0)).get_legend()
        if legend is not None and (i or found.curves is not None):
            legend.remove()  # the same as above
    for ax in free:
        ax.set_axis_off()
    return figure
