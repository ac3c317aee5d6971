"""Headers: folded, broken, encoded; what they give, and what of them is not read."""

from __future__ import annotations

import pytest

from suffit.mail.headers import decode_words, parse_parameters, split_header
from suffit.mail.message import read_message

NOT_READ = (
    "X-Spam-Status X-Spam-Flag X-Spam X-Suffit x-suffit X-Bogosity X-DSPAM-Result X-CRM114-Status "
    "X-Spambayes-Classification X-Rspamd-Score X-MailScanner-SpamCheck X-Evi-Mailscanner-Spamcheck "
    "X-Barracuda-Spam-Score X-Proofpoint-Spam-Details X-IronPort-Anti-Spam-Result X-Microsoft-Antispam "
    "X-MS-Exchange-Organization-SCL X-Virus-Scanned X-Amavis-Alert Authentication-Results "
    "ARC-Authentication-Results Received-SPF X-Mozilla-Status Status X-Keywords X-Forefront-Antispam-Report "
    "X-SA-Exim-Scanned X-Gmail-Labels Delivered-To Content-Length "
)


def tokens_of(header: str) -> set[str]:
    return set(read_message(header.encode() + b"\n\nbody").tokens)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("=?utf-8?q?caf=C3=A9?=", "café"),
        ("=?UTF-8?Q?a_b?= c", "a b c"),
        ("=?utf-8?b?Y2Fmw6k=?=", "café"),
        ("=?utf-8?b?Y2Fmw6k?=", "café"),
        ("=?iso-8859-1*en?q?caf=E9?=", "café"),
        ("=?utf-8?q?caf=C3?= =?utf-8?q?=A9?=", "café"),
        ("=?utf-8?q?a?=  =?iso-8859-1?q?=E9?=", "aé"),
        ("=?iso-2022-jp?b?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?gb2312?b?1tDOxA==?=", "中文"),
        ("=?unknown?q?caf=E9?=", "café"),
        ("=?utf-8?q?caf=E9?=", "café"),
        ("=?utf-8?x?abc?=", "=?utf-8?x?abc?="),
        ("a =?utf-8?q?b", "a =?utf-8?q?b"),
        ("=?utf-8?q?two words?=", "two words"),
    ],
)
def test_encoded_words(value: str, text: str):
    assert decode_words(value) == text


@pytest.mark.parametrize(
    ("value", "kind", "parameters"),
    [
        ("text/plain", "text/plain", {}),
        ("Text/HTML; charset=UTF-8", "text/html", {"charset": "UTF-8"}),
        ('a/b; name="x \\"y\\"; z"; Boundary = b', "a/b", {"name": 'x "y"; z', "boundary": "b"}),
        ("a/b; name*=utf-8'en'caf%C3%A9", "a/b", {"name": "café"}),
        ("a/b; name*0=ab; name*1=cd", "a/b", {"name": "abcd"}),
        ('a/b; name="open', "a/b", {"name": "open"}),
        (";;;=", "", {}),
    ],
)
def test_parameters(value: str, kind: str, parameters: dict[str, str]):
    assert parse_parameters(value) == (kind, parameters)


@pytest.mark.parametrize(
    ("raw", "headers", "body"),
    [
        (b"A: b\n\nbody", [("a", "b")], b"body"),
        (b"A: b\n c\n\td\n\nbody", [("a", "b c\td")], b"body"),
        (b"A : b\nnot a header\nC: d\n\nbody", [("a", "b")], b"not a header\nC: d\n\nbody"),
        (b"A: b", [("a", "b")], b""),
        (b"\nbody", [], b"body"),
        (b"body right away", [], b"body right away"),
        (b"A: caf\xe9\n\nx", [("a", "café")], b"x"),
        (b"A: caf\xc3\xa9\n\nx", [("a", "café")], b"x"),
        (b"", [], b""),
    ],
)
def test_a_header_ends_where_lines_stop_being_headers(raw: bytes, headers: list[tuple[str, str]], body: bytes):
    found, start, _ = split_header(raw, 0, len(raw), 10_000)
    assert (found, raw[start:]) == (headers, body)


