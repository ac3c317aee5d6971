"""Things that went wrong once: each with the smallest example that showed it."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import threading
import tracemalloc
import warnings
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import discriminant_analysis
from sklearn.base import clone
from sklearn.metrics import make_scorer

import suffit
from cases import assert_same
from suffit import SingularClassWarning
from suffit.data.rows import encode


def two_classes(n: int = 2000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + y[:, None], y


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, suffit.QDA, suffit.GDA])
@pytest.mark.parametrize("glitch", [1e4, 1e6])
def test_a_far_first_row_that_is_forgotten_leaves_a_good_model(make, glitch):
    X, y = two_classes()
    far = np.full((1, 2), glitch)
    model = make().partial_fit(far, [0]).partial_fit(X[:100], y[:100]).forget(far, [0]).partial_fit(X[100:], y[100:])
    np.testing.assert_allclose(model.predict_proba(X), make().fit(X, y).predict_proba(X), atol=1e-3)


def test_forgetting_far_larger_rows_is_said_to_cost_digits():
    X, y = two_classes(100)
    model = suffit.GaussianNB().fit(np.r_[X, [[1e9, 1e9]]], np.r_[y, 0])
    with pytest.warns(SingularClassWarning, match="few digits"):
        model.forget([[1e9, 1e9]], [0])


def test_a_far_first_row_does_not_set_the_origin_for_good():
    X, y = two_classes()
    X[0] = 1e9
    model = suffit.GaussianNB().partial_fit(X[:1], y[:1])
    for a in range(1, 2000, 100):
        model.partial_fit(X[a : a + 100], y[a : a + 100])
    assert np.abs(model._model.stats.origin).max() < 1e7
    assert_same(model, suffit.GaussianNB().fit(X, y), rtol=1e-11)


@pytest.mark.parametrize(
    "model",
    [
        suffit.BernoulliNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1]),
        suffit.MultinomialNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 3]], [0, 0, 1, 1]),
        suffit.CategoricalNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1]),
        suffit.PoissonNB(alpha=0).fit([[1, 0], [1, 1], [0, 1], [0, 1]], [0, 0, 1, 1]),
    ],
    ids=lambda m: type(m).__name__,
)
def test_the_logistic_form_takes_the_limit_where_smoothing_is_0(model):
    X = np.array([[1, 1], [0, 0], [1, 0], [0, 1]])
    form = model.logistic_form()
    np.testing.assert_allclose(np.exp(form.predict_log_proba(X)), model.predict_proba(X), atol=1e-12)
    np.testing.assert_allclose(form.pair(1, 0).probability(X), model.predict_proba(X)[:, 1], atol=1e-12)


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


def test_a_reader_never_sees_half_a_change():
    """predict_proba and classes_ of one estimator agree while another thread teaches it new classes."""
    rng = np.random.default_rng(0)
    model = suffit.GaussianNB().fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    stop, wrong = threading.Event(), []

    def read():
        x = rng.normal(size=(5, 3))
        while not stop.is_set():
            fitted = model._fitted
            if fitted.solution.posterior(x).shape[1] != len(fitted.classes):
                wrong.append("width")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for c in range(2, 40):
        model.partial_fit(rng.normal(size=(3, 3)), np.full(3, c))
        model.predict(rng.normal(size=(2, 3)))
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert model.predict_proba(rng.normal(size=(1, 3))).shape == (1, 40)


def test_lda_directions_exist_beside_a_constant_column():
    X, y = two_classes(100)
    X = np.c_[X, np.full(100, 3.0)]
    for solver in ("svd", "eigen"):
        lda = suffit.LDA(solver=solver).fit(X, y)
        assert lda.transform(X).shape == (100, 1)
        assert lda.explained_variance_ratio_.round(9).tolist() == [1.0]
        assert lda.get_feature_names_out().tolist() == ["lineardiscriminantanalysis0"]


@pytest.mark.parametrize("make", [suffit.LDA, suffit.QDA, suffit.GDA])
def test_samples_keep_columns_of_very_different_scale(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [1e-9, 1e9]
    drawn, _ = make().fit(X, np.arange(400) % 2).sample(4000, random_state=0)
    np.testing.assert_allclose(drawn.std(axis=0), X.std(axis=0), rtol=0.1)


def test_forgetting_a_huge_count_keeps_the_small_ones():
    model = suffit.MultinomialNB().fit([[1, 10**10], [1, 1], [3, 1]], ["a", "b", "a"])
    assert model.forget([[1, 10**10]], ["a"]).feature_count_.tolist() == [[3, 1], [1, 1]]
    heavy = suffit.GaussianNB().fit([[1.0], [2.0], [5.0]], ["a", "a", "b"], sample_weight=[1, 1e10, 1])
    assert heavy.forget([[2.0]], ["a"], sample_weight=[1e10]).classes_.tolist() == ["a", "b"]


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


def test_small_things():
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


def test_far_points_have_larger_decisions_further_out():
    X, y = two_classes(100)
    lda = suffit.LDA().fit(X, y)
    near, far = lda.decision_function([[1e300, 0], [1e307, 0]])
    assert far > near > 1e299


def test_sequences_can_be_drawn_and_read_again():
    model = suffit.MultinomialNB(input="sequences").fit([[0, 0, 1], [2, 1], [2, 2, 2, 3]], ["ham", "spam", "spam"])
    documents, labels = model.sample(5, y="spam", random_state=0)
    assert model.predict_proba(documents).shape == (5, 2)
    assert labels.tolist() == ["spam"] * 5


def test_threads_can_be_set_while_others_fit():
    X, y = two_classes(200_000)
    errors = []

    def fit():
        try:
            for _ in range(20):
                suffit.GaussianNB().fit(X, y)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=fit)
    thread.start()
    for n in range(60):
        suffit.set_threads(1 + n % 3)
    thread.join()
    suffit.set_threads(None)
    assert not errors


def test_small_batches_are_checked_at_once_and_added_up_later():
    X, y = two_classes(300)
    model = suffit.GaussianNB().fit(X[:100], y[:100])
    for i in range(100, 300):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
    assert model._pending is not None
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


def test_the_row_scorer_agrees_with_predict_proba():
    X, y = two_classes(200)
    counts = np.abs(np.round(X * 3))
    for model, rows in (
        (suffit.GaussianNB(), X),
        (suffit.LDA(), X),
        (suffit.QDA(), X),
        (suffit.MultinomialNB(), counts),
        (suffit.PoissonNB(), counts),
    ):
        score = model.fit(rows, y).scorer()
        np.testing.assert_allclose([score(row) for row in rows[:20]], model.predict_proba(rows[:20]), atol=1e-12)
    missing = X[:3].copy()
    missing[0, 1] = np.nan
    gaussian = suffit.GaussianNB().fit(X, y)
    np.testing.assert_allclose(gaussian.scorer()(missing[0]), gaussian.predict_proba(missing)[0], atol=1e-12)


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, suffit.PoissonNB])
def test_a_bad_cell_deep_in_the_data_is_named_by_its_row(make):
    """Densities go through the rows in slices; the number of the row is that of the whole."""
    X, y = two_classes(140_000)
    X = np.abs(X)
    model = make().fit(X, y)
    X[135_000, 1] = np.inf
    for call in (model.predict, model.predict_proba, model.score_samples, lambda x: model.log_likelihood(x, y)):
        with pytest.raises(suffit.InputError, match=r"'x1'.*row 135000"):
            call(X)


def test_a_ridge_counts_a_constant_column_in_the_density():
    X, y = two_classes(60)
    X = np.c_[X, np.full(60, 3.0)]
    qda = suffit.QDA(reg_param=0.2, store_covariance=True).fit(X, y)
    expected = [
        suffit.normal_logpdf(X, mean, cov) + np.log(prior)
        for mean, cov, prior in zip(qda.means_, qda.covariance_, qda.priors_, strict=True)
    ]
    np.testing.assert_allclose(qda.predict_joint_log_proba(X), np.transpose(expected), rtol=1e-10)


def test_settings_changed_before_a_forget_hold_for_the_next_batch():
    """Forgetting took the new settings for those of the model, and the next batch came under the old ones."""
    X, y = two_classes(60)
    model = suffit.GDA().fit(X, y).set_params(tie=0.5).forget(X[:3], y[:3]).partial_fit(X[:3], y[:3])
    assert_same(model, suffit.GDA(tie=0.5).fit(X, y), rtol=1e-10)


def test_every_fit_chooses_its_settings_anew():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 3)) + 0.8 * y[:, None]
    z = rng.integers(0, 3, 150)
    Z = rng.normal(size=(150, 3)) * np.array([0.3, 1.0, 3.0])[z][:, None]
    for make in (
        lambda: suffit.GDA("auto", tie="loo"),
        lambda: suffit.GDA(tie="loo", shrinkage="loo"),
        lambda: suffit.LDA(solver="lsqr", shrinkage="loo"),
    ):
        np.testing.assert_array_equal(make().fit(X, y).fit(Z, z).predict_proba(Z), make().fit(Z, z).predict_proba(Z))


def test_rows_that_are_looked_at_are_of_all_classes():
    rows = suffit.data.rows.Rows(suffit.Index.range(2), np.arange(10_000, dtype=np.int32) % 2)
    assert np.bincount(rows.codes[rows.with_positive_weight(5000)]).tolist() == [2500, 2500]


def test_cross_val_trains_on_what_a_split_says():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) + 0.8 * y[:, None]
    train, test = np.arange(20), np.arange(100, 150)
    found = suffit.GaussianNB().cross_val(X, y, cv=[(train, test)])
    expected = suffit.GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
    np.testing.assert_allclose(found.proba[test], expected, atol=1e-9)
    assert np.isnan(found.proba[:100]).all()
    with pytest.raises(ValueError, match="tests row 100 more than once"):
        suffit.GaussianNB().cross_val(X, y, cv=[(train, test), (train, test)])
    with pytest.raises(ValueError, match="without rows to train on"):
        suffit.GaussianNB().cross_val(X, y, cv=[(np.arange(0), test)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "make",
    [
        suffit.GaussianNB,
        suffit.LDA,
        suffit.QDA,
        lambda: suffit.GDA("diagonal", tie=1.0),
        lambda: suffit.GDA(tie=0.5),
        lambda: suffit.GDA(shrinkage="ledoit-wolf"),
    ],
)
@pytest.mark.parametrize("n", [40, 90, 130, 200])
def test_a_column_that_only_one_row_has(make, n):
    """Without that row the column is constant: left out or forgotten, the model is that of the others."""
    rng = np.random.default_rng(n)
    y = rng.integers(0, 2, n)
    X = np.c_[rng.normal(size=(n, 2)) + y[:, None], np.arange(n) == 3]
    rest = np.arange(n) != 3
    model, others = make().fit(X, y), make().fit(X[rest], y[rest])
    np.testing.assert_allclose(model.loo_predict_proba(X, y)[3], others.predict_proba(X[3:4])[0], atol=1e-9)
    model.forget(X[3:4], y[3:4])
    np.testing.assert_allclose(model.predict_proba(X[rest]), others.predict_proba(X[rest]), atol=1e-9)


def test_a_column_that_only_one_row_has_does_not_decide_the_covariance():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 150)
    X = rng.normal(size=(150, 4)) @ rng.normal(size=(4, 4)) + y[:, None]
    odd = np.c_[X, np.arange(150) == 7]
    assert suffit.GDA(tie="loo").fit(odd, y).selection_.taken.loss < 1
    without, beside = (suffit.GDA("auto", tie=1.0).fit(Z, y).selection_.taken for Z in (X, odd))
    assert beside.settings == without.settings


def test_isotonic_maps_under_another_prior():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 3)) + 0.8 * y[:, None]
    model = suffit.GaussianNB(calibrate="isotonic").fit(X, y).with_prior([0.9, 0.1])
    np.testing.assert_allclose(model.scorer()(X[0]), model.predict_proba(X[:1])[0], atol=1e-12)
    never = suffit.GaussianNB(priors=[0, 1], calibrate="isotonic").fit(X, y)
    np.testing.assert_array_equal(never.predict_proba(X), np.repeat([[0.0, 1.0]], 300, axis=0))
    with pytest.raises(ValueError, match="isotonic"):
        suffit.GDA(tie=1.0, calibrate="isotonic").fit(X, y).to_sklearn()


def test_weights_that_are_shares_count_as_rows():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 3)) + 0.8 * y[:, None]
    shares = np.full(200, 1 / 200)
    for make in (lambda: suffit.GaussianNB(calibrate="temperature"), lambda: suffit.GaussianNB(calibrate="isotonic")):
        plain, weighed = make().fit(X, y), make().fit(X, y, sample_weight=shares)
        np.testing.assert_allclose(weighed.predict_proba(X), plain.predict_proba(X), atol=1e-9)
    table = suffit.GenerativeClassifier().fit(X, y)
    weighed = suffit.GenerativeClassifier().fit(X, y, sample_weight=shares)
    np.testing.assert_allclose(weighed.predict_proba(X), table.predict_proba(X), atol=1e-5)


def test_the_joint_density_of_a_pool_left_out_is_that_of_a_refit():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 60)
    X = rng.gamma(2.0, 1.0, size=(60, 3)) + 0.8 * y[:, None]
    model = suffit.GenerativeClassifier().fit(X, y)
    rest = np.arange(60) != 4
    others = suffit.GenerativeClassifier(columns=model.schema_).fit(X[rest], y[rest])
    np.testing.assert_allclose(model.loo_log_joint(X, y)[4], others.predict_joint_log_proba(X[4:5])[0], rtol=1e-9)


UNSUITABLE = [[1, 2], ["?"], [], {"a": 1}, {1}, np.array([1, 2]), np.array(5), np.nan, np.datetime64("NaT"), pd.NA]


@pytest.mark.parametrize("label", UNSUITABLE, ids=repr)
def test_what_cannot_be_a_label_of_rejected_rows_is_refused(label):
    X, y = two_classes(40)
    for decide in (
        lambda: suffit.GaussianNB().fit(X, y).decide(X, reject=0.3, reject_label=label),
        lambda: suffit.Decision(suffit.GaussianNB(), reject=0.3, reject_label=label).fit(X, y),
        lambda: suffit.mean_cost([0, 1], [0, 1], reject=0.3, reject_label=label),
    ):
        with pytest.raises(ValueError, match="reject_label="):
            decide()


def test_a_tuple_may_be_the_label_of_rejected_rows():
    X, y = two_classes(40)
    decided = suffit.GaussianNB().fit(X, y).decide(X, reject=0.3, reject_label=("see", 1))
    assert decided.rejected.any()
    assert [label == ("see", 1) for label in decided.labels] == decided.rejected.tolist()


@pytest.mark.parametrize("settings", [{"novelty": 0.5}, {"threshold": {0: 0.9, 1: 0.9}}], ids=["novelty", "threshold"])
def test_a_score_of_rows_rejected_at_no_price_says_so(settings):
    X, y = two_classes(40)
    model = suffit.Decision(suffit.GaussianNB(), reject_label=-1, **settings).fit(X, y)
    rejected, (name,) = int(model.decide(X).rejected.sum()), settings
    with pytest.raises(ValueError, match=f"Decision.score: {name} rejects {rejected} of 40 rows.*reject_label=-1") as e:
        model.score(X, y)
    assert ("set reject" in str(e.value)) == (name == "novelty")  # thresholds and reject exclude each other
    score = make_scorer(suffit.mean_cost, greater_is_better=False, reject=0.5, reject_label=-1)
    decided = model.predict(X)
    assert score(model, X, y) == pytest.approx(-np.where(decided == -1, 0.5, decided != y).mean())


def test_what_is_unknown_is_settled_by_fit():
    table, y = {"s": ["a", "b"] * 20}, np.repeat([0, 1], 20)
    model = suffit.GenerativeClassifier().fit(table, y)
    before = model.predict_proba({"s": ["c"]})
    model.set_params(unknown="error")
    np.testing.assert_array_equal(model.predict_proba({"s": ["c"]}), before)  # as in scikit-learn, until the next fit
    with pytest.raises(suffit.InputError, match=r"unknown has changed from 'ignore' to 'error'.*use fit"):
        model.partial_fit(table, y)
    np.testing.assert_array_equal(model.predict_proba({"s": ["c"]}), before)
    with pytest.raises(suffit.InputError, match="a category never seen"):
        model.fit(table, y).predict_proba({"s": ["c"]})


def test_assumptions_name_the_columns_that_are_constant_or_repeat_others():
    rng, y = np.random.default_rng(0), np.arange(80) % 2
    a, b = rng.normal(size=(2, 80)) + y
    found = suffit.check_assumptions({"a": a, "b": b, "c": 2 * a, "k": [3] * 80, "yes": y, "n": [None] * 80}, y)
    assert "not looked at: k (constant), yes (two values), n (no value)" in repr(found)
    assert found.why_no_covariances == "a and c repeat each other in class 0"
    assert found.may_warn_for.startswith(
        "linear or shrunk discriminant analysis: columns correlated, and a and c repeat"
    )
    assert "few rows" not in found.may_warn_for
    found = suffit.check_assumptions({"a": a, "b": b, "sum": a + b, "other": rng.normal(size=80)}, y)
    assert found.why_no_covariances == "a, b, sum determine each other in class 0"
    found = suffit.check_assumptions({"a": a, "b": np.where(y == 1, 7.5, b)}, y)
    assert found.why_no_covariances == "b is constant in class 1"
    found = suffit.check_assumptions({"a": a, **{f"w{i}": ["x"] * 80 for i in range(10)}}, y)
    assert repr(found).count("(no numbers)") == 8
    assert "w7 (no numbers) and 2 more" in repr(found)


def test_the_selection_shows_columns_and_structures():
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 60)
    a = rng.normal(y)
    table = {"a": a, "again": a, "b": rng.normal(y)}
    both = suffit.GenerativeClassifier(select="loo").fit(table, y)
    steps = suffit.GenerativeClassifier(select="loo", structure="naive").fit(table, y).selection_
    assert both.selection_.columns == steps
    assert repr(both.selection_).startswith(repr(steps))
    assert "pool: " in repr(both.selection_)
    alone = suffit.GenerativeClassifier().fit(table, y).selection_
    assert alone.columns is None
    assert repr(alone).startswith("structure")


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
    for make in (suffit.MultinomialNB, suffit.BernoulliNB, suffit.ComplementNB, suffit.PoissonNB, suffit.GaussianNB):
        plain = make().fit(X, y)
        for other in (shuffled, halves):
            model = make().fit(other.copy(), y)
            np.testing.assert_allclose(model.predict_proba(other.copy()), plain.predict_proba(X), rtol=1e-9)
    assert not shuffled.has_sorted_indices


@pytest.mark.parametrize("late", [[7], [-3], [1], [2**40], []])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8])
def test_labels_that_come_late_are_labels_too(late, dtype):
    """The first rows have 0 and 2 alone; others, between, beside and far from them, come thousands of rows later."""
    if any(not np.iinfo(dtype).min <= v <= np.iinfo(dtype).max for v in late):
        pytest.skip("no such label of this type")
    y = np.tile(np.array([0, 2]), 5000).astype(dtype)
    y[9000 : 9000 + len(late)] = late
    labels, codes, counts = encode(y)
    values, inverse, rows = np.unique(y, return_inverse=True, return_counts=True)
    assert labels == values.tolist()
    np.testing.assert_array_equal(codes, inverse)
    np.testing.assert_array_equal(counts, rows)


def test_a_column_with_values_only_where_nothing_weighs_is_left_out():
    x = np.full(40, np.nan)
    x[:3] = 1.5
    table = {"x": x, "z": np.random.default_rng(0).normal(size=40)}
    with pytest.warns(suffit.DroppedColumnWarning, match="'x': no value is there"):
        suffit.GenerativeClassifier().fit(table, np.arange(40) % 2, sample_weight=(np.arange(40) >= 3).astype(float))


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_class_far_away_leaves_the_choice_between_the_others(missing):
    """Settings are compared in single precision, which must not be that of the distance between classes."""

    def table(far):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 3, 400)
        X = rng.normal(size=(400, 3)) @ np.array([[1, 0.95, 0], [0, 0.31, 0], [0, 0, 1]])
        X[:, 0] += 0.5 * (y == 1)
        X[:, 1] -= 0.5 * (y == 1)
        X[y == 2] += far
        X[rng.random(X.shape) < missing] = np.nan
        return X, y

    near, far = (suffit.GenerativeClassifier().fit(*table(off)).selection_ for off in (1e3, 1e8))
    tried = [[(t.name, t.settings) for t in one.tried if "joint" in t.name] for one in (near, far)]
    assert tried[0] == tried[1]
    losses = [[t.loss for t in one.tried if "joint" in t.name] for one in (near, far)]
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)
    np.testing.assert_allclose(far.loo_loss, near.loo_loss, rtol=1e-3)


@pytest.mark.parametrize("seed", [7, 10])
def test_wild_scores_of_one_structure_do_not_spoil_the_pool(seed):
    """-9999 for missing: a pool is no worse than the best of its members alone."""
    rng, other = np.random.default_rng(seed), np.random.default_rng(100 + seed)
    K, p = 4, 6
    A, M = rng.normal(size=(K, p, p)) * 0.5 + np.eye(p), rng.normal(size=(K, p))
    y = other.integers(0, K, 150)
    X = np.einsum("ni,nij->nj", other.normal(size=(150, p)), A[y]) + M[y]
    X[other.random(X.shape) < 0.02] = -9999
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = suffit.GenerativeClassifier().fit(X, y).selection_
    assert found.loo_loss <= min(t.loss for t in found.tried) + 5e-3


def test_a_row_without_weight_may_hold_anything_finite():
    X = np.random.default_rng(0).normal(size=(50, 2))
    y, weight = np.arange(50) % 2, np.ones(50)
    X[3], weight[3] = 1e200, 0.0
    rest = np.arange(50) != 3
    model, without = suffit.GaussianNB().fit(X, y, sample_weight=weight), suffit.GaussianNB().fit(X[rest], y[rest])
    np.testing.assert_allclose(model.predict_proba(X[rest]), without.predict_proba(X[rest]), atol=1e-12)


def test_exceptions_that_are_rare_are_told_from_as_many_rows_as_that_takes():
    """Well-separated classes: 500 rows cannot tell an outlier rate of 1 in 1,000 from none."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 4, 7000)
    means, mix = rng.normal(size=(4, 10)), rng.normal(size=(10, 10)) / np.sqrt(10) + np.eye(10)
    X = rng.normal(size=(7000, 10)) @ mix + means[y]
    model = suffit.GenerativeClassifier().fit(X[:5000], y[:5000])
    assert model.selection_.outlier_rate < 5e-4
    assert -np.log(model.predict_proba(X[5000:])[np.arange(2000), y[5000:]]).mean() < 1e-3


