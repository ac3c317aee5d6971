"""One message and a store: the answer that goes into the header, and the exit code."""

from __future__ import annotations

from .message import read_message
from .model import Verdict, verdict
from .store import Store

SPAM, HAM, UNSURE, ERROR = 0, 1, 2, 3  # exit codes, as bogofilter has them; any other class is not spam: 1
NAMED = 5  # tokens in the header
WIDEST = 40  # characters of a token there


def judged(store: Store, raw: bytes) -> Verdict:
    """What a store says about a message."""
    return verdict_of(store, read_message(raw).tokens)


def verdict_of(store: Store, tokens: tuple[str, ...]) -> Verdict:
    """What a store says about tokens."""
    counts, sums, settings = store.evidence(tokens)
    return verdict(tokens, counts, sums, settings)


def exit_code(label: str) -> int:
    """The exit code of a verdict.

    Examples
    --------
    >>> from suffit.mail.judging import exit_code
    >>> [exit_code(label) for label in ("spam", "ham", "unsure", "newsletter")]
    [0, 1, 2, 1]
    """
    return {"spam": SPAM, "ham": HAM, "unsure": UNSURE}.get(label, HAM)


def header_value(found: Verdict) -> str:
    """``spam; p=0.987; top=…``: the verdict, the probability of spam and what decided."""
    top = ", ".join(f"{printable(token)} {odds:+.2f}" for token, odds in found.terms[:NAMED])
    return f"{printable(found.label)}; p={found.probability:.3f}; top={top}"


def printable(token: str) -> str:
    r"""A token in printable ASCII without what ends a field.

    Examples
    --------
    >>> from suffit.mail.judging import printable
    >>> printable("subject:grüezi mitenand;")
    'subject:gr\\xfcezi_mitenand:'
    """
    text = token.replace(" ", "_").replace(";", ":").replace(",", ".")
    return ascii(text)[1:-1].replace("\\\\", "\\")[:WIDEST]


def answer(store: Store, raw: bytes) -> bytes:
    """The exit code and the value of the header, as the daemon sends them."""
    found = judged(store, raw)
    return b"%d %s" % (exit_code(found.label), header_value(found).encode("ascii"))
