"""How good predictions are, as pictures: confusions, ROC curves and calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from ..data.arrays import Array, Cells
from ..data.errors import InputError
from ..posterior.calibrate import Reliability
from ..posterior.calibrate import reliability as calibrated_bins
from .style import GREY, TINY, bare, own_axes, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def confusion(
    y: object, predicted: object, X: object = None, labels: Sequence[object] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how many rows of each class were given each class, and return the axes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true classes.
    predicted : array-like of shape (n_samples,), or fitted classifier
        The classes given, or a model to ask for X.
    X : table, optional
        The rows, where a model is given.
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
    if hasattr(predicted, "predict"):
        if X is None:
            raise InputError("confusion: a model is given, but no rows; give X as well")
        predicted = predicted.predict(X)
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


def roc(y: object, probabilities: object, X: object = None, positive: object = None, ax: Axes | None = None) -> Axes:
    """Draw ROC curves: the share of the positive class found against the share of the others called so.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true classes.
    probabilities : array-like of shape (n_samples,) or (n_samples, n_classes), fitted classifier, or dict by name
        Probabilities or scores of the positive class, or probabilities of every class; or models to ask for X.
    X : table, optional
        The rows, where models are given.
    positive : object, optional
        The positive class; the last of two by default.  Of more classes without one, each against the rest.
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
    curves = [
        curve for name, given in _by_name(probabilities).items() for curve in _curves(name, given, X, true, positive)
    ]
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":")
    for (name, hit, score), style in zip(curves, styles(range(len(curves))).values(), strict=True):
        false, found, _ = roc_curve(hit, score)
        area = float(np.trapezoid(found, false))
        label = f"{name}: area {area:.3f}" if name else f"area {area:.3f}"
        ax.plot(false, found, color=style.colour, ls=style.line, lw=1.6, label=label)
    ax.set_xlabel("share of the others called positive")
    ax.set_ylabel("share of the positive class found")
    ax.set_aspect("equal")
    ax.legend(frameon=False, loc="lower right", fontsize=9)
    return bare(ax)


def _curves(name: str, given: Any, X: Any, true: Cells, positive: object) -> list[tuple[str, NDArray[np.bool_], Array]]:
    """What is drawn of one model: the name of each curve, which rows are positive, and their scores."""
    present = np.unique(true).tolist()
    model = hasattr(given, "predict_proba")
    if not model and np.ndim(given) == 1:
        if positive is None and len(present) != 2:
            raise InputError(f"roc: y has {len(present)} classes; name the positive one")
        wanted, scores = [present[1] if positive is None else positive], np.asarray(given, dtype=np.float64)[:, None]
        known = wanted
    else:
        scores, known = _probabilities("roc", given, X, true, None)
        wanted = [positive] if positive is not None else known[1:] if len(known) == 2 else known
    found = []
    for label in wanted:
        hit = true == label
        if label not in known or hit.all() or not hit.any():
            raise InputError(f"roc: rows of class {label!r} and of others are needed")
        said = name if len(wanted) == 1 else f"{name}, {label}" if name else f"{label}"
        found.append((said, hit, scores[:, known.index(label)]))
    return found


def reliability(
    y: object, probabilities: object, X: object = None, classes: Sequence[object] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how often the most probable class is right beside how sure the model was, and return the axes.

    Points grow with their rows; on the dotted line, 0.8 means right eight times in ten.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The true classes.
    probabilities : array-like of shape (n_samples,) or (n_samples, n_classes), fitted classifier, or dict by name
        Probabilities: of the last class where there is one column, else of each class; or models to ask for X.
    X : table, optional
        The rows, where models are given.
    classes : sequence, optional
        The classes that the columns of probabilities belong to; those of y, sorted, by default.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import figures
    >>> ax = figures.reliability([0, 1, 1, 1], [[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.9, 0.1]])
    >>> ax.get_legend().get_texts()[0].get_text()
    'calibration error 0.150'
    """
    ax = own_axes(ax)
    true, each = np.asarray(y), {}
    for name, given in _by_name(probabilities).items():
        P, known = _probabilities("reliability", given, X, true, classes)
        code = {label: k for k, label in enumerate(known)}
        unknown = [label for label in np.unique(true).tolist() if label not in code]
        if unknown:
            raise InputError(f"reliability: y has {unknown[0]!r}, which is none of the classes {known[:10]}")
        each[name] = calibrated_bins(P, np.array([code[label] for label in true.tolist()]))
    return _diagram(ax, each)


def calibration(model: object, ax: Axes | None = None) -> Axes:
    """Draw how often a model is right beside how sure it is, before and after its calibration; return the axes.

    Both are of training rows under the model without them.

    Parameters
    ----------
    model : fitted estimator
        With ``calibration_``: fitted with ``calibrate="temperature"`` or ``"isotonic"``.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import GaussianNB, figures
    >>> model = GaussianNB(calibrate="temperature").fit([[0.0], [1.0], [0.5], [2.0]], [0, 0, 1, 1])
    >>> figures.calibration(model).get_ylabel()
    'share predicted correctly'
    """
    found = getattr(model, "calibration_", None)
    if found is None:
        raise InputError(
            f"calibration: {type(model).__name__} is not calibrated; set calibrate='temperature' or 'isotonic', and fit"
        )
    return _diagram(own_axes(ax), {"before": found.before, found.method: found.after})


def _diagram(ax: Axes, each: Mapping[str, Reliability]) -> Axes:
    """Confidence and accuracy of every bin, by name."""
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":")
    for (name, shown), style in zip(each.items(), styles(list(each)).values(), strict=True):
        ax.plot(shown.confidence, shown.accuracy, color=style.colour, ls=style.line, lw=1)
        size = 12 + 220 * shown.weight / shown.weight.sum()
        label = f"{name}: calibration error {shown.error:.3f}" if name else f"calibration error {shown.error:.3f}"
        ax.scatter(
            shown.confidence, shown.accuracy, s=size, color=style.colour, marker=style.mark, alpha=0.75, label=label,
            clip_on=False,
        )  # fmt: skip
    low = min(float(shown.confidence.min()) for shown in each.values())
    ax.set_xlim(max(low - 0.03, 0.0), 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("probability of the most probable class")
    ax.set_ylabel("share predicted correctly")
    ax.legend(frameon=False, fontsize=TINY, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, markerscale=0.6)
    return bare(ax)


def _by_name(given: object) -> Mapping[str, object]:
    return given if isinstance(given, Mapping) else {"": given}


def _probabilities(
    who: str, given: Any, X: Any, true: Cells, classes: Sequence[object] | None
) -> tuple[Array, list[object]]:
    """A column for each class, and the classes: of a model asked for X, or as they were given."""
    if hasattr(given, "predict_proba"):
        if X is None:
            raise InputError(f"{who}: a model is given, but no rows; give X as well")
        return np.asarray(given.predict_proba(X), dtype=np.float64), list(np.asarray(given.classes_).tolist())
    P = np.asarray(given, dtype=np.float64)
    P = np.column_stack([1 - P, P]) if P.ndim == 1 else P
    known = np.unique(true).tolist() if classes is None else list(classes)
    if P.shape != (len(true), len(known)):
        raise InputError(
            f"{who}: probabilities have shape {P.shape}, but y has {len(true)} rows and the classes are "
            f"{known[:10]}; give a row for each row and a column for each class"
        )
    return P, known
