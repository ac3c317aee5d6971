"""Figures, drawn with matplotlib (``pip install "suffit[plot]"``).  Every function takes plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.arrays import Array, Cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..families.tuning import Tuning
    from ..posterior.calibrate import Calibration

FOR, AGAINST, INK, FAINT = "#2c6fbb", "#c44e52", "#333333", "#bbbbbb"
PROBABILITIES = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999)
MOST_MARKS = 6  # values written on the line of a number
FEW_VALUES = 12  # distinct numbers up to which each is a mark
WIDTH, MARGIN = 8.5, 0.06  # of a nomogram in inches, and at either side of its lines as a share of them
TEXT = 7.0  # points
TRACKS = ((-0.13, "bottom"), (0.13, "top"), (-0.31, "bottom"), (0.31, "top"))  # where a value may be written


def waterfall(terms: Sequence[tuple[str, float]], a: str, b: str) -> Figure:
    """Log-odds of a against b from 0 to their sum, a bar for each term; returns the figure.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> figure = waterfall([("prior", -0.5), ("age = 41", 2.0)], "yes", "no")
    >>> float(sum(bar.get_width() for bar in figure.axes[0].patches))
    1.5
    """
    plt = _pyplot()
    drawn = [(name, float(np.clip(value, -1e300, 1e300))) for name, value in terms]
    widths = np.array([value for _, value in drawn])
    starts = np.concatenate([[0.0], np.cumsum(widths)[:-1]])
    figure, ax = plt.subplots(figsize=(7.5, 1.3 + 0.36 * len(drawn)), layout="constrained")
    y = np.arange(len(drawn))
    ax.barh(y, widths, left=starts, color=[FOR if w > 0 else AGAINST for w in widths], height=0.62)
    reach = np.concatenate([starts, starts + widths, [0.0]])
    room = 0.02 * max(float(np.ptp(reach)), 1e-12)
    for i, (start, width) in enumerate(zip(starts, widths, strict=True)):
        ax.text(max(start, start + width) + room, i, f"{width:+.2f}", va="center", fontsize=9, color=INK)
        if i + 1 < len(drawn):
            ax.plot([start + width] * 2, [i + 0.31, i + 0.69], color=FAINT, lw=1)
    total = float(widths.sum())
    ax.axvline(0.0, color=INK, lw=0.8)
    ax.axvline(total, color=INK, lw=0.8, ls=":")
    ax.set_yticks(y, [name for name, _ in drawn], fontsize=9)
    ax.invert_yaxis()
    ax.use_sticky_edges = False
    ax.margins(x=0.08)
    ax.set_xlabel(f"log-odds: {b} ←  → {a}", fontsize=9)
    ax.set_title(f"{a} against {b}: log-odds {total:+.2f}", fontsize=10, loc="left")
    _bare(ax)
    return figure


@dataclass(frozen=True, eq=False)
class Curve:
    """What one column adds over its range: values (numbers, or the texts of categories) and log-odds."""

    name: str
    values: Cells
    odds: Array

    @property
    def numeric(self) -> bool:
        """Whether the values lie on a line."""
        return bool(self.values.dtype.kind in "iuf")


def nomogram(curves: Sequence[Curve], constants: Sequence[tuple[str, float]], a: str, b: str, note: str = "") -> Figure:
    """A line for each column, as long as what it can add, with its values written along; returns the figure.

    Add up what the values of a row add, and the constants (the prior), and read the probability off the last line.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> figure = nomogram([Curve("age", np.array([20.0, 60.0]), np.array([-1.0, 1.0]))], [("prior", 0.3)], "yes", "no")
    >>> figure.axes[0].lines[0].get_xdata().tolist()
    [-1.0, 1.0]
    """
    plt = _pyplot()
    lines = len(curves) + len(constants)
    figure, (ax, scale) = plt.subplots(
        2, 1, figsize=(WIDTH, 1.8 + 0.6 * lines), layout="constrained", height_ratios=[lines, 1.0]
    )
    point = _point([*(c.odds for c in curves), [value for _, value in constants]], [c.name for c in curves])
    for i, curve in enumerate(curves):
        _draw_curve(ax, i, curve, point)
    for i, (_, value) in enumerate(constants, start=len(curves)):
        ax.plot([value], [i], marker="D", ms=5, color=INK, ls="none")
    ax.axvline(0.0, color=FAINT, lw=0.8, zorder=0)
    ax.set_yticks(range(lines), [*(c.name for c in curves), *(name for name, _ in constants)], fontsize=9)
    ax.set_ylim(lines - 0.5, -0.7)
    ax.margins(x=MARGIN)
    ax.set_xlabel(f"what it adds to the log-odds of {a} against {b}", fontsize=9)
    ax.set_title(f"{a} against {b}" + (f"  ({note})" if note else ""), fontsize=10, loc="left")
    _bare(ax)
    _draw_scale(scale, curves, sum(value for _, value in constants), a, b)
    return figure


def _point(odds: Sequence[Array | list[float]], names: Sequence[str]) -> float:
    """About how much of the log-odds one point of the paper is."""
    reach = np.concatenate([*(np.ravel(o) for o in odds), [0.0]])
    reach = reach[np.isfinite(reach)]
    taken = 40.0 + 5.5 * max((len(name) for name in names), default=0)  # by the names and the edges
    return float(max(np.ptp(reach), 1e-12) * (1 + 2 * MARGIN) / max(72.0 * WIDTH - taken, 100.0))


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


def round_numbers(low: float, high: float, most: int = MOST_MARKS) -> Array:
    """At most so many multiples of 1, 2 or 5 times a power of ten from low to high; none where they are all but equal.

    >>> round_numbers(2785.0, 5960.0).tolist()
    [3000.0, 3500.0, 4000.0, 4500.0, 5000.0, 5500.0]
    """
    span = high - low
    if not (np.isfinite(span) and span > 1e-12 * max(abs(low), abs(high))):
        return np.zeros(0)
    power = int(np.floor(np.log10(span))) - 1
    for exponent in range(power, power + 3):
        for digit in (1, 2, 5):
            first, last = (int(f(v / digit * 10.0**-exponent)) for f, v in ((np.ceil, low), (np.floor, high)))
            if last - first < most:
                whole = np.arange(first, last + 1) * digit
                return np.asarray(whole * 10.0**exponent if exponent >= 0 else whole / 10.0**-exponent)
    return np.zeros(0)


def _marks(curve: Curve) -> list[int]:
    """The places whose values are written: all categories and few numbers, or round ones."""
    values = curve.values
    if not curve.numeric or len(values) <= FEW_VALUES:
        return list(range(len(values)))
    found = np.flatnonzero(np.isin(values, round_numbers(float(values.min()), float(values.max()))))
    return found.tolist() if len(found) else [0, len(values) - 1]


def _draw_scale(ax: Axes, curves: Sequence[Curve], start: float, a: str, b: str) -> None:
    """The sum of log-odds, and the probabilities it means."""
    low = min(start + sum(float(c.odds.min()) for c in curves), -2.0)
    high = max(start + sum(float(c.odds.max()) for c in curves), 2.0)
    low, high = max(low, -8.0), min(high, 8.0)
    ax.set_xlim(low, high)
    ax.set_ylim(-1.0, 1.0)
    ax.set_yticks([0.0], [f"p({a})"], fontsize=9)
    ax.axhline(0.0, color=INK, lw=1)
    for p in PROBABILITIES:
        at = float(np.log(p / (1 - p)))
        if low <= at <= high:
            ax.plot([at], [0.0], marker="|", ms=7, color=INK)
            ax.text(at, 0.25, f"{p:g}", ha="center", va="bottom", fontsize=8, color=INK)
    ax.set_xlabel(f"sum of all, and the probability of {a} against {b} alone", fontsize=9)
    _bare(ax)


def _bare(ax: Axes) -> None:
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=8)


def _pyplot() -> ModuleType:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('figures need matplotlib: pip install "suffit[plot]"') from error
    return pyplot


# --- what was tried, and what a calibration does

LINE, MARK, GREY = "#2c6fbb", "#c44e52", "#777777"
WORST_SHOWN = 0.8  # of the way from the best loss to the worst: a few hopeless settings must not flatten all others


def plot_selection(selection: Any, ax: Axes | None = None) -> Axes:
    """The loss of every setting that was tried: a curve, a map of two settings, or bars; the one taken is marked.

    ``selection`` is the ``selection_`` of an estimator.  Draws into ``ax`` where one is given, and returns it.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import MultinomialNB
    >>> model = MultinomialNB(alpha="evidence").fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> plot_selection(model.selection_).get_xlabel()
    'alpha'
    """
    if selection is None:
        raise ValueError(
            "plot_selection: no setting was tuned; use alpha='loo', tie='loo', shrinkage='loo', select='loo' or "
            "structure='auto'"
        )
    ax = _own_axes(ax)
    if not hasattr(selection, "criterion"):  # structures of a table
        names = [f"{t.name}: {t.settings}" if t.settings else t.name for t in selection.tried]
        pooled = {(name, settings) for name, settings, _ in selection.pool}
        marked = [(t.name, t.settings) in pooled for t in selection.tried]
        return _bars(ax, names, [t.loss for t in selection.tried], marked, "leave-one-out log-loss, calibrated")
    tried = selection.tried
    names = [k for k in selection.taken.settings if len({str(t.settings[k]) for t in tried}) > 1]
    numbers = all(isinstance(t.settings[k], int | float) for t in tried for k in names)
    if numbers and len(names) == 1:
        return _curve(ax, selection, names[0])
    if numbers and len(names) == 2:
        return _map(ax, selection, names[0], names[1])
    texts = [", ".join(str(v) for v in t.settings.values()) for t in tried]
    return _bars(ax, texts, [t.loss for t in tried], [t is selection.taken for t in tried], selection.criterion)


def _curve(ax: Axes, selection: Tuning, name: str) -> Axes:
    points = sorted((t.settings[name], t.loss) for t in selection.tried if np.isfinite(t.loss))
    ax.plot(*zip(*points, strict=True), "o-", color=LINE, ms=4)
    x, y = selection.taken.settings[name], selection.taken.loss
    ax.plot([x], [y], "o", color=MARK, ms=8)
    ax.annotate(f"{name} = {x:g}", (x, y), (0, -16), textcoords="offset points", ha="center", color=MARK, fontsize=9)
    ax.margins(y=0.15)
    if name == "alpha":
        ax.set_xscale("log")
    ax.set_xlabel(name)
    ax.set_ylabel(selection.criterion)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _map(ax: Axes, selection: Tuning, down: str, across: str) -> Axes:
    """The loss as a colour; losses far above the best share the last one."""
    rows, columns = (sorted({t.settings[k] for t in selection.tried}) for k in (down, across))
    loss = np.full((len(rows), len(columns)), np.nan)
    for t in selection.tried:
        loss[rows.index(t.settings[down]), columns.index(t.settings[across])] = t.loss
    loss[~np.isfinite(loss)] = np.nan
    best = float(np.nanmin(loss))
    top = float(np.nanquantile(loss, WORST_SHOWN))
    picture = ax.imshow(loss, origin="lower", aspect="auto", cmap="Blues_r", vmin=best, vmax=max(top, best + 1e-9))
    ax.set_facecolor("#dddddd")  # singular: nothing to draw
    digits = 3 if best < 0.1 else 2
    for i in range(len(rows)):
        for j in range(len(columns)):
            if np.isfinite(loss[i, j]):
                dark = loss[i, j] < best + 0.45 * (top - best)
                ax.text(
                    j, i, f"{loss[i, j]:.{digits}f}", ha="center", va="center", fontsize=7, color="w" if dark else "k"
                )
    at = selection.taken.settings
    ax.plot([columns.index(at[across])], [rows.index(at[down])], "s", ms=24, mfc="none", mec=MARK, mew=2)
    ax.set_xticks(range(len(columns)), [f"{v:g}" for v in columns])
    ax.set_yticks(range(len(rows)), [f"{v:g}" for v in rows])
    ax.set_xlabel(across)
    ax.set_ylabel(down)
    ax.figure.colorbar(picture, ax=ax, label=selection.criterion, extend="max")
    return ax


def _bars(ax: Axes, names: list[str], losses: list[float], marked: list[bool], criterion: str) -> Axes:
    """The losses as points beside their names, in the order they were tried."""
    y = np.arange(len(names))
    colours = [MARK if m else LINE for m in marked]
    ax.hlines(y, np.nanmin(np.where(np.isfinite(losses), losses, np.nan)), losses, color=GREY, lw=0.8)
    ax.scatter(losses, y, c=colours, zorder=3)
    ax.set_yticks(y, names, fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel(criterion)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_calibration(calibration: Calibration | None, ax: Axes | None = None) -> Axes:
    """How often the model is right beside how sure it is, before and after calibration; points grow with their rows.

    ``calibration`` is the ``calibration_`` of an estimator.  Draws into ``ax`` where one is given, and returns it.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import GaussianNB
    >>> model = GaussianNB(calibrate="temperature").fit([[0.0], [1.0], [0.5], [2.0]], [0, 0, 1, 1])
    >>> plot_calibration(model.calibration_).get_ylabel()
    'share predicted correctly'
    """
    if calibration is None:
        raise ValueError("plot_calibration: the model is not calibrated; set calibrate='temperature' or 'isotonic'")
    ax = _own_axes(ax)
    ax.plot([0, 1], [0, 1], color=GREY, lw=0.8, ls=":")
    for shown, ece, name, colour in (
        (calibration.before, calibration.ece_before, "before", MARK),
        (calibration.after, calibration.ece_after, calibration.method, LINE),
    ):
        size = 12 + 220 * shown.weight / shown.weight.sum()
        ax.plot(shown.confidence, shown.accuracy, color=colour, lw=1)
        label = f"{name}: calibration error {ece:.3f}"
        ax.scatter(shown.confidence, shown.accuracy, s=size, color=colour, alpha=0.75, label=label, clip_on=False)
    low = min(calibration.before.confidence.min(), calibration.after.confidence.min())
    ax.set_xlim(max(low - 0.03, 0.0), 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("probability of the most probable class")
    ax.set_ylabel("share predicted correctly")
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, markerscale=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _own_axes(ax: Axes | None) -> Axes:
    return _pyplot().subplots(figsize=(6.5, 4.5), layout="constrained")[1] if ax is None else ax
