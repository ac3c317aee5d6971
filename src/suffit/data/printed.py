"""Results in print: tables as aligned text, as HTML for notebooks, and as data frames of the user's library."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, TypeAlias, TypeVar

import numpy as np

from .arrays import Cells
from .frame import Template, form_to_read

Value = TypeVar("Value")
MadeTable: TypeAlias = Any  # a data frame of whatever library, or a dict


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], text: int = 1) -> list[str]:
    """Lines of a table whose first ``text`` columns are words, and the others numbers."""
    width = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return [
        "  ".join(
            v.ljust(w) if i < text else v.rjust(w) for i, (v, w) in enumerate(zip(row, width, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table for notebooks; everything in it is escaped.

    >>> html_table(["<b>"], [["1 & 2"]])
    '<table><thead><tr><th>&lt;b&gt;</th></tr></thead><tbody><tr><td>1 &amp; 2</td></tr></tbody></table>'
    """
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def html_lines(*lines: str) -> str:
    """A paragraph of these lines, escaped."""
    return f"<p>{'<br>'.join(escape(line) for line in lines)}</p>"


def made_for(value: Value, form: str) -> Value:
    """The same value, whose ``to_frame`` makes tables of this kind; the kind is no part of the value."""
    other = copy.copy(value)
    object.__setattr__(other, "_form", form)
    return other


def to_table(value: object, columns: Mapping[str, Sequence[object] | Cells]) -> MadeTable:
    """A data frame of the library that a result was made for; else pandas where it is installed, or a dict."""
    made = {
        name: cells if isinstance(cells, np.ndarray) else np.array([*cells, None], dtype=object)[:-1]
        for name, cells in columns.items()
    }
    return Template(form_to_read(getattr(value, "_form", "array")), {}).make(made)
