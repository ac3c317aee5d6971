"""What each column adds to the log-odds over its range, as lines to be read off with a ruler."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.special import expit, logit, logsumexp

from ..data.arrays import Array
from ..data.errors import InputError
from ..data.inputs import ClassesLike, TableLike
from ..estimators.base import GenerativeEstimator
from ..explain import nomogram as ranges
from ..explain.against_rest import nomogram_against_rest
from ..explain.nomogram import Curve, Nomogram, round_numbers
from ..explain.terms import Explanation, explain_rows, pair_of
from .style import FAINT, FOR, INK, SMALL, TINY, own_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PROBABILITIES = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)
WIDTH, MARGIN = 8.5, 0.06  # in inches, and at either side of the lines as a share of them
TEXT = 7.0  # points
TRACKS = ((-0.13, "bottom"), (0.13, "top"), (-0.31, "bottom"), (0.31, "top"))  # where a value may be written
LEAST, MOST = 2.0, 8.0  # log-odds that the sum reaches on either side, at least and at most


def nomogram(
    model: GenerativeEstimator,
    X: TableLike | None = None,
    classes: ClassesLike | Hashable = None,
    most: int = 12,
    ax: Axes | None = None,
) -> Axes:
    """Draw a line for each column, as long as what it can add, with its values written along; return the axes.

    Add up what the values of a row add and the constants, find the sum on the line below the others, and read the
    probability off beneath it.

    Parameters
    ----------
    model : fitted estimator of this library
        Whose log-odds are drawn (of a pool of structures: without the outlier rate and isotonic maps).
    X : data frame, array-like or sparse matrix of shape (n_samples, n_features), optional
        The rows whose log-odds are looked at; by default rows drawn from the model.
    classes : pair of labels, or one label, optional
        Two classes, by default the first two; or one class against all others, which a sum only approximates: the
        title says how well.
    most : int, default 12
        The most columns, those that move the log-odds of the rows most.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import GaussianNB, figures
    >>> model = GaussianNB().fit([[1.0], [2.0], [6.0], [7.0]], ["low", "low", "high", "high"])
    >>> [text.get_text() for text in figures.nomogram(model, classes=("high", "low")).get_yticklabels()]
    ['x0', 'prior', 'sum', 'p(high)']
    """
    found = _read(model, X, classes, most)
    lines = len(found.curves) + len(found.constants)
    ax = own_axes(ax, (WIDTH, 2.0 + 0.6 * lines))
    span, point = _extent(ax, found)
    for i, curve in enumerate(found.curves):
        _draw_curve(ax, i, curve, point)
    for i, (_, value) in enumerate(found.constants, start=len(found.curves)):
        ax.plot([value], [i], marker="D", ms=5, color=INK, ls="none")
    ax.plot([0.0, 0.0], [-0.7, lines - 0.4], color=FAINT, lw=0.8, zorder=0)
    _draw_sum(ax, lines, found, span)
    given = "" if found.b == ranges.REST_OF_CLASSES or len(model.classes_) == 2 else f",\nif {found.a} or {found.b}"
    names = [*(c.name for c in found.curves), *(name for name, _ in found.constants), "sum", f"p({found.a}){given}"]
    ax.set_yticks([*range(lines), lines + 0.35, lines + 1.0], names, fontsize=SMALL)
    ax.set_ylim(lines + 1.4, -0.7)
    ax.set_xlim(*span)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=TINY)
    ax.set_xlabel(f"adds to the log-odds of {found.a} against {found.b}", fontsize=SMALL)
    ax.set_title(f"{found.a} against {found.b}" + (f"  ({found.note})" if found.note else ""), fontsize=10, loc="left")
    return ax


def _read(model: GenerativeEstimator, X: TableLike | None, classes: ClassesLike | Hashable, most: int) -> Nomogram:
    """What is drawn, from the model."""
    solution, labels = model._solved, model._model.classes
    against_rest = isinstance(classes, Hashable) and classes in labels
    if against_rest and len(labels) == 2:  # the rest is one class
        one = cast("Hashable", classes)
        classes, against_rest = (one, labels[1 - labels.index(one)]), False
    pair = labels[:2] if classes is None else classes
    if not against_rest:
        pair_of(pair, labels, "nomogram")
    columns, owners = model._columns_of_model()
    if not len(columns):
        raise InputError("nomogram: the model has no columns; see schema_ for why they were dropped")
    data = model._drawn_rows(ranges.draws(model.n_features_in_)) if X is None else model._read_X_known(X)

    def read(rows: object) -> Any:
        return model._read_X_known(rows) if isinstance(rows, dict) else rows

    def explain(rows: object, pair: Any) -> Explanation:
        return explain_rows(solution, read(rows), pair, columns, owners, "dict")

    shown = model._shown_rows(data)
    if not against_rest:
        return ranges.nomogram(partial(explain, pair=pair), shown, solution.scorer.additive, most)
    a = labels.index(cast("Hashable", classes))

    def log_odds(rows: object) -> Array:
        scores = solution.scores(read(rows))
        return np.asarray(scores[:, a] - logsumexp(np.delete(scores, a, axis=1), axis=1))

    others = [partial(explain, pair=(classes, b)) for b in labels if b != classes]
    return nomogram_against_rest(others, log_odds, shown, str(classes), most)


def _extent(ax: Axes, found: Nomogram) -> tuple[tuple[float, float], float]:
    """The ends of the axis of log-odds, and about how much of it one point of the paper is."""
    reach = np.concatenate([*(c.odds for c in found.curves), [value for _, value in found.constants], [0.0]])
    reach = reach[np.isfinite(reach)]
    room = MARGIN * max(float(np.ptp(reach)), 1e-12)
    low, high = float(reach.min()) - room, float(reach.max()) + room
    taken = 40.0 + 5.5 * max((len(c.name) for c in found.curves), default=0)  # by the names and the edges
    width = float(ax.figure.get_figure(root=True).get_figwidth() * ax.get_position().width / 0.775)
    return (low, high), (high - low) / max(72.0 * width - taken, 100.0)


def _draw_curve(ax: Axes, i: int, curve: Curve, point: float) -> None:
    """One line; numbers that go there and back are drawn as a slope, low values above high ones.

    A value is written where there is room beside those written before, or not at all.
    """
    odds = curve.odds
    step = np.diff(odds)
    straight = not curve.numeric or bool((step >= 0).all() or (step <= 0).all())
    rise = np.zeros(len(odds)) if straight or len(odds) < 2 else np.linspace(-0.28, 0.28, len(odds))
    ax.plot(odds, i + rise, color=FOR, lw=1.6, marker="" if curve.numeric else "|", ms=7)
    tracks = TRACKS[:1] if not straight else TRACKS[:2] if curve.numeric else TRACKS
    free = np.full(len(tracks), -np.inf)  # up to where each is taken
    for k in sorted(_marks(curve), key=lambda k: odds[k]):
        ax.plot([odds[k]], [i + rise[k]], marker="|", ms=6, color=INK, ls="none")
        text = _number(float(curve.values[k])) if curve.numeric else str(curve.values[k])
        half = (0.5 * 0.62 * TEXT * len(text) + 2.0) * point
        room = np.flatnonzero(odds[k] - half >= free)
        if len(room):
            free[room[0]] = odds[k] + half
            away, side = tracks[room[0]]
            ax.text(odds[k], i + rise[k] + away, text, fontsize=TEXT, color=INK, ha="center", va=side)


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e6 and value == round(value) else f"{value:.6g}"


def _marks(curve: Curve) -> list[int]:
    """The places whose values are written: all categories and few numbers, or round ones."""
    values = curve.values
    if not curve.numeric or len(values) <= ranges.FEW_VALUES:
        return list(range(len(values)))
    found = np.flatnonzero(np.isin(values, round_numbers(float(values.min()), float(values.max()))))
    return found.tolist() if len(found) else [0, len(values) - 1]


def _draw_sum(ax: Axes, below: int, found: Nomogram, span: tuple[float, float]) -> None:
    """The sum of log-odds on a line of its own scale, and under it the probabilities it means."""
    start = sum(value for _, value in found.constants)
    low, high = (_reach(found.curves, start, end) for end in (np.min, np.max))
    inner = 0.02 * (span[1] - span[0])

    def at(odds: float) -> float:
        return span[0] + inner + (odds - low) / (high - low) * (span[1] - span[0] - 2 * inner)

    sums = [(float(v), f"{v:g}") for v in round_numbers(low, high, 12)]
    chances = [(float(logit(p)), f"{p:g}") for p in PROBABILITIES if expit(low) <= p <= expit(high)]
    for line, ticks in ((below + 0.35, sums), (below + 1.0, chances)):
        ax.plot([at(low), at(high)], [line, line], color=INK, lw=1)
        for odds, text in ticks:
            ax.plot([at(odds)], [line], marker="|", ms=6, color=INK, ls="none")
            ax.text(at(odds), line - 0.12, text, fontsize=TEXT, color=INK, ha="center", va="bottom")


def _reach(curves: Sequence[Curve], start: float, end: Callable[[Array], np.floating]) -> float:
    """How far the sum goes to one side: at least to where the probability is clear, at most to where it is certain."""
    sign = 1.0 if end is np.max else -1.0
    farthest = sign * (start + sum(float(end(c.odds)) for c in curves))
    return sign * float(np.clip(farthest, LEAST, MOST))
