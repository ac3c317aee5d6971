"""Where spam begins: cutoffs of its probability by what a lost ham costs, or by how much lost ham is tolerated."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .model import logistic

TAIL = 0.05  # share of the ham with the highest scores, whose tail is extrapolated
LEAST = 5  # scores in that tail


def cutoff_by_cost(lost_ham: float) -> float:
    """The probability from which calling a message spam costs less than leaving it to the reader.

    Parameters
    ----------
    lost_ham : float
        How many unseen spams are worth one lost ham.

    Returns
    -------
    float
        The cutoff: at probability p, (1 − p) lost_ham is what a verdict "spam" costs and p what it saves.

    Examples
    --------
    >>> cutoff_by_cost(99)
    0.99
    """
    if not lost_ham > 0:
        raise ValueError(f"the cost of a lost ham is above 0, found {lost_ham}")
    return lost_ham / (1 + lost_ham)


def cutoff_by_loss(log_odds: Sequence[float], tolerance: float) -> float:
    """The cutoff at which a tolerated share of the ham is called spam.

    Where so many scores are given that the share can be counted, it is a quantile of them. Beyond, the tail is taken
    to be exponential: P(z > x) = s exp(−(x − z₀) / m) above the quantile z₀ of the share s = 5 %, m the mean excess.

    Parameters
    ----------
    log_odds : sequence of float
        Of spam, of ham that was scored without having been learned (`leave_one_out`).
    tolerance : float
        The share of the ham that may be lost, above 0 and below 1.

    Returns
    -------
    float
        A probability.

    Examples
    --------
    >>> ham = [-6 + 0.01 * i for i in range(500)]
    >>> round(cutoff_by_loss(ham, 0.1), 3)
    0.181
    >>> cutoff_by_loss(ham, 0.1) < cutoff_by_loss(ham, 0.001) < 1
    True
    """
    if not 0 < tolerance < 1:
        raise ValueError(f"the tolerated share of lost ham lies between 0 and 1, found {tolerance}")
    z = sorted(log_odds, reverse=True)
    n = max(int(TAIL * len(z)), LEAST)
    if len(z) < 2 * n:
        raise ValueError(f"a cutoff by lost ham needs at least {2 * LEAST} scores of ham, found {len(z)}")
    if tolerance * len(z) >= n:
        return logistic(math.nextafter(z[int(tolerance * len(z))], math.inf))
    excess = sum(z[:n]) / n - z[n]
    return logistic(z[n] + excess * math.log(n / len(z) / tolerance))
