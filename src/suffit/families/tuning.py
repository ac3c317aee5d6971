"""Settings tuned from data: by the leave-one-out log-loss, or by the evidence.

Leave-one-out needs the rows: every one is scored by the sums of all the others, under each setting tried, and the
setting with the least −log p(class | x) is taken.  (A weight of 3 is three rows, of which one is removed.)  The
evidence, log p(counts | α), needs only the sums, and so follows them wherever they are merged, updated or forgotten
from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ..core.family import EMPTIED, Data, Family
from ..core.leave_one_out import LooScores
from ..core.pooling import bounded, pooled
from ..core.stats import Stats
from ..data.arrays import Array, Codes, NumberRows
from ..data.errors import InputError
from ..data.printed import MadeTable, html_table, to_table
from ..data.rows import Rows
from ..data.validate import check_setting

if TYPE_CHECKING:
    from .gaussian.joint import MultivariateGaussian

LOO, EVIDENCE = "loo", "evidence"
Alpha = float | str | tuple[float, ...] | Array  # a number, numbers by column, or how to choose one
TEMPERED = "loo, tempered"  # by the log-loss under the best power of the evidence, for a model that will have one
MOST_ROWS = 20_000  # rows that settings are compared on, where there are more: each against the sums of all others
SMALLEST, LARGEST = 1e-3, 1e3  # between which α is looked for
DIGITS = 3  # to which α is rounded: more of them would be noise
TIES = (1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.0)
SHRINKAGES = (0.0, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0)


@dataclass(frozen=True)
class Trial:
    """One setting, and its leave-one-out log-loss (or minus its log-evidence)."""

    settings: dict[str, Any]
    loss: float


@dataclass(frozen=True)
class Tuning:
    """What was tried, by which criterion, and what was taken."""

    criterion: str
    tried: tuple[Trial, ...]
    taken: Trial

    def to_frame(self) -> MadeTable:
        """Return a data frame: a row for each setting tried, with its loss, and whether it was taken.

        Returns
        -------
        data frame
            Of the library the rows came from; for plain arrays pandas where it is installed, else a dict of arrays.
        """
        columns: dict[str, Sequence[object] | Array] = {
            name: [t.settings[name] for t in self.tried] for name in self.taken.settings
        }
        columns[self.criterion] = np.array([t.loss for t in self.tried])
        return to_table(self, {**columns, "taken": np.array([t is self.taken for t in self.tried])})

    def _repr_html_(self) -> str:
        rows = [
            [*(f"{v:.4g}" if isinstance(v, float) else str(v) for v in t.settings.values()), f"{t.loss:.5f}",
             "*" if t is self.taken else ""]
            for t in self.tried
        ]  # fmt: skip
        return html_table([*self.taken.settings, self.criterion, "taken"], rows)

    def __repr__(self) -> str:
        names = list(self.taken.settings)
        head = "".join(f"{name:>14}" for name in names) + f"{self.criterion:>28}"
        rows = [head]
        for t in self.tried:
            values = "".join(f"{v:>14.4g}" if isinstance(v, float) else f"{v!s:>14}" for v in t.settings.values())
            rows.append(f"{values}{t.loss:>28.5f}{' *' if t is self.taken else ''}")
        return "\n".join(rows)


LOO_LOSS = "leave-one-out log-loss"
NEGATIVE_EVIDENCE = "−log evidence"


def check_alpha(family: SmoothedFamily, evidence: bool) -> None:
    """Refuse an α that is neither a number of at least 0 nor a way to choose one."""
    if isinstance(family.alpha, str):
        ways = (LOO, EVIDENCE) if evidence else (LOO,)
        if family.alpha not in (*ways, TEMPERED):
            others = " or ".join(map(repr, ways))
            why = "" if evidence or family.alpha != EVIDENCE else "; the evidence is available for counts only"
            raise ValueError(
                f"{type(family).__name__}(alpha={family.alpha!r}): must be a number of at least 0, or {others}{why}"
            )
        return
    check_setting(family, "alpha", family.alpha, 0.0)


def loo_loss_of(left: LooScores, rows: Rows, counts: Array, tempered: bool = False, prior: bool = True) -> float:
    """Mean leave-one-out −log p(y | x), under the shares of the classes; ∞ where something is singular.

    A row that is the only one of its class does not count: no setting could know it.  ``tempered``: under the power of
    p(x | c) and the outlier rate with the least loss.  ``prior=False``: for a rule that takes no prior.
    """
    if not tempered:
        return mean_loss(*loo_losses(left, rows, counts, prior))
    n, codes, weights = _without(rows, counts)
    counted = _counted(n, codes, weights) & np.isfinite(left.log_density).all(axis=1)
    with np.errstate(divide="ignore"):
        log_prior = np.log(n if prior else (n > 0).astype(np.float64))
        return pooled([bounded(left)[counted]], log_prior[counted], codes[counted], weights[counted]).loss


def loo_losses(left: LooScores, rows: Rows, counts: Array, prior: bool = True) -> tuple[Array, Array]:
    """Leave-one-out −log p(y | x) of each row that counts, and its weight; ``prior``: whether classes have one."""
    n, codes, weights = _without(rows, counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        joint = left.log_density + np.log(n if prior else (n > 0).astype(np.float64))
        if left.impossible is not None:
            fewest = np.where(n > 0, left.impossible, np.inf).min(axis=1, keepdims=True)
            joint = np.where(left.impossible > fewest, -np.inf, joint)
        top = joint.max(axis=1)
        loss = top + np.log(np.exp(joint - top[:, None]).sum(axis=1)) - joint[np.arange(len(rows)), codes]
    counted = _counted(n, codes, weights)
    return loss[counted], weights[counted]


def mean_loss(losses: Array, weights: Array) -> float:
    """The mean of row losses; ∞ where one is not a number."""
    mean = float(np.average(losses, weights=weights))
    return mean if np.isfinite(mean) else np.inf


def _without(rows: Rows, counts: Array) -> tuple[Array, Codes, Array]:
    """The class counts without one of each row, and the codes and weights of the rows.  # → (n, K), (n,), (n,)"""
    codes, gone = rows.one_of_each().part(0, len(rows))
    n = np.repeat(counts[None], len(rows), axis=0)
    n[np.arange(len(rows)), codes] -= gone
    n[n <= EMPTIED * counts] = 0.0
    return n, codes, rows.part(0, len(rows))[1]


