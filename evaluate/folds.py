"""One fold of one table: every model fitted, timed and scored; a model that fails gets the class shares."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold
from threadpoolctl import threadpool_limits

from . import models
from .boosters import PACKAGES
from .metrics import METRICS, Array
from .tables import Table

FOLDS = 5
LIMIT = 600  # seconds of the processor that a model may take for one fold
OFF = 1e-6  # how far from 1 the probabilities of a row may sum


def splits(table: Table, repeats: int) -> Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to judge by, five times for each repeat; the same for every model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes of fewer than five rows
        folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=repeats, random_state=0)
        yield from folds.split(table.X, table.y)


def run_fold(
    table: Table, share: float, learn: NDArray[np.intp], judge: NDArray[np.intp], chosen: Sequence[str]
) -> list[dict[str, Any]]:
    """A row of results for each model."""
    for name in chosen:
        warm(name)
    rows = scored(table.X.iloc[learn], table.X.iloc[judge], table.y, learn, judge, chosen)
    return [{"table": table.name, "share": share, **row} for row in rows]


def scored(
    X: Any, Z: Any, y: NDArray[np.str_], learn: NDArray[np.intp], judge: NDArray[np.intp], chosen: Sequence[str]
) -> list[dict[str, Any]]:
    """Models that learn X, with the classes y[learn], and judge Z: their scores and times.

    Times are of the processor, so that a busy machine does not lengthen them.
    """
    classes, c = np.unique(y, return_inverse=True)
    prior = np.array([(y[learn] == label).mean() for label in classes])
    results = []
    for name in chosen:
        P, times, error = probabilities(name, X, y[learn], Z, classes)
        if error:
            P = np.tile(prior, (len(judge), 1))
        scores = {metric: score(P, c[judge]) for metric, score in METRICS.items()}
        results.append({"model": name, **scores, **times, "error": error})
    return results


def probabilities(
    name: str, X: Any, y: NDArray[np.str_], Z: Any, classes: NDArray[np.str_]
) -> tuple[Array, dict[str, float], str]:
    """P (rows of Z, classes), seconds of fit and predict_proba, and why it failed ("" if it did not)."""
    times = {"fit": float("nan"), "predict": float("nan")}
    P = np.zeros((Z.shape[0], len(classes)))
    try:
        with threadpool_limits(1), warnings.catch_warnings(), np.errstate(all="ignore"), at_most(LIMIT):
            warnings.simplefilter("ignore")
            model = factory(name)
            start = time.process_time()
            model.fit(X, y)
            times["fit"] = time.process_time() - start
            start = time.process_time()
            found = model.predict_proba(Z)
            times["predict"] = time.process_time() - start
        P[:, np.searchsorted(classes, model.classes_)] = found
        if not np.all(np.abs(P.sum(1) - 1) < OFF):
            raise ValueError("probabilities that do not sum to 1, or are not finite")
    except TooSlow as late:
        return P, times, f"too slow: {late}"
    except Exception as failure:  # whatever a model raises is a result of its own
        reason = " ".join(str(failure).replace("`", "").split())[:200]
        return P, times, f"{type(failure).__name__}: {reason}"
    return P, times, ""


class TooSlow(BaseException):  # no Exception: a model that catches those goes on
    """A model has not ended in time."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """TooSlow in what runs inside, once so much processor time is over; no limit where there are no signals."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(*_: Any) -> None:
        raise TooSlow(f"more than {seconds:g} s for one fold")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def factory(name: str) -> Any:
    """A fresh model by its name."""
    return models.every()[name]()


@cache
def warm(name: str) -> None:
    """Fit on next to nothing, with few classes and with many, so that compiling and importing are in no time.

    Boosters compile nothing: their packages are imported alone.
    """
    import suffit

    if name in PACKAGES:
        import_module(PACKAGES[name])
        return
    suffit.set_threads(1)
    i = np.arange(200)
    whole = pd.DataFrame({"a": i % 7 * 1.0, "b": list("uvvv") * 50, "c": i % 30, "d": 1.5 ** (i % 11), "e": i % 2})
    for X in (whole[["a", "b"]], whole, whole.mask(i[:, None] % [11, 13, 17, 19, 23] == 0)):
        for k in (2, 4, 20):
            y = np.array([f"class {j % k}" for j in i])
            probabilities(name, X, y, X, np.unique(y))
