"""Selective naive Bayes: columns whose removal lowers the leave-one-out log-loss are dropped, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.leave_one_out import LooScores
from ..core.model import Model
from ..core.pooling import bounded
from ..data.arrays import Array
from ..data.frame import Frame
from ..data.rows import Rows
from ..data.warn import no_warnings
from ..families import MultivariateGaussian
from ..families.tuning import LOO_LOSS as CRITERION
from ..families.tuning import Trial, Tuning, loo_loss_of
from .row_sample import sample
from .schema import DROPPED, BlockSpec, Schema

Places = NDArray[np.int64]

MOST_NUMBERS = 1 << 24  # scores that are kept at once: columns × rows × classes; of more rows, some
DECIDES = -1e4  # scores are no lower: enough to decide, and sums of them lose no digits
DIGITS = 9  # of a log-loss; columns that differ by less are the same, and the first of them goes
REASON = "set by the user (select='loo'): the leave-one-out log-loss is lower without it"


@dataclass(frozen=True)
class Candidate:
    """What is kept or dropped as one: a column, or a joint block of them."""

    spec: int
    columns: tuple[str, ...]
    scores: Array  # log p(x | c) of every row under the sums without it  # (n, K)


def columns_that_help(schema: Schema, frame: Frame, rows: Rows) -> tuple[Schema, Tuning]:
    """The schema without the columns that hurt, and what dropping each did to the loss, step by step.

    Backwards: of all columns in the model, the one whose removal lowers the leave-one-out log-loss most is dropped,
    until none does.  The last one stays.
    """
    heavy = rows.with_positive_weight()
    if len(heavy) < len(rows):
        frame, rows = frame.rows(heavy), rows.some(heavy).with_weight()
    groups = [(i, c) for i, spec in enumerate(schema.specs) for c in _together(spec)]
    look = sample(frame, schema.used, rows, max(1000, MOST_NUMBERS // (len(groups) * len(rows.classes))))
    counts = rows.counts()
    few = rows.some(look)
    with no_warnings():
        candidates = [Candidate(i, c, _leave_one_out(schema.specs[i].only(c), frame, rows, look)) for i, c in groups]

    def loss(scores: Array) -> float:
        return loo_loss_of(LooScores(scores), few, counts)

    total = np.sum([p.scores for p in candidates], axis=0)
    now = loss(total)
    tried, gone = [Trial({"dropped": "(none)"}, now)], list[Candidate]()
    while len(candidates) > 1:
        losses = [loss(total - p.scores) for p in candidates]
        best = int(np.argmin(np.round(losses, DIGITS)))
        if not losses[best] < now:
            break
        gone.append(candidates.pop(best))
        total, now = total - gone[-1].scores, losses[best]
        tried.append(Trial({"dropped": ", ".join(gone[-1].columns)}, now))
    return _without(schema, gone), Tuning(CRITERION, tuple(tried), tried[-1])


def _together(spec: BlockSpec) -> list[tuple[str, ...]]:
    """The columns of a block, each by itself unless they are joint."""
    return [spec.columns] if isinstance(spec.family, MultivariateGaussian) else [(c,) for c in spec.columns]


def _leave_one_out(spec: BlockSpec, frame: Frame, rows: Rows, look: Places) -> Array:
    X = spec.matrix(frame)
    model = Model.first(spec.family, spec.names, X, rows)
    without = model.leave_one_out(X[look], rows.some(look), np.zeros_like, one=True)
    return bounded(without.left, DECIDES)


def _without(schema: Schema, gone: Sequence[Candidate]) -> Schema:
    specs = []
    for i, spec in enumerate(schema.specs):
        left = {c for p in gone if p.spec == i for c in p.columns}
        stay = [c for c in spec.columns if c not in left]
        if stay:
            specs.append(spec.only(stay))
    used = {c for spec in specs for c in spec.columns}
    choices = tuple(
        c if c.column in used or c.family == DROPPED else replace(c, family=DROPPED, reason=REASON)
        for c in schema.choices
    )
    return replace(schema, specs=tuple(specs), choices=choices, n_plain=len(specs))
