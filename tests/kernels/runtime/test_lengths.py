"""Arrays of different lengths are an error before a loop runs past the end of one."""

from __future__ import annotations

import numpy as np
import pytest

from suffit.kernels.batches import add_moments
from suffit.kernels.labels import code_labels, count_codes
from suffit.kernels.moments import class_moments
from suffit.kernels.pooling import pool_loss
from suffit.kernels.products import add_scatter
from suffit.kernels.scores import gaussian_scores, linear_scores
from suffit.kernels.sparse_rows import csr_linear_scores

n, p, K = 20, 3, 2
X, OUT, MEANS, START = np.zeros((n, p)), np.zeros((n, K)), np.zeros((K, p)), np.zeros(K)
CODES, WEIGHTS, LABELS = np.zeros(n, np.int32), np.ones(n), np.zeros(n, np.int64)
POINTERS, PLACES, ENTRIES = np.arange(n + 1), np.zeros(n, np.int32), np.ones(n)


def short(a):
    return np.ascontiguousarray(a[:-1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: class_moments(X, short(CODES), WEIGHTS, MEANS, START.copy(), MEANS.copy(), MEANS.copy()),
        lambda: class_moments(X, CODES, short(WEIGHTS), MEANS, START.copy(), MEANS.copy(), MEANS.copy()),
        lambda: add_scatter(X, CODES, short(WEIGHTS), MEANS, START.copy(), MEANS.copy(), np.zeros((1, 4, 4))),
        lambda: linear_scores(X, np.zeros(p), MEANS, START, short(OUT)),
        lambda: linear_scores(X, np.zeros(p - 1), MEANS, START, OUT),
        lambda: linear_scores(X, np.zeros(p), np.zeros((K, p - 1)), START, OUT),
        lambda: gaussian_scores(X, MEANS, np.zeros((K, p + 1)), START, OUT),
        lambda: add_moments(X, short(LABELS), 0, np.zeros(1, np.int32), MEANS, MEANS, np.zeros((K, 1 + 2 * p))),
        lambda: code_labels(LABELS, 0, np.zeros(1, np.int32), short(CODES), START.copy()),
        lambda: count_codes(CODES, short(WEIGHTS), START.copy()),
        lambda: csr_linear_scores(short(POINTERS), PLACES, ENTRIES, None, MEANS.T.copy(), START, OUT),
        lambda: csr_linear_scores(POINTERS, PLACES, short(ENTRIES), None, MEANS.T.copy(), START, OUT),
        lambda: pool_loss(
            np.zeros((1, K, n)), np.zeros((K, n)), short(CODES), WEIGHTS, np.ones(2), 0.1,
            np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2)),
        ),
    ],
)  # fmt: skip
def test_arrays_of_different_lengths_are_refused(call):
    with pytest.raises(ValueError, match="a kernel was given"):
        call()
