"""The sections about what decides: pictures of the columns, and which of them matter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array
from ..estimators.lda import LinearDiscriminantAnalysis
from .html import Child, Html, bar, count, joined, short, table, tag
from .material import Material
from .pictures import MOST_CLASSES, boundary_picture, densities_picture, projection_picture, some_drawn
from .rows import as_table
from .subsets import FEW_NUMBERS, is_numeric

FARTHEST = 0.01  # share of rows at either end that pictures leave away
MOST_LISTED = 25  # columns
NOTHING_TO_DRAW = "There are no columns of numbers that fill a line, which a picture would need."


def pictures(m: Material) -> Html:
    """Where classes meet, and how the columns that matter are distributed."""
    rows, found, s = m.rows, m.importance, m.scores
    if s is None or found is None or rows.frame is None:
        return tag("p", NOTHING_TO_DRAW)
    if len(m.labels) > MOST_CLASSES:
        return tag("p", f"{len(m.labels)} classes are too many for one picture.")
    places = some_drawn(rows, s.places)
    frame, labels = rows.frame.rows(places), rows.labels[places]
    numeric = [name for name in found.order if name in frame.columns and is_numeric(frame.columns[name])]
    varied = [name for name in numeric if _spread(frame.columns[name].numbers())]
    kept = _in_range([frame.columns[name].numbers() for name in varied[:2]], len(places))
    places, frame, labels = places[kept], frame.rows(np.flatnonzero(kept)), labels[kept]
    parts: list[Child] = []
    if isinstance(m.model, LinearDiscriminantAnalysis) and len(numeric) > 1:
        parts.append(projection_picture(m.model, _complete(m, places)[0], _complete(m, places)[1]))
    if len(varied) > 1:
        parts.append(boundary_picture(m.model, frame, labels, varied[:2]))
    parts += [densities_picture(m.model, frame, name) for name in varied[:1]]
    drawn = f"{count(len(places))} of the rows are drawn." if len(places) < rows.n else None
    note = tag("p", drawn, class_="note") if drawn else None
    return joined([tag("div", *parts, class_="pair"), note]) if parts else tag("p", NOTHING_TO_DRAW)


def _spread(x: Array) -> bool:
    """Whether numbers fill a line: many values, none of them in most of the rows."""
    counts = np.unique(x[np.isfinite(x)], return_counts=True)[1]
    return len(counts) > FEW_NUMBERS and counts.max() <= counts.sum() / 2


def _in_range(columns: list[Array], n: int) -> NDArray[np.bool_]:
    """The rows without a number so far out that all others would be drawn in a corner."""
    kept = np.ones(n, bool)
    for x in columns:
        low, high = np.nanquantile(x, [FARTHEST, 1 - FARTHEST])
        kept &= ~((x < low) | (x > high))
    return kept


def _complete(m: Material, places: NDArray[np.int64]) -> tuple[object, object]:
    """Rows without missing values."""
    assert m.rows.frame is not None
    missing = np.zeros(len(places), bool)
    for column in m.rows.frame.rows(places).columns.values():
        missing |= column.missing()
    kept = places[~missing]
    return as_table(m.rows.frame.rows(kept)), m.rows.labels[kept]


def matters(m: Material) -> Html:
    """The columns, by what is lost without them."""
    found = m.importance
    if found is None or not found.names:
        return tag("p", "No column takes part.")
    what = "word" if m.rows.texts is not None else "column"
    order, top = found.order[:MOST_LISTED], max(float(np.max(found.separation, initial=0.0)), 1e-12)
    separation = dict(zip(found.names, found.separation.tolist(), strict=True))
    most = max([*found.loss.values(), 1e-12])
    rows: list[list[Child]] = []
    for name in order:
        cells: list[Child] = [short(name)]
        if found.loss:
            rise = found.loss.get(name)
            cells += ["", ""] if rise is None else [
                bar(rise / most, f"{rise:+.3f}"), f"{100 * found.errors[name]:+.1f}"
            ]  # fmt: skip
        cells.append(bar(separation[name] / top, f"{separation[name]:.2f}"))
        rows.append(cells)
    lost = ["log-loss without it", "errors without it (points)"] if found.loss else []
    head = [what, *lost, "separates the classes by (nats)"]
    words = (
        f"A {what} separates the classes by what it is expected to add, by itself, to the log-odds of the true class "
        "against another."
    )
    if found.loss:
        words = (
            f"Without a column means: its values are treated as missing in {count(found.rows, 'row')} that the model "
            "has not learned (or that were taken out of its sums), and it decides by the others; no refit is needed. "
            "What two columns both say is lost only where both are missing. "
        ) + words
    left = len(found.names) - len(order)
    more = (
        tag("p", f"{count(left, what)} more {'is' if left == 1 else 'are'} not shown.", class_="note") if left else None
    )
    return joined([tag("p", words), table(f"What each {what} does", head, rows), more])