@pytest.mark.parametrize("name", NOT_READ.split())
def test_verdicts_of_filters_and_what_delivery_adds_give_no_tokens(name: str):
    clean = "Subject: a\nFrom: b@c.example"
    assert tokens_of(f"{clean}\n{name}: Yes, score=9 spam viagra") == tokens_of(clean)


@pytest.mark.parametrize("mark", ["[SPAM] ", "***SPAM*** ", "{Spam?} ", "*****SPAM***** ", "[SPAM] [SPAM] "])
def test_marks_that_filters_put_before_a_subject_are_not_read(mark: str):
    marked, clean = (read_message(f"Subject: {m}cheap pills\n\nx".encode()) for m in (mark, ""))
    assert (marked.tokens, marked.subject) == (clean.tokens, "cheap pills")


def test_what_people_write_before_a_subject_is_read():
    assert "subject:spam" in tokens_of("Subject: spam recipes")
    assert "subject:ilug" in tokens_of("Subject: [ILUG] hello")


@pytest.mark.parametrize(
    ("header", "tokens"),
    [
        (
            "Subject: FREE Offer!",
            {"subject:free", "subject:offer", "subject:offer!", "subject:free offer", "subject:!"},
        ),
        ("Subject: BUY NOW", {"subject:capitals"}),
        (
            "From: Ann Bell <ann@mail.x.example>",
            {"from:ann", "from:bell", "from:ann@mail.x.example", "from:@x.example"},
        ),
        ("To: a@x.example, b@y.example", {"to:@x.example", "to:@y.example", "to:2 addresses"}),
        ("Reply-To: =?utf-8?q?Caf=C3=A9?= <a@x.example>", {"reply-to:café", "reply-to:@x.example"}),
        ("Return-Path: <bounce-123@lists.x.example>", {"return-path:lists.x.example", "return-path:x.example"}),
        ("Message-ID: <1234@mx.x.example>", {"message-id:mx.x.example"}),
        ("X-Mailer: The Bat! 2.0", {"mailer:the bat", "mailer:bat"}),
        ("Date: Mon, 16 Nov 2026 10:00:00 +0800", {"date:+0800"}),
        ("Date: yesterday", {"date:no zone"}),
        ("X-Priority: 1 (Highest)", {"header:x-priority", "x-priority:highest"}),
        ("List-Unsubscribe: <http://x.example/123>", {"header:list-unsubscribe"}),
        (
            "Received: from mx.a.example (mx.b.example [192.0.2.7])\n\tby c.example for <me@d.example>; now",
            {"received:a.example", "received:mx.b.example", "received:192.0.2", "received:for me@d.example"},
        ),
        ("Content-Type: text/plain; charset=KOI8-R", {"part:text/plain", "charset:koi8-r"}),
        ("Content-Transfer-Encoding: 8bit", {"encoding:8bit", "no:subject", "no:date"}),
        (
            "Content-Type: application/zip; name=invoice.pdf.exe\nContent-Disposition: attachment",
            {"part:application/zip", "disposition:attachment", "file:.pdf.exe", "file:invoice"},
        ),
    ],
)
def test_headers_give_tokens_with_their_names(header: str, tokens: set[str]):
    assert tokens <= tokens_of(header)


def test_dates_and_identifiers_leave_nothing_that_is_different_in_every_message():
    a = "Date: Mon, 16 Nov 2026 10:00:00 +0000\nMessage-ID: <a1b2@x.example>\nReferences: <1@y>\nThread-Index: AcK1"
    b = "Date: Tue, 17 Nov 2026 11:11:11 +0000\nMessage-ID: <c3d4@x.example>\nReferences: <2@z>\nThread-Index: AcK2"
    assert tokens_of(a) == tokens_of(b)
