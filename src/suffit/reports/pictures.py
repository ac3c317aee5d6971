"""Figures as SVG inside the page: drawn by matplotlib, in the page's own colours and fonts."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparison.result import Comparison
from ..comparison.rows import Places
from ..data.frame import Frame
from ..estimators.base import GenerativeEstimator
from ..estimators.lda import LinearDiscriminantAnalysis
from ..figures import boundary, densities, projection, reliability, scores
from ..figures.style import pyplot
from .html import Html, readable, tag
from .rows import Given, as_table
from .scores import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 900  # rows drawn
MOST_CLASSES = 10  # that can be told apart in a picture
SIZE = (5.6, 4.0)  # inches
NEEDS = "Figures need matplotlib, which is not installed here: pip install 'suffit[plot]', and make the report again."
INK = ("#000000", "#262626", "#333333")
FAINT = ("#bbbbbb", "#777777", "#b0b0b0")
STYLE = {
    "svg.fonttype": "none",  # texts stay texts
    "text.parse_math": False,  # a column may be called $x$
    "axes.formatter.use_mathtext": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.framealpha": 0.0,
    "font.size": 10,
}


def drawn(draw: Callable[[Axes], object], title: str, words: str, size: tuple[float, float] = SIZE) -> Html:
    """A figure with what it shows: in words under it, and as its name for those who do not see it."""
    try:
        svg = _svg(draw, size, title)
    except ImportError:
        return tag("p", NEEDS, class_="note")
    except ValueError as error:  # nothing to draw: an axis without numbers
        return tag("p", f"{title}: not drawn, {error}", class_="note")
    return tag("figure", svg, tag("figcaption", tag("b", title + ". "), words))


def _svg(draw: Callable[[Axes], object], size: tuple[float, float], title: str) -> Html:
    """What is drawn, as an element of the page."""
    plt = pyplot()
    with plt.rc_context({**STYLE, "svg.hashsalt": title}), _silent():
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        try:
            draw(ax)
            out = io.StringIO()
            figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
        finally:
            plt.close(figure)
    return Html(_in_page(out.getvalue(), title, f"{size[0]:.0f}"))


@contextmanager
def _silent() -> Iterator[None]:
    """Glyphs that a font lacks are drawn by the browser's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _in_page(svg: str, title: str, place: str) -> str:
    """Without what is for files, with names of its own, and in colours that follow the page."""
    inside = readable(svg[svg.index("<svg") :])
    inside = re.sub(r"<metadata>.*?</metadata>", "", inside, flags=re.S)
    inside = re.sub(r"<!--.*?-->", "", inside, flags=re.S)
    inside = re.sub(r' (?:width|height)="[\d.]+pt"', "", inside, count=2)
    inside = re.sub(r' xmlns(?::\w+)?="[^"]*"', "", inside).replace("xlink:href", "href")
    unique = re.sub(r"\W", "", title.title()) + place
    inside = re.sub(r'(\bid="|"#|url\(#)', lambda m: f"{m[1]}{unique}-", inside)
    for colours, now in ((INK, "currentColor"), (FAINT, "var(--faint)"), (("#ffffff",), "var(--paper)")):
        for colour in colours:
            inside = inside.replace(f": {colour}", f": {now}")
    inside = re.sub(r": (#[0-9a-f]{6})", lambda m: f": var(--c{m[1][1:]}, {m[1]})", inside)
    inside = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px var(--font)", inside)
    return inside.replace("<svg", f'<svg role="img" aria-label="{tag("i", title)[3:-4]}"', 1)


# --- what is drawn


def reliability_picture(found: Scores) -> Html:
    """How often right, beside how sure."""
    words = (
        "Rows with about the same probability are one point, as large as there are many; on the dotted line "
        f"probabilities are what they say. On average a row is {found.mean['calibration_error']:.3f} away from it."
    )
    classes = range(found.P.shape[1])
    title = "How sure, and how often right"
    return drawn(lambda ax: reliability(found.codes, found.P, classes=classes, ax=ax), title, words)


def boundary_picture(model: GenerativeEstimator, frame: Frame, labels: object, pair: Sequence[str]) -> Html:
    """The regions of the classes over two columns."""
    words = (
        f"The class that is most probable by {pair[0]} and {pair[1]} alone (all other columns are integrated out), "
        "lines of equal probability, and some of the rows."
    )
    table = as_table(frame)
    return drawn(
        lambda ax: boundary(model, table, labels, list(pair), ax=ax, ellipses=False), "Where classes meet", words
    )


def densities_picture(model: GenerativeEstimator, frame: Frame, column: str) -> Html:
    """One column in every class."""
    words = (
        f"How {column} is distributed in each class under the model, times the class share; thin and with marks, how "
        "probable each class is by it alone."
    )
    table = as_table(frame)
    return drawn(lambda ax: densities(model, table, column, ax=ax), f"Values of {column} by class", words)


def projection_picture(model: LinearDiscriminantAnalysis, X: object, labels: object) -> Html:
    """The directions of a linear discriminant analysis."""
    words = "The rows in the directions that separate the classes most."
    return drawn(lambda ax: projection(model, X, labels, ax=ax), "The classes seen from where they differ most", words)


def comparison_picture(found: Comparison) -> Html:
    """The log-loss of every model."""
    words = "Lower is better; a bar is two standard errors to either side."
    return drawn(lambda ax: scores(found, ax=ax), "Log-loss of every model", words, (7.0, 3.2))


def some_drawn(rows: Given, places: Places) -> Any:
    """So many of the rows scored as a picture can show."""
    return np.sort(np.random.default_rng(0).permutation(places)[:MOST_POINTS])
