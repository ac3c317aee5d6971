"""The way back from JSON and arrays: everything is of the kind that its class says, or refused."""

from __future__ import annotations

import math
import zlib
from collections.abc import Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import TypeVar, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from ..core.family import Family, families
from ..core.packing import Packed, unpacked
from ..core.stats import CLASS, COUNTS, FEATURE, Layout, Stats, layout_named
from ..data.arrays import Array
from ..data.labels import Index
from ..data.vocabulary import Vocabulary
from ..families.tuning import Trial as TunedTrial
from ..families.tuning import Tuning
from ..posterior.calibrate import Report, Trial
from ..tables.schema import Schema
from .container import DTYPES, refuse, sizes
from .values import decoded, decoded_label
from .writing import hints_of, matches, without_none

T = TypeVar("T")

MOST_DEFLATED = 1100  # times that deflated bytes can grow: no more than 1032 can be
PACKED = ("<f8", "|u1", "<u2", "<u4")
ROOM = 1024  # numbers that sums may have however few are stored


def only(entry: object, *names: str, optional: tuple[str, ...] = ()) -> list[object]:
    """The values of these keys of an object, which has no others; None for optional ones that are absent."""
    if type(entry) is not dict or not set(names) <= entry.keys() <= {*names, *optional}:
        refuse(f"it has no object with {', '.join((*names, *optional))} where one should be")
    return [entry.get(name) for name in (*names, *optional)]


def listed(value: object) -> list[object]:
    """A list, and nothing else."""
    return value if type(value) is list else refuse("it has no list where one should be")


