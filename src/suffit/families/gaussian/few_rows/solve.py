"""Jointly normal columns from fewer rows than columns: means and covariances in the space of the rows.

With z = x − μ_c for the rows of every class, all scatters share one matrix Z of centred rows: that of class c is
S_c = Zᵀ diag(w·1{y = c}) Z, and S = Σ_c S_c.  Tying and weighing classes only changes the weights of the rows;
shrinkage, a ridge and the prior's variances only add a diagonal.  So every covariance that the settings ask for is a
:class:`~.low_rank.LowRank` matrix of the same rows, with the same meaning, to the letter, as the p × p matrices of
joint.py have; work is rows²·p and room rows·p.

The amounts of Ledoit and Wolf and of OAS need tr R, ‖R‖² and Σ‖y_i‖⁴ of standardised columns: ‖R‖² = ‖Y Yᵀ‖²/n² is
the same number from the small side.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ....core.stats import CLASS, Stats
from ....data.arrays import Array
from ....data.rows import Rows
from ....data.warn import SingularClassWarning, warn_once
from ....kernels.runtime.threads import one_blas_thread
from .kept import as_rows
from .low_rank import LowRank, Whitened
from .scores import SMALL_PRODUCT, FewRowsOwn, FewRowsShared

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Settings:
    """What turns scatters into covariances: the settings of a jointly normal family."""

    tie: float
    shrinkage: float | str
    unbiased: bool
    ridge: float
    pool: tuple[float, ...] | None
    tolerance: float
    diagonal: bool  # what a number shrinks towards: the diagonal, or a multiple of I


class CentredRows:
    """The rows of every class about its mean, their weights, and how each column varies."""

    def __init__(self, x: Array, rows: Rows) -> None:
        self.codes, self.w = rows.part(0, len(x))
        K = len(rows.classes)
        base = x.mean(axis=0) if len(x) else np.zeros(x.shape[1])
        y = x - base
        share = np.zeros((K, len(x)))
        share[self.codes, np.arange(len(x))] = self.w
        self.n = share.sum(axis=1)
        some = self.n[:, None] > 0
        shift = np.divide(share @ y, self.n[:, None], out=np.zeros((K, x.shape[1])), where=some)
        middle = self.n @ shift / self.n.sum()
        shift = np.where(some, shift, middle)
        self.means = base + shift
        self.Z = y - shift[self.codes]
        for c in np.unique(self.codes):
            here = self.codes == c
            self.Z[np.ix_(here, (x[here] == x[here][:1]).all(axis=0))] = 0.0  # equal values have nothing about them
        within = self.w @ (self.Z * self.Z)
        total = (within + self.n @ (shift - middle) ** 2) / self.n.sum()
        self.total = np.where((x == x[:1]).all(axis=0), 0.0, total)

    @cached_property
    def flat(self) -> Flags:
        """Columns that do not vary at all."""
        return np.asarray(self.total <= 0.0)

    def of(self, a: Array, d: Array | float = 0.0) -> LowRank:
        """The matrix of the rows with these weights."""
        p = self.Z.shape[1]
        return LowRank(self.Z, a, np.broadcast_to(np.asarray(d, dtype=np.float64), (p,)))

    def own(self, c: int) -> LowRank:
        """S_c."""
        return self.of(np.where(self.codes == c, self.w, 0.0))


def shrunk_scatter(S: LowRank, n: float, how: str) -> LowRank:
    """A scatter shrunk towards its diagonal by the amount that its rows call for, on standardised columns."""
    if n <= 0:
        return S
    p = len(S.d)
    variance = S.diagonal() / n
    scale2 = np.where(variance > 0, variance, 1.0)
    at = np.flatnonzero(S.a)
    y = S.Z[at] / np.sqrt(scale2)
    root = np.sqrt(S.a[at] / n)
    squares = float((((root[:, None] * y) @ (root[:, None] * y).T) ** 2).sum())
    mu = float((variance > 0).sum()) / p  # tr R / p
    if how == "oas":
        alpha, excess = squares / p**2, (n + 1) * (squares / p**2 - mu**2 / p)
        amount = 0.0 if p < 2 else min((alpha + mu**2) / excess, 1.0) if excess != 0 else 1.0
    else:
        fourth = float(S.a[at] @ ((y * y).sum(axis=1) ** 2))
        delta = (squares - p * mu**2) / p
        beta = min((fourth / n - squares) / (n * p), delta)
        amount = beta / delta if beta > 0 and p > 1 else 0.0
    return S.scaled(1 - amount).plus_diagonal(amount * mu * n * variance)


def regular(M: LowRank, settings: Settings) -> LowRank:
    """A fixed amount of shrinkage, then the ridge."""
    s, r = settings.shrinkage, settings.ridge
    if not isinstance(s, str) and s:
        variance = M.diagonal()
        M = M.scaled(1 - s).plus_diagonal(s * (variance if settings.diagonal else variance.mean()))
    return M.scaled(1 - r).plus_diagonal(r) if r else M


def covariances(rows: CentredRows, settings: Settings) -> tuple[list[LowRank], LowRank]:
    """Σ_c as the settings say (none where one is shared by all), and the shared Σ."""
    K, n, t = len(rows.n), rows.n, settings.tie
    d = np.maximum(n - (n > 0), 0.0) if settings.unbiased else n
    by_class = t < 1.0 or isinstance(settings.shrinkage, str) or settings.pool is not None
    scatters = [rows.own(c) for c in range(K)] if by_class else []
    S = rows.of(rows.w)
    if isinstance(settings.shrinkage, str):
        scatters = [shrunk_scatter(one, m, settings.shrinkage) for one, m in zip(scatters, n, strict=True)]
        S = _sum(scatters)
    shared = S.scaled(1 / (d.sum() or 1.0))
    if settings.pool is not None:
        shares = [q / m if m > 0 else 0.0 for q, m in zip(settings.pool, d, strict=True)]
        shared = _sum([one.scaled(q) for one, q in zip(scatters, shares, strict=True)])
    own = []
    for c in range(K) if t < 1.0 else ():
        over = (1 - t) * d[c] + t * d.sum()
        mixed = scatters[c].scaled(1 - t).plus(S.scaled(t)) if t else scatters[c]
        own.append(regular(mixed.scaled(1 / over if over > 0 else 0.0), settings))
    return own, regular(shared, settings)


def _sum(matrices: Sequence[LowRank]) -> LowRank:
    total = matrices[0]
    for one in matrices[1:]:
        total = total.plus(one)
    return total


def solved_wide(stats: Stats, columns: Sequence[str], settings: Settings) -> FewRowsShared | FewRowsOwn:
    """Covariances, tied, shrunk and factored, as ``MultivariateGaussian`` does of p × p sums."""
    x, rows = as_rows(stats)
    with one_blas_thread(len(x) * x.size < SMALL_PRODUCT):
        return _solved(CentredRows(x, rows), stats.axes[CLASS].labels, columns, settings)


def _solved(
    rows: CentredRows, classes: Sequence[Hashable], columns: Sequence[str], settings: Settings
) -> FewRowsShared | FewRowsOwn:
    K, p = rows.means.shape
    keep = np.ones(p, dtype=bool) if settings.ridge else ~rows.flat
    own, shared = covariances(rows, settings)
    if settings.tie == 1.0:
        white = shared.whitened(keep, settings.tolerance)
        warn_rank("all classes together", white.rank, int(keep.sum()))
        scorer = FewRowsShared(rows.means, shared, white, columns, K * p + p * (p + 1) // 2)
        scorer.tolerance = max(scorer.tolerance, settings.tolerance)
        return scorer
    found = [_regular_factor(M, keep) for M in own]
    mended = [c for c in range(K) if found[c] is None]
    for c in mended:
        own[c] = _mended(own[c], shared, float(rows.n[c]), rows, keep)
        found[c] = own[c].whitened(keep)
        warn_rank(f"class {classes[c]!r}", found[c].rank, int(keep.sum()))  # type: ignore[union-attr]
    warn_mended([classes[c] for c in mended])
    return FewRowsOwn(rows.means, own, found, int(keep.sum()), columns, K * p * (p + 3) // 2)  # type: ignore[arg-type]


def directions(scorer: FewRowsShared, total: LowRank, most: int) -> tuple[Array, Array, float]:
    """The directions along which the total covariance T exceeds the shared Σ most: Wᵀv, v eigenvectors of W(T − Σ)Wᵀ.

    With their eigenvalues, and the sum of all.  # → (p, q), (q,)
    """
    white = scorer.white
    if isinstance(white.W, np.ndarray):
        P = total.Z @ white.W.T
        A = (P.T * total.a) @ P + (white.W * total.d) @ white.W.T
        values, vectors = np.linalg.eigh(A - np.eye(len(A)))
        return white.W.T @ vectors[:, ::-1], values[::-1], float(values.sum())
    from scipy.sparse.linalg import LinearOperator, eigsh

    within, p = scorer.matrices[0], len(total.d)

    def times(v: Array) -> Array:
        u = v.reshape(-1) @ white.W
        return (total.times(u) - within.times(u)) @ white.W.T

    start = scorer.means.std(axis=0) @ white.W.T
    operator = LinearOperator((p, p), matvec=times, dtype=np.float64)
    values, vectors = eigsh(operator, k=most, which="LA", v0=start if start.any() else None)
    order = np.argsort(-values)
    trace = white.precision_diagonal() @ total.d + total.a @ ((total.Z @ white.W.T) ** 2).sum(axis=1) - white.rank
    return (vectors.T[order] @ white.W).T, values[order], float(trace)


def _regular_factor(M: LowRank, keep: Flags) -> Whitened | None:
    """The factor of a matrix of full rank; None where it has less."""
    if M.at_most() < keep.sum():
        return None
    white = M.whitened(keep)
    return white if white.rank == keep.sum() else None


def _mended(M: LowRank, shared: LowRank, n: float, rows: CentredRows, keep: Flags) -> LowRank:
    """A singular Σ_c, mixed with the shared one; if that is singular too, with the variances of one row more."""
    p = len(M.d)
    weight = (p + 1) / (n + p + 1)
    M = M.scaled(1 - weight).plus(shared.scaled(weight))
    if _regular_factor(M, keep) is None:
        M = M.plus_diagonal(np.where(rows.flat, 0.0, rows.total) / (n + p + 1))
    return M


def warn_rank(who: str, rank: int, columns: int, separating: Sequence[str] = ()) -> None:
    """Say that some directions are dropped, and in which columns the classes differ all the same."""
    if rank < columns:
        warn_once(
            SingularClassWarning,
            f"The covariance matrix of {who} is not full rank (columns depend on each other, or do not vary within "
            "classes): directions without variance are dropped; use shrinkage to keep them"
            + (
                f", and with them these columns, which separate the classes: {list(separating)[:10]}"
                if len(separating)
                else ""
            ),
        )


def warn_mended(classes: Sequence[Hashable]) -> None:
    """Say that the covariances of some classes were made of full rank."""
    if len(classes):
        names = ", ".join(map(repr, classes[:10])) + (" …" if len(classes) > 10 else "")
        one = len(classes) == 1
        what = f"covariance matrix of class {names} is not" if one else f"covariances of the classes {names} are not of"
        warn_once(
            SingularClassWarning,
            f"The {what} full rank (fewer rows than columns that vary, or columns that depend on each other): "
            "mixed with the shared covariance, which counts as p + 1 rows; set tie or shrinkage to control this",
        )
