"""Every estimator: nothing before a fit, one class, draws."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from refusals import (
    CORE,
    X,
    Y,
    both_states,
    fitted,
    refused,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.mark.parametrize("name", CORE)
def test_nothing_works_before_a_fit(name):
    est = clone(CORE[name])
    calls = [
        *(lambda e, m=m: getattr(e, m)(X) for m in ("predict", "predict_proba", "predict_log_proba", "score_samples")),
        *(lambda e, m=m: getattr(e, m)(X, Y) for m in ("forget", "log_likelihood", "aic", "bic")),
        lambda e: e.sample(),
        lambda e: e.with_prior("uniform"),
        lambda e: e.merge(fitted(name)),
        lambda e: fitted(name).merge(e),
        lambda e: e.logistic_form(),
    ]
    for call in calls:
        refused(est, call, "not fitted", (NotFittedError, AttributeError))
    assert not hasattr(est, "classes_")


@pytest.mark.parametrize("name", CORE)
def test_one_class(name):
    y = np.repeat("only", 24)
    if name.startswith("QDA"):
        for est in both_states(name):
            refused(est, lambda e: e.fit(X, y), "number of classes has to be greater than one. Got 1 class")
        return
    est = fitted(name, y=y)
    assert est.predict(X).tolist() == y.tolist()
    assert (est.predict_proba(X) == 1).all()
    assert np.isfinite(est.score_samples(X)).all()


@pytest.mark.parametrize("name", ["GDA-tied", "LDA", "LDA-lsqr", "LDA-eigen", "LDA-estimator"])
def test_a_shared_covariance_needs_more_rows_than_classes(name):
    for est in both_states(name):
        refused(
            est,
            lambda e: e.fit(X[:3], ["a", "b", "c"]),
            "more than the number of classes.*n_samples=3, 3 classes",
        )


@pytest.mark.parametrize("name", CORE)
def test_bad_samples(name):
    est = both_states(name)[1]
    for n in (0, -1, 2.5, "two", None):
        refused(est, lambda e, n=n: e.sample(n), f"at least 1, got {n!r}")
    refused(est, lambda e: e.sample(2, y="zebra"), r"no class 'zebra'; the classes are \['a', 'b', 'c'\]")
    refused(est, lambda e: e.sample(3, y=["a", "b"]), "2 classes for n = 3 rows; give one class, or n of them")
    refused(est, lambda e: e.sample(1, y=[]), "0 classes for n = 1")
    refused(est, lambda e: e.sample(1, random_state="now"), "seed", ValueError)
    rows, labels = est.sample(5, y="b", random_state=0)
    assert labels.tolist() == ["b"] * 5
    assert rows.shape == (5, 3)
    assert not np.isnan(rows.astype(float)).any()
