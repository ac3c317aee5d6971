"""``suffit demo``: the main job on a real table, beside logistic regression and a forest.

The table is palmerpenguins (A. M. Horst, A. P. Hill, K. B. Gorman, 2020), which its authors gave to the public domain
(CC0): 344 penguins of three species, measured at Palmer Station, some of them incompletely.
"""

from __future__ import annotations

import csv
import os
import time
from importlib.resources import files
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ..comparison.matrix import TableMatrix
from ..comparison.study import compare
from ..data.column import as_objects
from ..data.errors import InputError
from ..estimators.tables import GenerativeClassifier
from ..files.atomic import write_whole
from ..posterior.calibrate import expected_calibration_error, log_loss
from .picture import posterior_picture

TARGET = "species"
NUMBERS = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
CATEGORIES = ("island", "sex")
LOST = 0.2  # share of the cells that are taken away
EXPERT = 0.02  # what an expert's look at a bird costs, where an error costs 1

Columns = dict[str, np.ndarray]


def penguins() -> tuple[Columns, np.ndarray]:
    """The columns of the table and the species of each bird; an empty cell is None."""
    rows = list(csv.DictReader((files("suffit.cli") / "penguins.csv").read_text(encoding="utf-8").splitlines()))
    read = {name: float if name in NUMBERS else str for name in (*CATEGORIES, *NUMBERS)}
    columns = {n: as_objects([kind(row[n]) if row[n] else None for row in rows]) for n, kind in read.items()}
    return columns, np.array([row[TARGET] for row in rows])


def some(columns: Columns, which: np.ndarray | slice) -> Columns:
    """Some of the rows."""
    return {name: values[which] for name, values in columns.items()}


def shuffled(n: int) -> np.ndarray:
    """The numbers up to n in some order, always the same: neighbours in the table are pairs of birds."""
    return np.random.default_rng(0).permutation(n)


def with_less(columns: Columns) -> Columns:
    """The same table with a share of its cells empty."""
    rng = np.random.default_rng(0)
    return {n: as_objects([None if rng.random() < LOST else v for v in values]) for n, values in columns.items()}


def models() -> dict[str, object]:
    """What is compared, by the name it is shown under."""
    return {
        "GenerativeClassifier": GenerativeClassifier(),
        "logistic regression*": make_pipeline(TableMatrix(), LogisticRegression(max_iter=1000)),
        "random forest*": make_pipeline(TableMatrix(), RandomForestClassifier(200, random_state=0)),
    }


def comparison(columns: Columns, y: np.ndarray) -> Table:
    """Held-out scores of each model, on the table as it is and with cells taken away."""
    title = "Held out, 5 folds (less is better, but for accuracy)"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("", "log-loss", "accuracy", "calibration\nerror", f"log-loss,\n{LOST:.0%} lost", "fit"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    codes = np.unique(y, return_inverse=True)[1].astype(np.int32)
    held, less = (
        compare(rows, y, models(), curves=False, robustness=False, progress=False).held
        for rows in (columns, with_less(columns))
    )
    for name in held:
        P = held[name].proba
        scores = [log_loss(P, codes), (P.argmax(1) == codes).mean(), expected_calibration_error(P, codes)]
        cells = [f"{value:.3f}" for value in (*scores, log_loss(less[name].proba, codes))]
        table.add_row(name, *cells, f"{1e3 * held[name].mean['fit']:.0f} ms")
    return table


def decision(columns: Columns, y: np.ndarray) -> str:
    """An error, or an expert's look: what deciding by cost saves on birds that the model has not seen."""
    half = shuffled(len(y)) % 2 == 0
    model, rows, truth = GenerativeClassifier().fit(some(columns, half), y[half]), some(columns, ~half), y[~half]
    decided = model.decide(rows, reject=EXPERT)
    asked, wrong = (
        int(decided.rejected.sum()),
        int((decided.labels[~decided.rejected] != truth[~decided.rejected]).sum()),
    )
    always = int((model.predict(rows) != truth).sum())
    return (
        f"An error costs 1, an expert's look {EXPERT}: of {len(truth)} new birds an expert looks at {asked}, and "
        f"{wrong} of the others are misclassified, which costs {wrong + EXPERT * asked:.2f}; deciding always costs "
        f"{always}."
    )


def adding_up(model: GenerativeClassifier, columns: Columns, y: np.ndarray) -> list[str]:
    """Parts add up, and rows can be taken out again: as equal as rounding lets them be."""
    parts = [shuffled(len(y)) % 2 == i for i in (0, 1)]
    halves = [GenerativeClassifier(columns=model.schema_).fit(some(columns, rows), y[rows]) for rows in parts]
    gap = np.abs((halves[0] + halves[1]).predict_proba(columns) - model.predict_proba(columns)).max()
    rest = np.arange(len(y)) != 7
    without = GenerativeClassifier(columns=model.schema_).fit(some(columns, rest), y[rest])
    forgetful = (halves[0] + halves[1]).forget(some(columns, ~rest), y[~rest])
    gone = np.abs(forgetful.predict_proba(columns) - without.predict_proba(columns)).max()
    return [
        f"Two halves fitted apart and merged are the fit on all rows: probabilities differ by {gap:.0e}.",
        f"A bird forgotten is a fit without it: probabilities differ by {gone:.0e}.",
    ]


def main(folder: str, console: Console | None = None) -> None:
    """Print everything, and leave the table, the model and a picture in a folder."""
    console = console or Console(highlight=False)
    _check_place(Path(folder))
    start = time.perf_counter()
    columns, y = penguins()
    empty = sum(value is None for values in columns.values() for value in values.tolist())
    console.print(
        f"[bold]{len(y)} penguins[/bold] of three species: island, sex, bill length and depth, flipper length, mass; "
        f"{empty} cells are empty. Which species is a bird?\n"
    )
    console.print(comparison(columns, y))
    console.print(f"{LOST:.0%} lost: with so many cells emptied at random.")
    console.print("*: after filling missing values, scaling and one-hot coding; the first needs none of these.\n")
    model = GenerativeClassifier().fit(columns, y)
    console.print("[bold]Why?[/bold] Bird 38, " + model.why(some(columns, slice(37, 38)), n=4))
    console.print("\n[bold]What to do about it.[/bold] " + decision(columns, y))
    console.print("\n[bold]The model is sums.[/bold] " + "\n".join(adding_up(model, columns, y)))
    left_behind(model, columns, y, Path(folder))
    console.print(
        f"\nIn {folder}: the table penguins.csv, the model penguins.suffit and a picture, penguins.svg "
        f"({time.perf_counter() - start:.0f} s in all)."
    )
    console.print(f"Next: suffit show {folder}/penguins.suffit")


def left_behind(model: GenerativeClassifier, columns: Columns, y: np.ndarray, folder: Path) -> None:
    """The table, the model and the picture, as files."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "penguins.csv", (files("suffit.cli") / "penguins.csv").read_bytes(), "the table")
    model.save(folder / "penguins.suffit")
    write_whole(folder / "penguins.svg", posterior_picture(model, columns, y).encode(), "the picture")


def _check_place(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before the work is done."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(f"{folder}: {there} cannot be written to, or is no folder; choose another: --output")