def test_empty_words_are_one_level_whatever_the_processor():
    """A shift by all bits of a number is anything: right on some processors, wrong on others."""
    code = """
import numpy as np
from suffit.kernels.words import code_words
words = ["", "abc", "", "defghijk", "", "zz", "", "q", "mnopqrstuvwxyz", "", ""]
letters = np.frombuffer("".join(words).encode() + bytes(16), np.uint8)
starts = np.cumsum([0, *map(len, words)])
codes, firsts = np.empty(len(words), np.int32), np.empty(64, np.int64)
letters.flags.writeable = starts.flags.writeable = False
code_words(letters, starts, np.zeros(0, np.uint8), 0, codes, firsts)
print(codes.tolist())
"""
    plain = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    for others in ({}, plain):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, **others, "NUMBA_CACHE_DIR": cache}
            told = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
        assert told.stdout.strip() == "[0, 1, 0, 2, 0, 3, 0, 4, 5, 0, 0]"


def test_leaving_out_counts_of_many_classes_takes_little_room():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 49, (5000, 20)), rng.integers(0, 50, 5000)
    model = suffit.PoissonNB().fit(X, y)
    model.loo_predict_proba(X[:50], y[:50])
    tracemalloc.start()
    try:
        model.loo_predict_proba(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30e6  # bytes; the answer has 2 MB, a table of all values of all classes would have 40


def test_the_trial_of_a_calibration_can_be_shown_after_pickling():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    model = suffit.GaussianNB(calibrate="temperature").fit(rng.normal(size=(200, 3)) + y[:, None], y)
    assert "Trial" in repr(pickle.loads(pickle.dumps(model)).calibration_.trial)


@pytest.mark.parametrize("base", [suffit.Poisson, suffit.Categorical, suffit.Binned, suffit.MultivariateGaussian])
def test_a_family_of_ones_own_is_settled_in_a_table_too(base):
    settled = []

    @dataclass(frozen=True)
    class Mine(base):
        key: ClassVar[str] = "mine"

        def tuned(self, X, rows, columns):
            settled.append(columns)
            return super().tuned(X, rows, columns)

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.poisson(2, 300), "b": rng.normal(size=300)})
    y = rng.integers(0, 2, 300)
    suffit.GenerativeClassifier(columns={"a": Mine()}, structure="naive").fit(frame, y)
    assert settled


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("make", [suffit.BernoulliNB, suffit.GaussianNB, suffit.LDA, suffit.QDA])
def test_infinities_of_both_signs_are_refused_without_a_warning(make, form):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 4)), rng.integers(0, 3, 500)
    model = make().fit(form(X), y)
    X[12, 1], X[40, 2] = np.inf, -np.inf
    X = form(X)
    for call in (model.predict, model.predict_proba, model.score_samples, lambda X: make().fit(X, y)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="row 12"):
                call(X)


