"""Multivariate Gaussian: jointly normal columns with full covariances.

Each class's own, one shared by all, or between (``tie``), plain or shrunk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...core.family import EMPTIED, Family, Scorer, register
from ...core.leave_one_out import LooScores
from ...core.stats import CLASS, FEATURE, PATTERN, ROUNDING, Layout, Stats
from ...data.arrays import Array, Codes, NumberRows, block, freeze, is_sparse
from ...data.errors import InputError
from ...data.labels import Index
from ...data.rows import Rows
from ...data.validate import check_setting
from ...data.warn import no_warnings
from ..tuning import LOO, Tuning, check_classes, tuned_covariance
from .diagonal import PRIOR_ROWS, apart
from .few_rows.kept import are_few, as_rows, check_kept, has_missing, is_kept, kept_rows, values_of
from .few_rows.leave_one_out import DowndatesOfFewRows
from .few_rows.low_rank import RANK_TOLERANCE, LowRank
from .few_rows.solve import CentredRows, Settings, covariances, solved_wide, warn_mended, warn_rank
from .leave_one_out.em import MOST_COLUMNS, MOST_NUMBERS, EmLoo
from .leave_one_out.exact import NOTHING_LEFT, Blend, Downdates, Scatter, varying
from .leave_one_out.missing import LooWithMissing
from .leave_one_out.pairs import Whole
from .missing.em import FEW_ROWS, MOST_WORK, PATIENCE, Completion, Known, Priors, completed, solved, spread_out, work_of
from .missing.few_pairs import Prior, prior_of, rows_lacking
from .missing.patterns import cells_of, cells_of_pairs, completed_pairs, pair_covariances, pair_weights, pairs_seen
from .moments import SCATTER, SCATTER_FOURTH, SCATTER_POOLED, JointMoments, without_missing
from .scores import OwnScorer, SharedScorer
from .shrinkage import class_shrinkage, shrink_to_diagonal, shrink_to_identity
from .student_t import HeavyScorer

Sums = dict[str, Array]
Flags = NDArray[np.bool_]


MOST_COMPLETED = 1 << 22  # numbers in the covariances that few rows with missing values are completed through
MOST_SHRINKAGE = 0.8  # of correlations that rest on few rows


@register
@dataclass(frozen=True)
class MultivariateGaussian(JointMoments):
    """Jointly normal columns: Σ_c(tie) = ((1−tie)·S_c + tie·S) / ((1−tie)·n_c + tie·N), S_c = Σ(x−μ_c)(x−μ_c)ᵀ.

    tie = 0 is quadratic, tie = 1 linear discriminant analysis.  Rows with missing values are completed by EM on the
    sums of their patterns.

    Parameters
    ----------
    tie : float in [0, 1] or "loo", default 0.0
        From a covariance for each class (0) to one shared by all (1); "loo" chooses it by leave-one-out.
    shrinkage : float in [0, 1], "ledoit-wolf", "oas" or "loo", default 0.0
        A number s gives (1−s)Σ + s·(tr Σ/p)·I; "ledoit-wolf" and "oas" choose s for each class on standardised columns.
    unbiased : bool, default False
        Whether to divide by n − 1 (shared: N − number of classes).
    ridge : float in [0, 1], default 0.0
        A number r gives (1−r)Σ + r·I.
    pool : tuple of float, optional
        Weights of the class covariances in the shared one; by default their numbers of rows.
    pooled : bool, default False
        Whether to keep only the sums that a shared covariance needs.
    tolerance : float, default 0.0
        Directions of a shared covariance whose variance, in standardised columns, is below it are dropped.
    target : {"identity", "diagonal"}, default "identity"
        Whether a number for ``shrinkage`` shrinks towards a multiple of I or towards the diagonal of Σ.
    missing : {"em", "pairs"}, default "em"
        "pairs" keeps the sums of pairs of columns instead of those of patterns of missing values: quicker, smaller, and
        less exact.  It also replaces EM, with a warning, where there are too many patterns (sums of more than 2²⁴
        numbers, or a hundred steps of more than 2·10¹⁰ products).
    freedom : float, default inf
        Degrees of freedom ν of a multivariate t density with these means and scale matrices, whose tails are heavier: a
        row far from all classes is weaker evidence.
    prior : tuple of float, optional
        Variances (v_1 … v_p) of a prior, for columns in units of their deviation within classes: S + r·diag(v) over N +
        r rows for all classes together, S_c + r·I over n_c + r for each, r = ``prior_rows``.  n rows that do not vary
        in some direction then show a variance of about v/n in it, not 0.
    prior_rows : float
        The number of rows that ``prior`` is worth.
    tuning : Tuning, optional
        What was tried to choose ``tie`` and ``shrinkage``; set by a fit, not by users.

    Attributes
    ----------
    key : str
        "multivariate_gaussian", the name of the family.

    See Also
    --------
    GaussianDiscriminantAnalysis : Discriminant analysis with this family.
    Gaussian : Independent normal columns.

    Examples
    --------
    >>> from suffit import GenerativeClassifier
    >>> table = {"height": [1.6, 1.7, 1.8, 1.9], "weight": [60.0, 75.0, 70.0, 90.0]}
    >>> joint = MultivariateGaussian(tie=1.0, shrinkage=0.2)
    >>> model = GenerativeClassifier({("height", "weight"): joint}).fit(table, ["a", "a", "b", "b"])
    >>> model.predict({"height": [1.65], "weight": [66.0]}).tolist()
    ['a']
    """

    tie: Any = 0.0
    shrinkage: Any = 0.0
    unbiased: bool = False
    ridge: float = 0.0
    pool: tuple[float, ...] | None = None
    pooled: bool = False
    tolerance: float = 0.0
    target: str = "identity"
    missing: str = "em"
    freedom: float = np.inf
    prior: tuple[float, ...] = ()
    prior_rows: float = PRIOR_ROWS
    tuning: Tuning | None = field(default=None, compare=False, repr=False)

    key: ClassVar[str] = "multivariate_gaussian"

    def __post_init__(self) -> None:
        if self.tie != LOO:
            check_setting(self, "tie", self.tie, 0.0, 1.0)
        check_setting(self, "ridge", self.ridge, 0.0, 1.0)
        if isinstance(self.shrinkage, str):
            if self.shrinkage not in ("ledoit-wolf", "oas", LOO):
                raise ValueError(
                    f"shrinkage={self.shrinkage!r}: must be a number in [0, 1], 'ledoit-wolf', 'oas' or 'loo'"
                )
        else:
            check_setting(self, "shrinkage", self.shrinkage, 0.0, 1.0)
        if self.pooled and self.tie == LOO:
            raise ValueError(
                "MultivariateGaussian(tie='loo', pooled=True): tie='loo' needs the sums of each class; use pooled=False"
            )
        if self.target not in ("identity", "diagonal"):
            raise ValueError(f"MultivariateGaussian(target={self.target!r}): must be 'identity' or 'diagonal'")
        if self.missing not in ("em", "pairs"):
            raise ValueError(f"MultivariateGaussian(missing={self.missing!r}): must be 'em' or 'pairs'")
        if not (isinstance(self.freedom, Real) and self.freedom > 0):
            raise ValueError(f"MultivariateGaussian(freedom={self.freedom!r}): must be a number above 0")

    @property
    def statistic(self) -> tuple[object, ...]:
        """Which sums are kept depends on what the settings need."""
        return (self.key, self._layout().name, self.missing)

    def _layout(self) -> Layout:
        if self.shrinkage == "ledoit-wolf":
            return SCATTER_FOURTH
        return SCATTER_POOLED if self.pooled else SCATTER

    # --- choosing

    @property
    def is_tuned(self) -> bool:
        return LOO not in (self.tie, self.shrinkage)

    def tuned_on(self, X: NumberRows, rows: Rows, stats: Stats) -> Family:
        """With the tie and the shrinkage of the least leave-one-out log-loss, where that is asked for.

        Rows with missing values help to make the sums, completed as with one shared covariance; the rows compared are
        those without.
        """
        if LOO not in (self.tie, self.shrinkage):
            return self
        check_classes(rows)
        whole = np.flatnonzero(without_missing(X))
        if not len(whole):
            raise InputError(
                "tuning tie or shrinkage by leave-one-out needs complete rows, and every row has a missing value; "
                "set tie and shrinkage to numbers"
            )
        return tuned_covariance(self, X[whole], rows.some(whole), self.sums_to_tune(stats))

    def sums_to_tune(self, stats: Stats) -> Stats:
        """The sums that settings are compared under: of all rows, completed as with one shared covariance."""
        plain = self.having(tie=1.0, shrinkage=0.0 if self.shrinkage == LOO else self.shrinkage)
        return plain.completed(stats) if _incomplete(stats) else stats

    def tuned_as(self, other: Family) -> Family:
        """With the tie and the shrinkage that another has chosen."""
        if not isinstance(other, MultivariateGaussian) or LOO not in (self.tie, self.shrinkage):
            return self
        tie, shrinkage = (b if a == LOO else a for a, b in ((self.tie, other.tie), (self.shrinkage, other.shrinkage)))
        return self.having(tie=tie, shrinkage=shrinkage, tuning=other.tuning)

    def surely_valid(self, X: NumberRows) -> bool:
        """A finite sum of squares: no NaN, no infinity, nothing that overflows."""
        x = (X.data if is_sparse(X) else X).reshape(-1)
        return self.shrinkage != "ledoit-wolf" and x.dtype == np.float64 and bool(np.isfinite(x @ x))

    # --- collect

    def collect(self, X: NumberRows, rows: Rows) -> Stats:
        """The sums of these rows; of few rows with many columns, the rows themselves with their counts."""
        if self.missing == "em" and not self.prior and are_few(*X.shape):
            return kept_rows(self._layout(), X, rows, self.columns)
        return super().collect(X, rows)

    def moments(self, stats: Stats) -> Stats:
        """First and second moments, p × p, of rows that were kept themselves."""
        if not is_kept(stats):
            return stats
        x, rows = as_rows(stats)
        return super().collect(x, rows)

    def without_rounding(self, before: Stats, after: Stats) -> Stats:
        """Counts of rows have none; sums of squares may."""
        return after if is_kept(after) else super().without_rounding(before, after)

    def check_forgotten(self, before: Stats, after: Stats) -> None:
        """No class can have less than none of a row, or negative squares."""
        if is_kept(after):
            check_kept(after, before, EMPTIED)
        else:
            super().check_forgotten(before, after)

    def _settings(self) -> Settings:
        """What covariances of few rows need to know."""
        pool = None if self._layout() is SCATTER_POOLED else self.pool
        bent = self.target == "diagonal"
        return Settings(self.tie, self.shrinkage, self.unbiased, self.ridge, pool, self.tolerance, bent)

    def _is_wide(self, stats: Stats) -> bool:
        """Whether to work in the space of the rows: few are kept, and none has missing values."""
        return is_kept(stats) and not has_missing(values_of(stats))

    def all_as_one(self, stats: Stats) -> LowRank:
        """The covariance of few rows as if all were of one class."""
        x, rows = as_rows(stats)
        one = Rows(Index((0,)), freeze(np.zeros_like(rows.codes)), rows.weights)
        return covariances(CentredRows(x, one), replace(self._settings(), pool=None, unbiased=False))[1]

    # --- solve

    def may_warn(self, stats: Stats) -> bool:
        """Of covariances that are singular, which shows when they are factorised."""
        return True

    def scorer(self, stats: Stats) -> Scorer:
        """Scatter about the means, tied, shrunk and factored; with heavier tails where that is asked for."""
        return self.scorer_of(stats if self._is_wide(stats) else self.completed(stats))

    def scorer_of(self, stats: Stats) -> Scorer:
        """The same from sums of complete rows."""
        normal = self._normal_scorer(stats)
        return normal if np.isinf(self.freedom) else HeavyScorer(normal, self.freedom)

    def _normal_scorer(self, stats: Stats) -> SharedScorer | OwnScorer:
        if self._is_wide(stats):
            return solved_wide(stats, self.columns, self._settings())
        n, (K, p) = stats["n"], stats["x"].shape
        means, own, shared, total = self.covariances(stats)
        flat = np.asarray(total <= 0.0)
        classes = stats.axes[CLASS].labels
        if self.tie == 1.0:
            separating = [self.columns[j] for j in np.flatnonzero(~flat & (np.diagonal(shared) <= 0)).tolist()]
            W, log_det, rank = self._whiten(shared, flat, "all classes together", separating)
            scorer = SharedScorer(means, shared, W, log_det, rank, self.columns, K * p + p * (p + 1) // 2)
            scorer.tolerance = max(scorer.tolerance, self.tolerance)
            return scorer
        rank, parameters = p if self.ridge else int((~flat).sum()), K * p * (p + 3) // 2
        factored = self._whiten_all(own, flat)
        if factored is not None:
            return OwnScorer(means, own, *factored, rank, self.columns, parameters)
        mended = [c for c in range(K) if self._singular(own[c], flat)]
        if mended:
            own = own.copy()
            own[mended] = [self._mended(own[c], shared, n[c], total, flat) for c in mended]
            warn_mended([classes[c] for c in mended])
        whitened = [self._whiten(own[c], flat, f"class {classes[c]!r}") for c in range(K)]
        whitenings = np.stack([w for w, _, _ in whitened])
        log_dets = np.array([d for _, d, _ in whitened])
        return OwnScorer(means, own, whitenings, log_dets, rank, self.columns, parameters)

    def completed(self, stats: Stats, known: Known = ()) -> Stats:
        """The sums that complete rows are expected to have had, where some have missing values.

        Covariances that are shared, or tied, of p columns whose pairs are seen in n rows on average, fewer than ten
        times p, have their correlations shrunk by ½(p/n − 1/10), if nothing is set by hand: the likelihood alone would
        take chance for correlation, and may have no maximum.  An amount that is chosen from the data is then chosen
        once EM has ended.  Beside covariances of classes with few pairs stand rows of the shared one (few_pairs.py), if
        nothing is set by hand.
        """
        stats = self._affordable(stats)
        if not _incomplete(stats):
            return stats
        plain = SCATTER if self._layout() is SCATTER_FOURTH else self._layout()
        family, prior = self._for_em(stats)
        asked, apart = self.missing == "pairs", family.tie == 0
        done = completed(stats, family._em_parameters, self.columns, plain, asked, prior, apart, known)
        return done if isinstance(self.shrinkage, str) or self.shrinkage else _shrunk_sums(done, family.shrinkage)

    def _for_em(self, stats: Stats) -> tuple[MultivariateGaussian, Priors | None]:
        """The settings that EM's steps go by, and what stands beside the rows of classes."""
        by_hand = bool(self.ridge) or not (isinstance(self.shrinkage, str) or not self.shrinkage)
        family = self._shrunk_for_pairs(stats) if self.tie > 0 and not by_hand else self
        n = cells_of(stats)[0] if self.unbiased and "part_n" in stats.sums else np.ones((1, 0))
        if ((n <= 1) & (n.sum(axis=0) > 0)).any():  # n − 1 of no values would let a variance grow without end
            family = family.having(unbiased=False)
        return family, None if self.tie == 1.0 or by_hand else self._prior

    def _shrunk_for_pairs(self, stats: Stats) -> MultivariateGaussian:
        """With correlations shrunk as the pairs that rows of all classes have ask for."""
        p, seen = pairs_seen(stats)
        return self.having(shrinkage=float(self.amount(p, seen)), target="diagonal")

    @staticmethod
    def amount(p: int, seen: float | Array) -> Array:
        """How far correlations of p columns are shrunk whose pairs so many rows have."""
        return np.clip(0.5 * (p / np.maximum(seen, 1.0) - 1 / FEW_ROWS), 0.0, MOST_SHRINKAGE)

    def _prior(self, em: Completion, least: Array) -> Prior | None:
        """The rows that stand beside those of classes with few pairs; at least so many, if not all are as singular."""
        lacking = rows_lacking(em.stats, self.tie, np.array([len(v.Z) for v in em.groups]))
        if not (lacking.any() or least.any()):
            return None
        family = self._for_prior()._shrunk_for_pairs(em.stats)
        shared = Completion(em.stats, family._em_parameters)
        done = shared.run()
        rows = lacking if done.singular.any() else np.maximum(lacking, least)
        if not rows.any() or (em.prior is not None and np.array_equal(rows, em.prior.rows)):
            return em.prior
        cov = family.covariances(replace(em.stats, sums={**em.stats.sums, **done.sums}))[2]
        return prior_of(em.stats, rows, cov)

    def _for_prior(self) -> MultivariateGaussian:
        """The shared covariance whose correlations stand beside classes with few pairs."""
        return self.having(tie=1.0, shrinkage=0.0, unbiased=False, pool=None)

    def _affordable(self, stats: Stats) -> Stats:
        """The moments of rows that were kept themselves; with missing values, refused where p × p numbers are many."""
        if not is_kept(stats):
            return stats
        K, p = len(stats["n"]), values_of(stats).shape[1]
        if K * p * p > MOST_COMPLETED and has_missing(values_of(stats)):
            raise InputError(
                f"missing values in {p} columns with only {stats['n'].sum():g} rows: a full covariance would need "
                f"{K * p * p:.2g} numbers; impute them first (SimpleImputer), use fewer columns, or a model of "
                "independent columns (GaussianNB, covariance='diagonal')"
            )
        return self.moments(stats)

    def _em_parameters(self, stats: Stats) -> tuple[Array, Array]:
        """Means and covariances as ``scorer`` takes them.  # → (K, p), (K, p, p) or (1, p, p)"""
        means, own, shared, _ = self.covariances(stats)
        if self.tie == 1.0:
            return means, spread_out(shared, stats["n"].sum())[None]
        return means, own

    def _whiten_all(self, own: Array, flat: Flags) -> tuple[Array, Array] | None:
        """W_c and log det Σ_c of all classes at once, where none is singular."""
        if flat.any() and not self.ridge:
            return None
        scale = np.sqrt(np.einsum("cii->ci", own))
        if not (scale > 0).all():
            return None
        L = _cholesky(own / scale[:, :, None] / scale[:, None, :], RANK_TOLERANCE)
        if L is None:
            return None
        W = np.stack([_inverse(factor) for factor in L]) / scale[:, None, :]
        return W, 2 * (np.log(np.einsum("cii->ci", L)).sum(axis=1) + np.log(scale).sum(axis=1))

    def leave_one_out(self, X: NumberRows, rows: Rows, stats: Stats) -> LooScores:
        """By rank-one downdates; rows that leave something singular are solved one by one.

        Where rows have missing values, EM is run anew for each, from where a first-order step leads (EmLoo); from the
        beginning where covariances are between own and shared, shrunk by an amount that is chosen, or rest on
        few pairs.  So it is where classes weigh in the shared covariance as a prior says.
        """
        if self._is_wide(stats) and not self._adds_to_all():
            return self.solved_without(X, rows, stats)
        stats = stats if self._is_wide(stats) else self._affordable(stats)
        bent_each = np.isfinite(self.freedom) and (isinstance(self.shrinkage, str) or self.target == "diagonal")
        if self.pool is None and _by_pattern(stats):
            return self._without_missing(X, rows, stats, EmLoo.exactly)
        if bent_each or self.pool is not None or _incomplete(stats) or not without_missing(X).all():
            return self.solved_without(X, rows, stats)
        out = np.full((len(rows), len(stats["n"])), np.nan)
        varied = np.flatnonzero(~self.alone(X, rows, stats)) if not self.ridge else np.arange(len(rows))
        if len(varied):
            out[varied] = self.loo_by_shrinkage(X[varied], rows.some(varied), stats, [self.shrinkage])[0]
        odd = np.flatnonzero(np.isnan(out).any(axis=1))
        if len(odd):
            out[odd] = self.solved_without(X[odd], rows.some(odd), stats).log_density
        return LooScores(out)

    def approximate_leave_one_out(self, X: NumberRows, rows: Rows, stats: Stats) -> LooScores:
        """As ``leave_one_out``; where rows have missing values about that, in the time of a few fits.

        EM by one step to the first order (EmLoo), pairs by what each row adds to them (LooWithMissing).
        """
        if self.pool is None and _by_pattern(stats):
            return self._without_missing(X, rows, stats, EmLoo.nearly)
        plain = not isinstance(self.shrinkage, str) and self.target == "identity" and not (self.unbiased or self.ridge)
        if "pair_n" in stats.sums and plain and self.pool is None:
            x = block(X, 0, X.shape[0]).astype(np.float64)
            of_rows = self.loo_with_missing(stats)(x, *rows.part(0, len(rows)))
            return LooScores(of_rows.log_density(self.tie, self.shrinkage, self.freedom))
        return self.leave_one_out(X, rows, stats)

    def _without_missing(self, X: NumberRows, rows: Rows, stats: Stats, how: Callable[..., Array]) -> LooScores:
        """By EM from where all rows led; rows for which that fails are solved one by one."""
        out = np.full((len(rows), len(stats["n"])), np.nan)
        left = self._em_loo(stats)
        if left is not None:
            out = how(left, block(X, 0, X.shape[0]).astype(np.float64), *rows.part(0, len(rows)))
        odd = np.flatnonzero(np.isnan(out).any(axis=1))
        if len(odd):
            out[odd] = self.solved_without(X[odd], rows.some(odd), stats).log_density
        return LooScores(out)

    def solved_without(self, X: NumberRows, rows: Rows, stats: Stats) -> LooScores:
        """As any family; where classes have no parameters in common, EM is run anew for the class of the row alone.

        And for those beside which rows of the shared covariance stand.
        """
        plain = not (self.tie or self.unbiased or self.pool is not None or self._is_wide(stats))
        if not (plain and _by_pattern(stats) and PATIENCE * work_of(stats) <= MOST_WORK):
            return super().solved_without(X, rows, stats)
        family, prior = self._for_em(stats)
        each, density = solved(stats, family._em_parameters, prior, True)[1].each, []
        seen = np.atleast_1d((cells_of(stats)[0] > 0).all(axis=1))  # else other classes say what its values would be
        known = [k if s else None for k, s in zip(each, seen, strict=True)]
        with no_warnings():
            for i, c in enumerate(rows.codes.tolist()):
                rest, one = self.sums_without(X, rows, i, stats)
                scorer = self.scorer_of(self.completed(rest, [*known[:c], None, *known[c + 1 :]]))
                density.append(scorer.scores(one)[0] + scorer.log_base(one)[0])
        return LooScores(np.array(density).reshape(len(rows), -1))

    def _em_loo(self, stats: Stats) -> EmLoo | None:
        """None where what EM came to is singular or moves on, or where settings have no such form."""
        p, chosen = stats["x"].shape[1], isinstance(self.shrinkage, str)
        between = 0 < self.tie < 1
        if chosen or p > MOST_COLUMNS or (self.unbiased and (cells_of(stats)[0] <= 2).any()):
            return None
        if between and len(stats["n"]) * p * (p + 3) / 2 > MOST_NUMBERS:
            return None
        if PATIENCE * work_of(stats) > MOST_WORK:
            return None
        family, prior = self._for_em(stats)
        em, done = solved(stats, family._em_parameters, prior, family.tie == 0)
        if not done.converged or done.singular.any():
            return None
        none = {k: stats[k].take([], axis=stats.layout.dims[k].index(PATTERN)) for k in ("part_n", "part_x", "part_xx")}
        plain = SCATTER_POOLED if stats["xx"].ndim == 2 else SCATTER
        whole = Stats(plain, {**stats.axes, PATTERN: Index(())}, {**done.sums, **none}, stats.origin)
        means, S = family._em_parameters(em.beside(whole))
        if not (np.einsum("cjj->cj", S) > 0).all():
            return None
        left = EmLoo(self, family, em, whole, (means, S))
        if em.prior is not None:
            lacking = rows_lacking(stats, self.tie, np.array([len(v.Z) for v in em.groups]))
            left.shared = self._for_prior()._em_loo(stats)
            if left.shared is None or not np.array_equal(lacking, em.prior.rows):
                return None
        return left

    def alone(self, X: NumberRows, rows: Rows, stats: Stats) -> Flags:
        """Rows without which a column would not vary."""
        if self._is_wide(stats):
            kept = CentredRows(*as_rows(stats))
            means, total = kept.means, kept.total
        else:
            means, _, _, total, _ = self._scatters(self.moments(stats))
        n, w = stats["n"], rows.part(0, len(rows))[1][:, None]
        N = n.sum()
        far = block(X, 0, X.shape[0]).astype(np.float64) - n @ means / N
        with np.errstate(all="ignore"):
            share = w * far**2 / ((N - w) * total)  # of the sum of squares about the mean of all rows
        return np.asarray(
            ((share > 1 - NOTHING_LEFT) & (total > 0)).any(axis=1)
        )  # a constant column says nothing anyway

    def loo_by_shrinkage(
        self, X: NumberRows, rows: Rows, stats: Stats, shrinkages: Sequence[float | str]
    ) -> list[Array]:
        """log p(x_i | c) without row i under several amounts of shrinkage; NaN where singular.  # → [(n, K)]

        Amounts that the data choose leave nothing singular: what rank-one downdates cannot tell is solved.
        """
        if self._is_wide(stats) and any(isinstance(s, str) for s in shrinkages):
            return [self.having(shrinkage=s).leave_one_out(X, rows, stats).log_density for s in shrinkages]
        found = self.downdates(X, rows, stats).log_densities(shrinkages, self.freedom)
        for s, density in zip(shrinkages, found, strict=True):
            odd = np.flatnonzero(np.isnan(density).any(axis=1)) if isinstance(s, str) else np.zeros(0, np.int64)
            if len(odd):
                chosen = self.having(shrinkage=s)
                density[odd] = chosen.solved_without(X[odd], rows.some(odd), stats).log_density
        return found

    def _adds_to_all(self) -> bool:
        """Whether shrinkage or ridge adds the same to every direction, so that few rows have downdates."""
        by_number = not isinstance(self.shrinkage, str) and (self.shrinkage or self.ridge)
        return bool(by_number and self.target == "identity" and self.pool is None and np.isinf(self.freedom))

    def downdates(self, X: NumberRows, rows: Rows, stats: Stats) -> Downdates:
        """What leaving out each row does to the covariances, however much they are then shrunk."""
        x = block(X, 0, X.shape[0]).astype(np.float64)
        blend = Blend(self.tie, self.unbiased, self.ridge, self.target == "diagonal", self.tolerance)
        if self._is_wide(stats):
            kept = CentredRows(*as_rows(stats))
            n_varying = len(varying(kept.total, self.ridge))
            return DowndatesOfFewRows(kept, blend, x, *rows.part(0, len(rows)), n_varying)
        return Downdates(self.scatter(stats), blend, x, *rows.part(0, len(rows)))

    def scatter(self, stats: Stats) -> Scatter:
        """Means and sums of squares about them, before they are tied or shrunk."""
        stats = self.moments(stats)
        means, own, S, total = self._scatters(stats)[:4]
        own, S = self._with_prior(own, S)
        sums = {k: stats[k] for k in ("n", "x", "xx", "xxy", "xxyy") if k in stats.sums}
        prior = self._prior_rows, self._prior_rows * sum(self.prior)
        return Scatter(means, own, S, sums, np.asarray(stats.origin), varying(total, self.ridge), *prior)

    def loo_with_missing(self, stats: Stats) -> Callable[[Array, Codes, Array], LooWithMissing]:
        """About what leaving out each row, some of which have missing values, does to densities, whatever tie and
        shrinkage.

        A function of rows, their classes and weights.
        """
        stats = self.moments(stats)
        pairs = pair_covariances(stats)
        done = Stats(self._layout(), {**stats.axes, PATTERN: Index(())}, completed_pairs(stats, pairs), stats.origin)
        means, own, shared, total, _ = self._scatters(done)
        own, shared = self._with_prior(own, shared)
        keep = varying(total, self.ridge)
        weight, cells = pair_weights(stats, pairs), cells_of_pairs(stats)[0][:, keep]
        square = (..., keep[:, None], keep)
        kept_sums = stats.take(FEATURE, keep)
        whole = Whole(
            done["n"], cells, weight[square], means[:, keep], own[square], shared[square], kept_sums, self._prior_rows
        )
        return lambda x, codes, weights: LooWithMissing(whole, np.ascontiguousarray(x[:, keep]), codes, weights)

    def scatters(self, stats: Stats) -> tuple[Array, Array, Array]:
        """Means (K, p), Σ(x−μ)(x−μ)ᵀ of each class, and of all, in sums of complete rows."""
        means, own, S, _, _ = self._scatters(stats)
        return means, own, S

    def _scatters(self, stats: Stats) -> tuple[Array, Array, Array, Array, Array]:
        """Means (K, p), Σ(x−μ)(x−μ)ᵀ of each class and of all, total variances (p,), and Σz/n."""
        n, x, xx = stats["n"], stats["x"], stats["xx"]
        shift = np.divide(x, n[:, None], out=np.zeros_like(x), where=n[:, None] > 0)
        means = np.asarray(stats.origin) + shift
        N = n.sum() or 1.0
        middle = n @ means / N
        means = np.where(n[:, None] > 0, means, middle)
        if xx.ndim == 2:
            S = xx - shift.T @ x
            squares, rounding = np.diagonal(S), ROUNDING * np.diagonal(xx)
            own = np.zeros((0, *S.shape))
        else:
            own = xx - np.einsum("ci,cj->cij", shift, x)
            diag = np.einsum("cii->ci", own)
            diag[...] = np.where(diag > ROUNDING * np.einsum("cii->ci", xx), diag, 0.0)
            S = own.sum(axis=0)
            squares, rounding = np.diagonal(S), np.zeros(1)
        within = np.where(squares > rounding, squares, 0.0)
        between = apart(means, middle, np.asarray(stats.origin))
        total = (within + n @ between) / N
        return means, own, S, total, shift

    def covariances(self, stats: Stats) -> tuple[Array, Array, Array, Array]:
        """Means (K, p), Σ_c as the settings say (K, p, p), the shared Σ (p, p), total variances (p,)."""
        stats = self.moments(stats)
        means, own, S, total, shift = self._scatters(stats)
        n, xx = stats["n"], stats["xx"]
        less = (n > 0).astype(np.float64) if self.unbiased else np.zeros_like(n)
        own, S = self._with_prior(*self._shrunk(stats, own, S, shift))
        d, D = np.maximum(n - less, 0.0) + self._prior_rows, np.maximum(n - less, 0.0).sum() + self._prior_rows
        shared = S / (D or 1.0)
        if self.pool is not None and xx.ndim == 3:
            share = np.asarray(self.pool)[:, None, None]
            shared = (share * np.divide(own, d[:, None, None], out=np.zeros_like(own), where=d[:, None, None] > 0)).sum(
                0
            )
        if self.tie < 1.0:
            denominator = (1 - self.tie) * d + self.tie * D
            scatter = (1 - self.tie) * own + self.tie * S
            own = np.divide(
                scatter, denominator[:, None, None], out=np.zeros_like(own), where=denominator[:, None, None] > 0
            )
        return means, self.regular(own), self.regular(shared), total

    @property
    def _prior_rows(self) -> float:
        return self.prior_rows if self.prior else 0.0

    def _with_prior(self, own: Array, S: Array) -> tuple[Array, Array]:
        """Scatter matrices with the squares of the prior's rows."""
        if not self.prior:
            return own, S
        return own + self._prior_rows * np.eye(S.shape[-1]), S + self._prior_rows * np.diag(self.prior)

    def _shrunk(self, stats: Stats, own: Array, S: Array, shift: Array) -> tuple[Array, Array]:
        """Scatter matrices shrunk class by class where the amount is chosen from the data."""
        if not isinstance(self.shrinkage, str):
            return own, S
        how = self.shrinkage if "xxyy" in stats.sums and not _incomplete(stats) else "oas"
        own = class_shrinkage(how, stats.sums, own, shift, stats.noise)
        return own, own.sum(axis=0)

    def regular(self, cov: Array) -> Array:
        """A fixed amount of shrinkage, then the ridge."""
        if not isinstance(self.shrinkage, str) and self.shrinkage:
            shrink = shrink_to_identity if self.target == "identity" else shrink_to_diagonal
            cov = shrink(cov, self.shrinkage)
        if self.ridge:
            cov = (1 - self.ridge) * cov + self.ridge * np.eye(cov.shape[-1])
        return cov

    def _mended(self, cov: Array, shared: Array, n: float, total: Array, flat: Flags) -> Array:
        """A singular Σ_c, mixed with the shared one; if that is singular too, with the variances of one row more."""
        p = len(cov)
        weight = (p + 1) / (n + p + 1)
        cov = (1 - weight) * cov + weight * shared
        if self._singular(cov, flat):
            cov = cov + np.diag(np.where(flat, 0.0, total) / (n + p + 1))
        return cov

    def _standardised(self, cov: Array, flat: Flags) -> tuple[Array, Array, Flags]:
        """Correlations of the columns that vary, their scales, and which they are."""
        keep = np.ones(len(cov), dtype=bool) if self.ridge else ~flat
        scale = np.sqrt(np.diagonal(cov)[keep])
        scale = np.where(scale > 0, scale, 1.0)
        return cov[np.ix_(keep, keep)] / scale[:, None] / scale, scale, keep

    def _singular(self, cov: Array, flat: Flags) -> bool:
        return _cholesky(self._standardised(cov, flat)[0], RANK_TOLERANCE) is None

    def _whiten(self, cov: Array, flat: Flags, who: str, separating: Sequence[str] = ()) -> tuple[Array, float, int]:
        """W with WᵀW = Σ⁻¹, log det Σ and the rank; directions in which nothing varies are dropped, which is said."""
        R, scale, keep = self._standardised(cov, flat)
        W = np.zeros(cov.shape)
        L = _cholesky(R, max(RANK_TOLERANCE, 2 * self.tolerance))
        if L is not None:
            W[np.ix_(keep, keep)] = _inverse(L) / scale
            return W, float(2 * (np.log(np.diagonal(L)).sum() + np.log(scale).sum())), len(R)
        values, vectors = np.linalg.eigh(R)
        real = values > max(RANK_TOLERANCE * values.max(initial=0.0), self.tolerance)
        rank = int(real.sum())
        warn_rank(who, rank, len(R), separating)
        W[:rank, keep] = (vectors[:, real] / np.sqrt(values[real])).T / scale
        return W, float(np.log(values[real]).sum() + 2 * np.log(scale).sum()), rank


