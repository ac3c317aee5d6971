"""Rows that leave-one-out must not take for strangers: copies, weights; and the only row of a class."""

from __future__ import annotations

import numpy as np
import pytest

from suffit import GenerativeClassifier, MultivariateGaussian
from suffit.data.frame import read_frame
from suffit.data.rows import Rows
from suffit.families.gaussian.leave_one_out.rescaled import RescaledLoo
from suffit.tables.evaluation import _scaled
from suffit.tables.row_sample import distinct, keyed
from suffit.tables.schema import BlockSpec, Coding

pytestmark = pytest.mark.filterwarnings("ignore::suffit.DataWarning")


def log_loss(model, X, y):
    at = np.searchsorted(model.classes_, y)
    return float(-np.log(model.predict_proba(X)[np.arange(len(y)), at]).mean())


def two_classes(n, p, signal, seed, share=0.5):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(2, p)) * signal
    y = (rng.random(n + 1000) < share).astype(int)
    X = means[y] + rng.normal(size=(n + 1000, p))
    return X[:n], y[:n], X[n:], y[n:]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weight", [2.0, 10.0])
def test_weights_of_all_rows_do_not_make_noise_look_like_knowledge(weight, seed):
    X, y, V, t = two_classes(60, 8, 0.0, seed)
    model = GenerativeClassifier().fit(X, y, sample_weight=np.full(60, weight))
    assert log_loss(model, V, t) < 1.1 * np.log(2) + 0.05
    assert model.selection_.loss > 0.6


@pytest.mark.parametrize("seed", range(3))
def test_a_rare_class_drawn_again_and_again_is_not_remembered_row_by_row(seed):
    X, y, V, t = two_classes(400, 8, 0.3, seed, share=0.15)
    rng = np.random.default_rng(seed)
    again = np.concatenate([np.flatnonzero(y == 0), rng.choice(np.flatnonzero(y == 1), (y == 0).sum())])
    model = GenerativeClassifier().fit(X[again], y[again])
    some = np.concatenate([np.flatnonzero(t == 1), np.flatnonzero(t == 0)[: (t == 1).sum()]])  # as many of each
    loss = log_loss(model, V[some], t[some])
    assert loss < 1.1 * np.log(2) + 0.05
    assert loss < 1.5 * model.selection_.loss + 0.15


def test_every_row_twice_is_every_row_with_weight_2():
    X, y, V, _ = two_classes(100, 4, 0.5, 0)
    twice = GenerativeClassifier().fit(np.concatenate([X, X]), np.concatenate([y, y]))
    weighted = GenerativeClassifier().fit(X, y, sample_weight=np.full(100, 2.0))
    np.testing.assert_allclose(twice.predict_proba(V), weighted.predict_proba(V), atol=1e-9)
    assert twice.selection_.loss == pytest.approx(weighted.selection_.loss, rel=1e-9)


def found_in(table, y, weights=None):
    frame, rows = read_frame(table), Rows.of(np.asarray(y), weights)
    return distinct(keyed(frame, list(frame.columns), rows), rows)


def test_rows_that_chance_makes_equal_are_strangers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    colour, size = rng.choice(["red", "green"], 500), rng.integers(0, 4, 500)
    coarse = rng.normal(size=500).round(1)
    assert found_in({"colour": colour, "size": size}, y) is None
    assert found_in({"x": coarse}, y) is None
    assert found_in({"colour": colour}, y, np.full(500, 3.0)) is None
    assert found_in({"x": rng.normal(size=500)}, y) is None


def test_copies_are_found_among_rows_that_vary_and_add_their_weights():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50), np.arange(50) % 2
    again = np.concatenate([np.arange(50), np.arange(10)])
    first, rows = found_in({"x": x[again], "colour": np.array(["a", "b"])[y[again]]}, y[again])
    assert first.tolist() == list(range(50))
    assert rows.weights.tolist() == [2.0] * 10 + [1.0] * 40
    gaps = {"x": np.where(x > 1, np.nan, x)[again], "z": rng.normal(size=50)[again]}
    assert found_in(gaps, y[again])[1].weights.tolist() == [2.0] * 10 + [1.0] * 40


@pytest.mark.parametrize("n", [20, 200])
def test_a_class_of_one_row_beside_another_class_is_known_by_its_columns(n):
    rng = np.random.default_rng(0)
    y = np.array(["a"] * (n - 1) + ["b"])
    table = {"t": np.where(y == "b", "yes", "no"), "x": rng.normal(size=n) + 20 * (y == "b")}
    model = GenerativeClassifier().fit(table, y)
    assert model.predict_proba({"t": ["yes"], "x": [20.3]})[0, 1] > 0.5
    assert model.predict_proba({"t": ["no"], "x": [0.1]})[0, 1] < 1 / n + 0.05
    entropy = -((n - 1) / n * np.log((n - 1) / n) + np.log(1 / n) / n)
    assert model.selection_.loss > entropy  # of the only row of b nothing can be promised


def test_ten_classes_of_two_rows_of_noise_are_not_told_apart():
    worse = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y, X = rng.integers(0, 10, 20), rng.normal(size=(20, 10))
        t, V = rng.integers(0, 10, 300), rng.normal(size=(300, 10))
        known = np.isin(t, y)
        model = GenerativeClassifier().fit(X, y)
        shares = np.bincount(y, minlength=10)[t[known]] / 20
        worse += log_loss(model, V[known], t[known]) > 1.1 * -np.log(shares).mean() + 0.05
    assert worse <= 1


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("tie", "shrinkage", "freedom"), [(0.0, 0.25, np.inf), (1.0, 0.1, 10.0), (0.3, 0.8, 10.0)])
def test_units_of_joint_columns_are_those_of_the_other_rows(tie, shrinkage, freedom, weighted):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 5)) * 10.0 ** np.arange(-2, 3) + 100.0, np.arange(24) % 4
    X[:, 4] = np.where(y == 0, 7.0, X[:, 4])  # a class that does not vary
    weights = rng.uniform(0.5, 1.0, 24) if weighted else np.ones(24)
    rows = Rows.of(y, weights)
    names = tuple("abcde")
    spec = BlockSpec(MultivariateGaussian(tie=1.0, shrinkage=0.1, missing="pairs"), names, "codings", (Coding(),) * 5)
    stats = spec.family.collect(X, rows)
    found = RescaledLoo(stats, X, *rows.part(0, 24)).log_density(tie, shrinkage, freedom)
    for i in (0, 5, 23):
        rest = np.delete(np.arange(24), i)
        others = rows.some(rest)
        own, sums, scale = _scaled(spec, spec.family.collect(X[rest], others))
        family = MultivariateGaussian(tie=tie, shrinkage=shrinkage, freedom=freedom, prior=own.family.prior)
        scorer, z = family.scorer(sums), X[i : i + 1] / scale
        expected = (scorer.scores(z) + scorer.log_base(z)[:, None])[0] - np.log(scale).sum()
        np.testing.assert_allclose(found[i], expected, rtol=1e-8, atol=1e-8)
