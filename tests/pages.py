"""The pages of the documentation, and the blocks of code in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MADE = ("_site", "examples", "generated")  # folders that scripts/docs writes


class Block(NamedTuple):
    """A fenced block of code."""

    language: str
    code: str


def pages() -> list[str]:
    """Every Markdown page below docs/ that is written by hand, as a path from the root."""
    found = (path.relative_to(ROOT) for path in sorted((ROOT / "docs").rglob("*.md")))
    return [path.as_posix() for path in found if not set(path.parts) & set(MADE)]


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page.

    >>> next(blocks("docs/installing.md")).code
    'pip install suffit\\n'
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    for found in re.finditer(r"^```([\w-]*)[^\n]*\n(.*?)^```$", text, flags=re.M | re.S):
        yield Block(found[1], found[2])
