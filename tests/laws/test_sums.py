"""The laws of sums, over every registered family and every estimator."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import suffit
from cases import (
    CASES,
    FAMILIES,
    WIDE,
    Case,
    assert_identical,
    assert_same,
    data,
    documents,
    mixed,
    mixed_holes,
    parameters,
    with_holes,
)
from suffit.core.family import families
from suffit.families.elementwise.shape import Elementwise

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class


def law(max_examples: int = 8):
    """Some examples, the same ones in every run; many new ones under HYPOTHESIS_PROFILE=explore."""
    many = 10 if os.environ.get("HYPOTHESIS_PROFILE") == "explore" else 1
    return settings(max_examples=many * max_examples, suppress_health_check=list(HealthCheck))


def over(cases: dict[str, Case]):
    return pytest.mark.parametrize("case", cases.values(), ids=cases.keys())


every_case = over({**CASES, **WIDE})
every_separable_case = over({k: c for k, c in CASES.items() if not c.coupled and c.draw is not documents})
seeds = st.integers(0, 10_000)


def test_every_family_has_a_case():
    builtin = {key for key, family in families().items() if family.__module__.startswith("suffit.")}
    assert builtin == set(FAMILIES)


@pytest.mark.parametrize("key", FAMILIES)
def test_the_row_of_a_family_says_what_tests_must_know(key: str):
    row, family = FAMILIES[key], families()[key]
    assert bool(row.outside) == bool(row.needs)
    assert row.takes_zero == (0.0 not in row.outside)
    if issubclass(family, Elementwise):
        assert row.support is not None
        assert row.oracle is not None
        assert isinstance(row.oracle.family, family)
        if not issubclass(family, suffit.Gaussian):
            assert isinstance(row.smoothed(0.5), family)
            assert row.oracle.theta is not None


def merge_tree(models: list, rng: np.random.Generator):
    """Merge in a random order, two at a time."""
    while len(models) > 1:
        i, j = rng.choice(len(models), size=2, replace=False)
        pair = models[i] + models[j]
        models = [m for k, m in enumerate(models) if k not in (i, j)] + [pair]
    return models[0]


def cut(n: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The rows 0 … n−1 in a random order, cut into random parts, some of one row."""
    edges = np.unique(rng.integers(1, n, size=rng.integers(1, 9)))
    return np.split(rng.permutation(n), edges)


@every_case
@law()
@given(seed=seeds)
def test_N10_any_batches_in_any_order_equal_one_fit(case: Case, seed: int):
    X, y = data(case, seed)
    whole = case.make().fit(X, y)
    model = case.make()
    for part in cut(len(y), np.random.default_rng(seed)):
        model.partial_fit(X[part], y[part])
    assert_same(model, whole)
    if case.exact:
        assert_identical(model, whole)


@every_case
@law()
@given(seed=seeds)
def test_any_merge_tree_equals_one_fit(case: Case, seed: int):
    X, y = data(case, seed)
    rng = np.random.default_rng(seed)
    parts = [case.make().partial_fit(X[part], y[part]) for part in cut(len(y), rng)]
    merged = merge_tree(parts, rng)
    assert_same(merged, case.make().fit(X, y))
    assert_same(parts[0].merge(*parts[1:]), merged)


@every_case
@law()
@given(seed=seeds, whole_column=st.booleans())
@pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")
def test_merging_where_a_column_does_not_vary_equals_one_fit(case: Case, seed: int, whole_column: bool):
    """In one class, or at all; sums are exact to rounding, and a class without spread must not magnify that."""
    X, y = data(case, seed)
    X[(y == "bee") | whole_column, 0] = X[0, 0]
    rng = np.random.default_rng(seed)
    merged = merge_tree([case.make().partial_fit(X[part], y[part]) for part in cut(len(y), rng)], rng)
    posteriors = [model.predict_proba(X) for model in (merged, case.make().fit(X, y))]
    np.testing.assert_allclose(*posteriors, rtol=0, atol=1e-6)


@every_case
@law()
@given(seed=seeds)
def test_forget_undoes_learn(case: Case, seed: int):
    X, y = data(case, seed)
    rng = np.random.default_rng(seed)
    before = case.make().fit(X, y)
    more = rng.choice(len(y), size=rng.integers(1, 40), replace=False)
    after = case.make().fit(X, y).partial_fit(X[more], y[more]).forget(X[more], y[more])
    assert_same(after, before, rtol=1e-11)
    if case.exact:
        assert_identical(after, before)


@every_case
@law(max_examples=6)
@given(seed=seeds)
def test_forgetting_a_whole_class_leaves_no_trace(case: Case, seed: int):
    X, y = data(case, seed)
    gone = y == "bee"
    model = case.make().fit(X, y).forget(X[gone], y[gone])
    assert model.classes_.tolist() == ["ant", "cat"]
    assert_same(model, case.make().fit(X[~gone], y[~gone]), rtol=1e-11)


@every_case
@law()
@given(seed=seeds)
def test_a_weight_is_a_number_of_repetitions(case: Case, seed: int):
    X, y = data(case, seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(y))
    weighted = case.make().fit(X, y, sample_weight=weight)
    repeated = case.make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same(weighted, repeated)
    back = case.make().fit(X, y, sample_weight=weight + 1.0).forget(X, y, sample_weight=np.ones(len(y)))
    assert_same(back, repeated, rtol=1e-10)


@every_case
@law()
@given(seed=seeds)
def test_rows_may_come_in_any_order(case: Case, seed: int):
    X, y = data(case, seed)
    order = np.random.default_rng(seed).permutation(len(y))
    assert_same(case.make().fit(X[order], y[order]), case.make().fit(X, y))


