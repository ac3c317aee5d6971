"""Models that keep the same sums merge; others say why not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB as SklearnGaussianNB

import suffit
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
    GDA,
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    InputError,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    VonMises,
)

pytestmark = [  # few rows of a class
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def two(a, b, X_a=X, X_b=X):
    return clone(a).fit(X_a, Y), clone(b).fit(X_b, Y)


KEEP_DIFFERENT_SUMS = [
    (GaussianNB(), BernoulliNB()),
    (GaussianNB(), MultinomialNB()),
    (GaussianNB(), GDA()),
    (GaussianNB(), NaiveBayes("lognormal")),
    (MultinomialNB(), CategoricalNB()),
    (MultinomialNB(), PoissonNB()),
    (BernoulliNB(binarize=0.0), BernoulliNB(binarize=0.5)),
    (BernoulliNB(binarize=0.0), BernoulliNB(binarize=None)),
    (NaiveBayes("gamma"), NaiveBayes("beta")),
    (NaiveBayes(VonMises(period=24)), NaiveBayes(VonMises(period=12))),
    (LDA(), QDA()),
    (GDA(tie=1), GDA(tie=0)),
    (GDA(shrinkage="ledoit-wolf"), GDA(shrinkage="oas")),
]


@pytest.mark.parametrize(("first", "second"), KEEP_DIFFERENT_SUMS)
def test_models_with_different_sums_do_not_merge(first, second):
    a, b = two(first, second)
    for left, right in ((a, b), (b, a)):
        refused(left, lambda e, r=right: e.merge(r), "different sums and cannot be combined", InputError)
        refused(right, lambda e, s=left: s + e, "different sums and cannot be combined", InputError)


@pytest.mark.parametrize(
    ("first", "second"),
    [p for p in KEEP_DIFFERENT_SUMS if type(p[0]) is type(p[1])],
)
def test_settings_of_the_sums_may_not_change_between_batches(first, second):
    """Counts above one threshold plus counts above another are counts of nothing."""
    est = clone(first).fit(X, Y)
    est.set_params(**clone(second).get_params())
    refused(est, lambda e: e.partial_fit(X, Y))


@pytest.mark.parametrize("name", [k for k in BATCHED if k != "GenerativeClassifier"])  # it finds columns by name
def test_models_of_other_columns_do_not_merge(name):
    est = CORE[name]
    a, b = two(est, est, X, X[:, :2])
    for left, right in ((a, b), (b, a)):
        refused(left, lambda e, r=right: e.merge(r), "columns.*must match", InputError)
    a, b = two(est, est, frame(X), frame(X).rename(columns={"two": "zwei"}))
    refused(a, lambda e: e.merge(b), "columns differ.*two.*zwei.*must match", InputError)
    a, b = two(est, est, frame(X), frame(X)[["three", "two", "one"]])
    refused(a, lambda e: e + b, "columns differ.*in order", InputError)


@pytest.mark.parametrize("name", CORE)
def test_only_estimators_of_suffit_merge(name):
    est = both_states(name)[1]
    for other in (3, None, "model", SklearnGaussianNB().fit(X, Y)):
        match = f"merge takes fitted estimators of suffit, got {type(other).__name__}"
        refused(est, lambda e, o=other: e.merge(o), match)
        refused(est, lambda e, o=other: e + o, "unsupported operand", TypeError)


def test_tables_that_cannot_be_merged_name_the_column_and_the_way_out():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    halves = []
    for count in (rng.poisson(2, 200), rng.choice([0, 300, 900], 200) + rng.integers(0, 90, 200)):
        halves.append(pd.DataFrame({"size": rng.normal(size=200) + y, "rooms": count}))
    first, second = (suffit.GenerativeClassifier(structure="naive").fit(half, y) for half in halves)
    families = [next(c.family for c in m.schema_.choices if c.column == "rooms") for m in (first, second)]
    assert families[0] == "Poisson()"
    assert families[1].startswith("Gaussian")
    with pytest.raises(suffit.InputError) as refused:
        first + second
    assert "column 'rooms' is poisson in one and gaussian in the other" in str(refused.value)
    assert "GenerativeClassifier(columns=first.schema_)" in str(refused.value)
    both = first + suffit.GenerativeClassifier(columns=first.schema_).fit(halves[1], y)
    assert both.predict_proba(halves[1]).shape == (200, 2)


def test_tables_whose_blocks_differ_do_not_merge_and_the_way_out_is_named():
    rng = np.random.default_rng(0)
    y, joint = np.arange(200) % 2, suffit.MultivariateGaussian()
    X = pd.DataFrame(rng.normal(size=(200, 4)) + y[:, None], columns=list("abcd"))
    first = suffit.GenerativeClassifier({("a", "b"): joint, ("c", "d"): joint}).fit(X, y)
    second = suffit.GenerativeClassifier({("a", "c"): joint, ("b", "d"): joint}).fit(X, y)
    with pytest.raises(suffit.InputError, match=r"has 'b' in one model and 'c' in the other; .*first.schema_"):
        first + second
