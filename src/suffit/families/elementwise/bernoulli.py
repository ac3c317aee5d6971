"""Bernoulli: a feature is present (1) or absent (0); absence counts as evidence too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from ...core.family import register
from ...core.leave_one_out import LooScores
from ...core.stats import Stats
from ...data.arrays import Array, NumberRows, csr, is_sparse, sum_is_finite
from ...data.rows import Rows
from ..tuning import dirichlet_evidence
from .shape import Elementwise, Natural, without

FEW_WEIGHTS = 32  # rows of so many different weights are left out class by class and weight by weight


@register
@dataclass(frozen=True)
class Bernoulli(Elementwise):
    """x ∈ {0, 1}: log p = x log φ + (1−x) log(1−φ), φ = (Σx + α)/(n + 2α).

    Parameters
    ----------
    threshold : float or None, default 0.0
        Values are made 0 or 1 by ``x > threshold``; with None they must lie in [0, 1] already.
    alpha : float, array-like of shape (n_features,), "loo" or "evidence", default 1.0
        Pseudo-rows with the feature, and as many without it; 0 is maximum likelihood, and predictions are then the
        limit α → 0.  "loo" chooses it by leave-one-out, "evidence" by the evidence of the counts.
    present : float, default 1.0
        The value that draws have for 1.
    tuning : Tuning, optional
        What was tried to choose ``alpha``; set by a fit, not by users.

    Attributes
    ----------
    key : str
        "bernoulli", the name of the family.

    See Also
    --------
    BernoulliNB : Naive Bayes with this family.
    GenerativeClassifier : Tables, with a family for each column.

    Examples
    --------
    >>> theta, A, *_ = Bernoulli().solve(np.array([4.0]), np.array([[1.0]]))
    >>> np.exp(theta[0]), np.exp(-A)  # the odds of presence, and the probability of absence
    (array([0.33333333]), array([0.75]))
    """

    threshold: float | None = 0.0
    present: float = field(default=1.0, kw_only=True)

    key: ClassVar[str] = "bernoulli"
    from_0: ClassVar[bool] = True
    support: ClassVar[str] = "needs values from 0 to 1"
    way_out: ClassVar[str] = "set a threshold (binarize)"

    @property
    def statistic(self) -> tuple[object, ...]:
        """Counts of x > threshold."""
        return (self.key, self.threshold)

    def outside(self, x: Array) -> NDArray[np.bool_]:
        """Without a threshold, values must be shares."""
        return (x < 0) | (x > 1) if self.threshold is None else np.zeros(x.shape, dtype=bool)

    @property
    def interval(self) -> tuple[float, float]:
        """0 and 1, whatever is made one of them."""
        return 0.0, self.present

    def infeasible(self, n: Array, t: Array, slack: Array) -> NDArray[np.bool_]:
        """0 ≤ Σx ≤ n."""
        return (t[..., 0] < -slack[..., 0]) | (t[..., 0] > n + slack[..., 0])

    def surely_valid(self, X: NumberRows) -> bool:
        """With a threshold, anything finite will do."""
        return super().surely_valid(X) if self.threshold is None else _sums_up(X)

    @property
    def adds_entries(self) -> bool:
        """Unless a zero counts as 1."""
        return self.threshold is None or self.threshold >= 0

    @property
    def entry_threshold(self) -> float | None:
        """1 above the threshold; without one, entries count as they are."""
        return None if self.threshold is None else float(self.threshold)

    def T(self, x: Array) -> Array:
        """1{x > threshold}."""
        return (x if self.threshold is None else (x > self.threshold).astype(np.float64))[..., None]

    def log_evidence(self, stats: Stats, alpha: float) -> float:
        """Present and absent rows of every class and column, their shares drawn from Beta(α, α)."""
        yes = stats["t"][..., 0]
        return dirichlet_evidence(np.stack([yes, stats["n"] - yes], axis=-1), alpha)

    def leave_one_out(self, X: NumberRows, rows: Rows, stats: Stats) -> LooScores:
        """log (yes − w + α)/(n − w + 2α) of what is there, log (no − w + α)/(n − w + 2α) of the rest.

        Only the row's own class has other sums, and all its rows of one weight have the same ones but for what each has
        itself: a row costs as much as it has entries.
        """
        many = rows.weights is not None and len(np.unique(rows.weights)) > FEW_WEIGHTS
        missing = (stats["n"] != stats["n"][:, :1]).any() or not _sums_up(X)
        if many or missing or self.threshold is None or (self.threshold < 0 and is_sparse(X)):
            return super().leave_one_out(X, rows, stats)
        X = csr(X) if is_sparse(X) else X
        there = _above(X, self.threshold)
        family = self.solvable(stats)
        scorer = family.scorer(stats)
        density, never = scorer.scores(X), scorer.impossible(X)
        never = np.zeros_like(density) if never is None else never
        codes, weights = rows.part(0, len(rows))
        for c, w in {*zip(codes.tolist(), weights.tolist(), strict=True)}:
            here = np.flatnonzero((codes == c) & (weights == w))
            density[here, c], never[here, c] = family._own_class(there[here], w, stats["n"][c, 0], stats["t"][c, :, 0])
        return LooScores(density, never if never.any() else None)

    def _own_class(self, there: sparse.csr_array[np.bool_], w: float, n: float, t: Array) -> tuple[Array, Array]:
        """Rows of one class and weight under the class without them, and their events of probability 0."""
        left = float(without(np.array(n), np.array(w)))
        a = np.broadcast_to(np.asarray(self.alpha if left > 0 else np.maximum(self.alpha, 1.0), np.float64), t.shape)
        yes, no = without(t, np.array(w)) + a, without(n - t, np.array(w)) + a
        total = np.log(left + 2 * a)
        log_yes, log_no = (np.log(np.where(share > 0, share, 1.0)) - total for share in (yes, no))
        nothing, always = (yes <= 0).astype(np.float64), (no <= 0).astype(np.float64)
        return log_no.sum() + there @ (log_yes - log_no), always.sum() + there @ (nothing - always)

    def smooth(self, n: Array, t: Array) -> tuple[Array, Array]:
        """α imagined rows with the feature and α without it."""
        a = self._alpha(n)
        return n + 2 * a, t + a[..., None]

    def _alpha(self, n: Array) -> Array:
        a = np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), n.shape)
        return np.where((n == 0) & (a == 0), 1.0, a)  # a class without rows says nothing: φ = ½

    def solve_smoothed(self, n: Array, t: Array) -> Natural:
        """Present and absent rows are smoothed each, so that a small α is not lost beside n."""
        n = n if np.ndim(self.alpha) else _shortest(n)
        a = self._alpha(n)
        no = n - t[..., 0]
        no += a
        return _odds(t[..., 0] + a, no, n + 2 * a)

    def solve(self, n: Array, t: Array) -> Natural:
        """θ = log φ/(1−φ), A = −log(1−φ)."""
        return _odds(t[..., 0].copy(), n - t[..., 0], _shortest(n))

    def mean(self, theta: Array) -> Array:
        """φ times what 1 stands for."""
        return np.asarray(expit(theta[..., 0]) * self.present)

    def parameters(self, theta: Array) -> dict[str, Array]:
        """φ, the share of rows in which the column is present."""
        return {"probability": np.asarray(expit(theta[..., 0]))}

    def draw(self, theta: Array, rng: np.random.Generator) -> Array:
        """Present with probability φ = 1/(1 + e^−θ)."""
        return (rng.random(theta.shape[:-1]) * (1 + np.exp(-theta[..., 0])) < 1).astype(np.float64)

    def shown(self, x: Array) -> Array:
        """0 and ``present``, or next to a threshold that does not lie between them."""
        t = 0.0 if self.threshold is None else self.threshold
        return np.where(x > 0, max(self.present, np.nextafter(t, np.inf)), min(0.0, t))


def _above(X: NumberRows, threshold: float) -> sparse.csr_array[np.bool_]:
    """Which values lie above a threshold, as CSR; from 0 on, so that zeros which are not stored do not."""
    if not is_sparse(X):
        return sparse.csr_array(threshold < X)
    there = X.data > threshold
    ends = np.concatenate([[0], np.cumsum(there)])[X.indptr]  # entries in any order stay so: scipy's own sorts them
    return sparse.csr_array((there[there], X.indices[there], ends), shape=X.shape)


def _sums_up(X: NumberRows) -> bool:
    return sum_is_finite(X if isinstance(X, np.ndarray) else X.data)


def _shortest(n: Array) -> Array:
    """One number per class where no column has missing values."""
    return n[..., :1] if (n == n[..., :1]).all() else n


def _odds(yes: Array, no: Array, n: Array) -> Natural:
    """θ = log yes/no, A = −log(no/n); where one is 0, the finite part of log α − log n, and the event is counted.

    ``yes`` and ``no`` are used up.
    """
    never, always = yes <= 0, no <= 0
    impossible = bool(never.any() or always.any())
    if impossible:
        yes[never], no[always] = 1.0, 1.0
    log_n = np.log(n)
    for share in (yes, no):
        np.log(share, out=share)
        share -= log_n
    yes -= no
    natural = Natural(yes[..., None], np.negative(no, out=no))
    if not impossible:
        return natural
    zero0 = always.astype(np.float64)
    return natural._replace(zero=(never - zero0)[..., None], zero0=zero0)
