"""M1: real e-mail (RFC 5322, MIME, HTML, attachments, broken charsets) → tokens → bag of words; its vocabulary."""

from __future__ import annotations

import email.message
import email.policy

import numpy as np

import suffit
from suffit.mail.message import read_message

BROKEN = (  # a declared charset that does not exist, one that is not the text's, a body that is not what it says
    b"From: =?x-none?q?Caf=E9?= <a@x.example>\nSubject: =?utf-8?b?4pyTIGNoZWFw?=\nContent-Type: multipart/mixed;\n"
    b" boundary=b\n\n--b\nContent-Type: text/plain; charset=us-ascii\n\ncaf\xe9 pills\n--b\nContent-Type: text/html;"
    b" charset=utf-8\nContent-Transfer-Encoding: base64\n\nPHA+Y2Fm6SBub3chPC9wPg\n--b\nContent-Type: text/plain\n"
    b"Content-Transfer-Encoding: quoted-printable\n\nend=ZZ of=20it=\n--b--\n"
)


def message(subject: str, text: str, page: str | None = None, file: str | None = None) -> bytes:
    made = email.message.EmailMessage(policy=email.policy.SMTP)
    made["Subject"], made["From"], made["To"] = subject, "Ann Bell <ann@mail.example.org>", "you@example.net"
    made.set_content(text)
    if page is not None:
        made.add_alternative(page, subtype="html")
    if file is not None:
        made.add_attachment(b"\x00\x01", maintype="application", subtype="octet-stream", filename=file)
    return bytes(made)


def bags(messages: list[bytes], vocabulary: list[str]) -> np.ndarray:
    found = [set(read_message(raw).tokens) for raw in messages]
    return np.array([[token in tokens for token in vocabulary] for tokens in found], dtype=float)


def test_m1_mime_html_and_attachments_become_tokens():
    page = (
        "<html><p>Billige <b>Pil</b>len <a href='http://shop.example/kaufen'>hier</a><p style='display:none'>Wetter</p>"
    )
    tokens = set(read_message(message("Größe 10", "Cheap pills", page, "rechnung.pdf.exe")).tokens)
    assert tokens >= {"subject:größe", "from:@example.org", "to:you@example.net"}
    assert tokens >= {"cheap", "pills", "billige", "pillen", "url:shop.example", "url:/kaufen", "hidden:wetter"}
    assert tokens >= {"part:application/octet-stream", "file:.pdf.exe", "file:rechnung", "part:text/html"}
    assert "wetter" not in tokens


def test_m1_broken_charsets_and_encodings_still_give_their_words():
    tokens = set(read_message(BROKEN).tokens)
    assert tokens >= {"from:café", "subject:cheap", "café", "pills", "now", "now!", "end", "charset:us-ascii"}


def test_m1_a_bag_of_words_over_the_vocabulary_of_the_training_mail():
    spam = [message(f"Cheap pills {i}", "Buy cheap pills now", "<p>Buy <b>pills</b>") for i in range(5)]
    ham = [message(f"Meeting {i}", "The meeting about the budget is on Monday") for i in range(5)]
    vocabulary = sorted({token for raw in spam + ham for token in read_message(raw).tokens})
    X, y = bags(spam + ham, vocabulary), ["spam"] * 5 + ["ham"] * 5
    new = [message("Pills!", "Buy them, unseen word"), message("Budget", "See you at the meeting")]
    assert "unseen" not in vocabulary
    assert suffit.BernoulliNB().fit(X, y).predict(bags(new, vocabulary)).tolist() == ["spam", "ham"]
