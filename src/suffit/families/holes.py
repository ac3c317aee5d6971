"""Missing values in jointly Gaussian columns: sums by pattern of what is there, completed by EM, or by pairs.

A row with holes adds to the sums of its pattern, so that shards still add up and rows can be forgotten.  Solving
completes the sums: expected sums of complete rows under the parameters that they themselves give (EM).  Where patterns
are too many for their sums to be kept, the sums of all pairs of columns take their place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.threads import in_order, row_blocks
from ..stats import CLASS, PATTERN, Array, Index, Layout, Stats
from ..table import Codes, freeze

Flags = NDArray[np.bool_]
Parameters = Callable[[Stats], tuple[Array, Array]]  # completed sums → means (K, p), covariances (K, p, p) or (1, p, p)

ROOM = 1 << 24  # most numbers that the sums by pattern may take
SETTLED = 1e-11  # a step that changes no mean or covariance by more than this, in standard deviations, is the last
MOST_STEPS = 500
FEW_ROWS = 10  # times the number of columns: with fewer rows, the likelihood of rows with holes may have no maximum
LEAST_SPREAD = 0.02  # eigenvalue of correlations that EM's steps then keep to
NO_VARIANCE = 1e-12  # share of a column's variance left after regression on those before it: less is rounding
LEAST_EIGENVALUE = 0.02  # of correlations taken pair by pair, which need not fit together


class MissingValuesWarning(UserWarning):
    """Missing values leave something open; the message says what, and what was done."""


def patterns_of(present: Flags) -> tuple[Index, NDArray[np.int64]]:
    """The distinct rows of a table of what is there, as labels, and which one each row has."""
    bits = np.packbits(present, axis=1)
    keys = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.shape[1]))).reshape(-1)
    found, codes = np.unique(keys, return_inverse=True)
    return Index(tuple(key.tobytes() for key in found)), codes.reshape(-1)


def observed(patterns: Index, p: int) -> Flags:
    """Which columns are there in each pattern.  # → (P, p)"""
    bits = np.frombuffer(b"".join(patterns.labels), np.uint8).reshape(len(patterns), (p + 7) // 8)  # type: ignore[arg-type]
    return np.unpackbits(bits, axis=1, count=p).astype(bool)


def there(stats: Stats) -> Flags:
    """The columns that are there in each pattern of these sums."""
    return observed(stats.axes[PATTERN], stats["x"].shape[-1])


def rows_of(stats: Stats) -> Array:
    """The rows of each class, complete or not."""
    return np.asarray(stats["n"] + stats["part_n"].sum(axis=1))


def cells_of(stats: Stats) -> tuple[Array, Array, Array]:
    """n, Σz and Σz² of every class and column over the rows that have it.  # → (K, p), (K, p), (K, p) or (p,)"""
    n = stats["n"][:, None] + stats["part_n"] @ there(stats)
    x = stats["x"] + stats["part_x"].sum(axis=1)
    squares = np.einsum("...jj->...j", stats["xx"]) + np.einsum("...qjj->...j", stats["part_xx"])
    return n, x, squares


def cells_of_pairs(stats: Stats) -> tuple[Array, Array, Array]:
    """The same from the pairs of a column with itself."""
    n, x, xx = (np.einsum("...jj->...j", stats[k]) for k in ("pair_n", "pair_x", "pair_xx"))
    return n, x, xx


def shift_parts(stats: Stats, d: Array) -> dict[str, Array]:
    """Sums by pattern of z + d: as those of complete rows, d being 0 where the pattern has a hole."""
    n, x, xx = stats["part_n"], stats["part_x"], stats["part_xx"]
    dq = d[:, None, :] * there(stats)  # (C, P, F)
    across, along = ("cqi,cqj->qij", "cq,cqi,cqj->qij") if xx.ndim == 3 else ("cqi,cqj->cqij", "cq,cqi,cqj->cqij")
    cross = np.einsum(across, dq, x)
    moved = xx + cross + np.swapaxes(cross, -1, -2) + np.einsum(along, n, dq, dq)
    return {"part_n": n, "part_x": x + n[:, :, None] * dq, "part_xx": moved}


def too_many(stats: Stats) -> bool:
    """Whether the sums by pattern have outgrown their room."""
    return stats["part_xx"].size > ROOM


# --- by pairs


def pair_sums(stats: Stats) -> dict[str, Array]:
    """n_jk rows with both columns, Σ z_j and Σ z_j z_k over them (over all classes where xx is).  # (C, F, F)"""
    o = there(stats).astype(np.float64)
    n = stats["n"][:, None, None] + np.einsum("cq,qj,qk->cjk", stats["part_n"], o, o, optimize=True)
    x = stats["x"][:, :, None] + np.einsum("cqj,qk->cjk", stats["part_x"], o, optimize=True)
    return {"n": rows_of(stats), "pair_n": n, "pair_x": x, "pair_xx": stats["xx"] + stats["part_xx"].sum(axis=-3)}


def sums_of_pairs(Z: Array, present: Flags, codes: Codes, weights: Array, K: int, pooled: bool) -> dict[str, Array]:
    """The same straight from rows, z being 0 where missing: products of Z and of what is there, class by class."""
    p = Z.shape[1]
    out = {name: np.zeros((K, p, p)) for name in ("pair_n", "pair_x", "pair_xx")} | {"n": np.zeros(K)}
    for c in range(K):
        here = codes == c
        z, m, w = Z[here], present[here].astype(np.float64), weights[here, None]
        out["n"][c] = w.sum()
        out["pair_n"][c], out["pair_x"][c], out["pair_xx"][c] = (w * m).T @ m, (w * z).T @ m, (w * z).T @ z
    if pooled:
        out["pair_xx"] = out["pair_xx"].sum(axis=0)
    return out


def shift_pairs(stats: Stats, d: Array) -> dict[str, Array]:
    """Σ(z_j+d_j)(z_k+d_k) = Σz_j z_k + d_k Σz_j + d_j Σz_k + n_jk d_j d_k over the rows with both."""
    n, x, xx = stats["pair_n"], stats["pair_x"], stats["pair_xx"]
    cross = x * d[:, None, :]
    more = cross + cross.transpose(0, 2, 1) + n * d[:, :, None] * d[:, None, :]
    moved = xx + (more.sum(axis=0) if xx.ndim == 2 else more)
    return {"n": stats["n"], "pair_n": n, "pair_x": x + n * d[:, :, None], "pair_xx": moved}


def completed_pairs(stats: Stats) -> dict[str, Array]:
    """Complete sums with the means of each column and the correlations of each pair, made to fit together."""
    n, pair_n, x, xx = (stats[k] for k in ("n", "pair_n", "pair_x", "pair_xx"))
    there_n = np.einsum("cjj->cj", pair_n)
    shift = np.divide(np.einsum("cjj->cj", x), there_n, out=np.zeros_like(there_n), where=there_n > 0)
    origin, N = np.asarray(stats.origin), there_n.sum(axis=0)
    middle = np.divide((there_n * (origin + shift)).sum(axis=0), N, out=np.zeros_like(N), where=N > 0)
    shift = np.where(there_n > 0, shift, middle - origin)
    centred = shift_pairs(stats, -shift)["pair_xx"]
    pooled_n, pooled = pair_n.sum(axis=0), centred if xx.ndim == 2 else centred.sum(axis=0)
    shared = _fitting(np.divide(pooled, pooled_n, out=np.zeros_like(pooled), where=pooled_n > 0))
    between = n[:, None, None] * shift[:, :, None] * shift[:, None, :]
    K, p = shift.shape
    none = {"part_n": np.zeros((K, 0)), "part_x": np.zeros((K, 0, p)), "part_xx": np.zeros((*xx.shape[:-2], 0, p, p))}
    if xx.ndim == 2:
        return {"n": n, "x": n[:, None] * shift, "xx": n.sum() * shared + between.sum(axis=0), **none}
    cov = np.divide(centred, pair_n, out=np.zeros_like(centred), where=pair_n > 0)
    own = np.stack([_fitting(np.where(pair_n[c] > 0, cov[c], shared)) for c in range(len(n))])
    return {"n": n, "x": n[:, None] * shift, "xx": n[:, None, None] * own + between, **none}


def _fitting(cov: Array) -> Array:
    """The covariances with the eigenvalues of their correlations raised to a least one; variances stay."""
    scale = np.sqrt(np.maximum(np.diagonal(cov), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(cov / scale[:, None] / scale)
    if values[0] >= LEAST_EIGENVALUE:
        return cov
    R = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    unit = np.sqrt(np.maximum(np.diagonal(cov), 0.0) / np.diagonal(R))
    return np.asarray(R * unit[:, None] * unit)


# --- by EM


def spread_out(cov: Array, n: float) -> Array:
    """The covariance, with few rows for its columns raised to a least correlation eigenvalue where it is below that."""
    if n >= FEW_ROWS * len(cov):
        return cov
    scale = np.sqrt(np.maximum(np.diagonal(cov), 0.0))
    there = scale > 0
    R = cov[np.ix_(there, there)] / scale[there, None] / scale[there]
    try:
        if (np.diagonal(np.linalg.cholesky(R)) ** 2 >= LEAST_SPREAD).all():
            return cov
    except np.linalg.LinAlgError:
        pass
    values, vectors = np.linalg.eigh(R)
    out = np.zeros_like(cov)
    raised = (vectors * np.maximum(values, LEAST_SPREAD)) @ vectors.T
    out[np.ix_(there, there)] = raised * scale[there, None] * scale[there]
    return out


@dataclass(frozen=True)
class Completed:
    """Expected sums of complete rows, and the observed-data log-likelihood along the way to them."""

    sums: dict[str, Array]
    likelihoods: tuple[float, ...]
    settled: bool


class Completion:
    """EM over the sums of patterns, in standardised columns: expected sums, parameters, expected sums, …"""

    def __init__(self, stats: Stats, parameters: Parameters) -> None:
        self.stats, self.parameters = stats, parameters
        p = stats["x"].shape[1]
        o = there(stats)
        self.observed = freeze(np.concatenate([o, np.ones((1, p), bool)]))  # complete rows are a pattern too
        self.rows = rows_of(stats)
        self.cells = cells_of(stats)[0]  # values of each class and column, (K, p)
        shift, within = self._available()
        self.scale = np.where(within > 0, np.sqrt(np.maximum(within, 0.0)), 1.0)
        self.first = self._sums(self.rows[:, None] * shift, self._spread(shift, within))
        self.unit = self._units(shift)
        s, pooled = self.scale, stats["xx"].ndim == 2
        xx = np.concatenate([stats["part_xx"], stats["xx"][..., None, :, :]], axis=-3) / s[:, None] / s
        self.n = freeze(np.concatenate([stats["part_n"], stats["n"][:, None]], axis=1))
        self.x = freeze(np.concatenate([stats["part_x"], stats["x"][:, None]], axis=1) / s)
        self.xx = freeze(xx[None] if pooled else xx)

    def _available(self) -> tuple[Array, Array]:
        """Means of the values that are there, from the origin, and variances within classes.  # → (K, p), (p,)"""
        n, x, squares = cells_of(self.stats)
        origin = np.asarray(self.stats.origin)
        shift = np.divide(x, n, out=np.zeros_like(x), where=n > 0)
        squares = squares.sum(axis=0) if squares.ndim == 2 else squares
        N = n.sum(axis=0)
        within = np.divide(squares - (x * shift).sum(axis=0), N, out=np.zeros_like(N), where=N > 0)
        middle = np.divide((n * (origin + shift)).sum(axis=0), N, out=np.zeros_like(N), where=N > 0)
        return np.where(n > 0, shift, middle - origin), np.where(within > 1e-13 * squares / np.maximum(N, 1), within, 0)

    def _units(self, shift: Array) -> Array:
        """The standard deviations that steps are measured in: each class's own, where squares are kept by class."""
        n, _, squares = cells_of(self.stats)
        if squares.ndim == 1:
            return np.broadcast_to(self.scale, shift.shape)
        own = np.divide(squares, n, out=np.zeros_like(n), where=n > 0) - shift**2
        return np.where(own > 1e-13 * shift**2, np.sqrt(np.maximum(own, 0.0)), self.scale)

    def _spread(self, shift: Array, within: Array) -> Array:
        """Squares of rows with these means and variances and no correlations."""
        own = self.rows[:, None, None] * (np.diag(within) + shift[:, :, None] * shift[:, None, :])
        return own.sum(axis=0) if self.stats["xx"].ndim == 2 else own

    def _sums(self, x: Array, xx: Array) -> dict[str, Array]:
        return {"n": self.rows, "x": x, "xx": xx}

    def step(self, sums: dict[str, Array]) -> tuple[dict[str, Array], float]:
        """M, then E: expected sums under the parameters of these sums, and the log-likelihood of these parameters."""
        from ..kernels.holes import expect_patterns

        means, S = self.parameters(replace(self.stats, sums={**self.stats.sums, **sums}))
        s = self.scale
        relative = means - np.asarray(self.stats.origin)
        m, S = freeze(relative / s), freeze(S / s[:, None] / s)
        e, T = np.zeros_like(m), np.zeros(self.xx.shape[:1] + S.shape[1:])

        def work(lo: int, hi: int) -> tuple[float, Array, Array]:
            de, dT = np.zeros_like(e), np.zeros_like(T)
            return expect_patterns(self.observed, self.n, self.x, self.xx, m, S, NO_VARIANCE, lo, hi, de, dT), de, dT

        likelihood = -float(self.cells.sum(axis=0) @ np.log(s))
        for part, de, dT in in_order(work, row_blocks(len(self.observed), s.size**2, 1 << 18)):
            likelihood, e, T = likelihood + part, e + de, T + dT
        e, T = e * s, T * s[:, None] * s
        cross = e[:, :, None] * relative[:, None, :]
        moved = cross + cross.transpose(0, 2, 1) + np.einsum("c,ci,cj->cij", self.rows, relative, relative)
        xx = T[0] + moved.sum(axis=0) if self.stats["xx"].ndim == 2 else T + moved
        return self._sums(e + self.rows[:, None] * relative, xx), likelihood

    def _flat(self, sums: dict[str, Array]) -> Array:
        """Sums as one vector of means and mean squares in standard deviations."""
        xx, n, u = sums["xx"], np.where(self.rows > 0, self.rows, 1.0), self.unit
        if xx.ndim == 2:
            squares = xx / self.scale[:, None] / self.scale / n.sum()
        else:
            squares = xx / u[:, :, None] / u[:, None, :] / n[:, None, None]
        return np.concatenate([(sums["x"] / u / n[:, None]).reshape(-1), squares.reshape(-1)])

    def run(self) -> Completed:
        """Steps until nothing moves.  Two steps show where they lead: a leap there (Varadhan & Roland 2008) is kept
        where the likelihood is no worse for it.
        """
        now = self.first
        path: list[float] = []
        for _ in range(MOST_STEPS // 3):
            one, first = self.step(now)
            two, second = self.step(one)
            path += [first, second]
            r = self._flat(one) - self._flat(now)
            v = self._flat(two) - self._flat(one) - r
            if np.abs(r + v).max(initial=0.0) < SETTLED:
                return Completed(two, tuple(path), True)
            length = np.sqrt(float(r @ r) / max(float(v @ v), 1e-300))
            landed, third = self._leap(now, one, two, length) if length > 1.0 else (two, -np.inf)
            now = landed if third >= second else two
            path += [third] if third >= second else []
        return Completed(now, tuple(path), False)

    def _leap(
        self, zero: dict[str, Array], one: dict[str, Array], two: dict[str, Array], length: float
    ) -> tuple[dict[str, Array], float]:
        """The step from where sums that keep moving like these would be: s₀ + 2ℓ(s₁ − s₀) + ℓ²(s₂ − 2s₁ + s₀)."""
        there = {
            k: zero[k] + 2 * length * (one[k] - zero[k]) + length**2 * (two[k] - 2 * one[k] + zero[k])
            for k in ("x", "xx")
        }
        with np.errstate(all="ignore"):  # a leap may land where no covariance is: it is then not taken
            try:
                landed, likelihood = self.step(self._sums(**there))
            except np.linalg.LinAlgError:
                return two, -np.inf
        good = np.isfinite(likelihood) and all(np.isfinite(a).all() for a in landed.values())
        return landed, likelihood if good else -np.inf


def warn_absent(n: Array, classes: Sequence[Any], columns: Sequence[str], rows: Array | None = None) -> None:
    """Say where a class with rows has no value at all in a column that others have."""
    has = np.asarray(n > 0)
    seen = has.any(axis=1) if rows is None else rows > 0
    absent = ~has & has.any(axis=0) & np.asarray(seen)[:, None]
    if absent.any():
        c, j = (int(v) for v in np.argwhere(absent)[0])
        more = int(absent.sum()) - 1
        warnings.warn(
            f"column {columns[j]!r} is missing in every row of class {classes[c]!r}"
            + (f" (and {more} more such cells)" if more else "")
            + ": the prior stands in for it there (smoothing, or all classes together)",
            MissingValuesWarning,
            stacklevel=2,
        )


def completed(stats: Stats, parameters: Parameters, columns: Sequence[str], plain: Layout, asked: bool) -> Stats:
    """The sums that complete rows are expected to have had; the sums themselves where no row has a hole.

    Sums of pairs are there because they were asked for, or because patterns were too many, which is said.
    """
    if "pair_n" in stats.sums and not asked:
        warnings.warn(
            f"the rows have too many patterns of missing values to keep sums of each ({stats['n'].sum():g} rows, "
            f"{len(columns)} columns): covariances are taken pair by pair from the rows that have both columns, which "
            "is less exact than maximum likelihood; leave out columns that are mostly missing, or use fewer",
            MissingValuesWarning,
            stacklevel=2,
        )
    if "pair_n" in stats.sums:
        warn_absent(cells_of_pairs(stats)[0], stats.axes[CLASS].labels, columns)
        return Stats(plain, {**stats.axes, PATTERN: Index(())}, completed_pairs(stats), stats.origin)
    if not stats["part_n"].any():
        return stats
    completion = Completion(stats, parameters)
    warn_absent(completion.cells, stats.axes[CLASS].labels, columns)
    done = completion.run()
    if not done.settled:
        warnings.warn(
            f"the covariances of rows with missing values still moved after {MOST_STEPS} steps of EM; shrinkage "
            "helps where there are few rows for so many columns",
            MissingValuesWarning,
            stacklevel=2,
        )
    empty = {k: stats[k].take([], axis=stats.layout.dims[k].index(PATTERN)) for k in ("part_n", "part_x", "part_xx")}
    sums = {k: a for k, a in {**stats.sums, **done.sums, **empty}.items() if k in plain.dims}
    return Stats(plain, {**stats.axes, PATTERN: Index(())}, sums, stats.origin)
