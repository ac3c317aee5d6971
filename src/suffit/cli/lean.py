"""scikit-learn and Arrow without pandas and scipy.stats, which they import before they need them.

These take longer to import than all that a command uses.  In their place scikit-learn gets modules that import the
real ones when something is asked of them, and Arrow finds that pandas is not there; everybody else, and whoever imports
them later, gets the real ones.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
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


def import_arrow() -> None:
    """Import Arrow, once, without pandas where nobody has imported that yet."""
    if "pyarrow" in sys.modules or "pandas" in sys.modules:
        return
    nobody = _NoPandas()
    sys.meta_path.insert(0, nobody)
    try:
        import_module("pyarrow").array([0])  # the first array of a list looks for pandas
    except ImportError:
        from ..engines.sources import NEEDS_ARROW

        raise ImportError(NEEDS_ARROW) from None
    finally:
        sys.meta_path.remove(nobody)


class _NoPandas(MetaPathFinder):
    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("put off", name=name)
