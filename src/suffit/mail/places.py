"""Where the store and its socket are, and who may read them: their owner alone."""

from __future__ import annotations

import os

FILE, SOCKET = "store.sqlite", "socket"


def store_path(given: str | None = None) -> str:
    """The file of the store: as given, as ``$SUFFIT_MAIL`` says, or in the user's folder for data.

    Examples
    --------
    >>> from suffit.mail.places import store_path
    >>> store_path("work.sqlite")
    'work.sqlite'
    """
    if given is None:
        given = os.environ.get("SUFFIT_MAIL") or None
    if given is None:
        data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        given = os.path.join(data, "suffit-mail", FILE)
    return os.path.join(given, FILE) if os.path.isdir(given) else given


def socket_path(store: str) -> str:
    """The socket of the daemon that serves a store, beside it."""
    path = os.path.abspath(store)
    return path.removesuffix(".sqlite") + "." + SOCKET


def create(path: str) -> None:
    """Make an empty file for a store (0600), and its folder (0700) where there is none."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
