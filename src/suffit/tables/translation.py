"""The sums of two models that were fitted apart, in the same blocks, where the second has those of the first.

Joint blocks have their columns in an order, and in units, that depend on the rows: both sides take those of the first.
A category that one side has no row of is 0 in all of its rows, so that it can be added to its block.  The leaves of
partitions, whose cuts the rows of each side have chosen, cannot be translated.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from ..core.stats import CATEGORY, BlockSums, Stats
from ..families.counts.partition import Partition
from ..families.gaussian.joint import MultivariateGaussian
from ..families.gaussian.units import in_units
from .schema import BlockSpec, Coding, Schema

Seen = dict[str, set[Hashable]]


class Translated(NamedTuple):
    """The sums of a model under blocks that both have."""

    schema: Schema
    sums: BlockSums


def in_common(mine: Schema, theirs: Schema, a: BlockSums, b: BlockSums) -> tuple[Translated, Translated] | None:
    """Both under the structures of the first; None where the second has not all of their blocks, or not in its sums."""
    if set(mine.used) != set(theirs.used) or _missing(mine) != _missing(theirs):
        return None
    found: dict[tuple[object, ...], list[tuple[BlockSpec, Stats]]] = {}
    for spec, part in zip(theirs.specs, b.parts, strict=True):
        found.setdefault(_kind(spec), []).append((spec, part))
    seen = _categories(mine, a), _categories(theirs, b)
    pairs: list[tuple[BlockSpec, Stats]] = []
    others: list[tuple[BlockSpec, Stats]] = []
    for spec, part in zip(mine.specs, a.parts, strict=True):
        if _kind(spec) not in found:
            return None
        alike = found[_kind(spec)]  # several where structures cut the same columns into other bins
        other, more = next((one for one in alike if one[0].family.statistic == spec.family.statistic), alike[0])
        both = _together(spec, other)
        x, y = _under(both, spec, part, seen[0]), _under(both, other, more, seen[1])
        if x is None or y is None:
            return None
        pairs.append((both, x))
        others.append((replace(both, family=other.family), y))
    return _as_one(mine, pairs), _as_one(mine, others)


def _as_one(schema: Schema, blocks: Sequence[tuple[BlockSpec, Stats]]) -> Translated:
    specs, parts = zip(*blocks, strict=True) if blocks else ((), ())
    return Translated(replace(schema, specs=specs), BlockSums(parts))


def _missing(schema: Schema) -> set[tuple[str, ...]]:
    """The columns whose missing values are evidence."""
    return {spec.columns for spec in schema.specs if spec.reads == "missing"}


def _kind(spec: BlockSpec) -> tuple[object, ...]:
    """What must be the same on both sides: the family, and the columns; of joint blocks in any order and units."""
    if not spec.codings:
        return spec.family.key, spec.reads, spec.columns
    if isinstance(spec.family, Partition):  # the cuts themselves
        return spec.family.statistic, spec.columns, spec.codings
    codings = zip(spec.columns, spec.codings, strict=True)
    made = frozenset((name, bool(c.categories), bool(c.scales), c.edges) for name, c in codings)
    return spec.family.key, spec.reads, made


def _categories(schema: Schema, sums: BlockSums) -> Seen:
    """The categories of each column that rows were learned of, as far as they are counted."""
    found: Seen = {}
    for spec, part in zip(schema.specs, sums.parts, strict=True):
        if spec.reads == "categories":
            found |= {name: set() for name in spec.columns if name not in found}
            for label in part.axes[CATEGORY].labels:
                j, category = cast("tuple[int, Hashable]", label)
                found[spec.columns[j]].add(category)
    return found


def _together(spec: BlockSpec, other: BlockSpec) -> BlockSpec:
    """The block of the first with the categories that only the other has, too."""
    if not spec.codings:
        return spec
    mine, theirs = _by_column(spec), _by_column(other)
    codings, prior = [], list[float]()
    for name, (coding, own) in mine.items():
        more, of_others = theirs[name]
        new = [i for i, category in enumerate(more.categories) if category not in coding.categories]
        scales = tuple(more.scales[i] for i in new) if coding.scales else ()
        categories = coding.categories + tuple(more.categories[i] for i in new)
        codings.append(replace(coding, categories=categories, scales=coding.scales + scales))
        prior += [*own, *(of_others[i] for i in new)]
    family = spec.family
    if isinstance(family, MultivariateGaussian) and _prior(spec) and _prior(other):
        family = replace(family, prior=tuple(prior))
    return replace(spec, codings=tuple(codings), family=family)


def _prior(spec: BlockSpec) -> tuple[float, ...]:
    """The overall variance of each number of a joint block, where its family has it."""
    return spec.family.prior if isinstance(spec.family, MultivariateGaussian) else ()


def _by_column(spec: BlockSpec) -> dict[str, tuple[Coding, tuple[float, ...]]]:
    """The coding of each column, and the prior of its numbers."""
    prior = _prior(spec) or (0.0,) * len(spec.names)
    ends = np.cumsum([0, *(coding.width for coding in spec.codings)]).tolist()
    places = zip(spec.columns, spec.codings, pairwise(ends), strict=True)
    return {name: (coding, prior[a:b]) for name, coding, (a, b) in places}


def _under(both: BlockSpec, spec: BlockSpec, sums: Stats, seen: Seen) -> Stats | None:
    """The sums of a block's rows under the common block; None where rows of a new category would be needed for it."""
    if both.codings == spec.codings and both.columns == spec.columns:
        return sums
    widths = [coding.width for coding in spec.codings]
    starts = dict(zip(spec.columns, np.cumsum([0, *widths[:-1]]).tolist(), strict=True))
    codings = dict(zip(spec.columns, spec.codings, strict=True))
    source: list[int] = []
    factor: list[float] = []
    for name, coding in zip(both.columns, both.codings, strict=True):
        mine = codings[name]
        new = set(coding.categories) - set(mine.categories)
        if new and (name not in seen or new & seen[name]):
            return None
        here, units = _places(mine, coding)
        source += [starts[name] + i for i in here]
        factor += units
    return in_units(sums, source, np.array(factor))


def _places(mine: Coding, both: Coding) -> tuple[Sequence[int], list[float]]:
    """For every number of a coding, the number of the other that it is, and how often; 0: it is 0 in every row."""
    old, new = mine.scales or (1.0,) * mine.width, both.scales or (1.0,) * both.width
    if not both.categories:
        return range(both.width), [a / b for a, b in zip(old, new, strict=True)]
    place = {category: i for i, category in enumerate(mine.categories)}
    here = [place.get(category, 0) for category in both.categories]
    units = [old[i] / s if c in place else 0.0 for i, s, c in zip(here, new, both.categories, strict=True)]
    return here, units
