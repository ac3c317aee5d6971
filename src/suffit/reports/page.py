"""The page: its answer first, then the sections."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from importlib.resources import files
from platform import python_version

import numpy as np

from .. import __version__
from ..comparison.result import Comparison
from . import about_columns, about_data, about_model, about_scores
from .answer import OURS, beside_others, how_good, how_scored, how_sure, what_matters, where_it_fails
from .html import Html, count, joined, percent, short, tag
from .material import Material
from .scores import LEAVE_ONE_OUT, NEW, REFITTED, Scores

RULES = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # nothing is fetched and nothing is run
SCORED = {
    LEAVE_ONE_OUT: "scored leave-one-out",
    NEW: "scored on rows it has not learned",
    REFITTED: "scored in five folds",
}
WORDS = {
    "Leave-one-out": "each row is scored by the model without that row, which is exact for models that are sums.",
    "Held-out": "the rows that are scored were not learned.",
    "Log-odds": "the logarithm of how many times more probable one class is than another; what columns add adds up.",
    "Nats": "units of log-likelihood; a difference of 0.7 is about a factor of 2, of 2.3 a factor of 10.",
    "Standard error": "how much a figure would vary with other rows; twice as much is a usual margin.",
    "Recall, precision": "the share of a class that is found; the share of rows given a class that are of it.",
    "Calibration": "of rows for which the model says 80 %, about 80 % should be as it says.",
    "Missing values": "they are marginalised: the model decides by the values that are there; nothing is filled in.",
}


def answers(m: Material) -> list[tuple[str, str]]:
    """What the page begins with: a heading of one or two words, and sentences."""
    if m.scores is None:
        return [("How good", about_scores.NOTHING_TO_DECIDE)]
    found = [
        ("How good", how_good(m.scores, m.labels)),
        ("Where it fails", where_it_fails(m.scores, m.labels, m.subsets)),
        ("How sure", how_sure(m.scores)),
    ]
    if m.importance is not None:
        found.append(("What matters", what_matters(m.importance)))
    if isinstance(m.comparison, Comparison) and OURS in m.comparison.held:
        found.append(("Beside others", beside_others(m.comparison)))
    return found


def page(m: Material, title: str, target: str, code: Sequence[tuple[str, str]]) -> Html:
    """The whole document."""
    parts = [
        ("data", "The data", about_data.data(m)),
        ("scores", "How good it is", about_scores.scores(m)),
        ("fails", "Where it fails", about_scores.failures(m)),
        ("sure", "How sure it is", about_scores.calibration(m)),
        ("matters", "Which columns matter", about_columns.matters(m)),
        ("pictures", "What the model sees", about_columns.pictures(m)),
        ("assumptions", "What the model assumes", about_model.assumptions(m)),
        ("others", "Generative against discriminative", about_model.compared(m)),
        ("code", "How to make this report again", _code(code)),
        ("words", "Words used here", _words()),
    ]
    links = [tag("li", tag("a", heading, href=f"#{key}")) for key, heading, _ in parts]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=RULES),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(files(__package__).joinpath("page.css").read_text(encoding="utf-8"))),
    )
    body = tag(
        "body",
        tag("header", tag("h1", title), tag("p", _subtitle(m, target), class_="lead"), _answer(m)),
        tag(
            "main",
            tag("nav", tag("ul", *links), aria_label="Sections"),
            *(tag("section", tag("h2", heading, id=key), made, aria_labelledby=key) for key, heading, made in parts),
        ),
        tag("footer", _made()),
    )
    return Html("<!doctype html>\n" + tag("html", head, body, lang="en") + "\n")


def _subtitle(m: Material, target: str) -> str:
    name = type(m.model).__name__
    about = f"predicts {short(target, 60)}" if target else f"predicts one of {len(m.labels)} classes"
    learned = f"learned from {count(float(m.model.class_count_.sum()), 'row')}"
    how = "" if m.scores is None else SCORED[m.scores.how]
    return ", ".join(text for text in (f"A {name} that {about}", learned, how) if text) + "."


def _answer(m: Material) -> Html:
    lines = [child for name, text in answers(m) for child in (tag("dt", name), tag("dd", text))]
    made = tag("section", tag("dl", *lines), class_="answer", aria_label="The answer")
    if m.scores is None:
        return made
    how = how_scored(m.scores, m.rows.n, float(m.model.class_count_.sum()))
    return joined([made, _tiles(m.scores), tag("p", how, class_="note")])


def _tiles(s: Scores) -> Html:
    guess = s.guess
    each = [
        ("right", percent(s.mean["accuracy"]), f"class shares alone: {percent(guess['accuracy'])}"),
        ("log-loss", f"{s.mean['log_loss']:.3f}", f"class shares alone: {guess['log_loss']:.3f}"),
        ("calibration error", f"{s.mean['calibration_error']:.3f}", "0 is best"),
    ]
    if not np.isnan(s.mean["roc_auc"]):
        each.insert(2, ("ROC AUC", f"{s.mean['roc_auc']:.3f}", "chance: 0.500"))
    return tag(
        "ul", *(tag("li", tag("b", value), tag("span", name), tag("span", beside)) for name, value, beside in each),
        class_="tiles",
    )  # fmt: skip


def _code(code: Sequence[tuple[str, str]]) -> Html:
    return joined([child for words, text in code for child in (tag("p", words), tag("pre", tag("code", text)))])


def _words() -> Html:
    return tag("dl", *(child for word, text in WORDS.items() for child in (tag("dt", tag("b", word)), tag("dd", text))))


def _made() -> str:
    day = date.today()
    return (
        f"Made by suffit {__version__} (Python {python_version()}) on {day.day} {day:%B %Y}. It stands alone: "
        "nothing is fetched, and nothing is run."
    )
