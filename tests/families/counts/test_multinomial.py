"""Documents as sequences of word ids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import suffit
from refusals import (
    refused,
)
from suffit import (
    ComplementNB,
    InputError,
    MultinomialNB,
)

BAD_DOCUMENTS = {
    "negative id": ([[0, 1], [2, -1]], "document 1: word ids must be from 0 to 67108863, found -1"),
    "fraction": ([[0, 1], [0.5]], r"document 1: word ids must be a flat sequence of integers, found \[0.5\]"),
    "word": ([[0, 1], ["spam"]], "document 1: .*integers, found.*spam"),
    "text": ([[0, 1], "spam"], "document 1: .*integers, found 'spam'"),
    "flat": ([0, 1], "document 0: .*flat sequence of integers, found 0"),
    "nested": ([[0, 1], [[0], [1]]], "document 1: .*flat sequence"),
    "yes or no": ([[0, 1], [True]], "document 1: .*integers, found"),
    "missing": ([[0, 1], [None]], "document 1: .*integers, found"),
    "NaN": ([[0, 1], [np.nan]], "document 1: .*integers, found"),
    "none": ([], "no documents"),
    "one text": ("spam and eggs", "list of documents"),
    "matrix": (sparse.csr_array(np.eye(2)), "list of documents"),
    "number": (7, "list of documents"),
    "y short": ([[0], [1], [2]], "inconsistent numbers of samples"),
    "larger than any vocabulary": ([[0, 1], [2**63]], "document 1.*word id"),
}


@pytest.mark.parametrize("case", BAD_DOCUMENTS)
@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB])
def test_bad_documents(make, case):
    bad, match = BAD_DOCUMENTS[case]
    known = make(input="sequences").fit([[0, 0, 1], [2, 1], [2, 3]], ["ham", "spam", "spam"])
    known._probe = [[0, 1], [3], [], [99]]
    labels = ["ham", "spam"] if case != "none" else []
    for est in (make(input="sequences"), known):
        for method in ("fit", "partial_fit"):
            refused(est, lambda e, m=method: getattr(e, m)(bad, labels), match)
    refused(known, lambda e: e.forget(bad, labels), match)
    if case != "y short":
        refused(known, lambda e: e.predict(bad), match)


def test_words_and_documents_never_learned():
    known = MultinomialNB(input="sequences").fit([[0, 0, 1], [2, 1], [2, 3]], ["ham", "spam", "spam"])
    known._probe = [[0, 1], [3], [], [99]]
    for document in ([0, 0, 0], [2], [99]):
        refused(
            known,
            lambda e, d=document: e.forget([d], ["ham"]),
            r"forget: class 'ham'.*word (0|2|99)",
            InputError,
        )
    np.testing.assert_allclose(known.predict_proba([[], [99]]), [known._fitted.prior] * 2, atol=1e-15)


def test_sequences_can_be_drawn_and_read_again():
    model = suffit.MultinomialNB(input="sequences").fit([[0, 0, 1], [2, 1], [2, 2, 2, 3]], ["ham", "spam", "spam"])
    documents, labels = model.sample(5, y="spam", random_state=0)
    assert model.predict_proba(documents).shape == (5, 2)
    assert labels.tolist() == ["spam"] * 5
