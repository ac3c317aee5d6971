"""The logistic form: class scores and log-odds as explicit weights on the sufficient statistic."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from .stats import Array

Statistic = Callable[[NDArray[Any]], Array]


@dataclass(frozen=True)
class Impossible:
    """Where smoothing is 0: how many events of probability 0 each class would have to explain, linear in T(x)."""

    weights: Array  # (K, p)
    intercept: Array  # (K,)

    def count(self, T: Array) -> Array:
        """Events per row and class.  # (n, p) → (n, K)"""
        return np.asarray(T @ self.weights.T + self.intercept)


@dataclass(frozen=True)
class LogOdds:
    """log p(positive | x) / p(negative | x) = x·Q·x + w·T(x) + w0; the boundary is where it is 0."""

    positive: Hashable
    negative: Hashable
    weights: Array  # (p,)
    intercept: float
    quadratic: Array | None  # (p, p), or (p,) for a diagonal form, or None
    statistic: Statistic
    impossible: Impossible | None = None

    def __call__(self, X: NDArray[Any]) -> Array:
        """The log-odds of every row."""
        T = self.statistic(X)
        odds = T @ self.weights + self.intercept + _quadratic(X, self.quadratic)
        if self.impossible is None:
            return np.asarray(odds)
        more = self.impossible.count(T)[:, 0]  # events that the positive class finds impossible, minus the other's
        return np.where(more > 0, -np.inf, np.where(more < 0, np.inf, odds))

    def probability(self, X: NDArray[Any]) -> Array:
        """σ(log-odds): the probability of ``positive`` against ``negative`` alone."""
        return np.asarray(expit(self(X)))


def _quadratic(X: NDArray[Any], Q: Array | None) -> Array:
    if Q is None:
        return np.zeros(len(X))
    X = np.asarray(X, dtype=np.float64)
    if Q.ndim == 1:
        return (X * X) @ Q
    return np.einsum("ij,jk,ik->i", X, Q, X)


@dataclass(frozen=True)
class LogisticForm:
    """Per class c: score_c(x) = x·Q_c·x + w_c·T(x) + b_c; the posterior is their softmax.

    Where smoothing is 0 and an event has probability 0, ``weights`` hold the finite part of its logarithm and
    ``impossible`` counts the events; scores are then the limit.

    ``names`` says what the columns of T(x) are.  ``quadratic`` is None where the boundary between any two
    classes is linear in T(x).
    """

    names: tuple[str, ...]
    weights: Array  # (K, p)
    intercept: Array  # (K,)
    statistic: Statistic
    quadratic: Array | None = None  # (K, p, p) or (K, p)
    classes: tuple[Hashable, ...] = ()
    impossible: Impossible | None = None

    def scores(self, X: NDArray[Any]) -> Array:
        """One score per row and class."""
        T = self.statistic(X)
        out: Array = T @ self.weights.T + self.intercept
        if self.quadratic is not None:
            out = out + np.column_stack([_quadratic(X, Q) for Q in self.quadratic])
        if self.impossible is not None:
            count = self.impossible.count(T)
            out[count > count.min(axis=1, keepdims=True)] = -np.inf
        return out

    def predict_log_proba(self, X: NDArray[Any]) -> Array:
        """The softmax of the scores, in logs."""
        return np.asarray(log_softmax(self.scores(X), axis=1))

    def pair(self, positive: Hashable, negative: Hashable) -> LogOdds:
        """The log-odds of one class against another."""
        for label in (positive, negative):
            if label not in self.classes:
                raise ValueError(f"no class {label!r}; the classes are {list(self.classes)}")
        a, b = self.classes.index(positive), self.classes.index(negative)
        Q = None if self.quadratic is None else self.quadratic[a] - self.quadratic[b]
        zero = self.impossible
        if zero is not None:
            zero = Impossible(zero.weights[[a]] - zero.weights[[b]], zero.intercept[[a]] - zero.intercept[[b]])
        return LogOdds(
            positive,
            negative,
            self.weights[a] - self.weights[b],
            float(self.intercept[a] - self.intercept[b]),
            Q,
            self.statistic,
            zero,
        )

    def to_power(self, power: float) -> LogisticForm:
        """The scores times a number."""
        if power == 1.0:
            return self
        Q = None if self.quadratic is None else power * self.quadratic
        return replace(self, weights=power * self.weights, intercept=power * self.intercept, quadratic=Q)

    def named(self, classes: tuple[Hashable, ...], log_prior: Array) -> LogisticForm:
        """The same form with the class labels and their log prior in the intercept."""
        return replace(self, classes=classes, intercept=self.intercept + log_prior)
