"""``scripts/evaluate mail``: the mail filter beside bogofilter, on halves of an archive and on streams of messages."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffit.mail.message import read_message
from suffit.mail.online import TRAIN, OnlineFilter
from suffit.posterior.calibrate import expected_calibration_error

from .mail_streams import ORDERS, Item, by_folder, halves, read_archive, read_index, read_texts, with_wrong_labels
from .tables import data_folder

HEADING = (
    "| filter | ham lost | spam called ham | unsure spam | unsure ham | 1−ROCA % | ECE | messages/s |\n"
    "|---|---|---|---|---|---|---|---|"
)


class Filter(Protocol):
    """What is compared: a verdict with a score, and learning."""

    name: str

    def judge(self, raw: bytes) -> tuple[str, float]: ...

    def learn(self, raw: bytes, label: str) -> None: ...

    def ready(self) -> None: ...


class Suffit:
    """This package's filter, in memory."""

    def __init__(self, train: str = "everything") -> None:
        self.name = "suffit" if train == "everything" else f"suffit, train {train}"
        self.online = OnlineFilter(train=train)
        self._last: tuple[bytes, tuple[str, ...]] = (b"", ())

    def judge(self, raw: bytes) -> tuple[str, float]:
        """Label and probability of spam."""
        found = self.online.judge(self._tokens(raw))
        return found.label, found.probability

    def learn(self, raw: bytes, label: str) -> None:
        """Learn a message, as the training mode has it."""
        tokens = self._tokens(raw)
        self.online.feedback(tokens, label, None if self.online.train == "everything" else self.online.judge(tokens))

    def ready(self) -> None:
        """After learning, before verdicts."""
        self.online.tune()

    def _tokens(self, raw: bytes) -> tuple[str, ...]:
        if self._last[0] is not raw:
            self._last = raw, read_message(raw).tokens
        return self._last[1]


class Bogofilter:
    """Debian's bogofilter with its default settings and a database of its own."""

    name = "bogofilter"

    def __init__(self, folder: Path) -> None:
        self.command = ["bogofilter", "-C", "-d", str(folder)]

    def judge(self, raw: bytes) -> tuple[str, float]:
        """Label and spamicity."""
        done = subprocess.run([*self.command, "-T"], input=raw, capture_output=True, check=False)
        letter, score = (done.stdout.decode().split() or ["U", "0.5"])[:2]
        return {"S": "spam", "H": "ham"}.get(letter, "unsure"), float(score)

    def learn(self, raw: bytes, label: str) -> None:
        """Register a message."""
        subprocess.run([*self.command, "-s" if label == "spam" else "-n"], input=raw, check=True)

    def ready(self) -> None:
        """Nothing to do."""


def replay(items: Sequence[Item], tested: Filter, delay: int = 0) -> Iterator[tuple[str, str, float]]:
    """Class, verdict and score of each message, before its class is told (and those of `delay` messages before it)."""
    waiting: deque[tuple[bytes, str]] = deque()
    for item in items:
        raw = item.raw()
        yield item.label, *tested.judge(raw)
        waiting.append((raw, item.told))
        if len(waiting) > delay:
            tested.learn(*waiting.popleft())


def split(train: Sequence[Item], test: Sequence[Item], tested: Filter) -> Iterator[tuple[str, str, float]]:
    """Class, verdict and score of the messages to test on, after all others have been learned."""
    for item in train:
        tested.learn(item.raw(), item.told)
    tested.ready()
    for item in test:
        yield item.label, *tested.judge(item.raw())


def roca(score: NDArray[np.float64], spam: NDArray[np.bool_]) -> float:
    """100 (1 − area under the ROC curve): how often, in %, a ham has the higher score of a ham and a spam."""
    from scipy.stats import rankdata

    n, m = spam.sum(), (~spam).sum()
    return float(100 - 100 * (rankdata(score)[spam].sum() - n * (n + 1) / 2) / (n * m)) if n and m else float("nan")


def summary(results: Sequence[tuple[str, str, float]], rate: float) -> dict[str, Any]:
    """The figures of a run."""
    label, found = np.array([r[0] for r in results]), np.array([r[1] for r in results])
    score, spam = np.array([r[2] for r in results]), np.array([r[0] for r in results]) == "spam"
    P = np.column_stack([1 - score, score])
    return {
        "messages": len(results),
        "ham": int((~spam).sum()),
        "ham_lost": int((found[~spam] == "spam").sum()),
        "spam_as_ham": float((found[spam] == "ham").mean()),
        "unsure_spam": float((found[spam] == "unsure").mean()),
        "unsure_ham": float((found[label == "ham"] == "unsure").mean()),
        "roca": roca(score, spam),
        "ece": float(expected_calibration_error(P, spam.astype(np.intp))),
        "rate": rate,
    }


