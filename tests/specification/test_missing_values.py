"""SPEC rows C4, C5: missing values marginalised at fit and at prediction, and filled in, against independent sums.

Nothing here calls the library's own formulas for what is expected: sums over all completions, scipy densities of the
columns that are there, numerical maximisation of the observed-data likelihood, regressions by hand.
"""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from scipy import integrate, sparse
from scipy.special import logsumexp
from sklearn.covariance import EmpiricalCovariance

import suffit
from cases import FAMILIES, assert_identical, assert_same, data, with_holes
from cases import PLAIN as CASES
from missing_rows import (
    FULL,
    GAUSSIAN,
    NaN,
    answers,
    every_case,
    fitted_parameters,
    log_joint,
    normal_rows,
    of_levels,
    of_tables,
    of_words,
    over,
    over_cases,
    some_there,
)
from suffit import (
    GDA,
    LDA,
    QDA,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    InputError,
    MissingValuesWarning,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
)

pytestmark = pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning")  # few rows of a class


# --- prediction: exactly the marginal


@pytest.mark.parametrize("alpha", [1.0, 0.1, 0.0])
def test_C4_bernoulli_posterior_sums_over_all_completions(alpha):
    rng = np.random.default_rng(1)
    X = (rng.random((60, 4)) < 0.4).astype(float)
    y = rng.integers(0, 3, 60)
    X[:, 0] = np.where(y == 0, 0.0, X[:, 0])  # never present in a class: probability 0 where alpha is
    model = BernoulliNB(alpha=alpha).fit(with_holes(X, 5), y)
    for missing in itertools.chain.from_iterable(itertools.combinations(range(4), r) for r in range(5)):
        row = X[:1].copy()
        row[0, list(missing)] = NaN
        whole = [np.array(v) for v in itertools.product(*([0.0, 1.0] if j in missing else [X[0, j]] for j in range(4)))]
        expected = np.exp(model.predict_joint_log_proba(np.array(whole))).sum(axis=0)
        np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(row))[0], expected, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(row)[0], expected / expected.sum(), atol=1e-12)
        np.testing.assert_allclose(model.score_samples(row)[0], np.log(expected.sum()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("alpha", [1.0, 0.3])
def test_C4_categorical_posterior_sums_over_all_completions(alpha, words):
    rng = np.random.default_rng(2)
    sizes = [2, 3, 4]
    categories = [[f"category {v}" for v in range(s)] if words else list(range(s)) for s in sizes]
    places = rng.integers(0, sizes, (80, 3))
    X = np.array([[categories[j][v] for j, v in enumerate(row)] for row in places], dtype=object if words else float)
    y = rng.integers(0, 3, 80)
    model = CategoricalNB(alpha=alpha).fit(with_holes(X, 3), y)
    for hidden in itertools.product([False, True], repeat=3):
        row = X[:1].copy()
        row[0, list(hidden)] = None if words else NaN
        choice = [categories[j] if hidden[j] else [X[0, j]] for j in range(3)]
        whole = np.array(list(itertools.product(*choice)), dtype=X.dtype)
        expected = np.exp(model.predict_joint_log_proba(whole)).sum(axis=0)
        np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(row))[0], expected, rtol=1e-12)
        np.testing.assert_allclose(model.predict_proba(row)[0], expected / expected.sum(), atol=1e-12)
        np.testing.assert_allclose(model.score_samples(row)[0], np.log(expected.sum()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("family", ["poisson", "geometric"])
def test_C4_counts_sum_over_all_values_of_the_missing_column(family):
    X, y = data(CASES[f"family-{family}"], 0)
    model = NaiveBayes(family).fit(with_holes(X, 0), y)
    row = X[:1].copy()
    whole = np.repeat(row, 3000, axis=0)
    whole[:, 2] = np.arange(3000)  # the rest of the tail is below 1e-30
    row[0, 2] = NaN
    expected = logsumexp(model.predict_joint_log_proba(whole), axis=0)
    np.testing.assert_allclose(model.predict_joint_log_proba(row)[0], expected, rtol=1e-12)


CONTINUOUS = [key for key, row in FAMILIES.items() if row.oracle is not None and row.oracle.continuous]


@pytest.mark.parametrize("family", CONTINUOUS)
def test_C4_densities_integrate_over_the_missing_column(family):
    case = CASES[f"family-{family}"]
    X, y = data(case, 1)
    model = case.make().fit(with_holes(X, 1), y)
    row = X[:1].copy()
    hidden = row.copy()
    hidden[0, 1] = NaN
    expected = model.predict_joint_log_proba(hidden)[0]
    for c in range(3):

        def density(v, c=c):
            return np.exp(model.predict_joint_log_proba(np.where([True, False, True][: X.shape[1]], row, v))[0, c])

        centre = float(model._solved.scorer.centres[c, 1])
        low, high = FAMILIES[family].support
        total = sum(integrate.quad(density, a, b, epsabs=1e-14)[0] for a, b in ((low, centre), (centre, high)))
        np.testing.assert_allclose(np.log(total), expected[c], rtol=1e-7)


@over(GAUSSIAN)
def test_C4_gaussian_rows_score_the_density_of_the_columns_that_are_there(make):
    X, y = normal_rows()
    model = make().fit(X, y)
    prior, means, covariances = fitted_parameters(model)
    rows = np.concatenate([X[:60], [[NaN, NaN, NaN], [1.0, NaN, NaN], [NaN, -2.0, 0.5], [30.0, NaN, -40.0]]])
    expected = log_joint(rows, prior, means, covariances)
    np.testing.assert_allclose(model.predict_joint_log_proba(rows), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(rows), logsumexp(expected, axis=1), rtol=1e-12, atol=1e-12)
    posterior = np.exp(expected - logsumexp(expected, axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(rows), posterior, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(rows)), posterior, atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[posterior.argmax(axis=1)])
    labels = np.arange(len(rows)) % 3
    np.testing.assert_allclose(
        model.log_likelihood(rows, labels), expected[np.arange(len(rows)), labels].sum(), rtol=1e-12
    )


@over({k: v for k, v in GAUSSIAN.items() if not k.startswith(("LDA", "GaussianNB"))})
def test_C4_decision_function_is_the_log_odds_of_the_columns_that_are_there(make):
    X, y = normal_rows()
    three, two = make().fit(X, y), make().fit(X[y < 2], y[y < 2])
    log_p = three.predict_log_proba(X)
    scores = three.decision_function(X)
    np.testing.assert_allclose(scores - scores[:, :1], log_p - log_p[:, :1], rtol=1e-11, atol=1e-11)
    log_p = two.predict_log_proba(X)
    np.testing.assert_allclose(two.decision_function(X), log_p[:, 1] - log_p[:, 0], rtol=1e-11, atol=1e-11)


@over_cases(lambda name: not of_words(name))
def test_C4_a_row_of_which_nothing_is_there_has_the_prior(case):
    X, y = data(case, 0)
    X = with_holes(X, 0)
    model = case.make().fit(X, y)
    blank = np.full((2, X.shape[1]), NaN, dtype=X.dtype)
    prior = model.class_count_ / model.class_count_.sum()
    for rows in (blank, np.concatenate([X[:9], blank])):  # alone, and beside others
        np.testing.assert_allclose(model.predict_proba(rows)[-2:], np.tile(prior, (2, 1)), atol=1e-14)
    np.testing.assert_allclose(model.score_samples(blank), 0.0, atol=1e-14)


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB, lambda: ComplementNB(norm=True)])
def test_C4_a_document_of_which_nothing_is_there_raises_no_warning(make):
    X, y = data(CASES["MultinomialNB"], 0)
    model = make().fit(X, y)
    prior = np.full(3, 1 / 3) if isinstance(model, ComplementNB) else np.exp(model.class_log_prior_)
    np.testing.assert_allclose(model.predict_proba(np.full((1, 4), NaN)), [prior], atol=1e-14)


