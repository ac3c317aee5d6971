"""Missing values in jointly Gaussian columns: sums by pattern of what is there, completed by EM, or by pairs.

A row with missing values adds to the sums of its pattern, so that shards still add up and rows can be forgotten.
Solving completes the sums (completion.py).  Where patterns are too many for their sums to be kept, the sums of all
pairs of columns take their place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

from ....core.stats import PATTERN, Stats
from ....data.arrays import Array, Codes, freeze
from ....data.labels import Index

Flags = NDArray[np.bool_]

ROOM = 1 << 24  # most numbers that the sums by pattern may take
NO_VARIANCE = 1e-12  # share of a column's variance left after regression on those before it: less is rounding
ENOUGH_ROWS, ENOUGH_SHARE = 10, 0.25  # of a class with both columns of a pair, on which alone a covariance may rest
LEAST_EIGENVALUE = 0.02  # of correlations taken pair by pair, which need not fit together


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


def pairs_seen(stats: Stats) -> tuple[int, float]:
    """How many columns have values, and how many rows have both columns of a pair, on average over the pairs."""
    if "pair_n" in stats.sums:
        both = stats["pair_n"].sum(axis=0)
    else:
        o = there(stats).astype(np.float64)
        both = (o * stats["part_n"].sum(axis=0)[:, None]).T @ o + stats["n"].sum()
    p = int((np.diagonal(both) > 0).sum())
    return p, float((both.sum() - np.trace(both)) / (p * p - p)) if p > 1 else float(both.sum())


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
    """Sums by pattern of z + d: as those of complete rows, d being 0 where the pattern has a missing value."""
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


def sums_of_pairs(
    Z: Array, codes: Codes, weights: Array, patterns: Flags, which: NDArray[np.int64], K: int, pooled: bool
) -> dict[str, Array]:
    """The same straight from rows, z being 0 where missing: rows of one pattern lend both columns of the same pairs."""
    from ....kernels.products import SIDE, add_scatter, both_sides

    p, o = Z.shape[1], patterns.astype(np.float64)
    kinds, place = np.unique(codes * len(o) + which, return_inverse=True)  # of class and pattern
    order = np.argsort(place, kind="stable")
    first = np.searchsorted(place[order], np.arange(len(kinds)))
    n, x = np.bincount(place, weights), np.add.reduceat((weights[:, None] * Z)[order], first, axis=0)
    wide = -(-p // SIDE) * SIDE
    rows, sums, products = np.zeros(K), np.zeros((K, p)), np.zeros((1 if pooled else K, wide, wide))
    add_scatter(Z, codes, weights, freeze(np.zeros((K, p))), rows, sums, products)
    xx = both_sides(products, p)
    out = {"n": rows, "pair_n": np.zeros((K, p, p)), "pair_x": np.zeros((K, p, p)), "pair_xx": xx[0] if pooled else xx}
    for c in range(K):
        here = np.flatnonzero(kinds // len(o) == c)
        there = o[kinds[here] % len(o)]
        out["pair_n"][c], out["pair_x"][c] = (n[here, None] * there).T @ there, x[here].T @ there
    return out


def shift_pairs(stats: Stats | dict[str, Array], d: Array) -> dict[str, Array]:
    """Σ(z_j+d_j)(z_k+d_k) = Σz_j z_k + d_k Σz_j + d_j Σz_k + n_jk d_j d_k over the rows with both."""
    n, x, xx = stats["pair_n"], stats["pair_x"], stats["pair_xx"]
    cross = x * d[:, None, :]
    more = cross + cross.transpose(0, 2, 1) + n * d[:, :, None] * d[:, None, :]
    moved = xx + (more.sum(axis=0) if xx.ndim == 2 else more)
    return {"n": stats["n"], "pair_n": n, "pair_x": x + n * d[:, :, None], "pair_xx": moved}


class PairCovariances(NamedTuple):
    """Means from the origin and covariances pair by pair, which need not fit together, and made to.

    Of each class, (K, p, p), or of all classes, (1, p, p), where squares are.
    """

    shift: Array  # (K, p)
    cov: Array
    fitting: Array


def pair_covariances(stats: Stats) -> PairCovariances:
    """The means of each column and the covariances of each pair, over the rows that have them.

    A pair that fewer than ten rows of a class have, and less than a quarter of its rows, is made up to that by rows of
    all classes, whose covariances are made to fit together: of one row the variance would be 0.
    """
    n, pair_n, x, xx = (stats[k] for k in ("n", "pair_n", "pair_x", "pair_xx"))
    there_n = np.einsum("cjj->cj", pair_n)
    shift = np.divide(np.einsum("cjj->cj", x), there_n, out=np.zeros_like(there_n), where=there_n > 0)
    origin, N = np.asarray(stats.origin), there_n.sum(axis=0)
    middle = np.divide((there_n * (origin + shift)).sum(axis=0), N, out=np.zeros_like(N), where=N > 0)
    shift = np.where(there_n > 0, shift, middle - origin)
    centred = shift_pairs(stats, -shift)["pair_xx"]
    pooled_n, pooled = pair_n.sum(axis=0), centred if xx.ndim == 2 else centred.sum(axis=0)
    shared = np.divide(pooled, pooled_n, out=np.zeros_like(pooled), where=pooled_n > 0)
    if xx.ndim == 2:
        return PairCovariances(shift, shared[None], fitting(shared)[None])
    cov = np.divide(centred, pair_n, out=np.zeros_like(centred), where=pair_n > 0)
    alone = own_weight(pair_n, n[:, None, None])
    if (alone < 1).any():
        cov = alone * cov + (1 - alone) * fitting(shared)
    return PairCovariances(shift, cov, fitting(cov))


def completed_pairs(stats: Stats, pairs: PairCovariances) -> dict[str, Array]:
    """Complete sums with the means of each column and the covariances of each pair, made to fit together."""
    n, xx, shift = stats["n"], stats["pair_xx"], pairs.shift
    between = (n[:, None] * shift)[:, :, None] * shift[:, None, :]
    K, p = shift.shape
    none = {"part_n": np.zeros((K, 0)), "part_x": np.zeros((K, 0, p)), "part_xx": np.zeros((*xx.shape[:-2], 0, p, p))}
    if xx.ndim == 2:
        return {"n": n, "x": n[:, None] * shift, "xx": n.sum() * pairs.fitting[0] + between.sum(axis=0), **none}
    return {"n": n, "x": n[:, None] * shift, "xx": n[:, None, None] * pairs.fitting + between, **none}


def own_weight(seen: Array, n: Array) -> Array:
    """How far so many of the n rows of a class determine a covariance alone, from 0 to 1."""
    by_share = np.divide(1 / ENOUGH_SHARE, n, out=np.zeros_like(n), where=n > 0)
    return np.minimum(seen * np.maximum(by_share, 1 / ENOUGH_ROWS), 1.0)


def pair_weights(stats: Stats, pairs: PairCovariances) -> Array:
    """What share of its class's completed squares a row adds to those of each pair of columns that it has.  # (K, p, p)

    Where covariances had to be made to fit together, that is less by as much as they fell.
    """
    n, pair_n = stats["n"][:, None, None], stats["pair_n"]
    if stats["pair_xx"].ndim == 2:
        seen = pair_n.sum(axis=0)
        weight = np.divide(n.sum(), n * seen, out=np.zeros_like(pair_n), where=(n > 0) & (seen > 0))
    else:
        left = own_weight(np.maximum(pair_n - 1, 0.0), n - 1)
        weight = np.divide(left, pair_n, out=np.zeros_like(pair_n), where=pair_n > 0)
    share = np.array([_kept(*pair) for pair in zip(pairs.cov, pairs.fitting, strict=True)])
    whole = np.einsum("cjj->cj", weight).copy()
    weight *= share[:, None, None]
    np.einsum("cjj->cj", weight)[...] = whole
    return weight


def _kept(cov: Array, fitting: Array) -> float:
    """How much is left of the correlations of pairs, by their squares; of variances, all."""
    if np.array_equal(cov, fitting):
        return 1.0
    before, after = (float((_correlations(a, cov) ** 2).sum()) - len(cov) for a in (cov, fitting))
    return float(np.sqrt(min(max(after / before, 0.0), 1.0))) if before > 0 else 1.0


def _correlations(cov: Array, of: Array) -> Array:
    """Covariances divided by the standard deviations of these; 1 where a column does not vary.  # (…, p, p)"""
    scale = np.sqrt(np.maximum(np.einsum("...jj->...j", of), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    return cov / (scale[..., :, None] * scale[..., None, :])


def fitting(cov: Array) -> Array:
    """The covariances with the eigenvalues of their correlations raised to a least one; variances stay.  # (…, p, p)"""
    p = cov.shape[-1]
    R = _correlations(cov, cov).reshape(-1, p, p)
    least = LEAST_EIGENVALUE * np.eye(p)
    odd = [i for i, one in enumerate(R) if dpotrf(one - least)[1]]  # the others have all above it
    if not odd:
        return cov
    values, vectors = np.linalg.eigh(R[odd])
    raised = (vectors * np.maximum(values, LEAST_EIGENVALUE)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    out = cov.reshape(-1, p, p).copy()
    unit = np.sqrt(np.maximum(np.einsum("ijj->ij", out[odd]), 0.0) / np.einsum("ijj->ij", raised))
    out[odd] = raised * unit[:, :, None] * unit[:, None, :]
    return out.reshape(cov.shape)
