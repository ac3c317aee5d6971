"""Headers to tokens, each with the header's name before it; what other filters and the delivery wrote is not read."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

from .headers import Headers, decode_words, parse_parameters
from .urls import LONGEST_HOST, add_host, add_url
from .words import LONGEST, SHORTEST, Tokens, add_pairs, add_words, cut_urls

# Verdicts of filters (ours too) and of the programs that check senders, by the beginning of a header's name.
VERDICT = re.compile(
    r"x-(?:[a-z0-9]+-)*(?:spam|bogosity|suffit|dspam|crm114|spambayes|rspamd|barracuda|proofpoint|ironport|mailscanner"
    r"|virus|antivirus|anti-virus|amavis|forefront|antispam|anti-spam|scl|sa|pmx|spamprobe|kaspersky|pyzor|razor|dcc|hits"
    r"|bayes|junk|quarantine|clamav|avast|avg|sophos|symantec|mimecast|cloudmark|cmae|vade|ovh|exim|authenticated"
    r"|exchange|ms)(?![a-z])|x-spam|x-bogosity|x-suffit|x-bitdefender|x-vr-|x-gmail|x-mozilla|x-evolution|x-claws"
    r"|authentication-results|arc-|received-spf|dkim-filter|domainkey-status|spam|x-ham"
)
# What the delivery or the reader's own program adds, and what is different in every message.
SKIPPED = frozenset(
    """
    received status x-status x-uid x-uidl x-keywords x-folder x-label lines content-length content-id delivered-to
    x-original-to envelope-to delivery-date x-delivered-to x-sieve x-filter x-filtered x-envelope-to x-rcpt-to
    x-apparently-to old-subject thread-index thread-topic x-originalarrivaltime x-mimetrack x-original-date
    resent-date resent-message-id x-uidl x-imap dkim-signature domainkey-signature x-google-dkim-signature
    x-gm-message-state x-received x-message-info x-face face x-image-url x-sequence x-pgp-sig autocrypt openpgp
    x-original-messageid x-tmda-fingerprint x-cr-hashedpuzzle x-cr-puzzleid x-account-key x-keyword x-priority-id
    mime-version content-type content-transfer-encoding content-disposition sender x-authentication-warning
    in-reply-to references
    """.split()  # noqa: SIM905
)
MARKED = re.compile(r"\s*+(?:[\[{(*]+\s*+(?:SPAM|spam|Spam|SUSPECT|JUNK)\b[^\]})*]{0,20}+[\]})*]+\s*+:?\s*+)+")
AROUND = str.maketrans(dict.fromkeys('<>"(),;:[]=', " "))
PLAIN_WORD = re.compile(r"(?<![a-z0-9])[a-z][a-z'.-]{1,22}[a-z](?![a-z0-9])")
ADDRESS = re.compile(r"[\[(](\d{1,3}\.\d{1,3})\.(\d{1,3})\.\d{1,3}[\])]")
HOST = re.compile(r"(?:from\s++|by\s++|helo[ =]|\()([a-z][\w-]*+\.[\w.-]*[a-z])")
FOR_ADDRESS = re.compile(r"for\s++<?([^\s<>;@]{1,60}@[^\s<>;@]{1,60})")
ZONE = re.compile(r"[+-]\d{4}\b")
LONGEST_NAME, LONGEST_VALUE = 40, 2_000  # characters of a name and of a value that are read
MOST_ADDRESSES, MOST_WORDS, MOST_RECEIVED = 20, 12, 20
LISTS = ("list-", "x-beenthere", "x-mailman", "errors-to", "x-list")  # what they say is said by the sender
USUAL = ("from", "to", "subject", "date", "message-id")


def add_headers(headers: Headers, tokens: Tokens) -> None:
    """Add the tokens of a message's header, and pairs of neighbours: programs write their headers in an order."""
    names = dict.fromkeys(name for name, _ in headers)
    add_received([value for name, value in headers if name == "received"], tokens)
    for name, value in headers:
        if (read := READERS.get(name)) is not None:
            read(value, name, tokens)
        elif name not in SKIPPED and not is_verdict(name[:LONGEST_NAME]):
            add_other(value, name, tokens)
    for name in USUAL:
        if name not in names:
            tokens["no:" + name] = None
    if "in-reply-to" in names or "references" in names:
        tokens["header:in-reply-to"] = None
    alone = [token for token in tokens if " " not in token]
    tokens.update(dict.fromkeys(map(" ".join, pairwise(alone))))


@lru_cache(maxsize=1024)
def is_verdict(name: str) -> bool:
    """Whether a header is a verdict of a filter."""
    return VERDICT.match(name) is not None


def subject_of(value: str) -> str:
    """A subject, decoded, without the marks that other filters put before it.

    >>> subject_of("[SPAM] =?utf-8?q?Caf=C3=A9?=")
    'Café'
    """
    text = decode_words(value)
    marked = MARKED.match(text)
    return text[marked.end() :] if marked else text


