"""The sections about scores: how good, what is taken for what, where it fails and how sure it is."""

from __future__ import annotations

import numpy as np

from ..comparison.scores import SCORES
from ..tables.structures import Selection
from .answer import called, how_scored
from .cases import Case
from .html import Child, Html, bar, cell, count, joined, percent, short, table, tag
from .material import Material
from .pictures import reliability_picture
from .scores import LEAVE_ONE_OUT, Scores

MOST_IN_MATRIX, MOST_CONFUSIONS = 15, 12  # classes of a whole matrix; else the most frequent confusions
LONGEST_TEXT = 300  # characters shown of a misclassified text
NOTHING_TO_DECIDE = "The model knows one class only, so that there is nothing to decide, and nothing to score."
SAID = {  # the scores, and what they are
    "accuracy": ("Accuracy", "share of rows that get the right class"),
    "log_loss": ("Log-loss", "how surprising the true classes are, in nats: 0 is certainty about what is true"),
    "brier": ("Brier score", "mean squared distance of the probabilities from the truth; lower is better"),
    "calibration_error": ("Calibration error", "how far probabilities are from the share that comes true"),
    "roc_auc": ("ROC AUC", "how often a row of a class is ranked above one of another: 0.5 is chance, 1 is always"),
}


def scores(m: Material) -> Html:
    """The scores, class by class, and what is taken for what."""
    s = m.scores
    if s is None:
        return tag("p", NOTHING_TO_DECIDE)
    learned = float(m.model.class_count_.sum())
    parts: list[Child] = [tag("p", how_scored(s, m.rows.n, learned))]
    if m.rows.unknown:
        unknown = m.rows.n - len(m.rows.known)
        right = s.mean["accuracy"] * len(m.rows.known) / m.rows.n
        parts.append(
            tag(
                "p",
                f"{count(unknown, 'row')} of classes that were never learned are not among them; counted as errors, "
                f"the accuracy would be {percent(right)}.",
            )
        )
    parts += [_score_table(s), *_expected(m), tag("div", _by_class(m, s), _confusion(m, s), class_="pair")]
    return joined(parts)


def _score_table(s: Scores) -> Html:
    rows: list[list[Child]] = []
    for name in SCORES:
        if np.isnan(s.mean[name]):
            continue
        title, words = SAID[name]
        share = name == "accuracy"
        value = percent(s.mean[name]) if share else f"{s.mean[name]:.3f}"
        unsure = s.unsure.get(name)
        error = "" if unsure is None else f"± {100 * unsure:.1f}" if share else f"± {unsure:.3f}"
        guess = s.guess.get(name)
        alone = "" if guess is None else percent(guess) if share else f"{guess:.3f}"
        rows.append([title, value, error, alone, words])
    head = ["score", "value", "standard error", "class shares alone", "what it is"]
    return table(f"Scores of {count(s.n, 'row')}", head, rows, "wide")


def _expected(m: Material) -> list[Child]:
    found = m.model.selection_
    if not isinstance(found, Selection) or m.scores is None or m.scores.how != LEAVE_ONE_OUT:
        return []
    words = f"structures and their weights were chosen on these rows, too: expect {found.loss:.3f} on new rows."
    return [tag("p", f"Of the log-loss: {words}")]


def _by_class(m: Material, s: Scores) -> Html:
    right, true, given = np.diag(s.confusion), s.confusion.sum(axis=1), s.confusion.sum(axis=0)
    rows: list[list[Child]] = []
    for k, label in enumerate(m.labels):
        found = bar(right[k] / true[k], percent(right[k] / true[k])) if true[k] else "–"
        holds = bar(right[k] / given[k], percent(right[k] / given[k])) if given[k] else "–"
        rows.append([short(label), count(true[k]), found, holds])
    head = ["class", "rows", "recall", "precision"]
    return table("Class by class", head, rows)


def _confusion(m: Material, s: Scores) -> Html:
    if len(m.labels) > MOST_IN_MATRIX:
        return _frequent_confusions(m, s)
    share = s.confusion / np.maximum(s.confusion.sum(axis=1, keepdims=True), 1)
    rows: list[list[Child]] = []
    head: list[Child] = ["true class", *(short(label, 20) for label in m.labels)]
    for i, label in enumerate(m.labels):
        rows.append(
            [short(label, 30), *(_matrix_cell(s.confusion[i, j], share[i, j], i == j) for j in range(len(share)))]
        )
    return table("Rows of each class (down) that were given each class (across)", head, rows, "confusion")


def _matrix_cell(rows: float, share: float, right: bool) -> Html:
    """How many rows, coloured by their share of the class."""
    words = tag("span", percent(share, 0), class_="small")
    colour = f"--share:{share:.3f}"
    return cell(tag("b", count(rows)), tag("br"), words, class_="right" if right else "wrong", style=colour)


