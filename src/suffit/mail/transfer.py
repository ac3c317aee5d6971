"""Transfer encodings: the bytes that the body of a part stands for, however broken they are."""

from __future__ import annotations

import binascii
import re

BEGIN_UU = re.compile(rb"\nbegin [0-7]{3,4} ([^\n]{1,200})\n")
UU_NAMES = frozenset({"x-uuencode", "uuencode", "uue", "x-uue"})
NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")


def decode_body(data: bytes, encoding: str, most: int) -> bytes:
    r"""The bytes of a body in a transfer encoding; at most ``most`` of them, or a little more.

    >>> decode_body(b"aGVsbG8gd29ybGQ", "base64", 100), decode_body(b"caf=E9 =zz=", "quoted-printable", 100)
    (b'hello world', b'caf\xe9 =zz')
    """
    if encoding == "base64":
        return decode_base64(data[: most * 3 // 2])
    if encoding == "quoted-printable":
        return binascii.a2b_qp(data[: most * 3])[:most]
    if encoding in UU_NAMES:
        return decode_uu(data[: most * 3 // 2])
    return data[:most]


def decode_base64(data: bytes) -> bytes:
    """Base64, whatever stands between its letters and however it ends."""
    try:
        return binascii.a2b_base64(data + b"==")
    except ValueError:  # one letter too many
        letters = NOT_BASE64.sub(b"", data)
        return binascii.a2b_base64(letters[: len(letters) // 4 * 4])


def decode_uu(data: bytes) -> bytes:
    """Uuencoded lines; those that are not are skipped."""
    pieces = []
    for line in data.split(b"\n"):
        if not line or line.startswith((b"begin ", b"end")):
            continue
        try:
            pieces.append(binascii.a2b_uu(line))
        except ValueError:
            continue
    return b"".join(pieces)


def without_uuencoded(data: bytes) -> tuple[bytes, list[str]]:
    r"""A text without the uuencoded files within it, and their names.

    >>> without_uuencoded(b"see\nbegin 644 a.exe\n#86)C\n`\nend\nbye")
    (b'see\nbye', ['a.exe'])
    """
    kept, names, at = [], [], 0
    while (found := BEGIN_UU.search(data, at)) and (end := data.find(b"\nend", found.end() - 1)) >= 0:
        kept.append(data[at : found.start()])
        names.append(found[1].decode("latin-1"))
        at = end + 4
    kept.append(data[at:])
    return b"".join(kept), names
