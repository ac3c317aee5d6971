"""Predicting: posteriors, densities and draws of a fitted model."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..core.logistic import LogisticForm
from ..core.solution import RowScorer, Solution
from ..core.stats import CLASS
from ..data.arrays import Array, Codes
from ..data.errors import InputError
from ..data.matrices import Matrix
from ..posterior.novelty import DRAWS, Draws, Unit, missing_cells_of, novelties
from ..tables.column_family import apart
from .fitted import log_prior
from .learning import Learner


class Predictor(Learner):
    """Posteriors, densities, novelty, draws and the logistic form, for any family."""

    # --- predicting

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        X = self._read_X_known(X)
        fitted = self._fitted
        if fitted.maps:
            return fitted.classes[self._posterior(X).argmax(axis=1)]
        return fitted.classes[fitted.solution.best(X)]

    def predict_proba(self, X: Any) -> Array:
        """p(class | x), columns in the order of ``classes_``; finite and summing to 1 for any finite row."""
        return self._posterior(self._read_X_known(X))

    def _posterior(self, X: Matrix) -> Array:
        return self._fitted.posterior(X)

    def predict_log_proba(self, X: Any) -> Array:
        """log p(class | x)."""
        X = self._read_X_known(X)
        return log_prior(self._posterior(X)) if self._fitted.maps else self._solved.log_posterior(X)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, class)."""
        X = self._read_X_known(X)
        return self._solved.log_joint(X)

    # --- densities

    def novelty(self, X: Any, random_state: Any = 0) -> Array:
        """How unusual each row is, in [0, 1]: the share of rows drawn from the model that are more probable.

        1: less probable than any of them.  A row with missing values is compared with draws that have the same missing
        values.
        """
        X = self._read_X_known(X)
        solution, rng = self._density_solution(), generator(random_state)
        codes = solution.draw_classes(DRAWS, rng)
        units = self._units(solution, solution.sample(codes, rng))
        if not all(unit.solution.scorer.comparable for unit in units):
            raise InputError(
                "novelty: the model says nothing of how long a document is, so that documents of different lengths "
                "have no densities to compare"
            )
        draws = Draws(codes, solution.log_prior, units)
        return novelties(draws, solution.log_density(X), *self._missing_in(X), lambda row: self._told(X, row))

    def _units(self, solution: Solution, drawn: Any) -> list[Unit]:
        """The columns of these draws that are scored together."""
        alone = Solution(solution.classes, np.zeros(len(solution.classes)), solution.scorer, solution.columns)
        return [Unit(alone, drawn, apart(self._model.family))]

    def _missing_in(self, X: Matrix) -> tuple[Any, Any]:
        """The rows with missing values, and where in them these are."""
        return missing_cells_of(X)

    def _told(self, data: Any, row: int) -> Array:
        """What the missing values of a row say of each class, where they are evidence.  # → (K,)"""
        return np.zeros(len(self._model.classes))

    def _density_solution(self) -> Solution:
        """The solution whose scores are densities."""
        return self._solved

    def score_samples(self, X: Any) -> Array:
        """log p(x) of each row."""
        X = self._read_X_known(X)
        return self._density_solution().log_density(X)

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Joint log-likelihood Σ w log p(x, y) of labelled rows; −inf for a label the model does not know."""
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        return self._density_solution().log_likelihood(data, rows)

    def aic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Akaike's criterion, 2·parameters − 2·log-likelihood; lower is better."""
        return 2.0 * self.n_parameters_ - 2.0 * self.log_likelihood(X, y, sample_weight)

    def bic(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The Bayesian criterion, log(rows)·parameters − 2·log-likelihood; lower is better."""
        data, _, rows = self._read(X, y, sample_weight, self._read_X_known)
        likelihood = self._density_solution().log_likelihood(data, rows)
        return math.log(rows.counts().sum()) * self.n_parameters_ - 2.0 * likelihood

    def sample(self, n: int = 1, y: Any = None, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
        """Draw ``n`` rows: from the class ``y``, from the classes ``y`` (n of them), or from the prior.

        Returns the rows and their labels.
        """
        solution = self._density_solution()
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"sample: n must be a integer of at least 1, got {n!r}")
        rng = generator(random_state)
        codes = solution.draw_classes(n, rng) if y is None else self._wanted(n, y)
        return solution.sample(codes, rng), self.classes_[codes]

    def _wanted(self, n: int, y: Any) -> Codes:
        """The codes of the classes to draw from."""
        position = self._model.counts.axes[CLASS].position
        one = isinstance(y, Hashable) and (y in position or not isinstance(y, tuple))
        wanted = [y] * n if one else y.tolist() if isinstance(y, np.ndarray) else list(y)
        wanted = wanted * n if len(wanted) == 1 else wanted
        unknown = [c for c in wanted if c not in position]
        if unknown:
            raise ValueError(f"sample: no class {unknown[0]!r}; the classes are {list(self._model.classes)}")
        if len(wanted) != n:
            raise ValueError(f"sample: y names {len(wanted)} classes for n = {n} rows; give one class, or n of them")
        return np.array([position[c] for c in wanted], np.int32)

    def logistic_form(self) -> LogisticForm:
        """The posterior as explicit weights: per class (softmax), and ``.pair(a, b)`` as log-odds.

        Linear in the sufficient statistic T(x); own Gaussian variances or covariances add a quadratic term.
        """
        return self._solved.logistic_form()

    def scorer(self) -> RowScorer:
        """A handle for one row at a time, without the checks: ``scorer()(row)`` gives p(class | row).

        It scores under the model as it is now, and takes a float64 row of the right length (finite, or with NaN where
        the model takes missing values) at its word.
        """
        fitted = self._fitted
        return RowScorer(fitted.solution, fitted.classes, fitted.posterior if fitted.maps else None)


def generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn takes as ``random_state``, or from one already made."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
