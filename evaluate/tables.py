"""The tables: found, read, cut to size, and with cells knocked out."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
LABEL = {"titanic": "Survived"}  # where the class is not the last column
DROP = {"splice": ["Instance_name"]}  # identifiers
LEAST = 5  # rows of each class that a cut keeps, where there are as many: one for each fold


@dataclass(frozen=True)
class Table:
    """The features as pandas reads them, and the class of each row as a string."""

    name: str
    X: pd.DataFrame
    y: NDArray[np.str_]
    rows_in_file: int

    @property
    def facts(self) -> dict[str, float]:
        """What the report says of a table."""
        return {
            "rows": len(self.y), "rows_in_file": self.rows_in_file, "columns": self.X.shape[1],
            "numeric": self.X.select_dtypes("number").shape[1], "classes": len(np.unique(self.y)),
            "missing": float(self.X.isna().to_numpy().mean()),
        }  # fmt: skip


def data_folder() -> Path:
    """SUFFIT_DATA, or ../shared/data beside the repository."""
    return Path(os.environ.get("SUFFIT_DATA") or ROOT.parent / "shared" / "data")


def why_absent(folder: Path) -> str | None:
    """The reason why there is nothing to evaluate on; None when there is."""
    if not (folder / "tables").is_dir():
        return f"no folder {folder / 'tables'}; set SUFFIT_DATA to a folder that holds tables/NAME/NAME.csv"
    if not names(folder):
        return f"no table (tables/NAME/NAME.csv) in {folder}"
    return None


def names(folder: Path) -> list[str]:
    """The names of all tables, sorted."""
    return sorted(path.name for path in (folder / "tables").iterdir() if path.is_dir() and files(folder, path.name))


def files(folder: Path, name: str) -> list[Path]:
    """NAME.csv; or NAME_train.csv and NAME_test.csv, which are read as one."""
    home = folder / "tables" / name
    whole, parts = home / f"{name}.csv", [home / f"{name}_train.csv", home / f"{name}_test.csv"]
    return [whole] if whole.exists() else [path for path in parts if path.exists()]


def read(folder: Path, name: str) -> Table:
    """One table as pandas reads it, but that only an empty field is missing; rows without a class are left out."""
    paths = files(folder, name)
    columns = pd.read_csv(paths[0], nrows=0).columns
    label = LABEL.get(name, columns[-1])
    read_one = partial(pd.read_csv, dtype={label: str}, keep_default_na=False, na_values=[""], low_memory=False)
    frame = pd.concat([read_one(path) for path in paths], ignore_index=True)
    known = frame[frame[label].notna()].reset_index(drop=True)
    X = known.drop(columns=[label, *DROP.get(name, [])])
    return Table(name, X, known[label].to_numpy(dtype=str), len(known))


def cut(table: Table, most: int) -> Table:
    """At most about ``most`` rows, each class by its share, the same rows every time."""
    n = len(table.y)
    if n <= most:
        return table
    rng = seeded(table.name)
    kept = []
    for label in np.unique(table.y):
        rows = np.flatnonzero(table.y == label)
        size = max(round(len(rows) * most / n), min(LEAST, len(rows)))
        kept.append(rng.choice(rows, size, replace=False))
    rows = np.sort(np.concatenate(kept))
    return replace(table, X=table.X.iloc[rows].reset_index(drop=True), y=table.y[rows])


def knock_out(table: Table, share: float) -> Table:
    """Without that share of the cells, completely at random; a larger share takes the same cells and more."""
    gone = seeded(table.name).random(table.X.shape) < share
    return replace(table, X=table.X.mask(gone))


def seeded(name: str) -> np.random.Generator:
    """A generator of a table's own: the same rows and cells whichever tables are run."""
    return np.random.default_rng(zlib.crc32(name.encode()))
