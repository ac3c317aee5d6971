"""One tree of a model's partitions, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..core.stats import BlockSums, Stats
from ..data.arrays import Array
from ..data.errors import InputError
from ..estimators.tables import GenerativeClassifier
from ..families.counts.partition import Partition
from ..families.counts.partition_scores import RowsBelow
from ..tables.schema import BlockSpec, Coding
from .style import GREY, INK, TINY, Style, bare, own_axes, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST = 22  # characters of a condition
HEIGHT, BAR = 0.5, 0.16  # of a node and its bar, where one level is 1


class Node(NamedTuple):
    """A node to draw: where, what leads to it, and the shares of the classes of the rows that get there."""

    x: float
    depth: int
    above: tuple[float, int] | None
    condition: str
    shares: Array
    rows: float
    cut: bool  # whether there is more below that is not drawn


def tree(model: GenerativeClassifier, tree: int = 0, depth: int = 3, ax: Axes | None = None) -> Axes:
    """Draw the first cuts of one tree of a model's partitions, with the classes of the rows there; return the axes.

    A bar has the shares of the classes among the rows that get to a node, and beside it is their number; dots say that
    there are more cuts below.

    Parameters
    ----------
    model : GenerativeClassifier
        Fitted, with partitions in its pool.
    tree : int, default 0
        Which tree.
    depth : int, default 3
        How many cuts below each other are drawn.
    ax : matplotlib axes, optional
        Where to draw.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from suffit import GenerativeClassifier, figures, simulate
    >>> X, y = simulate("own covariances").sample(300, random_state=0)
    >>> model = GenerativeClassifier(structure="partitions").fit(X, y)
    >>> figures.tree(model).get_title()
    'tree 0 of 128'
    """
    spec, stats = _partition(model)
    family = cast("Partition", spec.family)
    if not 0 <= tree < len(family.roots):
        raise InputError(f"tree: there is no tree {tree!r}; the model has trees 0 to {len(family.roots) - 1}")
    below = RowsBelow.of(family, stats).of_class
    nodes, leaves = _placed(family, spec, below, tree, depth)
    labels = list(model.classes_)
    style = styles(labels)
    ax = own_axes(ax, (max(1.7 * leaves, 5.0), 1.1 * (max(node.depth for node in nodes) + 1)))
    for node in nodes:
        _draw(ax, node, [style[label] for label in labels], 0.6 / leaves)
    for label in labels:
        ax.barh([0], [0], color=style[label].colour, hatch=style[label].hatch, edgecolor="white", label=str(label))
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-max(node.depth for node in nodes) - HEIGHT, HEIGHT + 0.1)
    bare(ax, left=False)
    ax.spines["bottom"].set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.legend(fontsize=TINY, loc="upper right", frameon=False)
    ax.set_title(f"tree {tree} of {len(family.roots)}", fontsize=11)
    return ax


def _partition(model: GenerativeClassifier) -> tuple[BlockSpec, Stats]:
    """The block of trees, and its sums."""
    if not isinstance(model, GenerativeClassifier):
        raise InputError(f"tree: {type(model).__name__} has no partitions; use GenerativeClassifier")
    schema, sums = model.schema_, cast("BlockSums", model._model.stats)
    for spec, part in zip(schema.specs, sums.parts, strict=True):
        if isinstance(spec.family, Partition):
            return spec, part
    raise InputError("tree: the model has no partitions; GenerativeClassifier(structure='partitions') asks for them")


def _placed(family: Partition, spec: BlockSpec, below: Array, tree: int, depth: int) -> tuple[list[Node], int]:
    """The nodes to draw, each in the middle of what is below it, and how many of them are the last ones."""
    found: list[Node] = []

    def width(node: int, level: int) -> int:
        child = int(family.children[node])
        return width(child, level + 1) + width(child + 1, level + 1) if child and level < depth else 1

    leaves = width(family.roots[tree], 0)

    def add(node: int, left: float, level: int, above: tuple[float, int] | None, said: str) -> None:
        x, child = left + width(node, level) / leaves / 2, int(family.children[node])
        rows = float(below[node].sum())
        shares = below[node] / rows if rows else np.zeros(below.shape[1])
        found.append(Node(x, level, above, said, shares, rows, bool(child) and level == depth))
        if child and level < depth:
            j = int(family.cuts.column[node])
            here, size = spec.codings[j], family.sizes[j]
            allowed = family.codes_of(node)[j]
            goes = np.array([int(family.cuts.left[node]) >> b & 1 for b in range(size)], bool)
            middle = left + width(child, level + 1) / leaves
            for side, at, start in ((goes, child, left), (~goes, child + 1, middle)):
                add(at, start, level + 1, (x, level), _condition(spec.columns[j], here, side, allowed))

    add(family.roots[tree], 0.0, 0, None, "")
    return found, leaves


def _condition(column: str, coding: Coding, side: NDArray[np.bool_], allowed: NDArray[np.int64]) -> str:
    """What a row on one side of a cut is like: "age < 35", or "city: Basel, Bern"."""
    if coding.categories:
        names = ", ".join(str(coding.categories[b]) for b in allowed if side[b])
        return f"{column}: {names if len(names) <= LONGEST else names[: LONGEST - 1] + '…'}"
    here = np.flatnonzero(side)
    if not len(here) or not coding.edges:
        return column
    if here[0] == 0:
        return f"{column} < {coding.edges[here[-1]]:.4g}"
    return f"{column} ≥ {coding.edges[here[0] - 1]:.4g}"


def _draw(ax: Axes, node: Node, style: list[Style], width: float) -> None:
    y = -float(node.depth)
    if node.above is not None:
        ax.plot([node.above[0], node.x], [-node.above[1] - BAR / 2, y + BAR / 2], color=GREY, lw=0.8, zorder=0)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(node.x, y + BAR / 2 + 0.1, node.condition, ha="center", va="bottom", fontsize=TINY, bbox=box)
    start = node.x - width / 2
    for share, (colour, _, _, hatch) in zip(node.shares.tolist(), style, strict=True):
        ax.barh([y], [share * width], BAR, left=start, color=colour, hatch=hatch, edgecolor="white", lw=0.5)
        start += share * width
    said = f" {node.rows:,.0f}" + (" …" if node.cut else "")
    ax.text(node.x + width / 2, y, said, ha="left", va="center", fontsize=TINY, color=INK)
