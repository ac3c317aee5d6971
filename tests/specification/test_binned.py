"""N7: a numeric feature cut into bins and used as categorical; edges given, of equal width, quantiles, or by MDL."""

from __future__ import annotations

import math
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import KBinsDiscretizer

import suffit
from cases import assert_identical, assert_same
from suffit import Binned, NaiveBayes
from suffit.data.errors import InputError

AREA = [400, 800, 1200, 1600]


def houses(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    area = np.round(rng.gamma(4.0, 250.0, size=n))
    return area[:, None], np.where(area + rng.normal(scale=300, size=n) > 1000, "yes", "no")


def two_columns(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    return np.column_stack([rng.normal(size=n) + 2.0 * y, np.round(rng.normal(size=n) - y, 1)]), y


def edges_of(model: NaiveBayes) -> list[list[float]]:
    return [list(e) for e in model.family_.edges]


# --- edges given


def test_N7_living_area():
    area = np.array([[399.9], [400.0], [799.0], [800.0], [1200.0], [1599.0], [1600.0], [9000.0], [-5.0]])
    bins = np.array([1, 2, 2, 3, 4, 4, 5, 5, 1])
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])
    model = NaiveBayes(Binned(AREA, alpha=1.0)).fit(area, y)
    scorer = model._solved.scorer
    np.testing.assert_array_equal(scorer.codes(area)[:, 0] + 1, bins)
    for c in (0, 1):
        here = [np.sum(bins[y == c] == b) for b in range(1, 6)]
        np.testing.assert_allclose(np.exp(scorer.tables[0][c]), [(n + 1) / (sum(here) + 5) for n in here], rtol=1e-14)
    # P(1600 or more | 0) = 1/10, P(… | 1) = 3/9; the classes have 5 and 4 of 9 rows
    odds = (3 / 9 * 4 / 9) / (1 / 10 * 5 / 9)
    np.testing.assert_allclose(model.predict_proba([[1e300]])[0], [1 / (1 + odds), odds / (1 + odds)], rtol=1e-12)
    np.testing.assert_allclose(
        model.predict_joint_log_proba([[1700.0]])[0], np.log([1 / 10 * 5 / 9, 3 / 9 * 4 / 9]), rtol=1e-12
    )
    assert model.n_parameters_ == 2 * 4 + 1


def test_N7_bins_are_the_levels_of_a_categorical_model():
    X, y = two_columns()
    model = NaiveBayes(Binned([[0.0, 1.5, 3.0], [-1.0, 0.0]], alpha=0.7)).fit(X, y)
    categories = np.column_stack([np.digitize(X[:, 0], [0.0, 1.5, 3.0]), np.digitize(X[:, 1], [-1.0, 0.0])])
    other = suffit.CategoricalNB(alpha=0.7).fit(categories, y)
    np.testing.assert_allclose(model.predict_log_proba(X), other.predict_log_proba(categories), rtol=1e-12)
    assert model.n_parameters_ == other.n_parameters_


def test_N7_bins_nobody_falls_in_are_smoothed_like_the_others():
    model = NaiveBayes(Binned([0, 1, 2, 3])).fit([[0.5], [0.6], [0.7]], [0, 0, 1])
    np.testing.assert_allclose(
        np.exp(model._solved.scorer.tables[0]), np.array([[1, 3, 1, 1, 1], [1, 2, 1, 1, 1]]) / [[7], [6]]
    )


def test_N7_logistic_form_in_bins():
    X, y = houses()
    model = NaiveBayes(Binned(AREA)).fit(X, y)
    form = model.logistic_form()
    assert form.names == ("x0<400", "x0 400–800", "x0 800–1200", "x0 1200–1600", "x0≥1600")
    np.testing.assert_allclose(form.predict_log_proba(X), model.predict_log_proba(X), rtol=1e-12, atol=1e-13)
    odds = form.pair("yes", "no")(np.array([[100.0], [1700.0]]))
    assert odds[0] < 0 < odds[1]
    close = NaiveBayes(Binned([1.00000001, 1.00000002])).fit(X, y).logistic_form().names
    assert close == ("x0<1.00000001", "x0 1.00000001–1.00000002", "x0≥1.00000002")


