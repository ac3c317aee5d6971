"""Leave-one-out of independent columns: room and values looked up."""

from __future__ import annotations

import tracemalloc

import numpy as np

import suffit


def test_leaving_out_counts_of_many_classes_takes_little_room():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 49, (5000, 20)), rng.integers(0, 50, 5000)
    model = suffit.PoissonNB().fit(X, y)
    model.loo_predict_proba(X[:50], y[:50])
    tracemalloc.start()
    try:
        model.loo_predict_proba(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30e6  # bytes; the answer has 2 MB, a table of all values of all classes would have 40