@pytest.mark.parametrize("make", [suffit.GaussianNB, suffit.LDA, suffit.QDA, suffit.MultinomialNB])
def test_of_two_infinities_the_first_is_named(make):
    rng = np.random.default_rng(0)
    X, y = rng.random((150_000, 4)), rng.integers(0, 3, 150_000)
    model = make().fit(X, y)
    X[70_123, 1] = X[140_001, 2] = np.inf
    for call in (model.predict, model.predict_proba, model.predict_log_proba, model.score_samples):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the error says it all
            with pytest.raises(ValueError, match="row 70123"):
                call(X)


NUMERIC = [
    suffit.LDA,
    suffit.QDA,
    suffit.GDA,
    suffit.GaussianNB,
    suffit.BernoulliNB,
    suffit.PoissonNB,
    suffit.MultinomialNB,
    suffit.ComplementNB,
    suffit.NaiveBayes,
]


@pytest.mark.parametrize(
    "objects",
    [
        lambda X: [[None if v != v else v for v in row] for row in X.tolist()],
        lambda X: np.where(np.isnan(X), None, X),
        lambda X: np.where(np.isnan(X), pd.NA, X.astype(object)),
        lambda X: pd.DataFrame(np.where(np.isnan(X), pd.NA, X.astype(object)), columns=["a", "b"]),
        lambda X: np.ma.masked_array(np.nan_to_num(X), np.isnan(X)),
    ],
    ids=["list", "None", "NA", "frame", "masked"],
)
@pytest.mark.parametrize("make", NUMERIC)
def test_missing_objects_are_missing_on_every_path(make, objects):
    X = np.random.default_rng(0).integers(0, 5, (60, 2)).astype(float)
    X[[3, 8], [1, 0]] = np.nan
    y = np.arange(60) % 2
    more = X[:12] + 1.0
    given, batch = objects(X), objects(more)
    model, plain = make().fit(given, y), make().fit(X, y)
    for step in ("partial_fit", "forget"):
        np.testing.assert_array_equal(model.predict_proba(given), plain.predict_proba(X))
        np.testing.assert_array_equal(model.score_samples(batch), plain.score_samples(more))
        getattr(model, step)(batch, y[:12])
        getattr(plain, step)(more, y[:12])
    np.testing.assert_array_equal(model.predict_proba(given), plain.predict_proba(X))


