"""Words, numbers, addresses and links of a text as tokens."""

from __future__ import annotations

import pytest

from suffit.mail.words import add_text, add_words


def tokens_of(text: str) -> set[str]:
    tokens: dict[str, None] = {}
    add_text(text, tokens)
    return {token for token in tokens if " " not in token}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, World.", {"hello", "world"}),
        ("don't e-mail ASAP", {"don't", "e-mail", "asap", "caps:asap"}),
        ("FREE Money now!!!", {"free", "caps:free", "money", "now", "now!"}),
        ("$500 and 100% of £20", {"$500", "money:$", "and", "100%", "£20", "money:£"}),
        ("v.i.a.g.r.a", {"v.i.a.g.r.a"}),
        ("call 5551234567 in 2002", {"call", "digits:10", "2002"}),
        ("id 4f9a8b7c6d5e4f3a2b1c", {"long:420"}),
        ("ann@mail.example.org", {"mail:mail.example.org", "mail:example.org", "ann"}),
        ("see www.shop.example/now today", {"see", "url:www.shop.example", "url:shop.example", "url:/now", "today"}),
        ("x" * 60, {"long:x60"}),
        ("“quoted” — naïve…", {"quoted", "naïve"}),
        ("ﬁne ｆｕｌｌ", {"fine", "full"}),
        ("pаypal", {"pаypal", "text:mixed-scripts"}),
        ("日本語で", {"日本", "本語", "語で"}),
        ("привет мир", {"привет", "мир"}),
        ("a of in", set()),
    ],
)
def test_a_text_gives_these_tokens(text: str, tokens: set[str]):
    assert tokens_of(text) == tokens


def test_neighbours_among_the_first_words_are_tokens_too():
    tokens: dict[str, None] = {}
    add_text(" ".join(f"word{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(100)), tokens)
    pairs = [token for token in tokens if " " in token]
    assert len(pairs) == 59
    assert pairs[0] == "wordaa wordba"


def test_words_with_a_tag():
    tokens: dict[str, None] = {}
    add_words("big café 100%", "subject:", tokens)
    assert set(tokens) == {"subject:big", "subject:café", "subject:100%"}


def test_no_word_of_a_text_looks_like_a_tag():
    assert not any(":" in token for token in tokens_of("subject:free from:me html:hidden x:y ::"))
