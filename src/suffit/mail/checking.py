"""Whether a whole store is what was written, and whether its counts are those of its messages."""

from __future__ import annotations

import sqlite3
from collections import Counter

from .buckets import by_bucket, in_rows, numbers, opened
from .changes import RECORD, Change
from .errors import DamagedStoreError
from .records import Record
from .state import State

WRONG = "the store is damaged: "


def check_all(connection: sqlite3.Connection, state: State) -> None:
    """Raise where anything differs from its check, from the digests over everything or from the messages learned."""
    for (said,) in connection.execute("PRAGMA quick_check(1)"):
        if said != "ok":
            raise DamagedStoreError(f"{WRONG}{said}")
    again = Change(connection, _empty(state))
    n = 0
    for row in connection.execute(f"SELECT {RECORD} FROM messages"):
        again.count(Record.read(row), 1)
        n += 1
    if n != connection.execute("SELECT COUNT(*) FROM messages INDEXED BY messages_by_time").fetchone()[0]:
        raise DamagedStoreError(f"{WRONG}its index has another number of messages")
    found = _counts(connection, state, again.state)
    for name in ("counts", "records", "messages", "totals", "vocabulary"):
        if getattr(again.state, name) != getattr(state, name):
            expected = f"{getattr(state, name)}, but there are {getattr(again.state, name)}"
            raise DamagedStoreError(f"{WRONG}{name}: {expected}")
    for label, counts in enumerate(again.by):
        if +counts != found[label]:
            raise DamagedStoreError(f"{WRONG}counts of {state.classes[label]} are not those of its messages")


def _empty(state: State) -> State:
    """Nothing learned, the same classes."""
    empty = State()
    for name in state.classes:
        empty.index(name)
    return empty


def _counts(connection: sqlite3.Connection, state: State, again: State) -> list[Counter[bytes]]:
    """The counts of all buckets by class; totals and the digest over them go to ``again``."""
    found: list[Counter[bytes]] = [Counter() for _ in state.classes]
    for which, lines in connection.execute("SELECT id, lines FROM buckets"):
        rows = in_rows(opened(which, lines, "bucket"))
        again.replaced(b"", lines)
        if any(place != which for place in by_bucket(rows, state.buckets)):
            raise DamagedStoreError(f"{WRONG}bucket {which} has tokens that are not its own")
        for key, written in rows.items():
            counts = numbers(written, len(found))
            again.vocabulary += 1
            for label, n in enumerate(counts):
                again.totals[label] += n
                if n:
                    found[label][key] = n
    return found
