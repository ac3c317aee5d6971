"""Rows drawn by key: folds, samples, shares of classes."""

from __future__ import annotations

import time

import numpy as np
import pytest

from cases import mixed_table
from suffit.data.frame import read_frame
from suffit.data.rows import Rows
from suffit.tables.row_sample import LEAST_OF_CLASS, allotted, drawn, folds_of, keyed, reweighted, some_rows

Table = dict[str, np.ndarray]


def keys(X: Table, y: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, Rows]:
    rows = Rows.of(y, weights)
    return keyed(read_frame(X), X, rows).keys, rows


def test_keys_tell_rows_apart_and_equal_rows_have_equal_ones():
    X, y, weights = mixed_table(1, 300)
    found, _ = keys(X, y, weights)
    assert len(set(found.tolist())) == 300
    twice = np.repeat(np.arange(300), 2)
    again, rows = keys({name: cells[twice] for name, cells in X.items()}, y[twice])
    assert (again[::2] == again[1::2]).all()
    folds = folds_of(again, rows, 5)
    assert (folds[::2] == folds[1::2]).all()


def test_rows_that_exchange_the_ranks_of_two_columns_have_other_keys():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, 40), rng.integers(0, 4, 40) ** 2
    second[:2], first[:2] = (0, 9), (3, 0)
    X = {"first": np.unique(first, return_inverse=True)[1], "second": np.unique(second, return_inverse=True)[1]}
    found, _ = keys(X, np.array(["a", "a", *["b"] * 38]))
    assert found[0] != found[1]


def test_folds_hold_the_rows_of_every_class_in_turn():
    X, y, _ = mixed_table(2, 500)
    found, rows = keys(X, y)
    folds = folds_of(found, rows, 5)
    by_class = np.array([np.bincount(folds[rows.codes == c], minlength=5) for c in range(len(rows.classes))])
    assert (by_class.max(axis=1) - by_class.min(axis=1) <= 1).all()


@pytest.mark.parametrize("most", [10, 500, 2000])
def test_a_sample_has_enough_of_rare_classes(most: int):
    sizes = np.array([3, 150, 9847])
    wanted = allotted(sizes, most)
    assert wanted.sum() <= most
    assert (wanted <= sizes).all()
    assert (wanted >= np.minimum(sizes, min(LEAST_OF_CLASS, most // 6))).all()


def test_rows_drawn_by_key_are_as_many_as_wanted_even_of_many_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3000, 5000)
    found, rows = keys({"x": rng.normal(size=5000)}, y)
    assert len(drawn(found, rows, 500)) == len(set(drawn(found, rows, 500).tolist())) == 500
    assert len(some_rows(rows, 500)) == 500


def test_rows_drawn_by_place_are_spread_over_the_table():
    y = np.repeat([0, 1, 1, 1], 25_000)
    weights = (np.arange(100_000) % 10 < 9).astype(float)
    for rows in (Rows.of(y), Rows.of(y, weights)):
        found = some_rows(rows, 1000)
        assert 990 <= len(found) <= 1000
        assert (np.diff(found) > 0).all()
        assert (rows.part(0, 100_000)[1][found] > 0).all()
        assert np.bincount(found // 10_000, minlength=10).min() >= 90


def test_weights_give_every_class_its_share_again():
    rows = Rows.of(np.repeat(["a", "b"], [20, 180]))
    weights = reweighted(rows, np.array([1.0, 99.0]))
    assert weights.sum() == pytest.approx(200)
    assert weights[:20].sum() == pytest.approx(2)


def test_drawing_takes_a_time_that_grows_with_the_rows():
    def seconds(n: int) -> float:
        rows = Rows.of(np.arange(n) % 3)
        some_rows(rows, 1000)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            some_rows(rows, 20_000)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(4_000_000) < 0.2
