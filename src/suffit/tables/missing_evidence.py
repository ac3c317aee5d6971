"""Columns whose missing values say something of the class: chosen by leave-one-out, one column at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..data.arrays import Array
from ..data.frame import Frame
from ..data.rows import Rows

SURELY = 2.0  # squared standard errors that the gain of log-loss must exceed, less what trying all columns costs


def telling_columns(frame: Frame, names: Sequence[str], rows: Rows) -> list[str]:
    """The columns whose absence alone tells the class of a row better than the class shares do, by leave-one-out."""
    codes, weights = rows.part(0, len(rows))
    K, found = len(rows.classes), []
    absent = {name: gone for name in names if (gone := frame.columns[name].missing()).any() and not gone.all()}
    for name, gone in absent.items():
        sides = [np.bincount(codes, weights * (gone == side), K).astype(np.float64) for side in (False, True)]
        count = np.stack(sides, axis=1)
        gain = _gains(count)
        mean = float((count * gain).sum() / count.sum())
        error = math.sqrt(float((count * (gain - mean) ** 2).sum())) / float(count.sum())
        mean -= (1 + math.log(len(absent))) / float(count.sum())
        if mean > 0 and mean**2 > SURELY * error**2:
            found.append(name)
    return found


def _gains(count: Array) -> Array:
    """log p(c | side) − log p(c) of a row of each class on each side, by the counts of all other rows.

    # (K, 2) → (K, 2)
    """
    K = len(count)
    out = np.zeros((K, 2))
    for c, side in zip(*np.nonzero(count > 0), strict=True):
        others = count.copy()
        others[c, side] = max(others[c, side] - 1.0, 0.0)
        n = others.sum(axis=1)
        shares = (n + 1.0) / (n + 1.0).sum()
        joint = shares * (others[:, side] + 1.0) / (n + 2.0)
        out[c, side] = math.log(joint[c] / joint.sum()) - math.log(shares[c])
    return out
