"""Decisions by cost inside scikit-learn's tools: a meta-estimator around any classifier with posteriors."""

from __future__ import annotations

import copy
import os
from collections.abc import Hashable, Mapping
from typing import ClassVar, Self

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from ..data.arrays import Array, Cells
from ..data.errors import InputError
from ..data.inputs import LabelsLike, TableLike, WeightsLike
from ..data.rows import encode
from ..data.validate import Prior, checked_prior, read_labels, read_weight
from ..posterior.decide import Costs, Decisions, Rule, Thresholds, mean_cost
from ..posterior.prior_shift import reweighted
from .checks import not_fitted


class Decision(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier whose predictions are decisions of least expected cost: for pipelines, searches, cross-validation.

    The settings are those of ``decide``, which every estimator of suffit has.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Cloned and fitted by ``fit``.  One that is fitted already can be used at once, or frozen with scikit-learn's
        ``FrozenEstimator`` so that ``fit`` leaves it as it is.
    cost : array-like of shape (n_classes, n_classes) or dict, optional
        ``cost[true, decided]`` in the order of ``classes_``, or ``{true: {decided: cost}}``; by default 1 for an error.
    prior : dict, array-like or "uniform", optional
        Class prior at prediction.  Posteriors of other classifiers than suffit's are taken to hold under the class
        shares of the rows given to ``fit``.
    reject : float, optional
        The cost of deciding nothing.
    threshold : float or dict, optional
        Instead of costs: the least posterior for ``classes_[1]`` of two, or of every class.
    novelty : float, optional
        Rows whose ``novelty`` is at least this are rejected; for estimators of suffit.
    reject_label : object, default None
        The label of rejected rows.  For scikit-learn's metrics choose one of the labels' kind, such as −1 or "?".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    estimator_ : classifier
        The fitted clone of ``estimator``.
    class_share_ : ndarray of shape (n_classes,)
        The share of each class in the rows given to ``fit``.
    n_features_in_ : int
        Number of columns, where the estimator has it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the estimator has them.

    See Also
    --------
    Decisions : What ``decide`` returns.
    mean_cost : The mean cost of decisions, as a score.

    Examples
    --------
    >>> from suffit import GaussianNB
    >>> X, y = [[0.0], [2.0], [3.0], [5.0]], ["well", "well", "sick", "sick"]
    >>> careful = Decision(GaussianNB(), cost={"sick": {"well": 20}, "well": {"sick": 1}}).fit(X, y)
    >>> careful.predict([[1.0], [2.0]]).tolist(), careful.estimator_.predict([[1.0], [2.0]]).tolist()
    (['well', 'sick'], ['well', 'well'])
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {"estimator": [HasMethods(["fit", "predict_proba"])]}

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        cost: Costs = None,
        prior: Prior = None,
        reject: float | None = None,
        threshold: Thresholds = None,
        novelty: float | None = None,
        reject_label: Hashable = None,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.prior = prior
        self.reject = reject
        self.threshold = threshold
        self.novelty = novelty
        self.reject_label = reject_label

    # --- fitting

    def fit(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None, **params: object) -> Self:
        """Change this object: fit a clone of the estimator, and check the settings against its classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to the estimator, and used for the class shares.
        **params : dict
            Further metadata for the estimator's ``fit``, by scikit-learn's routing where that is enabled.

        Returns
        -------
        self : object
            This estimator.
        """
        self._validate_params()
        labels = read_labels(y, type(self).__name__)
        weight = read_weight(sample_weight, np.empty((len(labels), 0)))
        estimator = clone(self.estimator).fit(X, y, **self._routed(sample_weight, params))
        fitted = copy.copy(self)
        fitted.estimator_, fitted.class_share_ = estimator, _shares(estimator.classes_, labels, weight)
        for name in ("n_features_in_", "feature_names_in_"):
            fitted.__dict__.pop(name, None)
            if hasattr(estimator, name):
                setattr(fitted, name, getattr(estimator, name))
        fitted._rule()  # settings that do not go with the classes are refused before anything is changed
        fitted._under_prior()
        self.__dict__ = fitted.__dict__
        return self

    def _routed(self, sample_weight: WeightsLike, params: dict[str, object]) -> dict[str, object]:
        """What of this the estimator's ``fit`` is to be given."""
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", sample_weight=sample_weight, **params).estimator.fit)
        return params if sample_weight is None else {**params, "sample_weight": sample_weight}

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata of ``fit`` go to the estimator; weights are also used for the class shares.

        Returns
        -------
        MetadataRouter
            The routing of scikit-learn.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))

    # --- what was fitted

    @property
    def _fitted(self) -> BaseEstimator:
        """The estimator that ``fit`` has fitted, or the one given where that came fitted."""
        estimator = self.__dict__.get("estimator_")
        if estimator is not None:
            return estimator
        try:
            check_is_fitted(self.estimator)
        except NotFittedError:
            raise not_fitted(self) from None
        return self.estimator

    def __sklearn_is_fitted__(self) -> bool:
        if "estimator_" in self.__dict__:
            return True
        try:
            check_is_fitted(self.estimator)
        except NotFittedError:
            return False
        return True

    @property
    def classes_(self) -> Cells:
        """The labels, sorted."""
        return np.asarray(self._fitted.classes_)

    def _rule(self) -> Rule:
        return Rule.read(self.classes_, self.cost, self.reject, self.threshold, self.novelty, self.reject_label)

    def _under_prior(self) -> tuple[BaseEstimator, Array | None]:
        """The estimator whose posteriors count, and the prior that these are to be weighted to (None: as they are)."""
        estimator = self._fitted
        if self.prior is None:
            return estimator, None
        prior = checked_prior(self.prior, tuple(self.classes_.tolist()))
        if hasattr(estimator, "with_prior"):
            estimator._needs_prior("Decision(prior=…)")
            return estimator.with_prior(prior), None
        share = self.__dict__.get("class_share_")
        if share is None:
            raise InputError(
                f"Decision(prior=…): the class shares behind the posteriors of {type(estimator).__name__} are not "
                "known; call fit (with a FrozenEstimator, if the estimator is fitted already)"
            )
        absent = (share == 0) & (prior > 0)
        if absent.any():
            c = self.classes_.tolist()[np.argmax(absent)]
            raise InputError(
                f"Decision(prior=…): fit was given no rows of class {c!r}, so its posteriors cannot be reweighted"
            )
        return estimator, prior

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the settings and the fitted estimator, one of suffit, to a file, for ``suffit.load``.

        Parameters
        ----------
        path : str or path
            The file, which is replaced if it is there: as a whole, or not at all.

        Returns
        -------
        None
        """
        from ..files.store import save

        save(self, path)

    # --- predicting

    def predict(self, X: TableLike) -> Cells:
        """Return the decision of least expected cost for each row; ``reject_label`` for rejected rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels decided.
        """
        return self.decide(X).labels

    def decide(self, X: TableLike) -> Decisions:
        """Return the decisions with their expected cost.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Decisions
            ``labels``, ``expected_cost`` and ``rejected``.
        """
        rule = self._rule()
        estimator, prior = self._under_prior()
        unlike = None
        if rule.novelty is not None:
            if not hasattr(estimator, "novelty"):
                raise InputError(
                    f"Decision(novelty=…): {type(estimator).__name__} has no novelty method; use an estimator of "
                    "suffit (in a pipeline: Decision around the last step)"
                )
            unlike = estimator.novelty(X) >= rule.novelty
        return rule(self._posterior(X, estimator, prior), unlike)

    def predict_proba(self, X: TableLike) -> Array:
        """Return the posteriors that decisions are based on: the estimator's, under ``prior`` where one is given.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            p(class | x), columns in the order of ``classes_``.
        """
        return self._posterior(X, *self._under_prior())

    def _posterior(self, X: TableLike, estimator: BaseEstimator, prior: Array | None) -> Array:
        p = np.asarray(estimator.predict_proba(X))
        return p if prior is None else reweighted(p, self.class_share_, prior)

    def score(self, X: TableLike, y: LabelsLike, sample_weight: WeightsLike = None) -> float:
        """Return minus the mean cost of the decisions, under the costs of this object: higher is better.

        To compare settings that differ in their costs, or where rows are rejected by ``novelty`` or ``threshold`` alone
        (which have no cost), score them all by ``make_scorer(mean_cost, greater_is_better=False, cost=…, reject=…)``.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Minus the mean cost.
        """
        by_place = self.cost is not None and not isinstance(self.cost, Mapping)
        decided = self.decide(X)
        if self.reject is None and decided.rejected.any():
            how = "threshold" if self.novelty is None else "novelty"
            also = ", or set reject=…, which also rejects rows that would cost more" if self.threshold is None else ""
            raise ValueError(
                f"Decision.score: {how} rejects {int(decided.rejected.sum())} of {len(decided.labels)} rows, but no "
                "reject cost is set; score by make_scorer(mean_cost, greater_is_better=False, reject=…, "
                f"reject_label={self.reject_label!r}){also}"
            )
        return -mean_cost(
            y,
            decided.labels,
            cost=self.cost,
            reject=self.reject,
            reject_label=self.reject_label,
            labels=self.classes_ if by_place else None,
            sample_weight=sample_weight,
        )

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        for name in ("input_tags", "target_tags", "non_deterministic"):
            setattr(tags, name, copy.deepcopy(getattr(inner, name)))
        if inner.classifier_tags is not None:
            tags.classifier_tags = copy.deepcopy(inner.classifier_tags)
        return tags


def _shares(classes: Cells, labels: Cells, weight: Array | None) -> Array:
    """The share of each class in these rows."""
    seen, codes, _ = encode(labels)
    counts = dict(zip(seen, np.bincount(codes, weights=weight, minlength=len(seen)), strict=True))
    rows = np.array([counts.get(c, 0.0) for c in classes.tolist()], dtype=np.float64)
    if not rows.any():
        raise InputError(f"Decision: none of the classes in y is known to the estimator, which has {classes.tolist()}")
    return np.asarray(rows / rows.sum())