def test_C4_normalised_complement_weights_with_one_word_left():
    X, y = data(CASES["ComplementNB-norm"], 0)
    model = ComplementNB(norm=True).fit(X, y)
    joint = model.predict_joint_log_proba([[3.0, NaN, NaN, NaN]])  # one word says nothing about the class
    assert np.isfinite(joint).all()


@every_case
def test_C4_the_handle_for_one_row_takes_holes(case):
    X, y = data(case, 3)
    X = with_holes(X, 3)
    model = case.make().fit(X, y)
    score = model.scorer()
    rows = some_there(X)
    each = np.array([score(row) for row in rows])
    np.testing.assert_allclose(each, [model.predict_proba(row[None])[0] for row in rows], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(each, model.predict_proba(rows), rtol=1e-9, atol=1e-14)


@over_cases(lambda name: not of_levels(name) and not of_tables(name))
def test_C4_sparse_rows_with_stored_nan_equal_dense_rows(case):
    X, y = data(case, 4)
    rng = np.random.default_rng(4)
    zero = rng.random(X.shape) < (0.4 if getattr(case, "takes_zero", True) else 0.0)
    X = with_holes(np.where(zero, 0.0, X), 4)
    X = some_there(X)
    y = y[: len(X)]
    dense = case.make().fit(X, y)
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array):
        thin = case.make().fit(kind(X), y)
        assert_same(thin, dense, rtol=1e-9)
        for method in ("predict_proba", "score_samples", "predict_joint_log_proba"):
            expected = getattr(dense, method)(X)
            np.testing.assert_allclose(getattr(dense, method)(kind(X)), expected, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(getattr(thin, method)(kind(X)), expected, rtol=1e-7, atol=1e-9)
        thin.forget(kind(X[:5]), y[:5]).partial_fit(kind(X[:5]), y[:5])
        assert_same(thin, dense, rtol=1e-9)


# --- fit: the maximum of the observed-data likelihood


def test_C4_columns_independent_given_the_class_use_every_value_there_is():
    X, y = normal_rows(13)
    model = GDA("diagonal").fit(X, y)
    for c in range(3):
        np.testing.assert_allclose(model.means_[c], np.nanmean(X[y == c], axis=0), rtol=1e-12)
        np.testing.assert_allclose(np.diagonal(model.covariance_[c]), np.nanvar(X[y == c], axis=0), rtol=1e-12)
    shared = GDA("diagonal", tie=1.0).fit(X, y)
    centred = X - shared.means_[y]
    np.testing.assert_allclose(np.diagonal(shared.covariance_), np.nanmean(centred**2, axis=0), rtol=1e-12)
    ball = GDA("spherical", tie=1.0).fit(X, y)
    np.testing.assert_allclose(ball.covariance_, np.nanmean(centred**2) * np.eye(3), rtol=1e-12)


def test_C4_word_counts_rest_on_the_documents_that_have_them():
    X = np.array([[2.0, NaN], [4.0, 1.0], [NaN, 3.0], [1.0, 5.0]])
    model = MultinomialNB(alpha=0.5).fit(X, [0, 0, 1, 1])
    counts = np.array([[6.0, 2 * 1.0], [2 * 1.0, 8.0]]) + 0.5
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), counts / counts.sum(axis=1, keepdims=True), rtol=1e-14)


