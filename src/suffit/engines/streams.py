"""A file or standard input as a stream of bytes: decompressed, in UTF-8, and with a name for messages."""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from ..data.errors import InputError

READER = "suffit-read-ahead"  # the thread that reads while rows are used
HELD = 1 << 26  # bytes of standard input that are kept, to be read again
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\x04\x22\x4d\x18": "lz4"}
ENDINGS = (".gz", ".zst", ".zstd", ".bz2", ".lz4")
MARKS_OF_ORDER = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@dataclass(frozen=True)
class Input:
    """A file, or a pipe: standard input where the path is ``-``, or one that has a name."""

    path: str
    encoding: str | None = None

    @property
    def name(self) -> str:
        """The file as messages call it."""
        return "standard input" if self.path == "-" else self.path

    @property
    def size(self) -> int:
        """Bytes; 0 where nobody knows."""
        return 0 if self.once else os.path.getsize(self.path)

    @cached_property
    def _pipe(self) -> Pipe | None:
        if self.path == "-":
            return _standard_input()
        return None if os.path.isfile(self.path) else Pipe(open(self.path, "rb", buffering=0), self.path)

    @cached_property
    def first(self) -> bytes:
        """The first bytes, as they are stored."""
        if self._pipe is not None:
            return self._pipe.peek()
        try:
            with open(self.path, "rb") as stream:
                return stream.read(8)
        except OSError as error:
            raise InputError(f"{self.path}: {_reason(error)}") from None

    @cached_property
    def compression(self) -> str | None:
        """How the bytes are compressed, by the first of them."""
        return next((kind for mark, kind in MAGIC.items() if self.first.startswith(mark)), None)

    @property
    def seekable(self) -> bool:
        """Whether it can be read from any place."""
        return not self.once and self.compression is None and self._coding is None

    @property
    def _coding(self) -> str | None:
        if self.encoding and self.encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
            return self.encoding
        return next((code for mark, code in MARKS_OF_ORDER.items() if self.first.startswith(mark)), None)

    @property
    def once(self) -> bool:
        """Whether it can be read only once, but for its beginning."""
        return self._pipe is not None

    def open(self) -> IO[bytes]:
        """The bytes, from the beginning."""
        if self.seekable:
            return open(self.path, "rb")
        import pyarrow as pa

        kept = None if self._pipe is None else pa.PythonFile(FromTheBeginning(self._pipe), "r")
        stream = kept or pa.OSFile(self.path, "rb")
        if self.compression is not None:
            stream = pa.CompressedInputStream(stream, self.compression)
        if self._coding is not None:
            try:
                stream = pa.transcoding_input_stream(stream, self._coding, "utf-8")
            except LookupError:
                raise InputError(f"--encoding {self.encoding}: unknown; known are utf-8, latin-1, utf-16, …") from None
        return io.BufferedReader(_Raw(stream, self.name), 1 << 20)


class _Raw(io.RawIOBase):
    """An Arrow stream as the raw stream that Python buffers; errors name the file."""

    def __init__(self, stream: Any, name: str) -> None:
        self.stream, self.name = stream, name

    def readable(self) -> bool:
        return True

    def readinto(self, out: Any) -> int:
        try:
            read = self.stream.read(len(out))
        except (OSError, UnicodeError) as error:
            raise InputError(f"{self.name}: cannot be read: {error}") from None
        out[: len(read)] = read
        return len(read)

    def close(self) -> None:
        """Close the stream below, too."""
        self.stream.close()
        super().close()


class Pipe:
    """A pipe whose beginning is kept, so that it can be looked at and then read as a whole."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self.stream, self.name, self.kept = stream, name, bytearray()
        self.read = 0  # bytes taken from the stream: more than are kept, once these are many

    def more(self, place: int, n: int) -> bytes:
        """The n bytes from a place on: kept ones, or else the next of the stream."""
        if place < len(self.kept):
            return bytes(self.kept[place : place + n])
        if place != self.read:
            raise InputError(f"{self.name} can be read only once; save it as a file first")
        found = self.stream.read(n)
        if self.read == len(self.kept) and self.read + len(found) <= HELD:
            self.kept += found
        self.read += len(found)
        return found

    def peek(self, n: int = 8) -> bytes:
        """The first bytes."""
        while len(self.kept) < n and self.more(len(self.kept), n - len(self.kept)):
            pass
        return bytes(self.kept[:n])


class FromTheBeginning:
    """A pipe, read from its beginning, as a file of Python."""

    closed = False

    def __init__(self, source: Pipe) -> None:
        self.source, self.place = source, 0

    def read(self, n: int = -1) -> bytes:
        """The next bytes."""
        found = self.source.more(self.place, HELD if n < 0 else n)
        self.place += len(found)
        return found

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Stays open, to be read again."""


_stdin: Pipe | None = None


def _standard_input() -> Pipe:
    """Unbuffered: a thread that waits for more must not hold a lock when the process ends."""
    global _stdin
    stream = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    if _stdin is None or _stdin.stream is not stream:
        _stdin = Pipe(stream, "standard input")
    return _stdin


def found_files(paths: Sequence[str]) -> list[str]:
    """The files that paths and globs name, in order; each must be there."""
    found: list[str] = []
    for path in paths:
        if path == "-":
            found.append(path)
            continue
        here = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) and not os.path.exists(path) else [path]
        if not here:
            raise InputError(f"{path}: no file matches")
        for each in here:
            _check_file(each)
        found += here
    return found


def _check_file(path: str) -> None:
    if os.path.isdir(path):
        inside = sorted({p.suffix for p in Path(path).iterdir() if p.is_file() and p.suffix})
        example = os.path.join(path, f"*{inside[0] if inside else '.csv'}")
        raise InputError(f"{path}: is a directory; give files, or all of a kind as '{example}'")
    if not os.path.exists(path):
        raise InputError(f"{path}: no such file{_meant(path)}")


def _meant(path: str) -> str:
    import difflib

    folder = os.path.dirname(path) or "."
    beside = os.listdir(folder) if os.path.isdir(folder) else []
    near = difflib.get_close_matches(os.path.basename(path), beside, 1)
    return f"; did you mean {os.path.join(os.path.dirname(path), near[0])!r}?" if near else ""


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
