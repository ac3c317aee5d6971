"""What is kept of each learned message, so that it can be forgotten exactly: its tokens, whatever later parsers say."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from .buckets import CHECK, lines_of, numbers, written
from .errors import DamagedStoreError

DUMP = -1  # in place of a class: counts that came without messages, as a table of lines like those of a bucket


class Record:
    """One learned message, or one dump of counts.

    ``label`` is the place of its class, ``packed`` its tokens, ``score`` the log-odds it had just before it was
    learned, where they were computed.
    """

    __slots__ = ("digest", "label", "packed", "score", "time")

    def __init__(self, digest: str, label: int, time: int, packed: bytes, score: float | None) -> None:
        self.digest, self.label, self.time, self.packed, self.score = digest, label, time, packed, score

    @property
    def row(self) -> tuple[bytes, int, int, bytes, float | None, bytes]:
        """As it is stored."""
        return digest_bytes(self.digest), self.label, self.time, self.packed, self.score, self.mark

    @classmethod
    def read(cls, row: tuple[object, ...]) -> Record:
        """What :attr:`row` wrote, or an error where it is not the same any more."""
        digest, label, time, packed, score, mark = row
        if isinstance(digest, bytes) and isinstance(label, int) and isinstance(time, int) and isinstance(packed, bytes):
            record = cls(digest.hex(), label, time, packed, score if isinstance(score, float) else None)
            if record.mark == mark:
                return record
        raise DamagedStoreError("the store is damaged: a learned message is not what was written")

    @property
    def keys(self) -> list[bytes]:
        """Its tokens, or the lines of a dump."""
        body = zlib.decompress(self.packed)
        return body.split(b"\n") if body else []

    @property
    def mark(self) -> bytes:
        """A check over all of it."""
        head = f"{self.digest} {self.label} {self.time} {self.score!r} ".encode()
        return blake2b(head + self.packed, digest_size=CHECK).digest()


def digest_bytes(digest: str) -> bytes:
    """The key of a message; an error where it is no digest."""
    try:
        return bytes.fromhex(digest)
    except ValueError:
        raise ValueError(f"{digest!r} is not the digest of a message: hexadecimal digits were expected") from None


def packed_tokens(tokens: Iterable[str]) -> bytes:
    """Distinct tokens in order, compressed: what a record keeps."""
    return packed(lines_of(sorted(dict.fromkeys(tokens))))


def packed(lines: bytes) -> bytes:
    """Keys or lines, one after the other, compressed."""
    return zlib.compress(lines, 1)


def packed_dump(messages: Sequence[int], rows: Iterable[tuple[bytes, Sequence[int]]]) -> bytes:
    """Messages of each class, and counts of each token, without the messages themselves."""
    lines = [written(messages), *sorted(key + b"\t" + written(counts) for key, counts in rows)]
    return packed(b"\n".join(lines))


def dump_rows(record: Record) -> tuple[tuple[int, ...], list[tuple[bytes, tuple[int, ...]]]]:
    """What :func:`packed_dump` was given."""
    head, *lines = record.keys or [b""]
    return numbers(head, 0), [(key, numbers(counts, 0)) for key, _, counts in (line.partition(b"\t") for line in lines)]


def relabelled(record: Record, places: Sequence[int]) -> Record:
    """The same record where class i stands at ``places[i]``."""
    if record.label != DUMP:
        return Record(record.digest, places[record.label], record.time, record.packed, record.score)
    messages, rows = dump_rows(record)

    def put(counts: Sequence[int]) -> list[int]:
        there = [0] * (max(places) + 1)
        for label, n in enumerate(counts):
            there[places[label]] = n
        return there

    packed = packed_dump(put(messages), [(key, put(counts)) for key, counts in rows])
    return Record(record.digest, DUMP, record.time, packed, record.score)
