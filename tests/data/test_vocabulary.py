"""A vocabulary is a sorted set of words, whatever words they are."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from suffit.data.labels import Index
from suffit.data.vocabulary import Vocabulary, word_order

words = st.lists(st.text(st.one_of(st.sampled_from("ab\x00é汉"), st.characters()), max_size=20), max_size=12)


@settings(max_examples=200, deadline=None)
@given(words, words)
def test_a_vocabulary_is_a_sorted_set(a, b):
    A, B = Vocabulary.of(a), Vocabulary.of(b)
    assert list(A) == sorted(set(a)) == [A[i] for i in range(len(A))]
    assert list(A.union(B)) == sorted({*a, *b})
    assert A.find(B).tolist() == [sorted(set(a)).index(w) if w in a else -1 for w in sorted(set(b))]
    assert all(w in A for w in a)
    assert pickle.loads(pickle.dumps(A)) == A
    assert (A == B) == (set(a) == set(b))


@settings(max_examples=200, deadline=None)
@given(words)
def test_words_are_ordered_by_their_code_points(some):
    distinct = list(dict.fromkeys(some))
    coded = [w.encode("utf-8", "surrogatepass") for w in distinct]
    order = word_order(np.frombuffer(b"".join(coded), np.uint8), np.cumsum([0, *map(len, coded)]))
    assert [distinct[i] for i in order] == sorted(distinct)


def test_an_index_of_words_is_an_index():
    a, b = Index(Vocabulary.of(["ham", "spam"])), Index(Vocabulary.of(["eggs", "spam"]))
    assert list(a.union(b).labels) == ["eggs", "ham", "spam"]
    assert a.union(b).positions_of(a).tolist() == [1, 2]
    assert a.union(a.take([0])) is a
    assert a == Index(("ham", "spam"))
    assert a != b
    assert a.position == {"ham": 0, "spam": 1}
    assert pickle.loads(pickle.dumps(a)) == a
