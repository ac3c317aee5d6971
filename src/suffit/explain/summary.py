"""A fitted model on one page: classes, fit to the rows it learned, and how well each column separates the classes.

Both come from sums.  The log-likelihood is Σ_c t_c·Θ_c − n_c·A_c, where log h(x) is 0 (else it needs the rows).  How
well column j separates two classes is what it is expected to add to the log-odds of the true one,
J_j(a, b) = E_a[part_j] − E_b[part_j]; over all columns that is Kullback and Leibler's divergence, both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache, singledispatch
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array
from ..data.frame import Template, form_to_read
from ..families.counts.categorical import category_tables
from ..families.counts.multinomial import GAP, MultinomialScorer
from ..families.counts.scores import CategoricalScorer
from ..families.elementwise.scores import ElementwiseScorer
from ..families.elementwise.shape import Elementwise
from ..families.gaussian.diagonal import WarpedScorer
from ..families.gaussian.few_rows.kept import as_rows, is_kept
from ..families.gaussian.few_rows.scores import FewRowsOwn, FromFewRows
from ..families.gaussian.scores import DiagonalScorer, OwnScorer, SharedScorer
from ..families.gaussian.student_t import HeavyScorer
from ..families.product import ProductScorer
from ..kernels.runtime.threads import one_blas_thread
from .terms import html_table

SHOWN = 12  # columns of the printed page
DRAWS, FEWEST_DRAWS = 20_000, 200  # rows drawn to tell how columns with heavy tails separate two classes
MOST_DRAWN = 1 << 29  # products that all these draws take

# --- the log-likelihood of the rows learned, from their sums


@singledispatch
def likelihood(scorer: Any, stats: Any) -> Array | None:
    """Σ log p(x | c) over the rows learned of each class, or in all; None: it takes the rows.  # → (K,) or (1,)"""
    return None


@likelihood.register
def _(scorer: ElementwiseScorer, stats: Any) -> Array | None:
    if type(scorer.family).log_base is not Elementwise.log_base:
        return None  # log h(x) is no sum that is kept
    if scorer.never is not None:
        return None
    form = scorer.form
    return np.asarray((stats["t"] * form.theta).sum(axis=(1, 2)) - (stats["n"] * form.A).sum(axis=1))


@likelihood.register
def _(scorer: DiagonalScorer, stats: Any) -> Array:
    about = stats.about(scorer.means)
    return -np.asarray((about["xx"] * scorer.root**2 + about["n"] * scorer.log_scale).sum(axis=1))


@likelihood.register
def _(scorer: SharedScorer, stats: Any) -> Array | None:
    start = -0.5 * (scorer.log_det + scorer.rank * np.log(2 * np.pi))
    if scorer.W.ndim == 1:
        about = stats.about(scorer.means)
        log_scale = np.where(scorer.W > 0, 0.5 * np.log(2 * np.pi) - np.log(np.where(scorer.W > 0, scorer.W, 1.0)), 0.0)
        return -np.asarray((0.5 * about["xx"] * scorer.W**2 + about["n"] * log_scale).sum(axis=1))
    if _has_missing(stats):
        return None
    about = stats.about(scorer.means)
    squares = np.einsum("ki,...ij,kj->...", scorer.W, about["xx"], scorer.W)
    return np.asarray(-0.5 * squares + (about["n"].sum() if squares.ndim == 0 else about["n"]) * start).reshape(-1)


@likelihood.register
def _(scorer: OwnScorer, stats: Any) -> Array | None:
    if _has_missing(stats):
        return None
    about = stats.about(scorer.means)
    squares = np.einsum("cki,cij,ckj->c", scorer.W, about["xx"], scorer.W, optimize=True)
    return np.asarray(-0.5 * squares + about["n"] * scorer.start)


@likelihood.register
def _(scorer: FromFewRows, stats: Any) -> Array | None:
    if not is_kept(stats):
        return None
    x, rows = as_rows(stats)
    codes, weights = rows.part(0, len(x))
    joint = scorer.scores(x) + scorer.log_base(x)[:, None]
    each = weights * joint[np.arange(len(x)), codes]
    return np.bincount(codes, each, minlength=len(stats["n"])).astype(np.float64)


def _has_missing(stats: Any) -> bool:
    return "part_n" not in stats.sums or bool(stats["part_n"].any())


