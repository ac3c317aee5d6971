"""Explaining: what each column adds sums to the log-odds; summaries, figures and exports agree with predictions."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy import stats as scipy_stats
from sklearn.datasets import load_iris

import suffit
from cases import PLAIN as CASES
from cases import data, fitted, flats
from suffit.families.gaussian.terms import along_the_way

plt.switch_backend("Agg")
ACCURACY = 1e-10


def assert_sums(model, X, classes=None):
    """Prior, rest, parts and outlier rate add up to the total, and that is the difference of log-probabilities."""
    explained = model.explain(X, classes)
    logs = model.predict_log_proba(X)
    at = np.arange(len(logs))
    with np.errstate(invalid="ignore"):
        expected = logs[at, explained.first] - logs[at, explained.second]
    parts = explained.parts.toarray() if sparse.issparse(explained.parts) else explained.parts
    finite = np.isfinite(expected)
    assert finite.any()
    np.testing.assert_array_equal(np.isfinite(explained.total), finite)
    np.testing.assert_array_equal(explained.total[~finite], expected[~finite])
    largest = np.maximum(np.abs(parts).max(axis=1), np.abs(explained.rest))
    size = np.maximum(1.0, np.maximum(largest, np.abs(expected)))[finite]
    summed = (explained.prior + explained.rest + explained.outlier_term + parts.sum(axis=1))[finite]
    assert (np.abs(summed - expected[finite]) <= ACCURACY * size).all()
    assert (np.abs(explained.total[finite] - expected[finite]) <= ACCURACY * size).all()
    if classes is None:
        assert (logs[at, explained.first] >= logs.max(axis=1) - 1e-12).all()
    return explained


@pytest.mark.parametrize(("missing", "weighted"), [(False, False), (True, True)], ids=["plain", "missing, weighted"])
@pytest.mark.parametrize("name", CASES)
def test_parts_sum_to_the_log_odds(name: str, missing: bool, weighted: bool):
    model, X, _ = fitted(name, missing, weighted)
    explained = assert_sums(model, X)
    assert explained.parts.shape == X.shape
    pair = tuple(model.classes_[[2, 0]].tolist())
    asked = model.explain(X, pair)
    assert {asked.labels[c] for c in asked.first} == {pair[0]}
    turned = model.explain(X, pair[::-1])
    np.testing.assert_allclose(asked.total, -turned.total, rtol=1e-9, atol=1e-9)
    if "alpha=0" not in str(model.get_params()) and np.isfinite(asked.total).all():
        assert_sums(model, X, pair)


@pytest.mark.parametrize("name", CASES)
def test_missing_values_add_nothing(name: str):
    model, X, _ = fitted(name, missing=True)
    gone = pd.isna(pd.DataFrame(X)).to_numpy()
    assert gone.any()
    informative = getattr(model, "missing", "ignore") == "informative"  # there a missing value is evidence
    assert (model.explain(X).parts[gone] == 0).all() != informative


SOME_CATEGORIES = ("Generative", "ategorical", "partition")  # which no sparse matrix holds


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("name", [n for n in CASES if not any(w in n for w in SOME_CATEGORIES)])
def test_sparse_rows_are_explained_beside_a_row_of_zeros(name: str, missing: bool):
    model, X, _ = fitted(name, missing)
    explained = assert_sums(model, sparse.csr_matrix(X))
    assert sparse.issparse(explained.parts)
    dense = model.explain(X)
    finite = np.isfinite(dense.total)
    size = np.maximum(1.0, np.abs(dense.parts[finite]).max(axis=1))
    assert (np.abs(explained.total[finite] - dense.total[finite]) <= 1e-9 * size).all()


def test_wide_sparse_rows_are_never_made_dense():
    rng = np.random.default_rng(0)
    X = sparse.random(300, 200_000, density=1e-4, format="csr", random_state=0)
    X.data[:] = rng.integers(1, 4, X.nnz)
    for model in (suffit.MultinomialNB(), suffit.BernoulliNB(), suffit.ComplementNB()):
        explained = model.fit(X, rng.integers(0, 3, 300)).explain(X)
        assert explained.parts.nnz <= X.nnz
        assert len(explained.terms(0)) <= X[0].nnz + 2
        frame = explained.to_frame(columns=["x5", "x7"])
        assert list(frame.columns[:3]) == ["for", "against", "prior"]
        assert frame.shape[1] <= 7


def test_N8_log_odds_of_binary_features():
    """α_j1 = log P(x_j=1|1)/P(x_j=1|0), α_j0 likewise; log-odds = Σ(α_j1 − α_j0)x_j + Σα_j0 + log prior odds."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    X = (rng.random((300, 4)) < np.where(y[:, None], [0.8, 0.3, 0.5, 0.6], [0.2, 0.4, 0.5, 0.1])).astype(float)
    model = suffit.BernoulliNB(alpha=1.0).fit(X, y)
    present = np.stack([(X[y == c].sum(axis=0) + 1) / ((y == c).sum() + 2) for c in (0, 1)])
    one, zero = np.log(present[1] / present[0]), np.log((1 - present[1]) / (1 - present[0]))
    prior = np.log((y == 1).sum() / (y == 0).sum())
    dense = model.explain(X, (1, 0))
    np.testing.assert_allclose(dense.parts, np.where(X > 0, one, zero), atol=1e-12)
    np.testing.assert_allclose(dense.total, X @ (one - zero) + zero.sum() + prior, atol=1e-12)
    thin = model.explain(sparse.csr_matrix(X), (1, 0))
    np.testing.assert_allclose(thin.parts.toarray(), X * (one - zero), atol=1e-12)
    np.testing.assert_allclose(thin.rest, zero.sum(), atol=1e-12)
    np.testing.assert_allclose(thin.prior, prior, atol=1e-12)


