"""Rows placed in trees, scored, and scored without themselves; the trees are those of ``trees.py``.

That nodes and columns are in their ranges is checked where a ``Partition`` is made, before any loop runs over them.
"""

from __future__ import annotations

import numpy as np

from .runtime.compiled import jit
from .runtime.lengths import unlike
from .runtime.types import Bits, Bytes, Codes, Floats, Places
from .trees import DEEPEST, MOST_CODES, takes_part

AT_ONCE = 64  # rows that are placed together
ROOM = DEEPEST + 2  # of the stack where rows that go both ways wait


def place_rows(X: Bytes, root: int, column: Codes, left: Bits, child: Codes, out: Codes) -> None:
    """out[i]: the node of a tree where row i ends: a leaf, or the first cut whose column it does not have."""
    if len(out) != len(X):
        raise unlike(len(X), out)
    if not len(column) == len(left) == len(child):
        raise unlike(len(column), left, child)
    _place_rows(X, root, column, left, child, np.empty(AT_ONCE, np.int64), out)


@jit
def _place_rows(X: Bytes, root: int, column: Codes, left: Bits, child: Codes, under_way: Places, out: Codes) -> None:
    """The same: some rows at once, a cut each in turn, so that none waits for where another goes."""
    for start in range(0, len(X), AT_ONCE):
        size = min(AT_ONCE, len(X) - start)
        for k in range(size):
            under_way[k] = start + k
            out[start + k] = root
        while size > 0:
            left_over = 0
            for k in range(size):
                i = under_way[k]
                node = out[i]
                at = child[node]
                if at > 0:
                    code = X[i, column[node]]
                    if code < MOST_CODES:
                        out[i] = at + np.int32(1) - np.int32((left[node] >> np.uint64(code)) & np.uint64(1))
                        under_way[left_over] = i
                        left_over += 1
            size = left_over


def count_nodes(places: Codes, codes: Codes, weights: Floats, count: Floats) -> None:
    """count[c, node] += w for the node where a tree has placed the row."""
    if not len(places) == len(codes) == len(weights):
        raise unlike(len(places), codes, weights)
    _count_nodes(places, codes, weights, count)


@jit
def _count_nodes(places: Codes, codes: Codes, weights: Floats, count: Floats) -> None:
    for i in range(len(places)):
        count[codes[i], places[i]] += weights[i]


def rows_below(count: Floats, child: Codes, below: Floats, total: Floats) -> None:
    """below (nodes, K): the rows that have got to every node, of the counts (K, nodes); total (nodes,): of all classes.

    What rounding leaves of rows taken out counts for nothing.
    """
    if not count.shape[1] == len(child) == len(below) == len(total):
        raise unlike(count.shape[1], child, below, total)
    _rows_below(count, child, below, total)


@jit
def _rows_below(count: Floats, child: Codes, below: Floats, total: Floats) -> None:
    K, nodes = count.shape
    for c in range(K):
        for node in range(nodes):
            below[node, c] = max(count[c, node], 0.0)
    for node in range(nodes - 1, -1, -1):
        at = child[node]
        total[node] = 0.0
        for c in range(K):
            if at > 0:
                below[node, c] += below[at, c] + below[at + 1, c]
            total[node] += below[node, c]


def solve_trees(
    below: Floats, total: Floats, child: Codes, alpha: float, shares: Floats, table: Floats, common: Floats
) -> None:
    """What the rows below every node (nodes, K) say: shares (nodes, K), table (nodes, K), common (nodes,).

    Of n_c rows of class c at a cut, n_cl of them on the left, the left has p_c = (n_cl + α q)/(n_c + α), with q the
    share of all classes, (n_l + ½)/(n + 1).  ``shares`` are p_c of every node, given the one above, ``common`` log q,
    and ``table`` the sum of log p_c/q from the root; those of the roots are given.
    """
    nodes = len(below)
    if not nodes == len(total) == len(child) == len(shares) == len(table) == len(common):
        raise unlike(nodes, total, child, shares, table, common)
    _solve_trees(below, total, child, alpha, shares, table, common)


