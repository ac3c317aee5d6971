"""Is a column of text free text, whose words say something, or names and identifiers?"""

from __future__ import annotations

import numpy as np

from ..core.stats import Stats
from ..data.column import Column
from ..data.labels import Index
from ..data.rows import Rows
from ..families.counts.text import WORDS, Text
from ..text.documents import column_texts

AS_TEXT = Text()
LEAST_WORDS = 3.0  # different words that a text has on average
AGAIN = 0.5  # share of the words of texts that come again in other texts
LETTERS = 0.5  # share of them that begin with a letter
_PRESENCE = Text("bernoulli")


def words_of_texts(column: Column, rows: Rows) -> int | None:
    """How many different words a column of free text has; None where it is none."""
    here = np.flatnonzero(rows.part(0, len(rows))[1] > 0)
    texts = column_texts(column)[here]
    one = Rows(Index((0,)), np.zeros(len(here), np.int32))
    stats: Stats = _PRESENCE.collect(texts, one)
    texts_with, n = stats["count"][0], float(stats["n"][0])
    total = float(texts_with.sum())
    if total < LEAST_WORDS * max(n, 1.0) or float(texts_with[texts_with > 1].sum()) < AGAIN * total:
        return None
    letters = np.array([str(word)[0].isalpha() for word in stats.axes[WORDS].labels], dtype=bool)
    return len(texts_with) if float(texts_with[letters].sum()) >= LETTERS * total else None
