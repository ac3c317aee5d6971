"""The sections of the page."""

from __future__ import annotations

import numpy as np

from ..comparison.result import HEADS, Comparison
from ..comparison.scores import SCORES
from ..estimators.lda import LinearDiscriminantAnalysis
from ..estimators.tables import GenerativeClassifier
from ..explain.assumptions import Assumptions
from ..tables.structures import Selection
from .answer import OURS, how_scored
from .cases import Case
from .columns import Described
from .html import Child, Html, bar, count, items, joined, percent, short, table, tag
from .material import FOLDS, MOST_COMPARED, Material
from .pictures import (
    MOST_CLASSES,
    boundary_picture,
    comparison_picture,
    densities_picture,
    projection_picture,
    reliability_picture,
    some_drawn,
)
from .rows import as_table
from .scores import LEAVE_ONE_OUT, Scores
from .subsets import is_numeric

MOST_COLUMNS = 100  # of the table of columns
MOST_IN_MATRIX, MOST_CONFUSIONS = 15, 12  # classes of a whole matrix; else the most frequent confusions
NOTHING_TO_DECIDE = "The model knows one class only, so that there is nothing to decide, and nothing to score."
SAID = {  # the scores, and what they are
    "accuracy": ("Accuracy", "share of rows that get the right class"),
    "log_loss": ("Log-loss", "how surprising the true classes are, in nats: 0 is certainty about what is true"),
    "brier": ("Brier score", "mean squared distance of the probabilities from the truth; lower is better"),
    "calibration_error": ("Calibration error", "how far probabilities are from the share that comes true"),
    "roc_auc": ("ROC AUC", "how often a row of a class is ranked above one of another: 0.5 is chance, 1 is always"),
}


def data(m: Material) -> Html:
    """Rows, classes, what is odd, and every column."""
    total = max(m.rows.n, 1)
    counts = np.bincount(m.rows.codes[m.rows.known], minlength=len(m.labels))
    learned = m.model.class_count_.tolist()
    classes = [
        [short(label), count(n), bar(n / total, percent(n / total)), count(k)]
        for label, n, k in zip(m.labels, counts.tolist(), learned, strict=True)
    ]
    notes = [tag("h3", "What to know about these data"), items(m.notes)] if m.notes else []
    return joined([
        tag("p", _size(m)),
        table("Classes", ["class", "rows here", "share", "rows learned"], classes),
        *notes, *_columns(m),
    ])  # fmt: skip


def _size(m: Material) -> str:
    if m.rows.texts is not None:
        return f"{count(m.rows.n, 'text')}, from which the model takes {count(len(m.model._model.columns), 'word')}."
    if m.rows.frame is None:
        return f"{count(m.rows.n, 'row')} of a sparse matrix with {count(m.rows.X.shape[1], 'column')}."
    cells = sum(d.missing for d in m.columns) / max(len(m.columns), 1)
    some = sum(d.missing > 0 for d in m.columns)
    gone = f"{percent(cells)} of the cells are missing, in {count(some, 'column')}" if some else "no value is missing"
    return f"{count(m.rows.n, 'row')} with a label, {count(len(m.columns), 'column')}; {gone}."


def _columns(m: Material) -> list[Child]:
    """Every column: what it holds, and how the model takes it and why."""
    if not m.columns:
        return []
    schema = m.model.schema_ if isinstance(m.model, GenerativeClassifier) else None
    chosen = {c.column: c for c in schema.choices} if schema else {}
    rows: list[list[Child]] = []
    for d in m.columns[:MOST_COLUMNS]:
        c = chosen.get(d.name)
        taken = [short(c.family), short(c.reason, 160)] if c else [m.model._model.family.key, ""]
        rows.append([short(d.name), c.kind if c else d.kind, *_held(d), *(taken if schema else taken[:1])])
    head = ["column", "kind", "values", "distribution", "missing", "family", *(["why"] if schema else [])]
    left = len(m.columns) - MOST_COLUMNS
    more = tag("p", f"{left} more columns are not shown.", class_="note") if left > 0 else None
    return [tag("h3", "Columns, and how the model takes them"), table("Columns", head, rows, "wide"), more]


def _held(d: Described) -> list[Child]:
    empty = percent(d.missing) if d.missing else "0"
    return [d.values, d.picture, bar(d.missing, empty, "bad") if d.missing else empty]


# --- how good


