"""Colours, marks and axes that all figures share: told apart by colour-blind people, and in black and white."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..explain.plots import _bare, _own_axes, _pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Name = TypeVar("Name")

# colours of M. Okabe and K. Ito; a mark and a line of each its own
STYLES = (
    ("#0072b2", "o", "-"),
    ("#d55e00", "s", "-"),
    ("#009e73", "^", "-"),
    ("#000000", "D", "-"),
    ("#cc79a7", "v", "--"),
    ("#e69f00", "P", "--"),
    ("#56b4e9", "X", "--"),
)


class Style(NamedTuple):
    """How one class or one model is drawn."""

    colour: str
    mark: str
    line: str


def styles(names: Sequence[Name]) -> dict[Name, Style]:
    """A style for each name; they come again after seven."""
    return {name: Style(*STYLES[i % len(STYLES)]) for i, name in enumerate(names)}


def own_axes(ax: Axes | None) -> Axes:
    """The axes given, or new ones."""
    return _own_axes(ax)


def bare(ax: Axes) -> Axes:
    """Without a frame above and at the right."""
    _bare(ax)
    return ax


__all__ = ["STYLES", "Style", "_pyplot", "bare", "own_axes", "styles"]
