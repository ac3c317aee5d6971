"""Trees on small integer codes, grown by class entropy.

A node is a place on one axis that all trees share.  ``column[node]`` is what it is cut by; rows whose code is in
``left[node]``, a set of 64 bits, go to ``child[node]``, the others to the node after it; at a leaf ``child`` is 0,
which is nobody's child.  Children come after their parents.  A code of 64 or more is a missing value.
"""

from __future__ import annotations

import numpy as np

from .runtime.bits import zeros_below
from .runtime.compiled import helper, jit
from .runtime.lengths import unlike
from .runtime.types import Bits, Bytes, Codes, Flags, Floats, Integer, Places
from .scrambled import GOLDEN, scrambled

_scrambled = helper(scrambled)

MOST_CODES = 64  # of a column: a set of them is one number; from here on they are missing values
DEEPEST = 48  # cuts on a path: rows that go both ways wait on a stack of so many
SURELY_MORE = 1e-9  # share by which a cut must be better than one before it: less is rounding
FLOATS = 10  # arrays that growing a tree needs room for


@helper
def _mixed(x: np.uint64) -> np.uint64:
    """Bits as good as random, of bits that are not (splitmix64)."""
    return _scrambled(x + GOLDEN)


def row_bits(X: Bytes, out: Bits) -> None:
    """Bits for every row, as good as random, the same for equal rows."""
    if len(out) != len(X):
        raise unlike(len(X), out)
    _row_bits(X, out)


@jit
def _row_bits(X: Bytes, out: Bits) -> None:
    rows, p = X.shape
    for i in range(rows):
        h = np.uint64(0)
        for j in range(p):
            h = _mixed(h ^ np.uint64(X[i, j]))
        out[i] = h


def no_forest(roots: Codes, column: Codes, child: Codes, n_columns: int, depth: Codes) -> tuple[int, int]:
    """0 where these nodes are trees, and then depth[node]: the cuts on the way to a node; else what is wrong, where.

    1: a node neither has a child nor is a leaf; 2: there is no such column; 3: a child does not come after its parent,
    in the same tree; 4: a node has no parent, or two.
    """
    if not len(column) == len(child) == len(depth):
        raise unlike(len(column), child, depth)
    return _no_forest(roots, column, child, n_columns, depth)


@jit
def _no_forest(roots: Codes, column: Codes, child: Codes, n_columns: int, depth: Codes) -> tuple[int, int]:
    n, tree = len(child), 0
    for node in range(n):
        depth[node] = -1
    for t in range(len(roots)):
        depth[roots[t]] = 0
    for node in range(n):
        if tree < len(roots) and roots[tree] == node:
            tree += 1
        at = np.int64(child[node])
        if at < 0 or (at == 0 and column[node] != -1):
            return 1, node
        if depth[node] < 0:
            return 4, node
        if at == 0:
            continue
        if column[node] < 0 or column[node] >= n_columns:
            return 2, node
        if at <= node or at + 1 >= (roots[tree] if tree < len(roots) else n):
            return 3, node
        if depth[at] >= 0 or depth[at + 1] >= 0:
            return 4, node
        depth[at], depth[at + 1] = depth[node] + 1, depth[node] + 1
    return 0, n


@helper
def takes_part(bits: np.uint64, tree: int, share: float) -> bool:
    """Whether a row takes part in choosing the cuts of a tree."""
    return bool((_mixed(bits ^ _mixed(np.uint64(tree))) >> np.uint64(44)) < np.uint64(share * 1048576.0))


def rows_of_tree(bits: Bits, tree: int, share: float, out: Flags) -> None:
    """Which rows take part in choosing the cuts of a tree: about this share of them, by their bits."""
    if len(out) != len(bits):
        raise unlike(len(bits), out)
    _rows_of_tree(bits, tree, share, out)


@jit
def _rows_of_tree(bits: Bits, tree: int, share: float, out: Flags) -> None:
    for i in range(len(bits)):
        out[i] = takes_part(bits[i], tree, share)


@helper
def _x_log_x(x: float, known: Floats) -> float:
    """x log x; ``known`` holds it for integers."""
    whole = np.int64(x)
    if whole == x and whole < len(known):
        return float(known[whole])
    return x * float(np.log(x)) if x > 0.0 else 0.0