def scores(m: Material) -> Html:
    """The scores, class by class, and what is taken for what."""
    s = m.scores
    if s is None:
        return tag("p", NOTHING_TO_DECIDE)
    learned = float(m.model.class_count_.sum())
    parts: list[Child] = [tag("p", how_scored(s.how, s.n, m.rows.n, learned))]
    if m.rows.unknown:
        unknown = m.rows.n - len(m.rows.known)
        right = s.mean["accuracy"] * len(m.rows.known) / m.rows.n
        parts.append(
            tag("p", f"{count(unknown, 'row')} of classes that were never learned are not among them; counted as errors, "
                f"the accuracy would be {percent(right)}.")
        )  # fmt: skip
    parts += [_score_table(s), *_expected(m), _by_class(m, s), tag("h3", "What is taken for what"), _confusion(m, s)]
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
    words = (
        f"Structures and their weights were chosen on these rows, too: expect a log-loss of {found.loss:.3f} on new rows."
    )
    return [tag("p", words)]


def _by_class(m: Material, s: Scores) -> Html:
    right, true, given = np.diag(s.confusion), s.confusion.sum(axis=1), s.confusion.sum(axis=0)
    rows: list[list[Child]] = []
    for k, label in enumerate(m.labels):
        found = bar(right[k] / true[k], percent(right[k] / true[k])) if true[k] else "–"
        holds = bar(right[k] / given[k], percent(right[k] / given[k])) if given[k] else "–"
        rows.append([short(label), count(true[k]), found, holds])
    head = ["class", "rows", "found (recall)", "right where given (precision)"]
    return table("Class by class", head, rows)


def _confusion(m: Material, s: Scores) -> Html:
    if len(m.labels) > MOST_IN_MATRIX:
        return _frequent_confusions(m, s)
    share = s.confusion / np.maximum(s.confusion.sum(axis=1, keepdims=True), 1)
    rows: list[list[Child]] = []
    head: list[Child] = ["true class", *(short(label, 20) for label in m.labels)]
    for i, label in enumerate(m.labels):
        cells = [
            tag("div", tag("b", count(s.confusion[i, j])), tag("br"), tag("span", percent(share[i, j], 0), class_="small"))
            for j in range(len(m.labels))
        ]
        rows.append([short(label, 30), *cells])
    return _shaded(table("Rows of each class (down) that were given each class (across)", head, rows, "confusion"), share)


def _shaded(made: Html, share: np.ndarray) -> Html:
    """The cells of a matrix coloured by their share of the row."""
    text, K = str(made), len(share)
    for i in range(K):
        for j in range(K):
            kind = "right" if i == j else "wrong"
            text = text.replace("<td><div>", f'<td class="{kind}" style="--share:{share[i, j]:.3f}"><div >', 1)
    return Html(text)


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
    numbers = table("Rows by how sure the model is", ["mean probability", "right", "rows"], rows)
    own = m.model.calibration_
    words = "" if own is None else f"The model is calibrated ({own.method}); what that does: {own!r}".replace("\n", "; ")
    return joined([
        tag("div", reliability_picture(found, s.mean["calibration_error"]), class_="narrow"),
        tag("p", words) if words else None,
        tag("details", tag("summary", "The numbers"), numbers),
    ])  # fmt: skip


# --- what decides


def pictures(m: Material) -> Html:
    """Where classes meet, and how the columns that matter are distributed."""
    rows, found, s = m.rows, m.importance, m.scores
    if s is None or found is None or rows.frame is None:
        return tag("p", "There are no columns of numbers to draw.")
    if len(m.labels) > MOST_CLASSES:
        return tag("p", f"{len(m.labels)} classes are too many to be told apart in a picture.")
    places = some_drawn(rows, s.places)
    frame, labels = rows.frame.rows(places), rows.labels[places]
    numeric = [name for name in found.order if name in frame.columns and is_numeric(frame.columns[name])]
    varied = [name for name in numeric if len(np.unique(frame.columns[name].numbers())) > 2]
    parts: list[Child] = []
    if isinstance(m.model, LinearDiscriminantAnalysis) and len(numeric) > 1:
        parts.append(projection_picture(m.model, _complete(m, places)[0], _complete(m, places)[1]))
    if len(varied) > 1:
        parts.append(boundary_picture(m.model, frame, labels, varied[:2]))
    parts += [densities_picture(m.model, frame, name) for name in varied[:1]]
    drawn = f"{count(len(places))} of the rows are drawn." if len(places) < rows.n else None
    return joined([*parts, tag("p", drawn, class_="note") if drawn else None]) or tag(
        "p", "There are no columns of numbers to draw."
    )


