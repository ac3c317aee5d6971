"""Texts of any library are the same texts, and a missing one is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffit import InputError
from suffit.text.documents import ArrowTexts, read_texts

TEXTS = ["Free MONEY now", "", None, "déjà vu", "see you at noon", "x"]
PLAIN = ["" if t is None else t for t in TEXTS]
FORMS = {
    "list": lambda: list(TEXTS),
    "tuple": lambda: tuple(TEXTS),
    "array of objects": lambda: np.array(TEXTS, dtype=object),
    "column of objects": lambda: np.array(TEXTS, dtype=object)[:, None],
    "pandas": lambda: pd.Series(TEXTS, name="body"),
    "pandas of objects": lambda: pd.Series(TEXTS, dtype=object),
    "pandas of Arrow": lambda: pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "pandas categorical": lambda: pd.Series(TEXTS, dtype="category"),
    "pandas frame": lambda: pd.DataFrame({"body": TEXTS}),
    "polars": lambda: pl.Series("body", TEXTS),
    "polars frame": lambda: pl.DataFrame({"body": TEXTS}),
    "Arrow": lambda: pa.array(TEXTS),
    "large Arrow": lambda: pa.array(TEXTS, pa.large_string()),
    "Arrow views": lambda: pa.array(TEXTS, pa.string_view()),
    "sliced Arrow": lambda: pa.array(["before", *TEXTS, "after"]).slice(1, len(TEXTS)),
    "chunks": lambda: pa.chunked_array([pa.array(TEXTS[:2]), pa.array(TEXTS[2:])]),
    "dictionary": lambda: pa.array(TEXTS).dictionary_encode(),
    "Arrow table": lambda: pa.table({"body": TEXTS}),
    "NaN for missing": lambda: [np.nan if t is None else t for t in TEXTS],
}


@pytest.mark.parametrize("form", FORMS)
def test_texts_of_any_library_are_read_alike(form):
    texts = read_texts(FORMS[form]())
    assert texts.strings(0, len(texts)) == PLAIN
    assert texts.missing.tolist() == [t is None for t in TEXTS]
    for some in (slice(1, 4), slice(None, None, 2), np.array([3, 0]), texts.missing):
        assert texts[some].strings(0, len(texts[some])) == np.array(PLAIN, object)[some].tolist()
        assert texts[some].missing.tolist() == texts.missing[some].tolist()
    data, starts = texts.read(0, 2, str.lower)
    assert data[: starts[-1]].tobytes().lower() == b"free money now"


def test_arrow_is_read_where_it_is():
    words = pa.array(TEXTS)
    texts = read_texts(words)
    assert isinstance(texts, ArrowTexts)
    assert np.shares_memory(texts.data, np.frombuffer(words.buffers()[2], np.uint8))


def test_strings_of_numpy_are_texts():
    assert read_texts(np.array(["a b", "c"])).strings(0, 2) == ["a b", "c"]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("one text", r"found the text 'one text'; give one text as \[text\]"),
        (["a", 5], "row 1 holds 5, of type int; expected a text or a missing value"),
        (["a", b"b"], "row 1 holds b'b', of type bytes"),
        (np.array([1.0, 2.0]), "row 0 holds 1.0, of type float"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "X has 2 columns, and must be one column of texts"),
        ([], "no texts"),
        (7, "X must be a list or a column of texts, found int"),
        ({"a", "b"}, "X must be a list or a column of texts, found set"),
        ({"a": 1, "b": 2}.keys(), "X must be a list or a column of texts, found dict_keys"),
    ],
)
def test_what_is_no_text_is_refused(X, message):
    with pytest.raises((InputError, ValueError), match=message):
        read_texts(X)
