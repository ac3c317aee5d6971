"""The daemon: a warm store behind a socket that only its owner can reach."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import threading
from collections.abc import Callable

from .errors import StoreError
from .judging import ERROR, answer
from .places import socket_path
from .store import Store

LARGEST = 256 << 20  # bytes of a message
PATIENCE = 30.0  # seconds that a client may take for each step
AT_ONCE = 64  # clients
LONGEST_PATH = 100  # bytes that the address of a unix socket may have


class Server:
    """Answers the requests ``classify`` and ``ping`` of :func:`suffit.mail.client.ask`."""

    def __init__(self, path: str) -> None:
        self.path, self.answered = path, 0
        self._store: Store | None = None
        self._file: tuple[int, int] | None = None
        self._turn = threading.Lock()
        self._room = threading.BoundedSemaphore(AT_ONCE)
        self._lock, self._listening = _listening(socket_path(path))

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until a request to end comes (SIGTERM or SIGINT)."""

        def end(*_: object) -> None:
            raise SystemExit(0)

        signal.signal(signal.SIGTERM, end)
        signal.signal(signal.SIGINT, end)
        ready()
        try:
            while True:
                line, _ = self._listening.accept()
                self._room.acquire()
                threading.Thread(target=self._serve, args=(line,), daemon=True).start()
        finally:
            os.unlink(socket_path(self.path))
            self._listening.close()

    def _serve(self, line: socket.socket) -> None:
        try:
            with line:
                line.settimeout(PATIENCE)
                if _uid(line) not in (0, os.getuid()):
                    return
                request, body = _request(line)
                if request == b"ping":
                    line.sendall(b"0 pid %d, %d messages classified\n" % (os.getpid(), self.answered))
                elif request == b"classify":
                    line.sendall(self._classified(body) + b"\n")
        except (OSError, ValueError):
            pass  # whoever asked has gone, or did not ask anything
        finally:
            self._room.release()

    def _classified(self, raw: bytes) -> bytes:
        with self._turn:
            try:
                found = answer(self._opened(), raw)
                self.answered += 1
                return found
            except Exception as error:
                if self._store is not None:
                    self._store.close()
                    self._store = None
                return b"%d error; reason=%s" % (ERROR, ascii(" ".join(str(error).split()))[1:-1][:400].encode())

    def _opened(self) -> Store:
        """The store, opened again where its file was replaced."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise StoreError(f"the store {self.path} cannot be used: {error.strerror}") from None
        file = found.st_dev, found.st_ino
        if self._store is None or file != self._file:
            if self._store is not None:
                self._store.close()
            self._store, self._file = Store.open(self.path), file
        return self._store


def _listening(path: str) -> tuple[int, socket.socket]:
    """The one socket of this store; where another daemon has it, an error."""
    folder = os.path.dirname(path)
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise StoreError(f"the address of the socket is too long, {path}: put the store where its path is shorter")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.stat(folder).st_mode & 0o077 or os.stat(folder).st_uid != os.getuid():
        raise StoreError(f"others can reach the folder {folder} of the socket: chmod 700 {folder}")
    lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise StoreError(f"another daemon serves this store already: {path}") from None
    if os.path.exists(path):
        os.unlink(path)  # of a daemon that was killed
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listening.bind(path)
    finally:
        os.umask(before)
    listening.listen(AT_ONCE)
    return lock, listening


def _uid(line: socket.socket) -> int:
    """Who is at the other end."""
    if not hasattr(socket, "SO_PEERCRED"):
        return os.getuid()  # the folder keeps others away
    _, uid, _ = struct.unpack("3i", line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return uid


def _request(line: socket.socket) -> tuple[bytes, bytes]:
    """The word and the bytes of a request."""
    data = bytearray(line.recv(1 << 16))
    while b"\n" not in data[:64]:
        piece = line.recv(1 << 16)
        if not piece or len(data) > 64:
            raise ValueError("no request")
        data += piece
    head, _, body = data.partition(b"\n")
    word, _, length = bytes(head).partition(b" ")
    n = int(length)
    if not 0 <= n <= LARGEST:
        raise ValueError("too large")
    while len(body) < n:
        piece = line.recv(1 << 20)
        if not piece:
            raise ValueError("cut short")
        body += piece
    return word, bytes(body)
