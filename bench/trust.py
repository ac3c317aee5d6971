"""What happens to numbers, files and interrupted programs, here and with scikit-learn: ``python -m bench.trust``.

Prints the tables of docs/trust.md.  Nothing here is timed.
"""

from __future__ import annotations

import faulthandler
import io
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import discriminant_analysis, naive_bayes

import suffit
from suffit.files.store import from_bytes, to_bytes

ROWS, BATCH, FILES, KILLS = 20_000, 100, 2_000, 60


def two_classes(rng: np.random.Generator, offset: float) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns with a spread of 1, far from 0."""
    y = rng.integers(0, 2, ROWS)
    return rng.normal(size=(ROWS, 5)) @ np.triu(np.full((5, 5), 0.3), 0) + y[:, None] + offset, y


def variance_in_batches(offset: float) -> list[float]:
    """The largest relative error of a class variance after batches of a hundred rows: ours, theirs."""
    X, y = two_classes(np.random.default_rng(0), offset)
    ours, theirs = suffit.GaussianNB(var_smoothing=0), naive_bayes.GaussianNB(var_smoothing=0)
    for at in range(0, ROWS, BATCH):
        for model in (ours, theirs):
            model.partial_fit(X[at : at + BATCH], y[at : at + BATCH], classes=[0, 1])
    exact = np.stack([(X[y == c] - X[y == c][0]).astype(np.longdouble).var(axis=0) for c in (0, 1)])
    return [float(abs(model.var_ / exact - 1).max()) for model in (ours, theirs)]


def moved(make: Callable[[], Any], offset: float) -> float:
    """How far posteriors are from those of the same rows without the offset (which are exact in both)."""
    X, y = two_classes(np.random.default_rng(0), offset)
    there, here = make().fit(X, y).predict_proba(X), make().fit(X - offset, y).predict_proba(X - offset)
    return float(abs(there - here).max())


def far_rows(make: Callable[[], Any]) -> str:
    """What rows further and further out get."""
    X, y = two_classes(np.random.default_rng(0), 0.0)
    model = make().fit(X, y)
    with np.errstate(all="ignore"):
        answers = [model.predict_proba(np.full((1, 5), far)) for far in (1e10, 1e100, 1e160, 1e300)]
    finite = sum(bool(np.isfinite(p).all()) for p in answers)
    return f"{finite} of {len(answers)}"


def numbers() -> list[tuple[str, Any, Any]]:
    lda, qda = discriminant_analysis.LinearDiscriminantAnalysis, discriminant_analysis.QuadraticDiscriminantAnalysis
    batches = variance_in_batches(1e8)
    return [
        ("variance of GaussianNB after 200 batches, mean 1e8: relative error", *(f"{e:.0e}" for e in batches)),
        ("LDA, columns at 1e8: posteriors move by", f"{moved(suffit.LDA, 1e8):.0e}", f"{moved(lda, 1e8):.0e}"),
        ("QDA, columns at 1e8: posteriors move by", f"{moved(suffit.QDA, 1e8):.0e}", f"{moved(qda, 1e8):.0e}"),
        ("GaussianNB, rows at 1e10 … 1e300: a finite posterior", far_rows(suffit.GaussianNB),
         far_rows(naive_bayes.GaussianNB)),
        ("LDA, the same", far_rows(suffit.LDA), far_rows(lda)),
        ("QDA, the same", far_rows(suffit.QDA), far_rows(qda)),
    ]  # fmt: skip


def damaged(data: bytes, rng: random.Random) -> bytes:
    """One bit flipped, one byte changed, or the end cut off."""
    at = rng.randrange(len(data))
    how = rng.randrange(3)
    if how == 0:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if how == 1:
        return data[:at] + bytes([(data[at] + rng.randrange(1, 256)) % 256]) + data[at + 1 :]
    return data[:at]


def outcome(load: Callable[[bytes], Any], data: bytes, X: np.ndarray, right: np.ndarray) -> str:
    """What comes of a file, in a process of its own that may take 4 GB and 20 s."""
    ready, done = os.pipe()
    child = os.fork()
    if not child:
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        signal.alarm(20)
        try:
            found = load(data)
        except Exception:
            os._exit(os.write(done, b"refused") and 0)
        try:
            same = bool(np.array_equal(found.predict_proba(X), right))
        except Exception:
            os._exit(os.write(done, b"loads, and fails later") and 0)
        os._exit(os.write(done, b"loads, same answers" if same else b"loads, OTHER answers") and 0)
    os.close(done)
    os.waitpid(child, 0)
    said = os.read(ready, 100).decode()
    os.close(ready)
    return said or "the process dies"


def damage() -> list[tuple[str, Any, Any]]:
    """Damaged files of the same model: our file, and a pickle of scikit-learn's."""
    X, y = two_classes(np.random.default_rng(0), 0.0)
    X, y = X[:200], y[:200]
    ours, theirs = suffit.GaussianNB().fit(X, y), naive_bayes.GaussianNB().fit(X, y)
    counts: list[Counter[str]] = []
    for model, data, load in (
        (ours, to_bytes(ours), from_bytes),
        (theirs, pickle.dumps(theirs), lambda data: pickle.load(io.BytesIO(data))),
    ):
        rng, right = random.Random(0), model.predict_proba(X)
        assert outcome(load, data, X, right) == "loads, same answers"  # the file that nothing happened to
        counts.append(Counter(outcome(load, damaged(data, rng), X, right) for _ in range(FILES)))
    names = ["refused", "loads, same answers", "loads, OTHER answers", "loads, and fails later", "the process dies"]
    return [(f"{FILES:,} damaged files: {name}", counts[0][name], counts[1][name]) for name in names]


def killed(save: Callable[[Any, str], None], load: Callable[[str], Any], model: Any) -> int:
    """How often there is no model after a program that saves was killed."""
    rng, lost = random.Random(0), 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        save(model, path)
        begun = time.perf_counter()
        save(model, path)
        takes = time.perf_counter() - begun
        for _ in range(KILLS):
            child = os.fork()
            if not child:
                while True:
                    save(model, path)
            time.sleep(takes * (0.5 + 2 * rng.random()))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            try:
                load(path)
            except Exception:
                lost += 1
                save(model, path)
    return lost


def interruptions() -> list[tuple[str, Any, Any]]:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (40, 50_000)), np.arange(40) % 20
    import joblib

    ours = killed(lambda model, path: model.save(path), suffit.load, suffit.MultinomialNB().fit(X, y))
    theirs = killed(joblib.dump, joblib.load, naive_bayes.MultinomialNB().fit(X, y))
    return [(f"killed {KILLS} times while saving (joblib.dump): no model left", ours, theirs)]


def main() -> int:
    warnings.simplefilter("ignore")
    print("| | suffit | scikit-learn |\n|---|---:|---:|")
    for part in (numbers, damage, interruptions):
        for what, ours, theirs in part():
            print(f"| {what} | {ours} | {theirs} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
