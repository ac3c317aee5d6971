"""The logistic form: class scores and log-odds as explicit weights on the sufficient statistic."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.special import expit, log_softmax

from ..data.arrays import Array, Cells

SHOWN_WEIGHTS = 8  # of a form that is printed

Statistic = Callable[..., Array]  # of rows, as the family takes them


@dataclass(frozen=True)
class Impossible:
    """Where smoothing is 0: how many events of probability 0 each class would have to explain, linear in T(x)."""

    weights: Array  # (K, p)
    intercept: Array  # (K,)

    def count(self, T: Array) -> Array:
        """Events per row and class.  # (n, p) → (n, K)"""
        return np.asarray(T @ self.weights.T + self.intercept)


@dataclass(frozen=True)
class Centred:
    """The same scores with T(x) taken about a centre among the rows: far from 0 those about 0 cancel.

    For columns that enter as they are, T(x) = x − ``centre``.
    """

    statistic: Statistic = field(repr=False)
    weights: Array  # (K, p), or (p,) of a pair
    intercept: Array | float  # (K,), or a number
    centre: Array


@dataclass(frozen=True, repr=False)
class LogOdds:
    """log p(positive | x) / p(negative | x) = x·Q·x + w·T(x) + w0; the boundary is where it is 0.

    ``weights`` and ``intercept`` are about 0, to be read; a call computes about the centre of ``centred``, where there
    is one.
    """

    positive: Hashable
    negative: Hashable
    weights: Array  # (p,)
    intercept: float
    quadratic: Array | None  # (p, p), or (p,) for a diagonal form, or None
    statistic: Statistic
    impossible: Impossible | None = None
    centred: Centred | None = None
    names: tuple[str, ...] = ()

    def __call__(self, X: Cells) -> Array:
        """The log-odds of every row."""
        form = self.centred or self
        T = form.statistic(X)
        odds = T @ form.weights + form.intercept + _quadratic(T, self.quadratic)
        if self.impossible is None:
            return np.asarray(odds)
        more = self.impossible.count(self.statistic(X))[:, 0]  # events impossible under positive, less negative's
        return np.where(more > 0, -np.inf, np.where(more < 0, np.inf, odds))

    def probability(self, X: Cells) -> Array:
        """σ(log-odds): the probability of ``positive`` against ``negative`` alone."""
        return np.asarray(expit(self(X)))

    def __repr__(self) -> str:
        head = f"log-odds of {self.positive} against {self.negative} = {_formula(self.quadratic)}"
        return f"{head}\n{_table(('',), self.names, self.weights[None], np.array([self.intercept]))}"


def _quadratic(T: Array, Q: Array | None) -> Array:
    if Q is None:
        return np.zeros(len(T))
    if Q.ndim == 1:
        return (T * T) @ Q
    return np.einsum("ij,jk,ik->i", T, Q, T)


def _formula(Q: Array | None) -> str:
    return "w·T(x) + b" if Q is None else "x·Q·x + w·x + b"


def _table(labels: Sequence[Hashable], names: Sequence[str], weights: Array, intercept: Array) -> str:
    """Classes down, b and the first weights across."""
    some = names[:SHOWN_WEIGHTS] if len(names) > SHOWN_WEIGHTS + 1 else names
    head = ["", "b", *map(str, some)]
    rows = [
        [str(c), f"{b:.6g}", *(f"{v:.6g}" for v in w[: len(some)])]
        for c, b, w in zip(labels, intercept, weights, strict=True)
    ]
    width = [max(len(line[k]) for line in [head, *rows]) for k in range(len(head))]
    lines = ["  ".join(cell.rjust(n) for cell, n in zip(line, width, strict=True)).rstrip() for line in [head, *rows]]
    return "\n".join(lines) + (f"\nand {len(names) - len(some)} more columns of T(x)" if len(some) < len(names) else "")


