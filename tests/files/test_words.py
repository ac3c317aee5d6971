"""The words of a model file must be texts, different, and in their order."""

from __future__ import annotations

import numpy as np
import pytest

from suffit.data.vocabulary import Vocabulary
from suffit.files.container import RefusedError
from suffit.files.reading import Reader

GOOD = Vocabulary.of(["ham", "spam", "äpfel"])


def read(data: bytes, lengths: list[int]) -> Vocabulary:
    reader = object.__new__(Reader)
    arrays = {"words": np.frombuffer(data, np.uint8), "lengths": np.array(lengths, np.uint8)}
    reader._arrays, reader._unread = arrays, set(arrays)
    return reader._vocabulary("words", "lengths")


def test_words_are_read():
    assert read(GOOD.data.tobytes(), np.diff(GOOD.places).tolist()) == GOOD
    assert len(read(b"", [])) == 0


@pytest.mark.parametrize(
    ("data", "lengths"),
    [
        (b"spamham", [4, 3]),  # not in their order
        (b"hamham", [3, 3]),  # twice
        (b"ham\xff", [3, 1]),  # no text
        (b"hamspam", [3, 5]),  # beyond the end
        (b"hamspam", [3]),  # more than is named
        (b"ham", [0, 3]),  # no word
    ],
)
def test_words_that_are_none_are_refused(data, lengths):
    with pytest.raises(RefusedError, match="it has words that are no"):
        read(data, lengths)
