"""Why a row got its class: the log-odds of two classes as a sum of the prior and what each column adds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from ..core.outliers import with_outliers
from ..core.solution import Solution
from ..data.arrays import Array, Cells, Codes, Csr, Matrix, is_sparse, shown
from ..data.frame import Frame, Template, form_to_read
from ..data.inputs import ClassesLike
from ..data.printed import html_table
from ..data.rows import is_missing
from ..kernels.runtime.threads import row_blocks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AT_ONCE = 1 << 20  # terms of so many cells are made together
DRAWN_IN = 16  # times that a row too far out is drawn in, as predictions have it
SHOWN_ROWS, SHOWN_COLUMNS = 10, 8  # of the table in a notebook
REST = {
    "spread": "spread of the classes",
    "zeros": "a row of zeros",
    "empty": "an empty text",
}  # what belongs to no column, in words
OUTLIER_RATE = "the chance of an outlier"
CALIBRATION = "the isotonic calibration"
CERTAIN = 1e6  # odds beyond this are said as "more than"
WHOLE = (1e4, 1e12)  # sizes of values that are said without a fraction, and in full
SAID = 0.005  # log-odds that show in two digits


@dataclass(frozen=True, eq=False)
class Explanation:
    """log p(a | x)/p(b | x) = prior + Σ_j what column j adds (+ rest + outliers + calibration), for every row.

    Made by ``explain(X)`` of every estimator.  A missing value adds 0.

    Attributes
    ----------
    labels : tuple
        The classes.
    first, second : ndarray of shape (n,)
        Codes of the classes a and b of each row: the most probable two, or those asked for.
    probability : ndarray of shape (n, 2)
        p(a | x) and p(b | x), among all classes.
    prior : ndarray of shape (n,)
        The log-odds of the prior.
    rest : ndarray of shape (n,)
        What belongs to no column: the spread of the classes (joint columns with a covariance for each class), or the
        evidence of a row of zeros (sparse rows) or of an empty text.
    parts : ndarray or sparse array of shape (n, p)
        What each column adds.
    outlier_term : ndarray of shape (n,)
        The effect of the outlier rate: evidence for either class is bounded, since the row may be an outlier.
    calibration : ndarray of shape (n,)
        The effect of isotonic maps.
    total : ndarray of shape (n,)
        The log-odds, the sum of all these.
    columns : sequence of str
        The names of the columns.
    rest_name : str
        "spread", "zeros" or "empty".
    outlier_rate : float
        The probability that the columns of a row carry no information about its class.
    data : object
        The rows, to show their values.
    form : str
        The kind of table that they came in.
    notes : callable, optional
        Of a row and a column, which of its words tell.
    table : data frame
        The same as ``to_frame()``.

    See Also
    --------
    Summary : How well each column separates the classes, over all rows.

    Examples
    --------
    >>> from suffit import GaussianNB
    >>> model = GaussianNB().fit([[1.0, 5.0], [2.0, 4.0], [6.0, 5.0], [7.0, 4.0]], ["low", "low", "high", "high"])
    >>> explanation = model.explain([[1.5, 4.5]])
    >>> explanation.parts.round(2).tolist(), explanation.total.round(2).tolist()
    ([[50.0, 0.0]], [50.0])
    """

    labels: tuple[Hashable, ...]  # the classes
    first: Codes  # a: the more probable class of each row, or the one asked for
    second: Codes  # b
    probability: Array  # (n, 2): of a and of b, among all classes
    prior: Array  # (n,)
    rest: Array  # (n,)
    parts: Array | Csr  # (n, p)
    outlier_term: Array  # (n,): what the chance takes back that a row is an outlier
    calibration: Array  # (n,): what isotonic maps make of it
    total: Array  # (n,)
    columns: Sequence[str]
    rest_name: str
    outlier_rate: float  # the probability that a row is one
    data: object = field(repr=False)  # the rows, to show their values
    form: str = field(repr=False)  # the kind of table that they came in
    notes: Callable[[int, str], str] | None = field(default=None, repr=False)  # of a row and a column, what tells

    def __len__(self) -> int:
        return len(self.total)

    def to_frame(self, columns: Sequence[str] | None = None) -> Any:
        """Return a data frame with one row for each row explained: for, against, prior, rest, columns, total.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns to show; by default all, or for sparse rows those that add anything in any row.

        Returns
        -------
        data frame
            Of the library the rows came from; for plain arrays pandas where it is installed, else a dict of arrays.
        """
        places = self._places(columns)
        taken = {str(self.columns[j]) for j in places}

        def free(name: str) -> str:
            while name in taken:
                name = f"({name})"
            return name

        out: dict[str, Cells] = {
            free("for"): self._labels(self.first),
            free("against"): self._labels(self.second),
        }
        out[free("prior")] = self.prior
        if self.rest.any():
            out[free(self.rest_name)] = self.rest
        if self.outlier_term.any():
            out[free("outliers")] = self.outlier_term
        if self.calibration.any():
            out[free("calibration")] = self.calibration
        some = self.parts[:, places]
        parts = some.toarray() if is_sparse(some) else some
        out |= {str(self.columns[j]): parts[:, i] for i, j in enumerate(places)}
        out[free("total")] = self.total
        return Template(form_to_read(self.form), {}).make(out)

    @property
    def table(self) -> Any:
        """The same as ``to_frame()``."""
        return self.to_frame()

    def terms(self, row: int = 0, n: int | None = None) -> list[tuple[str, float]]:
        """Return the terms of one row: prior, rest and columns, largest first, then outlier rate and calibration.

        Parameters
        ----------
        row : int, default 0
            Which row.
        n : int, optional
            How many to show; the others are added up as one.

        Returns
        -------
        list of (str, float)
            What each term is, and what it adds to the log-odds.
        """
        i = self._row(row)
        limits = [(OUTLIER_RATE, float(self.outlier_term[i]))] if self.outlier_term.any() else []
        limits += [(CALIBRATION, float(self.calibration[i]))] if self.calibration.any() else []
        return self._evidence(row, n) + limits

    def _evidence(self, row: int, n: int | None) -> list[tuple[str, float]]:
        i = self._row(row)
        line = self.parts[[i], :]
        places: NDArray[np.integer] = line.indices if is_sparse(line) else np.arange(line.shape[1])
        values = line.data if is_sparse(line) else line[0]
        found = [("prior", float(self.prior[i]))]
        if self.rest.any():
            found.append((REST[self.rest_name], float(self.rest[i])))
        found += [(self._said(i, int(j)), float(v)) for j, v in zip(places, values, strict=True)]
        found.sort(key=lambda term: -abs(term[1]))
        if n is None or len(found) <= n + 1:
            return found
        others = found[n:]
        return [*found[:n], (f"{len(others)} others", float(np.sum([v for _, v in others])))]

    def why(self, row: int = 0, n: int = 5) -> str:
        """Return in words the ``n`` largest terms of one row, the sum of all others, and what limits the evidence.

        Parameters
        ----------
        row : int, default 0
            Which row.
        n : int, default 5
            How many terms to show.

        Returns
        -------
        str
            Several lines, to be printed.
        """
        i = self._row(row)
        a, b = self.pair(i)
        total = self.total[i]
        better, worse = (a, b) if total >= 0 else (b, a)
        which = f"{better} rather than {worse}" if abs(total) >= SAID else f"{a} or {b}"
        lines = [f"{which}: {_odds(abs(total))} (log-odds {total:+.2f} for {a})"]
        for name, value in self._evidence(row, n):
            says = f"favours {a if value > 0 else b}" if abs(value) >= SAID else "favours neither"
            lines.append(f"  {value:+8.2f}  {name} {says if not name.endswith(' others') else 'together'}")
        return "\n".join(lines + self._limits(i, better))

    def _limits(self, i: int, better: str) -> list[str]:
        """One line for the effect of outlier rate and isotonic maps on the evidence, where there is any."""
        before, total = self._before(i), float(self.total[i])
        if not abs(total - before) >= SAID and not np.isnan(before):
            return []
        turned, raised = before * total < 0, abs(total) > abs(before)
        verb = f"turned to {better}," if turned else "raised to" if raised else "limited to"
        causes = []
        if self.outlier_rate and not (abs(self.outlier_term[i]) < SAID and np.isfinite(before)):
            beside = turned or raised or self.probability[i].sum() < 2 * self.outlier_rate
            causes = [*(["both are unlikely"] if beside else []), _rate(self.outlier_rate)]
        if abs(self.calibration[i]) >= SAID or not causes:
            causes.append("probabilities are calibrated (isotonic)")
        return [f"  {verb} {_odds(abs(total))}: {', and '.join(causes)}"]

    def pair(self, row: int = 0) -> tuple[str, str]:
        """Return the two classes that one row is explained by, the one spoken for first.

        Parameters
        ----------
        row : int, default 0
            Which row.

        Returns
        -------
        tuple of str
        """
        i = self._row(row)
        return str(self.labels[self.first[i]]), str(self.labels[self.second[i]])

    def plot(self, row: int = 0, n: int = 12, ax: Axes | None = None) -> Axes:
        """Draw a waterfall of one row: a bar for the prior and for each of the ``n`` largest terms (needs matplotlib).

        Parameters
        ----------
        row : int, default 0
            Which row.
        n : int, default 12
            How many terms to show.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        matplotlib axes
        """
        from ..figures.terms import waterfall

        return waterfall(self, row, n, ax)

    def _before(self, i: int) -> float:
        """The log-odds of one row without outlier rate and calibration."""
        return float(self.prior[i] + self.rest[i] + _over_columns(self.parts[[i], :])[0])

    def _row(self, row: int) -> int:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row}: the explanation has {len(self)} rows, 0 to {len(self) - 1}")
        return row % len(self)

    def _labels(self, codes: Codes) -> Cells:
        out = np.empty(len(codes), dtype=object)
        out[:] = [self.labels[c] for c in codes]
        return out

    def _places(self, wanted: Sequence[str] | None) -> NDArray[np.int64]:
        if wanted is not None:
            at = {str(name): j for j, name in enumerate(self.columns)}
            unknown = [name for name in wanted if name not in at]
            if unknown:
                raise ValueError(f"to_frame: there is no column {unknown[0]!r}; the columns are {list(at)[:20]}")
            return np.array([at[name] for name in wanted], np.int64)
        if is_sparse(self.parts):
            return np.unique(self.parts.indices[self.parts.data != 0]).astype(np.int64)
        return np.arange(len(self.columns))

    def _said(self, i: int, j: int) -> str:
        """``age = 41``: a column and its value."""
        name = str(self.columns[j])
        if isinstance(self.data, Frame):
            column = self.data.columns.get(name)
            value = None if column is None else column.rows(slice(i, i + 1)).cells()[0]
        else:
            value = cast("Array", self.data)[i, j]
        if is_missing(value):
            return f"{name} (missing)"
        words = "" if self.notes is None else self.notes(i, name)
        if words:
            return f"{name} ({words})"
        if isinstance(value, float | np.floating):
            return f"{name} = {value:{'.0f' if WHOLE[0] <= abs(float(value)) < WHOLE[1] else '.4g'}}"
        return f"{name} = {value}"

    def __repr__(self) -> str:
        return f"Explanation of {len(self)} rows by {len(self.columns)} columns; row 0:\n{self.why(0)}"

    def _repr_html_(self) -> str:
        size = np.asarray(abs(cast("Array", self.parts[:SHOWN_ROWS])).sum(axis=0)).reshape(-1)
        top = np.argsort(-size, kind="stable")[:SHOWN_COLUMNS]
        names = [
            "for",
            "against",
            "prior",
            self.rest_name,
            "outliers",
            "calibration",
            *(str(self.columns[j]) for j in top),
            "others",
            "total",
        ]
        rows = []
        for i in range(min(len(self), SHOWN_ROWS)):
            one = self.parts[[i], :]
            line = (one.toarray() if is_sparse(one) else one)[0]
            others = float(np.delete(line, top).sum())
            numbers = [
                self.prior[i],
                self.rest[i],
                self.outlier_term[i],
                self.calibration[i],
                *line[top],
                others,
                self.total[i],
            ]
            labels = (self.labels[self.first[i]], self.labels[self.second[i]])
            rows.append([*map(str, labels), *(f"{v:+.2f}" for v in numbers)])
        return html_table(names, rows)


def _odds(log_odds: float) -> str:
    odds = np.exp(min(log_odds, 700.0))
    return f"{odds:.2g} to 1" if odds < 10 else f"{odds:,.0f} to 1" if odds <= CERTAIN else "more than a million to 1"


def _rate(rate: float) -> str:
    """``about 1 row in 400 is an outlier``."""
    if rate >= 0.1:
        return f"about {rate:.0%} of rows are outliers"
    return f"about 1 row in {float(f'{1 / rate:.2g}'):,.0f} is an outlier"


def pair_of(classes: object, labels: tuple[Hashable, ...], who: str = "explain") -> tuple[int, int]:
    """The codes of the two classes asked for."""
    pair = classes.tolist() if isinstance(classes, np.ndarray) else classes
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise ValueError(f"{who}: classes={classes!r}: must be two labels, (a, b), of {list(labels)}")
    for label in pair:
        if label not in labels:
            raise ValueError(f"{who}: no class {label!r}; the classes are {list(labels)}")
    if pair[0] == pair[1]:
        raise ValueError(f"{who}: classes={classes!r}: must be two different classes")
    return labels.index(pair[0]), labels.index(pair[1])


def explain_rows(
    solution: Solution,
    X: Matrix,
    classes: ClassesLike,
    columns: Sequence[str],
    owners: NDArray[np.int64] | None,
    form: str,
    calibrated: Callable[[Matrix], Array] | None = None,
) -> Explanation:
    """The explanation of rows X; ``owners`` says which of ``columns`` each column of the model belongs to.

    ``calibrated`` gives the posterior, where maps come after that of the solution.
    """
    if len(solution.classes) < 2:
        raise ValueError(f"explain: the model has only one class, {solution.classes[0]!r}; two are needed to compare")
    wanted = None if classes is None else pair_of(classes, solution.classes)
    scores = solution.scores(X)
    posterior = with_outliers(softmax(scores, axis=1), solution.log_prior, solution.outlier_rate)
    final = posterior if calibrated is None else calibrated(X)
    sure = scores if not solution.outlier_rate and calibrated is None else final
    first, second = _leading(sure) if wanted is None else (np.full(len(scores), c, np.int32) for c in wanted)
    blocks = row_blocks(len(scores), 1 if is_sparse(X) else max(X.shape[1], 1), AT_ONCE)
    terms = [_terms(solution, X[s:e], first[s:e], second[s:e], owners, len(columns)) for s, e in blocks]
    beside_zeros = is_sparse(terms[0][0])
    parts: Array | Csr
    if beside_zeros or is_sparse(X):
        parts = cast("Csr", sparse.vstack([sparse.csr_array(t[0]) for t in terms], format="csr"))
    else:
        parts = np.concatenate([cast("Array", t[0]) for t in terms])
    rest, events = (np.concatenate([t[k] for t in terms]) for k in (1, 2))
    with np.errstate(invalid="ignore"):
        prior = solution.log_prior[first] - solution.log_prior[second]
        prior = np.where(np.isnan(prior), 0.0, prior)  # neither class is possible
        total = _over_columns(parts) + rest + prior
    total = np.where(events > 0, -np.inf, np.where(events < 0, np.inf, total))
    at, outlier_term, calibration = np.arange(len(scores)), np.zeros(len(scores)), np.zeros(len(scores))
    if solution.outlier_rate:
        outlier_term, total = _turned(total, posterior[at, first], posterior[at, second])
    if calibrated is not None:
        calibration, total = _turned(total, final[at, first], final[at, second])
    return Explanation(
        solution.classes, first, second, np.stack([final[at, first], final[at, second]], axis=1), prior, rest,
        parts, outlier_term, calibration, total, columns, "zeros" if beside_zeros else "spread", solution.outlier_rate,
        shown(X), form,
    )  # fmt: skip


def _turned(total: Array, p_a: Array, p_b: Array) -> tuple[Array, Array]:
    """What is added to the log-odds where they become those of these probabilities, and what they become."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(p_a) - np.log(p_b)
        added = odds - total
    return np.where(np.isfinite(added), added, 0.0), np.where(np.isnan(odds), total, odds)


