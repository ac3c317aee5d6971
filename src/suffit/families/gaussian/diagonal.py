"""Gaussian: independent normal columns, from sums of x and x² about an origin."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...core.family import CONTINUOUS, EMPTIED, INTEGER, Running, Scorer, register
from ...core.leave_one_out import LooScores
from ...core.stats import CLASS, FEATURE, ROUNDING, Stats, layout
from ...data.arrays import Array, Codes, Csr, NumberRows, adds_up, block, csr, freeze, is_sparse, sparse_without_missing
from ...data.errors import InputError, check_finite
from ...data.labels import Index
from ...data.rows import Rows
from ...data.validate import check_setting
from ...data.warn import SingularClassWarning, warn_absent, warn_once
from ...kernels.runtime.threads import every, in_order, row_blocks
from ..columns import IndependentColumns
from ..elementwise.shape import LOO_CELLS, class_ranges, never_learned, without
from ..rounding import about_means, clear_equal, cleared_columns, short_of_rows, slack, warn_few_digits
from ..running import RunningMoments, label_table
from ..tuning import Tuning
from .leave_one_out.diagonal import Ordinary
from .scores import SMALLEST, DiagonalScorer, GaussianScorer, SharedScorer

LOOKED_AT = 256  # rows that are looked at for missing values
FIRST_ROWS = 64  # the origin of a class is the mean of its first so many values
PRIOR_ROWS = 1.0  # worth of the prior on variances in tables: what does not vary in n rows may, once in n
LEAST_SHARE = 1e-9  # variance a class is given where it has none, as a share of the column's total variance
FAIR_RANGE = 1e6  # columns whose variances lie within this factor of the largest share one floor
Flags = NDArray[np.bool_]
SAME_MEAN = 4e-16  # means that differ by less, relative to the numbers they come from, are the same


def shift_moments(sums: Stats, d: Array) -> dict[str, Array]:
    """Σ(z+d) = Σz + n d;  Σ(z+d)² = Σz² + d(2Σz + n d)."""
    n, x, xx = sums["n"], sums["x"], sums["xx"]
    return {"n": n, "x": x + n * d, "xx": xx + d * (2 * x + n * d)}


MOMENTS = layout(
    "moments",
    dict.fromkeys(("n", "x", "xx"), (CLASS, FEATURE)),
    shift_moments,
    counted=dict.fromkeys(("x", "xx"), "n"),
    noise=(CLASS, FEATURE),
)


def origin_of(X: NumberRows, rows: Rows, normal: Callable[[Array], Array] = np.asarray) -> Array:
    """The mean of the first values (as ``normal`` makes them) of every class and column, so that nothing cancels."""
    from ...kernels.moments import first_means

    K, p = len(rows.classes), X.shape[1]
    seen, mean = np.zeros((K, p)), np.zeros((K, p))
    step = min(2 * FIRST_ROWS * K, 4096)
    start = 0
    while start < X.shape[0]:
        stop = min(start + step, X.shape[0])
        x = block(X, start, stop)
        with np.errstate(all="ignore"):  # what lies outside the support is named by the check, later
            x = freeze(normal(x))
        if not first_means(x, *rows.part(start, stop), FIRST_ROWS, seen, mean):
            break
        start, step = stop, min(step * 2, max(64, (1 << 18) // max(p, 1)))
    return mean


def expects_missing(X: NumberRows) -> bool:
    """Whether some rows from all over have a missing value: then all are read as if, whatever thread is first."""
    if is_sparse(X):
        return not adds_up(X.data)
    n = X.shape[0]
    return not adds_up(X if n <= LOOKED_AT else X[np.linspace(0, n - 1, LOOKED_AT).astype(np.int64)])


def apart(means: Array, middle: Array, origin: Array) -> Array:
    """(μ_c − μ)², 0 where that is rounding: of the mean, or of the origin that sums are about.  # (…, K, p)"""
    rounding = SAME_MEAN * (np.abs(middle) + np.abs(origin).max(axis=-2, keepdims=True, initial=0.0))
    return np.where(np.abs(means - middle) > rounding, (means - middle) ** 2, 0.0)


