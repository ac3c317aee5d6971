"""A store as text: written, read again, and read from what ``bogoutil -d`` prints."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from .buckets import written
from .records import DUMP, Record, dump_rows, packed, packed_dump, relabelled
from .store import TOGETHER, Store

HEAD = b"suffit-mail\t1"
# Where bogofilter found a token, and how that is called here.
TAGS = {b"subj": b"subject", b"rtrn": b"return-path", b"rcvd": b"received"}


def exported(store: Store, messages: bool = True) -> Iterator[bytes]:
    """The lines of a store: its classes, its tokens in order, and what was learned of each message.

    Without ``messages`` these are the counts alone: equal counts, equal lines.
    """
    sums = store.sums()
    used = [label for label, n in enumerate(sums.messages) if n]
    yield HEAD + b"\n"
    for label in used:
        yield b"class\t%s\t%d\n" % (_name(sums.classes[label]), sums.messages[label])
    for key, counts in sorted(store.rows()):
        yield b"token\t%s\t%s\n" % (key, b"\t".join(b"%d" % counts[label] for label in used))
    if messages:
        for record in store.learned():
            yield from _lines(record, sums.classes)


def _lines(record: Record, classes: tuple[str, ...]) -> Iterator[bytes]:
    head = record.digest.encode(), record.time
    if record.label != DUMP:
        score = b"-" if record.score is None else repr(record.score).encode()
        words = b"\t".join(record.keys)
        yield b"message\t%s\t%d\t%s\t%s\t%s\n" % (*head, score, _name(classes[record.label]), words)
        return
    n, rows = dump_rows(record)
    yield b"counts\t%s\t%d\t%s\n" % (
        *head,
        b"\t".join(_name(c) + b"\t%d" % k for c, k in zip(classes, n, strict=False)),
    )
    yield from (b"count\t%s\t%s\n" % (key, written(counts)) for key, counts in rows)


def _name(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def imported(store: Store, lines: Iterable[bytes]) -> tuple[int, int]:
    """Learn what :func:`exported` or ``bogoutil -d`` wrote; how many records were new, and how many known already.

    Counts without messages are one record: they are counted once, and can be forgotten again by its digest.
    """
    coming = (line.rstrip(b"\r\n") for line in lines)
    first = next(coming, b"")
    found = _from_bogofilter([first, *coming]) if first != HEAD else _from_suffit(coming)
    new = known = 0
    batch: list[tuple[Record, list[str]]] = []
    for record in found:
        batch.append(record)
        if len(batch) == TOGETHER:
            new, known, batch = *_added(store, batch, new, known), []
    return _added(store, batch, new, known)


def _added(store: Store, batch: list[tuple[Record, list[str]]], new: int, known: int) -> tuple[int, int]:
    with store.changing() as change:
        fresh = sum(change.add(relabelled(record, [change.label(name) for name in names])) for record, names in batch)
    return new + fresh, known + len(batch) - fresh


def _from_suffit(lines: Iterable[bytes]) -> Iterator[tuple[Record, list[str]]]:
    """Records, each with the names of the classes it speaks of."""
    classes: list[tuple[str, int]] = []
    tokens: list[tuple[bytes, tuple[int, ...]]] = []
    dump: tuple[list[bytes], list[tuple[bytes, tuple[int, ...]]]] | None = None
    whole = False
    for number, line in enumerate(lines, 2):
        kind, *fields = line.split(b"\t")
        try:
            if kind == b"count" and dump is not None:
                dump[1].append((fields[0], tuple(map(int, fields[1:]))))
                continue
            if dump is not None:
                yield _dump(*dump)
                dump = None
            if kind == b"class":
                classes.append((fields[0].decode("utf-8", "surrogatepass"), int(fields[1])))
            elif kind == b"token":
                tokens.append((fields[0], tuple(map(int, fields[1:]))))
            elif kind == b"message":
                whole = True
                yield _message(fields)
            elif kind == b"counts":
                whole, dump = True, (fields, [])
            elif line:
                raise ValueError
        except (ValueError, IndexError):
            raise ValueError(f"line {number} is not one of an export of suffit mail: {line[:60]!r}") from None
    if dump is not None:
        yield _dump(*dump)
    if not whole and classes:
        yield _counts_alone(classes, tokens)


def _message(fields: list[bytes]) -> tuple[Record, list[str]]:
    digest, time, score, name, *keys = fields
    value = None if score == b"-" else float(score)
    record = Record(digest.decode(), 0, int(time), packed(b"\n".join([key for key in keys if key])), value)
    return record, [name.decode("utf-8", "surrogatepass")]


def _dump(head: list[bytes], rows: list[tuple[bytes, tuple[int, ...]]]) -> tuple[Record, list[str]]:
    digest, time, *classes = head
    names = [name.decode("utf-8", "surrogatepass") for name in classes[::2]]
    body = packed_dump([int(n) for n in classes[1::2]], rows)
    return Record(digest.decode(), DUMP, int(time), body, None), names


def _counts_alone(
    classes: Sequence[tuple[str, int]], rows: Sequence[tuple[bytes, Sequence[int]]]
) -> tuple[Record, list[str]]:
    """Counts that came without messages: identified by what they are."""
    body = packed_dump([n for _, n in classes], rows)
    names = [name for name, _ in classes]
    digest = blake2b("\n".join(names).encode("utf-8", "surrogatepass") + body, digest_size=20).hexdigest()
    return Record(digest, DUMP, int(clock.time()), body, None), names


def _from_bogofilter(lines: list[bytes]) -> Iterator[tuple[Record, list[str]]]:
    """``token spam ham date`` on each line; the messages stand beside ``.MSG_COUNT``.

    bogofilter keeps Word and word apart, the parser here does not: their counts are added, up to all messages.
    """
    messages = (0, 0)
    rows: dict[bytes, tuple[int, int]] = {}
    for number, line in enumerate(lines, 1):
        fields = line.rsplit(b" ", 3)
        try:
            token, spam, ham = fields[0], int(fields[1]), int(fields[2])
        except (ValueError, IndexError):
            raise ValueError(
                f"line {number} is neither of an export of suffit mail nor of bogoutil -d: {line[:60]!r}"
            ) from None
        if token == b".MSG_COUNT":
            messages = ham, spam
        elif not token.startswith(b".") and (ham or spam):
            tag, colon, word = token.lower().partition(b":")
            key = TAGS.get(tag, tag) + colon + word
            before = rows.get(key, (0, 0))
            rows[key] = before[0] + ham, before[1] + spam
    if not any(messages):
        raise ValueError("no .MSG_COUNT says of how many messages these counts are: a dump of bogoutil -d has one")
    counts = [(key, (min(n[0], messages[0]), min(n[1], messages[1]))) for key, n in rows.items()]
    yield _counts_alone([("ham", messages[0]), ("spam", messages[1])], counts)
