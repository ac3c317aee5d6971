"""Where compiled kernels are kept: in numba's cache folder, in a folder of ours that is named after their sources.

numba looks at a kernel's own file to tell whether a cached one is still good, and not at the helpers that are compiled
into it.  A folder whose name holds a digest of all sources, and of the versions that compile them, cannot hold anything
stale: whatever changes, the name does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache

SOURCES = Path(__file__).resolve().parent.parent
OLDER = 3  # folders of other sources or versions that stay, those used last: environments may share a place
WARM = "warm"  # a file that marks a folder as complete: such a one is good even where it cannot be written to


def digest() -> str:
    """Of the sources of all kernels and of what compiles them."""
    found = hashlib.sha256(" ".join((numba.__version__, llvmlite.__version__, np.__version__)).encode())
    for source in sorted(SOURCES.rglob("*.py")):
        found.update(f"\n{source.relative_to(SOURCES).as_posix()}\n".encode())
        found.update(source.read_bytes())
    return found.hexdigest()[:16]


FOLDER = f"suffit-{digest()}"


class _InOurFolder:
    """A place that numba has for a kernel, one folder deeper."""

    def get_cache_path(self) -> str:
        above = super().get_cache_path()  # type: ignore[misc]
        _tidied(above)
        return os.path.join(above, FOLDER)

    def ensure_cache_path(self) -> None:
        if not os.path.exists(os.path.join(self.get_cache_path(), WARM)):
            super().ensure_cache_path()  # type: ignore[misc]  # fails where it cannot be written to


@cache
def _tidied(above: str) -> None:
    """Mark our folder as used now; before it is made, remove those of other sources that were not used for longest.

    A process that still uses one of them finds nothing there and compiles; no order of events makes an error of it.
    """
    with suppress(OSError):
        if os.path.isdir(os.path.join(above, FOLDER)):
            os.utime(os.path.join(above, FOLDER))
            return
        others = [entry for entry in os.scandir(above) if entry.name.startswith("suffit-") and entry.is_dir()]
        for entry in sorted(others, key=lambda entry: entry.stat().st_mtime)[:-OLDER]:
            shutil.rmtree(entry.path, ignore_errors=True)


class _Files(CompileResultCacheImpl):
    _locator_classes: Any = [  # noqa: RUF012
        type(place.__name__, (_InOurFolder, place), {}) for place in CompileResultCacheImpl._locator_classes
    ]


_places: set[str] = set()  # folders that kernels of this process are kept in


def places() -> list[str]:
    """The folders that kernels of this process are kept in."""
    return sorted(_places)


def mark_complete() -> None:
    """Say that everything is compiled: the folder is then good for those, too, who may not write to it."""
    for place in _places:
        with suppress(OSError):
            os.makedirs(place, exist_ok=True)
            Path(place, WARM).touch()


class KernelCache(FunctionCache):
    """A cache that cannot be read or written (full disk, damaged file) costs a compilation, never an error."""

    _impl_class = _Files

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        _places.add(self.cache_path)

    def save_overload(self, *arguments: object) -> None:
        """Keep a kernel, where that is possible."""
        with suppress(Exception):  # a full disk, or an index that another process has left damaged
            super().save_overload(*arguments)  # type: ignore[no-untyped-call]

    def load_overload(self, *arguments: object) -> Any:
        """A kernel, where it is there."""
        try:
            return super().load_overload(*arguments)  # type: ignore[no-untyped-call]
        except Exception:  # whatever a damaged cache file holds, compiling anew is the answer
            return None
