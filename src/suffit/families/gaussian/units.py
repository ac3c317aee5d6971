"""Second moments of the same rows in other units, and in another order of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.stats import FEATURE, PATTERN, Stats
from ...data.arrays import Array
from ...data.labels import Index
from .missing.patterns import patterns_of, there
from .moments import PAIRS, PAIRS_POOLED, SCATTER, SCATTER_POOLED

SECOND = (-2, -1)
SCALED = {"n": (), "x": (-1,), "xx": SECOND}  # the axes of each sum along which it is in the units of a column
SCALED |= {"part_n": (), "part_x": (-1,), "part_xx": SECOND, "pair_n": (), "pair_x": (-2,), "pair_xx": SECOND}


def in_units(stats: Stats, source: Sequence[int], factor: Array) -> Stats | None:
    """The sums of columns that are z'_j = factor_j · z_source(j); None where these sums are of another kind.

    A factor of 0 is a column that is 0 in every row in which its source is there.
    """
    if stats.layout not in (SCATTER, SCATTER_POOLED, PAIRS, PAIRS_POOLED):
        return None
    if PATTERN in stats.axes and len(stats.axes[PATTERN]):
        patterns, places = patterns_of(there(stats)[:, list(source)])
        stats = stats.take(PATTERN, np.argsort(places))
        taken = stats.take(FEATURE, source)
        taken = replace(taken, axes={**taken.axes, PATTERN: patterns})
    else:
        taken = stats.take(FEATURE, source)
    sums = {}
    for name, a in taken.sums.items():
        for axis in SCALED[name]:
            a = a * (factor if axis == -1 else factor[:, None])
        sums[name] = a
    return replace(
        taken,
        axes={**taken.axes, FEATURE: Index.range(len(factor))},
        sums=sums,
        origin=None if taken.origin is None else taken.origin * factor,
        noise=None if taken.noise is None else taken.noise * factor**2,
    )
