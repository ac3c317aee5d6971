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
CAPITALS = re.compile(r"(?<![A-Za-z])[A-Z]{4,24}(?![A-Za-z])")
URL = re.compile(r"((?:https?://|ftp://|(?<![\w.])www\.)[^\s<>\"'()\[\]{}|\\^`]++)")
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
LATIN, CYRILLIC, GREEK = re.compile("[a-z\u00c0-\u024f]"), re.compile("[\u0400-\u052f]"), re.compile("[\u0370-\u03ff]")
MONEY = ("$", "£", "€")


def add_text(text: str, tokens: Tokens) -> None:
    """Add the tokens of a text that a person reads: its links, its words, what is shouted, how it begins."""
    shouted = CAPITALS.findall(text)
    text = text.lower()
    if "://" in text or "www." in text:
        pieces = URL.split(text)
        for url in dict.fromkeys(pieces[1::2]):
            add_url(url, tokens)
        text = " ".join(pieces[::2])
    words = add_words(text, "", tokens)
    add_pairs(words[:FIRST_WORDS], "", tokens)
    for word in shouted:
        tokens["caps:" + word.lower()] = None


def add_words(text: str, tag: str, tokens: Tokens) -> list[str]:
    """Add the words of a text in lower case, each with a tag before it; all words in their order."""
    text = text.replace(". ", " ").replace(".\n", " ").replace("--", " ")
    if not text.isascii():
        text = plain_characters(text, tag, tokens)
    words = text.encode("utf-8", "replace").translate(ONLY_WORDS).decode("utf-8", "replace").split()
    for word in dict.fromkeys(words):
        if len(word) >= SHORTEST:
            if word.isalpha() and len(word) <= LONGEST and word.isascii():
                tokens[tag + word] = None
            else:
                add_odd(word, tag, tokens)
    return words


def add_pairs(words: list[str], tag: str, tokens: Tokens) -> None:
    """Add pairs of neighbours."""
    kept = [bare for word in words if 1 < len(bare := word.strip(EDGES)) <= LONGEST]
    for one, other in pairwise(kept):
        tokens[f"{tag}{one} {other}"] = None


def plain_characters(text: str, tag: str, tokens: Tokens) -> str:
    """Take out what is not seen and what is not letters; add pairs of characters of what is written without blanks."""
    text, unseen = ZERO_WIDTH.subn("", text)
    if unseen:
        tokens["text:zero-width"] = None
    text = OTHER_PUNCTUATION.sub(" ", text)
    pieces = NO_BLANKS.split(text)
    for run in dict.fromkeys(pieces[1::2]):
        if len(run) == 1:
            tokens[tag + run] = None
        for pair in pairwise(run):
            tokens[tag + pair[0] + pair[1]] = None
    return " ".join(pieces[::2])


def add_odd(word: str, tag: str, tokens: Tokens) -> None:
    """Add what is not a plain word of the usual length: a number, a price, an address, something long or foreign."""
    bare = word.strip(EDGES)
    if "!" in word and bare:
        tokens[tag + bare + "!"] = None
    if "@" in bare:
        user, _, host = bare.partition("@")
        add_host(host, tag + "mail:", tokens)
        bare = user
    if not bare.isascii():
        bare = foreign(bare, tokens)
    size = len(bare)
    if size < SHORTEST:
        return
    if bare.isdigit() and size > 4:
        tokens[f"{tag}digits:{size}"] = None
    elif size > LONGEST or (size > 12 and not bare.isalpha() and any(c.isdigit() for c in bare)):
        tokens[f"{tag}long:{bare[0]}{size // 10 * 10}"] = None
        for piece in re.split(r"[-._!']+", bare[:200]):
            if SHORTEST <= len(piece) <= LONGEST and piece.isalpha():
                tokens[tag + piece] = None
    else:
        tokens[tag + bare] = None
        if bare[0] in MONEY:
            tokens[tag + "money:" + bare[0]] = None


def foreign(word: str, tokens: Tokens) -> str:
    """A word with characters beyond ASCII in its plain form; letters of two scripts in one word leave a token."""
    if len(word) > 2 * LONGEST:
        return word
    scripts = sum(1 for script in (LATIN, CYRILLIC, GREEK) if script.search(word))
    if scripts > 1:
        tokens["text:mixed-scripts"] = None
    return unicodedata.normalize("NFKC", word).lower()
