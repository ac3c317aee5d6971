"""The types of a table's columns come back by their names; others are left to the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffit.files.column_types import read_types, written_types
from suffit.files.container import RefusedError

TYPES: dict[str, list[Any]] = {
    "pandas": [
        *(np.dtype("float64"), np.dtype("int8"), np.dtype(bool), np.dtype(object), np.dtype("M8[ns]"), pd.Int64Dtype()),
        *(pd.BooleanDtype(), pd.StringDtype(), pd.StringDtype(na_value=np.nan), pd.CategoricalDtype(["b", "a"], True)),
        *(pd.CategoricalDtype([3, 1]), pd.DatetimeTZDtype("us", "Europe/Zurich"), pd.ArrowDtype(pa.int64())),
    ],
    "polars": [
        *(pl.Float64(), pl.Int8(), pl.UInt64(), pl.Boolean(), pl.String(), pl.Date(), pl.Categorical(), pl.Time()),
        *(pl.Datetime("us", "UTC"), pl.Datetime("ns"), pl.Duration("ms"), pl.Enum(["b", "a"])),
    ],
    "pyarrow": [
        *(pa.float64(), pa.float32(), pa.int8(), pa.uint64(), pa.bool_(), pa.string(), pa.large_string(), pa.date32()),
        *(pa.timestamp("us", "UTC"), pa.timestamp("ns"), pa.duration("ms"), pa.time64("us"), pa.null()),
        *(pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.large_string(), ordered=True)),
    ],
}
EVERY = [(form, kind) for form, kinds in TYPES.items() for kind in kinds]


@pytest.mark.parametrize(("form", "kind"), EVERY, ids=str)
def test_a_type_comes_back_by_its_name(form: str, kind: Any):
    names = written_types(form, {"a": kind})
    read = read_types(form, names)
    assert read["a"] == kind
    assert str(read["a"]) == str(kind)
    assert written_types(form, read) == names


@pytest.mark.parametrize(
    ("form", "kind"),
    [("pandas", pd.SparseDtype(float)), ("polars", pl.List(pl.Int8)), ("pyarrow", pa.struct([("x", pa.int8())]))],
    ids=str,
)
def test_a_type_without_such_a_name_is_not_kept(form: str, kind: Any):
    assert written_types(form, {"a": kind}) == {}


@pytest.mark.parametrize(
    ("form", "names"),
    [
        *(("pandas", {"a": name}) for name in ("os.system", "Float64()", "int7", "", 5, None, ["int8"], {"more": 1})),
        *(("polars", {"a": name}) for name in ("read_csv", "Config", "Datetime(us, a'b)", "Int8()")),
        *(("os", {}), ("pandas.io", {}), (None, {}), ("array", {"a": "float64"}), ("pandas", [])),
    ],
    ids=str,
)
def test_other_names_are_refused(form: Any, names: Any):
    with pytest.raises(RefusedError):
        read_types(form, names)