def _about_means(n: Array, x: Array, xx: Array, origin: Array) -> tuple[Array, Array, Array]:
    """Means, Σ(x − mean)² of each class and the variance of all rows together.  # (…, K, p), (…, K, p), (…, 1, p)"""
    shift = np.divide(x, n, out=np.zeros_like(x), where=n > 0)
    means = origin + shift
    ss = xx - shift * x
    ss = np.where(ss > ROUNDING * xx, ss, 0.0)
    N = n.sum(axis=-2, keepdims=True)
    middle = np.divide((n * means).sum(axis=-2, keepdims=True), N, out=np.zeros_like(N), where=N > 0)
    means = np.where(n > 0, means, middle)
    between = apart(means, middle, origin)
    total = np.divide((ss + n * between).sum(axis=-2, keepdims=True), N, out=np.zeros_like(N), where=N > 0)
    return means, ss, total


def prior_variance(squares: Array, degrees: Array, total: Array, unit: float) -> Array:
    """The variance within classes that a prior puts: the total one, or less where rows that vary allow no more.

    ``squares`` are those about the means of the classes, with so many degrees of freedom, a row being worth ``unit``.
    """
    from ...kernels.diagonal import variance_limit

    some = (squares > 0) & (degrees > 0)
    degrees = np.where(some, degrees, 1.0)
    with np.errstate(over="ignore"):
        limit = squares / degrees * np.asarray(variance_limit(degrees / unit))
    return np.where(some, np.minimum(total, limit), total)


def prior_variances(n: Array, x: Array, xx: Array, origin: Array) -> Array:
    """The variance within classes that a prior of one row puts for each column.  # (…, K, p) → (…, p)"""
    _, ss, total = _about_means(n, x, xx, origin)
    return prior_variance(ss.sum(axis=-2), np.maximum(n - 1, 0.0).sum(axis=-2), total[..., 0, :], 1.0)


