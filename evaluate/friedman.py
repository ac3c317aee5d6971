"""Friedman's six covariance settings: ``scripts/evaluate friedman`` writes results and the table of docs/tuning.md.

J. H. Friedman (1989), "Regularized Discriminant Analysis", Journal of the American Statistical Association 84, 165–175,
section 5: three classes of equal probability, 40 training rows in all, p = 6, 10, 20 and 40 columns, independent given
the class (the methods compared do not know that).  With i = 1 … p and

    low_i = (9(i−1)/(p−1) + 1)²,  high_i = (9(p−i)/(p−1) + 1)²,  ends_i = (9(i − (p−1)/2)/(p−1))²

1. Σ = I in every class; means 0, 3 along the first and 3 along the second axis.
2. Σ = I, 2I, 3I; means 0, 3 along the first and 4 along the second axis.
3. Σ = diag(low) in every class; means 0, μ_i = 2.5·√(low_i/p)·(p−i)/(p/2−1), and (−1)^i μ_i: where variances are small.
4. The same with μ_i = 2.5·√(low_i/p)·(i−1)/(p/2−1): where variances are large.
5. Σ = diag(low), diag(high), diag(ends); all means 0.
6. Σ as in 5; means 0, μ_i = 14/√p, and (−1)^i μ_i.

The paper draws 100 training sets and 100 test rows for each; how many there are here is in the results.  It draws the
labels of the 40 rows at random, and so do we, again where a class has fewer than two: what the paper does then we do
not know.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import suffit

ROOT = Path(__file__).resolve().parent.parent
RESULT, PAGE = ROOT / "evaluate" / "results" / "friedman.json", ROOT / "docs" / "tuning.md"
SETTINGS = {
    1: "equal, spherical",
    2: "unequal, spherical",
    3: "equal, ellipsoidal, means where variance is small",
    4: "equal, ellipsoidal, means where variance is large",
    5: "unequal, ellipsoidal, equal means",
    6: "unequal, ellipsoidal, unequal means",
}
COLUMNS, TRAIN, TEST, REPEATS = (6, 10, 20, 40), 40, 500, 40
MODELS: dict[str, Callable[[], Any]] = {
    "GDA(tie='loo', shrinkage='loo')": lambda: suffit.GDA(tie="loo", shrinkage="loo"),
    "GDA('auto', tie='loo', shrinkage='loo')": lambda: suffit.GDA("auto", tie="loo", shrinkage="loo"),
    "LDA": suffit.LDA,
    "QDA": suffit.QDA,
    "scikit-learn LDA, shrinkage='auto'": lambda: LinearDiscriminantAnalysis("lsqr", "auto"),
}
BAYES = "the true densities"
Array = NDArray[np.float64]


def distribution(setting: int, p: int) -> tuple[Array, Array]:
    """Means and variances of the three classes.  # → (3, p), (3, p)"""
    i = np.arange(1, p + 1)
    low, high = (9 * (i - 1) / (p - 1) + 1) ** 2, (9 * (p - i) / (p - 1) + 1) ** 2
    ends = (9 * (i - (p - 1) / 2) / (p - 1)) ** 2
    variances = {1: np.ones((3, p)), 2: np.outer([1, 2, 3], np.ones(p)), 3: np.stack([low] * 3)}
    variances |= {4: variances[3], 5: np.stack([low, high, ends]), 6: np.stack([low, high, ends])}
    shift = {
        3: 2.5 * np.sqrt(low / p) * (p - i) / (p / 2 - 1),
        4: 2.5 * np.sqrt(low / p) * (i - 1) / (p / 2 - 1),
        5: np.zeros(p),
        6: np.full(p, 14 / np.sqrt(p)),
    }
    if setting in shift:
        means = np.stack([np.zeros(p), shift[setting], (-1.0) ** i * shift[setting]])
    else:
        means = np.zeros((3, p))
        means[1, 0], means[2, 1] = 3.0, 3.0 if setting == 1 else 4.0
    return means, variances[setting].astype(np.float64)


