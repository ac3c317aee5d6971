"""What a comparison found: scores with their standard errors, curves, confusions, and a verdict in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.arrays import Array, Cells
from ..data.errors import InputError
from ..data.frame import Template
from ..data.printed import aligned, html_lines, html_table
from .crossings import Crossing, crossing
from .scores import SCORES
from .verdict import OURS, RIVAL, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADS = (*SCORES.values(), "fit", "predict")  # of the scores in print


@dataclass(frozen=True)
class Held:
    """How one model did on rows that it had not seen."""

    each: Mapping[str, Sequence[float]]  # the scores of every fold; seconds of a fit and of a prediction of all rows
    confusion: Array  # rows of a class that were given each class  # (K, K)
    proba: Array  # of every row, the mean over the repeats  # (n, K)

    @cached_property
    def mean(self) -> dict[str, float]:
        """The mean over the folds of every score."""
        return {name: float(np.mean(values)) for name, values in self.each.items()}

    @cached_property
    def standard_error(self) -> dict[str, float]:
        """The standard error of each mean, as if folds were independent."""
        return {
            name: float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else float("nan")
            for name, values in self.each.items()
        }


@dataclass(frozen=True)
class Curves:
    """The error and the log-loss of every model at several sizes or shares, each measured a few times."""

    what: str
    at: tuple[float, ...]
    errors: Mapping[str, Array]  # (repeats, len(at)); NaN where a model could not be fitted
    losses: Mapping[str, Array]

    def mean(self, name: str, score: str = "error") -> Array:
        """The mean error (or log-loss) of a model.  # → (len(at),)"""
        return np.asarray(np.mean(self._of(score)[name], axis=0))

    def standard_error(self, name: str, score: str = "error") -> Array:
        """Of these means.  # → (len(at),)"""
        e = self._of(score)[name]
        return np.asarray(np.std(e, axis=0, ddof=1) / len(e) ** 0.5)

    def columns(self) -> dict[str, Cells]:
        """A row for each model and place, by column."""
        out: dict[str, Cells] = {
            "model": np.repeat(np.array([*self.errors], dtype=object), len(self.at)),
            self.what: np.tile(np.array(self.at), len(self.errors)),
        }
        for score in ("error", "log_loss"):
            out[score] = np.concatenate([self.mean(name, score) for name in self.errors])
            out[f"{score} ±"] = np.concatenate([self.standard_error(name, score) for name in self.errors])
        return out

    def _of(self, score: str) -> Mapping[str, Array]:
        return self.errors if score == "error" else self.losses


@dataclass(frozen=True)
class Comparison:
    """Models side by side on the same rows.

    Attributes
    ----------
    classes : ndarray
        The labels, sorted.
    n_rows : int
        How many rows were compared on.
    held : dict
        By model: ``mean``, ``standard_error`` and ``each`` fold's accuracy, log_loss, brier, calibration_error and
        roc_auc, the seconds of ``fit`` and ``predict``, its ``confusion`` and the probabilities ``proba``.
    curves : Curves or None
        Error against the number of rows learned.
    robustness : dict of Curves
        Error with "wrong labels", "outliers" and "missing values".
    filled : tuple of str
        The models that saw a table whose missing values had been filled.
    form : str
        The kind of table that data frames are made as.
    crossings : tuple
        Where the learning curves of generative models and of logistic regression change places: ``first`` is ahead up
        to about ``rows``, ``then`` beyond.
    verdict : str
        What came out, in words.

    See Also
    --------
    compare : Makes one.

    Examples
    --------
    >>> import suffit
    >>> X, y = suffit.simulate("gaussian").sample(200, random_state=0)
    >>> found = suffit.compare(X, y, ["LDA", "QDA"], curves=False, robustness=False)
    >>> sorted(found.held)
    ['LDA', 'QDA']
    """

    classes: Cells
    n_rows: int
    held: Mapping[str, Held]
    curves: Curves | None
    robustness: Mapping[str, Curves]
    filled: tuple[str, ...]
    form: str = "dict"

    @cached_property
    def verdict(self) -> str:
        """What came out, in words."""
        return verdict({n: (h.mean, h.standard_error) for n, h in self.held.items()}, self.curves, self.filled)

    @cached_property
    def crossings(self) -> tuple[Crossing, ...]:
        """Where the learning curves of generative models and of logistic regression change places."""
        curves = self.curves
        if curves is None or RIVAL not in curves.errors:
            return ()
        met = [crossing(curves, name, RIVAL) for name in OURS if name in curves.errors]
        return tuple(c for c in met if c is not None)

    @property
    def confusion(self) -> dict[str, object]:
        """By model: rows of each class that were given each class, as a data frame."""
        labels = [str(c) for c in self.classes]
        made = {}
        for name, held in self.held.items():
            columns: dict[str, Cells] = {"true class": np.array(labels, dtype=object)}
            columns |= {f"given {c}": held.confusion[:, k] for k, c in enumerate(labels)}
            made[name] = self._table(columns)
        return made

    def to_frame(self, what: str = "scores") -> Any:
        """Return a data frame: a row for each model, every score with its standard error, and the seconds.

        Parameters
        ----------
        what : str
            "scores"; or "learning curves", "wrong labels", "outliers" or "missing values": a row for each model and
            place of its curve, with error, log-loss and their standard errors.

        Returns
        -------
        data frame
            Of the library the rows came from; for plain arrays pandas where it is installed, else a dict of arrays.

        """
        if what != "scores":
            return self._table(self._curves(what).columns())
        columns: dict[str, Cells] = {"model": np.array(list(self.held), dtype=object)}
        for score in SCORES:
            columns[score] = np.array([held.mean[score] for held in self.held.values()])
            columns[f"{score} ±"] = np.array([held.standard_error[score] for held in self.held.values()])
        for score in ("fit", "predict"):
            columns[f"{score} seconds"] = np.array([held.mean[score] for held in self.held.values()])
        return self._table(columns)

    def _curves(self, what: str) -> Curves:
        known = {**({} if self.curves is None else {"learning curves": self.curves}), **self.robustness}
        if what not in known:
            raise InputError(f"to_frame: what={what!r}; there are {', '.join(map(repr, ('scores', *known)))}")
        return known[what]

    def _table(self, columns: Mapping[str, Cells]) -> Any:
        return Template(self.form, {}).make(columns)

    def plot(self) -> Figure:
        """Return a figure: log-loss of every model, learning curves and robustness, as ``suffit.figures`` draws each.

        Returns
        -------
        matplotlib figure

        """
        from ..figures.comparisons import overview

        return overview(self)

    def lines(self) -> list[list[str]]:
        """Return a line for each model, the best log-loss first: its scores as text, with their standard errors.

        Returns
        -------
        list of list of str

        """
        order = sorted(self.held, key=lambda name: self.held[name].mean["log_loss"])
        lines = []
        for name in order:
            mean, error = self.held[name].mean, self.held[name].standard_error
            cells = [f"{mean[s]:.3f} ± {error[s]:.3f}" for s in SCORES]
            times = [f"{1e3 * mean[step]:,.0f} ms" for step in ("fit", "predict")]
            lines.append([name + ("*" if name in self.filled else ""), *cells, *times])
        return lines

    def __repr__(self) -> str:
        note = ["", "* saw a table whose missing values had been filled"] if self.filled else []
        return "\n".join([*aligned(["", *HEADS], self.lines()), *note, "", self.verdict])

    def _repr_html_(self) -> str:
        note = ["* saw a table whose missing values had been filled"] if self.filled else []
        return html_table(["", *HEADS], self.lines()) + html_lines(*note, *self.verdict.splitlines())
