"""Labelled, immutable sums: the only state a fitted model has.

A :class:`Stats` is a handful of float64 arrays of sums whose axes carry labels (:class:`Index`).
Stats form a vector space: ``a + b`` is the sums of the rows of both, ``a - b`` those of ``a`` without
the rows of ``b``, and ``a * 0.99`` lets old rows fade.  Labels that one side lacks count as zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array
from ..data.labels import Index, Positions
from .packing import packed, unpacked

CLASS = "class"
FEATURE = "feature"
CATEGORY = "category"
COUNTS = ("n", "count", "part_n", "pair_n")  # sums that are numbers of rows or words, by which a label goes or stays
PATTERN = "pattern"  # which columns of a row are there
ROUNDED_TO_0 = 4e-16  # share of an origin: a mean that is no larger is 0, and this is what rounding left of it
ROUNDING = 64 * float(np.finfo(np.float64).eps)  # a sum below this share of what it was made of is rounding
EXACT = 2.0**53  # integers below this add up and subtract exactly


Shift = Callable[["Stats", Array], dict[str, Array]]


@dataclass(frozen=True)
class Coarser:
    """What sums turn into once an axis has grown too long: other sums of the same rows, in bounded room."""

    layout: Layout
    needed: Callable[[Stats], bool]
    turn: Callable[[Stats], Stats]

    def leads_to(self, layout: Layout | None) -> bool:
        """Whether sums turn into those of this layout, at once or by and by."""
        further = self.layout.coarser
        return self.layout == layout or (further is not None and further.leads_to(layout))


@dataclass(frozen=True)
class Layout:
    """What the sums of a statistic are called, which axes they run along, and how they move.

    ``shift(sums, d)`` rewrites sums of z into sums of z + d, d of shape (class, feature); None for
    statistics that have no origin (counts).  ``growing`` names, for every axis whose labels come with the rows, the
    sum that tells how many rows a label has.  ``cells`` gives n, Σz and Σz² of every class and feature (Σz² of all
    classes together where only that is kept), where they are not the sums ``n``, ``x`` and ``xx`` themselves.
    ``counted`` names, for every sum of values, the number of rows that it adds up: what has no rows is 0.  ``noise``
    are the axes along which the rounding of subtractions is followed (see :class:`Stats`), as a share of ``size``: the
    squares, where nothing else is said.
    """

    name: str
    dims: Mapping[str, tuple[str, ...]]
    shift: Shift | None = None
    growing: Mapping[str, str] = field(default_factory=dict)
    cells: Callable[[Stats], tuple[Array, Array, Array]] | None = None
    coarser: Coarser | None = None
    counted: Mapping[str, str] = field(default_factory=dict)
    noise: tuple[str, ...] = ()
    size: Callable[[Stats, Stats], Array] | None = None

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[object, ...]:
        return (layout_named, (self.name,))


LAYOUTS: dict[str, Layout] = {}


def layout(name: str, dims: Mapping[str, tuple[str, ...]], shift: Shift | None = None, **more: Any) -> Layout:
    """Make a layout and enter it under its name, so that files and pickles can name it."""
    LAYOUTS[name] = Layout(name, dims, shift, **more)
    return LAYOUTS[name]


def layout_named(name: str) -> Layout:
    """The layout of this name; those of the families are known once the families are imported."""
    if name not in LAYOUTS:
        from . import model  # noqa: F401  (importing enters them)
    return LAYOUTS[name]


def _frozen(a: Array) -> Array:
    """Read-only, in one piece; numbers that are the same along an axis keep to the room of one."""
    if not a.flags.writeable and a.dtype == np.float64 and (a.flags.forc or 0 in a.strides):
        return a
    a = np.ascontiguousarray(a, dtype=np.float64)
    if a.flags.writeable:
        a = a.view()
        a.flags.writeable = False
    return a


def _spread(a: Array, dims: tuple[str, ...], places: Mapping[str, Positions], sizes: Mapping[str, int]) -> Array:
    """``a`` laid into zeros of the new sizes, each axis at its new places."""
    if all(len(places[d]) == sizes[d] and np.array_equal(places[d], np.arange(sizes[d])) for d in dims):
        return a
    out = np.zeros([sizes[d] for d in dims])
    out[np.ix_(*(places[d] for d in dims))] = a
    return out


def _wider(flags: NDArray[np.bool_], a: Array) -> NDArray[np.bool_]:
    """Flags of the first axes of an array, in the shape of it."""
    return flags.reshape(flags.shape + (1,) * (a.ndim - flags.ndim))


def _together(a: Array | None, b: Array | None) -> Array | None:
    return b if a is None else a if b is None else np.hypot(a, b)


def is_rounding(left: Array, total: Array, least: float) -> NDArray[np.bool_]:
    """Which differences are no more than this share of what they were taken from; of integers, they are exact."""
    exact = (left == np.round(left)) & (np.abs(total) < EXACT)
    return np.asarray((np.abs(left) <= least * np.abs(total)) & ~exact)


class Sums(Protocol):
    """What a family keeps of rows: the sums of one block of columns (:class:`Stats`), or of several."""

    @property
    def axes(self) -> Mapping[str, Index]:
        """The labels of the axes that all sums have."""

    def on(self, axes: Mapping[str, Index]) -> Self:
        """The same sums on larger axes, zero where a label is new."""

    def like(self, other: Self) -> Self:
        """The same sums on the axes of others that hold at least as much."""

    def __add__(self, other: Self) -> Self: ...
    def __sub__(self, other: Self) -> Self: ...
    def __mul__(self, factor: float) -> Self: ...

    def without_residue(self, before: Self, least: float) -> Self:
        """Counts that a subtraction brought to rounding distance of 0 are 0."""

    def without_traces(self, least: float) -> Self:
        """Counts below ``least`` are 0."""

    def take(self, axis: str, places: Iterable[int]) -> Self:
        """Only these places of one axis."""

    def trimmed(self) -> Self:
        """Without the labels of growing axes that no row has."""

    def isclose(self, other: Self, rtol: float = 1e-12) -> bool:
        """Whether both hold the same sums."""


@dataclass(frozen=True)
class Stats:
    """Sums with labelled axes, closed under ``+``, ``−`` and ``*``.

    Parameters
    ----------
    layout : Layout
        What the sums are called, and which axes they run along.
    axes : mapping of str to Index
        The labels of each axis.
    sums : mapping of str to ndarray
        The sums.
    origin : ndarray of shape (class, feature), optional
        The point the moments are taken about.  It is bookkeeping, not a statistic: when two Stats differ in it, the
        sums of one are shifted to the origin of the other.
    noise : ndarray, optional
        Bookkeeping too: how large the sums were when rows were taken out, √Σ size² over all such times.  What is left
        is known to a few ε of that; None where no row was ever taken out.

    Attributes
    ----------
    layout, axes, sums, origin, noise
        As above.

    See Also
    --------
    Index : The labels of an axis.
    Model : Sums together with their family.

    Examples
    --------
    >>> counts = layout("doctest-counts", {"n": ("class",)})
    >>> a = Stats(counts, {"class": Index.of(["x", "y"])}, {"n": np.array([2.0, 1.0])})
    >>> b = Stats(counts, {"class": Index.of(["z"])}, {"n": np.array([5.0])})
    >>> (a + b).axes["class"].labels, (a + b)["n"].tolist()
    (('x', 'y', 'z'), [2.0, 1.0, 5.0])
    >>> (a + b - b)["n"].tolist()
    [2.0, 1.0, 0.0]
    """

    layout: Layout
    axes: Mapping[str, Index]
    sums: Mapping[str, Array]
    origin: Array | None = None
    noise: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", {name: _frozen(a) for name, a in self.sums.items()})
        if self.origin is not None:
            object.__setattr__(self, "origin", _frozen(self.origin))
        if self.noise is not None:
            object.__setattr__(self, "noise", _frozen(self.noise))

    def __getitem__(self, name: str) -> Array:
        return self.sums[name]

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "sums": {name: packed(a) for name, a in self.sums.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, sums={name: unpacked(a) for name, a in state["sums"].items()})
        self.__post_init__()

    def on(self, axes: Mapping[str, Index]) -> Stats:
        """The same sums on larger axes, zero where a label is new."""
        if all(axes[d] is self.axes[d] for d in axes):
            return self
        if all(axes[d] == self.axes[d] for d in axes):
            return replace(self, axes=dict(axes))
        places = {d: axes[d].positions_of(self.axes[d]) for d in axes}
        sizes = {d: len(axes[d]) for d in axes}
        sums = {k: _spread(a, self.layout.dims[k], places, sizes) for k, a in self.sums.items()}
        origin = self.origin
        if origin is not None:
            origin = _spread(origin, (CLASS, FEATURE), places, sizes)
        noise = None if self.noise is None else _spread(self.noise, self.layout.noise, places, sizes)
        return Stats(self.layout, dict(axes), sums, origin, noise)

    def about(self, origin: Array) -> Stats:
        """The same rows, their moments taken about another origin."""
        shift = self.layout.shift
        if shift is None or self.origin is None or np.array_equal(origin, self.origin):
            return self
        d, noise = self.origin - origin, self.noise
        if noise is not None:  # the squares about the other origin are no larger
            moved = self._rows() * d**2
            noise = (np.sqrt(noise) + np.sqrt(moved if CLASS in self.layout.noise else moved.sum(axis=0))) ** 2
        return replace(self, sums=shift(self, d), origin=origin, noise=noise)

    def coarsened(self, layout: Layout | None = None) -> Stats:
        """The sums of the coarser layout, where an axis has grown too long or where the other side has them."""
        coarser = self.layout.coarser
        if coarser is None or not (coarser.leads_to(layout) or coarser.needed(self)):
            return self
        return coarser.turn(self).coarsened(layout)

    def _aligned(self, other: Stats) -> tuple[Stats, Stats]:
        if self.layout != other.layout:
            self, other = self.coarsened(other.layout), other.coarsened(self.layout)
        if self.layout != other.layout:
            raise ValueError(f"cannot combine sums of {self.layout.name!r} with sums of {other.layout.name!r}")
        axes = {d: self.axes[d].union(other.axes[d]) for d in self.axes}
        a, b = self.on(axes), other.on(axes)
        if a.origin is None or b.origin is None or a.origin is b.origin:
            return a, b
        # A cell that only one side has rows for keeps that side's origin: nothing is shifted.
        # Otherwise the side with more rows keeps its own: a first row far from the others does not set it for good.
        n, m = a._rows(), b._rows()
        if (m > 0).all() and (n >= m).all():
            return a, b.about(a.origin)
        origin = np.where(n >= m, a.origin, b.origin)
        a = replace(a, origin=np.where(n != 0, a.origin, origin))
        b = replace(b, origin=np.where(m != 0, b.origin, origin))
        return a.about(origin), b.about(origin)

    def moments(self) -> tuple[Array, Array, Array]:
        """n, Σz and Σz² of every class and feature; Σz² of all classes together where only that is kept."""
        n, x, squares = self.layout.cells(self) if self.layout.cells else (self.sums[k] for k in ("n", "x", "xx"))
        return n, x, squares

    def _rows(self) -> Array:
        """How many rows each (class, feature) cell has."""
        return self.sums["n"] if self.layout.cells is None else self.layout.cells(self)[0]

    def trimmed(self) -> Stats:
        """Without the labels of growing axes that no row has."""
        out = self
        for axis, name in self.layout.growing.items():
            seen = np.flatnonzero(out[name].any(axis=0))
            if len(seen) < len(out.axes[axis]):
                out = out.take(axis, seen)
        return out

    def _recentred(self) -> Stats:
        """About the means, where the origin has come to lie far from them (rows came, or went, that were elsewhere)."""
        if self.origin is None or self.layout.shift is None:
            return self
        n, x, squares = self.moments()
        if squares.ndim == 1:  # pooled over the classes
            squares = squares * np.divide(n, n.sum(axis=0), out=np.zeros(n.shape), where=n.sum(axis=0) > 0)
        shift = np.divide(x, n, out=np.zeros(n.shape), where=n > 0)
        far = shift * x > 0.9 * squares  # nine tenths of the squares are distance from the origin, not spread
        if not far.any():
            return self
        origin = self.origin + np.where(far, shift, 0.0)
        rounding = np.abs(origin) <= ROUNDED_TO_0 * np.abs(self.origin)  # what is left where all others are 0
        return replace(self.about(origin), origin=np.where(rounding, 0.0, origin))

    def __add__(self, other: Stats) -> Stats:
        a, b = self._aligned(other)
        sums = {k: a.sums[k] + b.sums[k] for k in a.sums}
        return replace(a, sums=sums, noise=_together(a.noise, b.noise))._recentred().coarsened()

    def __sub__(self, other: Stats) -> Stats:
        a, b = self._aligned(other)
        sums = {k: a.sums[k] - b.sums[k] for k in a.sums}
        return replace(a, sums=sums, noise=a._noise_without(b))._recentred()

    def _noise_without(self, gone: Stats) -> Array | None:
        """The noise once these rows are taken out: that of cells which have none of them stays."""
        layout = self.layout
        if not layout.noise:
            return None
        size = self.moments()[2] if layout.size is None else layout.size(self, gone)
        touched = gone._rows() != 0
        touched = touched if CLASS in layout.noise else touched.any(axis=0)
        size = np.where(_wider(touched, size), size, 0.0)
        return _together(_together(self.noise, gone.noise), size)

    def __mul__(self, factor: float) -> Stats:
        noise = None if self.noise is None else self.noise * factor
        return replace(self, sums={k: a * factor for k, a in self.sums.items()}, noise=noise)

    __rmul__ = __mul__

    def take(self, axis: str, places: Iterable[int]) -> Stats:
        """Only these places of one axis."""
        where = np.fromiter(places, np.int64)
        axes = dict(self.axes)
        axes[axis] = axes[axis].take(where)
        sums = {}
        for name, a in self.sums.items():
            for i, dim in enumerate(self.layout.dims[name]):
                a = a.take(where, axis=i) if dim == axis else a
            sums[name] = a
        origin = self.origin
        if origin is not None and axis in (CLASS, FEATURE):
            origin = origin.take(where, axis=(CLASS, FEATURE).index(axis))
        noise = self.noise
        if noise is not None and axis in self.layout.noise:
            noise = noise.take(where, axis=self.layout.noise.index(axis))
        return Stats(self.layout, axes, sums, origin, noise)

    def like(self, other: Stats) -> Stats:
        """The same sums on the axes (and in the layout) of others that hold at least as much."""
        return self.coarsened(other.layout).on(other.axes)

    def without_residue(self, before: Stats, least: float) -> Stats:
        """Counts that a subtraction brought to rounding distance of 0 are 0, and all other sums with them."""
        was = before.like(self)

        def cleared(a: Array, old: Array) -> Array:
            at = np.nonzero(a != old)  # the only ones that a subtraction has touched
            rounding = is_rounding(a[at], old[at], least)
            if not rounding.any():
                return a
            out = a.copy()
            out[at] = np.where(rounding, 0.0, a[at])
            return out

        sums = {k: cleared(a, was.sums[k]) if k in COUNTS else a for k, a in self.sums.items()}
        return replace(self, sums=sums)._emptied()

    def without_traces(self, least: float) -> Stats:
        """Counts below ``least`` are 0, and all other sums with them."""
        sums = {k: np.where(a < least, 0.0, a) if k in COUNTS else a for k, a in self.sums.items()}
        return replace(self, sums=sums)._emptied()

    def _emptied(self) -> Stats:
        """Exactly 0 in every sum where no rows are left, and no noise: rows that come later start anew."""
        sums = dict(self.sums)
        for name, count in self.layout.counted.items():
            none = sums[count] == 0
            if none.any():
                pooled = self.layout.dims[name][0] != self.layout.dims[count][0]  # over the classes
                sums[name] = np.where(_wider(none.all(axis=0) if pooled else none, sums[name]), 0.0, sums[name])
        out = replace(self, sums=sums)
        if self.noise is None and self.origin is None:
            return out
        none = out._rows() == 0
        if not none.any():
            return out
        noise, origin = self.noise, self.origin
        if noise is not None:
            noise = np.where(_wider(none if CLASS in self.layout.noise else none.all(axis=0), noise), 0.0, noise)
        return replace(out, noise=noise, origin=None if origin is None else np.where(none, 0.0, origin))

    def isclose(self, other: Stats, rtol: float = 1e-12) -> bool:
        """Whether both hold the same sums, each array to ``rtol`` of its largest entry."""
        if self.axes != other.axes or self.layout != other.layout:
            return False
        if self.origin is not None:
            other = other.about(self.origin)
        return all(
            np.allclose(a, other.sums[k], rtol=rtol, atol=rtol * np.max(np.abs(a), initial=0.0))
            for k, a in self.sums.items()
        )


@dataclass(frozen=True)
class BlockSums:
    """The sums of several blocks of columns: added, subtracted and scaled block by block.

    Of the axes, only the classes are common to all.
    """

    parts: tuple[Stats, ...]

    @property
    def axes(self) -> dict[str, Index]:
        """The classes."""
        return {CLASS: self.parts[0].axes[CLASS]}

    def on(self, axes: Mapping[str, Index]) -> BlockSums:
        """The same sums on more classes, zero where one is new."""
        return BlockSums(tuple(part.on({**part.axes, CLASS: axes[CLASS]}) for part in self.parts))

    def like(self, other: BlockSums) -> BlockSums:
        """The same sums on the axes of others that hold at least as much."""
        return BlockSums(tuple(a.like(b) for a, b in zip(self.parts, other.parts, strict=True)))

    def __add__(self, other: BlockSums) -> BlockSums:
        return BlockSums(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other: BlockSums) -> BlockSums:
        return BlockSums(tuple(a - b for a, b in zip(self.parts, other.parts, strict=True)))

    def __mul__(self, factor: float) -> BlockSums:
        return BlockSums(tuple(part * factor for part in self.parts))

    def without_residue(self, before: BlockSums, least: float) -> BlockSums:
        """Counts that a subtraction brought to rounding distance of 0 are 0."""
        return BlockSums(tuple(a.without_residue(b, least) for a, b in zip(self.parts, before.parts, strict=True)))

    def without_traces(self, least: float) -> BlockSums:
        """Counts below ``least`` are 0."""
        return BlockSums(tuple(part.without_traces(least) for part in self.parts))

    def take(self, axis: str, places: Iterable[int]) -> BlockSums:
        """Only these places of one axis."""
        where = list(places)
        return BlockSums(tuple(part.take(axis, where) for part in self.parts))

    def trimmed(self) -> BlockSums:
        """Without the labels of growing axes that no row has."""
        return BlockSums(tuple(part.trimmed() for part in self.parts))

    def isclose(self, other: BlockSums, rtol: float = 1e-12) -> bool:
        """Whether both hold the same sums."""
        return all(a.isclose(b, rtol) for a, b in zip(self.parts, other.parts, strict=True))
