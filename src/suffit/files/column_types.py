"""The types that the columns of a data frame had, by name: so that draws come back as such columns.

A type is found by its name when it is asked for, so that no library is imported to load a model.  Types without a name
of this kind are not kept; columns are then of whatever type holds their values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TypeAlias

from .container import refuse
from .reading import listed, only
from .values import decoded_label, encoded

FORMS = ("array", "dict", "pandas", "polars", "pyarrow", "modin", "cudf")
LIBRARIES = ("pandas", "polars", "pyarrow")
_UNIT = r"(?:s|ms|us|ns)"
_ZONE = r"[A-Za-z0-9_/+:-]{1,40}"
_SIZED = r"(?:u?int(?:8|16|32|64)|float(?:16|32|64))"
NAME = {
    "pandas": re.compile(
        rf"{_SIZED}|bool|object|str|string|U?Int(?:8|16|32|64)|Float(?:32|64)|boolean"
        rf"|(?:datetime|timedelta)64\[{_UNIT}(?:, {_ZONE})?\]|(?:{_SIZED}|bool|string|double|float)\[pyarrow\]"
    ),
    "polars": re.compile(
        r"U?Int(?:8|16|32|64|128)|Float(?:32|64)|Boolean|String|Categorical|Date|Time|Null|Object|Binary"
        rf"|Datetime\((?:ms|us|ns)(?:, {_ZONE})?\)|Duration\((?:ms|us|ns)\)"
    ),
    "pyarrow": re.compile(
        rf"{_SIZED}|halffloat|float|double|bool|string|large_string|binary|null|date32\[day\]|date64\[ms\]"
        rf"|time32\[(?:s|ms)\]|time64\[(?:us|ns)\]|(?:timestamp|duration)\[{_UNIT}(?:, tz={_ZONE})?\]"
        r"|dictionary<values=(?:large_)?string, indices=u?int(?:8|16|32|64), ordered=[01]>"
    ),
}


TypeName: TypeAlias = str | dict[str, object]  # a name, or the categories and whether they are ordered


class ColumnTypes(Mapping[str, object]):
    """Types of columns, found by their names when asked for."""

    def __init__(self, form: str, names: Mapping[str, TypeName]) -> None:
        self.form, self.names = form, dict(names)

    def __getitem__(self, column: str) -> object:
        return type_named(self.form, self.names[column])

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def written_types(form: str, types: Mapping[str, object]) -> dict[str, TypeName]:
    """The names of types, of those that are found again by them."""
    if isinstance(types, ColumnTypes):
        return types.names
    found = {column: _name_of(form, kind) for column, kind in types.items()}
    return {column: name for column, name in found.items() if name is not None}


def read_types(form: object, names: object) -> ColumnTypes:
    """Types of columns by names, which are checked."""
    if type(form) is not str or form not in FORMS or type(names) is not dict:
        refuse("it does not say what kind of table was learned")
    for name in names.values():
        if type(name) is dict:
            _categories(name)
        elif form not in NAME or type(name) is not str or not NAME[form].fullmatch(name):
            refuse(f"it has a column of the unknown type {name!r:.100}")
    return ColumnTypes(form, names)


def _name_of(form: str, kind: object) -> TypeName | None:
    """The name of a type; None where it has none by which it is found again."""
    if form not in LIBRARIES:
        return None
    library = import_module(form)
    if form == "pandas" and isinstance(kind, library.CategoricalDtype):
        categories = None if kind.categories is None else [encoded(v) for v in kind.categories.tolist()]
        name: TypeName = {"categories": categories, "ordered": bool(kind.ordered)}
    elif form == "polars" and isinstance(kind, library.Enum):
        name = {"categories": kind.categories.to_list(), "ordered": True}
    elif form == "polars":
        base = type(kind).__name__ if isinstance(kind, library.DataType) else str(kind)
        inside = [v for v in (getattr(kind, "time_unit", None), getattr(kind, "time_zone", None)) if v is not None]
        name = base + (f"({', '.join(inside)})" if inside else "")
    else:
        name = str(kind)
    try:
        known = isinstance(name, dict) or NAME[form].fullmatch(name)
        return name if known and type_named(form, name) == kind else None
    except (ValueError, TypeError, AttributeError, KeyError):
        return None


def type_named(form: str, name: TypeName) -> object:
    """The type of a library by its name, which has been checked."""
    library: ModuleType = import_module(form)
    if isinstance(name, dict):
        categories, ordered = _categories(name)
        return library.Enum(categories) if form == "polars" else library.CategoricalDtype(categories, ordered)
    if form == "pandas":
        return library.api.types.pandas_dtype(name)
    base, _, inside = name.partition("(" if form == "polars" else "[")
    if form == "polars":
        return getattr(library, base)(*inside.rstrip(")").split(", ")) if inside else getattr(library, base)()
    if name.startswith("dictionary<"):
        values, indices, ordered = (part.partition("=")[2] for part in name[:-1].split(", "))
        made = library.type_for_alias(indices), library.type_for_alias(values)
        return library.dictionary(*made, ordered=ordered == "1")
    unit, _, zone = inside[:-1].partition(", tz=")
    if base == "timestamp":
        return library.timestamp(unit, zone or None)
    return library.type_for_alias(name)


def _categories(entry: object) -> tuple[list[object] | None, bool]:
    categories, ordered = only(entry, "categories", "ordered")
    if type(ordered) is not bool:
        refuse("it does not say whether categories are ordered")
    return None if categories is None else [decoded_label(v) for v in listed(categories)], ordered