def draw(setting: int, p: int, n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.int64]]:
    """Rows and their classes, at least two of each."""
    means, variances = distribution(setting, p)
    y = rng.integers(0, 3, n)
    while np.bincount(y, minlength=3).min() < 2:
        y = rng.integers(0, 3, n)
    return means[y] + np.sqrt(variances[y]) * rng.standard_normal((n, p)), y


def errors(setting: int, p: int, repeat: int) -> Iterator[tuple[str, float]]:
    """The share of test rows that each model gets wrong."""
    rng = np.random.default_rng([setting, p, repeat])
    X, y = draw(setting, p, TRAIN, rng)
    judged, truth = draw(setting, p, TEST, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of singular covariances: 40 rows and 40 columns
        for name, make in MODELS.items():
            yield name, float(np.mean(make().fit(X, y).predict(judged) != truth))
    means, variances = distribution(setting, p)
    density = [norm.logpdf(judged, m, np.sqrt(v)).sum(axis=1) for m, v in zip(means, variances, strict=True)]
    yield BAYES, float(np.mean(np.argmax(density, axis=0) != truth))


def measure(repeats: int) -> dict[str, Any]:
    """Mean errors and their standard errors, by setting, number of columns and model."""
    rows = []
    for setting in SETTINGS:
        for p in COLUMNS:
            found: dict[str, list[float]] = {}
            for repeat in range(repeats):
                for name, error in errors(setting, p, repeat):
                    found.setdefault(name, []).append(error)
            rows += [
                {"setting": setting, "p": p, "model": name, "error": float(np.mean(e)),
                 "se": float(np.std(e, ddof=1) / np.sqrt(len(e)))}
                for name, e in found.items()
            ]  # fmt: skip
    return {"train": TRAIN, "test": TEST, "repeats": repeats, "rows": rows}


def table(result: dict[str, Any]) -> list[str]:
    """Markdown: a row for every setting and number of columns, the best of the models in bold, and their means."""
    names = [*MODELS, BAYES]
    frame = {(r["setting"], r["p"], r["model"]): r["error"] for r in result["rows"]}
    lines = ["| covariances | p | " + " | ".join(names) + " |", "|---|---:|" + "---:|" * len(names)]
    for setting, text in SETTINGS.items():
        for p in COLUMNS:
            lines.append(f"| {text} | {p} | {' | '.join(_marked([frame[setting, p, n] for n in names]))} |")
    means = [float(np.mean([e for (_, _, m), e in frame.items() if m == n])) for n in names]
    lines.append(f"| **mean** | | {' | '.join(_marked(means))} |")
    return lines


def _marked(values: list[float]) -> list[str]:
    least = min(round(v, 3) for v in values[:-1])
    shown = [f"{v:.3f}" for v in values]
    return [f"**{s}**" if float(s) == least else s for s in shown[:-1]] + shown[-1:]


def write(result: dict[str, Any]) -> None:
    """Replace the table between the markers in docs/tuning.md."""
    text = (
        f"Share of {result['test']} fresh rows told wrong, mean of {result['repeats']} training sets of "
        f"{result['train']} rows (`scripts/evaluate friedman`):"
    )
    block = "<!-- friedman -->\n" + "\n".join([text, "", *table(result)]) + "\n<!-- /friedman -->"
    page = PAGE.read_text(encoding="utf-8")
    pattern = r"<!-- friedman -->.*<!-- /friedman -->"
    PAGE.write_text(re.sub(pattern, lambda _: block, page, flags=re.S), encoding="utf-8")


def run(arguments: argparse.Namespace) -> int:
    """``scripts/evaluate friedman``."""
    start = time.perf_counter()
    result = measure(arguments.repeats or REPEATS)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(result)))
    print(f"{time.perf_counter() - start:.0f} s")
    write(result)
    return 0
