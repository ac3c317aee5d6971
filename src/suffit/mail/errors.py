"""What can be wrong with a store, in words for its owner."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


class StoreError(Exception):
    """A store that cannot be used now: missing, locked, unreadable, full."""


class DamagedStoreError(StoreError):
    """A store whose content is not what was written."""


@contextmanager
def in_words(path: str) -> Iterator[None]:
    """Errors of SQLite and of the system as one sentence about the store."""
    try:
        yield
    except sqlite3.OperationalError as error:
        said = str(error)
        if "locked" in said or "busy" in said:
            raise StoreError(f"the store {path} is busy: somebody else is writing to it; try again") from error
        if "no such" in said:
            raise DamagedStoreError(f"{path} is damaged, or is no store of suffit mail ({said})") from error
        raise StoreError(f"the store {path} cannot be used: {said}") from error
    except (sqlite3.Error, UnicodeDecodeError, MemoryError) as error:
        raise DamagedStoreError(f"{path} is damaged, or is no store of suffit mail ({error})") from error
    except OSError as error:
        raise StoreError(f"the store {path} cannot be used: {error.strerror or error}") from error
