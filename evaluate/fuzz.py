"""Random tables of every kind: does the default model keep its word where nobody has looked?

``scripts/evaluate fuzz [N] [seed]`` draws N tables of mixed columns with known classes, learns from a few rows and is
judged on 1,000 fresh ones.  Three laws:

1. no worse than the class shares: log-loss ≤ 1.1·that of the shares + 0.05;
2. no worse than its own naive member, calibrated: log-loss ≤ 1.3·its + 0.1;
3. its promise is kept: log-loss ≤ 1.5·the leave-one-out loss that ``selection_`` reports + 0.15, in 99 % of the tables.

Every table has its own seed, so that one that fails can be looked at alone: ``scripts/evaluate fuzz 1 SEED``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffit import GenerativeClassifier

Array = NDArray[np.float64]
Column = NDArray[Any]

TEST_ROWS = 1_000
LEAST = 1e-15  # probability: no model is judged by a loss beyond −log of this
KEPT = 0.99  # share of the tables in which the promise must be kept


class Limits(NamedTuple):
    """log-loss ≤ (1 + share)·other + more."""

    share: float
    more: float

    def kept(self, loss: float, other: float) -> bool:
        return loss <= (1 + self.share) * other + self.more


SHARES, NAIVE, PROMISE = Limits(0.10, 0.05), Limits(0.30, 0.10), Limits(0.50, 0.15)


# --- columns: a function of the classes of all rows; how strongly classes differ is drawn for each column


def continuous(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    """Normal, means apart by some deviations, perhaps with variances of their own; at any scale and offset."""
    means = rng.normal(size=K) * rng.choice([0, 0.3, 1.0, 3.0])
    deviations = np.exp(rng.normal(size=K) * rng.choice([0, 0.5]))
    x = means[c] + deviations[c] * rng.normal(size=len(c))
    return (x + rng.choice([0, 0, 10, 1000])) * 10.0 ** rng.integers(-9, 10)


def log_normal(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    return np.exp(rng.normal(size=K)[c] * rng.choice([0, 0.5, 2.0]) + rng.normal(size=len(c)))


def heavy_tailed(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    return rng.normal(size=K)[c] * rng.choice([0, 1.0, 5.0]) + rng.standard_t(rng.choice([1, 2, 3]), size=len(c))


def counts(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    return rng.poisson(np.exp(rng.normal(size=K) * rng.choice([0, 0.5, 1.5]) + rng.normal())[c]).astype(np.int64)


def integers(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    """Integers of a few or of many values, shifted by the class."""
    width = int(rng.choice([3, 10, 100, 10_000]))
    return rng.integers(0, width, len(c)) + (rng.integers(0, width, K) * rng.integers(0, 2))[c]


def categories(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    """From two categories to as many as rows; some classes never have some of them."""
    many = int(rng.choice([2, 3, 5, 10, 30, max(30, len(c) // 10)]))
    shares = rng.dirichlet(np.full(many, rng.choice([0.1, 1.0, 10.0])), K)
    shares = shares if rng.random() < 0.7 else np.repeat(shares[:1], K, axis=0)
    codes = (rng.random(len(c))[:, None] > np.cumsum(shares, axis=1)[c]).sum(axis=1)
    return np.array([f"v{i}" for i in range(many + 1)], dtype=object)[codes]


def binary(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    shares = rng.beta(*rng.choice([[0.3, 0.3], [1, 1], [20, 20]]), size=K)
    x = rng.random(len(c)) < shares[c]
    return x if rng.random() < 0.5 else x.astype(np.int64)


def constant(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    return np.full(len(c), rng.choice([0.0, 1.0, 3.7e8]))


def zero_inflated(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    zero = rng.random(len(c)) < rng.beta(1, 1, K)[c]
    return np.where(zero, 0.0, np.exp(rng.normal(size=len(c)) + rng.normal(size=K)[c]))


def identifier(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    return rng.permutation(len(c)) if rng.random() < 0.5 else np.array([f"id{i}" for i in range(len(c))], dtype=object)


def separating(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    """The class itself: as categories, as numbers without spread, or with next to none; or one class apart."""
    kind, values = rng.integers(4), rng.permutation(K)
    if kind == 0:
        return np.array([f"k{i}" for i in range(K)], dtype=object)[values[c]]
    if kind == 1:
        return values[c].astype(np.float64)
    if kind == 2:
        return values[c] + 1e-3 * rng.normal(size=len(c))
    return c == 0


def nearly_separating(c: NDArray[np.int64], K: int, rng: np.random.Generator) -> Column:
    """The same, wrong in a few rows."""
    wrong = rng.random(len(c)) < rng.choice([0.01, 0.05])
    return separating(np.where(wrong, rng.integers(0, K, len(c)), c), K, rng)


COLUMNS: dict[Callable[[NDArray[np.int64], int, np.random.Generator], Column], float] = {
    continuous: 5, log_normal: 2, heavy_tailed: 1, counts: 2, integers: 2, categories: 4, binary: 2, constant: 0.5,
    zero_inflated: 1, identifier: 0.5, separating: 0.4, nearly_separating: 0.6,
}  # fmt: skip


class Table(NamedTuple):
    """Rows to learn from, and fresh ones with classes that those have."""

    learn: dict[str, Column]
    labels: Column
    judge: dict[str, Column]
    truth: Column


def drawn(seed: int) -> Table:
    """A random table: 2–12 classes with skewed shares, 30–1,500 rows, 1–20 columns, 0–30 % of the cells missing."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 13)) if rng.random() < 0.5 else int(rng.integers(2, 4))
    n, p = int(np.exp(rng.uniform(np.log(30), np.log(1_500)))), int(rng.integers(1, 21))
    shares = rng.dirichlet(np.full(K, rng.choice([0.5, 2.0, 50.0])))
    c = rng.choice(K, size=n + TEST_ROWS, p=shares)
    while len(np.unique(c[:n])) < 2:
        c = rng.choice(K, size=n + TEST_ROWS)
    kinds, weights = list(COLUMNS), np.array(list(COLUMNS.values()))
    columns = {
        f"{kinds[k].__name__} {j}": kinds[k](c, K, rng)
        for j, k in enumerate(rng.choice(len(kinds), size=p, p=weights / weights.sum()))
    }
    if p > 1 and rng.random() < 0.3:  # columns that depend on each other
        columns = _correlated(columns, rng)
    missing = rng.choice([0, 0, 0.05, 0.3])
    columns = {name: _with_missing(x, rng.random(len(x)) < missing) for name, x in columns.items()}
    known = np.isin(c[n:], c[:n])
    judge = {name: x[n:][known] for name, x in columns.items()}
    y = np.array([f"class {i}" for i in range(K)])
    return Table({name: x[:n] for name, x in columns.items()}, y[c[:n]], judge, y[c[n:][known]])


