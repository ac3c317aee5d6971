"""Batches that are put off, and blocks that threads share: nothing lost, nothing half done, all bits the same."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings

import numpy as np
import pytest
from scipy import sparse

import suffit
from cases import assert_identical, assert_same, two_classes
from suffit.core import stats
from suffit.estimators.batches import RowsInSums, RowsKept
from suffit.kernels.runtime.threads import in_order


def stream(n: int = 900, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 4)) * [1, 10, 1e-3, 1] + [0, 1e6, 0, 5] + y[:, None], y


def documents(n: int = 900, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    rng = np.random.default_rng(seed)
    return sparse.csr_matrix(rng.poisson(0.3, size=(n, 40)).astype(float)), rng.integers(0, 3, n)


KINDS = pytest.mark.parametrize(("make", "data"), [(suffit.GaussianNB, stream), (suffit.MultinomialNB, documents)])


@KINDS
def test_running_sums_take_arrays_that_cannot_be_written_to(make, data):
    X, y = data()
    model = make().fit(X[:100], y[:100])
    twice = np.repeat(y, 2)
    for a in range(100, 900, 50):
        part, labels = X[a : a + 50], twice[::2][a : a + 50]  # every other label: not in one block
        for array in (part, labels) if isinstance(part, np.ndarray) else (part.data, part.indices, part.indptr):
            array.flags.writeable = False
        model.partial_fit(part, labels)
        assert isinstance(model._fit.batches.waiting.rows, RowsInSums)
    assert_same(model, make().fit(X, y), rtol=1e-11)


@pytest.mark.parametrize("value", [-1.0, -5e-324, -np.inf, np.inf])
def test_an_odd_count_in_a_batch_is_refused_and_nothing_added(value):
    X, y = documents()
    model = suffit.MultinomialNB().fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200])
    odd = X[200:300].copy()
    odd.data[7] = value
    with pytest.raises(suffit.InputError):
        model.partial_fit(odd, y[200:300])
    assert_identical(model, suffit.MultinomialNB().fit(X[:200], y[:200]))


def test_a_count_of_minus_zero_in_a_batch_is_zero():
    X, y = documents()
    X.data[X.indptr[250]] = -0.0
    model = suffit.MultinomialNB().fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert_same(model, suffit.MultinomialNB().fit(X, y))


@KINDS
@pytest.mark.parametrize("size", [1, 7, 250])
@pytest.mark.parametrize("labels", [np.int64, np.int32])
def test_running_sums_equal_one_fit(make, data, size, labels):
    X, y = data()
    y = y.astype(labels)
    model = make().fit(X[:100], y[:100])
    for a in range(100, 900, size):
        model.partial_fit(X[a : a + size], y[a : a + size])
        assert isinstance(model._fit.batches.waiting.rows, RowsInSums)
    assert_same(model, make().fit(X, y), rtol=1e-11)


@KINDS
def test_what_running_sums_do_not_take_is_learned_all_the_same(make, data):
    X, y = data()
    model = make().fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200])
    model.partial_fit(X[200:300].astype(np.float32).astype(np.float64), y[200:300].astype(np.int8))
    model.partial_fit(X[300:400].toarray() if sparse.issparse(X) else np.asfortranarray(X[300:400]), y[300:400])
    model.partial_fit(X[400:500], y[400:500], sample_weight=np.full(100, 2.0))
    model.partial_fit(X[500:600], y[500:600] + 7)  # new classes
    model.partial_fit(X[600:], y[600:])
    weight = np.where(np.isin(np.arange(900), range(400, 500)), 2.0, 1.0)
    X = X.astype(np.float64).copy()
    X[200:300] = X[200:300].astype(np.float32)
    whole = make().fit(X, np.where(np.isin(np.arange(900), range(500, 600)), y + 7, y), sample_weight=weight)
    assert_same(model, whole, rtol=1e-10)


def test_a_batch_far_from_the_origin_is_not_summed_about_it():
    X, y = stream()
    X[60:] += 1e9
    model = suffit.GaussianNB().fit(X[:50], y[:50]).partial_fit(X[50:60], y[50:60])
    assert isinstance(model._fit.batches.waiting.rows, RowsInSums)
    model.partial_fit(X[60:], y[60:])
    assert isinstance(model._fit.batches.waiting.rows, RowsKept)
    assert (model._model.stats.origin[:, 0] > 5e8).all()
    assert_same(model, suffit.GaussianNB().fit(X, y), rtol=1e-11)


@KINDS
@pytest.mark.parametrize("bad", [np.inf, -1.0])
def test_a_refused_batch_leaves_those_that_wait(make, data, bad):
    X, y = data()
    model = make().fit(X[:100], y[:100]).partial_fit(X[100:110], y[100:110])
    before = copy.deepcopy(model)
    model.partial_fit(X[110:120], y[110:120])
    with pytest.raises(ValueError):
        model.partial_fit(X[:5], y[:5], sample_weight=np.full(5, -1.0))
    if np.isinf(bad) or (bad == -1.0 and make is suffit.MultinomialNB):
        odd = X[:5].copy()
        odd[3, odd[3].nonzero()[-1][0]] = bad
        with pytest.raises(suffit.InputError, match="row 3"):
            model.partial_fit(odd, y[:5])
    assert_same(model, before.partial_fit(X[110:120], y[110:120]))
    assert_identical(model, pickle.loads(pickle.dumps(model)))


@KINDS
def test_readers_see_whole_batches(make, data):
    X, y = data()
    model = make().fit(X[:100], y[:100])
    seen, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            seen.append(model.class_count_.sum())

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for _ in range(20):
        for a in range(0, 900, 10):
            model.partial_fit(X[a : a + 10], y[a : a + 10])
    stop.set()
    for reader in readers:
        reader.join()
    assert model.class_count_.sum() == 100 + 20 * 900
    assert all(n % 10 == 0 for n in seen)


def test_a_new_class_in_a_later_batch_is_refused_where_the_prior_names_each():
    X, y = two_classes()
    model = suffit.GaussianNB(priors=[0.5, 0.5]).fit(X, y)
    for a in range(0, 30, 10):  # the first batches are learned as well as the later ones
        model.partial_fit(X[a : a + 10], y[a : a + 10])
    with pytest.raises(ValueError, match="2 priors, 3 classes"):
        model.partial_fit(X[:3], np.full(3, y.max() + 1))
    assert len(model.classes_) == 2


def test_a_new_class_in_a_later_batch_ends_the_calibration_and_says_so():
    X, y = two_classes()
    model = suffit.GaussianNB(calibrate="temperature").fit(X, y)
    for a in range(0, 30, 10):
        model.partial_fit(X[a : a + 10], y[a : a + 10])
    with pytest.warns(suffit.DataWarning, match="the calibration, of .* is gone"):
        model.partial_fit(X[:3], np.full(3, y.max() + 1))
    assert model.calibration_ is None


def test_settings_that_change_between_batches_hold_from_then_on():
    X, y = stream()
    model = suffit.GaussianNB().fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200])
    model.set_params(var_smoothing=0.1).partial_fit(X[200:], y[200:])
    assert_same(model, suffit.GaussianNB(var_smoothing=0.1).fit(X, y), rtol=1e-11)


@pytest.mark.parametrize("make", [suffit.MultinomialNB, suffit.BernoulliNB])
def test_many_sparse_blocks_add_up_the_same_on_any_number_of_threads(make):
    rng = np.random.default_rng(0)
    n, width = 60_000, 300
    X = sparse.random(n, width, 0.12, "csr", random_state=rng)
    y = rng.integers(0, 2, n)
    models = []
    try:
        for threads in (1, 2, 3):
            suffit.set_threads(threads)
            models.append(make().fit(X, y, sample_weight=0.1 + (y + np.arange(n) % 3) / 3))
    finally:
        suffit.set_threads(None)
    for model in models[1:]:
        assert_identical(model, models[0])
    R = np.stack([y == 0, y == 1]) * (0.1 + (y + np.arange(n) % 3) / 3)
    counted = X if make is suffit.MultinomialNB else X > 0
    np.testing.assert_allclose(models[0].feature_count_, R @ counted.toarray(), rtol=1e-11)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_blocks_come_in_order_and_the_first_failure_goes_out(threads):
    blocks = [(i, i + 1) for i in range(100)]

    def work(start: int, stop: int) -> int:
        if start in (57, 60, 61):
            raise KeyError(start)
        return start

    suffit.set_threads(threads)
    try:
        assert list(in_order(lambda a, b: a, blocks)) == list(range(100))
        parts = in_order(work, blocks)
        assert [next(parts) for _ in range(57)] == list(range(57))
        with pytest.raises(KeyError, match="57"):
            next(parts)
    finally:
        suffit.set_threads(None)


def copied(monkeypatch, feed, n):
    """How many numbers are laid out anew while n rows come one at a time."""
    total = 0
    spread = stats._spread

    def counted(a, dims, places, sizes):
        nonlocal total
        out = spread(a, dims, places, sizes)
        total += out.size
        return out

    with monkeypatch.context() as patch:
        patch.setattr(stats, "_spread", counted)
        feed(n)
    return total


def new_categories(n):
    X, y = np.column_stack([np.arange(n), np.arange(n) % 5]).astype(float), np.arange(n) % 3
    model = suffit.CategoricalNB().partial_fit(X[:10], y[:10])
    for i in range(10, n):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same(model, suffit.CategoricalNB().fit(X, y))


def new_patterns(n):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 9)), np.arange(n) % 2
    X[rng.random(X.shape) < 0.4] = np.nan
    X[::7] = 1.0 + 0.1 * rng.normal(size=X[::7].shape)  # complete rows between those with missing values
    model = suffit.QDA().partial_fit(X[:10], y[:10])
    for i in range(10, n):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model._model.stats.isclose(suffit.QDA().partial_fit(X, y)._model.stats, 1e-9)


@pytest.mark.parametrize("feed", [new_categories, new_patterns])
def test_rows_that_each_bring_something_new_take_no_longer_the_more_there_are(feed, monkeypatch):
    few, many = copied(monkeypatch, feed, 100), copied(monkeypatch, feed, 400)
    assert many < 8 * few  # 4 log 400 / log 100 = 5; copying all that is there for every row would be 16


def test_batches_that_bring_something_new_wait_beside_others_and_are_all_learned():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[10:30:3, 1] = np.nan
    y[40:] += np.arange(20) // 5  # new classes
    model = suffit.GaussianNB().fit(X[:10], y[:10])
    for i in range(10, 60):
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=[2.0] if i == 33 else None)
    assert_same(model, suffit.GaussianNB().fit(X, y, sample_weight=np.where(np.arange(60) == 33, 2.0, 1.0)), rtol=1e-10)
    model.partial_fit(X[:1], y[:1] + 50)
    assert 50 in model.classes_


def test_small_batches_are_checked_at_once_and_added_up_later():
    X, y = two_classes(300)
    model = suffit.GaussianNB().fit(X[:100], y[:100])
    for i in range(100, 300):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model._fit.batches.waiting.rows is not None
    with pytest.raises(suffit.InputError, match="infinity"):
        model.partial_fit([[np.inf, 0.0]], [0])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.zeros((1, 3)), np.array([0]))
    batch, label = np.zeros((1, 2)), np.array([0])
    model.partial_fit(batch, label).forget(batch, label)
    batch[:] = 99.0  # what was handed in may be used again
    assert_same(model, suffit.GaussianNB().fit(X, y), rtol=1e-11)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(X[:1], np.array([5]))  # a new class
    assert model.classes_.tolist() == [0, 1, 5]
