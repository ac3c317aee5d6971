"""One transaction on a store: messages come and go, and their counts with them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from itertools import chain, repeat

from .buckets import CHECK, LOAD, by_bucket, in_lines, in_rows, numbers, opened, sealed, written
from .errors import DamagedStoreError
from .records import DUMP, Record, digest_bytes, dump_rows
from .state import State

RECORD = "digest, class, time, tokens, score, mark"
TOGETHER = 4_096  # buckets that are written at once


class Change:
    """What a transaction does, collected in memory and written to the counts once, by :meth:`finish`."""

    def __init__(self, connection: sqlite3.Connection, state: State) -> None:
        self.connection, self.state = connection, state
        self.by: list[Counter[bytes]] = [Counter() for _ in state.classes]
        self._rows: dict[int, dict[bytes, bytes]] = {}  # buckets that are read, by their number
        self._checks: dict[int, bytes] = {}  # of these, as they were
        self._texts: dict[tuple[int, ...], bytes] = {}  # counts as they are written: most are one of few

    def add(self, record: Record) -> bool:
        """Learn a message; False where it is known already, in whatever class."""
        insert = f"INSERT OR IGNORE INTO messages ({RECORD}) VALUES (?, ?, ?, ?, ?, ?)"
        if not self.connection.execute(insert, record.row).rowcount:
            return False
        self.count(record, 1)
        return True

    def find(self, digest: str) -> Record | None:
        """What was learned of a message."""
        rows = self.connection.execute(f"SELECT {RECORD} FROM messages WHERE digest = ?", (digest_bytes(digest),))
        return next(map(Record.read, rows), None)

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
        keys = dict.fromkeys(chain.from_iterable(self.by))
        while self.state.vocabulary + len(keys) > LOAD * self.state.buckets:
            self._split()
        for which, here in by_bucket(keys, self.state.buckets).items():
            self._recount(self._bucket(which), here)
            if len(self._rows) >= TOGETHER:
                self._write()
        self._write()
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

    def _recount(self, rows: dict[bytes, bytes], keys: list[bytes]) -> None:
        """Add what has changed to the counts of one bucket."""
        classes, tokens, texts = len(self.by), 0, self._texts
        added = zip(*[map(by.get, keys, repeat(0)) for by in self.by], strict=True)
        for key, counts in zip(keys, added, strict=True):
            before = rows.get(key)
            if before is not None:
                counts = tuple([n + by for n, by in zip(numbers(before, classes), counts, strict=True)])
            after = texts.get(counts)
            if after is None:
                after = texts[counts] = self._written(key, counts)
            tokens += bool(after) - (before is not None)
            if after:
                rows[key] = after
            else:
                rows.pop(key, None)
        self.state.vocabulary += tokens

    def _written(self, key: bytes, counts: tuple[int, ...]) -> bytes:
        if min(counts) < 0:
            raise DamagedStoreError(f"the store is damaged: token {key!r} has fewer messages than are forgotten")
        return written(counts)

    def _split(self) -> None:
        """One more bucket: it gets its share of the one that had it until now."""
        new = self.state.buckets
        rows = self._bucket(new - (1 << new.bit_length() - 1))
        self.state.buckets += 1
        self._rows[new] = {key: rows.pop(key) for key in by_bucket(rows, self.state.buckets).get(new, ())}

    def _bucket(self, which: int) -> dict[bytes, bytes]:
        """The rows of a bucket, to be changed in place."""
        rows = self._rows.get(which)
        if rows is None:
            row = self.connection.execute("SELECT lines FROM buckets WHERE id = ?", (which,)).fetchone()
            rows = self._rows[which] = in_rows(opened(which, None if row is None else row[0], "bucket"))
            self._checks[which] = row[0][:CHECK]
        return rows

    def _write(self) -> None:
        """Write the buckets that were read, and let go of them."""
        changed = []
        for which, rows in self._rows.items():
            stored, before = sealed(which, in_lines(rows)), self._checks.get(which, b"")
            if stored[:CHECK] != before:
                self.state.replaced(before, stored)
                changed.append((which, stored))
        self.connection.executemany("INSERT OR REPLACE INTO buckets (id, lines) VALUES (?, ?)", changed)
        self._rows.clear()
        self._checks.clear()