def _correlated(columns: dict[str, Column], rng: np.random.Generator) -> dict[str, Column]:
    """Continuous columns with a share of one of them added to all others."""
    names = [name for name in columns if name.startswith("continuous")]
    z = {name: (columns[name] - columns[name].mean()) / (columns[name].std() or 1.0) for name in names}
    share = rng.choice([0.3, 1.0, 3.0])
    return {name: z[name] + share * z[names[0]] if name in names[1:] else x for name, x in columns.items()}


def _with_missing(x: Column, gone: NDArray[np.bool_]) -> Column:
    if not gone.any():
        return x
    x = x.astype(np.float64) if x.dtype.kind in "if" else x.astype(object)
    x[gone] = np.nan if x.dtype.kind == "f" else None
    return x


# --- judging


class Found(NamedTuple):
    """What one table showed: log-losses on fresh rows, and the one promised."""

    seed: int
    rows: int
    columns: int
    classes: int
    default: float
    naive: float
    shares: float
    promise: float
    seconds: float

    def broken(self) -> list[str]:
        """The laws that this table breaks."""
        laws = {"shares": (SHARES, self.shares), "naive": (NAIVE, self.naive), "promise": (PROMISE, self.promise)}
        return [name for name, (limits, other) in laws.items() if not limits.kept(self.default, other)]


def loss(P: Array, classes: Column, truth: Column) -> float:
    """−mean log p(truth)."""
    return float(-np.log(np.maximum(P[np.arange(len(truth)), np.searchsorted(classes, truth)], LEAST)).mean())


def tried(seed: int) -> Found:
    """One table, learned and judged."""
    table = drawn(seed)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GenerativeClassifier().fit(table.learn, table.labels)
        seconds = time.perf_counter() - start
        naive = GenerativeClassifier(structure="naive", calibrate="temperature").fit(table.learn, table.labels)
        default, plain = (loss(m.predict_proba(table.judge), m.classes_, table.truth) for m in (model, naive))
    classes, counts = np.unique(table.labels, return_counts=True)
    shares = np.broadcast_to(counts / counts.sum(), (len(table.truth), len(classes)))
    promise = model.selection_.loss if model.selection_ is not None else np.nan
    facts = (len(table.labels), len(table.learn), len(classes))
    return Found(seed, *facts, default, plain, loss(shares, classes, table.truth), promise, seconds)


def run(n: int, seed: int) -> int:
    """Try n tables, print those that break a law, and say whether all is well."""
    from joblib import Parallel, delayed
    from rich.progress import track

    calls = Parallel(2, return_as="generator")(delayed(tried)(seed + i) for i in range(n))
    found = list(track(calls, f"{n} random tables", n))
    heads = ("seed", "rows", "columns", "classes", "default", "naive", "shares", "promise")
    print("".join(f"{head:>9}" for head in heads) + "  worse than")
    for one in found:
        if one.broken():
            losses = "".join(f"{v:9.3f}" for v in (one.default, one.naive, one.shares, one.promise))
            print(f"{one.seed:9}{one.rows:9}{one.columns:9}{one.classes:9}{losses}  {', '.join(one.broken())}")
    broken = {law: sum(law in one.broken() for one in found) for law in ("shares", "naive", "promise")}
    means = {
        name: np.mean([getattr(one, name) for one in found])
        for name in ("default", "naive", "shares", "promise", "seconds")
    }
    print(f"{n} tables from seed {seed}; mean log-loss: " + ", ".join(f"{k} {v:.4f}" for k, v in means.items()))
    print(", ".join(f"worse than {law}: {count}" for law, count in broken.items()))
    return int(bool(broken["shares"] or broken["naive"] or broken["promise"] > (1 - KEPT) * n))