def test_N8_categorical_parts_are_the_log_ratios_of_the_tables():
    X = np.array([["a", "x"], ["a", "y"], ["b", "y"], ["b", "x"], ["a", "x"]], dtype=object)
    model = suffit.CategoricalNB(alpha=0.5).fit(X, [0, 0, 1, 1, 1])
    parts = model.explain(X[:1], (0, 1)).parts[0]
    np.testing.assert_allclose(parts, [np.log((2.5 / 3) / (1.5 / 4)), np.log((1.5 / 3) / (2.5 / 4))], atol=1e-14)


def test_shared_covariance_splits_about_the_middle_of_the_two_means():
    X, y = load_iris(return_X_y=True)
    model = suffit.LDA().fit(X, y)
    S = sum((y == c).sum() * np.cov(X[y == c], rowvar=False, bias=True) for c in range(3)) / len(y)
    means = np.stack([X[y == c].mean(axis=0) for c in range(3)])
    w = np.linalg.solve(S, means[2] - means[0])
    explained = model.explain(X, (2, 0))
    np.testing.assert_allclose(explained.parts, w * (X - (means[2] + means[0]) / 2), rtol=1e-9, atol=1e-9)
    assert not explained.rest.any()
    middle = model.explain((means[[2]] + means[[0]]) / 2, (2, 0))
    np.testing.assert_allclose(middle.parts, 0.0, atol=1e-10)


def test_own_covariances_split_along_the_way():
    """(x_j − m_j) ∫ ∂_j f(m + t(x − m)) dt, against a numerical integral of a numerical gradient."""
    X, y = load_iris(return_X_y=True)
    model = suffit.QDA().fit(X, y)
    explained = model.explain(X[:5], (0, 1))
    normal = [
        scipy_stats.multivariate_normal(X[y == c].mean(axis=0), np.cov(X[y == c], rowvar=False, bias=True))
        for c in (0, 1)
    ]
    middle = (normal[0].mean + normal[1].mean) / 2
    for x, parts, rest in zip(X[:5], explained.parts, explained.rest, strict=True):
        nodes, weights = np.polynomial.legendre.leggauss(3)
        slope = np.zeros(4)
        for t, w in zip((nodes + 1) / 2, weights / 2, strict=True):
            for j in range(4):
                step = np.eye(4)[j] * 1e-4
                at = middle + t * (x - middle)
                f = [n.logpdf(at + step) - n.logpdf(at - step) for n in normal]
                slope[j] += w * (f[0] - f[1]) / 2e-4
        np.testing.assert_allclose(parts, (x - middle) * slope, rtol=1e-5, atol=1e-5)
        assert rest == pytest.approx(normal[0].logpdf(middle) - normal[1].logpdf(middle), abs=1e-8)


def test_own_split_becomes_the_shared_one_where_covariances_are_equal():
    rng = np.random.default_rng(0)
    W = np.tril(rng.normal(size=(3, 3))) + 2 * np.eye(3)
    a, b, x = rng.normal(size=(3, 3))
    parts, rest = along_the_way(x[None], (a, W, -1.0), (b, W, -1.0))
    np.testing.assert_allclose(parts[0], (W.T @ W @ (a - b)) * (x - (a + b) / 2), atol=1e-12)
    assert rest == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("settings", [{}, {"missing": "informative"}, {"structure": "naive"}], ids=str)
def test_pooled_structures_add_up_by_the_column_of_the_table(settings):
    X, y = flats()
    X["total"] += np.where(X["garden"], 2.0, -2.0) * np.where(y == "sold", 1.0, -1.0)  # not independent
    model = suffit.GenerativeClassifier(**settings).fit(X, y)
    explained = assert_sums(model, X)
    assert list(explained.columns) == ["area", "rooms", "garden", "city", "total"]
    if not settings:
        assert len(model.schema_.specs) > len(model.schema_.plain().specs)  # several structures, categories one-hot


