"""What the verbs of ``suffit mail`` do."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain, repeat, zip_longest

from ...mail.dumps import exported, imported
from ...mail.evaluation import Tally, left_out
from ...mail.examination import examined as examination
from ...mail.judging import judged_all, verdict_of
from ...mail.mailboxes import messages_in
from ...mail.message import read_message
from ...mail.online import TRAIN, wanted
from ...mail.retuning import is_due, tuned
from ...mail.server import Server
from ...mail.store import Store
from .report import Progress, examined, explanation, learned_line, said, table_of, tallied

DAY = 86_400.0


def classify(asked: Namespace) -> int:
    """Many messages: a line for each.  One on standard input is for the filter."""
    if not asked.paths or asked.passthrough:
        raise ValueError("-p, -e and standard input go together; files are classified without -p")
    with Store.open(asked.store) as store, Progress("classify", asked.quiet, asked.paths) as progress:
        for name, found in judged_all(store, progress(_mail(asked.paths))):
            if asked.json:
                print(json.dumps({"name": name, "verdict": found.label, "p": found.probability}))
            else:
                print(f"{found.label}\t{found.probability:.3f}\t{name}")
    return 0


def learn(asked: Namespace) -> int:
    """Learn folders with many messages in a transaction, one message with its own."""
    with Store.open(asked.store, write=True) as store:
        classes = _classes(asked)
        for together in [[each] for each in classes] if asked.mode == TRAIN[0] else [classes]:
            tally: dict[str, Counter[str]] = {name: Counter() for name, _ in together}
            paths = [path for _, given in together for path in given]
            with Progress("learn " + " and ".join(tally), asked.quiet, paths) as progress:
                for name, found in _learned(store, together, asked.mode, progress):
                    tally[name].update(found)
            if not asked.quiet:
                print(*(learned_line(name, found, progress.seconds) for name, found in tally.items()), sep="\n")
        _finished(store, asked.quiet, not asked.no_tune)
    return 0


def _learned(
    store: Store, classes: list[tuple[str, list[str]]], mode: str, progress: Progress
) -> Iterator[tuple[str, dict[str, int]]]:
    """Learn what the mode of training learns; a class, and how many messages of it were read, new, or known, so far.

    Where it depends on verdicts, each message is learned before the next is judged, and classes come in turns.
    """
    if mode == TRAIN[0]:
        ((name, paths),) = classes
        read = ((read_message(raw), name) for _, raw in progress(_mail(paths)))
        return (yield from zip(repeat(name), store.learn_all(read), strict=False))
    turns = zip_longest(*(zip(repeat(name), _mail(paths), strict=False) for name, paths in classes))
    for name, (_, raw) in progress(each for turn in turns for each in turn if each is not None):
        message = read_message(raw)
        found = verdict_of(store, message.tokens)
        new = wanted(mode, name, found, store.sums()) and store.learn(message, name, found.log_odds)
        yield name, {"read": 1, "new": int(new)}


def correct(asked: Namespace) -> int:
    """Put messages into the class they belong to."""
    with Store.open(asked.store, write=True) as store:
        for name, paths in _classes(asked):
            for where, raw in _mail(paths):
                message = read_message(raw)
                before = store.correct(message, name, verdict_of(store, message.tokens).log_odds)
                if not asked.quiet:
                    print(f"{where}: {name}" + (f", was {before}" if before not in (None, name) else ""))
        if is_due(store):
            _tuned(store, asked.quiet)
    return 0


def unlearn(asked: Namespace) -> int:
    """Forget messages, by what they are or by their digest."""
    mail = _mail(asked.paths) if asked.paths or not asked.digest else ()
    read = ((where, read_message(raw).digest) for where, raw in mail)
    missing = 0
    with Store.open(asked.store, write=True) as store:
        for where, digest in chain(zip(asked.digest, asked.digest, strict=True), read):
            before = store.unlearn(digest)
            missing += before is None
            if not asked.quiet:
                print(f"{where}: " + ("was never learned" if before is None else f"forgotten, was {before}"))
    return 3 if missing else 0


def explain(asked: Namespace) -> int:
    """Why a message gets its verdict."""
    with Store.open(asked.store) as store:
        for i, (where, raw) in enumerate(_mail(asked.paths)):
            message = read_message(raw)
            counts, sums, _ = store.evidence(message.tokens)
            found = verdict_of(store, message.tokens)
            if asked.json:
                print(json.dumps(explanation(message, found, counts, sums.classes), ensure_ascii=False))
            else:
                print("\n" * bool(i) + examined(where, message, found, counts, sums, asked.n))
    return 0


def evaluate(asked: Namespace) -> int:
    """Verdicts beside what messages are."""
    given = any(each is not None for each in (asked.spam, asked.ham, asked.name))
    start = time.perf_counter()
    with Store.open(asked.store) as store, Progress("evaluate", asked.quiet, [asked.store]) as progress:
        if given:
            mail = ((name, raw) for name, paths in _classes(asked) for _, raw in progress(_mail(paths)))
            found = judged_all(store, mail)
        else:
            found = progress(left_out(store))
        tally = Tally((name, each.label, each.probability) for name, each in found)
    rate = len(tally.scores) / max(time.perf_counter() - start, 1e-9)
    print(json.dumps(tallied(tally, rate)) if asked.json else table_of(tally, rate))
    return 0


def tune(asked: Namespace) -> int:
    """Choose settings from what was learned."""
    with Store.open(asked.store, write=True) as store:
        if not _tuned(store, asked.quiet, asked.lost_ham, asked.ham_loss):
            raise ValueError("there are too few learned messages to choose settings from; the defaults stay")
    return 0


def _finished(store: Store, quiet: bool = False, tune: bool = True) -> None:
    """Say what the store has now, and choose its settings where so much is new."""
    if not quiet:
        print(said(store))
    if tune and is_due(store):
        _tuned(store, quiet)


def _tuned(store: Store, quiet: bool, lost_ham: float | None = None, ham_loss: float | None = None) -> bool:
    """Whether there was enough to tune on."""
    start = time.perf_counter()
    settings = tuned(store, lost_ham, ham_loss)
    if not settings.tuned_on:
        return False
    store.put_settings(settings)
    if not quiet:
        took = time.perf_counter() - start
        print(f"tuned on {settings.tuned_on:,} messages in {took:.1f} s; spam from p = {settings.cutoff('spam'):.4f}")
    return True


def doctor(asked: Namespace) -> int:
    """Everything that can be wrong, looked at."""
    found = examination(asked.store)
    if asked.json:
        print(json.dumps([{"ok": ok, "what": what, "found": words} for ok, what, words in found]))
    else:
        for ok, what, words in found:
            print(f"{'ok' if ok else 'WRONG':5}  {what:12}  {words}")
    return 0 if all(ok for ok, _, _ in found) else 3


def export(asked: Namespace) -> int:
    """The store as text."""
    with Store.open(asked.store) as store:
        sys.stdout.buffer.writelines(exported(store, messages=not asked.counts))
    return 0


def import_(asked: Namespace) -> int:
    """Text into the store."""
    with Store.open(asked.store, write=True) as store:
        for path in asked.files or ["-"]:
            with open(0 if path == "-" else path, "rb", closefd=path != "-") as lines:
                new, known = imported(store, lines)
            print(f"{path}: {new:,} new, {known:,} known already")
        _finished(store)
    return 0


def merge(asked: Namespace) -> int:
    """Other stores into this one."""
    with Store.open(asked.store, write=True) as store:
        for path in asked.others:
            if os.path.exists(path) and os.path.samefile(path, asked.store):
                raise ValueError(f"{path} is the store itself: name another one")
            with Store.open(path) as other:
                new, both = store.merge(other)
            print(f"{path}: {new:,} new, {both:,} known to both")
        _finished(store)
    return 0


def expire(asked: Namespace) -> int:
    """Forget what was learned long ago."""
    with Store.open(asked.store, write=True) as store:
        print(f"forgotten: {store.expire(time.time() - asked.days * DAY):,} messages")
        print(said(store))
    return 0


def serve(asked: Namespace) -> int:
    """The daemon, until it is asked to end."""
    Server(asked.store).run(lambda: print(f"suffit: serving {asked.store}", file=sys.stderr, flush=True))
    return 0


def _classes(asked: Namespace) -> list[tuple[str, list[str]]]:
    """Each class with the mail that is of it."""
    found = [(name, list(paths)) for name in ("spam", "ham") if (paths := getattr(asked, name)) is not None]
    if asked.name is not None:
        found.append((asked.name, []))
    clear = len(found) == 1 or (found and not asked.paths and all(paths for _, paths in found))
    if not clear:
        raise ValueError("say what the mail is, e.g. --spam MAIL --ham MAIL, or --class NAME MAIL")
    found[0][1].extend(asked.paths)
    return found


def _mail(paths: list[str]) -> Iterator[tuple[str, bytes]]:
    """The messages of files and folders, or the one on standard input."""
    problems: list[str] = []
    for path in paths or ["-"]:
        if path == "-":
            yield "-", sys.stdin.buffer.read()
        elif not os.path.exists(path):
            raise ValueError(f"{path}: there is no such file or folder")
        else:
            yield from messages_in(path, problems)
            for problem in problems:
                print(f"suffit: note: not read: {problem}", file=sys.stderr)
            problems.clear()


DO: dict[str, Callable[[Namespace], int]] = {
    "classify": classify,
    "learn": learn,
    "correct": correct,
    "unlearn": unlearn,
    "explain": explain,
    "evaluate": evaluate,
    "tune": tune,
    "doctor": doctor,
    "export": export,
    "import": import_,
    "merge": merge,
    "expire": expire,
    "serve": serve,
}
