"""The contract of the filter: a message comes on standard input, and whatever happens it is not lost.

Exit codes are bogofilter's: 0 spam, 1 ham, 2 unsure, 3 error.  With ``-p`` the message goes out with one header more;
where there is no verdict the header says why, and the exit code is 0 (or, with ``--on-error=defer``, 75 and nothing
goes out, so that whoever delivers tries again).  With ``-p`` and ``-e`` every verdict exits 0.

The verdict is the daemon's, or that of a child process where no daemon answers: this process only waits, and at the
deadline goes on without it.
"""

from __future__ import annotations

import os
import sys
from select import select
from signal import ITIMER_REAL, SIG_IGN, SIGALRM, SIGKILL, SIGPIPE, SIGTERM, setitimer, signal
from time import monotonic

from .client import ask
from .places import socket_path, store_path

ERROR, TRY_AGAIN = 3, 75  # 75 is EX_TEMPFAIL of sysexits.h
DEADLINE = 20.0  # seconds for everything after the message was read
DAEMON = 2.0  # seconds that the daemon has for each step
HEADER = b"X-Suffit: "


class Options:
    """What ``suffit mail classify`` was asked for, where it reads one message from standard input."""

    __slots__ = ("daemon", "deadline", "defer", "embed", "passthrough", "say", "store")

    def __init__(self) -> None:
        self.passthrough = self.embed = self.say = self.defer = False
        self.daemon = True
        self.deadline = DEADLINE
        self.store: str | None = None

    @classmethod
    def read(cls, arguments: list[str]) -> Options | None:
        """Those of a command line; None where there is more in it than the filter knows."""
        options, coming = cls(), iter(arguments)
        for argument in coming:
            name, equals, value = argument.partition("=")
            if not name.startswith("--"):
                if not _short(options, argument):
                    return None
            elif name in ("--store", "--on-error", "--deadline"):
                found = value if equals else next(coming, None)
                if found is None or not _long(options, name, found):
                    return None
            elif equals or name not in _FLAGS:
                return None
            else:
                setattr(options, *_FLAGS[name])
        return options


_FLAGS = {
    "--passthrough": ("passthrough", True),
    "--embed": ("embed", True),
    "--verbose": ("say", True),
    "--no-daemon": ("daemon", False),
}
_LETTERS = {"p": "--passthrough", "e": "--embed", "v": "--verbose"}


def _short(options: Options, argument: str) -> bool:
    letters = argument[1:] if argument.startswith("-") else ""
    if not letters or any(letter not in _LETTERS for letter in letters):
        return False
    for letter in letters:
        setattr(options, *_FLAGS[_LETTERS[letter]])
    return True


def _long(options: Options, name: str, value: str) -> bool:
    if name == "--store":
        options.store = value
    elif name == "--on-error" and value in ("pass", "defer"):
        options.defer = value == "defer"
    elif name == "--deadline":
        try:
            options.deadline = float(value)
        except ValueError:
            return False
        return options.deadline > 0
    else:
        return False
    return True


def run(options: Options) -> int:
    """Read, judge, write; the exit code."""
    ended = _ended_by_term()
    try:
        raw = _read(0)
    except (OSError, MemoryError) as error:
        print(f"suffit: error: the message cannot be read: {error}", file=sys.stderr)
        return TRY_AGAIN if options.passthrough else ERROR
    until = monotonic() + options.deadline
    code, value = _verdict(raw, options, until)
    ended.append(True)  # from here on the message goes out, whoever asks to end
    if code == ERROR:
        print(f"suffit: {value}", file=sys.stderr)
    if options.passthrough:
        if code == ERROR and options.defer:
            return TRY_AGAIN
        if not _written(_with_header(raw, value), options.deadline):
            return TRY_AGAIN
        return 0 if code == ERROR or options.embed else code
    if options.say:
        print(f"X-Suffit: {value}")
    return code


def _ended_by_term() -> list[bool]:
    """A request to end is an exit with 75 and no output, until the list has an element."""
    writing: list[bool] = []

    def end(*_: object) -> None:
        if not writing:
            os._exit(TRY_AGAIN)

    signal(SIGTERM, end)
    signal(SIGPIPE, SIG_IGN)
    return writing


def _read(where: int) -> bytes:
    pieces = []
    while piece := os.read(where, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def _verdict(raw: bytes, options: Options, until: float) -> tuple[int, str]:
    """Exit code and header."""
    try:
        store = store_path(options.store)
        answer = None
        if options.daemon:
            answer = ask(socket_path(store), b"classify", raw, min(DAEMON, options.deadline / 4))
        if answer is None or answer.startswith(b"%d " % ERROR):
            answer = _from_child(raw, store, until)
        if answer is None:
            return ERROR, f"error; reason=no verdict within {options.deadline:g} s"
        code, _, value = answer.partition(b" ")
        return int(code), value.decode("ascii", "replace")
    except Exception as error:
        return ERROR, "error; reason=" + _one_line(error)


def _from_child(raw: bytes, store: str, until: float) -> bytes | None:
    """The answer of a process of our own; None where it did not come in time."""
    source, sink = os.pipe()
    child = os.fork()
    if not child:
        _be_child(raw, store, sink)
    os.close(sink)
    answer = b""
    try:
        while (left := until - monotonic()) > 0:
            if select([source], [], [], left)[0]:
                piece = os.read(source, 1 << 16)
                answer += piece
                if not piece:
                    return answer or b"%d error; reason=the process that classifies has ended without a verdict" % ERROR
        return None
    finally:
        os.close(source)
        os.kill(child, SIGKILL)
        os.waitpid(child, os.WNOHANG)


def _be_child(raw: bytes, store: str, sink: int) -> None:
    signal(SIGTERM, lambda *_: os._exit(1))
    try:
        from .judging import answer
        from .store import Store

        found = answer(Store.open(store), raw)  # never closed: whoever closes last has to put the log into the file
    except BaseException as error:
        found = b"%d error; reason=%s" % (ERROR, _one_line(error).encode("ascii", "replace"))
    try:
        while found:
            found = found[os.write(sink, found) :]
    finally:
        os._exit(0)


def _one_line(error: BaseException) -> str:
    said = " ".join(str(error).split()) or type(error).__name__
    return ascii(said)[1:-1][:400]


def _with_header(raw: bytes, value: str) -> bytes:
    try:
        from .verdict_header import with_header

        return with_header(raw, value)
    except Exception:  # whatever it is: the message, and a header before it
        line = HEADER + value.encode("ascii", "replace") + b"\n"
        end = raw.find(b"\n") + 1 if raw.startswith(b"From ") else 0
        return raw[:end] + line + raw[end:]


def _written(data: bytes, deadline: float) -> bool:
    """Whether all of it went to standard output in time."""
    signal(SIGALRM, lambda *_: os._exit(TRY_AGAIN))
    setitimer(ITIMER_REAL, deadline)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(1, rest) :]
    except OSError as error:
        print(f"suffit: error: the message cannot be written: {error.strerror}", file=sys.stderr)
        return False
    finally:
        setitimer(ITIMER_REAL, 0)
    return True