@pytest.mark.parametrize("make", [suffit.LDA, suffit.GaussianNB])
def test_whole_numbers_beyond_64_bits_are_numbers(make):
    X, y = [[1, 2.5], [2, 3.5], [3, 2**70], [4, 1.0]] * 15, [0, 1] * 30
    want = make().fit(np.array(X, dtype=float), y).predict_proba(np.array(X, dtype=float))
    np.testing.assert_array_equal(make().fit(X, y).predict_proba(X), want)
    X[2][1] = 10**400
    with pytest.raises(suffit.InputError, match=r"column 'x1': numbers must fit into float64, found one .* in row 2;"):
        make().fit(X, y)


@pytest.mark.parametrize("make", NUMERIC)
def test_dates_and_durations_are_no_numbers(make):
    days = np.arange(60).astype("M8[ns]")
    days[5] = "NaT"
    plain, y = np.ones((60, 2)) + np.arange(60)[:, None] % 7, np.arange(60) % 2
    model = make().fit(plain, y)
    tables = [np.c_[days, days], np.c_[days - days[0], days - days[0]]]
    tables += [pd.DataFrame({"a": plain[:, 0], "b": v}) for v in (days, days - days[0], days.astype("M8[us]").tolist())]
    tables += [pl.DataFrame({"a": plain[:, 0], "b": v}) for v in (days, days - days[0], days.astype("M8[D]"))]
    tables += [pl.DataFrame({"a": plain[:, 0], "b": days}).to_arrow(), np.c_[plain[:, :1], days[:, None].astype("O")]]
    tables[-1][:, 1] = days.astype("M8[us]").tolist()
    tables += [tables[-1].tolist()]
    for X in tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model knows no names
            for call in (lambda X: make().fit(X, y), lambda X: make().partial_fit(X, y), model.predict_proba):
                with pytest.raises(
                    suffit.InputError, match=r"column '(b|x0|x1)': it holds dates or times: make numbers"
                ):
                    call(X)


