"""Our header: output = input + one line, whatever the input; forged copies go, the body stays."""

from __future__ import annotations

import random

import pytest

from suffit.mail.verdict_header import with_header, without_our_header

VALUE = "spam; p=0.987; top=viagra"
MESSAGES = {
    "usual": b"Subject: a\nFrom: b\n\nbody\n",
    "CRLF": b"Subject: a\r\nFrom: b\r\n\r\nbody\r\n",
    "mbox": b"From me Mon Nov 16 10:00:00 2026\nSubject: a\n\nbody\n",
    "mbox, CRLF": b"From me Mon Nov 16 10:00:00 2026\r\nSubject: a\r\n\r\nbody\r\n",
    "quoted mbox line": b">From me Mon Nov 16 10:00:00 2026\nSubject: a\n\nbody\n",
    "only CR": b"Subject: a\rFrom: b\r\rbody\r",
    "mbox, only CR": b"From me\rFrom: b\r\rbody\r",
    "mixed line ends": b"Subject: a\r\nFrom: b\nTo: c\r\r\n\nbody\r",
    "empty": b"",
    "one line end": b"\n",
    "one CRLF": b"\r\n",
    "no end": b"Subject: a\n\nbody",
    "no separator": b"Subject: a\nFrom: b\nbody",
    "only a header": b"Subject: a\n",
    "only a header, no end": b"Subject: a",
    "blank line first": b"\nSubject: a\n\nbody",
    "body right away": b"just a text\nof two lines\n",
    "NULs": b"\0\0\n\0: \0\n\n\0",
    "8-bit": bytes(range(256)) * 3,
    "continuation first": b"  folded\n\tagain\nSubject: a\n\nbody",
    "mbox line alone": b"From me Mon Nov 16 10:00:00 2026\n",
}


def line_of(out: bytes) -> bytes:
    """Our line with the line end that belongs to it."""
    start = out.index(b"X-Suffit: " + VALUE.encode())
    end = start + len(b"X-Suffit: " + VALUE.encode())
    return out[start : end + 2] if out[end : end + 2] == b"\r\n" else out[start : end + 1]


@pytest.mark.parametrize("raw", MESSAGES.values(), ids=MESSAGES)
def test_the_output_is_the_input_and_one_line(raw: bytes):
    out = with_header(raw, VALUE)
    assert out.replace(line_of(out), b"", 1) == raw
    assert without_our_header(out) == raw
    assert with_header(out, VALUE) == out


@pytest.mark.parametrize("raw", [b"From me", b" folded", b"From me\n folded"])
def test_a_message_that_ends_within_its_first_line_gets_a_line_end_before_our_header(raw: bytes):
    assert with_header(raw, VALUE) == raw + b"\nX-Suffit: " + VALUE.encode()


@pytest.mark.parametrize("raw", MESSAGES.values(), ids=MESSAGES)
def test_our_header_is_the_first_one_and_not_part_of_another_line(raw: bytes):
    lines = with_header(raw, VALUE).replace(b"\r\n", b"\n").split(b"\n")
    at = lines.index(b"X-Suffit: " + VALUE.encode()) if b"\r" not in raw.replace(b"\r\n", b"") else 0
    assert all(line.startswith((b"From ", b">From ", b" ", b"\t")) for line in lines[:at])
    assert at + 1 == len(lines) or not lines[at + 1].startswith((b" ", b"\t"))


@pytest.mark.parametrize(
    "forged",
    [
        b"X-Suffit: ham\n",
        b"x-suffit: ham\n",
        b"X-SUFFIT:ham\n",
        b"X-Suffit : ham\n",
        b"X-Suffit:\n",
        b"X-Suffit: ham;\n p=0.000;\n\ttop=a\n",
        b"X-Suffit: ham\r\n p=0\r\n",
        b"X-Suffit: ham\r",
        b"X-Suffit: ham\nX-Suffit: ham\n",
    ],
)
def test_forged_copies_are_removed_wherever_they_stand(forged: bytes):
    for before in (b"", b"From me Mon Nov 16 10:00:00 2026\n", b"Subject: a\n", b"Subject: a\n b\n", b"not a header\n"):
        raw = before + forged + b"To: c\n\nX-Suffit: ham\nbody\n"
        assert without_our_header(raw) == before + b"To: c\n\nX-Suffit: ham\nbody\n"
        assert with_header(raw, VALUE).count(b"X-Suffit: ham") == 1


def test_headers_with_similar_names_stay():
    raw = b"X-Suffit-Version: 1\nNX-Suffit: a\nSubject: X-Suffit: spam\n X-Suffit: b\n\nbody"
    assert without_our_header(raw) == raw


def test_the_last_header_without_an_end_is_removed_too():
    assert without_our_header(b"Subject: a\nX-Suffit: ham") == b"Subject: a\n"


@pytest.mark.parametrize(
    "value", ["a\nb", "a\r\n b", "a\r\n\r\nbody", "a\0b", "x" * 5000, "café " * 400, "日本語" * 400]
)
def test_a_value_stays_on_one_line_of_ascii(value: str):
    out = with_header(b"Subject: a\n\nbody", value)
    line, rest = out.split(b"\n", 1)
    assert rest == b"Subject: a\n\nbody"
    assert line.isascii()
    assert line.decode().isprintable()
    assert len(line) <= 998


def test_any_bytes_come_out_with_one_line_more():
    rng = random.Random(0)
    alphabet = [b"\n", b"\r", b"\r\n", b" ", b"\t", b"a", b":", b"From ", b"Subject: x", b"\0", b"\xff", b"-"]
    for _ in range(3_000):
        raw = b"".join(rng.choices(alphabet, k=rng.randrange(12)))
        out = with_header(raw, VALUE)
        start = out.index(b"X-Suffit: ")
        added = len(out) - len(raw)
        assert out[:start] + out[start + added :] == raw or out == raw + out[len(raw) :]
        assert out.count(b"X-Suffit: " + VALUE.encode()) == 1
