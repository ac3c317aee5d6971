"""scikit-learn without pandas and scipy.stats, which it imports before it needs them.

They take longer to import than all that a command uses.  In their place it gets modules that import the real ones when
something is asked of them; everybody else, and whoever imports them later, gets the real ones.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

LATER = ("pandas", "scipy.stats")


class _Later(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # whoever looks through all modules
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def import_scikit_learn() -> None:
    """Import what estimators need of scikit-learn, once."""
    if "sklearn.base" in sys.modules:
        return
    put_off = [name for name in LATER if name not in sys.modules]
    for name in put_off:
        sys.modules[name] = _Later(name)
    try:
        import_module("sklearn.utils")
    finally:
        for name in put_off:
            if isinstance(sys.modules.get(name), _Later):
                del sys.modules[name]
