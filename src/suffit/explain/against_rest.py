"""One class against all others as a nomogram: no sum of columns, so the curves start from a typical row.

log p(a | x) / (1 − p(a | x)) is −log Σ_b exp(−log-odds of a against b).  Along one column, with the others at their
typical values, a curve shows it exactly; for rows that differ in several columns their sum is an approximation, and how
good it is on the rows at hand is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax

from ..data.arrays import Array, Cells, Csr, NumberRows, is_sparse
from ..data.frame import Frame
from .nomogram import REST_OF_CLASSES, Explain, Nomogram, cells_of, curves, like, repeated, top_columns, typicals

TRIED = 200  # rows on which what is read off is compared with the model's probabilities

LogOdds = Callable[..., Array]


class Moved(NamedTuple):
    """What a change of one column from a typical row does to the log-odds, whichever the column is."""

    parts: Array


def nomogram_against_rest(
    pairs: Sequence[Explain], log_odds: LogOdds, X: NumberRows | Frame, name: str, most: int
) -> Nomogram:
    """``pairs`` explain rows by the class against each other; ``log_odds`` are those against all of them."""
    rows = cells_of(X, ()) if isinstance(X, Frame) else X
    seen = [explain(rows) for explain in pairs]
    columns = seen[0].columns
    nearest = softmax(-np.stack([s.total for s in seen]), axis=0)  # which of the others each row speaks against
    parts = cast("Array", sum(_times(s.parts, w) for s, w in zip(seen, nearest, strict=True)))
    top, note = top_columns(parts, columns, X, most)
    start = float(log_odds(_typical_row(X, columns))[0])

    def moved(changed: object) -> Moved:
        change = log_odds(changed) - start
        return Moved(np.broadcast_to(change[:, None], (len(change), len(columns))))

    found = curves(moved, X, columns, top)
    off = "" if is_sparse(X) else _how_far_off(log_odds, X, columns, [str(columns[j]) for j in top], start)
    notes = [f"a sum approximates it{off}", *note]
    return Nomogram(found, [("a typical row", start)], name, REST_OF_CLASSES, "; ".join(notes))


def _times(parts: Array | Csr, weights: Array) -> Array | Csr:
    return sparse.csr_array(parts.multiply(weights[:, None])) if is_sparse(parts) else parts * weights[:, None]


def _typical_row(X: NumberRows | Frame, columns: Sequence[str]) -> object:
    if is_sparse(X):
        return sparse.csr_array((1, X.shape[1]))
    cells = cells_of(X, columns)
    return like(X, {n: repeated(v, 1, c) for (n, c), v in zip(cells.items(), typicals(X, cells), strict=True)})


def _how_far_off(
    log_odds: LogOdds, X: NumberRows | Frame, columns: Sequence[str], shown: list[str], start: float
) -> str:
    """How far probabilities that are read off are from the model's, for nine rows in ten."""
    assert not is_sparse(X)
    every = cells_of(X, columns)
    n = min(len(next(iter(every.values()))), TRIED)
    typical = dict(zip(every, typicals(X, every), strict=True))
    cells: dict[str, Cells] = {name: column[:n] for name, column in every.items()}
    total = np.full(n, start)
    for name in shown:
        table = {other: repeated(typical[other], n, column) for other, column in cells.items()}
        table[name] = cells[name]
        total += log_odds(like(X, table)) - start
    off = np.abs(expit(total) - expit(log_odds(like(X, cells))))
    return f", within {max(float(np.quantile(off, 0.9)), 0.01):.2f} of the model for 9 rows in 10"