def test_frames_are_of_the_kind_that_was_given():
    X, y = flats()
    model = suffit.GenerativeClassifier(structure="naive").fit(X, y)
    frame = model.explain(X).to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["for", "against", "prior", "area", "rooms", "garden", "city", "total", "(total)"]
    numbers = frame[["prior", "area", "rooms", "garden", "city", "total"]].sum(axis=1)
    np.testing.assert_allclose(numbers, frame["(total)"], atol=1e-10)
    assert frame["for"].tolist() == model.predict(X).tolist()
    assert isinstance(model.explain(pl.from_pandas(X)).table, pl.DataFrame)
    assert isinstance(model.explain(X.to_dict("list")).table, dict)
    one = suffit.GaussianNB().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]).explain([[0.5]])
    assert isinstance(one.table, pd.DataFrame)
    with pytest.raises(ValueError, match="no column 'nonsense'"):
        model.explain(X).to_frame(columns=["nonsense"])


def test_large_values_are_said_in_full():
    """4.131e+04 is no amount of money."""
    X = np.array([[41310.0], [52000.0], [120.25], [99.125]])
    model = suffit.GaussianNB().fit(X, ["a", "a", "b", "b"])
    said = model.explain(X)
    assert [said.terms(i, 1)[0][0] for i in range(4)] == ["x0 = 41310", "x0 = 52000", "x0 = 120.2", "x0 = 99.12"]


def test_why_names_the_things_that_decided():
    X, y = flats()
    model = suffit.GenerativeClassifier(structure="naive").fit(X, y)
    text = model.why({"area": [2000.0], "rooms": [None], "garden": [True], "city": ["Basel"], "total": [0.0]}, n=2)
    lines = text.splitlines()
    assert lines[0].startswith("sold rather than open: ")
    assert "area = 2000 favours sold" in lines[1]
    assert lines[-1].split("  ")[-1].endswith("others together")
    values = [float(line.split()[0]) for line in lines[1:]]
    explained = model.explain({"area": [2000.0], "rooms": [None], "garden": [True], "city": ["Basel"], "total": [0.0]})
    assert sum(values) == pytest.approx(explained.total[0], abs=0.02)
    assert "rooms (missing) favours neither" in explained.why(0, n=9)
    assert text.splitlines()[0] in repr(explained)
    assert "<td>sold</td>" in explained._repr_html_()


def test_smoothing_of_0_gives_infinite_parts():
    X = np.array([[1, 0], [1, 1], [0, 1], [0, 1]])
    model = suffit.BernoulliNB(alpha=0.0).fit(X, ["a", "a", "b", "b"])
    explained = model.explain([[1, 1], [0, 1]])
    assert explained.total.tolist() == [np.inf, np.inf]
    assert np.isposinf(explained.parts[:, 0]).all()
    assert np.isfinite(explained.parts[:, 1]).all()
    thin = model.explain(sparse.csr_matrix([[1, 1], [0, 1]]))
    assert thin.total.tolist() == [np.inf, np.inf]
    assert "more than a million to 1" in explained.why(0)


def test_rows_far_out_are_explained_where_they_are_drawn_in():
    X, y = load_iris(return_X_y=True)
    for model in (suffit.QDA(), suffit.GaussianNB(), suffit.LDA()):
        explained = model.fit(X, y).explain(np.array([[1e200, 1e200, -1e200, 1e200]]))
        assert np.isfinite(explained.parts).all()
        assert np.isfinite(explained.total).all()
        thin = model.explain(sparse.csr_matrix([[1e200, 1e200, -1e200, 1e200], [5.0, 3.0, 1.0, 0.0]]))
        assert np.isfinite(thin.total).all()


@pytest.mark.parametrize("model", [suffit.LDA(), suffit.QDA(), suffit.GaussianNB(), suffit.GDA(tie=0.3)], ids=str)
def test_parts_lose_no_digits_far_from_0(model):
    X, y = data(CASES["LDA"], 7)
    far = (X + 1e6).astype(np.float32)
    explained = model.fit(far, y).explain(far)
    logs = model.predict_log_proba(far)
    at = np.arange(len(far))
    size = np.maximum(1.0, np.abs(explained.parts).max(axis=1))
    assert (np.abs(explained.total - logs[at, explained.first] + logs[at, explained.second]) <= 1e-11 * size).all()


