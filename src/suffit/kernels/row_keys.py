"""Keys of rows that rest on the order of values alone, and rows drawn from very many."""

from __future__ import annotations

import numpy as np

from .runtime.compiled import helper, jit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
B27, B30, B31, B40 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(40)
MISSING, OF_CLASS = np.uint64(0x632BE59BD9B4E019), np.uint64(0xD1B54A32D192ED03)
TURNS = 3  # of telling categories apart: by their counts, by the rows they are in, by what is then known of these
FINE = 64 * float(np.pi)  # steps in which masses are told apart: no share of whole counts is near the edge of one


@helper
def scrambled(bits):  # type: ignore[no-untyped-def]
    """Mix the bits of a number well (the finaliser of SplitMix64)."""
    bits = (bits ^ (bits >> B30)) * FIRST
    bits = (bits ^ (bits >> B27)) * SECOND
    return bits ^ (bits >> B31)


@jit
def add_ranks(x, order, weights, salt, keys):  # type: ignore[no-untyped-def]
    """keys[i] += the scrambled rank of x[j, i] among the distinct values of its column, for every column j.

    ``order`` holds the places of a column from the least value to the greatest, NaN last.  Columns are told apart by
    how often each rank is there, so that a row whose columns exchange their ranks has another key.
    """
    p, n = x.shape
    total = 0.0
    for i in range(n):
        total += weights[i]
    total = total if total > 0.0 else 1.0
    for j in range(p):
        mark, mass = salt, 0.0
        for turn in range(2):  # the column's mark, then the keys
            rank, last, hashed = np.uint64(0), np.nan, np.uint64(0)
            for k in range(n):
                i = order[j, k]
                v = x[j, i]
                if v == v and v != last:
                    rank += np.uint64(1)
                    hashed, last = scrambled(mark + rank * GOLDEN), v
                if turn:
                    keys[i] += hashed if v == v else MISSING
                elif v == v:
                    mass += weights[i] * np.float64(hashed >> B40)
            mark = scrambled(salt + np.uint64(mass / total * FINE + 0.5) * GOLDEN)


@helper
def _hashed_masses(codes, keys, weights, total, turn, salt, mass, hashed):  # type: ignore[no-untyped-def]
    """A hash for every category from the mass of the rows it is in, each row counting by its key.

    In the first turn all rows count alike.  Sums of whole weights are exact, others are told apart in steps that
    rounding does not cross.
    """
    mass[:] = 0.0
    for i in range(codes.shape[0]):
        if codes[i] >= 0:
            mass[codes[i]] += weights[i] * (np.float64(keys[i] >> B40) if turn else 16777216.0)
    for v in range(mass.shape[0]):
        hashed[v] = scrambled(salt + np.uint64(mass[v] / total * FINE + 0.5) * GOLDEN)


@jit
def add_categories(categories, sizes, codes, K, weights, salt, keys, hashes):  # type: ignore[no-untyped-def]
    """The keys of rows from their ranks (what ``keys`` holds before), their categories and their class.

    Categories have no order: what tells one from another is how often it is there, with which ranks and classes, and
    beside which other categories.  hashes[j, v] is what tells category v of column j, a row of ``categories``.
    """
    p, n = categories.shape
    most = K
    for j in range(p):
        most = max(most, sizes[j])
    ranks, mass, hashed = keys.copy(), np.empty(most), np.empty(most, np.uint64)
    new = np.empty(n, np.uint64)
    total = 0.0
    for i in range(n):
        total += weights[i]
    total = total if total > 0.0 else 1.0
    for turn in range(TURNS):
        _hashed_masses(codes, keys, weights, total, turn, salt ^ OF_CLASS, mass[:K], hashed[:K])
        for i in range(n):
            new[i] = ranks[i] + hashed[codes[i]]
        for j in range(p):
            _hashed_masses(categories[j], keys, weights, total, turn, salt, mass[: sizes[j]], hashed[: sizes[j]])
            for v in range(sizes[j]):
                hashes[j, v] = hashed[v]
            for i in range(n):
                v = categories[j, i]
                new[i] += hashed[v] if v >= 0 else MISSING
        for i in range(n):
            keys[i] = scrambled(new[i])


@jit
def marks_of_columns(x, order, categories, hashed, keys, marks):  # type: ignore[no-untyped-def]
    """What tells columns apart, those of numbers first: the sum over the rows of their keys with the value there."""
    p = x.shape[0]
    for j in range(p):
        rank, last = np.uint64(0), np.nan
        for k in range(x.shape[1]):
            i = order[j, k]
            v = x[j, i]
            if v == v:
                rank += np.uint64(v != last)
                last = v
                marks[j] += scrambled(keys[i] + rank * GOLDEN)
    for j in range(categories.shape[0]):
        for i in range(categories.shape[1]):
            v = categories[j, i]
            if v >= 0:
                marks[p + j] += scrambled(keys[i] + hashed[j, v])


@jit
def count_with_weight(codes, weights, count):  # type: ignore[no-untyped-def]
    """How many rows of each class weigh anything; no weights: all do."""
    for i in range(codes.shape[0]):
        if weights.shape[0] == 0 or weights[i] > 0.0:
            count[codes[i]] += 1


@jit
def draw_by_place(codes, weights, count, wanted, out):  # type: ignore[no-untyped-def]
    """wanted[c] of the count[c] rows of each class that weigh anything: one at random from each of as many stretches.

    Stretches are of equal length and one after another; the places drawn are in order.
    """
    K = count.shape[0]
    seen, taken, pick = np.zeros(K, np.int64), np.zeros(K, np.int64), np.full(K, -1, np.int64)
    state, found = np.uint64(0), 0
    for c in range(K):
        if wanted[c] > 0:
            state += GOLDEN
            u = np.float64(scrambled(state) >> B40) / 16777216.0
            pick[c] = np.int64(u * count[c] / wanted[c])
    for i in range(codes.shape[0]):
        c = codes[i]
        if weights.shape[0] and not weights[i] > 0.0:
            continue
        if seen[c] == pick[c]:
            out[found] = i
            found += 1
            taken[c] += 1
            if taken[c] < wanted[c]:
                state += GOLDEN
                u = np.float64(scrambled(state) >> B40) / 16777216.0
                pick[c] = max(seen[c] + 1, np.int64((taken[c] + u) * count[c] / wanted[c]))
        seen[c] += 1
    return found
