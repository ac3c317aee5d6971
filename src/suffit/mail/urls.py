"""Links to tokens: the host and the domains it is in, and words of the path."""

from __future__ import annotations

import re
from urllib.parse import unquote

Tokens = dict[str, None]

LONGEST_URL = 2_000
DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
NUMBER = re.compile(r"0x[0-9a-f]++|\d++")
SCHEME = re.compile(r"\s*+(?:https?|ftp)\s*+:[/\\]*+")
HOST_END = re.compile(r"[/?#\\\s]")
PATH_WORD = re.compile(r"[a-z]{3,}+")
LONGEST_PATH = 80  # characters of a path whose words are tokens
MOST_LABELS, LONGEST_HOST = 3, 100


def add_link(link: str, tokens: Tokens) -> None:
    """Add the tokens of what an attribute leads to."""
    link = link[:LONGEST_URL].lower()
    if link.startswith("mailto:"):
        add_host(link[7:].partition("?")[0].rpartition("@")[2], "url:mail:", tokens)
    elif SCHEME.match(link) or link.startswith(("//", "www.")):
        add_url(link, tokens)
    elif link.startswith(("data:", "javascript:", "cid:")):
        tokens["url:" + link.partition(":")[0]] = None


def add_url(url: str, tokens: Tokens) -> None:
    """Add the tokens of a URL in lower case."""
    url = url[:LONGEST_URL]
    scheme = SCHEME.match(url)
    url = url[scheme.end() :] if scheme else url.lstrip("/")
    end = HOST_END.search(url)
    host, rest = (url[: end.start()], url[end.start() :]) if end else (url, "")
    if "%" in host:
        tokens["url:percent-encoded"] = None
        host = unquote(host).lower()
    _, at, host = host.rpartition("@")
    if at:
        tokens["url:user"] = None
    host, _, port = host.partition(":")
    if port not in ("", "80", "443"):
        tokens["url:port"] = None
    add_host(host, "url:", tokens)
    for word in PATH_WORD.findall(rest[:LONGEST_PATH]):
        if len(word) <= 15:
            tokens["url:/" + word] = None


def add_host(host: str, tag: str, tokens: Tokens) -> None:
    """Add a host and the domain it is in, or the networks of an address.

    >>> tokens = {}
    >>> add_host("mail.shop.example", "url:", tokens)
    >>> add_host("192.0.2.7", "url:", tokens)
    >>> list(tokens)
    ['url:mail.shop.example', 'url:shop.example', 'url:ip', 'url:192.0.2.7', 'url:192.0.2', 'url:192.0']
    """
    labels = host[-LONGEST_HOST:].strip(".-_").split(".")
    if not labels[-1].isalpha() and NUMBER.fullmatch(labels[-1]):
        tokens[tag + "ip"] = None
        if DOTTED.fullmatch(host):
            for size in (4, 3, 2):
                tokens[tag + ".".join(labels[:size])] = None
        return
    if "xn--" in host:
        tokens[tag + "punycode"] = None
        labels = [readable(label) for label in labels]
    for size in range(min(MOST_LABELS, len(labels)), 1, -1):
        tokens[tag + ".".join(labels[-size:])] = None


def readable(label: str) -> str:
    """A label of a host in its own script."""
    if label.startswith("xn--") and len(label) <= 63:
        try:
            return label[4:].encode("ascii").decode("punycode")
        except (ValueError, IndexError, OverflowError):
            pass
    return label
