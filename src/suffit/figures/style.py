"""Colours, marks and axes that all figures share: told apart by colour-blind people, and in black and white."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Name = TypeVar("Name")

# colours of M. Okabe and K. Ito, neighbours of different lightness; a mark, a line and a hatching of each its own
STYLES = (
    ("#0072b2", "o", "-", ""),
    ("#d55e00", "s", "--", "////"),
    ("#009e73", "^", "-.", "...."),
    ("#000000", "D", "-", "xxxx"),
    ("#cc79a7", "v", (0, (5, 1, 1, 1, 1, 1)), "\\\\\\\\"),
    ("#e69f00", "P", "--", "++++"),
    ("#56b4e9", "X", "-.", "----"),
)
FOR, AGAINST = STYLES[0][0], STYLES[1][0]
INK, GREY, FAINT = "#333333", "#777777", "#bbbbbb"
SMALL, TINY = 9, 8  # points of text
SIZE = (6.5, 4.5)  # inches of a figure that is made for its axes


class Style(NamedTuple):
    """How one class or one model is drawn."""

    colour: str
    mark: str
    line: str | tuple[int, tuple[int, ...]]
    hatch: str  # of an area


def styles(names: Sequence[Name]) -> dict[Name, Style]:
    """A style for each name; they come again after seven."""
    return {name: Style(*STYLES[i % len(STYLES)]) for i, name in enumerate(names)}


def pyplot() -> ModuleType:
    """matplotlib.pyplot, or how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError('figures need matplotlib: pip install "suffit[plot]"') from error
    return pyplot


def own_axes(ax: Axes | None, size: tuple[float, float] = SIZE) -> Axes:
    """The axes given, or new ones in a figure of this size."""
    return pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def bare(ax: Axes, left: bool = True) -> Axes:
    """Without a frame above and at the right, and where ``left`` is false without one at the left."""
    ax.spines[["top", "right"]].set_visible(False)
    if not left:
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
    ax.tick_params(labelsize=TINY)
    return ax


def beside(ax: Axes, **settings: object) -> None:
    """A legend at the right of the axes, where it hides nothing."""
    ax.legend(frameon=False, fontsize=TINY, loc="upper left", bbox_to_anchor=(1.0, 1.0), **settings)
