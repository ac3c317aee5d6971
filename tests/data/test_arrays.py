"""Containers and types of numbers: the same model from all of them."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import suffit
from cases import two_classes
from every_estimator import CODES, VARIANTS, X, Y, make, once_per_reader, same
from suffit import (
    CategoricalNB,
    GenerativeClassifier,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
]


def memmap(a, tmp_path):
    joblib.dump(a, tmp_path / "rows")
    return joblib.load(tmp_path / "rows", mmap_mode="r")


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


CONTAINERS = {
    "F order": lambda a, _: np.asfortranarray(a),
    "strided": lambda a, _: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed": lambda a, _: a[:, ::-1].copy()[:, ::-1],
    "read-only": lambda a, _: read_only(a),
    "memmap": memmap,
    "list": lambda a, _: a.tolist(),
    "frame": lambda a, _: pd.DataFrame(a),
    "other byte order": lambda a, _: a.astype(a.dtype.newbyteorder()),
    "masked": lambda a, _: np.ma.array(a),
}


@pytest.mark.parametrize(("name", "container"), once_per_reader(VARIANTS, CONTAINERS, ["F order"]))
def test_containers_of_rows_give_the_same_model(name, container, tmp_path):
    rows = CONTAINERS[container](X, tmp_path)
    est = make(name).fit(rows, Y)
    plain = make(name).fit(X, Y)
    same(est, plain, exact=False)
    np.testing.assert_allclose(est.predict_proba(rows), plain.predict_proba(X), atol=1e-9)


INTEGER = 1 + np.random.default_rng(1).integers(0, 5, (60, 4)) + 3 * CODES[:, None]


TYPES = ["int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "longdouble"]


@pytest.mark.parametrize(("name", "dtype"), once_per_reader(VARIANTS, TYPES, ["int64", "float32"]))
def test_types_of_numbers_give_the_same_model(name, dtype):
    if name == "NaiveBayes-beta":
        rows = (INTEGER / 16).astype(dtype if "float" in dtype else "float32")
    else:
        rows = INTEGER.astype(dtype)
    est, plain = make(name).fit(rows, Y), make(name).fit(rows.astype(np.float64), Y)
    tolerance = 1e-4 if rows.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(est.predict_proba(rows), plain.predict_proba(rows.astype(np.float64)), atol=tolerance)
    np.testing.assert_array_equal(est.predict(rows), plain.predict(rows.astype(np.float64)))
    assert est.predict_proba(rows).dtype == np.float64


def test_yes_and_no_as_numbers():
    rows = X > 0.4
    for name in ("GaussianNB", "BernoulliNB", "CategoricalNB", "MultinomialNB", "PoissonNB", "GDA", "LDA"):
        same(make(name).fit(rows, Y), make(name).fit(rows.astype(float), Y), rows.astype(float), exact=False)


ONLY_DENSE = [k for k, e in VARIANTS.items() if isinstance(e, CategoricalNB | GenerativeClassifier)]
SPARSE = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "int64 indices": lambda a: _with_indices(sparse.csr_array(a), np.int64),
    "duplicates": lambda a: _with_duplicates(a),
    "unsorted": lambda a: _unsorted(sparse.csr_array(a)),
    "integers": lambda a: sparse.csr_array(np.round(a * 10).astype(np.int64)),
    "float32": lambda a: sparse.csr_array(a.astype(np.float32)),
}


def _with_indices(a, dtype):
    a.indices, a.indptr = a.indices.astype(dtype), a.indptr.astype(dtype)
    return a


def _with_duplicates(a):
    i, j = np.nonzero(a)
    halves = a[i, j] / 2
    order = np.r_[np.arange(len(i)), np.arange(len(i))]
    order = order[np.argsort(i[order], kind="stable")]
    indptr = np.r_[0, np.cumsum(2 * (a != 0).sum(axis=1))]
    return sparse.csr_array((halves[order], j[order], indptr), shape=a.shape)


def _unsorted(a):
    for s, e in zip(a.indptr[:-1], a.indptr[1:], strict=True):
        a.indices[s:e], a.data[s:e] = a.indices[s:e][::-1].copy(), a.data[s:e][::-1].copy()
    a.has_sorted_indices = False
    return a


@pytest.mark.parametrize(
    ("name", "kind"),
    once_per_reader([k for k in VARIANTS if k not in ONLY_DENSE], SPARSE, ["csr_array", "duplicates"]),
)
def test_sparse_equals_dense(name, kind):
    if name == "NaiveBayes-beta" and kind == "integers":
        pytest.skip("integers are no shares")
    positive = name in ("NaiveBayes-gamma", "NaiveBayes-beta", "NaiveBayes-lognormal")
    matrix = SPARSE[kind](X.copy() if positive else np.where(X > 0.3, X, 0.0))
    dense, before = matrix.toarray(), matrix.data.copy()
    est, plain = make(name).fit(matrix, Y), make(name).fit(dense, Y)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dense.dtype == np.float32 else {"rtol": 1e-8, "atol": 1e-9}
    np.testing.assert_allclose(est.predict_proba(matrix), plain.predict_proba(dense), **tolerance)
    np.testing.assert_allclose(est.predict_proba(dense), plain.predict_proba(dense), **tolerance)
    np.testing.assert_allclose(est.score_samples(matrix), plain.score_samples(dense), **tolerance)
    np.testing.assert_array_equal(matrix.data, before)
    if name != "LDA-estimator":
        est.partial_fit(matrix, Y).forget(matrix, Y)
        np.testing.assert_allclose(est.predict_proba(matrix), plain.predict_proba(dense), **tolerance)
    if hasattr(est, "transform") and est.solver != "lsqr":
        np.testing.assert_allclose(est.transform(matrix), plain.transform(dense), atol=1e-4)


@pytest.mark.parametrize("kind", SPARSE)
def test_categories_are_not_sparse(kind):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        CategoricalNB().fit(SPARSE[kind](X), Y)
    with pytest.raises(TypeError, match=r"[Ss]parse.*toarray"):
        GenerativeClassifier().fit(SPARSE[kind](X), Y)


@pytest.mark.parametrize("offset", [1e2, 1e4, 1e6, 1e8])
def test_sparse_rows_far_from_zero_score_as_dense_ones(offset):
    X, y = two_classes(400)
    model = suffit.GaussianNB().fit(sparse.csr_array(X + offset), y)
    centred = suffit.GaussianNB().fit((X + offset) - offset, y).predict_proba((X + offset) - offset)
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(X + offset)), centred, atol=1e-6)


def test_a_missing_value_in_sparse_rows_is_missing_everywhere():
    X, y = two_classes(40)
    missing = np.abs(X).round()
    missing[3, 1] = np.nan
    for model in (suffit.GaussianNB(), suffit.BernoulliNB(), suffit.PoissonNB(), suffit.MultinomialNB(), suffit.QDA()):
        model.fit(sparse.csr_array(missing), y)
        dense = clone(model).fit(missing, y)
        for method in ("predict_proba", "score_samples"):
            got = getattr(model, method)(sparse.csr_array(missing))
            np.testing.assert_allclose(got, getattr(dense, method)(missing), rtol=1e-9, atol=1e-12)


def test_sparse_rows_may_come_in_any_order_and_with_duplicates():
    """Entries of a row in any order count as they are; those of one column add up first."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.7, size=(60, 9)).astype(float)
    y = rng.integers(0, 3, 60)
    row, col = np.nonzero(X)
    order = rng.permutation(len(row))
    order = order[np.argsort(row[order], kind="stable")]
    ends = np.concatenate([[0], np.cumsum((X > 0).sum(axis=1))])
    shuffled = sparse.csr_array((X[row, col][order], col[order], ends), shape=X.shape)
    assert not shuffled.has_sorted_indices
    halves = sparse.csr_array(
        (np.repeat(X[row, col] / 2, 2), np.repeat(col, 2), 2 * ends), shape=X.shape
    )  # every entry in two parts
    for kind in (suffit.MultinomialNB, suffit.BernoulliNB, suffit.ComplementNB, suffit.PoissonNB, suffit.GaussianNB):
        plain = kind().fit(X, y)
        for other in (shuffled, halves):
            model = kind().fit(other.copy(), y)
            np.testing.assert_allclose(model.predict_proba(other.copy()), plain.predict_proba(X), rtol=1e-9)
    assert not shuffled.has_sorted_indices
