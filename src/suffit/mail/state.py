"""The sums that every verdict needs, and what the store knows about itself: one row, under its own check."""

from __future__ import annotations

import json

from .buckets import CHECK, ROUND, START, opened, sealed
from .errors import DamagedStoreError

FORMAT = 1
CLASSES = ("ham", "spam")  # of an empty store; others join behind them


class State:
    """What one row of the file says about all the others.

    ``messages`` is the number of messages of each class, ``totals`` the sum of the counts of all tokens, ``vocabulary``
    how many tokens have one; ``buckets`` how many there are.  ``counts`` and ``records`` are the sums, modulo 2^128, of
    the checks of all buckets and of all messages.  ``commits`` differs after every change.
    """

    __slots__ = ("buckets", "classes", "commits", "counts", "messages", "records", "settings", "totals", "vocabulary")

    def __init__(self) -> None:
        self.classes: list[str] = list(CLASSES)
        self.messages: list[int] = [0] * len(CLASSES)
        self.totals: list[int] = [0] * len(CLASSES)
        self.vocabulary, self.buckets, self.commits = 0, START, 0
        self.counts, self.records = 0, 0
        self.settings: str | None = None

    def stored(self) -> bytes:
        """As bytes, under a check."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return sealed(0, json.dumps({"format": FORMAT, **fields}, ensure_ascii=False).encode("utf-8", "surrogatepass"))

    @classmethod
    def read(cls, stored: object) -> State:
        """What :meth:`stored` wrote."""
        fields = json.loads(opened(0, stored, "its row of sums, number").decode("utf-8", "surrogatepass"))
        if fields["format"] != FORMAT:
            raise DamagedStoreError(
                f"the store has format {fields['format']}, this version of suffit reads format {FORMAT}"
            )
        state = cls()
        for name in cls.__slots__:
            setattr(state, name, fields[name])
        return state

    def index(self, name: str) -> int:
        """The place of a class, made at the end where it is new."""
        if name not in self.classes:
            self.classes.append(name)
            self.messages.append(0)
            self.totals.append(0)
        return self.classes.index(name)

    def drop_empty(self) -> None:
        """Classes at the end that have no message any more are as if they had never been."""
        while len(self.classes) > len(CLASSES) and not self.messages[-1]:
            for each in (self.classes, self.messages, self.totals):
                each.pop()

    def replaced(self, old: bytes, new: bytes) -> None:
        """A bucket has another content now; ``old`` or ``new`` is empty where there was or is none."""
        self.counts = (self.counts + _number(new) - _number(old)) % ROUND

    def recorded(self, mark: bytes, sign: int) -> None:
        """A message has come (1) or gone (−1)."""
        self.records = (self.records + sign * _number(mark)) % ROUND


def _number(stored: bytes) -> int:
    return int.from_bytes(stored[:CHECK], "little")