@pytest.mark.parametrize("make", [suffit.LDA, suffit.GaussianNB, suffit.MultinomialNB])
def test_a_word_among_numbers_is_named_with_its_column(make):
    y, words, numbers = [0, 1] * 30, ["u", "v"] * 30, np.arange(60.0)
    tables = [pd.DataFrame({"a": numbers, "b": v}) for v in (words, pd.Categorical(words), np.array(words, dtype="O"))]
    tables += [pl.DataFrame({"a": numbers, "b": pl.Series(words, dtype=t)}) for t in (pl.String, pl.Categorical)]
    for X in tables:
        with pytest.raises(
            suffit.InputError, match=r"column 'b'.*could not convert string to float.*'u' in row 0; .*(Gen|Count)"
        ):
            make().fit(X, y)
    with pytest.raises(suffit.InputError, match=r"column 'x1'.*'v' in row 0"):
        make().fit([[1, "v"]] * 60, y)
    categories = pd.DataFrame({"a": numbers, "b": pd.Categorical([1, 2] * 30)})  # numbers stay numbers
    np.testing.assert_array_equal(
        make().fit(categories, y).predict(categories), make().fit(categories.astype(float), y).predict(categories)
    )
    with pytest.raises(TypeError, match="column 'x0': the argument must be a string or a real number, found ndarray"):
        make().fit(np.array([[np.ones(2), 1.0]] * 60, dtype=object), y)


