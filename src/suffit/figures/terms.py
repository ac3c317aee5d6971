"""Why a row got its class, as a picture: a bar for each term of the log-odds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..explain.terms import Explanation
from .style import AGAINST, FAINT, FOR, INK, SMALL, bare, own_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FARTHEST = 1e300  # what an infinite term is drawn as


def waterfall(explanation: Explanation, row: int = 0, n: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the log-odds of one row from 0 to their sum, a bar for each term, and return the axes.

    Parameters
    ----------
    explanation : Explanation
        Made by ``explain(X)``.
    row : int, default 0
        Which row.
    n : int, default 12
        How many terms to show; the others are added up as one.
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
    >>> ax = figures.waterfall(model.explain([[1.5]]))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x0 = 1.5', 'prior']
    """
    a, b = explanation.pair(row)
    terms = [(name, float(np.clip(value, -FARTHEST, FARTHEST))) for name, value in explanation.terms(row, n)]
    ax = own_axes(ax, (7.5, 1.3 + 0.36 * len(terms)))
    widths = np.array([value for _, value in terms])
    starts = np.concatenate([[0.0], np.cumsum(widths)[:-1]])
    y = np.arange(len(terms))
    colours, hatches = [FOR if w > 0 else AGAINST for w in widths], ["" if w > 0 else "///" for w in widths]
    ax.barh(y, widths, left=starts, color=colours, hatch=hatches, edgecolor="white", lw=0.0, height=0.62)
    reach = np.concatenate([starts, starts + widths, [0.0]])
    room = 0.02 * max(float(np.ptp(reach)), 1e-12)
    for i, (start, width) in enumerate(zip(starts, widths, strict=True)):
        ax.text(max(start, start + width) + room, i, f"{width:+.2f}", va="center", fontsize=SMALL, color=INK)
        if i + 1 < len(terms):
            ax.plot([start + width] * 2, [i + 0.31, i + 0.69], color=FAINT, lw=1)
    total = float(widths.sum())
    ax.axvline(0.0, color=INK, lw=0.8)
    ax.axvline(total, color=INK, lw=0.8, ls=":")
    ax.set_yticks(y, [name for name, _ in terms], fontsize=SMALL)
    ax.invert_yaxis()
    ax.use_sticky_edges = False
    ax.margins(x=0.08)
    ax.set_xlabel(f"log-odds: {b} ←  → {a}", fontsize=SMALL)
    ax.set_title(f"{a} against {b}: log-odds {total:+.2f}", fontsize=10, loc="left")
    return bare(ax, left=False)
