"""The matrix shape: sums of z and z zᵀ of jointly distributed columns, about an origin per class.

Of every class or of all together, with fourth moments where they are asked for; rows with missing values go to the sums
of their pattern, or of pairs of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...core.family import EMPTIED, Family
from ...core.stats import CLASS, FEATURE, PATTERN, Coarser, Layout, Stats, layout
from ...data.arrays import Array, Codes, NumberRows, block, csr, freeze, is_sparse
from ...data.errors import InputError, check_finite
from ...data.labels import Index
from ...data.rows import Rows
from ...kernels.runtime.threads import cores, every, in_order, one_blas_thread, row_blocks
from ..elementwise.shape import never_learned
from ..rounding import cleared_columns, cleared_directions, short_of_rows, slack, warn_few_digits
from .diagonal import origin_of
from .missing.patterns import (
    ROOM,
    cells_of,
    cells_of_pairs,
    observed,
    pair_sums,
    patterns_of,
    shift_pairs,
    shift_parts,
    sums_of_pairs,
    too_many,
)
from .shrinkage import shift_fourth

Sums = dict[str, Array]
Flags = NDArray[np.bool_]


DENSE_CELLS = 1 << 19  # of sparse rows that are made dense together
CELLS_FOR_SUM = 4  # of a block, for each sum that is made of it
FIRST_ROWS = 64  # of a block: missing values are mostly seen there, and then looked for in all of it


def shift_own(sums: Stats, d: Array) -> Sums:
    """Σ(z+d)(z+d)ᵀ = Σzzᵀ + d Σzᵀ + Σz dᵀ + n d dᵀ, class by class."""
    n, x, xx = sums["n"], sums["x"], sums["xx"]
    cross = np.einsum("ci,cj->cij", d, x)
    moved = xx + cross + cross.transpose(0, 2, 1) + np.einsum("c,ci,cj->cij", n, d, d)
    return {"n": n, "x": x + n[:, None] * d, "xx": moved, **shift_parts(sums, d)}


def shift_pooled(sums: Stats, d: Array) -> Sums:
    """The same with Σzzᵀ summed over the classes."""
    n, x, xx = sums["n"], sums["x"], sums["xx"]
    cross = d.T @ x
    moved = xx + cross + cross.T + (d * n[:, None]).T @ d
    return {"n": n, "x": x + n[:, None] * d, "xx": moved, **shift_parts(sums, d)}


def shift_own_fourth(sums: Stats, d: Array) -> Sums:
    """Second moments as above; third and fourth with them."""
    return {**shift_own(sums, d), **shift_fourth(sums.sums, d)}


def _of_patterns(turned: Layout) -> dict[str, object]:
    """What the layouts with sums by pattern share: patterns come with the rows, and turn into pairs if too many."""

    def turn(stats: Stats) -> Stats:
        axes = {k: v for k, v in stats.axes.items() if k != PATTERN}
        return Stats(turned, axes, pair_sums(stats), stats.origin, stats.noise)

    coarser = Coarser(turned, too_many, turn)
    return {"growing": {PATTERN: "part_n"}, "cells": cells_of, "coarser": coarser, "counted": _COUNTED}


_COUNTED = {**dict.fromkeys(("x", "xx"), "n"), **dict.fromkeys(("part_x", "part_xx"), "part_n")}
_SQUARE = (FEATURE, FEATURE)
_OWN = {
    **{"n": (CLASS,), "x": (CLASS, FEATURE), "xx": (CLASS, *_SQUARE)},  # of complete rows
    **{"part_n": (CLASS, PATTERN), "part_x": (CLASS, PATTERN, FEATURE), "part_xx": (CLASS, PATTERN, *_SQUARE)},
}
_PAIRS = {"n": (CLASS,), **dict.fromkeys(("pair_n", "pair_x", "pair_xx"), (CLASS, *_SQUARE))}
_CELL = (CLASS, FEATURE)
_PAIRED: dict[str, object] = {"cells": cells_of_pairs, "counted": dict.fromkeys(("pair_x", "pair_xx"), "pair_n")}
PAIRS = layout("scatter-pairs", _PAIRS, shift_pairs, **_PAIRED, noise=_CELL)
PAIRS_POOLED = layout("scatter-pairs-pooled", {**_PAIRS, "pair_xx": _SQUARE}, shift_pairs, **_PAIRED, noise=(FEATURE,))
SCATTER = layout("scatter", _OWN, shift_own, **_of_patterns(PAIRS), noise=_CELL)
_POOLED = {**_OWN, "xx": _SQUARE, "part_xx": (PATTERN, *_SQUARE)}
SCATTER_POOLED = layout("scatter-pooled", _POOLED, shift_pooled, **_of_patterns(PAIRS_POOLED), noise=(FEATURE,))
_FOURTH: dict[str, object] = {**_of_patterns(PAIRS), "counted": {**_COUNTED, "xxy": "n", "xxyy": "n"}}
SCATTER_FOURTH = layout(
    "scatter-fourth", {**_OWN, "xxy": _OWN["xx"], "xxyy": _OWN["xx"]}, shift_own_fourth, **_FOURTH, noise=_CELL
)


class JointMoments(Family[NumberRows, Stats]):
    """A family that rests on first and second moments of its columns together."""

    missing: str

    def _layout(self) -> Layout:
        raise NotImplementedError

    # --- collect

    def collect(self, X: NumberRows, rows: Rows) -> Stats:
        """n, Σz, Σzzᵀ per class (Σzzᵀ pooled on request), in row blocks.

        Rows with missing values go to the sums of their pattern.
        """
        from ...kernels.products import both_sides

        rows_of = csr(X) if is_sparse(X) else X
        origin = freeze(origin_of(rows_of, rows))
        total: Sums | None = None
        with_missing: list[NDArray[np.int64]] = []  # the rows with missing values, block by block

        def work(start: int, stop: int) -> tuple[Sums, NDArray[np.int64]]:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found and named below
                return self._block_sums(rows_of, rows, origin, start, stop)

        squares = self._room(1, *origin.shape)
        with one_blas_thread():
            for part, missing in in_order(work, row_blocks(len(rows), X.shape[1], least=CELLS_FOR_SUM * squares)):
                with_missing.append(missing)
                if total is None:
                    total = part
                else:
                    for name, a in part.items():
                        total[name] += a
        axes = {CLASS: rows.classes, FEATURE: Index.range(X.shape[1]), PATTERN: Index(())}
        sums = self._zeros(*origin.shape)
        if total is not None:
            sums |= {**total, "xx": both_sides(total["xx"], X.shape[1]).reshape(sums["xx"].shape)}
        whole = Stats(self._layout(), axes, sums, origin)
        incomplete = np.concatenate(with_missing) if with_missing else np.zeros(0, np.int64)
        return whole + self._parts(rows_of, rows, incomplete, whole) if len(incomplete) else whole

    def _parts(self, X: NumberRows, rows: Rows, at: NDArray[np.int64], whole: Stats) -> Stats:
        """The sums of the rows with missing values, by pattern; in portions, so that no axis grows beyond its room."""
        portion = max(64, (1 << 20) // X.shape[1])
        parts = [self._portion(X, rows, at[a : a + portion], whole) for a in range(0, len(at), portion)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    def _portion(self, X: NumberRows, rows: Rows, at: NDArray[np.int64], whole: Stats) -> Stats:
        from ...kernels.missing import pattern_sums

        x = block(X[at], 0, len(at)).astype(np.float64, copy=False)
        origin = np.asarray(whole.origin)
        present = x == x
        patterns, which = patterns_of(present)
        seen = observed(patterns, x.shape[1]), which
        codes = freeze(rows.codes[at])
        weights = freeze(np.ones(len(at)) if rows.weights is None else rows.weights[at])
        Z = freeze(np.where(present, x - origin[codes], 0.0))
        coarser = whole.layout.coarser
        if coarser is not None and (self.missing == "pairs" or self._room(len(patterns), *origin.shape) > ROOM):
            axes = {CLASS: whole.axes[CLASS], FEATURE: whole.axes[FEATURE]}
            return Stats(
                coarser.layout,
                axes,
                sums_of_pairs(Z, codes, weights, *seen, len(origin), self._layout() is SCATTER_POOLED),
                origin,
            )
        sums = self._zeros(len(origin), origin.shape[1], len(patterns))
        xx = sums["part_xx"] if sums["part_xx"].ndim == 4 else sums["part_xx"][None]

        def work(lo: int, hi: int) -> None:
            pattern_sums(Z, codes, weights, which, lo, hi, sums["part_n"], sums["part_x"], xx)

        cuts = np.linspace(0, len(patterns), min(cores(), len(patterns)) + 1).astype(int)
        every(work, list(pairwise(cuts.tolist())))
        xx += np.swapaxes(np.tril(xx, -1), -1, -2)
        check_powers(sums, x, self.columns)
        return Stats(whole.layout, {**whole.axes, PATTERN: patterns}, sums, origin)

    def _room(self, patterns: int, K: int, p: int) -> int:
        return patterns * p * p * (1 if self._layout() is SCATTER_POOLED else K)

    def _zeros(self, K: int, p: int, patterns: int = 0) -> Sums:
        size = {CLASS: K, FEATURE: p, PATTERN: patterns}
        return {name: np.zeros([size[d] for d in dims]) for name, dims in self._layout().dims.items()}

    def _block_sums(
        self, X: NumberRows, rows: Rows, origin: Array, start: int, stop: int
    ) -> tuple[Sums, NDArray[np.int64]]:
        """The sums of the complete rows of one block; and the other rows."""
        if is_sparse(X) or not np.isnan(X[start : min(start + FIRST_ROWS, stop)]).any():
            out = self._complete_sums(X, rows, origin, start, stop)
            if all(np.isfinite(s.sum()) for s in out.values()):
                return out, np.zeros(0, np.int64)
        raw = block(X, start, stop)
        check_finite(raw, self.columns, start)
        incomplete = np.isnan(raw).any(axis=1)
        codes, weights = rows.part(start, stop)
        complete = Rows(rows.classes, freeze(codes[~incomplete]), freeze(weights[~incomplete]))
        out = self._complete_sums(raw[~incomplete], complete, origin, 0, len(complete))
        check_powers(out, raw, self.columns)
        return out, start + np.flatnonzero(incomplete)

    def _complete_sums(self, X: NumberRows, rows: Rows, origin: Array, start: int, stop: int) -> Sums:
        """The same of complete rows, Σzzᵀ as upper triangles; of a sparse matrix a strip at a time is made dense."""
        from ...kernels.products import SIDE, add_scatter

        K, p = origin.shape
        out = {k: a for k, a in self._zeros(K, p).items() if k != "xx" and not k.startswith("part_")}
        wide = -(-p // SIDE) * SIDE
        products = np.zeros((1 if self._layout() is SCATTER_POOLED else K, wide, wide))
        step = max(64, DENSE_CELLS // p) if is_sparse(X) else stop - start
        for a in range(start, stop, step or 1):
            b = min(a + step, stop)
            x, (codes, weights) = block(X, a, b), rows.part(a, b)
            add_scatter(x, codes, weights, origin, out["n"], out["x"], products)
            if "xxyy" in out:
                _add_fourth(x, codes, weights, origin, out)
        return {**out, "xx": products}

    def without_rounding(self, before: Stats, after: Stats) -> Stats:
        """Columns that do not vary any more in a class are about their value, with sums of 0."""
        return cleared_directions(cleared_columns(after))

    def check_forgotten(self, before: Stats, after: Stats) -> None:
        """No class can have less than no rows, or negative squares: of complete rows, of a pattern, or of pairs."""
        bad = self._short(before, after)
        if bad.any():
            raise never_learned(after, bad, self.columns)
        allowed = slack(before, after)
        for count, x, xx in (("n", "x", "xx"), ("part_n", "part_x", "part_xx")):
            if x in after.sums:
                n = np.where(after[count] > EMPTIED * before[count], after[count], 0.0)[..., None]
                squares = np.einsum("...jj->...j", after[xx])
                pooled = squares.ndim < after[x].ndim
                used = np.divide(after[x] ** 2, n, out=np.zeros_like(after[x]), where=n > 0)
                left = squares - (used.sum(axis=0) if pooled else used)
                bad = left < -(allowed if x == "x" else allowed[..., None, :])
                bad = bad if x == "x" else bad.any(axis=-2)
                if bad.any():
                    raise never_learned(after, np.atleast_2d(bad), self.columns)
        warn_few_digits(before, after, self.columns)

    def _short(self, before: Stats, after: Stats) -> Flags:
        """Which classes, and columns, are left with less than no rows.  # → (K, p)"""
        if "pair_n" in after.sums:
            return np.einsum("cjj->cj", short_of_rows(before["pair_n"], after["pair_n"]))
        short = short_of_rows(before["n"], after["n"])
        if len(after.axes[PATTERN]):
            short |= short_of_rows(before["part_n"], after["part_n"]).any(axis=1)
        return np.repeat(short[:, None], after["x"].shape[1], axis=1)


