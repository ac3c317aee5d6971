"""Text that looks like something else: numbers and dates among categories, known categories spelled otherwise."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from .column import Column

FEW_CODES = 30  # integers as text, of no more distinct values than this, may be codes of categories
SAMPLE_ROWS = 1_000  # rows that are looked at for unknown values
VALUES = 300  # distinct values that are looked at for numbers and dates
UNKNOWN = "categories that were not seen at fit: "
IGNORED = "; they are treated as missing values; convert them to the known categories"
MOSTLY = 0.9  # share of the distinct values that must be numbers, or dates
MANY_UNKNOWN = 0.5  # share of a column's values that are unknown from which it is said,
MANY_ALIKE = 0.1  # and where they are known values spelled otherwise

_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9]\d*)(?:[.,]\d+|\.)?|\.\d+)(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+")
_DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})|\d{1,2}[- ][A-Za-z]{3,9}[- ,]+\d{2,4}"
    r"|[A-Za-z]{3,9} \d{1,2},? \d{4})(?:[T ]+\d{1,2}:\d{2}.*)?"
)
_MISSING = {"", "?", "-", "--", ".", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "nil", "missing", "unknown"}


def way_out(name: str, values: Sequence[Hashable]) -> str:
    """What to do with a column of text whose distinct values are numbers or dates; "" where they are neither.

    Few integers are taken for codes, unless a sign for a missing value is among them; with zeros in front they
    always are.

    >>> way_out("age", ["1.25", "3.5", "?"])
    "column 'age' looks like numbers (and also '?'): pd.to_numeric(X['age'], errors='coerce')"
    """
    words = [v.strip() for v in values[:VALUES] if isinstance(v, str)]
    if len(words) < 2 or not any(c.isdigit() for word in words[:20] for c in word):
        return ""
    other = [word for word in words if not _NUMBER.fullmatch(word)]
    odd = [word for word in other if word.lower() not in _MISSING]
    beside = f" (and also {', '.join(map(repr, sorted(set(other))[:3]))})" if other else ""
    if len(words) - len(other) >= 2 and len(odd) <= (1 - MOSTLY) * len(words):
        if (odd or not other) and len(words) <= FEW_CODES and all(_WHOLE.fullmatch(w) for w in words if w not in other):
            return ""
        comma = any("," in word for word in words if word not in odd)
        cells, file = (".str.replace(',', '.')", " (in a file: --decimal ,)") if comma else ("", "")
        return f"column {name!r} looks like numbers{beside}: pd.to_numeric(X[{name!r}]{cells}, errors='coerce'){file}"
    dates = [word for word in other if _DATE.fullmatch(word)]
    if len(dates) >= 2 and len(dates) >= MOSTLY * len([word for word in words if word.lower() not in _MISSING]):
        return f"column {name!r} looks like dates: pd.to_datetime(X[{name!r}]), then numbers such as the year"
    return ""


def nearest(value: Hashable, known: Collection[Hashable]) -> tuple[Hashable | None, bool]:
    """The known value most like this one (None: there is none), and whether only case, spaces or type differ.

    >>> nearest("Red ", ["blue", "red"]), nearest("7", [7, 8]), nearest("gren", ["green"])
    (('red', True), (7, True), ('green', False))
    """
    for other in known:
        if _plain(other) == _plain(value):
            return other, True
    by_text = {str(other): other for other in known}
    close = difflib.get_close_matches(str(value), by_text, n=1)
    return (by_text[close[0]] if close else None), False


def _plain(value: Hashable) -> object:
    text = " ".join(str(value).split()).casefold()
    try:
        return float(text)
    except ValueError:
        return text


def some_rows(n: int) -> NDArray[np.int64]:
    """As many of n rows as are looked at, evenly spread."""
    return np.linspace(0, n - 1, min(n, SAMPLE_ROWS)).astype(np.int64)


def unknown_values(name: str, column: Column, known: Collection[Hashable]) -> str:
    """The text of the warning for a column of which many values are unknown; "" where none or few are.

    Many: half of the values that are there; or a tenth, where the first of them is a known one in other letters, with
    other spaces or of another type; and more than one value, or one that is such.
    """
    try:
        values, codes = column.categories()
    except TypeError:  # lists and the like, which are refused by name later on
        return ""
    new = [v not in known for v in values]
    if not any(new):
        return ""
    unknown = np.array([*new, False])[codes]
    n, there = int(unknown.sum()), int((codes >= 0).sum())
    if not n or n < MANY_ALIKE * there:
        return ""
    value = values[int(codes[np.argmax(unknown)])]
    near, alike = nearest(value, known)
    if not alike and (n < 2 or n < MANY_UNKNOWN * there):
        return ""
    like = f"; the nearest known one is {near!r}" if near is not None else ""
    return f"column {name!r}: {100 * n / there:.0f}% of the values, such as {value!r}{like}"
