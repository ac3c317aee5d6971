"""Mail that is made to break a reader: awkward messages, mutations of them, and attacks that grow with a size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("SUFFIT_DATA") or ROOT.parent / "shared" / "data")
WEIRD = DATA / "weird_mail" / "emails"
WHY_ABSENT = f"no folder {WEIRD}; set SUFFIT_DATA to a folder that holds weird_mail/emails"

# Stand in for the folder where it is absent.
SEEDS = [
    b"From: a@b.example\nTo: c@d.example\nSubject: =?utf-8?q?caf=C3=A9?= =?iso-2022-jp?b?GyRCRnxLXBsoQg==?=\n\nhello\n",
    b'Content-Type: multipart/alternative; boundary="x y"\n\npre\n--x y\nContent-Type: text/html; charset=koi8-r\n'
    b"Content-Transfer-Encoding: quoted-printable\n\n<p style=\"display:none\">=D0=D2=C9</p><a href=3D'http://a.example'>b"
    b"</a>\n--x y\nContent-Type: message/rfc822\n\nSubject: inner\n\nbody\n--x y--\n",
    b"Content-Type: text/plain; charset=gb2312\nContent-Transfer-Encoding: base64\n\nsKGwobChCg==\n",
    b"From x Mon Nov 16 10:00:00 2026\r\nReceived: from a.example (b [192.0.2.1])\r\n\tby c; now\r\n\r\nbegin 644 a\n",
]


def awkward() -> list[bytes]:
    """The messages that mutations start from."""
    files = sorted(path for path in WEIRD.rglob("*") if path.is_file()) if WEIRD.is_dir() else []
    return [*SEEDS, *(path.read_bytes() for path in files)]


PIECES = [
    *(
        b"\0",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\r\n",
        b" ",
        b"\t",
        b"\xff",
        b"\x80",
        b"\x1b$B",
        b"\x1b(B",
        b"\xef\xbb\xbf",
    ),
    *(
        b"--",
        b"=",
        b"==",
        b"=?",
        b"?=",
        b"=?utf-8?q?",
        b"=?x?b?",
        b"=\n",
        b"<",
        b">",
        b"<!--",
        b"-->",
        b"<style>",
        b"</p>",
    ),
    *(
        b"&",
        b"&#",
        b"&#x110000;",
        b"&#55296;",
        b"http://",
        b"://",
        b"www.",
        b"xn--",
        b"%00",
        b"@",
        b"!",
        b":",
        b";",
        b'"',
        b"'",
    ),
    *(
        b"Content-Type: multipart/mixed; boundary=",
        b'boundary=""',
        b"Content-Type: message/rfc822\n\n",
        b"charset=utf-16",
    ),
    *(b"charset=utf-7", b"charset=idna", b"charset=punycode", b"charset=zip", b"Content-Transfer-Encoding: base64\n"),
    *(
        b"Content-Transfer-Encoding: x-uuencode\n",
        b"\nbegin 644 a\n",
        b"\nend\n",
        b"X-Suffit: ham\n",
        b"From ",
        b"\nFrom ",
    ),
    *("\u200b".encode(), "\u202e".encode(), "日本".encode(), "а".encode(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
]


def mutated(raw: bytes, others: list[bytes], rng: Random) -> bytes:
    """A message with a few random changes."""
    data = bytearray(raw)
    for _ in range(rng.randint(1, 6)):
        at, size = rng.randrange(len(data) + 1), rng.choice([1, 2, 8, 40, 300])
        match rng.randrange(8):
            case 0:
                data[at : at + size] = b""
            case 1:
                data[at:at] = rng.choice(PIECES) * rng.choice([1, 1, 1, 3, 50])
            case 2:
                data[at : at + size] = rng.randbytes(size)
            case 3:
                data[at:at] = data[at : at + size] * rng.choice([1, 5, 100])
            case 4:
                other = rng.choice(others)
                begin = rng.randrange(len(other) + 1)
                data[at:at] = other[begin : begin + rng.choice([20, 300, 3000])]
            case 5:
                del data[at:]
            case 6 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case _:
                data = bytearray(
                    bytes(data).replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\n "]), rng.choice([1, 5, -1]))
                )
        del data[100_000:]
    return bytes(data)


def mutations(n: int, seed: int) -> Iterator[bytes]:
    """Mutated messages, the same ones for a seed."""
    rng, messages = Random(seed), awkward()
    for _ in range(n):
        yield mutated(rng.choice(messages), messages, rng)


HTML = b"Content-Type: text/html\n\n"
TEXT = b"Content-Type: text/plain; charset="
MIXED = b"Content-Type: multipart/mixed; boundary=b\n\n"


def nested(n: int) -> bytes:
    each = b"--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n"
    return b"Content-Type: multipart/mixed; boundary=b0\n\n" + b"".join(each % (i, i + 1) for i in range(n // 54))


def again(piece: bytes, before: bytes = b"", after: bytes = b"") -> Callable[[int], bytes]:
    return lambda n: before + piece * max(n // len(piece), 1) + after


def numbered(piece: bytes, before: bytes = b"") -> Callable[[int], bytes]:
    """Pieces that are all different: %d takes their number."""
    return lambda n: before + b"".join(piece % i for i in range(n // (len(piece) + 3)))


# Name and bytes of about a given size: time may grow no faster than the size.
ATTACKS: dict[str, Callable[[int], bytes]] = {
    "encoded words": again(b"=?utf-8?q?abc?= ", b"Subject: ", b"\n\nx"),
    "encoded words, adjacent": again(b"=?utf-8?q?abc?=", b"Subject: ", b"\n\nx"),
    "encoded words, folded": again(b"=?utf-8?b?YQ==?=\n ", b"From: ", b"\n\nx"),
    "encoded words, open": again(b"=?", b"Subject: ", b"\n\nx"),
    "encoded words, half": again(b"=?a?q?", b"Subject: ", b"\n\nx"),
    "many headers": again(b"X-A: b\n", b"", b"\nx"),
    "many different headers": numbered(b"X-%d: b\n"),
    "one long header": again(b"a ", b"Subject: ", b"\n\nx"),
    "one long word in a header": again(b"a", b"Subject: ", b"\n\nx"),
    "one folded header": again(b"\n a", b"Subject: a", b"\n\nx"),
    "a name without a colon": again(b"a"),
    "many colons": again(b":"),
    "marks before a subject": again(b"[spam] ", b"Subject: ", b"\n\nx"),
    "open marks before a subject": again(b"[", b"Subject: ", b"\n\nx"),
    "many addresses": again(b"a@b.c, ", b"To: ", b"\n\nx"),
    "many Received headers": again(b"Received: from a.b.c (d [192.0.2.4]) by x.y.z for <a@b.c>; now\n"),
    "open parameters": again(b';a="', b"Content-Type: text/plain", b"\n\nx"),
    "parts of a parameter": again(b";a*0=b", b"Content-Type: text/plain", b"\n\nx"),
    "parameters without values": again(b";a", b"Content-Type: text/plain", b"\n\nx"),
    "nesting": nested,
    "nesting, one boundary": again(b"--b\n" + MIXED, MIXED),
    "nesting, then boundaries": lambda n: nested(n // 2) + b"\n--b0\n\n" * (n // 14),
    "nested messages": again(b"Content-Type: message/rfc822\n\n"),
    "lines of hyphens": again(b"\n--", MIXED),
    "lines of hyphens in a part": again(b"\n--", MIXED + b"--b\nContent-Type: image/gif\n\n"),
    "lines of almost a boundary": again(b"\n--b-", MIXED),
    "lines of hyphens, nested": lambda n: nested(n // 8) + b"\n--" * (n // 4),
    "boundaries": again(b"\n--b", MIXED),
    "empty parts": again(b"\n--b\n\n", MIXED),
    "files": again(b"\n--b\nContent-Type: image/gif; name=a.gif\n\nx", MIXED),
    "open attributes": again(b'<a b="', HTML),
    "open attributes, both quotes": again(b"<a b='\"", HTML),
    "open tags": again(b"<", HTML),
    "one tag": again(b"x ", HTML + b"<a "),
    "one tag of attributes": again(b"x='\" ", HTML + b"<a "),
    "styled tags": again(b"<a x=y style='color:#fff'>", HTML),
    "different tags": numbered(b"<a x%d=1 style='color:#ffe'>", HTML),
    "closing tags that nothing opened": lambda n: HTML + b"<p style=color:red>" * (n // 40) + b"</b>" * (n // 8),
    "crossed tags": lambda n: HTML + b"<b style=color:red><i>" * (n // 44) + b"</i></b>" * (n // 16),
    "open comments": again(b"<!--", HTML),
    "comments": again(b"a<!-- -->", HTML),
    "an open style sheet": again(b"<", HTML + b"<style>"),
    "references": again(b"&", HTML),
    "numeric references": again(b"&#", HTML),
    "one long number": again(b"9", HTML + b"&#"),
    "one long number of zeros": again(b"0", HTML + b"&#"),
    "one long hexadecimal number": again(b"f", HTML + b"&#x"),
    "names of references": again(b"&abcdefghijklmnopqrstuvwxyz", HTML),
    "hidden text": again(b"a b ", HTML + b"<p style='display:none'>"),
    "NULs": again(b"\0"),
    "a body of NULs": again(b"\0", b"a: b\n\n"),
    "CR": again(b"\r"),
    "LF": again(b"\n"),
    "blanks": again(b" "),
    "text": again(b"hello world this ", b"a: b\n\n"),
    "different words": numbered(b"w%d ", b"a: b\n\n"),
    "one word": again(b"a", b"a: b\n\n"),
    "dots": again(b"a.", b"a: b\n\n"),
    "at signs": again(b"a@", b"a: b\n\n"),
    "exclamation marks": again(b"!", b"a: b\n\n"),
    "links": again(b"http://a.b/c ", b"a: b\n\n"),
    "different links": numbered(b"http://a%d.b/c ", b"a: b\n\n"),
    "open links": again(b"http://", b"a: b\n\n"),
    "www": again(b"www.", b"a: b\n\n"),
    "a long host": again(b"a.", b"a: b\n\nhttp://"),
    "a host in Punycode": again(b"a", b"a: b\n\nhttp://xn--"),
    "a host of digits": again(b"1", b"a: b\n\nhttp://"),
    "a host in percent encoding": again(b"%41", b"a: b\n\nhttp://"),
    "Han": again("日本語".encode(), TEXT + b"utf-8\n\n"),
    "different Han": lambda n: (
        TEXT + b"utf-8\n\n" + "".join(chr(0x4E00 + i * 7919 % 20000) for i in range(n // 3)).encode()
    ),
    "combining characters": again("\u0301\u0316".encode(), TEXT + b"utf-8\n\na"),
    "zero width": again("a\u200b".encode(), TEXT + b"utf-8\n\n"),
    "UTF-7": again(b"+AGE-", TEXT + b"utf-7\n\n"),
    "open UTF-7": again(b"+", TEXT + b"utf-7\n\n"),
    "escapes": again(b"\x1b$B", TEXT + b"iso-2022-jp\n\n"),
    "HZ": again(b"~{", TEXT + b"hz\n\n"),
    "invalid bytes": again(b"\xff", TEXT + b"utf-8\n\n"),
    "undeclared pairs": again(b"\xb0\xa1", b"a: b\n\n"),
    "UTF-16": again(b"\xd8\x00", TEXT + b"utf-16\n\n"),
    "Base64": again(b"YWJj\n", b"Content-Transfer-Encoding: base64\n\n"),
    "padding": again(b"=", b"Content-Transfer-Encoding: base64\n\n"),
    "broken Base64": again(b"a!!!!", b"Content-Transfer-Encoding: base64\n\n"),
    "quoted-printable": again(b"=41=\n", b"Content-Transfer-Encoding: quoted-printable\n\n"),
    "broken quoted-printable": again(b"=", b"Content-Transfer-Encoding: quoted-printable\n\n"),
    "blanks in quoted-printable": again(b"  \t ", b"Content-Transfer-Encoding: quoted-printable\n\n"),
    "uuencoded": again(b"M\n", b"Content-Transfer-Encoding: x-uuencode\n\n"),
    "uuencoded files": again(b"\nbegin 644 a\nend\n", b"a: b\n\n"),
    "open uuencoded files": again(b"\nbegin 644 a\n", b"a: b\n\n"),
    "forged verdicts": again(b"X-Suffit: ham\n", b"", b"\nx"),
    "folded forged verdicts": again(b"\n ham", b"X-Suffit: ham", b"\n\nx"),
    "continuations first": again(b" \n"),
    "mbox lines": again(b"From a\n"),
}
