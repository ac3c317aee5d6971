"""Clean mail is read as the standard library's email package reads it."""

from __future__ import annotations

import email
import email.message
import email.policy
import tarfile
from random import Random

import pytest

from hostile_mail import DATA
from suffit.mail.headers import decode_words, split_header, value_of
from suffit.mail.message import text_of
from suffit.mail.mime import Walk

SENTENCE = (
    "meeting on Monday about the budget = 100% of it, see you -- there. cheap café Größe naïve señor Привет мир "
    "русский 日本語 こんにちは 中文 한국어 שלום مرحبا ไทย ελληνικά 😀 — “quoted”"
)
WORDS = SENTENCE.split()
CHARSETS = ["utf-8", "iso-8859-1", "windows-1251", "koi8-r", "gb18030", "iso-2022-jp", "euc-kr", "big5", "shift_jis"]
CORPUS = DATA / "spamassassin.tar.gz"


def our_reading(raw: bytes) -> tuple[str, list[str]]:
    data = b"\n" + raw.replace(b"\r\n", b"\n")
    start = data.find(b"\n", 1) + 1 if data.startswith(b"From ", 1) else 1
    headers, body, _ = split_header(data, start, len(data), 10**6)
    leaves = Walk(data, 1_000, 10**6, 10**6).parts(headers, body).leaves
    texts = [text_of(data, part, 10**7).text for part in leaves if part.kind.startswith("text/")]
    return decode_words(value_of(headers, "subject")), texts


def their_reading(raw: bytes) -> tuple[str, list[str]]:
    message = email.message_from_bytes(raw, policy=email.policy.default)
    texts = [part for part in message.walk() if part.get_content_maintype() == "text"]
    decoded = [(part.get_payload(decode=True), part.get_content_charset() or "us-ascii") for part in texts]
    return str(message["subject"] or ""), [body.decode(charset) for body, charset in decoded if isinstance(body, bytes)]


def without_line_ends(text: str) -> str:
    return " ".join(text.split())


def clean_message(rng: Random) -> email.message.EmailMessage:
    """A message with texts in several scripts, alternatives, files and messages within it."""
    message = email.message.EmailMessage(policy=rng.choice([email.policy.default, email.policy.SMTP]))
    message["Subject"] = " ".join(rng.choices(WORDS, k=rng.randint(0, 25)))
    message["From"] = "Ann <ann@example.org>"
    set_text(message, rng, "plain")
    if rng.random() < 0.5:
        message.add_alternative("<p>" + " ".join(rng.choices(WORDS, k=30)) + "</p>", subtype="html")
    if rng.random() < 0.3:
        message.add_attachment(rng.randbytes(500), maintype="image", subtype="png", filename="größe.png")
    if rng.random() < 0.2:
        message.add_attachment(clean_message(rng))
    return message


def set_text(message: email.message.EmailMessage, rng: Random, subtype: str) -> None:
    charset = rng.choice(CHARSETS)
    text = "\n".join(" ".join(rng.choices(WORDS, k=8)) for _ in range(rng.randint(1, 9))) + "\n"
    text = text.encode(charset, "ignore").decode(charset)
    message.set_content(text, subtype=subtype, charset=charset, cte=rng.choice(["base64", "quoted-printable", "8bit"]))


def test_clean_messages_are_read_as_the_standard_library_reads_them():
    rng = Random(0)
    for _ in range(60):
        raw = clean_message(rng).as_bytes()
        (subject, texts), (their_subject, their_texts) = our_reading(raw), their_reading(raw)
        assert without_line_ends(subject) == without_line_ends(their_subject)
        assert [without_line_ends(text) for text in texts] == [without_line_ends(text) for text in their_texts]


@pytest.mark.skipif(not CORPUS.exists(), reason=f"no file {CORPUS}; set SUFFIT_DATA to a folder that holds it")
def test_real_mail_is_read_as_the_standard_library_reads_it_where_that_can():
    """Of the messages that it reads without an error; the rest are bytes beyond what was declared."""
    same_subject, same_texts, n = 0, 0, 0
    with tarfile.open(CORPUS) as archive:
        for i, member in enumerate(archive):
            if i % 23 or (file := archive.extractfile(member)) is None:
                continue
            raw = file.read()
            try:
                their_subject, their_texts = their_reading(raw)
            except (LookupError, ValueError):
                continue
            subject, texts = our_reading(raw)
            n += 1
            same_subject += without_line_ends(subject) == without_line_ends(their_subject)
            same_texts += [without_line_ends(t) for t in texts] == [without_line_ends(t) for t in their_texts]
    assert n > 200
    assert same_subject / n > 0.98
    assert same_texts / n > 0.97
