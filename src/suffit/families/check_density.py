"""Does the density of a family sum or integrate to 1, and do its draws follow it?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..core.family import Scorer
from ..data.arrays import Array
from ..text.documents import read_texts
from .columns import IndependentColumns
from .counts.multinomial import MultinomialScorer
from .counts.partition_scores import PartitionScorer
from .counts.scores import CategoricalScorer
from .counts.text_scores import TextScorer
from .elementwise.shape import Elementwise

if TYPE_CHECKING:
    from .check import Case

DRAWS = 4000  # that are held against the density
FEW_VALUES = DRAWS // 10  # draws of no more different values than this are of a discrete family
PIECES = 64  # that the range of the draws is cut into, to integrate over
BEYOND = 5000  # steps beyond the largest draw that probabilities are added up to
CHANCE = 1e-5  # of a family that draws right to be refused
TOTAL = 5e-3  # by which an integral may miss 1, the tails beyond all draws being hard to integrate


def log_density(scorer: Scorer, X: Array) -> Array:
    """log p(x | c); −∞ where smoothing leaves it 0.  # → (n, K)"""
    with np.errstate(all="ignore"):
        out = scorer.scores(X) + scorer.log_base(X)[:, None]
        impossible = scorer.impossible(X)
    return out if impossible is None else np.where(impossible > 0, -np.inf, out)


def sums_to_one(case: Case) -> None:
    """The density sums or integrates to 1, and draws follow it."""
    scorer = case.scorer()
    for c in range(scorer.n_classes):
        if not isinstance(scorer, MultinomialScorer | CategoricalScorer | TextScorer | PartitionScorer):
            _of_numbers(case, c)
            continue
        X = scorer.sample(np.full(DRAWS, c, np.int32), case.rng(3 + c))
        if isinstance(scorer, MultinomialScorer):  # of one word
            _shares(case, np.exp(scorer.scores(np.eye(X.shape[1]))[:, c]), X.sum(axis=0))
        elif isinstance(scorer, TextScorer):  # likewise
            words = np.array(list(scorer.names), dtype=object)[:, None]
            counts = np.asarray(scorer.family.counted(read_texts(X), scorer.stats).sum(axis=0)).reshape(-1)
            _shares(case, np.exp(scorer.scores(read_texts(words))[:, c]), counts)
        elif isinstance(scorer, PartitionScorer):  # of the leaves of a tree
            leaves, seen = scorer.family.leaves_of(0), next(scorer.family.placed(scorer.family.read(X)))
            drawn = np.bincount(seen, minlength=leaves[-1] + 1)[leaves]
            _shares(case, np.exp(scorer.log_leaves[leaves, c]), drawn.astype(np.float64))
        else:
            _shares(case, np.exp(scorer.tables[0][c]), np.bincount(scorer.codes(X)[:, 0]).astype(np.float64))


def _of_numbers(case: Case, c: int) -> None:
    """The first column alone: by sums where draws are of few values, else by integrals."""
    family = case.family
    if isinstance(family, Elementwise):
        family = family.of_columns(slice(0, 1), case.X.shape[1])
    scorer = replace(case, X=case.X[:, :1], family=family).scorer()
    low, high = family.interval if isinstance(family, IndependentColumns) else (-np.inf, np.inf)

    def density(at: float | Array) -> Array:
        at = np.atleast_1d(np.asarray(at, np.float64))
        taken = (at >= low) & (at <= high)
        if isinstance(family, IndependentColumns):
            taken &= ~family.outside(at[:, None])[:, 0]
        out = np.zeros(len(at))
        if taken.any():
            with np.errstate(over="ignore"):
                out[taken] = np.exp(log_density(scorer, at[taken][:, None])[:, c])
        return out

    x = np.sort(scorer.sample(np.full(DRAWS, c, np.int32), case.rng(3 + c))[:, 0])
    values, counts = np.unique(x, return_counts=True)
    if len(values) > FEW_VALUES:
        _integrals(case, density, x, low, high)
        return
    step = np.diff(values).min(initial=np.inf) if len(values) > 1 else 1.0
    grid = values[0] + step * np.arange(-100, round((values[-1] - values[0]) / step) + BEYOND)
    grid = grid[(grid >= low) & (grid <= high)]
    seen = np.zeros(len(grid))
    seen[np.rint((values - grid[0]) / step).astype(int)] = counts
    _shares(case, density(grid), seen)


def _shares(case: Case, p: Array, seen: Array) -> None:
    """Probabilities add up to 1, and are those of the draws (chi-square, rare values taken together)."""
    from scipy.stats import chi2

    if not abs(p.sum() - 1) < TOTAL:
        case.fail(f"its probabilities add up to {p.sum():.4g} instead of 1; look at A and log_base")
    n = seen.sum()
    seen = np.concatenate([seen, np.zeros(len(p) - len(seen))])
    often = n * p >= 5
    expected, found = (np.append(a[often], a[~often].sum()) for a in (n * p, seen))
    far = float(((found - expected) ** 2 / np.maximum(expected, 1.0)).sum())
    if far > chi2.isf(CHANCE, max(int(often.sum()), 1)):
        worst = int(np.argmax(np.abs(seen - n * p)))
        case.fail(
            f"draws do not follow the density: one value has probability {p[worst]:.3g}, {seen[worst] / n:.3g} of draws"
        )


def _integrals(case: Case, density: Callable[[float | Array], Array], x: Array, low: float, high: float) -> None:
    """∫p = 1, and the share of draws below a value is the integral up to there (Kolmogorov and Smirnov)."""
    from scipy.integrate import quad
    from scipy.special import kolmogi

    knots = np.unique(np.quantile(x, np.linspace(0, 1, PIECES + 1)))
    nodes, node_weights = np.polynomial.legendre.leggauss(24)
    half = np.diff(knots)[:, None] / 2
    inner = density((knots[:-1, None] + half * (1 + nodes)).reshape(-1)).reshape(len(half), -1)
    pieces = inner @ node_weights * half[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        below, above = (
            quad(lambda v: float(density(v)[0]), a, b, limit=200)[0] for a, b in ((low, knots[0]), (knots[-1], high))
        )
    total = below + pieces.sum() + above
    if not abs(total - 1) < TOTAL:
        case.fail(f"its density integrates to {total:.4g} instead of 1; look at A and log_base")
    at = np.searchsorted(x, knots, side="right") / len(x)
    apart = np.abs(below + np.concatenate([[0.0], np.cumsum(pieces)]) - at)
    if apart.max() > kolmogi(CHANCE) / np.sqrt(len(x)):
        k = int(np.argmax(apart))
        case.fail(
            f"draws do not follow the density: {at[k]:.0%} of them are below {knots[k]:.4g}, and the density has "
            f"{apart[k]:.0%} more or less there"
        )