@jit
def _solve_trees(
    below: Floats, total: Floats, child: Codes, alpha: float, shares: Floats, table: Floats, common: Floats
) -> None:
    nodes, K = below.shape
    for node in range(nodes):
        at = child[node]
        if at <= 0:
            continue
        q = (total[at] + 0.5) / (total[at] + total[at + 1] + 1.0)
        common[at], common[at + 1] = np.log(q), np.log(1.0 - q)
        for c in range(K):
            left, right = below[at, c], below[at + 1, c]
            if left + right > 0.0:
                shares[at, c] = (left + alpha * q) / (left + right + alpha)
                shares[at + 1, c] = (right + alpha * (1.0 - q)) / (left + right + alpha)
                table[at, c] = table[node, c] + np.log(shares[at, c] / q)
                table[at + 1, c] = table[node, c] + np.log(shares[at + 1, c] / (1.0 - q))
            else:  # no row of the class has got here
                shares[at, c], shares[at + 1, c] = q, 1.0 - q
                table[at, c] = table[at + 1, c] = table[node, c]


def tree_scores(
    X: Bytes, root: int, column: Codes, left: Bits, child: Codes, table: Floats, common: Floats, part: float,
    stack: Places, ways: Floats, one: Floats, out: Floats,
) -> None:  # fmt: skip
    """out[i, c] += part · log p(x_i | c)/p(x_i) in a tree, p(x) being the density of all classes together.

    Where the column of a cut is missing, a row goes both ways: the sum over the leaves where it may be.
    """
    if len(out) != len(X):
        raise unlike(len(X), out)
    if not len(stack) == len(ways) == ROOM:
        raise unlike(ROOM, stack, ways)
    if not len(column) == len(left) == len(child) == len(table) == len(common):
        raise unlike(len(column), left, child, table, common)
    _tree_scores(X, root, column, left, child, table, common, part, stack, ways, one, out)


@jit
def _tree_scores(
    X: Bytes, root: int, column: Codes, left: Bits, child: Codes, table: Floats, common: Floats, part: float,
    stack: Places, ways: Floats, one: Floats, out: Floats,
) -> None:  # fmt: skip
    rows, K = out.shape
    for i in range(rows):
        node, waiting, found, way = np.int64(root), np.int64(0), np.int64(0), 0.0
        while True:
            while child[node] > 0:
                at = np.int64(child[node])
                code = X[i, column[node]]
                if code >= MOST_CODES:
                    stack[waiting] = at + 1
                    ways[waiting] = way + common[at + 1]
                    waiting += 1
                    way += common[at]
                    node = at
                else:
                    node = at + (0 if (left[node] >> np.uint64(code)) & np.uint64(1) else 1)
            if found == 0 and waiting == 0:
                for c in range(K):
                    out[i, c] += part * table[node, c]
                break
            if found == 0:
                for c in range(K):
                    one[c] = np.exp(way + table[node, c])
            else:
                for c in range(K):
                    one[c] += np.exp(way + table[node, c])
            found += 1
            if waiting == 0:
                for c in range(K):
                    out[i, c] += part * np.log(one[c])
                break
            waiting -= 1
            node, way = stack[waiting], ways[waiting]


def tree_terms(
    X: Bytes, first: Codes, second: Codes, root: int, column: Codes, left: Bits, child: Codes, parent: Codes,
    shares: Floats, table: Floats, common: Floats, part: float, stack: Places, ways: Floats, out: Floats, rest: Floats,
) -> None:  # fmt: skip
    """What each column adds to log p(x | a) − log p(x | b) in a tree: out[i, j] += part · the change at its cuts.

    Where columns are missing, the changes of all leaves where the row may be, each by its share; ``rest`` is what the
    mixture adds.
    """
    if not len(X) == len(first) == len(second) == len(out) == len(rest):
        raise unlike(len(X), first, second, out, rest)
    if not len(stack) == len(ways) == ROOM:
        raise unlike(ROOM, stack, ways)
    if not len(column) == len(left) == len(child) == len(parent) == len(shares) == len(table) == len(common):
        raise unlike(len(column), left, child, parent, shares, table, common)
    _tree_terms(
        X, first, second, root, column, left, child, parent, shares, table, common, part, stack, ways, out, rest
    )


