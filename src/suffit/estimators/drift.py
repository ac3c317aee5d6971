"""How far two fitted models are apart, column by column, from their sums alone: has the data changed?

The classes of both are put side by side as classes of one model; how far a column separates a class from itself in the
other is Jeffreys' divergence, J = KL(a‖b) + KL(b‖a).  Were both drawn from the same distribution, J would be about
k·(1/n_a + 1/n_b) for a column of k parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.model import Model
from ..core.stats import CLASS, BlockSums, Stats
from ..data.arrays import Array, Cells
from ..data.errors import InputError
from ..data.frame import Template, form_to_read
from ..data.labels import Index
from ..data.printed import aligned, html_lines, html_table
from ..data.warn import no_warnings
from .base import GenerativeEstimator

SHOWN = 20  # lines of the printed table
BY_CHANCE = 3.0  # times what chance makes that are still called chance
WORDS = ((0.02, "nearly the same"), (0.2, "slightly different"), (2.0, "different"), (np.inf, "very different"))


@dataclass(frozen=True, eq=False)
class Drift:
    """How far two fitted models are apart, column by column and class by class.

    Made by ``drift(a, b)``.

    Attributes
    ----------
    columns : sequence of str
        The columns.
    classes : tuple
        The classes that both models have.
    divergence : ndarray of shape (n_classes, n_columns)
        Jeffreys' divergence in nats: 0 for the same distribution.
    by_chance : ndarray of shape (n_classes, n_columns)
        What it would be on average, were the rows of both drawn from the same distribution.
    prior : ndarray of shape (2, n_classes)
        The shares of these classes in either model.
    form : str
        The kind of table that was learned.

    See Also
    --------
    drift : Makes one.

    Examples
    --------
    >>> import suffit
    >>> truth = suffit.simulate("gaussian", columns=2)
    >>> (X, y), (Z, labels) = truth.sample(500, random_state=0), truth.sample(500, random_state=1)
    >>> before, after = suffit.GaussianNB().fit(X, y), suffit.GaussianNB().fit(Z + [0.0, 1.5], labels)
    >>> print(suffit.drift(before, after))
    x1: very different in class 0 (2.4 nats), class 1 (2 nats)
    x0: no more than chance (largest 0.0057 nats, in class 0)
    """

    columns: Sequence[str]
    classes: tuple[object, ...]
    divergence: Array
    by_chance: Array
    prior: Array
    form: str = "dict"

    def to_frame(self) -> Any:
        """Return a data frame: a row for each column, with its divergence in every class and overall.

        Returns
        -------
        data frame
            Of the library the rows came from; for plain arrays pandas where it is installed, else a dict of arrays.
        """
        out: dict[str, Cells] = {"column": np.array(list(map(str, self.columns)), dtype=object)}
        out["divergence"] = self._overall()
        out["by chance"] = self.by_chance.mean(axis=0)
        out |= {f"in {c}": row for c, row in zip(self.classes, self.divergence, strict=True)}
        return Template(form_to_read(self.form), {}).make(out)

    def _overall(self) -> Array:
        """By the shares of the classes in both models."""
        return np.asarray(self.prior.mean(axis=0) @ self.divergence / self.prior.mean(axis=0).sum())

    def __repr__(self) -> str:
        order = np.argsort(-self._overall(), kind="stable")
        lines = [self._line(int(j)) for j in order[:SHOWN]]
        if len(order) > SHOWN:
            lines.append(f"… and {len(order) - SHOWN} more columns, each less different: to_frame() has all")
        moved = np.abs(self.prior[0] - self.prior[1]).max(initial=0.0)
        if moved > 0.05:
            shares = [[str(c), f"{a:.3f}", f"{b:.3f}"] for c, a, b in zip(self.classes, *self.prior, strict=True)]
            lines += ["", *aligned(["class", "share before", "share after"], shares)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        order = np.argsort(-self._overall(), kind="stable")[:SHOWN].tolist()
        head = ["column", "divergence", "by chance", *(f"in {c}" for c in self.classes), "in words"]
        rows = [
            [str(self.columns[j]), *(f"{v:.3g}" for v in (self._overall()[j], self.by_chance[:, j].mean())),
             *(f"{v:.3g}" for v in self.divergence[:, j]), self._line(j).partition(": ")[2]]
            for j in order
        ]  # fmt: skip
        more = len(self.columns) - len(rows)
        return html_table(head, rows) + (html_lines(f"… and {more} more columns: to_frame() has all") if more else "")

    def _line(self, j: int) -> str:
        real = self.divergence[:, j] > BY_CHANCE * self.by_chance[:, j]
        if not real.any():
            c = int(self.divergence[:, j].argmax())
            largest = f"largest {self.divergence[c, j]:.2g} nats, in class {self.classes[c]}"
            return f"{self.columns[j]}: no more than chance ({largest})"
        most = float(self.divergence[real, j].max())
        word = next(text for limit, text in WORDS if most <= limit)
        apart = zip(self.classes, self.divergence[:, j], real, strict=True)
        where = [f"class {c} ({nats:.2g} nats)" for c, nats, is_real in apart if is_real][:5]
        return f"{self.columns[j]}: {word} in {', '.join(where)}"


def drift(a: GenerativeEstimator, b: GenerativeEstimator) -> Drift:
    """Compare two fitted models column by column, from their sums: how far apart, in nats and in words.

    Parameters
    ----------
    a, b : fitted estimators
        Of the same kind, with the same columns; a table's fitted with ``GenerativeClassifier(columns=a.schema_)``.

    Returns
    -------
    Drift
        Jeffreys' divergence of every column in every class that both have, beside what chance would make of it.

    See Also
    --------
    Drift : What it shows.

    Notes
    -----
    Where classes share a covariance (LDA), both models are taken to share one: a change of the covariance alone is not
    seen; that of the means is.

    Examples
    --------
    >>> import suffit
    >>> model = suffit.GaussianNB().fit([[1.0], [3.0], [6.0], [8.0]], [0, 0, 1, 1])
    >>> suffit.drift(model, model).divergence.tolist()
    [[0.0], [0.0]]
    """
    for model in (a, b):
        if not isinstance(model, GenerativeEstimator):
            raise TypeError(f"drift takes fitted estimators of suffit, got {type(model).__name__}")
    first, second = a._density_model(), b._density_model()
    a._check_mergeable(b)
    common = [c for c in first.classes if c in second.counts.axes[CLASS].position]
    if not common:
        raise InputError(f"drift: no class is in both models: {list(first.classes)[:5]}, {list(second.classes)[:5]}")
    both = _relabelled(first, 0) + _relabelled(second, 1)
    index = both.counts.axes[CLASS]
    with no_warnings():
        scorer = both.solved(np.zeros(len(index))).scorer
        between = scorer.separation(both.sums)
    columns, owners = a._columns_of_density()
    n, each = both.counts["n"], scorer.n_parameters / (len(index) * max(len(both.columns), 1))
    found, chance = [], []
    for c in common:
        i, j = index.position[c, 0], index.position[c, 1]
        J = np.maximum(between(i, j), 0.0)
        width = np.ones(len(J)) if owners is None else np.bincount(owners, minlength=len(columns)).astype(float)
        found.append(J if owners is None else np.bincount(owners, J, minlength=len(columns)))
        chance.append(each * (1 / n[i] + 1 / n[j]) * width)
    prior = np.array([_shares(first, common), _shares(second, common)])
    return Drift(columns, tuple(common), np.array(found), np.array(chance), prior, a._table_form())


def _shares(model: Model, classes: Sequence[object]) -> Array:
    n = model.counts["n"]
    return np.array([n[model.classes.index(c)] for c in classes]) / n.sum()


def _relabelled(model: Model, which: int) -> Model:
    """The same model with (label, which) for every label."""
    index = Index(tuple((c, which) for c in model.classes))

    def renamed(stats: Stats) -> Stats:
        return replace(stats, axes={**stats.axes, CLASS: index})

    sums = model.sums
    if isinstance(sums, BlockSums):
        sums = BlockSums(tuple(map(renamed, sums.parts)))
    elif isinstance(sums, Stats):
        sums = renamed(sums)
    return replace(model, counts=renamed(model.counts), stats=sums, pinned=frozenset())
