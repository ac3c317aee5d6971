r"""Counts of tokens in buckets of text lines, each under its own check.

A token belongs to one bucket, by its hash; buckets 0 … n − 1 all exist, always.  So a token that is not in its bucket
has never been learned: that something is *absent* is as sure as what is there, whatever happened to the pages of the
file on the way.  One more bucket is split off whenever there are more than ``LOAD`` tokens for each (linear hashing),
so that no message has to wait while everything is arranged anew.

A bucket is 16 bytes of check, then ``\n`` and a line ``token \t count of class 0 \t count of class 1 …\n`` for each
token, in order, without zeros at the end: the same counts are the same bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from zlib import crc32

from .errors import DamagedStoreError

LOAD = 24  # tokens for each bucket, on average: about 600 bytes
START = 64  # buckets of an empty store
CHECK = 16  # bytes
ROUND = 1 << 8 * CHECK  # sums of checks are kept modulo this


def key_of(token: str) -> bytes:
    r"""The bytes a token has in a line: UTF-8, and no tab or line end within.

    Examples
    --------
    >>> from suffit.mail.buckets import key_of
    >>> key_of("subject:grüezi"), key_of("a\tb")
    (b'subject:gr\xc3\xbcezi', b'a\\tb')
    """
    if "\\" in token or "\t" in token or "\n" in token:
        token = token.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
    return token.encode("utf-8", "surrogatepass")


def lines_of(tokens: Collection[str]) -> bytes:
    """The keys of tokens as lines, all at once, but for characters that have to be written otherwise."""
    text = "\n".join(tokens)
    if "\\" in text or "\t" in text or text.count("\n") != max(len(tokens) - 1, 0):
        return b"\n".join(map(key_of, tokens))
    return text.encode("utf-8", "surrogatepass")


def keys_of(tokens: Collection[str]) -> list[bytes]:
    """The keys of tokens, in their order."""
    return lines_of(tokens).split(b"\n") if tokens else []


def token_of(key: bytes) -> str:
    r"""The token that has a key.

    Examples
    --------
    >>> from suffit.mail.buckets import key_of, token_of
    >>> token_of(key_of("a\tb\\t"))
    'a\tb\\t'
    """
    text = key.decode("utf-8", "surrogatepass")
    if "\\" not in text:
        return text
    pieces = [piece.replace("\\t", "\t").replace("\\n", "\n") for piece in text.split("\\\\")]
    return "\\".join(pieces)


def check_of(which: int, body: bytes) -> bytes:
    """The check of what is stored under a number."""
    return blake2b(body, digest_size=CHECK, salt=which.to_bytes(8, "little")).digest()


def sealed(which: int, body: bytes) -> bytes:
    """What is stored under a number, its check before it."""
    return check_of(which, body) + body


def opened(which: int, stored: object, what: str) -> bytes:
    """What :func:`sealed` was given, or an error where it is not the same any more."""
    if not isinstance(stored, bytes) or check_of(which, stored[CHECK:]) != stored[:CHECK]:
        raise DamagedStoreError(f"the store is damaged: {what} {which} is not what was written")
    return stored[CHECK:]


def in_lines(rows: Mapping[bytes, bytes]) -> bytes:
    """Keys and their counts as the body of a bucket."""
    return b"\n".join([b"", *map(b"\t".join, sorted(rows.items())), b""]) if rows else b"\n"


def in_rows(body: bytes) -> dict[bytes, bytes]:
    """The body of a bucket as keys and their counts."""
    return dict([line.split(b"\t", 1) for line in body[1:-1].split(b"\n")]) if len(body) > 1 else {}


def found_in(body: bytes, key: bytes) -> bytes:
    """The counts of a key, empty where it has none."""
    start = body.find(b"\n" + key + b"\t")
    if start < 0:
        return b""
    start += len(key) + 2
    return body[start : body.find(b"\n", start)]


def numbers(counts: bytes, classes: int) -> tuple[int, ...]:
    r"""Counts of all classes: those that are not written are 0.

    Examples
    --------
    >>> from suffit.mail.buckets import numbers
    >>> numbers(b"3", 2), numbers(b"0\t4", 3)
    ((3, 0), (0, 4, 0))
    """
    found = tuple(map(int, counts.split(b"\t"))) if counts else ()
    return found + (0,) * (classes - len(found))


def written(counts: Sequence[int]) -> bytes:
    """Counts as they stand in a line; nothing where all are 0."""
    last = len(counts)
    while last and not counts[last - 1]:
        last -= 1
    return "\t".join(map(str, counts[:last])).encode()


def buckets_of(keys: Iterable[bytes], n: int) -> list[int]:
    """The bucket of ``n`` that each key belongs to."""
    whole = (1 << (n - 1).bit_length()) - 1
    half = whole >> 1
    return [which if which < n else which & half for which in [crc32(key) & whole for key in keys]]


def by_bucket(keys: Collection[bytes], n: int) -> dict[int, list[bytes]]:
    """Keys by the bucket of ``n`` that they belong to.

    Examples
    --------
    >>> from suffit.mail.buckets import by_bucket
    >>> by_bucket([b"free", b"money"], 64)
    {8: [b'free'], 36: [b'money']}
    """
    found: dict[int, list[bytes]] = {}
    for key, which in zip(keys, buckets_of(keys, n), strict=True):
        found.setdefault(which, []).append(key)
    return found
