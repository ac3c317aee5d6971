"""Values put into columns of a data frame library, of the type that a column had, as far as they fit it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Cells
from .rows import is_missing


def native_column(values: Cells, form: str, wanted: object) -> Any:
    """A column of a library, of the wanted type where the values fit it, else of a type that holds them."""
    cells = [None if is_missing(v) else v for v in values.tolist()]
    if wanted is not None and fits(values, str(wanted)):
        try:
            return _built(cells, form, wanted)
        except (TypeError, ValueError, OverflowError, NotImplementedError):
            pass  # a type of the library that does not take such values
    plain: object = values if values.dtype.kind != "O" else cells
    nullable = form == "pandas" and None in cells and {type(v) for v in cells} == {int, type(None)}
    return _built(plain, form, "Int64" if nullable else None)


def fits(values: Cells, wanted: str) -> bool:
    """Whether a column can be of this type: an integer type holds no fractions, and numbers in its range alone."""
    digits = "".join(c for c in wanted if c.isdigit())
    name = wanted.lower().removesuffix("[pyarrow]")
    if name not in {f"{kind}{digits}" for kind in ("int", "uint")} or digits not in ("8", "16", "32", "64"):
        return True
    there = [v for v in values.tolist() if not is_missing(v)]
    low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
    if len(there) < len(values) and wanted == name and values.dtype.kind != "O":
        return False
    return all(v == int(v) and low <= v <= high for v in there)


def _built(cells: object, form: str, wanted: object) -> Any:
    if form == "polars":
        made = import_module(form).Series(cells, dtype=wanted)
        return made.fill_nan(None) if made.dtype.is_float() else made
    if form == "pyarrow":
        pa = import_module(form)
        return pa.chunked_array([pa.array(_whole(cells, wanted), type=wanted, from_pandas=True)])
    return import_module(form).Series(_whole(cells, wanted), dtype=wanted)


def _whole(cells: Any, wanted: object) -> Any:
    """Whole floats as integers, where integers are wanted."""
    if wanted is None or "int" not in str(wanted).lower() or "interval" in str(wanted):
        return cells
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in cells]


def native_filled(native: Any, form: str, missing: NDArray[np.bool_], values: Cells) -> Any:
    """A column with values in place of missing ones, every other cell as it is; a wider type where it must be."""
    full = np.empty(len(missing), dtype=object)
    full[missing] = values
    wanted = native.type if form == "pyarrow" else native.dtype
    if not fits(values, str(wanted)):
        there = np.array([0 if is_missing(v) else v for v in _listed(native)], dtype=object)
        if any(abs(v) > 2**53 for v in there):  # a float would change what is there
            full[missing] = [round(v) for v in values.tolist()]
        else:
            full = np.where(missing, full, there)
            made = native_column(full.astype(np.float64), form, None)
            if form == "pandas":
                made.index, made.name = native.index, native.name
            return made
    if form == "polars":
        return native.zip_with(import_module(form).Series(~missing), native_column(full, form, wanted))
    if form == "pyarrow":
        return _arrow_filled(native, missing, native_column(full, form, wanted))
    out = native.copy()
    out.iloc[np.flatnonzero(missing)] = _whole(full[missing].tolist(), wanted)
    return out


def _arrow_filled(native: Any, missing: NDArray[np.bool_], full: Any) -> Any:
    pa, pc = import_module("pyarrow"), import_module("pyarrow.compute")
    wanted = native.type
    if pa.types.is_dictionary(wanted):
        native, full = native.cast(wanted.value_type), full.cast(wanted.value_type)
    made = pc.if_else(pa.chunked_array([pa.array(missing)]), full, native)
    if pa.types.is_dictionary(wanted):
        made = made.dictionary_encode().cast(wanted)
    return made


def _listed(native: Any) -> list[Any]:
    return native.to_pylist() if hasattr(native, "to_pylist") else native.to_list()