def _counted(n: Array, codes: Codes, weights: Array) -> NDArray[np.bool_]:
    """Which rows count: those with weight whose class has other rows."""
    counted = (n[np.arange(len(codes)), codes] > 0) & (weights > 0)
    if not counted.any():
        raise InputError(
            f"leave-one-out needs a class with at least two rows, got n_samples={len(codes)}, one in each class; "
            "set the parameter to a number"
        )
    return np.asarray(counted)


def check_classes(rows: Rows) -> None:
    """Refuse to compare settings by rows of one class: all explain it equally well."""
    counts = rows.counts()
    if np.count_nonzero(counts) < 2:
        found = rows.classes.labels[int(np.argmax(counts))]
        raise InputError(
            "leave-one-out compares settings by how well they separate the classes, but all rows belong to one class "
            f"({found!r}); start with rows of at least two classes, or set the parameter to a number"
        )


def some_rows(X: Data, rows: Rows) -> tuple[Data, Rows]:
    """The rows that settings are compared on."""
    sample = rows.with_positive_weight(MOST_ROWS)
    return (X, rows) if len(sample) == len(rows) else (cast("Data", X[sample]), rows.some(sample))


def least_at(loss: Callable[[float], float]) -> tuple[float, list[tuple[float, float]]]:
    """The α with the least loss, and all that were tried: first half decade by half decade, then about the best."""
    from scipy.optimize import minimize_scalar  # which takes long to import

    tried = [(float(a), loss(float(a))) for a in np.geomspace(SMALLEST, LARGEST, 13)]
    best = int(np.argmin([value for _, value in tried]))
    low, high = tried[max(best - 1, 0)][0], tried[min(best + 1, len(tried) - 1)][0]

    def at(log_alpha: float) -> float:
        tried.append((float(np.exp(log_alpha)), loss(float(np.exp(log_alpha)))))
        return tried[-1][1]

    if np.isfinite(tried[best][1]):
        minimize_scalar(
            at, bounds=(np.log(low), np.log(high)), method="bounded", options={"xatol": 0.02, "maxiter": 12}
        )
    alpha = min(tried, key=lambda pair: (pair[1], -pair[0]))[0]
    alpha = float(f"{alpha:.{DIGITS}g}")
    tried.append((alpha, loss(alpha)))
    return alpha, sorted(tried)