def _add_fourth(x: Array, codes: Codes, weights: Array, origin: Array, out: Sums) -> None:
    """Σ w z²zᵀ and Σ w z²(z²)ᵀ of every class, onto what is there."""
    for c in range(len(origin)):
        here = codes == c
        z = x[here] - origin[c]
        squares = z * z
        weighted = weights[here, None] * squares
        out["xxy"][c] += weighted.T @ z
        out["xxyy"][c] += weighted.T @ squares


def moments_by_column(stats: Stats) -> tuple[Array, Array, Array]:
    """n, Σz and Σz² of every class and column; of squares that classes share, each by its rows.  # → (K, p) each"""
    cells = stats.layout.cells
    assert cells is not None
    n, x, squares = cells(stats)
    if squares.ndim == 2:
        return n, x, squares
    used = np.divide(x * x, n, out=np.zeros_like(x), where=n > 0)
    return n, x, used + n * ((squares - used.sum(axis=0)) / np.maximum(n.sum(axis=0), 1.0))


def divided(stats: Stats, scale: Array) -> Stats:
    """The sums of complete rows, or of pairs, of columns that are divided by these.  # scale: (p,)"""
    of_pairs = "pair_n" in stats.sums
    by = {"x": scale[:, None] if of_pairs else scale, "xx": scale[:, None] * scale}
    sums = {k: a / by[k.removeprefix("pair_")] if k.removeprefix("pair_") in by else a for k, a in stats.sums.items()}
    return replace(stats, sums=sums, origin=np.asarray(stats.origin) / scale)


def without_missing(X: NumberRows) -> Flags:
    """Which rows have no missing value."""
    if not is_sparse(X):
        return np.asarray((X == X).all(axis=1))
    missing = np.isnan(X.data)
    return np.bincount(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[missing], minlength=X.shape[0]) == 0


def check_powers(sums: Sums, x: Array, columns: Sequence[str]) -> None:
    """Refuse values whose squares overflow, naming the column of the largest."""
    if not all(np.isfinite(s.sum()) for s in sums.values()):
        largest = np.max(np.abs(np.where(np.isnan(x), 0.0, x)), axis=0)
        j = int(np.argmax(largest))
        raise InputError(
            f"column {columns[j]!r}: values of up to {largest[j]:.3g} are so large that their powers overflow; "
            "rescale the column"
        )
