"""What was fitted, in print: the parameters of every column in every class, by their textbook names."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..core.family import ParameterValues
from ..data.arrays import Array, Cells
from ..data.frame import Template, form_to_read
from ..data.printed import aligned, html_lines, html_table

SHOWN = 40  # lines of the printed table
MOST_CLASSES = 8  # columns of it


class BlockParameters(NamedTuple):
    """The parameters of the columns that share a family, and the weight of that family in the posterior."""

    family: str
    weight: float
    found: Sequence[ParameterValues]


class Directions(NamedTuple):
    """Directions that separate the classes: the weights of columns, and shares of the variance between classes."""

    weights: Array  # (columns, directions)
    shares: Array


@dataclass(frozen=True, eq=False)
class Parameters:
    """What was fitted: the parameters of every column in every class.

    Made by ``parameters()`` of every estimator.

    Attributes
    ----------
    model : str
        The class of the estimator.
    classes : tuple
        The classes.
    prior : ndarray of shape (n_classes,)
        The class prior.
    blocks : sequence of BlockParameters
        Columns that share a family: its name, its weight, and ``ParameterValues`` of name, columns and values.
    form : str
        The kind of table that was learned.
    directions : Directions or None
        Of linear discriminant analysis: the weights of the columns in the directions that separate the classes, and
        the share of the variance between classes along each.

    See Also
    --------
    Summary : The model on one page.

    Examples
    --------
    >>> from suffit import GaussianNB
    >>> GaussianNB().fit([[1.0], [3.0], [6.0], [9.0]], ["a", "a", "b", "b"]).parameters()
    GaussianNB
    <BLANKLINE>
                                               a    b
    share of the class                       0.5  0.5
    <BLANKLINE>
    gaussian
    x0                  mean                   2  7.5
    x0                  standard deviation     1  1.5
    """

    model: str
    classes: tuple[Hashable, ...]
    prior: Array
    blocks: Sequence[BlockParameters]
    form: str = "dict"
    directions: Directions | None = None

    def to_frame(self) -> Any:
        """Return a data frame: a row for each column and parameter, with the value in every class.

        Returns
        -------
        data frame
            Columns ``column``, ``family``, ``weight`` (where structures are pooled), ``parameter`` and one for each
            class; of the library the rows came from; for plain arrays pandas where it is installed, else a dict.
        """
        each = [(block, found) for block in self.blocks for found in block.found]
        lines = [(c, block.family, block.weight, found.name) for block, found in each for c in found.columns]
        heads, values = ("column", "family", "weight", "parameter"), [found.values for _, found in each]
        out: dict[str, Cells] = {head: np.array([line[i] for line in lines], object) for i, head in enumerate(heads)}
        out["weight"] = out["weight"].astype(np.float64)
        if (out["weight"] == 1.0).all():
            del out["weight"]
        every = np.concatenate(values, axis=1) if values else np.empty((len(self.classes), 0))
        out |= {str(c): row for c, row in zip(self.classes, every, strict=True)}
        return Template(form_to_read(self.form), {}).make(out)

    def _groups(self) -> Iterator[tuple[str, list[list[str]]]]:
        """The lines of every block under its name, column by column where its parameters have the same columns."""
        left = SHOWN
        for block in self.blocks:
            weight = "" if block.weight == 1.0 else f", weight {block.weight:.2g}"
            lines = list(islice(self._lines(block), max(left, 0)))
            left -= len(lines)
            if lines:
                yield f"{block.family.replace('_', ' ')}{weight}", lines

    def _lines(self, block: BlockParameters) -> Iterator[list[str]]:
        same = all(len(found.columns) == len(block.found[0].columns) for found in block.found)
        order = (
            ((found, j) for j in range(len(block.found[0].columns)) for found in block.found)
            if same
            else ((found, j) for found in block.found for j in range(len(found.columns)))
        )
        for (name, columns, values), j in order:
            each = [f"{v:.4g}" for v in values[:MOST_CLASSES, j]]
            if len(self.classes) > 1 and (values[:, j] == values[0, j]).all():  # shared, said once
                name, each = f"{name}, all classes", [each[0], *[""] * (len(each) - 1)]
            yield [str(columns[j]), name, *each]

    def _head(self) -> tuple[list[str], list[str]]:
        """The head of the table, and the shares of the classes."""
        shares = [f"{p:.4g}" for p in self.prior[:MOST_CLASSES]]
        return ["", "", *map(str, self.classes[:MOST_CLASSES])], ["share of the class", "", *shares]

    def _along(self) -> list[list[str]]:
        """The table of the directions, its head first; nothing where there are none."""
        if self.directions is None or not min(self.directions.weights.size, len(self.directions.shares)):
            return []
        shares = self.directions.shares[:MOST_CLASSES]
        weights = self.directions.weights[:SHOWN, : len(shares)]
        names = [str(c) for c in self.blocks[0].found[0].columns[: len(weights)]]
        lines = zip([*names, "share of the variance between classes"], [*weights, shares], strict=True)
        found = [[name, *(f"{v:.4g}" for v in values[: weights.shape[1]])] for name, values in lines]
        return [["", *(f"direction {k + 1}" for k in range(weights.shape[1]))], *found]

    def _rest(self) -> list[str]:
        """What is not shown, in words."""
        total = sum(len(found.columns) for block in self.blocks for found in block.found)
        more = [f"{total - SHOWN} more lines"] if total > SHOWN else []
        more += [f"{len(self.classes) - MOST_CLASSES} more classes"] if len(self.classes) > MOST_CLASSES else []
        return [f"… and {' and '.join(more)}: to_frame() has all"] if more else []

    def __repr__(self) -> str:
        head, shares = self._head()
        groups = list(self._groups())
        top, first, *lines = aligned(head, [shares, *(line for _, lines in groups for line in lines)], text=2)
        out, rest = [self.model, "", top, first], iter(lines)
        for name, group in groups:
            out += ["", name, *islice(rest, len(group))]
        if along := self._along():
            out += ["", "what separates the classes", *aligned(along[0], along[1:])]
        return "\n".join([*out, *self._rest()])

    def _repr_html_(self) -> str:
        head, shares = self._head()
        tables = [html_lines(name) + html_table(["column", "parameter", *head[2:]], g) for name, g in self._groups()]
        tables += [html_table(along[0], along[1:]) for along in [self._along()] if along]
        return "".join([html_lines(self.model), html_table(head, [shares]), *tables, *map(html_lines, self._rest())])