class SmoothedFamily(Family[Data, Stats]):
    """A family that is smoothed by α: a number, one for each column, or how to choose one."""

    alpha: Alpha
    tuning: Tuning | None

    def log_evidence(self, stats: Stats, alpha: float) -> float:
        """log p(statistics | α), where a family has it."""
        raise NotImplementedError

    def evidence_of(self, stats: Stats) -> Callable[[float], float]:
        """``log_evidence`` of these sums as a function of α."""
        return lambda alpha: self.log_evidence(stats, alpha)

    def solvable(self, stats: Stats) -> Self:
        """With α chosen by the evidence of these sums, where that is asked for."""
        if not (isinstance(self.alpha, str) and self.alpha == EVIDENCE):
            return self
        evidence = self.evidence_of(stats)
        return self._taken(NEGATIVE_EVIDENCE, *least_at(lambda alpha: -evidence(alpha)))

    @property
    def alpha_is_open(self) -> bool:
        """Whether α is still to be chosen by leave-one-out."""
        return isinstance(self.alpha, str) and self.alpha in (LOO, TEMPERED)

    @property
    def is_tuned(self) -> bool:
        return not self.alpha_is_open

    def tuned_on(self, X: Data, rows: Rows, stats: Stats) -> Family[Data, Stats]:
        """With the α of the least leave-one-out log-loss, where that is asked for."""
        if not self.alpha_is_open:
            return self
        check_classes(rows)
        counts, (here, few) = rows.counts(), some_rows(X, rows)

        def loss(alpha: float) -> float:
            left = self.having(alpha=alpha).leave_one_out(here, few.one_of_each(), stats)
            return loo_loss_of(left, few, counts, self.alpha == TEMPERED, not getattr(self, "complement", False))

        return self._taken(LOO_LOSS, *least_at(loss))

    def tuned_as(self, other: Family) -> Family:
        """With the α that a family of its kind has chosen."""
        if isinstance(other, type(self)) and self.alpha_is_open:
            return self.having(alpha=other.alpha, tuning=other.tuning)
        return self

    def _taken(self, criterion: str, alpha: float, tried: list[tuple[float, float]]) -> Self:
        trials = tuple(Trial({"alpha": a}, value) for a, value in tried)
        taken = next(t for t in trials if t.settings["alpha"] == alpha)
        return self.having(alpha=alpha, tuning=Tuning(criterion, trials, taken))


def dirichlet_evidence(count: Array, alpha: float) -> float:
    """Σ_c log Γ(Lα)/Γ(N_c + Lα) + Σ_v log Γ(N_cv + α)/Γ(α): counts drawn from shares drawn from Dirichlet(α).

    >>> round(dirichlet_evidence(np.array([[2.0, 0.0]]), 1.0), 6)  # log ∫ φ² dφ = −log 3
    -1.098612
    """
    L = count.shape[-1]
    each = gammaln(count + alpha) - gammaln(alpha)
    whole = gammaln(L * alpha) - gammaln(count.sum(axis=-1) + L * alpha)
    return float(each.sum() + whole.sum())


def without_lone_rows(family: MultivariateGaussian, X: NumberRows, rows: Rows, stats: Stats) -> tuple[NumberRows, Rows]:
    """The rows without which every column still varies: without the others no setting is better than another."""
    varied = np.flatnonzero(~family.having(tie=1.0, shrinkage=0.0).alone(X, rows.one_of_each(), stats))
    return (X[varied], rows.some(varied)) if 0 < len(varied) < len(rows) else (X, rows)


def covariance_losses(
    family: MultivariateGaussian, X: NumberRows, rows: Rows, stats: Stats
) -> list[tuple[Trial, Array, Array]]:
    """Every tie and shrinkage that a jointly normal family leaves open, its row losses, and the rows' weights."""
    ties = TIES if family.tie == LOO else (family.tie,)
    amounts = SHRINKAGES if family.shrinkage == LOO else (family.shrinkage,)
    out = []
    for tie in ties:
        one = family.having(tie=tie, shrinkage=0.0)
        for s, density in zip(amounts, one.loo_by_shrinkage(X, rows.one_of_each(), stats, amounts), strict=True):
            losses = loo_losses(LooScores(density), rows, stats["n"])
            out.append((Trial({"tie": tie, "shrinkage": s}, mean_loss(*losses)), *losses))
    return out


def tuned_covariance(family: MultivariateGaussian, X: NumberRows, rows: Rows, stats: Stats) -> MultivariateGaussian:
    """A jointly normal family with its tie and shrinkage by leave-one-out: the grid of both, or of one.

    Of settings with the same loss, that with fewer parameters to learn is taken: tied more, then shrunk more.
    """
    here, few = without_lone_rows(family, *some_rows(X, rows), stats)
    trials = [trial for trial, *_ in covariance_losses(family, here, few, stats)]
    taken = min(trials, key=lambda t: (round(t.loss, 9), -t.settings["tie"], -amount(t.settings["shrinkage"])))
    if not np.isfinite(taken.loss):
        raise InputError(
            "the covariances are singular without one row, for every tie and shrinkage that was tried; set shrinkage "
            "to a number above 0, or to 'loo'"
        )
    return family.having(**taken.settings, tuning=Tuning(LOO_LOSS, tuple(trials), taken))


def amount(shrinkage: float | str) -> float:
    """A shrinkage as a number; one that the data choose counts as none."""
    return shrinkage if isinstance(shrinkage, float) else 0.0
