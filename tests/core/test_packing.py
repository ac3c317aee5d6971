"""Pickles: sums in half the room or less, and every bit of them back."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pandas as pd
import pytest

import suffit
from every_estimator import X
from suffit import (
    GaussianNB,
)
from suffit.core.packing import packed, unpacked

RNG = np.random.default_rng(0)
M = RNG.normal(size=(3, 5, 5))
ARRAYS = {
    "symmetric": M + np.swapaxes(M, 1, 2),
    "not symmetric": M,
    "nearly symmetric": M + np.swapaxes(M, 1, 2) + 1e-16 * M,
    "whole": RNG.integers(0, 300, (4, 6)).astype(float),
    "whole and symmetric": np.ones((2, 4, 4)) * 70_000.0,
    "large": np.array([2.0**32, 0.0]),
    "huge": np.array([1e300]),
    "negative zero": np.array([0.0, -0.0, 3.0]),
    "negative": np.array([-1.0, 2.0]),
    "fractions late": np.concatenate([np.arange(500.0), [0.5]]),
    "odd": np.array([np.nan, np.inf, -np.inf, 5e-324]),
    "none": np.zeros((0, 3)),
    "no matrix": np.zeros((2, 0, 0)),
    "one by one": np.full((2, 1, 1), 0.3),
    "number": np.array(2.5),
    "same along an axis": np.broadcast_to(np.array([[3.0], [0.25]]), (2, 1000)),
    "repeats": RNG.choice(RNG.normal(size=50), (3, 100, 100)),
    "large, does not repeat": RNG.normal(size=20_000),
    "same along both axes": np.broadcast_to(np.array(0.5), (7, 7)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_comes_back_bit_by_bit(name):
    a = ARRAYS[name]
    b = unpacked(pickle.loads(pickle.dumps(packed(a))))
    assert a.shape == b.shape
    assert b.dtype == np.float64
    assert a.tobytes() == b.tobytes()


def test_what_can_be_derived_is_not_written():
    sizes = {name: len(pickle.dumps(packed(a).values)) for name, a in ARRAYS.items()}
    assert sizes.pop("repeats") < 0.3 * ARRAYS["repeats"].nbytes
    sizes = {name: packed(a).values.nbytes for name, a in ARRAYS.items() if name in sizes}
    assert sizes["symmetric"] == 3 * 15 * 8
    assert sizes["whole"] == 24 * 2
    assert sizes["same along an axis"] == 16
    assert sizes["whole and symmetric"] <= 2 * 10 * 4


def bits(model) -> list[bytes]:
    stats = model._model.stats
    return [a.tobytes() for part in getattr(stats, "parts", (stats,)) for a in part.sums.values()]


@pytest.mark.parametrize("missing", [False, True])
def test_a_joint_model_of_a_table_takes_half_the_room_of_its_sums_and_loads_the_same(missing):
    y = np.arange(200) % 4
    X = RNG.normal(size=(200, 40)) + 0.3 * y[:, None]
    if missing:
        X[RNG.random(X.shape) < 0.05] = np.nan
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(40)])
    joint = suffit.MultivariateGaussian(tie=1.0, shrinkage=0.3, missing="pairs")
    model = suffit.GenerativeClassifier(columns={tuple(table.columns): joint}).fit(table, y)
    written = pickle.dumps(model)
    again = pickle.loads(written)
    assert bits(again) == bits(model)
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    room = sum(map(len, bits(model)))
    assert len(written) < 0.6 * room + 10_000
    assert bits(again.partial_fit(table, y)) == bits(model.partial_fit(table, y))


def test_counts_of_words_take_one_byte_each():
    X = RNG.poisson(0.2, size=(50, 5000))
    for make in (suffit.MultinomialNB, suffit.BernoulliNB):
        model = make().fit(X, np.arange(50) % 2)
        written = pickle.dumps(model)
        assert bits(pickle.loads(written)) == bits(model)
        assert len(written) < 2 * 2 * 5000 + 4_000


def test_pickle_is_as_small_as_the_sums():
    """A pickle holds sums, no rows and no solution."""
    rng = np.random.default_rng(1)
    big = GaussianNB().fit(rng.normal(size=(20000, 4)), rng.integers(0, 3, 20000))
    big.predict(X)
    out = io.BytesIO()
    pickle.dump(big, out)
    assert out.tell() < 4000
