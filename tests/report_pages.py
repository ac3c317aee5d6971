"""Rows for reports, awkward names, and a page as a browser reads it."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pandas as pd

import suffit

VOID = {"meta", "br", "img", "link", "input", "hr"}
ATTACK = "<script>alert(1)</script>"
QUOTED = "\"'><img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """A page as a browser reads it: its elements, whether each is closed, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_startendtag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(text)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for element, attributes in self.elements if element == name]


def page_of(report: suffit.Report) -> Page:
    """The page, which must stand alone and be readable without eyes."""
    page = Page(report.html)
    names = {name for name, _ in page.elements}
    assert not names & {"script", "iframe", "object", "embed", "link", "base", "form", "img"}, names
    for name, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on")], (name, attributes)
        for key in ("href", "src", "xlink:href", "action"):
            assert (attributes.get(key) or "#").startswith("#"), (name, attributes)
    assert "url(http" not in report.html
    assert "@import" not in report.html
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {attributes["href"] for _, attributes in page.elements if attributes.get("href")}
    assert targets <= {f"#{i}" for i in ids}
    assert len(page.named("h1")) == 1
    assert len(page.named("table")) == len(page.named("caption"))
    assert all(attributes.get("scope") in ("row", "col") for attributes in page.named("th"))
    for attributes in page.named("svg"):
        assert attributes.get("aria-hidden") or (attributes.get("role") == "img" and attributes.get("aria-label"))
    assert page.text.index("How good") < page.text.index("The data")
    return page


def mixed(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(40 + 8 * y, 9))
    city = np.array(["Bern", "Chur", "Basel"])[(rng.integers(0, 2, n) + y) % 3]
    return pd.DataFrame({"age": age, "hours": rng.normal(38 + 4 * y, 5), "city": city}), np.array(["no", "yes"])[y]


def hostile() -> tuple[pd.DataFrame, np.ndarray]:
    table, y = mixed(200, 3)
    table.columns = [ATTACK, "$x^2 </text>$ \x00 \u202e", QUOTED]
    table[QUOTED] = table[QUOTED].replace({"Bern": ATTACK, "Chur": QUOTED})
    return table, np.where(y == "yes", ATTACK, "</style></title>&lt;b&gt;")
