"""Files that are damaged, or made to do harm: refused in words, and none loads as another model than was saved."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
import zlib
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

import suffit
from damaged_files import (
    DAMAGES,
    damaged,
    damaged_files,
    files,
    hostile_files,
    is_refused,
    joined,
    outcome,
    parts,
    signed,
)
from suffit.files.store import from_bytes

DAMAGED, SIGNED, HOSTILE = 20_000, 3_000, 1_200  # files that are tried


def test_every_damaged_file_is_refused():
    tried: Counter[str] = Counter()
    for how, data in damaged_files(DAMAGED, seed=1):
        assert is_refused(data), how
        tried[how] += 1
    assert tried.keys() == DAMAGES.keys()
    assert tried.total() > 0.99 * DAMAGED


@pytest.mark.filterwarnings("ignore")  # of numbers that nobody has learned
def test_damage_under_a_right_digest_is_refused_or_harmless():
    whole, rng = files(), Random(2)
    names = list(whole)
    found: Counter[str] = Counter()
    for _ in range(SIGNED):
        name, other = rng.sample(names, 2)
        data = damaged(whole[name], whole[other], rng)[1]
        found[outcome(name, signed(data)) if len(data) > 40 and data[:64] != whole[other][:64] else "refused"] += 1
    assert found["refused"] > 0.8 * SIGNED


@pytest.mark.filterwarnings("ignore")  # of numbers that nobody has learned
def test_hostile_content_is_refused_or_makes_a_model_that_predicts():
    found = Counter(outcome(name, data) for name, data in hostile_files(HOSTILE, seed=3))
    assert found["refused"] > 0.7 * HOSTILE
    assert found["predicts"] > 0
    assert found["says so"] < 0.01 * HOSTILE


# --- declared sizes, depth and repetition


def refusal(data: bytes) -> str:
    """Why a file is refused, which takes no more room than a few times its own."""
    tracemalloc.start()
    try:
        with pytest.raises(suffit.ModelFileError) as refused:
            from_bytes(data, "bomb.suffit")
        assert tracemalloc.get_traced_memory()[1] < 50 * len(data) + 2_000_000
    finally:
        tracemalloc.stop()
    assert str(refused.value).startswith("bomb.suffit: ")
    return refused.value.reason


def of_header(text: bytes, rest: bytes = b"") -> bytes:
    content = len(text).to_bytes(8, "little") + text + rest
    return content + hashlib.sha256(content).digest()


DIGEST = {"dtype": "U8", "shape": [32], "data_offsets": [0, 32]}


def header(**entries: Any) -> bytes:
    return json.dumps({"__metadata__": {"format": "suffit model", "version": "1"}, **entries}).encode()


HEADERS = {
    "a length beyond the file": (signed((1 << 40).to_bytes(8, "little") + bytes(200)), "header is declared with"),
    "no JSON": (of_header(b"hello"), "no JSON"),
    "a list": (of_header(b"[]"), "no object"),
    "deep": (of_header(b"[" * 100_000), "nested"),
    "deep objects": (of_header(b'{"a":' * 100_000), "nested"),
    "NaN": (of_header(b'{"a":NaN}'), "no JSON"),
    "a key twice": (of_header(b'{"a":1,"a":1}'), "comes twice"),
    "a long number": (of_header(b'{"a":' + b"9" * 100_000 + b"}"), "no JSON"),
    "no UTF-8": (of_header(b'{"a":"\xff"}'), "no JSON"),
    "no metadata": (of_header(b"{}"), "no metadata"),
    "metadata that are no text": (of_header(b'{"__metadata__":{"format":1}}'), "no metadata"),
    "a huge array": (
        of_header(header(a={"dtype": "F64", "shape": [1 << 50], "data_offsets": [0, 1 << 53]})),
        "account",
    ),
    "a negative size": (of_header(header(a={"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]})), "not that of"),
    "many dimensions": (
        of_header(header(a={"dtype": "F64", "shape": [1] * 99, "data_offsets": [0, 8]})),
        "not that of",
    ),
    "an unknown type": (of_header(header(a={"dtype": "F8", "shape": [1], "data_offsets": [0, 1]})), "not that of"),
    "a key too many": (of_header(header(sha256={**DIGEST, "more": 1})), "not dtype, shape"),
    "no digest": (of_header(header(a={"dtype": "U8", "shape": [32], "data_offsets": [0, 32]})), "account for"),
    "bytes of nobody": (of_header(header(sha256={**DIGEST, "data_offsets": [8, 40]}), bytes(8)), "not where"),
    "no document": (of_header(header(sha256=DIGEST)), "no document"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_lies_is_refused(name: str):
    data, reason = HEADERS[name]
    assert reason in refusal(data)


def changed(name: str, change: Any) -> bytes:
    metadata, document, arrays = parts(files([name])[name])
    return joined(metadata, *(change(document, arrays) or (document, arrays)))


def deflated_bomb(document: Any, arrays: Any) -> None:
    entry = document["estimator"]["state"]["model"]["sums"][0]["sums"]["x"]
    arrays[entry["at"]] = np.frombuffer(zlib.compress(bytes(50_000_000), 9), np.uint8)
    entry.update(deflated={"dtype": "<f8", "shape": [3, 2_000_000_000]}, shape=[3, 2_000_000_000])


def longer_than_declared(document: Any, arrays: Any) -> None:
    entry = document["estimator"]["state"]["model"]["sums"][0]["sums"]["x"]
    arrays[entry["at"]] = np.frombuffer(zlib.compress(bytes(20_000_000), 9), np.uint8)
    entry.update(deflated={"dtype": "<f8", "shape": [3, 4]}, shape=[3, 4])


def many_columns(document: Any, arrays: Any) -> None:
    """Labels and names that take no room in the file, and sums that are the same along them."""
    state = document["estimator"]["state"]
    state["n_features"] = state["model"]["columns"]["n"] = 1 << 45
    sums = state["model"]["sums"][0]
    document["axes"][sums["axes"]["feature"]] = {"range": 1 << 45}
    for entry in (*sums["sums"].values(), sums["origin"]):
        arrays[entry["at"]] = np.ones((3, 1))
        entry["shape"] = [3, 1 << 45]


def deep_document(document: Any, arrays: Any) -> None:
    value: Any = 0
    for _ in range(200):
        value = [value]
    document["estimator"]["settings"]["priors"] = value


def wide_bins(document: Any, arrays: Any) -> None:
    document["axes"] = [
        entry if "columns" not in entry else {"columns": [[0, 1, 2]] * 100} for entry in document["axes"]
    ]


def unnamed_categories(document: Any, arrays: Any) -> None:
    """Columns that neither names nor sums show."""
    state = document["estimator"]["state"]
    state["n_features"], state["model"]["columns"] = 1 << 45, {"prefix": "x", "n": 1 << 45}


def labels_of_nothing(document: Any, arrays: Any) -> None:
    document["axes"].append({"bytes": "labels/x"})
    arrays["labels/x"] = np.zeros((1 << 45, 0), np.uint8)


def many_categories(document: Any, arrays: Any) -> None:
    document["families"][0]["settings"]["least_categories"] = 1 << 45


BOMBS = {
    "columns without names or sums": ("categories", unnamed_categories, "columns without names"),
    "labels without letters": ("moments", labels_of_nothing, "without labels"),
    "categories that nobody has": ("categories", many_categories, "categories"),
    "deflated zeros": ("moments", deflated_bomb, "cannot be"),
    "more than declared": ("moments", longer_than_declared, "another length"),
    "columns that take no room": ("moments", many_columns, "far more room"),
    "a deep document": ("moments", deep_document, "nested"),
    "categories of other columns": ("bins", wide_bins, "shape"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_takes_room(name: str):
    model, change, reason = BOMBS[name]
    assert reason in refusal(changed(model, change))


# --- content that does not belong together


def set_at(*path: Any, value: Any) -> Any:
    def change(document: Any, arrays: Any) -> None:
        node = document
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value

    return change


STATE = ("estimator", "state")
WRONG = {
    "an import path as estimator": ("moments", set_at("estimator", "key", value="os.system"), "unknown estimator"),
    "a private class": ("moments", set_at("estimator", "key", value="GenerativeEstimator"), "unknown estimator"),
    "another estimator": ("moments", set_at("estimator", "key", value="GenerativeClassifier"), "a newer suffit may"),
    "an import path as family": ("moments", set_at("families", 0, "key", value="os.system"), "'os.system'"),
    "another family": (
        "moments",
        set_at("families", 0, value={"key": "categorical", "settings": {}}),
        "sums of the kind",
    ),
    "an import path as table": ("table", set_at(*STATE, "table", "form", value="subprocess"), "kind of table"),
    "an import path as type": ("table", set_at(*STATE, "table", "types", "a", value="os.system"), "unknown type"),
    "an unknown setting": ("moments", set_at("estimator", "settings", "more", value=1), "settings"),
    "an unknown state": ("moments", set_at(*STATE, "more", value=1), "no object"),
    "fewer columns": ("moments", set_at(*STATE, "n_features", value=3), "4 columns"),
    "classes twice": ("moments", set_at("axes", 0, value={"labels": ["a", "a", "b"]}), "comes twice"),
    "classes equal": ("moments", set_at("axes", 0, value={"labels": [1, True, "b"]}), "comes twice"),
    "a list as a class": ("moments", set_at("axes", 0, value={"labels": [[1], "a", "b"]}), "label"),
    "more classes": ("moments", set_at("axes", 0, value={"labels": ["a", "b", "c", "d"]}), "shape"),
    "no such axis": ("moments", set_at(*STATE, "model", "counts", "axes", value={"class": 9}), "no axis"),
    "no such array": ("moments", set_at(*STATE, "model", "counts", "sums", value={"n": {"at": "?"}}), "no array"),
    "a weight below 0": ("table", set_at(*STATE, "table", "schema", "specs", 0, "power", value=-1.0), "weight"),
    "no outlier rate": ("table", set_at(*STATE, "table", "schema", "outlier_rate", value=2.0), "outlier rate"),
    "text as a number": ("table", set_at(*STATE, "table", "schema", "outlier_rate", value="1"), "outlier_rate"),
}


@pytest.mark.parametrize("name", WRONG)
def test_parts_that_do_not_belong_together_are_refused(name: str):
    model, change, reason = WRONG[name]
    assert reason in refusal(changed(model, change))


def test_settings_that_came_later_are_as_by_default():
    """So that files of today load when an estimator has more settings than today."""

    def change(document: Any, arrays: Any) -> None:
        del document["estimator"]["settings"]["floor"], document["families"][0]["settings"]["floor"]

    assert from_bytes(changed("moments", change), "x").floor == "bounded"


def test_an_array_that_belongs_to_nothing_is_refused():
    def change(document: Any, arrays: Any) -> None:
        arrays["more"] = np.zeros(3)

    assert "'more' belongs to nothing" in refusal(changed("moments", change))


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_counts_are_numbers_of_rows(value: float):
    def change(document: Any, arrays: Any) -> None:
        name = document["estimator"]["state"]["model"]["counts"]["sums"]["n"]["at"]
        arrays[name] = np.array([1.0, value, 2.0])

    refusal(changed("moments", change))
