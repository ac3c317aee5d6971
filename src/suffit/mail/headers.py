"""The header of a message or of a part: names and values, unfolded; encoded words and parameters decoded.

Everything here is one pass: a value is decoded once, whatever it holds.
"""

from __future__ import annotations

import binascii
import re
from urllib.parse import unquote_to_bytes

from .charsets import decode_text
from .transfer import decode_base64

Headers = list[tuple[str, str]]  # lower-case names and unfolded values, in order

FIRST = re.compile(rb"[!-9;-~]++[ \t]*+:")
END = re.compile(rb"\n(?![!-9;-~]++[ \t]*+:|[ \t])")
ENCODED = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*+)\?=")
PARAMETER = re.compile(r""";\s*+([^\s;="]++)\s*+=\s*+("(?:[^"\\]|\\.)*+"|[^;\s]*+)""", re.S)
QUOTED = re.compile(r"\\(.)", re.S)


def split_header(data: bytes, start: int, end: int, most: int) -> tuple[Headers, int, bool]:
    r"""The header that begins at a position, where its body begins, and whether a part of the header was not read.

    A line that is neither a header, nor a continuation, nor blank ends the header, and begins the body.

    >>> split_header(b"Subject: a\n b\nFrom: c\n\nbody", 0, 27, 1000)
    ([('subject', 'a b'), ('from', 'c')], 23, False)
    """
    if FIRST.match(data, start, end) is None:
        return [], start + (data[start : start + 1] == b"\n"), False
    found = END.search(data, start, end)
    stop = found.end() if found else end
    body = stop + 1 if stop < end and data[stop] == 10 else stop
    block = decode_text(data[start : min(stop, start + most)])
    lines = block.replace("\n ", " ").replace("\n\t", "\t").split("\n")
    parts = [line.partition(":") for line in lines]
    headers = [(name.rstrip().lower(), value.strip()) for name, colon, value in parts if colon]
    return headers, body, stop > start + most


def value_of(headers: Headers, wanted: str) -> str:
    """The first value of a header; empty where there is none."""
    for name, value in headers:
        if name == wanted:
            return value
    return ""


def decode_words(value: str) -> str:
    """A header's value with its encoded words (RFC 2047) decoded; those that cannot be stay as they are.

    >>> decode_words("=?utf-8?q?caf=C3?= =?utf-8?b?qSE=?= now")
    'café! now'
    """
    if "=?" not in value:
        return value
    pieces: list[str] = []
    waiting: list[bytes] = []  # bytes of neighbours with one character set: a character may be split between them
    charset, at = "", 0
    for found in ENCODED.finditer(value):
        name, encoding, payload = found.groups()
        between = value[at : found.start()]
        adjacent = bool(waiting) and not between.strip()
        if not adjacent or name != charset:
            if waiting:
                pieces.append(decode_text(b"".join(waiting), charset.partition("*")[0]))
                waiting = []
            if not adjacent:
                pieces.append(between)
        waiting.append(bytes_of_word(payload, encoding))
        charset, at = name, found.end()
    if waiting:
        pieces.append(decode_text(b"".join(waiting), charset.partition("*")[0]))
    pieces.append(value[at:])
    return "".join(pieces)


def bytes_of_word(payload: str, encoding: str) -> bytes:
    """The bytes that the payload of an encoded word stands for."""
    data = payload.encode("utf-8", "replace")
    if encoding in "qQ":
        return binascii.a2b_qp(data, header=True)
    return decode_base64(data)


def parse_parameters(value: str) -> tuple[str, dict[str, str]]:
    r"""The first word of a Content-Type or Content-Disposition, and its parameters (RFC 2231 as well).

    >>> parse_parameters('text/plain; charset="utf-8"; name*=utf-8\'\'caf%C3%A9')
    ('text/plain', {'charset': 'utf-8', 'name': 'café'})
    """
    kind = value.partition(";")[0].strip().lower()
    found: dict[str, str] = {}
    extended: dict[str, list[str]] = {}
    for name, text in PARAMETER.findall(value):
        if text[:1] == '"':
            text = QUOTED.sub(r"\1", text[1:-1] if len(text) > 1 and text[-1] == '"' else text[1:])
        name = name.lower()
        if "*" in name:
            extended.setdefault(name.partition("*")[0], []).append(text)
        else:
            found.setdefault(name, text)
    for name, texts in extended.items():
        charset, *rest = "".join(texts).split("'", 2)  # charset'language'percent-encoded
        data = unquote_to_bytes(rest[1] if len(rest) == 2 else "".join(texts))
        found.setdefault(name, decode_text(data, charset if len(rest) == 2 else ""))
    return kind, found