def row(name: str, r: dict[str, Any]) -> str:
    """A line of the table."""
    return (
        f"| {name} | {r['ham_lost']} of {r['ham']:,} | {r['spam_as_ham']:.2%} | {r['unsure_spam']:.1%} | "
        f"{r['unsure_ham']:.2%} | {r['roca']:.4f} | {r['ece']:.4f} | {r['rate']:,.0f} |"
    )


def measured(results: Iterator[tuple[str, str, float]], total: int, learned: int, name: str) -> str:
    """The line of a run in the table, with a progress bar; the time is that of learning and verdicts together."""
    from rich.progress import track

    start = time.perf_counter()
    found = list(track(results, description=f"{name:<24}", total=total, transient=True))
    return row(name, summary(found, (total + learned) / (time.perf_counter() - start)))


def filters(arguments: argparse.Namespace, folder: Path) -> Iterator[Filter]:
    """Those to compare, each with nothing learned."""
    for train in arguments.train:
        yield Suffit(train)
    if arguments.bogofilter and shutil.which("bogofilter"):
        database = folder / "bogofilter"
        shutil.rmtree(database, ignore_errors=True)
        database.mkdir()
        yield Bogofilter(database)


def streams(arguments: argparse.Namespace) -> Iterator[tuple[str, list[Item]]]:
    """Name and messages of every stream that was asked for."""
    for index in arguments.index:
        yield index.name, read_index(index)
    for order in arguments.replay:
        path = data_folder() / "sms_spam" / "SMSSpamCollection"
        yield order, read_texts(path) if order == "sms" else ORDERS[order](read_archive(archive_of(arguments)))


def archive_of(arguments: argparse.Namespace) -> Path:
    """The archive that was asked for, or else that of the data folder."""
    path: Path = arguments.archive or data_folder() / "spamassassin.tar.gz"
    if not path.exists():
        raise SystemExit(f"skipped: no file {path}; set SUFFIT_DATA to a folder that holds it, or use --archive")
    return path


def run(arguments: argparse.Namespace) -> int:
    """Evaluate and print a table for the halves of an archive, or for each stream."""
    if arguments.bogofilter and not shutil.which("bogofilter"):
        print("bogofilter is not installed: its rows are missing")
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.index and not arguments.replay:
            items = read_archive(archive_of(arguments))
            train, test = by_folder(items, arguments.learn) if arguments.learn else halves(items)
            train = with_wrong_labels(train, arguments.wrong)
            rows = [
                measured(split(train, test, tested), len(test), len(train), tested.name)
                for tested in filters(arguments, Path(folder))
            ]
            learned, judged = (" and ".join(arguments.learn), "others") if arguments.learn else ("odd", "even ones")
            print(f"\n{len(train):,} {learned} messages learned, {len(test):,} {judged} judged\n\n{HEADING}")
            print(*rows, sep="\n", flush=True)
        for name, items in streams(arguments):
            told = with_wrong_labels(items[: arguments.most], arguments.wrong)
            rows = [
                measured(replay(told, tested, arguments.delay), len(told), len(told), tested.name)
                for tested in filters(arguments, Path(folder))
            ]
            print(f"\n{name}: {len(told):,} messages, each judged before its class is told\n\n{HEADING}")
            print(*rows, sep="\n", flush=True)
    return 0


def add_arguments(kind: argparse.ArgumentParser) -> None:
    """The options of ``scripts/evaluate mail``."""
    kind.add_argument("--index", nargs="+", type=Path, default=[], help="replay these: 'spam PATH' or 'ham PATH' lines")
    kind.add_argument("--replay", nargs="+", default=[], choices=[*ORDERS, "sms"], help="replay the archive, or sms")
    kind.add_argument("--learn", nargs="+", default=[], metavar="FOLDER", help="of the archive; the others are judged")
    kind.add_argument("--archive", type=Path, help="a tar of messages ($SUFFIT_DATA/spamassassin.tar.gz)")
    kind.add_argument("--train", nargs="+", choices=TRAIN, default=["everything"], help="what our filter learns")
    kind.add_argument("--delay", type=int, default=0, help="messages after which a class is told (0)")
    kind.add_argument("--wrong", type=float, default=0.0, help="share of classes told wrong (0)")
    kind.add_argument("--most", type=int, help="only the first messages of an index")
    kind.add_argument("--no-bogofilter", dest="bogofilter", action="store_false", help="only our filter")
    kind.set_defaults(run=run)
