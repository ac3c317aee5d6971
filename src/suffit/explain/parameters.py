"""What was fitted, in print: the parameters of every column in every class, by their textbook names."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..core.family import ParameterValues
from ..data.arrays import Array, Cells
from ..data.frame import Template, form_to_read
from .summary import aligned
from .terms import html_table

SHOWN = 40  # lines of the printed table
MOST_CLASSES = 8  # columns of it


class BlockParameters(NamedTuple):
    """The parameters of the columns that share a family, and the weight of that family in the posterior."""

    family: str
    weight: float
    found: Sequence[ParameterValues]


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

    See Also
    --------
    Summary : The model on one page.

    Examples
    --------
    >>> from suffit import GaussianNB
    >>> GaussianNB().fit([[1.0], [3.0], [6.0], [8.0]], ["a", "a", "b", "b"]).parameters()
    GaussianNB: class prior a 0.5, b 0.5
    <BLANKLINE>
    column  parameter           a  b
    x0      mean                2  7
    x0      standard deviation  1  1
    """

    model: str
    classes: tuple[Hashable, ...]
    prior: Array
    blocks: Sequence[BlockParameters]
    form: str = "dict"

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

    def _lines(self) -> Iterator[list[str]]:
        """Column by column within a block."""
        for block in self.blocks:
            weight = "" if block.weight == 1.0 else f" (weight {block.weight:.2g})"
            same = all(len(found.columns) == len(block.found[0].columns) for found in block.found)
            order = (
                [(found, j) for j in range(len(block.found[0].columns)) for found in block.found]
                if same
                else [(found, j) for found in block.found for j in range(len(found.columns))]
            )
            for (name, columns, values), j in order:
                shown = [f"{v:.4g}" for v in values[:MOST_CLASSES, j]]
                yield [str(columns[j]), name + weight, *shown]

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        head = ["column", "parameter", *map(str, self.classes[:MOST_CLASSES])]
        total = sum(len(found.columns) for block in self.blocks for found in block.found)
        rows = [line for line, _ in zip(self._lines(), range(SHOWN), strict=False)]
        more = [f"{total - SHOWN} more lines"] if total > SHOWN else []
        more += [f"{len(self.classes) - MOST_CLASSES} more classes"] if len(self.classes) > MOST_CLASSES else []
        return head, rows, f"… and {' and '.join(more)}: to_frame() has all" if more else ""

    def _head(self) -> str:
        each = [f"{c} {p:.3g}" for c, p in zip(self.classes, self.prior, strict=True)]
        return f"{self.model}: class prior {', '.join(each[:MOST_CLASSES])}" + (
            ", …" if len(each) > MOST_CLASSES else ""
        )

    def __repr__(self) -> str:
        head, rows, more = self._table()
        return "\n".join([self._head(), "", *aligned(head, rows, text=2), *([more] if more else [])])

    def _repr_html_(self) -> str:
        head, rows, more = self._table()
        return f"<p>{escape(self._head())}</p>{html_table(head, rows)}" + (f"<p>{escape(more)}</p>" if more else "")
