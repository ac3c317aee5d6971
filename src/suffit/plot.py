"""Figures, drawn with matplotlib (``pip install "suffit[plot]"``)."""

from __future__ import annotations

from typing import Any

import numpy as np

# --- what was tried, and what a calibration does

LINE, MARK, GREY = "#2c6fbb", "#c44e52", "#777777"
WORST_SHOWN = 0.8  # of the way from the best loss to the worst: a few hopeless settings must not flatten all others


def plot_selection(selection: Any, ax: Any = None) -> Any:
    """The loss of every setting that was tried: a curve, a map of two settings, or bars; the one taken is marked.

    ``selection`` is the ``selection_`` of an estimator.  Draws into ``ax`` where one is given, and returns it.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import MultinomialNB
    >>> model = MultinomialNB(alpha="evidence").fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> plot_selection(model.selection_).get_xlabel()
    'alpha'
    """
    ax = _own_axes(ax)
    if not hasattr(selection, "criterion"):  # structures of a table
        names = [f"{t.name}: {t.settings}" if t.settings else t.name for t in selection.tried]
        pooled = {(name, settings) for name, settings, _ in selection.pool}
        marked = [(t.name, t.settings) in pooled for t in selection.tried]
        return _bars(ax, names, [t.loss for t in selection.tried], marked, "log-loss of rows left out, tempered")
    tried = selection.tried
    names = [k for k in selection.taken.settings if len({str(t.settings[k]) for t in tried}) > 1]
    numbers = all(isinstance(t.settings[k], int | float) for t in tried for k in names)
    if numbers and len(names) == 1:
        return _curve(ax, selection, names[0])
    if numbers and len(names) == 2:
        return _map(ax, selection, names[0], names[1])
    texts = [", ".join(str(v) for v in t.settings.values()) for t in tried]
    return _bars(ax, texts, [t.loss for t in tried], [t is selection.taken for t in tried], selection.criterion)


def _curve(ax: Any, selection: Any, name: str) -> Any:
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


def _map(ax: Any, selection: Any, down: str, across: str) -> Any:
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


def _bars(ax: Any, names: list[str], losses: list[float], marked: list[bool], criterion: str) -> Any:
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


def plot_calibration(calibration: Any, ax: Any = None) -> Any:
    """How often the model is right beside how sure it is, before and after calibration; points grow with their rows.

    ``calibration`` is the ``calibration_`` of an estimator.  Draws into ``ax`` where one is given, and returns it.

    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import GaussianNB
    >>> model = GaussianNB(calibrate="temperature").fit([[0.0], [1.0], [0.5], [2.0]], [0, 0, 1, 1])
    >>> plot_calibration(model.calibration_).get_ylabel()
    'share that is right'
    """
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
    ax.set_ylabel("share that is right")
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, markerscale=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _own_axes(ax: Any) -> Any:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6.5, 4.5), layout="constrained")[1] if ax is None else ax