@pytest.mark.parametrize("make", [*NUMERIC, suffit.CategoricalNB, suffit.GenerativeClassifier])
def test_columns_of_one_name_are_refused_in_the_same_words(make):
    X = pd.DataFrame(np.ones((60, 2), int), columns=["a", "a"])
    with pytest.raises(suffit.InputError, match="column 'a' is there 2 times; give every column its own name"):
        make().fit(X, [0, 1] * 30)


def test_a_record_is_no_dict_of_columns():
    table = {"b": [True, False, True, True] * 15, "z": np.arange(60) / 7, "w": ["Bern", "Chur"] * 30}
    model = suffit.GenerativeClassifier(structure="naive").fit(table, [0, 1] * 30)
    row = {"b": True, "z": 0.5, "w": "Bern"}
    for record in (row, {"w": "Bern"}, {"z": None}, {"z": {0: 1.0}}):
        with pytest.raises(
            suffit.InputError, match=r"column '.': a dict holds columns, .* found .*; one row goes to scorer"
        ):
            model.predict(record)
    want = model.predict_proba({name: [value] for name, value in row.items()})
    np.testing.assert_allclose(model.scorer()(row), want[0])


@pytest.mark.parametrize("first", [2**63 + 1, 2**63 - 2, 2**64 - 6])
@pytest.mark.parametrize("step", [1, 4])
def test_levels_beyond_int64_are_levels(first, step):
    X = np.array([first, first + step], np.uint64).repeat(30)[:, None]
    y, least = np.repeat(["a", "b"], 30), np.repeat([[True], [False]], 30, axis=0)
    model, small = suffit.CategoricalNB().fit(X, y), suffit.CategoricalNB().fit(least, y)
    np.testing.assert_array_equal(model.predict_proba(X), small.predict_proba(least))
    np.testing.assert_array_equal(model.loo_predict_proba(X, y), small.loo_predict_proba(least, y))
    assert set(model.sample(50, random_state=0)[0].ravel().tolist()) == set(X.ravel().tolist())
    model.partial_fit(X[:3], y[:3]).forget(X[:3], y[:3])
    assert model.categories_[0].tolist() == [first, first + step]
    assert suffit.CategoricalNB().fit(X.tolist(), y).categories_[0].tolist() == [first, first + step]
    np.testing.assert_allclose(model.predict_proba(np.array([[7], [first + 2]], np.uint64)), 0.5)  # never seen


