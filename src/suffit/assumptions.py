"""Whether rows are as Gaussian models take them to be: normal, of equal covariances, or independent given the class."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .estimators.reading import read_labels
from .explain import html_table
from .frame import NUMBER, WHOLE, Frame, read_frame
from .stats import Array
from .table import InputError, encode

LEVEL = 0.05  # of the tests, after Holm's correction for their number
SMALL = 50  # rows up to which Shapiro and Wilk's test is used
SKEWED, HEAVY = 0.5, 1.0  # skewness and excess kurtosis that a Gaussian model feels
DEPENDENT = 0.3  # correlation within classes that naive Bayes feels
ROWS_PER_COLUMN = 5  # of the smallest class, for covariances of its own
SHOWN = 8


@dataclass(frozen=True)
class Normality:
    """One column in one class: skewness, excess kurtosis, and the probability of more under a normal distribution."""

    column: str
    label: Hashable
    n: int
    skewness: float
    kurtosis: float
    p: float  # corrected for the number of tests (Holm)
    positive: bool  # whether all values are above 0

    @property
    def matters(self) -> bool:
        """Surely not normal, and far enough from it to matter."""
        return self.p < LEVEL and (abs(self.skewness) > SKEWED or abs(self.kurtosis) > HEAVY)


@dataclass(frozen=True)
class BoxM:
    """Box's test of equal covariances, by its χ² and its F approximation."""

    M: float
    chi2: float
    df: float
    p_chi2: float
    F: float
    df1: float
    df2: float
    p_F: float

    @property
    def equal(self) -> bool:
        """Whether nothing speaks against one covariance for all classes."""
        return self.p_F >= LEVEL


@dataclass(frozen=True)
class Dependence:
    """The correlation of two columns within classes (pooled), corrected for the number of pairs (Holm)."""

    first: str
    second: str
    correlation: float
    p: float

    @property
    def matters(self) -> bool:
        """Surely there, and strong enough to matter."""
        return self.p < LEVEL and abs(self.correlation) >= DEPENDENT


