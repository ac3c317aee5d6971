"""Our header in a message: forged copies out, one line in, every other byte as it was."""

from __future__ import annotations

import re
from base64 import b64encode

NAME = b"X-Suffit"
LONGEST_VALUE = 900  # bytes; a line of a message may have 998
FORGED = re.compile(
    rb"(?:(?<=[\r\n])|\A)" + NAME + rb"[ \t]*+:[^\r\n]*+(?:(?:\r\n|\r|\n)[ \t][^\r\n]*+)*+(?:\r\n|\r|\n|\Z)", re.I
)
BLANK_LINE, BLANK_FIRST = re.compile(rb"\n\r*+\n"), re.compile(rb"\r*+\n")
# What stays before our header, where lines end in LF and where all of them end in CR: the line that begins a message in
# an mbox file, and lines that would be read as a continuation of our header.
BEFORE = {
    10: re.compile(rb"(?:>?From [^\n]*+(?:\n|\Z))?+(?:[ \t][^\n]*+(?:\n|\Z))*+"),
    13: re.compile(rb"(?:>?From [^\r]*+(?:\r|\Z))?+(?:[ \t][^\r]*+(?:\r|\Z))*+"),
}
NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f]+")


def without_our_header(raw: bytes) -> bytes:
    r"""Take out every header of our name: in any case, folded or not, ended by any kind of line end.

    The header of a message ends at its first blank line, as the programs that sort mail see it. What is beyond is not
    touched.

    Parameters
    ----------
    raw : bytes
        A message.

    Returns
    -------
    bytes
        The message without them.

    Examples
    --------
    >>> without_our_header(b"Subject: a\nx-SUFFIT: ham;\n p=0\nTo: b\n\nX-Suffit: spam\n")
    b'Subject: a\nTo: b\n\nX-Suffit: spam\n'
    """
    if BLANK_FIRST.match(raw):
        return raw
    if (blank := BLANK_LINE.search(raw)) is not None:
        end = blank.start() + 1
    elif b"\n" in raw or (end := raw.find(b"\r\r") + 1) == 0:
        end = len(raw)
    header = raw[:end]
    return FORGED.sub(b"", header) + raw[end:] if NAME.lower() in header.lower() else raw


def with_header(raw: bytes, value: str) -> bytes:
    r"""Put our header into a message, as the first one, instead of those that it has.

    It ends as the message's first line does, and comes after the line that begins a message in an mbox file and after
    lines that would be read as its continuation.

    Parameters
    ----------
    raw : bytes
        A message, or any other bytes.
    value : str
        The value of the header.

    Returns
    -------
    bytes
        The message with one more line.

    Examples
    --------
    >>> with_header(b"From me\r\nSubject: a\r\n\r\nbody", "ham; p=0.010")
    b'From me\r\nX-Suffit: ham; p=0.010\r\nSubject: a\r\n\r\nbody'
    """
    raw = without_our_header(raw)
    first = raw.find(b"\n")
    line_end = b"\r\n" if first > 0 and raw[first - 1] == 13 else b"\n"
    end = 13 if first < 0 and b"\r" in raw else 10
    before = BEFORE[end].match(raw)
    at = before.end() if before else 0
    line = NAME + b": " + value_bytes(value)
    if at and raw[at - 1] != end:  # the message ends in the middle of the line that ours comes after
        return raw + line_end + line
    return raw[:at] + line + line_end + raw[at:]


def value_bytes(value: str) -> bytes:
    """A value as ASCII on one line; words with other characters as encoded words (RFC 2047)."""
    words = [
        word.encode() if word.isascii() else b"=?utf-8?b?" + b64encode(word[:40].encode("utf-8", "replace")) + b"?="
        for word in NOT_PRINTABLE.sub(" ", value[:LONGEST_VALUE]).split()
    ]
    return b" ".join(words)[:LONGEST_VALUE]