def _leading(scores: Array) -> tuple[Codes, Codes]:
    """The codes of the two most probable classes; of equals, those that come first."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :2].astype(np.int32)
    return order[:, 0].copy(), order[:, 1].copy()


def _terms(
    solution: Solution, X: Matrix, a: Codes, b: Codes, owners: NDArray[np.int64] | None, width: int
) -> tuple[Array | Csr, Array, Array]:
    """What each column of the table adds, the rest, and events of probability 0 under a, less those under b."""
    with np.errstate(over="ignore", invalid="ignore"):  # far rows overflow here, and are drawn in below
        terms = solution.parts(X, a, b)
    columns, rest, events = _of_table(terms.columns, owners, width), terms.rest, np.zeros(len(a))
    bad = np.flatnonzero(~np.isfinite(_over_columns(columns) + rest))
    if len(bad):
        few = X[bad].toarray() if is_sparse(X) else X[bad]
        wide = columns.tolil() if is_sparse(columns) else columns
        wide[bad], rest[bad] = _far(solution, few, a[bad], b[bad], owners, width)
        columns = wide if isinstance(wide, np.ndarray) else wide.tocsr()
    if terms.never is not None:
        never = _of_table(terms.never.columns, owners, width)
        events = _over_columns(never) + terms.never.rest
        columns = _with_infinities(columns, never)
    return columns, rest, events


def _over_columns(columns: Array | Csr) -> Array:
    with np.errstate(invalid="ignore"):  # infinities of both signs, where smoothing is 0 or a row is far out
        return np.asarray(columns.sum(axis=1)).reshape(-1)


def _with_infinities(columns: Array | Csr, never: Array | Csr) -> Array | Csr:
    """−∞ where a column holds what a finds impossible and b does not, +∞ where it is the other way round."""
    if not is_sparse(columns):
        assert not is_sparse(never)
        return np.where(never > 0, -np.inf, np.where(never < 0, np.inf, columns))
    columns, events = sparse.csr_array(columns), sparse.csr_array(never)  # of the same entries
    columns.data = np.where(events.data > 0, -np.inf, np.where(events.data < 0, np.inf, columns.data))
    return columns


def _of_table(columns: Array | Csr, owners: NDArray[np.int64] | None, width: int) -> Array | Csr:
    """Columns of the model added up by the column of the table they belong to."""
    if owners is None:
        return columns
    assert not is_sparse(columns)  # of a table
    out = np.zeros((len(columns), width))
    for j, owner in enumerate(owners):
        out[:, owner] += columns[:, j]
    return out


def _far(
    solution: Solution, x: Matrix, a: Codes, b: Codes, owners: NDArray[np.int64] | None, width: int
) -> tuple[Array, Array]:
    """The terms of rows too far out for their squares, drawn in along their ray as predictions are."""
    columns, rest = np.zeros((len(a), width)), np.zeros(len(a))
    far = np.arange(len(a))
    for _ in range(DRAWN_IN):
        x = solution.scorer.drawn_in(x)
        with np.errstate(over="ignore", invalid="ignore"):
            terms = solution.parts(x, a[far], b[far])
        found = cast("Array", _of_table(terms.columns, owners, width))  # of dense rows
        near = np.isfinite(found.sum(axis=1) + terms.rest)
        columns[far[near]], rest[far[near]] = found[near], terms.rest[near]
        if near.all():
            break
        far, x = far[~near], x[np.flatnonzero(~near)]
    return columns, rest
