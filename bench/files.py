"""``suffit fit`` on large CSV and Parquet files against the script that a user of scikit-learn would write.

    scripts/bench files [--quick]          12 million rows (1 GB of CSV), or half a million, in a temporary folder

Both read the file, take missing values and categories as they come, and fit; in turns, each in a process of its own:
seconds of wall clock, seconds of all cores together, and the most memory; last, how many times as much
the scripts take.  Results: bench/results/files.json
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet
from stream import batches

RESULT = Path(__file__).resolve().parent / "results" / "files.json"
GIGABYTE = 12_000_000  # rows, as CSV
TURNS = 2

USUAL = """
import sys
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

path, model = sys.argv[1:]
table = pd.read_parquet(path) if path.endswith("parquet") else pd.read_csv(path)
X, y = table.drop(columns="outcome"), table["outcome"]
numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(sparse_output=False))
parts = make_column_transformer(
    (numbers, make_column_selector(dtype_include="number")),
    (words, make_column_selector(dtype_exclude="number")),
)
last = LogisticRegression() if model == "logistic" else GaussianNB()
make_pipeline(parts, last).fit(X, y)
"""


def written(folder: Path, n: int) -> list[Path]:
    """n rows as CSV and as Parquet."""
    paths = [folder / "rows.csv", folder / "rows.parquet"]
    writers = None
    with pa.OSFile(str(paths[0]), "wb") as out:
        for batch in batches(n):
            writers = writers or (csv.CSVWriter(out, batch.schema), parquet.ParquetWriter(paths[1], batch.schema))
            for writer in writers:
                writer.write_batch(batch)
        for writer in writers or ():
            writer.close()
    return paths


def measured(command: list[str]) -> dict[str, float]:
    """A process: its wall-clock seconds, the seconds of its cores, and its peak of memory."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return {
        "seconds": round(time.perf_counter() - start, 2),
        "core_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_mb": round(used.ru_maxrss / 1024),
    }


def ratios(found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """How many times as much as ours the others take, of each file."""
    out = {}
    for key, one in found.items():
        file, name = key.split(": ")
        if name != "suffit":
            ours = found[f"{file}: suffit"]
            out[key] = {what: round(one[what] / ours[what], 2) for what in one}
    return out


def main(n: int) -> None:
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in written(Path(folder), n):
            model = str(Path(folder) / "model.suffit")
            tasks = {
                "suffit": [sys.executable, "-m", "suffit", "fit", str(path), "-t", "outcome", "-o", model, "-q"],
                "GaussianNB": [sys.executable, "-c", USUAL, str(path), "naive"],
                "LogisticRegression": [sys.executable, "-c", USUAL, str(path), "logistic"],
            }
            for _ in range(TURNS):
                for name, command in tasks.items():
                    one = measured(command)
                    key = f"{path.suffix[1:]}, {path.stat().st_size / 2**20:.0f} MB: {name}"
                    best = found.get(key)
                    found[key] = one if best is None or one["core_seconds"] < best["core_seconds"] else best
                    print(key, one, flush=True)
    RESULT.write_text(json.dumps({"rows": n, "tasks": found, "ratios": ratios(found)}, indent=1) + "\n")
    for key, one in ratios(found).items():
        print(key, one)
