"""The parts of a message: nested, broken, embedded."""

from __future__ import annotations

import pytest

from suffit.mail.headers import split_header
from suffit.mail.mime import Parts, Walk
from suffit.mail.transfer import decode_body

MIXED = "Content-Type: multipart/mixed; boundary=b\n\n"
INNER = "Content-Type: multipart/alternative; boundary=c\n\n"


def walked(text: str, most: int = 100) -> tuple[Parts, list[str]]:
    data = b"\n" + text.encode()
    headers, body, _ = split_header(data, 1, len(data), 10_000)
    found = Walk(data, most, 10_000, 1_000).parts(headers, body)
    return found, [data[part.start : part.end].decode() for part in found.leaves]


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        ("A: b\n\nbody\n", ["body\n"]),
        (MIXED + "--b\n\none\n--b\n\ntwo\n--b--\n", ["one", "two"]),
        (MIXED + "preamble\n--b\n\none\n--b--\nepilogue\n--b\n\nno part\n", ["one"]),
        (MIXED + "--b\n\nnever closed", ["never closed"]),
        (MIXED + "--b \t\n\none\n--b-- \n", ["one"]),
        (MIXED + "--bc\n--b-\n--b\n\none\n--bb--\n--b--\n", ["one\n--bb--"]),
        (
            MIXED + "--b\n" + INNER + "--c\n\none\n--c\n\ntwo\n--c--\nbetween\n--b\n\nthree\n--b--",
            ["one", "two", "three"],
        ),
        (
            MIXED + "--b\n" + INNER + "--c\n\none\n--b\n\nthe outer boundary ends both\n--b--",
            ["one", "the outer boundary ends both"],
        ),
        (MIXED + "--b\n" + MIXED + "--b\n\none\n--b--\n--b\n\ntwo\n--b--", ["one", "two"]),
        (MIXED + "--b\n--b\n\none\n--b--", ["", "one"]),
        (MIXED + "--b\nA: b\n--b\n\none\n--b--", ["", "one"]),
        (MIXED + "--b--\n", []),
        ('Content-Type: multipart/mixed; boundary="b"\n\n--b\n\none\n--b--', ["one"]),
        ("content-type: MULTIPART/MIXED;\n\tBOUNDARY=b\n\n--b\n\none\n--b--", ["one"]),
    ],
)
def test_parts_are_what_stands_between_boundaries(text: str, bodies: list[str]):
    assert walked(text)[1] == bodies


def test_messages_within_a_message_are_gone_into():
    inside = "Content-Type: message/rfc822\n\nSubject: inner\n" + INNER + "--c\n\none\n--c--\n"
    found, bodies = walked(MIXED + "--b\n" + inside + "--b\n\ntwo\n--b--")
    assert bodies == ["one", "two"]
    assert found.embedded == [[("subject", "inner"), ("content-type", "multipart/alternative; boundary=c")]]
    assert found.containers == ["multipart/mixed", "multipart/alternative"]


def test_parts_of_a_digest_are_messages():
    found, bodies = walked("Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: x\n\none\n--b--")
    assert bodies == ["one"]
    assert found.embedded == [[("subject", "x")]]


def test_no_more_parts_than_the_limit():
    found, bodies = walked(MIXED + "--b\n\nx\n" * 50, most=10)
    assert len(bodies) == 9
    found, _ = walked("Content-Type: message/rfc822\n\n" * 50, most=10)
    assert len(found.embedded) == 9
    assert found.notes


@pytest.mark.parametrize(
    ("data", "encoding", "decoded"),
    [
        (b"aGVsbG8=", "base64", b"hello"),
        (b"aGVs\nbG8", "base64", b"hello"),
        (b"aGVs!!bG8==", "base64", b"hello"),
        (b"aGVsbG8gd", "base64", b"hello "),
        (b"", "base64", b""),
        (b"a=20b=\nc", "quoted-printable", b"a bc"),
        (b"a=ZZ=", "quoted-printable", b"a=ZZ"),
        (b"#86)C\n`\nend\n", "x-uuencode", b"abc"),
        (b"as it is", "8bit", b"as it is"),
        (b"as it is", "no such encoding", b"as it is"),
    ],
)
def test_transfer_encodings(data: bytes, encoding: str, decoded: bytes):
    assert decode_body(data, encoding, 1_000) == decoded
