"""Rows that were misclassified, and why: what each column adds for the wrong class and for the right one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimators.base import GenerativeEstimator
from ..explain.terms import Explanation
from .rows import Given
from .scores import Scores, without

PAIRS, TERMS = 3, 7  # confusions that have examples, and things named of each row


@dataclass(frozen=True)
class Case:
    """One misclassified row."""

    place: int  # among the rows with a label
    row: int  # among the rows handed in, from 1
    true: int
    given: int
    probability: float  # of the class given, under the model without the row or on a new row
    terms: list[tuple[str, float]]  # what is added to the log-odds of the class given against the true one
    total: float
    pair_rows: int  # rows that are confused in the same way


def cases_of(model: GenerativeEstimator, rows: Given, scores: Scores) -> list[Case]:
    """Of the most frequent confusions, the row that is most surely wrong and one that nearly went right."""
    off = scores.confusion - np.diag(np.diag(scores.confusion))
    found: list[Case] = []
    for flat in np.argsort(-off, axis=None, kind="stable")[:PAIRS].tolist():
        true, given = divmod(flat, len(off))
        if off[true, given] == 0:
            break
        here = np.flatnonzero((scores.codes == true) & (scores.given == given))
        sure = here[np.argsort(-scores.P[here, given], kind="stable")]
        chosen = [sure[0]] if len(sure) == 1 or found else [sure[0], sure[-1]]
        found += [_case(model, rows, scores, int(at), true, given, len(here)) for at in chosen]
    return found


def _case(
    model: GenerativeEstimator, rows: Given, scores: Scores, at: int, true: int, given: int, pair_rows: int
) -> Case:
    place = int(scores.places[at])
    labels = model.classes_.tolist()
    one = np.array([place])
    rest = without(model, rows, one, scores.how)
    if len(rest.classes_) < len(labels):  # it was the only row of its class
        rest = model
    explained: Explanation = rest.explain(rows.some(one), (labels[given], labels[true]))
    terms = explained.terms(0, TERMS)
    return Case(
        place,
        int(rows.at[place]) + 1,
        true,
        given,
        float(scores.P[at, given]),
        terms,
        float(explained.total[0]),
        pair_rows,
    )
