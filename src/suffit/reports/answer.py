"""The answer, in sentences that need no statistics: how good, where it fails, how sure, and what matters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..comparison.result import Comparison
from .html import count, listed, percent, short
from .importance import Importance
from .scores import LEAVE_ONE_OUT, NEW, SURE, Scores
from .subsets import Subset

ERRORS_APART = 2.0  # standard errors of a difference that is one
NEAR, FAR = 0.03, 0.08  # calibration errors that hardly matter, and that do
FEW = 300  # rows among which a calibration error is partly chance
LITTLE = 0.001  # a rise of the log-loss that is none
OURS = "this model"


def how_good(scores: Scores, labels: Sequence[str]) -> str:
    """The share of right answers beside that of the most frequent class."""
    right, unsure, guess = scores.mean["accuracy"], scores.unsure["accuracy"], scores.guess
    common = called(labels[int(scores.shares.argmax())])
    text = f"It finds the right class for {percent(right)} of the rows (± {100 * unsure:.1f})"
    alone = f"always answering {common} would be right for {percent(guess['accuracy'])}"
    gain = guess["log_loss"] - scores.mean["log_loss"]
    if gain <= ERRORS_APART * scores.unsure["log_loss"]:
        return f"It is no better than knowing the class shares alone. {text}; {alone}."
    if right - guess["accuracy"] <= ERRORS_APART * unsure:
        return f"{text}, hardly more often than somebody who knows no column: {alone}. Its probabilities do say more."
    fewer = 1 - (1 - right) / max(1 - guess["accuracy"], 1e-12)
    return f"{text}; {alone}. It makes {percent(fewer, 0)} fewer errors than that."


def called(label: str) -> str:
    """A class by its name, and by the word where its name is a number."""
    return f"class {label}" if label.replace(".", "").lstrip("-").isdigit() else short(label, 40)


def where_it_fails(scores: Scores, labels: Sequence[str], subsets: Sequence[Subset]) -> str:
    """The most frequent confusion, and the group with the most errors beyond its share."""
    errors = int(scores.wrong.sum())
    if not errors:
        return f"None of {count(scores.n, 'row')} is misclassified."
    off = scores.confusion - np.diag(np.diag(scores.confusion))
    true, given = (int(k) for k in np.unravel_index(off.argmax(), off.shape))
    n = int(scores.confusion[true].sum())
    text = (
        f"Most often it takes {called(labels[true])} for {called(labels[given])}: {count(off.max(), 'row')}, "
        f"{percent(off.max() / n, 0)} of {called(labels[true])} and {percent(off.max() / errors, 0)} of all "
        "errors."
    )
    if subsets:
        worst, rate = subsets[0], errors / scores.n
        text += (
            f" Errors gather where {short(worst.column, 40)} {short(worst.what, 40)}: {percent(worst.rate, 0)} "
            f"of {count(worst.rows, 'row')} are wrong, against {percent(rate, 0)} of all."
        )
    return text


def how_sure(scores: Scores) -> str:
    """Whether probabilities are what they say."""
    error, found = scores.mean["calibration_error"], scores.reliability
    over = float(found.weight @ (found.confidence - found.accuracy) / found.weight.sum())
    if error < NEAR:
        text = f"Its probabilities can be taken as they are (calibration error {error:.3f})."
    else:
        which = "too sure" if over > 0 else "not sure enough"
        about = "somewhat" if error < FAR else "clearly"
        text = f"Its probabilities are {about} off (calibration error {error:.3f}): it is {which}."
        if scores.n < FEW:
            text += " With so few rows part of that is chance."
    share, right = scores.sure
    if share > 0:
        where = f"Where it is at least {percent(SURE, 0)} sure ({percent(share, 0)} of the rows)"
        text += f" {where} it is right in {percent(right)}."
    return text


def what_matters(found: Importance) -> str:
    """The columns that the predictions need."""
    order = found.order
    if not order:
        return "No column is used: the predictions are the class shares."
    if not found.loss:
        return f"What tells the classes apart most: {listed(order, 6)}."
    needed = [name for name in order if found.loss.get(name, 0.0) > LITTLE]
    if not needed:
        return "No single column is needed: what one says, others say too."
    first = needed[0]
    more = found.errors[first]
    cost = f"; without it {100 * more:.1f} more rows in 100 would be misclassified" if more >= 0.003 else ""
    rest = (
        f" Then come {listed(needed[1:], 4)}." if len(needed) > 2 else f" Then comes {needed[1]}." if needed[1:] else ""
    )
    idle = [name for name in order if found.loss.get(name, 1.0) <= LITTLE]
    spare = f" Little is lost where {listed(idle, 4)} {'is' if len(idle) == 1 else 'are'} missing." if idle else ""
    return f"{first} matters most{cost}.{rest}{spare}"


def beside_others(found: Comparison) -> str:
    """Where the model stands among those that were compared."""
    order = sorted(found.held, key=lambda name: found.held[name].mean["log_loss"])
    place, best = order.index(OURS), order[0]
    mine, other = found.held[OURS], found.held[best if place else order[1]]
    gap = abs(mine.mean["log_loss"] - other.mean["log_loss"])
    apart = gap > ERRORS_APART * float(np.hypot(mine.standard_error["log_loss"], other.standard_error["log_loss"]))
    all_of = f"Of {len(order)} models fitted to the same rows,"
    losses = f"({mine.mean['log_loss']:.3f} against {other.mean['log_loss']:.3f})"
    if place == 0:
        lead = "clearly ahead of" if apart else "without a clear difference to"
        return f"{all_of} it has the lowest log-loss, {lead} {order[1]} {losses}."
    if not apart:
        return f"{all_of} {best} has the lowest log-loss; this model is not clearly behind {losses}."
    return f"{all_of} {best} does clearly better by log-loss {losses}. Consider it, where probabilities decide."


def how_scored(scores: Scores, total: int, learned: float) -> str:
    """Which rows the scores are of, and why they can be believed."""
    n = scores.n
    which = f"{count(n)} of the {count(total, 'row')} (a sample with the classes at their shares)"
    rows = f"the {count(n, 'row')}" if n == total else which
    if scores.how == LEAVE_ONE_OUT:
        why = "the model is said to have learned these rows"
        if not scores.said:
            why = "the model's sums are those of these rows, so it has learned them"
        return (
            f"Scores are leave-one-out: {why}, and each of {rows} is scored under the model without it. Settings that "
            "were chosen from the rows stay as they are."
        )
    if scores.how == NEW:
        why = "the rows given here are said to be new"
        if not scores.said:
            sums = f"the model's sums ({count(learned, 'row')}) are not those of the rows given here"
            why = f"{sums}, so these are taken as new"
        return (
            f"Scores are held-out: {why}, {rows}. If the model has learned some of them, or copies, the scores flatter."
        )
    return (
        f"Scores are of five folds, of {rows}: rows cannot be taken out of this model's sums, so copies of it were "
        "fitted to the other folds."
    )