@register
@dataclass(frozen=True)
class Gaussian(IndependentColumns):
    """Normal columns, independent given the class: mean and variance of each.

    ``prior_rows`` r is a prior worth so many rows: of all classes together σ² = (Σ_c Σ(x − μ_c)² + r·v)/(D + r), with
    D = Σ_c (n_c − r) for those with more than r rows, as the means take that much; and of each class
    σ_c² = (Σ(x − μ_c)² + r·σ²)/n_c (over r, where it has less), times 1 + r/n_c for what is not known of its mean.
    v is the column's total variance, or the largest one within classes that rows which vary allow
    (``variance_limit``), if less.  So n rows that do not vary show a variance of about 1/n of the total, not 0, and a
    class of one row has twice that of all classes.

    Parameters
    ----------
    smoothing : float, default 0.0
        Share of a total variance that is added to the variance in every class.
    floor : {"own", "bounded", "largest"}, default "own"
        Whose total variance: the column's own, that of the largest column but at most a million times the column's own,
        or that of the largest column.
    tie : float in [0, 1], default 0.0
        From a variance for each class (0) to one shared by all (1).
    spherical : bool, default False
        Whether the variances are equal across columns.
    unbiased : bool, default False
        Whether to divide by n − 1 (shared: N − number of classes).
    shrinkage : float in [0, 1], default 0.0
        Shrinks the variances towards their mean over the columns.
    prior_rows : float, default 0.0
        A prior worth so many rows, see above.
    alpha : float
        Not used: this family is smoothed by ``smoothing``.
    tuning : Tuning, optional
        Not used.

    Attributes
    ----------
    key : str
        "gaussian", the name of the family.

    See Also
    --------
    GaussianNB : Naive Bayes with this family.
    MultivariateGaussian : Jointly normal columns.
    LogNormal : Positive values whose logarithm is normal.

    Examples
    --------
    >>> from suffit import NaiveBayes
    >>> X, y = [[0.0], [2.0], [7.0], [9.0]], ["a", "a", "b", "b"]
    >>> NaiveBayes(Gaussian(tie=1.0)).fit(X, y).predict([[3.0]]).tolist()
    ['a']
    """

    smoothing: float = 0.0
    floor: str = "own"
    tie: float = 0.0
    spherical: bool = False
    unbiased: bool = False
    shrinkage: float = 0.0
    prior_rows: float = 0.0
    tuning: Tuning | None = field(default=None, kw_only=True, compare=False, repr=False)  # how it was chosen

    key: ClassVar[str] = "gaussian"
    candidate_for: ClassVar[tuple[str, ...]] = (INTEGER, CONTINUOUS)

    def __post_init__(self) -> None:
        check_setting(self, "smoothing", self.smoothing, 0.0)
        check_setting(self, "tie", self.tie, 0.0, 1.0)
        check_setting(self, "shrinkage", self.shrinkage, 0.0, 1.0)
        check_setting(self, "prior_rows", self.prior_rows, 0.0)
        if self.floor not in ("own", "bounded", "largest"):
            raise ValueError(f"{type(self).__name__}(floor={self.floor!r}): must be 'own', 'bounded' or 'largest'")

    @property
    def statistic(self) -> tuple[object, ...]:
        """Moments; every setting is a matter of solving."""
        return (self.key,)

    def normal(self, x: Array) -> Array:
        """What of x is normal: x itself."""
        return x

    def collect(self, X: NumberRows, rows: Rows) -> Stats:
        """n, Σz, Σz² per class and column, z = x − origin."""
        axes = {CLASS: rows.classes, FEATURE: Index.range(X.shape[1])}
        if sparse_without_missing(X) and self.has_zero:
            return self._collect_sparse(csr(X), rows, axes)
        origin = freeze(origin_of(X, rows, self.normal))
        n, x, xx = np.zeros((3, *origin.shape))
        work = partial(self._block_moments, X, rows, origin, expects_missing(X))
        for dn, dx, dxx in in_order(work, row_blocks(*X.shape)):
            n += dn
            x += dx
            xx += dxx
        return Stats(MOMENTS, axes, {"n": n, "x": x, "xx": xx}, origin)

    def surely_valid(self, X: NumberRows) -> bool:
        """A finite sum of squares: no NaN, no infinity, nothing that overflows."""
        x = (X.data if is_sparse(X) else X).reshape(-1)
        return x.dtype == np.float64 and math.isfinite(x.dot(x))

    def running(self, stats: Stats) -> Running | None:
        table = label_table(stats.axes[CLASS])
        return RunningMoments(stats, *table) if table is not None else None

    def _block_moments(
        self, X: NumberRows, rows: Rows, origin: Array, missing: bool, start: int, stop: int
    ) -> tuple[Array, Array, Array]:
        from ...kernels.moments import class_moments, class_moments_present

        K, p = origin.shape
        raw = block(X, start, stop)
        if self.bounded:  # else whatever is finite will do, and shows in the sums
            self.check(raw, start)
        raw = freeze(self.normal(raw))
        codes, weights = rows.part(start, stop)
        n, x, xx = np.zeros(K), np.zeros((K, p)), np.zeros((K, p))
        if not missing:
            class_moments(raw, codes, weights, origin, n, x, xx)
            if math.isfinite(xx.sum()):  # a NaN or infinity in the block would show here: no pass of its own to look
                return n[:, None], x, xx
            x[:], xx[:] = 0.0, 0.0
        there = np.zeros((K, p))
        class_moments_present(raw, codes, weights, origin, there, x, xx)
        if not np.isfinite(xx).all():
            check_finite(raw, self.columns, start)
            j = int(np.argmax(~np.isfinite(xx).all(axis=0)))
            raise InputError(
                f"column {self.columns[j]!r}: values are so large that their squares overflow; rescale the column"
            )
        return there, x, xx

    def _collect_sparse(self, X: Csr, rows: Rows, axes: dict[str, Index]) -> Stats:
        """Two passes over the stored entries: means (zeros count), then moments about them."""
        from ...kernels.sparse_rows import csr_class_moments

        self.check_sparse(X)
        K, p = len(rows.classes), X.shape[1]
        indptr, indices = freeze(X.indptr.astype(np.int64)), freeze(X.indices.astype(np.int32, copy=False))
        data = X.data if X.data.dtype in (np.float32, np.float64) else X.data.astype(np.float64)
        codes, weights = rows.part(0, X.shape[0])
        N = np.repeat(rows.counts()[:, None], p, axis=1)
        origin = np.zeros((K, p))
        for _ in range(2):
            stored, x, xx = np.zeros((K, p)), np.zeros((K, p)), np.zeros((K, p))

            def work(lo: int, hi: int, o: Array = origin, n: Array = stored, a: Array = x, b: Array = xx) -> None:
                csr_class_moments(indptr, indices, freeze(data), codes, weights, freeze(o), lo, hi, n, a, b)

            every(work, class_ranges(rows))
            moments = {"n": N, "x": x - (N - stored) * origin, "xx": xx + (N - stored) * origin**2}
            about = origin
            origin = np.divide(x, N, out=np.zeros((K, p)), where=N > 0)
        return Stats(MOMENTS, axes, moments, about)

    def without_rounding(self, before: Stats, after: Stats) -> Stats:
        """Cells that do not vary any more are about their value, with sums of 0."""
        return cleared_columns(after)

    def check_forgotten(self, before: Stats, after: Stats) -> None:
        """No cell can have a negative number of rows or negative squares."""
        some = np.where(after["n"] > EMPTIED * before["n"], after["n"], 0.0)
        bad = short_of_rows(before["n"], after["n"])
        bad |= about_means(some, after["x"], after["xx"]) < -slack(before, after)
        if bad.any():
            raise never_learned(after, bad, self.columns)
        warn_few_digits(before, after, self.columns)

    def may_warn(self, stats: Stats) -> bool:
        """Of a column that a class has no value in, or of a variance of 0 where nothing is added to it."""
        return self.smoothing == 0.0 or not stats["n"].all()

    def scorer(self, stats: Stats) -> Scorer:
        """Means and variances from the moments."""
        n = stats["n"]
        K, p = n.shape
        warn_absent(n, stats.axes[CLASS].labels, self.columns)
        means, variances, flat, stuck = self.solved_moments(n, stats["x"], stats["xx"], np.asarray(stats.origin))
        if stuck.any():
            cells = [(stats.axes[CLASS].labels[c], self.columns[j]) for c, j in np.argwhere(stuck).tolist()]
            warn_once(
                SingularClassWarning,
                "",
                [f"class {label!r} does not vary in column {column!r}" for label, column in cells],
                f": its variance is set to {LEAST_SHARE:g} of the column's total; use smoothing or tie to avoid this",
            )
        shared = self.tie == 1.0
        per_class = 1 if self.spherical else p
        n_parameters = K * p + (per_class if shared else K * per_class)
        scorer: GaussianScorer
        if shared:
            var = np.maximum(variances[0], SMALLEST)
            W = np.where(flat, 0.0, 1 / np.sqrt(var))
            log_det = float(np.log(var[~flat]).sum())
            scorer = SharedScorer(means, variances[0], W, log_det, int((~flat).sum()), self.columns, n_parameters)
        else:
            scorer = DiagonalScorer(means, variances, flat, self.columns, n_parameters)
        return scorer

    def solved_moments(self, n: Array, x: Array, xx: Array, origin: Array) -> tuple[Array, Array, Flags, Flags]:
        """Means and variances (…, K, p), which columns are constant (…, p), and which variances had to be made up."""
        means, ss, total = _about_means(n, x, xx, origin)
        variances = self._variances(n, ss, total)
        stuck = (variances <= 0) & (total > 0)
        variances = np.where(stuck, LEAST_SHARE * total, variances)
        flat = (total[..., 0, :] <= 0.0) & ~(variances > 0.0).any(axis=-2)  # constant: it says nothing of the class
        return means, variances, flat, stuck

    def _variances(self, n: Array, ss: Array, total: Array) -> Array:
        """Tie, pool and floor the sums of squares into variances.  # (…, K, p), total (…, 1, p) → (…, K, p)"""
        s, d, r, v = ss, n - (n > 0) if self.unbiased else n, self.prior_rows, total
        if r:
            d = np.maximum(n - r, 0.0)  # a mean takes a row
        if self.spherical:
            s, d = s.sum(axis=-1, keepdims=True), d.sum(axis=-1, keepdims=True)
            r, v = r * total.shape[-1], total.mean(axis=-1, keepdims=True)
        if self.tie or r:
            together, rows = (a.sum(axis=-2, keepdims=True) for a in (s, d))
            if r:
                together, rows = together + r * prior_variance(together, rows, v, self.prior_rows), rows + r
                s, d = s + r * together / rows, d + r
            s, d = (1 - self.tie) * s + self.tie * together, (1 - self.tie) * d + self.tie * rows
            if r:  # nor is the mean known
                s = s * (1 + (1 - self.tie) * self.prior_rows / np.where(n > 0, n, np.inf))
        var = np.divide(s, d, out=np.zeros_like(s), where=d > 0)
        var = np.where(d > 0, var, total)  # no rows to tell: as varied as all rows together
        if self.shrinkage:
            var = (1 - self.shrinkage) * var + self.shrinkage * var.mean(axis=-1, keepdims=True)
        whose = total
        if self.floor != "own":
            largest = np.max(total, axis=-1, initial=0.0, keepdims=True)
            whose = largest if self.floor == "largest" else np.minimum(largest, FAIR_RANGE * total)
        return np.asarray(var + self.smoothing * whose)

    def leave_one_out(self, X: NumberRows, rows: Rows, stats: Stats) -> LooScores:
        """−Σ_j ½(x_j − μ_cj)²/σ²_cj + log σ_cj√2π, means and variances from the moments less this row."""
        noise = np.hypot(stats["xx"], 0.0 if stats.noise is None else stats.noise)
        sums = stats["n"], stats["x"], stats["xx"], np.asarray(stats.origin), noise
        plain = self.tie == 0.0 and self.floor == "own" and not (self.spherical or self.unbiased or self.shrinkage)
        ordinary = self._ordinary(*sums[:4]) if plain else None
        odd_columns = np.ones(sums[0].shape[1], bool) if ordinary is None else ~ordinary.columns
        out = np.empty((len(rows), len(sums[0])))

        @np.errstate(all="ignore")
        def work(start: int, stop: int) -> None:
            raw = block(X, start, stop).astype(np.float64)
            x = np.asarray(self.normal(raw))
            here = rows.part(start, stop)
            base = np.where(x == x, self.log_base(raw), 0.0).sum(axis=1) if self.has_base else np.zeros(len(x))
            out[start:stop] = base[:, None]
            if odd_columns.any():
                out[start:stop] += self._solved_without(x[:, odd_columns], *here, *(a[:, odd_columns] for a in sums))
            if ordinary is None or odd_columns.all():
                return
            x = x[:, ordinary.columns]
            scores, odd = ordinary.scores(x, *here)
            if odd.any():
                here = here[0][odd], here[1][odd]
                scores[odd] = self._solved_without(x[odd], *here, *(a[:, ordinary.columns] for a in sums))
            out[start:stop] += scores

        K, p = sums[0].shape
        every(work, row_blocks(len(rows), K * p, LOO_CELLS))
        return LooScores(out)

    def _ordinary(self, n: Array, x: Array, xx: Array, origin: Array) -> Ordinary:
        shift = np.divide(x, n, out=np.zeros_like(x), where=n > 0)
        squares = xx - shift * x
        squares = np.where(squares > ROUNDING * xx, squares, 0.0)
        return Ordinary.of(n, xx, origin + shift, squares, self.smoothing, self.prior_rows, prior_variance)

    def _solved_without(
        self, x: Array, codes: Codes, weights: Array, n: Array, sx: Array, sxx: Array, origin: Array, size: Array
    ) -> Array:
        """The scores of rows by solving the moments less each of them.  # (b, p) → (b, K)"""
        present = x == x
        each, w = np.arange(len(x)), weights[:, None] * present
        z = np.where(present, x - origin[codes], 0.0)
        n, sx, sxx = (np.repeat(a[None], len(x), axis=0) for a in (n, sx, sxx))
        n[each, codes] = without(n[each, codes], w)
        gone = n[each, codes] <= 0
        sx[each, codes] = np.where(gone, 0.0, sx[each, codes] - w * z)
        sxx[each, codes] = np.where(gone, 0.0, np.maximum(sxx[each, codes] - w * z * z, 0.0))
        noise = np.zeros_like(sxx)  # of the row's own class, in the columns that it has
        noise[each, codes] = np.where(w != 0, size[codes], 0.0)
        sx, sxx, about = clear_equal(n, sx, sxx, origin, noise)
        means, variances, flat, _ = self.solved_moments(n, sx, sxx, about)
        used = (present & ~flat)[:, None]  # (b, 1, p)
        var = np.maximum(variances, SMALLEST)
        each_log = 0.5 * ((x[:, None] - means) ** 2 / var + np.log(2 * np.pi * var))
        return -np.asarray(np.where(used, each_log, 0.0).sum(axis=-1))
