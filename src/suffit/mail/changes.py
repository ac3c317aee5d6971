"""One transaction on a store: messages come and go, and their counts with them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable

from .buckets import CHECK, LOAD, by_bucket, in_lines, in_rows, numbers, opened, sealed, written
from .errors import DamagedStoreError
from .records import DUMP, Record, digest_bytes, dump_rows
from .state import State

RECORD = "digest, class, time, tokens, score, mark"


class Change:
    """What a transaction does, collected in memory and written to the counts once, by :meth:`finish`."""

    def __init__(self, connection: sqlite3.Connection, state: State) -> None:
        self.connection, self.state = connection, state
        self.by: list[Counter[bytes]] = [Counter() for _ in state.classes]

    def add(self, record: Record) -> bool:
        """Learn a message; False where it is known already, in whatever class."""
        if self.find(record.digest) is not None:
            return False
        self.connection.execute(f"INSERT INTO messages ({RECORD}) VALUES (?, ?, ?, ?, ?, ?)", record.row)
        self.count(record, 1)
        return True

    def find(self, digest: str) -> Record | None:
        """What was learned of a message."""
        found = self.connection.execute(f"SELECT {RECORD} FROM messages WHERE digest = ?", (digest_bytes(digest),))
        row = found.fetchone()
        return None if row is None else Record.read(row)

    def remove(self, digest: str) -> Record | None:
        """Forget a message; None where it was never learned."""
        record = self.find(digest)
        if record is not None:
            self.connection.execute("DELETE FROM messages WHERE digest = ?", (digest_bytes(digest),))
            self.count(record, -1)
        return record

    def label(self, name: str) -> int:
        """The place of a class, new ones at the end."""
        place = self.state.index(name)
        while len(self.by) <= place:
            self.by.append(Counter())
        return place

    def finish(self) -> None:
        """Write the counts and the sums that follow from them."""
        keys = set().union(*(counts.keys() for counts in self.by))
        while self.state.vocabulary + len(keys) > LOAD * self.state.buckets:
            self._split()
        for which, here in by_bucket(keys, self.state.buckets).items():
            self._recount(which, here)
        self.state.totals = [total + sum(by.values()) for total, by in zip(self.state.totals, self.by, strict=True)]
        self.state.drop_empty()
        self.state.commits += 1
        self.connection.execute("UPDATE state SET value = ? WHERE id = 0", (self.state.stored(),))

    def count(self, record: Record, sign: int) -> None:
        """Add a message to what is to be written (1), or take it away (−1)."""
        self.state.recorded(record.mark, sign)
        if record.label == DUMP:
            messages, rows = dump_rows(record)
            for label, n in enumerate(messages):
                self.state.messages[label] += sign * n
            for key, counts in rows:
                for label, n in enumerate(counts):
                    self.by[label][key] += sign * n
            return
        self.state.messages[record.label] += sign
        if sign > 0:
            self.by[record.label].update(record.keys)
        else:
            self.by[record.label].subtract(record.keys)

    def _recount(self, which: int, keys: Iterable[bytes]) -> None:
        """Add what has changed to the counts of one bucket."""
        old = self._bucket(which)
        rows, classes, tokens = in_rows(old[CHECK:]), len(self.by), 0
        for key in keys:
            counts = [by.get(key, 0) for by in self.by]
            before = rows.get(key)
            if before is not None:
                counts = [n + by for n, by in zip(numbers(before, classes), counts, strict=True)]
            if min(counts) < 0:
                raise DamagedStoreError(f"the store is damaged: token {key!r} has fewer messages than are forgotten")
            after = written(counts)
            tokens += bool(after) - (before is not None)
            if after:
                rows[key] = after
            else:
                rows.pop(key, None)
        self.state.vocabulary += tokens
        self._write(which, old, in_lines(rows))

    def _split(self) -> None:
        """One more bucket: it gets its share of the one that had it until now."""
        new = self.state.buckets
        old_place = new - (1 << new.bit_length() - 1)
        old = self._bucket(old_place)
        self.state.buckets += 1
        rows = in_rows(old[CHECK:])
        here = {key: rows.pop(key) for key in by_bucket(rows, self.state.buckets).get(new, ())}
        self.connection.execute("INSERT INTO buckets (id, lines) VALUES (?, x'')", (new,))
        self._write(new, b"", in_lines(here))
        if here:
            self._write(old_place, old, in_lines(rows))

    def _bucket(self, which: int) -> bytes:
        row = self.connection.execute("SELECT lines FROM buckets WHERE id = ?", (which,)).fetchone()
        opened(which, None if row is None else row[0], "bucket")
        return bytes(row[0])

    def _write(self, which: int, old: bytes, body: bytes) -> None:
        new = sealed(which, body)
        self.connection.execute("UPDATE buckets SET lines = ? WHERE id = ?", (new, which))
        self.state.replaced(old, new)