class Reader:
    """Puts a model together from what a file holds."""

    def __init__(self, arrays: Mapping[str, NDArray[np.generic]], axes: object, families: object) -> None:
        self._arrays, self._unread = arrays, set(arrays)
        self._types = {
            "family": self.family,
            "schema": lambda entry: self.record(entry, Schema),
            "array": self._stored,
            "cells": self._cells,
            "deflated": self._bytes,
        }
        self.axes = [self._index(entry) for entry in listed(axes)]
        self.families: list[Family] = []
        for entry in listed(families):  # one after another: a family may hold those before it
            self.families.append(self._family(entry))

    def check_all_read(self) -> None:
        """Refuse arrays that belong to nothing."""
        if self._unread:
            refuse(f"array {min(self._unread)[:100]!r} belongs to nothing")

    # --- values and records

    def value(self, value: object) -> object:
        """A setting."""
        return decoded(value, self._types)

    def record(self, entry: object, cls: type[T]) -> T:
        """A frozen dataclass; fields that its file is too old to have are as by default."""
        hints = hints_of(cls)
        if type(entry) is not dict or not entry.keys() <= hints.keys():
            refuse(f"it has no {cls.__name__} where one should be")
        needed = {f.name for f in fields(cls) if f.init and f.default is f.default_factory is MISSING}  # type: ignore[arg-type]
        if not needed <= entry.keys():
            refuse(f"its {cls.__name__} has no {min(needed - entry.keys())}")
        return cls(**{name: self.typed(entry[name], hints[name], name) for name in entry})

    def typed(self, value: object, hint: object, name: str) -> object:
        """A value of a known kind."""
        kind = without_none(hint)
        if value is None:
            return None if matches(None, hint) else refuse(f"it has no {name}")
        origin, inside = get_origin(kind), get_args(kind)
        if origin is tuple:
            values = listed(value)
            kinds = inside[:1] * len(values) if inside[1:] == (...,) else inside
            if len(values) != len(kinds):
                refuse(f"its {name} has {len(values)} values instead of {len(kinds)}")
            return tuple([self.typed(v, k, name) for v, k in zip(values, kinds, strict=True)])
        if origin in (dict, Mapping):
            return {k: self.value(v) for k, v in value.items()} if type(value) is dict else refuse(f"no {name}")
        if origin is np.ndarray:
            return self.array(value)
        if isinstance(kind, type) and (kind in (Family, Trial, Tuning) or is_dataclass(kind)):
            return self._of_class(value, kind)
        found = decoded_label(value) if kind is Hashable else self.value(value)
        return found if matches(found, hint) else refuse(f"its {name} is {found!r:.100}, which cannot be")

    def _of_class(self, value: object, kind: type) -> object:
        if kind is Family:
            return self.family(value)
        if kind is Trial:
            trial: object = object.__new__(Trial)  # of which the report is kept, and not the rows
            trial.__dict__["report"] = self.record(value, Report)
            return trial
        return self.tuning(value) if kind is Tuning else self.record(value, kind)

    def tuning(self, entry: object) -> Tuning:
        """What was tried, and what was taken of it."""
        criterion, tried, taken = only(entry, "criterion", "tried", "taken")
        each = tuple(self.record(t, TunedTrial) for t in listed(tried))
        if type(criterion) is not str or (type(taken) is int and not 0 <= taken < len(each)):
            refuse("its tuning took what was not tried")
        return Tuning(criterion, each, each[taken] if type(taken) is int else self.record(taken, TunedTrial))

    # --- tables

    def family(self, place: object) -> Family:
        """The family at this place of the table."""
        return self._at(self.families, place, "family")

    def index(self, place: object) -> Index:
        """The labels at this place of the table."""
        return self._at(self.axes, place, "axis")

    def _at(self, table: list[T], place: object, what: str) -> T:
        return table[place] if type(place) is int and 0 <= place < len(table) else refuse(f"it has no {what} {place!r}")

    def _family(self, entry: object) -> Family:
        key, settings = only(entry, "key", "settings")
        known = families()
        if type(key) is not str or key not in known:
            refuse(
                f"it has columns of the family {str(key)[:100]!r}, which is not known here; import the module that "
                f"registers it before loading (known: {', '.join(sorted(known))})"
            )
        try:
            return self.record(settings, known[key])
        except (ValueError, TypeError) as error:
            return refuse(f"its family {key!r} has settings that cannot be ({error})")

    def _index(self, entry: object) -> Index:
        if type(entry) is not dict or len(entry) != 1:
            refuse("it has an axis without labels")
        [(how, content)] = entry.items()
        if how == "range" and type(content) is int and content >= 0:
            return Index.range(content)
        if how == "words":
            return Index(self._vocabulary(*only(content, "bytes", "lengths")))
        if how == "bytes":
            grid = self._stored(content)
            if grid.dtype != np.uint8 or grid.ndim != 2 or not grid.size:
                refuse("it has an axis without labels")
            labels: tuple[Hashable, ...] = tuple([row.tobytes() for row in grid])
        elif how == "columns":
            labels = tuple([(j, decoded_label(v)) for j, column in enumerate(listed(content)) for v in listed(column)])
        elif how == "labels":
            labels = tuple([decoded_label(v) for v in listed(content)])
        else:
            refuse("it has an axis without labels")
        if len(set(labels)) < len(labels) or any(label != label for label in labels):
            refuse("it has an axis with a label that comes twice")
        return Index(labels)

    def _vocabulary(self, data: object, lengths: object) -> Vocabulary:
        """Words, which must be texts, different, and in their order."""
        letters, sizes = self._stored(data), self._stored(lengths)
        if letters.dtype != np.uint8 or letters.ndim != 1 or sizes.dtype.kind != "u" or sizes.ndim != 1:
            refuse("it has words that are none")
        places = np.concatenate([[0], np.cumsum(sizes, dtype=np.uint64)]).astype(np.int64)
        if sizes.size and (sizes.max() > len(letters) or (sizes == 0).any()):
            refuse("it has words that are none")
        words = Vocabulary(letters.astype(np.uint8, copy=False), places)
        try:
            known = places[-1] == len(letters) and Vocabulary.of(words) == words
        except UnicodeError:
            known = False
        return words if known else refuse("it has words that are no texts, or not in their order")

    # --- arrays

    def _stored(self, name: object) -> NDArray[np.generic]:
        if type(name) is not str or name not in self._arrays:
            refuse(f"it has no array {str(name)[:100]!r}")
        self._unread.discard(name)
        return self._arrays[name]

    def _bytes(self, entry: object) -> bytes:
        """Bytes that were deflated."""
        name, size = only(entry, "at", "size")
        return _inflated(self._stored(name), "|u1", [size]).tobytes()

    def _cells(self, entry: object) -> NDArray[np.generic]:
        """An array of texts or objects."""
        dtype, shape, values = only(entry, "dtype", "shape", "values")
        cells = [decoded(v) for v in listed(values)]
        if not sizes(shape) or math.prod(shape) != len(cells):
            refuse("it has an array whose shape is not that of its values")
        if type(dtype) is not str or not (dtype == "O" or (dtype[1:2] in "US" and dtype[2:].isdecimal())):
            refuse("it has an array of unknown type")
        if dtype == "O":
            made = np.empty(len(cells), object)
            made[:] = cells
            return made.reshape(shape)
        kind = str if dtype[1] == "U" else bytes
        if not all(isinstance(v, kind) and type(v) is kind and len(v) <= int(dtype[2:]) for v in cells):
            refuse("it has an array of texts with others among them")
        return np.array(cells, np.dtype(dtype)).reshape(shape)

    def array(self, entry: object) -> Array:
        """Numbers, unpacked; read-only."""
        return self._unpacked(entry)[0]

    def _unpacked(self, entry: object) -> tuple[Array, int]:
        """Numbers, and how many of them are stored."""
        name, shape, symmetric, deflated = only(entry, "at", optional=("shape", "symmetric", "deflated"))
        values = self._stored(name)
        if deflated is not None:
            values = _inflated(values, *only(deflated, "dtype", "shape"))
        shape = list(values.shape) if shape is None else shape
        if not sizes(shape) or values.dtype.str not in PACKED or symmetric not in (None, True):
            refuse("it has an array that is not one of numbers")
        lead = len(shape) - 2 if symmetric else len(shape)
        if symmetric and not (lead >= 0 and shape[-1] == shape[-2] and values.shape[lead:] == (_half(shape[-1]),)):
            refuse("it has a symmetric array that is no half of one")
        if values.ndim < lead or any(a not in (1, b) for a, b in zip(values.shape[:lead], shape, strict=False)):
            refuse("it has an array of another shape than its numbers")
        if not symmetric and values.ndim != lead:
            refuse("it has an array of another shape than its numbers")
        a = unpacked(Packed(tuple(shape), bool(symmetric), values))
        if a.flags.writeable:
            a.flags.writeable = False
        return a, values.size * (2 if symmetric else 1)

    def stats(self, entry: object) -> Stats:
        """Labelled sums, whose shapes are those of their axes."""
        name, axes, sums, origin, noise = only(entry, "layout", "axes", "sums", "origin", "noise")
        layout = _layout(name)
        if type(sums) is not dict or type(axes) is not dict or sums.keys() != layout.dims.keys():
            refuse(f"it has other sums than those of {layout.name!r}")
        labels = {str(k): self.index(v) for k, v in axes.items()}
        needed = {d for dims in layout.dims.values() for d in dims} | {CLASS}
        if not needed <= labels.keys() <= needed | {FEATURE}:
            refuse(f"it has other axes than those of {layout.name!r}")
        read = {k: self._unpacked(sums[k]) for k in layout.dims}
        room = max(ROOM, *(stored for _, stored in read.values()))
        for k, (a, _) in read.items():
            _check_sums(k, a, layout.dims[k], labels, room)
        moved = None if origin is None else self.array(origin)
        rounding = None if noise is None else self.array(noise)
        if (moved is None) == (layout.shift is not None):
            refuse(f"sums of {layout.name!r} have an origin exactly if they can be moved")
        for what, other, dims in (("origin", moved, (CLASS, FEATURE)), ("noise", rounding, layout.noise)):
            if other is not None:
                _check_sums(what, other, dims, labels, room)
        return Stats(layout, labels, {k: a for k, (a, _) in read.items()}, moved, rounding)