# --- the laws of sums, with missing values


def tolerance(model):
    """Where a solve takes steps, their end is known to 1e-11 of a standard deviation each."""
    return 1e-9 if "pattern" in model._model.stats.axes else 1e-11


@every_case
@pytest.mark.parametrize("seed", [0, 1])
def test_C4_laws_of_sums_hold_with_holes(case, seed):
    X, y = data(case, seed)
    X = with_holes(X, seed)
    X[:2] = NaN  # rows of which nothing is there
    rng = np.random.default_rng(seed)
    whole = case.make().fit(X, y)
    rtol = tolerance(whole)

    order = rng.permutation(len(y))
    assert_same(case.make().fit(X[order], y[order]), whole, rtol)

    shards = [case.make().partial_fit(X[part], y[part]) for part in np.array_split(order, 7)]
    assert_same(shards[3].merge(*shards[:3], *shards[4:]), whole, rtol)
    assert_same(sum(shards), whole, rtol)

    single = case.make()
    for i in order[:30]:
        single.partial_fit(X[i : i + 1], y[i : i + 1])
    assert_same(single.partial_fit(X[order[30:]], y[order[30:]]), whole, rtol)

    weight = rng.integers(0, 4, len(y))
    weighted = case.make().fit(X, y, sample_weight=weight)
    assert_same(weighted, case.make().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)), rtol)

    more = rng.choice(len(y), 30, replace=False)
    back = case.make().fit(X, y).partial_fit(X[more], y[more]).forget(X[more], y[more])
    assert_same(back, whole, rtol)
    gone = y == "bee"
    less = case.make().fit(X, y).forget(X[gone], y[gone])
    assert_same(less, case.make().fit(X[~gone], y[~gone]), rtol)
    assert less._model.stats.axes.keys() == whole._model.stats.axes.keys()

    other = {"ant": "z", "bee": "y", "cat": "x"}
    named = case.make().fit(X, np.array([other[v] for v in y]))
    rows = some_there(X)
    np.testing.assert_allclose(named.predict_proba(rows)[:, ::-1], whole.predict_proba(rows), rtol=1e-7, atol=1e-10)

    copy = pickle.loads(pickle.dumps(whole))
    assert_identical(copy, whole)
    np.testing.assert_array_equal(copy.predict_log_proba(rows), whole.predict_log_proba(rows))


