"""Values in JSON and back, of exactly the type they had: labels, categories and settings.

JSON's own null, true, false, strings, finite numbers and lists are themselves; an integer has no point and a float has
one.  Anything else is an object with one key, the type: {"tuple": […]}, {"bytes": "base64"}, {"float": "nan"}.  What
has no such type is refused when a model is saved; an unknown type is refused when it is loaded.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
import re
from collections.abc import Callable, Hashable
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np

from .container import refuse

SAFE = 1 << 53  # integers below this are numbers in every reader of JSON
MOST_DIGITS = 4000
NUMPY = re.compile(r"[<|](?:[?b]1|[iu][1248]|f[248]|[mM]8\[\d{0,4}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])|[US]")
WAY_OUT = "use text, numbers, dates or tuples of them"

T = TypeVar("T")
Encode = Callable[[object], object]


def encoded(value: object, more: Encode | None = None) -> object:
    """A value as JSON; ``more`` encodes what is no plain value."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if type(value) is int:
        return value if -SAFE < value < SAFE else {"int": _digits(value)}
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is list:
        return [encoded(v, more) for v in value]
    if type(value) is tuple:
        return {"tuple": [encoded(v, more) for v in value]}
    if type(value) is dict:
        return {"dict": [[encoded(k, more), encoded(v, more)] for k, v in value.items()]}
    if type(value) is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if kind in _BY_TYPE:
        name, write, _ = _BY_TYPE[kind]
        return {name: write(value)}
    if isinstance(value, np.generic) and (found := _numpy_scalar(value)) is not None:
        return found
    if more is not None:
        return more(value)
    return refuse(f"{value!r:.100} is of type {kind.__name__}, which a model file cannot hold; {WAY_OUT}")


def decoded(value: object, more: dict[str, Encode] | None = None) -> object:
    """The value again; ``more`` decodes further types, by name."""
    if value is None or type(value) in (bool, str, int, float):
        return value
    if type(value) is list:
        return [decoded(v, more) for v in value]
    if type(value) is not dict or len(value) != 1:
        refuse("it holds a value of no type")
    [(kind, content)] = value.items()
    if kind == "tuple" and type(content) is list:
        return tuple([decoded(v, more) for v in content])
    if kind == "dict" and type(content) is list:
        return _dict(content, more)
    if more is not None and kind in more:
        return more[kind](content)
    if kind in _BY_NAME and (type(content) is str or kind == "numpy"):
        try:
            return _BY_NAME[kind](content)
        except (ValueError, ArithmeticError, TypeError):
            pass
    return refuse(f"it holds a value of unknown type {kind[:100]!r}, or one that is none")


def decoded_label(value: object) -> Hashable:
    """The same for a label, which has a hash."""
    found = decoded(value)
    try:
        hash(found)
    except TypeError:
        refuse("it holds a list where a label should be")
    return found


def _dict(content: list[object], more: dict[str, Encode] | None) -> dict[object, object]:
    pairs = [pair for pair in content if type(pair) is list and len(pair) == 2]
    if len(pairs) < len(content):
        refuse("it holds a dict that is not made of pairs")
    try:
        found = {decoded(k, more): decoded(v, more) for k, v in pairs}
    except TypeError:
        refuse("it holds a dict with a list as a key")
    if len(found) < len(content):
        refuse("it holds a dict with a key that comes twice")
    return found


def _digits(value: int) -> str:
    if abs(value) >= 10**MOST_DIGITS:
        refuse(f"an integer has more than {MOST_DIGITS} digits")
    return str(value)


def _int(text: str) -> int:
    value = int(text)
    if len(text) > MOST_DIGITS + 1 or str(value) != text or -SAFE < value < SAFE:
        raise ValueError
    return value


def _float(text: str) -> float:
    return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}.get(text) or _never()


def _never() -> float:
    raise ValueError


def _numpy_scalar(value: np.generic) -> object:
    """A number, text or date of NumPy: its type and its value."""
    kind = value.dtype.kind
    name = kind if kind in "US" else value.dtype.newbyteorder("<").str
    if not NUMPY.fullmatch(name):
        return None
    plain = int(value.astype(np.int64)) if kind in "mM" else value.item()
    return {"numpy": [name, encoded(plain)]}


def _numpy(content: object) -> object:
    if type(content) is not list or len(content) != 2 or type(content[0]) is not str:
        raise ValueError
    if not NUMPY.fullmatch(content[0]):
        raise ValueError
    value, dtype = decoded(content[1]), np.dtype(content[0])
    takes = {"b": bool, "i": int, "u": int, "f": float, "U": str, "S": bytes, "m": int, "M": int}[dtype.kind]
    if type(value) is not takes:
        raise TypeError
    with np.errstate(over="raise"):
        made = np.array(value, np.int64).view(dtype)[()] if dtype.kind in "mM" else np.array(value, dtype)[()]
    if encoded(made) != {"numpy": content}:  # out of its range
        raise ValueError
    return made


def _datetime(value: dt.datetime) -> str:
    if value.fold or not (value.tzinfo is None or type(value.tzinfo) is dt.timezone):
        refuse(f"{value!r:.100} has a time zone of its own, which a model file cannot hold; convert it to UTC")
    return value.isoformat()


def _same(read: Callable[[str], T], write: Callable[[T], str]) -> Callable[[str], T]:
    """Reads what was written, and nothing that would be written in another way."""

    def exactly(text: str) -> T:
        value = read(text)
        if write(value) != text:
            raise ValueError
        return value

    return exactly


_BY_TYPE: dict[type, tuple[str, Callable[[Any], str], Callable[[str], Any]]] = {
    dt.date: ("date", dt.date.isoformat, dt.date.fromisoformat),
    dt.datetime: ("datetime", _datetime, dt.datetime.fromisoformat),
    dt.timedelta: (
        "timedelta",
        lambda v: f"{v.days} {v.seconds} {v.microseconds}",
        lambda text: dt.timedelta(*map(int, text.split(" "))),
    ),
    Decimal: ("decimal", str, Decimal),
}
_BY_NAME: dict[str, Callable[[Any], Any]] = {
    "int": _int,
    "float": _float,
    "bytes": _same(lambda text: base64.b64decode(text, validate=True), lambda v: base64.b64encode(v).decode()),
    "numpy": _numpy,
    **{name: _same(read, write) for name, write, read in _BY_TYPE.values()},
}
