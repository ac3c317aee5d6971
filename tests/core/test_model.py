"""Sums that merge and forget: order of labels, digits, priors that stay."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import suffit
from cases import two_classes
from refusals import (
    BATCHED,
    CORE,
    X,
    Y,
    both_states,
    frame,
    refused,
)
from suffit import (
    InputError,
)


@pytest.mark.parametrize("name", CORE)
def test_forgetting_what_cannot_have_been_learned(name):
    est = both_states(name)[1]
    refused(est, lambda e: e.forget(X[:1], ["zebra"]), r"forget: class 'zebra' was never learned.*'a', 'b', 'c'")
    refused(
        est,
        lambda e: e.forget(np.r_[X, X[:8]], np.r_[Y, Y[:8]]),
        "forget: class 'a' has learned rows of weight 8",
    )
    refused(
        est,
        lambda e: e.forget(X[:8], Y[:8], sample_weight=np.full(8, 1.5)),
        "forget: class 'a'.*weight 8.*12",
    )
    refused(est, lambda e: e.forget(X, Y), "no rows would be left")


NEVER_LEARNED = {  # rows of class "a" that the sums of X cannot hold
    "BernoulliNB": ([[0, 0.9, 0.9]] * 4, [0.9, 0.9, 0.9]),
    "NaiveBayes-bernoulli": ([[-1, 0.9, 0.9]] * 4, [0.9, 0.9, 0.9]),
    "NaiveBayes-vonmises": ([[0.0, 0.0, 0.0]] * 4, [np.pi, 0.0, 0.0]),
    "NaiveBayes-beta": (X[:8], [1e-300, 0.5, 0.5]),
    "CategoricalNB": (X[:8], [7.0, X[0, 1], X[0, 2]]),
    **{
        k: (X[:8], [1e6, 0.5, 0.5])
        for k in BATCHED
        if "ernoulli" not in k and k not in ("NaiveBayes-vonmises", "NaiveBayes-beta", "CategoricalNB")
    },
}


@pytest.mark.parametrize("name", BATCHED)
def test_forgetting_rows_that_the_sums_cannot_hold(name):
    rows, never = NEVER_LEARNED[name]
    known = frame(np.r_[np.asarray(rows), X[8:]])
    y = np.r_[np.repeat("a", len(rows)), Y[8:]]
    est = clone(CORE[name]).fit(known, y)
    est._probe = known
    message = refused(est, lambda e: e.forget(frame([never]), ["a"]), "forget", InputError)
    if name in ("CategoricalNB", "MultinomialNB", "ComplementNB"):
        assert "'a'" in message, message
        assert "'one'" in message, message


@pytest.mark.parametrize(
    "labels",
    [[b"a", b"\xff"], [np.timedelta64(2, "D"), np.timedelta64(10, "D")], [9, 10], [(1, "b"), (1, "a")]],
    ids=["bytes", "timedelta", "int", "tuple"],
)
def test_merged_labels_come_in_the_order_of_one_fit(labels):
    y = np.empty(4, dtype=object)
    y[:] = [labels[0], labels[0], labels[1], labels[1]]
    X = np.arange(4.0)[:, None]
    parts = suffit.GaussianNB().partial_fit(X[2:], y[2:]) + suffit.GaussianNB().partial_fit(X[:2], y[:2])
    assert parts.classes_.tolist() == suffit.GaussianNB().fit(X, y).classes_.tolist()


def test_weights_priors_and_sums_of_one_model():
    X, y = two_classes(60)
    model = suffit.GaussianNB().fit(X, y)
    assert model.bic(X, y, 2.0) == model.bic(X, y, np.full(60, 2.0))
    unknown = np.r_[y, 7]
    weight = np.r_[np.ones(60), 0.0]
    assert model.log_likelihood(np.r_[X, [[0, 0]]], unknown, weight) == pytest.approx(model.log_likelihood(X, y))
    kept = model.with_prior([0.9, 0.1]).partial_fit(X, y)
    np.testing.assert_allclose(kept.class_prior_, [0.9, 0.1])
    np.testing.assert_allclose(kept.with_prior(None).class_prior_, [0.5, 0.5])
    assert sum([model]) is not model
    with pytest.raises(suffit.InputError, match="2 columns"):
        suffit.normal_logpdf([[1, 2, 3, 4]], [0, 0], np.eye(2))
    with pytest.raises(TypeError, match="alpha"):
        suffit.Gaussian(alpha=3.0)