def test_a_level_beyond_int64_is_no_negative_one():
    X, y = np.array([[-5], [-4]]).repeat(30, axis=0), [0] * 30 + [1] * 30
    model = suffit.CategoricalNB().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.array([[2**64 - 5]], np.uint64)), 0.5)


@pytest.mark.parametrize("structure", ["auto", "naive"])
@pytest.mark.parametrize("form", [np.asarray, list, pd.Series, pl.Series])
def test_whole_numbers_that_are_one_as_floats_are_told_apart(form, structure):
    y = np.arange(60) % 2
    cells = [2**62 + 1 + c for c in y.tolist()]
    model = suffit.GenerativeClassifier(structure=structure).fit({"a": form(cells), "z": np.arange(60) % 7}, y)
    assert model.schema_.choices[0].reason == "integers that are all 4.61169e+18 as float64; 2 categories"
    assert (model.predict({"a": form(cells), "z": [None] * 60}) == y).all()
    same = suffit.GenerativeClassifier().fit({"a": form([2**62 + 1] * 60), "z": np.arange(60) % 7}, y)
    assert same.schema_.choices[0].reason == "every value is 4.61169e+18"
    names = [2**62 + i for i in range(60)]
    with pytest.warns(suffit.DroppedColumnWarning, match="an identifier rather than a feature"):
        suffit.GenerativeClassifier().fit({"a": form(names), "z": np.arange(60) % 7}, y)


@pytest.mark.parametrize("tie", [0.0, 1.0])
def test_a_summary_factors_each_covariance_once_however_many_pairs_of_classes(tie, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(400) % 8
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3)) + rng.normal(size=(8, 3))[y]
    family = suffit.MultivariateGaussian(tie=tie, freedom=6.0)
    model = suffit.GenerativeClassifier({("x0", "x1", "x2"): family}).fit(X, y)
    factored, pinv = [], np.linalg.pinv
    monkeypatch.setattr(np.linalg, "pinv", lambda *a, **k: factored.append(a) or pinv(*a, **k))
    separation = model.summary().separation
    assert len(factored) <= 8  # and not for each of the 28 pairs
    rows, labels = model.sample(40_000, random_state=1)
    other = (labels + np.random.default_rng(2).integers(1, 8, 40_000)) % 8
    parts = model._fitted.solution.scorer.parts(
        model._read_X_known(rows), labels.astype(np.int32), other.astype(np.int32)
    )
    error = parts.columns.std(axis=0) / 200
    assert (np.abs(parts.columns.mean(axis=0) - separation) < 5 * error).all()


@pytest.mark.parametrize("make", [suffit.GaussianNB, partial(suffit.GenerativeClassifier, structure="naive")])
@pytest.mark.parametrize("k", [2, 4])
def test_explanations_are_of_the_probabilities_that_isotonic_maps_give(make, k):
    rng = np.random.default_rng(0)
    y = np.arange(300) % k
    X = np.repeat(rng.normal(size=(300, 3)), 2, axis=1) + 0.5 * y[:, None]  # said twice: too sure, and to be corrected
    model = make(calibrate="isotonic").fit(X, y)
    explained, logs = model.explain(X), model.predict_log_proba(X)
    at = np.arange(len(X))
    np.testing.assert_array_equal(model.classes_[explained.first], model.predict(X))
    odds = logs[at, explained.first] - logs[at, explained.second]
    terms = (
        explained.prior + explained.rest + explained.parts.sum(axis=1) + explained.outlier_rate + explained.calibration
    )
    np.testing.assert_allclose(explained.total, odds, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(terms, odds, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(explained.probability[:, 0], model.predict_proba(X).max(axis=1), rtol=1e-12)
    assert "calibration" in explained.to_frame().columns
    row = int(np.abs(explained.calibration).argmax())
    assert "calibrated (isotonic)" in model.why(X[[row]], n=9).splitlines()[-1]


def test_why_says_that_isotonic_maps_leave_nothing_impossible():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 1], [1, 1]] * 10), np.array([0, 0, 1, 1, 0, 1] * 10)
    model = suffit.BernoulliNB(alpha=0, calibrate="isotonic").fit(X, y)
    explained = model.explain(X)
    assert np.isinf(explained.parts[:, 0]).all()
    assert np.isfinite(explained.total).all()
    assert explained.why(0).splitlines()[-1].startswith("  held to ")


