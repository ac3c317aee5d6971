"""``suffit.report``: a model and how it does, as one page of HTML for people who did not make it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..comparison.progress import shown
from ..data.frame import table_form
from ..data.inputs import LabelsLike, TableLike
from ..data.settings import integer
from ..estimators.base import GenerativeEstimator
from ..files.atomic import write_whole
from .html import short
from .material import Material, material, steps_of
from .page import answers, page
from .scores import MOST_SCORED


@dataclass(frozen=True, eq=False)
class Report:
    """A page about a model, and its answer in sentences.

    Attributes
    ----------
    html : str
        The page: one document that fetches nothing and runs nothing.
    answers : dict
        What the page begins with: sentences by "How good", "Where it fails", "How sure" and so on.
    scores : dict
        Accuracy, log-loss and the other scores; empty where the model knows one class only.
    how : str
        "leave-one-out", "held-out" or "folds": what the scores are of.

    See Also
    --------
    report : Makes one.

    Examples
    --------
    >>> import suffit
    >>> X, y = suffit.simulate("gaussian", separation=2.0).sample(200, random_state=0)
    >>> made = suffit.report(suffit.LDA().fit(X, y), X, y, compare=False)
    >>> made.how, made.html[:15]
    ('leave-one-out', '<!doctype html>')
    """

    html: str
    answers: dict[str, str]
    scores: dict[str, float]
    how: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which is there whole or not at all.

        Parameters
        ----------
        path : str or path
            The file, which is replaced if it is there.

        Returns
        -------
        None

        """
        write_whole(path, self.html.encode("utf-8"), "the report")

    def __repr__(self) -> str:
        width = max(map(len, self.answers))
        return "\n".join(f"{name:<{width}}  {text}" for name, text in self.answers.items())


def report(
    model: GenerativeEstimator,
    X: TableLike,
    y: LabelsLike,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    learned: bool | None = None,
    compare: bool = True,
    most_rows: int = MOST_SCORED,
    random_state: int = 0,
    progress: bool | Callable[[int, int, str], None] | None = None,
) -> Report:
    """Make a page about a fitted model: how good it is, where it fails, what matters, and why.

    The page is one file of HTML that fetches nothing and runs nothing: it can be sent, printed and kept.

    Parameters
    ----------
    model : fitted estimator of this library
        GenerativeClassifier, LDA, QDA, naive Bayes, TextNB, or one of ``suffit.load``.
    X : data frame, dict of columns, array-like, sparse matrix or list of texts
        Rows to score: those that the model has learned, or new ones.
    y : array-like of shape (n_samples,)
        Their labels; rows without one take no part.
    path : str or path, optional
        Where to write the page.
    title : str, optional
        Its title.
    learned : bool, optional
        Whether the model has learned these rows, which are then scored by leave-one-out.  By default its sums are
        compared with those of the rows: where they are the same, it has.
    compare : bool
        Whether to fit other models beside it, which takes most of the time.
    most_rows : int
        The most rows that are scored; of more, a sample with the classes at their shares.
    random_state : int
        The same samples and folds for the same number.
    progress : bool, function or None
        A bar on the terminal; by default where there is one.  A function is called with steps done, all steps, and
        what is being done.

    Returns
    -------
    Report
        ``html``, ``answers``, ``scores``; printed, the answers.

    See Also
    --------
    compare : Models side by side, with learning curves and robustness.

    Notes
    -----
    Figures need matplotlib (``pip install "suffit[plot]"``); without it the page has its tables alone.

    Examples
    --------
    >>> import suffit
    >>> X, y = suffit.simulate("gaussian", separation=2.5).sample(300, random_state=0)
    >>> print(suffit.report(suffit.LDA().fit(X, y), X, y, compare=False).answers["How good"])
    It finds the right class for ...
    """
    if not isinstance(model, GenerativeEstimator):
        raise TypeError(f"report takes a fitted estimator of suffit, got {type(model).__name__}")
    model._check_is_fitted()
    target = str(getattr(y, "name", None) or "")
    code = [("In Python:", _code(model, X, target, path))]
    return made(model, X, y, path, title, target, code, learned, compare, most_rows, random_state, progress)


def made(
    model: GenerativeEstimator, X: TableLike, y: LabelsLike, path: str | os.PathLike[str] | None, title: str | None,
    target: str, code: Sequence[tuple[str, str]], learned: bool | None, compare: bool, most_rows: int, seed: int,
    progress: bool | Callable[[int, int, str], None] | None,
) -> Report:  # fmt: skip
    """The report, and its file where there is a path."""
    most = integer(most_rows, "report: most_rows", 1)
    with shown(progress, steps_of(compare)) as step:
        found = material(model, X, y, learned, compare, most, seed, step)
        drawn = page(found, _title(title, target), target, code)
        step("the page")
    done = Report(drawn, dict(answers(found)), *_scored(found))
    if path is not None:
        done.save(path)
    return done


def _title(title: str | None, target: str) -> str:
    return title or (f"How well {short(target, 60)} is predicted" if target else "How well the classes are predicted")


def _scored(found: Material) -> tuple[dict[str, float], str]:
    return ({}, "") if found.scores is None else (found.scores.mean, found.scores.how)


def _code(model: GenerativeEstimator, X: object, target: str, path: object) -> str:
    """What whoever has the rows may type."""
    what = {"dict": "a dict of columns", "array": "an array"}.get(table_form(X), f"a table of {table_form(X)}")
    file = "report.html" if path is None else os.fspath(path)  # type: ignore[call-overload]
    return "\n".join([
        "import suffit",
        "",
        f"# X: the rows ({what}); y: their labels" + (f", the column {target!r}" if target else ""),
        f"model = suffit.{model!r}.fit(X, y)  # or suffit.load(…)",
        f"suffit.report(model, X, y, path={str(file)!r})",
    ])  # fmt: skip
