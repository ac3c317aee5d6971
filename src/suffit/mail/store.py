"""The store of the mail filter: counts of tokens and what was learned of each message, in one SQLite file.

The fitted model is these counts.  Every change is one transaction, on the disk when it is done (write-ahead log, full
sync).  What a verdict reads is checked before it is used: each bucket of counts and the row of sums carry a check of
their own, kept in the same transaction; :meth:`Store.check` compares all of it with a digest over everything.
"""

from __future__ import annotations

import os
import sqlite3
import time as clock
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Protocol
from urllib.parse import quote

from .buckets import START, buckets_of, found_in, in_lines, in_rows, keys_of, numbers, opened, sealed
from .changes import RECORD, Change
from .checking import check_all
from .errors import StoreError, in_words
from .model import Sums
from .places import create
from .records import DUMP, Record, packed_tokens, relabelled
from .settings import Settings
from .state import State

SCHEMA = """
CREATE TABLE state (id INTEGER PRIMARY KEY, value BLOB);
CREATE TABLE buckets (id INTEGER PRIMARY KEY, lines BLOB);
CREATE TABLE messages (id INTEGER PRIMARY KEY, digest BLOB UNIQUE, class INTEGER, time INTEGER, tokens BLOB,
                       score REAL, mark BLOB);
CREATE INDEX messages_by_time ON messages (time);
"""
WAIT = 10.0  # seconds that a writer waits for another
REMEMBERED = 500_000  # tokens whose counts are kept in memory
AT_ONCE = 500  # buckets that are read at once
BUCKETS = 100_000  # buckets that are kept in memory, checked: about 60 MB
TOGETHER = 10_000  # messages in one transaction, where there are many to learn


class Learnable(Protocol):
    """A message as the store sees it: what identifies it, and its distinct tokens."""

    @property
    def digest(self) -> str:
        """Hexadecimal digits that are the same whenever it is the same message."""
        ...

    @property
    def tokens(self) -> Sequence[str]:
        """What is counted."""
        ...


