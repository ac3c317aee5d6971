"""Character sets: as declared where that fits, otherwise by what the bytes look like."""

from __future__ import annotations

import pytest

from suffit.mail.charsets import SAFE, codec_of, decode_text


@pytest.mark.parametrize(
    ("text", "written", "declared"),
    [
        ("café", "utf-8", "utf-8"),
        ("café", "utf-8", ""),
        ("café", "utf-8", "iso-8859-1"),
        ("café", "utf-8", "us-ascii"),
        ("café", "latin-1", "utf-8"),
        ("café", "latin-1", ""),
        ("café", "latin-1", "no-such-charset"),
        ("“café”", "cp1252", "iso-8859-1"),
        ("привет", "koi8-r", "koi8-r"),
        ("привет", "cp1251", "windows-1251"),
        ("привет", "utf-8-sig", "koi8-r"),
        ("привет", "utf-16", ""),
        ("中文字符", "gb18030", ""),
        ("中文字符", "gbk", "gb2312"),
        ("€ 中文", "gb18030", "gb2312"),
        ("日本語", "iso2022_jp", ""),
        ("日本語", "iso2022_jp", "iso-2022-jp"),
        ("日本語①", "cp932", "shift_jis"),
        ("한국어 똠", "cp949", "euc-kr"),
        ("שלום", "iso8859_8", "iso-8859-8-i"),
    ],
)
def test_bytes_become_the_text_they_were(text: str, written: str, declared: str):
    assert decode_text(text.encode(written), declared) == text


@pytest.mark.parametrize(
    "name", ["base64", "zip", "rot13", "idna", "punycode", "unicode_escape", "undefined", "mbcs", "../x", "\0", "oem"]
)
def test_names_that_are_no_character_sets_are_not_looked_up(name: str):
    assert codec_of(name) is None
    assert decode_text(b"text", name) == "text"


@pytest.mark.parametrize("name", sorted(SAFE))
def test_any_bytes_have_a_text_in_every_character_set(name: str):
    for data in (bytes(range(256)), b"\xff" * 7, b"\x1b$B\x80", b"", b"\0", b"plain"):
        assert isinstance(decode_text(data, name), str)
