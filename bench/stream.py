"""Memory and time of a fit on rows that are made on the fly: they are read once and never stored.

    python bench/stream.py [rows]              by default 100 million; one point at every power of ten and the end
    python bench/stream.py --draw              docs/figures/stream.png from bench/results/stream.json

The rows are mixed: three numbers, a count, two categories, a boolean, 2 % missing values, three classes.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

import suffit
from suffit.engines.arrow import fit_arrow

HERE = Path(__file__).resolve().parent
RESULT, PICTURE = HERE / "results" / "stream.json", HERE.parent / "docs" / "figures" / "stream.png"
BATCH = 1 << 17
CITIES, PLANS = pa.array(["Bern", "Chur", "Basel", "Visp", "Biel"]), pa.array(["free", "basic", "full"])


def batches(n: int) -> Iterator[pa.RecordBatch]:
    """n rows, a batch at a time: 16 batches are drawn, and given again and again with one column shifted a little."""
    rng = np.random.default_rng(0)
    drawn = [_batch(rng) for _ in range(16)]
    for i, start in enumerate(range(0, n, BATCH)):
        batch = drawn[i % len(drawn)]
        shifted = pa.array(batch["size"].to_numpy(zero_copy_only=False) + 1e-3 * (i % 7))
        yield batch.set_column(0, "size", shifted).slice(0, min(BATCH, n - start))


def _batch(rng: np.random.Generator) -> pa.RecordBatch:
    k = rng.choice(3, BATCH, p=[0.6, 0.3, 0.1])
    gone = rng.random(BATCH) < 0.02
    columns = {
        "size": pa.array(rng.normal(size=BATCH) + k),
        "income": pa.array(rng.gamma(2, 1 + k), mask=gone),
        "score": pa.array(rng.normal(size=BATCH) * (1 + k)),
        "visits": pa.array(rng.poisson(3 + k)),
        "city": CITIES.take(pa.array((rng.integers(0, 5, BATCH) + (rng.random(BATCH) < 0.3) * k) % 5)),
        "plan": PLANS.take(pa.array(np.minimum(rng.integers(0, 3, BATCH) + (k == 2), 2))),
        "member": pa.array(rng.random(BATCH) < 0.3 + 0.2 * k),
        "outcome": pa.array(["early", "late", "rare"]).take(pa.array(k)),
    }
    return pa.RecordBatch.from_pydict(columns)


def measure(n: int) -> list[dict[str, float]]:
    """Rows, seconds and the most memory so far, at every power of ten."""
    points: list[dict[str, float]] = []
    marks = [10**e for e in range(5, 12) if 10**e < n] + [n]
    start = time.perf_counter()

    def note(rows: int) -> None:
        while marks and rows >= marks[0]:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            points.append({"rows": marks.pop(0), "seconds": time.perf_counter() - start, "peak_mb": peak})
            print(points[-1], flush=True)

    model = fit_arrow(suffit.GenerativeClassifier(), batches(n), "outcome", progress=note)
    assert model.class_count_.sum() == n
    return points


def draw() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    points = json.loads(RESULT.read_text())
    rows, peak = [p["rows"] for p in points], [p["peak_mb"] for p in points]
    table = [r * 8 * 7 / 2**20 for r in rows]  # seven columns of eight bytes
    figure, axes = plt.subplots(figsize=(7, 3.6))
    axes.loglog(rows, table, color="#777777", lw=1.4, ls=(0, (4, 3)), label="the rows themselves, 8 bytes a cell")
    axes.loglog(rows, peak, "o-", color="#2c6fbb", lw=2, label="the whole process that fits them")
    axes.set_xlabel("rows read")
    axes.set_ylabel("MB, at most")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("A fit from a stream: memory does not grow with the rows", fontsize=11)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=110)


def main() -> None:
    if "--draw" in sys.argv:
        draw()
        return
    points = measure(int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000_000)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(points, indent=1) + "\n")


if __name__ == "__main__":
    main()
