"""Sums that are completed by pairs, without each of some rows: what a refit on all other rows comes to.

A row changes the means of its columns, the products of its pairs, what rows of all classes add where a pair is rare
(``own_weight``), and by how much covariances have to be raised to fit together.  All of it is done anew for each row,
which takes a factorisation for each: for small tables, and for rows with a column that few others of their class have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....core.stats import ROUNDING, Stats
from ....data.arrays import Array, Codes
from ....families.gaussian.missing.patterns import Flags
from ..missing.patterns import fitting, own_weight, shift_pairs


@dataclass(frozen=True)
class Whole:
    """Completed sums as a joint density needs them, and how many values they rest on."""

    n: Array  # (K,)
    cells: Array  # (K, p) values there
    weight: Array  # (K, p, p): what a row adds to completed squares, as a share of each class's
    means: Array  # (K, p)
    own: Array  # (K, p, p) sums of squares, or (0, p, p)
    shared: Array  # (p, p)
    pairs: Stats  # what they were completed from
    prior_rows: float = 0.0  # whose squares are in own and shared, too

    @property
    def middle(self) -> Array:
        """The mean of the values of all classes.  # → (p,)"""
        return over((self.cells * self.means).sum(axis=0), self.cells.sum(axis=0))


class PairsWithout:
    """Means and sums of squares without each of some rows, of the row's own class or of all."""

    def __init__(self, whole: Whole, x: Array, codes: Codes, weights: Array, every_class: bool) -> None:
        self.whole, self.codes = whole, codes
        there, w, mine = x == x, weights[:, None], np.arange(len(x))
        n = np.maximum(whole.n[codes] - weights, 0.0)
        self.n = np.tile(whole.n, (len(x), 1))  # (m, K)
        self.n[mine, codes] = n
        N, values = whole.cells.sum(axis=0), np.where(there, x, 0.0)
        middle = over(N * whole.middle - w * values, left(N, w * there))
        seen, change, means = self._changed(there, values, w, middle)
        self.means = np.where((whole.cells > 0)[None], whole.means, middle[:, None])  # (m, K, p)
        self.means[mine, codes] = means
        centred = _centred(whole.pairs)
        pooled = centred.sum(axis=0) + change
        both = left(whole.pairs["pair_n"].sum(axis=0), _outer(w * there, there))
        shared = fitting(over(pooled, both))
        if not len(whole.own):
            self.mine, self.others = np.zeros((0, *shared.shape[1:])), {}
            lost = whole.n.sum() * over(centred.sum(axis=0), whole.pairs["pair_n"].sum(axis=0))
            self.shared = whole.shared + self.n.sum(axis=1)[:, None, None] * shared - fitting(lost)
            return
        own = _spread(centred[codes] + change, np.einsum("cjj->cj", whole.pairs["pair_xx"])[codes])
        self.mine = self._completed(over(own, seen), own_weight(seen, n[:, None, None]), shared, n)
        self.others = self._blended(over(centred, whole.pairs["pair_n"]), shared) if every_class else {}
        self.shared = whole.shared + self.mine - whole.own[codes]
        for c, squares in self.others.items():
            self.shared += np.where((codes == c)[:, None, None], 0.0, squares - whole.own[c])

    def _changed(self, there: Flags, values: Array, w: Array, middle: Array) -> tuple[Array, Array, Array]:
        """Rows of the own class with both columns of a pair, the change of squares about its means, and these."""
        pairs, codes = self.whole.pairs, self.codes
        origin = np.asarray(pairs.origin)
        z = np.where(there, values - origin[codes], 0.0)
        seen = left(pairs["pair_n"][codes], _outer(w * there, there))
        x = pairs["pair_x"][codes] - _outer(w * z, there)
        cells = np.einsum("ijj->ij", seen)
        shift = np.where(cells > 0, over(np.einsum("ijj->ij", x), cells), middle - origin[codes])
        known = {"n": self.whole.n, "pair_n": pairs["pair_n"], "pair_x": pairs["pair_x"]}
        none = np.zeros_like(pairs["pair_n"])
        before = shift_pairs({**known, "pair_xx": none}, origin - self.whole.means)["pair_xx"]
        after = shift_pairs({"n": cells, "pair_n": seen, "pair_x": x, "pair_xx": -_outer(w * z, z)}, -shift)["pair_xx"]
        return seen, after - before[codes], origin[codes] + shift

    def _completed(self, cov: Array, alone: Array, shared: Array, n: Array) -> Array:
        """Sums of squares of n rows, with those of the prior: covariances made up by those of all, made to fit."""
        fit = fitting(alone * cov + (1 - alone) * shared)
        return np.asarray(n[:, None, None] * fit + self.whole.prior_rows * np.eye(cov.shape[-1]))

    def _blended(self, cov: Array, shared: Array) -> dict[int, Array]:
        """The same of classes that the rows are not of, where rows of all classes make up what they lack."""
        whole = self.whole
        alone = own_weight(whole.pairs["pair_n"], whole.n[:, None, None])
        some = np.flatnonzero((alone < 1).any(axis=(1, 2)))
        return {int(c): self._completed(cov[c], alone[c], shared, np.full(len(shared), whole.n[c])) for c in some}

    def scatter(self, rows: NDArray[np.int64], c: int) -> Array:
        """Sums of squares of class c without each of these rows.  # → (m, p, p)"""
        other = self.others[c][rows] if c in self.others else self.whole.own[c]
        return np.where((self.codes[rows] == c)[:, None, None], self.mine[rows], other)


def _centred(pairs: Stats) -> Array:
    """Σ(z_j − μ_j)(z_k − μ_k) over the rows with both, by class, or of all together.  # → (K, p, p) or (1, p, p)"""
    n, x = (np.einsum("cjj->cj", pairs[k]) for k in ("pair_n", "pair_x"))
    centred = shift_pairs(pairs, -over(x, n))["pair_xx"]
    return centred if centred.ndim == 3 else centred[None]


def _spread(squares: Array, before: Array) -> Array:
    """Squares about the means, 0 in columns of which no more is left than the rounding of what was there before."""
    some = np.einsum("ijj->ij", squares) > ROUNDING * before
    return np.asarray(squares * _outer(some, some))


def _outer(a: Array | Flags, b: Array | Flags) -> Array:
    return np.asarray(a[:, :, None] * b[:, None, :], dtype=np.float64)


def left(n: Array, gone: Array) -> Array:
    """What is left of weights, 0 where it is rounding."""
    return np.where(n - gone > ROUNDING * n, n - gone, 0.0)


def over(a: Array, b: Array) -> Array:
    """a/b, and 0 where there is nothing to divide by."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b > 0)
