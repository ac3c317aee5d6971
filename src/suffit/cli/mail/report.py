"""What the verbs of ``suffit mail`` say, for people and for machines."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from ...mail.evaluation import Tally
from ...mail.message import Message
from ...mail.model import Sums, Verdict
from ...mail.store import Store

T = TypeVar("T")
EVERY = 0.2  # seconds between two states of the progress line


class Progress:
    """Messages so far and per second: a line on the terminal that is written over, and nothing in a pipe."""

    def __init__(self, what: str, quiet: bool, paths: Sequence[str]) -> None:
        self.what, self.n, self.start = what, 0, time.perf_counter()
        self._shown = sys.stderr.isatty() and not quiet and bool(paths)

    def __enter__(self) -> Progress:
        gc.disable()  # nothing on the way of a message refers to itself; looking for it takes a tenth of the time
        return self

    def __exit__(self, *error: object) -> None:
        gc.enable()
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __call__(self, messages: Iterator[T]) -> Iterator[T]:
        """The same messages, counted."""
        next_time = self.start
        for each in messages:
            self.n += 1
            if self._shown and (now := time.perf_counter()) > next_time:
                next_time = now + EVERY
                rate = self.n / max(now - self.start, 1e-9)
                said = f"\r\x1b[K{self.what}: {self.n:,} messages, {rate:,.0f} a second"
                print(said, end="", file=sys.stderr, flush=True)
            yield each

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self.start


def said(store: Store) -> str:
    """What a store has learned, in a line."""
    sums = store.sums()
    each = ", ".join(f"{n:,} {name}" for name, n in zip(sums.classes, sums.messages, strict=True))
    return f"{store.path}: {each}; {sums.vocabulary:,} different tokens"


def learned_line(name: str, found: Mapping[str, int], seconds: float) -> str:
    """What came of learning messages as this class."""
    known = f" ({found['known']:,} known already)" if found.get("known") else ""
    if other := found.get("other class"):
        option = f"--{name}" if name in ("spam", "ham") else f"--class {name}"
        known = known[:-1] + f", {other:,} of them as another class: suffit mail correct {option} changes that)"
    return f"learned {found['new']:,} of {found['read']:,} as {name}{known} in {seconds:.1f} s"


def examined(
    where: str, message: Message, found: Verdict, counts: Mapping[str, Sequence[int]], sums: Sums, n: int
) -> str:
    """A verdict and the words that decided, as text."""
    one, other = found.compared
    low, high = found.interval
    lines = [
        f"{where}: {message.subject or '(no subject)'}",
        f"{found.label}: p({one}) = {found.probability:.4f} ({low:.4f} to {high:.4f}); log-odds {found.log_odds:+.2f} "
        f"of {one} against {other}",
        f"{'':>9}  {'in ' + ' / '.join(sums.classes):>20}  token",
    ]
    for token, odds in found.terms[:n]:
        lines.append(f"{odds:+9.3f}  {' / '.join(map(str, counts.get(token, ()))):>20}  {token}")
    rest = found.terms[n:]
    if rest:
        lines.append(f"{sum(odds for _, odds in rest):+9.3f}  {'':>20}  {len(rest):,} other tokens together")
    lines.append(f"{found.intercept:+9.3f}  {'':>20}  before any token")
    lines += [f"note: {note}" for note in message.notes]
    return "\n".join(lines)


def explanation(
    message: Message, found: Verdict, counts: Mapping[str, Sequence[int]], classes: Sequence[str]
) -> dict[str, object]:
    """A verdict and all its terms, for machines: the log-odds are the intercept and the sum of the terms."""
    return {
        "subject": message.subject,
        "from": message.sender,
        "digest": message.digest,
        "verdict": found.label,
        "probabilities": found.probabilities,
        "interval": list(found.interval),
        "log_odds": found.log_odds,
        "compared": list(found.compared),
        "intercept": found.intercept,
        "classes": list(classes),
        "terms": [{"token": t, "log_odds": odds, "messages": list(counts.get(t, ()))} for t, odds in found.terms],
        "notes": list(message.notes),
    }


def tallied(tally: Tally, rate: float) -> dict[str, object]:
    """Verdicts beside what messages are, for machines."""
    return {
        "verdicts": {name: dict(labels) for name, labels in tally.labels.items()},
        "1-ROCA": tally.area_above,
        "calibration error": tally.calibration_error,
        "messages per second": rate,
    }


def table_of(tally: Tally, rate: float) -> str:
    """The same for people."""
    names = sorted({label for labels in tally.labels.values() for label in labels} | set(tally.labels))
    lines = [f"{'is':12}  {'messages':>8}  " + "  ".join(f"{'called ' + name:>18}" for name in names)]
    for name, labels in sorted(tally.labels.items()):
        n = labels.total()
        cells = "  ".join(f"{labels[label]:9,} {labels[label] / n:8.2%}" for label in names)
        lines.append(f"{name:12}  {n:8,}  {cells}")
    area, error = tally.area_above, tally.calibration_error
    lines.append(
        f"1-ROCA {'-' if area is None else format(area, '.4%')}: how often some ham looks more like spam than some spam"
    )
    lines.append(f"calibration error {'-' if error is None else format(error, '.4f')}; {rate:,.0f} messages a second")
    return "\n".join(lines)
