"""Fits over rows that are not in memory as one table: in parts, from record batches, in databases and on clusters.

Every engine does the same three things: it takes a sample of all rows (``sample.RowSample``), chooses from it what a
fit chooses from values (``parts.plan``), and adds up the sums of the parts (``parts.collect``, ``parts.total``).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    **dict.fromkeys(("fit_parts", "plan", "collect", "add", "total"), "parts"),
    **dict.fromkeys(("fit_arrow", "predict_arrow"), "arrow"),
    "read_files": "sources",
    **dict.fromkeys(("fit_sql", "sql_of", "posterior_sql"), "duckdb"),
    **dict.fromkeys(("fit_dask", "predict_dask"), "dask"),
    **dict.fromkeys(("fit_spark", "predict_spark"), "spark"),
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'suffit.engines' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
