"""Fit time against rows, columns, classes and non-zeros: ``scripts/bench growth``."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import sklearn.naive_bayes as peer
from machine import seconds
from sklearn.ensemble import HistGradientBoostingClassifier
from tasks import gaussian, words

import suffit

MOST_ROWS = 10**7  # the page shows results up to so many; fewer are only printed
RESULT = Path(__file__).resolve().parent / "results" / "growth.json"


def series(most_rows: int) -> Iterator[tuple[str, list[tuple[int, Any, Any, Any, Any]]]]:
    X, y = gaussian(most_rows, 20, 2)
    sizes = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= most_rows]
    yield "rows (×20, GaussianNB)", [(n, suffit.GaussianNB(), peer.GaussianNB(), X[:n], y[:n]) for n in sizes]
    del X  # the largest; nothing below needs as much
    gaussian.cache_clear()
    wide, y = gaussian(50_000, 640, 2)
    columns = [(p, suffit.GaussianNB(), peer.GaussianNB(), wide[:, :p].copy(), y) for p in (5, 20, 80, 320, 640)]
    yield "columns (50,000 rows, GaussianNB)", columns
    narrow = wide[:, :20].copy()
    gaussian.cache_clear()
    classes = [
        (k, suffit.GaussianNB(), peer.GaussianNB(), narrow, gaussian(50_000, 1, k)[1]) for k in (2, 8, 32, 128, 512)
    ]
    yield "classes (50,000×20, GaussianNB)", classes
    S, y = words(100_000, 100_000, 2)
    cuts = (1000, 3000, 10_000, 30_000, 100_000)
    yield (
        "non-zeros (MultinomialNB, CSR)",
        [(S[:n].nnz, suffit.MultinomialNB(), peer.MultinomialNB(), S[:n], y[:n]) for n in cuts],
    )


def default_model(most_rows: int) -> Iterator[tuple[str, list[tuple[int, Any, Any, Any, Any]]]]:
    """The default model, its trees among them, beside scikit-learn's gradient boosting."""
    both = suffit.GenerativeClassifier(), HistGradientBoostingClassifier()
    X, y = gaussian(10**6, 30, 2)
    sizes = [n for n in (10**3, 10**4, 10**5, 10**6) if n <= most_rows]
    yield "rows (×30, GenerativeClassifier)", [(n, *both, X[:n], y[:n]) for n in sizes]
    wide, y = gaussian(5_000, 160, 2)
    columns = [(p, *both, wide[:, :p].copy(), y) for p in (5, 10, 20, 40, 80, 160)]
    yield "columns (5,000 rows, GenerativeClassifier)", columns
    narrow = wide[:, :20].copy()
    classes = [(k, *both, narrow, gaussian(5_000, 1, k)[1]) for k in (2, 4, 8, 16, 32)]
    yield "classes (5,000×20, GenerativeClassifier)", classes


def main(most_rows: int = MOST_ROWS) -> None:
    out: dict[str, list[dict[str, float]]] = {}
    for along, points in chain(series(most_rows), default_model(most_rows)):
        out[along] = []
        while points:  # each is let go as soon as it is measured
            size, ours, theirs, X, y = points.pop(0)
            repeats = 3 if X.shape[0] >= 10**6 else 5
            row = {
                "size": size,
                "suffit": seconds(lambda m=ours, a=X, b=y: m.fit(a, b), repeats),
                "scikit-learn": seconds(lambda m=theirs, a=X, b=y: m.fit(a, b), repeats),
            }
            out[along].append(row)
            print(f"  {along}: {size:,}: {row['scikit-learn'] / row['suffit']:.1f}×", file=sys.stderr, flush=True)
            del ours, theirs, X, y
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"  {peak / 1e9:.1f} GB at the peak", file=sys.stderr)
    if most_rows == MOST_ROWS:
        RESULT.write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