class Store:
    """Counts of tokens by class, in a file.

    Examples
    --------
    >>> import tempfile
    >>> from types import SimpleNamespace
    >>> from suffit.mail.store import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/mail.sqlite", write=True) as store:
    ...     message = SimpleNamespace(digest="c0ffee", tokens=["subject:free", "money"])
    ...     store.learn(message, "spam"), store.learn(message, "spam")
    ...     store.counts(["money", "unseen"]), store.sums().messages
    (True, False)
    ({'money': (0, 1)}, (0, 1))
    """

    def __init__(self, path: str, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._stored: object = None  # the row of sums as it was read last
        self._state = State()
        self._known = _sums(self._state), _settings(self._state)
        self._remembered: dict[str, tuple[int, ...]] = {}
        self._numbers: dict[bytes, tuple[int, ...]] = {}  # counts as they are written and read
        self._bodies: dict[int, bytes] = {}

    @classmethod
    def open(cls, path: str, write: bool = False, wait: float = WAIT) -> Store:
        """Open a store; with ``write`` it is made where there is none.

        ``wait`` is how many seconds to wait for whoever is writing.
        """
        if write:
            create(path)
        elif not os.path.exists(path):
            raise StoreError(f"there is no store {path}: suffit mail learn makes one")
        with in_words(path):
            name = f"file:{quote(os.path.abspath(path))}?mode=rw"
            connection = sqlite3.connect(name, wait, isolation_level=None, uri=True, check_same_thread=False)
            try:
                connection.execute("PRAGMA cell_size_check = ON")
                if write:
                    _prepare(connection)
            except BaseException:
                connection.close()
                raise
        return cls(path, connection)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file; whoever closes last puts the log into it."""
        self._connection.close()

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.sums().classes

    def sums(self) -> Sums:
        """Messages and tokens of each class, as they are now."""
        with self._reading():
            return self._known[0]

    def settings(self) -> Settings:
        """How counts become verdicts: as tuned last, or the defaults."""
        with self._reading():
            return self._known[1]

    def put_settings(self, settings: Settings) -> None:
        """Keep other settings."""
        with self.changing() as change:
            change.state.settings = settings.to_json()

    def counts(self, tokens: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """Messages of each class that contain a token, for those tokens that any message contains."""
        with self._reading() as state:
            return {token: counts for token, counts in self._counts(tokens, state).items() if counts}

    def evidence(self, tokens: Iterable[str]) -> tuple[dict[str, tuple[int, ...]], Sums, Settings]:
        """All that a verdict needs, from one state of the store; a token that was never learned has no counts: ()."""
        with self._reading() as state:
            return self._counts(tokens, state), *self._known

    def learn(self, message: Learnable, name: str, score: float | None = None) -> bool:
        """Learn a message; False where it is known already, in whatever class.

        ``score`` is the log-odds it had before.
        """
        with self.changing() as change:
            return change.add(_record(message, change.label(name), score))

    def learn_all(self, messages: Iterable[tuple[Learnable, str]]) -> Iterator[dict[str, int]]:
        """Learn many messages, and say after each transaction what it had, by what came of it.

        That is how many messages were read, how many of them were new or known already, and how many known as another
        class than the one they came with.

        There are up to 10,000 in a transaction: whoever is interrupted has learned all or none of these.
        """
        coming = ((_record(message, 0, None), name) for message, name in messages)
        while batch := list(islice(coming, TOGETHER)):
            with self.changing() as change:
                labelled = [relabelled(record, [change.label(name)]) for record, name in batch]
                known = [record for record in labelled if not change.add(record)]
                before = [change.find(record.digest) for record in known]
                other = sum(old is not None and old.label != new.label for old, new in zip(before, known, strict=True))
            yield {"read": len(batch), "new": len(batch) - len(known), "known": len(known), "other class": other}

    def unlearn(self, digest: str) -> str | None:
        """Forget a message exactly, and return the class that it had; None where it was never learned."""
        with self.changing() as change:
            record = change.remove(digest)
            return None if record is None else _name(change.state, record)

    def correct(self, message: Learnable, name: str, score: float | None = None) -> str | None:
        """Learn a message in this class, whatever it was learned as, and return the class that it had."""
        with self.changing() as change:
            record = change.remove(message.digest)
            change.add(_record(message, change.label(name), score if record is None else record.score))
            return None if record is None else _name(change.state, record)

    def known(self, digest: str) -> str | None:
        """The class in which a message was learned."""
        with self._reading() as state:
            record = Change(self._connection, state).find(digest)
            return None if record is None else _name(state, record)

    def learned(self, before: float | None = None) -> Iterator[Record]:
        """What was learned, oldest first; of messages only those learned before a time, in seconds since 1970."""
        where, values = ("", ()) if before is None else ("WHERE time < ?", (before,))
        with in_words(self.path):
            rows = self._connection.execute(f"SELECT {RECORD} FROM messages {where} ORDER BY time, id", values)
            for row in rows:
                yield Record.read(row)

    def messages(self) -> tuple[int, ...]:
        """How many messages of each class are kept themselves: those that came as mere counts are not among them."""
        with self._reading() as state:
            found = dict(self._connection.execute("SELECT class, COUNT(*) FROM messages GROUP BY class"))
            return tuple(found.get(label, 0) for label in range(len(state.classes)))

    def rows(self) -> Iterator[tuple[bytes, tuple[int, ...]]]:
        """The key and the counts of every token, in no order."""
        with self._reading() as state:
            for which in range(state.buckets):
                for key, counts in in_rows(self._buckets([which])[which]).items():
                    yield key, numbers(counts, len(state.classes))

    def check(self) -> None:
        """Compare everything with its checks, the digests over everything, and the counts with the messages learned."""
        with self._reading() as state:
            check_all(self._connection, state)

    def expire(self, before: float) -> int:
        """Forget every message learned before a time, in seconds since 1970, and make the file smaller."""
        forgotten, coming = 0, [record.digest for record in self.learned(before)]
        for start in range(0, len(coming), TOGETHER):
            with self.changing() as change:
                forgotten += sum(change.remove(digest) is not None for digest in coming[start : start + TOGETHER])
        with in_words(self.path):
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return forgotten

    def merge(self, other: Store) -> tuple[int, int]:
        """Learn what another store has learned; how many messages were new, and how many both had.

        A message that both have counts once, in the class that it has here.
        """
        new = both = 0
        names, coming = other.classes, other.learned()
        while batch := list(islice(coming, TOGETHER)):
            with self.changing() as change:
                places = [change.label(name) for name in names]
                fresh = sum(change.add(relabelled(record, places)) for record in batch)
            new, both = new + fresh, both + len(batch) - fresh
        return new, both

    @contextmanager
    def changing(self) -> Iterator[Change]:
        """One transaction, done or not done as a whole."""
        with in_words(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                change = Change(self._connection, State.read(_stored_state(self._connection)))
                yield change
                change.finish()
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[State]:
        """One state of the store, whatever others write meanwhile."""
        if self._connection.in_transaction:
            yield self._state
            return
        with in_words(self.path):
            self._connection.execute("BEGIN")
            try:
                stored = _stored_state(self._connection)
                if stored != self._stored:
                    self._state, self._stored = State.read(stored), stored
                    self._known = _sums(self._state), _settings(self._state)
                    self._remembered.clear()
                    self._bodies.clear()
                    self._numbers.clear()
                yield self._state
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("COMMIT")

    def _counts(self, tokens: Iterable[str], state: State) -> dict[str, tuple[int, ...]]:
        asked, remembered = list(tokens), self._remembered
        if len(remembered) > REMEMBERED:
            remembered.clear()
        found = list(map(remembered.get, asked))
        if new := [token for token, counts in zip(asked, found, strict=True) if counts is None]:
            self._remember(new, state)
        return {token: remembered[token] for token in asked}

    def _remember(self, tokens: list[str], state: State) -> None:
        """Look tokens up; what was never learned has no counts at all."""
        keys = keys_of(tokens)
        classes, known, remembered = len(state.classes), self._numbers, self._remembered
        places = buckets_of(keys, state.buckets)
        bodies = self._buckets(set(places))
        for token, key, which in zip(tokens, keys, places, strict=True):
            counts = found_in(bodies[which], key)
            found = known.get(counts)
            if found is None:
                found = known[counts] = numbers(counts, classes) if counts else ()
            remembered[token] = found

    def _buckets(self, wanted: Collection[int]) -> dict[int, bytes]:
        """The bodies of buckets, checked; every one of those wanted is among them."""
        bodies = self._bodies
        if len(bodies) > BUCKETS:
            bodies.clear()
        new = [which for which in wanted if which not in bodies]
        for start in range(0, len(new), AT_ONCE):
            asked = ",".join(map(str, new[start : start + AT_ONCE]))
            for which, lines in self._connection.execute(f"SELECT id, lines FROM buckets WHERE id IN ({asked})"):
                bodies[which] = opened(which, lines, "bucket")
        for which in set(new).difference(bodies):
            opened(which, None, "bucket")
        return bodies


def _prepare(connection: sqlite3.Connection) -> None:
    """Durable and many readers beside one writer; tables where there are none yet."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'state'").fetchone():
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'state'").fetchone():
            for statement in SCHEMA.split(";\n"):
                connection.execute(statement)
            state, empty = State(), in_lines({})
            for which in range(START):
                stored = sealed(which, empty)
                connection.execute("INSERT INTO buckets (id, lines) VALUES (?, ?)", (which, stored))
                state.replaced(b"", stored)
            connection.execute("INSERT INTO state (id, value) VALUES (0, ?)", (state.stored(),))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _stored_state(connection: sqlite3.Connection) -> object:
    row = connection.execute("SELECT value FROM state WHERE id = 0").fetchone()
    return None if row is None else row[0]


def _sums(state: State) -> Sums:
    return Sums(tuple(state.classes), tuple(state.messages), tuple(state.totals), state.vocabulary)


def _settings(state: State) -> Settings:
    """As tuned last; the defaults where nothing was tuned, or by a version whose settings were others."""
    try:
        return Settings.default() if state.settings is None else Settings.from_json(state.settings)
    except (TypeError, ValueError, KeyError):
        return Settings.default()


def _record(message: Learnable, label: int, score: float | None) -> Record:
    return Record(message.digest, label, int(clock.time()), packed_tokens(message.tokens), score)


def _name(state: State, record: Record) -> str:
    return state.classes[record.label] if record.label != DUMP else "counts"
