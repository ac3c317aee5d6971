"""Values come back from JSON as exactly what they were, type and all; what cannot is refused when it is written."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import suffit
from suffit.files.container import RefusedError
from suffit.files.store import from_bytes, to_bytes
from suffit.files.values import decoded, encoded

LABELS: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -7,
        2**53,
        -(2**80),
        0.1,
        -0.0,
        1e-320,
        1e16,
        3.0,
        math.inf,
        -math.inf,
        "",
        "é\x00",
        "\ud800",
    ),
    *(b"", b"\x00\xff", (), (1, "a", (2.5, None)), dt.date(2020, 2, 29), dt.datetime(2020, 1, 1, 3, 4, 5, 6)),
    *(dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=-3.5))), dt.timedelta(-1, 5, 7), Decimal("1.10")),
    *(np.int8(-3), np.uint64(2**64 - 1), np.float32(0.1), np.float64(math.inf), np.bool_(True), np.str_("x")),
    *(
        np.bytes_(b"x"),
        np.datetime64("2020-01-01"),
        np.datetime64("2020-01-01T00:00:00.000000001"),
        np.timedelta64(5, "s"),
    ),
]
SETTINGS: list[Any] = [[1, [2.0, "a"]], {"a": 1, 2: "b", (1, 2): None}, {}, [], {"tuple": [1]}, [(1,), {"x": b"y"}]]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, tuple | list):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return type(b) is dict and same([*a], [*b]) and same([*a.values()], [*b.values()])
    return type(a) is type(b) and a == b and repr(a) == repr(b)


@pytest.mark.parametrize("value", LABELS + SETTINGS, ids=repr)
def test_a_value_comes_back_as_what_it_was(value: Any):
    assert same(decoded(json.loads(json.dumps(encoded(value), allow_nan=False))), value)


def test_nan_comes_back():
    assert math.isnan(decoded(encoded(math.nan)))


@pytest.mark.parametrize(
    "value", [object(), {1}, 1j, np.longdouble(1), pd.Timestamp("2020"), len, 10**5000], ids=lambda v: type(v).__name__
)
def test_what_has_no_place_in_a_file_is_refused(value: Any):
    with pytest.raises(RefusedError):
        encoded(value)


NONE = [
    *({}, {"tuple": 1}, {"tuple": [], "dict": []}, {"what": 1}, {"dict": [[1]]}, {"dict": [[[], 1]]}, {"float": "1.0"}),
    *({"dict": [[1, 1], [True, 2]]}, {"int": "1"}, {"int": "1e9"}, {"int": 5}, {"bytes": "?"}, {"bytes": "YQ"}),
    *({"date": "2020-13-01"}, {"date": "20200101"}, {"datetime": "x"}, {"timedelta": "1"}, {"decimal": "x"}),
    *(
        {"numpy": ["<i1", 300]},
        {"numpy": ["|O", 1]},
        {"numpy": ["<i8", 1.5]},
        {"numpy": ["<f4", 0.1]},
        {"numpy": "<i8"},
    ),
    *({"numpy": ["<M8[ns]", "2020"]}, {"numpy": ["<M8[xs]", 1]}, {"numpy": ["|i1", True]}, {"range": 5}),
]


@pytest.mark.parametrize("value", NONE, ids=repr)
def test_a_value_that_nothing_writes_is_refused(value: Any):
    with pytest.raises(RefusedError):
        decoded(value)


def objects(a: Any, b: Any) -> np.ndarray:
    out = np.empty(8, object)
    out[:] = [a] * 4 + [b] * 4
    return out


CLASSES = {
    "integers": np.repeat([1, 2], 4),
    "small integers": np.repeat(np.array([1, 2], np.int8), 4),
    "large integers": np.repeat(np.array([1, 2**64 - 1], np.uint64), 4),
    "floats": np.repeat(np.array([1.0, 2.0], np.float32), 4),
    "truths": np.repeat([True, False], 4),
    "texts": np.repeat(["a\0b", "c"], 4),
    "bytes": np.repeat([b"a", b"bc"], 4),
    "dates": objects(dt.date(2020, 1, 1), dt.date(2021, 1, 1)),
    "days": np.repeat(np.array(["2020-01-01", "2021-01-01"], "M8[D]"), 4),
    "nanoseconds": np.repeat(np.array(["2020-01-01", "2021-01-01"], "M8[ns]"), 4),
    "tuples": objects((1, "a"), (2, "b")),
    "a mixture": objects("a", 1),
    "numbers of NumPy": objects(np.int8(3), np.float32(0.1)),
    "categories of pandas": pd.Series(list("aaaabbbb"), dtype="category"),
    "very large integers": objects(2**80, -(2**80)),
}


@pytest.mark.parametrize("name", CLASSES)
def test_classes_come_back_as_the_labels_they_were(name: str):
    X = np.arange(8.0)[:, None]
    model = suffit.GaussianNB().fit(X, CLASSES[name])
    again = from_bytes(to_bytes(model), "x")
    assert same(again._model.classes, model._model.classes)
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_a_label_that_cannot_be_written_is_named():
    model = suffit.GaussianNB().fit(np.arange(8.0)[:, None], objects(pd.Timestamp("2020"), pd.Timestamp("2021")))
    with pytest.raises(suffit.InputError, match=r"GaussianNB\.save: Timestamp\(.* is of type Timestamp, .*; use text"):
        to_bytes(model)
