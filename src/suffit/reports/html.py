"""HTML that is made of tags, so that no text gets into a page unescaped.

Every text is escaped where it becomes the content or an attribute of a tag; only what :func:`tag` has made is not
escaped again.  So there is no place where escaping could be forgotten, as a template has wherever it is not switched
on, and no library is needed for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

EMPTY = ("meta", "br", "img")  # tags that have no end
LONGEST = 80  # characters of a value in a table
NARROW = "\u00a0"  # before a unit: no line ends here


class Html(str):
    """Text that is HTML already."""


class Cell(Html):
    """A cell of a table with attributes of its own."""


Child = str | None


def tag(element: str, /, *children: Child, **attributes: Child) -> Html:
    """One element with its content; None is left away, in content and in attributes.

    >>> tag("p", "a < b", tag("b", "&"), class_="lead")
    '<p class="lead">a &lt; b<b>&amp;</b></p>'
    """
    given = "".join(
        f' {k.rstrip("_").replace("_", "-")}="{_escaped(v)}"' for k, v in attributes.items() if v is not None
    )
    if element in EMPTY:
        return Html(f"<{element}{given}>")
    return Html(f"<{element}{given}>{joined(children)}</{element}>")


def joined(children: Iterable[Child]) -> Html:
    """Texts and elements one after the other."""
    return Html("".join(c if isinstance(c, Html) else _escaped(c) for c in children if c is not None))


def _escaped(text: str) -> str:
    return escape(readable(text))


def readable(text: str) -> str:
    """The same text without what is no character of HTML."""
    known = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in known)


def table(caption: str, head: Sequence[Child], rows: Sequence[Sequence[Child]], kind: str = "") -> Html:
    """A table with a caption, headers of its columns, and the first cell of a row as the header of the row.

    Columns whose cells are numbers stand at the right.
    """
    right = [j > 0 and bool(rows) and all(_is_number(row[j]) for row in rows) for j in range(len(head))]
    heads = [tag("th", h, scope="col", class_="number" if r else None) for h, r in zip(head, right, strict=True)]
    lines = []
    for row in rows:
        first = tag("th", row[0], scope="row")
        rest = [
            c if isinstance(c, Cell) else tag("td", c, class_="number" if r else None)
            for c, r in zip(row[1:], right[1:], strict=True)
        ]
        lines.append(tag("tr", first, *rest))
    made = tag("table", tag("caption", caption), tag("thead", tag("tr", *heads)), tag("tbody", *lines), class_=kind)
    return tag("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def cell(*children: Child, **attributes: Child) -> Cell:
    """A cell that is not like the others of its column."""
    return Cell(tag("td", *children, **attributes))


def _is_number(cell: Child) -> bool:
    text = "" if cell is None else cell.strip(f"%±+-–,. {NARROW}").replace(",", "").replace(".", "")
    return not isinstance(cell, Html) and (text.isdigit() or text == "")


def bar(share: float, text: str, kind: str = "") -> Html:
    """A bar as long as a share (of 1) of the room, with its text beside it."""
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}%"
    inner = tag("span", class_="fill", style=f"width:{width}")
    return tag("span", tag("span", inner, class_="track", aria_hidden="true"), tag("span", text), class_=f"bar {kind}")


def items(texts: Sequence[Child]) -> Html | None:
    """A list, or nothing."""
    return tag("ul", *(tag("li", text) for text in texts)) if texts else None


def short(value: object, longest: int = LONGEST) -> str:
    """A value as text that is not too long."""
    text = str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def capital(text: str) -> str:
    """The same text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def percent(share: float, digits: int = 1) -> str:
    """``80.4 %``."""
    return f"{100 * share:.{digits}f}{NARROW}%"


def number(x: float) -> str:
    """``37``, ``0.042``, ``1,490,400``."""
    return f"{x:,.0f}" if 1e3 <= abs(x) < 1e12 else f"{x:.4g}"


def count(n: float, what: str = "") -> str:
    """``1,309`` or ``1 row``, ``2 rows``."""
    return f"{n:,.0f}" + (f" {what}{'' if n == 1 else 's'}" if what else "")


def listed(names: Sequence[object], most: int = 5) -> str:
    """``a, b and c``, or the first few and how many more."""
    texts = [short(name, 40) for name in names[:most]]
    if len(names) > most:
        return ", ".join(texts) + f" and {len(names) - most:,} more"
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + f" and {texts[-1]}" if texts else "none"
