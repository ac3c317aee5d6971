"""The labels of an axis: distinct, hashable, in a canonical order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from numbers import Real
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .vocabulary import Vocabulary

Positions = NDArray[np.int64]


def _order(label: Hashable) -> tuple[object, ...]:
    """A total order for labels of any mixture of types: numbers by value, then each type by its own order."""
    kind = type(label)
    if kind is str:  # the usual ones first: there may be thousands
        return ("str", label)
    if kind is int:
        return ("", label)
    if isinstance(label, tuple):
        return ("tuple", tuple([_order(part) for part in label]))
    if isinstance(label, Real):
        return ("", label)
    return (kind.__name__, label)


def _sorted(labels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    try:
        return tuple(sorted(labels, key=_order))
    except TypeError:  # labels without an order of their own
        return tuple(sorted(labels, key=lambda label: (type(label).__name__, str(label))))


def sorted_places(labels: Sequence[Hashable]) -> list[int]:
    """The places of distinct labels, in the canonical order of these; TypeError where some have no order."""
    kinds = set(map(type, labels))
    if kinds in ({str}, {int}):
        return sorted(range(len(labels)), key=cast("Callable[[int], str]", labels.__getitem__))
    return sorted(range(len(labels)), key=lambda i: _order(labels[i]))


class Index:
    """The labels of one axis: distinct, hashable, in a canonical order.

    The order is that of the labels themselves, never that of arrival, so the same rows give the same
    sums whatever way they came.

    Parameters
    ----------
    labels : tuple of hashable, range or Vocabulary
        The labels, in canonical order; ``Index.of`` sorts them.

    Attributes
    ----------
    labels : tuple of hashable, range or Vocabulary
        The labels.
    position : dict
        Label → place on the axis.

    See Also
    --------
    Stats : Sums along such axes.

    Examples
    --------
    >>> a, b = Index.of(["ham", "spam"]), Index.of(["eggs", "spam"])
    >>> a.union(b).labels
    ('eggs', 'ham', 'spam')
    >>> a.union(b).positions_of(a).tolist()
    [1, 2]
    """

    __slots__ = ("_position", "labels")

    def __init__(self, labels: tuple[Hashable, ...] | range | Vocabulary) -> None:
        self.labels = labels  # a range where they are places; words of texts as bytes: there may be millions
        self._position: dict[Hashable, int] | None = None

    @classmethod
    def of(cls, labels: Iterable[Hashable]) -> Index:
        """The index of these labels, sorted, each once."""
        return cls(_sorted(set(labels)))

    @staticmethod
    @lru_cache(maxsize=64)
    def range(n: int) -> Index:
        """The labels 0 … n−1 (one shared object per n, so that equality is one comparison)."""
        return Index(range(n))

    @property
    def position(self) -> dict[Hashable, int]:
        """Label → place on the axis."""
        if self._position is None:
            self._position = {label: i for i, label in enumerate(self.labels)}
        return self._position

    def positions_of(self, other: Index) -> Positions:
        """Where each label of ``other`` stands here; −1 where it does not."""
        if other is self:
            return np.arange(len(self))
        if isinstance(self.labels, range) and isinstance(other.labels, range):
            places = np.arange(len(other))
            return np.where(places < len(self), places, -1)
        if isinstance(self.labels, Vocabulary) and isinstance(other.labels, Vocabulary):
            return self.labels.find(other.labels)
        position = self.position
        return np.fromiter((position.get(label, -1) for label in other.labels), np.int64, len(other))

    def union(self, other: Index) -> Index:
        """All labels of both; ``self`` itself where ``other`` adds none."""
        if other is self:
            return self
        if isinstance(self.labels, range) and isinstance(other.labels, range):
            return self if len(self) >= len(other) else other
        if isinstance(self.labels, Vocabulary) and isinstance(other.labels, Vocabulary):
            words = self.labels.union(other.labels)
            return self if words is self.labels else other if len(words) == len(other) else Index(words)
        if all(label in self.position for label in other.labels):
            return self
        if all(label in other.position for label in self.labels):
            return other
        return Index.of((*self.labels, *other.labels))

    def take(self, places: Iterable[int]) -> Index:
        """The labels at these places."""
        places = np.fromiter(places, np.int64)
        if isinstance(self.labels, range) and np.array_equal(places, np.arange(len(places))):
            return Index.range(len(places))
        if isinstance(self.labels, Vocabulary):
            return Index(self.labels.take(places))
        return Index(tuple([self.labels[i] for i in places.tolist()]))

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Index):
            return self is other
        if type(self.labels) is type(other.labels):
            return self.labels == other.labels
        return len(self) == len(other) and tuple(self.labels) == tuple(other.labels)

    def __hash__(self) -> int:
        return hash((len(self.labels), *self.labels[:2]))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.labels[:6])) + (", …" if len(self) > 6 else "")
        return f"Index({len(self)}: {shown})"

    def __reduce__(self) -> tuple[object, ...]:
        if isinstance(self.labels, Vocabulary):
            return (Index, (self.labels,))
        if self.labels == tuple(range(len(self))) and all(type(label) is int for label in self.labels):
            return (Index.range, (len(self),))
        return (Index, (self.labels,))