def _complete(m: Material, places: np.ndarray) -> tuple[object, object]:
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
    order, top = found.order[:25], max(float(np.max(found.separation, initial=0.0)), 1e-12)
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
        f"A {what} separates the classes by what it is expected to add to the log-odds of the true class against another, "
        "taken by itself."
    )
    if found.loss:
        words = (
            f"Without a column means: its values are treated as missing in {count(found.rows, 'row')}, and the model "
            "decides by the others (no refit is needed). What two columns both say is lost only where both are missing. "
        ) + words
    left = len(found.names) - len(order)
    more = tag("p", f"{count(left, what)} more {'is' if left == 1 else 'are'} not shown.", class_="note") if left else None
    return joined([tag("p", words), table(f"What each {what} does", head, rows), more])


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
        parts.append(tag("p", "No group of rows, by the values of any one column, has clearly more errors than the rest."))
    if m.cases:
        learned = s.how == LEAVE_ONE_OUT
        note = "; the terms are those of the model as it is, which has learned the row" if learned else ""
        parts += [
            tag("h3", "Misclassified rows, and why"),
            tag("p", f"Bars to the right speak for the class that was given, bars to the left for the true one{note}."
                .replace("speak", "count")),
            *(_case(m, case) for case in m.cases),
        ]  # fmt: skip
    return joined(parts)


def _case(m: Material, case: Case) -> Html:
    true, given = short(m.labels[case.true], 40), short(m.labels[case.given], 40)
    most = max([abs(v) for _, v in case.terms if np.isfinite(v)] + [1e-12])
    rows: list[list[Child]] = [[short(name), _both(value, most)] for name, value in case.terms]
    rows.append([tag("b", "together"), _both(case.total, max(most, abs(case.total)))])
    title = f"Row {case.row:,}: truly {true}, taken for {given} with {percent(case.probability, 0)}"
    caption = f"What counts for {given} (right) and for {true} (left), in log-odds"
    alike = f"{count(case.pair_rows, 'row')} scored {'is' if case.pair_rows == 1 else 'are'} confused in this way."
    return tag("section", tag("h3", title), tag("p", alike, class_="small"), _plain(caption, rows), class_="case")


def _plain(caption: str, rows: list[list[Child]]) -> Html:
    return table(caption, ["because of", "log-odds"], rows)


def _both(value: float, most: float) -> Html:
    share = min(abs(value) / most, 1.0) if np.isfinite(value) else 1.0
    fill = tag("span", class_="fill", style=f"width:{100 * share:.1f}%")
    sides = [tag("span", fill if value < 0 else None, class_="left"), tag("span", fill if value >= 0 else None, class_="right")]
    return tag("span", *sides, tag("span", f"{value:+.2f}", class_="value"), class_="both")


# --- whether the model fits, and what else would


def assumptions(m: Material) -> Html:
    """What the model takes for granted, and whether it holds."""
    parts: list[Child] = []
    if isinstance(m.model, GenerativeClassifier):
        parts.append(
            tag("p", "The family of every column was chosen from its values (above), so that no column has to be normal; "
                "what follows says how far a plain Gaussian model would be wrong, and where columns depend on each other.")
        )  # fmt: skip
        pool = m.model._pool_in_words()
        if pool:
            parts.append(tag("p", f"{pool[0].upper()}{pool[1:]}."))
    found = m.assumptions
    if not isinstance(found, Assumptions):
        return joined([*parts, tag("p", found)])
    lines = [line for line in found._lines() if not line.startswith("  ")]
    details = items([line.strip() for line in found._lines() if line.startswith("  ")])
    parts += [
        items([f"{line[0].upper()}{line[1:]}." for line in lines]),
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
        f"({OURS[0].upper()}{OURS[1:]} means one with the same settings, fitted to as few rows as the others.)"
        if OURS in found.held
        else f"Every model is fitted to four fifths of {some} and scored on the rest, {FOLDS} times. "
        "The model of this report takes other columns than these, and is not among them."
    )
    rows: list[list[Child]] = [[tag("b", line[0]) if line[0] == OURS else line[0], *line[1:]] for line in found.lines()]
    filled = "* saw a table whose missing values had been filled." if found.filled else None
    verdict = [tag("p", line) for line in found.verdict.split("\n")]
    return joined([
        tag("p", intro), *verdict, table("Models side by side (± standard error)", ["model", *HEADS, "fit"], rows),
        tag("p", filled, class_="note") if filled else None, comparison_picture(found),
    ])  # fmt: skip
