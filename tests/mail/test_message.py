"""Messages read: what stands in them comes out as tokens, whatever way it was written."""

from __future__ import annotations

import email.message
import email.policy

import pytest

from suffit.mail.message import read_message

WORDS = "Dear friends, the café opens on Monday; naïve people may come."
TOKENS = {"dear", "friends", "the", "café", "opens", "monday", "naïve", "people", "may", "come"}


def written(encoding: str, charset: str, subtype: str = "plain") -> bytes:
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["Subject"] = "Größe 10 — offer"
    message["From"] = "Ann Bell <ann@news.example.org>"
    message["To"] = "you@example.net"
    message.set_content(WORDS, subtype=subtype, charset=charset, cte=encoding)
    return bytes(message)


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "8bit"])
@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "windows-1252"])
@pytest.mark.parametrize("subtype", ["plain", "html"])
def test_the_way_a_text_is_encoded_does_not_change_its_words(encoding: str, charset: str, subtype: str):
    found = set(read_message(written(encoding, charset, subtype)).tokens)
    assert found >= TOKENS | {"subject:größe", "subject:offer", "from:ann", "from:@example.org", f"charset:{charset}"}


def test_the_digest_does_not_depend_on_what_delivery_adds():
    message = written("8bit", "utf-8")
    added = b"From ann Mon Nov 16 2026\nReceived: from a by b; now\r\nX-Suffit: ham\r\nStatus: RO\r\n" + message
    assert read_message(added).digest == read_message(message.replace(b"\r\n", b"\n")).digest
    assert read_message(added + b"more").digest != read_message(added).digest


def test_the_digest_does_not_depend_on_marks_of_filters_nor_on_the_quoting_of_mbox_files():
    raw = b"Subject: Hello\nMessage-ID: <1@a>\n\nFrom here\n\nFrom there\n"
    marked = raw.replace(b"Subject: ", b"Subject: [SPAM] ")
    quoted = raw.replace(b"\nFrom ", b"\n>From ")
    folded = raw.replace(b"Subject: ", b"Subject:\n   ")
    assert len({read_message(same).digest for same in (raw, marked, quoted, folded, raw + b"\n\n")}) == 1
    assert read_message(raw.replace(b"Hello", b"Goodbye")).digest != read_message(raw).digest
    assert read_message(raw.replace(b"<1@a>", b"<2@a>")).digest != read_message(raw).digest


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b"\0", b":", b"a", b"From ", b">From \n", b"\r\n\r\n", b"Subject:", b"\xff" * 9]
)
def test_the_least_messages_are_messages_too(raw: bytes):
    message = read_message(raw)
    assert "no:from" in message.tokens
    assert (message.subject, message.sender) == ("", "")


def test_tokens_do_not_depend_on_line_ends():
    raw = written("8bit", "utf-8")
    lf, cr = raw.replace(b"\r\n", b"\n"), raw.replace(b"\r\n", b"\r")
    assert read_message(raw) == read_message(lf) == read_message(cr)