def test_N7_alpha_0_is_the_limit():
    model = NaiveBayes(Binned([0.0, 1.0], alpha=0.0)).fit([[-1.0], [0.5], [0.5], [2.0]], ["a", "a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[-9.0], [0.1], [9.0]]), [[1, 0], [0.5, 0.5], [0, 1]])
    assert model.predict_joint_log_proba([[-9.0]])[0, 1] == -np.inf
    tiny = NaiveBayes(Binned([0.0, 1.0], alpha=1e-200)).fit([[-1.0], [0.5], [0.5], [2.0]], ["a", "a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[-9.0], [0.1]]), tiny.predict_proba([[-9.0], [0.1]]), atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.uint8, "csr"])
def test_N7_any_kind_of_number(kind):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, size=(200, 3)), rng.integers(0, 2, size=200)
    Z = sparse.csr_array(X.astype(float)) if kind == "csr" else X.astype(kind)
    for family in (Binned([1, 4, 6]), Binned(how="quantile", bins=3), Binned([1, 4, 6], alpha=0.0)):
        whole = NaiveBayes(family).fit(X.astype(float), y)
        model = NaiveBayes(family).fit(Z, y)
        assert_identical(model, whole)
        np.testing.assert_array_equal(model.predict_proba(Z), whole.predict_proba(X.astype(float)))


def test_N7_columns_of_a_frame_are_named():
    pandas = pytest.importorskip("pandas")
    X, y = houses()
    frame = pandas.DataFrame({"area": X[:, 0]})
    model = NaiveBayes(Binned(AREA)).fit(frame, y)
    assert model.logistic_form().names[0] == "area<400"
    frame.loc[7, "area"] = np.inf
    with pytest.raises(InputError, match="column 'area', found inf in row 7; replace it by a finite number"):
        model.predict(frame)


def test_N7_samples_come_from_their_bins():
    X, y = houses(2000)
    model = NaiveBayes(Binned(AREA)).fit(X, y)
    drawn, labels = model.sample(20_000, random_state=0)
    assert drawn.min() >= 0  # outer bins as wide as their neighbours
    assert drawn.max() < 2000
    for c, table in zip(model.classes_, model._solved.scorer.tables[0], strict=True):
        share = np.bincount(np.digitize(drawn[labels == c, 0], AREA), minlength=5) / np.sum(labels == c)
        np.testing.assert_allclose(share, np.exp(table), atol=0.02)
    inner = drawn[(drawn >= 800) & (drawn < 1200)]
    assert abs(inner.mean() - 1000) < 10
    lone = NaiveBayes(Binned([[7.0], []])).fit(np.zeros((3, 2)), [0, 0, 1]).sample(100, random_state=0)[0]
    assert lone[:, 0].min() >= 0
    assert lone[:, 0].max() < 14
    assert np.isnan(lone[:, 1]).all()
    far = NaiveBayes(Binned([-1.7e308, 1.7e308])).fit(np.zeros((3, 1)), [0, 0, 1])
    assert np.isfinite(far.sample(100, random_state=0)[0]).all()


# --- edges chosen


def test_N7_equal_width():
    X = np.array([[0.0, 5.0], [10.0, 5.0], [1.0, 5.0], [2.0, 5.0]])
    model = NaiveBayes(Binned(how="width", bins=5)).fit(X, [0, 1, 0, 1])
    assert edges_of(model) == [[2.0, 4.0, 6.0, 8.0], []]  # a constant column cannot be cut
    X = np.random.default_rng(0).normal(size=(100, 3))
    ours = edges_of(NaiveBayes(Binned(how="width", bins=7)).fit(X, X[:, 0] > 0))
    theirs = KBinsDiscretizer(7, strategy="uniform", encode="ordinal").fit(X).bin_edges_
    np.testing.assert_allclose(ours, [e[1:-1] for e in theirs], rtol=1e-12)
    huge = NaiveBayes(Binned(how="width", bins=2)).fit([[-1.7e308], [1.7e308]], [0, 1])
    assert edges_of(huge) == [[0.0]]
    near = NaiveBayes(Binned(how="width", bins=5)).fit([[1.0], [np.nextafter(1.0, 2.0)]], [0, 1])
    assert edges_of(near) == [[np.nextafter(1.0, 2.0)]]


def test_N7_quantiles():
    X = np.arange(1.0, 11.0)[:, None]
    y = [0, 1] * 5
    assert edges_of(NaiveBayes(Binned(how="quantile", bins=5)).fit(X, y)) == [[2.5, 4.5, 6.5, 8.5]]
    assert edges_of(NaiveBayes(Binned(how="quantile", bins=3)).fit(X, y)) == [[4.0, 7.0]]
    ties = np.array([[0.0]] * 7 + [[1.0], [2.0], [3.0]])
    assert edges_of(NaiveBayes(Binned(how="quantile", bins=5)).fit(ties, y)) == [[1.5]]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(997, 2))
    ours = edges_of(NaiveBayes(Binned(how="quantile", bins=8)).fit(X, X[:, 0] > 0))
    shares = np.arange(1, 8) / 8
    np.testing.assert_allclose(ours, np.quantile(X, shares, axis=0, method="averaged_inverted_cdf").T, rtol=1e-14)


def entropy(counts: list[float]) -> float:
    total = sum(counts)
    return -math.fsum(n / total * math.log2(n / total) for n in counts if n)


def fayyad_irani(x: list[float], y: list[int]) -> list[float]:
    """The recursive cuts, in plain Python as the paper has them; of equally good cuts the lowest."""
    rows = sorted(zip(x, y, strict=True))

    def counts(part: list) -> list[int]:
        return [sum(1 for _, c in part if c == k) for k in sorted({c for _, c in part})]

    values = sorted({v for v, _ in rows})
    if len(values) < 2 or len(counts(rows)) < 2:
        return []
    N = len(rows)
    best = None
    for low, high in pairwise(values):
        left, right = [r for r in rows if r[0] <= low], [r for r in rows if r[0] >= high]
        left_over = (len(left) * entropy(counts(left)) + len(right) * entropy(counts(right))) / N
        if best is None or left_over < best[0] - 1e-9:
            best = (left_over, (low + high) / 2, left, right)
    left_over, cut, left, right = best
    s, s1, s2 = counts(rows), counts(left), counts(right)
    gain = entropy(s) - left_over
    delta = math.log2(3 ** len(s) - 2) - (len(s) * entropy(s) - len(s1) * entropy(s1) - len(s2) * entropy(s2))
    if gain <= (math.log2(N - 1) + delta) / N:
        return []
    return [*fayyad_irani(*zip(*left, strict=True)), cut, *fayyad_irani(*zip(*right, strict=True))]


@pytest.mark.parametrize("seed", range(12))
def test_N7_mdl_is_fayyad_and_iranis(seed):
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(20, 300)), int(rng.integers(2, 6))
    y = rng.integers(0, K, size=n)
    means = rng.normal(scale=3, size=K)
    X = np.column_stack([
        rng.normal(size=n) + means[y],
        np.round(rng.normal(size=n) + means[y]),  # many ties
        np.abs(rng.normal(size=n)) * (1 + y),
        rng.normal(size=n),  # noise
        np.where(rng.random(n) < 0.9, y % 2, rng.integers(0, 2, size=n)) + 0.0,
    ])  # fmt: skip
    ours = edges_of(NaiveBayes(Binned(how="mdl")).fit(X, y))
    for j in range(X.shape[1]):
        np.testing.assert_allclose(ours[j], fayyad_irani(X[:, j].tolist(), y.tolist()), rtol=1e-14)
    assert any(len(e) > 1 for e in ours) or n < 60


def test_N7_mdl_on_iris():
    X, y = load_iris(return_X_y=True)
    ours = edges_of(NaiveBayes("binned").fit(X, y))
    known = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]  # mdlp of R's package discretization
    for mine, theirs in zip(ours, known, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    for j in range(4):
        np.testing.assert_allclose(fayyad_irani(X[:, j].tolist(), y.tolist()), known[j], rtol=1e-12)
    assert cross_val_score(NaiveBayes("binned"), X, y, cv=10).mean() > 0.92


def test_N7_mdl_with_many_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(800), 30)  # 3^800 is beyond float64
    X = y[:, None] // 100 + rng.uniform(0, 0.5, size=(len(y), 1))
    edges = edges_of(NaiveBayes("binned").fit(X, y))[0]
    assert len(edges) == 7
    assert [math.floor(e) for e in edges] == list(range(7))