@over_cases(lambda name: not of_tables(name))  # whose schema names its columns
@pytest.mark.parametrize("seed", [0, 1])
def test_C4_the_order_of_columns_changes_nothing_with_holes(case, seed):
    X, y = data(case, seed)
    X = with_holes(X, seed)
    X[:2] = NaN
    columns = np.random.default_rng(seed).permutation(X.shape[1])
    whole, turned = case.make().fit(X, y), case.make().fit(X[:, columns], y)
    rows = some_there(X)
    np.testing.assert_allclose(
        turned.predict_joint_log_proba(rows[:, columns]), whole.predict_joint_log_proba(rows), rtol=1e-8, atol=1e-8
    )


@over(FULL)
def test_C4_forgetting_the_rows_with_holes_leaves_no_trace(make):
    X, y = normal_rows(15)
    gap = np.isnan(X).any(axis=1)
    model = make().fit(X, y).forget(X[gap], y[gap])
    assert not len(model._model.stats.axes["pattern"])
    assert_same(model, make().fit(X[~gap], y[~gap]), rtol=1e-11)


@over({k: GAUSSIAN[k] for k in ("QDA", "LDA", "GDA-half", "GDA-ledoit-wolf", "GaussianNB")})
def test_C4_the_number_of_threads_changes_no_bit_with_holes(make):
    X, y = normal_rows(18, n=3000, p=12, share=0.3)  # patterns for several blocks of EM
    results = []
    for threads in (1, 2, 5):
        suffit.set_threads(threads)
        try:
            model = make().fit(X, y)
            results.append((model, model.predict_log_proba(X)))
        finally:
            suffit.set_threads(None)
    for model, posterior in results[1:]:
        assert_identical(model, results[0][0])
        np.testing.assert_array_equal(posterior, results[0][1])


@over(GAUSSIAN)
def test_C4_batches_that_wait_and_rows_with_holes_between_them(make):
    X, y = normal_rows(19)
    model = make().fit(X[:120], y[:120])
    for i in range(120, 240):  # those without missing values wait, those with missing values do not
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        if i == 200:
            model = pickle.loads(pickle.dumps(model))
    assert_same(model, make().fit(X, y), rtol=1e-9)


# --- little to go by: warned, finite, and as near as can be to what is known


@over({k: v for k, v in GAUSSIAN.items() if k not in ("LDA-eigen-auto", "GDA-unbiased")})
def test_C4_a_class_without_any_value_in_a_column_is_named(make):
    X, y = normal_rows(20)
    X[y == 1, 2] = NaN
    with pytest.warns(MissingValuesWarning, match="column 'x2' is missing in every row of class 1"):
        model = make().fit(X, y)
    answers(model, np.concatenate([X, normal_rows(20, share=0.0)[0]]))
    others = np.nanmean(X[y != 1, 2])
    means = model._solved.scorer.means
    assert min(means[0, 2], means[2, 2]) < means[1, 2] < max(means[0, 2], means[2, 2])
    np.testing.assert_allclose(means[1, 2], others, atol=0.2)