@every_case
@law(max_examples=6)
@given(seed=seeds)
def test_labels_are_only_names(case: Case, seed: int):
    X, y = data(case, seed)
    other = {"ant": "z", "bee": "y", "cat": "x"}  # reverses the order of the classes
    a = case.make().fit(X, y)
    b = case.make().fit(X, np.array([other[v] for v in y]))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X)[:, ::-1], rtol=1e-9, atol=1e-12)
    top = np.sort(a.predict_proba(X), axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9  # a tie goes to the first class, and the order of the classes has changed
    assert [other[v] for v in a.predict(X[clear])] == b.predict(X[clear]).tolist()


@over({k: c for k, c in {**CASES, **WIDE}.items() if c.draw is not mixed_holes})  # whose columns have names
@law(max_examples=6)
@given(seed=seeds)
def test_columns_may_come_in_any_order(case: Case, seed: int):
    X, y = data(case, seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    a, b = case.make().fit(X, y), case.make().fit(X[:, order], y)
    np.testing.assert_allclose(
        a.predict_joint_log_proba(X), b.predict_joint_log_proba(X[:, order]), rtol=1e-10, atol=1e-9
    )


@every_case
@law()
@given(seed=seeds)
def test_C3_a_class_added_later_equals_one_there_from_the_start(case: Case, seed: int):
    X, y = data(case, seed)
    late = y == "bee"
    model = case.make().fit(X[~late], y[~late])
    before = parameters(model)
    model.partial_fit(X[late], y[late])
    assert_same(model, case.make().fit(X, y))
    shared = getattr(model, "tie", 0) or isinstance(model, suffit.LDA | suffit.ComplementNB)
    if type(model) is suffit.MultinomialNB or (isinstance(model, suffit.CategoricalNB) and not shared):
        for old, new in zip(before[1:], parameters(model)[1:], strict=True):
            if old.shape[1:] == new.shape[1:]:  # no category came with the class
                np.testing.assert_array_equal(old, new[[0, 2]])


@every_case
@law(max_examples=6)
@given(seed=seeds)
def test_a_pickle_predicts_identically(case: Case, seed: int):
    X, y = data(case, seed)
    model = case.make().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_log_proba(X), model.predict_log_proba(X))
    assert_identical(copy, model)


@over(CASES)
def test_the_number_of_threads_changes_no_bit(case: Case):
    X, y = data(case, 0, n=6000)
    X, y = np.tile(X, (40, 1)), np.tile(y, 40)  # several row blocks
    results = []
    for threads in (1, 5):
        suffit.set_threads(threads)
        try:
            model = case.make().fit(X, y)
            results.append((model, model.predict_log_proba(X)))
        finally:
            suffit.set_threads(None)
    (alone, posterior), (together, same) = results
    assert_identical(together, alone)
    np.testing.assert_array_equal(same, posterior)


@every_separable_case
@law(max_examples=8)
@given(seed=seeds)
def test_C4_a_missing_column_equals_the_model_without_it(case: Case, seed: int):
    X, y = data(case, seed)
    hidden = X.astype(object if X.dtype == object else float)
    hidden[:, 1] = np.nan
    kept = [j for j in range(X.shape[1]) if j != 1]
    whole, without = case.make().fit(X, y), case.make().fit(X[:, kept], y)
    np.testing.assert_allclose(
        whole.predict_joint_log_proba(hidden),
        without.predict_joint_log_proba(X[:, kept]),
        rtol=1e-9,
        atol=1e-9,
    )


def present(stats: suffit.Stats, p: int) -> np.ndarray:
    """How many values every class has in every column.  # → (K, p)"""
    if "category" in stats.axes:
        of_column = np.array([j for j, _ in stats.axes["category"].labels])
        return np.stack([stats["count"][:, of_column == j].sum(axis=1) for j in range(p)], axis=1)
    if "gap" in stats.axes:
        n = np.repeat(stats["n"][:, None], p, axis=1)
        n[:, list(stats.axes["gap"].labels)] -= stats["gone"]
        return n
    if "word" in stats.axes:
        return stats["n"][:, None]
    if "pattern" in stats.axes:
        there = [np.unpackbits(np.frombuffer(label, np.uint8), count=p) for label in stats.axes["pattern"].labels]
        return stats["n"][:, None] + stats["part_n"] @ np.array(there)
    return stats["n"]


@over({k: c for k, c in CASES.items() if c.draw is not mixed})  # its selectors look at the values of the first rows
@law(max_examples=6)
@given(seed=seeds)
def test_C4_missing_values_at_fit_are_left_out_of_the_sums(case: Case, seed: int):
    X, y = data(case, seed)
    X = with_holes(X, seed)
    there = X == X
    whole = case.make().fit(X, y)
    parts = getattr(whole._model.stats, "parts", (whole._model.stats,))
    if len(parts) == 1 and "node" not in parts[0].axes:
        n = present(parts[0], X.shape[1])
        expected = np.stack([there[y == c].sum(axis=0) for c in ("ant", "bee", "cat")])
        np.testing.assert_array_equal(n, expected)
    model = case.make()
    for part in cut(len(y), np.random.default_rng(seed)):
        model.partial_fit(X[part], y[part])
    joint = any(
        "pattern" in part.axes for part in parts
    )  # solved by steps: their end is known to 1e-11, in standard deviations
    assert_same(model, whole, rtol=1e-9 if joint else 1e-12)
    if case.exact:
        assert_identical(model, whole)


def test_a_shared_origin_is_no_part_of_the_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) * [1, 1e-3] + [1e6, 5]
    y = rng.integers(0, 2, size=200)
    a = suffit.GaussianNB().partial_fit(X[:1], y[:1])
    for i in range(1, 200):
        a.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same(a, suffit.GaussianNB().fit(X, y), rtol=1e-11)
