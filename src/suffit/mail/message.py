"""A message as the filter sees it: raw bytes in, distinct tokens out; never an error, in linear time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from .charsets import decode_text
from .header_tokens import add_file_name, add_headers, add_part_headers, subject_of
from .headers import decode_words, split_header, value_of
from .html_text import BREAKS, INLINE, Page, read_html
from .mime import EMBEDDED, Part, Parts, Walk
from .transfer import decode_body, without_uuencoded
from .urls import add_link
from .words import Tokens, add_text, add_words

LOOKS_LIKE_HTML = re.compile(rb"\s*+<(?:!doctype html|html|head|body|meta|table|div|p|br|font|center)\b", re.I)
DIGESTED = ("message-id", "date", "from")  # what no delivery changes


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a message is read: what is beyond is noted, and does not count."""

    header: int = 262_144  # bytes of one header
    parts: int = 1_000
    lines: int = 20_000  # that begin as boundaries do
    text: int = 524_288  # bytes of text, over all parts, decoded
    tokens: int = 20_000
    digested: int = 33_554_432  # bytes of the body that the digest is over


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Message:
    """What the filter knows of a message.

    Attributes
    ----------
    tokens : tuple of str
        Distinct: those of the header, then those of the parts in their order. Plain words and pairs of them are of the
        text; all others have a tag before a colon.
    digest : str
        Identifies the message, whatever headers its delivery added.
    subject, sender : str
        For reports.
    notes : tuple of str
        What was broken or too large, in plain words.
    """

    tokens: tuple[str, ...]
    digest: str
    subject: str
    sender: str
    notes: tuple[str, ...]


def read_message(raw: bytes, limits: Limits = LIMITS) -> Message:
    r"""Read a message, whatever its bytes are.

    Parameters
    ----------
    raw : bytes
        A message as it was delivered, or any other bytes.
    limits : Limits, optional
        How much of it is read.

    Returns
    -------
    Message
        Its tokens, its digest, and what was noted on the way.

    Examples
    --------
    >>> message = read_message(b"Subject: Cheap pills\n\nBuy pills at http://pills.example/now")
    >>> message.subject, message.tokens[:2]
    ('Cheap pills', ('subject:cheap', 'subject:pills'))
    """
    data = b"\n" + (raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in raw else raw)
    start = 1
    if data.startswith((b"From ", b">From "), 1):
        start = data.find(b"\n", 1) + 1 or len(data)
    headers, body, cut = split_header(data, start, len(data), limits.header)
    parts = Walk(data, limits.parts, limits.header, limits.lines).parts(headers, max(body, 1))
    notes = [f"the header is longer than {limits.header} bytes"] if cut else []
    tokens: Tokens = {}
    add_headers(headers, tokens)
    add_parts(data, parts, limits, tokens)
    notes += parts.notes
    if len(tokens) > limits.tokens:
        notes.append(f"{len(tokens)} tokens; the first {limits.tokens} were kept")
    values = dict(reversed(headers))  # the first of each name
    return Message(
        tuple(tokens)[: limits.tokens],
        digest_of(values, data[max(body - 1, 0) : body + limits.digested]),
        subject_of(values.get("subject", ""))[:500],
        decode_words(values.get("from", ""))[:500],
        tuple(dict.fromkeys(notes)),
    )


def digest_of(values: dict[str, str], body: bytes) -> str:
    """A digest over the body and those headers that stay the same on the way, blanks and line ends aside."""
    subject = subject_of(values.get("subject", ""))
    kept = "\n".join([" ".join(value.split()) for value in (subject, *[values.get(name, "") for name in DIGESTED])])
    if b"\n>From " in body:
        body = body.replace(b"\n>From ", b"\nFrom ")
    digest = blake2b(kept.encode("utf-8", "replace"), digest_size=16)
    digest.update(body.rstrip())
    return digest.hexdigest()


def add_parts(data: bytes, parts: Parts, limits: Limits, tokens: Tokens) -> None:
    """Add the tokens of all parts, and of the messages within the message."""
    for kind in parts.containers:
        tokens["part:" + kind[:60]] = None
    for headers in parts.embedded:
        tokens["part:message/rfc822"] = None
        add_text(subject_of(value_of(headers, "subject"))[:500], tokens)
    left = limits.text
    for part in parts.leaves:
        add_part_headers(part.headers, part.kind, part.parameters, tokens)
        if left > 0 and is_text(part):
            found = text_of(data, part, left)
            add_found(found, tokens)
            left = 0 if found.capped else left - found.size
    if left <= 0:
        parts.notes.append(f"more than {limits.text} bytes of text; the rest was not read")


def is_text(part: Part) -> bool:
    """Whether a part is read: text, and files that are text by their names."""
    if part.kind.startswith("text/") or "/" not in part.kind:
        return True
    name = part.parameters.get("name", "").lower()
    return name.endswith((".txt", ".htm", ".html", ".shtml")) or part.kind in ("message/delivery-status", EMBEDDED)


class Text(NamedTuple):
    """The text of a part."""

    text: str
    is_html: bool
    files: list[str]  # names of files uuencoded within it
    size: int  # bytes, decoded
    capped: bool  # whether there was more


def text_of(data: bytes, part: Part, most: int) -> Text:
    """The text of a part: at most ``most`` bytes of it, decoded."""
    encoding = value_of(part.headers, "content-transfer-encoding").strip().lower()
    body = decode_body(data[part.start : min(part.end, part.start + 3 * most + 3)], encoding, most + 1)
    capped = len(body) > most or part.end - part.start > 3 * most + 3
    body, files = without_uuencoded(body[:most]) if b"\nbegin " in body else (body[:most], [])
    is_html = part.kind == "text/html" or LOOKS_LIKE_HTML.match(body) is not None
    return Text(decode_text(body, part.parameters.get("charset", "")), is_html, files, len(body), capped)


def add_found(found: Text, tokens: Tokens) -> None:
    """Add the tokens of a part's text."""
    for name in found.files:
        add_file_name(name, tokens)
    if found.is_html:
        add_page(read_html(found.text), tokens)
    else:
        add_text(found.text, tokens)


def add_page(page: Page, tokens: Tokens) -> None:
    """Add the tokens of an HTML text: its words, links and tags, and hidden words with a tag of their own."""
    for mark in page.marks:
        tokens["html:" + mark] = None
    for name in page.tags:
        tokens["html:" + (name if name in BREAKS or name in INLINE else "unknown")] = None
    add_text(page.visible, tokens)
    for link in dict.fromkeys(page.links):
        add_link(link, tokens)
    if not page.hidden.isspace() and page.hidden:
        tokens["html:hidden"] = None
        add_words(page.hidden.lower(), "hidden:", tokens)