def yes_or_no_and_counts() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    z = rng.normal(size=400) + y
    flag = z + rng.normal(size=400) > 0.5
    return pd.DataFrame({"z": z, "flag": flag, "count": rng.poisson(np.exp(z / 2))}), y


@pytest.mark.parametrize("structure", ["auto", "naive"])
@pytest.mark.parametrize(("name", "values"), [("flag", [2, -1, 99, 0.5]), ("count", [-1, -7])])
def test_values_that_a_column_cannot_have_are_missing_in_every_block(structure, name, values):
    X, y = yes_or_no_and_counts()
    model = suffit.GenerativeClassifier(structure=structure).fit(X, y)
    if structure == "auto":
        assert any(
            p.reads == "codings" and name in p.columns for p in model.schema_.specs
        )  # it is in a joint block too
    missing = X.head(1).astype({name: object})
    missing[name] = None
    expected = model.predict_proba(missing)
    for value in values:
        with pytest.warns(UserWarning, match=f"column '{name}': {value:g} is impossible under .*treated as missing"):
            found = model.predict_proba(X.head(1).astype({name: float}).assign(**{name: value}))
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="inf"):
        model.predict_proba(X.head(1).astype({name: float}).assign(**{name: np.inf}))


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow", "dict"])
def test_values_that_a_column_cannot_have_are_imputed(form):
    import polars as pl
    import pyarrow as pa

    X, y = yes_or_no_and_counts()
    model = suffit.GenerativeClassifier(structure="naive").fit(X, y)
    odd = X.head(3).astype({"flag": int})
    odd.loc[1, "flag"] = 2
    table = {"pandas": odd, "polars": pl.from_pandas(odd), "pyarrow": pa.Table.from_pandas(odd), "dict": dict(odd)}[
        form
    ]
    with pytest.warns(UserWarning, match="'flag': 2 is impossible"):
        made = model.impute(table)
    flags = made["flag"].to_pylist() if form == "pyarrow" else list(made["flag"])
    assert flags[1] in (0, 1)
    assert flags[0] == odd["flag"][0]


def test_the_page_of_differences_tells_the_constant_of_quadratic_decisions():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) + y[:, None]
    ours, theirs = suffit.QDA().fit(X, y), discriminant_analysis.QuadraticDiscriminantAnalysis().fit(X, y)
    constant = 4 / 2 * np.log(2 * np.pi)
    np.testing.assert_allclose(ours.decision_function(X) + constant, theirs.decision_function(X), atol=1e-10)
    two = y < 2
    odds = [model.fit(X[two], y[two]).decision_function(X) for model in (ours, theirs)]
    np.testing.assert_allclose(*odds, atol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "make",
    [
        *(suffit.GaussianNB, suffit.BernoulliNB, suffit.MultinomialNB, suffit.ComplementNB, suffit.CategoricalNB),
        *(suffit.PoissonNB, suffit.LDA, suffit.QDA, suffit.GDA),
    ],
)
def test_every_estimator_takes_missing_values(make, form):
    if make is suffit.CategoricalNB and form is not np.asarray:
        pytest.skip("takes no sparse input")
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.poisson(3 + y[:, None], (150, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    P = make().fit(form(X), y).predict_proba(form(X))
    np.testing.assert_allclose(P.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "family",
    [suffit.Poisson, suffit.Exponential, suffit.Geometric, suffit.Gamma, suffit.Beta, suffit.VonMises],
)
def test_families_say_that_they_add_a_pseudo_row_of_all_classes_by_default(family):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = (
        rng.integers(0, 9, (60, 2)) + y[:, None]
        if family in (suffit.Poisson, suffit.Geometric)
        else rng.random((60, 2))
    )
    rows = np.concatenate([X, *[X] * 3])  # and every class gets all rows, which weigh 1 together
    labels = np.concatenate([y, np.repeat(np.arange(3), 60)])
    weight = np.concatenate([np.ones(60), np.full(180, 1 / 60)])
    likely = suffit.NaiveBayes(family(alpha=0), priors="uniform").fit(rows, labels, sample_weight=weight)
    smoothed = suffit.NaiveBayes(family.key, priors="uniform").fit(X, y)
    np.testing.assert_allclose(smoothed.predict_proba(X), likely.predict_proba(X), rtol=1e-8)
    told = " ".join(family.__doc__.split())
    assert "α = 1 by default, a pseudo-row of all classes" in told
    assert "``alpha=0`` is maximum likelihood" in told


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


def test_tables_whose_blocks_differ_are_told_the_way_out():
    rng = np.random.default_rng(0)
    y, joint = np.arange(200) % 2, suffit.MultivariateGaussian()
    X = pd.DataFrame(rng.normal(size=(200, 4)) + y[:, None], columns=list("abcd"))
    first = suffit.GenerativeClassifier({("a", "b"): joint, ("c", "d"): joint}).fit(X, y)
    second = suffit.GenerativeClassifier({("a", "c"): joint, ("b", "d"): joint}).fit(X, y)
    with pytest.raises(suffit.InputError, match=r"has 'b' in one, where it has 'c' in the other; .*first.schema_"):
        first + second
