"""A fitted model on one page: classes, fit to the rows it learned, and how well each column separates the classes.

Both come from sums.  The log-likelihood is Σ_c t_c·Θ_c − n_c·A_c, where log h(x) is 0 (else it needs the rows).  How
well column j separates two classes is what it is expected to add to the log-odds of the true one,
J_j(a, b) = E_a[part_j] − E_b[part_j]; over all columns that is Kullback and Leibler's divergence, both ways.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.family import Scorer
from ..core.stats import Sums
from ..data.arrays import Array, Cells
from ..data.frame import Template, form_to_read
from ..data.printed import aligned, html_table
from ..kernels.runtime.threads import one_blas_thread

SHOWN = 12  # columns of the printed page


def separations(scorer: Scorer, stats: Sums, prior: Array, owners: NDArray[np.int64] | None, width: int) -> Array:
    """What each column is expected to add for the true class against another, both drawn from the prior.  # → (p,)"""
    total, weight = np.zeros(width), 0.0
    with one_blas_thread():  # small products, many of them
        between = scorer.separation(stats)
        for a in range(len(prior)):
            for b in range(a):
                if prior[a] * prior[b] > 0:
                    J = between(a, b)
                    own = J if owners is None else np.bincount(owners, J, minlength=width)
                    total, weight = total + prior[a] * prior[b] * own, weight + 2 * prior[a] * prior[b]
    return total / weight if weight else total


# --- the page


@dataclass(frozen=True, eq=False)
class Summary:
    """A fitted model on one page: classes, parameters, fit, and how well each column separates the classes.

    Made by ``summary()`` of every estimator.

    Attributes
    ----------
    model : str
        The class of the estimator.
    classes : tuple
        The classes.
    prior : ndarray of shape (n_classes,)
        The class prior.
    rows : ndarray of shape (n_classes,)
        Rows (total weight) of each class.
    n_parameters : int
        Number of free parameters.
    log_likelihood : float or None
        Σ log p(x, y); None where it needs the rows: ``summary(X, y)``.
    by_class : ndarray of shape (n_classes,) or None
        The same for each class; None where it is known for all classes together only.
    of : str
        Which rows the log-likelihood is of.
    n : float
        Their total weight.
    columns : sequence of str
        The names of the columns.
    separation : ndarray of shape (p,)
        What each column is expected to add to the log-odds of the true class against another.
    centres : ndarray of shape (n_classes, p) or None
        Class means, where the columns have them.
    form : str
        The kind of table that was learned.
    pool : str
        The pool of structures, where posteriors are those of a pool.
    aic, bic : float or None
        2·parameters − 2·log-likelihood, and log(rows)·parameters − 2·log-likelihood.

    See Also
    --------
    Explanation : What each column adds for single rows.
    check_assumptions : Whether Gaussian models fit.

    Examples
    --------
    >>> from suffit import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [6.0], [7.0]], ["low", "low", "high", "high"])
    >>> model.summary().separation.round(2).tolist()
    [50.0]
    """

    model: str
    classes: tuple[Hashable, ...]
    prior: Array  # (K,)
    rows: Array  # (K,)
    n_parameters: int
    log_likelihood: float | None
    by_class: Array | None  # (K,)
    of: str  # the rows that the log-likelihood is of
    n: float  # how many
    columns: Sequence[str]
    separation: Array  # (p,)
    centres: Array | None  # (K, p)
    form: str = "dict"
    pool: str = ""  # of structures, where posteriors are its own and densities those of one of them

    @property
    def aic(self) -> float | None:
        """2·parameters − 2·log-likelihood."""
        return None if self.log_likelihood is None else 2.0 * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float | None:
        """log(rows)·parameters − 2·log-likelihood."""
        if self.log_likelihood is None:
            return None
        return float(np.log(self.n)) * self.n_parameters - 2.0 * self.log_likelihood

    def to_frame(self) -> Any:
        """Return a data frame of the columns: how far each separates the classes, and its mean in each class.

        Returns
        -------
        data frame
            Of the library the rows came from; for plain arrays pandas where it is installed, else a dict of arrays.
        """
        out: dict[str, Cells] = {"column": np.array(list(map(str, self.columns)), dtype=object)}
        out["separation"] = self.separation
        for label, means in zip(self.classes, [] if self.centres is None else self.centres, strict=False):
            out[f"mean in {label}"] = means
        return Template(form_to_read(self.form), {}).make(out)

    def _class_rows(self) -> list[list[str]]:
        each = [None] * len(self.classes) if self.by_class is None else self.by_class
        return [
            [str(c), f"{p:.3f}", f"{n:g}", "" if v is None else f"{v:.2f}"]
            for c, p, n, v in zip(self.classes, self.prior, self.rows, each, strict=True)
        ]

    def _column_rows(self) -> list[list[str]]:
        top = np.argsort(-self.separation, kind="stable")[:SHOWN]
        means = np.zeros((0, len(self.columns))) if self.centres is None else self.centres[:4]
        return [[str(self.columns[j]), f"{self.separation[j]:.2f}", *(f"{m:.4g}" for m in means[:, j])] for j in top]

    def _heads(self) -> tuple[list[str], list[str]]:
        shown = [] if self.centres is None else self.classes[:4]
        return ["class", "prior", "rows", "log-likelihood"], ["column", "separation", *(f"mean {c}" for c in shown)]

    def _fit(self) -> str:
        if self.log_likelihood is None:
            return "log-likelihood, AIC and BIC need the rows: call summary(X, y)"
        return f"log-likelihood {self.log_likelihood:.2f}, AIC {self.aic:.2f}, BIC {self.bic:.2f} of {self.of}"

    def _what(self) -> str:
        size = f"{len(self.classes)} classes, {len(self.columns)} columns, {self.rows.sum():g} rows"
        return f"{self.model}: {size}, {self.n_parameters} parameters"

    def __repr__(self) -> str:
        first, second = self._heads()
        more = len(self.columns) - SHOWN
        lines = [
            self._what(),
            self._fit(),
            *([self.pool] if self.pool else []),
            "",
            *aligned(first, self._class_rows()),
        ]
        lines += ["", *aligned(second, self._column_rows())]
        return "\n".join([*lines, f"… and {more} more columns"] if more > 0 else lines)

    def _repr_html_(self) -> str:
        first, second = self._heads()
        tables = html_table(first, self._class_rows()) + html_table(second, self._column_rows())
        pool = f"<br>{escape(self.pool)}" if self.pool else ""
        return f"<p>{self._what()}<br>{self._fit()}{pool}</p>{tables}"
