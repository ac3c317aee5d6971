"""Labels of any kind, in any container, missing ones among them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from every_estimator import CODES, X, Y, make, same
from suffit import (
    GaussianNB,
    InputError,
)

LABELS = {
    "int": [0, 1, 2],
    "negative": [-7, -1, 3],
    "far apart": [-(10**15), 0, 10**15],
    "int8": np.array([-100, 0, 99], dtype=np.int8),
    "int16": np.array([-20000, 0, 20000], dtype=np.int16),
    "uint8": np.array([0, 128, 255], dtype=np.uint8),
    "uint64": np.array([2**63 + 1, 2**63 + 2, 2**63 + 5], dtype=np.uint64),
    "str": ["x", "long label", "ü"],
    "bytes": [b"x", b"y", b"zz"],
    "float": [0.0, 1.0, 5.0],
    "negative float": [-2.0, 0.0, 1e10],
    "object str": np.array(["x", "y", "z"], dtype=object),
    "mixed": np.array([1, "x", 2.5], dtype=object),
    "tuples": [("a", 1), ("a", 2), ("b", 1)],
    "bool": [False, True, True],
    "dates": np.array(["2026-01-01", "2026-01-02", "2025-12-31"], dtype="M8[D]"),
}


def labels_of(kind):
    values = LABELS[kind]
    if kind == "tuples":
        out = np.empty(60, dtype=object)
        out[:] = [values[c] for c in CODES]
        return out
    return np.asarray(values)[CODES]


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", ["GaussianNB", "GenerativeClassifier"])
def test_labels_of_any_kind(name, kind):
    y = labels_of(kind)
    est = make(name).fit(X, y)
    assert set(est.classes_.tolist()) == set(y.tolist())
    assert est.classes_.dtype.kind == y.dtype.kind
    if y.dtype.kind != "O":
        assert est.classes_.tolist() == np.unique(y).tolist()
        assert est.predict(X).dtype == y.dtype
    codes = np.array([est.classes_.tolist().index(v) for v in y.tolist()])
    plain = make(name).fit(X, codes)
    np.testing.assert_array_equal(est.predict_proba(X), plain.predict_proba(X))
    assert est.predict(X).tolist() == [est.classes_.tolist()[c] for c in plain.predict(X)]
    if kind not in ("mixed", "tuples", "bytes"):  # no kinds of scikit-learn's accuracy
        assert 0.5 < est.score(X, y) <= 1
    assert est.sample(3, y=[y.tolist()[0]] * 3, random_state=0)[1].tolist() == [y.tolist()[0]] * 3


@pytest.mark.parametrize("container", [list, pd.Series, pl.Series, lambda y: np.asarray(y)[:, None]])
def test_containers_of_labels(container):
    y = container(Y.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est = GaussianNB().fit(X, y)
    same(est, GaussianNB().fit(X, Y))


@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "int64[pyarrow]", "boolean", "bool[pyarrow]"])
@pytest.mark.parametrize("name", ["GaussianNB", "GenerativeClassifier"])
def test_labels_of_pandas_own_types_are_what_they_are(name, dtype):
    """Numbers past 2⁵³ differ by 1, and yes or no stays that."""
    plain = np.asarray(CODES) == 1 if "bool" in dtype else np.asarray(CODES) + 2**53
    y = pd.Series(plain).astype(dtype)
    est = make(name).fit(X, y)
    assert est.classes_.tolist() == np.unique(plain).tolist()
    assert est.predict(X).dtype.kind == plain.dtype.kind or dtype == "UInt64"
    missing = y.copy()
    missing[3] = None
    with pytest.raises(InputError, match="1 of 60 labels are missing, the first in row 3"):
        make(name).fit(X, missing)


@pytest.mark.parametrize("name", ["GaussianNB", "GenerativeClassifier"])
def test_masked_labels_are_missing(name):
    y = np.ma.array(Y, mask=np.arange(60) == 3)
    with pytest.raises(InputError, match="1 of 60 labels are missing, the first in row 3"):
        make(name).fit(X, y)
