"""What the naive Bayes models with counts share: smoothing and the class prior, as scikit-learn names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.stats import Stats
from ..data.arrays import Array
from ..data.inputs import LabelsLike, TableLike, WeightsLike
from ..data.validate import Prior
from ..data.warn import warn_once
from ..families.tuning import TEMPERED
from .base import GenerativeEstimator, nameless

NON_NEGATIVE = Interval(Real, 0, None, closed="left")


@nameless
class SmoothedNB(GenerativeEstimator):
    """What the naive Bayes models with counts share: ``alpha`` and the class prior, as scikit-learn names them."""

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "alpha": [NON_NEGATIVE, "array-like", StrOptions({"loo", "evidence"})],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None, dict],
        "force_alpha": ["boolean"],
        "prior_smoothing": [NON_NEGATIVE],
        "calibrate": [StrOptions({"temperature", "isotonic"}), None],
    }
    alpha: float | str | ArrayLike
    force_alpha: bool
    fit_prior: bool
    class_prior: Prior
    calibrate: str | None

    def fit(
        self,
        X: TableLike,
        y: LabelsLike | None = None,
        sample_weight: WeightsLike = None,
        feature_names: Sequence[str] | None = None,
    ) -> Self:
        """Learn these rows, in place, and forget everything learned before.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the row twice.
        feature_names : sequence of str, optional
            What the columns are called in explanations and summaries, where X has no names: the words of a
            vectoriser, ``vectoriser.get_feature_names_out()``.

        Returns
        -------
        self

        """
        before = dict(self.__dict__)
        super().fit(X, y, sample_weight)
        if feature_names is None:
            return self
        names, n = tuple(map(str, feature_names)), len(self._fit.known.columns)
        if self._names_words or len(names) != n:
            self.__dict__.clear()
            self.__dict__.update(before)
            why = "its words name themselves" if self._names_words else f"X has {n} columns, and there are {len(names)}"
            raise ValueError(f"feature_names: {why}; give one name for each column, or None")
        self._fit = replace(self._fit, known=replace(self._fit.known, family=self._fit.known.family.of(names)))
        return self

    _names_words: ClassVar[bool] = False  # whether columns have names that no user can give

    def _check_alpha(self, n_features: int | None = None) -> float | str | Array:
        """``alpha`` as a number, an array by column, or a way to choose; below 1e-10 only with ``force_alpha``."""
        if isinstance(self.alpha, str):
            return TEMPERED if (self.alpha, self.calibrate) == ("loo", "temperature") else self.alpha
        alpha = float(self.alpha) if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray) and not (alpha.size and np.isfinite(alpha).all()):
            raise ValueError(f"alpha={self.alpha!r}: give one finite number, or one for each column")
        least = np.min(alpha)
        if isinstance(alpha, np.ndarray):
            n_features = self.n_features_in_ if n_features is None else n_features
            if alpha.shape[0] != n_features:
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. "
                    f"Got {alpha.shape[0]} elements instead of {n_features}."
                )
            if least < 0:
                raise ValueError(f"All values in alpha must be greater than 0. Found {least:g}.")
        if least < 1e-10 and not self.force_alpha:
            warn_once(
                UserWarning,
                "alpha too small will result in numeric errors, setting alpha = 1.0e-10. "
                "Use `force_alpha=True` to keep alpha unchanged.",
            )
            return np.maximum(alpha, 1e-10)
        return alpha

    def _prior(self) -> Prior:
        if self._setting("class_prior") is not None:
            return self._setting("class_prior")
        return None if self._setting("fit_prior", True) else "uniform"

    def _normalised_prior(self, p: Array) -> Array:
        if not (p >= 0).all():
            raise ValueError(f"Priors must be non-negative, found {p[np.argmin(p >= 0)]:g}.")
        return np.asarray(p / p.sum())  # scikit-learn takes any scale; as a density it must sum to 1

    @property
    def class_log_prior_(self) -> Array:
        """log p(class)."""
        return self._solved.log_prior.copy()

    @property
    def feature_count_(self) -> Array:
        """Σ of each column in each class."""
        stats = cast("Stats", self._model.sums)
        return stats["count"].copy() if "count" in stats.sums else stats["t"][..., 0].copy()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