OF_COLUMNS = [key for key, row in FAMILIES.items() if row.oracle is not None]


@pytest.mark.parametrize("family", OF_COLUMNS)
def test_C4_a_class_without_any_value_in_a_column_is_named_by_every_family(family):
    X, y = data(CASES[f"family-{family}"], 2)
    X[y == "bee", 1] = NaN
    with pytest.warns(MissingValuesWarning, match="column 'x1' is missing in every row of class 'bee'"):
        p = NaiveBayes(family).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()


def test_C4_a_class_without_any_value_of_a_feature_is_as_the_warning_says():
    X, y = data(CASES["BernoulliNB"], 2)
    X = (X > 0).astype(float)
    X[:, 1] = 1.0
    X[y == "bee", 1] = NaN
    model = BernoulliNB().fit(X, y)
    with pytest.warns(MissingValuesWarning, match="the prior is used there"):
        model.predict(X)
    assert np.exp(model.feature_log_prob_)[1, 1] == 0.5


def test_C4_a_class_without_any_count_of_a_word_is_named():
    X, y = data(CASES["MultinomialNB"], 2)
    X[y == "bee", 1] = NaN
    with pytest.warns(MissingValuesWarning, match="column 'x1' is missing in every row of class 'bee'"):
        MultinomialNB().fit(X, y).predict(X)


def test_C4_a_class_without_any_level_in_a_column_is_named():
    X, y = data(CASES["CategoricalNB"], 2)
    X = X.astype(float)
    X[y == "bee", 1] = NaN
    with pytest.warns(MissingValuesWarning, match="column 'x1' is missing in every row of class 'bee'"):
        CategoricalNB().fit(X, y).predict(X)


@over_cases(lambda name: not CASES[name].coupled and not of_levels(name))
def test_C4_a_column_without_any_value_is_left_out(case):
    X, y = data(case, 5)
    X[:, 1] = NaN
    kept = [j for j in range(X.shape[1]) if j != 1]
    for rows in (X, with_holes(X, 5)):
        model, without = case.make().fit(rows, y), case.make().fit(rows[:, kept], y)
        asked = rows[(rows[:, kept] == rows[:, kept]).sum(axis=1) >= min(2, len(kept))]
        np.testing.assert_allclose(
            model.predict_joint_log_proba(asked), without.predict_joint_log_proba(asked[:, kept]), rtol=1e-8, atol=1e-8
        )
        asked = asked.copy()
        asked[:, 1] = 1.0 if isinstance(model, MultinomialNB) else asked[:, 0]
        assert np.isfinite(model.predict_proba(asked)).all()


@pytest.mark.parametrize("name", ["CategoricalNB", "CategoricalNB-words"])
def test_C4_a_column_without_any_level_is_left_out(name):
    X, y = data(CASES[name], 5)
    X = X.astype(object)
    X[:, 1] = None
    model = CategoricalNB().fit(X, y)
    kept = [j for j in range(X.shape[1]) if j != 1]
    np.testing.assert_allclose(
        model.predict_proba(X), CategoricalNB().fit(X[:, kept], y).predict_proba(X[:, kept]), rtol=1e-12
    )


# --- numbers of any size