def _layout(name: object) -> Layout:
    try:
        return layout_named(name if type(name) is str else "")
    except KeyError:
        return refuse(f"it has sums of the unknown kind {str(name)[:100]!r}; import the module that defines them first")


def _check_sums(name: str, a: Array, dims: tuple[str, ...], axes: Mapping[str, Index], room: int) -> None:
    if not set(dims) <= axes.keys() or a.shape != tuple(len(axes[d]) for d in dims) or not dims:
        refuse(f"the sums {name!r} have the shape {a.shape}, which is not that of their axes")
    if a.size > room:
        refuse(f"the sums {name!r} would take far more room than the file has")
    if not np.isfinite(a).all():
        refuse(f"the sums {name!r} are not finite")
    if name in (*COUNTS, "noise") and a.size and a.min() < 0:
        refuse(f"the sums {name!r} have a number of rows below 0")


def _inflated(data: NDArray[np.generic], dtype: object, shape: object) -> NDArray[np.generic]:
    """Deflated numbers, exactly as many as declared; refused before more room is taken than they can fill."""
    if not (sizes(shape) and type(dtype) is str and dtype in DTYPES.values()):
        refuse("it has deflated bytes of no array")
    if data.dtype != np.uint8 or data.ndim != 1:
        refuse("it has deflated bytes of no array")
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if size > MOST_DEFLATED * len(data):
        refuse(f"it declares {size} bytes, which {len(data)} deflated ones cannot be")
    inflate = zlib.decompressobj()
    try:
        raw = inflate.decompress(data.tobytes(), size + 1)
    except zlib.error as error:
        refuse(f"it has deflated bytes that are damaged ({error})")
    if len(raw) != size or not inflate.eof or inflate.unused_data:
        refuse("it has deflated bytes of another length than declared")
    return np.frombuffer(raw, dtype).reshape(shape)


def _half(n: int) -> int:
    """Numbers in the upper triangle of a symmetric matrix."""
    return n * (n + 1) // 2
