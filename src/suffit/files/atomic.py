"""Files that are there whole or not at all: written beside the old one, which they then replace."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

LONGEST_NAME = 200  # bytes of a file name that its temporary one begins with


def write_whole(path: str | os.PathLike[str], content: bytes, what: str = "the model") -> None:
    """Make ``content`` the content of a file: at every moment it has the old content, or all of the new.

    It is written to a temporary file in the same folder, brought to the disk, and renamed.  A symbolic link stays one.
    An ``OSError`` leaves the old file as it was, and no other behind.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _mode_of(target)
        temporary = (
            target.parent / f".{os.fsdecode(os.fsencode(target.name)[:LONGEST_NAME])}.{secrets.token_hex(8)}.tmp"
        )
        try:
            _write(temporary, content, mode)
            os.replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        before = "; the file that was there is unchanged" if target.is_file() else ""
        reason = f"{what} was not saved: {error.strerror or error}{before}"
        raise OSError(error.errno, reason, os.fspath(path)) from error
    _sync_folder(target.parent)


def _mode_of(target: Path) -> int | None:
    """The permissions of the file that is to be replaced, None where there is none; refused where it may not be."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "the file is read-only")
    return stat.S_IMODE(found.st_mode)


def _write(path: Path, content: bytes, mode: int | None) -> None:
    """A new file with this content, on the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    with open(os.open(path, flags, 0o666), "wb") as file:  # less the umask, as for any new file
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk, where folders can be opened and the file system has a way."""
    if hasattr(os, "O_DIRECTORY"):
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except PermissionError:  # a folder that may be written to, and not listed
            return
        try:
            os.fsync(handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
        finally:
            os.close(handle)