def test_N7_mdl_cuts_between_neighbouring_numbers():
    X = np.repeat([1.0, np.nextafter(1.0, 2.0), 5e-324, 0.0], 20)[:, None]
    y = np.repeat([0, 1, 0, 1], 20)
    model = NaiveBayes("binned").fit(X, y)
    assert edges_of(model) == [[5e-324, np.nextafter(1.0, 2.0)]]
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("how", ["mdl", "width", "quantile"])
@pytest.mark.parametrize("seed", range(4))
def test_N7_a_weight_is_a_number_of_repetitions(how, seed):
    X, y = two_columns(seed=seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(y))
    weighted = NaiveBayes(Binned(how=how)).fit(X, y, sample_weight=weight)
    repeated = NaiveBayes(Binned(how=how)).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.family_ == repeated.family_
    assert_same(weighted, repeated)


@pytest.mark.parametrize("how", ["mdl", "width", "quantile"])
def test_N7_order_of_rows_names_of_classes_and_threads_do_not_matter(how):
    X, y = two_columns(5000)
    model = NaiveBayes(Binned(how=how)).fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    assert NaiveBayes(Binned(how=how)).fit(X[order], y[order]).family_ == model.family_
    assert NaiveBayes(Binned(how=how)).fit(X, np.array(["c", "b", "a"])[y]).family_ == model.family_
    suffit.set_threads(1)
    try:
        assert NaiveBayes(Binned(how=how)).fit(X, y).family_ == model.family_
    finally:
        suffit.set_threads(None)