@pytest.mark.parametrize("make", [QDA, LDA, lambda: GDA(tie=0.5)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_values_whose_squares_overflow_are_refused_in_rows_with_holes(make):
    X, y = normal_rows(30)
    X[:, 0] *= 1e160
    X[:, 2] = NaN
    with pytest.raises(InputError, match=r"column 'x0': values (of up to \S+ )?are so large that their \w+ overflow"):
        make().fit(X, y)


@pytest.mark.parametrize("make", [GaussianNB, lambda: GDA("diagonal"), lambda: GDA("spherical", tie=1.0)])
def test_C4_values_whose_squares_overflow_are_refused_by_independent_columns(make):
    X, y = normal_rows(30)
    X[:, 0] *= 1e160
    X[:, 2] = NaN
    with pytest.raises(InputError, match=r"column 'x0': values (of up to \S+ )?are so large that their \w+ overflow"):
        make().fit(X, y)


@over_cases(lambda name: not of_levels(name))
def test_C4_infinities_beside_holes_are_refused_by_column_and_row(case):
    X, y = data(case, 6)
    X = with_holes(X, 6)
    model = case.make().fit(X, y)
    bad = X.copy()
    bad[17] = NaN
    bad[17, 1] = np.inf
    for call in (
        lambda: case.make().fit(bad, y),
        lambda: model.partial_fit(bad, y),
        lambda: model.forget(bad, y),
        lambda: model.predict_proba(bad),
        lambda: model.predict(bad),
        lambda: model.score_samples(bad),
    ):
        with pytest.raises(InputError, match=r"column 'x1'.*inf.*row 17"):
            call()
    with pytest.raises(InputError, match=r"column 'x1'.*inf.*row 0"):
        model.predict_proba(bad[17:18])


CONSTANT = {k: GAUSSIAN[k] for k in ("QDA", "LDA", "GDA-half", "diagonal", "diagonal-shared", "GaussianNB")}


@over(CONSTANT)
def test_C4_infinities_in_constant_columns_beside_holes_are_refused(make):
    X, y = normal_rows(31, share=0.0)
    X[:, 1] = 5.0
    model = make().fit(X, y)
    with pytest.raises(InputError, match=r"column 'x1'.*inf.*row 0"):
        model.predict_proba([[NaN, np.inf, 1.0]])


@pytest.mark.parametrize("make", [lambda: LDA("eigen"), lambda: QDA(solver="eigen")])
def test_C4_a_covariance_estimator_gets_no_holes_but_its_model_takes_them(make):
    X, y = normal_rows(32)
    est = make().set_params(covariance_estimator=EmpiricalCovariance())
    row, column = np.argwhere(np.isnan(X))[0]
    with pytest.raises(InputError, match=rf"missing value \(NaN\): column 'x{column}', found nan in row {row};"):
        est.fit(X, y)
    whole = normal_rows(32, share=0.0)[0]
    np.testing.assert_allclose(est.fit(whole, y).predict_proba(X), make().fit(whole, y).predict_proba(X), atol=1e-9)


# --- forgetting what was never learned


@over(FULL)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")
def test_C4_values_beside_holes_that_were_never_learned_cannot_be_forgotten(make):
    X, y = normal_rows(34, share=0.0)
    X[:60, 1] = NaN
    model = make().fit(X, y)
    with pytest.raises(InputError, match="cannot have learned"):
        model.forget([[1e6, NaN, 0.0]], [0])


def test_C4_a_complete_row_cannot_be_forgotten_where_none_was_learned():
    X = np.array([[-1, NaN], [NaN, -1], [1, NaN], [NaN, 1], [-1, NaN], [NaN, -1], [1, NaN], [NaN, 1]], dtype=float)
    model = GDA().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    with pytest.raises(InputError, match="cannot have learned"):
        model.forget([[0.0, 0.0]], [0])  # where the sums of z are taken about


def test_C4_a_missing_count_cannot_be_forgotten_where_none_was_learned():
    X, y = data(CASES["MultinomialNB"], 0)
    model = MultinomialNB().fit(X, y)
    with pytest.raises(InputError, match="cannot have learned"):
        model.forget([[0.0, NaN, 0.0, 0.0]], ["bee"])


@pytest.mark.filterwarnings("ignore::suffit.MissingValuesWarning")  # a class without any value is said
@pytest.mark.parametrize("make", [GaussianNB, PoissonNB, BernoulliNB, lambda: NaiveBayes("exponential")])
def test_C4_values_cannot_be_forgotten_where_only_holes_were_learned(make):
    X = np.array([[1.0, NaN], [2.0, NaN], [3.0, 1.0], [4.0, 2.0]])
    model = make().fit(X, [0, 0, 1, 1])
    with pytest.raises(InputError, match="cannot have learned"):
        model.forget([[1.0, 1.0]], [0])


# --- too many patterns: by pairs


# --- linear discriminant analysis: what it shows besides predictions


# --- the missing part of a row, given the rest
