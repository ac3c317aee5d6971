"""Bytes to text: the declared character set where it fits, otherwise the likeliest one; never an error."""

from __future__ import annotations

import codecs
import re
from encodings.aliases import aliases
from functools import lru_cache

# Python's codecs that hold text and decode in linear time; no other name is ever looked up.
SAFE = frozenset(
    """
    ascii utf_8 utf_8_sig utf_7 utf_16 utf_16_le utf_16_be utf_32 utf_32_le utf_32_be latin_1 iso8859_1 iso8859_2
    iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10 iso8859_11 iso8859_13
    iso8859_14 iso8859_15 iso8859_16 cp037 cp437 cp500 cp720 cp737 cp775 cp850 cp852 cp855 cp857 cp858 cp860 cp861
    cp862 cp863 cp864 cp865 cp866 cp869 cp874 cp932 cp949 cp950 cp1026 cp1140 cp1250 cp1251 cp1252 cp1253 cp1254
    cp1255 cp1256 cp1257 cp1258 koi8_r koi8_u koi8_t kz1048 mac_roman mac_cyrillic mac_greek mac_latin2 mac_turkish
    mac_iceland ptcp154 hz tis_620 big5 big5hkscs gb2312 gbk gb18030 euc_jp euc_jis_2004 euc_jisx0213 euc_kr johab
    shift_jis shift_jis_2004 shift_jisx0213 iso2022_jp iso2022_jp_1 iso2022_jp_2 iso2022_jp_2004 iso2022_jp_3
    iso2022_jp_ext iso2022_kr
    """.split()  # noqa: SIM905
)
# A character set is often declared by the name of a smaller one: what is meant where the declared one does not fit.
WIDER = {
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso2022_jp": "iso2022_jp_ext",
}
# Those whose names are given to anything; and UTF-8 with or without its mark.
MEANT = {"ascii": "cp1252", "latin_1": "cp1252", "iso8859_1": "cp1252", "utf_8": "utf_8_sig"}
MORE_NAMES = {
    "iso_8859_6_i": "iso8859_6",
    "iso_8859_8_i": "iso8859_8",
    "windows_874": "cp874",
    "windows_949": "cp949",
    "x_big5": "big5",
    "x_euc_jp": "euc_jp",
    "x_gbk": "gbk",
    "x_mac_cyrillic": "mac_cyrillic",
    "x_sjis": "shift_jis",
    "x_windows_949": "cp949",
}
MARKS = (  # what a text may begin with
    (codecs.BOM_UTF8, "utf_8_sig"),
    (codecs.BOM_UTF32_LE, "utf_32"),
    (codecs.BOM_UTF32_BE, "utf_32"),
    (codecs.BOM_UTF16_LE, "utf_16"),
    (codecs.BOM_UTF16_BE, "utf_16"),
)
NOT_A_NAME = re.compile(r"[^a-z0-9]+")
SHIFT_TO_JAPANESE = re.compile(rb"\x1b\$[@B]")
HIGH = bytes(range(128, 256))
LONGEST_NAME = 60  # characters of a declared name: those that are remembered stay small
EAST_ASIAN_SHARE = 0.3  # of bytes beyond ASCII, from which undeclared bytes that are valid in it are taken for gb18030


@lru_cache(maxsize=256)
def codec_of(name: str) -> str | None:
    """Python's codec for a declared character set; None where the name is unknown, or that of no character set.

    >>> codec_of("ISO-8859-1"), codec_of("GB2312"), codec_of("x-unknown"), codec_of("base64")
    ('cp1252', 'gb2312', None, None)
    """
    name = NOT_A_NAME.sub("_", name.lower()).strip("_")
    name = MORE_NAMES.get(name) or aliases.get(name, name)
    return MEANT.get(name, name) if name in SAFE else None


def decode_text(data: bytes, declared: str = "") -> str:
    r"""The text of bytes: as declared where that is possible, otherwise by what the bytes look like.

    >>> decode_text(b"caf\xe9", "utf-8"), decode_text("日本".encode("iso2022_jp"))
    ('café', '日本')
    """
    codec = codec_of(declared[:LONGEST_NAME]) if declared else None
    if data.isascii() and b"\x1b" not in data and b"\0" not in data and codec in READ_AS_ASCII:
        return data.decode("ascii")
    for mark, marked in MARKS:
        if data.startswith(mark):
            return data.decode(marked, "replace")
    if codec is not None and (codec != "cp1252" or not is_utf8(data)):
        for tried in (codec, WIDER.get(codec, codec)):
            try:
                return data.decode(tried)
            except ValueError:
                continue
    return guessed(data, codec)


# The codecs in which ASCII bytes (without escapes) mean ASCII, which can skip every other test.
READ_AS_ASCII = (
    (SAFE | {None})
    - {"utf_7", "hz", "cp037", "cp500", "cp1026", "cp1140"}
    - {name for name in SAFE if name.startswith(("utf_16", "utf_32"))}
)


def is_utf8(data: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    try:
        data.decode("utf-8")
    except ValueError:
        return False
    return True


def guessed(data: bytes, codec: str | None) -> str:
    """The text of bytes that are not what was declared, or for which nothing was."""
    if data.isascii():
        guess = "iso2022_jp" if SHIFT_TO_JAPANESE.search(data) else "ascii"
        return data.decode(guess, "replace")
    try:
        return data.decode("utf-8")
    except ValueError:
        pass
    if codec is not None and codec not in ("cp1252", "utf_8_sig", "utf_7"):
        return data.decode(WIDER.get(codec, codec), "replace")
    high = len(data) - len(data.translate(None, HIGH))
    if high >= EAST_ASIAN_SHARE * len(data):
        try:
            return data.decode("gb18030")
        except ValueError:
            pass
    try:
        return data.decode("cp1252")
    except ValueError:
        return data.decode("latin-1")