@likelihood.register
def _(scorer: WarpedScorer, stats: Any) -> Array | None:
    inner = likelihood(scorer.inner, stats)
    return None if inner is None else inner - (stats["x"] + stats["n"] * np.asarray(stats.origin)).sum(axis=1)


@likelihood.register
def _(scorer: CategoricalScorer, stats: Any) -> Array:
    counts = category_tables(stats, scorer.categories)
    return np.asarray(sum((n * t).sum(axis=1) for n, t in zip(counts, scorer.tables, strict=True)))


@likelihood.register
def _(scorer: MultinomialScorer, stats: Any) -> Array | None:
    return None if len(stats.axes[GAP]) else np.asarray((stats["count"] * scorer.weights).sum(axis=1))


@likelihood.register
def _(scorer: ProductScorer, stats: Any) -> Array | None:
    parts = [
        _in_its_units(likelihood(s, part), block.scales, part)
        for s, block, part in zip(scorer.scorers, scorer.blocks_of, stats.parts, strict=False)
    ]
    if any(part is None for part in parts):
        return None
    each = [part for part in parts if part is not None]
    if any(len(part) != len(each[0]) for part in each):  # a pooled block has one sum for all classes
        each = [part.sum(keepdims=True) for part in each]
    return np.asarray(sum(each))


def _in_its_units(found: Array | None, scales: Sequence[float], stats: Any) -> Array | None:
    """The log-likelihood of columns as they were before they were divided by these; nothing is missing."""
    if found is None or not scales:
        return found
    n = stats["n"] if len(found) == len(stats["n"]) else stats["n"].sum(keepdims=True)
    return np.asarray(found - n * float(np.log(scales).sum()))


# --- how well columns separate two classes

Between = Callable[[int, int], Array]  # of two classes a, b: E_a[part_j] − E_b[part_j] of every column of the model


@singledispatch
def separation(scorer: Any, stats: Any) -> Between:
    """How far every column of the model separates two classes, as a function of these."""
    raise NotImplementedError(f"{type(scorer).__name__} does not define how its columns separate classes")


@separation.register
def _(scorer: ElementwiseScorer, stats: Any) -> Between:
    theta, zero = scorer.form.theta, None if scorer.never is None else scorer.never.theta
    n, t = scorer.family.smooth(stats["n"], stats["t"])
    with np.errstate(all="ignore"):
        mean = np.nan_to_num(t / n[..., None])  # of T(x): the fit matches it

    def between(a: int, b: int) -> Array:
        with np.errstate(all="ignore"):
            J = ((theta[a] - theta[b]) * (mean[a] - mean[b])).sum(axis=-1)
        return np.asarray(J if zero is None else np.where((zero[a] != zero[b]).any(axis=-1), np.inf, J))

    return between


@separation.register
def _(scorer: DiagonalScorer, stats: Any) -> Between:
    precise = 2 * scorer.root**2
    var = np.maximum(scorer.variances, np.finfo(float).tiny)

    def between(a: int, b: int) -> Array:
        apart = 0.5 * (scorer.means[a] - scorer.means[b]) ** 2 * (precise[a] + precise[b])
        return np.where(scorer.flat, 0.0, apart + 0.5 * (var[a] / var[b] + var[b] / var[a]) - 1.0)

    return between


@separation.register
def _(scorer: SharedScorer, stats: Any) -> Between:
    w, mean = scorer.weights, scorer.means
    return lambda a, b: np.asarray((w[a] - w[b]) * (mean[a] - mean[b]))


@separation.register
def _(scorer: OwnScorer, stats: Any) -> Between:
    """part_j = u_j(½(Du)_j + c_j), u = x − m, D = P_b − P_a: E[uuᵀ] = Σ + ddᵀ, both classes being as far from m."""
    P = [W.T @ W for W in scorer.W]

    def between(a: int, b: int) -> Array:
        d = 0.5 * (scorer.means[b] - scorer.means[a])
        slope = -(P[a] + P[b]) @ d
        wider = np.einsum("ij,ij->i", P[b] - P[a], scorer.sigma[a] - scorer.sigma[b])
        return np.asarray(0.5 * wider - 2 * slope * d)

    return between