def holm(p: Array) -> Array:
    """Holm's correction: the r-th smallest of m times m − r + 1, made to increase.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p)
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    out = np.empty(len(p))
    out[order] = np.minimum(raised, 1.0)
    return out


def box_m(covariances: Array, n: Array) -> BoxM:
    """M = (N − K) log|S| − Σ (n_c − 1) log|S_c|, of unbiased covariances S_c of n_c rows and the pooled S.

    >>> box_m(np.array([[[1.0]], [[1.0]]]), np.array([10, 10])).M
    0.0
    """
    K, p = covariances.shape[:2]
    v = n - 1.0
    pooled = np.einsum("c,cij->ij", v, covariances) / v.sum()
    M = float(v.sum() * np.linalg.slogdet(pooled)[1] - v @ np.linalg.slogdet(covariances)[1])
    c1 = float((1 / v).sum() - 1 / v.sum()) * (2 * p * p + 3 * p - 1) / (6 * (p + 1) * (K - 1))
    c2 = float((1 / v**2).sum() - 1 / v.sum() ** 2) * (p - 1) * (p + 2) / (6 * (K - 1))
    df = p * (p + 1) * (K - 1) / 2
    chi2 = (1 - c1) * M
    gap = c2 - c1 * c1
    df2 = (df + 2) / max(abs(gap), 1e-300)
    if gap > 0:
        F = M * (1 - c1 - df / df2) / df
    else:
        b = df2 / (1 - c1 + 2 / df2)
        F = df2 * M / (df * (b - M)) if b > M else np.inf
    return BoxM(M, chi2, df, float(stats.chi2.sf(chi2, df)), float(F), df, df2, float(stats.f.sf(F, df, df2)))


@dataclass(frozen=True)
class Assumptions:
    """What the tests found, and in words which model that speaks for."""

    normality: tuple[Normality, ...]
    covariances: BoxM | None
    why_no_covariances: str
    dependence: tuple[Dependence, ...]
    left_out: tuple[str, ...]  # columns that hold no numbers
    rows: dict[Hashable, int]
    n_columns: int

    @property
    def speaks_for(self) -> str:
        """In words, the model that fits what was found."""
        odd = sorted({t.column for t in self.normality if t.matters})
        tied = [d for d in self.dependence if d.matters]
        equal = self.covariances is None or self.covariances.equal
        if odd:
            return self._not_normal(odd, bool(tied))
        if not tied:
            which = "" if not equal else ", or GDA('diagonal', tie=1), whose boundary is linear"
            return f"naive Bayes: the columns are near normal and hardly correlated within classes. GaussianNB{which}."
        if equal and self.covariances is not None:
            return "linear discriminant analysis: near normal, correlated, and of equal covariances. LDA."
        few = min(self.rows.values()) < ROWS_PER_COLUMN * self.n_columns
        if self.covariances is None or few:
            return (
                "discriminant analysis with covariances between each class's own and one for all: there are few rows "
                "for a covariance of each. GDA(tie=…, shrinkage=…), or LDA."
            )
        return (
            "quadratic discriminant analysis: near normal, correlated, and covariances that differ. QDA, or GDA(tie=…)."
        )

    def _not_normal(self, odd: list[str], tied: bool) -> str:
        skewed = sorted({t.column for t in self.normality if t.matters and t.positive and t.skewness > SKEWED})
        names = ", ".join(odd[:5]) + (" …" if len(odd) > 5 else "")
        ways = [f"other families than the Gaussian: {names} are not normal within classes."]
        if skewed:
            what = ", ".join(skewed[:5]) + (" …" if len(skewed) > 5 else "")
            ways.append(f"{what}: positive and skewed, take logarithms, or NaiveBayes('lognormal') or ('gamma').")
        ways.append("GenerativeClassifier chooses a family for each column; NaiveBayes('binned') assumes none.")
        if tied:
            ways.append("Columns are correlated too: after transforming, LDA or QDA, or GenerativeClassifier's pool.")
        return " ".join(ways)

    def _lines(self) -> list[str]:
        odd = [t for t in self.normality if t.matters]
        lines = [f"normality: {len(odd)} of {len(self.normality)} columns within classes are clearly not normal"]
        for t in sorted(odd, key=lambda t: t.p)[:SHOWN]:
            shape = f"skewness {t.skewness:+.2f}, excess kurtosis {t.kurtosis:+.2f}"
            lines.append(f"  {t.column} in {t.label}: {shape}, p {_small(t.p)}")
        if self.covariances is None:
            lines.append(f"equal covariances: not tested, {self.why_no_covariances}")
        else:
            b = self.covariances
            verdict = "nothing speaks against them" if b.equal else "they differ"
            lines.append(f"equal covariances: {verdict} (Box's M {b.M:.1f}, F {b.F:.2f}, p {_small(b.p_F)})")
        tied = [d for d in self.dependence if d.matters]
        lines.append(f"independence within classes: {len(tied)} of {len(self.dependence)} pairs clearly correlated")
        for d in self.dependence[: min(SHOWN, max(len(tied), 1))]:
            lines.append(f"  {d.first}, {d.second}: {d.correlation:+.2f}, p {_small(d.p)}")
        if self.left_out:
            lines.append(f"not looked at (no numbers): {', '.join(self.left_out[:SHOWN])}")
        return lines

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), f"this speaks for {self.speaks_for}"])

    def _repr_html_(self) -> str:
        rows = [
            [t.column, str(t.label), str(t.n), f"{t.skewness:+.2f}", f"{t.kurtosis:+.2f}", _small(t.p)]
            for t in sorted(self.normality, key=lambda t: t.p)[:SHOWN]
        ]
        table = html_table(["column", "class", "rows", "skewness", "excess kurtosis", "p"], rows)
        lines = "<br>".join(escape(line) for line in self._lines() if not line.startswith("  "))
        return f"<p>{lines}<br><b>this speaks for {escape(self.speaks_for)}</b></p>{table}"


def _small(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-4 else "< 0.0001"


def check_assumptions(X: Any, y: Any) -> Assumptions:
    """Normality by class and column, Box's M, correlations within classes, and which model that speaks for.

    Each kind of test is corrected for how many there are.  With many rows any departure shows; what is called clear is
    also large enough to matter (skewness beyond 0.5 or excess kurtosis beyond 1; correlation beyond 0.3).  Missing
    values are left out; Box's M takes the rows that have none.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> check_assumptions(X, y).speaks_for
    'quadratic discriminant analysis: near normal, correlated, and covariances that differ. QDA, or GDA(tie=…).'
    """
    frame = read_frame(X)
    labels, codes = encode(read_labels(y, "check_assumptions"))
    if len(codes) != frame.n_rows:
        raise ValueError(f"check_assumptions: X has {frame.n_rows} rows and y {len(codes)} labels; they must match")
    names, numbers, left_out = _numeric(frame)
    if not names:
        raise InputError("check_assumptions: no column holds numbers that vary; there is nothing to test")
    groups = [numbers[codes == c] for c in range(len(labels))]
    box, why = _equal_covariances(groups, labels)
    return Assumptions(
        _normality(groups, labels, names), box, why, _dependence(groups, names), left_out,
        {label: len(g) for label, g in zip(labels, groups, strict=True)}, len(names),
    )  # fmt: skip


def _numeric(frame: Frame) -> tuple[list[str], Array, tuple[str, ...]]:
    """The columns of numbers that take more than two values; 0 and 1, levels and constants are left out."""
    names, columns, left_out = [], [], []
    for name, column in frame.columns.items():
        x = column.numbers() if column.kind() in (NUMBER, WHOLE) else np.zeros(0)
        if np.isinf(x).any():
            i = int(np.argmax(np.isinf(x)))
            raise InputError(f"column {name!r}: found {x[i]} in row {i}; replace it by a finite number, or by NaN")
        if len(np.unique(x[~np.isnan(x)])) > 2:
            names.append(name)
            columns.append(x)
        else:
            left_out.append(name)
    return names, np.column_stack(columns) if columns else np.zeros((frame.n_rows, 0)), tuple(left_out)


def _normality(groups: list[Array], labels: Sequence[Hashable], names: Sequence[str]) -> tuple[Normality, ...]:
    found = []
    for label, group in zip(labels, groups, strict=True):
        for name, column in zip(names, group.T, strict=True):
            x = column[~np.isnan(column)]
            if len(x) < 8 or np.ptp(x) <= 1e-12 * np.abs(x).max():
                continue  # too few to tell, or constant
            test: Any = stats.shapiro(x) if len(x) <= SMALL else stats.normaltest(x)
            shape = float(stats.skew(x)), float(stats.kurtosis(x))
            found.append(Normality(name, label, len(x), *shape, float(test.pvalue), bool(x.min() > 0)))
    corrected = holm(np.array([t.p for t in found])) if found else []
    return tuple(
        Normality(t.column, t.label, t.n, t.skewness, t.kurtosis, float(p), t.positive)
        for t, p in zip(found, corrected, strict=True)
    )


def _equal_covariances(groups: list[Array], labels: Sequence[Hashable]) -> tuple[BoxM | None, str]:
    if len(groups) < 2:
        return None, "there is one class"
    whole = [g[~np.isnan(g).any(axis=1)] for g in groups]
    n = np.array([len(g) for g in whole])
    p = whole[0].shape[1]
    if n.min() <= p + 1:
        return None, f"class {labels[int(n.argmin())]!r} has {n.min()} complete rows for {p} columns"
    covariances = np.stack([np.cov(g, rowvar=False).reshape(p, p) for g in whole])
    for label, S in zip(labels, covariances, strict=True):
        scale = np.sqrt(np.diagonal(S))
        if (scale <= 0).any() or np.linalg.cond(S / scale[:, None] / scale) > 1e12:
            return None, f"columns are constant or repeat each other in class {label!r}"
    return box_m(covariances, n), ""


def _dependence(groups: list[Array], names: Sequence[str]) -> tuple[Dependence, ...]:
    """Pooled within-class correlations of the rows that have both columns, the strongest first."""
    present = np.concatenate([~np.isnan(g) for g in groups]).astype(float)
    Z = np.concatenate(
        [g - np.nanmean(g, axis=0) if len(g) and not np.isnan(g).all(axis=0).any() else g for g in groups]
    )
    Z = np.nan_to_num(Z)
    cross, n = Z.T @ Z, present.T @ present
    square = (Z**2).T @ present
    with np.errstate(all="ignore"):
        r = np.nan_to_num(cross / np.sqrt(square * square.T))
    i, j = np.triu_indices(len(names), 1)
    r, df = np.clip(r[i, j], -1.0, 1.0), np.maximum(n[i, j] - len(groups) - 1, 1.0)
    with np.errstate(divide="ignore"):
        t = np.abs(r) * np.sqrt(df / np.maximum(1 - r * r, 1e-300))
    p = holm(2 * stats.t.sf(t, df)) if len(r) else np.zeros(0)
    order: NDArray[np.int64] = np.argsort(-np.abs(r), kind="stable")
    return tuple(Dependence(names[i[k]], names[j[k]], float(r[k]), float(p[k])) for k in order)