def _incomplete(stats: Stats) -> bool:
    """Whether some rows have missing values: they have no fourth moments, and OAS replaces Ledoit–Wolf."""
    if is_kept(stats):
        return has_missing(values_of(stats))
    return "pair_n" in stats.sums or bool(len(stats.axes[PATTERN]))


def _by_pattern(stats: Stats) -> bool:
    """Whether some rows have missing values, and sums by pattern."""
    return "part_n" in stats.sums and bool(stats["part_n"].any())


def _shrunk_sums(stats: Stats, amount: float | str) -> Stats:
    """Sums about the same means with that share less of every product of two columns."""
    if not amount:
        return stats
    n, x, xx = stats["n"], stats["x"], stats["xx"]
    shift = np.divide(x, n[:, None], out=np.zeros_like(x), where=n[:, None] > 0)
    means = shift.T @ x if xx.ndim == 2 else np.einsum("ci,cj->cij", shift, x)
    return replace(stats, sums={**stats.sums, "xx": shrink_to_diagonal(xx - means, float(amount)) + means})


def _cholesky(R: Array, tolerance: float) -> Array | None:
    """The factor of a correlation matrix, or None where some column is a combination of the others."""
    try:
        L: Array = np.linalg.cholesky(R).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return None
    return None if (np.diagonal(L, axis1=-2, axis2=-1) ** 2 < tolerance).any() else L


def _inverse(L: Array) -> Array:
    """L⁻¹ of a lower triangle: an eighth of the work of solving L W = I."""
    from scipy.linalg.lapack import dtrtri

    return np.asarray(dtrtri(L.T)[0].T) if len(L) else L
