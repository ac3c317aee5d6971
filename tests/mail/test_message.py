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
