"""Sums of z zᵀ, of every class or of all rows together.

Rows are centred, sorted by class in strips that stay in a core's cache, and turned into columns: products of columns
are sums over contiguous numbers, sixteen of which at a time stay in the registers.  For up to some hundred columns that
is twice as fast as a matrix product, which copies its operands first.
"""

from __future__ import annotations

import numpy as np

from .moments import centre_rows, places_by_class
from .runtime.compiled import fast, fast_helper
from .runtime.lengths import unlike
from .runtime.threads import one_blas_thread
from .runtime.types import Codes, Floats, Numbers, Places

AT_ONCE = 256  # rows whose columns are multiplied at once
SIDE = 4  # columns on each side of the products that stay in the registers: rooms are multiples of it
FEW, SMALL = 1 << 14, 1 << 20  # numbers, and products of them, that NumPy is about as quick with as a kernel is
ALONE = 1 << 17  # of these, so many that a matrix product might be shared out among threads
STRIP_CELLS = 1 << 17  # of rows that are sorted together


def add_scatter(X: Numbers, codes: Codes, weights: Floats, origin: Floats, n: Floats, t1: Floats, G: Floats) -> None:
    """n[c] += w, t1[c] += w z, and G[c] (or G[0], where it has one alone) += w z zᵀ, the upper triangle.

    Few rows are left to NumPy, for whom nothing needs to be compiled: 10 to 60 µs more, of a fit of ten times that.
    """
    if not len(X) == len(codes) == len(weights):
        raise unlike(len(X), codes, weights)
    rows, p = X.shape
    if X.size <= FEW and X.size * p <= SMALL:
        _add_few(X, codes, weights, origin, n, t1, G)
        return
    strip = min(rows, max(STRIP_CELLS // max(p, 1), AT_ONCE * max(len(G), 2)))
    room = np.empty((strip, p)), np.zeros((G.shape[1], AT_ONCE)), np.arange(strip), np.empty(len(origin), np.int64)
    scatter_by_strips(X, codes, weights, origin, n, t1, G, *room)


@np.errstate(all="ignore")
def _add_few(X: Numbers, codes: Codes, weights: Floats, origin: Floats, n: Floats, t1: Floats, G: Floats) -> None:
    """The same by products; what is not finite is so in the sums of all classes."""
    p = X.shape[1]
    z, R = X - origin[codes], (codes[:, None] == np.arange(len(n))).astype(np.float64)
    wz = weights[:, None] * z
    n += weights @ R
    t1 += R.T @ wz
    ends = [len(z)]
    if len(G) > 1:
        order = np.argsort(codes, kind="stable")
        z, wz, ends = z[order], wz[order], np.cumsum(np.bincount(codes, minlength=len(G))).tolist()
    start = 0
    with one_blas_thread(X.size * p > ALONE):
        for c, stop in enumerate(ends):
            if stop > start:
                G[c, :p, :p] += z[start:stop].T @ wz[start:stop]
            start = stop


@fast
def scatter_by_strips(
    X: Numbers, codes: Codes, weights: Floats, origin: Floats, n: Floats, t1: Floats, G: Floats,
    Z: Floats, T: Floats, place: Places, ends: Places,
) -> None:  # fmt: skip
    """The same, strip by strip of as many rows as Z has; T, place and ends are room, place in order where G is one."""
    rows, strip, own = X.shape[0], Z.shape[0], G.shape[0] > 1
    for start in range(0, rows, strip):
        stop = start + strip if start + strip < rows else rows
        some = codes[start:stop]
        if own:
            places_by_class(some, place, ends)
        else:
            ends[0] = stop - start
        centre_rows(X[start:stop], place, some, weights[start:stop], origin, Z, n, t1)
        first = np.int64(0)  # a number: for a constant helpers are compiled once more
        for c in range(G.shape[0]):
            for a in range(first, ends[c], AT_ONCE):
                b = a + AT_ONCE if a + AT_ONCE < ends[c] else ends[c]
                _turn(Z, a, b, T)
                _products(T, b - a, G[c])
            first = ends[c]


def both_sides(upper: Floats, p: int) -> Floats:
    """Whole symmetric p × p matrices from upper triangles with room to spare."""
    some = upper[:, :p, :p]
    return np.where(np.tri(p, k=-1, dtype=bool), some.swapaxes(1, 2), some)


@fast_helper
def _turn(Z: Floats, start: int, stop: int, T: Floats) -> None:
    """T[j, i] = Z[start + i, j], eight rows at a time."""
    p = Z.shape[1]
    i = start
    while i + 8 <= stop:
        a, b, c, d, e, f, g, h = Z[i], Z[i + 1], Z[i + 2], Z[i + 3], Z[i + 4], Z[i + 5], Z[i + 6], Z[i + 7]
        k = i - start
        for j in range(p):
            t = T[j]
            t[k], t[k + 1], t[k + 2], t[k + 3] = a[j], b[j], c[j], d[j]
            t[k + 4], t[k + 5], t[k + 6], t[k + 7] = e[j], f[j], g[j], h[j]
        i += 8
    while i < stop:
        for j in range(p):
            T[j, i - start] = Z[i, j]
        i += 1


@fast_helper
def _products(T: Floats, m: int, G: Floats) -> None:
    """G[i, j] += Σ_k T[i, k] T[j, k] over the first m, for blocks of 4 × 4 on and above the diagonal."""
    for i in range(0, G.shape[0], SIDE):
        a, b, c, d = T[i], T[i + 1], T[i + 2], T[i + 3]
        for j in range(i, G.shape[0], SIDE):
            e, f, g, h = T[j], T[j + 1], T[j + 2], T[j + 3]
            ae = af = ag = ah = be = bf = bg = bh = 0.0
            ce = cf = cg = ch = de = df = dg = dh = 0.0
            for k in range(m):
                ae += a[k] * e[k]
                af += a[k] * f[k]
                ag += a[k] * g[k]
                ah += a[k] * h[k]
                be += b[k] * e[k]
                bf += b[k] * f[k]
                bg += b[k] * g[k]
                bh += b[k] * h[k]
                ce += c[k] * e[k]
                cf += c[k] * f[k]
                cg += c[k] * g[k]
                ch += c[k] * h[k]
                de += d[k] * e[k]
                df += d[k] * f[k]
                dg += d[k] * g[k]
                dh += d[k] * h[k]
            w, x, y, z = G[i], G[i + 1], G[i + 2], G[i + 3]
            w[j], w[j + 1], w[j + 2], w[j + 3] = w[j] + ae, w[j + 1] + af, w[j + 2] + ag, w[j + 3] + ah
            x[j], x[j + 1], x[j + 2], x[j + 3] = x[j] + be, x[j + 1] + bf, x[j + 2] + bg, x[j + 3] + bh
            y[j], y[j + 1], y[j + 2], y[j + 3] = y[j] + ce, y[j + 1] + cf, y[j + 2] + cg, y[j + 3] + ch
            z[j], z[j + 1], z[j + 2], z[j + 3] = z[j] + de, z[j + 1] + df, z[j + 2] + dg, z[j + 3] + dh
