"""HTML to text in one pass: what a reader sees, what is there but hidden, and where links lead."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

# A tag never runs past the next "<": whatever is unclosed costs no more than its own length.
TAG = re.compile(r"""<([/!?]?[a-zA-Z!\[](?:[^<>"']++|"[^"<]*+"|'[^'<]*+'|["'])*+)>?+""")
NAME = re.compile(r"/?[a-zA-Z][^\s/>]{0,30}")
ATTRIBUTE = re.compile(r"""(?<![a-zA-Z-])([a-zA-Z-]++)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>]++)""")
LINK = re.compile(r"""(?:href|src|action|background)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>]++)""")
HIDDEN = re.compile(r" hidden(?: |$|=)")
LEADING_ZEROS, LONG_NUMBER = re.compile(r"&#0++"), re.compile(r"&#[0-9]{8,}+")
LONGEST_TAG = 4_000  # characters whose attributes are read
BREAKS = frozenset(
    """
    p div br td tr th table tbody thead li ul ol dl dt dd h1 h2 h3 h4 h5 h6 hr center blockquote form option select
    title body head html pre input img button textarea article section header footer address map area
    """.split()  # noqa: SIM905
)
INLINE = frozenset(
    """
    a b i u s em strong font span small big sub sup tt code strike del ins q cite abbr acronym label nobr wbr kbd
    var samp dfn meta link base style script o:p st1 noscript object embed param iframe frame frameset marquee blink
    col colgroup caption fieldset legend dir menu xml basefont layer ilayer bdo image video audio source main nav
    figure picture svg path
    """.split()  # noqa: SIM905
)
VOID = frozenset("br img hr input meta link area base col embed param source wbr".split())  # noqa: SIM905
ENDS_ITSELF = frozenset("p li td th tr dt dd option".split())  # noqa: SIM905  # where another one begins
NO_TEXT = ("script", "style")
COLOURS = {
    "white": 0xFFFFFF, "black": 0, "red": 0xFF0000, "blue": 0xFF, "green": 0x8000, "yellow": 0xFFFF00, "gray": 0x808080,
    "grey": 0x808080, "silver": 0xC0C0C0, "navy": 0x80, "maroon": 0x800000, "lime": 0xFF00, "aqua": 0xFFFF,
    "teal": 0x8080, "fuchsia": 0xFF00FF, "purple": 0x800080, "olive": 0x808000, "orange": 0xFFA500, "snow": 0xFFFAFA,
    "ivory": 0xFFFFF0, "whitesmoke": 0xF5F5F5, "ghostwhite": 0xF8F8FF, "floralwhite": 0xFFFAF0,
}  # fmt: skip
SIX_DIGITS = re.compile(r"#?([0-9a-f]{6})\b")
THREE_DIGITS = re.compile(r"#([0-9a-f])([0-9a-f])([0-9a-f])\b")
RGB = re.compile(r"rgba?\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})")
TINY = re.compile(r"(?:0*\.?0+|[01](?:\.\d{1,4})?(?:px|pt)|0?\.[01]\d{0,4}r?em|[0-9](?:\.\d{1,4})?%)(?![\d.])")
NEAR = 20  # two colours whose channels differ by no more look the same


class Style(NamedTuple):
    """What an element inherits: whether it is hidden, its colour, the one behind it; whether its text is not seen."""

    hidden: bool = False
    colour: int = 0
    behind: int = 0xFFFFFF
    unseen: bool = False


class Tag(NamedTuple):
    """What a tag says: its name, whether it closes, whether it parts words, and what it changes."""

    name: str
    closes: bool
    breaks: bool
    acts: bool = False  # whether it changes how text looks, in one of the ways that follow, or begins what is no text
    hides: bool = False
    colour: int | None = None
    behind: int | None = None
    link: str = ""  # in lower case


# Tags without attributes, as they are written most.
PLAIN_TAGS = {
    way(slash + name): Tag(name, bool(slash), name in BREAKS, not slash and name in NO_TEXT)
    for name in BREAKS | INLINE
    for slash in ("", "/")
    for way in (str.lower, str.upper)
}


@dataclass(frozen=True, slots=True)
class Page:
    """What an HTML text holds."""

    visible: str
    hidden: str
    links: list[str]
    tags: dict[str, None]  # names in order of first appearance
    marks: list[str]


def read_html(text: str) -> Page:
    """The text of a page, with what a reader does not see told apart.

    >>> page = read_html('Buy <!-- x -->now<font color="white">weather</font> <a href="http://a.example/">here</a>')
    >>> page.visible, page.hidden, page.links
    ('Buy now here', 'weather', ['http://a.example/'])
    """
    marks: list[str] = []
    if "<!--" in text:
        text, joined = without_comments(text)
        if joined:
            marks.append("comment-in-word")
    pieces = TAG.split(text)
    known: dict[str, Tag] = {}
    elements = Elements()
    counts, shown = elements.counts, [pieces[0]]
    hidden: list[str] = []
    within = ""  # the element whose text is no text: a script or a style sheet
    for source, text in zip(pieces[1::2], pieces[2::2], strict=True):
        tag = known.get(source)
        if tag is None:
            tag = known[source] = PLAIN_TAGS.get(source) or read_tag(source)
        name, closes, breaks, acts, _, _, _, _ = tag
        if within:
            if not (closes and name == within):
                continue
            within = ""
        if breaks:
            shown.append(" ")
        if acts or name in counts:
            if name in NO_TEXT:
                within = name
                continue
            elements.meet(tag)
        if text:
            (hidden if elements.unseen else shown).append(text)
    links = [unescaped(tag.link) for tag in known.values() if tag.link]
    tags = dict.fromkeys([tag.name for tag in known.values()])
    return Page(unescaped("".join(shown)), unescaped(" ".join(hidden)), links, tags, marks)


class Elements:
    """The open elements that matter: those with a style, and those of the same names inside them."""

    def __init__(self) -> None:
        self.stack: list[tuple[str, Style]] = [("", Style())]
        self.counts: dict[str, int] = {}  # how many of each name are open
        self.unseen = False

    def meet(self, tag: Tag) -> None:
        """Open or close an element."""
        name, stack = tag.name, self.stack
        if tag.closes:
            while name in self.counts and self.pop() != name:
                pass
        else:
            if name in ENDS_ITSELF and stack[-1][0] == name:
                self.pop()
            if name in VOID:
                return
            style = stack[-1][1]
            stack.append((name, restyled(style, tag) if tag.acts else style))
            self.counts[name] = self.counts.get(name, 0) + 1
        self.unseen = stack[-1][1].unseen

    def pop(self) -> str:
        """Close the innermost element; its name."""
        name = self.stack.pop()[0]
        if self.counts[name] == 1:
            del self.counts[name]
        else:
            self.counts[name] -= 1
        return name


def restyled(style: Style, tag: Tag) -> Style:
    """The style within an element that changes it."""
    hidden = style.hidden or tag.hides
    colour = style.colour if tag.colour is None else tag.colour
    behind = style.behind if tag.behind is None else tag.behind
    return Style(hidden, colour, behind, hidden or look_alike(colour, behind))


@lru_cache(maxsize=1024)
def look_alike(one: int, other: int) -> bool:
    """Whether no channel of two colours differs enough to be seen."""
    return all(abs((one >> shift & 255) - (other >> shift & 255)) <= NEAR for shift in (0, 8, 16))


def without_comments(text: str) -> tuple[str, bool]:
    """A text without comments, and whether one of them stood within a word; an open comment runs to the end."""
    first, *rest = text.split("<!--")
    kept, joined, open_ = [first], False, False
    for piece in rest:
        _, closed, after = piece.partition("-->")
        open_ = not closed
        if closed:
            joined = joined or (kept[-1][-1:].isalpha() and after[:1].isalpha())
            kept.append(after)
    if open_:
        kept.append(rest[-1])
    return "".join(kept), joined


def read_tag(source: str) -> Tag:
    """What a tag says, from what stands between its brackets."""
    found = NAME.match(source)
    if found is None:  # a declaration
        return Tag("!", False, False)
    name = found[0].lower()
    closes = name[0] == "/"
    name = name.removeprefix("/")
    breaks = name in BREAKS
    if closes:
        return Tag(name, closes, breaks)
    low = source[:LONGEST_TAG].lower()
    leads = "href" in low or "src" in low or "background" in low or "action" in low
    link = found[1].strip("\"' ") if leads and (found := LINK.search(low)) else ""
    if name in NO_TEXT:
        return Tag(name, closes, breaks, acts=True, link=link)
    if "style" not in low and "color" not in low and " hidden" not in low and name != "body":
        return Tag(name, closes, breaks, link=link)
    hides, colour, behind = HIDDEN.search(low) is not None, None, None
    for attribute, value in ATTRIBUTE.findall(low):
        value = value.strip("\"'")
        if attribute == "style":
            hides, colour, behind = read_style(value, hides, colour, behind)
        elif attribute == "bgcolor":
            behind = colour_of(value, behind)
        elif attribute == "color" or (attribute == "text" and name == "body"):
            colour = colour_of(value, colour)
    acts = hides or colour is not None or behind is not None
    return Tag(name, closes, breaks, acts, hides, colour, behind, link)


def read_style(style: str, hides: bool, colour: int | None, behind: int | None) -> tuple[bool, int | None, int | None]:
    """What a style attribute changes: whether it hides, the colour, the one behind it."""
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        name, value = name.strip(), value.strip()
        if name == "color":
            colour = colour_of(value, colour)
        elif name in ("background-color", "background"):
            behind = colour_of(value, behind)
        elif name == "font-size":
            hides = hides or TINY.match(value) is not None
        elif name in ("display", "visibility", "mso-hide"):
            hides = hides or value.startswith(("none", "hidden", "all", "collapse"))
        elif name == "opacity":
            hides = hides or value == "0" or value.startswith(("0.0", "0%"))
    return hides, colour, behind


def colour_of(value: str, otherwise: int | None) -> int | None:
    """A colour as 0xRRGGBB."""
    if (found := SIX_DIGITS.search(value)) is not None:
        return int(found[1], 16)
    if (found := THREE_DIGITS.search(value)) is not None:
        return int("".join(digit * 2 for digit in found.groups()), 16)
    if (found := RGB.search(value)) is not None:
        red, green, blue = (min(int(channel), 255) for channel in found.groups())
        return red << 16 | green << 8 | blue
    return COLOURS.get(value.strip(), otherwise)


def unescaped(text: str) -> str:
    """A text with its character references replaced."""
    if "&#" in text:
        text = LONG_NUMBER.sub("&#65533", LEADING_ZEROS.sub("&#", text))
    return html.unescape(text) if "&" in text else text