@dataclass(frozen=True, repr=False)
class LogisticForm:
    """Per class c: score_c(x) = x·Q_c·x + w_c·T(x) + b_c; the posterior is their softmax.

    Made by ``logistic_form()`` of every estimator.

    Attributes
    ----------
    names : tuple of str
        What the columns of T(x) are.
    weights : ndarray of shape (n_classes, p)
        w_c about 0, to be read.
    intercept : ndarray of shape (n_classes,)
        b_c about 0.
    statistic : callable
        T, a function of rows.
    quadratic : ndarray of shape (n_classes, p, p) or (n_classes, p), or None
        Q_c; None where the boundary between any two classes is linear in T(x).
    classes : tuple
        The classes.
    impossible : Impossible or None
        Where smoothing is 0 and an event has probability 0, ``weights`` hold the finite part of its logarithm, and this
        counts the events; scores are then the limit.
    centred : Centred or None
        The same form about a centre (T(x) = x − centre for columns that enter as they are), which ``scores`` uses: rows
        far from 0 relative to their spread would cancel.

    See Also
    --------
    Explanation : The same sum for single rows, column by column.

    Examples
    --------
    >>> from suffit import PoissonNB
    >>> form = PoissonNB(alpha=0).fit([[1.0], [3.0], [4.0], [12.0]], ["few", "few", "many", "many"]).logistic_form()
    >>> form.pair("many", "few").weights.round(3)  # log 8/2
    array([1.386])
    """

    names: tuple[str, ...]
    weights: Array  # (K, p)
    intercept: Array  # (K,)
    statistic: Statistic
    quadratic: Array | None = None  # (K, p, p) or (K, p)
    classes: tuple[Hashable, ...] = ()
    impossible: Impossible | None = None
    centred: Centred | None = None

    @classmethod
    def about(
        cls, names: tuple[str, ...], centre: Array, weights: Array, intercept: Array, Q: Array | None = None
    ) -> LogisticForm:
        """Return the form (x − m)·Q_c·(x − m) + w_c·(x − m) + b_c: about 0, w_c − 2Q_c·m and b_c − w_c·m + m·Q_c·m.

        Parameters
        ----------
        names : tuple of str
            The names of the columns.
        centre : ndarray of shape (p,)
            m.
        weights : ndarray of shape (n_classes, p)
            w_c.
        intercept : ndarray of shape (n_classes,)
            b_c.
        Q : ndarray, optional
            Q_c, as matrices or diagonals.

        Returns
        -------
        LogisticForm
            The form, with ``centred`` about m.
        """
        Qm = np.zeros_like(weights) if Q is None else Q * centre if Q.ndim == 2 else Q @ centre
        at_0 = intercept - weights @ centre + Qm @ centre
        here = Centred(partial(_minus, centre), weights, intercept, centre)
        return cls(names, weights - 2 * Qm, at_0, _identity, Q, centred=here)

    def scores(self, X: Cells) -> Array:
        """Return one score per row and class.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows, as the model takes them.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The scores.
        """
        form = self.centred or self
        T = form.statistic(X)
        out: Array = T @ form.weights.T + form.intercept
        if self.quadratic is not None:
            out = out + np.column_stack([_quadratic(T, Q) for Q in self.quadratic])
        if self.impossible is not None:
            count = self.impossible.count(self.statistic(X))
            out[count > count.min(axis=1, keepdims=True)] = -np.inf
        return out

    def predict_log_proba(self, X: Cells) -> Array:
        """Return the softmax of the scores, in logs.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows, as the model takes them.

        Returns
        -------
        ndarray of shape (n, n_classes)
            log p(class | x).
        """
        return np.asarray(log_softmax(self.scores(X), axis=1))

    def pair(self, positive: Hashable, negative: Hashable) -> LogOdds:
        """Return the log-odds of one class against another.

        Parameters
        ----------
        positive, negative : label
            The two classes.

        Returns
        -------
        LogOdds
            A callable of rows, with ``weights``, ``intercept`` and ``quadratic``.
        """
        for label in (positive, negative):
            if label not in self.classes:
                raise ValueError(f"no class {label!r}; the classes are {list(self.classes)}")
        a, b = self.classes.index(positive), self.classes.index(negative)
        Q = None if self.quadratic is None else self.quadratic[a] - self.quadratic[b]
        zero = self.impossible
        if zero is not None:
            zero = Impossible(zero.weights[[a]] - zero.weights[[b]], zero.intercept[[a]] - zero.intercept[[b]])
        here = self.centred
        if here is not None:
            start = np.asarray(here.intercept)
            odds = float(start[a] - start[b])
            here = replace(here, weights=here.weights[a] - here.weights[b], intercept=odds)
        w, w0 = self.weights[a] - self.weights[b], float(self.intercept[a] - self.intercept[b])
        return LogOdds(positive, negative, w, w0, Q, self.statistic, zero, here, self.names)

    def to_power(self, power: float) -> LogisticForm:
        """Return the form with all scores multiplied by a number.

        Parameters
        ----------
        power : float
            The number.

        Returns
        -------
        LogisticForm
            The new form.
        """
        if power == 1.0:
            return self
        Q, here = None if self.quadratic is None else power * self.quadratic, self.centred
        if here is not None:
            here = replace(here, weights=power * here.weights, intercept=power * here.intercept)
        w, b = power * self.weights, power * self.intercept
        return replace(self, weights=w, intercept=b, quadratic=Q, centred=here)

    def named(self, classes: tuple[Hashable, ...], log_prior: Array) -> LogisticForm:
        """Return the form with class labels, and their log prior in the intercept.

        Parameters
        ----------
        classes : tuple
            The labels.
        log_prior : ndarray of shape (n_classes,)
            log p(class).

        Returns
        -------
        LogisticForm
            The new form.
        """
        here = self.centred
        if here is not None:
            here = replace(here, intercept=here.intercept + log_prior)
        return replace(self, classes=classes, intercept=self.intercept + log_prior, centred=here)

    def __repr__(self) -> str:
        labels = self.classes or range(len(self.weights))
        return f"score of a class = {_formula(self.quadratic)}\n" + _table(
            labels, self.names, self.weights, self.intercept
        )


def _identity(X: Cells) -> Array:
    return np.asarray(X, dtype=np.float64)


def _minus(centre: Array, X: Cells) -> Array:
    return _identity(X) - centre
