"""Whether rows are as Gaussian models take them to be: normal, of equal covariances, or independent given the class."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..data.arrays import Array
from ..data.column import EMPTY, INTEGER, NUMBER
from ..data.errors import InputError
from ..data.frame import Frame, read_frame
from ..data.inputs import LabelsLike, TableLike
from ..data.printed import html_table
from ..data.rows import encode
from ..data.validate import read_labels

SIGNIFICANT = 0.05  # of the tests, after Holm's correction for their number
SMALL = 50  # rows up to which Shapiro and Wilk's test is used
SKEWED, HEAVY = 0.5, 1.0  # skewness and excess kurtosis that a Gaussian model feels
DEPENDENT = 0.3  # correlation within classes that naive Bayes feels
MANY = 1 / 3  # share of the columns beyond which Gaussian models are not recommended
ROWS_PER_COLUMN = 5  # of the smallest class, for covariances of its own
SHOWN = 8
MOST_ALIKE = 1e12  # condition of a correlation matrix from which on it counts as singular
REPEATED = 1e-9  # how near to 1 the correlation of columns is that say the same
ADDED = 1e-6  # share of a direction without variance that a column must have to belong to it


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
        return self.p < SIGNIFICANT and (abs(self.skewness) > SKEWED or abs(self.kurtosis) > HEAVY)


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
    p_f: float

    @property
    def equal(self) -> bool:
        """Whether there is no evidence against one covariance for all classes."""
        return self.p_f >= SIGNIFICANT


@dataclass(frozen=True)
class Dependence:
    """The strongest correlation of two columns: in one class, or within all of them (``label`` is None)."""

    first: str
    second: str
    label: Hashable
    correlation: float
    p: float  # corrected for the number of tests (Holm)

    @property
    def matters(self) -> bool:
        """Surely there, and strong enough to matter."""
        return self.p < SIGNIFICANT and abs(self.correlation) >= DEPENDENT


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
    """What the tests of :func:`check_assumptions` found, and in words which model that favours.

    Attributes
    ----------
    normality : tuple of Normality
        A test for each column in each class.
    covariances : BoxM or None
        Box's test of equal covariances; None where it could not be made.
    why_no_covariances : str
        Why it could not be made.
    dependence : tuple of Dependence
        The strongest correlation of each pair of columns, within a class or within all.
    dropped : tuple of str
        Columns that were not tested.
    rows : dict
        Number of rows of each class.
    n_columns : int
        Number of columns tested.
    why_dropped : tuple of str
        Why each of ``dropped`` was not tested.
    favours : str
        In words, the model that fits what was found.

    See Also
    --------
    check_assumptions : Makes these tests.
    GenerativeClassifier : Chooses families and structure by leave-one-out instead.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> check_assumptions(X, y).covariances.equal
    False
    """

    normality: tuple[Normality, ...]
    covariances: BoxM | None
    why_no_covariances: str
    dependence: tuple[Dependence, ...]
    dropped: tuple[str, ...]  # columns that were not tested
    rows: dict[Hashable, int]
    n_columns: int
    why_dropped: tuple[str, ...] = ()  # of each of these

    @property
    def favours(self) -> str:
        """In words, the model that fits what was found."""
        odd = sorted({t.column for t in self.normality if t.matters})
        if len(odd) > MANY * self.n_columns:
            return "other families than the Gaussian. " + self._not_normal(odd)
        return self._gaussian() + ("" if not odd else " But " + self._not_normal(odd))

    def _gaussian(self) -> str:
        """The Gaussian model that the correlations and covariances favour."""
        tied = any(d.matters for d in self.dependence)
        equal = self.covariances is not None and self.covariances.equal
        if not tied:
            also = ", or GDA('diagonal', tie=1), whose boundary is linear" if equal else ""
            return f"naive Bayes: columns hardly correlated within classes. GaussianNB{also}."
        if equal:
            return "linear discriminant analysis: columns correlated, with equal covariances. LDA."
        few = min(self.rows.values()) < ROWS_PER_COLUMN * self.n_columns
        if self.covariances is None and not few:
            return (
                "linear or shrunk discriminant analysis: columns correlated, equal covariances not tested "
                f"({self.why_no_covariances}). LDA, or GDA(tie=…, shrinkage=…)."
            )
        if few:
            return (
                "discriminant analysis with covariances between each class's own and one for all: columns correlated, "
                "and few rows for a covariance of each. GDA(tie=…, shrinkage=…), or LDA."
            )
        return "quadratic discriminant analysis: columns correlated, with covariances that differ. QDA, or GDA(tie=…)."

    def _not_normal(self, odd: list[str]) -> str:
        """What to do about columns that are not normal."""
        right = {t.column for t in self.normality if t.matters and t.positive and t.skewness > SKEWED}
        ways = [f"{_listed(odd)} {'is' if len(odd) == 1 else 'are'} not normal within classes"]
        if right:
            ways.append(f"{_listed(sorted(right))}: take logarithms, or the families 'lognormal' and 'gamma'")
        ways.append("GenerativeClassifier chooses a family for each column, and 'binned' assumes none")
        return "; ".join(ways) + "."

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
            verdict = "no evidence against them" if b.equal else "they differ"
            lines.append(f"equal covariances: {verdict} (Box's M {b.M:.1f}, F {b.F:.2f}, p {_small(b.p_f)})")
        tied = [d for d in self.dependence if d.matters]
        lines.append(f"independence within classes: {len(tied)} of {len(self.dependence)} pairs clearly correlated")
        for d in self.dependence[: min(SHOWN, max(len(tied), 1))]:
            where = "" if d.label is None else f" in {d.label}"
            lines.append(f"  {d.first}, {d.second}{where}: {d.correlation:+.2f}, p {_small(d.p)}")
        if self.dropped:
            each = zip(self.dropped[:SHOWN], self.why_dropped, strict=False)
            more = f" and {len(self.dropped) - SHOWN} more" if len(self.dropped) > SHOWN else ""
            lines.append(f"not tested: {', '.join(f'{name} ({why})' for name, why in each)}{more}")
        return lines

    def __repr__(self) -> str:
        return "\n".join([*self._lines(), f"this favours {self.favours}"])

    def _repr_html_(self) -> str:
        rows = [
            [t.column, str(t.label), str(t.n), f"{t.skewness:+.2f}", f"{t.kurtosis:+.2f}", _small(t.p)]
            for t in sorted(self.normality, key=lambda t: t.p)[:SHOWN]
        ]
        table = html_table(["column", "class", "rows", "skewness", "excess kurtosis", "p"], rows)
        lines = "<br>".join(escape(line) for line in self._lines() if not line.startswith("  "))
        return f"<p>{lines}<br><b>this favours {escape(self.favours)}</b></p>{table}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (" …" if len(names) > 5 else "")


def _small(p: float) -> str:
    return f"{p:.2g}" if p >= 1e-4 else "< 0.0001"


def check_assumptions(X: TableLike, y: LabelsLike) -> Assumptions:
    """Test normality by class and column, equal covariances (Box's M) and correlations within classes.

    Each kind of test is corrected for the number of tests (Holm).  With many rows any departure is significant; what is
    called clear is also large enough to matter (skewness beyond 0.5 or excess kurtosis beyond 1; correlation beyond
    0.3). Missing values are ignored; Box's M uses the complete rows.

    Parameters
    ----------
    X : data frame, dict of columns or array-like of shape (n_samples, n_features)
        The rows; columns that are not numeric or take at most two values are not tested.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    Assumptions
        The tests, and in words which model they favour.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> print(check_assumptions(X, y).favours)
    quadratic discriminant analysis: columns correlated, with covariances that differ. QDA, or GDA(tie=…). But x3 is ...
    """
    frame = read_frame(X)
    labels, codes, _ = encode(read_labels(y, "check_assumptions"))
    if len(codes) != frame.n_rows:
        raise ValueError(f"check_assumptions: X has {frame.n_rows} rows and y {len(codes)} labels; they must match")
    names, numbers, why = _numeric(frame)
    if not names:
        raise InputError("check_assumptions: no numeric column takes more than two values, so there is nothing to test")
    groups = [numbers[codes == c] for c in range(len(labels))]
    rows = {label: len(g) for label, g in zip(labels, groups, strict=True)}
    return Assumptions(
        _normality(groups, labels, names), *_equal_covariances(groups, labels, names),
        _dependence(groups, labels, names), tuple(why), rows, len(names), tuple(why.values()),
    )  # fmt: skip


def _numeric(frame: Frame) -> tuple[list[str], Array, dict[str, str]]:
    """The columns of numbers that take more than two values; and why the others are not tested."""
    names, columns, why = [], [], {}
    for name, column in frame.columns.items():
        numeric = column.kind() in (NUMBER, INTEGER, EMPTY)
        x = column.numbers() if numeric and column.kind() != EMPTY else np.zeros(0)
        if np.isinf(x).any():
            i = int(np.argmax(np.isinf(x)))
            raise InputError(
                f"column {name!r}: found {x[i]} in row {i}; replace it by a finite number, or by NaN for missing"
            )
        distinct = len(np.unique(x[~np.isnan(x)]))
        if distinct > 2:
            names.append(name)
            columns.append(x)
        else:
            why[name] = ("all missing", "constant", "two values")[distinct] if numeric else "not numeric"
    return names, np.column_stack(columns) if columns else np.zeros((frame.n_rows, 0)), why


def _normality(groups: list[Array], labels: Sequence[Hashable], names: Sequence[str]) -> tuple[Normality, ...]:
    found = []
    for label, group in zip(labels, groups, strict=True):
        for name, column in zip(names, group.T, strict=True):
            x = column[~np.isnan(column)]
            if len(x) < 8 or np.ptp(x) <= 1e-12 * np.abs(x).max():
                continue  # too few to tell, or constant
            test = stats.shapiro(x) if len(x) <= SMALL else stats.normaltest(x)
            shape = float(stats.skew(x)), float(stats.kurtosis(x))
            found.append(Normality(name, label, len(x), *shape, float(test.pvalue), bool(x.min() > 0)))
    corrected = holm(np.array([t.p for t in found]))
    return tuple(
        Normality(t.column, t.label, t.n, t.skewness, t.kurtosis, float(p), t.positive)
        for t, p in zip(found, corrected, strict=True)
    )


def _equal_covariances(
    groups: list[Array], labels: Sequence[Hashable], names: Sequence[str]
) -> tuple[BoxM | None, str]:
    """Box's test, or why there is none."""
    if len(groups) < 2:
        return None, "there is only one class"
    whole = [g[~np.isnan(g).any(axis=1)] for g in groups]
    n = np.array([len(g) for g in whole])
    p = whole[0].shape[1]
    if n.min() <= p + 1:
        return None, f"class {labels[int(n.argmin())]!r} has {n.min()} complete rows for {p} columns"
    covariances = np.stack([np.cov(g, rowvar=False).reshape(p, p) for g in whole])
    for label, S in zip(labels, covariances, strict=True):
        why = _singular(S, names)
        if why:
            return None, f"{why} in class {label!r}"
    return box_m(covariances, n), ""


def _singular(S: Array, names: Sequence[str]) -> str:
    """Which columns make a covariance singular: constant ones, two that repeat each other, or some that add up."""
    scale = np.sqrt(np.diagonal(S))
    if (scale <= 0).any():
        still = [name for name, s in zip(names, scale, strict=True) if s <= 0]
        return f"{_listed(still)} {'is' if len(still) == 1 else 'are'} constant"
    R = S / scale[:, None] / scale
    if np.linalg.cond(R) <= MOST_ALIKE:
        return ""
    i, j = (int(k) for k in np.unravel_index(np.argmax(np.abs(np.triu(R, 1))), R.shape))
    if abs(R[i, j]) > 1 - REPEATED:
        return f"{names[i]} and {names[j]} repeat each other"
    direction = np.abs(np.linalg.eigh(R)[1][:, 0])  # in which nothing varies
    added = [name for name, share in zip(names, direction, strict=True) if share > ADDED * direction.max()]
    return f"{_listed(added)} determine each other"


def _dependence(groups: list[Array], labels: Sequence[Hashable], names: Sequence[str]) -> tuple[Dependence, ...]:
    """Correlations of the rows that have both columns, within each class and within all: of each pair the strongest."""
    i, j = np.triu_indices(len(names), 1)
    if not len(i):
        return ()
    centred, there = [_centred(g) for g in groups], [(~np.isnan(g)).astype(float) for g in groups]
    whose: list[Hashable] = [None, *labels]
    found = [_correlations(np.concatenate(centred), np.concatenate(there), len(groups))]
    found += [_correlations(z, m, 1) for z, m in zip(centred, there, strict=True)]
    r, p = (np.stack([f[k][i, j] for f in found]) for k in (0, 1))  # (K + 1, pairs)
    p = holm(p.reshape(-1)).reshape(p.shape)
    best = np.argmax(np.where(p < SIGNIFICANT, np.abs(r), -1.0), axis=0)  # all classes, where nothing is sure
    at = np.arange(len(i))
    order: NDArray[np.int64] = np.lexsort([-np.abs(r[best, at]), p[best, at] >= SIGNIFICANT])
    return tuple(
        Dependence(names[i[k]], names[j[k]], whose[best[k]], float(r[best[k], k]), float(p[best[k], k])) for k in order
    )


def _correlations(Z: Array, there: Array, classes: int) -> tuple[Array, Array]:
    """Correlations of centred columns (0 where missing), and the probability of more where there are none."""
    n, square = there.T @ there, (Z**2).T @ there
    scale = np.sqrt(square * square.T)
    r = np.clip(np.divide(Z.T @ Z, scale, out=np.zeros_like(scale), where=scale > 0), -1.0, 1.0)
    df = np.maximum(n - classes - 1, 1.0)
    t = np.abs(r) * np.sqrt(df / np.maximum(1 - r * r, 1e-300))
    return r, np.where(n > classes + 2, 2 * stats.t.sf(t, df), 1.0)


def _centred(x: Array) -> Array:
    """About the column means; 0 where a value is missing."""
    there = ~np.isnan(x)
    mean = np.where(there, x, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    return np.where(there, x - mean, 0.0)
