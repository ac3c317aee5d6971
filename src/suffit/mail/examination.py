"""What the doctor looks at: the store, who may read it, and whether a daemon answers."""

from __future__ import annotations

import os
import stat
import time

from .client import ask
from .errors import StoreError
from .places import socket_path
from .store import Store

OTHERS = 0o077


def examined(path: str) -> list[tuple[bool, str, str]]:
    """Whether each thing is as it should be, what it is, and what was found."""
    return [*_store(path), *_permissions(path), _daemon(path)]


def _store(path: str) -> list[tuple[bool, str, str]]:
    try:
        with Store.open(path) as store:
            start = time.perf_counter()
            store.check()
            took = time.perf_counter() - start
            sums, tuned = store.sums(), store.settings().tuned_on
            scored = [(record.label, record.score) for record in store.learned() if record.score is not None]
    except (StoreError, OSError) as error:
        return [(False, "store", str(error))]
    each = ", ".join(f"{n:,} {name}" for name, n in zip(sums.classes, sums.messages, strict=True))
    settings = f"tuned on {tuned:,} messages" if tuned else "the defaults, until more was learned"
    enough = min(sums.messages[:2]) > 0
    size = f"{os.path.getsize(path) / 1e6:.1f} MB"
    return [
        (True, "store", f"{path}, {size}; every count and every message checked in {took:.1f} s"),
        (enough, "learned", each + ("" if enough else "; it needs ham and spam: suffit mail learn")),
        (True, "settings", settings),
        (True, "corrections", _record_of(scored, sums.classes)),
    ]


def _record_of(scored: list[tuple[int, float]], classes: tuple[str, ...]) -> str:
    """How the messages looked that were learned one at a time, before they were."""
    wrong = sum((score > 0) != (classes[label] == "spam") for label, score in scored)
    return f"{len(scored):,} messages learned one at a time; {wrong:,} of them had looked like the other class before"


def _permissions(path: str) -> list[tuple[bool, str, str]]:
    found = []
    for each in (path, os.path.dirname(os.path.abspath(path))):
        if os.path.exists(each):
            mode = stat.S_IMODE(os.stat(each).st_mode)
            alone = not mode & OTHERS
            advice = "" if alone else f"; others may read it: chmod go= {each}"
            found.append((alone, "permissions", f"{each}: {mode:o}{advice}"))
    return found


def _daemon(path: str) -> tuple[bool, str, str]:
    where = socket_path(path)
    if not os.path.exists(where):
        said = "none: each message is classified by a process of its own, which takes longer (suffit mail serve)"
        return True, "daemon", said
    start = time.perf_counter()
    answer = ask(where, b"ping", b"", 2.0)
    if answer is None:
        said = f"{where} does not answer: messages are classified without it; start suffit mail serve again"
        return False, "daemon", said
    took = time.perf_counter() - start
    return True, "daemon", f"{answer.partition(b' ')[2].decode()}; answers in {took * 1e3:.1f} ms at {where}"