@helper
def _column_cut(
    hist: Floats, total: Floats, sizes: Floats, seen: np.uint64, order: Places, share: Floats, log: Floats,
    known: Floats, is_number: bool, least: float, K: Integer,
) -> tuple[float, np.uint64]:  # fmt: skip
    """The best cut of one column at a node, and the entropy that it takes away.

    hist[code, class], sizes[code] and total[class] are the rows of the node that have the column, in the codes that are
    seen and the K classes of the node.  Codes of numbers are cut in their order, categories by the share of the class
    that they differ most about.
    """
    n, used = 0.0, np.int64(0)
    while seen:
        order[used] = np.int64(zeros_below(seen))
        n += sizes[order[used]]
        seen &= seen - np.uint64(1)
        used += 1
    best, taken = 0.0, np.uint64(0)
    if used < 2:
        return best, taken
    if not is_number:
        at, most = np.int64(0), -1.0
        for c in range(K):
            if total[c] <= 0.0:
                continue
            spread = 0.0
            for i in range(used):
                b = order[i]
                spread += hist[b, c] * hist[b, c] / sizes[b]
            spread -= total[c] * total[c] / n
            if spread > most * (1.0 + SURELY_MORE):
                at, most = np.int64(c), spread
        for i in range(used):
            share[order[i]] = hist[order[i], at] / sizes[order[i]]
        for i in range(1, used):  # insertion sort, stable
            b = order[i]
            k = i - 1
            while k >= 0 and share[order[k]] > share[b]:
                order[k + 1] = order[k]
                k -= 1
            order[k + 1] = b
    here, there, log_here, log_there = log[0], log[1], log[2], log[3]
    before, left_n, left_sum, right_sum = _x_log_x(n, known), 0.0, 0.0, 0.0
    for c in range(K):
        here[c], there[c], log_here[c], log_there[c] = 0.0, total[c], 0.0, _x_log_x(total[c], known)
        right_sum += log_there[c]
    before -= right_sum
    bits = np.uint64(0)
    for i in range(used - 1):
        b = order[i]
        bits |= np.uint64(1) << np.uint64(b)
        left_n += sizes[b]
        for c in range(K):
            w = hist[b, c]
            if w > 0.0:
                left_sum -= log_here[c]
                right_sum -= log_there[c]
                here[c] += w
                there[c] = max(there[c] - w, 0.0)
                log_here[c], log_there[c] = _x_log_x(here[c], known), _x_log_x(there[c], known)
                left_sum += log_here[c]
                right_sum += log_there[c]
        right_n = n - left_n
        if left_n < least or right_n < least:
            continue
        gain = before - (_x_log_x(left_n, known) - left_sum) - (_x_log_x(right_n, known) - right_sum)
        if gain > best * (1.0 + SURELY_MORE):
            best, taken = gain, bits
            if is_number:  # codes that no row here has are on the side that is nearer, too
                taken = (np.uint64(2) << np.uint64((b + order[i + 1]) // 2)) - np.uint64(1)
    return best, taken


def grow_tree(
    X: Bytes, is_number: Flags, codes: Codes, weights: Floats, rows: Places, K: int, n_columns: int, least: float,
    least_gain: float, seed: int,
    own: Codes, worth: Floats, hist: Floats, columns: Places, begin: Places, end: Places, depth: Places,
    room: Places, floats: Floats, known: Floats, column: Codes, left: Bits, child: Codes,
) -> int:  # fmt: skip
    """Cut the rows until every leaf is pure or cannot be cut; the number of nodes, no more than there is room for.

    X (p, n) has a column in each row; ``rows`` are the places of those that take part, and are put in another order.
    Each cut is the best of some columns, ``n_columns`` of them drawn at random, or more while none gains anything.
    own, worth: (n,); hist: (64, K); floats: (FLOATS, max(K, 64)); known: n log n of integers.
    """
    if not X.shape[1] == len(codes) == len(weights) == len(own) == len(worth):
        raise unlike(X.shape[1], codes, weights, own, worth)
    if not len(X) == len(is_number) == len(columns):
        raise unlike(len(X), is_number, columns)
    if not len(column) == len(left) == len(child) == len(begin) == len(end) == len(depth):
        raise unlike(len(column), left, child, begin, end, depth)
    if not (len(hist) == len(room) == MOST_CODES and hist.shape[1] == K and floats.shape[1] >= max(K, MOST_CODES)):
        raise unlike(MOST_CODES, hist, room, floats.T)
    if len(floats) != FLOATS:
        raise unlike(FLOATS, floats)
    return _grow_tree(
        X, is_number, codes, weights, rows, K, n_columns, least, least_gain, seed, own, worth, hist, columns, begin,
        end, depth, room, floats, known, column, left, child,
    )  # fmt: skip


@jit
def _grow_tree(
    X: Bytes, is_number: Flags, codes: Codes, weights: Floats, rows: Places, K: int, n_columns: int, least: float,
    least_gain: float, seed: int,
    own: Codes, worth: Floats, hist: Floats, columns: Places, begin: Places, end: Places, depth: Places,
    room: Places, floats: Floats, known: Floats, column: Codes, left: Bits, child: Codes,
) -> int:  # fmt: skip
    p, most = X.shape[0], len(column)
    counts, place, total, some, sizes, share, log = (
        floats[0], floats[1], floats[2], floats[3], floats[4], floats[5], floats[6:]
    )  # fmt: skip
    begin[0], end[0], depth[0] = 0, len(rows), 0
    n_nodes = np.int64(1)
    node = np.int64(0)
    for c in range(K):
        counts[c] = 0.0
    while node < n_nodes:
        a, b = begin[node], end[node]
        column[node], left[node], child[node] = -1, np.uint64(0), 0
        n = 0.0
        for i in range(a, b):
            counts[codes[rows[i]]] += weights[rows[i]]
            n += weights[rows[i]]
        here = np.int64(0)  # classes that the node has, and their numbers in it
        for c in range(K):
            if counts[c] > 0.0:
                total[here], place[c] = counts[c], here
                counts[c] = 0.0
                here += 1
        if here < 2 or n < 2.0 * least or depth[node] >= DEEPEST or n_nodes + 2 > most:
            node += 1
            continue
        for i in range(a, b):
            own[i], worth[i] = np.int32(place[codes[rows[i]]]), weights[rows[i]]
        for j in range(p):
            columns[j] = j
        best, taken, at = least_gain, np.uint64(0), np.int64(-1)
        state = _mixed(np.uint64(seed) ^ _mixed(np.uint64(node)))
        for looked in range(p):
            if looked >= n_columns and at >= 0:
                break
            state = _mixed(state)
            k = looked + np.int64(state % np.uint64(p - looked))
            j = columns[k]
            columns[k] = columns[looked]
            columns[looked] = j
            x, seen, missing = X[j], np.uint64(0), False
            for i in range(a, b):
                q = np.int64(x[rows[i]])
                if q >= MOST_CODES:
                    missing = True
                    continue
                bit = np.uint64(1) << np.uint64(q)
                if not seen & bit:
                    seen |= bit
                    sizes[q] = 0.0
                    for c in range(here):
                        hist[q, c] = 0.0
                hist[q, own[i]] += worth[i]
                sizes[q] += worth[i]
            if missing:
                for c in range(here):
                    some[c] = 0.0
                for i in range(a, b):
                    if x[rows[i]] < MOST_CODES:
                        some[own[i]] += worth[i]
            gain, bits = _column_cut(
                hist, some if missing else total, sizes, seen, room, share, log, known, is_number[j], least, here
            )
            if gain > best * (1.0 + SURELY_MORE):
                best, taken, at = gain, bits, j
        if at < 0:
            node += 1
            continue
        column[node], left[node], child[node] = at, taken, n_nodes
        low, high = a, b  # those of the left side, then those of the right one, then those without the column
        i = a
        middle = b
        while i < middle:  # rows without the column go to the end
            if X[at, rows[i]] >= MOST_CODES:
                middle -= 1
                r = rows[i]
                rows[i] = rows[middle]
                rows[middle] = r
            else:
                i += 1
        high = middle
        i = a
        while i < high:
            r = rows[i]
            if (taken >> np.uint64(X[at, r])) & np.uint64(1):
                i += 1
            else:
                high -= 1
                rows[i] = rows[high]
                rows[high] = r
        begin[n_nodes], end[n_nodes], depth[n_nodes] = low, high, depth[node] + 1
        begin[n_nodes + 1], end[n_nodes + 1], depth[n_nodes + 1] = high, middle, depth[node] + 1
        n_nodes += 2
        node += 1
    return int(n_nodes)