def _frequent_confusions(m: Material, s: Scores) -> Html:
    off = s.confusion - np.diag(np.diag(s.confusion))
    rows: list[list[Child]] = []
    for flat in np.argsort(-off, axis=None, kind="stable")[:MOST_CONFUSIONS].tolist():
        i, j = divmod(flat, len(off))
        if off[i, j]:
            of_class = off[i, j] / s.confusion[i].sum()
            rows.append([short(m.labels[i]), short(m.labels[j]), count(off[i, j]), bar(of_class, percent(of_class))])
    head = ["true class", "taken for", "rows", "share of the class"]
    return table(f"The most frequent confusions of {len(m.labels)} classes", head, rows)


def calibration(m: Material) -> Html:
    """Whether probabilities are what they say."""
    s = m.scores
    if s is None:
        return tag("p", NOTHING_TO_DECIDE)
    found = s.reliability
    rows: list[list[Child]] = [
        [percent(c), percent(a), count(w)]
        for c, a, w in zip(found.confidence, found.accuracy, found.weight, strict=True)
    ]
    numbers = table("The same in numbers", ["mean probability", "right", "rows"], rows)
    own = m.model.calibration_
    words = (
        "" if own is None else f"The model is calibrated ({own.method}); what that does: {own!r}".replace("\n", "; ")
    )
    picture = reliability_picture(s)
    return joined([tag("p", words) if words else None, tag("div", picture, numbers, class_="pair")])


# --- where it fails


def failures(m: Material) -> Html:
    """Groups with many errors, and misclassified rows explained."""
    s = m.scores
    if s is None:
        return tag("p", NOTHING_TO_DECIDE)
    if not s.wrong.any():
        return tag("p", f"None of {count(s.n, 'row')} is misclassified.")
    parts: list[Child] = []
    if m.subsets:
        rows: list[list[Child]] = [
            [f"{short(g.column, 40)} {short(g.what, 40)}", count(g.rows), bar(g.rate, percent(g.rate), "bad"),
             percent(g.errors / s.wrong.sum(), 0)]
            for g in m.subsets
        ]  # fmt: skip
        head = ["rows where", "rows", "error rate", "share of all errors"]
        parts += [
            tag("p", f"Groups of rows with clearly more errors than the {percent(float(s.wrong.mean()))} of all rows."),
            table("Where errors are frequent", head, rows),
        ]
    elif m.rows.frame is not None:
        parts.append(
            tag("p", "No group of rows, by the values of any one column, has clearly more errors than the rest.")
        )
    if m.cases:
        note = ", under the model without the row" if s.how == LEAVE_ONE_OUT else ""
        parts += [
            tag("h3", "Misclassified rows, and why"),
            tag("p", f"Bars to the right count for the class that was given, bars to the left for the true one{note}."),
            tag("div", *(_case(m, case) for case in m.cases), class_="cases"),
        ]  # fmt: skip
    return joined(parts)


def _case(m: Material, case: Case) -> Html:
    true, given = called(m.labels[case.true]), called(m.labels[case.given])
    most = max([abs(v) for _, v in case.terms if np.isfinite(v)] + [1e-12])
    rows: list[list[Child]] = [[short(name), _both(value, most)] for name, value in case.terms]
    rows.append([tag("b", "together"), _both(case.total, max(most, abs(case.total)))])
    title = f"Row {case.row:,}: {true}, taken for {given} with {percent(case.probability, 0)}"
    caption = f"What counts for {given} (right) and for {true} (left), in log-odds"
    text = None if m.rows.texts is None else short(m.rows.texts[np.array([case.place])].cells()[0], LONGEST_TEXT)
    quoted = tag("blockquote", text) if text is not None else None
    alike = f"{count(case.pair_rows, 'row')} scored {'is' if case.pair_rows == 1 else 'are'} confused in this way."
    return tag(
        "section", tag("h3", title), tag("p", alike, class_="small"), quoted, _plain(caption, rows), class_="case"
    )


def _plain(caption: str, rows: list[list[Child]]) -> Html:
    return table(caption, ["because of", "log-odds"], rows)


def _both(value: float, most: float) -> Html:
    share = min(abs(value) / most, 1.0) if np.isfinite(value) else 1.0
    fill = tag("span", class_="fill", style=f"width:{100 * share:.1f}%")
    sides = [
        tag("span", fill if value < 0 else None, class_="left"),
        tag("span", fill if value >= 0 else None, class_="right"),
    ]
    return tag("span", *sides, tag("span", f"{value:+.2f}", class_="value"), class_="both")