@pytest.mark.parametrize("how", ["mdl", "width", "quantile"])
def test_N7_missing_values_drop_out(how):
    X, y = two_columns()
    missing = np.random.default_rng(0).random(X.shape) < 0.3
    model = NaiveBayes(Binned(how=how)).fit(np.where(missing, np.nan, X), y)
    for j in range(2):
        here = ~missing[:, j]
        alone = NaiveBayes(Binned(how=how)).fit(X[here, j : j + 1], y[here])
        assert edges_of(alone)[0] == edges_of(model)[j]
    np.testing.assert_allclose(model.predict_proba([[np.nan, np.nan]])[0], model.class_count_ / len(y), rtol=1e-12)
    with pytest.warns(UserWarning, match="no bin edges"):
        nothing = NaiveBayes(Binned(how=how)).fit(np.full((4, 1), np.nan), [0, 0, 0, 1])
    np.testing.assert_allclose(nothing.predict_proba([[3.0]]), [[0.75, 0.25]])


def test_N7_a_column_without_a_cut_says_nothing():
    X, y = two_columns()
    noise = np.random.default_rng(1).normal(size=(len(y), 1))
    with pytest.warns(UserWarning, match=r"no bin edges for column 'x0': .*start with more rows, or give"):
        alone = NaiveBayes("binned").fit(noise, y)
    assert edges_of(alone) == [[]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both = NaiveBayes("binned").fit(np.hstack([X, noise]), y)
    assert edges_of(both)[2] == []
    np.testing.assert_allclose(
        both.predict_proba(np.hstack([X, noise])), NaiveBayes("binned").fit(X, y).predict_proba(X), rtol=1e-12
    )
    assert both.logistic_form().names[-1] == "x2"


# --- edges stay


@pytest.mark.parametrize("how", ["mdl", "width", "quantile"])
def test_N7_edges_are_fixed_by_the_first_rows(how):
    X, y = two_columns(400)
    model = NaiveBayes(Binned(how=how)).partial_fit(X[:200], y[:200])
    first = model.family_
    assert first == NaiveBayes(Binned(how=how)).fit(X[:200], y[:200]).family_
    model.partial_fit(X[200:203], y[200:203])  # few enough to wait
    model.partial_fit(X[203:] * 1.0, y[203:], sample_weight=np.ones(197))
    assert model.family_ == first
    fixed = NaiveBayes(Binned(first.edges)).fit(X, y)
    assert_identical(model, fixed)
    np.testing.assert_array_equal(model.predict_proba(X), fixed.predict_proba(X))
    model.forget(X[:200], y[:200])  # even those that the edges were chosen from
    assert model.family_ == first
    assert_identical(model, NaiveBayes(Binned(first.edges)).fit(X[200:], y[200:]))
    copy = pickle.loads(pickle.dumps(model))
    assert copy.family_ == first
    assert clone(model).fit(X, y).family_ == NaiveBayes(Binned(how=how)).fit(X, y).family_  # a fit chooses anew
    assert model.fit(X, y).family_ == clone(model).fit(X, y).family_


def test_N7_declared_classes_keep_the_edges():
    X, y = two_columns()
    two = y < 2
    model = NaiveBayes("binned").partial_fit(X[two], y[two], classes=[0, 1, 2])
    first = model.family_
    assert first.edges == NaiveBayes("binned").fit(X[two], y[two]).family_.edges
    np.testing.assert_allclose(np.exp(model._solved.scorer.tables[0][2]), 1 / (len(first.edges[0]) + 1))
    model.partial_fit(X[~two], y[~two])
    assert model.family_ == first
    assert_same(model, NaiveBayes(Binned(first.edges)).fit(X, y))


def test_N7_smoothing_may_change_and_the_edges_stay():
    X, y = two_columns()
    model = NaiveBayes(Binned(how="mdl")).partial_fit(X[:200], y[:200])
    first = model.family_.edges
    model.set_params(family=Binned(how="mdl", alpha=0.1)).partial_fit(X[200:], y[200:])
    assert model.family_ == Binned(first, alpha=0.1)
    assert_same(model, NaiveBayes(Binned(first, alpha=0.1)).fit(X, y))
    with pytest.raises(InputError, match="this model has binned sums and cannot take a binned batch"):
        model.set_params(family=Binned(how="width")).partial_fit(X, y)


def test_N7_models_merge_where_their_edges_are_equal():
    X, y = two_columns(400)
    a, b = NaiveBayes("binned").fit(X[:200], y[:200]), NaiveBayes("binned").fit(X[200:], y[200:])
    with pytest.raises(
        InputError, match=r"column 'x0' has bin edges \[.*\] in one model and \[.*same edges, Binned\(edges=…\)"
    ):
        a + b
    b = NaiveBayes(Binned(a.family_.edges)).fit(X[200:], y[200:])
    assert_identical(a + b, NaiveBayes(Binned(a.family_.edges)).fit(X, y))
    assert (a + b).family_ == a.family_
    one, each = NaiveBayes(Binned([0, 1])), NaiveBayes(Binned([[0, 1], [0, 1]]))
    assert_identical(one.fit(X, y) + each.fit(X, y), each.fit(np.tile(X, (2, 1)), np.tile(y, 2)))
    with pytest.raises(InputError, match="keep different sums"):
        a + NaiveBayes("gaussian").fit(X, y)


def test_N7_an_empty_model_takes_the_edges_of_what_it_is_added_to():
    X, y = two_columns()
    full = NaiveBayes("binned").fit(X, y)._model
    empty = suffit.Model.empty(Binned(alpha=0.5), full.columns)
    assert (empty + full).family == Binned(full.family.edges, alpha=0.5)
    assert (full + empty).family == full.family
    pinned = suffit.Model.empty(Binned(), full.columns, [0, 1, 2, 3])
    assert (pinned + full).family == full.family
    assert (pinned + full).classes == (0, 1, 2, 3)


def test_N7_rows_never_learned_are_not_forgotten():
    model = NaiveBayes(Binned(AREA)).fit([[500.0], [900.0], [900.0]], ["a", "a", "b"])
    with pytest.raises(InputError, match="class 'a' never learned that many rows with 'x0≥1600'; forget only rows"):
        model.forget([[1700.0]], ["a"])


# --- bad input


@pytest.mark.parametrize(
    "edges",
    [
        [800, 400],
        [1, 1],
        [1, np.nan],
        [1, np.inf],
        [[1, 2], [2, 1]],
        [1, [2, 3]],
        ["a", "b"],
        [[[1]]],
        [[1], None],
        "ab",
    ],
)
def test_N7_edges_must_increase(edges):
    with pytest.raises(ValueError, match=r"Binned\(edges=…\): found .*; edges must be finite, increasing numbers"):
        Binned(edges)


def test_N7_bad_settings():
    for bins in (0, -1, 2.5, True, None):
        with pytest.raises(ValueError, match=r"bins must be an integer of at least 1"):
            Binned(how="width", bins=bins)
    with pytest.raises(ValueError, match=r"Binned\(how='chi2'\): how must be one of 'mdl', 'width', 'quantile'"):
        Binned(how="chi2")
    with pytest.raises(ValueError, match="alpha must be finite, at least 0"):
        Binned(alpha=-1)
    with pytest.raises(InputError, match="edges for 3 columns, but X has 2; give one sequence of edges for each"):
        NaiveBayes(Binned([[1], [2], [3]])).fit([[1.0, 2.0]], [0])
    with pytest.raises(ValueError, match="NaiveBayes needs a family of independent columns"):
        NaiveBayes(suffit.Categorical()).fit([[1.0]], [0])
    assert Binned(np.array([1, 2])) == Binned((1.0, 2.0))
    assert edges_of(NaiveBayes(Binned(how="width", bins=1)).fit([[1.0], [2.0]], [0, 1])) == [[]]


@pytest.mark.parametrize("family", [Binned(AREA), Binned(how="mdl"), Binned(how="width"), Binned(how="quantile")])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_N7_infinities_are_refused(family, value):
    X, y = two_columns()
    model = NaiveBayes(family).fit(X, y)
    bad = X.copy()
    bad[17, 1] = value
    message = f"contains infinity: column 'x1', found {value} in row 17; replace it by a finite number, or by NaN"
    for refused in (
        lambda: NaiveBayes(family).fit(bad, y),
        lambda: model.partial_fit(bad, y),
        lambda: model.predict(bad),
        lambda: model.predict_proba(bad),
        lambda: model.score_samples(bad),
    ):
        with pytest.raises(InputError, match=message):
            refused()
    np.testing.assert_array_equal(model.predict_proba(X), NaiveBayes(family).fit(X, y).predict_proba(X))
