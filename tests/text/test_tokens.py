"""Tokens are scikit-learn's, for any text."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.data.vocabulary import Vocabulary
from suffit.text.counting import class_counts, count_matrix
from suffit.text.documents import read_texts
from suffit.text.tokens import Scanner, Tokens

ODD = [
    "İstanbul ISTANBUL İİ", "ΣΊΣΥΦΟΣ ΟΔΟΣ Σ ΑΣ", "ﬁne ﬀ ß ẞẞ ŉa", "naïve nai\u0308ve e\u0301te\u0301",
    "٣٤ ५६ x² ½½ Ⅷ ⅷⅷ",
    "a_b __ _ a-b it's", "nul\x00in\x00 x\x00y", "half\ud800pair \udfff\udfff ab\ud83dcd",
    "汉字 漢 かな", "𝔘𝔫𝔦 😀😀 👍🏽 a😀bc",
    "", " ", "a", "ab", "\u200bzero\u200dwidth\ufeff", "tab\tand\nnew\r\nlines  two   three", "À LA CARTE à la carte",
    "x" * 70_000, "ab " * 3_000, "éééééééé ééééééééé", "\u0130\u0307 \u0345\u0345a",
]  # fmt: skip
texts = st.text(st.one_of(st.characters(), st.sampled_from("aAbBzZ09_ éÉßİΣς汉\u0301\u00b2 \n\t.-'")), max_size=60)
SETTINGS = [
    {},
    {"lowercase": False},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 3), "stop_words": ("ab", "it", "zz")},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char", "ngram_range": (2, 2), "lowercase": False},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char_wb"},
]


def counted(documents, given):
    words, counts = class_counts(
        read_texts(documents),
        Tokens(**given),
        Rows(Index.of(range(len(documents))), np.arange(len(documents), dtype=np.int32)),
        False,
    )
    return list(words.labels), counts


def expected(documents, given):
    vectoriser = CountVectorizer(
        **{**given, "stop_words": list(given["stop_words"]) if "stop_words" in given else None}
    )
    try:
        X = vectoriser.fit_transform(documents)
    except ValueError:  # no token in any of them
        return [], np.zeros((len(documents), 0))
    return vectoriser.get_feature_names_out().tolist(), X.toarray()


def check(documents, given):
    words, counts = counted(documents, given)
    wanted, X = expected(documents, given)
    assert words == wanted
    np.testing.assert_array_equal(counts, X)
    matrix = count_matrix(read_texts(documents), Tokens(**given), Index(Vocabulary.of(wanted)))
    np.testing.assert_array_equal(matrix.toarray(), X)


@pytest.mark.parametrize("given", SETTINGS, ids=str)
def test_odd_texts_have_the_tokens_of_scikit_learn(given):
    check(ODD, given)


@settings(max_examples=60, deadline=None)
@given(documents=st.lists(texts, min_size=1, max_size=4), which=st.integers(0, len(SETTINGS) - 1))
@example(documents=["İİ ΑΣ Σ"], which=0)
def test_any_texts_have_the_tokens_of_scikit_learn(documents, which):
    check(documents, SETTINGS[which])


def test_every_code_point_is_a_letter_exactly_where_a_regular_expression_has_it_so():
    for start in range(0, 0x110000, 0x4000):
        points = [f"{chr(c)}{chr(c)} a{chr(c)}b" for c in range(start, start + 0x4000)]
        text = " ".join(points)
        words, _ = counted([text], {"lowercase": False})
        assert words == sorted(set(re.findall(r"(?u)\b\w\w+\b", text)))


def test_many_texts_in_blocks_on_threads_count_as_one():
    rng = np.random.default_rng(3)
    vocabulary = np.array([f"w{i}" * (1 + i % 4) for i in range(40_000)])
    documents = [" ".join(vocabulary[rng.zipf(1.3, 300) % 40_000]) for _ in range(7_000)]
    y = rng.integers(0, 3, 7_000)
    assert sum(map(len, documents)) > 1 << 23  # several vocabularies, merged
    words, counts = class_counts(read_texts(documents), Tokens(), Rows.of(y), False)
    vectoriser = CountVectorizer()
    X = vectoriser.fit_transform(documents)
    assert list(words.labels) == vectoriser.get_feature_names_out().tolist()
    np.testing.assert_array_equal(counts, [np.asarray(X[y == c].sum(axis=0)).ravel() for c in range(3)])
    _, present = class_counts(read_texts(documents), Tokens(), Rows.of(y), True)
    np.testing.assert_array_equal(present, [np.asarray((X[y == c] > 0).sum(axis=0)).ravel() for c in range(3)])


def test_words_are_found_wherever_they_lie_among_the_bytes_that_are_looked_at_together():
    rng = np.random.default_rng(0)
    pieces = [
        "a",
        "ab",
        "word",
        "x" * 63,
        "y" * 64,
        "z" * 65,
        "é",
        "éé",
        "汉",
        "汉字",
        "𝔘",
        "𝔘𝔫",
        "😀",
        " ",
        "-",
        ". ",
        "_",
    ]
    for _ in range(60):
        documents = ["".join(rng.choice(pieces, rng.integers(0, 40))) for _ in range(rng.integers(1, 30))]
        for some in (documents, [text.encode("ascii", "ignore").decode() for text in documents]):
            data, begins, stops, ends, n = Scanner(Tokens()).spans(read_texts(some), 0, len(some))
            found = [data[a:b].tobytes().decode() for a, b in zip(begins[:n], stops[:n], strict=True)]
            wanted = [re.findall(r"\b\w\w+\b", text.lower()) for text in some]
            assert found == [word for words in wanted for word in words]
            assert np.diff(ends, prepend=0).tolist() == [len(words) for words in wanted]


def test_hashes_of_words_are_those_of_models_saved_before():
    def of(word):
        size, h, whole = len(word), 0, (1 << 64) - 1
        for a in range(0, size, 8):
            mixed = size if a == 0 else h ^ h >> 32
            h = (mixed ^ int.from_bytes(word[a : a + 8], "little")) * 0x9E3779B97F4A7C15 & whole
        h = (h ^ h >> 32) * 0xD6E8FEB86659FD93 & whole
        return (h >> 32) * 2**20 >> 32

    words = ["ab", "sevenly", "eightful", "ninebytes", "x" * 15, "x" * 16, "x" * 17, "y" * 100, "汉字", "éééééééé"]
    ids, ends = Scanner(Tokens(width=2**20)).ids(None, False, read_texts([" ".join(words)]), 0, 1)
    assert ids[: ends[-1]].tolist() == [of(word.encode()) for word in words]
    assert of(b"suffit") == 643_222
