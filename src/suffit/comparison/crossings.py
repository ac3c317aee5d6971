"""Where the learning curves of two models cross: one is ahead with few rows, the other with many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .result import Curves


@dataclass(frozen=True)
class Crossing:
    """``first`` makes fewer errors up to about so many rows, ``then`` beyond; and the error there."""

    first: str
    then: str
    rows: float
    error: float


def crossing(curves: Curves, a: str, b: str) -> Crossing | None:
    """Where a and b change places for good; None where one is ahead by more than a standard error at one end only.

    >>> import numpy as np
    >>> from suffit.comparison.result import Curves
    >>> both = {"a": np.array([[0.2, 0.2, 0.2]] * 2), "b": np.array([[0.4, 0.2, 0.1]] * 2)}
    >>> crossing(Curves("rows learned", (10.0, 100.0, 1000.0), both, both), "a", "b").first
    'a'
    """
    n, one, two = np.array(curves.at), curves.mean(a), curves.mean(b)
    unsure = np.hypot(curves.standard_error(a), curves.standard_error(b))
    here = ~(np.isnan(one) | np.isnan(two) | np.isnan(unsure))
    n, one, gap, unsure = n[here], one[here], (one - two)[here], unsure[here]
    clear = np.flatnonzero(np.abs(gap) > unsure)
    if len(clear) < 2 or gap[clear[0]] * gap[clear[-1]] > 0:
        return None
    last = clear[np.sign(gap[clear]) == np.sign(gap[clear[0]])][-1]  # the last size at which the first is still ahead
    i = last + int(np.flatnonzero(gap[last + 1 :] * gap[last] <= 0)[0])
    share = gap[i] / (gap[i] - gap[i + 1])  # of the way between two sizes, on a logarithmic line
    rows = float(np.exp(np.log(n[i]) + share * np.log(n[i + 1] / n[i])))
    error = float(one[i] + share * (one[i + 1] - one[i]))
    return Crossing(*((a, b) if gap[clear[0]] < 0 else (b, a)), rows, error)
