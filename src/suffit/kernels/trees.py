"""Trees on small integer codes: grown by class entropy, rows placed in them, scored, and scored without themselves.

A node is a place on one axis that all trees share.  ``column[node]`` is what it is cut by; rows whose code is in
``left[node]``, a set of 64 bits, go to ``child[node]``, the others to the node after it; at a leaf ``child`` is 0,
which is nobody's child.  Children come after their parents.  A code of 255 is a missing value.
"""

from __future__ import annotations

import numpy as np

from .runtime.compiled import helper, jit
from .runtime.types import Bits, Bytes, Codes, Flags, Floats, Places

MISSING = 255
MOST_CODES = 64  # of a column: a set of them is one number
DEEPEST = 48  # cuts on a path: rows that go both ways wait on a stack of so many
SURELY_MORE = 1e-9  # share by which a cut must be better than one before it: less is rounding


@helper
def _mixed(x: np.uint64) -> np.uint64:
    """Bits as good as random, of bits that are not (splitmix64)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@jit
def row_bits(X: Bytes, out: Bits) -> None:
    """Bits for every row, as good as random, the same for equal rows."""
    rows, p = X.shape
    for i in range(rows):
        h = np.uint64(0)
        for j in range(p):
            h = _mixed(h ^ np.uint64(X[i, j]))
        out[i] = h


@jit
def rows_of_tree(bits: Bits, tree: int, share: float, out: Flags) -> None:
    """Which rows take part in choosing the cuts of a tree: about this share of them, by their bits."""
    most = np.uint64(share * 1048576.0)
    for i in range(len(bits)):
        out[i] = (_mixed(bits[i] ^ _mixed(np.uint64(tree))) >> np.uint64(44)) < most


@helper
def _x_log_x(x: float) -> float:
    return x * np.log(x) if x > 0.0 else 0.0  # type: ignore[no-any-return]


@helper
def _column_cut(
    hist: Floats, total: Floats, sizes: Floats, order: Places, share: Floats, here: Floats, there: Floats,
    is_number: bool, least: float,
) -> tuple[float, np.uint64]:  # fmt: skip
    """The best cut of one column at a node, and the entropy that it takes away.

    hist[code, class], sizes[code] and total[class] are the rows of the node that have the column.  Codes of numbers are
    cut in their order, categories by the share of the class that they differ most about.
    """
    codes, K = hist.shape
    n, used = 0.0, np.int64(0)
    for b in range(codes):
        if sizes[b] > 0.0:
            order[used] = b
            used += 1
            n += sizes[b]
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
    before, left_n, left_sum, right_sum = _x_log_x(n), 0.0, 0.0, 0.0
    for c in range(K):
        here[c], there[c] = 0.0, total[c]
        right_sum += _x_log_x(total[c])
    before -= right_sum
    bits = np.uint64(0)
    for i in range(used - 1):
        b = order[i]
        bits |= np.uint64(1) << np.uint64(b)
        left_n += sizes[b]
        for c in range(K):
            w = hist[b, c]
            if w > 0.0:
                left_sum -= _x_log_x(here[c])
                right_sum -= _x_log_x(there[c])
                here[c] += w
                there[c] = max(there[c] - w, 0.0)
                left_sum += _x_log_x(here[c])
                right_sum += _x_log_x(there[c])
        right_n = n - left_n
        if left_n < least or right_n < least:
            continue
        gain = before - (_x_log_x(left_n) - left_sum) - (_x_log_x(right_n) - right_sum)
        if gain > best * (1.0 + SURELY_MORE):
            best, taken = gain, bits
    return best, taken


@jit
def grow_tree(
    X: Bytes, is_number: Flags, codes: Codes, weights: Floats, rows: Places, K: int, n_columns: int, least: float,
    least_gain: float, seed: int,
    hist: Floats, columns: Places, begin: Places, end: Places, depth: Places, room: Places, floats: Floats,
    column: Codes, left: Bits, child: Codes,
) -> int:  # fmt: skip
    """Cut the rows until every leaf is pure or cannot be cut; the number of nodes, no more than there is room for.

    X (p, n) has a column in each row; ``rows`` are the places of those that take part, and are put in another order.
    Each cut is the best of some columns, ``n_columns`` of them drawn at random, or more while none gains anything.
    hist: (64, K); floats: (6, max(K, 64)).
    """
    p, most = X.shape[0], len(column)
    total, sizes, share, here, there, counts = floats[0], floats[1], floats[2], floats[3], floats[4], floats[5]
    begin[0], end[0], depth[0] = 0, len(rows), 0
    n_nodes = np.int64(1)
    node = np.int64(0)
    while node < n_nodes:
        a, b = begin[node], end[node]
        column[node], left[node], child[node] = -1, np.uint64(0), 0
        for c in range(K):
            counts[c] = 0.0
        n, classes = 0.0, 0
        for i in range(a, b):
            c = codes[rows[i]]
            classes += 1 if counts[c] == 0.0 else 0
            counts[c] += weights[rows[i]]
            n += weights[rows[i]]
        if classes < 2 or n < 2.0 * least or depth[node] >= DEEPEST or n_nodes + 2 > most:
            node += 1
            continue
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
            for c in range(K):
                total[c] = 0.0
            for q in range(MOST_CODES):
                sizes[q] = 0.0
            for i in range(a, b):
                r = rows[i]
                q = X[j, r]
                if q != MISSING:
                    if sizes[q] == 0.0:
                        for c in range(K):
                            hist[q, c] = 0.0
                    w = weights[r]
                    hist[q, codes[r]] += w
                    sizes[q] += w
                    total[codes[r]] += w
            gain, bits = _column_cut(hist, total, sizes, room, share, here, there, is_number[j], least)
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
            if X[at, rows[i]] == MISSING:
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
    return n_nodes


@jit
def place_rows(X: Bytes, root: int, column: Codes, left: Bits, child: Codes, out: Codes) -> None:
    """out[i]: the node of a tree where row i ends: a leaf, or the first cut whose column it does not have."""
    for i in range(len(X)):
        node = np.int64(root)
        while child[node] > 0:
            code = X[i, column[node]]
            if code == MISSING:
                break
            node = np.int64(child[node]) + (0 if (left[node] >> np.uint64(code)) & np.uint64(1) else 1)
        out[i] = node


@jit
def count_nodes(places: Codes, codes: Codes, weights: Floats, count: Floats) -> None:
    """count[c, node] += w for the node where a tree has placed the row."""
    for i in range(len(places)):
        count[codes[i], places[i]] += weights[i]


@jit
def solve_trees(
    count: Floats, child: Codes, alpha: float, below: Floats, shares: Floats, table: Floats, common: Floats
) -> None:
    """What the counts of nodes (K, nodes) say: below (nodes, K), shares (nodes, K), table (nodes, K), common (nodes,).

    Of n_c rows of class c at a cut, n_cl of them on the left, the left has p_c = (n_cl + α q)/(n_c + α), with q the
    share of all classes, (n_l + ½)/(n + 1).  ``shares`` are p_c of every node, given the one above, ``common`` log q,
    and ``table`` the sum of log p_c/q from the root.  ``below`` are the rows at every node that have got there.
    """
    K, nodes = count.shape
    for node in range(nodes):
        common[node] = 0.0
        for c in range(K):
            below[node, c] = count[c, node]
            shares[node, c] = 1.0
            table[node, c] = 0.0
    for node in range(nodes - 1, -1, -1):
        at = child[node]
        if at > 0:
            for c in range(K):
                below[node, c] += below[at, c] + below[at + 1, c]
    for node in range(nodes):
        at = child[node]
        if at > 0:
            one, two = 0.0, 0.0
            for c in range(K):
                one += below[at, c]
                two += below[at + 1, c]
            q = (one + 0.5) / (one + two + 1.0)
            common[at], common[at + 1] = np.log(q), np.log(1.0 - q)
            for c in range(K):
                n = below[at, c] + below[at + 1, c] + alpha
                shares[at, c] = (below[at, c] + alpha * q) / n
                shares[at + 1, c] = (below[at + 1, c] + alpha * (1.0 - q)) / n
                table[at, c] = table[node, c] + np.log(shares[at, c] / q)
                table[at + 1, c] = table[node, c] + np.log(shares[at + 1, c] / (1.0 - q))


@jit
def tree_scores(
    X: Bytes, root: int, column: Codes, left: Bits, child: Codes, table: Floats, common: Floats, part: float,
    stack: Places, ways: Floats, one: Floats, out: Floats,
) -> None:  # fmt: skip
    """out[i, c] += part · log p(x_i | c)/p(x_i) in a tree, p(x) being the density of all classes together.

    Where the column of a cut is missing, a row goes both ways: the sum over the leaves where it may be.
    """
    rows, K = out.shape
    for i in range(rows):
        node, waiting, found, way = np.int64(root), np.int64(0), np.int64(0), 0.0
        while True:
            while child[node] > 0:
                at = np.int64(child[node])
                code = X[i, column[node]]
                if code == MISSING:
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


@jit
def tree_terms(
    X: Bytes, first: Codes, second: Codes, root: int, column: Codes, left: Bits, child: Codes, parent: Codes,
    shares: Floats, table: Floats, common: Floats, part: float, stack: Places, ways: Floats, out: Floats, rest: Floats,
) -> None:  # fmt: skip
    """What each column adds to log p(x | a) − log p(x | b) in a tree: out[i, j] += part · the change at its cuts.

    Where columns are missing, the changes of all leaves where the row may be, each by its share; ``rest`` is what the
    mixture adds.
    """
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
                        if code == MISSING:
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
                            if X[i, j] != MISSING:
                                change = weight / total * (np.log(shares[k, c]) - common[k])
                                out[i, j] += sign * change
                                explained += change
                            k = above
                    if waiting == 0:
                        break
                    waiting -= 1
                    node, way = stack[waiting], ways[waiting]
            rest[i] += sign * (np.log(total) - explained)


@jit
def tree_scores_without(
    X: Bytes, codes: Codes, weights: Floats, takes: Flags, root: int, column: Codes, left: Bits, child: Codes,
    below: Floats, alpha: float, stack: Places, above: Floats, one: Floats, total: Floats, used: Floats, out: Floats,
) -> None:  # fmt: skip
    """out[i, c] += log p(x_i | c)/p(x_i) in one tree without row i, and used[i] += 1, for the rows that it takes.

    The row is taken from every node that it has got to; where a column is missing it goes both ways, and has got no
    further.  above: (deepest, K), what is waiting on the stack.
    """
    rows, K = out.shape
    for i in range(rows):
        if not takes[i]:
            continue
        own, w = codes[i], weights[i]
        node, waiting, found, sure = np.int64(root), np.int64(0), np.int64(0), True
        for c in range(K):
            one[c] = 0.0
        while True:
            while child[node] > 0:
                at = np.int64(child[node])
                code = X[i, column[node]]
                missing = code == MISSING
                if missing:
                    sure = False
                right = 0 if missing or (left[node] >> np.uint64(code)) & np.uint64(1) else 1
                gone = w if sure else 0.0
                there, other = 0.0, 0.0  # on the side of the row, and on the other
                for c in range(K):
                    there += below[at + right, c]
                    other += below[at + 1 - right, c]
                there = max(there - gone, 0.0)
                q = (there + 0.5) / (there + other + 1.0)
                for c in range(K):
                    n = below[at + right, c]
                    if c == own:
                        n = max(n - gone, 0.0)
                    m = below[at + 1 - right, c]
                    if missing:
                        above[waiting, c] = one[c] + np.log((m + alpha * (1.0 - q)) / (n + m + alpha))
                        one[c] += np.log((n + alpha * q) / (n + m + alpha))
                    else:
                        one[c] += np.log((n + alpha * q) / (n + m + alpha) / q)
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
                total[c] += np.exp(one[c])
            found += 1
            if waiting == 0:
                break
            waiting -= 1
            node = stack[waiting]
            for c in range(K):
                one[c] = above[waiting, c]
        used[i] += 1.0
        for c in range(K):
            out[i, c] += np.log(total[c]) if found > 0 else one[c]
