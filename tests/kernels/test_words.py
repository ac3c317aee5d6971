"""Words coded in the order of first appearance."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import pytest

from suffit.data.frame import read_frame
from suffit.data.rows import encode


def test_empty_words_are_one_category_whatever_the_processor():
    """A shift by all bits of a number is anything: right on some processors, wrong on others."""
    code = """
import numpy as np
from suffit.kernels.words import code_words
words = ["", "abc", "", "defghijk", "", "zz", "", "q", "mnopqrstuvwxyz", "", ""]
letters = np.frombuffer("".join(words).encode() + bytes(16), np.uint8)
starts = np.cumsum([0, *map(len, words)])
codes, firsts = np.empty(len(words), np.int32), np.empty(64, np.int64)
letters.flags.writeable = starts.flags.writeable = False
code_words(letters, starts, np.zeros(0, np.uint8), 0, codes, firsts)
print(codes.tolist())
"""
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    for others in ({}, plain):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, **others, "NUMBA_CACHE_DIR": cache}
            told = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
        assert told.stdout.strip() == "[0, 1, 0, 2, 0, 3, 0, 4, 5, 0, 0]"


def first_seen(words):
    """The distinct words in the order of first appearance, and the place of each, −1 where missing."""
    categories = list(dict.fromkeys(w for w in words if w is not None))
    return categories, [-1 if w is None else categories.index(w) for w in words]


@pytest.mark.parametrize("kind", ["string", "large_string", "pandas", "two blocks"])
@pytest.mark.parametrize("different", [1, 7, 400])
def test_words_are_coded_in_the_order_of_first_appearance(kind, different):
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(different)
    letters = np.array(["", "a", "é", "€", "𝄞", "eight by", "eight bytes"])
    pool = ["".join(rng.choice(letters, rng.integers(0, 4))) + str(i // 2) for i in range(different)]
    words = [None if rng.random() < 0.2 else pool[i] for i in rng.integers(0, different, 900)]
    if kind == "pandas":
        frame = read_frame(pd.DataFrame({"w": pd.Series(words, dtype="str")}))
    else:
        values = pa.array(words, kind if kind != "two blocks" else "string")
        specs = [values] if kind != "two blocks" else [values[:500], values[500:]]
        frame = read_frame(pa.table({"w": pa.chunked_array(specs)}))
    for which in (slice(None), slice(13, 777), slice(5, 6), np.array([899, 3, 3, 41])):
        few, asked = frame.rows(which).columns["w"], np.array(words, dtype=object)[which].tolist()
        categories, codes = few.categories()
        assert [categories[c] if c >= 0 else None for c in codes] == asked
        assert few.missing().tolist() == [w is None for w in asked]
        if isinstance(which, slice):
            assert (categories, codes.tolist()) == first_seen(asked)


@pytest.mark.parametrize("dtype", ["<U9", ">U9"])
@pytest.mark.parametrize("different", [1, 5, 999])
def test_words_as_labels_are_sorted(dtype, different):
    rng = np.random.default_rng(0)
    y = np.array([f"{'aé€'[i % 3]}{i}" for i in rng.integers(0, different, 2000)], dtype)[::2]
    labels, codes, sizes = encode(y)
    values, places, counts = np.unique(y, return_inverse=True, return_counts=True)
    assert (labels, codes.tolist(), sizes.tolist()) == (values.tolist(), places.tolist(), counts.tolist())
