"""How good predictions are, as pictures: confusions and ROC curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_curve

from ..data.errors import InputError
from .style import bare, own_axes, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def confusion(y: Any, predicted: Any, labels: Sequence[object] | None = None, ax: Axes | None = None) -> Axes:
    """Draw how many rows of each class were given each class, and return the axes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true classes.
    predicted : array-like of shape (n_samples,)
        The classes given.
    labels : sequence, optional
        The classes, in the order to draw.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import figures
    >>> figures.confusion(["a", "a", "b"], ["a", "b", "b"]).get_xlabel()
    'given class'
    """
    ax = own_axes(ax)
    true, given = np.asarray(y), np.asarray(predicted)
    if len(true) != len(given):
        raise InputError(f"confusion: {len(true)} true classes and {len(given)} given ones; give one of each per row")
    names = list(np.unique(np.concatenate([true, given]))) if labels is None else list(labels)
    counts = np.array([[int(((true == a) & (given == b)).sum()) for b in names] for a in names])
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    for i in range(len(names)):
        for j in range(len(names)):
            colour = "white" if share[i, j] > 0.5 else "black"
            ax.text(j, i, f"{counts[i, j]}\n{share[i, j]:.0%}", ha="center", va="center", fontsize=9, color=colour)
    ax.set_xticks(range(len(names)), [str(n) for n in names])
    ax.set_yticks(range(len(names)), [str(n) for n in names])
    ax.set_xlabel("given class")
    ax.set_ylabel("true class")
    return ax


def roc(y: Any, probabilities: Any, positive: object = None, ax: Axes | None = None) -> Axes:
    """Draw ROC curves: the share of the positive class found against the share of the others called so.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true classes.
    probabilities : array-like of shape (n_samples,) or (n_samples, 2), or dict of them by name
        Probabilities (or scores) of the positive class.
    positive : object, optional
        The positive class; the last of two by default.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import figures
    >>> figures.roc([0, 0, 1, 1], {"mine": [0.1, 0.4, 0.35, 0.8]}).get_legend().get_texts()[0].get_text()
    'mine: area 0.750'
    """
    ax = own_axes(ax)
    true = np.asarray(y)
    classes = np.unique(true)
    if positive is None and len(classes) != 2:
        raise InputError(f"roc: y has {len(classes)} classes; name the positive one")
    hit = true == (classes[1] if positive is None else positive)
    if hit.all() or not hit.any():
        raise InputError("roc: rows of the positive class and of others are needed")
    given = probabilities if isinstance(probabilities, dict) else {"": probabilities}
    ax.plot([0, 1], [0, 1], color="#bbbbbb", lw=0.8, ls=":")
    for name, style in styles(list(given)).items():
        P = np.asarray(given[name], dtype=np.float64)
        false, found, _ = roc_curve(hit, P[:, 1] if P.ndim == 2 else P)
        area = float(np.trapezoid(found, false))
        label = f"{name}: area {area:.3f}" if name else f"area {area:.3f}"
        ax.plot(false, found, color=style.colour, ls=style.line, lw=1.6, label=label)
    ax.set_xlabel("share of the others called positive")
    ax.set_ylabel("share of the positive class found")
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="lower right", fontsize=9)
    return bare(ax)
