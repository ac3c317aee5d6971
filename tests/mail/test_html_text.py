"""HTML to text: what a reader sees, what is hidden, and where links lead."""

from __future__ import annotations

import pytest

from suffit.mail.html_text import read_html
from suffit.mail.message import read_message

HIDING = [
    '<p style="display:none">',
    "<p style='DISPLAY : none'>",
    "<p style=display:none;color:red>",
    '<div style="visibility: hidden">',
    '<span style="font-size:0">',
    '<span style="font-size: 1px">',
    '<span style="font-size:0.1em">',
    '<span style="opacity:0">',
    '<span style="mso-hide:all">',
    "<p hidden>",
    "<p hidden class=a>",
    '<font color="#ffffff">',
    "<font color=white>",
    '<font color="#FEFEFE">',
    '<span style="color:#fff">',
    '<span style="color: rgb(255, 255, 255)">',
    '<td bgcolor="#000000"><font color="#000000">',
    '<div style="background-color:#336699"><p style="color:#336699">',
    '<div style="background:#fff url(a.gif)"><p style="color:white">',
]
SHOWING = [
    "<p>",
    '<p style="display:block">',
    '<p style="font-size:10px">',
    '<p style="font-size:100%">',
    '<p style="font-size:0.9em">',
    '<p style="opacity:0.9">',
    '<font color="red">',
    '<td bgcolor="blue"><font color="white">',
    '<body bgcolor="#000000" text="#ffffff">',
    '<a title="display:none">',
]


@pytest.mark.parametrize("tag", HIDING)
def test_text_that_a_reader_does_not_see_is_told_apart(tag: str):
    page = read_html(f"before {tag}secret")
    assert (page.visible.split(), page.hidden) == (["before"], "secret")


@pytest.mark.parametrize("tag", SHOWING)
def test_text_that_a_reader_sees_is_not_hidden(tag: str):
    page = read_html(f"before {tag}shown")
    assert page.visible.split()[-1].endswith("shown")
    assert page.hidden == ""


def test_hiding_ends_with_its_element():
    page = read_html("<div style=display:none>a<div>b</div>c<p>d</div>e<p style=color:white>f<p>g")
    assert (page.visible.split(), page.hidden.split()) == (["e", "g"], ["a", "b", "c", "d", "f"])


@pytest.mark.parametrize(
    "text",
    [
        "vi<!-- x -->agra",
        "vi<!---->agra",
        "vi<b></b>agra",
        "vi<xyz>agra",
        "vi<font size=2>agra</font>",
        "vi&#97;gra",
        "vi&#x61;gra",
        "vi&#0000097;gra",
        "vi<style>p {color: red}</style>agra",
        "vi<script>if (a < b) c()</script>agra",
        "v\u200bi\u00adagra",
    ],
)
def test_words_are_put_together_again(text: str):
    raw = f"Content-Type: text/html; charset=utf-8\n\n<html>buy {text} now".encode()
    assert {"buy", "viagra", "now"} <= set(read_message(raw).tokens)


def test_a_comment_within_a_word_and_what_is_not_seen_leave_tokens():
    raw = b"Content-Type: text/html\n\nvia<!-- -->gra <font color=white>weather report</font>"
    assert {"html:comment-in-word", "html:hidden", "hidden:weather", "hidden:report"} <= set(read_message(raw).tokens)
    assert "weather" not in read_message(raw).tokens
    assert "html:hidden" not in read_message(b"Content-Type: text/html\n\nvia <!-- -->gra").tokens


def test_blocks_part_words_and_quoted_brackets_do_not_end_a_tag():
    page = read_html('one<td>two<br>three<img alt="a > b" src="http://a.example/x.gif">four')
    assert page.visible.split() == ["one", "two", "three", "four"]
    assert page.links == ["http://a.example/x.gif"]


@pytest.mark.parametrize(
    ("link", "tokens"),
    [
        ("http://www.shop.example/buy/now", {"url:www.shop.example", "url:shop.example", "url:/buy", "url:/now"}),
        ("HTTPS://Shop.Example:8080", {"url:shop.example", "url:port"}),
        ("http://%73hop.example/", {"url:shop.example", "url:percent-encoded"}),
        ("http://&#115;hop.example/", {"url:shop.example"}),
        ("http://bank.example@shop.example/", {"url:shop.example", "url:user"}),
        ("http://192.0.2.7/a", {"url:ip", "url:192.0.2.7", "url:192.0.2"}),
        ("http://3221226000/a", {"url:ip"}),
        ("http://xn--bcher-kva.example/", {"url:bücher.example", "url:punycode"}),
        ("//shop.example/", {"url:shop.example"}),
        ("mailto:me@shop.example?subject=x", {"url:mail:shop.example"}),
        ("javascript:alert(1)", {"url:javascript"}),
        ("http:\\\\shop.example\\a", {"url:shop.example"}),
    ],
)
def test_links_give_their_hosts(link: str, tokens: set[str]):
    for tag in (f'<a href="{link}">', f"<img src='{link}'>", f"<form action={link}>"):
        found = set(read_message(b"Content-Type: text/html\n\n" + tag.encode() + b"x").tokens)
        assert tokens <= found
    if link.startswith("http:/") and "&" not in link:
        assert tokens <= set(read_message(f"a: b\n\nsee {link} or".encode()).tokens)


def test_html_is_known_by_how_it_begins():
    for kind in (b"", b"Content-Type: text/plain\n"):
        assert {"word", "html:p"} <= set(read_message(b"Subject: a\n" + kind + b"\n\n <HTML><p>word").tokens)
    assert "html:p" not in read_message(b"Subject: a\n\nuse <p> for a paragraph").tokens
