"""What was tried when settings were chosen, and what was taken, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.errors import InputError
from ..families.tuning import Tuning
from .style import AGAINST, FOR, GREY, bare, own_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORST_SHOWN = 0.8  # of the way from the best loss to the worst: a few hopeless settings must not flatten all others


def selection(model: object, ax: Axes | None = None) -> Axes:
    """Draw the loss of every setting that was tried, with the one taken marked, and return the axes.

    A curve for one setting of numbers, a map for two, and points beside names for structures.

    Parameters
    ----------
    model : fitted estimator
        With ``selection_``: fitted with "loo", "evidence" or "auto" for a setting.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import MultinomialNB, figures
    >>> model = MultinomialNB(alpha="evidence").fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> figures.selection(model).get_xlabel()
    'alpha'
    """
    found = getattr(model, "selection_", None)
    if found is None:
        raise InputError(
            f"selection: {type(model).__name__} has tuned no setting; use alpha='loo', tie='loo', shrinkage='loo', "
            "select='loo' or structure='auto', and fit"
        )
    if not hasattr(found, "criterion"):  # structures of a table
        names = [f"{t.name}: {t.settings}" if t.settings else t.name for t in found.tried]
        pooled = {(name, settings) for name, settings, _ in found.pool}
        marked = [(t.name, t.settings) in pooled for t in found.tried]
        return _named(ax, names, [t.loss for t in found.tried], marked, "leave-one-out log-loss, calibrated")
    tried = found.tried
    names = [k for k in found.taken.settings if len({str(t.settings[k]) for t in tried}) > 1]
    numbers = all(isinstance(t.settings[k], int | float) for t in tried for k in names)
    if numbers and len(names) == 1:
        return _curve(own_axes(ax), found, names[0])
    if numbers and len(names) == 2:
        return _map(own_axes(ax), found, names[0], names[1])
    texts = [", ".join(str(v) for v in t.settings.values()) for t in tried]
    return _named(ax, texts, [t.loss for t in tried], [t is found.taken for t in tried], found.criterion)


def _curve(ax: Axes, found: Tuning, name: str) -> Axes:
    points = sorted((t.settings[name], t.loss) for t in found.tried if np.isfinite(t.loss))
    ax.plot(*zip(*points, strict=True), "o-", color=FOR, ms=4)
    x, y = found.taken.settings[name], found.taken.loss
    ax.plot([x], [y], "s", color=AGAINST, ms=8)
    ax.annotate(
        f"taken: {name} = {x:.3g}", (x, y), (0, -18), textcoords="offset points", ha="center", color=AGAINST, fontsize=9
    )
    ax.margins(y=0.18)
    if name == "alpha":
        ax.set_xscale("log")
    ax.set_xlabel(name)
    ax.set_ylabel(found.criterion)
    return bare(ax)


def _map(ax: Axes, found: Tuning, down: str, across: str) -> Axes:
    """The loss as a colour; losses far above the best share the last one."""
    rows, columns = (sorted({t.settings[k] for t in found.tried}) for k in (down, across))
    loss = np.full((len(rows), len(columns)), np.nan)
    for t in found.tried:
        loss[rows.index(t.settings[down]), columns.index(t.settings[across])] = t.loss
    loss[~np.isfinite(loss)] = np.nan
    best = float(np.nanmin(loss))
    top = float(np.nanquantile(loss, WORST_SHOWN))
    picture = ax.imshow(loss, origin="lower", aspect="auto", cmap="Blues_r", vmin=best, vmax=max(top, best + 1e-9))
    ax.set_facecolor("#dddddd")  # singular: nothing to draw
    digits = 3 if best < 0.1 else 2
    for i, j in np.argwhere(np.isfinite(loss)).tolist():
        dark = loss[i, j] < best + 0.45 * (top - best)
        text = f"{loss[i, j]:.{digits}f}"
        ax.text(j, i, text, ha="center", va="center", fontsize=7, color="white" if dark else "black")
    at = found.taken.settings
    ax.plot([columns.index(at[across])], [rows.index(at[down])], "s", ms=24, mfc="none", mec=AGAINST, mew=2)
    ax.set_xticks(range(len(columns)), [f"{v:g}" for v in columns])
    ax.set_yticks(range(len(rows)), [f"{v:g}" for v in rows])
    ax.set_xlabel(across)
    ax.set_ylabel(down)
    ax.figure.colorbar(picture, ax=ax, label=found.criterion, extend="max")
    return ax


def _named(ax: Axes | None, names: list[str], losses: list[float], marked: list[bool], criterion: str) -> Axes:
    """The losses as points beside their names, in the order they were tried; squares are taken."""
    ax = own_axes(ax, (7.5, 1.2 + 0.3 * len(names)))
    y, loss, taken = np.arange(len(names)), np.array(losses), np.array(marked)
    loss[~np.isfinite(loss)] = np.nan
    ax.hlines(y, np.nanmin(loss), loss, color=GREY, lw=0.8)
    ax.scatter(loss[~taken], y[~taken], color=FOR, marker="o", zorder=3, label="tried")
    ax.scatter(loss[taken], y[taken], color=AGAINST, marker="s", zorder=3, label="taken")
    ax.set_yticks(y, names, fontsize=8)
    ax.invert_yaxis()
    ax.set_xlabel(criterion)
    ax.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)
    return bare(ax)
