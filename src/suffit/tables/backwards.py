"""Blocks back into a table: what is drawn, filled in or typical, as columns of the kinds that the table has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from ..core.family import Family, Scorer
from ..data.arrays import Array, BlockRows, Cells, Coded, Matrix
from ..data.column import BOOLEAN, INTEGER, NUMBER, ArrayColumn, as_objects
from ..text.documents import Texts, no_texts
from .schema import BlockSpec, Schema


def table_columns(schema: Schema, parts: BlockRows, drawn: bool = False) -> dict[str, Cells]:
    """The columns of the blocks, in the order of the table, as the table's types have them.

    Values that are ``drawn`` are integers where the column has these; means may lie between.
    """
    found: dict[str, Cells] = {}
    kinds = {choice.column: choice.kind for choice in schema.choices}
    for spec, part in zip(schema.specs, parts.parts, strict=True):
        for j, name in enumerate(spec.columns if spec.reads != "missing" else ()):
            values = cast("Array", part)[:, j] * spec.scales[j] if spec.scales else _decoded(part, j)
            found[name] = _nearest(values, spec.family) if drawn and kinds[name] == INTEGER else values
    return {name: _of_kind(found[name], kinds[name]) for name in schema.used}


def drawn_columns(schema: Schema, parts: BlockRows) -> dict[str, Cells]:
    """The columns of rows that were drawn, missing where that was drawn."""
    columns = table_columns(schema, parts, drawn=True)
    for spec, part in zip(schema.specs, parts.parts, strict=True):
        for j, name in enumerate(spec.columns if spec.reads == "missing" else ()):
            columns[name] = _with_missing(columns[name], cast("Array", part)[:, j] > 0)
    return columns


def no_values(specs: Sequence[BlockSpec], n: int) -> BlockRows:
    """Rows of which every value is missing."""
    return BlockRows(tuple(_no_values(spec, n) for spec in specs))


def typical_values(specs: Sequence[BlockSpec], scorers: Sequence[Scorer], n: int) -> BlockRows:
    """The most typical values of the first n classes: means of numbers, the most probable of categories and words."""
    blocks = zip(specs, scorers, strict=True)
    return BlockRows(tuple(
        scorer.filled(_no_values(spec, n), np.eye(n, scorer.n_classes)) if spec.reads in ("categories", "texts")
        else scorer.typical(n)
        for spec, scorer in blocks
    ))  # fmt: skip


def _no_values(spec: BlockSpec, n: int) -> Matrix:
    if spec.reads == "texts":
        return no_texts(n)
    if spec.reads == "categories":
        return np.full((n, len(spec.columns)), None, dtype=object)
    return np.full((n, len(spec.columns)), np.nan)


def _decoded(part: Matrix, j: int) -> Cells:
    if isinstance(part, Coded):
        return part.decoded()[:, j]
    return part.cells() if isinstance(part, Texts) else np.asarray(part)[:, j]


def _nearest(values: Cells, family: Family) -> Cells:
    """Draws as integers: the nearest one, or the next above where the family has no room for that (0 of x > 0)."""
    if values.dtype.kind != "f":
        return values
    near = np.rint(values)
    return np.where(family.outside(near), np.ceil(values), near) if hasattr(family, "outside") else near


def _of_kind(values: Cells, kind: str) -> Cells:
    """Numbers (integers where all are), booleans or categories."""
    if kind == BOOLEAN:
        numbers = ArrayColumn(values).numbers()
        return _with_missing(numbers >= 0.5, np.isnan(numbers))
    if kind not in (NUMBER, INTEGER) or values.dtype.kind in "iu":
        return values
    cells = as_objects(values.tolist())
    if kind == NUMBER:
        return ArrayColumn(cells).numbers()
    numbers = cast("Array", cells)
    whole = cells.dtype.kind == "f" and np.isfinite(numbers).all() and (numbers == np.round(numbers)).all()
    return cells.astype(np.int64) if whole and np.abs(numbers).max() < 2**62 else cells


def _with_missing(values: Cells, gone: NDArray[np.bool_]) -> Cells:
    """The same with missing values; integers and truths become objects where there are any."""
    if not gone.any():
        return values
    if values.dtype.kind == "f":
        return np.where(gone, np.nan, cast("Array", values))
    out = values.astype(object)
    out[gone] = None
    return out
