"""Asking the daemon about a message: a few lines, so that they are loaded in no time."""

from __future__ import annotations

from _socket import AF_UNIX, SOCK_STREAM, socket  # what the module socket wraps, without the time it takes to load

LONGEST = 4_096  # bytes of an answer


def ask(path: str, request: bytes, body: bytes, wait: float) -> bytes | None:
    """The daemon's answer; None where there is no daemon or it does not answer in time.

    Parameters
    ----------
    path : str
        The socket of the daemon.
    request : bytes
        ``b"classify"`` or ``b"ping"``.
    body : bytes
        The message.
    wait : float
        Seconds that each step may take.

    Examples
    --------
    >>> from suffit.mail.client import ask
    >>> ask("/nowhere/socket", b"ping", b"", 1.0) is None
    True
    """
    line = socket(AF_UNIX, SOCK_STREAM)
    try:
        line.settimeout(wait)
        line.connect(path)
        line.sendall(b"%s %d\n" % (request, len(body)))
        if body:  # who has read all there is may have answered and gone
            line.sendall(body)
        answer = b""
        while not answer.endswith(b"\n") and len(answer) < LONGEST:
            piece = line.recv(LONGEST)
            if not piece:
                return None
            answer += piece
        return answer[:-1]
    except OSError:
        return None
    finally:
        line.close()
