"""Text to tokens: words, numbers, addresses, links; pairs of characters where words have no blanks between them."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from .urls import add_host, add_url

Tokens = dict[str, None]  # distinct, in order of first appearance

SHORTEST, LONGEST = 3, 24  # letters of a word
FIRST_WORDS = 60  # of a text whose pairs of neighbours are tokens too: most of what a message is about stands there
KEPT = b"abcdefghijklmnopqrstuvwxyz0123456789$%!'-._@" + bytes(range(128, 256))
ONLY_WORDS = bytes(byte if byte in KEPT else 32 for byte in range(256))
EDGES = "'-._!@"
ONLY_CAPITALS = bytes(byte if 65 <= byte <= 90 else 32 for byte in range(256))
URL_END = re.compile(r"[\s<>\"'()\[\]{}|\\^`]")
ZERO_WIDTH = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
OTHER_PUNCTUATION = re.compile(
    "[\u0080-\u00a2\u00a4\u00a6-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u2000-\u20ab\u20ad-\u20cf"
    "\u2190-\u2bff\u3000-\u303f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffd]+"
)
NO_BLANKS = re.compile(  # Thai, Lao, Khmer, kana, Han, Hangul
    "([\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9d\U00020000-\U0003ffff]+)"
)
SCRIPTS = (re.compile("[a-z\u00c0-\u024f]"), re.compile("[\u0400-\u052f]"), re.compile("[\u0370-\u03ff]"))
DIGIT, WITHIN = re.compile(r"\d"), re.compile(r"[-._!'$%]+")
MONEY = ("$", "£", "€")


def add_text(text: str, tokens: Tokens) -> None:
    """Add the tokens of a text that a person reads: its links, its words, what is in capitals, how it begins."""
    capitals = text.encode("utf-8", "replace").translate(ONLY_CAPITALS).decode("ascii").split()
    text = text.lower()
    for mark in ("://", "www."):
        if mark in text:
            text, urls = cut_urls(text, mark)
            for url in dict.fromkeys(urls):
                add_url(url, tokens)
    words = add_words(text, "", tokens)
    add_pairs(words[:FIRST_WORDS], "", tokens)
    for word in dict.fromkeys([word for word in capitals if 3 < len(word) <= LONGEST]):
        tokens["caps:" + word.lower()] = None


def cut_urls(text: str, mark: str) -> tuple[str, list[str]]:
    """A text in lower case without the URLs that have a mark in them, and the URLs.

    >>> cut_urls("see http://a.example/b, or (ftp://c.example)", "://")
    ('see   or ( )', ['http://a.example/b,', 'ftp://c.example'])
    """
    kept, urls, at = [], [], 0
    while (found := text.find(mark, at)) >= 0:
        start = found
        if mark == "://":
            while start > at and found - start < 5 and text[start - 1].isalpha():
                start -= 1
        end = URL_END.search(text, found + len(mark))
        stop = end.start() if end else len(text)
        kept.append(text[at:start])
        urls.append(text[start:stop])
        at = stop
    kept.append(text[at:])
    return " ".join(kept), urls


def add_words(text: str, tag: str, tokens: Tokens) -> list[str]:
    """Add the words of a text in lower case, each with a tag before it; all words in their order."""
    if not (is_ascii := text.isascii()):
        text = text.replace("\u2019", "'")
    raw = text.encode("utf-8", "replace").translate(ONLY_WORDS)
    words = raw.replace(b". ", b" ").replace(b"--", b" ").decode("utf-8", "replace").split()
    distinct = dict.fromkeys(words)
    if not is_ascii:
        foreign = [word for word in distinct if not word.isascii()]
        distinct = dict.fromkeys(word for word in distinct if word.isascii())
        add_foreign(" ".join(foreign), tag, tokens)
    plain = {word: None for word in filter(str.isalpha, distinct) if SHORTEST <= len(word) <= LONGEST}
    tokens.update(dict.fromkeys([tag + word for word in plain]) if tag else plain)
    for word in distinct:
        if word not in plain and len(word) >= SHORTEST:
            add_odd(word, tag, tokens)
    return words


def add_pairs(words: list[str], tag: str, tokens: Tokens) -> None:
    """Add pairs of neighbours, without the punctuation in them."""
    if not (text := " ".join(words)).isascii():
        text = OTHER_PUNCTUATION.sub(" ", ZERO_WIDTH.sub("", text))
    bare = text.encode("utf-8", "replace").translate(None, EDGES.encode()).decode("utf-8", "replace").split()
    kept = [word for word in bare if 1 < len(word) <= LONGEST]
    tokens.update(dict.fromkeys([f"{tag}{one} {other}" for one, other in pairwise(kept)]))


def add_foreign(text: str, tag: str, tokens: Tokens) -> None:
    """Add words with characters beyond ASCII; pairs of characters of what is written without blanks."""
    text, unseen = ZERO_WIDTH.subn("", text)
    if unseen:
        tokens["text:zero-width"] = None
    pieces = NO_BLANKS.split(OTHER_PUNCTUATION.sub(" ", text))
    for run in dict.fromkeys(pieces[1::2]):
        if len(run) == 1:
            tokens[tag + run] = None
        for one, other in pairwise(run):
            tokens[tag + one + other] = None
    for word in dict.fromkeys(" ".join(pieces[::2]).split()):
        if len(word) > 2 * LONGEST or word.isascii():
            add_odd(word, tag, tokens)
            continue
        if sum(1 for script in SCRIPTS if script.search(word)) > 1:
            tokens["text:mixed-scripts"] = None
        add_odd(unicodedata.normalize("NFKC", word).lower(), tag, tokens)


def add_odd(word: str, tag: str, tokens: Tokens) -> None:
    """Add what is not a plain word of the usual length: a number, a price, an address, something long."""
    bare = word.strip(EDGES)
    if "!" in word and bare:
        tokens[tag + bare + "!"] = None
    if "@" in bare:
        bare, _, host = bare.partition("@")
        add_host(host, tag + "mail:", tokens)
    size = len(bare)
    if size < SHORTEST:
        return
    if size <= LONGEST and bare.isalpha():
        tokens[tag + bare] = None
    elif bare.isdigit() and size > 4:
        tokens[f"{tag}digits:{size}"] = None
    elif size > LONGEST or (size > 12 and DIGIT.search(bare)):
        tokens[f"{tag}long:{bare[0]}{size // 10 * 10}"] = None
        for piece in WITHIN.split(bare[:200]):
            if SHORTEST <= len(piece) <= LONGEST and piece.isalpha():
                tokens[tag + piece] = None
    else:
        tokens[tag + bare] = None
        if bare[0] in MONEY:
            tokens[tag + "money:" + bare[0]] = None
