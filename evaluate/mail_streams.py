"""Streams of messages to replay: an index in TREC's format, and orders of an archive whose messages have dates."""

from __future__ import annotations

import email.utils
import re
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

RECEIVED = re.compile(rb"^Received:(?:[^\n]|\n[ \t])*?;([^;\n]*(?:\n[ \t][^\n;]*)?)$", re.I | re.M)
DATE = re.compile(rb"^Date:([^\n]*)", re.I | re.M)
YEARS = 1995, 2040  # a date outside of these is not believed


@dataclass(frozen=True)
class Item:
    """A message: its class, the class that is told afterwards, its bytes, and the folder it was found in."""

    label: str
    told: str
    raw: Callable[[], bytes]
    folder: str = ""


def read_index(path: Path) -> list[Item]:
    """Messages of an index in TREC's format: a class and a path, relative to the index, on each line."""
    items = []
    for i, line in enumerate(path.read_text(encoding="utf-8", errors="surrogateescape").splitlines(), 1):
        label, _, name = line.strip().partition(" ")
        if line.strip():
            if label.lower() not in ("ham", "spam"):
                raise SystemExit(f"{path}, line {i}: expected 'spam PATH' or 'ham PATH', found {line!r}")
            items.append(Item(label.lower(), label.lower(), (path.parent / name.strip()).read_bytes))
    return items


def read_archive(path: Path) -> list[Item]:
    """The messages of an archive whose folders are named for ham and spam, sorted by folder and name."""
    found = []
    with tarfile.open(path) as archive:
        for member in archive:
            parts, file = Path(member.name).parts, archive.extractfile(member)
            if file is not None and len(parts) == 3 and parts[2] != "cmds":
                found.append((parts[1], parts[2], file.read()))
    labels = [(folder, "ham" if "ham" in folder else "spam", raw) for folder, _, raw in sorted(found)]
    return [Item(label, label, partial(bytes, raw), folder) for folder, label, raw in labels]


def read_texts(path: Path) -> list[Item]:
    """Text messages, label<TAB>text on each line, as mail without a header."""
    head = b"Content-Type: text/plain; charset=utf-8\n\n"
    pairs = [line.split(b"\t", 1) for line in path.read_bytes().splitlines() if line]
    return [Item(label.decode(), label.decode(), partial(bytes, head + text)) for label, text in pairs]


def halves(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """The odd and the even messages of every folder."""
    folders: dict[str, list[Item]] = {}
    for item in items:
        folders.setdefault(item.folder, []).append(item)
    lists = list(folders.values())
    return [item for found in lists for item in found[::2]], [item for found in lists for item in found[1::2]]


def by_folder(items: Sequence[Item], learned: Sequence[str]) -> tuple[list[Item], list[Item]]:
    """The messages of some folders, and all others."""
    if unknown := sorted(set(learned) - {item.folder for item in items}):
        raise SystemExit(f"no folder {unknown[0]!r}; there are {', '.join(sorted({item.folder for item in items}))}")
    return [item for item in items if item.folder in learned], [item for item in items if item.folder not in learned]


def date_of(raw: bytes) -> float:
    """When a message was received last, or else sent; 0 where neither is a date."""
    header = raw.partition(b"\n\n")[0]
    for found in (RECEIVED.search(header), DATE.search(header)):
        parsed = email.utils.parsedate_tz(found[1].decode("latin-1").strip()) if found else None
        if parsed and YEARS[0] < parsed[0] < YEARS[1]:
            return float(email.utils.mktime_tz(parsed))
    return 0.0


def by_date(items: Sequence[Item]) -> list[Item]:
    """In the order in which they came."""
    return sorted(items, key=lambda item: date_of(item.raw()))


def at_random(items: Sequence[Item]) -> list[Item]:
    """In any order."""
    return [items[i] for i in np.random.default_rng(0).permutation(len(items))]


def in_step(items: Sequence[Item]) -> list[Item]:
    """Each class by date, ham and spam in step, so that both come from the first to the last message."""
    places = []
    for label in ("ham", "spam"):
        own = by_date([item for item in items if item.label == label])
        places += [((i + 0.5) / len(own), label, item) for i, item in enumerate(own)]
    return [item for *_, item in sorted(places, key=lambda place: place[:2])]


ORDERS = {"date": by_date, "random": at_random, "step": in_step}


def with_wrong_labels(items: Sequence[Item], rate: float, seed: int = 0) -> list[Item]:
    """The same messages, a share of them told with the other class."""
    wrong = np.random.default_rng(seed).random(len(items)) < rate
    other = {"ham": "spam", "spam": "ham"}
    return [replace(x, told=other[x.label]) if w else x for x, w in zip(items, wrong, strict=True)]
