"""The same data, the same answer: ``scripts/evaluate same`` fits every table again, written in another way.

Rows in another order, classes and categories under other names, columns in another order, numbers in other units: how
far the posteriors of test rows move, on average and at most, and what becomes of the log-loss.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from suffit import GenerativeClassifier

from . import tables
from .folds import splits
from .fuzz import loss

Labels = NDArray[np.str_]
Rewritten = tuple[pd.DataFrame, Labels, pd.DataFrame]


def _as_they_are(X: pd.DataFrame, y: Labels, T: pd.DataFrame) -> Rewritten:
    return X, y, T


def _rows_shuffled(X: pd.DataFrame, y: Labels, T: pd.DataFrame) -> Rewritten:
    order = np.random.default_rng(1).permutation(len(y))
    return X.iloc[order].reset_index(drop=True), y[order], T


def _classes_renamed(X: pd.DataFrame, y: Labels, T: pd.DataFrame) -> Rewritten:
    names = np.unique(y)
    return X, np.array([f"c{len(names) - i:04}" for i in range(len(names))])[np.searchsorted(names, y)], T


def _categories_renamed(X: pd.DataFrame, y: Labels, T: pd.DataFrame) -> Rewritten:
    def renamed(frame: pd.DataFrame) -> pd.DataFrame:
        words = [name for name in frame if not pd.api.types.is_numeric_dtype(X[name])]
        return frame.assign(
            **{name: frame[name].map(lambda v: v if pd.isna(v) else f"{str(v)[::-1]}!") for name in words}
        )

    return renamed(X), y, renamed(T)


def _columns_reversed(X: pd.DataFrame, y: Labels, T: pd.DataFrame) -> Rewritten:
    return X[X.columns[::-1]], y, T[T.columns[::-1]]


def _other_units(X: pd.DataFrame, y: Labels, T: pd.DataFrame) -> Rewritten:
    """Fractions a thousand-millionth of what they were; integers stay: they may be counts."""
    fractions = [n for n in X if X[n].dtype.kind == "f" and not (X[n].dropna() % 1 == 0).all()]
    return tuple(f.assign(**{n: f[n] * 2.0**-30 for n in fractions}) if i != 1 else f for i, f in enumerate((X, y, T)))  # type: ignore[union-attr,return-value]


WAYS: dict[str, Callable[[pd.DataFrame, Labels, pd.DataFrame], Rewritten]] = {
    "as they are": _as_they_are,
    "rows shuffled": _rows_shuffled,
    "classes renamed": _classes_renamed,
    "categories renamed": _categories_renamed,
    "columns reversed": _columns_reversed,
    "other units": _other_units,
}


def posterior(table: tables.Table, way: str) -> tuple[NDArray[np.float64], float]:
    """p(class | row) of the test rows of one fold, classes in their own order, and the log-loss."""
    learn, judge = next(iter(splits(table, 1)))
    classes = np.unique(table.y[learn])
    X, y, T = WAYS[way](table.X.iloc[learn].reset_index(drop=True), table.y[learn], table.X.iloc[judge])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GenerativeClassifier().fit(X, y)
        P = model.predict_proba(T)
    again = classes if way != "classes renamed" else WAYS[way](table.X, classes, table.X)[1]
    P = P[:, np.searchsorted(model.classes_, again)]
    return P, loss(P, classes, table.y[judge])


def run(arguments: Any) -> int:
    """Every table in every way, two at a time."""
    from joblib import Parallel, delayed

    folder = tables.data_folder()
    reason = tables.why_absent(folder)
    if reason:
        print(f"skipped: {reason}")
        return 0
    print(f"{'table':<28}{'log-loss':>9}" + "".join(f"{way:>22}" for way in list(WAYS)[1:]) + "   mean |Δp| (max)")
    moved: list[list[float]] = []
    for name in arguments.tables or tables.names(folder):
        table = tables.cut(tables.read(folder, name), arguments.most)
        (first, base), *others = Parallel(2)(delayed(posterior)(table, way) for way in WAYS)
        off = [np.abs(P - first) for P, _ in others]
        moved.append([float(d.mean()) for d in off])
        cells = "".join(f"{f'{d.mean():.1e} ({d.max():.1e})':>22}" for d in off)
        print(f"{name:<28}{base:9.4f}{cells}", flush=True)
    print(f"{'largest mean':<37}" + "".join(f"{worst:>22.1e}" for worst in np.max(moved, axis=0)))
    return 0
