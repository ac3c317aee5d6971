"""Selective naive Bayes: columns that make rows left out harder to tell are left out of the model, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.leave_one_out import LeftOut
from ..core.model import Model
from ..core.pooling import bounded
from ..data.arrays import Array
from ..data.frame import Frame
from ..data.remarks import no_remarks
from ..data.rows import Rows
from ..families import MultivariateGaussian
from ..families.tuning import LEFT_OUT as CRITERION
from ..families.tuning import Trial, Tuning, loss_left_out
from .row_sample import sample
from .schema import LEFT_OUT, Piece, Schema

Places = NDArray[np.int64]

MOST_NUMBERS = 1 << 24  # scores that are kept at once: columns × rows × classes; of more rows, some
DECIDES = -1e4  # scores are no lower: enough to decide, and sums of them lose no digits
DIGITS = 9  # of a log-loss; columns that differ by less are the same, and the first of them goes
REASON = "as asked: rows left out are told better without it"


@dataclass(frozen=True)
class Part:
    """What is kept or left out as one: a column, or a joint block of them."""

    piece: int
    columns: tuple[str, ...]
    scores: Array  # log p(x | c) of every row under the sums without it  # (n, K)


def columns_that_help(schema: Schema, frame: Frame, rows: Rows) -> tuple[Schema, Tuning]:
    """The schema without the columns that hurt, and what leaving out each did to the loss, step by step.

    Backwards: of all columns in the model, the one whose going lowers the log-loss of rows left out most goes, until
    none does.  The last one stays.
    """
    heavy = rows.weighty()
    if len(heavy) < len(rows):
        frame, rows = frame.rows(heavy), rows.some(heavy).with_weight()
    units = [(i, c) for i, piece in enumerate(schema.pieces) for c in _units(piece)]
    look = sample(frame, schema.used, rows, max(1000, MOST_NUMBERS // (len(units) * len(rows.classes))))
    counts = rows.counts()
    few = rows.some(look)
    with no_remarks():
        parts = [Part(i, c, _left_out(schema.pieces[i].only(c), frame, rows, look)) for i, c in units]

    def loss(scores: Array) -> float:
        return loss_left_out(LeftOut(scores), few, counts)

    total = np.sum([p.scores for p in parts], axis=0)
    now = loss(total)
    tried, gone = [Trial({"then without": "(all columns)"}, now)], list[Part]()
    while len(parts) > 1:
        losses = [loss(total - p.scores) for p in parts]
        best = int(np.argmin(np.round(losses, DIGITS)))
        if not losses[best] < now:
            break
        gone.append(parts.pop(best))
        total, now = total - gone[-1].scores, losses[best]
        tried.append(Trial({"then without": ", ".join(gone[-1].columns)}, now))
    return _without(schema, gone), Tuning(CRITERION, tuple(tried), tried[-1])


def _units(piece: Piece) -> list[tuple[str, ...]]:
    """The columns of a piece, each by itself unless they are joint."""
    return [piece.columns] if isinstance(piece.family, MultivariateGaussian) else [(c,) for c in piece.columns]


def _left_out(piece: Piece, frame: Frame, rows: Rows, look: Places) -> Array:
    X = piece.matrix(frame)
    model = Model.empty(piece.family, piece.names).learn(X, rows)
    without = model.left_out(X[look], rows.some(look), np.zeros_like, one=True)
    return bounded(without.left, DECIDES)


def _without(schema: Schema, gone: Sequence[Part]) -> Schema:
    pieces = []
    for i, piece in enumerate(schema.pieces):
        left = {c for p in gone if p.piece == i for c in p.columns}
        stay = [c for c in piece.columns if c not in left]
        if stay:
            pieces.append(piece.only(stay))
    used = {c for piece in pieces for c in piece.columns}
    choices = tuple(
        c if c.column in used or c.family == LEFT_OUT else replace(c, family=LEFT_OUT, reason=REASON)
        for c in schema.choices
    )
    return replace(schema, pieces=tuple(pieces), choices=choices, n_plain=len(pieces))