def test_bad_requests_are_refused_by_name():
    X, y = load_iris(return_X_y=True)
    model = suffit.LDA().fit(X, y)
    with pytest.raises(ValueError, match=r"no class 'cat'; the classes are \[0, 1, 2\]"):
        model.explain(X, (0, "cat"))
    with pytest.raises(ValueError, match="two labels"):
        model.explain(X, (0, 1, 2))
    with pytest.raises(ValueError, match="two different classes"):
        model.nomogram(X, (1, 1))
    with pytest.raises(ValueError, match="features"):
        model.explain(X[:, :2])
    with pytest.raises(IndexError, match="3 rows"):
        model.explain(X[:3]).why(3)
    with pytest.raises(ValueError, match="one class"):
        suffit.GaussianNB().fit([[1.0], [2.0]], ["a", "a"]).explain([[1.0]])
    with pytest.raises(suffit.InputError, match="infinity"):
        model.explain(np.full((1, 4), np.inf))
    with pytest.raises(ValueError, match="without their labels"):
        model.summary(X)


# --- figures


def test_waterfall_bars_sum_to_the_total():
    X, y = load_iris(return_X_y=True)
    explained = suffit.QDA().fit(X, y).explain(X)
    for n in (2, 12):
        ax = explained.plot(100, n=n)
        widths = [bar.get_width() for bar in ax.patches]
        assert len(widths) == (3 if n == 2 else 6)
        assert sum(widths) == pytest.approx(explained.total[100], abs=1e-10)
        ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
        np.testing.assert_allclose(ends[:-1], [bar.get_x() for bar in ax.patches][1:], atol=1e-10)


# --- summary


# --- to_sklearn


# --- assumptions


def _evidence_first(text: str) -> tuple[list[float], list[str]]:
    """The numbers of the lines of evidence, and what comes after them."""
    lines = text.splitlines()[1:]
    terms = [line for line in lines if line.strip()[0] in "+-"]
    assert lines[: len(terms)] == terms, text
    return [float(line.split()[0].replace(",", "")) for line in terms], lines[len(terms) :]


@pytest.mark.parametrize(
    ("make", "causes"),
    [
        (suffit.GenerativeClassifier, ["is an outlier"]),
        (lambda: suffit.GaussianNB(calibrate="temperature"), ["is an outlier"]),
        (lambda: suffit.GaussianNB(calibrate="isotonic"), ["calibrated (isotonic)"]),
        (lambda: suffit.GenerativeClassifier(structure="naive", calibrate="isotonic"), ["calibrated (isotonic)"]),
        (suffit.LDA, []),
    ],
)
def test_why_has_the_evidence_first_and_one_line_for_what_holds_it_back(make, causes):
    iris = load_iris()
    X, y = iris.data, iris.target_names[iris.target]
    model = make().fit(X, y)
    text = model.why(X[:1])
    terms, after = _evidence_first(text)
    assert max(terms) > 5
    assert len(after) == bool(causes), text
    if causes:
        odds = text.splitlines()[0].split(": ")[1].split(" (")[0]
        assert after[0].startswith(f"  limited to {odds}: "), text
        assert all(cause in after[0] for cause in causes), text
    explained = model.explain(X)
    names = [name for name, _ in explained.terms(0)]
    held = [name for name in names if name in ("the chance of an outlier", "the isotonic calibration")]
    assert names[len(names) - len(held) :] == held  # they come last, and all terms still add up
    for i in (0, 70, 133):
        for n in (None, 2):
            assert sum(v for _, v in explained.terms(i, n)) == pytest.approx(explained.total[i], abs=1e-9)


def test_why_says_that_both_classes_are_unlikely_where_outliers_decide_between_them():
    rng = np.random.default_rng(0)
    y = np.array(["a"] * 200 + ["b"] * 120 + ["c"] * 60)
    X = rng.normal(size=(380, 2)) + 6.0 * np.select([y == "a", y == "b"], [0.0, 1.0], 2.0)[:, None]
    model = suffit.GaussianNB(calibrate="temperature").fit(X, y)
    text = model.why([[-2.0, -2.0]], classes=("c", "b"))  # a row of a, nearer to b than to c
    terms, after = _evidence_first(text)
    assert sum(terms) < -10
    assert len(after) == 1
    assert ": both are unlikely, and about 1 row in " in after[0]
    turned = model.with_prior({"a": 0.5, "b": 0.1, "c": 0.4}).why([[-2.0, -2.0]], classes=("c", "b"))
    assert turned.startswith("c rather than b: 4 to 1")
    assert "  turned to c, 4 to 1: both are unlikely, and about 1 row in " in turned


def test_why_of_a_row_that_a_class_finds_impossible_is_held_to_what_the_outlier_rate_leaves():
    X, y = np.array([[0], [0], [0], [1], [1], [1], [1], [0]] * 5), np.array([0, 0, 0, 1, 1, 1, 1, 1] * 5)
    model = suffit.BernoulliNB(alpha=0.0, calibrate="temperature").fit(X, y)
    text = model.why([[1]])
    assert "inf" in text
    assert "  limited to " in text.splitlines()[-1]


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
    assert explained.why(0).splitlines()[-1].startswith("  limited to ")
