"""What a model is made of as JSON and arrays: values, records (frozen dataclasses), families, axes and sums.

A record is written field by field, by what its class says each field is; nothing of a class but the values goes into
the file.  Axes and families, which many blocks share, stand once in tables of their own.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ..core.family import Family, families
from ..core.packing import Deflated, packed
from ..core.stats import LAYOUTS, Stats
from ..data.labels import Index
from ..data.vocabulary import Vocabulary
from ..families.tuning import Tuning
from ..posterior.calibrate import Trial
from ..tables.schema import Schema
from .container import NAMES, refuse
from .values import encoded

LARGEST = 1 << 1023  # integers below this are floats
PLAIN = (NoneType, bool, int, float, str, bytes)
LONG = 1 << 10  # bytes of a setting from which on they are deflated


def hints_of(cls: type) -> dict[str, object]:
    """The fields of a dataclass, and what each is."""
    return _hints_of(cast("Hashable", cls))


@cache
def _hints_of(cls: Any) -> dict[str, object]:
    hints = get_type_hints(cls)
    return {f.name: hints[f.name] for f in fields(cls) if f.init}


def without_none(hint: object) -> object:
    """What a value is where it is not None; Any where it may be of several kinds."""
    if get_origin(hint) not in (Union, UnionType):
        return hint
    rest = [kind for kind in get_args(hint) if kind is not NoneType]
    return rest[0] if len(rest) == 1 else Any


def matches(value: object, hint: object) -> bool:
    """Whether a plain value is of this kind."""
    if hint in (Any, Hashable, object):
        return True
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(matches(value, kind) for kind in inside)
    if origin is Literal:
        return any(value == one and type(value) is type(one) for one in inside)
    if origin is tuple:
        if type(value) is not tuple:
            return False
        kinds = inside[:1] * len(value) if inside[1:] == (...,) else inside
        return len(kinds) == len(value) and all(map(matches, value, kinds))
    if hint is float:
        return type(value) is float or (type(value) is int and abs(value) < LARGEST)
    return value is None if hint in (None, NoneType) else type(value) is hint


class Writer:
    """Takes a model apart; ``arrays``, ``axes`` and ``families`` fill while it does."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[np.generic]] = {}
        self.axes: list[object] = []
        self.families: list[object] = []
        self._places: dict[str, int] = {}  # of what is in the tables
        self._long: dict[bytes, str] = {}  # bytes that are deflated, and where

    def value(self, value: object) -> object:
        """A setting: a plain value, an array, a family or a schema, or a list, tuple or dict of them."""
        return encoded(value, self._more)

    def _more(self, value: object) -> object:
        if isinstance(value, Family):
            return {"family": self.family(value)}
        if type(value) is Schema:
            return {"schema": self.record(value)}
        if type(value) is np.ndarray and value.dtype.newbyteorder("<").str in NAMES:
            return {"array": self._kept(value, "setting")}
        if type(value) is np.ndarray and value.dtype.kind in "OUS":
            cells = [encoded(v) for v in value.ravel().tolist()]
            kind = value.dtype.str if value.dtype.kind != "O" else "O"
            return {"cells": {"dtype": kind, "shape": list(value.shape), "values": cells}}
        shown = " ".join(repr(value)[:100].split())
        what = "a function" if callable(value) else f"{shown}, of type {type(value).__name__},"
        return refuse(f"{what} cannot be written")

    # --- records

    def record(self, value: object) -> dict[str, object]:
        """A frozen dataclass, field by field."""
        return {name: self.typed(getattr(value, name), hint) for name, hint in hints_of(type(value)).items()}

    def typed(self, value: object, hint: object) -> object:
        """A value of a known kind."""
        if value is None:
            return None
        hint = without_none(hint)
        origin, inside = get_origin(hint), get_args(hint)
        if isinstance(value, tuple | list) and origin is tuple:
            kinds = inside[:1] * len(value) if inside[1:] == (...,) else inside
            return [self.typed(v, kind) for v, kind in zip(value, kinds, strict=True)]
        if isinstance(value, Mapping) and origin in (dict, Mapping):
            return {str(k): self.value(v) for k, v in value.items()}
        if origin is np.ndarray:
            return self.array(np.asarray(value))
        if type(value) is bytes and len(value) > LONG:
            return {"deflated": {"at": self._deflated(value), "size": len(value)}}
        if isinstance(hint, type):
            return self._of_class(value, hint)
        return self.value(value)

    def _of_class(self, value: object, hint: type) -> object:
        if isinstance(value, Family) and hint is Family:
            return self.family(value)
        if isinstance(value, Trial) and hint is Trial:
            return self.record(value.report)  # what is kept of the rows
        if isinstance(value, Tuning) and hint is Tuning:
            return self.tuning(value)
        if is_dataclass(hint):
            return self.record(value)
        return encoded(value.item() if hint in (int, float, bool) and isinstance(value, np.generic) else value)

    def tuning(self, value: Tuning) -> dict[str, object]:
        """What was tried; what was taken is one of these, by its place."""
        tried = [self.record(t) for t in value.tried]
        place = next((i for i, t in enumerate(value.tried) if t is value.taken), None)
        taken = self.record(value.taken) if place is None else place
        return {"criterion": value.criterion, "tried": tried, "taken": taken}

    # --- tables

    def family(self, family: Family) -> int:
        """The place of a family in its table."""
        kind = type(family)
        if families().get(family.key) is not kind or not is_dataclass(kind):
            refuse(f"the family {kind.__name__} is not registered; decorate it with @suffit.register and @dataclass")
        for name, hint in hints_of(kind).items():
            value = getattr(family, name)
            if type(value) in PLAIN and not matches(value, hint):
                refuse(f"{name} of {kind.__name__} is {value!r:.100}, and annotated as {hint}; annotate it as it is")
        return self._entered(self.families, {"key": family.key, "settings": self.record(family)})

    def index(self, index: Index) -> int:
        """The place of the labels of an axis in their table."""
        return self._entered(self.axes, self._labels(index.labels))

    def _entered(self, table: list[object], entry: object) -> int:
        text = f"{id(table)}{json.dumps(entry)}"
        if text not in self._places:
            self._places[text] = len(table)
            table.append(entry)
        return self._places[text]

    def _labels(self, labels: Sequence[Hashable]) -> dict[str, object]:
        """As briefly as they can be: places, bytes of one length, categories by column, or one by one."""
        if isinstance(labels, range):
            return {"range": len(labels)}
        if isinstance(labels, Vocabulary):
            lengths = np.diff(labels.places)
            sizes = lengths.astype(np.min_scalar_type(int(lengths.max(initial=0))))
            return {"words": {"bytes": self._kept(labels.data, "words"), "lengths": self._kept(sizes, "lengths")}}
        texts = [label for label in labels if type(label) is bytes]
        if labels and len(texts) == len(labels) and len(set(map(len, texts))) == 1:
            grid = np.frombuffer(b"".join(texts), np.uint8).reshape(len(labels), -1)
            same = next((k for k, a in self.arrays.items() if k.startswith("labels") and np.array_equal(a, grid)), None)
            return {"bytes": same or self._kept(grid, "labels")}
        by_column = _by_column(labels)
        if by_column is not None:
            return {"columns": [[encoded(v) for v in values] for values in by_column]}
        return {"labels": [encoded(v) for v in labels]}

    # --- arrays

    def _kept(self, a: NDArray[np.generic], name: str) -> str:
        name = f"{name}/{len(self.arrays)}"
        self.arrays[name] = a.astype(a.dtype.newbyteorder("<"), copy=False)
        return name

    def _deflated(self, value: bytes) -> str:
        """Bytes of a setting; what several families have stands there once."""
        if value not in self._long:
            self._long[value] = self._kept(np.frombuffer(zlib.compress(value), np.uint8), "bytes")
        return self._long[value]

    def array(self, a: NDArray[np.generic], name: str = "array") -> dict[str, object]:
        """Numbers in the least room that gives back every bit."""
        p = packed(np.asarray(a, np.float64))
        entry: dict[str, object] = {}
        values = p.values
        if isinstance(values, Deflated):
            dtype = np.dtype(values.dtype).newbyteorder("<")
            entry["deflated"] = {"dtype": dtype.str, "shape": list(values.shape)}
            if np.dtype(values.dtype) != dtype:
                refuse("arrays are deflated on machines with little-endian numbers only")
            values = np.frombuffer(values.data, np.uint8)
        if p.symmetric:
            entry["symmetric"] = True
        if "deflated" in entry or p.symmetric or values.shape != p.shape:
            entry["shape"] = list(p.shape)
        return {"at": self._kept(values, name), **entry}

    def stats(self, stats: Stats) -> dict[str, object]:
        """Labelled sums: the largest as it is, so that its size shows in the file."""
        name = stats.layout.name
        if LAYOUTS.get(name) is not stats.layout:
            refuse(f"the layout {name!r} of its sums is not registered; make it with suffit.core.stats.layout")
        largest = max(stats.sums, key=lambda k: stats.sums[k].size)
        sums = {k: self.array(a.copy() if k == largest else a, k) for k, a in stats.sums.items()}
        origin = None if stats.origin is None else self.array(stats.origin, "origin")
        noise = None if stats.noise is None else self.array(stats.noise, "noise")
        axes = {k: self.index(v) for k, v in stats.axes.items()}
        return {"layout": name, "axes": axes, "sums": sums, "origin": origin, "noise": noise}


def _by_column(labels: Sequence[Hashable]) -> list[list[object]] | None:
    """Labels (j, value), in order of their columns j, as the values of each column; None where they are others."""
    found: list[list[object]] = []
    for label in labels:
        if type(label) is not tuple or len(label) != 2 or type(label[0]) is not int or label[0] < len(found) - 1:
            return None
        if label[0] > 2 * len(labels) + 64:
            return None
        while len(found) <= label[0]:
            found.append([])
        found[label[0]].append(label[1])
    return found if labels else None
