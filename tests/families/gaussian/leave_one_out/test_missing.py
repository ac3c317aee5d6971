"""Joint columns with missing values: every row under nearly the sums of all the others; bins of other rows."""

from dataclasses import replace

import numpy as np
import pytest

from suffit import Model
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.families import MultivariateGaussian

JOINT = MultivariateGaussian(tie=1.0, shrinkage=0.1, missing="pairs")
NAMES = tuple("abcde")


def _table(share, n=150, seed=0, p=5, K=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, n).astype(np.int32)
    mixing = np.eye(p) + 0.3 * rng.normal(size=(p, p))
    X = rng.normal(size=(n, p)) @ mixing + codes[:, None] * rng.normal(size=p)
    X[rng.random(X.shape) < share] = np.nan
    return X, Rows(Index(tuple(range(K))), codes)


def _parts(X, rows):
    return JOINT.loo_with_missing(_pairs(JOINT.collect(X, rows)))(X, *rows.part(0, len(rows)))


def _pairs(stats):
    return stats if "pair_n" in stats.sums else stats.layout.coarser.turn(stats)


@pytest.mark.parametrize("tie", [1.0, 0.5, 0.0])
def test_without_missing_values_it_is_the_downdate(tie):
    X, rows = _table(0.0)
    exact = replace(JOINT, tie=tie).downdates(X, rows, JOINT.collect(X, rows))
    freedoms = (np.inf, 10.0)
    for freedom in freedoms:
        ours = _parts(X, rows).log_density(tie, 0.0, freedom)
        np.testing.assert_allclose(ours, exact.log_densities([0.0], freedom)[0], rtol=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_classes_that_a_row_is_not_of_score_it_as_they_are(share):
    X, rows = _table(share)
    X[3] = np.nan
    family = replace(JOINT, tie=0.0, shrinkage=0.2)
    scorer = family.scorer(family.collect(X, rows))
    found = _parts(X, rows).log_density(0.0, 0.2, np.inf)
    others = np.not_equal.outer(rows.codes, np.arange(3))
    np.testing.assert_allclose(found[others], scorer.scores(X)[others], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found[3], 0.0, atol=1e-9)


@pytest.mark.parametrize("tie", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_with_missing_values_it_is_nearly_what_refits_say(tie, share):
    X, rows = _table(share)
    family = replace(JOINT, tie=tie, shrinkage=0.1)
    at = np.arange(len(X))

    def odds(scores):
        return scores[at, rows.codes] - scores[at, (rows.codes + 1) % 3]

    refits = np.empty((len(X), 3))
    for i in at:
        model = Model.empty(family, NAMES).learn(X[at != i], rows.some(at[at != i]))
        refits[i] = model.solved(np.zeros(3)).scores(X[i : i + 1])[0]
    exact = odds(refits)
    ours = odds(_parts(X, rows).log_density(tie, 0.1, np.inf))
    plain = odds(family.scorer(family.collect(X, rows)).scores(X))
    assert abs((ours - exact).mean()) < 0.4 * abs((plain - exact).mean())
    assert np.median(abs(ours - exact)) < 0.2 * np.median(abs(plain - exact))
    assert np.square(ours - exact).mean() < 0.25 * np.square(plain - exact).mean()


def test_the_first_rows_alone_and_rows_in_any_order():
    X, rows = _table(0.3)
    whole = _parts(X, rows).log_density(0.5, 0.1, 10.0)
    of_rows = JOINT.loo_with_missing(_pairs(JOINT.collect(X, rows)))
    np.testing.assert_allclose(of_rows(X[:40], *rows.part(0, 40)).log_density(0.5, 0.1, 10.0), whole[:40], atol=1e-9)
    turned = np.random.default_rng(1).permutation(len(X))
    again = _parts(X[turned], rows.some(turned)).log_density(0.5, 0.1, 10.0)
    np.testing.assert_allclose(again, whole[turned], atol=1e-9)