def add_subject(value: str, _: str, tokens: Tokens) -> None:
    """Words of the subject, pairs of neighbours, and how it is written."""
    text = subject_of(value)[:LONGEST_VALUE]
    words = text.lower()
    if "://" in words:
        words, urls = cut_urls(words, "://")
        for url in urls:
            add_url(url, tokens)
    add_pairs(add_words(words, "subject:", tokens), "subject:", tokens)
    if len(text) >= 6 and text.isupper():
        tokens["subject:capitals"] = None
    for mark in "!?$%":
        if mark in text:
            tokens["subject:" + mark] = None


def add_addresses(value: str, name: str, tokens: Tokens) -> None:
    """Addresses, the domains they are in, and the words of the names beside them."""
    tag = name + ":"
    count = 0
    for word in decode_words(value[:LONGEST_VALUE]).lower().translate(AROUND).split():
        _, at, host = word.rpartition("@")
        if at:
            count += 1
            if count <= MOST_ADDRESSES:
                if len(word) <= 60:
                    tokens[tag + word] = None
                add_host(host, tag + "@", tokens)
        elif word.isalpha() and word.isascii():
            if SHORTEST - 1 <= len(word) <= LONGEST:
                tokens[tag + word] = None
        else:
            add_words(word, tag, tokens)
    if count != 1:
        tokens[f"{tag}{min(count, 10) // 2 * 2} addresses"] = None


def add_received(values: list[str], tokens: Tokens) -> None:
    """Add the hosts and networks that a message came through."""
    text = " ".join([value[:LONGEST_VALUE].partition(";")[0] for value in values[:MOST_RECEIVED]]).lower()
    for address in FOR_ADDRESS.findall(text):
        tokens["received:for " + address] = None
    for network, third in dict.fromkeys(ADDRESS.findall(text)):
        tokens[f"received:{network}.{third}"] = tokens["received:" + network] = None
    for host in dict.fromkeys(HOST.findall(text)):
        labels = host[-LONGEST_HOST:].split(".")
        tokens["received:" + ".".join(labels[-3:])] = tokens["received:" + ".".join(labels[-2:])] = None


def add_host_only(value: str, name: str, tokens: Tokens) -> None:
    """The host of an identifier: what is before it is different in every message."""
    host = value[:LONGEST_VALUE].lower().rpartition("@")[2].strip("<> \t")
    add_host(host, name + ":", tokens)


def add_mailer(value: str, _: str, tokens: Tokens) -> None:
    """The program that sent the message."""
    tokens["mailer:" + " ".join(PLAIN_WORD.findall(value[:100].lower())[:3])] = None
    add_words(value[:200].lower(), "mailer:", tokens)


def add_date(value: str, _: str, tokens: Tokens) -> None:
    """The time zone: the rest of a date tells messages apart, not their classes."""
    zone = ZONE.search(value[:200])
    tokens["date:" + (zone[0] if zone else "no zone")] = None


def add_other(value: str, name: str, tokens: Tokens) -> None:
    """That a header is there, and the plain words of its value."""
    name = name[:LONGEST_NAME]
    tokens["header:" + name] = None
    if name.startswith(LISTS):
        return
    for word in PLAIN_WORD.findall(value[:300].lower())[:MOST_WORDS]:
        tokens[f"{name}:{word}"] = None


READERS: dict[str, Callable[[str, str, Tokens], None]] = {
    "subject": add_subject,
    "from": add_addresses,
    "to": add_addresses,
    "cc": add_addresses,
    "reply-to": add_addresses,
    "return-path": add_host_only,
    "message-id": add_host_only,
    "date": add_date,
    "x-mailer": add_mailer,
    "user-agent": add_mailer,
}


def add_part_headers(headers: Headers, kind: str, parameters: dict[str, str], tokens: Tokens) -> None:
    """How a part is declared: content type, character set, transfer encoding, names of files."""
    tokens["part:" + kind[:60]] = None
    charset = parameters.get("charset", "")
    if charset:
        tokens["charset:" + charset[:30].lower()] = None
    name = parameters.get("name", "")
    for header, value in headers:
        if header == "content-transfer-encoding":
            tokens["encoding:" + value[:30].lower()] = None
        elif header == "content-disposition":
            disposition, more = parse_parameters(value)
            tokens["disposition:" + disposition[:20]] = None
            name = more.get("filename", name)
    if name:
        add_file_name(decode_words(name), tokens)


def add_file_name(name: str, tokens: Tokens) -> None:
    """The ending of a file's name and the words in it."""
    name = name[:200].lower()
    endings = name.split(".")[1:][-2:]
    tokens["file:." + ".".join(ending.strip()[:10] for ending in endings)] = None
    add_words(name.replace(".", " ").replace("_", " "), "file:", tokens)
