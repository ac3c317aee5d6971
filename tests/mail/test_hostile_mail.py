"""Hostile mail: no bytes make the reader fail, time is linear in their number, our header is all that is added."""

from __future__ import annotations

import sys
import time
import tracemalloc

import pytest

from hostile_mail import ATTACKS, MIXED, WEIRD, WHY_ABSENT, mutations, nested
from suffit.mail.message import Limits, Message, read_message
from suffit.mail.verdict_header import with_header, without_our_header

VALUE = "unsure; p=0.500"


def assert_read(raw: bytes) -> Message:
    message = read_message(raw)
    assert len(set(message.tokens)) == len(message.tokens)
    assert all(token and not token.isspace() and "\n" not in token for token in message.tokens)
    assert all(len(token) <= 300 for token in message.tokens)
    "".join(message.tokens).encode("utf-8")  # no lone surrogates
    assert len(message.digest) == 32
    out, clean = with_header(raw, VALUE), without_our_header(raw)
    at = out.index(b"X-Suffit: " + VALUE.encode())
    added = len(out) - len(clean)
    assert added <= len(VALUE) + 12
    assert out[:at] + out[at + added :] == clean or out[: len(clean)] == clean
    return message


@pytest.mark.skipif(not WEIRD.is_dir(), reason=WHY_ABSENT)
def test_every_awkward_message_is_read():
    files = [path for path in WEIRD.rglob("*") if path.is_file()]
    assert len(files) > 100
    for path in files:
        message = assert_read(path.read_bytes())
        assert len(message.tokens) >= 5, path.name


def test_mutations_of_awkward_messages_are_read():
    for raw in mutations(3_000, seed=1):
        assert_read(raw)


def seconds(raw: bytes) -> float:
    begun = time.process_time()
    read_message(raw)
    with_header(raw, VALUE)
    return time.process_time() - begun


@pytest.mark.parametrize("name", ATTACKS)
def test_time_is_linear_in_the_size_of_an_attack(name: str):
    """Processor time per byte is compared with a bound that is ten times what the slowest attack takes."""
    small, large = ATTACKS[name](15_000), ATTACKS[name](60_000)
    assert_read(small)
    assert seconds(large) / len(large) <= 4 * seconds(small) / len(small) + 2e-6


def python_lines(raw: bytes, limits: Limits) -> int:
    """How many lines of Python run to read a message and to put the header in."""
    n = 0

    def count(*_: object) -> object:
        nonlocal n
        n += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        read_message(raw, limits)
        with_header(raw, VALUE)
    finally:
        sys.settrace(before)
    return n


@pytest.mark.parametrize("name", ATTACKS)
def test_beyond_the_limits_no_loop_of_python_runs_longer(name: str):
    limits = Limits(header=2_000, parts=20, lines=100, text=4_000, tokens=500)
    small, large = (python_lines(ATTACKS[name](n), limits) for n in (40_000, 80_000))
    assert large <= 1.05 * small + 50


@pytest.mark.parametrize(
    "raw",
    [
        b"Subject: " + b"=?utf-8?q?caf=C3=A9?= " * 27_000 + b"\n\nx",
        b"Content-Type: text/html\n\n" + b'<a b="' * 20_000,
        nested(540_000),
        b"".join(b"X-%d: b\n" % i for i in range(100_000)) + b"\nx",
        b"Subject: " + b"a " * 5_000_000 + b"\n\nx",
        b"Subject: a\n\n" + b"hello world " * 800_000,
        MIXED + b"\n--b\nContent-Type: image/png\n\n" + b"x" * 10_000_000 + b"\n--b--\n",
        b"\0" * 10_000_000,
    ],
    ids=["encoded words", "open attributes", "nesting", "headers", "one header", "a long text", "a large file", "NULs"],
)
def test_messages_that_stop_other_readers_take_seconds_at_most(raw: bytes):
    assert seconds(raw) < 5


def test_what_is_beyond_the_limits_is_noted():
    limits = Limits(header=1_000, parts=5, text=2_000, tokens=50)
    long_header = b"Subject: " + b"a " * 1_000 + b"\n\nx"
    many_parts = MIXED + b"--b\n\nx\n" * 10
    long_text = b"Subject: a\n\n" + b"word " * 1_000
    many_tokens = b"Subject: a\n\n" + b" ".join(b"w%d" % i for i in range(200))
    for raw, note in [
        (long_header, "the header is longer than 1000 bytes"),
        (many_parts, "5 parts or more; what comes after them was not read"),
        (long_text, "more than 2000 bytes of text; the rest was not read"),
        (many_tokens, "50 were kept"),
    ]:
        assert any(note in found for found in read_message(raw, limits).notes)
    assert read_message(b"Subject: a\n\nx", limits).notes == ()


def test_a_multipart_without_its_boundary_is_read_as_text_and_noted():
    for raw in (
        b"Content-Type: multipart/mixed\n\nhello there",
        b"Content-Type: multipart/mixed; boundary=zzz\n\nhello there",
        MIXED + b"\n--b\nContent-Type: multipart/mixed; boundary=c\n\nhello there\n--b--\n",
    ):
        message = read_message(raw)
        assert {"hello", "there"} <= set(message.tokens)
        assert len(message.notes) == 1
        assert "boundary" in message.notes[0]


def test_what_is_remembered_from_message_to_message_stays_small():
    """Names that a sender chooses are cut before they are remembered."""
    for i in range(50):
        long = b"%d" % i + b"x" * 100_000
        read_message(b"X-" + long + b": a\nContent-Type: text/plain; charset=" + long + b"\n\n\xe9")
    tracemalloc.start()
    for i in range(50, 150):
        long = b"%d" % i + b"x" * 100_000
        read_message(b"X-" + long + b": a\nContent-Type: text/plain; charset=" + long + b"\n\n\xe9")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000
