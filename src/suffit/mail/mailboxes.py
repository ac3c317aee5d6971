"""Messages in files and folders, one at a time: single messages, mbox, Maildir, MH, all of them compressed or not."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, cast

MOST_BYTES = 64 * 2**20  # of one message that are read: memory is bounded by this
BLOCK = 2**18  # bytes read at once
LONGEST_LINE = 2**16  # bytes of a line that begins a message
GZIP = b"\x1f\x8b"
# Before a message of an mbox file: a blank line, and one as programs write it (a sentence has no time of day).
BETWEEN = re.compile(rb"\n\r?\n(?=From [^\n]*\d:\d\d)")
QUOTED_FROM = re.compile(rb"^>(>*+From )", re.M)
NO_MESSAGES = re.compile(
    r"\.|dovecot[-.](?:acl|index|keywords|list|mailbox|sync|uid)|maildir(?:folder|size)$|courierimap|subscriptions$|.*\.(?:lock|msf|index|cache)$"
)
NUMBERS = re.compile(r"(\d+)")


def messages_in(path: str | Path, problems: list[str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Go through the messages of a file or of a folder and those within it, one at a time.

    Parameters
    ----------
    path : str or Path
        A message or an mbox file (its ``>From`` lines are unquoted), compressed with gzip or not, or a folder of them:
        a Maildir (``new`` and ``cur``, and its subfolders), an MH folder, or a tree of files. Hidden files, empty ones
        and the indexes of mail programs are passed over.
    problems : list of str, optional
        Takes what could not be read, one line each; without it such a file is an error.

    Yields
    ------
    str
        The name: the path, with ``#1``, ``#2``, … for the messages of an mbox file.
    bytes
        The message; at most its first 64 MiB.
    """
    for file in files_in(Path(path)):
        try:
            yield from messages_of_file(file)
        except (OSError, EOFError, zlib.error) as error:
            if problems is None:
                raise
            problems.append(f"{file}: {error}")


def files_in(path: Path) -> Iterator[Path]:
    """The files that hold messages, in the order of their names, numbers in them by value."""
    folders = [path] if path.is_dir() else []
    if not folders:
        yield path
    while folders:
        folder = folders.pop()
        inside = sorted(os.scandir(folder), key=lambda entry: by_number(entry.name))
        below = [entry for entry in inside if entry.is_dir(follow_symlinks=False)]
        if {"cur", "new"} <= {entry.name for entry in inside if entry.is_dir()}:  # a Maildir
            below = sorted((each for each in below if each.name != "tmp"), key=lambda each: each.name.startswith("."))
        else:
            yield from (Path(each) for each in inside if NO_MESSAGES.match(each.name) is None and each.is_file())
            below = [each for each in below if not each.name.startswith(".")]
        folders += map(Path, reversed(below))


def by_number(name: str) -> list[tuple[int, str]]:
    """A key that sorts 9 before 10."""
    return [(int(piece[:18]), "") if piece.isdecimal() else (-1, piece) for piece in NUMBERS.split(name)]


def messages_of_file(path: Path) -> Iterator[tuple[str, bytes]]:
    """The messages of one file."""
    with open(path, "rb") as file:
        packed = file.peek(2)[:2] == GZIP
        with closing(cast("BinaryIO", gzip.GzipFile(fileobj=file)) if packed else file) as stream:
            first = stream.read(5)
            if first == b"From ":
                for number, raw in enumerate(split_mbox(stream, first), start=1):
                    yield f"{path}#{number}", raw
            elif first:  # an emptied mbox file is no message
                yield str(path), first + stream.read(MOST_BYTES - len(first))


def split_mbox(stream: BinaryIO, rest: bytes = b"") -> Iterator[bytes]:
    """The messages of an mbox file, whose first bytes may have been read."""
    kept: list[bytes] = []  # of the message that has begun
    size = 0
    while block := stream.read(BLOCK):
        block, at = rest + block, 0
        for found in BETWEEN.finditer(block):
            yield unquoted([*kept, block[at : found.start() + 1]])
            kept, size, at = [], 0, found.end()
        end = max(at, len(block) - LONGEST_LINE)  # what comes may begin a message there
        if size < MOST_BYTES:
            kept.append(block[at:end])
            size += end - at
        rest = block[end:]
    if rest.endswith((b"\n\n", b"\n\r\n")):  # without the blank line at the end
        rest = rest[: rest.rindex(b"\n", 0, -1) + 1]
    yield unquoted([*kept, rest])


def unquoted(pieces: list[bytes]) -> bytes:
    """A message of an mbox file as it was: without the line before it, its lines that begin with From unquoted."""
    raw = b"".join(pieces).partition(b"\n")[2][:MOST_BYTES]
    return QUOTED_FROM.sub(rb"\1", raw) if b">From " in raw else raw
