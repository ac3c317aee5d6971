"""The sections about the model: what it assumes, and how it does beside others."""

from __future__ import annotations

from ..comparison.result import HEADS, Comparison
from ..estimators.tables import GenerativeClassifier
from ..explain.assumptions import Assumptions
from .answer import OURS
from .html import Child, Html, capital, count, items, joined, table, tag
from .material import FOLDS, Material
from .pictures import comparison_picture


def assumptions(m: Material) -> Html:
    """What the model takes for granted, and whether it holds."""
    parts: list[Child] = []
    if isinstance(m.model, GenerativeClassifier):
        parts.append(
            tag(
                "p",
                "The family of every column was chosen from its values (above), so that no column has to be normal. "
                "What follows says how wrong a plain Gaussian model would be, and where columns depend on each other.",
            )
        )
        pool = m.model._pool_in_words()
        if pool:
            parts.append(tag("p", f"{capital(pool)}."))
    found = m.assumptions
    if not isinstance(found, Assumptions):
        return joined([*parts, tag("p", found)])
    lines = [line for line in found._lines() if not line.startswith("  ")]
    details = items([line.strip() for line in found._lines() if line.startswith("  ")])
    parts += [
        items([f"{capital(line)}." for line in lines]),
        tag("p", f"By these tests alone the rows favour {found.favours}"),
        tag("details", tag("summary", "The tests"), details) if details else None,
    ]
    return joined(parts)


def compared(m: Material) -> Html:
    """Generative against discriminative models on the same rows."""
    found = m.comparison
    if not isinstance(found, Comparison):
        return tag("p", found)
    some = f"{count(found.n_rows)} of the rows" if found.n_rows < m.rows.n else f"all {count(found.n_rows, 'row')}"
    intro = (
        f"Every model is fitted anew to four fifths of {some} and scored on the rest, {FOLDS} times. "
        f"({capital(OURS)} means one with the same settings, fitted to as few rows as the others.)"
        if OURS in found.held
        else f"Every model is fitted to four fifths of {some} and scored on the rest, {FOLDS} times. "
        "The model of this report takes other columns than these, and is not among them."
    )
    rows: list[list[Child]] = [[tag("b", line[0]) if line[0] == OURS else line[0], *line[1:]] for line in found.lines()]
    filled = "* saw a table whose missing values had been filled." if found.filled else None
    verdict = [tag("p", capital(line)) for line in found.verdict.split("\n")]
    return joined(
        [
            tag("p", intro),
            *verdict,
            table("Models side by side (± standard error)", ["model", *HEADS], rows),
            tag("p", filled, class_="note") if filled else None,
            comparison_picture(found),
        ]
    )