@jit
def _tree_terms(
    X: Bytes, first: Codes, second: Codes, root: int, column: Codes, left: Bits, child: Codes, parent: Codes,
    shares: Floats, table: Floats, common: Floats, part: float, stack: Places, ways: Floats, out: Floats, rest: Floats,
) -> None:  # fmt: skip
    for i in range(len(X)):
        for side in range(2):
            c = first[i] if side == 0 else second[i]
            sign = part if side == 0 else -part
            total, explained = 0.0, 0.0
            for again in range(2):  # the sum of all leaves, and then the share of each
                node, waiting, way = np.int64(root), np.int64(0), 0.0
                while True:
                    while child[node] > 0:
                        at = np.int64(child[node])
                        code = X[i, column[node]]
                        if code >= MOST_CODES:
                            stack[waiting] = at + 1
                            ways[waiting] = way + common[at + 1]
                            waiting += 1
                            way += common[at]
                            node = at
                        else:
                            node = at + (0 if (left[node] >> np.uint64(code)) & np.uint64(1) else 1)
                    weight = np.exp(way + table[node, c])
                    if again == 0:
                        total += weight
                    else:
                        k = node
                        while k > root:
                            above = np.int64(parent[k])
                            j = column[above]
                            if X[i, j] < MOST_CODES:
                                change = weight / total * (np.log(shares[k, c]) - common[k])
                                out[i, j] += sign * change
                                explained += change
                            k = above
                    if waiting == 0:
                        break
                    waiting -= 1
                    node, way = stack[waiting], ways[waiting]
            rest[i] += sign * (np.log(total) - explained)


def tree_scores_without(
    X: Bytes, codes: Codes, weights: Floats, marks: Bits, share: float, roots: Codes, column: Codes, left: Bits,
    child: Codes,
    below: Floats, all_below: Floats, alpha: float, stack: Places, above: Floats, one: Floats, total: Floats,
    used: Floats, out: Floats,
) -> None:  # fmt: skip
    """out[i, c] += log p(x_i | c)/p(x_i) without row i, and used[i] += 1, in every tree in which row i took no part.

    The row is taken from every node that it has got to; where a column is missing it goes both ways, and has got no
    further.  above: (deepest, K), what is waiting on the stack.
    """
    if not len(X) == len(codes) == len(weights) == len(marks) == len(used) == len(out):
        raise unlike(len(X), codes, weights, marks, used, out)
    if not len(stack) == len(above) == ROOM:
        raise unlike(ROOM, stack, above)
    if not len(column) == len(left) == len(child) == len(below) == len(all_below):
        raise unlike(len(column), left, child, below, all_below)
    _tree_scores_without(
        X, codes, weights, marks, share, roots, column, left, child, below, all_below, alpha, stack, above, one, total,
        used, out,
    )  # fmt: skip


@jit
def _tree_scores_without(
    X: Bytes, codes: Codes, weights: Floats, marks: Bits, share: float, roots: Codes, column: Codes, left: Bits,
    child: Codes,
    below: Floats, all_below: Floats, alpha: float, stack: Places, above: Floats, one: Floats, total: Floats,
    used: Floats, out: Floats,
) -> None:  # fmt: skip
    rows, K = out.shape
    for t in range(len(roots)):
        for i in range(rows):
            if takes_part(marks[i], t, share):
                continue
            own, w = codes[i], weights[i]
            node, waiting, found, sure = np.int64(roots[t]), np.int64(0), np.int64(0), True
            for c in range(K):
                one[c] = 1.0  # the product of p_c/q, one logarithm at the end; where a column is missing, of p_c
            while True:
                while child[node] > 0:
                    at = np.int64(child[node])
                    code = X[i, column[node]]
                    missing = code >= MOST_CODES
                    if missing:
                        sure = False
                    right = 0 if missing or (left[node] >> np.uint64(code)) & np.uint64(1) else 1
                    gone = w if sure else 0.0
                    there = max(all_below[at + right] - gone, 0.0)  # on the side of the row, and on the other
                    other = all_below[at + 1 - right]
                    q = (there + 0.5) / (there + other + 1.0)
                    back, rest = alpha * q, alpha * (1.0 - q)
                    if missing:
                        for c in range(K):
                            n, m = below[at, c], below[at + 1, c]
                            above[waiting, c] = one[c] * ((m + rest) / (n + m + alpha))
                            one[c] *= (n + back) / (n + m + alpha)
                    else:
                        mine = one[own]
                        for c in range(K):
                            n, m = below[at + right, c], below[at + 1 - right, c]
                            one[c] *= (n + back) / ((n + m + alpha) * q)
                        n, m = max(below[at + right, own] - gone, 0.0), below[at + 1 - right, own]
                        one[own] = mine * ((n + back) / ((n + m + alpha) * q))
                    if missing:
                        stack[waiting] = at + 1
                        waiting += 1
                    node = at + right
                if waiting == 0 and found == 0:
                    break
                if found == 0:
                    for c in range(K):
                        total[c] = 0.0
                for c in range(K):
                    total[c] += one[c]
                found += 1
                if waiting == 0:
                    break
                waiting -= 1
                node = stack[waiting]
                for c in range(K):
                    one[c] = above[waiting, c]
            used[i] += 1.0
            for c in range(K):
                out[i, c] += np.log(total[c] if found > 0 else one[c])