@separation.register
def _(scorer: FewRowsOwn, stats: Any) -> Between:
    """The same: Σ_j P_ij Σ_ij is the diagonal of PΣ, Σ = Zᵀ diag(a) Z + diag(d)."""

    def product(a: int, b: int) -> Array:
        P, M = scorer.white[a], scorer.matrices[b]
        return np.asarray(P.precision_diagonal() * M.d + M.a @ (P.precision(M.Z) * M.Z))

    def between(a: int, b: int) -> Array:
        d = 0.5 * (scorer.means[b] - scorer.means[a])
        slope = -scorer.white[a].precision(d) - scorer.white[b].precision(d)
        wider = product(b, a) - product(b, b) - product(a, a) + product(a, b)
        return np.asarray(0.5 * wider - 2 * slope * d)

    return between


@separation.register
def _(scorer: HeavyScorer, stats: Any) -> Between:
    """By draws, the same for every pair of classes: there is no formula."""
    K, p = scorer.n_classes, scorer.centres.shape[1]
    n = int(np.clip(MOST_DRAWN // (p * p * max(K * (K - 1), 1)), FEWEST_DRAWS, DRAWS))
    first, second = np.zeros(2 * n, np.int32), np.ones(2 * n, np.int32)

    @cache
    def drawn(c: int) -> Array:
        return scorer.sample(np.full(n, c, np.int32), np.random.default_rng(0))

    def between(a: int, b: int) -> Array:
        parts = scorer.of([a, b]).parts(np.concatenate([drawn(a), drawn(b)]), first, second).columns
        return np.asarray(parts[:n].mean(axis=0) - parts[n:].mean(axis=0))

    return between


@separation.register
def _(scorer: WarpedScorer, stats: Any) -> Between:
    return separation(scorer.inner, stats)


@separation.register
def _(scorer: CategoricalScorer, stats: Any) -> Between:
    shares = [np.where(never > 0, 0.0, np.exp(t)) for t, never in zip(scorer.tables, scorer.never, strict=True)]

    def between(a: int, b: int) -> Array:
        out = np.zeros(len(scorer.tables))
        for j, (table, never, p) in enumerate(zip(scorer.tables, scorer.never, shares, strict=True)):
            J = ((table[a] - table[b]) * (p[a] - p[b])).sum()
            out[j] = np.inf if (never[a] != never[b]).any() else J
        return out

    return between


@separation.register
def _(scorer: MultinomialScorer, stats: Any) -> Between:
    expected = scorer.centres

    def between(a: int, b: int) -> Array:
        J = (scorer.weights[a] - scorer.weights[b]) * (expected[a] - expected[b])
        return np.asarray(np.where((scorer.never[a] != scorer.never[b]) & (expected[a] != expected[b]), np.inf, J))

    return between


@separation.register
def _(scorer: ProductScorer, stats: Any) -> Between:
    blocks = zip(scorer.scorers, scorer.blocks_of, stats.parts, strict=True)
    each = [(k, separation(s, part) if k.power else None) for s, k, part in blocks]

    def between(a: int, b: int) -> Array:
        return np.concatenate([np.zeros(len(k.columns)) if J is None else k.power * J(a, b) for k, J in each])

    return between


def separations(scorer: Any, stats: Any, prior: Array, owners: NDArray[np.int64] | None, width: int) -> Array:
    """What each column is expected to add for the true class against another, both drawn from the prior.  # → (p,)"""
    total, weight = np.zeros(width), 0.0
    with one_blas_thread():  # small products, many of them
        between = separation(scorer, stats)
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
        out: dict[str, NDArray[Any]] = {"column": np.array(list(map(str, self.columns)), dtype=object)}
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
            *_aligned(first, self._class_rows()),
        ]
        lines += ["", *_aligned(second, self._column_rows())]
        return "\n".join([*lines, f"… and {more} more columns"] if more > 0 else lines)

    def _repr_html_(self) -> str:
        first, second = self._heads()
        tables = html_table(first, self._class_rows()) + html_table(second, self._column_rows())
        pool = f"<br>{escape(self.pool)}" if self.pool else ""
        return f"<p>{self._what()}<br>{self._fit()}{pool}</p>{tables}"


def _aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    width = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return [
        "  ".join([row[0].ljust(width[0]), *(v.rjust(w) for v, w in zip(row[1:], width[1:], strict=True))]).rstrip()
        for row in (head, *rows)
    ]
